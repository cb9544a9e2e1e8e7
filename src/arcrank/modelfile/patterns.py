r"""Which token patterns a model file may hold: those that are proven to take linear time on any text.

A pattern such as `(a+)+b` tries all ways to cut a run of a's and hangs on forty characters; `[a-z]+;` looks at the rest
of a run from each of its characters. The proof covers only patterns of this form, which take at most a hundred steps
per character: an optional `\b`, at most 100 single characters or classes, the last of which may be repeated without
limit, and an optional `\b`. Such a pattern backtracks over a run in one case only, if the run is not followed by the
end of a word, and that is refused unless it happens at most once per word:

- `\w+\b`: a run of all word characters always ends where a word ends;
- `\b[a-z]+\b`, a class of word characters after `\b`: matching starts at the first character of a word only.
"""

from __future__ import annotations

import re
import warnings
from importlib import import_module
from typing import Any

__all__ = ["is_linear"]

_LONGEST = 200
_MOST_STEPS = 100
_KNOWN = (r"(?u)\b\w\w+\b", r"(?u)\b\w+\b")  # allowed even if Python's parser changes
_ONE_CHARACTER = ("LITERAL", "NOT_LITERAL", "ANY", "IN")
_WORD = [("CATEGORY", "CATEGORY_WORD")]


def is_linear(pattern: str) -> bool:
    r"""Whether finding all matches is proven to take time in proportion to the text; False means no proof.

    >>> [is_linear(pattern) for pattern in (r"(?u)\b\w\w+\b", r"[A-Za-z]{3,}", r"\S+", r"(a+)+b", r"[a-z]+;")]
    [True, True, True, False, False]
    """
    items = _parsed(pattern)
    if pattern in _KNOWN or items is None:
        return pattern in _KNOWN
    after, items = _without_boundary(items, 0)
    before, items = _without_boundary(items, -1)
    counts = [_repeats(item) for item in items]
    if not items or any(count is None for count in counts):
        return False
    spans = [count for count in counts if count is not None]
    steps = sum(low for low, _, _ in spans)
    if steps > _MOST_STEPS or any(low != high for low, high, _ in spans[:-1]):
        return False
    _, high, characters = spans[-1]
    never_returns = not before or high <= _MOST_STEPS or characters == _WORD
    return never_returns or (after and all(_of_words(which) for _, _, which in spans))


def _parsed(pattern: str) -> list[Any] | None:
    """The parts of a pattern by Python's own parser, with names in place of its constants."""
    if len(pattern) > _LONGEST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [_named(item) for item in import_module("re._parser").parse(pattern)]
        except (ImportError, ValueError, ArithmeticError, RecursionError, re.error):
            return None


def _named(item: Any) -> Any:
    if isinstance(item, tuple):
        return tuple(_named(one) for one in item)
    if isinstance(item, list):
        return [_named(one) for one in item]
    return item.name if type(item).__name__ == "_NamedIntConstant" else item


def _without_boundary(items: list[Any], place: int) -> tuple[bool, list[Any]]:
    found = bool(items) and items[place] == ("AT", "AT_BOUNDARY")
    return found, (items[1:] if place == 0 else items[:-1]) if found else items


def _repeats(item: Any) -> tuple[int, float, Any] | None:
    """The fewest and most repetitions, and of which characters; None for anything else."""
    kind, what = item
    if kind in _ONE_CHARACTER:
        return 1, 1, what if kind == "IN" else [(kind, what)]
    if kind != "MAX_REPEAT":
        return None
    low, high, inner = what
    inner = [_named(one) for one in inner]
    if len(inner) != 1 or inner[0][0] not in _ONE_CHARACTER:
        return None
    return low, float("inf") if high == "MAXREPEAT" else high, _repeats(inner[0])[2]  # type: ignore[index]


def _of_words(characters: Any) -> bool:
    r"""Whether all of these characters match `\w`."""
    if characters[0][0] == "NEGATE":
        return ("CATEGORY", "CATEGORY_NOT_WORD") in characters
    return all(_of_word(kind, what) for kind, what in characters)


def _of_word(kind: str, what: Any) -> bool:
    if kind == "CATEGORY":
        return what in ("CATEGORY_WORD", "CATEGORY_DIGIT")
    low, high = what if kind == "RANGE" else (what, what)
    if kind not in ("LITERAL", "RANGE") or high > 127:
        return False
    return all(chr(code).isalnum() or chr(code) == "_" for code in range(low, high + 1))
