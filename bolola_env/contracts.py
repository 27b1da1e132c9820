"""Contracts as rows of a table (rule B-8.1), the nine built-in ones among them.

Sources: rules B-1.4, B-2.1, B-3.x, B-4.x, B-5.x. What a row says, and in which order its duties bind:

* **Leading.** No card of ``locked_suit`` may be led until one has been played in the deal, unless the hand
  holds that suit only.
* **Holding the suit led.** With trumps, on a trump lead: a trump above the highest in the trick, if held. Else a card of
  ``under_duty`` below the highest card of the suit led in the trick, if held. Else any card of the suit.
* **Void.** With trumps: a trump above the highest in the trick, else any trump. Else a card of the first of ``void_tiers`` that
  the hand holds anything of. Else any card.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bolola_env.cards import CARD_NAMES, NUM_CARDS, RANKS, SUITS, card_id, cards_in

NUM_TRICKS = 13
MAX_TIERS = 7
_INT16 = np.iinfo(np.int16)


@dataclass(frozen=True, kw_only=True)
class Contract:
    """One contract. Every field but the name may be left out.

    *Cards* are selected by a card's text (``"QS"``) or id, by a rank (``"Q"``: all four) or by a suit
    (``"H"``: all thirteen), in any mixture. After construction the fields hold the normal form given in brackets.

    Attributes:
        name: Letters, digits and underscores.
        card_points: Points to the taker of a card: a mapping from selections to points, which add up where they
            overlap (rule B-2.1), or 52 numbers in the order of ids. [52 integers]
        trick_points: Points for each trick.
        trick_number_points: Further points for a trick by its number 1..13: a mapping, or 13 numbers. [13 integers]
        locked_suit: ``"C"``, ``"D"``, ``"H"``, ``"S"``, ``"trump"`` or None.
        void_tiers: Up to seven selections, the most urgent first. A card counts in the first that
            names it. [tuples of card texts]
        under_duty: Selection of cards that must go under a higher card of the suit led. [card texts]
        trumps: The starter names a trump suit (rule B-6.1); trumps beat other cards and must be played higher
            where possible (rules B-4.6, B-5.7).

    Raises:
        ValueError: A field out of range; the message names the field. Points lie within int16.
        TypeError: An unknown or positional argument.
    """

    name: str
    card_points: Mapping[Any, int] | Sequence[int] = ()
    trick_points: int = 0
    trick_number_points: Mapping[int, int] | Sequence[int] = ()
    locked_suit: str | None = None
    void_tiers: Sequence[Iterable[Any]] = ()
    under_duty: Iterable[Any] = ()
    trumps: bool = False

    def __post_init__(self) -> None:
        def settle(field: str, value: Any) -> None:
            object.__setattr__(self, field, value)

        if not isinstance(self.name, str) or not self.name.replace("-", "_").isidentifier():
            raise ValueError(
                f"name: expected letters, digits and underscores, not starting with a digit; got {self.name!r}"
            )
        if not isinstance(self.trumps, (bool, np.bool_)):
            raise ValueError(f"trumps: expected True or False, got {self.trumps!r}")
        locks = (None, *SUITS, "trump")
        if self.locked_suit not in locks:
            raise ValueError(f"locked_suit: expected one of {locks}, got {self.locked_suit!r}")
        if self.locked_suit == "trump" and not self.trumps:
            raise ValueError("locked_suit: 'trump' needs trumps=True")
        settle("name", self.name.replace("-", "_"))
        settle("trumps", bool(self.trumps))
        settle("card_points", _card_points(self.card_points))
        settle("trick_points", _points("trick_points", self.trick_points))
        settle("trick_number_points", _trick_number_points(self.trick_number_points))
        settle("under_duty", tuple(cards_in(_selection("under_duty", self.under_duty))))
        if isinstance(self.void_tiers, str):
            raise ValueError("void_tiers: expected a sequence of selections, got one text")
        tiers, named = [], 0
        for selection in _items("void_tiers", self.void_tiers, "a sequence of selections"):
            bits = _selection("void_tiers", selection) & ~named
            if not bits:
                raise ValueError("void_tiers: a tier is empty, or earlier tiers name all its cards")
            tiers.append(tuple(cards_in(bits)))
            named |= bits
        if len(tiers) > MAX_TIERS:
            raise ValueError(f"void_tiers: at most {MAX_TIERS}, got {len(tiers)}")
        settle("void_tiers", tuple(tiers))

    def trick_value(self, number: int) -> int:
        """Points for trick ``number`` (1..13) itself, without its cards."""
        return self.trick_points + int(self.trick_number_points[number - 1])

    @property
    def total(self) -> int:
        """Points that one deal gives out in all."""
        return sum(self._values())

    @property
    def highest_return(self) -> int:
        """Bound on the points of one seat in a deal: all gains and no loss."""
        return sum(value for value in self._values() if value > 0)

    @property
    def lowest_return(self) -> int:
        """Bound on the points of one seat in a deal: all losses and no gain."""
        return sum(value for value in self._values() if value < 0)

    @property
    def largest_return(self) -> int:
        """Bound on the absolute points of one seat in a deal."""
        return max(self.highest_return, -self.lowest_return)

    def _values(self) -> list[int]:
        """Points of all that one deal gives out, card by card and trick by trick."""
        return [*self.card_points, *(self.trick_value(n) for n in range(1, NUM_TRICKS + 1))]


def _points(field: str, value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{field}: points are integers, got {value!r}")
    if not _INT16.min <= value <= _INT16.max:
        raise ValueError(f"{field}: {value} is outside int16 ({_INT16.min}..{_INT16.max})")
    return int(value)


def _items(field: str, given: Any, expected: str) -> list[Any]:
    """What ``given`` holds, or a ``ValueError`` if it holds nothing."""
    try:
        return list(given)
    except TypeError:
        raise ValueError(f"{field}: expected {expected}, got {given!r}") from None


def _selection(field: str, selection: Iterable[Any]) -> int:
    """Bits of the cards that a selection names."""
    items = [selection] if isinstance(selection, str) else selection
    bits = 0
    for item in _items(field, items, "cards in a list, tuple or set"):
        bits |= _selected(field, item)
    return bits


def _selected(field: str, item: Any) -> int:
    if isinstance(item, str) and len(item) == 1:
        if item in SUITS:
            return sum(1 << i for i in range(NUM_CARDS) if CARD_NAMES[i][1] == item)
        if item in RANKS:
            return sum(1 << i for i in range(NUM_CARDS) if CARD_NAMES[i][0] == item)
        raise ValueError(f"{field}: {item!r} is neither a rank ({RANKS}) nor a suit ({SUITS})")
    try:
        return 1 << card_id(item)
    except ValueError as error:
        raise ValueError(f"{field}: {error}") from None


def _card_points(given: Mapping[Any, int] | Sequence[int]) -> tuple[int, ...]:
    field = "card_points"
    if not isinstance(given, Mapping):
        values = _items(field, given, f"{NUM_CARDS} numbers or a mapping")
        if len(values) not in (0, NUM_CARDS):
            raise ValueError(
                f"{field}: expected {NUM_CARDS} numbers or a mapping, got {len(values)}"
            )
        return tuple(_points(field, v) for v in values) or (0,) * NUM_CARDS
    totals = [0] * NUM_CARDS
    for item, value in given.items():
        bits = _selected(field, item)
        for card in range(NUM_CARDS):
            if bits >> card & 1:
                totals[card] += _points(field, value)
    return tuple(_points(f"{field}[{CARD_NAMES[i]}]", v) for i, v in enumerate(totals))


def _trick_number_points(given: Mapping[int, int] | Sequence[int]) -> tuple[int, ...]:
    field = "trick_number_points"
    if not isinstance(given, Mapping):
        values = _items(field, given, f"{NUM_TRICKS} numbers or a mapping")
        if len(values) not in (0, NUM_TRICKS):
            raise ValueError(
                f"{field}: expected {NUM_TRICKS} numbers or a mapping, got {len(values)}"
            )
        return tuple(_points(field, v) for v in values) or (0,) * NUM_TRICKS
    for number in given:
        whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
        if not whole or number not in range(1, NUM_TRICKS + 1):
            raise ValueError(f"{field}: tricks are numbered 1..{NUM_TRICKS}, got {number!r}")
    return tuple(_points(field, given.get(n, 0)) for n in range(1, NUM_TRICKS + 1))


#: The nine contracts, in the order of the observation's one-hot piece.
CONTRACTS: dict[str, Contract] = {
    row.name: row
    for row in (
        Contract(name="no_tricks", trick_points=-50),
        Contract(
            name="jacks_kings",
            card_points={"J": -60, "K": -60},
            void_tiers=[["J", "K"]],
            under_duty=["J", "K"],
        ),
        Contract(
            name="queens",
            card_points={"Q": -100},
            void_tiers=[["Q"]],
            under_duty=["Q"],
        ),
        Contract(
            name="hearts",
            card_points={"H": -30},
            locked_suit="H",
            void_tiers=[["H"]],
        ),
        Contract(name="last_two", trick_number_points={12: -120, 13: -240}),
        Contract(
            name="king_of_hearts",
            card_points={"KH": -320},
            locked_suit="H",
            void_tiers=[["KH"], ["H"]],
        ),
        Contract(
            name="all_penalties",
            card_points={"J": -20, "K": -20, "Q": -30, "H": -10, "KH": -95},
            trick_points=-15,
            trick_number_points={12: -40, 13: -60},
            locked_suit="H",
            void_tiers=[["J", "Q", "K", "H"]],
            under_duty=["J", "Q", "K"],
        ),
        Contract(name="trump", trick_points=50, trumps=True, locked_suit="trump"),
        Contract(
            name="bolola",
            card_points={"J": 20, "K": 20, "Q": 30, "H": 10, "KH": 95},
            trick_points=15,
            trick_number_points={12: 40, 13: 60},
            locked_suit="H",
        ),
    )
}

#: Rule B-7.1: seven penalty contracts, four trump deals, one bolola.
MATCH_ORDER: tuple[str, ...] = (
    "no_tricks",
    "jacks_kings",
    "queens",
    "hearts",
    "last_two",
    "king_of_hearts",
    "all_penalties",
    *("trump",) * 4,
    "bolola",
)


def contract_row(contract: str | Contract) -> Contract:
    """The row for a name (hyphens or underscores) or the row itself.

    Raises:
        ValueError: No such contract; the message lists them.
        TypeError: Neither a name nor a row.
    """
    if isinstance(contract, Contract):
        return contract
    if not isinstance(contract, str):
        raise TypeError(f"contract: expected a name or a Contract row, got {contract!r}")
    row = CONTRACTS.get(contract.replace("-", "_"))
    if row is None:
        raise ValueError(
            f"contract: no {contract!r}; there are {', '.join(CONTRACTS)} (and 'match' for an environment)"
        )
    return row
