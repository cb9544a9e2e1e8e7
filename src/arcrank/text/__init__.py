"""Text -> sparse features, as scikit-learn transformers.

`TextFeatures()` is the default; the other classes are its parts and the papers' own choices, for a Pipeline:
`Tokenizer` cuts texts into words, `TermCounts` counts them, `LogCounts`, `TfIdf` and `PivotedLength` weigh the
counts, `RocchioSelector` and `InformativeSelector` choose terms. `HashedTextFeatures` needs no vocabulary.
"""

from arcrank.text.counts import TermCounts
from arcrank.text.features import TextFeatures
from arcrank.text.hashing import HashedTextFeatures
from arcrank.text.selection import InformativeSelector, RocchioSelector
from arcrank.text.tokens import Tokenizer
from arcrank.text.weighting import LogCounts, PivotedLength, TfIdf

__all__ = [
    "HashedTextFeatures",
    "InformativeSelector",
    "LogCounts",
    "PivotedLength",
    "RocchioSelector",
    "TermCounts",
    "TextFeatures",
    "TfIdf",
    "Tokenizer",
]
