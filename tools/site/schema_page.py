"""The page of what `--json` prints, from the schemas in the package."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Field", "fields_of", "meanings", "page", "schema_files", "schemas_of"]

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "src" / "arcrank" / "cli" / "schemas"
DESCRIPTIONS = Path(__file__).with_name("field_meanings.toml")
_BY_ARGUMENTS = {
    "evaluate": ["evaluate-compare", "evaluate-documents", "evaluate-candidates"],
    "rank": ["rank-documents"],
}
_ABOUT = """\
# JSON output

<!-- Written by `make pages` from src/arcrank/cli/schemas. Change the schemas, not this page. -->

With `--json` a command prints one line of JSON on standard output, `rank` one for each document, and nothing else goes
there. It is UTF-8; a number that is not finite is `null`. The schemas below are part of the package, in
`arcrank/cli/schemas`, and the tests hold every command's output against its own.

In the tables `a.b` is the field `b` of the object `a`, `a[].b` the field `b` of each object in the list `a`, and `a.*`
any name. A field marked `?` may be absent.
"""


class Field(NamedTuple):
    """A field of the output: its place, its type, its meaning, and whether it is always present."""

    name: str
    type: str
    meaning: str
    required: bool


def schema_files() -> list[Path]:
    """The schemas by name."""
    return sorted(SCHEMAS.glob("*.json"))


def schemas_of(path: Sequence[str], options: Sequence[str]) -> list[Path]:
    """The schemas of a command: its own, and those of options and arguments that change what it prints."""
    own = "-".join(path)
    names = [own, *(f"{own}-{option.removeprefix('--')}" for option in options), *_BY_ARGUMENTS.get(own, ())]
    return [SCHEMAS / f"{name}.json" for name in names if (SCHEMAS / f"{name}.json").exists()]


def fields_of(schema: dict[str, Any]) -> list[Field]:
    """All fields, each before those inside it.

    >>> fields_of({"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "string"}}}})
    [Field(name='rows', type='list of text', meaning='', required=False)]
    """
    return list(_inside(schema, ""))


def meanings(path: Path) -> dict[str, str]:
    """What each field of a schema means: its description, else what field_meanings.toml says; "" if neither does."""
    described = tomllib.loads(DESCRIPTIONS.read_text(encoding="utf-8")).get(path.stem, {})
    fields = fields_of(json.loads(path.read_text(encoding="utf-8")))
    return {one.name: one.meaning or described.get(one.name, "") for one in fields}


def _inside(schema: dict[str, Any], at: str) -> Iterator[Field]:
    if "items" in schema:
        yield from _inside(schema["items"], f"{at}[]")
    for name, part in schema.get("properties", {}).items():
        place = f"{at}.{name}" if at else name
        yield Field(place, _type(part), part.get("description", ""), name in schema.get("required", ()))
        yield from _inside(part, place)
    others = schema.get("additionalProperties")
    if isinstance(others, dict) and ("properties" in others or "items" in others):
        yield from _inside(others, f"{at}.*")


_NAMES = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`",
    "object": "object", "array": "list", "null": "`null`",
}  # fmt: skip
_PLURALS = {"integer": "whole numbers", "number": "numbers", "object": "objects", "array": "lists"}


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(one)}`" for one in schema["enum"])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join(_named(kind, schema) for kind in kinds) or "any"


def _named(kind: str, schema: dict[str, Any]) -> str:
    if kind == "array" and "items" in schema:
        return f"list of {_several(schema['items'])}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_several(schema['additionalProperties'])}"
    return _NAMES[kind]


def _several(schema: dict[str, Any]) -> str:
    kind = schema.get("type")
    return _PLURALS.get(kind, _type(schema)) if isinstance(kind, str) else _type(schema)


def page() -> str:
    """The whole page as Markdown."""
    return "\n".join([_ABOUT, *(_section(path) for path in schema_files())]).rstrip() + "\n"


def _section(path: Path) -> str:
    schema = json.loads(path.read_text(encoding="utf-8"))
    fields, meant = fields_of(schema), meanings(path)
    rows = [f"| {_name(one)} | {one.type} | {_cell(meant[one.name])} |" for one in fields]
    table = "\n".join(["| field | type | meaning |", "|---|---|---|", *rows])
    about = [schema[key].rstrip(".") + "." for key in ("title", "description") if key in schema]
    kind = "A list of objects." if schema.get("type") == "array" else ""
    return "\n\n".join(
        part
        for part in (
            f"## {path.stem.replace('-', ' ')} {{ #{path.stem} }}",
            " ".join([*about, kind]).strip(),
            table,
            f"<details markdown>\n<summary>{path.name}</summary>\n\n"
            f'```json\n--8<-- "{path.relative_to(ROOT).as_posix()}"\n```\n\n</details>\n',
        )
        if part
    )


def _name(field: Field) -> str:
    """A name that a narrow screen breaks at its dots."""
    shown = f"<code>{field.name.replace('.', '.<wbr>')}</code>" if "." in field.name else f"`{field.name}`"
    return shown if field.required else f"{shown} ?"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
