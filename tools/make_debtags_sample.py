"""Make the sample of debtags that ships with arcrank.

    ARCRANK_DATA=... python tools/make_debtags_sample.py src/arcrank/datasets/data/debtags-sample.jsonl.xz

The same corpus gives the same sample, byte for byte: packages are tried in the order of a hash of their names. The
choice is stratified by tags (Sechidis et al. 2011, for one fold): the tag that still lacks the fewest packages gets
them first, so that rare tags keep their share too. Tags that end up with fewer than `MIN_PACKAGES` packages, or with
none in train or test, are dropped, and then packages without a tag.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from arcrank.datasets import Corpus, load_debtags
from arcrank.datasets.debtags import is_test_package

N_PACKAGES = 3000
MIN_PACKAGES = 12


def main(path: str) -> None:
    """Write the sample to a file."""
    corpus = load_debtags()
    rows = choose(corpus)
    kept = kept_tags(corpus, rows)
    lines = [line for line in (package(corpus, i, kept) for i in rows) if line]
    raw = "".join(line + "\n" for line in lines).encode()
    packed = lzma.compress(raw, preset=9 | lzma.PRESET_EXTREME)
    Path(path).write_bytes(packed)
    sys.stdout.write(f"{len(lines)} packages, {len(kept)} tags, {len(packed):,} bytes\n")


def choose(corpus: Corpus) -> list[int]:
    """Return the chosen rows, sorted."""
    sets = corpus.label_sets or []
    by_hash = without_repeats(corpus, sorted(range(len(corpus)), key=lambda i: digest(corpus, i)))
    holders: dict[str, list[int]] = {}
    for i in reversed(by_hash):  # so that pop() gives them in the order of the hash
        for tag in sets[i]:
            holders.setdefault(tag, []).append(i)
    lacking = {tag: len(rows) * N_PACKAGES / len(by_hash) for tag, rows in holders.items()}
    chosen: set[int] = set()
    while tag := min(
        (t for t in lacking if lacking[t] >= 0.5 and holders[t]), key=lambda t: (lacking[t], t), default=""
    ):
        row = pick(holders[tag], lambda i: all(lacking[other] >= 0.5 for other in sets[i]))
        if row not in chosen:
            chosen.add(row)
            for other in sets[row]:
                lacking[other] -= 1
    return sorted(chosen)


def digest(corpus: Corpus, row: int) -> bytes:
    """Return a hash of a package's name."""
    return hashlib.sha256(f"sample {(corpus.ids or [])[row]}".encode()).digest()


def without_repeats(corpus: Corpus, rows: list[int]) -> list[int]:
    """Keep the first package of each description, so that no text is in both train and test."""
    texts = corpus.texts or []
    first = {texts[i]: i for i in reversed(rows)}
    return [i for i in rows if first[texts[i]] == i]


def pick(rows: list[int], fits: Callable[[int], bool]) -> int:
    """Take from the end of the list the first row that overfills no other tag, else the last row."""
    at = next((j for j in range(len(rows) - 1, -1, -1) if fits(rows[j])), len(rows) - 1)
    return rows.pop(at)


def kept_tags(corpus: Corpus, rows: list[int]) -> set[str]:
    """Return the tags with enough packages, on both sides of the split."""
    sets, ids = corpus.label_sets or [], corpus.ids or []
    counts = {
        side: Counter(t for i in rows if is_test_package(str(ids[i])) is side for t in sets[i])
        for side in (True, False)
    }
    total = counts[True] + counts[False]
    return {tag for tag, count in total.items() if count >= MIN_PACKAGES and counts[True][tag] and counts[False][tag]}


def package(corpus: Corpus, row: int, kept: set[str]) -> str:
    """Return the line of one package, or nothing when no tag of it was kept."""
    tags = [tag for tag in (corpus.label_sets or [])[row] if tag in kept]
    fields = {"name": (corpus.ids or [])[row], "text": (corpus.texts or [])[row], "labels": tags}
    return json.dumps(fields, ensure_ascii=False) if tags else ""


if __name__ == "__main__":
    main(sys.argv[1])
