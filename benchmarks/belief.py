"""Measure how long it takes to count a seat's worlds, and to draw one.

    python -m benchmarks.belief [--quick] [--json FILE] [--markdown]

A search counts once a decision (``prepare``) and draws as many worlds as it likes (``sample``). Positions come from random play, for the
seat on turn; a figure is the mean over the positions of one depth. Drawing holds the copy of the record that the world is
written to.
"""

from __future__ import annotations

import argparse
import functools
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.measure import Case, Figure, machine, measure
from benchmarks.throughput import note, timing, timing_arguments
from trick_core.belief import count_worlds, view_of
from trick_core.game import Game, Setup, setup_for
from trick_core.jit import entry, records
from trick_core.records import Table

HEADER = ("actions", "worlds", "counting them", "spread", "drawing one", "spread")
#: Positions of one depth, and worlds that are drawn of each in a call.
POSITIONS = 16
DRAWS = 64


def setups() -> dict[str, tuple[Setup, tuple[int, ...]]]:
    """What is measured, and after how many actions."""
    from_discard = {"start": "discard", "taker": 0}
    return {
        "bolola/hearts": (setup_for("bolola/hearts"), (0, 12, 24, 36)),
        "bolola/all-penalties": (setup_for("bolola/all-penalties"), (0, 12, 24, 36)),
        "tarot/deal, bidding": (setup_for("tarot/deal"), (0, 2)),
        "tarot/deal, garde": (
            setup_for("tarot/deal", contract="garde", **from_discard),
            (8, 24, 40, 56),
        ),
        "tarot/deal, garde sans": (
            setup_for("tarot/deal", contract="garde_sans", **from_discard),
            (2, 24, 40, 56),
        ),
    }


@functools.cache
def drivers(game: Game) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """``count(config, views, seats, work)`` and ``draw(config, views, seats, work, world, draws)``, over all positions."""
    belief = game.belief
    assert belief is not None
    prepare, sample = belief.prepare, belief.sample
    sources = [str(game.folder), __file__]

    @entry(f"benchmarks.belief.count-{game.name}", sources)
    def count(config, views, seats, work):  # type: ignore[no-untyped-def]
        for i in range(views.shape[0]):
            prepare(config, views[i], seats[i], work[i])

    @entry(f"benchmarks.belief.draw-{game.name}", sources)
    def draw(config, views, seats, work, world, draws):  # type: ignore[no-untyped-def]
        random = np.uint64(1)
        for i in range(views.shape[0]):
            for _ in range(draws):
                world[0] = views[i]
                random = sample(config, world[0], seats[i], random, work[i])

    return count, draw


def positions(setup: Setup, depth: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], float]:
    """Views after so many random actions, the seats on turn, and the median number of worlds."""
    rng = np.random.default_rng(depth)
    views, seats = setup.game.states(POSITIONS), np.zeros(POSITIONS, np.int64)
    numbers = []
    for i in range(POSITIONS):
        table = Table(setup, number=i)
        for _ in range(depth):
            table.step(rng.choice(table.legal))
        view = view_of(setup, table.states)
        views[i], seats[i] = view.record[0], view.seat
        numbers.append(count_worlds(view))
    return views, seats, statistics.median(numbers)


def cases(setup: Setup, depth: int) -> tuple[float, Case, Case]:
    """The number of worlds, and the two cases of a depth."""
    assert setup.game.belief is not None
    views, seats, number = positions(setup, depth)
    work, world = records(POSITIONS, setup.game.belief.work), setup.game.states(1)
    count, draw = drivers(setup.game)
    count(setup.config, views, seats, work)

    def counting() -> int:
        count(setup.config, views, seats, work)
        return POSITIONS

    def drawing() -> int:
        draw(setup.config, views, seats, work, world, DRAWS)
        return POSITIONS * DRAWS

    return (
        number,
        Case(f"count {depth}", "belief", counting, "prepare", POSITIONS, unit="counts"),
        Case(f"draw {depth}", "belief", drawing, "copy, sample", POSITIONS, unit="worlds"),
    )


def microseconds(figure: Figure) -> tuple[str, str]:
    """Time of one, and the spread."""
    return f"{1e6 / figure.median:.2f} us", report.spread(figure)


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.belief", description=__doc__.splitlines()[0]
    )
    timing_arguments(parser)
    arguments = parser.parse_args(argv)
    settings = timing(arguments)
    here = machine()
    results: dict[str, object] = {"machine": here, "settings": settings}
    for name, (setup, depths) in setups().items():
        found = {depth: cases(setup, depth) for depth in depths}
        figures = measure(
            [case for _, *pair in found.values() for case in pair],
            progress=note(name),
            **settings,
        )
        lines = []
        for depth, (number, counting, drawing) in found.items():
            both = (*microseconds(figures[counting.name]), *microseconds(figures[drawing.name]))
            lines.append((str(depth), f"{number:.2g}", *both))
        if arguments.markdown:
            print(f"### {name}\n\n{report.markdown(HEADER, lines)}")
        else:
            report.show(name, HEADER, lines)
        results[name] = [figure.json() for figure in figures.values()]
    print("\n".join(report.machine_lines(here, settings)))
    if arguments.json:
        report.write_json(arguments.json, results)


if __name__ == "__main__":
    main()
