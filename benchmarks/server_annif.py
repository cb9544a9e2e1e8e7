"""Requests per second of `arcrank serve` beside Annif's own server, on the same texts of Reuters.

    python -m benchmarks.server_annif ANNIF_BIN [REQUESTS]

ANNIF_BIN is the folder of programs of an environment with Annif. Annif learns its tfidf backend from the
same training documents, with the analyzer `snowball(english)`; uvicorn serves it, as its authors advise for production.
Each server has one process. The analyzer splits sentences by data that NLTK downloads; since nothing is downloaded
here, NLTK learns this data from 1,000 of the training documents.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from arcrank.datasets import load_reuters21578
from benchmarks.server_load import Served, describe, load, measured, reuters_model
from benchmarks.timing import report

_PORT = 8766
_ROUNDS = 3
_PROJECT = """[reuters]
name=Reuters
language=en
backend=tfidf
analyzer=snowball(english)
limit=100
vocab=topics
"""


_SENTENCES = """
import os
from nltk.tokenize.punkt import PunktTrainer, save_punkt_params
trainer = PunktTrainer()
trainer.train(open("texts").read())
os.makedirs("nltk/tokenizers/punkt_tab/english")
save_punkt_params(trainer.get_params(), "nltk/tokenizers/punkt_tab/english")
"""


def environment(folder: Path) -> dict[str, str]:
    """The variables of Annif's programs: its data is in the folder, and PYTHONPATH of the caller is not its own."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, "NLTK_DATA": str(folder / "nltk")}


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
    (folder / "texts").write_text("\n".join(train.texts[:1000]))
    subprocess.run([programs / "python", "-c", _SENTENCES], cwd=folder, check=True)
    for arguments in (["load-vocab", "topics", "topics.tsv", "--language", "en"], ["train", "reuters", "train.tsv"]):
        subprocess.run([programs / "annif", *arguments], cwd=folder, env=environment(folder), check=True)


class Target(NamedTuple):
    """A server to load."""

    process: Any
    port: int
    route: str


class AnnifServer:
    """Annif as a process."""

    def __init__(self, folder: Path, programs: Path) -> None:
        command = [programs / "uvicorn", "annif:create_app", "--factory", "--port", str(_PORT), "--log-level", "error"]
        self.process = subprocess.Popen(command, cwd=folder, env=environment(folder))
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


def rounds(ours: Target, theirs: Target, texts: list[str], requests: int) -> None:
    """Load both servers in turn, so that what else the machine does meets both; the ratios are medians."""
    for target, form in ((ours, False), (theirs, True)):
        load(target.port, target.route, texts, 8, 200, form=form)
    for connections in (1, 8, 64):
        found: list[tuple[dict[str, Any], dict[str, Any]]] = []
        for _ in range(_ROUNDS):
            us = measured(*ours, texts, connections, requests // _ROUNDS)
            them = measured(*theirs, texts, connections, requests // _ROUNDS // 4, form=True)
            found.append((us, them))
            print(f"arcrank, {connections} connections: {describe(us)}")
            print(f"Annif, {connections} connections: {describe(them)}", flush=True)
        name = f"{connections} connection{'s' if connections > 1 else ''}"
        cpu = median(them["cpu_ms"] / us["cpu_ms"] for us, them in found)
        report(f"{name}: CPU time, Annif's by ours", cpu, 5, at_least=True)
        speed = median(us["per_second"] / them["per_second"] for us, them in found)
        report(f"{name}: requests/s, times Annif's", speed, 5, at_least=True)


def main() -> None:
    if len(sys.argv) < 2:
        print("Give the folder of programs of an environment with Annif: python -m benchmarks.server_annif ANNIF_BIN")
        return
    programs = Path(sys.argv[1]).resolve()
    requests = int(sys.argv[2]) if len(sys.argv) > 2 else 6000
    path, texts = reuters_model()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder), programs)
        with ExitStack() as stack:
            served = Served(str(path))
            stack.callback(served.stop)
            annif = AnnifServer(Path(folder), programs)
            stack.callback(annif.stop)
            ours = Target(served.process, served.port, f"/v1/models/{path.stem}/rank")
            rounds(ours, Target(annif.process, _PORT, "/v1/projects/reuters/suggest"), texts, requests)


if __name__ == "__main__":
    main()
