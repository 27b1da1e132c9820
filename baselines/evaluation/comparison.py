"""Candidates in the same places of the same games: paired differences against several kinds of opponents."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from baselines.evaluation.games import (
    DEFAULT_BATCH,
    Contest,
    Stop,
    check_arrangements,
    check_names,
    distinct,
    find_source,
    listed,
    merge,
    orders_of,
    over_table,
    play_all_to,
    play_until,
    reporting,
)
from baselines.evaluation.results import (
    FORMAT,
    FORMAT_VERSION,
    Printed,
    Role,
    run_of,
    source_text,
    stop_text,
)
from baselines.evaluation.statistics import (
    Estimate,
    Floats,
    estimate,
    ratio,
    ratio_values,
    two_stage,
)
from trick_core.bots import Bot, as_bot
from trick_core.game import NUM_SEATS, Setup, setup_for


@dataclass(frozen=True)
class Paired:
    """Points of one candidate over another, deal by deal in the same places.

    Attributes:
        first: The one.
        second: The other.
        value: The difference.
        pairing: How many times as many deals two evaluations on different deals would need for the same interval; None
            where the two never differ, or there is one deal.
    """

    first: str
    second: str
    value: Estimate
    pairing: float | None


@dataclass(frozen=True)
class RoleRow:
    """What the candidates reached in one role (None: never had it), and the differences between those that had it."""

    name: str
    values: tuple[Role | None, ...]
    differences: tuple[Paired, ...]


@dataclass(frozen=True)
class TableRow:
    """What the candidates reached among the same three opponents: points over the table's mean."""

    opponents: str
    values: tuple[Estimate, ...]
    differences: tuple[Paired, ...]
    roles: tuple[RoleRow, ...] = ()


@dataclass(frozen=True, eq=False)
class Comparison(Printed):
    """Candidates against the same opponents on the same deals.

    Attributes:
        env: Environment id.
        options: Its options.
        policies: Names of the candidates.
        deals: Where the deals come from, and their number.
        tables: One row for each kind of opponents.
        overall: The mean of these tables, deal by deal.
        seatings: Games of each candidate on a deal, by table.
        run: Seconds, threads, versions.
        stop: Where an interval of a given width was asked for: how that ended.
    """

    env: str
    options: dict[str, Any]
    policies: tuple[str, ...]
    deals: dict[str, Any]
    tables: tuple[TableRow, ...]
    overall: TableRow
    seatings: tuple[int, ...]
    run: dict[str, Any] = field(repr=False)
    stop: Stop | None = None

    @property
    def winner(self) -> str | None:
        """The candidate whose interval of the difference to each other one lies above zero, if there is one."""
        for name in self.policies:
            leads = []
            for pair in self.overall.differences:
                if name == pair.first:
                    leads.append(pair.value.low)
                elif name == pair.second:
                    leads.append((-pair.value).low)
            if leads and all(low is not None and low > 0 for low in leads):
                return name
        return None

    def to_json(self) -> str:
        """The comparison as versioned JSON."""
        data = {"format": f"{FORMAT}-comparison", "version": FORMAT_VERSION, **asdict(self)}
        data["winner"] = self.winner
        return json.dumps(data, indent=1, default=str)

    def _cells(self) -> list[list[str]]:
        pairs = [f"{pair.first} - {pair.second}" for pair in self.overall.differences]
        lines = [["against", *self.policies, *pairs]]
        rows = self.tables if len(self.tables) == 1 else (*self.tables, self.overall)
        for row in rows:
            values = [*row.values, *(pair.value for pair in row.differences)]
            lines.append([row.opponents, *map(str, values)])
        return lines

    def _role_cells(self) -> list[list[str]]:
        pairs = [f"{pair.first} - {pair.second}" for pair in self.overall.differences]
        lines = [["against", "role", *self.policies, *pairs]]
        for row in self.tables:
            for role in row.roles:
                points = ["-" if value is None else str(value.points) for value in role.values]
                found = {(pair.first, pair.second): str(pair.value) for pair in role.differences}
                differences = [
                    found.get((pair.first, pair.second), "-") for pair in self.overall.differences
                ]
                lines.append([row.opponents, role.name, *points, *differences])
        return lines

    def caption(self) -> str:
        """What was played, and what follows."""
        games = " + ".join(map(str, dict.fromkeys(self.seatings)))
        text = (
            f"Points an episode over the table's mean, ± half the 95 % interval; {self.deals['count']} deals "
            f"({source_text(self.deals)}), each in {games} seatings, the same for all candidates."
        )
        text += stop_text(self.stop)
        if len(self.policies) > 1:
            winner = self.winner
            text += f" Better: {winner}." if winner else " No difference is established."
        return text


def compare(
    env: Any,
    *policies: Any,
    opponents: Any = ("greedy",),
    suite: str | None = None,
    deals: int | Sequence[Any] | None = None,
    seed: int | None = None,
    until: float | None = None,
    arrangements: str = "all",
    names: Sequence[str] | None = None,
    num_threads: int = 1,
    batch_size: int = DEFAULT_BATCH,
    progress: bool | None = None,
    **options: Any,
) -> Comparison:
    """Play candidates in the same places of the same deals, and compare them deal by deal.

    Args:
        env: Environment id, or a setup.
        *policies: The candidates, one or more; each is whatever :func:`trick_core.bots.as_bot` takes.
        opponents: Kinds of opponents, each a row of the table: one policy for three of it; or three of them, as a sequence or as
            text (``"random+greedy+greedy"``). A single kind need not be put in a list if it is text.
        suite: As in :func:`baselines.evaluate.evaluate`; so are the arguments that are not named here.
        deals: As there.
        seed: As there.
        until: Play until half the interval of the differences between the candidates (of one alone: of its own mean), over all
            kinds of opponents, is no more than so many points.
        arrangements: ``"all"`` different orders of candidate and opponents, their ``"rotations"``, or ``"one"``: the candidate in
            seat 0, the opponents behind it.
        names: Names of the candidates.
        num_threads: As there.
        batch_size: As there.
        progress: As there.
        **options: Options of the environment.

    Raises:
        ValueError: As there.
        TypeError: As there.
    """
    setup = setup_for(env, **options)
    if not policies:
        raise ValueError("policies: expected at least 1 candidate, got none")
    check_arrangements(arrangements)
    names = check_names(names, len(policies))
    kinds_given = [opponents] if isinstance(opponents, str) else listed("opponents", opponents)
    tables = [table_of(kind) for kind in kinds_given]
    if not tables:
        raise ValueError("opponents: expected at least one kind")
    bots = [as_bot(spec) for spec in policies]
    labels = distinct([bot.name for bot in bots] if names is None else names)
    source = find_source(setup, suite, deals, seed, without_end=until is not None)
    started = time.perf_counter()
    contests = []
    for _, others in tables:
        kinds, lineup = numbered(others)
        orders = orders_of([0, *(1 + k for k in lineup)], arrangements)
        contests.append(
            [Contest(setup, [bot, *kinds], orders, source, num_threads, batch_size) for bot in bots]
        )

    def by_table() -> list[list[Floats]]:
        return [[contest.over_table(_place(contest)) for contest in row] for row in contests]

    def targets() -> list[Floats]:
        overall = _mean(by_table())
        return [a - b for a, b in itertools.combinations(overall, 2)] or overall

    every = [contest for row in contests for contest in row]
    stop = None
    with reporting(progress, None) as report:
        if until is not None:
            stop = play_until(every, until, targets, report)
        else:
            play_all_to(every, source.count, report)
    values = by_table()
    rows = [
        _row(name, labels, points, stop, _roles(setup, labels, row))
        for (name, _), points, row in zip(tables, values, contests, strict=True)
    ]
    return Comparison(
        env=setup.id,
        options=setup.options,
        policies=tuple(labels),
        deals=every[0].deals(),
        tables=tuple(rows),
        overall=_row("mean", labels, _mean(values), stop, ()),
        seatings=tuple(len(row[0].seatings) for row in contests),
        run=run_of(time.perf_counter() - started, num_threads, batch_size),
        stop=stop,
    )


def table_of(kind: Any) -> tuple[str, tuple[Bot, Bot, Bot]]:
    """A name and three opponents, from one policy or three; text joins three by ``+``.

    Raises:
        ValueError: Neither one nor three.
        TypeError: Something that is no bot.
    """
    specs = kind.split("+") if isinstance(kind, str) else kind
    specs = list(specs) if isinstance(specs, (list, tuple)) else [specs]
    if len(specs) not in (1, NUM_SEATS - 1):
        raise ValueError(
            f"opponents: expected one policy or {NUM_SEATS - 1} joined by '+', got {kind!r}"
        )
    kept, lineup = merge(specs)
    made = [as_bot(specs[i]) for i in kept]
    bots = [made[k] for k in lineup]
    if len(bots) == 1:
        bots *= NUM_SEATS - 1
    name = bots[0].name if len(specs) == 1 else " + ".join(bot.name for bot in bots)
    return name, (bots[0], bots[1], bots[2])


def numbered(bots: Sequence[Bot]) -> tuple[list[Bot], list[int]]:
    """The different bots among some, and for each of them which it is."""
    kinds: list[Bot] = []
    lineup = []
    for bot in bots:
        known = [other is bot for other in kinds]
        if not any(known):
            kinds.append(bot)
        lineup.append(known.index(True) if any(known) else len(known))
    return kinds, lineup


def _place(contest: Contest) -> np.ndarray[Any, Any]:
    """The candidate's places, bool (seatings, 4)."""
    place: np.ndarray[Any, Any] = np.array(contest.seatings) == 0
    return place


def _mean(values: list[list[Floats]]) -> list[Floats]:
    """Per candidate the mean over the tables, deal by deal."""
    return [np.mean(points, axis=0) for points in zip(*values, strict=True)]


def _row(
    name: str,
    labels: Sequence[str],
    values: Sequence[Floats],
    stop: Stop | None,
    roles: tuple[RoleRow, ...],
) -> TableRow:
    first_stage = len(values[0]) if stop is None else stop.first_stage
    differences = tuple(
        paired(labels[i], labels[j], values[i], values[j], first_stage)
        for i, j in itertools.combinations(range(len(labels)), 2)
    )
    return TableRow(
        name, tuple(two_stage(points, first_stage) for points in values), differences, roles
    )


def paired(
    first: str, second: str, values: Floats, others: Floats, first_stage: int | None = None
) -> Paired:
    """The difference of two candidates from their values by deal."""
    difference = values - others
    stage = len(values) if first_stage is None else first_stage
    left = float(np.var(difference))
    pairing = float(np.var(values) + np.var(others)) / left if left > 0 else None
    return Paired(first, second, two_stage(difference, stage), pairing)


def _roles(setup: Setup, labels: Sequence[str], row: Sequence[Contest]) -> tuple[RoleRow, ...]:
    """What the candidates of a table reached in the game's roles."""
    rows = []
    for index, name in enumerate(setup.game.role_names):
        values: list[Role | None] = []
        shares: dict[int, Floats] = {}
        for number, contest in enumerate(row):
            had = (contest.roles == index) & _place(contest)
            counts = had.sum(axis=(1, 2))
            if not counts.any():
                values.append(None)
                continue
            sums = (over_table(contest.points) * had).sum(axis=(1, 2))
            values.append(Role(name, int(counts.sum()), ratio(sums, counts)))
            shares[number] = ratio_values(sums, counts)
        differences = tuple(
            Paired(labels[i], labels[j], estimate(shares[i] - shares[j]), None)
            for i, j in itertools.combinations(sorted(shares), 2)
        )
        if shares:
            rows.append(RoleRow(name, tuple(values), differences))
    return tuple(rows)
