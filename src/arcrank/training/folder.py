"""Train on a folder of shards: on this machine in bounded memory, or on a Dask cluster."""

from __future__ import annotations

import re
import time
from typing import Any

from arcrank._wording import count
from arcrank.errors import ParameterError
from arcrank.inference.feature_map import FeatureMap
from arcrank.training.plan import Learner, Plan
from arcrank.training.reporter import Reporter
from arcrank.training.result import TrainingResult

__all__ = ["fit_folder", "parse_size"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parse_size(text: str) -> float:
    """Return the bytes of a size such as 2GB or 500M.

    >>> parse_size("2GB"), parse_size("1.5g"), parse_size("300 MB")
    (2000000000.0, 1500000000.0, 300000000.0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    if found is None:
        raise ParameterError(f"--memory must be a size such as 2GB or 500MB; got {text!r}.")
    return float(found[1]) * _UNITS[found[2]]


def fit_folder(
    path: str, plan: Plan, *, memory: str | None, scheduler: str | None, reporter: Reporter
) -> TrainingResult:
    """Fit the log-linear ranker to all shards of a folder; nothing is held out."""
    if plan.learner not in (Learner.AUTO, Learner.LOG_LINEAR):
        raise ParameterError(f"--learner {plan.learner} cannot learn a folder of shards.\nUse --learner log-linear.")
    start = time.perf_counter()
    plan = Plan(Learner.LOG_LINEAR, plan.parameters, plan.text)
    if scheduler is not None:
        ranker, n = _fit_on_cluster(path, plan, scheduler)
    else:
        ranker, n = _fit_here(path, plan, parse_size(memory or "2GB"), reporter)
    names = list(map(str, ranker.feature_names_in_)) if hasattr(ranker, "feature_names_in_") else None
    columns = FeatureMap("numbered" if names is None else "named", int(ranker.n_features_in_), names)
    result = TrainingResult(ranker, plan, columns, n, {})
    result.seconds = time.perf_counter() - start
    return result


def _fit_here(path: str, plan: Plan, memory: float, reporter: Reporter) -> tuple[Any, int]:
    from arcrank.distributed.outofcore import fit_shards, plan_shards
    from arcrank.distributed.shards import ShardFolder

    shards = ShardFolder(path)
    reporter.note(f"{count(shards.n_rows, 'document')}: {plan_shards(shards, memory).describe()}.")
    return fit_shards(plan.ranker(), path, memory=memory), shards.n_rows


def _fit_on_cluster(path: str, plan: Plan, scheduler: str) -> tuple[Any, int]:
    from arcrank.distributed import DaskLogLinearRanker

    ranker = DaskLogLinearRanker(**plan.parameters, client=scheduler).fit(path)
    return ranker.to_local(), ranker.n_instances_
