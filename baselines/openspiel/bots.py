"""Bots of this library in OpenSpiel, and agents of OpenSpiel as bots of this library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines.extras import needs
from baselines.openspiel.game import TrickState
from trick_core.bots import Bot, View, as_bot
from trick_core.game import NUM_SEATS, check_seat
from trick_core.jit import copy_records

with needs("openspiel"):
    import pyspiel


class BotPlayer(pyspiel.Bot):  # type: ignore[misc]
    """A bot of this library at one seat, for OpenSpiel's tools.

    Args:
        bot: What :func:`trick_core.bots.as_bot` takes.
        player: The seat.
        seed: Of the bot's random words.
    """

    def __init__(self, bot: Any, player: int, seed: int = 0) -> None:
        super().__init__()
        self._bot, self._player = as_bot(bot), check_seat("player", player)
        self._rng = np.random.default_rng(seed)

    def player_id(self) -> int:
        return self._player

    def restart_at(self, state: TrickState) -> None:
        pass  # a bot keeps nothing

    def step(self, state: TrickState) -> int:
        """The bot's action in a state in which it is on turn.

        Raises:
            ValueError: It is not, or the action is not legal.
        """
        table = state.table
        if table.player != self._player:
            raise ValueError(
                f"bot {self._bot.name!r} plays seat {self._player}, not {table.player}"
            )
        record = copy_records(table.states) if self._bot.sees_all else table.view(self._player)
        word = int(self._rng.integers(2**64, dtype=np.uint64))
        rules = table.rules
        action = self._bot.act(View(rules.game, rules.setup.config, record, word))
        if action not in (legal := table.legal()):
            raise ValueError(
                f"bot {self._bot.name!r} at seat {self._player} chose {action!r}; legal are {legal}"
            )
        return int(action)


class AgentBot(Bot):
    """An RL agent of OpenSpiel (``rl_agent.AbstractAgent``) as a bot of this library, for evaluation on duplicate deals.

    It must have learned from observations (``rl_environment.ObservationType.OBSERVATION``): a bot's view holds no history.

    Args:
        agents: One agent for all seats, or four.
        name: What reports call it.
    """

    def __init__(self, agents: Any, name: str = "openspiel") -> None:
        self.name = name
        self._agents = list(agents) if isinstance(agents, Sequence) else [agents] * NUM_SEATS
        if len(self._agents) != NUM_SEATS:
            raise ValueError(f"agents: expected one or {NUM_SEATS}, got {len(self._agents)}")

    def act(self, view: View) -> int:
        from open_spiel.python import rl_environment

        agent = self._agents[view.seat]
        size = view.game.observed(len(view.config))
        seen = view["observation"][:size].astype(np.float32).tolist()
        step = rl_environment.TimeStep(
            # Whichever seat the agent was trained for, it finds itself on turn.
            observations={
                "info_state": [seen] * NUM_SEATS,
                "legal_actions": [view.legal] * NUM_SEATS,
                "current_player": agent.player_id,
                "serialized_state": [],
            },
            rewards=[0.0] * NUM_SEATS,
            discounts=[1.0] * NUM_SEATS,
            step_type=rl_environment.StepType.MID,
        )
        return int(agent.step(step, is_evaluation=True).action)
