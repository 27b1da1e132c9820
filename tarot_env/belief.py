"""What a seat may think the others hold, and what lies aside.

Sources: rules T-2.2, T-3.1 to T-3.4, T-4.1 to T-4.5, T-5.1, T-5.2. Public are

* what a play, a poignée, the chien or a discarded trump says about single cards: ``can`` and ``hide`` (:mod:`tarot_env.rules`,
  :mod:`tarot_env.bidding`); so a card shown in a poignée stays in its hand until it is played;
* how many cards each hand and the pile aside hold: the chien before the taker picks it up and where nobody sees it, else the suit cards
  that the taker has discarded;
* that no hand was dealt the Petit as its only trump without the Excuse (T-2.2). The taker's dealt hand is what it held, less the chien that
  it picked up.

Who was asked for a poignée and who declined one are no evidence (T-4.1), nor are bids, discards or plays beyond what they rule out.

The petit sec is a condition on two cards at once. It binds at most one hand, the one that the Petit was dealt to; so the worlds fall into cases
by where the Petit lies. In the first it lies where nothing more is asked; in the three others in a hand of which no other trump is known, and which must
have been dealt another one.
"""

from __future__ import annotations

import math
from typing import Any

from tarot_env.cards import CHIEN_SIZE, HAND_SIZE, NUM_CARDS, NUM_SUIT_CARDS, PETIT
from tarot_env.observe import is_chien_shown, unseen
from tarot_env.rules import find_legal
from trick_core.bits import ZERO, popcount
from trick_core.jit import kernel
from trick_core.worlds import PILE, make_belief

#: Ways to share out the pile: up to six cards over seven classes that it shares with hands; where the Petit's hand must have another trump,
#: over the trumps' classes too, four of them, as nothing can have been ruled out for a hand that has shown no trump.
_SPLITS = math.comb(CHIEN_SIZE + 6, 6) + 3 * math.comb(CHIEN_SIZE + 10, 10)


@kernel
def picked_up(st: Any) -> Any:
    """The trumps and the Excuse of a chien that the taker has picked up."""
    return st.chien_trumps if is_chien_shown(st) else ZERO


@kernel
def hand_size(st: Any, seat: Any) -> Any:
    """Cards that a seat holds."""
    size = HAND_SIZE - popcount(st.played[seat]) - popcount(st.played_trumps[seat])
    if seat == st.taker and is_chien_shown(st):
        size += CHIEN_SIZE - st.hidden_size - popcount(st.discard_trumps)
    return size


@kernel
def is_dealt_trump_known(st: Any, seat: Any) -> Any:
    """Whether all know that a seat was dealt a trump besides the Petit, or the Excuse."""
    known = st.played_trumps[seat] | st.shown[seat]
    if seat == st.taker:
        known = (known | st.discard_trumps) & ~picked_up(st)
    return known & ~PETIT != ZERO


@kernel
def lay_out(config: Any, st: Any, seat: Any, case: Any, work: Any) -> Any:
    """Where the unseen cards may lie, in one case of the Petit."""
    suits, trumps = unseen(st, seat)
    trumps &= ~st.discard_trumps
    work.unseen[0], work.unseen[1] = suits, trumps
    work.own[0], work.own[1] = st.hands[seat], st.hands_trumps[seat]
    own_discard = st.discard if seat == st.taker else ZERO
    work.aside[0], work.aside[1] = own_discard, st.discard_trumps
    work.single[0], work.single[1] = ZERO, PETIT
    for place in range(3):
        other = (seat + 1 + place) & 3
        work.may[place, 0], work.may[place, 1] = st.can[other], st.can_trumps[other]
        work.room[place] = hand_size(st, other)
    work.may[PILE, 0], work.may[PILE, 1] = st.hide, st.hide_trumps
    work.room[PILE] = 0 if seat == st.taker and is_chien_shown(st) else st.hidden_size
    if work.room[PILE] == 0:
        work.may[PILE, 0], work.may[PILE, 1] = ZERO, ZERO
    work.marked[0], work.marked[1] = ZERO, trumps & ~PETIT & ~picked_up(st)
    work.must = -1
    return place_petit(st, seat, case, work)


@kernel
def place_petit(st: Any, seat: Any, case: Any, work: Any) -> Any:
    """T-2.2 as one of the cases; False: there is no such case."""
    if picked_up(st) & PETIT:
        return case == 0
    is_unseen = work.unseen[1] & PETIT != ZERO
    for place in range(3):
        other = (seat + 1 + place) & 3
        if is_dealt_trump_known(st, other):
            continue
        if st.played_trumps[other] & PETIT:
            work.must = place
        elif is_unseen and work.may[place, 1] & PETIT:
            work.may[place, 1] &= ~PETIT  # not in the first case
            if case == place + 1:
                work.must = place
    if case == 0:
        return True
    if not is_unseen or work.must < 0:
        return False
    for place in range(4):
        if place == work.must:
            work.may[place, 1] |= PETIT
        else:
            work.may[place, 1] &= ~PETIT
    return True


@kernel
def fill(config: Any, st: Any, seat: Any, random: Any, work: Any) -> Any:
    """Give the other seats their cards, and the pile its own."""
    for place in range(3):
        other = (seat + 1 + place) & 3
        st.hands[other], st.hands_trumps[other] = work.drawn[place, 0], work.drawn[place, 1]
    if not is_chien_shown(st):
        st.chien, st.chien_trumps = work.drawn[PILE, 0], work.drawn[PILE, 1]
    elif seat != st.taker:
        st.discard = work.drawn[PILE, 0]
    if st.seat < 0:
        return
    # A leader who waits while others are asked for a poignée is on turn in its view, without legal cards.
    if st.seat != seat or (st.legal[0] | st.legal[1]) == ZERO:
        find_legal(config, st)


BELIEF = make_belief(
    lay_out,
    fill,
    sizes=(NUM_SUIT_CARDS, NUM_CARDS - NUM_SUIT_CARDS),
    pile=True,
    cases=4,
    splits=_SPLITS,
)
