"""Measure how fast rollouts go, beside bare random play in the kernel.

    python -m benchmarks.rollouts [--quick] [--json FILE] [--markdown]

A rollout copies a state, plays it to the end with policies that are asked seat by seat, and counts the points; the kernel's
random play deals and plays, and counts nothing. Both are measured in turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import baselines  # noqa: F401  (registers the bots)
from benchmarks import report
from benchmarks.cases import STEPS, TABLES
from benchmarks.measure import Case, machine, measure, ratio
from benchmarks.reference import KernelPlayer
from benchmarks.throughput import note, timing, timing_arguments
from trick_core.game import Setup, setup_for
from trick_core.records import Table
from trick_core.rollouts import rollouts

HEADER = ("case", "rate", "spread", "ratio (lowest to highest)", "to")
POLICIES = ("random", "greedy")
#: Rollouts of each table in a call.
COUNT = 16


def setups() -> dict[str, Setup]:
    """What is measured; every episode has the same number of actions, so that steps can be counted."""
    return {
        "bolola/hearts": setup_for("bolola/hearts"),
        "bolola/trump": setup_for("bolola/trump"),
        "tarot/deal, from the first card": setup_for("tarot/deal", start="play"),
    }


def actions_of(setup: Setup) -> int:
    """Actions in an episode."""
    table = Table(setup)
    while not table.over:
        table.step(table.legal[0])
    return len(table.history)


def cases(setup: Setup) -> list[Case]:
    """Random play in the kernel, and rollouts from the beginning of as many deals."""
    player = KernelPlayer(setup, TABLES)
    states = np.concatenate([Table(setup, number=k).states for k in range(TABLES)])
    steps = actions_of(setup) * TABLES * COUNT

    def rolling(policy: str) -> Case:
        def run() -> int:
            rollouts(setup, states, COUNT, policy, seed=0)
            return steps

        inside = (
            "copying the state, policies seat by seat, rules, points; through the Python function"
        )
        return Case(f"rollouts, {policy}", "rollouts", run, inside, TABLES)

    inside = "dealing, random choice, rules"
    kernel = Case(
        "kernel state", "kernel", lambda: player.play("state", STEPS * COUNT), inside, TABLES
    )
    return [kernel, *map(rolling, POLICIES)]


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rollouts", description=__doc__.splitlines()[0]
    )
    timing_arguments(parser)
    arguments = parser.parse_args(argv)
    settings = timing(arguments)
    here = machine()
    results: dict[str, object] = {"machine": here, "settings": settings}
    for name, setup in setups().items():
        figures = measure(cases(setup), progress=note(name), **settings)
        base = figures["kernel state"]
        lines = []
        for figure in figures.values():
            found = None if figure is base else ratio("kernel state", figure, base)
            compared = (report.ratio_text(found), found.name) if found else ("", "")
            lines.append((figure.case.name, report.rate(figure), report.spread(figure), *compared))
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
