"""The measured part of docs/learners.md, and the command that writes it, on a corpus of a few documents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arcrank.datasets import Corpus
from tools.site import learners

ROOT = Path(__file__).parents[2]
WORDS = {"fruit": "apple pear plum", "tool": "saw drill hammer", "sea": "ship wave sail"}


def tiny() -> Corpus:
    names = list(WORDS)
    sets = [sorted({names[i % 3], names[(i // 3) % 3]}) for i in range(90)]
    texts = [" ".join(WORDS[name] for name in one) + f" word{i % 7}" for i, one in enumerate(sets)]
    splits = {"train": list(range(70)), "test": list(range(70, 90))}
    return Corpus(labels=[*names, "unseen"], texts=texts, label_sets=sets, splits=splits)


@pytest.fixture
def small(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(learners, "CORPORA", {"tiny, 3 labels": tiny})
    grids = {name: one._replace(grid=one.grid[:2]) for name, one in learners.LEARNERS.items()}
    monkeypatch.setattr(learners, "LEARNERS", grids)
    learners.data.cache_clear()
    yield tmp_path / "page.md"
    learners.data.cache_clear()


def check(text: str, corpora: list[str]) -> None:
    """Every corpus has a table of accuracies, with a row a learner and the best figures marked."""
    assert [line[4:] for line in text.splitlines() if line.startswith("### ")] == corpora
    assert all(word in text for word in ("Python", "numpy", "scipy", "scikit-learn", "numba", "arcrank", "cores"))
    for part in text.split("### ")[1:]:
        rows = [line for line in part.splitlines() if line.startswith("|")]
        for name in learners.LEARNERS:
            assert sum(row.startswith(f"| {name} |") for row in rows) in (1, 2), name
        heads = rows[0].split("|")[2:-2]
        for column in range(len(heads)):
            shown = [row.split("|")[column + 2].strip() for row in rows[2 : 2 + len(learners.LEARNERS)]]
            values = [float(value.strip("*")) for value in shown]
            best = max(values) if "↑" in heads[column] else min(values)
            marked = [value for value in shown if value.startswith("**")]
            assert marked
            assert all(float(value.strip("*")) == best for value in marked)


def test_the_command_measures_keeps_and_writes(small, capsys, monkeypatch):
    learners.main(["--accuracy-only", "--page", str(small)])
    first = small.read_text(encoding="utf-8")
    check(first, ["tiny, 3 labels"])
    assert "Times are not measured yet." in first
    assert "70 training and 20 test documents" in first
    learners.main(["--times-only", "--page", str(small)])
    text = small.read_text(encoding="utf-8")
    check(text, ["tiny, 3 labels"])
    assert "training, s" in text
    ratio = next(
        row.split("|")[3] for row in text.splitlines() if re.match(r"\| one-vs-rest LinearSVC \| [\d.e-]+ \| 1 ", row)
    )
    assert float(ratio) == 1
    monkeypatch.setattr(learners, "fit", None)  # everything is kept
    learners.main(["--page", str(small)])
    assert small.read_text(encoding="utf-8") == text
    assert "LogLinearRanker" in capsys.readouterr().out


def test_settings_are_chosen_without_the_test_documents(small):
    given = learners.data("tiny, 3 labels")
    assert given.Y.shape[1] == 3  # a label without a training document is left out
    blind = given._replace(X_test=None, Y_test=None)
    for name, learner in learners.LEARNERS.items():
        assert learners.choose(name, blind) in learner.grid


def test_the_page_of_the_site_has_its_shape():
    check((ROOT / "docs" / "generated" / "learners.md").read_text(encoding="utf-8"), list(learners.CORPORA))


def test_every_picture_of_the_pages_is_there_in_both_colours():
    for page in (ROOT / "docs" / "learners.md", *(ROOT / "docs" / "reproduction").glob("*.md")):
        found = re.findall(r"\]\(([^)]*\.svg)#only-(light|dark)\)", page.read_text(encoding="utf-8"))
        for path, shade in found:
            assert path.endswith(f"-{shade}.svg")
            assert (page.parent / path).is_file(), path
        assert sum(shade == "light" for _, shade in found) * 2 == len(found)
