"""The bot greedy: legal and sensible in every contract, from what its seat may see."""

from __future__ import annotations

import hashlib
import itertools
import pickle
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baselines  # noqa: F401  (registers the bots)
from baselines import tune
from baselines.bots import chances, greedy
from baselines.bots.greedy_bolola import NONE_OF, ROW_NAMES, START, V1, WEIGHT_NAMES, WEIGHTS
from baselines.evaluate import evaluate
from bolola_env.contracts import CONTRACTS, Contract
from bolola_env.game import GAME
from bolola_env.game import setup as bolola_setup
from tests.helpers import HOUSE_RULES, Table, fewer, random_rows
from trick_core.batch import Batch
from trick_core.bots import View, make_bot
from trick_core.game import find_game, setup_for
from trick_core.jit import JIT

BOT = make_bot("greedy")
compiled = pytest.mark.skipif(not JIT, reason="plays thousands of deals: only compiled kernels can")

#: Every seat holds four cards of one suit, and every suit lies AKQJ, T987, 654, 32 around the table.
TOUCHING = "N:AKQJ.T987.654.32 T987.654.32.AKQJ 654.32.AKQJ.T987 32.AKQJ.T987.654"
MIXED = "N:K2.AK5.QT98.T864 AQJ5.QJ9.K32.QJ5 T984.862.A65.A73 763.T743.J74.K92"


def choice(table: Table) -> str:
    """Greedy's action for the seat on turn, as text."""
    assert table.seat is not None
    view = View(table.game, table.setup.config, table.view(table.seat), 0)
    return table.game.actions[BOT.act(view)]


def after(contract: Any, deal: str, starter: int, actions: str = "") -> str:
    """Greedy's action in a deal after some actions."""
    table = Table(contract, deal=deal, starter=starter)
    if actions:
        table.play(actions)
    return choice(table)


# ---------------------------------------------------------------------------- sense


def test_ducks_with_the_highest_card_that_stays_under() -> None:
    assert after("no_tricks", MIXED, 3, "2C 8C QC") == "7C"


def test_takes_with_the_highest_card_where_it_must_take() -> None:
    assert after("no_tricks", TOUCHING, 0, "9H 4H 2H") == "AH"


def test_takes_cheaply_where_tricks_are_good() -> None:
    assert after("trump", TOUCHING, 3, "trump:C TD 4D 2D") == "JD"


def test_spends_its_lowest_card_on_a_trick_that_it_cannot_take() -> None:
    assert after("trump", TOUCHING, 0, "trump:D AS 7S") == "4S"


@pytest.mark.parametrize(("starter", "suit"), [(0, "S"), (1, "C"), (2, "D"), (3, "H")])
def test_names_its_best_suit_trump(starter: int, suit: str) -> None:
    """Rule B-6.1. Each seat holds A K Q J of one suit and four low cards of another."""
    assert after("trump", TOUCHING, starter) == f"trump:{suit}"


def test_names_its_worst_suit_where_trumps_only_lose() -> None:
    row = Contract(name="misere", trick_points=-10, trumps=True)
    assert (
        after(row, "N:AKQJT98.A5.432.2 7.KQ9.JT98.JT987 65432.JT8.A.AKQ6 .76432.KQ765.543", 0)
        == "trump:C"
    )


def test_burns_high_cards_before_the_last_two_tricks() -> None:
    assert after("last_two", TOUCHING, 0) in ("AS", "KS", "QS", "JS")
    assert after("last_two", TOUCHING, 3, "TD 4D 2D") == "AD"


def test_takes_points_where_points_are_good_and_not_where_they_are_bad() -> None:
    """King and Queen of clubs lie in the trick; the last seat holds A, 7 and 3."""
    assert after("bolola", MIXED, 3, "KC 8C QC") == "AC"
    assert after("queens", MIXED, 3, "KC 8C QC") == "7C"


def test_void_seat_gets_rid_of_a_high_card() -> None:
    deal = "N:A2.K3.QJT98765.4 KQ9.AQ9..AKQJT98 JT87.JT8.A4.7653 6543.76542.K32.2"
    assert after("no_tricks", deal, 0, "QD") in ("KS", "AH")
    assert after("bolola", deal, 0, "QD") in ("9S", "9H", "8C")


# ---------------------------------------------------------------------------- what it sees


def redealt(record: np.ndarray[Any, Any], rng: random.Random) -> np.ndarray[Any, Any]:
    """The same table with the other three hands exchanged and another random key."""
    other = record.copy()
    seat = int(record["seat"][0])
    seats = [s for s in range(4) if s != seat]
    hands = record["hands"][0][seats].tolist()
    rng.shuffle(hands)
    other["hands"][0][seats] = hands
    other["key"] = rng.getrandbits(64)
    return other


@pytest.mark.parametrize("contract", [*CONTRACTS, "match"])
def test_choice_depends_on_nothing_that_the_seat_may_not_know(contract: str) -> None:
    """The view hides the other hands; given the full state, with any hands, greedy plays the same."""
    rng = random.Random(contract)
    table = Table(contract, seed=3)
    for _ in range(fewer(120, 20)):
        if table.over:
            break
        action = choice(table)
        for record in (table.states.copy(), redealt(table.states, rng)):
            assert GAME.actions[BOT.act(View(GAME, table.setup.config, record, 0))] == action
        table.force(rng.choice(table.legal()))


def test_choice_is_the_same_whatever_the_random_word() -> None:
    table, rng = Table("all_penalties", seed=1), random.Random(0)
    while not table.over:
        view = table.view(table.seat)
        words = (0, 1, 2**64 - 1, rng.getrandbits(64))
        assert len({BOT.act(View(GAME, table.setup.config, view, w)) for w in words}) == 1
        table.force(choice(table))


def test_asking_changes_nothing() -> None:
    table = Table("bolola", seed=2)
    view = table.view(table.seat)
    before = view.tobytes()
    BOT.act(View(GAME, table.setup.config, view, 0))
    assert view.tobytes() == before


@pytest.mark.parametrize("contract", [*CONTRACTS, *HOUSE_RULES], ids=str)
def test_choice_is_legal_at_every_decision(contract: Any) -> None:
    rng = random.Random(5)
    for seed in range(fewer(20, 1)):
        table = Table(contract, seed=seed)
        while not table.over:
            action = choice(table)
            assert action in table.legal()
            table.force(action if rng.random() < 0.5 else rng.choice(table.legal()))


def test_choice_is_legal_in_random_rows() -> None:
    """B-8.1: every bot works with a user's row, whatever the row says."""
    rng = random.Random(11)
    for number in range(fewer(60, 3)):
        table = Table(random_rows(rng)[0], seed=number)
        while not table.over:
            action = choice(table)
            assert action in table.legal()
            table.force(action)


# ---------------------------------------------------------------------------- strength


@compiled
@pytest.mark.parametrize("contract", [name.replace("_", "-") for name in CONTRACTS])
def test_beats_three_random_by_at_least_45_points_a_deal(contract: str) -> None:
    result = evaluate(f"bolola/{contract}-v0", ["greedy", "random"])
    assert result.rows[0].overall.mean > 45
    assert result.winner == "greedy"


@compiled
@pytest.mark.parametrize("contract", CONTRACTS)
def test_tuned_weights_beat_untuned_ones(contract: str) -> None:
    points = tune.play(contract, WEIGHTS, START, 500, first=tune.FRESH_DEALS + 50_000)
    assert points.mean() > 3 * points.std() / len(points) ** 0.5 > 0


@compiled
def test_beats_random_in_the_match() -> None:
    """Seven penalty contracts, four trump deals and a bolola together: hundreds of points a match."""
    result = evaluate("bolola/match-v0", ["greedy", "random"], deals=50)
    assert result.rows[0].overall.mean > 600 and result.winner == "greedy"


@compiled
@pytest.mark.parametrize(
    "row",
    [
        *HOUSE_RULES,
        Contract(name="american", card_points={"H": -1, "QS": -13}, locked_suit="H"),
        Contract(name="misere", trick_points=-10, trumps=True),
        Contract(name="catch_kings", card_points={"K": 100}, trumps=True, locked_suit="trump"),
    ],
    ids=lambda row: row.name,
)
def test_beats_random_in_users_rows(row: Contract) -> None:
    result = evaluate("bolola/custom-v0", ["greedy", "random"], contract=row, deals=300)
    assert result.winner == "greedy"


@compiled
def test_a_users_row_like_all_penalties_is_played_like_it() -> None:
    """The default weights for penalties are those of all_penalties; nothing else may tell them apart."""
    own = replace(CONTRACTS["all_penalties"], name="mine")
    results = [
        evaluate(env, ["greedy", "random"], seed=4, deals=100, **options).points
        for env, options in (
            ("bolola/all-penalties-v0", {}),
            ("bolola/custom-v0", {"contract": own}),
        )
    ]
    assert np.array_equal(*results)


# ---------------------------------------------------------------------------- the frozen yardstick


@pytest.mark.parametrize(
    ("game", "digest"),
    [("bolola", "e0fc69609859067a"), ("tarot", "ec456b5440ca9989")],
)
def test_greedy_v1_plays_as_it_was_released(game: str, digest: str) -> None:
    """Whoever changes its kernel or its weights makes another bot, and gives that another name.

    The hash is over every action of four greedy-v1, on deals of each environment of the game.
    """
    assert played_by_four("greedy-v1", game) == digest


def played_by_four(name: str, game: str) -> str:
    """Hash over the actions of four bots of a name, ten deals of each environment of a game."""
    bot, digest = make_bot(name), hashlib.sha256()
    for variant in find_game(game).variants:
        if variant in ("custom", "match"):
            continue
        setup = setup_for(f"{game}/{variant}-v0")
        for number in range(10):
            batch = Batch(setup, 1, autoreset="disabled")
            batch.buffers.tables["seed"], batch.buffers.tables["number"] = 1, number
            batch.reset()
            while batch.buffers.seats[0] >= 0:
                actions = batch.ask(bot, np.arange(1))
                digest.update(bytes(actions.astype(np.uint8)))
                batch.step(actions)
    return digest.hexdigest()[:16]


def test_greedy_is_the_newest_greedy() -> None:
    """When greedy moves on, greedy-v1 stays and this test goes."""
    assert WEIGHTS is V1


# ---------------------------------------------------------------------------- tables, registry


def test_chance_to_hold_none_of_some_cards_is_counted_right() -> None:
    for m, n, k in ((5, 2, 1), (6, 3, 2), (7, 7, 3), (4, 0, 2), (6, 2, 6)):
        hands = list(itertools.combinations(range(m), n))
        none = sum(1 for hand in hands if not set(hand) & set(range(k)))
        assert NONE_OF.reshape(-1, 14, 14)[m, n, k] == pytest.approx(none / len(hands))


def test_weights_have_a_row_a_contract_and_a_column_a_weight() -> None:
    assert WEIGHTS.shape == START.shape == (len(ROW_NAMES), len(WEIGHT_NAMES))
    assert ROW_NAMES[: len(CONTRACTS)] == tuple(CONTRACTS)


def test_bot_is_in_the_registry_and_pickles() -> None:
    assert make_bot("greedy").name == "greedy"
    table = Table("hearts", seed=9)
    view = View(GAME, table.setup.config, table.view(table.seat), 0)
    assert pickle.loads(pickle.dumps(BOT)).act(view) == BOT.act(view)
    assert BOT.jit(GAME) is BOT.jit(bolola_setup("trump").game)


def test_wrong_use_is_an_error_that_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match=r"bot 'greedy' takes no argument, got 'fast'"):
        make_bot("greedy:fast")
    with pytest.raises(ValueError, match=r"bot 'greedy' does not play whist; it plays bolola"):
        greedy.greedy_jit(replace(GAME, name="whist"))


@pytest.mark.parametrize("name", ["bolola", "tarot"])
def test_what_greedy_compiles_is_watched(name: str) -> None:
    """Kernels that are kept on disk are stamped with these sources: one of them is the table of chances, which becomes part of the code."""
    assert Path(chances.__file__) in Path(greedy.greedy_jit(find_game(name)).folder).rglob("*.py")
