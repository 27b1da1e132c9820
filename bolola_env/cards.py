"""The 52 cards: ids, texts and bit sets.

Source: rule B-1.1. A card's id is ``13 * suit + rank``; its text is rank then suit (``QH``, ``TS``).
A set of cards is a ``uint64`` with bit ``id`` set.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

SUITS = "CDHS"
RANKS = "23456789TJQKA"
NUM_CARDS = len(SUITS) * len(RANKS)
NUM_SEATS = 4
HAND_SIZE = NUM_CARDS // NUM_SEATS

CARD_NAMES = tuple(rank + suit for suit in SUITS for rank in RANKS)
CARD_IDS = {name: i for i, name in enumerate(CARD_NAMES)}

#: All cards of each suit.
SUIT_SETS = np.array([((1 << 13) - 1) << (13 * suit) for suit in range(4)], np.uint64)
ALL_CARDS = np.uint64((1 << NUM_CARDS) - 1)


def card_id(card: Any) -> int:
    """The id of a card given as text or id; ``ValueError`` names what is not a card."""
    if isinstance(card, str):
        try:
            return CARD_IDS[card.strip().upper()]
        except KeyError:
            raise ValueError(f"{card!r} is not a card: write rank then suit, as QH or TS") from None
    if isinstance(card, (int, np.integer)) and not isinstance(card, (bool, np.bool_)):
        if 0 <= card < NUM_CARDS:
            return int(card)
        raise ValueError(f"{card} is not a card id: they are 0..{NUM_CARDS - 1}")
    raise ValueError(f"{card!r} is not a card: expected a text such as 'QH', or an id")


def card_set(cards: Iterable[Any]) -> int:
    """Cards (texts or ids) as a bit set."""
    bits = 0
    for card in cards:
        bits |= 1 << card_id(card)
    return bits


def cards_in(bits: int) -> list[str]:
    """The texts of the cards in a bit set, in the order of ids."""
    value = int(bits)
    return [CARD_NAMES[i] for i in range(NUM_CARDS) if value >> i & 1]
