"""OpenSpiel's hearts, played at random, as a case beside ours.

It runs in a process of its own, under a Python that has ``open_spiel``; that may be another than ours. Inside C++:
a search bot with one simulation evaluates one dealt position by hundreds of random playouts (``RandomRolloutEvaluator``), so the
loop over legal actions never leaves C++; dealing is not in it, in ours it is. From Python: ``legal_actions`` and
``apply_action`` in a loop. Counted are the players' actions: cards played and cards passed.

    python -m benchmarks.peers --python /path/to/python     # one that has open_spiel
    python -m benchmarks.peers --install                    # in a virtual environment made for the run
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

from benchmarks import report
from benchmarks.measure import Case, Skipped, measure

LAYER = "OpenSpiel"
CPP = "OpenSpiel hearts, C++ playouts"
PYTHON = "OpenSpiel hearts, from Python"

_WORKER = """
import random, sys, time
import pyspiel

game = pyspiel.load_game("hearts")
dealt = game.new_initial_state()
draw = random.Random(0)
while dealt.is_chance_node():
    dealt.apply_action(draw.choice(dealt.chance_outcomes())[0])

def playout():
    state, actions = dealt.clone(), 0
    while not state.is_terminal():
        legal = state.legal_actions()
        state.apply_action(legal[int(draw.random() * len(legal))])
        actions += 1
    return actions

length, rollouts = playout(), 100
evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 1)
bot = pyspiel.MCTSBot(game, evaluator, 1.0, 1, 100, False, 1, False)

def inside():
    bot.step(dealt)
    return rollouts * length

work = {"cpp": inside, "python": playout}
print(length, flush=True)
for line in sys.stdin:
    wall, cpu = time.perf_counter(), time.thread_time()
    done = work[line.strip()]()
    print(done, time.perf_counter() - wall, time.thread_time() - cpu, flush=True)
"""


class OpenSpiel:
    """A process that plays OpenSpiel's hearts on demand.

    Args:
        python: An interpreter that has ``open_spiel``.

    Raises:
        RuntimeError: It has not.
    """

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None and self._process.stderr is not None
        first = self._process.stdout.readline()
        if not first:
            lines = self._process.stderr.read().strip().splitlines() or ["no answer"]
            self.close()
            raise RuntimeError(f"{python}: {lines[-1]}")

    def ask(self, what: str) -> tuple[int, float, float]:
        """Do a piece of ``"cpp"`` or ``"python"`` work; returns actions, wall seconds and CPU seconds."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(what, file=self._process.stdin, flush=True)
        done, wall, cpu = self._process.stdout.readline().split()
        return int(done), float(wall), float(cpu)

    def cases(self) -> list[Case]:
        """Random play inside C++, and from Python."""
        return [
            Case(CPP, LAYER, lambda: self.ask("cpp"), "legal actions, random choice, rules"),
            Case(PYTHON, LAYER, lambda: self.ask("python"), "the same, a call for each"),
        ]

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> OpenSpiel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@contextlib.contextmanager
def open_spiel(python: str | None = None, install: bool = False) -> Iterator[list[Case | Skipped]]:
    """The cases of OpenSpiel, for as long as the block lasts.

    Args:
        python: An interpreter that has ``open_spiel``; None: this one, if it has it.
        install: Make a virtual environment for the block and install ``open_spiel`` there from the package index.
    """
    with contextlib.ExitStack() as stack:
        if install:
            folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            python = str(Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python")
            command = [python, "-m", "pip", "install", "--quiet", "open_spiel"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                reason = f"open_spiel could not be installed: {done.stderr.strip()[-200:]}"
                yield [Skipped(CPP, LAYER, reason)]
                return
        if python is None and importlib.util.find_spec("pyspiel") is None:
            yield [
                Skipped(CPP, LAYER, "open_spiel is not installed; see --open-spiel and --install")
            ]
            return
        try:
            peer = stack.enter_context(OpenSpiel(python or sys.executable))
        except (OSError, RuntimeError) as error:
            yield [Skipped(CPP, LAYER, str(error))]
            return
        yield [*peer.cases()]


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--python", metavar="PYTHON", help="an interpreter that has open_spiel")
    parser.add_argument("--install", action="store_true", help="install it for this run")
    arguments = parser.parse_args(argv)
    with open_spiel(arguments.python, arguments.install) as items:
        for item in items:
            if isinstance(item, Skipped):
                print(f"{item.name}: not measured: {item.reason}")
        figures = measure([item for item in items if isinstance(item, Case)])
    for figure in figures.values():
        print(f"{figure.case.name}: {report.rate(figure)} ({report.spread(figure)})")


if __name__ == "__main__":
    main()
