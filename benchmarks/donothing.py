"""The yardstick of the turn-based loop: a PettingZoo environment that does nothing.

What ``agent_iter``, ``last`` and ``step`` cost by themselves, without wrappers and without a game. A figure for a real
environment is read as a fraction of this one's, measured in the same run.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv


class DoNothingAEC(AECEnv):  # type: ignore[misc]
    """Four agents act in turn; the observation is always the same object, and every reward is 0.

    Args:
        books: Clear and add up the rewards in every step, as PettingZoo's documentation writes an environment. False: not even
            that, which is the least that any code could do.
        length: Actions in an episode; as many as the game it is compared with takes.
        observation_size: D of the observation, as in the game it is compared with.
        num_actions: A of the mask.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "do_nothing_v0",
        "render_modes": [],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        length: int = 52,
        observation_size: int = 2176,
        num_actions: int = 56,
        *,
        books: bool = True,
    ) -> None:
        self.books = books
        self.length = length
        self.possible_agents = [f"player_{seat}" for seat in range(4)]
        self.render_mode = None
        self._space = spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (observation_size,), np.int8),
                "action_mask": spaces.Box(0, 1, (num_actions,), np.int8),
            }
        )
        self._actions = spaces.Discrete(num_actions)
        self._observation = {
            "observation": np.zeros(observation_size, np.int8),
            "action_mask": np.ones(num_actions, np.int8),
        }

    def observation_space(self, agent: str) -> spaces.Dict:
        """The same for all agents."""
        return self._space

    def action_space(self, agent: str) -> spaces.Discrete:
        """The same for all agents."""
        return self._actions

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin again."""
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._taken = 0

    def step(self, action: int | None) -> None:
        """Hand the turn on; after ``length`` actions all agents are terminated."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        if self.books:
            self._cumulative_rewards[agent] = 0.0
            self._clear_rewards()
        self._taken += 1
        self.agent_selection = self.possible_agents[self._taken & 3]
        if self.books:
            self._accumulate_rewards()
        if self._taken == self.length:
            self.terminations = dict.fromkeys(self.agents, True)
            self._deads_step_first()

    def observe(self, agent: str) -> dict[str, np.ndarray[Any, Any]]:
        """The one observation."""
        return self._observation

    def close(self) -> None:
        """Nothing to close."""
