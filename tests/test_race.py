"""The race between actions: who leads, and who is dropped."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from baselines.bots.inference import make_worlds
from baselines.bots.race import ROUND, add_world, enter, entrance, leader, make_race
from bolola_env import GAME
from tests.helpers import Table, distinct_ids, fewer
from trick_core.belief import view_of
from trick_core.game import setup_for
from trick_core.jit import JIT

SIX = [3, 7, 8, 20, 33, 51]


def race_of(
    actions: list[int], drop: float = 2.0, bonus: dict[int, float] | None = None, least: int = 0
) -> Any:
    """A race of these actions; ``bonus`` by action."""
    bonuses = np.zeros((2, GAME.num_actions))
    for action, value in (bonus or {}).items():
        bonuses[1, action] = value
    race = make_race(GAME, drop, bonuses, least)
    words = np.array([sum(1 << action for action in actions)], np.uint64)
    enter(words, np.int64(1), race)
    return race


def left(race: Any) -> list[int]:
    return race.actions[: race.tally["actions"][0]].tolist()  # type: ignore[no-any-return]


def feed(race: Any, values: np.ndarray[Any, Any]) -> None:
    """One world; ``values`` for SIX."""
    race.values[: len(left(race))] = [values[SIX.index(action)] for action in left(race)]
    add_world(race)


def survivors(worlds: np.ndarray[Any, Any], bonus: np.ndarray[Any, Any], drop: float) -> list[int]:
    """Places of those who are left of all columns, from the values themselves."""
    means = worlds.mean(axis=0) + bonus
    best = int(means.argmax())
    kept = []
    for a in range(worlds.shape[1]):
        differences = worlds[:, best] - worlds[:, a]
        error = differences.std(ddof=1) / len(worlds) ** 0.5
        alike = not differences.any()
        if a == best or not (alike or means[best] - means[a] > drop * error):
            kept.append(a)
    return kept


@pytest.mark.parametrize("seed", range(fewer(20, 3)))
def test_who_is_beaten(seed: int) -> None:
    """After each round, as computed from all values: worse for sure, or alike. Sums move along with those who are left."""
    rng = np.random.default_rng(seed)
    bonus = {action: float(rng.normal(0, 0.3)) for action in SIX}
    race = race_of(SIX, bonus=bonus)
    worlds = rng.normal(0, 3, (5 * ROUND, 1)) + rng.normal(0, 1, (5 * ROUND, 6))
    worlds += rng.normal(0, 0.4, 6)
    worlds[:, 4] = worlds[:, 1]  # two that are alike
    expected = list(range(6))
    for done, values in enumerate(worlds, 1):
        feed(race, values)
        if done % ROUND == 0:
            seen = worlds[:done, expected]
            added = np.array([bonus[SIX[place]] for place in expected])
            expected = [expected[a] for a in survivors(seen, added, 2.0)]
        assert left(race) == [SIX[place] for place in expected]
        means = worlds[:done, expected].mean(axis=0) + [bonus[SIX[a]] for a in expected]
        assert leader(race) == means.argmax()


def test_equals_keep_their_order() -> None:
    """The first of equals leads, and is the one that is left."""
    race = race_of(SIX)
    for _ in range(ROUND):
        assert leader(race) == 0
        feed(race, np.ones(6))
    assert left(race) == SIX[:1]


def test_a_bonus_counts_in_every_world() -> None:
    race = race_of(SIX, drop=1e9, bonus={20: 0.5})
    assert leader(race) == 0  # before the first world nobody is ahead
    values = np.array([0.0, 1.0, 0.0, 0.6, 0.0, 0.0])
    feed(race, values)
    assert SIX[leader(race)] == 20
    feed(race, values)
    assert SIX[leader(race)] == 20
    feed(race, np.array([0.0, 1.0, 0.0, -0.1, 0.0, 0.0]))
    assert SIX[leader(race)] == 7


@pytest.mark.parametrize("least", [0, 2 * ROUND, 2 * ROUND + 1])
def test_nobody_is_dropped_before_so_many_worlds(least: int) -> None:
    """Neither the beaten nor those that come out alike; then at the end of a round."""
    race = race_of(SIX, least=least)
    values = np.array([0.0, 5.0, 5.0, 1.0, 0.0, 0.0])
    end = max(ROUND, -(-least // ROUND) * ROUND)
    for world in range(1, end + 1):
        feed(race, values)
        assert left(race) == (SIX if world < end else SIX[1:2])


def entered(table: Table) -> set[int]:
    """Actions with which the seat on turn begins."""
    game, view = table.game, view_of(table.setup, table.states)
    race, work = make_race(game, 2.0, np.zeros((1, game.num_actions))), make_worlds(game)
    record, belief = view.record[0], work.belief[0]
    game.belief.prepare(view.config, record, np.int64(view.seat), belief)
    entrance(game)(view.config, record, np.int64(0), np.uint64(5), work.states[:1], belief, race)
    return set(left(race))


@pytest.mark.parametrize("env", ["bolola/hearts", "bolola/trump", "tarot/deal"])
def test_of_alike_cards_the_lowest_enters(env: str) -> None:
    setup, rng, fewer_than_legal = setup_for(env), random.Random(4), 0
    game = setup.game
    for number in range(fewer(30, 4)):
        table = Table(setup, number=number)
        table.random_play(rng, rng.randrange(44))
        if table.over:
            continue
        legal = {game.action_id(action) for action in table.legal()}
        alone = distinct_ids(game, table.config, table.states[0])
        seen = entered(table)
        # Where cards lie aside, the seat does not know which are alike: then more of them are tried.
        assert alone <= seen <= legal if game.belief.pile else seen == alone
        fewer_than_legal += len(seen) < len(legal)
    assert fewer_than_legal > 0 or not JIT


def test_touching_cards_enter_once() -> None:
    """The 9 and the 7 touch when the 8 lies among the tricks, not while it lies on the table."""
    deal = "N:J97.A65.K98.QT84 8642.KQ4.QT7.976 AT3.JT97.A652.53 KQ5.832.J43.AKJ2"
    table = Table("no_tricks", deal=deal, starter=1)
    table.play("8S 3S 5S")
    nine, seven = table.game.action_id("9S"), table.game.action_id("7S")
    assert {seven, nine} <= entered(table)
    table.play("JS")
    assert seven in entered(table) and nine not in entered(table)
