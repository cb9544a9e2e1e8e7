"""Small things that the reporting commands share: names and counts for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arcrank.cli.output import printable
from arcrank.errors import ParameterError

if TYPE_CHECKING:
    from arcrank.datasets.order import LabelOrder

__all__ = ["check_place", "clipped", "count", "few_judge", "has_have", "in_runs", "is_are", "shown_path"]

_FEW_DOCUMENTS = 20


def clipped(text: str, width: int = 60) -> str:
    """The text on one line, without control characters and at most `width` long.

    >>> clipped("a" + chr(10) + "b"), clipped("abcdef", 4)
    ('a\\\\nb', 'abc…')
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


def few_judge(n: int) -> str:
    """A caution where so many documents judge; empty where they are enough.

    >>> few_judge(1), few_judge(20)
    ('Judged by 1 document only: other documents may well give other figures.', '')
    """
    enough = n >= _FEW_DOCUMENTS
    return "" if enough else f"Judged by {count(n, 'document')} only: other documents may well give other figures."


def has_have(n: int, thing: str) -> str:
    """The number with its noun and verb.

    >>> has_have(1, "row"), has_have(3, "row")
    ('1 row has', '3 rows have')
    """
    return f"{count(n, thing)} {'has' if n == 1 else 'have'}"


def in_runs(order: LabelOrder) -> str:
    """What is found of the order of a file whose labels come in runs."""
    return (
        f"sorted or grouped by label: documents next to each other share {order.likeness:.0%} of their labels, where "
        f"{order.expected:.0%} would be usual in random order"
    )


def shown_path(path: str) -> str:
    """What people call a file that a command was given.

    >>> shown_path("-"), shown_path("a.csv")
    ('standard input', 'a.csv')
    """
    return "standard input" if path == "-" else path


def check_place(path: Path, what: str) -> None:
    """Refuse a place where no file can be written, before work is done for it."""
    if path.is_dir():
        raise ParameterError(f"{path}: this is a folder.\nGive {what} the path of a file.")
    if not path.parent.is_dir():
        raise ParameterError(f"{path}: there is no folder {path.parent}.\nMake it first, or give {what} another path.")
