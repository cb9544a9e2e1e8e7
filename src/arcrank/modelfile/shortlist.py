"""The arrays of a ranker of very many labels as they are used; a file holds them in smaller types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ARRAYS", "stored_arrays"]

_WEIGHTS = ("weight_ptr", "weight_labels", "weights")
_LISTS = ("list_ptr", "list_documents", "list_values", "member_ptr", "member_labels")
_USED = {"weight_labels": "i4", "weights": "f4", "list_values": "f4", "member_labels": "i4"}
ARRAYS = (*_WEIGHTS, *_LISTS)
"""The names of the arrays in a file."""


def stored_arrays(learnt: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the arrays of the weights, and those of the training documents, in the types that kernels take."""
    weights, lists = (
        [learnt[name].astype(_USED.get(name, learnt[name].dtype), copy=False) for name in names]
        for names in (_WEIGHTS, _LISTS)
    )
    return weights, lists
