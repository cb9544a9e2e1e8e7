"""Labels by their letters."""

import random
import time

from arcrank.server.label_index import LabelIndex


def test_found_labels_are_those_of_a_plain_search():
    random.seed(0)
    labels = ["".join(random.choices("abAB -", k=random.randint(1, 6))) for _ in range(500)]
    labels = sorted(set(labels))
    index = LabelIndex(labels)
    for wanted in ["a", "AB", "b b", "zz", "-", "aaa", ""]:
        folded = wanted.casefold()
        begin = [name for name in labels if name.casefold().startswith(folded)]
        inside = [name for name in labels if folded in name.casefold() and name not in begin]
        found = index.find(wanted, 1000)
        assert sorted(found[: len(begin)]) == sorted(begin)
        assert sorted(found[len(begin) :]) == sorted(inside)
        assert index.find(wanted, 3) == found[:3]


def test_a_hundred_thousand_labels_are_searched_at_once():
    index = LabelIndex([f"subject {n:06} of a large thesaurus" for n in range(100_000)])
    times = []
    for wanted in ("subject 0999", "thesaurus", "999 of", "nothing"):
        start = time.perf_counter()
        index.find(wanted, 20)
        times.append(time.perf_counter() - start)
    assert sorted(times)[2] < 0.05
