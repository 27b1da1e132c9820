"""Bolola's kernels against the plain-Python engine, play by play.

Both engines were written from the rulebook and share no code. They play the same deals in lockstep, and everything that
either knows is compared: seat, legal actions, gains, beliefs, points, observation, full state, end. ``FUZZ_DEALS``
sets how many deals a contract the long run plays.
"""

from __future__ import annotations

import copy
import os
import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bolola_env.contracts import CONTRACTS, MATCH_ORDER, Contract, contract_row
from bolola_env.game import GAME
from bolola_env.game import setup as bolola_setup
from bolola_env.observe import LAYOUT, STATE_LAYOUT
from tests.helpers import (
    HOUSE_RULES,
    Table,
    as_row,
    card_bits,
    card_texts,
    fewer,
    random_rows,
    read_pieces,
)
from tests.reference.bolola import (
    DECK,
    ROWS,
    SUITS,
    Deal,
    Match,
    Row,
    random_hands,
    skewed_hands,
)
from trick_core.batch import Batch
from trick_core.drivers import table_drivers

#: Deals a contract in the long run: 12,000 take about 3 minutes on one core, 100,000 about 25.
FUZZ_DEALS = int(os.environ.get("FUZZ_DEALS", "12000"))
DEALS = fewer(2000, 4)
ROWS_TRIED = fewer(300, 20)

ACTIONS = GAME.actions
ACTION_ID = {action: i for i, action in enumerate(ACTIONS)}
ACTION_BIT = {action: 1 << i for action, i in ACTION_ID.items()}
BITS = {card: 1 << i for i, card in enumerate(DECK)}
HANDS: tuple[Callable[[random.Random], list[list[str]]], ...] = (random_hands, skewed_hands)


def normal(row: Row) -> Row:
    """The row with every card in the first tier that names it only."""
    tiers: list[frozenset[str]] = []
    for tier in row.void_tiers:
        tiers.append(tier.difference(*tiers))
    return replace(row, void_tiers=tuple(tiers))


def test_built_in_rows_say_the_same_in_both_engines() -> None:
    """Every contract's points, lock, tiers, duties and trumps (B-2.1 and the table)."""
    assert list(CONTRACTS) and set(CONTRACTS) == set(ROWS)
    for name, contract in CONTRACTS.items():
        assert normal(as_row(contract)) == normal(ROWS[name])


# ---------------------------------------------------------------------------- many deals


class Lockstep:
    """A batch of kernel tables beside as many deals of the reference, each with its own hands."""

    def __init__(
        self,
        contract: Contract,
        row: Row,
        rng: random.Random,
        count: int,
        *,
        early_stop: bool = False,
        with_belief: int = 0,
    ) -> None:
        self.rng = rng
        setup = bolola_setup(contract, early_stop=early_stop)
        self.batch = Batch(setup, count, autoreset="disabled")
        self.batch.reset()
        self.states = self.batch.buffers.states
        self.with_belief = with_belief
        self.history: list[list[str]] = [[] for _ in range(count)]
        self.deals: list[Deal] = []
        config = setup.config.copy()
        config["given"] = 1
        begin = table_drivers(GAME).begin
        for i in range(count):
            hands = HANDS[i % 2](rng)
            starter = rng.randrange(4)
            trump = rng.choice(SUITS) if row.trumps and rng.random() < 0.3 else None
            config["hands"] = [sum(map(BITS.__getitem__, hand)) for hand in hands]
            config["given_starter"] = starter
            config["given_trump"] = -1 if trump is None else SUITS.index(trump)
            begin(config, self.states, i, 0, 0, 1)
            self.deals.append(Deal(row, hands, starter, trump, early_stop))

    def play(self) -> int:
        """Play all deals to the end, comparing; the number of actions."""
        count, rng = len(self.deals), self.rng
        actions = np.zeros(count, np.int64)
        chosen = [""] * count
        plays = 0
        while True:
            seats = self.states["seat"].tolist()
            masks = self.states["legal"][:, 0].tolist()
            live = []
            for i, deal in enumerate(self.deals):
                seat = deal.seat
                assert seats[i] == (-1 if seat is None else seat), self.where(i)
                legal = deal.legal()
                assert masks[i] == sum(map(ACTION_BIT.__getitem__, legal)), self.where(i)
                if seat is not None:
                    live.append(i)
                    chosen[i] = rng.choice(legal)
                    actions[i] = ACTION_ID[chosen[i]]
            if not live:
                break
            active = np.zeros(count, np.bool_)
            active[live] = True
            self.batch.step(actions, active)
            rewards = self.batch.buffers.rewards.tolist()
            for i in live:
                self.history[i].append(chosen[i])
                assert self.deals[i].play(chosen[i]) == rewards[i], self.where(i)
            self.compare_belief()
            plays += len(live)
        points = self.states["points"].tolist()
        for i, deal in enumerate(self.deals):
            assert points[i] == deal.points, self.where(i)
        assert self.batch.buffers.terminations.all()
        return plays

    def compare_belief(self) -> None:
        """What public play has not ruled out, for every seat of the first few tables."""
        for i in range(self.with_belief):
            played = int(np.bitwise_or.reduce(self.states["played"][i]))
            for seat, can in enumerate(self.states["can"][i].tolist()):
                expected = self.deals[i].can_hold(seat)
                assert can & ~played == sum(map(BITS.__getitem__, expected)), (
                    f"{self.where(i)}: can_hold of seat {seat}: kernel {card_texts(can & ~played)}"
                )

    def where(self, i: int) -> str:
        deal = self.deals[i]
        dealt = [sorted(hand) for hand in deal.hands]
        return (
            f"{deal.row.name}, starter {deal.starter}, trump {deal.trump}, hands now {dealt}, "
            f"history {' '.join(self.history[i])}, seat {deal.seat}, legal {deal.legal()}; "
            f"kernel seat {self.states[i]['seat']}, legal {GAME.legal_ids(self.states[i])}, "
            f"rewards {self.batch.buffers.rewards[i]}"
        )


def compare(contract: Contract, row: Row, seed: str, count: int, *, early_stop: bool) -> int:
    """Play ``count`` deals in lockstep, the belief of every sixteenth compared; the plays."""
    rng = random.Random(seed)
    plays = 0
    while count > 0:
        size = min(count, 256)
        belief = -(-size // 16)
        pair = Lockstep(contract, row, rng, size, early_stop=early_stop, with_belief=belief)
        plays += pair.play()
        count -= size
    return plays


@pytest.mark.parametrize("contract", list(CONTRACTS))
def test_thousands_of_deals(contract: str) -> None:
    """Random and skewed deals, a third of the trump deals with a fixed suit."""
    plays = compare(CONTRACTS[contract], ROWS[contract], contract, DEALS, early_stop=False)
    assert plays >= 52 * DEALS


@pytest.mark.parametrize("contract", list(CONTRACTS))
def test_early_stop(contract: str) -> None:
    """B-1.5: the option ends both engines' deals after the same trick."""
    compare(CONTRACTS[contract], ROWS[contract], contract, -(-DEALS // 20), early_stop=True)


@pytest.mark.long
@pytest.mark.parametrize("contract", list(CONTRACTS))
def test_fuzz(contract: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As above, ``FUZZ_DEALS`` deals a contract."""
    plays = compare(CONTRACTS[contract], ROWS[contract], "long", FUZZ_DEALS, early_stop=False)
    assert plays >= 52 * FUZZ_DEALS
    with capsys.disabled():
        print(f"\n{contract}: {FUZZ_DEALS:,} deals, {plays:,} plays, no difference")


def test_custom_rows() -> None:
    """B-8.1: rows drawn from everything that a row can say, trumps, tiers and duties combined."""
    rng = random.Random("rows")
    for number in range(ROWS_TRIED):
        contract, row = random_rows(rng)
        compare(contract, row, f"row {number}", 4, early_stop=number % 3 == 0)


@pytest.mark.parametrize("contract", HOUSE_RULES, ids=lambda contract: contract.name)
def test_house_rules(contract: Contract) -> None:
    """B-8.1: the house rules that the rulebook names, and a row that uses every field."""
    compare(contract, as_row(contract), contract.name, -(-DEALS // 10), early_stop=False)
    compare(contract, as_row(contract), contract.name, -(-DEALS // 40), early_stop=True)


@pytest.mark.parametrize("contract", list(CONTRACTS))
def test_deals_from_seeds(contract: str) -> None:
    """Deals that the kernel shuffles, with the starter from the seed (B-1.1, B-7.2)."""
    rng = random.Random(contract)
    starters = set()
    for number in range(fewer(40, 3)):
        table = Table(contract, seed=7, number=number)
        assert table.seat is not None
        starters.add(table.seat)
        deal = Deal(contract, table.hands(), table.seat)
        while not table.over:
            assert table.legal() == deal.legal()
            action = rng.choice(deal.legal())
            assert table.play(action) == deal.play(action)
        assert deal.over
        assert table.points() == deal.points
    assert len(starters) == fewer(4, len(starters))


# ---------------------------------------------------------------------------- matches


def starter_of(number: int, first: int) -> int:
    """B-7.2: each next deal is started by the next seat."""
    return (first + number) % 4


@pytest.mark.parametrize("early_stop", [False, True])
@pytest.mark.parametrize("trump", [None, "D"])
@pytest.mark.parametrize("order", [None, "another"])
def test_matches(early_stop: bool, trump: str | None, order: str | None) -> None:
    """B-7.1, B-7.2, B-7.3: all deals of a match, custom deals, other orders, a fixed trump."""
    rng = random.Random(f"{early_stop} {trump} {order}")
    names: list[str | Contract] = list(MATCH_ORDER)
    if order is not None:
        names = [HOUSE_RULES[3], "queens", HOUSE_RULES[2], "trump", "bolola"]
    options: dict[str, Any] = {"order": None if order is None else names}
    setup = bolola_setup("match", early_stop=early_stop, trump=trump, **options)
    rows = [as_row(contract_row(name)) for name in names]
    for _ in range(fewer(6, 1)):
        deals = [rng.choice(HANDS)(rng) for _ in names]
        starter = rng.randrange(4)
        trumps = [trump if row.trumps else None for row in rows]
        match = Match(deals, starter, rows, trumps, early_stop)
        table = Table(setup, deal=deals, starter=starter)
        checked = 0
        while not match.over:
            assert table.seat == match.seat
            assert table.legal() == match.legal()
            assert table.field("deal") == match.deal_number - 1
            assert table.field("starter") == starter_of(match.deal_number - 1, starter)
            if rng.random() < 0.03:
                check_pieces(table, match.deal, match)
                checked += 1
            action = rng.choice(match.legal())
            assert table.play(action) == match.play(action)
            assert table.points() == match.scores
        assert table.over
        assert table.legal() == []
        check_pieces(table, match.deal, match)
        assert checked


def test_a_match_deals_anew_and_from_its_own_stream() -> None:
    """The deals of a seeded match are valid, differ, and open with the next seat."""
    table = Table("match", seed=11)
    first = table.seat
    assert first is not None
    seen = set()
    rng = random.Random(1)
    number = -1
    while not table.over:
        if table.field("deal") != number:
            number = table.field("deal")
            hands = table.hands()
            assert sorted(card for hand in hands for card in hand) == sorted(DECK)
            seen.add(str(hands))
            assert table.field("starter") == table.seat == starter_of(number, first)
        table.force(rng.choice(table.legal()))
    assert len(seen) == 12


# ---------------------------------------------------------------------------- observation, state


def flags(cards: Sequence[str] | set[str]) -> list[int]:
    """One 0/1 value a card of the deck."""
    return [int(card in cards) for card in DECK]


def one_hot(index: int | None, width: int) -> list[int]:
    return [int(i == index) for i in range(width)]


def row_pieces(row: Row, early_stop: bool) -> dict[str, Any]:
    """The part of the observation that says which contract is played, from the reference's row."""
    builtin = [i for i, name in enumerate(CONTRACTS) if normal(ROWS[name]) == normal(row)]
    tier = {card: n for n, cards in reversed([*enumerate(row.void_tiers, 1)]) for card in cards}
    locks = ["C", "D", "H", "S", "trump"]
    lock = None if row.locked_suit is None else locks.index(row.locked_suit)
    return {
        "contract": [one_hot(builtin[0] if builtin else None, 9)],
        "card_points": [row.card_points[card] for card in DECK],
        "trick_points": [row.trick_points],
        "trick_number_points": [row.trick_number_points[number] for number in range(1, 14)],
        "locked_suit": [one_hot(lock, 5)],
        "void_tier": [tier.get(card, 0) for card in DECK],
        "under_duty": [flags(row.under_duty)],
        "trumps": [[int(row.trumps)]],
        "early_stop": [[int(early_stop)]],
    }


def public_pieces(deal: Deal, observer: int, match: Match | None) -> dict[str, Any]:
    """What everybody knows, in the observer's order of seats."""
    order = [(observer + i) % 4 for i in range(4)]
    tricks = [*deal.tricks, deal.trick]
    played: dict[int, set[str]] = {seat: set() for seat in range(4)}
    for trick in tricks:
        for seat, card in trick:
            played[seat].add(card)
    in_trick = dict(deal.trick)
    takers = [taker_of(deal, trick) for trick in deal.tricks]
    leader = deal.trick[0][0] if deal.trick else takers[-1] if takers else deal.starter
    over = deal.over
    turn = None if deal.seat is None else (deal.seat - observer) % 4
    locked = deal.trump if deal.row.locked_suit == "trump" else deal.row.locked_suit
    suits = {card[1] for cards in played.values() for card in cards}
    scores = [0, 0, 0, 0]
    if match is not None:
        scores = [all_ - now for all_, now in zip(match.scores, deal.points, strict=True)]
    return {
        "trick": [flags([in_trick[seat]] if seat in in_trick else []) for seat in order],
        "played": [flags(played[seat]) for seat in order],
        "trick_number": [one_hot(None if over else len(deal.tricks), 13)],
        "trick_size": [one_hot(len(deal.trick), 4)],
        "on_turn": [one_hot(turn, 4)],
        "leader": [one_hot((leader - observer) % 4, 4)],
        "starter": [one_hot((deal.starter - observer) % 4, 4)],
        "trump": [one_hot(None if deal.trump is None else SUITS.index(deal.trump), 4)],
        "naming": [[int(deal.naming_trump and not over)]],
        "locked": [[int(locked is not None and locked not in suits)]],
        "match": [[int(match is not None)]],
        "deal_number": [one_hot(0 if match is None else match.deal_number - 1, 12)],
        "taken": [takers.count(seat) for seat in order],
        "points": [deal.points[seat] for seat in order],
        "scores": [scores[seat] for seat in order],
    }


def taker_of(deal: Deal, trick: list[tuple[int, str]]) -> int:
    """The seat that took a finished trick: it leads the next one."""
    index = deal.tricks.index(trick)
    later = [*deal.tricks[index + 1 :], deal.trick]
    if later[0]:
        return later[0][0][0]
    if deal.seat is not None:
        return deal.seat
    ranks = "23456789TJQKA"
    trumps = [play for play in trick if play[1][1] == deal.trump]
    of_suit = [play for play in trick if play[1][1] == trick[0][1][1]]
    return max(trumps or of_suit, key=lambda play: ranks.index(play[1][0]))[0]


def expected_observation(deal: Deal, observer: int, match: Match | None) -> dict[str, Any]:
    """Everything that the observer's vector should say, by piece."""
    hand = deal.hands[observer]
    others = [(observer + i) % 4 for i in range(1, 4)]
    return {
        "hand": [flags(hand)],
        "can_hold": [flags(deal.can_hold(seat) - hand) for seat in others],
        **public_pieces(deal, observer, match),
        **row_pieces(deal.row, deal.early_stop),
    }


def expected_state(deal: Deal, match: Match | None) -> dict[str, Any]:
    """Everything that the full-information state should say, by piece."""
    return {
        **row_pieces(deal.row, deal.early_stop),
        "hands": [flags(hand) for hand in deal.hands],
        "can_hold": [flags(deal.can_hold(seat)) for seat in range(4)],
        **public_pieces(deal, 0, match),
    }


def check_pieces(table: Table, deal: Deal, match: Match | None = None) -> None:
    """Every piece of the four observations and of the state vector."""
    for seat in range(4):
        vector, mask = table.observe(seat)
        expected = expected_observation(deal, seat, match)
        assert {piece.name for piece in LAYOUT} == set(expected)
        assert read_pieces(LAYOUT, vector) == expected, f"seat {seat}"
        legal = [ACTIONS[i] for i in np.flatnonzero(mask)]
        assert legal == (deal.legal() if seat == deal.seat else [])
    words = table.state_words()
    bits = [(int(words[i // 64]) >> (i % 64)) & 1 for i in range(STATE_LAYOUT.size)]
    assert read_pieces(STATE_LAYOUT, np.array(bits, np.int8)) == expected_state(deal, match)


@pytest.mark.parametrize("contract", [*CONTRACTS.values(), *HOUSE_RULES], ids=lambda c: c.name)
def test_every_piece_of_observation_and_state(contract: Contract) -> None:
    """All four seats' vectors and the state vector, at every step of a few deals, and after the end."""
    rng = random.Random(contract.name)
    row = as_row(contract)
    for number in range(fewer(4, 1)):
        hands, starter = HANDS[number % 2](rng), rng.randrange(4)
        early_stop = number % 4 == 3
        table = Table(bolola_setup(contract, early_stop=early_stop), deal=hands, starter=starter)
        deal = Deal(row, hands, starter, early_stop=early_stop)
        while not deal.over:
            if rng.random() < fewer(10, 1) / 10:
                check_pieces(table, deal)
            action = rng.choice(deal.legal())
            deal.play(action)
            table.play(action)
        check_pieces(table, deal)


def test_pieces_of_random_rows() -> None:
    """The largest and smallest points, every lock, seven tiers: all come through the vector."""
    rng = random.Random("pieces")
    for _ in range(fewer(60, 3)):
        contract, row = random_rows(rng)
        hands = random_hands(rng)
        table, deal = Table(contract, deal=hands, starter=1), Deal(row, hands, 1)
        for _ in range(rng.randrange(53)):
            if not deal.over:
                action = rng.choice(deal.legal())
                deal.play(action)
                table.play(action)
        check_pieces(table, deal)


def test_step_writes_what_observe_writes() -> None:
    """The buffers after a step hold the next seat's observation and mask, new deals included."""
    rng = random.Random("buffers")
    setup = bolola_setup("match", order=["trump", "queens"])
    table = Table(setup, seed=3)
    buffers = table.buffers
    assert table.seat is not None
    table.drivers.observe(
        table.config, table.states, 0, table.seat, buffers.words, buffers.obs, buffers.mask
    )
    while True:
        table.force(rng.choice(table.legal()))
        if table.seat is None:
            break
        vector, mask = table.observe(table.seat)
        assert np.array_equal(buffers.obs[0], vector)
        assert np.array_equal(buffers.mask[0], mask)


# ---------------------------------------------------------------------------- pinned counts


def endings(contract: str, seed: int) -> tuple[Table, Deal]:
    """A deal after ten random tricks, in both engines."""
    rng = random.Random(seed)
    hands, starter = random_hands(rng), rng.randrange(4)
    table = Table(contract, deal=hands, starter=starter)
    deal = Deal(contract, hands, starter)
    while len(deal.tricks) < 10:
        action = rng.choice(deal.legal())
        deal.play(action)
        table.play(action)
    return table, deal


def sequences_of_kernel(table: Table) -> int:
    """Number of legal ways to play the rest."""
    if table.over:
        return 1
    saved = table.states.copy()
    total = 0
    for action in table.legal():
        table.force(action)
        total += sequences_of_kernel(table)
        table.states[:] = saved
    return total


def sequences_of_reference(deal: Deal) -> int:
    """Number of legal ways to play the rest."""
    if deal.over:
        return 1
    total = 0
    for action in deal.legal():
        branch = copy.copy(deal)
        branch.hands = [set(hand) for hand in deal.hands]
        branch.trick, branch.tricks = list(deal.trick), list(deal.tricks)
        branch._suits_played = set(deal._suits_played)
        branch._not_judged = []
        branch.play(action)
        total += sequences_of_reference(branch)
    return total


#: Legal sequences of the last three tricks, of three deals for each contract.
PERFT: dict[str, list[int]] = {
    "no_tricks": [384, 552, 360],
    "jacks_kings": [480, 552, 576],
    "queens": [312, 552, 496],
    "hearts": [1296, 120, 108],
    "last_two": [384, 552, 360],
    "king_of_hearts": [1296, 120, 108],
    "all_penalties": [352, 124, 56],
    "trump": [576, 72, 56],
    "bolola": [288, 432, 264],
}


@pytest.mark.parametrize("contract", list(CONTRACTS))
def test_counts_of_endings(contract: str) -> None:
    """Both engines count the ways to play the last three tricks, and always did."""
    for seed, pinned in list(zip((0, 2, 4), PERFT[contract], strict=True))[-fewer(3, 1) :]:
        table, deal = endings(contract, seed)
        assert sequences_of_reference(deal) == pinned
        assert sequences_of_kernel(table) == pinned


class Walk:
    """A checksum over seats, legal actions and points of a walk through many deals.

    The walk takes the legal action whose index a small generator of its own gives.
    """

    def __init__(self) -> None:
        self.state = 1
        self.crc = 0

    def choose(self, seat: int | None, legal: list[str]) -> str:
        self.state = (self.state * 48271) % 2147483647
        self.add([seat, *legal])
        return legal[self.state % len(legal)]

    def add(self, values: Sequence[Any]) -> None:
        self.crc = zlib.crc32(" ".join(map(str, values)).encode(), self.crc)


def walk_of_kernel(contract: str, count: int) -> int:
    walk, rng = Walk(), random.Random(0)
    for number in range(count):
        table = Table(contract, deal=HANDS[number % 2](rng), starter=number % 4)
        while not table.over:
            table.force(walk.choose(table.seat, table.legal()))
            walk.add([int(gain) for gain in table.gain()])
    return walk.crc


def walk_of_reference(contract: str, count: int) -> int:
    walk, rng = Walk(), random.Random(0)
    for number in range(count):
        deal = Deal(contract, HANDS[number % 2](rng), number % 4)
        while not deal.over:
            walk.add(deal.play(walk.choose(deal.seat, deal.legal())))
    return walk.crc


#: Checksum of the walk through 20 deals of each contract.
WALKS: dict[str, int] = {
    "no_tricks": 911694195,
    "jacks_kings": 2811259350,
    "queens": 2961889899,
    "hearts": 2179787197,
    "last_two": 3585676350,
    "king_of_hearts": 174995398,
    "all_penalties": 1349079251,
    "trump": 1921925404,
    "bolola": 4266745104,
}


@pytest.mark.parametrize("contract", list(CONTRACTS))
def test_checksum_of_a_walk(contract: str) -> None:
    """Both engines walk through the same seats, choices and points, and always did."""
    assert walk_of_reference(contract, 20) == WALKS[contract]
    if fewer(1, 0):
        assert walk_of_kernel(contract, 20) == WALKS[contract]


def test_a_difference_is_noticed() -> None:
    """The comparison itself can fail: an edited row, a wrong belief."""
    wrong = Contract(name="queens", card_points={"Q": -100}, void_tiers=[["J"]], under_duty=["Q"])
    with pytest.raises(AssertionError, match="queens"):
        compare(wrong, ROWS["queens"], "wrong", 8, early_stop=False)
    pair = Lockstep(CONTRACTS["queens"], ROWS["queens"], random.Random(1), 2, with_belief=2)
    pair.states["can"][0, 0] ^= np.uint64(card_bits(["QS"]))
    with pytest.raises(AssertionError, match="can_hold of seat 0"):
        pair.play()
