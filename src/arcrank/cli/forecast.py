"""About how much memory and time one fit of the log-linear ranker takes; rough, and said to be.

Measured on one core of a 2020s server, tol 1e-3: debtags (2,131 and 10,000 rows; 122 and 571 labels), Reuters (7,770;
90) and RCV1 (14,401; 103) took 14 to 21 ns for each stored feature value and label, and texts 110 to 130 ns a
character. Twice less or more is to be expected elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

from arcrank.cli.survey import Survey

__all__ = ["Forecast", "forecast"]

NS_PER_VALUE_AND_LABEL, NS_PER_CHARACTER = 17.0, 120.0
BASE_MB = 230.0
_GROWTH_OF_VALUES = 0.15
"""A text keeps more of its terms the more texts there are for `min_df` to find them in."""


class Forecast(NamedTuple):
    """Sizes of the problem, then what they cost."""

    rows: int
    features: int
    values_per_row: float
    labels: int
    seconds: float
    megabytes: float


def forecast(found: Survey, n_labels: int | None = None) -> Forecast:
    """What training on the whole file will need; `n_labels` where they are not those of the file."""
    features, values = _text_sizes(found) if found.sample else (found.n_features, float(found.n_values))
    k, n = len(found.labels) if n_labels is None else n_labels, found.n_rows
    seconds = 1e-9 * (NS_PER_VALUE_AND_LABEL * values * k + NS_PER_CHARACTER * found.n_characters)
    # weights and a part of them again while learning, flows, features, texts
    size = 1.3 * 8 * features * k + 8 * n * k + 24 * values + found.n_characters
    return Forecast(n, features, values / max(1, n), k, seconds, BASE_MB + size / 1e6)


def _text_sizes(found: Survey) -> tuple[int, float]:
    """Terms and values of the whole file, from those of its first texts: terms grow about as fast as texts."""
    from arcrank.cli.training import least_frequency
    from arcrank.errors import InputError
    from arcrank.text import TextFeatures

    try:
        X = TextFeatures(min_df=least_frequency(found.n_rows)).fit_transform(found.sample)
    except InputError:  # no term occurs often enough
        return 0, 0.0
    times = found.n_rows / len(found.sample)
    per_row = X.nnz / len(found.sample) * min(2.0, times**_GROWTH_OF_VALUES)
    return int(X.shape[1] * times), per_row * found.n_rows
