"""Bolola's two engines behind one interface, so that an example of the rules is written once; cards as text.

:data:`ENGINES` are the compiled kernels and the plain reference engine, which share no code.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from bolola_env.contracts import Contract
from bolola_env.game import setup as bolola_setup
from tests.helpers import Table, as_row, card_bits
from tests.reference.bolola import (
    MATCH_ORDER,
    ROWS,
    SUITS,
    Deal,
    Match,
    Position,
    Row,
    in_id_order,
    legal_cards,
    make_row,
    play_at_random,
    points_of_trick,
    random_hands,
    winning_card,
)

#: A contract of the table by its name, or a row.
AnyRow = str | Contract | Row
#: Four hands of a deal: a text, or lists of cards.
Hands = str | Sequence[Sequence[str]]

#: Seat 0 holds the clubs, seat 1 the diamonds, seat 2 the hearts, seat 3 the spades.
SUITED = "N:...AKQJT98765432 ..AKQJT98765432. .AKQJT98765432.. AKQJT98765432..."


class Game(Protocol):
    """A deal or a match that is being played."""

    @property
    def seat(self) -> int | None:
        """Seat on turn; None when the game is over."""

    @property
    def over(self) -> bool:
        """Whether the game has ended."""

    @property
    def trump(self) -> str | None:
        """The trump suit, None where there is none yet."""

    @property
    def deal_number(self) -> int:
        """Number of the deal, from 0."""

    @property
    def tricks(self) -> int:
        """How many tricks of the deal are finished."""

    def hands(self) -> list[list[str]]:
        """The cards that the seats hold, in the order of ids."""

    def legal(self) -> list[str]:
        """Legal actions, in the order of ids."""

    def play(self, actions: str) -> Sequence[float]:
        """Play actions by their texts; what the last one gave to the four seats."""

    def points(self) -> Sequence[float]:
        """Points so far, by seat."""

    def random_play(self, rng: random.Random) -> list[str]:
        """Play at random to the end; the actions taken."""


class Engine(Protocol):
    """What the examples ask of an engine."""

    name: str

    def row(self, **words: Any) -> AnyRow:
        """A contract of one's own, named "wrong" unless the words have a name."""

    def legal(
        self, row: AnyRow, hand: str, trick: str = "", *, seen: str = "", trump: str | None = None
    ) -> str:
        """Legal cards of a hand; ``trick`` is the current trick, ``seen`` those before, four cards each."""

    def winner(self, trick: str, *, contract: str = "no_tricks", trump: str | None = None) -> str:
        """The card that takes a trick of four cards."""

    def gain(self, row: AnyRow, number: int, trick: str) -> float:
        """What trick ``number`` (1..13) of four cards gives to its taker."""

    def deal(self, row: AnyRow, hands: Hands = SUITED, starter: int = 0, **options: Any) -> Game:
        """A deal that has just begun.

        Options: ``trump`` and ``early_stop``; with ``any_card`` cards that are not legal may be played.
        """

    def match(
        self,
        starter: int,
        *,
        seed: int = 0,
        hands: Hands | None = None,
        order: Sequence[AnyRow] = MATCH_ORDER,
        **options: Any,
    ) -> Game:
        """A match of these hands in every deal, or of hands drawn from the seed.

        Options: ``trump``, a suit for all deals that have trumps, and ``early_stop``.
        """


# ---------------------------------------------------------------------------- the kernels


class KernelGame(Table):
    """A table driven through the kernels, as a game."""

    any_card = False

    @property
    def trump(self) -> str | None:
        suit = self.field("trump")
        return None if suit < 0 else SUITS[suit]

    @property
    def deal_number(self) -> int:
        return int(self.field("deal"))

    @property
    def tricks(self) -> int:
        return int(self.field("trick_number"))

    def play(self, actions: str) -> list[float]:
        if not self.any_card:
            return super().play(actions)
        for action in actions.split():
            self.force(action)
        return self.gain()


class KernelEngine:
    """The compiled kernels: cards are played through them, hands alone are written to the record."""

    name = "kernel"

    def row(self, **words: Any) -> AnyRow:
        return Contract(**({"name": "wrong"} | words))

    def legal(
        self, row: Any, hand: str, trick: str = "", *, seen: str = "", trump: str | None = None
    ) -> str:
        table = Table(row, starter=0, trump=trump)
        bits = card_bits(hand.split())
        config = table.config.copy()
        config["hands"] = bits
        config["given"] = 1
        config.flags.writeable = False
        table.drivers.begin(config, table.states, 0, 0, 0, 1)
        assert len(seen.split()) % 4 == 0
        for card in [*seen.split(), *trick.split()]:
            table.states["hands"] = bits
            table.states["hands"][0, table.seat] = bits | card_bits([card])
            table.force(card)
        return " ".join(table.legal())

    def winner(self, trick: str, *, contract: str = "no_tricks", trump: str | None = None) -> str:
        table = Table(contract, starter=2, trump=trump)
        cards = trick.split()
        lay(table, cards)
        assert table.seat is not None
        assert table.field("leader") == table.seat
        assert table.field("taken") == [int(seat == table.seat) for seat in range(4)]
        return cards[(table.seat - 2) % 4]

    def gain(self, row: Any, number: int, trick: str) -> float:
        table = Table(row, starter=0, trump="C")
        table.states["trick_number"] = number - 1
        lay(table, trick.split())
        return sum(table.gain())

    def deal(
        self,
        row: Any,
        hands: Hands = SUITED,
        starter: int = 0,
        *,
        early_stop: bool = False,
        any_card: bool = False,
        **fixed: Any,
    ) -> Game:
        setup = bolola_setup(row, early_stop=early_stop)
        game = KernelGame(setup, deal=hands, starter=starter, **fixed)
        game.any_card = any_card
        return game

    def match(
        self,
        starter: int,
        *,
        seed: int = 0,
        hands: Hands | None = None,
        order: Sequence[Any] = MATCH_ORDER,
        **options: Any,
    ) -> Game:
        setup = bolola_setup("match", order=list(order), **options)
        deals = None if hands is None else [hands] * len(order)
        return KernelGame(setup, seed=seed, deal=deals, starter=starter)


def lay(table: Table, cards: Sequence[str]) -> None:
    """Play cards that the seats on turn need not hold."""
    for card in cards:
        table.states["hands"][0, table.seat] |= np.uint64(card_bits([card]))
        table.force(card)


# ---------------------------------------------------------------------------- the reference engine


class LawlessDeal(Deal):
    """A deal in which every card of the hand may be played."""

    def legal(self) -> list[str]:
        if self.seat is None or self.naming_trump:
            return super().legal()
        return in_id_order(self.hands[self.seat])


class ReferenceGame:
    """A deal or a match of the reference engine."""

    def __init__(self, game: Deal | Match) -> None:
        self.game = game

    @property
    def now(self) -> Deal:
        """The deal being played."""
        return self.game.deal if isinstance(self.game, Match) else self.game

    @property
    def seat(self) -> int | None:
        return self.game.seat

    @property
    def over(self) -> bool:
        return self.game.over

    @property
    def trump(self) -> str | None:
        return self.now.trump

    @property
    def deal_number(self) -> int:
        return self.game.deal_number - 1 if isinstance(self.game, Match) else 0

    @property
    def tricks(self) -> int:
        return len(self.now.tricks)

    def hands(self) -> list[list[str]]:
        return [in_id_order(hand) for hand in self.now.hands]

    def legal(self) -> list[str]:
        return self.game.legal()

    def play(self, actions: str) -> list[int]:
        return [self.game.play(action) for action in actions.split()][-1]

    def points(self) -> list[int]:
        return self.game.scores if isinstance(self.game, Match) else self.game.points

    def random_play(self, rng: random.Random) -> list[str]:
        return play_at_random(self.game, rng)


class ReferenceEngine:
    """The plain engine, asked through its functions where it has one for the question."""

    name = "reference"

    def row(self, **words: Any) -> AnyRow:
        return make_row(**({"name": "wrong"} | words))

    def legal(
        self, row: AnyRow, hand: str, trick: str = "", *, seen: str = "", trump: str | None = None
    ) -> str:
        suits_played = frozenset(card[1] for card in (trick + " " + seen).split())
        position = Position(reference_row(row), trump, tuple(trick.split()), suits_played)
        return " ".join(in_id_order(legal_cards(position, hand.split())))

    def winner(self, trick: str, *, contract: str = "no_tricks", trump: str | None = None) -> str:
        return winning_card(trick.split(), trump)

    def gain(self, row: AnyRow, number: int, trick: str) -> float:
        return points_of_trick(reference_row(row), number, trick.split())

    def deal(
        self,
        row: AnyRow,
        hands: Hands = SUITED,
        starter: int = 0,
        *,
        any_card: bool = False,
        **options: Any,
    ) -> Game:
        kind = LawlessDeal if any_card else Deal
        return ReferenceGame(kind(reference_row(row), reference_hands(hands), starter, **options))

    def match(
        self,
        starter: int,
        *,
        seed: int = 0,
        hands: Hands | None = None,
        order: Sequence[AnyRow] = MATCH_ORDER,
        trump: str | None = None,
        **options: Any,
    ) -> Game:
        rng = random.Random(seed)
        rows = [reference_row(row) for row in order]
        deals = [random_hands(rng) if hands is None else reference_hands(hands) for _ in rows]
        trumps = [trump if row.trumps else None for row in rows]
        return ReferenceGame(Match(deals, starter, rows, trumps, **options))


def reference_row(row: AnyRow) -> Row:
    """The reference engine's own row."""
    if isinstance(row, str):
        return ROWS[row]
    return as_row(row) if isinstance(row, Contract) else row


def reference_hands(hands: Hands) -> Sequence[Sequence[str]]:
    """The four hands as lists of cards; in a text, each hand has its spades first."""
    if not isinstance(hands, str):
        return hands
    return [
        [rank + suit for suit, ranks in zip("SHDC", hand.split("."), strict=True) for rank in ranks]
        for hand in hands.removeprefix("N:").split()
    ]


ENGINES: tuple[Engine, ...] = (KernelEngine(), ReferenceEngine())
