"""N tables of one setup: buffers, drivers and threads behind the vector environments.

Threads are Python threads over kernels that release the GIL. The pool is made at first use in each process, so a
batch may be forked or pickled; ``prange`` is not used, since its threading layers die after a fork or under
two Python threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from trick_core.bots import BatchView, Bot
from trick_core.drivers import Buffers, JitBot, batch_drivers, make_buffers
from trick_core.game import AUTORESET, NUM_SEATS, Setup
from trick_core.rng import mix

_pool: tuple[int, int, ThreadPoolExecutor] | None = None


def thread_pool(num_threads: int) -> ThreadPoolExecutor:
    """A pool of at least ``num_threads`` in this process, shared by all batches."""
    global _pool
    process = os.getpid()
    if _pool is None or _pool[0] != process or _pool[1] < num_threads:
        _pool = (process, num_threads, ThreadPoolExecutor(num_threads, "trick-envs"))
    return _pool[2]


class Batch:
    """N tables. The caller plays the seats that no jitted bot plays.

    Args:
        setup: The game with its options.
        num_tables: N.
        packed: Observations as words instead of bytes.
        autoreset: ``"same_step"``, ``"next_step"`` or ``"disabled"``.
        num_threads: Threads that share the rows.
        bots: Jitted bots; ``seat_bots`` says who plays where.
    """

    def __init__(
        self,
        setup: Setup,
        num_tables: int,
        *,
        packed: bool = False,
        autoreset: str = "same_step",
        num_threads: int = 1,
        bots: Sequence[JitBot] = (),
    ) -> None:
        self.setup = setup
        self.num_tables = num_tables
        self.packed = packed
        self.autoreset = autoreset
        self.num_threads = num_threads
        self.config = setup.config
        self.public = setup.config
        self.run = setup.run(AUTORESET.index(autoreset))
        self.bots = tuple(bots)
        self.buffers: Buffers = make_buffers(
            setup.game, num_tables, packed=packed, final=autoreset == "same_step"
        )

    def set_bots(self, bots: Sequence[JitBot], seat_bots: np.ndarray[Any, Any]) -> None:
        """Let ``bots[seat_bots[i, seat]]`` play; -1 is the caller. ``seat_bots`` is int8 (N, 4)."""
        self.bots = tuple(bots)
        self.buffers.tables["bots"] = seat_bots

    def reset(
        self,
        active: np.ndarray[Any, Any] | None = None,
        config: np.ndarray[Any, Any] | None = None,
    ) -> None:
        """Begin the next episode of the active rows (all: None), with a custom deal if ``config`` has one."""
        if config is not None:
            self.config = config
        self._activate(active)
        drivers = batch_drivers(self.setup.game, self.bots, self.packed)
        custom = int(config is not None)
        self._spread(
            lambda lo, hi: drivers.reset(
                self.config, self.public, self.run, self.buffers, lo, hi, custom
            )
        )
        self._raise_faults()

    def step(
        self,
        actions: np.ndarray[Any, Any],
        active: np.ndarray[Any, Any] | None = None,
        again: bool = False,
    ) -> None:
        """Take the actions (N,) in the active rows; ``again`` adds to the rewards of the call before."""
        self._activate(active)
        self.buffers.actions[:] = actions
        drivers = batch_drivers(self.setup.game, self.bots, self.packed)
        self._spread(
            lambda lo, hi: drivers.step(
                self.config, self.public, self.run, self.buffers, lo, hi, again
            )
        )
        self._raise_faults()

    def _activate(self, active: np.ndarray[Any, Any] | None) -> None:
        self.buffers.active[:] = True if active is None else active

    def _spread(self, work: Callable[[int, int], None]) -> None:
        """Call ``work(lo, hi)`` on all rows, shared among the threads."""
        count = min(self.num_threads, self.num_tables)
        if count <= 1:
            work(0, self.num_tables)
            return
        edges = [self.num_tables * k // count for k in range(count + 1)]
        pool = thread_pool(count - 1)
        others = [pool.submit(work, edges[k], edges[k + 1]) for k in range(1, count)]
        work(edges[0], edges[1])
        for other in others:
            other.result()

    def _raise_faults(self) -> None:
        if not self.bots:
            return
        faults = self.buffers.tables["fault"]
        if faults.any():
            row = int(np.flatnonzero(faults)[0])
            table = self.buffers.tables[row]
            seat, action = int(table["fault"]) - 1, int(table["fault_action"])
            name = self.bots[int(table["bots"][seat])].label
            legal = self.setup.game.legal_ids(self.buffers.states[row])
            faults[:] = 0
            raise ValueError(
                f"bot {name!r} at seat {seat} of table {row} chose {action}; legal are {legal}"
            )

    def views(self, rows: np.ndarray[Any, Any]) -> BatchView:
        """What the seats on turn of these rows may see, with fresh random words for each."""
        from trick_core.drivers import table_drivers

        game, buffers = self.setup.game, self.buffers
        records = game.states(len(rows))
        view = table_drivers(game).view
        tables = buffers.tables
        for j, i in enumerate(rows.tolist()):
            view(self.config, buffers.states, i, int(buffers.states[i]["seat"]), records, j)
        with np.errstate(over="ignore"):
            tables["random"][rows] += np.uint64(0x9E3779B97F4A7C15)
        randoms = np.array([mix(word) for word in tables["random"][rows]], np.uint64)
        return BatchView(
            game, self.public, records, buffers.words[rows], buffers.mask[rows], randoms
        )

    def ask(self, bot: Bot, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """A bot's actions for the seats on turn of these rows.

        Raises:
            ValueError: It chose an action that is not legal; the message names seat, action and the legal ones.
        """
        views = self.views(rows)
        actions = np.asarray(bot.act_batch(views))
        if actions.shape != (len(rows),):
            raise ValueError(f"bot {bot.name!r}: expected {len(rows)} actions, got {actions.shape}")
        legal = views.mask
        for j, action in enumerate(actions.tolist()):
            if (
                action != int(action)
                or not 0 <= action < legal.shape[1]
                or not legal[j, int(action)]
            ):
                raise ValueError(
                    f"bot {bot.name!r} at seat {views.seats[j]} of table {rows[j]} chose {action!r}; "
                    f"legal are {np.flatnonzero(legal[j]).tolist()}"
                )
        return actions.astype(np.int64)


assert NUM_SEATS == 4
