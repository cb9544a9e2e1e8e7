"""Preference graphs: what the teacher said about the labels of each instance."""

from arcrank.graphs.arcs import ArcGraphs
from arcrank.graphs.base import PreferenceGraphs
from arcrank.graphs.build import as_graphs
from arcrank.graphs.candidates import CandidateGraphs
from arcrank.graphs.concatenate import concatenate
from arcrank.graphs.costs import from_costs
from arcrank.graphs.cut import CUT
from arcrank.graphs.hierarchy import Hierarchy
from arcrank.graphs.layers import LayeredGraphs
from arcrank.graphs.scores import from_scores
from arcrank.graphs.votes import VoteGraphs, Votes, from_votes

__all__ = [
    "CUT",
    "ArcGraphs",
    "CandidateGraphs",
    "Hierarchy",
    "LayeredGraphs",
    "PreferenceGraphs",
    "VoteGraphs",
    "Votes",
    "as_graphs",
    "concatenate",
    "from_costs",
    "from_scores",
    "from_votes",
]
