"""A ranker that selects itself: features, learner, C and averages by cross-validation on the training data."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from arcrank._typing import Array, IntArray
from arcrank._validation import check_int, check_real, check_seed
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import ArcGraphs, PreferenceGraphs, as_graphs
from arcrank.graphs.kinds import detect_kind, unwrap
from arcrank.graphs.unlabelled import split_unlabelled
from arcrank.rankers.average import AverageRanker
from arcrank.rankers.linear import Explanation
from arcrank.rankers.pipeline import RankingPipeline
from arcrank.text import TextAndEmbeddings, TextFeatures, TfIdf
from arcrank.training.averaging import MOST_MEMBERS
from arcrank.training.feature_choice import FeatureSet, choose_feature_set, text_candidates, weight_candidates
from arcrank.training.fit_ranker import fit_ranker
from arcrank.training.inputs import as_input, make_features
from arcrank.training.measures import check_measure, default_measure, is_of_label_sets
from arcrank.training.plan import Learner, Measure, Plan
from arcrank.training.portfolio import families_for, restricted, with_known_parameters
from arcrank.training.reporter import SILENT, Reporter, StderrReporter
from arcrank.training.selection import Choice, select
from arcrank.training.shortlist import fit_shortlist
from arcrank.training.trial_table import TrialTable, summary_html, summary_text
from arcrank.training.unlabelled import (
    Features,
    choose_features,
    choose_tentative_weight,
    make_word_features,
    of_labelled_documents,
    take_rows,
)

__all__ = ["AutoRanker"]

AUTO = "auto"
"""The measure that suits the preferences."""
FINAL_TOLERANCE = 3e-3
"""The duality gap of the selected rankers: smaller ones do not change the order of new documents."""
FEWEST_CALIBRATED = 20
"""Probabilities of fewer documents would mean nothing."""

Method = TypeVar("Method", bound=Callable[..., Any])


def _if_model_has(name: str) -> Callable[[Method], Method]:
    """A decorator of a method that exists only where the selected model has it."""
    decorator: Callable[[Method], Method] = available_if(lambda auto: hasattr(auto.model_, name))
    return decorator


class AutoRanker(BaseEstimator):
    """Rank labels with the ranker, or the average of rankers, that cross-validation on the training data selects.

    It takes what users have: texts, a DataFrame or a matrix as X, and any kind of preference as y. Several families of
    rankers are compared on a growing sample of the documents, each with the C that suits it; then up to `max_members`
    of them are averaged as long as the average gets better. For label sets and single labels the result has a cut and
    probabilities.

    Parameters
    ----------
    measure : str
        What candidates are compared by: "balanced" (the mean of average precision and 1 - ranking loss),
        "average_precision", "ranking_loss", "coverage", "one_error", "zero_one_error", "domination_error",
        "dominated_error" or "disagreement_error". "auto" is "balanced" for label sets and single labels, and
        "disagreement_error" for other preferences.
    budget : float or None
        Seconds that comparing candidates may take: when they are spent, no further family of rankers is tried. The
        final fit comes on top. With a budget, the model depends on the speed of the machine.
    texts : str or None
        The column of a DataFrame that holds the texts.
    learners : list of str, or None
        Only families of these learners: "log-linear", "preference-machine". None: all that suit the data.
    parameters : dict or None
        Parameters to hold fixed in all candidates that have them, such as {"C": 10, "decomposition": "domination"}.
    text_parameters : dict or None
        Parameters of `TextFeatures`, such as {"stem": "german", "stop_words": None}.
    embeddings : bool
        Compare words with words and static embeddings (extra `embeddings`), which help where documents are few.
    tfidf : bool
        Compare features that are mostly 0 and never negative, such as word counts, with their tf-idf weights of unit
        length. This is for matrices, and for data in which all documents are labelled.
    max_members : int
        How many rankers may be averaged; 1 selects a single one.
    set_measure : str or None
        What the label sets of `predict` are optimised for, as in `LogLinearRanker`.
    random_state : int
        Of the sample, the folds and the rankers: the same seed gives the same model to the last bit.
    n_jobs : int
        Threads: so many folds are fitted at a time, each in memory of its own. The result does not depend on it.
    verbose : int
        1 shows progress and the candidates on standard error.

    Attributes
    ----------
    model_ : RankingPipeline or label ranker
        What was selected, fitted to all documents; the methods of this estimator are its methods.
    trials_ : list of dict
        What was compared: learner, parameters, measure, value, documents, seconds, selected.
        `trials_.to_pandas()` is a DataFrame.
    selected_ : str
        What was selected, and why.
    measure_ : str
        The measure that was used; empty if there were too few documents to compare anything.
    validation_ : dict or None
        Out-of-fold measures of what was selected. The same documents selected it, so they are slightly optimistic.
    labels_ : (k,) array
        The labels, in the order of the score columns.
    n_features_in_, feature_names_in_ : int, array of str
        The number of columns of X, and their names, where X is a matrix or a DataFrame of features.

    Examples
    --------
    >>> from arcrank import AutoRanker
    >>> texts = ["crude oil prices rise", "a ship carries wheat", "oil tankers leave", "wheat and maize harvest"] * 6
    >>> topics = [["oil"], ["ship", "grain"], ["oil", "ship"], ["grain"]] * 6
    >>> auto = AutoRanker().fit(texts, topics)
    >>> auto.rank(["the price of oil"], top=1).tolist()
    [['oil']]
    >>> auto.predict(["maize harvest"])
    [['grain']]
    """

    def __init__(
        self,
        measure: str = "auto",
        *,
        budget: float | None = None,
        texts: str | None = None,
        learners: Sequence[str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        text_parameters: Mapping[str, Any] | None = None,
        embeddings: bool = False,
        tfidf: bool = True,
        max_members: int = MOST_MEMBERS,
        set_measure: str | None = "micro_f1",
        random_state: int = 0,
        n_jobs: int = 1,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.budget = budget
        self.texts = texts
        self.learners = learners
        self.parameters = parameters
        self.text_parameters = text_parameters
        self.embeddings = embeddings
        self.tfidf = tfidf
        self.max_members = max_members
        self.set_measure = set_measure
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        if self.measure not in (AUTO, *Measure):
            raise ParameterError(f"measure must be {AUTO} or one of {', '.join(Measure)}; got {self.measure!r}.")
        if self.budget is not None:
            check_real("budget", self.budget, above=0)
        for name in ("embeddings", "tfidf"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ParameterError(f"{name} must be True or False; got {getattr(self, name)!r}.")
        check_int("max_members", self.max_members, at_least=1)
        check_int("n_jobs", self.n_jobs, at_least=1)
        check_seed("random_state", self.random_state)
        restricted([], self.learners, self.parameters)

    def fit(self, X: Any, y: Any, *, reporter: Reporter | None = None) -> Self:
        """Select a ranker and fit it to all documents.

        Parameters
        ----------
        X : list of str, DataFrame, dict of columns, or (n, d) matrix, dense or sparse
            The documents, or their features; columns may hold numbers, categories, dates and texts, with gaps.
        y : anything that `as_graphs` takes
            Their preferences; None for a document that is not labelled, in a matrix or DataFrame of numbers a row of
            NaN. Unlabelled documents are used where that is better by cross-validation on the labelled ones.
        reporter : Reporter or None
            Receives progress; None writes to standard error if `verbose`.
        """
        self.check_parameters()
        start = time.perf_counter()
        reporter = self._reporter(reporter)
        labelled, known = split_unlabelled(y)
        if not labelled.all():
            self._fit_partly_labelled(X, y, np.flatnonzero(labelled), known, reporter)
            self.seconds_ = time.perf_counter() - start
            return self
        transformer, features, graphs, kind = self._data(X, y, reporter)
        families = self._families(features, graphs, kind, transformer)
        with reporter.progress("selecting a ranker") as move:
            sets = self._feature_sets(as_input(X, self.texts), transformer, features, families[0].learner)
            measure = self._measure(graphs)
            settings: dict[str, Any] = {"random_state": int(self.random_state), "report": move}
            (_, transformer, features), tried = choose_feature_set(sets, graphs, families[0], measure, **settings)
            choice = select(
                families,
                features,
                graphs,
                measure=measure,
                budget=self.budget,
                most_members=self.max_members,
                n_jobs=int(self.n_jobs),
                **settings,
            )
        choice = choice._replace(trials=[*tried, *choice.trials])
        reporter.chosen(choice)
        self._fit_choice(choice, transformer, features, y, reporter)
        self.seconds_ = time.perf_counter() - start
        return self

    def _measure(self, graphs: PreferenceGraphs) -> str:
        return default_measure(graphs) if self.measure == AUTO else self.measure

    def _feature_sets(self, X: Any, transformer: Any, features: Any, learner: Learner) -> list[FeatureSet]:
        """What features to compare; the first ones are those of the transformer, and the only ones of many labels."""
        if learner is not Learner.SHORTLIST:
            if self.embeddings and isinstance(transformer, TextFeatures):
                return text_candidates(transformer, features, X)
            if self.tfidf and transformer is None:
                return weight_candidates(X, features)
        return [FeatureSet("as given", transformer, features)]

    def _fit_partly_labelled(self, X: Any, y: Any, rows: IntArray, known: Any, reporter: Reporter) -> None:
        """Select what unlabelled documents are used for, and a ranker, on the labelled documents; then fit it."""
        if self.embeddings:
            raise ParameterError("embeddings=True compares labelled documents only; leave it out, or label all of y.")
        documents = as_input(X, self.texts)
        of_labelled = self._data(take_rows(documents, rows), known, reporter)
        if isinstance(of_labelled[0], TextFeatures):
            transformer, features = make_word_features(documents, rows, self.text_parameters or {})
        else:
            transformer, values = make_features(self, documents, {})
            features = Features(values, rows, values[rows])
        _check_unlabelled(features.values, y)
        graphs, kind = of_labelled[2:]
        families, seed = self._families(features.values, graphs, kind, transformer), int(self.random_state)
        measure = self._measure(graphs)
        settings: dict[str, Any] = {"random_state": seed}
        with reporter.progress("selecting a ranker") as move:
            settings["report"] = move
            alone = None if transformer is None else of_labelled_documents(*of_labelled[:2])
            usage, tried = choose_features(alone, features, graphs, families[0], measure, **settings)
            if not usage.of_all and alone is not None:
                transformer, features = of_labelled[0], alone
            Z = usage.transform(features, seed)
            limits: dict[str, Any] = {"budget": self.budget, "most_members": self.max_members, "n_jobs": self.n_jobs}
            choice = select(families, Z.labelled, graphs, measure=measure, as_new=Z.as_new, **limits, **settings)
            weight, more = choose_tentative_weight(choice, Z, graphs, choice.measure, **settings)
        usage = usage._replace(tentative_weight=weight)
        choice = choice._replace(trials=[*tried, *choice.trials, *more], why=f"{choice.why}; {usage.describe()}")
        reporter.chosen(choice)
        if usage.latent_weight or weight:
            ranker = usage.ranker(self._ranker(choice, len(rows)), seed)
            self._keep(choice, transformer, fit_ranker(ranker, features.values, y, "training", reporter))
        else:
            self._fit_choice(choice, transformer, features.labelled, known, reporter)

    def refit(self, X: Any, y: Any, *, reporter: Reporter | None = None) -> Self:
        """Fit what was selected to these documents instead, without comparing candidates again.

        Parameters
        ----------
        X, y, reporter
            As in `fit`.
        """
        check_is_fitted(self)
        reporter = self._reporter(reporter)
        transformer, features, _, _ = self._data(X, y, reporter)
        fitted = self.model_.steps[0][1] if hasattr(self.model_, "steps") else None
        if isinstance(fitted, TextAndEmbeddings | TfIdf):
            transformer = clone(fitted)
            features = transformer.fit_transform(as_input(X, self.texts))
        self._fit_choice(self.choice_, transformer, features, y, reporter)
        return self

    def _data(self, X: Any, y: Any, reporter: Reporter) -> tuple[Any, Any, PreferenceGraphs, str]:
        """A transformer of X, its features, and the graphs of y with their kind."""
        graphs, kind = _graphs_of(y)
        X = as_input(X, self.texts)
        if self.measure != AUTO:
            check_measure(self.measure, graphs)
        with reporter.progress("computing features"):
            transformer, features = make_features(self, X, self.text_parameters or {})
        _check_lengths(features, graphs)
        if getattr(transformer, "language_", "english") not in ("english", None):
            reporter.note(
                f"The texts seem to be in {transformer.language_.title()}: its stems and stop words are used."
            )
        return transformer, features, graphs, kind

    def _fit_choice(self, choice: Choice, transformer: Any, features: Any, y: Any, reporter: Reporter) -> None:
        ranker = self._ranker(choice, features.shape[0])
        if choice.plan.learner is Learner.SHORTLIST:
            fit_shortlist(ranker, features, y, _graphs_of(y)[0], int(self.random_state), reporter)
        else:
            fit_ranker(ranker, features, y, "training", reporter)
        self._keep(choice, transformer, ranker)

    def _keep(self, choice: Choice, transformer: Any, ranker: Any) -> None:
        if transformer is None and hasattr(self, "feature_names_in_"):
            ranker.feature_names_in_ = self.feature_names_in_
        steps = [("features", transformer), ("ranker", ranker)]
        self.model_ = ranker if transformer is None else RankingPipeline(steps)
        self.choice_, self.trials_, self.measure_ = choice, TrialTable(choice.records()), choice.measure
        self.selected_ = f"{choice.describe()} ({choice.why})"
        self.validation_ = choice.validation()

    def _families(self, X: Any, graphs: PreferenceGraphs, kind: str, transformer: Any) -> list[Plan]:
        preferences = {"label_sets": has_cut(graphs, kind), "votes": has_weights(graphs)}
        families = families_for(X, graphs.n_labels, **preferences, words=isinstance(transformer, TextFeatures))
        found = restricted(families, self.learners, self.parameters)
        common = {"random_state": int(self.random_state)} | ({} if self.n_jobs == 1 else {"n_jobs": self.n_jobs})
        common |= {"cut_label": True} if self._learns_cut(graphs, kind) else {}
        return [with_known_parameters(family, common) for family in found]

    def _learns_cut(self, graphs: PreferenceGraphs, kind: str) -> bool:
        return bool((self.parameters or {}).get("cut_label", has_cut(graphs, kind)))

    def _ranker(self, choice: Choice, n_documents: int) -> Any:
        """The ranker to fit to all documents: the one selected, or an average."""
        common: dict[str, Any] = {"tol": FINAL_TOLERANCE, "set_measure": self.set_measure}
        if n_documents < FEWEST_CALIBRATED:
            common["calibration_folds"] = 0
        common |= self.parameters or {}
        rankers = [_with_known(member.plan.ranker(), common) for member in choice.members]
        if len(rankers) == 1:
            return rankers[0]
        names = [f"{member.plan.learner}-{i}" for i, member in enumerate(choice.members, 1)]
        weights = [member.weight for member in choice.members]
        average = AverageRanker(list(zip(names, rankers, strict=True)), weights)
        return _with_known(average, common | {"cut_label": choice.plan.parameters.get("cut_label", False)})

    def _reporter(self, given: Reporter | None) -> Reporter:
        if given is not None:
            return given
        return StderrReporter() if self.verbose else SILENT

    def summary(self) -> str:
        """Return what was compared and what was selected, as a plain table."""
        check_is_fitted(self)
        return summary_text(self)

    def _repr_html_(self) -> str:
        return summary_html(self) if hasattr(self, "model_") else f"<pre>{escape(repr(self))}</pre>"

    def rank(self, X: Any, top: int | None = None) -> NDArray[Any]:
        """Return the label names in order, best first: (n, k), or (n, top)."""
        ranking: NDArray[Any] = self._model().rank(self._input(X), top)
        return ranking

    def score_labels(self, X: Any) -> Array:
        """Return the scores of all labels, (n, k): the higher, the better the label fits."""
        scores: Array = self._model().score_labels(self._input(X))
        return scores

    def decision_function(self, X: Any) -> Array:
        """Return `score_labels(X)`, as scikit-learn's tools expect it of a classifier."""
        scores: Array = self._model().decision_function(self._input(X))
        return scores

    def predict(self, X: Any) -> Any:
        """Return the kind of supervision that was given to `fit`: a label, a label set, or ranks for each document."""
        return self._model().predict(self._input(X))

    @_if_model_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """Return the probability that each label is relevant, (n, k); after label sets and single labels."""
        probabilities: Array = self.model_.predict_proba(self._input(X))
        return probabilities

    @_if_model_has("predict_log_odds")
    def predict_log_odds(self, X: Any) -> Array:
        """Return log(p / (1 - p)) of `predict_proba`, (n, k)."""
        log_odds: Array = self.model_.predict_log_odds(self._input(X))
        return log_odds

    @_if_model_has("predict_above_proba")
    def predict_above_proba(self, X: Any, above: Any, below: Any) -> Array:
        """Return the probability, (n,), that label `above` ranks above label `below`, given that one does."""
        probabilities: Array = self.model_.predict_above_proba(self._input(X), above, below)
        return probabilities

    @_if_model_has("calibrate")
    def calibrate(self, X: Any, y: Any) -> Self:
        """Fit offsets and probabilities on documents that were not in the training data."""
        self.model_.calibrate(self._input(X), y)
        return self

    def explain(self, x: Any, above: Any, below: Any) -> Explanation:
        """Explain why label `above` scores higher (or lower) than `below` for one document."""
        check_is_fitted(self)
        one = x if isinstance(x, str) or self.texts is None else self._input(x)
        why: Explanation = self.model_.explain(one, above, below)
        return why

    @_if_model_has("partial_fit")
    def partial_fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Go on learning, where the selected ranker is an online learner."""
        self.model_.partial_fit(self._input(X), y, **params)
        return self

    def score(self, X: Any, y: Any) -> float:
        """Return one minus the error of the model's decomposition (domination for averages)."""
        check_is_fitted(self)
        value: float = self.model_.score(self._input(X), y)
        return value

    def _model(self) -> Any:
        check_is_fitted(self)
        return self.model_

    def _input(self, X: Any) -> Any:
        return as_input(X, self.texts)

    @property
    def labels_(self) -> NDArray[Any]:
        """The labels of the model, (k,)."""
        labels: NDArray[Any] = self.model_.labels_
        return labels

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, under the name by which scikit-learn's tools ask for them."""
        return self.labels_

    @property
    def calibration_(self) -> Any:
        """The calibration of the model, where there is one."""
        return self.model_.calibration_

    @staticmethod
    def trials_of(records: list[dict[str, Any]]) -> TrialTable:
        """Return records as `trials_` holds them."""
        return TrialTable(records)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags()  # predict_proba has a column for each label
        return tags


def _with_known(ranker: Any, parameters: Mapping[str, Any]) -> Any:
    """Set those parameters that the ranker has."""
    known = ranker.get_params(deep=False)
    return ranker.set_params(**{name: value for name, value in parameters.items() if name in known})


def has_cut(graphs: PreferenceGraphs, kind: str) -> bool:
    """Whether labels are relevant or not, so that a cut can be learnt."""
    return kind != "layers" and is_of_label_sets(graphs)


def has_weights(graphs: PreferenceGraphs) -> bool:
    """Whether arcs have weights, as those of votes have."""
    return isinstance(graphs, ArcGraphs) and graphs.weight is not None


def _graphs_of(y: Any) -> tuple[PreferenceGraphs, str]:
    if y is None:
        raise InputError("This AutoRanker estimator requires y to be passed, but the target y is None.")
    if isinstance(y, PreferenceGraphs):
        return y, "graphs"
    kind = detect_kind(unwrap(y))
    return as_graphs(y, kind=kind), kind


def _check_unlabelled(X: Any, y: Any) -> None:
    if X.shape[0] != len(y):
        raise InputError(f"X has {X.shape[0]} instances and y has {len(y)}; give None for each that is not labelled.")


def _check_lengths(X: Any, graphs: PreferenceGraphs) -> None:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n != len(graphs):
        raise InputError(f"X has {n} instances and y has {len(graphs)}; give one preference graph for each instance.")
