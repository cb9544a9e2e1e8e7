"""A block of a corpus as a model sees it: scores over the model's labels, and the truth over the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank.errors import InputError
from arcrank.graphs import Hierarchy
from arcrank.inference.feature_map import FeatureMap, corpus_features
from arcrank.inference.model_parts import split_model

if TYPE_CHECKING:
    from arcrank.datasets import Corpus
    from arcrank.graphs import PreferenceGraphs

__all__ = ["BlockScorer", "ScoredBlock"]


@dataclass
class ScoredBlock:
    """n documents: scores (n, k), graphs over the same k labels, and what the file said besides."""

    labels: list[str]
    scores: NDArray[np.float64]
    graphs: PreferenceGraphs
    indicator: sp.csr_matrix
    """The right labels: the label set, or where there is another kind of supervision the labels with none above."""
    set_rows: NDArray[np.intp]
    texts: list[str] | None
    ids: list[str | None] | None
    skipped: dict[str, int]
    unknown: Counter[str]
    """In how many documents each label occurs that the model does not know."""
    n_with_unknown: int
    unlabelled: NDArray[np.bool_]
    """Which documents say nothing about the labels that the model knows: no ranking of them is right or wrong."""

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of every label, (n, k)."""
        from arcrank.rankers.base import rank_matrix

        return rank_matrix(self.scores)


class BlockScorer:
    """A model that scores blocks and brings what they say to its own labels."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.ranker = _ranker(model)
        self.labels = [str(label) for label in self.ranker.labels_]
        self.columns = FeatureMap.of_model(model)
        parents = (getattr(model, "model_card_", None) or {}).get("hierarchy")
        self.tree = None if parents is None else Hierarchy(parents)

    def __call__(self, block: Corpus) -> ScoredBlock:
        """Score a block; labels that the model does not know are counted and left out."""
        scores = np.zeros((0, len(self.labels)))
        if len(block):
            scores = np.asarray(self.ranker.score_labels(corpus_features(self.model, block, self.columns)))
        known = frozenset(self.labels if self.tree is None else self.tree.labels)
        given = _supervision(block)
        strange = [_names(kind, value) - known for kind, value in given]
        rows = [_known(kind, value, known) for kind, value in given]
        graphs, right = self._truth(block, rows)
        return ScoredBlock(
            labels=self.labels,
            scores=scores,
            graphs=graphs,
            indicator=_indicator(right, self.labels),
            set_rows=np.flatnonzero([kind == "labels" for kind, _ in rows]),
            texts=block.texts,
            ids=block.ids,
            skipped=block.skipped,
            unknown=Counter(name for names in strange for name in names),
            n_with_unknown=sum(bool(names) for names in strange),
            unlabelled=np.array([_says_nothing(kind, value) for kind, value in rows], dtype=bool),
        )

    def _truth(self, block: Corpus, rows: list[tuple[str, Any]]) -> tuple[Any, list[list[str]]]:
        """Graphs over the model's labels, and the right labels of each row."""
        if not rows:
            return None, []
        if self.tree is not None and all(kind == "labels" for kind, _ in rows):
            sets = [value for _, value in rows]
            return self.tree.leaf_graphs(sets), self.tree.leaf_sets(sets)
        graphs = replace(block, labels=self.labels, label_sets=None, preferences=rows, splits={}).graphs()
        return graphs, [_undominated(kind, value) for kind, value in rows]


def _ranker(model: Any) -> Any:
    _, ranker = split_model(model)
    if not hasattr(ranker, "score_labels"):
        raise InputError(f"A {type(ranker).__name__} ranks documents, not labels; evaluate takes a label ranker.")
    return ranker


def _supervision(block: Corpus) -> list[tuple[str, Any]]:
    if block.preferences is not None:
        return block.preferences
    if block.label_sets is not None:
        return [("labels", names) for names in block.label_sets]
    raise InputError(
        f"{block.source}: a file of queries and graded candidates has no labels of its own; evaluate takes label sets, "
        "layers, rankings or arcs."
    )


def _names(kind: str, value: Any) -> set[str]:
    return {*value} if kind == "labels" else {name for group in value for name in group}


def _known(kind: str, value: Any, known: frozenset[str]) -> tuple[str, Any]:
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
