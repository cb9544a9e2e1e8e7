"""Which column of a model a feature of a file belongs to.

text      the model starts with a transformer of texts
numbered  column j holds index j of the file
named     the card holds the names in column order
folded    an online learner's fixed number of columns: names are hashed, numbers taken modulo
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arcrank.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from arcrank.datasets import Corpus


@dataclass
class FeatureMap:
    """The columns of one model; `ignored` counts the values of features that the model has never seen."""

    kind: str
    width: int = 0
    names: list[str] | None = None
    ignored: int = 0

    @classmethod
    def of_model(cls, model: Any) -> FeatureMap:
        """What the model's own steps and its card say."""
        if hasattr(model, "steps"):
            return cls("text")
        card: Mapping[str, Any] = getattr(model, "model_card_", None) or {}
        told = card.get("columns") or {}
        return cls(told.get("kind", "numbered"), int(model.n_features_in_), told.get("names"))

    @classmethod
    def of_corpus(cls, corpus: Corpus) -> FeatureMap:
        """The columns of a model that is trained on this corpus."""
        if corpus.texts is not None:
            return cls("text")
        kind = "numbered" if corpus.feature_names is None else "named"
        return cls(kind, int(corpus.X.shape[1]), corpus.feature_names)

    def to_card(self) -> dict[str, Any]:
        """What a model file has to keep, as JSON."""
        return {"kind": self.kind} | ({"names": self.names} if self.kind == "named" else {})

    def matrix(self, X: Any, names: list[str] | None) -> csr_matrix:
        """The features of some rows in the model's columns; features that it does not know are left out and counted."""
        from scipy.sparse import csr_matrix

        found = csr_matrix(X)
        if self.kind == "folded":
            return self._folded(found, names)
        self._check_kind(names)
        if self.kind == "named":
            return self._placed(found, names or [])
        return found if found.shape[1] == self.width else self._cut(found)

    def _check_kind(self, names: list[str] | None) -> None:
        if (self.kind == "named") != (names is not None):
            wanted, got = ("named", "numbered") if self.kind == "named" else ("numbered", "named")
            raise InputError(
                f"The model's features are {wanted} and the file's are {got}.\nGive a file like the one it learnt from."
            )

    def _placed(self, X: csr_matrix, names: list[str]) -> csr_matrix:
        import numpy as np
        from scipy.sparse import csr_matrix

        place = {name: j for j, name in enumerate(self.names or [])}
        columns = np.array([place.get(name, self.width) for name in names], dtype=np.int64)
        moved = csr_matrix((X.data, columns[X.indices], X.indptr), shape=(X.shape[0], self.width + 1))
        return self._cut(moved)

    def _cut(self, X: csr_matrix) -> csr_matrix:
        from scipy.sparse import csr_matrix

        if X.shape[1] > self.width:
            self.ignored += int((X.indices >= self.width).sum())
            return X[:, : self.width]
        return csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], self.width))

    def _folded(self, X: csr_matrix, names: list[str] | None) -> csr_matrix:
        from arcrank.datasets import Corpus, hashed_features
        from arcrank.text import HashedTextFeatures

        block = Corpus(labels=[], X=X, feature_names=names, label_sets=[[] for _ in range(X.shape[0])])
        return hashed_features(block, HashedTextFeatures(n_features=self.width))


def corpus_features(model: Any, corpus: Corpus, columns: FeatureMap | None = None) -> Any:
    """The features of a corpus as the ranker of this model takes them."""
    columns = FeatureMap.of_model(model) if columns is None else columns
    if (columns.kind == "text") != (corpus.texts is not None):
        wanted, got = ("texts", "features") if columns.kind == "text" else ("features", "texts")
        raise InputError(
            f"{corpus.source}: the model takes {wanted}, and this file holds {got}.\n"
            "Give a file like the one it learnt from."
        )
    if corpus.texts is not None:
        return model[:-1].transform(corpus.texts)
    return columns.matrix(corpus.X, corpus.feature_names)
