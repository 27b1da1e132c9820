"""Hold the library against its speed goals, each a ratio of two things measured in the same run.

    python -m benchmarks.goals [--games bolola tarot] [--open-spiel PYTHON | --install] [--quick] [--json FILE]

OpenSpiel is measured where an interpreter has it: the one named, the one that ``benchmarks.peers`` keeps in ``.peers``, or this one;
``--install`` makes the second where there is none. Two threads are measured where there are two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks import cases, peers, report, startup
from benchmarks.measure import Case, Figure, Ratio, Skipped, machine, measure, ratio, usable_cores
from benchmarks.throughput import choose_setup, note, timing, timing_arguments
from trick_core.game import Setup

HEADER = ("game", "what", "goal", "figure", "lowest to highest", "rates", "met")
#: Tables of the vector environment, and of the comparison of threads.
TABLES, LARGE = 1024, 4096


@dataclass(frozen=True)
class Line:
    """One goal and what was found.

    Attributes:
        game: The game.
        what: What is measured.
        goal: The goal, in words.
        figure: The median.
        spread: The lowest and the highest repeat.
        rates: Both sides of a ratio.
        met: None: not measured.
    """

    game: str
    what: str
    goal: str
    figure: str = "not measured"
    spread: str = ""
    rates: str = ""
    met: bool | None = None

    def row(self) -> tuple[str, ...]:
        """The line of the table."""
        met = {True: "yes", False: "no", None: ""}[self.met]
        return self.game, self.what, self.goal, self.figure, self.spread, self.rates, met


def _held(game: str, what: str, least: float, value: Ratio, above: Figure, below: Figure) -> Line:
    return Line(
        game,
        what,
        f">= {least:g}",
        f"{value.median:.3g}",
        f"{value.low:.3g} to {value.high:.3g}",
        f"{report.rate(above)} : {report.rate(below)}",
        value.median >= least,
    )


#: (what, least, above, below); names as in benchmarks.cases.
_RATIOS = (
    ("kernel vs C, state only", 0.9, "kernel state", "C state"),
    ("kernel vs C, packed observation and mask", 0.9, "kernel packed", "C packed"),
    ("kernel vs C, byte observation and mask", 0.9, "kernel bytes", "C bytes"),
    ("kernel vs OpenSpiel's C++ playouts", 10.0, "kernel state", peers.CPP),
    *(
        (
            f"vector env, N={TABLES}, vs kernel on as many tables by turns, {form}",
            0.8,
            f"vector {form}, N={TABLES}, copy=False, 1 thread",
            f"kernel {form}, N={TABLES}, by turns",
        )
        for form in ("packed", "bytes")
    ),
    *(
        (
            f"vector env, N={TABLES}, vs kernel with one table in cache, {form}",
            0.8,
            f"vector {form}, N={TABLES}, copy=False, 1 thread",
            f"kernel {form}",
        )
        for form in ("packed", "bytes")
    ),
    (
        f"vector env, 2 threads vs 1, N={LARGE}, packed",
        1.7,
        f"vector packed, N={LARGE}, copy=False, 2 threads",
        f"vector packed, N={LARGE}, copy=False, 1 thread",
    ),
    (
        f"kernel, 2 threads vs 1, N={LARGE}, packed",
        1.7,
        f"kernel packed, N={LARGE}, 2 threads",
        f"kernel packed, N={LARGE}, 1 thread",
    ),
    *(
        (
            f"one learner vs three {bot}, decisions, vs vector env of all seats, steps; N={TABLES}, {form}",
            0.25,
            f"learner {form}, N={TABLES}, copy=False, 1 thread, {bot}",
            f"vector {form}, N={TABLES}, copy=False, 1 thread",
        )
        for bot in ("random", "greedy")
        for form in ("packed", "bytes")
    ),
    ("AEC loop vs an AECEnv that does nothing", 0.35, "AEC", "AEC that does nothing"),
)
_CLONE = "clone of a state"
_CLONE_GOAL = 5.0


def _items(setup: Setup) -> list[cases.Item]:
    """The cases that the goals need, less OpenSpiel."""
    items = [*cases.yardstick(setup), *cases.kernel(setup), *cases.kernel_turns(setup, TABLES)]
    items += [cases.vector(setup, TABLES, form, copies=False) for form in ("packed", "bytes")]
    items += [
        cases.learner(setup, TABLES, form, copies=False, opponents=bot)
        for bot in ("random", "greedy")
        for form in ("packed", "bytes")
    ]
    if usable_cores() >= 2:
        for threads in (1, 2):
            items.append(
                cases.vector(setup, LARGE, "packed", copies=False, threads=threads, wall=True)
            )
            items += [
                item
                for item in cases.kernel_threads(setup, threads, LARGE)
                if item.name.startswith("kernel packed")
            ]
    items += cases.turns(setup)
    items += [item for item in cases.clones(setup) if item.name == _CLONE]
    return items


def speed_lines(setup: Setup, items: Sequence[cases.Item], **settings: Any) -> list[Line]:
    """Measure the cases in turns and hold them against the goals."""
    figures = measure([item for item in items if isinstance(item, Case)], **settings)
    reasons = {item.name: item.reason for item in items if isinstance(item, Skipped)}
    game, lines = setup.id, []
    for what, least, above, below in _RATIOS:
        if below == peers.CPP and setup.game.name != "bolola":
            continue  # OpenSpiel's hearts is the likeness of Bolola's hearts alone
        if above in figures and below in figures:
            value = ratio(below, figures[above], figures[below])
            lines.append(_held(game, what, least, value, figures[above], figures[below]))
        else:
            missing = above if above not in figures else below
            reason = reasons.get(missing, "one core here")
            lines.append(Line(game, what, f">= {least:g}", rates=reason))
    clone = figures[_CLONE]
    times = [1e6 / value for value in (clone.median, clone.high, clone.low)]
    spread = f"{times[1]:.3g} to {times[2]:.3g} us"
    met = times[0] < _CLONE_GOAL
    lines.append(Line(game, _CLONE, f"< {_CLONE_GOAL:g} us", f"{times[0]:.3g} us", spread, met=met))
    return lines


def startup_lines(game: str, repeats: int, clock: str) -> list[Line]:
    """Import and first deals against their goals."""
    lines = []
    for wait in startup.waits(game, repeats, 2, clock):
        _, name, figure, spread, goal, _ = wait.row()
        met = wait.goal is None or wait.median < wait.goal
        lines.append(Line(game, name, goal, figure, spread, met=met))
    compiled = startup.compiled_at_import(game)
    lines.append(Line(game, "functions compiled at import", "0", str(compiled), met=compiled == 0))
    return lines


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.goals", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--games", nargs="+", default=["bolola"])
    parser.add_argument("--open-spiel", metavar="PYTHON", help="an interpreter that has open_spiel")
    parser.add_argument(
        "--install", action="store_true", help="install open_spiel in .peers if need be"
    )
    parser.add_argument("--no-startup", action="store_true", help="leave out import and first deal")
    timing_arguments(parser)
    arguments = parser.parse_args(argv)
    settings = timing(arguments)
    here = machine()
    lines: list[Line] = []
    with peers.open_spiel(arguments.open_spiel, arguments.install) as others:
        for name in arguments.games:
            setup = choose_setup(name)
            items = [*_items(setup), *(others if setup.game.name == "bolola" else [])]
            lines += speed_lines(setup, items, progress=note(setup.id), **settings)
    if not arguments.no_startup:
        for name in dict.fromkeys(name.partition("/")[0] for name in arguments.games):
            lines += startup_lines(name, arguments.repeats, arguments.clock)
    table = [line.row() for line in lines]
    facts = report.machine_lines(here, settings)
    if arguments.markdown:
        print(report.markdown(HEADER, table) + "\n" + "\n".join(f"- {fact}" for fact in facts))
    else:
        report.show("Speed goals", HEADER, table)
        print("\n".join(facts))
    if arguments.json:
        report.write_json(
            arguments.json,
            {"machine": here, "settings": settings, "goals": [asdict(line) for line in lines]},
        )


if __name__ == "__main__":
    main()
