"""The bot oracle: it sees all, says so, and loses nothing to the exact solution where it solves."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from baselines.bots.oracle import Oracle, Settings
from baselines.evaluate import evaluate
from baselines.grade import grade
from bolola_env.contracts import CONTRACTS
from tests.helpers import HOUSE_RULES, distinct_ids, fewer
from tests.positions import some, views_of
from trick_core.bots import make_bot
from trick_core.game import setup_for
from trick_core.jit import JIT

ENVS = [*(f"bolola/{name}" for name in CONTRACTS), "bolola/match", "tarot/deal"]
compiled = pytest.mark.skipif(not JIT, reason="plays hundreds of games: only compiled kernels can")


@pytest.mark.parametrize("env", ["bolola/hearts", "bolola/trump", "tarot/deal"])
def test_it_solves_the_last_tricks(env: str) -> None:
    """Never worse than the best action by the exact solution."""
    options: dict[str, Any] = {"start": "play"} if env == "tarot/deal" else {}
    bot = Oracle(Settings(iterations=fewer(20, 2), exact=3))
    result = grade(env, bot, fewer(6, 1), cards=3, seed=3, progress=False, **options)
    assert result.total.decisions > 0 and result.total.given_away.mean == 0.0


@compiled
@pytest.mark.parametrize("others", ["playout", "search"])
def test_it_beats_greedy_by_far(others: str) -> None:
    bot = Oracle(Settings(iterations=100, others=others))
    row = evaluate("bolola/all_penalties", [bot, "greedy"], deals=40).rows[0]
    assert row.overall.mean > 40


def test_its_name_says_that_it_sees_all() -> None:
    """In the rows of a result, whatever its settings."""
    policies = ["oracle:iterations=2", "random"]
    result = evaluate("bolola/queens", policies, deals=1)
    assert [row.policy for row in result.rows] == ["oracle:iterations=2 (sees all)", "random"]
    assert "(sees all)" in str(result)
    assert make_bot("oracle").sees_all and make_bot("oracle").name == "oracle (sees all)"


@pytest.mark.parametrize("env", ENVS)
def test_it_plays_whole_games(env: str) -> None:
    """An illegal action would raise."""
    if env == "bolola/match" and not JIT:
        pytest.skip("a match takes a minute without compiled kernels")
    deals = 1 if env == "bolola/match" else fewer(3, 1)
    evaluate(env, [f"oracle:iterations={fewer(10, 1)},others=search", "random"], deals=deals)


@pytest.mark.parametrize("row", HOUSE_RULES, ids=lambda row: row.name)
def test_it_plays_house_rules(row: Any) -> None:
    """Rule B-8.1."""
    policies = [f"oracle:iterations={fewer(10, 1)},exact=2", "greedy"]
    evaluate("bolola/custom", policies, deals=1, contract=row)


def full_views(env: str, count: int) -> Any:
    """Views that hide nothing, in the middle of random games."""
    return views_of(env, count, everything=True)


@pytest.mark.parametrize("env", ["bolola/hearts", "bolola/match", "tarot/deal"])
def test_a_choice_depends_on_its_own_row_alone(env: str) -> None:
    """Not on the batch, nor on the threads."""
    views = full_views(env, fewer(20, 3))
    bot = Oracle(Settings(iterations=fewer(30, 3)))
    chosen = bot.act_batch(views).tolist()
    assert bot.act_batch(views).tolist() == chosen
    assert [bot.act(views.view(i)) for i in range(len(chosen))] == chosen
    assert bot.act_batch(some(views, slice(1, 3))).tolist() == chosen[1:3]
    shared = Oracle(Settings(iterations=fewer(30, 3), threads=3))
    assert shared.act_batch(views).tolist() == chosen
    copied = pickle.loads(pickle.dumps(bot))
    assert copied.act_batch(views).tolist() == chosen


@pytest.mark.parametrize("env", ["bolola/hearts", "bolola/trump", "tarot/deal"])
def test_of_alike_cards_the_tree_tries_the_lowest(env: str) -> None:
    """The root's children are the legal actions, of cards that are alike in the deal one."""
    views, bot = full_views(env, fewer(40, 1)), Oracle(Settings(iterations=60))
    game, count, fewer_than_legal = views.game, len(views.records), 0
    plan = bot.plan(game)
    scratch = plan.make_scratch(np.zeros((count, game.num_actions)))
    open_, actions = np.zeros(count, np.bool_), np.zeros(count, np.int64)
    for i in range(count):
        randoms = views.randoms.copy()
        plan.search(views.config, views.records, randoms, i, i + 1, 0, 60, scratch, open_, actions)
        if not open_[i]:
            continue
        expected = distinct_ids(game, views.config, views.records[i])
        tried, child = set(), scratch.nodes[0]["child"]
        while child >= 0:
            tried.add(int(scratch.nodes[child]["action"]))
            child = scratch.nodes[child]["next"]
        assert tried == expected
        fewer_than_legal += len(expected) < len(game.legal_ids(views.records[i]))
    assert fewer_than_legal > 0 or not JIT


def test_it_does_not_play_from_a_view() -> None:
    """Hands that it cannot see it does not make up."""
    with pytest.raises(ValueError, match=r"oracle \(sees all\)': seat \d runs out of cards"):
        Oracle(Settings(iterations=5)).act_batch(views_of("bolola/hearts", 1))


def test_a_budget_in_time() -> None:
    views = full_views("bolola/hearts", 2)
    bot = Oracle(Settings(milliseconds=1.0))
    actions = bot.act_batch(views)
    legal = [setup_for("bolola/hearts").game.legal_ids(record) for record in views.records]
    assert all(action in each for action, each in zip(actions, legal, strict=True))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("iterations=0", "iterations: expected an integer from 1 on, got 0"),
        ("others=friends", "others: expected one of 'playout', 'search'; got 'friends'"),
        ("explore=-1", "explore: expected a number from 0 on"),
        ("exact=-1", "exact: expected an integer"),
        ("worlds=3", "iterations=400"),
        ("playout=nobody", "playout: no bot 'nobody'"),
    ],
)
def test_settings_out_of_range(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make_bot(f"oracle:{text}").act_batch(full_views("bolola/hearts", 1))


def test_solving_everything_is_exact_play() -> None:
    """With exact endings for all that is left, no simulation is made: the choice is the solver's."""
    from baselines.bots import exact

    setup = setup_for("bolola/queens")
    views = full_views("bolola/queens", fewer(30, 10))
    late = np.flatnonzero(views.records["trick_number"] >= 10)
    bot = Oracle(Settings(iterations=10**15, exact=3))
    chosen = bot.act_batch(some(views, late))
    np.testing.assert_array_equal(chosen, exact.solve(setup, views.records[late]).best)
