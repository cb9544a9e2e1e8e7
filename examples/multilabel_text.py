"""Rank the tags of Debian packages by their descriptions, compared with one-vs-rest."""

# --8<-- [start:data]
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from arcrank import LogLinearRanker
from arcrank.datasets import load_debtags_sample
from arcrank.metrics import average_precision, coverage, one_error, ranking_loss, scorer
from arcrank.text import TextFeatures

corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")
print(f"{len(train):,} packages to learn from, {len(test):,} to test on")
print(f"{len(corpus.labels)} tags")

words = TextFeatures()
X_train, X_test = words.fit_transform(train.texts), words.transform(test.texts)
Y_train, Y_test = train.indicator(), test.indicator()  # sparse, one column per tag
graphs = train.graphs()  # the same for the ranker, with tag names
# --8<-- [end:data]

# --8<-- [start:fit]
# One held-out quarter of the training packages chooses C for both, by the same measure.
# It is drawn at random: packages are sorted by name, and neighbours are alike.
choice = {
    "scoring": scorer("average_precision"),
    "cv": ShuffleSplit(1, test_size=0.25, random_state=0),
}

ranker = LogLinearRanker(fit_intercept=False, tol=1e-2, random_state=0)
ranker = GridSearchCV(ranker, {"C": [10, 100, 300]}, **choice)
ranker.fit(X_train, graphs)

one_vs_rest = OneVsRestClassifier(LinearSVC(random_state=0))
one_vs_rest = GridSearchCV(one_vs_rest, {"estimator__C": [0.3, 1, 3]}, **choice)
one_vs_rest.fit(X_train, Y_train)

print("chosen:", ranker.best_params_, one_vs_rest.best_params_)
# --8<-- [end:fit]

# --8<-- [start:measure]
scores = {
    "LogLinearRanker": ranker.best_estimator_.score_labels(X_test),
    "OneVsRest": one_vs_rest.decision_function(X_test),
}
measures = (average_precision, ranking_loss, one_error, coverage)
print(f"\n{'':15}", *(f"{measure.__name__:>17}" for measure in measures))
for name, found in scores.items():
    print(f"{name:15}", *(f"{measure(Y_test, found):17.3f}" for measure in measures))

print("\nmean difference over the test packages, and its standard error:")
for measure in measures:
    ours, theirs = (measure(Y_test, found, reduce="none") for found in scores.values())
    mean, error = (ours - theirs).mean(), (ours - theirs).std() / len(test) ** 0.5
    print(f"{measure.__name__:17} {mean:+.3f} ± {error:.3f}")

package = test.ids.index("gnome-calendar")
print("\ngnome-calendar, the best five tags, and * where people agree:")
for tag in ranker.best_estimator_.rank(X_test[package], top=5)[0]:
    print(" *" if tag in test.label_sets[package] else "  ", tag)
# --8<-- [end:measure]
