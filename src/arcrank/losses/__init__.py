"""Losses: how a piece is charged. Names are imported when they are first used: scoring needs no kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arcrank.losses.flows import FlowLoss

if TYPE_CHECKING:
    from arcrank.losses.loglinear import LogLinearLoss

__all__ = ["FlowLoss", "LogLinearLoss"]


def __getattr__(name: str) -> Any:
    if name == "LogLinearLoss":
        from arcrank.losses.loglinear import LogLinearLoss

        return LogLinearLoss
    raise AttributeError(f"module 'arcrank.losses' has no attribute {name!r}")
