"""Contracts that users write (B-8.1): what a row can say, its normal form, and that every environment takes it."""

from __future__ import annotations

import pickle
import random
from dataclasses import FrozenInstanceError, asdict, fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bolola_env
from bolola_env.contracts import CONTRACTS, MAX_TIERS, Contract, contract_row
from bolola_env.game import GAME
from bolola_env.game import setup as bolola_setup
from bolola_env.observe import LAYOUT
from tests.helpers import HOUSE_RULES, Table, as_row, fewer, random_rows
from tests.reference.bolola import DECK, ROWS

LARGEST = Contract(
    name="largest",
    card_points=[32767] * 52,
    trick_points=32767,
    trick_number_points=[32767] * 13,
)
SMALLEST = Contract(
    name="smallest",
    card_points=[-32768] * 52,
    trick_points=-32768,
    trick_number_points=[-32768] * 13,
)
NOTHING = Contract(name="nothing")
EVERYTHING = [*HOUSE_RULES, LARGEST, SMALLEST, NOTHING]
rows = st.integers(0, 2**32).map(lambda seed: random_rows(random.Random(seed))[0])


# ---------------------------------------------------------------------------- what a row says


def test_selections_are_cards_ranks_and_suits() -> None:
    """In points, tiers and duties alike, in any mixture, small letters in card texts too."""
    row = Contract(
        name="row",
        card_points={"Q": -10, "H": -1, "qs": -5, 0: 7},
        void_tiers=[{"Q", "2H"}, ["H"], (51,)],
        under_duty=["K", "2C", 3],
    )
    points = dict(zip(DECK, row.card_points, strict=True))
    assert (points["QC"], points["QH"], points["QS"]) == (-10, -11, -15)  # they add up (B-2.1)
    assert (points["2H"], points["2C"], points["3C"]) == (-1, 7, 0)
    assert row.void_tiers[0] == ("QC", "QD", "2H", "QH", "QS")
    assert set(row.void_tiers[1]) == {rank + "H" for rank in "3456789TJKA"}  # less the first tier
    assert row.void_tiers[2] == ("AS",)
    assert row.under_duty == ("2C", "5C", "KC", "KD", "KH", "KS")


def test_points_as_sequences_and_as_mappings() -> None:
    one = Contract(name="row", card_points={"2C": 5}, trick_number_points={13: 2})
    two = Contract(name="row", card_points=[5] + [0] * 51, trick_number_points=[0] * 12 + [2])
    assert one == two
    assert hash(one) == hash(two)
    assert one != replace(two, name="other")


def test_rows_are_frozen_and_picklable() -> None:
    row = HOUSE_RULES[3]
    with pytest.raises(FrozenInstanceError):
        row.trick_points = 1  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(row))
    assert again == row
    assert Contract(**asdict(row)) == row


@given(rows)
def test_the_normal_form_is_a_fixed_point(row: Contract) -> None:
    """A row made from another row's fields is that row; so is one from its recorded mapping."""
    again = Contract(**{field.name: getattr(row, field.name) for field in fields(row)})
    assert again == row
    recorded = bolola_setup(row).options["contract"]
    assert isinstance(recorded, dict)
    assert np.array_equal(bolola_setup(recorded).config, bolola_setup(row).config)


@given(rows)
def test_totals_and_bounds(row: Contract) -> None:
    own = as_row(row)
    later = sum(own.trick_number_points.values())
    assert row.total == sum(own.card_points.values()) + 13 * own.trick_points + later
    assert row.largest_return >= abs(row.total)
    assert bolola_setup(row).largest_return == row.largest_return
    assert [row.trick_value(n) for n in range(1, 14)] == [
        own.trick_points + own.trick_number_points[n] for n in range(1, 14)
    ]


def test_as_many_tiers_as_the_layout_holds() -> None:
    tiers = [[rank] for rank in "23456789TJQKA"[:MAX_TIERS]]
    row = Contract(name="row", void_tiers=tiers)
    pieces = Table(row).pieces(0)
    assert pieces["void_tier"] == [*range(1, MAX_TIERS + 1), *[0] * (13 - MAX_TIERS)] * 4


# ---------------------------------------------------------------------------- what is observed


@pytest.mark.parametrize("row", EVERYTHING, ids=lambda row: row.name)
def test_a_row_is_observed_by_its_numbers(row: Contract) -> None:
    """The one-hot of the nine is zero; the numbers are all there."""
    pieces = Table(row).pieces(1)
    assert pieces["contract"] == [[0] * 9]
    assert pieces["card_points"] == list(row.card_points)
    assert pieces["trick_points"] == [row.trick_points]
    assert pieces["trick_number_points"] == list(row.trick_number_points)
    assert pieces["trumps"] == [[int(row.trumps)]]


def test_a_copy_of_a_built_in_row_is_that_contract_and_a_changed_one_is_not() -> None:
    """The name alone does not make a contract one of the nine."""
    hearts = CONTRACTS["hearts"]
    assert bolola_setup(replace(hearts)).variant == "hearts"
    assert bolola_setup(hearts).variant == "hearts"
    changed = replace(hearts, trick_points=-1)
    assert bolola_setup(changed).variant == "custom"
    assert Table(changed).pieces(0)["contract"] == [[0] * 9]
    assert contract_row("king-of-hearts") is CONTRACTS["king_of_hearts"]


@pytest.mark.parametrize("row", [LARGEST, SMALLEST], ids=lambda row: row.name)
def test_the_largest_points_do_not_overflow(row: Contract) -> None:
    """A match of twelve such deals, all tricks to one seat: every number is exact and observed."""
    deal = "N:...AKQJT98765432 ..AKQJT98765432. .AKQJT98765432.. AKQJT98765432..."
    setup = bolola_setup("match", order=[row] * 12)
    table = Table(setup, deal=[deal] * 12, starter=0)
    while not table.over:
        table.force(table.legal()[0])
    # Seat 0 leads three times and its clubs take all; so do the other suits for their seats.
    assert table.points() == [3.0 * row.total] * 4
    assert abs(12 * row.total) <= setup.largest_return
    deal_points = table.pieces(2)["points"]
    assert sum(deal_points) == row.total
    scores = table.pieces(2)["scores"]
    assert [a + b for a, b in zip(deal_points, scores, strict=True)] == [3 * row.total] * 4
    limit = LAYOUT.slice("scores", 0)
    assert 12 * row.largest_return < 2 ** (limit.stop - limit.start - 1)


# ---------------------------------------------------------------------------- environments


def legal_of(observation: dict[str, Any]) -> list[int]:
    return [int(action) for action in np.flatnonzero(observation["action_mask"])]


@pytest.mark.parametrize("row", EVERYTHING, ids=lambda row: row.name)
def test_the_turn_based_environment_takes_a_row(row: Contract) -> None:
    """A01: the sums of what ``last`` returns are the points."""
    env = bolola_env.env(row)
    rng = random.Random(row.name)
    for seed in range(fewer(3, 1)):
        env.reset(seed=seed)
        sums = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            observation, reward, termination, _, _ = env.last()
            sums[agent] += reward
            env.step(None if termination else rng.choice(legal_of(observation)))
        assert sum(sums.values()) == row.total


@pytest.mark.parametrize("row", EVERYTHING, ids=lambda row: row.name)
def test_the_vector_environment_takes_a_row(row: Contract) -> None:
    envs = bolola_env.vector_env(row, num_envs=3)
    observation, _ = envs.reset(seed=1)
    rng = random.Random(row.name)
    sums = np.zeros((3, 4))
    for _ in range(52 + row.trumps):
        masks = observation["action_mask"]
        actions = np.array([rng.choice(np.flatnonzero(mask).tolist()) for mask in masks])
        observation, rewards, terminations, _, _ = envs.step(actions)
        sums += rewards
    assert terminations.all()
    assert sums.sum(1).tolist() == [row.total] * 3


@pytest.mark.parametrize("row", EVERYTHING, ids=lambda row: row.name)
def test_the_learners_environment_takes_a_row(row: Contract) -> None:
    """With the registry's bots in the other seats."""
    env = bolola_env.single_env(row, opponents="random", seat=2)
    rng = random.Random(row.name)
    observation, _ = env.reset(seed=1)
    for _ in range(200):
        observation, _, terminated, truncated, _ = env.step(rng.choice(legal_of(observation)))
        assert not truncated
        if terminated:
            break
    assert terminated


@pytest.mark.parametrize("row", [HOUSE_RULES[3], LARGEST], ids=lambda row: row.name)
def test_gymnasium_makes_a_row(row: Contract) -> None:
    """The id ``bolola/custom-v0`` takes the row, alone and in numbers (A43)."""
    import gymnasium

    env = gymnasium.make("bolola/custom-v0", contract=row)
    observation, info = env.reset(seed=4)
    assert LAYOUT.read(observation["observation"], "card_points").tolist() == list(row.card_points)
    assert info["action_mask"].any()
    envs = gymnasium.make_vec("bolola/custom-v0", num_envs=2, contract=row)
    batch, _ = envs.reset(seed=4)
    assert np.array_equal(batch["observation"][0], observation["observation"])


def test_a_row_in_a_match() -> None:
    """B-7.1: the order takes rows; each deal is observed as its own contract."""
    row = HOUSE_RULES[3]
    table = Table(bolola_setup("match", order=["queens", row, "bolola"], trump="H"), seed=1)
    rng = random.Random(1)
    seen = {}
    while not table.over:
        seen[table.field("deal")] = table.pieces(0)
        table.force(rng.choice(table.legal()))
    assert [seen[number]["contract"][0].count(1) for number in range(3)] == [1, 0, 1]
    assert seen[1]["card_points"] == list(row.card_points)
    assert seen[1]["trump"] == [[0, 0, 1, 0]]
    assert sum(table.points()) == -400 + row.total + 800


def test_both_engines_have_the_same_house_rules() -> None:
    """The rows used all over the tests say in both engines what they say in the rulebook."""
    last_two, king, hearts, _ = map(as_row, HOUSE_RULES)
    assert last_two.trick_number_points[12] == last_two.trick_number_points[13] == -180
    assert king.under_duty == {"KH"}
    assert king.card_points == ROWS["king_of_hearts"].card_points
    assert sum(hearts.card_points.values()) == 26
    assert GAME.setup(HOUSE_RULES[2]).largest_return == 26
