"""`arcrank data`: the corpora that have a loader, where they are, and conversion of files between formats."""

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
    from arcrank.datasets.registry import CorpusSpec

data = typer.Typer(
    cls=QuietGroup, no_args_is_help=True, help="Corpora that arcrank knows, and conversion between file formats."
)
_BATCH = 1000
_SHARD = 50_000


class OutputFormat(StrEnum):
    """The formats that can be written."""

    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    SVMLIGHT = "svmlight"
    SHARDS = "shards"


@data.command("list", cls=QuietCommand)
def list_corpora(json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List the corpora that have a loader, and whether their files are on this machine."""
    from arcrank.datasets import registry

    entries = [_entry(name, corpus) for name, corpus in registry.CORPORA.items()]
    if json:
        write_json(entries)
        return
    made = table("", "name", "what it is", "where it is")
    for entry in entries:
        made.add_row(entry["name"], entry["what"], cell(entry["path"]) if entry["found"] else "[dim]not here[/]")
    console().print(made)
    say("`arcrank data path NAME` shows where to put a corpus; nothing is downloaded.")


def _entry(name: str, corpus: CorpusSpec) -> dict[str, Any]:
    path = corpus.found()
    return {"name": name, "what": corpus.what, "found": path is not None, "path": str(path or corpus.place())}


@data.command("path", cls=QuietCommand)
def path_of(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name from `arcrank data list`.")],
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Print where a corpus is, or where it should be put."""
    from arcrank.datasets import registry

    corpus = registry.known(name)
    entry = _entry(name, corpus)
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
        str, typer.Argument(metavar="IN", help="A file, - for standard input, or a name from `data list`.")
    ],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="A .jsonl, .csv, .tsv or .svmlight file, also .gz or .xz; a folder for --to shards."
        ),
    ],
    reading: Reading,
    to: Annotated[OutputFormat | None, typer.Option(help="Output format (default: from the file extension).")] = None,
    split: Annotated[str | None, typer.Option(help="Only this part of a known corpus: train or test.")] = None,
    on_error: Annotated[OnError, typer.Option(help="Stop at a row that cannot be read, or skip it.")] = OnError.RAISE,
) -> None:
    """Write a file or a known corpus in another format, block by block; OUT appears when it is complete."""
    from arcrank.datasets import registry, writers

    if to is OutputFormat.SHARDS:
        _write_shards(source, target, reading, on_error)
        return
    check_writable(target, "OUT", inputs=[source], may_replace=None)
    kind = writers.format_of_output(target.name, to)
    if source in registry.CORPORA and not Path(source).exists():
        blocks = _corpus_blocks(registry.CORPORA[source], split)
    else:
        blocks = _file_blocks(source, reading, on_error, split)
    report = _ConversionReport()
    writers.write_corpus(report.watch(blocks, source), target, kind)
    say(f"Wrote {count(report.rows, 'row')} to {target}")
    for line in report.losses(kind):
        say(line)


def _write_shards(source: str, target: Path, reading: Reading, on_error: str) -> None:
    """Write memory-mapped arrays into a folder, for training within bounded memory."""
    from arcrank.distributed.shards import write_corpus_shards

    if source == STANDARD_INPUT:
        raise ParameterError(
            "--to shards reads the data twice, and standard input can be read only once.\nGive a file."
        )
    rows = write_corpus_shards(target, lambda: _file_blocks(source, reading, on_error, None, _SHARD))
    say(f"Wrote {count(rows, 'row')} to {target}")


class _ConversionReport:
    """How many rows were converted, and what was lost."""

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
            yield "svmlight numbers features, so their names were left out"
        if kind == "svmlight" and self.ids:
            yield "svmlight has no ids, so they were left out"


def _corpus_blocks(spec: CorpusSpec, split: str | None) -> Iterator[Corpus]:
    corpus = spec.load()
    chosen = corpus if split is None else corpus.split(split)
    for start in range(0, len(chosen), _BATCH):
        yield chosen[start : start + _BATCH]


def _file_blocks(
    path: str, reading: Reading, on_error: str, split: str | None, batch_rows: int = _BATCH
) -> Iterator[Corpus]:
    if path != STANDARD_INPUT and not Path(path).exists():
        raise FormatError(
            f"{path}: there is no such file, and no corpus has this name.\n"
            "Give the path of a file, - for standard input, or a name from `arcrank data list`."
        )
    if split is not None:
        raise ParameterError("--split is for corpora of `arcrank data list`; a file has no splits.")
    with blocks_of(path, reading, "converting", batch_rows=batch_rows, on_error=on_error) as blocks:
        yield from blocks
