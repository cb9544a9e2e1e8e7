"""Learn from documents and from the feedback that a server has recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.base import clone

from arcrank._wording import count
from arcrank.datasets import Corpus, read_corpus
from arcrank.datasets.journal import Entry, feedback_graphs, read_journal
from arcrank.errors import FormatError, ParameterError
from arcrank.graphs import PreferenceGraphs, as_graphs, concatenate
from arcrank.graphs.align import align_labels
from arcrank.graphs.cut import CUT, insert_cut
from arcrank.inference.feature_map import corpus_features
from arcrank.inference.model_parts import split_model
from arcrank.rankers.pipeline import RankingPipeline
from arcrank.training.reporter import SILENT, Reporter

if TYPE_CHECKING:
    from arcrank.training.result import TrainingResult
    from arcrank.training.stream import ReadOptions

__all__ = ["check_feedback_file", "learn_feedback"]


def check_feedback_file(journal: Path, hierarchy: Path | None) -> None:
    """Refuse what cannot be learnt, before hours are spent on training."""
    if not journal.is_file():
        raise FormatError(f"{journal}: there is no such file.\nGive the journal that `arcrank serve` wrote.")
    if hierarchy is not None:
        raise ParameterError("--feedback and --hierarchy cannot be used together.\nLeave one of them out.")
    read_journal(journal)


def learn_feedback(
    result: TrainingResult, journal: Path, data: str, read: ReadOptions, reporter: Reporter = SILENT
) -> dict[str, Any]:
    """Let the model of a result learn the preferences of a journal too; return what its card says about them.

    An online ranker goes on learning. Any other ranker is fitted again to the documents of the file and the
    preferences together: each arc of a preference is one more instance, in which only its two labels are compared.
    """
    content = read_journal(journal)
    words, ranker = split_model(result.model)
    cut = bool(ranker.cut_label and ranker._learns_cut)
    entries, arcs = feedback_graphs(content.live(), ranker.labels_.tolist(), cut=cut)
    if entries:
        features = _features(result.model, entries)[arcs.rows()]
        preferences = _arcs_as_rows(arcs)
        if hasattr(ranker, "partial_fit"):
            ranker.partial_fit(features, preferences)
        else:
            ranker = _fitted_again(result, features, preferences, data, read, cut)
            result.model = ranker if words is None else RankingPipeline([*result.model.steps[:-1], ("ranker", ranker)])
    reporter.note(f"Learnt {count(len(entries), 'preference')} of {journal}.")
    return {"journal": journal.name, "applied": content.last, "preferences": len(entries)}


def _features(model: Any, entries: list[Entry]) -> csr_matrix:
    contents = [entry.content for entry in entries]
    texts = [one for one in contents if isinstance(one, str)]
    if len(texts) == len(contents):
        return csr_matrix(corpus_features(model, Corpus(labels=[], texts=texts, label_sets=[[] for _ in texts])))
    rows: list[dict[str, float]] = [one if isinstance(one, dict) else {} for one in contents]
    names = sorted({name for row in rows for name in row})
    place = {name: column for column, name in enumerate(names)}
    indptr = np.cumsum([0, *(len(row) for row in rows)])
    columns = np.array([place[name] for row in rows for name in row], dtype=np.int64)
    values = np.array([value for row in rows for value in row.values()])
    X = csr_matrix((values, columns, indptr), shape=(len(rows), len(names)))
    return csr_matrix(corpus_features(model, Corpus([], X=X, feature_names=names, label_sets=[[] for _ in rows])))


def _arcs_as_rows(arcs: Any) -> PreferenceGraphs:
    """One instance per arc, of two layers: with explicit graphs, label sets would have to be written out as arcs."""
    names = arcs.labels.tolist()
    layers = [[[names[head]], [names[tail]]] for head, tail in zip(arcs.head, arcs.tail, strict=True)]
    return as_graphs(layers, kind="layers", labels=names)


def _fitted_again(
    result: TrainingResult, features: Any, preferences: PreferenceGraphs, data: str, read: ReadOptions, cut: bool
) -> Any:
    corpus = read_corpus(data, **read)
    graphs = insert_cut(corpus.graphs()) if cut else corpus.graphs()
    names = [*([CUT] if cut else []), *(label for label in preferences.labels.tolist() if label is not CUT)]  # type: ignore[union-attr]
    graphs = concatenate([align_labels(graphs, names), align_labels(preferences, names)])
    X = vstack([csr_matrix(corpus_features(result.model, corpus, result.columns)), features]).tocsr()
    return clone(split_model(result.model)[1]).fit(X, graphs)
