"""Online rankers of Crammer & Singer 2002: MMP with its three losses, and one perceptron per label."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from arcrank._features import canonical_csr
from arcrank._validation import check_real
from arcrank.decompositions import DECOMPOSITIONS
from arcrank.errors import ParameterError
from arcrank.graphs import CandidateGraphs, PreferenceGraphs
from arcrank.losses.margin import MARGIN_LOSSES
from arcrank.rankers.online.hindsight import Hindsight, fit_in_hindsight, need_hindsight, pieces_of_loss
from arcrank.rankers.online.kernel import KernelOnlineRanker
from arcrank.solvers.candidate_online import learn_by_rule
from arcrank.solvers.online import LOSSES
from arcrank.solvers.online_margin import MarginSteps

__all__ = ["MMPRanker"]


class MMPRanker(KernelOnlineRanker):
    """The multiclass multilabel perceptron (Crammer & Singer 2002, Fig. 2): one prototype per label, one pass.

    Where a document's ranking is not perfect, with E its wrong arcs (score(head) <= score(tail), ties included), the
    prototype of every label moves along x by its wrong arcs as a head less its wrong arcs as a tail, divided by c. On a
    label set these are the pairs of a relevant and another label. Arc weights are not used.

    Parameters
    ----------
    loss : "indicator", "size", "normalized" or "average_precision"
        The paper's loss 1, [E is not empty], c = size of E; loss 2, the size of E, c = 1; loss 3, the share of
        wrong arcs, c = the document's number of arcs. With "average_precision" a wrong arc counts
        1 / (heads x rank of its head among the heads and its own wrong tails), so that on label sets the steps of the
        relevant labels sum to 1 - average precision.
    epochs : int
        Passes of `fit`; `partial_fit` makes one over what it is given.
    average : bool
        Score by the mean of the prototypes over the rounds in which a label was known, in place of the last ones.
    shuffle : bool
        Draw a new order of the rows in each pass of `fit`, by `random_state`.
    kernel : None, "rbf", "poly" or callable
        None is linear. Else prototypes are sums over the documents that were not ranked perfectly: costs grow with
        their number, and there are no weights to explain. A callable takes CSR matrices (n, d) and (m, d) and returns
        an (n, m) array.
    gamma : float or None
        Of the kernels `exp(-gamma ||x - z||^2)` and `(gamma x.z + coef0)^degree`; None is 1/d.
    degree : float
        Of "poly".
    coef0 : float
        Of "poly".
    cut_label, cut_level, set_measure, calibration_folds
        As in `LogLinearRanker`: learn where rankings end, so that `predict` returns label sets, and fit probabilities.
    random_state : int, RandomState or None
        Of the order.
    verbose : int
        A line on stderr after each pass of `fit`.

    Attributes
    ----------
    labels_ : (k,) array
        A matrix's columns, else sorted; labels that appear in a later `partial_fit` are appended.
    coef_ : (k, d) array
        There is no intercept.
    cumulative_losses_, loss_rounds_ : (m, 3) and (m,) arrays
        Means of the losses 1-3 over the rounds so far.
    history_ : list of dict
        These means after each pass of `fit`.
    n_rounds_, n_skipped_ : int
        Documents learnt from, and those without arcs (no label, or all), which have no order to learn and change
        nothing.

    Notes
    -----
    `fit` with one epoch and `partial_fit` in any blocks give the same bits, as long as the first block knows all labels
    (a matrix, or labels=): a label that nobody has heard of cannot be pushed down.

    Examples
    --------
    >>> from arcrank.rankers.online.mmp import MMPRanker
    >>> X, y = [[2, 0, 0], [0, 3, 0], [1, 1, 1]], [["oil"], ["ship"], ["oil", "ship"]]
    >>> ranker = MMPRanker("size", epochs=2).fit(X, y)
    >>> ranker.rank([[1, 0, 0], [0, 1, 0]]).tolist()
    [['oil', 'ship'], ['ship', 'oil']]
    >>> ranker.n_rounds_, ranker.n_skipped_
    (4, 2)
    >>> ranker.partial_fit([[0, 0, 4]], [["grain"]]).labels_.tolist()
    ['oil', 'ship', 'grain']
    """

    # Spelled out although another estimator has the same: scikit-learn reads the parameters from this signature.
    def __init__(
        self,
        loss: str = "indicator",
        epochs: int = 1,
        average: bool = False,
        shuffle: bool = False,
        kernel: str | Callable[[Any, Any], Any] | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        random_state: Any = None,
        verbose: int = 0,
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        calibration_folds: int = 3,
    ) -> None:
        self.loss = loss
        self.epochs = epochs
        self.average = average
        self.shuffle = shuffle
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.random_state = random_state
        self.verbose = verbose
        self.cut_label = cut_label
        self.cut_level = cut_level
        self.set_measure = set_measure
        self.calibration_folds = calibration_folds

    def mistake_bound(self, margin: float | None = None) -> float:
        """The most that the summed `loss` can be on this stream, if some prototypes rank all of it by this margin.

        These prototypes have together unit norm, and every arc of every document has at least `margin` > 0 with them.
        With R the largest length of a document so far: 2 R^2/margin^2 for loss 1, k R^2/margin^2 for loss 2 and
        k/(k - 1) R^2/margin^2 for loss 3 (on graphs with fewer than k - 1 arcs, m: min(2, k/m) R^2/margin^2).

        The paper's Theorem 1 is lost to us; the constants are our own derivation. From ||W||^2 <= R^2 sum ||step||^2
        and <W, W*> >= margin sum loss: for loss 1 ||step||^2 <= 2; for loss 2 at most k times the size
        of E, since k bounds the eigenvalues of a graph's Laplacian; for loss 3 at most k/arcs times the loss. For
        1 - average precision the constant is 2: the step of a relevant label is at most 1, as that of another one.

        Without a margin, U are the weights of the machine of `hindsight(X, y)` and H its summed hinge loss, of pieces
        that bound this loss; no ranking has to be perfect. Then <W, U> >= sum loss - H, and the bound is
        `(a + sqrt(a^2 + 4 H))^2 / 4` with `a = R ||U|| sqrt(constant)`.

        Examples
        --------
        >>> MMPRanker().fit([[3, 4], [1, 0]], ["oil", "ship"]).mistake_bound(0.5)
        200.0
        """
        self.check_parameters()
        check_is_fitted(self)
        if margin is None:
            found = need_hindsight(getattr(self, "hindsight_", None))
            a = math.sqrt(self._constant() * self._progress.largest_square * found.square)
            return (a + math.sqrt(a * a + 4.0 * found.loss)) ** 2 / 4.0
        return self._constant() * self._progress.largest_square / check_real("margin", margin, above=0) ** 2

    def _constant(self) -> float:
        """The most that the squared length of a step can be, over the loss of its round."""
        k = len(self.labels_) + self._columns_before
        if self.loss == "size":
            return float(k)
        return min(2.0, k / max(1, min(k - 1, self._progress.fewest_arcs))) if self.loss == "normalized" else 2.0

    @property
    def precision_loss_(self) -> float:
        """With loss="average_precision", the sum of 1 - average precision over all rounds, before each update."""
        return self._fitted_progress().own_loss

    def _fit_in_hindsight(self, X: Any, graphs: PreferenceGraphs, passes: int) -> Hindsight:
        name, normalize = pieces_of_loss(self.loss)
        C = 10.0 / self._progress.largest_square if self._progress.largest_square else 1.0
        steps = MarginSteps(DECOMPOSITIONS[name], MARGIN_LOSSES["hinge"], C)
        return fit_in_hindsight(X, graphs, steps, passes, np.ones(X.shape[0]), normalize=normalize)

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        if not isinstance(self.loss, str) or self.loss not in LOSSES:
            raise ParameterError(f"loss must be one of {', '.join(map(repr, LOSSES))}, got {self.loss!r}.")
        super().check_parameters()

    def _learn(self, X: Any, graphs: PreferenceGraphs, rows: NDArray[np.int64]) -> None:
        rule = LOSSES[self.loss]
        if isinstance(graphs, CandidateGraphs):
            learn_by_rule(self._model, rule, X, graphs, rows, self._progress)
            return
        if self.kernel is None:
            self._model.learn(rule, canonical_csr(X), graphs, rows, self._progress)
            return
        from arcrank.solvers.online_kernel_rounds import mmp_stepper  # it needs numba, which scoring does without

        self._learn_support(mmp_stepper(rule, graphs), X, rows)
