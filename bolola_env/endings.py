"""The rest of a deal as a solver sees it: which cards are alike, what a position depends on, what can still be won."""

from __future__ import annotations

from typing import Any

import numpy as np

from bolola_env.cards import ALL_CARDS, SUIT_SETS
from bolola_env.contracts import NUM_TRICKS
from bolola_env.rules import NAME_TRUMP_ACTIONS, SUIT_OF, all_played
from trick_core.bits import ONE, ZERO, highest, lowest
from trick_core.game import Endings
from trick_core.jit import kernel
from trick_core.rng import mix

_SEAT_AT = np.uint64(52)
_LOCK_AT = np.uint64(54)
_TRUMP_AT = np.uint64(55)


@kernel
def tricks_left(config: Any, st: Any) -> Any:
    """Tricks of the deal that are not finished; one more before trump is named."""
    if st.legal[0] & NAME_TRUMP_ACTIONS:
        return np.int64(NUM_TRICKS + 1)
    return np.int64(NUM_TRICKS - st.trick_number)


@kernel
def distinct(config: Any, st: Any, out: Any, i: Any) -> Any:
    """Write the legal actions, of touching cards of equal points and duties in the hand only the lowest.

    Cards touch if no card between them is held or lies in the trick. To exchange such cards changes neither the order of
    the cards that are left nor a duty nor a point, so what follows is the same.
    """
    legal = st.legal[0]
    out[i, 0] = legal
    if legal & NAME_TRUMP_ACTIONS:
        return
    row = config[st.deal]
    hand = st.hands[st.seat & 3]
    live = ALL_CARDS & ~all_played(st)
    for seat in range(4):
        live |= st.trick[seat]
    cards = legal
    while cards:
        card = lowest(cards)
        bit = ONE << np.uint64(card)
        cards ^= bit
        lower = live & SUIT_SETS[SUIT_OF[card]] & (bit - ONE)
        if lower == ZERO:
            continue
        touching = highest(lower)
        if hand & (ONE << np.uint64(touching)) and is_alike(row, card, touching):
            out[i, 0] ^= bit


@kernel
def is_alike(row: Any, card: Any, other: Any) -> Any:
    """Whether two cards of a suit have the same points and the same duties."""
    if row.card_points[card] != row.card_points[other]:
        return False
    differ = (row.under_duty >> np.uint64(card)) ^ (row.under_duty >> np.uint64(other))
    for i in range(row.num_tiers):
        differ |= (row.tiers[i] >> np.uint64(card)) ^ (row.tiers[i] >> np.uint64(other))
    return differ & ONE == ZERO


@kernel
def key(config: Any, st: Any) -> Any:
    """Between tricks the hands, who leads, the trump suit, and whether a suit is locked; the trick's number follows from the hands."""
    if st.trick_size != 0:
        return ZERO
    locked = np.uint64(st.locked != ZERO)
    trump = np.uint64(st.trump + 1)
    word = st.hands[0] ^ (np.uint64(st.seat & 3) << _SEAT_AT)
    word = mix(word ^ (locked << _LOCK_AT) ^ (trump << _TRUMP_AT))
    for seat in range(1, 4):
        word = mix(word ^ st.hands[seat])
    return word


@kernel
def bounds(config: Any, st: Any) -> Any:
    """All losses that can still fall, and all gains."""
    row = config[st.deal]
    least, most = np.int64(0), np.int64(0)
    for trick in range(st.trick_number, NUM_TRICKS):
        value = row.trick_value[trick]
        least += min(value, 0)
        most += max(value, 0)
    cards = row.scoring & ~all_played(st)
    for seat in range(4):
        cards |= row.scoring & st.trick[seat]
    while cards:
        value = row.card_points[lowest(cards)]
        least += min(value, 0)
        most += max(value, 0)
        cards &= cards - ONE
    return least, most


@kernel
def side(config: Any, st: Any, seat: Any) -> Any:
    """Every seat plays for itself."""
    return np.int64(seat)


ENDINGS = Endings(tricks_left, distinct, key, bounds, side, num_sides=4)
