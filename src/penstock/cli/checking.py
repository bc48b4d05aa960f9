"""`penstock check`: do the views and queries of a file fit in bounded memory?"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from penstock.cli.offline_binder import Asked
from penstock.memory.api import verdict
from penstock.memory.report import MemoryVerdict


def verdicts(questions: Iterable[Asked]) -> Iterator[tuple[str, MemoryVerdict]]:
    for asked in questions:
        yield asked.name, verdict((asked.statement,), asked.scene, asked.views_below)


def as_text(name: str, found: MemoryVerdict) -> str:
    return f"{name}: {textwrap.indent(str(found), '  ').lstrip()}"


def as_json(name: str, found: MemoryVerdict) -> dict[str, Any]:
    return {
        "name": name,
        "bounded": found.bounded,
        "bound": found.bound,
        "number": found.number,
        "reasons": found.reasons,
        "repairs": found.repairs,
        "operators": [
            {
                "operator": operator.operator,
                "outcome": operator.outcome,
                "bound": operator.bound,
                "number": operator.number,
                "because": operator.because,
                "engine_keeps": operator.engine_keeps,
            }
            for operator in found.operators
        ],
    }
