"""The settings of Spark that an expression was written under.

Spark's functions depend on settings of the session: its time zone, whether it follows ANSI SQL. An
expression keeps those it was bound under, in a comment before its text. So it means the same for
ever, in whatever session it is evaluated, and two texts under different settings are different
functions. The plain settings, UTC and ANSI, need no comment; neither do simple functions, which are
evaluated outside Spark and mean what they mean under the plain settings.

Law: a simple function is only used under settings under which Spark would give the same.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, TypeAlias

import pyarrow as pa

from penstock.algebra.expr import (
    CHECKED,
    COMPARISONS,
    CONVERSIONS,
    LOGIC,
    Call,
    Expr,
    Literal,
    narrows,
    takes,
)

ZONE, ANSI, CASE = "spark.sql.session.timeZone", "spark.sql.ansi.enabled", "spark.sql.caseSensitive"
PLAIN_VALUES = {ZONE: "UTC", ANSI: "true", CASE: "false"}

Settings: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values in the order of names: those whose value is not the plain one."""
PLAIN: Settings = ()

_OPENING = re.compile(r"/\* ((?:spark\.[\w.]+=[^,;{}*]+(?:; )?)+) \*/ ")
_VALUE = re.compile(r"[^,;{}*\s][^,;{}*]*")
_LIKE_UTC = ("UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT", "Zulu", "Universal", "+00:00", "+0", "UTC+0")
_INSTANT = pa.timestamp("us", "UTC")


def settings(values: dict[str, str]) -> Settings:
    """The settings with these values."""
    return tuple(
        (name, value)
        for name, value in sorted(values.items())
        if value != PLAIN_VALUES.get(name) and value
    )


def writable(value: str) -> bool:
    """Whether a value can stand in a comment."""
    return _VALUE.fullmatch(value) is not None


def under(settings: Settings, template: str) -> str:
    """The text of a function that keeps its settings."""
    if not settings:
        return template
    return f"/* {'; '.join(f'{name}={value}' for name, value in settings)} */ {template}"


@cache
def settings_of(function: str) -> Settings:
    """What the text of a function keeps."""
    found = _OPENING.match(function)
    if found is None:
        return PLAIN
    pairs = (pair.partition("=") for pair in found[1].split("; "))
    return tuple((name, value) for name, _, value in pairs)


def settings_in(*values: Any) -> set[Settings]:
    """The settings of all of Spark's functions in expressions, or in what is made of such."""
    found: set[Settings] = set()
    for value in values:
        match value:
            case Call(function, args):
                own = {settings_of(function)} if "{" in function or "(" in function else set()
                found |= own | settings_in(*args)
            case tuple():
                found |= settings_in(*value)
    return found


def zone_of(settings: Settings) -> str:
    return dict(settings).get(ZONE, PLAIN_VALUES[ZONE])


def is_utc(zone: str) -> bool:
    return zone in _LIKE_UTC


def is_ansi(settings: Settings) -> bool:
    return dict(settings).get(ANSI, PLAIN_VALUES[ANSI]) == "true"


def others(settings: Settings) -> Settings:
    """All but the zone, ANSI and the case of names."""
    return tuple((name, value) for name, value in settings if name not in PLAIN_VALUES)


def is_neutral(call: Call) -> bool:
    """Whether a function means the same under all settings."""
    kinds = [arg.type for arg in call.args]
    if call.function == "cast":
        temporal = any(map(pa.types.is_temporal, (*kinds, call.type)))
        return takes(call) and not temporal and not narrows(call)
    return call.function in (*LOGIC, *COMPARISONS, *CONVERSIONS)


def holds_under(settings: Settings, expr: Expr) -> bool:
    """Whether simple functions give what Spark gives under these settings."""
    match expr:
        case Call("timestamp_micros", (Call("+", (time, Literal())),)) if not others(settings):
            return holds_under(settings, time)  # too late a time is an error with and without ANSI
        case Call(function, args):
            if not all(holds_under(settings, arg) for arg in args):
                return False
            if is_neutral(expr):
                return True
            if others(settings):
                return False
            if function == "cast" and narrows(expr):
                return is_ansi(settings)
            if function in CHECKED:
                return is_ansi(settings) or (
                    pa.types.is_decimal(expr.type) or (function in "+-*" and _is_double(expr))
                )
            return is_utc(zone_of(settings)) or not _tells_the_zone(expr)
    return True


def _is_double(call: Call) -> bool:
    return bool(pa.types.is_floating(call.type))


def _tells_the_zone(call: Call) -> bool:
    """Whether a function brings points in time together with a clock or a calendar."""
    kinds = [arg.type for arg in call.args]
    if call.function == "cast":
        return _INSTANT in (*kinds, call.type)
    return call.function == "date_format"
