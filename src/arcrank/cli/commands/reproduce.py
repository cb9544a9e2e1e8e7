"""`arcrank reproduce`: run the experiments of the papers by name and compare with the published values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from arcrank._wording import number
from arcrank.cli.console import console, say, table, write_json
from arcrank.cli.files import check_writable, is_html_file
from arcrank.cli.progress import Meter
from arcrank.errors import MissingDataError
from arcrank.experiments import registry
from arcrank.experiments.outcomes import MARKS, RULE, Outcome, Value, format_verdicts
from arcrank.experiments.registry import experiment, run
from arcrank.experiments.report import markdown, report, to_json
from arcrank.io.atomic import write_atomically

_STYLES = {"at or better": "green", "within 15 %": "yellow", "worse": "red", "no verdict": ""}


def reproduce(
    tables: Annotated[
        list[str] | None, typer.Argument(metavar="[TABLE]...", help="Names as in --list (default: all).")
    ] = None,
    list: Annotated[bool, typer.Option("--list", help="List the experiments and the corpora they need.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="Write tables and plots to this file: a page (.html) or part of a site (.md).")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Run the papers' experiments and compare every number with the published one.

    Finished cells are stored in the user's cache folder, so an interrupted run resumes. All experiments take hours.
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
    """Run the named experiments, by default all; those without a corpus are skipped unless they are named.

    Returns the outcomes, and the reason for each experiment that was skipped.
    """
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
            say(f"{name} is skipped. {error}")
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
    made = table("", "name", "paper", "experiment", "corpus")
    for name, one in registry.EXPERIMENTS.items():
        made.add_row(name, one.paper, one.title, one.corpus if here[name] else f"{one.corpus} [dim](not found)[/]")
    console().print(made)


def _write(path: Path, outcomes: Sequence[Outcome], left_out: dict[str, str]) -> None:
    write = markdown if path.suffix.lower() == ".md" else report
    write_atomically(path, [write(outcomes, left_out).encode()])
    say(f"The report is in {path}")


def show(outcomes: Iterable[Outcome], *, beside_file: bool = False) -> None:
    """Print a table for each experiment: measured values, published values in brackets, and verdicts."""
    screen = console(beside_file=beside_file)
    for one in outcomes:
        screen.print(_table(one))
        screen.print(f"{one.name}: {format_verdicts(one.verdicts())}\n", markup=False)
        if one.note:
            say(one.note)
    say(RULE)


def _table(one: Outcome) -> Any:
    columns, rows = one.table()
    made = table(one.full_title, "", *columns, numbers=len(columns))
    for row, values in rows.items():
        made.add_row(row, *map(_text, values))
    return made


def _text(value: Value | None) -> Any:
    from rich.text import Text

    if value is None:
        return ""
    published = "" if value.published is None else f" [{number(value.published)}]"
    return Text(
        f"{number(value.measured)}{value.arrow}{published} {MARKS[value.verdict]}".strip(), _STYLES[value.verdict]
    )
