"""The kinds of golden directories: how each is run in one go, and how it is continued."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.golden import more, pipeline, rest
from tests.golden.pipeline import OPTIONS, Outcome

UNINTERRUPTED: dict[str, Callable[[Path], Outcome]] = {
    **{kind: partial(pipeline.uninterrupted, options=each) for kind, each in OPTIONS.items()},
    "more": more.uninterrupted,
    "rest": rest.uninterrupted,
}
CONTINUED: dict[str, Callable[[Path], Outcome]] = {
    **{kind: partial(pipeline.continued, options=each) for kind, each in OPTIONS.items()},
    "more": more.continued,
    "rest": rest.continued,
}
FORMATS = {"layout-2": tuple(OPTIONS), "layout-3": tuple(CONTINUED)}
"""Every format that was released, and the kinds of its directories."""
