"""N tables of one setup: buffers, drivers and threads behind the vector environments.

A batch may be forked or pickled, and different batches worked on by different Python threads.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from trick_core.bots import BatchView, Bot
from trick_core.drivers import (
    RESET,
    RESET_CUSTOM,
    STEP,
    STEP_AGAIN,
    Buffers,
    JitBot,
    batch_drivers,
    make_buffers,
    table_drivers,
)
from trick_core.game import AUTORESET, NUM_SEATS, Setup
from trick_core.rows import RowWork

#: Buffers that hold nothing from one call to the next.
_SCRATCH = ("views", "actions", "active", "scratch")


def check_threads(num_threads: Any) -> int:
    """A number of threads, at most ``NUMBA_NUM_THREADS`` where that variable is set.

    Raises:
        ValueError: Not a positive integer.
    """
    if isinstance(num_threads, (bool, np.bool_)) or not isinstance(num_threads, (int, np.integer)):
        raise ValueError(f"num_threads: expected a positive integer, got {num_threads!r}")
    if num_threads < 1:
        raise ValueError(f"num_threads: expected a positive integer, got {num_threads}")
    limit = os.environ.get("NUMBA_NUM_THREADS", "")
    if limit.strip().isdigit() and int(limit) > 0:
        return min(int(num_threads), int(limit))
    return int(num_threads)


class BotError(ValueError):
    """A jitted bot chose an illegal action; its table stands where it was to act."""


class Batch:
    """N tables. The caller plays the seats that no jitted bot plays.

    Args:
        setup: The game with its options.
        num_tables: N.
        packed: Observations as words instead of bytes.
        autoreset: ``"same_step"``, ``"next_step"`` or ``"disabled"``.
        num_threads: Threads that share the rows.
        bots: Jitted bots; :meth:`set_bots` says who plays where.
        log: How many of an episode's latest actions each table keeps, of all seats; a power of two.
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
        log: int = 1,
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
            setup.game, num_tables, packed=packed, final=autoreset == "same_step", log=log
        )
        self._all_active = True
        self._works: dict[int, tuple[tuple[JitBot, ...], RowWork]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """All but the jitted bots, which do not pickle; who owns the batch sets them again."""
        return {**self.__dict__, "bots": (), "public": None, "_works": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.public = self.setup.config
        self.config.flags.writeable = False

    def snapshot(self) -> dict[str, np.ndarray[Any, Any]]:
        """Copies of all that the rows are, and of what they show."""
        return {
            name: getattr(self.buffers, name).copy()
            for name in Buffers._fields
            if name not in _SCRATCH
        }

    def restore(self, snapshot: dict[str, np.ndarray[Any, Any]]) -> None:
        """Put the rows back to a snapshot."""
        for name, array in snapshot.items():
            getattr(self.buffers, name)[...] = array

    def copy(self) -> Batch:
        """A batch of its own in the same state."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.buffers = Buffers(*(array.copy() for array in self.buffers))
        twin._works = {}
        return twin

    def set_bots(self, bots: Sequence[JitBot], seat_bots: np.ndarray[Any, Any]) -> None:
        """Let ``bots[seat_bots[i, seat]]`` play; -1 is the caller. ``seat_bots`` is int8 (N, 4)."""
        self.bots = tuple(bots)
        self.buffers.tables["bots"] = seat_bots

    def reset(
        self,
        active: np.ndarray[Any, Any] | None = None,
        config: np.ndarray[Any, Any] | Sequence[np.ndarray[Any, Any] | None] | None = None,
    ) -> None:
        """Begin the next episode of the active rows (all: None), with a custom deal if ``config`` has one.

        Configurations in a sequence are for one row each (None: a deal from the seed); only for
        episodes of one deal, since later deals are read from the batch's own.
        """
        self._activate(active)
        if config is not None and not isinstance(config, np.ndarray):
            drivers = batch_drivers(self.setup.game, self.bots, self.packed)
            for i, row in enumerate(config):
                given, order = (self.config, RESET) if row is None else (row, RESET_CUSTOM)
                drivers.rows(given, self.public, self.run, self.buffers, order, i, i + 1)
        elif config is not None:
            config.flags.writeable = False  # a writable array is another type to the compiler
            self.config = config
            self._carry_out(RESET_CUSTOM)
        else:
            self._carry_out(RESET)
        self._raise_faults()

    def step(
        self,
        actions: np.ndarray[Any, Any],
        active: np.ndarray[Any, Any] | None = None,
        again: bool = False,
    ) -> None:
        """Take the actions (N,) in the active rows; ``again`` adds to the rewards of the call before.

        Who has written them to ``buffers.actions`` hands in that array.
        """
        self._activate(active)
        if actions is not self.buffers.actions:
            self.buffers.actions[:] = actions
        self._carry_out(STEP_AGAIN if again else STEP)
        self._raise_faults()

    def _activate(self, active: np.ndarray[Any, Any] | None) -> None:
        if active is not None:
            self.buffers.active[:] = active
        elif not self._all_active:
            self.buffers.active[:] = True
        self._all_active = active is None

    def _carry_out(self, order: int) -> None:
        """An order of :mod:`trick_core.drivers` in all active rows."""
        bots, work = self._works.get(order, (None, None))
        if work is None or bots is not self.bots or not self._is_of_now(work.arguments):
            rows = batch_drivers(self.setup.game, self.bots, self.packed).rows
            work = RowWork(rows, self.config, self.public, self.run, self.buffers, order)
            self._works[order] = self.bots, work
        work.share(self.num_tables, self.num_threads)

    def _is_of_now(self, arguments: tuple[Any, ...]) -> bool:
        """Whether a driver's arguments are this batch's; configuration and buffers may have been replaced."""
        config, public, run, buffers, _ = arguments
        return (
            buffers is self.buffers
            and config is self.config
            and public is self.public
            and run is self.run
        )

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
            raise BotError(
                f"bot {name!r} at seat {seat} of table {row} chose {action}; legal are {legal}"
            )

    def views(self, rows: np.ndarray[Any, Any], everything: bool = False) -> BatchView:
        """What the seats on turn of these rows may see, with fresh random words for each.

        ``everything``: whole states instead, for a bot that says it ``sees_all``.
        """
        game, buffers = self.setup.game, self.buffers
        records, randoms = game.states(len(rows)), np.zeros(len(rows), np.uint64)
        table_drivers(game).views(self.config, buffers, rows, records, randoms)
        if everything:
            records[...] = buffers.states[rows]
        return BatchView(
            game, self.public, records, buffers.words[rows], buffers.mask[rows], randoms
        )

    def ask(self, bot: Bot, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """A bot's actions for the seats on turn of these rows.

        Raises:
            ValueError: It chose an action that is not legal; the message names seat, action and the legal ones.
        """
        views = self.views(rows, bot.sees_all)
        legal = views.mask.copy()  # a bot may write on what it is handed
        seats = views.seats.copy()
        actions = np.asarray(bot.act_batch(views))
        if actions.shape != (len(rows),) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"bot {bot.name!r}: expected {len(rows)} integers, got "
                f"{actions.dtype} of shape {actions.shape}"
            )
        inside = (actions >= 0) & (actions < legal.shape[1])
        fine = inside & (legal[np.arange(len(rows)), np.where(inside, actions, 0)] != 0)
        if not fine.all():
            j = int(np.flatnonzero(~fine)[0])
            raise ValueError(
                f"bot {bot.name!r} at seat {seats[j]} of table {rows[j]} chose {actions[j]}; "
                f"legal are {np.flatnonzero(legal[j]).tolist()}"
            )
        return actions.astype(np.int64)


assert NUM_SEATS == 4
