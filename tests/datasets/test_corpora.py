"""Every count of the corpora's README, and the papers' selections."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from arcrank.datasets import (
    load_aslib,
    load_debtags,
    load_debtags_sample,
    load_label_ranking,
    load_mulan,
    load_rcv1,
    load_reuters21578,
    load_routing,
    load_subjects,
)
from arcrank.datasets.aslib import load_aslib_runtimes
from arcrank.datasets.locate import find
from arcrank.datasets.reuters import parse_sgml
from arcrank.errors import ParameterError
from arcrank.graphs import Hierarchy, LayeredGraphs
from arcrank.io.compressed import members


def sizes(corpus):
    return {name: len(rows) for name, rows in corpus.splits.items()}


def test_reuters_modapte_is_crammer_and_singers(corpus_of):
    corpus = corpus_of(load_reuters21578, "modapte")
    assert len(corpus) == 10_789
    assert sizes(corpus) == {"train": 7_770, "test": 3_019}
    assert len(corpus.labels) == 90
    assert corpus.labels == sorted(corpus.labels)
    for name in ("train", "test"):
        assert {label for labels in corpus.split(name).label_sets for label in labels} == {*corpus.labels}


def test_reuters_has_all_its_documents(corpus_of):
    def stories():
        path = find("reuters21578", what="Reuters-21578")
        return [s for name, stream in members(path, "reut2-*.sgm") for s in parse_sgml(stream.read(), name)]

    found = corpus_of(stories)
    assert sorted(story.number for story in found) == [*range(1, 21_579)]
    assert sum(bool(story.topics) for story in found) == 11_367
    assert {*Counter(story.split for story in found)} == {"TRAIN", "TEST", "NOT-USED"}


def test_reuters_top10_is_aiolli_and_sperdutis(corpus_of):
    corpus = corpus_of(load_reuters21578, "modapte-top10")
    assert sizes(corpus) == {"train": 6_490, "test": 2_545}
    assert corpus.labels == ["earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn"]
    assert all(corpus.label_sets)


def test_reuters_first_topics_are_aminis(corpus_of):
    corpus = corpus_of(load_reuters21578, "first-topic-top10")
    assert len(corpus) == 9_509
    counts = Counter(label for (label,) in corpus.label_sets)
    assert counts == {
        "earn": 3972, "acq": 2423, "money-fx": 682, "crude": 543, "grain": 537,
        "trade": 473, "interest": 339, "ship": 209, "money-supply": 177, "sugar": 154,
    }  # fmt: skip
    assert corpus.labels == [label for label, _ in counts.most_common()]


def test_reuters_texts_have_no_markup_left(corpus_of):
    corpus = corpus_of(load_reuters21578, "modapte")
    first = corpus.texts[0]
    assert corpus.ids[0] == "1"
    assert first.startswith("BAHIA COCOA REVIEW\nShowers continued throughout the week in\nthe Bahia cocoa zone")
    everything = "\n".join(corpus.texts)
    for left in ("&lt;", "&#", "<TITLE>", "</BODY>", "</TEXT>", "\x03"):
        assert left not in everything
    assert all(corpus.texts)


def test_reuters_graphs_are_relevant_above_the_others(corpus_of):
    corpus = corpus_of(load_reuters21578, "modapte-top10")
    graphs = corpus.graphs()
    assert isinstance(graphs, LayeredGraphs)
    assert graphs.shape == (9_035, 10)
    heads, tails = graphs.arcs(0)
    assert {corpus.labels[h] for h in heads} == {*corpus.label_sets[0]}
    assert len(tails) == len(heads)
    assert len({*tails}) == 10 - len(corpus.label_sets[0])


def test_reuters_knows_its_selections():
    with pytest.raises(ParameterError, match="modapte-top10"):
        load_reuters21578("modlewis")


@pytest.mark.slow
def test_rcv1_vectors(corpus_of):
    corpus = corpus_of(load_rcv1)
    assert sizes(corpus) == {"train": 14_401, "test": 13_212}
    assert corpus.X.shape == (27_613, 47_236)
    assert len(corpus.labels) == 103
    used = {label for labels in corpus.split("test").label_sets for label in labels}
    assert len(used) == 99
    np.testing.assert_allclose(corpus.X.multiply(corpus.X).sum(axis=1), 1, atol=2e-3)


def test_rcv1_hierarchy_closes_every_label_set(corpus_of):
    corpus = corpus_of(load_rcv1)
    parents = corpus.hierarchy
    assert parents["C11"] == "CCAT"
    assert parents["C1511"] == "C151"
    assert [label for label, parent in parents.items() if parent is None] == ["CCAT", "ECAT", "GCAT", "MCAT"]
    assert {*parents} == {*corpus.labels}
    assert all(parents[label] in (None, *labels) for labels in corpus.label_sets for label in labels)
    assert corpus.descriptions["C1511"] == "ANNUAL RESULTS"


def test_rcv1_graphs_over_the_leaves(corpus_of):
    corpus = corpus_of(load_rcv1)
    graphs = Hierarchy(corpus.hierarchy).leaf_graphs(corpus.label_sets, n_layers=3)
    assert graphs.n_labels == 103
    assert round(graphs.n_arcs / len(corpus)) == 941


def test_rcv1_text_sample(corpus_of):
    corpus = corpus_of(load_rcv1, "text-sample")
    assert len(corpus) == 2_316
    assert corpus.texts[0].startswith("Brazils stateowned oil giant Petrobras")
    assert corpus.label_sets[0] == ["C152", "C15", "CCAT"]
    assert len(corpus.labels) == 103


def test_rcv1_knows_its_parts():
    with pytest.raises(ParameterError, match="text-sample"):
        load_rcv1("xml")


def test_debtags(corpus_of):
    corpus = corpus_of(load_debtags)
    assert len(corpus) == 30_292
    assert len(corpus.labels) == 571
    assert sum(parent is None for parent in corpus.hierarchy.values()) == 31
    assert round(np.mean([len(labels) for labels in corpus.label_sets]), 2) == 3.66
    assert corpus.hierarchy["role::program"] == "role"
    assert corpus.hierarchy["role"] is None
    assert sorted(np.concatenate([*corpus.splits.values()])) == [*range(30_292)]
    assert 0.29 < len(corpus.splits["test"]) / len(corpus) < 0.31


def test_the_sample_of_debtags_is_one(corpus_of):
    whole, sample = corpus_of(load_debtags), load_debtags_sample()
    rows = {name: i for i, name in enumerate(whole.ids)}
    for i in range(0, len(sample), 100):
        row = rows[sample.ids[i]]
        assert sample.texts[i] == whole.texts[row]
        assert {*sample.label_sets[i]} <= {*whole.label_sets[row]}
    assert {*sample.split("test").ids} <= {*whole.split("test").ids}


def test_the_sample_keeps_the_shares_of_frequent_tags(corpus_of):
    whole, sample = corpus_of(load_debtags), load_debtags_sample()
    share = len(sample) / len(whole)
    many, few = (np.asarray(c.indicator().sum(axis=0)).ravel() for c in (whole, sample))
    total = dict(zip(whole.labels, many, strict=True))
    frequent = [(tag, count) for tag, count in zip(sample.labels, few, strict=True) if total[tag] >= 300]
    assert len(frequent) > 50
    for tag, count in frequent:
        assert abs(count / (total[tag] * share) - 1) < 0.2, tag


def test_the_sample_needs_no_files(data_folder):
    corpus = load_debtags_sample()
    assert 2_900 <= len(corpus) <= 3_100
    assert len({*corpus.texts}) == len(corpus)  # no text is learnt from and judged by
    for name in ("train", "test"):
        assert {label for labels in corpus.split(name).label_sets for label in labels} == {*corpus.labels}
    counts = Counter(label for labels in corpus.label_sets for label in labels)
    assert min(counts.values()) >= 12
    assert {*corpus.labels} <= {*corpus.hierarchy}


SHAPES = {
    "glass": (214, 9, 6), "housing": (506, 6, 6), "iris": (150, 4, 3), "spo": (2465, 24, 11),
    "stock": (950, 5, 5), "vehicle": (846, 18, 4), "vowel": (528, 10, 11), "wine": (178, 13, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_label_ranking(corpus_of, name):
    corpus = corpus_of(load_label_ranking, name)
    n, d, k = SHAPES[name]
    assert corpus.X.shape == (n, d)
    assert corpus.ranks.shape == (n, k)
    assert corpus.labels == [f"L{j + 1}" for j in range(k)]
    assert corpus.graphs().shape == (n, k)
    heads, tails = corpus.graphs().arcs(0)
    assert (corpus.ranks[0, heads] < corpus.ranks[0, tails]).all()


def test_label_ranking_knows_its_sets():
    with pytest.raises(ParameterError, match="iris"):
        load_label_ranking("mnist")


MULAN = {"bibtex": (7395, 1836, 159), "enron": (1702, 1001, 53), "medical": (978, 1449, 45), "yeast": (2417, 103, 14)}


@pytest.mark.parametrize("name", MULAN)
def test_mulan(corpus_of, name):
    corpus = corpus_of(load_mulan, name)
    n, d, k = MULAN[name]
    assert corpus.X.shape == (n, d)
    assert corpus.feature_names == [f"f{j}" for j in range(d)]
    assert corpus.labels == [f"l{j}" for j in range(k)]
    assert corpus.indicator().shape == (n, k)
    order = np.random.default_rng(0).permutation(n)
    np.testing.assert_array_equal(np.concatenate([corpus.splits["train"], corpus.splits["test"]]), order)
    assert len(corpus.splits["train"]) == int(0.7 * n)


@pytest.mark.slow
def test_subjects(corpus_of):
    corpus = corpus_of(load_subjects)
    assert sizes(corpus) == {"train": 90_452, "dev": 19_949}
    sets = [corpus.label_sets[i] for i in corpus.splits["train"]]
    learnable = {subject for subjects in sets for subject in subjects}
    assert len(learnable) == 35_116
    assert round(np.mean([len(subjects) for subjects in sets]), 2) == 2.85
    assert len({*corpus.labels} - learnable) == 3_151
    assert len({*corpus.ids}) == len(corpus)


ASLIB = {
    "CSP-2010": (2024, 88, 2), "GLUHACK-2018": (353, 50, 8), "MAXSAT12-PMS": (876, 37, 6),
    "MIP-2016": (218, 143, 5), "QBF-2011": (1368, 46, 5), "SAT11-INDU": (300, 117, 18),
}  # fmt: skip


@pytest.mark.parametrize("name", ASLIB)
def test_aslib(corpus_of, name):
    corpus = corpus_of(load_aslib, name)
    n, d, k = ASLIB[name]
    assert corpus.X.shape == (n, d)
    assert np.isfinite(corpus.X).all()
    assert len(corpus.feature_names) == d
    assert corpus.graphs().shape == (n, k)
    runtimes = load_aslib_runtimes(name)
    np.testing.assert_array_equal(corpus.ranks == 1, runtimes == runtimes.min(axis=1, keepdims=True))
    assert [*corpus.splits] == [f"fold-{number}" for number in range(1, 11)]
    assert sorted(np.concatenate([*corpus.splits.values()])) == [*range(n)]


def test_routing(corpus_of):
    corpus = corpus_of(load_routing)
    assert sizes(corpus) == {"train": 5_608, "test": 381}
    assert corpus.ranks.shape == (5_989, 9)
    assert not np.isnan(corpus.ranks).any()
    assert (corpus.ranks.max(axis=1) == 1).sum() == 1_319
    train, test = corpus.split("train"), corpus.split("test")
    assert not {*train.texts} & {*test.texts}
