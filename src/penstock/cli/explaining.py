"""`penstock explain`: the plans of views and queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.cli.offline_binder import Asked
from penstock.session.descriptions import explained as outlined


def explained(questions: Iterable[Asked]) -> Iterator[tuple[str, str]]:
    for asked in questions:
        yield asked.name, outlined(asked.plan)
