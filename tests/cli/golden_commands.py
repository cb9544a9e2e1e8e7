"""The commands whose JSON is kept in golden.json, and how two answers are compared.

`python -m tests.cli.golden_commands FILE` runs them with the arcrank that Python finds and writes their answers to
FILE. golden.json shows that a change of the code changes nothing that a script may read; it is recorded again where the
answers are meant to change.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

WORDS = {
    "crude": ["oil", "barrel", "opec", "refinery"],
    "grain": ["wheat", "harvest", "corn", "bushel"],
    "ship": ["tanker", "port", "cargo", "vessel"],
    "wheat": ["wheat", "export", "bushel", "silo"],
}
TREE = {"crude": None, "crops": None, "grain": "crops", "wheat": "crops", "ship": None}
TEXT = "the tanker brought oil and wheat to port"

COMMANDS: dict[str, list[str]] = {
    "check sets": ["check", "sets.jsonl", "--json"],
    "check pair": ["check", "sets.jsonl", "more.jsonl", "--json"],
    "check tree": ["check", "sets.jsonl", "--hierarchy", "tree.json", "--json"],
    "check numbers": ["check", "numbers.svmlight", "--json"],
    "train auto": ["train", "sets.jsonl", "-m", "auto.arcrank", "--json"],
    "train log-linear": ["train", "orders.jsonl", "-m", "log.arcrank", "--learner", "log-linear", "--json"],
    "train machine": ["train", "layers.jsonl", "-m", "plm.arcrank", "--learner", "preference-machine", "--json"],
    "train mmp": ["train", "sets.jsonl", "-m", "mmp.arcrank", "--learner", "mmp", "--json"],
    "train perceptron": ["train", "classes.csv", "-m", "per.arcrank", "--learner", "perceptron", "--json"],
    "train rocchio": ["train", "sets.jsonl", "-m", "roc.arcrank", "--learner", "rocchio", "--json"],
    "train tree": ["train", "leaves.csv", "-m", "tree.arcrank", "--hierarchy", "tree.json", "--json"],
    "train numbers": ["train", "numbers.svmlight", "-m", "num.arcrank", "--validate", "0", "--json"],
    "train arcs": ["train", "arcs.jsonl", "-m", "arcs.arcrank", "--decomposition", "disagreement", "--json"],
    "train skip": ["train", "broken.jsonl", "-m", "skip.arcrank", "--on-error", "skip", "--json"],
    "tune": ["tune", "sets.jsonl", "--learner", "log-linear", "--cost", "1", "--cost", "10", "--json"],
    "rank": ["rank", "auto.arcrank", "more.jsonl"],
    "rank all explain": ["rank", "log.arcrank", "more.jsonl", "--top", "0", "--explain"],
    "rank numbers": ["rank", "num.arcrank", "numbers.svmlight", "--top", "2"],
    "explain": ["explain", "auto.arcrank", "--text", TEXT, "--json"],
    "explain pair": ["explain", "plm.arcrank", "--text", TEXT, "--above", "grain", "--below", "ship", "--json"],
    "evaluate sets": ["evaluate", "auto.arcrank", "more.jsonl", "--json"],
    "evaluate orders": ["evaluate", "log.arcrank", "orders.jsonl", "--json"],
    "evaluate arcs": ["evaluate", "arcs.arcrank", "arcs.jsonl", "--json"],
    "evaluate classes": ["evaluate", "per.arcrank", "classes.csv", "--json"],
    "update": ["update", "mmp.arcrank", "more.jsonl", "--json"],
    "leaderboard": ["leaderboard", "votes.csv", "--samples", "20", "--json"],
    "info": ["info", "auto.arcrank", "--json"],
    "info tree": ["info", "tree.arcrank", "--json"],
    "data list": ["data", "list", "--json"],
    "data path": ["data", "path", "rcv1", "--json"],
    "reproduce list": ["reproduce", "--list", "--json"],
}
"""Run in this order: later ones read the models of earlier ones."""

VOLATILE = {"seconds", "bytes", "path", "trained"}
"""Fields that differ from machine to machine or from run to run."""
PROSE = {"message", "remedy", "why", "cautions", "what", "title"}
"""Fields that hold sentences for people, which may be reworded."""


def stable(value: Any, field: str = "") -> Any:
    """The value without what may change: only the type of a volatile field or of a sentence is left."""
    if field in VOLATILE or (field in PROSE and isinstance(value, str)):
        return f"<{type(value).__name__}>"
    if isinstance(value, dict):
        return {name: stable(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [stable(one, field) for one in value]
    return value


def _texts(n: int, seed: int) -> list[tuple[str, list[str]]]:
    """Texts with the labels that their words were drawn from."""
    numbers = random.Random(seed)
    rows = []
    for _ in range(n):
        labels = sorted(numbers.sample(sorted(WORDS), numbers.randint(1, 2)))
        rows.append((" ".join(numbers.choice(WORDS[label]) for label in labels for _ in range(3)), labels))
    return rows


def _jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_inputs(folder: Path) -> None:
    """One small file for each kind of preference."""
    rows = _texts(60, seed=1)
    _jsonl(folder / "sets.jsonl", [{"id": f"d{i}", "text": t, "labels": s} for i, (t, s) in enumerate(rows)])
    _jsonl(folder / "more.jsonl", [{"id": f"m{i}", "text": t, "labels": s} for i, (t, s) in enumerate(_texts(20, 2))])
    others = [sorted(WORDS.keys() - set(labels)) for _, labels in rows]
    orders = [[*labels, *rest] for (_, labels), rest in zip(rows, others, strict=True)]
    _jsonl(folder / "orders.jsonl", [{"text": t, "ranking": o} for (t, _), o in zip(rows, orders, strict=True)])
    layers = [[[name] for name in labels] + [rest] for (_, labels), rest in zip(rows, others, strict=True)]
    _jsonl(folder / "layers.jsonl", [{"text": t, "layers": g} for (t, _), g in zip(rows, layers, strict=True)])
    arcs = [[[labels[0], rest[0]], [labels[0], rest[-1]]] for (_, labels), rest in zip(rows, others, strict=True)]
    _jsonl(folder / "arcs.jsonl", [{"text": t, "arcs": a} for (t, _), a in zip(rows, arcs, strict=True)])
    _jsonl(folder / "broken.jsonl", [{"text": t, "labels": s} for t, s in rows] + [{"text": 3, "labels": ["ship"]}])
    votes = "".join(
        f"{labels[0]},{rest[0]},judge {i % 3}\n" for i, ((_, labels), rest) in enumerate(zip(rows, others, strict=True))
    )
    (folder / "votes.csv").write_text("winner,loser,judge\n" + votes, encoding="utf-8")
    table = "".join(f"{text},{labels[0]}\n" for text, labels in rows)
    (folder / "classes.csv").write_text("text,label\n" + table, encoding="utf-8")
    (folder / "leaves.csv").write_text("text,label\n" + table, encoding="utf-8")
    (folder / "tree.json").write_text(json.dumps(TREE), encoding="utf-8")
    numbers = random.Random(3)
    lines = []
    for label in [0, 1, 2] * 15:
        features = {label + 1: 2.0, **{j: round(numbers.gauss(0, 1), 3) for j in range(4, 8)}}
        lines.append(f"{label} " + " ".join(f"{j}:{value}" for j, value in features.items()))
    (folder / "numbers.svmlight").write_text("\n".join(lines) + "\n", encoding="utf-8")


def parse(output: str) -> Any:
    """One JSON value, or one per line."""
    try:
        return json.loads(output)
    except json.JSONDecodeError:
        return [json.loads(line) for line in output.splitlines()]


def main() -> None:
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder))
        os.environ["ARCRANK_DATA"] = folder
        for name, arguments in COMMANDS.items():
            command = [sys.executable, "-m", "arcrank", *arguments]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode > 1:
                raise SystemExit(f"{name}: {done.stderr}")
            answers[name] = stable(parse(done.stdout))
    Path(sys.argv[1]).write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
