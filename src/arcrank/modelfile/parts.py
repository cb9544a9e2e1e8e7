"""How estimators are taken apart into parameters and what they learnt, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from arcrank.modelfile.values import MostlyZero, Names

__all__ = ["CountsPart", "OnlinePart", "Part", "TermCountsPart", "TextPart", "TfidfPart", "import_home"]

PASSING = ("callback", "random_state")
"""Parameters of training that may be objects: not part of a model, which comes back without them."""


def import_home(home: str) -> Any:
    """Return what "module:name" says."""
    module, name = home.split(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class Part:
    """An estimator that a model file can hold.

    name : what files call it, for ever
    home : "module:class"
    fitted : what files call a learnt value -> its attribute
    needed : the values without which it is not fitted
    records : values that are records of arrays and numbers -> "module:class" of the record
    check : called with the rebuilt estimator; raises ValueError where shapes or types do not fit
    """

    name: str
    home: str
    fitted: Mapping[str, str] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    records: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[Any], None] | None = None
    ranks: bool = False

    def parameters(self, estimator: Any) -> dict[str, Any]:
        """Return the parameters of the estimator, as values that can be stored."""
        given = estimator.get_params(deep=False)
        return {name: _without_objects(name, value) for name, value in given.items()}

    def learnt(self, estimator: Any) -> dict[str, Any]:
        """Return what the estimator learnt, as values that can be stored."""
        found = {name: getattr(estimator, at) for name, at in self.fitted.items() if hasattr(estimator, at)}
        return {name: _plain(value) if name in self.records else value for name, value in found.items()}

    def rebuild(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        """Return the fitted estimator; raises where something is missing or does not fit."""
        missing = [name for name in self.needed if name not in learnt]
        if missing:
            raise ValueError(f"{self.name} has no {missing[0]}")
        estimator = self._build(parameters, learnt)
        if self.check is not None:
            self.check(estimator)
        return estimator

    def _build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        estimator = import_home(self.home)(**parameters)
        for name, value in learnt.items():
            is_record = name in self.records and value is not None
            setattr(estimator, self.fitted[name], import_home(self.records[name])(**value) if is_record else value)
        return estimator


class OnlinePart(Part):
    """An online ranker, which can say itself what it needs to go on as if it had never stopped.

    Files hold the rows of the features that it has met. In memory the weights are whole again, since every step and
    every score reads them by feature: memory is then that of the model, not twice the file.
    """

    def learnt(self, estimator: Any) -> dict[str, Any]:
        state = estimator.get_state(copy=False)
        facts = state.pop("parameters")
        found = {name: facts[name] for name in ("kind", "n_features", "feature_names") if name in facts}
        history = {"history": estimator.history_} if hasattr(estimator, "history_") else {}
        hashed = {name: MostlyZero(state[name]) for name in ("weights", "late") if name in state}
        # The array itself keeps the type that a list of its names would lose.
        return found | state | hashed | {"labels": estimator.labels_} | history

    def _build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        facts = {name: learnt.pop(name) for name in ("kind", "n_features", "feature_names") if name in learnt}
        history = learnt.pop("history", None)
        estimator = import_home(self.home).from_state({"parameters": parameters | facts, **learnt}, copy=False)
        if history is not None:
            estimator.history_ = history
        return estimator


class TextPart(Part):
    """`TextFeatures`, by its own state."""

    def parameters(self, estimator: Any) -> dict[str, Any]:
        parameters: dict[str, Any] = estimator.get_state()["parameters"]
        return parameters

    def learnt(self, estimator: Any) -> dict[str, Any]:
        return {"terms": Names(estimator.terms_), "idf": estimator.idf_}

    def _build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        return import_home(self.home).from_state({"parameters": parameters, **learnt})


class CountsPart(Part):
    """Something with a `vocabulary_` from terms to columns."""

    def learnt(self, estimator: Any) -> dict[str, Any]:
        terms = sorted(estimator.vocabulary_, key=estimator.vocabulary_.__getitem__)
        return {**super().learnt(estimator), "terms": Names(terms)}

    def _build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        terms = learnt.pop("terms")
        estimator = super()._build(parameters, learnt)
        estimator.vocabulary_ = {term: column for column, term in enumerate(terms)}
        return estimator


class TermCountsPart(CountsPart):
    """`TermCounts`, whose tokenizer is nothing but parameters where it is our own."""

    def parameters(self, estimator: Any) -> dict[str, Any]:
        tokenizer = estimator.tokenizer
        ours = type(tokenizer) is import_home("arcrank.text.tokens:Tokenizer")
        return {**super().parameters(estimator), **({"tokenizer": tokenizer.get_params()} if ours else {})}

    def _build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        if parameters["tokenizer"] is not None:
            parameters["tokenizer"] = import_home("arcrank.text.tokens:Tokenizer")(**parameters["tokenizer"])
        return super()._build(parameters, learnt)


class TfidfPart(CountsPart):
    """scikit-learn's TfidfVectorizer, which keeps its idf in a second estimator."""

    def _build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        idf = learnt.pop("idf", None)
        estimator = super()._build(parameters, learnt)
        weights = import_home("sklearn.feature_extraction.text:TfidfTransformer")
        names = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
        estimator._tfidf = weights(**{name: getattr(estimator, name) for name in names})
        estimator._tfidf.n_features_in_ = len(estimator.vocabulary_)
        if idf is not None:
            estimator.idf_ = idf
        return estimator


def _without_objects(name: str, value: Any) -> Any:
    return value if name not in PASSING or hasattr(value, "__index__") else None


def _plain(record: Any) -> dict[str, Any] | None:
    if record is None:
        return None
    return dict(record._asdict() if hasattr(record, "_asdict") else vars(record))
