"""`arcrank serve` as a process: signals, model files that change, several workers, and sudden death."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from arcrank.datasets.journal import read_journal
from arcrank.server.run import Server
from arcrank.server.served_model import ServedModel, file_checksum
from arcrank.server.settings import Settings
from arcrank.server.store import Slot
from tests.server.conftest import TEXT, TOKEN, start

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
LIVE = "/v1/models/live"


@pytest.fixture
def stack():
    with ExitStack() as opened:
        yield opened


def until(condition, seconds=20):
    end = time.perf_counter() + seconds
    while not condition():
        assert time.perf_counter() < end
        time.sleep(0.02)


@pytest.mark.slow
def test_a_process_reads_models_again_and_ends_in_time_beside_a_stalled_client(process, models, tmp_path, stack):
    path = shutil.copy(models["news"], tmp_path / "news.arcrank")
    running, child = process(path, "--grace", "2", "--allow-learning", "--token-file", tmp_path / "token")
    running.ranking("news", "a secret text")
    shutil.copy(models["plain"], tmp_path / "new")
    (tmp_path / "new").replace(path)
    child.send_signal(signal.SIGHUP)
    until(lambda: running.get("/v1/models/news").json["learner"] == "perceptron")
    stalled = stack.enter_context(running.connect())
    stalled.sendall(b"POST /v1/models/news/rank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
    began = time.perf_counter()
    child.send_signal(signal.SIGTERM)
    assert child.wait(20) == 0
    assert time.perf_counter() - began < 8  # 2 s on a quiet machine; the client would be waited for 10 s
    said = child.stderr.read()
    assert (
        f"""curl -H 'Content-Type: application/json' -d '{{"text": "..."}}' {running.address}/v1/models/news/rank"""
        in said
    )
    assert f"{running.address}/openapi.json" in said
    assert "Traceback" not in said
    assert TOKEN not in said
    assert "secret" not in said


def test_a_server_that_only_reads_starts_without_scikit_learn_and_numba(models):
    code = (
        "import sys; from pathlib import Path; from arcrank.server.app import Application; "
        "from arcrank.server.settings import Settings; Application([Path(sys.argv[1])], Settings()); "
        "print({'sklearn', 'numba', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, models["news"]], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(process, models, tmp_path):
    model = shutil.copy(models["live"], tmp_path / "live.arcrank")
    options = (model, "--allow-learning", "--token-file", tmp_path / "token")
    running, child = process(*options)
    acknowledged = []
    for n in range(12):
        body = {"id": f"a{n}", "text": TEXT, "arcs": [["grain", "crude"]]}
        running.write(f"{LIVE}/feedback", body)
        acknowledged.append(body["id"])
        if n == 7:
            running.write(f"{LIVE}/learn", {})
    learnt = running.ranking("live")
    child.kill()
    child.wait()
    assert list(read_journal(tmp_path / "live.feedback.jsonl").entries) == acknowledged
    again, child = process(*options)
    assert again.ranking("live") == learnt
    assert again.get(LIVE).json["learnt"] == 4
    child.send_signal(signal.SIGHUP)
    assert again.ranking("live") == learnt


@pytest.mark.slow
def test_one_of_several_processes_learns(process, models, tmp_path):
    model = shutil.copy(models["live"], tmp_path / "live.arcrank")
    running, child = process(model, "--allow-learning", "--token-file", tmp_path / "token", "--workers", "2")
    until(lambda: _pids(running, 12) == 2)
    for n in range(8):
        answer = running.write(f"{LIVE}/feedback", {"id": f"a{n}", "text": TEXT, "arcs": [["grain", "crude"]]})
        assert answer["state"] == "learnt"
    assert running.write(f"{LIVE}/undo", {"id": "a0"})["state"] == "retracted"
    saved = running.write(f"{LIVE}/learn", {})
    # all processes take up what one has learnt
    until(lambda: {running.get(LIVE).json["checksum"] for _ in range(8)} == {saved["checksum"]})
    child.send_signal(signal.SIGTERM)
    assert child.wait(20) == 0
    assert len(read_journal(tmp_path / "live.feedback.jsonl").live()) == 7


def _pids(running, n):
    """How many processes answer."""
    lines = [line for _ in range(n) for line in running.get("/metrics").body.decode().splitlines()]
    return len({line.split('"')[1] for line in lines if line.startswith("process_resident")})


def test_a_changed_file_is_taken_up_and_a_bad_one_is_not(tmp_path, models):
    path = shutil.copy(models["news"], tmp_path / "news.arcrank")
    running = start([path], Settings(watch=0.02))
    slot = running.application.store["news"]
    first = running.get("/v1/models/news").json["checksum"]

    def replace(content):
        (tmp_path / "new").write_bytes(content)
        (tmp_path / "new").replace(path)

    good, other = models["news"].read_bytes(), models["plain"].read_bytes()
    try:
        for n, bad in enumerate([b"", b"no model", good[:-1], good[:1000], other[:-8] + b"\0" * 8]):
            replace(bad)
            until(lambda: slot.refused == n + 1)  # noqa: B023
            assert running.ranking("news")["ranking"]
            assert running.get("/v1/models/news").json["checksum"] == first
        replace(other)
        until(lambda: slot.swaps == 1)
        assert running.get("/v1/models/news").json["learner"] == "perceptron"
        path.unlink()
        time.sleep(0.1)
        assert running.ranking("news")["ranking"]
    finally:
        running.stop()


def test_the_newest_file_wins_when_two_follow_at_once(tmp_path, models, monkeypatch):
    path = Path(shutil.copy(models["news"], tmp_path / "news.arcrank"))
    slot = Slot("news", path, Settings(), writes=False)
    is_read, read = threading.Event(), ServedModel.read

    def slow_at_first(*given):
        found = read(*given)
        if not is_read.is_set():
            is_read.set()
            time.sleep(0.3)
        return found

    async def scenario():
        shutil.copy(models["plain"], path)
        watcher = asyncio.create_task(slot.reload_if_changed())
        await asyncio.get_running_loop().run_in_executor(None, is_read.wait, 20)
        shutil.copy(models["average"], tmp_path / "new")
        (tmp_path / "new").replace(path)
        await asyncio.gather(slot.reload_if_changed(force=True), watcher)

    monkeypatch.setattr(ServedModel, "read", slow_at_first)
    asyncio.run(scenario())
    slot.close()
    assert (slot.model.checksum, slot.swaps, slot.refused) == (file_checksum(path), 2, 0)


def test_a_process_that_does_not_learn_forwards(tmp_path, models):
    """Two applications of one machine, as two processes have them."""
    path = shutil.copy(models["live"], tmp_path / "live.arcrank")
    settings, socket = Settings(allow_learning=True, token=TOKEN, watch=0.02), tmp_path / "socket"
    other = start([path], settings, socket=socket, writes=False)
    body = {"id": "a", "text": TEXT, "arcs": [["grain", "crude"]]}
    refused = other.post(f"{LIVE}/feedback", body, Authorization=f"Bearer {TOKEN}")
    assert (refused.status, refused.headers["retry-after"]) == (503, "2")
    writer = start([path], settings, socket=socket)
    try:
        assert other.write(f"{LIVE}/feedback", body)["state"] == "learnt"
        assert writer.write(f"{LIVE}/feedback", body)["state"] == "repeated"
        unknown = other.post(f"{LIVE}/undo", {"id": "b"}, Authorization=f"Bearer {TOKEN}")
        assert (unknown.status, "no preference with this id" in unknown.json["detail"]) == (404, True)
        saved = other.write(f"{LIVE}/learn", {})
        until(lambda: other.get(LIVE).json["checksum"] == saved["checksum"])
        assert other.ranking("live")["ranking"] == writer.ranking("live")["ranking"]
    finally:
        other.stop()
        writer.stop()


def test_requests_that_are_being_answered_are_finished(serve):
    running = serve("news", learning=False)
    body = {"texts": ["oil tanker " * 2000] * 30}
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(running.post, "/v1/models/news/rank", body)
        until(lambda: running.application.metrics.in_flight)
        running.stop()
        assert answer.result().status == 200


def test_readiness_ends_before_the_server_does(server):
    server.application.routes.is_stopping = True
    try:
        answer = server.get("/readyz")
        assert (answer.status, answer.headers["retry-after"]) == (503, "5")
        assert server.get("/livez").status == 200
    finally:
        server.application.routes.is_stopping = False


def test_a_signal_ends_readiness_at_once_and_the_process_when_its_time_is_over(server, monkeypatch):
    ends = []

    class Timer:
        def __init__(self, seconds, function, arguments):
            ends.append((seconds, function, arguments))

        def start(self):
            pass

    monkeypatch.setattr(threading, "Timer", Timer)
    stopping = Server(server.application)
    try:
        stopping.handle_exit(signal.SIGTERM, None)
        assert server.application.routes.is_stopping
        assert stopping.should_exit
        assert ends == [(10.0, os._exit, [0])]
    finally:
        server.application.routes.is_stopping = False
