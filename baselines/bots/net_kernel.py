"""Nets inside the drivers: a kernel that reads its weights from the process, not from its own code.

Compiled code is kept on disk, weights are not part of it. A kernel belongs to a *slot*: a place in a table of addresses, which the
code finds by the table's name when it is loaded. So a net that is trained on needs no compiling; only another shape or another
slot does.

The first layer reads 0s and 1s: it is the sum of the rows of weights whose bits are set. Units at 0 are skipped in the others.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from trick_core.bits import ONE, ZERO, lowest, popcount
from trick_core.drivers import JitBot
from trick_core.game import Game
from trick_core.jit import JIT, kernel

if TYPE_CHECKING:
    from baselines.bots.net import Net

#: Nets that may play as kernels in one process.
NUM_SLOTS = 64
_SYMBOL = "trick_envs_nets"

#: Address of each slot's weights: float32, layer after layer, weights row by row and then biases; after them the temperature.
_addresses = (ctypes.c_int64 * NUM_SLOTS)()
#: What each slot holds, by its hash. The arrays must stay where they are.
_slots: dict[str, tuple[int, np.ndarray[Any, Any]]] = {}

if JIT:
    import llvmlite.binding
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    llvmlite.binding.add_symbol(_SYMBOL, ctypes.addressof(_addresses))

    def _array(context: Any, builder: Any, kind: Any, place: Any, shape: tuple[int, ...]) -> Any:
        """An array that owns nothing, over what lies at ``place``."""
        array = context.make_array(kind)(context, builder)
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        strides = [size * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        constant = functools.partial(context.get_constant, types.intp)
        populate_array(
            array,
            data=builder.bitcast(place, array.data.type),
            shape=[constant(length) for length in shape],
            strides=[constant(stride) for stride in strides],
            itemsize=constant(size),
            meminfo=None,
        )
        return array._getvalue()

    @intrinsic(prefer_literal=True)
    def _weights_of(typingctx, slot, count):
        """The float32 numbers of a slot; both arguments are literals."""
        number, length = slot.literal_value, count.literal_value
        array = types.Array(types.float32, 1, "C", readonly=True)

        def codegen(context, builder, signature, args):
            kind = ir.ArrayType(ir.IntType(64), NUM_SLOTS)
            table = builder.module.globals.get(_SYMBOL)
            if table is None:  # external: its address is filled in when the code is loaded
                table = ir.GlobalVariable(builder.module, kind, _SYMBOL)
            at = builder.gep(table, [ir.IntType(32)(0), ir.IntType(32)(number)])
            place = builder.inttoptr(builder.load(at), ir.IntType(8).as_pointer())
            return _array(context, builder, array, place, (length,))

        return array(slot, count), codegen

    def _on_stack(dtype: Any, shape_of: Any) -> Any:
        """An intrinsic ``(count) -> array`` in the frame of the calling function; ``count`` is a literal."""

        @intrinsic(prefer_literal=True)
        def room(typingctx, count):
            shape = shape_of(count.literal_value)
            array = types.Array(dtype, len(shape), "C")

            def codegen(context, builder, signature, args):
                length = ir.IntType(64)(math.prod(shape))
                place = cgutils.alloca_once(builder, context.get_data_type(dtype), size=length)
                place.align = 64
                return _array(context, builder, array, place, shape)

            return array(count), codegen

        return room

    _words_on_stack = _on_stack(types.uint64, lambda count: (1, count))
    _floats_on_stack = _on_stack(types.float32, lambda count: (count,))


def net_jit(net: Net, game: Game, temperature: float) -> JitBot | None:
    """A net as a kernel; None: this process has no slot left for it."""
    flat = np.concatenate(
        [part.ravel() for layer in zip(net.weights, net.biases, strict=True) for part in layer]
        + [np.array([temperature], np.float32)]
    ).astype(np.float32)
    digest = hashlib.sha256(flat.tobytes()).hexdigest()
    if digest not in _slots:
        if len(_slots) == NUM_SLOTS:
            return None
        slot = len(_slots)
        _slots[digest] = slot, flat
        _addresses[slot] = flat.ctypes.data
    sizes = (net.inputs, *(len(bias) for bias in net.biases))
    return _bot(game, _slots[digest][0], sizes, temperature > 0.0)


@functools.cache
def _bot(game: Game, slot: int, sizes: tuple[int, ...], draws: bool) -> JitBot:
    shape = "x".join(map(str, sizes))
    label = f"net{slot}-{shape}-{'draws' if draws else 'best'}"
    return JitBot(label, _act(game, slot, sizes, draws), __file__, honest=True)


def _act(game: Game, slot: int, sizes: tuple[int, ...], draws: bool) -> Any:
    """Kernel ``(config, view, random) -> action`` for the net in a slot."""
    observe, observe_row = game.kernels.observe, game.kernels.observe_row
    words, row_words = -(-sizes[0] // 64), game.row_start // 64
    all_words, has_row = game.layout.words, words > row_words
    mask_words = game.mask_words
    first, actions, widest = sizes[1], sizes[-1], max(sizes[1:])
    last_mask = np.uint64((1 << ((sizes[0] - 1) % 64 + 1)) - 1)
    starts = [0]
    for read_in, given_out in itertools.pairwise(sizes):
        starts.append(starts[-1] + (read_in + 1) * given_out)
    total = starts[-1]
    numbers = total + 1

    @kernel
    def read(config, view, seen):
        observe(config, view, view.seat, seen, 0)
        if has_row:
            observe_row(config, view, seen, 0)
        seen[0, words - 1] &= last_mask

    @kernel
    def layers(seen, weights, one, other):
        for k in range(first):
            one[k] = weights[sizes[0] * first + k]
        for word in range(words):
            bits = seen[0, word]
            while bits != ZERO:
                row = (64 * word + lowest(bits)) * first
                bits &= bits - ONE
                for k in range(first):
                    one[k] += weights[row + k]

    for number in range(1, len(sizes) - 1):
        layers = _then(layers, number, sizes[number], sizes[number + 1], starts[number])
    swapped = len(sizes) % 2 == 1  # where the last layer has written

    @kernel
    def is_legal(view, action):
        return (view.legal[action >> 6] >> np.uint64(action & 63)) & ONE != ZERO

    @kernel
    def pick(view, weights, logits, random):
        best, highest = -1, np.float32(0.0)
        for action in range(actions):
            if is_legal(view, action) and (best < 0 or logits[action] > highest):
                best, highest = action, logits[action]
        if not draws:
            return best
        temperature, whole = np.float64(weights[total]), 0.0
        for action in range(actions):
            if is_legal(view, action):
                logits[action] = math.exp((logits[action] - highest) / temperature)
                whole += logits[action]
        point, end = np.float64(random >> np.uint64(11)) * 2.0**-53 * whole, 0.0
        for action in range(actions):
            if is_legal(view, action):
                best = action
                end += logits[action]
                if end > point:
                    break
        return best

    if not JIT:

        def act_slowly(config, view, random):
            seen = np.zeros((1, all_words), np.uint64)
            read(config, view, seen)
            flat = next(flat for number, flat in _slots.values() if number == slot)
            one, other = np.zeros(widest, np.float32), np.zeros(widest, np.float32)
            layers(seen, flat, one, other)
            return pick(view, flat, other if swapped else one, random)

        return act_slowly

    @kernel
    def act(config, view, random):
        choices, only = 0, 0
        for word in range(mask_words):
            if view.legal[word] != ZERO:
                choices += popcount(view.legal[word])
                only = 64 * word + lowest(view.legal[word])
        if choices == 1:
            return only
        seen = _words_on_stack(all_words)
        one, other = _floats_on_stack(widest), _floats_on_stack(widest)
        weights = _weights_of(slot, numbers)
        read(config, view, seen)
        layers(seen, weights, one, other)
        return pick(view, weights, other if swapped else one, random)

    return act


def _then(before: Any, number: int, read_in: int, given_out: int, start: int) -> Any:
    """The layers before, and one more: odd layers write from one buffer to the other, even ones back."""
    odd = number % 2 == 1

    @kernel
    def dense(weights, values, out):
        for k in range(given_out):
            out[k] = weights[start + read_in * given_out + k]
        for i in range(read_in):
            value = values[i]
            if value > 0.0:
                for k in range(given_out):
                    out[k] += value * weights[start + i * given_out + k]

    @kernel
    def layers(seen, weights, one, other):
        before(seen, weights, one, other)
        if odd:
            dense(weights, one, other)
        else:
            dense(weights, other, one)

    return layers
