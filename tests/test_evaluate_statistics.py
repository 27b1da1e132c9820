"""The statistics of the evaluation, on data whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from baselines.evaluation.ratings import (
    SCALE,
    Meeting,
    rate,
    share_of_wins,
)
from baselines.evaluation.statistics import (
    FIRST_STAGE,
    Floats,
    controlled,
    deals_needed,
    estimate,
    ratio,
    ratio_values,
    two_stage,
)


def coverage(held: int, runs: int) -> tuple[float, float]:
    """A share of runs, and four of its standard errors if the true share is 95 %."""
    return held / runs, 4 * math.sqrt(0.95 * 0.05 / runs)


# ---------------------------------------------------------------------------- intervals of a width asked for


@pytest.mark.parametrize("kind", ["normal", "lognormal", "rare"])
def test_interval_of_a_width_asked_for_covers_the_truth_and_is_no_wider(kind: str) -> None:
    """Also with points as skewed as Tarot's: mostly small, at times very large."""
    rng = np.random.default_rng(5)
    runs, held = 2000, 0
    half = 0.1 * draw(np.random.default_rng(1), kind, 20_000).std()
    for _ in range(runs):
        first = draw(rng, kind, FIRST_STAGE)
        count = deals_needed(first, half)
        value = two_stage(np.append(first, draw(rng, kind, count - FIRST_STAGE)), FIRST_STAGE)
        assert value.half is not None and value.half <= half * (1 + 1e-9)
        assert value.low is not None and value.high is not None
        held += value.low <= TRUTH[kind] <= value.high
    share, margin = coverage(held, runs)
    assert share > 0.95 - margin - (0.02 if kind != "normal" else 0)
    assert kind != "normal" or share < 0.95 + margin


TRUTH = {"normal": 3.0, "lognormal": math.exp(0.5 * 0.8**2), "rare": 0.0}


def draw(rng: np.random.Generator, kind: str, count: int) -> Floats:
    if kind == "normal":
        return rng.normal(3, 5, count)
    if kind == "lognormal":
        return rng.lognormal(0, 0.8, count)
    return rng.normal(0, 1, count) * np.where(rng.random(count) < 0.1, 6.0, 1.0)


def test_stopping_when_the_interval_looks_short_enough_would_cover_less() -> None:
    """Why it is two stages: looked at after every deal, intervals that are narrow by accident end the play."""
    rng = np.random.default_rng(8)
    runs, held = 2000, 0
    for _ in range(runs):
        values = rng.normal(0, 1, 100)
        for count in range(5, 100):
            value = estimate(values[:count])
            if value.half is not None and value.half <= 0.6:
                break
        held += abs(value.mean) <= (value.half or 0)
    share, margin = coverage(held, runs)
    assert share < 0.95 - margin


def test_a_first_stage_that_is_enough_gives_the_ordinary_interval() -> None:
    values = np.random.default_rng(0).normal(0, 1, FIRST_STAGE)
    assert deals_needed(values, 10.0) == FIRST_STAGE
    assert two_stage(values, FIRST_STAGE) == estimate(values)


def test_no_spread_needs_no_more_deals() -> None:
    assert deals_needed(np.zeros(FIRST_STAGE), 0.5) == FIRST_STAGE


# ---------------------------------------------------------------------------- control variates


def lucky_deals(rng: np.random.Generator, count: int) -> tuple[Floats, Floats]:
    """Values with mean 1, and a control with mean 2 that shares their luck, not in proportion."""
    luck = rng.exponential(1.0, count) - 1.0
    values = 1.0 + 3 * luck + luck**2 - 1.0 + rng.normal(0, 1, count)
    return values, 2.0 + luck


def test_control_variate_does_not_move_the_mean() -> None:
    """With 30 deals a slope fitted to the same deals would: it is far off, and the cross-fitted one is not."""
    rng = np.random.default_rng(3)
    cross, same = [], []
    for _ in range(8000):
        values, control = lucky_deals(rng, 30)
        cross.append(controlled(values, control, 2.0)[0].mean())
        slope = np.cov(values, control)[0, 1] / control.var(ddof=1)
        same.append((values - slope * (control - 2.0)).mean())
    assert abs(np.mean(cross) - 1.0) < 4 * np.std(cross) / len(cross) ** 0.5
    assert abs(np.mean(same) - 1.0) > 10 * np.std(same) / len(same) ** 0.5


def test_control_variate_narrows_the_interval_and_it_still_covers() -> None:
    rng = np.random.default_rng(4)
    runs, held, widths = 2000, 0, []
    for _ in range(runs):
        luck = rng.normal(0, 1, 150)
        values = 1.0 + 3 * luck + 0.7 * (luck**2 - 1) + rng.normal(0, 1, 150)
        control = 2.0 + luck
        value = estimate(controlled(values, control, 2.0)[0])
        assert value.low is not None and value.high is not None
        held += value.low <= 1.0 <= value.high
        widths.append((value.se or 0) / (estimate(values).se or 1))
    share, margin = coverage(held, runs)
    assert share > 0.95 - margin
    assert np.median(widths) < 0.6


def test_control_that_says_nothing_changes_nothing() -> None:
    values = np.random.default_rng(0).normal(0, 1, 50)
    left, slope = controlled(values, np.full(50, 7.0), 7.0)
    assert np.array_equal(left, values) and slope == 0


def test_few_deals_are_left_as_they_are() -> None:
    values, control = lucky_deals(np.random.default_rng(0), 9)
    assert np.array_equal(controlled(values, control, 2.0)[0], values)


# ---------------------------------------------------------------------------- roles


def test_values_of_a_ratio_have_its_mean_and_its_error() -> None:
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 4, 5000)
    sums = counts * 2.0 + rng.normal(0, 1, 5000) * np.sqrt(counts)
    whole, by_deal = ratio(sums, counts), estimate(ratio_values(sums, counts))
    assert by_deal.mean == pytest.approx(whole.mean)
    assert by_deal.se == pytest.approx(whole.se, rel=0.02)


# ---------------------------------------------------------------------------- ratings


def test_share_of_wins_counts_who_is_ahead_in_the_same_game() -> None:
    """One against three, two seatings; equal points are half a win."""
    points = np.array([[[10.0, 0, 10, 20], [5, 5, 0, 0]]])
    first = np.array([[True, False, False, False], [False, True, False, False]])
    # Ahead of 0, level with 10, behind 20; level with 5, ahead of 0 and 0.
    assert share_of_wins(points, first, ~first).tolist() == [(1 + 0.5 + 0 + 0.5 + 1 + 1) / 6]


def strengths_met(rng: np.random.Generator, elo: list[float], deals: int) -> list[Meeting]:
    """Everybody against everybody by the model: one game a deal."""
    meetings = []
    for i in range(len(elo)):
        for j in range(len(elo)):
            if i != j:
                chance = 1 / (1 + 10 ** ((elo[j] - elo[i]) / 400))
                meetings.append(Meeting(i, j, (rng.random(deals) < chance).astype(float)))
    return meetings


def test_ratings_recover_order_and_distance() -> None:
    elo = [0.0, -150.0, 40.0, 110.0]
    names = ["a", "b", "c", "d"]
    ratings = rate(names, [strengths_met(np.random.default_rng(0), elo, 4000)])
    assert [r.policy for r in ratings] == names
    assert sorted(names, key=lambda n: ratings[names.index(n)].elo) == ["b", "a", "c", "d"]
    assert [r.elo for r in ratings] == pytest.approx(elo, abs=15)
    assert sum(r.elo for r in ratings) == pytest.approx(0, abs=1e-6)


@pytest.mark.long
def test_error_bars_of_ratings_cover_the_truth() -> None:
    rng = np.random.default_rng(9)
    elo, held, runs = [0.0, -60.0, 60.0], 0, 40
    for _ in range(runs):
        ratings = rate(["a", "b", "c"], [strengths_met(rng, elo, 150)])
        held += sum(r.low <= truth <= r.high for r, truth in zip(ratings, elo, strict=True))
    share, margin = coverage(held, 3 * runs)
    assert share > 0.95 - 1.5 * margin


def test_every_set_of_deals_weighs_the_same() -> None:
    """Ten times the deals in one environment do not make it count ten times."""
    even = [Meeting(0, 1, np.full(1000, 0.5))]
    ahead = [Meeting(0, 1, np.full(100, 0.9))]
    rating = rate(["a", "b"], [even, ahead])[0]
    expected = SCALE * math.log(0.7 / 0.3) / 2
    assert rating.elo == pytest.approx(expected, rel=1e-2)


def test_who_met_nobody_has_no_rating() -> None:
    meeting = Meeting(0, 2, np.array([1.0, 0.0, 1.0]))
    assert [r.policy for r in rate(["a", "b", "c"], [[meeting]])] == ["a", "c"]
    assert rate(["a"], [[]]) == []


def test_who_never_wins_still_has_a_rating() -> None:
    ratings = rate(["a", "b"], [[Meeting(0, 1, np.ones(50))]])
    assert 500 < ratings[0].elo < 2000 and math.isfinite(ratings[1].elo)
