"""A service under a supervisor: `penstock run FILE --path DIR`, killed and started again.

Rows come to the directory that the file's source reads while the service runs. It dies by `kill -9`
as soon as it has made some more commits: in the middle of its first statements, of receiving, of a
step. In the end it is left alone until all is done, and told to stop by SIGTERM.

`python -m tests.faults.supervised --kills 40` does so for longer than a test may.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from penstock.runtime.options import Options
from penstock.runtime.spark import start_spark
from penstock.session import connect
from penstock.state.log import read_manifest
from penstock.testing import local_session

PIPELINE = """
-- what a room was last, how hot it was lately, and both together
CREATE SOURCE readings (room STRING, temp INT, t INT)
  USING json OPTIONS (path 'in', maxFilesPerTrigger '2') EVENT TIME t;
CREATE STREAM latest OVER readings KEY (room);
CREATE VIEW hot AS SELECT room, temp FROM latest WHERE temp > 50;
CREATE VIEW lately AS
  SELECT room, count(*) AS n, max(temp) AS temp FROM readings [RANGE 15] GROUP BY room;
CREATE VIEW both AS SELECT hot.room, n FROM hot JOIN lately ON hot.room = lately.room;
PUNCTUATE readings WHERE room = 'none';
"""
VIEWS = ("hot", "lately", "both")
ROWS = 20
Changes: TypeAlias = dict[str, Counter[Any]]
_PATIENCE = 900.0


def feed(folder: Path, number: int) -> None:
    """The next file of rows comes into being whole, and is later than those before it."""
    rng, lines = Random(number), []
    for t in range(number * ROWS, (number + 1) * ROWS):
        room = f"room {rng.randrange(5)}" if rng.random() < 0.95 else "none"
        lines.append(json.dumps({"room": room, "temp": rng.randrange(100), "t": t}))
    draft = folder / f".{number}"
    draft.write_text("\n".join(lines))
    os.utime(draft, (1_700_000_000 + number,) * 2)
    draft.rename(folder / f"{number:05}.json")


@dataclass
class Service:
    """`penstock run` on a pipeline file, in a process of its own."""

    directory: Path
    arguments: tuple[str, ...] = ()
    log: Path = field(init=False)

    def __post_init__(self) -> None:
        temporary = Path(tempfile.gettempdir()).resolve()
        assert temporary in self.directory.resolve().parents, "put at risk only what is temporary"
        self.log = self.directory / "state" / "log"
        (self.directory / "in").mkdir(parents=True, exist_ok=True)
        (self.directory / "pipeline.sql").write_text(PIPELINE)

    def start(self) -> subprocess.Popen[bytes]:
        root = Path(__file__).parents[2]
        command = [sys.executable, "-m", "penstock", "run", "pipeline.sql", "--path", "state"]
        with (self.directory / "printed").open("ab") as printed:
            return subprocess.Popen(
                [*command, *self.arguments],
                cwd=self.directory,
                env={**os.environ, "PYTHONPATH": str(root / "src")},
                stdout=printed,
                stderr=printed,
            )

    @property
    def version(self) -> int:
        heads = [path.name for path in self.log.glob("*.head")] if self.log.is_dir() else []
        return max((int(name.split("-")[0]) for name in heads), default=0)

    @property
    def frontier(self) -> int:
        return read_manifest(self.log).frontier if self.version else 0

    def printed(self) -> str:
        return (self.directory / "printed").read_text("utf-8")

    def changes(self) -> Changes:
        """Everything that the views have ever told, read without Spark."""
        found: Changes = {}
        with local_session(self.directory / "state", Options()) as db:
            for view in VIEWS:
                rows = db.view(view).changes().toArrow().to_pylist()
                found[view] = Counter(tuple(row.values()) for row in rows)
        return found


def supervised(directory: Path, files: int, commits: list[int]) -> Changes:
    """The changelog of a service that dies when it has made so many commits, each time anew."""
    service, fed = Service(directory), 0
    for more in commits:
        process, target = service.start(), service.version + more
        deadline, seen = time.monotonic() + _PATIENCE, -1
        while (version := service.version) < target:
            assert process.poll() is None, service.printed()
            assert time.monotonic() < deadline, f"no {more} commits in time: {service.printed()}"
            if version != seen and fed < files - 1:
                feed(directory / "in", fed)
                fed, seen = fed + 1, version
            elif fed == files - 1 and service.frontier >= fed * ROWS - 1:
                break  # all is done, and no more commits will come
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    while fed < files:
        feed(directory / "in", fed)
        fed += 1
    process, deadline = service.start(), time.monotonic() + _PATIENCE
    while service.frontier < files * ROWS - 1:  # which it does not reach before it heeds signals
        assert process.poll() is None, service.printed()
        assert time.monotonic() < deadline, f"not all is done in time: {service.printed()}"
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(_PATIENCE) == 0, service.printed()
    assert "Stopped. All that was done is kept." in service.printed()
    return service.changes()


def undisturbed(directory: Path, files: int, spark: Any) -> Changes:
    """The changelog of one run, in this process."""
    service = Service(directory)
    for number in range(files):
        feed(directory / "in", number)
    text = PIPELINE.replace("'in'", f"'{directory / 'in'}'")
    with connect(directory / "state", spark=spark) as db:
        db.sql(text)
        while db.step() is not None:
            pass
    return service.changes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--files", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = Random(given.seed)
    commits = [rng.choice((1, 1, 2, 3, 5)) for _ in range(given.kills)]
    with tempfile.TemporaryDirectory(prefix="supervised-") as folder:
        expected = undisturbed(Path(folder, "undisturbed"), given.files, start_spark("local[2]"))
        found = supervised(Path(folder, "killed"), given.files, commits)
    for view in VIEWS:
        assert found[view] == expected[view], view
        print(f"{view}: {expected[view].total():,} changes, the same")
    print(f"{given.kills} kills, {given.files * ROWS:,} rows, seed {given.seed}")


if __name__ == "__main__":
    main()
