"""Rankings of ten thousand to a million labels. Scoring with a stored model needs neither scikit-learn nor numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcrank._lazy import lazy_names

if TYPE_CHECKING:
    from arcrank.rankers.shortlist.ranker import ShortlistRanker

__all__ = ["ShortlistRanker"]

__getattr__, __dir__ = lazy_names(__name__, {"ShortlistRanker": "ranker"})
