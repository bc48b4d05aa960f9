"""Expressions under different settings, evaluated one stage after the other.

Spark analyses the expressions of one SELECT under one set of settings, and those analysed keep it.
So an expression is cut where settings change: each part becomes a column, under its own settings,
and the next stage reads it. What an IF, AND, OR or COALESCE does not look at is not evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from penstock.algebra.expr import Call, Column, Expr, Literal
from penstock.algebra.settings import PLAIN, Settings, is_neutral, settings_of

_BOOL = pa.bool_()


@dataclass(frozen=True)
class Stage:
    """Columns to add, all under the same settings."""

    settings: Settings
    columns: dict[str, Expr] = field(default_factory=dict)


def staged(exprs: Mapping[str, Expr], prefix: str = "__s") -> tuple[list[Stage], dict[str, Expr]]:
    """The stages that expressions take, and what is left of them under the plain settings.

    The names of the columns that stages add begin with the prefix.
    """
    cutting = _Cutting(prefix)
    left = {name: cutting.plain(expr) for name, expr in exprs.items()}
    return [stage for _, stage in sorted(cutting.stages.items(), key=lambda s: s[0])], left


@dataclass(frozen=True)
class _Part:
    """An expression under one set of settings, or any if None, after so many stages."""

    expr: Expr
    settings: Settings | None = None
    level: int = 0


@dataclass
class _Cutting:
    prefix: str
    stages: dict[tuple[int, Settings], Stage] = field(default_factory=dict)
    _names: dict[Expr, _Part] = field(default_factory=dict)

    def plain(self, expr: Expr) -> Expr:
        part = self._part(expr)
        return part.expr if part.settings in (None, PLAIN) else self._cut(part).expr

    def _cut(self, part: _Part) -> _Part:
        """A part as a column of a stage of its own."""
        if isinstance(part.expr, Column | Literal):
            return part
        known = self._names.get(part.expr)
        if known is None:
            name = f"{self.prefix}{len(self._names)}"
            settings = part.settings or PLAIN
            stage = self.stages.setdefault((part.level, settings), Stage(settings))
            stage.columns[name] = part.expr
            known = _Part(Column(name, part.expr.type), None, part.level + 1)
            self._names[part.expr] = known
        return known

    def _part(self, expr: Expr) -> _Part:
        if not isinstance(expr, Call):
            return _Part(expr)
        own = None if is_neutral(expr) else settings_of(expr.function)
        args = [self._part(arg) for arg in expr.args]
        kinds = {each.settings for each in args} | {own}
        if len(kinds - {None}) > 1:
            if expr.function in ("if", "and", "or", "coalesce"):
                args = list(self._in_turn(expr, args))
            args = [self._cut(a) if a.settings not in (None, own) else a for a in args]
        settings = next((each.settings for each in args if each.settings is not None), own)
        level = max((each.level for each in args), default=0)
        parts = tuple(each.expr for each in args)
        return _Part(Call(expr.function, parts, expr.type), settings, level)

    def _in_turn(self, call: Call, args: list[_Part]) -> Iterator[_Part]:
        """The arguments as columns, each evaluated only where the call looks at it."""
        if call.function == "if":
            test, then, otherwise = (*map(self._cut, args[:1]), *args[1:])
            yield test
            yield self._guarded(test, then, holds=True)
            yield self._guarded(test, otherwise, holds=False)
            return
        open_: _Part | None = None
        for arg in args:
            value = self._cut(arg if open_ is None else self._only(open_, arg, holds=True))
            yield value
            undecided = _undecided(call.function, value.expr)
            both = undecided if open_ is None else Call("and", (open_.expr, undecided), _BOOL)
            level = max(value.level, open_.level if open_ is not None else 0)
            open_ = self._cut(_Part(both, None, level))

    def _guarded(self, test: _Part, value: _Part, holds: bool) -> _Part:
        return self._cut(self._only(test, value, holds))

    def _only(self, test: _Part, value: _Part, holds: bool) -> _Part:
        """A value where a test holds, or does not; NULL elsewhere."""
        nothing = Literal(None, value.expr.type)
        branches = (value.expr, nothing) if holds else (nothing, value.expr)
        guarded = Call("if", (test.expr, *branches), value.expr.type)
        return _Part(guarded, value.settings, max(test.level, value.level))


def _undecided(function: str, value: Expr) -> Expr:
    """Whether the next argument matters after this one."""
    if function == "coalesce":
        return Call("is null", (value,), _BOOL)
    decisive = Literal(function == "or", _BOOL)
    return Call("not", (Call("<=>", (value, decisive), _BOOL),), _BOOL)
