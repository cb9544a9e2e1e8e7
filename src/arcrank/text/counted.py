"""Texts that are counted once, so that features of any of them need no further reading."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from scipy import sparse

from arcrank.errors import InputError, ParameterError
from arcrank.text.ngrams import Terms, count_terms
from arcrank.text.tokens import Tokenizer

__all__ = ["CountedTexts", "TermReader"]


@dataclass(frozen=True)
class TermReader:
    """All that the terms of a text depend on."""

    tokenizer: Tokenizer
    ngrams: int
    language: str | None

    def count(self, texts: Iterable[str]) -> CountedTexts:
        """Count the terms of some texts."""
        terms, counts = count_terms(self.tokenizer.encode(texts), self.ngrams)
        return CountedTexts(terms, counts.matrix(), self)

    def check_same(self, other: TermReader) -> None:
        """Raise a ParameterError where the other reads other terms."""
        mine, others = self._settings(), other._settings()
        name = next((name for name in mine if mine[name] != others[name]), None)
        if name is not None:
            raise ParameterError(
                f"The texts were counted with {name}={mine[name]!r}, but these features have {name}={others[name]!r}; "
                "count the texts with them: counts = features.count(texts)."
            )

    def _settings(self) -> dict[str, Any]:
        settings = self.tokenizer.get_params()
        words = settings["stop_words"]
        listed = isinstance(words, Collection) and not isinstance(words, str)
        return {"ngrams": self.ngrams, **settings, "stop_words": sorted(set(words)) if listed else words}


@dataclass(frozen=True, repr=False)
class CountedTexts:
    """How often each of n texts holds each term: what `TextFeatures.count` returns.

    Rows are selected as in an array: `counts[rows]`, with a slice, row numbers or a mask. This takes as long as
    copying the counts of these rows; the texts are not read again.

    Attributes
    ----------
    terms : Terms
        All terms of the texts that were counted.
    matrix : CSR matrix of shape (n, number of terms)
        The counts.
    reader : TermReader
        The tokenizer, the number of words of a term and the language; features with others cannot use the counts.

    Examples
    --------
    >>> from arcrank.text import TextFeatures
    >>> features = TextFeatures(min_df=1)
    >>> counts = features.count(["crude oil", "oil price", "wheat"])
    >>> counts
    CountedTexts(3 texts, 6 terms, language 'english')
    >>> X = features.fit_transform_counts(counts[:2])
    >>> features.terms_, features.transform_counts(counts[[2]]).nnz
    (['crude', 'crude oil', 'oil', 'oil price', 'price'], 0)
    """

    terms: Terms
    matrix: sparse.csr_matrix
    reader: TermReader

    def __len__(self) -> int:
        """Return the number of texts."""
        return int(self.matrix.shape[0])

    def __getitem__(self, rows: Any) -> CountedTexts:
        """Return the counts of some rows."""
        chosen = self.matrix[rows]
        if isinstance(rows, int) or chosen.ndim != 2:
            raise InputError("Counts are indexed by a slice, a list of rows or a mask; use counts[i : i + 1].")
        return CountedTexts(self.terms, chosen, self.reader)

    def __repr__(self) -> str:
        """Summarize the sizes on one line."""
        n, d = self.matrix.shape
        return f"CountedTexts({n:,} texts, {d:,} terms, language {self.reader.language!r})"
