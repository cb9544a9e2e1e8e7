"""Which weights there are, where they start, and which of them are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank.solvers.shortlist import full_pattern
from arcrank.solvers.shortlist_arrays import SparseWeights

__all__ = [
    "centroid_sums",
    "cut_weights",
    "extended",
    "initial_weights",
    "joined_cut",
    "kept_features",
    "pruned",
    "rare_features",
    "scaled_centroids",
    "with_features",
]

_FEW_LABELS = 1_000


def kept_features(X: Any, max_df: float, n_labels: int) -> Any:
    """X without the features that are in too many documents, where labels are many; columns stay in their places."""
    kept = rare_features(np.bincount(X.indices, minlength=X.shape[1]), X.shape[0], max_df, n_labels)
    return with_features(X, kept)


def rare_features(frequency: Any, n: int, max_df: float, n_labels: int) -> NDArray[np.bool_]:
    """Which features have weights, (d,), by the number of documents of n that each is in."""
    return np.asarray((frequency <= max_df * n) | (n_labels <= _FEW_LABELS))


def with_features(X: Any, kept: NDArray[np.bool_]) -> Any:
    """X without the values of the other features; X itself if there are none."""
    if kept.all():
        return X
    chosen = kept[X.indices]
    ptr = np.concatenate([[0], np.cumsum(chosen)])[X.indptr]
    return sp.csr_matrix((X.data[chosen], X.indices[chosen], ptr), shape=X.shape)


def initial_weights(X: Any, above: Any, judged: Any, prior: float, *, full: bool) -> SparseWeights:
    """`prior` times the unit centroid of each label's documents, for every feature that occurs in one of them.

    `above` and `judged` are the indicators of `listed_labels`: centroids are those of the labels that are above others,
    and labels that are only below others have weights too, which start at 0.
    """
    return scaled_centroids(*centroid_sums(X, above, judged), prior, full=full)


def centroid_sums(X: Any, above: Any, judged: Any) -> tuple[Any, Any]:
    """The sums of each label's documents, and how many have each feature if the pattern is larger, else None.

    Both are (d, k) CSR matrices, and those of several parts of the documents can be added.
    """
    features = X.astype(np.float32).T.tocsr()
    sums = (features @ above).tocsr()
    if judged.nnz == above.nnz:
        return sums, None
    binary = sp.csr_matrix((np.ones_like(features.data), features.indices, features.indptr), shape=features.shape)
    return sums, (binary @ judged).tocsr()  # counts, so that no entry is 0


def scaled_centroids(sums: Any, larger: Any, prior: float, *, full: bool) -> SparseWeights:
    """The weights that training starts from, by the results of `centroid_sums`."""
    lengths = np.sqrt(np.bincount(sums.indices, weights=sums.data.astype(np.float64) ** 2, minlength=sums.shape[1]))
    factor = np.divide(prior, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    sums.data *= factor.astype(np.float32)[sums.indices]
    if full:
        weights = full_pattern(*sums.shape)
        weights.weight[:] = sums.toarray().ravel()
        return weights
    return SparseWeights.of(sums) if larger is None else _spread(SparseWeights.of(sums), larger)


def _spread(weights: SparseWeights, larger: Any) -> SparseWeights:
    """The same weights on a larger pattern, with zeros where they had none."""
    larger.sort_indices()
    k = np.int64(larger.shape[1])
    result = SparseWeights.of(larger)
    keys = result.features() * k + result.label
    result.weight[:] = 0.0
    result.weight[np.searchsorted(keys, weights.features() * k + weights.label)] = weights.weight
    return result


def pruned(weights: SparseWeights, least: float) -> SparseWeights:
    """Without weights smaller than `least`, the others rounded to float16: what a model file holds is what is used.

    With 0 all weights stay as they are.
    """
    if not least:
        return weights
    rounded = weights._replace(weight=_rounded(weights.weight))
    return rounded.keep((np.abs(rounded.weight) >= least) & (rounded.weight != 0.0))


def _rounded(weight: NDArray[np.float32]) -> NDArray[np.float32]:
    largest = np.finfo(np.float16).max
    return np.clip(weight, -largest, largest).astype(np.float16).astype(np.float32)


def cut_weights(weights: SparseWeights) -> tuple[SparseWeights, NDArray[np.float32]]:
    """The weights of the labels, and those of the cut, label 0, by feature; the labels are renumbered from 0."""
    is_cut = weights.label == 0
    cut = np.zeros(len(weights.ptr) - 1, np.float32)
    cut[weights.features()[is_cut]] = weights.weight[is_cut]
    rest = weights.keep(~is_cut)
    return rest._replace(label=rest.label - 1), cut


def joined_cut(weights: SparseWeights, cut: NDArray[np.float32]) -> SparseWeights:
    """The inverse of `cut_weights`."""
    features = np.flatnonzero(cut).astype(np.int32)
    feature = np.concatenate([weights.features(), features])
    label = np.concatenate([weights.label + 1, np.zeros(len(features), np.int32)])
    return _ordered(feature, label, np.concatenate([weights.weight, cut[features]]), len(cut))


def extended(old: SparseWeights, fresh: SparseWeights, seen: int, n_labels: int) -> SparseWeights:
    """Weights on the union of two patterns: the old ones, those of new labels (from `seen` on) fresh, and else 0."""
    keys = [one.features() * np.int64(n_labels) + one.label for one in (old, fresh)]
    new = ~np.isin(keys[1], keys[0], assume_unique=True)
    start = np.where(fresh.label >= seen, fresh.weight, np.float32(0.0))
    parts = [np.concatenate([a, b[new]]) for a, b in ((old.features(), fresh.features()), (old.label, fresh.label))]
    return _ordered(parts[0], parts[1], np.concatenate([old.weight, start[new]]), len(old.ptr) - 1)


def _ordered(feature: Any, label: Any, weight: Any, n_features: int) -> SparseWeights:
    """Weights in any order, by feature and label."""
    order = np.lexsort((label, feature))
    ptr = np.concatenate([[0], np.cumsum(np.bincount(feature, minlength=n_features))]).astype(np.int64)
    return SparseWeights(ptr, label[order].astype(np.int32), weight[order].astype(np.float32))
