"""Training past one machine and past its memory: the rankers on Dask, and over blocks of mapped files.

Names are imported when they are first used; those that start with Dask need the extra `dask`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcrank._lazy import lazy_names

if TYPE_CHECKING:
    from arcrank.distributed.loglinear import DaskLogLinearRanker

__all__ = ["DaskLogLinearRanker"]

__getattr__, __dir__ = lazy_names(__name__, {"DaskLogLinearRanker": "loglinear"})
