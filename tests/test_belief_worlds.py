"""Counting and drawing by themselves: any cards, any places that may hold them, against every way to share them out."""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.belief_worlds import TOO_FAR, evenness
from tests.helpers import fewer
from trick_core.bits import ZERO
from trick_core.game import Belief
from trick_core.jit import entry, kernel, records
from trick_core.worlds import CHOOSE, PILE, make_belief

#: Cards in the two words of a set.
SIZES = (6, 5)
CASES = 2

#: What a made-up game lays out, and the world that it is given.
STATE = np.dtype(
    [
        ("unseen", "u8", (2,)),
        ("may", "u8", (CASES, 4, 2)),
        ("room", "i8", (4,)),
        ("must", "i8", (CASES,)),
        ("marked", "u8", (2,)),
        ("cases", "i8"),
        ("drawn", "u8", (4, 2)),
    ],
    align=True,
)


@kernel
def lay_out(config: Any, st: Any, seat: Any, case: Any, work: Any) -> Any:
    for w in range(2):
        work.unseen[w], work.marked[w] = st.unseen[w], st.marked[w]
        work.own[w], work.aside[w], work.single[w] = ZERO, ZERO, ZERO
        for place in range(4):
            work.may[place, w] = st.may[case, place, w]
    for place in range(4):
        work.room[place] = st.room[place]
    work.must = st.must[case]
    return case < st.cases


@kernel
def fill(config: Any, st: Any, seat: Any, random: Any, work: Any) -> Any:
    for place in range(4):
        for w in range(2):
            st.drawn[place, w] = work.drawn[place, w]


@functools.cache
def drivers(pile: bool) -> tuple[Belief, Any, Any]:
    belief = make_belief(lay_out, fill, sizes=SIZES, pile=pile, cases=CASES, splits=2000)
    count, sample = belief.count, belief.sample

    @entry(f"tests.worlds.count-{pile}", [__file__])
    def count_them(states, place, card_0, card_1, work):  # type: ignore[no-untyped-def]
        return count(states, states[0], 0, place, card_0, card_1, work[0])

    @entry(f"tests.worlds.draw-{pile}", [__file__])
    def draw_them(states, word, work, out):  # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            out[i] = states[0]
            word = sample(states, out[i], 0, word, work[0])

    return belief, count_them, draw_them


@dataclass
class Layout:
    """Cards are numbers 0..10; ``may`` and ``must`` are by case, ``must`` None where nothing is asked."""

    pile: bool
    cards: Sequence[int]
    room: Sequence[int]
    may: Sequence[dict[int, list[int]]]
    must: Sequence[int | None]
    marked: set[int]

    def state(self) -> np.ndarray[Any, Any]:
        states = records(1, STATE)
        record = states[0]
        record["unseen"] = words(self.cards)
        record["marked"] = words(self.marked)
        record["room"][: len(self.room)] = self.room
        record["cases"] = len(self.may)
        for case, places in enumerate(self.may):
            for place in range(4):
                record["may"][case, place] = words(c for c in self.cards if place in places[c])
            must = self.must[case]
            record["must"][case] = -1 if must is None else must
        return states

    def worlds(self) -> Counter[tuple[int, ...]]:
        """The place of each card, and in how many cases a world comes up."""
        return Counter(
            world for case in range(len(self.may)) for world in self._share(case, [*self.room])
        )

    def _share(
        self, case: int, room: list[int], world: tuple[int, ...] = ()
    ) -> Iterator[tuple[int, ...]]:
        if len(world) == len(self.cards):
            must = self.must[case]
            holds = {c for c, place in zip(self.cards, world, strict=True) if place == must}
            if must is None or holds & self.marked:
                yield world
            return
        for place in self.may[case][self.cards[len(world)]]:
            if room[place]:
                room[place] -= 1
                yield from self._share(case, room, (*world, place))
                room[place] += 1


def words(cards: Any) -> list[int]:
    bits = sum(1 << card for card in cards)
    return [bits & (1 << SIZES[0]) - 1, bits >> SIZES[0]]


def random_layout(rng: random.Random, pile: bool) -> Layout:
    """Few kinds of cards, so that classes have several; sometimes a card that lies elsewhere in the second case."""
    cards = sorted(rng.sample(range(sum(SIZES)), rng.randrange(3, 9)))
    places = range(4 if pile else 3)
    room = [0] * len(places)
    for _ in cards:
        room[rng.choice(places)] += 1
    kinds = [
        sorted(rng.sample(places, rng.choice([1, 2, 2, 3, len(places)])))
        for _ in range(rng.randrange(1, 5))
    ]
    kinds.append([*places])
    may = [{card: rng.choice(kinds) for card in cards}]
    if rng.random() < 0.4 and len(may[0][cards[0]]) > 1:
        first, *others = may[0][cards[0]]
        may = [may[0] | {cards[0]: [first]}, may[0] | {cards[0]: others}]
    must = [rng.choice([None, rng.randrange(3)]) for _ in may]
    marked = set(rng.sample(cards, rng.randrange(1, len(cards))))
    return Layout(pile, cards, room, may, must, marked)


def check(layout: Layout, word: int) -> int:
    """Number, chances of each card, and evenness of the draws; returns the number."""
    belief, count, draw = drivers(layout.pile)
    states, work = layout.state(), records(1, belief.work)
    wanted = layout.worlds()
    none = np.uint64(0)
    for i, card in enumerate(layout.cards):
        for place in range(4 if layout.pile else 3):
            pin = [np.uint64(bits) for bits in words([card])]
            here = sum(n for world, n in wanted.items() if world[i] == place)
            assert count(states, place, *pin, work) == here
    assert count(states, -1, none, none, work) == wanted.total()
    if not wanted:
        return 0
    assert set(wanted.values()) == {1}

    out = records(fewer(max(100, 20 * len(wanted)), 20), STATE)
    draw(states, np.uint64(word), work, out)
    bits = np.asarray(out["drawn"]) @ np.array([1, 1 << SIZES[0]], np.uint64)
    found: Counter[tuple[int, ...]] = Counter()
    distinct, counts = np.unique(bits[:, : 4 if layout.pile else 3], axis=0, return_counts=True)
    for places, times in zip(distinct.tolist(), counts.tolist(), strict=True):
        assert sum(places) == sum(1 << card for card in layout.cards)
        world = tuple(
            next(p for p, held in enumerate(places) if held >> card & 1) for card in layout.cards
        )
        found[world] += times
    assert set(found) <= set(wanted)
    assert abs(evenness(np.array([*found.values()]), len(wanted))) < TOO_FAR
    return len(wanted)


@pytest.mark.parametrize("pile", [False, True], ids=["three hands", "and a pile"])
def test_all_sharings_out_are_counted_and_drawn_alike(pile: bool) -> None:
    rng = random.Random(f"layouts {pile}")
    numbers = [check(random_layout(rng, pile), n) for n in range(fewer(400, 10))]
    assert max(numbers) > 50 and numbers.count(0) < len(numbers) / 2


def test_what_must_be_held_may_come_from_several_classes() -> None:
    """One of four marked cards, two in a class with place 1, one with place 2, one with both; plain cards beside each."""
    cards = [*range(9)]
    may = {0: [0, 1], 1: [0, 1], 2: [0, 1], 3: [0, 2], 4: [0, 2], 5: [0, 1, 2], 6: [0, 1, 2]}
    may |= {7: [0, 1, 2], 8: [1, 2]}
    for marked in ({0, 3, 5}, {1, 2, 4, 6}, {5}, {0, 1, 2}):
        layout = Layout(False, cards, [4, 3, 2], [may], [0], marked)
        for word in range(fewer(5, 1)):
            assert check(layout, word) > 20


def test_too_many_forced_cards_leave_no_world() -> None:
    """More cards that may lie at one place alone than it has room for: a hand, or the pile."""
    for place in (0, PILE):
        may = {card: [place] if card < 2 else [0, 1, 2, 3] for card in range(5)}
        room = [2, 1, 1, 1]
        room[place] = 1
        room[1] += 5 - sum(room)
        assert check(Layout(True, [*range(5)], room, [may], [None], {0}), 1) == 0


def test_binomial_coefficients() -> None:
    """Pascal's triangle, exact as far as float64 goes; 0 beyond the diagonal."""
    inner = CHOOSE[1:, 1:]
    np.testing.assert_allclose(inner, CHOOSE[:-1, 1:] + CHOOSE[:-1, :-1], rtol=1e-15)
    assert (CHOOSE[:, 0] == 1).all()
    assert CHOOSE[3].tolist() == [1, 3, 3, 1] + [0] * (CHOOSE.shape[1] - 4)
