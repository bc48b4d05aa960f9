"""Layout 2, as it was released: classes by their places in Python, all fields, Arrow's own bytes.

The table below is frozen: it says what the names in those directories mean now, and what the names
of their state tables were made of.
"""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from penstock.algebra.arrow_json import schema_to_json, type_to_json, value_to_json
from penstock.algebra.codec import digest
from penstock.algebra.expr import Literal
from penstock.errors import StateError
from penstock.kinds import kind_of

LAYOUT = 2
_PLAIN = (type(None), bool, int, str, float)


class Form(NamedTuple):
    """A class as it was: where it was, and its fields."""

    path: str
    kind: str
    fields: tuple[str, ...]


def translated(data: Any) -> Any:
    """What was written as JSON then, as it is written now."""
    match data:
        case {"class": path, **values}:
            form = _FORMS.get(str(path))
            if form is None:
                raise StateError(str(path), "no version of Penstock has written such a thing")
            return {"is": form.kind, **{key: translated(item) for key, item in values.items()}}
        case {"literal": str() as text}:
            column = pa.ipc.open_stream(base64.b64decode(text)).read_all().column(0)
            value = value_to_json(column[0].as_py(), column.type)
            return {"literal": value, "type": type_to_json(column.type)}
        case {"schema": str() as text}:
            return {"schema": schema_to_json(_schema(text))}
        case {"type": str() as text}:
            return {"type": type_to_json(_schema(text).field(0).type)}
        case dict():
            return {key: translated(item) for key, item in data.items()}
        case list():
            return [translated(item) for item in data]
    return data


def class_name(made: type[Any]) -> str:
    """What the class was called; a LookupError where there was none."""
    return _form(made).path.rpartition(".")[2]


def fingerprint(value: Any) -> str:
    """The short name that a value had; a LookupError where there was no such value."""
    return digest(_encode(value, {}))


def _encode(value: Any, known: dict[int, Any]) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if id(value) not in known:
        known[id(value)] = _encode_parts(value, known)
    return known[id(value)]


def _encode_parts(value: Any, known: dict[int, Any]) -> Any:
    match value:
        case Literal(constant, kind):
            return {"literal": _scalar_text(constant, kind)}
        case pa.Schema():
            return {"schema": _text(value.serialize())}
        case pa.DataType():
            return {"type": _text(pa.schema([("", value)]).serialize())}
    if type(value) in (tuple, list):
        return [_encode(item, known) for item in value]
    form, names = _form(type(value)), kind_of(type(value)).fields
    parts = {name: _encode(getattr(value, names[name]), known) for name in form.fields}
    return {"class": form.path, **parts}


def _form(made: type[Any]) -> Form:
    return _OF_KIND[kind_of(made).name]


def _scalar_text(value: Any, kind: pa.DataType) -> str:
    batch = pa.RecordBatch.from_arrays([pa.array([value], type=kind)], names=["value"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return _text(sink.getvalue())


def _text(buffer: pa.Buffer) -> str:
    return base64.b64encode(buffer).decode()


@lru_cache
def _schema(text: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))


_TABLE = """
algebra.aggregates.AggregateCall = aggregate call: function args name distinct where parameter
algebra.expr.Call = call: function args type
algebra.expr.Column = column: name type
algebra.expr.Inverse = inverse: value function type
algebra.expr.Literal = literal: value type
algebra.plan.Aggregate = aggregate: input keys calls until
algebra.plan.Changes = changes: input kind time
algebra.plan.Coalesce = coalesce: input limit
algebra.plan.Distinct = distinct: input until
algebra.plan.Equality = equality: left right null_safe
algebra.plan.Filter = filter: input predicate
algebra.plan.Group = group: input function index
algebra.plan.Join = join: left right kind on where keep_left keep_right
algebra.plan.Map = map: input outputs
algebra.plan.Periodic = periodic: period offset
algebra.plan.Rank = rank: input partition order limit kind number until
algebra.plan.Restrict = restrict: input start end
algebra.plan.RowWindow = row window: input rows partition order
algebra.plan.Scan = scan: name columns append_only time promised
algebra.plan.Session = session: input partition gap start
algebra.plan.SetOperation = set operation: kind left right
algebra.plan.SortKey = sort key: column descending nulls_first
algebra.plan.Split = split: input size
algebra.plan.Sync = sync: input points
algebra.plan.TimePoints = time points: points
algebra.plan.Union = union: parts
algebra.plan.Upsert = upsert: input key order deleted
algebra.plan.Window = window: input kind size
memory.rankings.Limit = ranking limit: terms end high
memory.rankings.Ranking = ranking: key limits ends
physical.expiry.streams.Arrivals = arrivals:
physical.expiry.streams.Explicit = explicit:
physical.expiry.streams.Messages = messages:
physical.expiry.streams.Results = results:
physical.kernels.adaptive_join.AdaptiveJoin = adaptive join: left right left_key right_key
    null_safe keep_left keep_right few ending expires
physical.kernels.aggregate_sums.Source = summed: column where distinct
physical.kernels.aggregate.GroupAggregate = groups: input keys calls until summed append_only
    start opens together combined
physical.kernels.changes.ChangeStream = change stream: input key kind time
physical.kernels.coalesce.Coalescing = coalescing: limit
physical.kernels.combining.Combine = combine: keys calls
physical.kernels.counted_product.CountedProduct = counted product: inputs conditions chosen sums
    keys
physical.kernels.distinct_product.DistinctProduct = distinct product: inputs conditions chosen
    rankings keys best
physical.kernels.expire.Expire = expire: schema key
physical.kernels.expire.NegativeTuples = negative tuples: schema key
physical.kernels.expire.Netted = netted: schema key
physical.kernels.join.InnerJoin = inner join: left right left_key right_key null_safe keep_left
    keep_right few
physical.kernels.message_join.MessageJoin = message join: left right left_key right_key
    null_safe keep_left keep_right few told
physical.kernels.multiplicity.Multiplicity = multiplicity: schema kind until
physical.kernels.netting_join.NettingJoin = netting join: left right left_key right_key
    null_safe keep_left keep_right few
physical.kernels.rank.TopRows = top rows: input partition order limit number append_only ghost
    until
physical.kernels.schedule.Restriction = restriction: schema key start end asked
physical.kernels.schedule.Splitting = splitting: schema key size
physical.kernels.session.Sessions = sessions: input partition gap start
physical.kernels.sync.Synchronization = synchronization: schema key points marks append_only
physical.kernels.sync.ToPoints = to points: points
physical.kernels.trigger.Trigger = trigger: schema key clocks
physical.transforms.End = end: kind size
physical.transforms.Foremost = foremost: partition order limit
physical.transforms.Gather = gather: start
physical.transforms.Merge = merge:
physical.transforms.Negate = negate:
physical.transforms.Project = project: outputs
physical.transforms.Select = select: predicate
physical.transforms.Stamp = stamp: name
punctuation.schemes.InBand = in band: column
punctuation.schemes.InOrder = in order: columns every by_rows
punctuation.schemes.Never = never: punctuations
record.Direction = direction: descending nulls_first
runtime.definitions.ViewDefinition = view: plan key text expiry said apart
runtime.feeds.PortFeed = port feed: port
runtime.feeds.StreamFeed = stream feed: format options
runtime.sources.SourceDefinition = source: name schema time delay late until weight arrival feed
    promised never_null rate
sql.binding.catalog.Moment = moment: columns points
sql.binding.catalog.SyncPoints = sync points: parts
sql.definitions.ClockView = clock view: points text
sql.definitions.StreamDefinition = stream: source schemes key operation text
state.manifest.Advanced = advanced: frontier
state.manifest.AreaState = area state: refs frontier
state.manifest.Changed = changed: area added removed frontier
state.manifest.Defined = defined: name definition
state.manifest.Delivered = delivered: sink view version
state.manifest.Dropped = dropped: name areas
state.manifest.Manifest = manifest: version frontier definitions sources areas changelogs sinks
    punctuations
state.manifest.Publication = publication: version w0 w1 refs
state.manifest.Published = published: view w0 w1 refs
state.manifest.Punctuated = punctuated: source entries anew
state.manifest.Received = received: source state
state.manifest.Retired = retired: view version
state.manifest.SinkState = sink state: view version
state.manifest.SourceState = source state: frontier largest batch accepted late idle kept broken
    ended
state.run.Statistics = statistics: rows bytes retractions hash_range keep_quantiles
state.store.RunRef = run: segment index rows statistics owners hashes whole into
state.store.Stretch = stretch: offset length checksum
"""


def _read_table() -> dict[str, Form]:
    forms = {}
    for line in _TABLE.replace("\n    ", " ").strip().splitlines():
        path, _, rest = line.partition(" = ")
        kind, _, names = rest.partition(":")
        forms[path] = Form(path, kind, tuple(names.split()))
    return forms


_FORMS = _read_table()
_OF_KIND = {form.kind: form for form in _FORMS.values()}
