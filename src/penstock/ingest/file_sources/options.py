"""What may be written behind USING csv, json or parquet. What is not known is refused by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from penstock.algebra.calendar import zone_named
from penstock.errors import PlanError
from penstock.ingest.text_values import TextValues, TimePattern
from penstock.sql.text import closest

Options: TypeAlias = Mapping[str, str]
STREAM = (
    "path",
    "basePath",
    "cleanSource",
    "discardCachedInputRatio",
    "fileNameOnly",
    "latestFirst",
    "maxBytesPerTrigger",
    "maxCachedFiles",
    "maxFileAge",
    "maxFilesPerTrigger",
    "pathGlobFilter",
    "recursiveFileLookup",
    "sourceArchiveDir",
)
"""Which files come, and when: that is for Spark to read."""
TEXT = ("dateFormat", "encoding", "charset", "lineSep", "timeZone")
TIMES = ("timestampFormat", "timestampNTZFormat")
_INSTEAD = {
    "mode": "ON ERROR KEEP, DROP or FAIL of the source says what becomes of malformed records",
    "columnnameofcorruptrecord": "SHOW REJECTED FOR the source shows malformed records",
    "badrecordspath": "SHOW REJECTED FOR the source shows malformed records",
    "ignorecorruptfiles": "a file that cannot be read is rejected by name, and others go on",
    "ignoremissingfiles": "a file that is gone is rejected by name, and others go on",
    "inferschema": "the types are those that the source declares",
    "mergeschema": "the columns are those that the source declares",
}


def check_needed(format: str, options: Iterable[tuple[str, str]]) -> None:
    """Refuse options that a source is not to be created with. Sources that are there have them
    from when Spark read their files, and do without."""
    for name, _ in options:
        if name.lower() in _INSTEAD:
            raise PlanError(f"USING {format} has no option {name!r}: {_INSTEAD[name.lower()]}")


def checked(format: str, options: Iterable[tuple[str, str]], known: Iterable[str]) -> Options:
    """Options by their names in small letters."""
    names = {name.lower(): name for name in (*STREAM, *known)}
    found: dict[str, str] = {}
    for name, value in options:
        if name.lower() in _INSTEAD:
            continue
        if name.lower() not in names:
            meant = closest(name, list(names.values()))
            hint = f"did you mean {meant}?" if meant else f"known are {', '.join(sorted(known))}"
            raise PlanError(f"USING {format} has no option {name!r} here; {hint}")
        found[name.lower()] = value
    for name, only in (("encoding", "UTF-8"), ("charset", "UTF-8"), ("linesep", "\n")):
        value = found.get(name, only)
        if value.lower().replace("utf8", "utf-8") not in (only.lower(), "\r\n"):
            raise PlanError(
                f"USING {format} with {name} {value!r} is not read: files are of UTF-8, and their "
                "lines end with \\n or \\r\\n"
            )
    return found


def text_values(options: Options) -> TextValues:
    """How values are written in files with these options."""
    date, time, local = (
        TimePattern(options[name]) if name in options else None
        for name in ("dateformat", "timestampformat", "timestampntzformat")
    )
    zone = options.get("timezone", "UTC")
    zone_named(zone)
    return TextValues(zone, date, time, local)


def flag(options: Options, name: str, default: bool = False) -> bool:
    value = options.get(name, str(default)).lower()
    if value not in ("true", "false"):
        raise PlanError(f"option {name} is {value!r}; expected 'true' or 'false'")
    return value == "true"


def sign(options: Options, names: Iterable[str], default: str, most: int = 1) -> str:
    """A sign, or a few, that one of the names is given."""
    for name in names:
        value = options.get(name, "").replace("\\t", "\t")
        if name in options and not 1 <= len(value) <= most:
            raise PlanError(f"option {name} is {value!r}; expected one sign, such as {default!r}")
        if value:
            return value
    return default
