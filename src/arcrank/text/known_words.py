"""Words that remember what became of them: most words of a new text have been seen in other texts before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arcrank.text.words import Words

__all__ = ["KnownWords"]

_MOST_WORDS = 1 << 16
_WORDS_AT_ONCE = 1 << 10  # other threads do not run while PyStemmer does
_LONGEST_WORD = 32  # with these two, the memory stays below 20 MB, whatever the texts are


class KnownWords(Words):
    """Cuts texts as `Words` does, for models that read one text after the other for hours.

    Digits, stop list and stems depend on the word alone. `Words` finds them for each text anew, which is most of the
    time that a single text takes.

    Notes
    -----
    It may be shared by threads: they only ever add words, or begin anew with none.

    Examples
    --------
    >>> words = KnownWords()
    >>> words("In 1987, the shares of 3 companies were traded."), words("shares of companies")
    (['#', 'share', '#', 'compani', 'trade'], ['share', 'compani'])
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._final: dict[str, str] = {}

    def _finisher(self) -> Callable[[list[str]], list[str]]:
        return self._finish

    def _finish(self, words: list[str]) -> list[str]:
        found = list(map(self._final.get, words))
        if None not in found:
            return found  # type: ignore[return-value]
        new = [word for word, final in zip(words, found, strict=True) if final is None]
        finals = iter(self._learn(new))
        return [next(finals) if final is None else final for final in found]

    def _learn(self, words: list[str]) -> list[str]:
        finish, finals = super()._finisher(), []
        for start in range(0, len(words), _WORDS_AT_ONCE):
            finals += finish(words[start : start + _WORDS_AT_ONCE])
        if len(self._final) + len(words) > _MOST_WORDS:
            self._final = {}
        short = (pair for pair in zip(words, finals, strict=True) if len(pair[0]) <= _LONGEST_WORD)
        self._final.update(list(short)[:_MOST_WORDS])
        return finals
