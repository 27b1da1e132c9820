"""The bot ``oracle``: a cheat that sees all hands. An upper bound for players who do not, and a teacher; never a fair opponent.

It searches the true deal as a tree (:mod:`baselines.bots.tree`): its own actions, and by the setting ``others`` those of the others as
well, with playouts by a policy. The last tricks may be solved exactly.

* ``others=playout``: the other seats play as the playout policy does, and the search looks for the best answer to that. Since
  ``greedy`` draws nothing, it is a search for the best of all ways to play the hand against three of ``greedy``.
* ``others=search``: every seat chooses in the tree what is best for itself (max^n).

Its name in results says ``(sees all)``.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from baselines.bots.options import settings_from
from baselines.bots.search import check_integer, check_number, playout_policy
from baselines.bots.tree import NOW, OTHERS, ROOT, TreeBot, check_budget, only_choice, tree
from trick_core.bots import Bot
from trick_core.drivers import JitBot
from trick_core.game import INT32, Game, check_choice
from trick_core.jit import entry
from trick_core.rollouts import playout_label


@dataclass(frozen=True)
class Settings:
    """What may follow the bot's name: ``oracle:iterations=1000,others=search``.

    Attributes:
        iterations: Simulations for a decision, from 1.
        milliseconds: If above 0: instead of a number of simulations, as many as fit into this time. Then the same view need not get
            the same action again.
        others: ``"playout"`` or ``"search"``.
        explore: UCB's constant, in standard deviations of the points.
        exact: Tricks before the end from which on positions are solved; 0: none are.
        playout: Name of the bot that plays on; it needs a kernel.
        threads: Threads that share the rows of a batch.
    """

    iterations: int = 400
    milliseconds: float = 0.0
    others: str = "playout"
    explore: float = 0.5
    exact: int = 0
    playout: str = "greedy"
    threads: int = 1

    def __post_init__(self) -> None:
        check_budget("oracle", self.iterations, self.milliseconds, self.threads)
        check_choice("bot 'oracle': others", self.others, OTHERS)
        check_number("oracle", "explore", self.explore)
        if self.exact != 0:
            check_integer("oracle", "exact", self.exact, INT32)


@functools.cache
def _search(game: Game, policy: JitBot, solves: bool) -> Callable[..., Any]:
    """The search for one game and playout policy, as :class:`TreeBot` wants it."""
    parts = tree(game, policy, solves)
    plant, simulate, most_visited = parts.plant, parts.simulate, parts.most_visited
    settled = only_choice(game, solves)

    label = playout_label((policy,))
    kind = "exact" if solves else "played"
    folders = [str(game.folder), policy.folder, str(Path(__file__).parent)]

    @entry(None if label is None else f"{game.name}.oracle.{kind}.{label}", folders)
    def search(config, views, randoms, lo, hi, done, iterations, scratch, open_, actions):
        for i in range(lo, hi):
            deal = views[i].deal
            one = config[deal : deal + 1]
            seat = views[i].seat & 3
            if done == 0:
                scratch.states[ROOT] = views[i]
                scratch.states[ROOT].deal = 0
                actions[i] = settled(one, scratch)
                open_[i] = actions[i] < 0
                plant(seat, scratch)
            if not open_[i]:
                continue
            random = randoms[i]
            for _ in range(iterations):
                scratch.states[NOW] = scratch.states[ROOT]
                random = simulate(one, seat, np.int64(0), random, scratch)
            randoms[i] = random
            actions[i] = scratch.nodes[most_visited(scratch)].action

    return search


class Oracle(TreeBot):
    """The bot; see the module.

    Args:
        settings: Its settings.
        name: Its name in results, to which ``(sees all)`` is added.
    """

    sees_all = True

    def __init__(self, settings: Settings | None = None, name: str = "oracle") -> None:
        chosen = Settings() if settings is None else settings
        super().__init__(
            f"{name} (sees all)",
            iterations=chosen.iterations,
            milliseconds=chosen.milliseconds,
            threads=chosen.threads,
            explore=chosen.explore,
            searched=chosen.others == "search",
            exact=chosen.exact,
        )
        self.settings = chosen

    def search(self, game: Game) -> Callable[..., Any]:
        policy = playout_policy(self.name, game, self.settings.playout)
        return _search(game, policy, self.settings.exact > 0)


def make(argument: str | None = None) -> Bot:
    """The bot, for the registry; see :class:`Settings`."""
    name = "oracle" if argument is None else f"oracle:{argument}"
    return Oracle(settings_from("oracle", argument, Settings), name)
