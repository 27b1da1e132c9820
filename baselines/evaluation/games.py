"""Games of policies on duplicate deals: who sits where, which deals, and playing them."""

from __future__ import annotations

import functools
import itertools
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import seeds
from baselines.evaluation.statistics import FIRST_STAGE, Floats, deals_needed
from trick_core import rng
from trick_core.batch import Batch
from trick_core.bots import Bot, random_bot
from trick_core.game import NUM_SEATS, Game, Setup, check_integer, check_number
from trick_core.jit import entry

#: How the seats are changed around: every different order, the rotations, or each deal once, as given.
ARRANGEMENTS = ("all", "rotations", "one")
DEFAULT_DEALS = 1000
#: Deals of a seed where their number follows from the interval that is wanted.
MOST_DEALS = 10_000_000
DEFAULT_BATCH = 2048


def check_arrangements(arrangements: str) -> None:
    """Raise a ``ValueError`` unless it is one of :data:`ARRANGEMENTS`."""
    if arrangements not in ARRANGEMENTS:
        raise ValueError(
            f"arrangements: expected one of {', '.join(map(repr, ARRANGEMENTS))}; got {arrangements!r}"
        )


def listed(name: str, value: Any, expected: str = "a list") -> list[Any]:
    """The entries of an argument, or a ``ValueError`` if it has none, or is one text."""
    try:
        if not isinstance(value, str):
            return list(value)
    except TypeError:
        pass
    raise ValueError(f"{name}: expected {expected}, got {value!r}")


def check_names(names: Sequence[str] | None, count: int) -> list[str] | None:
    """The names, if there are some, or a ``ValueError`` unless they are ``count`` texts."""
    if names is None:
        return None
    given = listed("names", names)
    if len(given) != count:
        raise ValueError(f"names: expected {count}, got {len(given)}")
    for name in given:
        if not isinstance(name, str):
            raise ValueError(f"names: expected texts, got {name!r}")
    return given


def merge(specs: Sequence[Any]) -> tuple[list[int], list[int]]:
    """Entries that are different policies, and for each entry which of these it is."""
    kept: list[int] = []
    table = []
    for i, spec in enumerate(specs):
        for number, j in enumerate(kept):
            other = specs[j]
            if spec is other or (isinstance(spec, str) and spec == other):
                table.append(number)
                break
        else:
            table.append(len(kept))
            kept.append(i)
    return kept, table


def distinct(names: Sequence[str]) -> list[str]:
    """Names with a number behind those that came before."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labels.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return labels


def orders_of(lineup: Sequence[int], arrangements: str) -> list[tuple[int, ...]]:
    """Different orders of a line-up, policy numbers by seat; the line-up itself is the first."""
    start = tuple(lineup)
    orders: Any
    if arrangements == "one":
        return [start]
    if arrangements == "rotations":
        orders = [start[-r:] + start[:-r] if r else start for r in range(NUM_SEATS)]
    else:
        orders = itertools.permutations(start)
    return list(dict.fromkeys(orders))


@dataclass(frozen=True)
class Source:
    """Where deals come from."""

    count: int
    seed: int
    suite: seeds.Suite | None = None
    custom: tuple[Mapping[str, Any], ...] | None = None

    def describe(self) -> dict[str, Any]:
        """The source in words and numbers, for reports."""
        if self.suite is not None:
            name, digest = self.suite.name, self.suite.sha256
            return {"suite": name, "sha256": digest, "size": self.suite.size, "count": self.count}
        if self.custom is not None:
            return {"custom": True, "seed": self.seed, "count": self.count}
        return {"seed": self.seed, "count": self.count}


def find_source(
    setup: Setup,
    suite: str | None,
    deals: int | Sequence[Any] | None,
    seed: int | None,
    *,
    without_end: bool = False,
) -> Source:
    """The deals that a user asks for; arguments as in :func:`baselines.evaluate.evaluate`.

    ``without_end``: a seed has :data:`MOST_DEALS` unless told otherwise.

    Raises:
        ValueError: Wrong arguments.
    """
    if seed is not None:
        check_integer("seed", seed, 0)
    if deals is not None and not isinstance(deals, (int, np.integer)):
        if isinstance(deals, (str, Mapping)):
            raise ValueError("deals: expected a list of deals, got one deal; put it in a list")
        given_deals = listed("deals", deals, "their number, or a list of deals")
        if suite is not None:
            raise ValueError("deals: give a suite or custom deals, not both")
        custom = tuple(d if isinstance(d, Mapping) else {"deal": d} for d in given_deals)
        if not custom:
            raise ValueError("deals: expected at least one")
        for number, given in enumerate(custom):
            unknown = [key for key in given if key not in setup.game.reset_keys]
            if unknown:
                raise ValueError(
                    f"deals[{number}]: unknown {', '.join(map(repr, unknown))}; "
                    f"known are {', '.join(setup.game.reset_keys)}"
                )
        return Source(len(custom), rng.fold_seed(int(seed or 0)), custom=custom)
    if isinstance(deals, bool) or (deals is not None and deals < 1):
        raise ValueError(f"deals: expected at least 1, got {deals!r}")
    if suite is not None and seed is not None:
        raise ValueError("seed: give a suite or a seed, not both")
    chosen = seeds.suite(suite) if suite is not None else None
    if chosen is not None and not chosen.matches(setup):
        raise ValueError(
            f"suite {suite} is for {chosen.env} with its default options, not for {setup.id} with {setup.options}"
        )
    if chosen is None and seed is None:
        chosen = seeds.suite_for(setup)
    if chosen is None:
        count = int(deals or (MOST_DEALS if without_end else DEFAULT_DEALS))
        return Source(count, rng.fold_seed(int(seed or 0)))
    if deals is not None and deals > chosen.size:
        raise ValueError(f"deals: suite {chosen.name} has {chosen.size}, got {deals}; use a seed")
    chosen.check()
    return Source(int(deals or chosen.size), chosen.seed, suite=chosen)


# Playing.


@functools.cache
def _returns(game: Game) -> Callable[..., None]:
    """Kernel ``(config, states, out)``: points of each state's episode, in units."""
    returns = game.kernels.returns

    @entry(f"{game.name}.evaluate.returns", [game.folder, __file__])
    def returns_of(config, states, out):  # type: ignore[no-untyped-def]
        for i in range(states.shape[0]):
            for seat in range(4):
                out[i, seat] = 0.0
            returns(config, states[i], out, i)

    return returns_of


class Contest:
    """Policies in some seatings on the deals of a source, played as far as has been asked for.

    Args:
        setup: The game.
        bots: The policies.
        seatings: Numbers of policies by seat.
        source: The deals.
        num_threads: Threads for bots that play inside the drivers.
        batch_size: Games played side by side.
        inside: Let bots that have a kernel play inside the drivers: ten times faster for cheap ones, but every set of them
            compiles drivers of its own. False: ask them from outside.

    Attributes:
        points: Points of every game so far, float64 (deals, seatings, 4) by seat.
        roles: Roles in it, int8 of the same shape; -1: none.
        cpu: Processor time of each policy that is asked from outside, in seconds over all threads, float64 (policies,).
        decisions: What it decided in that time, counting those with a choice, int64 (policies,).
    """

    def __init__(
        self,
        setup: Setup,
        bots: Sequence[Bot],
        seatings: Sequence[tuple[int, ...]],
        source: Source,
        num_threads: int = 1,
        batch_size: int = DEFAULT_BATCH,
        *,
        inside: bool = True,
    ) -> None:
        for name, value in (("num_threads", num_threads), ("batch_size", batch_size)):
            check_integer(name, value, 1)
        self.setup = setup
        self.seatings = seatings
        self.source = source
        each = len(seatings)
        self._tables = Tables(setup, bots, seatings, source, batch_size, num_threads, inside)
        self.cpu, self.decisions = self._tables.cpu, self._tables.decisions
        self.points: Floats = np.zeros((0, each, NUM_SEATS))
        self.roles: np.ndarray[Any, np.dtype[np.int8]] = np.zeros((0, each, NUM_SEATS), np.int8)

    @property
    def played(self) -> int:
        """Number of deals played."""
        return len(self.points)

    def play_to(self, count: int, report: Callable[[int], None] | None = None) -> None:
        """Play on until ``count`` deals have been played; ``report`` hears how many were after each batch."""
        points, roles = [self.points], [self.roles]
        at_once = self._tables.at_once
        for first in range(self.played, count, at_once):
            some = self.part(first, min(at_once, count - first))
            points.append(some[0])
            roles.append(some[1])
            if report is not None:
                report(first + len(some[0]))
        self.points, self.roles = np.concatenate(points), np.concatenate(roles)

    def deals(self) -> dict[str, Any]:
        """Where the deals played came from, for reports."""
        return replace(self.source, count=self.played).describe()

    def over_table(self, where: np.ndarray[Any, Any]) -> Floats:
        """Mean points over the table's mean in each deal, at the places that a mask (seatings, 4) marks."""
        over = over_table(self.points)
        mean: Floats = over[:, where].mean(axis=1)
        return mean

    def part(self, first: int, count: int) -> tuple[Floats, np.ndarray[Any, np.dtype[np.int8]]]:
        """Points and roles of deals ``first`` to ``first + count - 1``, which need not be the next; they are not kept."""
        tables = self._tables
        parts = [
            tables.results(tables.play(start, min(tables.at_once, first + count - start)))
            for start in range(first, first + count, tables.at_once)
        ]
        return np.concatenate([p for p, _ in parts]), np.concatenate([r for _, r in parts])


@dataclass(frozen=True)
class Stop:
    """How the number of deals came about where an interval of a given width was asked for.

    Attributes:
        until: Half the width asked for, in points.
        first_stage: Deals from whose spread the number was worked out.
        needed: That number.
        reached: Whether there were as many.
    """

    until: float
    first_stage: int
    needed: int
    reached: bool


def play_until(
    contests: Sequence[Contest],
    until: float,
    values: Callable[[], Sequence[Floats]],
    report: Callable[..., None],
) -> Stop:
    """Play a first stage, and then as many deals as the intervals of all ``values`` need; see :func:`deals_needed`.

    Args:
        contests: What is played, all on the same source.
        until: Half the interval's width.
        values: Gives what the intervals are of, each (deals,), from the deals played so far.
        report: Hears how many deals have been played, and of how many.
    """
    if check_number("until", until) <= 0:
        raise ValueError(f"until: expected a number of points above 0, got {until!r}")
    most = contests[0].source.count
    first_stage = min(FIRST_STAGE, most)
    if first_stage < 2:
        raise ValueError("until: an interval needs at least 2 deals")
    for contest in contests:
        contest.play_to(first_stage)
    needed = max(deals_needed(stage, until) for stage in values())
    play_all_to(contests, min(needed, most), report)
    return Stop(until, first_stage, needed, needed <= most)


def play_all_to(contests: Sequence[Contest], count: int, report: Callable[..., None]) -> None:
    """Play several contests on until ``count`` deals of each have been played."""

    def told(before: int, played: int) -> None:
        report(before + played, len(contests) * count)

    for number, contest in enumerate(contests):
        contest.play_to(count, functools.partial(told, number * count))


def over_table(points: Floats) -> Floats:
    """Points over the mean of the same game's four seats; (..., 4)."""
    over: Floats = points - points.mean(axis=-1, keepdims=True)
    return over


class Tables:
    """A batch whose row ``d * seatings + a`` plays deal d in seating a.

    Args:
        setup: The game.
        bots: The policies.
        seatings: Numbers of policies by seat.
        source: The deals.
        batch_size: Games played side by side; custom deals are played one by one.
        num_threads: Threads for bots that play inside the drivers.
        inside: Let them; False: ask them from outside.

    Attributes:
        at_once: Deals that are played at a time.
        policies: Numbers of policies by row and seat.
        deals: The deal of each row.
    """

    def __init__(
        self,
        setup: Setup,
        bots: Sequence[Bot],
        seatings: Sequence[tuple[int, ...]],
        source: Source,
        batch_size: int,
        num_threads: int = 1,
        inside: bool = True,
    ) -> None:
        self.setup, self.bots, self.seatings, self.source = setup, bots, seatings, source
        most = 1 if source.custom is not None else max(1, batch_size // len(seatings))
        self.at_once = min(source.count, most)
        self.policies = np.tile(np.array(seatings), (self.at_once, 1))
        self.deals = np.arange(len(self.policies)) // len(seatings)
        self.cpu: Floats = np.zeros(len(bots))
        self.decisions = np.zeros(len(bots), np.int64)
        jitted = [bot.jit(setup.game) if inside else None for bot in bots]
        kernels = {bot for bot in jitted if bot is not None}
        if kernels:
            kernels.add(random_bot(setup.game))  # so that fewer sets of bots are ever compiled
        chosen = sorted(kernels, key=lambda bot: str(bot.label))
        where = np.array([-1 if bot is None else chosen.index(bot) for bot in jitted], np.int8)
        self.batch = Batch(
            setup,
            len(self.policies),
            packed=True,
            autoreset="disabled",
            num_threads=num_threads,
        )
        self.batch.set_bots(chosen, where[self.policies])
        self.batch.buffers.tables["domain"] = rng.SUITES

    def play(self, first: int, count: int) -> np.ndarray[Any, Any]:
        """Play deals ``first`` to ``first + count - 1``, at most ``at_once``; which rows they are, bool."""
        self.deals = first + np.arange(len(self.policies)) // len(self.seatings)
        active: np.ndarray[Any, Any] = self.deals < first + count
        tables = self.batch.buffers.tables
        tables["seed"] = np.uint64(self.source.seed)
        tables["number"] = self.deals
        config = None
        if self.source.custom is not None:
            try:
                config = self.setup.game.reset_config(self.setup, self.source.custom[first])
            except ValueError as error:
                raise ValueError(f"deals[{first}]: {error}") from None
        try:
            self.batch.reset(active, config)
            self._play_on(active)
        except ValueError as error:
            raise self._explained(error) from error
        return active

    def results(
        self, active: np.ndarray[Any, Any]
    ) -> tuple[Floats, np.ndarray[Any, np.dtype[np.int8]]]:
        """Points and roles of the games that these rows have played, each (deals, seatings, 4); -1 for no role."""
        game, states = self.setup.game, self.batch.buffers.states
        out = np.zeros((len(self.policies), NUM_SEATS))
        _returns(game)(self.batch.config, states, out)
        points = out[active].reshape(-1, len(self.seatings), NUM_SEATS) * game.unit
        if game.roles is None:
            return points, np.full(points.shape, -1, np.int8)
        return points, game.roles(states)[active].reshape(points.shape)

    def seated(self, row: int) -> tuple[str, ...]:
        """Who sits at the table of a row, names by seat."""
        return tuple(self.bots[number].name for number in self.policies[row])

    def decided(
        self,
        rows: np.ndarray[Any, Any],
        policies: np.ndarray[Any, Any],
        actions: np.ndarray[Any, Any],
    ) -> None:
        """Called before the actions of policies that are asked from outside are taken; for those who look on.

        Args:
            rows: The rows that are on.
            policies: Which policy was asked in each of them.
            actions: What was chosen, by row of the batch.
        """

    def _play_on(self, active: np.ndarray[Any, Any]) -> None:
        """Ask the policies that are not jitted until all games are over."""
        batch = self.batch
        actions = np.zeros(len(active), np.int64)
        while True:
            seats = batch.buffers.seats
            live = active & (seats >= 0)
            rows = np.flatnonzero(live)
            if not len(rows):
                return
            on_turn = self.policies[rows, seats[rows]]
            for number in np.unique(on_turn):
                asked = rows[on_turn == number]
                choices = np.count_nonzero(batch.buffers.mask[asked].sum(axis=1) > 1)
                began = time.process_time()
                actions[asked] = batch.ask(self.bots[number], asked)
                self.cpu[number] += time.process_time() - began
                self.decisions[number] += choices
            self.decided(rows, on_turn, actions)
            batch.step(actions, live, again=True)

    def _explained(self, error: ValueError) -> ValueError:
        """An illegal action by its deal and seating, instead of by its row."""
        match = re.match(r"(bot .* at seat \d) of table (\d+) (chose .*)", str(error), re.DOTALL)
        if match is None:
            return error
        row = int(match.group(2))
        names = ", ".join(self.seated(row))
        return ValueError(
            f"{match.group(1)} of deal {self.deals[row]}, seats ({names}), {match.group(3)}"
        )


@contextmanager
def reporting(progress: bool | None, total: int | None) -> Iterator[Callable[..., None]]:
    """A progress bar of deals on standard error if that is a terminal.

    The context gets a function ``(played, total)`` to report to; ``total`` may be left out once it is known.
    """
    if progress is False or not sys.stderr.isatty():
        yield lambda played, total=None: None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
    except ModuleNotFoundError:
        yield lambda played, total=None: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), "deals", TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("deals", total=total)
        yield lambda played, total=None: bar.update(task, completed=played, total=total)
