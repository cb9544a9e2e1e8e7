"""Requests per second of `arcrank serve` beside Annif's own server, on the same texts of Reuters.

    python -m benchmarks.server_annif ANNIF_BIN [REQUESTS]

ANNIF_BIN is the folder of programs of an environment with Annif. Annif learns its tfidf backend from the
same training documents, with the analyzer `snowball(english)`, whose words need no data of NLTK; uvicorn serves it, as
its authors advise for production. Each server has one process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from arcrank.datasets import load_reuters21578
from benchmarks.server_load import Served, load, reuters_model
from benchmarks.timing import report

_PORT = 8766
_PROJECT = """[reuters]
name=Reuters
language=en
backend=tfidf
analyzer=snowball(english)
limit=100
vocab=topics
"""


def prepare(folder: Path, programs: Path) -> None:
    """Write a vocabulary and the training documents as Annif reads them, and train."""
    corpus = load_reuters21578()
    train = corpus.split("train")
    uris = {str(label): f"<http://example.org/{at}>" for at, label in enumerate(corpus.labels)}
    (folder / "projects.cfg").write_text(_PROJECT)
    (folder / "topics.tsv").write_text("".join(f"{uri}\t{label}\n" for label, uri in uris.items()))
    with (folder / "train.tsv").open("w") as file:
        for text, labels in zip(train.texts, train.label_sets, strict=True):
            file.write(f"{' '.join(text.split())}\t{' '.join(uris[str(label)] for label in labels)}\n")
    for arguments in (["load-vocab", "topics", "topics.tsv", "--language", "en"], ["train", "reuters", "train.tsv"]):
        subprocess.run([programs / "annif", *arguments], cwd=folder, check=True, capture_output=True)


class AnnifServer:
    """Annif as a process."""

    def __init__(self, folder: Path, programs: Path) -> None:
        command = [programs / "uvicorn", "annif:create_app", "--factory", "--port", str(_PORT), "--log-level", "error"]
        self.process = subprocess.Popen(command, cwd=folder)
        for _ in range(1200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{_PORT}/v1/projects", timeout=30).close()
                return
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise TimeoutError

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def cpu_seconds(process: Any) -> float:
    """What a server has used; on a busy machine it says more than requests per second."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(
    name: str, process: Any, port: int, route: str, texts: list[str], requests: int, *, form: bool
) -> dict[str, Any]:
    load(port, route, texts, 8, 50, form=form)
    found: dict[str, Any] = {}
    for connections in (1, 8):
        start = cpu_seconds(process)
        found = load(port, route, texts, connections, requests, form=form)
        found["cpu_ms"] = 1e3 * (cpu_seconds(process) - start) / requests
        print(
            f"{name}, {connections} connections: {found['per_second']:,.0f} requests/s, p50 {found['p50_ms']:.1f} ms, "
            f"p99 {found['p99_ms']:.1f} ms, {found['cpu_ms']:.2f} ms of CPU time per request, {found['errors']} errors",
            flush=True,
        )
    return found


def main() -> None:
    if len(sys.argv) < 2:
        print("Give the folder of programs of an environment with Annif: python -m benchmarks.server_annif ANNIF_BIN")
        return
    programs = Path(sys.argv[1]).resolve()
    requests = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    path, texts = reuters_model()
    served = Served(str(path))
    try:
        ours = measured(
            "arcrank", served.process, served.port, f"/v1/models/{path.stem}/rank", texts, requests, form=False
        )
    finally:
        served.stop()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder), programs)
        annif = AnnifServer(Path(folder), programs)
        try:
            theirs = measured(
                "Annif", annif.process, _PORT, "/v1/projects/reuters/suggest", texts, requests // 4, form=True
            )
        finally:
            annif.stop()
    report(
        "CPU time per request at 8 connections, Annif's divided by ours",
        theirs["cpu_ms"] / ours["cpu_ms"],
        5,
        at_least=True,
    )
    report("requests/s at 8 connections, times Annif's", ours["per_second"] / theirs["per_second"], 5, at_least=True)


if __name__ == "__main__":
    main()
