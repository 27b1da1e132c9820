"""Bolola's kernels against the rulebook, clause by clause, cards as text.

Each clause has tests in which it binds and tests in which it looks as if it might, but does not.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from bolola_env.contracts import CONTRACTS, Contract
from bolola_env.game import setup as bolola_setup
from tests.clauses import clause
from tests.helpers import HOUSE_RULES, Table, card_bits

ALL = list(CONTRACTS)
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

#: Seat 0 holds the clubs, seat 1 the diamonds, seat 2 the hearts, seat 3 the spades.
SUITED = "N:...AKQJT98765432 ..AKQJT98765432. .AKQJT98765432.. AKQJT98765432..."
#: The same with the lowest club and the lowest heart changed over.
SWAPPED = "N:.2..AKQJT9876543 ..AKQJT98765432. .AKQJT9876543..2 AKQJT98765432..."


def legal(
    contract: str | Contract,
    hand: str,
    trick: str = "",
    *,
    seen: str = "",
    trump: str | None = None,
) -> str:
    """Legal cards of a hand, found by the kernel.

    ``trick`` are the cards of the current trick, ``seen`` those of earlier tricks, four each. The cards are played through
    the kernel; only the hands are written to the record.
    """
    table = Table(contract, starter=0, trump=trump)
    bits = card_bits(hand.split())
    config = table.config.copy()
    config["hands"] = bits
    config["given"] = 1
    config.flags.writeable = False
    table.drivers.begin(config, table.states, 0, 0, 0, 1)
    assert len(seen.split()) % 4 == 0
    for card in [*seen.split(), *trick.split()]:
        table.states["hands"] = bits
        table.states["hands"][0, table.seat] = bits | card_bits([card])
        table.force(card)
    return " ".join(table.legal())


def winner(trick: str, *, contract: str = "no_tricks", trump: str | None = None) -> str:
    """The card that takes a trick of four cards, played through the kernel."""
    table = Table(contract, starter=2, trump=trump)
    cards = trick.split()
    for card in cards:
        table.states["hands"][0, table.seat] = card_bits([card])
        table.force(card)
    assert table.seat is not None
    assert table.field("leader") == table.seat
    assert table.field("taken") == [int(seat == table.seat) for seat in range(4)]
    return cards[(table.seat - 2) % 4]


def give(table: Table, cards: str) -> list[float]:
    """Play cards whether they are legal or not; what the last one gave."""
    for card in cards.split():
        table.force(card)
    return table.gain()


# ---------------------------------------------------------------------------- cards, seats, tricks


@clause("B-1.1", binds=True)
def test_thirteen_cards_each_and_the_order_of_ranks() -> None:
    """B-1.1 binds: every card once, 13 a seat; the Ace beats the King beats ... the 2."""
    for number in range(20):
        hands = Table("hearts", seed=5, number=number).hands()
        assert [len(hand) for hand in hands] == [13] * 4
        assert len({card for hand in hands for card in hand}) == 52
    ranks = "23456789TJQKA"
    for low, high in pairwise(ranks):
        assert winner(f"{low}S {high}S 2C 2D") == f"{high}S"


@clause("B-1.1", binds=False)
def test_suits_may_lie_as_they_will() -> None:
    """B-1.1 does not bind: a hand of one suit is a hand."""
    table = Table("bolola", deal=SUITED, starter=2)
    assert table.hands()[2] == table.legal()
    assert len(table.legal()) == 13


@clause("B-1.2", binds=True)
def test_seats_in_turn_and_the_winner_leads() -> None:
    """B-1.2 binds: starter 3, then 0, 1, 2; then whoever took the trick."""
    table = Table("no_tricks", deal=SWAPPED, starter=2)
    turns = []
    for card in ("2C", "9S", "5C", "KD"):
        turns.append(table.seat)
        table.play(card)
    assert turns == [2, 3, 0, 1]
    assert table.seat == 0
    assert table.points() == [-50, 0, 0, 0]


@clause("B-1.2", binds=False)
def test_the_starter_leads_once() -> None:
    """B-1.2 does not bind: the starter has no say in the second trick unless it took the first."""
    table = Table("no_tricks", deal=SWAPPED, starter=2)
    table.play("2C 9S 5C KD")
    assert table.field("starter") == 2
    assert "AH" not in table.legal()
    table.play("6C 2D 3H 2S")
    assert table.seat == 0


@clause("B-1.3", binds=True)
@pytest.mark.parametrize("contract", ALL)
def test_suit_is_followed(contract: str) -> None:
    """B-1.3 binds: cards that are a duty when void stay in the hand."""
    assert legal(contract, "4S 8S KH QD JC AC", "TS", trump="C") == "4S 8S"


@clause("B-1.3", binds=False)
@pytest.mark.parametrize("contract", ALL)
def test_no_suit_to_follow(contract: str) -> None:
    """B-1.3 does not bind: nothing of the suit led in the hand."""
    assert legal(contract, "4C 8C 9D", "TS", trump="H") == "4C 8C 9D"


@clause("B-1.4", binds=True)
def test_highest_of_the_suit_or_highest_trump_takes() -> None:
    """B-1.4 binds: other suits never take; in trump the highest trump does."""
    assert winner("7D AC AH AS") == "7D"
    assert winner("7D 9D AH 8D") == "9D"
    assert winner("7D AD 2C AS", contract="trump", trump="C") == "2C"
    assert winner("7D 4C 2C AS", contract="trump", trump="C") == "4C"
    assert winner("7D 4C JC 5C", contract="trump", trump="C") == "JC"
    assert winner("7C 4C AD QC", contract="trump", trump="C") == "QC"
    assert winner("7D 2C KD AD", contract="trump", trump="C") == "2C"


@clause("B-1.4", binds=False)
def test_no_trump_in_the_trick() -> None:
    """B-1.4 does not bind: no trump fell; and no other contract has trumps, whatever is fixed."""
    assert winner("7D AD AH AS", contract="trump", trump="C") == "AD"
    assert winner("7D AD AC AS", contract="bolola", trump="C") == "AD"
    assert [name for name, row in CONTRACTS.items() if row.trumps] == ["trump"]


@clause("B-1.5", binds=True)
def test_all_thirteen_tricks_are_played() -> None:
    """B-1.5 binds: the only point fell in the first trick, and 12 tricks follow."""
    table = Table("king_of_hearts", deal=SUITED, starter=0)
    assert table.play("3C 3D KH 3S") == [-320, 0, 0, 0]
    assert len(table.random_play(random.Random(1))) == 48
    assert table.field("trick_number") == 13
    assert table.legal() == []
    assert table.points() == [-320, 0, 0, 0]


@clause("B-1.5", binds=False)
def test_early_stop_ends_with_the_last_point() -> None:
    """B-1.5 does not bind: with the option the deal ends when the trick is full, not before."""
    table = Table(bolola_setup("king_of_hearts", early_stop=True), deal=SUITED, starter=0)
    table.play("3C 3D KH")
    assert table.seat == 3
    assert table.play("3S") == [-320, 0, 0, 0]
    assert table.over
    assert table.legal() == []


@clause("B-1.5", binds=True)
@pytest.mark.parametrize("contract", ["no_tricks", "trump", "last_two", "all_penalties", "bolola"])
def test_early_stop_never_shortens_these(contract: str) -> None:
    """B-1.5 binds: where every trick or the last one scores, the option changes nothing."""
    table = Table(bolola_setup(contract, early_stop=True, trump="D"), seed=2)
    assert len(table.random_play(random.Random(contract))) == 52


# ---------------------------------------------------------------------------- what scores


@clause("B-2.1", binds=True)
@pytest.mark.parametrize(("contract", "sign"), [("all_penalties", -1), ("bolola", 1)])
def test_one_card_scores_under_every_heading(contract: str, sign: int) -> None:
    """B-2.1 binds: the King of hearts is a King, a heart and itself."""
    table = Table(contract, deal=SUITED, starter=0)
    assert give(table, "3C 3D KH 3S")[0] == sign * (15 + 20 + 10 + 95)
    assert give(table, "4C 4D QH 4S")[0] == sign * (15 + 30 + 10)
    assert give(table, "5C 5D JH 5S")[0] == sign * (15 + 20 + 10)


@clause("B-2.1", binds=False)
def test_cards_of_one_kind_score_once() -> None:
    """B-2.1 does not bind: plain hearts, honours of other suits; one heading in the other contracts."""
    table = Table("all_penalties", deal=SUITED, starter=0)
    assert give(table, "3C 3D 2H 3S")[0] == -15 - 10
    assert give(table, "KC KD AH AS")[0] == -15 - 20 - 20 - 10
    table = Table("king_of_hearts", deal=SUITED, starter=0)
    assert give(table, "KC KD KH KS")[0] == -320
    table = Table("hearts", deal=SUITED, starter=0)
    assert give(table, "KC KD KH KS")[0] == -30


@pytest.mark.parametrize("contract", ALL)
def test_totals(contract: str) -> None:
    """The points of a deal add up to the table's total, and so do the gains."""
    rng = random.Random(contract)
    for number in range(5):
        table = Table(contract, seed=1, number=number)
        sums = [0.0] * 4
        while not table.over:
            gain = table.play(rng.choice(table.legal()))
            sums = [a + b for a, b in zip(sums, gain, strict=True)]
        assert sums == table.points()
        assert sum(sums) == TOTALS[contract] == CONTRACTS[contract].total


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
def test_points_trick_by_trick(contract: str, gains: list[int]) -> None:
    """Everybody follows with the next higher card of the own suit; seat 0 takes all."""
    table = Table(contract, deal=SUITED, starter=0)
    got = [give(table, f"{rank}C {rank}D {rank}H {rank}S") for rank in "23456789TJQKA"]
    assert got == [[gain, 0, 0, 0] for gain in gains]


# ---------------------------------------------------------------------------- leading


@clause("B-3.1", binds=True)
@pytest.mark.parametrize("contract", ["no_tricks", "jacks_kings", "queens", "last_two"])
def test_everything_may_be_led(contract: str) -> None:
    """B-3.1 binds: hearts and honours from the first trick on."""
    assert legal(contract, "3C QD KH 2H JS") == "3C QD 2H KH JS"


@clause("B-3.1", binds=False)
@pytest.mark.parametrize("contract", HEART_LOCKED)
def test_not_everything_may_be_led(contract: str) -> None:
    """B-3.1 does not bind: four other contracts keep hearts back."""
    assert legal(contract, "3C QD KH 2H JS") == "3C QD JS"


@clause("B-3.2", binds=True)
@pytest.mark.parametrize("contract", HEART_LOCKED)
def test_hearts_closed(contract: str) -> None:
    """B-3.2 binds: no heart has been played, many other cards have."""
    assert legal(contract, "9D KH", seen="AS KS QS JS 2C 3C 4C 5C") == "9D"


@clause("B-3.2", binds=False)
@pytest.mark.parametrize("contract", HEART_LOCKED)
def test_hearts_open(contract: str) -> None:
    """B-3.2 does not bind: a heart was discarded, led or followed, or there is nothing else."""
    assert legal(contract, "9D KH", seen="AS KS QS 2H") == "9D KH"
    assert legal(contract, "9D KH", seen="AS KS QS JS 2H 3H 4H 5H 2C 3C 4C 5C") == "9D KH"
    assert legal(contract, "2H KH") == "2H KH"


@clause("B-3.2", binds=True)
@clause("B-3.2", binds=False)
def test_a_discarded_heart_opens_the_next_lead() -> None:
    """B-3.2 binds in trick 1, and no longer in trick 2."""
    deal = "N:5432.3.5432.AKQJ AKQ.A2.AKQJT987. .KQJT98765..T987 JT9876.4.6.65432"
    table = Table("hearts", deal=deal, starter=0)
    assert "3H" not in table.legal()
    table.play("AC 2H TC 6C")
    assert table.seat == 0
    assert "3H" in table.legal()


@clause("B-3.3", binds=True)
def test_trumps_closed() -> None:
    """B-3.3 binds: no trump has been played; hearts are nothing special here."""
    assert legal("trump", "9D KH AS", trump="D") == "KH AS"
    assert legal("trump", "9D KH AS", trump="D", seen="AC KC 2H 3H") == "KH AS"


@clause("B-3.3", binds=False)
def test_trumps_open() -> None:
    """B-3.3 does not bind: a trump fell in an earlier trick, or trumps are all there is."""
    assert legal("trump", "9D KH AS", trump="D", seen="AC KC 2D 3H") == "9D KH AS"
    assert legal("trump", "9D AD", trump="D") == "9D AD"


# ---------------------------------------------------------------------------- following suit


@clause("B-4.1", binds=True)
@pytest.mark.parametrize(
    "contract", ["no_tricks", "hearts", "last_two", "king_of_hearts", "bolola"]
)
def test_any_card_of_the_suit(contract: str) -> None:
    """B-4.1 binds: nothing must go under an Ace, the King of hearts neither."""
    assert legal(contract, "4H JH QH KH 9S", "AH 2H") == "4H JH QH KH"
    assert legal(contract, "4D JD QD KD 9S", "AD 2D") == "4D JD QD KD"


@clause("B-4.1", binds=False)
@pytest.mark.parametrize("contract", ["jacks_kings", "queens", "all_penalties"])
def test_not_any_card_of_the_suit(contract: str) -> None:
    """B-4.1 does not bind: three other contracts have duties under a higher card."""
    assert "4D" not in legal(contract, "4D JD QD KD 9S", "AD 2D")


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
    ],
)
def test_covered_jacks_and_kings(hand: str, trick: str, expected: str) -> None:
    """B-4.2 binds: one of the covered; between two covered ones the player chooses."""
    assert legal("jacks_kings", hand, trick) == expected


@clause("B-4.2", binds=False)
@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        ("4D JD", "TD", "4D JD"),
        ("4D KD", "QD JD", "4D KD"),
        ("4D JD KD", "9D TD 2D", "4D JD KD"),
        ("4D QD", "AD", "4D QD"),
    ],
)
def test_uncovered_jacks_and_kings(hand: str, trick: str, expected: str) -> None:
    """B-4.2 does not bind: nothing higher lies there, or there is no Jack or King."""
    assert legal("jacks_kings", hand, trick) == expected


@clause("B-4.3", binds=True)
@pytest.mark.parametrize("trick", ["KH", "AH", "2H KH", "2H 3C AH"])
def test_a_covered_queen(trick: str) -> None:
    """B-4.3 binds: under a King or an Ace."""
    assert legal("queens", "9H JH QH 2S", trick) == "QH"


@clause("B-4.3", binds=False)
@pytest.mark.parametrize("trick", ["JH", "TH 4H", "4H AS KC"])
def test_an_uncovered_queen(trick: str) -> None:
    """B-4.3 does not bind: nothing over the Queen; Jacks and Kings are free under an Ace."""
    assert legal("queens", "9H QH KH 2S", trick) == "9H QH KH"
    assert legal("queens", "9H JH KH", "AH") == "9H JH KH"


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
    ],
)
def test_covered_in_all_penalties(hand: str, trick: str, expected: str) -> None:
    """B-4.4 binds: any covered Jack, Queen or King."""
    assert legal("all_penalties", hand, trick) == expected


@clause("B-4.4", binds=False)
@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        ("4S JS QS KS", "TS", "4S JS QS KS"),
        ("4S KS", "QS", "4S KS"),
        ("4S QS", "JS", "4S QS"),
        ("4H 9H", "AH", "4H 9H"),
    ],
)
def test_uncovered_in_all_penalties(hand: str, trick: str, expected: str) -> None:
    """B-4.4 does not bind: none of the three is covered; a plain heart is a duty when void only."""
    assert legal("all_penalties", hand, trick) == expected


@clause("B-4.5", binds=True)
@pytest.mark.parametrize("contract", ["jacks_kings", "queens", "all_penalties"])
def test_other_suits_and_earlier_tricks_cover_nothing(contract: str) -> None:
    """B-4.5 binds: Aces of other suits in the trick, and the King and Ace of an earlier one."""
    assert legal(contract, "4D JD QD", "5D AS KC", seen="AD KD 2D 3D") == "4D JD QD"


@clause("B-4.5", binds=False)
@pytest.mark.parametrize("trick", ["KD 5D 2S", "5D KD 2S", "5D 2S KD"])
def test_the_suit_led_covers_from_any_place(trick: str) -> None:
    """B-4.5 does not bind: the higher card of the suit led may lie anywhere in the trick."""
    assert legal("jacks_kings", "4D JD", trick) == "JD"
    assert legal("queens", "4D QD", trick) == "QD"


@clause("B-4.6", binds=True)
def test_a_trump_lead_is_beaten() -> None:
    """B-4.6 binds: above the highest trump in the trick, whoever played it."""
    assert legal("trump", "3H 9H QH 2C", "8H", trump="H") == "9H QH"
    assert legal("trump", "3H 9H QH 2C", "8H JH 2S", trump="H") == "QH"


@clause("B-4.6", binds=False)
def test_a_trump_lead_that_cannot_be_beaten() -> None:
    """B-4.6 does not bind: nothing higher, then any trump; or hearts are led and not trump."""
    assert legal("trump", "3H 9H QH 2C", "8H KH", trump="H") == "3H 9H QH"
    assert legal("trump", "3H 9H QH 2C", "8H", trump="C") == "3H 9H QH"


@clause("B-4.6", binds=False)
@clause("B-5.7", binds=False)
def test_trumps_of_earlier_tricks_need_not_be_beaten() -> None:
    """B-4.6, B-5.7 do not bind: only the current trick counts."""
    assert legal("trump", "3H 9H", "2H", seen="KC AH KH QH", trump="H") == "3H 9H"
    assert legal("trump", "3H 9H", "8C", seen="KC AH KH QH", trump="H") == "3H 9H"


@clause("B-4.7", binds=True)
def test_a_plain_lead_need_not_be_beaten() -> None:
    """B-4.7 binds: any card of the suit, before and after a ruff."""
    assert legal("trump", "3C 9C AC KH", "8C", trump="H") == "3C 9C AC"
    assert legal("trump", "3C 9C AC KH", "8C 2H", trump="H") == "3C 9C AC"


@clause("B-4.7", binds=False)
def test_a_plain_lead_without_the_suit() -> None:
    """B-4.7 does not bind: nothing of the plain suit, or the suit led is trump."""
    assert legal("trump", "3D 9D KH", "8C", trump="H") == "KH"
    assert legal("trump", "3C 9C", "8C", trump="C") == "9C"


# ---------------------------------------------------------------------------- void


@clause("B-5.1", binds=True)
@pytest.mark.parametrize("contract", ["no_tricks", "last_two", "bolola"])
def test_void_and_free(contract: str) -> None:
    """B-5.1 binds: no card is a duty."""
    assert legal(contract, "2D QD KH JS", "9C") == "2D QD KH JS"


@clause("B-5.1", binds=False)
@pytest.mark.parametrize("contract", sorted({*ALL} - {"no_tricks", "last_two", "bolola"}))
def test_void_and_bound(contract: str) -> None:
    """B-5.1 does not bind: in the six other contracts the 2 of diamonds has to wait."""
    assert "2D" not in legal(contract, "2D QD KH JS", "9C", trump="H")


@clause("B-5.2", binds=True)
def test_void_jacks_and_kings() -> None:
    """B-5.2 binds: Jacks and Kings of any suit, with nothing over them."""
    assert legal("jacks_kings", "2D JD QD KH AH JS", "9C") == "JD KH JS"
    assert legal("jacks_kings", "2D AH KS", "9C TC") == "KS"


@clause("B-5.2", binds=False)
def test_void_without_jacks_and_kings() -> None:
    """B-5.2 does not bind: none in the hand."""
    assert legal("jacks_kings", "2D QD AH 9S", "8C") == "2D QD AH 9S"


@clause("B-5.3", binds=True)
def test_void_queens() -> None:
    """B-5.3 binds: either Queen."""
    assert legal("queens", "2D QD KH QS", "9C") == "QD QS"


@clause("B-5.3", binds=False)
def test_void_without_queens() -> None:
    """B-5.3 does not bind: no Queen; other honours are free."""
    assert legal("queens", "2D KH JS", "9C") == "2D KH JS"


@clause("B-5.4", binds=True)
def test_void_hearts() -> None:
    """B-5.4 binds: any heart, in the first trick too."""
    assert legal("hearts", "2D 4H KH AS", "9C") == "4H KH"


@clause("B-5.4", binds=False)
def test_void_without_hearts() -> None:
    """B-5.4 does not bind: no heart."""
    assert legal("hearts", "2D KD AS", "9C 2H") == "2D KD AS"


@clause("B-5.5", binds=True)
def test_void_king_of_hearts() -> None:
    """B-5.5 binds: the King of hearts first, then hearts."""
    assert legal("king_of_hearts", "2D 4H KH AH KS", "9C") == "KH"
    assert legal("king_of_hearts", "2D 4H AH KS", "9C") == "4H AH"


@clause("B-5.5", binds=False)
def test_void_without_king_of_hearts_and_hearts() -> None:
    """B-5.5 does not bind: no heart; the other Kings are free."""
    assert legal("king_of_hearts", "2D KD KS", "9C") == "2D KD KS"


@clause("B-5.6", binds=True)
def test_void_all_penalties() -> None:
    """B-5.6 binds: Jacks, Queens, Kings and hearts are one choice."""
    assert legal("all_penalties", "2D JD 4H KH QS AS", "9C") == "JD 4H KH QS"


@clause("B-5.6", binds=False)
def test_void_without_penalties() -> None:
    """B-5.6 does not bind: nothing that scores by itself."""
    assert legal("all_penalties", "2D TD AS", "9C") == "2D TD AS"


@clause("B-5.7", binds=True)
def test_void_in_trump() -> None:
    """B-5.7 binds: ruff, over-ruff, and under-ruff where that is all there is."""
    assert legal("trump", "2D 5H QH", "9C", trump="H") == "5H QH"
    assert legal("trump", "2D 5H QH", "9C 8H", trump="H") == "QH"
    assert legal("trump", "2D 5H 7H", "9C 8H", trump="H") == "5H 7H"
    assert legal("trump", "2D 5H JH AH", "9C 8H KH", trump="H") == "AH"


@clause("B-5.7", binds=False)
def test_void_in_trump_without_trumps() -> None:
    """B-5.7 does not bind: no trump in the hand, after a plain lead, a ruff and a trump lead."""
    assert legal("trump", "2D KS", "9C", trump="H") == "2D KS"
    assert legal("trump", "2D KS", "9C 2H", trump="H") == "2D KS"
    assert legal("trump", "2D KS", "2H", trump="H") == "2D KS"


# ---------------------------------------------------------------------------- naming trump


@clause("B-6.1", binds=True)
@pytest.mark.parametrize("suit", "CDHS")
def test_the_starter_names_a_suit(suit: str) -> None:
    """B-6.1 binds: four names, 13 cards in the hand, then the same seat leads."""
    table = Table("trump", deal=SUITED, starter=1)
    assert table.seat == 1
    assert table.legal() == ["trump:C", "trump:D", "trump:H", "trump:S"]
    assert len(table.hands()[1]) == 13
    assert table.play(f"trump:{suit}") == [0, 0, 0, 0]
    assert (table.seat, table.field("trump")) == (1, "CDHS".index(suit))
    assert table.legal() == table.hands()[1]


@clause("B-6.1", binds=False)
def test_nobody_names_a_suit() -> None:
    """B-6.1 does not bind: fixed by option, fixed for one deal (which comes first), or no trumps."""
    fixed = bolola_setup("trump", trump="H")
    table = Table(fixed, seed=1)
    assert table.field("trump") == 2
    assert table.legal()[0][0] != "t"
    assert Table(fixed, trump="S").field("trump") == 3
    table = Table("trump", deal=SUITED, starter=0, trump="S")
    assert table.play("3C 3D 3H 3S") == [0, 0, 0, 50]
    for contract in {*ALL} - {"trump"}:
        table = Table(bolola_setup(contract, trump="H"), seed=1)
        assert table.field("trump") == -1
        assert table.legal()[0][0] != "t"


# ---------------------------------------------------------------------------- the match


@clause("B-7.1", binds=True)
def test_a_match_is_twelve_deals_that_sum_to_zero() -> None:
    """B-7.1 binds: deal by deal the totals of the nine contracts in the fixed order."""
    order = ["no_tricks", "jacks_kings", "queens", "hearts", "last_two", "king_of_hearts"]
    order += ["all_penalties", "trump", "trump", "trump", "trump", "bolola"]
    table = Table("match", seed=4)
    rng = random.Random(1)
    sums = [0.0] * 12
    while not table.over:
        number = table.field("deal")
        sums[number] += sum(table.play(rng.choice(table.legal())))
    assert sums == [TOTALS[name] for name in order]
    assert sum(table.points()) == 0


@clause("B-7.1", binds=False)
def test_the_order_is_an_option() -> None:
    """B-7.1 does not bind: another order, of rows too, and fewer deals."""
    setup = bolola_setup("match", order=[HOUSE_RULES[2], "bolola"])
    table = Table(setup, seed=1)
    table.random_play(random.Random(1))
    assert table.field("deal") == 1
    assert sum(table.points()) == 26 + 800


@clause("B-7.2", binds=True)
@pytest.mark.parametrize("starter", range(4))
def test_each_seat_starts_three_deals(starter: int) -> None:
    """B-7.2 binds: the next seat starts the next deal; each seat names trump once."""
    table = Table("match", starter=starter)
    rng = random.Random(starter)
    starters: dict[int, int | None] = {}
    namers = []
    while not table.over:
        starters.setdefault(table.field("deal"), table.seat)
        if table.legal()[0] == "trump:C":
            namers.append(table.seat)
        table.force(rng.choice(table.legal()))
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
def test_the_last_trick_does_not_start_the_next_deal() -> None:
    """B-7.2 does not bind: seat 0 takes all of deal 1, seat 1 starts deal 2; and an option fixes it."""
    setup = bolola_setup("match", order=["no_tricks", "bolola"])
    table = Table(setup, deal=[SUITED], starter=0)
    while table.field("deal") == 0:
        table.force(table.legal()[0])
    assert table.points() == [-650, 0, 0, 0]
    assert table.seat == 1
    assert {Table(bolola_setup("match", starter=3), number=n).seat for n in range(9)} == {3}


@clause("B-7.3", binds=True)
@pytest.mark.parametrize("contract", ALL)
def test_wild_hands_are_played_out(contract: str) -> None:
    """B-7.3 binds: one hand takes everything, and 52 cards are played all the same."""
    table = Table(bolola_setup("match", order=[contract, "bolola"], trump="S"), deal=[SUITED])
    cards = 0
    while table.field("deal") == 0:
        table.force(table.legal()[0])
        cards += 1
    assert cards == 52
    assert sorted(map(abs, table.points())) == [0, 0, 0, abs(TOTALS[contract])]


@clause("B-7.3", binds=True)
def test_there_is_no_no_trump() -> None:
    """B-7.3 binds: four names and no fifth."""
    assert sum(action.startswith("trump:") for action in Table("trump").game.actions) == 4


@clause("B-7.3", binds=False)
def test_early_stop_goes_on_with_the_match() -> None:
    """B-7.3 does not bind: ending with the last point is no redeal and no instant win."""
    setup = bolola_setup("match", order=["king_of_hearts", "bolola"], early_stop=True)
    table = Table(setup, deal=[SUITED], starter=0)
    assert table.play("3C 3D KH 3S") == [-320, 0, 0, 0]
    assert (table.field("deal"), table.seat) == (1, 1)
    assert [len(hand) for hand in table.hands()] == [13] * 4


# ---------------------------------------------------------------------------- house rules


@clause("B-8.1", binds=True)
@clause("B-8.1", binds=False)
def test_a_row_of_ones_own() -> None:
    """B-8.1 binds: the King under the Ace, if the row says so; the built-in row does not."""
    king = next(row for row in HOUSE_RULES if row.name == "king_under_the_ace")
    assert legal(king, "4H KH", "AH") == "KH"
    assert legal(king, "4H KH", "QH") == "4H KH"
    assert legal("king_of_hearts", "4H KH", "AH") == "4H KH"


@clause("B-8.1", binds=True)
def test_scores_of_ones_own() -> None:
    """B-8.1 binds: -180 for each of the last two; 1 a heart and 13 for the Queen of spades."""
    last_two = Table(HOUSE_RULES[0], deal=SUITED, starter=0)
    ranks = "23456789TJQKA"
    gains = [give(last_two, f"{r}C {r}D {r}H {r}S")[0] for r in ranks]
    assert gains == [0] * 11 + [-180, -180]
    hearts = Table(HOUSE_RULES[2], deal=SUITED, starter=0)
    gains = [give(hearts, f"{r}C {r}D {r}H {r}S")[0] for r in ranks]
    assert gains == [1] * 10 + [14, 1, 1]


@clause("B-8.1", binds=True)
def test_a_row_that_uses_everything() -> None:
    """B-8.1 binds: trumps before tiers, tiers in their order, a duty in the trump suit, a plain lock."""
    row = HOUSE_RULES[3]
    assert legal(row, "2D 3H 4S", trump="H") == "3H 4S"  # diamonds are locked, trumps are not
    assert legal(row, "2D 3H 4S", seen="5D 6D 7D 8D", trump="H") == "2D 3H 4S"
    assert legal(row, "2H JH AH", "KH", trump="H") == "AH"
    assert legal(row, "2H JH QH", "KH", trump="H") == "JH"
    assert legal(row, "2H TH QH", "KH", trump="H") == "2H TH QH"
    assert legal(row, "2S QS", "KS 2H", trump="H") == "QS"
    assert legal(row, "2C QS 9H", "4D", trump="C") == "2C"
    assert legal(row, "QS AS 9H", "4D", trump="C") == "QS"
    assert legal(row, "AS KS 9H", "4D", trump="C") == "KS AS"
    assert legal(row, "9H 3S", "4D", trump="C") == "9H"
    assert legal(row, "3S 4S", "4D", trump="C") == "3S 4S"


@clause("B-8.1", binds=False)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"card_points": {"1H": 3}}, "card_points"),
        ({"trick_number_points": {14: 3}}, "trick_number_points"),
        ({"locked_suit": "trump"}, "locked_suit"),
        ({"void_tiers": [["Q"], ["QH"]]}, "void_tiers"),
        ({"under_duty": ["HK"]}, "under_duty"),
    ],
)
def test_what_is_no_row(words: dict[str, Any], message: str) -> None:
    """B-8.1 does not bind: what says nothing sensible is refused, field by field."""
    with pytest.raises(ValueError, match=message):
        Contract(name="wrong", **words)
