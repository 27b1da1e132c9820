"""Who plays the seats around a learner, from what a user names to the numbers in the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from trick_core.batch import Batch
from trick_core.bots import Bot, as_bot
from trick_core.drivers import JitBot
from trick_core.game import NUM_SEATS, Game, check_seat

#: The plan of a learner whose seat rotates; every other plan is the seat itself.
ROTATES = 4

#: Who plays each seat, by the learner's seat: ``lineup[learner][seat]``; None: the learner, or no such plan.
Lineup = tuple[tuple[Bot | None, ...], ...]

# Codes in ``TABLE.bots``: j >= 0 is jitted bot j, -1 the learner, -2 - j Python bot j.
_LEARNER = -1
_MOST_BOTS = 120  # codes are int8


def check_plan(seat: Any) -> int:
    """The learner's seat 0..3, or :data:`ROTATES` for ``"rotate"``.

    Raises:
        ValueError: Neither.
    """
    if isinstance(seat, str) and seat == "rotate":
        return ROTATES
    if isinstance(seat, str):
        raise ValueError(f"seat: expected a seat 0..3 or 'rotate', got {seat!r}")
    return check_seat("seat", seat)


def make_lineup(opponents: Any, plan: int) -> Lineup:
    """The bots of every seat, for every seat that the learner may have.

    Args:
        opponents: One bot for the other seats; three, for the seats after the learner's in play order; or
            ``{absolute seat: bot}``. A bot is what :func:`trick_core.bots.as_bot` takes.
        plan: From :func:`check_plan`.

    Raises:
        ValueError: An unknown name, a wrong number of bots, or seats that do not fit the plan.
        TypeError: Something that is no bot.
    """
    learners = range(NUM_SEATS) if plan == ROTATES else (plan,)
    rows: list[tuple[Bot | None, ...]] = [(None,) * NUM_SEATS] * NUM_SEATS
    if isinstance(opponents, Mapping) and not hasattr(opponents, "act"):
        fixed = {check_seat("opponents", seat): as_bot(bot) for seat, bot in opponents.items()}
        wanted = {seat for learner in learners for seat in range(NUM_SEATS) if seat != learner}
        if set(fixed) != wanted:
            raise ValueError(
                f"opponents: expected a bot for each of the seats {sorted(wanted)}, got {sorted(fixed)}"
            )
        for learner in learners:
            rows[learner] = tuple(
                None if seat == learner else fixed[seat] for seat in range(NUM_SEATS)
            )
        return tuple(rows)
    if isinstance(opponents, (list, tuple)):
        if len(opponents) != NUM_SEATS - 1:
            raise ValueError(
                f"opponents: expected one bot, {NUM_SEATS - 1} bots or {{seat: bot}}; got {len(opponents)} bots"
            )
        others = [as_bot(bot) for bot in opponents]
    else:
        others = [as_bot(opponents)] * (NUM_SEATS - 1)
    for learner in learners:
        row: list[Bot | None] = [None] * NUM_SEATS
        for k, bot in enumerate(others, 1):
            row[(learner + k) % NUM_SEATS] = bot
        rows[learner] = tuple(row)
    return tuple(rows)


class Seating:
    """The bots that tables refer to by number.

    A bot that has a kernel for the game plays inside the drivers; the others are asked by :meth:`play_others`. Numbers stay
    valid while some table uses them, so that opponents can change under running episodes.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._compiled: list[Bot] = []
        self._asked: list[Bot] = []
        #: Bots have been installed since the last :meth:`compact`.
        self.grown = False

    def copy(self) -> Seating:
        """The same bots with the same numbers."""
        twin = Seating(self._game)
        twin._compiled, twin._asked = self._compiled.copy(), self._asked.copy()
        twin.grown = self.grown
        return twin

    @property
    def asks(self) -> bool:
        """Whether some bot is not compiled."""
        return bool(self._asked)

    def kernels(self) -> tuple[JitBot, ...]:
        """The kernels of the compiled bots, in the order of their numbers."""
        found = [bot.jit(self._game) for bot in self._compiled]
        return tuple(kernel for kernel in found if kernel is not None)

    def install(self, batch: Batch, lineup: Lineup, plan: int, rows: Any = slice(None)) -> None:
        """Let a lineup play from the next episode of the rows on.

        Raises:
            ValueError: A bot that does not play the game, or more bots than can be told apart.
        """
        codes, compiled, asked = self._numbered(lineup)
        if max(len(compiled), len(asked)) > _MOST_BOTS:
            self._drop_unused(batch, running=True)
            codes, compiled, asked = self._numbered(lineup)
        if max(len(compiled), len(asked)) > _MOST_BOTS:
            raise ValueError(f"opponents: more than {_MOST_BOTS} bots in one environment")
        self._compiled, self._asked, self.grown = compiled, asked, True
        batch.bots = self.kernels()
        batch.buffers.tables["lineup"][rows] = codes
        batch.buffers.tables["plan"][rows] = plan

    def _numbered(self, lineup: Lineup) -> tuple[np.ndarray[Any, Any], list[Bot], list[Bot]]:
        """The codes of a lineup, and the bots with those among them that are new."""
        compiled, asked = self._compiled.copy(), self._asked.copy()
        codes = np.full((NUM_SEATS, NUM_SEATS), _LEARNER, np.int8)
        for learner, row in enumerate(lineup):
            for seat, bot in enumerate(row):
                if bot is not None:
                    codes[learner, seat] = self._code(bot, compiled, asked)
        return codes, compiled, asked

    def _code(self, bot: Bot, compiled: list[Bot], asked: list[Bot]) -> int:
        """The number of a bot, which joins one of the lists if it is new."""
        kernel = bot.jit(self._game)
        if kernel is None:
            known = [other is bot for other in asked]
            if not any(known):
                asked.append(bot)
            return -2 - (known.index(True) if any(known) else len(known))
        kernels = [other.jit(self._game) for other in compiled]
        if kernel not in kernels:
            compiled.append(bot)
        return kernels.index(kernel) if kernel in kernels else len(kernels)

    def compact(self, batch: Batch) -> None:
        """Forget the bots that no lineup uses; called when all rows are about to begin an episode.

        Drivers are compiled for the bots in the list, so fewer are better.
        """
        if not self.grown:
            return
        self.grown = False
        self._drop_unused(batch, running=False)

    def _drop_unused(self, batch: Batch, running: bool) -> None:
        """Forget the bots of no lineup; those of the running episodes stay, if these go on."""
        tables = batch.buffers.tables
        used = np.unique(tables["lineup"]).tolist()
        if running:
            used = np.union1d(used, tables["bots"]).astype(np.int64).tolist()
        old_compiled = [code for code in used if code >= 0]
        old_asked = sorted((code for code in used if code < _LEARNER), reverse=True)
        if len(old_compiled) == len(self._compiled) and len(old_asked) == len(self._asked):
            return
        self._compiled = [self._compiled[code] for code in old_compiled]
        self._asked = [self._asked[-2 - code] for code in old_asked]
        new = np.full(256, _LEARNER, np.int8)
        new[old_compiled] = np.arange(len(old_compiled))
        new[old_asked] = -2 - np.arange(len(old_asked))
        tables["lineup"] = new[tables["lineup"].astype(np.int64)]
        tables["bots"] = new[tables["bots"].astype(np.int64)] if running else _LEARNER
        batch.bots = self.kernels()

    def play_others(self, batch: Batch) -> None:
        """Ask Python bots, each once a round for all its tables, until the learner is on turn everywhere.

        Raises:
            ValueError: A bot's illegal action.
        """
        if not self._asked:
            return
        buffers = batch.buffers
        every = np.arange(batch.num_tables)
        actions = np.zeros(batch.num_tables, np.int64)
        while True:
            codes = buffers.tables["bots"][every, np.maximum(buffers.seats, 0)]
            pending = (codes < _LEARNER) & (buffers.seats >= 0)
            if not pending.any():
                return
            for code in np.unique(codes[pending]).tolist():
                rows = np.flatnonzero(pending & (codes == code))
                actions[rows] = batch.ask(self._asked[-2 - code], rows)
            batch.step(actions, pending, again=True)

    @contextmanager
    def own_bots(self, batch: Batch, rows: Mapping[str, np.ndarray[Any, Any]]) -> Iterator[None]:
        """Keep this environment's bots through a block that puts the tables back to a snapshot's ``rows``.

        Raises:
            ValueError: A learner in the snapshot sits where it may not sit here; nothing is changed.
        """
        tables = batch.buffers.tables
        lineups, plans = tables["lineup"].copy(), tables["plan"].copy()
        learners = rows["tables"]["learner"].astype(np.int64)
        if learners.shape == plans.shape:
            wrong = (plans != ROTATES) & (plans != learners) & (learners >= 0)
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                raise ValueError(
                    f"set_state: the learner sits at {learners[row]} in the snapshot, at {plans[row]} here"
                )
        yield
        tables["lineup"], tables["plan"] = lineups, plans
        tables["bots"] = lineups[np.arange(len(lineups)), learners]

    @contextmanager
    def undone_by_errors(self, batch: Batch) -> Iterator[None]:
        """Put batch and bots back as they were if an error comes out of the block."""
        bots = self._compiled, self._asked, self.grown
        kept = batch.snapshot(), batch.config, batch.bots
        try:
            yield
        except BaseException:
            rows, batch.config, batch.bots = kept
            batch.restore(rows)
            self._compiled, self._asked, self.grown = bots
            raise
