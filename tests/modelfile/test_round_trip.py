"""What comes back is what was saved: every registered part, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

import arcrank
from arcrank.graphs import Hierarchy
from arcrank.modelfile import read_card
from arcrank.modelfile.container import FORMAT
from arcrank.modelfile.learnt import LEARNT
from arcrank.modelfile.parameters import PARAMETERS
from arcrank.modelfile.parts import PASSING, import_home
from arcrank.modelfile.registry import PARTS
from tests.modelfile.models import GRADES, MODELS, SETS, TEXTS, TOPICS, X, input_of, scores_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.arcrank"


def again(model, path, **options):
    arcrank.save(model, path, **options)
    return arcrank.load(path)


def steps_of(model):
    return [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]


@pytest.mark.parametrize("name", MODELS)
def test_scores_and_parameters_come_back(name, path):
    model = MODELS[name]()
    loaded = again(model, path)
    expected, got = scores_of(model, input_of(name)), scores_of(loaded, input_of(name))
    assert got.tobytes() == expected.tobytes()
    assert isinstance(loaded, type(model))  # a plain Pipeline comes back as a RankingPipeline
    for old, new in zip(steps_of(model), steps_of(loaded), strict=True):
        assert type(old) is type(new)
        for key, value in old.get_params(deep=False).items():
            assert_same(new.get_params(deep=False)[key], None if key in PASSING and callable(value) else value, key)


def assert_same(got, expected, key):
    if key == "rankers":  # of an average, by name
        for (name, new), (old_name, old) in zip(got, expected, strict=True):
            assert name == old_name
            assert_same(new, old, name)
        return
    if hasattr(expected, "get_params"):
        got, expected = got.get_params(), expected.get_params()
    if isinstance(expected, np.random.RandomState):
        expected = None
    if isinstance(expected, np.ndarray):
        assert got.tobytes() == expected.tobytes()
    else:
        assert got == expected, key
        assert type(got) is type(expected)


@pytest.mark.parametrize("name", MODELS)
def test_saving_again_gives_the_same_bytes(name, path, tmp_path):
    loaded = again(MODELS[name](), path, card={"measures": {"ap": 0.5}})
    arcrank.save(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_every_part_has_a_model(path):
    seen = set()
    for make in MODELS.values():
        arcrank.save(make(), path)
        seen |= {part["name"] for part in read_card(path)["parts"]}
    assert seen == {part.name for part in PARTS}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_every_parameter_of_a_part_has_a_form(part):
    assert set(PARAMETERS[part.name]) == set(import_home(part.home)().get_params(deep=False))
    assert part.name in LEARNT


@pytest.mark.parametrize("name", ["log-linear", "machine", "mmp", "rocchio fixed"])
def test_everything_else_works_too(name, path):
    model = MODELS[name]()
    loaded = again(model, path)
    rows = model[0].transform(TEXTS) if isinstance(model, Pipeline) else X
    old, new = steps_of(model)[-1], steps_of(loaded)[-1]
    assert new.rank(rows).tolist() == old.rank(rows).tolist()
    assert new.predict(rows) == old.predict(rows)
    above, below = old.labels_[:2]
    assert new.explain(rows[[0]], above, below) == old.explain(rows[[0]], above, below)
    assert new.score(rows, old.predict(rows)) == old.score(rows, old.predict(rows))


def test_what_was_learnt_on_the_way_comes_back(path):
    model = MODELS["machine codes"]()
    loaded = again(model, path)
    assert loaded.history_ == model.history_
    assert loaded.margin_bound() == model.margin_bound()
    assert loaded.embedding_.tobytes() == model.embedding_.tobytes()
    loglinear = MODELS["log-linear dual text"]()[-1]
    loaded = again(loglinear, path)
    assert (loaded.solver_, loaded.n_iter_, loaded.duality_gap_) == ("dual", loglinear.n_iter_, loglinear.duality_gap_)


def test_stumps(path):
    model = MODELS["rankboost early"]()
    loaded = again(model, path)
    assert loaded.validation_curve_.tolist() == model.validation_curve_.tolist()
    assert loaded.feature_importances_.tolist() == model.feature_importances_.tolist()
    assert [s.tolist() for s in loaded.staged_decision_function(X)] == [
        s.tolist() for s in model.staged_decision_function(X)
    ]
    assert loaded.score(X, GRADES) == model.score(X, GRADES)


@pytest.mark.parametrize("name", ["mmp", "mmp average text", "mmp kernel", "perceptron"])
def test_online_rankers_go_on_as_if_never_stopped(name, path):
    model = MODELS[name]()
    loaded = again(model, path)
    for both in (model, loaded):
        rows = both[0].transform(TEXTS) if isinstance(both, Pipeline) else X
        y = TOPICS if isinstance(both, Pipeline) else SETS
        steps_of(both)[-1].partial_fit(rows, y).partial_fit(rows[:1], [["a new one"]])
    assert scores_of(loaded).tobytes() == scores_of(model).tobytes()
    old, new = steps_of(model)[-1], steps_of(loaded)[-1]
    assert new.labels_.tolist() == old.labels_.tolist()
    assert new.cumulative_losses_.tobytes() == old.cumulative_losses_.tobytes()


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_labels_can_be_added_to_a_loaded_ranker(fit_intercept, path):
    features = {"a": np.array([1, 0]), "b": (0, 1), "c": [0.5, 0.25]}
    model = arcrank.LogLinearRanker(label_features=features, fit_intercept=fit_intercept).fit(X, SETS)
    loaded = again(model, path)
    for one in (model, loaded):
        one.add_labels({"d": [1.0, 1.0]}).partial_fit(X, [["e"], ["d"]] * 6, label_features={"e": [0.0, 2.0]})
    assert loaded.labels_.tolist() == ["a", "b", "c", "d", "e"]
    assert loaded.score_labels(X).tobytes() == model.score_labels(X).tobytes()
    assert again(loaded, path).score_labels(X).tobytes() == model.score_labels(X).tobytes()


def test_a_ranker_fitted_again_without_label_features_is_saved(path):
    model = MODELS["log-linear label features"]().set_params(label_features=None).fit(X, SETS)
    assert again(model, path).score_labels(X).tobytes() == model.score_labels(X).tobytes()


def test_warm_start_goes_on_from_the_weights(path):
    ranker = arcrank.LogLinearRanker(solver="lbfgs", warm_start=True).fit(X, SETS)
    loaded = again(ranker, path)
    assert loaded.fit(X, SETS).n_iter_ < ranker.n_iter_


def test_feature_names(path):
    names = np.array(["a", "b", "ünï", "d\n", "e"], dtype=object)
    for ranker in (arcrank.RocchioRanker(), arcrank.MMPRanker()):
        ranker.fit(X, SETS).feature_names_in_ = names  # as a data frame would have it
        loaded = again(ranker, path)
        assert loaded.feature_names_in_.dtype == object
        assert loaded.feature_names_in_.tolist() == names.tolist()


def test_sparse_rows_score_the_same(path):
    rows = sp.random(50, 40, 0.2, "csr", random_state=0)
    ranker = arcrank.LogLinearRanker().fit(rows, np.arange(50) % 7)
    assert again(ranker, path).score_labels(rows).tobytes() == ranker.score_labels(rows).tobytes()


class TestCard:
    def test_comes_back_exactly(self, path):
        tree = Hierarchy({"oil 🛢": None, "brent\n": "oil 🛢", "\ud83d\ude00 in two halves": "oil 🛢"})
        card = {
            "hierarchy": tree.parents,
            "measures": {"ap": 0.1 + 0.2, "nothing": float("nan"), "$odd": float("-inf")},
            "numbered": {1: None, 2: [1, 2.0, True, None]},
            "numpy": np.float64(0.25),
        }
        loaded = again(MODELS["mmp"](), path, card=card).model_card_
        assert repr(loaded) == repr(card | {"numpy": 0.25})
        assert Hierarchy(loaded["hierarchy"]) == tree
        assert repr(read_card(path)["card"]) == repr(loaded)

    def test_stays_unless_another_is_given(self, path):
        loaded = again(MODELS["mmp"](), path, card={"a": 1})
        assert again(loaded, path).model_card_ == {"a": 1}
        assert again(loaded, path, card={}).model_card_ == {}

    @pytest.mark.parametrize(("card", "said"), [([], "dict"), ({"f": len}, "card.f"), ({"x": np.eye(2)}, "card.x")])
    def test_refuses_what_is_no_json(self, card, said, path):
        with pytest.raises(arcrank.errors.ModelFileError, match=said):
            arcrank.save(MODELS["mmp"](), path, card=card)
        assert not path.exists()

    def test_told_without_arrays(self, path):
        arcrank.save(MODELS["rocchio"](), path, card={"a": 1})
        card = read_card(path)
        assert card["format"] == FORMAT
        assert card["arcrank"] == arcrank.__version__
        assert (card["learner"], card["labels"], card["card"]) == ("rocchio", 3, {"a": 1})
        assert card["bytes"] == path.stat().st_size
        assert [part["step"] for part in card["parts"]] == ["countvectorizer", "rocchioranker"]
        parameters = card["parts"][0]["parameters"]
        assert (parameters["ngram_range"], parameters["dtype"]) == ([1, 2], "<i8")
        assert card["arrays"]["1/weights"] == {"dtype": "F64", "shape": [3, card["features"]]}
        arcrank.save(MODELS["rankboost"](), path)
        assert read_card(path)["labels"] is None
