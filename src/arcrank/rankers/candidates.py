"""Candidates: the general form, in which every instance brings its own labels and their joint features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from arcrank._features import canonical_csr
from arcrank.errors import InputError
from arcrank.graphs import CandidateGraphs, PreferenceGraphs
from arcrank.graphs.base import gather_rows, row_positions
from arcrank.graphs.cut import insert_cut
from arcrank.rankers.outer_features import OuterFeatures

__all__ = ["CandidateSets", "add_cut_candidate", "candidate_graphs_with_cut", "refuse_candidates"]


class CandidateSets:
    """Joint feature vectors of (instance, candidate): parses of a sentence, documents of a query.

    Takes the place of X. The preference graphs are then over the candidates: label j of instance i is its j-th
    candidate. Scores, ranks and grades have one number for each candidate, in the order of `features`, so that no
    instance takes more memory than it has candidates.

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
    >>> sets.graphs([1, 0, 3, 2, 2]).n_arcs
    3
    """

    def __init__(self, features: Any, ptr: ArrayLike) -> None:
        self.features = _checked_features(features)
        self.ptr = np.asarray(ptr, dtype=np.int64)
        bad = self.ptr.ndim != 1 or len(self.ptr) == 0 or self.ptr[0] != 0 or (np.diff(self.ptr) < 0).any()
        if bad or self.ptr[-1] != self.features.shape[0]:
            raise InputError(
                f"ptr must ascend from 0 to the number of candidates, {self.features.shape[0]}; got "
                f"{np.array2string(self.ptr, threshold=10)}. From a sorted column qid of the candidates' instances "
                "make it by np.append(np.unique(qid, return_index=True)[1], len(qid))."
            )

    @classmethod
    def from_outer(cls, X: Any, Z: Any, candidates: Sequence[ArrayLike] | None = None) -> CandidateSets:
        """Joint features `x (x) z` of instances X, (n, p), and labels with features Z, (k, q), which are never stored.

        A score is then `x' B z` with p q weights B: labels are ranked by what is known of them, and those of new
        instances may be others. Instance i has the labels `candidates[i]`, rows of Z; all of them by default.

        Examples
        --------
        >>> sets = CandidateSets.from_outer([[1.0, 2.0], [3.0, 4.0]], [[1.0], [5.0], [6.0]], [[0, 2], [1]])
        >>> sets
        CandidateSets(2 instances, 3 candidates, 2 features)
        >>> sets.stored().features.tolist()
        [[1.0, 2.0], [6.0, 12.0], [15.0, 20.0]]
        """
        X, Z = (_checked_features(part) for part in (X, Z))
        n, k = X.shape[0], Z.shape[0]
        if candidates is not None and len(candidates) != n:
            raise InputError(f"X has {n} instances and candidates has {len(candidates)}; give one list for each.")
        lists = [np.arange(k)] * n if candidates is None else [np.asarray(one, dtype=np.int64) for one in candidates]
        counts = np.array([len(one) for one in lists], dtype=np.int64)
        label = np.concatenate([np.empty(0, dtype=np.int64), *lists])
        if label.size and (label.min() < 0 or label.max() >= k):
            raise InputError(f"candidates names row {label.max()} of Z; it has the rows 0..{k - 1}.")
        features = OuterFeatures(X, Z, np.repeat(np.arange(n), counts), label)
        return cls(features, np.concatenate([[0], np.cumsum(counts)]))

    @classmethod
    def from_callable(
        cls, instances: Sequence[Any], candidates: Sequence[Sequence[Any]], features: Callable[[Any, Any], ArrayLike]
    ) -> CandidateSets:
        """Joint features that `features(instance, candidate)` returns as vectors of one length.

        Examples
        --------
        >>> overlap = lambda query, document: [len(set(query) & set(document)), len(document)]
        >>> CandidateSets.from_callable(["ab"], [["abc", "x"]], overlap).features.tolist()
        [[2.0, 3.0], [0.0, 1.0]]
        """
        if len(instances) != len(candidates):
            raise InputError(
                f"Got {len(instances)} instances and {len(candidates)} lists of candidates; give one each."
            )
        rows = [
            np.asarray(features(instance, one), dtype=np.float64).ravel()
            for instance, own in zip(instances, candidates, strict=True)
            for one in own
        ]
        lengths = sorted({len(row) for row in rows})
        if len(lengths) != 1:
            raise InputError(f"features returned vectors of {lengths} numbers; they must all have the same length.")
        return cls(np.array(rows), np.concatenate([[0], np.cumsum([len(own) for own in candidates], dtype=np.int64)]))

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """(instances, features)."""
        return len(self), int(self.features.shape[1])

    def counts(self) -> NDArray[np.int64]:
        """The number of candidates of each instance."""
        return np.diff(self.ptr)

    def graphs(self, y: Any) -> CandidateGraphs:
        """Graphs over the candidates: given ones, or layers of one grade for each candidate, the higher the better.

        Candidates of given graphs that an instance does not have must not be judged (level -1, or in no arc).
        """
        if isinstance(y, PreferenceGraphs):
            return CandidateGraphs(y.graphs if isinstance(y, CandidateGraphs) else y, self.ptr)
        grades = np.asarray(y)
        if grades.shape != (self.ptr[-1],) or grades.dtype.kind not in "biuf":
            raise InputError(
                f"y must be graphs over the candidates, or one grade for each of the {self.ptr[-1]} candidates; "
                f"got {grades.dtype} of shape {grades.shape}."
            )
        return CandidateGraphs.from_grades(grades, self.ptr)

    def stored(self) -> CandidateSets:
        """The same candidates with all features in memory, which those of `from_outer` are not."""
        if not isinstance(self.features, OuterFeatures):
            return self
        return CandidateSets(self.features.rows(np.arange(self.ptr[-1])), self.ptr)

    def __getitem__(self, key: Any) -> CandidateSets:
        ptr, at = gather_rows(self.ptr, row_positions(key, len(self)))
        return CandidateSets(self.features[at], ptr)

    def __iter__(self) -> Iterator[Any]:
        return (self.features[a:b] for a, b in zip(self.ptr[:-1], self.ptr[1:], strict=True))

    def __repr__(self) -> str:
        return f"CandidateSets({len(self)} instances, {self.ptr[-1]} candidates, {self.shape[1]} features)"


def _checked_features(features: Any) -> Any:
    if isinstance(features, OuterFeatures):
        return features
    checked = canonical_csr(features) if sp.issparse(features) else np.asarray(features, dtype=np.float64)
    if checked.ndim != 2:
        raise InputError(f"Candidate features must be a 2-D matrix, got shape {checked.shape}.")
    return checked


def refuse_candidates(X: Any, where: str) -> None:
    """Say who takes CandidateSets where X must be a matrix."""
    if isinstance(X, CandidateSets):
        raise InputError(
            f"{where} takes a matrix X with a row for each instance, got {X!r}. Rankers of CandidateSets are "
            "LogLinearRanker, PreferenceMachine, MMPRanker, PerceptronRanker and OnlinePreferenceMachine."
        )


def candidate_graphs_with_cut(y: Any, sets: CandidateSets, cut_level: int | None) -> CandidateGraphs:
    """Graphs over candidates whose label 0 is the cut.

    Of graphs as `insert_cut` makes them. Of grades, the cut is below the grade `cut_level`, by default below all that
    are above 0.
    """
    ptr = sets.ptr + np.arange(len(sets) + 1)
    if isinstance(y, PreferenceGraphs):
        if len(y) != len(sets):
            raise InputError(f"X has {len(sets)} instances and y has {len(y)}; give one graph for each instance.")
        return CandidateGraphs(insert_cut(y.graphs if isinstance(y, CandidateGraphs) else y, cut_level), ptr)
    sets.graphs(y)  # checks y
    grades = np.asarray(y, dtype=np.float64)
    above = grades > 0 if cut_level is None else grades >= cut_level
    # Distances from the best grade, with room for the cut between the grades above it and the others.
    distances = grades.max(initial=0.0) - grades
    cut = distances[above].max(initial=-1.0) + 1.0
    distances = np.where(above, distances, distances + cut + 2.0)
    return CandidateGraphs.from_grades(-np.insert(distances, sets.ptr[:-1], cut), ptr)


def add_cut_candidate(sets: CandidateSets, *, constant: bool) -> CandidateSets:
    """Candidates with the cut before those of each instance: its features are 0, so its score is 0.

    With `constant`, the others have one more feature, 1, whose weight is the intercept.
    """
    Z, ptr = sets.stored().features, sets.ptr + np.arange(len(sets) + 1)
    others = np.ones(ptr[-1], dtype=bool)
    others[ptr[:-1]] = False
    if not sp.issparse(Z):
        features = np.zeros((ptr[-1], Z.shape[1] + constant))
        features[others, : Z.shape[1]] = Z
        features[others, Z.shape[1] :] = 1.0
        return CandidateSets(features, ptr)
    Z = sp.hstack([Z, np.ones((Z.shape[0], 1))], format="csr") if constant else Z
    lengths = np.zeros(ptr[-1], dtype=np.int64)
    lengths[others] = np.diff(Z.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return CandidateSets(sp.csr_matrix((Z.data, Z.indices, indptr), shape=(ptr[-1], Z.shape[1])), ptr)
