"""The bytes of a file, also of files that nobody honest wrote."""

from __future__ import annotations

import hashlib
import json
import os
import struct

import numpy as np
import pytest
import safetensors.numpy

import arcrank
from arcrank.errors import ArcrankError, ModelFileError
from arcrank.modelfile import container, read_card
from tests.modelfile.models import MODELS, scores_of


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.arcrank"
    arcrank.save(MODELS["rocchio"](), path)
    return path


def parts_of(path):
    whole = path.read_bytes()
    start = 8 + struct.unpack("<Q", whole[:8])[0]
    header = json.loads(whole[8:start])
    return header, json.loads(header["__metadata__"]["manifest"]), whole[start:]


def forge(path, header, data, manifest=None):
    """Write a file whose manifest has the right checksum."""
    if manifest is not None:
        text = json.dumps(manifest)
        header["__metadata__"] = {"manifest": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    raw = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + data)


def refusal(path):
    with pytest.raises(ModelFileError) as caught:
        arcrank.load(path)
    assert isinstance(caught.value, ArcrankError)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_is_safetensors(path):
    arrays = safetensors.numpy.load_file(path)
    model = arcrank.load(path)
    assert np.array_equal(arrays["1/weights"], model[-1].coef_)
    assert arrays["1/labels.bytes"].tobytes().decode() == "".join(model[-1].labels_)


def test_names_no_python_type(path):
    text = path.read_bytes()
    for word in (b"sklearn", b"CountVectorizer", b"RocchioRanker", b"numpy", b"pickle"):
        assert word not in text


def test_data_begin_at_a_multiple_of_eight(path):
    header, _, _ = parts_of(path)
    assert (8 + struct.unpack("<Q", path.read_bytes()[:8])[0]) % 8 == 0
    assert header["1/weights"]["data_offsets"][0] % 8 == 0


def test_newer_format(path):
    header, manifest, data = parts_of(path)
    forge(path, header, data, manifest | {"format": container.FORMAT + 1, "arcrank": "7.0"})
    said = refusal(path)
    assert f"format {container.FORMAT + 1}, written by arcrank 7.0" in said
    assert "Install a newer arcrank" in said
    with pytest.raises(ModelFileError, match="Install a newer arcrank"):
        read_card(path)


def test_unknown_part(path):
    header, manifest, data = parts_of(path)
    manifest["parts"][1]["name"] = manifest["learner"] = "oracle"
    forge(path, header, data, manifest)
    assert "'oracle'" in refusal(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        b"\x80\x04\x95pickle......",
        b"\xff" * 100,
        bytes(1000),
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 2) + b"\xc3(",
        struct.pack("<Q", 4) + b"null",
        struct.pack("<Q", 22) + b'{"__metadata__": null}',
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 100_000) + b"[" * 100_000,
    ],
)
def test_no_model_at_all(path, content):
    path.write_bytes(content)
    assert "not an arcrank model file" in refusal(path) or "arcrank.save did not write it" in refusal(path)


def test_a_foreign_safetensors_file(path):
    safetensors.numpy.save_file({"weights": np.eye(3)}, path, metadata={"format": "np"})
    assert "arcrank.save did not write it" in refusal(path)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        arcrank.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        arcrank.load(tmp_path)


def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refusal(tmp_path / "pipe")


def test_wrong_array_checksum_is_named(path):
    whole = bytearray(path.read_bytes())
    whole[-1] ^= 1
    path.write_bytes(whole)
    said = refusal(path)
    assert "the checksum of" in said
    assert "Copy it again" in said


def swap_header(header, manifest):
    header["1/weights"]["shape"].reverse()


def swap_both(header, manifest):
    manifest["arrays"]["1/weights"]["shape"].reverse()
    header["1/weights"]["shape"].reverse()


def of_weights(key, value):
    def change(header, manifest):
        manifest["arrays"]["1/weights"][key] = header["1/weights"][key] = value

    return change


def of_ranker(kind, key, value):
    def change(header, manifest):
        manifest["parts"][1][kind][key] = value

    return change


def without(*keys):
    def change(header, manifest):
        for key in keys[:-1]:
            manifest = manifest[key]
        del manifest[keys[-1]]

    return change


CHANGES = {
    "shape in the header": swap_header,
    "shape in both": swap_both,
    "fractional shape": of_weights("shape", [1.5]),
    "negative shape": of_weights("shape", [-3, -1]),
    "endless shape": of_weights("shape", [0, 10**30]),
    "no such dtype": of_weights("dtype", "O"),
    "fewer labels": of_ranker("learnt", "labels", ["a", "b"]),
    "labels in a strange form": of_ranker("learnt", "labels", {"$names": {}, "form": "O"}),
    "a parameter too many": of_ranker("parameters", "delta", 1),
    "a strange marker": of_ranker("parameters", "beta", {"$call": "os.system"}),
    "a strange dtype": of_ranker("parameters", "beta", {"$dtype": "O"}),
    "no weights": without("parts", 1, "learnt", "weights"),
    "no arrays": without("arrays"),
    "no parts": without("parts"),
    "no format": without("format"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_forged_manifests(path, change):
    header, manifest, data = parts_of(path)
    change(header, manifest)
    forge(path, header, data, manifest)
    assert "damaged" in refusal(path)


def test_forged_cards(path):
    header, manifest, data = parts_of(path)
    forge(path, header, data, {**manifest, "parts": 1})
    with pytest.raises(ModelFileError, match="do not fit together"):
        read_card(path)


def test_foreign_indices_are_refused(tmp_path):
    """A product with a sparse matrix does not look at its indices."""
    path = tmp_path / "model"
    arcrank.save(MODELS["machine rbf sparse"](), path)
    header, manifest, data = parts_of(path)
    low, high = header["0/support_vectors.indices"]["data_offsets"]
    wrong = np.full((high - low) // 4, 10**9, dtype=np.int32).tobytes()
    entry = manifest["arrays"]["0/support_vectors.indices"]
    entry["sha256"] = container._digest(memoryview(wrong))
    forge(path, header, data[:low] + wrong + data[high:], manifest)
    assert "do not fit together" in refusal(path)


def test_blocks_and_threads(tmp_path, monkeypatch):
    """Arrays of many blocks, checked by several threads, are what they are without."""
    monkeypatch.setattr(container, "_BLOCK", 64)
    path = tmp_path / "model"
    model = MODELS["mmp"]()
    arcrank.save(model, path)
    assert scores_of(arcrank.load(path)).tobytes() == scores_of(model).tobytes()
    whole = bytearray(path.read_bytes())
    for at in range(len(whole) - 300, len(whole), 50):
        whole[at] ^= 255
        path.write_bytes(whole)
        refusal(path)
        whole[at] ^= 255


@pytest.mark.parametrize("change", [lambda numbers: numbers + 10**9, lambda numbers: numbers[::-1], np.zeros_like])
def test_foreign_numbers_of_rows_are_refused(tmp_path, change):
    path = tmp_path / "model"
    arcrank.save(MODELS["mmp mostly zero"](), path)
    header, manifest, data = parts_of(path)
    low, high = header["1/weights.numbers"]["data_offsets"]
    wrong = change(np.frombuffer(data[low:high], dtype=np.int64)).tobytes()
    manifest["arrays"]["1/weights.numbers"]["sha256"] = container._digest(memoryview(wrong))
    forge(path, header, data[:low] + wrong + data[high:], manifest)
    assert "do not fit together" in refusal(path)
