"""Library records with GND subjects (GermEval-2025 LLMs4Subjects): titles and abstracts with 38,267 labels."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from arcrank._typing import Mask
from arcrank.datasets.cache import Arrays, cached, pack_sets, pack_strings, unpack_sets, unpack_strings
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.json_row import load_object, row_of
from arcrank.datasets.formats.lines import Lines, RowError, decode
from arcrank.datasets.formats.options import Options
from arcrank.datasets.locate import find
from arcrank.errors import FormatError, ParameterError
from arcrank.io.compressed import files_of, members

__all__ = ["LANGUAGES", "RECORD_TYPES", "load_subjects"]

LANGUAGES = ("de", "en")
RECORD_TYPES = ("Article", "Book", "Conference", "Report", "Thesis")
_FILES = ("train.jsonl", "dev.jsonl")
_WHAT = "the library records with subjects (train.jsonl and dev.jsonl of GermEval-2025 LLMs4Subjects)"
_OPTIONS = Options(1)


class _Record(NamedTuple):
    name: str
    text: str
    subjects: list[str]
    domains: list[str]
    language: int
    record_type: int


def load_subjects(*, labels: str = "subjects", language: str | None = None, record_type: str | None = None) -> Corpus:
    """Load 110,401 records of a German national library: title and abstract, and the subjects that librarians assigned.

    The training split has 90,452 records and 35,116 subjects, 2.85 per record. The 19,949 records of "dev" have 3,151
    further subjects, which no ranker can learn from "train"; they are labels too, so that measures count them as
    missed. 363 texts occur in both splits. Some records have no abstract.

    Parameters
    ----------
    labels : {"subjects", "domains"}
        The subjects, or the 28 coarse fields of knowledge, 1 or more per record.
    language : {"de", "en"}, optional
        Only records in this language; by default both.
    record_type : {"Article", "Book", "Conference", "Report", "Thesis"}, optional
        Only records of this type; by default all.

    Returns
    -------
    Corpus
        Labels sorted, the same 38,267 (or 28) whatever is selected; ids = record numbers; a text is the title, a line
        end and the abstract.

    Examples
    --------
    >>> load_subjects()  # doctest: +SKIP
    Corpus(110,401 texts, 38,267 labels; train 90,452, dev 19,949; from GermEval-2025 LLMs4Subjects)
    >>> load_subjects(language="fr")
    Traceback (most recent call last):
    ...
    arcrank.errors.ParameterError: There is no language 'fr'; choose one of: de, en
    """
    wanted = {"language": _code("language", language, LANGUAGES), "type": _code("type", record_type, RECORD_TYPES)}
    if labels not in ("subjects", "domains"):
        raise ParameterError(f"There are no labels {labels!r}; choose one of: subjects, domains")
    path = find("subjects", what=_WHAT)
    arrays = cached("subjects", 2, files_of(path, *_FILES), lambda: _parse(path))
    corpus = Corpus(
        labels=unpack_strings(arrays, f"{labels}_names"),
        texts=unpack_strings(arrays, "text"),
        label_sets=unpack_sets(arrays, labels),
        ids=[*unpack_strings(arrays, "name")],
        source="GermEval-2025 LLMs4Subjects",
    )
    train: Mask = np.arange(len(corpus)) < int(arrays["n_train"])
    conditions = [arrays[field] == code for field, code in wanted.items() if code is not None]
    if conditions:
        chosen = np.logical_and.reduce(conditions)
        corpus, train = corpus[chosen], train[chosen]
    corpus.splits = {"train": np.flatnonzero(train), "dev": np.flatnonzero(~train)}
    return corpus


def _code(what: str, value: str | None, known: tuple[str, ...]) -> int | None:
    if value is not None and value not in known:
        raise ParameterError(f"There is no {what} {value!r}; choose one of: {', '.join(known)}")
    return None if value is None else known.index(value)


def _parse(path: Path) -> Arrays:
    parts = {name: _records(Lines(stream, f"{path}/{name}")) for name, stream in members(path, *_FILES)}
    missing = [name for name in _FILES if name not in parts]
    if missing:
        raise FormatError(f"{path}: {missing[0]} is missing; {_WHAT} are needed")
    records = [record for name in _FILES for record in parts[name]]
    subjects, domains = [record.subjects for record in records], [record.domains for record in records]
    return {
        "n_train": np.array(len(parts["train.jsonl"])),
        "language": np.array([record.language for record in records], dtype=np.uint8),
        "type": np.array([record.record_type for record in records], dtype=np.uint8),
        **pack_strings("name", [record.name for record in records]),
        **pack_strings("text", [record.text for record in records]),
        **pack_sets("subjects", subjects, sorted({name for names in subjects for name in names})),
        **pack_sets("domains", domains, sorted({name for names in domains for name in names})),
    }


def _records(lines: Lines) -> list[_Record]:
    records = (lines.attempt(number, _record, line) for number, line in lines)
    return [record for record in records if record is not None]


def _record(line: bytes) -> _Record:
    fields = load_object(decode(line))
    row = row_of(fields, _OPTIONS)
    if not isinstance(row.content, str) or row.kind != "labels" or row.name is None:
        raise RowError("not a record", "it needs an id, a text and labels")
    _OPTIONS.check_labels(row.value)
    language, record_type, domains = fields.get("lang"), fields.get("type"), fields.get("domains")
    if not isinstance(domains, list) or not all(isinstance(name, str) for name in domains):
        raise RowError("not a record", f"its domains are {domains!r:.40} and not a list of names")
    if language not in LANGUAGES or record_type not in RECORD_TYPES:
        raise RowError("not a record", f"unknown lang {language!r} or type {record_type!r}")
    codes = LANGUAGES.index(language), RECORD_TYPES.index(record_type)
    return _Record(row.name, row.content, row.value, domains, *codes)
