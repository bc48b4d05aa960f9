"""The engines: how the process of each is started, and what it cannot say."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".peers"
HEAP = "8g"
SPARK_HEAP = "4g"
CORES = 2


@dataclass(frozen=True)
class Engine:
    """`cannot`: why there is no number for a query. `partly`: what is missing from one."""

    name: str
    title: str
    module: str
    python: Path
    text: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    cannot: dict[str, str] = field(default_factory=dict)
    partly: dict[str, str] = field(default_factory=dict)

    @property
    def installed(self) -> bool:
        return self.python.exists()

    def command(self, *arguments: str) -> list[str]:
        return [str(self.python), "-m", self.module, *arguments]

    def variables(self) -> dict[str, str]:
        paths = [str(ROOT), str(ROOT / "src")]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **self.environment}


OWN = Path(sys.executable)
DISTINCT = "exact distinct counts are refused on streams"

PENSTOCK = Engine("penstock", "Penstock", "bench.nexmark.penstock_run", OWN)
SPARK = Engine(
    "spark",
    "Structured Streaming",
    "bench.nexmark.peers.spark.run",
    OWN,
    cannot={
        "q6": "ranks are refused on streams, and so is an aggregate of an aggregate",
        "q15": DISTINCT,
        "q16": DISTINCT,
    },
    partly={"q4": "the highest bid of each auction, without their average"},
)
FLINK = Engine(
    "flink",
    "Flink",
    "bench.nexmark.peers.flink.run",
    PEERS / "flink" / "bin" / "python",
    text=True,
    environment={"JAVA_TOOL_OPTIONS": f"-Xmx{HEAP}"},
)
PATHWAY = Engine(
    "pathway",
    "Pathway",
    "bench.nexmark.peers.pathway.run",
    PEERS / "pathway" / "bin" / "python",
    text=True,
    environment={"PATHWAY_THREADS": str(CORES), "PATHWAY_MONITORING_LEVEL": "NONE"},
)
ENGINES = {engine.name: engine for engine in (PENSTOCK, SPARK, FLINK, PATHWAY)}
