"""`compare`: two models on the same documents, with a paired test for each measure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from arcrank._typing import Array
from arcrank._wording import count
from arcrank.errors import InputError, ParameterError
from arcrank.evaluation.caveats import has_learnt_from
from arcrank.evaluation.comparison import Comparison, LabelComparison, MeasureComparison, PairedTest, Record
from arcrank.evaluation.evaluator import check_measurable
from arcrank.evaluation.measures import higher_is_better
from arcrank.evaluation.results import Evaluation
from arcrank.evaluation.rows import Data, blocks_of
from arcrank.evaluation.scoring import BlockScorer, ScoredBlock
from arcrank.evaluation.significance import holm, n_patterns, permutation_p_values
from arcrank.evaluation.totals import Totals
from arcrank.inference.feature_map import CONTENTS
from arcrank.inference.model_parts import content_kind

__all__ = ["compare"]

_NO_PROBABILITIES: dict[str, Any] = {"predicted": None, "probabilities": None}


def compare(
    model_a: Any,
    model_b: Any,
    data: Data,
    y: Any = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    data_name: str | None = None,
    n_permutations: int = 9999,
    random_state: int = 0,
) -> Comparison:
    """Compare two models on the same documents, with a paired test for each measure.

    The test is Fisher's randomization test on the values of single documents: which of the models has which value of a
    document is exchanged at random, and the p-value is the share of exchanges with a mean difference at least as large
    as the observed one. It is two-sided and assumes only that documents are independent of each other. P-values are
    also given adjusted by Holm's method, because many measures are tested; the verdict is based on these, at the 5 %
    level.

    Parameters
    ----------
    model_a, model_b : label rankers, pipelines, or what `arcrank.load` returns
        Fitted models that take the same data. Only the labels that both know are compared.
    data : Corpus, iterable of Corpus, or X
        As in `evaluate`.
    y : supervision of X, optional
        As in `evaluate`, in the form that the first model was fitted with.
    names : (str, str)
        What reports call the models.
    data_name : str, optional
        What reports call the data.
    n_permutations : int
        How many exchanges are drawn; with few documents all of them are tried instead. With more than 100,000
        documents, fewer are drawn, but at least 999.
    random_state : int
        The seed of the exchanges.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If the models share fewer than two labels, take different kinds of data, or have different hierarchies.

    References
    ----------
    Smucker, Allan & Carterette (2007), A comparison of statistical significance tests for information retrieval
    evaluation. Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> import numpy as np
    >>> from arcrank import RocchioRanker
    >>> X, y = np.eye(3)[[0, 1, 2] * 10], ["tea", "milk", "water"] * 10
    >>> good, blind = RocchioRanker().fit(X, y), RocchioRanker().fit(X[:, [1, 2, 0]], y)
    >>> found = compare(good, blind, X, y, names=("good", "blind"))
    >>> found.measures["average precision"].documents
    Record(wins=30, ties=0, losses=0)
    >>> found.verdict
    "good is significantly better than blind in 10 of 12 measures (p < 0.05 in a paired permutation test on 30 ...
    """
    if not isinstance(n_permutations, int | np.integer) or n_permutations < 1:
        raise ParameterError(f"n_permutations must be a whole number of at least 1, got {n_permutations!r}.")
    a, b, only_a, only_b = _pair(model_a, model_b, names)
    totals_a, totals_b, records, source = Totals(a.labels), Totals(b.labels), _LabelRecords(len(a.labels)), ""
    for block in blocks_of(data, y, a.ranker):
        source = block.source or source
        first = a(block)
        assert isinstance(first, ScoredBlock)  # since labels were given
        second = replace(first, **_NO_PROBABILITIES | b.outputs(block))
        totals_a.add(first)
        totals_b.add(second)
        records.add(first, second)
    data_name = (source or "X") if data_name is None else data_name
    found_a, found_b = (
        totals.evaluation(
            one.calibration, model=name, data=data_name, learnt=has_learnt_from(one.card, source, totals.n_documents)
        )
        for totals, name, one in zip((totals_a, totals_b), names, (a, b), strict=True)
    )  # fmt: skip
    check_measurable(found_a, source)
    measures, test = _measures(totals_a, totals_b, found_a, found_b, n_permutations, random_state)
    return Comparison(names, found_a, found_b, measures, records.rows(found_a, found_b), only_a, only_b, test)


def _pair(model_a: Any, model_b: Any, names: tuple[str, str]) -> tuple[BlockScorer, BlockScorer, list[str], list[str]]:
    """Both models over the labels that they share, and the labels of one only."""
    a, b = BlockScorer(model_a), BlockScorer(model_b)
    kinds = content_kind(model_a), content_kind(model_b)
    if kinds[0] != kinds[1]:
        raise InputError(
            f"{names[0]} takes {CONTENTS[kinds[0]]} and {names[1]} takes {CONTENTS[kinds[1]]}, so no data fit both.\n"
            "Compare models that were trained on the same kind of data."
        )
    if (None if a.tree is None else a.tree.parents) != (None if b.tree is None else b.tree.parents):
        raise InputError(
            f"{names[0]} and {names[1]} were trained with different hierarchies of labels, or only one of them with a "
            "hierarchy, so the same documents mean different preferences to them.\n"
            "Compare models that were trained with the same hierarchy."
        )
    shared = [label for label in a.labels if label in {*b.labels}]
    if len(shared) < 2:
        raise InputError(
            f"{names[0]} knows {count(len(a.labels), 'label')} and {names[1]} knows {count(len(b.labels), 'label')}, "
            f"and {len(shared)} of them {'is' if len(shared) == 1 else 'are'} the same.\n"
            "Compare models that share two labels or more."
        )
    known = {*shared}
    only_a, only_b = ([label for label in one.labels if label not in known] for one in (a, b))
    return BlockScorer(model_a, shared), BlockScorer(model_b, shared), only_a, only_b


class _LabelRecords:
    """For each label: documents that it is right for in which the first model ranks it better, equally and worse."""

    def __init__(self, n_labels: int) -> None:
        self.counts = np.zeros((3, n_labels), dtype=np.int64)

    def add(self, first: ScoredBlock, second: ScoredBlock) -> None:
        rows, columns = first.indicator.nonzero()
        a, b = first.ranks[rows, columns], second.ranks[rows, columns]
        for place, chosen in enumerate((a < b, a == b, a > b)):
            self.counts[place] += np.bincount(columns[chosen], minlength=self.counts.shape[1])

    def rows(self, a: Evaluation, b: Evaluation) -> list[LabelComparison]:
        return [
            LabelComparison(one.label, one.support, Record(*counts), one.average_rank, other.average_rank)
            for one, other, counts in zip(a.per_label, b.per_label, self.counts.T.tolist(), strict=True)
        ]


def _measures(
    totals_a: Totals, totals_b: Totals, a: Evaluation, b: Evaluation, n_permutations: int, seed: int
) -> tuple[dict[str, MeasureComparison], PairedTest]:
    values_a, values_b = totals_a.per_document(), totals_b.per_document()
    tested = [name for name, values in values_a.items() if name in values_b and np.isfinite(values).any()]
    gains = np.stack([(values_a[name] - values_b[name]) * _sign(name) for name in tested], axis=1)
    p = permutation_p_values(gains, n_permutations, seed)
    found = {
        name: MeasureComparison(name, a.measures[name], b.measures[name]) for name in a.measures if name in b.measures
    }
    for name, gain, one, adjusted in zip(tested, gains.T, p, holm(p), strict=True):
        found[name].documents = _record(gain)
        found[name].p, found[name].p_adjusted = float(one), float(adjusted)
    n_differing = int(np.nan_to_num(gains).any(axis=1).sum())
    exact, total = n_patterns(n_differing, n_permutations)
    return found, PairedTest(total, exact)


def _sign(name: str) -> float:
    return 1.0 if higher_is_better(name) else -1.0


def _record(gain: Array) -> Record:
    return Record(int((gain > 0).sum()), int((gain == 0).sum()), int((gain < 0).sum()))
