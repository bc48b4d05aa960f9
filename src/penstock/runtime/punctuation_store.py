"""What punctuations have said, for an engine: read from the log once, and kept up with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.element import BEGIN
from penstock.ingest.sources import SourceDefinition
from penstock.physical.closing import Said, answered, is_answered, reviewed
from penstock.physical.kernel import Kernel
from penstock.physical.program import Program
from penstock.punctuation.closings import Closings, Entry
from penstock.state.manifest import Manifest, SourceState
from penstock.state.run import StateTableSpec

_MANY = 1000


@dataclass
class PunctuationStore:
    """Remembers how far the entries of each source were read, and what they add up to."""

    _read: dict[str, tuple[tuple[Entry, ...], int, Closings]] = field(default_factory=dict)

    def of(self, source: SourceDefinition, manifest: Manifest) -> Closings:
        """What was said of a source, for whoever looks from the frontier on."""
        if source.is_table:
            return Closings.finite(source.schema)
        entries = manifest.punctuations.get(source.name, ())
        nothing = ((), BEGIN, Closings(source.schema))
        before, frontier, closings = self._read.get(source.name, nothing)
        if entries is not before or frontier < manifest.frontier:
            if entries[: len(before)] != before:
                before, _, closings = nothing
            closings = closings.read(entries[len(before) :]).settled(manifest.frontier)
            self._read[source.name] = entries, manifest.frontier, closings
        return closings.over_from(_ended(source, manifest)).settled(manifest.frontier)

    def cache(self, source: str, manifest: Manifest, closings: Closings) -> None:
        """What the entries of a source add up to, for whoever has read them already."""
        if source in manifest.punctuations:
            self._read[source] = manifest.punctuations[source], BEGIN, closings

    def forget(self, source: str) -> None:
        """The columns of a source have changed."""
        self._read.pop(source, None)

    def since_the_beginning(self, source: SourceDefinition, manifest: Manifest) -> Closings:
        """The same with the times at which all of it began to hold."""
        if source.is_table:
            return Closings.finite(source.schema)
        entries = manifest.punctuations.get(source.name, ())
        return Closings(source.schema).read(entries).over_from(_ended(source, manifest))

    def condensed(self, source: SourceDefinition, manifest: Manifest) -> tuple[Entry, ...] | None:
        """The entries in fewer words, where there are many; None where it is not worth while.

        What began to hold before the frontier may as well have begun just before it. Entries that
        hold from the beginning of time belong to the scheme of a stream. They stay as they are, so
        that they can be lifted with it.
        """
        entries = manifest.punctuations.get(source.name, ())
        frontier = manifest.frontier
        if len(entries) < _MANY or frontier == BEGIN:
            return None
        if 2 * len(self.of(source, manifest).schedule) > len(entries):
            return None
        always = tuple(one for one in entries if one[1] == BEGIN)
        others = [one for one in entries if one[1] != BEGIN]
        closings = Closings(source.schema).read(others).settled(frontier)
        return always + tuple(
            (words, frontier - 1 if at == BEGIN else at) for words, at in closings.entries()
        )


def _ended(source: SourceDefinition, manifest: Manifest) -> int | None:
    return manifest.sources.get(source.name, SourceState()).ended


def bind_punctuations(program: Program, said: Said) -> dict[int, Kernel]:
    """The kernels of a program that know what was said, where anything was."""
    found: dict[int, Kernel] = {}
    for number, place in enumerate(program.places):
        work = place.operator.work
        if isinstance(work, Kernel):
            kernel = answered(work, said)
            if kernel is not work:
                found[number] = kernel
    return found


def closing(program: Program, kernels: Mapping[int, Kernel]) -> dict[str, StateTableSpec]:
    """The state tables of which punctuations close a part."""
    found: dict[str, StateTableSpec] = {}
    for number, kernel in kernels.items():
        for state_table in map(reviewed, kernel.state_tables):
            if is_answered(state_table.until):
                found[program.places[number].state_table_name(state_table)] = state_table
    return found
