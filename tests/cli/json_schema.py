"""As much of JSON Schema as our schemas use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import arcrank.cli

_TYPES = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "object": dict,
    "array": list,
    "null": type(None),
    "boolean": bool,
}


def check_output(value: Any, command: str) -> None:
    """Assert that a value is what the command promises to print."""
    path = Path(arcrank.cli.__file__).parent / "schemas" / f"{command}.json"
    check(value, json.loads(path.read_text()))


def check(value: Any, schema: dict[str, Any], at: str = "$") -> None:
    """Assert that a value is what the schema says."""
    kinds = schema.get("type", list(_TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    assert not isinstance(value, bool) or "boolean" in kinds or "type" not in schema, f"{at} is {value!r}"
    assert any(isinstance(value, _TYPES[kind]) for kind in kinds), f"{at} is {value!r:.80}, not {kinds}"
    assert value in schema.get("enum", [value]), f"{at} is {value!r}"
    if isinstance(value, int | float):
        assert value >= schema.get("minimum", value), f"{at} is {value}"
    if isinstance(value, list) and "items" in schema:
        for place, part in enumerate(value):
            check(part, schema["items"], f"{at}[{place}]")
    if isinstance(value, dict):
        _check_object(value, schema, at)


def _check_object(value: dict[str, Any], schema: dict[str, Any], at: str) -> None:
    missing = set(schema.get("required", [])) - set(value)
    assert not missing, f"{at} lacks {missing}"
    known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    for name, part in value.items():
        assert name in known or others is not False, f"{at} has {name!r}"
        check(part, known.get(name, others), f"{at}.{name}")
