"""From rankings to label sets: by a measure, by probabilities, or with a guarantee."""

# --8<-- [start:data]
import numpy as np

from arcrank import CUT, ConformalSets, LogLinearRanker, make_ranking_pipeline
from arcrank.datasets import load_debtags_sample
from arcrank.metrics import macro_f1, micro_f1, micro_precision, micro_recall
from arcrank.text import TextFeatures

corpus = load_debtags_sample()
train, others = corpus.split("train"), corpus.split("test")
Y_train, Y_others = train.indicator().toarray(), others.indicator().toarray()

# Half of the other packages are for calibration, half for testing.
shuffled = np.random.default_rng(0).permutation(len(others))
held_out, test = np.array_split(shuffled, 2)
X_held_out, Y_held_out = [others.texts[i] for i in held_out], Y_others[held_out]
X_test, Y_test = [others.texts[i] for i in test], Y_others[test]
print(f"packages: {len(train)} train, {len(held_out)} held out, {len(test)} test")
# --8<-- [end:data]


# --8<-- [start:fit]
def train_model(set_measure):
    ranker = LogLinearRanker(
        C=100, cut_label=True, set_measure=set_measure, tol=1e-2, random_state=0
    )
    return make_ranking_pipeline(TextFeatures(), ranker).fit(train.texts, Y_train)


model = train_model("micro_f1")
text = others.texts[others.ids.index("ibritish-insane")]
scores, proba = model.score_labels([text])[0], model.predict_proba([text])[0]
print("\nibritish-insane      score  probability")
for column in model.rank([text], top=5)[0]:
    print(f"{train.labels[column]:19} {scores[column]:5.2f} {proba[column]:12.2f}")

why = model.explain(text, above=train.labels.index("made-of::dictionary"), below=CUT)
words = ", ".join(f"{word} {part:.2f}" for word, part in why.parts[:3])
print(f"made-of::dictionary is {why.margin:.2f} above the cut: {words}, ...")
# --8<-- [end:fit]


# --8<-- [start:measures]
def show(name, sets):
    measures = (micro_f1, macro_f1, micro_precision, micro_recall)
    print(f"{name:20}", *(f"{measure(Y_test, sets):10.2f}" for measure in measures))


print("\nlabel sets by          micro-F1   macro-F1  precision     recall")
show("micro_f1", model.predict(X_test))
show("macro_f1", train_model("macro_f1").predict(X_test))
# --8<-- [end:measures]

# --8<-- [start:probabilities]
# A wrong tag costs twice as much as a missing one: predict above 2 / (2 + 1).
probabilities = model.predict_proba(X_test)
chosen = probabilities > 2 / 3
show("probability > 2/3", chosen.astype(int))
print(f"precision by the probabilities alone: {probabilities[chosen].mean():.2f}")
# --8<-- [end:probabilities]

# --8<-- [start:guarantees]
print("\npromised           recall  precision  tags per set  to review")
for promise in ({"recall": 0.8}, {"precision": 0.8}):
    sets = ConformalSets(model, **promise).calibrate(X_held_out, Y_held_out)
    found, review = sets.predict(X_test), sets.needs_review(X_test)
    right, size = (found * Y_test).sum(axis=1), found.sum(axis=1)
    recall = (right / Y_test.sum(axis=1)).mean()
    precision = np.where(size > 0, right / np.maximum(size, 1), 1.0).mean()
    name = " ".join(f"{key} {value}" for key, value in promise.items())
    figures = f"{recall:10.2f} {precision:10.2f} {size.mean():13.1f}"
    print(f"{name:14} {figures} {review.mean():10.2f}")
# --8<-- [end:guarantees]

# --8<-- [start:own]
print("\ncalibrated on held-out packages")
for measure in ("micro_f1", "macro_f1", "precision>=0.9"):
    model.set_params(loglinearranker__set_measure=measure)
    model.calibrate(X_held_out, Y_held_out)  # the weights stay as they are
    show(measure, model.predict(X_test))
# --8<-- [end:own]
