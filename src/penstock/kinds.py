"""Kinds: the names under which things are kept in a state directory, whatever Python calls them.

    @kind("join")
    @dataclass(frozen=True)
    class Join(Node): ...

Law: what is written names kinds and fields that are registered here, so classes may be renamed and
moved. A field that has its default value is not written, so one more with a default changes nothing
that was written before. Nothing but a registered kind is ever built from what a file says.

A field that is renamed keeps its written name: `kind("join", fields={"new": "old"})`. A class whose
meaning changes gets another version, and directories with the old one are refused by name. What may
never change of a kind is in docs/format.md, and a test compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, TypeVar

from penstock.errors import StateError

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Kind:
    """How the objects of a class are written: its fields by their written names.

    Operators are not built from what is written; only their states have their names.
    """

    name: str
    version: int
    made: type[Any]
    fields: Mapping[str, str]
    defaults: Mapping[str, Any]
    is_operator: bool

    @property
    def written(self) -> str:
        """The name, with the version where that is not the first."""
        return self.name if self.version == 1 else f"{self.name}/{self.version}"

    def parts(self, value: Any) -> Iterator[tuple[str, Any]]:
        """The written names and values of all fields that have not their defaults."""
        for written, name in self.fields.items():
            part = getattr(value, name)
            default = self.defaults.get(written, MISSING)
            if not (part is default or (type(part) is type(default) and part == default)):
                yield written, part

    def build(self, parts: Mapping[str, Any]) -> Any:
        if unknown := parts.keys() - self.fields.keys():
            more = ", ".join(map(repr, sorted(unknown)))
            raise StateError(self.written, f"this version of Penstock knows of it no {more}")
        if missing := self.fields.keys() - self.defaults.keys() - parts.keys():
            more = ", ".join(map(repr, sorted(missing)))
            raise StateError(self.written, f"it is without {more}")
        return self.made(**{self.fields[name]: part for name, part in parts.items()})


_BY_NAME: dict[str, Kind] = {}
_BY_CLASS: dict[type[Any], Kind] = {}


def kind(
    name: str, version: int = 1, fields: Mapping[str, str] | None = None
) -> Callable[[type[T]], type[T]]:
    """Keep the objects of a class under this name; `fields` are written names by Python's."""
    return _registering(name, version, fields or {}, is_operator=False)


def operator(
    name: str, version: int = 1, fields: Mapping[str, str] | None = None
) -> Callable[[type[T]], type[T]]:
    """Keep the state of an operator, or that of operators above it, under this name."""
    return _registering(name, version, fields or {}, is_operator=True)


def _registering(
    name: str, version: int, written: Mapping[str, str], is_operator: bool
) -> Callable[[type[T]], type[T]]:
    def register(made: type[T]) -> type[T]:
        names, defaults = _fields(made)
        if name in _BY_NAME or "/" in name or "is" in written.values():
            raise TypeError(f"{made.__name__} cannot be the kind {name!r}; choose another name")
        found = Kind(
            name,
            version,
            made,
            {written.get(own, own): own for own in names},
            {written.get(own, own): default for own, default in defaults.items()},
            is_operator,
        )
        _BY_NAME[name] = _BY_CLASS[made] = found
        return made

    return register


def _fields(made: Any) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """The names of the fields of a dataclass or named tuple, and those that have defaults."""
    if is_dataclass(made):
        own = fields(made)
        defaults = {f.name: f.default for f in own if f.default is not MISSING}
        defaults |= {f.name: f.default_factory() for f in own if f.default_factory is not MISSING}
        return tuple(f.name for f in own), defaults
    return made._fields, made._field_defaults


def kind_of(made: type[Any]) -> Kind:
    """The kind of the objects of a class."""
    if made not in _BY_CLASS:
        raise TypeError(
            f"{made.__module__}.{made.__qualname__} is to be kept and has no kind: write "
            "@kind('its name') above it, from penstock.kinds, or @operator('its name') where it "
            "is an operator, and run `python -m docs.kinds`"
        )
    return _BY_CLASS[made]


def is_kept(made: type[Any]) -> bool:
    """Whether objects of the class can be kept, and be had again."""
    return made in _BY_CLASS and not _BY_CLASS[made].is_operator


def known(written: object) -> Kind:
    """The kind that a file names; an error where this version has none of the name and version."""
    name, _, version = str(written).partition("/")
    found = _BY_NAME.get(name)
    if found is None:
        raise StateError(str(written), "this version of Penstock has no such kind")
    if (version or "1") != str(found.version):
        raise StateError(
            str(written),
            f"this version of Penstock knows {name!r} in version {found.version} only; "
            "open the directory with the version that wrote it, or a later one",
        )
    return found


def build(written: object, parts: Mapping[str, Any]) -> Any:
    """An object of the kind that a file names."""
    found = known(written)
    if found.is_operator:
        raise StateError(str(written), "operators are never made from what a file says")
    return found.build(parts)


def kinds() -> list[Kind]:
    """All that are registered so far, by name."""
    return [_BY_NAME[name] for name in sorted(_BY_NAME)]
