"""Small models, and servers that run in a thread of this process or as a process."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import arcrank
from arcrank import LogLinearRanker, MMPRanker, OnlinePreferenceMachine, PerceptronRanker, make_ranking_pipeline
from arcrank.server.app import Application
from arcrank.server.run import Server, bind
from arcrank.server.settings import Limits, Settings
from arcrank.text import HashedTextFeatures, TextFeatures
from tests.cli.conftest import text_rows

TOKEN = "a-token-for-the-tests"
TEXT = "opec oil tanker in port"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Running:
    """A server on a free port of this machine."""

    def __init__(self, port: int, stop: Callable[[], None], application: Application | None = None) -> None:
        self.port = port
        self.stop = stop
        self.application = application

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if isinstance(body, bytes | type(None)) else json.dumps(body).encode()
        kind = {} if body is None else {"Content-Type": "application/json"}
        try:
            connection.request(method, path, data, {**kind, **headers})
            found = connection.getresponse()
            return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.request("POST", path, body, **headers)

    def write(self, path: str, body: Any) -> Any:
        """Send something with the token, which has to succeed."""
        answer = self.post(path, body, Authorization=f"Bearer {TOKEN}")
        assert answer.status == 200, answer
        return answer.json

    def ranking(self, model: str, text: str = TEXT) -> dict[str, Any]:
        answer = self.post(f"/v1/models/{model}/rank", {"text": text, "top": None})
        assert answer.status == 200, answer
        return answer.json["documents"][0]

    def connect(self, timeout: float = 10) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout)


def start(paths: list[Path], settings: Settings, **more: Any) -> Running:
    """Start a server in a thread."""
    application = Application(paths, settings, **more)
    listener = bind("127.0.0.1", 0)
    server = Server(application)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)

    def stop() -> None:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()

    port = listener.getsockname()[1]
    thread.start()
    while not server.started:
        time.sleep(0.005)
    return Running(port, stop, application)


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    return text_rows(60)


def _trained(rows: list[dict[str, Any]], model: Any, path: Path, **card: Any) -> Path:
    model.fit([row["text"] for row in rows], [frozenset(row["labels"]) for row in rows])
    arcrank.save(model, path, card=card)
    return path


@pytest.fixture(scope="session")
def models(tmp_path_factory, rows) -> dict[str, Path]:
    """Model files by what they are."""
    folder = tmp_path_factory.mktemp("served")
    words = HashedTextFeatures(n_features=512)
    tree = {"crude": "energy", "energy": None, "grain": "food", "food": None, "ship": None}
    ready = {
        "news": _trained(
            rows,
            make_ranking_pipeline(TextFeatures(min_df=1), LogLinearRanker(C=10, cut_label=True)),
            folder / "news.arcrank",
            hierarchy=tree,
        ),
        "live": _trained(
            rows,
            make_ranking_pipeline(words, MMPRanker(cut_label=True, calibration_folds=0)),
            folder / "live.arcrank",
        ),
        "plain": _trained(rows, make_ranking_pipeline(words, PerceptronRanker()), folder / "plain.arcrank"),
        "machine": _trained(
            rows,
            make_ranking_pipeline(words, OnlinePreferenceMachine(cut_label=True, calibration_folds=0)),
            folder / "machine.arcrank",
        ),
        "average": _trained(rows, make_ranking_pipeline(words, MMPRanker(average=True)), folder / "average.arcrank"),
    }
    numbers = LogLinearRanker().fit([[0, 1.0], [1, 0]] * 4, ["a", "b"] * 4)
    ready["numbers"] = folder / "numbers.arcrank"
    arcrank.save(numbers, ready["numbers"], card={"columns": {"kind": "named", "names": ["height", "width"]}})
    return ready


@pytest.fixture(scope="session")
def server(models) -> Iterator[Running]:
    """A server that only reads."""
    running = start([models["news"], models["numbers"], models["live"]], Settings())
    yield running
    running.stop()


@pytest.fixture
def serve(tmp_path, models) -> Iterator[Callable[..., Running]]:
    """Start servers of copies of models, which are stopped at the end; copies stay where they are between starts."""
    started: list[Running] = []

    def begin(*names: str, learning: bool = True, limits: Limits | None = None, **settings: Any) -> Running:
        for name in names:
            if not (tmp_path / f"{name}.arcrank").exists():
                shutil.copy(models[name], tmp_path)
        token = TOKEN if learning else None
        made = Settings(allow_learning=learning, token=token, limits=limits or Limits(), **settings)
        started.append(start([tmp_path / f"{name}.arcrank" for name in names], made))
        return started[-1]

    yield begin
    for running in started:
        running.stop()


@pytest.fixture
def process(tmp_path) -> Iterator[Callable[..., tuple[Running, subprocess.Popen[str]]]]:
    """Start `arcrank serve` as a process, and wait until it answers."""
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: object) -> tuple[Running, subprocess.Popen[str]]:
        (tmp_path / "token").write_text(TOKEN)
        with bind("127.0.0.1", 0) as free:
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "arcrank", "serve", *map(str, arguments), "--port", str(port)]
        child = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        started.append(child)
        running = Running(port, child.terminate)
        for _ in range(600):
            try:
                if running.get("/readyz").status == 200:
                    return running, child
            except OSError:
                assert child.poll() is None, child.communicate()
                time.sleep(0.1)
        raise TimeoutError

    yield begin
    for child in started:
        child.kill()
        child.wait()
        child.stderr.close()
