"""The bot ``ismcts``: information-set Monte Carlo tree search.

For every decision it draws worlds, full deals that agree with all that the seat knows, and searches one tree over all of them
(:mod:`baselines.bots.tree`). Beside the search as it was published there is a variant that plays better for the same time:

* ``root=ucb``: one world a simulation, the root's action chosen by UCB like any other; the most visited action is played.
* ``root=pairs``: every world tries all actions that are still in the race, so that luck of the cards is the same for all of
  them; actions worse than the best one for sure are dropped (:mod:`baselines.bots.race`). The best mean is played.

``depth`` says how many actions are chosen in the tree before the playout policy takes over; ``others`` whether the other seats
choose in the tree too, or play as the policy does. With ``root=pairs,depth=0`` the search is perfect-information Monte Carlo. ``slips`` below
1 weighs worlds by how well they explain what has been played (:mod:`baselines.bots.inference`), where a game tells its past; in
other games all worlds are equally likely. With ``net=NAME`` a trained net has a say in the race of ``root=pairs``, as in
:mod:`baselines.bots.pimc`.

Source: Cowling, Powley, Whitehouse, "Information set Monte Carlo tree search", IEEE TCIAIG 4, 2012.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from baselines.bots import inference
from baselines.bots.options import settings_from
from baselines.bots.race import add_world, entrance, leader
from baselines.bots.search import (
    belief_of,
    check_integer,
    check_net,
    check_number,
    playout_policy,
)
from baselines.bots.tree import (
    NOW,
    OTHERS,
    ROOT,
    TreeBot,
    check_budget,
    only_choice,
    tree,
)
from trick_core.bots import Bot
from trick_core.drivers import JitBot
from trick_core.game import INT32, Game, check_choice
from trick_core.jit import entry, kernel
from trick_core.rng import advance
from trick_core.rollouts import playout_label

ROOTS = ("pairs", "ucb")
#: Worlds before an action is dropped from the race: the first ones of a chain resemble each other.
LEAST = 128


@dataclass(frozen=True)
class Settings:
    """What may follow the bot's name: ``ismcts:iterations=2000,root=ucb``.

    Attributes:
        iterations: Simulations for a decision, from 1; a clear one takes fewer.
        milliseconds: If above 0: instead of a number of simulations, as many as fit into this time. Then the same view need not get
            the same action again.
        root: ``"pairs"`` or ``"ucb"``.
        others: ``"playout"`` or ``"search"``: how the other seats act in the tree.
        depth: Actions chosen in the tree in one simulation, at most, after that of the root; from 0.
        explore: UCB's constant, in standard deviations of the points.
        drop: With ``pairs`` an action is dropped if it is worse than the best one by more than so many standard errors of the difference.
        slips: Factor on the weight of a world for a play of the others that the policy would not make in it, above 0; 1: all worlds are
            equally likely.
        burn: Proposals of the chain of worlds before the first one is used, from 1.
        thin: Proposals between two worlds, from 1.
        net: With ``pairs``, name or file of a net that has a say (``own``: the library's newest of the game); none if empty.
        trust: Points that a factor of e in an action's chance under the net's policy is worth.
        exact: Rests of so many tricks are solved in each world instead of played; 0: none are.
        playout: Name of the bot that plays on, and for which the others are taken; it needs a kernel.
        threads: Threads that share the rows of a batch.
    """

    iterations: int = 4000
    milliseconds: float = 0.0
    root: str = "pairs"
    others: str = "playout"
    depth: int = 1
    explore: float = 0.5
    drop: float = 3.0
    slips: float = 0.3
    burn: int = 500
    thin: int = inference.THIN
    net: str = ""
    trust: float = 1.5
    exact: int = 0
    playout: str = "greedy"
    threads: int = 1

    def __post_init__(self) -> None:
        check_budget("ismcts", self.iterations, self.milliseconds, self.threads)
        check_choice("bot 'ismcts': root", self.root, ROOTS)
        check_choice("bot 'ismcts': others", self.others, OTHERS)
        check_number("ismcts", "explore", self.explore)
        check_number("ismcts", "drop", self.drop)
        inference.check_settings(self.slips, self.burn, self.thin, "bot 'ismcts': ")
        check_net("ismcts", self.net, self.trust)
        if self.net and self.root != "pairs":
            raise ValueError(f"bot 'ismcts': net: needs root=pairs, got root={self.root}")
        for key in ("depth", "exact"):
            if getattr(self, key) != 0:
                check_integer(
                    "ismcts", key, getattr(self, key), INT32 - 1
                )  # one more is the root's


class Root(NamedTuple):
    """Kernels that search from the root; ``config`` has the root's deal alone."""

    #: (config, i, seat, random, scratch): get ready for row ``i``; the tree is a root without children, and the source of worlds is ready.
    begin: Callable[..., Any]
    #: (config, seat, random, iterations, scratch) -> (random, int64, bool): so many more simulations, the best action so far, and
    #: whether more would be of use.
    run_on: Callable[..., Any]


@functools.cache
def _search(
    game: Game, policy: JitBot, solves: bool, infers: bool, pairs: bool
) -> Callable[..., Any]:
    """The search for one game and playout policy, as :class:`TreeBot` wants it."""
    plant = tree(game, policy, solves).plant
    settled = only_choice(game, False)
    source = inference.source_of(game, policy, infers)
    prepare = source.begin
    begin, run_on = (_by_pairs if pairs else _by_ucb)(game, policy, solves, source)

    label = playout_label((policy,))
    kinds = ["exact" if solves else "played", "weighed" if infers else "equal"]
    kinds.append("pairs" if pairs else "ucb")
    folders = [str(game.folder), policy.folder, str(Path(__file__).parent)]

    @entry(None if label is None else f"{game.name}.ismcts.{'.'.join(kinds)}.{label}", folders)
    def search(config, views, randoms, lo, hi, done, iterations, scratch, open_, actions):
        for i in range(lo, hi):
            deal = views[i].deal
            one = config[deal : deal + 1]
            seat = views[i].seat & 3
            random = randoms[i]
            if done == 0:
                scratch.states[ROOT] = views[i]
                scratch.states[ROOT].deal = 0
                actions[i] = settled(one, scratch)
                open_[i] = actions[i] < 0
                if open_[i]:
                    plant(seat, scratch)
                    random = prepare(one, scratch.states[ROOT], seat, random, scratch.worlds)
                    begin(one, i, seat, random, scratch)
            if open_[i]:
                random, actions[i], open_[i] = run_on(one, seat, random, iterations, scratch)
            randoms[i] = random

    return search


@functools.cache
def _by_ucb(game: Game, policy: JitBot, solves: bool, source: inference.Source) -> Root:
    """Every simulation in a world of its own, from the root down by UCB."""
    simulate, most_visited = tree(game, policy, solves)[2:]
    draw = source.draw

    @kernel
    def begin(config, i, seat, random, scratch):
        pass

    @kernel
    def run_on(config, seat, random, iterations, scratch):
        states, worlds = scratch.states, scratch.worlds
        for _ in range(iterations):
            random = draw(config, states[ROOT], seat, random, worlds)
            states[NOW] = worlds.states[inference.PROPOSED]
            random = simulate(config, seat, np.int64(0), random, scratch)
        return random, np.int64(scratch.nodes[most_visited(scratch)].action), True

    return Root(begin, run_on)


@functools.cache
def _by_pairs(game: Game, policy: JitBot, solves: bool, source: inference.Source) -> Root:
    """Every world for all actions in the race."""
    parts = tree(game, policy, solves)
    add_child, simulate, draw = parts.add_child, parts.simulate, source.draw
    step, enter_distinct = game.kernels.step, entrance(game)

    @kernel
    def begin(config, i, seat, random, scratch):
        states, race = scratch.states, scratch.race
        belief = scratch.worlds.belief[0]
        enter_distinct(config, states[ROOT], i, random, states[NOW : NOW + 1], belief, race)
        for a in range(race.tally[0].actions):
            action = race.actions[a]
            scratch.roots[action] = add_child(np.int64(0), action, seat, scratch)

    @kernel
    def try_world(config, seat, random, scratch):
        """One world for all actions that are left, with the same random numbers for the playouts."""
        states, worlds, race = scratch.states, scratch.worlds, scratch.race
        random = draw(config, states[ROOT], seat, random, worlds)
        random = advance(random)
        for a in range(race.tally[0].actions):
            action = race.actions[a]
            states[NOW] = worlds.states[inference.PROPOSED]
            step(config, states[NOW], action)
            simulate(config, seat, scratch.roots[action], random, scratch)
            race.values[a] = scratch.points[0, seat]
        add_world(race)
        return random

    @kernel
    def run_on(config, seat, random, iterations, scratch):
        race = scratch.race
        left = iterations
        while left > 0 and race.tally[0].actions > 1:
            left -= race.tally[0].actions
            random = try_world(config, seat, random, scratch)
        return random, race.actions[leader(race)], race.tally[0].actions > 1

    return Root(begin, run_on)


class Ismcts(TreeBot):
    """The bot; see the module.

    Args:
        settings: Its settings.
        name: Its name in results.
    """

    def __init__(self, settings: Settings | None = None, name: str = "ismcts") -> None:
        chosen = Settings() if settings is None else settings
        super().__init__(
            name,
            iterations=chosen.iterations,
            milliseconds=chosen.milliseconds,
            threads=chosen.threads,
            explore=chosen.explore,
            searched=chosen.others == "search",
            exact=chosen.exact,
            depth=chosen.depth + (chosen.root == "ucb"),
            drop=chosen.drop,
            least=LEAST,
            net=chosen.net,
            trust=chosen.trust,
        )
        self.settings = chosen

    def search(self, game: Game) -> Callable[..., Any]:
        chosen = self.settings
        belief_of(self.name, game)
        policy = playout_policy(self.name, game, chosen.playout)
        infers = inference.weighs(game, policy, chosen.slips)
        return _search(game, policy, chosen.exact > 0, infers, chosen.root == "pairs")

    def worlds(self, game: Game) -> inference.Worlds:
        chosen = self.settings
        return inference.make_worlds(game, chosen.slips, chosen.burn, chosen.thin)


def make(argument: str | None = None) -> Bot:
    """The bot, for the registry; see :class:`Settings`."""
    name = "ismcts" if argument is None else f"ismcts:{argument}"
    return Ismcts(settings_from("ismcts", argument, Settings), name)
