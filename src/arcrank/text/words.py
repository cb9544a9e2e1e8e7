"""Text -> words: split, lower case, digits, stop list, stems.

Splitting is one `str.translate` and one `str.split`, both in C. Everything after it (digits, stop list, stems)
depends on the word alone, so a corpus pays for it once per *distinct* word.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import Stemmer
from numpy.typing import NDArray

from arcrank._validation import check_int
from arcrank.errors import InputError, ParameterError
from arcrank.text.splitting import split_lowered, split_words
from arcrank.text.stopwords import STOP_WORDS

__all__ = ["NUMBER", "TokenIds", "Words", "checked_texts", "merge_words", "number_words"]

NUMBER = "#"
"""What a run of digits becomes under `digits="token"`; no other word can hold it, being no letter."""

_DIGIT_RUNS = re.compile(r"\d+")
_DIGITS = ("token", "keep", "drop")
_MISSING = ("None", "nan", "<NA>", "NaT")
"""How the missing values of Python, NumPy and pandas print."""


class TokenIds(NamedTuple):
    """A tokenised corpus of n texts: row i is `words[j] for j in ids[indptr[i]:indptr[i + 1]]`."""

    words: list[str]
    """The distinct words, sorted."""
    ids: NDArray[np.int32]
    """(number of tokens,), in reading order."""
    indptr: NDArray[np.int64]
    """(n + 1,)"""


class Words:
    """Cuts texts into words; the parameters are those of `Tokenizer`, which adds what scikit-learn needs."""

    def __init__(
        self,
        *,
        lowercase: bool = True,
        digits: str = "token",
        stop_words: bool | str | Collection[str] | None = "english",
        stem: bool | str = True,
        min_length: int = 1,
    ) -> None:
        self.lowercase = lowercase
        self.digits = digits
        self.stop_words = stop_words
        self.stem = stem
        self.min_length = min_length

    def __call__(self, text: str) -> list[str]:
        """Return the words of one text, in reading order."""
        if not isinstance(text, str):
            raise InputError(f"a tokenizer takes one string, got {type(text).__name__}; use encode for many texts")
        raw = self._splitter()(text)
        distinct = list(dict.fromkeys(raw))
        final = dict(zip(distinct, self._finisher()(distinct), strict=True))
        return [word for word in map(final.__getitem__, raw) if word]

    def encode(self, texts: Iterable[str]) -> TokenIds:
        """Return all the words of many texts as numbers; the fast path for whole corpora."""
        finish, split = self._finisher(), self._splitter()
        raw, ids, indptr = number_words(texts, split)
        return merge_words(finish(raw), ids, indptr)

    def _splitter(self) -> Callable[[str], list[str]]:
        return split_lowered if self.lowercase else split_words

    def _finisher(self) -> Callable[[list[str]], list[str]]:
        """Return the function that takes raw words to final ones, with "" for those left out."""
        replace = self._digit_rule()
        stop, shortest = self._stop_set(), self._shortest()
        stems = self._stemmer()

        def finish(words: list[str]) -> list[str]:
            words = replace(words)
            kept = ["" if w in stop or (len(w) < shortest and w != NUMBER) else w for w in words]
            return stems(kept)

        return finish

    def _digit_rule(self) -> Callable[[list[str]], list[str]]:
        if self.digits not in _DIGITS:
            raise ParameterError(f"digits must be one of {_DIGITS}, got {self.digits!r}")
        if self.digits == "keep":
            return lambda words: words
        into = NUMBER if self.digits == "token" else ""
        return lambda words: [_DIGIT_RUNS.sub(into, word) for word in words]

    def _stop_set(self) -> frozenset[str]:
        words = self.stop_words
        if words is None or words is False:
            return frozenset()
        if words is True or (isinstance(words, str) and words in STOP_WORDS):
            return STOP_WORDS["english" if words is True else words]
        # A collection, because an iterator would be used up by the first text.
        if isinstance(words, str | bytes) or not isinstance(words, Collection):
            raise ParameterError(
                f"stop_words must be None, a list of words or the name of a language ({', '.join(STOP_WORDS)}), got "
                f"{words!r}"
            )
        if not all(isinstance(word, str) for word in words):
            raise ParameterError("stop_words must hold strings only")
        split = self._splitter()
        return frozenset(part for word in words for part in split(word))

    def _shortest(self) -> int:
        return check_int("min_length", self.min_length, at_least=1)

    def _stemmer(self) -> Callable[[list[str]], list[str]]:
        # Created for each call (0.4 microseconds): PyStemmer's objects neither pickle nor may be shared by threads.
        if not self.stem:
            return lambda words: words
        name = "porter" if self.stem is True else self.stem
        if name not in Stemmer.algorithms():
            raise ParameterError(f"stem must be True, False or one of {Stemmer.algorithms()}, got {self.stem!r}")
        stem = Stemmer.Stemmer(name).stemWords
        # As in Porter's own program; PyStemmer's would turn "s" into nothing.
        return lambda words: [w if len(w) < 3 else s for w, s in zip(words, stem(words), strict=True)]


def checked_texts(texts: Iterable[Any]) -> Iterator[str]:
    """Yield the texts, or raise an InputError that names the first row that is not a string."""
    if isinstance(texts, str | bytes):
        raise InputError("expected a list of texts, got one string; wrap it: [text]")
    if getattr(texts, "ndim", 1) != 1:
        raise InputError(
            f"expected one text per row, got an array of shape {getattr(texts, 'shape', None)}; pass its text column"
        )
    try:
        rows = iter(texts)
    except TypeError:
        raise InputError(f"expected a list of texts, got {type(texts).__name__}") from None
    for row, text in enumerate(rows):
        if not isinstance(text, str):
            raise InputError(_not_text(row, text))
        yield text


def _not_text(row: int, value: object) -> str:
    if isinstance(value, bytes):
        return f"text {row} is bytes; decode it first, e.g. text.decode('utf-8')"
    if str(value) in _MISSING:
        return f"text {row} is missing ({value!r}); drop the row or replace it by an empty string"
    return f"text {row} is {type(value).__name__}, not a string: {value!r:.60}; convert it with str()"


class _Numbers(dict[str, int]):
    """Gives each new word the next number."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def number_words(
    texts: Iterable[str], split: Callable[[str], list[str]]
) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64]]:
    """Return the distinct words in order of appearance, their numbers in reading order, and the row limits."""
    numbers, ids, ends = _Numbers(), array("i"), array("q", [0])
    for text in checked_texts(texts):
        ids.extend(map(numbers.__getitem__, split(text)))
        ends.append(len(ids))
    return list(numbers), np.frombuffer(ids, dtype=np.int32), np.frombuffer(ends, dtype=np.int64)


def merge_words(finals: list[str], ids: NDArray[np.int32], indptr: NDArray[np.int64]) -> TokenIds:
    """Renumber raw words by their sorted final forms and drop those whose final form is empty."""
    words = sorted(set(finals) - {""})
    numbers = {word: number for number, word in enumerate(words)}
    table = np.array([numbers.get(word, -1) for word in finals], dtype=np.int32)
    new = table[ids] if len(table) else ids
    kept = new >= 0
    before = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
    return TokenIds(words, new[kept], before[indptr])
