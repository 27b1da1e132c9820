"""The table as text: what it says, and what it keeps to itself."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bolola_env.cards import CARD_NAMES
from bolola_env.contracts import CONTRACTS, Contract
from bolola_env.game import setup
from bolola_env.render import hand_text, render
from tests.helpers import card_bits, fewer
from trick_core.drivers import table_drivers
from trick_core.records import Table
from trick_core.table_view import align

DEAL = "N:98765.732.65.973 KQ4.Q65.A984.T65 AJ3.J4.QJT3.AK42 T2.AKT98.K72.QJ8"


def table_after(contract: Any, actions: str, starter: int = 1, **options: Any) -> Table:
    table = Table(setup(contract, **options), options={"deal": DEAL, "starter": starter})
    for action in actions.split():
        table.step(action)
    return table


def test_naming_trump_seen_by_the_starter() -> None:
    """B-6.1."""
    assert table_after("trump", "").render(1) == (
        "trump, trump not named yet, trick 1 of 13\n"
        "\n"
        "   player_0        13 cards                     tricks 0  points +0\n"
        ">  player_1 (you)  S KQ4  H Q65  D A984  C T65  tricks 0  points +0\n"
        "   player_2        13 cards                     tricks 0  points +0\n"
        "   player_3        13 cards                     tricks 0  points +0\n"
        "\n"
        "On the table: nothing\n"
        "player_1 names the trump suit: trump:C trump:D trump:H trump:S"
    )


def test_naming_trump_seen_by_another_seat() -> None:
    assert table_after("trump", "").render(2).endswith("\nplayer_1 names the trump suit")


def test_the_middle_of_a_trick_with_all_hands() -> None:
    table = table_after("hearts", "6C KC 8C 7C AS TS")
    assert table.render() == (
        "hearts, trick 2 of 13, hearts may not be led yet\n"
        "\n"
        ">  player_0  S 98765  H 732  D 65  C 93  tricks 0  points +0\n"
        "   player_1  S KQ4  H Q65  D A984  C T5  tricks 0  points +0\n"
        "   player_2  S J3  H J4  D QJT3  C A42   tricks 1  points +0\n"
        "   player_3  S 2  H AKT98  D K72  C QJ   tricks 0  points +0\n"
        "\n"
        "Last trick:   player_1 6C, player_2 KC, player_3 8C, player_0 7C; player_2 took it (+0)\n"
        "On the table: player_2 AS, player_3 TS; player_2 wins it so far\n"
        "player_0 plays: 9S 8S 7S 6S 5S"
    )


def test_public_voids_and_points_seen_by_a_seat() -> None:
    """Player_3 has thrown a heart on the third spade, so everybody knows that it has none."""
    table = table_after("hearts", "6C KC 8C 7C AS TS 9S QS 3S 2S 8S KS 4S JS AH 7S")
    text = table.render(0)
    assert "   player_3        9 cards, no S  " in text
    assert "player_2        9 cards   " in text
    assert "Last trick:   player_1 4S, player_2 JS, player_3 AH, player_0 7S; player_2" in text
    assert "took it (-30)" in text
    assert "may not be led" not in text


def test_the_end_of_a_deal() -> None:
    table = table_after("queens", "")
    rng = random.Random(1)
    while not table.over:
        table.step(rng.choice(table.legal))
    text = table.render(3)
    assert text.startswith("queens\n")
    assert text.count("0 cards") == 4
    assert text.endswith(
        "The end. Points: "
        + ", ".join(f"player_{s} {int(p):+d}" for s, p in enumerate(table.points))
    )
    assert ">" not in text


def test_the_match_shows_the_deal_and_the_score() -> None:
    row = Contract(name="my_row", trick_points=7)
    table = Table(setup("match", order=["no-tricks", row]), seed=3)
    rng = random.Random(2)
    assert table.render().startswith("Deal 1 of 2, no_tricks, trick 1 of 13")
    for _ in range(52):
        table.step(rng.choice(table.legal))
    text = table.render()
    assert text.startswith("Deal 2 of 2, my_row, trick 1 of 13")
    assert "Last trick" not in text
    for seat, points in enumerate(table.points):
        assert f"player_{seat}  " in text and f"points +0  match {int(points):+d}" in text


def test_a_users_row_is_named() -> None:
    assert Table(setup(Contract(name="my_row", trick_points=7))).render().startswith("my_row, ")


@pytest.mark.parametrize("variant", [*CONTRACTS, "match"])
def test_every_moment_can_be_drawn_and_names_what_is_legal(variant: str) -> None:
    """On turn the seat sees its legal actions; nobody else does."""
    order = {"order": ["queens", "trump", "bolola"]} if variant == "match" else {}
    table = Table(setup(variant, early_stop=True, **order), seed=6)
    rng = random.Random(3)
    while not table.over:
        last = {view: table.render(view).splitlines()[-1] for view in (None, 0, 1, 2, 3)}
        for view, line in last.items():
            who, colon, legal = line.partition(": ")
            assert who.startswith(f"player_{table.seat} ")
            assert set(legal.split()) == (set(table.legal) if view in (None, table.seat) else set())
            assert bool(colon) == (view in (None, table.seat))
        table.step(rng.choice(table.legal))
    assert "The end." in table.render(0)


@given(
    seed=st.integers(0, 2**32),
    steps=st.integers(0, 51),
    variant=st.sampled_from([*CONTRACTS, "match"]),
    seat=st.integers(0, 3),
)
def test_a_seats_view_is_the_same_whatever_the_others_hold(
    seed: int, steps: int, variant: str, seat: int
) -> None:
    """The hidden cards are dealt anew among the others, and the random key is changed."""
    rng = random.Random(seed)
    table = Table(setup(variant), seed=seed)
    for _ in range(min(steps, fewer(51, 20))):
        table.step(rng.choice(table.legal))
    shown = table.render(seat)

    states = table.states.copy()
    others = [other for other in range(4) if other != seat]
    held = [[c for c in range(52) if int(states[0]["hands"][o]) >> c & 1] for o in others]
    pool = [card for hand in held for card in hand]
    rng.shuffle(pool)
    for other, hand in zip(others, held, strict=True):
        cards = [pool.pop() for _ in hand]
        states[0]["hands"][other] = sum(1 << card for card in cards)
    states["key"] = 12345
    if table.seat != seat:
        states["legal"] = 0
        states["ruled"] = 0
    assert render(table.setup, states, 0, seat, table.history) == shown

    views = table.game.states(1)
    table_drivers(table.game).view(table.episode_config, table.states, 0, seat, views, 0)
    assert render(table.setup, views, 0, seat, table.history) == shown


def test_all_hands_do_show_what_the_others_hold() -> None:
    table = table_after("hearts", "")
    swapped = table.states.copy()
    swapped[0]["hands"][[2, 3]] = swapped[0]["hands"][[3, 2]]
    assert render(table.setup, swapped, 0, None) != table.render()
    assert render(table.setup, swapped, 0, 1) == table.render(1)


def test_a_short_or_missing_history_leaves_out_the_last_trick() -> None:
    table = table_after("hearts", "6C KC 8C 7C AS")
    with_it = table.render()
    for history in ([], table.history[-3:], [0, 1, 2, 3, 4]):
        without = render(table.setup, table.states, 0, None, history)
        assert without.splitlines() == [x for x in with_it.splitlines() if "Last trick" not in x]


def test_one_of_many_states_can_be_drawn() -> None:
    one, other = Table(setup("hearts"), seed=1), Table(setup("hearts"), seed=2)
    both = np.concatenate([one.states, other.states])
    assert render(one.setup, both, 1, None) == other.render()


def test_hands_are_sorted_by_suit_from_high_to_low() -> None:
    cards = ["2C", "TS", "AS", "9H", "KS", "JC"]
    assert hand_text(card_bits(cards)) == "S AKT  H 9  D -  C J2"
    assert hand_text(card_bits(CARD_NAMES)) == "  ".join(f"{suit} AKQJT98765432" for suit in "SHDC")


@pytest.mark.parametrize("seat", [4, -1, "0", True])
def test_a_seat_that_is_none_is_refused(seat: Any) -> None:
    with pytest.raises(ValueError, match=r"seat: expected a seat 0\.\.3"):
        table_after("hearts", "").render(seat)


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert align([["a", "bbb", "c"], ["dd", "e"], []]) == ["a   bbb  c", "dd  e", ""]
    assert align([]) == []
