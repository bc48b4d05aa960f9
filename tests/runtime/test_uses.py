"""What a step brings to state tables and looks up in them is counted: merging follows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from penstock.execution.task import Report
from penstock.physical.program import view_state_table
from penstock.runtime import maintenance
from penstock.runtime.maintenance import MERGED_PER_BYTE, bytes_to_merge
from penstock.state.compaction import PART, Use
from penstock.testing import local_session


def test_a_report_says_what_was_written_and_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Report] = []

    def used(before: Mapping[str, Use], reports: Iterable[Report]) -> dict[str, Use]:
        seen.extend(told := list(reports))
        return _used(before, told)

    _used = maintenance.used
    monkeypatch.setattr(maintenance, "used", used)
    with local_session(tmp_path) as db:
        db.sql("CREATE SOURCE s (k INT, v INT, t INT) EVENT TIME t")
        db.sql("CREATE VIEW sums AS SELECT k, sum(v) AS x FROM s [RANGE 9] GROUP BY k")
        db.source("s").append([(1, 10, 1), (2, 20, 1), (1, 5, 2), (3, 5, 3)])
        db.step()
    lookups: Counter[str] = Counter()
    for report in seen:
        written = {
            **report.state_tables,
            **{view_state_table(v): refs for v, refs in report.views.items()},
        }
        bytes = {
            name: sum(ref.statistics.bytes for ref in refs)
            for name, refs in written.items()
            if not name.startswith("lane")  # where what is left is merely merged
        }
        assert {name: use.bytes for name, use in report.uses.items() if use.bytes} == bytes
        for name, use in report.uses.items():
            lookups[name.partition("/")[2]] += use.lookups
    assert lookups["current"] == 2, "one for each key that changed"


def test_uses_add_up_over_tasks_and_those_of_before_are_kept() -> None:
    first, second = Report(), Report()
    first.used("a", 100, 3)
    first.used("a", 10)
    second.used("a", 1, 4)
    second.used("idle", 0)
    before = {"a": Use(7, 7), "b": Use(5, 1), "idle": Use(2, 0)}
    uses = maintenance.used(before, [first, second])
    assert uses == {"a": Use(111, 7), "b": Use(5, 1), "idle": Use(2, 0)}
    assert bytes_to_merge(uses, tasks=2) == PART + MERGED_PER_BYTE * 118 // 2
