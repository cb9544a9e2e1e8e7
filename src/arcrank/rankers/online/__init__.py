"""Online category ranking (Crammer & Singer 2002)."""

from arcrank.rankers.online.mmp import MMPRanker
from arcrank.rankers.online.perceptron import PerceptronRanker

__all__ = ["MMPRanker", "PerceptronRanker"]
