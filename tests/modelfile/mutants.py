"""Model files that somebody forged: arrays and manifests are changed, and the checksums are right again.

python -m tests.modelfile.mutants 300
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import random
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from arcrank.modelfile.container import _digest
from arcrank.modelfile.values import DTYPES

Arrays = dict[str, np.ndarray[Any, Any]]
Manifest = dict[str, Any]
Mutator = Callable[[random.Random, Manifest, Arrays], None]

_NUMPY = {stored: name for name, stored in DTYPES.items()}
_WHOLE = [0, 1, -1, 2, 3, 7, 2**15, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63)]
_REAL = [0.0, -0.0, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 1e150, -1e101, 1e99, 0.5, -1.0]
_VALUES = [
    *_WHOLE, *_REAL, 2**70, 10**400, None, True, False, "", "\0", "a", "filename", "file", "linear", "rbf", "poly",
    "polynomial", "precomputed", "cosine", "latent", "stumps", "char", "word", "(a+)+$", "[a-z]+;", r"\w+", "zlib",
    "utf-16", "l1", "single", "sets", "ranks", "arcs", "graphs", "candidates", "exponential", "dominated", "french",
    "english", [], {}, [1, 2], ["a", "b"], [[[]]], {"a": 1}, {"$tuple": [1, 3]}, {"$tuple": [1, 10**9]},
    {"$float": "nan"}, {"$float": "-inf"}, {"$dtype": "<f4"}, {"$dtype": "|b1"}, {"$dtype": "<f2"}, {"$text": [0]},
    {"$text": [2**40]}, {"$map": [[1, 2]]}, {"$array": "weights"}, {"$names": {}, "form": "list"}, {"$set": ["a"]},
    {"$call": "os.system"},
]  # fmt: skip


def split(whole: bytes) -> tuple[Manifest, Arrays]:
    """The manifest and the arrays of a model file."""
    start = 8 + struct.unpack("<Q", whole[:8])[0]
    manifest = json.loads(json.loads(whole[8:start])["__metadata__"]["manifest"])
    arrays, at = {}, start
    for name, entry in manifest.pop("arrays").items():
        dtype = np.dtype(_NUMPY[entry["dtype"]])
        count = math.prod(entry["shape"])
        arrays[name] = np.frombuffer(whole, dtype, count, at).reshape(entry["shape"]).copy()
        at += count * dtype.itemsize
    return manifest, arrays


def signed(manifest: Manifest, arrays: Arrays, change: Callable[[Any, Any], None] | None = None) -> bytes:
    """A file of these, with all its checksums, after change(what the manifest, what the header says of arrays)."""
    entries, places, data = {}, {}, b""
    for name, array in sorted(arrays.items(), key=lambda item: -item[1].itemsize):
        block = np.ascontiguousarray(array).tobytes()
        kind, shape = DTYPES[array.dtype.str], list(array.shape)
        entries[name] = {"dtype": kind, "shape": shape, "sha256": _digest(memoryview(block))}
        places[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(block)]}
        data += block
    if change is not None:
        change(entries, places)
    text = json.dumps({**manifest, "arrays": entries})
    metadata = {"manifest": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    header = json.dumps({"__metadata__": metadata, **places}).encode()
    return struct.pack("<Q", len(header)) + header + data


def mutants(whole: bytes, n: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """Yield n forged copies, each with one or a few changes."""
    manifest, arrays = split(whole)
    names = sorted(MUTATORS)
    for number in range(n):
        draw = random.Random(f"{seed} {number}")
        kinds = [draw.choice(names) for _ in range(draw.choice((1, 1, 1, 2, 3)))]
        changed, others = copy.deepcopy(manifest), {name: array.copy() for name, array in arrays.items()}
        for kind in kinds:
            with suppress(AttributeError, LookupError, TypeError):  # an earlier change may have left nothing to change
                MUTATORS[kind](draw, changed, others)
        yield ", ".join(kinds), signed(changed, others)


def _array(draw: random.Random, arrays: Arrays, *, filled: bool = True) -> str | None:
    names = sorted(name for name, array in arrays.items() if array.size or not filled)
    return draw.choice(names) if names else None


def _flip_bit(draw: random.Random, _: Manifest, arrays: Arrays) -> None:
    name = _array(draw, arrays)
    if name:
        raw = arrays[name].reshape(-1).view(np.uint8)
        raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)


def _extreme(draw: random.Random, _: Manifest, arrays: Arrays) -> None:
    """One number, or all, of an array becomes another."""
    name = _array(draw, arrays)
    if name:
        flat = arrays[name].reshape(-1)
        where = slice(None) if draw.random() < 0.2 else draw.randrange(len(flat))
        with np.errstate(all="ignore"):
            flat[where] = np.array(draw.choice(_REAL if flat.dtype.kind == "f" else _WHOLE)).astype(flat.dtype)


def _order(draw: random.Random, _: Manifest, arrays: Arrays) -> None:
    name = _array(draw, arrays)
    if name:
        array = arrays[name]
        arrays[name] = draw.choice(
            [array[::-1], np.sort(array, axis=None).reshape(array.shape), np.roll(array, 1)]
        ).copy()


def _swap_arrays(draw: random.Random, _: Manifest, arrays: Arrays) -> None:
    a, b = _array(draw, arrays, filled=False), _array(draw, arrays, filled=False)
    if a and b:
        arrays[a], arrays[b] = arrays[b], arrays[a]


def _swap_alike(draw: random.Random, _: Manifest, arrays: Arrays) -> None:
    """Two arrays of one type and shape change places."""
    a = _array(draw, arrays)
    alike = [b for b in sorted(arrays) if a and b != a and arrays[b].shape == arrays[a].shape]
    if a and alike:
        b = draw.choice(alike)
        arrays[a], arrays[b] = arrays[b], arrays[a]


def _retype(draw: random.Random, _: Manifest, arrays: Arrays) -> None:
    name = _array(draw, arrays, filled=False)
    if name:
        array, dtype = arrays[name], np.dtype(draw.choice(sorted(DTYPES)))
        same_width = dtype.itemsize == array.itemsize and draw.random() < 0.5
        with np.errstate(all="ignore"):
            arrays[name] = array.view(dtype) if same_width else array.astype(dtype)


def _reshape(draw: random.Random, _: Manifest, arrays: Arrays) -> None:
    name = _array(draw, arrays, filled=False)
    if name:
        array = arrays[name]
        arrays[name] = draw.choice(
            [array.T, array.reshape(-1), array[:0], array[:-1], array[1:], np.concatenate([array, array]), array[None],
             array[..., :-1], array.reshape(*array.shape, 1)]
        ).copy()  # fmt: skip


def _rename_array(draw: random.Random, _: Manifest, arrays: Arrays) -> None:
    name = _array(draw, arrays, filled=False)
    if name:
        arrays[draw.choice(["0/x", "1/weights", "x", "9/labels.ends", name + "#2"])] = arrays.pop(name)


def _slots(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a manifest."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [slot for key in keys for slot in [(value, key), *_slots(value[key])]]


def _slot(draw: random.Random, manifest: Manifest) -> tuple[Any, Any]:
    slots = _slots(manifest["parts"]) if draw.random() < 0.85 else _slots(manifest)
    return draw.choice(slots or _slots(manifest))


def _replace(draw: random.Random, manifest: Manifest, _: Arrays) -> None:
    holder, key = _slot(draw, manifest)
    holder[key] = copy.deepcopy(draw.choice(_VALUES))


def _alike(draw: random.Random, manifest: Manifest, _: Arrays) -> None:
    """A value of the same type: what a careful forger would write."""
    holder, key = _slot(draw, manifest)
    same = [value for value in _VALUES if type(value) is type(holder[key])]
    if same:
        holder[key] = copy.deepcopy(draw.choice(same))


def _everywhere(draw: random.Random, manifest: Manifest, _: Arrays) -> None:
    """A number changes wherever it stands, so that the parts may still agree."""
    slots = [(holder, key) for holder, key in _slots(manifest) if type(holder[key]) is int]
    old = draw.choice([holder[key] for holder, key in slots])
    new = draw.choice([*_WHOLE, 2**27, 2**28, 10**30, old + 1, old - 1, old * 2])
    for holder, key in slots:
        if holder[key] == old:
            holder[key] = new


def _delete(draw: random.Random, manifest: Manifest, _: Arrays) -> None:
    holder, key = _slot(draw, manifest)
    del holder[key]


def _add(draw: random.Random, manifest: Manifest, _: Arrays) -> None:
    part = draw.choice(manifest["parts"])
    names = ["weights", "late", "kernel", "embedding", "thresholds", "stumps", "latent", "labels", "x", "__class__"]
    part[draw.choice(["parameters", "learnt"])][draw.choice(names)] = copy.deepcopy(draw.choice(_VALUES))


def _exchange(draw: random.Random, manifest: Manifest, _: Arrays) -> None:
    """Two values change places."""
    (a, i), (b, j) = _slot(draw, manifest), _slot(draw, manifest)
    a[i], b[j] = copy.deepcopy(b[j]), copy.deepcopy(a[i])


def _reparts(draw: random.Random, manifest: Manifest, _: Arrays) -> None:
    parts = manifest["parts"]
    manifest["parts"] = draw.choice([parts[::-1], parts * 2, parts[:1], parts[1:], parts[-1:]])


MUTATORS: dict[str, Mutator] = {
    "a flipped bit": _flip_bit,
    "an extreme number": _extreme,
    "another extreme number": _extreme,
    "another order": _order,
    "swapped arrays": _swap_arrays,
    "swapped arrays of one shape": _swap_alike,
    "another type": _retype,
    "another shape": _reshape,
    "another name of an array": _rename_array,
    "another value": _replace,
    "another value of the same type": _alike,
    "a similar value": _alike,
    "another number everywhere": _everywhere,
    "a missing key": _delete,
    "an additional key": _add,
    "exchanged values": _exchange,
    "other parts": _reparts,
}


def main() -> None:
    from tests.modelfile.trials import count_mutants

    sys.stdout.write(json.dumps(count_mutants(int(sys.argv[1]))) + "\n")


if __name__ == "__main__":
    main()
