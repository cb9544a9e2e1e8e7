"""Write the stored files of the present format: once, when there is a new format. They are loaded for ever after.

python -m tests.modelfile.store
"""

from __future__ import annotations

import json
from pathlib import Path

import arcrank
from arcrank.modelfile.container import FORMAT
from tests.modelfile.models import MODELS, input_of, scores_of

FOLDER = Path(__file__).parent / "stored"


def main() -> None:
    expected = {}
    for name, make in MODELS.items():
        model, file = make(), f"format{FORMAT}-{name.replace(' ', '-')}.arcrank"
        arcrank.save(model, FOLDER / file, card={"hierarchy": {"oil": None, "ship 🚢": "oil"}, "measures": {"ap": 0.5}})
        expected[file] = {"model": name, "scores": scores_of(model, input_of(name)).tolist()}
    with open(FOLDER / f"format{FORMAT}.json", "x", encoding="utf-8") as stream:  # never over an old one
        json.dump(expected, stream, indent=1)


if __name__ == "__main__":
    main()
