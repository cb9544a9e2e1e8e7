"""The blocks of a file that a user names, with a progress meter; always closed in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, cast

from arcrank._wording import count, format_counts
from arcrank.cli.console import say
from arcrank.cli.files import flags_for_arguments, opened, suggest_row_fix

if TYPE_CHECKING:
    from arcrank.cli.reading import Reading
    from arcrank.datasets import Corpus

__all__ = ["blocks_of", "documents_of"]


@contextmanager
def blocks_of(
    path: str, reading: Reading, what: str, *, batch_rows: int = 1000, on_error: str = "raise"
) -> Iterator[Iterator[Corpus]]:
    """Yield the blocks of a file or of standard input; `what` is the title of the meter."""
    from arcrank.datasets import iter_corpus

    with opened(path, what) as stream, flags_for_arguments(), suggest_row_fix(on_error):
        found, table = reading.format_of(path), reading.table()
        blocks = iter_corpus(stream, found, batch_rows=batch_rows, on_error=on_error, **table)
        # after an error the blocks are half read, and must release the stream before it is closed
        with closing(cast("Generator[Corpus, None, None]", blocks)):
            yield blocks


def documents_of(
    path: str,
    reading: Reading,
    *,
    takes: str,
    quiet: bool = False,
    on_error: str | None = None,
    blank_lines: bool = False,
) -> Iterator[Corpus]:
    """Yield the documents of a file or of standard input, without labels, in blocks, none of them empty.

    `takes` is what the model takes: "text", "features" or "table". With `blank_lines` blank lines are documents too if
    lines are texts, so that document n is line n. `on_error` is "raise", "skip", or None if the user has no choice;
    skipped rows are reported at the end.
    """
    from arcrank.cli.reading import with_flags
    from arcrank.datasets.read import iter_documents

    skipped: Counter[str] = Counter()
    with opened(path, "ranking", quiet=quiet) as stream, flags_for_arguments(), suggest_row_fix(on_error):
        blocks = iter_documents(
            stream,
            reading.format,
            takes=takes,
            blank_lines=blank_lines,
            on_error=on_error or "raise",
            delimiter=reading.table()["delimiter"],
            text_column=reading.text_column,
            note=lambda sentence: say(with_flags(sentence)),
        )
        with closing(cast("Generator[Corpus, None, None]", blocks)):
            for block in blocks:
                skipped.update(block.skipped)
                if len(block):
                    yield block
    _report_skipped(skipped)


def _report_skipped(skipped: Counter[str]) -> None:
    if skipped:
        reasons = format_counts(skipped)
        say(f"left out {count(skipped.total(), 'row')} that could not be read: {reasons}.")
