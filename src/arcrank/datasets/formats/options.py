"""The options of the readers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

from arcrank.datasets.formats.lines import RowError
from arcrank.graphs.base import name_fault

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """Rows per block, the allowed labels (None: any), and what only some formats have.

    With `labelled=False` rows need no labels, and those that they have are ignored. Blocks then hold what has arrived:
    a row from a pipe does not wait for the next one, and the rows before one that cannot be read are yielded before the
    error. `takes` ("text" or "features") is what the model that will rank the rows takes; `blank_lines` makes blank
    lines documents if a line is a text, so that document n is line n.

    `text_column` and `label_column` are columns of tables and fields of JSON objects, None for the usual names. A
    `label_separator` of None is the default of the format; an empty one means that a cell is one label. `better` and
    `margin` say what scores of labels mean. Votes without a text are read if `caseless`.
    """

    batch_rows: int
    labels: list[str] | None = None
    n_features: int | None = None
    header: bool | None = None
    delimiter: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    label_separator: str | None = None
    better: str = "higher"
    margin: str = "binary"
    caseless: bool = False
    labelled: bool = True
    takes: str | None = None
    blank_lines: bool = False
    note: Callable[[str], object] = warnings.warn
    known: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Store the allowed labels as a set too."""
        object.__setattr__(self, "known", frozenset(self.labels or ()))

    def check_labels(self, names: list[str]) -> None:
        """Raise a `RowError` for an invalid name, or one outside the given vocabulary."""
        for name in names:
            if fault := name_fault(name):
                raise RowError("invalid labels", f"the name {name!r} {fault}")
        if self.labels is not None and not self.known.issuperset(names):
            unknown = next(name for name in names if name not in self.known)
            raise RowError("label not in the vocabulary", repr(unknown))
