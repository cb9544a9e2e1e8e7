"""JSON lines: `{"text" or "features": ..., one of "labels", "layers", "ranking", "arcs": ..., "id": ...}`.

Kinds may mix in one file. A ranking lists labels best first, ties as nested lists; labels left out of a
ranking or of layers are not judged. Arcs are [head, tail]; an arc and its reverse may both be given.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.lines import Lines, Options, RowError, decode
from arcrank.datasets.formats.rows import Row, row_blocks
from arcrank.graphs.build import ranking_layers

__all__ = ["blocks", "fault", "invalid", "parse_row", "shown"]


def blocks(lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield the rows in blocks; blank lines are no rows."""
    return row_blocks(_rows(lines), lines, options)


def _rows(lines: Lines) -> Iterator[tuple[int, Row]]:
    for number, line in lines:
        if line.strip():
            row = lines.attempt(number, parse_row, line)
            if row is not None:
                yield number, row


def parse_row(line: bytes) -> Row:
    """Return the row of one line, or raise a `RowError`.

    Examples
    --------
    >>> parse_row(b'{"text": "oil", "ranking": ["crude", ["ship", "gas"]]}')
    Row(content='oil', kind='layers', value=[['crude'], ['ship', 'gas']], name=None)
    """
    fields = _load(line)
    given = [kind for kind in _KINDS if kind in fields]
    if not given:
        raise _no_labels(fields)
    if len(given) > 1:
        raise RowError("not one kind of preference", f"a row has one of {', '.join(_KINDS)}; this one has {given}")
    kind, parse = _KINDS[given[0]]
    name = fields.get("id")
    if name is not None and (not isinstance(name, (str, int)) or isinstance(name, bool)):
        raise RowError("invalid id", f"a string or a whole number, not {shown(name)}")
    return Row(_content(fields), kind, parse(fields[given[0]]), None if name is None else str(name))


def _no_labels(fields: dict[str, Any]) -> RowError:
    other = [name for name in fields if name not in ("text", "features", "id")]
    remedy = f'If {shown(other[0])} holds the labels, call it "labels" in every row.' if other else ""
    told = f"a row needs one of {', '.join(_KINDS)}; this one has {_listed(fields)}"
    return RowError("no labels", told, remedy)


def shown(value: Any) -> str:
    """A value as the file has it, cut short.

    >>> shown(None), shown("Öl")
    ('null', '"Öl"')
    """
    return f"{json.dumps(value, ensure_ascii=False):.60}"


def _listed(fields: dict[str, Any]) -> str:
    return f"{', '.join(fields)!r:.60}" if fields else "nothing"


def _load(line: bytes) -> dict[str, Any]:
    text = decode(line)
    try:
        fields = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise invalid(text, error) from error
    if not isinstance(fields, dict):
        raise invalid(text)
    if "\\u" in text:  # the only way to half a character that no file can hold
        _check_surrogates(fields)
    return fields


def invalid(text: str, error: Exception | None = None) -> RowError:
    """The error of a line that is no JSON object; a file of one array or of objects over many lines is told as such."""
    filters = {"[": ".[]", "{": "."}
    start = text.lstrip()[:1]
    if start == "[" or text.strip() == "{":
        remedy = f"Write one object a line, as jq does: jq -c '{filters[start]}' IN > OUT"
        return RowError("invalid JSON", fault(text, error), remedy)
    return RowError("invalid JSON", fault(text, error))


def fault(text: str, error: Exception | None = None) -> str:
    """What is wrong with a line of JSON; the line's own number is told elsewhere."""
    if text.strip() == "{":
        return "nothing but '{', and a row is a whole object {...} on one line"
    if text.lstrip().startswith("["):
        return "a row is an object {...}, and this begins a JSON array [...]"
    if not text.lstrip().startswith("{"):
        return f"a row is an object {{...}}, not {text!r:.60}"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.removesuffix(' at')} at column {error.colno}"
    return str(error)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key given twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _check_surrogates(fields: dict[str, Any]) -> None:
    try:
        json.dumps(fields, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise RowError("invalid Unicode", "half of a surrogate pair") from error


def _content(fields: dict[str, Any]) -> str | dict[str, float]:
    if ("text" in fields) == ("features" in fields):
        raise RowError("neither text nor features, or both", "a row has either of them")
    if "text" in fields:
        if not isinstance(fields["text"], str):
            raise RowError("invalid text", f"a string, not {shown(fields['text'])}")
        return fields["text"]
    features = fields["features"]
    if not isinstance(features, dict):
        raise RowError("invalid features", "an object of names and numbers")
    return {name: _number(name, value) for name, value in features.items()}


def _number(name: str, value: Any) -> float:
    try:
        number = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RowError("invalid features", f"{shown(name)} has the value {shown(value)}, not a finite number")
    return number


def _label(value: Any) -> str:
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise RowError("invalid labels", f"a label is a string or a whole number, not {shown(value)}")
    return str(value)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        example = f" such as [{shown(value)}]" if isinstance(value, str | int) and not isinstance(value, bool) else ""
        raise RowError("invalid labels", f"a list{example}, not {shown(value)}")
    return value


def _labels(value: Any) -> list[str]:
    return list(dict.fromkeys(_label(label) for label in _list(value)))


def _layers(value: Any) -> list[list[str]]:
    layers = [[_label(label) for label in _list(layer)] for layer in _list(value)]
    flat = [label for layer in layers for label in layer]
    if len({*flat}) != len(flat):
        twice = next(label for label in flat if flat.count(label) > 1)
        raise RowError("invalid labels", f"{twice!r} stands in two places of the order")
    return [layer for layer in layers if layer]


def _ranking(value: Any) -> list[list[str]]:
    return _layers(ranking_layers(_list(value)))


def _arcs(value: Any) -> list[tuple[str, str]]:
    arcs = [_arc(arc) for arc in _list(value)]
    if len({*arcs}) != len(arcs):
        raise RowError("invalid arcs", "an arc given twice")
    return arcs


def _arc(value: Any) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2:
        raise RowError("invalid arcs", f"an arc is [head, tail], not {shown(value)}")
    head, tail = map(_label, value)
    if head == tail:
        raise RowError("invalid arcs", f"{head!r} cannot be preferred to itself")
    return head, tail


_KINDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "labels": ("labels", _labels),
    "layers": ("layers", _layers),
    "ranking": ("layers", _ranking),
    "arcs": ("arcs", _arcs),
}
