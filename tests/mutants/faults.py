"""Small faults that could be in a source file: which there are, and the file with one of them.

A fault is a piece of text in place of another, so that all other lines stay as they are. What does
not parse is none, nor is what only types see, nor what changes no result (decorators, `strict=`).
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

EXCHANGED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "//"),
    ast.FloorDiv: ("//", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: (r"\|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
OPPOSITES = [("min", "max"), ("minimum", "maximum"), ("any", "all"), ("left", "right")]
OPPOSITE = dict(OPPOSITES) | {second: first for first, second in OPPOSITES}
PREFIX = {ast.Not: r"not\b\s*", ast.USub: r"-\s*", ast.Invert: r"~\s*"}


@dataclass(frozen=True, order=True)
class Fault:
    """`text` stands at the bytes from `start` to `end` of the file `path`."""

    path: str
    line: int
    start: int
    end: int
    text: str
    within: tuple[int, int] | None
    """The lines of which a test must run one to notice it; None where importing the file does."""

    def planted(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]

    def diff(self, source: bytes) -> list[str]:
        before, after = (text.decode().splitlines() for text in (source, self.planted(source)))
        changes = difflib.unified_diff(before, after, n=0, lineterm="")
        return [line for line in changes if not line.startswith(("---", "+++", "@@"))]


def faults(path: str, source: bytes) -> list[Fault]:
    """All faults that could be in a file."""
    found = sorted(set(_Finder(path, source).faults(ast.parse(source))))
    return [fault for fault in found if _parses(fault.planted(source))]


def sample(sources: dict[str, bytes], count: int, seed: int) -> list[Fault]:
    """So many faults, each in a line of its own; every line that can have one is as likely."""
    rng = Random(seed)
    lines: dict[tuple[str, int], list[Fault]] = {}
    for path in sorted(sources):
        for fault in faults(path, sources[path]):
            lines.setdefault((path, fault.line), []).append(fault)
    chosen = rng.sample(sorted(lines), min(count, len(lines)))
    return [rng.choice(lines[line]) for line in chosen]


def _parses(source: bytes) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


class _Finder:
    def __init__(self, path: str, source: bytes) -> None:
        self._path, self._source = path, source
        self._begins = [0]
        for line in source.splitlines(keepends=True):
            self._begins.append(self._begins[-1] + len(line))

    def faults(self, node: ast.AST, within: tuple[int, int] | None = None) -> Iterator[Fault]:
        """The faults in a node, which is in a statement of a function, or in none."""
        for start, end, text in self._changes(node):
            line = next(n for n, begin in enumerate(self._begins) if begin > start)
            yield Fault(self._path, line, start, end, text, within)
        inside = isinstance(node, ast.FunctionDef) or within is not None
        for child in _running(node):
            if not inside:
                lines = None
            elif isinstance(child, ast.stmt | ast.match_case):
                lines = _header(child)
            else:
                lines = within
            yield from self.faults(child, lines)

    def _changes(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        """What could stand instead, of all that a node itself is."""
        match node:
            case ast.Compare(left, operators, others):
                operands = [left, *others]
                for operator, first, second in zip(operators, operands, others, strict=False):
                    yield from self._between(first, operator, second)
            case ast.BoolOp(operator, values):
                for first, second in pairwise(values):
                    yield from self._between(first, operator, second)
            case ast.BinOp(first, operator, second) if not _names_types(node):
                yield from self._between(first, operator, second)
            case ast.AugAssign(target, operator, value):
                yield from self._between(target, operator, value)
            case ast.UnaryOp(operator) if type(operator) in PREFIX:
                yield from self._without(node, PREFIX[type(operator)])
            case ast.Constant(bool() as value):
                yield *self._span(node), str(not value)
            case ast.Constant(int() as value):
                yield *self._span(node), str(value + 1)
            case ast.Constant("left" | "right" as side):
                yield *self._span(node), f'"{OPPOSITE[side]}"'
            case ast.Name(name) if name in OPPOSITE and isinstance(node.ctx, ast.Load):
                yield *self._span(node), OPPOSITE[name]
            case ast.Attribute(_, name) if name in OPPOSITE:
                end = self._span(node)[1]
                yield end - len(name), end, OPPOSITE[name]
            case ast.If(ast.Name("TYPE_CHECKING")):
                pass
            case ast.If(test) | ast.IfExp(test):
                yield from ((*self._span(test), value) for value in ("True", "False"))
            case ast.comprehension(_, _, tests):
                yield from ((*self._span(test), "True") for test in tests)
            case ast.match_case(pattern, None):
                end = self._span(pattern)[1]
                yield end, end, " if False"
            case ast.match_case(_, guard) if guard is not None:
                yield from ((*self._span(guard), value) for value in ("True", "False"))
            case ast.Call(_, args, keywords):
                yield from self._fewer(args, keywords)
            case ast.Expr(ast.Call()) | ast.Raise() | ast.Continue() | ast.Break():
                yield *self._span(node), "pass"

    def _span(self, node: ast.AST) -> tuple[int, int]:
        start = self._begins[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = self._begins[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return start, end

    def _between(
        self, first: ast.expr, operator: ast.AST, second: ast.expr
    ) -> Iterator[tuple[int, int, str]]:
        if type(operator) in EXCHANGED and not _is_text(first, second):
            written, text = EXCHANGED[type(operator)]
            start, end = self._span(first)[1], self._span(second)[0]
            found = re.search(written.encode(), self._source[start:end])
            if found is not None:
                yield start + found.start(), start + found.end(), text

    def _without(self, node: ast.expr, prefix: str) -> Iterator[tuple[int, int, str]]:
        start, end = self._span(node)
        found = re.match(prefix.encode(), self._source[start:end])
        if found is not None:
            yield start, start + found.end(), ""

    def _fewer(
        self, args: Sequence[ast.AST], keywords: Sequence[ast.keyword]
    ) -> Iterator[tuple[int, int, str]]:
        """An argument less: a named one, or the last of several."""
        parts = sorted([*args, *keywords], key=self._span)
        for number, part in enumerate(parts):
            named = isinstance(part, ast.keyword) and part.arg != "strict"
            if named or (len(args) > 1 and part is args[-1]):
                start, end = self._span(part)
                if number:
                    start = self._span(parts[number - 1])[1]
                elif len(parts) > 1:
                    end = self._span(parts[1])[0]
                yield start, end, ""


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that run: neither types, nor decorators, nor names of base classes."""
    match node:
        case ast.FunctionDef():
            yield from [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]
        case ast.Lambda():
            yield node.body
        case ast.ClassDef():
            yield from node.body
        case ast.AnnAssign():
            yield from filter(None, [node.value])
        case ast.If(ast.Name("TYPE_CHECKING")) | ast.keyword("strict"):
            pass
        case ast.Call(ast.Name("TypeVar" | "cast" | "isinstance")):
            yield from node.args[:1]
        case _:
            yield from ast.iter_child_nodes(node)


def _header(node: ast.stmt | ast.match_case) -> tuple[int, int]:
    """The lines of a statement up to those of the statements in it."""
    begin = _first_line(node)
    parts = getattr(node, "body", None) or getattr(node, "cases", None)
    if parts:
        return begin, max(begin, _first_line(parts[0]) - 1)
    return begin, getattr(node, "end_lineno", begin)


def _first_line(node: ast.stmt | ast.match_case) -> int:
    return node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno


def _is_text(*operands: ast.expr) -> bool:
    return any(
        isinstance(one, ast.JoinedStr)
        or (isinstance(one, ast.Constant) and isinstance(one.value, str))
        for one in operands
    )


def _names_types(node: ast.BinOp) -> bool:
    """`int | str`, where classes are called by their names."""
    names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
    return isinstance(node.op, ast.BitOr) and all(name[0].isupper() for name in names)
