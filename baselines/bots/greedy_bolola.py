"""Greedy play of Bolola: one table-driven kernel for all contracts, the match and users' rows.

For each legal card the kernel estimates what playing it now is worth, in points, and plays the best (of equals the
card with the lowest id):

* **now**: the chance that the card takes the trick, times what the trick is then worth: the points in it, the
  trick's own, the card's, and what the seats still to play are expected to add. A seat still to play may hold any unseen
  card that public play has not ruled out for it; the chance that it holds none of k such cards is hypergeometric;
* **later**: minus what the card would be worth if kept: its chance to win a later trick times the value of such a trick.
  In a contract of penalties that is a danger got rid of, in one of gains an asset spent;
* small terms for having the lead afterwards, for shortening a suit, for drawing trumps.

It reads points, trick values, duties and trumps from the contract's row, so that only weights differ between contracts:
:data:`WEIGHTS`. They come from self-play, each row against three players with the row's previous weights on common deals
(``python -m baselines.tune``): weights tuned against random play lose to weights tuned so. A user's row takes the
weights of a default row, by the sign of its total and whether it has trumps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from baselines.bots.chances import chances_of_none
from bolola_env.cards import ALL_CARDS, NUM_CARDS, SUIT_SETS
from bolola_env.contracts import CONTRACTS, NUM_TRICKS
from bolola_env.rules import NAME_TRUMP, NAME_TRUMP_ACTIONS, SUIT_OF, all_played
from trick_core.bits import ONE, ZERO, highest, lowest, popcount
from trick_core.drivers import JitBot
from trick_core.jit import kernel

#: The weights, in the order of the columns of :data:`WEIGHTS`.
WEIGHT_NAMES = (
    "over",  # chance that a seat which could go over or under the card goes over
    "add_follow",  # what a seat that follows suit adds, per mean points of the suit's unseen cards
    "add_void",  # what a void seat adds, per mean points of the other unseen cards
    "lead",  # worth of having the next lead, per mean trick
    "short",  # worth of shortening a suit, per mean trick; divided by the suit's length
    "keep_trick",  # a later trick's own points
    "keep_suit",  # points of the suit's unseen cards that a later trick in it brings
    "keep_cards",  # points of all unseen cards that a later trick brings
    "keep_own",  # the kept card's own points, where it wins later
    "keep_base",  # the kept card's own points in any case
    "high",  # how much each unseen higher card lowers the chance to win later
    "floor",  # chance to win later of a card with no unseen lower card, as a count of lower cards
    "guard",  # how much each card to play under an unseen one lowers the chance of having to win later
    "keep_trump",  # factor on the worth of a kept trump
    "draw",  # worth of leading a trump, per mean trick
    "name_high",  # naming trump: a card's worth is 1 + name_high * (rank / 12) ** 2
)
NUM_WEIGHTS = len(WEIGHT_NAMES)
(
    OVER,
    ADD_FOLLOW,
    ADD_VOID,
    LEAD,
    SHORT,
    KEEP_TRICK,
    KEEP_SUIT,
    KEEP_CARDS,
    KEEP_OWN,
    KEEP_BASE,
    HIGH,
    FLOOR,
    GUARD,
    KEEP_TRUMP,
    DRAW,
    NAME_HIGH,
) = range(NUM_WEIGHTS)

#: The rows of the table: the nine contracts, then what users' rows take.
ROW_NAMES = (*CONTRACTS, "penalties", "gains")  # gains without trumps; with them: trump's
_NUM_CONTRACTS = len(CONTRACTS)
_PENALTIES, _GAINS = _NUM_CONTRACTS, _NUM_CONTRACTS + 1
_TRUMP = ROW_NAMES.index("trump")
_ONE_HOT = np.uint64((1 << _NUM_CONTRACTS) - 1)

_START_PENALTY = (0.0, 1.0, 2.0, 0.0, 0.1, 1.0, 1.0, 1.0, 1.0, 0.3, 1.0, 0.5, 0.3, 1.0, 0.0, 1.0)
_START_GAIN = (0.9, 1.0, 0.5, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.3, 2.0, 0.1, 0.0, 1.0, 0.0, 1.0)

#: Where the tuning starts: one guess for penalties, one for gains. float64 (rows, weights).
START = np.array(
    [_START_GAIN if name in ("trump", "bolola", "gains") else _START_PENALTY for name in ROW_NAMES]
)

#: The weights of ``greedy-v1``, shape (rows, weights). They never change: results are measured against that name. They come from
#: ``python -m baselines.tune --from-start``; for bolola, where that search ends 10 points a deal lower, from ``python -m
#: baselines.tune bolola --from-start --rounds 5 --deals 400 2600``; then, where that gained, from ``--rounds 0 --evolve 40`` (for
#: king_of_hearts 80 generations; for trump ``--rounds 4``). The two rows for users' contracts are those of the two contracts in
#: which everything scores.
# fmt: off
V1 = np.array(
    [
        (0.3, 1, 2, 0.12, 0.62, 0.48, 1, 1, 1, 0.3, 1, 0, 0.06, 1, 0, 1),  # no_tricks
        (0.62, 1.868, 9.612, 0.177, 1.054, 1.658, 0.616, 1, 0.09, -0.03, 0.319, 2.963, 0, 1, 0, 1),  # jacks_kings
        (1, 7.469, 13.009, 0.537, 1.811, 1.582, 1.535, 0.048, 0.29, -0.4, 0.574, 3.561, 0, 1, 0, 1),  # queens
        (0.39, 2.3, 4.3, -0.045, 0.5, 1, 1, 1, -0.42, 0.3, 2.3, 1.3, 0.21, 1, 0, 1),  # hearts
        (0, 1, 2, -0.045, 0.16, 0.363, 1, 1, 1, 0.3, 1.52, 0, 0.06, 1, 0, 1),  # last_two
        (0.185, 1.276, 12.039, 0.323, 0.088, 0.749, 0.864, 0.44, -0.488, 0.559, 0.339, 2.332, 0, 1, 0, 1),  # king_of_hearts
        (0.429, 1.945, 10.337, 0.127, 0.475, 0.974, 1.132, 1.071, 0.605, -0.159, 1.849, 1.018, 0.238, 1, 0, 1),  # all_penalties
        (1, 0.489, 0.687, 0.152, -10.753, 1.064, 1.477, 1.402, 0.929, 0.478, 1.257, 3.168, 0, 1.309, -0.412, 0.511),  # trump
        (0.626, -0.045, -0.203, 0.3, -0.037, 0.495, 0.721, 1.608, -0.037, 0.359, 4.312, 0, 0.081, 1, 0, 1),  # bolola
        (0.429, 1.945, 10.337, 0.127, 0.475, 0.974, 1.132, 1.071, 0.605, -0.159, 1.849, 1.018, 0.238, 1, 0, 1),  # penalties
        (0.626, -0.045, -0.203, 0.3, -0.037, 0.495, 0.721, 1.608, -0.037, 0.359, 4.312, 0, 0.081, 1, 0, 1),  # gains
    ]
)
# fmt: on

#: The newest weights, those of ``greedy``. A change gets a table of its own.
WEIGHTS = V1

_SIZES, _COUNTS = NUM_TRICKS + 1, 14
#: See :func:`baselines.bots.chances.chances_of_none`. float64.
NONE_OF = chances_of_none(NUM_CARDS - NUM_TRICKS, NUM_TRICKS, _COUNTS)

_RANK_SQUARES = np.array([(card % 13 / 12) ** 2 for card in range(NUM_CARDS)])


@kernel
def weight_row(row: Any) -> Any:
    """Row of the weights for a contract row: its own, or a default."""
    one_hot = row.row_words[0] & _ONE_HOT
    if one_hot:
        return lowest(one_hot)
    total = 0
    for card in range(NUM_CARDS):
        total += row.card_points[card]
    for trick in range(NUM_TRICKS):
        total += row.trick_value[trick]
    if total <= 0:
        return _PENALTIES
    return _TRUMP if row.trumps != 0 else _GAINS


@kernel
def points_in(row: Any, cards: Any) -> Any:
    """Points of a set of cards."""
    total, i = 0, 0
    while row.priced[i]:
        total += row.prices[i] * popcount(cards & row.priced[i])
        i += 1
    return total


@kernel
def name_trump(weights: Any, k: Any, hand: Any) -> Any:
    """The suit with the most trumps, high ones counting more; with penalties, the fewest."""
    sign = -1.0 if k == _PENALTIES else 1.0
    best, best_worth = 0, -1e30
    for suit in range(4):
        cards = hand & SUIT_SETS[suit]
        worth = 0.0
        while cards:
            worth += 1.0 + weights[k, NAME_HIGH] * _RANK_SQUARES[lowest(cards)]
            cards &= cards - ONE
        if sign * worth > best_worth:
            best, best_worth = suit, sign * worth
    return NAME_TRUMP + best


@kernel
def winners(st: Any, legal: Any) -> Any:
    """Which of the legal cards would win the trick as it lies."""
    if st.trick_size == 0:
        return legal
    if st.above == st.trump_set:  # not trumped
        return legal & (st.trump_set | (st.lead_set & ~st.below))
    return legal & st.above


@kernel
def hand_of(st: Any, i: Any, unseen: Any) -> Any:
    """What the ``i``-th seat from here on may hold, if it is still to play, and where its chances begin in :data:`NONE_OF`.

    Else a hand of nothing, which beats nothing. No branch: it would be guessed wrong half the time, here and below.
    """
    seat = (st.seat + i) & 3
    plays = st.trick_size + i < 4
    hold = st.can[seat] & unseen if plays else ZERO
    first = (popcount(hold) * _SIZES + NUM_TRICKS - popcount(st.played[seat])) * _COUNTS
    return plays, hold, np.uint64(first) if plays else ZERO


@kernel
def none_of(chances: Any, cards: Any) -> Any:
    """The chance that a hand holds none of some cards that it may hold."""
    return NONE_OF[chances + np.uint64(popcount(cards))]


@kernel
def add_of(weights: Any, k: Any, void: Any, lead_mean: Any, other_mean: Any) -> Any:
    """Points that a seat is expected to add to the trick: by following, and by another suit."""
    follow = (1.0 - void) * weights[k, ADD_FOLLOW] * lead_mean
    return follow, void * weights[k, ADD_VOID] * other_mean


@kernel
def stays(
    hold: Any, chances: Any, void: Any, above: Any, below: Any, follows: Any, over: Any, trumps: Any
) -> Any:
    """The chance that a seat does not beat a card: ``above`` and ``below`` it in its suit, ``trumps`` beating it besides."""
    goes_over = 1.0 - none_of(chances, hold & above)
    only_over = none_of(chances, hold & below)
    beaten = goes_over * (over + (1.0 - over) * only_over)
    if trumps:  # B-5.7
        beaten += void * (1.0 - none_of(chances, hold & trumps))
    return 1.0 - min(beaten if follows else void * goes_over, 1.0)


class Outlook(NamedTuple):
    """What the choice of a card goes by, whatever its suit. All but ``hand`` and what follows from it is public."""

    k: Any  # row of the weights
    hand: Any
    taking: Any  # legal cards that would win the trick as it lies
    unseen: Any  # cards that the seat has not seen
    num_unseen: Any
    unseen_points: Any
    trick: Any  # points in the trick, with its own
    mean_trick: Any  # size of what a trick brings from now on
    later_value: Any  # what later tricks bring by themselves, each
    later_tricks: Any
    leads: Any
    next1: Any  # of the next seat, as hand_of gives it
    next2: Any
    next3: Any


@kernel
def look_out(row: Any, st: Any, k: Any) -> Any:
    """The outlook of the seat on turn."""
    hand = st.hands[st.seat & 3]
    unseen = ALL_CARDS & ~all_played(st) & ~hand
    number = st.trick_number
    later_tricks = NUM_TRICKS - 1 - number  # at least 1: with one card left there is no choice
    unseen_points = points_in(row, unseen)
    at_stake = abs(unseen_points + points_in(row, hand) + st.pot) + row.sizes_left[number]
    return Outlook(
        k,
        hand,
        winners(st, st.legal[0]),
        unseen,
        popcount(unseen),
        unseen_points,
        st.pot + row.trick_value[number],
        float(at_stake) / (later_tricks + 1),
        float(row.values_left[number + 1]) / later_tricks,
        later_tricks,
        st.trick_size == 0,
        hand_of(st, 1, unseen),
        hand_of(st, 2, unseen),
        hand_of(st, 3, unseen),
    )


class Suit(NamedTuple):
    """What all cards of a suit have in common."""

    cards: Any
    unseen: Any
    shortening: Any  # worth of having one card less of it
    kept: Any  # what a later trick in it brings, but for a card's own points
    added: Any  # what the seats still to play are expected to add
    trumps: Any  # cards that beat it besides its own
    follows: Any
    over: Any  # chance that a seat goes over which could go under too
    void1: Any  # chance that the next seat has none of the suit led
    void2: Any
    void3: Any


@kernel
def look_at_suit(weights: Any, row: Any, st: Any, look: Any, card: Any) -> Any:
    """The suit of a card."""
    k, unseen = look.k, look.unseen
    plays1, hold1, chances1 = look.next1
    plays2, hold2, chances2 = look.next2
    plays3, hold3, chances3 = look.next3
    suit_set = SUIT_SETS[SUIT_OF[card]]
    suit_unseen = unseen & suit_set
    suit_mean = points_in(row, suit_unseen) / max(popcount(suit_unseen), 1)
    kept = (
        weights[k, KEEP_TRICK] * look.later_value
        + weights[k, KEEP_SUIT] * 3.0 * suit_mean
        + weights[k, KEEP_CARDS] * look.unseen_points / look.later_tricks
    )
    lead_set = suit_set if look.leads else st.lead_set
    count = popcount(unseen & lead_set)
    points = points_in(row, unseen & lead_set)
    lead_mean = points / max(count, 1)
    other_mean = (look.unseen_points - points) / max(look.num_unseen - count, 1)
    void1 = none_of(chances1, hold1 & lead_set)
    void2 = none_of(chances2, hold2 & lead_set)
    void3 = none_of(chances3, hold3 & lead_set)
    follow, other = add_of(weights, k, void1, lead_mean, other_mean)
    added = follow + other if plays1 else 0.0
    follow, other = add_of(weights, k, void2, lead_mean, other_mean)
    added = added + follow + other if plays2 else added
    follow, other = add_of(weights, k, void3, lead_mean, other_mean)
    added = added + follow + other if plays3 else added
    return Suit(
        suit_set,
        suit_unseen,
        weights[k, SHORT] * look.mean_trick / popcount(look.hand & suit_set),
        kept,
        added,
        ZERO if suit_set == st.trump_set else st.trump_set,
        suit_set == lead_set,
        1.0 if lead_set == st.trump_set else weights[k, OVER],  # B-4.6
        void1,
        void2,
        void3,
    )


@kernel
def is_alike(bit: Any, last: Any, suit_set: Any, unseen: Any, taking: Any) -> Any:
    """Whether a card and the lower one before it differ in their own points at most: all else that counts is the same for them.

    They are of one suit, no unseen card lies between them, and both or neither would take the trick.
    """
    same_suit = bit & suit_set != ZERO
    return (
        same_suit
        and unseen & (bit - last) == ZERO
        and (bit & taking == ZERO) == (last & taking == ZERO)
    )


@kernel
def worth_of(weights: Any, st: Any, look: Any, suit: Any, bit: Any, own: Any) -> Any:
    """What playing a card with so many points is worth, and what it would bring later if it then won."""
    k = look.k
    under = suit.cards & (bit - ONE)
    above = suit.cards & ~under & ~bit
    worth = suit.shortening
    if bit & look.taking:
        _, hold1, chances1 = look.next1
        _, hold2, chances2 = look.next2
        _, hold3, chances3 = look.next3
        follows, over, trumps = suit.follows, suit.over, suit.trumps
        chance = stays(hold1, chances1, suit.void1, above, under, follows, over, trumps)
        chance *= stays(hold2, chances2, suit.void2, above, under, follows, over, trumps)
        chance *= stays(hold3, chances3, suit.void3, above, under, follows, over, trumps)
        worth += chance * (look.trick + own + suit.added + weights[k, LEAD] * look.mean_trick)
    if look.leads and bit & st.trump_set:
        worth += weights[k, DRAW] * look.mean_trick

    lower = popcount(suit.unseen & under) + weights[k, FLOOR]
    wins = lower / (lower + weights[k, HIGH] * popcount(suit.unseen & above) + 1e-9)
    if weights[k, GUARD] != 0.0:
        # Own cards below an unseen one that is below this card: touching cards are equal.
        top = suit.unseen & under
        guards = popcount(look.hand & suit.cards & ((ONE << np.uint64(highest(top) & 63)) - ONE))
        wins /= 1.0 + weights[k, GUARD] * (guards if top else 0)
    kept = suit.kept + weights[k, KEEP_OWN] * own
    kept *= weights[k, KEEP_TRUMP] if bit & st.trump_set else 1.0
    return worth - (wins * kept + weights[k, KEEP_BASE] * own), kept


@kernel
def choose(weights: Any, config: Any, st: Any) -> Any:
    """The action of the seat on turn, from what that seat may see."""
    legal = st.legal[0]
    if legal & (legal - ONE) == ZERO:
        return lowest(legal)
    row = config[st.deal]
    k = np.uint64(weight_row(row))  # unsigned, so that no index is looked at for being negative
    if legal & NAME_TRUMP_ACTIONS:
        return name_trump(weights, k, st.hands[st.seat & 3])
    look = look_out(row, st, k)
    best, best_worth = -1, -1e300
    own, kept, last, improved = 0.0, 0.0, ZERO, False
    suit = look_at_suit(weights, row, st, look, lowest(legal))
    while legal:
        card = lowest(legal)
        bit = legal & (~legal + ONE)
        legal ^= bit
        alike = last != ZERO and is_alike(bit, last, suit.cards, look.unseen, look.taking)
        last = bit
        if alike and own == row.card_points[card]:
            best = card if improved and kept < 0.0 else best
            continue
        if bit & suit.cards == ZERO:
            suit = look_at_suit(weights, row, st, look, card)
        own = float(row.card_points[card])
        worth, kept = worth_of(weights, st, look, suit, bit, own)
        improved = worth > best_worth or (worth == best_worth and kept < 0.0)
        best = card if improved else best
        best_worth = worth if improved else best_worth
    return best


def bot(name: str, weights: np.ndarray[Any, Any]) -> JitBot:
    """Greedy with some weights, as a bot that plays inside the drivers; it draws nothing."""

    @kernel
    def act(config: Any, view: Any, random: Any) -> Any:
        return choose(weights, config, view)

    return JitBot(name, act, str(Path(__file__).parent), honest=True)


BOT = bot("greedy", WEIGHTS)
BOT_V1 = bot("greedy-v1", V1)
