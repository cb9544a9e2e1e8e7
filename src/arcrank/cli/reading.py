"""The options that say how DATA is to be read: written once, and given to every command that reads data.

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

from arcrank.cli.options import FileFormat

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
        typer.Option(metavar="CHARACTER", help=r"What separates the cells of a CSV file, such as ';', '|' or '\t'."),
    ],
    "text_column": Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column or JSON field that holds the text (default: text)."),
    ],
    "label_column": Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column or JSON field that holds the labels (default: labels or label)."),
    ],
    "label_separator": Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="What stands between the labels of a cell (default: ;); '' if a cell is one label."
        ),
    ],
}
_OF_DOCUMENTS = ("format", "delimiter", "text_column")
_ARGUMENT = re.compile(rf'\b({"|".join(_OPTIONS)})=("[^"\n]*")?')


@dataclass(frozen=True)
class Reading:
    """What the user has said about the data; None where the file tells by itself."""

    format: str | None = None
    delimiter: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    label_separator: str | None = None

    def format_of(self, path: str) -> str | None:
        """The format that was asked for; standard input is JSON lines unless something else is said."""
        if self.format is not None or path != _STANDARD_INPUT:
            return self.format
        return "jsonl" if self.delimiter is None else "csv"

    def stream(self, path: str, on_error: str) -> ReadOptions:
        """What `training.stream` is told about a file."""
        return {"format": self.format_of(path), "on_error": on_error, **self.table()}

    def table(self) -> TableOptions:
        """The other options, as the library takes them."""
        return {
            "delimiter": "\t" if self.delimiter == "\\t" else self.delimiter,
            "text_column": self.text_column,
            "label_column": self.label_column,
            "label_separator": self.label_separator,
        }


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that reads documents with labels the options of `Reading`, in place of its parameter `reading`."""
    return _with_options(command, tuple(_OPTIONS))


def reads_documents(command: Callable[..., None]) -> Callable[..., None]:
    """The same for a command that looks at no labels."""
    return _with_options(command, _OF_DOCUMENTS)


def _with_options(command: Callable[..., None], names: tuple[str, ...]) -> Callable[..., None]:
    """A function with the options as parameters of its own: typer makes flags of what a signature says."""

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


def with_flags(told: str) -> str:
    """The library's sentences name its arguments; a user of the command has flags.

    >>> with_flags('Read it with delimiter=";", or give text_column= and label_column=.')
    "Read it with --delimiter ';', or give --text-column and --label-column."
    """
    return _ARGUMENT.sub(_flag, told)


def _flag(found: re.Match[str]) -> str:
    name, value = found.groups()
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag} {shlex.quote(value[1:-1])}"
