"""The play of a deal so far, for those who infer hands from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bolola_env.cards import NUM_CARDS
from bolola_env.rules import NAME_TRUMP, NAME_TRUMP_ACTIONS, find_legal, open_deal
from trick_core.bits import ONE, ZERO, popcount, select
from trick_core.game import Past
from trick_core.jit import kernel
from trick_core.rng import advance, below, mix

_S32 = np.uint64(32)


@kernel
def was_named(config: Any, st: Any) -> Any:
    """Whether the starter named the trump suit of this deal (B-6.1); of a custom deal that is not known."""
    return st.trump >= 0 and config[st.deal].fixed_trump < 0 and st.custom == 0


@kernel
def length(config: Any, st: Any) -> Any:
    """Actions of the deal so far."""
    return np.int64(4 * st.trick_number + st.trick_size + (1 if was_named(config, st) else 0))


@kernel
def action(config: Any, st: Any, k: Any) -> Any:
    """Action number ``k`` of the deal."""
    if was_named(config, st):
        if k == 0:
            return np.int64(NAME_TRUMP + st.trump)
        return np.int64(st.order[k - 1])
    return np.int64(st.order[k])


@kernel
def rewind(config: Any, st: Any) -> Any:
    """Put the deal back to where its first action was to be taken."""
    trump = np.int8(-1) if was_named(config, st) else st.trump
    for seat in range(4):
        st.hands[seat] |= st.played[seat]
    open_deal(config[st.deal], st, trump)


@kernel
def recall(config: Any, st: Any, world: Any) -> Any:
    """Give the seat on turn in an earlier state of the deal the cards that it held then if it now has those of ``world``."""
    seat = st.seat & 3
    st.hands[seat] = world.hands[seat] | (world.played[seat] & ~st.played[seat])
    if st.legal[0] & NAME_TRUMP_ACTIONS == ZERO:
        find_legal(config[st.deal], st)


@kernel
def swap(st: Any, one: Any, other: Any, word: Any) -> Any:
    """Let a card of each of two hands change places, unless there is none or what was played rules it out."""
    held, others = popcount(st.hands[one]), popcount(st.hands[other])
    if held == 0 or others == 0:
        return
    card = ONE << np.uint64(select(st.hands[one], below(word, held)))
    back = ONE << np.uint64(select(st.hands[other], below((word << _S32) | (word >> _S32), others)))
    if card & st.can[other] and back & st.can[one]:
        st.hands[one] ^= card | back
        st.hands[other] ^= card | back


@kernel
def exchange(config: Any, st: Any, seat: Any, word: Any, pairs: Any) -> Any:
    """Let two hidden hands exchange up to so many pairs of cards; the hands, or -1, -1 where nothing has changed."""
    skip = below(word, 3)
    one = np.int64((seat + 1 + (1 if skip == 0 else 0)) & 3)
    other = np.int64((seat + 2 + (1 if skip <= 1 else 0)) & 3)
    before = st.hands[one]
    for _ in range(pairs):
        word = advance(word)
        swap(st, one, other, mix(word))
    if st.hands[one] == before:
        return np.int64(-1), np.int64(-1)
    return one, other


@kernel
def hand(st: Any, seat: Any) -> Any:
    """A seat's cards."""
    return st.hands[seat]


PAST = Past(length, action, rewind, recall, exchange, hand, longest=NUM_CARDS + 1)
