"""The benchmark of inference: what its error means, and that worlds which explain the play have less of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import inference
from trick_core.game import setup_for
from trick_core.jit import JIT, copy_records

compiled = pytest.mark.skipif(
    not JIT, reason="draws thousands of worlds: only compiled kernels can"
)


def test_error_is_that_of_the_shares() -> None:
    """The true hands have none; with two cards of two seats exchanged in half of the worlds, four chances are off by a half."""
    (position,) = inference.positions(setup_for("bolola/hearts"), 1)
    view, truth = position.view, position.truth
    hidden = int(truth.sum() - truth[view.seat].sum())
    true = view.game.states(2)
    for seat in range(4):
        true["hands"][:, seat] = sum(1 << int(card) for card in np.flatnonzero(truth[seat]))
    assert inference.error_of(position, true) == 0.0
    one, other = (view.seat + 1) % 4, (view.seat + 2) % 4
    swapped = copy_records(true)
    for seat, back in ((one, other), (other, one)):
        lost, got = (1 << int(np.flatnonzero(truth[s])[0]) for s in (seat, back))
        swapped["hands"][1, seat] ^= np.uint64(lost | got)
    assert inference.error_of(position, swapped) == pytest.approx(4 * 0.25 / hidden)


def test_positions_are_decisions_after_the_first_trick() -> None:
    setup = setup_for("bolola/queens")
    found = inference.positions(setup, 3)
    assert [p.view.config is setup.config and len(p.view.legal) > 1 for p in found] == [True] * 3
    assert all(p.view.record["trick_number"][0] >= 1 for p in found)
    again = inference.positions(setup, 3)
    assert all(
        a.view.record.tobytes() == b.view.record.tobytes()
        for a, b in zip(found, again, strict=True)
    )


@compiled
def test_inference_finds_out_more_than_counting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "inference.json"
    settings = ("--setting", "0.01,20,1,5", "--setting", "0.01,500,20,200")
    inference.main(["--positions", "8", *settings, "--json", str(file)])
    assert "72 positions" in capsys.readouterr().out
    equal, short, long = json.loads(file.read_text())["lines"]
    assert 0.55 < equal["error"] < 0.67 and equal["slips"] == 1
    assert long["error"] < equal["error"] - 0.05 and long["error"] < short["error"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--positions", "1"], "--positions: expected 2 or more, got 1"),
        (["--setting", "0.01,100"], "expected SLIPS,BURN,THIN,WORLDS"),
        (["--setting", "2,1,1,1"], "expected slips between 0 and 1"),
        (["--setting", "0.5,1,0,1"], "expected slips between 0 and 1 and the others from 1 on"),
    ],
)
def test_command_says_what_it_cannot_take(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        inference.main(argv)
    assert message in capsys.readouterr().err
