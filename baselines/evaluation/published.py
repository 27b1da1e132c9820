"""The ladder of a release as the documentation shows it: a compact file of its figures, and the tables made from that file.

``trick-envs ladder --release --publish docs`` writes the file; ``docs/generate.py`` makes the tables of README and ``docs/ladder.md``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from baselines.evaluation.boards import Board, Cell, Ladder, short
from baselines.evaluation.heatmap import write_png
from baselines.evaluation.results import markdown_table
from baselines.evaluation.statistics import Estimate, interval, mean_of
from bolola_env.contracts import CONTRACTS

FORMAT, FORMAT_VERSION = "trick-envs-ladder-published", 1
#: The nine contracts, the match and Tarot as environments without what all have in common.
NINE = tuple(f"bolola/{name.replace('_', '-')}" for name in CONTRACTS)
MATCH, TAROT = "bolola/match", "tarot/deal"
#: The tables that README shows; by the first of them policies are ordered.
SHOWN = ("greedy-v1", "net", "random")


def publish(ladder: Ladder, folder: Path) -> list[Path]:
    """Write ``ladder.json`` and ``figures/ladder.png`` into the folder of the documentation; their paths."""
    files = [folder / "ladder.json", folder / "figures" / "ladder.png"]
    files[1].parent.mkdir(exist_ok=True)
    files[0].write_text(to_json(ladder))
    write_png(ladder, files[1])
    return files


def to_json(ladder: Ladder) -> str:
    """The figures of a ladder, a cell a line.

    ``cells``: environment, policy, table, mean, standard error, deals, games, seconds of processor time, decisions with a choice. ``ratings``: environment,
    policy, rating, lower and upper end.
    """
    boards = [*ladder.boards, ladder.overall]
    parts = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "policies": {label: spec["name"] for label, spec in ladder.run["policies"].items()},
        "tables": ladder.tables,
        "sees_all": ladder.sees_all,
        "left_out": ladder.left_out,
        "deals": {short(board.env): board.deals for board in ladder.boards},
        "run": {key: value for key, value in ladder.run.items() if key != "policies"},
    }
    lists = {
        "cells": [_line(board, cell) for board in ladder.boards for cell in _cells(board)],
        "ratings": [
            [short(board.env), rating.policy]
            + [round(value, 1) for value in (rating.elo, rating.low, rating.high)]
            for board in boards
            for rating in board.ratings
        ],
    }
    texts = [f'"{name}": {json.dumps(value)}' for name, value in parts.items()]
    for name, lines in lists.items():
        rows = ",\n  ".join(map(json.dumps, lines))
        texts.append(f'"{name}": [\n  {rows}\n ]')
    return "{\n " + ",\n ".join(texts) + "\n}\n"


def _cells(board: Board) -> list[Cell]:
    return [cell for row in board.cells for cell in row if cell is not None]


def _line(board: Board, cell: Cell) -> list[Any]:
    points = cell.points
    return [
        short(board.env),
        cell.policy,
        cell.opponents,
        round(points.mean, 4),
        None if points.se is None else round(points.se, 4),
        points.deals,
        cell.games,
        round(cell.cpu, 4),
        cell.decisions,
    ]


class Published:
    """A published ladder, and its tables.

    Args:
        text: What :func:`to_json` gave.

    Raises:
        ValueError: Another format, or no table of :data:`SHOWN`.
    """

    def __init__(self, text: str) -> None:
        data = json.loads(text)
        if (data.get("format"), data.get("version")) != (FORMAT, FORMAT_VERSION):
            raise ValueError(f"expected {FORMAT} of version {FORMAT_VERSION}")
        self._specs: dict[str, str] = data["policies"]
        self._tables: list[str] = data["tables"]
        self._sees_all: list[str] = data["sees_all"]
        self._left_out: dict[str, str] = data["left_out"]
        self._run: dict[str, Any] = data["run"]
        self._envs = list(data["deals"])
        self._sources: dict[str, dict[str, Any]] = data["deals"]
        self._cells = {tuple(line[:3]): line[3:] for line in data["cells"]}
        self._ratings = {tuple(line[:2]): line[2:] for line in data["ratings"]}
        self._shown = [table for table in SHOWN if table in self._tables]
        if not self._shown:
            raise ValueError(f"expected a table of three {' or '.join(SHOWN)}; got {self._tables}")
        self._policies = sorted(self._specs, key=self._place)

    def summary(self) -> str:
        """README's table: a policy a row, its means over the nine contracts, its worst contract, match, Tarot and time."""
        first = self._shown[0]
        head = ["policy", *(f"nine contracts, over `{table}`" for table in self._shown)]
        head += ["worst contract", "match", "Tarot", "ms"]
        body = [
            [
                self._named(policy),
                *(self._text(self._mean(policy, table)) for table in self._shown),
                self._worst(policy, first),
                self._text(self._points(MATCH, policy, first)),
                self._text(self._points(TAROT, policy, first)),
                self._milliseconds(policy, NINE),
            ]
            for policy in self._policies
        ]
        text = (
            "Points a deal over the table's mean with three of one kind at the table, ± half the 95 % interval: the mean of Bolola's nine contracts; then the "
            f"contract in which it is lowest, a match (12 deals) and Tarot, over three `{first}`. "
        )
        if self._sees_all:
            names = " and ".join(f"`{name}`" for name in self._sees_all)
            text += f"{names} sees all hands and takes the others for `greedy`, so that over three of it the room that is left shows. "
        text += (
            f"{self._amount()} `ms` is processor time a decision with a choice, in the contracts."
        )
        notes = [
            *self._notes(),
            "Every cell, ratings, and what was played: [docs/ladder.md](docs/ladder.md).",
        ]
        return "\n\n".join([text, markdown_table([head, *body]), *notes])

    def page(self) -> str:
        """``docs/ladder.md``: every cell, ratings, times, and what was played where."""
        parts = [
            "# The ladder of the release",
            "Made by `docs/generate.py` from [ladder.json](ladder.json), which `trick-envs ladder --release --publish docs` writes; what the words mean is in "
            "[evaluation.md](evaluation.md#the-ladder). Points an episode (a deal; a match of 12) over the table's mean, ± half the 95 % interval, clustered "
            "by deal. *Nine* is the mean of the nine contracts; their deals are independent. Among three of its own kind a policy has exactly 0.",
            *self._notes(),
        ]
        for table in self._tables:
            title = f"## Over `{table}`" if "+" in table else f"## Over three `{table}`"
            parts += [title, markdown_table(self._against(table))]
        parts += [
            "## Ratings",
            "Bradley-Terry on who has more points, on chess's scale: 400 points are odds of 10 to 1, the mean is 0. 95 % intervals by drawing deals again with "
            "replacement; all environments together, then each by itself.",
            markdown_table(self._rating_lines()),
            "## Time",
            "Processor time a decision with a choice, in milliseconds, measured in these games. Policies are asked for all tables of a chunk at once.",
            markdown_table(self._time_lines()),
            "## What was played",
            self._amount()
            + " Fewest and most deals of an environment, by policy and opponents (of the match: matches):",
            markdown_table(self._deal_lines()),
            self._facts(),
        ]
        return "\n\n".join(parts) + "\n"

    # What the cells hold.

    def _place(self, policy: str) -> tuple[float, float]:
        """What policies are ordered by: the mean over the nine contracts, else the rating."""
        mean = self._mean(policy, self._shown[0])
        rating = self._ratings.get(("overall", policy), [0.0])[0]
        return (0.0, -rating) if mean is None else (-mean.mean, -rating)

    def _points(self, env: str, policy: str, table: str) -> Estimate | None:
        cell = self._cells.get((env, policy, table))
        if cell is None:
            return None
        mean, se, deals = cell[:3]
        if se is None or deals < 2:
            return Estimate(mean, None, None, None, deals)
        return interval(mean, se, deals - 1, deals)

    def _mean(self, policy: str, table: str) -> Estimate | None:
        """Over the nine contracts; None if one is missing."""
        found = [self._points(env, policy, table) for env in NINE]
        there = [value for value in found if value is not None]
        return mean_of(there) if len(there) == len(NINE) else None

    def _worst(self, policy: str, table: str) -> str:
        found = {env: self._points(env, policy, table) for env in NINE}
        there = {env: value for env, value in found.items() if value is not None}
        if not there or all(value.se == 0 for value in there.values()):  # its own table
            return "0" if there else "-"
        env = min(there, key=lambda name: there[name].mean)
        return f"{_contract(env)} {there[env].text(1)}"

    def _milliseconds(self, policy: str, envs: Sequence[str]) -> str:
        found = [
            cell[4:]
            for (env, name, _), cell in self._cells.items()
            if name == policy and env in envs
        ]
        cpu, decisions = sum(c for c, _ in found), sum(d for _, d in found)
        return f"{1000 * cpu / decisions:.3g}" if decisions else "-"

    # As text.

    def _named(self, policy: str) -> str:
        return f"`{policy}` (sees all)" if policy in self._sees_all else f"`{policy}`"

    def _notes(self) -> list[str]:
        """What policies with a name of their own are, and who is missing."""
        text = [f"`{name}` is `{spec}`." for name, spec in self._specs.items() if name != spec]
        text += [f"Left out: {name} ({reason})." for name, reason in self._left_out.items()]
        return [" ".join(text)] if text else []

    @staticmethod
    def _text(value: Estimate | None) -> str:
        if value is None:
            return "-"
        return "0" if value.se == 0 and value.mean == 0 else value.text(1)

    def _against(self, table: str) -> list[list[str]]:
        lines = [["policy", *map(_contract, self._envs), "nine"]]
        for policy in self._policies:
            texts = [self._text(self._points(env, policy, table)) for env in self._envs]
            lines.append([self._named(policy), *texts, self._text(self._mean(policy, table))])
        return lines

    def _rating_lines(self) -> list[list[str]]:
        envs = ["overall", *self._envs]
        lines = [["policy", *map(_contract, envs)]]
        for policy in sorted(
            self._policies, key=lambda name: -self._ratings.get(("overall", name), [0.0])[0]
        ):
            found = [self._ratings.get((env, policy)) for env in envs]
            texts = ["-" if r is None else f"{r[0]:.0f} [{r[1]:.0f}, {r[2]:.0f}]" for r in found]
            lines.append([self._named(policy), *texts])
        return lines

    def _time_lines(self) -> list[list[str]]:
        lines = [["policy", "nine contracts", "match", "Tarot"]]
        for policy in self._policies:
            texts = [self._milliseconds(policy, envs) for envs in (NINE, [MATCH], [TAROT])]
            lines.append([self._named(policy), *texts])
        return lines

    def _deal_lines(self) -> list[list[str]]:
        lines = [["policy", *(f"`{table}`" for table in self._tables)]]
        for policy in self._policies:
            texts = []
            for table in self._tables:
                found = [self._cells.get((env, policy, table)) for env in self._envs]
                deals = [cell[2] for cell in found if cell is not None and cell[3]]
                texts.append(_span(deals) if deals else "-")
            lines.append([self._named(policy), *texts])
        return lines

    def _amount(self) -> str:
        """How many deals, in how many seatings."""
        played = {key: cell for key, cell in self._cells.items() if cell[3]}
        deals = [
            cell[2]
            for (env, _, table), cell in played.items()
            if env in NINE and table in self._shown
        ]
        seatings = sorted({cell[3] // cell[2] for cell in played.values()})
        suites = [source for source in self._sources.values() if "suite" in source]
        where = "of its suite" if suites else "of a seed"
        text = f"A cell of a contract over one kind has {_span(deals) if deals else 'no'} deals {where}, each in all {seatings[0]} seatings"
        if seatings[1:]:
            text += (
                f"; at the mixed table a deal has {' or '.join(map(str, seatings[1:]))} seatings"
            )
        return text + "."

    def _facts(self) -> str:
        """The machine, the code and its time."""
        run, machine = self._run, self._run["machine"]
        versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
        budget = {"minutes a cell": run["minutes"], "minutes in all": run["total"]}
        played = [f"workers: {run['workers']}"]
        played += [f"{what}: {value:g}" for what, value in budget.items() if value is not None]
        lines = [
            f"- {machine['cpu']}, {machine['cores']} cores; {machine['system']}; {'; '.join(played)}",
            f"- {versions}; commit of {run['commit_date'] or 'an unknown day'}",
        ]
        return "\n".join(lines)


def _contract(env: str) -> str:
    """An environment in a table's head."""
    return "Tarot" if env == TAROT else env.removeprefix("bolola/").replace("-", "_")


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
