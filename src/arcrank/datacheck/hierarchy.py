"""Findings about a hierarchy of labels and the labels of the data."""

from __future__ import annotations

from collections.abc import Iterator

from arcrank._wording import count, is_are
from arcrank.datacheck.findings import Finding, some_labels
from arcrank.datacheck.stats import CorpusStats
from arcrank.graphs import Hierarchy

__all__ = ["check_hierarchy"]


def check_hierarchy(tree: Hierarchy, path: str, stats: list[CorpusStats]) -> list[Finding]:
    """What the tree cannot take, in each file, and the labels of the tree that the first file never names."""
    return [*(one for found in stats for one in _misfits(found, tree)), *_unused(tree, path, stats[0])]


def _misfits(found: CorpusStats, tree: Hierarchy) -> Iterator[Finding]:
    others = found.n_rows - found.kinds["labels"]
    if others:
        message = f"{count(others, 'row')} with layers, rankings, arcs or grades, which cannot be used with a hierarchy"
        remedy = "give label sets, or train without the hierarchy"
        yield Finding("serious", "no label sets", found.path, message, remedy, others)
    missing = sorted(set(found.labels) - set(tree.labels))
    if missing:
        message = f"{is_are(len(missing), 'label')} not in the hierarchy: {some_labels(missing)}"
        remedy = "add them to the hierarchy; training refuses labels that it lacks"
        yield Finding("serious", "labels missing in the hierarchy", found.path, message, remedy, len(missing))


def _unused(tree: Hierarchy, path: str, found: CorpusStats) -> Iterator[Finding]:
    """A label occurs where a label below it does."""
    used = {above for label in found.labels if label in tree.parents for above in tree.path(label)}
    unused = [label for label in tree.labels if label not in used]
    if unused:
        verb = "occurs" if len(unused) == 1 else "occur"
        message = f"{count(len(unused), 'label')} of the hierarchy never {verb}: {some_labels(unused)}"
        remedy = "add examples: without any they cannot be learnt"
        yield Finding("note", "labels that never occur", path, message, remedy, len(unused))
