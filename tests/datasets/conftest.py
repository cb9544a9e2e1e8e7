"""A place for made-up corpora."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def data_folder(tmp_path, monkeypatch) -> Path:
    """An empty folder in place of the user's corpora."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("ARCRANK_DATA", str(folder))
    return folder
