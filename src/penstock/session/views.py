"""Views as users hold them: what they read, at one version or at the latest."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from penstock.algebra.plan import Node
from penstock.boundary import public
from penstock.errors import PlanError
from penstock.ingest.times import Time, shown, ticks
from penstock.output.readers import CommittedView, Reading, read_view
from penstock.output.sinks import Deliver, Sink, to_format
from penstock.runtime.engine import Engine
from penstock.sql.binding.types import shown as sql_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.session.session import Session


@public
class Answer:
    """The answer to a query, at one version."""

    def __init__(self, spark: SparkSession, tasks: int, committed: CommittedView) -> None:
        self._spark = spark
        self._tasks = tasks
        self._committed = committed

    def committed(self) -> CommittedView:
        """The version that is read."""
        return self._committed

    def snapshot(self, at: Time | None = None) -> DataFrame:
        """The answer at a time; without one, at the latest that is complete."""
        return self._read(self.committed().snapshot(None if at is None else ticks(at)))

    def changes(self, since: Time | None = None) -> DataFrame:
        """The changes from a time on, as columns op (`+`, `-`, `u`), the record's, ts."""
        return self._read(self.committed().changes(None if since is None else ticks(since)))

    def history(self) -> DataFrame:
        """Every record with the times from and to which it was there; no end: it still is."""
        return self._read(self.committed().history())

    def _read(self, reading: Reading) -> DataFrame:
        return read_view(self._spark, reading, self._tasks)


@public
class View(Answer):
    """A view: the answer to its query, at the version that is committed when it is read."""

    def __init__(self, session: Session, engine: Engine, name: str) -> None:
        self._spark = session.spark
        self._tasks = engine.tasks
        self._session = session
        self._engine = engine
        self.name = name

    def _repr_html_(self) -> str:
        """Its name, columns and frontier, for notebooks."""
        committed = self.committed()
        frontier = shown(committed.manifest.frontier, committed.time)
        rows = "".join(
            f"<tr><td>{html.escape(field.name)}</td><td>{sql_type(field.type)}</td></tr>"
            for field in self.plan.schema
        )
        name = html.escape(self.name)
        return f"<p>View {name}, complete before {frontier}</p><table><tbody>{rows}</tbody></table>"

    @property
    def plan(self) -> Node:
        """What the view says, to build other views on; what they share with it runs once."""
        return self._engine.views[self.name].plan

    def sink(
        self, target: str | Deliver, *, name: str | None = None, path: str = "", **options: str
    ) -> None:
        """Deliver changes to `fn(df, version)` or a Spark format, each publication once."""
        if isinstance(target, str):
            if not path:
                raise PlanError(f"a sink in format {target!r} needs a path")
            deliver = to_format(self._spark, target, path, **options)
            known = f"{self.name} {target} {path}" if name is None else name
        else:
            deliver = target
            function = getattr(target, "__name__", "function")
            known = f"{self.name} {function}" if name is None else name
        self._session.add_sink(Sink(known, self.name, deliver))

    def resume(self) -> None:
        """Go on after a failure: the changes are those of a view that never failed."""
        self._engine.resume(self.name)

    def committed(self) -> CommittedView:
        """The view as of the version that is committed now."""
        return self._engine.committed(self.name)
