"""Online ranking: Crammer & Singer 2002, and the on-line Preference Learning Model."""

from arcrank.rankers.online.mmp import MMPRanker
from arcrank.rankers.online.perceptron import PerceptronRanker
from arcrank.rankers.online.preference_machine import OnlinePreferenceMachine

__all__ = ["MMPRanker", "OnlinePreferenceMachine", "PerceptronRanker"]
