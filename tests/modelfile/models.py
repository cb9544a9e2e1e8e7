"""Small fitted models, at least one for each part that a model file can hold, and what they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from arcrank import (
    AverageRanker,
    CandidateSets,
    LogLinearRanker,
    MMPRanker,
    OnlinePreferenceMachine,
    OrdinalRanker,
    PerceptronRanker,
    PRankRanker,
    PreferenceMachine,
    RankBoost,
    RocchioRanker,
    SemiSupervisedLogistic,
    SemiSupervisedRankBoost,
    SemiSupervisedRanker,
    ShortlistRanker,
    TransductiveSVM,
    TreeRanker,
)
from arcrank.tables import DenseScaler, TableFeatures
from arcrank.text import (
    EmbeddingFeatures,
    HashedTextFeatures,
    InformativeSelector,
    LogCounts,
    PivotedLength,
    RocchioSelector,
    SignedTfIdf,
    TermCounts,
    TextAndEmbeddings,
    TextFeatures,
    TfIdf,
    Tokenizer,
)

TEXTS = [
    "Crude oil prices rise again",
    "An oil tanker sinks off the coast",
    "Wheat harvest and prices",
    "Wheat, corn and other crops: naïve café",
    "Oil for wheat",
    "Ships wait in the harbour for corn",
]
TOPICS = [["oil"], ["oil", "ship 🚢"], ["grain"], ["grain"], ["oil", "grain"], ["ship 🚢", "grain"]]
TABLE = [
    {"age": 3.5, "colour": "red", "joined": "2024-01-31", "member": True, "text": TEXTS[0]},
    {"age": None, "colour": "red", "joined": "2024-02-29", "member": False, "text": TEXTS[1]},
    {"age": 1e6, "colour": "blue", "joined": "2023-05-01", "member": True, "text": TEXTS[2]},
    {"age": -7, "colour": "blue", "joined": "", "member": None, "text": TEXTS[3]},
    {"age": 0, "colour": "mauve", "joined": "1999-12-31", "member": True, "text": TEXTS[4]},
    {"age": 2, "colour": None, "joined": "2024-01-01", "member": False, "text": None},
]
X = np.random.default_rng(0).normal(size=(12, 5))
SETS = [["a"], ["b"], ["a", "c"], ["b", "c"]] * 3
GRADES = [1, 0, 1, 0, -1, -1, 1, 0, -1, -1, -1, -1]
CANDIDATES = CandidateSets(X, [0, 3, 7, 12])


def _text(*steps: Any) -> Callable[[], Any]:
    return lambda: clone(make_pipeline(*steps)).fit(TEXTS, TOPICS)


def _labels(ranker: Any, rows: Any = X, y: Any = SETS) -> Callable[[], Any]:
    return lambda: clone(ranker).fit(rows, y)  # tests change their models


MODELS: dict[str, Callable[[], Any]] = {
    "log-linear": _labels(LogLinearRanker(random_state=np.random.RandomState(1), callback=lambda _: None)),
    "log-linear boosting": _labels(LogLinearRanker("zero-one", "boosting", max_iter=20), y=[0, 1, 2, 3] * 3),
    "log-linear candidates": lambda: LogLinearRanker().fit(CANDIDATES, np.arange(12) % 3),
    "log-linear label features": _labels(
        LogLinearRanker(label_features={"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.5, 0.25]})
    ),
    "log-linear dual text": _text(TextFeatures(min_df=1), LogLinearRanker(solver="dual", random_state=0)),
    "machine": _labels(PreferenceMachine()),
    "machine codes": _labels(PreferenceMachine("domination", codes=np.eye(3)[:, ::-1])),
    "machine learnt codes": _labels(PreferenceMachine("domination", codes="learn", code_length=2)),
    "machine rbf": _labels(PreferenceMachine(kernel="rbf", gamma=0.5)),
    "machine rbf sparse": _labels(PreferenceMachine(kernel="polynomial"), sp.csr_matrix(np.round(X))),
    "machine precomputed": _labels(PreferenceMachine(kernel="precomputed"), X @ X.T),
    "average": _labels(AverageRanker([("a", LogLinearRanker(C=2)), ("b", RocchioRanker())], [0.5, 2.0])),
    "semi-supervised": _labels(
        SemiSupervisedRanker([("a", LogLinearRanker(C=2))], n_components=2, cut_label=True), y=[*SETS[:-2], None, None]
    ),
    "average rbf": _labels(
        AverageRanker([("a", LogLinearRanker()), ("b", PreferenceMachine(kernel="rbf", gamma=0.5))])
    ),
    "scaled": lambda: make_pipeline(StandardScaler(), RocchioRanker()).fit(X, SETS),
    "scaled sparse": lambda: make_pipeline(DenseScaler(), RocchioRanker()).fit(sp.csr_matrix(X), SETS),
    "trees": _labels(TreeRanker(n_rounds=3, n_runs=2, min_samples_leaf=2, random_state=0)),
    "trees by label": _labels(TreeRanker(n_rounds=3, n_runs=1, shared_trees=False, min_samples_leaf=2, random_state=0)),
    "mmp": _labels(MMPRanker("size", epochs=2, shuffle=True, random_state=0)),
    "mmp average text": _text(HashedTextFeatures(n_features=64, stop_words={"the", "an"}), MMPRanker(average=True)),
    "mmp mostly zero": _text(HashedTextFeatures(n_features=2**12), MMPRanker(average=True)),
    "mmp kernel": _labels(MMPRanker(kernel="rbf")),
    "online machine": _labels(OnlinePreferenceMachine("domination", "hinge", average=True, cut_label=True)),
    "ordinal": _labels(OrdinalRanker(grades=[2, 1, 0]), y=[0, 1, 2] * 4),
    "prank": _labels(PRankRanker(epochs=3, average=True), y=[0, 1, 2] * 4),
    "perceptron": _text(HashingVectorizer(n_features=64), PerceptronRanker(average=True)),
    "shortlist": _text(TextFeatures(min_df=1), ShortlistRanker(random_state=0)),
    "rocchio": _text(CountVectorizer(ngram_range=(1, 2), stop_words=["the"]), RocchioRanker()),
    "rocchio fixed": _text(CountVectorizer(vocabulary={"oil": 1, "wheat": 0}), RocchioRanker()),
    "tfidf": _text(TfidfVectorizer(sublinear_tf=True), RocchioRanker()),
    "tfidf single": _text(TfidfVectorizer(dtype=np.float32), RocchioRanker()),
    "tfidf without idf": _text(TfidfVectorizer(use_idf=False, dtype=np.float32), RocchioRanker()),
    "papers": _text(TermCounts(), LogCounts(), InformativeSelector(5), RocchioRanker()),
    "pivoted": _text(TermCounts(tokenizer=Tokenizer(stem=False)), PivotedLength(), RocchioSelector(3), RocchioRanker()),
    "embeddings": _text(EmbeddingFeatures(dimensions=8), RocchioRanker()),
    "words and embeddings": _text(
        TextAndEmbeddings(words=TextFeatures(min_df=1), embeddings=EmbeddingFeatures(dimensions=8)), RocchioRanker()
    ),
    "table": lambda: make_pipeline(TableFeatures(kinds={"member": "flag"}), RocchioRanker()).fit(TABLE, TOPICS),
    "tf-idf": lambda: Pipeline([("n", TermCounts(ngrams=2)), ("w", TfIdf()), ("r", RocchioRanker())]).fit(
        TEXTS, TOPICS
    ),
    "signed tf-idf": lambda: make_pipeline(SignedTfIdf(sublinear=True), RocchioRanker()).fit(X, SETS),
    "rankboost": _labels(RankBoost(5), y=GRADES),
    "rankboost early": _labels(RankBoost(5, early_stopping=True, random_state=0), y=[0, 1, 2] * 4),
    "semi-supervised rankboost": _labels(SemiSupervisedRankBoost(5, discount=np.full(12, 0.5)), y=GRADES),
    "semi-supervised latent": _labels(SemiSupervisedRankBoost(features="latent", n_components=2), y=GRADES),
    "transductive": _labels(TransductiveSVM(), y=GRADES),
    "semi-supervised logistic": _labels(SemiSupervisedLogistic(), y=GRADES),
}


def input_of(name: str) -> Any:
    """What the model of this name is asked about: other rows than those it learnt from, where there are others."""
    if name == "log-linear candidates":
        return CANDIDATES
    if name == "machine precomputed":
        return X @ X.T
    return None


def scores_of(model: Any, rows: Any = None) -> Any:
    """Scores of a pipeline for TEXTS or TABLE, of a ranker for X."""
    if isinstance(model, Pipeline):
        documents = {TableFeatures: TABLE, StandardScaler: X, DenseScaler: X, SignedTfIdf: X}.get(type(model[0]), TEXTS)
        return model[-1].score_labels(model[:-1].transform(documents))
    rows = X[::-1] * 1.5 if rows is None else rows
    return model.score_labels(rows) if hasattr(model, "score_labels") else model.decision_function(rows)
