"""Rows that bring their own candidates: `{"candidates": [{"features": {...}, "grade": 2}, ...], "id": ...}`.

The features are an object of names and numbers. A candidate without a grade is not judged. The first row of a file
decides whether all of its rows have candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.cells import id_of, shown
from arcrank.datasets.formats.gather import gathered
from arcrank.datasets.formats.json_row import features_of, finite_number
from arcrank.datasets.formats.lines import Lines, RowError
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.rows import feature_matrix
from arcrank.errors import FormatError, ParameterError

__all__ = ["CandidateRow", "candidate_blocks", "candidate_row", "starts_with_candidates"]

Objects = Iterator[tuple[int, dict[str, Any] | None]]


class CandidateRow(NamedTuple):
    """One instance: the features and grades of its candidates, NaN where there is no grade."""

    features: list[dict[str, float]]
    grades: list[float]
    name: str | None = None


def starts_with_candidates(objects: Objects) -> tuple[bool, Objects]:
    """Whether the first object has candidates, and all objects."""
    before: list[tuple[int, dict[str, Any] | None]] = []
    for one in objects:
        before.append(one)
        if one[1] is not None:
            return "candidates" in one[1], chain(before, objects)
    return False, iter(before)


def candidate_row(fields: dict[str, Any]) -> CandidateRow:
    """Return the candidates of an object, or raise a `RowError`.

    Examples
    --------
    >>> candidate_row({"id": "q1", "candidates": [{"features": {"match": 0.5}, "grade": 2}, {"features": {}}]})
    CandidateRow(features=[{'match': 0.5}, {}], grades=[2.0, nan], name='q1')
    """
    candidates = fields.get("candidates")
    if not isinstance(candidates, list) or not all(isinstance(one, dict) for one in candidates):
        raise RowError("invalid candidates", f'"candidates" is a list of objects, not {shown(candidates)}')
    parsed = [_candidate(one) for one in candidates]
    features, grades = [one for one, _ in parsed], [grade for _, grade in parsed]
    return CandidateRow(features, grades, id_of(fields.get("id")))


def _candidate(fields: dict[str, Any]) -> tuple[dict[str, float], float]:
    if "features" not in fields:
        raise RowError(
            "invalid candidates", f'a candidate needs "features"; this one has {", ".join(fields) or "nothing"}'
        )
    given = fields.get("grade")
    return features_of(fields["features"]), np.nan if given is None else finite_number("grade", given)


def candidate_blocks(objects: Objects, lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield `options.batch_rows` instances at a time; named features keep their columns in later blocks."""
    if options.labels is not None:
        raise ParameterError("labels= cannot be given with candidates: these are the labels of their instance")
    if options.takes is not None:
        raise FormatError(f"{lines.name}: queries with candidates have no labels to rank.\nGive documents.")
    columns: dict[str, int] = {}
    for batch in gathered(_rows(objects, lines), lines, options):
        yield _block(batch, columns, lines)
    if lines.skipped:
        yield _block([], columns, lines)


def _rows(objects: Objects, lines: Lines) -> Iterator[CandidateRow | None]:
    for number, fields in objects:
        row = None
        if fields is not None:
            try:
                row = candidate_row(fields)
            except RowError as error:
                lines.fail(number, error)
        yield row


def _block(rows: list[CandidateRow], columns: dict[str, int], lines: Lines) -> Corpus:
    counts = [len(row.features) for row in rows]
    return Corpus(
        labels=[str(j) for j in range(max(counts, default=0))],
        X=feature_matrix([features for row in rows for features in row.features], columns),
        feature_names=list(columns),
        ptr=np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        grades=np.array([grade for row in rows for grade in row.grades], dtype=np.float64),
        ids=[row.name for row in rows] if any(row.name is not None for row in rows) else None,
        source=lines.name,
        skipped=lines.take_skipped(),
    )
