"""Sinks: the changes of a view, delivered once per publication, in order.

A sink is known by its name; the log says up to which version it has been served. A crash between a
delivery and its commit repeats that delivery, with the same version and the same rows: a file sink
writes each version to a place of its own and overwrites it, a function is given the version.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Deliver: TypeAlias = "Callable[[DataFrame, int], None]"


@dataclass(frozen=True)
class Sink:
    name: str
    view: str
    deliver: Deliver


def to_format(kind: str, path: str, **options: str) -> Deliver:
    """Writes each version into `path/version=N`, in any Spark format."""

    def deliver(rows: DataFrame, version: int) -> None:
        writer = rows.write.format(kind).options(**options).mode("overwrite")
        writer.save(f"{path}/version={version}")

    return deliver
