"""The turn-based environment: the loop, rewards, flags, and the checks of PettingZoo's wrappers."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Discrete
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

import bolola_env
from bolola_env.contracts import CONTRACTS
from tests.aec_play import HOUSE_RULE, VARIANTS, at_random, finish, lowest, moment, play, trace
from tests.helpers import fewer
from trick_core.game import AGENTS

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases" / "bolola.jsonl").read_text().splitlines()
]
TABLES = ("rewards", "_cumulative_rewards", "terminations", "truncations", "infos")


def wrapped(**options: Any) -> Any:
    """The environment under PettingZoo's own wrappers: what ``env`` has to do as they do."""
    raw = bolola_env.raw_env("hearts", **options)
    illegal = TerminateIllegalWrapper(raw, illegal_reward=raw.setup.illegal_reward)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(illegal))


def both(**options: Any) -> tuple[Any, Any]:
    return bolola_env.env("hearts", **options), wrapped(**options)


# ------------------------------------------------------------------ known games


@pytest.mark.parametrize("contract", CONTRACTS)
def test_known_games_turn_by_turn(contract: str) -> None:
    """Seat, legal actions and points at every step of games with known right answers."""
    env = bolola_env.env(contract)
    actions = env.setup.game.actions
    for case in (case for case in CASES if case["contract"] == contract):
        env.reset(seed=0, options={"deal": case["hands"], "starter": case["starter"]})
        for number, (seat, legal, action, points) in enumerate(case["steps"], 1):
            where = f"{contract}, step {number}"
            assert env.agent_selection == AGENTS[seat], where
            mask = env.last()[0]["action_mask"]
            assert [actions[i] for i in np.flatnonzero(mask)] == legal, where
            env.step(env.setup.game.action_id(action))
            assert list(env.rewards.values()) == points, where
        assert all(env.terminations.values())
        assert list(finish(env).values()) == [float(total) for total in _owed(case)]


def _owed(case: dict[str, Any]) -> list[float]:
    """What each seat has won since its own last action, which is what ``last`` still owes it."""
    owed = [0.0] * 4
    for seat, _, _, points in case["steps"]:
        owed[seat] = 0.0
        owed = [a + b for a, b in zip(owed, points, strict=True)]
    return owed


# ------------------------------------------------------------------ rewards, flags, dead agents


@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_what_last_returns_sums_to_the_final_score(contract: Any) -> None:
    """A01: for all four agents, the three who did not play the last card among them."""
    env = bolola_env.env(contract)
    for seed in range(fewer(30, 1)):
        env.reset(seed=seed)
        totals = finish(env, at_random(seed))
        record = env.states[0]
        score = np.asarray(record["scores"]) + np.asarray(record["points"])
        assert list(totals.values()) == score.tolist()
        assert any(totals.values())


@pytest.mark.parametrize("contract", ["hearts", "trump", "match", HOUSE_RULE], ids=str)
def test_an_episode_pays_the_same_in_every_reward_mode(contract: Any) -> None:
    totals = []
    for reward in ("points", "final", "shaped"):
        env = bolola_env.env(contract, reward=reward, reward_scale=0.5)
        env.reset(seed=3)
        paid: list[list[float]] = []
        policy = at_random(3)
        while not any(env.terminations.values()):
            env.step(policy(env.observe(env.agent_selection)))
            paid.append(list(env.rewards.values()))
        totals.append([sum(column) for column in zip(*paid, strict=True)])
        if reward == "final":
            assert not any(any(step) for step in paid[:-1])
    assert totals[0] == totals[1] == pytest.approx(totals[2])


def test_zero_sum_rewards_add_to_nothing_at_every_step() -> None:
    env = bolola_env.env("queens", zero_sum=True)
    env.reset(seed=5)
    paid = 0.0
    while not any(env.terminations.values()):
        env.step(lowest(env.observe(env.agent_selection)))
        assert sum(env.rewards.values()) == 0.0
        paid += sum(abs(reward) for reward in env.rewards.values())
    assert paid == 400 * (0.75 + 3 * 0.25)


@pytest.mark.parametrize("contract", ["hearts", "match"])
def test_dead_steps_remove_one_agent_each(contract: str) -> None:
    """A02, A05: all terminate on the step that ends the episode; four None steps empty ``agents``."""
    env = bolola_env.env(contract)
    env.reset(seed=1)
    while not any(env.terminations.values()):
        assert env.agents == list(AGENTS)
        env.step(lowest(env.observe(env.agent_selection)))
    assert all(env.terminations.values()) and env.states[0]["seat"] == -1
    for left in (3, 2, 1, 0):
        gone = env.agent_selection
        env.step(None)
        assert len(env.agents) == left and gone not in env.agents
        for table in TABLES:
            assert list(getattr(env, table)) == env.agents
        assert all(type(reward) is float for reward in env.rewards.values())


def test_a_finished_agent_takes_only_none() -> None:
    """A03: ``step(0)`` is a ``ValueError`` that changes nothing."""
    env = bolola_env.env("queens")
    env.reset(seed=1)
    play(env, 52)
    before = moment(env)
    with pytest.raises(ValueError, match="only valid action is None"):
        env.step(0)
    with pytest.raises(AssertionError, match="action is not in action space"):
        env.step(99)
    assert moment(env) == before
    env.step(None)
    assert len(env.agents) == 3


def test_rewards_are_those_of_the_step_alone() -> None:
    """A04: 0 for cards in mid-trick; the mover's cumulative reward restarts before it is added to."""
    env = bolola_env.env("no_tricks")
    env.reset(seed=2)
    owed = dict.fromkeys(AGENTS, 0.0)
    for number in range(1, 53):
        mover = env.agent_selection
        env.step(lowest(env.observe(mover)))
        owed[mover] = 0.0
        if number % 4:
            assert env.rewards == dict.fromkeys(AGENTS, 0.0)
        else:
            assert sorted(env.rewards.values()) == [-50.0, 0.0, 0.0, 0.0]
        owed = {agent: owed[agent] + env.rewards[agent] for agent in AGENTS}
        assert env._cumulative_rewards == owed


@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_random_games_end_with_all_flags_set(contract: Any) -> None:
    """A06, A10, A14, A40: no error, never some agents dead and some alive, never an empty mask for a live one."""
    _random_games(contract, fewer(4 if contract == "match" else 40, 1))


@pytest.mark.long
@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_two_thousand_random_games_end_with_all_flags_set(contract: Any) -> None:
    """A06, A10, A14, A40 at full length: 2,000 games a contract."""
    _random_games(contract, fewer(200 if contract == "match" else 2000, 1))


def _random_games(contract: Any, games: int) -> None:
    env = bolola_env.env(contract, illegal_action="raise")
    env.reset(seed=11)
    for game in range(games):
        policy = at_random(game)
        steps = 0
        for agent in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            over = set(env.terminations.values())
            assert over == {termination} and truncation is False
            mask = observation["action_mask"]
            assert mask.dtype == np.int8 and mask.shape == (56,)
            if termination:
                assert not mask.any()
                env.step(None)
                continue
            assert mask.any(), f"{agent} has no legal action in game {game}"
            env.step(policy(observation))
            steps += 1
        assert env.agents == [] and steps >= 52
        env.reset()


def test_reset_makes_plain_tables_with_the_same_keys() -> None:
    """A07: right after ``reset`` everything exists as plain dict, list and str."""
    env = bolola_env.env("hearts")
    env.reset(seed=0)
    assert type(env.agents) is list and type(env.agent_selection) is str
    for table in TABLES:
        assert type(getattr(env, table)) is dict
        assert list(getattr(env, table)) == env.agents == env.possible_agents
    assert env.agents is not env.possible_agents


@pytest.mark.parametrize("contract", ["bolola", "match"])
def test_flags_and_rewards_are_python_values(contract: str) -> None:
    """A24: ``bool`` and ``float``, in the tables and in what ``last`` returns."""
    env = bolola_env.env(contract)
    env.reset(seed=4)
    for _ in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        assert type(reward) is float and type(termination) is bool and type(truncation) is bool
        env.step(None if termination else lowest(observation))
        for name, kind in (("terminations", bool), ("truncations", bool), ("rewards", float)):
            assert all(type(value) is kind for value in getattr(env, name).values())
        assert all(type(value) is float for value in env._cumulative_rewards.values())


# ------------------------------------------------------------------ illegal actions


def _illegal(env: Any) -> int:
    return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)[0])


@pytest.mark.parametrize("steps", [0, 1, 30, 51])
def test_an_illegal_action_ends_the_episode_at_the_offenders_cost(steps: int) -> None:
    env = bolola_env.env("hearts")
    env.reset(seed=6)
    play(env, steps)
    offender, history, owed = env.agent_selection, list(env.history), dict(env._cumulative_rewards)
    env.step(_illegal(env))
    assert env.rewards == {agent: -390.0 if agent == offender else 0.0 for agent in AGENTS}
    assert env._cumulative_rewards == {**owed, offender: -390.0}
    assert set(env.terminations.values()) == {True} and set(env.truncations.values()) == {False}
    assert env.history == history
    assert not any(env.observe(agent)["action_mask"].any() for agent in AGENTS)
    assert finish(env)[offender] == -390.0


def test_the_price_of_an_illegal_action_can_be_set() -> None:
    for options, price in (
        ({"illegal_reward": -7}, -7.0),
        ({"reward_scale": 0.1}, -39.0),
        ({"reward": "final", "zero_sum": True}, -390.0),
    ):
        env = bolola_env.env("hearts", **options)
        env.reset(seed=6)
        offender = env.agent_selection
        env.step(_illegal(env))
        assert env.rewards[offender] == pytest.approx(price)
        assert sum(env.rewards.values()) == pytest.approx(price)


def test_an_illegal_action_raises_where_that_is_asked_for() -> None:
    """The message names seat, action and the legal ones; nothing has changed, and play goes on."""
    env = bolola_env.env("hearts", illegal_action="raise")
    env.reset(seed=6, options={"deal": _deal_by_suit(), "starter": 1})
    env.step(env.setup.game.action_id("2D"))
    before = moment(env)
    with pytest.raises(
        ValueError, match=r"player_2 \(seat 2\) chose AS, which is not legal; legal are 2H, 3H"
    ):
        env.step(env.setup.game.action_id("AS"))
    assert moment(env) == before
    env.step(env.setup.game.action_id("2H"))


def _deal_by_suit() -> str:
    everything = "AKQJT98765432"
    return f"N:...{everything} ..{everything}. .{everything}.. {everything}..."


@pytest.mark.parametrize(
    "action", [-1, 56, 10**30, 0.0, "2C", None, True, False, np.True_, np.uint64(3), np.array([3])]
)
@pytest.mark.parametrize("make", [bolola_env.env, bolola_env.raw_env])
def test_an_action_outside_the_space_always_raises(make: Any, action: Any) -> None:
    if isinstance(action, np.uint64) and Discrete(56).contains(action):
        pytest.skip("this version of Gymnasium counts np.uint64 as inside the space")
    for policy in ("terminate", "raise"):
        env = make("hearts", illegal_action=policy)
        env.reset(seed=6)
        before = moment(env)
        with pytest.raises(AssertionError, match="action is not in action space: player_"):
            env.step(action)
        assert moment(env) == before


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.array])
def test_actions_may_be_numpy_integers(kind: Any) -> None:
    one, other = bolola_env.env("hearts"), bolola_env.env("hearts")
    one.reset(seed=6)
    other.reset(seed=6)
    action = lowest(one.last()[0])
    one.step(action)
    other.step(kind(action))
    assert moment(one) == moment(other)
    assert type(other.history[0]) is int


# ------------------------------------------------------------------ as PettingZoo's wrappers


@pytest.mark.parametrize(
    "call",
    [
        lambda env: env.step(0),
        lambda env: env.observe("player_0"),
        lambda env: env.state(),
        lambda env: env.render(),
        lambda env: env.agent_iter(),
    ],
)
def test_before_reset_the_errors_are_those_of_the_wrapper(call: Any) -> None:
    messages = []
    for env in both():
        with pytest.raises(AssertionError) as caught:
            call(env)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("name", ["agents", "num_agents", "agent_selection", *TABLES])
def test_the_tables_do_not_exist_before_reset(name: str) -> None:
    """A27: they raise the usual ``AttributeError``."""
    for env in both():
        with pytest.raises(AttributeError):
            getattr(env, name)


def test_what_consumers_read_before_reset_is_there() -> None:
    """A27: agents, spaces and metadata."""
    for env in (*both(), bolola_env.raw_env("hearts")):
        assert env.possible_agents == list(AGENTS) and env.max_num_agents == 4
        assert env.metadata["name"] == "bolola_hearts_v0" and str(env) == "bolola_hearts_v0"
        assert env.metadata["is_parallelizable"] is False
        assert env.action_space("player_3").n == 56


def test_a_loop_without_a_step_is_an_error_as_in_the_wrapper() -> None:
    messages = []
    for env in both():
        env.reset(seed=1)
        with pytest.raises(AssertionError) as caught:
            for _ in env.agent_iter(max_iter=9):
                pass
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    raw = bolola_env.raw_env("hearts")
    raw.reset(seed=1)
    assert len(list(raw.agent_iter(5))) == 5


def test_a_step_after_the_end_warns_as_in_the_wrapper(caplog: pytest.LogCaptureFixture) -> None:
    texts = []
    for env in both():
        env.reset(seed=1)
        finish(env)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            env.step(0)
        texts.append(caplog.messages)
    assert texts[0] == texts[1] and "step() called after" in texts[0][0]


@pytest.mark.parametrize("steps", [0, 17, 51, 52])
def test_the_whole_loop_goes_as_under_the_wrappers(steps: int) -> None:
    """Random play up to a step, then an illegal action: agents, rewards and flags as PettingZoo's wrappers have them.

    Truncations differ on purpose: an illegal action terminates.
    """
    seen = []
    for env in both():
        env.reset(seed=8)
        policy = at_random(8)
        log: list[Any] = []
        for agent in env.agent_iter():
            observation, reward, termination, _, info = env.last()
            log.append((agent, reward, termination, dict(info)))
            if termination:
                action = None
            elif len(env.unwrapped.history) == steps:
                action = _illegal(env)
            else:
                action = policy(observation)
            env.step(action)
            log.append((dict(env.rewards), dict(env._cumulative_rewards), list(env.agents)))
            log.append(dict(env.terminations))
        seen.append(log)
    assert seen[0] == seen[1]


def test_max_iter_bounds_the_loop() -> None:
    for env in both():
        env.reset(seed=1)
        steps = 0
        for _ in env.agent_iter(max_iter=7):
            env.step(lowest(env.last()[0]))
            steps += 1
        assert steps == 7


# ------------------------------------------------------------------ looking


@pytest.mark.parametrize("contract", ["trump", "match"])
def test_observe_shows_each_seat_its_own_view_and_changes_nothing(contract: str) -> None:
    """A28, A37: for every agent before, during and after the game, in any order."""
    looking, quiet = bolola_env.env(contract), bolola_env.env(contract)
    looking.reset(seed=9)
    quiet.reset(seed=9)
    layout = looking.setup.game.layout
    while looking.agents:
        one = [looking.observe(agent) for agent in AGENTS]
        other = [looking.observe(agent) for agent in reversed(AGENTS)][::-1]
        for seat in range(4):
            assert (one[seat]["observation"] == other[seat]["observation"]).all()
            assert (one[seat]["action_mask"] == other[seat]["action_mask"]).all()
            held = layout.read(one[seat]["observation"], "hand")[0]
            bits = int(looking.states[0]["hands"][seat])
            assert held.tolist() == [bits >> card & 1 for card in range(52)]
        live = not any(looking.terminations.values())
        action = at_random(len(looking.history))(looking.last()[0]) if live else None
        looking.step(action)
        quiet.step(action)
        assert looking.states.tobytes() == quiet.states.tobytes()
    assert [looking.observe(agent)["action_mask"].any() for agent in AGENTS] == [False] * 4


@pytest.mark.parametrize("contract", ["all_penalties", "match"])
def test_only_the_seat_on_turn_has_a_mask(contract: str) -> None:
    """A13: the others' is all zeros, so that no hand leaks."""
    env = bolola_env.env(contract)
    env.reset(seed=10)
    for agent in env.agent_iter(60 if contract == "match" else 52):
        for other in AGENTS:
            assert env.observe(other)["action_mask"].any() == (other == agent)
        env.step(lowest(env.last()[0]))


def test_observations_are_fresh_arrays() -> None:
    env = bolola_env.env("hearts")
    env.reset(seed=10)
    first = env.last()[0]
    kept = {key: value.copy() for key, value in first.items()}
    again = env.last()[0]
    again["observation"][:] = 1
    again["action_mask"][:] = 1
    env.step(lowest(first))
    for key in kept:
        assert (first[key] == kept[key]).all()
        assert first[key].flags.writeable and first[key].flags.c_contiguous
    with pytest.raises(ValueError, match="player_0, player_1, player_2, player_3; got 'north'"):
        env.observe("north")


@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_infos_hold_numbers_under_constant_keys(contract: Any) -> None:
    """A38: the seat as an integer, in the order of ``possible_agents``; TorchRL wants constant keys."""
    env = bolola_env.env(contract)
    env.reset(seed=10)
    assert [env.infos[agent]["seat"] for agent in env.possible_agents] == [0, 1, 2, 3]
    keys = set(env.infos["player_0"])
    for agent in env.agent_iter():
        observation, _, termination, _, info = env.last()
        assert info is env.infos[agent] and set(info) == keys
        assert type(info["seat"]) is int and info["seat"] == AGENTS.index(agent)
        env.step(None if termination else lowest(observation))


def test_raw_env_plays_as_env_does() -> None:
    one, other = bolola_env.env("trump"), bolola_env.raw_env("trump")
    one.reset(seed=12)
    other.reset(seed=12)
    assert trace(one, at_random(1)) == trace(other, at_random(1))
