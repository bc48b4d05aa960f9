"""A query in Flink's SQL, over CSV files, into a sink that discards.

State is on the heap and nothing is checkpointed, which is the fastest that Flink can be.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from pyflink.common.job_client import JobClient
from pyflink.table import EnvironmentSettings, Table, TableDescriptor, TableEnvironment
from pyflink.table.types import LocalZonedTimestampType, TimestampType

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
TIMES = (TimestampType, LocalZonedTimestampType)


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
    """What remains when every change has been made.

    Changes go through files: Python gets only a few hundred in a second from Flink itself.
    """
    times = [isinstance(kind, TIMES) for kind in table.get_schema().get_field_data_types()]
    found: Counter[tuple[Any, ...]] = Counter()
    with tempfile.TemporaryDirectory() as directory:
        files = TableDescriptor.for_connector("filesystem").option("path", directory)
        table.execute_insert(files.format("debezium-json").build()).wait()
        for file in Path(directory).iterdir():
            for change in map(json.loads, file.read_text().splitlines()):
                created = change["op"] == "c"
                row = change["after" if created else "before"].values()
                found[tuple(map(plain, row, times))] += 1 if created else -1
    return [list(row) for row in found.elements()]


def plain(value: Any, is_time: bool) -> Any:
    if value is None or not is_time:
        return value
    moment = datetime.fromisoformat(f"{value.removesuffix('Z')}+00:00")
    return round(moment.timestamp() * 1e3) * 1000


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
