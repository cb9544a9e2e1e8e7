"""The `arcrank` command. Each subcommand is a module that imports heavy modules inside its function."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from arcrank import __version__
from arcrank.cli._typer import QuietCommand, QuietGroup
from arcrank.cli.commands.check import check
from arcrank.cli.commands.data import data
from arcrank.cli.commands.demo import demo
from arcrank.cli.commands.evaluate import evaluate
from arcrank.cli.commands.explain import explain
from arcrank.cli.commands.export import export
from arcrank.cli.commands.info import info
from arcrank.cli.commands.rank import rank
from arcrank.cli.commands.reproduce import reproduce
from arcrank.cli.commands.serve import serve
from arcrank.cli.commands.train import train
from arcrank.cli.commands.tune import tune
from arcrank.cli.commands.update import update
from arcrank.cli.config_file import read_options
from arcrank.cli.errors import report_failure, show_warning
from arcrank.cli.signals import catch_signals, release_signals
from arcrank.cli.streams import prepare_streams

app = typer.Typer(
    name="arcrank",
    cls=QuietGroup,
    help="Learn to rank labels from preferences: train, rank, explain, evaluate.",
    epilog="Options can also be set by environment variables such as ARCRANK_RANK_TOP=10 for `rank --top 10`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "ARCRANK"},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"arcrank {__version__}")
        raise typer.Exit


@app.callback()
def common(
    context: typer.Context,
    config: Annotated[Path | None, typer.Option(help="A TOML file of options, with a table for each command.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn to rank labels from preferences: train, rank, explain, evaluate."""
    if config is not None:
        context.default_map = read_options(config, context.command)


for _command in (train, tune, rank, explain, evaluate, update, serve, export, check, info, reproduce, demo):
    app.command(cls=QuietCommand)(_command)
app.add_typer(data, name="data")


def main() -> None:
    """Run the command; every failure becomes a few lines on standard error and an exit code."""
    catch_signals()
    prepare_streams()
    warnings.showwarning = show_warning
    try:
        code = app(standalone_mode=False)
        if isinstance(code, int) and code:  # typer returns the exit code, also for Ctrl-C
            raise typer.Exit(code)
        sys.stdout.flush()
    except BaseException as error:  # including Ctrl-C and exits: nothing else catches them
        release_signals()
        sys.exit(report_failure(error, debug="--debug" in sys.argv or os.environ.get("ARCRANK_DEBUG", "0") != "0"))
    release_signals()
