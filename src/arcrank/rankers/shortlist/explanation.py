"""Why one label scores above another where training documents vote too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from arcrank.errors import InputError
from arcrank.graphs.cut import CUT
from arcrank.rankers.linear import Explanation

if TYPE_CHECKING:
    from arcrank.rankers.shortlist.scorer import ShortlistScorer

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
    def of_row(
        cls, scorer: ShortlistScorer, row: Any, labels: tuple[Any, Any], numbers: tuple[Any, Any], names: Any
    ) -> ShortlistExplanation:
        """Of one document, a CSR row; `numbers` are those of the two labels, None for the cut."""
        (above, below), (high, low) = labels, (scorer.label_parts(number, row) for number in numbers)
        words = Explanation.of(above, below, names, row.data * (high[0] - low[0]), high[1] - low[1])
        votes = (NeighbourPart(*vote) for vote in scorer.votes(row, *numbers))
        ordered = sorted(votes, key=lambda part: (-abs(part.value), part.document))
        margin = words.margin + sum(part.value for part in ordered)
        return cls(above, below, margin, words.intercept, words.parts, ordered)


def numbers_of(labels: list[Any], wanted: tuple[Any, ...], *, cut_label: bool) -> list[int | None]:
    """The numbers of labels, None for the cut; an error for names that the ranker does not know."""
    numbers: list[int | None] = []
    for name in wanted:
        if name is CUT:
            if not cut_label:
                raise InputError("This ShortlistRanker has not learnt a cut; fit it with cut_label=True.")
            numbers.append(None)
        elif name not in labels:
            raise InputError(f"{name!r} is not one of the {len(labels)} labels of this ranker; see labels_.")
        else:
            numbers.append(labels.index(name))
    return numbers
