"""How estimators are split into parameters and learnt values, and rebuilt from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from arcrank.modelfile.encoder import MostlyZero, Names
from arcrank.modelfile.forms import Form, MisfitError, Optional, Sizes
from arcrank.modelfile.learnt import LEARNT
from arcrank.modelfile.nested import build_nested, pack_nested
from arcrank.modelfile.parameters import EARLIER, PARAMETERS, RETIRED
from arcrank.modelfile.relations import RELATIONS
from arcrank.modelfile.shortlist import ARRAYS, stored_arrays

__all__ = [
    "CountsPart",
    "EmbeddingPart",
    "LogLinearPart",
    "MachinePart",
    "OnlinePart",
    "Part",
    "ShortlistPart",
    "TablePart",
    "TermCountsPart",
    "TextAndEmbeddingsPart",
    "TextPart",
    "TfidfPart",
    "import_home",
]

PASSING = ("callback", "random_state")
"""Training parameters that may be objects; objects are not stored, so a loaded model lacks them."""


def import_home(home: str) -> Any:
    """Import and return the object at "module:name"."""
    module, name = home.split(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class Part:
    """An estimator that a model file can hold.

    name : its name in files, which never changes
    home : "module:class"
    fitted : name of a learnt value in files -> its attribute
    records : values that are records of arrays and numbers -> "module:class" of the record
    ranks : whether it is a ranker, which comes last
    texts : whether it reads texts, and so comes first

    What its values may be is in `parameters.py` and `learnt.py`, by its name.
    """

    name: str
    home: str
    fitted: Mapping[str, str] = field(default_factory=dict)
    records: Mapping[str, str] = field(default_factory=dict)
    ranks: bool = False
    texts: bool = False

    def parameters(self, estimator: Any) -> dict[str, Any]:
        """Return the parameters of the estimator, as values that can be stored."""
        given = estimator.get_params(deep=False)
        return {name: _without_objects(name, value) for name, value in given.items()}

    def learnt(self, estimator: Any) -> dict[str, Any]:
        """Return what the estimator learnt, as values that can be stored."""
        found = {name: getattr(estimator, at) for name, at in self.fitted.items() if hasattr(estimator, at)}
        return {name: _plain(value) if name in self.records else value for name, value in found.items()}

    def check(self, parameters: Any, learnt: Any) -> Sizes:
        """Return the sizes of a part that was read and not yet expanded; raises ValueError if it is not valid."""
        sizes = Sizes()
        self._check_names(parameters)
        settings = self.settings(parameters)
        self._check_learnt(settings, learnt, sizes)
        self.check_parameters(parameters, sizes)
        if self.name in RELATIONS:
            RELATIONS[self.name](settings, learnt, sizes)
        return sizes

    def check_parameters(self, parameters: Any, sizes: Sizes) -> None:
        """Raise ValueError for a parameter that is not known or not valid."""
        self._check_names(parameters)
        for name, value in parameters.items():
            self._allowed()[name].check(value, f"the parameter {name}", sizes)

    def _allowed(self) -> dict[str, Form]:
        return PARAMETERS[self.name] | RETIRED.get(self.name, {})

    def _check_names(self, parameters: Any) -> None:
        strange = [name for name in parameters if name not in self._allowed()]
        if strange:
            raise MisfitError(f"{self.name} has no parameter {strange[0]!r:.80}")

    def check_closely(self, parameters: Any, learnt: Any) -> None:
        """Raise ValueError for names that are not distinct; checked last, because it takes memory."""
        for name, form in LEARNT[self.name](self.settings(parameters), learnt).items():
            if name in learnt:
                form.check_closely(learnt[name], name)

    def settings(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return all parameters, with defaults for those that an older file lacks."""
        settings = EARLIER.get(self.name, {}) | parameters
        if PARAMETERS[self.name].keys() <= settings.keys():
            return settings  # so that reading a model does not import its estimators
        defaults: dict[str, Any] = import_home(self.home)().get_params(deep=False)
        return defaults | settings

    def _check_learnt(self, settings: dict[str, Any], learnt: Any, sizes: Sizes) -> None:
        forms = LEARNT[self.name](settings, learnt)
        strange = [name for name in learnt if name not in forms]
        if strange:
            raise MisfitError(f"{self.name} with these parameters has no learnt value {strange[0]!r:.80}")
        for name, form in forms.items():
            if name in learnt:
                form.check(learnt[name], name, sizes)
            elif not isinstance(form, Optional):
                raise MisfitError(f"{self.name} has no {name}")

    def build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        """Return the fitted estimator of what was checked and expanded."""
        retired, earlier = RETIRED.get(self.name, {}), EARLIER.get(self.name, {})
        given = {name: value for name, value in parameters.items() if name not in retired}
        estimator = import_home(self.home)(**(earlier | given))
        for name, value in learnt.items():
            is_record = name in self.records and value is not None
            setattr(estimator, self.fitted[name], import_home(self.records[name])(**value) if is_record else value)
        return estimator


class LogLinearPart(Part):
    """A log-linear ranker; with label features it has the weights that labels share, so that labels can be added."""

    def parameters(self, estimator: Any) -> dict[str, Any]:
        found = super().parameters(estimator)
        if found["label_features"] is not None:
            found["label_features"] = {
                label: np.atleast_1d(vector).astype(np.float64).tolist()
                for label, vector in found["label_features"].items()
            }
        return found

    def learnt(self, estimator: Any) -> dict[str, Any]:
        found = super().learnt(estimator)
        if estimator.label_features is None:
            found.pop("label_weights", None)  # of an earlier fit
            found.pop("constant", None)
        return found


class MachinePart(Part):
    """A preference machine; where codes were learnt, they and the embedding are stored instead of their product."""

    def learnt(self, estimator: Any) -> dict[str, Any]:
        low_rank = hasattr(estimator, "codes_")
        stored = {name: at for name, at in self.fitted.items() if not (low_rank and name == "weights")}
        found = replace(self, fitted=stored)
        return Part.learnt(found, estimator)


class OnlinePart(Part):
    """An online ranker, which provides the state that it needs to continue training.

    Files hold only the rows of the features it has seen. In memory the weights are expanded again, since every update
    and every score reads them by feature: memory use is that of the model, whatever the size of the file.
    """

    def learnt(self, estimator: Any) -> dict[str, Any]:
        state = estimator.get_state(copy=False)
        facts = state.pop("parameters")
        found = {name: facts[name] for name in ("kind", "n_features", "feature_names") if name in facts}
        history = {"history": estimator.history_} if hasattr(estimator, "history_") else {}
        if "calibration" in state:
            state["calibration"] = _plain(state["calibration"])
        hashed = {name: MostlyZero(state[name]) for name in ("weights", "late") if name in state}
        # An array keeps its dtype, which a list of its names would lose.
        return found | state | hashed | {"labels": estimator.labels_} | history

    def build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        facts = {name: learnt.pop(name) for name in ("kind", "n_features", "feature_names") if name in learnt}
        history = learnt.pop("history", None)
        if learnt.get("calibration") is not None:
            learnt["calibration"] = import_home(self.records["calibration"])(**learnt["calibration"])
        estimator = import_home(self.home).from_state({"parameters": parameters | facts, **learnt}, copy=False)
        if history is not None:
            estimator.history_ = history
        return estimator


class ShortlistPart(Part):
    """A ShortlistRanker, whose sparse weights and inverted lists are stored in the smallest types that hold them."""

    def learnt(self, estimator: Any) -> dict[str, Any]:
        weights, lists = estimator.weights_, estimator.neighbours_
        return super().learnt(estimator) | {
            "weight_ptr": weights.ptr,
            "weight_labels": _narrow(weights.label),
            "weights": _halved(weights.weight),
            "list_ptr": lists.ptr,
            "list_documents": lists.document,
            "list_values": _halved(lists.value),
            "member_ptr": lists.label_ptr,
            "member_labels": _narrow(lists.label),
        }

    def build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        weights, lists = stored_arrays(learnt)
        estimator = super().build(parameters, {name: one for name, one in learnt.items() if name not in ARRAYS})
        estimator.weights_ = import_home("arcrank.solvers.shortlist_arrays:SparseWeights")(*weights)
        estimator.neighbours_ = import_home("arcrank.rankers.shortlist.neighbours:Neighbours")(*lists)
        return estimator


class TextPart(Part):
    """`TextFeatures`, stored by its own state."""

    def parameters(self, estimator: Any) -> dict[str, Any]:
        parameters: dict[str, Any] = estimator.get_state()["parameters"]
        return parameters

    def learnt(self, estimator: Any) -> dict[str, Any]:
        return {"terms": Names(estimator.terms_), "idf": estimator.idf_, "language": estimator.language_}

    def build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        return import_home(self.home).from_state({"parameters": parameters, **learnt})


class EmbeddingPart(Part):
    """`EmbeddingFeatures`: the weights stay in the installed package, and are compared by their checksum."""

    def build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        return import_home(self.home)(**parameters).check_installed(learnt["digest"])


class TextAndEmbeddingsPart(Part):
    """`TextAndEmbeddings`, whose two transformers are parts themselves."""

    def parameters(self, estimator: Any) -> dict[str, Any]:
        # The inner estimators are stored as they were fitted, and their parameters with them.
        return {"words": None, "embeddings": None, "weight": estimator.weight}

    def learnt(self, estimator: Any) -> dict[str, Any]:
        return {"words": pack_nested(estimator.words_), "embeddings": pack_nested(estimator.embeddings_)}

    def build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        words, embeddings = build_nested(learnt["words"]), build_nested(learnt["embeddings"])
        return import_home(self.home).from_fitted(words, embeddings, parameters["weight"])


class TablePart(Part):
    """`TableFeatures`: one record for each column, that of a text with its own part."""

    def learnt(self, estimator: Any) -> dict[str, Any]:
        return {"columns": [_packed_column(column.to_record()) for column in estimator.columns_]}

    def build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        records = [_built_column(record) for record in learnt["columns"]]
        return import_home(self.home).from_records(parameters, records)


def _packed_column(record: dict[str, Any]) -> dict[str, Any]:
    if "words" in record:
        record["words"] = pack_nested(record["words"])
    if "categories" in record:
        record["categories"] = Names(record["categories"])
    return record


def _built_column(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "words": build_nested(record["words"])} if "words" in record else record


class CountsPart(Part):
    """An estimator with a `vocabulary_` from terms to columns."""

    def learnt(self, estimator: Any) -> dict[str, Any]:
        terms = sorted(estimator.vocabulary_, key=estimator.vocabulary_.__getitem__)
        return {**super().learnt(estimator), "terms": Names(terms)}

    def build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        terms = learnt.pop("terms")
        estimator = super().build(parameters, learnt)
        estimator.vocabulary_ = {term: column for column, term in enumerate(terms)}
        return estimator


class TermCountsPart(CountsPart):
    """`TermCounts`; arcrank's own tokenizer is stored as its parameters."""

    def parameters(self, estimator: Any) -> dict[str, Any]:
        tokenizer = estimator.tokenizer
        ours = type(tokenizer) is import_home("arcrank.text.tokens:Tokenizer")
        return {**super().parameters(estimator), **({"tokenizer": tokenizer.get_params()} if ours else {})}

    def build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        if parameters["tokenizer"] is not None:
            parameters["tokenizer"] = import_home("arcrank.text.tokens:Tokenizer")(**parameters["tokenizer"])
        return super().build(parameters, learnt)


class TfidfPart(CountsPart):
    """scikit-learn's TfidfVectorizer, which keeps its idf in a second estimator."""

    def build(self, parameters: dict[str, Any], learnt: dict[str, Any]) -> Any:
        idf = learnt.pop("idf", None)
        estimator = super().build(parameters, learnt)
        weights = import_home("sklearn.feature_extraction.text:TfidfTransformer")
        names = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
        estimator._tfidf = weights(**{name: getattr(estimator, name) for name in names})
        estimator._tfidf.n_features_in_ = len(estimator.vocabulary_)
        if idf is not None:
            estimator.idf_ = idf
        return estimator


def _narrow(labels: Any) -> Any:
    """Label numbers in 16 bits where they fit."""
    return labels.astype("u2") if labels.max(initial=0) < 1 << 16 else labels


def _halved(values: Any) -> Any:
    """Numbers in 16 bits where that changes none of them."""
    largest = 65504.0  # of float16; beyond, the conversion would warn
    halved = values.clip(-largest, largest).astype("f2")
    return halved if (halved.astype("f4") == values).all() else values


def _without_objects(name: str, value: Any) -> Any:
    return value if name not in PASSING or hasattr(value, "__index__") else None


def _plain(record: Any) -> dict[str, Any] | None:
    if record is None:
        return None
    return dict(record._asdict() if hasattr(record, "_asdict") else vars(record))
