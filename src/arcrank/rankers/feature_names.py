"""What the columns of a ranker are called when a margin is explained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arcrank.text.encoder import hashed_columns
from arcrank.text.splitting import split_words

__all__ = ["FeatureNames"]


class FeatureNames:
    """Names of columns. Hashed columns have no names: they are called by the terms of the document in them.

    Parameters
    ----------
    transformers : Pipeline, optional
        The steps before the ranker.
    names : sequence of str, optional
        The names of the columns that are given: of features, where there are no transformers or they keep columns.
    """

    def __init__(self, transformers: Any = None, names: Sequence[str] | None = None) -> None:
        first = None if transformers is None else transformers[0]
        self._words: Any = getattr(first, "words_", first)  # words beside embeddings
        self._names: Any = names
        self._cuts = hasattr(self._words, "make_tokenizer")
        self._hashes = self._cuts and hasattr(self._words, "n_features")
        if transformers is not None and not self._hashes:
            # the last step before the ranker knows the columns that the ranker sees
            self._names = _names_out(transformers, names)

    def names(self, text: str | None) -> Callable[[int], str]:
        """A function from a column to its name, for one document."""
        if self._names is not None:
            return lambda column: str(self._names[column])
        found = {} if text is None else self._by_column(self._written_terms(text))
        return lambda column: " / ".join(found.get(column, [])) or f"column {column}"

    def written(self, text: str | None) -> Callable[[int], list[str]]:
        """A function from a column to what the document has there, as it is written: models know stems only."""
        terms = {} if text is None else self._written_terms(text)
        if self._names is not None:
            return lambda column: terms.get(str(self._names[column]), [])
        found = self._by_column(terms)
        return lambda column: [words for term in found.get(column, []) for words in terms[term]]

    def in_words(self, text: str | None) -> Callable[[int], str]:
        """A function from a column to the words of the document in it, or to its name where there are none."""
        name, written = self.names(text), self.written(text)
        return lambda column: ", ".join(written(column)) or name(column)

    def _by_column(self, terms: dict[str, list[str]]) -> dict[int, list[str]]:
        """The terms by the column that they are hashed to."""
        found: dict[int, list[str]] = {}
        if self._hashes:
            names = sorted(terms)
            for term, column in zip(names, hashed_columns(names, self._words.n_features).tolist(), strict=True):
                found.setdefault(column, []).append(term)
        return found

    def _written_terms(self, text: str) -> dict[str, list[str]]:
        """The terms of a text, each with the different words that it stands for."""
        if not self._cuts:
            return {}
        written = split_words(text)
        tokens = self._words.make_tokenizer().encode(
            written
        )  # each word as a text of its own, to know what becomes of it
        limits = zip(written, tokens.indptr[:-1], tokens.indptr[1:], strict=True)
        kept = [(word, tokens.words[j]) for word, low, high in limits for j in tokens.ids[low:high]]
        return _runs(kept, self._words.ngrams)


def _names_out(transformers: Any, given: Sequence[str] | None) -> list[str] | None:
    """The names that the last transformer gives its columns; None where one of the steps does not name them."""
    try:
        names: list[str] = transformers.get_feature_names_out(*([] if given is None else [given])).tolist()
    except (AttributeError, ValueError):  # no such method, or no names of the inputs to make names of
        return None
    return names


def _runs(words: list[tuple[str, str]], longest: int) -> dict[str, list[str]]:
    """From (written, final) words to runs of final ones, each with the ways that it is written, whatever their case.

    >>> _runs([("Oil", "oil"), ("prices", "price"), ("oil", "oil")], 2)
    {'oil': ['Oil'], 'price': ['prices'], 'oil price': ['Oil prices'], 'price oil': ['prices oil']}
    """
    found: dict[str, dict[str, str]] = {}
    for n in range(1, longest + 1):
        for start in range(len(words) - n + 1):
            run = words[start : start + n]
            as_written = " ".join(word for word, _ in run)
            found.setdefault(" ".join(word for _, word in run), {}).setdefault(as_written.casefold(), as_written)
    return {term: list(ways.values()) for term, ways in found.items()}
