"""Bolola's engines against the rulebook, clause by clause, cards as text.

Each clause has tests in which it binds and tests in which it looks as if it might, but does not. Tests that take
``engine`` run through the kernels and through the plain reference engine.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from bolola_env.contracts import CONTRACTS, Contract
from bolola_env.game import setup as bolola_setup
from tests.bolola_engines import ENGINES, SUITED, AnyRow, Engine, Game, KernelEngine
from tests.clauses import clause, clauses_shared
from tests.helpers import HOUSE_RULES, Table
from tests.reference.bolola import DECK, HEARTS, RANKS, ROWS, random_hands, skewed_hands

ALL = list(CONTRACTS)
UNLOCKED = ["no_tricks", "jacks_kings", "queens", "last_two"]
HEART_LOCKED = ["hearts", "king_of_hearts", "all_penalties", "bolola"]
TOTALS = {
    "no_tricks": -650,
    "trump": 650,
    "jacks_kings": -480,
    "queens": -400,
    "hearts": -390,
    "last_two": -360,
    "king_of_hearts": -320,
    "all_penalties": -800,
    "bolola": 800,
}

#: The hands of SUITED as lists.
BY_SUIT = [[rank + suit for rank in RANKS] for suit in "CDHS"]
#: The same with the lowest club and the lowest heart changed over.
SWAPPED = "N:.2..AKQJT9876543 ..AKQJT98765432. .AKQJT9876543..2 AKQJT98765432..."


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.name)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each of the two engines."""
    found: Engine = request.param
    return found


def swapped(*swaps: str) -> list[list[str]]:
    """A suit for each seat, but for pairs of cards ("KH 2C") in each other's place."""
    place = {card: card for card in DECK}
    for swap in swaps:
        one, other = swap.split()
        place[one], place[other] = place[other], place[one]
    return [[place[card] for card in hand] for hand in BY_SUIT]


def stopped_and_full(
    engine: Engine, row: AnyRow, rng: random.Random, trump: str | None = None
) -> tuple[Game, Game]:
    """The same random play with and without early stop."""
    hands = random_hands(rng)
    full = engine.deal(row, hands, trump=trump)
    short = engine.deal(row, hands, trump=trump, early_stop=True)
    for action in full.random_play(rng):
        if not short.over:
            short.play(action)
    return short, full


# ---------------------------------------------------------------------------- cards, seats, tricks


@clause("B-1.1", binds=True)
def test_the_order_of_ranks(engine: Engine) -> None:
    """B-1.1 binds: the Ace beats the King beats ... the 2."""
    for low, high in pairwise("23456789TJQKA"):
        assert engine.winner(f"{low}S {high}S 2C 2D") == f"{high}S"
        assert engine.winner(f"{low}D {high}D 2C 2S") == f"{high}D"


@clause("B-1.1", binds=True)
def test_thirteen_cards_each() -> None:
    """B-1.1 binds: drawn deals have every card once, 13 a seat."""
    for number in range(20):
        hands = Table("hearts", seed=5, number=number).hands()
        assert [len(hand) for hand in hands] == [13] * 4
        assert len({card for hand in hands for card in hand}) == 52


@clause("B-1.1", binds=False)
@pytest.mark.parametrize("contract", ["hearts", "bolola"])
def test_suits_may_lie_as_they_will(engine: Engine, contract: str) -> None:
    """B-1.1 does not bind: a hand of one suit is a hand."""
    game = engine.deal(contract, SUITED, 2)
    assert game.legal() == game.hands()[2] == BY_SUIT[2]
    assert len(game.legal()) == 13


@clause("B-1.2", binds=True)
@pytest.mark.parametrize(
    ("hands", "trick"),
    [(SWAPPED, "2C 9S 5C KD"), (swapped("AH 2C", "3H 3S"), "4H 3H AH 5D")],
    ids=["a club led", "a heart led"],
)
def test_seats_in_turn_and_the_winner_leads(engine: Engine, hands: Any, trick: str) -> None:
    """B-1.2 binds: starter 2, then 3, 0, 1; then whoever took the trick."""
    game = engine.deal("no_tricks", hands, 2)
    turns = []
    for card in trick.split():
        turns.append(game.seat)
        game.play(card)
    assert turns == [2, 3, 0, 1]
    assert (game.seat, game.tricks) == (0, 1)
    assert game.points() == [-50, 0, 0, 0]


@clause("B-1.2", binds=False)
def test_the_starter_leads_once(engine: Engine) -> None:
    """B-1.2 does not bind: the starter has no say in the second trick unless it took the first."""
    game = engine.deal("no_tricks", SWAPPED, 2)
    game.play("2C 9S 5C KD")
    assert "AH" not in game.legal()
    game.play("6C 2D 3H 2S")
    assert game.seat == 0
    game = engine.deal("no_tricks", swapped("AH 2C"), 2)
    game.play("4H 3S AH 5D")
    assert game.seat == 0
    assert "5H" not in game.legal()


@clause("B-1.2", binds=False)
def test_the_starter_stays_in_the_record() -> None:
    """B-1.2 does not bind: who led first is known after another seat took the trick."""
    table = Table("no_tricks", deal=SWAPPED, starter=2)
    table.play("2C 9S 5C KD")
    assert table.field("starter") == 2


@clause("B-1.3", binds=True)
@pytest.mark.parametrize("contract", ALL)
def test_suit_is_followed(engine: Engine, contract: str) -> None:
    """B-1.3 binds: cards that are a duty when void stay in the hand."""
    assert engine.legal(contract, "4S 8S KH QD JC AC", "TS", trump="C") == "4S 8S"
    assert engine.legal(contract, "3C 9C KD QD KH JS 5S", "4C", trump="S") == "3C 9C"


@clause("B-1.3", binds=False)
@pytest.mark.parametrize("contract", ALL)
def test_no_suit_to_follow(engine: Engine, contract: str) -> None:
    """B-1.3 does not bind: nothing of the suit led in the hand."""
    assert engine.legal(contract, "4C 8C 9D", "TS", trump="H") == "4C 8C 9D"
    assert engine.legal(contract, "3D 9D 5S", "4C", trump="C") == "3D 9D 5S"


@clause("B-1.4", binds=True)
@pytest.mark.parametrize(
    ("trick", "taking"),
    [
        ("7D AC AH AS", "7D"),
        ("7D 9D AH 8D", "9D"),
        ("5C KC AH AS", "KC"),
        ("5C AH AS AD", "5C"),
    ],
)
def test_highest_of_the_suit_takes(engine: Engine, trick: str, taking: str) -> None:
    """B-1.4 binds: other suits never take."""
    assert engine.winner(trick) == taking


@clause("B-1.4", binds=True)
@pytest.mark.parametrize(
    ("trick", "trump", "taking"),
    [
        ("7D AD 2C AS", "C", "2C"),
        ("7D 4C 2C AS", "C", "4C"),
        ("7D 4C JC 5C", "C", "JC"),
        ("7C 4C AD QC", "C", "QC"),
        ("7D 2C KD AD", "C", "2C"),
        ("5C AC 2H AS", "H", "2H"),
        ("5C 3H 2H AS", "H", "3H"),
        ("5H 3H TH AS", "H", "TH"),
    ],
)
def test_highest_trump_takes(engine: Engine, trick: str, trump: str, taking: str) -> None:
    """B-1.4 binds: in trump the highest trump takes."""
    assert engine.winner(trick, contract="trump", trump=trump) == taking


@clause("B-1.4", binds=True)
def test_a_trump_takes_in_a_deal(engine: Engine) -> None:
    """B-1.4 binds: the only trump takes the trick and its holder leads."""
    game = engine.deal("trump", trump="D")
    assert [game.play(card) for card in ("AC", "2D", "AH", "AS")] == [[0] * 4] * 3 + [[0, 50, 0, 0]]
    assert game.seat == 1


@clause("B-1.4", binds=False)
def test_no_trump_in_the_trick(engine: Engine) -> None:
    """B-1.4 does not bind: no trump fell."""
    assert engine.winner("7D AD AH AS", contract="trump", trump="C") == "AD"
    assert engine.winner("5C KC AH AS", contract="trump", trump="D") == "KC"


@clause("B-1.4", binds=False)
def test_other_contracts_have_no_trumps() -> None:
    """B-1.4 does not bind: no other contract has trumps, whatever is fixed."""
    assert KernelEngine().winner("7D AD AC AS", contract="bolola", trump="C") == "AD"
    assert [name for name, row in CONTRACTS.items() if row.trumps] == ["trump"]


@clause("B-1.5", binds=True)
@pytest.mark.parametrize("trick", ["3C 3D KH 3S", "AC AD KH AS"])
def test_all_thirteen_tricks_are_played(engine: Engine, trick: str) -> None:
    """B-1.5 binds: the only point fell in the first trick, and 12 tricks follow."""
    game = engine.deal("king_of_hearts")
    assert game.play(trick) == [-320, 0, 0, 0]
    assert not game.over
    assert len(game.random_play(random.Random(1))) == 48
    assert (game.seat, game.legal(), game.tricks) == (None, [], 13)
    assert game.points() == [-320, 0, 0, 0]


@clause("B-1.5", binds=False)
@pytest.mark.parametrize("trick", ["3C 3D KH 3S", "AC AD KH AS"])
def test_early_stop_ends_with_the_last_point(engine: Engine, trick: str) -> None:
    """B-1.5 does not bind: with the option the deal ends when the trick is full, not before."""
    game = engine.deal("king_of_hearts", early_stop=True)
    *first, last = trick.split()
    game.play(" ".join(first))
    assert (game.seat, game.over) == (3, False)
    assert game.play(last) == [-320, 0, 0, 0]
    assert (game.seat, game.over, game.tricks) == (None, True, 1)
    assert game.legal() == []
    assert game.points() == [-320, 0, 0, 0]


@clause("B-1.5", binds=True)
@pytest.mark.parametrize("contract", ["no_tricks", "trump", "last_two", "all_penalties", "bolola"])
def test_early_stop_never_shortens_these(engine: Engine, contract: str) -> None:
    """B-1.5 binds: where every trick or the last one scores, the option changes nothing."""
    rng = random.Random(contract)
    trump = "D" if contract == "trump" else None
    game = engine.deal(contract, random_hands(rng), trump=trump, early_stop=True)
    assert len(game.random_play(rng)) == 52


@clause("B-1.5", binds=True)
@pytest.mark.parametrize("contract", ALL)
def test_early_stop_keeps_the_returns(engine: Engine, contract: str) -> None:
    """B-1.5 binds: the same returns, and never a shorter deal where the last trick scores."""
    rng = random.Random(contract)
    lengths = set()
    for _ in range(8):
        short, full = stopped_and_full(engine, contract, rng)
        assert short.over
        assert short.points() == full.points()
        lengths.add(short.tricks)
    can_be_short = contract in ("jacks_kings", "queens", "hearts", "king_of_hearts")
    assert (min(lengths) < 13) == can_be_short


@clause("B-1.5", binds=False)
@pytest.mark.parametrize(
    ("words", "tricks"),
    [
        ({"trick_points": 10, "trick_number_points": dict.fromkeys(range(3, 14), -10)}, 2),
        ({}, 1),
        ({"trick_number_points": {13: 1}}, 13),
    ],
    ids=["first two", "nothing", "last"],
)
def test_early_stop_of_rows(engine: Engine, words: dict[str, Any], tricks: int) -> None:
    """B-1.5 does not bind: it is what later tricks give in sum that counts."""
    short, full = stopped_and_full(engine, engine.row(**words), random.Random(5))
    assert (short.tricks, full.tricks) == (tricks, 13)
    assert short.points() == full.points()


# ---------------------------------------------------------------------------- what scores


@clause("B-2.1", binds=True)
@pytest.mark.parametrize(("contract", "sign"), [("all_penalties", -1), ("bolola", 1)])
def test_one_card_scores_under_every_heading(engine: Engine, contract: str, sign: int) -> None:
    """B-2.1 binds: the King of hearts is a King, a heart and itself."""
    game = engine.deal(contract, any_card=True)
    assert game.play("3C 3D KH 3S")[0] == sign * (15 + 20 + 10 + 95)
    assert game.play("4C 4D QH 4S")[0] == sign * (15 + 30 + 10)
    assert game.play("5C 5D JH 5S")[0] == sign * (15 + 20 + 10)
    assert engine.gain(contract, 12, "KH QH 2H 3C") == sign * (15 + 40 + 125 + 40 + 10)
    assert engine.gain(contract, 13, "KH QH 2H 3C") == sign * (15 + 60 + 125 + 40 + 10)


@clause("B-2.1", binds=False)
def test_cards_of_one_kind_score_once(engine: Engine) -> None:
    """B-2.1 does not bind: plain hearts, honours of other suits; one heading in the other contracts."""
    game = engine.deal("all_penalties", any_card=True)
    assert game.play("3C 3D 2H 3S")[0] == -15 - 10
    assert game.play("KC KD AH AS")[0] == -15 - 20 - 20 - 10
    for row, points in (("king_of_hearts", -320), ("hearts", -30)):
        assert engine.deal(row, any_card=True).play("KC KD KH KS")[0] == points
    for card, points in (("JS", -20), ("QS", -30), ("KS", -20), ("AH", -10), ("AS", 0)):
        assert engine.gain("all_penalties", 1, f"2C 3C 4C {card}") == -15 + points
    assert engine.gain("jacks_kings", 1, "2H 3H 4H KH") == -60


@pytest.mark.parametrize(
    ("contract", "number", "trick", "points"),
    [
        ("no_tricks", 1, "KH QH JH AS", -50),
        ("no_tricks", 13, "2C 3C 4C 5C", -50),
        ("trump", 13, "KH QH JH AS", 50),
        ("jacks_kings", 1, "KH JH QH JS", -180),
        ("queens", 1, "KH JH QH QS", -200),
        ("hearts", 1, "KH JH QH QS", -90),
        ("last_two", 11, "KH JH QH QS", 0),
        ("last_two", 12, "KH JH QH QS", -120),
        ("last_two", 13, "KH JH QH QS", -240),
        ("king_of_hearts", 13, "AH JH QH KS", 0),
        ("all_penalties", 11, "2C 3C 4C 5C", -15),
        ("bolola", 11, "2C 3C 4C 5H", 25),
    ],
)
def test_points_of_a_trick(
    engine: Engine, contract: str, number: int, trick: str, points: int
) -> None:
    """The table of the nine contracts, a trick at a time."""
    assert engine.gain(contract, number, trick) == points


@pytest.mark.parametrize("contract", ALL)
@pytest.mark.parametrize("deal_hands", [random_hands, skewed_hands])
def test_totals(
    engine: Engine, contract: str, deal_hands: Callable[[random.Random], list[list[str]]]
) -> None:
    """The points of a deal add up to the table's total, and so do the gains."""
    rng = random.Random(contract)
    for _ in range(5):
        game = engine.deal(contract, deal_hands(rng), rng.randrange(4))
        sums = [0.0] * 4
        while not game.over:
            gain = game.play(rng.choice(game.legal()))
            sums = [a + b for a, b in zip(sums, gain, strict=True)]
        assert sums == game.points()
        assert sum(sums) == TOTALS[contract]


@pytest.mark.parametrize("contract", ALL)
def test_totals_of_the_rows(contract: str) -> None:
    """Each engine's row itself adds up to the total of the table."""
    assert CONTRACTS[contract].total == TOTALS[contract]
    row = ROWS[contract]
    later = sum(row.trick_number_points.values())
    assert sum(row.card_points.values()) + 13 * row.trick_points + later == TOTALS[contract]


@pytest.mark.parametrize(
    ("contract", "gains"),
    [
        ("no_tricks", [-50] * 13),
        ("last_two", [0] * 11 + [-120, -240]),
        ("hearts", [-30] * 13),
        ("queens", [0] * 10 + [-400, 0, 0]),
        ("jacks_kings", [0] * 9 + [-240, 0, -240, 0]),
        ("all_penalties", [-25] * 9 + [-105, -145, -240, -85]),
    ],
)
def test_points_trick_by_trick(engine: Engine, contract: str, gains: list[int]) -> None:
    """Everybody follows with the next higher card of the own suit; seat 0 takes all."""
    game = engine.deal(contract, any_card=True)
    got = [game.play(f"{rank}C {rank}D {rank}H {rank}S") for rank in RANKS]
    assert got == [[gain, 0, 0, 0] for gain in gains]


# ---------------------------------------------------------------------------- leading


@clause("B-3.1", binds=True)
@pytest.mark.parametrize("contract", UNLOCKED)
def test_everything_may_be_led(engine: Engine, contract: str) -> None:
    """B-3.1 binds: hearts and honours from the first trick on."""
    assert engine.legal(contract, "3C QD KH 2H JS") == "3C QD 2H KH JS"
    assert engine.legal(contract, "2C JD KH QH 5S") == "2C JD QH KH 5S"


@clause("B-3.1", binds=False)
@pytest.mark.parametrize("contract", HEART_LOCKED)
def test_not_everything_may_be_led(engine: Engine, contract: str) -> None:
    """B-3.1 does not bind: four other contracts keep hearts back."""
    assert engine.legal(contract, "3C QD KH 2H JS") == "3C QD JS"
    assert engine.legal(contract, "2C JD KH QH 5S") == "2C JD 5S"


@clause("B-3.2", binds=True)
@pytest.mark.parametrize("contract", HEART_LOCKED)
def test_hearts_closed(engine: Engine, contract: str) -> None:
    """B-3.2 binds: no heart has been played, many other cards have."""
    assert engine.legal(contract, "9D KH", seen="AS KS QS JS 2C 3C 4C 5C") == "9D"
    assert engine.legal(contract, "2C AH", seen="AC KC QC AS 5D 6D KD 8D") == "2C"


@clause("B-3.2", binds=False)
@pytest.mark.parametrize("contract", HEART_LOCKED)
def test_hearts_open(engine: Engine, contract: str) -> None:
    """B-3.2 does not bind: a heart was discarded, led or followed, or there is nothing else."""
    for seen in ("AS KS QS 2H", "AS KS QS JS 2H 3H 4H 5H 2C 3C 4C 5C"):
        assert engine.legal(contract, "9D KH", seen=seen) == "9D KH"
    for seen in ("AC KC QC 2H", "3H 4H 5H 6H"):
        assert engine.legal(contract, "2C AH", seen=seen) == "2C AH"
    assert engine.legal(contract, "2H KH") == "2H KH"
    assert engine.legal(contract, "2H KH AH") == "2H KH AH"


@clause("B-3.2", binds=True)
@clause("B-3.2", binds=False)
def test_a_discarded_heart_opens_the_next_lead(engine: Engine) -> None:
    """B-3.2 binds in trick 1, and no longer in trick 2."""
    hands = "N:5432.3.5432.AKQJ AKQ.A2.AKQJT987. .KQJT98765..T987 JT9876.4.6.65432"
    game = engine.deal("hearts", hands)
    assert "3H" not in game.legal()
    game.play("AC 2H TC 6C")
    assert game.seat == 0
    assert "3H" in game.legal()


@clause("B-3.2", binds=True)
@clause("B-3.2", binds=False)
@pytest.mark.parametrize("contract", HEART_LOCKED)
def test_a_heart_of_a_hand_of_clubs(engine: Engine, contract: str) -> None:
    """B-3.2 binds in trick 1, and no longer in trick 2: the King of hearts was discarded meanwhile."""
    game = engine.deal(contract, swapped("2C 2S", "2C 2H"))  # 2H with the clubs of seat 0
    assert "2H" not in game.legal()
    game.play("AC KD KH 2C")
    assert game.seat == 0
    assert "2H" in game.legal()


@clause("B-3.3", binds=True)
def test_trumps_closed(engine: Engine) -> None:
    """B-3.3 binds: no trump has been played; hearts are nothing special here."""
    assert engine.legal("trump", "9D KH AS", trump="D") == "KH AS"
    assert engine.legal("trump", "9D KH AS", trump="D", seen="AC KC 2H 3H") == "KH AS"
    assert engine.legal("trump", "2C AH 5S", trump="S") == "2C AH"
    assert engine.legal("trump", "2C AH 5S", trump="S", seen="2H 3H 4H 5H") == "2C AH"


@clause("B-3.3", binds=False)
def test_trumps_open(engine: Engine) -> None:
    """B-3.3 does not bind: a trump fell in an earlier trick, trumps are all there is, or hearts are led."""
    assert engine.legal("trump", "9D KH AS", trump="D", seen="AC KC 2D 3H") == "9D KH AS"
    assert engine.legal("trump", "9D AD", trump="D") == "9D AD"
    assert engine.legal("trump", "2C AH 5S", trump="S", seen="2H 3H 4S 5H") == "2C AH 5S"
    assert engine.legal("trump", "5S AS", trump="S") == "5S AS"
    assert "KH" in engine.legal("trump", "2C KH", trump="C")


@clause("B-3.3", binds=True)
@clause("B-3.3", binds=False)
def test_trumps_open_in_a_deal(engine: Engine) -> None:
    """B-3.3 binds on the first lead and does not bind after the first ruff."""
    game = engine.deal("trump", swapped("2C 2D", "2H 2S"))
    game.play("trump:D")
    assert game.legal() == BY_SUIT[0][1:]
    game.play("AC 2C 3H 3S KC 3D 4H 4S")
    assert game.seat == 1
    game.play("4D 5H 5S 2D")
    assert game.seat == 1


# ---------------------------------------------------------------------------- following suit


@clause("B-4.1", binds=True)
@pytest.mark.parametrize(
    "contract", ["no_tricks", "hearts", "last_two", "king_of_hearts", "bolola"]
)
def test_any_card_of_the_suit(engine: Engine, contract: str) -> None:
    """B-4.1 binds: nothing must go under an Ace, the King of hearts neither."""
    assert engine.legal(contract, "4H JH QH KH 9S", "AH 2H") == "4H JH QH KH"
    assert engine.legal(contract, "4D JD QD KD 9S", "AD 2D") == "4D JD QD KD"
    assert engine.legal(contract, "3H JH QH KH 2S", "5H AH") == "3H JH QH KH"
    assert engine.legal(contract, "3C JC QC KC 2H", "5C AC") == "3C JC QC KC"


@clause("B-4.1", binds=False)
@pytest.mark.parametrize("contract", ["jacks_kings", "queens", "all_penalties"])
def test_not_any_card_of_the_suit(engine: Engine, contract: str) -> None:
    """B-4.1 does not bind: three other contracts have duties under a higher card."""
    assert "4D" not in engine.legal(contract, "4D JD QD KD 9S", "AD 2D")
    assert "3C" not in engine.legal(contract, "3C JC QC KC 2H", "5C AC")


@clause("B-4.2", binds=True)
@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        ("4D JD", "QD", "JD"),
        ("4D JD", "2D KD 3D", "JD"),
        ("4D KD", "AD", "KD"),
        ("4D JD KD", "2D AD", "JD KD"),
        ("4D JD KD QD", "AD", "JD KD"),
        ("4D JD KD", "QD", "JD"),  # the uncovered King is no way out
        ("JD AD", "KD 5D", "JD"),
        ("3C JC", "QC", "JC"),
        ("3C JC", "KC", "JC"),
        ("3C JC AC", "AC 5C", "JC"),
        ("3C KC", "2C AC", "KC"),
        ("3C JC KC", "AC", "JC KC"),
        ("3C JC KC AC", "QC", "JC"),
        ("3C JH QH", "4H KH 2H", "JH"),
    ],
)
def test_covered_jacks_and_kings(engine: Engine, hand: str, trick: str, expected: str) -> None:
    """B-4.2 binds: one of the covered; between two covered ones the player chooses."""
    assert engine.legal("jacks_kings", hand, trick) == expected


@clause("B-4.2", binds=False)
@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        ("4D JD", "TD", "4D JD"),
        ("4D KD", "QD JD", "4D KD"),
        ("4D JD KD", "9D TD 2D", "4D JD KD"),
        ("4D QD", "AD", "4D QD"),
        ("3C JC", "TC", "3C JC"),
        ("3C KC", "QC", "3C KC"),
        ("3C KC JC", "TC 2C", "3C JC KC"),
        ("3C QC", "AC", "3C QC"),
        ("3C JC", "5C AD KH", "3C JC"),
    ],
)
def test_uncovered_jacks_and_kings(engine: Engine, hand: str, trick: str, expected: str) -> None:
    """B-4.2 does not bind: nothing higher of the suit lies there, or there is no Jack or King."""
    assert engine.legal("jacks_kings", hand, trick) == expected


@clause("B-4.3", binds=True)
@pytest.mark.parametrize(
    ("hand", "trick", "queen"),
    [
        *[("9H JH QH 2S", trick, "QH") for trick in ("KH", "AH", "2H KH", "2H 3C AH")],
        *[("4S JS QS 2C", trick, "QS") for trick in ("KS", "AS", "2S AS", "KS 2D 3S")],
    ],
)
def test_a_covered_queen(engine: Engine, hand: str, trick: str, queen: str) -> None:
    """B-4.3 binds: under a King or an Ace."""
    assert engine.legal("queens", hand, trick) == queen


@clause("B-4.3", binds=False)
@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        *[("9H QH KH 2S", trick, "9H QH KH") for trick in ("JH", "TH 4H", "4H AS KC")],
        ("9H JH KH", "AH", "9H JH KH"),
        *[("4S JS QS KS 2C", trick, "4S JS QS KS") for trick in ("JS", "2S AD", "TS 9S 8S")],
        ("4S JS KS", "AS", "4S JS KS"),
    ],
)
def test_an_uncovered_queen(engine: Engine, hand: str, trick: str, expected: str) -> None:
    """B-4.3 does not bind: nothing over the Queen; Jacks and Kings are free under an Ace."""
    assert engine.legal("queens", hand, trick) == expected


@clause("B-4.4", binds=True)
@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        ("4S JS", "QS", "JS"),
        ("4S JS QS", "KS", "JS QS"),
        ("4S JS QS KS", "AS", "JS QS KS"),
        ("4S QS KS AS", "2S AS", "QS KS"),
        ("4S JS KS", "QS", "JS"),
        ("4H KH", "AH", "KH"),  # in hearts too
        ("2C JC", "QC", "JC"),
        ("2C JC", "KC", "JC"),
        ("2C JC QC KC", "AC", "JC QC KC"),
        ("2C JC QC AC", "KC", "JC QC"),
        ("2C JC KC AC", "QC", "JC"),
        ("2C QC KC", "5C AC", "QC KC"),
        ("2H KH", "AH", "KH"),
        ("2H QH JH", "KH 3H", "JH QH"),
    ],
)
def test_covered_in_all_penalties(engine: Engine, hand: str, trick: str, expected: str) -> None:
    """B-4.4 binds: any covered Jack, Queen or King."""
    assert engine.legal("all_penalties", hand, trick) == expected


@clause("B-4.4", binds=False)
@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        ("4S JS QS KS", "TS", "4S JS QS KS"),
        ("4S KS", "QS", "4S KS"),
        ("4S QS", "JS", "4S QS"),
        ("4H 9H", "AH", "4H 9H"),
        ("2C JC QC KC", "TC", "2C JC QC KC"),
        ("2C KC", "QC", "2C KC"),
        ("2C QC", "JC", "2C QC"),
        ("2H TH", "AH", "2H TH"),
        ("2H KH", "QH", "2H KH"),
    ],
)
def test_uncovered_in_all_penalties(engine: Engine, hand: str, trick: str, expected: str) -> None:
    """B-4.4 does not bind: none of the three is covered; a plain heart is a duty when void only."""
    assert engine.legal("all_penalties", hand, trick) == expected


@clause("B-4.5", binds=True)
@pytest.mark.parametrize(
    ("contract", "hand", "trick", "seen", "expected"),
    [
        *[
            (contract, "4D JD QD", "5D AS KC", "AD KD 2D 3D", "4D JD QD")
            for contract in ("jacks_kings", "queens", "all_penalties")
        ],
        ("jacks_kings", "3C JC", "4C AD KH", "QC KC AC 5C", "3C JC"),
        ("queens", "3C QC", "4C AD KH", "KC AC 6C 5C", "3C QC"),
        ("all_penalties", "3C JC", "4C AD KH", "KC AC 6C 5C", "3C JC"),
        ("all_penalties", "3C JH", "4C AH", "", "3C"),
    ],
)
def test_other_suits_and_earlier_tricks_cover_nothing(
    engine: Engine, contract: str, hand: str, trick: str, seen: str, expected: str
) -> None:
    """B-4.5 binds: Aces of other suits in the trick, and the King and Ace of an earlier one."""
    assert engine.legal(contract, hand, trick, seen=seen) == expected


@clause("B-4.5", binds=False)
@pytest.mark.parametrize("trick", ["KD 5D 2S", "5D KD 2S", "5D 2S KD"])
def test_the_suit_led_covers_from_any_place(engine: Engine, trick: str) -> None:
    """B-4.5 does not bind: the higher card of the suit led may lie anywhere in the trick."""
    assert engine.legal("jacks_kings", "4D JD", trick) == "JD"
    assert engine.legal("queens", "4D QD", trick) == "QD"


@clause("B-4.5", binds=False)
@pytest.mark.parametrize("trick", ["AC 4C 5D", "4C AC 5D", "4C 5D AC"])
def test_an_ace_covers_from_any_place(engine: Engine, trick: str) -> None:
    """B-4.5 does not bind: the covering card may have been led or played, by any seat."""
    assert engine.legal("jacks_kings", "3C JC", trick) == "JC"


@clause("B-4.6", binds=True)
def test_a_trump_lead_is_beaten(engine: Engine) -> None:
    """B-4.6 binds: above the highest trump in the trick, whoever played it."""
    assert engine.legal("trump", "3H 9H QH 2C", "8H", trump="H") == "9H QH"
    assert engine.legal("trump", "3H 9H QH 2C", "8H JH 2S", trump="H") == "QH"
    assert engine.legal("trump", "2S 9S KS AH", "8S", trump="S") == "9S KS"
    assert engine.legal("trump", "2S 9S KS AH", "8S TS", trump="S") == "KS"


@clause("B-4.6", binds=False)
def test_a_trump_lead_that_cannot_be_beaten(engine: Engine) -> None:
    """B-4.6 does not bind: nothing higher, then any trump; or hearts are led and not trump."""
    assert engine.legal("trump", "3H 9H QH 2C", "8H KH", trump="H") == "3H 9H QH"
    assert engine.legal("trump", "3H 9H QH 2C", "8H", trump="C") == "3H 9H QH"
    assert engine.legal("trump", "2S 9S KS AH", "8S AS", trump="S") == "2S 9S KS"


@clause("B-4.6", binds=False)
@clause("B-5.7", binds=False)
def test_trumps_of_earlier_tricks_need_not_be_beaten(engine: Engine) -> None:
    """B-4.6, B-5.7 do not bind: only the current trick counts."""
    for trick in ("2H", "8C"):
        assert engine.legal("trump", "3H 9H", trick, seen="KC AH KH QH", trump="H") == "3H 9H"


@clause("B-4.7", binds=True)
def test_a_plain_lead_need_not_be_beaten(engine: Engine) -> None:
    """B-4.7 binds: any card of the suit, before and after a ruff."""
    assert engine.legal("trump", "3C 9C AC KH", "8C", trump="H") == "3C 9C AC"
    assert engine.legal("trump", "3C 9C AC KH", "8C 2H", trump="H") == "3C 9C AC"
    assert engine.legal("trump", "2C 9C AC 3S", "8C", trump="S") == "2C 9C AC"
    assert engine.legal("trump", "2C 9C AC 3S", "8C 2S", trump="S") == "2C 9C AC"


@clause("B-4.7", binds=False)
def test_a_plain_lead_without_the_suit(engine: Engine) -> None:
    """B-4.7 does not bind: nothing of the plain suit, or the suit led is trump."""
    assert engine.legal("trump", "3D 9D KH", "8C", trump="H") == "KH"
    assert engine.legal("trump", "3C 9C", "8C", trump="C") == "9C"
    assert engine.legal("trump", "2D 3S", "8C", trump="S") == "3S"
    assert engine.legal("trump", "2C 9C", "8C", trump="C") == "9C"


# ---------------------------------------------------------------------------- void


@clause("B-5.1", binds=True)
@pytest.mark.parametrize("contract", ["no_tricks", "last_two", "bolola"])
def test_void_and_free(engine: Engine, contract: str) -> None:
    """B-5.1 binds: no card is a duty."""
    assert engine.legal(contract, "2D QD KH JS", "9C") == "2D QD KH JS"
    assert engine.legal(contract, "2D QD KH JS 5S", "4C") == "2D QD KH 5S JS"


@clause("B-5.1", binds=False)
@pytest.mark.parametrize("contract", sorted({*ALL} - {"no_tricks", "last_two", "bolola"}))
def test_void_and_bound(engine: Engine, contract: str) -> None:
    """B-5.1 does not bind: in the six other contracts the 2 of diamonds has to wait."""
    assert "2D" not in engine.legal(contract, "2D QD KH JS", "9C", trump="H")
    assert "2D" not in engine.legal(contract, "2D QD KH JS 5S", "4C", trump="S")


@clause("B-5.2", binds=True)
def test_void_jacks_and_kings(engine: Engine) -> None:
    """B-5.2 binds: Jacks and Kings of any suit, with nothing over them."""
    assert engine.legal("jacks_kings", "2D JD QD KH AH JS", "9C") == "JD KH JS"
    assert engine.legal("jacks_kings", "2D AH KS", "9C TC") == "KS"
    assert engine.legal("jacks_kings", "2D QD KD KH AH JS 5S", "4C") == "KD KH JS"
    assert engine.legal("jacks_kings", "2D JS", "4C 5S") == "JS"


@clause("B-5.2", binds=False)
def test_void_without_jacks_and_kings(engine: Engine) -> None:
    """B-5.2 does not bind: none in the hand."""
    assert engine.legal("jacks_kings", "2D QD AH 9S", "8C") == "2D QD AH 9S"
    assert engine.legal("jacks_kings", "2D QD AH 5S", "4C") == "2D QD AH 5S"


@clause("B-5.3", binds=True)
def test_void_queens(engine: Engine) -> None:
    """B-5.3 binds: either Queen."""
    assert engine.legal("queens", "2D QD KH QS", "9C") == "QD QS"
    assert engine.legal("queens", "2D QD KH JS QS", "4C") == "QD QS"


@clause("B-5.3", binds=False)
def test_void_without_queens(engine: Engine) -> None:
    """B-5.3 does not bind: no Queen; other honours are free."""
    for trick in ("9C", "4C"):
        assert engine.legal("queens", "2D KH JS", trick) == "2D KH JS"


@clause("B-5.4", binds=True)
def test_void_hearts(engine: Engine) -> None:
    """B-5.4 binds: any heart, in the first trick too."""
    assert engine.legal("hearts", "2D 4H KH AS", "9C") == "4H KH"
    assert engine.legal("hearts", "2D 3H KH QS", "4C") == "3H KH"


@clause("B-5.4", binds=False)
def test_void_without_hearts(engine: Engine) -> None:
    """B-5.4 does not bind: no heart."""
    assert engine.legal("hearts", "2D KD AS", "9C 2H") == "2D KD AS"
    assert engine.legal("hearts", "2D KD QS", "4C 5H") == "2D KD QS"


@clause("B-5.5", binds=True)
def test_void_king_of_hearts(engine: Engine) -> None:
    """B-5.5 binds: the King of hearts first, then hearts."""
    assert engine.legal("king_of_hearts", "2D 4H KH AH KS", "9C") == "KH"
    assert engine.legal("king_of_hearts", "2D 4H AH KS", "9C") == "4H AH"
    assert engine.legal("king_of_hearts", "2D 3H KH AH KS", "4C") == "KH"
    assert engine.legal("king_of_hearts", "2D 3H AH KS", "4C") == "3H AH"


@clause("B-5.5", binds=False)
def test_void_without_king_of_hearts_and_hearts(engine: Engine) -> None:
    """B-5.5 does not bind: no heart; the other Kings are free."""
    for trick in ("9C", "4C"):
        assert engine.legal("king_of_hearts", "2D KD KS", trick) == "2D KD KS"


@clause("B-5.6", binds=True)
def test_void_all_penalties(engine: Engine) -> None:
    """B-5.6 binds: Jacks, Queens, Kings and hearts are one choice."""
    assert engine.legal("all_penalties", "2D JD 4H KH QS AS", "9C") == "JD 4H KH QS"
    assert engine.legal("all_penalties", "2D JD 3H KH QS KS AS", "4C") == "JD 3H KH QS KS"
    assert engine.legal("all_penalties", "2D 2H AS", "4C") == "2H"


@clause("B-5.6", binds=False)
def test_void_without_penalties(engine: Engine) -> None:
    """B-5.6 does not bind: nothing that scores by itself."""
    for trick in ("9C", "4C"):
        assert engine.legal("all_penalties", "2D TD AS", trick) == "2D TD AS"


@clause("B-5.7", binds=True)
def test_void_in_trump(engine: Engine) -> None:
    """B-5.7 binds: ruff, over-ruff, and under-ruff where that is all there is."""
    assert engine.legal("trump", "2D 5H QH", "9C", trump="H") == "5H QH"
    assert engine.legal("trump", "2D 5H QH", "9C 8H", trump="H") == "QH"
    assert engine.legal("trump", "2D 5H 7H", "9C 8H", trump="H") == "5H 7H"
    assert engine.legal("trump", "2D 5H JH AH", "9C 8H KH", trump="H") == "AH"
    assert engine.legal("trump", "2D 3S KS", "4C", trump="S") == "3S KS"
    assert engine.legal("trump", "2D 3S KS", "4C AD 9S", trump="S") == "KS"
    assert engine.legal("trump", "2D 3S 8S", "4C 9S", trump="S") == "3S 8S"
    assert engine.legal("trump", "2D 3S TS QS", "4C 9S JS", trump="S") == "QS"


@clause("B-5.7", binds=False)
def test_void_in_trump_without_trumps(engine: Engine) -> None:
    """B-5.7 does not bind: no trump in the hand, after a plain lead, a ruff and a trump lead."""
    for trick in ("9C", "9C 2H", "2H"):
        assert engine.legal("trump", "2D KS", trick, trump="H") == "2D KS"
    for trick in ("4C 9S", "4S"):
        assert engine.legal("trump", "2D KH", trick, trump="S") == "2D KH"


# ---------------------------------------------------------------------------- naming trump


@clause("B-6.1", binds=True)
@pytest.mark.parametrize("starter", [1, 3])
@pytest.mark.parametrize("suit", "CDHS")
def test_the_starter_names_a_suit(engine: Engine, suit: str, starter: int) -> None:
    """B-6.1 binds: four names, 13 cards in the hand, then the same seat leads."""
    game = engine.deal("trump", SUITED, starter)
    assert game.seat == starter
    assert game.legal() == ["trump:C", "trump:D", "trump:H", "trump:S"]
    assert len(game.hands()[starter]) == 13
    assert game.play(f"trump:{suit}") == [0, 0, 0, 0]
    assert (game.seat, game.trump, game.tricks) == (starter, suit, 0)
    assert game.legal() == game.hands()[starter] == BY_SUIT[starter]


@clause("B-6.1", binds=False)
def test_nobody_names_a_suit(engine: Engine) -> None:
    """B-6.1 does not bind: a suit fixed beforehand, and every other contract."""
    game = engine.deal("trump", SUITED, 0, trump="S")
    assert game.play("3C 3D 3H 3S") == [0, 0, 0, 50]
    game = engine.deal("trump", SUITED, 3, trump="H")
    assert (game.seat, game.trump, game.legal()) == (3, "H", BY_SUIT[3])
    game.play("2S 2C 2D 2H")
    assert game.points() == [0, 0, 50, 0]
    for contract in {*ALL} - {"trump"}:
        assert engine.deal(contract, SUITED, 3).legal() == BY_SUIT[3]


@clause("B-6.1", binds=False)
def test_a_suit_fixed_by_option() -> None:
    """B-6.1 does not bind: fixed by option, fixed for one deal (which comes first), or no trumps."""
    fixed = bolola_setup("trump", trump="H")
    table = Table(fixed, seed=1)
    assert table.field("trump") == 2
    assert table.legal()[0][0] != "t"
    assert Table(fixed, trump="S").field("trump") == 3
    for contract in {*ALL} - {"trump"}:
        table = Table(bolola_setup(contract, trump="H"), seed=1)
        assert table.field("trump") == -1
        assert table.legal()[0][0] != "t"


# ---------------------------------------------------------------------------- the match


@clause("B-7.1", binds=True)
def test_a_match_is_twelve_deals_that_sum_to_zero(engine: Engine) -> None:
    """B-7.1 binds: deal by deal the totals of the nine contracts in the fixed order."""
    order = ["no_tricks", "jacks_kings", "queens", "hearts", "last_two", "king_of_hearts"]
    order += ["all_penalties", "trump", "trump", "trump", "trump", "bolola"]
    game = engine.match(2, seed=4)
    rng = random.Random(1)
    by_deal = [0.0] * 12
    by_seat = [0.0] * 4
    while not game.over:
        number = game.deal_number
        gain = game.play(rng.choice(game.legal()))
        by_deal[number] += sum(gain)
        by_seat = [a + b for a, b in zip(by_seat, gain, strict=True)]
    assert by_deal == [TOTALS[name] for name in order]
    assert game.points() == by_seat
    assert sum(by_seat) == 0
    assert (game.seat, game.legal(), game.deal_number) == (None, [], 11)


@clause("B-7.1", binds=False)
@pytest.mark.parametrize(
    ("row", "total"),
    [(HOUSE_RULES[2], 26), (Contract(name="last_one", trick_number_points={13: -7}), -7)],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_order_is_an_option(engine: Engine, row: Contract, total: int) -> None:
    """B-7.1 does not bind: another order, of rows too, and fewer deals."""
    game = engine.match(0, seed=1, order=[row, "bolola"])
    game.random_play(random.Random(1))
    assert game.deal_number == 1
    assert sum(game.points()) == total + 800


@clause("B-7.2", binds=True)
@pytest.mark.parametrize("starter", range(4))
def test_each_seat_starts_three_deals(engine: Engine, starter: int) -> None:
    """B-7.2 binds: the next seat starts the next deal; each seat names trump once."""
    game = engine.match(starter, seed=starter)
    rng = random.Random(starter)
    starters: dict[int, int | None] = {}
    namers = []
    while not game.over:
        starters.setdefault(game.deal_number, game.seat)
        if game.legal()[0] == "trump:C":
            namers.append(game.seat)
        game.play(rng.choice(game.legal()))
    assert list(starters.values()) == [(starter + number) % 4 for number in range(12)]
    assert sorted(map(str, namers)) == ["0", "1", "2", "3"]


@clause("B-7.2", binds=True)
def test_the_first_starter_comes_from_the_seed() -> None:
    """B-7.2 binds: all four seats occur, each about as often."""
    counts = [0] * 4
    for number in range(200):
        counts[Table("match", seed=9, number=number).seat or 0] += 1
    assert min(counts) > 25


@clause("B-7.2", binds=False)
def test_the_first_starter_can_be_fixed() -> None:
    """B-7.2 does not bind: an option fixes it."""
    assert {Table(bolola_setup("match", starter=3), number=n).seat for n in range(9)} == {3}


@clause("B-7.2", binds=False)
def test_deals_that_are_not_given_are_drawn() -> None:
    """B-7.2 does not bind: the hands of deal 1 are given, seat 0 takes all, seat 1 starts deal 2."""
    order = ["no_tricks", "bolola"]
    table = Table(bolola_setup("match", order=order), deal=[SUITED], starter=0)
    while table.field("deal") == 0:
        table.force(table.legal()[0])
    assert table.points() == [-650, 0, 0, 0]
    assert table.seat == 1
    assert table.hands() != BY_SUIT


@clause("B-7.2", binds=False)
@pytest.mark.parametrize(("second", "trump"), [("bolola", None), ("trump", "S")])
def test_the_last_trick_does_not_start_the_next_deal(
    engine: Engine, second: str, trump: str | None
) -> None:
    """B-7.2 does not bind: seat 0 takes all of deal 1, seat 1 starts deal 2; a fixed suit asks nobody."""
    game = engine.match(0, hands=SUITED, order=["no_tricks", second], trump=trump)
    while game.deal_number == 0:
        game.play(game.legal()[0])
    assert game.points() == [-650, 0, 0, 0]
    assert (game.seat, game.trump, game.legal()) == (1, trump, BY_SUIT[1])


@clause("B-7.3", binds=True)
@pytest.mark.parametrize(
    ("starter", "choice", "trump"), [(0, 0, "S"), (3, -1, None)], ids=["lowest", "highest"]
)
@pytest.mark.parametrize("contract", ALL)
def test_wild_hands_are_played_out(
    engine: Engine, contract: str, starter: int, choice: int, trump: str | None
) -> None:
    """B-7.3 binds: one hand takes everything, and 52 cards are played all the same."""
    order = [contract, "bolola"]
    game = engine.match(starter, hands=SUITED, order=order, trump=trump)
    cards = 0
    while game.deal_number == 0:
        action = game.legal()[choice]  # the last name is spades
        game.play(action)
        cards += not action.startswith("trump:")
    assert cards == 52
    taker = 3 if contract == "trump" else starter
    assert game.points() == [TOTALS[contract] if seat == taker else 0 for seat in range(4)]


@clause("B-7.3", binds=True)
def test_there_is_no_no_trump(engine: Engine) -> None:
    """B-7.3 binds: four names and no fifth."""
    assert len(engine.deal("trump").legal()) == 4


@clause("B-7.3", binds=True)
def test_no_action_says_no_trump() -> None:
    """B-7.3 binds: the names of all actions have four suits."""
    assert sum(action.startswith("trump:") for action in Table("trump").game.actions) == 4


@clause("B-7.3", binds=False)
@pytest.mark.parametrize("trick", ["3C 3D KH 3S", "AC AD KH AS"])
def test_early_stop_goes_on_with_the_match(engine: Engine, trick: str) -> None:
    """B-7.3 does not bind: ending with the last point is no redeal and no instant win."""
    order = ["king_of_hearts", "bolola"]
    game = engine.match(0, hands=SUITED, order=order, early_stop=True)
    assert game.play(trick) == [-320, 0, 0, 0]
    assert (game.deal_number, game.seat, game.over) == (1, 1, False)
    assert [len(hand) for hand in game.hands()] == [13] * 4


# ---------------------------------------------------------------------------- house rules


#: What some of HOUSE_RULES say, card by card.
IN_WORDS: dict[str, dict[str, Any]] = {
    "rifki_last_two": {"trick_number_points": {12: -180, 13: -180}},
    "king_under_the_ace": {
        "card_points": {"KH": -320},
        "locked_suit": "H",
        "void_tiers": [["KH"], sorted(HEARTS)],
        "under_duty": ["KH"],
    },
    "hearts_scoring": {"card_points": dict.fromkeys(HEARTS, 1) | {"QS": 13}, "locked_suit": "H"},
}


@pytest.fixture(params=["as a contract", "in words"])
def house_rule(engine: Engine, request: pytest.FixtureRequest) -> Callable[[str], AnyRow]:
    """House rules by name: of the library, and made from words by the engine's own constructor."""
    if request.param == "in words":
        return lambda name: engine.row(name=name, **IN_WORDS[name])
    return lambda name: next(row for row in HOUSE_RULES if row.name == name)


@clause("B-8.1", binds=True)
@clause("B-8.1", binds=False)
def test_a_row_of_ones_own(engine: Engine, house_rule: Callable[[str], AnyRow]) -> None:
    """B-8.1 binds: the King under the Ace, if the row says so; the built-in row does not."""
    king = house_rule("king_under_the_ace")
    assert engine.legal(king, "4H KH", "AH") == "KH"
    assert engine.legal(king, "4H KH", "QH") == "4H KH"
    assert engine.legal(king, "2H KH", "AH") == "KH"
    assert engine.legal(king, "2H KH", "3H QH") == "2H KH"
    assert engine.legal(king, "2H KH", "3C") == "KH"
    assert engine.legal(king, "2C KC", "AC") == "2C KC"
    assert engine.legal("king_of_hearts", "4H KH", "AH") == "4H KH"
    assert engine.legal("king_of_hearts", "2H KH", "AH") == "2H KH"


@clause("B-8.1", binds=True)
def test_last_two_tricks_of_ones_own(engine: Engine, house_rule: Callable[[str], AnyRow]) -> None:
    """B-8.1 binds: -180 for each of the last two, and nothing else."""
    row = house_rule("rifki_last_two")
    game = engine.deal(row, any_card=True)
    gains = [game.play(f"{r}C {r}D {r}H {r}S")[0] for r in RANKS]
    assert gains == [0] * 11 + [-180, -180]
    rng = random.Random(3)
    game = engine.deal(row, random_hands(rng), 1)
    gains = []
    while not game.over:
        gains.append(sum(game.play(rng.choice(game.legal()))))
    assert gains == [0] * 47 + [-180] + [0] * 3 + [-180]


@clause("B-8.1", binds=True)
def test_hearts_of_ones_own(engine: Engine, house_rule: Callable[[str], AnyRow]) -> None:
    """B-8.1 binds: 1 a heart and 13 for the Queen of spades, 26 in all, with early stop too."""
    row = house_rule("hearts_scoring")
    game = engine.deal(row, any_card=True)
    gains = [game.play(f"{r}C {r}D {r}H {r}S")[0] for r in RANKS]
    assert gains == [1] * 10 + [14, 1, 1]
    rng = random.Random(26)
    for _ in range(3):
        short, full = stopped_and_full(engine, row, rng)
        assert sum(full.points()) == 26
        assert short.points() == full.points()
    assert engine.gain(row, 5, "QS 2H AH KS") == 15
    assert engine.legal(row, "2D 3H QS", "4C") == "2D 3H QS"


@clause("B-8.1", binds=True)
def test_a_row_that_uses_everything(engine: Engine) -> None:
    """B-8.1 binds: trumps before tiers, tiers in their order, a duty in the trump suit, a plain lock."""
    row = HOUSE_RULES[3]
    assert engine.legal(row, "2D 3H 4S", trump="H") == "3H 4S"  # diamonds are locked, not trumps
    assert engine.legal(row, "2D 3H 4S", seen="5D 6D 7D 8D", trump="H") == "2D 3H 4S"
    assert engine.legal(row, "2H JH AH", "KH", trump="H") == "AH"
    assert engine.legal(row, "2H JH QH", "KH", trump="H") == "JH"
    assert engine.legal(row, "2H TH QH", "KH", trump="H") == "2H TH QH"
    assert engine.legal(row, "2S QS", "KS 2H", trump="H") == "QS"
    assert engine.legal(row, "2C QS 9H", "4D", trump="C") == "2C"
    assert engine.legal(row, "QS AS 9H", "4D", trump="C") == "QS"
    assert engine.legal(row, "AS KS 9H", "4D", trump="C") == "KS AS"
    assert engine.legal(row, "9H 3S", "4D", trump="C") == "9H"
    assert engine.legal(row, "3S 4S", "4D", trump="C") == "3S 4S"


@clause("B-8.1", binds=True)
def test_rows_can_combine_everything(engine: Engine) -> None:
    """B-8.1 binds: trumps, a locked plain suit, void tiers and duties in one row."""
    row = engine.row(
        card_points={"QS": -50},
        trick_points=5,
        trick_number_points={1: 100},
        locked_suit="D",
        void_tiers=[["QS"], ["AS", "KS"]],
        under_duty=["QS", "JH"],
        trumps=True,
    )
    # Only the named suit is locked, trumps are not.
    assert engine.legal(row, "2D 3H 4S", trump="H") == "3H 4S"
    assert engine.legal(row, "2D 3H 4S", seen="5D 6D 7D 8D", trump="H") == "2D 3H 4S"
    assert engine.legal(row, "2D 3D", trump="H") == "2D 3D"
    # A trump lead: first a higher trump, then the covered duty cards, then the rest.
    assert engine.legal(row, "2H JH AH", "KH", trump="H") == "AH"
    assert engine.legal(row, "2H JH QH", "KH", trump="H") == "JH"
    assert engine.legal(row, "2H TH QH", "KH", trump="H") == "2H TH QH"
    # A plain lead: the covered duty card, even though the trick was trumped.
    assert engine.legal(row, "2S QS", "KS 2H", trump="H") == "QS"
    assert engine.legal(row, "2S QS AS", "JS 2H", trump="H") == "2S QS AS"
    # Void: trumps come before the tiers, tiers in their order, then any card.
    assert engine.legal(row, "2H 3S QS", "4C", trump="H") == "2H"
    assert engine.legal(row, "3S QS AS", "4C", trump="H") == "QS"
    assert engine.legal(row, "3S KS AS", "4C", trump="H") == "KS AS"
    assert engine.legal(row, "3S 2D", "4C", trump="H") == "2D 3S"
    assert engine.gain(row, 1, "QS 2S 3S 4S") == 55
    assert engine.deal(row).legal()[0] == "trump:C"


@clause("B-8.1", binds=False)
@pytest.mark.parametrize(
    ("words", "kernel", "reference"),
    [
        ({"card_points": {"1H": 3}}, "card_points", "card_points"),
        ({"trick_number_points": {14: 3}}, "trick_number_points", "trick_number_points"),
        ({"locked_suit": "X"}, "locked_suit", "locked_suit"),
        ({"locked_suit": "trump"}, "locked_suit", "no trumps"),
        ({"void_tiers": [["10H"]]}, "void_tiers", "10H"),
        ({"under_duty": ["HK"]}, "under_duty", "HK"),
    ],
)
def test_what_is_no_row(engine: Engine, words: dict[str, Any], kernel: str, reference: str) -> None:
    """B-8.1 does not bind: what says nothing sensible is refused."""
    message = kernel if engine.name == "kernel" else f"wrong: .*{reference}"
    with pytest.raises(ValueError, match=message):
        engine.row(**words)


@clause("B-8.1", binds=False)
def test_a_tier_that_names_no_new_card_is_refused() -> None:
    """B-8.1 does not bind: an earlier tier has the only card of the second."""
    with pytest.raises(ValueError, match="void_tiers"):
        Contract(name="wrong", void_tiers=[["Q"], ["QH"]])


def test_every_clause_is_tested_with_both_engines() -> None:
    """Each clause has a test where it binds and one where it does not."""
    numbers = {1: 5, 2: 1, 3: 3, 4: 7, 5: 7, 6: 1, 7: 3, 8: 1}
    ids = [f"B-{part}.{n}" for part, last in numbers.items() for n in range(1, last + 1)]
    marks = clauses_shared(sys.modules[__name__])
    assert marks == {(one, binds) for one in ids for binds in (True, False)}
