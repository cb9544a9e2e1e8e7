"""Rows with a vote, `winner` and `loser` or `a`, `b` and `outcome`, or with scores, `L:<label>` columns.

The same fields are read from JSON objects and from tables. A vote may have a `judge`, a `weight` and an `id`; its text
is in `text`, `prompt` or `conversation`, as in the exports of Chatbot Arena (`model_a`, `model_b`, `winner`). Without a
text the other columns are features, which must be numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from arcrank.datasets.formats.cells import id_of, is_missing, name_of, shown
from arcrank.datasets.formats.lines import RowError
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.rows import Row
from arcrank.errors import InputError
from arcrank.graphs.votes import OUTCOMES, outcome_code

__all__ = ["Vote", "comparison_row", "holds_comparisons", "vote_of"]

_PAIRS = (
    ("winner", "loser", None),
    ("a", "b", "outcome"),
    ("model_a", "model_b", "outcome"),
    ("model_a", "model_b", "winner"),
    ("a", "b", "winner"),
)
_TEXTS = ("text", "prompt", "question", "conversation", "conversation_a")
_IDS = ("id", "question_id")
_OTHER_SUPERVISION = ("labels", "label", "layers", "ranking", "arcs", "relevant", "votes")
_SCORE = "L:"


class Vote(NamedTuple):
    """One vote as `Corpus.preferences` holds it under the kind "votes"; `outcome` is a word of `OUTCOMES`."""

    a: str
    b: str
    outcome: str = "a"
    weight: float = 1.0
    judge: str | None = None


def holds_comparisons(names: Collection[str], options: Options) -> bool:
    """Whether columns or fields of these names hold a vote or scores, and nothing else that says what is preferred.

    >>> holds_comparisons(["prompt", "winner", "loser"], Options(1)), holds_comparisons(["text", "labels"], Options(1))
    (True, False)
    """
    known = {name.strip().lower() for name in names}
    if options.label_column is not None or not known.isdisjoint(_OTHER_SUPERVISION):
        return False
    return _pair(known) is not None or "scores" in known or sum(name.startswith(_SCORE) for name in names) > 1


def _pair(known: Collection[str]) -> tuple[str, str, str | None] | None:
    return next((pair for pair in _PAIRS if all(name is None or name in known for name in pair)), None)


def comparison_row(fields: Mapping[str, Any], options: Options) -> Row:
    """Return the row of a vote or of scores, or raise a `RowError`.

    >>> comparison_row({"prompt": "a hot day", "winner": "water", "loser": "tea"}, Options(1)).value
    [Vote(a='water', b='tea', outcome='a', weight=1.0, judge=None)]
    >>> comparison_row({"text": "a hot day", "L:water": 9, "L:tea": 2, "L:milk": 2}, Options(1)).value
    [['water'], ['milk', 'tea']]
    """
    lower = {name.strip().lower(): value for name, value in fields.items()}
    content = _content(fields, lower, options)
    name = next((id_of(lower[key]) for key in _IDS if not _is_empty(lower.get(key))), None)
    if not options.labelled:
        return Row(content, "labels", [], name)
    pair = _pair(lower)
    if pair is not None:
        return Row(content, "votes", [vote_of(lower, *pair)], name)
    kind, value = _preferences(_scores(fields, lower), options)
    return Row(content, kind, value, name)


def _is_empty(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def vote_of(fields: Mapping[str, Any], first: str = "a", second: str = "b", said: str | None = "outcome") -> Vote:
    """Return the vote of a row whose columns have these names, or raise a `RowError`."""
    a, b = _label(fields, first), _label(fields, second)
    if a == b:
        raise RowError("invalid vote", f"{a!r} is compared with itself", "Remove the vote, or correct a label.")
    word = "a"
    if said is not None:
        given = fields[said]
        try:
            word = OUTCOMES[outcome_code(given, a, b)]
        except InputError:
            raise _unclear(given, a, b) from None
    judge = fields.get("judge")
    return Vote(a, b, word, _weight(fields.get("weight")), None if _is_empty(judge) else str(judge))


def _unclear(given: Any, a: str, b: str) -> RowError:
    if given in (a, b):
        detail = f"{shown(given)} is the name of one label and the word for another outcome"
        return RowError("ambiguous outcome", detail, "Name the columns winner and loser, or rename the label.")
    return RowError("unknown outcome", f"{shown(given)}; use {', '.join(OUTCOMES)} or the name of the label that won")


def _label(fields: Mapping[str, Any], column: str) -> str:
    value = fields[column]
    if _is_empty(value):
        raise RowError("invalid vote", f"there is no {column}")
    return name_of(value).strip()


def _weight(value: Any) -> float:
    if _is_empty(value):
        return 1.0
    weight = _number("weight", value)
    if weight < 0:
        raise RowError("invalid vote", f"the weight is {weight:g}, but at least 0 is needed")
    return weight


def _number(name: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise RowError("invalid number", f"{shown(name)} has the value {shown(value)}, not a finite number")
    return number


def _content(fields: Mapping[str, Any], lower: Mapping[str, Any], options: Options) -> str | dict[str, float]:
    if options.text_column is not None:
        if options.text_column not in fields:
            raise RowError("no document", f"there is no {shown(options.text_column)}")
        return _text(options.text_column, fields[options.text_column])
    column = next((name for name in _TEXTS if name in lower), None)
    if column is not None and not (options.caseless and _is_empty(lower[column])):
        return _text(column, lower[column])
    if options.caseless:
        return ""
    if isinstance(lower.get("features"), Mapping):
        return {name: _number(name, value) for name, value in lower["features"].items()}
    return _features(fields)


def _features(fields: Mapping[str, Any]) -> dict[str, float]:
    """The columns that have no other meaning, which must be numbers."""
    others = {*(name for pair in _PAIRS for name in pair), *_IDS, "judge", "weight", "scores"}
    found = {name: value for name, value in fields.items() if name.strip().lower() not in others}
    found = {name: value for name, value in found.items() if not name.startswith(_SCORE)}
    if not found:
        detail = "a vote needs a text (a column text or prompt) or features (columns of numbers) to learn from"
        remedy = "Votes without cases are ranked by `arcrank leaderboard`, in Python by LeaderboardReport."
        raise RowError("no document", detail, remedy)
    return {name: _number(name, value) for name, value in found.items() if not _is_empty(value)}


def _text(column: str, value: Any) -> str:
    text = _conversation(column, value)
    if not isinstance(text, str) or not text.strip():
        raise RowError("no document", f"{shown(column)} is {shown(value)}, but a case needs a text")
    return text


def _conversation(column: str, value: Any) -> Any:
    """Return what the user said in a conversation: messages with roles, or a list of prompts, possibly as JSON."""
    if column.startswith(("conversation", "prompt")) and isinstance(value, str) and value.lstrip()[:1] == "[":
        try:
            value = json.loads(value)
        except ValueError:
            return value
    turns = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(turns, (list, tuple)):
        return value
    said = [turn.get("content") if isinstance(turn, Mapping) else turn for turn in turns if _is_of_user(turn)]
    return "\n".join(text for text in said if isinstance(text, str))


def _is_of_user(turn: Any) -> bool:
    return not isinstance(turn, Mapping) or turn.get("role", "user") == "user"


def _scores(fields: Mapping[str, Any], lower: Mapping[str, Any]) -> dict[str, float]:
    given: Any = lower.get("scores")
    if given is None:
        given = {name.removeprefix(_SCORE): value for name, value in fields.items() if name.startswith(_SCORE)}
    if not isinstance(given, Mapping):
        raise RowError("invalid scores", f"an object of labels and numbers is needed, not {shown(given)}")
    return {name: _number(name, value) for name, value in given.items() if not _is_empty(value)}


def _preferences(scores: dict[str, float], options: Options) -> tuple[str, Any]:
    """Scores as layers, equal ones in one layer, or as votes whose weights are differences."""
    sign = -1.0 if options.better == "higher" else 1.0
    order = sorted(scores, key=lambda name: (sign * scores[name], name))
    if options.margin == "binary":
        layers: dict[float, list[str]] = {}
        for name in order:
            layers.setdefault(scores[name], []).append(name)
        return "layers", list(layers.values())
    pairs = ((a, b) for i, a in enumerate(order) for b in order[i + 1 :] if scores[a] != scores[b])
    return "votes", [Vote(a, b, "a", abs(scores[a] - scores[b])) for a, b in pairs]
