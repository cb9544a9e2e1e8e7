"""The real topics and judgements of the TREC-9 filtering track, and records in the same format."""

from __future__ import annotations

from collections import Counter

import pytest

from arcrank.datasets import load_ohsumed
from arcrank.datasets.ohsumed import (
    NO_ABSTRACT,
    load_ohsumed_judgements,
    load_ohsumed_topics,
    routing_tasks,
)
from arcrank.errors import FormatError, MissingDataError, ParameterError

RECORDS_87 = """\
.I 1
.U
87049087
.S
Am J Emerg Med 8703; 4(6):491-5
.M
Allied Health Personnel/*; Electric Countershock/*.
.T
Refibrillation managed by EMT-Ds.
.P
JOURNAL ARTICLE.
.W
Some patients converted from ventricular fibrillation to
organized rhythms.
.A
Stults KR; Brown DD.
.I 2
.U
87049088
.T
A title without an abstract.
.A
Hindman BJ.
"""
RECORDS_88 = """\
.I 54711
.U
88000001
.T
Lipids.
.W
Estrogen \xb5g replacement.
"""
TOPICS = """\
<top>
<num> Number: OHSU1
<title> heart attack
<desc> Description:
treatment of fibrillation
</top>

<top>
<num> Number: OHSU2
<title> menopause
<desc> Description:
lipids
</top>
"""
QRELS = "OHSU1\t87049087\t2\nOHSU1\t87049088\t1\nOHSU2\t88000001\t1\nOHSU1\t88000001\t0\n"


def test_the_real_topics(corpus_of):
    topics = corpus_of(load_ohsumed_topics)
    assert len(topics) == 63
    assert [*topics] == [f"OHSU{i}" for i in range(1, 64)]
    assert topics["OHSU1"] == (
        "60 year old menopausal woman without hormone replacement therapy\n"
        "Are there adverse effects on lipids when progesterone is given with estrogen replacement therapy?"
    )


def test_the_real_judgements(corpus_of):
    judgements = corpus_of(load_ohsumed_judgements)
    assert len(judgements) == 3_205
    assert judgements[0] == ("OHSU1", "91226903", 1)
    assert {*Counter(judgement.grade for judgement in judgements)} == {1, 2}
    assert len({judgement.topic for judgement in judgements}) == 63


@pytest.fixture
def folder(data_folder):
    place = data_folder / "ohsumed_trec9"
    place.mkdir()
    (place / "ohsumed.87").write_text(RECORDS_87, encoding="latin-1")
    (place / "ohsumed.88-91").write_text(RECORDS_88, encoding="latin-1")
    (place / "query.ohsu.1-63").write_text(TOPICS)
    (place / "qrels.ohsu.batch.87").write_text(QRELS)
    (place / "qrels.ohsu.88-91").write_text("OHSU2\t88000001\t2\n")
    return place


def test_records_with_an_abstract(folder):
    corpus = load_ohsumed()
    assert corpus.ids == ["87049087", "88000001"]
    assert corpus.texts == [
        "Refibrillation managed by EMT-Ds.\n"
        "Some patients converted from ventricular fibrillation to organized rhythms.\n"
        "Allied Health Personnel/*; Electric Countershock/*.",
        "Lipids.\nEstrogen µg replacement.",
    ]
    assert corpus.skipped == {NO_ABSTRACT: 1}
    assert corpus.labels == ["OHSU1", "OHSU2"]
    assert corpus.label_sets == [["OHSU1"], ["OHSU2"]]
    assert {name: rows.tolist() for name, rows in corpus.splits.items()} == {"train": [0], "test": [1]}


def test_only_definitely_relevant(folder):
    (folder / "qrels.ohsu.88-91").unlink()
    assert load_ohsumed(min_grade=2).label_sets == [["OHSU1"], []]


def test_there_are_two_grades(folder):
    with pytest.raises(ParameterError, match="min_grade must be 1"):
        load_ohsumed(min_grade=3)


def test_a_routing_task_a_topic(folder):
    tasks = {task.topic: task for task in routing_tasks(load_ohsumed())}
    assert tasks["OHSU1"].y.tolist() == [1, 0]
    assert tasks["OHSU2"].y.tolist() == [0, 1]
    assert tasks["OHSU2"].query == "menopause\nlipids"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("ohsumed.87", ".U\n87049087\n", r"ohsumed\.87:1: a record starts with \.I"),
        ("ohsumed.87", RECORDS_88 + ".I 3\n.W\nNo id.\n", r"ohsumed\.87:8: a record has no MEDLINE id"),
        ("query.ohsu.1-63", TOPICS.replace("</top>\n\n", ""), r"query\.ohsu\.1-63:1: a topic without its closing"),
        ("query.ohsu.1-63", TOPICS.replace("<title> menopause", ""), r"query\.ohsu\.1-63:8: .* its fields"),
        ("qrels.ohsu.88-91", "OHSU2 88000001\n", r"qrels\.ohsu\.88-91:1: a judgement"),
        ("qrels.ohsu.88-91", "OHSU9 88000001 1\n", "'OHSU9' is judged"),
    ],
)
def test_damage_is_an_error_with_its_line(folder, file, content, message):
    (folder / file).write_text(content, encoding="latin-1")
    with pytest.raises(FormatError, match=message):
        load_ohsumed()


def test_without_records_it_says_what_is_missing(folder):
    for path in folder.glob("ohsumed.*"):
        path.unlink()
    with pytest.raises(MissingDataError, match=r"ohsumed\.87 and ohsumed\.88-91"):
        load_ohsumed()
    assert len(load_ohsumed_topics()) == 2
