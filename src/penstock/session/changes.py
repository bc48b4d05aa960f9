"""What running a pipeline file would change in a state directory, as `db.plan` tells it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from penstock.boundary import public


@dataclass(frozen=True)
class Change:
    """What becomes of one definition, why, and by which statement."""

    action: ClassVar[str] = ""
    kind: str
    name: str
    reason: str = ""
    statement: str = ""

    @property
    def cost(self) -> str:
        """What cannot be had again when the change was made; empty where nothing is lost."""
        return ""

    def to_json(self) -> dict[str, Any]:
        """The same as values of JSON."""
        return {"change": self.action, **asdict(self)}


@dataclass(frozen=True)
class Create(Change):
    """A name of the file that the directory does not have yet."""

    action = "create"


@dataclass(frozen=True)
class Replace(Change):
    """The view is built beside the old one, whose name and readers it takes over."""

    action = "replace"


@dataclass(frozen=True)
class Alter(Change):
    """A source whose columns are to change."""

    action = "alter"


@dataclass(frozen=True)
class Drop(Change):
    """`loses` is what cannot be had again: kept rows of a source, how far sinks were served."""

    action = "drop"
    loses: str = ""

    @property
    def cost(self) -> str:
        return self.loses


@dataclass(frozen=True)
class Unchanged(Change):
    """A definition that is what the file says."""

    action = "unchanged"


@dataclass(frozen=True)
class Refused(Change):
    """The file asks for what cannot be done; the reason says what to do instead."""

    action = "refused"


@public
@dataclass(frozen=True)
class PipelinePlan:
    """The changes, in the order in which they would be made; it prints as a table."""

    changes: tuple[Change, ...]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return all(isinstance(change, Unchanged) for change in self.changes)

    @property
    def refused(self) -> tuple[Change, ...]:
        """What cannot be done; with any of it, the file is not run."""
        return tuple(change for change in self.changes if isinstance(change, Refused))

    @property
    def costly(self) -> tuple[Change, ...]:
        """The changes that take away what cannot be had again."""
        return tuple(change for change in self.changes if change.cost)

    def __str__(self) -> str:
        rows = [
            (c.action, c.kind, c.name, ". ".join(filter(None, (c.reason, _lost(c)))))
            for c in self.changes
            if not isinstance(c, Unchanged)
        ]
        widths = [max(len(row[column]) for row in rows) if rows else 0 for column in range(3)]
        lines = [
            "  ".join([*(word.ljust(n) for word, n in zip(row, widths, strict=False)), row[3]])
            for row in rows
        ]
        same = len(self.changes) - len(rows)
        if not rows:
            return "Nothing to change."
        rest = f"{same} unchanged" if same else ""
        return "\n".join(line.rstrip() for line in [*lines, rest] if line)


def _lost(change: Change) -> str:
    return f"This loses {change.cost}" if change.cost else ""
