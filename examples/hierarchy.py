"""Learn from a hierarchy: a miss within the right branch is a smaller miss."""

# --8<-- [start:tree]
import numpy as np
from sklearn.model_selection import GridSearchCV, ShuffleSplit

from arcrank import LogLinearRanker
from arcrank.datasets import load_debtags_sample
from arcrank.graphs import Hierarchy, as_graphs
from arcrank.metrics import average_precision, disagreement_error, scorer
from arcrank.text import TextFeatures

parents = {"physics": "science", "biology": "science", "music": "art"}
shelf = Hierarchy({"science": None, "art": None, **parents})
print(*shelf.leaves, sep=", ")
print("a physics book:   ", *shelf.leaf_graphs([["physics"]]).levels()[0])
print("a book of science:", *shelf.leaf_graphs([["science"]]).levels()[0])
# --8<-- [end:tree]

# --8<-- [start:graphs]
corpus = load_debtags_sample()  # of a tag role::program the branch is role, its facet
train, test = corpus.split("train"), corpus.split("test")
words = TextFeatures()
X_train, X_test = words.fit_transform(train.texts), words.transform(test.texts)

tree = Hierarchy(corpus.hierarchy)


def as_sets(part):
    """Two layers: the tags given, then all others."""
    return as_graphs(tree.leaf_sets(part.label_sets), kind="sets", labels=tree.leaves)


def as_tree(part):
    """Three layers: the tags given, then other tags of their facets, then the rest."""
    return tree.leaf_graphs(part.label_sets)


print("", tree, as_sets(train), as_tree(train), sep="\n")
# --8<-- [end:graphs]

# --8<-- [start:learn]
# Each chooses C on a quarter of the training packages, by the error of its own graphs.
search = GridSearchCV(
    LogLinearRanker(fit_intercept=False, tol=1e-2, random_state=0),
    {"C": [10, 100, 300]},
    scoring=scorer("domination_error"),
    cv=ShuffleSplit(1, test_size=0.25, random_state=0),
)
layer_of = as_tree(test).levels()
print("\n          first tag   of a right   wrong arcs    average")
print("learnt    right       facet        of the tree   precision of the tags")
for name, graphs in {"as sets": as_sets(train), "as tree": as_tree(train)}.items():
    scores = search.fit(X_train, graphs).best_estimator_.score_labels(X_test)
    first = layer_of[np.arange(len(test)), scores.argmax(axis=1)]
    wrong = disagreement_error(as_tree(test), scores)
    precision = average_precision(as_sets(test), scores)
    print(f"{name}{np.mean(first == 0):8.2f}{np.mean(first <= 1):12.2f}", end="")
    print(f"{wrong:14.3f}{precision:14.3f}")
# --8<-- [end:learn]
