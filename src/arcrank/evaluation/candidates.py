"""`evaluate_candidates`: a ranker of candidates measured on queries whose candidates have grades."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from arcrank._wording import count, is_are, note_few_documents, number
from arcrank.datasets.corpus import Corpus
from arcrank.errors import InputError
from arcrank.evaluation.caveats import has_learnt_from, learnt_caveat, skipped_caveat
from arcrank.evaluation.report.html import Cell, notes, page, table
from arcrank.evaluation.report.report import FOOTER, file_name
from arcrank.graphs import CandidateGraphs
from arcrank.inference.candidate_predictor import CandidatePredictor
from arcrank.io.atomic import write_atomically
from arcrank.metrics.candidates import DESCRIPTIONS, candidate_measures

__all__ = ["CandidateEvaluation", "evaluate_candidates"]


@dataclass(repr=False)
class CandidateEvaluation:
    """The measures of a ranker of candidates; `evaluate_candidates` makes it.

    Attributes
    ----------
    measures : dict
        NDCG at 1, 5 and 10, and the zero-one, disagreement, domination and dominated errors.
    n_instances, n_candidates : int
        What was measured.
    n_without_arcs : int
        Instances whose candidates all have the same grade, which no measure counts.
    caveats : list of str
        What to keep in mind when reading the measures.

    Examples
    --------
    >>> import numpy as np
    >>> from arcrank import CandidateSets, LogLinearRanker
    >>> from arcrank.datasets import Corpus
    >>> from arcrank.evaluation import evaluate_candidates
    >>> X, ptr, grades = np.array([[1.0], [0.0], [3.0], [2.0]]), np.array([0, 2, 4]), np.array([1.0, 0.0, 2.0, 1.0])
    >>> ranker = LogLinearRanker().fit(CandidateSets(X, ptr), grades)
    >>> found = evaluate_candidates(ranker, Corpus(labels=["0", "1"], X=X, ptr=ptr, grades=grades))
    >>> found.n_instances, found.measures["domination_error"]
    (2, 0.0)
    """

    measures: dict[str, float | None]
    n_instances: int
    n_candidates: int
    n_without_arcs: int
    skipped: dict[str, int] = field(default_factory=dict)
    learnt: bool = False
    model: str = "the model"
    data: str = "the data"

    @property
    def caveats(self) -> list[str]:
        """What to keep in mind when reading the measures, the most serious first."""
        few = note_few_documents(self.n_instances - self.n_without_arcs)
        found = [*learnt_caveat(self), *([few] if few else [])]
        if self.n_without_arcs:
            what = is_are(self.n_without_arcs, "instance")
            found.append(f"{what} without candidates of different grades and left out of every measure.")
        return [*found, *skipped_caveat(self)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON: what `arcrank evaluate --json` prints."""
        return {
            "model": self.model,
            "data": self.data,
            "instances": self.n_instances,
            "candidates": self.n_candidates,
            "instances_without_arcs": self.n_without_arcs,
            "skipped": self.skipped,
            "learnt_from": self.learnt,
            "cautions": self.caveats,
            "measures": self.measures,
        }

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a report to read: one HTML page that needs no other file, written whole or not at all."""
        model, data = file_name(self.model), file_name(self.data)
        body = [f"<h1>{escape(f'How well {model} ranks the candidates of {data}')}</h1>", self._repr_html_()]
        numbers = self.to_dict() | {"model": model, "data": data}
        write_atomically(path, [page(f"{model} on {data}", body, FOOTER, numbers).encode()])

    def __repr__(self) -> str:
        """Say in one line how much was measured, and the measures."""
        values = ", ".join(f"{name} {number(value)}" for name, value in self.measures.items())
        return f"CandidateEvaluation({self.n_instances:,} instances, {self.n_candidates:,} candidates; {values})"

    def _repr_html_(self) -> str:
        """What notebooks show: the measures, and the caveats."""
        size = f"{count(self.n_instances, 'instance')}, {count(self.n_candidates, 'candidate')}."
        rows = [[Cell(escape(name)), Cell(number(v), v), Cell(DESCRIPTIONS[name])] for name, v in self.measures.items()]
        heads = ["measure", "value", "what it says"]
        return f"<p>{escape(size)}</p>{notes(self.caveats)}{table(heads, rows)}"


def evaluate_candidates(
    model: Any, data: Corpus | Iterable[Corpus], *, name: str | None = None, data_name: str | None = None
) -> CandidateEvaluation:
    """Measure a ranker of candidates on queries whose candidates have grades.

    Parameters
    ----------
    model : ranker that was fitted on CandidateSets
        A fitted model, or what `arcrank.load` returns.
    data : Corpus, or iterable of Corpus
        Queries with candidates, as `read_corpus` reads them from `qid` files and JSON lines.
    name, data_name : str, optional
        What reports call the model and the data.

    Examples
    --------
    >>> import numpy as np
    >>> from arcrank import CandidateSets, LogLinearRanker
    >>> from arcrank.datasets import Corpus
    >>> X, ptr, grades = np.array([[1.0], [0.0], [3.0], [2.0]]), np.array([0, 2, 4]), np.array([1.0, 0.0, 2.0, 1.0])
    >>> ranker = LogLinearRanker().fit(CandidateSets(X, ptr), grades)
    >>> evaluate_candidates(ranker, Corpus(labels=["0", "1"], X=X, ptr=ptr, grades=grades)).measures["ndcg_at_1"]
    1.0
    """
    predictor = CandidatePredictor(model)
    counts, grades, scores, source, skipped = [], [], [], "", dict[str, int]()
    for block in [data] if isinstance(data, Corpus) else data:
        source = block.source or source
        for reason, n in block.skipped.items():
            skipped[reason] = skipped.get(reason, 0) + n
        if len(block):
            sets = predictor.candidates(block)
            counts.append(sets.counts())
            grades.append(np.zeros(0) if block.grades is None else block.grades)
            scores.append(predictor.ranker.score_labels(sets))
    if not counts:
        raise InputError(f"{source or 'The data'} holds no query with candidates.\nGive queries with candidates.")
    ptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    truth = np.concatenate(grades)
    card = getattr(model, "model_card_", None) or {}
    return CandidateEvaluation(
        candidate_measures(truth, np.concatenate(scores), ptr),
        len(ptr) - 1,
        int(ptr[-1]),
        int((CandidateGraphs.from_grades(truth, ptr).arc_counts() == 0).sum()),
        skipped=skipped,
        learnt=has_learnt_from(card, source, len(ptr) - 1),
        model=type(predictor.ranker).__name__ if name is None else name,
        data=(source or "X") if data_name is None else data_name,
    )
