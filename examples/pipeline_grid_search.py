"""A ranker in a Pipeline, its parameters chosen by a measure of rankings."""

# --8<-- [start:search]
from sklearn.model_selection import GridSearchCV

from arcrank import LogLinearRanker, RankingPipeline
from arcrank.datasets import load_debtags_sample
from arcrank.metrics import scorer
from arcrank.model_selection import StratifiedFolds
from arcrank.text import TextFeatures

corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")

ranker = LogLinearRanker(tol=1e-2, random_state=0)
pipeline = RankingPipeline([("words", TextFeatures()), ("ranker", ranker)])
grid = {
    "words__ngrams": [1, 2],
    "ranker__C": [10, 100],
    "ranker__fit_intercept": [True, False],
}
search = GridSearchCV(
    pipeline,
    grid,
    scoring={
        "order": scorer("average_precision"),
        "first": scorer("one_error"),
        "five": scorer("recall_at", r=5),
    },
    refit="order",
    cv=StratifiedFolds(2, random_state=0),
)
search.fit(train.texts, train.graphs())
# --8<-- [end:search]

# --8<-- [start:results]
found = search.cv_results_
print("    C  intercept  n-grams   average precision  one-error  recall at 5")
for n, (C, intercept, ngrams) in enumerate(p.values() for p in found["params"]):
    order, first, five = (found[f"mean_test_{name}"][n] for name in search.scoring)
    print(f"{C:5}{intercept!s:>11}{ngrams:9}{order:20.3f}{-first:11.3f}{five:13.3f}")

print("\nchosen:", *search.best_params_.items(), sep="\n  ")
final = search.score(test.texts, test.graphs())
print(f"average precision on the test packages: {final:.3f}")
# --8<-- [end:results]

# --8<-- [start:use]
best = search.best_estimator_
text = "a small text editor for the terminal, written in C"
print(*best.rank([text], top=4)[0])

first, second = best.rank([text], top=2)[0]
why = best.explain(text, above=first, below=second)
print(f"{first} is above {second} because of:")
print(*(f"{part:+.2f} {words}" for words, part in why.parts[:3]), sep="\n")
# --8<-- [end:use]
