"""A vote on taste: who likes what, on the whole and for a new person."""

# --8<-- [start:votes]
import numpy as np

from arcrank import BradleyTerry, LogLinearRanker
from arcrank.datasets import load_label_ranking
from arcrank.evaluation import LeaderboardReport
from arcrank.graphs import Votes
from arcrank.metrics import kendall_tau

# Each row of this corpus ranks 6 labels; each person is asked about four pairs only.
corpus = load_label_ranking("glass")
X = (corpus.X - corpus.X.mean(axis=0)) / corpus.X.std(axis=0)
random = np.random.default_rng(0)
people = np.repeat(np.arange(len(corpus)), 4)
a = random.integers(len(corpus.labels), size=len(people))
b = (a + random.integers(1, len(corpus.labels), size=len(people))) % len(corpus.labels)
first, second = corpus.ranks[people, a], corpus.ranks[people, b]
outcomes = np.where(first < second, "a", np.where(first > second, "b", "tie"))
judges = [f"group {person % 5}" for person in people]
names = np.array(corpus.labels, dtype=object)
votes = Votes.from_columns(
    names[a], names[b], outcomes=outcomes, cases=people, judges=judges
)
print(votes)
# --8<-- [end:votes]

# --8<-- [start:board]
report = LeaderboardReport.from_votes(votes, n_samples=100)
print(report)
model = BradleyTerry().fit(votes)
best, second = model.rank()[:2]
low, high = model.above_interval(best, second)
probability = model.predict_above_proba(best, second)
print(
    f"\nP({best} above {second}) {probability:.2f}, 90 % from {low:.2f} to {high:.2f}"
)
# --8<-- [end:board]

# --8<-- [start:person]
# What a person likes depends on the person: votes with features.
train = np.arange(len(corpus)) % 3 > 0
given = votes[train[votes.case]].graphs().graphs[np.flatnonzero(train)]
ranker = LogLinearRanker("disagreement", arc_weights="count", C=1.0).fit(
    X[train], given
)
overall = np.tile(
    BradleyTerry().fit(votes[train[votes.case]]).strengths_, ((~train).sum(), 1)
)
new = corpus.ranks[~train]
print(f"\nKendall's tau with the rankings of {len(new)} new people")
print(f"the same order for all   {kendall_tau(new, overall):.2f}")
print(
    f"an order for each        {kendall_tau(new, ranker.score_labels(X[~train])):.2f}"
)
# --8<-- [end:person]

# --8<-- [start:picture]
report.plot().figure.savefig("taste_vote.svg")
# --8<-- [end:picture]
