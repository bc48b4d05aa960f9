"""The memory of this process and of the Python workers that Spark started for it, on Linux."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class Memory(NamedTuple):
    """In kilobytes: of this process, and of all its Python workers together."""

    driver: int
    workers: int


def memory(line: str = "VmRSS") -> Memory:
    """A line of the processes' status: VmRSS, what they hold now; VmHWM, the most they held."""
    return Memory(kilobytes(line), sum(kilobytes(line, pid) for pid in python_workers()))


def kilobytes(line: str, process: int | str = "self") -> int:
    return int(_status(process).get(line, "0").split()[0])


def python_workers() -> list[int]:
    """The processes below this one that run Python, and the daemons that fork them."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            parent = int(_status(entry.name).get("PPid", "0"))
            children.setdefault(parent, []).append(int(entry.name))
    below = children.get(os.getpid(), [])
    for pid in below:
        below += children.get(pid, [])
    return [pid for pid in below if "python" in _status(pid).get("Name", "")]


def _status(process: int | str) -> dict[str, str]:
    """Nothing where the process is no more."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
