"""How well a policy plays endings: what it gives away against the exact solution with all hands open.

From a number of cards a hand on, each decision of the policy is compared with the best action: the value of that less the value of
the action taken, both with everybody playing on as the solver's model says (:mod:`baselines.bots.exact`). The sum over a deal is
never negative, and 0 for a player who sees all hands and solves.

A player who sees only its own hand cannot but give something away; so compare policies with each other, not with 0. And what
is best against solvers need not be best against the players at the table.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import functools
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

import baselines  # noqa: F401  (registers the bots)
from baselines.bots.exact import Work, drivers, endings_of, make_work
from baselines.evaluation.games import (
    DEFAULT_BATCH,
    Source,
    Tables,
    find_source,
    orders_of,
    reporting,
)
from baselines.evaluation.results import markdown_table, rich_table, run_of, source_text
from baselines.evaluation.statistics import Estimate, Floats, estimate
from trick_core.batch import check_threads
from trick_core.bits import words_to_bits
from trick_core.bots import Bot, as_bot
from trick_core.game import NUM_SEATS, Game, Setup, check_integer, setup_for
from trick_core.jit import copy_records, entry
from trick_core.threads import share_rows

FORMAT, FORMAT_VERSION = "trick-envs-grade", 1


@dataclass(frozen=True)
class GradeRow:
    """Decisions with one number of cards in hand.

    Attributes:
        cards: Tricks to come, the current one included; None: all rows together.
        decisions: Decisions with more than one legal action.
        wrong: How many of them gave something away.
        given_away: Points a seat gave away in them, an episode.
    """

    cards: int | None
    decisions: int
    wrong: int
    given_away: Estimate


@dataclass(frozen=True)
class Mistake:
    """A decision that gave points away.

    Attributes:
        points: How many.
        deal: Number of the episode in its suite or seed.
        seating: Who sat where, names by seat.
        seat: Who decided.
        cards: Tricks to come.
        chosen: The action.
        best: A better one.
    """

    points: float
    deal: int
    seating: tuple[str, ...]
    seat: int
    cards: int
    chosen: str
    best: str


@dataclass(frozen=True, eq=False)
class Grade:
    """What a policy gave away.

    Attributes:
        env: Environment id.
        options: Its options.
        policy: Name of the policy.
        opponents: Name of the policy in the other three seats; None: the policy sat everywhere.
        cards: From how many tricks before the end of a deal on.
        model: The solver's.
        deals: Where the deals come from, and ``count``.
        rows: One a number of cards, the highest first.
        total: All decisions.
        unsolved: Decisions that the solver gave up; they are not in the numbers.
        worst: The decisions that gave away most.
        by_deal: Points a seat gave away, float64 (deals,); not in the JSON.
        run: Seconds, threads, versions.
    """

    env: str
    options: dict[str, Any]
    policy: str
    opponents: str | None
    cards: int
    model: str
    deals: dict[str, Any]
    rows: tuple[GradeRow, ...]
    total: GradeRow
    unsolved: int
    worst: tuple[Mistake, ...]
    by_deal: Floats = field(repr=False)
    run: dict[str, Any] = field(repr=False)

    def to_json(self) -> str:
        """The grade as versioned JSON."""
        kept = {
            k: v for k, v in vars(self).items() if k not in ("rows", "total", "worst", "by_deal")
        }
        rows = {"rows": [asdict(row) for row in self.rows], "total": asdict(self.total)}
        worst = {"worst": [asdict(mistake) for mistake in self.worst]}
        head = {"format": FORMAT, "version": FORMAT_VERSION}
        return json.dumps({**head, **kept, **rows, **worst}, indent=1, default=str)

    def markdown(self) -> str:
        """The rows as a Markdown table, with a sentence on what was played."""
        return f"{markdown_table(self._cells())}\n\n{self.caption()}"

    def to_table(self) -> Any:
        """The rows as a table of ``rich``."""
        head, *body = self._cells()
        settings = {"title": f"{self.policy}, {self.env}", "caption_justify": "left"}
        return rich_table(head, body, caption=self.caption(), **settings)

    def __str__(self) -> str:
        return self.markdown()

    def _cells(self) -> list[list[str]]:
        lines = [["cards", "decisions", "wrong", "given away"]]
        for row in (*self.rows, self.total):
            share = f"{row.wrong / row.decisions:.1%}" if row.decisions else "-"
            away = row.given_away.text(2).lstrip("+")
            lines.append(
                ["all" if row.cards is None else str(row.cards), str(row.decisions), share, away]
            )
        return lines

    def caption(self) -> str:
        """What was played, and what the numbers are."""
        where = "in all seats" if self.opponents is None else f"against three {self.opponents}"
        text = (
            f"{self.policy} {where}: points a seat gives away in an episode against the exact solution ({self.model}) with all "
            f"hands open, from {self.cards} cards on; ± half the 95 % interval. {self.deals['count']} episodes "
            f"({source_text(self.deals)})."
        )
        if self.unsolved:
            text += f" {self.unsolved} decisions were not solved and are left out."
        return text


def grade(
    env: Any,
    policy: Any,
    deals: int | Sequence[Any] | None = None,
    *,
    cards: int = 5,
    opponents: Any = None,
    model: str = "game",
    limit: int = 10_000_000,
    suite: str | None = None,
    seed: int | None = None,
    worst: int = 5,
    num_threads: int = 1,
    batch_size: int = DEFAULT_BATCH,
    progress: bool | None = None,
    **options: Any,
) -> Grade:
    """Compare a policy's play of the last tricks of every deal with the exact solution.

    Args:
        env: Environment id, or a setup.
        policy: The policy; whatever :func:`trick_core.bots.as_bot` takes.
        deals: How many, or custom deals, as in :func:`baselines.evaluate.evaluate`; with ``suite`` and ``seed`` likewise.
        cards: Tricks before the end of a deal from which on decisions are compared. What a solution costs grows some
            tenfold with each; 5 takes about a millisecond in most contracts, 20 in ``bolola``.
        opponents: A policy for the other three seats; each deal is then played four times, with the policy in each seat. None: the
            policy plays all seats, each deal once.
        model: What the solver takes the others for: ``"game"`` (everybody for its own side), or ``"paranoid"``.
        limit: Positions that the solver looks at for one decision, at most.
        suite: A named suite.
        seed: Deals of this seed.
        worst: How many of the worst decisions to list, from 0.
        num_threads: Threads for the solver.
        batch_size: Games played side by side.
        progress: False: no progress bar.
        **options: Options of the environment.

    Raises:
        ValueError: Wrong arguments, a game whose endings cannot be solved, or an illegal action.
        TypeError: An option that the environment does not have, or a policy that is no bot.
    """
    setup = setup_for(env, **options)
    drivers(setup.game, model)  # raises if there is no such solver
    for name, value in (("cards", cards), ("limit", limit), ("batch_size", batch_size)):
        check_integer(name, value, 1)
    check_integer("worst", worst, 0)
    bots, lineup = [as_bot(policy)], [0, 0, 0, 0]
    if opponents is not None:
        bots, lineup = [*bots, as_bot(opponents)], [0, 1, 1, 1]
    source = find_source(setup, suite, deals, seed)
    started = time.perf_counter()
    judge = _Judge(setup, cards, model, limit, check_threads(num_threads))
    ledger = _Ledger(setup.game, source.count, cards, worst)
    seatings = orders_of(lineup, "rotations")
    tables = _Judged(setup, bots, seatings, source, batch_size, judge, ledger)
    with reporting(progress, source.count) as report:
        for first in range(0, source.count, tables.at_once):
            count = min(tables.at_once, source.count - first)
            tables.play(first, count)
            report(first + count)
    by_deal = ledger.points / NUM_SEATS  # in one game or in four, the policy had each seat once
    rows = tuple(ledger.row(k, by_deal[:, k]) for k in range(cards, 0, -1) if ledger.decisions[k])
    total = GradeRow(
        None, int(ledger.decisions.sum()), int(ledger.wrong.sum()), estimate(by_deal.sum(axis=1))
    )
    return Grade(
        env=setup.id,
        options=setup.options,
        policy=bots[0].name,
        opponents=None if opponents is None else bots[1].name,
        cards=cards,
        model=model,
        deals=source.describe(),
        rows=rows,
        total=total,
        unsolved=ledger.unsolved,
        worst=tuple(ledger.worst),
        by_deal=by_deal.sum(axis=1),
        run=run_of(time.perf_counter() - started, num_threads, batch_size),
    )


@functools.cache
def _tricks_left(game: Game) -> Any:
    """Kernel ``(config, states, rows, out)``: tricks left in the deals of these rows."""
    tricks_left = endings_of(game).tricks_left

    @entry(f"{game.name}.grade.tricks_left", [game.folder, __file__])
    def tricks_of(config, states, rows, out):
        for j in range(rows.shape[0]):
            out[j] = tricks_left(config, states[rows[j]])

    return tricks_of


class _Judge:
    """Finds the decisions that count, and what their actions are worth."""

    def __init__(self, setup: Setup, cards: int, model: str, limit: int, num_threads: int) -> None:
        self.setup, self.cards, self.limit = setup, cards, limit
        self.solve_rows = drivers(setup.game, model).solve_rows
        self.works: list[Work] = [make_work(setup.game) for _ in range(num_threads)]

    def choices(
        self, states: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Those of the rows that have a choice in the last tricks, and the tricks that are left there."""
        left = np.zeros(len(rows), np.int64)
        _tricks_left(self.setup.game)(self.setup.config, states, rows, left)
        legal = words_to_bits(np.asarray(states["legal"][rows]), self.setup.game.num_actions)
        count = (left <= self.cards) & (legal.sum(axis=1) > 1)
        return rows[count], left[count]

    def values(self, states: np.ndarray[Any, Any]) -> tuple[Floats, np.ndarray[Any, Any]]:
        """What each action gives the seat on turn, (n, A) in points, -inf where not legal; and which rows were solved."""
        game, count = self.setup.game, len(states)
        out, nodes = np.zeros((count * game.num_actions, NUM_SEATS)), np.zeros(count, np.int64)
        idle = list(self.works)

        def work(lo: int, hi: int) -> None:
            own = idle.pop()
            self.solve_rows(self.setup.config, states, own, self.limit, out, nodes, lo, hi)

        share_rows(work, count, len(idle))
        points = out.reshape(count, game.num_actions, NUM_SEATS) * game.unit
        own = points[np.arange(count), :, states["seat"]]
        legal = words_to_bits(np.asarray(states["legal"]), game.num_actions) != 0
        return np.where(legal, own, -np.inf), nodes >= 0


class _Ledger:
    """What was given away so far."""

    def __init__(self, game: Game, deals: int, cards: int, worst: int) -> None:
        self.game = game
        self.points: Floats = np.zeros((deals, cards + 1))  # by episode and tricks left
        self.decisions = np.zeros(cards + 1, np.int64)
        self.wrong = np.zeros(cards + 1, np.int64)
        self.unsolved = 0
        self.most = worst
        self.worst: list[Mistake] = []

    def row(self, cards: int, by_deal: Floats) -> GradeRow:
        """The row of one number of cards."""
        return GradeRow(
            cards, int(self.decisions[cards]), int(self.wrong[cards]), estimate(by_deal)
        )

    def enter(
        self,
        values: Floats,
        chosen: np.ndarray[Any, Any],
        left: np.ndarray[Any, Any],
        deals: np.ndarray[Any, Any],
        seats: np.ndarray[Any, Any],
        seatings: Sequence[tuple[str, ...]],
    ) -> None:
        """Take account of some decisions."""
        given = values.max(axis=1) - values[np.arange(len(values)), chosen]
        np.add.at(self.points, (deals, left), given)
        np.add.at(self.decisions, left, 1)
        np.add.at(self.wrong, left, given > 0)
        order = np.argsort(-given, kind="stable")[: self.most]
        for j in order[given[order] > 0]:
            best = self.game.actions[int(values[j].argmax())]
            self.worst.append(
                Mistake(
                    points=float(given[j]),
                    deal=int(deals[j]),
                    seating=seatings[j],
                    seat=int(seats[j]),
                    cards=int(left[j]),
                    chosen=self.game.actions[int(chosen[j])],
                    best=best,
                )
            )
        self.worst = sorted(self.worst, key=lambda mistake: -mistake.points)[: self.most]


class _Judged(Tables):
    """Tables where every seat is asked from outside, so that its position is seen; decisions of policy 0 are judged."""

    def __init__(
        self,
        setup: Setup,
        bots: Sequence[Bot],
        seatings: Sequence[tuple[int, ...]],
        source: Source,
        batch_size: int,
        judge: _Judge,
        ledger: _Ledger,
    ) -> None:
        super().__init__(setup, bots, seatings, source, batch_size, inside=False)
        self.judge, self.ledger = judge, ledger

    def decided(
        self,
        rows: np.ndarray[Any, Any],
        policies: np.ndarray[Any, Any],
        actions: np.ndarray[Any, Any],
    ) -> None:
        buffers = self.batch.buffers
        judged, left = self.judge.choices(buffers.states, rows[policies == 0])
        if not len(judged):
            return
        values, solved = self.judge.values(copy_records(buffers.states[judged]))
        self.ledger.unsolved += int((~solved).sum())
        judged, left, values = judged[solved], left[solved], values[solved]
        seats, seated = buffers.seats[judged], [self.seated(row) for row in judged]
        self.ledger.enter(values, actions[judged], left, self.deals[judged], seats, seated)
