"""Check feedback, and put it into a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sklearn.base import clone

from arcrank._wording import as_json, count
from arcrank.datasets.journal import Entry, arcs_of, feedback_graphs, label_names
from arcrank.errors import InputError
from arcrank.graphs import as_graphs
from arcrank.graphs.cut import CUT
from arcrank.rankers.online import PerceptronRanker
from arcrank.server.schemas import FeedbackRequest
from arcrank.server.served_model import ServedModel

__all__ = ["check_feedback", "journal_line", "learn_entries", "warm_up"]

_MOST_ARCS = 10_000
_FORMS = ("arcs", "relevant", "irrelevant", "vote")


def check_feedback(request: FeedbackRequest, model: ServedModel) -> None:
    """Refuse a preference that contradicts itself, or that names labels which the model does not know."""
    given = [name for name in _FORMS if getattr(request, name) is not None]
    if not given or len({"sets" if name in ("relevant", "irrelevant") else name for name in given}) > 1:
        found = ", ".join(given) or "none of them"
        raise InputError(f'A preference is one of "arcs", "relevant" with "irrelevant", and "vote"; got {found}.')
    arcs = _arcs(request)
    if len(arcs) > _MOST_ARCS:
        raise InputError(f"The preference has {count(len(arcs), 'arc')}, and {_MOST_ARCS:,} are allowed. Split it.")
    for head, tail in arcs:
        if head == tail:
            raise InputError(f"{as_json(head)} cannot be preferred to itself. Give two different labels.")
        if (tail, head) in arcs:
            raise InputError(f"{as_json(head)} is both above and below {as_json(tail)}. Give one of the two.")
    names = label_names(list(arcs)) if request.vote is None else [request.vote.a, request.vote.b]
    if request.vote is not None and request.vote.a == request.vote.b:
        raise InputError("A vote is between two different labels.")
    for name in names:
        _check_label(name, model, new=request.new_labels)


def _check_label(name: str, model: ServedModel, *, new: bool) -> None:
    if "\0" in name:
        raise InputError("A label cannot contain a NUL character.")
    if not new and name not in model.columns_by_name:
        model.predictor.column_of(name)  # raises an error that suggests similar labels


def _arcs(request: FeedbackRequest) -> dict[tuple[Any, Any], None]:
    return dict.fromkeys(arcs_of({name: _plain(getattr(request, name)) for name in _FORMS}))


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value)


def journal_line(request: FeedbackRequest, model: ServedModel) -> dict[str, Any]:
    """What the journal stores of a preference."""
    fields = {name: _plain(getattr(request, name)) for name in ("id", "by", "text", "features", *_FORMS, "shown")}
    given = {name: value for name, value in fields.items() if value is not None}
    return {**given, "model": model.name, "checksum": model.checksum, "learnt": model.learnt}


def learn_entries(model: ServedModel, entries: Sequence[Entry]) -> int:
    """Let an online ranker learn preferences in their order; return how many said something to it."""
    ranker = model.predictor.ranker
    cut = bool(ranker._columns_before)
    told, graphs = feedback_graphs(entries, ranker.labels_.tolist(), cut=cut)
    if not told:
        return 0
    X = model.predictor.features(model.corpus([entry.content for entry in told]))
    if isinstance(ranker, PerceptronRanker):
        X, graphs = _by_arcs(X, graphs)
    ranker.partial_fit(X, graphs)
    model.refresh()
    return len(told)


def _by_arcs(X: Any, graphs: Any) -> tuple[Any, Any]:
    """Each arc as an instance of two layers, for learners of label sets."""
    names = graphs.labels.tolist()
    layers = [[[names[head]], [names[tail]]] for head, tail in zip(graphs.head, graphs.tail, strict=True)]
    return X[graphs.rows()], as_graphs(layers, kind="layers", labels=names)


def warm_up(ranker: Any) -> None:
    """Compile or read the kernels that learning needs, so that the first preference is as fast as the others."""
    fresh: Any = clone(ranker)
    if isinstance(ranker, PerceptronRanker):
        fresh.partial_fit([[1.0, 0.0]], as_graphs([[["a"], ["b"]]], kind="layers", labels=["a", "b"]))
        return
    names = [*([CUT] if ranker._columns_before else []), "a", "b"]
    fresh.partial_fit([[1.0, 0.0]], as_graphs([[("a", "b")]], kind="arcs", labels=names))
