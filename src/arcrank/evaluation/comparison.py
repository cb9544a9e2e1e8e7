"""`Comparison`: two models on the same documents, measure by measure and label by label."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from arcrank._wording import count, is_are, number, some_names
from arcrank.evaluation.caveats import data_caveats, learnt_caveat
from arcrank.evaluation.measures import higher_is_better
from arcrank.evaluation.report.comparison import comparison_page, comparison_table
from arcrank.evaluation.results import Evaluation, finite
from arcrank.io.atomic import write_atomically

__all__ = ["Comparison", "LabelComparison", "MeasureComparison", "PairedTest", "Record"]

SIGNIFICANT = 0.05


class Record(NamedTuple):
    """How often the first model is better than, as good as, and worse than the second."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins:,} / {self.ties:,} / {self.losses:,}"


class PairedTest(NamedTuple):
    """How the p-values were found."""

    permutations: int
    exact: bool
    """Whether all permutations were tried."""


@dataclass
class MeasureComparison:
    """One measure of both models; `p` is None if it is not a mean over documents, such as max F1."""

    name: str
    a: float
    b: float
    documents: Record | None = None
    p: float | None = None
    p_adjusted: float | None = None

    @property
    def difference(self) -> float:
        """The value of the first model minus that of the second."""
        return self.a - self.b

    @property
    def significant(self) -> bool:
        """Whether the difference is significant at 5 % after the correction for the number of measures."""
        return self.p_adjusted is not None and self.p_adjusted < SIGNIFICANT

    @property
    def first_is_better(self) -> bool:
        """Whether the first model has the better value."""
        return self.a != self.b and (self.a > self.b) == higher_is_better(self.name)


@dataclass
class LabelComparison:
    """The ranks of one label in the documents that it is right for; a win is a smaller rank by the first model."""

    label: str
    support: int
    documents: Record
    average_rank_a: float
    average_rank_b: float


@dataclass(repr=False)
class Comparison:
    """Two models on the same documents, as `compare` returns it.

    Attributes
    ----------
    names : (str, str)
        What the models are called.
    a, b : Evaluation
        The measures of each model, over the labels that both know.
    measures : dict of MeasureComparison
        For each measure the values `a` and `b`, their `difference`, the `documents` that the first model won, tied and
        lost, the p-value `p` of the paired permutation test, and `p_adjusted`, corrected by Holm's method for the
        number of measures. max F1 is not a mean over documents and has no p-value.
    per_label : list of LabelComparison
        For each label in how many of the documents that it is right for (`support`) it has a better, an equal and a
        worse rank by the first model, and its average ranks.
    only_a, only_b : list of str
        Labels that only one of the models knows; they are left out.
    test : PairedTest
        The number of permutations, and whether all were tried.
    verdict : str
        The result in one sentence.

    Examples
    --------
    >>> from arcrank import RocchioRanker
    >>> from arcrank.evaluation import compare
    >>> X, y = [[1, 0], [0, 1], [2, 1], [1, 2]], ["tea", "milk", "tea", "milk"]
    >>> good = RocchioRanker().fit(X, y)
    >>> bad = RocchioRanker().fit(X, ["milk", "tea", "milk", "tea"])
    >>> found = compare(good, bad, X, y)
    >>> found.verdict
    "No significant difference between A and B on 4 documents: ..."
    >>> found.measures["one-error"].documents, found.measures["one-error"].p
    (Record(wins=4, ties=0, losses=0), 0.125)
    >>> found.labels
    Record(wins=2, ties=0, losses=0)
    """

    names: tuple[str, str]
    a: Evaluation
    b: Evaluation
    measures: dict[str, MeasureComparison]
    per_label: list[LabelComparison]
    only_a: list[str]
    only_b: list[str]
    test: PairedTest

    @property
    def documents(self) -> Record:
        """Documents in which the first model has fewer, as many and more preferences in the wrong order."""
        return self.measures["disagreement error"].documents or Record(0, 0, 0)

    @property
    def labels(self) -> Record:
        """Labels whose average rank, where they are right, is better, equal and worse by the first model."""
        ranks = [(row.average_rank_a, row.average_rank_b) for row in self.per_label if row.support]
        return Record(sum(a < b for a, b in ranks), sum(a == b for a, b in ranks), sum(a > b for a, b in ranks))

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        return _verdict(self)

    @property
    def caveats(self) -> list[str]:
        """What to keep in mind, the most serious first."""
        return _caveats(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON: what `arcrank evaluate A B DATA --json` prints."""
        return {
            "models": list(self.names),
            "data": self.a.data,
            "documents": self.a.n_documents,
            "documents_left_out": self.a.n_unlabelled,
            "labels_compared": len(self.a.labels),
            "labels_only_a": self.only_a,
            "labels_only_b": self.only_b,
            "cautions": self.caveats,
            "verdict": self.verdict,
            "test": {"permutations": self.test.permutations, "exact": self.test.exact, "significant_at": SIGNIFICANT},
            "documents_won": self.documents._asdict(),
            "labels_won": self.labels._asdict(),
            "measures": {name: _measure_json(one, self.names) for name, one in self.measures.items()},
            "labels": [asdict(row) | {"documents": row.documents._asdict()} for row in self._rows()],
        }

    def _rows(self) -> list[LabelComparison]:
        return [row for row in self.per_label if row.support]

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a report as one self-contained HTML page; it is written completely or not at all."""
        write_atomically(path, [comparison_page(self).encode()])

    def __repr__(self) -> str:
        """The verdict."""
        return f"Comparison({self.verdict})"

    def _repr_html_(self) -> str:
        """What notebooks show: the verdict, the caveats and the measures."""
        return comparison_table(self)


def _measure_json(one: MeasureComparison, names: tuple[str, str]) -> dict[str, Any]:
    better = names[0 if one.first_is_better else 1] if one.significant else None
    documents = None if one.documents is None else one.documents._asdict()
    return {
        "a": finite(one.a),
        "b": finite(one.b),
        "difference": finite(one.difference),
        "documents": documents,
        "p": one.p,
        "p_adjusted": one.p_adjusted,
        "better": better,
    }


def _verdict(found: Comparison) -> str:
    (a, b), tested = found.names, [one for one in found.measures.values() if one.p_adjusted is not None]
    size = count(found.a.n_measured, "document")
    for_first = [one.name for one in tested if one.significant and one.first_is_better]
    for_second = [one.name for one in tested if one.significant and not one.first_is_better]
    if not any(one.documents and one.documents.wins + one.documents.losses for one in tested):
        return f"{a} and {b} have the same value of every measure on each of {size}."
    rule = f"p < {SIGNIFICANT} in a paired permutation test on {size}, after Holm's correction"
    if for_first and for_second:
        return (
            f"The measures disagree: {a} is significantly better in {_listed(for_first)}, {b} in {_listed(for_second)} "
            f"({rule} for {len(tested)} measures)."
        )
    if not for_first and not for_second:
        least = min(tested, key=lambda one: one.p_adjusted or 0.0)
        return (
            f"No significant difference between {a} and {b} on {size}: the smallest p-value of a paired permutation "
            f"test, after Holm's correction for {len(tested)} measures, is {number(least.p_adjusted)} ({least.name}), "
            "which does not show that they are equally good."
        )
    better, worse, names = (a, b, for_first) if for_first else (b, a, for_second)
    rest = len(tested) - len(names)
    others = f"; the other {rest} show no significant difference" if rest else ""
    return f"{better} is significantly better than {worse} in {len(names)} of {len(tested)} measures ({rule}): " + (
        f"{_listed(names)}{others}."
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _caveats(found: Comparison) -> list[str]:
    pairs = zip(found.names, (found.a, found.b), (found.only_a, found.only_b), strict=True)
    said, left_out = [], []
    for name, evaluation, only in pairs:
        said += [f"{name}: {sentence}" for sentence in learnt_caveat(evaluation)]
        if only:
            left_out.append(f"{is_are(len(only), 'label')} known only to {name} and left out: {some_names(only)}.")
    return [*said, *left_out, *data_caveats(found.a, "not known to both models")]
