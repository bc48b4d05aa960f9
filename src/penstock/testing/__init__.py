"""Random plans over random streams, the same for the same seed, for tests that compare meanings."""

from penstock.algebra.outline import outline
from penstock.testing.random_expressions import random_expression, random_predicate
from penstock.testing.random_plans import Plans, is_append_only, random_plan, scans_of
from penstock.testing.random_streams import HORIZON, random_streams
from penstock.testing.snapshots import assert_same_snapshots

__all__ = [
    "HORIZON",
    "Plans",
    "assert_same_snapshots",
    "is_append_only",
    "outline",
    "random_expression",
    "random_plan",
    "random_predicate",
    "random_streams",
    "scans_of",
]
