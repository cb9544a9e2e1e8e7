"""`arcrank demo`: a first look without a network. Tags Debian packages by their descriptions and compares models."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import arcrank
from arcrank._wording import truncate
from arcrank.cli.console import cell, console, say, table
from arcrank.cli.files import check_writable
from arcrank.errors import ParameterError
from arcrank.evaluation.report.html import Cell, section
from arcrank.evaluation.report.html import table as html_table

if TYPE_CHECKING:
    from arcrank.datasets import Corpus
    from arcrank.experiments.demo import Comparison

SHOWN = ("roffit", "gnome-calendar", "pinball")
"""Packages of the test part whose descriptions need no knowledge of Debian."""
HEADS = {
    "average precision": "average precision (high)",
    "ranking loss": "ranking loss (low)",
    "coverage": "coverage (low)",
    "one-error": "one-error (low)",
}
"""The measures, with the direction that is better."""
N_WORDS = N_TAGS = 6


def demo(
    folder: Annotated[
        Path, typer.Option(help="Folder for the report and the model; it is created if it does not exist.")
    ] = Path(),
) -> None:
    """Show what arcrank does, offline and in under a minute: train, evaluate, rank, explain, report."""
    _create(folder)
    report = folder / "arcrank-demo.html"
    check_writable(report, "--folder", may_replace=None)
    _show(report)


def _show(report: Path) -> None:
    """Train and print, and write the report and the model."""
    from arcrank.datasets import load_debtags_sample
    from arcrank.experiments.demo import compare

    corpus, screen = load_debtags_sample(), console(beside_file=True)
    screen.print(_introduction(corpus))
    say("training (the first run compiles for some seconds) ...")
    found = compare(corpus)
    model, test = found.ranker.model, found.test
    screen.print(_measures_table(found))
    screen.print("\nThree of these packages and their first tags; ✓ marks tags that people gave:")
    screen.print(*_descriptions(test), _ranking_table(model, test), sep="\n")
    screen.print(*_explanation(model, test, SHOWN[0]), sep="\n")
    stored = _store(found, report)
    screen.print(f"\nReport: [bold]{report}[/]\nModel:  [bold]{stored}[/]")
    screen.print(_next_steps(stored), markup=False, soft_wrap=True)


def _create(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(
            f"{folder}: this folder cannot be created ({error.strerror}).\nPass another path to --folder."
        ) from None


def _introduction(corpus: Corpus) -> str:
    n_train, n_test = len(corpus.splits["train"]), len(corpus.splits["test"])
    return (
        f"[bold]{len(corpus):,} Debian packages[/] with descriptions, tagged by people with some of "
        f"{len(corpus.labels)} tags.\n{n_train:,} packages are used for training. How well are the tags of the other "
        f"{n_test:,} ranked?\n"
    )


def _measures_table(found: Comparison) -> Any:
    made = table("Measures on the test packages", "", *HEADS.values(), "seconds", numbers=5)
    for one in (found.ranker, found.one_vs_rest):
        made.add_row(one.name, *(f"{one.measures[measure]:.3f}" for measure in HEADS), f"{one.seconds:.1f}")
    return made


def _document(test: Corpus, name: str) -> tuple[str, list[str]]:
    """Return the text and the tags of a package."""
    assert test.ids is not None
    assert test.texts is not None
    assert test.label_sets is not None
    row = test.ids.index(name)
    return test.texts[row], list(test.label_sets[row])


def _descriptions(test: Corpus) -> list[str]:
    texts = {name: " ".join(_document(test, name)[0].split()) for name in SHOWN}
    return [f"  [bold]{name}[/]: {truncate(text, 90)}" for name, text in texts.items()]


def _ranking_table(model: Any, test: Corpus) -> Any:
    """Return the first tags of each package side by side, with a mark on those that people gave."""
    columns = []
    for name in SHOWN:
        text, given = _document(test, name)
        ranking = model[-1].rank(model[0].transform([text]), top=N_TAGS)[0]
        columns.append([f"{tag} ✓" if tag in given else tag for tag in ranking])
    made = table("", "rank", *SHOWN)
    for place in range(N_TAGS):
        made.add_row(str(place + 1), *(column[place] for column in columns))
    return made


def _explanation(model: Any, test: Corpus, name: str) -> tuple[str, Any]:
    """Explain why the first tag is ranked above the first one that people did not give."""
    text, given = _document(test, name)
    x = model[0].transform([text])
    above, *others = model[-1].rank(x)[0].tolist()
    below = next(tag for tag in others if tag not in given)
    why, words = model[-1].explain(x, above, below), model[0].get_feature_names_out()
    title = f"\nWhy {above} is ranked above {below} for {name}: contributions to the margin of {why.margin:.2f}"
    made = table("", "words", "contribution", numbers=1)
    for feature, value in why.parts[:N_WORDS]:
        made.add_row(cell(words[feature]), f"{value:+.3f}")
    rest = why.margin - sum(value for _, value in why.parts[:N_WORDS])
    made.add_row(f"{len(why.parts) - N_WORDS:,} more", f"{rest:+.3f}")
    return title, made


def _store(found: Comparison, report: Path) -> Path:
    """Write the report and the model, and return the path of the model."""
    path, ranker = report.with_suffix(".arcrank"), found.ranker
    rows = [
        [Cell(one.name), *(Cell(f"{one.measures[name]:.3f}", one.measures[name]) for name in HEADS)]
        for one in (ranker, found.one_vs_rest)
    ]
    heads, intro = ["", *HEADS], "Both models use the same features and packages."
    sections = [section("Comparison with one-vs-rest", html_table(heads, rows), intro=intro)]
    title, data = "arcrank demo: tags of Debian packages", "the debtags sample"
    found.evaluation.to_html(report, title=title, sections=sections)
    card = {"data": data, "seconds": round(ranker.seconds, 3), "measures": ranker.measures}
    arcrank.save(ranker.model, path, card=card)
    return path


def _next_steps(model: Path) -> str:
    beside = Path(sys.executable).with_name("arcrank")
    command = "arcrank" if shutil.which("arcrank") or not beside.exists() else os.path.relpath(beside)
    return (
        "\nNext steps\n"
        f'  echo "a fast text editor for the terminal" | {command} rank {model} -\n'
        f"  {command} data convert debtags-sample mine.jsonl --split train   # the format for your own data\n"
        f"  {command} check mine.jsonl\n"
        f"  {command} train mine.jsonl --model mine.arcrank\n"
        "README.md shows the same in Python."
    )
