"""Totals over scored blocks: a few numbers per document, sums per label, the worst documents."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import Any

import numpy as np

from arcrank._typing import Array
from arcrank.evaluation.calibration import CalibrationEvaluation, SetTotals
from arcrank.evaluation.listed import ListedBlock
from arcrank.evaluation.measures import CALIBRATION_ERRORS, DESCRIPTIONS, F1_MEASURES
from arcrank.evaluation.results import Document, Evaluation, LabelRow
from arcrank.evaluation.scoring import ScoredBlock

__all__ = ["Totals"]

N_WORST, N_SHOWN, TEXT_SHOWN = 20, 5, 600
Block = ScoredBlock | ListedBlock


class Totals:
    """Sums over scored blocks, from which an `Evaluation` is made."""

    def __init__(self, labels: list[str]) -> None:
        self.labels = labels
        self.n_documents = 0
        self.has_sets = False
        self.rows: dict[str, list[Array]] = {}
        self.curves: list[tuple[int, Array, Array]] = []
        self.ranks = np.zeros((4, len(labels)))
        self.sets: SetTotals | None = None
        self.worst: list[tuple[float, int, Document]] = []
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.n_with_unknown = self.n_unlabelled = 0

    def add(self, block: Block) -> None:
        """Add the values of a block."""
        self.skipped.update(block.skipped)
        self.unknown.update(block.unknown)
        if not len(block):
            return
        self._add_errors(block)
        self._add_sets(block)
        self._add_predictions(block)
        self._add_labels(block)
        self._add_worst(block, self.rows["disagreement error"][-1])
        self.n_with_unknown += block.n_with_unknown
        self.n_unlabelled += int(block.unlabelled.sum())
        self.n_documents += len(block)

    def per_document(self) -> dict[str, Array]:
        """The value of each measure for each document, NaN where it has none; only measures that are means of these."""
        names = (name for name in DESCRIPTIONS if name in self.rows)
        return {name: np.concatenate(self.rows[name]) for name in names if self.has_sets or name.endswith(" error")}

    def _keep(self, name: str, values: Array) -> None:
        self.rows.setdefault(name, []).append(values)

    def _add_errors(self, block: Block) -> None:
        for name, errors in block.errors().items():
            errors[block.unlabelled] = np.nan
            self._keep(f"{name} error", errors)

    def _add_sets(self, block: Block) -> None:
        self.has_sets |= len(block.set_rows) > 0
        for name, values in block.set_values().items():
            self._keep(name, values)
        n, precision, recall = block.curve()
        if n:
            self.curves.append((n, precision, recall))

    def _add_predictions(self, block: Block) -> None:
        """Add predicted sets and probabilities; empty and full sets count too, since they can be predicted."""
        if not block.has_predictions:
            return
        exact = np.full(len(block), np.nan)
        if len(block.set_rows):
            found = block.predictions()
            self.sets = self.sets or SetTotals(len(self.labels))
            self.sets.add(found.counts, found.truth, found.probabilities)
            exact[block.set_rows] = found.exact
        self._keep("subset accuracy", exact)

    def _add_labels(self, block: Block) -> None:
        """For each label: documents that it is right for, in the first 1 and 5 there, and the sum of its ranks."""
        columns, ranks = block.right_ranks()
        found = [np.ones(len(ranks)), ranks <= 1, ranks <= N_SHOWN, ranks]
        self.ranks += np.stack([np.bincount(columns, one, minlength=len(self.labels)) for one in found])

    def _add_worst(self, block: Block, wrong: Array) -> None:
        for i in np.argsort(-wrong, kind="stable")[:N_WORST]:
            if wrong[i] > 0:
                document = _document(block, int(i), self.n_documents, float(wrong[i]))
                heapq.heappush(self.worst, (document.wrong, -document.row, document))
        self.worst = heapq.nlargest(N_WORST, self.worst)
        heapq.heapify(self.worst)

    def evaluation(self, calibration: Any = None, **names: Any) -> Evaluation:
        """The measures over all blocks; `names` are the attributes that do not come from blocks.

        `calibration` is that of the model.
        """
        precision, recall = self._curve()
        found = {name: _mean(values) for name, values in self.per_document().items()}
        if len(precision):
            total = precision + recall
            f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
            found["max F1"] = float(f1.max())
        calibrated = None if self.sets is None else self.sets.evaluation(calibration.describe())
        found |= _set_values(self.sets, calibrated)
        return Evaluation(
            labels=self.labels,
            n_documents=self.n_documents,
            n_sets=sum(n for n, _, _ in self.curves),
            measures={name: found[name] for name in DESCRIPTIONS if name in found},
            precision=precision.tolist(),
            recall=recall.tolist(),
            per_label=_label_rows(self.labels, self.ranks, self.sets),
            calibration=calibrated,
            worst=[document for _, _, document in sorted(self.worst, reverse=True)],
            skipped=dict(self.skipped),
            unknown_labels=dict(self.unknown.most_common()),
            n_with_unknown=self.n_with_unknown,
            n_unlabelled=self.n_unlabelled,
            **names,
        )

    def _curve(self) -> tuple[Array, Array]:
        """Mean precision and recall at every r over all documents with a label set."""
        if not self.curves:
            return np.zeros(0), np.zeros(0)
        weights = [n for n, _, _ in self.curves]
        precision, recall = (np.average([one[j] for one in self.curves], axis=0, weights=weights) for j in (1, 2))
        return precision, recall


def _mean(values: Array) -> float:
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


def _set_values(sets: SetTotals | None, found: CalibrationEvaluation | None) -> dict[str, float]:
    """The measures of predicted sets and probabilities that are not means over documents."""
    if sets is None or found is None:
        return {}
    f1 = sets.counts.micro_f1(), float(sets.counts.f1().mean())
    errors = found.labels.error, found.first_label.error
    return dict(zip((*F1_MEASURES, *CALIBRATION_ERRORS), (*f1, *errors), strict=True))


def _label_rows(labels: list[str], sums: Array, sets: SetTotals | None) -> list[LabelRow]:
    f1: list[float | None] = [None] * len(labels) if sets is None else sets.counts.f1().tolist()
    rows = []
    for label, (support, top1, top5, ranks), value in zip(labels, sums.T.tolist(), f1, strict=True):
        row = LabelRow(label, int(support), f1=value)
        if support:
            row.top1, row.top5, row.average_rank = top1 / support, top5 / support, ranks / support
        rows.append(row)
    return rows


def _document(block: Block, i: int, before: int, wrong: float) -> Document:
    right = block.right_of(i)
    return Document(
        row=before + i + 1,
        name=None if block.ids is None else block.ids[i],
        text=None if block.texts is None else block.texts[i][:TEXT_SHOWN],
        wrong=wrong,
        right=[(label, rank) for rank, label in sorted((rank, block.labels[j]) for j, rank in right.items())],
        ranking=[(block.labels[j], score, j in right) for j, score in block.first_of(i, N_SHOWN)],
    )
