"""Finished cells of an experiment, stored in the user's cache folder so that an interrupted run can resume."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arcrank.datasets.locate import cache_folder
from arcrank.io.atomic import write_atomically

__all__ = ["cached", "is_cached"]

_warned: set[Path] = set()


def cached(experiment: str, key: dict[str, Any], compute: Callable[[], Any], *, fresh: bool = False) -> Any:
    """Return the stored value for this key, or compute and store it.

    Parameters
    ----------
    experiment : str
        The folder of the experiment in the cache.
    key : dict
        Everything the value depends on, including a version of the code; must be JSON-serializable.
    compute : callable
        Returns the value, which must be JSON-serializable.
    fresh : bool, default=False
        Compute the value even if it is stored.
    """
    path = _path(experiment, key)
    if not fresh:
        try:
            return json.loads(path.read_text(encoding="utf-8"))["value"]
        except (OSError, ValueError, KeyError, TypeError):
            pass  # a damaged file counts as missing
    value = compute()
    _write(path, {"key": key, "value": value})
    return value


def is_cached(experiment: str, key: dict[str, Any]) -> bool:
    """Return whether a value is stored for this key."""
    return _path(experiment, key).exists()


def _path(experiment: str, key: dict[str, Any]) -> Path:
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:24]
    return cache_folder() / "experiments" / experiment / f"{digest}.json"


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write the file atomically; without a writable folder the run goes on, but cannot be resumed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, [json.dumps(content).encode()])
    except OSError as error:
        _warn_once(path.parent, error)


def _warn_once(folder: Path, error: OSError) -> None:
    if folder not in _warned:
        _warned.add(folder)
        warnings.warn(
            "The finished cells of this experiment cannot be stored, so an interrupted run will start from the "
            f"beginning: {error}",
            RuntimeWarning,
            stacklevel=4,
        )
