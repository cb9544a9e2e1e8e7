"""What a model consists of: transformers, if any, and a ranker."""

from __future__ import annotations

from typing import Any

__all__ = ["content_kind", "split_model", "takes_text"]


def split_model(model: Any) -> tuple[Any, Any]:
    """Return the transformers of a model (None if it takes features) and its ranker.

    >>> split_model("a ranker")
    (None, 'a ranker')
    """
    model = getattr(model, "model_", model)  # of an AutoRanker
    return (model[:-1], model[-1]) if hasattr(model, "steps") else (None, model)


def content_kind(model: Any) -> str:
    """Return what a model takes, by the first step of its pipeline: "text", "table" (it has columns) or "features"."""
    transformers, _ = split_model(model)
    if transformers is None or hasattr(transformers[0], "n_features_in_"):
        return "features"
    return "table" if hasattr(transformers[0], "columns_") else "text"


def takes_text(model: Any) -> bool:
    """Whether a model takes texts."""
    return content_kind(model) == "text"
