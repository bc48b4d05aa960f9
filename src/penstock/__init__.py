"""Penstock: continuous SQL views over data streams, on Apache Spark.

The public names are loaded when they are first used: importing this package does not import Spark.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.directory import backup, restore, upgrade, verify
    from penstock.errors import (
        ArgumentError,
        ArithmeticOverflowError,
        BackgroundError,
        DivisionByZeroError,
        ExpressionError,
        JavaNotFoundError,
        LateRowError,
        ParseError,
        PenstockError,
        PlanError,
        RejectedRowError,
        SparkError,
        SparkLostError,
        StateError,
        UnboundedError,
        UngrammaticalRowError,
        UnknownNameError,
        UnsupportedError,
        WriterConflictError,
    )
    from penstock.memory.api import check
    from penstock.output.datasource import register
    from penstock.punctuation import between
    from penstock.session import Query, Result, Session, Source, View, connect, view
else:
    import importlib

    _NAMES = {
        "penstock.directory": ("backup", "restore", "upgrade", "verify"),
        "penstock.errors": (
            "ArgumentError",
            "ArithmeticOverflowError",
            "BackgroundError",
            "DivisionByZeroError",
            "ExpressionError",
            "JavaNotFoundError",
            "LateRowError",
            "ParseError",
            "PenstockError",
            "PlanError",
            "RejectedRowError",
            "SparkError",
            "SparkLostError",
            "StateError",
            "UnboundedError",
            "UngrammaticalRowError",
            "UnknownNameError",
            "UnsupportedError",
            "WriterConflictError",
        ),
        "penstock.memory.api": ("check",),
        "penstock.punctuation": ("between",),
        "penstock.output.datasource": ("register",),
        "penstock.session": ("Query", "Result", "Session", "Source", "View", "connect", "view"),
    }
    _HOMES = {name: home for home, names in _NAMES.items() for name in names}

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(_HOMES[name]), name)

    def __dir__():
        return [*globals(), *__all__]


__all__ = [
    "ArgumentError",
    "ArithmeticOverflowError",
    "BackgroundError",
    "DivisionByZeroError",
    "ExpressionError",
    "JavaNotFoundError",
    "LateRowError",
    "ParseError",
    "PenstockError",
    "PlanError",
    "Query",
    "RejectedRowError",
    "Result",
    "Session",
    "Source",
    "SparkError",
    "SparkLostError",
    "StateError",
    "UnboundedError",
    "UngrammaticalRowError",
    "UnknownNameError",
    "UnsupportedError",
    "View",
    "WriterConflictError",
    "backup",
    "between",
    "check",
    "connect",
    "register",
    "restore",
    "upgrade",
    "verify",
    "view",
]

__version__ = "0.1.0"
