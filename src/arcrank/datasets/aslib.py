"""Scenarios of ASlib, the algorithm selection library: rank the algorithms for an instance by their runtimes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from arcrank._typing import Array
from arcrank.datasets.cache import Arrays, cached, pack_strings, unpack_strings
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.locate import find
from arcrank.datasets.numeric_table import read_numeric_table
from arcrank.datasets.rank_positions import rank_positions
from arcrank.errors import FormatError, ParameterError
from arcrank.io.compressed import files_of

__all__ = ["ASLIB_SCENARIOS", "load_aslib", "load_aslib_runtimes"]

ASLIB_SCENARIOS = ("CSP-2010", "GLUHACK-2018", "MAXSAT12-PMS", "MIP-2016", "QBF-2011", "SAT11-INDU")
_ALGORITHM = "L:"


def load_aslib(name: str) -> Corpus:
    """Load a scenario of ASlib: features of problem instances, and a ranking of algorithms by their runtimes.

    The fastest algorithm has rank 1, and algorithms of equal runtime tie. A run that did not solve its instance counts
    as 10 times the time limit (PAR10), so that all unsolved runs of an instance tie at the end; where no algorithm
    solved it, all tie and there is no preference. `arcrank.datasets.aslib.load_aslib_runtimes` returns the runtimes.

    Parameters
    ----------
    name : {"CSP-2010", "GLUHACK-2018", "MAXSAT12-PMS", "MIP-2016", "QBF-2011", "SAT11-INDU"}

    Returns
    -------
    Corpus
        Labels = algorithms. Some features of CSP-2010 and SAT11-INDU are unknown for some instances, and rankers
        refuse NaN: an unknown value is replaced with the median of the known values of its column over all instances
        (no runtime is used), and a last column `"A0 is missing"` is 1 where values were replaced, else 0. Columns that
        are unknown for the same instances share one such column, named after the first of them. The splits "fold-1" to
        "fold-10" are the folds of ASlib: test on one, train on the others.

    Examples
    --------
    >>> load_aslib("MIP-2016").ranks.shape  # doctest: +SKIP
    (218, 5)
    >>> load_aslib("TSP-2010")
    Traceback (most recent call last):
    ...
    arcrank.errors.ParameterError: There is no ASlib scenario 'TSP-2010'; choose one of: CSP-2010, GLUHACK-2018, ...
    """
    arrays = _arrays(name)
    fold = arrays["fold"]
    return Corpus(
        labels=unpack_strings(arrays, "algorithms"),
        X=arrays["X"],
        ranks=rank_positions(arrays["runtimes"]),
        splits={f"fold-{number}": np.flatnonzero(fold == number) for number in np.unique(fold).tolist()},
        feature_names=unpack_strings(arrays, "features"),
        source=f"ASlib ({name})",
    )


def load_aslib_runtimes(name: str) -> Array:
    """Return the runtimes in seconds of a scenario, (n, k): rows and columns are those of the ranks of `load_aslib`.

    Examples
    --------
    >>> load_aslib_runtimes("MIP-2016").max()  # doctest: +SKIP
    72000.0
    """
    runtimes: Array = _arrays(name)["runtimes"]
    return runtimes


def _arrays(name: str) -> Arrays:
    if name not in ASLIB_SCENARIOS:
        raise ParameterError(f"There is no ASlib scenario {name!r}; choose one of: {', '.join(ASLIB_SCENARIOS)}")
    path = find("aslib", what="the ASlib scenarios (CSP-2010.csv, QBF-2011.csv, ... in one folder or archive)")
    file = f"{name}.csv"
    return cached(f"aslib-{name}", 1, files_of(path, file), lambda: _parse(path, file))


def _parse(path: Path, file: str) -> Arrays:
    header, table = read_numeric_table(path, file, allow_empty=True)
    features = [j for j, column in enumerate(header) if column.startswith("A")]
    algorithms = [j for j, column in enumerate(header) if column.startswith(_ALGORITHM)]
    if not features or not algorithms or header.count("fold") != 1:
        raise FormatError(
            f"{path}/{file}: columns A..., {_ALGORITHM}... and fold are needed, found {', '.join(header)}"
        )
    fold = table[:, header.index("fold")]
    if not np.array_equal(fold, np.round(fold)):  # NaN differs from itself
        raise FormatError(f"{path}/{file}: the fold of each instance must be a whole number")
    X, names = _without_gaps(table[:, features], [header[j] for j in features])
    return {
        "X": X,
        "runtimes": table[:, algorithms],
        "fold": fold.astype(np.int64),
        **pack_strings("features", names),
        **pack_strings("algorithms", [header[j].removeprefix(_ALGORITHM) for j in algorithms]),
    }


def _without_gaps(X: Array, names: list[str]) -> tuple[Array, list[str]]:
    """Replace NaN with the median of its column, 0 if all is NaN, and add a column for each distinct set of gaps."""
    missing = np.isnan(X)
    gaps = [column.tobytes() for column in missing.T]
    first = {gap: j for j, gap in reversed([*enumerate(gaps)]) if missing[:, j].any()}
    chosen = sorted(first.values())
    medians = [np.median(x[~gap]) if not gap.all() else 0.0 for x, gap in zip(X.T, missing.T, strict=True)]
    filled = np.where(missing, medians, X)
    return np.hstack([filled, missing[:, chosen]]), names + [f"{names[j]} is missing" for j in chosen]
