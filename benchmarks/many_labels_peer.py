"""One of the peers of `benchmarks.many_labels`, run by the Python of its own environment: it does not import arcrank.

    PYTHON benchmarks/many_labels_peer.py PEER FOLDER

FOLDER has train.npz, labels.npz and dev.npz, which `benchmarks.many_labels peers` writes; the first five labels of each
document go to top.npy, and the figures are printed as one line of JSON.
"""

from __future__ import annotations

import json
import pickle
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

TOP = 5
Fitted = tuple[Callable[[Any], Any], Callable[[], float]]
"""From rows of features to the first labels of each, and the size of the stored model in bytes."""
Fit = Callable[[Any, Any], Fitted]


def cpu_seconds() -> float:
    """Of this process, its threads and the processes that it has waited for."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def omikuji(settings: dict[str, Any]) -> Fit:
    """Omikuji, with 3 trees as by default; it reads a file."""
    import omikuji as package

    def fit(X: Any, Y: Any) -> Fitted:
        hyper = package.Model.default_hyper_param()
        for name, value in settings.items():
            setattr(hyper, name, value)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "train.txt"
            write_xmc(path, X, Y)
            model = package.Model.train_on_data(str(path), hyper, n_threads=2)

        def rank(rows: Any) -> Any:
            found = []
            for start, end in zip(rows.indptr, rows.indptr[1:], strict=False):
                row = zip(rows.indices[start:end].tolist(), rows.data[start:end].tolist(), strict=True)
                found.append([label for label, _ in model.predict(list(row), top_k=TOP)])
            return found

        def size() -> float:
            with tempfile.TemporaryDirectory() as folder:
                model.save(folder)
                return folder_bytes(folder)

        return rank, size

    return fit


def folder_bytes(folder: str) -> float:
    return float(sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()))


def write_xmc(path: Path, X: Any, Y: Any) -> None:
    """Write the format of the extreme classification repository."""
    with path.open("w") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        for row in range(X.shape[0]):
            labels = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]]))
            cells = slice(X.indptr[row], X.indptr[row + 1])
            values = " ".join(f"{j}:{v:.6g}" for j, v in zip(X.indices[cells], X.data[cells], strict=True))
            file.write(f"{labels} {values}\n")


def napkin_plt(X: Any, Y: Any) -> Fitted:
    """Probabilistic label trees of napkinXC, with its defaults."""
    from napkinxc.models import PLT

    stored = tempfile.TemporaryDirectory()  # the functions keep it, and it is removed with them
    model = PLT(stored.name, threads=2)
    model.fit(X, [Y.indices[a:b].tolist() for a, b in zip(Y.indptr, Y.indptr[1:], strict=False)])
    return lambda rows: model.predict(rows, top_k=TOP), lambda: folder_bytes(stored.name)


def libmultilabel_tree(X: Any, Y: Any) -> Fitted:
    """The tree of LibMultiLabel's linear models, with its defaults."""
    from libmultilabel import linear

    model = linear.train_tree(Y.astype(np.float64), X.astype(np.float64), "")

    def rank(rows: Any) -> Any:
        blocks = (rows[start : start + 500] for start in range(0, rows.shape[0], 500))
        return np.vstack([np.argsort(-linear.predict_values(model, block), axis=1)[:, :TOP] for block in blocks])

    return rank, lambda: float(len(pickle.dumps(model)))


PEERS: dict[str, Callable[[], Fit]] = {
    "omikuji-parabel": lambda: omikuji({}),
    "omikuji-bonsai": lambda: omikuji({"cluster_balanced": False, "cluster_k": 100, "max_depth": 3}),
    "napkinxc-plt": lambda: napkin_plt,
    "libmultilabel-tree": lambda: libmultilabel_tree,
}


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    X, Y, X_dev = (sp.load_npz(folder / f"{part}.npz").tocsr() for part in ("train", "labels", "dev"))
    fit = PEERS[name]()
    cpu, wall = cpu_seconds(), time.perf_counter()
    rank, size = fit(X, Y)
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    start = cpu_seconds()
    found = rank(X_dev)
    speed = X_dev.shape[0] / (cpu_seconds() - start)
    top = np.array([[*row, *[-1] * TOP][:TOP] for row in found], dtype=np.int64)
    np.save(folder / "top.npy", top)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1e6
    figures = {"fit_cpu_s": cpu, "fit_wall_s": wall, "documents_per_s": speed, "peak_gb": peak}
    print(json.dumps({**figures, "model_mb": size() / 1e6}))


if __name__ == "__main__":
    main()
