"""Scalar expressions: trees whose names are resolved become expressions of the algebra.

What Penstock evaluates itself becomes a tree of simple functions, with the casts that Spark would
add. Anything else stays SQL text over its columns, for Spark to type now and to evaluate later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import reduce
from typing import NoReturn, TypeVar

import pyarrow as pa
from sqlglot import exp

from penstock.algebra import times
from penstock.algebra.expr import Call, Column, Expr, Literal, is_simple
from penstock.algebra.settings import CASE, holds_under, is_utc, under, zone_of
from penstock.errors import PenstockError
from penstock.sql.binding import types
from penstock.sql.binding.analyser import Analyser, AnalysisError
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.dialect import Penstock
from penstock.sql.text import span_of
from penstock.sql.windows import MICROSECONDS, UNITS

MOST_SIMPLE = 250
"""How deep an expression may be for us to evaluate it; what is deeper is left to Spark, as text."""
MOST_TEXTS = 30
"""How many texts in a row stay nested in each other: more of them are one call for Spark."""
MOST_BLAMED = 50
"""How deep an expression may be for each of its levels to be asked about by itself."""

COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
}
CHAINED = (exp.Binary, exp.Bracket, exp.Cast, exp.Unary)
ARITHMETIC: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Mod: "%"}

RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Lag, exp.Lead, exp.Ntile, exp.PercentRank)
OF_ROWS = (exp.Window, exp.AggFunc, *RANKS)
TIME_GROUPS = ("window", "session_window")
DAY = MICROSECONDS["DAY"]

VOLATILE = {
    *("current_catalog", "current_database", "current_schema", "current_time", "current_user"),
    *("current_date", "curdate", "current_timestamp", "localtimestamp", "session_user", "user"),
    *("input_file_name", "monotonically_increasing_id", "spark_partition_id", "shuffle", "uuid"),
    *("rand", "randn", "random", "randstr", "uniform"),
}
VOLATILE_NODES = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.Rand, exp.Randn)


def bound_column(name: str, like: exp.Expr | None = None) -> exp.Column:
    """A column of a plan, in a tree; it points to the text that it came from."""
    column = exp.column(exp.to_identifier(name, quoted=True))
    column.meta["bound"] = True
    return placed(column, like)


Tree = TypeVar("Tree", bound=exp.Expr)


def placed(tree: Tree, like: exp.Expr | None) -> Tree:
    """A new tree that points to the text of another."""
    span = span_of(like) if like is not None else None
    if span is not None:
        tree.meta["start"], tree.meta["end"] = span.start, span.end - 1
    return tree


def constant(value: Literal) -> exp.Expr:
    """A constant in a tree."""
    return exp.convert(value.value)


def is_bound(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and "bound" in node.meta


def names_in(tree: exp.Expr) -> list[str]:
    """The columns of the plan that a tree reads, each once."""
    return list(dict.fromkeys(node.name for node in tree.walk() if is_bound(node)))


def unwrapped(tree: exp.Expr) -> exp.Expr:
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def _pattern(tree: exp.TimeToStr) -> str:
    """The pattern of date_format, as Spark writes it."""
    start, end = "DATE_FORMAT(NULL, '", "')"
    text = exp.TimeToStr(this=exp.null(), format=tree.args["format"].copy()).sql(Penstock)
    return text.removeprefix(start).removesuffix(end)


class _NotSimpleError(Exception):
    """A part has no simple form, so the whole has none."""


class Scalars:
    """Binds scalar expressions; what is not known here is asked of Spark."""

    def __init__(self, analyser: Analyser, diagnostics: Diagnostics) -> None:
        self._analyser = analyser
        self._diagnostics = diagnostics
        self.settings = analyser.settings()
        self.exact = (CASE, "true") in self.settings

    def expr(self, tree: exp.Expr, schema: pa.Schema) -> Expr:
        """The expression that a tree stands for, over the columns of a plan."""
        self._check(tree, schema)
        return self._expr(tree, schema)

    def constant(self, tree: exp.Expr) -> Literal:
        """The value of a tree without columns."""
        self._check(tree, pa.schema([]))
        return self._constant(unwrapped(tree))

    def predicate(self, tree: exp.Expr, schema: pa.Schema) -> Expr:
        return self._condition(self.expr(tree, schema), tree)

    def _condition(self, found: Expr, tree: exp.Expr) -> Expr:
        if pa.types.is_null(found.type):
            return Literal(None, pa.bool_())
        if found.type != pa.bool_():
            kind = types.shown(found.type)
            self._diagnostics.wrong(
                f"A condition is true or false, and this is {kind}. Compare it with something.",
                tree,
            )
        return found

    def cast(self, expr: Expr, kind: pa.DataType, at: exp.Expr) -> Expr:
        """The expression with another type, cast as Spark would."""
        cast = types.widened(expr, kind)
        if cast is not None and holds_under(self.settings, cast):
            return cast
        if not self.settings:
            return Call("cast", (expr,), kind)
        name = "timestamp_ltz" if kind == times.TIMESTAMP else types.sql_type(kind)
        return Call(under(self.settings, f"CAST({{0}} AS {name})"), (expr,), kind)

    def ticks(self, time: Expr) -> Expr:
        """A time as an integer; a day begins, and a clock shows a time, in the session's zone."""
        if types.is_time(time.type):
            cast = types.widened(time, times.TIMESTAMP)
            if cast is None or not holds_under(self.settings, cast):
                name = "CAST({0} AS timestamp_ltz)"
                time = Call(under(self.settings, name), (time,), times.TIMESTAMP)
        return times.micros(time)

    def common_type(self, left: Expr, right: Expr, at: exp.Expr) -> pa.DataType:
        """The type in which Spark brings two values together."""
        if left.type == right.type:
            return left.type
        schema = pa.schema([("a", left.type), ("b", right.type)])
        try:
            return self._analyser.type_of("coalesce(a, b)", schema)
        except AnalysisError:
            kinds = f"{types.shown(left.type)} and {types.shown(right.type)}"
            self._diagnostics.wrong(f"{kinds} cannot be brought together; cast one of them.", at)

    def _check(self, tree: exp.Expr, schema: pa.Schema) -> None:
        for node in tree.walk():
            if is_bound(node) and node.name not in schema.names:
                self._diagnostics.wrong(
                    f"Column {node.meta.get('name', node.name)} is neither grouped nor aggregated. "
                    "Add it to GROUP BY, or take any_value, min or max of it.",
                    node,
                )
            if isinstance(node, VOLATILE_NODES) or _function_name(node) in VOLATILE:
                self._diagnostics.unsupported(
                    f"{_shown(node)} is another value each time it is asked for, and a view has "
                    "one answer.",
                    "Compare with NOW(), the event time, or let the source bring a column.",
                    node,
                )
            if isinstance(node, exp.Anonymous) and node.name == "NOW":
                self._diagnostics.unsupported(
                    "NOW() moves on by itself, so only comparisons with it can be maintained.",
                    "Write it as a condition of its own in WHERE: NOW() - INTERVAL 5 MINUTES < ts.",
                    node,
                )
            if isinstance(node, exp.Query):
                self._diagnostics.unsupported(
                    "A query cannot stand in ON or GROUP BY, nor in the order of rows.",
                    "Select it in a query in FROM, under a name, and use the name here; or move "
                    "the condition to WHERE.",
                    node,
                )
            if isinstance(node, OF_ROWS) or _function_name(node) in TIME_GROUPS:
                self._misplaced(node)

    def _misplaced(self, node: exp.Expr) -> NoReturn:
        """Whatever is computed from several rows has become a column before it gets here."""
        if isinstance(node, exp.Window):
            self._diagnostics.wrong(
                "What is OVER rows cannot stand here: it is computed after WHERE and GROUP BY. "
                "Filter by it with QUALIFY, or use it in a query around this one.",
                node,
            )
        if isinstance(node, RANKS):
            name = _shown(node)
            self._diagnostics.wrong(
                f"{name} numbers rows: write {name} OVER (PARTITION BY a ORDER BY b).", node
            )
        if isinstance(node, exp.AggFunc):
            self._diagnostics.wrong(
                "An aggregate cannot stand here, where rows are not grouped yet. Write HAVING "
                "after GROUP BY, or aggregate in a query in FROM.",
                node,
            )
        self._diagnostics.wrong(
            "A window in time is something to group by. Write GROUP BY window(ts, '10 minutes'); "
            "then select window.start and window.end.",
            node,
        )

    def _expr(self, tree: exp.Expr, schema: pa.Schema) -> Expr:
        tree = unwrapped(tree)
        shallow = _is_constant(tree) or _depth(tree) <= MOST_SIMPLE
        simple = self._simple(tree, schema) if shallow else None
        return self._opaque(tree, schema) if simple is None else simple

    def _simple(self, tree: exp.Expr, schema: pa.Schema) -> Expr | None:
        """The tree in simple functions, where all of it has them."""
        if _is_constant(tree):
            found = self._constant(tree)
            return None if pa.types.is_nested(found.type) else found
        try:
            structural = self._structural(tree, schema)
        except _NotSimpleError:
            return None
        return structural if structural is not None and self._is_simple(structural) else None

    def _is_simple(self, expr: Expr) -> bool:
        """Whether all of it is evaluated outside Spark as Spark would under the settings."""
        return is_simple(expr) and holds_under(self.settings, expr)

    def _structural(self, tree: exp.Expr, schema: pa.Schema) -> Expr | None:
        """A function of simple parts."""

        def part(child: exp.Expr) -> Expr:
            child = unwrapped(child)
            found = None if isinstance(child, exp.Interval) else self._simple(child, schema)
            if found is None:
                raise _NotSimpleError
            return found

        match tree:
            case exp.Column():
                return Column(tree.name, schema.field(tree.name).type)
            case exp.And() | exp.Or():
                word = "and" if isinstance(tree, exp.And) else "or"
                parts = [self._condition(part(arg), arg) for arg in tree.flatten(unnest=False)]
                return Call(word, tuple(parts), pa.bool_())
            case exp.Not(this=this):
                return Call("not", (self._condition(part(this), this),), pa.bool_())
            case exp.Is(this=this, expression=exp.Null()):
                return Call("is null", (part(this),), pa.bool_())
            case exp.Is(this=this, expression=exp.Boolean(this=value)):
                truth = self._condition(part(this), this)
                return Call("<=>", (truth, Literal(bool(value), pa.bool_())), pa.bool_())
            case exp.NullSafeNEQ(this=this, expression=other):
                same = exp.NullSafeEQ(this=this.copy(), expression=other.copy())
                return Call("not", (part(same),), pa.bool_())
            case exp.Nullif(this=this, expression=other):
                test = part(exp.EQ(this=this.copy(), expression=other.copy()))
                return types.choice(test, types.NULL, part(this))
            case exp.Between(this=this) if not tree.args.get("symmetric"):
                low = exp.GTE(this=this.copy(), expression=tree.args["low"].copy())
                high = exp.LTE(this=this.copy(), expression=tree.args["high"].copy())
                return Call("and", (part(low), part(high)), pa.bool_())
            case exp.In(this=this, expressions=[_, *_] as items) if len(items) <= 20:
                equal = [part(exp.EQ(this=this.copy(), expression=i.copy())) for i in items]
                return equal[0] if len(equal) == 1 else Call("or", tuple(equal), pa.bool_())
            case exp.Case():
                return self._case(tree, part)
            case exp.If(this=test, args={"true": then}):
                otherwise = part(tree.args["false"]) if tree.args.get("false") else types.NULL
                return types.choice(self._condition(part(test), test), part(then), otherwise)
            case exp.Coalesce(this=first, expressions=rest):
                values = types.unified([part(first), *map(part, rest)])
                return Call("coalesce", tuple(values), values[0].type) if values else None
            case exp.Neg(this=this) | exp.Abs(this=this):
                value = part(this)
                word = "negative" if isinstance(tree, exp.Neg) else "abs"
                return Call(word, (value,), value.type)
            case exp.Cast(this=this, to=to) if isinstance(tree, exp.Cast | exp.TryCast):
                wanted = self.named_type(to.sql(Penstock), to)
                return types.widened(part(this), wanted)
            case exp.TimeToStr(this=exp.TimeStrToTime(this=time), args={"format": exp.Literal()}):
                instant = types.widened(part(time), times.TIMESTAMP)
                pattern = Literal(_pattern(tree), pa.string())
                return instant and Call("date_format", (instant, pattern), pa.string())
            case exp.Div(this=a, expression=b):
                return types.quotient(part(a), part(b))
            case exp.Add() | exp.Sub() if (moved := self._moved_time(tree, part)) is not None:
                return moved
        if type(tree) in COMPARISONS:
            return self._comparison(tree, part)
        if type(tree) in ARITHMETIC:
            sides = (tree.this, tree.expression)
            a, b = map(part, sides)
            if types.has_decimal(a, b) and any(map(_is_computed, sides, (a, b))):
                return None
            return types.arithmetic(ARITHMETIC[type(tree)], a, b)
        return None

    def _comparison(self, tree: exp.Expr, part: Callable[[exp.Expr], Expr]) -> Expr | None:
        left, right = part(tree.this), part(tree.expression)
        if types.has_map(left.type):
            return None  # Spark says why
        both = types.comparable(left, right)
        if both is None:
            both = self._with_text_as(left, right)
        return Call(COMPARISONS[type(tree)], both, pa.bool_()) if both else None

    def _with_text_as(self, left: Expr, right: Expr) -> tuple[Expr, Expr] | None:
        """Text beside a time is a time: `d < '1995-01-01'`."""
        match left, right:
            case _, Literal(str() as text, _) if types.is_time(left.type):
                return left, self._literal_as(text, left.type)
            case Literal(str() as text, _), _ if types.is_time(right.type):
                return self._literal_as(text, right.type), right
        return None

    def _literal_as(self, text: str, kind: pa.DataType) -> Literal:
        quoted = exp.Literal.string(text).sql(Penstock)
        name = "timestamp_ltz" if kind == times.TIMESTAMP else types.sql_type(kind)
        return self._analyser.constant(f"CAST({quoted} AS {name})")

    def _case(self, tree: exp.Case, part: Callable[[exp.Expr], Expr]) -> Expr | None:
        result = part(tree.args["default"]) if tree.args.get("default") else types.NULL
        for branch in reversed(tree.args["ifs"]):
            test = branch.this
            if tree.this is not None:
                test = exp.EQ(this=tree.this.copy(), expression=test.copy())
            chosen = types.choice(part(test), part(branch.args["true"]), result)
            if chosen is None:
                return None
            result = chosen
        return result

    def _moved_time(self, tree: exp.Expr, part: Callable[[exp.Expr], Expr]) -> Expr | None:
        """A timestamp plus or minus an interval of fixed length."""
        this, other = unwrapped(tree.this), unwrapped(tree.expression)
        if isinstance(this, exp.Interval) and isinstance(tree, exp.Add):
            this, other = other, this
        length = interval_micros(other)
        if length is None:
            return None
        time = part(this)
        if not pa.types.is_timestamp(time.type):
            return None
        if abs(length) >= DAY and time.type == times.TIMESTAMP and not self._all_days_are_equal:
            return None  # days are those of the calendar
        sign = "+" if isinstance(tree, exp.Add) else "-"
        return times.timestamp_of(times.shifted(times.micros(time), sign, length), time.type)

    @property
    def _all_days_are_equal(self) -> bool:
        return is_utc(zone_of(self.settings))

    def _constant(self, tree: exp.Expr) -> Literal:
        try:
            return self._value(tree)
        except AnalysisError as error:
            column = tree.find(exp.Column)
            if column is not None:
                self._diagnostics.wrong(f"Expected a constant, not column {column.name}.", column)
            self._diagnostics.objection(error, tree)

    def _value(self, tree: exp.Expr) -> Literal:
        match tree:
            case exp.Null():
                return types.NULL
            case exp.Boolean(this=value):
                return Literal(bool(value), pa.bool_())
            case exp.Literal(is_string=True, this=text):
                return Literal(str(text), pa.string())
            case exp.Literal(this=text) if str(text).isdigit() and int(text) < 2**63:
                return types.whole_number(int(text))
            case exp.Neg(this=exp.Literal(is_string=False, this=text)) if (
                str(text).isdigit() and int(text) <= 2**63
            ):
                return types.whole_number(-int(text))
            case exp.Neg(this=exp.Literal() as inner):
                value = self._value(inner)
                if isinstance(value.value, int | float | Decimal):
                    return Literal(-value.value, value.type)
        known = self._known_value(tree)
        return self._analyser.constant(tree.sql(Penstock)) if known is None else known

    def _known_value(self, tree: exp.Expr) -> Literal | None:
        """What simple functions of constants give; where a part has no value, the whole may."""
        if tree.find(exp.Column) or _depth(tree) > MOST_SIMPLE:
            return None
        try:
            call = self._structural(tree, pa.schema([]))
        except (_NotSimpleError, PenstockError):
            return None
        return self._analyser.value(call) if call is not None and self._is_simple(call) else None

    def named_type(self, text: str, at: exp.Expr) -> pa.DataType:
        try:
            return self._analyser.named_type(text)
        except AnalysisError as error:
            self._diagnostics.objection(error, at)

    def _opaque(self, tree: exp.Expr, schema: pa.Schema) -> Expr:
        names = names_in(tree)
        columns = tuple(Column(name, schema.field(name).type) for name in names)
        template = _template(self._flat(tree.copy().transform(self._settled), schema), names)
        kind = self._type_of(tree, template, columns, schema)
        return Call(under(self.settings, template), columns, kind)

    def _flat(self, tree: exp.Expr, schema: pa.Schema) -> exp.Expr:
        """Texts in a row as one call: hundreds in each other are too deep for Spark."""
        whole = exp.Paren(this=tree)
        for last in reversed(list(tree.find_all(exp.DPipe))):  # what is inside others comes first
            parts = [] if isinstance(last.parent, exp.DPipe) else list(last.flatten(unnest=False))
            if len(parts) > MOST_TEXTS:
                copies = [part.copy() for part in parts]
                call = exp.Anonymous(this="concat", expressions=copies)
                if self._is_text(call, schema):
                    last.replace(call)
        return whole.this

    def _is_text(self, tree: exp.Expr, schema: pa.Schema) -> bool:
        used = pa.schema([(name, schema.field(name).type) for name in names_in(tree)])
        try:
            return self._analyser.type_of(tree.sql(Penstock), used) == pa.string()
        except AnalysisError:
            return False  # a part of a lambda function, or a mistake

    def _settled(self, node: exp.Expr) -> exp.Expr:
        """What Spark would only find out when rows come, said now."""
        if _function_name(node) == "current_timezone":
            return exp.Literal.string(self._analyser.constant("current_timezone()").value)
        return node

    def _type_of(
        self, tree: exp.Expr, template: str, columns: Sequence[Column], schema: pa.Schema
    ) -> pa.DataType:
        """Asked for with columns of any names: then many questions are the same."""
        places = {f"c{i}": column.type for i, column in enumerate(columns)}
        try:
            return self._analyser.type_of(template.format(*places), pa.schema(places.items()))
        except AnalysisError:
            pass
        try:
            used = pa.schema([(column.name, column.type) for column in columns])
            return self._analyser.type_of(tree.sql(Penstock), used)
        except AnalysisError as error:
            self._blame(tree, schema, error)

    def _blame(self, tree: exp.Expr, schema: pa.Schema, error: AnalysisError) -> NoReturn:
        """Complain about the smallest part that Spark objects to."""
        if isinstance(tree, exp.And | exp.Or | exp.Not):
            for condition in tree.iter_expressions():
                self.predicate(condition, schema)
        for child in _operands(tree):
            if isinstance(child, exp.Func | exp.Binary | exp.Cast | exp.Paren | exp.Unary):
                self._expr(child, schema)
        self._diagnostics.objection(error, tree)


def _operands(tree: exp.Expr) -> list[exp.Expr]:
    """The parts of an expression; of operators in a row, which may be hundreds, all of theirs."""
    parts = list(tree.iter_expressions())
    if _depth(tree) > MOST_BLAMED:
        while isinstance(tree, CHAINED) and isinstance(tree.this, CHAINED):
            tree = tree.this
            parts = [*tree.iter_expressions(), *parts[1:]]
    return parts


def _is_constant(tree: exp.Expr) -> bool:
    return not any(map(is_bound, tree.walk()))


def _depth(tree: exp.Expr) -> int:
    """How deep a tree is when its ANDs and ORs in a row are one, and a CASE is nested choices."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        inside = depth + (len(node.args["ifs"]) if isinstance(node, exp.Case) else 1)
        for child in node.iter_expressions():
            same = isinstance(node, exp.Connector) and type(child) is type(node)
            waiting.append((child, depth if same else inside))
    return deepest


def interval_micros(tree: exp.Expr) -> int | None:
    """The length of `INTERVAL n unit`, where the unit has one."""
    match tree:
        case exp.Interval(this=exp.Literal(this=count), unit=exp.Var(this=unit)):
            if str(unit).upper() in UNITS and str(count).lstrip("-").isdigit():
                return int(count) * UNITS[str(unit).upper()]
    return None


def _template(tree: exp.Expr, names: list[str]) -> str:
    """The text of a tree with `{i}` where the i-th column stands."""

    def marked(node: exp.Expr) -> exp.Expr:
        return exp.var(f"\x00{names.index(node.name)}\x00") if is_bound(node) else node

    text = tree.copy().transform(marked).sql(Penstock)
    text = text.replace("{", "{{").replace("}", "}}")
    return reduce(
        lambda t, i: t.replace(f"\x00{i}\x00", "{" + str(i) + "}"), range(len(names)), text
    )


def _shown(node: exp.Expr) -> str:
    return node.sql(Penstock, normalize_functions="lower")


def _function_name(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def _is_computed(tree: exp.Expr, value: Expr) -> bool:
    """Whether this is a whole constant that is not written as one: beside decimals, Spark gives it
    as many digits as its type has."""
    tree = unwrapped(tree)
    written = tree.this if isinstance(tree, exp.Neg) else tree
    whole = isinstance(value, Literal) and value.type in types.INTEGERS
    return whole and not isinstance(written, exp.Literal)
