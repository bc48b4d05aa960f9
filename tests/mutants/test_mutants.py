"""Faults are planted in a copy, and those that no test notices are told from the others."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.mutants.__main__ import ended, main
from tests.mutants.faults import faults, sample

MODULE = """
def clamped(x: int, low: int, high: int) -> int:
    if x < low:
        return low
    while x != high and x > high:
        x -= 1
    return x


def unused(x: int) -> int:
    return -x
"""
TESTS = """
from toy import clamped


def test_clamped():
    assert [clamped(x, 0, 5) for x in (-3, 2, 7)] == [0, 2, 5]
"""


@pytest.mark.parametrize(
    ("text", "faulty"),
    [
        ("a < b <= c", {"a <= b <= c", "a < b < c"}),
        ("a is not b", {"a is b"}),
        ("a not in (b)", {"a in (b)"}),
        ("(a) and (b or c)", {"(a) or (b or c)", "(a) and (b and c)"}),
        ("not (a)", {"(a)"}),
        ("-a + ~b", {"a + ~b", "-a + b", "-a - ~b"}),
        ("a[1:]", {"a[2:]"}),
        ("True", {"False"}),
        ("z = min(a, key=b)", {"z = max(a, key=b)", "z = min(a)"}),
        ("z = f(a, b, strict=c)", {"z = f(a, strict=c)"}),
        (
            "z = f('é' + b, side='left')",
            {"z = f('é' + b)", "z = f('é' + b, side=\"right\")"},
        ),
        ("f()", {"pass"}),
        ("raise a", {"pass"}),
        ("x if a else b", {"x if True else b", "x if False else b"}),
        ("[x for x in a if b]", {"[x for x in a if True]"}),
        ("a += b", {"a -= b"}),
        ("a: A | B = b | c", {"a: A | B = b & c"}),
        ("A: T = Int | Str", set()),
        ("'a' + b", set()),
        ("z = f(a, strict=True)", set()),
        ("if TYPE_CHECKING:\n    x = 1", set()),
        ("@f(a, b=c)\nclass A: pass", set()),
        ("def f(a: int | str = 1): pass", {"def f(a: int | str = 2): pass"}),
        ("match a:\n    case A(): x", {"match a:\n    case A() if False: x"}),
    ],
)
def test_each_kind_of_fault(text: str, faulty: set[str]) -> None:
    source = text.encode()
    assert {f.planted(source).decode() for f in faults("a.py", source)} == faulty


def test_a_fault_is_noticed_by_who_runs_its_statement() -> None:
    source = b"A = 1\ndef f():\n    if x < y:\n        g(1,\n          2)\n    return 3\n"
    lines = {f.line: f.within for f in faults("a.py", source)}
    assert lines == {1: None, 3: (3, 3), 4: (4, 5), 5: (4, 5), 6: (6, 6)}


def test_a_sample_is_a_function_of_its_seed() -> None:
    sources = {"a.py": MODULE.encode(), "b.py": b"A = 1"}
    assert sample(sources, 3, seed=1) == sample(dict(reversed(sources.items())), 3, seed=1)
    assert len({(f.path, f.line) for f in sample(sources, 99, seed=2)}) == 5


def test_what_is_noticed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, text in {"src/toy.py": MODULE, "tests/test_toy.py": TESTS}.items():
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(text, "utf-8")
    assert main(["--count", "9", "--seed", "1"], tmp_path) == 0
    told = capfd.readouterr().out
    assert "src/toy.py:3: noticed by tests/test_toy.py::test_clamped\n" in told
    assert (
        "src/toy.py:11: not noticed\n-    return -x\n+    return x\n  ran: no test runs it\n"
    ) in told
    assert told.endswith("4 faults: 2 noticed by fast tests, 2 by none\n")
    assert (tmp_path / "src/toy.py").read_text("utf-8") == MODULE


def test_what_does_not_end_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    code = f"""
import subprocess, sys, time
from pathlib import Path
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
Path({str(started)!r}).write_text(str(other.pid))
time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    while not (started.exists() and started.read_text()):
        time.sleep(0.01)
    assert ended(process, longest=0) == -signal.SIGKILL
    state, deadline = Path(f"/proc/{started.read_text()}/stat"), time.monotonic() + 60
    while state.exists() and ") Z " not in state.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
