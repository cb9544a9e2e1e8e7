"""`arcrank reproduce`: the experiments of the papers by name, measured beside published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcrank._wording import number
from arcrank.cli.console import console, say, table, write_json
from arcrank.cli.files import check_writable, is_html_file
from arcrank.cli.progress import Meter
from arcrank.errors import MissingDataError
from arcrank.experiments import registry
from arcrank.experiments.outcomes import MARKS, RULE
from arcrank.experiments.registry import experiment, run
from arcrank.experiments.report import markdown, report, to_json
from arcrank.io.atomic import write_atomically

if TYPE_CHECKING:
    from arcrank.experiments.outcomes import Outcome, Value

_STYLES = {"at or better": "green", "within 15 %": "yellow", "worse": "red", "no verdict": ""}


def reproduce(
    tables: Annotated[
        list[str] | None, typer.Argument(metavar="[TABLE]...", help="Names of --list; all if none.")
    ] = None,
    list: Annotated[bool, typer.Option("--list", help="List the experiments and what they need.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="Write tables and plots to this file: .html a page, .md a part of a site.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Run the papers' experiments, and set every number beside the published one.

    Finished cells are kept in the user's cache folder: what was stopped goes on there. All of them take hours.
    """

    if list:
        _list(json)
        return
    if report is not None:
        check_writable(report, "--report", may_replace=lambda path: path.suffix.lower() == ".md" or is_html_file(path))
    outcomes, left_out = run_all(tables or [])
    if report is not None:
        _write(report, outcomes, left_out)
    if json:
        write_json(to_json(outcomes, left_out))
    else:
        show(outcomes, beside_file=report is not None)


def run_all(names: Sequence[str]) -> tuple[list[Outcome], dict[str, str]]:
    """The outcomes of the named experiments; of all that have their corpus here where none is named."""
    for name in names:
        experiment(name)
    outcomes, left_out = [], {}
    for name in names or registry.EXPERIMENTS:
        try:
            outcomes.append(_run(name))
        except MissingDataError as error:
            if names:
                raise
            left_out[name] = str(error)
            say(f"{name} is left out. {error}")
    return outcomes, left_out


def _run(name: str) -> Outcome:

    with Meter(name, experiment(name).n_cells(), "cells") as meter:
        return run(name, meter.advance)


def _list(as_json: bool) -> None:
    from arcrank.datasets.registry import CORPORA

    here = {name: CORPORA[one.corpus].found() is not None for name, one in registry.EXPERIMENTS.items()}
    if as_json:
        write_json(
            [
                {"name": name, "paper": one.paper, "title": one.title, "corpus": one.corpus, "found": here[name]}
                for name, one in registry.EXPERIMENTS.items()
            ]
        )
        return
    made = table("", "name", "paper", "what", "corpus")
    for name, one in registry.EXPERIMENTS.items():
        made.add_row(name, one.paper, one.title, one.corpus if here[name] else f"{one.corpus} [dim](not here)[/]")
    console().print(made)


def _write(path: Path, outcomes: list[Outcome], left_out: dict[str, str]) -> None:

    write = markdown if path.suffix.lower() == ".md" else report
    write_atomically(path, [write(outcomes, left_out).encode()])
    say(f"The report is in {path}")


def show(outcomes: list[Outcome], *, beside_file: bool = False) -> None:
    """A table for each experiment, ours and in brackets the published value with a mark."""
    screen = console(beside_file=beside_file)
    for one in outcomes:
        screen.print(_table(one))
        told = ", ".join(f"{n:,} {name} {MARKS[name]}".strip() for name, n in one.verdicts().items() if n)
        screen.print(f"{one.name}: {told}\n", markup=False)
        if one.note:
            say(one.note)
    say(RULE)


def _table(one: Outcome) -> Any:

    columns = list(dict.fromkeys(value.column for value in one.values))
    placed = {(value.row, value.column): value for value in one.values}
    made = table(one.full_title, "", *columns, numbers=len(columns))
    for row in dict.fromkeys(value.row for value in one.values):
        made.add_row(row, *(_text(placed.get((row, column))) for column in columns))
    return made


def _text(value: Value | None) -> Any:
    from rich.text import Text

    if value is None:
        return ""
    paper = "" if value.published is None else f" [{number(value.published)}]"
    return Text(f"{number(value.measured)}{paper} {MARKS[value.verdict]}".strip(), _STYLES[value.verdict])
