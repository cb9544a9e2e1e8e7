"""The old file or the new one, and no litter."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading

import pytest

from arcrank.io import atomic
from arcrank.io.atomic import write_atomically


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def litter_of(path):
    return sorted(path.parent.glob(".arcrank-*"))


def test_writes_and_replaces(path):
    write_atomically(path, [b"one"])
    write_atomically(str(path), [b"tw", memoryview(b"o")])
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_failure_keeps_the_old_file(path, error, monkeypatch):
    def fail(_):
        raise error

    write_atomically(path, [b"old"])
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(type(error)):
        write_atomically(path, [b"new"])
    assert path.read_bytes() == b"old"
    assert not litter_of(path)


def test_no_space_is_told_with_path_and_bytes(tiny_disk):
    path = tiny_disk / "model"
    write_atomically(path, [b"old"])
    with pytest.raises(OSError, match=r"needs 100,003 bytes, and the disk has \d\d,\d{3} free.*another disk") as caught:
        write_atomically(path, (block for block in [b"new", memoryview(bytes(80_000)), bytes(20_000)]))
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert path.read_bytes() == b"old"
    assert list(tiny_disk.iterdir()) == [path]


def test_a_stream_is_not_read_on_when_there_is_no_space(tiny_disk):
    def endless():
        while True:
            yield bytes(10_000)

    with pytest.raises(OSError, match=r"needs more than \d{2,3},000 bytes"):
        write_atomically(tiny_disk / "rows", endless(), streamed=True)
    assert not list(tiny_disk.iterdir())


def test_a_limit_for_files_is_told_too(path):
    """Needs no disk of its own, so it runs everywhere."""
    script = (
        "import resource, sys\n"
        "from arcrank.io.atomic import write_atomically\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_atomically(sys.argv[1], [b'a' * 700, b'b' * 700])\n"
    )
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)
    assert "File too large; the file needs 1,400 bytes" in done.stderr
    assert str(path) in done.stderr
    assert path.read_bytes() == b"old"
    assert not litter_of(path)


def test_litter_of_the_dead_goes_and_of_the_living_stays(path):
    other = path.parent / "other"
    (path.parent / f"{atomic._prefix(path)}0123.tmp").write_bytes(b"dead")
    (path.parent / f"{atomic._prefix(other)}0123.tmp").write_bytes(b"another model's")
    with atomic._temporary(path) as (_, living):
        write_atomically(path, [b"new"])
        assert litter_of(path) == sorted([living, *path.parent.glob(f"{atomic._prefix(other)}*")])
    write_atomically(other, [b"new"])
    assert not litter_of(path)


def test_litter_of_another_living_process_stays(path):
    script = (
        "import sys, pathlib\n"
        "from arcrank.io import atomic\n"
        f"with atomic._temporary(pathlib.Path({str(path)!r})) as (_, name):\n"
        "    print(name, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        living = process.stdout.readline().strip()
        write_atomically(path, [b"new"])
        assert os.path.exists(living)
        process.kill()
        process.wait()
    assert os.path.exists(living)
    write_atomically(path, [b"newer"])
    assert not litter_of(path)


def test_a_temporary_taken_for_litter_is_made_anew(path, monkeypatch):
    """Another save may come between the creation of the file and its lock."""
    lock, taken = atomic._lock, []

    def lock_late(descriptor, *, wait):
        if wait and not taken:
            taken.extend(litter_of(path))
            taken[0].unlink()
        return lock(descriptor, wait=wait)

    monkeypatch.setattr(atomic, "_lock", lock_late)
    write_atomically(path, [b"new"])
    assert taken
    assert path.read_bytes() == b"new"


def test_without_locks_nothing_is_taken_for_litter(path, monkeypatch):
    (path.parent / f"{atomic._prefix(path)}0123.tmp").write_bytes(b"who knows")
    monkeypatch.setattr(atomic, "_lock", lambda *_, **__: None)
    write_atomically(path, [b"new"])
    assert path.read_bytes() == b"new"
    assert len(litter_of(path)) == 1


def test_many_threads_at_once(path):
    wholes = [bytes([value]) * 100_000 for value in range(8)]
    threads = [threading.Thread(target=write_atomically, args=(path, [whole])) for whole in wholes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in wholes
    assert not litter_of(path)


def test_links_stay_and_permissions_too(path):
    target = path.parent / "target"
    target.write_bytes(b"old")
    target.chmod(0o640)
    path.symlink_to(target)
    write_atomically(path, [b"new"])
    assert path.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(path):
    write_atomically(path, [b"new"])
    other = path.parent / "other"
    other.write_bytes(b"")
    assert path.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize("name", ["n" * 250, "🚢" * 60, "[a]*?"])
def test_long_and_strange_file_names(tmp_path, name):
    write_atomically(tmp_path / name, [b"new"])
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_bad_places(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"does not exist; create it.*missing"):
        write_atomically(tmp_path / "missing" / "model", [b""])
    with pytest.raises(IsADirectoryError, match="name of a file"):
        write_atomically(tmp_path, [b""])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        write_atomically(tmp_path / "pipe", [b""])
