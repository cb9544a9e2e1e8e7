"""What the parts of a model file have learnt: every array with its type, its shape and the range of its numbers.

Sizes: k labels, d features that a part reads (texts: that it makes), m support vectors, T stumps or trees, N nodes of
trees with w values each, n training instances, p features of labels.
Forms may depend on the parameters; `relations` checks what shapes and ranges cannot express.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from arcrank.modelfile.array_forms import Array, Csr, Labels, Names
from arcrank.modelfile.forms import (
    MOST_FEATURES,
    Either,
    Flag,
    Form,
    History,
    Measure,
    Number,
    OneOf,
    Optional,
    Record,
    Registered,
    Size,
    Sizes,
    Text,
    Whole,
    Words,
)
from arcrank.modelfile.nested import Nested
from arcrank.modelfile.parameters import LANGUAGE, SetMeasure
from arcrank.modelfile.table_forms import TableColumns

__all__ = ["CURVES", "LEARNT", "N_SUMS", "SMALLEST", "Values", "learns_codes"]

N_SUMS = 5  # of `arcrank.solvers.online`, which imports much that other models do without

Values = Mapping[str, Any]
SMALLEST = 1e-100
_LARGEST_IDF = 1e15
"""So that squares are finite in float32 too, in which scikit-learn may compute."""

_FEATURE_NAMES = {"feature_names": Optional(Names("d", "object", distinct=False))}
_HISTORY = {
    "history": Optional(History()),
    "n_iter": Optional(Whole()),
    "duality_gap": Optional(Measure()),
}
_NOTHING = OneOf(None)
CURVES = ("score", "best", "second")


class Support(Form):
    """Which of d columns a selector keeps; their number is a size too."""

    says = "a mask of the columns"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return Array("b1", "d").fits(value, sizes) and sizes.setdefault("out", int(value.sum())) > 0


class Resolutions(Form):
    """How many leading dimensions form each vector; their sum is the number of weights."""

    says = "an ascending tuple of whole numbers"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, tuple) or not value or not all(Whole(1).fits(width, sizes) for width in value):
            return False
        ascend = all(a < b for a, b in pairwise(value))
        return ascend and sizes.setdefault("resolved", sum(value)) == sum(value)


def _labels(*more_kinds: str, most: int = 2**53) -> dict[str, Form]:
    kinds = Registered("arcrank.graphs.build:_BUILDERS", "graphs", *more_kinds)
    return {"kind": kinds, "labels": Labels("k"), "n_features": Size("d", 1, most), **_FEATURE_NAMES}


_CALIBRATION = {
    **{f"{curve}_{part}": Array("f8", f"{curve} knots") for curve in CURVES for part in ("knots", "values")},
    "temperature": Number(0.0),
    "above_slope": Number(0.0),
    "recall_thresholds": Array("f8", 99, low=0.0),
    "offsets": Array("f8", "k"),
    "documents": Whole(),
    "folds": Whole(),
    "set_measure": Either(OneOf(None), SetMeasure()),
    "first_bonus": Optional(Number(0.0)),
    "one_label": Optional(OneOf(True, False)),
}
_CALIBRATED = {"calibration": Optional(Record(_CALIBRATION))}


def _weights(rows: int | str) -> dict[str, Form]:
    return {"weights": Array("f8", rows, "d"), "intercept": Array("f8", rows)}


def _rows_of_weights(learnt: Values) -> int | str:
    """One for each label; candidates share the weights of their features."""
    return 1 if learnt.get("kind") == "candidates" else "k"


def _rocchio(_: Values, __: Values) -> dict[str, Form]:
    return _labels() | _weights("k") | _CALIBRATED


def _ordinal(_: Values, __: Values) -> dict[str, Form]:
    return _labels() | _weights("k") | _CALIBRATED | {"n_iter": Optional(Whole()), "objective": Measure()}


def _prank(_: Values, __: Values) -> dict[str, Form]:
    state = {name: Array("f8", "state") for name in ("state", "late")}
    return _labels() | _weights("k") | _CALIBRATED | state | {"rounds": Whole(), "rank_loss": Whole()}


def _log_linear(settings: Values, learnt: Values) -> dict[str, Form]:
    threshold = Number(-np.inf, np.inf)
    shared = {} if settings["label_features"] is None else _shared_weights(settings)
    return {
        **shared,
        **_labels("candidates"),
        **_CALIBRATED,
        **_weights(_rows_of_weights(learnt)),
        **_HISTORY,
        "cost": Optional(Measure()),
        "solver": Optional(OneOf("dual", "lbfgs", "boosting")),
        "thresholds": Optional(Record({"any": threshold, "first": threshold})),
    }


def _shared_weights(settings: Values) -> dict[str, Form]:
    """The weights of p label features, which new labels are scored by."""
    columns = "d+1" if settings["fit_intercept"] else "d"
    return {"label_weights": Array("f8", "p", columns), "constant": Number(SMALLEST)}


_BOUND = {
    "n": Whole(),
    "most_pieces": Whole(),
    "most_arcs": Whole(),
    "margin": Number(),
    "radius": Number(0.0),
}
_KERNEL = {
    "name": Registered("arcrank.rankers.kernels:KERNELS"),
    "gamma": Number(SMALLEST),
    "degree": Number(),
    "coef0": Number(),
    "constant": Number(0.0),
}


def learns_codes(settings: Values) -> bool:
    """Return whether a machine has learnt its codes."""
    return isinstance(settings["codes"], str) and settings["codes"] == "learn"


def _machine(settings: Values, learnt: Values) -> dict[str, Form]:
    rows_of_weights = _rows_of_weights(learnt)
    shared = {
        **_HISTORY,
        **_CALIBRATED,
        "cost": Optional(Measure()),
        "bound": Optional(Record(_BOUND)),
        "objective": Optional(Measure()),
        "leave_one_out_bound": Optional(Measure()),
    }
    if learns_codes(settings):
        factors = {"label_codes": Array("f8", "k", "s"), "embedding": Array("f8", "s", "d")}
        return _labels() | shared | factors | {"intercept": Array("f8", "k")}
    if settings["kernel"] == "linear":
        numbers = Array("i8", "m", low=0, high=2**53)
        linear = {"support": numbers, "embedding": Optional(Array("f8", "s", "d"))}
        return _labels("candidates") | _weights(rows_of_weights) | shared | linear
    precomputed = settings["kernel"] == "precomputed"
    rows: int | str = 0 if precomputed else "m"
    vectors = Array("f8", rows, "d") if precomputed else Either(Array("f8", "m", "d"), Csr("m", "d"))
    return {
        **_labels(*([] if precomputed else ["candidates"]), most=MOST_FEATURES),
        **shared,
        "support": Array("i8", "m", low=0, high="d" if precomputed else 2**53),
        "support_vectors": vectors,
        "dual_weights": Array("f8", "m", rows_of_weights),
        "intercept": Optional(Array("f8", rows_of_weights)),
        "kernel": Record(_KERNEL),
    }


def _online(settings: Values, _: Values) -> dict[str, Form]:
    names = Optional(Either(Names("d", "object", distinct=False), Words(list, symbol="d")))
    progress = {
        **_labels(*(["candidates"] if settings.get("kernel") is None else []), most=MOST_FEATURES),
        **_CALIBRATED,
        "feature_names": names,
        "counters": Array("i8", 5, low=0, high=2**63),
        "sums": Either(*(Array("f8", n, low=0.0, high=np.inf) for n in (N_SUMS, N_SUMS - 1))),
        "born": Optional(Array("i8", "columns", low=0, high=2**53)),
        "curve": Array("f8", "points", 3, low=0.0),
        "history": Optional(History()),
    }
    if settings.get("kernel") is None:
        late = ("d", "columns") if settings["average"] else (0, 0)
        return progress | {"weights": Array("f8", "d", "columns", rows=True), "late": Array("f8", *late, rows=True)}
    return {
        **progress,
        "support_data": Array("f8", "values"),
        "support_indices": Array("i4 i8", "values", low=0, high="d"),
        "support_indptr": Array("i4 i8", "m+1", low=0, high=2**53),
        "coefficients": Array("f8", "m", "columns"),
        "before": Array("i8", "m", low=0, high=2**53),
    }


def _shortlist(settings: Values, _: Values) -> dict[str, Form]:
    labels, halves = "u2 i4", "f2 f4"
    return {
        **_labels(most=MOST_FEATURES),
        **_HISTORY,
        **_CALIBRATED,
        "intercept": Array("f8", "k"),
        "cut_weights": Array("f4", "d" if settings["cut_label"] else 0),
        "weight_ptr": Array("i8", "d+1", low=0, high=2**53),
        "weight_labels": Array(labels, "weights", low=0, high="k"),
        "weights": Array(halves, "weights"),
        "list_ptr": Array("i8", "d+1", low=0, high=2**53),
        "member_ptr": Array("i8", "n+1", low=0, high=2**53),
        "list_documents": Array("i4", "entries", low=0, high="n"),
        "list_values": Array(halves, "entries"),
        "member_labels": Array(labels, "members", low=0, high="k"),
    }


_STUMPS = {
    "features": Array("i8", "T", low=0, high="d"),
    "thresholds": Array("f8", "T"),
    "weights": Array("f8", "T"),
}
_LATENT = {
    "components": Either(_NOTHING, Array("f8", "d", "c")),
    "resolutions": Resolutions(),
    "span": Array("f8", "d", "e"),
    "latent_weights": Array("f8", "resolved"),
    "term_weights": Array("f8", "d"),
}


def _stumps() -> dict[str, Form]:
    return {
        "n_features": Size("d", 1, MOST_FEATURES),
        **_FEATURE_NAMES,
        "stumps": Record(_STUMPS),
        "n_rounds": Optional(Size("T", 0)),
        "bounds": Optional(Array("f8", "T", measure=True)),
        "loss_curve": Optional(Array("f8", "losses", measure=True)),
        "validation_curve": Optional(Either(_NOTHING, Array("f8", "tried", measure=True))),
    }


_FOREST = {
    **dict.fromkeys(("roots", "columns"), Array("i8", "T", low=0, high=2**53)),
    **dict.fromkeys(("features", "left", "right"), Array("i8", "N", low=-1, high=2**53)),
    "thresholds": Array("f8", "N"),
    "values": Array("f8", "N", "w"),
    "missing_left": Array("b1", "N"),
}


def _trees(_: Values, __: Values) -> dict[str, Form]:
    return {
        **_labels(most=MOST_FEATURES),
        **_CALIBRATED,
        "intercept": Array("f8", "k"),
        "forest": Record(_FOREST),
        "history": Optional(History()),
    }


def _rankboost(_: Values, __: Values) -> dict[str, Form]:
    return _stumps()


def _semi_supervised(settings: Values, _: Values) -> dict[str, Form]:
    claims = {
        "tentative": Optional(Array("f8", "n", measure=True)),
        "similarity": Optional(Either(_NOTHING, Array("f8", "n", measure=True))),
    }
    if settings["features"] == "stumps":
        return _stumps() | claims | {"latent": _NOTHING}
    latent = {name: form for name, form in _stumps().items() if name in ("n_features", "feature_names", "loss_curve")}
    return latent | claims | {"latent": Record(_LATENT)}


def _binary(_: Values, __: Values) -> dict[str, Form]:
    return {
        "n_features": Size("d"),
        **_FEATURE_NAMES,
        "weights": Array("f8", "d"),
        "intercept": Number(),
        "found_labels": Optional(Array("f8", "n", measure=True)),
        "probabilities": Optional(Array("f8", "n", measure=True)),
        "n_iter": Optional(Whole()),
    }


def _columns(**more: Form) -> Callable[[Values, Values], dict[str, Form]]:
    return lambda _, __: {"n_features": Size("d"), **_FEATURE_NAMES, **more}


def _terms(**more: Form) -> Callable[[Values, Values], dict[str, Form]]:
    return lambda _, __: {"terms": Names("d", "list"), **more}


def _tfidf(settings: Values, _: Values) -> dict[str, Form]:
    idf = {"idf": Array("f8 f4", "d", low=0.0, high=_LARGEST_IDF)} if settings["use_idf"] else {}
    return {"terms": Names("d", "list"), "fixed": Flag(), **idf}


_IDF = Array("f8", "d", low=0.0, high=_LARGEST_IDF)
_SCORES = Optional(Array("f8", "d", measure=True))


def _average(_: Values, learnt: Values) -> dict[str, Form]:
    members = {"members": ListOfRecords()}
    if learnt.get("members"):
        return _labels() | _CALIBRATED | members | {"intercept": Array("f8", "k")}
    return _labels() | _CALIBRATED | members | _weights("k")


class ListOfRecords(Form):
    """A list of what the rankers of an average learnt, which their parts check."""

    says = "a list of records"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _scaler(settings: Values, _: Values) -> dict[str, Form]:
    mean = Array("f8", "d") if settings["with_mean"] else _NOTHING
    scale = Array("f8", "d", low=SMALLEST) if settings["with_std"] else _NOTHING
    return {"n_features": Size("d"), **_FEATURE_NAMES, "mean": mean, "scale": scale}


LEARNT: dict[str, Callable[[Values, Values], dict[str, Form]]] = {
    "log-linear": _log_linear,
    "preference-machine": _machine,
    "mmp": _online,
    "online-preference-machine": _online,
    "perceptron": _online,
    "shortlist": _shortlist,
    "ordinal": _ordinal,
    "prank": _prank,
    "rocchio": _rocchio,
    "average": _average,
    "semi-supervised": _average,
    "dense-scaler": _scaler,
    "standard-scaler": _scaler,
    "trees": _trees,
    "rankboost": _rankboost,
    "semi-supervised-rankboost": _semi_supervised,
    "transductive-svm": _binary,
    "semi-supervised-logistic": _binary,
    "text-features": _terms(idf=_IDF, language=Optional(LANGUAGE)),
    "hashed-text-features": lambda _, __: {},
    "embedding-features": lambda _, __: {"digest": Text()},
    "text-and-embeddings": lambda _, __: {
        "words": Nested("text-features", symbol="words"),
        "embeddings": Nested("embedding-features", symbol="embeddings"),
    },
    "table-features": lambda _, __: {"columns": TableColumns()},
    "term-counts": _terms(),
    "log-counts": _columns(),
    "tf-idf": _columns(idf=_IDF),
    "signed-tf-idf": _columns(idf=_IDF),
    "pivoted-length": _columns(idf=_IDF, mean_terms=Either(OneOf(0.0), Number(1e-12, 1e12))),
    "rocchio-selector": _columns(support=Support(), scores=_SCORES),
    "informative-selector": _columns(support=Support(), scores=_SCORES),
    "count-vectorizer": _terms(fixed=Flag()),
    "tfidf-vectorizer": _tfidf,
    "hashing-vectorizer": lambda _, __: {},
}
"""By the name of the part in files: functions from parameters and learnt values to the forms of the latter."""
