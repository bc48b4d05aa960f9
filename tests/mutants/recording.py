"""Which tests run which lines of the package, and how long each takes: recorded once, in build/."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coverage import CoverageData

from tests.mutants.faults import Fault
from tests.mutants.plugin import RUNNING

MARKS = ("fast", "long", "spark")
SETTINGS = """
[run]
data_file = {folder}/lines
source = {source}
parallel = true
context = ${{{running}-}}
disable_warnings = no-data-collected,module-not-measured,module-not-imported
"""


@dataclass(frozen=True)
class Test:
    name: str
    seconds: float
    mark: str


class Recording:
    def __init__(self, root: Path) -> None:
        self._root, self._folder = root, root / "build" / "mutants"
        self._lines, self._times = self._folder / "lines", self._folder / "times"

    def __bool__(self) -> bool:
        return self._lines.exists() and self._times.exists()

    def record(self, arguments: Sequence[str]) -> None:
        """Run tests, and add what they run to what is recorded."""
        self._folder.mkdir(parents=True, exist_ok=True)
        settings = self._folder / "settings"
        settings.write_text(
            SETTINGS.format(folder=self._folder, source=self._root / "src", running=RUNNING),
            "utf-8",
        )
        env = dict(os.environ, COVERAGE_PROCESS_START=str(settings), PYTHONPATH=paths(self._root))
        command = [*pytest_command(), f"--times={self._times}", *arguments]
        subprocess.run(command, cwd=self._root, env=env, check=False)
        combine = [sys.executable, "-m", "coverage", "combine", "-q", "--append"]
        subprocess.run([*combine, f"--rcfile={settings}"], cwd=self._root, check=True)

    def stale(self, files: Iterable[str]) -> list[str]:
        """The files that are newer than what is recorded."""
        recorded = self._lines.stat().st_mtime
        return [path for path in files if (self._root / path).stat().st_mtime > recorded]

    def tests_of(self, fault: Fault) -> list[Test]:
        """The tests that can notice a fault: without Spark, and quick, first."""
        by_line = self._contexts(str(self._root / fault.path))
        first, last = fault.within or (1, max(by_line, default=0))
        names = {name for line in range(first, last + 1) for name in by_line.get(line, ())}
        tests = [test for test in self._all() if test.name in names]
        return sorted(tests, key=lambda test: (MARKS.index(test.mark), test.seconds, test.name))

    def _all(self) -> list[Test]:
        lines = map(json.loads, self._times.read_text("utf-8").splitlines())
        return list({name: Test(name, seconds, mark) for name, seconds, mark in lines}.values())

    def _contexts(self, path: str) -> dict[int, list[str]]:
        data = CoverageData(basename=str(self._lines))
        data.read()
        found: dict[int, list[str]] = data.contexts_by_lineno(path)
        return found


def paths(root: Path) -> str:
    """Where Python looks first: the package and the tests of a root, then this file's own."""
    own = Path(__file__).parents[2]
    present = filter(None, [os.environ.get("PYTHONPATH")])
    return os.pathsep.join(map(str, [root / "src", root, own, *present]))


def pytest_command() -> list[str]:
    plugins = ["-p", "no:cacheprovider", "-p", "tests.mutants.plugin"]
    return [sys.executable, "-m", "pytest", "-q", *plugins]
