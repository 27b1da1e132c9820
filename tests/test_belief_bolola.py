"""Worlds of Bolola: as many as the rules leave, each with the same chance, and each one that can be played on."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from bolola_env.contracts import Contract
from bolola_env.game import GAME, setup
from tests.belief_worlds import TOO_FAR, BololaWatcher, evenness, stamps
from tests.helpers import HOUSE_RULES, Table, as_row, card_bits, card_texts, fewer, random_rows
from tests.reference.bolola import DECK, ROWS, Deal, Row, random_hands, skewed_hands
from trick_core.belief import count_worlds, probabilities, view_of, worlds

#: Contract for the kernels, row for the reference engine.
BUILT_IN = [(name, ROWS[name]) for name in ROWS]


def both(
    contract: str | Contract, row: Row, rng: random.Random, skewed: bool
) -> tuple[Table, BololaWatcher]:
    """The same deal in both engines."""
    hands = skewed_hands(rng) if skewed else random_hands(rng)
    starter = rng.randrange(4)
    trump = rng.choice("CDHS") if row.trumps else None
    table = Table(contract, deal=hands, starter=starter, trump=trump)
    return table, BololaWatcher(Deal(row, hands, starter, trump))


def play_both(table: Table, watcher: BololaWatcher, rng: random.Random, plays: int) -> None:
    for _ in range(plays):
        action = rng.choice(table.legal())
        table.play(action)
        watcher.play(action)


def check_all_worlds(table: Table, watcher: BololaWatcher, observer: int, word: int) -> int:
    """The worlds of a seat against the rules: their number, who holds what, and equal chances. Returns the number."""
    wanted = watcher.worlds(observer)
    view = view_of(table.setup, table.states, 0, observer)
    assert count_worlds(view) == len(wanted)
    others = [(observer + turn) % 4 for turn in (1, 2, 3)]

    shares = np.zeros((4, 52))
    for card in watcher.deal.hands[observer]:
        shares[observer, DECK.index(card)] = 1
    for world in wanted:
        for seat, hand in zip(others, world, strict=True):
            for card in hand:
                shares[seat, DECK.index(card)] += 1 / len(wanted)
    np.testing.assert_allclose(probabilities(view), shares, atol=1e-12)

    drawn = worlds(view, fewer(max(200, 8 * len(wanted)), 20), seed=word)["hands"][:, others]
    known = np.array([[card_bits(hand) for hand in world] for world in wanted], np.uint64)
    found, counts = np.unique(stamps(np.asarray(drawn)), return_counts=True)
    assert np.isin(found, stamps(known)).all()
    assert abs(evenness(counts, len(wanted))) < TOO_FAR
    return len(wanted)


@pytest.mark.parametrize(("contract", "row"), BUILT_IN, ids=list(ROWS))
def test_worlds_are_those_that_the_rules_leave(contract: str, row: Row) -> None:
    """B-3.1 to B-5.7: in endings of up to four cards a hand, found by trying every sharing out of the unseen cards."""
    rng = random.Random(f"endings {contract}")
    found = []
    for number in range(fewer(6, 1)):
        table, watcher = both(contract, row, rng, skewed=number % 2 == 1)
        play_both(table, watcher, rng, rng.randrange(fewer(38, 44), 48))
        found += [check_all_worlds(table, watcher, o, number) for o in rng.sample(range(4), 2)]
    assert max(found) > 1


def test_worlds_are_those_that_house_rules_leave() -> None:
    """B-8.1: rows of one's own, and random ones with everything that a row can say."""
    rng = random.Random("house rules")
    rows = [(contract, as_row(contract)) for contract in HOUSE_RULES]
    rows += [random_rows(rng) for _ in range(fewer(12, 1))]
    for number, (contract, row) in enumerate(rows[: fewer(len(rows), 2)]):
        table, watcher = both(contract, row, rng, skewed=number % 2 == 1)
        play_both(table, watcher, rng, rng.randrange(fewer(38, 44), 48))
        check_all_worlds(table, watcher, rng.randrange(4), number)


def test_a_void_and_a_duty_leave_one_world() -> None:
    """B-4.2, B-5.2: seat 1 shows out of clubs and of Jacks and Kings, seat 2 of spades; who holds what follows."""
    hands = [
        "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC",
        "2D 3D 4D 5D 6D 7D 8D 9D TD 2H 3H 4H 5H",
        "6H 7H 8H 9H TH JH QH KH AH JD QD KD AD",
        "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS",
    ]
    table = Table("jacks_kings", deal=[hand.split() for hand in hands], starter=0)
    table.play("2C 2D JD JS")
    shares = probabilities(view_of(table.setup, table.states, 0, 0))
    jacks_and_kings = [DECK.index(card) for card in ("JH", "KH", "KD", "KS")]
    assert (shares[1, jacks_and_kings] == 0).all()
    assert shares[1, DECK.index("QH")] == pytest.approx(12 / 32)
    assert shares[2, DECK.index("KH")] == shares[3, DECK.index("KH")] == 0.5


def replayed(world: Any, actions: list[str], table: Table) -> np.ndarray[Any, Any]:
    """The record after the same actions with a world's hands dealt; each must be legal there."""
    dealt = [
        card_texts(int(held) | int(played))
        for held, played in zip(world["hands"], world["played"], strict=True)
    ]
    other = Table(table.setup, deal=dealt, starter=table.field("starter"))
    for action in actions:
        other.play(action)
    return other.states


def same_record(one: Any, other: Any, ignored: tuple[str, ...]) -> list[str]:
    """Fields in which two records differ."""
    names = [name for name in one.dtype.names if name not in ignored]
    return [name for name in names if not np.array_equal(one[name], other[name])]


@pytest.mark.parametrize("contract", list(ROWS))
def test_worlds_can_be_played_from_the_deal(contract: str) -> None:
    """Every earlier action is legal in the world, and leads to the very record, the legal actions of any seat on turn included."""
    rng = random.Random(f"replay {contract}")
    for _ in range(fewer(3, 1)):
        table = Table(contract, deal=random_hands(rng), starter=rng.randrange(4))
        actions: list[str] = []
        while True:
            if rng.random() < fewer(1, 0) * 0.3 + 0.1:
                observer = rng.randrange(4)
                view = view_of(table.setup, table.states, 0, observer)
                for world in worlds(view, 2, seed=rng.getrandbits(64)):
                    assert world["hands"][observer] == table.field("hands")[observer]
                    again = replayed(world, actions, table)[0]
                    assert same_record(world, again, ("key", "custom")) == []
            if table.over:
                break
            actions.append(rng.choice(table.legal()))
            table.play(actions[-1])


def test_the_true_world_is_possible_at_every_step_of_a_match() -> None:
    """For every seat, on turn or not, no card that a seat holds is ruled out, and the worlds have the hands' sizes."""
    rng = random.Random("match")
    table = Table(setup("match"), seed=3)
    steps = 0
    while not table.over and steps < fewer(700, 12):
        for seat in range(4):
            view = view_of(table.setup, table.states, 0, seat)
            shares = probabilities(view)
            hands = table.field("hands")
            for other in range(4):
                assert (shares[other, [DECK.index(c) for c in card_texts(hands[other])]] > 0).all()
            np.testing.assert_allclose(shares.sum(axis=1), [hand.bit_count() for hand in hands])
            held = worlds(view, 1, seed=steps)["hands"][0].tolist()
            assert sum(held) == sum(hands)
            assert [hand.bit_count() for hand in held] == [hand.bit_count() for hand in hands]
        table.force(rng.choice(table.legal()))
        steps += 1


def test_a_world_of_a_match_plays_on_through_later_deals() -> None:
    """Later deals come from the world's own random key: two worlds go on with other cards."""
    rng = random.Random(5)
    table = Table(setup("match"), seed=9)
    table.random_play(rng, 45)
    later = []
    for world in worlds(view_of(table.setup, table.states), 2, seed=1):
        branch = Table(setup("match"), seed=0)
        branch.states[0] = world
        branch.random_play(rng, 8)
        assert branch.field("deal") == 1
        later.append(branch.field("hands"))
        branch.random_play(rng, fewer(10_000, 4))
        assert branch.over or not fewer(1, 0)
    assert later[0] != later[1]


def test_the_number_of_worlds_before_the_first_card() -> None:
    """39 unseen cards in three hands of 13: 39! / 13!**3; the game's belief says so for every seat, on turn or not."""
    table = Table("trump", seed=1)
    for seat in range(4):
        view = view_of(table.setup, table.states, 0, seat)
        assert count_worlds(view) == 84478098072866400
        record = worlds(view, 1, seed=1)[0]
        assert GAME.legal_ids(record) == [52, 53, 54, 55]  # B-6.1: the starter names trump
