"""The bot ``pimc``: perfect-information Monte Carlo search.

For every decision it draws worlds (full deals that agree with all that the seat knows, each with the same chance), tries
each legal action in each of them, and lets a playout policy play all seats to the end of the deal. The action with the
best mean wins; of equals the one with the lowest id. What is maximised is the seat's points less the table's mean.

All actions are tried in the same worlds with the same random numbers, so that what differs is the actions' own. After every
round of worlds the actions that are worse than the best one by more than chance explains are dropped: the worlds that are
left serve the contested ones.

Sources: Levy, "The million pound bridge program", 1989; Ginsberg, "GIB: imperfect information in a computationally challenging
game", JAIR 14, 2001; Long et al., "Understanding the success of perfect information Monte Carlo sampling", AAAI 2010. The
dropping of actions is a race: Maron and Moore, "Hoeffding races", NIPS 1993, with a normal bound on paired differences.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from baselines.bots.options import settings_from
from baselines.bots.search import (
    SearchBot,
    belief_of,
    check_positive,
    list_legal,
    playout_policy,
)
from trick_core.batch import check_threads
from trick_core.bots import Bot
from trick_core.drivers import JitBot
from trick_core.game import Game
from trick_core.jit import entry, kernel, records
from trick_core.rng import advance, mix
from trick_core.rollouts import ENDS, PLAYOUT, playout, playout_label
from trick_core.threads import share_rows


@dataclass(frozen=True)
class Settings:
    """What may follow the bot's name: ``pimc:worlds=64,playout=greedy``.

    Attributes:
        worlds: Worlds for a decision, from 1.
        milliseconds: If above 0: instead of a number of worlds, as many as fit into this time. Then the same view need not get
            the same action again.
        playout: Bot that plays on in the worlds, in all seats; it needs a kernel.
        drop: After a round an action is dropped if it is worse than the best one by more than so many standard errors of their
            difference. Large: none is ever dropped.
        threads: Threads that share the rows of a batch.
    """

    worlds: int = 64
    milliseconds: float = 0.0
    playout: str = "greedy"
    drop: float = 2.5
    threads: int = 1

    def __post_init__(self) -> None:
        check_positive(
            "pimc", worlds=self.worlds, milliseconds=self.milliseconds, drop=self.drop
        )
        check_threads(self.threads)


#: Worlds of a round.
ROUND = 16


class Scratch(NamedTuple):
    """What one thread works in; A is the game's number of actions."""

    states: np.ndarray[Any, Any]  # (3,) a world; the same played on; what a playout policy sees of it
    work: np.ndarray[Any, Any]  # (1,) the belief's
    run: np.ndarray[Any, Any]  # (1,) PLAYOUT
    actions: np.ndarray[Any, Any]  # (A,) int64: actions still in the race, ascending
    values: np.ndarray[Any, Any]  # (A,) float64: their values in one world, in units
    sums: np.ndarray[Any, Any]  # (A,) float64: sums of their values over all worlds
    products: np.ndarray[Any, Any]  # (A, A) float64: sums of products of two actions' values
    points: np.ndarray[Any, Any]  # (1, 4) float64


def make_scratch(game: Game) -> Scratch:
    """Scratch for one thread."""
    count = game.num_actions
    run = records(1, PLAYOUT)
    run["until"] = ENDS.index("deal")
    return Scratch(
        states=game.states(3),
        work=records(1, belief_of("pimc", game).work),
        run=run,
        actions=np.zeros(count, np.int64),
        values=np.zeros(count),
        sums=np.zeros(count),
        products=np.zeros((count, count)),
        points=np.zeros((1, 4)),
    )


class Kernels(NamedTuple):
    """Compiled parts for one game and playout policy."""

    #: (config, views, randoms, lo, hi, worlds, drop, scratch, actions): decide rows ``lo`` to ``hi - 1``.
    decide: Callable[..., Any]
    #: (config, views, i, scratch) -> int: start row i; number of its legal actions.
    begin: Callable[..., Any]
    #: (config, views, i, random, done, worlds, drop, count, scratch) -> (random, count): more worlds for row i, of which ``done``
    #: have been played; ``count`` actions are left.
    extend: Callable[..., Any]


@functools.cache
def kernels(game: Game, policy: JitBot) -> Kernels:
    """The parts, compiled when they are first called."""
    belief = belief_of("pimc", game)
    prepare, sample = belief.prepare, belief.sample
    step, returns = game.kernels.step, game.kernels.returns
    play_on = playout(game, (policy,))

    def mark(name: str) -> Callable[[Any], Any]:
        label = playout_label((policy,))
        label = None if label is None else f"{game.name}.pimc.{label}.{name}"
        return entry(label, [str(game.folder), policy.folder, __file__])

    @kernel
    def start(config: Any, views: Any, i: Any, scratch: Any) -> Any:
        count = list_legal(views[i], scratch.actions)
        if count > 1:
            prepare(config, views[i], views[i].seat, scratch.work[0])
            for a in range(count):
                scratch.sums[a] = 0.0
                for b in range(count):
                    scratch.products[a, b] = 0.0
        return count

    @kernel
    def try_action(config: Any, a: Any, seat: Any, random: Any, scratch: Any) -> Any:
        """Play an action in the world and on to the end of the deal; its value."""
        states, run, points = scratch.states, scratch.run, scratch.points
        states[1] = states[0]
        st = states[1]
        deal = st.deal
        step(config, st, scratch.actions[a])
        if st.deal == deal:
            run[0].random = random
            play_on(config, config, states, 1, states[2:], run)
        for k in range(4):
            points[0, k] = 0.0
        returns(config, states[1], points, 0)
        total = points[0, 0] + points[0, 1] + points[0, 2] + points[0, 3]
        scratch.values[a] = points[0, seat] - 0.25 * total

    @kernel
    def try_world(config: Any, views: Any, i: Any, random: Any, count: Any, scratch: Any) -> Any:
        """One more world for all actions in the race."""
        seat = views[i].seat
        scratch.states[0] = views[i]
        random = sample(config, scratch.states[0], seat, random, scratch.work[0])
        random = advance(random)
        for a in range(count):
            try_action(config, a, seat, mix(random), scratch)
        for a in range(count):
            scratch.sums[a] += scratch.values[a]
            for b in range(a + 1):
                scratch.products[a, b] += scratch.values[a] * scratch.values[b]
        return random

    @kernel
    def best_of(count: Any, scratch: Any) -> Any:
        best = 0
        for a in range(1, count):
            if scratch.sums[a] > scratch.sums[best]:
                best = a
        return best

    @kernel
    def drop_worse(count: Any, done: Any, drop: Any, scratch: Any) -> Any:
        """Take the actions out of the race that are worse than the best one for sure; how many are left."""
        best = best_of(count, scratch)
        sums, products, dropped = scratch.sums, scratch.products, scratch.values
        for a in range(count):
            gap = sums[best] - sums[a]
            cross = products[best, a] if a < best else products[a, best]
            squares = products[best, best] + products[a, a] - 2.0 * cross
            spread = max(squares - gap * gap / done, 0.0) * done / (done - 1.0)
            alike = squares < 1e-6
            dropped[a] = 1.0 if a != best and (alike or gap * gap > drop * drop * spread) else 0.0
        kept = 0
        for a in range(count):
            if dropped[a] != 0.0:
                continue
            column = 0
            for b in range(a + 1):
                if dropped[b] == 0.0:
                    products[kept, column] = products[a, b]
                    column += 1
            sums[kept] = sums[a]
            scratch.actions[kept] = scratch.actions[a]
            kept += 1
        return kept

    @kernel
    def more(config, views, i, random, done, worlds, drop, count, scratch):  # type: ignore[no-untyped-def]
        while worlds > 0 and count > 1:
            random = try_world(config, views, i, random, count, scratch)
            done += 1
            worlds -= 1
            if done % ROUND == 0:
                count = drop_worse(count, done, drop, scratch)
        return random, count

    @mark("decide")
    def decide(config, views, randoms, lo, hi, worlds, drop, scratch, actions):  # type: ignore[no-untyped-def]
        for i in range(lo, hi):
            count = start(config, views, i, scratch)
            if count > 1:
                _, count = more(config, views, i, randoms[i], 0, worlds, drop, count, scratch)
            actions[i] = scratch.actions[best_of(count, scratch)]

    @mark("begin")
    def begin(config, views, i, scratch):  # type: ignore[no-untyped-def]
        return start(config, views, i, scratch)

    @mark("extend")
    def extend(config, views, i, random, done, worlds, drop, count, scratch):  # type: ignore[no-untyped-def]
        return more(config, views, i, random, done, worlds, drop, count, scratch)

    return Kernels(decide, begin, extend)


class Pimc(SearchBot):
    """The bot; see the module."""

    def __init__(self, settings: Settings | None = None, name: str = "pimc") -> None:
        self.name = name
        self.settings = Settings() if settings is None else settings

    def decide(
        self,
        game: Game,
        config: np.ndarray[Any, Any],
        records: np.ndarray[Any, Any],
        randoms: np.ndarray[Any, Any],
    ) -> np.ndarray[Any, np.dtype[np.int64]]:
        chosen = self.settings
        parts = kernels(game, playout_policy(self.name, game, chosen.playout))
        actions = np.zeros(len(records), np.int64)

        def work(lo: int, hi: int) -> None:
            scratch = make_scratch(game)
            if chosen.milliseconds > 0:
                for i in range(lo, hi):
                    actions[i] = self._decide_in_time(parts, config, records, randoms, i, scratch)
            else:
                parts.decide(
                    config, records, randoms, lo, hi, chosen.worlds, chosen.drop, scratch, actions
                )

        share_rows(work, len(records), check_threads(chosen.threads))
        return actions

    def _decide_in_time(
        self,
        parts: Kernels,
        config: np.ndarray[Any, Any],
        records: np.ndarray[Any, Any],
        randoms: np.ndarray[Any, Any],
        i: int,
        scratch: Scratch,
    ) -> int:
        """As many rounds for row ``i`` as begin within the time."""
        end = time.perf_counter() + self.settings.milliseconds / 1000
        count, done, random = parts.begin(config, records, i, scratch), 0, randoms[i]
        while count > 1 and (done == 0 or time.perf_counter() < end):
            random, count = parts.extend(
                config, records, i, np.uint64(random), done, ROUND, self.settings.drop, count, scratch
            )
            done += ROUND
        return int(scratch.actions[np.argmax(scratch.sums[:count])]) if count > 1 else int(scratch.actions[0])


def make(argument: str | None = None) -> Bot:
    """The bot, for the registry."""
    name = "pimc" if argument is None else f"pimc:{argument}"
    return Pimc(settings_from("pimc", argument, Settings), name)
