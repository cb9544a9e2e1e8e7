"""A model in memory with all that its routes need."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import arcrank
from arcrank._wording import as_json
from arcrank.datasets import Corpus
from arcrank.errors import InputError, ModelFileError
from arcrank.inference.array_model import load_for_ranking
from arcrank.inference.predictor import Predictor, ranks_documents
from arcrank.modelfile import read_card
from arcrank.modelfile.container import open_container
from arcrank.server.label_index import LabelIndex
from arcrank.server.live_predictor import LivePredictor

__all__ = ["ServedModel", "file_checksum", "learns_online"]

Cells = dict[str, Any]
Document = str | Cells


def file_checksum(path: Path) -> str:
    """The SHA-256 of a model file's header, which holds the checksums of its manifest and of all its arrays."""
    with open_container(path) as container:  # refuses what is not a whole model file
        container.file.seek(0)
        start = container.file.read(8)
        return hashlib.sha256(start + container.file.read(int.from_bytes(start, "little"))).hexdigest()


def learns_online(predictor: Predictor) -> bool:
    """Whether a model can learn a preference at once: an online ranker of texts or hashed features, no kernel."""
    ranker = predictor.ranker
    is_linear = getattr(ranker, "kernel", None) in (None, "linear")
    is_named = all(isinstance(label, str) for label in predictor.labels)
    return hasattr(ranker, "partial_fit") and is_linear and is_named and predictor.columns.kind in ("text", "folded")


@dataclass
class ServedModel:
    """A model file that has been read.

    Attributes
    ----------
    learnt : int
        Preferences learnt since the file was read.
    """

    name: str
    path: Path
    checksum: str
    facts: dict[str, Any]
    model: Any
    predictor: Predictor
    index: LabelIndex
    learnt: int = 0
    loaded: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @classmethod
    def read(cls, path: Path, name: str, *, live: bool = False, estimators: bool = False) -> ServedModel:
        """Read a model file; one that is replaced meanwhile is read again.

        Linear models are read as arrays, which rank a document in less time, unless `estimators` are asked for; what
        is to learn (`live`) has to be an estimator.
        """
        load = arcrank.load if live or estimators else load_for_ranking
        while True:
            checksum = file_checksum(path)
            facts, model = read_card(path), load(path)
            if file_checksum(path) == checksum:
                break
        if ranks_documents(model):
            raise ModelFileError(f"{path} ranks documents, and this server ranks labels; use arcrank rank for it.")
        predictor = Predictor(model) if not live else _live(model)
        index = LabelIndex([str(label) for label in predictor.labels])
        return cls(name, path, checksum, facts, model, predictor, index)

    def refresh(self) -> None:
        """Take up labels that the ranker has learnt."""
        if len(self.predictor.labels) != len(self.predictor.ranker.labels_):
            self.predictor = LivePredictor(self.model)
            self.index = LabelIndex([str(label) for label in self.predictor.labels])
            for name in ("written_labels", "columns_by_name"):
                self.__dict__.pop(name, None)

    @cached_property
    def columns_by_name(self) -> dict[str, int]:
        """The columns of the labels."""
        return {str(label): column for column, label in enumerate(self.predictor.labels)}

    @cached_property
    def written_labels(self) -> dict[Any, str]:
        """The labels as JSON strings."""
        return {label: as_json(str(label)) for label in self.predictor.labels}

    @property
    def hierarchy(self) -> dict[str, str | None] | None:
        """Parents of labels, as the card gives them."""
        return (self.facts.get("card") or {}).get("hierarchy") or None

    @property
    def is_calibrated(self) -> bool:
        """Whether rankings have probabilities."""
        return self.predictor.calibration is not None

    @property
    def has_cut(self) -> bool:
        """Whether the model decides which labels to predict."""
        return bool(getattr(self.predictor.ranker, "cut_label", False))

    @property
    def explains(self) -> bool:
        """Whether features have weights."""
        return isinstance(self.predictor, LivePredictor) or not self.predictor._has_kernel()

    @property
    def head(self) -> str:
        """The beginning of every answer, as JSON without the closing brace."""
        return f'{{"model":{as_json(self.name)},"checksum":"{self.checksum}","learnt":{self.learnt},'

    def corpus(self, documents: list[Document]) -> Corpus:
        """The documents as the predictor takes them."""
        blank: list[list[str]] = [[] for _ in documents]
        texts = [one for one in documents if isinstance(one, str)]
        if len(texts) == len(documents):
            return Corpus(labels=[], texts=texts, label_sets=blank)
        rows = [one for one in documents if isinstance(one, dict)]
        if len(rows) != len(documents):
            raise InputError("Texts and features cannot be mixed in one request. Give one kind of document.")
        return self._table_corpus(rows, blank) if self.predictor.takes == "table" else self._feature_corpus(rows, blank)

    def _table_corpus(self, rows: list[Cells], blank: list[list[str]]) -> Corpus:
        """Rows of a table; a column that a row does not have is missing, whatever the other rows have."""
        names = [column.name for column in self.predictor.transformers[0].columns_]
        return Corpus(labels=[], table={name: [row.get(name) for row in rows] for name in names}, label_sets=blank)

    def _feature_corpus(self, rows: list[Cells], blank: list[list[str]]) -> Corpus:
        for name, value in ((name, value) for row in rows for name, value in row.items()):
            if isinstance(value, bool) or not isinstance(value, float | int):
                raise InputError(f"The feature {as_json(name[:60])} is {as_json(value)[:60]}; the model takes numbers.")
        names = sorted({name for row in rows for name in row})
        place = {name: j for j, name in enumerate(names)}
        numbered = self.predictor.columns.kind == "numbered"
        if numbered:
            place = {name: _column(name) for name in names}
        indptr = np.cumsum([0, *(len(row) for row in rows)])
        columns = np.array([place[name] for row in rows for name in row], dtype=np.int64)
        values = np.array([value for row in rows for value in row.values()], dtype=np.float64)
        width = max(place.values(), default=-1) + 1
        X = csr_matrix((values, columns, indptr), shape=(len(rows), width))
        return Corpus(labels=[], X=X, feature_names=None if numbered else names, label_sets=blank)


def _column(name: str) -> int:
    if not (name.isascii() and name.isdigit() and len(name) < 10):
        raise InputError(f"{as_json(name[:60])} is not the number of a feature, and the model's features are numbered.")
    return int(name)


def _live(model: Any) -> Predictor:
    predictor = LivePredictor(model)
    return predictor if learns_online(predictor) else Predictor(model)
