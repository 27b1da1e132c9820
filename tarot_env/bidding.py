"""Everything before the first card as kernels: bids, discard, chelem, poignées.

Source: ``seeds/rulebook/tarot.md``, clauses T-2.3 to T-4.6. For each phase one function that finds the legal actions and one that
applies an action and moves on to the next phase; :mod:`tarot_env.rules` dispatches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tarot_env.cards import (
    ALL_SUITS,
    CHIEN_SIZE,
    EXCUSE,
    EXCUSE_ID,
    KINGS,
    OUDLERS,
    TRUMPS,
    by_id,
)
from tarot_env.contracts import (
    CONTRACTS,
    NO_CHELEM,
    NO_POIGNEE,
    PASS,
    POIGNEE_SIZE,
    TAKES_CHIEN,
    TRIPLE,
)
from tarot_env.state import CHELEM, DISCARD, KEEP, OVER, PLAY, POIGNEE
from trick_core.bits import ONE, ZERO, highest, popcount
from trick_core.jit import kernel

# The actions that are no cards lie in the second word of a set of actions.
_PASS_BIT = np.uint64(1 << (PASS - 64))
_ALL_BIDS = np.uint64(((1 << len(CONTRACTS)) - 1) << (PASS + 1 - 64))
_CHELEM_BITS = np.uint64(0b11 << (NO_CHELEM - 64))
_NO_POIGNEE_BIT = np.uint64(1 << (NO_POIGNEE - 64))
_FIRST_BID = np.uint64(PASS + 1 - 64)
_FIRST_LEVEL = np.uint64(NO_POIGNEE + 1 - 64)


@kernel
def set_legal(st: Any, suits: Any, trumps: Any) -> Any:
    """Make exactly these cards legal."""
    st.legal[0], st.legal[1] = by_id(suits, trumps)


@kernel
def legal_bids(config: Any, st: Any) -> Any:
    """T-2.3: pass, or a bid above the highest so far."""
    bids = _ALL_BIDS & ~((ONE << (_FIRST_BID + np.uint64(st.contract))) - ONE)
    must = config[0].forbid_pass != 0 and st.spoken == 3 and st.taker < 0
    st.legal[0] = ZERO
    st.legal[1] = bids if must else bids | _PASS_BIT


@kernel
def apply_bid(st: Any, action: Any) -> Any:
    """T-2.3: the highest bidder is the taker; after four turns the contract begins, or the deal is annulled."""
    bid = action - PASS
    st.bids[st.seat] = bid
    st.spoken += 1
    if bid > 0:
        st.taker = st.seat
        st.contract = bid
    st.seat = (st.seat + 1) & 3
    if st.spoken < 4:
        return
    if st.taker < 0:
        st.phase = OVER  # T-2.4
    else:
        begin_contract(st)


@kernel
def begin_contract(st: Any) -> Any:
    """Taker and contract are settled: the chien, if the contract shows it, and the taker's first decision."""
    st.seat = st.taker
    st.phase = CHELEM
    if TAKES_CHIEN[st.contract] == 0:
        return  # T-3.4
    st.phase = DISCARD  # T-3.1
    st.hands[st.taker] |= st.chien
    st.hands_trumps[st.taker] |= st.chien_trumps
    for i in range(1, 4):
        st.can[(st.taker + i) & 3] &= ~st.chien
        st.can_trumps[(st.taker + i) & 3] &= ~st.chien_trumps
    # T-3.2, T-3.3: no king is discarded, and a discarded trump is public.
    st.hide = ALL_SUITS & ~KINGS
    st.hide_trumps = ZERO
    st.hidden_size = 0


@kernel
def discardable(suits: Any, trumps: Any) -> Any:
    """T-3.2: suit cards but kings; when none is left, trumps but oudlers."""
    small = suits & ~KINGS
    if small:
        return small, ZERO
    return ZERO, trumps & ~OUDLERS


@kernel
def legal_discards(st: Any) -> Any:
    """T-3.2, for the taker's hand."""
    suits, trumps = discardable(st.hands[st.taker], st.hands_trumps[st.taker])
    set_legal(st, suits, trumps)


@kernel
def apply_discard(st: Any, card: Any) -> Any:
    """Lay a card aside, and what the table learns from a trump (T-3.3)."""
    taker = st.taker
    if card < EXCUSE_ID:
        bit = ONE << np.uint64(card)
        st.hands[taker] ^= bit
        st.discard |= bit
        st.hidden_size += 1
    else:
        bit = ONE << np.uint64(card - EXCUSE_ID)
        st.hands_trumps[taker] ^= bit
        st.discard_trumps |= bit
        for seat in range(4):
            st.can_trumps[seat] &= ~bit  # T-3.3
        st.can[taker] &= KINGS  # T-3.2: any other suit card would have had to go first
    if st.hidden_size + popcount(st.discard_trumps) == CHIEN_SIZE:
        st.phase = CHELEM


@kernel
def legal_chelem(st: Any) -> Any:
    """T-4.1: the taker says chelem or not, in every contract."""
    st.legal[0] = ZERO
    st.legal[1] = _CHELEM_BITS


@kernel
def apply_chelem(st: Any, action: Any) -> Any:
    """T-4.6: an announced chelem gives the lead; the poignées follow."""
    st.chelem = action - NO_CHELEM
    if st.chelem != 0:
        st.leader = st.taker
    st.asked = 0


@kernel
def ask_next(st: Any) -> Any:
    """T-4.1: the next seat, from the one that will lead, that has a level available; without one the play begins."""
    st.level = 0
    st.kept = ZERO
    while st.asked < 4:
        seat = (st.leader + st.asked) & 3
        st.asked += 1
        if levels(st, seat) != ZERO:
            st.phase = POIGNEE
            st.seat = seat
            return
    st.phase = PLAY
    st.seat = st.leader


@kernel
def counted_trumps(st: Any, seat: Any, level: Any) -> Any:
    """The trumps that count for a poignée; for a triple of a taker with four kings, discarded ones too (T-4.5)."""
    trumps = st.hands_trumps[seat] & TRUMPS
    if level == TRIPLE and seat == st.taker and st.hands[seat] & KINGS == KINGS:
        trumps |= st.discard_trumps
    return trumps


@kernel
def levels(st: Any, seat: Any) -> Any:
    """The levels that a seat may show (T-4.2), bit ``level - 1`` for each."""
    excuse = np.int64(st.hands_trumps[seat] & EXCUSE)
    found = ZERO
    for level in range(1, TRIPLE + 1):
        # T-4.3: the Excuse makes up for one missing trump.
        if popcount(counted_trumps(st, seat, level)) + excuse >= POIGNEE_SIZE[level]:
            found |= ONE << np.uint64(level - 1)
    return found


@kernel
def legal_poignees(st: Any) -> Any:
    """T-4.2: any level held, or none."""
    st.legal[0] = ZERO
    st.legal[1] = _NO_POIGNEE_BIT | (levels(st, st.seat) << _FIRST_LEVEL)


@kernel
def apply_poignee(st: Any, action: Any) -> Any:
    """Show the poignée of the level chosen, unless trumps have to be kept back first."""
    level = action - NO_POIGNEE
    if level == 0:
        return
    st.level = level
    trumps = counted_trumps(st, st.seat, level)
    spare = popcount(trumps) - POIGNEE_SIZE[level]
    if spare > 0:
        st.phase = KEEP  # T-4.4
        return
    if spare < 0:
        trumps |= EXCUSE  # T-4.3
    show(st, trumps)


@kernel
def legal_keeps(st: Any) -> Any:
    """T-4.4: above the last trump kept back, with enough left above it."""
    trumps = counted_trumps(st, st.seat, st.level)
    missing = popcount(trumps) - POIGNEE_SIZE[st.level] - popcount(st.kept)
    trumps &= ~((ONE << np.uint64(highest(st.kept) + 1)) - ONE)
    for _ in range(missing - 1):
        trumps ^= ONE << np.uint64(highest(trumps))
    set_legal(st, ZERO, trumps)


@kernel
def apply_keep(st: Any, card: Any) -> Any:
    """Keep a trump back; show the rest when the level remains."""
    st.kept |= ONE << np.uint64(card - EXCUSE_ID)
    showing = counted_trumps(st, st.seat, st.level) & ~st.kept
    if popcount(showing) == POIGNEE_SIZE[st.level]:
        st.phase = POIGNEE
        show(st, showing)


@kernel
def show(st: Any, cards: Any) -> Any:
    """Show a poignée (T-4.2), and what the table learns from it."""
    seat = st.seat
    st.shown[seat] = cards
    st.shown_level[seat] = st.level
    for i in range(1, 4):
        st.can_trumps[(seat + i) & 3] &= ~cards
    st.hide_trumps &= ~cards
    if cards & EXCUSE:
        st.can_trumps[seat] &= cards  # T-4.3: all the hand's trumps are shown
    if cards & st.discard_trumps:
        for i in range(1, 4):
            st.can[(seat + i) & 3] &= ~KINGS  # T-4.5: the taker has all four
