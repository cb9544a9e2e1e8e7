"""What a model consists of: transformers, if any, and a ranker."""

from __future__ import annotations

from typing import Any

__all__ = ["split_model", "takes_text"]


def split_model(model: Any) -> tuple[Any, Any]:
    """Return the transformers of a model (None if it takes features) and its ranker.

    >>> split_model("a ranker")
    (None, 'a ranker')
    """
    model = getattr(model, "model_", model)  # of an AutoRanker
    return (model[:-1], model[-1]) if hasattr(model, "steps") else (None, model)


def takes_text(model: Any) -> bool:
    """Whether a model takes texts: the first step of its pipeline has neither a number of features nor columns."""
    transformers, _ = split_model(model)
    return transformers is not None and not any(hasattr(transformers[0], at) for at in ("n_features_in_", "columns_"))
