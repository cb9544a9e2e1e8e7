from __future__ import annotations

import numpy as np

from arcrank.decompositions import get_decomposition
from arcrank.graphs import ArcGraphs
from arcrank.losses import LogLinearLoss
from arcrank.solvers.design import LabelDesign
from arcrank.solvers.flow_sums import FlowProblem
from arcrank.solvers.history import History
from arcrank.solvers.lbfgs import PrimalState, solve_lbfgs


def test_arcs_whose_weight_vanishes_are_learnt():
    """log(1 + w) is 0 long before w is: there is nothing to gain that a number could hold."""
    graphs = ArcGraphs.from_arcs([[(0, 1)]], 2, weights=[[1e-120]])
    loss = LogLinearLoss(graphs, get_decomposition("zero-one"), np.ones(1))
    state = PrimalState(np.zeros((1, 2)))
    solve_lbfgs(FlowProblem(LabelDesign(np.ones((1, 1)), 2), loss), state, tol=1e-8, max_iter=100, history=History())
    assert state.converged
    assert not state.stalled
