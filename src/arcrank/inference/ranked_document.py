"""The ranking of one document, for programs and for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arcrank._wording import as_json

__all__ = ["RankedDocument"]


@dataclass(slots=True)
class RankedDocument:
    """The labels of one document in order, with their scores.

    Attributes
    ----------
    labels : list
        The labels, best first.
    scores : list of float
        Their scores.
    known_features : int
        How many features of the document the model knows.
    id : str or None
        The name of the document.
    explanation : dict or None
        Why the first label is above the second, as `explanation_report` gives it.
    probabilities : list of float or None
        The probability that each of the labels is relevant, where the model is calibrated.
    predicted : list or None
        The labels that the model predicts, best first, where it learnt which labels to predict.

    Examples
    --------
    >>> document = RankedDocument(["oil", "ship"], [1.5, -0.5], 3, id="a")
    >>> document.to_json()
    '{"id": "a", "ranking": ["oil", "ship"], "scores": [1.5, -0.5], "known_features": 3}'
    >>> document.to_table()
    [('1', 'oil', '1.5000'), ('2', 'ship', '-0.5000')]
    """

    labels: list[Any]
    scores: list[float]
    known_features: int
    id: str | None = None
    explanation: dict[str, Any] | None = None
    probabilities: list[float] | None = None
    predicted: list[Any] | None = None

    def to_json(self, written: Mapping[Any, str] | None = None) -> str:
        """One line of JSON; `written` holds labels already encoded as JSON, for a stream of documents."""
        write = as_json if written is None else written.__getitem__
        labels = map(write, self.labels)
        head = "" if self.id is None else f'"id": {as_json(self.id)}, '
        tail = "" if self.probabilities is None else f', "probability": {self.probabilities}'
        tail += "" if self.predicted is None else f', "predicted": [{", ".join(map(write, self.predicted))}]'
        tail += "" if self.explanation is None else f', "why": {as_json(self.explanation)}'
        return (
            f'{{{head}"ranking": [{", ".join(labels)}], "scores": {self.scores}, '
            f'"known_features": {self.known_features}{tail}}}'
        )

    def to_table(self) -> list[tuple[str, ...]]:
        """Rows of rank, label and score with four digits after the point, and the probability where there is one."""
        pairs = zip(self.labels, self.scores, strict=True)
        rows = [(str(place), str(label), f"{score:.4f}") for place, (label, score) in enumerate(pairs, start=1)]
        if self.probabilities is None:
            return list(rows)
        return [(*row, f"{p:.3f}") for row, p in zip(rows, self.probabilities, strict=True)]

    @property
    def n_predicted(self) -> int:
        """How many of the labels listed are predicted; they come first."""
        return 0 if self.predicted is None else min(len(self.predicted), len(self.labels))
