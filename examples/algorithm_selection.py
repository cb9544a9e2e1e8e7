"""Choose the algorithm for each problem instance by what a wrong choice costs."""

# --8<-- [start:data]
import numpy as np
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestRegressor

from arcrank import TreeRanker
from arcrank.datasets import load_aslib
from arcrank.datasets.aslib import load_aslib_runtimes
from arcrank.graphs import from_scores

# Runtimes of five solvers on 1,368 formulas; failures count ten times the limit.
corpus, runtimes = load_aslib("QBF-2011"), load_aslib_runtimes("QBF-2011")
X = np.asarray(corpus.X)
# Rounded, since processors differ in the last digits of a logarithm.
logarithms = np.log1p(runtimes).round(6)
# --8<-- [end:data]


# --8<-- [start:select]
# One round of large trees from a score of 0, whose mean is taken: a forest.
forest = TreeRanker(
    "disagreement",
    n_rounds=1,
    n_runs=20,
    learning_rate=1.0,
    max_leaf_nodes=100_000,
    min_samples_leaf=1,
    steps="gradient",
    arc_weights="count",
    random_state=0,
)


def by_votes(train, test):
    """Each pair of solvers is a vote for the faster one, weighted by the difference."""
    total = 0.0
    for costs in (np.sqrt(runtimes), logarithms):
        graphs = from_scores(costs[train], better="lower", margin="difference")
        scores = forest.fit(X[train], graphs).score_labels(X[test])
        total = total + scores / scores.std()
    return total.argmax(axis=1)


def by_runtimes(train, test):
    """A forest predicts the logarithms of the runtimes."""
    forest = RandomForestRegressor(20, max_features=0.3, random_state=0)
    forest.fit(X[train], logarithms[train])
    return forest.predict(X[test]).argmin(axis=1)


def single_best(train, test):
    """The solver that is best on the training instances."""
    return np.full(len(test), runtimes[train].mean(axis=0).argmin())


def penalised_runtimes(select):
    """The runtimes of the selected solvers, on the folds of ASlib."""
    found = np.empty(len(X))
    for test in corpus.splits.values():
        train = np.setdiff1d(np.arange(len(X)), test)
        found[test] = runtimes[test, select(train, test)]
    return found


# --8<-- [end:select]

# --8<-- [start:compare]
ways = {
    "votes": by_votes,
    "forest on runtimes": by_runtimes,
    "single best": single_best,
}
times = {name: penalised_runtimes(select) for name, select in ways.items()}
single, virtual = times["single best"].mean(), runtimes.min(axis=1).mean()
print(f"{'':20}PAR10, s   closed gap")
for name, values in times.items():
    gap = (single - values.mean()) / (single - virtual)
    print(f"{name:20}{values.mean():8.0f}{gap:13.2f}")
print(f"{'virtual best':20}{virtual:8.0f}{1:13.2f}")
# --8<-- [end:compare]

# --8<-- [start:picture]
axes = Figure(figsize=(6, 3.5), layout="constrained").subplots()
for name, values in {**times, "virtual best": runtimes.min(axis=1)}.items():
    axes.plot(np.sort(values), np.arange(len(values)), label=name)
axes.set(xlabel="runtime, s", ylabel="instances solved", xlim=(0, 3600))
axes.legend()
axes.figure.savefig("algorithm_selection.svg")
# --8<-- [end:picture]
