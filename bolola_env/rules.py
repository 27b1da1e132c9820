"""The rules of play as kernels: dealing, legal cards, taking a card, closing a trick.

Source: ``seeds/rulebook/bolola.md``; clause ids stand beside the code. A contract is a row of the configuration (one
record a deal of the episode); no kernel asks which contract it is.

Actions: 0..51 play the card ``13 * suit + rank``; 52..55 name the trump suit C, D, H, S.

One idea carries legality and belief alike. Every rule orders the cards into tiers, and the legal cards of a hand are
those of the first tier it holds anything of. So a play shows that its seat holds nothing of the tiers before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bolola_env.cards import ALL_CARDS, HAND_SIZE, NUM_CARDS, SUIT_SETS
from bolola_env.contracts import NUM_TRICKS
from bolola_env.state import ORDER_SIZE
from trick_core.bits import ONE, ZERO
from trick_core.jit import kernel
from trick_core.rng import advance, below, mix

NAME_TRUMP = NUM_CARDS
NAME_TRUMP_ACTIONS = np.uint64(0b1111 << NAME_TRUMP)
SUIT_BITS = np.uint64((1 << 13) - 1)
SUIT_OF = np.array([card // 13 for card in range(NUM_CARDS)], np.int64)


@kernel
def deal_episode(config: Any, st: Any, key: Any, custom: Any) -> Any:
    """Begin an episode: the first deal of ``config``, all randomness from ``key``."""
    st.key = key
    st.custom = custom
    st.deal = 0
    for seat in range(4):
        st.scores[seat] = 0
        st.gain[seat] = 0
    st.starter = np.int8(mix(key) >> np.uint64(62))  # B-7.2
    if config[0].fixed_starter >= 0:
        st.starter = config[0].fixed_starter
    if custom != 0 and config[0].given_starter >= 0:
        st.starter = config[0].given_starter
    start_deal(config, st)


@kernel
def start_deal(config: Any, st: Any) -> Any:
    """Deal the cards of deal ``st.deal`` and put ``st.starter`` on turn."""
    row = config[st.deal]
    if st.custom != 0 and row.given != 0:
        for seat in range(4):
            st.hands[seat] = row.hands[seat]
    else:
        shuffle(st, st.key + np.uint64(st.deal + 1) * np.uint64(0xD1342543DE82EF95))
    for k in range(ORDER_SIZE):
        st.order[k] = -1
    trump = row.fixed_trump
    if st.custom != 0 and row.given_trump >= 0:
        trump = row.given_trump
    open_deal(row, st, trump)


@kernel
def open_deal(row: Any, st: Any, trump: Any) -> Any:
    """With all cards in the hands, put ``st.starter`` on turn; ``trump`` -1: it names the trump suit, where there are trumps."""
    for seat in range(4):
        st.played[seat] = ZERO
        st.can[seat] = ALL_CARDS
        st.trick[seat] = ZERO
        st.points[seat] = 0
        st.taken[seat] = 0
    st.trick_number = 0
    st.trump = -1
    st.trump_set = ZERO
    st.locked = row.locked
    clear_trick(st)
    st.seat = st.starter
    st.leader = st.starter
    if row.trumps != 0:
        if trump < 0:
            st.legal[0] = NAME_TRUMP_ACTIONS  # B-6.1
            st.ruled = ZERO
            return
        set_trump(row, st, trump)
    find_legal(row, st)


@kernel
def shuffle(st: Any, random: Any) -> Any:
    """Deal 13 cards to each seat: every card in turn goes to a seat with the chance its free places give."""
    first, second, third = 13, 26, 39  # free places of seat 0, of seats 0-1, of seats 0-2
    cards0, cards1, cards2 = ZERO, ZERO, ZERO  # and the cards that these have so far
    for card in range(NUM_CARDS):
        place = below(mix(random), NUM_CARDS - card)
        random = advance(random)
        bit = np.uint64(card)
        in0, in1, in2 = place < first, place < second, place < third
        first -= in0
        second -= in1
        third -= in2
        cards0 |= np.uint64(in0) << bit
        cards1 |= np.uint64(in1) << bit
        cards2 |= np.uint64(in2) << bit
    st.hands[0] = cards0
    st.hands[1] = cards1 ^ cards0
    st.hands[2] = cards2 ^ cards1
    st.hands[3] = ALL_CARDS ^ cards2


@kernel
def set_trump(row: Any, st: Any, suit: Any) -> Any:
    """Make a suit the trump suit of this deal."""
    st.trump = suit
    st.trump_set = SUIT_BITS << np.uint64(13 * suit)
    st.above = st.trump_set
    if row.lock_trump != 0:
        st.locked = st.trump_set


@kernel
def clear_trick(st: Any) -> Any:
    """Leave no card on the table."""
    st.lead_set = ZERO
    st.below = ZERO
    st.above = st.trump_set
    st.pot = 0
    st.trick_size = 0
    st.winner = -1


@kernel
def first_tier(row: Any, st: Any, hand: Any) -> Any:
    """The cards of ``hand`` in the first tier that it holds anything of, and the union of the tiers before."""
    if st.trick_size == 0:  # B-3.1 .. B-3.3
        free = ALL_CARDS & ~st.locked
        if hand & free:
            return hand & free, ZERO
        return hand, free
    follow = hand & st.lead_set
    before = ZERO
    if follow:
        if st.lead_set == st.trump_set:  # B-4.6
            if follow & st.above:
                return follow & st.above, before
            before |= st.above
        duty = row.under_duty & st.below  # B-4.2 .. B-4.4; B-4.5: below looks at the suit led only
        if follow & duty:
            return follow & duty, before
        return follow, before | duty  # B-4.1, B-4.7
    before = st.lead_set
    if hand & st.trump_set:  # B-5.7
        if hand & st.above:
            return hand & st.above, before
        return hand & st.trump_set, before | st.above
    before |= st.trump_set
    for i in range(row.num_tiers):  # B-5.2 .. B-5.6
        if hand & row.tiers[i]:
            return hand & row.tiers[i], before
        before |= row.tiers[i]
    return hand, before  # B-5.1


@kernel
def find_legal(row: Any, st: Any) -> Any:
    """Fill ``legal`` and ``ruled`` for the seat on turn."""
    legal, ruled = first_tier(row, st, st.hands[st.seat & 3])
    st.legal[0] = legal
    st.ruled = ruled


@kernel
def step(config: Any, st: Any, action: Any) -> Any:
    """Take a legal action; ``gain`` then holds the points that it gave."""
    row = config[st.deal]
    for seat in range(4):
        st.gain[seat] = 0
    if action >= NAME_TRUMP:
        set_trump(row, st, np.int8(action - NAME_TRUMP))
        find_legal(row, st)
        return
    put_card(row, st, action)
    if st.trick_size < 4:
        st.seat = (st.seat + 1) & 3
        find_legal(row, st)
        return
    close_trick(row, st)
    if not is_deal_over(row, st):
        st.seat = st.leader
        find_legal(row, st)
    elif st.deal + 1 < config.shape[0]:
        for seat in range(4):
            st.scores[seat] += st.points[seat]
        st.deal += 1
        st.starter = (st.starter + 1) & 3  # B-7.2
        start_deal(config, st)
    else:
        st.seat = -1
        st.legal[0] = ZERO
        st.ruled = ZERO


@kernel
def put_card(row: Any, st: Any, card: Any) -> Any:
    """Move a card from the hand of the seat on turn to the trick."""
    seat = st.seat & 3  # tells the compiler that the index is not negative
    bit = ONE << np.uint64(card)
    st.can[seat] &= ~st.ruled
    st.hands[seat] ^= bit
    st.played[seat] |= bit
    st.trick[seat] = bit
    place = 4 * st.trick_number + st.trick_size
    st.order[place & (ORDER_SIZE - 1)] = card
    st.pot += row.card_points[card]
    if bit & st.locked:
        st.locked = ZERO  # B-3.2, B-3.3
    lower = bit - ONE
    if st.trick_size == 0:
        st.lead_set = SUIT_SETS[SUIT_OF[card]]
        st.below = st.lead_set & lower
        st.winner = seat
        if bit & st.trump_set:
            st.above = st.trump_set & ~lower & ~bit
    elif bit & st.trump_set:
        if bit & st.above:  # B-1.4
            st.above &= ~lower & ~bit
            st.winner = seat
        if bit & st.lead_set:
            st.below |= st.lead_set & lower
    elif bit & st.lead_set and not bit & st.below:
        st.below = st.lead_set & lower
        if st.above == st.trump_set:
            st.winner = seat
    st.trick_size += 1


@kernel
def close_trick(row: Any, st: Any) -> Any:
    """Give the full trick to its winner, who leads the next (B-1.2)."""
    winner = st.winner & 3
    gain = st.pot + row.trick_value[st.trick_number]
    st.gain[winner] = gain
    st.points[winner] += gain
    st.taken[winner] += 1
    st.trick_number += 1
    st.leader = winner
    for seat in range(4):
        st.trick[seat] = ZERO
    clear_trick(st)


@kernel
def is_deal_over(row: Any, st: Any) -> Any:
    """All tricks played, or with ``early_stop`` no point left to fall (B-1.5)."""
    if st.trick_number == NUM_TRICKS:
        return True
    if row.early_stop == 0 or st.trick_number < row.last_value:
        return False
    return (row.scoring & ~all_played(st)) == ZERO


@kernel
def all_played(st: Any) -> Any:
    """All cards played in this deal."""
    return st.played[0] | st.played[1] | st.played[2] | st.played[3]


assert HAND_SIZE == NUM_TRICKS
