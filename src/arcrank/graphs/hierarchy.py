"""Label hierarchies, and the layered graphs over their leaves (Dekel et al. 2003, section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from arcrank._typing import Array
from arcrank._validation import check_int
from arcrank.errors import GraphError, InputError
from arcrank.graphs.base import check_names, row_blocks
from arcrank.graphs.dense import dense_levels
from arcrank.graphs.layers import LayeredGraphs


class Hierarchy(Mapping[str, str | None]):
    """A rooted tree of labels, given as a map from each label to its parent, which it is itself too.

    Top labels have the parent None: the root itself is implicit. Every inner label gets a dummy leaf, called
    "CCAT (other)", to which a path that ends in the inner label is sent. So there are as many leaves as labels:
    `leaves[j]` is the j-th label of the map, or its dummy.

    Examples
    --------
    >>> tree = Hierarchy({"C": None, "C1": "C", "C2": "C", "E": None})
    >>> tree.leaves
    ('C (other)', 'C1', 'C2', 'E')
    >>> tree.leaf_graphs([["C", "C1"], ["E"]]).levels()
    array([[1, 0, 1, 2],
           [1, 1, 1, 0]], dtype=int32)
    >>> tree["C1"], tree["E"], dict(tree) == tree
    ('C', None, True)
    """

    def __init__(self, parents: Mapping[str, str | None]) -> None:
        self.parents = dict(parents)
        check_names(self.parents)
        self._path = _paths_to_root(self.parents)
        self._number = {label: j for j, label in enumerate(self.parents)}
        inner = set(self.parents.values()) - {None}
        dummies = {label: f"{label} (other)" for label in self.parents if label in inner}
        clash = sorted(set(dummies.values()) & set(self.parents))
        if clash:
            raise GraphError(f"The label {clash[0]!r} has the name of a dummy leaf; rename it.")
        self.leaves = tuple(dummies.get(label, label) for label in self.parents)
        self._inner = np.array([label in inner for label in self.parents])

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, inner ones and leaves, in the order given."""
        return tuple(self.parents)

    def __getitem__(self, label: str) -> str | None:
        """The parent of a label; None at the top."""
        return self.parents[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parents)

    def __len__(self) -> int:
        return len(self.parents)

    def __eq__(self, other: object) -> bool:
        return self.parents == dict(other) if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        depth = max(len(path) for path in self._path.values())
        return f"Hierarchy({len(self)} labels, {len(self.leaves)} leaves ({self._inner.sum()} dummies), depth {depth})"

    def path(self, label: str) -> tuple[str, ...]:
        """The label and its ancestors, up to the top."""
        return self._path[label]

    def leaf_sets(self, label_sets: Sequence[Iterable[str]]) -> list[list[str]]:
        """The correct leaves of each instance: where the paths given by its labels end."""
        return [[self.leaves[j] for j in ends] for ends in self._path_ends(label_sets)]

    def leaf_graphs(self, label_sets: Sequence[Iterable[str]], n_layers: int | None = 3) -> LayeredGraphs:
        """Layered graphs over the leaves, by tree distance to the nearest correct leaf.

        The layers of an instance are the distinct distances that occur for it; those beyond `n_layers` are
        collapsed into the last one. An instance without labels has no arcs.
        """
        if n_layers is not None:
            check_int("n_layers", n_layers, at_least=2, also="None")
        ends = self._path_ends(label_sets)
        levels = np.empty((len(ends), len(self)), dtype=np.int32)
        for block in row_blocks(len(ends), len(self)):
            levels[block] = dense_levels(self._leaf_distances(ends[block]))
        if n_layers is not None:
            np.minimum(levels, n_layers - 1, out=levels)
        return LayeredGraphs.from_levels(levels, labels=self.leaves)

    def leaf_costs(self) -> Array:
        """(leaves, leaves) distances in the tree: the cost of a leaf where another one would be right.

        Examples
        --------
        >>> Hierarchy({"C": None, "C1": "C", "E": None}).leaf_costs().astype(int).tolist()
        [[0, 2, 3], [2, 0, 3], [3, 3, 0]]
        """
        return self._leaf_distances([[j] for j in range(len(self))])

    def _path_ends(self, label_sets: Sequence[Iterable[str]]) -> list[list[int]]:
        """Numbers of the labels in which a path ends: those without a given label below them."""
        ends = []
        for row, label_set in enumerate(label_sets):
            if isinstance(label_set, str):
                raise InputError(f"Instance {row} is the string {label_set!r}; give a list of labels instead.")
            given = set(label_set)
            unknown = [label for label in given if label not in self._number]
            if unknown:
                raise InputError(
                    f"Instance {row} has the label {unknown[0]!r}, which is not in the hierarchy of {len(self)} labels."
                )
            passed = {above for label in given for above in self._path[label][1:]}
            ends.append(sorted(self._number[label] for label in given - passed))
        return ends

    def _leaf_distances(self, ends: list[list[int]]) -> Array:
        """(rows, leaves) tree distances to the nearest correct leaf, NaN where an instance has none.

        Two passes over the tree, up and down, for all rows of a block at once: no leaf-to-leaf matrix.
        """
        correct = np.full((len(ends), len(self)), np.inf)
        for row, labels in enumerate(ends):
            correct[row, labels] = 0
        near = np.where(self._inner, correct + 1, correct)  # a dummy leaf is one step below its label
        root = np.full(len(ends), np.inf)
        upwards = sorted(self.parents, key=lambda label: -len(self._path[label]))
        for label in upwards:
            j, parent = self._number[label], self.parents[label]
            above = root if parent is None else near[:, self._number[parent]]
            np.minimum(above, near[:, j] + 1, out=above)
        for label in reversed(upwards):
            j, parent = self._number[label], self.parents[label]
            above = root if parent is None else near[:, self._number[parent]]
            np.minimum(near[:, j], above + 1, out=near[:, j])
        distances = np.where(self._inner, np.minimum(correct, near + 1), near)
        distances[np.isinf(root)] = np.nan
        return distances


def _paths_to_root(parents: dict[str, str | None]) -> dict[str, tuple[str, ...]]:
    """Each label with its ancestors; refuses an empty map, orphans and cycles."""
    if not parents:
        raise GraphError("The hierarchy is empty; give a map from each label to its parent (None at the top).")
    for label, parent in parents.items():
        if parent is not None and parent not in parents:
            raise GraphError(
                f"The parent {parent!r} of {label!r} is not in the hierarchy; "
                f"add it with its own parent, or with None if it is a top label."
            )
    return {label: _path(label, parents) for label in parents}


def _path(label: str, parents: dict[str, str | None]) -> tuple[str, ...]:
    path = [label]
    while (parent := parents[path[-1]]) is not None:
        if parent in path:
            cycle = " -> ".join([*path[path.index(parent) :], parent])
            raise GraphError(
                f"The hierarchy has a cycle: {cycle}. Give one of these labels another parent, or None, so that each "
                "of them leads up to a top label."
            )
        path.append(parent)
    return tuple(path)
