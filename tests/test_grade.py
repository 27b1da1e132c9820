"""What a policy gives away: against the solver, against search in plain Python, and the report of it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from baselines import cli
from baselines.bots import exact
from baselines.grade import grade
from bolola_env.contracts import CONTRACTS
from bolola_env.game import setup as bolola_setup
from tests.helpers import Table, as_row, fewer
from tests.reference import bolola
from tests.test_exact import searched, twin
from trick_core.bots import BatchView, Bot
from trick_core.game import Setup, setup_for

DEAL = "N:K2.AK5.QT98.T864 AQJ5.QJ9.K32.QJ5 T984.862.A65.A73 763.T743.J74.K92"


class Solver(Bot):
    """Sees all hands; plays the exact solution of the last tricks, and before them its first legal action."""

    name = "solver"
    sees_all = True

    def __init__(self, setup: Setup, cards: int) -> None:
        self.setup, self.cards = setup, cards

    def act_batch(self, views: BatchView) -> np.ndarray[Any, np.dtype[np.int64]]:
        first = views.mask.argmax(axis=1)
        tricks = 18 if self.setup.game.name == "tarot" else 13
        in_play = views.records["phase"] == 0 if tricks == 18 else views.mask[:, 52:].sum(1) == 0
        late = in_play & (tricks - views.records["trick_number"] <= self.cards)
        first[late] = exact.solve(self.setup, views.records[late]).best
        return first


def lowest(view: Any) -> int:
    """The lowest legal action."""
    return int(view.legal[0])


@pytest.mark.parametrize("env", ["bolola/hearts-v0", "bolola/trump-v0", "tarot/deal-v0"])
def test_exact_player_gives_nothing_away(env: str) -> None:
    setup = setup_for(env, **({"start": "play"} if env == "tarot/deal-v0" else {}))
    result = grade(setup, Solver(setup, 3), fewer(12, 2), cards=3, seed=1, progress=False)
    assert result.total.decisions > 0
    assert result.total.given_away.mean == 0.0 and result.total.wrong == 0 and result.worst == ()
    assert result.unsolved == 0


@pytest.mark.parametrize("contract", ["queens", "bolola"])
def test_what_is_given_away_is_the_difference_of_two_searches(contract: str) -> None:
    """Against the reference engine: the best action's value less that of the one taken, from two cards on."""
    deal = bolola.Deal(as_row(CONTRACTS[contract]), Table(contract, deal=DEAL).hands(), 1)
    given, decisions = 0.0, 0
    while not deal.over:
        legal = deal.legal()
        if len(deal.tricks) >= 11 and len(legal) > 1:
            values = []
            for action in legal:
                after = twin(deal)
                after.play(action)
                values.append(searched(after)[deal.seat])
            given += max(values) - values[0]
            decisions += 1
        deal.play(legal[0])
    result = grade(
        bolola_setup(contract),
        lowest,
        [{"deal": DEAL, "starter": 1}],
        cards=2,
        progress=False,
    )
    assert decisions == result.total.decisions
    assert result.total.given_away.mean == given / 4
    assert sum(mistake.points for mistake in result.worst) <= given


def test_policy_among_others_sits_in_every_seat() -> None:
    """In four games of a deal it decides as often as it would in one game with all seats; only its own decisions count."""
    alone = grade("bolola/hearts-v0", "greedy", fewer(10, 1), cards=3, seed=2, progress=False)
    among = grade(
        "bolola/hearts-v0",
        "greedy",
        fewer(10, 1),
        opponents="greedy",
        cards=3,
        seed=2,
        progress=False,
    )
    np.testing.assert_array_equal(alone.by_deal, among.by_deal)
    assert among.total.decisions == alone.total.decisions
    assert among.opponents == "greedy" and alone.opponents is None


def test_neither_batches_nor_threads_change_a_grade() -> None:
    settings: dict[str, Any] = {"cards": fewer(4, 2), "seed": 3, "progress": False}
    one = grade("bolola/match-v0", "greedy", fewer(3, 1), **settings)
    other = grade("bolola/match-v0", "greedy", fewer(3, 1), batch_size=2, num_threads=2, **settings)
    np.testing.assert_array_equal(one.by_deal, other.by_deal)
    assert one.rows == other.rows and one.worst == other.worst
    assert [row.cards for row in one.rows] == [4, 3, 2][fewer(0, 2) :]


def test_the_worst_decisions_are_listed() -> None:
    """Each can be found again: deal, seat, what was played and what was better."""
    result = grade(
        "bolola/hearts-v0", lowest, fewer(20, 2), cards=3, seed=4, worst=3, progress=False
    )
    points = [mistake.points for mistake in result.worst]
    assert len(points) == fewer(3, len(points)) and points == sorted(points, reverse=True)
    assert all(mistake.chosen != mistake.best and mistake.cards <= 3 for mistake in result.worst)


def test_decisions_beyond_the_limit_are_counted_and_left_out() -> None:
    result = grade("bolola/bolola-v0", lowest, 2, cards=4, seed=5, limit=1, progress=False)
    assert result.unsolved > 0
    assert f"{result.unsolved} decisions were not solved" in str(result)


def test_grade_as_table_and_json() -> None:
    result = grade("bolola/queens-v0", "random", fewer(10, 2), cards=2, seed=6, progress=False)
    read = json.loads(result.to_json())
    assert read["format"] == "trick-envs-grade" and read["version"] == 1
    assert read["total"]["decisions"] == result.total.decisions == read["rows"][0]["decisions"]
    assert read["deals"]["count"] == fewer(10, 2)
    lines = str(result).splitlines()
    assert lines[0] == "| cards | decisions | wrong | given away |"
    assert lines[2].startswith("| 2 |") and lines[3].startswith("| all |")
    assert "random in all seats" in lines[-1] and "from 2 cards on" in lines[-1]


def test_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    file = tmp_path / "grade.json"
    command = ["grade", "bolola/queens-v0", "--policy", "random", "--opponents", "greedy"]
    assert cli.main([*command, "--cards", "2", "--deals", "3", "--json", str(file)]) == 0
    assert "given away" in capsys.readouterr().out
    assert json.loads(file.read_text())["opponents"] == "greedy"
    assert cli.main([*command, "--model", "friendly"]) == cli.USAGE_ERROR
    assert "'game', 'paranoid'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "setting", [{"cards": 0}, {"cards": True}, {"limit": 1.5}, {"batch_size": 0}]
)
def test_settings_out_of_range(setting: dict[str, Any]) -> None:
    (name,) = setting
    with pytest.raises(ValueError, match=f"{name}: expected an integer from 1 on"):
        grade("bolola/queens-v0", "random", 2, **setting)


def test_worst_may_be_none_but_not_fewer() -> None:
    assert grade("bolola/queens-v0", lowest, 2, cards=2, worst=0, progress=False).worst == ()
    for worst in (-1, 1.5, True):
        with pytest.raises(ValueError, match="worst: expected an integer from 0 on"):
            grade("bolola/queens-v0", "random", 2, worst=worst)  # type: ignore[arg-type]


def test_an_illegal_action_is_told_by_deal_and_seating() -> None:
    """Not by the row of the batch: deal 3 is in the second row of the second batch."""
    opened: list[list[int]] = []

    def watching(view: Any) -> int:
        if len(view.legal) == 13:
            opened.append(view.legal)
        return int(view.legal[0])

    def cheat(view: Any) -> int:
        return -1 if view.legal == opened[3] else int(view.legal[0])

    grade("bolola/queens-v0", watching, 5, cards=1, batch_size=1, progress=False)
    assert len(opened) == 5
    seats = ", ".join(["cheat"] * 4)
    message = rf"bot 'cheat' at seat \d of deal 3, seats \({seats}\), chose -1; legal are"
    with pytest.raises(ValueError, match=message):
        grade("bolola/queens-v0", cheat, 5, cards=1, batch_size=2, progress=False)
