"""What stands around every call that users make: `@public`, of a function or of all of a class.

Law: a call ends in success or in a PenstockError. Which one follows from what it is given, not from
how deep in a stack it is made. Arguments of the wrong kind are refused before anything happens.
What Spark objects to becomes a sentence; its traces stay in the `__context__`.
"""

from __future__ import annotations

import builtins
import inspect
import operator
import re
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, wraps
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from penstock.errors import (
    ArgumentError,
    PenstockError,
    PlanError,
    SparkError,
    SparkLostError,
    StateError,
    UnsupportedError,
    brief,
)

T = TypeVar("T")

_SECONDS_TO_ANSWER = 5.0

ROOM = 5_000
"""How many calls deep our own code may go. What is refused as nested too deeply stays below, and
the 8 MB of stack that a thread has are enough for as many."""

SPECIAL = ("__iter__", "__len__", "__str__", "__repr__", "_repr_html_")


def public(target: T) -> T:
    """A function or class of users: checks its arguments, has room, and raises our errors only."""
    if not inspect.isclass(target):
        wrapped: Any = _wrapped(target)
        return wrapped
    for name, member in list(vars(target).items()):
        if name.startswith("_") and name not in SPECIAL:
            continue
        if inspect.isfunction(member):
            setattr(target, name, _wrapped(member))
        elif isinstance(member, property):
            assert member.fget is not None
            setattr(target, name, property(_wrapped(member.fget), doc=member.__doc__))
    return target


def _wrapped(function: Any) -> Any:
    signature = inspect.signature(function)

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with entered():
            try:
                given = signature.bind(*args, **kwargs).arguments
            except TypeError as error:
                raise ArgumentError(f"{function.__qualname__}(): {error}.") from None
            for name, value in given.items():
                hint = _hints(function).get(name, Any)
                many = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
                for one in value if many else (value,):
                    check(f"{name} of {function.__qualname__}()", hint, one)
            return function(*args, **kwargs)

    return called


@contextmanager
def entered() -> Iterator[None]:
    """The same room for all that is done inside, and errors that are ours."""
    with headroom():
        try:
            yield
        except PenstockError:
            raise
        except RecursionError:
            raise UnsupportedError(
                "This is nested too deeply. Make parts of it views, or queries in WITH."
            ) from None
        except Exception as error:
            if _is_unanswered(error) or is_lost(1.0 if type(error) is Py4JError else 0.0):
                raise SparkLostError(
                    "Spark's Java process has ended, killed or out of memory. What was committed "
                    "is safe: close this session and connect to its directory again, with another "
                    "SparkSession or with none, which starts one."
                ) from error
            if isinstance(error, PySparkException | Py4JError):
                raise in_a_sentence(error) from None
            raise


# --- room -----------------------------------------------------------------------------------------


_lock = threading.Lock()
_inside = 0
_limit_outside = 0


@contextmanager
def headroom() -> Iterator[None]:
    """Python's limit of recursion counted from here; as it was when nobody is inside any more."""
    global _inside, _limit_outside
    needed = _depth() + ROOM
    with _lock:
        if not _inside:
            _limit_outside = sys.getrecursionlimit()
        _inside += 1
        if sys.getrecursionlimit() < needed:
            sys.setrecursionlimit(needed)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                sys.setrecursionlimit(_limit_outside)


def _depth() -> int:
    """How many calls the caller is inside of."""
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


# --- arguments ------------------------------------------------------------------------------------


@cache
def _hints(function: Any) -> dict[str, Any]:
    """The kinds of a function's arguments, of those that are known when it runs."""
    found: dict[str, Any] = {}
    names = _Known(sys.modules[function.__module__].__dict__)
    for name, text in function.__annotations__.items():
        try:
            found[name] = eval(text, names) if isinstance(text, str) else text
        except (NameError, TypeError):  # known to the type checker alone: the function looks itself
            continue
    return found


class _Known(dict[str, Any]):
    """The names of a module, and Spark's, which modules import for the type checker alone."""

    def __missing__(self, name: str) -> Any:
        from pyspark import sql

        if hasattr(builtins, name):
            return getattr(builtins, name)
        if hasattr(sql, name):
            return getattr(sql, name)
        raise NameError(name)


def check_options(of: str, kinds: type, given: Mapping[str, Any]) -> None:
    """Options by name, each of which is a field of a dataclass and has its kind."""
    hints = _hints(kinds)
    for name, value in given.items():
        if name not in hints:
            raise PlanError(f"no option {name!r}; there are: {', '.join(hints)}")
        check(f"{name} of {of}()", hints[name], value)


def check(what: str, hint: Any, value: Any) -> None:
    if not _is_a(value, hint):
        raise ArgumentError(f"Found {brief(value)} for {what}, expected {_words(hint)}.")


def _is_a(value: Any, hint: Any) -> bool:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_is_a(value, kind) for kind in args)
    if origin is Literal:
        return all(isinstance(value, type(word)) for word in args)  # which one, is asked later
    if origin is tuple or (isinstance(origin, type) and issubclass(origin, Sequence)):
        several = isinstance(value, Sequence) and not isinstance(value, str | bytes)
        return several and all(_is_a(one, args[0]) for one in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            _is_a(key, args[0]) and _is_a(one, args[1]) for key, one in value.items()
        )
    if hint is Any:
        return True
    if hint is None:
        return value is None
    if hint is float:
        return isinstance(value, float) or _is_a(value, int)
    if hint is int:
        return is_whole(value)
    return not isinstance(hint, type) or isinstance(value, hint)


def is_whole(value: Any) -> bool:
    """Whether something is a whole number: of Python or of NumPy, and not a truth value."""
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        return False
    return not hasattr(value, "ndim") or (type(operator.index(value)) is int and value.ndim == 0)


_WORDS = {
    str: "a text",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    None: "None",
    type(None): "None",
}


def _words(hint: Any) -> str:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        *most, last = dict.fromkeys(_words(kind) for kind in args)
        return f"{', '.join(most)} or {last}" if most else last
    if origin is Literal:
        return "one of " + ", ".join(map(repr, args))
    if origin is tuple or (isinstance(origin, type) and issubclass(origin, Sequence)):
        return f"a list of values, each {_words(args[0])}"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a dict from {_words(args[0])} to {_words(args[1])}"
    return _WORDS.get(hint) or f"a {getattr(hint, '__name__', hint)}"


# --- Spark ----------------------------------------------------------------------------------------

_MESSAGE = re.compile(
    r"\[([A-Z][A-Z0-9_.]+)\] ((?:(?!\n\tat ).)+?)\.? ?SQLSTATE: (\w{5})", re.DOTALL
)
_RAISED_HERE = re.compile(r"penstock\.errors\.\w+: (?=\[)")
_OVERFLOW = "java.lang.StackOverflowError"
_CAUSE = re.compile(
    r"^(?:Caused by: |: )?(?:[\w$]+\.)+([\w$]*(?:Exception|Error)(?:: .+)?)$", re.MULTILINE
)


TOO_MANY_TERMS = (
    "This has more terms in a row than the stack of Spark's Java holds. Compute parts of it in a "
    "query in FROM, or start Spark with a larger one: spark.driver.extraJavaOptions=-Xss16m."
)


def is_overflow(error: BaseException) -> bool:
    """Whether an expression was too deep for the stack of a thread of Java."""
    return isinstance(error, PySparkException | Py4JError) and _OVERFLOW in _text(error)


def in_a_sentence(error: Exception) -> PenstockError:
    """What Spark raises as one of our errors: the innermost cause, without traces.

    An error of ours that was raised in one of Spark's workers is that error again, and so is one
    that ended a stream.
    """
    text = _RAISED_HERE.split(_text(error))[-1]
    if _OVERFLOW in text:
        return UnsupportedError(TOO_MANY_TERMS)
    ours = {kind.condition: kind for kind in _all(PenstockError)}
    for condition, sentence, state in reversed(_MESSAGE.findall(text)):
        kind = ours.get(condition, SparkError)
        if kind is StateError:
            path, _, problem = sentence.partition(": ")
            return StateError(path, problem)
        if kind is not SparkError:
            return kind(f"{sentence}.")
        return SparkError(f"{' '.join(sentence.split())}.", condition, state)
    causes = _CAUSE.findall(text)
    first = causes[-1] if causes else next(filter(str.strip, text.split("\n")), "no reason given")
    return SparkError(f"Spark says: {first.strip()}")


def is_lost(patience: float = 0.0) -> bool:
    """Whether this process had a Java for Spark that has ended, or does in so many seconds."""
    gateway = SparkContext._gateway
    if gateway is None:
        return False
    process = getattr(gateway, "proc", None)
    if process is not None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
        return process.poll() is not None
    at = gateway.gateway_parameters
    try:
        with socket.create_connection((at.address, at.port), _SECONDS_TO_ANSWER):
            return False
    except ConnectionRefusedError:
        return True
    except OSError:
        return False


def _is_unanswered(error: Exception) -> bool:
    """Whether it was raised where PySpark talks to a Java, since that does not answer."""
    if isinstance(error, Py4JNetworkError):
        return True
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    module = "" if last is None else last.tb_frame.f_globals.get("__name__", "")
    return isinstance(error, ConnectionError) and module.startswith("py4j.")


def _text(error: BaseException) -> str:
    if isinstance(error, Py4JJavaError):
        try:
            return str(error)
        except Exception:  # the JVM that is asked for the text is gone
            return str(error.errmsg)
    return str(error)


def _all(kind: type[PenstockError]) -> Iterator[type[PenstockError]]:
    for below in kind.__subclasses__():
        yield below
        yield from _all(below)
