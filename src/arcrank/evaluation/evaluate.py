"""What `arcrank evaluate` and the demo measure: a model against a file, block by block."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arcrank import metrics
from arcrank.evaluation.scoring import BlockScorer, ScoredBlock

if TYPE_CHECKING:
    from arcrank.datasets import Corpus

__all__ = ["BEST", "DESCRIPTIONS", "Document", "Evaluation", "LabelRow", "evaluate"]

ERRORS = ("zero-one", "disagreement", "domination", "dominated")
CUTS = (1, 3, 5)
N_WORST, N_SHOWN, TEXT_SHOWN = 20, 5, 600
DESCRIPTIONS = {
    "zero-one error": "share of documents with a preference ranked the wrong way round",
    "disagreement error": "share of a document's preferences ranked the wrong way round",
    "domination error": "share of labels that fail to stand above all they should",
    "dominated error": "share of labels that fail to stand below all they should",
    "one-error": "share of documents whose first label is wrong",
    "coverage": "labels to pass until the last right one is met",
    "ranking loss": "share of couples, a right and a wrong label, in the wrong order",
    "average precision": "share of right labels down to each right label",
    "max F1": "best balance of precision and recall over all cuts",
    "precision at 1": "share of documents with a right label alone in the first place",
    **{f"precision at {r}": f"share of the first {r} labels that is right" for r in CUTS[1:]},
    "recall at 1": "share of the right labels that comes first",
    **{f"recall at {r}": f"share of the right labels among the first {r}" for r in CUTS[1:]},
}
"""Every measure in words, in the order of a report."""
BEST = {
    **dict.fromkeys(DESCRIPTIONS, "0"),
    "coverage": "low",  # the best value depends on how many labels are right, and so it does below
    **dict.fromkeys((name for name in DESCRIPTIONS if name.startswith(("max", "precision", "recall"))), "high"),
    **dict.fromkeys(("average precision", "precision at 1"), "1"),
}
"""The best value of every measure, or which way it gets better."""
_OF_SETS: dict[str, Any] = {
    "one-error": metrics.one_error,
    "coverage": metrics.coverage,
    "ranking loss": metrics.ranking_loss,
    "average precision": metrics.average_precision,
}
Floats = NDArray[np.float64]


@dataclass
class LabelRow:
    """How one label fares in the documents it is right for."""

    label: str
    support: int = 0
    top1: float = float("nan")
    top5: float = float("nan")
    average_rank: float = float("nan")


@dataclass
class Document:
    """One document and its ranking: right labels with their ranks, and the first labels with their scores."""

    row: int
    name: str | None
    text: str | None
    wrong: float
    right: list[tuple[str, int]]
    ranking: list[tuple[str, float, bool]]


@dataclass
class Evaluation:
    """All that was found; `measures` in the order of `DESCRIPTIONS`, NaN where no document could say."""

    labels: list[str]
    n_documents: int = 0
    n_sets: int = 0
    """Documents with a label set that is neither empty nor full: the measures of label sets are over these."""
    measures: dict[str, float] = field(default_factory=dict)
    precision: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    per_label: list[LabelRow] = field(default_factory=list)
    worst: list[Document] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    unknown_labels: dict[str, int] = field(default_factory=dict)
    """In how many documents each label occurs that the model does not know."""
    n_with_unknown: int = 0
    n_unlabelled: int = 0
    """Documents that say nothing about the labels that the model knows: they are left out of every measure."""
    learnt: bool = False
    """Whether the model has learnt from these very documents."""

    @property
    def n_judged(self) -> int:
        return self.n_documents - self.n_unlabelled


def evaluate(model: Any, blocks: Iterable[Corpus]) -> Evaluation:
    """Judge a model on the blocks of a corpus; only one block's scores are held at a time."""
    judge, sums = BlockScorer(model), _Sums()
    for block in blocks:
        sums.add(judge(block))
    return sums.evaluation(judge.labels)


class _Sums:
    """What is kept of the blocks that were seen."""

    def __init__(self) -> None:
        self.n_documents = 0
        self.rows: dict[str, list[Floats]] = {}
        self.curves: list[tuple[int, Floats, Floats]] = []
        self.ranks: Any = 0
        self.worst: list[tuple[float, int, Document]] = []
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.n_with_unknown = self.n_unlabelled = 0

    def add(self, block: ScoredBlock) -> None:
        self.skipped.update(block.skipped)
        self.unknown.update(block.unknown)
        if not len(block.scores):
            return
        wrong = self._add_errors(block)
        self._add_sets(block)
        self._add_labels(block)
        self._add_worst(block, wrong)
        self.n_with_unknown += block.n_with_unknown
        self.n_unlabelled += int(block.unlabelled.sum())
        self.n_documents += len(block.scores)

    def _keep(self, name: str, values: Any) -> None:
        self.rows.setdefault(name, []).append(np.asarray(values))

    def _add_errors(self, block: ScoredBlock) -> Floats:
        for name in ERRORS:
            errors = metrics.generalized_error(block.graphs, block.scores, name, reduce="none")
            errors[block.unlabelled] = np.nan
            self._keep(f"{name} error", errors)
        return self.rows["disagreement error"][-1]

    def _add_sets(self, block: ScoredBlock) -> None:
        if not len(block.set_rows):
            return
        Y, scores = block.indicator[block.set_rows], block.scores[block.set_rows]
        for name, measure in _OF_SETS.items():
            self._keep(name, measure(Y, scores, reduce="none"))
        for r in (r for r in CUTS if r <= scores.shape[1]):
            self._keep(f"precision at {r}", metrics.precision_at(Y, scores, r, reduce="none"))
            self._keep(f"recall at {r}", metrics.recall_at(Y, scores, r, reduce="none"))
        graph = metrics.precision_recall_graph(Y, scores)
        n = int(np.isfinite(self.rows["one-error"][-1]).sum())
        if n:
            self.curves.append((n, graph.precision, graph.recall))

    def _add_labels(self, block: ScoredBlock) -> None:
        """For each label: documents it is right for, in the first 1 and 5 there, and the sum of its ranks."""
        rows, columns = block.indicator.nonzero()
        ranks, k = block.ranks[rows, columns], len(block.labels)
        found = [np.ones(len(ranks)), ranks <= 1, ranks <= N_SHOWN, ranks]
        self.ranks = self.ranks + np.stack([np.bincount(columns, one, minlength=k) for one in found])

    def _add_worst(self, block: ScoredBlock, wrong: Floats) -> None:
        for i in np.argsort(-wrong, kind="stable")[:N_WORST]:
            if wrong[i] > 0:
                document = _document(block, int(i), self.n_documents, float(wrong[i]))
                heapq.heappush(self.worst, (document.wrong, -document.row, document))
        self.worst = heapq.nlargest(N_WORST, self.worst)
        heapq.heapify(self.worst)

    def evaluation(self, labels: list[str]) -> Evaluation:
        precision, recall = self._curve()
        found = {name: _mean(parts) for name, parts in self.rows.items()}
        if len(precision):
            total = precision + recall
            f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
            found["max F1"] = float(f1.max())
        return Evaluation(
            labels=labels,
            n_documents=self.n_documents,
            n_sets=sum(n for n, _, _ in self.curves),
            measures={name: found[name] for name in DESCRIPTIONS if name in found},
            precision=precision.tolist(),
            recall=recall.tolist(),
            per_label=_label_rows(labels, self.ranks),
            worst=[document for _, _, document in sorted(self.worst, reverse=True)],
            skipped=dict(self.skipped),
            unknown_labels=dict(self.unknown.most_common()),
            n_with_unknown=self.n_with_unknown,
            n_unlabelled=self.n_unlabelled,
        )

    def _curve(self) -> tuple[Floats, Floats]:
        """Mean precision and recall at every r over all documents with a label set."""
        if not self.curves:
            return np.zeros(0), np.zeros(0)
        weights = [n for n, _, _ in self.curves]
        return tuple(np.average([one[j] for one in self.curves], axis=0, weights=weights) for j in (1, 2))  # type: ignore[return-value]


def _mean(parts: list[Floats]) -> float:
    values = np.concatenate(parts)
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


def _label_rows(labels: list[str], sums: Any) -> list[LabelRow]:
    rows = []
    for j, label in enumerate(labels):
        support, top1, top5, ranks = sums[:, j].tolist() if isinstance(sums, np.ndarray) else (0, 0, 0, 0)
        rows.append(
            LabelRow(label, int(support), top1 / support, top5 / support, ranks / support)
            if support
            else LabelRow(label)
        )
    return rows


def _document(block: ScoredBlock, i: int, before: int, wrong: float) -> Document:
    order = np.argsort(-block.scores[i], kind="stable")[:N_SHOWN]
    right = block.indicator[[i]].nonzero()[1]
    ranks = sorted((int(block.ranks[i, j]), block.labels[j]) for j in right)
    known = {*right.tolist()}
    return Document(
        row=before + i + 1,
        name=None if block.ids is None else block.ids[i],
        text=None if block.texts is None else block.texts[i][:TEXT_SHOWN],
        wrong=wrong,
        right=[(label, rank) for rank, label in ranks],
        ranking=[(block.labels[j], float(block.scores[i, j]), int(j) in known) for j in order.tolist()],
    )
