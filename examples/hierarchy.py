"""Learn from a hierarchy of labels: a miss within the right branch is a smaller miss."""

# --8<-- [start:tree]
import numpy as np
from sklearn.model_selection import GridSearchCV, ShuffleSplit

from arcrank import LogLinearRanker
from arcrank.datasets import load_debtags_sample
from arcrank.graphs import Hierarchy, as_graphs
from arcrank.metrics import average_precision, disagreement_error, scorer
from arcrank.text import TextFeatures

shelf = Hierarchy({"science": None, "physics": "science", "biology": "science", "art": None, "music": "art"})
print(*shelf.leaves, sep=", ")
print("a physics book:              ", shelf.leaf_graphs([["science", "physics"]]).levels()[0])
print("a book of science in general:", shelf.leaf_graphs([["science"]]).levels()[0])
# --8<-- [end:tree]

# --8<-- [start:graphs]
corpus = load_debtags_sample()  # tags such as role::program; the facet, role, is the branch
train, test = corpus.split("train"), corpus.split("test")
words = TextFeatures()
X_train, X_test = words.fit_transform(train.texts), words.transform(test.texts)

tree = Hierarchy(corpus.hierarchy)
layered = tree.leaf_graphs(train.label_sets)  # the tags given, then their facets' other tags, then the rest
flat = as_graphs(tree.leaf_sets(train.label_sets), kind="sets", labels=tree.leaves)  # the tags given, then the rest
print(f"\n{tree}\n{layered}\n{flat}")
# --8<-- [end:graphs]

# --8<-- [start:learn]
truth_layered = tree.leaf_graphs(test.label_sets)
truth_flat = as_graphs(tree.leaf_sets(test.label_sets), kind="sets", labels=tree.leaves)

print("\nlearnt from      first tag: right  right facet  wrong   wrong arcs of the tree   average precision")
for name, graphs in {"sets of tags": flat, "the tree": layered}.items():
    # Each chooses its own C on a quarter of the training packages, by the error of its own graphs.
    ranker = LogLinearRanker(fit_intercept=False, tol=1e-2, random_state=0)
    quarter = ShuffleSplit(1, test_size=0.25, random_state=0)
    search = GridSearchCV(ranker, {"C": [10, 100, 300]}, scoring=scorer("domination_error"), cv=quarter)
    scores = search.fit(X_train, graphs).best_estimator_.score_labels(X_test)

    first = scores.argmax(axis=1)
    right, near, far = np.bincount(truth_layered.levels()[np.arange(len(test)), first], minlength=3) / len(test)
    print(
        f"{name:15}{right:19.2f}{near:13.2f}{far:7.2f}"
        f"{disagreement_error(truth_layered, scores):25.3f}{average_precision(truth_flat, scores):20.3f}"
    )
# --8<-- [end:learn]
