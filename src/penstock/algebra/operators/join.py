from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal as Word
from typing import Self, TypeAlias

import pyarrow as pa

from penstock.algebra.cardinality import Bound, Cardinalities, total
from penstock.algebra.closing import OPPOSITE, UNKNOWN, Kind, Known, latest
from penstock.algebra.expr import Call, Column, Expr, Literal, columns, conjuncts, read
from penstock.algebra.operators.map import only
from penstock.algebra.operators.node import Node, Offsets, Outputs
from penstock.algebra.reference import Record, Reference, Relation, function_of, picker
from penstock.algebra.times import micros, moved, shifted
from penstock.kinds import kind

JoinKind: TypeAlias = Word["inner", "left", "right", "full", "semi", "anti"]


JOIN_KINDS: tuple[JoinKind, ...] = ("inner", "left", "right", "full", "semi", "anti")


@kind("equality")
@dataclass(frozen=True)
class Equality:
    """`left = right`, or `left <=> right` where NULL equals NULL."""

    left: str
    right: str
    null_safe: bool = False

    def describe(self) -> str:
        return f"{self.left} {'<=>' if self.null_safe else '='} {self.right}"


_SHOWS_LEFT: tuple[JoinKind, ...] = ("inner", "left", "semi", "anti")
_SHOWS_RIGHT: tuple[JoinKind, ...] = ("inner", "right")


@kind("join")
@dataclass(frozen=True)
class Join(Node):
    """Pairs of records valid at the same time; without `on` and `where`, the Cartesian product.

    `where` is any further condition on the pair. `keep_left` and `keep_right` say until when a
    record of that side may still meet a new record of the other; they free state and never change
    a result, provided they are true.
    """

    left: Node
    right: Node
    kind: JoinKind = "inner"
    on: tuple[Equality, ...] = ()
    where: Expr | None = None
    keep_left: Expr | None = None
    keep_right: Expr | None = None

    def __post_init__(self) -> None:
        self.require(self.kind in JOIN_KINDS, f"no join kind {self.kind!r}; {JOIN_KINDS}")
        left, right = self.left.schema, self.right.schema
        both = sorted({*left.names}.intersection(right.names))
        self.require(not both, f"both sides have columns {both}; rename one side with Map")
        for equality in self.on:
            self.require_columns((equality.left,), left)
            self.require_columns((equality.right,), right)
            types = left.field(equality.left).type, right.field(equality.right).type
            self.require(types[0] == types[1], f"cannot compare {types[0]} and {types[1]}")
        if self.where is not None:
            self.require_expr(self.where, pa.schema([*left, *right]), pa.bool_())
        for keep, side in ((self.keep_left, left), (self.keep_right, right)):
            if keep is not None:
                self.require_expr(keep, side, pa.int64())

    @cached_property
    def schema(self) -> pa.Schema:
        if self.kind in ("semi", "anti"):
            return self.left.schema
        return pa.schema([*self.left.schema, *self.right.schema])

    def describe(self) -> str:
        words = [self.kind, "join", *(f"on {equality.describe()}" for equality in self.on)]
        words += [f"where {self.where}"] if self.where is not None else []
        words += [f"keep left until {self.keep_left}"] if self.keep_left is not None else []
        words += [f"keep right until {self.keep_right}"] if self.keep_right is not None else []
        return " ".join(words)

    def unique_key(self) -> tuple[str, ...] | None:
        """The keys of both sides; one alone where each record finds at most one partner."""
        left, right = self.left.unique_key(), self.right.unique_key()
        if self.kind in ("semi", "anti"):
            return left
        if left is None or right is None:
            return None
        if self.kind in ("inner", "left") and set(right) <= {e.right for e in self.on}:
            return left
        if self.kind in ("inner", "right") and set(left) <= {e.left for e in self.on}:
            return right
        return (*left, *right) if self.kind == "inner" else None

    def is_set(self) -> bool:
        """A full join of sets is none: a left record of NULLs, padded on the right, equals a right
        record of NULLs, padded on the left."""
        if self.kind in ("semi", "anti"):
            return self.left.is_set()
        return self.kind != "full" and self.left.is_set() and self.right.is_set()

    def is_append_only(self) -> bool:
        grows = self.left.is_append_only() and self.right.is_append_only()
        return self.kind == "inner" and grows

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        """Equations 3, 11 and 12: pairs, and for the outer kinds the rows that found no partner,
        padded with NULLs."""
        left, right = reference.at(self.left, t), reference.at(self.right, t)
        joined = self._pairs(left, right)
        left_met, right_met = {a for a, _ in joined}, {b for _, b in joined}
        if self.kind == "semi":
            return Counter({a: left[a] for a in left_met})
        if self.kind == "anti":
            return Counter({a: n for a, n in left.items() if a not in left_met})
        result: Relation = Counter({a + b: left[a] * right[b] for a, b in joined})
        if self.kind in ("left", "full"):
            padding = (None,) * len(self.right.schema)
            result += Counter({a + padding: n for a, n in left.items() if a not in left_met})
        if self.kind in ("right", "full"):
            padding = (None,) * len(self.left.schema)
            result += Counter({padding + b: n for b, n in right.items() if b not in right_met})
        return result

    def _pairs(self, left: Relation, right: Relation) -> set[tuple[Record, Record]]:
        schema = pa.schema([*self.left.schema, *self.right.schema])
        condition = function_of(self.where, schema) if self.where is not None else lambda e: True
        left_key = picker(tuple(on.left for on in self.on), self.left.schema)
        right_key = picker(tuple(on.right for on in self.on), self.right.schema)

        def comparable(key: Record) -> bool:
            return all(v is not None or on.null_safe for v, on in zip(key, self.on, strict=True))

        partners: dict[Record, list[Record]] = {}
        for b in right:
            partners.setdefault(right_key(b), []).append(b)
        return {
            (a, b)
            for a in left
            if comparable(left_key(a))
            for b in partners.get(left_key(a), ())
            if condition(a + b) is True
        }

    def passes_filter(self, condition: Expr) -> tuple[Expr | None, ...] | None:
        """filter_p(S1 join S2) = filter_p(S1) join S2, for conditions p that read only S1; or S2.

        To the left for inner, left, semi and anti joins, to the right for inner and right joins:
        there every record of the result has a record of that side in it, unpadded, and whether that
        record finds partners does not depend on the other records of its side.
        """
        if self.kind in _SHOWS_LEFT and columns(condition) <= set(self.left.schema.names):
            return condition, None
        if self.kind in _SHOWS_RIGHT and columns(condition) <= set(self.right.schema.names):
            return None, condition
        return None

    def passes_map(self, outputs: Outputs) -> None:
        return None

    def narrow(self, names: set[str]) -> Self:
        names = names | self.reads
        left, right = set(self.left.schema.names), set(self.right.schema.names)
        return self.replaced(
            left=only(self.left, names & left), right=only(self.right, names & right)
        )

    @property
    def reads(self) -> set[str]:
        """The columns of either side that the conditions read."""
        keys = {name for equality in self.on for name in (equality.left, equality.right)}
        return keys | read(self.where, self.keep_left, self.keep_right)

    @cached_property
    def progress(self) -> Offsets:
        """A pair changes with either side; how far apart they are bounds the one by the other."""
        left, right = self.left.progress, self.right.progress
        known = [(left, right, self._distances("left"))]
        if self.kind in ("inner", "right", "full"):
            known.append((right, left, self._distances("right")))
        found: dict[str, int] = {}
        for own, theirs, distances in known:
            for mine, other, most in distances:
                if mine in own and other in theirs:
                    k = min(own[mine], theirs[other] - most)
                    found[mine] = max(found.get(mine, k), k)
        if self.kind in ("right", "full"):
            found = {c: k for c, k in found.items() if self.kind == "right" and c in right}
        return {column: k for column, k in found.items() if column in self.schema.names}

    @cached_property
    def ahead(self) -> Offsets:
        return {**self.left.ahead, **self.right.ahead}

    def with_closing(self) -> Self:
        keep_left = _needed(self.left, self.right.progress, self._distances("left"))
        keep_right = _needed(self.right, self.left.progress, self._distances("right"))
        return replace(self, keep_left=keep_left, keep_right=keep_right)

    def _distances(self, side: str) -> list[tuple[str, str, int]]:
        """(a, b, c) where a pair has b <= a + c, for columns a of one side and b of the other."""
        sides = (self.left.schema.names, self.right.schema.names)
        own, other = sides if side == "left" else sides[::-1]
        return [(a, b, c) for a, b, c in self.distances if a in own and b in other]

    @cached_property
    def distances(self) -> list[tuple[str, str, int]]:
        """(a, b, c) where a pair has b <= a + c."""
        pairs = [(e.left, e.right, 0) for e in self.on] + [(e.right, e.left, 0) for e in self.on]
        for test in conjuncts(self.where) if self.where is not None else ():
            match test:
                case Call("<" | "<=" as operator, (low, high)):
                    pairs += _bound(low, high, int(operator == "<"))
                case Call(">" | ">=" as operator, (high, low)):
                    pairs += _bound(low, high, int(operator == ">"))
                case Call("=", (a, b)):
                    pairs += [*_bound(a, b, 0), *_bound(b, a, 0)]
        return pairs

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        left, right = known.only(self.left.schema.names), known.only(self.right.schema.names)
        match self.kind:
            case "inner":
                return self._paired(left, right, kind, kind)
            case "semi":
                return self._paired(left, Known(), kind, kind)
            case "anti":
                return self._paired(left, Known(), kind, OPPOSITE[kind])
        found = self._paired(left, right, kind, kind)
        for missing, padded in (("right", ("left", "full")), ("left", ("right", "full"))):
            if self.kind in padded:
                marker = self._marker(known, missing)
                alone = self._alone(left, right, kind, missing)
                found = latest(alone, found) if marker is None else _either(marker, alone, found)
        return found

    def meets(self, left: bool) -> Expr | None:
        """Until when a record of one side may meet a change of the other."""
        own, other = (self.left, self.right) if left else (self.right, self.left)
        known = Known({f.name: Column(f.name, f.type) for f in own.schema})
        sides = self._sides(known if left else Known(), Known() if left else known)
        return other.when_closed(sides[1] if left else sides[0], "any")

    def _paired(self, left: Known, right: Known, kind: Kind, other: Kind) -> Expr | None:
        left, right = self._sides(left, right)
        return latest(self.left.when_closed(left, kind), self.right.when_closed(right, other))

    def _alone(self, left: Known, right: Known, kind: Kind, missing: str) -> Expr | None:
        """For rows without a partner on one side: they go when one comes."""
        if missing == "right":
            return self._paired(left, Known(), kind, OPPOSITE[kind])
        return self._paired(Known(), right, OPPOSITE[kind], kind)

    def _marker(self, known: Known, side: str) -> Expr | None:
        """A value that is NULL just where a row has no partner on this side."""
        for equality in self.on:
            name = equality.right if side == "right" else equality.left
            if not equality.null_safe and name in known.values:
                return known.values[name]
        return None

    def _sides(self, left: Known, right: Known) -> tuple[Known, Known]:
        """What is known of partners: what they have in common, and how far apart they can be."""
        exact = dict(left.exact), dict(right.exact)
        for on in self.on:
            if on.right in right.exact and isinstance(left.exact.get(on.left), UNKNOWN):
                exact[0][on.left] = right.exact[on.right]
            if on.left in left.exact and isinstance(right.exact.get(on.right), UNKNOWN):
                exact[1][on.right] = left.exact[on.left]
        upper = dict(left.upper), dict(right.upper)
        for high, low, most in self.distances:
            for mine, other in ((0, 1), (1, 0)):
                bound = (left, right)[other].most(high)
                if bound is not None and low in (self.left, self.right)[mine].schema.names:
                    upper[mine].setdefault(low, shifted(bound, "+", most))
        return Known(exact[0], upper[0]), Known(exact[1], upper[1])

    def cardinality(self, known: Cardinalities) -> Bound | None:
        left, right = known.of(self.left), known.of(self.right)
        if self.kind in ("semi", "anti"):
            return left
        if self.kind in ("inner", "left"):
            key = self.right.unique_key()
            if key is not None and set(key) <= {e.right for e in self.on}:
                return left
        if left is None or right is None:
            return None
        parts = [left.times(right)]
        parts += [left] if self.kind in ("left", "full") else []
        parts += [right] if self.kind in ("right", "full") else []
        return total(parts)

    def let_go(self) -> tuple[Expr | None, ...]:
        return self.meets(left=True), self.meets(left=False)

    def lineage(self, column: str) -> tuple[Node, str] | None:
        """Where a side may be padded, its values are not all from there."""
        if self.kind == "inner" and column in self.right.schema.names:
            return self.right, column
        return self.some_of(self.left, column) if self.kind in _SHOWS_LEFT else None


def _bound(low: Expr, high: Expr, strict: int) -> list[tuple[str, str, int]]:
    """`b + x <= a + y`, as (a, b, y - x)."""
    below, above = moved(low), moved(high)
    if below is None or above is None:
        return []
    return [(above[0], below[0], above[1] - below[1] - strict)]


def _needed(own: Node, other: Offsets, distances: list[tuple[str, str, int]]) -> Expr | None:
    """Until when a record may meet a new one of the other side."""
    for mine, theirs, most in distances:
        if theirs in other:
            column = Column(mine, own.schema.field(mine).type)
            return shifted(micros(column), "+", most - other[theirs] + 1)
    return None


def _either(marker: Expr, missing: Expr | None, pair: Expr | None) -> Expr | None:
    if missing == pair:
        return pair
    never = Literal(None, pa.int64())
    test = Call("is null", (marker,), pa.bool_())
    return Call("if", (test, missing or never, pair or never), pa.int64())
