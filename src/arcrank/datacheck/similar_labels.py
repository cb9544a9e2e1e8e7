"""Label names that probably mean the same label."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from unicodedata import normalize

__all__ = ["one_letter_apart", "written_alike"]

_SHORTEST, _LONGEST = 6, 60


def written_alike(labels: Iterable[str]) -> list[list[str]]:
    """Groups of labels that differ only in case, spaces or Unicode form.

    >>> written_alike(["Oil", "oil ", "ship", "OIL"])
    [['OIL', 'Oil', 'oil ']]
    """
    groups = defaultdict(list)
    for label in labels:
        groups["".join(normalize("NFKC", label).casefold().split())].append(label)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


def one_letter_apart(labels: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of longer names that differ by one letter changed, added or left out; other digits are other names.

    Two names are that close only if they share a form with one letter left out, so only such pairs are compared.

    >>> one_letter_apart(["finance", "finanse", "finances", "topic 12", "topic 13", "ship", "shop"])
    [('finance', 'finances'), ('finance', 'finanse')]
    """
    by_form = defaultdict(list)
    for label in sorted(set(labels)):
        if _SHORTEST <= len(label) <= _LONGEST:
            for form in {label, *(label[:i] + label[i + 1 :] for i in range(len(label)))}:
                by_form[form].append(label)
    pairs = {
        (a, b) for group in by_form.values() for i, a in enumerate(group) for b in group[i + 1 :] if _is_close(a, b)
    }
    return sorted(pairs)


def _is_close(a: str, b: str) -> bool:
    """Whether one change of a character that is a letter leads from a to b."""
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    rest_a, rest_b = a[start:], b[start:]
    if len(a) == len(b):
        return rest_a[1:] == rest_b[1:] and not (rest_a[0].isdigit() or rest_b[0].isdigit())
    longer, shorter = (rest_a, rest_b) if len(a) > len(b) else (rest_b, rest_a)
    return longer[1:] == shorter and not longer[0].isdigit() and longer[0] not in "+#"
