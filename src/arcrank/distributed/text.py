"""Text features whose terms are counted on the partitions of a Dask cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from arcrank.distributed.base import DaskEstimator
from arcrank.distributed.cluster import Cluster
from arcrank.errors import InputError
from arcrank.text.counted import TermReader
from arcrank.text.counts import frequency_limits, refuse_no_terms
from arcrank.text.features import TextFeatures
from arcrank.text.language import AUTO, check_language, detect_language
from arcrank.text.tokens import checked_texts
from arcrank.text.weights import check_norm, smooth_idf

__all__ = ["DaskTextFeatures"]

_SAMPLED = 1000
"""Texts that the language is found in, as `detect_language` reads at most."""


class _Frequencies(NamedTuple):
    """In how many texts of some partitions each term is."""

    n: int
    texts: Counter[str]


def count_frequencies(texts: Any, reader: TermReader) -> _Frequencies:
    """Count the texts of a partition that hold each term."""
    counts = reader.count(_listed(texts))
    found = np.bincount(counts.matrix.indices, minlength=counts.matrix.shape[1])
    return _Frequencies(len(counts), Counter(dict(zip(counts.terms.names(), found.tolist(), strict=True))))


def merge_frequencies(parts: Sequence[_Frequencies]) -> _Frequencies:
    """Add the counts of some partitions."""
    total = Counter(parts[0].texts)
    for one in parts[1:]:
        total.update(one.texts)
    return _Frequencies(sum(one.n for one in parts), total)


def count_texts(texts: Any) -> int:
    """Return the number of texts of a partition, all of them checked."""
    return len(_listed(texts))


def sample_texts(texts: Any, _index: int, first: int, step: int) -> list[str]:
    """Return every `step`-th text of the whole data that is in this partition, whose first one has this number."""
    return _listed(texts)[-first % step :: step]


def transform_texts(texts: Any, features: Callable[[Any], Any]) -> Any:
    """Return the features of a partition."""
    return features(_listed(texts))


def _listed(texts: Any) -> list[str]:
    return list(checked_texts(texts))


class DaskTextFeatures(DaskEstimator, TextFeatures):
    """`TextFeatures` fitted on the partitions of a Dask cluster: the terms and the idf of one machine.

    Terms are counted in one pass over the partitions, and the counts are merged as a tree. The merged terms, before
    `min_df` and `max_df` are applied, must fit into the memory of a worker.

    Parameters
    ----------
    lowercase, digits, language, stop_words, stem, min_length, ngrams, min_df, max_df, sublinear, idf, norm
        As in `TextFeatures`.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the default client of this process.
    timeout : float
        Seconds that may pass without a task being finished, before a `ClusterError` is raised.

    Attributes
    ----------
    terms_, idf_, language_
        As in `TextFeatures`.

    Examples
    --------
    >>> import dask
    >>> from distributed import Client
    >>> from arcrank.distributed import DaskTextFeatures
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     texts = [dask.delayed(["crude oil"]), dask.delayed(["oil price"])]
    ...     features = DaskTextFeatures(min_df=1, client=client).fit(texts)
    >>> features.terms_
    ['crude', 'crude oil', 'oil', 'oil price', 'price']
    """

    _local_class = TextFeatures

    def __init__(
        self,
        *,
        lowercase: bool = True,
        digits: str = "token",
        language: str | None = "auto",
        stop_words: bool | str | Collection[str] | None = True,
        stem: bool | str = True,
        min_length: int = 1,
        ngrams: int = 2,
        min_df: float = 2,
        max_df: float = 1.0,
        sublinear: bool = True,
        idf: bool = True,
        norm: str | None = "l2",
        client: Any = None,
        timeout: float = 300.0,
    ) -> None:
        super().__init__(
            lowercase=lowercase,
            digits=digits,
            language=language,
            stop_words=stop_words,
            stem=stem,
            min_length=min_length,
            ngrams=ngrams,
            min_df=min_df,
            max_df=max_df,
            sublinear=sublinear,
            idf=idf,
            norm=norm,
        )
        self.client = client
        self.timeout = timeout

    def fit(self, texts: Any, y: object = None) -> Self:  # noqa: ARG002
        """Learn the terms and their idf from a list of delayed lists of texts, a dask.bag or a Dask series of texts."""
        self.check_parameters()
        check_norm(self.norm)
        partitions = Cluster(self.client, self.timeout).load(_sources(texts))
        reader = self._new_reader(self._language_of(partitions))
        n, found = partitions.reduce(count_frequencies, merge_frequencies, reader)
        low, high = frequency_limits(self.min_df, self.max_df, n)
        terms = sorted(
            (term for term, count in found.items() if max(low, 1) <= count <= high), key=lambda term: term.split(" ")
        )
        if not terms:
            refuse_no_terms(n, self.min_df, self.max_df)
        rows = np.array([found[term] for term in terms], dtype=np.int64)
        self._set_fitted(terms, smooth_idf(rows, n) if self.idf else np.ones(len(terms)), reader.language)
        return self

    def fit_transform(self, texts: Any, y: object = None) -> Any:
        """Learn the terms and their idf, and return delayed features, (n, d) CSR, of each partition."""
        return self.fit(texts, y).transform(texts)

    def transform(self, texts: Any) -> Any:
        """Return delayed features of each partition; of texts in this process, the features."""
        if _is_local(texts):
            return super().transform(texts)
        from dask import delayed

        features = delayed(self.to_local().transform)
        return [delayed(transform_texts)(one, features) for one in _sources(texts)]

    def _language_of(self, partitions: Any) -> str | None:
        check_language(self.language, auto=True)
        if self.language != AUTO:
            return self.language
        sizes = partitions.map(count_texts)
        step = -(-sum(sizes) // _SAMPLED) or 1
        starts = [0, *np.cumsum(sizes)[:-1].tolist()]
        cluster, futures = partitions.cluster, partitions.futures
        parts = [
            cluster.submit("sample", sample_texts, future, number, first, step)
            for number, (future, first) in enumerate(zip(futures, starts, strict=True))
        ]
        sampled = type(partitions)(cluster, parts).map(_same_texts)
        return detect_language([text for part in sampled for text in part]).language


def _same_texts(texts: list[str]) -> list[str]:
    return texts


def _is_local(texts: Any) -> bool:
    return not hasattr(texts, "to_delayed") and not (isinstance(texts, list | tuple) and texts and _has_key(texts[0]))


def _has_key(one: Any) -> bool:
    return hasattr(one, "key") and not isinstance(one, str)


def _sources(texts: Any) -> list[Any]:
    """Return the partitions of texts."""
    if _is_local(texts):
        raise InputError(
            f"texts must be a list of delayed lists of texts, a dask.bag or a Dask series; got {type(texts).__name__}. "
            "For texts in this process use TextFeatures."
        )
    return list(texts) if isinstance(texts, list | tuple) else list(np.ravel(texts.to_delayed()))
