from __future__ import annotations

import os
import random
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.datasets import cache
from arcrank.datasets.cache import cached, pack_sets, pack_strings, unpack_sets, unpack_strings


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "arcrank" / "parsed"


@pytest.fixture
def source(tmp_path):
    """A file that is old enough for its time stamp to be trusted."""
    path = tmp_path / "source"
    path.write_bytes(b"content")
    return path


class Parser:
    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return pack_strings("text", ["één", "", "two"]) | {"number": np.arange(1000)}


def get(source, parser):
    arrays = cached("corpus", 1, [source], parser)
    assert unpack_strings(arrays, "text") == ["één", "", "two"]
    assert arrays["number"].tolist() == [*range(1000)]


@given(st.lists(st.text(st.characters(codec="utf-8") | st.just("\ud800"))))
def test_strings_come_back(strings):
    assert unpack_strings(pack_strings("text", strings), "text") == strings


@given(st.lists(st.lists(st.sampled_from("abcdé"), unique=True)))
def test_sets_come_back_in_their_order(sets):
    assert unpack_sets(pack_sets("tags", sets, [*"éabcd"]), "tags") == sets


def test_it_is_parsed_once(own_cache, source):
    parser = Parser()
    for _ in range(3):
        get(source, parser)
    assert parser.calls == 1


def test_other_content_or_another_version_is_parsed_again(own_cache, source):
    parser = Parser()
    get(source, parser)
    source.write_bytes(b"CONTENT")
    get(source, parser)
    assert parser.calls == 2
    cached("corpus", 2, [source], parser)
    assert parser.calls == 3


def test_content_is_told_by_its_checksum_not_its_place(own_cache, source, tmp_path):
    parser = Parser()
    get(source, parser)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    get(source.rename(moved / "source"), parser)
    assert parser.calls == 1


def test_a_settled_file_is_not_hashed_again(own_cache, source, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: os.stat(source).st_ctime + 60)
    parser = Parser()
    get(source, parser)
    monkeypatch.setattr(cache, "checksum", lambda files: pytest.fail("hashed again"))
    get(source, parser)


def test_a_fresh_file_is_hashed_again(own_cache, source):
    get(source, Parser())
    assert not list(own_cache.glob("*.json"))


@pytest.mark.parametrize("note", [b"", b"{}", b"[1]", b'{"stamps": [], "checksum": 3}', b"\xff"])
def test_a_damaged_note_is_ignored(own_cache, source, monkeypatch, note):
    monkeypatch.setattr(time, "time", lambda: os.stat(source).st_ctime + 60)
    parser = Parser()
    get(source, parser)
    (path,) = own_cache.glob("*.json")
    path.write_bytes(note)
    get(source, parser)
    assert parser.calls == 1


def test_a_damaged_cache_never_gives_wrong_arrays(own_cache, source):
    parser = Parser()
    get(source, parser)
    (path,) = own_cache.glob("*.npz")
    whole = path.read_bytes()
    rng = random.Random(0)
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        get(source, parser)
    for size in rng.sample(range(len(whole)), 50):
        path.write_bytes(whole[:size])
        get(source, parser)
    assert parser.calls > 300


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path, monkeypatch, source):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))  # a file where a folder is needed
    parser = Parser()
    get(source, parser)
    get(source, parser)
    assert parser.calls == 2


def test_a_failed_write_leaves_nothing_behind(own_cache, source, monkeypatch):
    def full(stream, **arrays):
        stream.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", full)
    get(source, Parser())
    assert list(own_cache.iterdir()) == []


def test_an_interrupted_write_leaves_nothing_behind(own_cache, source, monkeypatch):
    def stopped(stream, **arrays):
        stream.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", stopped)
    with pytest.raises(KeyboardInterrupt):
        get(source, Parser())
    assert list(own_cache.iterdir()) == []


def test_a_full_disk_does_no_harm(full_disk, source, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(full_disk))
    parser = Parser()
    get(source, parser)
    get(source, parser)
    assert parser.calls == 2
    assert [path.name for path in full_disk.rglob("*") if path.is_file()] == ["filler"]


def test_nothing_is_pickled(own_cache, source):
    get(source, Parser())
    (path,) = own_cache.glob("*.npz")
    np.savez(path, text=np.array([{}], dtype=object), allow_pickle=True)
    parser = Parser()
    get(source, parser)
    assert parser.calls == 1
