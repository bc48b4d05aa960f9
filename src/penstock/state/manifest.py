"""What exists: the manifest, and the small actions that it is a fold of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

from penstock.element import BEGIN
from penstock.punctuation.closings import Entry
from penstock.state.store import RunRef


@dataclass(frozen=True)
class AreaState:
    """The runs of an area, and from when on their rows matter."""

    refs: tuple[RunRef, ...] = ()
    frontier: int = BEGIN


@dataclass(frozen=True)
class SourceState:
    """How far a source has come: all its rows with a time before `frontier` have arrived.

    An idle source holds nobody back until its next batch. `kept`: all its rows still are.
    `broken` are rows that a punctuation had ruled out. `ended`: the time from which on it is over.
    """

    frontier: int = BEGIN
    largest: int = BEGIN
    batch: int = -1
    accepted: int = 0
    late: int = 0
    idle: bool = False
    kept: bool = True
    broken: int = 0
    ended: int | None = None


@dataclass(frozen=True)
class Publication:
    """The elements of a view for `[w0, w1)`, committed at a version."""

    version: int
    w0: int
    w1: int
    refs: tuple[RunRef, ...]


@dataclass(frozen=True)
class SinkState:
    """The view of a sink, and up to which version it has been served."""

    view: str
    version: int


@dataclass(frozen=True)
class Manifest:
    version: int = 0
    frontier: int = BEGIN
    definitions: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, SourceState] = field(default_factory=dict)
    areas: Mapping[str, AreaState] = field(default_factory=dict)
    changelogs: Mapping[str, tuple[Publication, ...]] = field(default_factory=dict)
    sinks: Mapping[str, SinkState] = field(default_factory=dict)
    punctuations: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)

    def area(self, name: str) -> AreaState:
        return self.areas.get(name, AreaState())

    def segments(self) -> set[str]:
        """The names of all files that the manifest refers to."""
        refs = [ref for area in self.areas.values() for ref in area.refs]
        refs += [ref for log in self.changelogs.values() for entry in log for ref in entry.refs]
        return {ref.segment for ref in refs}


@dataclass(frozen=True)
class Defined:
    """A source or view came to be; definitions keep their order."""

    name: str
    definition: Any

    def apply(self, m: Manifest) -> Manifest:
        return replace(m, definitions={**m.definitions, self.name: self.definition})


@dataclass(frozen=True)
class Dropped:
    """A definition is gone, and with it its sinks and the areas that nobody else needs."""

    name: str
    areas: tuple[str, ...]

    def apply(self, m: Manifest) -> Manifest:
        gone = set(self.areas)
        return replace(
            m,
            definitions={k: v for k, v in m.definitions.items() if k != self.name},
            changelogs={k: v for k, v in m.changelogs.items() if k != self.name},
            sources={k: v for k, v in m.sources.items() if k != self.name},
            punctuations={k: v for k, v in m.punctuations.items() if k != self.name},
            areas={k: v for k, v in m.areas.items() if k not in gone},
            sinks={k: v for k, v in m.sinks.items() if v.view != self.name},
        )


@dataclass(frozen=True)
class Received:
    """A batch, a heartbeat or the end of a source."""

    source: str
    state: SourceState

    def apply(self, m: Manifest) -> Manifest:
        return replace(m, sources={**m.sources, self.source: self.state})


@dataclass(frozen=True)
class Punctuated:
    """No more rows of a source like these; `anew`: this is all that was ever said."""

    source: str
    entries: tuple[Entry, ...]
    anew: bool = False

    def apply(self, m: Manifest) -> Manifest:
        before = () if self.anew else m.punctuations.get(self.source, ())
        return replace(m, punctuations={**m.punctuations, self.source: before + self.entries})


@dataclass(frozen=True)
class Advanced:
    frontier: int

    def apply(self, m: Manifest) -> Manifest:
        return replace(m, frontier=self.frontier)


@dataclass(frozen=True)
class Changed:
    """Runs came to an area and others left it."""

    area: str
    added: tuple[RunRef, ...] = ()
    removed: tuple[str, ...] = ()
    frontier: int = BEGIN

    def apply(self, m: Manifest) -> Manifest:
        old = m.area(self.area)
        gone = set(self.removed)
        kept = (*(ref for ref in old.refs if ref.name not in gone), *self.added)
        area = AreaState(kept, max(old.frontier, self.frontier))
        return replace(m, areas={**m.areas, self.area: area})


@dataclass(frozen=True)
class Published:
    view: str
    w0: int
    w1: int
    refs: tuple[RunRef, ...]

    def apply(self, m: Manifest) -> Manifest:
        entry = Publication(m.version, self.w0, self.w1, self.refs)
        log = (*m.changelogs.get(self.view, ()), entry)
        return replace(m, changelogs={**m.changelogs, self.view: log})


@dataclass(frozen=True)
class Retired:
    """The publications of a view up to a version are no longer kept."""

    view: str
    version: int

    def apply(self, m: Manifest) -> Manifest:
        log = tuple(p for p in m.changelogs.get(self.view, ()) if p.version > self.version)
        return replace(m, changelogs={**m.changelogs, self.view: log})


@dataclass(frozen=True)
class Delivered:
    """A sink has all publications of its view up to a version."""

    sink: str
    view: str
    version: int

    def apply(self, m: Manifest) -> Manifest:
        served = SinkState(self.view, self.version)
        return replace(m, sinks={**m.sinks, self.sink: served})


Action: TypeAlias = (
    Defined | Dropped | Received | Punctuated | Advanced | Changed | Published | Retired | Delivered
)
_ACTIONS: tuple[type[Action], ...] = (
    Defined,
    Dropped,
    Received,
    Punctuated,
    Advanced,
    Changed,
    Published,
    Retired,
    Delivered,
)
_STATES = (AreaState, SourceState, Publication, SinkState)


def action_to_json(action: Action) -> dict[str, Any]:
    return {"action": type(action).__name__, **_fields_to_json(action)}


def action_from_json(data: dict[str, Any]) -> Action:
    kinds = {kind.__name__: kind for kind in _ACTIONS}
    rest = {key: value for key, value in data.items() if key != "action"}
    found: Action = _from_json(kinds[data["action"]], rest)
    return found


def manifest_to_json(m: Manifest) -> dict[str, Any]:
    return _fields_to_json(m)


def manifest_from_json(data: dict[str, Any]) -> Manifest:
    return Manifest(
        version=data["version"],
        frontier=data["frontier"],
        definitions=data["definitions"],
        sources={k: _from_json(SourceState, v) for k, v in data["sources"].items()},
        areas={k: _from_json(AreaState, v) for k, v in data["areas"].items()},
        changelogs={
            k: tuple(_from_json(Publication, entry) for entry in log)
            for k, log in data["changelogs"].items()
        },
        sinks={k: _from_json(SinkState, v) for k, v in data["sinks"].items()},
        punctuations={k: _entries(v) for k, v in data["punctuations"].items()},
    )


_WRITTEN = ("definition", "definitions")
"""What is JSON already."""


def _fields_to_json(value: Any) -> dict[str, Any]:
    found = {f.name: getattr(value, f.name) for f in fields(value)}
    return {k: item if k in _WRITTEN else _to_json(item) for k, item in found.items()}


def _to_json(value: Any) -> Any:
    if isinstance(value, RunRef):
        return value.to_json()
    if isinstance(value, _STATES):
        return _fields_to_json(value)
    if isinstance(value, Mapping):
        return {key: _to_json(item) for key, item in value.items()}
    if isinstance(value, tuple):
        written = len(value) > 0 and isinstance(value[0], tuple)  # entries: texts and numbers
        return value if written else [_to_json(item) for item in value]
    return value


def _from_json(kind: type[Any], data: dict[str, Any]) -> Any:
    """An action or state from its fields; references and nested states are known by their names."""
    values = dict(data)
    for name in ("refs", "added"):
        if name in values:
            values[name] = tuple(map(RunRef.from_json, values[name]))
    for name in ("removed", "areas"):
        if name in values:
            values[name] = tuple(values[name])
    if "entries" in values:
        values["entries"] = _entries(values["entries"])
    if "state" in values:
        values["state"] = _from_json(SourceState, values["state"])
    return kind(**values)


def _entries(data: list[Any]) -> tuple[Entry, ...]:
    return tuple((text, at) for text, at in data)
