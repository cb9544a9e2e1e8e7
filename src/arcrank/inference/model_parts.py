"""What a model consists of: transformers, if any, and a ranker."""

from __future__ import annotations

from typing import Any

__all__ = ["split_model"]


def split_model(model: Any) -> tuple[Any, Any]:
    """Return the transformers of a model (None if it takes features) and its ranker.

    >>> split_model("a ranker")
    (None, 'a ranker')
    """
    return (model[:-1], model[-1]) if hasattr(model, "steps") else (None, model)
