"""Term counts -> term weights: log counts, tf-idf, pivoted length normalization.

All take a matrix of counts (n, d), dense or sparse, and return CSR float64 with sorted indices; the input is never
changed, and an empty row stays empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from arcrank._validation import check_real
from arcrank.errors import InputError
from arcrank.text.weights import check_norm, damped, document_frequency, plain_idf, row_sums, smooth_idf, unit_rows

__all__ = ["LogCounts", "PivotedLength", "SignedTfIdf", "TfIdf"]


class _CountTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """What the weightings share: reading counts, and scikit-learn's tags."""

    _signed = False

    def _counts(self, X: Any, *, reset: bool) -> sparse.csr_matrix:
        """Return the counts as a CSR matrix of our own, checked, without stored zeros."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, reset=reset)
        counts = sparse.csr_matrix(X, copy=True)
        _check_counts(counts, signed=self._signed)
        counts.sum_duplicates()
        counts.eliminate_zeros()
        return counts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = not self._signed
        return tags


class LogCounts(_CountTransformer):
    """Weigh a count tf by `log(tf) + 1` (Dekel, Manning & Singer 2003, eq. 6).

    A weighted count below one keeps its value, because the formula would turn it negative; the two meet smoothly
    at one.

    Examples
    --------
    >>> from arcrank.text import LogCounts
    >>> LogCounts().fit_transform([[1, 0, 10]]).toarray().round(4)
    array([[1.    , 0.    , 3.3026]])
    """

    def fit(self, X: Any, y: object = None) -> LogCounts:  # noqa: ARG002
        """Check the counts; there is nothing to learn."""
        self._counts(X, reset=True)
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return the weights, (n, d) CSR."""
        check_is_fitted(self, "n_features_in_")
        counts = self._counts(X, reset=False)
        counts.data = damped(counts.data)
        return counts


class TfIdf(_CountTransformer):
    """Weigh a count by how rare its term is.

    Parameters
    ----------
    sublinear : bool
        Replace tf by `log(tf) + 1`.
    smooth : bool
        idf `log((1 + n)/(1 + u)) + 1`, with u of the n rows given to fit holding the term; without, `log(n/u)`.
    norm : "l2", "l1" or None
        Bring every row to this unit length.

    Attributes
    ----------
    idf_ : (d,) array

    Examples
    --------
    >>> from arcrank.text import TfIdf
    >>> weights = TfIdf(smooth=False, norm=None).fit([[1, 2], [0, 1]])
    >>> weights.transform([[3, 1]]).toarray().round(4)
    array([[2.0794, 0.    ]])
    """

    def __init__(self, *, sublinear: bool = False, smooth: bool = True, norm: str | None = "l2") -> None:
        self.sublinear = sublinear
        self.smooth = smooth
        self.norm = norm

    def fit(self, X: Any, y: object = None) -> TfIdf:  # noqa: ARG002
        """Learn how many rows hold each term."""
        check_norm(self.norm)
        counts = self._counts(X, reset=True)
        rows = document_frequency(counts)
        self.idf_ = smooth_idf(rows, counts.shape[0]) if self.smooth else plain_idf(rows, counts.shape[0])
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return the weights, (n, d) CSR; a term of weight zero is not stored."""
        check_is_fitted(self, "idf_")
        counts = self._counts(X, reset=False)
        if self.sublinear:
            counts.data = damped(counts.data)
        counts.data *= self.idf_[counts.indices]
        counts.eliminate_zeros()
        return unit_rows(counts, self.norm)


class SignedTfIdf(TfIdf):
    """`TfIdf` that takes negative values too, for features that need not be counts.

    Its parameters and attributes are those of `TfIdf`. With `sublinear`, values below one are kept. `AutoRanker` uses
    it, so that a value that was never negative in training may be negative in a new document.

    Examples
    --------
    >>> from arcrank.text import SignedTfIdf
    >>> SignedTfIdf(norm=None).fit([[1, 2], [0, 1]]).transform([[-1, 2]]).toarray().round(4)
    array([[-1.4055,  2.    ]])
    """

    _signed = True


class PivotedLength(_CountTransformer):
    """Pivoted length normalization (Crammer & Singer 2002, section 4.2, after Singhal, Buckley & Mitra 1996).

    With d a term's count in a row, avg d the mean count of the terms that the row holds, m_i the number of these
    terms and avg m the mean of m_i over the rows given to fit, the weight is
    `log(n/u) (1 + log d)/(1 + log avg d) / (1 - slope + slope m_i/avg m)`, where u of n rows hold the term.
    A term that no row held in fit is taken as if one did.

    Parameters
    ----------
    slope : float
        Between 0 (length does not matter) and 1 (it counts in full).

    Attributes
    ----------
    idf_ : (d,) array
    mean_terms_ : float
        avg m.

    Examples
    --------
    >>> from arcrank.text import PivotedLength
    >>> pivoted = PivotedLength().fit([[1, 2, 0], [0, 1, 0], [0, 1, 3]])
    >>> pivoted.transform([[1, 0, 3]]).toarray().round(4)
    array([[0.6121, 0.    , 1.2846]])
    """

    def __init__(self, *, slope: float = 0.3) -> None:
        self.slope = slope

    def fit(self, X: Any, y: object = None) -> PivotedLength:  # noqa: ARG002
        """Learn the idf and the mean number of terms."""
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: object = None) -> sparse.csr_matrix:  # noqa: ARG002
        """Learn and return the weights, reading the counts once."""
        return self._weigh(self._learn(X))

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return the weights, (n, d) CSR; a term of weight zero is not stored."""
        check_is_fitted(self, "idf_")
        return self._weigh(self._counts(X, reset=False))

    def _learn(self, X: Any) -> sparse.csr_matrix:
        check_real("slope", self.slope, at_least=0, at_most=1)
        counts = self._counts(X, reset=True)
        self.idf_ = plain_idf(document_frequency(counts), counts.shape[0])
        self.mean_terms_ = counts.nnz / counts.shape[0]
        return counts

    def _weigh(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        terms = np.diff(counts.indptr)
        mean_count = row_sums(counts.data, counts.indptr) / np.maximum(terms, 1)
        # A corpus of empty rows has no pivot; every length then counts as the pivot.
        length = terms / self.mean_terms_ if self.mean_terms_ > 0 else np.ones(len(terms))
        by_row = damped(mean_count) * (1.0 - self.slope + self.slope * length)
        counts.data = damped(counts.data) * self.idf_[counts.indices] / np.repeat(by_row, terms)
        counts.eliminate_zeros()
        return counts


def _check_counts(counts: sparse.csr_matrix, *, signed: bool) -> None:
    bad = ~np.isfinite(counts.data) if signed else ~(counts.data >= 0.0) | np.isinf(counts.data)
    if bad.any():
        at = int(np.argmax(bad))
        row = int(np.searchsorted(counts.indptr, at, side="right")) - 1
        value = counts.data[at]
        kind = "NaN" if np.isnan(value) else f"{value:g}"
        found = f"row {row}, column {counts.indices[at]} of X holds {kind}; "
        if signed:
            raise InputError(f"{found}features must be finite numbers.")
        raise InputError(
            f"{found}counts must be finite (no NaN, no inf) and not negative. Negative values in data passed to a "
            "weighting of counts have no logarithm: pass raw counts, e.g. those of TermCounts"
        )
