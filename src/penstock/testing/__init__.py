"""For tests of pipelines: sessions without Spark, scripts with kills, random rows, comparisons.

The other modules here are for the tests of Penstock itself: random plans and queries, and runs that
compare what engines make of them.
"""

from penstock.testing.local_session import local_session
from penstock.testing.random_rows import random_batches, random_rows
from penstock.testing.scripts import (
    KILL,
    REOPEN,
    STEP,
    Advance,
    Kill,
    Outcome,
    Reopen,
    Rows,
    Script,
    ScriptError,
    Sql,
    Step,
    spark_session,
)
from penstock.testing.snapshots import assert_same_snapshots

__all__ = [
    "KILL",
    "REOPEN",
    "STEP",
    "Advance",
    "Kill",
    "Outcome",
    "Reopen",
    "Rows",
    "Script",
    "ScriptError",
    "Sql",
    "Step",
    "assert_same_snapshots",
    "local_session",
    "random_batches",
    "random_rows",
    "spark_session",
]
