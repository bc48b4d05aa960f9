"""A query in Flink's SQL, over CSV files, into a sink that discards.

State is on the heap and nothing is checkpointed, which is the fastest that Flink can be.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from pyflink.common import RowKind
from pyflink.common.job_client import JobClient
from pyflink.table import (
    DataTypes,
    EnvironmentSettings,
    Table,
    TableDescriptor,
    TableEnvironment,
)
from pyflink.table.expressions import col
from pyflink.table.types import LocalZonedTimestampType

from bench.nexmark.worker import Job

HERE = Path(__file__).parent
SETTINGS = {
    "parallelism.default": "2",
    "table.local-time-zone": "UTC",
    "state.backend.type": "hashmap",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "50000",
}
DELETED = (RowKind.UPDATE_BEFORE, RowKind.DELETE)


def query(name: str, data: Path) -> Table:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for setting, value in SETTINGS.items():
        env.get_config().set(setting, value)
    for statement in (HERE / "tables.sql").read_text().split(";"):
        env.execute_sql(statement.replace("{data}", str(data.absolute())))
    return env.sql_query((HERE / f"{name}.sql").read_text())


def started(table: Table) -> JobClient:
    discard = TableDescriptor.for_connector("blackhole").build()
    return table.execute_insert(discard).get_job_client()


def seconds(job: JobClient) -> float:
    """For how long Flink says that the job ran, from its start to its end."""
    return float(job.get_job_execution_result().result().get_net_runtime()) / 1e3


def rows(table: Table) -> list[list[Any]]:
    """What remains when every change has been made."""
    found: dict[tuple[Any, ...], int] = {}
    with without_zones(table).execute().collect() as changes:
        for change in changes:
            row = tuple(map(plain, change))
            found[row] = found.get(row, 0) + (-1 if change.get_row_kind() in DELETED else 1)
    return [list(row) for row, count in found.items() for _ in range(count)]


def without_zones(table: Table) -> Table:
    """Times with a zone cannot be brought to Python."""
    schema = table.get_schema()
    names, types = schema.get_field_names(), schema.get_field_data_types()
    columns = zip(names, types, strict=True)
    return table.select(
        *(
            col(name).cast(DataTypes.TIMESTAMP(3)).alias(name)
            if isinstance(kind, LocalZonedTimestampType)
            else col(name)
            for name, kind in columns
        )
    )


def plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return round((value - datetime(1970, 1, 1)).total_seconds() * 1e3) * 1000
    return value if isinstance(value, int | str | None) else float(value)


def main() -> None:
    job = Job.of_arguments()
    if job.answers:
        job.answer(lambda name: rows(query(name, job.data)))
        return
    seconds(started(query(job.query, job.warm)))
    running = started(query(job.query, job.data))
    with job.timed():
        ran = seconds(running)
    job.finish(seconds=ran)


if __name__ == "__main__":
    main()
