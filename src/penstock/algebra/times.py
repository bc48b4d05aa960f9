"""Times in expressions: points in time as integers, moved by constants."""

from __future__ import annotations

import pyarrow as pa

from penstock.algebra.expr import EARLIEST, ENDED, LATEST, Call, Column, Expr, Literal

TIMESTAMP = pa.timestamp("us", tz="UTC")


def micros(time: Expr) -> Expr:
    """A time as an integer: microseconds since 1970, or the integer that it is."""
    match time:
        case Call("timestamp_micros", (inner,)):
            return inner
        case Literal(value, kind) if value is not None and not pa.types.is_integer(kind):
            scalar = pa.scalar(value, kind).cast(TIMESTAMP)
            return Literal(scalar.cast(pa.int64()).as_py(), pa.int64())
    if time.type == pa.int64():
        return time
    if pa.types.is_integer(time.type):
        if isinstance(time, Literal):
            return Literal(time.value, pa.int64())
        return Call("cast", (time,), pa.int64())
    stamp = time if time.type == TIMESTAMP else Call("cast", (time,), TIMESTAMP)
    return Call("unix_micros", (stamp,), pa.int64())


def timestamp_of(micros: Expr, kind: pa.DataType = TIMESTAMP) -> Expr:
    found = Call("timestamp_micros", (micros,), TIMESTAMP)
    return found if kind == TIMESTAMP else Call("cast", (found,), kind)


def shifted(value: Expr, sign: str, by: int) -> Expr:
    """`value + by` or `value - by`, constants added up."""
    by = by if sign == "+" else -by
    match value:
        case Literal(int() as number, kind):
            return Literal(number + by, kind)
        case Call("+", (inner, Literal(int() as number, _))):
            return shifted(inner, "+", number + by)
    if by == 0:
        return value
    return Call("+", (value, Literal(by, pa.int64())), pa.int64())


def next_multiple(time: Expr, period: int, offset: int) -> Expr:
    """The first `offset + k * period` that is not before a time."""
    step = Literal(period, pa.int64())
    past = Call("%", (shifted(time, "-", offset), step), pa.int64())
    # the remainder has the sign of the dividend
    missing = Call("%", (Call("-", (step, past), pa.int64()), step), pa.int64())
    return Call("+", (time, missing), pa.int64())


def last_multiple(time: Expr, period: int, offset: int = 0) -> Expr:
    """The last `offset + k * period` that is not after a time."""
    step = Literal(period, pa.int64())

    def remainder(value: Expr) -> Expr:
        return Call("%", (value, step), pa.int64())

    past = remainder(Call("+", (remainder(shifted(time, "-", offset)), step), pa.int64()))
    return Call("-", (time, past), pa.int64())


def moved_by(time: Expr) -> tuple[Expr, int]:
    """A time as another one and how much later it is."""
    match time:
        case Call("+", (inner, Literal(int() as by))) | Call("+", (Literal(int() as by), inner)):
            base, more = moved_by(inner)
            return base, more + by
        case Call("-", (inner, Literal(int() as by))):
            base, more = moved_by(inner)
            return base, more - by
    return time, 0


def offset_from(value: Expr, column: str) -> int | None:
    """c, where the value is the time in the column plus c."""
    match value:
        case Column(name):
            return 0 if name == column else None
        case Call("unix_micros" | "cast", (inner,)):
            return offset_from(inner, column)
        case Call("+", (inner, Literal(int() as number, _))):
            found = offset_from(inner, column)
            return None if found is None else found + number
    return None


def least_offset(value: Expr, column: str) -> int | None:
    """c, where the value is never less than the time in the column plus c."""
    match value:
        case Column(name):
            return 0 if name == column else None
        case Call("unix_micros" | "cast" | "timestamp_micros", (inner,)):
            return least_offset(inner, column)
        case Call("+", (inner, Literal(int() as number, _))):
            found = least_offset(inner, column)
            return None if found is None else found + number
        case Call("-", (inner, Call("%", (_, Literal(int() as period, _))))):
            found = least_offset(inner, column)
            return None if found is None else found - (period - 1)
    return None


def most_offset(value: Expr, column: str) -> int | None:
    """c, where the value is never more than the time in the column plus c."""
    match value:
        case Call(function, args) if function == EARLIEST:
            known = [c for arg in args if (c := most_offset(arg, column)) is not None]
            return min(known, default=None)
        case Call(function, args) if function == LATEST:
            all_of = [most_offset(arg, column) for arg in args]
            return None if None in all_of else max(c for c in all_of if c is not None)
        case Call("coalesce", (time, Call(function))) if function == ENDED:  # event times are known
            return most_offset(time, column)
        case Call("-", (inner, Call("%", (_, Literal(int() as period, _))) as rest)):
            found = most_offset(inner, column)
            return None if found is None else found + (0 if _never_negative(rest) else period - 1)
    place = moved(value)
    if place is not None:
        return place[1] if place[0] == column else None
    match value:
        case Call("unix_micros" | "cast" | "timestamp_micros", (inner,)):
            return most_offset(inner, column)
        case Call("+" | "-" as sign, (inner, Literal(int() as number, _))):
            found = most_offset(inner, column)
            return None if found is None else found + (number if sign == "+" else -number)
    return None


def _never_negative(remainder: Call) -> bool:
    """`((x % p) + p) % p`."""
    match remainder.args:
        case (Call("+", (Call("%", (_, a)), b)), c):
            return a == b == c
    return False


def moved(value: Expr) -> tuple[str, int] | None:
    """A column moved by a constant: the column, and by how much."""
    match value:
        case Column(name):
            return name, 0
        case Call("unix_micros" | "cast" | "timestamp_micros", (inner,)):
            return moved(inner)
        case Call("+" | "-" as sign, (inner, Literal(int() as number, _))):
            found = moved(inner)
            return found and (found[0], found[1] + (number if sign == "+" else -number))
    return None
