"""Measure how cost and memory grow with the number of tables, from 1 to 1,000,000, and plot it.

    python -m benchmarks.scaling [--games bolola tarot] [--tables 1 10 ...] [--png docs/figures/scaling.png] [--json FILE]

Each figure is the vector environment of all seats with packed observations and live buffers, one thread, and a compiled
random policy: the median over repeats, in each of which the sizes take turns. Memory is what the environment's arrays
take; a fifth of it, room for what jitted opponents see, the system only gives when there are some.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.measure import MIN_REPEATS, machine
from benchmarks.policy import RandomPolicy
from benchmarks.throughput import choose_setup, note
from trick_core.game import Setup
from trick_core.vector import VectorEnv

TABLES = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
HEADER = ("game", "tables", "ns a step", "lowest to highest", "steps/s", "memory", "bytes a table")
#: Steps of each table before the clock starts, about half a deal, and actions timed in a repeat at the least.
WARM, LEAST = 26, 50_000


@dataclass(frozen=True)
class Point:
    """What one size costs.

    Attributes:
        game: Environment id.
        tables: N.
        nanoseconds: Of a step of one table, one figure a repeat.
        memory: Bytes of the environment's arrays.
    """

    game: str
    tables: int
    nanoseconds: tuple[float, ...]
    memory: int

    @property
    def median(self) -> float:
        return statistics.median(self.nanoseconds)

    def row(self) -> tuple[str, ...]:
        """The line of the table."""
        low, high = min(self.nanoseconds), max(self.nanoseconds)
        return (
            self.game,
            f"{self.tables:,}",
            f"{self.median:.3g}",
            f"{low:.3g} to {high:.3g}",
            report.number(1e9 / self.median),
            f"{report.number(self.memory)}B",
            f"{self.memory / self.tables:.0f}",
        )


class _Run:
    """An environment with its policy, and the times found so far."""

    def __init__(self, setup: Setup, tables: int, clock: str) -> None:
        self.setup = setup
        self._now = time.thread_time if clock == "cpu" else time.perf_counter
        self.env = VectorEnv(setup, tables, observation="packed", copy=False)
        self._choose = RandomPolicy(tables)
        self._obs, _ = self.env.reset(seed=0)
        self.times: list[float] = []
        self.play(WARM)

    def play(self, steps: int) -> None:
        for _ in range(steps):
            self.env.step(self._choose(self._obs["action_mask"]))

    def time(self) -> None:
        tables = self.env.num_envs
        steps = max(1, LEAST // tables)
        start = self._now()
        self.play(steps)
        self.times.append((self._now() - start) / (steps * tables) * 1e9)

    def point(self) -> Point:
        return Point(self.setup.id, self.env.num_envs, tuple(self.times), self.env.nbytes)


def points(
    setups: Sequence[Setup], tables: Sequence[int], repeats: int, clock: str, progress: Any
) -> list[Point]:
    """Measure all sizes of all setups.

    Args:
        setups: The games with their options.
        tables: Sizes N.
        repeats: At least five.
        clock: ``"wall"``, or ``"cpu"``: the thread's own time, on a machine that others use too.
        progress: Called with (repeats done, repeats in all).
    """
    found = []
    # The large sizes one after the other: together they would not fit into memory.
    small = [n for n in tables if n <= 100_000]
    groups = [[(s, n) for s in setups for n in small]]
    groups += [[(s, n)] for n in tables if n > 100_000 for s in setups]
    of, done = repeats * len(groups), 0
    for group in groups:
        runs = [_Run(setup, number, clock) for setup, number in group]
        for _ in range(repeats):
            for run in runs:
                run.time()
            done += 1
            progress(done, of)
        found += [run.point() for run in runs]
    return sorted(found, key=lambda point: (point.game, point.tables))


def plot(found: Sequence[Point], path: str | Path) -> None:
    """Draw the cost of a step and the memory over the number of tables, one line a game."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    cost, memory = figure.subplots(1, 2)
    for game in dict.fromkeys(point.game for point in found):
        own = [point for point in found if point.game == game]
        tables = [point.tables for point in own]
        (line,) = cost.plot(tables, [point.median for point in own], "o-", label=game)
        low, high = ([f(p.nanoseconds) for p in own] for f in (min, max))
        cost.fill_between(tables, low, high, alpha=0.2, color=line.get_color(), linewidth=0)
        memory.plot(tables, [point.memory / 1e6 for point in own], "o-", label=game)
    for axes, title in ((cost, "ns for a step of one table"), (memory, "memory in MB")):
        axes.set(xscale="log", yscale="log", xlabel="tables N", title=title)
        axes.grid(alpha=0.3)
        axes.legend()
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=110)


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scaling", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--games", nargs="+", default=["bolola", "tarot"])
    parser.add_argument("--tables", nargs="+", type=int, default=list(TABLES))
    parser.add_argument("--repeats", type=int, default=MIN_REPEATS, help="at least 5")
    parser.add_argument(
        "--clock", choices=("wall", "cpu"), default="wall", help="cpu: for a machine in use"
    )
    parser.add_argument("--png", metavar="FILE", help="plot into this file; needs matplotlib")
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    arguments = parser.parse_args(argv)
    if arguments.repeats < MIN_REPEATS or min(arguments.tables) < 1:
        parser.error(f"expected at least {MIN_REPEATS} repeats, and at least one table")
    here = machine()
    setups = [choose_setup(name) for name in arguments.games]
    found = points(setups, arguments.tables, arguments.repeats, arguments.clock, note("scaling"))
    lines = [point.row() for point in found]
    if arguments.markdown:
        print(report.markdown(HEADER, lines))
    else:
        report.show("Cost and memory by the number of tables", HEADER, lines)
    facts = report.machine_lines(here, {"repeats": arguments.repeats, "seconds": 0, "clock": ""})
    facts[2] = (
        f"medians of {arguments.repeats} repeats of {LEAST:,} steps or one of each table, {arguments.clock} time"
    )
    print("\n".join(facts))
    if arguments.png:
        plot(found, arguments.png)
    if arguments.json:
        report.write_json(
            arguments.json, {"machine": here, "points": [asdict(point) for point in found]}
        )


if __name__ == "__main__":
    main()
