"""The random policy that the benchmarks play with: compiled, one stream of random numbers a row, empty masks accepted."""

from __future__ import annotations

from typing import Any

import numpy as np

from trick_core.bits import popcount, select
from trick_core.jit import JIT, entry, kernel
from trick_core.rng import advance, below, mix
from trick_core.threads import share_rows

if JIT:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic(prefer_literal=True)
    def _load_flags(typingctx, array, i, at, count):  # type: ignore[no-untyped-def]
        """Which of ``count`` (literal) bytes from ``array[i, at]`` are not 0, as a word."""
        width = count.literal_value

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            array_type = signature.args[0]
            struct = context.make_array(array_type)(context, builder, args[0])
            source = cgutils.get_item_pointer(
                context, builder, array_type, struct, [args[1], args[2]], wraparound=False
            )
            lanes = ir.VectorType(ir.IntType(8), width)
            loaded = builder.load(builder.bitcast(source, lanes.as_pointer()))
            loaded.align = 1
            flags = builder.icmp_unsigned("!=", loaded, ir.Constant(lanes, None))
            word = builder.bitcast(flags, ir.IntType(width))
            return word if width == 64 else builder.zext(word, ir.IntType(64))

        return types.uint64(array, types.int64, types.int64, count), codegen

    @kernel
    def _flags(mask: Any, i: Any, at: Any, count: Any) -> Any:
        if count == 64:
            return _load_flags(mask, i, at, 64)
        word, shift = np.uint64(0), np.uint64(0)
        if count & 32:
            word |= _load_flags(mask, i, at, 32)
            at += 32
            shift += np.uint64(32)
        if count & 16:
            word |= _load_flags(mask, i, at, 16) << shift
            at += 16
            shift += np.uint64(16)
        if count & 8:
            word |= _load_flags(mask, i, at, 8) << shift
            at += 8
            shift += np.uint64(8)
        for k in range(count & 7):
            word |= np.uint64(mask[i, at + k] != 0) << (shift + np.uint64(k))
        return word

else:

    def _flags(mask: Any, i: Any, at: Any, count: Any) -> Any:
        return np.uint64(sum(1 << k for k in range(count) if mask[i, at + k]))


@entry("benchmarks.random_policy", [__file__])
def _choose(mask: Any, streams: Any, actions: Any, lo: Any, hi: Any) -> None:
    num_actions = mask.shape[1]
    for i in range(lo, hi):
        word = _flags(mask, i, 0, min(64, num_actions))
        count = popcount(word)
        for at in range(64, num_actions, 64):
            count += popcount(_flags(mask, i, at, min(64, num_actions - at)))
        streams[i] = advance(streams[i])
        k = below(mix(streams[i]), count)
        chosen = 0  # a row without legal actions: the environment ignores what it gets
        if k < popcount(word):
            chosen = select(word, k)
        k -= popcount(word)
        for at in range(64, num_actions, 64):
            word = _flags(mask, i, at, min(64, num_actions - at))
            here = popcount(word)
            if 0 <= k < here:
                chosen = at + select(word, k)
            k -= here
        actions[i] = chosen


class RandomPolicy:
    """A legal action for every row, each with the same chance.

    Args:
        count: Rows, N.
        seed: Of the rows' streams.
        num_threads: Threads that share the rows.
    """

    def __init__(self, count: int, seed: int = 0, num_threads: int = 1) -> None:
        self.actions = np.zeros(count, np.int64)
        self._streams = (np.arange(count, dtype=np.uint64) << np.uint64(32)) + np.uint64(seed)
        self._num_threads = num_threads

    def __call__(self, mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Actions (N,) int64 for masks (N, A); the array is used again by the next call."""
        share_rows(
            lambda lo, hi: _choose(mask, self._streams, self.actions, lo, hi),
            len(self.actions),
            self._num_threads,
        )
        return self.actions
