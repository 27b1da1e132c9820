"""The random policy that the benchmarks play with: compiled, one stream of random numbers a row, empty masks accepted."""

from __future__ import annotations

from typing import Any

import numpy as np

from trick_core.bits import popcount, select
from trick_core.jit import JIT, entry, kernel
from trick_core.rng import advance, below, mix
from trick_core.rows import RowWork

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
    def _load_overlapping(mask: Any, i: Any, at: Any, count: Any, width: Any) -> Any:
        """``count`` flags, ``width`` to twice as many, in two loads that overlap."""
        rest = count - width
        last = _load_flags(mask, i, at + rest, width)
        return _load_flags(mask, i, at, width) | (last << np.uint64(rest))

    @kernel
    def _flags(mask: Any, i: Any, at: Any, count: Any) -> Any:
        if count == 64:
            return _load_flags(mask, i, at, 64)
        if count >= 32:
            return _load_overlapping(mask, i, at, count, 32)
        if count >= 16:
            return _load_overlapping(mask, i, at, count, 16)
        if count >= 8:
            return _load_overlapping(mask, i, at, count, 8)
        word = np.uint64(0)
        for k in range(count):
            word |= np.uint64(mask[i, at + k] != 0) << np.uint64(k)
        return word

else:

    def _flags(mask: Any, i: Any, at: Any, count: Any) -> Any:
        return np.uint64(sum(1 << k for k in range(count) if mask[i, at + k]))


@kernel
def _last_flags(mask: Any, i: Any, num_actions: Any) -> Any:
    """The flags from 64 on, of at most 128."""
    if num_actions <= 64:
        return np.uint64(0)
    return _flags(mask, i, num_actions - 64, 64) >> np.uint64(128 - num_actions)


@entry("benchmarks.random_policy", [__file__])
def _choose(mask: Any, streams: Any, actions: Any, lo: Any, hi: Any) -> None:
    num_actions = mask.shape[1]
    for row in range(lo, hi):
        i = np.uint64(row)  # so that no index is looked at for being negative
        word, rest = _flags(mask, i, 0, min(64, num_actions)), _last_flags(mask, i, num_actions)
        count = popcount(word)
        streams[i] = advance(streams[i])
        k = below(mix(streams[i]), count + popcount(rest))
        # Without a branch: nobody could foretell it, and it would cost more than all the rest.
        beyond = np.int64((k >= count) & (rest != 0))
        k -= beyond * count
        word ^= (word ^ rest) * np.uint64(beyond)
        # A row without legal actions gets 0, which the environment ignores.
        actions[i] = 64 * beyond + (select(word, k) & 63)


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
        self._work: RowWork | None = None

    def __call__(self, mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Actions (N,) int64 for masks (N, A), A at most 128; the array is used again by the next call."""
        if self._work is None or self._work.arguments[0] is not mask:
            if mask.shape[1] > 128:
                raise ValueError(f"mask: expected at most 128 actions, got {mask.shape[1]}")
            self._work = RowWork(_choose, mask, self._streams, self.actions)
        self._work.share(len(self.actions), self._num_threads)
        return self.actions
