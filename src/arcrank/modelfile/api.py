"""Save, load and inspect model files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from arcrank.errors import ModelFileError
from arcrank.io.atomic import write_atomically
from arcrank.modelfile.container import container_bytes, damaged, open_container
from arcrank.modelfile.manifest import check_manifest, read_stored_card
from arcrank.modelfile.values import readable

if TYPE_CHECKING:
    from arcrank.modelfile.reading import StoredModel

__all__ = ["build_model", "load", "read_card", "read_model", "save"]

Path = str | os.PathLike[str]


def save(model: Any, path: Path, *, card: dict[str, Any] | None = None) -> None:
    """Save a fitted model to one file, atomically: after a crash the path holds the old model or the new one.

    What `load` would refuse is refused here, by the same checks: weights that are not finite or beyond 1e100, labels
    that are empty or hold a NUL character, a vectorizer that reads files or whose `token_pattern` may take more than
    linear time, and polynomial kernels of a fractional degree.

    Parameters
    ----------
    model : a fitted ranker, or a RankingPipeline or scikit-learn Pipeline of text features and a ranker
        Of exactly these classes, with parameters that are values: a model file holds no code. Anything else is refused
        with an error that names it, before anything is written. `callback` and `random_state` are not stored if they
        are objects, nor is what `warm_start` remembers of the data.
    path : str or path
        By convention it ends in ".arcrank"; other tools read it as safetensors.
    card : dict of JSON types, or None
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
    from arcrank.modelfile.models import (
        model_to_manifest,  # imports NumPy and scikit-learn, which `read_card` does not need
    )

    manifest, blocks = model_to_manifest(model, getattr(model, "model_card_", {}) if card is None else card)
    write_atomically(path, container_bytes(manifest, blocks))


def load(path: Path) -> Any:
    """Return the model that `save` wrote: same scores to the last bit, and online rankers continue as if never saved.

    Text features and a label ranker come back as a `RankingPipeline`, which ranks texts.

    Every byte is checked first; a file that is damaged, of a newer format or not a model raises `ModelFileError`. So
    does a forged file whose values do not agree with each other; every model that loads gives finite scores for inputs
    of up to 1e6. The card is the model's `model_card_`.

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
    return build_model(read_model(path), path)


def build_model(stored: StoredModel, path: Path) -> Any:
    """Return the model of estimators that was read from this file."""
    with _as_damage(os.fspath(path)):
        return stored.build()


def read_model(path: Path) -> StoredModel:
    """Return the checked parts of a model, from which `build_model` makes what `load` returns."""
    from arcrank.modelfile.reading import empty_array, stored_model  # imports NumPy, which `read_card` does not need

    with open_container(path) as container:
        with _as_damage(container.path):
            check_manifest(container.manifest)
        arrays = container.read_arrays(empty_array)
    with _as_damage(container.path):
        return stored_model(container.manifest, arrays)


def read_card(path: Path) -> dict[str, Any]:
    """Describe a model file from its checked manifest alone: no array is read, and nothing heavy is imported.

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
        return {"bytes": size, **_description(container.manifest)}


def _description(manifest: dict[str, Any]) -> dict[str, Any]:
    facts = {name: manifest.get(name) for name in ("format", "arcrank", "learner", "labels", "features")}
    arrays = {name: {"dtype": at["dtype"], "shape": at["shape"]} for name, at in manifest["arrays"].items()}
    parts = [
        {"name": part["name"], "step": part["step"], "parameters": readable(part["parameters"])}
        for part in manifest["parts"]
    ]
    return {**facts, "parts": parts, "arrays": arrays, "card": read_stored_card(manifest)}


@contextmanager
def _as_damage(path: str) -> Iterator[None]:
    """Turn errors of a manifest whose checksum is right, but which `save` did not write, into `ModelFileError`."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise damaged(path, f"its parts do not fit together ({error})") from error
