"""Settings and fixtures of the whole suite. Corpora are parsed once a session, into a cache that is not the user's."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from arcrank.datasets import Corpus
from arcrank.errors import MissingDataError

settings.register_profile("default", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# CI sees the same examples every time, so a red gate can be repeated.
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory) -> Path:
    """A cache folder that lives as long as the session."""
    return tmp_path_factory.mktemp("cache")


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


@pytest.fixture
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
