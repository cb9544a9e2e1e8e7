"""A few labelled documents and thousands of unlabelled ones: find more of a kind."""

# --8<-- [start:data]
import numpy as np
from sklearn.linear_model import LogisticRegression

from arcrank import (
    RankBoost,
    SemiSupervisedLogistic,
    SemiSupervisedRankBoost,
    TransductiveSVM,
)
from arcrank.datasets import load_debtags_sample
from arcrank.metrics import auc, uninterpolated_precision
from arcrank.text import TextFeatures

corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")
words = TextFeatures()
X, X_test = words.fit_transform(train.texts), words.transform(test.texts)


def label_a_few(tag, seed):
    """5 packages with the tag, 15 without; the rest are -1, unlabelled."""
    truth, random = train.target(tag), np.random.default_rng(seed)
    y = np.full(len(truth), -1)
    for relevant, how_many in ((1, 5), (0, 15)):
        rows = np.flatnonzero(truth == relevant)
        y[random.choice(rows, how_many, replace=False)] = relevant
    return y


# --8<-- [end:data]

# --8<-- [start:learn]
# Twenty labels are too few to choose parameters by. So these are the defaults, but for
# fewer components, to be fast; C = 10 is that of SemiSupervisedLogistic.
plain = LogisticRegression(C=10, solver="liblinear")
latent = SemiSupervisedRankBoost(features="latent", n_components=100)
rankers = {
    "LogisticRegression, labelled only": plain,
    "RankBoost, labelled only": RankBoost(),
    "SemiSupervisedLogistic": SemiSupervisedLogistic(),
    "SemiSupervisedRankBoost": SemiSupervisedRankBoost(),
    "SemiSupervisedRankBoost, latent": latent,
    "TransductiveSVM": TransductiveSVM(),
}
tags = ("uitoolkit::gtk", "implemented-in::perl")
tasks = [(tag, seed) for tag in tags for seed in (0, 1)]

print(f"means of {len(tasks)} tasks with 20 labelled packages of {len(train):,}\n")
print(f"{'':34} AUC   average precision")
for name, ranker in rankers.items():
    found = []
    for tag, seed in tasks:
        y = label_a_few(tag, seed)
        rows = y >= 0 if name.endswith("only") else slice(None)
        scores = ranker.fit(X[rows], y[rows]).decision_function(X_test)
        truth = test.target(tag)
        found.append([auc(truth, scores), uninterpolated_precision(truth, scores)])
    mean_auc, mean_precision = np.mean(found, axis=0)
    print(f"{name:34} {mean_auc:.2f}{mean_precision:12.2f}")
# --8<-- [end:learn]
