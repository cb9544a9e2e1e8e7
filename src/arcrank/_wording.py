"""Text for people: counts with their nouns, names on one line, JSON on one line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

__all__ = [
    "as_json",
    "count",
    "display_path",
    "format_counts",
    "has_have",
    "is_are",
    "note_few_documents",
    "number",
    "printable",
    "some_names",
    "truncate",
]

_FEW_DOCUMENTS = 20
_ESCAPED = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def truncate(text: str, width: int = 60) -> str:
    r"""The text on one line, without control characters and at most `width` long.

    >>> truncate("a" + chr(10) + "b"), truncate("abcdef", 4)
    ('a\\nb', 'abc…')
    """
    clean = printable(text[: width + 1])
    return clean if len(clean) <= width else clean[: width - 1] + "…"


def count(n: int, thing: str) -> str:
    """The number with its noun.

    >>> count(1, "row"), count(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def is_are(n: int, thing: str) -> str:
    """The number with its noun and verb.

    >>> is_are(1, "row"), is_are(3, "row")
    ('1 row is', '3 rows are')
    """
    return f"{count(n, thing)} {'is' if n == 1 else 'are'}"


def format_counts(counts: Mapping[str, int]) -> str:
    """Reasons with their counts, the most frequent first.

    >>> format_counts({"no labels": 2, "not JSON": 1000})
    'not JSON (1,000), no labels (2)'
    """
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{reason} ({n:,})" for reason, n in ordered)


def note_few_documents(n: int) -> str:
    """A warning where measures are from few documents; empty where there are enough.

    >>> note_few_documents(1), note_few_documents(20)
    ('Measured on only 1 document; expect other documents to give other values.', '')
    """
    enough = n >= _FEW_DOCUMENTS
    return "" if enough else f"Measured on only {count(n, 'document')}; expect other documents to give other values."


def has_have(n: int, thing: str) -> str:
    """The number with its noun and verb.

    >>> has_have(1, "row"), has_have(3, "row")
    ('1 row has', '3 rows have')
    """
    return f"{count(n, thing)} {'has' if n == 1 else 'have'}"


def display_path(path: str) -> str:
    """What people call a file that a command was given.

    >>> display_path("-"), display_path("a.csv")
    ('standard input', 'a.csv')
    """
    return "standard input" if path == "-" else path


def printable(name: str) -> str:
    r"""A name on one line of a terminal: control characters and halves of characters are escaped.

    >>> printable("a" + chr(10) + "b" + chr(0xD800))
    'a\\nb\\ud800'
    """
    if name.isprintable():
        return name
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "backslashreplace").decode() for char in name
    )


def number(value: float | None) -> str:
    """A number with four digits; a dash where there is none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def as_json(value: Any) -> str:
    r"""JSON in UTF-8 on one line; what cannot be encoded, or might end the line, is escaped, so every name survives.

    >>> as_json("Öl" + chr(0xD800) + chr(0x2028))
    '"Öl\\ud800\\u2028"'
    """
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False, allow_nan=False))


def some_names(labels: Mapping[str, Any] | list[str], shown: int = 3) -> str:
    """The first few labels, and how many more there are.

    >>> some_names(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    names = ", ".join(truncate(name, 30) for name in list(labels)[:shown])
    return names if len(labels) <= shown else f"{names} and {len(labels) - shown:,} more"
