"""Find the files of a corpus on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from arcrank.errors import MissingDataError
from arcrank.io.compressed import ARCHIVES, COMPRESSED

__all__ = ["cache_folder", "data_folders", "find"]


def cache_folder() -> Path:
    """Return the user's cache folder for arcrank: `$XDG_CACHE_HOME/arcrank` or `~/.cache/arcrank`."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "arcrank"


def data_folders() -> list[Path]:
    """Return the folders that are searched for corpora, in order."""
    given = os.environ.get("ARCRANK_DATA")
    return ([Path(given)] if given else []) + [cache_folder()]


def find(*names: str, what: str) -> Path:
    """Return the first file or folder of these names, plain or compressed, in the data folders.

    `what` describes the distribution to a user who has to download it.
    """
    for folder in data_folders():
        for name in names:
            for ending in ("", *COMPRESSED, *ARCHIVES):
                path = folder / (name + ending)
                if path.exists():
                    return path
    folders = " or ".join(str(folder) for folder in data_folders())
    hint = "" if os.environ.get("ARCRANK_DATA") else " (or set ARCRANK_DATA to the folder that holds it)"
    raise MissingDataError(
        f"Not on this machine: {what}; download it and save it as {names[0]!r}, compressed or not, in {folders}{hint}."
    )
