"""Finished cells of an experiment, kept in the user's cache folder so that a stopped run goes on where it was."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arcrank.datasets.locate import cache_folder
from arcrank.io.atomic import write_atomically

_warned: set[Path] = set()


def cell(experiment: str, key: dict[str, Any], compute: Callable[[], Any], *, fresh: bool = False) -> Any:
    """`compute()`, a JSON-able value, or what it gave before for the same key.

    The key says everything the value depends on, a version of the code included.
    """
    path = _path(experiment, key)
    if not fresh:
        try:
            return json.loads(path.read_text(encoding="utf-8"))["value"]
        except (OSError, ValueError, KeyError, TypeError):
            pass  # missing or damaged: as good as not finished
    value = compute()
    _write(path, {"key": key, "value": value})
    return value


def is_finished(experiment: str, key: dict[str, Any]) -> bool:
    return _path(experiment, key).exists()


def _path(experiment: str, key: dict[str, Any]) -> Path:
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:24]
    return cache_folder() / "experiments" / experiment / f"{digest}.json"


def _write(path: Path, content: dict[str, Any]) -> None:
    """Whole or not at all; a folder that cannot be written to costs a second run, not this one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, [json.dumps(content).encode()])
    except OSError as error:
        _warn_once(path.parent, error)


def _warn_once(folder: Path, error: OSError) -> None:
    if folder not in _warned:
        _warned.add(folder)
        warnings.warn(
            f"Finished parts of this experiment cannot be kept, so a run that is stopped starts again: {error}",
            RuntimeWarning,
            stacklevel=4,
        )
