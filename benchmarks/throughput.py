"""Measure how fast random play goes through every layer.

    python -m benchmarks.throughput [--games bolola tarot bolola/trump] [--quick] [--json FILE] [--markdown]

Counted are actions of live seats alone. Compiling happens before the clock starts; ``benchmarks.startup`` measures
it. Where a figure has a partner (the C yardstick, the kernel, one thread, an environment that does nothing), both
were measured in turns and the ratio stands beside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks import report
from benchmarks.cases import Item, everything
from benchmarks.measure import (
    MIN_REPEATS,
    Case,
    Figure,
    Ratio,
    Skipped,
    machine,
    measure,
    ratio,
    usable_cores,
)
from benchmarks.reference import FORMS, NoYardstickError, description
from trick_core.game import Setup, setup_for

#: What a game's name alone stands for.
VARIANTS = {"bolola": "hearts", "tarot": "deal"}
HEADER = ("case", "rate", "spread", "ratio (lowest to highest)", "to")


def choose_setup(name: str) -> Setup:
    """The setup of a game's name (its usual variant) or of an environment id."""
    return setup_for(name if "/" in name else f"{name}/{VARIANTS.get(name, 'deal')}")


def pairs(figures: dict[str, Figure]) -> dict[str, str]:
    """Which case is held against which: the yardstick, the kernel, one thread, doing nothing."""
    partners = {f"kernel {form}": f"C {form}" for form in FORMS}
    partners["AEC"] = "AEC that does nothing"
    partners["clone of a state"] = "AEC deepcopy"
    for name, figure in figures.items():
        case = figure.case
        one = name.replace(f"{case.threads} threads", "1 thread")
        if case.threads > 1:
            partners[name] = one
        elif name.startswith("learner "):  # beside the environment of all seats
            partners[name] = name.replace("learner", "vector").rpartition(",")[0]
        elif name.startswith(("vector ", "batch ")) and not case.wall:  # by the same clock
            turns = f"kernel {name.split()[1].rstrip(',')}, N={case.batch}, by turns"
            partners[name] = turns
    return {a: b for a, b in partners.items() if a in figures and b in figures}


def rows(items: Sequence[Item], figures: dict[str, Figure], ratios: dict[str, Ratio]) -> list[Any]:
    """The lines of the table, in the order of the cases."""
    lines = []
    for item in items:
        if isinstance(item, Skipped):
            lines.append((item.name, "not measured", "", "", item.reason))
            continue
        figure, found = figures[item.name], ratios.get(item.name)
        measured = (item.name, report.rate(figure), report.spread(figure))
        lines.append((*measured, *((report.ratio_text(found), found.name) if found else ("", ""))))
    return lines


def loops(items: Sequence[Item]) -> list[str]:
    """What the timed loop of each layer holds, as lines."""
    layers: dict[str, dict[str, None]] = {}
    for item in items:
        if isinstance(item, Case):
            layers.setdefault(item.inside, {})[item.layer] = None
    return [f"{' and '.join(names)}: {text}" for text, names in layers.items()]


def run(
    setup: Setup,
    *,
    threads: Sequence[int],
    tables: Sequence[int],
    progress: Callable[[int, int], None],
    **settings: Any,
) -> tuple[list[Item], dict[str, Figure], dict[str, Ratio]]:
    """Measure all cases of a setup; see :func:`benchmarks.measure.measure` for the settings."""
    items = list(everything(setup, threads, tables))
    figures = measure([i for i in items if isinstance(i, Case)], progress=progress, **settings)
    partners = pairs(figures)
    ratios = {a: ratio(b, figures[a], figures[b]) for a, b in partners.items()}
    return items, figures, ratios


def note(text: str) -> Callable[[int, int], None]:
    """A progress line on stderr, where a terminal is."""

    def progress(done: int, of: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{text}: repeat {done} of {of} ", end="", file=sys.stderr, flush=True)
            if done == of:
                print(file=sys.stderr)

    return progress


def timing_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say how long to measure and by which clock."""
    parser.add_argument("--repeats", type=int, default=MIN_REPEATS, help="at least 5")
    parser.add_argument("--seconds", type=float, default=0.4, help="time of a case in a repeat")
    parser.add_argument("--quick", action="store_true", help="a tenth of the time")
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="cpu: the thread's own time, for cases of one thread on a shared machine",
    )
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")


def timing(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings for :func:`benchmarks.measure.measure`."""
    return {
        "repeats": arguments.repeats,
        "seconds": arguments.seconds / 10 if arguments.quick else arguments.seconds,
        "clock": arguments.clock,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.throughput", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--games",
        nargs="+",
        default=["bolola"],
        help="games, or environment ids such as bolola/trump",
    )
    parser.add_argument("--threads", nargs="+", type=int, default=[usable_cores()])
    parser.add_argument("--tables", nargs="+", type=int, default=[1, 64, 1024])
    timing_arguments(parser)
    arguments = parser.parse_args(argv)
    settings = timing(arguments)
    setups = [choose_setup(name) for name in arguments.games]
    here = machine()
    results: dict[str, Any] = {"machine": here, "settings": settings, "games": {}}
    for setup in setups:
        try:
            settings["yardstick"] = description(setup.game.name)
        except NoYardstickError as reason:
            settings["yardstick"] = f"none, so its ratios are absent: {reason}"
        timed = {key: value for key, value in settings.items() if key != "yardstick"}
        items, figures, ratios = run(
            setup,
            threads=arguments.threads,
            tables=arguments.tables,
            progress=note(setup.id),
            **timed,
        )
        lines = rows(items, figures, ratios)
        facts = [*loops(items), *report.machine_lines(here, settings)]
        if arguments.markdown:
            print(f"### {setup.id}\n")
            print(report.markdown(HEADER, lines))
            print("\n".join(f"- {fact}" for fact in facts) + "\n")
        else:
            report.show(setup.id, HEADER, lines)
            print("\n".join(facts) + "\n")
        results["games"][setup.id] = {
            "yardstick": settings["yardstick"],
            "figures": [figure.json() for figure in figures.values()],
            "ratios": [{"of": name, **found.json()} for name, found in ratios.items()],
            "not measured": [
                {"name": i.name, "reason": i.reason} for i in items if isinstance(i, Skipped)
            ],
        }
    if arguments.json:
        report.write_json(arguments.json, results)


if __name__ == "__main__":
    main()
