"""Judgements as TREC writes them (qrels): which document answers which topic, and how well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, NamedTuple

from arcrank.datasets.formats.lines import Lines
from arcrank.errors import FormatError

__all__ = ["Judgement", "read_qrels"]


class Judgement(NamedTuple):
    """One line: the topic, the document's id, and the grade (0: not relevant)."""

    topic: str
    document: str
    grade: int


def read_qrels(stream: IO[bytes], name: str) -> Iterator[Judgement]:
    r"""Yield the judgements of a file of `topic document grade`; errors show `name` and the line.

    Examples
    --------
    >>> import io
    >>> list(read_qrels(io.BytesIO(b"OHSU1\t91226903\t2\n"), "qrels"))
    [Judgement(topic='OHSU1', document='91226903', grade=2)]
    """
    for number, line in Lines(stream, name):
        fields = line.decode("latin-1").split()
        if not fields:
            continue
        if len(fields) != 3 or not fields[2].removeprefix("-").isdecimal():
            raise FormatError(f"{name}:{number}: a judgement is `topic document grade`, not {line[:60]!r}")
        yield Judgement(fields[0], fields[1], int(fields[2]))
