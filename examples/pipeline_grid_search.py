"""A ranker in a scikit-learn Pipeline, its parameters chosen by GridSearchCV with a measure of rankings."""

# --8<-- [start:search]
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline

from arcrank import LogLinearRanker
from arcrank.datasets import load_debtags_sample
from arcrank.metrics import scorer
from arcrank.text import TextFeatures

corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")

pipeline = Pipeline([("words", TextFeatures()), ("ranker", LogLinearRanker(tol=1e-2, random_state=0))])
grid = {
    "words__ngrams": [1, 2],
    "ranker__C": [10, 100],
    "ranker__fit_intercept": [True, False],
}
search = GridSearchCV(
    pipeline,
    grid,
    scoring={"order": scorer("average_precision"), "first": scorer("one_error"), "five": scorer("recall_at", r=5)},
    refit="order",
    cv=KFold(2, shuffle=True, random_state=0),
)
search.fit(train.texts, train.graphs())
# --8<-- [end:search]

# --8<-- [start:results]
found = search.cv_results_
print("n-grams     C  intercept   average precision  one-error  recall at 5")
for n, parameters in enumerate(found["params"]):
    print(
        f"{parameters['words__ngrams']:7}{parameters['ranker__C']:6}{parameters['ranker__fit_intercept']!s:>11}"
        f"{found['mean_test_order'][n]:20.3f}{-found['mean_test_first'][n]:11.3f}{found['mean_test_five'][n]:13.3f}"
    )
best = search.best_estimator_
print("\nchosen:", search.best_params_)
print(f"average precision on the test packages: {search.score(test.texts, test.graphs()):.3f}")
# --8<-- [end:results]

# --8<-- [start:use]
# A Pipeline hands on `predict`, but not `rank`: the last step ranks what the steps before it make of the text.
features = best[:-1].transform(["a small text editor for the terminal, written in C"])
print(*best[-1].rank(features, top=4)[0])
# --8<-- [end:use]
