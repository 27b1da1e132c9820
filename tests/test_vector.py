"""The vector environment in which the caller plays every seat."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import cloudpickle
import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList
from hypothesis import given
from hypothesis import strategies as st

import tarot_env.game
from bolola_env.contracts import CONTRACTS
from bolola_env.game import GAME as BOLOLA
from bolola_env.game import setup as bolola
from tests.aec_play import HOUSE_RULE
from tests.helpers import fewer
from trick_core.aec import TrickAEC
from trick_core.bits import words_to_bits
from trick_core.game import AGENTS, Setup
from trick_core.vector import VectorEnv

CASES = Path(__file__).parent / "cases" / "bolola.jsonl"
DEAL = "N:AKQJ.432.T98.765 T98.AKQ.765.JT98 765.JT9.AKQJ.432 432.8765.432.AKQ"
OTHER_RULE = replace(HOUSE_RULE, name="other_rule", card_points=(-1,) * 52)
OTHER_DEAL = "N:432.8765.432.AKQ AKQJ.432.T98.765 T98.AKQ.765.JT98 765.JT9.AKQJ.432"

SETUPS: dict[str, Setup] = {
    **{name: bolola(name) for name in CONTRACTS},
    "match": bolola("match"),
    "house rule": bolola(HOUSE_RULE),
    "tarot": tarot_env.game.setup(),
}


def all_setups() -> Any:
    return pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS.keys())


def make(setup: Any = "hearts", num_envs: int = 3, **arguments: Any) -> VectorEnv:
    return VectorEnv(setup if isinstance(setup, Setup) else bolola(setup), num_envs, **arguments)


def same(one: Any, other: Any) -> bool:
    """Whether two nests of dicts, tuples and arrays are equal, dtypes included."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one.dtype == other.dtype and np.array_equal(one, other)


def moment(env: VectorEnv) -> Any:
    """Everything that could have changed."""
    snapshot = env.get_state()
    return {**snapshot.rows, "samples": snapshot.samples, "config": env._batch.config}


def play(env: VectorEnv, steps: int) -> list[Any]:
    """Results of steps with sampled actions."""
    return [copy.deepcopy(env.step(env.sample_actions())) for _ in range(steps)]


def to_the_end(env: VectorEnv) -> Any:
    """Play until a row ends; that step's result."""
    while True:
        result = env.step(env.sample_actions())
        if result[2].any():
            return result


# ------------------------------------------------------------------ the same game as elsewhere


@all_setups()
def test_rows_equal_turn_based_environments_seeded_one_apart(setup: Setup) -> None:
    """A22: row i is the environment seeded with s + i, through several deals; seeds, views, rewards, ends."""
    count = 3
    env = make(setup, count)
    tables = [TrickAEC(setup) for _ in range(count)]
    obs, infos = env.reset(seed=70)
    for i, table in enumerate(tables):
        table.reset(seed=70 + i)
    ends = 0
    for _ in range(fewer(1400 if setup.variant == "match" else 180, 60)):
        before = [table.agent_selection for table in tables]
        for i, agent in enumerate(before):
            expected = tables[i].observe(agent)
            assert infos["seat"][i] == AGENTS.index(agent)
            assert same(expected, {key: obs[key][i] for key in obs})
            assert np.array_equal(env.state()[i], tables[i].state())
            assert all(
                infos[name][i] == tables[i].infos[agent][name] for name in setup.game.info_names
            )
        actions = env.sample_actions()
        obs, rewards, terminations, truncations, infos = env.step(actions)
        assert not truncations.any()
        for i, table in enumerate(tables):
            table.step(int(actions[i]))
            assert rewards[i].tolist() == [table.rewards[agent] for agent in AGENTS]
            assert bool(terminations[i]) is all(table.terminations.values())
            if terminations[i]:
                ends += 1
                last = table.observe(before[i])
                assert infos["_final_obs"][i] and infos["_final_info"][i]
                assert same(last, {key: infos["final_obs"][key][i] for key in last})
                assert infos["final_info"]["seat"][i] == -1
                for name in setup.game.info_names:
                    assert infos["final_info"][name][i] == table.infos[before[i]][name]
                table.reset()
    assert ends >= fewer(count, 0)


def replay(games: list[dict[str, Any]]) -> None:
    """All games of one contract as rows of one batch, each with its own deal and starter."""
    env = make(games[0]["contract"], len(games), autoreset_mode=AutoresetMode.NEXT_STEP)
    options = {
        "deal": [game["hands"] for game in games],
        "starter": [game["starter"] for game in games],
    }
    obs, infos = env.reset(seed=0, options=options)
    total = np.zeros((len(games), 4))
    for k in range(max(len(game["steps"]) for game in games)):
        actions = np.zeros(len(games), np.int64)
        gains = np.zeros((len(games), 4))
        for i, game in enumerate(games):
            if k >= len(game["steps"]):
                continue
            seat, legal, action, gains[i] = game["steps"][k]
            assert infos["seat"][i] == seat
            mask = obs["action_mask"][i]
            assert [BOLOLA.actions[a] for a in np.flatnonzero(mask)] == legal
            actions[i] = BOLOLA.action_id(action)
        obs, rewards, terminations, _, infos = env.step(actions)
        assert np.array_equal(rewards, gains)
        total += rewards
        assert terminations.tolist() == [k + 1 == len(game["steps"]) for game in games]
    assert total.tolist() == [game["points"] for game in games]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_known_games_as_rows_of_one_batch(contract: str) -> None:
    """Games with known right answers: seat, all legal actions and points of every step."""
    games = [json.loads(line) for line in CASES.read_text().splitlines()]
    chosen = [game for game in games if game["contract"] == contract]
    assert len(chosen) == 20
    replay(chosen[: fewer(20, 2)])


def test_known_games_stay_apart_after_a_wrong_card() -> None:
    """The replay above does notice a wrong answer."""
    game = json.loads(CASES.read_text().splitlines()[0])
    game["steps"][3][3] = [0, 0, 0, -50]
    with pytest.raises(AssertionError):
        replay([game])


# ------------------------------------------------------------------ Gymnasium's interface


def test_attributes_that_gymnasium_expects() -> None:
    """C1, A42: spaces, metadata, no warning."""
    env = make(num_envs=5)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert env.num_envs == 5 and env.render_mode is None and env.spec is None and not env.closed
    assert env.single_action_space.n == 56
    assert env.action_space.shape == (5,)
    assert env.observation_space["observation"].shape == (5, BOLOLA.layout.size)
    assert env.unwrapped is env
    assert repr(env) == "VectorEnv(bolola/hearts-v0, num_envs=5)"


@pytest.mark.parametrize("form", ["bytes", "packed"])
@all_setups()
def test_what_comes_back_lies_in_the_spaces(setup: Setup, form: str) -> None:
    """A15: shapes and dtypes are the declared ones at every step, rewards float64, flags bool."""
    env = make(setup, 3, observation=form)
    obs, _ = env.reset(seed=4)
    for _ in range(fewer(100, 20)):
        assert env.observation_space.contains(obs)
        for i in range(3):
            assert env.single_observation_space.contains({key: obs[key][i] for key in obs})
        actions = env.sample_actions()
        assert env.action_space.contains(actions)
        obs, rewards, terminations, truncations, infos = env.step(actions)
        assert rewards.dtype == np.float64 and rewards.shape == (3, 4)
        for flags in (terminations, truncations, infos["_seat"]):
            assert flags.dtype == np.bool_ and flags.shape == (3,)
        assert infos["seat"].dtype == np.int64
        assert env.state_space.contains(env.state())


@pytest.mark.skipif(
    gymnasium.__version__ < "1.2",
    reason="Gymnasium's own wrapper cannot read nested infos before 1.2",
)
def test_infos_can_be_taken_apart_by_gymnasium() -> None:
    """Every key of the infos has its flags, so that Gymnasium's own wrapper makes one dict a row of them."""
    env = DictInfoToList(make(SETUPS["tarot"], 2))
    _, infos = env.reset(seed=1)
    names = {"seat", *SETUPS["tarot"].game.info_names}
    assert [set(info) for info in infos] == [names, names]
    ended = 0
    for _ in range(fewer(200, 20)):
        *_, terminations, _, infos = env.step(env.unwrapped.sample_actions())
        for i, info in enumerate(infos):
            extra = {"final_obs", "final_info"} if terminations[i] else set()
            assert set(info) == names | extra
        ended += terminations.sum()
    assert ended >= fewer(2, 0)


def test_packed_observations_are_the_same_bits() -> None:
    plain, packed = make("trump"), make("trump", observation="packed")
    size = BOLOLA.layout.size

    def agree(one: Any, other: Any) -> bool:
        bits = words_to_bits(other["observation"], size)
        return same(one, {"observation": bits, "action_mask": other["action_mask"]})

    assert agree(plain.reset(seed=5)[0], packed.reset(seed=5)[0])
    for one, other in zip(play(plain, 120), play(packed, 120), strict=True):
        assert agree(one[0], other[0]) and same(one[1:4], other[1:4])
        if one[2].any():
            rows = one[2]
            final = other[4]["final_obs"]
            bits = words_to_bits(final["observation"], size)
            assert np.array_equal(one[4]["final_obs"]["observation"][rows], bits[rows])


def test_same_step_shows_the_end_and_the_next_deal() -> None:
    """A42: final_obs is a dict of batched arrays, zero in rows that go on; the observation is of the next deal."""
    env = make("no_tricks", 2)
    env.reset(seed=9)
    # The rows fall out of step: the first begins its next deal while the second is in the middle of one.
    for _ in range(10):
        env.step(env.sample_actions())
    env.reset(options={"reset_mask": np.array([True, False])})
    obs, _, terminations, _, infos = to_the_end(env)
    assert terminations.tolist() == [False, True]
    assert infos["_final_obs"].tolist() == [False, True]
    final = infos["final_obs"]
    assert final["observation"].dtype == np.int8 and final["observation"].shape == (2, 2176)
    assert not final["observation"][0].any() and final["observation"][1].any()
    assert not final["action_mask"].any()
    assert BOLOLA.layout.read(final["observation"][1], "on_turn").sum() == 0
    assert infos["final_info"]["seat"][1] == -1
    assert BOLOLA.layout.read(obs["observation"][1], "trick_number")[0].argmax() == 0
    assert (infos["seat"] >= 0).all() and obs["action_mask"].any(axis=1).all()
    assert "final_obs" not in env.step(env.sample_actions())[4]
    terminations, _, infos = to_the_end(env)[2:]
    assert terminations.tolist() == [True, False]
    assert infos["final_obs"]["observation"].any(axis=1).tolist() == [True, False]


def test_next_step_shows_the_end_then_ignores_an_action() -> None:
    """C1: after the end a row has seat -1 and an empty mask; the next step begins its next deal, with rewards 0."""
    env = make("hearts", 2, autoreset_mode="NextStep")
    twin = make("hearts", 2)
    env.reset(seed=3), twin.reset(seed=3)
    obs, _, _, _, infos = to_the_end(env)
    following = to_the_end(twin)
    assert "final_obs" not in infos
    assert infos["seat"].tolist() == [-1, -1] and not obs["action_mask"].any()
    assert same(obs["observation"], following[4]["final_obs"]["observation"])
    assert env.sample_actions().tolist() == [0, 0]
    obs, rewards, terminations, _, infos = env.step(np.array([-7, 999]))
    assert not rewards.any() and not terminations.any()
    assert same(obs, following[0]) and infos["seat"].tolist() == following[4]["seat"].tolist()


def test_disabled_leaves_the_reset_to_the_caller() -> None:
    """C1: reset_mask begins the next deal of some rows; a step with an ended row is an error."""
    env = make("hearts", 3, autoreset_mode=AutoresetMode.DISABLED)
    twin = make("hearts", 3)
    env.reset(seed=3), twin.reset(seed=3)
    obs, _, terminations, _, infos = to_the_end(env)
    next_deals = to_the_end(twin)[0]
    assert terminations.all() and infos["seat"].tolist() == [-1] * 3
    options = {"reset_mask": np.array([True, False, True])}
    was = moment(env)
    again, infos = env.reset(options=options)
    assert "reset_mask" in options  # the caller's dict is the caller's
    assert infos["seat"][1] == -1 and (infos["seat"][[0, 2]] >= 0).all()
    assert np.array_equal(again["observation"][1], obs["observation"][1])
    for i in (0, 2):
        assert np.array_equal(again["observation"][i], next_deals["observation"][i])
    with pytest.raises(ResetNeeded, match="row 1 is over"):
        env.step(env.sample_actions())
    env.reset(options={"reset_mask": np.array([False, True, False])})
    assert not same(was, moment(env))
    env.step(env.sample_actions())


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        ([True, False, True], TypeError, "bool array"),
        (np.array([1, 0, 1]), TypeError, "int64"),
        (np.array([True, False]), ValueError, r"shape \(3,\)"),
        (np.zeros(3, bool), ValueError, "no row"),
    ],
)
def test_bad_reset_masks(mask: Any, error: Any, message: str) -> None:
    env = make()
    env.reset(seed=1)
    was = moment(env)
    with pytest.raises(error, match=message):
        env.reset(seed=8, options={"reset_mask": mask})
    assert same(was, moment(env))


def test_the_first_reset_is_of_all_rows() -> None:
    env = make()
    with pytest.raises(ResetNeeded, match="first reset"):
        env.reset(options={"reset_mask": np.array([True, False, True])})
    for call in (env.state, lambda: env.step(np.zeros(3, int))):
        with pytest.raises(ResetNeeded, match="reset"):
            call()


def test_render_and_close() -> None:
    """A44: one text a table; nothing printed; without a mode a warning and None."""
    env = make(num_envs=2, render_mode="ansi")
    env.reset(seed=1)
    texts = env.render()
    assert isinstance(texts, tuple) and len(texts) == 2 and all(isinstance(t, str) for t in texts)
    quiet = make()
    quiet.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode=None"):
        assert quiet.render() is None
    env.close()
    env.close()
    assert env.closed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs: expected a positive integer, got 0"),
        ({"num_envs": 2.0}, "num_envs"),
        ({"num_envs": True}, "num_envs"),
        ({"num_threads": 0}, "num_threads: expected a positive integer, got 0"),
        ({"num_threads": "2"}, "num_threads"),
        ({"observation": "bits"}, "observation: expected one of 'bytes', 'packed'; got 'bits'"),
        ({"copy": 1}, "copy"),
        ({"autoreset_mode": "same_step"}, "autoreset_mode: .*'SAME_STEP'"),
        ({"render_mode": "human"}, "render_mode"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**arguments)


# ------------------------------------------------------------------ seeds and deals


def test_equal_seeds_equal_deals_and_rows_differ() -> None:
    """A22."""
    env = make(num_envs=6)
    first, _ = env.reset(seed=5)
    play(env, 20)
    again, _ = env.reset(seed=5)
    assert same(first, again)
    assert len({row.tobytes() for row in first["observation"]}) == 6
    shifted, _ = env.reset(seed=6)
    assert np.array_equal(shifted["observation"][:5], first["observation"][1:])


def test_without_a_seed_the_rows_go_on_to_their_next_deal() -> None:
    """Deal k depends on seed and k alone, not on how earlier deals were played or whether they were finished."""
    env, other = make(), make()
    env.reset(seed=5), other.reset(seed=5)
    to_the_end(env)
    play(other, 7)
    second, _ = other.reset()
    third_by_play = to_the_end(env)[0]
    third, _ = other.reset()
    assert same(third, third_by_play)
    assert not same(second, third)


def test_seeds_may_be_given_by_the_row() -> None:
    """A22: a list of N seeds; None in it goes on to the row's next deal."""
    env, single = make(), make(num_envs=1)
    obs, _ = env.reset(seed=[11, 2**70, 11])
    rows = obs["observation"]
    assert np.array_equal(rows[0], rows[2]) and not np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[1], single.reset(seed=2**70)[0]["observation"][0])
    mixed, _ = env.reset(seed=[None, 11, np.int64(3)])
    assert np.array_equal(mixed["observation"][1], rows[0])
    single.reset(seed=11)
    assert np.array_equal(mixed["observation"][0], single.reset()[0]["observation"][0])


def test_seeds_wrap_around_at_the_top() -> None:
    """The largest seeds deal; beyond 64 bits a seed is folded, and the row after the last plain one is too."""
    env, single = make(num_envs=2), make(num_envs=1)
    obs, _ = env.reset(seed=2**64 - 1)
    for i in range(2):
        alone, _ = single.reset(seed=2**64 - 1 + i)
        assert np.array_equal(obs["observation"][i], alone["observation"][0])


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        (-1, "seed: expected a non-negative integer, got -1"),
        (True, "seed"),
        ("12", "seed"),
        (1.5, "seed"),
        ([1, 2], "expected 3 seeds, one a row, got 2"),
        ([1, 2, -3], "got -3"),
    ],
)
def test_bad_seeds(seed: Any, message: str) -> None:
    env = make()
    env.reset(seed=1)
    was = moment(env)
    with pytest.raises(ValueError, match=message):
        env.reset(seed=seed)
    assert same(was, moment(env))


def test_unseeded_environments_differ() -> None:
    one, other = make(), make()
    assert not same(one.reset()[0], other.reset()[0])


def test_partial_resets_reseed_only_their_rows() -> None:
    env, fresh = make(), make()
    env.reset(seed=5)
    play(env, 3)
    before = env.get_state()
    obs, _ = env.reset(seed=100, options={"reset_mask": np.array([False, True, False])})
    assert np.array_equal(obs["observation"][1], fresh.reset(seed=100)[0]["observation"][1])
    rows = env.get_state().rows
    for name in ("states", "tables", "obs", "mask"):
        assert np.array_equal(rows[name][[0, 2]], before.rows[name][[0, 2]])


def test_one_custom_deal_for_all_rows() -> None:
    """A50: the deal, starter and trump are as given; the deals after it are the seed's own."""
    env = make("trump", 2)
    env.reset(seed=8, options={"deal": DEAL, "starter": 3, "trump": "S"})
    twin = make("trump", 2)
    twin.reset(seed=8)
    states = env.get_state().rows["states"]
    assert [BOLOLA.deal_text(states, i) for i in range(2)] == [DEAL, DEAL]
    assert states["seat"].tolist() == [3, 3] and states["trump"].tolist() == [3, 3]
    assert same(env.reset()[0], twin.reset()[0])


def test_one_custom_deal_a_row() -> None:
    """Each of the options may be a list of N, None meaning "from the seed"."""
    env, twin = make(num_envs=4), make(num_envs=4)
    lists = BOLOLA.reset_config(env.setup, {"deal": OTHER_DEAL})["hands"][0]
    as_ids = [[card for card in range(52) if int(hand) >> card & 1] for hand in lists]
    env.reset(seed=1, options={"deal": [DEAL, as_ids, None, DEAL], "starter": [0, 2, None, 1]})
    twin.reset(seed=1)
    states, plain = (e.get_state().rows["states"] for e in (env, twin))
    texts = [BOLOLA.deal_text(states, i) for i in range(4)]
    assert texts == [DEAL, OTHER_DEAL, BOLOLA.deal_text(plain, 2), DEAL]
    assert states["seat"].tolist() == [0, 2, plain["seat"][2], 1]
    play(env, 60)  # through the end and into the next deals


def test_four_hands_in_an_environment_of_four_rows_are_one_deal() -> None:
    env = make(num_envs=4)
    hands = [sorted(range(13 * k, 13 * k + 13)) for k in range(4)]
    env.reset(seed=1, options={"deal": hands})
    states = env.get_state().rows["states"]
    assert len({BOLOLA.deal_text(states, i) for i in range(4)}) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deal": [DEAL, DEAL]}, "deal: expected one for all rows or 3, one a row; got 2"),
        ({"deal": [DEAL, DEAL, DEAL.replace("AKQJ.432", "AKQJ.433")]}, "row 2: deal: 3H is"),
        ({"starter": [0, 1, 4]}, "row 2: starter: expected a seat 0..3, got 4"),
        ({"deal": [DEAL, DEAL, DEAL], "starter": 7}, "starter: expected a seat"),
        ({"deal": DEAL[:-1]}, "deal"),
        ("deal", "options: expected a mapping"),
    ],
)
def test_bad_deals_leave_all_rows_alone(options: Any, message: str) -> None:
    """A50: the message names row and card; no row has begun anew."""
    env = make()
    env.reset(seed=1)
    was = moment(env)
    with pytest.raises(ValueError, match=message):
        env.reset(seed=2, options=options)
    assert same(was, moment(env))


def test_lists_by_the_row_are_for_single_deals() -> None:
    """In the match a list is the match's own deals, and other keys are for all rows."""
    env = make("match", 3)
    env.reset(seed=1, options={"deal": [DEAL, OTHER_DEAL]})
    assert BOLOLA.deal_text(env.get_state().rows["states"], 2) == DEAL
    with pytest.raises(ValueError, match="starter"):
        env.reset(options={"starter": [0, 1, 2]})


def test_rows_of_a_match_keep_their_custom_deals() -> None:
    """Rows that play on in a custom match would read the new deals; that is refused, all rows at once is not."""
    env = make("match", 2)
    env.reset(seed=1, options={"deal": [DEAL, OTHER_DEAL]})
    first = {"reset_mask": np.array([True, False])}
    env.reset(options={**first, "deal": [DEAL, OTHER_DEAL]})
    was = moment(env)
    with pytest.raises(ValueError, match="other rows"):
        env.reset(options={**first, "deal": [OTHER_DEAL, DEAL]})
    assert same(was, moment(env))
    env.reset(options={"deal": [OTHER_DEAL, DEAL]})
    while (env.get_state().rows["states"]["deal"] == 0).all():
        env.step(env.sample_actions())
    states = env.get_state().rows["states"]
    assert [BOLOLA.deal_text(states, i) for i in range(2)] == [DEAL, DEAL]


def test_unknown_options_are_ignored_with_one_warning() -> None:
    """A23."""
    env = make()
    with pytest.warns(UserWarning, match="'options' is ignored") as caught:
        env.reset(seed=0, options={"options": 1, "starter": [0, 1, 2]})
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.reset(seed=0, options={})


# ------------------------------------------------------------------ actions


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 0], r"actions: expected shape \(3,\), one a row; got \(2,\)"),
        (0, r"shape \(3,\)"),
        ([[0], [0], [0]], r"shape \(3,\)"),
        ([0.0, 1.0, 2.0], "expected integers, got float64"),
        ([True, True, True], "expected integers, got bool"),
        (["2C", "3C", "4C"], "expected integers"),
        (["L", 56, "L"], r"row 1, seat \d: action 56 is outside the action space 0..55"),
        (["L", "L", -1], r"row 2, seat \d: action -1 is outside"),
        ([2**64 - 1, "L", "L"], "row 0, seat .: action 18446744073709551615 is outside"),
    ],
)
def test_bad_actions_always_raise(actions: Any, message: str) -> None:
    """A message that says what was wrong and where; nothing has changed. L stands for a legal action."""
    env = make()
    env.reset(seed=1)
    if isinstance(actions, list) and "L" in actions:
        legal = env.sample_actions().tolist()
        actions = [own if a == "L" else a for a, own in zip(actions, legal, strict=True)]
        if max(actions) >= 2**63:
            actions = np.array(actions, np.uint64)
    was = moment(env)
    with pytest.raises(ValueError, match=message):
        env.step(actions)
    assert same(was, moment(env))


@pytest.mark.parametrize("kind", [list, tuple, np.int8, np.int32, np.uint8, np.uint64])
def test_actions_of_every_integer_kind(kind: Any) -> None:
    env, twin = make(), make()
    env.reset(seed=1), twin.reset(seed=1)
    for _ in range(60):
        actions = env.sample_actions()
        other = kind(actions.tolist()) if kind in (list, tuple) else actions.astype(kind)
        frozen = actions.copy()
        frozen.flags.writeable = False
        assert same(env.step(other), twin.step(frozen))


def test_an_illegal_action_ends_its_row_alone() -> None:
    """The offender gets the illegal reward and the others nothing; the other rows play on."""
    env, twin = make("hearts", 3), make("hearts", 3)
    env.reset(seed=1), twin.reset(seed=1)
    play(env, 5), play(twin, 5)
    actions = env.sample_actions()
    seats = env.get_state().rows["seats"]
    wrong = actions.copy()
    wrong[1] = int(np.flatnonzero(~env.action_masks()[1])[0])
    expected, got = twin.step(actions), env.step(wrong)
    assert got[2].tolist() == [False, True, False] and not got[3].any()
    penalty = env.setup.illegal_reward
    assert penalty == -13 * 30
    assert got[1][1].tolist() == [penalty if seat == seats[1] else 0 for seat in range(4)]
    for i in (0, 2):
        assert np.array_equal(got[0]["observation"][i], expected[0]["observation"][i])
        assert np.array_equal(got[1][i], expected[1][i])
    assert got[4]["_final_obs"].tolist() == [False, True, False]
    assert (got[4]["seat"] >= 0).all()


def test_an_illegal_action_raises_on_request_and_touches_no_row() -> None:
    """The message names row, seat, action and what is legal."""
    env = make(bolola("hearts", illegal_action="raise"), 3)
    env.reset(seed=1, options={"deal": [DEAL, DEAL, DEAL], "starter": [0, 1, 2]})
    was = moment(env)
    actions = env.sample_actions()
    actions[1] = BOLOLA.action_id("KS")
    was["samples"] = moment(env)["samples"]
    leads = ["8C", "9C", "TC", "JC", "5D", "6D", "7D", "8S", "9S", "TS"]  # hearts are locked
    legal = ", ".join(f"{BOLOLA.action_id(card)} ({card})" for card in leads)
    message = f"row 1, seat 1: action 50 (KS) is illegal; legal are {legal}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        env.step(actions)
    assert same(was, moment(env))


# ------------------------------------------------------------------ buffers and copies


def test_copies_are_the_callers() -> None:
    """With ``copy`` nothing that was handed out changes later, or changes the game when written to."""
    env, twin = make(), make()
    results = [env.reset(seed=1)]
    kept = [copy.deepcopy(results[0])]
    twin.reset(seed=1)
    for _ in range(110):
        actions = env.sample_actions()
        results.append(env.step(actions))
        kept.append(copy.deepcopy(results[-1]))
    assert all(map(same, results, kept))
    for _ in range(110):
        result = twin.step(twin.sample_actions())
        for array in (*result[0].values(), *result[1:4], *result[4].values()):
            if isinstance(array, np.ndarray):
                array.fill(1)
        twin.action_masks().fill(True)
    assert same(env.get_state().rows["states"], twin.get_state().rows["states"])


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
def test_live_buffers_show_the_same_game(mode: AutoresetMode) -> None:
    """``copy=False`` hands out the same arrays every time, with the same values in them."""
    env, live = make(autoreset_mode=mode), make(autoreset_mode=mode, copy=False)
    first = live.reset(seed=2)
    assert same(env.reset(seed=2), first)
    before = None
    for one in play(env, 120):
        result = live.step(live.sample_actions())
        ended = one[2]
        for infos in (one[4], result[4]):
            for key in ("final_obs", "final_info"):
                if key in infos:  # other rows mean nothing
                    infos[key] = {k: v[ended] for k, v in infos[key].items()}
        assert same(one, result)
        arrays = [*result[0].values(), *result[1:4], result[4]["seat"]]
        assert before is None or all(a is b for a, b in zip(arrays, before, strict=True))
        before = arrays
    assert first[0]["observation"] is before[0]
    result[4]["mine"] = 1  # the dicts are the caller's
    assert "mine" not in live.step(live.sample_actions())[4]


def test_masks_as_flags() -> None:
    """A33: masks of all rows in one bool array."""
    env = make()
    obs, _ = env.reset(seed=1)
    masks = env.action_masks()
    assert masks.dtype == np.bool_ and np.array_equal(masks, obs["action_mask"] != 0)


def duplicate_by_state(env: VectorEnv) -> VectorEnv:
    twin = VectorEnv(env.setup, env.num_envs, autoreset_mode=env.autoreset_mode)
    twin.set_state(pickle.loads(pickle.dumps(env.get_state())))
    return twin


@pytest.mark.parametrize(
    "duplicate",
    [
        pytest.param(lambda env: pickle.loads(pickle.dumps(env)), id="pickle"),
        pytest.param(lambda env: cloudpickle.loads(cloudpickle.dumps(env)), id="cloudpickle"),
        pytest.param(copy.deepcopy, id="deepcopy"),
        pytest.param(VectorEnv.clone, id="clone"),
        pytest.param(duplicate_by_state, id="state"),
    ],
)
@pytest.mark.parametrize("name", ["hearts", "match", "tarot"])
def test_duplicates_play_on_alike_and_apart(name: str, duplicate: Any) -> None:
    """A47, A58: in the middle of a custom deal, and through the deals after it."""
    env = make(SETUPS[name], 2)
    env.reset(seed=3, options={} if name == "tarot" else {"deal": DEAL, "starter": 2})
    play(env, 9)
    twin = duplicate(env)
    was = moment(twin)
    assert same(moment(env), was)
    results = play(env, fewer(150, 10))
    assert same(moment(twin), was)
    assert all(map(same, results, play(twin, fewer(150, 10))))
    assert not np.shares_memory(env._batch.buffers.states, twin._batch.buffers.states)


def test_duplicates_compile_nothing_anew() -> None:
    """Arrays that come back writable from a pickle, or are made for a custom deal, are no new type."""
    from trick_core.drivers import batch_drivers
    from trick_core.vector import vector_drivers

    env = make()
    env.reset(seed=3)
    play(env, 2)
    twin = pickle.loads(pickle.dumps(env))
    for each in (env, twin, twin.clone(), duplicate_by_state(env)):
        each.reset(options={"deal": DEAL})
        each.reset(options={"deal": [DEAL, None, DEAL]})
        play(each, 2)
        each.state()
    functions = [*batch_drivers(BOLOLA, (), False), *vector_drivers(BOLOLA)]
    assert [len(getattr(f, "signatures", [None])) for f in functions] == [1] * len(functions)


def test_a_snapshot_can_be_set_again_and_again() -> None:
    env = make()
    env.reset(seed=3)
    play(env, 9)
    snapshot = env.get_state()
    runs = []
    for _ in range(3):
        env.set_state(snapshot)
        runs.append(play(env, 60))
    assert all(map(same, runs[0], runs[1])) and all(map(same, runs[0], runs[2]))


def test_snapshots_of_something_else() -> None:
    env = make()
    env.reset(seed=3)
    was = moment(env)
    for other, expected, got in (
        (make("trump"), "the same options", "of bolola_trump_v0"),
        (make(num_envs=2), "num_envs=3", "with num_envs=2"),
        (make(observation="packed"), "observation=bytes", "with observation=packed"),
        (make(autoreset_mode="DISABLED"), "mode=SAME_STEP", "with autoreset_mode=DISABLED"),
    ):
        expected = f"set_state: expected a snapshot of bolola_hearts_v0 with .*{expected}.*{got}"
        with pytest.raises(ValueError, match=expected):
            env.set_state(other.get_state())
    with pytest.raises(TypeError, match="get_state"):
        env.set_state({})  # type: ignore[arg-type]
    assert same(was, moment(env))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({}, {"early_stop": True}, id="early_stop"),
        pytest.param({}, {"starter": 1}, id="starter"),
        pytest.param({"contract": "trump"}, {"contract": "trump", "trump": "H"}, id="trump"),
        pytest.param({"contract": HOUSE_RULE}, {"contract": OTHER_RULE}, id="rows"),
        pytest.param(
            {"contract": "match", "order": ["hearts", "trump"]},
            {"contract": "match", "order": ["trump", "hearts"]},
            id="order",
        ),
    ],
)
def test_snapshots_of_other_options(one: dict[str, Any], other: dict[str, Any]) -> None:
    """An environment plays by its own setup, whatever it is set to; reward options are not part of a state."""
    env, foreign = make(bolola(**one)), make(bolola(**other))
    env.reset(seed=3)
    foreign.reset(seed=3, options={"deal": DEAL})
    for target, source in ((env, foreign), (foreign, env)):
        was, in_force = moment(target), target._batch.config
        with pytest.raises(ValueError, match="with the same options; got one of other options"):
            target.set_state(source.get_state())
        assert same(was, moment(target)) and target._batch.config is in_force
    alike = make(bolola(**one, zero_sum=True))
    alike.set_state(pickle.loads(pickle.dumps(env.get_state())))
    assert same(moment(alike), moment(env))


@pytest.mark.parametrize("duplicate", [duplicate_by_state, VectorEnv.clone], ids=["state", "clone"])
@pytest.mark.parametrize("contract", ["hearts", "match"])
def test_custom_deals_are_no_other_setup(contract: str, duplicate: Any) -> None:
    """A duplicate in or after a custom deal takes custom deals as the original does."""
    rows = np.array([True, False, False])
    for options in ({}, {"deal": DEAL}, {"deal": DEAL, "starter": 2}):
        env = make(contract)
        env.reset(seed=3, options=options)
        twin = duplicate(env)
        assert same(moment(twin), moment(env))
        for each in (env, twin):  # a match goes on with the deals of its configuration
            again = options or {"deal": OTHER_DEAL}
            each.reset(options={**again, "reset_mask": rows})
        assert same(moment(twin), moment(env))
        assert all(map(same, play(env, 60), play(twin, 60)))


# ------------------------------------------------------------------ sampling


def test_samples_are_legal_and_uniform() -> None:
    """Each legal action has the same chance, by the chi-square statistic over many rows with one deal."""
    count = fewer(20000, 400)
    env = make(num_envs=count)
    env.reset(seed=1, options={"deal": DEAL, "starter": 0})
    legal = np.flatnonzero(env.action_masks()[0])
    seen = np.bincount(env.sample_actions(), minlength=56)
    assert seen.sum() == seen[legal].sum() == count
    expected = count / len(legal)
    chi_square = ((seen[legal] - expected) ** 2 / expected).sum()
    assert len(legal) == 10 and chi_square < 27.9  # 9 degrees of freedom, one in a thousand


def test_samples_depend_on_the_seed_alone_and_change_no_deal() -> None:
    env, twin = make(), make()
    env.reset(seed=1), twin.reset(seed=1)
    first = [env.sample_actions().tolist() for _ in range(5)]
    assert first == [twin.sample_actions().tolist() for _ in range(5)]
    assert len({tuple(actions) for actions in first}) > 1
    assert same(env.reset()[0], twin.reset()[0])
    assert env.sample_actions().tolist() == twin.sample_actions().tolist()
    env.reset(seed=1)
    assert env.sample_actions().tolist() == first[0]


# ------------------------------------------------------------------ rewards

OPTIONS = st.fixed_dictionaries(
    {"zero_sum": st.booleans(), "reward_scale": st.sampled_from([1.0, -0.5, 0.01, 3.0])}
)


@given(
    name=st.sampled_from(sorted(SETUPS)),
    seed=st.integers(0, 2**64 - 1),
    options=OPTIONS,
)
def test_the_three_modes_sum_to_the_same(name: str, seed: int, options: dict[str, Any]) -> None:
    """Sums over an episode are equal in the three modes; with zero_sum every step sums to 0."""
    plain = SETUPS[name]
    count = 3
    sums = {}
    for mode in ("points", "final", "shaped"):
        env = make(plain.changed(reward=mode, **options), count, autoreset_mode="Disabled")
        reference = make(plain, count, autoreset_mode="Disabled")
        env.reset(seed=seed), reference.reset(seed=seed)
        total, points = np.zeros((count, 4)), np.zeros((count, 4))
        live = np.ones(count, bool)
        for _ in itertools.count():
            actions = env.sample_actions()
            _, rewards, ended, _, _ = env.step(actions)
            _, gains, _, _, _ = reference.step(actions)
            total[live] += rewards[live]
            points[live] += gains[live]
            if mode == "final":
                assert not rewards[live & ~ended].any()
            if options["zero_sum"]:
                assert np.abs(rewards[live].sum(axis=1)).max() < 1e-9
            live &= ~ended
            if not live.any():
                break
            if ended.any():  # rows end apart in Tarot; the others play on
                for each in (env, reference):
                    each.reset(options={"reset_mask": ended})
        if options["zero_sum"]:
            points -= points.mean(axis=1, keepdims=True)
        assert np.allclose(total, points * options["reward_scale"])
        sums[mode] = total
    assert np.allclose(sums["points"], sums["final"]) and np.allclose(
        sums["points"], sums["shaped"]
    )


def test_shaping_pays_for_the_trick_as_it_lies() -> None:
    """B-2.1: the potential is what the trick on the table is worth, to whom it now belongs."""
    env = make(bolola("hearts", reward="shaped"), 1)
    env.reset(seed=1, options={"deal": DEAL, "starter": 1})
    assert env.step([BOLOLA.action_id("8C")])[1].tolist() == [[0, 0, 0, 0]]
    env.reset(seed=1, options={"deal": DEAL, "starter": 2})
    for card in ("7S", "2S", "JS"):
        rewards = env.step([BOLOLA.action_id(card)])[1]
        assert not rewards.any()
    env = make(bolola("no_tricks", reward="shaped"), 1)
    env.reset(seed=1, options={"deal": DEAL, "starter": 2})
    seen = [env.step([BOLOLA.action_id(card)])[1][0].tolist() for card in ("7S", "2S", "JS", "TS")]
    assert seen == [[0, 0, -50, 0], [0, 0, 0, 0], [-50, 0, 50, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_an_autoreset_mode_is_given_as_member_name_or_value(mode: AutoresetMode) -> None:
    for choice in (mode, mode.name, mode.value):
        assert make("hearts", autoreset_mode=choice).metadata["autoreset_mode"] is mode
    with pytest.raises(ValueError, match="'SAME_STEP'"):
        make("hearts", autoreset_mode="never")
