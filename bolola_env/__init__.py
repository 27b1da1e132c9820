"""Bolola: nine contracts of a four-player trick-taking game, and the match of twelve deals.

The PettingZoo environment, every seat played by the caller::

    import bolola_env

    env = bolola_env.env("hearts")
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
        else:
            action = env.action_space(agent).sample(observation["action_mask"])
        env.step(action)

The Gymnasium environment of one learner, with bots in the other seats; importing this package registers the ids
(``bolola/hearts-v0``, ``bolola/match-v0``, ...; ``bolola/custom-v0`` takes ``contract=row``)::

    import gymnasium

    env = gymnasium.make("bolola/hearts-v0", opponents="random", seat=0)
    envs = gymnasium.make_vec("bolola/hearts-v0", num_envs=64)

Many tables for self-play: ``bolola_env.vector_env("hearts", num_envs=1024)``. A contract of one's own is a row::

    row = bolola_env.Contract(
        name="american", card_points={"H": -1, "QS": -13}, locked_suit="H"
    )
    env = bolola_env.env(row)

Where a piece of the observation lies: ``bolola_env.LAYOUT.slice("hand")``.
"""

from __future__ import annotations

from bolola_env.contracts import CONTRACTS, MATCH_ORDER, Contract
from bolola_env.game import GAME
from bolola_env.game import setup as make_setup
from bolola_env.observe import LAYOUT, STATE_LAYOUT
from trick_core.api import interfaces
from trick_core.register import register_environments

__all__ = [
    "CONTRACTS",
    "GAME",
    "LAYOUT",
    "MATCH_ORDER",
    "STATE_LAYOUT",
    "Contract",
    "env",
    "make_setup",
    "raw_env",
    "single_env",
    "single_vector_env",
    "vector_env",
]

env, raw_env, vector_env, single_env, single_vector_env = interfaces(GAME, __name__)
register_environments(GAME, __name__)
