"""RCV1-v2 in its original LYRL2004 distribution: stemmed tokens, topic judgements and the topic hierarchy.

The files, plain or compressed as .gz or .xz, in a folder or an archive called `lyrl2004`:

- `lyrl2004_tokens_train.dat` and `lyrl2004_tokens_test_pt0.dat` to `..._pt3.dat`: per document a line
  `.I <id>`, a line `.W`, and lines of tokens up to a blank line;
- `rcv1-v2.topics.qrels`: lines `<topic> <id> 1`;
- `rcv1.topics.hier.orig`: lines `parent: <topic> child: <topic> child-description: <words>`;
- a file with `dates` in its name, if there is one: lines `<id> <date>`, the date as 1996-08-20 or 19960820.
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
from arcrank.datasets.trec import read_qrels
from arcrank.errors import FormatError
from arcrank.graphs import Hierarchy
from arcrank.io.compressed import files_of, members

__all__ = ["LAST_TRAINING_DAY", "load_lyrl2004"]

LAST_TRAINING_DAY = 19970410
_TOKENS, _QRELS, _HIERARCHY, _DATES = "lyrl2004_tokens_*.dat", "*topics.qrels", "*topics.hier.*", "*dates*"
_WHAT = "RCV1-v2 as LYRL2004 distributed it (lyrl2004_tokens_*.dat, rcv1-v2.topics.qrels, rcv1.topics.hier.orig)"
_RELATION = re.compile(r"parent:\s*(\S+)\s+child:\s*(\S+)\s+child-description:\s*(.*)")


class Document(NamedTuple):
    """One document of a token file."""

    number: int
    text: str
    in_train_file: bool


def load_lyrl2004() -> Corpus:
    """Load the available token files in chronological order, with two pairs of splits.

    "train" and "test" cut the corpus as Crammer & Singer did: the documents up to 10 April 1997 are train.
    Without dates, or when all lie on one side of that day, the first two thirds are; ids are chronological.
    "lyrl2004-train" and "lyrl2004-test" follow the distribution's own files.
    """
    path = find("lyrl2004", what=_WHAT)
    files = files_of(path, _TOKENS, _QRELS, _HIERARCHY, _DATES)
    arrays = cached("lyrl2004", 1, files, lambda: _parse(path))
    labels, n, n_train = unpack_strings(arrays, "topics_names"), len(arrays["number"]), int(arrays["n_train"])
    parents = zip(labels, unpack_strings(arrays, "parent"), strict=True)
    own = arrays["in_train_file"]
    splits = {"train": np.arange(n_train), "test": np.arange(n_train, n)}
    splits |= {"lyrl2004-train": np.flatnonzero(own), "lyrl2004-test": np.flatnonzero(~own)}
    return Corpus(
        labels=labels,
        texts=unpack_strings(arrays, "text"),
        label_sets=unpack_sets(arrays, "topics"),
        hierarchy=Hierarchy({topic: parent or None for topic, parent in parents}),
        descriptions=dict(zip(labels, unpack_strings(arrays, "description"), strict=True)),
        splits=splits,
        ids=[*map(str, arrays["number"].tolist())],
        source="RCV1-v2 (LYRL2004)",
    )


def _parse(path: Path) -> Arrays:
    documents: list[Document] = []
    topics: dict[int, list[str]] = {}
    relations: dict[str, tuple[str, str]] = {}
    dates: dict[int, int] = {}
    for name, stream in members(path, _TOKENS, _QRELS, _HIERARCHY, _DATES):
        place = f"{path}/{name}"
        if name.endswith(".dat") and name.startswith("lyrl2004_tokens"):
            documents.extend(_read_tokens(stream, place, name.startswith("lyrl2004_tokens_train")))
        elif name.endswith(".qrels"):
            topics = _read_topics(stream, place)
        elif "hier" in name:
            relations = _read_hierarchy(stream, place)
        else:
            dates = _read_dates(stream, place)
    if not (documents and topics and relations):
        raise FormatError(f"{path}: some of its files are missing or empty; it needs {_WHAT}")
    return _pack(path, documents, topics, relations, dates)


def _pack(
    path: Path,
    documents: list[Document],
    topics: dict[int, list[str]],
    relations: dict[str, tuple[str, str]],
    dates: dict[int, int],
) -> Arrays:
    undated = {document.number for document in documents} - dates.keys()
    if dates and undated:
        raise FormatError(f"{path}: document {min(undated)} has no date, though others have")
    documents.sort(key=lambda document: (dates.get(document.number, 0), document.number))
    labels = sorted(relations)
    sets = [topics.get(document.number, []) for document in documents]
    unknown = {topic for names in sets for topic in names} - relations.keys()
    if unknown:
        raise FormatError(f"{path}: topic {min(unknown)!r} is judged but is not in the hierarchy")
    days = np.array([dates.get(document.number, 0) for document in documents])
    return {
        "number": np.array([document.number for document in documents], dtype=np.int64),
        "in_train_file": np.array([document.in_train_file for document in documents], dtype=bool),
        "n_train": np.array(_two_thirds(days)),
        **pack_strings("text", [document.text for document in documents]),
        **pack_sets("topics", sets, labels),
        **pack_strings("parent", [relations[topic][0] for topic in labels]),
        **pack_strings("description", [relations[topic][1] for topic in labels]),
    }


def _two_thirds(days: NDArray[np.int64]) -> int:
    """Return the number of training documents, of documents in chronological order."""
    by_date = int((days <= LAST_TRAINING_DAY).sum())
    if days.any() and 0 < by_date < len(days):
        return by_date
    return round(len(days) * 2 / 3)


def _read_tokens(stream: IO[bytes], name: str, in_train_file: bool) -> Iterator[Document]:
    number, tokens, opened = 0, list[str](), 0
    for at, line in Lines(stream, name):
        if line.startswith(b".I"):
            if opened:
                yield Document(number, " ".join(tokens), in_train_file)
            fields = line.split()
            if len(fields) != 2 or not fields[1].isdigit():
                raise FormatError(f"{name}:{at}: `.I <id>` starts a document, not {line[:60]!r}")
            number, tokens, opened = int(fields[1]), [], at
        elif line.strip() != b".W" and line.strip():
            if not opened:
                raise FormatError(f"{name}:{at}: tokens before the first `.I <id>`")
            tokens.append(line.decode("latin-1").strip())
    if opened:
        yield Document(number, " ".join(tokens), in_train_file)


def _read_topics(stream: IO[bytes], name: str) -> dict[int, list[str]]:
    topics: dict[int, list[str]] = {}
    for topic, document, grade in read_qrels(stream, name):
        if grade > 0:
            topics.setdefault(int(document), []).append(topic)
    return topics


def _read_hierarchy(stream: IO[bytes], name: str) -> dict[str, tuple[str, str]]:
    """Return {topic: (parent, description)}; the parent of a top topic is empty, and Root is not a topic."""
    relations: dict[str, tuple[str, str]] = {}
    for at, line in Lines(stream, name):
        match = _RELATION.match(line.decode("latin-1"))
        if match is None and line.strip():
            raise FormatError(f"{name}:{at}: not `parent: ... child: ... child-description: ...`")
        if match is not None and match[2] != "Root":
            relations[match[2]] = ("" if match[1] == "Root" else match[1], match[3].strip())
    return relations


def _read_dates(stream: IO[bytes], name: str) -> dict[int, int]:
    dates: dict[int, int] = {}
    for at, line in Lines(stream, name):
        fields = line.replace(b"-", b"").split()
        if len(fields) != 2 or not all(field.isdigit() for field in fields) or len(fields[1]) != 8:
            raise FormatError(f"{name}:{at}: a date is `<id> 1996-08-20`, not {line[:60]!r}")
        dates[int(fields[0])] = int(fields[1])
    return dates
