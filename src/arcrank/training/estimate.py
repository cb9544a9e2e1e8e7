"""How much memory and time one fit takes, estimated beforehand; roughly if texts are only sampled.

Measured on one core of a 2020s server, tol 1e-3: debtags (2,131 and 10,000 rows; 122 and 571 labels), Reuters (7,770;
90) and RCV1 (14,401; 103) took 14 to 21 ns for each stored feature value and label, and texts 110 to 130 ns per
character. Expect half or twice that elsewhere. The memory is what the ranker itself reports that it needs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from arcrank import memory
from arcrank._wording import count
from arcrank.errors import InputError, ResourceError
from arcrank.memory import columns_that_fit, gigabytes
from arcrank.rankers.base import Sizes
from arcrank.text import TextFeatures
from arcrank.training.advice import memory_advice
from arcrank.training.plan import BY_AUTO, Learner, Plan, minimum_document_frequency

__all__ = ["ResourceEstimate", "check_fit", "estimate_resources", "n_terms"]

NS_PER_VALUE_AND_LABEL, NS_PER_CHARACTER = 17.0, 120.0
BASE_MB = 230.0
_GROWTH_OF_VALUES = 0.15
"""The more texts there are, the more terms of each text pass `min_df`."""
_SURE = 2.0
"""An estimate from a sample is trusted if half or twice of it would make no difference."""
_SAMPLED = 2000


class CorpusSizes(Protocol):
    """What an estimate needs to know of a corpus; `datacheck.stats` counts it."""

    n_rows: int
    n_features: int
    n_values: int
    n_characters: int
    labels: Counter[str]
    sample: list[str]


class ResourceEstimate(NamedTuple):
    """The size of the problem and its cost."""

    rows: int
    features: int
    values_per_row: float
    labels: int
    seconds: float
    megabytes: float


def estimate_resources(found: CorpusSizes, n_labels: int | None = None) -> ResourceEstimate:
    """Estimate a fit of the log-linear ranker on the whole file; `n_labels` if they are not those of the file."""
    features, values = _text_sizes(found) if found.sample else (found.n_features, float(found.n_values))
    k, n = len(found.labels) if n_labels is None else n_labels, found.n_rows
    seconds = 1e-9 * (NS_PER_VALUE_AND_LABEL * values * k + NS_PER_CHARACTER * found.n_characters)
    # the ranker, features, texts
    size = bytes_needed(Plan(Learner.LOG_LINEAR), Sizes(n, features, k, n * k)) + 24 * values + found.n_characters
    return ResourceEstimate(n, features, values / max(1, n), k, seconds, BASE_MB + size / 1e6)


def _text_sizes(found: CorpusSizes) -> tuple[int, float]:
    """Estimate terms and values of the whole file from those of its first texts."""
    try:
        X = TextFeatures(min_df=minimum_document_frequency(found.n_rows)).fit_transform(found.sample)
    except InputError:  # no term occurs often enough
        return 0, 0.0
    times = found.n_rows / len(found.sample)
    per_row = X.nnz / len(found.sample) * min(2.0, times**_GROWTH_OF_VALUES)
    return n_terms(found.sample, found.n_rows), per_row * found.n_rows


def n_terms(sample: Sequence[str], n_texts: int, settings: Mapping[str, Any] | None = None) -> int:
    """Extrapolate the number of terms from a sample and half of it, as a power of the number of texts.

    Examples
    --------
    >>> n_terms(["crude oil", "oil price"], 2)
    5
    """
    whole = _terms_of(sample, n_texts, settings)
    if len(sample) >= n_texts or not whole:
        return whole
    half = max(1, _terms_of(sample[: len(sample) // 2], n_texts, settings))
    growth = min(1.0, max(0.3, math.log2(whole / half)))
    return int(whole * (n_texts / len(sample)) ** growth)


def _terms_of(texts: Sequence[str], n_texts: int, settings: Mapping[str, Any] | None) -> int:
    try:
        return len(
            TextFeatures(**{"min_df": minimum_document_frequency(n_texts), **(settings or {})}).fit(texts).terms_
        )
    except InputError:  # no term occurs often enough
        return 0


def bytes_needed(plan: Plan, sizes: Sizes) -> int:
    """Return what a fit needs beside texts and features."""
    return int(_largest(plan, sizes).ranker()._bytes_needed(sizes))


def _largest(plan: Plan, sizes: Sizes) -> Plan:
    """Return the plan itself, or for `auto`, which fits both of its learners, the one that needs more memory."""
    if plan.learner is not Learner.AUTO:
        return plan
    return max(
        (Plan(learner, plan.parameters, plan.text) for learner in BY_AUTO), key=lambda one: bytes_needed(one, sizes)
    )


def check_fit(plan: Plan, sizes: Sizes, texts: Sequence[str] | None) -> None:
    """Refuse a fit that needs more memory than is available, before time is spent on it.

    The number of features of texts is not known yet. It is estimated from a sample, and counted on all texts only if
    the estimate is too close to the limit.
    """
    available = memory.available_memory()
    if available is None:
        return
    if texts is None:
        _refuse(plan, sizes, available)
        return
    if bytes_needed(plan, sizes._replace(features=_most_terms(texts, plan.text))) <= available:
        return
    step = max(1, len(texts) // _SAMPLED)
    rough = sizes._replace(features=n_terms(texts[::step][:_SAMPLED], len(texts), plan.text))
    needed = bytes_needed(plan, rough)
    if needed * _SURE > available:
        unsure = needed < _SURE * available
        exact = sizes._replace(features=_terms_of(texts, len(texts), plan.text)) if unsure else rough
        _refuse(plan, exact, available)


def _most_terms(texts: Sequence[str], settings: Mapping[str, Any]) -> int:
    """Return an upper bound: a word needs two characters, and every n-gram starts at a word."""
    return int(settings.get("ngrams", TextFeatures().ngrams)) * sum(1 + len(text) // 2 for text in texts)


def _refuse(plan: Plan, sizes: Sizes, available: int) -> None:
    needed = bytes_needed(plan, sizes)
    if needed > available:
        n, d, k = sizes[:3]
        raise ResourceError(
            f"{_largest(plan, sizes).learner} needs about {gigabytes(needed)} of memory for {count(n, 'document')}, "
            f"{count(d, 'feature')} and {count(k, 'label')}, and {gigabytes(available)} are available.\n"
            f"{memory_advice(plan.learner, columns_that_fit(k))}",
            columns_that_fit(k),
        )
