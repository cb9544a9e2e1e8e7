"""Commands are imported when they are called; the list of commands is the same as if all of them were."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
import typer

from arcrank import AverageRanker, LogLinearRanker, MMPRanker, RocchioRanker, make_ranking_pipeline, save
from arcrank.cli.app import COMMANDS, app
from arcrank.text import HashedTextFeatures, TextFeatures
from tests.modelfile.models import TEXTS, TOPICS

group = typer.main.get_command(app)


def modules_after(*arguments: str, stdin: str = "") -> set[str]:
    script = (
        f"import sys; sys.argv = ['arcrank', *{arguments}]; from arcrank.cli.app import app\n"
        "app(standalone_mode=False); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, input=stdin)
    return set(done.stderr.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_summaries_are_those_of_the_commands(name):
    command = group.commands[name]
    assert command.name == name
    assert " ".join(inspect.cleandoc(command.help).split("\n\n")[0].split()) == COMMANDS[name]


def test_an_unknown_name_is_no_command():
    assert group.commands.get("rnk") is None
    with pytest.raises(KeyError):
        group.commands["rnk"]


def test_help_imports_no_command():
    loaded = modules_after("--help")
    assert "arcrank.cli.app" in loaded
    assert not [name for name in loaded if name.startswith("arcrank.cli.commands.")]
    assert not loaded & {"numpy", "sklearn", "numba", "scipy"}


def test_a_command_imports_no_other():
    loaded = modules_after("train", "--help")
    assert [name for name in loaded if name.startswith("arcrank.cli.commands.")] == ["arcrank.cli.commands.train"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Files of a calibrated log-linear model, an average and an online model, all of texts."""
    folder = tmp_path_factory.mktemp("models")
    average = AverageRanker([("a", LogLinearRanker(C=2)), ("b", RocchioRanker())], cut_label=False)
    rankers = {"cut": LogLinearRanker(cut_label=True), "average": average, "online": MMPRanker()}
    for name, ranker in rankers.items():
        words = HashedTextFeatures(n_features=2**10) if name == "online" else TextFeatures(min_df=1)
        save(make_ranking_pipeline(words, ranker).fit(TEXTS * 3, TOPICS * 3), folder / name)
    return folder


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("cut", ["rank", "--explain"]),
        ("cut", ["explain", "--text", "oil"]),
        ("cut", ["info"]),
        ("average", ["rank"]),
        ("online", ["rank", "--explain"]),
    ],
    ids=str,
)
def test_linear_models_rank_without_estimators(models, name, command):
    loaded = modules_after(command[0], str(models / name), *command[1:], stdin="crude oil\n")
    assert f"arcrank.cli.commands.{command[0]}" in loaded
    assert not loaded & {"scipy", "sklearn", "numba", "pandas", "joblib", "matplotlib", "pyarrow"}


def test_features_are_ranked_without_estimators(tmp_path):
    save(LogLinearRanker().fit([[1, 0], [0, 1]] * 4, ["tea", "milk"] * 4), tmp_path / "model")
    loaded = modules_after("rank", str(tmp_path / "model"), "-", stdin="0:1 1:2\n")
    assert not loaded & {"sklearn", "numba", "pandas", "joblib"}
