"""Which estimators a model file can hold. A new one is one entry here; the tests pick it up by themselves.

Names in files never change. A value that an older file does not have must not become needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arcrank.errors import ModelFileError
from arcrank.modelfile.parts import CountsPart, OnlinePart, Part, TermCountsPart, TextPart, TfidfPart

__all__ = ["PARTS", "part_named", "part_of"]

_LABELS = {"kind": "_kind", "labels": "labels_", "n_features": "n_features_in_", "feature_names": "feature_names_in_"}
_WEIGHTS = {"weights": "coef_", "intercept": "intercept_"}
_TRAINING = {"history": "history_", "n_iter": "n_iter_", "duality_gap": "duality_gap_"}
_MACHINE = {
    "embedding": "embedding_",
    "support": "support_",
    "support_vectors": "support_vectors_",
    "dual_weights": "dual_coef_",
    "kernel": "_kernel",
    "bound": "_bound_terms",
    "objective": "objective_",
    "leave_one_out_bound": "leave_one_out_bound_",
}
_FEATURES = {"n_features": "n_features_in_", "feature_names": "feature_names_in_"}
_STUMPS = {
    "stumps": "stumps_",
    "loss_curve": "loss_curve_",
    "bounds": "bounds_",
    "n_rounds": "n_rounds_",
    "validation_curve": "validation_curve_",
}
_TENTATIVE = {"tentative": "tentative_", "similarity": "similarity_", "latent": "latent_"}
_STUMP_RECORD = {"stumps": "arcrank.rankers.stump_scores:Stumps"}
_IDF = {"idf": "idf_"}
_PIVOT = _IDF | {"mean_terms": "mean_terms_"}
_SELECTED = {"support": "support_", "scores": "scores_"}
_FIXED = {"fixed": "fixed_vocabulary_"}


def _expect(fits: bool, what: str) -> None:
    if not fits:
        raise ValueError(what)


def _check_linear(ranker: Any) -> None:
    rows = 1 if ranker._kind == "candidates" else len(ranker.labels_)
    shape = rows, ranker.n_features_in_
    _expect(ranker.coef_.shape == shape, f"weights of shape {ranker.coef_.shape} in place of {shape}")
    _expect(ranker.intercept_.shape == shape[:1], f"an intercept of shape {ranker.intercept_.shape}")
    _expect(ranker.coef_.dtype == ranker.intercept_.dtype == np.float64, "weights that are not float64")


def _check_machine(machine: Any) -> None:
    if not hasattr(machine, "_kernel"):
        _check_linear(machine)
        return
    weights, vectors = machine.dual_coef_, machine.support_vectors_
    _expect(weights.shape == (len(machine.support_), len(machine.labels_)), f"dual weights of shape {weights.shape}")
    rows = 0 if machine.kernel == "precomputed" else len(machine.support_)
    _expect(vectors.shape == (rows, machine.n_features_in_), f"support vectors of shape {vectors.shape}")


def _check_binary(ranker: Any) -> None:
    _expect(ranker.coef_.shape == (ranker.n_features_in_,), f"weights of shape {ranker.coef_.shape}")


def _check_stumps(ranker: Any) -> None:
    stumps = getattr(ranker, "stumps_", None)
    _expect(stumps is not None or getattr(ranker, "latent_", None) is not None, "neither stumps nor latent features")
    if stumps is not None:
        _expect(len({array.shape for array in stumps}) == 1, "stumps of different lengths")
        numbers = stumps.features
        _expect(
            bool(((numbers >= 0) & (numbers < ranker.n_features_in_)).all()), "a stump on a feature that is not there"
        )


def _ranker(name: str, home: str, fitted: dict[str, str], needed: str, **more: Any) -> Part:
    return Part(name, f"arcrank.rankers.{home}", fitted, tuple(needed.split()), ranks=True, **more)


def _online(name: str, home: str) -> Part:
    needed = ("kind", "n_features", "labels", "counters", "sums", "curve")
    return OnlinePart(name, f"arcrank.rankers.{home}", needed=needed, ranks=True)


def _text(
    name: str, home: str, needed: str = "", fitted: dict[str, str] | None = None, kind: type[Part] = Part
) -> Part:
    return kind(name, home, fitted or {}, tuple(needed.split()))


PARTS: tuple[Part, ...] = (
    _ranker(
        "log-linear",
        "loglinear:LogLinearRanker",
        {**_LABELS, **_WEIGHTS, **_TRAINING, "solver": "solver_", "thresholds": "thresholds_"},
        "kind labels n_features weights intercept",
        records={"thresholds": "arcrank.rankers.label_sets:Thresholds"},
        check=_check_linear,
    ),
    _ranker(
        "preference-machine",
        "preference_machine:PreferenceMachine",
        {**_LABELS, **_WEIGHTS, **_TRAINING, **_MACHINE},
        "kind labels n_features support",
        records={"kernel": "arcrank.rankers.kernels:Kernel", "bound": "arcrank.rankers.margin_bound:BoundTerms"},
        check=_check_machine,
    ),
    _online("mmp", "online:MMPRanker"),
    _online("perceptron", "online:PerceptronRanker"),
    _ranker(
        "rocchio",
        "rocchio:RocchioRanker",
        {**_LABELS, **_WEIGHTS},
        "kind labels n_features weights intercept",
        check=_check_linear,
    ),
    _ranker(
        "rankboost",
        "rankboost:RankBoost",
        {**_FEATURES, **_STUMPS},
        "n_features stumps",
        records=_STUMP_RECORD,
        check=_check_stumps,
    ),
    _ranker(
        "semi-supervised-rankboost",
        "semisupervised:SemiSupervisedRankBoost",
        {**_FEATURES, **_STUMPS, **_TENTATIVE},
        "n_features latent",
        records={**_STUMP_RECORD, "latent": "arcrank.rankers.latent:LatentModel"},
        check=_check_stumps,
    ),
    _ranker(
        "transductive-svm",
        "transductive:TransductiveSVM",
        {**_FEATURES, **_WEIGHTS, "found_labels": "labels_"},
        "n_features weights intercept",
        check=_check_binary,
    ),
    _ranker(
        "semi-supervised-logistic",
        "semisupervised_logistic:SemiSupervisedLogistic",
        {**_FEATURES, **_WEIGHTS, "probabilities": "probabilities_", "n_iter": "n_iter_"},
        "n_features weights intercept",
        check=_check_binary,
    ),
    _text("text-features", "arcrank.text.features:TextFeatures", "terms idf", kind=TextPart),
    _text("hashed-text-features", "arcrank.text.hashing:HashedTextFeatures"),
    _text("term-counts", "arcrank.text.counts:TermCounts", "terms", kind=TermCountsPart),
    _text("log-counts", "arcrank.text.weighting:LogCounts", "n_features", _FEATURES),
    _text("tf-idf", "arcrank.text.weighting:TfIdf", "n_features idf", _FEATURES | _IDF),
    _text("pivoted-length", "arcrank.text.weighting:PivotedLength", "n_features idf mean_terms", _FEATURES | _PIVOT),
    _text("rocchio-selector", "arcrank.text.selection:RocchioSelector", "n_features support", _FEATURES | _SELECTED),
    _text(
        "informative-selector",
        "arcrank.text.selection:InformativeSelector",
        "n_features support",
        _FEATURES | _SELECTED,
    ),
    _text("count-vectorizer", "sklearn.feature_extraction.text:CountVectorizer", "terms", _FIXED, CountsPart),
    _text("tfidf-vectorizer", "sklearn.feature_extraction.text:TfidfVectorizer", "terms", _FIXED | _IDF, TfidfPart),
    _text("hashing-vectorizer", "sklearn.feature_extraction.text:HashingVectorizer"),
)

_BY_NAME = {part.name: part for part in PARTS}
_BY_HOME = {part.home: part for part in PARTS}


def part_of(estimator: Any) -> Part:
    """Return the part that this estimator is: of exactly the registered class, since a subclass may do anything."""
    cls = type(estimator)
    part = _BY_HOME.get(f"{cls.__module__}:{cls.__qualname__}")
    if part is None:
        raise ModelFileError(
            f"{cls.__name__} cannot be saved: a model file holds rankers of arcrank, alone or in a scikit-learn "
            f"Pipeline after text features ({', '.join(part.home.split(':')[1] for part in PARTS if not part.ranks)})."
        )
    return part


def part_named(name: Any) -> Part:
    """Return the part of this name in files."""
    if name not in _BY_NAME:
        raise ModelFileError(f"The model has a part {name!r}, which this arcrank does not know; install a newer one.")
    return _BY_NAME[name]
