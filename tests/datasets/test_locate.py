from __future__ import annotations

from pathlib import Path

import pytest

from arcrank.datasets.locate import cache_folder, find
from arcrank.errors import MissingDataError


def write_folder(path: Path, files: dict[str, bytes]) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


def test_the_data_folder_comes_first_then_the_cache(data_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    write_folder(tmp_path / "arcrank", {"corpus.gz": b""})
    assert find("corpus", what="it") == cache_folder() / "corpus.gz"
    write_folder(data_folder / "corpus", {})
    assert find("corpus", what="it") == data_folder / "corpus"


def test_without_xdg_the_cache_is_in_the_home(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    assert cache_folder() == Path("/home/ada/.cache/arcrank")


def test_a_missing_corpus_is_one_sentence_of_advice(data_folder):
    with pytest.raises(MissingDataError) as caught:
        find("corpus", what="the corpus of 1987")
    message = str(caught.value)
    assert "the corpus of 1987" in message
    assert str(data_folder) in message
    assert "\n" not in message


def test_without_the_variable_the_advice_names_it(monkeypatch):
    monkeypatch.delenv("ARCRANK_DATA", raising=False)
    with pytest.raises(MissingDataError, match="ARCRANK_DATA"):
        find("corpus", what="the corpus")
