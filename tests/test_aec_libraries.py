"""The turn-based environment under the libraries that take PettingZoo environments, where they are installed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import bolola_env
from tests.aec_play import at_random


@pytest.mark.parametrize("state", [False, True])
@pytest.mark.parametrize(("contract", "length"), [("hearts", 52), ("match", 628)])
def test_torchrl_plays_a_whole_episode(contract: str, length: int, state: bool) -> None:
    """C6: masks, rewards of every step for all agents, numeric infos, and the full state."""
    pytest.importorskip("torchrl", reason="TorchRL is not installed")
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchRL warns of every PettingZoo but 1.24.3
        raw = bolola_env.env(contract, illegal_action="raise")
        env = PettingZooWrapper(raw, use_mask=True, return_state=state)
        data = env.rollout(length + 10)
    assert data.batch_size == (length,) and bool(data["next", "done"][-1])
    for seat, agent in enumerate(raw.possible_agents):
        score = raw.states[0]["scores"][seat] + raw.states[0]["points"][seat]
        assert float(data["next", agent, "reward"].sum()) == score
        assert set(data["next", agent, "info", "seat"].flatten().tolist()) == {seat}


def test_tianshou_plays_whole_episodes() -> None:
    """C7: equal spaces, masks as lists, rewards in the order of the agents."""
    pytest.importorskip("tianshou", reason="Tianshou is not installed")
    from tianshou.env.pettingzoo_env import PettingZooEnv

    env = PettingZooEnv(bolola_env.env("hearts", illegal_action="raise"))
    for seed in range(5):
        observation, _ = env.reset(seed=seed)
        rewards, steps, over = np.zeros(4), 0, False
        while not over:
            action = at_random(steps)({"action_mask": np.array(observation["mask"])})
            observation, reward, terminated, truncated, _ = env.step(action)
            rewards, steps, over = rewards + reward, steps + 1, terminated or truncated
        assert steps == 52 and rewards.sum() == -390


def test_rllib_observations_lie_in_its_space() -> None:
    """A27, A35: the wrapper is built from an environment that was never reset; a Dict space over the four agents."""
    pytest.importorskip("ray.rllib", reason="RLlib is not installed")
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

    env = PettingZooEnv(bolola_env.env("hearts", illegal_action="raise"))
    for seed in range(20):
        seen: dict[str, Any]
        seen, _ = env.reset(seed=seed)
        over, totals = False, dict.fromkeys(env.env.possible_agents, 0.0)
        while not over:
            actions = {agent: at_random(seed)(view) for agent, view in seen.items()}
            seen, rewards, terminated, _, _ = env.step(actions)
            for agent, observation in seen.items():
                assert env.observation_space[agent].contains(observation)
                totals[agent] += rewards[agent]
            over = terminated["__all__"]
        assert sum(totals.values()) == -390
