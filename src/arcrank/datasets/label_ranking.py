"""Label-ranking benchmark sets: features `A*` and the rank of every label `L*`, 1 = best."""

from __future__ import annotations

from pathlib import Path

from arcrank.datasets.cache import Arrays, cached, pack_strings, unpack_strings
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.locate import find
from arcrank.datasets.numeric_table import read_numeric_table
from arcrank.errors import ParameterError
from arcrank.io.compressed import files_of

__all__ = ["LABEL_RANKING_SETS", "load_label_ranking"]

LABEL_RANKING_SETS = ("glass", "housing", "iris", "spo", "stock", "vehicle", "vowel", "wine")


def load_label_ranking(name: str) -> Corpus:
    """Load a label-ranking set: X of shape (n, d), and `ranks` of shape (n, k), from which graphs are built.

    Parameters
    ----------
    name : {"glass", "housing", "iris", "spo", "stock", "vehicle", "vowel", "wine"}

    Returns
    -------
    Corpus
        Without splits: the literature cross-validates.

    Examples
    --------
    >>> load_label_ranking("iris")  # doctest: +SKIP
    Corpus(150 rows, 3 labels; from label ranking (iris))
    >>> load_label_ranking("roses")
    Traceback (most recent call last):
    ...
    arcrank.errors.ParameterError: There is no label-ranking set 'roses'; choose one of: glass, housing, iris, ...
    """
    if name not in LABEL_RANKING_SETS:
        raise ParameterError(f"There is no label-ranking set {name!r}; choose one of: {', '.join(LABEL_RANKING_SETS)}")
    path = find("label_ranking", what="the label-ranking sets (iris.csv, wine.csv, ... in one folder or archive)")
    file = f"{name}.csv"
    arrays = cached(f"label-ranking-{name}", 1, files_of(path, file), lambda: _parse(path, file))
    return Corpus(
        labels=unpack_strings(arrays, "labels"),
        X=arrays["X"],
        ranks=arrays["ranks"],
        feature_names=unpack_strings(arrays, "features"),
        source=f"label ranking ({name})",
    )


def _parse(path: Path, file: str) -> Arrays:
    header, table = read_numeric_table(path, file)
    features = [j for j, column in enumerate(header) if column.startswith("A")]
    labels = [j for j, column in enumerate(header) if column.startswith("L")]
    return {
        "X": table[:, features],
        "ranks": table[:, labels],
        **pack_strings("features", [header[j] for j in features]),
        **pack_strings("labels", [header[j] for j in labels]),
    }
