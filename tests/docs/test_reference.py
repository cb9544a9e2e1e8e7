"""The reference says what the program does: generated pages are fresh, the others are held against the program."""

from __future__ import annotations

import doctest
import json
import re
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from arcrank.cli import errors as failures
from arcrank.cli.app import app
from arcrank.datasets.request import ENDINGS, FORMATS
from arcrank.modelfile import container, stored, values
from tools.site import cli_page, reference, schema_page

SOURCE = Path(__file__).parents[2] / "src" / "arcrank"
COMMANDS = [one for one in cli_page.commands(app) if not one.is_group]
WITH_JSON = [one for one in COMMANDS if "--json" in one.options]


def page(name: str) -> str:
    return (reference.REFERENCE / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", reference.PAGES)
def test_generated_pages_are_fresh(name):
    fresh = reference.PAGES[name]() == page(name)
    assert fresh, f"docs/reference/{name} does not say what the program does now: run `make pages` and commit it."


def test_pages_are_written_only_where_they_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "REFERENCE", tmp_path / "new")
    assert [path.name for path in reference.write()] == list(reference.PAGES)
    assert reference.write() == []
    (tmp_path / "new" / "cli.md").write_text("old")
    assert [path.name for path in reference.write()] == ["cli.md"]


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


def paint(
    walls: Annotated[list[Path], typer.Argument(help="What to paint.")],
    colour: Annotated[Colour, typer.Option("--colour", "-c", help="A *bright* one, not <grey>.")] = Colour.RED,
    coats: Annotated[int, typer.Option(min=1, max=3, help="How many.")] = 2,
    tool: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Brushes.")] = None,
    dry: Annotated[bool, typer.Option("--dry", help="Wait.")] = False,
) -> None:
    """Paint walls.

    Uses `brushes` of any size.
    """


def test_the_page_of_a_command():
    made = typer.Typer(context_settings={"auto_envvar_prefix": "PAINTER"})
    made.command("paint-it")(paint)
    made.command()(lambda: None)
    made.command("secret", hidden=True)(lambda: None)
    text = cli_page.page(made)
    assert "arcrank paint-it [OPTIONS] WALLS...\n" in text
    assert "Paint walls.\n\nUses `brushes` of any size." in text
    assert "`WALLS...`: What to paint.  \n    <small>Path; required</small>" in text
    assert "`--colour`, `-c`: A \\*bright\\* one, not &lt;grey>." in text
    assert "<small>`red` · `blue`; default `red`; `PAINTER_PAINT_IT_COLOUR`</small>" in text
    assert "<small>Whole number; from 1 to 3; default `2`; `PAINTER_PAINT_IT_COATS`</small>" in text
    assert "- `--tool` `NAME`: Brushes.  \n    <small>Text; may be repeated; `PAINTER_PAINT_IT_TOOL`</small>" in text
    assert "- `--dry`: Wait.  \n    <small>`PAINTER_PAINT_IT_DRY`</small>" in text
    assert "secret" not in text


def test_every_option_stands_on_the_page():
    text = page("cli.md")
    for command in COMMANDS:
        section = text.partition(f"{{ #{'-'.join(('arcrank', *command.path))} }}")[2].partition("\n## ")[0]
        for option in command.options:
            assert f"`{option}`" in section, f"{command.name} {option}"


def test_options_come_from_the_environment_and_from_the_file_of_options(tmp_path):
    lists = ["data", "list"]
    given = CliRunner().invoke(app, lists, env={"ARCRANK_DATA_LIST_JSON": "1"})
    options = tmp_path / "options.toml"
    options.write_text("[data.list]\njson = true\n")
    configured = CliRunner().invoke(app, ["--config", str(options), *lists])
    for done in (given, configured):
        assert json.loads(done.stdout.splitlines()[-1])[0].keys() == {"name", "what", "found", "path"}


@pytest.mark.parametrize("command", WITH_JSON, ids=lambda one: one.name)
def test_every_command_with_json_has_a_schema(command):
    own = schema_page.SCHEMAS / f"{'-'.join(command.path)}.json"
    assert own.exists(), f"{command.name} has --json: say what it prints in {own}"


def test_every_schema_belongs_to_a_command():
    known = {path for one in WITH_JSON for path in schema_page.schemas_of(one.path, one.options)}
    assert set(schema_page.schema_files()) == known


@pytest.mark.parametrize("path", schema_page.schema_files(), ids=lambda path: path.stem)
def test_every_field_says_what_it_means(path):
    silent = [name for name, meaning in schema_page.meanings(path).items() if not meaning]
    assert not silent, f"{path}: give these fields a description: {', '.join(silent)}"


def test_no_meaning_is_left_of_fields_that_have_gone():
    told = tomllib.loads(schema_page.DESCRIPTIONS.read_text(encoding="utf-8"))
    known = {path.stem: schema_page.meanings(path) for path in schema_page.schema_files()}
    assert not [f"{stem}: {name}" for stem, names in told.items() for name in names if name not in known[stem]]


def test_fields_of_a_schema():
    assert not doctest.testmod(schema_page).failed
    numbers = {"type": "array", "items": {"type": ["number", "null"]}}
    inner = {"type": "object", "properties": {"b": {"type": "boolean", "description": "Is it?"}}, "required": ["b"]}
    kinds = {"a": numbers, "c": {"enum": ["x", "y"]}, "d": {"type": "array", "items": inner}}
    named = {"e": {"type": "object", "additionalProperties": {"type": "integer"}}}
    assert [one[:3] for one in schema_page.fields_of({"properties": kinds | named})] == [
        ("a", "list of number or `null`", ""),
        ("c", '`"x"`, `"y"`', ""),
        ("d", "list of objects", ""),
        ("d[].b", "`true` or `false`", "Is it?"),
        ("e", "object of whole numbers", ""),
    ]


FILE = re.compile(r'^```\w+ title="(.+?)"\n(.*?)^```$', flags=re.MULTILINE | re.DOTALL)


def test_the_examples_of_files_are_read(tmp_path, monkeypatch):
    text = page("files.md")
    monkeypatch.chdir(tmp_path)
    for name, content in FILE.findall(text):
        Path(name).write_text(content, encoding="utf-8")
    lines = "\n".join("" if line.startswith("```") else line for line in text.split("\n"))
    example = doctest.DocTestParser().get_doctest(lines, {}, "files.md", "files.md", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    told: list[str] = []
    assert not runner.run(example, out=told.append).failed, "".join(told)
    for name, _ in FILE.findall(text):
        assert text.count(f'"{name}"') > 1 or name == "options.toml", f"nothing reads {name}"


def test_every_format_and_ending_is_described():
    text = page("files.md")
    for name in FORMATS:
        assert f"[`{name}`](#" in text
    for ending in ENDINGS:
        assert f"`{ending}`" in text


def test_the_options_of_the_example_exist():
    (text,) = (content for name, content in FILE.findall(page("files.md")) if name == "options.toml")
    known = {" ".join(one.path): {option.removeprefix("--") for option in one.options} for one in COMMANDS}
    for command, options in tomllib.loads(text).items():
        assert set(options) <= known[command]


def test_the_model_file_is_described_as_it_is():
    text = page("files.md").partition("## Model files")[2]
    assert [int(number) for number in re.findall(r"^\| (\d+) \| .*[a-z]", text, flags=re.MULTILINE)] == [
        8,  # the bytes of the length
        *range(1, container.FORMAT + 1),
    ]
    assert {f"${name}" for name in re.findall(r"`\$(\w+)`", text)} == {*values._DECODERS, *stored.DECODERS}


def test_every_exit_code_is_told():
    codes = {value for name, value in vars(failures).items() if name.isupper() and isinstance(value, int)}
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", page("exit-codes.md"), flags=re.MULTILINE)}
    assert told == codes | {0}


USE = re.compile(r"\b(?:environ|getenv|envvar)\b(?!\):)")
"""`for name in sorted(os.environ):` looks at names only, to warn of those that no option has."""
NAMED = re.compile(r"""\b(?:environ(?:\.\w+\(|\[)|getenv\(|envvar=)\s*["'](\w+)["']""")


def variables(source: str) -> tuple[list[str], list[str]]:
    """The names of the variables that a source reads, and its lines that read one whose name is not there."""
    names, unclear = [], []
    for line in source.splitlines():
        found = NAMED.findall(line)
        names += found
        if USE.search(line) and not found and not line.lstrip().startswith(("#", "import", "from")):
            unclear.append(line.strip())
    return names, unclear


def test_variables_are_found_in_sources():
    assert variables('a = os.environ.get("A") or os.environ["B"]') == (["A", "B"], [])
    assert variables("os.getenv('C', 1)\nOption(envvar=\"D\")") == (["C", "D"], [])
    assert variables("auto_envvar_prefix = 1\nname = os.environ[key]") == ([], ["name = os.environ[key]"])


def test_every_environment_variable_is_told():
    text = page("environment.md")
    for path in sorted(SOURCE.rglob("*.py")):
        names, unclear = variables(path.read_text(encoding="utf-8"))
        assert not unclear, f"{path} reads a variable whose name this test cannot see: {unclear[0]}"
        for name in names:
            assert f"`{name}`" in text, f"{path} reads {name}: say in docs/reference/environment.md what it does"
    assert "`NO_COLOR`" in text  # rich reads it
    prefix = app.info.context_settings["auto_envvar_prefix"]
    assert f"`{prefix}_COMMAND_OPTION`" in text


def test_the_variables_of_the_examples_exist():
    text = page("environment.md")
    known = page("cli.md")
    examples = re.findall(r"^export (\w+)=.*# (arcrank .*)$", text, flags=re.MULTILINE)
    assert len(examples) == 5
    for name, _ in examples:
        assert f"`{name}`" in known
