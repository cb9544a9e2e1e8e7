"""`compare`: its p-values against brute force and SciPy, its records against loops, and its verdicts."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from scipy import stats
from sklearn.pipeline import make_pipeline

import arcrank
from arcrank import LogLinearRanker, RocchioRanker, metrics
from arcrank.errors import InputError, ParameterError
from arcrank.evaluation import compare, evaluate
from arcrank.evaluation.measures import DESCRIPTIONS, higher_is_better
from arcrank.evaluation.significance import holm, permutation_p_values
from arcrank.text import TextFeatures
from tests.cli.json_schema import check_output


def two_models(n=40, noise=1.0, seed=0):
    """Two rankers of one kind, the second trained on noisier features, and data for both."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n)
    X = np.eye(3)[y] + random.normal(0, 0.5, (n, 3))
    good = RocchioRanker().fit(X, y)
    other = RocchioRanker().fit(X + random.normal(0, noise, X.shape), y)
    return good, other, X, y


def brute_force(d):
    """The share of sign patterns with a sum at least as far from zero as the observed one."""
    sums = [
        abs(sum(s * x for s, x in zip(signs, d, strict=True))) for signs in itertools.product((1, -1), repeat=len(d))
    ]
    return sum(one >= abs(sum(d)) - 1e-12 for one in sums) / len(sums)


@pytest.mark.parametrize("seed", range(5))
def test_all_permutations_of_few_documents(seed):
    d = np.random.default_rng(seed).normal(0.3, 1, (9, 2)).round(1)
    d[seed, 0] = np.nan  # a document without this measure counts as no difference
    found = permutation_p_values(d, 9999, 0)
    assert found == pytest.approx([brute_force(np.nan_to_num(column)) for column in d.T])


def test_drawn_permutations_are_those_of_scipy():
    d = np.random.default_rng(1).normal(0.1, 1, 80)
    found = permutation_p_values(d[:, None], 9999, 0)[0]
    given = {"permutation_type": "samples", "n_resamples": 20_000, "rng": np.random.default_rng(2)}
    expected = stats.permutation_test((d,), np.mean, **given).pvalue
    assert found == pytest.approx(expected, abs=4 * np.sqrt(expected / 9999))
    assert permutation_p_values(d[:, None], 9999, 0)[0] == found


def test_p_values_are_uniform_where_nothing_differs():
    random = np.random.default_rng(0)
    p = permutation_p_values(random.normal(0, 1, (30, 400)), 999, 0)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert permutation_p_values(np.zeros((5, 2)), 99, 0).tolist() == [1.0, 1.0]


def test_holm_is_that_of_the_paper():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    rejected = np.zeros(4, dtype=bool)
    for step, place in enumerate(np.argsort(p)):  # step down until the first that stays
        if p[place] > 0.05 / (4 - step):
            break
        rejected[place] = True
    assert ((holm(p) <= 0.05) == rejected).all()


def test_figures_are_those_of_the_models_alone():
    good, other, X, y = two_models()
    found = compare(good, other, X, y)
    assert {name: one.a for name, one in found.measures.items()} == evaluate(good, X, y).measures
    assert {name: one.b for name, one in found.measures.items()} == evaluate(other, X, y).measures
    Y, scores = np.eye(3, dtype=bool)[y], [model.score_labels(X) for model in (good, other)]
    values = [metrics.average_precision(Y, one, reduce="none") for one in scores]
    one = found.measures["average precision"]
    assert one.documents == tuple(int((np.sign(values[0] - values[1]) == sign).sum()) for sign in (1, 0, -1))
    expected = permutation_p_values((values[0] - values[1])[:, None], 9999, 1)[0]
    assert one.p == pytest.approx(expected, abs=0.02)
    assert found.measures["max F1"].p is None


def test_labels_are_compared_by_their_ranks():
    good, other, X, y = two_models()
    found = compare(good, other, X, y)
    a, b = ((-model.score_labels(X)).argsort(axis=1).argsort(axis=1) for model in (good, other))
    for label, row in enumerate(found.per_label):
        ranks = [one[y == label, label] for one in (a, b)]
        assert row.documents == tuple(int((np.sign(ranks[1] - ranks[0]) == sign).sum()) for sign in (1, 0, -1))
        assert row.average_rank_a == pytest.approx(ranks[0].mean() + 1)
    assert sum(found.labels) == 3


def test_the_order_of_the_models_only_turns_the_result():
    good, other, X, y = two_models()
    there, back = compare(good, other, X, y), compare(other, good, X, y)
    for name, one in there.measures.items():
        assert one.p == back.measures[name].p
        assert one.difference == -back.measures[name].difference
    assert there.documents == back.documents[::-1]


def test_verdicts():
    good, _, X, y = two_models(n=80)
    other = RocchioRanker().fit(X, (y + (np.arange(80) % 2)) % 3)  # half of its labels were wrong
    better = compare(good, other, X, y)
    assert "A is significantly better than B in" in better.verdict
    assert "B is significantly better than A in" in compare(other, good, X, y).verdict
    same = compare(good, good, X, y)
    assert same.verdict == "A and B have the same value of every measure on each of 80 documents."
    assert all(one.p in (1.0, None) for one in same.measures.values())
    close = compare(*two_models(n=30, noise=0.3, seed=3), names=("old", "new"))
    assert close.verdict.startswith("No significant difference between old and new on 30 documents: ")
    assert "does not show that they are equally good" in close.verdict


def test_significance_goes_by_the_adjusted_p_values():
    found = compare(*two_models(n=40, noise=1.2, seed=4))
    for one in found.measures.values():
        if one.p is not None:
            assert one.p_adjusted >= one.p
            assert one.significant == (one.p_adjusted < 0.05)
    tested = [one.p for one in found.measures.values() if one.p is not None]
    adjusted = [one.p_adjusted for one in found.measures.values() if one.p is not None]
    assert adjusted == pytest.approx(holm(np.array(tested)).tolist())


def test_only_shared_labels_are_compared():
    X = np.eye(4)[[0, 1, 2, 3] * 6]
    y = np.array(["a", "b", "c", "d"] * 6)
    known = [np.isin(y, [*names]) for names in ("abc", "bcd")]
    first, second = (RocchioRanker().fit(X[rows], y[rows]) for rows in known)
    found = compare(first, second, X, y)
    assert (found.a.labels, found.only_a, found.only_b) == (["b", "c"], ["a"], ["d"])
    assert found.a.n_measured == 12
    assert "1 label is known only to A and left out: a." in found.caveats
    assert (
        "2 labels are not known to both models and left out of every measure, in 12 documents: a, d." in found.caveats
    )
    direct = metrics.ranking_loss(np.eye(2)[[0, 1] * 6], second.score_labels(X)[known[0] & known[1]][:, :2])
    assert found.measures["ranking loss"].b == pytest.approx(direct)


def test_models_that_cannot_be_compared():
    X, y = np.eye(3), ["a", "b", "c"]
    ranker = RocchioRanker().fit(X, y)
    with pytest.raises(InputError, match="1 of them is the same"):
        compare(ranker, RocchioRanker().fit(X, ["a", "x", "y"]), X, y)
    texts = make_pipeline(TextFeatures(min_df=1), RocchioRanker()).fit(["one", "two", "six"], y)
    with pytest.raises(InputError, match="A takes features and B takes texts"):
        compare(ranker, texts, X, y)
    with pytest.raises(ParameterError, match="n_permutations"):
        compare(ranker, ranker, X, y, n_permutations=0)


def test_hierarchies_must_be_the_same(tmp_path):
    parents, X, sets = {"hot": None, "tea": "hot", "milk": None}, np.eye(3), [["tea"], ["hot"], ["milk"]]
    graphs = arcrank.graphs.Hierarchy(parents).leaf_graphs(sets)
    flat = LogLinearRanker(tol=0.1).fit(X, graphs)
    arcrank.save(flat, tmp_path / "m.arcrank", card={"hierarchy": parents})
    tree = arcrank.load(tmp_path / "m.arcrank")
    assert compare(tree, tree, X, [*map(set, sets)]).a.n_documents == 3
    with pytest.raises(InputError, match="different hierarchies"):
        compare(tree, flat, X, graphs)


def test_the_forms_of_a_comparison(tmp_path):
    found = compare(*two_models(), names=("home/<old>", "home/new"))
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    check_output(told, "evaluate-compare")
    assert told["measures"]["max F1"]["p"] is None
    assert found.verdict in repr(found)
    assert "&lt;old&gt;" in found._repr_html_()
    found.to_html(tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "&lt;old&gt; or new" in page
    assert "home/" not in page  # a page that is passed on names no folders
    same = compare(*two_models(), names=("x/m", "y/m"))
    same.to_html(tmp_path / "same.html")
    assert "x/m or y/m" in (tmp_path / "same.html").read_text(encoding="utf-8")
    assert "<old>" not in page.partition("<body>")[2].partition("<script")[0]


def test_every_measure_has_a_direction():
    assert {name for name in DESCRIPTIONS if not higher_is_better(name)} == {
        *(f"{name} error" for name in ("zero-one", "disagreement", "domination", "dominated")),
        *("one-error", "coverage", "ranking loss", "calibration error", "first-label calibration error"),
    }
