"""Plant small random faults in a copy of the package, and list those that no test notices.

    python -m tests.mutants --seed 1 --count 20 src/penstock/state

Of the libraries for this none fits: mutmut 3 leaves decorated functions and all that is outside of
functions as it is, and runs every test in a fork of one process, Spark's Java included; cosmic-ray
writes the faults into the working tree and has one command for all of them; mutatest is not kept.

The fault is in a copy, in a directory that is made here. Of the tests that run its line, as they
were recorded, those go first that take the shortest time; the first that fails ends it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from tests.mutants.faults import Fault, sample
from tests.mutants.recording import MARKS, Recording, Test, paths, pytest_command

ROOT = Path(__file__).parents[2]
FAST = ("-m", "not spark and not long")
LEFT = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info")
LONGEST_TEST = 60
FAILED = re.compile("(FAILED|ERROR) ")


@dataclass(frozen=True)
class Verdict:
    fault: Fault
    tests: tuple[Test, ...]
    """Those that could notice it, as far as there was time for them."""
    noticed: str
    """By which test, or what happened before one could fail; nothing where none failed."""

    @property
    def by(self) -> str:
        marks = {test.name: test.mark for test in self.tests}
        return marks.get(self.noticed, MARKS[0]) if self.noticed else ""


class Copy:
    """A copy of a project in a directory that is deleted at the end, where faults may be."""

    def __init__(self, root: Path) -> None:
        self._made = TemporaryDirectory(prefix="mutants-")
        self._folder = Path(self._made.name).resolve()
        self._root = self._folder / "copy"
        shutil.copytree(root, self._root, ignore=LEFT)

    def __enter__(self) -> Copy:
        return self

    def __exit__(self, *_: object) -> None:
        self._made.cleanup()

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        path = (self._root / fault.path).resolve()
        if not path.is_relative_to(self._root):
            raise ValueError(f"{fault.path} is outside of the copy")
        source, times = path.read_bytes(), path.stat()
        path.write_bytes(fault.planted(source))
        try:
            yield
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def failing(self, tests: Sequence[Test], first: bool = True) -> list[str]:
        """Which of the tests fail, or the first of them; what went wrong where none could."""
        chosen, output = self._folder / "chosen", self._folder / "output"
        chosen.write_text(json.dumps([test.name for test in tests]), "utf-8")
        command = [
            *pytest_command(),
            f"--chosen={chosen}",
            *(["--exitfirst"] if first else []),
            *["-o", f"faulthandler_timeout={LONGEST_TEST}"],
            *["-o", "faulthandler_exit_on_timeout=true"],
            *dict.fromkeys(test.name.partition("::")[0] for test in tests),
        ]
        # what is compiled of the fault must not be taken for the file without it
        env = dict(os.environ, PYTHONPATH=paths(self._root), PYTHONDONTWRITEBYTECODE="1")
        longest = 2 * LONGEST_TEST + 3 * sum(test.seconds for test in tests)
        with output.open("wb") as written:
            process = subprocess.Popen(
                command,
                cwd=self._root,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            status = ended(process, longest)
        text = output.read_text("utf-8", errors="replace")
        if status in (0, 5):  # the latter: none of them is there any more
            return []
        failed = [line.partition(" ")[2] for line in text.splitlines() if FAILED.match(line)]
        names = [
            t.name for t in tests if any(f"{line} - ".startswith(f"{t.name} - ") for line in failed)
        ]
        if names or failed:
            return names or failed
        return ["a test without an end" if status < 0 or "Timeout" in text else "no test can begin"]


def ended(process: subprocess.Popen[bytes], longest: float) -> int:
    """How a process ended, or was ended; of its group nothing is left.

    It is waited for last, so that its number is that of no other group when its own is ended.
    """
    deadline = monotonic() + longest
    look = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while os.waitid(os.P_PID, process.pid, look) is None and monotonic() < deadline:
        sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def verdict(copy: Copy, fault: Fault, tests: Sequence[Test], seconds: float) -> Verdict:
    """Whether tests notice a fault that together take about so many seconds."""
    most: list[Test] = []
    spent = 0.0
    for test in tests:
        spent += test.seconds
        if most and spent > seconds:
            break
        most.append(test)
    with copy.planted(fault):
        failing = copy.failing(most) if most else []
    return Verdict(fault, tuple(most), failing[0] if failing else "")


def shown(found: Verdict, source: bytes) -> str:
    """A fault as a difference of lines, and who noticed it or did not."""
    files = Counter(test.name.partition("::")[0] for test in found.tests)
    ran = ", ".join(f"{file} ({count})" for file, count in files.items()) or "no test runs it"
    head = f"{found.fault.path}:{found.fault.line}: "
    if found.noticed:
        return head + f"noticed by {found.noticed}"
    return "\n".join([head + "not noticed", *found.fault.diff(source), f"  ran: {ran}"])


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, default=[Path("src")])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120, help="for the tests of one fault")
    parser.add_argument("--record", nargs=argparse.REMAINDER, help="what to give to pytest")
    options = parser.parse_args(arguments)
    recording = Recording(root)
    if options.record is not None or not recording:
        recording.record(options.record or FAST)
        if options.record is not None:
            return 0
    files = sorted(
        file for path in options.paths for file in [root / path, *(root / path).rglob("*.py")]
    )
    sources = {str(f.relative_to(root)): f.read_bytes() for f in files if f.suffix == ".py"}
    for path in recording.stale(sources):
        print(f"{path} has changed since the tests were recorded: delete build/mutants")
    verdicts = []
    with Copy(root) as copy:
        for fault in sample(sources, options.count, options.seed):
            found = verdict(copy, fault, recording.tests_of(fault), options.seconds)
            print(shown(found, sources[fault.path]), flush=True)
            verdicts.append(found)
        noticing = {t for found in verdicts for t in found.tests if t.name == found.noticed}
        unreliable = (
            copy.failing(sorted(noticing, key=lambda t: t.name), first=False) if noticing else []
        )
    by = Counter(found.by for found in verdicts)
    counts = [f"{by[mark]} noticed by {mark} tests" for mark in MARKS if by[mark]]
    print(f"{len(verdicts)} faults: {', '.join(counts)}, {by['']} by none")
    for name in unreliable:
        print(f"fails without a fault too: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
