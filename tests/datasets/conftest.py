"""The corpora, each parsed once a session into a cache that is not the user's."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from arcrank.datasets import Corpus
from arcrank.errors import MissingDataError


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory) -> Path:
    """A cache folder that lives as long as the session."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def private_cache(session_cache, monkeypatch) -> None:
    """No test writes into the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(session_cache))


@pytest.fixture
def corpus_of() -> Callable[..., Corpus]:
    """Load a corpus; without its files skip on a developer's machine, and fail in CI."""

    def load(loader: Callable[..., Corpus], *args: object) -> Corpus:
        try:
            return loader(*args)
        except MissingDataError as error:
            if os.environ.get("CI"):
                pytest.fail(f"CI has to have every corpus: {error}")
            pytest.skip(str(error))

    return load


@pytest.fixture
def data_folder(tmp_path, monkeypatch) -> Path:
    """An empty folder in place of the user's corpora."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("ARCRANK_DATA", str(folder))
    return folder
