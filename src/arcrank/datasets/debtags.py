"""Debian 12's package descriptions with their debtags: all of them, and a sample that ships with arcrank."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import numpy as np

from arcrank._typing import Mask
from arcrank.datasets.cache import Arrays, cached, pack_sets, pack_strings, unpack_sets, unpack_strings
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.locate import find
from arcrank.errors import FormatError
from arcrank.graphs import Hierarchy
from arcrank.io.compressed import open_binary, readable

__all__ = ["facet_hierarchy", "is_test_package", "load_debtags", "load_debtags_sample"]


def load_debtags() -> Corpus:
    """Load 30,292 Debian packages: description, and tags such as `role::program` (571 tags of 31 facets).

    The hierarchy has two levels, the facet above the tag. Whether a package is in the test split depends on the hash of
    its name (three in ten are, see `is_test_package`); nothing is random.

    Returns
    -------
    Corpus
        Labels sorted, ids = package names, in the order of the file.

    Examples
    --------
    >>> load_debtags()  # doctest: +SKIP
    Corpus(30,292 texts, 571 labels; train 21,217, test 9,075; from Debian 12 debtags)
    >>> from arcrank.datasets.debtags import is_test_package
    >>> is_test_package("roffit"), is_test_package("bash")
    (True, False)
    """
    path = find(
        "debtags.jsonl", what="the debtags corpus (Debian 12's package descriptions and tags as debtags.jsonl.xz)"
    )

    def parse() -> Arrays:
        with readable(path), open_binary(path) as stream:
            return _pack(stream, str(path))

    return _corpus(cached("debtags", 1, [path], parse), "Debian 12 debtags")


def load_debtags_sample() -> Corpus:
    """Load the stratified sample of debtags that ships inside the package; it needs no file.

    Returns
    -------
    Corpus
        As from `load_debtags`; the test split holds the packages of its test split.

    Examples
    --------
    >>> corpus = load_debtags_sample()
    >>> corpus.hierarchy["role::program"], corpus.hierarchy["role"]
    ('role', None)
    """
    sample = files("arcrank.datasets").joinpath("data", "debtags-sample.jsonl.xz")
    with sample.open("rb") as file, open_binary(file) as lines:
        return _corpus(_pack(lines, sample.name), "a sample of Debian 12 debtags")


def is_test_package(name: str) -> bool:
    """Whether a package belongs to the test split: SHA-256 of its name, first four bytes, modulo 10 < 3.

    Examples
    --------
    >>> is_test_package("0ad")
    False
    """
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % 10 < 3


def facet_hierarchy(tags: Iterable[str]) -> dict[str, str | None]:
    """Return the parents of tags `facet::value`: each tag's facet, and None for the facets.

    Examples
    --------
    >>> facet_hierarchy(["role::program"])
    {'role::program': 'role', 'role': None}
    """
    parents: dict[str, str | None] = {tag: tag.partition("::")[0] for tag in tags}
    return parents | dict.fromkeys(sorted({str(facet) for facet in parents.values()}))


def _pack(lines: Iterable[bytes], name: str) -> Arrays:
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            rows.append({key: row[key] for key in ("name", "text", "labels")})
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{name}:{number}: not a package with name, text and labels ({error})") from error
    sets = [row["labels"] for row in rows]
    return {
        **pack_strings("name", [row["name"] for row in rows]),
        **pack_strings("text", [row["text"] for row in rows]),
        **pack_sets("tags", sets, sorted({tag for tags in sets for tag in tags})),
        "test": np.array([is_test_package(row["name"]) for row in rows], dtype=bool),
    }


def _corpus(arrays: Arrays, source: str) -> Corpus:
    labels = unpack_strings(arrays, "tags_names")
    test: Mask = arrays["test"]
    return Corpus(
        labels=labels,
        texts=unpack_strings(arrays, "text"),
        label_sets=unpack_sets(arrays, "tags"),
        hierarchy=Hierarchy(facet_hierarchy(labels)),
        splits={"train": np.flatnonzero(~test), "test": np.flatnonzero(test)},
        ids=[*unpack_strings(arrays, "name")],
        source=source,
    )
