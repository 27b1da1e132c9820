"""Greedy play of Tarot, in every phase: what each action is worth now and later, with no search.

**Bids.** Three linear scores of the hand (:data:`HAND_NAMES`) foretell by how many points a taker who plays like this bot would
pass the target: after taking the chien, in garde sans, in garde contre. From them follows what each bid is expected to
bring; the best is made if it beats what passing is expected to bring, which depends on the highest bid so far.
The scores are our own calibration, a regression over deals that this bot played from hands of all kinds
(``python -m baselines.tune_tarot hands``); the worth of passing comes from self-play (``... bids``).

**Discard.** Points are saved and suits emptied, except beside a king.

**Declarations.** The highest poignée is always shown, the lowest trumps kept back. A chelem is announced when no trick should be
lost.

**Play.** For each legal card:

* *now*: the chance that the player's side takes the trick, times what is in it then, less the same for the other side. A seat
  still to play may hold any unseen card that public play has not ruled out for it; the chance that it holds none of k such cards
  is hypergeometric. Partners add more to a trick that their side takes;
* *later*: less what the card is worth if kept: its chance to win a later trick, the chance that its own points go home, and for
  the Petit how many trumps it has beside it;
* small terms for the lead, for shortening a suit, for long suits and trumps led.

The Excuse is never kept for trick 18, but to complete a slam. Weights of taker and defenders differ; they come from self-play too (``... play``).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from baselines.bots.chances import chances_of_none
from tarot_env.cards import (
    ALL_SUITS,
    ALL_TRUMPS,
    CAVALIERS,
    CHIEN_SIZE,
    EXCUSE,
    EXCUSE_ID,
    HALF_POINTS,
    HAND_SIZE,
    KINGS,
    NUM_CARDS,
    NUM_TRICKS,
    PETIT,
    QUEENS,
    SUIT_OF,
    SUIT_SETS,
    TRUMPS,
    half_points,
)
from tarot_env.contracts import CONTRACTS, MULTIPLIER, NO_CHELEM, NO_POIGNEE, PASS, TAKES_CHIEN
from tarot_env.observe import hidden, unseen
from tarot_env.state import BID, CHELEM, DISCARD, PLAY, POIGNEE
from trick_core.bits import ONE, ZERO, highest, lowest, popcount
from trick_core.drivers import JitBot
from trick_core.jit import kernel

#: Weights of the play, in half points unless they are factors: rows ``taker`` and ``defender``.
PLAY_NAMES = (
    "add_win",  # what a seat still to play adds to a trick of its side, per mean of the suit's unseen cards
    "add_lose",  # the same, to a trick of the other side
    "lead",  # worth of having the next lead
    "high",  # how much each unseen higher card lowers the chance to win later
    "floor",  # chance to win later of a card with no unseen lower card, as a count of lower cards
    "cut",  # how much the chance that an opponent can trump the suit lowers it
    "keep_win",  # a later trick
    "own",  # share of a kept card's points that goes home (-1: lost, 1: home) if it never wins
    "own_win",  # what its chance to win adds to that share
    "short",  # worth of shortening a suit, divided by its length, if trumps are held
    "long",  # worth of leading from a suit, per card held of it
    "keep_trump",  # a kept trump
    "keep_trump_win",  # what its chance to win adds
    "high_trump",  # as high, for trumps
    "petit",  # share of the kept Petit that goes home
    "petit_full",  # what a hand of nothing but trumps adds to it
    "petit_strong",  # what the own share of the other trumps in play adds to it
    "draw",  # worth of leading a trump
    "draw_strong",  # what the own share of the trumps in play adds to it
    "draw_petit",  # what a Petit that may be in an opponent's hand adds to it
    "excuse",  # the kept Excuse
    "excuse_more",  # what each trick to come adds to it
    "excuse_lead",  # chance that the own side takes a trick that the Excuse led
)
(
    ADD_WIN,
    ADD_LOSE,
    LEAD,
    HIGH,
    FLOOR,
    CUT,
    KEEP_WIN,
    OWN,
    OWN_WIN,
    SHORT,
    LONG,
    KEEP_TRUMP,
    KEEP_TRUMP_WIN,
    HIGH_TRUMP,
    PETIT_OWN,
    PETIT_FULL,
    PETIT_STRONG,
    DRAW,
    DRAW_STRONG,
    DRAW_PETIT,
    EXCUSE_KEEP,
    EXCUSE_MORE,
    EXCUSE_LEAD,
) = range(len(PLAY_NAMES))

#: Weights of the discard, in half points.
DISCARD_NAMES = (
    "points",  # a card's half points
    "points_king",  # a card's half points, if the king of the suit is held
    "void",  # a suit that can still be emptied, divided by its length
    "length",  # each card that the suit has
    "king",  # a card beside the king
)
DISCARD_POINTS, DISCARD_POINTS_KING, DISCARD_VOID, DISCARD_LENGTH, DISCARD_KING = range(
    len(DISCARD_NAMES)
)

#: Weights of the bidding.
BID_NAMES = (
    "pass_first",  # points that passing is expected to bring if nobody has bid
    "pass_prise",  # the same over a prise
    "pass_garde",
    "pass_garde_sans",
    "over",  # points by which each earlier bid lowers the hand's expected margin, per level
    "spread",  # standard deviation of the margin, in points
    "sans",  # points added to the score for garde sans
    "contre",
)
PASS_WORTH, BID_OVER, BID_SPREAD, BID_SANS, BID_CONTRE = 0, 4, 5, 6, 7

#: What the hand's scores count: rows ``take``, ``sans`` and ``contre``, in points of margin over the target.
HAND_NAMES = (
    "one",
    "excuse",
    "petit",
    "twenty_one",
    "trumps",
    "high_trumps",  # of 15 to 20
    "trumps_with_petit",  # number of trumps if the Petit is among them
    "kings",
    "queens",
    "marriages",  # king and queen of a suit
    "cavaliers",
    "voids",
    "singletons",
    "long",  # cards beyond the fourth of each suit
)
NUM_FEATURES = len(HAND_NAMES)
_HIGH_TRUMPS = np.uint64(0b111111 << 15)
_TWENTY_ONE = np.uint64(1 << 21)

#: Rows of the table of weights.
ROWS = ("taker", "defender", "discard", "bid", "take", "sans", "contre")
ROW_NAMES = (
    PLAY_NAMES,
    PLAY_NAMES,
    DISCARD_NAMES,
    BID_NAMES,
    HAND_NAMES,
    HAND_NAMES,
    HAND_NAMES,
)
TAKER_ROW, DEFENDER_ROW, DISCARD_ROW, BID_ROW, TAKE_ROW, SANS_ROW, CONTRE_ROW = range(len(ROWS))


def table(rows: dict[str, tuple[float, ...]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Weights by row as one array, float64 (rows, weights), short rows filled up with 0."""
    width = max(map(len, ROW_NAMES))
    return np.array([(*rows[name], *(0.0,) * (width - len(rows[name]))) for name in ROWS])


_START_PLAY = (
    *(1.3, 0.6, 0.0, 1.5, 0.2, 0.5, 10.0, -0.2, 1.0, 1.0, 0.0),
    *(3.0, 7.0, 1.0, -0.5, 1.0, 0.5, 0.0, 0.0, 0.0, 2.0, 0.2, 0.3),
)
_START_HAND = (-43.0, 8.0, 5.0, 9.0, 3.0, 1.5, 0.5, 4.5, 2.0, 1.0, 0.7, 2.0, 1.0, 0.5)

#: Where the tuning starts: guesses.
START = table(
    {
        "taker": _START_PLAY,
        "defender": _START_PLAY,
        "discard": (1.0, -1.0, 6.0, 0.0, 0.0),
        "bid": (0.0, -5.0, -15.0, -30.0, 1.0, 13.0, 0.0, 0.0),
        "take": _START_HAND,
        "sans": _START_HAND,
        "contre": (_START_HAND[0] - 14.0, *_START_HAND[1:]),
    }
)

#: Tuned by turns of ``python -m baselines.tune_tarot`` with ``hands``, ``play`` and ``bids``, from START on.
# fmt: off
V1 = table(
    {
        "taker": (-0.365, 2.12, 1.9, 1.785, 2.2, 3.4, 10.139, -0.11, 1, -0.24, 5.4, 10.3, 14.5, 1, 0.1, 0.79, 0.5, 0, 0, 0, 7.5, 0.2, 0.3),
        "defender": (0.4, -0.86, 0.421, 3.5, 0.2, 0.791, -0.5, 0.08, 1, 1.8, 0.65, 3.525, 3, 1, -0.35, 1, 0.462, -1.5, 0, 0, 2, 0.2, 0.3),
        "discard": (0.14, -0.08, 9.8, -0.5, 0),
        "bid": (-8, -5, -15, -30, 1, 9.7, 0, 0.2),
        "take": (-44.45, 11.53, 12.01, 13.17, 3.07, 1.05, -0.4, 4.81, 1.3, 1.49, 0.55, 0.68, 0.44, 0.34),
        "sans": (-55.51, 11.74, 5.37, 14.38, 2.71, 1.9, 0.17, 4.82, 1.37, 1.59, 0.74, 4.09, 2.31, 1.29),
        "contre": (-65.56, 13.19, 6.46, 15.75, 2.6, 1.91, 0.23, 5.15, 1.64, 1.45, 0.84, 4.3, 2.42, 1.34),
    }
)
# fmt: on

#: The newest weights, those of ``greedy``. A change gets a table of its own.
WEIGHTS = V1

_SIZES, _COUNTS = HAND_SIZE + 1, 23
#: See :func:`baselines.bots.chances.chances_of_none`. float32.
NONE_OF = chances_of_none(NUM_CARDS - HAND_SIZE, HAND_SIZE, _COUNTS).astype(np.float32)

_S8, _S56 = np.uint64(8), np.uint64(56)


@kernel
def legal_cards(st: Any) -> Any:
    """The legal actions that are cards: suits, trumps."""
    return st.legal[0] & ALL_SUITS, ((st.legal[0] >> _S56) | (st.legal[1] << _S8)) & ALL_TRUMPS


# ---------------------------------------------------------------------------- bids


@kernel
def feature(suits: Any, trumps: Any, which: Any) -> Any:
    """One of the numbers of :data:`HAND_NAMES`."""
    if which == 0:
        return 1
    if which == 1:
        return np.int64(trumps & EXCUSE)
    if which == 2:
        return popcount(trumps & PETIT)
    if which == 3:
        return popcount(trumps & _TWENTY_ONE)
    if which == 4:
        return popcount(trumps & TRUMPS)
    if which == 5:
        return popcount(trumps & _HIGH_TRUMPS)
    if which == 6:
        return popcount(trumps & TRUMPS) if trumps & PETIT else 0
    if which == 7:
        return popcount(suits & KINGS)
    if which == 8:
        return popcount(suits & QUEENS)
    if which == 9:
        return popcount((suits & KINGS) & ((suits & QUEENS) << ONE))
    if which == 10:
        return popcount(suits & CAVALIERS)
    count = 0
    for suit in range(4):
        length = popcount(suits & SUIT_SETS[suit])
        if which == 11:
            count += length == 0
        elif which == 12:
            count += length == 1
        else:
            count += max(length - 4, 0)
    return count


@kernel
def margin(weights: Any, row: Any, suits: Any, trumps: Any) -> Any:
    """Points by which a taker with this hand is expected to pass the target."""
    total = 0.0
    for which in range(NUM_FEATURES):
        total += weights[row, which] * feature(suits, trumps, which)
    return total


@kernel
def payment(points: Any, spread: Any) -> Any:
    """What a defender is expected to pay at x1 for an expected margin: T-7.1 with a normal margin's chances."""
    return points + 25.0 * math.erf(points / (spread * math.sqrt(2.0)))


@kernel
def bid(weights: Any, st: Any) -> Any:
    """The bid that is expected to bring most, or pass."""
    me = st.seat
    suits, trumps = st.hands[me], st.hands_trumps[me]
    against = 0.0
    for seat in range(4):
        if st.bids[seat] > 0:
            against += weights[BID_ROW, BID_OVER] * st.bids[seat]
    must = st.legal[1] & (ONE << np.uint64(PASS - 64)) == ZERO
    best = PASS
    best_worth = -1e30 if must else weights[BID_ROW, PASS_WORTH + min(st.contract, 3)]
    for level in range(st.contract + 1, len(CONTRACTS) + 1):
        row, more = TAKE_ROW, 0.0
        if TAKES_CHIEN[level] == 0:
            row = SANS_ROW if level == len(CONTRACTS) - 1 else CONTRE_ROW
            more = weights[BID_ROW, BID_SANS if row == SANS_ROW else BID_CONTRE]
        points = margin(weights, row, suits, trumps) + more - against
        worth = 3.0 * MULTIPLIER[level] * payment(points, weights[BID_ROW, BID_SPREAD])
        if worth > best_worth:
            best, best_worth = PASS + level, worth
    return best


# ---------------------------------------------------------------------------- before the play


@kernel
def discard(weights: Any, st: Any) -> Any:
    """The card to lay aside next."""
    legal, legal_trumps = legal_cards(st)
    if legal == ZERO:
        return EXCUSE_ID + lowest(legal_trumps)
    hand = st.hands[st.seat]
    left = CHIEN_SIZE - popcount(st.discard) - popcount(st.discard_trumps)
    best, best_worth = -1, -1e30
    while legal:
        card = lowest(legal)
        legal &= legal - ONE
        suit_set = SUIT_SETS[SUIT_OF[card]]
        length = popcount(hand & suit_set)
        worth = weights[DISCARD_ROW, DISCARD_LENGTH] * length
        if hand & suit_set & KINGS:
            worth += weights[DISCARD_ROW, DISCARD_POINTS_KING] * HALF_POINTS[card]
            worth += weights[DISCARD_ROW, DISCARD_KING]
        else:
            worth += weights[DISCARD_ROW, DISCARD_POINTS] * HALF_POINTS[card]
            if length <= left:
                worth += weights[DISCARD_ROW, DISCARD_VOID] / length
        if worth > best_worth:
            best, best_worth = card, worth
    return best


@kernel
def top_run(own: Any, gone: Any, top: Any, cards: Any) -> Any:
    """How many of ``own`` are above every other card in play of the ``cards`` that end with bit ``top``."""
    run = 0
    bit = ONE << np.uint64(top)
    while bit & cards and bit & (own | gone):
        run += popcount(bit & own)
        bit >>= ONE
    return run


@kernel
def will_sweep(st: Any) -> Any:
    """Whether a taker who leads should lose no trick: the trumps draw all others, and each suit runs from the top.

    The Excuse loses nothing: it is led last (T-6.4).
    """
    me = st.seat
    suits, trumps = st.hands[me], st.hands_trumps[me] & TRUMPS
    out = 21 - popcount(trumps) - popcount(st.discard_trumps)
    # The others' trumps lie in three hands: not all in one.
    if top_run(trumps, st.discard_trumps, 21, TRUMPS) < out - out // 3:
        return False
    if popcount(trumps) < out - out // 3:
        return False
    for suit in range(4):
        own = suits & SUIT_SETS[suit]
        if top_run(own, st.discard, 14 * suit + 13, SUIT_SETS[suit]) < popcount(own):
            return False
    return True


# ---------------------------------------------------------------------------- play


@kernel
def pool(st: Any, i: Any, un: Any, un_trumps: Any, hide: Any, hide_trumps: Any) -> Any:
    """What the ``i``-th seat from here on may hold: suits and trumps; which of them it holds for sure; and where the chances of
    the other cards that it may hold and that it has begin in :data:`NONE_OF`.
    """
    me = st.seat
    seat, left, right = (me + i) & 3, (me + i % 3 + 1) & 3, (me + (i + 1) % 3 + 1) & 3
    hold, hold_trumps = st.can[seat] & un, st.can_trumps[seat] & un_trumps
    sure = hold & ~hide & ~st.can[left] & ~st.can[right]
    sure_trumps = hold_trumps & ~hide_trumps & ~st.can_trumps[left] & ~st.can_trumps[right]
    known = popcount(sure) + popcount(sure_trumps)
    m = popcount(hold) + popcount(hold_trumps) - known
    n = NUM_TRICKS - popcount(st.played[seat]) - popcount(st.played_trumps[seat]) - known
    return hold, hold_trumps, sure, sure_trumps, np.uint64((m * _SIZES + n) * _COUNTS)


@kernel
def none_of(chances: Any, cards: Any, sure: Any) -> Any:
    """The chance that a hand holds none of some cards that it may hold, ``sure`` being all that it holds for sure."""
    return 0.0 if sure & cards else float(NONE_OF[chances + np.uint64(popcount(cards))])


@kernel
def cuts_suit(there: Any, suit_set: Any) -> Any:
    """The chance that a seat is void in a suit and holds a trump; ``there`` is what :func:`pool` gives."""
    hold, hold_trumps, sure, sure_trumps, chances = there
    void = none_of(chances, hold & suit_set, sure)
    return void * (1.0 - none_of(chances, hold_trumps & TRUMPS, sure_trumps))


@kernel
def answer(plays: Any, there: Any, lead_set: Any, over: Any, above: Any) -> Any:
    """The chances that a seat trumps with one of ``above``, and that it plays one of ``over``; 0 if it has played."""
    hold, hold_trumps, sure, sure_trumps, chances = there
    void = none_of(chances, hold & lead_set, sure)
    cuts = void * (1.0 - none_of(chances, hold_trumps & above, sure_trumps))
    goes = 1.0 - none_of(chances, hold & over, sure)
    return cuts if plays else 0.0, goes if plays else 0.0


@kernel
def add(plays: Any, partner: Any, as_partner: Any, as_opponent: Any) -> Any:
    """What a seat is expected to add to the trick; 0 if it has played."""
    points = as_partner if partner else as_opponent
    return points if plays else 0.0


@kernel
def play(weights: Any, st: Any) -> Any:
    """The card to play."""
    me = st.seat
    w = np.uint64(TAKER_ROW if me == st.taker else DEFENDER_ROW)  # unsigned: no look for negative
    legal, legal_trumps = legal_cards(st)
    hand, hand_trumps = st.hands[me], st.hands_trumps[me]
    left = NUM_TRICKS - st.trick_number
    un, un_trumps = unseen(st, me)
    hide, hide_trumps = hidden(st, me)
    own_trumps = popcount(hand_trumps & TRUMPS)
    out_trumps = popcount(un_trumps & TRUMPS)
    strong = own_trumps / (own_trumps + out_trumps + 1e-9)
    petit_out = un_trumps & PETIT != ZERO
    leads = st.trick_size == 0
    open_trick = st.winner < 0  # nothing, or the Excuse, lies in the trick
    side_wins = not open_trick and (st.winner == st.taker) == (me == st.taker)
    sweeping = st.taken[st.taker] == (st.trick_number if me == st.taker else 0)

    if hand_trumps & EXCUSE and left == 2 and not (sweeping and leads):
        return EXCUSE_ID  # T-6.3

    # The other seats: whether they are still to play, are partners, and what they may hold.
    first, second, third = (me + 1) & 3, (me + 2) & 3, (me + 3) & 3
    plays1, plays2, plays3 = st.trick_size < 3, st.trick_size < 2, st.trick_size < 1
    takes_me = me == st.taker
    with1 = (first == st.taker) == takes_me
    with2 = (second == st.taker) == takes_me
    with3 = (third == st.taker) == takes_me
    there1 = pool(st, 1, un, un_trumps, hide, hide_trumps)
    there2 = pool(st, 2, un, un_trumps, hide, hide_trumps)
    there3 = pool(st, 3, un, un_trumps, hide, hide_trumps)

    best, best_worth = -1, -1e300
    suit, suit_cut, suit_mean = -1, 0.0, 0.0
    lead_mean = 1.0
    same_lead, same_over, same_above = ~ZERO, ZERO, ZERO  # nothing like any trick
    uncut, stays, cut_share, over_share = 1.0, 1.0, 0.0, 0.0
    if not open_trick and st.lead_set:
        cards = un & st.lead_set
        lead_mean = half_points(cards, ZERO) / max(popcount(cards), 1)
    for part in range(2):
        cards = legal if part == 0 else legal_trumps
        while cards:
            bit = cards & (~cards + ONE)
            cards ^= bit
            below = bit - ONE
            card = lowest(bit) + (0 if part == 0 else EXCUSE_ID)
            excuse = card == EXCUSE_ID
            own = float(HALF_POINTS[card])
            suit_set = ZERO
            if part == 0:
                if SUIT_OF[card] != suit:
                    suit = SUIT_OF[card]
                    rest = un & SUIT_SETS[suit]
                    suit_mean = half_points(rest, ZERO) / max(popcount(rest), 1)
                    safe = 1.0 if with1 else 1.0 - cuts_suit(there1, SUIT_SETS[suit])
                    safe *= 1.0 if with2 else 1.0 - cuts_suit(there2, SUIT_SETS[suit])
                    safe *= 1.0 if with3 else 1.0 - cuts_suit(there3, SUIT_SETS[suit])
                    suit_cut = 1.0 - safe
                suit_set = SUIT_SETS[suit]

            # The trick as it lies after this card.
            lead_set, over, above, mean = st.lead_set, ZERO, st.above, lead_mean
            takes = False
            if excuse:
                over = lead_set & ~(st.best | (st.best - ONE))
            elif part == 0:
                if open_trick:
                    lead_set, mean = suit_set, suit_mean
                takes = open_trick or (
                    bit & lead_set != ZERO and bit > st.best and st.above == TRUMPS
                )
                top = bit if takes else st.best
                over = lead_set & ~(top | (top - ONE))
            else:
                if open_trick:
                    lead_set, mean = ZERO, 1.0
                takes = bit & st.above != ZERO
                if takes:
                    above = TRUMPS & ~(bit | below)
                over = lead_set & ~(st.best | (st.best - ONE))
            trumped = above != TRUMPS or lead_set == ZERO
            mine = takes or side_wins

            # The chance that the own side takes it, and what is added.
            over = ZERO if trumped else over
            if lead_set != same_lead or over != same_over or above != same_above:
                # Cards that leave the trick to the same card are answered alike.
                same_lead, same_over, same_above = lead_set, over, above
                cuts1, goes1 = answer(plays1, there1, lead_set, over, above)
                cuts2, goes2 = answer(plays2, there2, lead_set, over, above)
                cuts3, goes3 = answer(plays3, there3, lead_set, over, above)
                uncut = (1.0 - cuts1) * (1.0 - cuts2) * (1.0 - cuts3)
                stays = (1.0 - goes1) * (1.0 - goes2) * (1.0 - goes3)
                cut_mine = (cuts1 if with1 else 0.0) + (cuts2 if with2 else 0.0)
                cut_mine += cuts3 if with3 else 0.0
                over_mine = (goes1 if with1 else 0.0) + (goes2 if with2 else 0.0)
                over_mine += goes3 if with3 else 0.0
                cut_share = (1.0 - uncut) * cut_mine / (1e-9 + cuts1 + cuts2 + cuts3)
                over_share = (1.0 - stays) * over_mine / (1e-9 + goes1 + goes2 + goes3)
            lies = st.pot + own
            if excuse:
                lies -= own
            add_win, add_lose = weights[w, ADD_WIN] * mean, weights[w, ADD_LOSE] * mean
            win = lies + (add(plays1, with1, add_win, add_lose))
            win += add(plays2, with2, add_win, add_lose)
            win += add(plays3, with3, add_win, add_lose)
            lose = lies + add(plays1, with1, add_lose, add_win)
            lose += add(plays2, with2, add_lose, add_win)
            lose += add(plays3, with3, add_lose, add_win)
            chance = (stays if mine else 0.0) + over_share
            chance = uncut * chance + cut_share
            if excuse and open_trick:
                chance = 0.0 if me == st.taker else weights[w, EXCUSE_LEAD]
            worth = chance * win - (1.0 - chance) * lose
            if takes:
                worth += weights[w, LEAD] * uncut * stays

            # What it is worth if kept.
            if excuse:
                worth -= weights[w, EXCUSE_KEEP] + weights[w, EXCUSE_MORE] * (left - 2)
                if left == 2:
                    worth -= 400.0  # T-6.4: the slam
            elif part == 0:
                rest = un & suit_set
                lower = popcount(rest & below) + weights[w, FLOOR]
                higher = popcount(rest & ~below)
                wins = lower / (lower + weights[w, HIGH] * higher + 1e-9)
                wins *= 1.0 - weights[w, CUT] * suit_cut
                worth -= weights[w, KEEP_WIN] * wins
                worth -= own * (weights[w, OWN] + weights[w, OWN_WIN] * wins)
                length = popcount(hand & suit_set)
                if own_trumps > 0:
                    worth += weights[w, SHORT] / length
                if leads:
                    worth += weights[w, LONG] * length
            else:
                rest = un_trumps & TRUMPS
                lower = popcount(rest & below) + weights[w, FLOOR]
                higher = popcount(rest & ~below)
                wins = lower / (lower + weights[w, HIGH_TRUMP] * higher + 1e-9)
                worth -= weights[w, KEEP_TRUMP] + weights[w, KEEP_TRUMP_WIN] * wins
                if bit == PETIT:
                    others = own_trumps - 1
                    share = others / (others + out_trumps + 1e-9)
                    worth -= own * (
                        weights[w, PETIT_OWN]
                        + weights[w, PETIT_FULL] * min(1.0, others / max(left - 1, 1))
                        + weights[w, PETIT_STRONG] * share
                    )
                elif own > 1.0:
                    worth -= own
                if leads:
                    worth += weights[w, DRAW] + weights[w, DRAW_STRONG] * strong
                    if petit_out:
                        worth += weights[w, DRAW_PETIT]
            if st.chelem == 1 and me == st.taker and leads:
                # Announced: draw the trumps from the top, then the suits, the Excuse last.
                worth = 1000.0 * chance + (0.0 if part == 0 else float(card))
                if excuse:
                    worth = -1000.0
            if worth > best_worth:
                best, best_worth = card, worth
    return best


@kernel
def choose(weights: Any, config: Any, st: Any) -> Any:
    """The action of the seat on turn, from what that seat may see."""
    if popcount(st.legal[0]) + popcount(st.legal[1]) == 1:
        return lowest(st.legal[0]) if st.legal[0] else 64 + lowest(st.legal[1])
    phase = st.phase
    if phase == PLAY:
        return play(weights, st)
    if phase == BID:
        return bid(weights, st)
    if phase == DISCARD:
        return discard(weights, st)
    if phase == CHELEM:
        return NO_CHELEM + will_sweep(st)
    if phase == POIGNEE:
        return 64 + highest(st.legal[1])
    _, legal_trumps = legal_cards(st)
    return EXCUSE_ID + lowest(legal_trumps)


def bot(name: str, weights: np.ndarray[Any, Any]) -> JitBot:
    """Greedy with some weights, as a bot that plays inside the drivers; it draws nothing."""

    @kernel
    def act(config: Any, view: Any, random: Any) -> Any:
        return choose(weights, config, view)

    return JitBot(name, act, str(Path(__file__).parent), honest=True)


BOT = bot("greedy", WEIGHTS)
BOT_V1 = bot("greedy-v1", V1)

assert NO_POIGNEE >= 64 and HIGH == 3
