"""The bot greedy at Tarot: legal and sensible in every phase, from what its seat may see."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import baselines  # noqa: F401  (registers the bots)
import seeds
from baselines import tune_tarot as tune
from baselines.bots.greedy_tarot import (
    HAND_NAMES,
    NONE_OF,
    ROW_NAMES,
    ROWS,
    START,
    WEIGHTS,
    feature,
)
from baselines.evaluate import Role, estimate, evaluate, print_result, ratio
from tarot_env.cards import ALL_SUITS, ALL_TRUMPS, CARD_IDS, card_set
from tarot_env.game import GAME, setup
from tests.helpers import fewer
from tests.tarot_engines import cards, lay
from tests.tarot_table import TarotTable
from trick_core.batch import Batch
from trick_core.bots import View, make_bot
from trick_core.jit import JIT, entry
from trick_core.rng import SUITES

BOT = make_bot("greedy")
compiled = pytest.mark.skipif(not JIT, reason="plays thousands of deals: only compiled kernels can")

WEAK = "2C 4C 6C 8C TC 3D 5D 7D 9D 2H 4H 6H 8H 3S 5S 7S T3 T5"
GOOD = "T21 T20 T17 T14 T12 T10 T8 T5 T1 EX KC QC 4C KD 3D 6H 8H 2S"
FAIR = "T21 T18 T16 T13 T11 T7 T4 EX KC QC 4C KD 3D 6H 8H 2S 4S 7D"
HUGE = "T21 T20 T19 T18 T17 T16 T15 T14 T12 T10 T1 EX KC QC KD QD KH KS"
SWEEP = "T21 T20 T19 T18 T17 T16 T15 T14 T13 T12 T11 T10 T9 EX KC QC KD KH"


def choice(table: TarotTable) -> str:
    """Greedy's action for the seat on turn, as text."""
    assert table.seat is not None
    view = View(table.game, table.setup.config, table.view(table.seat), 0)
    return table.game.actions[BOT.act(view)]


def follow(table: TarotTable) -> list[str]:
    """Let greedy play until the phase changes."""
    phase, actions = table.phase, []
    while table.phase == phase and not table.over:
        actions.append(choice(table))
        table.force(actions[-1])
    return actions


def mid_play(on: str, hand: str, others: str = "", *, taker: int, left: int) -> TarotTable:
    """The trick `on` led by seat 0, and the seat after it on turn with `hand`, `left` tricks before the end of the deal.

    The seats hold nothing but the cards named and `others`; all other cards have been played.
    """
    played = cards(on)
    me = len(played)
    table = lay(dealer=3, start="play", taker=taker, contract="garde_sans")
    own = cards(hand)
    assert len(own) == left
    unseen = cards(others)
    rest = [card for card in CARD_IDS if card not in (*played, *own, *unseen)]
    state = table.states
    for name in ("hands", "hands_trumps", "played", "played_trumps", "chien", "chien_trumps"):
        state[name] = 0
    state["hide"] = state["hide_trumps"] = 0
    state["trick_number"] = 18 - left
    for seat in range(4):
        gone = [rest.pop() for _ in range(18 - left)]
        state["played"][0, seat], state["played_trumps"][0, seat] = card_set(gone)
        held = own if seat == me else [played[seat]] if seat < me else []
        while len(held) < left:
            held.append(unseen.pop())
        state["hands"][0, seat], state["hands_trumps"][0, seat] = card_set(held)
    assert not unseen
    state["chien"], state["chien_trumps"] = card_set(rest)
    for card in played:
        table.force(card)
    if not played:
        state["legal"][0] = card_words(own)
    return table


def card_words(held: list[str]) -> list[int]:
    bits = sum(1 << CARD_IDS[card] for card in held)
    return [bits & (2**64 - 1), bits >> 64]


# ---------------------------------------------------------------------------- bids


def test_passes_with_a_weak_hand_and_bids_more_with_a_better_one() -> None:
    """T-2.3."""
    bids = ["pass", "prise", "garde", "garde_sans", "garde_contre"]
    chosen = [bids.index(choice(lay(hand))) for hand in (WEAK, FAIR, HUGE)]
    assert chosen[0] == 0 < chosen[1] < chosen[2]


def test_bids_above_what_others_bid_or_passes() -> None:
    table = lay("", GOOD)
    table.play("garde_contre")
    assert choice(table) == "pass"
    table = lay("", HUGE)
    table.play("garde")
    assert choice(table) in ("garde_sans", "garde_contre")


def test_bids_least_where_it_must_bid() -> None:
    """The option forbid_pass: the last seat may not annul the deal."""
    table = lay("", "", "", WEAK, forbid_pass=True)
    table.play("pass pass pass")
    assert choice(table) == "prise"


@entry(None)
def count_feature(suits, trumps, which):  # type: ignore[no-untyped-def]
    return feature(suits, trumps, which)


def counted(hand: str) -> dict[str, int]:
    suits, trumps = (np.uint64(word) for word in card_set(cards(hand)))
    return {name: int(count_feature(suits, trumps, i)) for i, name in enumerate(HAND_NAMES)}


def test_counts_what_a_hand_is_worth() -> None:
    assert counted("T21 T19 T15 T14 T1 EX KC QC 2C 3C 4C 5C KD NH 2H 3H 4H 5H") == {
        "one": 1,
        "excuse": 1,
        "petit": 1,
        "twenty_one": 1,
        "trumps": 5,
        "high_trumps": 2,
        "trumps_with_petit": 5,
        "kings": 2,
        "queens": 1,
        "marriages": 1,
        "cavaliers": 1,
        "voids": 1,
        "singletons": 1,
        "long": 3,
    }


# ---------------------------------------------------------------------------- discard, declarations


def test_discard_empties_a_suit_and_keeps_what_must_be_kept() -> None:
    """T-3.2. Six of eight small cards go, and spades and hearts are the short suits."""
    table = lay(GOOD, chien="T2 T3 3H 5C 5S 7C", taker=0, contract="garde", dealer=3)
    gone = follow(table)
    assert len(gone) == 6 and table.phase != "discard"
    held = {card[-1] for card in table.hand(0) if card[0] not in "TE" or card == "TC"}
    assert len(held & set("HS")) <= 1
    assert {"QC", "KC", "KD"} <= set(table.hand(0))


def test_discards_trumps_where_nothing_else_may_go() -> None:
    """T-3.2, T-3.3: not the oudlers."""
    table = lay(
        "KC KD KH KS T21 T20 T19 T18 T17 T16 T15 T14 T13 T12 T1 EX 2C 3C",
        chien="T2 T3 T4 T5 T6 4C",
        taker=0,
        contract="garde",
    )
    assert sorted(follow(table)) == sorted(cards("2C 3C 4C T2 T3 T4"))


def test_shows_the_highest_poignee_and_keeps_the_lowest_trumps_back() -> None:
    """T-4.2, T-4.4: the Petit stays hidden."""
    hand = "T21 T20 T18 T17 T16 T15 T14 T12 T10 T9 T8 T6 T5 T1 KC KD KH 2S"
    table = lay(hand, taker=0, contract="garde_sans")
    assert follow(table) == ["no_chelem"]
    assert follow(table) == ["poignee_13"]
    assert table.phase == "keep"
    follow(table)
    assert "T1" not in table.poignee(0) and len(table.poignee(0)) == 13


def test_announces_a_chelem_that_no_defence_can_stop_and_makes_it() -> None:
    """T-4.6, T-6.4: trumps are drawn, the kings cashed, and the Excuse is led last."""
    table = lay(SWEEP, taker=0, contract="garde_sans")
    assert choice(table) == "chelem"
    while not table.over:
        table.force(choice(table) if table.seat == 0 else table.legal()[-1])
    assert table.info()["chelem"] == 400
    assert table.field("excuse_trick") == 17


@pytest.mark.parametrize(
    "hand",
    [
        SWEEP.replace("QC", "NC"),  # the queen is out
        SWEEP.replace("T20", "T2"),  # the second trump is out
        GOOD,
        "KC QC NC JC TC KD QD ND JD TD KH QH NH JH TH KS QS NS",
    ],
)
def test_announces_no_chelem_that_may_fail(hand: str) -> None:
    assert choice(lay(hand, taker=0, contract="garde_sans")) == "no_chelem"


# ---------------------------------------------------------------------------- play


@pytest.mark.parametrize("taker", [1, 3])
def test_excuse_is_not_kept_for_the_last_trick(taker: int) -> None:
    """T-6.3: it would go to the other side."""
    table = mid_play("2C", "EX T21", "T5 T7 4C 5C 6C", taker=taker, left=2)
    assert choice(table) == "EX"


def test_excuse_is_kept_to_complete_a_slam() -> None:
    """T-6.4."""
    table = mid_play("", "EX T21", "T5 T7 4C 5C 6C T2", taker=0, left=2)
    table.states["taken"] = [16, 0, 0, 0]
    assert choice(table) == "T21"


def test_excuse_saves_a_high_card_from_a_lost_trick() -> None:
    """The taker's trump cannot be beaten: rather the Excuse than the queen."""
    table = mid_play("2H T21", "EX QH NH 3S", "KH 4S 5S 6S 7S 8S 9S TS JS AS", taker=1, left=4)
    assert choice(table) == "EX"


def test_defender_gives_points_to_a_partner_and_none_to_the_taker() -> None:
    trick, others = "KH 2H 3H", "KC 3C 4S"
    hand = "QC 2C"
    assert choice(mid_play(trick, hand, others, taker=1, left=2)) == "QC"
    assert choice(mid_play(trick, hand, others, taker=0, left=2)) == "2C"


def test_petit_takes_a_trick_that_nobody_can_take_back() -> None:
    """The last seat is void: the Petit is safe now and would not be later."""
    others = "T21 T20 T19"
    table = mid_play("2H 3H 4H", "T1 5C", others, taker=3, left=2)
    assert choice(table) == "T1"


def test_petit_is_not_thrown_under_a_higher_trump() -> None:
    """All trumps held are too low to beat the taker's: one that costs less goes."""
    others = "T20 T19 T18 T17 2S 3S 4S 5S"
    table = mid_play("T21", "T1 T2 5C", others, taker=0, left=3)
    assert choice(table) == "T2"


def test_defender_gives_the_petit_to_a_partners_sure_trick() -> None:
    others = "T16 2S 3S"
    table = mid_play("T21 T3 T4", "T1 T2", others, taker=1, left=2)
    assert choice(table) == "T1"


def test_last_seat_takes_no_more_than_it_must() -> None:
    """Of trumps that all beat the trick the lowest is enough."""
    others = "T19 2S 3S 4S 5S 6S"
    table = mid_play("KH 2H T5", "T20 T9 T7", others, taker=3, left=3)
    assert choice(table) == "T7"


# ---------------------------------------------------------------------------- what it sees


def otherwise(table: TarotTable, rng: random.Random) -> np.ndarray[Any, Any]:
    """The same table with the hidden cards dealt anew over the places that the seat on turn cannot see."""
    other = table.states.copy()
    me, taker = int(other["seat"][0]), int(other["taker"][0])
    places = [("hands", seat) for seat in range(4) if seat != me]
    if other["phase"][0] == 1 or other["contract"][0] >= 3:
        places.append(("chien", None))
    elif taker not in (-1, me):
        places.append(("discard", None))
    sizes, pool = [], []
    for name, seat in places:
        suits, trumps = other[name][0], other[f"{name}_trumps"][0]
        if seat is not None:
            suits, trumps = suits[seat], trumps[seat]
        if name == "discard":
            trumps = 0  # public
        held = [i for i in range(56) if int(suits) >> i & 1]
        held += [56 + i for i in range(22) if int(trumps) >> i & 1]
        sizes.append(len(held))
        pool += held
    # Only suit cards can lie among the discards unseen.
    pool.sort(key=lambda card: (card >= 56, rng.random()))
    for (name, seat), count in reversed(list(zip(places, sizes, strict=True))):
        part, pool = pool[:count], pool[count:]
        rng.shuffle(pool)
        pool.sort(key=lambda card: card >= 56 if name == "discard" else 0)
        bits = sum(1 << card for card in part)
        suits, trumps = bits & int(ALL_SUITS), bits >> 56
        if seat is None:
            other[name] = suits
            if name == "chien":
                other["chien_trumps"] = trumps
        else:
            other[name][0, seat], other[f"{name}_trumps"][0, seat] = suits, trumps
    other["key"] = rng.getrandbits(64)
    return other


OPTIONS: list[dict[str, Any]] = [
    {},
    {"forbid_pass": True},
    {"start": "discard", "contract": "garde"},
    {"start": "discard", "contract": "garde_contre"},
    {"start": "play"},
]


def play_and_compare(table: TarotTable, rng: random.Random) -> Counter[str]:
    """Play a deal, mostly as greedy would; in how many decisions of each phase something hidden was exchanged.

    Greedy's choice is legal, and the same from the view, from the full state, and with hidden cards exchanged.
    """
    changed: Counter[str] = Counter()
    while not table.over:
        action = choice(table)
        assert action in table.legal()
        other = otherwise(table, rng)
        changed[table.phase] += other["hands"].tobytes() != table.states["hands"].tobytes()
        for record in (table.states.copy(), other):
            view = View(GAME, table.setup.config, record, rng.getrandbits(64))
            assert GAME.actions[BOT.act(view)] == action
        table.force(action if rng.random() < 0.7 else rng.choice(table.legal()))
    return changed


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_choice_is_legal_and_depends_on_nothing_hidden(options: dict[str, Any]) -> None:
    rng, changed = random.Random(str(options)), Counter[str]()
    for number in range(fewer(30, 1)):
        changed += play_and_compare(TarotTable(setup(**options), seed=7, number=number), rng)
    assert changed["play"] > 10
    if JIT and not options:
        assert {"bid", "discard", "chelem"} <= set(changed)


def test_the_same_with_hands_full_of_trumps() -> None:
    """Poignées, trumps discarded, a chelem: what dealt hands rarely hold."""
    rng, changed = random.Random(4), Counter[str]()
    for _ in range(fewer(30, 1)):
        trumps = rng.sample([f"T{n}" for n in range(1, 22)] + ["EX"], rng.randint(12, 17))
        hand = " ".join([*trumps, "KC", "KD", "KH", "KS"][:18])
        contract = rng.choice(["garde", "garde_sans"])
        changed += play_and_compare(lay(hand, taker=0, contract=contract), rng)
    assert not JIT or {"discard", "chelem", "poignee", "keep", "play"} <= set(changed)


def test_asking_changes_nothing() -> None:
    table = TarotTable(setup(), seed=2)
    view = table.view(table.seat)
    before = view.tobytes()
    BOT.act(View(GAME, table.setup.config, view, 0))
    assert view.tobytes() == before


# ---------------------------------------------------------------------------- strength


def roles(row: Any) -> dict[str, Role]:
    return {role.name: role for role in row.roles}


@compiled
def test_beats_three_random_in_both_roles() -> None:
    result = evaluate("tarot/deal-v0", ["greedy", "random"])
    assert result.winner == "greedy"
    assert {name: role.points.low > 0 for name, role in roles(result.rows[0]).items()} == {
        "taker": True,
        "defender": True,
    }


@compiled
@pytest.mark.parametrize("contract", ["prise", "garde_sans", "garde_contre"])
def test_plays_each_role_better_than_random_on_the_same_cards(contract: str) -> None:
    """The contract and its taker are given, so both hold the same roles with the same cards."""
    setting = setup(start="discard", contract=contract, taker=0)
    result = evaluate(setting, ["greedy", "random", "random", "random"], deals=500)
    greedy, random_ = (roles(row) for row in result.rows)
    for name in ("taker", "defender"):
        assert greedy[name].points.low > random_[name].points.high, name


@compiled
def test_every_seat_of_greedy_beats_random() -> None:
    result = evaluate("tarot/deal-v0", ["greedy", "random"], deals=500)
    assert all(seat.low > 0 for seat in result.rows[0].seats)


@compiled
@pytest.mark.parametrize("row", ["taker", "defender", "bid"])
def test_tuned_weights_beat_untuned_ones(row: str) -> None:
    """The taker's and defenders' rows against those of the tuned other side, and the whole in every seat."""
    base = WEIGHTS.copy()
    untuned = START if row == "bid" else WEIGHTS.copy()
    if row == "taker":
        untuned[ROWS.index("discard")] = START[ROWS.index("discard")]
    untuned[ROWS.index(row)] = START[ROWS.index(row)]
    gains = -tune.duel(untuned, base, row, 4000, tune.FRESH_DEALS + 50_000)
    assert gains.mean() > 3 * gains.std() / len(gains) ** 0.5


@compiled
def test_four_greedy_bid_and_make_contracts_at_sane_rates() -> None:
    """Half of all deals or more are taken, three in five contracts or more made, the higher ones rarely bid."""
    out = tune.run(WEIGHTS, WEIGHTS, tune.NOBODY, 5000, tune.FRESH_DEALS + 100_000)
    taken = out[out[:, tune.TAKER] >= 0]
    assert 0.45 < len(taken) / len(out) < 0.95
    assert 0.6 < taken[:, tune.MADE].mean() < 0.85
    assert np.mean(taken[:, tune.CONTRACT] <= 2) > 0.8
    assert taken[:, tune.CREDIT].mean() > 0


@compiled
def test_scores_foretell_the_margin() -> None:
    """On hands that greedy bids garde on, the score is right on average within two points."""
    deals, first = 20_000, tune.FRESH_DEALS + 200_000
    config = setup(start="discard", contract="garde").config
    counts = np.zeros((deals, len(HAND_NAMES)))
    tune.features(config, GAME.states(1), tune.SEED, first, deals, counts)
    out = tune.run(WEIGHTS, WEIGHTS, tune.NOBODY, deals, first, start="discard", contract="garde")
    score = counts @ WEIGHTS[ROWS.index("take"), : len(HAND_NAMES)]
    margins = out[:, tune.POINTS] / 2
    for low, high in ((-10, 0), (0, 10), (10, 30)):
        chosen = (score > low) & (score <= high)
        assert chosen.sum() > 100
        assert abs((margins - score)[chosen].mean()) < 2.5
    assert np.corrcoef(margins, score)[0, 1] > 0.7


# ---------------------------------------------------------------------------- report by role


def test_roles_are_reported_as_the_games_replayed_by_hand_give_them() -> None:
    """Each deal of the suite at a single table, in each seating: points by who was taker, and how often."""
    deals = fewer(30, 1)
    result = evaluate("tarot/deal-v0", ["greedy", "random"], deals=deals)
    points: dict[tuple[str, str], list[float]] = {}
    for number, options in enumerate(seeds.suite("tarot-deal-v1").deals(deals)):
        for seating in range(4):
            taker, out = result_of(options, number, seating)
            assert out == result.points[number, seating].tolist()
            for seat in range(4):
                if taker is not None:
                    who = "greedy" if seat == seating else "random"
                    role = "taker" if seat == taker else "defender"
                    points.setdefault((who, role), []).append(out[seat])
    found = {
        (row.policy, role.name): (role.games, role.points.mean)
        for row in result.rows
        for role in row.roles
    }
    assert found == {key: (len(p), pytest.approx(np.mean(p))) for key, p in points.items()}


def result_of(options: dict[str, Any], number: int, seating: int) -> tuple[int | None, list[float]]:
    """Taker and points of a deal of the suite with greedy in one seat, played through the batch's own random words."""
    suite = seeds.suite("tarot-deal-v1")
    batch = Batch(suite.setup(), 1, autoreset="disabled")
    tables = batch.buffers.tables
    tables["domain"], tables["seed"], tables["number"] = SUITES, suite.seed, number
    batch.reset()
    assert GAME.deal_text(batch.buffers.states, 0) == options["deal"]
    while (seat := int(batch.buffers.seats[0])) >= 0:
        bot = BOT if seat == seating else make_bot("random")
        batch.step(batch.ask(bot, np.array([0])), again=True)
    state = batch.buffers.states[0]
    taker = int(state["taker"])
    credit = int(state["credit"]) / 2
    if taker < 0:
        return None, [0.0] * 4
    return taker, [3 * credit if seat == taker else -credit for seat in range(4)]


def test_deals_that_nobody_takes_have_no_roles() -> None:
    def passes(view: View) -> int:
        return GAME.action_id("pass")

    result = evaluate("tarot/deal-v0", [passes, passes], deals=2, names=["a", "b"])
    assert [row.roles for row in result.rows] == [(), ()]
    assert "role" not in result.markdown()


def test_report_shows_roles_in_markdown_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    result = evaluate("tarot/deal-v0", ["greedy", "random"], deals=fewer(20, 1))
    for row in result.rows:
        for role in row.roles:
            line = f"| {row.policy} | {role.name} | {role.points} |"
            assert line in result.markdown()
    written = json.loads(result.to_json())["rows"][1]["roles"]
    assert [role["name"] for role in written] == [role.name for role in result.rows[1].roles]
    print_result(result)
    shown = capsys.readouterr().out
    assert all(role.name in shown for row in result.rows for role in row.roles)


def test_games_without_roles_report_none() -> None:
    result = evaluate("bolola/hearts-v0", ["greedy", "random"], deals=2)
    assert all(row.roles == () for row in result.rows)


def test_ratio_is_the_mean_with_equal_counts_and_skips_deals_without_a_value() -> None:
    values = np.array([3.0, -1.0, 4.0, 1.5])
    same = ratio(2 * values, np.array([2, 2, 2, 2]))
    plain = estimate(values)
    assert (same.mean, same.se, same.low) == pytest.approx((plain.mean, plain.se, plain.low))
    more = ratio(np.append(2 * values, 0.0), np.array([2, 2, 2, 2, 0]))
    assert (more.mean, more.se, more.deals) == pytest.approx((same.mean, same.se, 4))
    assert ratio(np.array([5.0, 0.0]), np.array([2, 0])).se is None


def test_ratio_interval_covers_the_truth_as_often_as_it_says() -> None:
    """Deals with 0 to 4 values each that share the deal's luck."""
    rng, hits, rounds = np.random.default_rng(3), 0, 400
    for _ in range(rounds):
        counts = rng.integers(0, 5, 300)
        luck = rng.normal(0, 2, 300)
        sums = counts * (1.0 + luck) + np.sqrt(counts) * rng.normal(0, 1, 300)
        value = ratio(sums, counts)
        assert value.low is not None and value.high is not None
        hits += value.low < 1.0 < value.high
    assert 0.92 < hits / rounds < 0.98


# ---------------------------------------------------------------------------- tables


def test_chance_to_hold_none_of_some_cards_is_counted_right() -> None:
    chance = NONE_OF.reshape(-1, 19, 23)
    assert chance[60, 18, 1] == pytest.approx(42 / 60)
    assert chance[5, 2, 2] == pytest.approx(3 / 10)
    assert chance[7, 7, 3] == 0.0 and chance[4, 0, 2] == 1.0


def test_weights_have_all_rows_and_columns() -> None:
    assert WEIGHTS.shape == START.shape == (len(ROWS), max(map(len, ROW_NAMES)))
    for row, names in zip(WEIGHTS, ROW_NAMES, strict=True):
        assert not row[len(names) :].any()


def test_all_cards_lie_in_the_two_words() -> None:
    assert card_set(CARD_IDS) == (int(ALL_SUITS), int(ALL_TRUMPS))
