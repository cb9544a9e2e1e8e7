"""The blocks of a file that a user names, with a meter; closed in order whatever happens to their reader."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from arcrank.datasets import Corpus

__all__ = ["blocks_of"]


@contextmanager
def blocks_of(
    path: str, format: str | None, what: str, *, batch_rows: int = 1000, on_error: str = "raise"
) -> Iterator[Iterator[Corpus]]:
    """Give the blocks of a file or of standard input; `what` is what the meter says."""
    from arcrank.cli.inputs import flags_for_arguments, format_of, opened, place_and_remedy
    from arcrank.datasets import iter_corpus

    with opened(path, what) as stream, flags_for_arguments(), place_and_remedy(on_error):
        blocks = iter_corpus(stream, format_of(path, format), batch_rows=batch_rows, on_error=on_error)
        # a reader that fails leaves the blocks half read, and they must let go of the stream before it is closed
        with closing(cast("Generator[Corpus, None, None]", blocks)):
            yield blocks
