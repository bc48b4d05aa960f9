"""Which names users may give, and where a name has its place on disk.

Law: a name is never a path. `file_name` is injective, also where a file system does not tell upper
from lower case, and gives one component of bounded length that holds only `a-z 0-9 _ - .` and is
neither empty, `.` nor `..`. So what is joined to a directory lies inside that directory.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from penstock.errors import PlanError

MOST_CHARACTERS = 255
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_")
_LONGEST, _KEPT = 120, 50
_SEGMENT = re.compile(r"[0-9a-f]{32}")


def file_name(name: str) -> str:
    """The file name that stands for a name: lower case as it is, any other byte as `-` and its hex.

    Of a long name its beginning and its hash.
    """
    data = name.encode("utf-8", "surrogatepass")
    encoded = "".join(chr(byte) if byte in _PLAIN else f"-{byte:02x}" for byte in data)
    if len(encoded) <= _LONGEST:
        return encoded or "-"
    return f"{encoded[:_KEPT]}.{hashlib.sha256(data).hexdigest()}"


def check_name(name: object, what: str = "a name", most: int = MOST_CHARACTERS) -> str:
    """The name of something that a user makes; an error where nothing can be called that."""
    if not isinstance(name, str):
        raise PlanError(f"{what} is a text, not {type(name).__name__}; write it in quotes")
    problem = _problem(name, most)
    if problem:
        raise PlanError(f"{what} {problem}; choose another name")
    return name


def _problem(name: str, most: int) -> str:
    if not name.strip():
        return "is empty"
    if len(name) > most:
        return f"has {len(name)} characters, and may have {most}: {name[:20]!r}..."
    for character in name:
        if unicodedata.category(character) in ("Cc", "Cs"):
            kind = "half a character" if unicodedata.category(character) == "Cs" else "no letter"
            return f"holds {character!r}, which is {kind}: {name[:60]!r}"
    return ""


def is_segment(name: str) -> bool:
    """Whether a file of runs may have this name, which is the hex of a random number."""
    return _SEGMENT.fullmatch(name) is not None
