"""The experiments of the papers by name: thin, the runs are in `arcrank.experiments`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from arcrank.errors import ParameterError
from arcrank.experiments import amini_runs
from arcrank.experiments import paper_runs as runs
from arcrank.experiments.outcomes import Outcome

__all__ = ["EXPERIMENTS", "Experiment", "experiment", "run"]

DEKEL = "Dekel, Manning & Singer 2003"
CRAMMER = "Crammer & Singer 2002"
AIOLLI = "Aiolli & Sperduti 2004"
AMINI = "Amini, Truong & Goutte 2008"
OTHER_DATA = "The vectors at hand are another part of RCV1 than the paper's, so there is no verdict."


class Experiment(NamedTuple):
    """A table or figure: where it stands, the corpus it needs, how to tell its number of cells, and how to run it."""

    paper: str
    title: str
    corpus: str
    n_cells: Callable[[], int]
    run: Callable[[Outcome, Callable[[], None]], None]
    note: str = ""


def _are(n: int) -> Callable[[], int]:
    return lambda: n


EXPERIMENTS = {
    "dekel-figure-4": Experiment(
        DEKEL,
        "Figure 4: four losses by four errors, five folds",
        "rcv1",
        _are(120),
        runs.dekel_figure4,
        f"{OTHER_DATA} Rows are losses; words, all and counts are kinds of features, dual and boosting are solvers.",
    ),
    "aiolli-table-1": Experiment(
        AIOLLI,
        "Table 1: label mappings of the kernel preference machine",
        "reuters21578-top10",
        _are(4),
        runs.aiolli_table1,
    ),
    "crammer-table-1": Experiment(
        CRAMMER,
        "Table 1: losses on Reuters-21578, five folds",
        "reuters21578",
        _are(25),
        runs.crammer_table(1),
    ),
    "crammer-table-2": Experiment(
        CRAMMER,
        "Table 2: retrieval measures on Reuters-21578, five folds",
        "reuters21578",
        _are(25),
        runs.crammer_table(2),
    ),
    "crammer-table-3": Experiment(
        CRAMMER,
        "Table 3: losses on RCV1",
        "rcv1",
        _are(5),
        runs.crammer_table(3),
        OTHER_DATA,
    ),
    "crammer-table-4": Experiment(
        CRAMMER,
        "Table 4: retrieval measures on RCV1",
        "rcv1",
        _are(5),
        runs.crammer_table(4),
        OTHER_DATA,
    ),
    "crammer-figure-3": Experiment(
        CRAMMER,
        "Figure 3: how many topics a document has",
        "reuters21578",
        _are(2),
        runs.crammer_figure3,
    ),
    "crammer-figure-4": Experiment(
        CRAMMER,
        "Figure 4: losses while learning, Reuters-21578",
        "reuters21578",
        _are(25),
        runs.crammer_losses("Reuters-21578"),
    ),
    "crammer-figure-5": Experiment(
        CRAMMER,
        "Figure 5: losses while learning, RCV1",
        "rcv1",
        _are(5),
        runs.crammer_losses("RCV1"),
        OTHER_DATA,
    ),
    "crammer-figure-6": Experiment(
        CRAMMER,
        "Figure 6: precision by recall",
        "reuters21578",
        _are(30),
        runs.crammer_figure6,
    ),
    "amini-table-2": Experiment(
        AMINI,
        "Table 2: mAUP and mT9P with few labels",
        "reuters21578-first-topic",
        amini_runs.cells_of("table2"),
        amini_runs.table2,
        "OHSUMED stands below Reuters-21578 where its records are on this machine.",
    ),
    "amini-table-3": Experiment(
        AMINI,
        "Table 3: AUC of every topic",
        "reuters21578-first-topic",
        amini_runs.cells_of("table3"),
        amini_runs.table3,
    ),
    "amini-figure-1": Experiment(
        AMINI,
        "Figure 1: AUC on acq with fewer relevant documents",
        "reuters21578-first-topic",
        amini_runs.cells_of("figure1"),
        amini_runs.figure1,
    ),
    "amini-figure-2": Experiment(
        AMINI,
        "Figure 2: precision by recall, and mAUP by labelled documents",
        "reuters21578-first-topic",
        amini_runs.cells_of("figure2"),
        amini_runs.figure2,
    ),
    "amini-figure-3": Experiment(
        AMINI,
        "Figure 3: mAUP by the discount",
        "reuters21578-first-topic",
        amini_runs.cells_of("figure3"),
        amini_runs.figure3,
        "The paper's figure is on OHSUMED, this one on Reuters-21578.",
    ),
}


def experiment(name: str) -> Experiment:
    """The experiment of this name."""
    if name not in EXPERIMENTS:
        raise ParameterError(f"No experiment is called {name!r}.\nThere are: {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def run(name: str, tick: Callable[[], None]) -> Outcome:
    """Run an experiment, or read its finished cells; `tick` is called after every cell."""
    chosen, start = experiment(name), time.perf_counter()
    outcome = Outcome(name, chosen.title, chosen.note, chosen.paper)
    chosen.run(outcome, tick)
    outcome.seconds = time.perf_counter() - start
    return outcome
