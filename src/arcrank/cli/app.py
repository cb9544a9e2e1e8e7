"""The `arcrank` command. A subcommand is a module that is imported when it is called, and imports heavy ones later."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from arcrank import __version__
from arcrank.cli._typer import LazyGroup
from arcrank.cli.config_file import read_options
from arcrank.cli.errors import report_failure, show_warning
from arcrank.cli.signals import catch_signals, release_signals
from arcrank.cli.streams import prepare_streams

COMMANDS = {
    "train": "Learn to rank labels from documents with preferences, and save the model.",
    "tune": "Compare learners, decompositions and C by cross-validation, best first; --model saves the winner.",
    "rank": "Rank labels for documents: JSON lines as the documents come, a table for one document on a terminal.",
    "explain": (
        "Explain why label A is above label B: the words and their weights, largest first, which sum to the margin."
    ),
    "evaluate": "Measure a model on documents whose labels are known, or compare two models on them.",
    "update": "Update an online model, or one of --learner shortlist, with new documents, which may have new labels.",
    "serve": "Serve models over HTTP, with a page to rank, explain and teach by preferences.",
    "export": "Write a page with the model inside, which ranks and explains in a browser without a server.",
    "check": "Check data before training: labels, duplicates, overlaps, contradictions, and what training will need.",
    "leaderboard": (
        "Rank labels by votes alone: strengths with intervals, who beats whom, cycles, and judges who disagree."
    ),
    "info": "Show a model's card: learner, labels, features, how it was trained and measured.",
    "reproduce": "Run the papers' experiments and compare every number with the published one.",
    "demo": "Show what arcrank does, offline and in under a minute: train, evaluate, rank, explain, report.",
    "warmup": "Compile the learners' kernels for this machine, so that no later command has to.",
    "data": "Corpora that arcrank knows, and conversion between file formats.",
}
"""The commands, each a module of `cli/commands`, and what the list of commands says about them."""


class ProgramGroup(LazyGroup):
    """All commands of the program."""

    summaries = COMMANDS


app = typer.Typer(
    name="arcrank",
    cls=ProgramGroup,
    help="Learn to rank labels from preferences: train, rank, explain, evaluate.",
    epilog="Options can also be set by environment variables such as ARCRANK_RANK_TOP=10 for `rank --top 10`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "ARCRANK",
        "max_content_width": 100,
    },
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
