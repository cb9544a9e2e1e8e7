"""docs/maintainers/parts.md is followed to the letter: a new part in a copy of the package, used from the command."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.forked import run_python

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "maintainers" / "parts.md").read_text(encoding="utf-8")

FORMAT = '''
"""Lines `label | text`."""

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.gather import gathered
from arcrank.datasets.formats.lines import RowError


def blocks(lines, options):
    for rows in gathered(_rows(lines, options), lines, options):
        sets = [[label] if options.labelled else [] for label, _ in rows]
        labels = options.labels or sorted({label for label, _ in rows})
        texts = [text for _, text in rows]
        yield Corpus(
            labels=list(labels), texts=texts, label_sets=sets, source=lines.name, skipped=lines.take_skipped()
        )


def _rows(lines, options):
    for number, line in lines:
        label, bar, text = line.decode().strip().partition(" | ")
        if bar:
            yield label, text
        else:
            lines.fail(number, RowError("no bar", "a line is `label | text`"))
'''

RANKER = '''
"""Labels by their frequency."""

import numpy as np

from arcrank._validation import check_real
from arcrank.rankers.base import LinearRanker


class FrequencyRanker(LinearRanker):
    """Rank labels by how often they are relevant, whatever the document."""

    def __init__(self, smoothing=1.0, cut_label=False, cut_level=None, set_measure="micro_f1", calibration_folds=3):
        self.smoothing = smoothing
        self.cut_label = cut_label
        self.cut_level = cut_level
        self.set_measure = set_measure
        self.calibration_folds = calibration_folds

    def check_parameters(self):
        check_real("smoothing", self.smoothing, at_least=0)
        self._check_cut_parameters()

    def fit(self, X, y):
        self.check_parameters()
        X = self._check_features(X, reset=True)
        graphs = self._learn_labels(y, X.shape[0])
        weights = np.zeros((X.shape[1] + 1, graphs.n_labels))
        weights[-1] = np.log((graphs.levels() == 0).sum(axis=0) + self.smoothing)
        self._set_weights(weights, X.shape[1])
        self._calibrate_by_folds(X, graphs)
        return self
'''


def files_of(part: str) -> set[str]:
    """The files of the package that the page lists for a part."""
    section = PAGE.partition(f"## {part}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^- `(src/[\w./]+)`", section, flags=re.MULTILINE))


class Copy:
    """A copy of the package that keeps account of the files that are changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.changed: set[str] = set()
        package = ROOT / "src" / "arcrank"
        skip = shutil.ignore_patterns("__pycache__", "compiled")
        shutil.copytree(package, folder / "src" / "arcrank", ignore=skip)
        # the kernels that other tests compiled serve here too
        (folder / "src" / "arcrank" / "compiled").symlink_to(package / "compiled", target_is_directory=True)

    def insert(self, path: str, after: str, text: str) -> None:
        file = self.folder / path
        content = file.read_text(encoding="utf-8")
        assert content.count(after) == 1, f"{path}: {after!r} occurs {content.count(after)} times"
        file.write_text(content.replace(after, f"{after}{text}"), encoding="utf-8")
        self.changed.add(path)

    def create(self, path: str, text: str, listed_as: str) -> None:
        (self.folder / path).write_text(text.lstrip(), encoding="utf-8")
        self.changed.add(listed_as)

    def run(self, *arguments: str) -> str:
        environment = {"PYTHONPATH": str(self.folder / "src")}
        done = run_python("-m", "arcrank", *arguments, cwd=self.folder, environment=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def copy(tmp_path) -> Copy:
    made = Copy(tmp_path)
    rows = [("wheat harvest", "grain"), ("crude oil", "crude"), ("tanker port", "ship"), ("corn wheat", "grain")] * 5
    lines = "".join(json.dumps({"text": text, "labels": [label]}) + "\n" for text, label in rows)
    (tmp_path / "news.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "news.bars").write_text("".join(f"{label} | {text}\n" for text, label in rows), encoding="utf-8")
    return made


def first_label(copy: Copy, model: str) -> str:
    (copy.folder / "new.txt").write_text("wheat\n", encoding="utf-8")
    return json.loads(copy.run("rank", model, "new.txt"))["ranking"][0]


def test_a_decomposition(copy):
    copy.insert(
        "src/arcrank/decompositions.py",
        '    "dominated": DOMINATED,\n',
        '    "parity": Grouping("parity", lambda head, tail: (head + tail) % 2),\n',
    )
    copy.insert("src/arcrank/cli/options.py", '    IDENTITY = "identity"\n', '    PARITY = "parity"\n')
    assert copy.changed == files_of("A decomposition")
    options = ["--model", "m", "--learner", "log-linear", "--decomposition", "parity", "--json"]
    report = json.loads(copy.run("train", "news.jsonl", *options))
    assert report["parameters"]["decomposition"] == "parity"
    assert first_label(copy, "m") == "grain"


def test_a_file_format(copy):
    copy.create("src/arcrank/datasets/formats/bars.py", FORMAT, "src/arcrank/datasets/formats/NAME.py")
    request = "src/arcrank/datasets/request.py"
    copy.insert(request, '    "xc": "xc:blocks",\n', '    "bars": "bars:blocks",\n')
    copy.insert(request, "ENDINGS = {\n", '    ".bars": "bars",\n')
    copy.insert("src/arcrank/cli/options.py", '    XC = "xc"\n', '    BARS = "bars"\n')
    assert copy.changed == files_of("A file format")
    report = json.loads(copy.run("train", "news.bars", "--model", "m", "--learner", "rocchio", "--json"))
    assert (report["documents"], report["labels"]) == (20, 3)
    assert first_label(copy, "m") == "grain"
    assert copy.run("rank", "m", "news.bars", "--format", "bars").count("\n") == 20


def test_a_ranker(copy):
    copy.create("src/arcrank/rankers/frequency.py", RANKER, "src/arcrank/rankers/NAME.py")
    copy.insert("src/arcrank/__init__.py", "_HOME = {\n", '    "FrequencyRanker": "arcrank.rankers.frequency",\n')
    modelfile = "src/arcrank/modelfile"
    copy.insert(
        f"{modelfile}/registry.py",
        "PARTS: tuple[Part, ...] = (\n",
        '    _ranker("frequency", "rankers.frequency:FrequencyRanker", {**_LABELS, **_WEIGHTS, **_CALIBRATED}, '
        "_CALIBRATION),\n",
    )
    copy.insert(
        f"{modelfile}/parameters.py",
        '    "rocchio": _training("beta gamma"),\n',
        '    "frequency": {**_CUT, **_training("smoothing")},\n',
    )
    forms = "lambda *given: {**_rocchio(*given), **_CALIBRATED}"
    copy.insert(f"{modelfile}/learnt.py", '    "rocchio": _rocchio,\n', f'    "frequency": {forms},\n')
    relation = '    "log-linear": _check_calibrated,\n'
    copy.insert(f"{modelfile}/relations.py", relation, '    "frequency": _check_calibrated,\n')
    plan = "src/arcrank/training/plan.py"
    copy.insert(plan, '    PERCEPTRON = "perceptron"\n', '    FREQUENCY = "frequency"\n')
    copy.insert(plan, "CLASSES = {\n", '    Learner.FREQUENCY: "FrequencyRanker",\n')
    assert copy.changed == files_of("A ranker")
    given = ["--set", "smoothing=0.5", "--set", "cut_label=true"]
    options = ["--model", "m", "--learner", "frequency", *given, "--json"]
    assert json.loads(copy.run("train", "news.jsonl", *options))["parameters"]["smoothing"] == 0.5
    assert first_label(copy, "m") == "grain"
    evaluation = json.loads(copy.run("evaluate", "m", "news.jsonl", "--json"))
    assert evaluation["documents"] == 20
    assert evaluation["calibration"] is not None  # the file has the probabilities
