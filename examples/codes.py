"""Short codes of labels: few weights, and labels that lie near each other."""

# --8<-- [start:learn]
import numpy as np

from arcrank import PreferenceMachine
from arcrank.datasets import load_debtags_sample
from arcrank.metrics import average_precision
from arcrank.text import TextFeatures

corpus = load_debtags_sample()
train, test = corpus.split("train"), corpus.split("test")
words = TextFeatures()
X, Y = words.fit_transform(train.texts), train.indicator()
X_test, Y_test = words.transform(test.texts), test.indicator()

k, d, length = Y.shape[1], X.shape[1], 10
random_codes = np.linalg.qr(np.random.default_rng(0).standard_normal((k, length)))[0]
settings = {
    "decomposition": "domination",
    "loss": "squared-hinge",
    "C": 10,
    "tol": 0.03,
    "random_state": 0,
}
machines = {
    "no codes": PreferenceMachine(**settings),
    "random codes": PreferenceMachine(**settings, codes=random_codes),
    "learnt codes": PreferenceMachine(**settings, codes="learn", code_length=length),
}
for name, machine in machines.items():
    precision = average_precision(Y_test, machine.fit(X, Y).score_labels(X_test))
    weights = k * d if machine.codes is None else length * (k + d)
    print(f"{name:13} {weights:7,} weights, average precision {precision:.2f}")
# --8<-- [end:learn]

# --8<-- [start:objective]
first, *_, last = (entry["loss"] for entry in machine.history_)
print(f"the objective falls to {last / first:.2f} of its value after the first step")
# --8<-- [end:objective]

# --8<-- [start:near]
codes = machine.codes_ / np.linalg.norm(machine.codes_, axis=1, keepdims=True)
for tag in ("devel::library", "interface::x11", "uitoolkit::qt"):
    near = np.argsort(-codes @ codes[train.labels.index(tag)])[1:3]
    print(f"near {tag}:", ", ".join(train.labels[at] for at in near))
# --8<-- [end:near]
