"""How many games an evaluation saves by taking off luck: each way of evaluating against plain games of independent deals.

    python -m benchmarks.variance [ENV ...] [--deals 4000] [--json FILE]

The candidate is greedy with its untuned weights: another player, but of the same kind. A factor says how many times as many
plain games (each deal once, the candidate in one seat) give an interval of the same width. The ways:

* ``control``: each deal once, less the luck that greedy has in the same place (:mod:`baselines.evaluation.control`);
* ``rotated``: each deal with the candidate in every seat, its four games counted;
* ``rotated, control``: both;
* ``known chances``: rotated, against ``random``; at each of its choices, what the action taken is worth less the mean over its
  legal actions, by greedy playouts: AIVAT's correction for players whose chances are known (Burch, Schmid, Moravcik, Morrill and
  Bowling, "AIVAT: a new variance reduction technique for agent evaluation in imperfect information games", AAAI 2018). Its
  playouts are not counted;
* ``paired``: the difference of candidate and greedy on the same deals, rotated, against two such evaluations on different ones.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import baselines  # noqa: F401  (registers the bots)
from baselines.bots.greedy import MODULES
from baselines.evaluation.control import MORE, MOST
from baselines.evaluation.games import Contest, Source, orders_of
from baselines.evaluation.statistics import Floats, controlled, estimate
from benchmarks.measure import machine
from benchmarks.report import show
from trick_core.bits import ONE, ZERO, lowest, popcount
from trick_core.bots import Bot, KernelBot, make_bot, random_bot
from trick_core.drivers import JitBot
from trick_core.game import Game, Setup, setup_for
from trick_core.jit import entry
from trick_core.rng import SUITES, advance, mix, opponents_key, stream_key

ENVS = (
    "bolola/hearts-v0",
    "bolola/king-of-hearts-v0",
    "bolola/all-penalties-v0",
    "bolola/trump-v0",
    "tarot/deal-v0",
)
OPPONENTS = ("greedy", "random")
HEADER = ("env", "against", "points", "control", "rotated", "rotated, control", "known chances", "paired")  # fmt: skip
SEED = 20_240_601


@dataclass(frozen=True)
class Line:
    """What was found for one kind of opponents.

    Attributes:
        env: Environment id.
        against: The three opponents.
        points: Mean and half the interval of the candidate's points over the table, rotated.
        control: Factor in games; so are the others. None: not measured.
        rotated: As above.
        rotated_control: As above.
        known_chances: As above.
        paired: As above.
    """

    env: str
    against: str
    points: str
    control: float
    rotated: float
    rotated_control: float
    known_chances: float | None
    paired: float

    def row(self) -> tuple[str, ...]:
        """The line of the table."""
        factors = (
            self.control,
            self.rotated,
            self.rotated_control,
            self.known_chances,
            self.paired,
        )
        texts = ("" if factor is None else f"{factor:.2f}" for factor in factors)
        return self.env, self.against, self.points, *texts


def untuned(game: Game) -> JitBot:
    """Greedy with the weights that its tuning started from."""
    return _untuned(game.name)


@functools.cache
def _untuned(name: str) -> JitBot:
    module = importlib.import_module(MODULES[name])
    bot: JitBot = module.bot("greedy.untuned", module.START)
    return bot


def lines(env: str, deals: int) -> list[Line]:
    """Measure an environment."""
    setup = setup_for(env)
    return [_line(setup, other, deals) for other in OPPONENTS]


def _line(setup: Setup, against: str, deals: int) -> Line:
    candidate, reference = KernelBot("untuned", untuned), make_bot("greedy")
    other = make_bot(against)
    points = by_seat(setup, candidate, other, Source(deals, SEED))
    same = by_seat(setup, reference, other, Source(deals, SEED))
    more = by_seat(setup, reference, other, Source(min(MORE * deals, MOST) // 4, SEED + 1))
    plain = float(points.var(axis=0).mean())
    rotated = points.mean(axis=1)

    def factor(values: Floats, games: int) -> float:
        spread = float(values.var())
        return plain / (games * spread) if spread > 0 else float("inf")

    once = np.concatenate(
        [controlled(points[:, s], same[:, s], float(more[:, s].mean()))[0] for s in range(4)]
    )
    both = controlled(rotated, same.mean(axis=1), float(more.mean()))[0]
    known = None
    if against == "random":
        values, luck = with_known_chances(setup, untuned(setup.game), deals)
        left = controlled(values.mean(axis=1), luck.mean(axis=1))[0]
        known = factor(left, 4) * float(values.var(axis=0).mean()) / plain
    apart = float(rotated.var() + same.mean(axis=1).var())
    together = float((rotated - same.mean(axis=1)).var())
    return Line(
        env=setup.id,
        against=against,
        points=str(estimate(rotated)),
        control=factor(once, 1),
        rotated=factor(rotated, 4),
        rotated_control=factor(both, 4),
        known_chances=known,
        paired=apart / together,
    )


def by_seat(setup: Setup, bot: Bot, other: Bot, source: Source) -> Floats:
    """Points over the table of one against three, by the seat of the one: (deals, 4)."""
    contest = Contest(setup, [bot, other], orders_of((0, 1, 1, 1), "rotations"), source)
    contest.play_to(source.count)
    over = contest.points - contest.points.mean(axis=2, keepdims=True)
    seats: Floats = np.stack([over[:, seat, seat] for seat in range(4)], axis=1)
    return seats


def with_known_chances(setup: Setup, candidate: JitBot, deals: int) -> tuple[Floats, Floats]:
    """A candidate against three ``random``: points over the table, and the luck of the random choices, each (deals, 4).

    The luck of a choice is what the action taken is worth to the candidate less the mean over the legal ones, each worth what
    greedy in all seats makes of it. Its expectation is 0.
    """
    values, luck = np.zeros((deals, 4)), np.zeros((deals, 4))
    game = setup.game
    out, states = np.zeros((1, 4)), game.states(2)
    play = _known_chances(game, candidate)
    play(setup.config, states, np.uint64(SEED), deals, values, luck, out)
    return values * game.unit, luck * game.unit


@functools.cache
def _known_chances(game: Game, candidate: JitBot) -> Callable[..., Any]:
    """Kernel ``(config, states, seed, deals, values, luck, out)``; two states, and one row of points to work in."""
    begin, step, returns = game.kernels.begin, game.kernels.step, game.kernels.returns
    chosen, uniform = candidate.act, random_bot(game).act
    greedy = importlib.import_module(MODULES[game.name]).BOT
    playout = greedy.act
    assert candidate.honest and greedy.honest
    words, folder = game.mask_words, str(Path(__file__))

    @entry(f"{game.name}.variance.known_chances", [game.folder, greedy.folder, folder])
    def known_chances(config, states, seed, deals, values, luck, out):  # type: ignore[no-untyped-def]
        for d in range(deals):
            key = stream_key(seed, np.uint64(d), SUITES)
            for seat in range(4):
                begin(config, states[0], key, np.int64(0))
                st = states[0]
                random = opponents_key(seed, np.uint64(d))
                luck[d, seat] = 0.0
                while st.seat >= 0:
                    random = advance(random)
                    if st.seat == seat:
                        step(config, st, np.int64(chosen(config, st, mix(random))))
                        continue
                    action = np.int64(uniform(config, st, mix(random)))
                    count, mine, total = 0, 0.0, 0.0
                    for word in range(words):
                        count += popcount(st.legal[word])
                    for word in range(words):
                        legal = st.legal[word]
                        while count > 1 and legal != ZERO:
                            other = np.int64(64 * word + lowest(legal))
                            legal &= legal - ONE
                            states[1] = states[0]
                            twin = states[1]
                            step(config, twin, other)
                            while twin.seat >= 0:
                                step(config, twin, np.int64(playout(config, twin, key)))
                            for at in range(4):
                                out[0, at] = 0.0
                            returns(config, twin, out, 0)
                            mean = (out[0, 0] + out[0, 1] + out[0, 2] + out[0, 3]) / 4.0
                            worth = out[0, seat] - mean
                            total += worth
                            if other == action:
                                mine = worth
                    if count > 1:
                        luck[d, seat] += mine - total / count
                    step(config, st, action)
                for at in range(4):
                    out[0, at] = 0.0
                returns(config, st, out, 0)
                mean = (out[0, 0] + out[0, 1] + out[0, 2] + out[0, 3]) / 4.0
                values[d, seat] = out[0, seat] - mean

    return known_chances


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.variance", description=main.__doc__)
    parser.add_argument("envs", nargs="*", default=list(ENVS), metavar="ENV")
    parser.add_argument("--deals", type=int, default=4000)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    found = [line for env in options.envs for line in lines(env, options.deals)]
    title = f"games saved: times as many plain games for the same interval ({options.deals} deals)"
    show(title, HEADER, [line.row() for line in found])
    if options.json is not None:
        data = {"deals": options.deals, "machine": machine(), "lines": [asdict(x) for x in found]}
        options.json.write_text(json.dumps(data, indent=1, default=str))


if __name__ == "__main__":
    main()
