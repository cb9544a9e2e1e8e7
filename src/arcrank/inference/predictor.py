"""A loaded model at work: documents in, scores, rankings and explanations out. Nothing here imports numba."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from arcrank._wording import as_json
from arcrank.errors import InputError
from arcrank.inference.feature_map import FeatureMap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from arcrank.datasets import Corpus
    from arcrank.rankers.base import Explanation

_CELLS = 1 << 22  # scores in memory at a time
_FEW_LABELS = 512  # up to here sorting whole rows is faster than looking for the best in each


class Predictor:
    """Scores, rankings and explanations of one model. Weights of a linear one are brought into order once."""

    def __init__(self, model: Any) -> None:
        import numpy as np

        self.model = model
        self.ranker = model[-1] if hasattr(model, "steps") else model
        if not hasattr(self.ranker, "score_labels"):
            raise InputError(f"{type(self.ranker).__name__} ranks instances, not labels.\nTrain a label ranker.")
        self.columns = FeatureMap.of_model(model)
        self.labels: list[Any] = self.ranker.labels_.tolist()
        weights = None if self._has_kernel() else getattr(self.ranker, "coef_", None)
        self._weights = None if weights is None else np.ascontiguousarray(weights.T)

    def _has_kernel(self) -> bool:
        return getattr(self.ranker, "kernel", None) not in (None, "linear")

    @property
    def takes_text(self) -> bool:
        return self.columns.kind == "text"

    def features(self, documents: Corpus) -> Any:
        """The features of a batch, in the columns of the model."""
        if documents.texts is not None:
            if not self.takes_text:
                raise InputError("The model takes features, and these are texts.\nRank what it learnt from.")
            return self.model[:-1].transform(documents.texts)
        if self.takes_text:
            raise InputError("The model takes texts, and these are features.\nRank what it learnt from.")
        return self.columns.matrix(documents.X, documents.feature_names)

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Scores (n, k) of features that were made by `features`."""
        import numpy as np

        from arcrank.solvers.products import row_products

        if self._weights is None:
            return np.asarray(self.ranker.score_labels(X))
        scores = row_products(X, self._weights)
        if self.ranker.intercept_.any():
            scores += self.ranker.intercept_
        return scores

    def ranked(self, documents: Corpus, top: int | None) -> Iterator[tuple[Any, Any, Any]]:
        """Yield (features, columns in order, their scores) of parts of a batch that fit into memory."""
        import numpy as np

        X = self.features(documents)
        step = max(1, _CELLS // max(1, len(self.labels)))
        for start in range(0, X.shape[0], step):
            part = X if step >= X.shape[0] else X[start : start + step]
            scores = self.scores(part)
            order = top_places(scores, top)
            yield part, order, np.take_along_axis(scores, order, axis=1)

    def explain(self, x: Any, above: int, below: int) -> Explanation:
        """Each feature's part of the margin between two labels, given by their columns."""
        import numpy as np
        from scipy.sparse import csr_matrix

        from arcrank.rankers.base import Explanation

        if self._weights is None:
            raise InputError("The model has a kernel, so its words have no weights.\nTrain a linear one to explain.")
        row = csr_matrix(x)
        parts = row.data * (self._weights[row.indices, above] - self._weights[row.indices, below])
        constant = float(self.ranker.intercept_[above] - self.ranker.intercept_[below])
        return Explanation.of(self.labels[above], self.labels[below], np.asarray(row.indices), parts, constant)

    def column_of(self, label: str) -> int:
        """The column of a label, or an error that names labels like it."""
        for column, known in enumerate(self.labels):
            if str(known) == label:
                return column
        names = [str(known) for known in self.labels]
        told = f"{_short(label)} is not one of the {len(names):,} labels of the model."
        raise InputError(f"{told}\n{_advice(label, names)}")


def known_features(X: Any) -> NDArray[np.int64]:
    """How many features of each row the model knows."""
    import numpy as np

    return np.diff(X.indptr) if hasattr(X, "indptr") else np.count_nonzero(X, axis=1)


def _advice(label: str, names: list[str]) -> str:
    """The labels that are probably meant, whatever their case; else a few."""
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(name.casefold().strip(), []).append(name)
    form = label.casefold().strip()
    forms = [form] if form in by_form else difflib.get_close_matches(form, by_form, n=3, cutoff=0.5)
    if forms:
        return f"Did you mean {' or '.join(_short(name) for one in forms for name in by_form[one])}?"
    return f"There are, for example, {', '.join(map(_short, names[:3]))}."


def _short(name: str) -> str:
    return as_json(name if len(name) <= 60 else name[:57] + "...")


def top_places(scores: NDArray[np.float64], top: int | None) -> NDArray[np.intp]:
    """Columns in order of descending score, only the first `top`; equal scores keep the order of columns."""
    import numpy as np

    from arcrank.rankers.base import top_columns

    if scores.shape[1] <= _FEW_LABELS:
        return np.argsort(-scores, axis=1, kind="stable")[:, :top]
    return top_columns(scores, top)
