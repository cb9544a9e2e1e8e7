"""Fit a ranker while reporting its progress."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from arcrank.training.reporter import Move, Reporter

__all__ = ["fit_ranker"]


def fit_ranker(ranker: Any, X: Any, y: Any, what: str, reporter: Reporter) -> Any:
    """Fit while reporting passes and the duality gap; the callback does not stay in the model."""
    parameters = ranker.get_params()
    with reporter.progress(what, total=1.0) as move:
        if "callback" in parameters and "tol" in parameters:
            ranker.set_params(callback=_gap_callback(move, parameters["tol"]))
        ranker.fit(X, y)
    if "callback" in parameters:
        ranker.set_params(callback=None)
    return ranker


def _gap_callback(move: Move, tol: float) -> Callable[[dict[str, Any]], None]:
    """Report progress towards the tolerance on a logarithmic scale, since a gap shrinks by factors."""

    def tell(entry: dict[str, Any]) -> None:
        gap = float(entry.get("gap", math.nan))
        known = gap > 0 and math.isfinite(gap)
        share = min(1.0, math.log(min(gap, 1.0)) / math.log(min(tol, 0.5))) if known else 0.0
        rate = entry["iteration"] / max(entry["seconds"], 1e-9)
        move(share, f"pass {entry['iteration']}, {f'gap {gap:.1e}, ' if known else ''}{rate:.1f} passes/s")

    return tell
