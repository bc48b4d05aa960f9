"""Answers are compared as they should be."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.nexmark.checking import as_numbers, same
from bench.nexmark.worker import BEGUN, Job

TWO: Counter[tuple[Any, ...]] = Counter([("a", 1.0), ("b", 2.0)])
ONE: Counter[tuple[Any, ...]] = Counter([("a", 1.0)])


def test_answers_have_the_same_rows() -> None:
    assert same("q0", TWO, TWO)
    assert not same("q0", ONE, TWO)
    assert not same("q0", TWO, ONE)


def test_an_unfinished_answer_may_lack_rows_but_not_all_and_has_none_too_many() -> None:
    assert same("q0", ONE, TWO, unfinished=True)
    assert not same("q0", TWO, ONE, unfinished=True)
    assert not same("q0", Counter(), TWO, unfinished=True)


def test_times_are_compared_to_the_millisecond() -> None:
    assert as_numbers([[1436918400982923, 3]]) == as_numbers([[1436918400982000, 3.0000000001]])
    assert as_numbers([[1436918400983000]]) != as_numbers([[1436918400982000]])


def test_a_worker_answers_queries_and_tells_what_went_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [f"--{name}={tmp_path}" for name in ("data", "warm", "report", "answers")]
    monkeypatch.setattr(sys, "argv", ["worker", "q1,q2", *folders, "--launched=0"])
    job = Job.of_arguments()

    def rows_of(query: str) -> list[list[Any]]:
        if query == "q2":
            raise ValueError("no such query")
        return [[1, "a"]]

    job.answer(rows_of)
    assert json.loads((tmp_path / "q1.json").read_text()) == {"rows": [[1, "a"]]}
    assert json.loads((tmp_path / "q2.json").read_text()) == {"error": "no such query"}


def test_what_comes_before_the_timed_part_is_start_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter([110.0, 114.0])
    monkeypatch.setattr("bench.nexmark.worker.time.time", lambda: next(moments))
    job = Job("q0", tmp_path, tmp_path, tmp_path / "report.json", launched=100.0)
    with job.timed():
        assert (tmp_path / BEGUN).exists()
    job.finish(steps=[1.0])
    told = json.loads(job.report.read_text())
    assert told.pop("processors") >= 0.0
    assert told == {"startup": 10.0, "seconds": 4.0, "steps": [1.0]}
