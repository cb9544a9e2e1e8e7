"""What `arcrank check --hierarchy` concludes from a tree of labels beside the labels of the data."""

from __future__ import annotations

from collections.abc import Iterator

from arcrank._wording import count, is_are
from arcrank.datacheck.findings import Finding, some_labels
from arcrank.datacheck.stats import CorpusStats
from arcrank.graphs import Hierarchy

__all__ = ["of_hierarchy"]


def of_hierarchy(tree: Hierarchy, path: str, surveys: list[CorpusStats]) -> list[Finding]:
    """What a file has that the tree cannot take, and the labels of the tree that the first file never names."""
    return [*(one for found in surveys for one in _beside(found, tree)), *_unused(tree, path, surveys[0])]


def _beside(found: CorpusStats, tree: Hierarchy) -> Iterator[Finding]:
    others = found.n_rows - found.kinds["labels"]
    if others:
        message = f"{count(others, 'row')} with layers, rankings, arcs or grades, which a hierarchy cannot take"
        yield Finding("serious", "no label sets", found.path, message, "give label sets, or no hierarchy", others)
    missing = sorted(set(found.labels) - set(tree.labels))
    if missing:
        message = f"{is_are(len(missing), 'label')} not in the hierarchy: {some_labels(missing)}"
        remedy = "add them to the hierarchy: train refuses them"
        yield Finding("serious", "labels missing in the hierarchy", found.path, message, remedy, len(missing))


def _unused(tree: Hierarchy, path: str, found: CorpusStats) -> Iterator[Finding]:
    """A label occurs where one below it does."""
    used = {above for label in found.labels if label in tree.parents for above in tree.path(label)}
    unused = [label for label in tree.labels if label not in used]
    if unused:
        verb = "occurs" if len(unused) == 1 else "occur"
        message = f"{count(len(unused), 'label')} of the hierarchy never {verb}: {some_labels(unused)}"
        yield Finding(
            "note", "labels that never occur", path, message, "examples are needed to learn them", len(unused)
        )
