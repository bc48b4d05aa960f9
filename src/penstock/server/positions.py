"""How far somebody has read the changes of a view, as a text to go on from.

A position names a version, the event time before which everything has been read, and the view as it
was defined. The time alone says where to go on: changes of a time are the same in every version.
The version is for people, and for those who name nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from penstock.element import BEGIN, INF
from penstock.errors import PlanError
from penstock.session.published import CommittedView

_FORM = re.compile(r"(\d{1,18}):(-?\d{1,19}):([0-9a-f]{1,64})")
_VERSION = re.compile(r"\d{1,18}")


@dataclass(frozen=True)
class Position:
    """Everything before `frontier` has been read, of the view with this identity."""

    version: int
    frontier: int
    view: str

    def __str__(self) -> str:
        return f"{self.version}:{self.frontier}:{self.view}"


def position_of(text: str, view: CommittedView, identity: str) -> Position:
    """A position, or the one of a version; an error where it is none."""
    found = _FORM.fullmatch(text)
    if found is not None:
        frontier = int(found[2])
        if BEGIN <= frontier <= INF:
            return Position(int(found[1]), frontier, found[3])
    elif _VERSION.fullmatch(text):
        version = int(text)
        for entry in view.publications:
            if entry.version == version:
                return Position(version, entry.w1, identity)
        raise PlanError(
            f"view {view.name}: the changes of version {version} are not told apart from later "
            "ones any more, or there were none; go on from a whole position, "
            "VERSION:FRONTIER:VIEW, as it came with the changes"
        )
    raise PlanError(f"{text[:80]!r} is no position; expected one as it came, or a version")
