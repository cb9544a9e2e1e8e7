"""What a user asks to be trained: a learner by its name, its parameters, and the measure to choose by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import arcrank
from arcrank.errors import ParameterError


class Learner(StrEnum):
    """What `--learner` takes."""

    AUTO = "auto"
    LOG_LINEAR = "log-linear"
    PREFERENCE_MACHINE = "preference-machine"
    MMP = "mmp"
    ONLINE_PREFERENCE_MACHINE = "online-preference-machine"
    ROCCHIO = "rocchio"
    PERCEPTRON = "perceptron"
    TREES = "trees"
    SHORTLIST = "shortlist"
    FEW_LABELS = "few-labels"
    RANKBOOST = "rankboost"
    SEMI_SUPERVISED_RANKBOOST = "semi-supervised-rankboost"
    TRANSDUCTIVE_SVM = "transductive-svm"
    SEMI_SUPERVISED_LOGISTIC = "semi-supervised-logistic"


class Measure(StrEnum):
    """What `--measure` takes; `balanced` is the mean of average precision and 1 - ranking loss."""

    BALANCED = "balanced"
    AVERAGE_PRECISION = "average_precision"
    RANKING_LOSS = "ranking_loss"
    COVERAGE = "coverage"
    ONE_ERROR = "one_error"
    ZERO_ONE_ERROR = "zero_one_error"
    DOMINATION_ERROR = "domination_error"
    DOMINATED_ERROR = "dominated_error"
    DISAGREEMENT_ERROR = "disagreement_error"


def metric_title(measure: str) -> str:
    """Return the name of a measure as people write it.

    >>> metric_title("one_error"), metric_title("zero_one_error"), metric_title("ranking_loss")
    ('one-error', 'zero-one error', 'ranking loss')
    """
    if measure == Measure.ONE_ERROR:
        return "one-error"
    if measure == "auc":
        return "AUC"
    if measure == Measure.BALANCED:
        return "balanced measure"
    return measure.replace("zero_one", "zero-one").replace("o_f1", "o-F1").replace("_", " ")


CLASSES = {
    Learner.LOG_LINEAR: "LogLinearRanker",
    Learner.PREFERENCE_MACHINE: "PreferenceMachine",
    Learner.MMP: "MMPRanker",
    Learner.ONLINE_PREFERENCE_MACHINE: "OnlinePreferenceMachine",
    Learner.ROCCHIO: "RocchioRanker",
    Learner.PERCEPTRON: "PerceptronRanker",
    Learner.TREES: "TreeRanker",
    Learner.SHORTLIST: "ShortlistRanker",
    Learner.FEW_LABELS: "SemiSupervisedRankBoost",
    Learner.RANKBOOST: "RankBoost",
    Learner.SEMI_SUPERVISED_RANKBOOST: "SemiSupervisedRankBoost",
    Learner.TRANSDUCTIVE_SVM: "TransductiveSVM",
    Learner.SEMI_SUPERVISED_LOGISTIC: "SemiSupervisedLogistic",
}
ONLINE = (Learner.MMP, Learner.ONLINE_PREFERENCE_MACHINE, Learner.PERCEPTRON)
LABEL_SETS_ONLY = (Learner.ROCCHIO, Learner.PERCEPTRON)
"""Learners that cannot use layers, rankings, arcs or a hierarchy."""
BIPARTITE = (
    Learner.FEW_LABELS,
    Learner.RANKBOOST,
    Learner.SEMI_SUPERVISED_RANKBOOST,
    Learner.TRANSDUCTIVE_SVM,
    Learner.SEMI_SUPERVISED_LOGISTIC,
)
"""Learners that rank documents by their relevance, not labels."""
BY_AUTO = (Learner.LOG_LINEAR, Learner.PREFERENCE_MACHINE)
MOST_LABELS = 3000
"""With more labels `auto` uses the ranker of shortlists: others would take hours and more memory than machines have."""
OWNED = ("callback", "verbose", "warm_start")
"""Parameters that training sets itself."""
_AS_PYTHON = {"True": "true", "False": "false", "None": "null", "none": "null"}
_RULE_OF_VALUES = """Values are JSON or plain text: --set C=10, stem=german, norm=null, 'stop_words=["der","die"]'."""


@dataclass(frozen=True)
class Plan:
    """A learner with its parameters, and those of the text features."""

    learner: Learner
    parameters: dict[str, Any] = field(default_factory=dict)
    text: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_options(
        cls, learner: Learner, decomposition: str | None, settings: Iterable[str], random_state: int
    ) -> Plan:
        """Make and check the plan of the options `--learner`, `--decomposition`, `--set` and `--random-state`."""
        plan = make_plan(learner, decomposition, parse_settings(settings), random_state)
        check_plan(plan)
        return plan

    def ranker(self, **more: Any) -> Any:
        """Make the ranker, not fitted."""
        return ranker_class(self.learner)(**self.parameters | more)

    def with_parameters(self, **more: Any) -> Plan:
        """Return a copy with some parameters changed."""
        return Plan(self.learner, self.parameters | more, self.text)

    def describe(self) -> str:
        """Name the learner and what was set, e.g. `log-linear (C=10)`."""
        shown = {name: value for name, value in self.parameters.items() if name != "random_state"}
        for name in ("shuffle", "cut_label"):
            if shown.get(name) is True:
                del shown[name]  # the default of the command
        return f"{self.learner}{f' ({_listed(shown)})' if shown else ''}"


def _listed(settings: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in settings.items()
    )


def minimum_document_frequency(n_texts: int) -> int:
    """Return in how many texts a term must occur; where texts are few, a term that occurs once is worth its memory."""
    return 1 if n_texts < 1000 else 2


def ranker_class(learner: Learner) -> Any:
    """Return the class of a learner."""
    return getattr(arcrank, CLASSES[learner])


def parse_settings(given: Iterable[str]) -> dict[str, Any]:
    """Parse `NAME=VALUE` pairs; a value is JSON where possible, or Python's None, True or False, else plain text.

    >>> parse_settings(["C=10", "average=True", "stem=german", "stop_words=none"])
    {'C': 10, 'average': True, 'stem': 'german', 'stop_words': None}
    """
    settings: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"--set {pair}: this is not of the form NAME=VALUE.\nWrite, for example, --set C=10")
        settings[name.strip()] = _value(value.strip())
    return settings


def _value(text: str) -> Any:
    try:
        return json.loads(_AS_PYTHON.get(text, text))
    except ValueError:
        return text


def make_plan(learner: Learner, decomposition: str | None, settings: Mapping[str, Any], random_state: int) -> Plan:
    """Sort the settings into those of the ranker and those of the text features; refuse unknown ones by name."""
    ranker, text = parameter_names(learner), _text_names(learner)
    chosen = dict(settings)
    if decomposition is not None:
        if "decomposition" not in ranker:
            raise ParameterError(
                f"--decomposition: {learner} has no decomposition.\nLeave the option out, or use --learner log-linear."
            )
        chosen["decomposition"] = str(decomposition)
    unknown = [name for name in chosen if name not in ranker and name not in text]
    if unknown:
        raise ParameterError(
            f"--set {unknown[0]}: {learner} has no such parameter.\n"
            f"It has {', '.join(ranker)}; its text features have {', '.join(text)}."
        )
    parameters: dict[str, Any] = {"random_state": random_state} if "random_state" in ranker else {}
    parameters |= {"features": "latent"} if learner is Learner.FEW_LABELS else {}
    parameters |= {"shuffle": True} if learner in ONLINE else {}  # the order of a file must not matter
    parameters |= {name: value for name, value in chosen.items() if name in ranker}
    return Plan(learner, parameters, {name: value for name, value in chosen.items() if name not in ranker})


def check_plan(plan: Plan) -> None:
    """Refuse values that the learner or the text features do not accept, before any data is read."""
    learners = BY_AUTO if plan.learner is Learner.AUTO else (plan.learner,)
    try:
        _text_class(plan.learner)(**plan.text).check_parameters()
        for learner in learners:
            ranker_class(learner)(**plan.parameters).check_parameters()
    except ParameterError as error:
        raise ParameterError(f"{plan.learner}: {str(error).rstrip('.')}.\n{_RULE_OF_VALUES}") from error


def parameter_names(learner: Learner) -> list[str]:
    """The parameters of a learner that a user may set; those of `auto` are what both of its candidates have."""
    if learner is Learner.AUTO:
        first, second = map(parameter_names, BY_AUTO)
        return [name for name in first if name in second]
    return [name for name in ranker_class(learner)().get_params() if name not in OWNED]


def _text_names(learner: Learner) -> list[str]:
    return list(_text_class(learner)().get_params())


def _text_class(learner: Learner) -> Any:
    from arcrank.text import HashedTextFeatures, TextFeatures

    return HashedTextFeatures if learner in ONLINE else TextFeatures
