"""The form of what is learnt of the columns of a table."""

from __future__ import annotations

from typing import Any

from arcrank.io.string_arrays import StoredNames
from arcrank.modelfile.array_forms import Names
from arcrank.modelfile.forms import Flag, Form, MisfitError, Number, OneOf, Record, Sizes, Text, Whole
from arcrank.modelfile.nested import Nested

__all__ = ["TableColumns"]

_LARGEST = 1e30
"""Standardised numbers of inputs up to 1e6 are then finite, and so are their products with weights."""
_DATE_FEATURES = 20
"""The day, twelve months and seven days of the week."""
_EVERY: dict[str, Form] = {"name": Text(), "has_missing": Flag()}
_PLACE = Number(-_LARGEST, _LARGEST)
_NUMBER: dict[str, Form] = {**_EVERY, "median": _PLACE, "mean": _PLACE, "scale": Number(1 / _LARGEST, _LARGEST)}
_CATEGORIES = Names("categories", "list")


def _record(kind: str) -> Record:
    forms: dict[str, dict[str, Form]] = {
        "number": _NUMBER,
        "flag": _NUMBER,
        "date": _NUMBER,
        "category": {**_EVERY, "categories": _CATEGORIES, "n_frequent": Whole()},
        "text": {**_EVERY, "words": Nested("text-features", symbol="words")},
    }
    return Record({"kind": OneOf(kind), **forms[kind]})


_RECORDS = {kind: _record(kind) for kind in ("number", "flag", "category", "date", "text")}


class TableColumns(Form):
    """A list of records, one for each column; the number of their features is the size d."""

    says = "a list of columns"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return isinstance(value, list) and len(value) > 0 and sizes.setdefault("d", _width(value)) == _width(value)

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        for number, record in enumerate(value if isinstance(value, list) else []):
            kind = record.get("kind") if isinstance(record, dict) else None
            if not isinstance(kind, str) or kind not in _RECORDS:
                raise MisfitError(f"{where}[{number}] has no known kind")
            _RECORDS[kind].check(record, f"{where}[{number}]", {})
            if kind == "category" and record["n_frequent"] > len(record["categories"]):
                raise MisfitError(f"{where}[{number}] has fewer categories than features")
        super().check(value, where, sizes)

    def check_closely(self, value: Any, where: str) -> None:
        names = [record["name"] for record in value]
        if len(set(names)) < len(names):
            raise MisfitError(f"{where} has a column twice")
        for record in value:
            inner = {"category": "categories", "text": "words"}.get(record["kind"])
            if inner is not None:
                _RECORDS[record["kind"]].forms[inner].check_closely(record[inner], f"{where}.{inner}")


def _width(records: list[dict[str, Any]]) -> int:
    return sum(_features(record) + bool(record["has_missing"]) for record in records)


def _features(record: dict[str, Any]) -> int:
    if record["kind"] == "text":
        terms = record["words"]["learnt"]["terms"]
        return len(terms)
    if record["kind"] == "category":
        categories: StoredNames = record["categories"]
        return record["n_frequent"] + (len(categories) > record["n_frequent"])
    return _DATE_FEATURES if record["kind"] == "date" else 1
