"""Why one label scores above another where training documents vote too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arcrank.rankers.linear import Explanation

__all__ = ["NeighbourPart", "ShortlistExplanation"]


class NeighbourPart(NamedTuple):
    """What a training document adds to a margin: its number, its similarity, and the part."""

    document: int
    similarity: float
    value: float


@dataclass(frozen=True)
class ShortlistExplanation(Explanation):
    """The parts of a margin, largest first; `intercept`, `parts` and the values of `neighbours` sum to `margin`.

    Attributes
    ----------
    neighbours : list of NeighbourPart
        The similar training documents that have one of the two labels.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from arcrank import ShortlistRanker
    >>> X = sp.csr_matrix([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> ranker = ShortlistRanker(random_state=0).fit(X, [["tea"], ["milk"], ["tea", "milk"]])
    >>> why = ranker.explain(X[:1], above="tea", below="milk")
    >>> [part.document for part in why.neighbours]
    [0]
    """

    neighbours: list[NeighbourPart] = field(default_factory=list)

    @classmethod
    def with_votes(cls, words: Explanation, votes: list[tuple[int, float, float]]) -> ShortlistExplanation:
        """Add the votes of neighbours, (document, similarity, part), to the parts of the features."""
        ordered = sorted((NeighbourPart(*vote) for vote in votes), key=lambda part: (-abs(part.value), part.document))
        margin = words.margin + sum(part.value for part in ordered)
        return cls(words.above, words.below, margin, words.intercept, words.parts, ordered)


def names_of(ranker: Any, columns: Any) -> Any:
    """The names of features, or their numbers."""
    names = getattr(ranker, "feature_names_in_", None)
    return columns if names is None else names[columns]
