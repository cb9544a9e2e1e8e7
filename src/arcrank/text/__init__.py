"""Text -> sparse features, as scikit-learn transformers.

`TextFeatures()` is the default; the other classes are its parts and the papers' own choices, for a Pipeline:
`Tokenizer` cuts texts into words, `TermCounts` counts them, `LogCounts`, `TfIdf` and `PivotedLength` weigh the
counts, `RocchioSelector` and `InformativeSelector` choose terms. `HashedTextFeatures` needs no vocabulary.

`EmbeddingFeatures` and `TextAndEmbeddings` add static embeddings (extra `embeddings`).

The selectors are imported when they are first used: they bring much of scikit-learn, which ranking does without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arcrank.text.counted import CountedTexts
from arcrank.text.counts import TermCounts
from arcrank.text.features import TextFeatures
from arcrank.text.hashing import HashedTextFeatures
from arcrank.text.language import LanguageShares, detect_language
from arcrank.text.tokens import Tokenizer
from arcrank.text.weighting import LogCounts, PivotedLength, TfIdf

if TYPE_CHECKING:
    from arcrank.text.embeddings import EmbeddingFeatures, TextAndEmbeddings
    from arcrank.text.selection import InformativeSelector, RocchioSelector

__all__ = [
    "CountedTexts",
    "EmbeddingFeatures",
    "HashedTextFeatures",
    "InformativeSelector",
    "LanguageShares",
    "LogCounts",
    "PivotedLength",
    "RocchioSelector",
    "TermCounts",
    "TextAndEmbeddings",
    "TextFeatures",
    "TfIdf",
    "Tokenizer",
    "detect_language",
]


def __getattr__(name: str) -> Any:
    if name in ("InformativeSelector", "RocchioSelector"):
        from arcrank.text import selection

        return getattr(selection, name)
    if name in ("EmbeddingFeatures", "TextAndEmbeddings"):
        from arcrank.text import embeddings

        return getattr(embeddings, name)
    raise AttributeError(f"module 'arcrank.text' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
