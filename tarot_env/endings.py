"""The rest of a deal as a solver sees it: which cards are alike, what a position depends on, who plays with whom."""

from __future__ import annotations

from typing import Any

import numpy as np

from tarot_env.cards import (
    ALL_SUITS,
    ALL_TRUMPS,
    EXCUSE,
    EXCUSE_ID,
    HALF_POINTS,
    NUM_TRICKS,
    SUIT_OF,
    SUIT_SETS,
    TRUMPS,
    by_id,
)
from tarot_env.scoring import LAST
from tarot_env.state import PLAY
from trick_core.bits import ONE, ZERO, highest, lowest
from trick_core.game import Endings
from trick_core.jit import kernel
from trick_core.rng import mix

#: More than any deal can pay, in half points.
_MOST = 1 << 20
_S2, _S4, _S8, _S16, _S32, _S56 = (np.uint64(n) for n in (2, 4, 8, 16, 32, 56))


@kernel
def tricks_left(config: Any, st: Any) -> Any:
    """Tricks of the deal that are not finished; one more before the first card."""
    return np.int64(NUM_TRICKS - st.trick_number + (1 if st.phase != PLAY else 0))


@kernel
def distinct(config: Any, st: Any, out: Any, i: Any) -> Any:
    """Write the legal actions, of touching cards of equal points in the hand only the lowest.

    Cards touch if no card between them is held or lies in the trick. To exchange such cards changes neither the order of
    the cards that are left nor a point; the oudlers are like no other card.
    """
    out[i, 0] = st.legal[0]
    out[i, 1] = st.legal[1]
    if st.phase != PLAY:
        return
    seat = st.seat & 3
    live, live_trumps = ZERO, ZERO
    for other in range(4):
        live |= st.hands[other] | st.trick[other]
        live_trumps |= st.hands_trumps[other] | st.trick_trumps[other]
    suits = st.legal[0] & ALL_SUITS
    trumps = ((st.legal[0] >> _S56) | (st.legal[1] << _S8)) & TRUMPS
    keep, keep_trumps = suits, trumps
    while suits:
        card = lowest(suits)
        bit = ONE << np.uint64(card)
        suits ^= bit
        lower = live & SUIT_SETS[SUIT_OF[card]] & (bit - ONE)
        if lower == ZERO:
            continue
        touching = highest(lower)
        held = st.hands[seat] & (ONE << np.uint64(touching))
        if held and HALF_POINTS[card] == HALF_POINTS[touching]:
            keep ^= bit
    while trumps:
        card = lowest(trumps)
        bit = ONE << np.uint64(card)
        trumps ^= bit
        lower = live_trumps & TRUMPS & (bit - ONE)
        if lower == ZERO:
            continue
        touching = highest(lower)
        held = st.hands_trumps[seat] & (ONE << np.uint64(touching))
        if held and HALF_POINTS[EXCUSE_ID + card] == HALF_POINTS[EXCUSE_ID + touching]:
            keep_trumps ^= bit
    excuse = (st.legal[0] >> _S56) & EXCUSE
    out[i, 0], out[i, 1] = by_id(keep, keep_trumps | excuse)


@kernel
def key(config: Any, st: Any) -> Any:
    """Between tricks the hands, who leads, and what the settlement asks of the tricks so far.

    That is the taker's points and oudlers, whether one side has all tricks, and in the last trick a Petit in the one before.
    What lies aside, and what was declared, stays as it is.
    """
    if st.trick_size != 0 or st.phase != PLAY:
        return ZERO
    sweep = np.uint64(st.taken[st.taker] == st.trick_number)
    swept = np.uint64(st.taken[st.taker] == 0)
    petit = np.uint64(st.trick_number == LAST and st.petit_trick == LAST - 1)
    word = np.uint64(st.seat & 3) | (sweep << _S2) | (swept << np.uint64(3)) | (petit << _S4)
    word |= (np.uint64(st.oudlers) << _S8) | (np.uint64(st.taker_points + 256) << _S16)
    word |= np.uint64(st.trick_number) << _S32
    word = mix(word)
    for seat in range(4):
        word = mix(word ^ st.hands[seat])
        word = mix(word ^ st.hands_trumps[seat])
    return word


@kernel
def bounds(config: Any, st: Any) -> Any:
    """No bound: the settlement hangs on the target, on the Petit, on the chelem."""
    return np.int64(-_MOST), np.int64(_MOST)


@kernel
def side(config: Any, st: Any, seat: Any) -> Any:
    """0 the taker, 1 the defence."""
    return np.int64(0 if seat == st.taker else 1)


ENDINGS = Endings(tricks_left, distinct, key, bounds, side, num_sides=2)

assert ALL_TRUMPS == TRUMPS | EXCUSE
