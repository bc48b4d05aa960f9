"""A query in a process of its own, on two cores, with the memory that it and its children hold."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.nexmark.engines import CORES, ROOT, Engine
from bench.nexmark.worker import BEGUN, REACHED, family

EVERY = 0.5
LONGEST_START = 300.0


@dataclass(frozen=True)
class Measured:
    """Seconds of the start and of the run, the most memory, in bytes, at any moment, and the
    seconds that processors worked, where that is known; which part of the events that is for."""

    startup: float
    seconds: float
    memory: int
    processors: float = 0.0
    part: float = 1.0


class RunError(Exception):
    pass


class TooSlowError(RunError):
    """A run was broken off: it takes longer than `until`, and at least as much memory."""

    def __init__(self, until: Measured) -> None:
        part = "" if until.part == 1 else f" for {until.part:.0%} of the events"
        super().__init__(f"it took more than {until.seconds:.0f} s{part}")
        self.until = until


def measure(engine: Engine, query: str, data: Path, warm: Path, timeout: float) -> Measured:
    with tempfile.TemporaryDirectory(prefix="nexmark-") as directory:
        report = Path(directory) / "report.json"
        memory = run(engine, query, data, warm, timeout, Path(directory))
        if not report.exists():
            raise RunError("it ended without a report")
        told = json.loads(report.read_text())
    return Measured(told["startup"], told["seconds"], memory, told["processors"])


def run(
    engine: Engine, query: str, data: Path, warm: Path, timeout: float, directory: Path, *more: str
) -> int:
    """Run a worker to its end; the most memory that was seen.

    It has `timeout` seconds from when it says that it begins, and has to begin in a while.
    """
    arguments = [query, "--report", str(directory / "report.json"), *more]
    arguments += ["--data", str(data / "csv" if engine.text else data)]
    arguments += ["--warm", str(warm / "csv" if engine.text else warm)]
    command = engine.command(*arguments, "--launched", str(time.time()))
    log = directory / "log"
    variables = {**engine.variables(), "TMPDIR": str(directory)}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=variables,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=two_cores,
        )
        try:
            return _watched(process, directory, timeout)
        except TooSlowError:
            raise
        except RunError as error:
            raise RunError(f"{error}: {last_words(log)}") from None
        finally:
            _end(process)


def two_cores() -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])


def _watched(process: subprocess.Popen[bytes], directory: Path, timeout: float) -> int:
    most, launched, begun = 0, time.time(), directory / BEGUN
    while process.poll() is None:
        most = max(most, resident(process.pid))
        startup, seconds = _spent(launched, begun)
        if startup > LONGEST_START:
            raise RunError(f"it did not begin in {LONGEST_START:.0f} s")
        if seconds > timeout:
            part, seconds = _reached(directory, timeout)
            raise TooSlowError(Measured(startup, seconds, most, part=part))
        time.sleep(EVERY)
    if process.returncode:
        raise RunError(_ended(process.returncode, most))
    return most


def _ended(code: int, memory: int) -> str:
    if code == -signal.SIGKILL:
        return f"it was killed when it held at least {memory >> 20:,} MB"
    return f"it ended with {code}"


def _spent(launched: float, begun: Path) -> tuple[float, float]:
    """The seconds of start-up and those since, until now."""
    now = time.time()
    start = begun.stat().st_mtime if begun.exists() else now
    return start - launched, now - start


def _reached(directory: Path, timeout: float) -> tuple[float, float]:
    """The part of the events that has been through, and in how long; all of them, in more than the
    time that there was, where nothing is known."""
    reached = directory / REACHED
    if not reached.exists():
        return 1.0, timeout
    return float(reached.read_text()), reached.stat().st_mtime - (directory / BEGUN).stat().st_mtime


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the worker's processes, which are a group of their own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def last_words(log: Path) -> str:
    """The end of what a worker said, or the line that tells most."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines()]
    causes = [line for line in lines if "Exception: " in line or "Error: " in line]
    told = causes or [line for line in lines if line]
    return told[-1][:300] if told else "it said nothing"


def resident(process: int) -> int:
    """The bytes that a process and all below it hold in memory.

    A page that several of them share is counted once: each has its part of it.
    """
    return sum(map(_proportional, family(process))) * 1024


def _proportional(process: int) -> int:
    """The proportional set size, in kilobytes."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
