"""Four multi-label sets of MULAN: features with label sets, as JSON lines."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from arcrank.datasets.cache import Arrays, cached, pack_sets, pack_strings, unpack_sets, unpack_strings
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats import jsonl
from arcrank.datasets.formats.lines import Lines
from arcrank.datasets.formats.options import Options
from arcrank.datasets.join import join
from arcrank.datasets.locate import find
from arcrank.errors import FormatError, ParameterError
from arcrank.io.compressed import files_of, members

__all__ = ["MULAN_SETS", "load_mulan"]

MULAN_SETS = ("bibtex", "enron", "medical", "yeast")
_WHAT = "the MULAN sets (bibtex.jsonl, enron.jsonl, medical.jsonl and yeast.jsonl in one folder or archive)"


def load_mulan(name: str) -> Corpus:
    """Load a multi-label set of MULAN: sparse X of shape (n, d), and the labels of every instance.

    ======= ===== ===== ======
    name    n     d     labels
    ======= ===== ===== ======
    bibtex  7,395 1,836 159
    enron   1,702 1,001 53
    medical 978   1,449 45
    yeast   2,417 103   14
    ======= ===== ===== ======

    Parameters
    ----------
    name : {"bibtex", "enron", "medical", "yeast"}

    Returns
    -------
    Corpus
        The features `f0`, `f1`, ... and the labels `l0`, `l1`, ... in the order of their numbers. The first 70 % of
        `default_rng(0).permutation(n)`, rounded down, are the split "train", the others "test".

    Examples
    --------
    >>> load_mulan("yeast")  # doctest: +SKIP
    Corpus(2,417 rows, 14 labels; train 1,691, test 726; from MULAN (yeast))
    >>> load_mulan("bread")
    Traceback (most recent call last):
    ...
    arcrank.errors.ParameterError: There is no MULAN set 'bread'; choose one of: bibtex, enron, medical, yeast
    """
    if name not in MULAN_SETS:
        raise ParameterError(f"There is no MULAN set {name!r}; choose one of: {', '.join(MULAN_SETS)}")
    path = find("mulan", what=_WHAT)
    file = f"{name}.jsonl"
    arrays = cached(f"mulan-{name}", 1, files_of(path, file), lambda: _parse(path, file))
    features, n = unpack_strings(arrays, "features"), len(arrays["indptr"]) - 1
    order = np.random.default_rng(0).permutation(n)
    n_train = 7 * n // 10
    return Corpus(
        labels=unpack_strings(arrays, "labels_names"),
        X=csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n, len(features))),
        label_sets=unpack_sets(arrays, "labels"),
        splits={"train": order[:n_train], "test": order[n_train:]},
        feature_names=features,
        source=f"MULAN ({name})",
    )


def _parse(path: Path, file: str) -> Arrays:
    corpus = _read(path, file)
    features = corpus.feature_names or []
    named = _by_number(features)
    column = {feature: j for j, feature in enumerate(features)}
    X = corpus.X[:, [column[feature] for feature in named]]
    X.sort_indices()
    return {
        "data": X.data,
        "indices": X.indices.astype(np.int32),
        "indptr": X.indptr.astype(np.int32),
        **pack_strings("features", named),
        **pack_sets("labels", corpus.label_sets or [], _by_number(corpus.labels)),
    }


def _read(path: Path, file: str) -> Corpus:
    place = f"{path}/{file}"
    for _, stream in members(path, file):
        blocks = list(jsonl.blocks(Lines(stream, place), Options(4096)))
        if not blocks:
            raise FormatError(f"{place}: the file is empty")
        corpus = join(blocks)
        if corpus.X is None or corpus.label_sets is None:
            raise FormatError(f"{place}: every row must have features and labels")
        return corpus
    raise FormatError(f"{path}: {file} is missing; {_WHAT} are needed")


def _by_number(names: Iterable[str]) -> list[str]:
    """Sort names such as f2 and f10 by their numbers, which have no leading zeros."""
    return sorted(names, key=lambda name: (len(name), name))
