"""Text -> features in one step: the default for new users."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from arcrank.errors import InputError
from arcrank.text.counts import TermCounts, TextTransformer
from arcrank.text.tokens import Tokenizer
from arcrank.text.weighting import check_norm, damped, document_frequency, smooth_idf, unit_rows

__all__ = ["SwitchedFeatures", "TextFeatures"]


class SwitchedFeatures(TextTransformer):
    """What `TextFeatures` and `HashedTextFeatures` share: the switches of the tokenizer, log counts and the norm."""

    lowercase: bool
    digits: str
    stop_words: str | Collection[str] | None
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


class TextFeatures(SwitchedFeatures):
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
        digits: str = "token",
        stop_words: str | Collection[str] | None = "english",
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
            parameters["stop_words"] = sorted(set(self.stop_words))
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
