"""Nothing in a statement is left unread: every argument of every node is bound or refused."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from sqlglot import exp

from penstock.algebra.plan import Node, Scan
from penstock.errors import PenstockError, UnsupportedError
from penstock.sql import parse
from penstock.sql.binding import Catalog, Relation, bind_query
from penstock.sql.binding import clauses as reading
from penstock.sql.binding.aggregates import parts_of
from penstock.sql.binding.clauses import (
    MEANINGLESS,
    READ,
    REFUSED,
    TEXT,
    check_read,
    writing,
    written,
)
from penstock.sql.binding.context import Binding
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.local_analyser import LocalAnalyser
from penstock.sql.binding.scalars import RANKS, Scalars
from penstock.sql.binding.scopes import Names
from penstock.sql.dialect import Penstock
from penstock.sql.statement_parser import StatementParser
from penstock.sql.statements import Query

OURS = {"output", "emit", "window", "sync", "as_of"}
"""Arguments that our parser adds to nodes of sqlglot."""

COLUMNS = pa.schema([("k", pa.string()), ("v", pa.int64()), ("w", pa.int64()), ("t", pa.int64())])
CATALOG = Catalog(
    {
        name: Relation("source", Scan(name, COLUMNS, append_only=True, time="t"), "t")
        for name in ("s", "r")
    },
    pa.int64(),
)
KINDS = [
    kind
    for kind in vars(exp).values()
    if inspect.isclass(kind) and issubclass(kind, exp.Expression) and kind is not exp.Expression
]
COMPLAINTS = Diagnostics(Query(exp.select("1"), sql="SELECT 1"))
SCALARS = Scalars(LocalAnalyser(), COMPLAINTS)
BINDING = Binding(CATALOG, SCALARS, COMPLAINTS, Names(COMPLAINTS), effort=1)
OTHERS = [
    kind
    for kind in KINDS
    if issubclass(kind, exp.AggFunc) and kind not in READ and not issubclass(kind, RANKS)
]


def outcome(tree: exp.Expr) -> str:
    try:
        check_read(tree, COMPLAINTS)
    except UnsupportedError as error:
        return str(error)
    return ""


def bound(text: str) -> Node:
    (query,) = parse(text)
    assert isinstance(query, Query)
    return bind_query(query, CATALOG, LocalAnalyser(), unique=False).plan


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_argument_of_every_node_is_read_or_meaningless_or_refused(
    kind: type[exp.Expr],
) -> None:
    """A node with one argument is accepted only where that argument is accounted for."""
    clauses = READ.get(exp.Cast if issubclass(kind, exp.Cast) else kind)
    for key in kind.arg_types:
        needed = {name: _value(name, "x") for name in kind.required_args}
        node = kind(**{**needed, key: _value(key, "marker")})
        said = outcome(node)
        if kind in REFUSED:
            assert said
        elif clauses is not None:
            known = key in clauses.read or key in clauses.meaningless
            assert known or "not supported" in said, key
        elif (
            not said and not isinstance(node, exp.AggFunc) and key not in MEANINGLESS.get(kind, {})
        ):
            assert isinstance(node, (exp.Condition, *TEXT))
            without = kind(**{name: part for name, part in needed.items() if name != key})
            assert node.sql(Penstock) != _text(without), key


def _value(key: str, name: str) -> object:
    return [exp.column(name)] if key in LISTS else exp.column(name)


def _text(node: exp.Expr) -> str:
    try:
        return node.sql(Penstock)
    except Exception:  # a part that must be there is not
        return ""


LISTS = (
    "expressions",
    "ifs",
    "columns",
    "constraints",
    "params",
    "grouping_sets",
    "cube",
    "rollup",
)


def test_the_table_is_about_arguments_that_exist() -> None:
    for kind, clauses in READ.items():
        known = {*kind.arg_types, *OURS}
        said = {*clauses.read, *clauses.meaningless, *clauses.refused, *clauses.kinds}
        assert said <= known, kind
        assert not clauses.read & set(clauses.meaningless), kind
        assert not clauses.read & set(clauses.refused), kind
    for kind, marks in MEANINGLESS.items():
        assert set(marks) <= set(kind.arg_types), kind


@pytest.mark.parametrize("kind", OTHERS, ids=lambda kind: kind.__name__)
def test_an_aggregate_that_is_not_in_the_table_is_not_maintained(kind: type[exp.Expr]) -> None:
    tree = kind(**{key: _value(key, "x") for key in kind.arg_types})
    with pytest.raises(PenstockError):
        parts_of(BINDING, tree)


MARKED = {"EXPLODING_GENERATE_SERIES", "GENERATE_EMBEDDING", "PAD"}
"""Names that are not Spark's, whose last argument is a mark that changes what is written."""


def test_functions_of_spark_have_all_their_arguments_read() -> None:
    """With one more argument at a time, a function either takes it or is refused."""
    unread = []
    for name in sorted(StatementParser.FUNCTIONS.keys() - MARKED):
        for count in range(1, 6):
            args = ", ".join(f"c{i}" for i in range(count))
            try:
                (query,) = parse(f"SELECT {name}({args}) FROM s")
            except PenstockError:
                continue
            assert isinstance(query, Query)
            (item,) = query.tree.expressions
            if outcome(item) or isinstance(item, exp.AggFunc):
                continue
            text = item.sql(Penstock).upper()
            if not all(f"C{i}" in text for i in range(count)):
                unread.append((name, text))
    assert not unread


def test_functions_of_spark_are_bound_or_refused_with_any_number_of_arguments() -> None:
    """Nothing that sqlglot says of a function that it cannot build comes through."""
    for name in sorted(StatementParser.FUNCTIONS):
        for count in range(6):
            args = ", ".join(f"c{i}" for i in range(count))
            with suppress(PenstockError):
                (query,) = parse(f"SELECT {name}({args}) FROM s")
                assert isinstance(query, Query)
                outcome(query.tree)


@pytest.mark.parametrize(
    "text",
    [
        "concat_ws('-', k, 'x')",
        "map_concat(map(v, 1), map(v, 2))[v]",
        "map_concat(map(k, map(v, 1)), map('a', map(1, 2)))['a'][1]",
        "to_char(v, '999')",
        "max_by((CAST(v AS INT) % 3), t)",
        "min_by((CAST(5 AS BIGINT) <=> v), t)",
        "any((v = 1))",
    ],
)
def test_functions_of_spark_that_were_refused_once(text: str) -> None:
    (query,) = parse(f"SELECT {text} AS x FROM s")
    assert isinstance(query, Query)
    assert not outcome(query.tree)


def _probed() -> list[exp.Expr]:
    """Nodes that are text for Spark, of which many look alike from above."""
    maps = ("map(v, 1)", "map('a', v)", "map()", "map(k, v, 1, 2)", "m", "map(map(1, v), 2)")
    around = ("map_concat({0}, {1})", "map_concat({1}, {0})[v]", "map_keys({0})", "f(g({0}), 'x')")
    others = ("concat_ws('-', k, 'x')", "last_day(k, 'YEAR')", "f(h(v))", "f(g(v))", "f(g(1))")
    texts = [form.format(a, c) for form in around for a in maps for c in maps] + list(others)
    trees = [query.tree for text in texts for query in parse(f"SELECT {text}")]  # type: ignore[union-attr]
    nodes = [node for tree in trees for node in tree.walk()]
    return [n for n in nodes if isinstance(n, exp.Condition) and type(n) not in READ]


def test_what_is_left_unread_does_not_depend_on_what_was_asked_before() -> None:
    """In any order of statements, and in threads: the text is a function of the node alone."""
    nodes = _probed()
    alone = [written(node) for node in nodes]
    refused = {node.key for node, found in zip(nodes, alone, strict=True) if found.objection}
    assert refused == {"lastday"}
    for seed in range(6):
        order = Random(seed).sample(range(len(nodes)), len(nodes))
        with forgotten():
            assert [writing(nodes[i]) for i in order] == [alone[i] for i in order]
    with forgotten(), ThreadPoolExecutor(4) as threads:
        orders = [Random(seed).sample(range(len(nodes)), len(nodes)) for seed in range(4)]
        found = threads.map(lambda order: [writing(nodes[i]) for i in order], orders)
        assert list(found) == [[alone[i] for i in order] for order in orders]


def test_trees_that_are_looked_at_stay_as_they_are() -> None:
    for node in _probed():
        before = repr(node)
        written(node)
        writing(node)
        assert repr(node) == before


@contextmanager
def forgotten() -> Iterator[None]:
    """Nothing is known of any node, and what becomes known is forgotten."""
    known = dict(reading._known)
    reading._known.clear()
    try:
        yield
    finally:
        reading._known.clear()
        reading._known.update(known)


# --- by changing what is accepted ---------------------------------------------------------------


def accepted() -> list[str]:
    lines = (Path(__file__).parent / "clauses.sql").read_text().splitlines()
    return [line.rstrip(";") for line in lines if line and not line.startswith("--")]


def test_leaving_out_what_is_read_changes_a_plan() -> None:
    """The table does not claim too much: without an argument that is read, a query is another."""
    seen: set[tuple[type[exp.Expr], str]] = set()
    felt: set[tuple[type[exp.Expr], str]] = set()
    for text in accepted():
        plan = bound(text)
        (query,) = parse(text)
        assert isinstance(query, Query)
        for place, key in list(_arguments(query.tree)):
            tree = query.tree.copy()
            node = list(tree.walk())[place]
            seen.add((type(node), key))
            node.set(key, None)
            if _plan_of(replace(query, tree=tree)) != plan:
                felt.add((type(node), key))
    assert not sorted(f"{kind.__name__}.{key}" for kind, key in seen - felt)


def _plan_of(query: Query) -> Node | None:
    try:
        return bind_query(query, CATALOG, LocalAnalyser(), unique=False).plan
    except Exception:  # what is left is no query at all
        return None


def _arguments(tree: exp.Expr) -> Iterator[tuple[int, str]]:
    for place, node in enumerate(tree.walk()):
        clauses = READ.get(type(node))
        for key, value in node.args.items():
            if value and clauses is not None and key in clauses.read and key not in UNSEEN:
                yield place, key


UNSEEN = {
    "quoted": "whether a name stands in backticks says nothing of what it names",
    "over": "it is the word itself",
    "limit_options": "its only options are refused",
}


def test_what_is_accepted_has_every_clause() -> None:
    """Every argument that the table says is read stands in a query that is accepted, or refused."""
    seen = {
        (type(node), key)
        for text in accepted()
        for query in parse(text)
        if isinstance(query, Query)
        for node in query.tree.walk()
        for key, value in node.args.items()
        if value
    }
    refused_by_binder = {
        *((exp.Lateral, key) for key in exp.Lateral.arg_types),
        *((exp.TableSample, key) for key in exp.TableSample.arg_types),
        *((exp.Pivot, key) for key in exp.Pivot.arg_types),
        *((kind, key) for kind in (exp.Table, exp.Subquery) for key in ("pivots", "sample")),
        *((exp.Star, key) for key in ("replace", "rename")),
    }
    structural = (exp.Select, exp.Union, exp.Subquery, exp.Values, exp.With, exp.CTE, exp.Table)
    clauses = (exp.Join, exp.Group, exp.Order, exp.Ordered, exp.Limit, exp.Fetch, exp.Window)
    for kind in (*structural, *clauses):
        for key in READ[kind].read - OURS:
            if (kind, key) not in refused_by_binder | EXEMPT:
                assert (kind, key) in seen, f"{kind.__name__}.{key}"


EXEMPT: set[tuple[type[exp.Expr], str]] = {
    (exp.Select, "laterals"),
    (exp.Union, "by_name"),
    (exp.With, "recursive"),
    (exp.Table, "db"),
    (exp.Values, "pivots"),
    (exp.Limit, "limit_options"),
    (exp.Subquery, "with_"),
}
"""Refused by the binder in its own words, or a node that only carries what is refused."""


@pytest.mark.parametrize(
    ("named", "written"),
    [
        (
            "OVER (w ORDER BY v) AS n FROM s WINDOW w AS (PARTITION BY k)",
            "PARTITION BY k ORDER BY v",
        ),
        ("OVER x AS n FROM s WINDOW w AS (PARTITION BY k), x AS w", "PARTITION BY k"),
        (
            "OVER x AS n FROM s WINDOW x AS (w ORDER BY v), w AS (PARTITION BY k)",
            "PARTITION BY k ORDER BY v",
        ),
        (
            "OVER (w ROWS 2 PRECEDING) AS n FROM s WINDOW w AS (PARTITION BY k ORDER BY v)",
            "PARTITION BY k ORDER BY v ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
        ),
    ],
)
def test_a_window_that_names_another_is_that_one_with_what_it_adds(
    named: str, written: str
) -> None:
    plain = f"SELECT k, sum(w) OVER ({written}) AS n FROM s"
    assert bound(f"SELECT k, sum(w) {named}") == bound(plain)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT sum(v) OVER (w ORDER BY k) FROM s WINDOW w AS (ORDER BY v)",
        "SELECT sum(v) OVER (w PARTITION BY k) FROM s WINDOW w AS (ORDER BY v)",
        "SELECT sum(v) OVER (w ORDER BY k) FROM s WINDOW w AS (ROWS 2 PRECEDING)",
        "SELECT sum(v) OVER w FROM s WINDOW w AS x, x AS w",
        "SELECT sum(v) OVER w FROM s WINDOW w AS (PARTITION BY k), w AS (PARTITION BY v)",
        "SELECT sum(v) OVER w FROM s",
    ],
)
def test_windows_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(PenstockError):
        bound(text)
