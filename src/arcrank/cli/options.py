"""Options and arguments that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class DecompositionName(StrEnum):
    """The values of `--decomposition`."""

    DOMINATION = "domination"
    DOMINATED = "dominated"
    DISAGREEMENT = "disagreement"
    ZERO_ONE = "zero-one"
    IDENTITY = "identity"


class OnError(StrEnum):
    """What happens to rows that cannot be read."""

    RAISE = "raise"
    SKIP = "skip"


class FileFormat(StrEnum):
    """The formats that `arcrank.datasets` reads."""

    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    SVMLIGHT = "svmlight"
    QID = "qid"
    XC = "xc"
    PARQUET = "parquet"


class Better(StrEnum):
    """Which of two scores of labels is better."""

    HIGHER = "higher"
    LOWER = "lower"


class ScoreMargin(StrEnum):
    """What is learnt from scores of labels."""

    BINARY = "binary"
    DIFFERENCE = "difference"


DataPath = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="Documents with preferences: JSONL, CSV, svmlight, ...; - reads standard input."
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the learner or of the text features; the value is JSON (10, true, null, a list) or text.",
    ),
]
HierarchyOption = Annotated[
    Path | None,
    typer.Option(help='Rank the leaves of a tree: JSON {"label": parent or null}, or child<TAB>parent.'),
]
OnErrorOption = Annotated[OnError, typer.Option(help="Stop at a row that cannot be read, or skip and count it.")]
SeedOption = Annotated[int, typer.Option(help="Random seed; the same seed gives the same result.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Report as one line of JSON.")]
