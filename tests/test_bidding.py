"""What a bid is worth: figures as counted by hand, and that they make sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from baselines.bidding import bid_values, hand_view
from tarot_env.cards import cards_in
from tarot_env.reward import INFO_NAMES
from tests.helpers import Table, fewer
from trick_core.belief import view_of, worlds
from trick_core.bots import View, make_bot
from trick_core.game import setup_for

STRONG = "T21 T20 T19 T18 T15 T12 T9 T4 EX KC QC 4C KD QD 9D KH JH KS"
WEAK = "T2 T5 2C 3C 4C 6C 2D 3D 5D 6D 2H 3H 4H 7H 2S 3S 4S 8S"
PLAIN = "T21 T17 T13 T9 T6 T3 EX KC 5C 4C QD 9D 2D KH JH 5S 3S 2S"


def test_the_figures_are_those_of_games_played_by_hand() -> None:
    """T-2.3, T-7.5: each open bid in each world, then greedy in all seats; means, and how often it took and made it."""
    view = hand_view(PLAIN, bids=["pass", "prise"])
    count, greedy = fewer(40, 3), make_bot("greedy")
    setup = setup_for("tarot/deal")
    drawn = worlds(view, count, 3)
    found = bid_values(view, worlds=count, seed=3)
    assert [row.bid for row in found] == ["pass", "garde", "garde_sans", "garde_contre"]
    for row in found:
        points, made, mine = [], [], 0
        for k in range(count):
            table = Table(setup)
            table.states[:] = drawn[k : k + 1]
            table.play(row.bid)
            while not table.over:
                seen = View(table.game, setup.config, table.view(table.field("seat")), 0)
                table.force(table.game.actions[greedy.act(seen)])
            points.append(table.points()[view.seat])
            info = np.zeros((1, len(INFO_NAMES)))
            table.drivers.info(setup.config, table.states, 0, info)
            numbers = dict(zip(INFO_NAMES, info[0].tolist(), strict=True))
            if row.bid != "pass" and numbers["taker"] == view.seat:
                mine += 1
                made.append(numbers["made"])
        assert row.mean == pytest.approx(np.mean(points))
        assert row.se == pytest.approx(np.std(points, ddof=1) / np.sqrt(count))
        assert row.taken == mine / count
        if row.bid == "pass":
            assert row.made is None and row.points is None
        elif mine:
            assert row.made == pytest.approx(np.mean(made))


def test_good_hands_bid_and_bad_ones_pass() -> None:
    strong = {row.bid: row for row in bid_values(hand_view(STRONG), worlds=fewer(100, 5), seed=0)}
    weak = {row.bid: row for row in bid_values(hand_view(WEAK), worlds=fewer(100, 5), seed=0)}
    assert strong["garde"].mean > strong["prise"].mean > strong["pass"].mean
    assert strong["garde"].made is not None and strong["garde"].made > 0.9
    assert weak["pass"].mean > weak["prise"].mean > weak["garde"].mean
    assert weak["garde_contre"].taken == 1.0  # nothing goes over it (T-2.3)
    assert weak["garde_contre"].made is not None and weak["garde_contre"].made < 0.1


def test_repeatable() -> None:
    """The same seed, the same figures; without one, those of the view's random word."""
    view = hand_view(PLAIN)
    assert bid_values(view, 10, seed=5) == bid_values(view, 10, seed=5)
    assert bid_values(view, 10) == bid_values(view, 10, seed=view.random)
    assert bid_values(view, 10, seed=5) != bid_values(view, 10, seed=6)
    assert str(bid_values(view, 10)[0]).startswith("pass")


@pytest.mark.parametrize("dealer", range(4))
def test_a_view_from_cards(dealer: int) -> None:
    """It holds the cards and what was said, whoever deals; even where the Petit is the only other trump."""
    view = hand_view(PLAIN, bids=["pass", "prise"], dealer=dealer)
    assert view.seat == (dealer + 3) % 4
    hands = (view.record[name][0, view.seat] for name in ("hands", "hands_trumps"))
    assert set(cards_in(*hands)) == set(PLAIN.split())
    assert view.record["bids"][0].tolist().count(-1) == 2
    ids = [view.game.action_id(card) for card in PLAIN.split()]
    assert hand_view(ids).record.tobytes() == hand_view(PLAIN).record.tobytes()
    # The others hold one trump: it lies in the chien.
    trumps = " ".join(["EX", *(f"T{number}" for number in range(5, 22))])
    assert hand_view(trumps).legal == hand_view(PLAIN).legal


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("T21 T20",), "hand: expected 18 different cards, got 2"),
        ((PLAIN.replace("T17", "T21"),), "hand: expected 18 different cards"),
        ((PLAIN.replace("T17", "T22"),), "'T22' is not a card"),
        ((WEAK.replace("T2 ", "T1 ").replace("T5", "AC"),), "petit sec"),
        ((PLAIN, ["garde", "prise"]), "'prise' is not legal"),
        ((PLAIN, ["pass"] * 4), "bids: expected at most 3"),
        ((PLAIN, [], 4), "dealer: expected a seat 0..3"),
        ((PLAIN, [], "3"), "^dealer: expected a seat 0..3, got '3'"),
        ((PLAIN, [], True), "^dealer: expected a seat 0..3, got True"),
        ((5,), "^hand: expected a text, or a list of texts or ids, got 5"),
        ((None,), "^hand: expected a text, or a list of texts or ids, got None"),
        ((PLAIN, None), "^bids: expected a list of texts, got None"),
        ((PLAIN, "pass"), "^bids: expected a list of texts, got 'pass'"),
    ],
)
def test_bad_hands(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hand_view(*arguments)


def test_bad_arguments() -> None:
    view = hand_view(PLAIN)
    for settings, message in (
        ({"worlds": 0}, "^worlds: expected an integer from 1 on, got 0"),
        ({"worlds": 1.5}, "^worlds: expected an integer from 1 on, got 1.5"),
        ({"playout": "nobody"}, "^playout: no bot 'nobody'"),
        ({"playout": lambda view: 0}, "^playout: policy '<lambda>' has no kernel"),
        ({"seed": -1}, "^seed: expected a non-negative integer"),
    ):
        with pytest.raises(ValueError, match=message):
            bid_values(view, **settings)  # type: ignore[arg-type]
    setup = setup_for("tarot/deal", start="play")
    with pytest.raises(ValueError, match="a seat of Tarot that is to bid"):
        bid_values(view_of(setup, Table(setup).states))
    with pytest.raises(ValueError, match="a seat of Tarot that is to bid"):
        bid_values(view_of(setup_for("bolola/hearts"), Table("hearts").states))
    with pytest.raises(TypeError, match="expected a View"):
        bid_values(view.record)  # type: ignore[arg-type]
