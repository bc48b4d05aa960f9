"""What exists: the manifest, and the small actions that it is a fold of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar, get_args

from penstock.element import BEGIN
from penstock.errors import StateError
from penstock.kinds import kind, kind_of, known
from penstock.punctuation.closings import Entry
from penstock.state.fields_json import JSON, object_from_json, object_to_json
from penstock.state.producers import BatchNumbers
from penstock.state.store import RunReference

T = TypeVar("T")


@kind("area state")
@dataclass(frozen=True)
class StateTableRuns:
    """The runs of a state table, and from when on their rows matter."""

    refs: tuple[RunReference, ...] = ()
    frontier: int = BEGIN


@kind("source state")
@dataclass(frozen=True)
class SourceState:
    """How far a source has come: all its rows with a time before `frontier` have arrived.

    An idle source holds nobody back until its next batch. `kept`: all its rows still are.
    `broken` are rows that a punctuation had ruled out. `ended`: the time from which on it is over.
    `sequence` is the number in the order of arrival that the next row gets.
    `checkpoint`: where Structured Streaming notes how much of its stream was read.
    `rejected` are records that could not be taken.
    """

    frontier: int = BEGIN
    largest: int = BEGIN
    batch: int = -1
    accepted: int = 0
    late: int = 0
    idle: bool = False
    kept: bool = True
    broken: int = 0
    ended: int | None = None
    sequence: int = 0
    checkpoint: str = ""
    rejected: int = 0


@kind("publication")
@dataclass(frozen=True)
class Publication:
    """The elements of a view for `[w0, w1)`, committed at a version.

    Those of a level are merged into one of the next, which has the version of the last of them.
    """

    version: int
    w0: int
    w1: int
    refs: tuple[RunReference, ...]
    level: int = 0


@kind("handover")
@dataclass(frozen=True)
class Handover:
    """What a sink is due of a view that was replaced: its changes, by its definition of then.

    Those of a sink that had been served are but the difference between the two views. `base` is
    what was there when older changes were given up.
    """

    definition: JSON
    publications: tuple[Publication, ...]
    base: StateTableRuns = StateTableRuns()

    @property
    def refs(self) -> tuple[RunReference, ...]:
        return (*self.base.refs, *(ref for entry in self.publications for ref in entry.refs))


@kind("sink state")
@dataclass(frozen=True)
class SinkState:
    """The view of a sink, up to which version it has been served, and what it is due before the
    changes that its view has now."""

    view: str
    version: int
    pending: tuple[Handover, ...] = ()


@kind("failure", fields={"state_tables": "areas"})
@dataclass(frozen=True)
class Failure:
    """Why a view is not kept up to date, and from which event time on its changes are missing.

    `condition` names the error and `row` is the row that it came from, where it is known. `at` is
    when it failed, in microseconds since 1970. `state_tables` are those of the view's state, which
    is held as it was.
    """

    frontier: int
    reason: str
    condition: str = ""
    row: str = ""
    at: int = 0
    state_tables: tuple[str, ...] = ()


@kind("declaration")
@dataclass(frozen=True)
class Declaration:
    """The name of the file that a definition is from, and its statement there."""

    file: str
    statement: str


@kind("manifest", fields={"state_tables": "areas"})
@dataclass(frozen=True)
class Manifest:
    """What exists as of a version.

    `checksum` is that of the entry of this version, which the next one names. `needs` are the state
    tables of each view, with the kinds of their operators. `layout` is that of the newest file
    read. `declared` are the definitions that are from pipeline files, and `once` the statements of
    such files that need not be carried out again, by the source that they are about. `replaced` are
    the versions at which views took the place of others of their names.
    """

    version: int = 0
    frontier: int = BEGIN
    definitions: Mapping[str, JSON] = field(default_factory=dict)
    sources: Mapping[str, SourceState] = field(default_factory=dict)
    state_tables: Mapping[str, StateTableRuns] = field(default_factory=dict)
    changelogs: Mapping[str, tuple[Publication, ...]] = field(default_factory=dict)
    sinks: Mapping[str, SinkState] = field(default_factory=dict)
    punctuations: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    producers: Mapping[str, Mapping[str, BatchNumbers]] = field(default_factory=dict)
    checksum: str = ""
    layout: int = 0
    needs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    failures: Mapping[str, Failure] = field(default_factory=dict)
    declared: Mapping[str, Declaration] = field(default_factory=dict)
    once: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    replaced: Mapping[str, int] = field(default_factory=dict)

    def state_table(self, name: str) -> StateTableRuns:
        return self.state_tables.get(name, StateTableRuns())

    def segments(self) -> set[str]:
        """The names of all files that the manifest refers to."""
        refs = [ref for state_table in self.state_tables.values() for ref in state_table.refs]
        refs += [ref for log in self.changelogs.values() for entry in log for ref in entry.refs]
        refs += [ref for s in self.sinks.values() for due in s.pending for ref in due.refs]
        return {ref.segment for ref in refs}


@kind("defined")
@dataclass(frozen=True)
class Defined:
    """A source or view came to be; definitions keep their order."""

    name: str
    definition: JSON

    def apply(self, m: Manifest) -> Manifest:
        return replace(m, definitions={**m.definitions, self.name: self.definition})


@kind("dropped", fields={"state_tables": "areas"})
@dataclass(frozen=True)
class Dropped:
    """A definition is gone, and with it its sinks and the state tables that nobody else needs."""

    name: str
    state_tables: tuple[str, ...]

    def apply(self, m: Manifest) -> Manifest:
        gone = set(self.state_tables)
        return replace(
            m,
            definitions={k: v for k, v in m.definitions.items() if k != self.name},
            changelogs={k: v for k, v in m.changelogs.items() if k != self.name},
            sources={k: v for k, v in m.sources.items() if k != self.name},
            punctuations={k: v for k, v in m.punctuations.items() if k != self.name},
            producers={k: v for k, v in m.producers.items() if k != self.name},
            state_tables={k: v for k, v in m.state_tables.items() if k not in gone},
            needs={k: v for k, v in m.needs.items() if k != self.name},
            sinks={k: v for k, v in m.sinks.items() if v.view != self.name},
            failures={k: v for k, v in m.failures.items() if k != self.name},
            declared={k: v for k, v in m.declared.items() if k != self.name},
            once={k: v for k, v in m.once.items() if k != self.name},
            replaced={k: v for k, v in m.replaced.items() if k != self.name},
        )


@kind("declared")
@dataclass(frozen=True)
class Declared:
    """A definition is from a pipeline file, which a later form of the file may change or drop."""

    name: str
    declaration: Declaration

    def apply(self, m: Manifest) -> Manifest:
        return replace(m, declared={**m.declared, self.name: self.declaration})


@kind("once")
@dataclass(frozen=True)
class Once:
    """A statement of a file about a source was carried out, and need not be again."""

    source: str
    statement: str

    def apply(self, m: Manifest) -> Manifest:
        known = m.once.get(self.source, ())
        return replace(m, once={**m.once, self.source: (*known, self.statement)})


@kind("received")
@dataclass(frozen=True)
class Received:
    """A batch, a heartbeat or the end of a source."""

    source: str
    state: SourceState

    def apply(self, m: Manifest) -> Manifest:
        return replace(m, sources={**m.sources, self.source: self.state})


@kind("numbered")
@dataclass(frozen=True)
class Numbered:
    """The batch that a producer gave this number was received."""

    source: str
    producer: str
    number: int

    def apply(self, m: Manifest) -> Manifest:
        known = m.producers.get(self.source, {})
        numbers = known.get(self.producer, BatchNumbers()).add(self.number)
        return replace(m, producers={**m.producers, self.source: {**known, self.producer: numbers}})


@kind("punctuated")
@dataclass(frozen=True)
class Punctuated:
    """No more rows of a source like these; `anew`: this is all that was ever said."""

    source: str
    entries: tuple[Entry, ...]
    anew: bool = False

    def apply(self, m: Manifest) -> Manifest:
        before = () if self.anew else m.punctuations.get(self.source, ())
        return replace(m, punctuations={**m.punctuations, self.source: before + self.entries})


@kind("advanced")
@dataclass(frozen=True)
class Advanced:
    """The frontier is here now."""

    frontier: int

    def apply(self, m: Manifest) -> Manifest:
        return replace(m, frontier=self.frontier)


@kind("changed", fields={"state_table": "area"})
@dataclass(frozen=True)
class Changed:
    """Runs came to a state table and others left it."""

    state_table: str
    added: tuple[RunReference, ...] = ()
    removed: tuple[str, ...] = ()
    frontier: int = BEGIN

    def apply(self, m: Manifest) -> Manifest:
        old = m.state_table(self.state_table)
        gone = set(self.removed)
        kept = (*(ref for ref in old.refs if ref.name not in gone), *self.added)
        state_table = StateTableRuns(kept, max(old.frontier, self.frontier))
        return replace(m, state_tables={**m.state_tables, self.state_table: state_table})


@kind("published")
@dataclass(frozen=True)
class Published:
    """A view has published its changes of `[w0, w1)`, in these runs."""

    view: str
    w0: int
    w1: int
    refs: tuple[RunReference, ...]

    def apply(self, m: Manifest) -> Manifest:
        entry = Publication(m.version, self.w0, self.w1, self.refs)
        log = (*m.changelogs.get(self.view, ()), entry)
        return replace(m, changelogs={**m.changelogs, self.view: log})


@kind("merged")
@dataclass(frozen=True)
class Merged:
    """The publications of a view from one version up to another are one, with these runs."""

    view: str
    since: int
    version: int
    refs: tuple[RunReference, ...]

    def apply(self, m: Manifest) -> Manifest:
        log = m.changelogs.get(self.view, ())
        mine = [i for i, p in enumerate(log) if self.since <= p.version <= self.version]
        if not mine or (log[mine[0]].version, log[mine[-1]].version) != (self.since, self.version):
            raise ValueError(f"view {self.view!r} has no publications {self.since}..{self.version}")
        first, last = log[mine[0]], log[mine[-1]]
        level = 1 + max(log[i].level for i in mine)
        one = Publication(self.version, first.w0, last.w1, self.refs, level)
        merged = (*log[: mine[0]], one, *log[mine[-1] + 1 :])
        return replace(m, changelogs={**m.changelogs, self.view: merged})


@kind("retired")
@dataclass(frozen=True)
class Retired:
    """The publications of a view up to a version are no longer kept."""

    view: str
    version: int

    def apply(self, m: Manifest) -> Manifest:
        log = tuple(p for p in m.changelogs.get(self.view, ()) if p.version > self.version)
        return replace(m, changelogs={**m.changelogs, self.view: log})


@kind("delivered")
@dataclass(frozen=True)
class Delivered:
    """A sink has all publications of its view up to a version."""

    sink: str
    view: str
    version: int

    def apply(self, m: Manifest) -> Manifest:
        before = m.sinks.get(self.sink, SinkState(self.view, 0))
        due = tuple(h for h in before.pending if h.publications[-1].version > self.version)
        served = SinkState(before.view, self.version, due)
        return replace(m, sinks={**m.sinks, self.sink: served})


@kind("renamed", fields={"state_tables": "areas"})
@dataclass(frozen=True)
class Renamed:
    """State tables of an older layout have other names from now on."""

    state_tables: Mapping[str, str]

    def apply(self, m: Manifest) -> Manifest:
        return replace(
            m, state_tables={self.state_tables.get(k, k): v for k, v in m.state_tables.items()}
        )


@kind("replaced", fields={"state_tables": "areas"})
@dataclass(frozen=True)
class Replaced:
    """What was there of views goes, as others take their places, in which they are defined next.

    `views` are those whose state and changes begin anew; the state tables are those that nobody
    needs any more, or that come anew. Sinks stay, and their states tell what they are due.
    """

    names: tuple[str, ...]
    views: tuple[str, ...]
    state_tables: tuple[str, ...]

    def apply(self, m: Manifest) -> Manifest:
        gone, anew = set(self.state_tables), set(self.views)
        return replace(
            m,
            definitions={k: v for k, v in m.definitions.items() if k not in self.names},
            changelogs={k: v for k, v in m.changelogs.items() if k not in anew},
            state_tables={k: v for k, v in m.state_tables.items() if k not in gone},
            needs={k: v for k, v in m.needs.items() if k not in anew},
            failures={k: v for k, v in m.failures.items() if k not in anew},
            replaced={**m.replaced, **dict.fromkeys(self.views, m.version)},
        )


@kind("handed over")
@dataclass(frozen=True)
class HandedOver:
    """A sink of a view that was replaced is due this, before the changes of the new one."""

    sink: str
    handovers: tuple[Handover, ...]

    def apply(self, m: Manifest) -> Manifest:
        before = m.sinks[self.sink]
        due = replace(before, pending=(*before.pending, *self.handovers))
        return replace(m, sinks={**m.sinks, self.sink: due})


@kind("view renamed", fields={"state_tables": "areas"})
@dataclass(frozen=True)
class ViewRenamed:
    """A view has another name, and what is kept of it, too."""

    old: str
    new: str
    state_tables: Mapping[str, str]

    def apply(self, m: Manifest) -> Manifest:
        def named(of: Mapping[str, T]) -> dict[str, T]:
            return {self.new if k == self.old else k: v for k, v in of.items()}

        sinks = {
            k: replace(v, view=self.new) if v.view == self.old else v for k, v in m.sinks.items()
        }
        failures = named(m.failures)
        if self.new in failures:
            mine = failures[self.new]
            held = tuple(
                self.state_tables.get(state_table, state_table) for state_table in mine.state_tables
            )
            failures[self.new] = replace(mine, state_tables=held)
        needs = {
            view: {
                self.state_tables.get(state_table, state_table): of
                for state_table, of in state_tables.items()
            }
            for view, state_tables in named(m.needs).items()
        }
        return replace(
            m,
            definitions=named(m.definitions),
            changelogs=named(m.changelogs),
            state_tables={self.state_tables.get(k, k): v for k, v in m.state_tables.items()},
            sinks=sinks,
            needs=needs,
            failures=failures,
            replaced=named(m.replaced),
            declared=named(m.declared),
        )


@kind("founded", fields={"state_tables": "areas"})
@dataclass(frozen=True)
class Founded:
    """The state tables that a view needs are there from now on, empty where they are new.

    With each state table comes the kind of the operator whose it is, or nothing where it has none.
    """

    view: str
    state_tables: Mapping[str, str]

    def apply(self, m: Manifest) -> Manifest:
        state_tables = {**dict.fromkeys(self.state_tables, StateTableRuns()), **m.state_tables}
        return replace(
            m, state_tables=state_tables, needs={**m.needs, self.view: self.state_tables}
        )


def held_state_table(view: str, state_table: str) -> str:
    """Where a failed view holds a state table of its state, or rows that came for it since."""
    return f"held {view!r} {state_table}"


@kind("failed")
@dataclass(frozen=True)
class Failed:
    """A view is not kept up to date from the failure's time on; its state is held as it is.

    The state tables `removed` are those that no other view needs.
    """

    view: str
    failure: Failure
    removed: tuple[str, ...] = ()

    def apply(self, m: Manifest) -> Manifest:
        held = {
            held_state_table(self.view, a): m.state_tables[a]
            for a in self.failure.state_tables
            if a in m.state_tables
        }
        gone = set(self.removed)
        return replace(
            m,
            failures={**m.failures, self.view: self.failure},
            needs={k: v for k, v in m.needs.items() if k != self.view},
            state_tables={k: v for k, v in m.state_tables.items() if k not in gone} | held,
        )


@kind("resumed")
@dataclass(frozen=True)
class Resumed:
    """A view is kept up to date again; what was held for it goes."""

    view: str

    def apply(self, m: Manifest) -> Manifest:
        held = {
            held_state_table(self.view, state_table)
            for state_table in m.failures[self.view].state_tables
        }
        return replace(
            m,
            failures={k: v for k, v in m.failures.items() if k != self.view},
            state_tables={k: v for k, v in m.state_tables.items() if k not in held},
        )


Action: TypeAlias = (
    Defined
    | Dropped
    | Declared
    | Once
    | Received
    | Numbered
    | Punctuated
    | Advanced
    | Changed
    | Published
    | Merged
    | Retired
    | Delivered
    | Renamed
    | Replaced
    | HandedOver
    | ViewRenamed
    | Founded
    | Failed
    | Resumed
)


def is_noted(note: Declared | Once, actions: Sequence[Action]) -> bool:
    """Whether the actions do what a note is about."""
    if isinstance(note, Declared):
        return any(isinstance(one, Defined) and one.name == note.name for one in actions)
    return any(isinstance(one, Punctuated) and one.source == note.source for one in actions)


def action_to_json(action: Action) -> dict[str, Any]:
    return {"is": kind_of(type(action)).written, **object_to_json(action)}


def action_from_json(data: dict[str, Any]) -> Action:
    made = known(data["is"]).made
    if made not in get_args(Action):
        raise StateError(str(data["is"]), "it is nothing that a log entry does")
    action: Action = object_from_json(made, data)
    return action


def manifest_to_json(m: Manifest) -> dict[str, Any]:
    return object_to_json(m)


def manifest_from_json(data: dict[str, Any]) -> Manifest:
    manifest: Manifest = object_from_json(Manifest, data)
    return manifest
