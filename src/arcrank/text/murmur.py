"""MurmurHash3 of many strings at a time (Appleby, MurmurHash3_x86_32 with seed 0; public domain)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

__all__ = ["murmur_hashes"]

Hashes = NDArray[np.uint32]


def murmur_hashes(texts: Sequence[str]) -> Hashes:
    """Return the hash of each text, (n,), equal to `sklearn.utils.murmurhash3_32(text, positive=True)`.

    >>> murmur_hashes(["", "oil", "crude oil"]).tolist()
    [0, 3033238696, 3179146499]
    """
    encoded = [text.encode() for text in texts]
    lengths = np.array([len(one) for one in encoded], dtype=np.uint32)
    # each text is padded with zeros to whole words of 4 bytes, which is how the last 0 to 3 bytes are read
    words = np.frombuffer(b"".join(one + bytes(-len(one) % 4) for one in encoded), dtype="<u4").astype(np.uint32)
    starts = np.array([0, *accumulate((len(one) + 3) // 4 for one in encoded)], dtype=np.int64)[:-1]
    by_length = np.argsort(-lengths.astype(np.int64), kind="stable")
    hashes, starts, whole = np.zeros(len(encoded), np.uint32), starts[by_length], lengths[by_length] // 4
    for block in range(int(whole[0]) if len(whole) else 0):
        active = int(np.searchsorted(-whole.astype(np.int64), -block, side="left"))
        mixed = _rotated(hashes[:active] ^ _scrambled(words[starts[:active] + block]), 13)
        hashes[:active] = mixed * np.uint32(5) + np.uint32(0xE6546B64)
    tails = np.flatnonzero(lengths[by_length] % 4)
    hashes[tails] ^= _scrambled(words[starts[tails] + whole[tails]])
    result = np.empty_like(hashes)
    result[by_length] = hashes
    return _finished(result ^ lengths)


def _scrambled(words: Hashes) -> Hashes:
    return _rotated(words * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)


def _rotated(words: Hashes, by: int) -> Hashes:
    return (words << np.uint32(by)) | (words >> np.uint32(32 - by))


def _finished(words: Hashes) -> Hashes:
    words = (words ^ (words >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    words = (words ^ (words >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return words ^ (words >> np.uint32(16))
