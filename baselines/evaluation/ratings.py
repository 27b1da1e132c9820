"""Ratings from who had more points than whom, with error bars.

Whenever two different policies sit at one table, the one with more points has won against the other, and equal points are half a
win each. The ratings are the maximum-likelihood strengths of the Bradley-Terry model ("Rank analysis of incomplete block
designs", Biometrika 39, 1952), by the package ``choix``, on the scale that chess uses: 400 points are odds of 10 to 1.
Error bars come from drawing the deals again with replacement (bootstrap): the games of a deal stay together, across all cells that
were played on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines.evaluation.statistics import Floats
from baselines.extras import needs

#: Draws of the bootstrap, and their seed.
DRAWS, SEED = 200, 1
#: Elo points per unit of the model's log strength.
SCALE = 400 / math.log(10)
#: Pseudo-wins of everybody over everybody, so that a policy that never wins has a rating at all. A pair of policies that
#: met has one win to share out.
PRIOR = 1e-4


@dataclass(frozen=True)
class Rating:
    """A policy's rating; the mean of all is 0.

    Attributes:
        policy: Its name.
        elo: The rating.
        low: Lower end of the 95 % interval.
        high: Upper end.
    """

    policy: str
    elo: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.elo:.0f} [{self.low:.0f}, {self.high:.0f}]"


@dataclass(frozen=True, eq=False)
class Meeting:
    """Two policies that met in some cell.

    Attributes:
        first: Number of the one.
        second: Number of the other.
        share: The first one's share of the wins in each deal, shape (deals,).
    """

    first: int
    second: int
    share: Floats


def share_of_wins(
    points: Floats, first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]
) -> Floats:
    """Share of wins by deal.

    Args:
        points: (deals, seatings, 4).
        first: Places of the one policy, bool (seatings, 4).
        second: Places of the other.
    """
    ahead = np.sign(points[:, :, :, None] - points[:, :, None, :])
    pairs = first[:, :, None] & second[:, None, :]
    share: Floats = 0.5 + ahead[:, pairs].mean(axis=1) / 2
    return share


def rate(names: Sequence[str], suites: Sequence[Sequence[Meeting]]) -> list[Rating]:
    """Ratings of policies.

    Args:
        names: Their names.
        suites: Per set of deals the meetings on it. Every pair of policies weighs the same in each.

    Returns:
        Of those that met somebody, in the order of the names.
    """
    met = sorted({k for one in suites for m in one for k in (m.first, m.second)})
    if not met:
        return []
    at = {number: k for k, number in enumerate(met)}
    own = [[Meeting(at[m.first], at[m.second], m.share) for m in one] for one in suites]
    best = _strengths(_wins(len(met), own, None))
    rng = np.random.default_rng(SEED)
    draws = np.array([_strengths(_wins(len(met), own, rng), best) for _ in range(DRAWS)])
    low, high = np.quantile(draws, (0.025, 0.975), axis=0)
    return [
        Rating(names[number], SCALE * float(b), SCALE * float(lo), SCALE * float(hi))
        for number, b, lo, hi in zip(met, best, low, high, strict=True)
    ]


def _wins(
    count: int, suites: Sequence[Sequence[Meeting]], rng: np.random.Generator | None
) -> Floats:
    """Wins of everybody over everybody, on all deals or (with a generator) on deals drawn with replacement."""
    wins: Floats = np.full((count, count), PRIOR)
    np.fill_diagonal(wins, 0.0)
    for meetings in suites:
        most = max((len(meeting.share) for meeting in meetings), default=0)
        times = (
            np.ones(most)
            if rng is None
            else np.bincount(rng.integers(most, size=most), minlength=most)
        )
        for meeting in meetings:
            drawn = times[: len(meeting.share)]
            if drawn.sum() == 0:  # a cell of few deals, none of them drawn
                continue
            share = float(np.average(meeting.share, weights=drawn))
            wins[meeting.first, meeting.second] += share
            wins[meeting.second, meeting.first] += 1 - share
    return wins


def _strengths(wins: Floats, start: Floats | None = None) -> Floats:
    with needs("train"):
        import choix
    found: Floats = choix.ilsr_pairwise_dense(wins, initial_params=start, max_iter=1000, tol=1e-6)
    return found
