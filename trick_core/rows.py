"""Sharing the rows of a batch among threads, where a call is as short as a step of some thousand tables.

Python threads that wait inside a compiled kernel, without the GIL: to hand them rows is to write a few words of memory, where
waking a Python thread takes some 0.1 ms (:mod:`trick_core.threads` does that, for longer work). They wait so for
:data:`PATIENCE` seconds only, then sleep until they are called again. Nobody ever waits for one that sleeps: shares are cut
into pieces, any thread may take any piece, and the calling thread takes all that nobody else does.

Threads are started at first use in each process. After a fork the child starts its own.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import atexit
import functools
import hashlib
import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np

from trick_core.jit import JIT, direct, entry, kernel

#: Seconds for which an idle thread looks out for work before it sleeps.
PATIENCE = 2e-4

#: Pieces that a thread's share is cut into.
PIECES = 8

#: Words of ``control``, each on a cache line of its own.
_JOB, _CALL, _MEMORY, _ROWS, _COUNT, _DONE, _FAILED, _CLOSED, _CLAIMS = range(9)
_WORD_OF_LINE = 8
_MOST_THREADS = 256


class RowWork:
    """An entry with all its arguments but the last two, which are the rows ``lo`` and ``hi`` to work on.

    Args:
        function: The entry ``(*arguments, lo, hi)``. Called from several threads at once for different rows.
        *arguments: Arrays, named tuples of arrays, and integers; later changes of the arrays' contents are seen.
    """

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.arguments = arguments
        self._function = function
        self._direct = direct(function, *arguments, 0, 0)
        self._kept: tuple[int, np.ndarray[Any, Any]] | None = None

    def __call__(self, lo: int, hi: int) -> Any:
        """Work on rows ``lo`` to ``hi - 1`` in this thread."""
        return self._direct(*self.arguments, lo, hi)

    def share(self, rows: int, num_threads: int) -> None:
        """Work on every row of ``range(rows)`` once.

        Args:
            rows: Number of rows.
            num_threads: Threads that share them, this one included. While another Python thread has the helpers, this
                one works alone.

        Raises:
            RuntimeError: The entry raised an exception in some thread.
        """
        count = min(num_threads, rows, _MOST_THREADS)
        if count <= 1 or not JIT:
            self._direct(*self.arguments, 0, rows)
            return
        if not _crew.work(self, rows, count):
            self._direct(*self.arguments, 0, rows)

    def kept(self) -> tuple[int, np.ndarray[Any, Any]]:
        """Address of code that takes part in the work, and the memory that it reads the arguments from."""
        if self._kept is None:
            self._kept = _keep(self._function, self.arguments)
        return self._kept


if JIT:
    import numba
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    _I64, _I32 = ir.IntType(64), ir.IntType(32)
    _CALL_TYPES = (types.int64, types.int64, types.int64)

    def _word(context, builder, array_type, array, line):
        """Pointer to the word of a line of ``control``."""
        struct = context.make_array(array_type)(context, builder, array)
        zero = ir.Constant(_I64, 0)
        return cgutils.get_item_pointer(
            context, builder, array_type, struct, [line, zero], wraparound=False
        )

    @intrinsic
    def _load(typingctx, control, line):
        """A word, with all that was written before it was."""

        def codegen(context, builder, signature, args):
            pointer = _word(context, builder, signature.args[0], args[0], args[1])
            return builder.load_atomic(pointer, "seq_cst", 8)

        return types.int64(control, types.int64), codegen

    @intrinsic
    def _store(typingctx, control, line, value):
        """Write a word, after all that was written before."""

        def codegen(context, builder, signature, args):
            pointer = _word(context, builder, signature.args[0], args[0], args[1])
            builder.store_atomic(args[2], pointer, "seq_cst", 8)
            return context.get_dummy_value()

        return types.void(control, types.int64, types.int64), codegen

    @intrinsic
    def _add_one(typingctx, control, line):
        """Count a word up; returns what it was."""

        def codegen(context, builder, signature, args):
            pointer = _word(context, builder, signature.args[0], args[0], args[1])
            return builder.atomic_rmw("add", pointer, ir.Constant(_I64, 1), "seq_cst")

        return types.int64(control, types.int64), codegen

    @intrinsic
    def _pause(typingctx):
        """Tell the processor that this thread only waits."""

        def codegen(context, builder, signature, args):
            machine = builder.module.triple.partition("-")[0]
            if machine in ("x86_64", "i686"):
                kind = ir.FunctionType(ir.VoidType(), [])
                name = "llvm.x86.sse2.pause"
                builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
            return context.get_dummy_value()

        return types.void(), codegen

    @intrinsic
    def _give_way(typingctx):
        """Let another thread have this core, if one waits for it."""

        def codegen(context, builder, signature, args):
            if os.name == "posix":
                kind = ir.FunctionType(_I32, [])
                builder.call(
                    cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), []
                )
            return context.get_dummy_value()

        return types.void(), codegen

    @intrinsic
    def _call(typingctx, function, memory, lo, hi):
        """Call a compiled ``(memory, lo, hi) -> 1 if an exception was raised`` by its address."""

        def codegen(context, builder, signature, args):
            kind = context.call_conv.get_function_type(types.int64, _CALL_TYPES)
            pointer = builder.inttoptr(args[0], kind.as_pointer())
            _, result = context.call_conv.call_function(
                builder, pointer, types.int64, _CALL_TYPES, args[1:]
            )
            return result

        return types.int64(types.int64, *_CALL_TYPES), codegen

    def _address(function, kinds):
        """Address of an entry's compiled code for arguments of these types."""
        function.compile(kinds)
        compiled = function.overloads[kinds]
        return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)

    def _keep(function, arguments):
        """Arguments as words of memory, and the address of code ``(memory, lo, hi)`` that calls ``function`` with them."""
        kinds = tuple(map(numba.typeof, arguments))
        rows = (types.int64, types.int64)
        address = _address(function, (*kinds, *rows))
        result = function.overloads[(*kinds, *rows)].signature.return_type
        memory = np.zeros(_WORD_OF_LINE + _size_of(kinds), np.int64)
        write, call = _keepers(kinds, result)
        write(memory, address, arguments)
        return _address(call, _CALL_TYPES), memory

    def _size_of(kinds):
        """Words that arguments of these types take."""
        target = numba.core.registry.cpu_target.target_context
        return -(-target.get_abi_sizeof(target.get_value_type(types.Tuple(kinds))) // 8)

    @functools.cache
    def _keepers(kinds, result):
        """Entries that write arguments of these types to memory, and call a function with them."""
        all_kinds, kept = (*kinds, types.int64, types.int64), types.Tuple(kinds)

        @intrinsic
        def write_arguments(typingctx, memory, arguments):
            def codegen(context, builder, signature, args):
                struct = context.make_array(signature.args[0])(context, builder, args[0])
                first = builder.gep(struct.data, [ir.Constant(_I64, _WORD_OF_LINE)])
                pointer = builder.bitcast(first, args[1].type.as_pointer())
                builder.store(args[1], pointer).align = 8
                return context.get_dummy_value()

            return types.void(memory, kept), codegen

        @intrinsic
        def call_function(typingctx, memory, lo, hi):
            def codegen(context, builder, signature, args):
                words = builder.inttoptr(args[0], _I64.as_pointer())
                first = builder.gep(words, [ir.Constant(_I64, _WORD_OF_LINE)])
                pointer = builder.bitcast(first, context.get_value_type(kept).as_pointer())
                arguments = builder.load(pointer)
                arguments.align = 8
                kind = context.call_conv.get_function_type(result, all_kinds)
                function = builder.inttoptr(builder.load(words), kind.as_pointer())
                given = [*cgutils.unpack_tuple(builder, arguments, len(kinds)), *args[1:]]
                status, _ = context.call_conv.call_function(
                    builder, function, result, all_kinds, given
                )
                return builder.zext(status.is_error, _I64)

            return types.int64(*_CALL_TYPES), codegen

        # The types are all that the code depends on.
        name = hashlib.sha256(repr((kinds, result)).encode()).hexdigest()[:16]

        @entry(f"rows.write.{name}")
        def write(memory, address, arguments):
            memory[0] = address
            write_arguments(memory, arguments)

        @entry(f"rows.call.{name}")
        def call(memory, lo, hi):
            return call_function(memory, lo, hi)

        return write, call

    @kernel
    def _take_pieces(control, me):
        """Work on pieces until none is left, those of the own share first."""
        count = _load(control, _COUNT)
        for k in range(count):
            share = (me + k) % count
            while True:
                piece = _add_one(control, _CLAIMS + share)
                if piece >= PIECES:
                    break
                # The job cannot end, nor a new one begin, before this piece is done: now its words can be relied on.
                rows, shares = _load(control, _ROWS), _load(control, _COUNT)
                first, end = rows * share // shares, rows * (share + 1) // shares
                lo = first + (end - first) * piece // PIECES
                hi = first + (end - first) * (piece + 1) // PIECES
                if lo < hi and _call(_load(control, _CALL), _load(control, _MEMORY), lo, hi) != 0:
                    _store(control, _FAILED, 1)
                _add_one(control, _DONE)

    @kernel
    def _work_to_the_end(control):
        """Take part in the job and wait until all of it is done."""
        _take_pieces(control, 0)
        waited = 0
        while _load(control, _DONE) < _load(control, _COUNT) * PIECES:
            waited = _wait(waited)

    @entry("rows.post")
    def _post(control, call, memory, rows, count):
        """Make a job known."""
        _work_to_the_end(control)  # an interrupt may have kept somebody from that
        _store(control, _CALL, call)
        _store(control, _MEMORY, memory)
        _store(control, _ROWS, rows)
        _store(control, _COUNT, count)
        _store(control, _DONE, 0)
        _store(control, _FAILED, 0)
        for share in range(count):
            _store(control, _CLAIMS + share, 0)
        _add_one(control, _JOB)

    @entry("rows.finish")
    def _finish(control):
        """Take part in the job and wait for its end. Returns 1 if an exception was raised."""
        _work_to_the_end(control)
        return _load(control, _FAILED)

    @kernel
    def _wait(waited):
        _pause()
        if waited & 63 == 63:
            _give_way()
        return waited + 1

    @entry("rows.serve")
    def _serve(control, me, patience):
        """Take part in jobs as helper ``me``, until there has been none for ``patience`` looks. Returns the last job seen."""
        job = -1
        waited = 0
        while waited < patience and _load(control, _CLOSED) == 0:
            latest = _load(control, _JOB)
            if latest != job:
                job = latest
                if me < _load(control, _COUNT):
                    _take_pieces(control, me)
                    waited = 0
            waited = _wait(waited)
        return job


def _new_control() -> np.ndarray[Any, Any]:
    """Words through which the threads speak, shape (lines, 8); the first of each line is used."""
    control = np.zeros((_CLAIMS + _MOST_THREADS, _WORD_OF_LINE), np.int64)
    control[_CLAIMS:, 0] = PIECES  # nothing to take yet
    return control


class _Crew:
    """The threads of this process that help with rows; they serve one job at a time."""

    def __init__(self) -> None:
        self._control = _new_control()
        self._busy = threading.Lock()
        self._held: RowWork | None = None
        self._asleep: list[bool] = []
        self._calls: list[SimpleQueue[None]] = []

    @functools.cached_property
    def _post(self) -> Callable[..., None]:
        return direct(_post, self._control, 0, 0, 0, 0)

    @functools.cached_property
    def _finish(self) -> Callable[..., int]:
        return direct(_finish, self._control)

    def work(self, work: RowWork, rows: int, count: int) -> bool:
        """Share rows among ``count`` threads, this one among them. False: the helpers are busy, nothing has been done."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            call, memory = work.kept()
            self._held = work  # as long as a helper may read its arguments
            try:
                self._post(self._control, call, memory.ctypes.data, rows, count)
                self._wake(count - 1)
            finally:
                failed = self._finish(self._control)
        finally:
            self._busy.release()
        if failed:
            raise RuntimeError(
                "a kernel raised an exception in one of several threads; with num_threads=1 it comes out"
            )
        return True

    def _wake(self, count: int) -> None:
        for k in range(count):
            if k == len(self._asleep):
                self._start(k)
            elif self._asleep[k]:
                self._asleep[k] = False
                self._calls[k].put(None)

    def _start(self, k: int) -> None:
        self._calls.append(SimpleQueue())
        self._asleep.append(False)
        threading.Thread(target=self._help, args=(k,), name="trick-envs", daemon=True).start()

    def _help(self, k: int) -> None:
        serve = direct(_serve, self._control, 0, 0)
        patience = _looks(PATIENCE)
        while True:
            job = serve(self._control, k + 1, patience)
            self._asleep[k] = True
            # Jobs are posted before this flag is read: one is seen here, or whoever posts it sees the flag.
            if job == self._control[_JOB, 0]:
                self._calls[k].get()
            self._asleep[k] = False

    def close(self) -> None:
        """Have threads that look out for work leave their kernel."""
        self._control[_CLOSED, 0] = 1


@functools.cache
def _looks(seconds: float) -> int:
    """How many looks for work take so long; a kernel has no clock."""
    tries = 2000
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        _serve(_new_control(), 1, tries)
        best = min(best, time.perf_counter() - start)
    return max(1, round(tries * seconds / best))


_crew = _Crew()


def _start_anew() -> None:
    """In a forked child there are no threads but the one that forked."""
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
atexit.register(lambda: _crew.close())
