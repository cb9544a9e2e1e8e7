"""The experiments of the papers by name. A paper's module imports NumPy, so it is imported when one of them runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from arcrank.errors import ParameterError
from arcrank.experiments.outcomes import Outcome
from arcrank.experiments.progress import Tick

__all__ = ["EXPERIMENTS", "Experiment", "experiment", "run"]

DEKEL = "Dekel, Manning & Singer 2003"
CRAMMER = "Crammer & Singer 2002"
AIOLLI = "Aiolli & Sperduti 2004"
AMINI = "Amini, Truong & Goutte 2008"
OTHER_DATA = "The available vectors are a different part of RCV1 from the paper's, so there is no verdict."


class Experiment(NamedTuple):
    """A table or figure of a paper.

    Attributes
    ----------
    paper, title : str
        The paper, and the table or figure in it.
    corpus : str
        The corpus it needs, as `arcrank data list` names it.
    size : int or callable
        The number of cells, or a function that returns it.
    run : callable
        Adds values and plots to an outcome, and calls a function after every cell.
    note : str
        How the experiment differs from the paper.
    """

    paper: str
    title: str
    corpus: str
    size: int | Callable[[], int]
    run: Callable[[Outcome, Tick], None]
    note: str = ""

    def n_cells(self) -> int:
        """Return the number of cells."""
        return self.size if isinstance(self.size, int) else self.size()


def _deferred(path: str, *first: Any) -> Callable[..., Any]:
    """Return a function that imports `module:function` of this package and calls it with these first arguments."""
    module, _, name = path.partition(":")

    def call(*rest: Any) -> Any:
        return getattr(import_module(f"arcrank.experiments.{module}"), name)(*first, *rest)

    return call


EXPERIMENTS = {
    "dekel-figure-4": Experiment(
        DEKEL,
        "Figure 4: four losses by four errors, five folds",
        "rcv1",
        120,
        _deferred("dekel2003:figure4"),
        "The available vectors are a different part of RCV1 from the paper's: verdicts compare errors on different "
        "documents. Rows are losses. Words, all and counts are kinds of features; boosting is the paper's algorithm, "
        "dual is another solver.",
    ),
    "aiolli-table-1": Experiment(
        AIOLLI,
        "Table 1: label mappings of the kernel preference machine",
        "reuters21578-top10",
        5,
        _deferred("aiolli2004:table1"),
        "The published MMP is the best one of Crammer & Singer's experiments: loss 1, one pass. The second row of MMP "
        "is not in the paper, so it has no verdict. Ties count as errors.",
    ),
    "crammer-table-1": Experiment(
        CRAMMER,
        "Table 1: losses on Reuters-21578, five folds",
        "reuters21578",
        25,
        _deferred("crammer2002:table", 1),
    ),
    "crammer-table-2": Experiment(
        CRAMMER,
        "Table 2: retrieval measures on Reuters-21578, five folds",
        "reuters21578",
        25,
        _deferred("crammer2002:table", 2),
    ),
    "crammer-table-3": Experiment(
        CRAMMER,
        "Table 3: losses on RCV1",
        "rcv1",
        5,
        _deferred("crammer2002:table", 3),
        OTHER_DATA,
    ),
    "crammer-table-4": Experiment(
        CRAMMER,
        "Table 4: retrieval measures on RCV1",
        "rcv1",
        5,
        _deferred("crammer2002:table", 4),
        OTHER_DATA,
    ),
    "crammer-figure-3": Experiment(
        CRAMMER,
        "Figure 3: number of topics per document",
        "reuters21578",
        2,
        _deferred("crammer2002:figure3"),
    ),
    "crammer-figure-4": Experiment(
        CRAMMER,
        "Figure 4: losses while learning, Reuters-21578",
        "reuters21578",
        25,
        _deferred("crammer2002:losses", "Reuters-21578"),
    ),
    "crammer-figure-5": Experiment(
        CRAMMER,
        "Figure 5: losses while learning, RCV1",
        "rcv1",
        5,
        _deferred("crammer2002:losses", "RCV1"),
        OTHER_DATA,
    ),
    "crammer-figure-6": Experiment(
        CRAMMER,
        "Figure 6: precision by recall",
        "reuters21578",
        30,
        _deferred("crammer2002:figure6"),
    ),
    "amini-table-2": Experiment(
        AMINI,
        "Table 2: mAUP and mT9P with few labels",
        "reuters21578-first-topic",
        _deferred("amini2008:count_cells", "table2"),
        _deferred("amini2008:table2"),
        "OHSUMED is shown below Reuters-21578 if its records are on this machine.",
    ),
    "amini-table-3": Experiment(
        AMINI,
        "Table 3: AUC of every topic",
        "reuters21578-first-topic",
        _deferred("amini2008:count_cells", "table3"),
        _deferred("amini2008:table3"),
    ),
    "amini-figure-1": Experiment(
        AMINI,
        "Figure 1: AUC on acq with fewer relevant documents",
        "reuters21578-first-topic",
        _deferred("amini2008:count_cells", "figure1"),
        _deferred("amini2008:figure1"),
    ),
    "amini-figure-2": Experiment(
        AMINI,
        "Figure 2: precision by recall, and mAUP by labelled documents",
        "reuters21578-first-topic",
        _deferred("amini2008:count_cells", "figure2"),
        _deferred("amini2008:figure2"),
    ),
    "amini-figure-3": Experiment(
        AMINI,
        "Figure 3: mAUP by the discount",
        "reuters21578-first-topic",
        _deferred("amini2008:count_cells", "figure3"),
        _deferred("amini2008:figure3"),
        "The paper's figure is on OHSUMED, this one on Reuters-21578.",
    ),
}


def experiment(name: str) -> Experiment:
    """Return the experiment with this name."""
    if name not in EXPERIMENTS:
        raise ParameterError(f"There is no experiment {name!r}.\nChoose from: {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]


def run(name: str, tick: Tick) -> Outcome:
    """Run an experiment, or read its stored cells; `tick` is called after every cell."""
    chosen, start = experiment(name), time.perf_counter()
    outcome = Outcome(name, chosen.title, chosen.note, chosen.paper)
    chosen.run(outcome, tick)
    outcome.seconds = time.perf_counter() - start
    return outcome
