"""A custom decomposition: the given labels weigh more than their relatives."""

# --8<-- [start:callable]
import numpy as np
from sklearn.model_selection import GridSearchCV, ShuffleSplit

from arcrank import LogLinearRanker
from arcrank.datasets import load_debtags_sample
from arcrank.graphs import Hierarchy, as_graphs
from arcrank.metrics import average_precision, disagreement_error, scorer
from arcrank.text import TextFeatures


def given_first(heads, tails, _row):
    """A piece for each label of the top layer, and one for all other arcs."""
    given = ~np.isin(heads, tails)  # a label of the top layer is nobody's tail
    pieces = [np.flatnonzero(heads == head) for head in np.unique(heads[given])]
    return pieces if given.all() else [*pieces, np.flatnonzero(~given)]


parents = {"physics": "science", "biology": "science", "music": "art"}
shelf = Hierarchy({"science": None, "art": None, **parents})
heads, tails = shelf.leaf_graphs([["physics"]]).arcs(0)
print("leaves:", ", ".join(shelf.leaves))
print("arcs:  ", *zip(heads.tolist(), tails.tolist(), strict=True))
print("pieces:", *given_first(heads, tails, 0))
# --8<-- [end:callable]

# --8<-- [start:learn]
corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")
# 300 packages: a callable writes out every arc.
train = train[np.random.default_rng(0).permutation(len(train))[:300]]
words = TextFeatures()
X_train, X_test = words.fit_transform(train.texts), words.transform(test.texts)

tree = Hierarchy(corpus.hierarchy)


def as_sets(part):
    return as_graphs(tree.leaf_sets(part.label_sets), kind="sets", labels=tree.leaves)


def as_tree(part):
    return tree.leaf_graphs(part.label_sets)


tasks = {
    "sets, domination": (as_sets(train), "domination"),
    "tree, domination": (as_tree(train), "domination"),
    "tree, given_first": (as_tree(train), given_first),
}
layer_of = as_tree(test).levels()
print("\n                       first tag in     wrong arcs    average")
print("learnt from         C  a wrong facet    of the tree   precision of the tags")
for name, (graphs, decomposition) in tasks.items():
    search = GridSearchCV(
        LogLinearRanker(decomposition, fit_intercept=False, tol=1e-2, random_state=0),
        {"C": [10, 100]},
        scoring=scorer("generalized_error", decomposition=decomposition),
        cv=ShuffleSplit(1, test_size=0.25, random_state=0),
    )
    scores = search.fit(X_train, graphs).best_estimator_.score_labels(X_test)
    far = np.mean(layer_of[np.arange(len(test)), scores.argmax(axis=1)] == 2)
    wrong = disagreement_error(as_tree(test), scores)
    precision = average_precision(as_sets(test), scores)
    C = search.best_params_["C"]
    print(f"{name:17}{C:4}{far:15.3f}{wrong:15.3f}{precision:12.3f}")
# --8<-- [end:learn]
