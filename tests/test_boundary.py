"""Around every public call: arguments are looked at, there is room, and errors are ours."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pytest
from py4j.protocol import Py4JError

import penstock
from penstock import errors
from penstock.boundary import ROOM, headroom, in_a_sentence, public
from penstock.errors import ArgumentError, PenstockError, SparkError, StateError, brief
from penstock.execution.problems import problem_of

TRACE = """An error occurred while calling o1.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:1)
Caused by: org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The value 'x' of the \
type "STRING" cannot be cast to "INT" because it is malformed. SQLSTATE: 22018
== SQL (line 1, position 8) ==
CAST(k AS INT)
\tat org.apache.spark.sql.errors.QueryExecutionErrors.invalidInputInCastToNumberError(Q.scala:1)
"""


class Counter:
    """What a call is refused for must not have happened."""

    calls = 0


@public
def takes(
    text: str,
    number: int = 0,
    share: float = 0.0,
    names: Sequence[str] = (),
    by_name: Mapping[str, int] | None = None,
    word: Literal["a", "b"] = "a",
    flag: bool = False,
    *more: int,
) -> None:
    Counter.calls += 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((None,), "Found None for text of takes(), expected a text."),
        (("", "1"), "Found '1' for number of takes(), expected a whole number."),
        (("", True), "Found True for number of takes(), expected a whole number."),
        (("", 0, "1"), "expected a number."),
        (("", 0, 0, "abc"), "Found 'abc' for names of takes(), expected a list of values"),
        (("", 0, 0, [1]), "each a text"),
        (("", 0, 0, [], {1: 1}), "expected a dict from a text to a whole number or None."),
        (("", 0, 0, [], None, 5), "expected one of 'a', 'b'."),
        (("", 0, 0, [], None, "a", 1), "expected True or False."),
        (("", 0, 0, [], None, "a", True, None), "Found None for more of takes()"),
        ((), "missing a required argument: 'text'"),
    ],
)
def test_arguments_of_another_kind_are_refused(arguments: tuple[Any, ...], said: str) -> None:
    before = Counter.calls
    with pytest.raises(ArgumentError) as found:
        takes(*arguments)
    assert said in str(found.value)
    assert isinstance(found.value, TypeError)
    assert Counter.calls == before


def test_what_is_meant_is_taken() -> None:
    import numpy as np

    whole: Any = np.int64(1)
    takes("", whole, np.float64(2), ["a"], {"a": 1}, "b", True, 1, 2)
    takes("", 10**5000, 3)


@public
def recursive(depth: int) -> int:
    def inside(left: int) -> int:
        return 0 if left == 0 else 1 + inside(left - 1)

    return inside(depth)


def from_below(depth: int, call: Callable[[], Any]) -> Any:
    return call() if depth == 0 else from_below(depth - 1, call)


def test_there_is_the_same_room_however_deep_the_caller_is() -> None:
    before, limit = sys.getrecursionlimit(), 1000  # Python's own, whatever a library has made of it
    sys.setrecursionlimit(limit)
    try:
        assert from_below(limit - 200, lambda: recursive(2 * limit)) == 2 * limit
        assert sys.getrecursionlimit() == limit
    finally:
        sys.setrecursionlimit(before)


def test_what_needs_more_room_is_refused_by_name() -> None:
    with pytest.raises(penstock.UnsupportedError, match="nested too deeply"):
        recursive(2 * ROOM)


def test_the_room_lasts_until_the_last_thread_has_left() -> None:
    limit, inside, leave = sys.getrecursionlimit(), threading.Event(), threading.Event()

    def wait() -> None:
        with headroom():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=wait)
    thread.start()
    inside.wait(10)
    with headroom():
        pass
    assert sys.getrecursionlimit() > limit
    leave.set()
    thread.join()
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("size", [1_000, 10_000_000])
@pytest.mark.parametrize("what", ["message", "sql", "lines"])
def test_messages_fit_on_a_screen(size: int, what: str) -> None:
    sql = "a" * size + " b " + "c" * size
    error = PenstockError(
        "m\n" * size if what == "lines" else "m" * (size if what == "message" else 5),
        context=errors.SqlContext(sql, size + 1, size + 2) if what == "sql" else None,
    )
    text = str(error)
    assert len(text) < 2_000
    assert text.count("\n") < 24
    if what == "sql":
        line, marks = text.split("\n")[-2:]
        assert line[marks.index("^")] == "b"


def test_messages_can_be_printed_whatever_is_in_them() -> None:
    text = str(PenstockError("\ud800", context=errors.SqlContext("\ud800 x", 0, 1)))
    assert text.encode("utf-8")


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError


def test_any_object_can_be_told() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert brief(Unshowable()) == "a value of type Unshowable"
    assert brief(10**5000) == "a value of type int"
    assert brief(deep) == "a value of type list"
    assert len(brief("x" * 10**7)) < 100


def test_a_trace_of_java_becomes_its_innermost_reason() -> None:
    found = in_a_sentence(RuntimeError(TRACE))
    assert type(found) is SparkError
    assert found.getCondition() == "CAST_INVALID_INPUT"
    assert found.getSqlState() == "22018"
    assert "The value 'x'" in str(found)
    assert "\tat" not in str(found)
    assert "Exception" not in str(found)


def test_our_errors_come_back_from_workers_as_they_were() -> None:
    trace = (
        "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  {}\n"
    )
    overflow = in_a_sentence(RuntimeError(trace.format(errors.ArithmeticOverflowError("a + b"))))
    assert type(overflow) is errors.ArithmeticOverflowError
    missing = in_a_sentence(RuntimeError(trace.format(StateError("runs/1", "is not there"))))
    assert type(missing) is StateError
    assert str(missing.path) == "runs/1"
    ended = (
        "[STREAM_FAILED] Query ended: [FOREACH_BATCH] Why: penstock.errors.{}: {} SQLSTATE: 39000"
    )
    bad = errors.RejectedRowError("s: 1 record is bad.")
    batch = in_a_sentence(RuntimeError(ended.format("RejectedRowError", bad)))
    assert type(batch) is errors.RejectedRowError
    assert batch.sentence == "s: 1 record is bad."


def test_a_reason_without_a_condition_is_told_in_a_line() -> None:
    found = in_a_sentence(RuntimeError("x\n: java.lang.OutOfMemoryError: full\n\tat a.b(c:1)\n"))
    assert str(found) == "[SPARK_ERROR] Spark says: OutOfMemoryError: full SQLSTATE: 58000"


def test_a_stack_that_overflows_is_of_an_expression_with_too_many_terms() -> None:
    trace = "An error occurred.\n: java.lang.StackOverflowError\n\tat a.b(c:1)\n"
    found = in_a_sentence(Py4JError(trace))
    assert type(found) is errors.UnsupportedError
    assert "more terms in a row than" in str(found)
    problem = problem_of(Py4JError(trace))
    assert problem is not None
    assert "more terms in a row than" in problem.reason
