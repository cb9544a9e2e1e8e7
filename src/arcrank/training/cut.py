"""What the command learns label sets and votes by, unless the user sets it: a cut label, and losses that suit them."""

from __future__ import annotations

from collections.abc import Sequence

from arcrank.training.plan import MOST_LABELS, ONLINE, Learner, Plan

__all__ = ["are_single_labels", "plan_for_label_sets", "plan_for_votes"]

_DECIDED_BY_USER = ("decomposition", "loss", "kernel", "cut_label")
_FEWEST_DOCUMENTS = 20
_BY_LAYERS = ("domination", "dominated", "disagreement")


def are_single_labels(label_sets: Sequence[Sequence[str]], n_labels: int, learner: Learner) -> bool:
    """Whether a model should predict exactly one label: every document has one.

    Online learners may see others later. The probabilities of single labels sum to 1, so they need the scores of all
    labels, and documents to calibrate on.

    Examples
    --------
    >>> are_single_labels([["tea"], ["milk"]] * 10, 2, Learner.AUTO)
    True
    >>> are_single_labels([["tea"], ["milk"]] * 10, 2, Learner.MMP)
    False
    >>> are_single_labels([["tea", "milk"], ["milk"]] * 10, 2, Learner.AUTO)
    False
    """
    suitable = learner not in ONLINE and n_labels <= MOST_LABELS and len(label_sets) >= _FEWEST_DOCUMENTS
    return suitable and all(len(names) == 1 for names in label_sets)


def plan_for_label_sets(plan: Plan, n_documents: int) -> Plan:
    """Add a cut label to a plan, so that the model predicts label sets, and probabilities unless documents are few.

    The preference machine gets one with its default decomposition only as part of a whole that suits it, domination
    with the squared hinge: "identity" would need every arc of three-layer graphs in memory.

    Examples
    --------
    >>> plan_for_label_sets(Plan(Learner.LOG_LINEAR, {"C": 3}), 1000).parameters
    {'cut_label': True, 'C': 3}
    >>> plan_for_label_sets(Plan(Learner.PREFERENCE_MACHINE, {"loss": "hinge"}), 1000).parameters
    {'loss': 'hinge'}
    >>> plan_for_label_sets(Plan(Learner.LOG_LINEAR), 12).parameters
    {'cut_label': True, 'calibration_folds': 0}
    """
    given = plan.parameters
    added: dict[str, object] = {}
    if plan.learner is Learner.LOG_LINEAR:
        added = {"cut_label": True}
    elif plan.learner is Learner.PREFERENCE_MACHINE:
        if not any(name in given for name in _DECIDED_BY_USER):
            added = {"decomposition": "domination", "loss": "squared-hinge", "cut_label": True}
        elif given.get("decomposition") in _BY_LAYERS:
            added = {"cut_label": True}
    if added and n_documents < _FEWEST_DOCUMENTS:
        added["calibration_folds"] = 0  # probabilities of so few documents would mean nothing
    return Plan(plan.learner, added | given, plan.text)


def plan_for_votes(plan: Plan) -> Plan:
    """Make every vote count: a piece for each arc, whose loss is multiplied by the number of votes.

    Examples
    --------
    >>> plan_for_votes(Plan(Learner.LOG_LINEAR, {"C": 3})).parameters
    {'decomposition': 'disagreement', 'arc_weights': 'count', 'C': 3}
    """
    added: dict[str, object] = {}
    if plan.learner in (Learner.LOG_LINEAR, Learner.PREFERENCE_MACHINE, Learner.TREES):
        added["decomposition"] = "disagreement"
    if plan.learner in (Learner.LOG_LINEAR, Learner.TREES):
        added["arc_weights"] = "count"
    return Plan(plan.learner, added | plan.parameters, plan.text)
