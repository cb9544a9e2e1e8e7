"""Time the four errors together against scikit-learn's ranking loss alone, on RCV1's test label sets.

ARCRANK_DATA=... python -m benchmarks.errors
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import label_ranking_loss

from arcrank.datasets import load_rcv1
from arcrank.metrics import disagreement_error, dominated_error, domination_error, zero_one_error
from benchmarks.timing import alternate, first_call, peak_bytes, report


def main() -> None:
    corpus = load_rcv1().split("test")
    graphs, truth = corpus.graphs(), corpus.indicator().toarray()
    scores = np.random.default_rng(0).normal(size=graphs.shape)

    def four_errors() -> list[float]:
        return [
            error(graphs, scores) for error in (zero_one_error, disagreement_error, domination_error, dominated_error)
        ]

    print(f"{graphs!r}; first call {first_call(four_errors):.2f} s")
    tasks = {"sklearn label_ranking_loss": lambda: label_ranking_loss(truth, scores), "four errors": four_errors}
    seconds = alternate(tasks, rounds=7)
    for name, value in seconds.items():
        print(f"  {name:<30} {value * 1000:8.1f} ms")
    theirs, ours = seconds.values()
    report("label_ranking_loss / four errors", theirs / ours, 10, at_least=True)
    report("peak memory / score matrix", peak_bytes(four_errors) / scores.nbytes, 2)


if __name__ == "__main__":
    main()
