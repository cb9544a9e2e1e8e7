"""Models as manifests and arrays, and back: what `save` and `load` do apart from reading and writing files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from arcrank import __version__
from arcrank.errors import ModelFileError
from arcrank.modelfile.auto import auto_entry, is_auto, restore_auto
from arcrank.modelfile.encoder import Encoder
from arcrank.modelfile.manifest import check_agreement, check_manifest, read_stored_card
from arcrank.modelfile.registry import part_named, part_of
from arcrank.modelfile.rows import check_memory
from arcrank.modelfile.values import DTYPES, decode, expand

__all__ = ["empty_array", "model_from_manifest", "model_to_manifest"]

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
    return {name: (DTYPES[array.dtype.str], list(array.shape), _bytes_of(array)) for name, array in ordered}


def _check_packed(manifest: dict[str, Any], arrays: dict[str, NDArray[Any]], owners: list[str]) -> None:
    """Refuse what could not be loaded, with errors that name the estimator."""
    try:
        check_manifest(manifest)
        _read_parts(manifest, arrays, owners)
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
    steps = model.steps if hasattr(model, "steps") and type(model) in _pipeline_classes() else [(None, model)]
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


@contextmanager
def _as_refusal(owner: str) -> Iterator[None]:
    """While an estimator, the owner, is saved, name it in errors."""
    try:
        yield
    except ValueError as error:
        raise (ModelFileError(f"{owner} cannot be saved: {error}.") if owner else error) from None


class _StoredPart:
    """A part whose values have been read and checked, but not yet expanded or built into an estimator."""

    def __init__(self, number: int, stored: dict[str, Any], arrays: dict[str, NDArray[Any]], owner: str) -> None:
        self.part, self.step = part_named(stored["name"]), stored["step"]
        mine = {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{number}/")}
        # Each array belongs to one value: a shared one would change for both in further training.
        self.parameters, self.learnt = (decode(stored[name], mine.pop) for name in ("parameters", "learnt"))
        if mine:
            raise ValueError(f"no value uses the array {next(iter(mine))!r:.80}")
        with _as_refusal(owner):
            self.sizes = self.part.check(self.parameters, self.learnt)

    def check_closely(self, owner: str) -> None:
        with _as_refusal(owner):
            self.part.check_closely(self.parameters, self.learnt)

    def built(self) -> tuple[str, Any]:
        return self.step, self.part.build(expand(self.parameters), expand(self.learnt))


def _read_parts(manifest: dict[str, Any], arrays: dict[str, NDArray[Any]], owners: list[str]) -> list[_StoredPart]:
    """The parts, after all checks that load and save share; owners are the estimators that are saved, or ""."""
    read = [_StoredPart(number, part, arrays, owners[number]) for number, part in enumerate(manifest["parts"])]
    check_agreement(manifest, [one.part for one in read], [one.sizes for one in read])
    for one, owner in zip(read, owners, strict=True):
        one.check_closely(owner)
    return read


def model_from_manifest(manifest: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    """Return the model; until all of it is checked, nothing takes more memory than the file."""
    read = _read_parts(manifest, arrays, [""] * len(manifest["parts"]))
    card = read_stored_card(manifest)
    check_memory(value for one in read for value in one.learnt.values())
    steps = [one.built() for one in read]
    model = _pipeline(steps) if manifest["pipeline"] else steps[0][1]
    model.model_card_ = card
    return restore_auto(model, card)


def _pipeline(steps: list[tuple[str, Any]]) -> Any:
    plain, ranking = _pipeline_classes()
    return (ranking if hasattr(steps[-1][1], "rank") else plain)(steps)


def _pipeline_classes() -> tuple[Any, Any]:
    """scikit-learn's and ours, imported only for pipelines: it takes a tenth of a second."""
    from sklearn.pipeline import Pipeline

    from arcrank.rankers.pipeline import RankingPipeline

    return Pipeline, RankingPipeline


def empty_array(dtype: str, shape: list[int]) -> tuple[NDArray[Any], memoryview]:
    """An array to be filled, and its bytes."""
    numpy_name = next(name for name, stored in DTYPES.items() if stored == dtype)
    array = np.empty(shape, dtype=numpy_name)
    return array, _bytes_of(array)


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view("u1").data
