"""Save, load and look at model files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from arcrank.errors import ModelFileError
from arcrank.io.atomic import write_atomically
from arcrank.modelfile.container import container_bytes, damaged, open_container
from arcrank.modelfile.manifest import check_agreement, check_manifest
from arcrank.modelfile.values import DTYPES, Encoder, decode, expand, readable

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["load", "read_card", "save"]

Path = str | os.PathLike[str]


def save(model: Any, path: Path, *, card: dict[str, Any] | None = None) -> None:
    """Write a fitted model to one file, which holds the old model or the new one whatever happens meanwhile.

    What `load` would refuse is refused here, by the same checks: weights that are not finite or beyond 1e100, labels
    that are empty or hold a NUL character, a vectorizer that reads files or whose `token_pattern` may take more than
    linear time, and polynomial kernels of a fractional degree.

    Parameters
    ----------
    model : a fitted ranker, or a scikit-learn Pipeline of text features and a ranker
        Of exactly these classes, with parameters that are values: a model file holds no code. Anything else is
        refused by name, before anything is written. Two parameters are not kept where they are objects, `callback` and
        `random_state`; nor is what `warm_start` remembers of the data.
    path : str or path
        By custom it ends in ".arcrank"; other tools read it as safetensors.
    card : dict of JSON's types, or None
        How it was trained, measures, "hierarchy": {label: parent or None}, ... None keeps the card that the model was
        loaded with.

    Examples
    --------
    >>> import arcrank, os, tempfile
    >>> ranker = arcrank.RocchioRanker().fit([[1, 0], [0, 1]], ["tea", "milk"])
    >>> path = os.path.join(tempfile.mkdtemp(), "drinks.arcrank")
    >>> arcrank.save(ranker, path, card={"trained on": "two cups"})
    >>> arcrank.load(path).rank([[2, 1]]).tolist()
    [['tea', 'milk']]
    """
    manifest, arrays = _packed(model, getattr(model, "model_card_", {}) if card is None else card)
    # Arrays of the widest numbers first, so that all of them lie at multiples of their width.
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    blocks = {name: (DTYPES[array.dtype.str], list(array.shape), _bytes_of(array)) for name, array in ordered}
    write_atomically(path, container_bytes(manifest, blocks))


def load(path: Path) -> Any:
    """Return the model that `save` wrote: the same scores to the last bit, and for online rankers the same future.

    Every byte is checked first; a file that is damaged, of a newer format or no model at all raises `ModelFileError`.
    So does one that somebody forged so that its values do not agree with each other; what is left is a model, which
    gives finite scores for inputs of up to 1e6. The card is the model's `model_card_`.

    Examples
    --------
    >>> import arcrank, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "drinks.arcrank")
    >>> ranker = arcrank.MMPRanker().fit([[1, 0], [0, 1]], [["tea"], ["milk"]])
    >>> arcrank.save(ranker, path, card={"cups": 2})
    >>> again = arcrank.load(path)
    >>> again.model_card_, again.partial_fit([[3, 1]], [["tea"]]).n_rounds_
    ({'cups': 2}, 3)
    """
    with open_container(path) as container:
        with _as_damage(container.path):
            check_manifest(container.manifest)
        arrays = container.read_arrays(_empty)
    with _as_damage(container.path):
        return _unpacked(container.manifest, arrays)


def read_card(path: Path) -> dict[str, Any]:
    """Tell what a model file holds, from its checked manifest alone: no array is read, and nothing heavy imported.

    Returns "format", "arcrank" (the version that wrote it), "bytes", "learner", "labels" and "features" (counts; labels
    is None for rankers of instances), "parts" (each with "name", "step" and "parameters"), "arrays" and "card".

    Examples
    --------
    >>> import arcrank, os, tempfile
    >>> from arcrank.modelfile import read_card
    >>> path = os.path.join(tempfile.mkdtemp(), "drinks.arcrank")
    >>> arcrank.save(arcrank.RocchioRanker().fit([[1, 0], [0, 1]], ["tea", "milk"]), path)
    >>> card = read_card(path)
    >>> card["learner"], card["labels"], card["features"], card["parts"][0]["parameters"]
    ('rocchio', 2, 2, {'beta': 16.0, 'gamma': 4.0})
    """
    with open_container(path) as container:
        size = os.fstat(container.file.fileno()).st_size
    with _as_damage(container.path):
        check_manifest(container.manifest)
        return {"bytes": size, **_told(container.manifest)}


def _told(manifest: dict[str, Any]) -> dict[str, Any]:
    facts = {name: manifest.get(name) for name in ("format", "arcrank", "learner", "labels", "features")}
    arrays = {name: {"dtype": at["dtype"], "shape": at["shape"]} for name, at in manifest["arrays"].items()}
    parts = [
        {"name": part["name"], "step": part["step"], "parameters": readable(part["parameters"])}
        for part in manifest["parts"]
    ]
    return {**facts, "parts": parts, "arrays": arrays, "card": _card(manifest)}


def _card(manifest: dict[str, Any]) -> dict[Any, Any]:
    card = decode(manifest["card"])
    if not isinstance(card, dict):
        raise ValueError("the card is not a dict")
    return card


@contextmanager
def _as_damage(path: str) -> Iterator[None]:
    """Whatever goes wrong with a manifest whose checksum was right: somebody else made it, or made it up."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise damaged(path, f"its parts do not fit together ({error})") from error


def _packed(model: Any, card: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The manifest and the arrays of a model, those of its first part as "0/...", of the next as "1/..."."""
    import arcrank

    steps, parts = _steps(model), []
    arrays: dict[str, NDArray[Any]] = {}
    for number, (step, estimator) in enumerate(steps):
        part, found = _packed_part(step, estimator)
        parts.append(part)
        arrays |= {f"{number}/{name}": array for name, array in found.items()}
    ranker = steps[-1][1]
    manifest = {
        "arcrank": arcrank.__version__,
        "learner": parts[-1]["name"],
        "labels": len(ranker.labels_) if hasattr(ranker, "rank") else None,
        "features": int(ranker.n_features_in_),
        "pipeline": steps[0][0] is not None,
        "parts": parts,
        "card": _packed_card(card),
    }
    _check_packed(manifest, arrays, [type(estimator).__name__ for _, estimator in steps])
    return manifest, arrays


def _check_packed(manifest: dict[str, Any], arrays: dict[str, NDArray[Any]], owners: list[str]) -> None:
    """Refuse what could not be loaded, in the words of the model."""
    try:
        check_manifest(manifest)
        _read_parts(manifest, arrays, owners)
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"The model cannot be saved: {error}.") from None


def _packed_card(card: Any) -> Any:
    if not isinstance(card, dict):
        raise ModelFileError(f"A card is a dict of JSON's types, got {type(card).__name__}.")
    encoder = Encoder("The card")
    encoded = encoder.encode(card, "card")
    if encoder.arrays:
        raise ModelFileError(f"The card holds the array {next(iter(encoder.arrays))}; give lists, e.g. by tolist().")
    return encoded


def _steps(model: Any) -> list[tuple[str | None, Any]]:
    """The steps of a pipeline by name, or a ranker alone, whose step has no name; all of them known and fitted."""
    from sklearn.pipeline import Pipeline

    from arcrank.modelfile.registry import part_of

    steps = model.steps if type(model) is Pipeline else [(None, model)]
    ranks = [part_of(estimator).ranks for _, estimator in steps]
    if not ranks[-1] or any(ranks[:-1]):
        raise ModelFileError(
            f"{type(steps[-1][1]).__name__} cannot be saved as the last step of a model: text features come first, and "
            "one ranker last."
        )
    for _, estimator in steps:
        _check_fitted(estimator)
    return list(steps)


def _check_fitted(estimator: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise ModelFileError(f"{type(estimator).__name__} cannot be saved before it is fitted; call fit.") from None


def _packed_part(step: str | None, estimator: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from arcrank.modelfile.registry import part_of

    part, encoder = part_of(estimator), Encoder(type(estimator).__name__)
    parameters = {
        name: encoder.encode(value, f"the parameter {name}") for name, value in part.parameters(estimator).items()
    }
    learnt = {name: encoder.encode(value, name) for name, value in part.learnt(estimator).items()}
    return {"name": part.name, "step": step, "parameters": parameters, "learnt": learnt}, encoder.arrays


@contextmanager
def _as_refusal(owner: str) -> Iterator[None]:
    """When a model of an owner is saved, errors are about it and not about a file."""
    try:
        yield
    except ValueError as error:
        raise (ModelFileError(f"{owner} cannot be saved: {error}.") if owner else error) from None


class _Read:
    """A part whose values have been read and checked, but neither expanded nor made an estimator."""

    def __init__(self, number: int, stored: dict[str, Any], arrays: dict[str, NDArray[Any]], owner: str) -> None:
        from arcrank.modelfile.registry import part_named

        self.part, self.step = part_named(stored["name"]), stored["step"]
        mine = {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{number}/")}
        # An array that two values share would change for both when one is learnt on.
        self.parameters, self.learnt = (decode(stored[name], mine.pop) for name in ("parameters", "learnt"))
        if mine:
            raise ValueError(f"nothing names the array {next(iter(mine))!r:.80}")
        with _as_refusal(owner):
            self.sizes = self.part.check(self.parameters, self.learnt)

    def check_closely(self, owner: str) -> None:
        with _as_refusal(owner):
            self.part.check_closely(self.parameters, self.learnt)

    def built(self) -> tuple[str, Any]:
        return self.step, self.part.build(expand(self.parameters), expand(self.learnt))


def _read_parts(manifest: dict[str, Any], arrays: dict[str, NDArray[Any]], owners: list[str]) -> list[_Read]:
    """The parts, after all checks that load and save share; owners are the estimators that are saved, or ""."""
    read = [_Read(number, part, arrays, owners[number]) for number, part in enumerate(manifest["parts"])]
    check_agreement(manifest, [one.part for one in read], [one.sizes for one in read])
    for one, owner in zip(read, owners, strict=True):
        one.check_closely(owner)
    return read


def _unpacked(manifest: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    """The model; nothing takes more memory than the file before all of it has been checked."""
    from arcrank.modelfile.rows import check_memory

    read = _read_parts(manifest, arrays, [""] * len(manifest["parts"]))
    card = _card(manifest)
    check_memory(value for one in read for value in one.learnt.values())
    steps = [one.built() for one in read]
    model = _pipeline(steps) if manifest["pipeline"] else steps[0][1]
    model.model_card_ = card
    return model


def _pipeline(steps: list[tuple[str, Any]]) -> Any:
    from sklearn.pipeline import Pipeline

    return Pipeline(steps)


def _empty(dtype: str, shape: list[int]) -> tuple[NDArray[Any], memoryview]:
    import numpy as np

    numpy_name = next(name for name, stored in DTYPES.items() if stored == dtype)
    array = np.empty(shape, dtype=numpy_name)
    return array, _bytes_of(array)


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view("u1").data
