"""An external shuffle: every document once, every order equally likely, bounded memory, nothing left on disk."""

from __future__ import annotations

import errno
import io
import os
import sys
import tempfile
import tracemalloc
from collections import Counter
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.datasets import iter_corpus
from arcrank.datasets.join import join
from arcrank.datasets.shuffle import shuffled, shuffled_records


@pytest.mark.parametrize("held_bytes", [4, 100, 1 << 20])
@given(records=st.lists(st.binary(max_size=9), max_size=40), seed=st.integers(0, 99))
def test_every_record_comes_once(held_bytes, records, seed):
    found = list(shuffled_records(iter(records), np.random.default_rng(seed), held_bytes))
    assert Counter(found) == Counter(records)
    assert found == list(shuffled_records(iter(records), np.random.default_rng(seed), held_bytes))


@pytest.mark.slow
@pytest.mark.parametrize("held_bytes", [1, 2, 100])
def test_all_orders_are_equally_likely(held_bytes):
    records, random, n = [b"a", b"b", b"c", b"d"], np.random.default_rng(0), 2400
    counts = Counter(tuple(shuffled_records(iter(records), random, held_bytes)) for _ in range(n))
    assert set(counts) == set(permutations(records))
    expected = n / 24
    assert (
        sum((count - expected) ** 2 / expected for count in counts.values()) < 53
    )  # chi-square, 23 degrees: 1 in 3000


ROWS = {
    "jsonl": b'{"text": "a", "labels": ["x"], "id": 7}\n{"text": "b\\u00f6", "arcs": [["x", "y"]]}\nno\n'
    b'{"text": "c", "ranking": ["y", ["x", "z"]]}\n',
    "csv": b'text,labels\n"a\nb",x;y\nc,\nd,z\n',
    "svmlight": b"x 1:0.5 7:2\ny,z 300:1\n 2:1\n",
    "xc": b"3 9 2\n0 1:0.5 7:2\n0,1 8:1\n\n",
}


@pytest.mark.parametrize("held_bytes", [1, 1 << 20])
@pytest.mark.parametrize("format", [*ROWS, "features"])
def test_documents_stay_as_they_are(format, held_bytes, monkeypatch):
    monkeypatch.setattr("arcrank.datasets.shuffle.HELD_BYTES", held_bytes)
    data = ROWS.get(format, b'{"features": {"u": 1}, "labels": ["x"]}\n{"features": {"v": 2, "u": 3}, "labels": []}\n')
    format = "jsonl" if format == "features" else format

    def blocks():
        return iter_corpus(io.BytesIO(data), format, batch_rows=1, on_error="skip")

    plain = join(list(blocks()))
    mixed = join(list(shuffled(blocks(), np.random.default_rng(0), batch_rows=2)))
    assert sorted(map(repr, described(mixed))) == sorted(map(repr, described(plain)))
    assert (mixed.skipped, mixed.source) == (plain.skipped, plain.source)


def described(corpus):
    """What each row holds."""
    contents = corpus.texts if corpus.texts is not None else corpus.X.toarray().tolist()
    sets = [("labels", labels) for labels in corpus.label_sets or ()]
    return list(zip(contents, corpus.preferences or sets, strict=True))


def test_all_labels_are_known_to_every_block():
    rows = b"10 1:1\n9 2:1\n10 3:1\n2 4:1\n"
    blocks = list(
        shuffled(iter_corpus(io.BytesIO(rows), "svmlight", batch_rows=1), np.random.default_rng(0), batch_rows=3)
    )
    assert [block.labels for block in blocks] == [["2", "9", "10"]] * 2


def test_memory_is_bounded():
    records = (bytes([i % 256]) * 1000 for i in range(20_000))
    tracemalloc.start()
    n = sum(1 for _ in shuffled_records(records, np.random.default_rng(0), held_bytes=1 << 20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n == 20_000
    assert peak < 10e6  # 64 buffers of 64 kB, and a MiB or two of records


@pytest.mark.skipif(sys.platform == "win32", reason="files without a name are POSIX's")
def test_files_have_no_name_and_so_nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    records = shuffled_records(iter([b"abc"] * 100), np.random.default_rng(0), held_bytes=5)
    assert next(records) == b"abc"
    assert os.listdir(tmp_path) == []  # so that a process may be killed here
    records.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full disk is simulated by /dev/full")
def test_a_full_disk_is_told_with_what_to_do(monkeypatch):
    monkeypatch.setattr(tempfile, "TemporaryFile", partial(open, "/dev/full", "w+b"))
    with pytest.raises(OSError, match=r"No space left in .* Set TMPDIR") as caught:
        list(shuffled_records(iter([b"abc"] * 10), np.random.default_rng(0), held_bytes=5))
    assert caught.value.errno == errno.ENOSPC
