"""What was measured, and on what."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.nexmark.engines import ENGINES, ROOT
from penstock.runtime.java import ensure_java

PINS = {"flink": "apache-flink", "pathway": "pathway"}


def about() -> dict[str, Any]:
    return {
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "processor": _line("/proc/cpuinfo", r"model name\s*:\s*(.*)"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": int(_line("/proc/meminfo", r"MemTotal:\s*(\d+)") or 0) // (1 << 20),
        "python": platform.python_version(),
        "java": _java(),
        "versions": {
            "penstock": version("penstock"),
            "spark": version("pyspark"),
            **{name: _pinned(name, package) for name, package in PINS.items()},
        },
    }


def _line(path: str, pattern: str) -> str:
    found = re.search(pattern, Path(path).read_text())
    return found[1] if found else ""


def _java() -> str:
    java = ensure_java() / "bin" / "java"
    said = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "([^"]+)"', said)
    return found[1] if found else ""


def _pinned(name: str, package: str) -> str:
    assert name in ENGINES
    pins = ROOT / "bench" / "nexmark" / "peers" / name / "requirements.txt"
    return _line(str(pins), rf"(?m)^{package}==(.*)$")
