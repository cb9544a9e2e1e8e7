"""The original LYRL2004 formats, on a fixture of six documents."""

from __future__ import annotations

import gzip

import pytest

from arcrank.datasets import load_rcv1
from arcrank.errors import FormatError, MissingDataError

HIERARCHY = """\
parent: None  child: Root  child-description: Root
parent: Root  child: CCAT     child-description: CORPORATE/INDUSTRIAL
parent: CCAT  child: C11      child-description: STRATEGY/PLANS
parent: CCAT  child: C15      child-description: PERFORMANCE
parent: C15   child: C151     child-description: ACCOUNTS/EARNINGS
parent: Root  child: ECAT     child-description: ECONOMICS
"""
TRAIN = """\
.I 2286
.W
recov recov recov excit excit bring mexic
apparent recov

.I 2287
.W
uruguay uruguay compan compan

"""
TEST = {
    "pt0": ".I 26151\n.W\ntuesday stock york\n\n.I 26152\n.W\nargentin\n\n",
    "pt1": ".I 250000\n.W\nindex\n\n.I 810596\n.W\nlast stor\n\n",
}
QRELS = "CCAT 2286 1\nC11 2286 1\nECAT 2287 1\nCCAT 26151 1\nC15 26151 1\nC151 26151 1\nECAT 250000 1\nCCAT 810596 1\n"
DATES = "2286 1996-08-20\n2287 19960820\n26151 1996-09-01\n26152 1996-09-01\n250000 1997-04-10\n810596 1997-08-19\n"


@pytest.fixture
def folder(data_folder):
    place = data_folder / "lyrl2004"
    place.mkdir()
    (place / "rcv1.topics.hier.orig").write_text(HIERARCHY)
    (place / "lyrl2004_tokens_train.dat").write_text(TRAIN)
    for part, content in TEST.items():
        (place / f"lyrl2004_tokens_test_{part}.dat.gz").write_bytes(gzip.compress(content.encode()))
    (place / "rcv1-v2.topics.qrels.gz").write_bytes(gzip.compress(QRELS.encode()))
    return place


def rows(corpus):
    return {name: [corpus.ids[i] for i in chosen] for name, chosen in corpus.splits.items()}


def test_documents_topics_and_hierarchy(folder):
    corpus = load_rcv1("lyrl2004")
    assert corpus.ids == ["2286", "2287", "26151", "26152", "250000", "810596"]
    assert corpus.texts[0] == "recov recov recov excit excit bring mexic apparent recov"
    assert corpus.label_sets == [["CCAT", "C11"], ["ECAT"], ["CCAT", "C15", "C151"], [], ["ECAT"], ["CCAT"]]
    assert corpus.labels == ["C11", "C15", "C151", "CCAT", "ECAT"]
    assert corpus.hierarchy == {"C11": "CCAT", "C15": "CCAT", "C151": "C15", "CCAT": None, "ECAT": None}
    assert corpus.descriptions["C151"] == "ACCOUNTS/EARNINGS"


def test_without_dates_the_first_two_thirds_are_train(folder):
    assert rows(load_rcv1("lyrl2004")) == {
        "train": ["2286", "2287", "26151", "26152"],
        "test": ["250000", "810596"],
        "lyrl2004-train": ["2286", "2287"],
        "lyrl2004-test": ["26151", "26152", "250000", "810596"],
    }


def test_with_dates_the_tenth_of_april_is_the_last_day_of_train(folder):
    (folder / "rcv1.dates.txt").write_text(DATES)
    assert rows(load_rcv1("lyrl2004"))["test"] == ["810596"]


def test_dates_on_one_side_of_that_day_do_not_split(folder):
    (folder / "rcv1.dates.txt").write_text(
        DATES.replace("1997-08-19", "1997-04-01").replace("1997-04-10", "1997-04-02")
    )
    corpus = load_rcv1("lyrl2004")
    assert corpus.ids[-2:] == ["810596", "250000"]
    assert len(corpus.splits["train"]) == 4


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("lyrl2004_tokens_train.dat", ".I\n.W\nx\n", r"lyrl2004_tokens_train\.dat:1: `\.I <id>`"),
        ("lyrl2004_tokens_train.dat", "stray\n.I 5\n.W\nx\n", r"train\.dat:1: tokens before"),
        ("rcv1.topics.hier.orig", "CCAT C11\n", r"hier\.orig:1: not `parent"),
        ("rcv1.topics.hier.orig", "parent: Root child: CCAT child-description: X\n", "'C11' is judged"),
        ("rcv1-v2.topics.qrels", "CCAT 2286\n", r"qrels:1: a judgement is"),
        ("rcv1.dates.txt", "2286 yesterday\n", r"dates\.txt:1: a date is"),
        ("rcv1.dates.txt", "2286 19960820\n", "document 2287 has no date"),
    ],
)
def test_damage_is_an_error_with_its_line(folder, file, content, message):
    if file.endswith("qrels"):
        (folder / "rcv1-v2.topics.qrels.gz").unlink()
    (folder / file).write_text(content)
    with pytest.raises(FormatError, match=message):
        load_rcv1("lyrl2004")


def test_a_truncated_file_of_judgements(folder):
    path = folder / "rcv1-v2.topics.qrels.gz"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(FormatError, match=r"topics\.qrels\.gz: the file is truncated"):
        load_rcv1("lyrl2004")


def test_a_part_that_is_missing(folder):
    (folder / "rcv1.topics.hier.orig").unlink()
    with pytest.raises(FormatError, match=r"rcv1\.topics\.hier\.orig"):
        load_rcv1("lyrl2004")


def test_nothing_there(data_folder):
    with pytest.raises(MissingDataError, match="lyrl2004_tokens"):
        load_rcv1("lyrl2004")
