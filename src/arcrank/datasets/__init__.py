"""Real corpora and users' own files as features with preference graphs.

Loaders look for a corpus in the folder named by `ARCRANK_DATA`, then in the user's cache folder; nothing is downloaded.
Parsed corpora are stored in the cache folder under the checksum of the files.

Names are imported when they are first used, so that reading a document to rank imports nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcrank._lazy import lazy_names

if TYPE_CHECKING:
    from arcrank.datasets.aslib import load_aslib
    from arcrank.datasets.corpus import Corpus
    from arcrank.datasets.debtags import load_debtags, load_debtags_sample
    from arcrank.datasets.label_ranking import load_label_ranking
    from arcrank.datasets.mulan import load_mulan
    from arcrank.datasets.ohsumed import load_ohsumed
    from arcrank.datasets.rcv1 import load_rcv1
    from arcrank.datasets.read import iter_corpus, read_corpus, read_votes
    from arcrank.datasets.reuters import load_reuters21578
    from arcrank.datasets.routing import load_routing
    from arcrank.datasets.stream import StreamReport, hashed_features, learn_stream
    from arcrank.datasets.subjects import load_subjects
    from arcrank.datasets.table_file import LabelledTable, read_table
    from arcrank.datasets.writers import write_corpus

__all__ = [
    "Corpus",
    "LabelledTable",
    "StreamReport",
    "hashed_features",
    "iter_corpus",
    "learn_stream",
    "load_aslib",
    "load_debtags",
    "load_debtags_sample",
    "load_label_ranking",
    "load_mulan",
    "load_ohsumed",
    "load_rcv1",
    "load_reuters21578",
    "load_routing",
    "load_subjects",
    "read_corpus",
    "read_table",
    "read_votes",
    "write_corpus",
]

_HOMES = {
    "Corpus": "corpus",
    "write_corpus": "writers",
    "load_reuters21578": "reuters",
    "load_debtags_sample": "debtags",
}
_HOMES |= dict.fromkeys(("iter_corpus", "read_corpus", "read_votes"), "read")
_HOMES |= dict.fromkeys(("StreamReport", "hashed_features", "learn_stream"), "stream")
_HOMES |= dict.fromkeys(("LabelledTable", "read_table"), "table_file")
_HOMES |= {
    f"load_{name}": name
    for name in ("aslib", "debtags", "label_ranking", "mulan", "ohsumed", "rcv1", "routing", "subjects")
}
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
