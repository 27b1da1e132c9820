"""Hidden hands found again in plain ways: all worlds from the rules of the reference engines, and their number card by card."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tests.reference import bolola, tarot

# ---------------------------------------------------------------------------- statistics


def evenness(counts: np.ndarray[Any, Any], cells: int) -> float:
    """How far from equal chances so many draws are: chi-square in standard deviations (Wilson and Hilferty 1931).

    Args:
        counts: How often each world that was drawn came up; the worlds never drawn may be left out.
        cells: Number of worlds.
    """
    if cells == 1:
        return 0.0
    expected = counts.sum() / cells
    squares = float((counts.astype(float) ** 2).sum()) / expected - counts.sum()
    free = cells - 1
    scaled = 2 / (9 * free)
    return float(((squares / free) ** (1 / 3) - (1 - scaled)) / math.sqrt(scaled))


def stamps(words: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """One number for each row of 64-bit words, different for different rows (but for a chance of 2**-64 a pair)."""
    stamp = np.zeros(len(words), np.uint64)
    for column in range(words.shape[1]):
        stamp = (stamp ^ words[:, column]) * np.uint64(0x9E3779B97F4A7C15)
        stamp ^= stamp >> np.uint64(29)
    return stamp


#: Of a normal number; beyond it one test in 150,000 would fail by chance. Seeds are fixed, so none does.
TOO_FAR = 4.5


# ---------------------------------------------------------------------------- Bolola


class BololaWatcher:
    """What all see of a deal of the reference engine, and the worlds that this leaves to a seat."""

    def __init__(self, deal: bolola.Deal) -> None:
        self.deal = deal
        self.plays: list[tuple[int, str, bolola.Position]] = []

    def play(self, action: str) -> None:
        if action in bolola.DECK:
            assert self.deal.seat is not None
            self.plays.append((self.deal.seat, action, self.deal.position))
        self.deal.play(action)

    def unseen(self, observer: int) -> list[str]:
        return bolola.in_id_order(
            card for seat in range(4) if seat != observer for card in self.deal.hands[seat]
        )

    def hands_of(self, seat: int, unseen: Collection[str]) -> list[frozenset[str]]:
        """The hands with which every play of the seat was legal, whoever holds the other cards."""
        own = [(card, position) for who, card, position in self.plays if who == seat]
        size = len(self.deal.hands[seat])
        return [
            frozenset(hand)
            for hand in itertools.combinations(unseen, size)
            if self._could_play(set(hand), own)
        ]

    @staticmethod
    def _could_play(hand: set[str], own: Sequence[tuple[str, bolola.Position]]) -> bool:
        held = set(hand)
        for card, position in reversed(own):
            held.add(card)
            if card not in bolola.legal_cards(position, held):
                return False
        return True

    def worlds(self, observer: int) -> set[tuple[frozenset[str], ...]]:
        """All worlds, each the hands of the three seats after the observer."""
        unseen = self.unseen(observer)
        others = [(observer + turn) % 4 for turn in (1, 2, 3)]
        first, second, third = (self.hands_of(seat, unseen) for seat in others)
        last = set(third)
        return {
            (one, two, rest)
            for one in first
            for two in second
            if not one & two and (rest := frozenset(unseen) - one - two) in last
        }


# ---------------------------------------------------------------------------- Tarot

#: A world: the hands of the three seats after the observer, and what lies aside unseen by it.
TarotWorld = tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]


def pile_of(deal: tarot.Deal, observer: int) -> list[str]:
    """The cards aside that the observer has not seen (T-3.1 to T-3.4)."""
    if not deal.chien_is_public:
        return deal.chien
    if observer == deal.taker:
        return []
    return [card for card in deal.discards if card not in deal.discarded_trumps]


class TarotWatcher:
    """What all see of a deal of the reference engine, and the worlds that this leaves to a seat."""

    def __init__(self, deal: tarot.Deal) -> None:
        self.deal = deal
        self.plays: list[tuple[int, str, list[tuple[int, str]]]] = []
        self.trump_came_at: int | None = None  # discards before the first trump

    def play(self, action: str) -> None:
        deal = self.deal
        assert deal.seat is not None
        if deal.phase == "play":
            self.plays.append((deal.seat, action, list(deal.trick)))
        deal.play(action)

    def unseen(self, observer: int) -> list[str]:
        hands = [card for seat in range(4) if seat != observer for card in self.deal.hands[seat]]
        return tarot.in_order([*hands, *pile_of(self.deal, observer)])

    def could_hold(self, seat: int, hand: Iterable[str]) -> bool:
        """Whether every play of the seat was legal with this hand, and what it showed was in it (T-4.2, T-4.3)."""
        held = set(hand)
        for who, card, trick in reversed(self.plays):
            if who == seat:
                held.add(card)
                if card not in tarot.playable(held, trick):
                    return False
        discarded = set(self.deal.discarded_trumps) if seat == self.deal.taker else set()
        shown = set(self.deal.shown.get(seat, ()))
        if not shown <= held | discarded:
            return False
        if shown & discarded and not held >= tarot.KINGS:
            return False  # T-4.5
        if tarot.EXCUSE in shown:  # T-4.3
            counted = held | discarded if shown & discarded else held
            return tarot.TRUMPS & counted <= shown
        return True

    def could_be_dealt(self, seat: int, hand: Iterable[str], pile: Iterable[str]) -> bool:
        """T-2.2, T-3.1 to T-3.3: for the taker's hand together with its discards."""
        deal = self.deal
        held = {card for who, card, _ in self.plays if who == seat} | set(hand)
        if seat == deal.taker and deal.chien_is_public:
            discards = set(pile) | set(deal.discarded_trumps)
            if set(pile) & (tarot.KINGS | tarot.TRUMPS | {tarot.EXCUSE}):
                return False
            if deal.discarded_trumps and held & (set(tarot.SUIT_CARDS) - tarot.KINGS):
                return False
            held |= discards
            if not held >= set(deal.chien):
                return False
            held -= set(deal.chien)
        return not tarot.is_petit_sec(held)

    def worlds(self, observer: int) -> set[TarotWorld]:
        """All worlds."""
        deal, unseen = self.deal, self.unseen(observer)
        others = [(observer + turn) % 4 for turn in (1, 2, 3)]
        # The taker's hand and its discards are judged together, below.
        joint = [seat == deal.taker and deal.chien_is_public for seat in others]
        hands = [
            [
                frozenset(hand)
                for hand in itertools.combinations(unseen, len(deal.hands[seat]))
                if self.could_hold(seat, hand) and (later or self.could_be_dealt(seat, hand, ()))
            ]
            for seat, later in zip(others, joint, strict=True)
        ]
        third = set(hands[2])
        size = len(deal.hands[others[2]])
        found = set()
        for one in hands[0]:
            for two in hands[1]:
                if one & two:
                    continue
                rest = frozenset(unseen) - one - two
                for aside in itertools.combinations(sorted(rest), len(rest) - size):
                    pile = frozenset(aside)
                    world = (one, two, rest - pile, pile)
                    if world[2] in third and all(
                        self.could_be_dealt(seat, hand, pile)
                        for seat, hand, now in zip(others, world[:3], joint, strict=True)
                        if now
                    ):
                        found.add(world)
        return found


def card_by_card(deal: tarot.Deal, observer: int, pinned: tuple[str, int] | None = None) -> float:
    """Number of worlds of a Tarot deal in any phase: the cards are put to their places one after the other.

    Which places may hold a card is what the reference engine says; ``pinned`` asks that a card lies at a place (0..2: the hands
    after the observer, 3: aside). What T-2.2 asks of the Petit's hand is kept track of on the way.
    """
    others = [(observer + turn) % 4 for turn in (1, 2, 3)]
    public_chien = set(deal.chien) if deal.chien_is_public else set()
    unseen = TarotWatcher(deal).unseen(observer)
    aside = may_lie_aside(deal, observer)
    allowed = {
        card: [p for p in range(3) if card in deal.can_hold(others[p], deep=True)]
        + [3] * (card in aside)
        for card in unseen
    }
    if pinned is not None:
        card, place = pinned
        allowed[card] = [p for p in allowed[card] if p == place]
    rooms = [len(deal.hands[seat]) for seat in others] + [len(pile_of(deal, observer))]

    def dealt_trumps(seat: int) -> set[str]:
        known = {card for who, card in played_by(deal) if who == seat}
        known |= set(deal.shown.get(seat, ()))
        if seat == deal.taker and deal.chien_is_public:
            known |= set(deal.discarded_trumps)
        return known & (tarot.TRUMPS | {tarot.EXCUSE}) - public_chien

    def ways(must: int | None, places: dict[str, list[int]]) -> float:
        """Ways to put the cards; the hand ``must`` gets a trump or the Excuse, not the Petit, that is not from the chien."""
        table = np.zeros((1 if must is None else 2, *(room + 1 for room in rooms)))
        table[(0, 0, 0, 0, 0)] = 1
        for card, where in places.items():
            counts = (
                card != tarot.PETIT and card not in tarot.SUIT_CARDS and card not in public_chien
            )
            after = np.zeros_like(table)
            for place in where:
                source = [slice(None)] * 5
                target = [slice(None)] * 5
                source[1 + place], target[1 + place] = slice(None, -1), slice(1, None)
                if counts and place == must:
                    moved = table[tuple(source)].sum(axis=0)
                    after[(1, *target[1:])] += moved
                else:
                    after[tuple(target)] += table[tuple(source)]
            table = after
        full = table[(slice(None), *rooms)]
        return float(full[-1])

    if tarot.PETIT in public_chien:
        return ways(None, allowed)
    if tarot.PETIT not in unseen:
        owner = next((who for who, card in played_by(deal) if card == tarot.PETIT), observer)
        bound = owner != observer and dealt_trumps(owner) == {tarot.PETIT}
        return ways(others.index(owner) if bound else None, allowed)
    total = 0.0
    for place in allowed[tarot.PETIT]:
        bound = place < 3 and not dealt_trumps(others[place]) - {tarot.PETIT}
        total += ways(place if bound else None, allowed | {tarot.PETIT: [place]})
    return total


def played_by(deal: tarot.Deal) -> Iterator[tuple[int, str]]:
    """Seat and card of all plays so far."""
    for trick in deal.tricks:
        yield from trick.cards
    yield from deal.trick


def may_lie_aside(deal: tarot.Deal, observer: int) -> set[str]:
    """The cards that may lie in the pile (T-3.2, T-3.3, T-4.2)."""
    if not pile_of(deal, observer):
        return set()
    if deal.chien_is_public:
        return set(tarot.SUIT_CARDS) - tarot.KINGS
    return set(tarot.DECK) - {card for cards in deal.shown.values() for card in cards}
