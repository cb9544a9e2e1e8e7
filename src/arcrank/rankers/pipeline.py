"""Transformers and a label ranker as one estimator that ranks, explains and goes on learning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from arcrank._typing import Array
from arcrank.errors import ParameterError
from arcrank.rankers.feature_names import FeatureNames
from arcrank.rankers.linear import Explanation

__all__ = ["RankingPipeline", "make_ranking_pipeline"]


Method = TypeVar("Method", bound=Callable[..., Any])


def _if_ranker_has(name: str) -> Callable[[Method], Method]:
    """A decorator of a method that exists only where the ranker has it; else the ranker's AttributeError is raised."""

    def check(pipeline: RankingPipeline) -> bool:
        getattr(pipeline.steps[-1][1], name)
        return True

    decorator: Callable[[Method], Method] = available_if(check)
    return decorator


class RankingPipeline(Pipeline):
    """A scikit-learn Pipeline that ends in a label ranker and has the ranker's methods.

    Everything that works with a Pipeline works here too: `clone`, `set_params`, GridSearchCV, slices, `predict`,
    `decision_function`, `score`. A method exists only where the ranker has it. A slice without the ranker, such as
    `pipeline[:-1]`, is a plain Pipeline.

    It takes the parameters of a Pipeline; the last of the `steps` is a label ranker.

    Attributes
    ----------
    labels_ : (k,) array
        The labels, in the order of the score columns.
    calibration_ : Calibration
        How probabilities are computed, where the ranker is calibrated.
    thresholds_ : (any, first)
        The thresholds of a `LogLinearRanker` that learnt label sets.

    See Also
    --------
    make_ranking_pipeline : the same with names for the steps.

    Examples
    --------
    >>> from arcrank import LogLinearRanker, RankingPipeline
    >>> from arcrank.text import TextFeatures
    >>> pipeline = RankingPipeline([("words", TextFeatures(min_df=1)), ("ranker", LogLinearRanker(C=10))])
    >>> texts = ["crude oil prices rise", "a ship carries wheat", "oil tankers"]
    >>> pipeline.fit(texts, [["oil"], ["ship", "grain"], ["oil", "ship"]]).rank(["oil price"], top=2).tolist()
    [['oil', 'ship']]
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the transformers, then the ranker; a wrong step or parameter of the ranker is refused first.

        Parameters
        ----------
        X : list of str, or anything that the first step takes
            The instances.
        y : anything that `as_graphs` takes
            Their preferences.
        **params
            As in scikit-learn's Pipeline, such as `ranker__sample_weight`.
        """
        _check_ranker(self.steps[-1][1])
        if hasattr(self, "check_parameters"):
            self.check_parameters()
        super().fit(X, y, **params)
        return self

    @_if_ranker_has("check_parameters")
    def check_parameters(self) -> None:
        """Raise a `ParameterError` where the ranker has a parameter that `fit` would refuse."""
        self.steps[-1][1].check_parameters()

    @_if_ranker_has("rank")
    def rank(self, X: Any, top: int | None = None) -> NDArray[Any]:
        """Return the label names in order, best first: (n, k), or (n, top)."""
        ranking: NDArray[Any] = self.steps[-1][1].rank(self._transformed(X), top)
        return ranking

    @_if_ranker_has("score_labels")
    def score_labels(self, X: Any) -> Array:
        """Return the scores of all labels, (n, k): the higher, the better the label fits."""
        scores: Array = self.steps[-1][1].score_labels(self._transformed(X))
        return scores

    @_if_ranker_has("margins")
    def margins(self, X: Any, y: Any) -> Array:
        """Return each document's smallest margin of a preference, (n,); only online rankers have this method."""
        margins: Array = self.steps[-1][1].margins(self._transformed(X), y)
        return margins

    @_if_ranker_has("explain")
    def explain(self, x: Any, above: Any, below: Any) -> Explanation:
        """Explain why label `above` scores higher (or lower) than `below`, in the words of the text.

        `TextFeatures` and `HashedTextFeatures` are named by the words as they are written in this text; for the stems
        that the model knows, see `get_feature_names_out` of `pipeline[:-1]`. Other transformers are named by their
        `get_feature_names_out`, where they have it, else by the number of the column.

        Parameters
        ----------
        x : str, or one instance that the first step takes
            The document.
        above, below : labels
            Two labels of `labels_`.

        Examples
        --------
        >>> from arcrank import RocchioRanker, make_ranking_pipeline
        >>> from arcrank.text import TextFeatures
        >>> pipeline = make_ranking_pipeline(TextFeatures(min_df=1, norm=None), RocchioRanker())
        >>> pipeline = pipeline.fit(["crude oil prices", "wheat harvest"], ["oil", "grain"])
        >>> why = pipeline.explain("Prices of wheat; the price of oil", above="oil", below="grain")
        >>> [name for name, _ in why.parts]
        ['Prices, price', 'wheat', 'oil']
        """
        rows, text = _one_instance(x)
        why: Explanation = self.steps[-1][1].explain(self._transformed(rows), above, below)
        if hasattr(self.steps[-1][1], "feature_names_in_"):
            return why
        name = FeatureNames(self[:-1] if len(self.steps) > 1 else None).in_words(text)
        return replace(why, parts=[(name(column), value) for column, value in why.parts])

    @_if_ranker_has("predict_above_proba")
    def predict_above_proba(self, X: Any, above: Any, below: Any) -> Array:
        """Return the probability, (n,), that label `above` ranks above label `below`, given that one does."""
        probabilities: Array = self.steps[-1][1].predict_above_proba(self._transformed(X), above, below)
        return probabilities

    @_if_ranker_has("predict_log_odds")
    def predict_log_odds(self, X: Any) -> Array:
        """Return log(p / (1 - p)) of `predict_proba`, (n, k)."""
        log_odds: Array = self.steps[-1][1].predict_log_odds(self._transformed(X))
        return log_odds

    @_if_ranker_has("calibrate")
    def calibrate(self, X: Any, y: Any) -> Self:
        """Fit offsets and probabilities of the ranker on instances that were not in the training data."""
        self.steps[-1][1].calibrate(self._transformed(X), y)
        return self

    @_if_ranker_has("partial_fit")
    def partial_fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Go on learning with the ranker; the transformers stay as they are.

        They must be fitted, or need no fit, as `HashedTextFeatures`.

        Parameters
        ----------
        X : list of str, or anything that the first step takes
            The instances.
        y : anything that `as_graphs` takes
            Their preferences.
        **params
            Of the ranker's `partial_fit`, such as `labels`.

        Examples
        --------
        >>> from arcrank import MMPRanker, make_ranking_pipeline
        >>> from arcrank.text import HashedTextFeatures
        >>> pipeline = make_ranking_pipeline(HashedTextFeatures(n_features=2**10), MMPRanker())
        >>> pipeline = pipeline.partial_fit(["crude oil"], [["oil"]], labels=["oil", "ship"])
        >>> pipeline.partial_fit(["a tanker"], [["ship"]]).rank(["tankers"]).tolist()
        [['ship', 'oil']]
        """
        _check_ranker(self.steps[-1][1])
        for name, step in self.steps[:-1]:
            _check_ready(name, step)
        self.steps[-1][1].partial_fit(self._transformed(X), y, **params)
        return self

    @property
    def labels_(self) -> NDArray[Any]:
        """The labels of the ranker, (k,)."""
        labels: NDArray[Any] = self.steps[-1][1].labels_
        return labels

    @property
    def calibration_(self) -> Any:
        """The calibration of the ranker, where there is one."""
        return self.steps[-1][1].calibration_

    @property
    def thresholds_(self) -> Any:
        """The thresholds of a `LogLinearRanker` that learnt label sets."""
        return self.steps[-1][1].thresholds_

    def __getitem__(self, ind: Any) -> Any:
        """Return a step, or a slice: of this class where it ends in the ranker, else a plain Pipeline."""
        part = super().__getitem__(ind)
        if not isinstance(ind, slice) or (part.steps and _is_ranker(part.steps[-1][1])):
            return part
        return Pipeline(part.steps, memory=self.memory, verbose=self.verbose)

    def _transformed(self, X: Any) -> Any:
        """What the ranker reads of X."""
        for _, step in self.steps[:-1]:
            X = X if _passes(step) else step.transform(X)
        return X


def make_ranking_pipeline(*steps: Any, memory: Any = None, verbose: bool = False) -> RankingPipeline:
    """Make a `RankingPipeline`; its steps are named by their classes, in lower case.

    Parameters
    ----------
    *steps : estimators
        Transformers, and a label ranker last.
    memory, verbose
        As in scikit-learn's `make_pipeline`.

    Examples
    --------
    >>> from arcrank import LogLinearRanker, make_ranking_pipeline
    >>> from arcrank.text import TextFeatures
    >>> pipeline = make_ranking_pipeline(TextFeatures(min_df=1), LogLinearRanker(C=10))
    >>> [name for name, _ in pipeline.steps]
    ['textfeatures', 'loglinearranker']
    >>> pipeline.fit(["crude oil", "a ship"], ["oil", "ship"]).rank(["ships", "oil"]).tolist()
    [['ship', 'oil'], ['oil', 'ship']]
    """
    _check_ranker(steps[-1] if steps else None)
    return RankingPipeline(make_pipeline(*steps).steps, memory=memory, verbose=verbose)


def _is_ranker(step: Any) -> bool:
    return hasattr(step, "rank") and hasattr(step, "score_labels")


def _check_ranker(step: Any) -> None:
    if not _is_ranker(step):
        got = repr(step) if step is None or isinstance(step, str) else type(step).__name__
        raise ParameterError(
            f"The last step of a RankingPipeline must be a label ranker, such as LogLinearRanker(); got {got}. "
            "For other estimators use scikit-learn's Pipeline."
        )


def _passes(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _check_ready(name: str, step: Any) -> None:
    """Refuse a transformer that would have to see all data first."""
    if _passes(step) or not get_tags(step).requires_fit:
        return
    try:
        check_is_fitted(step)
    except NotFittedError:
        raise NotFittedError(
            f"The step {name!r} ({type(step).__name__}) is not fitted, and partial_fit teaches the ranker only. Call "
            "fit first, fit this step on texts of its own, or use a step that needs no fit, such as HashedTextFeatures."
        ) from None


def _one_instance(x: Any) -> tuple[Any, str | None]:
    """One document as the rows that transformers take, and its text where it is one."""
    if isinstance(x, str):
        return [x], x
    if hasattr(x, "columns") or getattr(x, "ndim", 0) == 2 or (isinstance(x, list) and x and isinstance(x[0], dict)):
        return x, None
    if len(x) == 1 and isinstance(x[0], str):
        return x, x[0]
    return np.atleast_2d(np.asarray(x)), None
