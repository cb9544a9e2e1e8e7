"""Learn from a file of any size with an online learner: one block of documents in memory at a time."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from arcrank._validation import check_int
from arcrank._wording import format_counts
from arcrank.compiled.jit import announce_compilation
from arcrank.datasets import learn_stream
from arcrank.datasets.order import LabelOrder
from arcrank.datasets.read import TableOptions
from arcrank.errors import FormatError, GraphError
from arcrank.inference.feature_map import FeatureMap
from arcrank.rankers.pipeline import RankingPipeline
from arcrank.text import HashedTextFeatures
from arcrank.training.plan import Plan
from arcrank.training.reporter import SILENT, Reporter
from arcrank.training.result import TrainingResult

N_COLUMNS = 2**18


class ReadOptions(TableOptions, total=False):
    """How `read_corpus` and `learn_stream` read a file."""

    format: str | None
    on_error: str


_LOSSES = ("indicator_loss", "size_loss", "ranking_loss")


def note_first_compile(reporter: Reporter) -> None:
    """Say why the fit takes longer when kernels must be compiled: once, before the first of them."""
    announce_compilation(lambda: reporter.note("Compiling for this machine, once (some seconds) ..."))


def columns_of(plan: Plan) -> int:
    """Return how many columns features are hashed to: `--set n_features=...`."""
    return int(plan.text.get("n_features", N_COLUMNS))


def fit_stream(path: str, plan: Plan, read: ReadOptions, reporter: Reporter = SILENT) -> TrainingResult:
    """Train on the documents of a file or of standard input, in random order unless shuffle is false."""
    epochs, random = _passes(plan), _random(plan)
    words = HashedTextFeatures(**{"n_features": columns_of(plan), **plan.text})
    words.fit()
    ranker = plan.ranker()
    start = time.perf_counter()
    note_first_compile(reporter)
    met = stream_into(ranker, words, path, read, reporter, random)
    progress = progress_of(ranker, shuffled=random is not None)  # later passes meet documents that were learnt
    for _ in range(1, epochs):
        met = stream_into(ranker, words, path, read, reporter, random)
    if not ranker.n_rounds_:
        raise GraphError(
            f"{path}: no document prefers a label to another, so there is nothing to learn.\n"
            "Provide documents that differ in their labels."
        )
    columns = FeatureMap("text") if met.texts else FeatureMap("folded", columns_of(plan))
    result = TrainingResult(model_of(ranker, words, columns), plan, columns, met.documents, met.skipped, progress)
    result.seconds, result.order = time.perf_counter() - start, met.order
    return result


def _passes(plan: Plan) -> int:
    return check_int("--set epochs", plan.parameters.get("epochs", 1), at_least=1)


def _random(plan: Plan) -> np.random.Generator | None:
    """Return what draws the order of the documents; None if they are learnt in the order of the file."""
    seed = plan.parameters.get("random_state", 0)
    if seed is not None:
        check_int("--set random_state", seed, at_least=0, also="null")
    return np.random.default_rng(seed) if plan.parameters.get("shuffle", True) else None


class StreamPass:
    """What one pass over a file has met."""

    def __init__(self, documents: int, skipped: dict[str, int], texts: bool, order: LabelOrder) -> None:
        self.documents = documents
        self.skipped = skipped
        self.texts = texts
        self.order = order


class _Words:
    """The transformer that `learn_stream` is given; it records whether the file has any texts."""

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
    """Pass a file through `partial_fit` once, in its order or in one drawn by `random`.

    `words` turns texts into the ranker's columns.
    """
    noted = _Words(words, int(getattr(words, "n_features", 0)) or int(getattr(ranker, "n_features_in_", N_COLUMNS)))
    with reporter.reading(path, "learning from") as (source, progress):
        met = learn_stream(
            ranker,
            source,
            features=noted,  # type: ignore[arg-type]
            shuffle=random is not None,
            random_state=random,
            progress=progress if random is not None else False,
            **read,
        )
    if not met.documents:
        raise FormatError(f"{path}: no row could be read: {format_counts(met.reasons)}.\nCorrect the file.")
    return StreamPass(met.documents, met.reasons, noted.seen, met.order)


def model_of(ranker: Any, words: Any, columns: FeatureMap) -> Any:
    """Return a pipeline for texts, or the ranker alone if the file comes with features."""
    return RankingPipeline([("features", words), ("ranker", ranker)]) if columns.kind == "text" else ranker


def losses_of(ranker: Any) -> tuple[int, list[float]]:
    """Return how many documents have been met so far, and the sums of their losses; 0 if the ranker notes none."""
    n = getattr(ranker, "n_rounds_", 0)
    return n, [n * mean for mean in ranker.cumulative_losses_[-1].tolist()] if n else [0.0] * len(_LOSSES)


def progress_of(
    ranker: Any, before: tuple[int, list[float]] = (0, [0.0] * len(_LOSSES)), *, shuffled: bool
) -> dict[str, Any]:
    """Average the losses of the documents since `before`, each measured before it was learnt: none is held out.

    In random order these are fair measures for new documents; in file order only if that is random too.
    """
    n, sums = losses_of(ranker)
    n -= before[0]
    means = [max(0.0, now - then) / n if n else None for now, then in zip(sums, before[1], strict=True)]
    order = "shuffled" if shuffled else "file"
    return {"how": "progressive", "order": order, "documents": n, "measures": dict(zip(_LOSSES, means, strict=True))}


def about_order(order: LabelOrder, remedy: str) -> str:
    """Describe a file that is sorted or grouped by label; empty if it is neither."""
    if not order.in_runs:
        return ""
    return f"The file is {order.describe()}. {remedy}"


def forgetting(remedy: str) -> str:
    """Describe the effect of learning a sorted or grouped file in its order."""
    return (
        "A model that learns one label after another forgets the first ones, and its losses say nothing "
        f"about new documents. {remedy}"
    )
