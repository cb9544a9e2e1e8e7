"""The part of a report on probabilities: how far they can be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcrank._wording import number
from arcrank.evaluation.report.html import Cell, section, table
from arcrank.evaluation.report.svg import Axis, Series, line_plot

if TYPE_CHECKING:
    from arcrank.evaluation.calibration import CalibrationError, CalibrationEvaluation

__all__ = ["calibration_sentence", "probabilities_section"]

_INTRO = (
    "Each point is a bin of labels with similar probabilities: their mean probability, and the share of them that is "
    "right. On the diagonal the probabilities are correct; below it they are too high, above it too low."
)
_OF_THRESHOLDS = (
    "If all labels with at least this probability are predicted: the mean precision over the documents that get a "
    "label and the mean recall over the documents that have one, each beside the value that the probabilities promise."
)


def calibration_sentence(found: CalibrationEvaluation) -> str:
    """The two calibration errors with their intervals."""
    return (
        f"The calibration error is {_with_interval(found.labels)} over all labels with a probability of 5 % or more, "
        f"and {_with_interval(found.first_label)} for the first label of each document."
    )


def _with_interval(one: CalibrationError) -> str:
    return f"{number(one.error)} (95 % interval {number(one.low)} to {number(one.high)})"


def probabilities_section(found: CalibrationEvaluation | None) -> list[str]:
    """The reliability diagram and the table of thresholds; nothing without a calibration."""
    if found is None:
        return []
    errors = f'<p class="soft">{calibration_sentence(found)}</p>'
    after = f'<p class="soft">{_OF_THRESHOLDS}</p>'
    return [section("Probabilities", errors, _diagram(found), after, _thresholds(found), intro=_INTRO)]


def _diagram(found: CalibrationEvaluation) -> str:
    unit = (0.0, 1.0)
    kinds = {"labels with 5 % or more": found.labels, "first label of each document": found.first_label}
    lines = [_line(name, one) for name, one in kinds.items()]
    axes = Axis("probability", range=unit), Axis("share that is right", range=unit)
    return line_plot([*lines, Series("perfect", unit, unit)], *axes, "Reliability diagram")


def _line(name: str, one: CalibrationError) -> Series:
    return Series(name, one.reliability.probability.tolist(), one.reliability.observed.tolist())


def _thresholds(found: CalibrationEvaluation) -> str:
    heads = ["probability", "documents", "precision", "promised", "recall", "promised"]
    rows = [
        [Cell(f"{row.threshold:.0%}", row.threshold), Cell(f"{row.documents:,}", row.documents)]
        + [_share(one) for one in (row.precision, row.expected_precision, row.recall, row.expected_recall)]
        for row in found.thresholds
    ]
    return table(heads, rows)


def _share(value: float | None) -> Cell:
    return Cell("-") if value is None else Cell(f"{value:.1%}", value)
