"""What `make mutants` asks of pytest: to record which lines each test runs, to run chosen tests.

Loaded as `-p tests.mutants.plugin`. Other processes that a test starts record their lines as well,
in the name of the test that `RUNNING` holds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import pytest
from coverage import Coverage
from hypothesis import Phase, settings

RUNNING = "PENSTOCK_MUTANTS_TEST"
MARKS = ("spark", "long")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", help="append the test, its seconds and its mark to this file")
    parser.addoption("--chosen", help="run the tests of this file, in its order, and no others")


def pytest_sessionstart(session: pytest.Session) -> None:
    """That there is an example is enough: it is not made smaller."""
    if session.config.getoption("--chosen"):
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings.default, phases=phases)
        settings.load_profile("mutants")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if chosen := config.getoption("--chosen"):
        names: list[str] = json.loads(Path(chosen).read_text("utf-8"))
        place = {name: number for number, name in enumerate(names)}
        items[:] = sorted(
            (item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid]
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    recording = Coverage.current()
    if recording is None:
        return (yield)
    os.environ[RUNNING] = item.nodeid
    recording.switch_context(item.nodeid)
    began = perf_counter()
    done = yield
    recording.switch_context("")
    mark = next((mark for mark in MARKS if mark in item.keywords), "fast")
    with Path(item.config.getoption("--times")).open("a", encoding="utf-8") as times:
        times.write(json.dumps([item.nodeid, round(perf_counter() - began, 3), mark]) + "\n")
    return done
