"""OHSUMED as the TREC-9 filtering track used it: MEDLINE records, 63 topics, graded judgements.

The files, plain or compressed as .gz or .xz, in a folder or archive called `ohsumed_trec9` or `ohsumed`:

- `ohsumed.87` and `ohsumed.88-91`: records of fields `.I .U .S .M .T .P .W .A`, the field on a line, its
  content on the next ones;
- `query.ohsu.1-63`: the topics; `qrels.ohsu.*`: lines `topic id grade`, 1 = possibly, 2 = definitely relevant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcrank.datasets.cache import Arrays, cached, pack_sets, pack_strings, unpack_sets, unpack_strings
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.lines import Lines
from arcrank.datasets.locate import find
from arcrank.datasets.trec import Judgement, read_qrels
from arcrank.errors import FormatError, MissingDataError, ParameterError
from arcrank.io.compressed import files_of, members

__all__ = ["RoutingTask", "load_ohsumed", "load_ohsumed_judgements", "load_ohsumed_topics", "routing_tasks"]

_RECORDS, _TOPICS, _QRELS = "ohsumed.[0-9]*", "query.ohsu.*", "qrels.ohsu.*"
_WHAT = "OHSUMED of the TREC-9 filtering track (ohsumed.87, ohsumed.88-91, query.ohsu.1-63 and qrels.ohsu.*)"
_FIELD = re.compile(rb"\.[IUSMTPWA](?: |$)")
_TOPIC = re.compile(r"<num>\s*Number:\s*(\S+)\s*<title>\s*(.*?)\s*<desc>\s*Description:\s*(.*?)\s*$", re.DOTALL)
NO_ABSTRACT = "no abstract (.W)"


class RoutingTask(NamedTuple):
    """One topic's task: rank the documents, y = 1 where one is relevant, else 0."""

    topic: str
    query: str
    y: NDArray[np.int64]


def load_ohsumed(min_grade: int = 1) -> Corpus:
    """Load the records that have an abstract: title, abstract and MeSH terms as text, topics as labels.

    Parameters
    ----------
    min_grade : {1, 2}
        The lowest grade of a relevant document: 1 = possibly, 2 = definitely.

    Returns
    -------
    Corpus
        `splits["train"]` are the records of 1987, "test" those of 1988-91; ids are MEDLINE's (`.U`);
        `descriptions` hold the topics' words. Records without an abstract are counted in `skipped`.

    Examples
    --------
    >>> train = load_ohsumed(min_grade=2).split("train")  # doctest: +SKIP
    >>> train.texts[0], train.label_sets[0]  # doctest: +SKIP
    """
    if min_grade not in (1, 2):
        raise ParameterError(f"min_grade must be 1 (possibly relevant) or 2 (definitely), not {min_grade!r}.")
    path = _find()
    files = files_of(path, _RECORDS, _TOPICS, _QRELS)
    arrays = cached("ohsumed", 1, files, lambda: _parse(path))
    topics, grades = unpack_sets(arrays, "topics"), iter(arrays["grades"].tolist())
    sets = [[topic for topic in names if next(grades) >= min_grade] for names in topics]
    labels = unpack_strings(arrays, "topics_names")
    train, n_skipped = arrays["in_1987"], int(arrays["n_skipped"])
    return Corpus(
        labels=labels,
        texts=unpack_strings(arrays, "text"),
        label_sets=sets,
        descriptions=dict(zip(labels, unpack_strings(arrays, "query"), strict=True)),
        splits={"train": np.flatnonzero(train), "test": np.flatnonzero(~train)},
        ids=[*unpack_strings(arrays, "id")],
        source="OHSUMED (TREC-9 filtering)",
        skipped={NO_ABSTRACT: n_skipped} if n_skipped else {},
    )


def load_ohsumed_topics() -> dict[str, str]:
    """Return the words of each topic, title and description; this needs no records."""
    found = [_read_topics(stream.read(), name) for name, stream in members(_find(), _TOPICS)]
    return {topic: query for topics in found for topic, query in topics.items()}


def load_ohsumed_judgements() -> list[Judgement]:
    """Return all judgements, in the order of the files; this needs no records."""
    return [judgement for name, stream in members(_find(), _QRELS) for judgement in read_qrels(stream, name)]


def routing_tasks(corpus: Corpus) -> Iterator[RoutingTask]:
    """Yield the task of every topic that has a relevant document.

    Examples
    --------
    >>> corpus = Corpus(["OHSU1", "OHSU2"], texts=["lipids", "gout"], label_sets=[["OHSU1"], []])
    >>> [(task.topic, task.y.tolist()) for task in routing_tasks(corpus)]
    [('OHSU1', [1, 0])]
    """
    for topic in corpus.labels:
        y = corpus.target(topic)
        if y.any():
            yield RoutingTask(topic, corpus.descriptions.get(topic, ""), y)


def _find() -> Path:
    return find("ohsumed_trec9", "ohsumed", what=_WHAT)


class Record(NamedTuple):
    """One MEDLINE record with an abstract."""

    number: str
    text: str
    in_1987: bool


def _parse(path: Path) -> Arrays:
    records: list[Record] = []
    queries: dict[str, str] = {}
    grades: dict[str, dict[str, int]] = {}
    n_skipped = 0
    for name, stream in members(path, _RECORDS, _TOPICS, _QRELS):
        if name.startswith("query"):
            queries |= _read_topics(stream.read(), f"{path}/{name}")
        elif name.startswith("qrels"):
            _add_grades(grades, read_qrels(stream, f"{path}/{name}"))
        else:
            for fields in read_records(stream, f"{path}/{name}"):
                if ".W" in fields:
                    records.append(_record(fields, name.endswith(".87")))
                else:
                    n_skipped += 1
    if not records:
        raise MissingDataError(f"{path} has no MEDLINE records: put ohsumed.87 and ohsumed.88-91 into it.")
    return _pack(path, records, queries, grades) | {"n_skipped": np.array(n_skipped)}


def _pack(path: Path, records: list[Record], queries: dict[str, str], grades: dict[str, dict[str, int]]) -> Arrays:
    judged = [grades.get(record.number, {}) for record in records]
    unknown = {topic for topics in judged for topic in topics} - queries.keys()
    if unknown:
        raise FormatError(f"{path}: topic {min(unknown)!r} is judged but {_TOPICS} does not hold it")
    return {
        "in_1987": np.array([record.in_1987 for record in records], dtype=bool),
        "grades": np.array([grade for topics in judged for grade in topics.values()], dtype=np.int8),
        **pack_strings("id", [record.number for record in records]),
        **pack_strings("text", [record.text for record in records]),
        **pack_strings("query", list(queries.values())),
        **pack_sets("topics", [list(topics) for topics in judged], list(queries)),
    }


def _record(fields: dict[str, str], in_1987: bool) -> Record:
    parts = (fields.get(key, "") for key in (".T", ".W", ".M"))
    return Record(fields[".U"], "\n".join(part for part in parts if part), in_1987)


def _add_grades(grades: dict[str, dict[str, int]], judgements: Iterator[Judgement]) -> None:
    """Keep the best grade of a topic and document; the track's files repeat some judgements."""
    for topic, document, grade in judgements:
        if grade > 0:
            known = grades.setdefault(document, {})
            known[topic] = max(grade, known.get(topic, 0))


def read_records(stream: IO[bytes], name: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each record, {".T": ..., ".W": ...}; errors show `name` and the line."""
    fields: dict[str, list[str]] = {}
    field = ""
    started = 0
    for number, line in Lines(stream, name):
        if _FIELD.match(line):
            field = line[:2].decode()
            if field == ".I":
                if started:
                    yield _finished(fields, f"{name}:{started}")
                fields, started = {}, number
            fields.setdefault(field, [])
        if not started and line.strip():
            raise FormatError(f"{name}:{number}: a record starts with .I, not {line[:60]!r}")
        elif not _FIELD.match(line) and line.strip():
            fields[field].append(line.decode("latin-1").strip())
    if started:
        yield _finished(fields, f"{name}:{started}")


def _finished(fields: dict[str, list[str]], place: str) -> dict[str, str]:
    found = {field: " ".join(content) for field, content in fields.items()}
    if not found.get(".U"):
        raise FormatError(f"{place}: a record has no MEDLINE id (.U)")
    return {field: content for field, content in found.items() if content}


def _read_topics(content: bytes, name: str) -> dict[str, str]:
    topics: dict[str, str] = {}
    line = 1
    for i, chunk in enumerate(content.decode("latin-1").split("<top>")):
        if i:
            inside, closed, _ = chunk.partition("</top>")
            match = _TOPIC.search(inside)
            if not closed or match is None:
                raise FormatError(f"{name}:{line}: a topic without its {'fields' if closed else 'closing tag'}")
            topics[match[1]] = f"{match[2]}\n{match[3]}"
        line += chunk.count("\n")
    return topics
