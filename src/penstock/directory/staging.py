"""Directories that come into being whole: written beside their place, and renamed to it.

Law: what stands under its own name is complete and on disk. What a killed process left has another
name, and is deleted by the next one that has the same in mind.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from penstock.errors import PlanError
from penstock.state.storage import storage_errors
from penstock.state.store import sync_directory

_MARK = ".unfinished-"


@contextmanager
def staged(target: Path, what: str) -> Iterator[Path]:
    """A new directory for the block to fill, which is the target when the block ends."""
    check_vacant(target, what)
    target = Path(os.path.abspath(target))
    with storage_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _delete_abandoned(target)
        staging = target.with_name(f"{target.name}{_MARK}{uuid.uuid4().hex}")
        staging.mkdir()
    descriptor = os.open(staging, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems lock no directories: then nobody cleans up
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with storage_errors(target):
            yield staging
            for folder in [staging, *(path for path in staging.rglob("*") if path.is_dir())]:
                sync_directory(folder)
            check_vacant(target, what)
            staging.rename(target)
            sync_directory(target.parent)
    finally:
        if staging.exists():
            shutil.rmtree(staging)
        os.close(descriptor)


def check_vacant(target: Path, what: str) -> None:
    """An error where there is something already."""
    with storage_errors(target):
        if target.is_dir() and not any(target.iterdir()):
            return
        there = target.exists() or target.is_symlink()
    if there:
        raise PlanError(f"{target} is there already, and not empty; {what} needs a new directory")


def _delete_abandoned(target: Path) -> None:
    """Delete what others have left that were killed. Those that are at work hold a lock."""
    name = re.compile(re.escape(target.name + _MARK) + "[0-9a-f]{32}")
    for path in target.parent.iterdir():
        if not name.fullmatch(path.name) or path.is_symlink() or not path.is_dir():
            continue
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path)
            finally:
                os.close(descriptor)
