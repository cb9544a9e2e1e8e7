"""A decomposition of one's own: in a hierarchy, the labels given weigh more than the order of their relatives."""

# --8<-- [start:callable]
import numpy as np
from sklearn.model_selection import GridSearchCV, ShuffleSplit

from arcrank import LogLinearRanker
from arcrank.datasets import load_debtags_sample
from arcrank.graphs import Hierarchy, as_graphs
from arcrank.metrics import average_precision, disagreement_error, scorer
from arcrank.text import TextFeatures


def given_first(heads, tails, _row):
    """A piece for each label of the top layer, and one for all arcs between the layers below it."""
    given = ~np.isin(heads, tails)  # a label of the top layer is nobody's tail
    pieces = [np.flatnonzero(heads == head) for head in np.unique(heads[given])]
    return pieces if given.all() else [*pieces, np.flatnonzero(~given)]


shelf = Hierarchy({"science": None, "physics": "science", "biology": "science", "art": None, "music": "art"})
heads, tails = shelf.leaf_graphs([["physics"]]).arcs(0)
print("leaves:", ", ".join(shelf.leaves))
print("arcs:  ", *zip(heads.tolist(), tails.tolist(), strict=True))
print("pieces:", *given_first(heads, tails, 0))
# --8<-- [end:callable]

# --8<-- [start:learn]
corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")
some = np.random.default_rng(0).permutation(len(train))[:300]  # a callable writes out every arc: a small task
train = train[some]
words = TextFeatures()
X_train, X_test = words.fit_transform(train.texts), words.transform(test.texts)

tree = Hierarchy(corpus.hierarchy)


def sets(part):
    return as_graphs(tree.leaf_sets(part.label_sets), kind="sets", labels=tree.leaves)


flat, layered = sets(train), tree.leaf_graphs(train.label_sets)
truth_flat, truth_layered = sets(test), tree.leaf_graphs(test.label_sets)
tasks = {
    "sets, domination": (flat, "domination"),
    "tree, domination": (layered, "domination"),
    "tree, given_first": (layered, given_first),
}
print("\nlearnt from          C   first tag in a wrong facet   wrong arcs of the tree   average precision")
for name, (graphs, decomposition) in tasks.items():
    search = GridSearchCV(
        LogLinearRanker(decomposition, fit_intercept=False, tol=1e-2, random_state=0),
        {"C": [10, 100]},
        scoring=scorer("generalized_error", decomposition=decomposition),  # each by its own error
        cv=ShuffleSplit(1, test_size=0.25, random_state=0),
    )
    scores = search.fit(X_train, graphs).best_estimator_.score_labels(X_test)
    far = np.mean(truth_layered.levels()[np.arange(len(test)), scores.argmax(axis=1)] == 2)
    print(
        f"{name:18}{search.best_params_['C']:4}{far:29.3f}"
        f"{disagreement_error(truth_layered, scores):25.3f}{average_precision(truth_flat, scores):20.3f}"
    )
# --8<-- [end:learn]
