"""From a graph of operators to one in which tuples expire by another strategy.

The lowered graph is the one of `piggyback`: tuples carry their ends, and the frontier, which comes
to every operator with every step, says which have passed. The others put operators in between:

- `negative`: an Expire before each operator that keeps state, wherever tuples carry ends.
- `negative+messages`: joins get tuples with their ends, and the negative tuples beside them. They
  pass on messages, by which the next operator that keeps state retires what carries their time.
- `input`: before each operator that reacts to ends these wait for the next tuple of its own input.
- `auto`: as `piggyback`, but that a join of tuples that end with others that do not may be told to
  expire them by negative tuples, while it runs. (Where both sides end, a probe would have to tell
  rows from those that were taken back.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import pyarrow as pa

from penstock.algebra.plan import Scan
from penstock.physical.distribution import key_of
from penstock.physical.expiry.strategies import Strategy
from penstock.physical.expiry.streams import Arrivals, Explicit, Messages, Results
from penstock.physical.kernel import Kernel
from penstock.physical.kernels.adaptive_join import AdaptiveJoin
from penstock.physical.kernels.changes import ChangeStream
from penstock.physical.kernels.coalesce import Coalescing
from penstock.physical.kernels.counted_product import CountedProduct
from penstock.physical.kernels.distinct_product import DistinctProduct
from penstock.physical.kernels.expire import Expire, NegativeTuples, Netted
from penstock.physical.kernels.join import InnerJoin
from penstock.physical.kernels.message_join import MessageJoin
from penstock.physical.kernels.netting_join import NettingJoin
from penstock.physical.kernels.schedule import Restriction, Splitting
from penstock.physical.kernels.session import Sessions
from penstock.physical.kernels.sync import Synchronization
from penstock.physical.kernels.trigger import Trigger
from penstock.physical.lower import Graph, Operator
from penstock.physical.transforms import End, Merge, Negate, Project, Select, Stamp

Key: TypeAlias = tuple[str, ...]
Told: TypeAlias = list[tuple[Operator, Key | None]]

_TRANSPARENT = (Select, Project, Merge, Negate, Stamp, Coalescing)
_PAIRING = (InnerJoin, Restriction, Splitting)
_SAYS_ITSELF = (ChangeStream, CountedProduct, DistinctProduct)


def planned(graph: Graph, root: Operator, strategy: Strategy) -> Operator:
    """The operator, computed by a strategy."""
    makers: dict[str, type[Planner]] = {
        "negative": Negative,
        "negative+messages": WithMessages,
        "input": InputTriggered,
        "auto": Adaptive,
    }
    return makers[strategy](graph).root(root) if strategy in makers else root


def may_end(operator: Operator) -> bool:
    """Whether results may be valid up to a time that is known before it comes.

    Remembered by the operator: of one that many read, it is asked many times.
    """
    known = operator.__dict__
    if "_may_end" not in known:
        known["_may_end"] = _may_end(operator)
    found: bool = known["_may_end"]
    return found


def _may_end(operator: Operator) -> bool:
    match operator.work:
        case Scan() as scan:
            return not scan.append_only
        case Expire() | Explicit() | Arrivals() | Messages() | NegativeTuples() | Trigger():
            return False
        case Restriction(end=end):
            return end is not None or any(map(may_end, operator.inputs))
        case InnerJoin() | Sessions() | Results() | Netted():
            return any(map(may_end, operator.inputs))
        case End():
            return True
        case work if isinstance(work, _SAYS_ITSELF):
            return False
        case work if isinstance(work, Kernel):
            return True
    return any(map(may_end, operator.inputs))


def carries_ends(
    operator: Operator, past: tuple[type, ...] = (*_TRANSPARENT, InnerJoin, Results)
) -> bool:
    """Whether ends come from windows, sources and predicates on time, past operators of a kind."""
    match operator.work:
        case Scan() | End() | Restriction() | Splitting():
            return may_end(operator)
        case work if isinstance(work, past):
            return any(carries_ends(child, past) for child in operator.inputs)
    return False


class Planner:
    """Makes the operators anew, from the bottom up."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._made: dict[Operator, Operator] = {}

    def root(self, operator: Operator) -> Operator:
        """What a view gets: it reads like an operator that keeps state."""
        made = self._of(operator)
        return self._ready((made,), (key_of(made),))[0]

    def _of(self, operator: Operator) -> Operator:
        if operator not in self._made:
            inputs = tuple(map(self._of, operator.inputs))
            self._made[operator] = self._again(operator, inputs)
        return self._made[operator]

    def _again(self, operator: Operator, inputs: Sequence[Operator]) -> Operator:
        if operator.kernel is None:
            return self._put(operator.work, *inputs)
        return self._put(operator.work, *self._ready(inputs, operator.kernel.partition_by))

    def _ready(self, inputs: Sequence[Operator], keys: Sequence[Key | None]) -> Sequence[Operator]:
        """The inputs as an operator that keeps state gets them; `keys` say where rows meet."""
        raise NotImplementedError

    def _put(self, work: object, *inputs: Operator) -> Operator:
        return self._graph.operator(work, *inputs)  # type: ignore[arg-type]


class Negative(Planner):
    """Tuples that leave their window are told by negative ones, to every operator above."""

    def _again(self, operator: Operator, inputs: Sequence[Operator]) -> Operator:
        match operator.work:
            case InnerJoin() as join if any(map(may_end, inputs)):
                ready = self._ready(inputs, operator.work.partition_by)
                return self._put(NettingJoin(**_parts(join)), *ready)
        return super()._again(operator, inputs)

    def _ready(self, inputs: Sequence[Operator], keys: Sequence[Key | None]) -> Sequence[Operator]:
        return [self._expiring(x, key) for x, key in zip(inputs, keys, strict=False)]

    def _expiring(self, x: Operator, key: Key | None) -> Operator:
        return self._put(Expire(x.schema, key), x) if key is not None and may_end(x) else x


class Adaptive(Planner):
    """Joins that can be told by negative tuples, or not, from step to step."""

    def root(self, operator: Operator) -> Operator:
        return self._of(operator)

    def _again(self, operator: Operator, inputs: Sequence[Operator]) -> Operator:
        match operator.work, [i for i, x in enumerate(inputs) if _carries(x)]:
            case InnerJoin() as join, [ending]:
                return self._put(AdaptiveJoin(**_parts(join), ending=ending), *inputs)
        return self._put(operator.work, *inputs)


def _carries(operator: Operator) -> bool:
    """Whether tuples come from their window with their ends, past no operator that keeps state."""
    return carries_ends(operator, _TRANSPARENT)


class WithMessages(Negative):
    """Negative tuples, but a join finds what it made of a tuple instead of joining again."""

    def _again(self, operator: Operator, inputs: Sequence[Operator]) -> Operator:
        match operator.work:
            case InnerJoin() as join if any(map(may_end, inputs)):
                return self._joined(join, inputs)
        made = super()._again(operator, inputs)
        says = isinstance(made.work, Kernel) and not isinstance(made.work, _PAIRING)
        return self._put(Explicit(), made) if says and may_end(made) else made

    def _joined(self, join: InnerJoin, inputs: Sequence[Operator]) -> Operator:
        told: Told = []
        for x, key in zip(inputs, (join.left_key, join.right_key), strict=True):
            told += self._told(x, key) if may_end(x) else []
        work = MessageJoin(**_parts(join), told=tuple(key for _, key in told))
        return self._put(Results(), self._put(work, *inputs, *(stream for stream, _ in told)))

    def _told(self, x: Operator, key: Key) -> Told:
        """Who tells when tuples of a stream expire: joins below, or Expire at its beginning."""
        match x.work:
            case Results():
                return [(self._put(Messages(), x.inputs[0]), None)]
            case work if isinstance(work, _TRANSPARENT) and _has_messages(x):
                ending = [child for child in x.inputs if may_end(child)]
                told = [each for child in ending for each in self._told(child, key_of(child))]
                return [(stream, None) for stream, _ in told]
        schema = pa.schema([x.schema.field(name) for name in dict.fromkeys(key)])
        return [(self._put(NegativeTuples(schema, key), x), key)]

    def _expiring(self, x: Operator, key: Key | None) -> Operator:
        if key is None or not may_end(x) or not _has_messages(x):
            return super()._expiring(x, key)
        told = [stream for stream, _ in self._told(x, key)]
        return self._put(Trigger(x.schema, key, len(told)), x, *told)


def _parts(join: InnerJoin) -> dict[str, Any]:
    return {field.name: getattr(join, field.name) for field in fields(join)}


def _has_messages(operator: Operator) -> bool:
    match operator.work:
        case Results():
            return True
        case work if isinstance(work, _TRANSPARENT):
            return any(map(_has_messages, operator.inputs))
    return False


class InputTriggered(Planner):
    """Operators notice what has expired when the next tuple comes."""

    def _again(self, operator: Operator, inputs: Sequence[Operator]) -> Operator:
        match operator.work:
            case Coalescing():  # what it joins depends on what comes together
                return inputs[0]
            case work if isinstance(work, _PAIRING):
                return self._put(work, *inputs)
            case Synchronization():
                return self._put(Explicit(), self._put(operator.work, *inputs))
        made = super()._again(operator, inputs)
        return self._put(Explicit(), made) if operator.kernel and may_end(made) else made

    def _ready(self, inputs: Sequence[Operator], keys: Sequence[Key | None]) -> Sequence[Operator]:
        pairs = list(zip(inputs, keys, strict=False))
        if not any(map(may_end, inputs)):
            return inputs
        netted = [(self._put(Netted(x.schema, key or ()), x), key or ()) for x, key in pairs]
        clocks = [self._put(Arrivals(), x) for x, _ in netted]
        return [
            self._put(Trigger(x.schema, key, len(clocks)), x, *clocks) if may_end(x) else x
            for x, key in netted
        ]
