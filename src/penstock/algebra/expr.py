"""Scalar expressions: immutable trees over the columns of one record.

A `Call` names a function of Spark SQL and carries its result type, as Spark's analyser gave it.
The functions in `SIMPLE` are also evaluated outside Spark, with the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from penstock.algebra.formats import pieces
from penstock.errors import PlanError
from penstock.kinds import kind

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "<=>")
MIRRORED = dict(zip(COMPARISONS, ("=", "<>", ">", ">=", "<", "<=", "<=>"), strict=True))
"""What comparisons are with their sides exchanged."""
ARITHMETIC = ("+", "-", "*", "/", "%")
CHECKED = (*ARITHMETIC, "negative", "abs")
"""Functions of numbers that fail where a result does not fit its type; without ANSI it wraps."""
CONVERSIONS = ("cast", "unix_micros", "timestamp_micros", "unix_date")
LOGIC = ("and", "or", "not", "is null", "if", "coalesce")
SIMPLE = (*COMPARISONS, *CHECKED, *CONVERSIONS, *LOGIC, "date_format")

CLOSED, ENDED, EARLIEST, LATEST, UP_TO = "closed", "ended", "earliest", "latest", "up to"
CLOSINGS = (CLOSED, ENDED, EARLIEST, LATEST, UP_TO)
"""Functions of times, known in kernels only: NULL is never. See `penstock.algebra.closing`."""

_WHOLE = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
DIGITS = dict(zip(_WHOLE, (3, 5, 10, 20), strict=True))
"""How many digits the decimal has that Spark makes of a whole number."""
_DAY, _LOCAL, _INSTANT = pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")


@kind("column")
@dataclass(frozen=True, slots=True)
class Column:
    """The value of one column of the record."""

    name: str
    type: pa.DataType

    def __str__(self) -> str:
        return self.name


@kind("literal")
@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; None is NULL of its type."""

    value: Any
    type: pa.DataType

    def __str__(self) -> str:
        if self.value is None:
            return "NULL"
        return f"'{self.value}'" if isinstance(self.value, str) else str(self.value)


@kind("call")
@dataclass(frozen=True, slots=True)
class Call:
    """A function of Spark, or an operator in its symbol, of arguments."""

    function: str
    args: tuple[Expr, ...]
    type: pa.DataType

    def __str__(self) -> str:
        match self.function, self.args:
            case "is null", (only,):
                return f"{only} IS NULL"
            case "not", (only,):
                return f"NOT ({only})"
            case "or", tests if (column := one_column_tested(self)) is not None:
                return f"({column} IN ({', '.join(str(test.args[1]) for test in tests)}))"  # type: ignore[union-attr]
            case ("and" | "or") as word, args:
                return "(" + f" {word.upper()} ".join(map(str, args)) + ")"
            case operator, (left, right) if operator in (*COMPARISONS, *ARITHMETIC):
                return f"({left} {operator} {right})"
            case template, args if "{" in template or "(" in template:
                return template.format(*args)
        return f"{self.function}({', '.join(map(str, self.args))})"


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """A function that is a table: known while a step runs, and never part of a plan."""

    table: Table
    args: tuple[Expr, ...]
    type: pa.DataType


@kind("inverse")
@dataclass(frozen=True, slots=True)
class Inverse:
    """All values of which a function is some value; a part of questions to punctuations only.

    The function is an expression over the column `ARGUMENT`.
    """

    value: Expr
    function: Expr
    type: pa.DataType

    def __str__(self) -> str:
        return f"inverse of {self.function} = {self.value}"


ARGUMENT = "__x"


class Table(Protocol):
    """Values that a `Lookup` finds by the values of columns."""

    def find(self, columns: tuple[pa.Array, ...], length: int) -> pa.Array: ...


Expr: TypeAlias = Column | Literal | Call | Lookup | Inverse
_FEW = 6


def one_column_tested(alternatives: Call) -> Column | None:
    """The column that each of many alternatives compares with a constant, as IN does."""
    found = set()
    for test in alternatives.args if len(alternatives.args) > _FEW else ():
        match test:
            case Call("=", (Column() as column, Literal())):
                found.add(column)
            case _:
                return None
    return found.pop() if len(found) == 1 else None


def columns(expr: Expr) -> frozenset[str]:
    """The names of the columns an expression reads."""
    match expr:
        case Column(name):
            return frozenset((name,))
        case Call(args=args) | Lookup(args=args):
            return frozenset().union(*map(columns, args))
        case Inverse(value):
            return columns(value)
    return frozenset()


def read(*expressions: Expr | None) -> set[str]:
    """The columns that any of the expressions reads."""
    return {name for e in expressions if e is not None for name in columns(e)}


def substitute(expr: Expr, by_name: Mapping[str, Expr]) -> Expr:
    """The expression with its columns replaced; names that are not in the mapping stay."""
    return with_columns(expr, lambda column: by_name.get(column.name, column))


def with_columns(expr: Expr, new: Callable[[Column], Expr]) -> Expr:
    """The expression with each of its columns replaced."""
    match expr:
        case Column():
            return new(expr)
        case Call(function, args, kind):
            return Call(function, tuple(with_columns(arg, new) for arg in args), kind)
        case Inverse(value, function, kind):
            return Inverse(with_columns(value, new), function, kind)
    return expr


def renamed(expr: Expr, schema: pa.Schema, other: pa.Schema) -> Expr:
    """An expression over one schema as one over the columns at the same places of another."""
    fields = zip(schema.names, other, strict=True)
    return substitute(expr, {name: Column(f.name, f.type) for name, f in fields})


def is_simple(expr: Expr) -> bool:
    """Whether every function in the expression can be evaluated outside Spark."""
    match expr:
        case Call(function, args):
            known = function in CLOSINGS or (function in SIMPLE and takes(expr))
            return known and all(map(is_simple, args))
        case Inverse(value):
            return is_simple(value)
    return True


def takes(call: Call) -> bool:
    """Whether a function of SIMPLE is simple for arguments of these types."""
    types = [arg.type for arg in call.args]
    match call.function:
        case "cast":
            return len(types) == 1 and (widens(types[0], call.type) or narrows(call))
        case "unix_micros":
            return types == [_INSTANT] and call.type == pa.int64()
        case "timestamp_micros":
            return types == [pa.int64()] and call.type == _INSTANT
        case "unix_date":
            return types == [_DAY] and call.type == pa.int32()
        case "date_format":
            match call.args:
                case (time, Literal(str() as pattern)):
                    return time.type == _INSTANT and pieces(pattern) is not None
            return False
        case "negative" | "abs":
            number = call.type in _WHOLE or pa.types.is_floating(call.type)
            return number and types == [call.type]
        case "/":
            return types == [pa.float64()] * 2 and call.type == pa.float64()
        case "+" | "-" | "*" if any(map(pa.types.is_decimal, types)):
            return all(map(pa.types.is_decimal, types)) and pa.types.is_decimal(call.type)
        case "%":
            return not any(map(pa.types.is_decimal, types))
    return True


def narrows(cast: Call) -> bool:
    """Whether a cast makes a smaller whole number of one: an error where it has no room."""
    (arg,) = cast.args
    return arg.type in _WHOLE and cast.type in _WHOLE[: _WHOLE.index(arg.type)]


def widens(kind: pa.DataType, other: pa.DataType) -> bool:
    """Whether one type's values fit the other, the nearest double if not they; all clocks are UTC.

    So a day becomes its midnight, and a time without a zone the same time in UTC.
    """
    if kind in _WHOLE and pa.types.is_decimal(other):
        return bool(other.precision - other.scale >= DIGITS[kind])
    if kind in _WHOLE:
        return other == pa.float64() or other in _WHOLE[_WHOLE.index(kind) + 1 :]
    widened = {pa.float32(): pa.float64(), _DAY: _INSTANT, _LOCAL: _INSTANT}.get(kind)
    return widened is not None and other == widened


def conjuncts(predicate: Expr) -> tuple[Expr, ...]:
    match predicate:
        case Call("and", args):
            return tuple(part for arg in args for part in conjuncts(arg))
    return (predicate,)


def conjunction(parts: tuple[Expr, ...]) -> Expr:
    match parts:
        case ():
            return Literal(True, pa.bool_())
        case (only,):
            return only
    return Call("and", parts, pa.bool_())


def promise(condition: Expr | None, schema: pa.Schema, never_null: Iterable[str]) -> Expr | None:
    """A condition, met or NULL, and that some columns are not NULL, as one."""
    fields = (schema.field(name) for name in never_null)
    tests = (Call("is null", (Column(f.name, f.type),), pa.bool_()) for f in fields)
    parts = [Call("not", (test,), pa.bool_()) for test in tests]
    found = (*([] if condition is None else conjuncts(condition)), *parts)
    return conjunction(found) if found else None


def compare(operator: str, left: Expr, right: Expr) -> Call:
    if operator not in COMPARISONS:
        raise PlanError(f"{operator!r} is not a comparison; expected one of {COMPARISONS}")
    return Call(operator, (left, right), pa.bool_())


def arithmetic(operator: str, left: Expr, right: Expr) -> Call:
    """Arithmetic on two operands of one type; NULL where either is, an error where it overflows.

    Only a quotient of doubles is of their type.
    """
    if operator not in ARITHMETIC:
        raise PlanError(f"{operator!r} is not arithmetic; expected one of {ARITHMETIC}")
    if left.type != right.type:
        raise PlanError(f"cannot apply {operator} to {left.type} and {right.type}; cast one")
    if operator == "/" and left.type != pa.float64():
        raise PlanError(f"cannot apply / to {left.type}; cast to {pa.float64()}")
    return Call(operator, (left, right), left.type)


def cast(arg: Expr, kind: pa.DataType) -> Call:
    return Call("cast", (arg,), kind)


def check_columns(expr: Expr, schema: pa.Schema, where: str) -> None:
    """Every column of the expression exists in the schema with the type it claims."""
    match expr:
        case Column(name, kind):
            if name not in schema.names:
                raise PlanError(f"{where}: no column {name!r}; there are {schema.names}")
            if schema.field(name).type != kind:
                found = schema.field(name).type
                raise PlanError(f"{where}: column {name!r} is {found}, not {kind}")
        case Call(args=args):
            for arg in args:
                check_columns(arg, schema, where)
        case Inverse(value):
            check_columns(value, schema, where)
