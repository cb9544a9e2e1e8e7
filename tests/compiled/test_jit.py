"""A damaged or unwritable kernel cache must never kill a user's program. Each case runs in a process of its own."""

from __future__ import annotations

import ast
import gc
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

import arcrank
from arcrank.compiled import jit
from arcrank.compiled.jit import kernel
from tests.forked import run_python

MODULE = """
from arcrank.compiled.jit import kernel

@kernel
def twice(x):
    return 2 * x
"""
# Of another length: Python itself takes an edit within a second that keeps the length for the old file.
EDITED = MODULE.replace("2 * x", "15 * x")
SCRIPT = "import sys; sys.path.insert(0, sys.argv[1]); import kernels; print(kernels.twice(21))"


def run(folder: Path, script: str = SCRIPT, largest_file: int | None = None, **environment: str):
    """Run the script; writes beyond `largest_file` bytes fail (EFBIG), as they do on a full disk (ENOSPC)."""
    if largest_file is not None:
        limit = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({largest_file}, {largest_file}))"
        script = f"import resource; {limit}; {script}"
    command = ["-W", "always", "-c", script, str(folder)]
    if "NUMBA_CACHE_DIR" in environment:  # numba reads it once
        env = {**os.environ, **environment}
        return subprocess.run([sys.executable, *command], capture_output=True, text=True, env=env, check=False)
    return run_python(*command, environment=environment)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "kernels.py").write_text(MODULE)
    assert run(folder).stdout == "42\n"
    return folder


@pytest.fixture
def folder(compiled: Path, tmp_path: Path) -> Path:
    """A module with one kernel, compiled and cached; copies keep their time stamps, which older numbas look at."""
    return shutil.copytree(compiled, tmp_path / "copy")


def cache_files(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("kernels.twice*.kernel.*nb?"))


def test_the_cache_is_used(folder):
    files = cache_files(folder)
    assert len(files) == 2
    stamps = [file.stat().st_mtime_ns for file in files]
    assert run(folder).stdout == "42\n"
    assert [file.stat().st_mtime_ns for file in files] == stamps


@pytest.mark.parametrize("damage", ["flip", "truncate", "garbage", "empty"])
def test_a_damaged_cache_is_compiled_anew(folder, damage):
    for file in cache_files(folder):
        data = bytearray(file.read_bytes())
        middle = len(data) // 2
        data[middle] ^= 0xFF
        spoilt = {"flip": data, "truncate": data[:middle], "garbage": b"not a cache" * 99, "empty": b""}
        file.write_bytes(spoilt[damage])
    result = run(folder)
    assert (result.returncode, result.stdout) == (0, "42\n"), result.stderr


def test_no_writable_folder_compiles_in_memory_with_one_warning(tmp_path):
    """numba is told that no locator works, as on a read-only install with a read-only home."""
    (tmp_path / "kernels.py").write_text(MODULE + MODULE.replace("twice", "thrice").split("kernel\n", 1)[1])
    script = SCRIPT.replace(
        "import kernels", "from numba.core.caching import CacheImpl; CacheImpl._locator_classes = []; import kernels"
    )
    result = run(tmp_path, script)
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    assert (result.returncode, result.stdout) == (0, "42\n"), result.stderr
    assert result.stderr.count("arcrank cannot cache compiled code") == 1


def test_writes_that_fail_cost_one_warning(tmp_path):
    """Two kernels, three failing writes."""
    (tmp_path / "kernels.py").write_text(MODULE + MODULE.replace("twice", "thrice").split("kernel\n", 1)[1])
    result = run(tmp_path, SCRIPT + "; kernels.twice(1.5); kernels.thrice(1)", largest_file=10)
    assert (result.returncode, result.stdout) == (0, "42\n"), result.stderr
    assert result.stderr.count("arcrank cannot cache compiled code") == 1
    assert "__pycache__ cannot be written to (File too large)" in result.stderr
    assert not list((tmp_path / "__pycache__").glob("*.nb*"))


def test_a_full_disk_costs_one_warning(tmp_path, full_disk):
    (tmp_path / "kernels.py").write_text(MODULE)
    result = run(tmp_path, NUMBA_CACHE_DIR=str(full_disk))
    assert (result.returncode, result.stdout) == (0, "42\n"), result.stderr
    assert result.stderr.count("No space left on device") == 1
    assert not list(full_disk.rglob("*.nb*"))


def test_a_folder_that_vanishes_costs_one_warning(tmp_path):
    """Not even the folder can be made when the code is to be written."""
    (tmp_path / "kernels.py").write_text(MODULE)
    place = tmp_path / "cache"
    remove = f"import shutil; shutil.rmtree({str(place)!r}); open({str(place)!r}, 'w').close(); print"
    result = run(tmp_path, SCRIPT.replace("print", remove), NUMBA_CACHE_DIR=str(place))
    assert (result.returncode, result.stdout) == (0, "42\n"), result.stderr
    assert result.stderr.count("arcrank cannot cache compiled code") == 1


def test_code_of_an_older_source_is_never_run(folder):
    """The index of the new source could be written, its machine code could not."""
    index, data = sorted(cache_files(folder), key=lambda file: file.stat().st_size)
    (folder / "kernels.py").write_text(EDITED)
    limit = (index.stat().st_size + data.stat().st_size) // 2
    assert run(folder, largest_file=limit).stdout == "315\n"
    assert run(folder).stdout == "315\n"


def test_an_index_never_leads_to_the_code_of_another_signature(folder):
    """Two processes that write at the same time may give two signatures one data file."""
    script = SCRIPT.replace("kernels.twice(21)", "kernels.twice(21.5)")
    assert run(folder, script).stdout == "43.0\n"
    first, second = sorted((folder / "__pycache__").glob("kernels.twice*.nbc"))
    shutil.copy(first, second)
    assert run(folder, script).stdout == "43.0\n"


@pytest.mark.parametrize("content", [b"cno_such_module\nThing\n.", b"cos\nno_such_name\n.", b"N."])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_whole_file_that_cannot_be_unpickled_is_compiled_anew(folder, content, ending):
    """A class that it names may be gone, though its checksum is right."""
    (path,) = (folder / "__pycache__").glob(f"kernels.twice*.{ending}")
    path.write_bytes(hashlib.sha256(content).digest() + content)
    result = run(folder)
    assert (result.returncode, result.stdout, result.stderr) == (0, "42\n", "")


def test_an_edit_in_a_shared_file_of_the_package_recompiles(tmp_path):
    package = tmp_path / "arcrank"
    shutil.copytree(
        Path(arcrank.__file__).parent / "compiled",
        package / "compiled",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copy(arcrank.__file__, package)
    (package / "compiled" / "shared.py").write_text(MODULE)
    (package / "compiled" / "caller.py").write_text(
        MODULE.replace("twice", "caller").replace("2 * x", "twice(x) + 1") + "from arcrank.compiled.shared import twice"
    )
    script = "from arcrank.compiled.caller import caller as f; print(f(21), len(f.stats.cache_hits))"
    told = [run(tmp_path, script, PYTHONPATH=str(tmp_path)).stdout for _ in range(2)]
    shared = package / "compiled" / "shared.py"
    shared.write_text(EDITED)
    told += [run(tmp_path, script, PYTHONPATH=str(tmp_path)).stdout for _ in range(2)]
    assert told == ["43 0\n", "43 1\n", "316 0\n", "316 1\n"]


def test_an_edit_in_a_file_that_is_not_called_recompiles_nothing(tmp_path):
    package = tmp_path / "arcrank"
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(arcrank.__file__).parent / "compiled", package / "compiled", ignore=skip)
    shutil.copy(arcrank.__file__, package)
    caller = package / "compiled" / "caller.py"
    caller.write_text(MODULE)
    script = "from arcrank.compiled.caller import twice as f; print(f(21), len(f.stats.cache_hits))"
    assert run(tmp_path, script, PYTHONPATH=str(tmp_path)).stdout == "42 0\n"
    (package / "compiled" / "online.py").write_text("")
    caller.touch()  # an installation gives files a new time
    assert run(tmp_path, script, PYTHONPATH=str(tmp_path)).stdout == "42 1\n"


def test_the_digest_covers_every_import_from_the_package():
    for path in Path(jit.__file__).parent.glob("*.py"):
        nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        imported = {node.module for node in nodes if node.level or str(node.module).startswith("arcrank")}
        assert imported <= {f"arcrank.compiled.{name.decode()}" for name in jit._IMPORTED.findall(path.read_bytes())}


def test_a_constant_argument_compiles_nothing_new():
    @kernel
    def add(x, y):
        return x + y

    @kernel
    def both(x):
        return add(x, 1) + add(x, x) + add(2, 3)

    assert both(4) == 18
    assert len(add.part.signatures) == 1
    assert add(1, 2) == 3  # and from Python


@kernel
def _first_of(first, second):
    return first


@kernel
def _sum_of(arrays, n):
    total = 0.0
    for i in range(n):
        total += arrays[i][0]
    return total, n


@kernel
def _made(n):
    return np.ones(n)


@kernel
def _total(arrays):
    made = _made(2)
    return _sum_of(arrays, 2)[0] + made.sum()


@kernel
def _lends(arrays):
    return _first_of(arrays[0], arrays[1])[0]


def test_references_are_counted_by_parts_that_make_arrays():
    arrays = np.full(3, 2.0), np.full(3, 3.0)
    before = [sys.getrefcount(one) for one in arrays]
    assert [_total(arrays) for _ in range(10)] == [7.0] * 10
    assert [sys.getrefcount(one) for one in arrays] == before
    assert (_made.makes_arrays, _total.makes_arrays, _sum_of.makes_arrays) == (True, True, False)
    _nrt_python.memsys_enable_stats()
    taken = rtsys.get_allocation_stats()
    _total(arrays)
    now = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert now.alloc - taken.alloc == now.free - taken.free > 0


def test_a_part_must_not_return_the_arrays_that_it_is_given():
    with pytest.raises(Exception, match="_first_of returns arrays that it was given"):
        _lends((np.ones(2), np.ones(2)))


def test_code_that_numba_wants_to_run_is_made_ready():
    codegen = _total.targetctx.codegen()
    codegen._library_class = jit.PartLibrary
    try:
        plain = njit(lambda x: x + 1)
        assert plain(1) == 2
    finally:
        del codegen._library_class
    assert plain(1.5) == 2.5


def test_other_code_of_numba_still_runs_after_a_kernel():
    _total((np.ones(1), np.ones(1)))
    assert njit(lambda n: np.ones(n).sum())(3) == 3.0


def test_garbage_is_collected_again_after_a_compilation():
    assert gc.isenabled()
    kernel(lambda x: x - 1)(3)
    assert gc.isenabled()


SORTS = """
import numpy as np
from arcrank.compiled.jit import kernel

@kernel
def smallest(x):
    return np.sort(x)[0]

@kernel
def place_of_smallest(x):
    return np.argsort(x)[0]

@kernel
def first(x):
    return smallest(x)

@kernel
def second(x):
    return place_of_smallest(x)

@kernel
def both(x):
    return smallest(x) + place_of_smallest(x)
"""
CALLS = "import sys; sys.path.insert(0, sys.argv[1]); import sorts, numpy as np; x = np.array([30.0, 10.0, 20.0]); "
ONE_NUMBER = (
    "import itertools; from numba.core.bytecode import FunctionIdentity as F; F._unique_ids = itertools.repeat(7); "
)


@pytest.mark.slow
def test_functions_of_numba_that_share_a_name_are_not_exchanged(tmp_path):
    """numba numbers its functions anew in each process, and calls the parts of both kinds of sort alike."""
    (tmp_path / "sorts.py").write_text(SORTS)
    for name in ("smallest", "place_of_smallest", "first", "second"):
        assert run(tmp_path, f"{ONE_NUMBER}{CALLS} sorts.{name}(x)").returncode == 0
    for script in (
        "sorts.smallest(x), sorts.place_of_smallest(x)",
        "sorts.smallest(x), sorts.second(x)",
        "sorts.both(x) - sorts.second(x), sorts.second(x)",
    ):
        told = run(tmp_path, f"{ONE_NUMBER}{CALLS} print(*map(int, ({script})))")
        assert told.stdout == "10 1\n", (script, told.stderr)
    told = run(tmp_path, f"{CALLS} print(int(sorts.place_of_smallest(x)), int(sorts.smallest(x)))")
    assert told.stdout == "1 10\n"


TWO = f"""{MODULE}
@kernel
def thrice(x):
    return 3 * x
"""
MEANWHILE = """
import subprocess, sys; sys.path.insert(0, sys.argv[1]); import kernels
from arcrank.compiled.second_process import SecondProcess, second_process
started = []
def start():
    started.append(subprocess.Popen([sys.executable, "-c", SCRIPT, sys.argv[1]]))
    return started[-1]
with second_process(start):
    found = kernels.twice(2), kernels.thrice(2)
hits = [sum(one.stats.cache_hits.values()) for one in (kernels.twice, kernels.thrice)]
print(*found, *hits, len(started))
"""
COMPILE_THRICE = "import sys; sys.path.insert(0, sys.argv[1]); import kernels; kernels.thrice(1)"


def test_another_process_compiles_meanwhile(tmp_path):
    """It is started at the first kernel that is missing; the second one is waited for until it is in the cache."""
    (tmp_path / "kernels.py").write_text(TWO)
    script = MEANWHILE.replace("SCRIPT", repr(COMPILE_THRICE))
    assert run(tmp_path, script).stdout == "4 6 0 1 1\n"
    assert run(tmp_path, script).stdout == "4 6 1 1 0\n"


@pytest.mark.parametrize("what", ["sys.exit(3)", "import time; time.sleep(100)"])
def test_another_process_that_fails_or_hangs_costs_a_compilation(tmp_path, what):
    (tmp_path / "kernels.py").write_text(TWO)
    script = MEANWHILE.replace("SCRIPT", repr(f"import sys; {what}"))
    script = script.replace("started = []", "SecondProcess.LONGEST = 0.1; started = []")
    assert run(tmp_path, script).stdout == "4 6 0 0 1\n"


def test_no_other_process_can_be_started(tmp_path):
    (tmp_path / "kernels.py").write_text(TWO)
    script = MEANWHILE.replace("SCRIPT", "''").replace("[sys.executable, ", "[sys.argv[1] + '/no python', ")
    assert run(tmp_path, script).stdout == "4 6 0 0 0\n"


def test_a_kernel_of_this_process_is_not_waited_for(tmp_path):
    (tmp_path / "kernels.py").write_text(TWO)
    script = MEANWHILE.replace("SCRIPT", repr("import time; time.sleep(100)"))
    script = script.replace("second_process(start)", "second_process(start, {'thrice'})")
    script = script.replace("started = []", "SecondProcess.LONGEST = 1e9; started = []")  # waiting would not end
    assert run(tmp_path, script).stdout == "4 6 0 0 1\n"
