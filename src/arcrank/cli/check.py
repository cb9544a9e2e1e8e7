"""`arcrank check`: look at data before training on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcrank.cli.learners import FileFormat

if TYPE_CHECKING:
    from arcrank.cli.findings import Finding
    from arcrank.cli.forecast import Forecast
    from arcrank.cli.survey import Survey

_STYLES = {"serious": "bold red", "warning": "yellow", "note": "cyan"}


def check(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="Files; the first is taken as training data.")],
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    format: Annotated[
        FileFormat | None, typer.Option(help="The format of DATA, where its ending does not tell.")
    ] = None,
) -> None:
    """Look at data before training: labels, doubles, overlaps, contradictions, and what training will need.

    The exit code is 3 when something is seriously off.
    """
    from arcrank.cli.failures import SERIOUS
    from arcrank.cli.forecast import forecast

    surveys, findings = look(data, format)
    needs = [forecast(one) for one in surveys]
    if json:
        from arcrank.cli.output import write_json

        write_json(to_json(surveys, findings, needs))
    else:
        show(surveys, findings, needs[0])
    if any(one.severity == "serious" for one in findings):
        raise typer.Exit(SERIOUS)


def look(paths: list[str], format: str | None = None) -> tuple[list[Survey], list[Finding]]:
    """The counts of every file, and the findings of each and of every two, the most severe first."""
    from itertools import combinations

    from arcrank.cli.findings import between, within
    from arcrank.cli.inputs import check_input

    for path in paths:
        check_input(path)
    surveys = [_survey(path, format) for path in paths]
    findings = []
    for place, found in enumerate(surveys):
        findings += within(found, _first_error(found, format), training=place == 0)
    findings += [one for first, second in combinations(surveys, 2) for one in between(first, second)]
    return surveys, sorted(findings, key=lambda one: list(_STYLES).index(one.severity))


def _survey(path: str, format: str | None) -> Survey:
    from arcrank.cli.blocks import blocks_of
    from arcrank.cli.survey import survey

    with blocks_of(path, format, "checking", on_error="skip") as blocks:
        return survey(path, blocks)


def _first_error(found: Survey, format: str | None) -> str:
    """Where the first unreadable row stands: a second look, with errors on, and only where there is one."""
    from arcrank.datasets import iter_corpus
    from arcrank.errors import FormatError

    if not found.skipped or found.path == "-":
        return ""
    try:
        for _ in iter_corpus(found.path, format):
            pass
    except FormatError as error:
        return str(error)
    return ""


def to_json(surveys: list[Survey], findings: list[Finding], needs: list[Forecast]) -> dict[str, Any]:
    """What `--json` prints: see schemas/check.json."""
    return {
        "files": [
            {
                "path": found.path,
                "rows": found.n_rows,
                "unreadable": sum(found.skipped.values()),
                "kinds": dict(found.kinds),
                "labels": dict(found.labels.most_common()),
                "forecast": need._asdict(),
            }
            for found, need in zip(surveys, needs, strict=True)
        ],
        "findings": [one._asdict() for one in findings],
        "serious": any(one.severity == "serious" for one in findings),
    }


def show(surveys: list[Survey], findings: list[Finding], need: Forecast) -> None:
    """Three things for people: the files, the findings, the forecast."""
    from arcrank.cli.output import cell, console, table

    screen = console()
    files = table("", "file", "rows", "labels", "labels a row", "commonest label", "rarest label", numbers=5)
    for found in surveys:
        files.add_row(cell(found.path), *(cell(text) for text in _numbers(found)))
    screen.print(files)
    if findings:
        made = table("", "", "what was found", "what to do")
        for one in findings:
            made.add_row(f"[{_STYLES[one.severity]}]{one.severity}[/]", cell(_message(one, surveys)), cell(one.remedy))
        screen.print(made)
    else:
        screen.print("Nothing is wrong with this data as far as it can be told before training.")
    if need.rows:
        screen.print(cell(_needs(need)))


def _message(one: Finding, surveys: list[Survey]) -> str:
    return one.message if len(surveys) == 1 else f"{one.file}: {one.message}"


def _numbers(found: Survey) -> list[str]:
    from arcrank.cli.showing import clipped

    common = found.labels.most_common()
    ends = [f"{clipped(label, 24)} ({n:,})" for label, n in (common[0], common[-1])] if common else ["-", "-"]
    each = sum(found.labels.values()) / max(1, found.n_rows)
    return [f"{found.n_rows:,}", f"{len(found.labels):,}", f"{each:.2f}", *ends]


def _needs(need: Forecast) -> str:
    memory = f"{need.megabytes:,.0f} MB" if need.megabytes < 1000 else f"{need.megabytes / 1000:,.1f} GB"
    time = f"{max(1, round(need.seconds)):,} s" if need.seconds < 120 else f"{need.seconds / 60:,.0f} minutes"
    return (
        f"One fit needs about {time} and {memory} ({need.rows:,} rows, {need.values_per_row:,.0f} features a row of "
        f"{need.features:,}, {need.labels:,} labels); a rough forecast. `train` without --learner fits several times."
    )
