"""French Tarot for four players, one deal: bidding, chien, declarations, play and settlement.

The PettingZoo environment, every seat played by the caller::

    import tarot_env

    env = tarot_env.env()
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
        else:
            action = env.action_space(agent).sample(observation["action_mask"])
        env.step(action)

The Gymnasium environment of one learner, with bots in the other seats; importing this package registers the id::

    import gymnasium

    env = gymnasium.make("tarot/deal-v0", opponents="random", seat=0)
    envs = gymnasium.make_vec("tarot/deal-v0", num_envs=64)

Many tables for self-play: ``tarot_env.vector_env(num_envs=1024)``. To train the play alone, start every deal with the first card:
``tarot_env.env(start="play", contract="garde")``.

Where a piece of the observation lies: ``tarot_env.LAYOUT.slice("hand")``.
"""

from __future__ import annotations

from tarot_env.contracts import CONTRACTS
from tarot_env.game import GAME
from tarot_env.game import setup as make_setup
from tarot_env.observe import LAYOUT, STATE_LAYOUT
from trick_core.api import interfaces
from trick_core.register import register_environments

__all__ = [
    "CONTRACTS",
    "GAME",
    "LAYOUT",
    "STATE_LAYOUT",
    "env",
    "make_setup",
    "raw_env",
    "single_env",
    "single_vector_env",
    "vector_env",
]

env, raw_env, vector_env, single_env, single_vector_env = interfaces(GAME, __name__)
register_environments(GAME, __name__)
