"""Train on a file or on a corpus in memory: read, select a learner, validate, fit."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from arcrank._wording import count, format_counts, truncate
from arcrank.datasets import Corpus, read_corpus
from arcrank.datasets.corpus import take_rows
from arcrank.datasets.hierarchy_file import Parents, check_hierarchy, read_tree
from arcrank.datasets.stream import CandidatesFoundError
from arcrank.errors import FormatError, GraphError, ParameterError
from arcrank.graphs import Hierarchy, PreferenceGraphs
from arcrank.graphs.cut import without_cut
from arcrank.inference.feature_map import FeatureMap
from arcrank.rankers.pipeline import RankingPipeline
from arcrank.tables import TableFeatures
from arcrank.tables.columns import guess_kind
from arcrank.text import HashedTextFeatures, TextFeatures
from arcrank.training.auto import AUTO, AutoRanker, has_weights
from arcrank.training.candidate_sets import fit_candidate_corpus
from arcrank.training.cut import are_single_labels, plan_for_label_sets, plan_for_votes
from arcrank.training.estimate import check_fit
from arcrank.training.fit_ranker import fit_ranker
from arcrank.training.measures import all_measures, check_measure, is_of_label_sets
from arcrank.training.plan import (
    BIPARTITE,
    LABEL_SETS_ONLY,
    MOST_LABELS,
    ONLINE,
    Learner,
    Plan,
    minimum_document_frequency,
    ranker_class,
)
from arcrank.training.relevance import fit_relevance
from arcrank.training.reporter import SILENT, Reporter
from arcrank.training.result import TrainingResult
from arcrank.training.selection import Choice, split_rows
from arcrank.training.stream import ReadOptions, columns_of, fit_stream, note_first_compile

__all__ = ["TrainingSet", "fit_corpus", "fit_file", "read_training_file"]

_SHARE = 0.1
"""Of the documents that are held out to measure a learner that the user names."""


def fit_file(
    path: str,
    plan: Plan,
    read: ReadOptions,
    *,
    hierarchy: Path | None = None,
    validate: float | None = None,
    random_state: int = 0,
    measure: str | None = None,
    budget: float | None = None,
    reporter: Reporter = SILENT,
) -> TrainingResult:
    """Train on a file: online learners read it as a stream, the others into memory."""
    if plan.learner in ONLINE and hierarchy is None:
        try:
            return fit_stream(path, plan, read, reporter)
        except CandidatesFoundError:
            if path == "-":  # it cannot be read twice
                raise
    if plan.learner in BIPARTITE and hierarchy is not None:
        raise ParameterError(f"--learner {plan.learner} ranks documents and has no use for --hierarchy.\nLeave it out.")
    corpus, parents = read_training_file(path, read, hierarchy, reporter)
    if corpus.ptr is not None:
        return fit_candidate_corpus(
            corpus, plan, validate=validate, random_state=random_state, measure=measure, reporter=reporter
        )
    if plan.learner in BIPARTITE:
        share = _SHARE if validate is None else validate
        return fit_relevance(corpus, plan, validate=share, random_state=random_state, reporter=reporter)
    return fit_corpus(
        corpus,
        plan,
        validate=validate,
        random_state=random_state,
        hierarchy=parents,
        measure=measure,
        budget=budget,
        reporter=reporter,
    )


def read_training_file(
    path: str, read: ReadOptions, hierarchy: Path | None, reporter: Reporter
) -> tuple[Corpus, Parents | None]:
    """Read documents with preferences over labels, and the hierarchy of the labels if there is one."""
    parents = None if hierarchy is None else read_tree(hierarchy)  # before the data, which may take long
    with reporter.reading(path) as (source, _):
        corpus = read_corpus(source, **read)
    if not len(corpus):
        reasons = format_counts(corpus.skipped)
        raise FormatError(f"{corpus.source}: no row could be read: {reasons}.\nCorrect the file.")
    if corpus.ptr is not None:
        if parents is not None:
            raise ParameterError(f"{corpus.source}: candidates have no use for --hierarchy.\nLeave it out.")
        reporter.note(f"Read {count(len(corpus), 'instance')} with {count(int(corpus.ptr[-1]), 'candidate')}.")
        return corpus, None
    reporter.note(f"Read {count(len(corpus), 'document')} with {count(len(corpus.labels), 'label')}.")
    if corpus.table is not None:
        kinds = ", ".join(f"{name} ({guess_kind(values)})" for name, values in corpus.table.items())
        reporter.note(f"There is no column of texts, so all columns are features: {truncate(kinds, 300)}.")
    if unused := _without_preference(corpus):
        reporter.note(f"{count(unused, 'vote')} for a tie or for neither label say nothing about the order.")
    if parents is not None and hierarchy is not None:
        check_hierarchy(parents, hierarchy, corpus)
    return corpus, parents


def _without_preference(corpus: Corpus) -> int:
    """The number of votes that prefer neither label."""
    votes = [vote for kind, value in corpus.preferences or () if kind == "votes" for vote in value]
    return sum(vote.outcome in ("tie", "neither") for vote in votes)


def fit_corpus(
    corpus: Corpus,
    plan: Plan,
    *,
    validate: float | None = None,
    random_state: int,
    hierarchy: Parents | None = None,
    measure: str | None = None,
    budget: float | None = None,
    reporter: Reporter = SILENT,
) -> TrainingResult:
    """Select a learner if the plan leaves it open, measure on held-out rows, then learn from all rows.

    Learners are compared by `measure`, for `budget` seconds; None is the default measure, and as long as it takes.
    `validate` is the share of held-out rows; None is a tenth, or the cross-validation by which a learner was selected.
    """
    start = time.perf_counter()
    training_set = TrainingSet(corpus, plan, hierarchy)
    training_set.check_learner(plan.learner)
    if measure is not None:
        check_measure(measure, training_set.graphs)
    training_set.check_memory(plan)
    if set(corpus.labels) == {"relevant", "irrelevant"}:
        reporter.note("Documents are marked as relevant or irrelevant; --learner few-labels ranks documents by that.")
    note_first_compile(reporter)
    if plan.learner is Learner.AUTO:
        result = _fit_auto(training_set, plan, validate, random_state, measure, budget, reporter)
    else:
        result = _fit_plan(training_set, training_set.complete(plan), validate, random_state, reporter)
    result.seconds = time.perf_counter() - start
    return result


def _fit_plan(
    training_set: TrainingSet, plan: Plan, validate: float | None, random_state: int, reporter: Reporter
) -> TrainingResult:
    rows = np.arange(len(training_set.corpus))
    share = _SHARE if validate is None else validate
    held_out = split_rows(rows, share, random_state) if share > 0 and len(rows) >= 2 else None
    model, validation = training_set.fit(plan, held_out, reporter)
    return training_set.result(model, plan, validation)


def _fit_auto(
    training_set: TrainingSet,
    plan: Plan,
    validate: float | None,
    random_state: int,
    measure: str | None,
    budget: float | None,
    reporter: Reporter,
) -> TrainingResult:
    """Select and fit; with a share to hold out, select without these rows, measure on them, and fit to all rows."""
    parameters = {name: value for name, value in plan.parameters.items() if name not in ("random_state", "n_jobs")}
    auto = AutoRanker(
        AUTO if measure is None else measure,
        budget=budget,
        parameters=parameters,
        text_parameters=plan.text,
        random_state=random_state,
        n_jobs=plan.parameters.get("n_jobs", 1),
    )
    X, y = training_set.documents(), training_set.supervision(plan.learner)
    if not validate or len(y) < 2:
        auto.fit(X, y, reporter=reporter)
        validation = auto.validation_ if validate is None else None
    else:
        train, test = split_rows(np.arange(len(y)), validate, random_state)
        auto.fit(_taken(X, train), _taken(y, train), reporter=reporter)
        validation = training_set.measured(auto.score_labels(_taken(X, test)), test)
        auto.refit(X, y, reporter=reporter)
    return training_set.result(auto.model_, auto.choice_.plan, validation, auto.choice_)


def _taken(values: Any, rows: Any) -> Any:
    """Some of the documents or of their preferences, which may be a list."""
    if isinstance(values, dict):
        return take_rows(values, rows)
    return [values[i] for i in rows] if isinstance(values, list) else values[rows]


class TrainingSet:
    """A corpus with its graphs, and the features of any of its rows."""

    def __init__(self, corpus: Corpus, plan: Plan, hierarchy: Parents | None = None) -> None:
        self.corpus = corpus
        self.hierarchy = hierarchy
        self.columns = FeatureMap.of_corpus(corpus)
        if plan.learner in ONLINE and corpus.content_kind == "features":
            self.columns = FeatureMap("folded", columns_of(plan))
        self.graphs = self._graphs()
        if not plan.parameters.get("cut_label"):
            self.graphs = without_cut(self.graphs)  # of votes for neither label, which say nothing about the order
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
        if has_weights(self.graphs):
            return plan_for_votes(plan)
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
        if plan.learner is Learner.AUTO and self.graphs.n_labels > MOST_LABELS:
            return  # a ranker of shortlists will be used
        hashed = plan.learner in ONLINE and self.corpus.table is None
        width = columns_of(plan) if hashed else self.columns.width or len(self.corpus.table or ())
        ranker = ranker_class(Learner.LOG_LINEAR if plan.learner is Learner.AUTO else plan.learner)(**plan.parameters)
        check_fit(plan, ranker._sizes(self.graphs, width), None if hashed else self.corpus.texts)

    def transformer(self, plan: Plan, n: int) -> Any:
        """Make a transformer of texts or of tables, or None if the corpus comes with features."""
        if self.corpus.content_kind != "text":
            return None if self.corpus.table is None else TableFeatures()
        if plan.learner in ONLINE:
            return HashedTextFeatures(**{"n_features": columns_of(plan), **plan.text})
        return TextFeatures(**{"min_df": minimum_document_frequency(n), **plan.text})

    def features(self, plan: Plan) -> tuple[Any, Any]:
        """Return the fitted transformer, None if the corpus comes with features, and all features.

        They depend on no label, so those of all documents may be used to learn from some and to measure on others.
        """
        transformer = self.transformer(plan, len(self.corpus))
        documents = self.documents()
        return transformer, documents if transformer is None else transformer.fit_transform(documents)

    def documents(self) -> Any:
        """Return the texts, the columns of a table, or the features that the corpus comes with."""
        if self.corpus.content_kind == "features":
            return self.matrix()
        return self.corpus.texts if self.corpus.table is None else self.corpus.table

    def matrix(self) -> Any:
        """Return the features that the corpus comes with."""
        return self.columns.matrix(self.corpus.X, self.corpus.feature_names)

    def supervision(self, learner: Learner) -> Any:
        """Return what a model learns from, which decides what it predicts: single labels, label sets, or graphs."""
        sets = self.corpus.label_sets if self.hierarchy is None else None
        if sets is None:
            return self.graphs
        if are_single_labels(sets, self.graphs.n_labels, learner):
            return [names[0] for names in sets]
        return [frozenset(names) for names in sets]  # lists of two could be arcs

    def measured(self, scores: Any, rows: Any) -> dict[str, Any]:
        """Compute the measures of scores of held-out rows."""
        measures = all_measures(self.graphs[rows], scores)
        known = {name: None if math.isnan(value) else value for name, value in measures.items()}
        return {"how": "held-out", "documents": len(rows), "measures": known}

    def fit(
        self, plan: Plan, held_out: tuple[Any, Any] | None = None, reporter: Reporter = SILENT
    ) -> tuple[Any, dict[str, Any] | None]:
        """Fit the model on all rows, after learning from some rows and measuring on others where these are given."""
        words, X = self.features(plan)
        validation = None
        if held_out is not None:
            train, test = held_out
            uncalibrated = {"calibration_folds": 0} if "cut_label" in plan.parameters else {}
            ranker = fit_ranker(plan.ranker(**uncalibrated), X[train], self.graphs[train], "validating", reporter)
            validation = self.measured(ranker.score_labels(X[test]), test)
        ranker = fit_ranker(plan.ranker(), X, self.supervision(plan.learner), "training", reporter)
        model = ranker if words is None else RankingPipeline([("features", words), ("ranker", ranker)])
        return model, validation

    def result(self, model: Any, plan: Plan, validation: Any, choice: Choice | None = None) -> TrainingResult:
        """Return what training this model has to report."""
        n, skipped = len(self.corpus), self.corpus.skipped
        return TrainingResult(model, plan, self.columns, n, skipped, validation, choice, hierarchy=self.hierarchy)


def _check_preferences(graphs: PreferenceGraphs, source: str) -> None:
    if graphs.n_labels < 2 or not graphs.n_arcs:
        raise GraphError(
            f"{source}: no label is preferred to another, so there is nothing to learn; the file has "
            f"{count(graphs.n_labels, 'label')}.\nProvide documents that differ in their labels."
        )
