"""`@kernel`: numba's `njit` with a cache that is verified and optional, and with less to compile.

numba writes machine code into `__pycache__` and later runs whatever it finds there. A flipped bit in such a file can
kill the user's process, and code of another version gives wrong numbers. So each of our files starts with a SHA-256
and names what it was made for; where a file does not match, the kernel is compiled again. Where nothing can be written
(a read-only folder, a full disk), kernels are compiled in memory with one warning.

What numba does for a kernel that only other kernels call is left out where it can be. Such a part gets no entry points
for Python and C, and is not compiled again for each constant that it is called with. It is neither optimised nor
translated to machine code alone, since it is linked into the kernels that call it and optimised there. Unless it makes
arrays, it does not count references to its arguments, which is most of the code of a part with tuples of arrays.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import pickle
import re
import uuid
import warnings
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from itertools import count
from pathlib import Path
from typing import Any, TypeVar, cast

from llvmlite.binding import Linkage
from numba.core import config, types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher

from arcrank.compiled.second_process import wait_for

Function = TypeVar("Function", bound=Callable[..., Any])
_DIGEST_BYTES = 32
_IMPORTED = re.compile(rb"\barcrank\.compiled\.(\w+)")
# No fastmath: kernels compute with inf and NaN, and a reordered sum would change results between machines.
# No boundscheck, the default: callers check their data once, kernels run over it many times.
_OPTIONS = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True}
_MAKERS_OF_ARRAYS = frozenset(("arange", "argsort", "astype", "concatenate", "copy", "cumsum", "empty", "empty_like"))
_MAKERS_OF_ARRAYS |= {"flatnonzero", "full", "ones", "searchsorted", "sort", "unique", "where", "zeros"}
_own_names: set[str] = set()
"""Of parts, which may be linked into a kernel more than once: the names of our functions say what they are."""
_PLAIN = (types.Number, types.Boolean, types.NoneType)
_warned = False
_announce: Callable[[], None] | None = None


class KernelFlags(Flags):
    """numba's options of a compilation, compared by those that were set.

    numba looks up the functions that a kernel uses by these options, several times for each call in its source.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        """Return a number that equal options share."""
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        """Whether the same options were set to the same values."""
        return self is other or (isinstance(other, KernelFlags) and bool(self._values == other._values))


class Kernel(CPUDispatcher):
    """A compiled function that Python calls; other kernels call its `part`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._compiler._customize_flags = KernelFlags  # type: ignore[attr-defined]

    @cached_property
    def makes_arrays(self) -> bool:
        """Whether the function, or a kernel that it calls, makes arrays, so that references must be counted."""
        names = self.py_func.__code__.co_names
        called = (self.py_func.__globals__.get(name) for name in names)
        own = not _MAKERS_OF_ARRAYS.isdisjoint(names)
        return own or any(isinstance(one, Kernel) and one is not self and one.makes_arrays for one in called)

    def compile(self, sig: Any) -> Any:
        """Compile for some types of arguments, or read that from the cache."""
        with _uncollected():
            return super().compile(sig)

    @cached_property
    def part(self) -> KernelPart:
        """The same function without the entry points, compiled when the first kernel that calls it is compiled."""
        options = {**_OPTIONS, "no_cpython_wrapper": True, "_nrt": self.makes_arrays}
        part = KernelPart(self.py_func, targetoptions=options, pipeline_class=PartCompiler)
        _cache_on_disk(part, "part")
        return part

    @property
    def _numba_type_(self) -> Any:
        # What the name of this kernel means in the source of another one.
        return types.Dispatcher(self.part)


class KernelPart(CPUDispatcher):
    """A compiled function that only kernels call."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._compiler._customize_flags = KernelFlags  # type: ignore[attr-defined]

    def compile(self, sig: Any) -> Any:
        """Compile for some types of arguments, with references counted where that turns out to be needed.

        numba copies an array, for example, to assign a row of an array to another row.
        """
        try:
            return super().compile(sig)
        except NumbaError as error:
            if self.targetoptions["_nrt"] or "NRT required" not in str(error):
                raise
        self.targetoptions["_nrt"] = self._compiler.targetoptions["_nrt"] = True  # type: ignore[attr-defined]
        compiled = super().compile(sig)
        if not all(_is_plain(one.return_type) for one in self.nopython_signatures):  # its callers do not count them
            raise TypeError(f"{self.py_func.__qualname__} returns arrays; name what makes them in _MAKERS_OF_ARRAYS.")
        return compiled

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Resolve a call by the types of its arguments; numba would compile anew for each constant, as f(x, 0)."""
        plain = {name: types.unliteral(value) for name, value in kws.items()}
        return super().get_call_template([types.unliteral(arg) for arg in args], plain)


class KernelLibrary(JITCodeLibrary):
    """The code of a kernel and of all that it calls, of which only the kernel has a name that others see.

    numba names its own functions by a number that is counted anew in each process. Two kernels that were compiled in
    different processes may have different functions of one name, and where both are read from the cache, one of them
    would run the other's.
    """

    def _optimize_final_module(self) -> None:
        _hide_names(self._final_module, set())
        super()._optimize_final_module()


class PartLibrary(JITCodeLibrary):
    """Code that is linked into kernels and optimised there; it can run alone only after its address is asked for."""

    _runs = False

    @property
    def codegen(self) -> Any:
        """What numba asks to write the address of the environment into machine code, which there may be none of."""
        return super().codegen if self._runs else _WithoutEnvironment

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function, or 0 if it is not here: entry points for Python are not, of parts."""
        self._ensure_finalized()
        if name not in {one.name for one in self.get_defined_functions()}:
            return 0
        if not self._runs:
            self._runs = True
            super()._optimize_final_module()
            super()._finalize_final_module()
        address: int = super().get_pointer_to_function(name)
        return address

    def serialize_using_object_code(self) -> Any:
        """Return what the cache stores."""
        return self.serialize_using_bitcode()

    def _optimize_final_module(self) -> None:
        """Leave that to the kernels."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class OwnPartLibrary(PartLibrary):
    """The code of one of our parts, which is stored: numba's functions in it are hidden, as in `KernelLibrary`."""

    def _optimize_final_module(self) -> None:
        _own_names.update(one.name for one in self._final_module.functions if one.linkage == Linkage.external)
        _hide_names(self._final_module, _own_names)


def _hide_names(module: Any, kept: set[str]) -> None:
    """Make the functions that were linked into a module its own; the linker then renames those of equal names.

    numba looks for its counters of references by their names, and they are the same functions everywhere.
    """
    for function in module.functions:
        linked = not function.is_declaration and function.linkage == Linkage.linkonce_odr
        if linked and not function.name.startswith("NRT_") and function.name not in kept:
            function.linkage = "internal"


class _WithoutEnvironment:
    @staticmethod
    def set_env(env_name: str, env: Any) -> None:
        """Do nothing: only exceptions with computed arguments read the environment, and kernels raise none."""


class KernelCompiler(Compiler):
    """numba's compiler; all that it compiles on the way, be it ours or numba's own, becomes a `PartLibrary`."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile a function."""
        codegen = self.state.targetctx.codegen()
        self.state.library = KernelLibrary(codegen, func.__qualname__)
        self.state.library.enable_object_caching()
        codegen._library_class = PartLibrary
        try:
            return super().compile_extra(func)
        finally:
            del codegen._library_class


class PartCompiler(Compiler):
    """numba's compiler, which refuses parts that return arrays without counting references."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile a function."""
        self.state.library = OwnPartLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        compiled = super().compile_extra(func)
        if not self.state.flags.nrt and not _is_plain(compiled.signature.return_type):
            raise TypeError(f"{func.__qualname__} returns arrays that it was given; return copies of them.")
        return compiled


def _is_plain(returned: Any) -> bool:
    """Whether a type is a number, nothing, or a tuple of those."""
    if isinstance(returned, types.BaseTuple):
        return all(_is_plain(one) for one in returned.types)  # type: ignore[attr-defined]
    return isinstance(returned, _PLAIN)


class CheckedCache(FunctionCache):
    """numba's cache of one function, in which a failed read or write costs a compilation and never raises."""

    def __init__(self, function: Callable[..., Any], kind: str) -> None:
        super().__init__(function)
        self._is_kernel = kind == "kernel"
        # numba's own stamp covers only the function's file, and kernels call functions of other files. It also holds
        # the time of the file, which an upgrade that does not touch the kernels changes.
        stamp = (kind, source_digest(function.__code__.co_filename))
        self._cache_file = CheckedCacheFile(self._cache_path, f"{self._impl.filename_base}.{kind}", stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature, or None where it must be compiled."""
        code = self._load(sig, target_context)
        if code is None and self._is_kernel:
            code = wait_for(self._py_func.__name__, lambda: self._load(sig, target_context))
        if code is None:
            _announce_once()
        return code

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # what numba raises for a file that it cannot use is not documented; compiling always works
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled code for a signature, or warn once that it cannot be written."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_uncached(f"{self._cache_path} cannot be written to ({error.strerror})")


class CheckedCacheFile(IndexDataCacheFile):
    """numba's index and data files: SHA-256, then what the file was made for, then its content.

    A data file names its signature too. Otherwise an index could lead to other code after a process died between
    writing the two files, or after two processes wrote at the same time.
    """

    def save(self, key: Any, data: Any) -> None:
        """Write the data of one signature, then add it to the index."""
        overloads = self._load_index()
        name = overloads.get(key) or self._free_name(overloads)
        # Data before index: a process that dies in between leaves a file that nothing refers to.
        self._write(self._data_path(name), key, data)
        if key not in overloads:
            self._save_index({**overloads, key: name})

    def load(self, key: Any) -> Any:
        """Return the data of one signature, or None where there is none that can be trusted."""
        name = self._load_index().get(key)
        return None if name is None else self._read(self._data_path(name), key)

    def _load_index(self) -> dict[Any, str]:
        return self._read(self._index_path, "index") or {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, "index", overloads)

    def _free_name(self, overloads: dict[Any, str]) -> str:
        return next(name for name in map(self._data_name, count(1)) if name not in overloads.values())

    def _read(self, path: str, key: Any) -> Any:
        """Return the content, or None where the file is missing, damaged, out of date or not ours."""
        try:
            with open(path, "rb") as file:
                digest, data = file.read(_DIGEST_BYTES), file.read()
            # Before unpickling, which acts on whatever bytes it is given.
            if hashlib.sha256(data).digest() != digest:
                return None
            made_for, content = pickle.loads(data)
        except Exception:  # unpickling can raise anything: a class that no longer exists, a file of another layout
            return None
        return content if made_for == self._made_for(key) else None

    def _write(self, path: str, key: Any, content: Any) -> None:
        """Write the file completely or not at all; Ctrl-C leaves no temporary file behind."""
        data = self._dump((self._made_for(key), content))
        # A name of its own for each writer: processes that compile at the same time must not share a temporary file.
        temporary = f"{path}.tmp.{uuid.uuid4().hex[:16]}"
        try:
            with open(temporary, "wb") as file:
                file.write(hashlib.sha256(data).digest() + data)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _made_for(self, key: Any) -> tuple[Any, ...]:
        return (self._version, self._source_stamp, key)


@cache
def source_digest(path: str) -> str:
    """Return the SHA-256 of a file and of all files of this package that it imports, directly or through others."""
    sources, pending = {}, [Path(path)]
    while pending:
        file = pending.pop()
        sources[file.name] = source = file.read_bytes()
        names = {f"{name.decode()}.py" for name in _IMPORTED.findall(source)} - sources.keys()
        pending += [path for path in map(Path(__file__).with_name, names) if path.exists()]
    digest = hashlib.sha256()
    for name, source in sorted(sources.items()):
        # With the length in front, text moved from one file to the next changes the digest.
        digest.update(f"{name}\0{len(source)}\0".encode() + source)
    return digest.hexdigest()


def kernel(function: Function) -> Function:
    """Compile `function` on its first call, without the GIL, cached on disk where that is possible."""
    if getattr(config, "DISABLE_JIT", 0):
        return function
    dispatcher = Kernel(function, targetoptions=dict(_OPTIONS), pipeline_class=KernelCompiler)
    _cache_on_disk(dispatcher, "kernel")
    return cast(Function, dispatcher)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without the search for garbage, which takes a tenth of the time: a compiler makes many objects that stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def announce_compilation(announce: Callable[[], None] | None) -> None:
    """Call `announce` once, before the next kernel that is not in the cache is compiled."""
    global _announce  # noqa: PLW0603
    _announce = announce


def _announce_once() -> None:
    announce = _announce
    announce_compilation(None)
    if announce is not None:
        announce()


def _cache_on_disk(dispatcher: Any, kind: str) -> None:
    try:
        dispatcher._cache = CheckedCache(dispatcher.py_func, kind)
    except (RuntimeError, OSError):  # numba found no folder that it may write to
        _warn_uncached("neither its own folder nor the user's cache folder is writable")


def _warn_uncached(why: str) -> None:
    global _warned  # noqa: PLW0603
    if not _warned:
        _warned = True
        warnings.warn(
            f"arcrank cannot cache compiled code: {why}. It compiles again in each process; "
            "to avoid that, set NUMBA_CACHE_DIR to a writable folder with enough space.",
            RuntimeWarning,
            stacklevel=4,
        )
