import numpy as np
import pytest

from arcrank.datasets import Corpus
from arcrank.experiments import amini2008
from arcrank.experiments.amini2008 import methods, study, tables
from arcrank.experiments.amini2008.__main__ import main
from arcrank.experiments.amini2008.methods import method
from arcrank.experiments.amini2008.study import Collection, Study
from arcrank.experiments.outcomes import Outcome


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A collection of 150 documents on three topics, and a cache folder of its own."""
    random = np.random.default_rng(0)
    topics = ["oil", "gold", "grain"]
    words = {t: [f"{t}{i}" for i in "abcdefghij"] for t in topics}
    every = [w for t in topics for w in words[t]]
    labels = [topics[i % 3] for i in range(150)]
    texts = [" ".join([*random.choice(words[t], 6), *random.choice(every, 6)]) for t in labels]
    corpus = Corpus(
        labels=["acq" if t == "oil" else t for t in topics],
        texts=texts,
        label_sets=[["acq" if t == "oil" else t] for t in labels],
    )
    monkeypatch.setitem(study.COLLECTIONS, "small", Collection(lambda: corpus, 3, 9, 40))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Study("small", n_splits=2, n_rounds=5)


def quiet(line):
    pass


def test_splits_and_label_sets_are_disjoint_nested_and_repeatable(small):
    split = small.split(0)
    assert len(split.test) == 50
    assert sorted([*split.train, *split.test]) == list(range(150))
    few, many = small.task("gold", 0, 3, 9), small.task("gold", 0, 6, 9)
    assert ((few.y == 1).sum(), (few.y == 0).sum()) == (3, 9)
    assert (many.y[few.y == 1] == 1).all()
    assert (few.y[few.y >= 0] == few.truth[split.train][few.y >= 0]).all()
    np.testing.assert_array_equal(small.task("gold", 0, 3, 9).y, few.y)


def test_topics_with_too_few_documents_are_left_out(small):
    small.corpus.labels.append("tin")
    small.corpus.label_sets[0].append("tin")
    assert small.topics == ["acq", "gold", "grain"]


def test_finished_cells_are_read_and_not_run_again(small, monkeypatch):
    first = small.cell("RB", "gold", 1)
    monkeypatch.setattr(study, "method", lambda name: pytest.fail("it was run again"))
    assert small.cell("RB", "gold", 1) == first


@pytest.mark.parametrize("name", ["RB full", "TSVM prior", "ssLR", "ssRB k=1 lambda=0.5", "naive k=2", "LR"])
def test_every_method_ranks_the_test_documents(small, name):
    task = small.task("gold", 0, 3, 9)
    assert method(name)(task).shape == (50,)
    cell = small.cell(name, "gold", 0)
    assert 0.5 < cell.auc <= 1.0
    assert len(cell.precision) == 11
    assert np.all(np.diff(cell.precision) <= 1e-12)


def test_tied_documents_are_errors_and_the_other_reading_is_beside_them(small, monkeypatch):
    monkeypatch.setattr(study, "method", lambda name: lambda task: np.zeros(len(task.split.test)))
    cell = small.cell("RB", "gold", 0)
    truth = small.truth("gold")[small.split(0).test]
    assert (cell.auc, cell.auc_random) == (0.0, 0.5)
    assert cell.aup == 0.0 < cell.aup_random  # all 50 documents have rank 50, below the cut of 40
    assert cell.t9p == cell.t9p_random == pytest.approx(truth.mean())


def test_worse_values_are_marked_and_random_ties_are_shown(small, monkeypatch):
    def finished(self, cell):
        level = {"ssLR": 0.9, "ssRB latent": 0.95}.get(cell.method, 0.5) + 0.001 * cell.split
        cell.aup = cell.t9p = cell.auc = level
        cell.aup_random = cell.t9p_random = cell.auc_random = level + 0.04
        return cell

    monkeypatch.setattr(Study, "finished", finished)
    monkeypatch.setattr(amini2008, "Study", lambda *_, tick: Study("small", 10, 5, tick))
    monkeypatch.setattr(amini2008, "_available", lambda: ["Reuters-21578"])
    outcome = Outcome("amini-table-2", "t", "A note.")
    amini2008.table2(outcome, lambda: None)
    columns, rows = outcome.table()
    assert columns == ["mAUP", "mT9P", "mAUP, random ties", "mT9P, random ties"]
    assert [name for name, values in rows.items() if not values[0].significantly_worse] == ["ssLR", "ssRB latent"]
    assert rows["RB"][2].measured - rows["RB"][0].measured == pytest.approx(4.0)
    assert outcome.note.startswith("A note. The arrow ↓ marks")


def test_only_values_whose_verdict_depends_on_ties_are_shown_twice_in_table_3(small, monkeypatch):
    def finished(self, cell):
        cell.auc = 0.85
        cell.auc_random = 0.86 if cell.method == "RB" else 0.85
        return cell

    monkeypatch.setattr(Study, "finished", finished)
    monkeypatch.setattr(tables, "TABLE3", {"RB": (85.6, 81.3, 99.9), "ssRB k=2": (85.6, 81.3, 99.9)})
    monkeypatch.setitem(study.COLLECTIONS, "Reuters-21578", study.COLLECTIONS["small"])
    outcome = Outcome("amini-table-3", "t")
    amini2008.table3(outcome, lambda: None)
    columns, rows = outcome.table()
    assert columns[-1] == "RB, random ties"
    assert [topic for topic, values in rows.items() if values[-1] is not None] == ["acq"]
    assert outcome.verdicts()["within 15 %"] == 4


def test_tables_have_a_row_for_each_method_and_mark_the_worse_ones(small):
    rows = tables.table2(small, quiet, methods=("RB", "ssRB k=1"))
    assert [(r.method, r.measure) for r in rows] == [
        ("RB", "mAUP"),
        ("ssRB k=1", "mAUP"),
        ("RB", "mT9P"),
        ("ssRB k=1", "mT9P"),
    ]
    best = max(rows[:2], key=lambda r: r.mean)
    assert not best.worse
    assert len(tables.table3(small, quiet, methods=("RB", "ssRB k=1"))) == 6


@pytest.mark.slow
def test_figures_are_points(small):
    assert [p.x for p in tables.figure1(small, quiet, counts=(3, 2))] == [3, 3, 3, 3, 2, 2, 2, 2]
    points = tables.figure2(small, quiet, factors=(1, 2))
    assert {p.of for p in points} == {"precision by recall", "mAUP by labelled documents"}
    assert len(points) == 6 * 11 + 2 * 5 + 1
    assert len(tables.figure3(small, quiet, discounts=(0.0, 1.0), factors=(1,))) == 2


@pytest.mark.slow
def test_pairs_of_methods_are_compared_by_every_measure(small):
    found = tables.pairs(small, quiet, compared=[("ssRB k=1", "naive k=1"), ("LR", "ssLR")])
    assert [(p.method, p.other) for p in found[::3]] == [("ssRB k=1", "naive k=1"), ("LR", "ssLR")]
    assert [p.measure for p in found[:3]] == ["aup", "t9p", "auc"]
    assert all(p.n == 6 and 0.0 <= p.p_value <= 1.0 for p in found)


@pytest.mark.slow
def test_beyond_compares_with_the_best_of_the_grid(small, monkeypatch):
    grid = ["LR latent=2 C=1", "LR latent=5 C=1", "LR latent=5 C=1 unit"]
    monkeypatch.setattr(methods, "LATENT_DIMENSIONS", (2, 5))
    monkeypatch.setattr(tables, "LATENT_GRID", grid)
    found = tables.beyond(small, quiet)
    assert {p.measure for p in found} == {"aup", "auc", "t9p"}
    assert all(p.n == 6 and p.other in ("LR", *grid) for p in found)
    assert [part.shape[1] for part in small.split(1).latent] == [5, 5]


def test_the_command_prints_what_is_asked_for(small, capsys):
    main(["table2", "--collection", "small", "--splits", "1", "--rounds", "2"])
    printed = capsys.readouterr()
    assert printed.out.startswith("== table2: small, 1 splits, 2 rounds\nmAUP ")
    assert "split 1 of 1" in printed.err
    with pytest.raises(SystemExit):
        main(["table9"])
