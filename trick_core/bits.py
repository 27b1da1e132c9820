"""Card sets as bits: counting, picking, and unpacking to bytes.

Compiled, each of these is one or two machine instructions; uncompiled, plain Python with the same result.
A *word* is a ``uint64``; bit 0 is the lowest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trick_core.jit import JIT, kernel

ONE = np.uint64(1)
ZERO = np.uint64(0)


if JIT:
    import llvmlite.binding
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils, config
    from numba.extending import intrinsic

    _WORD = ir.IntType(64)
    _BYTE = ir.IntType(8)

    def _has_bmi2() -> bool:
        """Whether the processor that Numba compiles for deposits bits in one instruction."""
        if config.CPU_FEATURES:
            return "+bmi2" in config.CPU_FEATURES.split(",")
        if config.CPU_NAME and llvmlite.binding.get_host_cpu_name() != config.CPU_NAME:
            return False
        try:
            return bool(llvmlite.binding.get_host_cpu_features().get("bmi2", False))
        except RuntimeError:
            return False

    _BMI2 = _has_bmi2()

    @intrinsic
    def popcount(typingctx, word):  # type: ignore[no-untyped-def]
        """Number of bits set in ``word``."""

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return builder.ctpop(args[0])

        return types.int64(types.uint64), codegen

    @intrinsic
    def lowest(typingctx, word):  # type: ignore[no-untyped-def]
        """Index of the lowest bit set; 64 if there is none."""

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.uint64), codegen

    @intrinsic
    def _leading_zeros(typingctx, word):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.uint64), codegen

    @kernel
    def highest(word: Any) -> Any:
        """Index of the highest bit set; -1 if there is none."""
        return 63 - _leading_zeros(word)

    if _BMI2:

        @intrinsic
        def _deposit(typingctx, word, mask):  # type: ignore[no-untyped-def]
            def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
                kind = ir.FunctionType(_WORD, [_WORD, _WORD])
                function = cgutils.get_or_insert_function(
                    builder.module, kind, "llvm.x86.bmi.pdep.64"
                )
                return builder.call(function, args)

            return types.uint64(types.uint64, types.uint64), codegen

        @kernel
        def select(word: Any, k: Any) -> Any:
            """Index of the ``k``-th bit set (``k`` from 0, below ``popcount(word)``)."""
            return lowest(_deposit(ONE << np.uint64(k), word))

    else:

        @kernel
        def select(word: Any, k: Any) -> Any:
            """Index of the ``k``-th bit set (``k`` from 0, below ``popcount(word)``)."""
            for _ in range(k):
                word &= word - ONE
            return lowest(word)

    @intrinsic(prefer_literal=True)
    def _store_bits(typingctx, array, i, at, word, count):  # type: ignore[no-untyped-def]
        """Write the lowest ``count`` bits (a literal power of two) as bytes from ``array[i, at]``."""
        width = count.literal_value

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            array_type = signature.args[0]
            struct = context.make_array(array_type)(context, builder, args[0])
            target = cgutils.get_item_pointer(
                context, builder, array_type, struct, [args[1], args[2]], wraparound=False
            )
            bits = args[3] if width == 64 else builder.trunc(args[3], ir.IntType(width))
            flags = builder.bitcast(bits, ir.VectorType(ir.IntType(1), width))
            lanes = ir.VectorType(_BYTE, width)
            store = builder.store(
                builder.zext(flags, lanes), builder.bitcast(target, lanes.as_pointer())
            )
            store.align = 1
            return context.get_dummy_value()

        return types.void(array, types.int64, types.int64, types.uint64, count), codegen

    @intrinsic
    def prefetch(typingctx, array, i, at):  # type: ignore[no-untyped-def]
        """Ask for the cache line of ``array[i, at]``, which is about to be written."""

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            array_type = signature.args[0]
            struct = context.make_array(array_type)(context, builder, args[0])
            target = cgutils.get_item_pointer(
                context, builder, array_type, struct, [args[1], args[2]], wraparound=False
            )
            pointer, number = _BYTE.as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            builder.call(
                function, [builder.bitcast(target, pointer), number(1), number(3), number(1)]
            )
            return context.get_dummy_value()

        return types.void(array, types.int64, types.int64), codegen

    @kernel
    def _store_overlapping(array: Any, i: Any, at: Any, word: Any, count: Any, width: Any) -> Any:
        """``count`` bits, ``width`` to twice as many, in two stores that may overlap."""
        _store_bits(array, i, at, word, width)
        rest = count - width
        if rest > 0:
            _store_bits(array, i, at + rest, word >> np.uint64(rest), width)

    @kernel
    def expand(array: Any, i: Any, at: Any, word: Any, count: Any) -> Any:
        """Write the lowest ``count`` bits of ``word`` as 0/1 bytes from ``array[i, at]`` on."""
        if count == 64:
            _store_bits(array, i, at, word, 64)
            return
        if count >= 32:
            _store_overlapping(array, i, at, word, count, 32)
        elif count >= 16:
            _store_overlapping(array, i, at, word, count, 16)
        elif count >= 8:
            _store_overlapping(array, i, at, word, count, 8)
        else:
            for _ in range(count):
                array[i, at] = word & ONE
                at += 1
                word >>= ONE

else:

    def popcount(word: Any) -> int:
        """Number of bits set in ``word``."""
        return int(word).bit_count()

    def lowest(word: Any) -> int:
        """Index of the lowest bit set; 64 if there is none."""
        value = int(word)
        return (value & -value).bit_length() - 1 if value else 64

    def highest(word: Any) -> int:
        """Index of the highest bit set; -1 if there is none."""
        return int(word).bit_length() - 1

    def select(word: Any, k: Any) -> int:
        """Index of the ``k``-th bit set (``k`` from 0, below ``popcount(word)``)."""
        value = int(word)
        for _ in range(int(k)):
            value &= value - 1
        return int(lowest(value))

    def prefetch(array: Any, i: Any, at: Any) -> None:
        """Ask for the cache line of ``array[i, at]``: nothing to do here."""

    def expand(array: Any, i: Any, at: Any, word: Any, count: Any) -> None:
        """Write the lowest ``count`` bits of ``word`` as 0/1 bytes from ``array[i, at]`` on."""
        for bit in range(count):
            array[i, at + bit] = (int(word) >> bit) & 1


@kernel
def unpack(words: Any, array: Any, i: Any, first: Any, count: Any) -> Any:
    """Write bits ``first`` to ``count - 1`` of row ``i`` of ``words`` as 0/1 bytes of row ``i`` of ``array``.

    ``first`` is a multiple of 64.
    """
    at = first
    while at + 64 <= count:
        expand(array, i, at, words[i, at >> 6], 64)
        at += 64
    if at < count:
        expand(array, i, at, words[i, at >> 6], count - at)


def words_to_bits(words: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Unpack ``uint64`` words ``(..., W)`` to 0/1 ``int8`` ``(..., count)``, lowest bit first."""
    little = np.ascontiguousarray(words, dtype="<u8")
    as_bytes = little.view(np.uint8)
    return np.unpackbits(as_bytes, axis=-1, bitorder="little")[..., :count].astype(np.int8)
