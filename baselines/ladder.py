"""The ladder: policies among opponents of all kinds, in many environments, on all cores.

Every policy sits down with every table of three opponents, on the same duplicate deals in all seatings. The result is a table of points over
the table with 95 % intervals for each environment and overall, and ratings; as Markdown, JSON, a heat map (PNG) and a page (HTML).

The work is cut into chunks of deals (:mod:`baselines.evaluation.chunks`), played by as many processes as there are cores, or by a Ray cluster.
Points depend on suite (or seed), deal and policies alone, so any number of workers gives the same tables. Played chunks are kept in
the run's folder under a name made from all that they depend on: the same command goes on where an interrupted one ended, and a
further policy, environment or more deals play only what is new.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

import baselines  # noqa: F401  (registers the bots)
import seeds
from baselines.evaluation.boards import Board, Cell, Ladder, Place, board_of, overall_of, short
from baselines.evaluation.chunks import Chunk, Store, Work, key_of, play_all
from baselines.evaluation.comparison import numbered, table_of
from baselines.evaluation.games import Source, distinct, find_source, listed, orders_of
from baselines.evaluation.identity import what_is
from baselines.evaluation.results import run_of
from baselines.evaluation.statistics import Floats
from baselines.extras import MissingExtraError
from trick_core.batch import Batch
from trick_core.bots import Bot, as_bot
from trick_core.game import NUM_SEATS, Setup, check_integer, check_number, setup_for

__all__ = ["Board", "Cell", "Ladder", "ladder", "release"]

Counts = np.ndarray[Any, np.dtype[np.int64]]

#: Deals that a worker plays at a time.
CHUNK = 50
#: Deals of a cell unless told otherwise: those of the environment's suite, or of a seed.
DEALS = 1000
#: The release ladder: its policies, those that this installation has and that play the game, the first three of them as tables
#: too; and its mixed table.
RELEASE_NAMES = {
    "pimc:slips=0.01,net=own,trust=1": "pimc with net",
    "ismcts:iterations=10000,depth=3,slips=0.01,thin=20,net=own,trust=0.5": "ismcts with net",
}
RELEASE_POLICIES = ("random", "greedy-v1", "net", "pimc", "ismcts", *RELEASE_NAMES, "oracle")
RELEASE_MIXED = "greedy-v1+net+pimc"
RELEASE_MINUTES = 1.0


def ladder(
    envs: Sequence[Any] | str,
    policies: Sequence[Any],
    *,
    against: Sequence[Any] | None = None,
    deals: int | None = None,
    seed: int | None = None,
    minutes: float | None = None,
    total: float | None = None,
    workers: int | None = None,
    ray: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    names: Mapping[str, str] | None = None,
    skip: bool = False,
    finish: bool = True,
    chunk: int = CHUNK,
    progress: bool | None = None,
) -> Ladder:
    """Let policies play tables of opponents.

    Args:
        envs: Environment ids or setups.
        policies: The policies: names, or objects that pickle (and are importable in another process). What each is counts for
            the folder, not what it is called; see :mod:`baselines.evaluation.identity`.
        against: Tables: each a policy (three of it) or three policies, as a sequence or joined by ``+``. None: three of each of
            the policies, so that everybody meets everybody.
        deals: Deals of a cell; None: those of the environment's suite, or :data:`DEALS`.
        seed: Deals of this seed instead of the suite's.
        minutes: Play only as many of them as one process plays in so many minutes a cell, by the time that the first
            chunk took. The number of deals, and only that, then depends on the machine.
        total: The same for all cells together: as many deals as all workers play in so many minutes, what they played in earlier runs
            of the folder included. Cells get the same time, but at least a chunk; what a cell cannot use goes to the others.
        workers: Processes; None: one a core. Any number gives the same result.
        ray: Address of a Ray cluster that plays instead (``"auto"``, ``"local"``: one started here).
        folder: Where played chunks are kept, and found again; None: nowhere.
        names: What to call a policy instead of by its name.
        skip: Leave out policies that this installation lacks, or that do not play a game, instead of raising.
        finish: False: play nothing, and report what the folder holds so far.
        chunk: Deals that a worker plays at a time: as many games as they have in four seatings. So they are fewer of a mixed table, and in the match.
        progress: False: no progress bar; else one if standard error is a terminal.

    Raises:
        ValueError: Wrong arguments, or a policy's illegal action.
        TypeError: A policy that is no bot.
        ChildProcessError: Workers were killed again and again.
    """
    started = time.perf_counter()
    setups = [setup_for(env) for env in ([envs] if isinstance(envs, str) else listed("envs", envs))]
    if not setups:
        raise ValueError("envs: expected at least one environment")
    _check(minutes, total, workers, ray, chunk, deals)
    given = listed("policies", policies)
    if not given:
        raise ValueError("policies: expected at least one, got none")
    left_out: dict[str, str] = {}
    specs, bots = _made(given, skip, left_out)
    called = dict(names or {})
    tables = [
        replace(table, name=called.get(table.name, table.name))
        for table in _tables(against, specs, bots, skip, left_out)
    ]
    everyone = _Everyone.of(specs, bots, tables, called, None if folder is None else Path(folder))
    labels = everyone.names[: len(specs)]
    store = Store(None if folder is None else Path(folder))
    sources = [_source(setup, deals, seed) for setup in setups]
    plays = [
        _players(setup, specs, bots, tables, left_out)
        if skip
        else ([True] * len(specs), [True] * len(tables))
        for setup in setups
    ]
    places = [
        _place(e, i, k, setups[e], everyone, table, sources[e])
        for e in range(len(setups))
        for i in range(len(specs))
        for k, table in enumerate(tables)
        if plays[e][0][i] and plays[e][1][k]
    ]
    played = _play(places, store, minutes, total, workers, ray, finish, chunk, progress)
    names_of_tables = [table.name for table in tables]
    boards, meetings = [], []
    for e, setup in enumerate(setups):
        own = [place for place in places if place.env == e]
        board, met = board_of(
            setup, sources[e], own, played, labels, names_of_tables, everyone.names
        )
        boards.append(board)
        meetings.append(met)
    return Ladder(
        policies=tuple(labels),
        tables=tuple(names_of_tables),
        boards=tuple(boards),
        overall=overall_of(boards, meetings, labels, names_of_tables, everyone.names),
        left_out=left_out,
        sees_all=tuple(label for label, bot in zip(labels, bots, strict=True) if bot.sees_all),
        run={
            "seconds": round(time.perf_counter() - started, 3),
            "versions": run_of(0, 1, 1)["versions"],
            "machine": _machine(),
            "commit_date": _commit_date(),
            "workers": workers or os.cpu_count(),
            # What a report may be told says nothing about what the folder holds.
            "minutes": minutes if finish else None,
            "total": total if finish else None,
            "chunk": chunk,
            "policies": dict(zip(labels, everyone.what, strict=False)),
        },
    )


def release(
    folder: str | os.PathLike[str],
    minutes: float | None = None,
    total: float | None = None,
    **settings: Any,
) -> Ladder:
    """The ladder of a release: every environment that has a suite, every bot that comes with the library and is there.

    Args:
        folder: Where chunks are kept.
        minutes: As in :func:`ladder`; :data:`RELEASE_MINUTES` if there is no total either.
        total: As in :func:`ladder`.
        **settings: As in :func:`ladder`.
    """
    envs = list(dict.fromkeys(suite.env for suite in seeds.SUITES.values()))
    against = [*RELEASE_POLICIES[:3], RELEASE_MIXED]
    return ladder(
        envs,
        RELEASE_POLICIES,
        against=settings.pop("against", against),
        minutes=RELEASE_MINUTES if minutes is None and total is None else minutes,
        total=total,
        folder=folder,
        names=RELEASE_NAMES,
        skip=True,
        **settings,
    )


def _check(
    minutes: float | None,
    total: float | None,
    workers: int | None,
    ray: str | None,
    chunk: int,
    deals: int | None,
) -> None:
    for what, time_given in (("minutes", minutes), ("total", total)):
        if time_given is not None and check_number(what, time_given) <= 0:
            raise ValueError(f"{what}: expected more than 0, got {time_given!r}")
    if total is not None and ray is not None and workers is None:
        raise ValueError("total: on a cluster say how many workers share it")
    for name, value in (("workers", workers), ("chunk", chunk), ("deals", deals)):
        if value is not None:
            check_integer(name, value, 1)


# Who takes part.


@dataclass(frozen=True, eq=False)
class _Table:
    """Three opponents.

    Attributes:
        name: Of the table.
        specs: The different policies among them.
        bots: The same as bots.
        lineup: Three indices into them.
    """

    name: str
    specs: tuple[Any, ...]
    bots: tuple[Bot, ...]
    lineup: tuple[int, ...]


def _made(
    policies: Sequence[Any], skip: bool, left_out: dict[str, str]
) -> tuple[list[Any], list[Bot]]:
    """The policies that can be made, and their bots."""
    specs, bots = [], []
    for spec in policies:
        try:
            bots.append(as_bot(spec))
            specs.append(spec)
        except (ValueError, OSError, MissingExtraError, ModuleNotFoundError) as error:
            if not skip:
                raise
            left_out[str(spec)] = str(error)
    if not specs:
        raise ValueError(f"policies: none can be made: {left_out}")
    return specs, bots


def _tables(
    against: Sequence[Any] | None,
    specs: Sequence[Any],
    bots: Sequence[Bot],
    skip: bool,
    left_out: dict[str, str],
) -> list[_Table]:
    """The tables of opponents; three of each policy where none are given."""
    made = []
    if against is None:
        kinds = list(specs)
    else:
        kinds = [against] if isinstance(against, str) else listed("against", against)
    for kind in kinds:
        try:
            made.append(_table(kind))
        except (ValueError, OSError, MissingExtraError, ModuleNotFoundError) as error:
            if not skip:
                raise
            left_out.setdefault(str(kind), str(error))
    if not made:
        raise ValueError("against: expected at least one table")
    labels = distinct([table.name for table in made])
    return [replace(table, name=label) for table, label in zip(made, labels, strict=True)]


def _table(kind: Any) -> _Table:
    specs = kind.split("+") if isinstance(kind, str) else kind
    specs = list(specs) if isinstance(specs, (list, tuple)) else [specs]
    _, bots = table_of(kind)
    kinds, lineup = numbered(bots)
    places = [lineup.index(k) for k in range(len(kinds))]
    chosen = [specs[place] if len(specs) > 1 else specs[0] for place in places]
    names = [_name(spec, bot) for spec, bot in zip(chosen, kinds, strict=True)]
    name = (
        kind
        if isinstance(kind, str)
        else "+".join(names[k] for k in lineup)
        if len(specs) > 1
        else names[0]
    )
    return _Table(name, tuple(chosen), tuple(kinds), tuple(lineup))


def _source(setup: Setup, deals: int | None, seed: int | None) -> Source:
    """The first deals of a suite, as many as it has; or of a seed."""
    own = seeds.suite_for(setup) if seed is None else None
    if own is not None and deals is not None:
        deals = min(deals, own.size)
    if deals is None:
        deals = DEALS if own is None else own.size
    return find_source(setup, None, deals, seed)


def _players(
    setup: Setup,
    specs: Sequence[Any],
    bots: Sequence[Bot],
    tables: Sequence[_Table],
    left_out: dict[str, str],
) -> tuple[list[bool], list[bool]]:
    """Which policies and which tables play a game; found out by asking each for an opening action."""
    known: dict[Any, bool] = {}

    def plays(spec: Any, bot: Bot) -> bool:
        one = spec if isinstance(spec, str) else id(spec)
        if one not in known:
            batch = Batch(setup, 1, packed=True, autoreset="disabled")
            batch.reset()
            try:
                batch.ask(bot, np.arange(1))
                known[one] = True
            except (ValueError, MissingExtraError) as error:
                left_out[f"{_name(spec, bot)} at {short(setup.id)}"] = str(error)
                known[one] = False
        return known[one]

    own = [plays(spec, bot) for spec, bot in zip(specs, bots, strict=True)]
    theirs = [
        all(plays(spec, bot) for spec, bot in zip(table.specs, table.bots, strict=True))
        for table in tables
    ]
    return own, theirs


def _name(spec: Any, bot: Bot) -> str:
    return spec if isinstance(spec, str) else bot.name


@dataclass(frozen=True, eq=False)
class _Everyone:
    """All who play: the policies, and behind them those that only sit in tables.

    Attributes:
        specs: Who they are.
        names: What they are called; no two alike.
        what: What they are, see :func:`baselines.evaluation.identity.what_is`.
    """

    specs: tuple[Any, ...]
    names: tuple[str, ...]
    what: tuple[dict[str, Any], ...]

    @classmethod
    def of(
        cls,
        specs: Sequence[Any],
        bots: Sequence[Bot],
        tables: Sequence[_Table],
        called: Mapping[str, str],
        folder: Path | None,
    ) -> _Everyone:
        """Gather them; ``called``: other names, ``folder``: that of the run."""
        everyone = list(specs)
        names = [_name(spec, bot) for spec, bot in zip(specs, bots, strict=True)]
        for table in tables:
            for spec, bot in zip(table.specs, table.bots, strict=True):
                if not any(_same(spec, other) for other in everyone):
                    everyone.append(spec)
                    names.append(_name(spec, bot))
        return cls(
            tuple(everyone),
            tuple(distinct([called.get(name, name) for name in names])),
            tuple(what_is(spec, folder) for spec in everyone),
        )

    def index(self, spec: Any) -> int:
        """The first place of a policy."""
        return next(k for k, other in enumerate(self.specs) if _same(spec, other))


def _place(
    env: int,
    policy: int,
    number: int,
    setup: Setup,
    everyone: _Everyone,
    table: _Table,
    source: Source,
) -> Place:
    spec = everyone.specs[policy]
    if len(table.specs) == 1 and _same(spec, table.specs[0]):
        return Place(env, policy, number, None)
    seatings = tuple(orders_of([0, *(1 + k for k in table.lineup)], "all"))
    others = tuple(everyone.index(one) for one in table.specs)
    what = [everyone.what[k] for k in (policy, *others)]
    described = {
        "env": setup.id,
        "options": setup.options,
        "deals": replace(
            source, count=0
        ).describe(),  # chunks are the same, however many are played
        "policies": what,
        "seatings": seatings,
        "version": run_of(0, 1, 1)["versions"]["trick-envs"],
    }
    policies = (spec, *table.specs)
    work = Work(setup, policies, tuple(map(key_of, what)), seatings, source, key_of(described))
    return Place(env, policy, number, work, others)


def _same(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, str) and isinstance(other, str) and one == other)


def _machine() -> dict[str, Any]:
    from benchmarks.measure import machine

    here = machine()
    return {key: here[key] for key in ("cpu", "cores", "system", "load")}


def _commit_date() -> str | None:
    """The day of the commit that the library's files are of; None outside its repository."""
    root = Path(__file__).parent.parent
    try:
        command = ["git", "log", "-1", "--format=%cs", "--", str(root)]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() or None


# Playing.


def _play(
    places: Sequence[Place],
    store: Store,
    minutes: float | None,
    total: float | None,
    workers: int | None,
    ray: str | None,
    finish: bool,
    chunk: int,
    progress: bool | None,
) -> dict[str, list[Chunk]]:
    """The played chunks of every cell, in order, by the work's key."""
    works = {place.work.key: place.work for place in places if place.work is not None}
    found: dict[str, dict[int, Chunk]] = {key: {} for key in works}
    cores = workers or os.cpu_count() or 1

    def look(chunks: Sequence[Chunk]) -> list[Chunk]:
        """Those that are not kept; the others are taken."""
        left = []
        for one in chunks:
            kept = store.find(one)
            if kept is None:
                left.append(one)
            else:
                found[one.work.key][one.first] = kept
        return left

    def play(chunks: Sequence[Chunk], what: str) -> None:
        """Play those that are not kept."""
        left = look(chunks)
        if not finish or not left:
            return
        told = bar(what, sum(one.count * len(one.work.seatings) for one in left))
        for one in play_all(left, cores, ray):
            store.keep(one)
            found[one.work.key][one.first] = one
            told(one.count * len(one.work.seatings))

    with _progress(progress) as bar:
        cut = {key: _cut(work, chunk) for key, work in works.items()}
        most = np.array([len(chunks) for chunks in cut.values()])
        if not finish or (minutes is None and total is None):
            play(_in_turn(cut, most), "games")
        elif cut:
            counts, more = np.zeros_like(most), np.ones_like(most)
            while (more > counts).any():  # the more has been played, the better known is its time
                counts = more
                play(_in_turn(cut, counts), "a chunk each" if counts.max() == 1 else "games")
                first, each = _times(cut, counts, found)
                limit = most
                if minutes is not None:
                    limit = _within(60 * minutes, first, each, counts, most)
                more = limit
                if total is not None:
                    more = shares(60 * total * cores, first, each, counts, limit)
    return {key: _unbroken(chunks) for key, chunks in found.items()}


def shares(budget: float, first: Floats, each: Floats, least: Counts, most: Counts) -> Counts:
    """How many chunks each cell plays so that all together fit into a budget, each in about the same time.

    Args:
        budget: Seconds of all cells.
        first: What the first chunk of each cell takes, in seconds.
        each: What every further one takes, above 0.
        least: How many each cell plays in any case, from 1 on.
        most: How many it has.

    Returns:
        From ``least`` to ``most``: the largest numbers that one time for everybody gives within the budget; ``least`` where even that is too much.
    """

    def fits(counts: Counts) -> bool:
        return bool(first.sum() + (counts - 1) @ each <= budget)

    if fits(most):
        return most
    low, high = 0.0, float((first + each * most).max())
    for _ in range(100):
        level = (low + high) / 2
        if fits(_within(level, first, each, least, most)):
            low = level
        else:
            high = level
    return _within(low, first, each, least, most)


def _within(seconds: float, first: Floats, each: Floats, least: Counts, most: Counts) -> Counts:
    """How many chunks of each cell fit into a time; within bounds."""
    return np.clip((1 + (seconds - first) // each).astype(np.int64), least, most)


def _times(
    cut: Mapping[str, Sequence[Chunk]], counts: Counts, found: Mapping[str, Mapping[int, Chunk]]
) -> tuple[Floats, Floats]:
    """Seconds of each cell's first chunk, and of every further one by what those up to ``counts`` took, else by the first."""
    first, each = [], []
    for (key, chunks), count in zip(cut.items(), counts, strict=True):
        kept = [found[key][one.first] for one in chunks[:count]]
        known = kept[1:] or kept
        deal = sum(one.seconds for one in known) / sum(one.count for one in known)
        first.append(kept[0].seconds)
        each.append(max(deal, 1e-9) * max(one.count for one in chunks))
    return np.array(first), np.array(each)


def _in_turn(cut: Mapping[str, Sequence[Chunk]], counts: Counts) -> list[Chunk]:
    """The first chunks of all cells, then the second ones, ...: so an interrupted run has about as much of every cell."""
    wanted = [chunks[:count] for chunks, count in zip(cut.values(), counts, strict=True)]
    return [one for several in zip_longest(*wanted) for one in several if one is not None]


def _cut(work: Work, chunk: int) -> list[Chunk]:
    """A cell's deals in chunks, of as many games as ``chunk`` deals have in four seatings.

    The first one is a fifth of that, so that it costs little to learn what a deal takes; the last one may be shorter.
    """
    count, games = work.source.count, len(work.seatings) * len(work.setup.config)
    size = min(chunk, max(1, chunk * NUM_SEATS // games))
    starts = [0, *range(size // 5 or size, count, size)]
    return [
        Chunk(work, start, end - start)
        for start, end in zip(starts, [*starts[1:], count], strict=True)
    ]


def _unbroken(chunks: dict[int, Chunk]) -> list[Chunk]:
    """Chunks from deal 0 on, up to the first that is missing."""
    row: list[Chunk] = []
    at = 0
    while at in chunks:
        row.append(chunks[at])
        at += chunks[at].count
    return row


@contextmanager
def _progress(progress: bool | None) -> Iterator[Callable[[str, int], Callable[[int], None]]]:
    """A display to which stages of work are added, each with a total; what is done is reported to it."""
    if progress is False or not sys.stderr.isatty():
        yield lambda name, total: lambda done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:

        def stage(name: str, total: int) -> Callable[[int], None]:
            task = bar.add_task(name, total=total)
            return lambda done: bar.advance(task, done)

        yield stage
