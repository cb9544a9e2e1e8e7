"""AutoRanker: the ranker, or the average of rankers, that cross-validation selects."""

# --8<-- [start:texts]
import numpy as np

from arcrank import AutoRanker
from arcrank.datasets import load_debtags_sample
from arcrank.graphs import as_graphs
from arcrank.metrics import average_precision

corpus = load_debtags_sample()
train, test = corpus.split("train")[:250], corpus.split("test")

auto = AutoRanker().fit(train.texts, train.label_sets)
print("best tags:", *auto.rank(test.texts[:1], top=3)[0])
print("predicted:", *auto.predict(test.texts[:1])[0])
# --8<-- [end:texts]

# --8<-- [start:summary]
for trial in auto.trials_:
    if trial["selected"]:
        print(trial["learner"], trial["parameters"]["decomposition"])
print({name: round(value, 3) for name, value in auto.validation_["measures"].items()})
# --8<-- [end:summary]

# --8<-- [start:measure]
first = AutoRanker("one_error", max_members=1, learners=["log-linear"])
first.fit(train.texts, train.label_sets)
truth = test.indicator()[:, [test.labels.index(name) for name in auto.labels_]]
for name, model in (("balanced", auto), ("one_error", first)):
    precision = average_precision(truth, model.score_labels(test.texts))
    print(f"chosen by {name}: average precision {precision:.2f}")
# --8<-- [end:measure]

# --8<-- [start:features]
rows = [[5.1, 3.5, 1.4], [4.9, 3.0, 1.4], [6.3, 3.3, 6.0], [5.8, 2.7, 5.1]] * 10
ranks = np.array([[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 1, 2]] * 10)  # of three labels
ranker = AutoRanker(learners=["log-linear"]).fit(rows, as_graphs(ranks, kind="ranks"))
print("ranks:", *ranker.predict([[5.0, 3.2, 1.4]])[0])
# --8<-- [end:features]
