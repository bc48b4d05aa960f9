"""Penstock: continuous SQL views over data streams, on Apache Spark.

The public names are loaded when they are first used: importing this package does not import Spark.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.errors import PenstockError
    from penstock.memory.asking import check
    from penstock.runtime.datasource import register
    from penstock.session import Session, Source, View, connect
else:
    import importlib

    _HOMES = {
        "PenstockError": "penstock.errors",
        "Session": "penstock.session",
        "Source": "penstock.session",
        "View": "penstock.session",
        "check": "penstock.memory.asking",
        "connect": "penstock.session",
        "register": "penstock.runtime.datasource",
    }

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(_HOMES[name]), name)

    def __dir__():
        return [*globals(), *__all__]


__all__ = ["PenstockError", "Session", "Source", "View", "check", "connect", "register"]

__version__ = "0.1.0"
