"""How much memory is available, and an error before more than that is used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from arcrank.errors import ResourceError

try:
    import resource
except ImportError:  # Windows, which has no limits of this kind
    resource = None  # type: ignore[assignment]

__all__ = ["available_memory", "check_memory", "columns_that_fit", "gigabytes"]

_SMALL = 1 << 26
"""Smaller sizes in bytes are not checked."""


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that this process may still take without swapping; None where the system does not report it.

    The least of what the machine has free (Linux: MemAvailable, which counts caches that can be dropped), what the
    control groups of the process have left (v1 and v2, as in containers), and what `ulimit -v` allows.

    Examples
    --------
    >>> found = available_memory()
    >>> found is None or found > 0
    True
    """
    found = [*_of_machine(root), *_of_groups(root), *_of_address_space(root)]
    return max(0, min(found)) if found else None


def _of_machine(root: Path) -> Iterator[int]:
    for line in _text(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            yield 1024 * int(line.split()[1])
            return
    with suppress(AttributeError, ValueError, OSError):  # no os.sysconf, or no such name
        free = "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES"
        yield os.sysconf(free) * os.sysconf("SC_PAGE_SIZE")


def _of_groups(root: Path) -> Iterator[int]:
    """What each group with a limit has left, from that of the process up to the root; caches can be dropped."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            files = root / "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            names = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
            files = root / "sys/fs/cgroup/memory", *names
        else:
            continue
        for group in _upwards(path):
            yield from _left(files[0] / group, *files[1:])


def _upwards(path: str) -> Iterator[str]:
    """A group and the groups that it is in; a container may see its own as the root, whatever its path says.

    >>> list(_upwards("/a/b"))
    ['a/b', 'a', '.']
    """
    inner = Path(path.strip("/"))
    return map(str, dict.fromkeys([inner, *inner.parents]))


def _left(group: Path, limit: str, usage: str, dropped: str) -> Iterator[int]:
    most, used = _text(group / limit).strip(), _text(group / usage).strip()
    if most.isdigit() and used.isdigit() and int(most) < 1 << 62:  # "max", and in v1 a huge number: no limit
        caches = [
            line.split()[1] for line in _text(group / "memory.stat").splitlines() if line.startswith(f"{dropped} ")
        ]
        yield int(most) - int(used) + sum(map(int, caches))


def _of_address_space(root: Path) -> Iterator[int]:
    if resource is None:
        return
    most, pages = resource.getrlimit(resource.RLIMIT_AS)[0], _text(root / "proc/self/statm").split()
    if most != resource.RLIM_INFINITY:
        yield most - (int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else 0)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def check_memory(needed: int, who: str, n_features: int, n_labels: int) -> None:
    """Raise a `ResourceError` if `who`, a ranker, would take more bytes than there are."""
    if needed < _SMALL:
        return
    available = available_memory()
    if available is not None and needed > available:
        columns = columns_that_fit(n_labels)
        raise ResourceError(
            f"{who} needs about {gigabytes(needed)} of memory for {n_features:,} features and {n_labels:,} labels, and "
            f"{gigabytes(available)} are available.\n"
            "Use fewer features (TextFeatures(min_df=...)) or leave out rare labels; or stream the documents "
            f"(learn_stream) into MMPRanker with HashedTextFeatures(n_features={columns}), which fits.",
            columns,
        )


def columns_that_fit(n_labels: int) -> int:
    """How many hashed features an online ranker of so many labels can have in half of the memory: a power of two.

    Examples
    --------
    >>> columns_that_fit(1) <= 2**18
    True
    """
    available = available_memory()
    most = 2**18 if available is None else min(2**18, available // (16 * max(1, n_labels)))
    return 1 << max(0, most.bit_length() - 1)


def gigabytes(size: float) -> str:
    """A size in words.

    Examples
    --------
    >>> gigabytes(3.512e11), gigabytes(2.34e9), gigabytes(5.1e7)
    ('351 GB', '2.3 GB', '51 MB')
    """
    if size < 1e9:
        return f"{size / 1e6:,.0f} MB"
    return f"{size / 1e9:,.1f} GB" if size < 1e11 else f"{size / 1e9:,.0f} GB"
