"""What the columns of a model are called when a margin is explained."""

from __future__ import annotations

from typing import Any

from arcrank.cli.columns import Columns


class Wording:
    """Names of columns. Hashed columns have none of their own: they are called by the document's terms in them."""

    def __init__(self, model: Any, columns: Columns) -> None:
        self._words = model[0] if columns.kind == "text" else None
        self._names: Any = columns.names
        if self._words is not None and not self._is_hashed() and hasattr(self._words, "get_feature_names_out"):
            # the last step before the ranker knows the columns that the ranker sees
            self._names = model[:-1].get_feature_names_out().tolist()

    def _is_hashed(self) -> bool:
        return "Hash" in type(self._words).__name__

    def names(self, text: str | None) -> Any:
        """A function from a column to its name, for one document."""
        found = self._terms(text) if text is not None and self._is_hashed() else {}
        if self._names is not None:
            return lambda column: str(self._names[column])
        return lambda column: " / ".join(found.get(column, [])) or f"column {column}"

    def _terms(self, text: str) -> dict[int, list[str]]:
        """The terms of a text by the column that they are hashed to."""
        from sklearn.utils import murmurhash3_32

        from arcrank.text import HashedTextFeatures, TermCounts, Tokenizer

        if not isinstance(self._words, HashedTextFeatures):
            return {}
        words = self._words
        switches = ("lowercase", "digits", "stop_words", "stem", "min_length")
        tokenizer = Tokenizer(**{name: getattr(words, name) for name in switches})
        counts = TermCounts(tokenizer=tokenizer, ngrams=words.ngrams, min_df=1).fit([text])
        found: dict[int, list[str]] = {}
        for term in counts.vocabulary_:
            found.setdefault(murmurhash3_32(term, positive=True) % words.n_features, []).append(term)
        return found
