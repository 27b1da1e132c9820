"""Playing turn-based environments in tests: policies, and what a whole episode looked like."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from bolola_env.cards import CARD_NAMES
from bolola_env.contracts import CONTRACTS, Contract

#: A row that says something in every field.
HOUSE_RULE = Contract(
    name="house_rule",
    card_points={"QS": -13, "H": 1},
    trick_points=2,
    trick_number_points={13: 40},
    locked_suit="D",
    void_tiers=[["QS"], ["H"]],
    under_duty=["J"],
    trumps=True,
)

#: What ``bolola_env.env`` can be asked for.
VARIANTS: list[Any] = [*CONTRACTS, "match", HOUSE_RULE]

Policy = Callable[[dict[str, np.ndarray[Any, Any]]], int]


def lowest(observation: dict[str, np.ndarray[Any, Any]]) -> int:
    """The legal action with the lowest id."""
    return int(observation["action_mask"].argmax())


def at_random(seed: int) -> Policy:
    """A uniform legal action, from a generator of its own."""
    rng = random.Random(seed)

    def policy(observation: dict[str, np.ndarray[Any, Any]]) -> int:
        return int(rng.choice(observation["action_mask"].nonzero()[0]))

    return policy


def finish(env: Any, policy: Policy = lowest) -> dict[str, float]:
    """Play to the end with ``agent_iter``; per agent, the sum of the rewards that ``last`` returned."""
    totals = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        totals[agent] += reward
        env.step(None if termination or truncation else policy(observation))
    return totals


def play(env: Any, steps: int, policy: Policy = lowest) -> None:
    """Take that many actions, or fewer if the episode ends."""
    for _ in range(steps):
        if any(env.terminations.values()):
            return
        env.step(policy(env.observe(env.agent_selection)))


def trace(env: Any, policy: Policy = lowest, observe_all: bool = False) -> list[Any]:
    """Everything that an episode shows, from where it is to the last None step, as plain values."""
    seen: list[Any] = []
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        seen.append((agent, plain(observation), reward, termination, truncation, dict(info)))
        if observe_all:
            seen.append([plain(env.observe(other)) for other in env.possible_agents])
        action = None if termination or truncation else policy(observation)
        env.step(action)
        seen.append((action, dict(env.rewards), dict(env._cumulative_rewards), list(env.agents)))
    return seen


def plain(observation: dict[str, np.ndarray[Any, Any]]) -> dict[str, bytes]:
    return {key: value.tobytes() for key, value in observation.items()}


def hands(env: Any) -> list[list[str]]:
    """Cards held by the four seats."""
    held = env.states[0]["hands"].tolist()
    return [[CARD_NAMES[i] for i in range(52) if bits >> i & 1] for bits in held]


def moment(env: Any) -> tuple[Any, ...]:
    """All that a refused call must leave as it is."""
    return (
        env.states.tobytes(),
        list(env.history),
        env.episode_seed,
        env.episode_number,
        env.agent_selection,
        list(env.agents),
        dict(env.rewards),
        dict(env._cumulative_rewards),
        dict(env.terminations),
        dict(env.truncations),
        {agent: dict(info) for agent, info in env.infos.items()},
        [plain(env.observe(agent)) for agent in env.possible_agents],
    )
