"""Means over deals and how sure they are.

Everything here takes one value a deal: all games of a deal share its cards, so a deal is one observation, however often it was
played.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from baselines.extras import needs

Floats = np.ndarray[Any, np.dtype[np.float64]]

#: Deals of the first stage of :func:`deals_needed`: enough for Student's t to be close to the normal, and for means of
#: heavy-tailed points (Tarot) to be close to it too.
FIRST_STAGE = 200
#: Parts into which :func:`controlled` cuts the deals.
FOLDS = 5


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

    def __truediv__(self, scale: float) -> Estimate:
        """In units of ``scale``, above 0."""
        se, low, high = (None if x is None else x / scale for x in (self.se, self.low, self.high))
        return Estimate(self.mean / scale, se, low, high, self.deals)

    def __neg__(self) -> Estimate:
        low = None if self.high is None else -self.high
        high = None if self.low is None else -self.low
        return replace(self, mean=-self.mean, low=low, high=high)


def estimate(values: Floats) -> Estimate:
    """Mean, standard error and interval of independent values, shape (deals,)."""
    count, mean = len(values), float(np.mean(values))
    if count < 2:
        return Estimate(mean, None, None, None, count)
    return interval(mean, float(np.std(values, ddof=1)) / math.sqrt(count), count - 1, count)


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
    return interval(mean, se, used - 1, used)


def ratio_values(sums: Floats, counts: np.ndarray[Any, Any]) -> Floats:
    """One value a deal whose mean is the ratio's, and whose spread is what the ratio's linearised error is made of.

    Differences of two of them, deal by deal, give the error of a difference of two ratios on the same deals.
    """
    mean = float(sums.sum()) / float(counts.sum())
    values: Floats = mean + (sums - mean * counts) / float(counts.mean())
    return values


def t_quantile(freedom: int) -> float:
    """The 97.5 % point of Student's t."""
    with needs("train"):
        from scipy.special import stdtrit
    return float(stdtrit(freedom, 0.975))


def interval(mean: float, se: float, freedom: int, deals: int) -> Estimate:
    """An estimate from a mean, its standard error and the degrees of freedom of that."""
    half = t_quantile(freedom) * se
    return Estimate(mean, se, mean - half, mean + half, deals)


def mean_of(values: Sequence[Estimate]) -> Estimate:
    """The mean of independent estimates, each with the same weight; ``deals`` counts those of all.

    Its standard error is the root of the sum of their squared ones, by their number. Student's t has the degrees of freedom of the one with the fewest deals,
    which errs on the wide side.
    """
    deals, mean = sum(value.deals for value in values), sum(v.mean for v in values) / len(values)
    errors = [value.se for value in values if value.se is not None]
    if len(errors) < len(values):
        return Estimate(mean, None, None, None, deals)
    freedom = max(1, min(value.deals for value in values) - 1)
    return interval(mean, math.hypot(*errors) / len(values), freedom, deals)


# An interval of a width that was asked for.


def deals_needed(first_stage: Floats, half: float) -> int:
    """Deals in all after which the interval's half-width is at most ``half``, from the values of a first stage.

    Stein's two-stage procedure ("A two-sample test for a linear hypothesis whose power is independent of the variance", Annals of
    Mathematical Statistics 16, 1945): the first stage fixes the number of deals, and :func:`two_stage` keeps its variance and
    its degrees of freedom. The mean of all deals is independent of that variance where values are normal, so the
    interval covers the truth in 95 % of cases exactly; looking at the interval after every batch and stopping when it
    is short enough would stop too early whenever the variance happens to be underestimated.
    """
    spread = float(np.std(first_stage, ddof=1))
    wanted = t_quantile(len(first_stage) - 1) * spread / half
    return max(len(first_stage), math.ceil(wanted * wanted))


def two_stage(values: Floats, first_stage: int) -> Estimate:
    """The interval of :func:`deals_needed`: mean of all values, standard error from those of the first stage."""
    if len(values) <= first_stage or first_stage < 2:
        return estimate(values)
    se = float(np.std(values[:first_stage], ddof=1)) / math.sqrt(len(values))
    return interval(float(np.mean(values)), se, first_stage - 1, len(values))


# Less luck in the values.


def controlled(values: Floats, control: Floats, center: float = 0.0) -> tuple[Floats, float]:
    """Values less the part of their luck that a control variate shows; the mean's expectation stays what it was.

    Each value loses ``b * (control - center)``. The coefficient b of a deal is the least-squares slope over the deals outside its own
    part of :data:`FOLDS` (cross-fitting), so that it does not depend on the deal: a slope fitted to the deal
    itself would bias the mean.

    Args:
        values: Shape (deals,).
        control: Shape (deals,), of the same deals.
        center: The control's true expectation.

    Returns:
        The values, and the mean coefficient.
    """
    part = np.arange(len(values)) % FOLDS
    luck = control - center
    slopes: Floats = np.zeros(len(values))
    if len(values) < 2 * FOLDS:
        return values.copy(), 0.0
    for k in range(FOLDS):
        inside, outside = part == k, part != k
        spread = float(np.var(luck[outside]))
        if spread > 0:
            off = values[outside] - values[outside].mean()
            slopes[inside] = float(np.mean(off * luck[outside])) / spread
    return values - slopes * luck, float(slopes.mean())
