"""What concerns the plain-Python Bolola engine alone: recorded games, its rows, records and errors, public knowledge.

The examples of the rules that it shares with the kernels are in `test_bolola_rules`.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.clauses import clause
from tests.reference.bolola import (
    DECK,
    HEARTS,
    MATCH_ORDER,
    RANKS,
    ROWS,
    Deal,
    Match,
    Row,
    in_id_order,
    legal_cards,
    make_row,
    play_at_random,
    random_hands,
    replay,
    skewed_hands,
)

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases" / "bolola.jsonl").read_text().splitlines()
]
# Seat 0 has all clubs, seat 1 all diamonds, seat 2 all hearts, seat 3 all spades.
BY_SUIT = [[rank + suit for rank in RANKS] for suit in "CDHS"]


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


# ---------------------------------------------------------------------------- cards and rows


@clause("B-1.1", binds=True)
def test_deck() -> None:
    """B-1.1 binds: 52 cards, ids 13 * suit + rank."""
    assert len(set(DECK)) == 52
    assert (DECK[0], DECK[12], DECK[13], DECK[38], DECK[51]) == ("2C", "AC", "2D", "AH", "AS")


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


@clause("B-1.4", binds=False)
def test_eight_contracts_have_no_trumps() -> None:
    """B-1.4 does not bind: and fixing a suit in one of them is an error."""
    assert [name for name, row in ROWS.items() if row.trumps] == ["trump"]
    with pytest.raises(ValueError, match="trump is 'S'"):
        Deal("hearts", BY_SUIT, 0, trump="S")


@clause("B-2.1", binds=True)
@pytest.mark.parametrize(("contract", "sign"), [("all_penalties", -1), ("bolola", 1)])
def test_card_points_under_every_heading(contract: str, sign: int) -> None:
    """B-2.1 binds: honours in hearts score as honours and as hearts, the King also as itself."""
    points = ROWS[contract].card_points
    assert points["KH"] == sign * (20 + 10 + 95)
    assert points["QH"] == sign * (30 + 10)
    assert points["JH"] == sign * (20 + 10)
    assert sum(points.values()) + 13 * sign * 15 + sign * 100 == sign * 800


@clause("B-2.1", binds=False)
def test_card_points_of_one_kind() -> None:
    """B-2.1 does not bind: a card of one kind only, and the contracts with one kind of card."""
    points = ROWS["all_penalties"].card_points
    assert (points["JS"], points["QS"], points["KS"]) == (-20, -30, -20)
    assert (points["AH"], points["2H"], points["AS"], points["2C"]) == (-10, -10, 0, 0)
    assert ROWS["king_of_hearts"].card_points["KH"] == -320
    assert ROWS["hearts"].card_points["KH"] == -30
    assert ROWS["jacks_kings"].card_points["KH"] == -60


# ---------------------------------------------------------------------------- the match


@clause("B-7.1", binds=True)
def test_the_deals_of_a_match() -> None:
    """B-7.1 binds: seven penalties, four trumps, one bolola, each with the hands given for it."""
    rng = random.Random(7)
    match = Match([random_hands(rng) for _ in range(12)], 2)
    seen: list[str] = []
    while not match.over:
        if len(seen) < match.deal_number:
            seen.append(match.deal.row.name)
            assert sorted(match.deal.hands[0]) == sorted(match.deals[len(seen) - 1][0])
        match.play(rng.choice(match.legal()))
    assert seen == [
        "no_tricks", "jacks_kings", "queens", "hearts", "last_two", "king_of_hearts",
        "all_penalties", "trump", "trump", "trump", "trump", "bolola",
    ]  # fmt: skip
    assert match.deal_number == 12
    with pytest.raises(ValueError, match="over"):
        match.play("2C")


@clause("B-7.1", binds=False)
def test_the_rows_of_a_match() -> None:
    """B-7.1 does not bind: the order can hold rows; it has as many as there are deals."""
    row = make_row("last_one", trick_number_points={13: -7})
    match = Match([BY_SUIT] * 2, 0, order=[row, "bolola"])
    assert match.deal.row.name == "last_one"
    play_at_random(match, random.Random(1))
    assert match.deal.row.name == "bolola"
    with pytest.raises(ValueError, match="2 deals for 12 contracts"):
        Match([BY_SUIT] * 2, 0)


def test_match_order_names_rows() -> None:
    """Every name of the order is a contract."""
    assert set(MATCH_ORDER) == set(ROWS)


# ---------------------------------------------------------------------------- tricks and errors


@clause("B-1.2", binds=True)
def test_tricks_are_kept_with_their_seats() -> None:
    """B-1.2 binds: starter 2, then 3, 0, 1; whoever took the trick leads the next."""
    deal = Deal("no_tricks", swapped(BY_SUIT, "AH 2C", "3H 3S"), 2)
    play_all(deal, "4H 3H AH 5D")
    assert deal.tricks == [[(2, "4H"), (3, "3H"), (0, "AH"), (1, "5D")]]
    assert (deal.seat, deal.trick_number, deal.trick) == (0, 2, [])


@clause("B-1.2", binds=False)
def test_a_lead_that_the_winner_may_not_make() -> None:
    """B-1.2 does not bind: after the first trick the starter leads only what the winner may."""
    deal = Deal("no_tricks", swapped(BY_SUIT, "AH 2C"), 2)
    play_all(deal, "4H 3S AH 5D")
    with pytest.raises(ValueError, match="seat 0 may not play '5H'"):
        deal.play("5H")


@clause("B-1.5", binds=True)
def test_no_play_after_the_last_trick() -> None:
    """B-1.5 binds: the last trick keeps its number, and a further card is an error."""
    deal = Deal("king_of_hearts", BY_SUIT, 0)
    play_at_random(deal, random.Random(1))
    assert (len(deal.tricks), deal.trick_number) == (13, 13)
    with pytest.raises(ValueError, match="over"):
        deal.play("2C")


@clause("B-1.5", binds=False)
def test_the_number_of_the_trick_that_ended_the_deal() -> None:
    """B-1.5 does not bind: with `early_stop` the trick of the last point is the last one."""
    deal = Deal("king_of_hearts", BY_SUIT, 0, early_stop=True)
    play_all(deal, "AC AD KH AS")
    assert deal.trick_number == 1


@clause("B-6.1", binds=True)
@pytest.mark.parametrize("wrong", ["trump:N", "2S"])
def test_wrong_names_are_refused(wrong: str) -> None:
    """B-6.1 binds: one of four suits, before any card."""
    deal = Deal("trump", BY_SUIT, 3)
    with pytest.raises(ValueError, match="may not play"):
        deal.play(wrong)
    deal.play("trump:C")
    assert deal.trick_number == 1


@clause("B-6.1", binds=False)
def test_a_fixed_suit_is_not_named() -> None:
    """B-6.1 does not bind: a suit fixed beforehand, which must be a suit."""
    deal = Deal("trump", BY_SUIT, 3, trump="H")
    with pytest.raises(ValueError, match="may not play"):
        deal.play("trump:C")
    play_all(deal, "2S 2C 2D 2H")
    with pytest.raises(ValueError, match="may not play"):
        deal.play("trump:C")
    with pytest.raises(ValueError, match="trump is 'N'"):
        Deal("trump", BY_SUIT, 3, trump="N")


def test_an_illegal_play_changes_nothing() -> None:
    """After a refused action the deal is as it was."""
    deal = Deal("hearts", swapped(BY_SUIT, "2C 2D"), 0)
    deal.play("AC")
    for wrong in ("3D", "AC", "XX", "trump:C"):
        with pytest.raises(ValueError, match="seat 1 may not play"):
            deal.play(wrong)
    assert (deal.seat, deal.trick, deal.legal()) == (1, [(0, "AC")], ["2C"])
    assert len(deal.hands[1]) == 13


# ---------------------------------------------------------------------------- belief


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


RIFKI_KING = make_row(
    "king_under_the_ace",
    card_points={"KH": -320},
    locked_suit="H",
    void_tiers=[{"KH"}, HEARTS],
    under_duty={"KH"},
)


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
