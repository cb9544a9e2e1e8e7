"""Settings and fixtures of the whole suite. Corpora are parsed once a session, into a cache that is not the user's."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from arcrank.datasets import Corpus
from arcrank.errors import MissingDataError

settings.register_profile("default", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# CI sees the same examples every time, so a red gate can be repeated.
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# A shell starts jobs in the background with interrupts ignored, and so would the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TRACED_EXAMPLES = 15


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Measure coverage on the first examples of a hypothesis test only.

    The others run the same lines again, and hypothesis and the oracles take half as long again while they are traced.
    """
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    coverage = sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None
    if handle is None or coverage is None:
        return (yield)
    test, n_examples = handle.inner_test, 0

    @wraps(test)
    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal n_examples
        n_examples += 1
        if n_examples == TRACED_EXAMPLES:
            coverage.stop()
        return test(*arguments, **named)

    handle.inner_test = counted
    try:
        return (yield)
    finally:
        handle.inner_test = test
        if n_examples >= TRACED_EXAMPLES:
            coverage.start()


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory) -> Path:
    """A cache folder that lives as long as the session, the same one for all processes of pytest-xdist."""
    own = tmp_path_factory.getbasetemp()
    cache = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "cache"
    cache.mkdir(exist_ok=True)
    return cache


@pytest.fixture(autouse=True)
def private_cache(session_cache, monkeypatch) -> None:
    """No test writes into the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(session_cache))


@pytest.fixture
def tiny_disk(tmp_path) -> Iterator[Path]:
    """A disk of 64 KiB; skips where nothing may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if (
        mount is None
        or subprocess.run(
            [mount, "-t", "tmpfs", "-o", "size=64k", "arcrank-test", place], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("this user may not mount a disk")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.fixture
def full_disk(tiny_disk) -> Path:
    """A disk without a free byte; files can be created on it."""
    with contextlib.suppress(OSError), open(tiny_disk / "filler", "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return tiny_disk


@pytest.fixture(scope="session")
def corpus_of() -> Callable[..., Corpus]:
    """Load a corpus; without its files skip, or fail where ARCRANK_REQUIRE_CORPORA is set."""

    def load(loader: Callable[..., Corpus], *args: object) -> Corpus:
        try:
            return loader(*args)
        except MissingDataError as error:
            if os.environ.get("ARCRANK_REQUIRE_CORPORA", "0") != "0":
                pytest.fail(f"ARCRANK_REQUIRE_CORPORA is set, and a corpus is missing: {error}")
            pytest.skip(str(error))

    return load
