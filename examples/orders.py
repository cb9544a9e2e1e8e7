"""Learn from total orders, and from what people really give: partial orders, layers."""

# --8<-- [start:data]
import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV

from arcrank import LogLinearRanker
from arcrank.graphs import LayeredGraphs
from arcrank.metrics import kendall_tau, scorer

GENRES = ["crime", "fantasy", "history", "poetry", "romance", "science", "travel"]
random = np.random.default_rng(0)


def readers(n, taste):
    """Features of n readers, and how each orders the genres: positions, 1 = best."""
    X = random.normal(size=(n, len(taste)))
    mood = random.gumbel(
        size=(n, len(GENRES))
    )  # noise: nobody follows their features exactly
    liking = X @ taste + mood
    return X, 1 + np.argsort(np.argsort(-liking, axis=1), axis=1)


taste = random.normal(size=(5, len(GENRES)))
X, orders = readers(150, taste)
X_new, orders_new = readers(1000, taste)
# --8<-- [end:data]

# --8<-- [start:partial]
asked = (
    random.random(orders.shape) < 0.5
)  # each reader was asked about some genres only
some = np.where(asked, orders, np.nan)  # NaN = not judged

# Three layers, 0: loves it (places 1 and 2), 1: may read it (3 to 5), 2: never
layers = np.digitize(orders, [3, 6])
favourite = np.array(GENRES)[orders.argmin(axis=1)]

supervision = {
    "total orders": orders,
    "orders of some genres": some,
    "neighbours of orders": LayeredGraphs.from_rankings(orders, arcs="adjacent"),
    "three layers": LayeredGraphs.from_levels(layers),
    "the favourite": favourite,
}
# --8<-- [end:partial]


# --8<-- [start:learn]
def show(name, scores):
    print(f"{name:24}{kendall_tau(orders_new, scores):6.2f}")


print("Kendall's tau with the orders of 1,000 new readers\n")
# Each kind chooses C by the share of its own arcs that are wrong.
by_arcs = scorer("disagreement_error")
search = GridSearchCV(LogLinearRanker(), {"C": [0.1, 1, 10]}, scoring=by_arcs, cv=5)
for name, y in supervision.items():
    show(name, search.fit(X, y).best_estimator_.score_labels(X_new))

# The obvious baseline; it cannot learn from the other kinds.
show("RidgeCV on positions", -RidgeCV().fit(X, orders).predict(X_new))
show("the truth without noise", X_new @ taste)
# --8<-- [end:learn]

# --8<-- [start:use]
named = LayeredGraphs.from_rankings(some, labels=GENRES)
ranker = LogLinearRanker(C=1).fit(X, named)
print("\na new reader:", *ranker.rank(X_new[:1])[0])
print("positions:   ", ranker.predict(X_new[:1])[0])
# --8<-- [end:use]
