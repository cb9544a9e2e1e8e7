"""The corpora that have a loader, by their names on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arcrank.datasets.aslib import ASLIB_SCENARIOS
from arcrank.datasets.label_ranking import LABEL_RANKING_SETS
from arcrank.datasets.locate import data_folders, find
from arcrank.datasets.mulan import MULAN_SETS
from arcrank.errors import MissingDataError, ParameterError

if TYPE_CHECKING:
    from arcrank.datasets import Corpus

__all__ = ["CORPORA", "CorpusSpec", "known"]


class CorpusSpec(NamedTuple):
    """A corpus: what it is, its file or folder (any of these names, compressed or not), and its loader."""

    what: str
    files: tuple[str, ...]
    loader: str
    argument: str | None = None

    def load(self) -> Corpus:
        """Read it, or raise `MissingDataError`."""
        import arcrank.datasets

        load: Any = getattr(arcrank.datasets, self.loader)
        return load() if self.argument is None else load(self.argument)

    def found(self) -> Path | None:
        """Where it is on this machine; None if it is not. The sample is part of the package."""
        if not self.files:
            return Path(__file__).parents[1] / "datasets" / "data" / "debtags-sample.jsonl.xz"
        try:
            return find(*self.files, what=self.what)
        except MissingDataError:
            return None

    def place(self) -> Path:
        """Where it should be put."""
        return data_folders()[0] / self.files[0]


CORPORA = {
    "debtags-sample": CorpusSpec("2,998 Debian packages with tags; ships with arcrank", (), "load_debtags_sample"),
    "debtags": CorpusSpec("30,292 Debian packages with tags", ("debtags.jsonl",), "load_debtags"),
    "reuters21578": CorpusSpec(
        "Reuters-21578, ModApte split, 90 topics", ("reuters21578",), "load_reuters21578", "modapte"
    ),
    "reuters21578-top10": CorpusSpec(
        "Reuters-21578, ModApte, the 10 most frequent topics", ("reuters21578",), "load_reuters21578", "modapte-top10"
    ),
    "reuters21578-first-topic": CorpusSpec(
        "Reuters-21578, first of the 10 commonest topics", ("reuters21578",), "load_reuters21578", "first-topic-top10"
    ),
    "rcv1": CorpusSpec("RCV1-v2, 27,613 documents as vectors, 103 topics in a tree", ("rcv1",), "load_rcv1", "vectors"),
    "rcv1-text": CorpusSpec("RCV1-v2, 2,316 documents as texts", ("rcv1",), "load_rcv1", "text-sample"),
    "lyrl2004": CorpusSpec("RCV1-v2 as LYRL2004 distributed it: token files", ("lyrl2004",), "load_rcv1", "lyrl2004"),
    "ohsumed": CorpusSpec("OHSUMED of the TREC-9 filtering track", ("ohsumed_trec9", "ohsumed"), "load_ohsumed"),
    **{
        f"label-ranking-{name}": CorpusSpec(f"label ranking: {name}", ("label_ranking",), "load_label_ranking", name)
        for name in LABEL_RANKING_SETS
    },
    **{f"mulan-{name}": CorpusSpec(f"MULAN: {name}", ("mulan",), "load_mulan", name) for name in MULAN_SETS},
    "subjects": CorpusSpec("110,401 library records with 38,267 subjects", ("subjects",), "load_subjects"),
    **{
        f"aslib-{name.lower()}": CorpusSpec(f"ASlib, runtimes of algorithms: {name}", ("aslib",), "load_aslib", name)
        for name in ASLIB_SCENARIOS
    },
    "routing": CorpusSpec("5,989 prompts with a ranking of nine language models", ("routing",), "load_routing"),
}  # fmt: skip


def known(name: str) -> CorpusSpec:
    """The corpus of this name."""
    if name not in CORPORA:
        raise ParameterError(
            f"There is no corpus {name!r}.\nChoose one of: {', '.join(CORPORA)}\n`arcrank data list` describes them."
        )
    return CORPORA[name]
