"""The measures of an evaluation: what each means, and whether higher or lower is better."""

from __future__ import annotations

__all__ = [
    "BEST",
    "CALIBRATION_ERRORS",
    "CUTS",
    "DESCRIPTIONS",
    "ERRORS",
    "F1_MEASURES",
    "describe",
    "higher_is_better",
]

ERRORS = ("zero-one", "disagreement", "domination", "dominated")
CUTS = (1, 3, 5)
F1_MEASURES = ("micro F1", "macro F1")
CALIBRATION_ERRORS = ("calibration error", "first-label calibration error")
DESCRIPTIONS = {
    "zero-one error": "share of documents with at least one preference in the wrong order",
    "disagreement error": "share of a document's preferences in the wrong order",
    "domination error": "share of labels not ranked above all labels that they should be above",
    "dominated error": "share of labels not ranked below all labels that they should be below",
    "one-error": "share of documents whose first label is wrong",
    "coverage": "labels to pass, beyond the first, until all right labels are found",
    "ranking loss": "share of pairs of a right and a wrong label in the wrong order",
    "average precision": "share of right labels down to each right label, averaged",
    "max F1": "best balance of precision and recall over all numbers of labels shown",
    "precision at 1": "share of documents with a right label alone in first place",
    **{f"precision at {r}": f"share of the first {r} labels that are right" for r in CUTS[1:]},
    "recall at 1": "share of the right labels that are ranked first",
    **{f"recall at {r}": f"share of the right labels that are among the first {r}" for r in CUTS[1:]},
    "micro F1": "balance of precision and recall of the predicted label sets, over all labels together",
    "macro F1": "mean of the labels' F1, so that rare labels weigh as much as frequent ones",
    "subset accuracy": "share of documents whose label set is predicted exactly",
    "calibration error": "difference between probability and share of right labels, for labels with 5 % or more",
    "first-label calibration error": "the same for the label with the highest probability of each document",
}
"""Every measure in words, in the order of a report."""
BEST = {
    **dict.fromkeys(DESCRIPTIONS, "0"),
    "coverage": "low",  # the best value depends on how many labels are right; the same holds for those below
    **dict.fromkeys((name for name in DESCRIPTIONS if name.startswith(("max", "precision", "recall"))), "high"),
    **dict.fromkeys(("average precision", "precision at 1", *F1_MEASURES, "subset accuracy"), "1"),
}
"""The best value of every measure, or whether high or low is better."""


def higher_is_better(name: str) -> bool:
    """Whether a larger value of this measure is better.

    >>> higher_is_better("average precision"), higher_is_better("coverage")
    (True, False)
    """
    return BEST[name] in ("1", "high")


def describe(name: str) -> str:
    """What a measure means, and its best value.

    >>> describe("one-error")
    'share of documents whose first label is wrong; 0 is best'
    """
    return f"{DESCRIPTIONS[name]}; {BEST[name]} is best"
