"""RCV1-v2: the term vectors with the topic hierarchy, and a sample of documents as tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import numpy as np
from scipy.sparse import csr_matrix

from arcrank.datasets.cache import Arrays, cached, pack_sets, pack_strings, unpack_sets, unpack_strings
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats import svmlight
from arcrank.datasets.formats.lines import Lines
from arcrank.datasets.formats.options import Options
from arcrank.datasets.join import join
from arcrank.datasets.locate import find
from arcrank.datasets.lyrl2004 import load_lyrl2004
from arcrank.errors import FormatError, ParameterError
from arcrank.graphs import Hierarchy
from arcrank.io.compressed import files_of, members

__all__ = ["load_rcv1"]

_PARTS = ("vectors", "text-sample", "lyrl2004")
_TOPIC_FILES = ("topics.txt", "topics_parent.tsv", "topic_names.txt")
_WHAT = "RCV1-v2 (train.svm, test.svm, topics.txt, topics_parent.tsv, topic_names.txt and text_sample.jsonl)"
N_TERMS = 47236


def load_rcv1(part: str = "vectors") -> Corpus:
    """Load RCV1-v2 with its 103 topics and their hierarchy.

    Parameters
    ----------
    part : {"vectors", "text-sample", "lyrl2004"}
        "vectors": 14,401 train and 13,212 test documents as cosine-normalised log tf-idf over 47,236 terms;
        column j is term j + 1 of the distribution. "text-sample": 2,316 further documents as texts, without
        a split. "lyrl2004": the original LYRL2004 token files, see `arcrank.datasets.lyrl2004`.

    Returns
    -------
    Corpus
        `hierarchy` maps each topic to its parent, None for CCAT, ECAT, GCAT and MCAT.

    Examples
    --------
    >>> load_rcv1()  # doctest: +SKIP
    Corpus(27,613 rows, 103 labels; train 14,401, test 13,212; from RCV1-v2)
    >>> load_rcv1("tokens")
    Traceback (most recent call last):
    ...
    arcrank.errors.ParameterError: There is no part 'tokens'; choose one of: vectors, text-sample, lyrl2004
    """
    if part == "lyrl2004":
        return load_lyrl2004()
    if part not in _PARTS:
        raise ParameterError(f"There is no part {part!r}; choose one of: {', '.join(_PARTS)}")
    path = find("rcv1", what=_WHAT)
    return _load_vectors(path) if part == "vectors" else _load_text_sample(path)


def _load_vectors(path: Path) -> Corpus:
    wanted = (*_TOPIC_FILES, "train.svm", "test.svm")
    arrays = cached("rcv1-vectors", 1, files_of(path, *wanted), lambda: _parse_vectors(path, wanted))
    n_train, n = int(arrays["n_train"]), len(arrays["indptr"]) - 1
    X = csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n, N_TERMS))
    splits = {"train": np.arange(n_train), "test": np.arange(n_train, n)}
    return _with_topics(arrays, Corpus([], X=X, label_sets=unpack_sets(arrays, "topics"), splits=splits))


def _load_text_sample(path: Path) -> Corpus:
    wanted = (*_TOPIC_FILES, "text_sample.jsonl")
    arrays = cached("rcv1-text-sample", 1, files_of(path, *wanted), lambda: _parse_text_sample(path, wanted))
    texts, sets = unpack_strings(arrays, "text"), unpack_sets(arrays, "topics")
    return _with_topics(arrays, Corpus([], texts=texts, label_sets=sets))


def _with_topics(arrays: Arrays, corpus: Corpus) -> Corpus:
    corpus.labels = unpack_strings(arrays, "topics_names")
    parents = unpack_strings(arrays, "parent")
    pairs = zip(corpus.labels, parents, strict=True)
    corpus.hierarchy = Hierarchy({topic: parent or None for topic, parent in pairs})
    described = unpack_strings(arrays, "description")
    corpus.descriptions = {topic: text for topic, text in zip(corpus.labels, described, strict=True) if text}
    corpus.source = "RCV1-v2"
    return corpus


def _parse_vectors(path: Path, wanted: tuple[str, ...]) -> Arrays:
    topics: dict[str, str] = {}
    parts: dict[str, Corpus] = {}
    for name, stream in members(path, *wanted):
        if name.endswith(".svm"):
            lines = Lines(stream, f"{path}/{name}")
            parts[name] = join(list(svmlight.blocks(lines, Options(4096))))
        else:
            topics[name] = stream.read().decode()
    _require(path, wanted, {*topics, *parts})
    labels, described = _parse_topics(path, topics)
    both = join([parts["train.svm"], parts["test.svm"]])
    codes = dict(zip(map(str, range(len(labels))), labels, strict=True))
    _check_topics(path, both.label_sets or [], codes.keys())
    sets = [[codes[code] for code in names] for names in both.label_sets or []]
    first = int(both.X.indices.min())
    if first < 1 or both.X.shape[1] != N_TERMS + 1:
        raise FormatError(f"{path}: terms are numbered 1 to {N_TERMS}, but {first} to {both.X.shape[1] - 1} were found")
    return {
        "data": both.X.data,
        "indices": (both.X.indices - 1).astype(np.int32),
        "indptr": both.X.indptr.astype(np.int32),
        "n_train": np.array(len(parts["train.svm"])),
        **pack_sets("topics", sets, labels),
        **described,
    }


def _parse_text_sample(path: Path, wanted: tuple[str, ...]) -> Arrays:
    topics: dict[str, str] = {}
    rows: list[tuple[str, list[str]]] | None = None
    for name, stream in members(path, *wanted):
        if name.endswith(".jsonl"):
            rows = _text_rows(stream, f"{path}/{name}")
        else:
            topics[name] = stream.read().decode()
    _require(path, wanted, {*topics, *(() if rows is None else ("text_sample.jsonl",))})
    labels, described = _parse_topics(path, topics)
    sets = [names for _, names in rows or []]
    _check_topics(path, sets, labels)
    return pack_strings("text", [text for text, _ in rows or []]) | pack_sets("topics", sets, labels) | described


def _text_rows(stream: IO[bytes], name: str) -> list[tuple[str, list[str]]]:
    rows = []
    for number, line in Lines(stream, name):
        try:
            row = json.loads(line)
            rows.append((" ".join(row["doc_token"]), list(row["doc_label"])))
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{name}:{number}: not a document with doc_token and doc_label ({error})") from error
    return rows


def _parse_topics(path: Path, files: dict[str, str]) -> tuple[list[str], Arrays]:
    """Return the topics in the order of their codes, and the arrays of their parents and descriptions."""
    labels = files["topics.txt"].split()
    pairs = [line.split("\t") for line in files["topics_parent.tsv"].splitlines() if line]
    parents = {topic: "" if parent == "Root" else parent for topic, parent in pairs}
    if {*parents} != {*labels}:
        raise FormatError(f"{path}: topics.txt and topics_parent.tsv do not name the same topics")
    named = [line.strip().partition(": ") for line in files["topic_names.txt"].splitlines()]
    described = {topic: text for topic, _, text in named}
    return labels, pack_strings("parent", [parents[topic] for topic in labels]) | pack_strings(
        "description", [described.get(topic, "") for topic in labels]
    )


def _check_topics(path: Path, sets: list[list[str]], known: Iterable[str]) -> None:
    unknown = {topic for names in sets for topic in names}.difference(known)
    if unknown:
        raise FormatError(f"{path}: a document has the topic {min(unknown)!r}, which topics.txt does not have")


def _require(path: Path, wanted: tuple[str, ...], found: set[str]) -> None:
    missing = [name for name in wanted if name not in found]
    if missing:
        raise FormatError(f"{path}: {missing[0]} is missing; {_WHAT} consists of these files")
