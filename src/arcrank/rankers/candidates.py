"""Candidates: the general form, in which every instance brings its own labels and their joint features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from arcrank._features import canonical_csr
from arcrank._typing import Array, Mask
from arcrank.errors import InputError
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.graphs.base import gather_rows, row_positions
from arcrank.graphs.cut import insert_cut
from arcrank.solvers.products import row_products


class CandidateSets:
    """Joint feature vectors of (instance, candidate): parses of a sentence, documents of a query.

    Takes the place of X. The preference graphs are then over the candidates: label j of instance i is its j-th
    candidate, and labels beyond its number of candidates are not judged (level -1, or in no arc).

    Parameters
    ----------
    features : (candidates of all instances, d) array, dense or sparse
        The joint features, those of an instance's candidates together.
    ptr : (n + 1,) integers
        The candidates of instance i are the rows ptr[i]:ptr[i + 1].

    Examples
    --------
    >>> import numpy as np
    >>> sets = CandidateSets(np.eye(5), [0, 2, 5])
    >>> sets
    CandidateSets(2 instances, 5 candidates, 5 features)
    >>> sets[[1]].counts()
    array([3])
    """

    def __init__(self, features: Any, ptr: ArrayLike) -> None:
        self.features = canonical_csr(features) if sp.issparse(features) else np.asarray(features, dtype=np.float64)
        self.ptr = np.asarray(ptr, dtype=np.int64)
        if self.features.ndim != 2:
            raise InputError(f"Candidate features must be a 2-D matrix, got shape {self.features.shape}.")
        bad = self.ptr.ndim != 1 or len(self.ptr) == 0 or self.ptr[0] != 0 or (np.diff(self.ptr) < 0).any()
        if bad or self.ptr[-1] != self.features.shape[0]:
            raise InputError(
                f"ptr must ascend from 0 to the number of candidates, {self.features.shape[0]}; got "
                f"{np.array2string(self.ptr, threshold=10)}. From a sorted column qid of the candidates' instances "
                "make it by np.append(np.unique(qid, return_index=True)[1], len(qid))."
            )

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """(instances, features)."""
        return len(self), self.features.shape[1]

    def counts(self) -> NDArray[np.int64]:
        """The number of candidates of each instance."""
        return np.diff(self.ptr)

    def __getitem__(self, key: Any) -> CandidateSets:
        ptr, at = gather_rows(self.ptr, row_positions(key, len(self)))
        return CandidateSets(self.features[at], ptr)

    def __iter__(self) -> Iterator[Any]:
        return (self.features[a:b] for a, b in zip(self.ptr[:-1], self.ptr[1:], strict=True))

    def __repr__(self) -> str:
        return f"CandidateSets({len(self)} instances, {self.ptr[-1]} candidates, {self.shape[1]} features)"


def refuse_candidates(X: Any, where: str) -> None:
    """Say who takes CandidateSets where X must be a matrix."""
    if isinstance(X, CandidateSets):
        raise InputError(
            f"{where} takes a matrix X with a row for each instance, got {X!r}. CandidateSets are for fit, rank, "
            "predict and score of LogLinearRanker; a candidate's score is its features times coef_[0]."
        )


class CandidateDesign:
    """The products of `solvers.design.Design` for candidate sets: one weight for each joint feature."""

    def __init__(self, sets: CandidateSets, n_labels: int) -> None:
        self._Z = sets.features
        self._rows = np.repeat(np.arange(len(sets)), sets.counts())
        self._columns = np.arange(len(self._rows)) - np.repeat(sets.ptr[:-1], sets.counts())
        self._shape = len(sets), n_labels
        self._sets = sets
        self.weight_shape = (sets.shape[1],)

    def scores(self, W: Array) -> Array:
        """(n, k) scores; 0 beyond an instance's candidates, where no arc ever looks."""
        dense = np.zeros(self._shape)
        dense[self._rows, self._columns] = row_products(self._Z, W[:, None])[:, 0]
        return dense

    def transposed(self, flow: Array) -> Array:
        """`Z' flow`, (d,), with a row of Z for each candidate."""
        return np.asarray(self._Z.T @ flow[self._rows, self._columns])

    def split(self) -> tuple[CandidateDesign, CandidateDesign | None]:
        """The positive and the negative part of the candidates' features."""
        Z: Any = self._Z
        negative = -Z.minimum(0) if sp.issparse(Z) else -np.minimum(Z, 0)
        parts = [CandidateSets(part, self._sets.ptr) for part in (Z + negative, negative)]
        return CandidateDesign(parts[0], self._shape[1]), CandidateDesign(parts[1], self._shape[1])

    def largest_norm(self, rows: Mask) -> float:
        """The largest 1-norm of a candidate of these instances."""
        norms = np.asarray(abs(self._Z).sum(axis=1)).ravel()
        return float(norms[rows[self._rows]].max(initial=0.0))


def candidate_graphs(y: Any, sets: CandidateSets) -> PreferenceGraphs:
    """Graphs over candidates: given ones, or layers made of one grade for each candidate, the higher the better."""
    width = int(sets.counts().max(initial=1))
    if isinstance(y, PreferenceGraphs):
        _check_candidate_graphs(y, sets)
        return y
    grades = np.asarray(y)
    if grades.shape != (sets.ptr[-1],) or grades.dtype.kind not in "biuf":
        raise InputError(
            f"y must be graphs over the candidates, or one grade for each of the {sets.ptr[-1]} candidates; "
            f"got {grades.dtype} of shape {grades.shape}."
        )
    return LayeredGraphs.from_distances(_in_rows(grades.max(initial=0) - grades, sets, width))


def _in_rows(values: Array, sets: CandidateSets, width: int) -> Array:
    """Values of the candidates as an (n, width) matrix, NaN beyond an instance's candidates."""
    matrix = np.full((len(sets), width), np.nan)
    rows = np.repeat(np.arange(len(sets)), sets.counts())
    matrix[rows, np.arange(len(rows)) - np.repeat(sets.ptr[:-1], sets.counts())] = values
    return matrix


def candidate_graphs_with_cut(y: Any, sets: CandidateSets, cut_level: int | None) -> PreferenceGraphs:
    """Graphs over candidates whose label 0 is the cut.

    Of graphs as `insert_cut` makes them. Of grades, the cut is below the grade `cut_level`, by default below all that
    are above 0.
    """
    graphs = candidate_graphs(y, sets)  # checks y
    if isinstance(y, PreferenceGraphs):
        return insert_cut(graphs, cut_level)
    grades = np.asarray(y, dtype=np.float64)
    above = grades > 0 if cut_level is None else grades >= cut_level
    # Distances from the best grade, with room for the cut between the grades above it and the others.
    distances = grades.max(initial=0.0) - grades
    cut = distances[above].max(initial=-1.0) + 1.0
    matrix = _in_rows(np.where(above, distances, distances + cut + 2.0), sets, graphs.n_labels)
    return LayeredGraphs.from_order(np.hstack([np.full((len(sets), 1), cut), matrix]))


def add_cut_candidate(sets: CandidateSets, *, constant: bool) -> CandidateSets:
    """Candidates with the cut before those of each instance: its features are 0, so its score is 0.

    With `constant`, the others have one more feature, 1, whose weight is the intercept.
    """
    Z = sp.csr_matrix(sets.features)
    if constant:
        Z = sp.hstack([Z, np.ones((Z.shape[0], 1))], format="csr")
    # An empty row before the first candidate of each instance: its pointer is repeated.
    starts = np.repeat(Z.indptr[:-1], 1 + np.bincount(sets.ptr[:-1], minlength=Z.shape[0] + 1)[: Z.shape[0]])
    trailing = np.count_nonzero(sets.ptr[:-1] == Z.shape[0])  # instances without candidates at the end
    indptr = np.concatenate([starts, np.full(trailing, Z.indptr[-1]), Z.indptr[-1:]])
    features = sp.csr_matrix((Z.data, Z.indices, indptr), shape=(Z.shape[0] + len(sets), Z.shape[1]))
    return CandidateSets(features, sets.ptr + np.arange(len(sets) + 1))


def _check_candidate_graphs(graphs: PreferenceGraphs, sets: CandidateSets) -> None:
    if len(graphs) != len(sets):
        raise InputError(f"X has {len(sets)} instances and y has {len(graphs)}; give one graph for each instance.")
    for row, count in enumerate(sets.counts()):
        heads, tails = graphs.arcs(row) if count < graphs.n_labels else (np.empty(0), np.empty(0))
        last = max(heads.max(initial=-1), tails.max(initial=-1))
        if last >= count:
            raise InputError(f"Instance {row} has {count} candidates, but an arc names candidate {last}.")
    if graphs.n_labels < sets.counts().max(initial=0):
        raise InputError(
            f"An instance has {sets.counts().max()} candidates, but the graphs are over {graphs.n_labels} labels only."
        )
