"""Prompts with the score that each of nine language models reached: rank the models for a prompt."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from arcrank._typing import Array
from arcrank.datasets.cache import Arrays, cached, pack_strings, unpack_strings
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.json_row import load_object, row_of
from arcrank.datasets.formats.lines import Lines, RowError, decode
from arcrank.datasets.formats.options import Options
from arcrank.datasets.locate import find
from arcrank.datasets.rank_positions import rank_positions
from arcrank.errors import FormatError
from arcrank.io.compressed import files_of, members

__all__ = ["load_routing", "load_routing_scores"]

_FILES = ("train.jsonl", "test.jsonl")
_WHAT = "the prompts with scores of language models (train.jsonl and test.jsonl of LLMRouter's preprocessed set)"
_OPTIONS = Options(1, labelled=False)
_Prompt = tuple[str, dict[str, float]]


def load_routing() -> Corpus:
    """Load 5,989 prompts, each with a ranking of nine language models by the score of their answers.

    The scores are mostly 0 or 1. The highest score has rank 1, and equal scores tie, which means no preference: all
    models tie for 1,319 prompts. A model without a score is not judged (rank NaN). How much better a model is cannot be
    read from ranks; `arcrank.datasets.routing.load_routing_scores` returns the scores.

    Returns
    -------
    Corpus
        Labels = models, sorted. Split "train" has 5,608 prompts, "test" 381, none of which occurs in "train".

    Examples
    --------
    >>> load_routing()  # doctest: +SKIP
    Corpus(5,989 texts, 9 labels; train 5,608, test 381; from LLMRouter)
    >>> import numpy as np
    >>> from arcrank.datasets.rank_positions import rank_positions
    >>> rank_positions(-np.array([[1.0, 0.0, 1.0, np.nan]]))  # the ranks of scores
    array([[ 1.,  3.,  1., nan]])
    """
    arrays = _arrays()
    n_train, n = int(arrays["n_train"]), len(arrays["scores"])
    return Corpus(
        labels=unpack_strings(arrays, "models"),
        texts=unpack_strings(arrays, "text"),
        ranks=rank_positions(-arrays["scores"]),
        splits={"train": np.arange(n_train), "test": np.arange(n_train, n)},
        source="LLMRouter",
    )


def load_routing_scores() -> Array:
    """Return the scores, (n, k): rows and columns are those of the ranks of `load_routing`; NaN = no score.

    Examples
    --------
    >>> load_routing_scores().shape  # doctest: +SKIP
    (5989, 9)
    """
    scores: Array = _arrays()["scores"]
    return scores


def _arrays() -> Arrays:
    path = find("routing", what=_WHAT)
    return cached("routing", 1, files_of(path, *_FILES), lambda: _parse(path))


def _parse(path: Path) -> Arrays:
    parts = {name: _prompts(Lines(stream, f"{path}/{name}")) for name, stream in members(path, *_FILES)}
    missing = [name for name in _FILES if name not in parts]
    if missing:
        raise FormatError(f"{path}: {missing[0]} is missing; {_WHAT} are needed")
    prompts = [prompt for name in _FILES for prompt in parts[name]]
    models = sorted({model for _, scores in prompts for model in scores})
    table = [[scores.get(model, math.nan) for model in models] for _, scores in prompts]
    return {
        "n_train": np.array(len(parts["train.jsonl"])),
        "scores": np.array(table, dtype=np.float64).reshape(len(prompts), len(models)),
        **pack_strings("text", [text for text, _ in prompts]),
        **pack_strings("models", models),
    }


def _prompts(lines: Lines) -> list[_Prompt]:
    prompts = (lines.attempt(number, _prompt, line) for number, line in lines)
    return [prompt for prompt in prompts if prompt is not None]


def _prompt(line: bytes) -> _Prompt:
    fields = load_object(decode(line))
    text, scores = row_of(fields, _OPTIONS).content, fields.get("scores")
    if not isinstance(text, str) or not isinstance(scores, dict):
        raise RowError("not a prompt", "it needs a text and scores")
    for model, score in scores.items():
        if type(score) not in (int, float, type(None)):
            raise RowError("not a prompt", f"the score of {model!r} is {score!r}, not a number or null")
    return text, {model: float(score) for model, score in scores.items() if score is not None}
