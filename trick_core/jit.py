"""Compiling kernels, and keeping what was compiled.

Two decorators. :func:`kernel` marks an inner function: it is compiled into whoever calls it and never
on its own. :func:`entry` marks a function that Python calls; what it compiles to is kept on disk.

Numba's own ``cache=True`` does not serve here: a cached caller does not notice that a callee in another
file has changed, and functions made by a factory miss the cache in every new process. So the cache key
of an entry is its label (function and game), the signature and the target processor, and its stamp is a
hash over the sources of every package that the entry compiles. A cache folder that is missing or cannot be
written means "no cache", never a failure; so does a file in it that is cut short or damaged.

Kernels are compiled without Numba's reference counting: they own nothing, and the counts are atomic
operations that made a step more than twice as long. A kernel that allocates an array does not compile.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import llvmlite
import numba
import numpy as np
from numba.core import caching, compiler, config

F = TypeVar("F", bound=Callable[..., Any])

#: False when ``NUMBA_DISABLE_JIT`` is set: every kernel is then a plain Python function.
JIT: bool = not config.DISABLE_JIT

_FLAGS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": None,
    "_nrt": False,  # no reference counting, hence no allocation either
}

#: Files under one label and key that stay in the cache: so many versions of the sources can alternate.
_KEPT = 4

#: Sources that change after this moment may not be what this process has imported.
_STARTED = time.time()


class Built(NamedTuple):
    """An entry that has become ready to run.

    Attributes:
        label: Names the function and the game.
        seconds: What it took.
        loaded: It came from the cache; else it was compiled.
    """

    label: str
    seconds: float
    loaded: bool


_watchers: list[Callable[[Built], None]] = []


@contextlib.contextmanager
def watching(report: Callable[[Built], None]) -> Iterator[None]:
    """Within the context, ``report`` is called for every labelled entry that is compiled or loaded."""
    _watchers.append(report)
    try:
        yield
    finally:
        _watchers.remove(report)


def kernel(function: F) -> F:
    """Mark ``function`` as compiled code that is called from other kernels only.

    What Python would call it through is not made, which saves a third of the time that a driver takes to compile. Called from
    Python all the same, it is compiled a second time for that, and every call takes some 10 us.
    """
    if not JIT:
        return _quiet(function)
    bare = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    inner = numba.njit(forceinline=True, **bare, **_FLAGS)(function)
    outer = numba.njit(**_FLAGS)(function)

    def add_overload(compiled: Any) -> None:
        # As Numba does it, but for the table in which calls from Python look first: they would jump to nowhere.
        inner.overloads[tuple(compiled.signature.args)] = compiled

    inner.add_overload = add_overload
    inner._compile_for_args = outer._compile_for_args
    return inner  # type: ignore[no-any-return]


def entry(label: str | None, sources: Iterable[str | os.PathLike[str]] = ()) -> Callable[[F], F]:
    """Mark a kernel that Python calls.

    Args:
        label: Names the function and the game it is built for (``"bolola.step"``); two entries that
            compile to different code need different labels. None: do not keep it on disk.
        sources: Folders or files whose ``.py`` sources the entry compiles, besides this package's own.
    """

    def decorate(function: F) -> F:
        if not JIT:
            return _quiet(function)
        dispatcher = numba.njit(**_FLAGS)(function)
        stamp = None if label is None else _stamp(tuple(map(str, sources)))
        if label is not None and stamp is not None:
            dispatcher._cache = _EntryCache(function, label, stamp)
        return dispatcher  # type: ignore[no-any-return]

    return decorate


def direct(function: Callable[..., Any], *examples: Any) -> Callable[..., Any]:
    """An entry's compiled code for arguments of the examples' types, which it does not check.

    To find out which code fits the arguments takes Numba 3 us with all buffers of a batch, the call itself 0.4 us.
    """
    if not JIT:
        return function
    return function.compile(tuple(map(numba.typeof, examples)))  # type: ignore[attr-defined, no-any-return]


def _quiet(function: F) -> F:
    """Uncompiled unsigned arithmetic wraps around on purpose; NumPy need not warn of it."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return call  # type: ignore[return-value]


def records(count: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """``count`` zeroed records. Uncompiled kernels reach fields by attribute, hence the recarray."""
    zeroed = np.zeros(count, dtype)
    return zeroed if JIT else zeroed.view(np.recarray)


def copy_records(states: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An independent copy of records, as one block of bytes: some ten times faster than ``states.copy()``, for which
    NumPy goes field by field and leaves the gaps between fields as they happen to be.
    """
    copied = np.ndarray(states.shape, states.dtype, bytearray(states.tobytes()))
    return copied if JIT else copied.view(np.recarray)


@functools.cache
def _stamp(sources: tuple[str, ...]) -> str | None:
    """Hash of all ``.py`` sources in this package and under ``sources``; None: they cannot be vouched for.

    That is so when there are no files (a package inside an archive), and when a file has changed since the
    process started, so that the code in memory may be older than the text on disk.
    """
    digest = hashlib.sha256()
    for root in sorted({str(Path(__file__).parent), *sources}):
        path = Path(root)
        files = [path] if path.is_file() else sorted(path.rglob("*.py"))
        if not files:
            return None
        for file in files:
            try:
                digest.update(file.name.encode() + b"\0" + file.read_bytes())
                status = file.stat()
            except OSError:
                return None
            if max(status.st_mtime, status.st_ctime) >= _STARTED:
                return None
    return digest.hexdigest()


def cache_folder() -> Path | None:
    """The folder that compiled kernels are kept in, or None if none can be written.

    ``NUMBA_CACHE_DIR`` if set, else ``__pycache__`` beside this file, else the user's cache folder.
    """
    candidates = []
    if config.CACHE_DIR:
        candidates.append(Path(config.CACHE_DIR) / "trick-envs")
    else:
        candidates.append(Path(__file__).parent / "__pycache__" / "kernels")
        base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
        with contextlib.suppress(RuntimeError):
            candidates.append((Path(base) if base else Path.home() / ".cache") / "trick-envs")
    for folder in candidates:
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
    return None


_cache_folder = functools.lru_cache(maxsize=1)(cache_folder)


class _EntryCache(caching.FunctionCache):  # type: ignore[misc]
    """One file per (label, signature, processor, stamp), written whole and renamed into place."""

    def __init__(self, function: Callable[..., Any], label: str, stamp: str) -> None:
        # The parent's constructor looks for a folder and fails without one, so it is not called.
        self._name = repr(function)
        self._py_func = function
        self._label = label
        self._stamp = stamp
        self._asked = 0.0
        self.enable()

    @property
    def cache_path(self) -> str | None:
        folder = _cache_folder()
        return None if folder is None else str(folder)

    def flush(self) -> None:
        folder = _cache_folder()
        for file in [] if folder is None else folder.glob(f"{self._label}-*.nbc"):
            with contextlib.suppress(OSError):
                file.unlink()

    def _file(self, sig: Any, codegen: Any) -> Path | None:
        folder = _cache_folder()
        if folder is None:
            return None
        versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version_info[:3])
        options = (config.OPT, config.BOUNDSCHECK, config.DEBUGINFO_DEFAULT, config.LOOP_VECTORIZE)
        key = repr((sig, codegen.magic_tuple(), versions, options)).encode()
        return folder / (
            f"{self._label}-{hashlib.sha256(key).hexdigest()[:16]}-{self._stamp[:16]}.nbc"
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        self._asked = time.perf_counter()
        target_context.refresh()
        file = self._file(sig, target_context.codegen()) if self._enabled else None
        if file is None:
            return None
        try:
            content = file.read_bytes()
            if hashlib.sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
                return None
            payload = pickle.loads(content[_DIGEST:])
            result = compiler.CompileResult._rebuild(target_context, *payload)
        except Exception:  # a file that is missing, cut short or foreign: compile anew
            return None
        self._report(loaded=True)
        return result

    def _report(self, loaded: bool) -> None:
        built = Built(self._label, time.perf_counter() - self._asked, loaded)
        for report in [*_watchers]:
            report(built)

    def save_overload(self, sig: Any, data: Any) -> None:
        self._report(loaded=False)
        file = self._file(sig, data.codegen) if self._enabled else None
        if file is None or data.library.has_dynamic_globals:
            return
        payload = numba.core.serialize.dumps(data._reduce())
        temporary = file.with_name(f"{file.stem}.{os.getpid()}-{time.monotonic_ns()}.tmp")
        with contextlib.suppress(OSError):
            try:
                temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
                os.replace(temporary, file)
            finally:
                temporary.unlink(missing_ok=True)
            self._drop_stale(file)

    def _drop_stale(self, file: Path) -> None:
        """Remove all but the latest of what other sources compiled to under the same label and key."""
        kept = file.name.rsplit("-", 1)[0]
        others = [other for other in file.parent.glob(f"{kept}-*.nbc") if other != file]
        with contextlib.suppress(OSError):
            others.sort(key=lambda other: other.stat().st_mtime)
        for other in others[: max(0, len(others) - _KEPT + 1)]:
            with contextlib.suppress(OSError):
                other.unlink()


_DIGEST = hashlib.sha256().digest_size
