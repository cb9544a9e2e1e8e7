"""The options that say how to read DATA, defined once for every command that reads data.

A command declares one parameter, `reading: Reading`, and is decorated with `reads_data` or `reads_documents`.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from arcrank.cli.options import Better, FileFormat, ScoreMargin

if TYPE_CHECKING:
    from arcrank.datasets.read import TableOptions
    from arcrank.training.stream import ReadOptions

__all__ = ["Reading", "reads_data", "reads_documents", "with_flags"]

_STANDARD_INPUT = "-"
_OPTIONS: dict[str, Any] = {
    "format": Annotated[
        FileFormat | None, typer.Option("--format", help="Input format (default: from the file extension).")
    ],
    "delimiter": Annotated[
        str | None,
        typer.Option(metavar="CHARACTER", help=r"Separator of the cells in a CSV file, such as ';', '|' or '\t'."),
    ],
    "text_column": Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column or JSON field with the text (default: text)."),
    ],
    "label_column": Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column or JSON field with the labels (default: labels or label)."),
    ],
    "label_separator": Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Separator of the labels in a cell (default: ;); '' if a cell holds one label."
        ),
    ],
    "better": Annotated[
        Better | None, typer.Option(help="Which scores of labels (columns L:<label>) are better (default: higher).")
    ],
    "margin": Annotated[
        ScoreMargin | None,
        typer.Option(help="Learn from scores which label is better (default: binary), or also by how much."),
    ],
}
_OF_DOCUMENTS = ("format", "delimiter", "text_column")
_ARGUMENT = re.compile(rf'\b({"|".join(_OPTIONS)})=("[^"\n]*")?')


@dataclass(frozen=True)
class Reading:
    """What the user has said about the data; None where the file itself decides."""

    format: str | None = None
    delimiter: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    label_separator: str | None = None
    better: str | None = None
    margin: str | None = None

    def format_of(self, path: str) -> str | None:
        """Return the requested format; standard input is JSON lines by default."""
        if self.format is not None or path != _STANDARD_INPUT:
            return self.format
        return "jsonl" if self.delimiter is None else "csv"

    def options(self, path: str, on_error: str) -> ReadOptions:
        """Return how to read a file, as the functions of `arcrank.training` take it."""
        return {"format": self.format_of(path), "on_error": on_error, **self.table()}

    def table(self) -> TableOptions:
        """Return the other options, as the library takes them."""
        return {
            "delimiter": "\t" if self.delimiter == "\\t" else self.delimiter,
            "text_column": self.text_column,
            "label_column": self.label_column,
            "label_separator": self.label_separator,
            "better": str(self.better or "higher"),
            "margin": str(self.margin or "binary"),
        }


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `reading` of a command that reads documents with labels by the options of `Reading`."""
    return _with_options(command, tuple(_OPTIONS))


def reads_documents(command: Callable[..., None]) -> Callable[..., None]:
    """Do the same for a command that reads no labels."""
    return _with_options(command, _OF_DOCUMENTS)


def _with_options(command: Callable[..., None], names: tuple[str, ...]) -> Callable[..., None]:
    """Make a function that has the options as parameters, since typer derives flags from the signature."""

    def run(**values: Any) -> None:
        reading = Reading(**{name: values.pop(name) for name in names})
        command(**values, reading=reading)

    hints = get_type_hints(command, include_extras=True)
    hints = {name: hint for name, hint in hints.items() if name != "reading"} | {name: _OPTIONS[name] for name in names}
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        for one in names if name == "reading" else (name,):
            default = None if name == "reading" else parameter.default
            parameters.append(
                inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[one])
            )
    made: Any = run
    made.__name__, made.__doc__, made.__module__ = command.__name__, command.__doc__, command.__module__
    made.__annotations__ = hints
    made.__signature__ = inspect.Signature(parameters)
    return run


def with_flags(message: str) -> str:
    """Replace the names of the library's arguments by flags.

    >>> with_flags('Read it with delimiter=";", or give text_column= and label_column=.')
    "Read it with --delimiter ';', or give --text-column and --label-column."
    """
    return _ARGUMENT.sub(_flag, message)


def _flag(found: re.Match[str]) -> str:
    name, value = found.groups()
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag} {shlex.quote(value[1:-1])}"
