"""What a file system refuses, as errors that say what to do about it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.errors import StateError

_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and do the same again",
    errno.EDQUOT: "the quota of the disk is used up; free some space and do the same again",
    errno.EFBIG: "the file would be larger than is allowed; raise the limit (ulimit -f)",
    errno.EROFS: "the file system can only be read; mount it for writing or choose another path",
    errno.EACCES: "this user has no permission; grant it or choose another path",
    errno.EPERM: "this user has no permission; grant it or choose another path",
    errno.ENOTDIR: "a part of the path is a file, not a directory; choose another path",
    errno.EEXIST: "there is a file of that name, not a directory; choose another path",
    errno.EISDIR: "there is a directory where a file is expected",
    errno.ENOENT: "it is gone; the state directory must not be changed by others",
    errno.ENAMETOOLONG: "the path is too long; choose a shorter one",
    errno.ELOOP: "its links lead in a circle; choose another path",
    errno.EMFILE: "this process has too many open files; raise the limit (ulimit -n)",
    errno.ENFILE: "this machine has too many open files",
    errno.ENOLCK: "the file system cannot lock files; choose a path on another one",
    errno.EOPNOTSUPP: "the file system cannot do that; choose a path on another one",
    errno.EIO: "the disk or its connection fails",
    errno.ESTALE: "the network file system has lost the file",
}


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """A file of the state is read or written in the block."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error) from error


def storage_error(path: Path, error: OSError) -> StateError:
    """The error about a path of the state, or about the file in it that the system names."""
    named = error.filename if isinstance(error.filename, str) else None
    known = None if error.errno is None else os.strerror(error.errno)
    advice = _ADVICE.get(error.errno or 0)
    found = ": ".join(filter(None, (known or str(error) or type(error).__name__, advice)))
    return StateError(named or path, found)
