"""Which column of a model a feature of a file belongs to.

text      the model starts with a transformer of texts
table     the model starts with a transformer of tables, which knows its columns by name
numbered  column j holds index j of the file
named     the card holds the names in column order
folded    an online learner's fixed number of columns: names are hashed, numbers taken modulo
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arcrank.errors import InputError
from arcrank.inference.model_parts import content_kind, split_model

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
        """The columns of a model, from its steps and its card."""
        if (kind := content_kind(model)) != "features":
            return cls(kind)
        card: Mapping[str, Any] = getattr(model, "model_card_", None) or {}
        columns = card.get("columns") or {}
        transformers, ranker = split_model(model)
        first = ranker if transformers is None else transformers[0]
        return cls(columns.get("kind", "numbered"), int(first.n_features_in_), columns.get("names"))

    @classmethod
    def of_corpus(cls, corpus: Corpus) -> FeatureMap:
        """The columns of a model that is trained on this corpus."""
        if corpus.content_kind != "features":
            return cls(corpus.content_kind)
        kind = "numbered" if corpus.feature_names is None else "named"
        return cls(kind, int(corpus.X.shape[1]), corpus.feature_names)

    def to_card(self) -> dict[str, Any]:
        """What a model file stores, as JSON."""
        return {"kind": self.kind} | ({"names": self.names} if self.kind == "named" else {})

    def matrix(self, X: Any, names: list[str] | None) -> csr_matrix:
        """The features of some rows in the model's columns; features that it does not know are left out and counted."""
        from arcrank.inference.columns import cut_columns, hash_columns, place_columns  # SciPy only where needed

        if self.kind == "folded":
            return hash_columns(X, names, self.width)
        self._check_kind(names)
        if self.kind == "named":
            found, ignored = place_columns(X, names or [], self.names or [])
        else:
            found, ignored = cut_columns(X, self.width)
        self.ignored += ignored
        return found

    def _check_kind(self, names: list[str] | None) -> None:
        if (self.kind == "named") != (names is not None):
            wanted, got = ("named", "numbered") if self.kind == "named" else ("numbered", "named")
            raise InputError(
                f"The model's features are {wanted}, but those of the file are {got}.\n"
                "Give a file like the one that the model was trained on."
            )


CONTENTS = {"text": "texts", "table": "the columns of a table", "features": "features"}


def corpus_features(model: Any, corpus: Corpus, columns: FeatureMap | None = None) -> Any:
    """The features of a corpus as the ranker of this model takes them."""
    columns = FeatureMap.of_model(model) if columns is None else columns
    wanted, got = (kind if kind in CONTENTS else "features" for kind in (columns.kind, corpus.content_kind))
    if wanted != got:
        raise InputError(
            f"{corpus.source}: the model takes {CONTENTS[wanted]}, but this file holds {CONTENTS[got]}.\n"
            "Give a file like the one that the model was trained on."
        )
    if wanted != "features":
        return split_model(model)[0].transform(corpus.texts if wanted == "text" else corpus.table)
    return transform_matrix(split_model(model)[0], columns.matrix(corpus.X, corpus.feature_names))


def transform_matrix(transformers: Any, X: csr_matrix) -> Any:
    """Apply the transformers of features, if there are any; X becomes dense for those that centre features."""
    if transformers is None or not len(transformers):
        return X
    from sklearn.utils import get_tags  # not imported where models are arrays

    return transformers.transform(X if get_tags(transformers).input_tags.sparse else X.toarray())
