"""What a page needs of a model."""

from __future__ import annotations

import json
import sys
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import Stemmer

from arcrank._typing import Array
from arcrank.errors import ParameterError
from arcrank.inference.predictor import Predictor

if TYPE_CHECKING:
    from arcrank.export.weights import StoredWeights
    from arcrank.server.served_model import ServedModel
    from arcrank.text import TextFeatures, TfIdf

__all__ = ["STEMMERS", "Contents", "contents_of"]

STEMMERS = ("porter", "english", "german")
"""The algorithms that the page has, written again in JavaScript."""
_OLDEST = (3, 1)  # Snowball, whose English and German stems change between versions
_REMEDY = "Use arcrank serve for this model, or train a linear one: arcrank train DATA --learner log-linear"


class Contents:
    """The facts and arrays of a model, as bytes for a page.

    Attributes
    ----------
    weights : (d, k) array
        The weights of the model; the page may have coarser ones.
    """

    def __init__(self, facts: dict[str, Any], arrays: dict[str, Array], weights: Array) -> None:
        self.facts = facts
        self.weights = weights
        self._arrays = arrays

    def to_bytes(self, stored: StoredWeights) -> bytes:
        """Two lengths, the facts as JSON, and the arrays, each at a multiple of 8 bytes."""
        scales = {} if stored.scales is None else {"scales": stored.scales}
        arrays = {**self._arrays, **scales, "weights": stored.values}
        places, blocks, start = {}, [], 0
        for name, values in arrays.items():
            places[name] = {"kind": values.dtype.name, "start": start, "size": int(values.size)}
            block = np.ascontiguousarray(values).tobytes()
            blocks.append(block + bytes(-len(block) % 8))
            start += len(blocks[-1])
        facts = {**self.facts, "arrays": places}
        written = json.dumps(facts, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
        first = 8 + len(written) + -len(written) % 8
        lengths = np.array([len(written), first], dtype="<u4").tobytes()
        return b"".join([lengths, written, bytes(-len(written) % 8), *blocks])


def contents_of(served: ServedModel) -> Contents:
    """Return what a page needs, or raise an error that says why a page cannot hold this model."""
    predictor = served.predictor
    weights = _weights(predictor)
    transformer = _transformer(predictor)
    text = None if predictor.takes != "text" else transformer
    arrays = {"intercept": np.asarray(predictor.ranker.intercept_, dtype=np.float64)}
    if transformer is not None:
        arrays["idf"] = np.asarray(transformer.idf_, dtype=np.float64)
    facts = {
        "details": _details(served),
        "labels": [str(label) for label in predictor.labels],
        "features": text.terms_ if text is not None else _feature_names(predictor),
        "text": None if text is None else _reading(text),
        "weighting": _weighting(transformer),
        "hasCut": served.has_cut,
        "calibration": _calibration(predictor.calibration),
    }
    return Contents(facts, arrays, weights)


def _weights(predictor: Predictor) -> Array:
    weights = predictor._weights
    if weights is None and predictor._is_low_rank():
        weights = predictor.ranker.coef_.T
    if weights is None:
        name = type(predictor.ranker).__name__
        raise ParameterError(f"{name} has no weight for each feature and label, as a page needs.\n{_REMEDY}")
    return np.asarray(weights, dtype=np.float64)


def _transformer(predictor: Predictor) -> TextFeatures | TfIdf | None:
    """What makes the features of a model: of texts, of counts, or None where they are as given."""
    from arcrank.text import TextFeatures, TfIdf

    steps = [] if predictor.transformers is None else [step for _, step in predictor.transformers.steps]
    of_columns = predictor.columns.kind in ("named", "numbered")
    if not steps and of_columns:
        return None
    if len(steps) != 1 or not isinstance(steps[0], TfIdf if of_columns else TextFeatures):
        found = ", ".join(type(step).__name__ for step in steps) or "hashed names"
        raise ParameterError(f"A page computes TextFeatures, TfIdf or none, and this model has {found}.\n{_REMEDY}")
    return steps[0]


def _weighting(transformer: TextFeatures | TfIdf | None) -> dict[str, Any]:
    """How terms are weighed beside their idf."""
    if transformer is None:
        return {"sublinear": False, "norm": None}
    return {"sublinear": bool(transformer.sublinear), "norm": transformer.norm}


def _feature_names(predictor: Predictor) -> list[str]:
    width = predictor.columns.width
    return predictor.columns.names if predictor.columns.names is not None else list(map(str, range(width)))


def _reading(text: TextFeatures) -> dict[str, Any]:
    """How texts are cut into terms and weighed."""
    tokenizer = text.make_tokenizer()
    return {
        "lowercase": bool(text.lowercase),
        "digits": text.digits,
        "stopWords": sorted(tokenizer._stop_set()),
        "stemmer": _stemmer(tokenizer.stem),
        "minLength": int(text.min_length),
        "ngrams": int(text.ngrams),
        "wordRanges": _word_ranges(),
        **_weighting(text),
    }


def _stemmer(stem: bool | str) -> str | None:
    name = "porter" if stem is True else stem or None
    if name is not None and name not in STEMMERS:
        raise ParameterError(
            f"A page has the stems of {', '.join(STEMMERS)}, and this model has those of {name}.\n"
            "Use arcrank serve for this model, or train one without stems: --set stem=false"
        )
    if name in ("english", "german") and tuple(map(int, Stemmer.version().split(".")[:2])) < _OLDEST:
        raise ParameterError(
            f"The page has the {name} stems of Snowball 3.1, and this PyStemmer has version {Stemmer.version()}.\n"
            "Update it, so that page and model agree: pip install --upgrade PyStemmer"
        )
    return name


@cache
def _word_ranges() -> list[int]:
    """First and last code point of each range of characters in words, which differ between versions of Unicode."""
    ranges: list[int] = []
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if not (char.isalnum() or unicodedata.category(char)[0] == "M"):
            continue
        if ranges and ranges[-1] == code - 1:
            ranges[-1] = code
        else:
            ranges += [code, code]
    return ranges


def _calibration(calibration: Any) -> dict[str, Any] | None:
    if calibration is None:
        return None
    single = {"single": calibration.is_single, "temperature": float(calibration.temperature)}
    if not len(calibration.score_knots):
        return single
    curves = {
        name: {part: getattr(calibration, f"{name}_{part}").tolist() for part in ("knots", "values")}
        for name in ("score", "best", "second")
    }
    return {**single, **curves, "firstBonus": float(calibration.first_bonus)}


def _details(served: ServedModel) -> dict[str, Any]:
    """What the server answers about a model; the page does not learn."""
    return {
        "name": served.name,
        "checksum": served.checksum,
        "learner": str(served.facts["learner"]),
        "labels": len(served.predictor.labels),
        "takes": "text" if served.predictor.takes_text else "features",
        "calibrated": served.is_calibrated,
        "cut": served.has_cut,
        "explains": True,
        "learning": "off",
        "learnt": 0,
        "hierarchy": served.hierarchy,
    }
