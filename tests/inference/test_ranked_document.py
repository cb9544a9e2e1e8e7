"""`RankedDocument`: one document for programs and for people."""

from __future__ import annotations

import json

from arcrank._wording import as_json
from arcrank.inference.ranked_document import RankedDocument


def test_json_holds_what_is_there():
    bare = RankedDocument(["Öl", 'a "b"'], [1e-17, -2.0], 0)
    assert json.loads(bare.to_json()) == {"ranking": ["Öl", 'a "b"'], "scores": [1e-17, -2.0], "known_features": 0}
    full = RankedDocument([1, 2], [0.1, 0.0], 3, "é\u2028", {"above": "1", "margin": 0.1})
    row = json.loads(full.to_json())
    assert list(row) == ["id", "ranking", "scores", "known_features", "why"]
    assert row["id"] == "é\u2028"
    assert row["why"] == {"above": "1", "margin": 0.1}
    assert "\u2028" not in full.to_json()  # it would end the line for some readers


def test_labels_that_are_json_already_are_used():
    document = RankedDocument(["oil", "Öl"], [1.0, 0.5], 1)
    assert document.to_json({label: as_json(label) for label in ["Öl", "oil", "gas"]}) == document.to_json()
    assert '["X", ' in document.to_json({"oil": '"X"', "Öl": '"Y"'})


def test_rows_of_a_table():
    assert RankedDocument(["oil", 7], [1.23456, -0.00001], 1).to_table() == [
        ("1", "oil", "1.2346"),
        ("2", "7", "-0.0000"),
    ]
    assert RankedDocument([], [], 0).to_table() == []
