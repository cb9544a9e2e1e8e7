"""Save, load and look at model files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from arcrank.errors import ModelFileError
from arcrank.io.atomic import write_atomically
from arcrank.modelfile.container import container_bytes, damaged, open_container
from arcrank.modelfile.manifest import check_manifest, read_stored_card
from arcrank.modelfile.values import readable

__all__ = ["load", "read_card", "save"]

Path = str | os.PathLike[str]


def save(model: Any, path: Path, *, card: dict[str, Any] | None = None) -> None:
    """Write a fitted model to one file, which holds the old model or the new one whatever happens meanwhile.

    What `load` would refuse is refused here, by the same checks: weights that are not finite or beyond 1e100, labels
    that are empty or hold a NUL character, a vectorizer that reads files or whose `token_pattern` may take more than
    linear time, and polynomial kernels of a fractional degree.

    Parameters
    ----------
    model : a fitted ranker, or a RankingPipeline or scikit-learn Pipeline of text features and a ranker
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
    from arcrank.modelfile.models import packed  # NumPy and scikit-learn, which `read_card` does without

    manifest, blocks = packed(model, getattr(model, "model_card_", {}) if card is None else card)
    write_atomically(path, container_bytes(manifest, blocks))


def load(path: Path) -> Any:
    """Return the model that `save` wrote: the same scores to the last bit, and for online rankers the same future.

    Text features and a label ranker come back as a `RankingPipeline`, which ranks texts.

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
    from arcrank.modelfile.models import empty_array, unpacked

    with open_container(path) as container:
        with _as_damage(container.path):
            check_manifest(container.manifest)
        arrays = container.read_arrays(empty_array)
    with _as_damage(container.path):
        return unpacked(container.manifest, arrays)


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
    return {**facts, "parts": parts, "arrays": arrays, "card": read_stored_card(manifest)}


@contextmanager
def _as_damage(path: str) -> Iterator[None]:
    """Whatever goes wrong with a manifest whose checksum was right: somebody else made it, or made it up."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise damaged(path, f"its parts do not fit together ({error})") from error
