"""A block of documents as a model sees it: scores over the model's labels, and the truth over the same labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank import metrics
from arcrank._typing import Array
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.supervision import as_arcs, row_preferences
from arcrank.errors import InputError
from arcrank.evaluation.listed import ListedBlock, Predictions, listed_block
from arcrank.evaluation.measures import CUTS, ERRORS
from arcrank.evaluation.rows import Rows
from arcrank.graphs import Hierarchy
from arcrank.inference.feature_map import FeatureMap, corpus_features, transform_matrix
from arcrank.inference.model_parts import split_model
from arcrank.metrics.label_sets import equal_rows, label_counts
from arcrank.rankers.base import rank_matrix

if TYPE_CHECKING:
    from arcrank.graphs import PreferenceGraphs

__all__ = ["BlockScorer", "ScoredBlock"]

Preference = tuple[str, Any]
_OF_SETS: dict[str, Any] = {
    "one-error": metrics.one_error,
    "coverage": metrics.coverage,
    "ranking loss": metrics.ranking_loss,
    "average precision": metrics.average_precision,
}


@dataclass
class ScoredBlock:
    """n documents: scores (n, k), graphs over the same k labels, and what else the data say."""

    labels: list[str]
    scores: NDArray[np.float64]
    graphs: PreferenceGraphs
    indicator: sp.csr_matrix
    """The right labels: the label set, or for other kinds of supervision the labels that no other is preferred to."""
    set_rows: NDArray[np.intp]
    """The documents with a label set, which may be empty or full."""
    unlabelled: NDArray[np.bool_]
    """Which documents say nothing about the labels that the model knows: no ranking of them is right or wrong."""
    predicted: NDArray[np.bool_] | None = None
    probabilities: NDArray[np.float64] | None = None
    """The predicted label sets and the probabilities, (n, k); None if the model has no calibration."""
    unknown: Counter[str] = field(default_factory=Counter)
    """In how many documents each label occurs that the model does not know."""
    n_with_unknown: int = 0
    texts: list[str] | None = None
    ids: list[str | None] | None = None
    skipped: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.scores)

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of every label, (n, k)."""
        return rank_matrix(self.scores)

    def errors(self) -> dict[str, Array]:
        """The generalized errors of each document, (n,)."""
        return {
            name: np.asarray(metrics.generalized_error(self.graphs, self.scores, name, reduce="none"))
            for name in ERRORS
        }

    def set_values(self) -> dict[str, Array]:
        """The measures of label sets of each document, (n,), NaN where it has none."""
        n, k = self.scores.shape
        Y, scores = self.indicator[self.set_rows], self.scores[self.set_rows]
        found = {name: np.full(n, np.nan) for name in _set_measures(k)}
        if len(self.set_rows):
            for name, measure in _set_measures(k).items():
                found[name][self.set_rows] = measure(Y, scores, reduce="none")
        return found

    def curve(self) -> tuple[int, Array, Array]:
        """The documents whose sets are neither empty nor full, and their mean precision and recall at every r."""
        Y, scores = self.indicator[self.set_rows], self.scores[self.set_rows]
        sizes = np.diff(Y.indptr)
        return (int(((sizes > 0) & (sizes < Y.shape[1])).sum()), *metrics.precision_recall_graph(Y, scores))

    @property
    def has_predictions(self) -> bool:
        """Whether there are predicted sets and probabilities."""
        return self.predicted is not None

    def predictions(self) -> Predictions:
        """Of the documents with a label set."""
        assert self.predicted is not None
        assert self.probabilities is not None
        Y, predicted = self.indicator[self.set_rows], self.predicted[self.set_rows]
        exact = equal_rows(Y, predicted)
        return Predictions(label_counts(Y, predicted), Y, self.probabilities[self.set_rows], exact)

    def right_ranks(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """The columns of all right labels, and their ranks."""
        rows, columns = self.indicator.nonzero()
        return columns, self.ranks[rows, columns]

    def right_of(self, i: int) -> dict[int, int]:
        """The ranks of the right labels of a document, by their columns."""
        return {int(j): int(self.ranks[i, j]) for j in self.indicator[[i]].nonzero()[1]}

    def first_of(self, i: int, n: int) -> list[tuple[int, float]]:
        """The columns and scores of the first labels of a document."""
        order = np.argsort(-self.scores[i], kind="stable")[:n]
        return [(int(j), float(self.scores[i, j])) for j in order]


def _set_measures(n_labels: int) -> dict[str, Any]:
    """Functions of (Y, scores) by the name of the measure."""
    found = dict(_OF_SETS)
    for r in (r for r in CUTS if r <= n_labels):
        found[f"precision at {r}"] = partial(metrics.precision_at, r=r)
        found[f"recall at {r}"] = partial(metrics.recall_at, r=r)
    return found


class BlockScorer:
    """A model that scores blocks and translates their supervision to its own labels.

    With `labels` only these are scored, in this order; the model must know them.
    """

    def __init__(self, model: Any, labels: Sequence[str] | None = None) -> None:
        self.model = model
        self.ranker = _ranker(model)
        known = [str(label) for label in self.ranker.labels_.tolist()]
        self.labels = known if labels is None else list(labels)
        place = {label: j for j, label in enumerate(known)}
        self.columns = slice(None) if self.labels == known else [place[label] for label in self.labels]
        self.calibration = getattr(self.ranker, "calibration_", None)
        self.card = getattr(model, "model_card_", None) or {}
        parents = self.card.get("hierarchy")
        self.tree = None if parents is None else Hierarchy(parents)
        single = self.calibration is not None and self.calibration.is_single
        self._lists = labels is None and hasattr(self.ranker, "label_ranks") and self.tree is None and not single

    @cached_property
    def _feature_map(self) -> FeatureMap:
        return FeatureMap.of_model(self.model)

    def __call__(self, block: Corpus | Rows) -> ScoredBlock | ListedBlock:
        """Score a block; labels that the model does not know are counted and left out.

        Of a ranker of very many labels that is measured by label sets, only the right labels are ranked.
        """
        tree = None if isinstance(block, Rows) and block.over_leaves else self.tree
        known = frozenset(self.labels if tree is None else tree.labels)
        given = block.preferences if isinstance(block, Rows) else [as_arcs(*row) for row in row_preferences(block)]
        unknown = [_names(kind, value) - known for kind, value in given]
        rows = [_known(kind, value, known) for kind, value in given]
        common: dict[str, Any] = {
            "labels": self.labels,
            "set_rows": np.flatnonzero([kind == "labels" for kind, _ in rows]),
            "unlabelled": np.array([_says_nothing(kind, value) for kind, value in rows], dtype=bool),
            "unknown": Counter(name for names in unknown for name in names),
            "n_with_unknown": sum(bool(names) for names in unknown),
            "texts": block.texts,
            "ids": block.ids,
            "skipped": block.skipped,
        }
        if self._lists and rows and all(kind == "labels" for kind, _ in rows):
            indicator = _indicator([value for _, value in rows], self.labels)
            return listed_block(self.ranker, self._features(block), indicator, common)
        graphs, right = self._truth(rows, tree)
        outputs = self.outputs(block)
        return ScoredBlock(**common, **outputs, graphs=graphs, indicator=_indicator(right, self.labels))

    def outputs(self, block: Corpus | Rows) -> dict[str, Any]:
        """The scores of the documents over `labels`, and with a calibration `predicted` and `probabilities` too."""
        if not len(block):
            return {"scores": np.zeros((0, len(self.labels)))}
        scores = np.asarray(self.ranker.score_labels(self._features(block)))
        found = {"scores": scores}
        if self.calibration is not None:  # over all labels, which the probabilities of single labels depend on
            found["predicted"] = _predicted(self.ranker, scores)
            found["probabilities"] = self.calibration.probabilities(scores)
        return {name: values[:, self.columns] for name, values in found.items()}

    def _features(self, block: Corpus | Rows) -> Any:
        if isinstance(block, Rows):
            return _transformed(self.model, block.X)
        if self._fits_matrix(block):
            return transform_matrix(split_model(self.model)[0], block.X)
        return corpus_features(self.model, block, self._feature_map)

    def _fits_matrix(self, block: Corpus) -> bool:
        """Whether a model that was fitted here to a matrix, without names, can take the features of a corpus as such.

        A model that was loaded knows the names of its features, or takes numbered ones only.
        """
        if hasattr(self.model, "model_card_") or block.content_kind != "features":
            return False
        return self._feature_map.kind == "numbered" and block.X.shape[1] == self._feature_map.width

    def _truth(self, rows: list[Preference], tree: Hierarchy | None) -> tuple[Any, list[list[str]]]:
        """Graphs over the model's labels, and the right labels of each row."""
        if not rows:
            return None, []
        if tree is not None and all(kind == "labels" for kind, _ in rows):
            sets = [value for _, value in rows]
            return tree.leaf_graphs(sets), tree.leaf_sets(sets)
        graphs = Corpus(labels=self.labels, texts=[""] * len(rows), preferences=rows).graphs()
        return graphs, [_undominated(kind, value) for kind, value in rows]


def _ranker(model: Any) -> Any:
    _, ranker = split_model(model)
    if not hasattr(ranker, "score_labels"):
        raise InputError(
            f"A {type(ranker).__name__} ranks documents, not labels; use evaluate_documents, or pass a label ranker."
        )
    if not hasattr(ranker, "labels_"):
        raise InputError(f"This {type(ranker).__name__} is not fitted; call fit first.")
    return ranker


def _predicted(ranker: Any, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The label sets that `predict` returns: of single labels the best one, else the labels above the cut."""
    if ranker._kind == "single":
        return np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
    return np.asarray(ranker._label_sets(scores))


def _transformed(model: Any, X: Any) -> Any:
    transformers, _ = split_model(model)
    return transformers.transform(X) if transformers is not None and len(transformers) else X


def _names(kind: str, value: Any) -> set[str]:
    return {*value} if kind == "labels" else {name for group in value for name in group}


def _known(kind: str, value: Any, known: frozenset[str]) -> Preference:
    """The row without the labels that the model cannot rank."""
    if kind == "labels":
        return kind, [name for name in value if name in known]
    if kind == "layers":
        return kind, [kept for layer in value if (kept := [name for name in layer if name in known])]
    return kind, [arc for arc in value if arc[0] in known and arc[1] in known]


def _says_nothing(kind: str, value: Any) -> bool:
    return len(value) < (2 if kind == "layers" else 1)


def _undominated(kind: str, value: Any) -> list[str]:
    if kind == "labels":
        return list(value)
    if kind == "layers":
        return list(value[0]) if len(value) > 1 else []
    tails = {tail for _, tail in value}
    return [head for head in dict.fromkeys(head for head, _ in value) if head not in tails]


def _indicator(sets: list[list[str]], labels: list[str]) -> sp.csr_matrix:
    column = {label: j for j, label in enumerate(labels)}
    indices = np.array([column[name] for names in sets for name in names], dtype=np.int32)
    indptr = np.concatenate([[0], np.cumsum([len(names) for names in sets])]).astype(np.int32)
    return sp.csr_matrix((np.ones(len(indices), dtype=bool), indices, indptr), shape=(len(sets), len(labels)))
