"""Side by side with what users would take instead: other libraries' card games, played at random.

    python -m benchmarks.peers --install     # makes their virtual environments in .peers where need be, then measures
    python -m benchmarks.peers               # measures those that are there

All cases take turns on one core, and are timed by the CPU time that they use (--clock wall: by the wall clock), which other work on
the machine disturbs little. Written besides the table: benchmarks/results/peers.json, docs/figures/peers.png, and the
marked parts of docs/peers.md and README.md, where these are; --no-files leaves them alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from baselines.extras import MissingExtraError
from benchmarks import report
from benchmarks.measure import Case, Figure, machine, measure
from benchmarks.peers import page
from benchmarks.peers.groups import (
    FOLDER,
    REQUIREMENTS,
    Entry,
    PeerError,
    install,
    installed,
    players,
)
from benchmarks.peers.ours import ours
from benchmarks.throughput import note, timing, timing_arguments

RESULTS = Path("benchmarks/results/peers.json")
PAGE, README, PLOT = Path("docs/peers.md"), Path("README.md"), Path("docs/figures/peers.png")


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def make_environments(groups: Sequence[str], folder: Path) -> None:
    """Install what is not there yet; what cannot be installed is said, and will be left out."""
    for group in groups:
        if installed(group, folder) is None:
            say(f"{group}: installing {', '.join(REQUIREMENTS[group])}")
            try:
                say(f"{group}: {install(group, folder):.0f} s")
            except PeerError as error:
                say(f"{group}: {error}")


def one_core() -> None:
    """Keep this process, and those that it starts, on one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def notes(
    here: dict[str, Any], settings: dict[str, Any], versions: dict[str, dict[str, str]]
) -> list[str]:
    """What the figures hold for, as lines."""
    found = report.machine_lines(here, settings)
    theirs = [
        f"environment `{group}`: {', '.join(f'{name} {version}' for name, version in each.items())}"
        for group, each in versions.items()
    ]
    return [*found[:2], *theirs, *found[2:], "all processes kept on one core"]


def run(
    groups: Sequence[str], folder: Path, settings: dict[str, Any]
) -> tuple[list[Entry], dict[str, Figure], dict[str, dict[str, str]]]:
    """Measure ours and the groups in turns."""
    pythons = {group: installed(group, folder) for group in groups}
    cache = folder / "cache"
    with players(pythons, cache, lambda group: say(f"{group}: getting ready")) as (
        theirs,
        versions,
    ):
        entries = [*ours(), *theirs]
        cases = [entry.item for entry in entries if isinstance(entry.item, Case)]
        figures = measure(cases, progress=note(f"{len(cases)} cases"), **settings)
    return entries, figures, versions


def write(
    found: Sequence[page.Line], here: dict[str, Any], settings: dict[str, Any], facts: Sequence[str]
) -> None:
    """The files that are kept."""
    content = {"machine": here, "settings": settings, "cases": page.as_json(found)}
    content["left out"] = page.not_measured(found)
    report.write_json(RESULTS, content)
    try:
        page.plot(found, PLOT, here["cpu"])
    except MissingExtraError as error:
        say(f"no plot: {error}")
    for file, text in ((PAGE, page.markdown(found, facts)), (README, page.brief(found))):
        if not file.exists() or not page.fill(file, "peers", text):
            say(f"no part of {file} is marked for the table")


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--groups", nargs="+", choices=list(REQUIREMENTS), default=list(REQUIREMENTS), help="all"
    )
    parser.add_argument(
        "--install", action="store_true", help="make the environments that are missing"
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where they are (.peers)")
    parser.add_argument("--no-files", action="store_true", help="print only")
    timing_arguments(parser)
    parser.set_defaults(clock="cpu")
    arguments = parser.parse_args(argv)
    start = time.perf_counter()
    if arguments.install:
        make_environments(arguments.groups, arguments.folder)
    settings = timing(arguments)
    here = machine()
    one_core()
    here["command"] = " ".join(["python", "-m", "benchmarks.peers", *(argv or sys.argv[1:])])
    try:
        entries, figures, versions = run(arguments.groups, arguments.folder, settings)
    except PeerError as error:  # in the middle: half of the repeats are no figure
        parser.exit(1, f"{error}\n")
    here["peers"] = versions
    found = page.lines(entries, figures)
    facts = notes(here, settings, versions)
    if arguments.markdown:
        print(page.markdown(found, facts))
    else:
        page.show(found)
        print("\n".join(facts))
    if not arguments.no_files:
        write(found, here, settings, facts)
    if arguments.json:
        report.write_json(
            arguments.json, {"machine": here, "settings": settings, "cases": page.as_json(found)}
        )
    say(f"took {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
