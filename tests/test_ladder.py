"""The ladder: the same tables whoever plays them, however often they are interrupted."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeds
from baselines import ladder as module
from baselines.bots import net as nets
from baselines.cli import main
from baselines.evaluate import compare, evaluate
from baselines.evaluation import chunks
from baselines.evaluation.boards import Ladder
from baselines.evaluation.chunks import Work
from baselines.evaluation.games import Source
from baselines.evaluation.ratings import rate
from baselines.ladder import ladder, release
from tests.helpers import fewer
from trick_core.bots import BatchView, Bot, View
from trick_core.game import Setup, setup_for

HEARTS, QUEENS, TAROT = "bolola/hearts-v0", "bolola/queens-v0", "tarot/deal-v0"
FEW = fewer(12, 2)


class Lowest(Bot):
    """The lowest legal card."""

    name = "lowest"

    def act(self, view: View) -> int:
        return view.legal[0]

    def act_batch(self, views: BatchView) -> np.ndarray[Any, Any]:
        return views.mask.argmax(axis=1)

    def __repr__(self) -> str:
        return "Lowest()"


class KillsItsProcess(Lowest):
    """Ends the process that asks it, as the machine does when its memory is full: once (a file says so), or always."""

    name = "mortal"

    def __init__(self, once: Path | None = None) -> None:
        self._once = once

    def act_batch(self, views: BatchView) -> np.ndarray[Any, Any]:
        if self._once is None or not self._once.exists():
            if self._once is not None:
                self._once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act_batch(views)


def numbers(result: Ladder) -> Any:
    """All that was found, without what depends on the machine."""
    data = json.loads(result.to_json())
    del data["run"]
    for board in (*data["boards"], data["overall"]):
        for row in board["cells"]:
            for cell in row:
                del cell["seconds"], cell["cpu"]
    return data


def work_of(setup: Setup, policy: str, table: str, source: Source) -> Work:
    """What a policy's cell at a table plays; the policy need not be there."""
    tables = module._tables([table], [policy], [], False, {})
    everyone = module._Everyone.of([policy], [Lowest()], tables, {}, None)
    work = module._place(0, 0, 0, setup, everyone, tables[0], source).work
    assert work is not None
    return work


def played(folder: Path) -> set[str]:
    return {file.name for file in (folder / "chunks").glob("*.npz")}


# ---------------------------------------------------------------------------- cells


def test_a_cell_is_the_evaluation_of_one_against_three() -> None:
    result = ladder(HEARTS, ["random", "greedy"], deals=FEW, chunk=5, workers=1)
    for policy, other in (("random", "greedy"), ("greedy", "random")):
        i, k = result.policies.index(policy), result.tables.index(other)
        cell = result.boards[0].cells[i][k]
        assert cell is not None
        assert cell.points == evaluate(HEARTS, [policy, other], deals=FEW).rows[0].overall
        assert (cell.games, cell.points.deals) == (4 * FEW, FEW)


def test_a_cell_of_a_mixed_table_is_the_comparisons() -> None:
    mixed = "random+greedy+greedy"
    result = ladder(HEARTS, ["greedy", Lowest()], against=[mixed], deals=FEW, workers=1)
    expected = compare(HEARTS, "greedy", Lowest(), opponents=[mixed], deals=FEW)
    for i in range(2):
        cell = result.boards[0].cells[i][0]
        assert cell is not None and cell.points == expected.tables[0].values[i]


def test_identical_bots_differ_by_exactly_zero_on_every_deal() -> None:
    """A51. Under two names; among three of its own name a policy is not even played."""
    names = ["random", "greedy", "greedy-v1"]
    result = ladder([HEARTS, TAROT], names, deals=fewer(20, 1), workers=1)
    for board in (*result.boards, result.overall):
        for i, j in ((1, 2), (2, 1)):
            cell = board.cells[i][j]
            assert cell is not None and cell.games > 0
            assert cell.points.mean == cell.points.se == 0.0
            assert board.cells[i][0].points == board.cells[j][0].points  # type: ignore[union-attr]
        assert all(board.cells[i][i].games == 0 for i in range(3))  # type: ignore[union-attr]
        rated = {rating.policy: rating for rating in board.ratings}
        assert rated["greedy"].elo == pytest.approx(rated["greedy-v1"].elo, abs=1e-3)
        assert rated["greedy"].elo > rated["random"].elo or fewer(20, 1) == 1


def test_mean_counts_the_own_table_as_zero() -> None:
    result = ladder(HEARTS, ["random", "greedy", Lowest()], deals=FEW, workers=1)
    board = result.boards[0]
    for i, mean in enumerate(board.means):
        cells = [cell.points.mean for cell in board.cells[i] if cell is not None]
        assert mean is not None and len(cells) == 3
        assert mean.mean == pytest.approx(sum(cells) / 3) and mean.deals == FEW


def test_overall_is_the_mean_in_units_of_each_environments_spread() -> None:
    result = ladder([HEARTS, QUEENS], ["random", "greedy"], deals=FEW, workers=1)
    i, k = result.policies.index("greedy"), result.tables.index("random")
    parts = [(board.cells[i][k].points, board.scale) for board in result.boards]  # type: ignore[union-attr]
    overall = result.overall.cells[i][k]
    assert overall is not None and all(scale > 1 for _, scale in parts)
    assert overall.points.mean == pytest.approx(np.mean([p.mean / s for p, s in parts]))
    se = np.sqrt(sum((p.se / s) ** 2 for p, s in parts)) / 2  # type: ignore[operator]
    assert overall.points.se == pytest.approx(se)


def test_roles_are_apart() -> None:
    result = ladder(TAROT, ["greedy", "random"], deals=fewer(40, 1), workers=1)
    cell = result.boards[0].cells[0][1]
    assert cell is not None and {role.name for role in cell.roles} <= {"taker", "defender"}
    if fewer(40, 1) == 40:
        assert "taker" in str(result.role_cells(result.boards[0]))


# ---------------------------------------------------------------------------- the same whoever plays


def test_workers_and_chunks_change_nothing() -> None:
    settings: dict[str, Any] = {"against": ["random", "greedy+random+random"], "deals": 7}
    policies = ["greedy", Lowest()]
    one = ladder([HEARTS, QUEENS], policies, workers=1, chunk=7, **settings)
    assert numbers(ladder([HEARTS, QUEENS], policies, workers=1, chunk=2, **settings)) == numbers(
        one
    )
    assert numbers(ladder([HEARTS, QUEENS], policies, workers=2, chunk=3, **settings)) == numbers(
        one
    )


def test_seeds_give_other_deals_than_the_suite() -> None:
    suite, seed, again = (
        ladder(HEARTS, ["greedy", "random"], deals=5, seed=s, workers=1) for s in (None, 3, 3)
    )
    assert numbers(seed) == numbers(again) != numbers(suite)
    assert (suite.boards[0].deals["suite"], seed.boards[0].deals["seed"]) == ("bolola-hearts-v1", 3)


def test_a_killed_worker_costs_only_the_chunks_in_flight(tmp_path: Path) -> None:
    mortal = KillsItsProcess(tmp_path / "killed")
    settings: dict[str, Any] = {"against": ["random"], "deals": 6, "chunk": 2}
    result = ladder(HEARTS, ["greedy", mortal], workers=2, folder=tmp_path, **settings)
    assert (tmp_path / "killed").exists()
    assert numbers(result) == numbers(ladder(HEARTS, ["greedy", mortal], workers=1, **settings))
    assert len(played(tmp_path)) == 6


def test_workers_killed_again_and_again_are_an_error(monkeypatch: Any) -> None:
    monkeypatch.setattr(chunks, "RETRIES", 0)
    with pytest.raises(ChildProcessError, match=r"killed 1 times .* goes on where this ended"):
        ladder(HEARTS, [KillsItsProcess()], against=["random"], deals=4, chunk=2, workers=2)


# ---------------------------------------------------------------------------- resuming


def test_an_interrupted_run_goes_on_where_it_ended(tmp_path: Path, monkeypatch: Any) -> None:
    settings: dict[str, Any] = {"deals": 6, "chunk": 2, "workers": 1, "folder": tmp_path}
    real, count = chunks.play_chunk, 0

    def interrupted(chunk: Any) -> Any:
        nonlocal count
        count += 1
        if count == 4:
            raise KeyboardInterrupt
        return real(chunk)

    monkeypatch.setattr(chunks, "play_chunk", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ladder(HEARTS, ["greedy", "random"], **settings)
    assert len(played(tmp_path)) == 3
    assert not list((tmp_path / "chunks").glob("*.part"))
    partial = ladder(HEARTS, ["greedy", "random"], **settings, finish=False)
    deals = [partial.boards[0].cells[i][1 - i].points.deals for i in range(2)]  # type: ignore[union-attr]
    assert count == 4 and deals == [4, 2]
    whole = ladder(HEARTS, ["greedy", "random"], **settings)
    assert count == 4 + 3
    assert numbers(whole) == numbers(ladder(HEARTS, ["greedy", "random"], deals=6, workers=1))


def test_more_policies_and_deals_play_only_what_is_new(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"chunk": 2, "workers": 1, "folder": tmp_path}
    ladder(HEARTS, ["greedy", "random"], deals=4, **settings)
    first = played(tmp_path)
    ladder(HEARTS, ["greedy", "random"], deals=6, **settings)
    assert first < played(tmp_path) and len(played(tmp_path)) == 6
    times = {name: (tmp_path / "chunks" / name).stat().st_mtime_ns for name in first}
    ladder([QUEENS, HEARTS], ["random", Lowest(), "greedy"], deals=6, **settings)
    assert times == {name: (tmp_path / "chunks" / name).stat().st_mtime_ns for name in first}


def test_a_damaged_chunk_is_played_again(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"deals": 4, "chunk": 2, "workers": 1, "folder": tmp_path}
    whole = numbers(ladder(HEARTS, ["greedy", "random"], **settings))
    for name, content in zip(sorted(played(tmp_path)), (b"", b"PK\x03\x04 cut"), strict=False):
        (tmp_path / "chunks" / name).write_bytes(content)
    assert numbers(ladder(HEARTS, ["greedy", "random"], **settings)) == whole


def test_chunks_of_other_deals_options_or_files_are_not_taken(tmp_path: Path) -> None:
    setup = setup_for(HEARTS)
    model = tmp_path / "model"
    model.write_text("one")

    def key(env: Any = setup, seed: int | None = None, policy: str = f"net:{model}") -> str:
        return work_of(env, policy, "random", module._source(env, 5, seed)).key

    keys = [
        key(),
        key(setup.changed(starter=1)),
        key(setup.changed(starter=2)),
        key(seed=1),
        key(policy="net:other"),
    ]
    model.write_text("two")
    assert len({*keys, key()}) == 6


class Leveled(Bot):
    """A legal card by its place among them: two of one name that play otherwise."""

    name = "agent"

    def __init__(self, level: int, game: str = "") -> None:
        self.level, self.game = level, game

    def act(self, view: View) -> int:
        if self.game not in view.game.name:
            raise ValueError(f"plays {self.game}")
        return view.legal[self.level]


def points_of(result: Ladder) -> list[Any]:
    return [row[0].points for row in result.boards[0].cells]  # type: ignore[union-attr]


def test_two_objects_of_one_name_are_two_policies() -> None:
    low, high = Leveled(0), Leveled(-1)
    settings: dict[str, Any] = {"against": ["random"], "deals": FEW, "workers": 1}
    result = ladder(HEARTS, [low, high], **settings)
    alone = [points_of(ladder(HEARTS, [one], **settings))[0] for one in (low, high)]
    assert points_of(result) == alone and alone[0] != alone[1]
    assert result.policies == ("agent", "agent #2")
    assert result.run["policies"]["agent"] != result.run["policies"]["agent #2"]


def test_an_opponent_of_a_policys_name_is_rated_as_another() -> None:
    result = ladder(HEARTS, [Leveled(0)], against=[Leveled(-1)], deals=FEW, workers=1)
    ratings = result.boards[0].ratings
    assert [rating.policy for rating in ratings] == ["agent", "agent #2"]
    assert ratings[0].elo != ratings[1].elo


def test_a_policy_of_one_that_does_not_play_a_games_name_is_not_left_out() -> None:
    policies = [Leveled(0, "tarot"), Leveled(0)]
    result = ladder([QUEENS], policies, against=["random"], deals=2, workers=1, skip=True)
    assert [row[0] is None for row in result.boards[0].cells] == [True, False]


def test_the_chunks_of_another_object_of_that_name_are_not_taken(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"against": ["random"], "deals": FEW, "workers": 1}
    first, second = (
        points_of(ladder(HEARTS, [Leveled(level)], folder=tmp_path, **settings))
        for level in (0, -1)
    )
    assert first != second == points_of(ladder(HEARTS, [Leveled(-1)], **settings))
    count = len(played(tmp_path))
    assert points_of(ladder(HEARTS, [Leveled(0)], folder=tmp_path, **settings)) == first
    assert len(played(tmp_path)) == count


def test_a_net_trained_anew_is_played_anew(tmp_path: Path) -> None:
    """In the same process too, which keeps bots that it has made."""
    file = tmp_path / "mine.npz"
    net = nets.find("bolola-v1")
    other = nets.Net(tuple(-weight for weight in net.weights), net.biases, net.critic, net.about)
    policy = f"net:{file},temperature=0"
    settings: dict[str, Any] = {"against": ["random"], "deals": FEW, "workers": 1}
    found = []
    for one in (net, other, net):
        one.save(file)
        found.append(points_of(ladder(HEARTS, [policy], folder=tmp_path / "out", **settings)))
        assert found[-1] == points_of(ladder(HEARTS, [nets.NetBot(one)], **settings))
    assert found[0] == found[2] != found[1]


# ---------------------------------------------------------------------------- time


def test_time_for_a_cell_sets_the_deals_by_the_first_chunk(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """One second a chunk, a tenth of a minute a cell: six chunks; and again from the folder alone."""
    real = chunks.play_chunk
    monkeypatch.setattr(chunks, "play_chunk", lambda chunk: real(chunk)._replace(seconds=1.0))
    settings: dict[str, Any] = {"chunk": 2, "workers": 1, "folder": tmp_path, "against": ["random"]}
    result = ladder(HEARTS, ["greedy"], minutes=0.1, deals=100, **settings)
    cell = result.boards[0].cells[0][0]
    assert cell is not None and (cell.points.deals, cell.seconds) == (12, 6.0)
    again = ladder(HEARTS, ["greedy"], minutes=0.1, deals=100, **settings)
    assert numbers(again) == numbers(result)
    plain = ladder(HEARTS, ["greedy"], deals=12, **settings).boards[0].cells[0][0]
    assert plain is not None and plain.points == cell.points


def test_little_time_still_plays_a_chunk() -> None:
    result = ladder(HEARTS, ["greedy"], against=["random"], minutes=1e-9, chunk=3, workers=1)
    cell = result.boards[0].cells[0][0]
    assert cell is not None and cell.points.deals == 3


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (1e9, [10, 10, 10]),  # all there is
        (0.0, [1, 1, 1]),  # a chunk each, whatever it takes
        (14.0, [2, 1, 1]),  # the slow one has its time already
        (30.0, [10, 5, 1]),  # the cheap one is done; what it cannot use goes to the next
        (60.0, [10, 10, 3]),
    ],
)
def test_a_total_is_split_into_equal_times(budget: float, expected: list[int]) -> None:
    """Chunks of 1, 2 and 10 seconds, ten of each."""
    seconds = np.array([1.0, 2.0, 10.0])
    counts = module.shares(budget, seconds, seconds, np.array([1, 1, 1]), np.array([10, 10, 10]))
    assert counts.tolist() == expected
    assert counts @ seconds <= max(budget, seconds.sum())


def test_a_short_first_chunk_counts_as_what_it_took() -> None:
    first, each = np.array([1.0, 2.0]), np.array([5.0, 10.0])
    one, nine = np.array([1, 1]), np.array([9, 9])
    for budget, expected in ((2, [1, 1]), (8, [2, 1]), (28, [4, 2]), (133, [9, 9])):
        assert module.shares(budget, first, each, one, nine).tolist() == expected
    assert module.shares(28, first, each, np.array([1, 4]), nine).tolist() == [1, 4]
    assert module.shares(43, first, each, np.array([1, 4]), nine).tolist() == [3, 4]


def test_time_is_spent_by_what_later_chunks_take(tmp_path: Path, monkeypatch: Any) -> None:
    """The first chunk takes 2 seconds and others 1: of 20 seconds 10 chunks at first, then 19."""
    real = chunks.play_chunk

    def timed(chunk: Any) -> Any:
        return real(chunk)._replace(seconds=1.0 if chunk.first else 2.0)

    monkeypatch.setattr(chunks, "play_chunk", timed)
    settings: dict[str, Any] = {"chunk": 2, "deals": 100, "workers": 1, "against": ["random"]}
    for _ in range(2):
        result = ladder(HEARTS, ["greedy"], total=20 / 60, folder=tmp_path, **settings)
        assert result.boards[0].cells[0][0].points.deals == 2 * 19  # type: ignore[union-attr]


def test_total_time_is_shared_by_workers_and_grows_in_the_same_folder(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """A chunk takes greedy 1 second and the other 4: of 12 seconds they play 7 chunks and 1, of 20 seconds 11 and 2."""
    real = chunks.play_chunk

    def timed(chunk: Any) -> Any:
        return real(chunk)._replace(seconds=1.0 if chunk.work.specs[0] == "greedy" else 4.0)

    monkeypatch.setattr(chunks, "play_chunk", timed)
    settings: dict[str, Any] = {"chunk": 2, "folder": tmp_path, "against": ["random"]}
    settings |= {"deals": 100, "workers": 1}

    def deals(total: float, **more: Any) -> list[int]:
        result = ladder(HEARTS, ["greedy", Lowest()], total=total, **settings, **more)
        return [row[0].points.deals for row in result.boards[0].cells]  # type: ignore[union-attr]

    assert deals(12 / 60) == [14, 2]
    first = played(tmp_path)
    assert deals(20 / 60) == [22, 4]
    assert first < played(tmp_path) and len(played(tmp_path)) == 13
    assert deals(1 / 60, finish=False) == [22, 4]  # a report holds what there is
    assert deals(20 / 60, minutes=2 / 60) == [4, 2]


def test_chunks_have_about_as_many_games_everywhere() -> None:
    def sizes(env: str, table: str, chunk: int) -> list[int]:
        setup = setup_for(env)
        work = work_of(setup, "greedy", table, module._source(setup, 100, None))
        return [one.count for one in module._cut(work, chunk)]

    assert sizes(HEARTS, "random", 50) == [10, 50, 40]  # a short one to learn what a deal takes
    assert sizes(HEARTS, "random+oracle+pimc", 50)[:3] == [1, 8, 8]  # 24 seatings
    assert sizes("bolola/match-v0", "random", 50)[:2] == [4, 4]  # 12 deals
    assert sizes("bolola/match-v0", "random", 1)[:2] == [1, 1]


# ---------------------------------------------------------------------------- reports


def test_cells_say_what_a_decision_takes() -> None:
    """Every choice of a game is counted once: those of all four seats by one against three of a deal's four seatings."""
    result = ladder(HEARTS, ["random", Lowest()], against=["greedy"], deals=FEW, workers=1)
    for row in result.boards[0].cells:
        assert row[0] is not None
        assert 4 * FEW < row[0].decisions < 13 * 4 * FEW
        assert 0 < row[0].cpu < 0.01 * row[0].decisions


def test_policies_can_be_called_by_other_names() -> None:
    names = {"greedy": "the greedy one"}
    result = ladder(HEARTS, ["random", "greedy"], deals=2, workers=1, names=names)
    assert result.policies == result.tables == ("random", "the greedy one")
    assert {rating.policy for rating in result.boards[0].ratings} == set(result.policies)
    assert result.run["policies"]["the greedy one"] == {"name": "greedy"}


def test_report_has_tables_ratings_heat_map_and_page(tmp_path: Path) -> None:
    result = ladder(
        [HEARTS, TAROT], ["random", "greedy"], deals=fewer(8, 1), workers=1, folder=tmp_path
    )
    files = {file.suffix: file for file in result.write(tmp_path)}
    data = json.loads(files[".json"].read_text())
    assert (data["format"], data["version"]) == ("trick-envs-ladder", 1)
    assert data["boards"][0]["deals"]["sha256"] == seeds.suite("bolola-hearts-v1").sha256
    assert {rating["policy"] for rating in data["overall"]["ratings"]} == {"random", "greedy"}
    markdown, page = files[".md"].read_text(), files[".html"].read_text()
    assert "Against random:" in markdown and "| policy | bolola/hearts | tarot/deal |" in markdown
    assert page.count("<h2>") == 3 and "<svg" in page and "<script" not in page
    assert files[".png"].read_bytes().startswith(b"\x89PNG")
    assert str(result.boards[0].cells[1][0].points.text(1)) in markdown  # type: ignore[union-attr]


def test_best_policy_comes_first() -> None:
    result = ladder(HEARTS, ["random", "greedy", Lowest()], deals=FEW, workers=1)
    names = [line[0] for line in result.cells(result.boards[0])[1:]]
    assert names[0] == "greedy" or FEW == 2
    elos = {rating.policy: rating.elo for rating in result.boards[0].ratings}
    assert sorted(names, key=lambda name: -elos[name]) == names


def test_ratings_are_those_of_the_games() -> None:
    """Two policies: the model's odds are the share of comparisons won."""
    result = ladder(HEARTS, ["greedy"], against=["random"], deals=FEW, workers=1)
    games = evaluate(HEARTS, ["greedy", "random"], deals=FEW)
    points, share = games.points, []
    for a in range(4):
        others = np.delete(points[:, a], a, axis=1)
        share.append(0.5 + np.sign(points[:, a, a : a + 1] - others).mean(axis=1) / 2)
    from baselines.evaluation.ratings import Meeting

    expected = rate(["greedy", "random"], [[Meeting(0, 1, np.mean(share, axis=0))]])
    assert [r.elo for r in result.boards[0].ratings] == pytest.approx([r.elo for r in expected])


def test_table_of_unknown_opponents_is_an_error() -> None:
    result = ladder(HEARTS, ["greedy"], against=["random"], deals=2, workers=1)
    with pytest.raises(ValueError, match=r"no table 'oracle'; there are random"):
        result.against("oracle")


# ---------------------------------------------------------------------------- the release ladder


def test_release_takes_what_is_there_and_says_what_is_not(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "RELEASE_POLICIES", ("random", "greedy-v1", "no-such-bot"))
    monkeypatch.setattr(module, "RELEASE_MIXED", "random+no-such-bot+random")
    suites = {name: seeds.SUITES[name] for name in ("bolola-queens-v1", "tarot-deal-v1")}
    monkeypatch.setattr(seeds, "SUITES", suites)
    result = release(tmp_path, minutes=1e-9, chunk=2, workers=1)
    assert result.policies == result.tables == ("random", "greedy-v1")
    assert [board.env for board in result.boards] == [QUEENS, TAROT]
    assert "no bot 'no-such-bot'" in result.left_out["no-such-bot"]
    assert "Left out: no-such-bot" in result.caption()


def test_a_policy_that_does_not_play_a_game_is_left_out_there(monkeypatch: Any) -> None:
    class OnlyTarot(Lowest):
        name = "tarot player"

        def act_batch(self, views: BatchView) -> np.ndarray[Any, Any]:
            if views.game.name != "tarot":
                raise ValueError("bot 'tarot player' plays tarot")
            return super().act_batch(views)

    policies = ["random", OnlyTarot()]
    result = ladder([QUEENS, TAROT], policies, deals=2, workers=1, skip=True)
    queens, tarot = result.boards
    assert queens.cells[1] == (None, None) and queens.cells[0][1] is None
    assert tarot.cells[1][0] is not None and tarot.cells[0][1] is not None
    assert "tarot player at bolola/queens" in result.left_out
    assert "-" in result.cells(queens)[2]
    with pytest.raises(ValueError, match="plays tarot"):
        ladder([QUEENS, TAROT], policies, deals=2, workers=1)


# ---------------------------------------------------------------------------- errors, command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"envs": []}, r"envs: expected at least one environment"),
        ({"envs": ["bolola/harts"]}, r"no environment 'bolola/harts'"),
        ({"policies": []}, r"policies: expected at least one"),
        ({"policies": "greedy"}, r"policies: expected a list, got 'greedy'"),
        ({"policies": Lowest()}, r"policies: expected a list, got Lowest"),
        ({"envs": 5}, r"envs: expected a list, got 5"),
        ({"against": Lowest()}, r"against: expected a list, got Lowest"),
        ({"policies": ["gredy"]}, r"no bot 'gredy'"),
        ({"against": []}, r"against: expected at least one table"),
        ({"against": ["random+random"]}, r"expected one policy or 3 joined by '\+'"),
        ({"minutes": 0}, r"minutes: expected more than 0, got 0"),
        ({"total": 0}, r"total: expected more than 0, got 0"),
        ({"total": 1, "ray": "local", "workers": None}, r"total: on a cluster say how many"),
        ({"workers": 0}, r"workers: expected an integer from 1 on, got 0"),
        ({"chunk": 1.5}, r"chunk: expected an integer from 1 on, got 1.5"),
        ({"deals": 0}, r"deals: expected an integer from 1 on, got 0"),
        ({"deals": 10.5}, r"deals: expected an integer from 1 on, got 10.5"),
        ({"deals": ["N:..."]}, r"deals: expected an integer from 1 on, got \['N:...'\]"),
    ],
)
def test_wrong_arguments_are_errors_that_say_what_is_wrong(
    arguments: dict[str, Any], message: str
) -> None:
    given = {"envs": [HEARTS], "policies": ["random"], "deals": 2, "workers": 1, **arguments}
    with pytest.raises(ValueError, match=message):
        ladder(given.pop("envs"), given.pop("policies"), **given)


def test_command_plays_writes_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["ladder", HEARTS, "--policies", "greedy", "random", "--deals", "4", "--workers", "1"]
    assert main([*command, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "greedy" in printed and "ladder.html" in printed
    first = played(tmp_path)
    assert main([*command, "--out", str(tmp_path), "--report"]) == 0
    assert played(tmp_path) == first and (tmp_path / "ladder.json").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["ladder"], "give environments, or --release"),
        (["ladder", HEARTS, "--release"], "give environments, or --release"),
        (["evaluate", HEARTS, "--versus", "random"], "--versus: needs --against"),
        (
            ["evaluate", HEARTS, "--against", "random", "--control", "greedy"],
            "share their luck already",
        ),
    ],
)
def test_wrong_commands_say_what_is_wrong(
    command: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command) == 2
    assert message in capsys.readouterr().err


def test_command_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "result.json"
    command = ["evaluate", HEARTS, "--policies", "greedy", "--versus", "random", "--against"]
    command += ["random", "random+greedy+greedy", "--deals", "4", "--json", str(file)]
    assert main(command) == 0
    assert "greedy - random" in capsys.readouterr().out
    assert json.loads(file.read_text())["policies"] == ["greedy", "random"]
