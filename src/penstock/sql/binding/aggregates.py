"""Aggregate functions in trees, and what the algebra calls them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NoReturn

import pyarrow as pa
from sqlglot import exp

from penstock.algebra.aggregates import CHOICES, TIMED, AggregateCall, result_type
from penstock.algebra.evaluate import can_fail
from penstock.algebra.expr import Call, Column, Expr, Literal
from penstock.errors import PlanError
from penstock.sql.binding import types
from penstock.sql.binding.context import Binding, Frame
from penstock.sql.binding.scalars import RANKS, unwrapped
from penstock.sql.dialect import Penstock


class TrySum(exp.Expression, exp.AggFunc):
    """`try_sum(x)`, which sqlglot does not know: NULL where the sum does not fit its type."""


class TryAvg(exp.Expression, exp.AggFunc):
    """`try_avg(x)`: NULL where the average does not fit its type."""


PLAIN: dict[type[exp.Expr], str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    TrySum: "try_sum",
    TryAvg: "try_avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Median: "median",
    exp.AnyValue: "any_value",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.LogicalAnd: "min",
    exp.LogicalOr: "max",
    exp.ArrayAgg: "collect_list",
    exp.ArrayUniqueAgg: "collect_set",
}
COMPARED = (*CHOICES, *TIMED, "collect_set")
"""Aggregates that compare the values, or what orders them."""
BY_ANOTHER: dict[type[exp.Expr], str] = {exp.ArgMin: "first", exp.ArgMax: "last"}
SHARE = "Compute it from row_number() OVER (... ORDER BY x) and count(*) OVER (...)."
INSTEAD: dict[type[exp.Expr], str] = {
    exp.ApproxDistinct: "Write count(DISTINCT x): it is exact, and kept up to date.",
    exp.ApproxQuantile: "Write percentile(x, p): it is exact, and kept up to date.",
    exp.First: "Rows of a view have no order: write min_by(x, ts).",
    exp.FirstValue: "Rows of a view have no order: write min_by(x, ts).",
    exp.Last: "Rows of a view have no order: write max_by(x, ts).",
    exp.LastValue: "Rows of a view have no order: write max_by(x, ts).",
    exp.Ntile: SHARE,
    exp.PercentRank: SHARE,
    exp.CumeDist: SHARE,
}
# aggregates of Spark that sqlglot does not know as such
UNKNOWN = {
    *("bit_and", "bit_or", "bit_xor", "bitmap_construct_agg", "bitmap_or_agg", "bitmap_and_agg"),
    *("count_min_sketch", "histogram_numeric", "hll_sketch_agg", "hll_union_agg", "kurtosis"),
    *("listagg", "mode", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2"),
    *("regr_slope", "regr_sxx", "regr_sxy", "regr_syy", "skewness", "string_agg"),
    *("collect_top_k", "schema_of_variant_agg"),
}
ANONYMOUS: dict[str, type[exp.Expr]] = {
    "any": exp.LogicalOr,
    "every": exp.LogicalAnd,
    "some": exp.LogicalOr,
    "mean": exp.Avg,
    "std": exp.Stddev,
    "try_sum": TrySum,
    "try_avg": TryAvg,
    "collect_set": exp.ArrayUniqueAgg,
}


def aggregates_in(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The outermost aggregate calls of a tree, but for those over windows and of inner queries."""
    if isinstance(tree, exp.Query):
        return
    if isinstance(tree, exp.Window):
        call = tree.this
        while isinstance(call, exp.Filter | exp.WithinGroup):
            yield from aggregates_in(call.expression)
            call = call.this
        for child in call.iter_expressions():
            yield from aggregates_in(child)
        for key in ("partition_by", "order"):
            for child in _listed(tree.args.get(key)):
                yield from aggregates_in(child)
        return
    if _is_aggregate(tree):
        yield tree
        return
    for child in tree.iter_expressions():
        yield from aggregates_in(child)


def _listed(value: object) -> list[exp.Expr]:
    if isinstance(value, exp.Expr):
        return [value]
    return list(value) if isinstance(value, list) else []


def _is_aggregate(tree: exp.Expr) -> bool:
    if isinstance(tree, exp.Filter | exp.WithinGroup):
        return True
    if isinstance(tree, exp.Anonymous):
        return str(tree.this).lower() in (*ANONYMOUS, *UNKNOWN)
    if isinstance(tree, exp.Grouping | exp.GroupingId):
        return False
    return isinstance(tree, exp.AggFunc) and not isinstance(tree, RANKS)


@dataclass(frozen=True)
class Parts:
    """A call taken apart: its function, arguments, and which rows take part."""

    function: str
    args: tuple[exp.Expr, ...] = ()
    distinct: bool = False
    where: exp.Expr | None = None
    parameter: float | None = None


def parts_of(b: Binding, tree: exp.Expr) -> Parts:
    """What an aggregate call says, in the algebra's words; refused where it has none."""
    where = None
    if isinstance(tree, exp.Filter):
        where, tree = tree.expression.this, tree.this
    if isinstance(tree, exp.Anonymous) and str(tree.this).lower() in ANONYMOUS:
        if len(tree.expressions) != 1:
            b.diagnostics.wrong(
                f"{str(tree.this).lower()} has one argument, and here {len(tree.expressions)}.",
                tree,
            )
        tree = ANONYMOUS[str(tree.this).lower()](this=tree.expressions[0])
    if type(tree) in INSTEAD or isinstance(tree, exp.Anonymous):
        _refuse(b, tree)
    distinct = isinstance(tree.this, exp.Distinct)
    args = tree.this.expressions if distinct else [tree.this, *tree.expressions]
    args = [arg for arg in args if isinstance(arg, exp.Expr)]
    _check_arguments(b, tree, args, distinct)
    match tree:
        case exp.Count(this=exp.Star()):
            return Parts("count", where=where)
        case exp.Count() if not distinct and _is_literal(args):
            return Parts("count", where=where)
        case exp.Count():
            return Parts("count", (_together(args),), distinct, where)
        case exp.CountIf(this=condition):
            both = condition if where is None else exp.and_(where.copy(), condition.copy())
            return Parts("count", where=both)
        case exp.Quantile():
            if tree.args.get("quantile") is None or not args:
                b.diagnostics.wrong(
                    "percentile is of a value, at a fraction: write percentile(x, 0.5), or "
                    "percentile(DISTINCT x, 0.5).",
                    tree,
                )
            found = _percentile(b, "percentile", args[0], tree.args["quantile"], where)
            return replace(found, distinct=distinct)
        case exp.WithinGroup(this=call, expression=order):
            return _within_group(b, call, order, where)
    if type(tree) in BY_ANOTHER:
        return Parts(BY_ANOTHER[type(tree)], (tree.this, tree.expression), distinct, where)
    if type(tree) in PLAIN:
        return Parts(PLAIN[type(tree)], tuple(args[:1]), distinct, where)
    _refuse(b, tree)


def _check_arguments(b: Binding, tree: exp.Expr, args: list[exp.Expr], distinct: bool) -> None:
    """An aggregate is of something; a star stands for rows, and not for columns."""
    name = tree.sql(Penstock).split("(")[0].lower()
    if not args or (type(tree) in BY_ANOTHER and tree.args.get("expression") is None):
        wanted = "x, y" if type(tree) in BY_ANOTHER else "*" if name == "count" else "x"
        b.diagnostics.wrong(f"{name} is of something: write {name}({wanted}).", tree)
    stars = [arg for arg in args if isinstance(arg, exp.Star) or arg.is_star]
    if stars and (
        distinct or not (isinstance(tree, exp.Count) and isinstance(tree.this, exp.Star))
    ):
        b.diagnostics.unsupported(
            "A star in an aggregate stands for rows, as in count(*).",
            "List the columns: count(DISTINCT a, b).",
            tree,
        )


def _is_literal(args: list[exp.Expr]) -> bool:
    return len(args) == 1 and isinstance(unwrapped(args[0]), exp.Literal)


def _refuse(b: Binding, tree: exp.Expr) -> NoReturn:
    name = tree.sql(Penstock).split("(")[0].lower()
    default = "Write it in terms of count, sum, avg, min and max."
    b.diagnostics.unsupported(f"{name} is not maintained.", INSTEAD.get(type(tree), default), tree)


def _within_group(b: Binding, call: exp.Expr, order: exp.Expr, where: exp.Expr | None) -> Parts:
    (key,) = order.expressions
    kinds: dict[type[exp.Expr], str] = {
        exp.PercentileCont: "percentile",
        exp.PercentileDisc: "percentile_disc",
    }
    if type(call) not in kinds:
        b.diagnostics.unsupported(
            f"{call.sql(Penstock)} WITHIN GROUP is not maintained.", "Use percentile_cont.", call
        )
    function, value, fraction = kinds[type(call)], key.this, call.this
    if function == "percentile_disc":
        value = exp.Cast(this=value.copy(), to=exp.DataType.build("double"))
        function = "percentile_disc_desc" if key.args.get("desc") else function
    elif key.args.get("desc"):
        fraction = exp.Sub(this=exp.Literal.number(1), expression=fraction.copy())
    return _percentile(b, function, value, fraction, where)


def _percentile(
    b: Binding, function: str, value: exp.Expr, fraction: exp.Expr, where: exp.Expr | None
) -> Parts:
    constant = b.scalars.expr(fraction, pa.schema([]))
    if not isinstance(constant, Literal) or constant.value is None:
        b.diagnostics.wrong("The fraction of a percentile is a constant.", fraction)
    return Parts(function, (value,), where=where, parameter=float(constant.value))


def _together(args: list[exp.Expr]) -> exp.Expr:
    """Several values as one, NULL where any is: what count(DISTINCT a, b) counts."""
    if len(args) == 1:
        return args[0]
    some_null = exp.or_(*(exp.Is(this=arg.copy(), expression=exp.Null()) for arg in args))
    together = exp.Anonymous(this="struct", expressions=[arg.copy() for arg in args])
    return exp.If(this=some_null, true=exp.Null(), false=together)


def call_of(
    b: Binding, parts: Parts, frame: Frame, added: dict[str, tuple[str, Expr]], name: str
) -> AggregateCall:
    """The call over columns; `added` collects the columns that its input must get for it."""

    def column(text: str, value: Expr) -> str:
        known = added.get(text)
        if known is None:
            known = b.fresh("argument"), value
            added[text] = known
        return known[0]

    where = parts.where
    test = None if where is None else b.predicate(where, frame)

    def argument(tree: exp.Expr) -> str:
        """Not evaluated for rows that FILTER leaves out, where it might fail."""
        value = b.expr(tree, frame)
        if where is None or test is None or not can_fail(value):
            return column(tree.sql(), value)
        nothing = Literal(None, value.type)
        chosen = Call("if", (test, value, nothing), value.type)
        return column(f"{tree.sql()} FILTER {where.sql()}", chosen)

    args = tuple(map(argument, parts.args))
    condition = None if where is None or test is None else column(where.sql(), test)
    call = AggregateCall(parts.function, args, name, parts.distinct, condition, parts.parameter)
    _check_type(b, call, parts, added)
    return call


def _check_type(
    b: Binding, call: AggregateCall, parts: Parts, added: dict[str, tuple[str, Expr]]
) -> None:
    schema = pa.schema([(column, value.type) for column, value in added.values()])
    compared = call.args[-1:] if call.function in COMPARED or call.distinct else ()
    for column in compared:
        b.check_compared(schema.field(column).type, parts.args[-1])
    try:
        result_type(call, schema)
    except PlanError:
        kind = types.shown(schema.field(call.args[0]).type)
        b.diagnostics.wrong(f"{call.function} is of numbers, and this is {kind}.", parts.args[0])


def of_nothing(function: str, kind: pa.DataType) -> Expr:
    """The value of an aggregate over no rows."""
    if function == "count":
        return Literal(0, pa.int64())
    if function in ("collect_list", "collect_set"):
        return Call("array", (), kind)
    return Literal(None, kind)


def of_missing_groups(
    b: Binding, schema: pa.Schema, calls: Iterable[AggregateCall]
) -> tuple[list[tuple[str, Expr]], dict[str, str]]:
    """Columns with the values of calls where a left join found no group, by the calls' names.

    What is not NULL of no rows needs a column of its own: a value of a group is NULL only where
    there is no group, or where it is NULL of no rows as well.
    """
    outputs: list[tuple[str, Expr]] = []
    names: dict[str, str] = {}
    for call in calls:
        kind = schema.field(call.name).type
        empty = of_nothing(call.function, kind)
        names[call.name] = call.name
        if empty != Literal(None, kind):
            names[call.name] = b.fresh(call.name)
            value = Call("coalesce", (Column(call.name, kind), empty), kind)
            outputs.append((names[call.name], value))
    return outputs, names
