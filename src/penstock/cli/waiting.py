"""Work that takes a while: its progress is shown, and Ctrl-C ends it.

Spark is talked to over a socket. An interrupt in the middle of that conversation would end it for
good; so the work is done in a thread, with a conversation of its own, and it is the waiting that is
interrupted.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from penstock.cli.printing import to_stderr

if TYPE_CHECKING:
    from penstock.session import Session

T = TypeVar("T")

PAUSE = 0.2  # seconds between two looks at the work
NOTICED = 5  # looks after which the tasks are counted: short work has no bar


def working(what: str) -> AbstractContextManager[object]:
    """A spinner while the block runs, where somebody can see it."""
    console = to_stderr()
    return console.status(what) if console.is_terminal else nullcontext()


def finished(db: Session, what: str, work: Callable[[], T]) -> T:
    """What the work returns or raises; Ctrl-C cancels its Spark jobs, and is raised after them."""
    with ThreadPoolExecutor(1) as pool, _Bar(db, what) as bar:
        future = pool.submit(work)
        try:
            while not wait([future], timeout=PAUSE).done:
                bar.update()
        except KeyboardInterrupt:
            while not wait([future], timeout=PAUSE).done:
                db.spark.sparkContext.cancelAllJobs()
            raise
        return future.result()


class _Bar:
    """How many tasks of the stages under way are done; nothing where nobody can see it."""

    def __init__(self, db: Session, what: str) -> None:
        self._db = db
        self._what = what
        self._looks = 0
        console = to_stderr()
        self._progress = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), console=console, transient=True
        )
        self._shown = console.is_terminal and bool(what)

    def __enter__(self) -> _Bar:
        if self._shown:
            self._progress.start()
            self._task = self._progress.add_task(self._what, total=None)
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._progress.stop()

    def update(self) -> None:
        self._looks += 1
        if not self._shown or self._looks < NOTICED:
            return
        if self._looks == NOTICED:
            self._progress.columns = (
                *self._progress.columns,
                BarColumn(20),
                MofNCompleteColumn(),
                TextColumn("tasks"),
            )
        tracker = self._db.spark.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        known = [stage for stage in stages if stage is not None]
        if known:
            self._progress.update(
                self._task,
                total=sum(stage.numTasks for stage in known),
                completed=sum(stage.numCompletedTasks for stage in known),
            )
