"""Tentative labels of unlabelled instances: how far they are trusted, and who else may give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcrank._typing import Array, IntArray
from arcrank.errors import InputError, ParameterError
from arcrank.solvers.neighbours import TentativeLabels

__all__ = ["check_discount", "checked_labels", "confident_labels", "discounts_of"]


def discounts_of(discount: Any, unlabelled: IntArray, claims: TentativeLabels) -> Array:
    """Return the discounts (m,) of the unlabelled rows from a number, one for each row of X, or a function."""
    if callable(discount):
        if claims.similarity is None:
            raise ParameterError(
                "discount is a function of similarities, and the labeller returned none: "
                "let it return (labels, similarities)."
            )
        discounts = np.asarray(discount(claims.similarity), dtype=np.float64)
    else:
        given = np.asarray(discount, dtype=np.float64)
        discounts = np.full(len(unlabelled), given) if given.ndim == 0 else _at_rows(given, unlabelled)
    if discounts.shape != unlabelled.shape or not _are_discounts(discounts):
        raise _refusal(discount)
    return discounts


def check_discount(discount: Any) -> None:
    """Refuse what is neither a function nor numbers of at least 0; `discounts_of` compares their number with X."""
    if callable(discount):
        return
    try:
        fits = _are_discounts(np.asarray(discount, dtype=np.float64))
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise _refusal(discount)


def _are_discounts(values: Array) -> bool:
    return bool((np.isfinite(values) & (values >= 0)).all())


def _refusal(discount: Any) -> ParameterError:
    return ParameterError(
        f"discount must be a finite number of at least 0, or one for each row of X; got {discount!r}."
    )


def _at_rows(discounts: Array, rows: IntArray) -> Array:
    if discounts.ndim != 1 or (len(rows) and len(discounts) <= rows.max()):
        raise ParameterError(f"discount has shape {discounts.shape}; give a number, or one for each row of X.")
    return discounts[rows]


def checked_labels(given: Any, known: Array, m: int) -> TentativeLabels:
    """Return what a user's labeller gave, labels (m,) or (labels, similarities), after checking it."""
    parts = given if isinstance(given, tuple) else (given,)
    arrays = [np.asarray(part, dtype=np.float64) for part in parts]
    if len(arrays) not in (1, 2) or any(array.shape != (m,) for array in arrays):
        raise InputError(
            f"the labeller must return a label for each of the {m} unlabelled instances (-1 for none), "
            "or (labels, similarities)."
        )
    strange = np.setdiff1d(arrays[0], [*known, -1.0])
    if len(strange):
        raise InputError(f"the labeller returned {strange[0]:g}; allowed are the labels in y, and -1 for none.")
    return TentativeLabels(*arrays)


def confident_labels(scores: Array, count: int, known: Array) -> TentativeLabels:
    """Give the `count` best the highest grade, all but the 4 x count best the lowest, those between none.

    >>> confident_labels(np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0]), 1, np.array([0.0, 1.0])).grades
    array([ 1., -1., -1., -1.,  0.,  0.])
    """
    order = np.argsort(-scores, kind="stable")
    count = min(count, len(order) // 2)  # a small pool: half of it at most
    given = np.full(len(scores), -1.0)
    given[order[:count]] = known.max()
    given[order[min(4 * count, len(order) - count) :]] = known.min()
    return TentativeLabels(given)
