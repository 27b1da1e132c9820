"""What a seat may think the others hold.

Source: rules B-1.3 to B-5.7. ``can`` holds all that public play says about a hand: a play rules out for its seat the tiers before it, card by
card (:mod:`bolola_env.rules`). So a world agrees with the play exactly if every hand holds nothing that ``can`` lacks.
"""

from __future__ import annotations

from typing import Any

from bolola_env.cards import ALL_CARDS, HAND_SIZE, NUM_CARDS
from bolola_env.rules import NAME_TRUMP_ACTIONS, all_played, find_legal
from trick_core.bits import ZERO, popcount
from trick_core.jit import kernel
from trick_core.worlds import make_belief


@kernel
def lay_out(config: Any, st: Any, seat: Any, case: Any, work: Any) -> Any:
    """Where the unseen cards may lie."""
    work.unseen[0] = ALL_CARDS & ~all_played(st) & ~st.hands[seat]
    work.own[0] = st.hands[seat]
    work.aside[0] = ZERO
    work.single[0] = ZERO
    work.must = -1
    for place in range(3):
        other = (seat + 1 + place) & 3
        work.may[place, 0] = st.can[other]
        work.room[place] = HAND_SIZE - popcount(st.played[other])
    return True


@kernel
def fill(config: Any, st: Any, seat: Any, random: Any, work: Any) -> Any:
    """Give the other seats their cards. Later deals of a match come from ``random``."""
    for place in range(3):
        st.hands[(seat + 1 + place) & 3] = work.drawn[place, 0]
    st.key = random
    if st.seat < 0 or st.seat == seat:
        return
    row = config[st.deal]
    if row.trumps != 0 and st.trump < 0:
        st.legal[0] = NAME_TRUMP_ACTIONS  # B-6.1
    else:
        find_legal(row, st)


BELIEF = make_belief(lay_out, fill, sizes=(NUM_CARDS,), pile=False)
assert NUM_CARDS - HAND_SIZE == 3 * HAND_SIZE
