"""What of a parse tree the binder reads: nothing that a statement says is left unread.

Law: every argument of every node is read by the binder, means nothing for a reason that is written
here, or is refused by name. A kind of node that is not written here is an expression, which reaches
Spark as text: an argument that does not change that text is refused. Any other kind is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError, UnsupportedError

from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.dialect import Penstock
from penstock.sql.text import one_of

Kinds: TypeAlias = tuple[type[exp.Expr], ...]


@dataclass(frozen=True)
class Clauses:
    """The arguments of a kind of node.

    `read` are those that the binder reads, `meaningless` those that it need not, and why. `refused`
    says of others what they are and what to write instead. `kinds` are the only nodes that the
    binder expects in an argument.
    """

    read: frozenset[str]
    meaningless: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    kinds: Mapping[str, Kinds] = field(default_factory=dict)


def reads(
    words: str,
    meaningless: Mapping[str, str] | None = None,
    refused: Mapping[str, tuple[str, str]] | None = None,
    kinds: Mapping[str, Kinds] | None = None,
) -> Clauses:
    return Clauses(frozenset(words.split()), meaningless or {}, refused or {}, kinds or {})


NO_ORDER = "Leave it out: a view has no order."
LEVELS = "Follow links with as many joins as there are levels."
COLUMNS = "List the columns."
AS_OF = "Write AS OF and a time after the name of a view: SELECT * FROM v AS OF 17."
SORTED = "Sort what is collected: sort_array(collect_list(x))."
KEEP_FIRST = "Number the rows and keep the first: QUALIFY row_number() OVER (ORDER BY a) <= 3."
PER_KEY = "Number the rows of each: QUALIFY row_number() OVER (PARTITION BY k ORDER BY a) <= 1."
NOT_NULL = "Write any_value(x) FILTER (WHERE x IS NOT NULL); other aggregates leave NULLs out."

MODIFIERS_REFUSED = {
    "match": ("MATCH_RECOGNIZE", "Number rows with ROW_NUMBER and join a row with the next."),
    "connect": ("CONNECT BY", LEVELS),
    "prewhere": ("PREWHERE", "Write WHERE."),
    "cluster": ("CLUSTER BY", NO_ORDER),
    "distribute": ("DISTRIBUTE BY", "Leave it out: a view has no partitions."),
    "sort": ("SORT BY", "A view has no order: ORDER BY ... LIMIT n keeps the first n rows."),
    "locks": ("FOR UPDATE or FOR SHARE", "Leave it out: reading locks nothing."),
    "sample": ("A sample", "Filter by a hash of a column: WHERE pmod(hash(id), 100) < 5."),
    "settings": ("SETTINGS", "Give options to penstock.connect()."),
    "format": ("FORMAT", "Ask the result for what it is to be: .df(), .to_arrow()."),
    "options": ("OPTION", "Give options to penstock.connect()."),
    "for_": ("FOR", "Leave it out."),
}
SET_OPERATION = reads(
    "this expression with_ distinct by_name order limit offset output emit",
    refused={
        **MODIFIERS_REFUSED,
        "side": ("LEFT or FULL with a set operation", "Join the two sides."),
        "kind": ("INNER with a set operation", "Join the two sides."),
        "on": ("ON with a set operation", COLUMNS),
    },
)
SIDES = reads("this expression")
ONE = reads("this")
LIST = reads("expressions")
AGGREGATE = reads("this")

READ: dict[type[exp.Expr], Clauses] = {
    # queries
    exp.Select: reads(
        "with_ expressions distinct from_ laterals joins where group having qualify windows order "
        "limit offset output emit",
        {"hint": "It tells Spark how to run a query, and not what it means."},
        {
            **MODIFIERS_REFUSED,
            "into": ("SELECT INTO", "Write CREATE VIEW name AS SELECT ..."),
            "kind": ("SELECT AS STRUCT or AS VALUE", "Write struct(a, b) AS s."),
            "operation_modifiers": ("A modifier of SELECT", "Leave it out."),
            "exclude": ("EXCLUDE", "Write SELECT * EXCEPT (a)."),
            "pivots": ("PIVOT", "Write sum(x) FILTER (WHERE k = 'a') AS a."),
        },
        {"limit": (exp.Limit, exp.Fetch), "distinct": (exp.Distinct, exp.Var)},
    ),
    exp.Union: SET_OPERATION,
    exp.Except: SET_OPERATION,
    exp.Intersect: SET_OPERATION,
    exp.Subquery: reads(
        "this alias with_ joins order limit offset pivots sample window sync output emit",
        refused={
            **{k: v for k, v in MODIFIERS_REFUSED.items() if k != "sample"},
            **{
                key: (f"{word} after a query in parentheses", "Write SELECT * FROM (...) AS q.")
                for key, word in (
                    ("where", "WHERE"),
                    ("group", "GROUP BY"),
                    ("having", "HAVING"),
                    ("qualify", "QUALIFY"),
                    ("windows", "WINDOW"),
                    ("laterals", "LATERAL VIEW"),
                )
            },
        },
        kinds={"limit": (exp.Limit, exp.Fetch)},
    ),
    exp.Values: reads(
        "expressions alias order limit offset pivots", kinds={"limit": (exp.Limit, exp.Fetch)}
    ),
    exp.With: reads(
        "expressions recursive",
        refused={
            "search": ("SEARCH", LEVELS),
            "cycle": ("CYCLE", LEVELS),
            "udfs": ("A function in WITH", "Register a Python function with Spark."),
        },
    ),
    exp.CTE: reads(
        "this alias",
        {"materialized": "It says how often a query is computed, and not what it gives."},
        {
            "scalar": ("A value in WITH", "Write WITH a AS (SELECT 1 AS x)."),
            "key_expressions": ("USING KEY", LEVELS),
        },
    ),
    # relations
    exp.From: ONE,
    exp.Table: reads(
        "this alias db joins pivots sample window sync",
        refused={
            "catalog": ("A name of three parts", "There is one catalog: write the last part."),
            "version": (
                "AS OF in what is kept up to date",
                "Ask once: SELECT * FROM v AS OF 17; or filter by a column of the time.",
            ),
            "when": ("AT or BEFORE", AS_OF),
            "system_time": ("FOR SYSTEM_TIME", AS_OF),
            "changes": ("CHANGES", "Write SELECT STREAMED * FROM v."),
            "hints": ("A hint about a table", "Leave it out."),
            "indexed": ("INDEXED BY", "Leave it out."),
            "laterals": ("LATERAL VIEW", "Explode the rows before they are appended."),
            "format": ("FORMAT", "Make a table of the file: CREATE TABLE t USING parquet ..."),
            "pattern": ("PATTERN", "Make a table of the files: CREATE TABLE t USING parquet ..."),
            "ordinality": ("WITH ORDINALITY", "Number the rows: row_number() OVER (ORDER BY a)."),
            "only": ("ONLY", "Leave it out: nothing inherits from a table."),
            "partition": ("PARTITION", "Filter by a column: WHERE day = '2024-01-01'."),
            "rows_from": ("ROWS FROM", "List the rows with VALUES."),
        },
    ),
    exp.TableAlias: reads(
        "this columns", kinds=dict.fromkeys(("this", "columns"), (exp.Identifier,))
    ),
    exp.Join: reads(
        "this on side kind using method",
        refused={
            "hint": ("A hint in a join", "Leave it out."),
            "global_": ("GLOBAL JOIN", "Leave the word out."),
            "directed": ("DIRECTED JOIN", "Leave the word out."),
            "match_condition": (
                "MATCH_CONDITION",
                "Join by a range of time, and keep the latest with QUALIFY.",
            ),
            "nearest": ("NEAREST", "Join by a range of time, and keep the latest with QUALIFY."),
            "pivots": ("PIVOT", "Write sum(x) FILTER (WHERE k = 'a') AS a."),
            "expressions": ("A join of several relations at once", "Write one JOIN for each."),
        },
    ),
    # the binder refuses these three as a whole
    exp.Lateral: reads("this view outer alias cross_apply ordinality"),
    exp.TableSample: reads(" ".join(exp.TableSample.arg_types)),
    exp.Pivot: reads(" ".join(exp.Pivot.arg_types)),
    # clauses
    exp.Where: ONE,
    exp.Having: ONE,
    exp.Qualify: ONE,
    exp.Group: reads(
        "expressions grouping_sets cube rollup all",
        refused={"totals": ("WITH TOTALS", "Write GROUP BY a, b WITH ROLLUP.")},
    ),
    exp.Rollup: LIST,
    exp.Cube: LIST,
    exp.GroupingSets: LIST,
    exp.Distinct: reads(
        "expressions",
        refused={
            "on": (
                "DISTINCT ON",
                "Number the rows and keep the first: ROW_NUMBER() OVER (PARTITION BY ...) = 1.",
            )
        },
    ),
    exp.Order: reads(
        "expressions",
        refused={
            "this": ("ORDER BY within an aggregate", SORTED),
            "siblings": ("ORDER SIBLINGS BY", NO_ORDER),
        },
    ),
    exp.Ordered: reads("this desc nulls_first", refused={"with_fill": ("WITH FILL", NO_ORDER)}),
    exp.Limit: reads(
        "expression limit_options",
        refused={
            "this": ("LIMIT within an aggregate", "Number the rows in a query in FROM."),
            "offset": ("LIMIT with an offset", "Write LIMIT 2 OFFSET 1."),
            "expressions": ("LIMIT BY", PER_KEY),
        },
    ),
    exp.Fetch: reads("count limit_options", {"direction": "FIRST and NEXT are the same."}),
    exp.LimitOptions: reads(
        "",
        {"rows": "ROW and ROWS are the same."},
        {
            "percent": ("PERCENT", "Write how many rows: LIMIT 50."),
            "with_ties": (
                "WITH TIES",
                "Rank the rows: QUALIFY rank() OVER (ORDER BY a) <= 3.",
            ),
        },
    ),
    exp.Offset: reads(
        "expression",
        refused={"this": ("OFFSET here", KEEP_FIRST), "expressions": ("OFFSET BY", PER_KEY)},
    ),
    exp.Window: reads(
        "this partition_by order spec alias over",
        refused={"first": ("KEEP", "Write max_by(x, y), or rank rows in a query in FROM.")},
    ),
    exp.WindowSpec: reads("kind start start_side end end_side exclude"),
    exp.PositionalColumn: ONE,
    exp.Star: reads("except_ replace rename", refused={"ilike": ("* ILIKE", COLUMNS)}),
    # what is in all expressions
    exp.Identifier: reads(
        "this quoted",
        refused={
            "global_": ("A name of this kind", "Write letters, digits and _ only."),
            "temporary": ("A name of this kind", "Write letters, digits and _ only."),
        },
    ),
    exp.Var: ONE,
    exp.Alias: reads("this alias", kinds={"alias": (exp.Identifier,)}),
    exp.Tuple: LIST,
    exp.Paren: ONE,
    exp.Column: reads(
        "this table db catalog",
        refused={
            "join_mark": ("(+)", "Write LEFT JOIN or RIGHT JOIN."),
            "shadow": ("A column of this kind", "Write its name."),
        },
    ),
    exp.Literal: reads("this is_string"),
    exp.Boolean: ONE,
    exp.Null: reads(""),
    **dict.fromkeys((exp.And, exp.Or, exp.Is, exp.Dot), SIDES),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), SIDES),
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ, exp.Nullif), SIDES),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Mod), SIDES),
    **dict.fromkeys((exp.Not, exp.Neg), ONE),
    exp.Exists: SIDES,
    exp.Div: reads(
        "this expression",
        dict.fromkeys(("typed", "safe"), "It is how Spark divides, in every query."),
    ),
    exp.Between: reads("this low high symmetric"),
    exp.In: reads(
        "this expressions query",
        refused={
            "unnest": ("IN UNNEST", "Write array_contains(list, x)."),
            "field": ("IN and a name", "Write array_contains(list, x), or IN (a, b)."),
            "is_global": ("GLOBAL IN", "Leave the word out."),
        },
    ),
    exp.Case: reads("this ifs default"),
    exp.If: reads("this true false"),
    exp.Coalesce: reads(
        "this expressions", dict.fromkeys(("is_nvl", "is_null"), "All its names mean the same.")
    ),
    exp.Cast: reads(
        "this to safe",
        refused={
            "format": (
                "FORMAT in a cast",
                "Write to_timestamp(x, 'yyyy'), or date_format(x, ...).",
            ),
            "action": ("An action in a cast", "Write coalesce(try_cast(x AS INT), 0)."),
            "default": ("DEFAULT in a cast", "Write coalesce(try_cast(x AS INT), 0)."),
        },
    ),
    exp.Lambda: reads("this expressions"),
    exp.GenerateSeries: reads("start end step"),
    # aggregates that are maintained
    **dict.fromkeys((exp.Sum, exp.Avg, exp.Median, exp.AnyValue), AGGREGATE),
    **dict.fromkeys((exp.Min, exp.Max), AGGREGATE),
    **dict.fromkeys((exp.Stddev, exp.StddevSamp, exp.StddevPop), AGGREGATE),
    **dict.fromkeys((exp.Variance, exp.VariancePop, exp.CountIf), AGGREGATE),
    **dict.fromkeys((exp.LogicalAnd, exp.LogicalOr, exp.ArrayUniqueAgg), AGGREGATE),
    exp.ArrayAgg: reads("this", {"nulls_excluded": "Spark leaves NULLs out, always."}),
    exp.Count: reads("this expressions", {"big_int": "A count always is a BIGINT."}),
    exp.Quantile: reads("this quantile"),
    **dict.fromkeys((exp.PercentileCont, exp.PercentileDisc), reads("this expression")),
    **dict.fromkeys((exp.ArgMax, exp.ArgMin), SIDES),
    exp.Filter: SIDES,
    exp.WithinGroup: SIDES,
    # numbers of rows
    **dict.fromkeys((exp.RowNumber, exp.Rank, exp.DenseRank), reads("")),
    **dict.fromkeys((exp.Lag, exp.Lead), reads("this offset default")),
    exp.Grouping: LIST,
    exp.GroupingId: LIST,
}

REFUSED: dict[type[exp.Expr], tuple[str, str]] = {
    exp.IgnoreNulls: ("IGNORE NULLS", NOT_NULL),
    exp.RespectNulls: ("RESPECT NULLS", "Leave it out."),
    exp.HavingMax: ("HAVING MAX or MIN", "Write max_by(x, y) or min_by(x, y)."),
    exp.Final: ("FINAL", "Write EMIT FINAL at the end of the query."),
    exp.Aliases: ("An alias of several names", "Give each column a name of its own."),
    exp.Prior: ("PRIOR", LEVELS),
}
"""Nodes that are refused wherever they stand."""

TEXT = (
    *(exp.DataType, exp.DataTypeParam, exp.Interval, exp.IntervalSpan, exp.TimeUnit, exp.Slice),
    *(exp.AtTimeZone, exp.FromTimeZone, exp.JSONPath, exp.JSONPathPart, exp.JSONKeyValue),
    *(exp.JSON, exp.ColumnDef, exp.National, exp.Variadic, exp.IntervalOp, exp.Heredoc),
)
"""Nodes that are parts of expressions without being expressions."""

_DEFAULT = "It is what Spark does where nothing is said."
_OWN = "The parser marks every call of this name with it."
MEANINGLESS: dict[type[exp.Expr], Mapping[str, str]] = {
    exp.ArrayConcat: {"null_propagation": _OWN},
    exp.ArrayInsert: {"offset": _OWN},
    exp.ArrayRemove: {"null_propagation": _OWN},
    exp.ArraySlice: {"is_length": _OWN},
    exp.ArraySort: {"nulls_first": _DEFAULT},
    exp.DPipe: {"safe": _OWN},
    exp.Initcap: {"expression": _DEFAULT},
    exp.TimestampTrunc: {"unit": _DEFAULT},
    exp.Bracket: {"offset": _OWN, "safe": _OWN},
    exp.Concat: {"safe": _OWN},
    exp.ConcatWs: {"safe": _OWN, "flatten": _OWN},
    exp.Greatest: {"ignore_nulls": _OWN},
    exp.Least: {"ignore_nulls": _OWN},
    exp.RegexpExtract: {"group": _DEFAULT, "null_if_pos_overflow": _OWN},
    exp.RegexpExtractAll: {"group": _DEFAULT},
    exp.StrToUnix: {"format": _DEFAULT},
    exp.TsOrDsAdd: {"unit": _DEFAULT},
    exp.TsOrDsToDate: {"safe": _OWN},
    exp.UnixToStr: {"format": _DEFAULT},
}
"""Arguments of expressions that may make no difference to their text, and why that is right."""


def check_read(tree: exp.Expr, diagnostics: Diagnostics) -> None:
    """Refuse a tree with a part that the binder would leave unread."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting += _check_node(node, diagnostics)


def _check_node(node: exp.Expr, diagnostics: Diagnostics) -> Iterator[exp.Expr]:
    """The parts of a node that are looked at next."""
    kind = type(node)
    if kind in REFUSED:
        what, instead = REFUSED[kind]
        diagnostics.unsupported(f"{what} is not supported.", instead, node)
    if kind is exp.Order and node.this is None and isinstance(node.parent, exp.Func):
        diagnostics.wrong(
            "Nothing stands before this ORDER BY: write f(x ORDER BY y).", node.parent
        )
    clauses = READ.get(kind) or (READ[exp.Cast] if isinstance(node, exp.Cast) else None)
    if clauses is None:
        if not isinstance(node, (exp.Condition, *TEXT)):
            diagnostics.unsupported(f"{_words(kind)} is not supported.", "Leave it out.", node)
        if not isinstance(node, exp.AggFunc):  # of those, the binder refuses what is not here
            _check_written(node, diagnostics)
        yield from node.iter_expressions()
        return
    for key, value in node.args.items():
        if not value or key in clauses.meaningless:
            continue
        if key not in clauses.read:
            _refuse(node, key, diagnostics, clauses)
        for part in value if isinstance(value, list) else [value]:
            if key in clauses.kinds and not isinstance(part, clauses.kinds[key]):
                diagnostics.unsupported(
                    f"{_shown(part)} cannot stand here.",
                    f"Write {one_of(_words(known) for known in clauses.kinds[key])}.",
                    node,
                )
            if isinstance(part, exp.Expr):
                yield part


def _refuse(
    node: exp.Expr, key: str, diagnostics: Diagnostics, clauses: Clauses | None = None
) -> NoReturn:
    value = node.args[key]
    part = value[0] if isinstance(value, list) else value
    at = part if isinstance(part, exp.Expr) else node
    if clauses is not None and key in clauses.refused:
        what, instead = clauses.refused[key]
        diagnostics.unsupported(f"{what} is not supported.", instead, at)
    if isinstance(node, exp.Func) and isinstance(part, exp.Expr):
        name = node.sql(Penstock, unsupported_level=ErrorLevel.IGNORE).split("(")[0].lower()
        diagnostics.unsupported(
            f"The argument {_shown(part)} of {name} is not supported.", "Leave it out.", at
        )
    diagnostics.unsupported(
        f"{key.strip('_').replace('_', ' ').upper()} of {_words(type(node))} is not supported.",
        "Leave it out.",
        at,
    )


# --- expressions that are text -------------------------------------------------------------------


@dataclass(frozen=True)
class Writing:
    """What the text of an expression leaves out: an argument, or what cannot be said at all."""

    unread: str | None = None
    objection: str | None = None


_FAILURES = (AttributeError, IndexError, KeyError, SqlglotError, TypeError, ValueError)
_DEPTHS = (2, 1)
"""How many levels of an expression are looked at; a part may need parts of its own kind, as MAP
does, where those of the node are in the way."""
_MOST_KNOWN = 10_000
_known: dict[object, Writing] = {}
"""What was found, by all that is looked at: what came before makes no difference."""


def _check_written(node: exp.Expr, diagnostics: Diagnostics) -> None:
    found = writing(node)
    if found.objection is not None:
        diagnostics.unsupported(
            f"{_shown(node)} says what Spark has no words for: {found.objection}",
            "Write it in the functions of Spark.",
            node,
        )
    if found.unread is not None:
        _refuse(node, found.unread, diagnostics)


def writing(node: exp.Expr) -> Writing:
    """What the text that Spark is given of an expression leaves out."""
    face = _face(node, _DEPTHS[0])
    found = _known.get(face)
    if found is None:
        found = _written_above(node)
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[face] = found
    return found if found.objection is None else _written_of(node, None)


def written(node: exp.Expr) -> Writing:
    """As `writing`, without what is known already."""
    found = _written_above(node)
    return found if found.objection is None else _written_of(node, None)


def _written_above(node: exp.Expr) -> Writing:
    """What is left out as far as the levels tell that are looked at: of one face, the same."""
    for depth in _DEPTHS:
        found = _written_of(node, depth)
        if found.objection is None:
            break
    return found


def _written_of(node: exp.Expr, depth: int | None) -> Writing:
    """What is left out where parts deeper than that are short names; None leaves them whole."""
    try:
        text = _cut(node, "", depth).sql(Penstock, unsupported_level=ErrorLevel.RAISE)
    except UnsupportedError as error:
        return Writing(objection=str(error).partition("\n")[0].rstrip(".") + ".")
    except _FAILURES:
        return Writing(objection=f"{_words(type(node))} of this kind.")
    for key, value in node.args.items():
        if value and not _is_mark(node, key) and _text(node, key, depth) == text:
            return Writing(key)
    return Writing()


def _is_mark(node: exp.Expr, key: str) -> bool:
    """Whether the parser has put an argument there, which says no more than the name does."""
    why = MEANINGLESS.get(type(node), {}).get(key)
    return why == _DEFAULT or (why is not None and not isinstance(node.args[key], exp.Expr))


def _text(node: exp.Expr, without: str, depth: int | None) -> str | None:
    """The text without an argument; None where it cannot be left out."""
    try:
        return _cut(node, without, depth).sql(Penstock, unsupported_level=ErrorLevel.IGNORE)
    except _FAILURES:
        return None


def _cut(node: exp.Expr, without: str, depth: int | None) -> exp.Expr:
    """The same node of short parts, without one of its arguments."""

    def part(value: object) -> object:
        match value:
            case list():
                return [part(one) for one in value]
            case exp.Query():
                return exp.null()
            case exp.Expr():
                if depth is None:
                    return value.copy()
                deeper = depth - _levels(value)
                return _cut(value, "", deeper) if deeper > 0 else exp.column("x")
        return value

    return type(node)(**{key: part(v) for key, v in node.args.items() if key != without})


def _face(node: exp.Expr, depth: int) -> object:
    """All that `_cut` keeps of a node: two of one face are written alike."""

    def part(value: object) -> object:
        match value:
            case list():
                return tuple(map(part, value))
            case exp.Query():
                return exp.Query
            case exp.Expr():
                deeper = depth - _levels(value)
                return _face(value, deeper) if deeper > 0 else exp.Column
        return repr(value)

    return type(node), tuple((key, part(value)) for key, value in node.args.items())


def _levels(part: exp.Expr) -> int:
    """How many levels lie between a node and the parts of its part."""
    if isinstance(part, exp.Column):
        return max(_DEPTHS)  # its name makes no difference
    is_value = isinstance(part, exp.Condition) and not isinstance(part, exp.Literal | exp.Boolean)
    return 1 if is_value else 0


def _shown(part: object) -> str:
    """The beginning of a part as a text; its kind, where it has none."""
    if not isinstance(part, exp.Expr):
        return str(part)[:60]
    try:
        return part.sql(Penstock, unsupported_level=ErrorLevel.IGNORE)[:60]
    except _FAILURES:
        return _words(type(part))


def _words(kind: type[exp.Expr]) -> str:
    """`a window spec` for WindowSpec."""
    name = "".join(f" {c.lower()}" if c.isupper() else c for c in kind.__name__).strip()
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
