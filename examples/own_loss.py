"""A custom loss, minimised by LogLinearRanker: the smooth hinge of every arc."""

# --8<-- [start:loss]
import numpy as np
from scipy.optimize import check_grad
from sklearn.model_selection import GridSearchCV

from arcrank import LogLinearRanker
from arcrank.graphs import LayeredGraphs
from arcrank.metrics import kendall_tau, scorer


class SmoothHingeLoss:
    """`sum_i weight_i/s_i sum_arcs L(margin)`: every arc is one piece.

    L is 0 from margin 1 on, 1/2 - margin below 0, and a parabola in between.
    """

    def __init__(self, graphs, _decomposition, weight):
        arcs = graphs.to_arcs()
        self.row, self.head, self.tail = arcs.rows(), arcs.head, arcs.tail
        # An arc's share of its instance: the ranker's C is in the weight, 1/s_i is not.
        self.weight = (weight / np.maximum(1, arcs.arc_counts()))[self.row]

    def flows(self, scores):
        """The loss, and the labels' outflow and inflow, (n, k) each.

        The flow of an arc is `-L'(margin)`, outflow of its head and inflow of its tail.
        So `inflow - outflow` is the gradient in the scores.
        """
        margin = scores[self.row, self.head] - scores[self.row, self.tail]
        short = 1 - margin
        value = np.where(margin < 0, short - 0.5, 0.5 * np.maximum(0, short) ** 2)
        flow = self.weight * np.clip(short, 0, 1)
        outflow, inflow = np.zeros_like(scores), np.zeros_like(scores)
        np.add.at(outflow, (self.row, self.head), flow)
        np.add.at(inflow, (self.row, self.tail), flow)
        return float(self.weight @ value), outflow, inflow


# --8<-- [end:loss]


# --8<-- [start:check]
random = np.random.default_rng(0)
graphs = LayeredGraphs.from_levels(random.integers(-1, 3, size=(4, 5)))
loss = SmoothHingeLoss(graphs, None, weight=np.full(len(graphs), 2.0))


def value(scores):
    return loss.flows(scores.reshape(graphs.shape))[0]


def gradient(scores):
    _, outflow, inflow = loss.flows(scores.reshape(graphs.shape))
    return (inflow - outflow).ravel()


error = check_grad(value, gradient, random.normal(size=20))
print("gradient agrees with finite differences:", error < 1e-6)
# --8<-- [end:check]


# --8<-- [start:learn]
def order(liking):
    """Positions, 1 = best."""
    return 1 + np.argsort(np.argsort(-liking, axis=1), axis=1)


taste = random.normal(size=(5, 7))
X, X_new = random.normal(size=(150, 5)), random.normal(size=(1000, 5))
moods = random.standard_t(df=1.5, size=(150, 7))  # with outliers
orders, orders_new = order(X @ taste + moods), order(X_new @ taste)

rankers = {
    "smooth hinge": LogLinearRanker(loss=SmoothHingeLoss),
    "log-linear": LogLinearRanker("disagreement"),
}
for name, ranker in rankers.items():
    grid = {"C": [0.1, 1, 10, 100]}
    search = GridSearchCV(ranker, grid, scoring=scorer("kendall_tau"), cv=5)
    best = search.fit(X, orders).best_estimator_
    tau = kendall_tau(orders_new, best.score_labels(X_new))
    print(f"\n{name}, C = {best.C}: tau {tau:.2f}")
    print("within 1 % of the minimum:", best.duality_gap_ < 0.01)
# --8<-- [end:learn]
