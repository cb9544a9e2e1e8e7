"""Text -> a sparse matrix of term counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from arcrank._validation import check_int, check_real
from arcrank.errors import InputError, ParameterError
from arcrank.text.tokens import TokenIds, Tokenizer, checked_texts, encode_with

__all__ = ["TermCounts", "TextTransformer", "count_rows", "ngram_orders"]


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
        self._orders([])  # the tokenizer and the n-grams
        if self.vocabulary is None:
            _limits(self.min_df, self.max_df, 0)
        else:
            _given_vocabulary(self.vocabulary)

    def fit(self, texts: Iterable[str], y: object = None) -> TermCounts:
        """Learn the vocabulary."""
        self.fit_transform(texts, y)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> sparse.csr_matrix:  # noqa: ARG002
        """Learn the vocabulary and return the counts."""
        orders = self._orders(texts)
        if self.vocabulary is not None:
            self.vocabulary_ = _given_vocabulary(self.vocabulary)
            return self._count(orders)
        low, high = _limits(self.min_df, self.max_df, len(orders[0].indptr) - 1)
        terms, counts = _join([_prune(order, low, high) for order in orders])
        if not terms:
            raise InputError(
                f"no term is left of {counts.shape[0]} texts: they are empty, hold stop words only, or "
                f"min_df={self.min_df} and max_df={self.max_df} leave nothing"
            )
        self.vocabulary_ = {term: column for column, term in enumerate(terms)}
        return counts

    def transform(self, texts: Iterable[str]) -> sparse.csr_matrix:
        """Return the counts of the known terms."""
        check_is_fitted(self, "vocabulary_")
        return self._count(self._orders(texts))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the terms, in the order of the columns."""
        check_is_fitted(self, "vocabulary_")
        return np.array(list(self.vocabulary_), dtype=object)

    def _orders(self, texts: Iterable[str]) -> list[TokenIds]:
        tokenizer = Tokenizer() if self.tokenizer is None else self.tokenizer
        return ngram_orders(encode_with(tokenizer, texts), self.ngrams)

    def _count(self, orders: list[TokenIds]) -> sparse.csr_matrix:
        get, width = self.vocabulary_.get, len(self.vocabulary_)
        columns = [np.array([get(term, -1) for term in order.words], dtype=np.int32) for order in orders]
        return sum_counts([count_rows(o, c, width) for o, c in zip(orders, columns, strict=True)])


def ngram_orders(tokens: TokenIds, n: int) -> list[TokenIds]:
    """Return the tokenised corpus in words, in pairs of neighbouring words, ... up to runs of n."""
    check_int("ngrams", n, at_least=1)
    orders, last = [tokens], tokens.ids
    for _ in range(n - 1):
        previous = orders[-1]
        lengths = np.diff(previous.indptr)
        some = lengths > 0
        last = np.delete(last, previous.indptr[:-1][some])
        prefix = np.delete(previous.ids, previous.indptr[1:][some] - 1)
        indptr = np.concatenate(([0], np.cumsum(np.maximum(lengths - 1, 0))))
        orders.append(_extend(previous.words, prefix, tokens.words, last, indptr))
    return orders


def _extend(
    prefixes: list[str],
    prefix: NDArray[np.int32],
    words: list[str],
    last: NDArray[np.int32],
    indptr: NDArray[np.int64],
) -> TokenIds:
    """Join each prefix (by number) with the word that follows it, and number the results."""
    width = max(len(words), 1)
    keys, ids = np.unique(prefix.astype(np.int64) * width + last, return_inverse=True)
    heads, tails = np.divmod(keys, width)
    names = [f"{prefixes[h]} {words[t]}" for h, t in zip(heads.tolist(), tails.tolist(), strict=True)]
    return TokenIds(names, ids.astype(np.int32), indptr)


def count_rows(tokens: TokenIds, columns: NDArray[np.int32] | None, width: int) -> sparse.csr_matrix:
    """Count tokens into columns: (n, width) CSR float64; columns[word] < 0 leaves a word out, None is identity."""
    ids, indptr = tokens.ids, tokens.indptr
    if columns is not None:
        ids = columns[ids] if len(columns) else ids
        kept = ids >= 0
        if not kept.all():
            indptr = np.concatenate(([0], np.cumsum(kept)))[indptr]
            ids = ids[kept]
    return _counted(ids, indptr, width)


def _counted(ids: NDArray[np.int32], indptr: NDArray[np.int64], width: int) -> sparse.csr_matrix:
    shape = (len(indptr) - 1, width)
    ones = np.ones(len(ids))
    counts = sparse.csr_matrix((ones, ids, indptr), shape=shape)
    # Two linear-time transpositions sort the rows faster than sorting each of them.
    counts = counts.tocsc().tocsr()
    counts.sum_duplicates()
    return counts


def sum_counts(parts: list[sparse.csr_matrix]) -> sparse.csr_matrix:
    """Add count matrices of one shape, keeping float64 CSR with sorted indices."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    total.sort_indices()
    return total


def _prune(tokens: TokenIds, low: float, high: float) -> tuple[list[str], sparse.csr_matrix]:
    """Count one order of n-grams and leave out the terms that are too rare or too frequent."""
    counts = count_rows(tokens, None, len(tokens.words))
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = np.flatnonzero((frequency >= low) & (frequency <= high))
    if len(kept) == len(tokens.words):
        return tokens.words, counts
    return [tokens.words[column] for column in kept.tolist()], counts[:, kept]


def _join(parts: list[tuple[list[str], sparse.csr_matrix]]) -> tuple[list[str], sparse.csr_matrix]:
    """Put the orders side by side, columns sorted by term."""
    if len(parts) == 1:
        return parts[0]
    terms = [term for words, _ in parts for term in words]
    order = sorted(range(len(terms)), key=terms.__getitem__)
    counts = sparse.hstack([counts for _, counts in parts], format="csr")[:, order]
    counts.sort_indices()
    return [terms[column] for column in order], counts


def _limits(min_df: float, max_df: float, n: int) -> tuple[float, float]:
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
