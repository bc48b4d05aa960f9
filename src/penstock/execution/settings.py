"""The settings of a SparkSession that change what expressions mean.

They are read when a statement is bound, and kept with its expressions. A given session's settings
are never changed: what was written under others is evaluated in a clone of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING

from penstock.algebra.expr import Expr
from penstock.algebra.plan import Node
from penstock.algebra.settings import (
    PLAIN,
    PLAIN_VALUES,
    ZONE,
    Settings,
    is_utc,
    others,
    settings,
    settings_in,
    writable,
)
from penstock.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEPT = {
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.charAsVarchar": "false",
    "spark.sql.preserveCharVarcharTypeInfo": "false",
    "spark.sql.jsonGenerator.ignoreNullFields": "true",
}
"""Settings beside the zone, ANSI and the case of names, and their values where nobody sets them."""
REFUSED = {
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.groupByAliases": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.session.collation.default": "UTF8_BINARY",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.legacy.statisticalAggregate": "false",
    "spark.sql.legacy.allowNegativeScaleOfDecimal": "false",
    "spark.sql.legacy.groupingIdWithAppendedUserGroupBy": "false",
}
"""Settings that change what clauses and operators mean, which Penstock has of its own, and the only
value that these follow."""
PREFIXES = ("spark.sql.legacy.", "spark.sql.function.")
UNRELATED = ("spark.sql.legacy.createHiveTableByDefault",)


def current(spark: SparkSession) -> Settings:
    """The settings of a session as they are now; refused where queries would not follow them."""
    found = _different(spark)
    for name, value in found.items():
        if name in REFUSED:
            raise UnsupportedError(
                f"{name} is {value}, and Penstock's queries only follow {REFUSED[name]}. "
                f"Write spark.conf.set({name!r}, {REFUSED[name]!r}), or connect with "
                "spark=spark.newSession()."
            )
        if not writable(value):
            raise UnsupportedError(f"{name} is {value!r}, which a view cannot keep; set another.")
    if is_utc(found.get(ZONE, "")):  # another name of the same clock, that of a container's
        del found[ZONE]
    return settings(found)


def _different(spark: SparkSession) -> dict[str, str]:
    """The settings that change what expressions mean and are not as they are with us."""
    usual = {**PLAIN_VALUES, **KEPT, **REFUSED}
    values: dict[str, str] = {n: spark.conf.get(n, p) or p for n, p in PLAIN_VALUES.items()}
    for name, value in _set(spark).items():
        if name in usual or (name.startswith(PREFIXES) and name not in UNRELATED):
            values[name] = value
    return {
        name: value if name == ZONE else value.lower() if name in PLAIN_VALUES else value
        for name, value in values.items()
        if value.lower() != usual.get(name, "").lower() or (name == ZONE and value != usual[name])
    }


def _set(spark: SparkSession) -> Mapping[str, str]:
    """What somebody has set. Asked for in one word: to fetch all of it takes as long as a job."""
    runtime = getattr(spark.conf, "_jconf", None)
    if runtime is None:
        return spark.conf.getAll
    pairs = (pair.partition(" -> ") for pair in runtime.getAll().mkString("\n").split("\n"))
    return {name: value for name, arrow, value in pairs if arrow and name.startswith("spark.sql.")}


@contextmanager
def applied(spark: SparkSession, wanted: Settings) -> Iterator[None]:
    """A session of our own with other settings for a while. What is analysed then keeps them."""
    before = {name: spark.conf.get(name, None) for name, _ in wanted}
    for name, value in wanted:
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def session_for(spark: SparkSession, exprs: Iterable[Expr]) -> SparkSession:
    """Where expressions are evaluated: the session itself if its settings are the plain ones, and
    no expression has others; or else a clone of it, which knows the same functions and views.

    Settings that Spark reads only when rows come are those of all expressions, or there is no way.
    """
    found = settings_in(*exprs) - {PLAIN}
    late = {others(each) for each in found if others(each)}
    mine = _different(spark)
    if not mine and not found:
        return spark
    clone = _clone(spark)
    for name in mine:
        if name in PLAIN_VALUES:
            clone.conf.set(name, PLAIN_VALUES[name])
        else:
            clone.conf.unset(name)
    for name, value in next(iter(late), ()):
        clone.conf.set(name, value)
    return clone


def check_settings(name: str, plan: Node, there: Iterable[Node]) -> None:
    """Refuse a view that Spark would have to evaluate under other settings than those it has when
    rows come, for the views that are there."""
    mine = _late(plan)
    for other in there:
        theirs = _late(other)
        if mine and theirs and mine != theirs:
            (a, *_), (b, *_) = mine, theirs
            raise UnsupportedError(
                f"view {name!r} is written under {_shown(a)}, and others here under {_shown(b)}. "
                "Spark looks at these settings when rows come, so the views of a directory share "
                "them. Set them as they were, or create the view in a directory of its own."
            )


def _late(plan: Node) -> set[Settings]:
    values = (getattr(node, field.name) for node in plan.walk() for field in fields(node))
    return set(map(others, settings_in(*values)))


def _shown(settings: Settings) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings) or "the usual ones"


def _clone(spark: SparkSession) -> SparkSession:
    from pyspark.sql import SparkSession

    return SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession(), {})
