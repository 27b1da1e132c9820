"""The yardstick: the same random play in C, compiled on the spot and called in this process.

``<game>.c`` plays a game as its kernels do, with the same random numbers, so that both sides can be shown
to play the same deals. ``<game>.py`` says how a setup becomes the C file's records. What all games share is
in ``common.h`` and ``play.h``.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from trick_core.drivers import make_buffers, random_drivers
from trick_core.game import Setup
from trick_core.rows import RowWork

FORMS = ("state", "packed", "bytes")
FOLDER = Path(__file__).parent
FLAGS = ("-O3", "-march=native", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden")


class NoYardstickError(RuntimeError):
    """There is nothing to compare with; the message says why."""


class Player(Protocol):
    """Random legal play of ``count`` tables, in C or in the kernel."""

    game: str
    words: np.ndarray[Any, Any]  # (N, W) uint64
    obs: np.ndarray[Any, Any]  # (N, D) int8
    mask: np.ndarray[Any, Any]  # (N, A) int8

    def play(self, form: str, steps: int, lo: int = 0, hi: int | None = None) -> int:
        """Take ``steps`` actions at every table from ``lo`` to ``hi - 1``; returns how many were taken."""
        ...

    def table(self, name: str) -> np.ndarray[Any, Any]:
        """A field of all tables' states, by the name that the game's dtype gives it."""
        ...


def compiler() -> list[str]:
    """The command of a C compiler: ``CC`` if set, else gcc, cc or clang.

    Raises:
        NoYardstickError: There is none.
    """
    wanted = shlex.split(os.environ.get("CC", "")) or ["gcc"]
    for command in (wanted, ["gcc"], ["cc"], ["clang"]):
        if shutil.which(command[0]):
            return command
    raise NoYardstickError("no C compiler (looked for $CC, gcc, cc and clang)")


@functools.cache
def library(game: str) -> ctypes.CDLL:
    """The compiled yardstick of a game.

    Raises:
        NoYardstickError: No compiler, no C source for the game, or it does not compile here.
    """
    source = Path(__file__).parent / f"{game}.c"
    if not source.exists():
        raise NoYardstickError(f"{game} has no yardstick in C yet")
    command = compiler()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        target = Path(folder) / f"{game}.so"
        done = subprocess.run(
            [*command, *FLAGS, f"-I{FOLDER}", str(source), "-o", str(target)],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise NoYardstickError(f"{command[0]} could not compile {source.name}:\n{done.stderr}")
        loaded = ctypes.CDLL(str(target))
    for name in ("row_size", "table_size"):
        getattr(loaded, name).restype = ctypes.c_size_t
    loaded.compiled_with.restype = ctypes.c_char_p
    for form in FORMS:
        function = getattr(loaded, f"play_{form}")
        function.restype = ctypes.c_int64
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        function.argtypes = [pointer, ctypes.c_int, *[pointer] * 4, *[number] * 3]
    return loaded


def description(game: str) -> str:
    """Compiler and flags, for the report."""
    version = library(game).compiled_with().decode()
    return f"{compiler()[0]} {version} {' '.join(FLAGS[:2])}"


class YardstickPlayer:
    """Random play in C.

    Args:
        setup: The game with its options.
        count: N tables; table i is seeded with ``seed + i``.
        seed: See above.

    Raises:
        NoYardstickError: See :func:`library`.
    """

    def __init__(self, setup: Setup, count: int, seed: int = 0) -> None:
        game = setup.game
        self.game = game.name
        self._library = library(game.name)
        records = _records(game.name)
        self._rows = records.rows(setup)
        self._tables = np.zeros(count, records.TABLE)
        for name, size, dtype in (
            ("row", self._library.row_size(), records.ROW),
            ("table", self._library.table_size(), records.TABLE),
        ):
            if size != dtype.itemsize:
                raise NoYardstickError(f"{name}: {size} bytes in C, {dtype.itemsize} in Python")
        self._tables["seat"] = -1
        self._tables["seed"], self._tables["random"] = _seeds(count, seed)
        self.words = np.zeros((count, game.layout.words), np.uint64)
        self.obs = np.zeros((count, 64 * game.layout.words), np.int8)
        self.mask = np.zeros((count, game.num_actions), np.int8)
        self._pointers = [
            self._rows.ctypes.data,
            len(self._rows),
            *(a.ctypes.data for a in (self._tables, self.words, self.obs, self.mask)),
        ]

    def play(self, form: str, steps: int, lo: int = 0, hi: int | None = None) -> int:
        count = len(self._tables) if hi is None else hi
        function = getattr(self._library, f"play_{form}")
        return int(function(*self._pointers, lo, count, steps))

    def table(self, name: str) -> np.ndarray[Any, Any]:
        return self._tables[name]


class KernelPlayer:
    """The same in the game's compiled kernel."""

    def __init__(self, setup: Setup, count: int, seed: int = 0) -> None:
        self.game = setup.game.name
        self._config = setup.config
        self._drivers = random_drivers(setup.game)
        self._buffers = make_buffers(setup.game, count, final=False)
        self._buffers.states["seat"] = -1
        tables = self._buffers.tables
        tables["seed"], tables["random"] = _seeds(count, seed)
        buffers = self._buffers
        self.words, self.obs, self.mask = buffers.words, buffers.obs, buffers.mask

    def play(self, form: str, steps: int, lo: int = 0, hi: int | None = None) -> int:
        count = len(self._buffers.states) if hi is None else hi
        return int(self._drivers[form](self._config, self._buffers, steps, lo, count))

    def work(self, form: str, steps: int) -> RowWork:
        """The same for threads to share; every table takes ``steps`` actions."""
        return RowWork(self._drivers[form], self._config, self._buffers, steps)

    @property
    def states(self) -> np.ndarray[Any, Any]:
        """All tables' states."""
        return self._buffers.states

    def table(self, name: str) -> np.ndarray[Any, Any]:
        return np.asarray(self._buffers.states[name])


def checksum(player: Player, steps: int, form: str = "bytes") -> tuple[int, int, str]:
    """Play one action at a time and take in all that can be seen after each.

    Args:
        player: Fresh tables, in C or in the kernel.
        steps: Actions at every table.
        form: ``"packed"`` or ``"bytes"`` to take in observations and masks too.

    Returns:
        Actions taken; the game's ``SCORE`` at all finished deals, summed; a hash of the states and, unless ``form`` is
        ``"state"``, observations and masks after every action.
    """
    records = _records(player.game)
    digest = hashlib.sha256()
    taken = points = 0
    for _ in range(steps):
        taken += player.play(form, 1)
        over = player.table("seat") < 0
        points += int(player.table(records.SCORE)[over].sum())
        shown = [player.words, player.obs, player.mask] if form == "bytes" else []
        if form == "packed":
            shown = [player.words, player.mask]
        for array in (*map(player.table, records.COMPARED), *shown):
            digest.update(np.ascontiguousarray(array).tobytes())
    return taken, points, digest.hexdigest()


def _records(game: str) -> Any:
    """The module that says how a game's records lie in C."""
    return importlib.import_module(f"benchmarks.reference.{game}")


def _seeds(count: int, seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Seeds of the tables, and first states of the streams that their actions are drawn from."""
    seeds = np.arange(count, dtype=np.uint64) + np.uint64(seed)
    return seeds, seeds << np.uint64(40)
