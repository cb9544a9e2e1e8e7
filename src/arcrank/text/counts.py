"""Text -> a sparse matrix of term counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from arcrank._csr import Csr
from arcrank._validation import check_int, check_real
from arcrank.errors import InputError, ParameterError
from arcrank.text.ngrams import Terms, count_terms, known_counts, select_terms
from arcrank.text.tokens import Tokenizer, checked_texts, encode_with

__all__ = ["TermCounts", "TextTransformer", "frequency_limits", "frequent_terms", "refuse_no_terms"]


class TextTransformer(TransformerMixin, BaseEstimator):
    """What the transformers of raw text share: scikit-learn's tags."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


class TermCounts(TextTransformer):
    """Count the terms of each text: n texts -> (n, number of terms) CSR, float64, sorted indices.

    Parameters
    ----------
    tokenizer : callable or None
        From a text to its list of words; None is `Tokenizer()`.
    min_df : int or float
        Leave out terms in fewer of the texts given to fit; an integer counts texts, a float is a fraction of them.
    max_df : int or float
        Leave out terms in more of the texts given to fit; an integer counts texts, a float is a fraction of them.
    ngrams : int
        Terms are runs of up to this many words (after the stop list), joined by a space.
    vocabulary : iterable of str or None
        The terms and their columns, in this order; None learns them, sorted.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Column of each term.

    Examples
    --------
    >>> from arcrank.text import TermCounts
    >>> counter = TermCounts(ngrams=2).fit(["oil prices", "crude oil prices rise"])
    >>> list(counter.get_feature_names_out())
    ['crude', 'crude oil', 'oil', 'oil price', 'price', 'price rise', 'rise']
    >>> counter.transform(["Oil, oil!"]).toarray()
    array([[0., 0., 2., 0., 0., 0., 0.]])
    """

    def __init__(
        self,
        *,
        tokenizer: Callable[[str], list[str]] | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        ngrams: int = 1,
        vocabulary: Iterable[str] | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.min_df = min_df
        self.max_df = max_df
        self.ngrams = ngrams
        self.vocabulary = vocabulary

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any texts."""
        self._terms([])  # the tokenizer and the n-grams
        if self.vocabulary is None:
            frequency_limits(self.min_df, self.max_df, 0)
        else:
            _given_vocabulary(self.vocabulary)

    def fit(self, texts: Iterable[str], y: object = None) -> TermCounts:
        """Learn the vocabulary."""
        self.fit_transform(texts, y)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> sparse.csr_matrix:  # noqa: ARG002
        """Learn the vocabulary and return the counts."""
        terms, counts = self._terms(texts)
        if self.vocabulary is not None:
            self.vocabulary_ = _given_vocabulary(self.vocabulary)
            return known_counts(terms, counts, self.vocabulary_).matrix()
        names, kept = frequent_terms(terms, counts, self.min_df, self.max_df)
        matrix = kept.matrix()
        if not isinstance(self.tokenizer, Tokenizer | None):
            names, matrix = _sorted_by_name(names, matrix)
        self.vocabulary_ = {term: column for column, term in enumerate(names)}
        return matrix

    def transform(self, texts: Iterable[str]) -> sparse.csr_matrix:
        """Return the counts of the known terms."""
        check_is_fitted(self, "vocabulary_")
        return known_counts(*self._terms(texts), self.vocabulary_).matrix()

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the terms, in the order of the columns."""
        check_is_fitted(self, "vocabulary_")
        return np.array(list(self.vocabulary_), dtype=object)

    def _terms(self, texts: Iterable[str]) -> tuple[Terms, Csr]:
        tokenizer = Tokenizer() if self.tokenizer is None else self.tokenizer
        return count_terms(encode_with(tokenizer, texts), self.ngrams)


def frequent_terms(terms: Terms, counts: Any, min_df: float, max_df: float) -> tuple[list[str], Csr]:
    """Return the names and the counts of the terms that are neither too rare nor too frequent in these texts."""
    low, high = frequency_limits(min_df, max_df, counts.shape[0])
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    # The counts may be those of some rows of a corpus, which do not hold all its terms.
    columns = np.flatnonzero((frequency >= max(low, 1)) & (frequency <= high))
    if not len(columns):
        refuse_no_terms(counts.shape[0], min_df, max_df)
    return terms.names(columns), select_terms(counts, columns)


def refuse_no_terms(n: int, min_df: float, max_df: float) -> NoReturn:
    """Raise the error for texts without a term to keep."""
    raise InputError(
        f"no term is left of {n} texts: they are empty, hold stop words only, or "
        f"min_df={min_df} and max_df={max_df} leave nothing"
    )


def _sorted_by_name(names: list[str], counts: sparse.csr_matrix) -> tuple[list[str], sparse.csr_matrix]:
    """Sort the columns of words that may hold any characters."""
    order = sorted(range(len(names)), key=names.__getitem__)
    counts = counts[:, order]
    counts.sort_indices()
    return [names[column] for column in order], counts


def frequency_limits(min_df: float, max_df: float, n: int) -> tuple[float, float]:
    """Return the document frequencies that a term must lie between."""
    return _absolute("min_df", min_df, n), _absolute("max_df", max_df, n)


def _absolute(name: str, value: float, n: int) -> float:
    if isinstance(value, float | np.floating):
        return n * check_real(name, value, at_least=0, at_most=1, also="a whole number of at least 1")
    return float(check_int(name, value, at_least=1, also="a float from 0 to 1"))


def _given_vocabulary(terms: Iterable[str]) -> dict[str, int]:
    listed = list(checked_texts(terms))
    vocabulary = {term: column for column, term in enumerate(listed)}
    if len(vocabulary) != len(listed):
        twice = next(term for column, term in enumerate(listed) if vocabulary[term] != column)
        raise ParameterError(f"vocabulary holds {twice!r} twice; each term may have one column")
    if not listed:
        raise ParameterError("vocabulary is empty; give at least one term, or None to learn it")
    return vocabulary
