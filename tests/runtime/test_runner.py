"""Whoever brings rows waits for the step under way, and for no other."""

from __future__ import annotations

import threading
import time

from penstock.runtime.runner import ROWS_AHEAD, Runner


class Steps:
    """Steps that take until they are let go."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.runner = Runner(self.step, lambda: None)

    def step(self) -> None:
        self.begun.release()
        self.go.acquire()


def _brought(runner: Runner, rows: int) -> threading.Thread:
    thread = threading.Thread(target=runner.wake, args=(rows,))
    thread.start()
    return thread


def test_few_rows_do_not_wait() -> None:
    steps = Steps()
    steps.runner.wake(10 * ROWS_AHEAD)  # nothing is under way
    steps.runner.start()
    steps.begun.acquire()
    steps.runner.wake(ROWS_AHEAD - 1)
    steps.go.release(2)
    steps.runner.stop()


def test_many_rows_wait_for_the_end_of_the_step() -> None:
    steps = Steps()
    steps.runner.start()
    steps.begun.acquire()
    bringing = _brought(steps.runner, ROWS_AHEAD)
    time.sleep(0.05)
    assert bringing.is_alive()
    steps.go.release()
    bringing.join(timeout=5)
    assert not bringing.is_alive()
    steps.go.release()
    steps.runner.stop()


def test_a_step_that_fails_lets_them_go() -> None:
    steps = Steps()

    def fail() -> None:
        steps.step()
        raise ValueError("no")

    runner = Runner(fail, lambda: None)
    runner.start()
    steps.begun.acquire()
    bringing = _brought(runner, ROWS_AHEAD)
    time.sleep(0.05)
    steps.go.release()
    bringing.join(timeout=5)
    assert not bringing.is_alive()
    try:
        runner.stop()
    except ValueError:
        return
    raise AssertionError("the error was lost")
