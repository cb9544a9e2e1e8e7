"""Files that a user names, `-` included: checked before work begins, read with a meter."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import arcrank
from arcrank.cli.progress import Meter
from arcrank.cli.streams import is_closed
from arcrank.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from arcrank.cli.reading import Reading
    from arcrank.datasets import Corpus
    from arcrank.datasets.formats.lines import RowError

STANDARD_INPUT = "-"
_BOM = b"\xef\xbb\xbf"
_NAME_OF_STANDARD_INPUT = "standard input"
_MODEL = re.compile(rb'.{8}\{\s*"__metadata__"\s*:\s*\{\s*"(manifest|sha256)"', re.DOTALL)
_PAGE = re.compile(rb"\s*<(!doctype\s+)?html", re.IGNORECASE)


def check_input(path: str) -> None:
    """Refuse what is no readable file, in words that say what to do."""
    if path == STANDARD_INPUT:
        _check_standard_input()
        return
    if not os.path.exists(path):
        raise FormatError(f"{path}: there is no such file.\nGive the path of a file, or - for standard input.")
    if os.path.isdir(path):
        raise FormatError(f"{path}: this is a folder.\nGive the path of a file, or - for standard input.")
    if not os.access(path, os.R_OK):
        raise FormatError(f"{path}: you have no right to read this file.\nChange its permissions, or give another one.")
    if is_model_file(path):
        raise FormatError(f"{path}: this is a model file of arcrank, not data.\nGive a file of documents.")


def _check_standard_input() -> None:
    if is_closed("stdin"):
        raise FormatError(
            "Standard input is closed, so nothing can be read from it.\n"
            "Give the path of a file, or redirect one to standard input, as in `- < FILE`."
        )


def check_order(model: Path, data: str, command: str) -> None:
    """Whoever gives the data before the model is told the order."""
    if is_model_file(data) and not is_model_file(model):
        raise ParameterError(
            f"{data}: this is a model file of arcrank.\nMODEL comes first: arcrank {command} MODEL DATA"
        )


def check_output(path: Path, *inputs: str | Path | None) -> None:
    """Refuse a place where no model can be written, or should not be, before hours are spent on training it."""
    folder = path.parent
    if path.is_dir():
        raise ParameterError(
            f"{path}: this is a folder.\nGive --model the path of a file, such as {path}/model.arcrank"
        )
    if not folder.is_dir():
        raise ParameterError(f"{path}: there is no folder {folder}.\nMake it first, or give --model another path.")
    if not os.access(folder, os.W_OK):
        raise ParameterError(f"{path}: you have no right to write into {folder}.\nGive --model another path.")
    check_apart(path, "--model", *inputs)
    if not _is_free(path) and not is_model_file(path):
        raise ParameterError(
            f"{path}: this file is there already, and it is no model of arcrank.\n"
            "Give --model another path, or remove the file first."
        )


def check_report(path: Path, *inputs: str | Path | None, endings: tuple[str, ...] = ()) -> None:
    """Refuse a place where no report can be written, or where something else than a report would be lost."""
    check_place(path, "--report")
    check_apart(path, "--report", *inputs)
    if not _is_free(path) and path.suffix.lower() not in endings and not _PAGE.match(_start(path).removeprefix(_BOM)):
        raise ParameterError(
            f"{path}: this file is there already, and it is no report.\n"
            "Give --report another path, or remove the file first."
        )


def check_apart(path: Path, what: str, *inputs: str | Path | None) -> None:
    """Refuse to write over a file that is read, under whatever name."""
    if any(given is not None and _is_same(path, given) for given in inputs):
        raise ParameterError(
            f"{path}: this is a file to read, and writing would destroy it.\nGive {what} another path."
        )


def _is_same(path: Path, given: str | Path) -> bool:
    with suppress(OSError):  # one of them is not there
        return os.path.samefile(path, 0 if str(given) == STANDARD_INPUT else given)
    return False


def _is_free(path: Path) -> bool:
    return not path.is_file() or not path.stat().st_size


def is_model_file(path: str | Path) -> bool:
    """Whether a file begins as a model of arcrank does; it may be damaged further on."""
    return os.path.isfile(path) and _MODEL.match(_start(path)) is not None


def _start(path: str | Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(256)


def check_model_path(path: Path) -> None:
    """Refuse what cannot be a model file."""
    if path.is_dir():
        raise FormatError(f"{path}: this is a folder.\nGive the model file that `arcrank train` wrote.")
    if not path.exists():
        raise FormatError(f"{path}: there is no such model file.\nMake one: arcrank train DATA --model {path}")
    if not os.access(path, os.R_OK):
        raise FormatError(f"{path}: you have no right to read this file.\nChange its permissions.")


@contextmanager
def opened(path: str, what: str = "reading", *, quiet: bool = False) -> Iterator[IO[bytes]]:
    """The bytes of a file or of standard input; a meter tells how many have been read, unless `quiet`."""
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
    """A stream that tells a meter what is read from it; `name` is what errors call it and tells the format."""

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
            raise FormatError(f"{self.name}: it cannot be read: {error.strerror}.\nGive another file.") from error
        self._meter.advance(count)
        return count

    def tell_learnt(self, documents: int) -> None:
        """What has become of what was read."""
        self._meter.advance(0, f"{documents:,} documents learnt")


def read_all(path: str, reading: Reading, on_error: str) -> Corpus:
    """A whole file as a corpus of documents with preferences over labels."""
    from arcrank.datasets import read_corpus

    with opened(path) as stream, flags_for_arguments(), suggest_row_fix(on_error):
        corpus = read_corpus(stream, reading.format_of(path), on_error=on_error, **reading.table())
    if corpus.ptr is not None:
        raise FormatError(f"{corpus.source}: queries with candidates have no labels to rank; use LogLinearRanker.")
    if not len(corpus):
        raise FormatError(f"{corpus.source}: no row could be read ({_reasons(corpus)}).\nCorrect the file.")
    return corpus


def _reasons(corpus: Corpus) -> str:
    return ", ".join(f"{count:,} x {reason}" for reason, count in corpus.skipped.items())


@contextmanager
def flags_for_arguments() -> Iterator[None]:
    """The library's errors name its arguments; a user of the command has flags."""
    from arcrank.cli.reading import with_flags

    try:
        yield
    except (ParameterError, FormatError) as error:
        raise type(error)(with_flags(str(error))) from error


@contextmanager
def suggest_row_fix(on_error: str | None) -> Iterator[None]:
    """An error in one row names the row; say also how to go on without it, unless the command cannot (None)."""
    try:
        yield
    except FormatError as error:
        from arcrank.datasets.formats.lines import RowError

        if not isinstance(error.__cause__, RowError):
            raise
        told = str(error) if error.__cause__.remedy else f"{str(error).rstrip('.')}."
        raise FormatError(f"{told}\n{_remedy(told, error.__cause__, on_error)}".rstrip()) from error


def _remedy(told: str, cause: RowError, on_error: str | None) -> str:
    if cause.remedy:
        return "" if on_error is None else "--on-error skip would leave out every row like this one."
    if told.startswith(f"{_NAME_OF_STANDARD_INPUT}:1: invalid JSON"):
        return "Standard input is read as JSON lines; for another format say so, as in --format csv."
    if ":1: invalid JSON: a row is an object" in told:
        return "The file is read as JSON lines; if it has another format, say so, as in --format csv."
    return "Correct this row." if on_error is None else "Correct this row, or leave out such rows with --on-error skip."


def check_place(path: Path, what: str) -> None:
    """Refuse a place where no file can be written, before work is done for it."""
    if path.is_dir():
        raise ParameterError(f"{path}: this is a folder.\nGive {what} the path of a file.")
    if not path.parent.is_dir():
        raise ParameterError(f"{path}: there is no folder {path.parent}.\nMake it first, or give {what} another path.")


def load_model(path: Path) -> Any:
    """The model of a file; what is no file at all is told in our words."""
    check_model_path(path)
    return arcrank.load(path)
