"""Tarot's two engines behind one interface, so that an example of the rules is written once; cards as text.

:data:`ENGINES` are the compiled kernels and the plain reference engine, which share no code.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

from tarot_env.cards import card_set
from tarot_env.contracts import POIGNEE_LEVELS
from tarot_env.game import setup
from tests.reference.tarot import (
    CONTRACTS,
    DECK,
    MULTIPLIER,
    PETIT,
    TARGET,
    Deal,
    Trick,
    base_half_points,
    chelem_points,
    contract_is_made,
    excuse_takes_last_trick,
    petit_au_bout,
    playable,
    share_trick,
    trick_taker,
)
from tests.tarot_table import TarotTable

DOWNWARDS = "T21 T20 T19 T18 T17 T16 T15 T14 T13 T12 T11 T10 T9 T8 T7 T6 T5 T4 T3 T2 T1 EX"
ALL_TRUMPS = "T5-T21 EX"  # takes 17 tricks in any order, then leads the Excuse
FOUR_KINGS = "KC KD KH KS T2-T15"
FOUR_KINGS_CHIEN = "T16 T17 2C 3D 4H 5S"

# ---------------------------------------------------------------------------- deals as text


def cards(text: str) -> list[str]:
    """Cards from text; `T5-T8` is a run of trumps."""
    found: list[str] = []
    for word in text.split():
        if "-" in word:
            low, high = (int(end[1:]) for end in word.split("-"))
            found += [f"T{number}" for number in range(low, high + 1)]
        else:
            found.append(word)
    return found


def deal_out(*hands: str, chien: str = "") -> tuple[list[list[str]], list[str]]:
    """Hands and chien with these cards in seats 0.. and in the chien.

    The other cards go round the seats that have room, suits first, then trumps from the top; the
    last ones, the lowest trumps mostly, to the chien.
    """
    seats = [cards(hand) for hand in hands] + [[] for _ in range(4 - len(hands))]
    given = {*cards(chien), *(card for seat in seats for card in seat)}
    rest = [card for card in (*DECK[:57], *reversed(DECK[57:])) if card not in given]
    while any(len(seat) < 18 for seat in seats):
        for seat in seats:
            if len(seat) < 18:
                seat.append(rest.pop(0))
    return seats, cards(chien) + rest


def table(*hands: str, chien: str = "", dealer: int = 3, **options: Any) -> Deal:
    """A deal of the reference engine, dealt as :func:`deal_out` does."""
    return Deal(*deal_out(*hands, chien=chien), dealer, **options)


def lay(*hands: str, chien: str = "", dealer: int = 3, **options: Any) -> TarotTable:
    """A table of the kernels, dealt as :func:`deal_out` does.

    With `taker` and `contract` the bidding is skipped; `forbid_pass` is an option.
    """
    return kernel_table(*deal_out(*hands, chien=chien), dealer, **options)


def kernel_table(
    hands: Sequence[Sequence[str]],
    chien: Sequence[str],
    dealer: int,
    *,
    start: str | None = None,
    **options: Any,
) -> TarotTable:
    custom: dict[str, Any] = {"deal": {"hands": hands, "chien": chien}}
    for name in ("taker", "contract", "discard"):
        if name in options:
            custom[name] = options.pop(name)
    if start is None:
        start = "discard" if "taker" in custom else "bid"
    return TarotTable(setup(start=start, **options), dealer=dealer, **custom)


AnyGame = TypeVar("AnyGame", Deal, "Game")


def say(game: AnyGame, actions: str) -> AnyGame:
    """Take these actions, one after the other."""
    for action in actions.split():
        game.play(action)
    return game


def play_out(game: AnyGame, **first: str) -> AnyGame:
    """Play to the end; `seat0="..."` is what that seat would rather play, else its lowest card."""
    wishes = {int(seat.removeprefix("seat")): cards(text) for seat, text in first.items()}
    while game.seat is not None:
        assert game.phase == "play"
        legal = game.legal()
        wished = [card for card in wishes.get(game.seat, []) if card in legal]
        game.play(wished[0] if wished else legal[0])
    return game


def trick(text: str, leader: int = 0) -> list[tuple[int, str]]:
    """A trick, complete or not, from its cards in the order played."""
    return [((leader + turn) % 4, card) for turn, card in enumerate(text.split())]


# ---------------------------------------------------------------------------- the interface


class Game(ABC):
    """A deal that is being played."""

    def __init__(self) -> None:
        self.plays: list[tuple[int, str]] = []  #: Seat and card of every play.

    def play(self, action: str) -> None:
        """Take a legal action."""
        seat = self.seat
        if self.phase == "play" and seat is not None:
            self.plays.append((seat, action))
        self.act(action)

    def trick(self, number: int) -> list[tuple[int, str]]:
        """Trick ``number`` (1..18): seats and cards in the order played."""
        return self.plays[4 * number - 4 : 4 * number]

    @abstractmethod
    def act(self, action: str) -> None:
        """Take a legal action in the engine."""

    @property
    @abstractmethod
    def phase(self) -> str:
        """bid, discard, chelem, poignee, keep, play or over."""

    @property
    @abstractmethod
    def seat(self) -> int | None:
        """Seat on turn; None when the deal is over."""

    @property
    @abstractmethod
    def taker(self) -> int | None:
        """The taker, None when there is none."""

    @property
    @abstractmethod
    def contract(self) -> str | None:
        """The highest bid so far."""

    @abstractmethod
    def legal(self) -> list[str]:
        """Legal actions in the order of their ids."""

    @abstractmethod
    def hand(self, seat: int) -> list[str]:
        """The cards of a seat in the order of their ids."""

    @abstractmethod
    def discards(self) -> list[str]:
        """What the taker has discarded."""

    @abstractmethod
    def shown(self) -> dict[int, list[str]]:
        """The poignées shown, by seat."""

    @abstractmethod
    def shown_level(self) -> dict[int, int]:
        """Their levels, by seat."""

    @abstractmethod
    def taken(self) -> list[int]:
        """Tricks taken, by seat."""

    @abstractmethod
    def running(self) -> tuple[int, int]:
        """Half points of taker and defence from the tricks so far."""

    @abstractmethod
    def info(self) -> dict[str, Any]:
        """The lines of the settlement."""

    @abstractmethod
    def points(self) -> Sequence[float]:
        """The totals, by seat."""

    @abstractmethod
    def can_hold(self, seat: int) -> set[str]:
        """The cards that public events leave possible for the seat's hand."""

    def excludes(self, seat: int, text: str) -> bool:
        """Whether public events leave none of the cards possible, without what the rules of discarding imply."""
        return not self.can_hold(seat) & set(cards(text))

    @abstractmethod
    def save(self) -> Any:
        """The state, for :meth:`restore`."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Go back to a saved state."""


class Engine(ABC):
    """What the examples ask of an engine; where a trick is looked at alone, seat 0 led it."""

    name: str

    def table(self, *hands: str, chien: str = "", dealer: int = 3, **options: Any) -> Game:
        """A deal as :func:`deal_out` deals it; options as in :meth:`deal`."""
        return self.deal(*deal_out(*hands, chien=chien), dealer, **options)

    @abstractmethod
    def deal(
        self, hands: Sequence[Sequence[str]], chien: Sequence[str], dealer: int, **options: Any
    ) -> Game:
        """A deal; `taker` and `contract` skip the bidding; `forbid_pass` is an option."""

    @abstractmethod
    def playable(self, hand: str, on: str) -> list[str]:
        """The legal cards of the hand of the next seat in the trick."""

    def winner(
        self, on: str, taker: int = 3, number: int = 1, taken: Sequence[int] | None = None
    ) -> int:
        """Who takes trick ``number``; ``taken`` are the tricks before, by seat."""
        return self.after(on, taker, mixed(number) if taken is None else taken)[0]

    def shares(
        self, on: str, taker: int, number: int = 1, taken: Sequence[int] | None = None
    ) -> list[int]:
        """What trick ``number`` brings: taker's and defence's half points, taker's oudlers."""
        return self.after(on, taker, mixed(number) if taken is None else taken)[1]

    @abstractmethod
    def after(self, on: str, taker: int, taken: Sequence[int]) -> tuple[int, list[int]]:
        """Winner and shares of the trick that follows the tricks taken."""

    @abstractmethod
    def settled(
        self,
        on: str = "2C 3C 4C 5C",
        *,
        taker: int = 0,
        contract: str = "prise",
        taken: Sequence[int] = (5, 6, 6, 0),
        chelem: bool = False,
        taker_points: int = 0,
        oudlers: int = 0,
        petit_in_17: bool = False,
    ) -> dict[str, Any]:
        """Lines of the settlement after trick 18; discards and chien are worth nothing.

        ``taker_points`` (half points) and ``oudlers`` are those from the tricks before.
        """


def mixed(number: int) -> list[int]:
    """Tricks taken before trick ``number``, from the fourth one on by three of the seats."""
    return [number - 1 - 2 * (number > 3), int(number > 3), int(number > 3), 0]


# ---------------------------------------------------------------------------- the kernels


class KernelGame(Game):
    """A table driven through the kernels."""

    def __init__(self, table: TarotTable) -> None:
        super().__init__()
        self.table = table

    def act(self, action: str) -> None:
        self.table.play(action)

    @property
    def phase(self) -> str:
        return self.table.phase

    @property
    def seat(self) -> int | None:
        return self.table.seat

    @property
    def taker(self) -> int | None:
        taker = int(self.table.field("taker"))
        return None if taker < 0 else taker

    @property
    def contract(self) -> str | None:
        bid = int(self.table.field("contract"))
        return CONTRACTS[bid - 1] if bid else None

    def legal(self) -> list[str]:
        return self.table.legal()

    def hand(self, seat: int) -> list[str]:
        return self.table.hand(seat)

    def discards(self) -> list[str]:
        return self.table.set("discard")

    def shown(self) -> dict[int, list[str]]:
        return {seat: self.table.poignee(seat) for seat in range(4) if self.table.poignee(seat)}

    def shown_level(self) -> dict[int, int]:
        levels = enumerate(self.table.field("shown_level"))
        return {seat: int(POIGNEE_LEVELS[level - 1]) for seat, level in levels if level}

    def taken(self) -> list[int]:
        return list(self.table.field("taken"))

    def running(self) -> tuple[int, int]:
        return self.table.field("taker_points"), self.table.field("defence_points")

    def info(self) -> dict[str, Any]:
        return self.table.info()

    def points(self) -> Sequence[float]:
        return self.table.points()

    def can_hold(self, seat: int) -> set[str]:
        return self.table.can_hold(seat)

    def save(self) -> Any:
        return self.table.states.copy()

    def restore(self, state: Any) -> None:
        self.table.states[:] = state


def set_hand(table: TarotTable, seat: int, text: str) -> None:
    suits, trumps = card_set(cards(text))
    table.states["hands"][0, seat] = suits
    table.states["hands_trumps"][0, seat] = trumps


def position(on: str, hand: str = "", *, taker: int = 3, **state: Any) -> TarotTable:
    """The trick `on`, led by seat 0, and the next seat on turn with `hand`; `state` sets fields first."""
    table = lay(dealer=3, start="play", taker=taker, contract="garde_sans")
    for name, value in state.items():
        table.states[name][0] = value
    played = on.split()
    for seat, card in enumerate(played):
        set_hand(table, seat, card)
    if played:
        set_hand(table, len(played) % 4, hand)
    else:  # the leader's hand is looked at when the trick before is closed
        set_hand(table, 0, f"KC {hand}")
        for seat, card in ((1, "2C"), (2, "3C"), (3, "4C")):
            set_hand(table, seat, card)
        played = ["KC", "2C", "3C", "4C"]
    for card in played:
        table.force(card)
    return table


class KernelEngine(Engine):
    """The compiled kernels: cards are played through them, what lies before is written to the record."""

    name = "kernel"

    def deal(
        self, hands: Sequence[Sequence[str]], chien: Sequence[str], dealer: int, **options: Any
    ) -> Game:
        return KernelGame(kernel_table(hands, chien, dealer, **options))

    def playable(self, hand: str, on: str) -> list[str]:
        return position(on, hand).legal()

    def after(self, on: str, taker: int, taken: Sequence[int]) -> tuple[int, list[int]]:
        table = position(on, taker=taker, trick_number=sum(taken), taken=taken)
        names = ("taker_points", "defence_points", "oudlers")
        return table.field("leader"), [table.field(name) for name in names]

    def settled(
        self,
        on: str = "2C 3C 4C 5C",
        *,
        taker: int = 0,
        contract: str = "prise",
        petit_in_17: bool = False,
        **state: Any,
    ) -> dict[str, Any]:
        fields: dict[str, Any] = {"trick_number": 17, "taken": [5, 6, 6, 0], "chelem": 0}
        fields |= {"discard": 0, "discard_trumps": 0, "chien": 0, "chien_trumps": 0}
        fields["contract"] = CONTRACTS.index(contract) + 1
        if petit_in_17:
            fields["petit_trick"] = 16
        return position(on, taker=taker, **(fields | state)).info()


# ---------------------------------------------------------------------------- the reference engine


class ReferenceGame(Game):
    """A deal of the reference engine."""

    def __init__(self, deal: Deal) -> None:
        super().__init__()
        self.deal = deal

    def act(self, action: str) -> None:
        self.deal.play(action)

    @property
    def phase(self) -> str:
        return self.deal.phase

    @property
    def seat(self) -> int | None:
        return self.deal.seat

    @property
    def taker(self) -> int | None:
        return self.deal.taker

    @property
    def contract(self) -> str | None:
        return self.deal.contract

    def legal(self) -> list[str]:
        return self.deal.legal()

    def hand(self, seat: int) -> list[str]:
        return self.deal.hands[seat]

    def discards(self) -> list[str]:
        return self.deal.discards

    def shown(self) -> dict[int, list[str]]:
        return self.deal.shown

    def shown_level(self) -> dict[int, int]:
        return self.deal.shown_level

    def taken(self) -> list[int]:
        return [sum(done.winner == seat for done in self.deal.tricks) for seat in range(4)]

    def running(self) -> tuple[int, int]:
        return self.deal.live_points()

    def info(self) -> dict[str, Any]:
        return self.deal.score()

    def points(self) -> Sequence[float]:
        totals: list[float] = self.deal.score()["totals"]
        return totals

    def can_hold(self, seat: int) -> set[str]:
        return self.deal.can_hold(seat, deep=True)

    def excludes(self, seat: int, text: str) -> bool:
        return not self.deal.can_hold(seat) & set(cards(text))

    def save(self) -> Any:
        return copy.deepcopy(self.deal)

    def restore(self, state: Any) -> None:
        self.deal = copy.deepcopy(state)


class ReferenceEngine(Engine):
    """The plain engine, asked through its functions where it has one for the question."""

    name = "reference"

    def deal(
        self, hands: Sequence[Sequence[str]], chien: Sequence[str], dealer: int, **options: Any
    ) -> Game:
        return ReferenceGame(Deal(hands, chien, dealer, **options))

    def playable(self, hand: str, on: str) -> list[str]:
        return playable(cards(hand), trick(on))

    def after(self, on: str, taker: int, taken: Sequence[int]) -> tuple[int, list[int]]:
        tricks = tricks_up_to(on, taker, taken)
        return tricks[-1].winner, list(share_trick(tricks, len(tricks), taker))

    def settled(
        self,
        on: str = "2C 3C 4C 5C",
        *,
        taker: int = 0,
        contract: str = "prise",
        taken: Sequence[int] = (5, 6, 6, 0),
        chelem: bool = False,
        taker_points: int = 0,
        oudlers: int = 0,
        petit_in_17: bool = False,
    ) -> dict[str, Any]:
        tricks = tricks_up_to(on, taker, taken)
        if petit_in_17:
            tricks[16] = Trick(trick(f"2C 3C 4C {PETIT}"), tricks[16].winner)
        share = share_trick(tricks, 18, taker)
        halves = taker_points + share.taker
        target = TARGET[oudlers + share.taker_oudlers]
        multiplier = MULTIPLIER[contract]
        return {
            "taker_points": halves / 2,
            "oudlers": oudlers + share.taker_oudlers,
            "target": target,
            "made": contract_is_made(halves, target),
            "base": base_half_points(halves, target, multiplier) / 2,
            "petit": petit_au_bout(tricks, taker, multiplier),
            "chelem": chelem_points(chelem, tricks, taker),
        }


def tricks_up_to(on: str, taker: int, taken: Sequence[int]) -> list[Trick]:
    """As many dull tricks as the seats have taken, and then this one."""
    winners = [seat for seat in range(4) for _ in range(taken[seat])]
    before = [Trick(trick("2C 3C 4C 5C"), winner) for winner in winners]
    last = trick(on)
    kept = excuse_takes_last_trick(last, before, taker)
    return [*before, Trick(last, last[0][0] if kept else trick_taker(last))]


ENGINES: tuple[Engine, ...] = (KernelEngine(), ReferenceEngine())
