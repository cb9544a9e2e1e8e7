"""Learn from a file of any size with an online learner: one block of documents in memory at a time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from arcrank.datasets.read import TableOptions
from arcrank.errors import FormatError, GraphError, ParameterError
from arcrank.inference.feature_map import FeatureMap
from arcrank.training.fit import TrainingResult, note_first_compile
from arcrank.training.plan import Plan
from arcrank.training.reporter import SILENT, Reporter

if TYPE_CHECKING:
    import numpy as np

    from arcrank.datasets.order import LabelOrder

N_COLUMNS = 2**18


class ReadOptions(TableOptions, total=False):
    """How `learn_stream` reads a file."""

    format: str | None
    on_error: str


_LOSSES = ("indicator_loss", "size_loss", "ranking_loss")


def columns_of(plan: Plan) -> int:
    """How many columns features are hashed to: `--set n_features=...`."""
    return int(plan.text.get("n_features", N_COLUMNS))


def fit_stream(path: str, plan: Plan, read: ReadOptions, reporter: Reporter = SILENT) -> TrainingResult:
    """A new model of the documents of a file, or of standard input, in random order unless shuffle is false."""
    from arcrank.text import HashedTextFeatures

    epochs, random = _passes(plan), _random(plan)
    words = HashedTextFeatures(**{"n_features": columns_of(plan), **plan.text})
    words.fit()
    ranker = plan.ranker()
    start = time.perf_counter()
    note_first_compile(reporter)
    told = stream_into(ranker, words, path, read, reporter, random)
    progress = progress_of(ranker, shuffled=random is not None)  # later passes judge documents that have been learnt
    for _ in range(1, epochs):
        told = stream_into(ranker, words, path, read, reporter, random)
    if not ranker.n_rounds_:
        raise GraphError(
            f"{path}: no document prefers a label to another, so there is nothing to learn.\n"
            "Give documents that differ in their labels."
        )
    columns = FeatureMap("text") if told.texts else FeatureMap("folded", columns_of(plan))
    lesson = TrainingResult(model_of(ranker, words, columns), plan, columns, told.documents, told.skipped, progress)
    lesson.seconds, lesson.order = time.perf_counter() - start, told.order
    return lesson


def _passes(plan: Plan) -> int:
    epochs = plan.parameters.get("epochs", 1)
    if isinstance(epochs, bool) or not isinstance(epochs, int) or epochs < 1:
        raise ParameterError(f"--set epochs={epochs}: a whole number of at least 1 is needed.")
    return epochs


def _random(plan: Plan) -> np.random.Generator | None:
    """What draws the order of the documents; None where they are learnt in the order of the file."""
    import numpy as np

    seed = plan.parameters.get("random_state", 0)
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise ParameterError(f"--set random_state={seed}: a whole number of at least 0, or null, is needed.")
    return np.random.default_rng(seed) if plan.parameters.get("shuffle", True) else None


class StreamPass:
    """What a pass over a file has met."""

    def __init__(self, documents: int, skipped: dict[str, int], texts: bool, order: LabelOrder) -> None:
        self.documents = documents
        self.skipped = skipped
        self.texts = texts
        self.order = order


class _Words:
    """The transformer that `learn_stream` is given; it notes whether the file held texts at all."""

    def __init__(self, words: Any, width: int) -> None:
        self.n_features = width
        self.seen = False
        self._words = words

    def transform(self, texts: list[str]) -> Any:
        self.seen = True
        return self._words.transform(texts)


def stream_into(
    ranker: Any,
    words: Any,
    path: str,
    read: ReadOptions,
    reporter: Reporter = SILENT,
    random: np.random.Generator | None = None,
) -> StreamPass:
    """One pass of a file into `partial_fit`, in its order or in one drawn by `random`.

    `words` turns texts into the ranker's columns.
    """
    from arcrank.datasets import learn_stream

    noted = _Words(words, int(getattr(words, "n_features", 0)) or int(getattr(ranker, "n_features_in_", N_COLUMNS)))
    with reporter.reading(path, "learning from") as (source, progress):
        told = learn_stream(
            ranker,
            source,
            features=noted,  # type: ignore[arg-type]
            shuffle=random is not None,
            random_state=random,
            progress=progress if random is not None else False,
            **read,
        )
    if not told.documents:
        reasons = ", ".join(f"{count:,} x {reason}" for reason, count in told.reasons.items())
        raise FormatError(f"{path}: no row could be read ({reasons}).\nCorrect the file.")
    return StreamPass(told.documents, told.reasons, noted.seen, told.order)


def model_of(ranker: Any, words: Any, columns: FeatureMap) -> Any:
    """A pipeline for texts; for features of the file's own the ranker alone."""
    from sklearn.pipeline import Pipeline

    return Pipeline([("features", words), ("ranker", ranker)]) if columns.kind == "text" else ranker


def losses_of(ranker: Any) -> tuple[int, list[float]]:
    """How many documents were judged so far, and the sums of their losses."""
    n = ranker.n_rounds_
    return n, [n * mean for mean in ranker.cumulative_losses_[-1].tolist()] if n else [0.0] * len(_LOSSES)


def progress_of(
    ranker: Any, before: tuple[int, list[float]] = (0, [0.0] * len(_LOSSES)), *, shuffled: bool
) -> dict[str, Any]:
    """Means of the losses of the documents since `before`, each judged before it was learnt: none is held out.

    In random order these are fair measures of new documents; in that of the file only where this is random too.
    """
    n, sums = losses_of(ranker)
    n -= before[0]
    means = [max(0.0, now - then) / n if n else None for now, then in zip(sums, before[1], strict=True)]
    order = "shuffled" if shuffled else "file"
    return {"how": "progressive", "order": order, "documents": n, "measures": dict(zip(_LOSSES, means, strict=True))}


def about_order(order: LabelOrder, remedy: str) -> str:
    """What to say of a file that is sorted or grouped by label, and was learnt in this order; empty if it is not."""
    if not order.in_runs:
        return ""
    return f"The file is {order.describe()}. {remedy}"


def forgetting(remedy: str) -> str:
    """What comes of learning a file in runs in its order."""
    return (
        "A model that learns one label after the other forgets the first ones, and its losses on the way say nothing "
        f"about new documents. {remedy}"
    )
