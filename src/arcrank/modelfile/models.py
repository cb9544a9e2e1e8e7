"""Models as manifests and arrays: what `save` does apart from writing files."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from arcrank import __version__
from arcrank.errors import ModelFileError
from arcrank.modelfile.auto import auto_entry, is_auto
from arcrank.modelfile.encoder import Encoder
from arcrank.modelfile.manifest import check_manifest
from arcrank.modelfile.reading import bytes_of, pipeline_classes, read_parts
from arcrank.modelfile.registry import part_of
from arcrank.modelfile.values import DTYPES

__all__ = ["model_to_manifest"]

Block = tuple[str, list[int], memoryview]
"""The type, the shape and the bytes of an array."""


def model_to_manifest(model: Any, card: Any) -> tuple[dict[str, Any], dict[str, Block]]:
    """Return the manifest of a model, and its arrays as blocks: "0/..." of its first part, "1/..." of the next, etc."""
    if is_auto(model):
        card = {**card, **auto_entry(model)} if isinstance(card, dict) else card
        model = model.model_
    steps, parts = _steps(model), []
    arrays: dict[str, NDArray[Any]] = {}
    for number, (step, estimator) in enumerate(steps):
        part, found = _packed_part(step, estimator)
        parts.append(part)
        arrays |= {f"{number}/{name}": array for name, array in found.items()}
    ranker = steps[-1][1]
    manifest = {
        "arcrank": __version__,
        "learner": parts[-1]["name"],
        "labels": len(ranker.labels_) if hasattr(ranker, "rank") else None,
        "features": int(ranker.n_features_in_),
        "pipeline": steps[0][0] is not None,
        "parts": parts,
        "card": _packed_card(card),
    }
    _check_packed(manifest, arrays, [type(estimator).__name__ for _, estimator in steps])
    return manifest, _blocks(arrays)


def _blocks(arrays: dict[str, NDArray[Any]]) -> dict[str, Block]:
    """Arrays of the widest numbers first, so that all of them lie at multiples of their width."""
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    return {name: (DTYPES[array.dtype.str], list(array.shape), bytes_of(array)) for name, array in ordered}


def _check_packed(manifest: dict[str, Any], arrays: dict[str, NDArray[Any]], owners: list[str]) -> None:
    """Refuse what could not be loaded, with errors that name the estimator."""
    try:
        check_manifest(manifest)
        read_parts(manifest, arrays, owners)
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"The model cannot be saved: {error}.") from None


def _packed_card(card: Any) -> Any:
    if not isinstance(card, dict):
        raise ModelFileError(f"The card must be a dict of JSON types, got {type(card).__name__}.")
    encoder = Encoder("The card")
    encoded = encoder.encode(card, "card")
    if encoder.arrays:
        raise ModelFileError(f"The card holds the array {next(iter(encoder.arrays))}; convert it with tolist().")
    return encoded


def _steps(model: Any) -> list[tuple[str | None, Any]]:
    """The steps of a pipeline by name, or a ranker alone, whose step has no name; all of them known and fitted."""
    steps = model.steps if hasattr(model, "steps") and type(model) in pipeline_classes() else [(None, model)]
    ranks = [part_of(estimator).ranks for _, estimator in steps]
    if not ranks[-1] or any(ranks[:-1]):
        raise ModelFileError(
            f"{type(steps[-1][1]).__name__} cannot be saved as the last step of a model: text features come first, and "
            "a ranker last."
        )
    for _, estimator in steps:
        _check_fitted(estimator)
    return list(steps)


def _check_fitted(estimator: Any) -> None:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise ModelFileError(
            f"{type(estimator).__name__} cannot be saved before it is fitted; call fit first."
        ) from None


def _packed_part(step: str | None, estimator: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    part, encoder = part_of(estimator), Encoder(type(estimator).__name__)
    parameters = {
        name: encoder.encode(value, f"the parameter {name}") for name, value in part.parameters(estimator).items()
    }
    learnt = {name: encoder.encode(value, name) for name, value in part.learnt(estimator).items()}
    return {"name": part.name, "step": step, "parameters": parameters, "learnt": learnt}, encoder.arrays
