"""Kill a server that learns, again and again, and exchange its model file under load: nothing may be lost or fail.

`python -m benchmarks.server_durability [KILLS] [SWAPS]`
"""

from __future__ import annotations

import http.client
import json
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import arcrank
from arcrank import MMPRanker, PerceptronRanker, make_ranking_pipeline
from arcrank.datasets.journal import read_journal
from arcrank.text import HashedTextFeatures
from benchmarks.server_load import Served

TOKEN = "a-token-for-benchmarks"
LABELS = ["crude", "grain", "ship"]


def model_file(path: Path, ranker: object) -> Path:
    model = make_ranking_pipeline(HashedTextFeatures(n_features=512), ranker)
    model.fit(["oil opec", "wheat corn", "port tanker"] * 10, [frozenset([label]) for label in LABELS] * 10)
    arcrank.save(model, path)
    return path


def post(port: int, path: str, body: object) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def teach(port: int, name: str, acknowledged: list[str], stop: threading.Event) -> None:
    """Send preferences, and a few requests to save, until the server is gone."""
    while not stop.is_set():
        id = f"{name}-{len(acknowledged)}-{random.random()}"
        try:
            status, _ = post(
                port, "/v1/models/m/feedback", {"id": id, "text": "oil port", "arcs": [["grain", "crude"]]}
            )
            if status == 200:
                acknowledged.append(id)
            if random.random() < 0.05:
                post(port, "/v1/models/m/learn", {})
        except (OSError, http.client.HTTPException):
            return


def kills(folder: Path, times: int) -> None:
    path = model_file(folder / "m.arcrank", MMPRanker(cut_label=True, calibration_folds=0))
    (folder / "token").write_text(TOKEN)
    acknowledged: list[str] = []
    for n in range(times):
        served = Served(str(path), "--allow-learning", "--token-file", str(folder / "token"), port=8766)
        found = [[] for _ in range(4)]
        stop = threading.Event()
        threads = [threading.Thread(target=teach, args=(8766, f"{n}-{t}", found[t], stop)) for t in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(random.uniform(0.3, 1.0))
        served.process.kill()
        served.process.wait()
        stop.set()
        for thread in threads:
            thread.join()
        acknowledged += [id for one in found for id in one]
        entries = read_journal(folder / "m.feedback.jsonl").entries
        assert set(acknowledged) <= set(entries), "an acknowledged preference was lost"
        arcrank.load(path)
    served = Served(str(path), "--allow-learning", "--token-file", str(folder / "token"), port=8766)
    for id in random.sample(acknowledged, min(50, len(acknowledged))):
        body = {"id": id, "text": "oil port", "arcs": [["grain", "crude"]]}
        assert json.loads(post(8766, "/v1/models/m/feedback", body)[1])["state"] == "repeated"
    served.stop()
    print(
        f"{times} kills: all of {len(acknowledged):,} acknowledged preferences are there, and the model loads",
        flush=True,
    )


def swap_count(served: Served, result: str) -> int:
    """How many model files the server has taken up, or refused."""
    name = f'arcrank_model_swaps_total{{model="s",result="{result}"}} '
    lines = served.get("/metrics").decode().splitlines()
    return int(next(line.removeprefix(name) for line in lines if line.startswith(name)))


def swap(served: Served, path: Path, content: bytes, result: str) -> None:
    """Replace the model file, and wait until the server has taken it up or refused it."""
    before = swap_count(served, result)
    new = path.with_name("new")
    new.write_bytes(content)
    new.replace(path)
    served.process.send_signal(signal.SIGHUP)
    end = time.perf_counter() + 60
    while swap_count(served, result) == before:
        assert time.perf_counter() < end, f"the file was not {result}"
        time.sleep(0.01)


def swaps(folder: Path, times: int) -> None:
    good = [model_file(folder / "a", MMPRanker()), model_file(folder / "b", PerceptronRanker())]
    path = Path(shutil.copy(good[0], folder / "s.arcrank"))
    served = Served(str(path), port=8767)
    statuses: list[int] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                statuses.append(post(8767, "/v1/models/s/rank", {"text": "oil"})[0])
            except (OSError, http.client.HTTPException):
                statuses.append(0)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for n in range(times):
            if n % 2:
                swap(served, path, good[(n // 2 + 1) % 2].read_bytes(), "taken")
            else:
                swap(served, path, [b"bad" * n, good[0].read_bytes()[:-n]][n // 2 % 2], "refused")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        taken, refused = swap_count(served, "taken"), swap_count(served, "refused")
        served.stop()
    failed = sum(status != 200 for status in statuses)
    print(
        f"{times} files exchanged, {taken} taken up and {refused} refused: "
        f"{failed} of {len(statuses):,} requests failed",
        flush=True,
    )
    assert not failed


def main() -> None:
    n_kills, n_swaps = (int(one) for one in (*sys.argv[1:], "50", "200")[:2])
    with tempfile.TemporaryDirectory() as folder:
        kills(Path(folder), n_kills)
        swaps(Path(folder), n_swaps)


if __name__ == "__main__":
    main()
