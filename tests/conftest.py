"""Settings that all tests share, and the one Spark of a test run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A busy machine is not a bug: properties have no time limit. In CI they try the same cases each
# time, so that a failure is one of the change; elsewhere they look for new ones.
settings.register_profile("penstock", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("penstock")
MARKS = ("spark", "long")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest first, so that two processes end together: Spark, then many random cases,
    and of these the files of few tests."""
    tests = Counter(item.path for item in items)
    kinds = {mark: {item.path for item in items if mark in item.keywords} for mark in MARKS}
    items.sort(key=lambda item: (*(item.path not in kinds[m] for m in MARKS), tests[item.path]))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Started once, for all tests that need it."""
    from penstock.runtime.spark import JAVA, start_spark

    # its second compiler would take a fifth of all time, for a Java that lives for minutes
    quick = {"spark.driver.extraJavaOptions": f"{JAVA} -XX:TieredStopAtLevel=1"}
    session = start_spark("local[2]", **quick)
    yield session
    session.stop()
