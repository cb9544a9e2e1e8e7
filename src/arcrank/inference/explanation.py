"""The parts of a margin as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arcrank.rankers.feature_names import FeatureNames
    from arcrank.rankers.linear import Explanation

__all__ = ["explanation_report"]

_NEIGHBOURS = 5


def explanation_report(why: Explanation, names: FeatureNames, text: str | None, top: int | None) -> dict[str, Any]:
    """The parts of a margin as JSON: intercept, parts and rest, added in this order, are exactly the margin.

    The votes of similar training documents are in the rest; "neighbours" lists the largest of them, by the numbers of
    the documents in the training data.
    """
    name, written = names.names(text), names.written(text)
    shown = why.parts[:top]
    neighbours = list(getattr(why, "neighbours", ()))  # of a ShortlistRanker
    votes = [part.value for part in neighbours]
    rest = sum((value for _, value in why.parts[len(shown) :]), start=0.0) + sum(votes)
    margin = why.intercept
    for value in [*(value for _, value in shown), rest]:
        margin += value
    listed = [{"feature": name(column), "weight": value, "words": written(column)} for column, value in shown]
    report = {
        "above": str(why.above),
        "below": str(why.below),
        "margin": margin,
        "intercept": why.intercept,
        "parts": listed,
        "rest": rest,
        "rest_count": len(why.parts) - len(listed) + len(votes),
    }
    if neighbours:
        report["neighbours"] = [
            {"document": part.document, "similarity": part.similarity, "weight": part.value}
            for part in neighbours[:_NEIGHBOURS]
        ]
    return report
