"""What holds in every deal of every contract, tried on deals that hypothesis draws."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bolola_env.contracts import CONTRACTS, Contract
from bolola_env.game import GAME, deal_text
from bolola_env.game import setup as bolola_setup
from bolola_env.observe import LAYOUT, STATE_LAYOUT
from tests.helpers import HOUSE_RULES, Table, fewer, random_rows
from tests.reference.bolola import DECK, random_hands, skewed_hands
from trick_core.game import REWARDS

SEATS = range(4)


@st.composite
def contracts(draw: st.DrawFn) -> Contract:
    """A built-in contract, a house rule, or any row at all."""
    kind = draw(st.integers(0, 2))
    if kind == 0:
        return draw(st.sampled_from(list(CONTRACTS.values())))
    if kind == 1:
        return draw(st.sampled_from(HOUSE_RULES))
    return random_rows(random.Random(draw(st.integers(0, 2**32))))[0]


@st.composite
def deals(draw: st.DrawFn) -> list[list[str]]:
    """A fair deal, or one nearly sorted by suits."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    return draw(st.sampled_from([random_hands, skewed_hands]))(rng)


choices = st.integers(0, 2**32).map(random.Random)
seats = st.integers(0, 3)


@given(contracts(), deals(), seats, choices)
def test_a_table_is_sound_at_every_step(
    contract: Contract, hands: list[list[str]], starter: int, rng: random.Random
) -> None:
    """Cards are neither lost nor doubled, choices come from the hand, beliefs contain the truth."""
    table = Table(contract, deal=hands, starter=starter)
    every = (1 << 52) - 1
    sums = np.zeros(4)
    actions = 0
    while not table.over:
        held, played = table.field("hands"), table.field("played")
        assert sum(held) + sum(played) == every  # disjoint, and all of them
        legal = table.legal()
        assert legal
        bits = table.field("legal")[0]
        if legal[0].startswith("trump:"):
            assert actions == 0
            assert legal == ["trump:C", "trump:D", "trump:H", "trump:S"]
        else:
            assert bits & ~held[table.seat] == 0
        for seat in SEATS:
            assert held[seat] & ~table.field("can")[seat] == 0
        assert sum(table.field("taken")) == table.field("trick_number")
        assert sum(card.bit_count() for card in table.field("trick")) == table.field("trick_size")
        before = table.field("trick_size")
        gain = table.play(rng.choice(legal))
        actions += 1
        assert sum(map(bool, gain)) <= (before == 3)  # only a full trick gives points, to one seat
        sums += gain
        assert table.points() == sums.tolist()
        assert sum(table.field("taken")) == table.field("trick_number")
    assert actions == 52 + contract.trumps
    assert sums.sum() == contract.total
    assert np.abs(sums).max() <= contract.largest_return


@given(contracts(), deals(), seats, choices)
def test_early_stop_returns_the_same(
    contract: Contract, hands: list[list[str]], starter: int, rng: random.Random
) -> None:
    """B-1.5: as long as both play they are the same; what follows the stop gives nothing."""
    full = Table(contract, deal=hands, starter=starter)
    short = Table(bolola_setup(contract, early_stop=True), deal=hands, starter=starter)
    while not full.over:
        action = rng.choice(full.legal())
        if short.over:
            assert full.play(action) == [0, 0, 0, 0]
        else:
            assert short.legal() == full.legal()
            assert short.play(action) == full.play(action)
    assert short.over
    assert short.points() == full.points()


@given(contracts(), deals(), seats, choices, st.integers(0, 20))
def test_a_copied_record_is_a_copied_game(
    contract: Contract, hands: list[list[str]], starter: int, rng: random.Random, ahead: int
) -> None:
    """Restoring the record restores the game: the same plays give the same record again."""
    table = Table(contract, deal=hands, starter=starter)
    table.random_play(rng, ahead)
    saved = table.states.copy()
    actions = table.random_play(rng)
    end = table.states.copy()
    table.states[:] = saved
    table.play(" ".join(actions))
    assert table.states.tobytes() == end.tobytes()


@given(contracts(), deals(), seats, choices, st.integers(1, 3))
def test_rotated_seats_see_the_same(
    contract: Contract, hands: list[list[str]], starter: int, rng: random.Random, by: int
) -> None:
    """A54: with hands and starter moved on by some seats, each moved player sees what it saw."""
    table = Table(contract, deal=hands, starter=starter)
    moved = [hands[(seat - by) % 4] for seat in SEATS]
    rotated = Table(contract, deal=moved, starter=(starter + by) % 4)
    while not table.over:
        if rng.random() < 0.1:
            for seat in SEATS:
                one, other = table.observe(seat), rotated.observe((seat + by) % 4)
                assert np.array_equal(one[0], other[0])
                assert np.array_equal(one[1], other[1])
        action = rng.choice(table.legal())
        gain, moved_gain = table.play(action), rotated.play(action)
        assert [moved_gain[(seat + by) % 4] for seat in SEATS] == gain


@pytest.mark.parametrize("contract", ["no_tricks", "jacks_kings", "queens", "last_two", "trump"])
def test_suits_are_alike_where_no_suit_is_special(contract: str) -> None:
    """Renaming the suits renames the legal cards and changes nothing else."""
    rng = random.Random(contract)
    for _ in range(fewer(20, 1)):
        names = dict(zip("CDHS", rng.sample("CDHS", 4), strict=True))
        hands, starter = skewed_hands(rng), rng.randrange(4)
        other = [[card[0] + names[card[1]] for card in hand] for hand in hands]
        table = Table(contract, deal=hands, starter=starter)
        renamed = Table(contract, deal=other, starter=starter)
        while not table.over:
            legal = table.legal()
            assert {action[:-1] + names[action[-1]] for action in legal} == set(renamed.legal())
            action = rng.choice(legal)
            assert table.play(action) == renamed.play(action[:-1] + names[action[-1]])


# ---------------------------------------------------------------------------- rewards


def rewards_of(setup: Any, number: int, actions: list[str]) -> np.ndarray[Any, Any]:
    """The rewards of an episode, (steps, 4)."""
    table = Table(setup, seed=5, number=number)
    return np.array([table.play(action) for action in actions])


@settings(max_examples=fewer(15, 2))
@given(
    st.sampled_from([*CONTRACTS, "match"]),
    st.integers(0, 1000),
    choices,
    st.floats(0.01, 10),
    st.booleans(),
)
def test_all_rewards_sum_to_the_points(
    contract: str, number: int, rng: random.Random, scale: float, zero_sum: bool
) -> None:
    """Points, final and shaped rewards add up to the same; zero-sum ones to 0 at every step."""
    options = {"zero_sum": zero_sum, "reward_scale": scale}
    table = Table(contract, seed=5, number=number)
    actions = table.random_play(rng)
    points = np.array(table.points())
    expected = (points - points.mean() * zero_sum) * scale
    for mode in REWARDS:
        got = rewards_of(bolola_setup(contract, reward=mode, **options), number, actions)
        np.testing.assert_allclose(got.sum(0), expected, atol=1e-9 * abs(scale) * 10_000)
        if zero_sum:
            np.testing.assert_allclose(got.sum(1), 0, atol=1e-9 * scale * 10_000)
        if mode == "final":
            assert not got[:-1].any()


def test_shaped_rewards_move_with_the_trick() -> None:
    """The seat that wins the trick as it lies has its points in advance, and hands them on."""
    deal = "N:...AKQJT98765432 ..AKQJT98765432. .AKQJT98765432.. AKQJT98765432..."
    table = Table(bolola_setup("trump", reward="shaped", trump="D"), deal=deal, starter=0)
    assert table.play("2C") == [50, 0, 0, 0]
    assert table.play("5D") == [-50, 50, 0, 0]
    assert table.play("3H") == [0, 0, 0, 0]
    assert table.play("3S") == [0, 0, 0, 0]  # the points now fall: nothing is left to promise
    table = Table(bolola_setup("hearts", reward="shaped"), deal=deal, starter=0)
    assert [table.play(card)[0] for card in ("2C", "3D", "3H", "3S")] == [0, 0, -30, 0]


# ---------------------------------------------------------------------------- dealing, seeds


def test_every_card_comes_to_every_seat_alike() -> None:
    """B-1.1, B-7.2: 3,000 deals; each of the 52 x 4 counts, and the starters, as chance has them."""
    count = fewer(3000, 60)
    table = Table("hearts")
    counts = np.zeros((52, 4))
    together = np.zeros((52, 52))
    starters = np.zeros(4)
    begin = table.drivers.begin
    for number in range(count):
        begin(table.config, table.states, 0, 123, number, 0)
        starters[table.states[0]["seat"]] += 1
        for seat, hand in enumerate(table.field("hands")):
            cards = [card for card in range(52) if hand >> card & 1]
            counts[cards, seat] += 1
            together[np.ix_(cards, cards)] += 1

    def distance(found: np.ndarray[Any, Any], chance: float) -> float:
        """Largest distance from what is expected, in standard deviations."""
        spread = (count * chance * (1 - chance)) ** 0.5
        return float(np.abs(found - count * chance).max() / spread)

    assert distance(counts, 1 / 4) < 4.5
    assert distance(starters, 1 / 4) < 4.5
    assert distance(together[~np.eye(52, dtype=bool)], 12 / 51) < 5


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**40), choices)
def test_a_deal_depends_on_seed_and_number_alone(
    seed: int, number: int, rng: random.Random
) -> None:
    """A20, A21: the same hands whatever was played before, and whatever the global generators did."""
    first = Table("match", seed=seed, number=number)
    text = deal_text(first.states, 0)
    starter = first.seat
    np.random.seed(rng.getrandbits(32))
    random.seed(rng.random())
    other = Table("match", seed=rng.getrandbits(63), number=1)
    other.random_play(rng, 30)
    other.drivers.begin(other.config, other.states, 0, seed, number, 0)
    assert (deal_text(other.states, 0), other.seat) == (text, starter)
    assert deal_text(Table("match", seed=seed, number=number + 1).states, 0) != text


@given(deals(), choices, st.integers(0, 51))
def test_deal_text_is_the_deal_as_dealt(
    hands: list[list[str]], rng: random.Random, ahead: int
) -> None:
    """The text reads back as the same deal, also after cards were played."""
    table = Table("bolola", deal=hands)
    table.random_play(rng, ahead)
    again = Table("bolola", deal=deal_text(table.states, 0))
    assert [set(hand) for hand in again.hands()] == [set(hand) for hand in hands]


# ---------------------------------------------------------------------------- layout


def test_layouts_fill_their_words() -> None:
    """A53: pieces do not overlap and cover the vector; D is the same in every contract."""
    for layout in (LAYOUT, STATE_LAYOUT):
        spans = [layout.slice(piece.name) for piece in layout]
        assert [span.start for span in spans] == [0, *(span.stop for span in spans[:-1])]
        assert spans[-1].stop == layout.size <= 64 * layout.words
    assert {Table(row).observe(0)[0].shape for row in HOUSE_RULES} == {(LAYOUT.size,)}


def test_actions_are_cards_and_names() -> None:
    """Ids 0..51 are the deck in the order of B-1.1, then the four names of B-6.1."""
    assert list(GAME.actions) == [*DECK, "trump:C", "trump:D", "trump:H", "trump:S"]
