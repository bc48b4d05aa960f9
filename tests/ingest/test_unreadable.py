"""A source that Spark cannot read is told by what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.errors import PlanError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = {
    ("json", "s3://bucket/x"): r"no file system for this path \(s3://\).*SparkSession with",
    ("json", "s3a://bucket/x"): r"no file system for this path \(S3AFileSystem\)",
    ("parquet", "nosuch://bucket/x"): r"no file system for this path \(nosuch://\)",
    ("jsno", "x"): "There is no format jsno. Did you mean json",
    ("delta", "x"): "Format delta needs a package",
}


@pytest.mark.spark
def test_it_says_what_is_missing(spark: SparkSession, tmp_path: Path) -> None:
    with penstock.connect(tmp_path / "state", spark, tasks=1) as db:
        for (format, path), reason in CASES.items():
            using = f"USING {format} OPTIONS (path '{path}')"
            for text in (
                f"CREATE SOURCE s (k STRING, t BIGINT) {using} EVENT TIME t",
                f"CREATE TABLE s (k STRING, t BIGINT) {using}",
            ):
                with pytest.raises(PlanError, match=reason) as error:
                    db.sql(text)
                assert len(str(error.value)) < 1000
        assert not db.engine.definitions
