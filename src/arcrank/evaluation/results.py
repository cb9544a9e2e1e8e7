"""`Evaluation`: what was measured, for programs, notebooks and people."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arcrank._wording import count, number
from arcrank.evaluation.bands import FrequencyBand, frequency_bands
from arcrank.evaluation.caveats import caveats
from arcrank.evaluation.report.report import measures_table, report
from arcrank.io.atomic import write_atomically

if TYPE_CHECKING:
    from arcrank.evaluation.calibration import CalibrationEvaluation

__all__ = ["Document", "Evaluation", "LabelRow"]

HEADLINES = ("average precision", "one-error", "ranking loss", "coverage")
HEADLINES_OF_GRAPHS = ("disagreement error", "zero-one error", "domination error", "dominated error")


@dataclass
class LabelRow:
    """How one label is ranked in the documents that it is right for, and the F1 of its predictions."""

    label: str
    support: int = 0
    top1: float = float("nan")
    top5: float = float("nan")
    average_rank: float = float("nan")
    f1: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        return {
            "label": self.label,
            "support": self.support,
            "in_top_1": finite(self.top1),
            "in_top_5": finite(self.top5),
            "average_rank": finite(self.average_rank),
            "f1": self.f1,
        }


@dataclass
class Document:
    """One document and its ranking: right labels with their ranks, and the first labels with their scores."""

    row: int
    name: str | None
    text: str | None
    wrong: float
    right: list[tuple[str, int]]
    ranking: list[tuple[str, float, bool]]

    def to_dict(self) -> dict[str, Any]:
        """The document for JSON."""
        return {
            "row": self.row,
            "id": self.name,
            "text": self.text,
            "wrong_preferences": self.wrong,
            "right": [{"label": label, "rank": rank} for label, rank in self.right],
            "ranking": [{"label": label, "score": score, "right": right} for label, score, right in self.ranking],
        }


@dataclass(repr=False)
class Evaluation:
    """The measures of a model on some documents, as `evaluate` returns them.

    Attributes
    ----------
    measures : dict
        The value of each measure by name, NaN where no document could be measured. Measures of label sets are there
        only if some document has a label set, and those of predicted sets and probabilities only if the model also has
        a calibration.
    per_label : list of LabelRow
        For each label the number of documents that it is right for (`support`), how often it is ranked first (`top1`)
        or among the first five (`top5`) there, its `average_rank`, and the F1 of its predictions (`f1`), which is None
        if the model has no calibration.
    calibration : CalibrationEvaluation or None
        How far the probabilities can be believed: the calibration errors with their intervals and bins (`labels`,
        `first_label`), and `thresholds`, the precision and recall of label sets beside what the probabilities promise.
        None if the model has no calibration, or no document has a label set.
    worst : list of Document
        Up to 20 documents with the largest share of preferences in the wrong order (`wrong`), with `row` (from 1),
        `name`, `text`, the right labels with their ranks (`right`) and the first labels (`ranking`).
    caveats : list of str
        What to keep in mind when reading the measures, the most serious first.
    precision, recall : list of float
        Mean precision and recall when the first 1, 2, ... labels of every ranking are taken.
    labels : list of str
        The labels of the model.
    n_documents, n_measured, n_sets, n_unlabelled : int
        Documents that were read; that have a preference to measure by; that have a label set which is neither empty
        nor full; that say nothing about the labels of the model.
    unknown_labels : dict
        The number of documents for each label that the model does not know.
    skipped : dict
        The number of rows that could not be read, for each reason.
    learnt : bool
        Whether the model was trained on this file.
    model, data : str
        What reports call the model and the data.

    Examples
    --------
    >>> from arcrank import RocchioRanker
    >>> from arcrank.evaluation import evaluate
    >>> ranker = RocchioRanker().fit([[1, 0], [0, 1]], ["tea", "milk"])
    >>> found = evaluate(ranker, [[2, 1], [1, 3], [3, 1]], ["tea", "milk", "milk"])
    >>> found
    Evaluation(3 documents, 2 labels; average precision 0.8333, one-error 0.3333, ranking loss 0.3333, coverage 0.3333)
    >>> found.worst[0].row, found.worst[0].right
    (3, [('milk', 2)])
    >>> found.per_label[0].label, found.per_label[0].support, found.per_label[0].average_rank
    ('milk', 2, 1.5)
    >>> found.to_dict()["measures"]["zero-one error"] == found.measures["zero-one error"]
    True
    """

    labels: list[str]
    n_documents: int = 0
    n_sets: int = 0
    measures: dict[str, float] = field(default_factory=dict)
    precision: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    per_label: list[LabelRow] = field(default_factory=list)
    calibration: CalibrationEvaluation | None = None
    worst: list[Document] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    unknown_labels: dict[str, int] = field(default_factory=dict)
    n_with_unknown: int = 0
    n_unlabelled: int = 0
    learnt: bool = False
    model: str = "the model"
    data: str = "the data"

    @property
    def n_measured(self) -> int:
        """Documents with at least one preference over the labels that the model knows."""
        return self.n_documents - self.n_unlabelled

    @property
    def caveats(self) -> list[str]:
        """What to keep in mind when reading the measures, the most serious first."""
        return caveats(self)

    @property
    def by_frequency(self) -> list[FrequencyBand]:
        """How often right labels are found, grouped by the number of documents that they are right for."""
        return frequency_bands(self.per_label)

    @property
    def headlines(self) -> dict[str, float]:
        """The four measures to read first."""
        chosen = HEADLINES if self.n_sets else HEADLINES_OF_GRAPHS
        return {name: self.measures[name] for name in chosen if name in self.measures}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON: what `arcrank evaluate --json` prints; NaN becomes None."""
        return {
            "model": self.model,
            "data": self.data,
            "documents": self.n_documents,
            "documents_with_label_sets": self.n_sets,
            "skipped": self.skipped,
            "unknown_labels": self.unknown_labels,
            "documents_with_unknown_labels": self.n_with_unknown,
            "documents_left_out": self.n_unlabelled,
            "learnt_from": self.learnt,
            "cautions": self.caveats,
            "measures": {name: finite(value) for name, value in self.measures.items()},
            "precision_recall": {"precision": self.precision, "recall": self.recall},
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "labels": [row.to_dict() for row in self.per_label],
            "worst": [document.to_dict() for document in self.worst],
        }

    def to_html(self, path: str | os.PathLike[str], *, title: str = "", sections: Iterable[str] = ()) -> None:
        """Write a report as one self-contained HTML page; it is written completely or not at all.

        Parameters
        ----------
        path : path
            The file to write.
        title : str, optional
            The heading of the page.
        sections : iterable of str
            HTML to show above the table of measures.
        """
        write_atomically(path, [report(self, title, sections).encode()])

    def __repr__(self) -> str:
        """Summarize on one line how much was measured, and the first measures."""
        size = f"{count(self.n_documents, 'document')}, {count(len(self.labels), 'label')}"
        return f"Evaluation({size}; {', '.join(f'{name} {number(v)}' for name, v in self.headlines.items())})"

    def _repr_html_(self) -> str:
        """What notebooks show: the measures, and the caveats."""
        return measures_table(self)


def finite(value: float) -> float | None:
    """A number for JSON; None if it is not finite."""
    return value if math.isfinite(value) else None
