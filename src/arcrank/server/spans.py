"""Where the words of an explanation are in the text."""

from __future__ import annotations

from collections.abc import Iterable

from arcrank.text.splitting import split_words

__all__ = ["Spans"]


class Spans:
    """Places of words in one text, as [start, end) in characters.

    Examples
    --------
    >>> Spans("Oil, oil prices.").of(["Oil", "prices"])
    [(0, 3), (5, 8), (9, 15)]
    """

    def __init__(self, text: str) -> None:
        self._places: dict[str, list[tuple[int, int]]] = {}
        position = 0
        for word in split_words(text):
            start = text.find(word, position)
            if start < 0:  # the characters were normalised, so the word is written in another way
                continue
            position = start + len(word)
            self._places.setdefault(word.casefold(), []).append((start, position))

    def of(self, words: Iterable[str]) -> list[tuple[int, int]]:
        """Return the places of words and of the words of phrases, in order."""
        forms = {one for word in words for one in word.casefold().split()}
        return sorted({place for form in forms for place in self._places.get(form, ())})
