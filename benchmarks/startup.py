"""Measure what a user waits for at the start: import, and the first deal on a cold and on a warm kernel cache.

    python -m benchmarks.startup [--games bolola tarot] [--repeats 5] [--cold-repeats 2] [--json FILE] [--markdown]

Every figure comes from fresh processes. The page cache is as it happens to be: the first process of a machine's day
takes longer. The cold cache is an empty folder in NUMBA_CACHE_DIR, the warm one the same folder afterwards. A first
deal is made by one environment: turn-based (52 actions of Bolola and the end), or 64 tables in a vector
environment until the first has ended, with all seats played by the caller, or one, among three jitted ``greedy``. Compiling at import is looked for with Numba's own events.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import report
from benchmarks.measure import MIN_REPEATS, machine

#: What is measured, and the most seconds that it should take.
GOALS = {"import": 1.5, "first deal, warm": 1.0, "first deal, cold": 15.0}
HEADER = ("game", "what", "median", "lowest to highest", "goal", "repeats")

_WORKER = """
import importlib, json, sys, time
game, what = sys.argv[1:3]
clock = {"wall": time.perf_counter, "cpu": time.process_time}[sys.argv[3]]
start = clock()
if what == "compiled":
    import numba.core.event as event
    with event.install_recorder("numba:compile") as recorder:
        importlib.import_module(game + "_env")
    print(json.dumps(len(recorder.buffer)))
    sys.exit()
module = importlib.import_module(game + "_env")
imported = clock()
if what == "aec":
    env = module.env()
    env.reset(seed=0)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        over = terminated or truncated
        env.step(None if over else observation["action_mask"].tobytes().rfind(1))
elif what == "vector":
    env = module.vector_env(num_envs=64)
    env.reset(seed=0)
    over = False
    while not over:
        over = env.step(env.sample_actions())[2].any()
elif what == "learner":
    from trick_core.game import find_game
    from trick_core.learner import LearnerVectorEnv
    env = LearnerVectorEnv(find_game(game).setup(), 64, "greedy")
    env.reset(seed=0)
    over = False
    while not over:
        over = env.step(env.sample_actions())[2].any()
print(json.dumps([imported - start, clock() - imported]))
"""


@dataclass(frozen=True)
class Wait:
    """Seconds that something takes in fresh processes.

    Attributes:
        game: The game.
        name: What is waited for.
        goal: The most it should take; None: no goal.
        seconds: One figure a process.
    """

    game: str
    name: str
    goal: float | None
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def row(self) -> tuple[str, ...]:
        """The line of the table."""
        goal = "" if self.goal is None else f"< {self.goal:g} s"
        low, high = min(self.seconds), max(self.seconds)
        spread = f"{low:.2f} to {high:.2f} s"
        return self.game, self.name, f"{self.median:.2f} s", spread, goal, str(len(self.seconds))


def _process(game: str, what: str, cache: str, clock: str = "wall") -> Any:
    """Run the worker in a fresh process and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", _WORKER, game, what, clock],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{game}, {what}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def compiled_at_import(game: str) -> int:
    """How many functions importing the game's package compiles, with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        return int(_process(game, "compiled", cache))


def waits(
    game: str, repeats: int = MIN_REPEATS, cold_repeats: int = 2, clock: str = "wall"
) -> list[Wait]:
    """Measure import and first deals of a game.

    Args:
        game: Its name.
        repeats: Processes for each figure but the cold ones.
        cold_repeats: Processes with an empty cache; each compiles for many seconds.
        clock: ``"wall"``; or ``"cpu"``: the process's own time, on a machine that others use too.
    """
    imports: list[float] = []
    found = []
    kinds = {"aec": "turn-based", "vector": "vector", "learner": "one learner among greedy"}
    for what, name in kinds.items():
        cold, warm = [], []
        for _ in range(cold_repeats):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(_process(game, what, cache, clock)[1])
                times = [
                    _process(game, what, cache, clock) for _ in range(-(-repeats // cold_repeats))
                ]
            imports += [imported for imported, _ in times]
            warm += [first for _, first in times]
        for state, seconds in (("warm", warm), ("cold", cold)):
            goal = GOALS[f"first deal, {state}"]
            found.append(Wait(game, f"first deal, {state} cache, {name}", goal, tuple(seconds)))
    return [Wait(game, "import", GOALS["import"], tuple(imports)), *found]


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.startup", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--games", nargs="+", default=["bolola"])
    parser.add_argument("--repeats", type=int, default=MIN_REPEATS)
    parser.add_argument("--cold-repeats", type=int, default=2)
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="cpu: the processes' own time, on a shared machine",
    )
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    arguments = parser.parse_args(argv)
    if arguments.repeats < 1 or arguments.cold_repeats < 1:
        parser.error("--repeats and --cold-repeats: expected at least 1")
    here = machine()
    found, compiled = [], {}
    for game in arguments.games:
        compiled[game] = compiled_at_import(game)
        found += waits(game, arguments.repeats, arguments.cold_repeats, arguments.clock)
    lines = [wait.row() for wait in found]
    if arguments.markdown:
        print(report.markdown(HEADER, lines))
    else:
        report.show("Start-up, in fresh processes", HEADER, lines)
    for game, number in compiled.items():
        print(f"{game}: import compiles {number} functions")
    print(
        f"{here['cpu']}, {here['cores']} cores, load {here['load']}; Python {here['python']}; "
        f"{arguments.clock} time"
    )
    if arguments.json:
        content = [
            {"game": w.game, "name": w.name, "goal": w.goal, "seconds": w.seconds} for w in found
        ]
        report.write_json(
            arguments.json, {"machine": here, "waits": content, "compiled at import": compiled}
        )


if __name__ == "__main__":
    main()
