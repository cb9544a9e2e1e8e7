"""Costs of mistakes: a wrong tag of the right facet is cheap, any other is not."""

# --8<-- [start:graphs]
import numpy as np

from arcrank import PreferenceMachine
from arcrank.datasets import load_debtags_sample
from arcrank.graphs import Hierarchy, as_graphs, from_costs
from arcrank.text import TextFeatures

corpus = load_debtags_sample()
tree = Hierarchy(corpus.hierarchy)  # of a tag role::program the branch is role
costs = (tree.leaf_costs() / 2) ** 3  # two steps within a facet, else four
train, test = corpus.split("train"), corpus.split("test")
sets = as_graphs(tree.leaf_sets(train.label_sets), kind="sets", labels=tree.leaves)
weighted = from_costs(sets, costs)
print(sets, weighted, sep="\n")
print("costs of tags:", *np.unique(weighted.weight))
# --8<-- [end:graphs]

# --8<-- [start:learn]
words = TextFeatures()
X, X_test = words.fit_transform(train.texts), words.transform(test.texts)


def paid(machine, X, label_sets):
    """The cost of the first tag of each package: to the nearest of its own tags."""
    column = {leaf: at for at, leaf in enumerate(tree.leaves)}
    right = [[column[leaf] for leaf in leaves] for leaves in tree.leaf_sets(label_sets)]
    first = machine.score_labels(X).argmax(axis=1)
    return np.array(
        [costs[own, at].min() for own, at in zip(right, first, strict=True)]
    )


# Each chooses C on a quarter of the training packages, by what they pay there.
rows = np.random.default_rng(0).permutation(len(train))
fitted, held_out = np.split(rows, [len(rows) * 3 // 4])
own = [train.label_sets[row] for row in held_out]
for name, graphs in {"without costs": sets, "with costs": weighted}.items():
    trials = {}
    for C in (0.03, 0.3, 3):
        machine = PreferenceMachine("domination", C=C, tol=0.1, random_state=0)
        machine.fit(X[fitted], graphs[fitted])
        trials[C] = paid(machine, X[held_out], own).mean()
    machine.set_params(C=min(trials, key=trials.get)).fit(X, graphs)
    price = paid(machine, X_test, test.label_sets)
    print(f"{name}: a package pays {price.mean():.2f}, {np.mean(price > 0):.0%} pay")
# --8<-- [end:learn]
