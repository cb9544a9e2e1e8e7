"""A block of documents as a model sees it: scores over the model's labels, and the truth over the same labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.supervision import as_arcs, row_preferences
from arcrank.errors import InputError
from arcrank.evaluation.rows import Rows
from arcrank.graphs import Hierarchy
from arcrank.inference.feature_map import FeatureMap, corpus_features
from arcrank.inference.model_parts import split_model, takes_text
from arcrank.rankers.base import rank_matrix

if TYPE_CHECKING:
    from arcrank.graphs import PreferenceGraphs

__all__ = ["BlockScorer", "ScoredBlock", "takes_text"]

Preference = tuple[str, Any]


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

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of every label, (n, k)."""
        return rank_matrix(self.scores)


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

    @cached_property
    def _feature_map(self) -> FeatureMap:
        return FeatureMap.of_model(self.model)

    def __call__(self, block: Corpus | Rows) -> ScoredBlock:
        """Score a block; labels that the model does not know are counted and left out."""
        tree = None if isinstance(block, Rows) and block.over_leaves else self.tree
        known = frozenset(self.labels if tree is None else tree.labels)
        given = block.preferences if isinstance(block, Rows) else [as_arcs(*row) for row in row_preferences(block)]
        unknown = [_names(kind, value) - known for kind, value in given]
        rows = [_known(kind, value, known) for kind, value in given]
        graphs, right = self._truth(rows, tree)
        return ScoredBlock(
            labels=self.labels,
            **self.outputs(block),
            graphs=graphs,
            indicator=_indicator(right, self.labels),
            set_rows=np.flatnonzero([kind == "labels" for kind, _ in rows]),
            unlabelled=np.array([_says_nothing(kind, value) for kind, value in rows], dtype=bool),
            unknown=Counter(name for names in unknown for name in names),
            n_with_unknown=sum(bool(names) for names in unknown),
            texts=block.texts,
            ids=block.ids,
            skipped=block.skipped,
        )

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
        if hasattr(self.model, "steps") and not takes_text(self.model) and block.texts is None:
            return _transformed(self.model, block.X)
        return corpus_features(self.model, block, self._feature_map)

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
