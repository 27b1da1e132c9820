"""What came out of an evaluation: rows, differences, tables for people and JSON for machines."""

from __future__ import annotations

import itertools
import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from baselines.evaluation.control import Control
from baselines.evaluation.games import Contest, Stop, over_table
from baselines.evaluation.statistics import Estimate, Floats, estimate, ratio, two_stage
from trick_core.game import NUM_SEATS, Setup

FORMAT, FORMAT_VERSION = "trick-envs-evaluation", 1


@dataclass(frozen=True)
class Role:
    """What one policy reached in one role, over the games in which it had it: points over the table's mean."""

    name: str
    games: int
    points: Estimate


@dataclass(frozen=True)
class Row:
    """What one policy reached: points over the table's mean, over all seats, by seat, and by role.

    A seat in which it never sat has None. ``roles`` holds the roles that the policy had at all; none where a game knows no roles. Who has which role depends on the
    play, so the luck of the cards does not cancel out in them. Its ``games`` count seats: three defenders of a policy are three.
    """

    policy: str
    games: int
    overall: Estimate
    seats: tuple[Estimate | None, ...]
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True)
class Difference:
    """Points of one policy over another in the same deals."""

    first: str
    second: str
    value: Estimate


class Printed:
    """What is shown as a table, with a sentence on what was played, and a second table by role where there are roles."""

    env: str

    def markdown(self) -> str:
        """The tables in Markdown."""
        parts = [markdown_table(self._cells()), self.caption()]
        if len(roles := self._role_cells()) > 1:
            parts.append(markdown_table(roles))
        return "\n\n".join(parts)

    def to_table(self) -> Any:
        """The same as tables of ``rich``."""
        head, *body = self._cells()
        caption = self.caption()
        table = rich_table(head, body, title=self.env, caption=caption, caption_justify="left")
        head, *body = self._role_cells()
        if not body:
            return table
        from rich.console import Group

        return Group(table, rich_table(head, body))

    def __str__(self) -> str:
        return self.markdown()

    def caption(self) -> str:
        """The sentence."""
        raise NotImplementedError

    def _cells(self) -> list[list[str]]:
        """The table, its head first."""
        raise NotImplementedError

    def _role_cells(self) -> list[list[str]]:
        """The table by role; its head alone, or nothing, where there are none."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Result(Printed):
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
        stop: Where an interval of a given width was asked for: how that ended.
        control: Where luck was taken off: the bot, and by what factor the deals needed for an interval fell.
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
    stop: Stop | None = None
    control: dict[str, Any] | None = None

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
                "stop": None if self.stop is None else asdict(self.stop),
                "control": self.control,
                "run": self.run,
            },
            indent=1,
            default=str,
        )

    def _cells(self) -> list[list[str]]:
        lines = [
            ["policy", "over table", "s.e.", *(f"seat {s}" for s in range(NUM_SEATS)), "games"]
        ]
        for row in self.rows:
            se = "-" if row.overall.se is None else f"{row.overall.se:.2f}"
            seats = ["-" if seat is None else seat.text(0) for seat in row.seats]
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
        per, episodes = "a deal", "deals"
        if self.deals_per_episode > 1:
            per, episodes = f"a match of {self.deals_per_episode} deals", "matches"
        text = (
            f"Points {per} over the table's mean, ± half the 95 % interval; {self.deals['count']} {episodes} "
            f"({source_text(self.deals)}), each in {len(self.arrangements)} seatings."
        )
        text = text.replace(" in 1 seatings", " once") + stop_text(self.stop)
        if self.control is not None:
            bot, factor = self.control["bot"], self.control["factor"]
            text += f" Less the luck that {bot} has in the same place: worth {factor:.2f} x as many {episodes}."
        if len(self.rows) > 1:
            winner = self.winner
            text += f" Better: {winner}." if winner else " No difference is established."
        return text


def stop_text(stop: Stop | None) -> str:
    """A sentence on an interval that was asked for; empty if none was."""
    if stop is None:
        return ""
    if stop.reached:
        return f" Number of deals from the first {stop.first_stage}, for ±{stop.until:g}."
    return f" ±{stop.until:g} is not reached: it needs about {stop.needed} deals; give a seed, or more."


_NOT_IN_IT = object()


def _low(policy: str, difference: Difference) -> Any:
    """Lower end of the policy's lead over the other one of a pair."""
    if policy == difference.first:
        return difference.value.low
    if policy == difference.second:
        return None if difference.value.high is None else -difference.value.high
    return _NOT_IN_IT


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
        return markdown_table(self._cells())

    def to_table(self) -> Any:
        """The cross table as a table of ``rich``."""
        head, *body = self._cells()
        return rich_table(head, body, title=self.env)

    def __str__(self) -> str:
        return self.markdown()

    def _cells(self) -> list[list[str]]:
        names = [name for name, _ in self.rows]
        cells = {}
        for pair in self.pairs:
            (difference,) = pair.differences
            cells[difference.first, difference.second] = str(difference.value)
            cells[difference.second, difference.first] = str(-difference.value)
        lines = [["policy", "over table", *(f"over {name}" for name in names)]]
        for name, value in sorted(self.rows, key=lambda row: -row[1].mean):
            lines.append([name, str(value), *(cells.get((name, other), "") for other in names)])
        return lines


def markdown_table(lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first line is its head."""
    head, *body = lines
    rows = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def source_text(deals: dict[str, Any]) -> str:
    """Where deals come from, in a word or two."""
    if "suite" in deals:
        return str(deals["suite"])
    return "given" if "custom" in deals else f"seed {deals['seed']}"


def rich_table(head: list[str], body: list[list[str]], **settings: Any) -> Any:
    """A table of ``rich``: the first column to the left, the others to the right."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), **settings)
    for i, name in enumerate(head):
        if i == 0:
            table.add_column(name, min_width=8)
        else:
            table.add_column(name, justify="right", no_wrap=True)
    for cells in body:
        table.add_row(*cells)
    return table


def result_of(
    setup: Setup,
    labels: Sequence[str],
    contest: Contest,
    run: dict[str, Any],
    *,
    stop: Stop | None = None,
    control: Control | None = None,
) -> Result:
    """The result of a contest whose policies have these labels."""
    over, where, seatings = over_table(contest.points), np.array(contest.seatings), contest.seatings
    by_deal, rows = [], []

    def interval(values: Floats, factor: float = 1.0) -> Estimate:
        if control is not None:  # over-table points of one against three are shared out 3 : -1
            return control.estimate(factor)
        return estimate(values) if stop is None else two_stage(values, stop.first_stage)

    for number, label in enumerate(labels):
        sits = where == number
        by_deal.append(contest.over_table(sits))
        by_seat = tuple(
            estimate(over[:, sits[:, seat], seat].mean(axis=1)) if sits[:, seat].any() else None
            for seat in range(NUM_SEATS)
        )
        games = contest.played * int(sits.any(axis=1).sum())
        by_role = []
        for index, name in enumerate(setup.game.role_names):
            had = (contest.roles == index) & sits
            if had.any():
                value = ratio((over * had).sum(axis=(1, 2)), had.sum(axis=(1, 2)))
                by_role.append(Role(name, int(had.sum()), value))
        overall = interval(by_deal[-1], 1.0 if number == 0 else -1 / 3)
        rows.append(Row(label, games, overall, by_seat, tuple(by_role)))
    differences = tuple(
        Difference(labels[i], labels[j], interval(by_deal[i] - by_deal[j], 4 / 3))
        for i, j in itertools.combinations(range(len(labels)), 2)
    )
    return Result(
        env=setup.id,
        options=setup.options,
        arrangements=tuple(tuple(labels[number] for number in seating) for seating in seatings),
        deals=contest.deals(),
        rows=tuple(rows),
        differences=differences,
        points=contest.points,
        run=run,
        deals_per_episode=len(setup.config),
        stop=stop,
        control=None if control is None else control.describe(),
    )


def print_result(result: Any) -> None:
    """Print a result's table, with ``rich`` where it is installed."""
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        print(result)
        return
    Console().print(result.to_table())


def run_of(seconds: float, num_threads: int, batch_size: int) -> dict[str, Any]:
    """What a result notes of its run besides what it depends on."""
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
