"""Which estimators a model file can hold. A new one is one entry here, one in `parameters.py` and one in `learnt.py`.

Names in files never change. A value that older files do not have must stay optional.
"""

from __future__ import annotations

from typing import Any

from arcrank.errors import ModelFileError
from arcrank.modelfile.average import AveragePart
from arcrank.modelfile.parts import (
    CountsPart,
    EmbeddingPart,
    LogLinearPart,
    MachinePart,
    OnlinePart,
    Part,
    ShortlistPart,
    TablePart,
    TermCountsPart,
    TextAndEmbeddingsPart,
    TextPart,
    TfidfPart,
)

__all__ = ["PARTS", "part_named", "part_of"]

_LABELS = {"kind": "_kind", "labels": "labels_", "n_features": "n_features_in_", "feature_names": "feature_names_in_"}
_WEIGHTS = {"weights": "coef_", "intercept": "intercept_"}
_CALIBRATED = {"calibration": "calibration_"}
_CALIBRATION = {"calibration": "arcrank.rankers.calibration:Calibration"}
_TRAINING = {"history": "history_", "n_iter": "n_iter_", "duality_gap": "duality_gap_", "cost": "C_"}
_GRADES = {**_LABELS, **_WEIGHTS, **_CALIBRATED, "n_iter": "n_iter_"}
_LABEL_FEATURES = {"label_weights": "label_coef_", "constant": "_constant"}
_MACHINE = {
    "embedding": "embedding_",
    "label_codes": "codes_",
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
_STUMP_RECORD = {"stumps": "arcrank.bipartite.stumps:Stumps"}
_IDF = {"idf": "idf_"}
_PIVOT = _IDF | {"mean_terms": "mean_terms_"}
_SELECTED = {"support": "support_", "scores": "scores_"}
_FIXED = {"fixed": "fixed_vocabulary_"}


def _ranker(name: str, home: str, fitted: dict[str, str], records: dict[str, str] | None = None) -> Part:
    return Part(name, f"arcrank.{home}", fitted, records or {}, ranks=True)


def _online(name: str, home: str) -> Part:
    return OnlinePart(name, f"arcrank.rankers.online.{home}", records=_CALIBRATION, ranks=True)


def _text(name: str, home: str, fitted: dict[str, str] | None = None, kind: type[Part] = Part) -> Part:
    return kind(name, home, fitted or {}, texts=True)


def _columns(name: str, home: str, fitted: dict[str, str] | None = None) -> Part:
    return Part(name, f"arcrank.text.{home}", _FEATURES | (fitted or {}))


PARTS: tuple[Part, ...] = (
    LogLinearPart(
        "log-linear",
        "arcrank.rankers.loglinear:LogLinearRanker",
        {
            **_LABELS,
            **_WEIGHTS,
            **_TRAINING,
            **_CALIBRATED,
            **_LABEL_FEATURES,
            "solver": "solver_",
            "thresholds": "thresholds_",
        },
        {"thresholds": "arcrank.rankers.thresholds:Thresholds", **_CALIBRATION},
        ranks=True,
    ),
    MachinePart(
        "preference-machine",
        "arcrank.rankers.preference_machine.machine:PreferenceMachine",
        {**_LABELS, **_WEIGHTS, **_TRAINING, **_MACHINE, **_CALIBRATED},
        {
            "kernel": "arcrank.rankers.kernels:Kernel",
            "bound": "arcrank.rankers.preference_machine.bound:BoundTerms",
            **_CALIBRATION,
        },
        ranks=True,
    ),
    _online("mmp", "mmp:MMPRanker"),
    _online("online-preference-machine", "preference_machine:OnlinePreferenceMachine"),
    _online("perceptron", "perceptron:PerceptronRanker"),
    _ranker("ordinal", "rankers.ordinal:OrdinalRanker", {**_GRADES, "objective": "objective_"}, _CALIBRATION),
    _ranker(
        "prank",
        "rankers.online.prank:PRankRanker",
        {**_GRADES, "state": "state_", "late": "late_", "rounds": "n_rounds_", "rank_loss": "rank_loss_"},
        _CALIBRATION,
    ),
    ShortlistPart(
        "shortlist",
        "arcrank.rankers.shortlist.ranker:ShortlistRanker",
        {**_LABELS, **_TRAINING, **_CALIBRATED, "intercept": "intercept_", "cut_weights": "cut_weights_"},
        _CALIBRATION,
        ranks=True,
    ),
    _ranker("rocchio", "rankers.rocchio:RocchioRanker", {**_LABELS, **_WEIGHTS, **_CALIBRATED}, _CALIBRATION),
    AveragePart(
        "average",
        "arcrank.rankers.average:AverageRanker",
        {**_LABELS, **_WEIGHTS, **_CALIBRATED, "members": "members_"},
        _CALIBRATION,
        ranks=True,
    ),
    AveragePart(
        "semi-supervised",
        "arcrank.rankers.semisupervised:SemiSupervisedRanker",
        {**_LABELS, **_WEIGHTS, **_CALIBRATED, "members": "members_"},
        _CALIBRATION,
        ranks=True,
    ),
    _ranker(
        "trees",
        "rankers.trees:TreeRanker",
        {**_LABELS, **_CALIBRATED, "intercept": "intercept_", "forest": "forest_", "history": "history_"},
        {"forest": "arcrank.solvers.forest:Forest", **_CALIBRATION},
    ),
    _ranker("rankboost", "bipartite.rankboost:RankBoost", {**_FEATURES, **_STUMPS}, _STUMP_RECORD),
    _ranker(
        "semi-supervised-rankboost",
        "bipartite.semisupervised_rankboost:SemiSupervisedRankBoost",
        {**_FEATURES, **_STUMPS, **_TENTATIVE},
        {**_STUMP_RECORD, "latent": "arcrank.bipartite.latent:LatentModel"},
    ),
    _ranker(
        "transductive-svm",
        "bipartite.transductive_svm:TransductiveSVM",
        {**_FEATURES, **_WEIGHTS, "found_labels": "labels_"},
    ),
    _ranker(
        "semi-supervised-logistic",
        "bipartite.semisupervised_logistic:SemiSupervisedLogistic",
        {**_FEATURES, **_WEIGHTS, "probabilities": "probabilities_", "n_iter": "n_iter_"},
    ),
    Part(
        "dense-scaler",
        "arcrank.tables.scaling:DenseScaler",
        {**_FEATURES, "mean": "mean_", "scale": "scale_"},
    ),
    Part(
        "standard-scaler",
        "sklearn.preprocessing._data:StandardScaler",
        {**_FEATURES, "mean": "mean_", "scale": "scale_"},
    ),
    _text("text-features", "arcrank.text.features:TextFeatures", kind=TextPart),
    _text("hashed-text-features", "arcrank.text.hashing:HashedTextFeatures"),
    _text("embedding-features", "arcrank.text.embeddings:EmbeddingFeatures", {"digest": "digest_"}, EmbeddingPart),
    _text("text-and-embeddings", "arcrank.text.embeddings:TextAndEmbeddings", kind=TextAndEmbeddingsPart),
    _text("table-features", "arcrank.tables.features:TableFeatures", kind=TablePart),
    _text("term-counts", "arcrank.text.counts:TermCounts", kind=TermCountsPart),
    _columns("log-counts", "weighting:LogCounts"),
    _columns("tf-idf", "weighting:TfIdf", _IDF),
    _columns("signed-tf-idf", "weighting:SignedTfIdf", _IDF),
    _columns("pivoted-length", "weighting:PivotedLength", _PIVOT),
    _columns("rocchio-selector", "selection:RocchioSelector", _SELECTED),
    _columns("informative-selector", "selection:InformativeSelector", _SELECTED),
    _text("count-vectorizer", "sklearn.feature_extraction.text:CountVectorizer", _FIXED, CountsPart),
    _text("tfidf-vectorizer", "sklearn.feature_extraction.text:TfidfVectorizer", _FIXED | _IDF, TfidfPart),
    _text("hashing-vectorizer", "sklearn.feature_extraction.text:HashingVectorizer"),
)

_BY_NAME = {part.name: part for part in PARTS}
_BY_HOME = {part.home: part for part in PARTS}


def part_of(estimator: Any) -> Part:
    """Return the part of this estimator, whose class itself must be registered: a subclass may do anything."""
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
    if not isinstance(name, str) or name not in _BY_NAME:
        raise ModelFileError(
            f"The model has a part {name!r} that this version of arcrank does not know; install a newer one."
        )
    return _BY_NAME[name]
