"""Files, cut into splits that tasks read: whole lines of a part of a file.

Law: every line of a file is in one split, the one in which it begins. Of a compressed file that
cannot be read to its end, nothing is taken: it is read through before its first record counts.
"""

from __future__ import annotations

import bz2
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from penstock.ingest.fitting import shortened

SIZE = 128 << 20
_BLOCK = 4 << 20
_LONGEST_LINE = 64 << 20
_SHOWN = 10_000
_MARK = b"\xef\xbb\xbf"
_COMPRESSED = (".gz", ".gzip", ".bz2", ".zst", ".deflate", ".snappy", ".lz4", ".lzo", ".xz", ".zip")
_UNREAD = (".snappy", ".lz4", ".lzo", ".xz", ".zip")


class UnreadableFileError(Exception):
    """A file that cannot be read, and why."""


@dataclass(frozen=True)
class Split:
    """The lines of a file that begin in `[start, end)`; all from there on without an end.

    `size` is about how many bytes these are. `content` is the file itself, where tasks cannot open
    it. `values` are texts of columns that its
    path names.
    """

    path: str
    start: int = 0
    end: int | None = None
    content: bytes | None = None
    values: tuple[tuple[str, str], ...] = ()
    size: int = 1

    @property
    def shown(self) -> str:
        """The path as users write it."""
        return local_path(self.path) or self.path

    @property
    def is_compressed(self) -> bool:
        return self.path.lower().endswith(_COMPRESSED)

    def position(self, what: str, number: int) -> str:
        """Where a record is: its number, counted from where this split begins."""
        return f"{what} {number}" if not self.start else f"{what} {number} after byte {self.start}"

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """The bytes of the file, without those that compress it."""
        with unreadable():
            if self.is_compressed:
                with self._decompressed() as through:
                    while through.read(_BLOCK):
                        pass
            file = self._decompressed() if self.is_compressed else self.raw()
        with file:
            yield file

    def raw(self) -> BinaryIO:
        """The bytes of the file as they are."""
        if self.content is not None:
            return io.BytesIO(self.content)
        path = local_path(self.path) or self.path
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UnreadableFileError("it is no regular file")
        return cast(BinaryIO, open(path, "rb"))

    def _decompressed(self) -> BinaryIO:
        ending = Path(self.path.lower()).suffix
        if ending in _UNREAD:
            raise UnreadableFileError(
                f"files that end with {ending} are not read; compress it with gzip, bzip2 or zstd"
            )
        raw = self.raw()
        if ending == ".bz2":
            return cast(BinaryIO, bz2.BZ2File(raw))
        if ending == ".zst":
            return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd"))
        if ending == ".deflate":
            return io.BytesIO(zlib.decompress(raw.read()))
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))


@contextmanager
def unreadable() -> Iterator[None]:
    """A file is opened or read in the block; where that fails, it says why."""
    try:
        yield
    except FileNotFoundError:
        raise UnreadableFileError("it is gone") from None
    except (OSError, EOFError, zlib.error, pa.ArrowException, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableFileError(shortened(said or type(error).__name__, 300)) from None


def local_path(uri: str) -> str | None:
    """The path of a file of this machine; None where it is on another."""
    parts = urlsplit(uri.replace("?", "%3F").replace("#", "%23"))
    if parts.scheme == "file":
        return unquote(parts.path)
    return None if "://" in uri else uri


def as_pattern(uri: str) -> str:
    """A path as Hadoop's patterns have it, where signs that mean something there do not."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", unquote(uri))


def splits_of(path: str, size: int, divisible: bool, largest: int = SIZE) -> list[Split]:
    """The splits of a file; one where it cannot be read from the middle."""
    whole = Split(path, size=max(size, 1))
    if whole.size <= largest or not divisible or whole.is_compressed:
        return [whole]
    starts = range(0, whole.size, largest)
    parts = [Split(path, start, start + largest, size=largest) for start in starts]
    return [*parts[:-1], replace(parts[-1], end=None)]


# --- lines ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lines:
    """Lines without their ends, which come after `before` others. One that `is_cut` is too long,
    and this is how it begins."""

    lines: list[bytes]
    before: int
    is_cut: bool = False

    @property
    def numbers(self) -> range:
        return range(self.before + 1, self.before + 1 + len(self.lines))


def lines_of(split: Split) -> Iterator[Lines]:
    """The lines of a split, many at a time."""
    with split.opened() as file:
        count = 0
        for data, is_cut in _whole_lines(file, split):
            lines = data.split(b"\n")
            if not lines[-1]:
                lines.pop()
            yield Lines(lines, count, is_cut)
            count += len(lines)


def _whole_lines(file: BinaryIO, split: Split) -> Iterator[tuple[bytes, bool]]:
    """Blocks of lines that begin in the split, and whether that is one that is cut."""
    at, rest = 0, b""
    if split.start:
        with unreadable():
            file.seek(split.start - 1)
        at, rest = _after_line(file, split.start - 1)
    first = not split.start
    while split.end is None or at < split.end:
        with unreadable():
            data = rest + file.read(_BLOCK)
        last = data.rfind(b"\n") + 1
        if len(data) == len(rest):  # it is the end of the file
            last = len(data)
        elif not last and len(data) <= _LONGEST_LINE:
            rest = data
            continue
        if not data:
            return
        is_cut = not last
        if is_cut:
            at, rest = _after_line(file, at + len(data))
            block = data[:_SHOWN]
        else:
            if split.end is not None and at + last > split.end:
                last = (data.find(b"\n", max(0, split.end - at - 1)) + 1) or last
            block, rest, at = data[:last], data[last:], at + last
        yield (block[len(_MARK) :] if first and block.startswith(_MARK) else block), is_cut
        first = False


def _after_line(file: BinaryIO, at: int) -> tuple[int, bytes]:
    """Where the next line begins, and what is read of it."""
    while True:
        with unreadable():
            data = file.read(_BLOCK)
        end = data.find(b"\n") + 1
        if end or not data:
            return at + (end or len(data)), data[end:]
        at += len(data)
