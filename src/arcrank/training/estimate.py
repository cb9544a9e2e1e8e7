"""How much memory and time one fit takes, before it is begun; rough where texts are only sampled, and said to be.

Measured on one core of a 2020s server, tol 1e-3: debtags (2,131 and 10,000 rows; 122 and 571 labels), Reuters (7,770;
90) and RCV1 (14,401; 103) took 14 to 21 ns for each stored feature value and label, and texts 110 to 130 ns a
character. Twice less or more is to be expected elsewhere. The memory is what the ranker itself says that it needs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from arcrank import memory
from arcrank._wording import count
from arcrank.errors import InputError, ResourceError
from arcrank.memory import columns_that_fit, gigabytes
from arcrank.training.plan import BY_AUTO, ONLINE, Learner, Plan

if TYPE_CHECKING:
    from arcrank.rankers.base import Sizes

__all__ = ["ResourceEstimate", "advice", "check_fit", "estimate_resources", "memory_in_flags", "n_terms"]

NS_PER_VALUE_AND_LABEL, NS_PER_CHARACTER = 17.0, 120.0
BASE_MB = 230.0
_GROWTH_OF_VALUES = 0.15
"""A text keeps more of its terms the more texts there are for `min_df` to find them in."""
_SURE = 2.0
"""A forecast from a sample is believed where twice less or more would make no difference."""
_FEWEST_COLUMNS = 1 << 10
_SAMPLED = 2000


class CorpusSizes(Protocol):
    """What an estimate asks of a corpus: `datacheck.stats` counts it."""

    n_rows: int
    n_features: int
    n_values: int
    n_characters: int
    labels: Counter[str]
    sample: list[str]


class ResourceEstimate(NamedTuple):
    """Sizes of the problem, then what they cost."""

    rows: int
    features: int
    values_per_row: float
    labels: int
    seconds: float
    megabytes: float


def estimate_resources(found: CorpusSizes, n_labels: int | None = None) -> ResourceEstimate:
    """What a fit of the log-linear ranker on the whole file needs; `n_labels` where they are not those of the file."""
    from arcrank.rankers.base import Sizes

    features, values = _text_sizes(found) if found.sample else (found.n_features, float(found.n_values))
    k, n = len(found.labels) if n_labels is None else n_labels, found.n_rows
    seconds = 1e-9 * (NS_PER_VALUE_AND_LABEL * values * k + NS_PER_CHARACTER * found.n_characters)
    # the ranker, features, texts
    size = bytes_needed(Plan(Learner.LOG_LINEAR), Sizes(n, features, k, n * k)) + 24 * values + found.n_characters
    return ResourceEstimate(n, features, values / max(1, n), k, seconds, BASE_MB + size / 1e6)


def _text_sizes(found: CorpusSizes) -> tuple[int, float]:
    """Terms and values of the whole file, from those of its first texts."""
    from arcrank.text import TextFeatures

    try:
        X = TextFeatures(min_df=_least_frequency(found.n_rows)).fit_transform(found.sample)
    except InputError:  # no term occurs often enough
        return 0, 0.0
    times = found.n_rows / len(found.sample)
    per_row = X.nnz / len(found.sample) * min(2.0, times**_GROWTH_OF_VALUES)
    return n_terms(found.sample, found.n_rows), per_row * found.n_rows


def n_terms(sample: Sequence[str], n_texts: int, settings: Mapping[str, Any] | None = None) -> int:
    """How many terms so many texts will have, from those of a sample and of half of it: a power of the number of texts.

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
    from arcrank.text import TextFeatures

    try:
        return len(TextFeatures(**{"min_df": _least_frequency(n_texts), **(settings or {})}).fit(texts).terms_)
    except InputError:  # no term occurs often enough
        return 0


def _least_frequency(n_texts: int) -> int:
    from arcrank.training.fit import least_frequency

    return least_frequency(n_texts)


def bytes_needed(plan: Plan, sizes: Sizes) -> int:
    """What a fit takes beside texts and features."""
    return int(_hungriest(plan, sizes).ranker()._bytes_needed(sizes))


def _hungriest(plan: Plan, sizes: Sizes) -> Plan:
    """The plan itself; of `auto`, which fits both of its learners, the one that takes more memory."""
    if plan.learner is not Learner.AUTO:
        return plan
    return max(
        (Plan(learner, plan.parameters, plan.text) for learner in BY_AUTO), key=lambda one: bytes_needed(one, sizes)
    )


def check_fit(plan: Plan, sizes: Sizes, texts: Sequence[str] | None) -> None:
    """Refuse a fit that this machine has not enough memory for, before time is spent on it.

    Where texts are given the number of their features is not known yet. It is estimated from some of them, and only
    where that leaves doubts are all of them looked at.
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
    """More terms than there can be: a new one from every second character on, and each run of them."""
    from arcrank.text import TextFeatures

    return int(settings.get("ngrams", TextFeatures().ngrams)) * sum(1 + len(text) // 2 for text in texts)


def _refuse(plan: Plan, sizes: Sizes, available: int) -> None:

    needed = bytes_needed(plan, sizes)
    if needed > available:
        n, d, k = sizes[:3]
        raise ResourceError(
            f"{_hungriest(plan, sizes).learner} needs about {gigabytes(needed)} of memory for {count(n, 'document')}, "
            f"{count(d, 'feature')} and {count(k, 'label')}, and {gigabytes(available)} are available.\n"
            f"{advice(plan.learner, columns_that_fit(k))}",
            columns_that_fit(k),
        )


def advice(learner: str | None, n_features: int) -> str:
    """What a user of the command can do about memory; `n_features` hashed features would fit (0: not known)."""
    fewer = f"--set n_features={n_features} would fit" if n_features >= _FEWEST_COLUMNS else "Leave out rare labels"
    if learner is None:  # a model that is there already
        return f"Train a new model: {fewer[0].lower()}{fewer[1:]}."
    if learner in ONLINE:
        return f"{fewer}."
    streaming = f"\n--learner mmp --set n_features={n_features} would fit; it reads the file as a stream."
    return "Take fewer features, as in --set min_df=5 or --set ngrams=1, or leave out rare labels." + (
        streaming if n_features >= _FEWEST_COLUMNS else ""
    )


@contextmanager
def memory_in_flags(learner: str | None) -> Iterator[None]:
    """The library's refusals name its classes; a user of the command has flags."""
    try:
        yield
    except ResourceError as error:
        found = str(error).partition("\n")[0]
        raise ResourceError(f"{found}\n{advice(learner, error.n_features)}", error.n_features) from error
