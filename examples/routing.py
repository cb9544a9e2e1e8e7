"""Choose a language model for each prompt, from scores of earlier prompts."""

# --8<-- [start:data]
import re

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from arcrank import BootstrapRanker, LogLinearRanker
from arcrank.datasets import load_routing
from arcrank.datasets.routing import load_routing_scores
from arcrank.graphs import from_scores
from arcrank.text import TextFeatures

corpus, scores = load_routing(), np.nan_to_num(load_routing_scores())
train, test = corpus.splits["train"], corpus.splits["test"]
words = TextFeatures().fit([corpus.texts[i] for i in train])
X = words.transform(corpus.texts)
graphs = from_scores(scores, corpus.labels, margin="difference")


def mean_score(ranked, rows):
    """The mean score of the model that is ranked first."""
    return scores[rows, ranked.argmax(axis=1)]


def pair_accuracy(ranked, rows):
    """The share of pairs of models in the right order, where their scores differ."""
    truth = scores[rows][:, :, None] - scores[rows][:, None, :]
    given = ranked[:, :, None] - ranked[:, None, :]
    return ((given > 0) & (truth > 0)).sum((1, 2)), (truth > 0).sum((1, 2))


# --8<-- [end:data]


# --8<-- [start:select]
# Select C on the training prompts alone, by the two measures that the test will show.
def ranker(C):
    return LogLinearRanker(
        "disagreement", arc_weights="count", solver="lbfgs", C=C, tol=1e-2
    )


folds = np.array_split(np.random.default_rng(0).permutation(train), 4)
found = {}
print("cross-validated on training prompts\n    C   mean score   pair accuracy")
for C in (0.03, 0.1, 0.3, 1.0):
    out = np.empty((len(train), len(corpus.labels)))
    for fold in folds:
        rest = np.setdiff1d(train, fold)
        out[fold] = ranker(C).fit(X[rest], graphs[rest]).score_labels(X[fold])
    right, pairs = pair_accuracy(out, train)
    measures = mean_score(out, train).mean(), right.sum() / pairs.sum()
    found[C] = sum(measures)
    print(f"{C:5}{measures[0]:13.3f}{measures[1]:16.3f}")
selected = max(found, key=found.get)
# --8<-- [end:select]

# --8<-- [start:test]
model = ranker(selected).fit(X[train], graphs[train])
ranked = model.score_labels(X[test])
chosen, (right, pairs) = mean_score(ranked, test), pair_accuracy(ranked, test)
samples = np.random.default_rng(0).integers(len(test), size=(1000, len(test)))


def show(name, value, drawn):
    low, high = np.quantile(drawn, [0.05, 0.95])
    print(f"{name:32}{value:.3f}   90 % interval {low:.3f} to {high:.3f}")


single = scores[test, scores[train].mean(axis=0).argmax()]
print(f"\n{len(test)} new prompts")
show("mean score, best single model", single.mean(), single[samples].mean(1))
show("mean score, chosen models", chosen.mean(), chosen[samples].mean(1))
show(
    "pair accuracy",
    right.sum() / pairs.sum(),
    right[samples].sum(1) / pairs[samples].sum(1),
)
print(f"{'mean score, oracle':32}{scores[test].max(axis=1).mean():.3f}")
# --8<-- [end:test]

# --8<-- [start:reasons]
first, second = model.rank(X[test[:1]], top=2)[0]
why = model.explain(X[test[:1]], first, second)
reasons = ", ".join(words.terms_[column] for column, _ in why.parts[:4])
print(f"\n{corpus.texts[test[0]][:70]!r}\n{first} above {second}: {reasons}")
# --8<-- [end:reasons]

# --8<-- [start:costs]
# Billions of parameters, from the names of the models, stand for prices.
sizes = [float(re.search(r"(\d+)b", name)[1]) for name in corpus.labels]
sure = BootstrapRanker(ranker(selected), n_samples=10).fit(X[train], graphs[train])
curve = sure.cost_curve(
    X[test], sizes, scores[test], quality=0.02, chances=(0.1, 0.3, 0.5, 0.7, 0.9)
)
print("\nchance   mean size   mean score")
for row in zip(*curve, strict=True):
    print("{:6.1f}{:12.1f}{:13.3f}".format(*row))

mpl.rcParams["svg.hashsalt"] = "routing"
axes = Figure(figsize=(6, 3.5), layout="constrained").subplots()
axes.plot(curve.cost, curve.quality, "o-", label="cheapest good model per prompt")
axes.plot(sizes, scores[test].mean(axis=0), "s", label="one model for all prompts")
axes.set(xlabel="mean size, billions of parameters", ylabel="mean score")
axes.legend()
axes.figure.savefig("routing.svg")
# --8<-- [end:costs]
