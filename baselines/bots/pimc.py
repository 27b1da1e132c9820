"""The bot ``pimc``: perfect-information Monte Carlo search.

For every decision it draws worlds (full deals that agree with all that the seat knows), tries
each legal action in each of them, and lets a playout policy play all seats to the end of the deal. The action with the
best mean wins; of equals the one with the lowest id. What is maximised is the seat's points less the table's mean.

All actions are tried in the same worlds with the same random numbers, so that they differ only by what they do. After every
round of worlds those that are beaten for sure are dropped (:mod:`baselines.bots.race`).

Where a game tells its past, worlds come as often as they explain what the others have played (:mod:`baselines.bots.inference`); in
other games all are equally likely, and so they are by ``slips=1``.

With ``net=NAME`` a trained net (:mod:`baselines.bots.net`) has a say: ``trust`` points times the logarithm of an action's chance under the
net's policy are added to the action's mean. The worlds know the rules and the cards, the net has an idea of what players do, and both
err in different places.

Sources: Levy, "The million pound bridge program", 1989; Ginsberg, "GIB: imperfect information in a computationally challenging
game", JAIR 14, 2001; Long et al., "Understanding the success of perfect information Monte Carlo sampling in game tree search",
AAAI 2010.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from baselines.bots import inference
from baselines.bots.options import settings_from
from baselines.bots.race import ROUND, Race, add_world, enter, entrance, leader, make_race
from baselines.bots.search import (
    AdvisedBot,
    Plan,
    belief_of,
    check_integer,
    check_net,
    check_number,
    playout_policy,
    value_of,
)
from trick_core.bots import Bot
from trick_core.drivers import JitBot
from trick_core.game import Game
from trick_core.jit import entry, kernel, records
from trick_core.rng import advance, mix
from trick_core.rollouts import ENDS, PLAYOUT, playout, playout_label


@dataclass(frozen=True)
class Settings:
    """What may follow the bot's name: ``pimc:worlds=64,playout=greedy``.

    Attributes:
        worlds: Most worlds for a decision, from 1; a clear one takes fewer.
        milliseconds: If above 0: instead of a number of worlds, as many rounds of them as begin within this time. Then the same
            view need not get the same action again.
        playout: Name of the bot that plays on in the worlds, in all seats; it needs a kernel.
        drop: After a round an action is dropped if it is worse than the best one by more than so many standard errors of their
            difference. Large: only those are that came out alike.
        smooth: In Tarot, by how many points (standard deviation) a playout may err about the taker's points: the jump at the
            target is smoothed by it (:mod:`baselines.bots.value_tarot`). 0: the settlement as it is.
        net: Name or file of a net that has a say (``own``: the library's newest of the game); none if empty.
        trust: Points that a factor of e in an action's chance under the net's policy is worth.
        slips: Factor on the weight of a world for a play of the others that the policy would not make in it, above 0; 1: all worlds are
            equally likely.
        burn: Proposals of the chain of worlds before the first one is used, from 1.
        thin: Proposals between two worlds, from 1.
        threads: Threads that share the rows of a batch.
    """

    worlds: int = 160
    milliseconds: float = 0.0
    playout: str = "greedy"
    drop: float = 2.0
    smooth: float = 5.0
    net: str = ""
    trust: float = 1.5
    slips: float = 0.3
    burn: int = inference.BURN
    thin: int = inference.THIN
    threads: int = 1

    def __post_init__(self) -> None:
        check_integer("pimc", "worlds", self.worlds)
        check_number("pimc", "milliseconds", self.milliseconds)
        check_number("pimc", "drop", self.drop)
        check_number("pimc", "smooth", self.smooth)
        inference.check_settings(self.slips, self.burn, self.thin, "bot 'pimc': ")
        check_net("pimc", self.net, self.trust)
        check_integer("pimc", "threads", self.threads)


#: Settings that the kernel reads.
OPTIONS = np.dtype([("smooth", "f8")], align=True)


class Scratch(NamedTuple):
    """What one thread works in."""

    states: np.ndarray[Any, Any]  # (3,) a world; the same played on; what a playout policy sees
    worlds: inference.Worlds
    run: np.ndarray[Any, Any]  # (1,) PLAYOUT
    options: np.ndarray[Any, Any]  # (1,) OPTIONS
    race: Race
    points: np.ndarray[Any, Any]  # (1, 4) float64


def make_scratch(game: Game, settings: Settings, bonuses: np.ndarray[Any, Any]) -> Scratch:
    """Scratch for one thread; ``bonuses`` as in :func:`baselines.bots.race.make_race`."""
    options = records(1, OPTIONS)
    options["smooth"] = settings.smooth
    run = records(1, PLAYOUT)
    run["until"] = ENDS.index("deal")
    return Scratch(
        states=game.states(3),
        worlds=inference.make_worlds(game, settings.slips, settings.burn, settings.thin),
        run=run,
        options=options,
        race=make_race(game, settings.drop, bonuses),
        points=np.zeros((1, 4)),
    )


@functools.cache
def _search(game: Game, policy: JitBot, infers: bool) -> Callable[..., Any]:
    """The search for one game and playout policy, see :class:`baselines.bots.search.Plan`; a try is a world for all actions in the
    race, which ``scratch`` holds.
    """
    belief_of("pimc", game)
    begin, draw = inference.source_of(game, policy, infers)
    enter_distinct = entrance(game)
    step, returns = game.kernels.step, game.kernels.returns
    play_on, value = playout(game, (policy,)), value_of(game)

    @kernel
    def start(config: Any, views: Any, i: Any, random: Any, scratch: Any) -> Any:
        """Enter the actions worth trying."""
        enter(views[i].legal, i, scratch.race)
        if scratch.race.tally[0].actions > 1:
            worlds = scratch.worlds
            begin(config, views[i], views[i].seat & 3, random, worlds)
            enter_distinct(
                config, views[i], i, random, scratch.states, worlds.belief[0], scratch.race
            )

    @kernel
    def try_action(config: Any, a: Any, seat: Any, random: Any, scratch: Any) -> Any:
        """Take an action in the world and play on to the end of the deal; write the action's value."""
        states, run, points = scratch.states, scratch.run, scratch.points
        states[1] = states[0]
        st = states[1]
        deal = st.deal
        step(config, st, scratch.race.actions[a])
        if st.deal == deal:
            run[0].random = random
            play_on(config, config, states, 1, states[2:], run)
        for k in range(4):
            points[0, k] = 0.0
        returns(config, st, points, 0)
        scratch.race.values[a] = value(st, seat, points, scratch.options[0].smooth)

    @kernel
    def try_world(config: Any, views: Any, i: Any, random: Any, scratch: Any) -> Any:
        """Draw one more world and try in it all actions that are in the race."""
        seat = views[i].seat & 3
        random = advance(draw(config, views[i], seat, random, scratch.worlds))
        scratch.states[0] = scratch.worlds.states[inference.PROPOSED]
        for a in range(scratch.race.tally[0].actions):
            try_action(config, a, seat, mix(random), scratch)
        add_world(scratch.race)
        return random

    @kernel
    def run_on(config: Any, views: Any, i: Any, random: Any, worlds: Any, scratch: Any) -> Any:
        while worlds > 0 and scratch.race.tally[0].actions > 1:
            random = try_world(config, views, i, random, scratch)
            worlds -= 1
        return random

    label = playout_label((policy,))
    folders = [str(game.folder), policy.folder, str(Path(__file__).parent)]

    kind = "weighed" if infers else "equal"

    @entry(None if label is None else f"{game.name}.pimc.{kind}.{label}", folders)
    def search(config, views, randoms, lo, hi, done, worlds, scratch, open_, actions):  # type: ignore[no-untyped-def]
        race = scratch.race
        for i in range(lo, hi):
            if done == 0:
                start(config, views, i, randoms[i], scratch)
            randoms[i] = run_on(config, views, i, randoms[i], worlds, scratch)
            open_[i] = race.tally[0].actions > 1
            actions[i] = race.actions[leader(race)]

    return search


class Pimc(AdvisedBot):
    """The bot; see the module.

    Args:
        settings: Its settings.
        name: Its name in results.
    """

    def __init__(self, settings: Settings | None = None, name: str = "pimc") -> None:
        self.name = name
        self.settings = Settings() if settings is None else settings
        self.milliseconds, self.threads = self.settings.milliseconds, self.settings.threads
        self.advise(self.settings.net, self.settings.trust)

    def plan(self, game: Game) -> Plan:
        chosen = self.settings
        policy = playout_policy(self.name, game, chosen.playout)
        return Plan(
            search=_search(game, policy, inference.weighs(game, policy, chosen.slips)),
            make_scratch=functools.partial(make_scratch, game, chosen),
            report=lambda scratch: scratch.run[0],
            most=chosen.worlds,
            at_once=ROUND,
        )


def make(argument: str | None = None) -> Bot:
    """The bot, for the registry; see :class:`Settings`."""
    name = "pimc" if argument is None else f"pimc:{argument}"
    return Pimc(settings_from("pimc", argument, Settings), name)
