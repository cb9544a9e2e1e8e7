"""What a ranker notes of the data before it learns, as `LabelRanker._learn_labels` does on one machine."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from arcrank.distributed.raw import DataSummary
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import CUT
from arcrank.graphs.base import label_array

__all__ = ["check_facts", "learn_data", "n_columns", "offsets_of"]


def learn_data(ranker: Any, data: DataSummary, facts: Sequence[dict[str, Any]]) -> None:
    """Note labels, their kind and the number of features."""
    ranker._kind, ranker.n_features_in_ = data.kind, data.n_features
    ranker._drop_calibration()
    if data.names is not None:
        ranker.feature_names_in_ = np.array(data.names, dtype=object)
    names = np.arange(data.n_labels) if data.labels is None else data.labels
    plain = [name for name in names.tolist() if name is not CUT]
    if len(plain) < len(names) and not ranker.cut_label:
        raise InputError(
            f"y mentions CUT, but this {type(ranker).__name__} has no weights for it; pass cut_label=True."
        )
    ranker.labels_ = names if len(plain) == len(names) else label_array(plain)
    if data.kind != "candidates":
        seen = np.any([one["seen"] for one in facts], axis=0)
        ranker._top_seen = seen[-len(plain) :]


def n_columns(data: DataSummary, *, cut: bool) -> int:
    """Return the number of columns of weights: labels, and the cut; candidates share one."""
    if data.kind == "candidates":
        return 1
    mentioned = data.labels is not None and any(name is CUT for name in data.labels.tolist())
    return data.n_labels - mentioned + cut


def check_facts(ranker: Any, data: DataSummary, facts: Sequence[dict[str, Any]]) -> None:
    """Refuse or warn of data that nothing can be learnt from."""
    if data.scale[2] <= 0:
        raise InputError("All of sample_weight is zero, so there is nothing to learn from; give a positive weight.")
    if data.kind == "candidates" and getattr(ranker, "solver_", "") == "dual":
        raise ParameterError("solver='dual' needs features X of instances; for CandidateSets use 'lbfgs'.")
    if len(ranker.labels_) < 2 and not ranker.cut_label:
        raise InputError("y has one label only, and ranking needs at least two labels.")
    if not any(one["arcs"] for one in facts):
        warnings.warn("No instance prefers any label to another: nothing can be learnt.", UserWarning, stacklevel=4)


def offsets_of(data: DataSummary) -> list[int]:
    """Return the number of the first instance of each partition."""
    return [0, *np.cumsum(data.sizes)[:-1].tolist()]
