"""`penstock plan`: what running files would change, without Spark where it is not needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from penstock.cli.offline_binder import Start, answered
from penstock.cli.printing import InputError, errors_of, place_of, text_of
from penstock.errors import PenstockError
from penstock.output.definitions import decoded
from penstock.session.changes import PipelinePlan
from penstock.session.pipeline import InFile, plan_of, steps_of
from penstock.sql import parse
from penstock.state.log import read_manifest
from penstock.state.manifest import Manifest


def planned(statements: Sequence[InFile], directory: Path, start: Start) -> PipelinePlan:
    """The directory may be in use, or not be there yet."""
    log = directory / "log"
    manifest = read_manifest(log) if log.is_dir() else Manifest()
    definitions = decoded(manifest)
    return answered(
        lambda analyser, columns: plan_of(
            steps_of(statements, manifest, definitions, analyser, columns)
        ),
        start,
    )


def statements_of(files: Sequence[Path], as_json: bool) -> list[InFile]:
    """The statements of all files, in order."""
    found: list[InFile] = []
    for file in files:
        with errors_of(str(file), as_json):
            statements = parse(text_of(file))
            if not statements:
                raise InputError(
                    f"{file} has no statements, so all that it has created would be dropped. "
                    "Where that is meant, drop it by penstock shell --path DIR."
                )
            found += [InFile(file.name, statement) for statement in statements]
    return found


@contextmanager
def errors_in(files: Sequence[Path], as_json: bool) -> Iterator[None]:
    """An error is about the file whose text it points at."""
    with errors_of("", as_json):
        try:
            yield
        except PenstockError as error:
            where = place_of(error)
            for file in files:
                if where is not None and text_of(file) == where.sql:
                    with errors_of(str(file), as_json):
                        raise
            raise
