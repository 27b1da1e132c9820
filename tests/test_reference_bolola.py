"""The plain-Python Bolola engine against the rulebook, clause by clause, cards as text."""

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.clauses import clause, clauses_tested
from tests.reference.bolola import (
    DECK,
    HEARTS,
    MATCH_ORDER,
    RANKS,
    ROWS,
    Deal,
    Match,
    Position,
    Row,
    in_id_order,
    legal_cards,
    make_row,
    play_at_random,
    points_of_trick,
    random_hands,
    replay,
    skewed_hands,
    winning_card,
)

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases" / "bolola.jsonl").read_text().splitlines()
]
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
HEART_LOCKED = ["hearts", "king_of_hearts", "all_penalties", "bolola"]
UNLOCKED = ["no_tricks", "jacks_kings", "queens", "last_two"]
# Seat 0 has all clubs, seat 1 all diamonds, seat 2 all hearts, seat 3 all spades.
BY_SUIT = [[rank + suit for rank in RANKS] for suit in "CDHS"]


def legal(
    row: Row | str, hand: str, trick: str = "", *, seen: str = "", trump: str | None = None
) -> str:
    """Legal cards of the hand; `seen` are cards of earlier tricks."""
    row = ROWS[row] if isinstance(row, str) else row
    suits_played = frozenset(card[1] for card in (trick + " " + seen).split())
    position = Position(row, trump, tuple(trick.split()), suits_played)
    return " ".join(in_id_order(legal_cards(position, hand.split())))


def swapped(hands: list[list[str]], *swaps: str) -> list[list[str]]:
    """The hands with pairs of cards ("KH 2C") in each other's place."""
    place = {card: card for card in DECK}
    for swap in swaps:
        one, other = swap.split()
        place[one], place[other] = place[other], place[one]
    return [[place[card] for card in hand] for hand in hands]


def play_all(game: Deal | Match, actions: str) -> list[list[int]]:
    """Play the actions; what each gave."""
    return [game.play(action) for action in actions.split()]


# ---------------------------------------------------------------------------- known games


@pytest.mark.parametrize("contract", list(ROWS))
def test_cases_replay_exactly(contract: str) -> None:
    """Seat, all legal actions and points of every step, and the final points."""
    cases = [case for case in CASES if case["contract"] == contract]
    assert len(cases) == 20
    for case in cases:
        replay(case)


@pytest.mark.parametrize("change", ["seat", "legal", "given", "points", "longer", "shorter"])
def test_replay_notices(change: str) -> None:
    """A case that is wrong in one place does not replay."""
    case: dict[str, Any] = json.loads(json.dumps(CASES[0]))
    step = case["steps"][20]
    if change == "seat":
        step[0] = (step[0] + 1) % 4
    elif change == "legal":
        step[1].append("trump:C")
    elif change == "given":
        step[3][0] += 1
    elif change == "points":
        case["points"][0] += 1
    elif change == "longer":
        case["steps"].append(case["steps"][-1])
    else:
        case["steps"].pop()
    with pytest.raises(AssertionError):
        replay(case)


@pytest.mark.parametrize("contract", list(ROWS))
@pytest.mark.parametrize("deal_hands", [random_hands, skewed_hands])
def test_totals_of_random_play(contract: str, deal_hands: Any) -> None:
    """The points of a deal add up to the contract's total, and steps to the deal's points."""
    rng = random.Random(contract)
    for _ in range(5):
        deal = Deal(contract, deal_hands(rng), rng.randrange(4))
        sums = [0, 0, 0, 0]
        while not deal.over:
            given = deal.play(rng.choice(deal.legal()))
            sums = [one + other for one, other in zip(sums, given, strict=True)]
        assert sums == deal.points
        assert sum(sums) == TOTALS[contract]


# ---------------------------------------------------------------------------- cards, seats, tricks


@clause("B-1.1", binds=True)
def test_deck_and_order() -> None:
    """B-1.1 binds: 52 cards, ids 13 * suit + rank, and the Ace over the King over ... the 2."""
    assert len(set(DECK)) == 52
    assert (DECK[0], DECK[12], DECK[13], DECK[38], DECK[51]) == ("2C", "AC", "2D", "AH", "AS")
    for low, high in zip(RANKS, "3456789TJQKA", strict=False):
        assert winning_card([low + "D", high + "D", "2C", "2S"], None) == high + "D"


@clause("B-1.1", binds=True)
@pytest.mark.parametrize(
    "hands",
    [
        BY_SUIT[:3],
        [BY_SUIT[0] + ["2D"], BY_SUIT[1][1:], BY_SUIT[2], BY_SUIT[3]],
        [["2D", *BY_SUIT[0][1:]], *BY_SUIT[1:]],
    ],
    ids=["three hands", "14 and 12 cards", "a card twice"],
)
def test_wrong_deals_are_refused(hands: list[list[str]]) -> None:
    """B-1.1 binds: four hands of 13 different cards, nothing else."""
    with pytest.raises(ValueError, match="deal"):
        Deal("hearts", hands, 0)


@clause("B-1.1", binds=False)
def test_lopsided_deals_are_deals() -> None:
    """B-1.1 does not bind: how the suits lie is free."""
    assert Deal("hearts", BY_SUIT, 2).legal() == BY_SUIT[2]


@clause("B-1.2", binds=True)
def test_play_passes_on_and_the_winner_leads() -> None:
    """B-1.2 binds: starter 2, then 3, 0, 1; whoever took the trick leads the next."""
    deal = Deal("no_tricks", swapped(BY_SUIT, "AH 2C", "3H 3S"), 2)
    seats = []
    for action in ("4H", "3H", "AH", "5D"):
        seats.append(deal.seat)
        deal.play(action)
    assert seats == [2, 3, 0, 1]
    assert deal.tricks == [[(2, "4H"), (3, "3H"), (0, "AH"), (1, "5D")]]
    assert (deal.seat, deal.trick_number, deal.trick) == (0, 2, [])


@clause("B-1.2", binds=False)
def test_the_starter_has_no_further_privilege() -> None:
    """B-1.2 does not bind: after the first trick the starter leads only what the winner may."""
    deal = Deal("no_tricks", swapped(BY_SUIT, "AH 2C"), 2)
    play_all(deal, "4H 3S AH 5D")
    with pytest.raises(ValueError, match="seat 0 may not play '5H'"):
        deal.play("5H")


@clause("B-1.3", binds=True)
@pytest.mark.parametrize("contract", list(ROWS))
def test_the_suit_led_is_followed(contract: str) -> None:
    """B-1.3 binds: in all contracts, also against cards that would be a duty when void."""
    assert legal(contract, "3C 9C KD QD KH JS 5S", "4C", trump="S") == "3C 9C"


@clause("B-1.3", binds=False)
@pytest.mark.parametrize("contract", list(ROWS))
def test_without_the_suit_other_suits_are_played(contract: str) -> None:
    """B-1.3 does not bind: a hand without the suit led."""
    assert legal(contract, "3D 9D 5S", "4C", trump="C") == "3D 9D 5S"


@clause("B-1.4", binds=True)
def test_the_highest_of_the_suit_led_takes() -> None:
    """B-1.4 binds: higher cards of other suits do not take; the highest trump does."""
    assert winning_card(["5C", "KC", "AH", "AS"], None) == "KC"
    assert winning_card(["5C", "AH", "AS", "AD"], None) == "5C"
    assert winning_card(["5C", "AC", "2H", "AS"], "H") == "2H"
    assert winning_card(["5C", "3H", "2H", "AS"], "H") == "3H"
    assert winning_card(["5H", "3H", "TH", "AS"], "H") == "TH"


@clause("B-1.4", binds=False)
def test_without_a_trump_in_the_trick_the_suit_led_takes() -> None:
    """B-1.4 does not bind: no trump in the trick; and eight contracts have no trumps."""
    assert winning_card(["5C", "KC", "AH", "AS"], "D") == "KC"
    assert [name for name, row in ROWS.items() if row.trumps] == ["trump"]
    with pytest.raises(ValueError, match="trump is 'S'"):
        Deal("hearts", BY_SUIT, 0, trump="S")


@clause("B-1.4", binds=True)
def test_a_trump_takes_in_a_deal() -> None:
    """B-1.4 binds: the only trump takes the trick and its holder leads."""
    deal = Deal("trump", BY_SUIT, 0, trump="D")
    assert play_all(deal, "AC 2D AH AS") == [[0] * 4] * 3 + [[0, 50, 0, 0]]
    assert deal.seat == 1


# ---------------------------------------------------------------------------- early stop


def stopped_and_full(row: Row | str, hands: Any, rng: random.Random) -> tuple[Deal, Deal]:
    """The same random play with and without early stop."""
    full, short = Deal(row, hands, 0), Deal(row, hands, 0, early_stop=True)
    for action in play_at_random(full, rng):
        if not short.over:
            short.play(action)
    return short, full


@clause("B-1.5", binds=True)
def test_all_tricks_are_played() -> None:
    """B-1.5 binds: without the option a deal goes on after its last point."""
    deal = Deal("king_of_hearts", BY_SUIT, 0)
    assert play_all(deal, "AC AD KH AS")[-1] == [-320, 0, 0, 0]
    assert not deal.over
    play_at_random(deal, random.Random(1))
    assert (len(deal.tricks), deal.trick_number) == (13, 13)
    assert deal.points == [-320, 0, 0, 0]
    assert (deal.seat, deal.legal()) == (None, [])
    with pytest.raises(ValueError, match="over"):
        deal.play("2C")


@clause("B-1.5", binds=False)
def test_early_stop_ends_after_the_last_point() -> None:
    """B-1.5 does not bind: with `early_stop` the deal ends with the trick of the last point."""
    deal = Deal("king_of_hearts", BY_SUIT, 0, early_stop=True)
    play_all(deal, "AC AD KH")
    assert (deal.seat, deal.over) == (3, False)  # the trick is still played out
    deal.play("AS")
    assert (deal.seat, deal.over, deal.trick_number) == (None, True, 1)
    assert deal.legal() == []
    assert deal.points == [-320, 0, 0, 0]


@clause("B-1.5", binds=True)
@pytest.mark.parametrize("contract", list(ROWS))
def test_early_stop_keeps_the_returns(contract: str) -> None:
    """B-1.5 binds: the same returns, and never a shorter deal where the last trick scores."""
    rng = random.Random(contract)
    lengths = set()
    for _ in range(8):
        short, full = stopped_and_full(contract, random_hands(rng), rng)
        assert short.over
        assert short.points == full.points
        lengths.add(len(short.tricks))
    can_be_short = contract in ("jacks_kings", "queens", "hearts", "king_of_hearts")
    assert (min(lengths) < 13) == can_be_short


@clause("B-1.5", binds=False)
def test_early_stop_of_custom_rows() -> None:
    """B-1.5 does not bind: it is what later tricks give in sum that counts."""
    rng = random.Random(5)
    first_two = make_row(
        "first_two", trick_points=10, trick_number_points=dict.fromkeys(range(3, 14), -10)
    )
    short, full = stopped_and_full(first_two, random_hands(rng), rng)
    assert (len(short.tricks), len(full.tricks)) == (2, 13)
    short, _ = stopped_and_full(make_row("nothing"), random_hands(rng), rng)
    assert len(short.tricks) == 1
    last = make_row("last", trick_number_points={13: 1})
    short, _ = stopped_and_full(last, random_hands(rng), rng)
    assert len(short.tricks) == 13


# ---------------------------------------------------------------------------- what scores


@clause("B-2.1", binds=True)
@pytest.mark.parametrize(("contract", "sign"), [("all_penalties", -1), ("bolola", 1)])
def test_a_card_can_score_several_times(contract: str, sign: int) -> None:
    """B-2.1 binds: honours in hearts score as honours and as hearts, the King also as itself."""
    points = ROWS[contract].card_points
    assert points["KH"] == sign * (20 + 10 + 95)
    assert points["QH"] == sign * (30 + 10)
    assert points["JH"] == sign * (20 + 10)
    trick = ["KH", "QH", "2H", "3C"]
    assert points_of_trick(ROWS[contract], 12, trick) == sign * (15 + 40 + 125 + 40 + 10)
    assert points_of_trick(ROWS[contract], 13, trick) == sign * (15 + 60 + 125 + 40 + 10)
    assert sum(points.values()) + 13 * sign * 15 + sign * 100 == sign * 800


@clause("B-2.1", binds=False)
def test_other_cards_score_once() -> None:
    """B-2.1 does not bind: a card of one kind only, and the contracts with one kind of card."""
    points = ROWS["all_penalties"].card_points
    assert (points["JS"], points["QS"], points["KS"]) == (-20, -30, -20)
    assert (points["AH"], points["2H"], points["AS"], points["2C"]) == (-10, -10, 0, 0)
    assert ROWS["king_of_hearts"].card_points["KH"] == -320
    assert ROWS["hearts"].card_points["KH"] == -30
    assert ROWS["jacks_kings"].card_points["KH"] == -60


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
def test_points_of_a_trick(contract: str, number: int, trick: str, points: int) -> None:
    """The table of the nine contracts, a trick at a time."""
    assert points_of_trick(ROWS[contract], number, trick.split()) == points


@pytest.mark.parametrize("contract", list(ROWS))
def test_totals_of_the_table(contract: str) -> None:
    """The row itself adds up to the total of the table."""
    row = ROWS[contract]
    later = sum(row.trick_number_points.values())
    assert sum(row.card_points.values()) + 13 * row.trick_points + later == TOTALS[contract]


# ---------------------------------------------------------------------------- leading


@clause("B-3.1", binds=True)
@pytest.mark.parametrize("contract", UNLOCKED)
def test_any_card_may_be_led(contract: str) -> None:
    """B-3.1 binds: hearts and honours too, from the first trick on."""
    assert legal(contract, "2C JD KH QH 5S") == "2C JD QH KH 5S"


@clause("B-3.1", binds=False)
@pytest.mark.parametrize("contract", HEART_LOCKED)
def test_not_any_card_may_be_led_elsewhere(contract: str) -> None:
    """B-3.1 does not bind: the contracts with a locked suit."""
    assert legal(contract, "2C JD KH QH 5S") == "2C JD 5S"


@clause("B-3.2", binds=True)
@pytest.mark.parametrize("contract", HEART_LOCKED)
def test_hearts_are_locked(contract: str) -> None:
    """B-3.2 binds: no heart was played yet, whatever else was."""
    assert legal(contract, "2C AH", seen="AC KC QC AS 5D 6D KD 8D") == "2C"


@clause("B-3.2", binds=False)
@pytest.mark.parametrize("contract", HEART_LOCKED)
def test_hearts_are_open(contract: str) -> None:
    """B-3.2 does not bind: a heart was played, or the hand holds hearts only."""
    assert legal(contract, "2C AH", seen="AC KC QC 2H") == "2C AH"
    assert legal(contract, "2C AH", seen="3H 4H 5H 6H") == "2C AH"
    assert legal(contract, "2H KH AH") == "2H KH AH"


@clause("B-3.2", binds=True)
@clause("B-3.2", binds=False)
@pytest.mark.parametrize("contract", HEART_LOCKED)
def test_hearts_open_when_discarded(contract: str) -> None:
    """B-3.2 binds in trick 1 and does not bind in trick 2: a heart was discarded meanwhile."""
    deal = Deal(contract, swapped(BY_SUIT, "2C 2S", "2C 2H"), 0)  # 2H with the clubs of seat 0
    assert "2H" not in deal.legal()
    play_all(deal, "AC KD KH 2C")
    assert deal.seat == 0
    assert "2H" in deal.legal()


@clause("B-3.3", binds=True)
def test_trumps_are_locked() -> None:
    """B-3.3 binds: no trump was played in an earlier trick."""
    assert legal("trump", "2C AH 5S", trump="S") == "2C AH"
    assert legal("trump", "2C AH 5S", seen="2H 3H 4H 5H", trump="S") == "2C AH"


@clause("B-3.3", binds=False)
def test_trumps_are_open() -> None:
    """B-3.3 does not bind: a trump was played, the hand holds trumps only, or hearts are led."""
    assert legal("trump", "2C AH 5S", seen="2H 3H 4S 5H", trump="S") == "2C AH 5S"
    assert legal("trump", "5S AS", trump="S") == "5S AS"
    assert "KH" in legal("trump", "2C KH", trump="C")


@clause("B-3.3", binds=True)
@clause("B-3.3", binds=False)
def test_trumps_open_in_a_deal() -> None:
    """B-3.3 binds on the first lead and does not bind after the first ruff."""
    deal = Deal("trump", swapped(BY_SUIT, "2C 2D", "2H 2S"), 0)
    deal.play("trump:D")
    assert deal.legal() == BY_SUIT[0][1:]
    play_all(deal, "AC 2C 3H 3S KC 3D 4H 4S")
    assert deal.seat == 1
    play_all(deal, "4D 5H 5S 2D")
    assert deal.seat == 1


# ---------------------------------------------------------------------------- following suit


@clause("B-4.1", binds=True)
@pytest.mark.parametrize(
    "contract", ["no_tricks", "hearts", "last_two", "king_of_hearts", "bolola"]
)
def test_any_card_of_the_suit(contract: str) -> None:
    """B-4.1 binds: nothing goes under the Ace by duty, not even the King of hearts."""
    assert legal(contract, "3H JH QH KH 2S", "5H AH") == "3H JH QH KH"
    assert legal(contract, "3C JC QC KC 2H", "5C AC") == "3C JC QC KC"


@clause("B-4.1", binds=False)
@pytest.mark.parametrize("contract", ["jacks_kings", "queens", "all_penalties"])
def test_not_any_card_of_the_suit_elsewhere(contract: str) -> None:
    """B-4.1 does not bind: the contracts with duties under a higher card."""
    assert "3C" not in legal(contract, "3C JC QC KC 2H", "5C AC")


@clause("B-4.2", binds=True)
@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        ("3C JC", "QC", "JC"),
        ("3C JC", "KC", "JC"),
        ("3C JC AC", "AC 5C", "JC"),
        ("3C KC", "2C AC", "KC"),
        ("3C JC KC", "AC", "JC KC"),
        ("3C JC KC AC", "QC", "JC"),  # the King is not covered, so it is not legal
        ("3C JH QH", "4H KH 2H", "JH"),
    ],
)
def test_jacks_kings_under_duty(hand: str, trick: str, expected: str) -> None:
    """B-4.2 binds: a covered Jack or King, free choice among the covered."""
    assert legal("jacks_kings", hand, trick) == expected


@clause("B-4.2", binds=False)
@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        ("3C JC", "TC", "3C JC"),
        ("3C KC", "QC", "3C KC"),
        ("3C KC JC", "TC 2C", "3C JC KC"),
        ("3C QC", "AC", "3C QC"),
        ("3C JC", "5C AD KH", "3C JC"),
    ],
)
def test_jacks_kings_without_duty(hand: str, trick: str, expected: str) -> None:
    """B-4.2 does not bind: no higher card of the suit in the trick, or no Jack or King."""
    assert legal("jacks_kings", hand, trick) == expected


@clause("B-4.3", binds=True)
@pytest.mark.parametrize("trick", ["KS", "AS", "2S AS", "KS 2D 3S"])
def test_queens_under_duty(trick: str) -> None:
    """B-4.3 binds: the Queen goes under King or Ace."""
    assert legal("queens", "4S JS QS 2C", trick) == "QS"


@clause("B-4.3", binds=False)
@pytest.mark.parametrize("trick", ["JS", "2S AD", "TS 9S 8S"])
def test_queens_without_duty(trick: str) -> None:
    """B-4.3 does not bind: nothing over the Queen; Jacks and Kings are no duty in queens."""
    assert legal("queens", "4S JS QS KS 2C", trick) == "4S JS QS KS"
    assert legal("queens", "4S JS KS", "AS") == "4S JS KS"


@clause("B-4.4", binds=True)
@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
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
def test_all_penalties_under_duty(hand: str, trick: str, expected: str) -> None:
    """B-4.4 binds: any covered J, Q or K, in hearts too."""
    assert legal("all_penalties", hand, trick) == expected


@clause("B-4.4", binds=False)
@pytest.mark.parametrize(
    ("hand", "trick", "expected"),
    [
        ("2C JC QC KC", "TC", "2C JC QC KC"),
        ("2C KC", "QC", "2C KC"),
        ("2C QC", "JC", "2C QC"),
        ("2H TH", "AH", "2H TH"),  # a heart is a duty when void only
        ("2H KH", "QH", "2H KH"),
    ],
)
def test_all_penalties_without_duty(hand: str, trick: str, expected: str) -> None:
    """B-4.4 does not bind: none of J, Q, K is covered."""
    assert legal("all_penalties", hand, trick) == expected


@clause("B-4.5", binds=True)
def test_only_this_trick_and_the_suit_led_cover() -> None:
    """B-4.5 binds: neither earlier tricks nor other suits cover a card."""
    assert legal("jacks_kings", "3C JC", "4C AD KH", seen="QC KC AC 5C") == "3C JC"
    assert legal("queens", "3C QC", "4C AD KH", seen="KC AC 6C 5C") == "3C QC"
    assert legal("all_penalties", "3C JC", "4C AD KH", seen="KC AC 6C 5C") == "3C JC"
    assert legal("all_penalties", "3C JH", "4C AH") == "3C"


@clause("B-4.5", binds=False)
def test_a_card_of_the_suit_led_covers_wherever_it_lies() -> None:
    """B-4.5 does not bind: the covering card may have been led or played, by any seat."""
    for trick in ("AC 4C 5D", "4C AC 5D", "4C 5D AC"):
        assert legal("jacks_kings", "3C JC", trick) == "JC"


@clause("B-4.6", binds=True)
def test_trump_led_is_beaten() -> None:
    """B-4.6 binds: a higher trump than the highest of the trick, which may not be the lead."""
    assert legal("trump", "2S 9S KS AH", "8S", trump="S") == "9S KS"
    assert legal("trump", "2S 9S KS AH", "8S TS", trump="S") == "KS"


@clause("B-4.6", binds=False)
def test_trump_led_cannot_be_beaten() -> None:
    """B-4.6 does not bind: no higher trump, then any trump."""
    assert legal("trump", "2S 9S KS AH", "8S AS", trump="S") == "2S 9S KS"


@clause("B-4.7", binds=True)
def test_a_plain_suit_needs_no_beating() -> None:
    """B-4.7 binds: any card of the plain suit led, trumped or not, with trumps in hand or not."""
    assert legal("trump", "2C 9C AC 3S", "8C", trump="S") == "2C 9C AC"
    assert legal("trump", "2C 9C AC 3S", "8C 2S", trump="S") == "2C 9C AC"


@clause("B-4.7", binds=False)
def test_no_card_of_the_plain_suit() -> None:
    """B-4.7 does not bind: a hand without the plain suit, or a trump lead."""
    assert legal("trump", "2D 3S", "8C", trump="S") == "3S"
    assert legal("trump", "2C 9C", "8C", trump="C") == "9C"


# ---------------------------------------------------------------------------- void


@clause("B-5.1", binds=True)
@pytest.mark.parametrize("contract", ["no_tricks", "last_two", "bolola"])
def test_void_any_card(contract: str) -> None:
    """B-5.1 binds: no duty to throw honours or hearts."""
    assert legal(contract, "2D QD KH JS 5S", "4C") == "2D QD KH 5S JS"


@clause("B-5.1", binds=False)
@pytest.mark.parametrize("contract", sorted({*ROWS} - {"no_tricks", "last_two", "bolola"}))
def test_void_not_any_card_elsewhere(contract: str) -> None:
    """B-5.1 does not bind: the other six contracts do not let the 2 of diamonds go."""
    assert "2D" not in legal(contract, "2D QD KH JS 5S", "4C", trump="S")


@clause("B-5.2", binds=True)
def test_void_jacks_and_kings() -> None:
    """B-5.2 binds: Jacks and Kings of any suit, free choice, nothing need cover them."""
    assert legal("jacks_kings", "2D QD KD KH AH JS 5S", "4C") == "KD KH JS"
    assert legal("jacks_kings", "2D JS", "4C 5S") == "JS"


@clause("B-5.2", binds=False)
def test_void_without_jacks_and_kings() -> None:
    """B-5.2 does not bind: no Jack or King in hand."""
    assert legal("jacks_kings", "2D QD AH 5S", "4C") == "2D QD AH 5S"


@clause("B-5.3", binds=True)
def test_void_queens() -> None:
    """B-5.3 binds: a Queen, free choice."""
    assert legal("queens", "2D QD KH JS QS", "4C") == "QD QS"


@clause("B-5.3", binds=False)
def test_void_without_queens() -> None:
    """B-5.3 does not bind: no Queen in hand."""
    assert legal("queens", "2D KH JS", "4C") == "2D KH JS"


@clause("B-5.4", binds=True)
def test_void_hearts() -> None:
    """B-5.4 binds: a heart, free choice, in the first trick too."""
    assert legal("hearts", "2D 3H KH QS", "4C") == "3H KH"


@clause("B-5.4", binds=False)
def test_void_without_hearts() -> None:
    """B-5.4 does not bind: no heart in hand."""
    assert legal("hearts", "2D KD QS", "4C 5H") == "2D KD QS"


@clause("B-5.5", binds=True)
def test_void_king_of_hearts_then_hearts() -> None:
    """B-5.5 binds: the King of hearts, without it a heart."""
    assert legal("king_of_hearts", "2D 3H KH AH KS", "4C") == "KH"
    assert legal("king_of_hearts", "2D 3H AH KS", "4C") == "3H AH"


@clause("B-5.5", binds=False)
def test_void_without_king_of_hearts_and_hearts() -> None:
    """B-5.5 does not bind: no heart in hand; other Kings are nothing special."""
    assert legal("king_of_hearts", "2D KD KS", "4C") == "2D KD KS"


@clause("B-5.6", binds=True)
def test_void_all_penalties() -> None:
    """B-5.6 binds: any J, Q, K or heart, with no order between them."""
    assert legal("all_penalties", "2D JD 3H KH QS KS AS", "4C") == "JD 3H KH QS KS"
    assert legal("all_penalties", "2D 2H AS", "4C") == "2H"


@clause("B-5.6", binds=False)
def test_void_all_penalties_without_any() -> None:
    """B-5.6 does not bind: none of them in hand."""
    assert legal("all_penalties", "2D TD AS", "4C") == "2D TD AS"


@clause("B-5.7", binds=True)
def test_void_trump() -> None:
    """B-5.7 binds: ruff; over-ruff if possible; else under-ruff."""
    assert legal("trump", "2D 3S KS", "4C", trump="S") == "3S KS"
    assert legal("trump", "2D 3S KS", "4C AD 9S", trump="S") == "KS"
    assert legal("trump", "2D 3S 8S", "4C 9S", trump="S") == "3S 8S"
    assert legal("trump", "2D 3S TS QS", "4C 9S JS", trump="S") == "QS"


@clause("B-5.7", binds=False)
def test_void_trump_without_trumps() -> None:
    """B-5.7 does not bind: no trump in hand, after a plain lead and after a trump lead."""
    assert legal("trump", "2D KH", "4C 9S", trump="S") == "2D KH"
    assert legal("trump", "2D KH", "4S", trump="S") == "2D KH"


# ---------------------------------------------------------------------------- naming trump


@clause("B-6.1", binds=True)
@pytest.mark.parametrize("suit", "CDHS")
def test_the_starter_names_trump(suit: str) -> None:
    """B-6.1 binds: with 13 cards in hand the starter names one of four suits, then leads."""
    deal = Deal("trump", BY_SUIT, 3)
    assert (deal.seat, deal.legal()) == (3, ["trump:C", "trump:D", "trump:H", "trump:S"])
    assert len(deal.hands[3]) == 13
    for wrong in ("trump:N", "2S"):
        with pytest.raises(ValueError, match="may not play"):
            deal.play(wrong)
    assert deal.play("trump:" + suit) == [0, 0, 0, 0]
    assert (deal.seat, deal.trump, deal.trick_number) == (3, suit, 1)
    assert deal.legal() == BY_SUIT[3]


@clause("B-6.1", binds=False)
def test_nobody_names_trump() -> None:
    """B-6.1 does not bind: a suit fixed beforehand, and every other contract."""
    deal = Deal("trump", BY_SUIT, 3, trump="H")
    assert (deal.seat, deal.trump, deal.legal()) == (3, "H", BY_SUIT[3])
    play_all(deal, "2S 2C 2D 2H")
    assert deal.points == [0, 0, 50, 0]
    with pytest.raises(ValueError, match="may not play"):
        deal.play("trump:C")
    for contract in {*ROWS} - {"trump"}:
        assert Deal(contract, BY_SUIT, 3).legal() == BY_SUIT[3]
    with pytest.raises(ValueError, match="trump is 'N'"):
        Deal("trump", BY_SUIT, 3, trump="N")


# ---------------------------------------------------------------------------- the match


def twelve_deals(seed: int) -> list[list[list[str]]]:
    """Hands for a match."""
    rng = random.Random(seed)
    return [random_hands(rng) for _ in range(12)]


@clause("B-7.1", binds=True)
def test_a_match_is_twelve_deals_and_zero_sum() -> None:
    """B-7.1 binds: seven penalties, four trumps, one bolola, in this order, with the sum 0."""
    rng = random.Random(7)
    match = Match(twelve_deals(7), 2)
    seen: list[str] = []
    sums = [0, 0, 0, 0]
    while not match.over:
        if len(seen) < match.deal_number:
            seen.append(match.deal.row.name)
            assert sorted(match.deal.hands[0]) == sorted(match.deals[len(seen) - 1][0])
        given = match.play(rng.choice(match.legal()))
        sums = [one + other for one, other in zip(sums, given, strict=True)]
    assert seen == [
        "no_tricks", "jacks_kings", "queens", "hearts", "last_two", "king_of_hearts",
        "all_penalties", "trump", "trump", "trump", "trump", "bolola",
    ]  # fmt: skip
    assert (match.seat, match.legal(), match.deal_number) == (None, [], 12)
    assert match.scores == sums
    assert sum(sums) == 0
    with pytest.raises(ValueError, match="over"):
        match.play("2C")


@clause("B-7.1", binds=False)
def test_another_order() -> None:
    """B-7.1 does not bind: the order is an option, and can hold rows."""
    order: list[Row | str] = [make_row("last_one", trick_number_points={13: -7}), "bolola"]
    match = Match(twelve_deals(1)[:2], 0, order=order)
    assert match.deal.row.name == "last_one"
    play_at_random(match, random.Random(1))
    assert match.deal_number == 2
    assert sum(match.scores) == 793
    with pytest.raises(ValueError, match="2 deals for 12 contracts"):
        Match(twelve_deals(1)[:2], 0)


@clause("B-7.2", binds=True)
@pytest.mark.parametrize("starter", range(4))
def test_the_next_seat_starts(starter: int) -> None:
    """B-7.2 binds: each seat starts three deals and names trump exactly once."""
    rng = random.Random(starter)
    match = Match(twelve_deals(starter), starter)
    starters: list[int | None] = []
    namers: list[int | None] = []
    while not match.over:
        if len(starters) < match.deal_number:
            starters.append(match.seat)
        if match.legal()[0] == "trump:C":
            namers.append(match.seat)
        match.play(rng.choice(match.legal()))
    assert starters == [(starter + index) % 4 for index in range(12)]
    assert sorted(map(str, namers)) == ["0", "1", "2", "3"]


@clause("B-7.2", binds=False)
def test_winning_does_not_start_the_next_deal() -> None:
    """B-7.2 does not bind: the last trick's winner has no say; a fixed suit asks nobody."""
    match = Match([BY_SUIT] * 2, 0, order=["no_tricks", "trump"], trumps=[None, "S"])
    while match.deal_number == 1:
        match.play(match.legal()[0])
    assert match.scores == [-650, 0, 0, 0]  # the clubs took everything
    assert (match.seat, match.deal.trump, match.legal()) == (1, "S", BY_SUIT[1])


@clause("B-7.3", binds=True)
@pytest.mark.parametrize("contract", list(ROWS))
def test_no_redeal_and_no_instant_win(contract: str) -> None:
    """B-7.3 binds: the wildest hands are played, and one who takes all plays all 13 tricks."""
    match = Match([BY_SUIT] * 2, 3, order=[contract, "bolola"], trumps=None)
    play = 0
    while match.deal_number == 1:
        action = match.legal()[-1]  # names spades where there are trumps
        match.play(action)
        play += not action.startswith("trump:")
    assert play == 52
    assert match.scores == [0, 0, 0, TOTALS[contract]]
    assert match.deal.row.name == "bolola"


@clause("B-7.3", binds=True)
def test_no_no_trump() -> None:
    """B-7.3 binds: there are four names and no fifth."""
    assert len(Deal("trump", BY_SUIT, 0).legal()) == 4


@clause("B-7.3", binds=False)
def test_early_stop_in_a_match() -> None:
    """B-7.3 does not bind: ending with the last point is no instant win, the match goes on."""
    match = Match([BY_SUIT] * 2, 0, order=["king_of_hearts", "bolola"], early_stop=True)
    assert play_all(match, "AC AD KH AS")[-1] == [-320, 0, 0, 0]
    assert (match.deal_number, match.seat, match.over) == (2, 1, False)


# ---------------------------------------------------------------------------- house rules

RIFKI_LAST_TWO = make_row("rifki_last_two", trick_number_points={12: -180, 13: -180})
RIFKI_KING = make_row(
    "rifki_king",
    card_points={"KH": -320},
    locked_suit="H",
    void_tiers=[{"KH"}, HEARTS],
    under_duty={"KH"},
)
HEARTS_SCORING = make_row(
    "hearts_scoring",
    card_points=dict.fromkeys(HEARTS, 1) | {"QS": 13},
    locked_suit="H",
)


@clause("B-8.1", binds=True)
def test_rifki_last_two() -> None:
    """B-8.1 binds: -180 for each of the last two tricks."""
    rng = random.Random(3)
    deal = Deal(RIFKI_LAST_TWO, random_hands(rng), 1)
    gifts = []
    while not deal.over:
        gifts.append(sum(deal.play(rng.choice(deal.legal()))))
    assert gifts == [0] * 47 + [-180] + [0] * 3 + [-180]


@clause("B-8.1", binds=True)
@clause("B-8.1", binds=False)
def test_rifki_king_under_the_ace() -> None:
    """B-8.1 binds: this row has the King go under the Ace; it does not bind the built-in row."""
    assert legal(RIFKI_KING, "2H KH", "AH") == "KH"
    assert legal(RIFKI_KING, "2H KH", "3H QH") == "2H KH"
    assert legal(RIFKI_KING, "2H KH", "3C") == "KH"
    assert legal(RIFKI_KING, "2C KC", "AC") == "2C KC"
    assert legal("king_of_hearts", "2H KH", "AH") == "2H KH"


@clause("B-8.1", binds=True)
def test_hearts_scoring() -> None:
    """B-8.1 binds: 1 a heart and 13 for the Queen of spades, 26 in all."""
    rng = random.Random(26)
    for _ in range(3):
        short, full = stopped_and_full(HEARTS_SCORING, random_hands(rng), rng)
        assert sum(full.points) == 26
        assert short.points == full.points
    assert points_of_trick(HEARTS_SCORING, 5, ["QS", "2H", "AH", "KS"]) == 15
    assert legal(HEARTS_SCORING, "2D 3H QS", "4C") == "2D 3H QS"


@clause("B-8.1", binds=True)
def test_rows_can_combine_everything() -> None:
    """B-8.1 binds: trumps, a locked plain suit, void tiers and duties in one row."""
    row = make_row(
        "mixed",
        card_points={"QS": -50},
        trick_points=5,
        trick_number_points={1: 100},
        locked_suit="D",
        void_tiers=[{"QS"}, {"AS", "KS"}],
        under_duty={"QS", "JH"},
        trumps=True,
    )
    # Only the named suit is locked, trumps are not.
    assert legal(row, "2D 3H 4S", trump="H") == "3H 4S"
    assert legal(row, "2D 3H 4S", seen="5D", trump="H") == "2D 3H 4S"
    assert legal(row, "2D 3D", trump="H") == "2D 3D"
    # A trump lead: first a higher trump, then the covered duty cards, then the rest.
    assert legal(row, "2H JH AH", "KH", trump="H") == "AH"
    assert legal(row, "2H JH QH", "KH", trump="H") == "JH"
    assert legal(row, "2H TH QH", "KH", trump="H") == "2H TH QH"
    # A plain lead: the covered duty card, even though the trick was trumped.
    assert legal(row, "2S QS", "KS 2H", trump="H") == "QS"
    assert legal(row, "2S QS AS", "JS 2H", trump="H") == "2S QS AS"
    # Void: trumps come before the tiers, tiers in their order, then any card.
    assert legal(row, "2H 3S QS", "4C", trump="H") == "2H"
    assert legal(row, "3S QS AS", "4C", trump="H") == "QS"
    assert legal(row, "3S KS AS", "4C", trump="H") == "KS AS"
    assert legal(row, "3S 2D", "4C", trump="H") == "2D 3S"
    assert points_of_trick(row, 1, ["QS", "2S", "3S", "4S"]) == 55
    assert Deal(row, BY_SUIT, 0).legal()[0] == "trump:C"


@clause("B-8.1", binds=False)
@pytest.mark.parametrize(
    "wrong",
    [
        {"card_points": {"1H": 3}},
        {"trick_number_points": {14: 3}},
        {"locked_suit": "X"},
        {"locked_suit": "trump"},
        {"void_tiers": [{"10H"}]},
        {"under_duty": {"HK"}},
    ],
)
def test_rows_that_say_nothing_sensible(wrong: dict[str, Any]) -> None:
    """B-8.1 does not bind: what is no contract is refused."""
    with pytest.raises(ValueError, match="wrong"):
        make_row("wrong", **wrong)


# ---------------------------------------------------------------------------- errors, belief


def test_an_illegal_play_changes_nothing() -> None:
    """After a refused action the deal is as it was."""
    deal = Deal("hearts", swapped(BY_SUIT, "2C 2D"), 0)
    deal.play("AC")
    for wrong in ("3D", "AC", "XX", "trump:C"):
        with pytest.raises(ValueError, match="seat 1 may not play"):
            deal.play(wrong)
    assert (deal.seat, deal.trick, deal.legal()) == (1, [(0, "AC")], ["2C"])
    assert len(deal.hands[1]) == 13


def ruled_out(deal: Deal, seat: int) -> str:
    """Unplayed cards that the seat cannot hold."""
    played = {card for trick in [*deal.tricks, deal.trick] for _, card in trick}
    return " ".join(in_id_order(set(DECK) - played - deal.can_hold(seat)))


def test_belief_starts_with_everything() -> None:
    """Before a card is played, and by naming trump, nothing is known."""
    deal = Deal("trump", BY_SUIT, 0)
    deal.play("trump:C")
    assert all(deal.can_hold(seat) == set(DECK) for seat in range(4))


def test_belief_after_leads() -> None:
    """Leading a locked suit says that there is nothing else; other leads say nothing."""
    deal = Deal("hearts", BY_SUIT, 0)
    deal.play("2C")
    assert deal.can_hold(0) == deal.can_hold(3) == set(DECK) - {"2C"}
    deal = Deal("hearts", BY_SUIT, 2)
    deal.play("5H")
    assert deal.can_hold(2) == HEARTS - {"5H"}
    assert deal.can_hold(1) == set(DECK) - {"5H"}


def test_belief_after_following() -> None:
    """A low card under the Queen denies the Jack, not the King; the own Jack denies nothing."""
    deal = Deal("jacks_kings", swapped(BY_SUIT, "2C 2D", "JC 2H"), 0)
    play_all(deal, "QC 2C")
    assert ruled_out(deal, 1) == "JC"
    deal.play("JC")
    assert ruled_out(deal, 2) == ""
    assert ruled_out(deal, 1) == ""  # the Jack has been played, so nothing is left to deny
    assert "JC" not in deal.can_hold(1)


def test_belief_after_discards() -> None:
    """Void in the suit led, and in the duties that come before the card thrown."""
    deal = Deal("king_of_hearts", swapped(BY_SUIT, "KH 2S", "3H 2D"), 0)
    play_all(deal, "AC 3H 4H")
    clubs = "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC"
    assert ruled_out(deal, 0) == ""
    assert ruled_out(deal, 1) == clubs + " KH"
    assert ruled_out(deal, 2) == clubs + " KH"
    deal.play("KH")
    assert ruled_out(deal, 3) == clubs
    assert ruled_out(deal, 1) == clubs


def test_belief_after_ruffs() -> None:
    """Under-ruffing denies all higher trumps; discarding denies all trumps."""
    deal = Deal("trump", swapped(BY_SUIT, "2D 2H"), 0, trump="D")
    play_all(deal, "AC JD 2D 2S")
    clubs = "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC"
    assert ruled_out(deal, 0) == ""
    assert ruled_out(deal, 1) == clubs
    assert ruled_out(deal, 2) == clubs + " QD KD AD"
    assert ruled_out(deal, 3) == clubs + " 3D 4D 5D 6D 7D 8D 9D TD QD KD AD"


@pytest.mark.parametrize("row", [*ROWS.values(), RIFKI_KING], ids=lambda row: row.name)
def test_belief_never_excludes_the_truth(row: Row) -> None:
    """Hands are always possible, and a play is legal if it is so beside each other card."""
    rng = random.Random(row.name)
    for deal_hands in (random_hands, skewed_hands):
        deal = Deal(row, deal_hands(rng), rng.randrange(4))
        while not deal.over:
            assert deal.seat is not None
            actions = deal.legal()
            if not deal.naming_trump:
                hand = deal.hands[deal.seat]
                assert actions == in_id_order(
                    card
                    for card in hand
                    if all(card in legal_cards(deal.position, {card, other}) for other in hand)
                )
            deal.play(rng.choice(actions))
            for seat in range(4):
                assert deal.hands[seat] <= deal.can_hold(seat)
        assert [deal.can_hold(seat) for seat in range(4)] == [set()] * 4


def test_match_order_names_rows() -> None:
    """Every name of the order is a contract."""
    assert set(MATCH_ORDER) == set(ROWS)


def test_every_clause_is_tested_both_ways() -> None:
    """Each clause has a test where it binds and one where it does not."""
    numbers = {1: 5, 2: 1, 3: 3, 4: 7, 5: 7, 6: 1, 7: 3, 8: 1}
    ids = [f"B-{part}.{n}" for part, last in numbers.items() for n in range(1, last + 1)]
    marks = clauses_tested(sys.modules[__name__])
    assert marks == {(one, binds) for one in ids for binds in (True, False)}
