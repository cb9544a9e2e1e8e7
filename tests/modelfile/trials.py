"""Load a forged model file and use what it gives, in a process of its own that may crash or hang."""

from __future__ import annotations

import os
import select
import signal
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

import arcrank
from arcrank import CandidateSets, ShortlistRanker
from arcrank.errors import ModelFileError
from arcrank.graphs import LayeredGraphs
from arcrank.tables import TableFeatures
from tests.modelfile.models import MODELS, TABLE, TEXTS
from tests.modelfile.mutants import mutants

SECONDS = 20  # a mutant that takes longer hangs
BOUND = 1e6  # inputs are no larger than this
GOOD = ("refused", "valid")
Judge = Callable[[Path], str]
_ODD = ["", "a" * 3000, "aaaa;" * 300 + "!", "\0 \ud800 ﬁ 🚢", "the the the 1987", " " * 1000]


def judge(path: Path) -> str:
    """ "refused" when it is loaded, "valid" if its scores are finite, or what went wrong."""
    try:
        model = arcrank.load(path)
    except ModelFileError:
        return "refused"
    except BaseException as error:
        return f"raw error when loaded: {type(error).__name__}: {error}"
    try:
        return "valid" if all(np.isfinite(values).all() for values in answers(model)) else "not finite"
    except BaseException as error:
        return f"raw error in use: {type(error).__name__}: {error}"


def answers(model: Any) -> Iterator[Any]:
    """Whatever numbers a model gives for bounded inputs; everything else that it can do is done on the way."""
    ranker, rows = model, None
    if isinstance(model, Pipeline):
        ranker = model[-1]
        reads_text = hasattr(model[0], "analyzer") or not hasattr(model[0], "n_features_in_")
        if isinstance(model[0], TableFeatures):
            rows = model[:-1].transform(_table(model[0]))
        else:
            read = [*TEXTS, *_ODD] if reads_text else _rows(model[0].n_features_in_, positive=True)
            rows = model[:-1].transform(read)
        yield rows.data if sp.issparse(rows) else rows
    inputs = [_rows(ranker.n_features_in_)] if rows is None else [rows, _rows(ranker.n_features_in_)]
    if isinstance(ranker, ShortlistRanker):
        inputs = [sp.csr_matrix(one) for one in inputs]  # it refuses dense rows
    for one in inputs:
        yield from (_label_answers if hasattr(ranker, "rank") else _instance_answers)(ranker, one)


def _table(features: TableFeatures) -> dict[str, list[Any]]:
    """A table with the columns that the features know, whatever their names are by now."""
    of_kind = {"number": "age", "category": "colour", "date": "joined", "flag": "member", "text": "text"}
    odd = [{**row, "text": text} for row, text in zip(TABLE, _ODD, strict=True)]
    return {column.name: [row[of_kind[column.kind]] for row in TABLE + odd] for column in features.columns_}


def _rows(d: int, *, positive: bool = False) -> Any:
    """Three rows of numbers up to BOUND, or sparse ones where they are wide."""
    draw = np.random.default_rng(d)
    if d > 10_000:
        columns = np.sort(draw.choice(d, 30, replace=False)).reshape(3, 10)
        values = draw.uniform(0 if positive else -1, 1, 30) * BOUND
        return sp.csr_matrix((values, columns.ravel(), [0, 10, 20, 30]), shape=(3, d))
    return draw.uniform(0 if positive else -1, 1, (3, d)) * BOUND


def _label_answers(ranker: Any, rows: Any) -> Iterator[Any]:
    if ranker._kind == "candidates":
        sets = CandidateSets(rows, [0, 1, rows.shape[0]])
        yield ranker.score_labels(sets)
        ranker.rank(sets), ranker.predict(sets)
        why = ranker.explain(sets[[1]], 0, 1)
        yield [why.margin, *(value for _, value in why.parts)]
        return
    yield ranker.score_labels(rows)
    ranker.rank(rows), ranker.rank(rows, top=1), ranker.predict(rows)
    if getattr(ranker, "kernel", None) in (None, "linear"):
        why = ranker.explain(rows[[0]], ranker.labels_[0], ranker.labels_[-1])
        yield [why.margin, *(value for _, value in why.parts)]
    if hasattr(ranker, "_bound_terms"):
        ranker.margin_bound()
    if hasattr(ranker, "add_labels"):
        yield ranker.add_labels({"added": np.ones(len(ranker.label_coef_))}).score_labels(rows)
    elif hasattr(ranker, "partial_fit"):
        yield from _learn_on(ranker, rows)


def _learn_on(ranker: Any, rows: Any) -> Iterator[Any]:
    k = len(ranker.labels_)
    levels = np.ones((rows.shape[0], k), dtype=np.int64)
    levels[np.arange(len(levels)), np.arange(len(levels)) % k] = 0
    small = rows / BOUND
    for _ in range(30):
        ranker.partial_fit(small, LayeredGraphs.from_levels(levels, labels=ranker.labels_))
    if hasattr(ranker, "loss_rounds_"):
        assert len(ranker.cumulative_losses_) == len(ranker.loss_rounds_)
    yield ranker.score_labels(rows)


def _instance_answers(ranker: Any, rows: Any) -> Iterator[Any]:
    yield ranker.decision_function(rows)
    if getattr(ranker, "stumps_", None) is not None:
        yield from ranker.staged_decision_function(rows)
        yield ranker.feature_importances_


def verdicts(whole: bytes, n: int, seed: int, folder: Path, judge: Judge = judge) -> Iterator[tuple[str, str]]:
    """Yield what was changed and what came of it, for n mutants of a file; a child that dies is followed by another."""
    done = 0
    while done < n:
        for kind, verdict in _of_child(whole, n, seed, folder, done, judge):
            done += 1
            yield kind, verdict


def _of_child(whole: bytes, n: int, seed: int, folder: Path, first: int, judge: Judge) -> Iterator[tuple[str, str]]:
    """Verdicts from the first on, to the last or to the death of the child."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _work(mutants(whole, n, seed), first, folder, judge, writing)
    os.close(writing)
    last = first
    for verdict in _lines(reading):
        last += 1
        yield verdict
    os.close(reading)
    if last < n:
        os.kill(child, signal.SIGKILL)  # unless it is dead already
    status = os.waitpid(child, 0)[1]
    if last < n:
        killed = os.WTERMSIG(status) == signal.SIGKILL
        kind = next(kind for number, (kind, _) in enumerate(mutants(whole, n, seed)) if number == last)
        yield kind, "hang" if killed else f"crash by signal {os.WTERMSIG(status)}"


def _lines(reading: int) -> Iterator[tuple[str, str]]:
    """The lines that come, until there are no more or the next one takes too long."""
    rest = b""
    while select.select([reading], [], [], SECONDS)[0]:
        found = os.read(reading, 1 << 16)
        if not found:
            return
        *lines, rest = (rest + found).split(b"\n")
        for line in lines:
            kind, _, verdict = line.decode().partition("\t")
            yield kind, verdict


def _work(forged: Iterator[tuple[str, bytes]], first: int, folder: Path, judge: Judge, writing: int) -> None:
    """The child: never returns."""
    path = folder / f"mutant {os.getpid()}"
    try:
        warnings.simplefilter("ignore")
        np.seterr(all="ignore")
        for number, (kind, data) in enumerate(forged):
            if number >= first:
                path.write_bytes(data)
                line = f"{kind}\t{judge(path)}".replace("\n", " ")
                os.write(writing, f"{line[:500]}\n".encode("ascii", "backslashreplace"))
        path.unlink()
    finally:
        os._exit(0)


def count_mutants(n: int, seed: int = 0) -> dict[str, dict[str, int]]:
    """Judge n mutants of the models together, and count the verdicts of each model."""
    each = -(-n // len(MODELS))
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in MODELS.items():
            whole = saved(make(), Path(folder))
            counts[name] = Counter(verdict for _, verdict in verdicts(whole, each, seed, Path(folder)))
    return {name: dict(found) for name, found in counts.items()}


def saved(model: Any, folder: Path) -> bytes:
    """The bytes of a model's file; what the children will need has been compiled."""
    path = folder / "whole"
    arcrank.save(model, path, card={"measures": {"ap": 0.5}})
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in answers(arcrank.load(path)):
            pass
    return path.read_bytes()
