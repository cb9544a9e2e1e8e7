"""Passive-aggressive steps beside MMP, and the bounds on their mistakes."""

# --8<-- [start:learn]
import numpy as np

from arcrank import MMPRanker, OnlinePreferenceMachine
from arcrank.datasets import load_debtags_sample
from arcrank.metrics import average_precision, ranking_loss
from arcrank.text import TextFeatures

corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")
words = TextFeatures()
X, Y = words.fit_transform(train.texts), train.indicator()
X_test, Y_test = words.transform(test.texts), test.indicator()
order = np.random.default_rng(0).permutation(X.shape[0])  # not alphabetical
X, Y = X[order], Y[order]

rankers = {
    "MMP, loss 1": MMPRanker(average=True),
    "MMP, average precision": MMPRanker("average_precision", average=True),
    "online preference machine": OnlinePreferenceMachine(),
}
for name, ranker in rankers.items():
    scores = ranker.fit(X, Y).score_labels(X_test)
    loss, precision = ranking_loss(Y_test, scores), average_precision(Y_test, scores)
    print(f"{name:26} ranking loss {loss:.1%}, average precision {precision:.1%}")
# --8<-- [end:learn]

# --8<-- [start:bound]
for ranker in (rankers["MMP, loss 1"], rankers["online preference machine"]):
    mistakes = ranker.cumulative_losses_[-1, 0] * ranker.n_rounds_
    bound = ranker.hindsight(X, Y).mistake_bound()
    print(f"{type(ranker).__name__}: {mistakes:.0f} imperfect rankings of {len(order)}")
    print(f"  bound by a machine in hindsight: {bound:.0f}")
loss, best = ranker.margin_loss_, ranker.hindsight_.loss
print(f"  summed loss on the way {loss:.0f}, in hindsight {best:.0f}")
# --8<-- [end:bound]

# --8<-- [start:sets]
sets = OnlinePreferenceMachine(cut_label=True, random_state=0).fit(X, Y)
predicted = sets.predict(X_test)
shared = (predicted * Y_test.toarray()).sum()
print(f"label sets: micro-F1 {2 * shared / (predicted.sum() + Y_test.sum()):.1%}")
# --8<-- [end:sets]
