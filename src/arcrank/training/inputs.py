"""What users give as X: texts, tables or matrices, and the transformer that makes features of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank._features import check_features
from arcrank.errors import InputError, ParameterError
from arcrank.tables import DenseScaler, TableFeatures
from arcrank.text import TextFeatures
from arcrank.training.plan import minimum_document_frequency
from arcrank.training.portfolio import is_low_dimensional

__all__ = ["as_input", "make_features"]


def as_input(X: Any, texts: Any = None) -> Any:
    """Return X as a list of texts or as a matrix; `texts` names the column of a DataFrame that holds the texts.

    Examples
    --------
    >>> as_input(("tea", "milk"))
    ['tea', 'milk']
    """
    if texts is not None:
        return _column(X, texts)
    if isinstance(X, str):
        raise InputError(f"X is one text, {X[:40]!r}; give a list of texts, one for each document.")
    return list(X) if _holds_texts(X) else X


def _column(X: Any, name: Any) -> list[str]:
    if not hasattr(X, "columns"):
        if _holds_texts(X):
            return list(X)  # of documents that are given without a DataFrame later
        raise InputError(f"texts={name!r} names a column, but X is {type(X).__name__} and not a DataFrame.")
    if name not in list(X.columns):
        known = ", ".join(map(repr, list(X.columns)[:10]))
        raise ParameterError(f"texts={name!r} is not a column of X; its columns are {known}.")
    column = list(X[name])
    for row, text in enumerate(column):
        if not isinstance(text, str):
            raise InputError(f"Row {row} of the column {name!r} is {text!r:.40} and not a text; fill or remove it.")
    return column


def _holds_texts(X: Any) -> bool:
    """Whether X is a sequence of strings, not a matrix of numbers written as strings."""
    if (
        sp.issparse(X)
        or isinstance(X, Mapping)
        or hasattr(X, "columns")
        or getattr(X, "ndim", 1) != 1
        or not hasattr(X, "__len__")
    ):
        return False
    return len(X) > 0 and isinstance(next(iter(X)), str)


def _is_table(X: Any) -> bool:
    """Whether X has named columns that are not all numbers without gaps."""
    if isinstance(X, Mapping):
        return not sp.issparse(X)  # SciPy's dictionaries of keys are mappings too
    if not hasattr(X, "columns"):
        return False
    columns = [np.asarray(X[name]) for name in X.columns]
    return not all(column.dtype.kind in "fiu" and np.isfinite(column).all() for column in columns)


def make_features(estimator: Any, X: Any, text: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a fitted transformer of X, or None where there is nothing to transform, and the features of X.

    Texts become `TextFeatures`, tables with other columns than numbers, or with gaps, `TableFeatures`. Few features
    that are mostly not 0 are standardised, since their units differ; all others are treated as sparse ones. The number
    and names of the columns are noted in the estimator.
    """
    if isinstance(X, list) and X and isinstance(X[0], str):
        words = TextFeatures(**{"min_df": minimum_document_frequency(len(X)), **text})
        return words, words.fit_transform(X)
    if _is_table(X):
        table = TableFeatures()
        return table, table.fit_transform(X)
    values = check_features(estimator, X, reset=True)
    if not is_low_dimensional(values):
        return None, values
    scaler = DenseScaler()
    return scaler, scaler.fit_transform(X if hasattr(X, "columns") else values)
