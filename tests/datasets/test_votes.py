"""Votes and scores in files and DataFrames."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

from arcrank.datasets import Corpus, iter_corpus, read_corpus, read_votes, write_corpus
from arcrank.errors import FormatError, InputError, ParameterError
from arcrank.graphs import from_votes

ARENA = Path(__file__).parent / "chatbot_arena.jsonl"
TABLE = "prompt,winner,loser\nhot,tea,milk\ncold,milk,tea\nhot,tea,milk\nhot,milk,tea\n"


def read(text, format="csv", **options):
    return read_corpus(io.BytesIO(text.encode()), format, **options)


def test_three_columns_are_enough():
    corpus = read(TABLE)
    assert corpus.texts == ["hot", "cold"]
    assert corpus.labels == ["milk", "tea"]
    expected = from_votes(["hot", "cold", "hot", "hot"], ["tea", "milk", "tea", "milk"], ["milk", "tea", "milk", "tea"])
    assert corpus.graphs() == expected.graphs


def test_all_formats_read_the_same():
    rows = [dict(zip(("prompt", "winner", "loser"), line.split(","), strict=True)) for line in TABLE.split()[1:]]
    expected = read(TABLE)
    frame = pytest.importorskip("pandas").DataFrame(rows)
    parquet = io.BytesIO()
    frame.to_parquet(parquet)
    found = [
        read(TABLE.replace(",", "\t"), "tsv"),
        read("\n".join(map(json.dumps, rows)), "jsonl"),
        read(json.dumps(rows), "jsonl"),
        read_corpus(frame),
        read_corpus(io.BytesIO(parquet.getvalue()), "parquet"),
    ]
    for corpus in found:
        assert corpus.texts == expected.texts
        assert corpus.graphs() == expected.graphs()


def test_outcomes_judges_weights_and_ids():
    table = (
        "id,text,a,b,outcome,judge,weight\n"
        "1,hot,tea,milk,a,Ann,2\n1,hot,milk,tea,tie,Bo,\n2,hot,milk,tea,neither,,1\n1,hot,tea,milk,milk,Bo,0.5\n"
    )
    corpus = read(table)
    assert corpus.ids == ["1", "2"]
    votes = corpus.votes()
    assert [len(part) for part in (votes, votes.cases, votes.judges)] == [4, 2, 3]
    assert votes.weight.tolist() == [2, 1, 0.5, 1]
    graphs = corpus.graphs()
    assert graphs.arc_counts().tolist() == [2, 2]  # neither: the cut above both
    assert graphs.weight.tolist() == [0.5, 2, 1, 1]


def test_chatbot_arena():
    corpus = read_corpus(ARENA)
    assert corpus.labels == ["alpaca-13b", "claude-v1", "gpt-4", "koala-13b"]
    assert corpus.texts == ["What is the tallest mountain?\nAnd the second?", "Write a haiku.", "Is 91 prime?"]
    assert [vote.outcome for _, votes in corpus.preferences for vote in votes] == ["a", "b", "tie", "neither"]
    assert corpus.votes().judges == ["arena_user_1", "arena_user_2"]


def test_prompts_of_arena_tables_are_json_lists():
    corpus = read('prompt,model_a,model_b,winner\n"[""Hi"", ""again""]",x,y,model_b\n[sic] what,x,y,tie\n')
    assert corpus.texts == ["Hi\nagain", "[sic] what"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("hot,tea,tea,a,1", "2: invalid vote: 'tea' is compared with itself"),
        ("hot,tea,milk,left,1", '2: unknown outcome: "left"; use a, b, tie, neither or the name of the label that won'),
        ("hot,,milk,a,1", "2: invalid vote: there is no a"),
        (",tea,milk,a,1", "2: no document: .*a case needs a text"),
        ("hot,tea,milk,a,much", "2: invalid number"),
        ("hot,tea,milk,a,-1", "2: invalid vote: the weight is -1"),
        ("hot,tea,milk,a", "2: wrong number of columns: 4 instead of 5"),
    ],
)
def test_bad_votes(row, message):
    table = f"text,a,b,outcome,weight\n{row}\nhot,tea,milk,b,1\n"
    with pytest.raises(FormatError, match=message):
        read(table)
    corpus = read(table, on_error="skip")
    assert corpus.n_skipped == 1
    assert len(corpus) == 1


def test_votes_without_a_case_are_for_leaderboards():
    table = "winner,loser\ntea,milk\nmilk,tea\n"
    with pytest.raises(FormatError, match=r"no document: a vote needs a text .* or features"):
        read(table)
    votes = read_votes(io.BytesIO(table.encode()), "csv")
    assert votes.wins().tolist() == [[0, 1], [1, 0]]
    with pytest.raises(InputError, match="does not hold votes"):
        read_votes(io.BytesIO(b"text,labels\nhot,tea\n"), "csv")


def test_columns_of_numbers_are_features():
    corpus = read("age,sugar,winner,loser\n31,0.5,tea,milk\n7,,milk,tea\n")
    assert corpus.feature_names == ["age", "sugar"]
    assert corpus.X.toarray().tolist() == [[31, 0.5], [7, 0]]
    with pytest.raises(FormatError, match='"colour" has the value "red"'):
        read("colour,winner,loser\nred,tea,milk\n")


def test_an_id_has_one_text():
    with pytest.raises(FormatError, match="votes with the id '1' have different texts, 'hot' and 'cold'"):
        read("id,text,winner,loser\n1,hot,tea,milk\n1,cold,tea,milk\n")


def test_scores_are_rankings_or_weighted_arcs():
    table = "text,L:tea,L:milk,L:water\nhot,1,3,3\ncold,5,2,\n"
    assert read(table).preferences == [("layers", [["milk", "water"], ["tea"]]), ("layers", [["tea"], ["milk"]])]
    assert read(table, better="lower").preferences[0] == ("layers", [["tea"], ["milk", "water"]])
    graphs = read(table, margin="difference").graphs()
    assert graphs.labels.tolist() == ["milk", "tea", "water"]
    assert graphs.weight.tolist() == [2, 2, 3]
    row = '{"text": "hot", "scores": {"tea": 1, "milk": 3, "water": null}}'
    assert read(row, "jsonl").preferences == [("layers", [["milk"], ["tea"]])]
    with pytest.raises(ParameterError, match="margin= must be binary or difference, got 'large'"):
        read(table, margin="large")
    with pytest.raises(FormatError, match="invalid number"):
        read("text,L:tea,L:milk\nhot,1,good\n")


def test_labels_are_preferred_to_columns_with_names_of_votes():
    assert read("text,labels,winner,loser\nhot,tea,x,y\n").label_sets == [["tea"]]
    assert read("text,winner,loser\nhot,tea,x\n", label_column="winner").label_sets == [["tea"]]


def test_votes_are_written_and_read_again(tmp_path):
    corpus = read("id,text,a,b,outcome,judge\n1,hot,tea,milk,tie,Ann\n1,hot,tea,milk,b,\n")
    write_corpus(corpus, tmp_path / "votes.jsonl")
    again = read_corpus(tmp_path / "votes.jsonl")
    assert again.preferences == corpus.preferences
    with pytest.raises(ParameterError, match="Row 1 has votes"):
        write_corpus(corpus, tmp_path / "votes.csv")


def test_blocks_have_an_instance_for_each_vote():
    blocks = list(iter_corpus(io.BytesIO(TABLE.encode()), "csv", batch_rows=3))
    assert [len(block) for block in blocks] == [3, 1]
    assert isinstance(blocks[0], Corpus)


def test_votes_of_weight_zero_keep_their_cases_apart():
    corpus = read("text,winner,loser,weight\nhot,tea,milk,0\ncold,milk,tea,1\n")
    np.testing.assert_array_equal(corpus.graphs().arc_counts(), [0, 1])
