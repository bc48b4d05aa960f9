"""Failures as data: what happens to a pipeline, in order, its deaths included.

    Script("CREATE SOURCE ...; CREATE VIEW ...", [Rows("bids", first), STEP, KILL, STEP])

A script runs in a process of its own. A `Kill` ends that process with SIGKILL: at once, some time
later, or at some call of some function. The next process opens the directory and goes on with the
operation that was under way.

Law: what comes out of a script is what comes out of it without its kills.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.feather as feather

from penstock.algebra.plan import Node
from penstock.element import hashable
from penstock.ingest.sources import SourceDefinition
from penstock.ingest.times import Time
from penstock.runtime.options import Options
from penstock.session import Session, connect
from penstock.session.commands import Commands
from penstock.sql import parse
from penstock.sql import statements as s
from penstock.state.names import file_name
from penstock.testing.local_session import local_session


@dataclass(frozen=True)
class Rows:
    """A batch for a source, which counts once: its place in the script is its number.

    With a name, `producer/number`, it is appended under that, as producers do.
    """

    source: str
    rows: Sequence[tuple[Any, ...]]
    batch: str | None = None


@dataclass(frozen=True)
class Advance:
    """A promise: no more rows of the source before this time."""

    source: str
    to: Time


@dataclass(frozen=True)
class Sql:
    """Statements that change the pipeline; those that were carried out before may come again."""

    text: str


@dataclass(frozen=True)
class Step:
    """Everything moves as far as it can, and the sinks are served."""


@dataclass(frozen=True)
class Collect:
    """Files that nobody needs are deleted."""


@dataclass(frozen=True)
class Reopen:
    """The session is closed as it should be, and opened again, perhaps with other options."""

    options: Options | None = None


@dataclass(frozen=True)
class Kill:
    """SIGKILL: at once, or after some seconds, or at a call of a function.

    `at` is the full name of the function, as in "os.link" or "penstock.state.log.Log.commit". It is
    killed when it is called for the `call`-th time from here on, or when that call returns.
    """

    delay: float = 0.0
    at: str | None = None
    call: int = 1
    after: bool = False


Operation: TypeAlias = Rows | Advance | Sql | Step | Collect | Reopen | Kill
Records: TypeAlias = Counter[tuple[Any, ...]]
Open: TypeAlias = Callable[[Path, Options], Session]

DEFINITIONS = s.CreateSource | s.CreateTable | s.CreateStream | s.CreateView
STEP, COLLECT, REOPEN, KILL = Step(), Collect(), Reopen(), Kill()


def spark_session(directory: Path, options: Options) -> Session:
    """For pipelines that need Spark: each process of a script starts one."""
    return connect(directory, **vars(options))


@dataclass(frozen=True)
class Outcome:
    """What a script leaves behind, by view: its changes, its snapshot, what its sink holds."""

    changes: Mapping[str, Records]
    snapshots: Mapping[str, Records]
    delivered: Mapping[str, Records]
    received: Mapping[str, tuple[int, int]]
    """Rows accepted and late, by source."""
    kills: int = field(default=0, compare=False)
    calls: Mapping[str, int] = field(default_factory=dict, compare=False)
    """How often functions were called that the run was to watch, in its last process."""


class ScriptError(Exception):
    """A script that did not come to its end, with what its process said."""


@dataclass(frozen=True)
class Plans:
    """A pipeline as sources and plans; a text of statements is one as well."""

    sources: Sequence[SourceDefinition]
    views: Mapping[str, Node]


@dataclass(frozen=True)
class Script:
    """A pipeline and what happens to it.

    `open` opens a state directory: `local_session`, which needs no Spark and knows what
    `penstock.check` knows without it, or `spark_session`.
    """

    pipeline: str | Plans
    operations: Sequence[Operation]
    options: Options = field(default_factory=Options)
    open: Open = local_session

    def without_kills(self) -> Script:
        """The same operations in a process that is never killed."""
        return replace(self, operations=[o for o in self.operations if not isinstance(o, Kill)])

    def run(
        self, directory: Path, start: int = 0, watch: Sequence[str] = (), timeout: float = 120.0
    ) -> Outcome:
        """Run it to its end, in as many processes as that takes.

        Operations before `start` were made in this directory by an earlier run.
        """
        done, kills = start, 0
        while True:
            life = _Life(self, directory, done, tuple(watch))
            life.run(timeout)
            done = life.done
            if life.outcome is not None:
                return replace(life.outcome, kills=kills)
            kills += 1
            if kills > sum(isinstance(operation, Kill) for operation in self.operations):
                raise ScriptError(f"killed by someone else after {done} operations")


class _Life:
    """One process that runs a script from some operation on, to its end or until it is killed."""

    def __init__(self, script: Script, directory: Path, start: int, watch: tuple[str, ...]) -> None:
        self.done = start
        self.outcome: Outcome | None = None
        self._script = script
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, "pandas", "pyspark.sql.pandas.types"])
        self._receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_live, args=(script, directory, start, watch, sender), daemon=True
        )
        self._process.start()
        sender.close()

    def run(self, timeout: float) -> None:
        try:
            self._listen(timeout)
        finally:
            self._process.kill()
            self._process.join()
        if self.outcome is None and self._process.exitcode != -signal.SIGKILL:
            raise ScriptError(f"its process ended with {self._process.exitcode}")

    def _listen(self, timeout: float) -> None:
        with suppress(EOFError):
            while self.outcome is None:
                if not self._receiver.poll(timeout):
                    raise ScriptError(f"nothing happened for {timeout} s after {self.done}")
                match self._receiver.recv():
                    case int(number):
                        self.done = number + 1
                        self._kill_later(self._script.operations[number])
                    case str(error):
                        raise ScriptError(f"in operation {self.done}:\n{error}")
                    case Outcome() as outcome:
                        self.outcome = outcome

    def _kill_later(self, operation: Operation) -> None:
        if isinstance(operation, Kill) and operation.delay:
            timer = threading.Timer(operation.delay, self._process.kill)
            timer.daemon = True
            timer.start()


# --- in the process that may be killed ----------------------------------------------------------


def _live(
    script: Script, directory: Path, start: int, watch: tuple[str, ...], sender: Connection
) -> None:
    calls: Counter[str] = Counter()
    for name in watch:
        _patch(name, partial(_counted, calls, name))
    session: Session | None = None
    try:
        for number in range(start, len(script.operations)):
            operation = script.operations[number]
            if isinstance(operation, Kill):
                sender.send(number)
                _arm(operation)
                continue
            session = session or _opened(script, directory, number)
            if isinstance(operation, Reopen):
                session.close()
                session = _opened(script, directory, number)
            else:
                _perform(session, operation, number)
            sender.send(number)
        session = session or _opened(script, directory, len(script.operations))
        found = _outcome(session, directory)
        session.close()
        sender.send(replace(found, calls=dict(calls)))
    except BaseException:
        sender.send(traceback.format_exc())


def _opened(script: Script, directory: Path, number: int) -> Session:
    """A session with all that the script defines, with the options of that time."""
    reopened = [o for o in script.operations[: number + 1] if isinstance(o, Reopen) and o.options]
    options = (reopened[-1].options if reopened else None) or script.options
    session = script.open(directory / "state", options)
    _define(script, session, directory)
    return session


def _define(script: Script, session: Session, directory: Path) -> None:
    """Whatever is not there yet: sources, views, and a sink for each view."""
    known = session.engine.manifest.definitions
    match script.pipeline:
        case str(text):
            for statement in parse(text):
                if not isinstance(statement, DEFINITIONS):
                    raise ScriptError(f"a pipeline is CREATE statements, and not {statement.text}")
                if statement.name.text not in known:
                    Commands(session).run(statement)
        case Plans(sources, views):
            for source in sources:
                if source.name not in known:
                    session.engine.define(source.name, source)
            for name, plan in views.items():
                if name not in known:
                    session.create_view(name, plan)
    for name in session.engine.views:
        folder = directory / "sinks" / file_name(name)
        session.view(name).sink(partial(deliver, folder), name=name)


def _perform(session: Session, operation: Operation, number: int) -> None:
    match operation:
        case Rows(source, rows, batch):
            schema = session.engine.source(source).schema
            columns = [pa.array([r[i] for r in rows], f.type) for i, f in enumerate(schema)]
            table = pa.Table.from_arrays(columns, schema=schema)
            if batch is None:
                session.engine.receive_rows(source, session.spark.createDataFrame(table), number)
            else:
                session.source(source).append(table, batch=batch)
        case Advance(source, to):
            session.source(source).advance(to)
        case Sql(text):
            session.sql(text)
        case Step():
            session.step()
        case Collect():
            session.engine.collect_garbage()


def deliver(folder: Path, rows: Any, version: int) -> None:
    """A sink of files: each version in one of its own, which appears whole; again: the same."""
    folder.mkdir(parents=True, exist_ok=True)
    path, draft = folder / f"{version}.arrow", folder / f"{version}.draft"
    table = rows.toArrow()
    if path.exists():
        assert _records(table) == _records(feather.read_table(path)), f"not as before: {path}"
    feather.write_feather(table, draft, compression="uncompressed")
    os.replace(draft, path)


def _outcome(session: Session, directory: Path) -> Outcome:
    views = {name: session.view(name) for name in session.engine.views}
    state = session.engine.source_state
    return Outcome(
        changes={name: _records(view.changes().toArrow()) for name, view in views.items()},
        snapshots={name: _records(view.snapshot().toArrow()) for name, view in views.items()},
        delivered={
            name: sum(
                (
                    _records(feather.read_table(path))
                    for path in sorted((directory / "sinks" / file_name(name)).glob("*.arrow"))
                ),
                Counter(),
            )
            for name in views
        },
        received={n: (state(n).accepted, state(n).late) for n in session.engine.sources},
    )


def _records(table: pa.Table) -> Records:
    columns = [column.to_pylist() for column in table.columns]
    return Counter(hashable(row) for row in zip(*columns, strict=True))


def _arm(kill: Kill) -> None:
    if kill.at is not None:
        _patch(kill.at, partial(_deadly, kill))
    elif not kill.delay:
        _die()


def _deadly(kill: Kill, function: Callable[..., Any]) -> Callable[..., Any]:
    calls = count(1)

    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        call = next(calls)  # threads may call it at the same time
        if call == kill.call and not kill.after:
            _die()
        result = function(*args, **kwargs)
        if call == kill.call and kill.after:
            _die()
        return result

    return wrapped


def _counted(calls: Counter[str], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        calls[name] += 1
        return function(*args, **kwargs)

    return wrapped


def _patch(name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace a function, given by its full name, by a wrapped one."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        with suppress(ModuleNotFoundError):
            owner: Any = importlib.import_module(".".join(parts[:end]))
            break
    for part in parts[end:-1]:
        owner = getattr(owner, part)
    setattr(owner, parts[-1], wrap(getattr(owner, parts[-1])))


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
