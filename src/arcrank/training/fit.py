"""Learn from a whole corpus in memory: choose, validate, fit; shared by `train` and `tune`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arcrank._wording import count
from arcrank.datasets.hierarchy_file import Parents
from arcrank.errors import GraphError, ParameterError
from arcrank.inference.feature_map import FeatureMap
from arcrank.training.estimate import check_fit
from arcrank.training.plan import LABEL_SETS_ONLY, ONLINE, Learner, Plan, ranker_class
from arcrank.training.reporter import SILENT, Move, Reporter
from arcrank.training.selection import (
    Choice,
    all_measures,
    check_measure,
    choose,
    is_of_label_sets,
    split_rows,
)

if TYPE_CHECKING:
    from arcrank.datasets import Corpus
    from arcrank.datasets.order import LabelOrder
    from arcrank.graphs import PreferenceGraphs


@dataclass
class TrainingResult:
    """A trained model and what is to be told about it."""

    model: Any
    plan: Plan
    columns: FeatureMap
    documents: int
    skipped: dict[str, int]
    validation: dict[str, Any] | None = None
    choice: Choice | None = None
    hierarchy: Parents | None = None
    seconds: float = 0.0
    order: LabelOrder | None = None
    """Of the documents in the file, where they were read as a stream."""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def ranker(self) -> Any:
        """The last step of the model."""
        return self.model[-1] if hasattr(self.model, "steps") else self.model

    def report(self) -> dict[str, Any]:
        """What the command tells, as JSON."""
        return {
            "learner": str(self.plan.learner),
            "parameters": {**self.plan.parameters, **self.plan.text},
            "documents": self.documents,
            "labels": len(self.ranker.labels_),
            "features": int(self.ranker.n_features_in_),
            "skipped": self.skipped,
            "duality_gap": getattr(self.ranker, "duality_gap_", None),
            "seconds": round(self.seconds, 3),
            "chosen": None if self.choice is None else _choice_report(self.choice),
            "validation": self.validation,
            **self.extra,
        }

    def card(self, data: str) -> dict[str, Any]:
        """What the model file keeps of it."""
        return {
            "trained": datetime.now(UTC).isoformat(timespec="seconds"),
            "data": data,
            **self.report(),
            "columns": self.columns.to_card(),
            "hierarchy": self.hierarchy,
        }


def _choice_report(choice: Choice) -> dict[str, Any]:
    tried = [{"learner": str(t.plan.learner), "C": t.plan.parameters["C"], "value": t.value} for t in choice.trials]
    return {"why": choice.why, "measure": choice.measure or None, "tried": tried}


def least_frequency(n_texts: int) -> int:
    """In how many texts a term must occur: where texts are few, one that occurs once is worth its memory."""
    return 1 if n_texts < 1000 else 2


class TrainingSet:
    """A corpus with its graphs, and features of any of its rows."""

    def __init__(self, corpus: Corpus, plan: Plan, hierarchy: Parents | None = None) -> None:
        self.corpus = corpus
        self.hierarchy = hierarchy
        self.columns = FeatureMap.of_corpus(corpus)
        if plan.learner in ONLINE and corpus.texts is None:
            from arcrank.training.stream import columns_of

            self.columns = FeatureMap("folded", columns_of(plan))
        self.graphs = self._graphs()
        _check_worth(self.graphs, corpus.source)

    def _graphs(self) -> PreferenceGraphs:
        from arcrank.graphs import Hierarchy

        if self.hierarchy is None:
            return self.corpus.graphs()
        assert self.corpus.label_sets is not None
        return Hierarchy(self.hierarchy).leaf_graphs(self.corpus.label_sets)

    def check_learner(self, learner: Learner) -> None:
        """Refuse a learner of label sets where there is more than that to learn from."""
        if learner in LABEL_SETS_ONLY and not is_of_label_sets(self.graphs):
            others = [name for name in Learner if name not in LABEL_SETS_ONLY]
            got = f"{self.corpus.source} holds layers, rankings or arcs"
            raise ParameterError(
                f"--learner {learner} takes label sets only, and "
                f"{got if self.hierarchy is None else '--hierarchy makes layers of them'}.\n"
                f"Take --learner {', '.join(others[:-1])} or {others[-1]}."
            )

    def check_memory(self, plan: Plan) -> None:
        """Refuse a fit that is too large for this machine, before features are made and learners are compared."""
        from arcrank.training.stream import columns_of

        folded = plan.learner in ONLINE
        width = columns_of(plan) if folded else self.columns.width
        ranker = ranker_class(Learner.LOG_LINEAR if plan.learner is Learner.AUTO else plan.learner)(**plan.parameters)
        check_fit(plan, ranker._sizes(self.graphs, width), None if folded else self.corpus.texts)

    def text_features(self, plan: Plan, n: int) -> Any:
        """A new transformer of texts, or None where the corpus has features of its own."""
        from arcrank.text import HashedTextFeatures, TextFeatures

        if self.corpus.texts is None:
            return None
        if plan.learner in ONLINE:
            from arcrank.training.stream import columns_of

            return HashedTextFeatures(**{"n_features": columns_of(plan), **plan.text})
        return TextFeatures(**{"min_df": least_frequency(n), **plan.text})

    def features(self, plan: Plan, learn: Any, judge: Any) -> tuple[Any, Any]:
        """Features of the rows to learn from and of those to judge by."""
        if self.corpus.texts is None:
            X = self.matrix()
            return X[learn], X[judge]
        words = self.text_features(plan, len(learn))
        texts = self.corpus.texts
        return words.fit_transform([texts[i] for i in learn]), words.transform([texts[i] for i in judge])

    def matrix(self) -> Any:
        return self.columns.matrix(self.corpus.X, self.corpus.feature_names)

    def validate(self, plan: Plan, learn: Any, judge: Any, reporter: Reporter = SILENT) -> dict[str, Any]:
        """Learn from some rows and judge by the others."""
        X, Z = self.features(plan, learn, judge)
        ranker = fit_ranker(plan.ranker(), X, self.graphs[learn], "validating", reporter)
        measures = all_measures(self.graphs[judge], ranker.score_labels(Z))
        told = {name: None if math.isnan(value) else value for name, value in measures.items()}
        return {"how": "held-out", "documents": len(judge), "measures": told}

    def fit(self, plan: Plan, reporter: Reporter = SILENT) -> Any:
        """The model of all rows: a ranker, or a pipeline of text features and a ranker."""
        from sklearn.pipeline import Pipeline

        # label sets by name, so that the model predicts label sets
        sets = self.corpus.label_sets if self.hierarchy is None else None
        y = self.graphs if sets is None else [frozenset(names) for names in sets]  # lists of two could be arcs
        words = self.text_features(plan, len(self.corpus))
        X = self.matrix() if words is None else words.fit_transform(self.corpus.texts)
        ranker = fit_ranker(plan.ranker(), X, y, "training", reporter)
        return ranker if words is None else Pipeline([("features", words), ("ranker", ranker)])


def _check_worth(graphs: PreferenceGraphs, source: str) -> None:
    if graphs.n_labels < 2 or not graphs.n_arcs:
        raise GraphError(
            f"{source}: no label is preferred to another, so there is nothing to learn; the file has "
            f"{count(graphs.n_labels, 'label')}.\nGive documents that differ in their labels."
        )


def fit_ranker(ranker: Any, X: Any, y: Any, what: str, reporter: Reporter) -> Any:
    """Fit, telling passes and the duality gap; the callback does not stay in the model."""
    parameters = ranker.get_params()
    with reporter.progress(what, total=1.0) as move:
        if "callback" in parameters:
            ranker.set_params(callback=_gap_callback(move, parameters["tol"]))
        ranker.fit(X, y)
    if "callback" in parameters:
        ranker.set_params(callback=None)
    return ranker


def _gap_callback(move: Move, tol: float) -> Callable[[dict[str, Any]], None]:
    """The way to the tolerance on a scale of logarithms: a gap falls by factors, not by steps."""

    def tell(entry: dict[str, Any]) -> None:
        gap = float(entry.get("gap", math.nan))
        known = gap > 0 and math.isfinite(gap)
        share = min(1.0, math.log(min(gap, 1.0)) / math.log(min(tol, 0.5))) if known else 0.0
        rate = entry["iteration"] / max(entry["seconds"], 1e-9)
        move(share, f"pass {entry['iteration']}, {f'gap {gap:.1e}, ' if known else ''}{rate:.1f} passes/s")

    return tell


def note_first_compile(reporter: Reporter) -> None:
    """Say why the first run is slow, where no kernel has been compiled yet."""
    from arcrank.compiled import loglinear_boosting

    kernel: Any = loglinear_boosting.boosting_step
    folder = kernel.stats.cache_path
    if folder is not None and not any(Path(folder).glob("*.nbi")):
        reporter.note("(the first run compiles for some seconds)")


def fit_corpus(
    corpus: Corpus,
    plan: Plan,
    *,
    validate: float,
    random_state: int,
    hierarchy: Parents | None = None,
    measure: str | None = None,
    reporter: Reporter = SILENT,
) -> TrainingResult:
    """Choose a learner by `measure` where that is asked for, measure on held-out rows, then learn from all rows."""
    import numpy as np

    start = time.perf_counter()
    room = TrainingSet(corpus, plan, hierarchy)
    room.check_learner(plan.learner)
    if measure is not None:
        check_measure(measure, room.graphs)
    room.check_memory(plan)
    note_first_compile(reporter)
    rows = np.arange(len(corpus))
    held_out = validate > 0 and len(rows) >= 2
    learn, judge = split_rows(rows, validate, random_state) if held_out else (rows, rows[:0])
    choice = _choose(room, plan, learn, random_state, measure, reporter) if plan.learner is Learner.AUTO else None
    plan = plan if choice is None else choice.plan
    validation = room.validate(plan, learn, judge, reporter) if held_out else None
    model = room.fit(plan, reporter)
    lesson = TrainingResult(model, plan, room.columns, len(corpus), corpus.skipped, validation, choice, hierarchy)
    lesson.seconds = time.perf_counter() - start
    return lesson


def _choose(
    room: TrainingSet, plan: Plan, rows: Any, random_state: int, measure: str | None, reporter: Reporter
) -> Choice:
    with reporter.progress("choosing a learner") as move:
        choice = choose(
            plan,
            lambda a, b: room.features(plan, a, b),
            room.graphs,
            rows,
            random_state=random_state,
            measure=measure,
            tell=move,
        )
    reporter.chosen(choice)
    return choice
