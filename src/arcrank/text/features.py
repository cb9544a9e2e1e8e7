"""Text -> features in one step: the default for new users, and its variant of bounded memory for streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import murmurhash3_32
from sklearn.utils.validation import check_is_fitted

from arcrank.errors import InputError, ParameterError
from arcrank.text.counts import TermCounts, TextTransformer, count_rows, ngram_orders, sum_counts
from arcrank.text.tokens import Tokenizer, checked_texts
from arcrank.text.weighting import check_norm, damped, document_frequency, smooth_idf, unit_rows

__all__ = ["HashedTextFeatures", "TextFeatures"]

_MAX_COLUMNS = 2**31 - 1
"""Columns are numbered by 32-bit integers."""


class _Features(TextTransformer):
    """What both share: the switches of the tokenizer, log counts and the norm."""

    lowercase: bool
    digits: str
    stop_words: str | Iterable[str] | None
    stem: bool | str
    min_length: int
    sublinear: bool
    norm: str | None

    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(
            lowercase=self.lowercase,
            digits=self.digits,
            stop_words=self.stop_words,
            stem=self.stem,
            min_length=self.min_length,
        )

    def _weigh(self, counts: sparse.csr_matrix, idf: NDArray[np.float64] | None) -> sparse.csr_matrix:
        """Turn counts into weights, in place."""
        if self.sublinear:
            counts.data = damped(counts.data)
        if idf is not None:
            counts.data *= idf[counts.indices]
        return unit_rows(counts, self.norm)


class TextFeatures(_Features):
    """Texts -> features that a linear ranker does well on, without a choice to make: (n, d) CSR float64.

    Parameters
    ----------
    lowercase, digits, stop_words, stem, min_length
        The switches of `Tokenizer`.
    ngrams, min_df, max_df
        Those of `TermCounts`.
    sublinear : bool
        Weigh a count by `log(tf) + 1`.
    idf : bool
        Multiply by `log((1 + n)/(1 + u)) + 1`, where u of the n texts given to fit hold the term.
    norm : "l2", "l1" or None
        Bring every row to this unit length.

    Attributes
    ----------
    terms_ : list of str
        The term of each column, sorted.
    idf_ : (d,) array
        Ones where `idf=False`.

    Examples
    --------
    >>> from arcrank.text import TextFeatures
    >>> features = TextFeatures(min_df=1)
    >>> X = features.fit_transform(["crude oil", "oil price"])
    >>> features.terms_
    ['crude', 'crude oil', 'oil', 'oil price', 'price']
    >>> X.toarray().round(2)
    array([[0.63, 0.63, 0.45, 0.  , 0.  ],
           [0.  , 0.  , 0.45, 0.63, 0.63]])
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        digits: str = "keep",
        stop_words: str | Iterable[str] | None = None,
        stem: bool | str = True,
        min_length: int = 1,
        ngrams: int = 2,
        min_df: float = 2,
        max_df: float = 1.0,
        sublinear: bool = True,
        idf: bool = True,
        norm: str | None = "l2",
    ) -> None:
        self.lowercase = lowercase
        self.digits = digits
        self.stop_words = stop_words
        self.stem = stem
        self.min_length = min_length
        self.ngrams = ngrams
        self.min_df = min_df
        self.max_df = max_df
        self.sublinear = sublinear
        self.idf = idf
        self.norm = norm

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn the terms and their idf."""
        self.fit_transform(texts, y)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> sparse.csr_matrix:  # noqa: ARG002
        """Learn the terms and their idf, and return the features."""
        check_norm(self.norm)
        counter = TermCounts(tokenizer=self._tokenizer(), ngrams=self.ngrams, min_df=self.min_df, max_df=self.max_df)
        counts = counter.fit_transform(texts)
        n, d = counts.shape
        idf = smooth_idf(document_frequency(counts), n) if self.idf else np.ones(d)
        self._set_fitted(list(counter.vocabulary_), idf)
        return self._weigh(counts, self.idf_)

    def transform(self, texts: Iterable[str]) -> sparse.csr_matrix:
        """Return the features of the known terms."""
        check_is_fitted(self, "terms_")
        return self._weigh(self._counter.transform(texts), self.idf_)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the terms, in the order of the columns."""
        check_is_fitted(self, "terms_")
        return np.array(self.terms_, dtype=object)

    def get_state(self) -> dict[str, Any]:
        """Return all that a model file must hold: JSON-able "parameters", "terms" (a list) and "idf" (an array)."""
        check_is_fitted(self, "terms_")
        parameters = self.get_params()
        if not (self.stop_words is None or isinstance(self.stop_words, str)):
            parameters["stop_words"] = sorted(set(checked_texts(self.stop_words)))
        return {"parameters": parameters, "terms": list(self.terms_), "idf": self.idf_.copy()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the fitted transformer that `get_state` described."""
        features = cls(**state["parameters"])
        terms, idf = list(state["terms"]), np.asarray(state["idf"], dtype=np.float64)
        if idf.shape != (len(terms),) or not np.isfinite(idf).all():
            raise InputError(f"the state holds {len(terms)} terms, but an idf of shape {idf.shape} or not finite")
        features._set_fitted(terms, idf)
        return features

    def _set_fitted(self, terms: list[str], idf: NDArray[np.float64]) -> None:
        self.terms_, self.idf_ = terms, idf
        # Nothing is learnt here: with a vocabulary, fit only turns it into columns.
        self._counter = TermCounts(tokenizer=self._tokenizer(), ngrams=self.ngrams, vocabulary=terms).fit([])


class HashedTextFeatures(ClassNamePrefixFeaturesOutMixin, _Features):
    """Texts -> features in a fixed number of columns, with no vocabulary: for streams and bounded memory.

    A term's column is its MurmurHash3 modulo `n_features`, the same in every process; terms that share a column
    add up. There is nothing to learn, so `transform` works at once and there is no idf; `fit` and `partial_fit`
    only check the parameters.

    Parameters
    ----------
    n_features : int
        Number of columns.
    lowercase, digits, stop_words, stem, min_length, ngrams, sublinear, norm
        As in `TextFeatures`.

    Examples
    --------
    >>> from arcrank.text import HashedTextFeatures
    >>> X = HashedTextFeatures(n_features=2**10).transform(["crude oil", "oil price", ""])
    >>> X.shape, X.nnz
    ((3, 1024), 6)
    """

    def __init__(
        self,
        *,
        n_features: int = 2**20,
        lowercase: bool = True,
        digits: str = "keep",
        stop_words: str | Iterable[str] | None = None,
        stem: bool | str = True,
        min_length: int = 1,
        ngrams: int = 2,
        sublinear: bool = True,
        norm: str | None = "l2",
    ) -> None:
        self.n_features = n_features
        self.lowercase = lowercase
        self.digits = digits
        self.stop_words = stop_words
        self.stem = stem
        self.min_length = min_length
        self.ngrams = ngrams
        self.sublinear = sublinear
        self.norm = norm

    def fit(self, texts: object = None, y: object = None) -> Self:  # noqa: ARG002
        """Check the parameters; the texts are not read."""
        self.transform([])
        return self

    def partial_fit(self, texts: object = None, y: object = None) -> Self:
        """Check the parameters; the texts are not read."""
        return self.fit(texts, y)

    def fit_transform(self, texts: Iterable[str], y: object = None) -> sparse.csr_matrix:  # noqa: ARG002
        """Return the features."""
        return self.transform(texts)

    def transform(self, texts: Iterable[str]) -> sparse.csr_matrix:
        """Return the features, (n, n_features) CSR."""
        self._check()
        orders = ngram_orders(self._tokenizer().encode(texts), self.ngrams)
        parts = [count_rows(order, self._columns(order.words), self.n_features) for order in orders]
        return self._weigh(sum_counts(parts), None)

    @property
    def _n_features_out(self) -> int:
        return self.n_features

    def _columns(self, terms: list[str]) -> NDArray[np.int32]:
        hashes = (murmurhash3_32(term, positive=True) for term in terms)
        return np.fromiter((value % self.n_features for value in hashes), dtype=np.int32, count=len(terms))

    def _check(self) -> None:
        check_norm(self.norm)
        n = self.n_features
        if not isinstance(n, int | np.integer) or not 1 <= n <= _MAX_COLUMNS:
            raise ParameterError(f"n_features must be an integer from 1 to {_MAX_COLUMNS}, got {n!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags
