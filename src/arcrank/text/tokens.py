"""`Tokenizer`: the words of `arcrank.text.words` as an object that scikit-learn can clone and search."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sklearn.base import BaseEstimator

from arcrank.text.words import NUMBER, TokenIds, Words, checked_texts, merge_words, number_words

__all__ = ["NUMBER", "TokenIds", "Tokenizer", "checked_texts", "encode_with"]


class Tokenizer(Words, BaseEstimator):
    """Cut texts into words as the papers did (Crammer & Singer 2002, section 4.1); every step is a switch.

    Words are maximal runs of letters, digits and combining marks of any script; all else separates them. Text
    that is not ASCII is brought to Unicode's NFKC form first, so that one word has one spelling. Scripts without
    spaces (Chinese, Japanese) give one word for a run.

    Parameters
    ----------
    lowercase : bool
        Lower the case of the text first.
    digits : "token", "keep" or "drop"
        Each run of digits becomes one token `#` ("1987" -> "#", "3rd" -> "#rd"), stays, or goes.
    stop_words : bool, str, None or collection of str
        Words to leave out, compared before stemming: the shipped list of function words of a language ("english" or
        True, "german", ...), none (None or False), or a custom list (which is split and lowered as the text is, so
        that "don't" stops "don" and "t").
    stem : bool or str
        Porter's stems, none, or the name of another of PyStemmer's algorithms ("english", "french", ...); words
        of one or two letters are left alone.
    min_length : int
        Shorter words are left out; `#` always stays.

    Notes
    -----
    It holds nothing but its parameters: it pickles, clones, and may be shared by threads.

    Examples
    --------
    >>> from arcrank.text import Tokenizer
    >>> Tokenizer()("In 1987, the shares of 3 companies were traded.")
    ['#', 'share', '#', 'compani', 'trade']
    >>> Tokenizer(digits="keep", stem=False, stop_words=["of"])("Crème de la crème of 1987")
    ['crème', 'de', 'la', 'crème', '1987']
    """


def encode_with(tokenizer: Callable[[str], list[str]], texts: Iterable[str]) -> TokenIds:
    """Encode texts by any callable from a text to its words; by `encode` where it has one."""
    if isinstance(tokenizer, Tokenizer):
        return tokenizer.encode(texts)
    raw, ids, indptr = number_words(texts, tokenizer)
    return merge_words(raw, ids, indptr)
