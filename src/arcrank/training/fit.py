"""Train on a file or on a corpus in memory: read, select a learner, validate, fit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from arcrank._wording import count, format_counts
from arcrank.datasets import Corpus, read_corpus
from arcrank.datasets.hierarchy_file import Parents, check_hierarchy, read_tree
from arcrank.errors import FormatError, GraphError, ParameterError
from arcrank.graphs import Hierarchy, PreferenceGraphs
from arcrank.inference.feature_map import FeatureMap
from arcrank.rankers.pipeline import RankingPipeline
from arcrank.text import HashedTextFeatures, TextFeatures
from arcrank.training.cut import plan_for_label_sets
from arcrank.training.estimate import check_fit
from arcrank.training.measures import all_measures, check_measure, is_of_label_sets
from arcrank.training.plan import (
    BIPARTITE,
    LABEL_SETS_ONLY,
    ONLINE,
    Learner,
    Plan,
    minimum_document_frequency,
    ranker_class,
)
from arcrank.training.relevance import fit_relevance
from arcrank.training.reporter import SILENT, Move, Reporter
from arcrank.training.result import TrainingResult
from arcrank.training.selection import Choice, select_learner, split_rows
from arcrank.training.stream import ReadOptions, columns_of, fit_stream, note_first_compile

__all__ = ["TrainingSet", "fit_corpus", "fit_file", "fit_ranker", "read_training_file"]


def fit_file(
    path: str,
    plan: Plan,
    read: ReadOptions,
    *,
    hierarchy: Path | None = None,
    validate: float = 0.1,
    random_state: int = 0,
    measure: str | None = None,
    reporter: Reporter = SILENT,
) -> TrainingResult:
    """Train on a file: online learners read it as a stream, the others into memory."""
    if plan.learner in ONLINE and hierarchy is None:
        return fit_stream(path, plan, read, reporter)
    if plan.learner in BIPARTITE and hierarchy is not None:
        raise ParameterError(f"--learner {plan.learner} ranks documents and has no use for --hierarchy.\nLeave it out.")
    corpus, parents = read_training_file(path, read, hierarchy, reporter)
    if plan.learner in BIPARTITE:
        return fit_relevance(corpus, plan, validate=validate, random_state=random_state, reporter=reporter)
    return fit_corpus(
        corpus,
        plan,
        validate=validate,
        random_state=random_state,
        hierarchy=parents,
        measure=measure,
        reporter=reporter,
    )


def read_training_file(
    path: str, read: ReadOptions, hierarchy: Path | None, reporter: Reporter
) -> tuple[Corpus, Parents | None]:
    """Read documents with preferences over labels, and the hierarchy of the labels if there is one."""
    parents = None if hierarchy is None else read_tree(hierarchy)  # before the data, which may take long
    with reporter.reading(path) as (source, _):
        corpus = read_corpus(source, **read)
    if corpus.ptr is not None:
        raise FormatError(f"{corpus.source}: queries with candidates have no labels to rank; use LogLinearRanker.")
    if not len(corpus):
        reasons = format_counts(corpus.skipped)
        raise FormatError(f"{corpus.source}: no row could be read: {reasons}.\nCorrect the file.")
    reporter.note(f"Read {count(len(corpus), 'document')} with {count(len(corpus.labels), 'label')}.")
    if parents is not None and hierarchy is not None:
        check_hierarchy(parents, hierarchy, corpus)
    return corpus, parents


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
    """Select a learner by `measure` if the plan leaves it open, measure on held-out rows, then learn from all rows."""
    start = time.perf_counter()
    training_set = TrainingSet(corpus, plan, hierarchy)
    training_set.check_learner(plan.learner)
    if measure is not None:
        check_measure(measure, training_set.graphs)
    training_set.check_memory(plan)
    if set(corpus.labels) == {"relevant", "irrelevant"}:
        reporter.note("Documents are marked as relevant or irrelevant; --learner few-labels ranks documents by that.")
    note_first_compile(reporter)
    rows = np.arange(len(corpus))
    held_out = validate > 0 and len(rows) >= 2
    train, test = split_rows(rows, validate, random_state) if held_out else (rows, rows[:0])
    choice = None
    plan = training_set.complete(plan)
    if plan.learner is Learner.AUTO:
        choice = _select(training_set, plan, train, random_state, measure, reporter)
        plan = choice.plan
    validation = training_set.validate(plan, train, test, reporter) if held_out else None
    model = training_set.fit(plan, reporter)
    seconds = time.perf_counter() - start
    return TrainingResult(
        model, plan, training_set.columns, len(corpus), corpus.skipped, validation, choice, hierarchy, seconds
    )


def _select(
    training_set: TrainingSet, plan: Plan, rows: Any, random_state: int, measure: str | None, reporter: Reporter
) -> Choice:
    with reporter.progress("selecting a learner") as move:
        choice = select_learner(
            plan,
            lambda train, test: training_set.features(plan, train, test),
            training_set.graphs,
            rows,
            random_state=random_state,
            measure=measure,
            complete=training_set.complete,
            report=move,
        )
    reporter.chosen(choice)
    return choice


class TrainingSet:
    """A corpus with its graphs, and the features of any of its rows."""

    def __init__(self, corpus: Corpus, plan: Plan, hierarchy: Parents | None = None) -> None:
        self.corpus = corpus
        self.hierarchy = hierarchy
        self.columns = FeatureMap.of_corpus(corpus)
        if plan.learner in ONLINE and corpus.texts is None:
            self.columns = FeatureMap("folded", columns_of(plan))
        self.graphs = self._graphs()
        _check_preferences(self.graphs, corpus.source)

    def _graphs(self) -> PreferenceGraphs:
        if not self.corpus.labels:
            raise GraphError(
                f"{self.corpus.source}: no document has a label, so there is nothing to learn.\n"
                "Provide documents with labels."
            )
        if self.hierarchy is None:
            return self.corpus.graphs()
        assert self.corpus.label_sets is not None
        return Hierarchy(self.hierarchy).leaf_graphs(self.corpus.label_sets)

    def complete(self, plan: Plan) -> Plan:
        """Add what the plan leaves open and the preferences decide: a cut label for label sets."""
        is_sets = self.corpus.label_sets is not None and self.hierarchy is None
        return plan_for_label_sets(plan, len(self.corpus)) if is_sets else plan

    def check_learner(self, learner: Learner) -> None:
        """Refuse a learner of label sets for a corpus with other preferences."""
        if learner in LABEL_SETS_ONLY and not is_of_label_sets(self.graphs):
            others = [name for name in Learner if name not in (*LABEL_SETS_ONLY, *BIPARTITE)]
            found = f"{self.corpus.source} holds layers, rankings or arcs"
            raise ParameterError(
                f"--learner {learner} takes label sets only, and "
                f"{found if self.hierarchy is None else '--hierarchy turns them into layers'}.\n"
                f"Use --learner {', '.join(others[:-1])} or {others[-1]}."
            )

    def check_memory(self, plan: Plan) -> None:
        """Refuse a fit that is too large for this machine before features are computed and learners compared."""
        hashed = plan.learner in ONLINE
        width = columns_of(plan) if hashed else self.columns.width
        ranker = ranker_class(Learner.LOG_LINEAR if plan.learner is Learner.AUTO else plan.learner)(**plan.parameters)
        check_fit(plan, ranker._sizes(self.graphs, width), None if hashed else self.corpus.texts)

    def text_features(self, plan: Plan, n: int) -> Any:
        """Make a transformer of texts, or None if the corpus comes with features."""
        if self.corpus.texts is None:
            return None
        if plan.learner in ONLINE:
            return HashedTextFeatures(**{"n_features": columns_of(plan), **plan.text})
        return TextFeatures(**{"min_df": minimum_document_frequency(n), **plan.text})

    def features(self, plan: Plan, train: Any, test: Any) -> tuple[Any, Any]:
        """Compute the features of the rows to learn from and of those to measure on."""
        if self.corpus.texts is None:
            X = self.matrix()
            return X[train], X[test]
        words = self.text_features(plan, len(train))
        texts = self.corpus.texts
        return words.fit_transform([texts[i] for i in train]), words.transform([texts[i] for i in test])

    def matrix(self) -> Any:
        """Return the features that the corpus comes with."""
        return self.columns.matrix(self.corpus.X, self.corpus.feature_names)

    def validate(self, plan: Plan, train: Any, test: Any, reporter: Reporter = SILENT) -> dict[str, Any]:
        """Learn from some rows and measure on the others."""
        X, Z = self.features(plan, train, test)
        uncalibrated = {"calibration_folds": 0} if "cut_label" in plan.parameters else {}
        ranker = fit_ranker(plan.ranker(**uncalibrated), X, self.graphs[train], "validating", reporter)
        measures = all_measures(self.graphs[test], ranker.score_labels(Z))
        known = {name: None if math.isnan(value) else value for name, value in measures.items()}
        return {"how": "held-out", "documents": len(test), "measures": known}

    def fit(self, plan: Plan, reporter: Reporter = SILENT) -> Any:
        """Fit the model on all rows: a ranker, or a pipeline of text features and a ranker."""
        # label sets by name, so that the model predicts label sets
        sets = self.corpus.label_sets if self.hierarchy is None else None
        y = self.graphs if sets is None else [frozenset(names) for names in sets]  # lists of two could be arcs
        words = self.text_features(plan, len(self.corpus))
        X = self.matrix() if words is None else words.fit_transform(self.corpus.texts)
        ranker = fit_ranker(plan.ranker(), X, y, "training", reporter)
        return ranker if words is None else RankingPipeline([("features", words), ("ranker", ranker)])


def _check_preferences(graphs: PreferenceGraphs, source: str) -> None:
    if graphs.n_labels < 2 or not graphs.n_arcs:
        raise GraphError(
            f"{source}: no label is preferred to another, so there is nothing to learn; the file has "
            f"{count(graphs.n_labels, 'label')}.\nProvide documents that differ in their labels."
        )


def fit_ranker(ranker: Any, X: Any, y: Any, what: str, reporter: Reporter) -> Any:
    """Fit while reporting passes and the duality gap; the callback does not stay in the model."""
    parameters = ranker.get_params()
    with reporter.progress(what, total=1.0) as move:
        if "callback" in parameters:
            ranker.set_params(callback=_gap_callback(move, parameters["tol"]))
        ranker.fit(X, y)
    if "callback" in parameters:
        ranker.set_params(callback=None)
    return ranker


def _gap_callback(move: Move, tol: float) -> Callable[[dict[str, Any]], None]:
    """Report progress towards the tolerance on a logarithmic scale, since a gap shrinks by factors."""

    def tell(entry: dict[str, Any]) -> None:
        gap = float(entry.get("gap", math.nan))
        known = gap > 0 and math.isfinite(gap)
        share = min(1.0, math.log(min(gap, 1.0)) / math.log(min(tol, 0.5))) if known else 0.0
        rate = entry["iteration"] / max(entry["seconds"], 1e-9)
        move(share, f"pass {entry['iteration']}, {f'gap {gap:.1e}, ' if known else ''}{rate:.1f} passes/s")

    return tell
