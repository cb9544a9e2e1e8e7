"""The on-line Preference Learning Model: passive-aggressive steps on the pieces of any graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._features import canonical_csr, squared_lengths
from arcrank._validation import check_int, check_real
from arcrank.decompositions import (
    CUT_DOMINATED,
    CUT_DOMINATION,
    DOMINATED,
    DOMINATION,
    Decomposition,
    get_decomposition,
)
from arcrank.errors import ParameterError
from arcrank.graphs import CandidateGraphs, PreferenceGraphs
from arcrank.losses.margin import MARGIN_LOSSES, MarginLoss
from arcrank.rankers.online.hindsight import Hindsight, fit_in_hindsight, need_hindsight
from arcrank.rankers.online.kernel import KernelOnlineRanker
from arcrank.rankers.scale import SCALE, check_cost
from arcrank.solvers.candidate_online import learn_by_margins
from arcrank.solvers.online_margin import MarginSteps

__all__ = ["OnlinePreferenceMachine"]

LOSSES = ("hinge", "squared-hinge")
_WITH_CUT: dict[Decomposition, Decomposition] = {DOMINATION: CUT_DOMINATION, DOMINATED: CUT_DOMINATED}
RELATIVE_C = 0.1
"""C="scale" is this number over the squared length of the document; `benchmarks/online_machine.py` chose it."""


class OnlinePreferenceMachine(KernelOnlineRanker):
    """The Preference Learning Model on a stream (Aiolli & Sperduti 2004, section 5), by passive-aggressive steps.

    Each document moves the prototypes W to the minimum of `||W' - W||^2 / 2 + C L(m / margin)`, where m is the smallest
    margin of a piece of its graph at W' (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006: PA-I for the hinge,
    PA-II for the squared hinge). Each piece is solved exactly, at the prototypes that the piece before it left: pieces
    of small margin first, and pieces that are single arcs of one head together. Any graph is a supervision, with arc
    weights, which multiply the loss.

    Parameters
    ----------
    decomposition : str or callable
        The pieces of a graph: "dominated" (one per tail), "domination" (one per head), "disagreement" (one per arc),
        "identity" (the whole graph), or a callable, see `arcrank.decompositions`.
    loss : "squared-hinge" or "hinge"
        L.
    margin : float
        The margin at which L is 0.
    C : float or "scale"
        The larger, the more a document moves the prototypes. "scale" is 0.1 over the squared length of each document,
        so that multiplying X by a number changes no ranking.
    epochs : int
        Passes of `fit`; `partial_fit` makes one over what it is given.
    average : bool
        Score by the mean of the prototypes over the rounds in which a label was known, in place of the last ones.
    shuffle : bool
        Draw a new order of the rows in each pass of `fit`, by `random_state`.
    kernel, gamma, degree, coef0
        As in `MMPRanker`.
    budget : int or None
        With a kernel, the most documents that prototypes are made of: one more replaces the one without which the
        prototypes change least. None keeps all of them.
    cut_label, cut_level, set_measure, calibration_folds
        As in `LogLinearRanker`: learn where rankings end, so that `predict` returns label sets, and fit probabilities.
    random_state : int, RandomState or None
        Of the order.
    verbose : int
        A line on stderr after each pass of `fit`.

    Attributes
    ----------
    labels_, coef_, cumulative_losses_, loss_rounds_, history_, n_rounds_, n_skipped_
        As in `MMPRanker`.
    margin_loss_ : float
        The sum of L over all pieces and rounds, each measured before its step.
    hindsight_, regret_ : Hindsight and float
        After `hindsight(X, y)`: the machine that was fitted to the whole stream, and `margin_loss_` less its loss.

    Examples
    --------
    >>> from arcrank import OnlinePreferenceMachine
    >>> X, y = [[2, 0, 0], [0, 3, 0], [1, 1, 1]], [["oil"], ["ship"], ["oil", "ship"]]
    >>> ranker = OnlinePreferenceMachine(epochs=2).fit(X, y)
    >>> ranker.rank([[1, 0, 0], [0, 1, 0]]).tolist()
    [['oil', 'ship'], ['ship', 'oil']]
    >>> ranker.partial_fit([[0, 0, 4]], [["grain"]]).labels_.tolist()
    ['oil', 'ship', 'grain']
    """

    # Spelled out although another estimator has the same: scikit-learn reads the parameters from this signature.
    def __init__(
        self,
        decomposition: Any = "dominated",
        loss: str = "squared-hinge",
        margin: float = 1.0,
        C: float | str = "scale",
        *,
        epochs: int = 1,
        average: bool = False,
        shuffle: bool = False,
        kernel: str | Callable[[Any, Any], Any] | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        budget: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        calibration_folds: int = 3,
    ) -> None:
        self.decomposition = decomposition
        self.loss = loss
        self.margin = margin
        self.C = C
        self.epochs = epochs
        self.average = average
        self.shuffle = shuffle
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose
        self.cut_label = cut_label
        self.cut_level = cut_level
        self.set_measure = set_measure
        self.calibration_folds = calibration_folds

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        get_decomposition(self.decomposition)
        if not isinstance(self.loss, str) or self.loss not in LOSSES:
            raise ParameterError(f"loss must be one of {', '.join(map(repr, LOSSES))}, got {self.loss!r}.")
        check_real("margin", self.margin, above=0)
        check_cost(self.C)
        if self.budget is not None:
            check_int("budget", self.budget, at_least=1, also="None")
            if self.average:
                raise ParameterError(
                    "budget needs average=False: a mean is made of all support vectors that ever were."
                )
        super().check_parameters()

    @property
    def margin_loss_(self) -> float:
        """The sum of L over all pieces and rounds, each measured before its step."""
        return self._fitted_progress().own_loss

    def mistake_bound(self, margin: float | None = None) -> float:
        """The most documents of this stream that can have had a wrong arc when they were seen, loss 1 of all rounds.

        Each step raises the dual of `P(U) = ||U||^2 / 2 + sum C loss(U)`, that of a document with a wrong arc by at
        least min(C, 1 / 2R^2) / 2 for the hinge and 1 / (4R^2 + 1/C) for the squared hinge, where R is the largest
        length of a document; and the dual is at most P(U) for any U (Shalev-Shwartz & Singer 2007). U are the weights
        of the machine of `hindsight(X, y)`, which minimise P. With `margin` they are prototypes of unit norm that rank
        all documents by this margin, divided by it: then P(U) = 1 / (2 margin^2), for arcs of weight 1.

        The bound is for decompositions that leave out no arc.
        """
        square = self._fitted_progress().largest_square
        steps, weight = self._steps(), 1.0
        if margin is None:
            found = need_hindsight(getattr(self, "hindsight_", None))
            doubled, weight = found.square + 2.0 * found.cost, found.smallest_weight
        else:
            doubled = 1.0 / (check_real("margin", margin, above=0) / steps.margin) ** 2
        if not square:
            return 0.0
        C = weight * steps.C / steps.margin**2 / (square if steps.relative else 1.0)
        return doubled * (max(1.0 / C, 2.0 * square) if self.loss == "hinge" else 2.0 * square + 0.5 / C)

    @property
    def regret_(self) -> float:
        """`margin_loss_` less the loss of the machine of `hindsight(X, y)` on the same stream."""
        return self.margin_loss_ - need_hindsight(getattr(self, "hindsight_", None)).loss

    def _fit_in_hindsight(self, X: Any, graphs: PreferenceGraphs, passes: int) -> Hindsight:
        steps, weight = self._steps(), np.ones(X.shape[0])
        if steps.relative:
            squares = squared_lengths(X)
            weight = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
        return fit_in_hindsight(X, graphs, steps, passes, weight)

    @property
    def _budget(self) -> int | None:  # type: ignore[override]
        return self.budget

    def _learn(self, X: Any, graphs: PreferenceGraphs, rows: NDArray[np.int64]) -> None:
        if isinstance(graphs, CandidateGraphs):
            learn_by_margins(self._model, self._steps(), X, graphs, rows, self._progress)
        elif self.kernel is None:
            self._steps().learn(self._model, canonical_csr(X), graphs, rows, self._progress)
        else:
            self._learn_support(self._steps().stepper(graphs), X, rows)

    def _steps(self) -> MarginSteps:
        relative = self.C == SCALE
        C = RELATIVE_C if relative else float(self.C)
        return MarginSteps(self._pieces(), self._loss(), C, relative, float(self.margin))

    def _pieces(self) -> Decomposition:
        """The decomposition of the graphs that are learnt from."""
        decomposition = get_decomposition(self.decomposition)
        return _WITH_CUT.get(decomposition, decomposition) if self.cut_label else decomposition

    def _loss(self) -> MarginLoss:
        return MARGIN_LOSSES[self.loss]
