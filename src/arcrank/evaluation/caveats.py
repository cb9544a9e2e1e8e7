"""What to keep in mind when reading an evaluation: sentences for the terminal, the report and the JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from arcrank._wording import count, format_counts, has_have, is_are, note_few_documents, some_names

if TYPE_CHECKING:
    from arcrank.evaluation.candidates import CandidateEvaluation
    from arcrank.evaluation.documents import DocumentEvaluation
    from arcrank.evaluation.results import Evaluation

__all__ = ["caveats", "data_caveats", "has_learnt_from", "learnt_caveat", "skipped_caveat"]


def caveats(found: Evaluation) -> list[str]:
    """The sentences, the most serious first."""
    return [*learnt_caveat(found), *data_caveats(found)]


def data_caveats(found: Evaluation, unknown: str = "unknown to the model") -> list[str]:
    """The caveats that depend only on the data and the labels; `unknown` says which labels are left out."""
    few = note_few_documents(found.n_measured)
    return [*([few] if few else []), *_unknown(found, unknown), *_left_out(found), *skipped_caveat(found)]


def learnt_caveat(found: Evaluation | DocumentEvaluation | CandidateEvaluation) -> Iterator[str]:
    """A warning if the model has seen the documents."""
    if found.learnt:
        yield (
            "The model has learnt from these documents (its card names this file), so the measures are too "
            "optimistic. Measure on documents that it has not seen."
        )


def _unknown(found: Evaluation, unknown: str) -> Iterator[str]:
    if found.unknown_labels:
        yield (
            f"{is_are(len(found.unknown_labels), 'label')} {unknown} and left out of every measure, in "
            f"{count(found.n_with_unknown, 'document')}: {some_names(found.unknown_labels)}."
        )


def _left_out(found: Evaluation) -> Iterator[str]:
    if found.n_unlabelled:
        one = found.n_unlabelled == 1
        measures = "every measure" if found.calibration is None else "every measure of the ranking"
        counted = f"; predicted label sets count {'it' if one else 'them'} as without labels"
        yield (
            f"{has_have(found.n_unlabelled, 'document')} no label to measure by and {'is' if one else 'are'} left out "
            f"of {measures}{'' if found.calibration is None else counted}."
        )


def skipped_caveat(found: Evaluation | DocumentEvaluation | CandidateEvaluation) -> Iterator[str]:
    """Say how many rows could not be read, and why."""
    n = sum(found.skipped.values())
    if n:
        reasons = format_counts(found.skipped)
        yield f"{count(n, 'row')} could not be read and {'was' if n == 1 else 'were'} left out: {reasons}."


def has_learnt_from(card: Mapping[str, Any], data: str, n_documents: int) -> bool:
    """Whether the card of a model names this file, or a file of this name with as many documents."""
    return any(_is_file(source, data, n_documents) for source in [card, *(card.get("updates") or [])])


def _is_file(source: Mapping[str, Any], data: str, n_documents: int) -> bool:
    named = source.get("data")
    if not isinstance(named, str) or not os.path.isfile(data):
        return False
    if os.path.exists(named) and os.path.samefile(named, data):
        return True
    return os.path.basename(named) == os.path.basename(data) and source.get("documents") == n_documents
