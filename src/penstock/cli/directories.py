"""`penstock verify`, `backup`, `restore` and `upgrade`: whole state directories, without Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.cli.printing import errors_of, print_json, to_stderr

if TYPE_CHECKING:
    from penstock.directory import Copied, Upgrade, Verification

DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)
NEW_DIRECTORY = click.Path(file_okay=False, path_type=Path)
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object.")
_SHOWN = 5


@click.command(short_help="Is a state directory whole?")
@click.argument("directory", type=DIRECTORY)
@JSON
@click.pass_context
def verify(context: click.Context, directory: Path, as_json: bool) -> None:
    """Read all of a state directory and say what is wrong with it; exit 1 if something is.

    The log and its checkpoints, every file that they name, and what Structured Streaming notes of
    attached streams are read and compared. Files that nothing names are harmless, and are listed.
    May be used while another process writes to the directory.

    \b
    penstock verify state
    penstock verify state --json | jq .problems
    """
    _check_state(directory)
    with errors_of("", as_json), watched("Verifying") as watch:
        from penstock.directory.verification import as_json as in_json
        from penstock.directory.verification import verify

        found = verify(directory, watch)
    if as_json:
        print_json(in_json(found))
    else:
        click.echo(_verified(found))
    context.exit(0 if found.is_whole else 1)


@click.command(short_help="Copy a state directory that may be in use.")
@click.argument("directory", type=DIRECTORY)
@click.argument("target", type=NEW_DIRECTORY)
@click.option("--link", is_flag=True, help="Hard links to files of rows, on the same disk.")
@JSON
def backup(directory: Path, target: Path, link: bool, as_json: bool) -> None:
    """Copy a state directory, as of its newest commit, into a new directory.

    Another process may append and step meanwhile. The backup is verified, and has its name when it
    is whole. With --link it takes no place of its own, and goes with the disk.

    \b
    penstock backup state backups/monday
    penstock backup state backups/hourly --link
    """
    _check_state(directory)
    with errors_of("", as_json), watched("Copying") as watch:
        from penstock.directory import backup

        found = backup(directory, target, link, watch)
    _print_copied("is backed up to", found, as_json)


@click.command(short_help="Make a state directory of a backup.")
@click.argument("target", type=DIRECTORY)
@click.argument("directory", type=NEW_DIRECTORY)
@JSON
def restore(target: Path, directory: Path, as_json: bool) -> None:
    """Copy a backup into a new state directory, which is verified before it has its name.

    A directory that is there and not empty is left alone.

    \b
    penstock restore backups/monday state
    """
    _check_state(target)
    with errors_of("", as_json), watched("Copying") as watch:
        from penstock.directory import restore

        found = restore(target, directory, watch)
    _print_copied("is restored to", found, as_json)


@click.command(short_help="Bring a state directory up to date.")
@click.argument("directory", type=DIRECTORY)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@JSON
def upgrade(directory: Path, dry_run: bool, as_json: bool) -> None:
    """Bring a state directory of an older version up to the layout of this one, in one commit.

    Older versions refuse it from then on, so back it up if you want to go back. Opening it with
    this version does the same.

    \b
    penstock upgrade state --dry-run
    penstock upgrade state
    """
    _check_state(directory)
    with errors_of("", as_json):
        from penstock.directory import upgrade

        found = upgrade(directory, dry_run)
    if as_json:
        names = ("before", "after", "version", "renamed", "views", "done")
        told = {name: getattr(found, name) for name in names}
        print_json({"directory": str(directory), "needed": found.is_needed, **told})
    else:
        click.echo(_upgraded(found))


COMMANDS = (verify, backup, restore, upgrade)


def _check_state(directory: Path) -> None:
    if not any((directory / part).is_dir() for part in ("log", "runs")):
        raise click.UsageError(
            f"{directory} is not a state directory. Those that `penstock run --path DIR` and "
            "penstock.connect(DIR) write hold a folder log."
        )


@contextmanager
def watched(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar of how much is done, where somebody can see it."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = to_stderr()
    columns = (TextColumn(what), BarColumn(30), DownloadColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _verified(found: Verification) -> str:
    whole = "is whole" if found.is_whole else click.style("is DAMAGED", bold=True, fg="red")
    lines = [
        f"{found.directory} {whole}: version {found.version} of layout {found.layout}, "
        f"{found.entries} files of the log, {found.files} of rows with {found.runs} runs, "
        f"{found.rows:,} rows, {found.bytes:,} bytes"
    ]
    lines += [f"  {problem}" for problem in found.problems]
    if found.problems:
        lines.append("Restore a backup: penstock restore TARGET DIR")
    if found.unnamed:
        count = len(found.unnamed)
        lines.append(f"{count} {'file' if count == 1 else 'files'} that nothing names, harmless:")
        lines += [f"  {path}" for path in found.unnamed[:_SHOWN]]
        lines += [f"  and {count - _SHOWN} more"] if count > _SHOWN else []
    return "\n".join(lines)


def _print_copied(what: str, found: Copied, as_json: bool) -> None:
    if as_json:
        told = {"version": found.version, "files": found.files, "bytes": found.bytes}
        print_json({"from": str(found.source), "to": str(found.target), **told})
    else:
        click.echo(
            f"{found.source} {what} {found.target}: version {found.version}, "
            f"{found.files:,} files, {found.bytes:,} bytes"
        )


def _upgraded(found: Upgrade) -> str:
    if not found.is_needed:
        return f"{found.directory} is of layout {found.before}, the present one: nothing to do"
    verb = "is now" if found.done else "would become"
    return "\n".join(
        [
            f"{found.directory} was of layout {found.before} and {verb} of layout {found.after}, "
            f"in one entry of the log, number {found.version}:",
            f"  {len(found.renamed)} state tables have other names",
            f"  the log names the state tables of views: {', '.join(found.views)}",
            "  rows, results and positions stay as they are",
            f"  Penstock of layout {found.before} refuses it from then on",
        ]
    )
