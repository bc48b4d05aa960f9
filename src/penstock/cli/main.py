"""The commands and their options.

Exit codes: 0 done, 1 the answer is no, 2 usage or a file that cannot be read, 3 an error,
4 a mistake of Penstock itself, 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from penstock import __version__
from penstock.cli import directories
from penstock.cli.printing import errors_of, text_of

EXAMPLE_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
DIRECTORY = click.Path(file_okay=False, path_type=Path)

EPILOG = """\b
Exit codes: 0 done; 1 the answer is no; 2 a command or file that cannot be read;
3 an error of a statement, with its place; 130 interrupted.

\b
Completion of commands and options in your shell:
  bash: eval "$(_PENSTOCK_COMPLETE=bash_source penstock)"   in ~/.bashrc
  zsh:  eval "$(_PENSTOCK_COMPLETE=zsh_source penstock)"    in ~/.zshrc
  fish: _PENSTOCK_COMPLETE=fish_source penstock | source    in config.fish
"""


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="penstock")
def main() -> None:
    """Continuous SQL views over data streams, on Apache Spark.

    \b
    A first look:
      penstock demo
      penstock run examples/auction.sql --until-idle
      penstock shell
    """


@main.command(short_help="Run pipeline files.")
@click.argument("files", nargs=-1, required=True, type=EXAMPLE_FILE)
@click.option("--path", type=DIRECTORY, help="The state directory; a temporary one otherwise.")
@click.option("--until-idle", is_flag=True, help="Stop when there is nothing left to do.")
@click.option("--progress", is_flag=True, help="One line for each step.")
@click.option("--allow-drop", is_flag=True, help="With --path: rows that are kept may be dropped.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def run(
    files: Sequence[Path],
    path: Path | None,
    until_idle: bool,
    progress: bool,
    allow_drop: bool,
    as_json: bool,
) -> None:
    """Run the statements of pipeline files, in order, and print what they answer.

    Where a source reads files or a port, the views are then kept up to date until Ctrl-C or
    SIGTERM, or with --until-idle until there is nothing left to do.

    With --path, the files together say what there is in that directory. The same files again go on;
    files that were changed print what will be created, replaced, altered and dropped, and
    do it (see penstock plan). Without --path, each of several files is a pipeline of its own, run
    from the beginning until it is idle.

    \b
    penstock run examples/auction.sql --until-idle
    penstock run sources.sql views.sql --path state --progress
    """
    from penstock.cli.running import Runner
    from penstock.cli.starting import session
    from penstock.cli.stopping import Stop

    if allow_drop and path is None:
        raise click.UsageError("--allow-drop is for a state directory: --path DIR --allow-drop")
    with Stop().heeded() as stop:
        if path is not None:
            with errors_of("", as_json), session(path) as db:
                Runner(until_idle, progress, as_json, stop).roll_out(db, files, allow_drop)
            return
        for file in files:
            if len(files) > 1 and not as_json:
                click.echo(click.style(f"== {file}", bold=True))
            with errors_of("", as_json), session(None) as db:
                Runner(until_idle or len(files) > 1, progress, as_json, stop).run(db, file)
            if stop.asked:
                return
            if len(files) > 1 and not as_json:
                click.echo()


@main.command(short_help="Serve a pipeline over HTTP.")
@click.argument("files", nargs=-1, required=True, type=EXAMPLE_FILE)
@click.option("--path", type=DIRECTORY, required=True, help="The state directory.")
@click.option("--config", type=EXAMPLE_FILE, envvar="PENSTOCK_CONFIG", help="Settings, in TOML.")
@click.option("--host", help="Where to listen; 127.0.0.1. Anything else needs a token.")
@click.option("--port", type=int, help="The port; 8420. 0 chooses one.")
@click.option("--read-token-file", type=EXAMPLE_FILE, help="The token of those who may read.")
@click.option("--admin-token-file", type=EXAMPLE_FILE, help="The token of those who may do all.")
@click.option("--tls-certificate", type=EXAMPLE_FILE, help="A chain of certificates, in PEM.")
@click.option("--tls-key", type=EXAMPLE_FILE, help="Its private key, in PEM.")
@click.option("--log-format", type=click.Choice(["text", "json"]), help="Lines, or JSON lines.")
@click.option("--allow-drop", is_flag=True, help="Rows that are kept may be dropped.")
def serve(
    files: Sequence[Path], path: Path, config: Path | None, allow_drop: bool, **flags: object
) -> None:
    """Serve what pipeline files say there is in a directory, until Ctrl-C or SIGTERM.

    The files are applied as by penstock run --path. Sources, views, their changes and metrics are
    then at http://127.0.0.1:8420. Every setting is also one of a TOML file and, in capitals after
    PENSTOCK_, of the environment: flags are stronger than the environment, and that than the file.

    \b
    penstock serve examples/auction.sql --path state
    curl http://127.0.0.1:8420/v1/views
    """
    from penstock.cli import serving
    from penstock.cli.stopping import Stop

    with Stop().heeded() as stop:
        serving.serve(files, path, allow_drop, config, flags, stop)


@main.command(short_help="What running files would change.")
@click.argument("files", nargs=-1, required=True, type=EXAMPLE_FILE)
@click.option("--path", type=DIRECTORY, required=True, help="The state directory.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_context
def plan(context: click.Context, files: Sequence[Path], path: Path, as_json: bool) -> None:
    """Print what `penstock run` of the files would create, replace, alter and drop in a directory.

    Nothing is changed, and another process may be using the directory. Spark is started only
    where a type is known to it alone. Exit 0 if there is nothing to do, 1 if there is.

    \b
    penstock plan sources.sql views.sql --path state
    """
    from penstock.cli.planning import errors_in, planned, statements_of
    from penstock.cli.running import print_changes
    from penstock.cli.starting import session

    statements = statements_of(files, as_json)
    with errors_in(files, as_json):
        found = planned(statements, path, lambda: session(None))
    if as_json:
        print_changes(found)
    else:
        click.echo(str(found))
    context.exit(0 if found.is_empty else 1)


@main.command(short_help="Print the plans of a file.")
@click.argument("file", type=EXAMPLE_FILE)
def explain(file: Path) -> None:
    """Print the plans of the views and queries of a file; no query is run.

    \b
    penstock explain examples/auction.sql
    """
    from penstock.cli.explaining import explained
    from penstock.cli.offline_binder import questions
    from penstock.cli.starting import session
    from penstock.sql import parse

    with errors_of(str(file)):
        asked = questions(parse(text_of(file)), lambda: session(None))
        for name, plan in explained(asked):
            click.echo(f"{click.style(name, bold=True)}\n{plan}\n")


@main.command(short_help="Does it fit in bounded memory?")
@click.argument("file", type=EXAMPLE_FILE)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_context
def check(context: click.Context, file: Path, as_json: bool) -> None:
    """Say whether the views and queries of a file fit in bounded memory; exit 1 if one does not.

    Nothing is run, and Spark is started only where a type is known to it alone: that of a function,
    or those of a table without columns.

    \b
    penstock check examples/auction.sql
    penstock check pipeline.sql --json | jq .bounded
    """
    from penstock.cli import checking
    from penstock.cli.offline_binder import questions
    from penstock.cli.printing import print_json
    from penstock.cli.starting import session
    from penstock.sql import parse

    unbounded = 0
    with errors_of(str(file), as_json):
        asked = questions(parse(text_of(file)), lambda: session(None))
        for name, verdict in checking.verdicts(asked):
            unbounded += not verdict.bounded
            if as_json:
                print_json(checking.as_json(name, verdict))
            else:
                click.echo(f"{checking.as_text(name, verdict)}\n")
    context.exit(1 if unbounded else 0)


@main.command(short_help="A prompt for statements.")
@click.option("--path", type=DIRECTORY, help="The state directory; a temporary one otherwise.")
def shell(path: Path | None) -> None:
    """A prompt for statements, with history and completion; \\? lists its shortcuts.

    \b
    penstock shell --path state
    echo 'SHOW VIEWS;' | penstock shell --path state
    """
    from penstock.cli.shell import Shell
    from penstock.cli.starting import session

    with errors_of(), session(path) as db:
        failed = Shell(db).run()
    if failed:
        raise SystemExit(3)


@main.command(short_help="What is in a state directory.")
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("view", required=False)
@click.option("--at", help="The view at this event time, instead of the latest.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def show(directory: Path, view: str | None, at: str | None, as_json: bool) -> None:
    """Show what is in a state directory: its sources and views, or the rows of one view.

    Starts no Spark and may be used while another process writes to the directory.

    \b
    penstock show state
    penstock show state highest --at '2026-03-01 12:05:00'
    """
    from penstock.cli.showing import show_directory, show_view

    if not (directory / "log").is_dir():
        raise click.UsageError(
            f"{directory} is not a state directory. Those that `penstock run --path DIR` and "
            "penstock.connect(DIR) write hold a folder log."
        )
    if at is not None and view is None:
        raise click.UsageError("--at is for a view: penstock show DIR VIEW --at TIME")
    with errors_of("", as_json):
        if view is None:
            show_directory(directory, as_json)
        else:
            show_view(directory, view, at, as_json)


for command in directories.COMMANDS:
    main.add_command(command)


@main.command(short_help="A live auction in the terminal.")
@click.option("--seconds", default=45.0, show_default=True, help="How long it goes on.")
@click.option("--path", type=DIRECTORY, help="Where its state goes; a temporary directory.")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), hidden=True)
def demo(seconds: float, path: Path | None, svg: Path | None) -> None:
    """A live auction in the terminal: six views, their changes and their state.

    \b
    penstock demo
    """
    from penstock.cli.demo import Demo
    from penstock.cli.starting import session

    with errors_of(), session(path) as db:
        Demo(db, svg).run(seconds)
