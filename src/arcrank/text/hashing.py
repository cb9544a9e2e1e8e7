"""Text -> features with bounded memory, for streams."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Self

from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from arcrank._validation import check_int
from arcrank.text.encoder import HashEncoder
from arcrank.text.features import SwitchedFeatures
from arcrank.text.language import check_language
from arcrank.text.weights import check_norm

__all__ = ["HashedTextFeatures"]

_MAX_COLUMNS = 2**31 - 1
"""Columns are numbered by 32-bit integers."""


class HashedTextFeatures(ClassNamePrefixFeaturesOutMixin, SwitchedFeatures):
    """Texts -> features in a fixed number of columns, with no vocabulary: for streams and bounded memory.

    A term's column is its MurmurHash3 modulo `n_features`, the same in every process; terms that share a column
    add up. There is nothing to learn, so `transform` works at once and there is no idf; `fit` and `partial_fit`
    only check the parameters.

    Parameters
    ----------
    n_features : int
        Number of columns.
    language : str or None
        The language of `stop_words=True` and `stem=True`; a stream cannot be read in advance to find it.
    lowercase, digits, stop_words, stem, min_length, ngrams, sublinear, norm
        As in `TextFeatures`.

    Examples
    --------
    >>> from arcrank.text import HashedTextFeatures
    >>> X = HashedTextFeatures(n_features=2**10).transform(["crude oil", "oil price", ""])
    >>> X.shape, X.nnz
    ((3, 1024), 6)
    """

    # Spelled out although another estimator has the same: scikit-learn reads the parameters from this signature.
    def __init__(
        self,
        *,
        n_features: int = 2**20,
        lowercase: bool = True,
        digits: str = "token",
        language: str | None = "english",
        stop_words: bool | str | Collection[str] | None = True,
        stem: bool | str = True,
        min_length: int = 1,
        ngrams: int = 2,
        sublinear: bool = True,
        norm: str | None = "l2",
    ) -> None:
        self.n_features = n_features
        self.lowercase = lowercase
        self.digits = digits
        self.language = language
        self.stop_words = stop_words
        self.stem = stem
        self.min_length = min_length
        self.ngrams = ngrams
        self.sublinear = sublinear
        self.norm = norm

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any texts."""
        self.transform([])

    def fit(self, texts: object = None, y: object = None) -> Self:  # noqa: ARG002
        """Check the parameters; the texts are not read."""
        self.check_parameters()
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
        encoder = HashEncoder(self.make_tokenizer(), self.ngrams, self.sublinear, self.norm, self.n_features)
        return encoder.transform(texts).matrix()

    @property
    def _n_features_out(self) -> int:
        return self.n_features

    def _check(self) -> None:
        check_norm(self.norm)
        check_language(self.language, auto=False)
        check_int("n_features", self.n_features, at_least=1, at_most=_MAX_COLUMNS)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags
