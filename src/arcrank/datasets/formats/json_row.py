"""One row as a JSON object: `{"text" or "features": ..., one of the kinds of preference: ..., "id": ...}`.

Instead of a preference over labels a row may have `"relevant"`: true, false or null.

Kinds may mix in one file. A ranking lists labels best first, ties as nested lists; labels left out of a
ranking or of layers are not judged. Arcs are [head, tail]; an arc and its reverse may both be given.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from arcrank.datasets.formats.cells import LabelCells, Relevance, id_of, name_of, shown
from arcrank.datasets.formats.comparisons import Vote, comparison_row, holds_comparisons, vote_of
from arcrank.datasets.formats.lines import RowError
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.rows import Row, TableRow
from arcrank.graphs.build import ranking_layers

__all__ = ["DECODER", "check_surrogates", "features_of", "finite_number", "has_label_string", "load_object", "row_of"]


def row_of(fields: dict[str, Any], options: Options) -> Row:
    """Return the row of an object, or raise a `RowError`.

    Examples
    --------
    >>> row_of({"text": "oil", "ranking": ["crude", ["ship", "gas"]]}, Options(1))
    Row(content='oil', kind='layers', value=[['crude'], ['ship', 'gas']], name=None)
    >>> row_of({"body": "oil", "topic": 3}, Options(1, text_column="body", label_column="topic")).value
    ['3']
    """
    try:
        if holds_comparisons(fields, options):
            return comparison_row(fields, options)
        kind, value = _preference(fields, options) if options.labelled else ("labels", [])
        return Row(_content(fields, options), kind, value, id_of(fields.get("id")))
    except RowError as error:
        raise _of_a_whole_table(fields) or error from None


def has_label_string(fields: dict[str, Any], options: Options) -> bool:
    """Whether the labels are given as a string."""
    names = (options.label_column,) if options.label_column else ("labels", "label")
    return any(isinstance(fields.get(name), str) for name in names)


def _of_a_whole_table(fields: dict[str, Any]) -> RowError | None:
    """The error for an object that pandas writes for a whole DataFrame by default."""
    nested = fields and "features" not in fields and all(isinstance(value, dict) for value in fields.values())
    if nested or {"data", "columns"} <= fields.keys() or {"data", "schema"} <= fields.keys():
        remedy = 'A DataFrame is written row by row with to_json(path, orient="records", lines=True).'
        return RowError("not one row", f"this object holds a whole table, with {_listed(fields)}", remedy)
    return None


def load_object(text: str) -> dict[str, Any]:
    """Return the object of one line; a `RowError` says what is wrong with it."""
    try:
        fields = DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise _invalid(text, error) from error
    if not isinstance(fields, dict):
        raise _invalid(text)
    check_surrogates(fields, text)
    return fields


def _invalid(text: str, error: Exception | None = None) -> RowError:
    """The error of a line that is not a JSON object; objects over several lines get a separate message."""
    filters = {"[": ".[]", "{": "."}
    start = text.lstrip()[:1]
    if start == "[" or text.strip() == "{":
        remedy = f"Write one object per line, as jq does: jq -c '{filters[start]}' IN > OUT"
        return RowError("invalid JSON", _fault(text, error), remedy)
    return RowError("invalid JSON", _fault(text, error))


def _fault(text: str, error: Exception | None = None) -> str:
    """What is wrong with a line of JSON; the number of the line is added elsewhere."""
    if text.strip() == "{":
        return "nothing but '{', but a row is a whole object {...} on one line"
    if text.lstrip().startswith("["):
        return "a row is an object {...}, but this starts a JSON array [...]"
    if not text.lstrip().startswith("{"):
        return f"a row is an object {{...}}, not {text!r:.60}"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.removesuffix(' at')} at column {error.colno}"
    return str(error)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RowError("invalid JSON", "a key given twice in one object")
    return found


DECODER = json.JSONDecoder(object_pairs_hook=_object)
"""A decoder that refuses duplicate keys."""


def check_surrogates(fields: dict[str, Any], source: str) -> None:
    """Raise a `RowError` for a lone surrogate, which a file can contain only as an escape."""
    if "\\u" not in source:
        return
    try:
        json.dumps(fields, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise RowError("invalid Unicode", "half of a surrogate pair") from error


def _content(fields: dict[str, Any], options: Options) -> str | dict[str, float] | TableRow:
    name = options.text_column or "text"
    if options.text_column is None and "features" in fields:
        if "text" in fields:
            raise RowError("text and features", "a row has one of them")
        return (_cells if options.takes == "table" else features_of)(fields["features"])
    if name not in fields:
        raise _no_document(fields, options)
    if not isinstance(fields[name], str):
        raise RowError("invalid text", f"a string, not {shown(fields[name])}")
    return str(fields[name])


def _no_document(fields: dict[str, Any], options: Options) -> RowError:
    if options.text_column is not None:
        return RowError("no document", f"there is no {shown(options.text_column)}; this row has {_listed(fields)}")
    texts = [name for name, value in fields.items() if isinstance(value, str) and name not in (*_KINDS, "id")]
    remedy = f"If {shown(texts[0])} holds the text, pass text_column={shown(texts[0])}." if texts else ""
    detail = f'an object needs "text", a string, or "features", an object of numbers; this one has {_listed(fields)}'
    return RowError("no document", detail, remedy)


def _cells(features: Any) -> TableRow:
    """The row of a table, for a model that was trained on one."""
    if not isinstance(features, dict):
        raise RowError("invalid features", "an object of the columns of the table and their values")
    return TableRow(features)


def features_of(features: Any) -> dict[str, float]:
    """Return named features, or raise a `RowError`."""
    if not isinstance(features, dict):
        raise RowError("invalid features", "an object of names and numbers")
    return {name: finite_number(name, value) for name, value in features.items()}


def finite_number(name: str, value: Any) -> float:
    """Return a number of this name, or raise a `RowError`."""
    try:
        number = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RowError("invalid features", f"{shown(name)} has the value {shown(value)}, not a finite number")
    return number


def _preference(fields: dict[str, Any], options: Options) -> tuple[str, Any]:
    if options.label_column is not None:
        if options.label_column not in fields:
            detail = f"there is no {shown(options.label_column)}; this row has {_listed(fields)}"
            raise RowError("no labels", detail)
        return "labels", _labels(fields[options.label_column], options)
    given = [kind for kind in _KINDS if kind in fields]
    if not given and "relevant" in fields:
        return "labels", Relevance(fields["relevant"]).labels()
    if not given:
        raise _no_labels(fields)
    if len(given) > 1:
        raise RowError("not one kind of preference", f"a row has one of {', '.join(_KINDS)}; this one has {given}")
    kind, parse = _KINDS[given[0]]
    return kind, parse(fields[given[0]], options)


def _no_labels(fields: dict[str, Any]) -> RowError:
    other = [name for name in fields if name not in ("text", "features", "id")]
    remedy = f"If {shown(other[0])} holds the labels, pass label_column={shown(other[0])}." if other else ""
    detail = f"a row needs one of {', '.join(_KINDS)}; this one has {_listed(fields)}"
    return RowError("no labels", detail, remedy)


def _listed(fields: dict[str, Any]) -> str:
    return ", ".join(map(shown, fields))[:60] or "nothing"


def _labels(value: Any, options: Options) -> list[str]:
    return LabelCells.given(options, LabelCells()).labels(value)


def _label(value: Any, options: Options) -> list[str]:
    """One label, so that a name that contains a semicolon is not split silently."""
    return LabelCells.given(options, LabelCells(None, doubtful=";")).labels(value)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RowError("invalid labels", f"a list, not {shown(value)}")
    return value


def _layers(value: Any, _: Options | None = None) -> list[list[str]]:
    layers = [[name_of(label) for label in _list(layer)] for layer in _list(value)]
    flat = [label for layer in layers for label in layer]
    if len({*flat}) != len(flat):
        twice = next(label for label in flat if flat.count(label) > 1)
        raise RowError("invalid labels", f"{twice!r} occurs twice in the order")
    return [layer for layer in layers if layer]


def _ranking(value: Any, _: Options) -> list[list[str]]:
    return _layers(ranking_layers(_list(value)))


def _arcs(value: Any, _: Options) -> list[tuple[str, str]]:
    arcs = [_arc(arc) for arc in _list(value)]
    if len({*arcs}) != len(arcs):
        raise RowError("invalid arcs", "an arc given twice")
    return arcs


def _votes(value: Any, _: Options) -> list[Vote]:
    """Votes as `write_corpus` writes them: lists of a, b, outcome, weight and judge."""
    return [_vote(vote) for vote in _list(value)]


def _vote(value: Any) -> Vote:
    if not isinstance(value, list) or not 2 <= len(value) <= len(Vote._fields):
        raise RowError("invalid vote", f"a vote is [a, b, outcome, weight, judge], not {shown(value)}")
    fields = dict(zip(Vote._fields, value, strict=False))
    return vote_of({"outcome": "a", **fields})


def _arc(value: Any) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2:
        raise RowError("invalid arcs", f"an arc is [head, tail], not {shown(value)}")
    head, tail = map(name_of, value)
    if head == tail:
        raise RowError("invalid arcs", f"{head!r} cannot be preferred to itself")
    return head, tail


_KINDS: dict[str, tuple[str, Callable[[Any, Options], Any]]] = {
    "labels": ("labels", _labels),
    "label": ("labels", _label),
    "layers": ("layers", _layers),
    "ranking": ("layers", _ranking),
    "arcs": ("arcs", _arcs),
    "votes": ("votes", _votes),
}
