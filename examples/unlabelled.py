"""A few tagged packages and many without tags: let AutoRanker use both."""

# --8<-- [start:data]
from collections import Counter

from arcrank import AutoRanker
from arcrank.datasets import load_debtags_sample
from arcrank.graphs import as_graphs
from arcrank.metrics import average_precision, ranking_loss

corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")
counts = Counter(tag for tags in train.label_sets for tag in tags)
frequent = {tag for tag, count in counts.items() if count >= 100}


def tags_of(part):
    return [[tag for tag in tags if tag in frequent] for tags in part.label_sets]


# --8<-- [end:data]

# --8<-- [start:learn]
known = tags_of(train)[::30]  # one package of thirty has tags
y = [None] * len(train)  # None: nobody has looked
y[::30] = known

# One family of rankers, to be fast; by default several are compared.
settings = {"learners": ["preference-machine"], "max_members": 1}
settings["parameters"] = {"decomposition": "domination", "loss": "squared-hinge"}

alone = AutoRanker(**settings).fit(train.texts[::30], known)
both = AutoRanker(**settings).fit(train.texts, y)
# --8<-- [end:learn]

# --8<-- [start:use]
truth = as_graphs(tags_of(test), kind="sets", labels=alone.labels_)
rest = len(train) - len(known)
print(f"{len(known)} tagged packages, {rest:,} others, {len(frequent)} tags\n")
print(f"{'':22}average precision  ranking loss")
for name, model in (("tagged packages", alone), ("tagged and others", both)):
    scores = model.score_labels(test.texts)
    precision, loss = average_precision(truth, scores), ranking_loss(truth, scores)
    print(f"{name:22}{precision:17.3f}{loss:14.3f}")

print("\nwhat was compared, by cross-validation on the tagged packages:")
for trial in both.trials_:
    used = trial["parameters"].get("features")
    weight = trial["parameters"].get("tentative_weight")
    if used or weight is not None:
        what = used or f"tentative preferences of weight {weight}"
        print(f"{trial['value']:.3f}  {what}")
print("selected:", both.selected_.rpartition("; ")[2].rstrip(")"))
# --8<-- [end:use]
