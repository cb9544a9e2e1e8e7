"""Checks across several values of a part of a model file, which the forms of `learnt` cannot express."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arcrank.modelfile.array_forms import log10
from arcrank.modelfile.forms import MisfitError, Sizes, Whole
from arcrank.modelfile.learnt import CURVES, N_SUMS, SMALLEST, Values, learns_codes
from arcrank.modelfile.sparse import StoredCsr

__all__ = ["RELATIONS"]

_INPUT = 1e6
"""Scores of inputs up to this value must be finite."""
_MOST_DIGITS = 300
_MOST_DEGREE = 100


def _check_calibration(calibration: Values | None) -> None:
    """Refuse curves that are not increasing functions: the order of probabilities must be that of scores."""
    if calibration is None:
        return
    ascending = [f"{curve}_knots" for curve in CURVES] + ["score_values"]
    if any((np.diff(calibration[name]) <= 0).any() for name in ascending):
        raise MisfitError("a curve of the calibration does not increase")
    lengths = {len(calibration[f"{curve}_knots"]) for curve in CURVES}
    if lengths != {0} and min(lengths) < 2:
        raise MisfitError("a curve of the calibration has fewer than two knots")
    if not (calibration["temperature"] and calibration["above_slope"]):
        raise MisfitError("a slope of the calibration is 0")


def _check_machine(settings: Values, learnt: Values, _: Sizes) -> None:
    _check_bound(learnt.get("bound"))
    _check_calibration(learnt.get("calibration"))
    if learns_codes(settings):
        if settings["kernel"] != "linear":
            raise MisfitError(f"the codes were learnt, but the parameter kernel is {settings['kernel']!r}")
        return
    support = learnt["support"]
    if (support[1:] <= support[:-1]).any():
        raise MisfitError("the support indices are not ascending")
    if settings["kernel"] == "linear":
        return
    kernel = learnt["kernel"]
    if kernel["name"] != settings["kernel"]:
        raise MisfitError(f"the kernel is {kernel['name']!r}, but the parameter kernel is {settings['kernel']!r}")
    if kernel["name"] == "polynomial":
        _check_growth(kernel, learnt["support_vectors"], learnt["dual_weights"])


def _check_bound(bound: Values | None) -> None:
    """Refuse values whose squares underflow to zero: the bound divides by them."""
    if bound is not None and any(0.0 < abs(bound[name]) < SMALLEST for name in ("margin", "radius")):
        raise MisfitError("the margin or the radius of the bound is too small")
    if bound is not None and bound["margin"] > 0.0 and not bound["radius"]:
        raise MisfitError("the bound has a margin but no radius")


def _check_growth(kernel: Values, vectors: Any, weights: Any) -> None:
    """Refuse a polynomial kernel whose scores of bounded inputs can overflow, or are not real numbers."""
    if not Whole(1, _MOST_DEGREE, floats=True).fits(kernel["degree"], {}):
        raise MisfitError(
            f"the degree of a polynomial kernel is {kernel['degree']!r}; it must be a whole number from 1 to "
            f"{_MOST_DEGREE}, since other powers of negative numbers are not defined"
        )
    values = vectors.data if isinstance(vectors, StoredCsr) else vectors
    longest = vectors.shape[1] * max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    base = kernel["gamma"] * _INPUT * longest + abs(kernel["coef0"])
    total = len(weights) * max(float(weights.max(initial=0.0)), -float(weights.min(initial=0.0)))
    if kernel["degree"] * log10(base) + log10(total) > _MOST_DIGITS:
        raise MisfitError(f"with a polynomial kernel of degree {kernel['degree']}, scores can overflow")


def _check_online(settings: Values, learnt: Values, sizes: Sizes) -> None:
    from arcrank.solvers.online import check_born, check_progress  # imports much that other models do without

    sums = np.append(learnt["sums"], np.zeros(N_SUMS - len(learnt["sums"])))  # an earlier version had one less
    check_progress(learnt["counters"], sums, learnt["curve"])
    _check_calibration(learnt.get("calibration"))
    with_cut = bool(settings["cut_label"]) and "kernel" in settings  # the perceptron has no weights of the cut
    expected = 1 if learnt["kind"] == "candidates" else sizes["k"] + with_cut
    if sizes["columns"] != expected:
        raise MisfitError(f"there are weights of {sizes['columns']} labels, where {expected} are expected")
    if learnt.get("born") is not None:
        check_born(learnt["born"], sizes["columns"], int(learnt["counters"][0]))
    if settings.get("kernel") is not None:
        _check_support(settings, learnt, sizes)


def _check_support(settings: Values, learnt: Values, sizes: Sizes) -> None:
    data, indices, indptr = (learnt[f"support_{name}"] for name in ("data", "indices", "indptr"))
    vectors = StoredCsr(data, indices, indptr, [sizes["m"], sizes["d"]])
    if not vectors.matrix().has_canonical_format:
        raise MisfitError("the indices of a support vector are not ascending")
    rounds, before = int(learnt["counters"][0]), learnt["before"]
    if len(before) and before.max() >= rounds:
        raise MisfitError(f"a support vector was added after {before.max()} rounds, but there were only {rounds}")
    if settings["kernel"] == "poly":
        gamma = 1.0 / sizes["d"] if settings["gamma"] is None else settings["gamma"]
        _check_growth({**settings, "gamma": gamma}, vectors, learnt["coefficients"])


def _check_trees(settings: Values, learnt: Values, sizes: Sizes) -> None:
    from arcrank.solvers.forest import Forest, check_forest  # imports SciPy

    _check_calibration(learnt.get("calibration"))
    wrong = check_forest(Forest(**learnt["forest"]), sizes["d"], sizes["k"] + bool(settings["cut_label"]))
    if wrong is not None:
        raise MisfitError(wrong)


def _check_shortlist(_: Values, learnt: Values, __: Sizes) -> None:
    _check_calibration(learnt.get("calibration"))
    for ptr, values in (
        ("weight_ptr", "weight_labels"),
        ("list_ptr", "list_documents"),
        ("member_ptr", "member_labels"),
    ):
        ends, found = learnt[ptr], learnt[values]
        if ends[0] != 0 or ends[-1] != len(found) or (ends[1:] < ends[:-1]).any():
            raise MisfitError(f"{ptr} does not divide the {len(found)} numbers of {values} into rows")
        falls = found[1:] <= found[:-1]
        if falls.any() and not np.isin(np.flatnonzero(falls) + 1, ends).all():
            raise MisfitError(f"{values} do not ascend within a row")


def _check_latent(settings: Values, learnt: Values, sizes: Sizes) -> None:
    if settings["features"] == "stumps":
        return
    latent = learnt["latent"]
    widest = sizes["d"] if latent["components"] is None else sizes["c"]
    if latent["resolutions"][-1] > widest:
        raise MisfitError(f"the latent resolutions are {latent['resolutions']}, but there are {widest} dimensions")


def _check_stacked(_: Values, __: Values, sizes: Sizes) -> None:
    sizes["d"] = sizes["words"] + sizes["embeddings"]


def _check_tokens(settings: Values, _: Values, __: Sizes) -> None:
    if settings["analyzer"] == "word" and settings["token_pattern"] is None:
        raise MisfitError("the parameter token_pattern is None, but there is no tokenizer")


def _check_grades(_: Values, learnt: Values, sizes: Sizes) -> None:
    _check_calibration(learnt.get("calibration"))
    weights = learnt["weights"]
    if not np.array_equal(weights, np.arange(float(len(weights)))[:, None] * weights[1]):
        raise MisfitError("the weights of grades are not multiples of one projection")
    if "state" in learnt and sizes["state"] != sizes["d"] + sizes["k"] - 1:
        raise MisfitError(f"the state has {sizes['state']} numbers, where {sizes['d'] + sizes['k'] - 1} are expected")


def _check_calibrated(_: Values, learnt: Values, __: Sizes) -> None:
    _check_calibration(learnt.get("calibration"))


RELATIONS: dict[str, Callable[[Values, Values, Sizes], None]] = {
    "log-linear": _check_calibrated,
    "rocchio": _check_calibrated,
    "ordinal": _check_grades,
    "prank": _check_grades,
    "average": _check_calibrated,
    "semi-supervised": _check_calibrated,
    "preference-machine": _check_machine,
    "mmp": _check_online,
    "online-preference-machine": _check_online,
    "perceptron": _check_online,
    "trees": _check_trees,
    "shortlist": _check_shortlist,
    "semi-supervised-rankboost": _check_latent,
    "text-and-embeddings": _check_stacked,
    **dict.fromkeys(("count-vectorizer", "tfidf-vectorizer", "hashing-vectorizer"), _check_tokens),
}
"""By the name of the part in files: checks of its parameters and learnt values together."""
