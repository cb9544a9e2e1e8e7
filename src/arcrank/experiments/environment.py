"""What a measured number depends on besides the code: the date, the versions and the machine."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import version
from pathlib import Path

import arcrank

__all__ = ["machine", "today", "versions"]


def today() -> str:
    """Return the date in UTC, e.g. 2026-11-16."""
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def versions() -> str:
    """Return the versions of arcrank, Python and the numerical libraries."""
    found = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    return f"arcrank {arcrank.__version__}, Python {platform.python_version()}, {found}"


def machine() -> str:
    """Return the processor, its number of cores and the operating system."""
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
