"""Taking off luck that a known bot shares: a control variate.

A reference bot with a kernel plays the candidate's part on the same deals, in the same seats; opponents without a kernel are
replaced by the reference too. What it makes more than it makes on average is luck of the cards, and part of the candidate's
result as well. So that part is subtracted: ``result - b * (reference - its expectation)``. The expectation comes from
:data:`MORE` times as many other deals of the same kind, and its own error goes into the interval; b is fitted on other deals
than those that it is used on (:func:`~baselines.evaluation.statistics.controlled`), so the mean's expectation stays what it was.

It helps where the candidate sits in one seat (1.2 to 5 times fewer deals), and in rotated play where
the opponents are not the reference (1.1 to 1.5 in Bolola; 10 in Tarot against ``random``, which bids on anything). Against three of
the reference, rotated, it does nothing: with four equal players the points over the table of the four seats sum to nothing.
``python -m benchmarks.variance`` measures it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines.evaluation.games import Contest, Source
from baselines.evaluation.statistics import Estimate, Floats, controlled, estimate, interval
from trick_core.bots import Bot
from trick_core.game import Setup

#: Deals for the reference's expectation, per deal of the evaluation; and their number at most.
MORE, MOST = 50, 500_000


@dataclass(frozen=True, eq=False)
class Control:
    """A candidate's result by deal, with and without the shared luck.

    Attributes:
        bot: Name of the reference.
        plain: Points over the table, shape (deals,).
        left: The same less luck.
        slope: Mean coefficient b.
        center: The reference's expectation, with its error.
    """

    bot: str
    plain: Floats
    left: Floats
    slope: float
    center: Estimate

    def estimate(self, factor: float = 1.0) -> Estimate:
        """The candidate's mean, times a factor."""
        return _scaled(self._estimate(), factor)

    def _estimate(self) -> Estimate:
        value = estimate(self.left)
        if value.se is None:
            return value
        se = math.hypot(value.se, self.slope * (self.center.se or 0.0))
        return interval(value.mean, se, value.deals - 1, value.deals)

    @property
    def factor(self) -> float:
        """How many times as many deals the plain mean needs for the same interval."""
        with_control, without = self._estimate().se, estimate(self.plain).se
        return (without / with_control) ** 2 if with_control and without else 1.0

    def describe(self) -> dict[str, Any]:
        """For reports."""
        center = {"mean": self.center.mean, "se": self.center.se, "deals": self.center.deals}
        return {"bot": self.bot, "factor": self.factor, "slope": self.slope, "expectation": center}


def _scaled(value: Estimate, factor: float) -> Estimate:
    if value.se is None:
        return Estimate(factor * value.mean, None, None, None, value.deals)
    return interval(factor * value.mean, abs(factor) * value.se, value.deals - 1, value.deals)


def control_for(
    setup: Setup,
    reference: Bot,
    bots: Sequence[Bot],
    contest: Contest,
    num_threads: int,
    batch_size: int,
) -> Control:
    """Take the luck that ``reference`` shares off the first policy's result.

    Args:
        setup: The game.
        reference: A bot with a kernel.
        bots: The policies of the contest; the first one's place is taken.
        contest: What was played.
        num_threads: For the reference's games.
        batch_size: For the reference's games.

    Raises:
        ValueError: The reference has no kernel, or the deals are custom ones: there are no others of their kind.
    """
    game, source = setup.game, contest.source
    if reference.jit(game) is None:
        raise ValueError(
            f"control: expected a bot with a kernel, as 'greedy'; got {reference.name!r}"
        )
    if source.custom is not None:
        raise ValueError("control: for deals of a suite or a seed; these are custom deals")
    others = [bot if bot.jit(game) is not None else reference for bot in bots[1:]]
    place = np.array(contest.seatings) == 0

    def played(deals: Source) -> Floats:
        table = [reference, *others]
        games = Contest(setup, table, contest.seatings, deals, num_threads, batch_size)
        games.play_to(deals.count)
        return games.over_table(place)

    same = played(Source(contest.played, source.seed))
    seed = hashlib.sha256(f"control {source.seed}".encode()).digest()[:8]
    more = Source(min(MORE * contest.played, MOST), int.from_bytes(seed, "little"))
    center = estimate(played(more))
    plain = contest.over_table(place)
    left, slope = controlled(plain, same, center.mean)
    return Control(reference.name, plain, left, slope, center)
