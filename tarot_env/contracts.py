"""The tables of the game: contracts, targets, poignées, and the actions that are no cards.

Sources: rules T-1.4, T-2.3, T-3.1, T-3.4, T-4.2. No kernel asks which contract it is; it reads its row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tarot_env.cards import CARD_NAMES, NUM_CARDS


class Contract(NamedTuple):
    """One contract.

    Attributes:
        name: As in the bid.
        multiplier: T-2.3.
        takes_chien: The taker picks up the chien, which is public, and discards six cards (T-3.1).
        aside_to_taker: What lies aside, discards or chien, counts for the taker at the end (T-3.3, T-3.4).
    """

    name: str
    multiplier: int
    takes_chien: bool
    aside_to_taker: bool


#: From low to high. Kernels number them from 1; 0 is no contract (yet).
CONTRACTS = (
    Contract("prise", multiplier=1, takes_chien=True, aside_to_taker=True),
    Contract("garde", multiplier=2, takes_chien=True, aside_to_taker=True),
    Contract("garde_sans", multiplier=4, takes_chien=False, aside_to_taker=True),
    Contract("garde_contre", multiplier=6, takes_chien=False, aside_to_taker=False),
)
CONTRACT_NAMES = tuple(row.name for row in CONTRACTS)

# The rows as arrays by contract number.
MULTIPLIER = np.array([0, *(row.multiplier for row in CONTRACTS)], np.int64)
TAKES_CHIEN = np.array([0, *(row.takes_chien for row in CONTRACTS)], np.int64)
ASIDE_TO_TAKER = np.array([0, *(row.aside_to_taker for row in CONTRACTS)], np.int64)

#: T-1.4: points that the taker needs, by oudlers.
TARGET = np.array([56, 51, 41, 36], np.int64)

#: T-4.2: trumps shown and points, by level; kernels number the levels from 1, 0 is none.
POIGNEE_LEVELS = (10, 13, 15)
POIGNEE_SIZE = np.array([0, *POIGNEE_LEVELS], np.int64)
POIGNEE_POINTS = np.array([0, 20, 30, 40], np.int64)
TRIPLE = len(POIGNEE_LEVELS)

#: Texts of all actions, by id. Discards and cards kept back from a poignée use the card's id.
ACTIONS = (
    *CARD_NAMES,
    "pass",
    *CONTRACT_NAMES,
    "no_chelem",
    "chelem",
    "no_poignee",
    *(f"poignee_{level}" for level in POIGNEE_LEVELS),
)
PASS = NUM_CARDS
NO_CHELEM = ACTIONS.index("no_chelem")
NO_POIGNEE = ACTIONS.index("no_poignee")


def contract_number(name: str) -> int:
    """The number of a contract, 1..4, from its name (hyphens or underscores).

    Raises:
        ValueError: No such contract; the message lists them.
    """
    if isinstance(name, str) and name.replace("-", "_") in CONTRACT_NAMES:
        return CONTRACT_NAMES.index(name.replace("-", "_")) + 1
    raise ValueError(f"contract: expected one of {', '.join(CONTRACT_NAMES)}; got {name!r}")
