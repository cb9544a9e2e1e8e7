"""`arcrank warmup`: compile the kernels before they are needed, for container images and CI."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from arcrank.cli.console import say


def warmup(
    processes: Annotated[
        int | None, typer.Option(min=1, help="How many processes compile (default: one per core).", show_default=False)
    ] = None,
) -> None:
    """Compile the learners' kernels for this machine, so that no later command has to.

    Kernels that are compiled already are not compiled again. They are stored beside the installed package or, if
    NUMBA_CACHE_DIR is set, in that folder.
    """
    from arcrank.training.warmup import GROUPS, warm_up

    start = time.perf_counter()
    say(f"Compiling the kernels of {len(GROUPS)} groups of learners, once on this machine ...")
    for name in warm_up(processes):
        say(f"  {name}: ready after {time.perf_counter() - start:.0f} s")
