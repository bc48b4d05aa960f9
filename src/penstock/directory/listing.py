"""The list of a backup: its files, with their sizes and checksums. What has none is no backup."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from penstock.errors import StateError
from penstock.state.manifest import Manifest
from penstock.state.storage import storage_errors

LIST = "backup.json"


def write_list(backup: Path, manifest: Manifest, files: Mapping[str, tuple[int, int]]) -> None:
    body = {
        "version": manifest.version,
        "layout": manifest.layout,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "files": {name: list(found) for name, found in sorted(files.items())},
    }
    text = json.dumps(body, indent=1).encode()
    with open(backup / LIST, "xb") as file:
        file.write(b"%08x\n" % zlib.crc32(text) + text)
        file.flush()
        os.fsync(file.fileno())


def listed_in(backup: Path) -> dict[str, tuple[int, int]]:
    """The files of a backup, with their sizes and checksums."""
    path = backup / LIST
    if not path.exists():
        raise StateError(
            path,
            "it is not there, so this is no backup that was finished. `penstock backup DIR TARGET` "
            "makes one; a state directory that nobody writes to can be copied as it is",
        )
    with storage_errors(path):
        checksum, _, text = path.read_bytes().partition(b"\n")
    try:
        if checksum != b"%08x" % zlib.crc32(text):
            raise ValueError("its checksum does not match its content")
        files = json.loads(text)["files"]
        found = {str(name): (int(size), int(each)) for name, (size, each) in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StateError(path, str(error)) from error
    for name in found:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise StateError(path, f"it names a file {name!r} elsewhere")
    return found
