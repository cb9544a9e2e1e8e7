"""Files that hold a hierarchy of labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from arcrank._wording import is_are, some_names
from arcrank.errors import FormatError, GraphError, InputError
from arcrank.graphs import Hierarchy

if TYPE_CHECKING:
    from arcrank.datasets.corpus import Corpus

__all__ = ["check_hierarchy", "read_hierarchy", "read_tree"]

Parents = dict[str, str | None]
"""The parent of each label of a hierarchy."""


def read_tree(path: Path) -> Parents:
    """Read a hierarchy, and refuse cycles and parents that are missing."""
    try:
        return Hierarchy(read_hierarchy(path)).parents
    except GraphError as error:
        raise FormatError(f"{path}: {error}") from error


def read_hierarchy(path: Path) -> Parents:
    """Read a JSON object {"label": parent or null}, or lines `child<TAB>parent` with an empty parent at the top."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FormatError(f"{path}: the hierarchy cannot be read ({error.strerror}).\n{_HIERARCHY_HELP}") from None
    except ValueError as error:
        raise FormatError(f"{path}: this is not a text file ({error}).\n{_HIERARCHY_HELP}") from None
    try:
        parents = json.loads(text) if text.lstrip().startswith("{") else _parent_lines(text)
    except ValueError as error:
        raise FormatError(f"{path}: this is not a hierarchy ({error}).\n{_HIERARCHY_HELP}") from None
    if not all(parent is None or isinstance(parent, str) for parent in parents.values()):
        raise FormatError(f"{path}: a parent is neither a name nor null.\n{_HIERARCHY_HELP}")
    return parents


_HIERARCHY_HELP = (
    'Give --hierarchy a file with a JSON object {"label": "parent" or null}, or lines of child<TAB>parent.'
)


def check_hierarchy(parents: Parents, path: Path, corpus: Corpus) -> None:
    """Refuse documents whose labels are not in the tree."""
    if corpus.label_sets is None:
        raise InputError(f"{corpus.source}: --hierarchy needs label sets, not layers or arcs.\nOmit --hierarchy.")
    rows: dict[str, int] = {}
    for row, labels in enumerate(corpus.label_sets):
        for label in labels:
            if label not in parents:
                rows.setdefault(label, row)
    missing = list(rows)
    if missing:
        raise InputError(
            f"{corpus.source}: {is_are(len(missing), 'label')} not in {path}: {some_names(missing)}; "
            f"the first is in {_document(corpus, rows[missing[0]])}.\n"
            "Add them to the hierarchy, each with its parent, or remove them from the data.\n"
            f"To see more of them: arcrank check {corpus.source} --hierarchy {path}"
        )


def _document(corpus: Corpus, row: int) -> str:
    name = None if corpus.ids is None else corpus.ids[row]
    return f"document {row + 1:,}" if name is None else f"document {name!r}"


def _parent_lines(text: str) -> Parents:
    """Read lines of child and parent; parents without a line are top labels."""
    parents: Parents = {}
    for place, line in enumerate(text.splitlines(), start=1):
        child, tab, parent = line.partition("\t")
        if line.strip() and (not tab or not child):
            raise ValueError(f"line {place} is not child<TAB>parent")
        if line.strip():
            parents[child] = parent.strip() or None
    return {parent: None for parent in parents.values() if parent is not None and parent not in parents} | parents
