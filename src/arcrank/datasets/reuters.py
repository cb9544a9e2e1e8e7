"""Reuters-21578, Distribution 1.0: the 22 SGML files and the papers' three selections of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arcrank.datasets.cache import Arrays, cached, pack_sets, pack_strings, unpack_sets, unpack_strings
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.locate import find
from arcrank.errors import FormatError, ParameterError
from arcrank.io.compressed import files_of, members

__all__ = ["Story", "load_reuters21578", "parse_sgml"]

N_FILES = 22
_FILES = "reut2-0[0-9][0-9].sgm"
_ENTITY = re.compile(r"&(?:#(\d{1,7})|(lt|gt|amp|quot|apos));")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_ATTRIBUTE = re.compile(r'([A-Z]+)="([^"]*)"')


class Story(NamedTuple):
    """One `<REUTERS>` element: its number, Lewis's split, its TOPICS attribute, topics in order, text."""

    number: int
    split: str
    has_topics: str
    topics: list[str]
    text: str


def load_reuters21578(selection: str = "modapte") -> Corpus:
    """Load one of the papers' selections from Reuters-21578, with the texts (title and body).

    Parameters
    ----------
    selection : {"modapte", "modapte-top10", "first-topic-top10"}
        "modapte": 7,770 train and 3,019 test documents over the 90 topics that occur in both, labels
        sorted (Crammer & Singer 2002). "modapte-top10": 6,490 and 2,545 documents over the ten topics most
        frequent in train, the most frequent first (Aiolli & Sperduti 2004). "first-topic-top10": 9,509
        documents with their first topic only, the ten most frequent; no split (Amini et al. 2008).

    Returns
    -------
    Corpus
        Documents in the order of their NEWID, which is also their id.

    Examples
    --------
    >>> load_reuters21578("modapte")  # doctest: +SKIP
    Corpus(10,789 texts, 90 labels; train 7,770, test 3,019; from Reuters-21578 (modapte))
    >>> load_reuters21578("apte")
    Traceback (most recent call last):
    ...
    arcrank.errors.ParameterError: There is no selection 'apte'; choose one of: modapte, modapte-top10, ...
    """
    if selection not in _SELECTIONS:
        raise ParameterError(f"There is no selection {selection!r}; choose one of: {', '.join(_SELECTIONS)}")
    path = find("reuters21578", what="Reuters-21578, Distribution 1.0 (the 22 files reut2-000.sgm to reut2-021.sgm)")
    files = files_of(path, _FILES)
    arrays = cached(f"reuters21578-{selection}", 1, files, lambda: _pack(_read(path), selection))
    n_train, n = int(arrays["n_train"]), len(arrays["number"])
    splits = {"train": np.arange(n_train), "test": np.arange(n_train, n)} if n_train else {}
    return Corpus(
        labels=unpack_strings(arrays, "topics_names"),
        texts=unpack_strings(arrays, "text"),
        label_sets=unpack_sets(arrays, "topics"),
        splits=splits,
        ids=[*map(str, arrays["number"].tolist())],
        source=f"Reuters-21578 ({selection})",
    )


class _Selected(NamedTuple):
    """Stories with their selected topics; the first `n_train` are train, the rest test (0: no split)."""

    stories: list[tuple[Story, list[str]]]
    labels: list[str]
    n_train: int = 0


def _modapte(stories: list[Story]) -> _Selected:
    parts = _modapte_split(stories)
    train, test = (_counts(part) for part in parts)
    return _with_any_of(parts, sorted(train & test))


def _modapte_top10(stories: list[Story]) -> _Selected:
    parts = _modapte_split(stories)
    return _with_any_of(parts, [topic for topic, _ in _counts(parts[0]).most_common(10)])


def _first_topic_top10(stories: list[Story]) -> _Selected:
    first = Counter(story.topics[0] for story in stories if story.topics)
    labels = [topic for topic, _ in first.most_common(10)]
    return _Selected([(story, story.topics[:1]) for story in stories if {*story.topics[:1]} & {*labels}], labels)


def _modapte_split(stories: list[Story]) -> list[list[Story]]:
    used = [story for story in stories if story.has_topics == "YES"]
    return [[story for story in used if story.split == split] for split in ("TRAIN", "TEST")]


def _counts(stories: list[Story]) -> Counter[str]:
    return Counter(topic for story in stories for topic in story.topics)


def _with_any_of(parts: list[list[Story]], labels: list[str]) -> _Selected:
    """Keep the stories that have at least one of the labels, and of their topics only those."""
    wanted = set(labels)
    train, test = (
        [(story, [topic for topic in story.topics if topic in wanted]) for story in part if wanted & {*story.topics}]
        for part in parts
    )
    return _Selected(train + test, labels, len(train))


_SELECTIONS: dict[str, Callable[[list[Story]], _Selected]] = {
    "modapte": _modapte,
    "modapte-top10": _modapte_top10,
    "first-topic-top10": _first_topic_top10,
}


def _pack(stories: list[Story], selection: str) -> Arrays:
    chosen, labels, n_train = _SELECTIONS[selection](stories)
    return {
        "number": np.array([story.number for story, _ in chosen], dtype=np.int32),
        "n_train": np.array(n_train),
        **pack_strings("text", [story.text for story, _ in chosen]),
        **pack_sets("topics", [topics for _, topics in chosen], labels),
    }


def _read(path: Path) -> list[Story]:
    """Read all stories in the order of their numbers."""
    stories: list[Story] = []
    n_files = 0
    for name, stream in members(path, _FILES):
        stories.extend(parse_sgml(stream.read(), f"{path}/{name}"))
        n_files += 1
    if n_files != N_FILES:
        raise FormatError(
            f"{path}: {n_files} of the {N_FILES} files reut2-000.sgm ... were found; download all of them"
        )
    return sorted(stories, key=lambda story: story.number)


def parse_sgml(content: bytes, name: str) -> Iterator[Story]:
    r"""Yield the stories of one SGML file; errors show `name` and the line.

    The files are latin-1, so every byte is a character and stray ones are kept. They are split by searching for their
    tags, which are few and always spelled the same way.

    Examples
    --------
    >>> sgml = b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="7"><TOPICS><D>acq</D></TOPICS>'
    >>> sgml += b'<TEXT><TITLE>A &lt;B></TITLE><BODY>Sold.&#3;</BODY></TEXT></REUTERS>'
    >>> next(parse_sgml(sgml, "example"))
    Story(number=7, split='TRAIN', has_topics='YES', topics=['acq'], text='A <B>\nSold.')
    """
    chunks = content.decode("latin-1").split("<REUTERS ")
    line = 1
    for i, chunk in enumerate(chunks):
        if chunk.count("</REUTERS>") != (i > 0):
            tag = "closing" if i else "opening"
            raise FormatError(f"{name}:{line}: a REUTERS element has no {tag} tag")
        if i:
            try:
                yield _story(chunk)
            except ValueError as error:
                raise FormatError(f"{name}:{line}: {error}") from error
        line += chunk.count("\n")


def _story(chunk: str) -> Story:
    head, _, rest = chunk.partition(">")
    attributes = dict(_ATTRIBUTE.findall(head))
    missing = [key for key in ("NEWID", "LEWISSPLIT", "TOPICS") if key not in attributes]
    if missing or not attributes["NEWID"].isdecimal():
        raise ValueError(f"<REUTERS {head}> has no attribute {missing[0] if missing else 'NEWID that is a number'}")
    topics = _between(rest, "<TOPICS>", "</TOPICS>") or ""
    names = topics.removeprefix("<D>").removesuffix("</D>").split("</D><D>") if topics else []
    number, split = int(attributes["NEWID"]), attributes["LEWISSPLIT"]
    # one story names a topic twice
    return Story(number, split, attributes["TOPICS"], list(dict.fromkeys(names)), _text(rest))


def _text(rest: str) -> str:
    """Return title and body, or the whole text of an UNPROC story, which has neither."""
    element = _between(rest, "<TEXT", "</TEXT>")
    if element is None:
        raise ValueError("a story has no TEXT element")
    kind, _, inside = element.partition(">")
    if 'TYPE="UNPROC"' in kind:
        return _plain(inside)
    title, body = _between(inside, "<TITLE>", "</TITLE>"), _between(inside, "<BODY>", "</BODY>")
    return "\n".join(_plain(part) for part in (title, body) if part)


def _between(text: str, start: str, end: str) -> str | None:
    i = text.find(start)
    if i < 0:
        return None
    i += len(start)
    j = text.find(end, i)
    if j < 0:
        raise ValueError(f"{start} has no {end}")
    return text[i:j]


def _plain(text: str) -> str:
    return (_ENTITY.sub(_character, text) if "&" in text else text).strip()


def _character(match: re.Match[str]) -> str:
    number, name = match.groups()
    if name:
        return _NAMED[name]
    character = chr(min(int(number), 0x10FFFF))
    # control characters delimit fields; they are not text, but they separate words
    return character if character.isprintable() else " "
