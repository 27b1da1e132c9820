"""Other libraries in virtual environments of their own, and processes that play their games on demand."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import Case, Skipped
from benchmarks.peers import worker
from benchmarks.peers.worker import Facts

#: Where the environments are made, below the current folder.
FOLDER = Path(".peers")

#: What each group installs. An environment made for other pins is made anew.
REQUIREMENTS: Mapping[str, tuple[str, ...]] = {
    "openspiel": ("open_spiel==2.0.2",),
    "rlcard": ("rlcard==1.2.0",),
    "pettingzoo": (
        "pettingzoo[classic]==1.27.0",
        "open_spiel==2.0.2",
        "rlcard==1.2.0",
        "shimmy==2.0.1",
    ),
    "pgx": ("pgx==2.6.0", "jax==0.10.2", "jaxlib==0.10.2"),  # jaxlib is the CPU build
}

#: Libraries that are looked at and not measured, with the reason.
LEFT_OUT: Mapping[str, str] = {
    "PufferLib": (
        "3.0.0 has no wheel: building it fetches raylib from GitHub and compiles against PyTorch; its switch that leaves "
        "the games out (NO_OCEAN=1) stops with a NameError"
    ),
}

_STAMP = "requirements.txt"


class PeerError(RuntimeError):
    """A library cannot be installed or played; the message says why."""


@dataclass(frozen=True)
class Entry:
    """A case to time, or the reason why there is none.

    Attributes:
        facts: What is played.
        item: The case.
    """

    facts: Facts
    item: Case | Skipped


def python_of(folder: Path) -> Path:
    """The interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def installed(group: str, folder: Path = FOLDER) -> Path | None:
    """The interpreter of a group's environment; None: there is none with the pins of this version."""
    stamp = folder / group / _STAMP
    if not stamp.exists() or stamp.read_text().split() != list(REQUIREMENTS[group]):
        return None
    return python_of(folder / group).absolute()


def install(group: str, folder: Path = FOLDER) -> float:
    """Make the virtual environment of a group.

    Returns:
        Seconds that it took.

    Raises:
        PeerError: The packages cannot be installed.
    """
    start, target = time.perf_counter(), folder / group
    shutil.rmtree(target, ignore_errors=True)
    command = [
        *(str(python_of(target).absolute()), "-m", "pip", "install", "--quiet"),
        *("--disable-pip-version-check", *REQUIREMENTS[group]),
    ]
    for step in ([sys.executable, "-m", "venv", str(target)], command):
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode != 0:
            reason = _last_line(done.stderr, f"exit code {done.returncode}")
            raise PeerError(f"{', '.join(REQUIREMENTS[group])} could not be installed: {reason}")
    (target / _STAMP).write_text("\n".join(REQUIREMENTS[group]) + "\n")
    return time.perf_counter() - start


def _last_line(text: str, default: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), default).strip()


class Player:
    """A process that plays a group's games on demand; end it with :meth:`close` or a ``with`` block.

    Args:
        group: Name of the group.
        python: An interpreter that has its libraries.
        cache: Folder in which compiled code is kept from run to run.

    Attributes:
        versions: Of the packages that matter.
        entries: What it plays, and what it cannot.

    Raises:
        OSError: There is no such interpreter.
        PeerError: The process ended before it was ready.
    """

    def __init__(self, group: str, python: str | Path, cache: Path | None = None) -> None:
        self._group = group
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (open as long as the process)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        if cache is not None:
            environment["JAX_COMPILATION_CACHE_DIR"] = str(cache.absolute())
            environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        try:
            self._process = subprocess.Popen(
                [str(python), "-I", worker.__file__, group],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment,
                text=True,
            )
        except OSError:
            self._errors.close()
            raise
        try:
            hello: dict[str, Any] = json.loads(self._answer())
        except PeerError:
            self.close()
            raise
        self.versions: dict[str, str] = hello["versions"]
        self.entries = [
            Entry(facts, self._case(number, facts))
            for number, facts in enumerate(Facts(**work) for work in hello["works"])
        ]
        for lacking in hello["missing"]:
            facts = Facts(**lacking["facts"])
            self.entries.append(Entry(facts, Skipped(facts.name, facts.layer, lacking["reason"])))

    def _case(self, number: int, facts: Facts) -> Case:
        run = partial(self._ask, number)
        return Case(facts.name, facts.layer, run, facts.inside, facts.batch)

    def _ask(self, number: int) -> tuple[int, float, float]:
        """Play a little of a work; returns actions, wall seconds and CPU seconds."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the answer says why
            print(number, file=self._process.stdin, flush=True)
        units, wall, cpu = self._answer().split()
        return int(units), float(wall), float(cpu)

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            words = _last_line(self._errors.read(), "ended without an answer")
            raise PeerError(f"{self._group}: {words}")
        return line

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def players(
    groups: Mapping[str, str | Path | None],
    cache: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Iterator[tuple[list[Entry], dict[str, dict[str, str]]]]:
    """The cases of several groups, for as long as the block lasts.

    Args:
        groups: An interpreter for each group; None: it has no environment yet.
        cache: Folder for compiled code.
        progress: Called with the name of each group that gets ready.

    Yields:
        What can be played and what cannot, with reasons; and the versions of each group.
    """
    entries: list[Entry] = []
    versions: dict[str, dict[str, str]] = {}
    with contextlib.ExitStack() as stack:
        for group, python in groups.items():
            progress(group)
            try:
                if python is None:
                    raise PeerError("not installed here: python -m benchmarks.peers --install")
                player = stack.enter_context(Player(group, python, cache))
            except (OSError, PeerError) as error:
                for facts, _ in worker.GROUPS[group]():
                    skipped = Skipped(facts.name, facts.layer, str(error))
                    entries.append(Entry(facts, skipped))
                continue
            entries += player.entries
            versions[group] = player.versions
        yield entries, versions
