"""`check`: everything that is found in training data, and in test data beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from arcrank.datacheck.findings import SEVERITIES, Finding, beyond_memory, check_one, check_pair
from arcrank.datacheck.hierarchy import check_hierarchy
from arcrank.datacheck.stats import CorpusStats, corpus_stats
from arcrank.datasets.corpus import Corpus
from arcrank.errors import InputError
from arcrank.graphs import Hierarchy

__all__ = ["check"]


def check(
    train: Corpus | CorpusStats,
    *tests: Corpus | CorpusStats,
    hierarchy: Hierarchy | Mapping[str, str | None] | None = None,
    hierarchy_name: str = "the hierarchy",
) -> list[Finding]:
    """Look for problems in data before training on them.

    Parameters
    ----------
    train : Corpus
        The data to train on.
    *tests : Corpus
        Other data, such as a test set: documents that are in two of the corpora, and labels that only the later one
        has, are found too.
    hierarchy : Hierarchy or dict of parents, optional
        The tree of labels to train with; it is compared with the labels of the data.
    hierarchy_name : str
        What findings call the hierarchy.

    Returns
    -------
    list of Finding
        The most severe first; empty where nothing was found.

    Examples
    --------
    >>> from arcrank.datasets import Corpus
    >>> texts = ["crude oil", "oil price", "oil tanker", "a tanker", "cargo ship", "oil price"]
    >>> labels = [["oil"], ["oil"], ["oil", "ship"], ["ship"], ["ship"], ["ship"]]
    >>> train = Corpus(labels=["oil", "ship"], texts=texts, label_sets=labels)
    >>> for found in check(train):
    ...     print(f"{found.severity}: {found.message}; {found.remedy}")
    warning: 1 repeated document has labels that differ from before, such as rows 2 and 6; decide which labels are right
    note: 1 document repeats an earlier row; remove repeated documents, so that none is in both train and test
    >>> test = Corpus(labels=["oil", "ship"], texts=["Crude  oil", "a ship"], label_sets=[["oil"], ["ship"]])
    >>> check(train, test)[0].kind
    'overlap'
    """
    stats = _all_stats([train, *tests])
    tree = hierarchy if isinstance(hierarchy, Hierarchy | None) else Hierarchy(hierarchy)
    found = [one for place, part in enumerate(stats) for one in check_one(part, training=place == 0)]
    found += [one for first, second in combinations(stats, 2) for one in check_pair(first, second)]
    if tree is not None:
        found += check_hierarchy(tree, hierarchy_name, stats)
    found += beyond_memory(stats[0].path, stats[0].resources(None if tree is None else len(tree)))
    return sorted(found, key=lambda one: SEVERITIES.index(one.severity))


def _all_stats(given: list[Corpus | CorpusStats]) -> list[CorpusStats]:
    sources = [one.path if isinstance(one, CorpusStats) else _source(one) for one in given]
    names = sources if len({*sources}) == len(given) and all(sources) else [*_numbered(len(given))]
    return [
        one if isinstance(one, CorpusStats) else corpus_stats(name, iter([one]))
        for name, one in zip(names, given, strict=True)
    ]


def _source(corpus: Corpus) -> str:
    if not isinstance(corpus, Corpus):
        raise InputError(f"check takes corpora, got {type(corpus).__name__}; read_corpus makes one of a file or table.")
    return corpus.source


def _numbered(n: int) -> Iterator[str]:
    """Names of corpora that have none, or that come from one source, as the splits of a corpus do."""
    yield from (f"corpus {number}" for number in range(1, n + 1))
