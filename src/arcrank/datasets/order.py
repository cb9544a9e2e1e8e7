"""Detect in one pass whether a file is sorted or grouped by label."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection
from typing import Any

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.supervision import preferred

__all__ = ["LabelOrder", "best_labels"]

_CLEAR = 0.2
"""How far from a random order (0) to equal neighbours (1) a file must be for its order to matter.

Files in random order have 0.00 (RCV1), news in order of date 0.10 (Reuters), packages in alphabetical order 0.30
(debtags), and the same files sorted by a label 0.5 to 0.9."""
_CERTAIN = 12.0
"""The Chernoff bound on the chance that a random order looks like this is exp(-12), 6 in a million."""


class LabelOrder:
    """How alike the label sets of neighbouring documents are, compared with a random order.

    The likeness of two label sets is `|A and B| / sqrt(|A| |B|)`: for single labels 1 where they are equal, else 0.
    Over the neighbours of a random order its mean is `(sum_l s_l^2 - n) / (n (n - 1))`, s_l being the sum of
    `1 / sqrt(|A|)` over the documents with label l: for single labels the sum of their squared frequencies. Documents
    without labels are skipped.

    Examples
    --------
    >>> order = LabelOrder()
    >>> for label in ["tea"] * 20 + ["milk"] * 20:
    ...     order.add([label])
    >>> round(order.likeness, 2), round(order.expected, 2), order.in_runs
    (0.97, 0.49, True)
    """

    def __init__(self) -> None:
        self.n = 0
        self._sum = 0.0
        self._weights: defaultdict[str, float] = defaultdict(float)
        self._last: frozenset[str] = frozenset()

    def add(self, labels: Collection[str]) -> None:
        """Note the best labels of the next document."""
        if not labels:
            return
        now = frozenset(labels)
        if self._last:
            self._sum += len(now & self._last) / math.sqrt(len(now) * len(self._last))
        for label in now:
            self._weights[label] += 1 / math.sqrt(len(now))
        self.n += 1
        self._last = now

    def add_block(self, block: Corpus) -> None:
        """Note the documents of a block; ranks and candidates have no labels in common and are left out."""
        for labels in block.label_sets or ():
            self.add(labels)
        for kind, value in block.preferences or ():
            self.add(best_labels(kind, value))

    @property
    def likeness(self) -> float:
        """The mean likeness of neighbours, from 0 to 1."""
        return self._sum / max(1, self.n - 1)

    @property
    def expected(self) -> float:
        """The mean likeness of neighbours in a random order."""
        squares = sum(weight * weight for weight in self._weights.values())
        return max(0.0, squares - self.n) / max(1, self.n * (self.n - 1))

    def describe(self) -> str:
        """Describe the order of a file whose labels come in runs."""
        return (
            f"sorted or grouped by label: neighbouring documents share {self.likeness:.0%} of their labels, "
            f"compared with {self.expected:.0%} expected in random order"
        )

    @property
    def in_runs(self) -> bool:
        """Whether the file is sorted or grouped by label: no random order looks like this."""
        seen, usual = self.likeness, self.expected
        if seen - usual < _CLEAR * (1 - usual):
            return False
        return (self.n - 1) * _divergence(seen, usual) >= _CERTAIN


def _divergence(p: float, q: float) -> float:
    """The Kullback-Leibler divergence of Bernoulli(p) from Bernoulli(q)."""
    return sum(a * math.log(a / max(b, 1e-300)) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


def best_labels(kind: str, value: Any) -> Collection[str]:
    """The labels of a document that no other label is preferred to.

    Examples
    --------
    >>> best_labels("layers", [["tea"], ["milk", "water"]]), sorted(best_labels("arcs", [("tea", "milk")]))
    (['tea'], ['tea'])
    """
    if kind == "layers":
        return value[0] if value else []
    if kind == "votes":
        kind, value = "arcs", preferred(value)
    if kind == "arcs":
        return {head for head, _ in value} - {tail for _, tail in value}
    return value
