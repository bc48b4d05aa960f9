"""What all statements are made of: words, names, lengths of time and windows; and diagnostics.

What is wrong here is raised as `penstock.errors.ParseError`, which sqlglot, where it tries one
reading after another, lets pass. What sqlglot itself finds is raised as `UnexpectedTokenError`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal, InvalidOperation, Overflow
from typing import NoReturn

from sqlglot.errors import ParseError as SqlglotParseError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from penstock.errors import ParseError, SqlContext, brief
from penstock.sql.text import Name, Span, closest, one_of
from penstock.sql.windows import (
    LONGEST,
    NO_TIME,
    UNITS,
    UNITS_WITHOUT_LENGTH,
    Duration,
    FixedWindow,
    NowWindow,
    RangeWindow,
    RowsWindow,
    UnboundedWindow,
    Window,
)

WINDOWS = ("RANGE", "FIXED", "ROWS", "PARTITION BY", "NOW", "UNBOUNDED")


class UnexpectedTokenError(SqlglotParseError):
    """What sqlglot says of a text it cannot read, and the token it was at."""

    def __init__(self, description: str, token: Token) -> None:
        super().__init__(description)
        self.description = description
        self.token = token


class WordParser(SparkParser):
    """Parses the words that statements have in common, and complains in one grammar."""

    # Diagnostics

    def raise_error(self, message: str, token: Token | None = None) -> NoReturn:
        raise UnexpectedTokenError(
            message, token if token and token is not self._prev else self._curr
        )

    def span(self, token: Token) -> Span:
        """The place of a token; that of the end of the statement is behind the last one."""
        if token:
            return Span(token.start, token.end + 1)
        end = self._tokens[-1].end + 1
        return Span(end, end)

    def found(self, token: Token) -> str:
        place = self.span(token)
        return f"'{self.sql[place.start : place.end]}'" if token else "the end of the statement"

    def refuse(self, message: str, place: Span | Token | None = None) -> NoReturn:
        span = place if isinstance(place, Span) else self.span(place or self._curr)
        raise ParseError(message, context=SqlContext(self.sql, span.start, span.end))

    def complain(
        self, expected: str, *advice: str, among: Iterable[str] = (), cutoff: float = 0.6
    ) -> NoReturn:
        """Refuse the current token; `among` are the words that it may be a misspelling of."""
        meant = closest(self._curr.text, among, cutoff) if self._curr else None
        question = [f"Did you mean {meant}?"] if meant else []
        found = f"Found {self.found(self._curr)}, expected {expected}."
        self.refuse(" ".join([found, *question, *advice]))

    # Words, names and numbers

    def at_words(self, *words: str) -> bool:
        return bool(self._match_text_seq(*words, advance=False))

    def skip_word(self, *words: str) -> str | None:
        """The one of these words that stands here, if any, stepped over."""
        return self._prev.text.upper() if self._match_texts(words) else None

    def expect(self, token_type: TokenType, text: str, after: str) -> None:
        if not self._match(token_type):
            self.complain(f"{text} after {after}")

    def parse_name(self, of: str, *advice: str, any_word: bool = False) -> Name:
        """The name of something; a column's may be any word but those of a SELECT's skeleton."""
        token = self._curr
        bare = token.token_type in self.ID_VAR_TOKENS or (any_word and token.text.isidentifier())
        if not token or not (bare or token.token_type == TokenType.IDENTIFIER):
            self.complain(f"the name of {of}", *advice)
        self._advance()
        if not any_word and self._match(TokenType.DOT, advance=False):
            self.refuse(f"Names have one part. Write {self._next.text or token.text}.")
        return Name(token.text, self.span(token))

    def parse_names(self, of: str, *advice: str) -> tuple[Name, ...]:
        names = [self.parse_name(of, *advice, any_word=True)]
        while self._match(TokenType.COMMA):
            names.append(self.parse_name(of, *advice, any_word=True))
        return tuple(names)

    def parse_count(self, of: str) -> int:
        token = self._curr
        if token.token_type != TokenType.NUMBER or not token.text.isdigit() or int(token.text) < 1:
            self.complain(f"a positive whole number of {of}")
        self._advance()
        return int(token.text)

    # Lengths of time

    def parse_duration(self, of: str, *, zero: bool = False) -> Duration:
        """`5 SECONDS`, `INTERVAL 1 HOUR 30 MINUTES`, `INTERVAL '5 seconds'`; ticks where a number
        stands alone."""
        start = self._curr
        wants_unit = bool(self._match(TokenType.INTERVAL))
        parts: list[Duration] = []
        while self._curr.token_type in (TokenType.NUMBER, TokenType.STRING):
            if parts and parts[0].ticks:
                break
            parts += self._parse_duration_part(wants_unit or bool(parts))
        if not parts:
            if self._curr.token_type == TokenType.DASH:
                self.refuse(f"{of.capitalize()} cannot be negative.")
            self.complain(f"{of}, such as 5 MINUTES, or 5 where time is integers")
        span = self.span(start).to(self.span(self._prev))
        total = Duration(sum(part.length for part in parts), parts[0].ticks)
        if total.length == 0:
            return (
                NO_TIME if zero else self.refuse(f"{of.capitalize()} must be longer than 0.", span)
            )
        if total.length > LONGEST:
            most = f"{LONGEST} {'ticks' if total.ticks else 'microseconds'}"
            self.refuse(f"{of.capitalize()} is too long: more than {most}.", span)
        return total

    def parse_every(self) -> Duration | int | None:
        """`EVERY 5 MINUTES`, or `EVERY 1000 ROWS`, if it stands here."""
        if not self.skip_word("EVERY"):
            return None
        number = self._curr.text
        if number.isdigit() and self._next.text.upper() == "ROWS":
            if int(number) == 0:
                self.refuse("EVERY 0 ROWS is not a distance.")
            self._advance(2)
            return int(number)
        return self.parse_duration("the distance of punctuations")

    def _parse_duration_part(self, wants_unit: bool) -> list[Duration]:
        token = self._curr
        words = token.text.split() if token.token_type == TokenType.STRING else [token.text]
        self._advance()
        if len(words) == 1:
            if self._curr.text.upper() in (*UNITS, *UNITS_WITHOUT_LENGTH) and self._curr:
                self._advance()
                words.append(self._prev.text)
            elif self._curr.token_type == TokenType.VAR and (
                wants_unit or closest(self._curr.text, UNITS, cutoff=0.75)
            ):
                self.complain("a unit of time", _units(), among=UNITS)
            elif wants_unit or token.token_type == TokenType.STRING or not token.text.isdigit():
                self.complain("a unit of time", _units())
            else:
                return [Duration(int(token.text), ticks=True)]
        if len(words) % 2:
            self.refuse("Expected pairs of a number and a unit of time.", token)
        pairs = zip(words[::2], words[1::2], strict=True)
        return [self._duration(number, unit.upper(), token) for number, unit in pairs]

    def _duration(self, number: str, unit: str, token: Token) -> Duration:
        if unit in UNITS_WITHOUT_LENGTH:
            self.refuse(
                f"A {unit.removesuffix('S')} has no fixed length. Write it in smaller units, "
                "such as 30 DAYS.",
                self.span(token).to(self.span(self._prev)),
            )
        if unit not in UNITS:
            meant = closest(unit, UNITS)
            question = f" Did you mean {meant}?" if meant else ""
            self.refuse(f"'{unit}' is not a unit of time.{question} {_units()}", token)
        try:
            length = Decimal(number) * UNITS[unit]
        except InvalidOperation:
            said = brief(number, show=str)
            self.refuse(f"Expected a number before {unit}, found '{said}'.", token)
        except Overflow:
            length = Decimal(LONGEST + 1)
        if not length.is_finite() or length < 0:
            self.refuse(f"Expected a number of {unit} that is not negative.", token)
        length = min(length, Decimal(LONGEST + 1))
        if length != length.to_integral_value():
            self.refuse(f"{number} {unit} is not a whole number of microseconds.", token)
        return Duration(int(length))

    # Windows, after the name of a stream

    def parse_window(self) -> Window | None:
        start = self._curr
        if not self._match(TokenType.L_BRACKET):
            return None
        window = self._parse_window_in_brackets()
        if not self._match(TokenType.R_BRACKET):
            self.complain("] at the end of the window")
        span = self.span(start).to(self.span(self._prev))
        return replace(window, span=span)

    def _parse_window_in_brackets(self) -> Window:
        if self._match(TokenType.PARTITION_BY):
            partition = self.parse_names("a column to partition by")
            if not self.skip_word("ROWS"):
                self.complain("ROWS and a number", "Write [PARTITION BY k ROWS 10].")
            return RowsWindow(self.parse_count("rows"), partition)
        match self.skip_word("RANGE", "FIXED", "ROWS", "NOW", "UNBOUNDED"):
            case "RANGE" | "ROWS" if self.skip_word("UNBOUNDED"):
                return UnboundedWindow()
            case "RANGE":
                return self._parse_range_window()
            case "FIXED":
                return FixedWindow(self.parse_duration("the size of a window"))
            case "ROWS":
                return RowsWindow(self.parse_count("rows"))
            case "NOW":
                return NowWindow()
            case "UNBOUNDED":
                return UnboundedWindow()
        self.complain(f"a window: {one_of(WINDOWS)}", among=WINDOWS)

    def _parse_range_window(self) -> RangeWindow:
        start = self._curr
        size = self.parse_duration("the size of a window")
        if not self.skip_word("SLIDE"):
            if not self._match(TokenType.R_BRACKET, advance=False):
                self.complain("SLIDE or ]", among=("SLIDE",))
            return RangeWindow(size)
        slide = self.parse_duration("the slide of a window")
        if size.ticks != slide.ticks:
            self.refuse(
                "RANGE and SLIDE are of one kind: both with a unit of time, or both integers.",
                self.span(start).to(self.span(self._prev)),
            )
        return RangeWindow(size, slide)


def _units() -> str:
    return f"The units are {', '.join(unit for unit in UNITS if unit.endswith('S'))}."
