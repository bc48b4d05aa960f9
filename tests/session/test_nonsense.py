"""Nonsense for every argument of every public call: refused by an error of ours, or carried out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.errors import PenstockError
from penstock.testing import local_session


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError


DEEP: list[Any] = []
for _ in range(5_000):
    DEEP = [DEEP]

NONSENSE: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0,
        10**5000,
        -(2**63),
        1.5,
        float("nan"),
        float("inf"),
        "",
        "\0",
        "x" * 10**5,
    ),
    *("\ud800", b"", b"\xff", (), [], {}, [None], [[]], [{}], [(1, 2, 3, 4)], [("a", 10**5000, 1)]),
    *([("a", DEEP, 1)], DEEP, [Unshowable()], [("a", Unshowable(), 1)], Unshowable(), object()),
    *({"k": 1}, [{"k": Unshowable()}], [{1: 1}], [{"k": "\ud800"}], int, len, Ellipsis),
)
# what ends the session, waits, or takes streams of Spark
LEFT_OUT = ("close", "start", "stop", "attach", "add_sink", "await_frontier")


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[penstock.Session]:
    monkeypatch.chdir(tmp_path)
    session = local_session(tmp_path / "state")
    session.sql("CREATE SOURCE s (k STRING, v INT, t INT) EVENT TIME t")
    session.sql("CREATE VIEW known AS SELECT k, v FROM s")
    yield session
    session.close()


def calls(db: penstock.Session) -> Iterator[tuple[str, Any]]:
    query = db.table("s")
    for name, target in {
        "Session": db,
        "Source": db.source("s"),
        "View": db.view("known"),
        "Query": query,
        "Grouped": query.groupBy("k"),
        "Result": db.sql("SHOW VIEWS"),
    }.items():
        for method, _ in inspect.getmembers(type(target), inspect.isfunction):
            if not method.startswith("_") and method not in LEFT_OUT:
                yield f"{name}.{method}", getattr(target, method)
    yield "check", penstock.check
    yield "between", penstock.between
    yield "connect", penstock.connect
    yield "view", penstock.view
    yield "register", penstock.register
    yield "verify", penstock.verify
    yield "backup", penstock.backup
    yield "restore", penstock.restore
    yield "upgrade", penstock.upgrade


def test_nonsense_is_refused_or_carried_out(db: penstock.Session) -> None:
    found = []
    for name, call in calls(db):
        parameters = [
            p for p in inspect.signature(call).parameters.values() if p.kind is not p.VAR_KEYWORD
        ]
        for place in range(len(parameters)):
            for value in NONSENSE:
                if name == "connect" and (value is None or (not place and isinstance(value, str))):
                    continue  # it would start Spark
                filled = ["s"] * place
                try:
                    call(*filled, value)
                except PenstockError as error:
                    if len(str(error)) > 2_000:
                        found.append(f"{name} at {place}: a message of {len(str(error))}")
                except Exception as error:
                    shown = type(value).__name__
                    found.append(
                        f"{name} at {place} of {shown}: {type(error).__name__} {error!s:.90}"
                    )
    assert not found, "\n".join(found)
