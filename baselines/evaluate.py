"""Who plays better, and how sure is it: policies against each other on duplicate deals.

Each deal is played several times with the policies in other seats, so that every policy holds every hand; luck of the
cards cancels out. What counts is a policy's points over the table's mean in the same game. All seatings of one deal make one
observation: standard errors are over deals, not games.

* ``evaluate(env, [candidate, other])``: one candidate against three of the other, four seatings a deal.
* ``evaluate(env, [a, b, c, d])``: this table in all different orders (``arrangements="rotations"``: only rotated).
* ``tournament(env, [a, b, c, ...])``: every pair two against two, in all six seatings.

A deal and the randomness of the bots on it depend on the suite (or seed) and the deal's number alone, and are the same in all
its seatings; so neither threads nor batch size change a result. Two policies that always play alike score
exactly alike.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import platform
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

import baselines  # noqa: F401  (registers the bots)
import seeds
from baselines.extras import needs
from trick_core import rng
from trick_core.batch import Batch
from trick_core.bots import Bot, as_bot, random_bot
from trick_core.game import NUM_SEATS, Game, Setup, setup_for
from trick_core.jit import entry

FORMAT, FORMAT_VERSION = "trick-envs-evaluation", 1
ARRANGEMENTS = ("all", "rotations")
DEFAULT_DEALS = 1000
DEFAULT_BATCH = 2048

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Estimate:
    """A mean over deals with its uncertainty, in points an episode.

    Attributes:
        mean: The mean.
        se: Standard error, clustered by deal; None with one deal.
        low: Lower end of the 95 % interval (Student's t); None with one deal.
        high: Upper end.
        deals: Number of deals.
    """

    mean: float
    se: float | None
    low: float | None
    high: float | None
    deals: int

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None else self.mean - self.low

    def __str__(self) -> str:
        return self.text(2)

    def text(self, digits: int) -> str:
        """Mean and half the interval's width: ``+12.3±1.4``."""
        half = "" if self.half is None else f"±{self.half:.{digits}f}"
        return f"{self.mean:+.{digits}f}{half}"


def estimate(values: Floats) -> Estimate:
    """Mean, standard error and interval of independent values, shape (deals,)."""
    count, mean = len(values), float(np.mean(values))
    if count < 2:
        return Estimate(mean, None, None, None, count)
    se = float(np.std(values, ddof=1)) / math.sqrt(count)
    half = t_quantile(count - 1) * se
    return Estimate(mean, se, mean - half, mean + half, count)


def ratio(sums: Floats, counts: np.ndarray[Any, Any]) -> Estimate:
    """Mean of all values where each deal has a number of them that varies: shape (deals,) their sums and how many they are.

    The standard error is that of a ratio of two sums over deals (linearised); ``deals`` counts those with a value.
    """
    total, used = int(counts.sum()), int(np.count_nonzero(counts))
    mean = float(sums.sum()) / total
    if used < 2:
        return Estimate(mean, None, None, None, used)
    off = sums - mean * counts
    se = math.sqrt(float(off @ off) * used / (used - 1)) / total
    half = t_quantile(used - 1) * se
    return Estimate(mean, se, mean - half, mean + half, used)


def t_quantile(freedom: int) -> float:
    """The 97.5 % point of Student's t."""
    with needs("train"):
        from scipy.special import stdtrit
    return float(stdtrit(freedom, 0.975))


@dataclass(frozen=True)
class Role:
    """What one policy reached in one role, over the games in which it had it: points over the table's mean."""

    name: str
    games: int
    points: Estimate


@dataclass(frozen=True)
class Row:
    """What one policy reached: points over the table's mean, over all seats, by seat, and by role.

    ``roles`` holds the roles that the policy had at all; none where a game knows no roles. Who has which role depends on the
    play, so the luck of the cards does not cancel out in them. Its ``games`` count seats: three defenders of a policy are three.
    """

    policy: str
    games: int
    overall: Estimate
    seats: tuple[Estimate, ...]
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True)
class Difference:
    """Points of one policy over another in the same deals."""

    first: str
    second: str
    value: Estimate


@dataclass(frozen=True, eq=False)
class Result:
    """An evaluation.

    Attributes:
        env: Environment id.
        options: Its options.
        arrangements: Seatings of every deal: names of the policies by seat.
        deals: Where the deals come from: ``suite`` and ``sha256``, or ``seed``, or ``custom``; and ``count``.
        rows: One a policy.
        differences: One a pair of policies.
        points: Points of every game, float64 (deals, arrangements, 4) by seat; not in the JSON.
        run: Seconds, threads, batch size, versions: what the numbers do not depend on.
        deals_per_episode: 1; 12 in the match, where a "deal" of this module is a whole match.
    """

    env: str
    options: dict[str, Any]
    arrangements: tuple[tuple[str, ...], ...]
    deals: dict[str, Any]
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]
    points: Floats = field(repr=False)
    run: dict[str, Any] = field(repr=False)
    deals_per_episode: int = 1

    @property
    def winner(self) -> str | None:
        """The policy whose interval of the difference to each other one lies above zero, if there is one."""
        for row in self.rows:
            leads = [
                low is not None and low > 0
                for low in (_low(row.policy, difference) for difference in self.differences)
                if low is not _NOT_IN_IT
            ]
            if leads and all(leads):
                return row.policy
        return None

    def to_json(self) -> str:
        """The result as versioned JSON."""
        return json.dumps(
            {
                "format": FORMAT,
                "version": FORMAT_VERSION,
                "env": self.env,
                "options": self.options,
                "deals": self.deals,
                "deals_per_episode": self.deals_per_episode,
                "arrangements": self.arrangements,
                "rows": [asdict(row) for row in self.rows],
                "differences": [asdict(difference) for difference in self.differences],
                "winner": self.winner,
                "run": self.run,
            },
            indent=1,
            default=str,
        )

    def markdown(self) -> str:
        """The rows as a Markdown table, with a sentence on what was played."""
        head, *body = self._cells()
        lines = [head, ["---"] * len(head), *body]
        table = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
        text = f"{table}\n\n{self.caption()}"
        if len(roles := self._role_cells()) > 1:
            roles.insert(1, ["---"] * len(roles[0]))
            text += "\n\n" + "\n".join("| " + " | ".join(cells) + " |" for cells in roles)
        return text

    def to_table(self) -> Any:
        """The rows as a table of ``rich``, within 80 columns; with roles, two of them."""
        head, *body = self._cells()
        caption = self.caption()
        table = _rich_table(head, body, title=self.env, caption=caption, caption_justify="left")
        head, *body = self._role_cells()
        if not body:
            return table
        from rich.console import Group

        return Group(table, _rich_table(head, body))

    def __str__(self) -> str:
        return self.markdown()

    def _cells(self) -> list[list[str]]:
        lines = [
            ["policy", "over table", "s.e.", *(f"seat {s}" for s in range(NUM_SEATS)), "games"]
        ]
        for row in self.rows:
            se = "-" if row.overall.se is None else f"{row.overall.se:.2f}"
            seats = [seat.text(0) for seat in row.seats]
            overall = row.overall.text(1 if abs(row.overall.mean) >= 100 else 2)
            lines.append([row.policy, overall, se, *seats, str(row.games)])
        return lines

    def _role_cells(self) -> list[list[str]]:
        """A head line, and one line for each role that a policy had."""
        lines = [["policy", "role", "over table", "s.e.", "games"]]
        for row in self.rows:
            for role in row.roles:
                se = "-" if role.points.se is None else f"{role.points.se:.2f}"
                lines.append([row.policy, role.name, str(role.points), se, str(role.games)])
        return lines

    def caption(self) -> str:
        """What was played, and what follows."""
        source = self.deals.get("suite") or (
            f"seed {self.deals['seed']}" if "seed" in self.deals else "given"
        )
        per, episodes = "a deal", "deals"
        if self.deals_per_episode > 1:
            per, episodes = f"a match of {self.deals_per_episode} deals", "matches"
        text = (
            f"Points {per} over the table's mean, ± half the 95 % interval; {self.deals['count']} {episodes} "
            f"({source}), each in {len(self.arrangements)} seatings."
        )
        if len(self.rows) > 1:
            winner = self.winner
            text += f" Better: {winner}." if winner else " No difference is established."
        return text


_NOT_IN_IT = object()


def _low(policy: str, difference: Difference) -> Any:
    """Lower end of the policy's lead over the other one of a pair."""
    if policy == difference.first:
        return difference.value.low
    if policy == difference.second:
        return None if difference.value.high is None else -difference.value.high
    return _NOT_IN_IT


def evaluate(
    env: Any,
    policies: Sequence[Any],
    *,
    suite: str | None = None,
    deals: int | Sequence[Any] | None = None,
    seed: int | None = None,
    arrangements: str = "all",
    names: Sequence[str] | None = None,
    num_threads: int = 1,
    batch_size: int = DEFAULT_BATCH,
    progress: bool | None = None,
    **options: Any,
) -> Result:
    """Play policies against each other on duplicate deals.

    Args:
        env: Environment id, or a setup.
        policies: Two: the first alone against three of the second. Four: a table; the same name or object twice is one
            policy. A policy is whatever :func:`trick_core.bots.as_bot` takes.
        suite: Name of a suite. If neither suite, seed nor custom deals are given: the environment's own suite, or seed 0 where
            it has none (options that change the game).
        deals: How many of the suite's (None: all) or the seed's (None: 1000); or custom deals: each a deal as
            ``reset(options={"deal": ...})`` takes it, or such a dict of options.
        seed: Draw deals from this seed, in the domain of suites, which no environment trains on. With custom deals: what
            they leave open, and the bots' randomness (default 0).
        arrangements: ``"all"`` different orders of the table, or its ``"rotations"``; in both each policy holds each
            hand equally often.
        names: Names of the policies in the result, one an entry of ``policies``.
        num_threads: Threads for jitted policies.
        batch_size: Games played side by side.
        progress: False: no progress bar; else one if standard error is a terminal.
        **options: Options of the environment.

    Raises:
        ValueError: Wrong arguments; a bot that does not play this game; or a policy chose an action that is not legal (the
            message names policy, deal, seat, action and the legal ones).
    """
    setup = setup_for(env, **options)
    specs = list(policies) if not isinstance(policies, str) else [policies]
    if len(specs) not in (2, NUM_SEATS):
        raise ValueError(
            f"policies: expected 2 (one against three of the other) or {NUM_SEATS} (a table), got {len(specs)}"
        )
    if arrangements not in ARRANGEMENTS:
        raise ValueError(
            f"arrangements: expected one of {', '.join(map(repr, ARRANGEMENTS))}; got {arrangements!r}"
        )
    if names is not None and len(names) != len(specs):
        raise ValueError(f"names: expected {len(specs)}, got {len(names)}")
    if len(specs) == 2:
        bots, lineup = [as_bot(spec) for spec in specs], [0, 1, 1, 1]
        texts = [bot.name for bot in bots] if names is None else list(names)
    else:
        kept, table = _merge(specs)
        bots, lineup = [as_bot(specs[i]) for i in kept], table
        texts = [bot.name for bot in bots] if names is None else [names[i] for i in kept]
    source = _source(setup, suite, deals, seed)
    labels = _distinct(texts)
    seatings = _seatings(lineup, arrangements)
    started = time.perf_counter()
    points, roles = _play(setup, bots, seatings, source, num_threads, batch_size, progress)
    return _result(
        setup,
        labels,
        seatings,
        source,
        points,
        roles,
        _run(time.perf_counter() - started, num_threads, batch_size),
    )


def score_against(
    env: Any, policy: Any, other: Any, *, deals: int | None = None, **settings: Any
) -> tuple[float, float]:
    """Points over the table's mean of a policy against three of another, and half the 95 % interval.

    Args:
        env: Environment id or setup.
        policy: The policy.
        other: The other.
        deals: At least 2; the environment's suite, as in :func:`evaluate`.
        **settings: As in :func:`evaluate`.
    """
    overall = evaluate(env, [policy, other], deals=deals, **settings).rows[0].overall
    if overall.half is None:
        raise ValueError("deals: an interval needs at least 2")
    return overall.mean, overall.half


@dataclass(frozen=True, eq=False)
class Tournament:
    """Every pair of some policies, two against two.

    Attributes:
        env: Environment id.
        rows: Per policy the mean, over the other policies, of its points over the table's mean.
        pairs: The result of each pair.
    """

    env: str
    rows: tuple[tuple[str, Estimate], ...]
    pairs: tuple[Result, ...]

    def to_json(self) -> str:
        """The tournament as versioned JSON, each pair's result within."""
        return json.dumps(
            {
                "format": f"{FORMAT}-tournament",
                "version": FORMAT_VERSION,
                "env": self.env,
                "rows": [{"policy": name, "overall": asdict(value)} for name, value in self.rows],
                "pairs": [json.loads(pair.to_json()) for pair in self.pairs],
            },
            indent=1,
        )

    def markdown(self) -> str:
        """The cross table: points of the row's policy over the column's, a seat and episode."""
        head, *body = self._cells()
        lines = [head, ["---"] * len(head), *body]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def to_table(self) -> Any:
        """The cross table as a table of ``rich``."""
        head, *body = self._cells()
        return _rich_table(head, body, title=self.env)

    def __str__(self) -> str:
        return self.markdown()

    def _cells(self) -> list[list[str]]:
        names = [name for name, _ in self.rows]
        cells = {}
        for pair in self.pairs:
            (difference,) = pair.differences
            cells[difference.first, difference.second] = str(difference.value)
            cells[difference.second, difference.first] = str(_negative(difference.value))
        lines = [["policy", "over table", *(f"over {name}" for name in names)]]
        for name, value in sorted(self.rows, key=lambda row: -row[1].mean):
            lines.append([name, str(value), *(cells.get((name, other), "") for other in names)])
        return lines


def _rich_table(head: list[str], body: list[list[str]], **settings: Any) -> Any:
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), **settings)
    for i, name in enumerate(head):
        table.add_column(name, justify="left" if i == 0 else "right", no_wrap=i > 0)
    for cells in body:
        table.add_row(*cells)
    return table


def _negative(value: Estimate) -> Estimate:
    low = None if value.high is None else -value.high
    high = None if value.low is None else -value.low
    return Estimate(-value.mean, value.se, low, high, value.deals)


def tournament(
    env: Any,
    policies: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    suite: str | None = None,
    deals: int | Sequence[Any] | None = None,
    seed: int | None = None,
    num_threads: int = 1,
    batch_size: int = DEFAULT_BATCH,
    progress: bool | None = None,
    **options: Any,
) -> Tournament:
    """Let every pair of policies play, two against two, each deal in all six seatings.

    The arguments are those of :func:`evaluate`; ``policies`` are two or more.
    """
    setup = setup_for(env, **options)
    if isinstance(policies, str) or len(policies) < 2:
        raise ValueError(f"policies: expected at least 2, got {policies!r}")
    if names is not None and len(names) != len(policies):
        raise ValueError(f"names: expected {len(policies)}, got {len(names)}")
    bots = [as_bot(spec) for spec in policies]
    labels = _distinct([bot.name for bot in bots] if names is None else list(names))
    source = _source(setup, suite, deals, seed)
    seatings = _seatings((0, 0, 1, 1), "all")
    pairs, sums = [], [np.zeros(source.count) for _ in bots]
    for i, j in itertools.combinations(range(len(bots)), 2):
        started = time.perf_counter()
        pair = [bots[i], bots[j]]
        points, roles = _play(setup, pair, seatings, source, num_threads, batch_size, progress)
        run = _run(time.perf_counter() - started, num_threads, batch_size)
        pairs.append(_result(setup, [labels[i], labels[j]], seatings, source, points, roles, run))
        over = _over_table(points)
        for number, k in enumerate((i, j)):
            sums[k] += over[:, np.array(seatings) == number].mean(axis=1) / (len(bots) - 1)
    rows = tuple((label, estimate(values)) for label, values in zip(labels, sums, strict=True))
    return Tournament(setup.id, rows, tuple(pairs))


def print_result(result: Result | Tournament) -> None:
    """Print a result's table, with ``rich`` where it is installed."""
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        print(result)
        return
    Console().print(result.to_table())


# How the games are set up.


def _merge(specs: Sequence[Any]) -> tuple[list[int], list[int]]:
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


def _distinct(names: Sequence[str]) -> list[str]:
    """Names with a number behind those that came before."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labels.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return labels


def _seatings(lineup: Sequence[int], arrangements: str) -> list[tuple[int, ...]]:
    """Different orders of a line-up, policy numbers by seat; the line-up itself is the first."""
    start = tuple(lineup)
    orders: Any
    if arrangements == "rotations":
        orders = [start[-r:] + start[:-r] if r else start for r in range(NUM_SEATS)]
    else:
        orders = itertools.permutations(start)
    return list(dict.fromkeys(orders))


@dataclass(frozen=True)
class _Source:
    """Where deals come from."""

    count: int
    seed: int
    suite: seeds.Suite | None = None
    custom: tuple[Mapping[str, Any], ...] | None = None

    def describe(self) -> dict[str, Any]:
        if self.suite is not None:
            name, digest = self.suite.name, self.suite.sha256
            return {"suite": name, "sha256": digest, "size": self.suite.size, "count": self.count}
        if self.custom is not None:
            return {"custom": True, "seed": self.seed, "count": self.count}
        return {"seed": self.seed, "count": self.count}


def _source(
    setup: Setup, suite: str | None, deals: int | Sequence[Any] | None, seed: int | None
) -> _Source:
    if seed is not None and (
        isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or seed < 0
    ):
        raise ValueError(f"seed: expected an integer from 0 on, got {seed!r}")
    if deals is not None and not isinstance(deals, (int, np.integer)):
        if suite is not None:
            raise ValueError("deals: give a suite or custom deals, not both")
        if isinstance(deals, (str, Mapping)):
            raise ValueError("deals: expected a list of deals, got one deal; put it in a list")
        custom = tuple(d if isinstance(d, Mapping) else {"deal": d} for d in deals)
        if not custom:
            raise ValueError("deals: expected at least one")
        for number, given in enumerate(custom):
            unknown = [key for key in given if key not in setup.game.reset_keys]
            if unknown:
                raise ValueError(
                    f"deals[{number}]: unknown {', '.join(map(repr, unknown))}; "
                    f"known are {', '.join(setup.game.reset_keys)}"
                )
        return _Source(len(custom), rng.fold_seed(int(seed or 0)), custom=custom)
    if isinstance(deals, (bool, np.bool_)) or (deals is not None and deals < 1):
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
        return _Source(int(deals or DEFAULT_DEALS), rng.fold_seed(int(seed or 0)))
    if deals is not None and deals > chosen.size:
        raise ValueError(f"deals: suite {chosen.name} has {chosen.size}, got {deals}; use a seed")
    chosen.check()
    return _Source(int(deals or chosen.size), chosen.seed, suite=chosen)


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


def _play(
    setup: Setup,
    bots: Sequence[Bot],
    seatings: Sequence[tuple[int, ...]],
    source: _Source,
    num_threads: int,
    batch_size: int,
    progress: bool | None,
) -> tuple[Floats, np.ndarray[Any, Any]]:
    """Points and roles of every game, each (deals, seatings, 4)."""
    for name, value in (("num_threads", num_threads), ("batch_size", batch_size)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name}: expected an integer from 1 on, got {value!r}")
    each = len(seatings)
    at_once = 1 if source.custom is not None else min(source.count, max(1, batch_size // each))
    table = _Tables(setup, bots, seatings, at_once, num_threads)
    points = np.zeros((source.count, each, NUM_SEATS))
    roles = np.full(points.shape, -1, np.int8)
    with _progress(progress) as bar:
        task = bar.add_task("deals", total=source.count) if bar is not None else None
        for first in range(0, source.count, at_once):
            count = min(at_once, source.count - first)
            part = slice(first, first + count)
            points[part], roles[part] = table.play(source, first, count)
            if bar is not None:
                bar.update(task, completed=first + count)
    return points, roles


class _Tables:
    """A batch whose row ``d * seatings + a`` plays deal d in seating a."""

    def __init__(
        self,
        setup: Setup,
        bots: Sequence[Bot],
        seatings: Sequence[tuple[int, ...]],
        at_once: int,
        num_threads: int,
    ) -> None:
        self.setup = setup
        self.bots = bots
        self.seatings = seatings
        self.policies = np.tile(np.array(seatings), (at_once, 1))
        jitted = [bot.jit(setup.game) for bot in bots]
        kernels = {bot for bot in jitted if bot is not None}
        if kernels:
            kernels.add(random_bot(setup.game))  # so that fewer sets of bots are ever compiled
        inside = sorted(kernels, key=lambda bot: str(bot.label))
        where = np.array([-1 if bot is None else inside.index(bot) for bot in jitted], np.int8)
        self.batch = Batch(
            setup,
            len(self.policies),
            packed=True,
            autoreset="disabled",
            num_threads=num_threads,
        )
        self.batch.set_bots(inside, where[self.policies])
        self.batch.buffers.tables["domain"] = rng.SUITES

    def play(self, source: _Source, first: int, count: int) -> tuple[Floats, Any]:
        """Points and roles in deals ``first`` to ``first + count - 1``, each (count, seatings, 4); -1 for no role."""
        batch, each = self.batch, len(self.seatings)
        active = np.arange(len(self.policies)) < count * each
        tables = batch.buffers.tables
        tables["seed"] = np.uint64(source.seed)
        tables["number"] = first + np.arange(len(self.policies)) // each
        config = None
        if source.custom is not None:
            try:
                config = self.setup.game.reset_config(self.setup, source.custom[first])
            except ValueError as error:
                raise ValueError(f"deals[{first}]: {error}") from None
        try:
            batch.reset(active, config)
            self._play_on(active)
        except ValueError as error:
            raise self._explained(error, first) from error
        game, states = self.setup.game, batch.buffers.states
        out = np.zeros((len(self.policies), NUM_SEATS))
        _returns(game)(batch.config, states, out)
        points = out[active].reshape(count, each, NUM_SEATS) * game.unit
        if game.roles is None:
            return points, -1
        return points, game.roles(states)[active].reshape(points.shape)

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
                actions[asked] = batch.ask(self.bots[number], asked)
            batch.step(actions, live, again=True)

    def _explained(self, error: ValueError, first: int) -> ValueError:
        """An illegal action by its deal and seating, instead of by its row."""
        match = re.match(r"(bot .* at seat \d) of table (\d+) (chose .*)", str(error), re.DOTALL)
        if match is None:
            return error
        deal, seating = divmod(int(match.group(2)), len(self.seatings))
        names = ", ".join(self.bots[number].name for number in self.seatings[seating])
        return ValueError(
            f"{match.group(1)} of deal {first + deal}, seats ({names}), {match.group(3)}"
        )


def _progress(progress: bool | None) -> Any:
    """A progress bar on standard error, or something that yields None."""
    if progress is False or not sys.stderr.isatty():
        return nullcontext()
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
    except ModuleNotFoundError:
        return nullcontext()
    columns = (BarColumn(), MofNCompleteColumn(), "deals", TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


# What came out.


def _over_table(points: Floats) -> Floats:
    """Points over the mean of the same game's four seats."""
    over: Floats = points - points.mean(axis=2, keepdims=True)
    return over


def _result(
    setup: Setup,
    labels: Sequence[str],
    seatings: Sequence[tuple[int, ...]],
    source: _Source,
    points: Floats,
    roles: np.ndarray[Any, Any],
    run: dict[str, Any],
) -> Result:
    over, where = _over_table(points), np.array(seatings)
    by_deal, rows = [], []
    for number, label in enumerate(labels):
        sits = where == number
        by_deal.append(over[:, sits].mean(axis=1))
        by_seat = tuple(
            estimate(over[:, sits[:, seat], seat].mean(axis=1)) for seat in range(NUM_SEATS)
        )
        games = source.count * int(sits.any(axis=1).sum())
        by_role = []
        for index, name in enumerate(setup.game.role_names):
            had = (roles == index) & sits
            if had.any():
                value = ratio((over * had).sum(axis=(1, 2)), had.sum(axis=(1, 2)))
                by_role.append(Role(name, int(had.sum()), value))
        rows.append(Row(label, games, estimate(by_deal[-1]), by_seat, tuple(by_role)))
    differences = tuple(
        Difference(labels[i], labels[j], estimate(by_deal[i] - by_deal[j]))
        for i, j in itertools.combinations(range(len(labels)), 2)
    )
    return Result(
        env=setup.id,
        options=setup.options,
        arrangements=tuple(tuple(labels[number] for number in seating) for seating in seatings),
        deals=source.describe(),
        rows=tuple(rows),
        differences=differences,
        points=points,
        run=run,
        deals_per_episode=len(setup.config),
    )


def _run(seconds: float, num_threads: int, batch_size: int) -> dict[str, Any]:
    import numba

    return {
        "seconds": round(seconds, 3),
        "num_threads": num_threads,
        "batch_size": batch_size,
        "versions": {
            "trick-envs": _package_version(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
        },
    }


def _package_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("trick-envs")
    except PackageNotFoundError:
        return "not installed"
