"""Forms of the parameters that text parts have."""

from __future__ import annotations

import codecs
from encodings import normalize_encoding
from encodings.aliases import aliases
from typing import Any

import numpy as np

from arcrank.modelfile.forms import Form, Sizes, Whole
from arcrank.modelfile.patterns import is_linear

__all__ = ["MOST_WORDS", "Columns", "Dtype", "Encoding", "Fraction", "Kinds", "Range", "TokenPattern"]

MOST_WORDS = 100
"""The most words of an n-gram."""


class Columns(Form):
    """A dict from terms to columns."""

    says = "a dict from terms to columns"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return isinstance(value, dict) and all(
            isinstance(term, str) and type(column) is int for term, column in value.items()
        )


class TokenPattern(Form):
    """A regular expression that is proven to take linear time."""

    says = (
        "a pattern proven to take linear time: an optional \\b, at most 100 single characters or classes, the last one "
        "repeated or not, and an optional \\b after \\w, e.g. '(?u)\\\\b\\\\w\\\\w+\\\\b', '[A-Za-z]{3,}' or "
        "'(?u)\\\\b[^\\\\d\\\\W]+\\\\b'. Vectorize with such a pattern, or with arcrank's TextFeatures"
    )

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return isinstance(value, str) and is_linear(value)


class Encoding(Form):
    """One of Python's own text encodings."""

    says = "the name of one of Python's text encodings"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        if not isinstance(value, str) or not value.isascii():
            return False
        name = normalize_encoding(value).lower()
        known = name in aliases or name in aliases.values()
        return known and bool(codecs.lookup(name)._is_text_encoding)


class Dtype(Form):
    """A type of numbers that counts can have."""

    says = "a type of whole numbers, float32 or float64"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        kept = isinstance(value, type) and issubclass(value, np.generic)
        return kept and np.dtype(value).str[1:] in ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


class Kinds(Form):
    """A dict from columns of a table to their kinds."""

    says = "a dict from columns to their kinds"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        kinds = ("number", "flag", "category", "date", "text", "ignore")
        return isinstance(value, dict) and all(
            isinstance(column, str) and kind in kinds for column, kind in value.items()
        )


class Fraction(Form):
    """A number of texts, or a share of them."""

    says = "a number of texts, or a share from 0 to 1"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return Whole().fits(value, sizes) or (isinstance(value, float) and 0.0 <= value <= 1.0)


class Range(Form):
    """The lengths of n-grams."""

    says = f"two whole numbers from 1 to {MOST_WORDS}, the first no greater than the second"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        length = Whole(1, MOST_WORDS)
        pair = isinstance(value, list | tuple) and len(value) == 2 and all(length.fits(one, sizes) for one in value)
        return pair and value[0] <= value[1]
