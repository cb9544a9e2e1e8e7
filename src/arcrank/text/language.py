"""Which language a corpus is in, by the shares of function words; and what follows for stems and stop words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import Stemmer

from arcrank.errors import ParameterError
from arcrank.text.function_words import FUNCTION_WORDS
from arcrank.text.splitting import split_lowered

__all__ = ["AUTO", "LanguageShares", "check_language", "detect_language", "stemmer_of"]

AUTO = "auto"
_DEFAULT = "english"
_MOST_TEXTS = 1000
_MOST_CHARACTERS = 2000
_FEWEST_WORDS = 10
_FEWEST_DISTINCT = 4
_SMALLEST_SHARE = 0.05
_CLEARLY = 1.25
"""How many times the share of English another language needs, so that English texts with names in it stay English."""


@dataclass(frozen=True)
class LanguageShares:
    """What `detect_language` found: the language, and which share of the words are function words of each language.

    Examples
    --------
    >>> from arcrank.text import detect_language
    >>> found = detect_language(["The house is in the city", "A house with a garden and a view of the sea"])
    >>> found.language, round(found.shares["english"], 2), found.n_texts
    ('english', 0.65, 2)
    """

    language: str
    shares: dict[str, float]
    n_texts: int
    """How many texts were read."""

    def describe(self) -> str:
        """Return one sentence for people.

        >>> from arcrank.text import detect_language
        >>> detect_language(["Die Häuser der Stadt", "Ein Haus mit einem Garten und der See"] * 5).describe()
        'The texts are in German: 50 % of the words of 10 texts are its function words (English: 0 %).'
        >>> detect_language(["oil"]).describe()
        'The texts are taken to be in English, since they hold too few function words of any language.'
        """
        share = self.shares[self.language]
        if share < _SMALLEST_SHARE:
            return "The texts are taken to be in English, since they hold too few function words of any language."
        others = {name: value for name, value in self.shares.items() if name != self.language}
        other = _DEFAULT if self.language != _DEFAULT else max(others, key=others.__getitem__)
        return (
            f"The texts are in {self.language.capitalize()}: {share:.0%} of the words of {self.n_texts:,} texts are "
            f"its function words ({other.capitalize()}: {others[other]:.0%})."
        ).replace("%", " %")


def detect_language(texts: Sequence[str]) -> LanguageShares:
    """Find the language of most texts, among those that PyStemmer has stems for; English if there is no evidence.

    A sample of up to 1,000 texts, evenly spaced, is read.

    Examples
    --------
    >>> from arcrank.text import detect_language
    >>> texts = ["Le prix du pétrole a baissé dans les pays de la région", "Il est parti avec une amie"]
    >>> detect_language(texts).language
    'french'
    """
    step = -(-len(texts) // _MOST_TEXTS) or 1
    sample = [text[:_MOST_CHARACTERS] for text in texts[::step]]
    counts = Counter(word for text in sample for word in split_lowered(text))
    total = max(1, counts.total())
    found = {name: sum(counts[word] for word in words) for name, words in FUNCTION_WORDS.items()}
    best = max(found, key=found.__getitem__)
    distinct = len(FUNCTION_WORDS[best] & counts.keys())
    enough = found[best] >= max(_FEWEST_WORDS, _SMALLEST_SHARE * total) and distinct >= _FEWEST_DISTINCT
    clear = found[best] > _CLEARLY * found[_DEFAULT]
    shares = {name: value / total for name, value in found.items()}
    return LanguageShares(best if enough and clear else _DEFAULT, shares, len(sample))


def check_language(language: object, *, auto: bool) -> None:
    """Raise a ParameterError unless this names a language."""
    if language is None or (isinstance(language, str) and (language in FUNCTION_WORDS or (auto and language == AUTO))):
        return
    hint = "" if auto or language != AUTO else " A stream cannot be read in advance to find its language."
    choices = ("'auto', " if auto else "") + "None, " + ", ".join(map(repr, FUNCTION_WORDS))
    raise ParameterError(f"language must be one of {choices}; got {language!r}.{hint}")


def stemmer_of(language: str | None) -> bool | str:
    """Return what `Tokenizer(stem=...)` takes: Porter's stems for English; none where this PyStemmer has none.

    >>> stemmer_of("english"), stemmer_of("german"), stemmer_of(None)
    (True, 'german', False)
    """
    if language == _DEFAULT:
        return True
    return language if language in Stemmer.algorithms() and language is not None else False
