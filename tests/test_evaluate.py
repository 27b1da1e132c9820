"""Evaluation: fair seatings, honest intervals, the same result however it is worked out."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

import seeds
from baselines.evaluate import (
    Estimate,
    Result,
    compare,
    estimate,
    evaluate,
    print_result,
    score_against,
    t_quantile,
    tournament,
)
from baselines.grade import grade
from baselines.ladder import ladder
from bolola_env.contracts import Contract
from bolola_env.game import setup as bolola_setup
from seeds.suites import deals_of
from tests.helpers import Table, fewer
from trick_core.bots import BatchView, Bot, View, make_bot
from trick_core.game import setup_for
from trick_core.jit import JIT

HEARTS = "bolola/hearts-v0"
FEW = fewer(40, 2)
compiled = pytest.mark.skipif(not JIT, reason="plays thousands of deals: only compiled kernels can")


def lowest(view: View) -> int:
    return view.legal[0]


def highest(view: View) -> int:
    return view.legal[-1]


class NotJitted(Bot):
    """A jitted bot asked from Python."""

    def __init__(self, name: str) -> None:
        self.name = f"{name} in python"
        self._bot = make_bot(name)

    def act(self, view: View) -> int:
        return self._bot.act(view)


# ---------------------------------------------------------------------------- what is played


def test_points_are_those_of_the_games_replayed_by_hand() -> None:
    """Each deal of the suite, dealt as a custom deal and played at a single table, in each seating."""
    result = evaluate(HEARTS, [lowest, highest], deals=6)
    assert result.arrangements == (
        ("lowest", "highest", "highest", "highest"),
        ("highest", "lowest", "highest", "highest"),
        ("highest", "highest", "lowest", "highest"),
        ("highest", "highest", "highest", "lowest"),
    )
    for number, options in enumerate(seeds.suite("bolola-hearts-v1").deals(6)):
        for seating in range(4):
            table = Table("hearts", **options)
            while not table.over:
                legal = table.legal()
                table.force(legal[0] if table.seat == seating else legal[-1])
            assert result.points[number, seating].tolist() == table.points()


def test_rows_are_means_over_the_table_worked_out_by_hand() -> None:
    result = evaluate(HEARTS, [lowest, highest], deals=8)
    over = result.points - result.points.mean(axis=2, keepdims=True)
    by_deal = np.array([[over[d, a, a] for a in range(4)] for d in range(8)])
    row = result.rows[0]
    assert (row.policy, row.games) == ("lowest", 32)
    assert row.overall.mean == pytest.approx(by_deal.mean())
    assert row.overall.se == pytest.approx(by_deal.mean(axis=1).std(ddof=1) / 8**0.5)
    assert [seat.mean for seat in row.seats] == pytest.approx(by_deal.mean(axis=0).tolist())
    assert [seat.deals for seat in row.seats] == [8] * 4
    assert 3 * result.rows[1].overall.mean == pytest.approx(-row.overall.mean)
    lead = result.differences[0].value
    assert lead.mean == pytest.approx(row.overall.mean - result.rows[1].overall.mean)


@pytest.mark.parametrize(
    ("table", "seatings"), [("abbb", 4), ("aabb", 6), ("aabc", 12), ("abcd", 24), ("aaaa", 1)]
)
def test_every_policy_holds_every_hand_equally_often(table: str, seatings: int) -> None:
    """A52: all different orders of the table, each once."""
    bots = {name: NotJitted("random") for name in set(table)}
    for name, bot in bots.items():
        bot.name = name
    result = evaluate(HEARTS, [bots[name] for name in table], deals=2)
    assert len(set(result.arrangements)) == len(result.arrangements) == seatings
    assert all(Counter(seating) == Counter(table) for seating in result.arrangements)
    for seat in range(4):
        counts = Counter(seating[seat] for seating in result.arrangements)
        assert all(counts[name] * 4 == seatings * table.count(name) for name in bots)


def test_rotations_keep_the_order_around_the_table() -> None:
    bots = [lowest, highest, "random", "greedy"]
    result = evaluate(HEARTS, bots, deals=2, arrangements="rotations")
    assert [seating[0] for seating in result.arrangements] == [
        "lowest",
        "greedy",
        "random",
        "highest",
    ]
    order = ("lowest", "highest", "random", "greedy") * 2
    assert all("".join(seating) in "".join(order) for seating in result.arrangements)


def test_all_seatings_of_a_deal_have_the_same_cards_and_starter() -> None:
    seen: dict[str, set[str]] = {}

    def look(view: View) -> int:
        if int(view.record["trick_number"][0]) == 0:
            held = int(view.record["hands"][0][view.seat]) | int(
                view.record["played"][0][view.seat]
            )
            starter = int(view.record["starter"][0])
            seen.setdefault(str((view.seat, starter, held)), set()).add("seen")
        return view.legal[0]

    evaluate(HEARTS, [look, highest], deals=3)
    assert len(seen) == 3 * 4  # one hand a deal and seat, though each deal was played four times


# ---------------------------------------------------------------------------- no false winners


@pytest.mark.parametrize("name", ["greedy", "random"])
def test_two_identical_bots_score_exactly_alike(name: str) -> None:
    """A51: no winner, and not by rounding: the difference is 0 on every single deal."""
    result = evaluate(HEARTS, [name, make_bot(name)], deals=FEW)
    assert [row.policy for row in result.rows] == [name, f"{name} #2"]
    assert result.differences[0].value == Estimate(0.0, 0.0, 0.0, 0.0, FEW)
    assert result.winner is None
    assert "No difference is established" in result.markdown()


def test_identical_bots_score_alike_with_two_of_each_at_the_table() -> None:
    bots = [NotJitted("greedy"), NotJitted("greedy")]
    result = evaluate(HEARTS, [bots[0], bots[0], bots[1], bots[1]], deals=3)
    assert result.differences[0].value.mean == result.differences[0].value.se == 0.0
    assert len(result.arrangements) == 6


def test_better_policy_is_named() -> None:
    result = evaluate(HEARTS, ["random", "greedy"], deals=fewer(100, 4))
    assert result.winner == "greedy" or fewer(100, 4) == 4


def test_one_deal_makes_no_winner_and_no_interval() -> None:
    result = evaluate(HEARTS, [lowest, highest], deals=1)
    assert result.rows[0].overall.se is None and result.winner is None
    assert result.rows[0].overall.half is None
    with pytest.raises(ValueError, match=r"deals: an interval needs at least 2"):
        score_against(HEARTS, lowest, highest, deals=1)


def test_three_better_than_none_needs_a_lead_over_each() -> None:
    """A winner leads every other policy, not just one of them."""
    twin = make_bot("greedy")
    result = evaluate(HEARTS, ["greedy", twin, "random", lowest], deals=fewer(60, 2))
    assert result.winner is None


# ---------------------------------------------------------------------------- same seed, same result


def test_threads_and_batch_size_change_nothing() -> None:
    results = [
        evaluate(HEARTS, ["greedy", "random"], deals=FEW, num_threads=threads, batch_size=size)
        for threads, size in ((1, 2048), (2, 2048), (2, 24), (1, 1), (3, 7))
    ]
    for result in results[1:]:
        assert np.array_equal(result.points, results[0].points)
        assert (result.rows, result.differences) == (results[0].rows, results[0].differences)


@pytest.mark.parametrize("env", [HEARTS, "bolola/trump-v0"])
def test_a_bot_plays_the_same_inside_the_kernel_and_asked_from_python(env: str) -> None:
    """Also random: its numbers belong to the deal, not to the way it is asked."""
    deals = fewer(6, 1)
    inside = evaluate(env, ["greedy", "random"], deals=deals)
    for pair in (
        [NotJitted("greedy"), "random"],
        ["greedy", NotJitted("random")],
        [NotJitted("greedy"), NotJitted("random")],
    ):
        assert np.array_equal(evaluate(env, pair, deals=deals).points, inside.points)


def test_python_policies_do_not_depend_on_batch_size() -> None:
    def drawn(view: View) -> int:
        return int(view.rng.choice(view.legal))

    results = [evaluate(HEARTS, [drawn, "greedy"], deals=5, batch_size=size) for size in (1, 8, 99)]
    assert all(np.array_equal(result.points, results[0].points) for result in results)


def test_seeds_differ_and_repeat() -> None:
    one, again, other = (
        evaluate(HEARTS, ["greedy", "random"], deals=5, seed=seed).points for seed in (1, 1, 2)
    )
    assert np.array_equal(one, again) and not np.array_equal(one, other)


def test_first_deals_of_a_suite_score_as_they_do_in_the_whole() -> None:
    whole = evaluate(HEARTS, ["greedy", "random"], deals=FEW).points
    assert np.array_equal(evaluate(HEARTS, ["greedy", "random"], deals=2).points, whole[:2])


# ---------------------------------------------------------------------------- policies of all kinds


def test_functions_objects_and_batches_play() -> None:
    class Batched:
        name = "batched"

        def act(self, view: View) -> int:
            raise AssertionError("asked one by one, though it answers batches")

        def act_batch(self, views: BatchView) -> np.ndarray[Any, Any]:
            assert views["observation"].shape[1] == bolola_setup("hearts").game.layout.size
            return views["action_mask"].argmax(axis=1)

    def by_mask(observation: np.ndarray[Any, Any], action_mask: np.ndarray[Any, Any]) -> int:
        return int(action_mask.argmax())

    reference = evaluate(HEARTS, [lowest, "greedy"], deals=3).points
    for policy in (Batched(), by_mask):
        result = evaluate(HEARTS, [policy, "greedy"], deals=3)
        assert np.array_equal(result.points, reference)


@pytest.mark.parametrize("action", [3, 55, 56, -1])
def test_illegal_action_is_an_error_with_deal_seat_action_and_legal_ones(action: int) -> None:
    """A32: nothing is repaired in silence."""

    def cheat(view: View) -> int:
        at_end = int(view.record["trick_number"][0]) == 12
        return action if at_end and action not in view.legal else view.legal[0]

    message = rf"bot 'cheat' at seat \d of deal \d, seats \(.*cheat.*\), chose {action}; legal are \[\d+\]"
    with pytest.raises(ValueError, match=message):
        evaluate(HEARTS, [cheat, "greedy"], deals=5)


def test_an_error_inside_a_policy_reaches_the_caller() -> None:
    def broken(view: View) -> int:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        evaluate(HEARTS, [broken, "greedy"], deals=2)


def test_the_same_policy_twice_at_a_table_is_one_policy() -> None:
    result = evaluate(HEARTS, ["greedy", "random", "random", "random"], deals=3)
    assert [row.policy for row in result.rows] == ["greedy", "random"]
    pair = evaluate(HEARTS, ["greedy", "random"], deals=3)
    assert sorted(result.arrangements) == sorted(pair.arrangements)


def test_names_can_be_given() -> None:
    result = evaluate(HEARTS, [lowest, lowest], names=["before", "after"], deals=2)
    assert [row.policy for row in result.rows] == ["before", "after"]


# ---------------------------------------------------------------------------- which deals


def test_the_environments_own_suite_is_the_default() -> None:
    result = evaluate(HEARTS, [lowest, highest], deals=2)
    suite = seeds.suite("bolola-hearts-v1")
    expected = {"suite": suite.name, "sha256": suite.sha256, "size": suite.size, "count": 2}
    assert result.deals == expected
    assert evaluate(HEARTS, [lowest, highest], deals=2, suite=suite.name).deals == expected


def test_custom_rows_and_fixed_options_fall_back_to_seed_0() -> None:
    row = Contract(name="rifki", trick_number_points={12: -180, 13: -180})
    result = evaluate("bolola/custom-v0", [lowest, highest], contract=row, deals=3)
    assert result.deals == {"seed": 0, "count": 3}
    assert (result.points.sum(axis=2) == -360).all()
    assert evaluate(HEARTS, [lowest, highest], starter=2, deals=2).deals["seed"] == 0


def test_custom_deals_are_played_as_given() -> None:
    deals = [options["deal"] for options in seeds.suite("bolola-hearts-v1").deals(3)]
    given = [{"deal": deals[0], "starter": 1}, deals[1], {"deal": deals[2], "starter": 3}]
    result = evaluate(HEARTS, [lowest, highest], deals=given)
    assert result.deals == {"custom": True, "seed": 0, "count": 3}
    for number in (0, 2):
        table = Table("hearts", **given[number])
        while not table.over:
            legal = table.legal()
            table.force(legal[0] if table.seat == 0 else legal[-1])
        assert result.points[number, 0].tolist() == table.points()


def test_deals_of_a_seed_given_as_custom_deals_score_the_same() -> None:
    setup = bolola_setup("match", order=["hearts", "trump", "bolola"])
    policies = ["greedy", NotJitted("random")]
    custom = evaluate(setup, policies, deals=deals_of(setup, 7, 2), seed=7)
    assert np.array_equal(custom.points, evaluate(setup, policies, deals=2, seed=7).points)


def test_a_match_is_one_episode_of_twelve_deals() -> None:
    """B-7.1: the default match is zero-sum."""
    result = evaluate("bolola/match-v0", ["greedy", "random"], deals=fewer(10, 1), seed=0)
    assert result.deals_per_episode == 12
    assert (result.points.sum(axis=2) == 0).all() and (result.points != 0).any()
    assert "a match of 12 deals" in result.caption()


def test_reward_options_do_not_change_points() -> None:
    plain = evaluate(HEARTS, [lowest, highest], deals=2)
    scaled = evaluate(
        HEARTS, [lowest, highest], deals=2, reward="final", zero_sum=True, reward_scale=0.1
    )
    assert np.array_equal(plain.points, scaled.points)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policies": ["greedy"]}, r"policies: expected 2 .* or 4 .*, got 1"),
        ({"policies": "greedy"}, r"policies: expected 2 .* or 4 .*, got 1"),
        ({"policies": ["greedy"] * 3}, r"policies: expected 2 .* or 4 .*, got 3"),
        ({"policies": ["greedy", "gredy"]}, r"no bot 'gredy'; there are .*greedy.*random"),
        ({"deals": 0}, r"deals: expected at least 1, got 0"),
        ({"deals": 1001}, r"deals: suite bolola-hearts-v1 has 1000, got 1001; use a seed"),
        ({"deals": True}, r"deals: expected at least 1, got True"),
        ({"deals": np.True_}, r"deals: expected their number, or a list of deals, got np.True_"),
        ({"deals": 10.5}, r"deals: expected their number, or a list of deals, got 10.5"),
        ({"deals": 10.5, "suite": "bolola-hearts-v1"}, r"deals: expected their number"),
        ({"policies": 2}, r"policies: expected a list, got 2"),
        ({"policies": make_bot("greedy")}, r"policies: expected a list, got <bot greedy>"),
        ({"names": 2}, r"names: expected a list, got 2"),
        ({"names": "ab"}, r"names: expected a list, got 'ab'"),
        ({"deals": []}, r"deals: expected at least one"),
        ({"deals": "N:..."}, r"deals: expected a list of deals"),
        ({"deals": [{"dael": ""}]}, r"deals\[0\]: unknown 'dael'; known are deal, starter, trump"),
        ({"deals": ["N:AK"]}, r"deals\[0\]: .*expected 4 hands"),
        ({"suite": "none"}, r"no suite 'none'; there are bolola-no-tricks-v1"),
        ({"suite": "bolola-trump-v1"}, r"suite bolola-trump-v1 is for bolola/trump-v0"),
        ({"suite": "bolola-hearts-v1", "starter": 0}, r"with its default options, not for"),
        ({"suite": "bolola-hearts-v1", "seed": 1}, r"give a suite or a seed, not both"),
        ({"suite": "bolola-hearts-v1", "deals": [""]}, r"give a suite or custom deals, not both"),
        ({"seed": -1}, r"seed: expected an integer from 0 on, got -1"),
        ({"seed": 1.5}, r"seed: expected an integer from 0 on, got 1.5"),
        ({"arrangements": "some"}, r"arrangements: expected one of 'all', 'rotations'"),
        ({"names": ["a"]}, r"names: expected 2, got 1"),
        ({"names": [1, 2]}, r"names: expected texts, got 1"),
        ({"names": ["a", None]}, r"names: expected texts, got None"),
        ({"num_threads": 0}, r"num_threads: expected an integer from 1 on, got 0"),
        ({"batch_size": 0}, r"batch_size: expected an integer from 1 on, got 0"),
    ],
)
def test_wrong_arguments_are_errors_that_say_what_is_wrong(
    arguments: dict[str, Any], message: str
) -> None:
    given = {"policies": ["greedy", "random"], **arguments}
    with pytest.raises(ValueError, match=message):
        evaluate(HEARTS, given.pop("policies"), **given)


@pytest.mark.parametrize(
    "call",
    [
        lambda policy, **options: evaluate(HEARTS, [policy, "random"], deals=2, **options),
        lambda policy, **options: compare(HEARTS, policy, deals=2, **options),
        lambda policy, **options: compare(HEARTS, "random", opponents=[policy], deals=2, **options),
        lambda policy, **options: tournament(HEARTS, [policy, "random"], deals=2, **options),
        lambda policy, **options: score_against(HEARTS, policy, "random", deals=2, **options),
        lambda policy, **options: grade(HEARTS, policy, 2, **options),
        lambda policy, **options: ladder([setup_for(HEARTS, **options)], [policy], deals=2),
    ],
)
def test_what_is_no_bot_or_no_option_is_an_error_that_says_so(call: Any) -> None:
    with pytest.raises(TypeError, match=r"a bot is a name, an object .* got 3"):
        call(3)
    with pytest.raises(TypeError, match=r"bolola has no option 'strater'; it takes .*starter"):
        call("random", strater=1)


# ---------------------------------------------------------------------------- numbers and tables


@pytest.mark.parametrize("freedom", [1, 2, 5, 29, 30, 31, 50, 199, 999, 100_000])
def test_t_quantile_is_students(freedom: int) -> None:
    assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), abs=2e-4)


def test_estimate_is_mean_standard_error_and_t_interval() -> None:
    values = np.random.default_rng(0).normal(3, 2, 25)
    got, se = estimate(values), stats.sem(values)
    low, high = stats.t.interval(0.95, 24, loc=values.mean(), scale=se)
    assert (got.mean, got.se, got.low, got.high, got.deals) == pytest.approx(
        (values.mean(), se, low, high, 25), abs=1e-3
    )
    assert str(got) == f"{values.mean():+.2f}±{values.mean() - low:.2f}"


def test_intervals_hold_what_they_promise() -> None:
    """Of 95 % intervals over disjoint sets of deals, about 95 % hold the mean over all deals."""
    if fewer(1, 0) == 0:
        pytest.skip("plays 8,000 deals: only compiled kernels can")
    result = evaluate(HEARTS, ["greedy", "random"], seed=5, deals=8000)
    over = result.points - result.points.mean(axis=2, keepdims=True)
    by_deal = np.mean([over[:, a, a] for a in range(4)], axis=0)
    truth = by_deal.mean()
    parts = [estimate(part) for part in by_deal.reshape(400, 20)]
    held = sum(part.low <= truth <= part.high for part in parts)  # type: ignore[operator]
    assert 0.90 < held / 400 < 0.985


def test_score_against_is_the_first_row() -> None:
    mean, half = score_against(HEARTS, lowest, "random", deals=4)
    overall = evaluate(HEARTS, [lowest, "random"], deals=4).rows[0].overall
    assert (mean, half) == (overall.mean, overall.half)


def test_json_holds_numbers_settings_versions_and_the_suites_hash() -> None:
    result = evaluate(HEARTS, ["greedy", "random"], deals=4)
    data = json.loads(result.to_json())
    assert (data["format"], data["version"]) == ("trick-envs-evaluation", 1)
    assert data["env"] == HEARTS and data["options"]["contract"] == "hearts"
    assert data["deals"]["sha256"] == seeds.suite("bolola-hearts-v1").sha256
    assert data["run"]["versions"].keys() == {"trick-envs", "python", "numpy", "numba"}
    assert data["run"]["num_threads"] == 1
    row = data["rows"][0]
    assert row["policy"] == "greedy" and len(row["seats"]) == 4
    assert row["overall"]["mean"] == result.rows[0].overall.mean
    assert data["arrangements"][1] == ["random", "greedy", "random", "random"]


def test_json_of_a_custom_contract_holds_its_row() -> None:
    row = Contract(name="mine", card_points={"QS": -13})
    result = evaluate("bolola/custom-v0", [lowest, highest], contract=row, deals=2)
    assert json.loads(result.to_json())["options"]["contract"]["name"] == "mine"


def test_tables_hold_every_policy_and_fit_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    result = evaluate(HEARTS, ["greedy", "random"], deals=4)
    print_result(result)
    printed = capsys.readouterr().out
    for text in (printed, result.markdown()):
        assert all(word in text for word in ("greedy", "random", "seat 3", "bolola-hearts-v1"))
        assert str(result.rows[0].overall) in text
    assert max(map(len, printed.splitlines())) <= 80


def test_nothing_but_the_result_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    evaluate(HEARTS, [lowest, "greedy"], deals=2, progress=True)
    assert capfd.readouterr() == ("", "")


# ---------------------------------------------------------------------------- tournaments


def cup() -> Any:
    return tournament(HEARTS, [lowest, highest, "random"], deals=5)


def test_tournament_plays_every_pair_in_every_seating_equally_often() -> None:
    """A52: six seatings of two and two, for each of the three pairs."""
    result = cup()
    pairs = [frozenset(row.policy for row in pair.rows) for pair in result.pairs]
    assert set(pairs) == set(map(frozenset, itertools.combinations(result_names(result), 2)))
    for pair in result.pairs:
        assert len(set(pair.arrangements)) == len(pair.arrangements) == 6
        assert pair.points.shape == (5, 6, 4)


def result_names(result: Any) -> list[str]:
    return [name for name, _ in result.rows]


def test_tournament_rows_are_means_over_the_pairs_with_intervals() -> None:
    result = cup()
    for name, overall in result.rows:
        means = [
            row.overall.mean for pair in result.pairs for row in pair.rows if row.policy == name
        ]
        assert len(means) == 2 and overall.mean == pytest.approx(np.mean(means))
        assert overall.se is not None and overall.low < overall.mean < overall.high
    assert sum(overall.mean for _, overall in result.rows) == pytest.approx(0)


def test_tournament_table_and_json_agree() -> None:
    result = cup()
    data, table = json.loads(result.to_json()), result.markdown()
    assert data["format"] == "trick-envs-evaluation-tournament" and len(data["pairs"]) == 3
    first = result.pairs[0].differences[0]
    assert str(first.value) in table
    assert f"{-first.value.mean:+.2f}" in table
    print_result(result)


def test_tournament_needs_two_policies() -> None:
    with pytest.raises(ValueError, match=r"policies: expected at least 2"):
        tournament(HEARTS, ["greedy"])
    for policies in ("greedy", make_bot("greedy")):
        with pytest.raises(ValueError, match=r"policies: expected a list, got "):
            tournament(HEARTS, policies)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"names: expected 2, got 1"):
        tournament(HEARTS, ["greedy", "random"], names=["one"])


def test_result_keeps_the_points_of_every_game() -> None:
    result = evaluate(HEARTS, [lowest, highest], deals=2)
    assert isinstance(result, Result) and result.points.shape == (2, 4, 4)
    assert (result.points.sum(axis=2) == -390).all()


# ---------------------------------------------------------------------------- comparisons


def test_comparison_plays_the_same_games_as_evaluations_on_the_same_deals() -> None:
    result = compare(HEARTS, lowest, highest, opponents=["random"], deals=6)
    for name, policy in zip(result.policies, (lowest, highest), strict=True):
        alone = evaluate(HEARTS, [policy, "random"], deals=6).rows[0].overall
        assert result.tables[0].values[result.policies.index(name)] == alone
    assert result.seatings == (4,)


def test_difference_is_paired_by_deal() -> None:
    """Its interval is that of the differences, not of two independent means."""
    result = compare(HEARTS, "greedy", highest, opponents=["random"], deals=12)
    points = [
        evaluate(HEARTS, [policy, "random"], deals=12).points for policy in ("greedy", highest)
    ]
    over = [p - p.mean(axis=2, keepdims=True) for p in points]
    first, second = (np.mean([o[:, a, a] for a in range(4)], axis=0) for o in over)
    (pair,) = result.tables[0].differences
    assert pair.value == estimate(first - second)
    assert pair.pairing == pytest.approx((first.var() + second.var()) / (first - second).var())


def test_comparison_of_identical_candidates_is_exactly_zero() -> None:
    """A51: on every deal, in every kind of company."""
    result = compare(
        HEARTS,
        "greedy",
        make_bot("greedy-v1"),
        opponents=["random", "greedy", "random+greedy+greedy"],
        deals=FEW,
    )
    for row in (*result.tables, result.overall):
        assert row.differences[0].value == Estimate(0.0, 0.0, 0.0, 0.0, FEW)
        assert row.differences[0].pairing is None
    assert result.winner is None and "No difference is established" in str(result)


def test_kinds_of_opponents_are_rows_and_their_mean_is_by_deal() -> None:
    kinds = ["random", [lowest, lowest, highest], "greedy+random+greedy"]
    result = compare(HEARTS, "greedy", highest, opponents=kinds, deals=5)
    assert [row.opponents for row in result.tables] == [
        "random",
        "lowest + lowest + highest",
        "greedy + random + greedy",
    ]
    assert result.seatings == (4, 12, 12)
    means = [row.values[0].mean for row in result.tables]
    assert result.overall.values[0].mean == pytest.approx(np.mean(means))
    text = result.markdown()
    assert "| mean |" in text and "greedy - highest" in text
    print_result(result)


def test_better_candidate_is_named_and_json_has_all() -> None:
    result = compare(HEARTS, "random", "greedy", opponents="random", deals=fewer(60, 4))
    assert result.winner == "greedy" or fewer(60, 4) == 4
    data = json.loads(result.to_json())
    assert (data["format"], data["version"]) == ("trick-envs-evaluation-comparison", 1)
    assert data["tables"][0]["differences"][0]["first"] == "random"
    assert data["deals"]["suite"] == "bolola-hearts-v1"


def test_one_candidate_among_several_kinds_has_no_difference() -> None:
    result = compare(HEARTS, "greedy", opponents=["random", lowest], deals=3, names=["me"])
    assert result.policies == ("me",) and result.overall.differences == ()
    assert len(result.tables) == 2


def test_roles_are_compared_apart() -> None:
    """Tarot: a candidate's points as taker and as defender, and the paired differences of both."""
    result = compare(
        "tarot/deal-v0", "greedy", "random", opponents=["greedy"], deals=fewer(60, 3), seed=1
    )
    roles = {role.name: role for role in result.tables[0].roles}
    assert set(roles) <= {"taker", "defender"}
    if fewer(60, 3) == 60:
        for role in roles.values():
            first, second = role.values
            assert first is not None and second is not None
            (pair,) = role.differences
            assert pair.value.mean == pytest.approx(first.points.mean - second.points.mean)
        assert "taker" in result.markdown()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policies": []}, r"policies: expected at least 1 candidate"),
        ({"opponents": []}, r"opponents: expected at least one kind"),
        ({"opponents": ["random+greedy"]}, r"opponents: expected one policy or 3 joined by '\+'"),
        ({"opponents": make_bot("greedy")}, r"opponents: expected a list, got <bot greedy>"),
        ({"names": ["a"]}, r"names: expected 2, got 1"),
        ({"deals": 1.5}, r"deals: expected their number, or a list of deals, got 1.5"),
        ({"until": 0.0}, r"until: expected a number of points above 0, got 0"),
        ({"until": 1.0, "deals": 1}, r"until: an interval needs at least 2 deals"),
    ],
)
def test_wrong_comparisons_are_errors_that_say_what_is_wrong(
    arguments: dict[str, Any], message: str
) -> None:
    given = {"policies": ["greedy", "random"], **arguments}
    with pytest.raises(ValueError, match=message):
        compare(HEARTS, *given.pop("policies"), **given)


# ---------------------------------------------------------------------------- as many deals as needed


@compiled
def test_deals_are_played_until_the_interval_is_as_narrow_as_asked_for() -> None:
    result = evaluate(HEARTS, ["greedy", "random"], until=2.2, seed=2)
    stop = result.stop
    assert stop is not None and stop.reached and stop.needed > stop.first_stage
    assert result.rows[0].overall.half == pytest.approx(2.2, rel=0.01)
    assert result.deals["count"] == stop.needed == len(result.points)
    plain = evaluate(HEARTS, ["greedy", "random"], deals=stop.needed, seed=2)
    assert np.array_equal(plain.points, result.points)
    assert "for ±2.2" in result.caption()


@compiled
def test_a_suite_that_ends_too_early_is_said_to() -> None:
    result = evaluate(HEARTS, ["greedy", "random"], until=0.3, deals=250)
    assert result.stop is not None and not result.stop.reached
    assert result.deals["count"] == 250 and "not reached" in result.caption()


@compiled
def test_comparison_stops_by_the_interval_of_the_difference() -> None:
    result = compare(HEARTS, "greedy", "random", opponents=["random"], until=2.5, seed=2)
    half = result.overall.differences[0].value.half
    assert result.stop is not None and result.stop.reached and half is not None
    assert half <= 2.5 * (1 + 1e-9)


# ---------------------------------------------------------------------------- each deal once; control


def test_each_deal_once_is_the_first_of_all_seatings() -> None:
    once = evaluate(HEARTS, [lowest, highest], deals=6, arrangements="one")
    every = evaluate(HEARTS, [lowest, highest], deals=6)
    assert np.array_equal(once.points[:, 0], every.points[:, 0])
    assert [seat is None for seat in once.rows[0].seats] == [False, True, True, True]
    assert once.rows[0].games == 6
    print_result(once)


@compiled
def test_control_narrows_the_interval_of_a_learner_in_one_seat() -> None:
    """The candidate is a variant of the reference; the mean over rotated deals is the truth."""
    variant = almost_greedy()
    once = evaluate(HEARTS, [variant, "greedy"], arrangements="one", deals=2000, seed=3)
    with_control = evaluate(
        HEARTS, [variant, "greedy"], arrangements="one", control="greedy", deals=2000, seed=3
    )
    truth = evaluate(HEARTS, [variant, "greedy"], deals=8000, seed=4).rows[0].overall
    plain, better = once.rows[0].overall, with_control.rows[0].overall
    assert better.se is not None and plain.se is not None and truth.se is not None
    assert better.se < 0.7 * plain.se
    assert with_control.control is not None
    assert with_control.control["factor"] == pytest.approx((plain.se / better.se) ** 2)
    assert abs(better.mean - truth.mean) < 4 * (better.se**2 + truth.se**2) ** 0.5
    assert 3 * with_control.rows[1].overall.mean == pytest.approx(-better.mean)
    lead = with_control.differences[0].value
    assert lead.mean == pytest.approx(4 / 3 * better.mean) and lead.se == pytest.approx(
        4 / 3 * better.se
    )
    assert "luck that greedy has" in with_control.caption()


@pytest.mark.long
@compiled
def test_control_is_unbiased_and_its_intervals_cover() -> None:
    """Small evaluations of 40 deals, thousands of deals in all, against the mean over many rotated deals."""
    variant = almost_greedy()
    truth = evaluate(HEARTS, [variant, "greedy"], deals=40_000, seed=1000).rows[0].overall
    means, held = [], 0
    for seed in range(150):
        value = (
            evaluate(
                HEARTS,
                [variant, "greedy"],
                arrangements="one",
                control="greedy",
                deals=40,
                seed=seed,
            )
            .rows[0]
            .overall
        )
        means.append(value.mean)
        held += value.low <= truth.mean <= value.high  # type: ignore[operator]
    error = np.std(means) / len(means) ** 0.5
    assert abs(np.mean(means) - truth.mean) < 4 * error
    assert held / len(means) > 0.95 - 4 * (0.95 * 0.05 / len(means)) ** 0.5


def almost_greedy() -> Bot:
    """Greedy, but with the lowest card on leads of a suit in which it holds that alone."""

    class Almost(Bot):
        name = "almost"

        def act_batch(self, views: BatchView) -> np.ndarray[Any, Any]:
            chosen = make_bot("greedy").act_batch(views)
            few = views.mask.sum(axis=1) <= 3
            return np.where(few, views.mask.argmax(axis=1), chosen)

    return Almost()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"control": lowest}, r"control: expected a bot with a kernel"),
        ({"control": "greedy", "until": 1.0}, r"control: for two policies .*, and without until"),
        (
            {"control": "greedy", "policies": ["greedy"] * 3 + ["random"]},
            r"control: for two policies",
        ),
        ({"control": "greedy", "deals": [{}]}, r"control: for deals of a suite or a seed"),
    ],
)
def test_wrong_controls_are_errors_that_say_what_is_wrong(
    arguments: dict[str, Any], message: str
) -> None:
    given: dict[str, Any] = {"policies": ["random", "greedy"], "deals": 3, **arguments}
    if given["deals"] == [{}]:
        given["deals"] = [options["deal"] for options in seeds.suite("bolola-hearts-v1").deals(2)]
    with pytest.raises(ValueError, match=message):
        evaluate(HEARTS, given.pop("policies"), **given)
