"""Losses: how a piece is charged."""

from arcrank.losses.loglinear import LogLinearLoss

__all__ = ["LogLinearLoss"]
