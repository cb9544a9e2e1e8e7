"""Manifests and arrays as checked parts, and as models: what `load` does apart from reading files.

Nothing here imports scikit-learn until a model is built: ranking needs the parts of a linear model only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank.errors import ModelFileError
from arcrank.modelfile.auto import restore_auto
from arcrank.modelfile.manifest import check_agreement, read_stored_card
from arcrank.modelfile.registry import part_named
from arcrank.modelfile.rows import check_memory
from arcrank.modelfile.values import DTYPES, decode, expand

__all__ = ["StoredModel", "StoredPart", "bytes_of", "empty_array", "pipeline_classes", "read_parts", "stored_model"]


@contextmanager
def _as_refusal(owner: str) -> Iterator[None]:
    """While an estimator, the owner, is saved, name it in errors."""
    try:
        yield
    except ValueError as error:
        raise (ModelFileError(f"{owner} cannot be saved: {error}.") if owner else error) from None


class StoredPart:
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
        """Raise ValueError for names that are not distinct."""
        with _as_refusal(owner):
            self.part.check_closely(self.parameters, self.learnt)

    def build(self) -> Any:
        """Return the fitted estimator."""
        return self.part.build(expand(self.parameters), expand(self.learnt))

    def values(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return all parameters and what was learnt, with names and matrices as arrays."""
        return expand(self.part.settings(self.parameters)), expand(self.learnt)


def read_parts(manifest: dict[str, Any], arrays: dict[str, NDArray[Any]], owners: list[str]) -> list[StoredPart]:
    """The parts, after all checks that load and save share; owners are the estimators that are saved, or ""."""
    read = [StoredPart(number, part, arrays, owners[number]) for number, part in enumerate(manifest["parts"])]
    check_agreement(manifest, [one.part for one in read], [one.sizes for one in read])
    for one, owner in zip(read, owners, strict=True):
        one.check_closely(owner)
    return read


@dataclass(frozen=True)
class StoredModel:
    """A model whose parts and card have been read and checked, but not yet built."""

    parts: list[StoredPart]
    card: dict[str, Any]
    is_pipeline: bool

    def build(self) -> Any:
        """Return the model of estimators."""
        steps = [(part.step, part.build()) for part in self.parts]
        model = _pipeline(steps) if self.is_pipeline else steps[0][1]
        model.model_card_ = self.card
        return restore_auto(model, self.card)


def stored_model(manifest: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> StoredModel:
    """Return the parts; until all of them are checked, nothing takes more memory than the file."""
    read = read_parts(manifest, arrays, [""] * len(manifest["parts"]))
    card = read_stored_card(manifest)
    check_memory(value for one in read for value in one.learnt.values())
    return StoredModel(read, card, manifest["pipeline"])


def _pipeline(steps: list[tuple[str, Any]]) -> Any:
    plain, ranking = pipeline_classes()
    return (ranking if hasattr(steps[-1][1], "rank") else plain)(steps)


def pipeline_classes() -> tuple[Any, Any]:
    """scikit-learn's and ours, imported only for pipelines: it takes a tenth of a second."""
    from sklearn.pipeline import Pipeline

    from arcrank.rankers.pipeline import RankingPipeline

    return Pipeline, RankingPipeline


def empty_array(dtype: str, shape: list[int]) -> tuple[NDArray[Any], memoryview]:
    """An array to be filled, and its bytes."""
    numpy_name = next(name for name, stored in DTYPES.items() if stored == dtype)
    array = np.empty(shape, dtype=numpy_name)
    return array, bytes_of(array)


def bytes_of(array: NDArray[Any]) -> memoryview:
    """Return the bytes of an array in C order."""
    return array.reshape(-1).view("u1").data
