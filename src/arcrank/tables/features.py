"""A table of columns of several kinds -> features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from arcrank._validation import check_int, check_real
from arcrank.errors import InputError, ParameterError
from arcrank.tables.cells import table_columns
from arcrank.tables.columns import COLUMNS, Column, column_from_record, guess_kind

__all__ = ["TableFeatures"]

IGNORE = "ignore"
_MOST_LISTED = 20


class TableFeatures(TransformerMixin, BaseEstimator):
    """A table with columns of numbers, truth values, categories, dates and texts -> features: (n, d) CSR float64.

    - Numbers are standardised; a missing one is replaced by the median, and a feature says that it was missing.
    - Truth values are 1 and 0, missing ones as for numbers.
    - Categories have one feature each. Those that are rare in training share one; a category that was not in the
      training table has none.
    - Dates give the day as a standardised number, the month and the day of the week.
    - Texts give the features of `TextFeatures`.

    Columns are known by their names: a table to predict for may have them in any order, and further ones.

    Parameters
    ----------
    kinds : dict or None
        From names of columns to "number", "flag", "category", "date", "text" or "ignore", where the kind that the
        values suggest is not the right one (such as a category that is written as a number).
    min_frequency : int or float
        Categories in fewer rows are rare; an integer counts rows, a float is a fraction of them.
    max_categories : int
        How many categories of a column have a feature; the less frequent ones are rare.

    Attributes
    ----------
    columns_ : list of Column
        What was learnt of each column that is used.
    kinds_ : dict
        The kind of each column of the training table.

    Examples
    --------
    >>> from arcrank.tables import TableFeatures
    >>> table = {"age": [31, None, 25, 40], "colour": ["red", "blue", "red", "blue"]}
    >>> features = TableFeatures().fit({**table, "member": [True, False, True, None]})
    >>> features.kinds_
    {'age': 'number', 'colour': 'category', 'member': 'flag'}
    >>> features.get_feature_names_out().tolist()
    ['age', 'age is missing', 'colour = blue', 'colour = red', 'member', 'member is missing']
    >>> features.transform([{"age": 31, "colour": "green", "member": True}]).toarray().round(2)
    array([[-0.14,  0.  ,  0.  ,  0.  ,  1.  ,  0.  ]])
    """

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        min_frequency: float = 2,
        max_categories: int = 100,
    ) -> None:
        self.kinds = kinds
        self.min_frequency = min_frequency
        self.max_categories = max_categories

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without a table."""
        check_int("max_categories", self.max_categories, at_least=1)
        if isinstance(self.min_frequency, float):
            check_real("min_frequency", self.min_frequency, at_least=0, at_most=1)
        else:
            check_int("min_frequency", self.min_frequency, at_least=1, also="a float from 0 to 1")
        allowed = (*COLUMNS, IGNORE)
        for name, kind in (self.kinds or {}).items():
            if kind not in allowed:
                raise ParameterError(f"kinds must be among {allowed}; the column {name!r} has {kind!r}")

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the columns of a table."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: object = None) -> sparse.csr_matrix:  # noqa: ARG002
        """Learn the columns of a table, and return its features."""
        self.check_parameters()
        table = table_columns(X)
        given = dict(self.kinds or {})
        unknown = next((name for name in given if name not in table), None)
        if unknown is not None:
            raise ParameterError(f"kinds names the column {unknown!r}, which is not in the table: {_listed(table)}")
        self.kinds_ = {name: given.get(name) or guess_kind(values) for name, values in table.items()}
        used = {name: kind for name, kind in self.kinds_.items() if kind != IGNORE}
        if not used or not len(next(iter(table.values()))):
            raise InputError("The table has no rows, or no column with values; there is nothing to learn from.")
        self.columns_ = [COLUMNS[kind].fit(name, table[name], self) for name, kind in used.items()]
        return self._features(table)

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return the features of a table that has the columns of the training table."""
        check_is_fitted(self, "columns_")
        table = table_columns(X)
        for column in self.columns_:
            if column.name not in table:
                raise InputError(
                    f"The table has no column {column.name!r} ({column.holds}), which the model was trained with; it "
                    f"has {_listed(table)}."
                )
        return self._features(table)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return "age", "age is missing", "colour = red", ..."""
        check_is_fitted(self, "columns_")
        return np.array([name for column in self.columns_ for name in column.names()], dtype=object)

    @classmethod
    def from_records(cls, parameters: Mapping[str, Any], records: list[dict[str, Any]]) -> Self:
        """Return the fitted transformer of records that the columns gave."""
        features = cls(**parameters)
        features.columns_ = [column_from_record(record) for record in records]
        features.kinds_ = {column.name: column.kind for column in features.columns_}
        return features

    def _features(self, table: dict[str, list[Any]]) -> sparse.csr_matrix:
        return sparse.hstack([column.block(table[column.name]) for column in self.columns_], format="csr")

    columns_: list[Column]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags


def _listed(table: Mapping[str, Any]) -> str:
    more = f" and {len(table) - _MOST_LISTED} more" if len(table) > _MOST_LISTED else ""
    return ", ".join(map(repr, list(table)[:_MOST_LISTED])) + more
