"""The corpora as features and label sets of training and test documents, the same for every learner."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.preprocessing import StandardScaler, normalize

from arcrank.datasets import Corpus, load_debtags, load_mulan, load_rcv1, load_reuters21578
from arcrank.text import TextFeatures

Features = tuple[Any, Any]


class Task(NamedTuple):
    """Features `X` and indicator `Y` of the training documents, `Z` and `truth` of the test documents."""

    name: str
    X: csr_matrix
    Y: csr_matrix
    Z: csr_matrix
    truth: csr_matrix

    def digest(self) -> str:
        """Identify the task: shapes, positions of nonzero values, and their sums."""
        found = hashlib.sha256()
        for matrix in (self.X, self.Y, self.Z, self.truth):
            # a sum with six digits is the same on every machine, the values are not
            found.update(f"{matrix.shape} {matrix.sum():.6g}".encode())
            found.update(matrix.indptr.astype(np.int64).tobytes() + matrix.indices.astype(np.int64).tobytes())
        return found.hexdigest()[:16]


def words(train: Corpus, test: Corpus) -> Features:
    vectorizer = TextFeatures()
    return vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)


def as_stored(train: Corpus, test: Corpus) -> Features:
    return train.X, test.X


def unit_length(train: Corpus, test: Corpus) -> Features:
    return normalize(train.X), normalize(test.X)


def standardized(train: Corpus, test: Corpus) -> Features:
    scaler = StandardScaler().fit(train.X.toarray())
    return scaler.transform(train.X.toarray()), scaler.transform(test.X.toarray())


# the smallest first; all have the splits train and test
CORPORA: dict[str, tuple[Callable[[], Corpus], Callable[[Corpus, Corpus], Features]]] = {
    "medical": (lambda: load_mulan("medical"), unit_length),
    "enron": (lambda: load_mulan("enron"), unit_length),
    "yeast": (lambda: load_mulan("yeast"), standardized),
    "bibtex": (lambda: load_mulan("bibtex"), unit_length),
    "reuters": (lambda: load_reuters21578("modapte"), words),
    "rcv1": (load_rcv1, as_stored),
    "debtags": (load_debtags, words),
}


def load_task(name: str) -> Task:
    """Load a corpus; labels without a training document are left out of both parts."""
    load, features = CORPORA[name]
    corpus = load()
    train, test = corpus.split("train"), corpus.split("test")
    Y, truth = train.indicator(), test.indicator()
    known = np.flatnonzero(np.asarray(Y.sum(axis=0)).ravel())
    X, Z = (csr_matrix(part) for part in features(train, test))
    return Task(name, X, Y[:, known], Z, truth[:, known])
