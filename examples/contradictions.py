"""Votes of several judges, cycles, and what a ranker makes of them."""

# --8<-- [start:votes]
import numpy as np

from arcrank import LogLinearRanker
from arcrank.graphs import ArcGraphs, as_graphs
from arcrank.metrics import disagreement_error, kendall_tau

# Ten judges compared two answers to one question: seven prefer A, three prefer B.
# C is very large, so only the data count.
question = np.ones((1, 1))
exact = {"decomposition": "disagreement", "C": 1e6, "fit_intercept": False, "tol": 1e-9}


def margin(ranker):
    a, b = ranker.score_labels(question)[0]
    return a - b


# A row for each judge
votes = as_graphs([[("A", "B")]] * 7 + [[("B", "A")]] * 3)
by_rows = LogLinearRanker(**exact).fit(np.repeat(question, 10, axis=0), votes)

# A row for each side, weighted by its judges
sides, twice = as_graphs([[("A", "B")], [("B", "A")]]), np.repeat(question, 2, axis=0)
by_weight = LogLinearRanker(**exact).fit(twice, sides, sample_weight=[7, 3])

# One graph that holds both arcs, with weights
arcs = [[(0, 1), (1, 0)]]
both = ArcGraphs.from_arcs(arcs, n_labels=2, weights=[[7, 3]], conflicts="keep")
by_arcs = LogLinearRanker(**exact).fit(question, both)

print(f"log(7/3)               {np.log(7 / 3):6.3f}")
print(f"a row for each judge   {margin(by_rows):6.3f}")
print(f"weights of rows        {margin(by_weight):6.3f}")
print(f"weights of arcs        {margin(by_arcs):6.3f}")
# --8<-- [end:votes]

# --8<-- [start:cycles]
cycle = as_graphs([[("A", "B")], [("B", "C")], [("C", "A")]])
thrice = np.repeat(question, 3, axis=0)
print("\njudges for A>B, B>C, C>A   scores of A, B, C")
for judges in ([5, 5, 5], [9, 7, 2]):
    ranker = LogLinearRanker(**exact).fit(thrice, cycle, sample_weight=judges)
    scores = ranker.score_labels(question)[0]
    print(f"{judges!s:26}", *(f"{score:5.2f}" for score in scores.round(2) + 0.0))
# --8<-- [end:cycles]

# --8<-- [start:many]
# 400 questions with features, and six answers to each. Judges are shown two of them
# and err in three votes of ten.
random = np.random.default_rng(0)
taste = random.normal(size=(4, 6))
X, X_new = random.normal(size=(400, 4)), random.normal(size=(500, 4))


def vote(liking):
    first, second = random.choice(6, size=2, replace=False)
    right = liking[first] > liking[second]
    says = right if random.random() < 0.7 else not right
    return (first, second) if says else (second, first)


true_order = 1 + np.argsort(np.argsort(-(X_new @ taste), axis=1), axis=1)
print("\nvotes per question   contradicted   tau with the true order")
for n_votes in (1, 3, 10):
    rows = np.repeat(np.arange(400), n_votes)
    arcs = [[vote(taste.T @ X[row])] for row in rows]
    votes = ArcGraphs.from_arcs(arcs, n_labels=6)
    ranker = LogLinearRanker("disagreement", C=1).fit(X[rows], votes)
    contradicted = disagreement_error(votes, ranker.score_labels(X[rows]))
    tau = kendall_tau(true_order, ranker.score_labels(X_new))
    print(f"{n_votes:18}{contradicted:15.2f}{tau:26.2f}")
# --8<-- [end:many]
