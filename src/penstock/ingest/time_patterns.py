"""Patterns of dates and times, as `dd/MM/yyyy HH:mm:ss`: the letters of Java's that Spark has.

Only numbers are read: names of months and days depend on a language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import cached_property

from penstock.errors import PlanError

_PARTS = {
    "yyyy": r"(?P<year>[0-9]{4})",
    "uuuu": r"(?P<year>[0-9]{4})",
    "MM": r"(?P<month>[0-9]{2})",
    "M": r"(?P<month>[0-9]{1,2})",
    "dd": r"(?P<day>[0-9]{2})",
    "d": r"(?P<day>[0-9]{1,2})",
    "HH": r"(?P<hour>[0-9]{2})",
    "H": r"(?P<hour>[0-9]{1,2})",
    "mm": r"(?P<minute>[0-9]{2})",
    "m": r"(?P<minute>[0-9]{1,2})",
    "ss": r"(?P<second>[0-9]{2})",
    "s": r"(?P<second>[0-9]{1,2})",
    **{"S" * n: rf"(?P<fraction>[0-9]{{{n}}})" for n in range(1, 7)},
    "X": r"(?P<zone>Z|[+-][0-9]{2}(?:[0-9]{2})?)",
    "XX": r"(?P<zone>Z|[+-][0-9]{4})",
    "XXX": r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})",
    "Z": r"(?P<zone>[+-][0-9]{4})",
}
_TOKEN = re.compile(
    r"'(?P<text>(?:[^']|'')*)'|(?P<part>(?P<letter>[a-zA-Z])(?P=letter)*)|(?P<sign>.)", re.S
)
_UNITS = ("year", "month", "day", "hour", "minute", "second")
_FIRST = {"year": 1970, "month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}


@dataclass(frozen=True)
class TimePattern:
    """A pattern in Java's letters, which reads texts as times."""

    text: str

    def __post_init__(self) -> None:
        assert self._regex is not None

    def read(self, text: str) -> datetime:
        """The time that a text is, of a zone if it names one; a ValueError where it is none."""
        found = self._regex.fullmatch(text)
        if found is None:
            raise ValueError(f"it is not of the form {self.text}")
        said = found.groupdict()
        year, month, day, hour, minute, second = (
            int(said.get(unit) or _FIRST[unit]) for unit in _UNITS
        )
        micros = int((said.get("fraction") or "0").ljust(6, "0"))
        zone = _zone(said["zone"]) if said.get("zone") else None
        return datetime(year, month, day, hour, minute, second, micros, tzinfo=zone)

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        parts = []
        for token in _TOKEN.finditer(self.text):
            part = token["part"]
            if part is None:
                literal = token["sign"] or token["text"].replace("''", "'") or "'"
                parts.append(re.escape(literal))
            elif part in _PARTS:
                parts.append(_PARTS[part])
            else:
                raise PlanError(
                    f"the pattern {self.text!r} has {part!r}, which is not read here. Use yyyy MM "
                    "dd HH mm ss, S for digits of a second, XXX for the zone, and texts in quotes"
                )
        try:
            return re.compile("".join(parts))
        except re.error:
            raise PlanError(f"the pattern {self.text!r} has a part of a time twice") from None


def _zone(text: str) -> timezone:
    if text == "Z":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    length = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-length if text[0] == "-" else length)
