"""Library records with subjects on a small fixture; the real counts are in test_corpora.py."""

from __future__ import annotations

import io
import json
import tarfile

import pytest

from arcrank.datasets import load_subjects
from arcrank.errors import FormatError, ParameterError

RECORD = {"id": "3A1", "lang": "de", "type": "Book", "text": "Öl\nÜber Öl", "labels": ["Öl", "Erdöl"], "domains": ["x"]}
TRAIN = [RECORD, {**RECORD, "id": "3A2", "lang": "en", "text": "oil", "labels": ["Erdöl"]}]
DEV = [{**RECORD, "id": "3A3", "lang": "en", "type": "Thesis", "text": "tea", "labels": ["Tee"]}]


def lines(rows):
    return "\n".join(json.dumps(row) for row in rows).encode()


def write_archive(folder, files):
    with tarfile.open(folder / "subjects.tar.xz", "w:xz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(f"subjects/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


@pytest.fixture
def archive(data_folder):
    write_archive(data_folder, {"dev.jsonl": lines(DEV), "train.jsonl": lines(TRAIN)})
    return data_folder / "subjects.tar.xz"


def test_records_of_both_splits(archive):
    for _ in range(2):  # parsed, then from the cache
        corpus = load_subjects()
        assert corpus.texts == ["Öl\nÜber Öl", "oil", "tea"]
        assert corpus.ids == ["3A1", "3A2", "3A3"]
        assert corpus.labels == ["Erdöl", "Tee", "Öl"]
        assert corpus.label_sets == [["Öl", "Erdöl"], ["Erdöl"], ["Tee"]]
        assert {name: rows.tolist() for name, rows in corpus.splits.items()} == {"train": [0, 1], "dev": [2]}


def test_domains_instead_of_subjects(archive):
    corpus = load_subjects(labels="domains")
    assert (corpus.labels, corpus.label_sets) == (["x"], [["x"]] * 3)
    with pytest.raises(ParameterError, match="There are no labels 'fields'; choose one of: subjects, domains"):
        load_subjects(labels="fields")


def test_records_of_one_language_or_type(archive):
    english = load_subjects(language="en")
    assert english.split("train").ids == ["3A2"]
    assert english.split("dev").ids == ["3A3"]
    assert english.labels == ["Erdöl", "Tee", "Öl"]
    assert load_subjects(record_type="Book").ids == ["3A1", "3A2"]
    assert load_subjects(language="de", record_type="Thesis").ids == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"{", r"train\.jsonl:3: invalid JSON"),
        (lines([{**RECORD, "domains": "x"}]), r"train\.jsonl:3: not a record: its domains are 'x'"),
        (lines([{**RECORD, "id": None}]), r"train\.jsonl:3: not a record: it needs an id, a text and labels"),
        (lines([{**RECORD, "text": 3}]), r"train\.jsonl:3: "),
        (lines([{**RECORD, "labels": [""]}]), r"train\.jsonl:3: invalid labels"),
        (lines([{**RECORD, "lang": "fr"}]), r"train\.jsonl:3: not a record: unknown lang 'fr'"),
        (lines([{**RECORD, "type": ["Book"]}]), r"train\.jsonl:3: not a record: .* type \['Book'\]"),
    ],
)
def test_a_bad_record_has_its_line(data_folder, row, message):
    write_archive(data_folder, {"train.jsonl": lines(TRAIN) + b"\n" + row, "dev.jsonl": lines(DEV)})
    with pytest.raises(FormatError, match=message):
        load_subjects()


def test_a_missing_or_truncated_file(data_folder, archive):
    archive.write_bytes(archive.read_bytes()[:-30])
    with pytest.raises(FormatError, match="the file is truncated or damaged"):
        load_subjects()
    write_archive(data_folder, {"train.jsonl": lines(TRAIN)})
    with pytest.raises(FormatError, match=r"dev\.jsonl is missing"):
        load_subjects()


@pytest.mark.parametrize(
    ("choice", "known"), [({"language": "fr"}, "de, en"), ({"record_type": "Map"}, "Article, Book")]
)
def test_an_unknown_choice(choice, known):
    with pytest.raises(ParameterError, match=known):
        load_subjects(**choice)
