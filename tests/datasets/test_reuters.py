from __future__ import annotations

import lzma
import shutil
import tarfile

import pytest

from arcrank.datasets import load_reuters21578
from arcrank.datasets.reuters import parse_sgml
from arcrank.errors import FormatError, MissingDataError


def story(number=1, topics=("earn",), text="<TITLE>T</TITLE><BODY>B</BODY>", split="TRAIN", kind="", has="YES"):
    names = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="{has}" LEWISSPLIT="{split}" CGISPLIT="TRAINING-SET" OLDID="9" NEWID="{number}">\n'
        f"<DATE>26-FEB-1987 15:01:01.79</DATE>\n<TOPICS>{names}</TOPICS>\n<PLACES><D>usa</D></PLACES>\n"
        f"<UNKNOWN>\n&#5;&#5;C T\n</UNKNOWN>\n<TEXT{kind}>&#2;\n{text}</TEXT>\n</REUTERS>\n"
    )


DOCTYPE = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'


def parse(*stories):
    return list(parse_sgml((DOCTYPE + "".join(stories)).encode("latin-1"), "reut2-000.sgm"))


def texts(*stories):
    return [found.text for found in parse(*stories)]


def test_title_and_body_without_dateline():
    inside = "<TITLE>OIL &lt;BP> UP</TITLE>\n<DATELINE> LONDON, Feb 26 - </DATELINE><BODY>Sold.\n REUTER\n&#3;</BODY>"
    assert texts(story(text=inside)) == ["OIL <BP> UP\nSold.\n REUTER"]


def test_briefs_have_only_a_title():
    inside = "******<TITLE>RATES &amp; PRICES\n</TITLE>Blah blah blah.\n&#3;\n\n"
    assert texts(story(text=inside, kind=' TYPE="BRIEF"')) == ["RATES & PRICES"]


def test_unprocessed_stories_are_taken_whole():
    assert texts(story(text="FED REPORT\n Net 644 vs&#127;1,337\n&#3;\n", kind=' TYPE="UNPROC"')) == [
        "FED REPORT\n Net 644 vs 1,337"
    ]


def test_stray_bytes_and_unknown_entities_survive():
    assert texts(story(text="<TITLE>\xfc AT&T &unknown; &#233; &#9999999;</TITLE>"))[0].startswith("ü AT&T &unknown; é")


def test_topics_keep_their_order_and_lose_repetitions():
    (found,) = parse(story(topics=("grain", "corn", "acq", "corn")))
    assert found.topics == ["grain", "corn", "acq"]


def test_a_story_without_topics():
    assert parse(story(topics=()))[0].topics == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</REUTERS>", "", "has no closing tag"),
        ("</TOPICS>", "", "<TOPICS> has no </TOPICS>"),
        ("</TITLE>", "", "<TITLE> has no </TITLE>"),
        ("</BODY>", "", "<BODY> has no </BODY>"),
        ("</TEXT>", "", "<TEXT has no </TEXT>"),
        ("<TEXT>", "", "has no TEXT"),
        ('NEWID="2"', "", "NEWID"),
        ('NEWID="2"', 'NEWID="two"', "NEWID"),
    ],
)
def test_a_damaged_story_is_an_error_with_its_line(old, new, message):
    damaged = story(2).replace(old, new)
    with pytest.raises(FormatError, match=message) as caught:
        parse(story(1), damaged, story(3))
    assert str(caught.value).startswith("reut2-000.sgm:12: ")


def test_a_damaged_opening_tag_loses_no_story_in_silence():
    with pytest.raises(FormatError, match=r"reut2-000\.sgm:2"):
        parse(story(1), story(2).replace("<REUTERS ", "<REUTRES "), story(3))


@pytest.fixture
def fixture(data_folder):
    """22 small files: three topics in train and test, one only in train."""
    folder = data_folder / "reuters21578"
    folder.mkdir()
    for i in range(22):
        parts = [
            story(4 * i + 1, ("earn", "acq") if i % 2 else ("earn",)),
            story(4 * i + 2, ("grain", "rare"), split="TEST" if i % 3 else "TRAIN"),
            story(4 * i + 3, ("acq",), split="TEST"),
            story(4 * i + 4, ("earn",), has="NO", split="NOT-USED"),
        ]
        content = (DOCTYPE + "".join(parts)).replace("rare", "rare" if i == 0 else "earn")
        (folder / f"reut2-{i:03}.sgm").write_text(content, encoding="latin-1")
    return folder


def test_selections_follow_their_rules(fixture):
    corpus = load_reuters21578("modapte")
    assert corpus.labels == ["acq", "earn", "grain"]
    assert {name: len(rows) for name, rows in corpus.splits.items()} == {"train": 30, "test": 36}
    assert ["grain", "rare"] not in corpus.label_sets
    assert len(load_reuters21578("first-topic-top10")) == 88
    assert load_reuters21578("modapte-top10").labels == ["earn", "acq", "grain", "rare"]


def test_packed_files_in_a_folder(fixture):
    expected = load_reuters21578("modapte")
    for path in fixture.iterdir():
        path.with_name(path.name + ".xz").write_bytes(lzma.compress(path.read_bytes()))
        path.unlink()
    assert load_reuters21578("modapte").texts == expected.texts


def test_a_missing_file_is_noticed(fixture):
    (fixture / "reut2-007.sgm").unlink()
    with pytest.raises(FormatError, match="21 of the 22 files"):
        load_reuters21578()


def test_a_truncated_archive(fixture):
    with tarfile.open(fixture.with_name("reuters21578.tar.xz"), "w:xz") as archive:
        archive.add(fixture, "reuters21578")
    shutil.rmtree(fixture)
    assert len(load_reuters21578("modapte")) == 66
    with open(fixture.with_name("reuters21578.tar.xz"), "r+b") as stream:
        stream.truncate(1000)  # about half of it
    with pytest.raises(FormatError, match=r"reuters21578\.tar\.xz: the file is truncated or damaged"):
        load_reuters21578()


def test_without_the_files_it_says_what_to_get(data_folder):
    with pytest.raises(MissingDataError, match="Reuters-21578, Distribution 1.0"):
        load_reuters21578()
