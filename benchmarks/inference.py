"""Measure how much of the hidden hands inference from play finds out, and what that costs.

    python -m benchmarks.inference [--positions 100] [--setting SLIPS,BURN,THIN,WORLDS ...] [--json FILE] [--markdown]

Positions come from greedy play of every Bolola contract, each at a random decision. From the worlds that a setting draws for one, a
card's share with a seat is taken as the chance that the seat holds it. The error is the Brier score: the squares of the chances less what is true, summed
over the four seats, the mean over the hidden cards. Who knows all has 0, who takes the three hands as equally likely 2/3. A chain that
runs long shows what there is to be found out; a short one falls behind it since its few worlds resemble each other.

Source: Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78, 1950.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import baselines  # noqa: F401  (registers the bots)
from baselines.bots import inference
from benchmarks import report
from benchmarks.measure import machine
from benchmarks.throughput import note
from bolola_env.contracts import CONTRACTS
from trick_core.belief import view_of, worlds
from trick_core.bits import words_to_bits
from trick_core.bots import View, make_bot
from trick_core.game import Setup, setup_for
from trick_core.records import Table
from trick_core.rollouts import jit_bot

HEADER = ("worlds", "slips", "burn", "thin", "error", "95 %", "ms")
POLICY = "greedy"
#: (slips, burn, thin, worlds), by default: that of ``pimc``, shorter and longer ones.
SETTINGS = (
    (0.3, 200, 10, 160),
    (0.01, 100, 4, 40),
    (0.01, 100, 4, 160),
    (0.01, 200, 10, 160),
    (0.01, 500, 10, 400),
    (0.01, 4000, 40, 400),
    (0.01, 20000, 200, 400),
    (0.0001, 20000, 200, 400),
)
#: Worlds that are drawn with equal chances, for comparison.
EQUAL = 400


@dataclass(frozen=True)
class Line:
    """One setting.

    Attributes:
        worlds: How many are drawn for a position.
        slips: Factor on a world's weight for a play that the policy would not have made; 1: all are equally likely.
        burn: Proposals before the first world.
        thin: Proposals between two.
        error: Brier score a hidden card, mean over the positions.
        half: Half the 95 % interval of that mean.
        milliseconds: Time of the thread for a position.
    """

    worlds: int
    slips: float
    burn: int
    thin: int
    error: float
    half: float
    milliseconds: float

    def row(self) -> tuple[str, ...]:
        """The line of the table."""
        chain = (f"{self.slips:g}", str(self.burn), str(self.thin))
        chain = chain if self.slips < 1 else ("1", "", "")
        figures = (f"{self.error:.3f}", f"± {self.half:.3f}", f"{self.milliseconds:.2g}")
        return str(self.worlds), *chain, *figures


@dataclass(frozen=True)
class Position:
    """A view, and the cards that the four seats really hold, float64 (4, 52)."""

    view: View
    truth: np.ndarray[Any, Any]


def positions(setup: Setup, count: int) -> list[Position]:
    """One from each of so many deals among four of the policy, at a random decision with a choice after the first trick."""
    bot, rng, found, number = make_bot(POLICY), random.Random(setup.id), list[Position](), 0
    while len(found) < count:
        table, after = Table(setup, number=number), rng.randrange(4, 48)
        number += 1
        while not table.over:
            view = view_of(setup, table.states)
            if len(table.history) >= after and len(table.legal) > 1:
                found.append(Position(view, _shares(table.states)))
                break
            table.step(setup.game.actions[bot.act(view)])
    return found


def _shares(
    states: np.ndarray[Any, Any],
) -> np.ndarray[Any, Any]:
    """Share of the states in which a seat holds a card, (4, 52)."""
    held = words_to_bits(np.ascontiguousarray(states["hands"]).reshape(-1, 1), 52)
    return np.asarray(held.reshape(-1, 4, 52).mean(axis=0), np.float64)


def error_of(position: Position, states: np.ndarray[Any, Any]) -> float:
    """Brier score a hidden card, if the states' shares are taken as chances."""
    hidden = position.truth.sum() - position.truth[position.view.seat].sum()
    return float(np.square(_shares(states) - position.truth).sum() / hidden)


def measure(found: Sequence[Position], setting: tuple[float, int, int, int]) -> Line:
    """Draw worlds for all positions."""
    slips, burn, thin, count = setting
    game = found[0].view.game
    work, out = inference.make_worlds(game, slips, burn, thin), game.states(count)
    draw = inference.sampler(game, jit_bot(game, POLICY), infers=True)
    errors, times = [], []
    for k, position in enumerate([found[0], *found]):  # the first warms up
        view = position.view
        start = time.thread_time()
        draw(view.config, view.record, np.int64(view.seat), np.uint64(k), work, out)
        times.append(time.thread_time() - start)
        errors.append(error_of(position, out))
    return _line(errors[1:], times[1:], slips, burn, thin, count)


def measure_equal(found: Sequence[Position], count: int) -> Line:
    """The same with worlds that are equally likely."""
    errors, times = [], []
    for k, position in enumerate([found[0], *found]):
        start = time.thread_time()
        out = worlds(position.view, count, seed=k)
        times.append(time.thread_time() - start)
        errors.append(error_of(position, out))
    return _line(errors[1:], times[1:], 1.0, 0, 0, count)


def _line(
    errors: Sequence[float], times: Sequence[float], slips: float, burn: int, thin: int, count: int
) -> Line:
    half = 1.96 * float(np.std(errors, ddof=1)) / len(errors) ** 0.5
    return Line(count, slips, burn, thin, float(np.mean(errors)), half, 1e3 * float(np.mean(times)))


def _setting(text: str) -> tuple[float, int, int, int]:
    try:
        slips, burn, thin, count = text.split(",")
        setting = float(slips), int(burn), int(thin), int(count)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected SLIPS,BURN,THIN,WORLDS as in 0.01,200,10,160; got {text!r}"
        ) from None
    if not 0 < setting[0] < 1 or min(setting[1:]) < 1:
        raise argparse.ArgumentTypeError(
            f"expected slips between 0 and 1 and the others from 1 on, got {text!r}"
        )
    return setting


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.inference", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--positions", type=int, default=100, help="of each contract; from 2")
    parser.add_argument("--setting", type=_setting, action="append", dest="settings")
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    arguments = parser.parse_args(argv)
    if arguments.positions < 2:
        parser.error(f"--positions: expected 2 or more, got {arguments.positions}")
    here, found = machine(), list[Position]()
    for contract in CONTRACTS:
        found += positions(setup_for(f"bolola/{contract}"), arguments.positions)
    lines, settings = [measure_equal(found, EQUAL)], arguments.settings or SETTINGS
    progress = note("settings")
    for k, setting in enumerate(settings):
        lines.append(measure(found, setting))
        progress(k + 1, len(settings))
    rows = [line.row() for line in lines]
    if arguments.markdown:
        print(report.markdown(HEADER, rows))
    else:
        report.show("What inference finds out", HEADER, rows)
    print(f"{len(found)} positions; {here['cpu']} ({here['target']}); Python {here['python']}")
    if arguments.json:
        found_lines = [asdict(line) for line in lines]
        report.write_json(arguments.json, {"machine": here, "lines": found_lines})


if __name__ == "__main__":
    main()
