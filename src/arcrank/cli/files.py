"""Files that a user names, `-` included: checked before work begins, read with a progress meter."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import arcrank
from arcrank.cli.progress import Meter
from arcrank.cli.reading import with_flags
from arcrank.cli.streams import is_closed
from arcrank.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from arcrank.datasets.formats.lines import RowError

STANDARD_INPUT = "-"
_BOM = b"\xef\xbb\xbf"
_NAME_OF_STANDARD_INPUT = "standard input"
_MODEL = re.compile(rb'.{8}\{\s*"__metadata__"\s*:\s*\{\s*"(manifest|sha256)"', re.DOTALL)
_PAGE = re.compile(rb"\s*<(!doctype\s+)?html", re.IGNORECASE)


def check_input(path: str) -> None:
    """Refuse what is not a readable file, and say what to do."""
    if path == STANDARD_INPUT:
        _check_standard_input()
        return
    if not os.path.exists(path):
        raise FormatError(f"{path}: there is no such file.\nGive the path of a file, or - for standard input.")
    if os.path.isdir(path):
        raise FormatError(f"{path} is a folder.\nGive the path of a file, or - for standard input.")
    if not os.access(path, os.R_OK):
        raise FormatError(f"{path}: permission denied.\nChange its permissions, or give another file.")
    if is_model_file(path):
        raise FormatError(f"{path} is a model file of arcrank, not data.\nGive a file of documents.")


def _check_standard_input() -> None:
    if is_closed("stdin"):
        raise FormatError(
            "Standard input is closed, so nothing can be read from it.\n"
            "Give the path of a file, or redirect one to standard input, as in `- < FILE`."
        )


def check_order(model: Path, data: str, command: str) -> None:
    """Refuse the data before the model, and show the right order."""
    if is_model_file(data) and not is_model_file(model):
        raise ParameterError(f"{data} is a model file of arcrank.\nMODEL comes first: arcrank {command} MODEL DATA")


def check_writable(
    path: Path, option: str, *, inputs: Iterable[str | Path | None] = (), may_replace: Callable[[Path], bool] | None
) -> None:
    """Refuse a place where no file can be written or where another file would be lost, before any work is done.

    `option` names what the user gave, `inputs` are files that are read, and `may_replace` says whether an existing
    file is of the kind that is written (None: any file may be replaced).
    """
    folder = path.parent
    if path.is_dir():
        raise ParameterError(f"{path} is a folder.\nGive {option} the path of a file.")
    if not folder.is_dir():
        raise ParameterError(f"{path}: there is no folder {folder}.\nCreate it first, or give {option} another path.")
    if not os.access(folder, os.W_OK):
        raise ParameterError(f"{path}: permission denied to write into {folder}.\nGive {option} another path.")
    if any(given is not None and _is_same(path, given) for given in inputs):
        raise ParameterError(f"{path} is a file to read; writing would destroy it.\nGive {option} another path.")
    if may_replace is not None and not _is_free(path) and not may_replace(path):
        raise ParameterError(
            f"{path} exists already and is not a file that {option} writes.\n"
            f"Give {option} another path, or remove the file first."
        )


def check_model_output(path: Path, *inputs: str | Path | None) -> None:
    """Refuse a place where no model can be written, before hours are spent on training it."""
    check_writable(path, "--model", inputs=inputs, may_replace=is_model_file)


def is_html_file(path: Path) -> bool:
    """Whether a file begins as an HTML page does."""
    return _PAGE.match(_start(path).removeprefix(_BOM)) is not None


def _is_same(path: Path, given: str | Path) -> bool:
    with suppress(OSError):  # one of them does not exist
        return os.path.samefile(path, 0 if str(given) == STANDARD_INPUT else given)
    return False


def _is_free(path: Path) -> bool:
    return not path.is_file() or not path.stat().st_size


def is_model_file(path: str | Path) -> bool:
    """Whether a file begins as a model of arcrank does; it may still be damaged."""
    return os.path.isfile(path) and _MODEL.match(_start(path)) is not None


def _start(path: str | Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(256)


def check_model_path(path: Path) -> None:
    """Refuse what cannot be a model file."""
    if path.is_dir():
        raise FormatError(f"{path} is a folder.\nGive the model file that `arcrank train` wrote.")
    if not path.exists():
        raise FormatError(f"{path}: there is no such model file.\nTrain one: arcrank train DATA --model {path}")
    if not os.access(path, os.R_OK):
        raise FormatError(f"{path}: permission denied.\nChange its permissions.")


@contextmanager
def opened(path: str, what: str = "reading", *, quiet: bool = False) -> Iterator[IO[bytes]]:
    """Open a file or standard input as bytes; a meter shows how many have been read, unless `quiet`."""
    check_input(path)
    name = _NAME_OF_STANDARD_INPUT if path == STANDARD_INPUT else path
    total = None if path == STANDARD_INPUT else os.path.getsize(path)
    with Meter(f"{what} {name}", total, "bytes", quiet=quiet) as meter:
        raw: Any = sys.stdin.buffer if path == STANDARD_INPUT else open(path, "rb", buffering=0)  # noqa: SIM115
        try:
            yield _Metered(raw, name, meter)  # type: ignore[misc]
        finally:
            if path != STANDARD_INPUT:
                raw.close()


class _Metered(io.RawIOBase):
    """A stream that reports to a meter what is read from it; errors and the format go by `name`."""

    def __init__(self, raw: Any, name: str, meter: Meter) -> None:
        self.name = name
        self._raw = raw
        self._meter = meter

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._raw.seekable())

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._raw.seek(offset, whence))

    def tell(self) -> int:
        return int(self._raw.tell())

    def readinto(self, buffer: Any) -> int:
        # read1 of a buffered stream gives what is there, so that a pipe is not waited for
        read = self._raw.readinto1 if hasattr(self._raw, "readinto1") else self._raw.readinto
        try:
            count = int(read(buffer) or 0)
        except OSError as error:
            raise FormatError(f"{self.name}: cannot be read: {error.strerror}.\nGive another file.") from error
        self._meter.advance(count)
        return count

    def report_learnt(self, documents: int) -> None:
        """Show how many documents have been learnt."""
        self._meter.advance(0, f"{documents:,} documents learnt")


@contextmanager
def flags_for_arguments() -> Iterator[None]:
    """Replace the names of arguments in the library's errors by flags."""
    try:
        yield
    except (ParameterError, FormatError) as error:
        raise type(error)(with_flags(str(error))) from error


@contextmanager
def suggest_row_fix(on_error: str | None) -> Iterator[None]:
    """Add to an error in one row how to go on without it, unless the command cannot (`on_error` is None)."""
    try:
        yield
    except FormatError as error:
        from arcrank.datasets.formats.lines import RowError

        if not isinstance(error.__cause__, RowError):
            raise
        message = str(error) if error.__cause__.remedy else f"{str(error).rstrip('.')}."
        raise FormatError(f"{message}\n{_remedy(message, error.__cause__, on_error)}".rstrip()) from error


def _remedy(message: str, cause: RowError, on_error: str | None) -> str:
    if cause.remedy:
        return "" if on_error is None else "--on-error skip would skip every row like this one."
    if message.startswith(f"{_NAME_OF_STANDARD_INPUT}:1: invalid JSON"):
        return "Standard input is read as JSON lines; for another format, use --format, for example --format csv."
    if ":1: invalid JSON: a row is an object" in message:
        return "The file is read as JSON lines; if it has another format, use --format, for example --format csv."
    return "Correct this row." if on_error is None else "Correct this row, or skip such rows with --on-error skip."


def load_model(path: Path) -> Any:
    """Load a model file."""
    check_model_path(path)
    return arcrank.load(path)


def load_for_ranking(path: Path) -> Any:
    """Load a model file to rank or explain with, without the estimators if the model is linear."""
    from arcrank.inference import array_model

    check_model_path(path)
    return array_model.load_for_ranking(path)
