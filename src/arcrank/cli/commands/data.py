"""`arcrank data`: the corpora that have a loader, where they are, and files from one format into another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcrank._wording import count, format_counts
from arcrank.cli._typer import QuietCommand, QuietGroup
from arcrank.cli.blocks import blocks_of
from arcrank.cli.console import cell, console, say, table, write_json
from arcrank.cli.files import STANDARD_INPUT, check_writable
from arcrank.cli.options import OnError
from arcrank.cli.reading import Reading, reads_data
from arcrank.errors import FormatError, MissingDataError, ParameterError

if TYPE_CHECKING:
    from arcrank.datasets import Corpus

data = typer.Typer(
    cls=QuietGroup, no_args_is_help=True, help="Corpora that arcrank knows, and conversion between file formats."
)
_BATCH = 1000


class OutputFormat(StrEnum):
    """What can be written."""

    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    SVMLIGHT = "svmlight"


@data.command("list", cls=QuietCommand)
def list_corpora(json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List the corpora that have a loader, and whether their files are on this machine."""
    from arcrank.datasets.registry import CORPORA

    places = {name: corpus.found() for name, corpus in CORPORA.items()}
    if json:
        write_json([_entry(name, path) for name, path in places.items()])
        return
    made = table("", "name", "what it is", "where it is")
    for name, path in places.items():
        made.add_row(name, CORPORA[name].what, "[dim]not here[/]" if path is None else cell(path))
    console().print(made)
    say("`arcrank data path NAME` tells where a corpus should be put; nothing is downloaded.")


def _entry(name: str, path: Path | None) -> dict[str, Any]:
    from arcrank.datasets.registry import CORPORA

    place = str(path) if path is not None else str(CORPORA[name].place())
    return {"name": name, "what": CORPORA[name].what, "found": path is not None, "path": place}


@data.command("path", cls=QuietCommand)
def path_of(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of `arcrank data list`.")],
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Print where a corpus is, or where it should be put."""
    from arcrank.datasets.registry import known

    corpus = known(name)
    entry = _entry(name, corpus.found())
    if json:
        write_json(entry)
        return
    if not entry["found"]:
        try:
            corpus.load()
        except MissingDataError as error:
            say(str(error))
    typer.echo(entry["path"])


@data.command("convert", cls=QuietCommand)
@reads_data
def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="A file, - for standard input, or a name of `data list`.")
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="A .jsonl, .csv, .tsv or .svmlight file, also .gz or .xz.")
    ],
    reading: Reading,
    to: Annotated[OutputFormat | None, typer.Option(help="The format of OUT, where its ending does not tell.")] = None,
    split: Annotated[str | None, typer.Option(help="Only this part of a known corpus: train or test.")] = None,
    on_error: Annotated[OnError, typer.Option(help="Stop at a row that cannot be read, or skip it.")] = OnError.RAISE,
) -> None:
    """Write a file or a known corpus in another format, in a stream; OUT appears when it is whole."""
    from arcrank.datasets import write_corpus
    from arcrank.datasets.writers import format_of_output

    check_writable(target, "OUT", inputs=[source], may_replace=None)
    kind = format_of_output(target.name, to)
    told = _Told()
    blocks = _corpus_blocks(source, split) if _is_name(source) else _file_blocks(source, reading, on_error, split)
    write_corpus(told.watch(blocks, source), target, kind)
    say(f"Wrote {count(told.rows, 'row')} to {target}")
    for line in told.losses(kind):
        say(line)


class _Told:
    """What went through, to be told at the end."""

    def __init__(self) -> None:
        self.rows = 0
        self.skipped: Counter[str] = Counter()
        self.named = self.ids = False

    def watch(self, blocks: Iterator[Corpus], source: str) -> Iterator[Corpus]:

        for block in blocks:
            self.rows += len(block)
            self.skipped.update(block.skipped)
            self.named |= block.feature_names is not None
            self.ids |= block.ids is not None
            yield block
        if not self.rows:
            raise FormatError(f"{source}: no row could be read: {self._reasons()}.\nCorrect the file.")

    def _reasons(self) -> str:
        return format_counts(self.skipped)

    def losses(self, kind: str) -> Iterator[str]:

        if self.skipped:
            yield f"Left out: {count(self.skipped.total(), 'row')} that could not be read: {self._reasons()}"
        if kind == "svmlight" and self.named:
            yield "svmlight has numbers for features: their names were left out"
        if kind == "svmlight" and self.ids:
            yield "svmlight has no place for ids: they were left out"


def _is_name(source: str) -> bool:
    from arcrank.datasets.registry import CORPORA

    return source in CORPORA and not Path(source).exists()


def _corpus_blocks(name: str, split: str | None) -> Iterator[Corpus]:
    from arcrank.datasets.registry import known

    corpus = known(name).load()
    chosen = corpus if split is None else corpus.split(split)
    for start in range(0, len(chosen), _BATCH):
        yield chosen[start : start + _BATCH]


def _file_blocks(path: str, reading: Reading, on_error: str, split: str | None) -> Iterator[Corpus]:

    if path != STANDARD_INPUT and not Path(path).exists():
        raise FormatError(
            f"{path}: there is no such file, and no corpus of this name.\n"
            "Give the path of a file, - for standard input, or a name of `arcrank data list`."
        )
    if split is not None:
        raise ParameterError("--split is for corpora of `arcrank data list`; a file has no splits.")
    with blocks_of(path, reading, "converting", batch_rows=_BATCH, on_error=on_error) as blocks:
        yield from blocks
