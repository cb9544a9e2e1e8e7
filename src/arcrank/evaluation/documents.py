"""`evaluate_documents`: a ranker of documents measured on documents whose relevance is known."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from arcrank._wording import count, display_path, is_are, note_few_documents, number
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.supervision import check_both_kinds
from arcrank.evaluation.caveats import has_learnt_from, learnt_caveat, skipped_caveat
from arcrank.evaluation.report.html import Cell, notes, page, section, table
from arcrank.evaluation.report.report import FOOTER, file_name
from arcrank.evaluation.report.svg import Axis, Series, line_plot
from arcrank.inference.document_predictor import DocumentPredictor
from arcrank.io.atomic import write_atomically
from arcrank.metrics.bipartite import auc, precision_recall, top_precision, uninterpolated_precision

__all__ = ["DocumentEvaluation", "evaluate_documents"]

CUTOFFS = (10, 50, 100)
_MOST_POINTS = 200
DESCRIPTIONS = {
    "AUC": "share of pairs of a relevant and an irrelevant document in the right order; ties count half",
    "average precision": "mean precision at the ranks of the relevant documents; a tie counts as an error",
}


@dataclass(repr=False)
class DocumentEvaluation:
    """The measures of a ranker of documents; `evaluate_documents` makes it.

    Attributes
    ----------
    measures : dict
        AUC, average precision, and the precision among the first 10, 50 and 100 documents if there are so many.
    cutoffs, precision, recall : list
        The precision-recall curve: both when the first `cutoffs[i]` documents are taken.
    n_relevant, n_irrelevant, n_unlabelled : int
        The documents; unlabelled ones are left out of every measure.
    caveats : list of str
        What to keep in mind when reading the measures.

    Examples
    --------
    >>> import numpy as np
    >>> from arcrank import RankBoost
    >>> from arcrank.datasets import Corpus
    >>> from arcrank.evaluation import evaluate_documents
    >>> ranker = RankBoost(n_rounds=5).fit([[2, 0], [1, 1], [0, 2], [0, 1]], [1, 1, 0, 0])
    >>> X, sets = np.array([[3, 0], [0, 3]]), [["relevant"], ["irrelevant"]]
    >>> evaluate_documents(ranker, Corpus(labels=["irrelevant", "relevant"], X=X, label_sets=sets))
    DocumentEvaluation(1 relevant, 1 irrelevant; AUC 1, average precision 1)
    """

    measures: dict[str, float]
    cutoffs: list[int]
    precision: list[float]
    recall: list[float]
    n_relevant: int
    n_irrelevant: int
    n_unlabelled: int
    skipped: dict[str, int] = field(default_factory=dict)
    learnt: bool = False
    model: str = "the model"
    data: str = "the data"

    @property
    def caveats(self) -> list[str]:
        """What to keep in mind when reading the measures, the most serious first."""
        few = note_few_documents(min(self.n_relevant, self.n_irrelevant))
        found = [*learnt_caveat(self), *([few] if few else [])]
        if self.n_unlabelled:
            found.append(f"{is_are(self.n_unlabelled, 'document')} unlabelled and left out of every measure.")
        return [*found, *skipped_caveat(self)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON: what `arcrank evaluate --json` prints."""
        return {
            "model": self.model,
            "data": self.data,
            "relevant": self.n_relevant,
            "irrelevant": self.n_irrelevant,
            "unlabelled": self.n_unlabelled,
            "skipped": self.skipped,
            "learnt_from": self.learnt,
            "cautions": self.caveats,
            "measures": self.measures,
            "precision_recall": {"cutoffs": self.cutoffs, "precision": self.precision, "recall": self.recall},
        }

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a report to read: one HTML page that needs no other file, written whole or not at all."""
        model, data = file_name(self.model), file_name(self.data)
        body = [
            f"<h1>{escape(f'How well {model} ranks the documents of {data}')}</h1>",
            self._repr_html_(),
            section("Precision by recall", self._plot(), intro="Both when the first r documents are taken."),
        ]
        numbers = self.to_dict() | {"model": model, "data": data}
        write_atomically(path, [page(f"{model} on {data}", body, FOOTER, numbers).encode()])

    def _plot(self) -> str:
        unit = (0.0, 1.0)
        curve = Series("precision", self.recall, self.precision)
        return line_plot([curve], Axis("recall", range=unit), Axis("precision", range=unit), "Precision by recall")

    def __repr__(self) -> str:
        """Say in one line how much was measured, and the measures."""
        values = ", ".join(f"{name} {number(value)}" for name, value in self.measures.items())
        return f"DocumentEvaluation({self.n_relevant:,} relevant, {self.n_irrelevant:,} irrelevant; {values})"

    def _repr_html_(self) -> str:
        """What notebooks show: the measures, and the caveats."""
        size = f"{count(self.n_relevant, 'relevant document')}, {count(self.n_irrelevant, 'irrelevant document')}."
        rows = [[Cell(escape(name)), Cell(number(v), v), Cell(describe(name))] for name, v in self.measures.items()]
        heads = ["measure", "value", "what it says"]
        return f"<p>{escape(size)}</p>{notes(self.caveats)}{table(heads, rows)}"


def describe(name: str) -> str:
    """Say what a measure means."""
    return DESCRIPTIONS.get(name, "share of relevant documents among the first")


def evaluate_documents(
    model: Any, data: Corpus | Iterable[Corpus], *, name: str | None = None, data_name: str | None = None
) -> DocumentEvaluation:
    """Measure a ranker of documents on documents whose relevance is known.

    Parameters
    ----------
    model : ranker of documents, or a pipeline that ends in one
        A fitted model, such as `RankBoost`, or what `arcrank.load` returns.
    data : Corpus, or iterable of Corpus
        Documents with `Corpus.relevance`; the scores of all of them are held in memory.
    name, data_name : str, optional
        What reports call the model and the data.

    Examples
    --------
    >>> import numpy as np
    >>> from arcrank import RankBoost
    >>> from arcrank.datasets import Corpus
    >>> ranker = RankBoost(n_rounds=5).fit([[2, 0], [1, 1], [0, 2], [0, 1]], [1, 1, 0, 0])
    >>> sets = [["relevant"], ["irrelevant"], []]
    >>> X = np.array([[3, 0], [0, 3], [1, 1]])
    >>> rows = Corpus(labels=["irrelevant", "relevant"], X=X, label_sets=sets)
    >>> evaluate_documents(ranker, rows).measures["AUC"]
    1.0
    """
    predictor = DocumentPredictor(model)
    scores, relevance, source, skipped = [], [], "", dict[str, int]()
    for block in [data] if isinstance(data, Corpus) else data:
        source = block.source or source
        for reason, n in block.skipped.items():
            skipped[reason] = skipped.get(reason, 0) + n
        if len(block):
            scores.append(predictor.scores(block))
            relevance.append(block.relevance())
    y = np.concatenate([np.zeros(0, dtype=np.int64), *relevance])
    values = np.concatenate([np.zeros(0), *scores])
    check_both_kinds(y, display_path(source) if source else "")
    card = getattr(model, "model_card_", None) or {}
    return _measured(
        y,
        values,
        skipped=skipped,
        learnt=has_learnt_from(card, source, len(y)),
        model=type(predictor.ranker).__name__ if name is None else name,
        data=(source or "X") if data_name is None else data_name,
    )


def _measured(y: Any, scores: Any, **rest: Any) -> DocumentEvaluation:
    known = y >= 0
    truth, values = y[known], scores[known]
    n = len(truth)
    measures = {"AUC": auc(truth, values, ties="half"), "average precision": uninterpolated_precision(truth, values)}
    measures |= {f"precision at {r}": top_precision(truth, values, r) for r in CUTOFFS if r <= n}
    curve = precision_recall(truth, values)
    points = np.unique(np.geomspace(1, n, min(n, _MOST_POINTS)).round().astype(int))
    return DocumentEvaluation(
        measures,
        points.tolist(),
        curve.precision[points - 1].tolist(),
        curve.recall[points - 1].tolist(),
        int((truth == 1).sum()),
        int((truth == 0).sum()),
        int((~known).sum()),
        **rest,
    )
