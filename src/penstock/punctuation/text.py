"""The text form of a punctuation: `<*, [17,20), *, {1,2}>`.

    punctuation = "<" [ pattern { "," pattern } ] ">"
    pattern     = "*" | "()" | value | "{" value { "," value } "}"
                | ( "[" | "(" ) [ value ] "," [ value ] ( "]" | ")" )

Values are written as in `literals`, by the type of their column. `()` is the empty pattern, for
which the paper's sign is accepted too; an end of a range that is absent is left out, `(,5]`, and
`(,)` is all but NULL.

Law: `parse(write(p), p.schema) == p`, for patterns that are not canonical as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

import pyarrow as pa

from penstock.errors import PlanError, SqlContext
from penstock.punctuation import literals
from penstock.punctuation.domain import Domain, domain_of, domains_of
from penstock.punctuation.pattern import (
    ANY,
    NONE,
    Constant,
    Empty,
    Pattern,
    Range,
    ValueList,
    Wildcard,
    checked,
)
from penstock.punctuation.punctuation import Punctuation

_SPACE = re.compile(r"\s*")
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_BINARY = re.compile(r"[xX]'[0-9a-fA-F]*'")
_BARE = re.compile(r"[^\s,\[\](){}<>'\"*](?:[^,\[\](){}<>'\"*]*[^\s,\[\](){}<>'\"*])?")


def write(punctuation: Punctuation) -> str:
    pairs = zip(punctuation.patterns, punctuation.schema.types, strict=True)
    return f"<{', '.join(write_pattern(pattern, kind) for pattern, kind in pairs)}>"


def write_pattern(pattern: Pattern, kind: pa.DataType) -> str:
    match pattern:
        case Wildcard():
            return "*"
        case Empty():
            return "()"
        case Constant(value):
            return literals.write(value, kind)
        case ValueList(values):
            return "{" + ",".join(literals.write(value, kind) for value in values) + "}"
        case Range(low, high, low_closed, high_closed):
            ends = ["" if end is None else literals.write(end, kind) for end in (low, high)]
            return f"{'[' if low_closed else '('}{','.join(ends)}{']' if high_closed else ')'}"


def parse(text: str, schema: pa.Schema) -> Punctuation:
    """PlanError, with the place and what was expected there, where the text is none."""
    reader = _Reader(text)
    reader.take("<", "a punctuation, like <*, [17,20), {1,2}>,")
    patterns: list[Pattern] = []
    for field, domain in zip(schema, domains_of(schema), strict=True):
        if patterns:
            reader.take(",", f"a comma and the pattern of column {field.name!r}")
        patterns.append(reader.pattern(domain, f"a pattern for column {field.name!r}"))
    end = f"the end, > after {len(schema)} pattern{'' if len(schema) == 1 else 's'}"
    reader.take(">", end)
    reader.finish()
    return Punctuation(schema, tuple(patterns))


def parse_pattern(text: str, kind: pa.DataType) -> Pattern:
    reader = _Reader(text)
    pattern = reader.pattern(domain_of(kind), "a pattern")
    reader.finish()
    return pattern


@dataclass
class _Reader:
    text: str
    at: int = 0

    def pattern(self, domain: Domain, wanted: str) -> Pattern:
        begin = self.skip()
        if self.accept("*"):
            return ANY
        if self.accept("\N{EMPTY SET}") or self.accept("("):
            if self.text[begin] != "(" or self.accept(")"):
                return NONE
            return self.range(begin, domain)
        if self.accept("["):
            return self.range(begin, domain)
        if self.accept("{"):
            values = [self.value(domain)]
            while self.accept(","):
                values.append(self.value(domain))
            self.take("}", "a comma and a value, or }")
            return ValueList(tuple(values))
        what = f"{wanted}: *, a value ({literals.expected(domain.type)}), a range, a list or ()"
        return Constant(self.value(domain, what))

    def range(self, begin: int, domain: Domain) -> Pattern:
        low_closed = self.text[begin] == "["
        low = None if self.peek(",") else self.end(domain)
        self.take(",", "a comma between the ends of a range")
        high = None if self.peek("])") else self.end(domain)
        high_closed = self.accept("]")
        if not high_closed:
            self.take(")", "the end of a range, ] or )")
        found = Range(low, high, low_closed, high_closed)
        try:
            return checked(found, domain)
        except PlanError as error:
            raise self.error(str(error.args[0]), begin, self.at) from None

    def end(self, domain: Domain) -> object:
        begin = self.skip()
        value = self.value(domain)
        if value is None:
            self.fail(begin, self.at, f"{literals.expected(domain.type)}: a range has no null")
        return value

    def value(self, domain: Domain, wanted: str | None = None) -> object:
        begin = self.skip()
        for shape in (_BINARY, _QUOTED, _BARE):
            if found := shape.match(self.text, begin):
                self.at = found.end()
                try:
                    return domain.checked(literals.read(found[0], domain.type))
                except (*literals.READ_ERRORS, PlanError):
                    break
        stop = max(self.at, min(begin + 1, len(self.text)))
        self.fail(begin, stop, wanted or literals.expected(domain.type))

    def take(self, sign: str, wanted: str) -> None:
        if not self.accept(sign):
            self.fail(self.at, min(self.at + 1, len(self.text)), wanted)

    def accept(self, sign: str) -> bool:
        if self.peek(sign):
            self.at += 1
            return True
        return False

    def peek(self, signs: str) -> bool:
        self.skip()
        return self.at < len(self.text) and self.text[self.at] in signs

    def skip(self) -> int:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        return self.at

    def finish(self) -> None:
        if self.skip() < len(self.text):
            self.fail(self.at, len(self.text), "nothing more")

    def fail(self, begin: int, end: int, wanted: str) -> NoReturn:
        found = repr(self.text[begin:end]) if begin < len(self.text) else "the end of the text"
        raise self.error(f"found {found} at position {begin + 1}, expected {wanted}", begin, end)

    def error(self, message: str, begin: int, end: int) -> PlanError:
        return PlanError(f"not a punctuation: {message}", context=SqlContext(self.text, begin, end))
