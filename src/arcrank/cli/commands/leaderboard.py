"""`arcrank leaderboard`: the order of labels by votes, how sure it is, and where voters disagree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arcrank._wording import count, display_path, truncate
from arcrank.cli.console import cell, console, say, table, warnings_to_stderr, write_json
from arcrank.cli.files import check_writable, flags_for_arguments, is_html_file, opened, suggest_row_fix
from arcrank.cli.options import OnError, OnErrorOption
from arcrank.cli.reading import Reading, reads_documents

if TYPE_CHECKING:
    from arcrank.evaluation import LeaderboardReport
    from arcrank.graphs import Votes


@reads_documents
def leaderboard(
    data: Annotated[
        str,
        typer.Argument(metavar="VOTES", help="A file of votes: winner and loser, or a, b and outcome; - reads JSON."),
    ],
    reading: Reading,
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    level: Annotated[float, typer.Option(help="The level of the intervals, between 0 and 1.")] = 0.9,
    samples: Annotated[int, typer.Option(min=2, help="Bootstrap samples that the intervals are computed from.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Random seed; the same seed gives the same result.")] = 0,
    on_error: OnErrorOption = OnError.RAISE,
) -> None:
    """Rank labels by votes alone: strengths with intervals, who beats whom, cycles, and judges who disagree.

    Votes need no text here: the order is the same for all cases. `train` learns an order for each case.
    """
    from arcrank.evaluation import LeaderboardReport

    if html is not None:
        check_writable(html, "--html", inputs=(data,), may_replace=is_html_file)
    with warnings_to_stderr():
        votes = _read(data, reading, on_error)
        found = LeaderboardReport.from_votes(votes, level=level, n_samples=samples, random_state=seed)
    if html is not None:
        found.to_html(html, title=f"Votes of {Path(display_path(data)).name}")
    if json:
        write_json(found.to_dict())
    else:
        _show(found, beside_file=html is not None)
    if html is not None:
        say(f"The report is in {html}")


def _read(data: str, reading: Reading, on_error: str) -> Votes:
    from arcrank.datasets import read_votes

    delimiter, text = reading.table()["delimiter"], reading.text_column
    with opened(data) as stream, flags_for_arguments(), suggest_row_fix(on_error):
        return read_votes(stream, reading.format_of(data), on_error=on_error, delimiter=delimiter, text_column=text)


def _show(found: LeaderboardReport, *, beside_file: bool) -> None:
    screen = console(beside_file=beside_file)
    title = f"{count(found.n_votes, 'vote')} over {count(len(found.labels), 'label')}"
    made = table(title, "label", "strength", f"{found.level:.0%} interval", "places", "won", "lost", "tied", numbers=6)
    for one in found.standings:
        interval = f"{one.low:.2f} to {one.high:.2f}"
        counts = (f"{n:g}" for n in (one.wins, one.losses, one.ties + one.neither))
        made.add_row(cell(truncate(str(one.label), 48)), f"{one.strength:.2f}", interval, one.places, *counts)
    screen.print(made)
    for note in found.notes():
        screen.print(cell(note))
