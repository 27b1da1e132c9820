"""What a ladder found: cells, boards of cells, and all boards; as text, JSON, Markdown and files."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from baselines.evaluation.chunks import Chunk, Work
from baselines.evaluation.games import Contest, Source, over_table
from baselines.evaluation.ratings import Meeting, Rating, rate, share_of_wins
from baselines.evaluation.results import Role, markdown_table, rich_table
from baselines.evaluation.statistics import Estimate, Floats, estimate, mean_of, ratio
from trick_core.bots import as_bot
from trick_core.game import Setup

FORMAT, FORMAT_VERSION = "trick-envs-ladder", 1
#: Four of the first of these that plays a game measure its scale: the standard deviation of a seat's points over the table.
SCALE_BOTS, SCALE_DEALS = ("greedy-v1", "random"), 200


@dataclass(frozen=True)
class Cell:
    """One policy among three opponents in one environment.

    Attributes:
        env: Environment id.
        policy: The policy.
        opponents: Name of the table.
        points: Its points over the table's mean an episode.
        games: Games played; 0 among three of its own kind, where the seatings of a deal sum to exactly 0.
        seconds: What a single process took.
        roles: Its points in the game's roles.
        cpu: Seconds of processor time that the policy took.
        decisions: Its decisions with a choice in that time.
    """

    env: str
    policy: str
    opponents: str
    points: Estimate
    games: int
    seconds: float
    roles: tuple[Role, ...] = ()
    cpu: float = 0.0
    decisions: int = 0


@dataclass(frozen=True)
class Board:
    """The cells of one environment, or of all together.

    Attributes:
        env: Environment id; ``"overall"``.
        options: Its options.
        deals: Where the deals come from.
        scale: Standard deviation of a seat's points over the table among four equal bots; 1 for overall, whose points are in
            these units.
        cells: ``cells[policy][table]``: None where a policy does not play the game.
        means: Per policy the mean over the tables.
        ratings: In the order of the policies; empty if nobody met anybody.
    """

    env: str
    options: dict[str, Any]
    deals: dict[str, Any]
    scale: float
    cells: tuple[tuple[Cell | None, ...], ...]
    means: tuple[Estimate | None, ...]
    ratings: tuple[Rating, ...]


@dataclass(frozen=True, eq=False)
class Ladder:
    """What a ladder run found.

    Attributes:
        policies: Names.
        tables: Names of the tables of opponents.
        boards: One an environment.
        overall: All environments together, each with the same weight.
        left_out: Policies that could not take part, and why.
        sees_all: Policies that see all hands: bounds, not players.
        run: Seconds, versions.
    """

    policies: tuple[str, ...]
    tables: tuple[str, ...]
    boards: tuple[Board, ...]
    overall: Board
    left_out: dict[str, str]
    sees_all: tuple[str, ...]
    run: dict[str, Any] = field(repr=False)

    @property
    def order(self) -> list[int]:
        """Numbers of the policies, best first: by rating overall; those without one last."""
        rated = {rating.policy: rating.elo for rating in self.overall.ratings}
        return sorted(
            range(len(self.policies)), key=lambda i: -rated.get(self.policies[i], -math.inf)
        )

    def to_json(self) -> str:
        """The ladder as versioned JSON."""
        data = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "policies": self.policies,
            "tables": self.tables,
            "boards": [asdict(board) for board in self.boards],
            "overall": asdict(self.overall),
            "left_out": self.left_out,
            "sees_all": self.sees_all,
            "run": self.run,
        }
        return json.dumps(data, indent=1, default=str)

    def cells(self, board: Board) -> list[list[str]]:
        """A board as text: policies by tables, best first."""
        digits = 2 if board is self.overall else 1
        rated = {rating.policy: rating for rating in board.ratings}
        lines = [["policy", *(f"vs {table}" for table in self.tables), "mean", "rating"]]
        for i in self.order:
            texts = [
                "-" if cell is None else "0" if not cell.games else cell.points.text(digits)
                for cell in board.cells[i]
            ]
            mean = board.means[i]
            name = self.policies[i]
            lines.append(
                [
                    name,
                    *texts,
                    "-" if mean is None else mean.text(digits),
                    str(rated[name]) if name in rated else "-",
                ]
            )
        return lines

    def role_cells(self, board: Board) -> list[list[str]]:
        """Points in the game's roles as text, one line a policy and role; empty where the game has none."""
        lines = []
        for i in self.order:
            found = [{} if c is None else {r.name: r for r in c.roles} for c in board.cells[i]]
            for role in dict.fromkeys(name for roles in found for name in roles):
                texts = [roles[role].points.text(1) if role in roles else "-" for roles in found]
                lines.append([self.policies[i], role, *texts])
        return (
            [["policy", "role", *(f"vs {table}" for table in self.tables)], *lines] if lines else []
        )

    def against(self, table: str) -> list[list[str]]:
        """What all policies reached among one table's opponents, by environment, as text.

        Raises:
            ValueError: No such table.
        """
        if table not in self.tables:
            raise ValueError(f"no table {table!r}; there are {', '.join(self.tables)}")
        k = self.tables.index(table)
        lines = [["policy", *(short(board.env) for board in self.boards)]]
        for i in self.order:
            cells = [board.cells[i][k] for board in self.boards]
            texts = ["-" if c is None else "0" if not c.games else c.points.text(1) for c in cells]
            lines.append([self.policies[i], *texts])
        return lines

    def markdown(self) -> str:
        """Ratings and points overall, then what all policies reached against each table, by environment."""
        parts = [markdown_table(self.cells(self.overall)), self.caption()]
        for table in self.tables:
            parts += [f"Against {table}:", markdown_table(self.against(table))]
        return "\n\n".join(parts)

    def to_table(self) -> Any:
        """All boards as tables of ``rich``."""
        from rich.console import Group

        boards = self.boards if len(self.boards) == 1 else (*self.boards, self.overall)
        tables = []
        for board in boards:
            for lines in (self.cells(board), self.role_cells(board)):
                if lines:
                    head = [text.replace("+", "+\n").replace("vs ", "vs\n") for text in lines[0]]
                    title = None if lines[0][1] == "role" else board.env
                    tables.append(rich_table(head, lines[1:], title=title))
        return Group(*tables, self.caption())

    def __str__(self) -> str:
        return self.markdown()

    def caption(self) -> str:
        """What the numbers are."""
        text = (
            "Points an episode over the table's mean, ± half the 95 % interval (clustered by deal)"
        )
        if len(self.boards) > 1:
            text += "; overall in standard deviations of a seat's points among four equal bots"
        text += (
            ". Ratings: Bradley-Terry on who has more points, 400 are odds of 10 to 1, the mean is 0, "
            "with 95 % intervals by drawing the deals again."
        )
        if self.sees_all:
            text += f" All hands are seen by: {', '.join(self.sees_all)}."
        for name, reason in self.left_out.items():
            text += f" Left out: {name} ({reason})."
        return text

    def write(self, folder: Path) -> list[Path]:
        """Write ``ladder.json``, ``ladder.md``, ``ladder.png`` and ``ladder.html`` into a folder; their paths."""
        from baselines.evaluation.heatmap import write_page, write_png

        files = [folder / f"ladder.{end}" for end in ("json", "md", "png", "html")]
        files[0].write_text(self.to_json())
        files[1].write_text(self.markdown() + "\n")
        write_png(self, files[2])
        write_page(self, files[3])
        return files


def short(env: str) -> str:
    """An environment's id without what all have in common."""
    return env.removesuffix("-v0")


@dataclass(frozen=True, eq=False)
class Place:
    """A cell to be.

    Attributes:
        env: Number of its environment.
        policy: Number of its policy.
        table: Number of its table.
        work: What it plays; None among three of its own kind.
        kinds: Numbers of the opponents, in the order of the work's policies from 1 on.
    """

    env: int
    policy: int
    table: int
    work: Work | None
    kinds: tuple[int, ...] = ()


def board_of(
    setup: Setup,
    source: Source,
    places: Sequence[Place],
    played: dict[str, list[Chunk]],
    labels: Sequence[str],
    tables: Sequence[str],
    names: Sequence[str],
) -> tuple[Board, list[Meeting]]:
    """The board of one environment, and who met whom in it.

    Args:
        setup: The environment.
        source: Its deals.
        places: Its cells.
        played: What was played, by the work's key.
        labels: Names of the policies.
        tables: Names of the tables.
        names: Names of all that are rated: the policies, then those that only sit in tables.
    """
    cells: list[list[Cell | None]] = [[None] * len(tables) for _ in labels]
    by_deal: list[list[Floats]] = [[] for _ in labels]
    meetings: list[Meeting] = []
    for place in places:
        policy, opponents = labels[place.policy], tables[place.table]
        if place.work is None:
            nothing = Estimate(0.0, 0.0, 0.0, 0.0, source.count)
            cells[place.policy][place.table] = Cell(setup.id, policy, opponents, nothing, 0, 0.0)
            continue
        chunks = played[place.work.key]
        if not chunks:
            continue
        points = np.concatenate([c.points for c in chunks if c.points is not None])
        roles = np.concatenate([c.roles for c in chunks if c.roles is not None])
        where = np.array(place.work.seatings)
        values = over_table(points)[:, where == 0].mean(axis=1)
        by_deal[place.policy].append(values)
        cells[place.policy][place.table] = Cell(
            setup.id,
            policy,
            opponents,
            estimate(values),
            points.shape[0] * points.shape[1],
            round(sum(c.seconds for c in chunks), 3),
            _roles(setup, points, roles, where == 0),
            round(sum(c.cpu for c in chunks), 6),
            sum(c.decisions for c in chunks),
        )
        for k, kind in enumerate(place.kinds, start=1):
            if kind != place.policy:
                share = share_of_wins(points, where == 0, where == k)
                meetings.append(Meeting(place.policy, kind, share))
    there = [k for k in range(len(tables)) if any(row[k] is not None for row in cells)]
    means = [
        _mean([row[k] for k in there], values) for row, values in zip(cells, by_deal, strict=True)
    ]
    return (
        Board(
            env=setup.id,
            options=setup.options,
            deals=source.describe(),
            scale=_scale(setup),
            cells=tuple(map(tuple, cells)),
            means=tuple(means),
            ratings=tuple(rate(names, [meetings])),
        ),
        meetings,
    )


def _mean(cells: Sequence[Cell | None], values: Sequence[Floats]) -> Estimate | None:
    """A policy's mean over its tables, its own among them, which counts 0.

    On the deals that all its cells share, so that the interval knows that they share their luck.
    """
    if any(cell is None for cell in cells) or not values:
        return None
    shared = min(map(len, values))
    return estimate(np.sum([v[:shared] for v in values], axis=0) / len(cells))


def _roles(
    setup: Setup, points: Floats, roles: np.ndarray[Any, Any], place: np.ndarray[Any, Any]
) -> tuple[Role, ...]:
    found = []
    for index, name in enumerate(setup.game.role_names):
        had = (roles == index) & place
        if had.any():
            value = ratio((over_table(points) * had).sum(axis=(1, 2)), had.sum(axis=(1, 2)))
            found.append(Role(name, int(had.sum()), value))
    return tuple(found)


def _scale(setup: Setup) -> float:
    """Standard deviation of a seat's points over the table among four equal bots; 1 if they always score alike."""
    for name in SCALE_BOTS:
        try:
            deals = Source(SCALE_DEALS, 0)
            contest = Contest(setup, [as_bot(name)], [(0, 0, 0, 0)], deals, inside=False)
            contest.play_to(SCALE_DEALS)
        except ValueError:
            continue
        return float(over_table(contest.points).std()) or 1.0
    return 1.0


def overall_of(
    boards: Sequence[Board],
    meetings: Sequence[list[Meeting]],
    labels: Sequence[str],
    tables: Sequence[str],
    names: Sequence[str],
) -> Board:
    """The mean over the environments in units of their scales; deals of different environments are independent."""

    def mean(values: Sequence[Estimate | None]) -> Estimate | None:
        scaled = [v / board.scale for v, board in zip(values, boards, strict=True) if v is not None]
        return mean_of(scaled) if len(scaled) == len(boards) else None

    cells: list[list[Cell | None]] = []
    for i, label in enumerate(labels):
        row: list[Cell | None] = []
        for k, table in enumerate(tables):
            found = [board.cells[i][k] for board in boards]
            value = mean([None if cell is None else cell.points for cell in found])
            there = [cell for cell in found if cell is not None]
            if value is None:
                row.append(None)
                continue
            cell = Cell(
                "overall",
                label,
                table,
                value,
                games=sum(c.games for c in there),
                seconds=sum(c.seconds for c in there),
                cpu=sum(c.cpu for c in there),
                decisions=sum(c.decisions for c in there),
            )
            row.append(cell)
        cells.append(row)
    means = [mean([board.means[i] for board in boards]) for i in range(len(labels))]
    return Board(
        env="overall",
        options={},
        deals={"count": sum(board.deals["count"] for board in boards)},
        scale=1.0,
        cells=tuple(map(tuple, cells)),
        means=tuple(means),
        ratings=tuple(rate(names, meetings)),
    )
