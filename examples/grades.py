"""Grades from 1 to 5: one projection, and thresholds between the grades."""

# --8<-- [start:data]
import numpy as np

from arcrank import LogLinearRanker, OrdinalRanker, PRankRanker

random = np.random.default_rng(0)
likes = random.normal(size=6)


def reviews(n):
    """Features of n books, and the stars that a reader gave them."""
    X = random.normal(size=(n, len(likes)))
    joy = X @ likes + random.logistic(size=n)
    return X, 1 + np.digitize(joy, [-4.0, -1.5, 1.5, 4.0])


X, stars = reviews(100)
X_new, stars_new = reviews(2000)
# --8<-- [end:data]

# --8<-- [start:learn]
rankers = {
    "all thresholds": OrdinalRanker(),
    "immediate thresholds, hinge": OrdinalRanker("immediate", "hinge"),
    "proportional odds": OrdinalRanker(loss="proportional-odds"),
    "PRank, 20 passes": PRankRanker(20, average=True),
    "five classes, no order": LogLinearRanker(),
}
print(f"{'':30}off by   wrong")
for name, ranker in rankers.items():
    error = np.abs(ranker.fit(X, stars).predict(X_new) - stars_new)
    print(f"{name:30}{error.mean():.2f}{(error > 0).mean():9.2f}")
# --8<-- [end:learn]

# --8<-- [start:use]
ranker = rankers["proportional odds"]
print("\nthresholds:", ranker.thresholds_.round(1))
print("projection of a new book:", ranker.project(X_new[:1]).round(1))
print("probabilities:", ranker.predict_proba(X_new[:1])[0].round(2))
print("stars, the most likely first:", ranker.rank(X_new[:1])[0])
# --8<-- [end:use]
