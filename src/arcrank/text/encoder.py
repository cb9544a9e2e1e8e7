"""Texts -> features on arrays: what fitted text features do, without scikit-learn and, for a few texts, SciPy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._csr import Csr
from arcrank._typing import Array
from arcrank.text.few import are_few, few_counts
from arcrank.text.language import stemmer_of
from arcrank.text.murmur import murmur_hashes
from arcrank.text.ngrams import Terms, count_terms, known_counts, place_terms
from arcrank.text.weights import weighed
from arcrank.text.words import Words

__all__ = ["HashEncoder", "TermEncoder", "hashed_columns", "word_options"]

_SWITCHES = ("lowercase", "digits", "stop_words", "stem", "min_length")


def word_options(parameters: Mapping[str, Any], language: str | None) -> dict[str, Any]:
    """Return the options of `Words` that text features with these parameters stand for, in a language."""
    options = {name: parameters[name] for name in _SWITCHES}
    if options["stop_words"] is True:
        options["stop_words"] = language
    if options["stem"] is True:
        options["stem"] = stemmer_of(language)
    return options


@dataclass(frozen=True)
class TermEncoder:
    """Features of the terms of a vocabulary, as `TextFeatures` computes them."""

    words: Words
    ngrams: int
    sublinear: bool
    norm: str | None
    columns: Mapping[str, int]
    idf: Array

    def transform(self, texts: Iterable[str]) -> Csr:
        """Return the features of some texts, (n, d)."""
        if are_few(texts, self.words):
            known = few_counts(self.words, self.ngrams, texts, self._places, len(self.columns))
        else:
            known = known_counts(*_counted(self, texts), self.columns)
        return weighed(known, self.idf, sublinear=self.sublinear, norm=self.norm)

    def _places(self, terms: list[str]) -> list[int]:
        return list(map(self.columns.get, terms, repeat(-1)))

    def make_tokenizer(self) -> Words:
        """Return what texts are cut by."""
        return self.words

    def get_feature_names_out(self) -> NDArray[np.object_]:
        """Return the terms, in the order of the columns."""
        return np.array(list(self.columns), dtype=object)


@dataclass(frozen=True)
class HashEncoder:
    """Features of all terms, by the hashes of their names, as `HashedTextFeatures` computes them."""

    words: Words
    ngrams: int
    sublinear: bool
    norm: str | None
    n_features: int

    def transform(self, texts: Iterable[str]) -> Csr:
        """Return the features of some texts, (n, n_features)."""
        if are_few(texts, self.words):
            hashed = few_counts(self.words, self.ngrams, texts, self._places, self.n_features)
        else:
            terms, counts = _counted(self, texts)
            hashed = place_terms(counts, hashed_columns(terms.names(), self.n_features), self.n_features)
        return weighed(hashed, None, sublinear=self.sublinear, norm=self.norm)

    def _places(self, terms: list[str]) -> list[int]:
        return hashed_columns(terms, self.n_features).tolist()

    def make_tokenizer(self) -> Words:
        """Return what texts are cut by."""
        return self.words


def _counted(encoder: TermEncoder | HashEncoder, texts: Iterable[str]) -> tuple[Terms, Csr]:
    return count_terms(encoder.words.encode(texts), encoder.ngrams)


def hashed_columns(terms: Sequence[str], n_features: int) -> NDArray[np.int32]:
    """Return the column of each term: its hash modulo the number of columns."""
    return (murmur_hashes(terms) % np.uint32(n_features)).astype(np.int32)
