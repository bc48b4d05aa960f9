"""What of a session does not go on, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from penstock.boundary import in_a_sentence
from penstock.errors import BackgroundError
from penstock.runtime.engine import Engine
from penstock.state.manifest import Failure

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_LONGEST = 500


def failed_views(engine: Engine) -> dict[str, str]:
    """The reason of each view that failed, and the row where it is known."""
    return {f"view {name}": _sentence(f) for name, f in engine.manifest.failures.items()}


def failed_sources(queries: Mapping[str, Sequence[StreamingQuery]]) -> dict[str, str]:
    """The reason of each source whose last stream has ended by an error."""
    errors = {name: each[-1].exception() for name, each in queries.items() if each}
    return {
        f"source {name}": in_a_sentence(error).sentence[:_LONGEST]
        for name, error in errors.items()
        if error is not None
    }


def check_sources(engine: Engine, failures: Mapping[str, str], t: int) -> None:
    """An error where a source that has failed is what a time waits for."""
    for what, reason in failures.items():
        name = what.removeprefix("source ")
        if engine.source_state(name).frontier < t:
            raise BackgroundError(
                f"{what} has failed, so the frontier does not come as far: {reason}. When the "
                "cause is gone, start() goes on"
            )


def _sentence(failure: Failure) -> str:
    return f"{failure.reason} (row: {failure.row})" if failure.row else failure.reason
