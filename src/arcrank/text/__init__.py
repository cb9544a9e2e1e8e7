"""Text -> sparse features, as scikit-learn transformers.

`TextFeatures()` is the default; the other classes are its parts and the papers' own choices, for a Pipeline:
`Tokenizer` cuts texts into words, `TermCounts` counts them, `LogCounts`, `TfIdf` and `PivotedLength` weigh the
counts, `RocchioSelector` and `InformativeSelector` choose terms. `HashedTextFeatures` needs no vocabulary.

`EmbeddingFeatures` and `TextAndEmbeddings` add static embeddings (extra `embeddings`).

Names are imported when they are first used. `words.py`, `ngrams.py`, `weights.py` and `encoder.py` do the work on
arrays and import neither scikit-learn nor, for a few texts, SciPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcrank._lazy import lazy_names

if TYPE_CHECKING:
    from arcrank.text.counted import CountedTexts
    from arcrank.text.counts import TermCounts
    from arcrank.text.embeddings import EmbeddingFeatures, TextAndEmbeddings
    from arcrank.text.features import TextFeatures
    from arcrank.text.hashing import HashedTextFeatures
    from arcrank.text.language import LanguageShares, detect_language
    from arcrank.text.selection import InformativeSelector, RocchioSelector
    from arcrank.text.tokens import Tokenizer
    from arcrank.text.weighting import LogCounts, PivotedLength, SignedTfIdf, TfIdf

__all__ = [
    "CountedTexts",
    "EmbeddingFeatures",
    "HashedTextFeatures",
    "InformativeSelector",
    "LanguageShares",
    "LogCounts",
    "PivotedLength",
    "RocchioSelector",
    "SignedTfIdf",
    "TermCounts",
    "TextAndEmbeddings",
    "TextFeatures",
    "TfIdf",
    "Tokenizer",
    "detect_language",
]

_HOMES = {"CountedTexts": "counted", "TermCounts": "counts", "TextFeatures": "features", "Tokenizer": "tokens"}
_HOMES |= {"HashedTextFeatures": "hashing", "LanguageShares": "language", "detect_language": "language"}
_HOMES |= dict.fromkeys(("EmbeddingFeatures", "TextAndEmbeddings"), "embeddings")
_HOMES |= dict.fromkeys(("InformativeSelector", "RocchioSelector"), "selection")
_HOMES |= dict.fromkeys(("LogCounts", "PivotedLength", "SignedTfIdf", "TfIdf"), "weighting")
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
