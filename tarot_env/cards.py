"""The 78 cards: ids, texts, points and bit sets.

Source: rules T-1.1 to T-1.3. Ids: 0..55 suit cards ``14 * suit + rank``, 56 the Excuse, 57..77 trumps 1 to 21. Texts: rank then suit
(``NH``, ``TS``), ``EX``, ``T1`` .. ``T21``.

A set of cards is two ``uint64`` words: *suits*, with bit ``id`` for each suit card, and *trumps*, with bit 0 for the Excuse
and bit ``n`` for trump ``n``; so the trumps that beat a trump are the bits above it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from trick_core.bits import popcount
from trick_core.jit import kernel

SUITS = "CDHS"
RANKS = "A23456789TJNQK"
NUM_SUIT_CARDS = len(SUITS) * len(RANKS)
EXCUSE_ID = NUM_SUIT_CARDS
NUM_CARDS = NUM_SUIT_CARDS + 1 + 21
NUM_SEATS = 4
HAND_SIZE = 18
CHIEN_SIZE = 6
NUM_TRICKS = HAND_SIZE
assert NUM_SEATS * HAND_SIZE + CHIEN_SIZE == NUM_CARDS

CARD_NAMES = (
    *(rank + suit for suit in SUITS for rank in RANKS),
    "EX",
    *(f"T{number}" for number in range(1, 22)),
)
CARD_IDS = {name: i for i, name in enumerate(CARD_NAMES)}


def _rank_set(rank: str) -> np.uint64:
    """The four suit cards of a rank."""
    return np.uint64(sum(1 << CARD_IDS[rank + suit] for suit in SUITS))


#: All cards of each suit.
SUIT_SETS = np.array([((1 << 14) - 1) << (14 * suit) for suit in range(4)], np.uint64)
SUIT_OF = np.array([card // 14 for card in range(NUM_SUIT_CARDS)], np.int64)
ALL_SUITS = np.uint64((1 << NUM_SUIT_CARDS) - 1)
KINGS, QUEENS, CAVALIERS, VALETS = (_rank_set(rank) for rank in "KQNJ")

#: Sets of the second word: the Excuse and all trumps, the trumps alone, and the oudlers (T-1.2).
ALL_TRUMPS = np.uint64((1 << 22) - 1)
EXCUSE = np.uint64(1)
PETIT = np.uint64(1 << 1)
TRUMPS = np.uint64(ALL_TRUMPS ^ EXCUSE)
OUDLERS = np.uint64(EXCUSE | PETIT | np.uint64(1 << 21))

#: T-1.3: half points of each card, by id; 182 in all.
HALF_POINTS = np.array(
    [
        9 if name in ("EX", "T1", "T21") else {"K": 9, "Q": 7, "N": 5, "J": 3}.get(name[0], 1)
        for name in CARD_NAMES
    ],
    np.int64,
)
EXCUSE_HALF_POINTS = int(HALF_POINTS[EXCUSE_ID])

_S8 = np.uint64(8)
_S56 = np.uint64(NUM_SUIT_CARDS)


@kernel
def by_id(suits: Any, trumps: Any) -> Any:
    """A set as two words with bit ``id`` of the 128 for each card."""
    return suits | (trumps << _S56), trumps >> _S8


@kernel
def half_points(suits: Any, trumps: Any) -> Any:
    """What a set is worth (T-1.3), in half points."""
    return (
        popcount(suits)
        + 8 * popcount(suits & KINGS)
        + 6 * popcount(suits & QUEENS)
        + 4 * popcount(suits & CAVALIERS)
        + 2 * popcount(suits & VALETS)
        + popcount(trumps)
        + 8 * popcount(trumps & OUDLERS)
    )


def card_id(card: Any) -> int:
    """The id of a card given as text or id; ``ValueError`` names what is not a card."""
    if isinstance(card, str):
        try:
            return CARD_IDS[card.strip().upper()]
        except KeyError:
            raise ValueError(
                f"{card!r} is not a card: write rank then suit, as NH or TS, or T1..T21, or EX"
            ) from None
    if isinstance(card, (int, np.integer)) and not isinstance(card, (bool, np.bool_)):
        if 0 <= card < NUM_CARDS:
            return int(card)
        raise ValueError(f"{card} is not a card id: they are 0..{NUM_CARDS - 1}")
    raise ValueError(f"{card!r} is not a card: expected a text such as 'NH', or an id")


def card_set(cards: Iterable[Any]) -> tuple[int, int]:
    """Cards (texts or ids) as a set: suits, trumps."""
    bits = 0
    for card in cards:
        bits |= 1 << card_id(card)
    return bits & int(ALL_SUITS), bits >> NUM_SUIT_CARDS


def card_ids(suits: int, trumps: int) -> list[int]:
    """The ids of the cards in a set, ascending."""
    bits = int(suits) | int(trumps) << NUM_SUIT_CARDS
    return [i for i in range(NUM_CARDS) if bits >> i & 1]


def cards_in(suits: int, trumps: int) -> list[str]:
    """The texts of the cards in a set, in the order of ids."""
    return [CARD_NAMES[i] for i in card_ids(suits, trumps)]
