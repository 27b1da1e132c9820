"""The benchmark of variance reduction: what it takes off has no expectation, and its table is what it measures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from baselines.evaluation.statistics import estimate
from benchmarks import variance
from bolola_env.game import GAME, setup
from trick_core.jit import JIT

compiled = pytest.mark.skipif(not JIT, reason="plays thousands of deals: only compiled kernels can")


@compiled
def test_luck_of_random_choices_has_no_expectation_and_is_part_of_the_points() -> None:
    points, luck = variance.with_known_chances(setup("hearts"), variance.untuned(GAME), 300)
    mean = estimate(luck.mean(axis=1))
    assert mean.se is not None and abs(mean.mean) < 4 * mean.se
    assert 30 < points.mean() < 70  # untuned greedy over three random is about +50
    covariance = ((points - points.mean()) * luck).mean()
    assert covariance > 0


@compiled
def test_table_has_a_line_for_each_kind_of_opponents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "variance.json"
    variance.main(["bolola/trump-v0", "--deals", "200", "--json", str(file)])
    assert "rotated" in capsys.readouterr().out
    greedy, random = json.loads(file.read_text())["lines"]
    assert greedy["against"] == "greedy" and greedy["known_chances"] is None
    assert greedy["rotated"] > 2 and greedy["control"] > 2
    assert greedy["rotated_control"] == pytest.approx(greedy["rotated"])
    assert random["rotated_control"] > random["rotated"] and random["paired"] > 1
