"""Errors of expressions: which they are, why they came, and from which row.

Law: an expression error belongs to the views that have the expression. Any other error, of a file
or of a lost process, belongs to whoever meets it.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pyspark.errors import PySparkException

from penstock.boundary import TOO_MANY_TERMS, is_overflow
from penstock.element import Elements
from penstock.errors import (
    ArithmeticOverflowError,
    DivisionByZeroError,
    ExpressionError,
    PenstockError,
)
from penstock.execution.spark_errors import objection

T = TypeVar("T")
_OURS = (ArithmeticOverflowError, DivisionByZeroError, ExpressionError)
_CLASSES = {kind.condition: kind for kind in _OURS}
_DATA_EXCEPTIONS = "22"
"""The class of SQLSTATEs of errors that values cause."""
_USER_FUNCTION = "FAILED_EXECUTE_UDF"
_WORKER = ("penstock/execution/", "penstock/ingest/", "penstock/runtime/", "penstock.errors.")
"""What the trace of an error in a task has where it comes from Penstock and not from a function."""
_LONGEST = 500


BACK_OFF = (0.1, 0.5, 2.0)
"""Seconds before what failed by something that may pass is tried again."""
logger = logging.getLogger("penstock")


@dataclass(frozen=True)
class Problem:
    """Why an expression has no value, the name of the error, and the row, where it is known."""

    reason: str
    condition: str = ""
    row: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.reason} (row: {self.row})" if self.row else self.reason

    def error(self, who: str = "") -> PenstockError:
        """The same as an exception, for those who asked for the value."""
        kind = _CLASSES.get(self.condition, ExpressionError)
        return kind(f"{who}: {self.sentence}" if who else self.sentence)


def problem_of(error: BaseException) -> Problem | None:
    """What an expression fails by; None for an error that no expression caused."""
    if isinstance(error, PenstockError):
        own = isinstance(error, _OURS)
        return Problem(_short(error.sentence), error.condition) if own else None
    if is_overflow(error):
        return Problem(TOO_MANY_TERMS)
    if not isinstance(error, PySparkException):
        return None
    text, condition = str(error), str(error.getCondition() or "")
    if "PythonException" in text or type(error).__name__ == "PythonException":
        if any(place in text for place in _WORKER):
            return None
        return Problem(_short(_last_of_trace(text)), condition or "PYTHON_FUNCTION")
    if str(error.getSqlState() or "").startswith(_DATA_EXCEPTIONS) or condition == _USER_FUNCTION:
        return Problem(_short(str(objection(error))), condition)
    return None


def check(failures: Mapping[str, Problem]) -> None:
    """Raise the first of what failed, where nothing can go on without it."""
    for problem in failures.values():
        raise problem.error()


def tried(what: str, run: Callable[[], T]) -> T:
    """Run it, and again after a while where it fails by something that may pass."""
    for seconds in BACK_OFF:
        try:
            return run()
        except Exception as error:
            if not may_pass(error):
                raise
            logger.warning("%s failed, again in %s s: %s", what, seconds, _line(error))
        time.sleep(seconds)
    return run()


def may_pass(error: Exception) -> bool:
    """Whether trying again may help: an executor is lost, a disk is busy."""
    ours = isinstance(error, PenstockError) or "penstock.errors." in str(error)
    return not ours and problem_of(error) is None


def _line(error: BaseException) -> str:
    """The first line of what an exception says."""
    return f"{type(error).__name__}: {error}".split("\n")[0][:500]


def first_problem(
    run: Callable[[Elements], object], x: Elements, names: Sequence[str] | None = None
) -> str:
    """The first row on which a function of rows fails, in the columns of these names.

    Empty where no row alone makes it fail.
    """
    low, high = 0, len(x)
    while high - low > 1:
        middle = (low + high) // 2
        if _fails(run, x.slice(low, middle)):
            high = middle
        else:
            low = middle
    row = x.slice(low, high)
    if not len(row) or not _fails(run, row):
        return ""
    values = ((name, row.column(name)[0].as_py()) for name in names or row.schema.names)
    return _short(", ".join(f"{name} = {value!r}" for name, value in values))


def _fails(run: Callable[[Elements], object], x: Elements) -> bool:
    try:
        run(x)
    except PenstockError:
        return True
    return False


def _last_of_trace(text: str) -> str:
    """What a Python function raised: the last line of its trace."""
    trace = text.split("Traceback (most recent call last):")[-1]
    lines = [line for line in trace.splitlines() if line and not line[0].isspace()]
    raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Warning|Exit)?\b", line)]
    return raised[0] if raised else text.split("\n")[0]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
