"""`arcrank check`: problems in data, before training on them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcrank import datacheck
from arcrank._wording import count, display_path, truncate
from arcrank.cli.blocks import blocks_of
from arcrank.cli.console import cell, console, table, write_json
from arcrank.cli.errors import SERIOUS
from arcrank.cli.files import check_input
from arcrank.cli.reading import Reading, reads_data, with_flags
from arcrank.errors import FormatError

if TYPE_CHECKING:
    from arcrank.datacheck.findings import Finding
    from arcrank.datacheck.stats import CorpusStats
    from arcrank.graphs import Hierarchy
    from arcrank.training.estimate import ResourceEstimate

_STYLES = {"serious": "bold red", "warning": "yellow", "note": "cyan"}


@reads_data
def check(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="Files; the first one is the training data.")],
    reading: Reading,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    hierarchy: Annotated[
        Path | None,
        typer.Option(help='The tree for `train --hierarchy`: JSON {"label": parent or null}, or child<TAB>parent.'),
    ] = None,
) -> None:
    """Check data before training: labels, duplicates, overlaps, contradictions, and what training will need.

    The exit code is 3 if a finding is serious.
    """
    tree = None if hierarchy is None else _read_tree(hierarchy)
    stats, findings = look(data, reading, tree, str(hierarchy))
    needs = [one.resources(None if tree is None else len(tree)) for one in stats]
    if json:
        write_json(to_json(stats, findings, needs))
    else:
        show(stats, findings, needs[0])
    if any(one.severity == "serious" for one in findings):
        raise typer.Exit(SERIOUS)


def look(
    paths: list[str], reading: Reading | None = None, tree: Hierarchy | None = None, tree_name: str = ""
) -> tuple[list[CorpusStats], list[Finding]]:
    """The counts of every file, and the findings, the most severe first."""
    for path in paths:
        check_input(path)
    reading = Reading() if reading is None else reading
    stats = [_stats(path, reading) for path in paths]
    findings = datacheck.check(*stats, hierarchy=tree, hierarchy_name=tree_name)
    return stats, [one._replace(remedy=_with_flags(one.remedy)) for one in findings]


def _with_flags(remedy: str) -> str:
    return with_flags(remedy).replace('on_error="skip"', "--on-error skip")


def _read_tree(path: Path) -> Hierarchy:
    from arcrank.datasets.hierarchy_file import read_hierarchy
    from arcrank.graphs import Hierarchy

    return Hierarchy(read_hierarchy(path))


def _stats(path: str, reading: Reading) -> CorpusStats:
    from arcrank.datacheck.stats import corpus_stats

    with blocks_of(path, reading, "checking", on_error="skip") as blocks:
        found = corpus_stats(display_path(path), blocks)
    found.first_error = _first_error(found, path, reading)
    return found


def _first_error(found: CorpusStats, path: str, reading: Reading) -> str:
    """What is wrong with the first unreadable row: a second pass that stops there, only where there is such a row."""
    from arcrank.datasets import iter_corpus

    if not found.skipped or path == "-":
        return ""
    try:
        with warnings.catch_warnings(action="ignore"):  # the first pass has them
            for _ in iter_corpus(path, reading.format, **reading.table()):
                pass
    except FormatError as error:
        return with_flags(str(error))
    return ""


def to_json(stats: list[CorpusStats], findings: list[Finding], needs: list[ResourceEstimate]) -> dict[str, Any]:
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
            for found, need in zip(stats, needs, strict=True)
        ],
        "findings": [one._asdict() for one in findings],
        "serious": any(one.severity == "serious" for one in findings),
    }


def show(stats: list[CorpusStats], findings: list[Finding], need: ResourceEstimate) -> None:
    """The files, the findings and the estimate, for people."""
    screen = console()
    names = _short_names([found.path for found in stats])
    screen.print(_files_table(stats, names))
    if findings:
        screen.print(_findings_grid(findings, names))
    else:
        screen.print("No problems were found.")
    if need.rows:
        screen.print(cell(_needs(need)))


def _short_names(paths: list[str]) -> dict[str, str]:
    """Names without folders, where that distinguishes the files."""
    names = [Path(path).name for path in paths]
    return dict(zip(paths, names if len({*names}) == len({*paths}) else paths, strict=True))


def _files_table(stats: list[CorpusStats], names: dict[str, str]) -> Any:
    """A column for each file: names are long, and there are rarely more than two files."""
    from rich.markup import escape

    made = table("", "", *(escape(truncate(names[found.path])) for found in stats), numbers=len(stats))
    facts = "rows", "labels", "labels per row", "most frequent", "least frequent"
    for name, *values in zip(facts, *map(_numbers, stats), strict=True):
        made.add_row(name, *map(cell, values))
    return made


def _numbers(found: CorpusStats) -> list[str]:
    common = found.labels.most_common()
    ends = [f"{truncate(label, 32)} ({n:,})" for label, n in (common[0], common[-1])] if common else ["-", "-"]
    each = sum(found.labels.values()) / max(1, found.n_rows)
    return [f"{found.n_rows:,}", f"{len(found.labels):,}", f"{each:.2f}", *ends]


def _findings_grid(findings: list[Finding], names: dict[str, str]) -> Any:
    """No lines between columns: the whole width is for the sentences."""
    from rich.table import Table
    from rich.text import Text

    made = Table.grid(padding=(0, 2))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for one in findings:
        place = ", ".join(names.get(part, part) for part in one.file.split(", "))
        message = one.message if len(names) == 1 else f"{place}: {one.message}"
        made.add_row(Text(one.severity, _STYLES[one.severity]), cell(message))
        made.add_row("", Text(one.remedy[:1].upper() + one.remedy[1:], "dim"))
    return made


def _needs(need: ResourceEstimate) -> str:
    memory = f"{need.megabytes:,.0f} MB" if need.megabytes < 1000 else f"{need.megabytes / 1000:,.1f} GB"
    time = f"{max(1, round(need.seconds)):,} s" if need.seconds < 120 else f"{need.seconds / 60:,.0f} minutes"
    size = f"{count(need.rows, 'row')}, {count(need.features, 'feature')}, {need.values_per_row:,.0f} of them per row"
    return (
        f"One fit needs about {time} and {memory} ({size}, {count(need.labels, 'label')}); this is a rough "
        "estimate. `train` without --learner fits several times."
    )
