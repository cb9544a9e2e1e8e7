"""Where the words of an explanation are in the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from arcrank.text.splitting import split_words

__all__ = ["Spans"]

_WORDS_BETWEEN = 4  # stop words between two words of a phrase


class Spans:
    """Places of words and phrases in one text, as [start, end) in characters.

    Examples
    --------
    >>> spans = Spans("Oil, oil prices, the price of oil.")
    >>> spans.of(["Oil"]), spans.of(["price oil"])
    ([(0, 3), (5, 8), (30, 33)], [(21, 33)])
    """

    def __init__(self, text: str) -> None:
        self._words: list[str] = []
        self._places: list[tuple[int, int]] = []
        self._numbers: dict[str, list[int]] = {}
        position = 0
        for word in split_words(text):
            start = text.find(word, position)
            if start < 0:  # the characters were normalised, so the word is written in another way
                continue
            position = start + len(word)
            folded = word.casefold()
            self._numbers.setdefault(folded, []).append(len(self._words))
            self._words.append(folded)
            self._places.append((start, position))

    def of(self, phrases: Iterable[str]) -> list[tuple[int, int]]:
        """Return all places of some words and phrases, in order."""
        forms = {tuple(phrase.casefold().split()) for phrase in phrases}
        return sorted({place for form in forms if form for place in self._of_form(form)})

    def _of_form(self, form: tuple[str, ...]) -> Iterator[tuple[int, int]]:
        for first in self._numbers.get(form[0], ()):
            last: int | None = first
            for word in form[1:]:
                last = None if last is None else self._next(word, last)
            if last is not None:
                yield self._places[first][0], self._places[last][1]

    def _next(self, word: str, before: int) -> int | None:
        """The number of the next place of a word, if it is near."""
        near = self._words[before + 1 : before + 2 + _WORDS_BETWEEN]
        return before + 1 + near.index(word) if word in near else None
