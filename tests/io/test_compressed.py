from __future__ import annotations

import gzip
import io
import lzma
import tarfile
from pathlib import Path

import pytest

from arcrank.errors import FormatError
from arcrank.io.compressed import compress, files_of, members, open_binary

FILES = {"one.txt": b"first\n", "two.txt": b"second\n" * 500, "notes.md": b"-"}


def write_tar(path: Path, files: dict[str, bytes], mode: str) -> Path:
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(f"corpus/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def write_folder(path: Path, files: dict[str, bytes]) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


def read(path: Path, *patterns: str) -> dict[str, bytes]:
    return {name: stream.read() for name, stream in members(path, *patterns)}


@pytest.mark.parametrize("mode", ["w:xz", "w:gz", "w:"])
def test_archives_and_folders_read_alike(tmp_path, mode):
    ending = {"w:xz": ".tar.xz", "w:gz": ".tar.gz", "w:": ".tar"}[mode]
    expected = {name: FILES[name] for name in ("one.txt", "two.txt")}
    assert read(write_tar(tmp_path / f"corpus{ending}", FILES, mode), "*.txt") == expected
    assert read(write_folder(tmp_path / "corpus", FILES), "*.txt") == expected


def test_compressed_members_are_decompressed(tmp_path):
    compressed = {"one.txt.gz": gzip.compress(b"1"), "two.txt.xz": lzma.compress(b"2")}
    expected = {"one.txt": b"1", "two.txt": b"2"}
    assert read(write_folder(tmp_path / "corpus", compressed), "*.txt") == expected
    assert read(write_tar(tmp_path / "corpus.tar.gz", compressed, "w:gz"), "*.txt") == expected
    assert [file.name for file in files_of(tmp_path / "corpus", "*.txt")] == [*compressed]


@pytest.mark.parametrize("mode", ["w:xz", "w:gz"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_a_truncated_archive_is_named(tmp_path, mode, share):
    content = {name: bytes(range(256)) * 100 for name in ("a.txt", "b.txt")}
    path = write_tar(tmp_path / f"corpus.tar.{mode[2:]}", content, mode)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(FormatError, match=r"corpus\.tar\.\w+: the file is truncated or damaged"):
        read(path, "*.txt")


def test_a_cut_between_two_members_is_noticed(tmp_path):
    whole = write_tar(tmp_path / "whole.tar", FILES, "w:").read_bytes()
    cut = lzma.compress(whole[:1024])[:-12]  # the first member, and the archive's end missing
    path = tmp_path / "corpus.tar.xz"
    path.write_bytes(cut)
    with pytest.raises(FormatError, match="truncated"):
        read(path, "*.txt")


def test_a_damaged_archive_is_named(tmp_path):
    path = write_tar(tmp_path / "corpus.tar.xz", FILES, "w:xz")
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(FormatError, match="corpus.tar.xz"):
        read(path, "*.txt")


def test_a_given_stream_is_not_closed():
    stream = io.BytesIO(gzip.compress(b"inside"))
    with open_binary(stream) as plain:
        assert plain.read() == b"inside"
    assert not stream.closed


@pytest.mark.parametrize(
    ("name", "decompress"), [("a.jsonl.gz", gzip.decompress), ("a.jsonl.xz", lzma.decompress), ("a.jsonl", bytes)]
)
def test_the_ending_says_how_to_compress(name, decompress):
    blocks = [b"one\n", b"two\n" * 1000]
    assert decompress(b"".join(compress(name, blocks))) == b"".join(blocks)
