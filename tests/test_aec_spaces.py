"""The turn-based environment's spaces, masks and states, and PettingZoo's own tests."""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space

import bolola_env
from bolola_env.contracts import CONTRACTS
from tests.aec_play import HOUSE_RULE, VARIANTS, at_random, finish, hands, lowest
from tests.helpers import fewer
from tests.reference.bolola import MATCH_ORDER, Deal
from trick_core.game import AGENTS

#: What PettingZoo 1.27 says about every environment with a Dict observation (A18).
UNAVOIDABLE = ("Observation is not a NumPy array", "Observation space for each agent probably")


@pytest.mark.parametrize("make", [bolola_env.env, bolola_env.raw_env])
@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_pettingzoo_api_test(make: Any, contract: Any) -> None:
    """A18, A23: it passes, and warns of nothing but the Dict observation and the key that it makes up."""
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        api_test(make(contract), num_cycles=fewer(160, 20))
    others = [str(w.message) for w in caught if not str(w.message).startswith(UNAVOIDABLE)]
    assert others == ["reset: the option 'options' is ignored; known are deal, starter, trump"]


@pytest.mark.parametrize("make", [bolola_env.env, bolola_env.raw_env])
@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_pettingzoo_seed_test(make: Any, contract: Any) -> None:
    seed_test(lambda: make(contract), num_cycles=fewer(160, 5))


@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_pettingzoo_state_test(contract: Any) -> None:
    """A25: unmasked actions, and ``state`` when the last agent is gone."""
    env = bolola_env.env(contract)
    check_state_space(env)
    for seed in range(fewer(20, 2)):
        check_state(env, num_cycles=160, seed=seed)
        assert env.agents == []


@pytest.mark.parametrize("contract", ["hearts", "trump", "match", HOUSE_RULE], ids=str)
def test_pettingzoo_render_test(contract: Any) -> None:
    """A26: every mode of the metadata, built with ``human`` first."""
    with redirect_stdout(io.StringIO()) as printed:
        render_test(lambda **options: bolola_env.env(contract, **options))
    assert "player_0" in printed.getvalue()


@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_every_observation_and_state_lies_in_its_space(contract: Any) -> None:
    """A09, A12, A15, A17: for every agent, on turn or not, at every step and after the end."""
    env = bolola_env.env(contract)
    env.reset(seed=3)
    policy = at_random(3)
    while True:
        for agent in AGENTS:
            space, observation = env.observation_space(agent), env.observe(agent)
            assert space.contains(observation)
            for key in ("observation", "action_mask"):
                assert observation[key].dtype == space[key].dtype == np.int8
            assert observation["action_mask"].shape == (env.action_space(agent).n,) == (56,)
        assert env.state_space.contains(env.state())
        if not env.agents:
            break
        live = not any(env.terminations.values())
        env.step(policy(env.last()[0]) if live else None)


def test_spaces_are_equal_for_all_agents_and_contracts() -> None:
    """A16, A17: methods that return the same object at each call, one flat Box, no warning."""
    first = bolola_env.env("no_tricks")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for contract in VARIANTS:
            env = bolola_env.env(contract)
            for agent in AGENTS:
                space = env.observation_space(agent)
                assert space is env.observation_space(agent)
                assert env.action_space(agent) is env.action_space(agent)
                assert space == first.observation_space("player_0")
                assert env.action_space(agent) == first.action_space("player_0")
                assert type(space["observation"]) is spaces.Box
                assert space["observation"].shape == (env.setup.game.layout.size,)
            assert len({id(env.action_space(agent)) for agent in AGENTS}) == 4
            assert env.state_space == first.state_space
    for method in (first.observation_space, first.action_space):
        with pytest.raises(ValueError, match="agent: expected one of player_0"):
            method("player_4")


@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_the_mask_after_reset_is_what_the_rules_say(contract: Any) -> None:
    """A08: against the plain reference engine."""
    _masks_after_reset(contract, fewer(150, 5))


@pytest.mark.long
@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_the_mask_after_a_thousand_resets_is_what_the_rules_say(contract: Any) -> None:
    """A08 at full length."""
    _masks_after_reset(contract, fewer(1000, 5))


def _masks_after_reset(contract: Any, seeds: int) -> None:
    from tests.helpers import as_row

    env = bolola_env.env(contract)
    row = contract if contract in CONTRACTS else MATCH_ORDER[0]
    if not isinstance(contract, str):
        row = as_row(contract)
    actions = env.setup.game.actions
    for seed in range(seeds):
        env.reset(seed=seed)
        deal = Deal(row, hands(env), AGENTS.index(env.agent_selection))
        mask = env.observe(env.agent_selection)["action_mask"]
        assert [actions[i] for i in np.flatnonzero(mask)] == deal.legal(), f"seed {seed}"


@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_sampling_with_the_mask_is_legal_at_every_decision(contract: Any) -> None:
    """A10: ``action_space(agent).sample(mask)``."""
    _sampled_games(contract, fewer(10, 1))


@pytest.mark.long
@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_sampling_with_the_mask_is_legal_in_five_hundred_games(contract: Any) -> None:
    """A10 at full length."""
    _sampled_games(contract, fewer(500, 1))


def _sampled_games(contract: Any, games: int) -> None:
    env = bolola_env.env(contract, illegal_action="raise")
    for seed in range(games):
        env.reset(seed=seed)
        for agent in AGENTS:
            env.action_space(agent).seed(seed)
        for agent in env.agent_iter():
            observation, _, termination, _, _ = env.last()
            mask = observation["action_mask"]
            env.step(None if termination else env.action_space(agent).sample(mask))


def test_relative_views_turn_with_the_table() -> None:
    """A54: all hands and the leader one seat further on: the same observation for the seat that got the hand."""
    for contract in VARIANTS:
        env, turned = bolola_env.env(contract), bolola_env.env(contract)
        env.reset(seed=14)
        # The match's later deals come from the seed, so only as far as the first deal goes here.
        dealt = hands(env)
        starter = AGENTS.index(env.agent_selection)
        env.reset(options={"deal": dealt, "starter": starter})
        turned.reset(options={"deal": dealt[3:] + dealt[:3], "starter": (starter + 1) % 4})
        policy = at_random(14)
        for _ in range(51):
            for seat in range(4):
                own = env.observe(AGENTS[seat])
                other = turned.observe(AGENTS[(seat + 1) % 4])
                assert (own["observation"] == other["observation"]).all()
                assert (own["action_mask"] == other["action_mask"]).all()
            action = policy(env.last()[0])
            env.step(action)
            turned.step(action)
            assert list(env.rewards.values()) == [
                turned.rewards[a] for a in (*AGENTS[1:], "player_0")
            ]


def test_the_state_shows_all_hands_at_every_moment() -> None:
    env = bolola_env.env("jacks_kings")
    env.reset(seed=2)
    layout = env.setup.game.state_layout
    assert env.state().dtype == np.int8
    while env.agents:
        held = layout.read(env.state(), "hands")
        bits = env.states[0]["hands"].tolist()
        assert held.tolist() == [[b >> card & 1 for card in range(52)] for b in bits]
        env.step(None if any(env.terminations.values()) else lowest(env.last()[0]))


def test_rendering_needs_a_mode_and_opens_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """A44: with no mode it warns, returns None and prints nothing; ``human`` prints by itself."""
    env = bolola_env.env("hearts")
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render"):
        assert env.render() is None
    assert capsys.readouterr().out == ""
    ansi = bolola_env.env("hearts", render_mode="ansi")
    ansi.reset(seed=1)
    text = ansi.render()
    assert text and capsys.readouterr().out == ""
    human = bolola_env.env("hearts", render_mode="human")
    human.reset(seed=1)
    assert capsys.readouterr().out.rstrip("\n") == text.rstrip("\n")
    human.step(lowest(human.last()[0]))
    ansi.step(lowest(ansi.last()[0]))
    assert capsys.readouterr().out.rstrip("\n") == ansi.render().rstrip("\n")
    with pytest.raises(ValueError, match="render_mode: expected 'human', 'ansi' or None; got 'rgb"):
        bolola_env.env("hearts", render_mode="rgb_array")
    finish(human)
    human.close()
    human.close()
