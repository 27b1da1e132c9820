"""A deal as kernels: dealing, the phases in one place, and the play of the cards.

Source: ``seeds/rulebook/tarot.md``; clause ids stand beside the code. What comes before the first card is in
:mod:`tarot_env.bidding`, what the cards bring in :mod:`tarot_env.scoring`.

Actions: 0..55 suit cards ``14 * suit + rank``, 56 the Excuse, 57..77 trumps 1 to 21; 78 pass, 79..82 bids; 83 no chelem, 84 chelem;
85 no poignée, 86..88 poignée of 10, 13, 15. Discards and trumps kept back use the card ids.

One idea carries legality and belief alike. Every rule orders the cards into tiers, and the legal cards of a hand are those of the
first tier it holds anything of, and the Excuse. So a play shows that its seat holds nothing of the tiers before it; the Excuse
itself, which is always legal, shows nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tarot_env import bidding
from tarot_env.cards import (
    ALL_SUITS,
    ALL_TRUMPS,
    CHIEN_SIZE,
    EXCUSE,
    EXCUSE_ID,
    HALF_POINTS,
    HAND_SIZE,
    NUM_CARDS,
    NUM_TRICKS,
    PETIT,
    SUIT_OF,
    SUIT_SETS,
    TRUMPS,
)
from tarot_env.contracts import MULTIPLIER
from tarot_env.scoring import excuse_takes, settle, share_trick
from tarot_env.state import BID, CHELEM, DISCARD, KEEP, OVER, PLAY, POIGNEE, STARTS
from trick_core.bits import ONE, ZERO, popcount, select
from trick_core.jit import kernel
from trick_core.rng import advance, below, mix

_FROM_BID, _FROM_PLAY = STARTS.index("bid"), STARTS.index("play")
_S58, _S60, _S62 = np.uint64(58), np.uint64(60), np.uint64(62)
_LOW2 = np.uint64(3)


@kernel
def begin(config: Any, st: Any, key: Any, custom: Any) -> Any:
    """Begin an episode; all randomness from ``key``, and with ``custom`` what the configuration gives."""
    row = config[0]
    st.key = key
    st.deal = 0
    word = mix(key)
    st.dealer = word >> _S62
    if row.dealer >= 0:
        st.dealer = row.dealer
    if custom != 0 and row.given_dealer >= 0:
        st.dealer = row.given_dealer
    random = advance(key)
    st.redeals = 0
    if custom != 0 and row.given != 0:
        for seat in range(4):
            st.hands[seat] = row.cards[seat]
            st.hands_trumps[seat] = row.cards_trumps[seat]
        st.chien = row.cards[4]
        st.chien_trumps = row.cards_trumps[4]
    else:
        random = shuffle(st, random)
        while has_petit_sec(st):  # T-2.2
            st.redeals += 1
            random = shuffle(st, random)
    clear_deal(st)
    if row.start != _FROM_BID:
        skip_bidding(row, st, custom, word)
    if row.start == _FROM_PLAY:
        skip_to_play(row, st, custom, random)
    find_legal(config, st)


@kernel
def shuffle(st: Any, random: Any) -> Any:
    """Deal 18 cards to each seat and six to the chien: every card in turn goes to one of them with the chance
    that its free places give. Returns the next random state.
    """
    # Free places of seat 0, of seats 0-1, 0-2, 0-3; and the cards that these have so far.
    free0, free1, free2, free3 = HAND_SIZE, 2 * HAND_SIZE, 3 * HAND_SIZE, 4 * HAND_SIZE
    for part in range(2):
        first = 0 if part == 0 else EXCUSE_ID
        last = EXCUSE_ID if part == 0 else NUM_CARDS
        cards0, cards1, cards2, cards3 = ZERO, ZERO, ZERO, ZERO
        for card in range(first, last):
            place = below(mix(random), NUM_CARDS - card)
            random = advance(random)
            bit = np.uint64(card - first)
            in0, in1, in2, in3 = place < free0, place < free1, place < free2, place < free3
            free0 -= in0
            free1 -= in1
            free2 -= in2
            free3 -= in3
            cards0 |= np.uint64(in0) << bit
            cards1 |= np.uint64(in1) << bit
            cards2 |= np.uint64(in2) << bit
            cards3 |= np.uint64(in3) << bit
        if part == 0:
            st.hands[0] = cards0
            st.hands[1] = cards1 ^ cards0
            st.hands[2] = cards2 ^ cards1
            st.hands[3] = cards3 ^ cards2
            st.chien = ALL_SUITS ^ cards3
        else:
            st.hands_trumps[0] = cards0
            st.hands_trumps[1] = cards1 ^ cards0
            st.hands_trumps[2] = cards2 ^ cards1
            st.hands_trumps[3] = cards3 ^ cards2
            st.chien_trumps = ALL_TRUMPS ^ cards3
    return random


@kernel
def has_petit_sec(st: Any) -> Any:
    """T-2.2: a hand whose only trump is the Petit, without the Excuse."""
    return (
        st.hands_trumps[0] == PETIT
        or st.hands_trumps[1] == PETIT
        or st.hands_trumps[2] == PETIT
        or st.hands_trumps[3] == PETIT
    )


@kernel
def clear_deal(st: Any) -> Any:
    """Everything but the cards as it is before the first bid; the dealer's right is on turn."""
    for seat in range(4):
        st.played[seat] = ZERO
        st.played_trumps[seat] = ZERO
        st.trick[seat] = ZERO
        st.trick_trumps[seat] = ZERO
        st.can[seat] = ALL_SUITS
        st.can_trumps[seat] = ALL_TRUMPS
        st.shown[seat] = ZERO
        st.shown_level[seat] = 0
        st.bids[seat] = -1
        st.taken[seat] = 0
        st.gain[seat] = 0
    st.hide = ALL_SUITS
    st.hide_trumps = ALL_TRUMPS
    st.hidden_size = CHIEN_SIZE
    st.discard = ZERO
    st.discard_trumps = ZERO
    st.kept = ZERO
    st.credit = 0
    st.taker_points = 0
    st.defence_points = 0
    st.leader = (st.dealer + 1) & 3
    st.seat = st.leader
    st.phase = BID
    st.taker = -1
    st.contract = 0
    st.spoken = 0
    st.chelem = -1
    st.asked = 0
    st.level = 0
    st.trick_number = 0
    st.oudlers = 0
    st.excuse_seat = -1
    st.excuse_trick = -1
    st.petit_trick = -1
    clear_trick(st)


@kernel
def skip_bidding(row: Any, st: Any, custom: Any, word: Any) -> Any:
    """Start with a taker and a contract; what is not fixed comes from the random ``word``."""
    st.taker = (word >> _S60) & _LOW2
    if row.taker >= 0:
        st.taker = row.taker
    if custom != 0 and row.given_taker >= 0:
        st.taker = row.given_taker
    st.contract = ((word >> _S58) & _LOW2) + ONE
    if row.contract > 0:
        st.contract = row.contract
    if custom != 0 and row.given_contract > 0:
        st.contract = row.given_contract
    bidding.begin_contract(st)


@kernel
def skip_to_play(row: Any, st: Any, custom: Any, random: Any) -> Any:
    """Start with the first card: the discard given or drawn, no chelem, no poignées."""
    given = custom != 0 and row.given_discard != 0
    while st.phase == DISCARD:
        suits, trumps = bidding.discardable(st.hands[st.taker], st.hands_trumps[st.taker])
        if given:
            suits, trumps = row.discard & ~st.discard, row.discard_trumps & ~st.discard_trumps
        word = mix(random)
        random = advance(random)
        if suits:
            card = select(suits, below(word, popcount(suits)))
        else:
            card = EXCUSE_ID + select(trumps, below(word, popcount(trumps)))
        bidding.apply_discard(st, card)
    st.chelem = 0
    st.asked = 4
    st.phase = PLAY
    st.seat = st.leader


@kernel
def clear_trick(st: Any) -> Any:
    """Nothing has been led."""
    st.lead_set = ZERO
    st.best = ZERO
    st.above = TRUMPS
    st.pot = 0
    st.trick_size = 0
    st.winner = -1


@kernel
def step(config: Any, st: Any, action: Any) -> Any:
    """Take a legal action; ``gain`` then holds the half points that it gave."""
    for seat in range(4):
        st.gain[seat] = 0
    phase = st.phase
    if phase == PLAY:
        apply_play(st, action)
    elif phase == BID:
        bidding.apply_bid(st, action)
    elif phase == DISCARD:
        bidding.apply_discard(st, action)
    else:
        if phase == CHELEM:
            bidding.apply_chelem(st, action)
        elif phase == POIGNEE:
            bidding.apply_poignee(st, action)
        else:
            bidding.apply_keep(st, action)
        if st.phase != KEEP:
            bidding.ask_next(st)
    find_legal(config, st)


@kernel
def find_legal(config: Any, st: Any) -> Any:
    """Fill ``legal``, and in the play ``ruled``, for the seat on turn."""
    phase = st.phase
    if phase == PLAY:
        legal_plays(st)
    elif phase == BID:
        bidding.legal_bids(config, st)
    elif phase == DISCARD:
        bidding.legal_discards(st)
    elif phase == CHELEM:
        bidding.legal_chelem(st)
    elif phase == POIGNEE:
        bidding.legal_poignees(st)
    elif phase == KEEP:
        bidding.legal_keeps(st)
    else:
        st.seat = -1
        bidding.set_legal(st, ZERO, ZERO)


@kernel
def first_tier(st: Any, suits: Any, trumps: Any) -> Any:
    """The legal cards of a hand, and the cards of the tiers before: suits, trumps, and again."""
    if st.winner < 0:  # leading, or after an Excuse that was led (T-5.4)
        return suits, trumps, ZERO, ZERO
    follow = suits & st.lead_set
    if follow:  # T-5.1
        return follow, trumps & EXCUSE, ZERO, ZERO
    over = trumps & st.above
    if over:  # T-5.2
        return ZERO, over | (trumps & EXCUSE), st.lead_set, ZERO
    if trumps & TRUMPS:
        return ZERO, trumps, st.lead_set, st.above
    return suits, trumps, st.lead_set, TRUMPS


@kernel
def legal_plays(st: Any) -> Any:
    """Fill ``legal``, ``ruled`` and ``ruled_trumps``."""
    seat = st.seat & 3
    suits, trumps, ruled, ruled_trumps = first_tier(st, st.hands[seat], st.hands_trumps[seat])
    bidding.set_legal(st, suits, trumps)
    st.ruled = ruled
    st.ruled_trumps = ruled_trumps


@kernel
def apply_play(st: Any, action: Any) -> Any:
    """Move a card from the hand of the seat on turn to the trick, and close the trick when it is full."""
    seat = st.seat & 3  # tells the compiler that the index is not negative
    if action < EXCUSE_ID:
        put_suit_card(st, seat, action)
    elif action == EXCUSE_ID:
        put_excuse(st, seat)
    else:
        put_trump(st, seat, action)
    st.trick_size += 1
    if st.trick_size < 4:
        st.seat = (seat + 1) & 3
    else:
        close_trick(st)


@kernel
def rule_out(st: Any, seat: Any) -> Any:
    """What the play of a card other than the Excuse shows about the rest of the hand."""
    st.can[seat] &= ~st.ruled
    st.can_trumps[seat] &= ~st.ruled_trumps


@kernel
def put_suit_card(st: Any, seat: Any, card: Any) -> Any:
    """A suit card to the trick, which it wins if nothing of more power lies there."""
    bit = ONE << np.uint64(card)
    rule_out(st, seat)
    st.hands[seat] ^= bit
    st.played[seat] |= bit
    st.trick[seat] = bit
    st.pot += HALF_POINTS[card]
    if st.winner < 0:
        st.lead_set = SUIT_SETS[SUIT_OF[card]]
        st.best = bit
        st.winner = seat
    elif bit & st.lead_set and bit > st.best and st.above == TRUMPS:  # T-5.3
        st.best = bit
        st.winner = seat


@kernel
def put_trump(st: Any, seat: Any, card: Any) -> Any:
    """A trump to the trick, which it wins if it is the highest."""
    bit = ONE << np.uint64(card - EXCUSE_ID)
    rule_out(st, seat)
    st.hands_trumps[seat] ^= bit
    st.played_trumps[seat] |= bit
    st.trick_trumps[seat] = bit
    st.pot += HALF_POINTS[card]
    if bit & st.above:  # T-5.3
        st.above = TRUMPS & ~(bit | (bit - ONE))
        st.winner = seat
    if bit == PETIT:
        st.petit_trick = st.trick_number


@kernel
def put_excuse(st: Any, seat: Any) -> Any:
    """T-6.1: it takes no trick and sets no suit; :mod:`tarot_env.scoring` says where its points go."""
    st.hands_trumps[seat] ^= EXCUSE
    st.played_trumps[seat] |= EXCUSE
    st.trick_trumps[seat] = EXCUSE
    st.excuse_seat = seat
    st.excuse_trick = st.trick_number


@kernel
def close_trick(st: Any) -> Any:
    """Give the full trick to its winner, who leads the next (T-5.3); after the last one, settle."""
    slam = excuse_takes(st)
    winner = (st.leader if slam else st.winner) & 3
    taker, defence, oudlers = share_trick(st, winner, slam)
    st.taker_points += taker
    st.defence_points += defence
    st.oudlers += oudlers
    st.taken[winner] += 1
    st.trick_number += 1
    st.leader = winner
    st.seat = winner
    credit = st.credit + (taker - defence) * MULTIPLIER[st.contract]
    if st.trick_number == NUM_TRICKS:
        _, _, _, _, base, petit, poignee, chelem = settle(st)
        credit = base + petit + poignee + chelem
        st.phase = OVER
    pay = credit - st.credit
    st.credit = credit
    for seat in range(4):
        st.trick[seat] = ZERO
        st.trick_trumps[seat] = ZERO
        st.gain[seat] = 3 * pay if seat == st.taker else -pay  # T-7.5
    clear_trick(st)
