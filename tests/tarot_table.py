"""A Tarot table driven through the kernels, and what the plain reference engine says that its seats see."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tarot_env.cards import cards_in
from tarot_env.game import GAME, setup
from tests.helpers import Table
from tests.reference.tarot import (
    CONTRACTS,
    DECK,
    EXCUSE,
    KINGS,
    POIGNEE_POINTS,
    SUIT_CARDS,
    Deal,
    next_seat,
    share_trick,
)
from trick_core.layout import Layout

PHASES = ("play", "bid", "discard", "chelem", "poignee", "keep")
LEVELS = list(POIGNEE_POINTS)


class TarotTable(Table):
    """A table with cards as text; seats and options as in :class:`tests.helpers.Table`."""

    @property
    def phase(self) -> str:
        return (*PHASES, "over")[self.field("phase")]

    def hand(self, seat: int) -> list[str]:
        return self.set("hands", seat)

    def set(self, name: str, seat: int | None = None) -> list[str]:
        """A set of cards in the state, as texts."""
        suits, trumps = self.field(name), self.field(f"{name}_trumps")
        return cards_in(suits, trumps) if seat is None else cards_in(suits[seat], trumps[seat])

    def poignee(self, seat: int) -> list[str]:
        return cards_in(0, self.field("shown")[seat])

    def can_hold(self, seat: int) -> set[str]:
        """The cards that public events leave possible for the seat's hand."""
        gone = {card for other in range(4) for card in self.set("played", other)}
        return set(self.set("can", seat)) - gone

    def info(self) -> dict[str, float]:
        out = np.zeros((1, len(GAME.info_names)))
        self.drivers.info(self.config, self.states, 0, out)
        return dict(zip(GAME.info_names, out[0].tolist(), strict=True))

    def words(self, seat: int, record: Any = None) -> int:
        """A seat's observation as one number, bit 0 first; of another state record if one is given."""
        states = self.states if record is None else record
        words = np.zeros((1, GAME.layout.words), np.uint64)
        mask = np.zeros((1, GAME.num_actions), np.int8)
        obs = np.zeros((1, GAME.layout.size), np.int8)
        self.drivers.observe(self.config, states, 0, seat, words, obs, mask)
        return as_number(words[0])


def as_number(words: np.ndarray[Any, Any]) -> int:
    return sum(int(word) << (64 * i) for i, word in enumerate(words))


def same_table(deal: Deal, **options: Any) -> TarotTable:
    """A kernel table with the cards and the dealer of a fresh reference deal."""
    custom: dict[str, Any] = {"deal": {"hands": deal.dealt, "chien": deal.chien}}
    custom["dealer"] = deal.dealer
    if deal.taker is not None:
        options["start"] = "discard"
        custom |= {"taker": deal.taker, "contract": deal.contract}
    return TarotTable(setup(**options), **custom)


# ---------------------------------------------------------------------------- what seats see


def bits(cards: Iterable[str], names: list[str]) -> int:
    return sum(1 << names.index(card) for card in cards)


_SUITS = list(SUIT_CARDS)
_TRUMP_NAMES = DECK[57:]
_TRUMPS_AND_EXCUSE = DECK[56:]
_NUMBER = {card: 1 << number for number, card in enumerate(DECK)}


def card_bits(cards: Iterable[str]) -> int:
    return sum(_NUMBER[card] for card in cards)


def one_hot(number: int | None) -> int:
    return 0 if number is None else 1 << number


def leader_of(deal: Deal) -> int:
    """Who leads, or will lead, the trick; who took the last one when the deal is over."""
    if deal.trick:
        return deal.trick[0][0]
    if deal.tricks:
        return deal.tricks[-1].winner
    return next_seat(deal.dealer) if deal.leader is None else deal.leader


def hidden_pile(deal: Deal) -> list[str]:
    """What lies aside and was not shown to all."""
    if not deal.chien_is_public:
        return deal.chien
    return [card for card in deal.discards if card not in deal.discarded_trumps]


def may_lie_aside(deal: Deal, observer: int | None) -> set[str]:
    """The cards that a seat (None: the public) cannot exclude from that pile."""
    if not hidden_pile(deal) or (deal.chien_is_public and observer == deal.taker):
        return set()
    unseen = set(DECK) - deal.played()
    if observer is not None:
        unseen -= set(deal.hands[observer])
    if deal.chien_is_public:
        return unseen & set(SUIT_CARDS) - KINGS  # T-3.2, T-3.3
    return unseen - {card for cards in deal.shown.values() for card in cards}


def public_pieces(deal: Deal, order: list[int], as_play: bool) -> dict[str, list[int]]:
    """The public pieces by name, a number for each field; `as_play` hides who is asked (T-4.1)."""
    leader = leader_of(deal)
    on_turn = leader if as_play else deal.seat
    phase = "play" if as_play else deal.phase
    number = len(deal.tricks)
    trick = dict(deal.trick)
    played: dict[int, list[str]] = {seat: [] for seat in order}
    for seat, card in [*(play for done in deal.tricks for play in done.cards), *deal.trick]:
        played[seat].append(card)
    excuse = next((seat for seat in order if EXCUSE in played[seat]), None)
    bids = dict(deal.bids)
    names = ["pass", *CONTRACTS]

    def relative(seat: int | None) -> list[int]:
        return [one_hot(None if seat is None else order.index(seat))]

    shares = []
    if deal.taker is not None:
        shares = [share_trick(deal.tricks, n, deal.taker) for n in range(1, number + 1)]
    return {
        "trick": [card_bits([trick[seat]] if seat in trick else []) for seat in order],
        "played": [card_bits(played[seat]) for seat in order],
        "chien": [card_bits(deal.chien if deal.chien_is_public else [])],
        "discarded_trumps": [bits(deal.discarded_trumps, _TRUMP_NAMES)],
        "shown": [bits(deal.shown.get(seat, []), _TRUMPS_AND_EXCUSE) for seat in order],
        "shown_level": [
            one_hot(LEVELS.index(deal.shown_level[seat]) if seat in deal.shown_level else None)
            for seat in order
        ],
        "bids": [one_hot(names.index(bids[seat]) if seat in bids else None) for seat in order],
        "contract": [one_hot(CONTRACTS.index(deal.contract) if deal.contract else None)],
        "taker": relative(deal.taker),
        "dealer": relative(deal.dealer),
        "leader": relative(leader),
        "on_turn": relative(on_turn),
        "phase": [one_hot(PHASES.index(phase) if phase != "over" else None)],
        "chelem": [int(bool(deal.chelem))],
        "forbid_pass": [int(deal.forbid_pass)],
        "trick_number": [one_hot(number if deal.seat is not None else None)],
        "trick_size": [one_hot(len(deal.trick))],
        "excuse_seat": relative(excuse),
        "taken": [sum(done.winner == seat for done in deal.tricks) for seat in order],
        "points": [sum(share.taker for share in shares), sum(share.defence for share in shares)],
        "oudlers": [sum(share.taker_oudlers for share in shares)],
        "hidden_size": [len(hidden_pile(deal))],
    }


def keeping(deal: Deal) -> dict[str, list[int]]:
    """The poignée that is being shown, and what has been kept back from it."""
    now = deal.phase == "keep"
    return {
        "level": [one_hot(LEVELS.index(deal._level) if now else None)],
        "kept": [bits(deal._kept if now else [], _TRUMP_NAMES)],
    }


def seen_by(deal: Deal, observer: int) -> dict[str, list[int]]:
    """All pieces of a seat's observation, from the reference engine's state."""
    order = [(observer + turn) % 4 for turn in range(4)]
    own = set(deal.hands[observer])
    discards = deal.discards if observer == deal.taker else []
    asked = deal.phase in ("poignee", "keep")
    nothing = {"level": [0], "kept": [0]}
    return {
        "hand": [card_bits(own)],
        "can_hold": [
            card_bits(deal.can_hold(seat, deep=True) - own - set(discards)) for seat in order[1:]
        ],
        "hidden": [card_bits(may_lie_aside(deal, observer))],
        "own_discard": [bits([c for c in discards if c in SUIT_CARDS], _SUITS)],
        **(keeping(deal) if deal.seat == observer else nothing),
        **public_pieces(deal, order, as_play=asked and deal.seat != observer),
    }


def full_state(deal: Deal) -> dict[str, list[int]]:
    """All pieces of the full-information state."""
    order = [0, 1, 2, 3]
    return {
        "hands": [card_bits(deal.hands[seat]) for seat in order],
        "can_hold": [card_bits(deal.can_hold(seat, deep=True)) for seat in order],
        "hidden": [card_bits(may_lie_aside(deal, None))],
        "dealt_chien": [card_bits(deal.chien)],
        "discard": [card_bits(deal.discards)],
        **keeping(deal),
        "asked": [0 if deal.leader is None else 4 - len(deal._to_ask)],
        **public_pieces(deal, order, as_play=False),
    }


def assemble(layout: Layout, pieces: dict[str, list[int]]) -> int:
    """Pieces as one number, bit 0 first."""
    number = 0
    for name, values in pieces.items():
        where = layout.slice(name)
        width = (where.stop - where.start) // len(values)
        for i, value in enumerate(values):
            assert 0 <= value < 1 << width, (name, i)
            number |= value << (where.start + i * width)
    return number


def differences(layout: Layout, got: int, wanted: int) -> list[str]:
    """The fields in which two vectors differ, for a failing test's message."""
    found = []
    for piece in layout:
        for i in range(piece.count):
            where = layout.slice(piece.name, i)
            low = (1 << piece.width) - 1
            one, two = got >> where.start & low, wanted >> where.start & low
            if one != two:
                found.append(f"{piece.name}[{i}]: got {one:b}, wanted {two:b}")
    return found
