"""`arcrank demo`: a first look, offline. Tags Debian packages by their descriptions, beside one-vs-rest.

python -m arcrank.cli.commands.demo
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
    from arcrank.evaluation.evaluate import Evaluation

SHOWN = ("roffit", "gnome-calendar", "pinball")
"""Packages of the test part whose descriptions need no knowledge of Debian."""
MEASURES = ("average precision", "ranking loss", "coverage", "one-error")
N_PARTS = N_TAGS = 6


class Contest(NamedTuple):
    """A fitted model, the seconds that took, and its measures on the test part."""

    model: Any
    seconds: float
    measures: dict[str, float]


def demo(
    folder: Annotated[
        Path, typer.Option(help="Where the report and the model are written; it is made if need be.")
    ] = Path(),
) -> None:
    """Show what arcrank does, offline and in under a minute: learn, measure, rank, explain, report."""
    from arcrank.datasets import load_debtags_sample

    _make(folder)
    report = folder / "arcrank-demo.html"
    check_writable(report, "--folder", may_replace=None)
    corpus = load_debtags_sample()
    train, test = corpus.split("train"), corpus.split("test")
    screen = console(beside_file=True)
    screen.print(
        f"[bold]{len(corpus):,} Debian packages[/], described in words and tagged by people with some of "
        f"{len(corpus.labels)} tags.\n{len(train):,} are learnt from; how well are the tags of the other {len(test):,} "
        "ranked?\n"
    )
    say("learning (the first run compiles for some seconds) ...")
    ours, found = _ours(train, test)
    peer = _one_vs_rest(train, test)
    screen.print(_contest_table(ours, peer))
    screen.print(
        "\nThree of them, with the tags that are ranked first; ✓ marks what people gave:", *_blurbs(test), sep="\n"
    )
    screen.print(_ranking_table(ours.model, test))
    screen.print(*_why(ours.model, test, SHOWN[0]), sep="\n")
    kept = _keep(ours, found, peer, report)
    screen.print(f"\nThe report to read: [bold]{report}[/]\nThe model:          [bold]{kept}[/]")
    screen.print(_next_steps(kept), markup=False, soft_wrap=True)


def _make(folder: Path) -> None:

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(
            f"{folder}: no folder can be made here ({error.strerror}).\nGive --folder another path."
        ) from None


def _ours(train: Corpus, test: Corpus) -> tuple[Contest, Evaluation]:
    from sklearn.pipeline import make_pipeline

    from arcrank import LogLinearRanker
    from arcrank.evaluation.evaluate import evaluate
    from arcrank.text import TextFeatures

    start = time.perf_counter()
    # C and the missing intercept were chosen by 3-fold cross-validation on the training packages.
    ranker = LogLinearRanker(C=100, fit_intercept=False, tol=1e-2, random_state=0)
    model = make_pipeline(TextFeatures(), ranker).fit(train.texts, train.label_sets)
    seconds = time.perf_counter() - start
    found = evaluate(model, [test])
    return Contest(model, seconds, found.measures), found


def _one_vs_rest(train: Corpus, test: Corpus) -> Contest:
    """What most people would do first: a support vector machine for each tag."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    from arcrank import metrics
    from arcrank.text import TextFeatures

    start = time.perf_counter()
    model = make_pipeline(TextFeatures(), OneVsRestClassifier(LinearSVC())).fit(train.texts, train.indicator())
    seconds = time.perf_counter() - start
    scores, truth = model.decision_function(test.texts), test.indicator()
    names = {name: name.replace(" ", "_").replace("-", "_") for name in MEASURES}
    return Contest(model, seconds, {name: getattr(metrics, names[name])(truth, scores) for name in MEASURES})


def _contest_table(ours: Contest, peer: Contest) -> Any:

    heads = ("average precision (high)", "ranking loss (low)", "coverage (low)", "one-error (low)", "seconds")
    made = table("How well", "", *heads, numbers=5)
    for name, one in (("arcrank LogLinearRanker", ours), ("one-vs-rest LinearSVC", peer)):
        made.add_row(name, *(f"{one.measures[measure]:.3f}" for measure in MEASURES), f"{one.seconds:.1f}")
    return made


def _features(model: Any, test: Corpus, name: str) -> tuple[int, Any]:
    assert test.ids is not None
    assert test.texts is not None
    row = test.ids.index(name)
    return row, model[0].transform([test.texts[row]])


def _ranking_table(model: Any, test: Corpus) -> Any:
    """The first tags of each package side by side, with a mark on those that people gave."""
    assert test.label_sets is not None
    columns = []
    for name in SHOWN:
        row, x = _features(model, test, name)
        given = test.label_sets[row]
        columns.append([f"{label} ✓" if label in given else label for label in model[-1].rank(x, top=N_TAGS)[0]])
    made = table("", "rank", *SHOWN)
    for place in range(N_TAGS):
        made.add_row(str(place + 1), *(column[place] for column in columns))
    return made


def _blurbs(test: Corpus) -> list[str]:

    assert test.ids is not None
    assert test.texts is not None
    texts = [test.texts[test.ids.index(name)] for name in SHOWN]
    return [
        f"  [bold]{name}[/]: {truncate(' '.join(text.split()), 90)}" for name, text in zip(SHOWN, texts, strict=True)
    ]


def _why(model: Any, test: Corpus, name: str) -> tuple[str, Any]:
    """Why the first tag stands above the first one that people did not give."""
    row, x = _features(model, test, name)
    assert test.label_sets is not None
    ranking = model[-1].rank(x)[0].tolist()
    above = ranking[0]
    below = next(label for label in ranking[1:] if label not in test.label_sets[row])
    why, words = model[-1].explain(x, above, below), model[0].get_feature_names_out()
    title = f"\nWhy {name} is {above} rather than {below}: the words' parts of the margin, {why.margin:.2f}"
    made = table("", "words", "part", numbers=1)
    for feature, value in why.parts[:N_PARTS]:
        made.add_row(cell(words[feature]), f"{value:+.3f}")
    rest = why.margin - sum(value for _, value in why.parts[:N_PARTS])
    made.add_row(f"{len(why.parts) - N_PARTS:,} more", f"{rest:+.3f}")
    return title, made


def _keep(ours: Contest, found: Evaluation, peer: Contest, report: Path) -> Path:
    """Write the report and the model, and return the model's path."""
    from arcrank.cli.commands.evaluate import write_report

    rows = [
        [Cell(name), *(Cell(f"{one.measures[m]:.3f}", one.measures[m]) for m in MEASURES)]
        for name, one in (("arcrank LogLinearRanker", ours), ("one-vs-rest LinearSVC", peer))
    ]
    beside = section(
        "Beside one-vs-rest", html_table(["", *MEASURES], rows), intro="On the same features and the same packages."
    )
    title = "arcrank demo: tags of Debian packages"
    write_report(found, "arcrank-demo.arcrank", "the debtags sample", report, title=title, before=[beside])
    path = report.with_suffix(".arcrank")
    card = {"data": "the debtags sample", "seconds": round(ours.seconds, 3), "measures": ours.measures}
    arcrank.save(ours.model, path, card=card)
    return path


def _next_steps(model: Path) -> str:
    beside = Path(sys.executable).with_name("arcrank")
    command = "arcrank" if shutil.which("arcrank") or not beside.exists() else os.path.relpath(beside)
    return (
        "\nTry next\n"
        f'  echo "a fast text editor for the terminal" | {command} rank {model} -\n'
        f"  {command} data convert debtags-sample mine.jsonl --split train   # what your own data should look like\n"
        f"  {command} check mine.jsonl\n"
        f"  {command} train mine.jsonl --model mine.arcrank\n"
        "README.md shows the same in Python."
    )
