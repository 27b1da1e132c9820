"""The plain Tarot engine against recorded deals and, clause by clause, against hand-made ones."""

import json
import random
import sys
from math import comb
from pathlib import Path
from typing import Any

import pytest

from tests.clauses import clause, clauses_tested
from tests.reference.tarot import (
    ACTIONS,
    CONTRACTS,
    DECK,
    EXCUSE,
    HALF_POINTS,
    KINDS,
    KINGS,
    MULTIPLIER,
    OUDLERS,
    POIGNEE_POINTS,
    POLICIES,
    TARGET,
    TRUMPS,
    Deal,
    Policy,
    Shares,
    Trick,
    base_half_points,
    chelem_points,
    contract_is_made,
    discardable,
    excuse_takes_last_trick,
    half_points,
    is_petit_sec,
    petit_au_bout,
    playable,
    poignee_levels,
    random_action,
    random_deal,
    random_playout,
    replay,
    share_trick,
    stacked_deal,
    suit_of,
    trick_taker,
)

CASES_FILE = Path(__file__).parent / "cases" / "tarot.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in CASES_FILE.read_text().splitlines()]

# --- Writing deals as text ------------------------------------------------------------------------


def cards(text: str) -> list[str]:
    """Cards from text; `T5-T8` is a run of trumps."""
    found: list[str] = []
    for word in text.split():
        if "-" in word:
            low, high = (int(end[1:]) for end in word.split("-"))
            found += [f"T{number}" for number in range(low, high + 1)]
        else:
            found.append(word)
    return found


def table(*hands: str, chien: str = "", dealer: int = 3, **options: Any) -> Deal:
    """A deal with these cards in seats 0.. and in the chien.

    The other cards go round the seats that have room, suits first, then trumps from the top; the
    last ones, the lowest trumps mostly, to the chien.
    """
    seats = [cards(hand) for hand in hands] + [[] for _ in range(4 - len(hands))]
    given = {*cards(chien), *(card for seat in seats for card in seat)}
    rest = [card for card in (*DECK[:57], *reversed(DECK[57:])) if card not in given]
    while any(len(seat) < 18 for seat in seats):
        for seat in seats:
            if len(seat) < 18:
                seat.append(rest.pop(0))
    return Deal(seats, cards(chien) + rest, dealer, **options)


def say(deal: Deal, actions: str) -> Deal:
    """Take these actions, one after the other."""
    for action in actions.split():
        deal.play(action)
    return deal


def play_out(deal: Deal, **first: str) -> Deal:
    """Play to the end; `seat0="..."` is what that seat would rather play, else its lowest card."""
    wishes = {int(seat.removeprefix("seat")): cards(text) for seat, text in first.items()}
    while deal.seat is not None:
        assert deal.phase == "play"
        legal = deal.legal()
        wished = [card for card in wishes.get(deal.seat, []) if card in legal]
        deal.play(wished[0] if wished else legal[0])
    return deal


def trick(text: str, leader: int = 0) -> list[tuple[int, str]]:
    """A trick, complete or not, from its cards in the order played."""
    return [((leader + turn) % 4, card) for turn, card in enumerate(text.split())]


def taken(text: str, leader: int = 0, winner: int | None = None) -> Trick:
    """A finished trick."""
    played = trick(text, leader)
    return Trick(played, trick_taker(played) if winner is None else winner)


def eighteen(last: Trick, before_last: Trick | None = None, others: int = 0) -> list[Trick]:
    """18 tricks of which the last one or two matter; seat `others` took the rest."""
    dull = taken("2C 3C 4C 5C", winner=others)
    return [*[dull] * 16, before_last or dull, last]


# --- Recorded deals -------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(len(CASES)))
def test_recorded_deal_replays(number: int) -> None:
    replay(CASES[number])


def test_recorded_deals_are_all_there() -> None:
    assert len(CASES) == 150
    assert {case["game"] for case in CASES} == {"tarot"}


# --- Properties of random deals -------------------------------------------------------------------


def check_knowledge(deal: Deal) -> None:
    """Nothing public contradicts the cards as they lie."""
    for seat in range(4):
        held = set(deal.hands[seat])
        assert held <= deal.can_hold(seat, deep=True) <= deal.can_hold(seat)
        assert deal.known(seat) <= deal.known(seat, deep=True) <= held


def check_score(deal: Deal) -> None:
    score = deal.score()
    assert sum(score["totals"]) == 0
    if score["annulled"]:
        assert deal.taker is None
        return
    assert score["taker_points"] + score["defender_points"] == 91
    taker = deal.taker
    assert taker is not None
    # T-6.3: odd in half points only when a defender's Excuse fell in a defender's trick 18.
    last, winner = deal.tricks[17]
    excuse_player = next((seat for seat, card in last if card == EXCUSE), taker)
    kept = excuse_takes_last_trick(last, deal.tricks[:17], taker)
    odd = excuse_player != taker and winner != taker and not kept
    aside = {"garde_sans": deal.chien, "garde_contre": []}.get(score["contract"], deal.discards)
    assert (round(2 * score["taker_points"]) - half_points(aside)) % 2 == odd
    # The running points, and what lies aside, make the final ones.
    taker_half, defence_half = deal.live_points()
    assert taker_half + half_points(aside) == 2 * score["taker_points"]
    assert taker_half + defence_half + half_points(aside or deal.chien) == 182


@pytest.mark.parametrize("kind", KINDS)
def test_random_deals_keep_the_books(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(4):
        deal = stacked_deal(rng, kind)
        while deal.seat is not None:
            check_knowledge(deal)
            legal = deal.legal()
            assert legal == sorted(set(legal), key=ACTIONS.index)
            deal.play(random_action(deal, rng, POLICIES[kind]))
        check_score(deal)


def test_stacked_deals_bring_the_rare_events() -> None:
    seen: dict[str, int] = {}

    def count(event: str, happened: bool) -> None:
        seen[event] = seen.get(event, 0) + happened

    rng = random.Random(7)
    for kind in KINDS:
        for _ in range(25):
            deal = random_playout(stacked_deal(rng, kind), rng, POLICIES[kind])
            check_score(deal)
            score = deal.score()
            count("annulled", score["annulled"])
            if score["annulled"]:
                continue
            taker, last = deal.taker, deal.tricks[17]
            assert taker is not None
            slam = excuse_takes_last_trick(last.cards, deal.tricks[:17], taker)
            count("T-6.4 taker", slam and last.winner == taker)
            count("T-6.4 defence", slam and last.winner != taker)
            count("Excuse in trick 18", EXCUSE in [card for _, card in last.cards])
            count("half", isinstance(score["taker_points"], float))
            count("four kings", deal.four_kings_shown)
            count("Excuse shown", any(EXCUSE in shown for shown in deal.shown.values()))
            for value in (400, 200, -200, -400):
                count(f"chelem {value}", score["chelem"] == value)
            count("petit won", score["petit"] > 0)
            count("petit lost", score["petit"] < 0)
            for level in POIGNEE_POINTS:
                count(f"poignee {level}", level in deal.shown_level.values())
            for contract in CONTRACTS:
                count(contract, score["contract"] == contract)
    assert not [event for event, times in seen.items() if times == 0], seen


def test_what_is_legal_in_a_hand_is_legal_in_two_of_its_cards() -> None:
    """So a play rules out exactly the cards that the two-card test rules out."""
    rng = random.Random(11)
    for _ in range(300):
        shuffled = rng.sample(DECK, 12)
        size = rng.randrange(4)
        position, hand = trick(" ".join(shuffled[:size])), shuffled[size:]
        for card in playable(hand, position):
            for other in hand:
                assert card in playable([card, other], position)


def test_same_seed_same_deal() -> None:
    for kind in KINDS:
        one, two = (stacked_deal(random.Random(3), kind) for _ in range(2))
        assert (one.dealt, one.chien, one.dealer) == (two.dealt, two.chien, two.dealer)


# --- Cards ----------------------------------------------------------------------------------------


@clause("T-1.1", binds=True)
def test_deck() -> None:
    """T-1.1: 78 cards, the ace lowest, the king highest."""
    assert DECK[:14] == cards("AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC NC QC KC")
    assert DECK[14] == "AD" and DECK[55] == "KS" and DECK[56:58] == ["EX", "T1"]
    assert DECK[77] == "T21" and len(set(DECK)) == 78
    assert trick_taker(trick("AC 2C JC NC")) == 3


@clause("T-1.1", binds=False)
def test_excuse_and_tens_are_no_trumps() -> None:
    """T-1.1: neither the Excuse nor a ten (`TS`) is a trump."""
    assert suit_of("EX") is None and suit_of("TS") == "S" and suit_of("T10") == "trump"
    assert len(TRUMPS) == 21
    assert poignee_levels(cards("EX TC TD TH TS T1-T8")) == []


def test_action_ids() -> None:
    assert len(ACTIONS) == 89 and ACTIONS[:78] == DECK
    assert ACTIONS[78:83] == ["pass", "prise", "garde", "garde_sans", "garde_contre"]
    assert ACTIONS[83:85] == ["no_chelem", "chelem"]
    assert ACTIONS[85:] == ["no_poignee", "poignee_10", "poignee_13", "poignee_15"]


@clause("T-1.2", binds=True)
def test_oudlers() -> None:
    """T-1.2: the Petit, trump 21 and the Excuse."""
    assert set(cards("T1 T21 EX")) == OUDLERS


@clause("T-1.2", binds=False)
def test_a_king_is_no_oudler() -> None:
    """T-1.2: a king is worth as much, but is none; so four kings won leave the target at 56."""
    assert half_points(["KC"]) == half_points(["T21"])
    tricks = [taken("KC KD KH KS")]
    assert share_trick(tricks, 1, taker=0) == Shares(36, 0, 0)


@clause("T-1.3", binds=True)
def test_card_points() -> None:
    """T-1.3: 91 points, 182 halves."""
    worth = {card: HALF_POINTS[card] for card in cards("EX T1 T21 KH QH NH JH TH AH T20")}
    assert list(worth.values()) == [9, 9, 9, 9, 7, 5, 3, 1, 1, 1]
    assert half_points(DECK) == 182


@clause("T-1.3", binds=False)
def test_points_do_not_follow_strength() -> None:
    """T-1.3: trump 20 takes nearly everything and is worth as little as an ace."""
    assert half_points(cards("T2-T20 AC 2C TC")) == 22


@pytest.mark.parametrize(("oudlers", "target"), [(0, 56), (1, 51), (2, 41), (3, 36)])
@clause("T-1.4", binds=True)
def test_targets(oudlers: int, target: int) -> None:
    """T-1.4: reaching the target wins, half a point less loses."""
    assert TARGET[oudlers] == target
    assert contract_is_made(2 * target, target)
    assert not contract_is_made(2 * target - 1, target)
    assert base_half_points(2 * target, target, 1) == 50
    assert base_half_points(2 * target - 1, target, 1) == -51


@clause("T-1.4", binds=False)
def test_an_oudler_dealt_is_not_an_oudler_held_at_the_end() -> None:
    """T-1.4: the taker starts with all three oudlers but loses the Excuse in trick 18."""
    deal = excuse_led_to_trick_18_without_a_slam()
    assert set(deal.dealt[0]) >= OUDLERS
    assert deal.score()["oudlers"] == 2 and deal.score()["target"] == 41


# --- Deal and bidding -----------------------------------------------------------------------------


@clause("T-2.1", binds=True)
def test_sizes_and_order_of_play() -> None:
    """T-2.1: 18 cards each, six in the chien, seats s, s+1, ..."""
    deal = table(dealer=1)
    assert [len(hand) for hand in deal.hands] == [18] * 4 and len(deal.chien) == 6
    say(deal, "pass garde pass pass")
    assert [seat for seat, _ in deal.bids] == [2, 3, 0, 1]
    with pytest.raises(ValueError, match=r"T-2\.1"):
        Deal([DECK[:18], DECK[18:36], DECK[36:54], DECK[54:71]], DECK[71:], 0)
    with pytest.raises(ValueError, match="KC is dealt twice"):
        Deal([cards("KC") + DECK[1:18], DECK[18:36], DECK[36:54], DECK[54:72]], ["KC"] * 6, 0)
    with pytest.raises(ValueError, match="no card 'T22'"):
        Deal([["T22"] * 18] * 4, [], 0)
    with pytest.raises(ValueError, match="dealer"):
        table(dealer=4)


@clause("T-2.1", binds=False)
def test_hands_may_come_in_any_order() -> None:
    """T-2.1: the order of the cards within a hand says nothing."""
    deal = table()
    turned = Deal([hand[::-1] for hand in deal.dealt], deal.chien[::-1], 3)
    assert turned.hands == deal.hands and turned.legal() == deal.legal()


@clause("T-2.2", binds=True)
def test_petit_sec_is_an_error() -> None:
    """T-2.2: the error names the rule and the seat."""
    with pytest.raises(ValueError, match=r"T-2\.2.*petit sec.*seat 2"):
        table("EX", "T2", "T1 KC QC NC JC TC 9C 8C 7C 6C 5C 4C 3C 2C AC KD QD ND", "T3")


@pytest.mark.parametrize("hand", ["T1 EX", "T1 T2", "T2", "", "EX"])
@clause("T-2.2", binds=False)
def test_not_a_petit_sec(hand: str) -> None:
    """T-2.2: the Excuse or a second trump saves the Petit; no trump at all is no petit sec."""
    rest = cards("KC QC NC JC TC 9C 8C 7C 6C 5C 4C 3C 2C AC KD QD ND JD")
    full = (cards(hand) + rest)[:18]
    assert not is_petit_sec(full)
    table(" ".join(full))


@clause("T-2.3", binds=True)
def test_bids_go_up_and_each_seat_speaks_once() -> None:
    """T-2.3: dealer's right first; only higher bids; after garde contre only pass, still asked."""
    deal = table(dealer=0)
    assert deal.seat == 1
    assert deal.legal() == ["pass", "prise", "garde", "garde_sans", "garde_contre"]
    assert say(deal, "prise").legal() == ["pass", "garde", "garde_sans", "garde_contre"]
    assert say(deal, "garde_contre").legal() == ["pass"]
    with pytest.raises(ValueError, match="'garde_sans' is not legal for seat 3"):
        deal.play("garde_sans")
    assert say(deal, "pass").phase == "bid" and deal.seat == 0
    say(deal, "pass")
    assert (deal.phase, deal.taker, deal.contract) == ("chelem", 2, "garde_contre")
    assert MULTIPLIER == {"prise": 1, "garde": 2, "garde_sans": 4, "garde_contre": 6}


@clause("T-2.3", binds=False)
def test_a_pass_does_not_raise_the_floor() -> None:
    """T-2.3: after passes every bid is open; the last speaker may still be the only one."""
    deal = say(table(), "pass pass pass")
    assert deal.legal() == ["pass", "prise", "garde", "garde_sans", "garde_contre"]
    assert say(deal, "prise").taker == 3


@clause("T-2.4", binds=True)
def test_four_passes_annul() -> None:
    """T-2.4: all score 0."""
    deal = say(table(), "pass pass pass pass")
    assert deal.phase == "over" and deal.seat is None and deal.legal() == []
    assert deal.score() == {"annulled": True, "reason": "all_pass", "totals": [0, 0, 0, 0]}
    assert deal.trick_points() == []
    with pytest.raises(ValueError, match="over"):
        deal.play("pass")


@clause("T-2.4", binds=False)
def test_one_bid_is_enough() -> None:
    """T-2.4: a bid among passes starts a contract; with `forbid_pass` the last seat must bid."""
    assert say(table(), "pass prise pass pass").phase == "discard"
    deal = say(table(forbid_pass=True), "pass pass pass")
    assert deal.legal() == ["prise", "garde", "garde_sans", "garde_contre"]
    deal = say(table(forbid_pass=True), "pass prise pass")
    assert deal.legal() == ["pass", "garde", "garde_sans", "garde_contre"]


# --- Chien and discard ----------------------------------------------------------------------------


@pytest.mark.parametrize("contract", ["prise", "garde"])
@clause("T-3.1", binds=True)
def test_taker_picks_up_the_chien(contract: str) -> None:
    """T-3.1: the chien is public, the taker has 24 cards and discards six, one by one."""
    deal = table(chien="AC KD T1 EX 3S 4S", taker=2, contract=contract)
    assert (deal.phase, deal.seat, len(deal.hands[2])) == ("discard", 2, 24)
    assert set(deal.chien) <= set(deal.hands[2])
    assert not set(deal.chien) & deal.can_hold(0)
    for left in range(24, 18, -1):
        assert deal.phase == "discard" and len(deal.hands[2]) == left
        deal.play(deal.legal()[0])
    assert (deal.phase, deal.seat, len(deal.discards)) == ("chelem", 2, 6)


@pytest.mark.parametrize("contract", ["garde_sans", "garde_contre"])
@clause("T-3.1", binds=False)
def test_nobody_picks_up_the_chien(contract: str) -> None:
    """T-3.1: not in garde sans and garde contre: no pick-up, nothing public."""
    deal = table(chien="AC KD T1 EX 3S 4S", taker=2, contract=contract)
    assert deal.phase == "chelem" and len(deal.hands[2]) == 18 and not deal.chien_is_public
    assert all(deal.can_hold(seat) == set(DECK) for seat in range(4))


FOUR_KINGS = "KC KD KH KS T2-T15"
FOUR_KINGS_CHIEN = "T16 T17 2C 3D 4H 5S"


@clause("T-3.2", binds=True)
def test_trumps_may_be_discarded_when_suit_cards_are_gone() -> None:
    """T-3.2: suit cards but kings first; then trumps but oudlers."""
    deal = table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    assert deal.legal() == cards("2C 3D 4H 5S")
    with pytest.raises(ValueError, match="'T2' is not legal"):
        deal.play("T2")
    with pytest.raises(ValueError, match="'KC' is not legal"):
        deal.play("KC")
    say(deal, "3D 2C 5S 4H")
    assert deal.legal() == cards("T2-T17")
    assert discardable(cards("KC EX T1 T20 T21")) == ["T20"]


@clause("T-3.2", binds=False)
def test_a_single_suit_card_keeps_the_trumps() -> None:
    """T-3.2: with any suit card but kings left, no trump is legal; a queen is no king."""
    assert discardable(cards("KC QC EX T1-T21")) == ["QC"]


@clause("T-3.3", binds=True)
def test_discarded_trumps_are_public() -> None:
    """T-3.3: nobody can hold them any more; they count for the taker."""
    deal = table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    say(deal, "3D 2C 5S 4H T3 T2")
    assert deal.discarded_trumps == ["T2", "T3"]
    for seat in range(4):
        assert not {"T2", "T3"} & deal.can_hold(seat)
    # The taker's suit cards are all kings, or no trump could have been discarded.
    assert deal.can_hold(0, deep=True) & {"KC", "QC", "AS"} == {"KC"}
    assert "QC" in deal.can_hold(0)


@clause("T-3.3", binds=False)
def test_discarded_suit_cards_are_hidden() -> None:
    """T-3.3: publicly they may still be in the taker's hand."""
    deal = table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    say(deal, "3D 2C 5S 4H")
    assert {"3D", "2C", "5S", "4H"} <= deal.can_hold(0)
    assert not {"3D", "2C", "5S", "4H"} & deal.can_hold(1)


ALL_TRUMPS = "T5-T21 EX"  # takes 17 tricks in any order, then leads the Excuse
DOWNWARDS = "T21 T20 T19 T18 T17 T16 T15 T14 T13 T12 T11 T10 T9 T8 T7 T6 T5 T4 T3 T2 T1 EX"


@clause("T-3.4", binds=True)
def test_the_chien_goes_to_the_taker_or_to_the_defence() -> None:
    """T-3.4: garde sans gives the taker its points and oudlers; garde contre the defence."""
    hands = ("T4-T20 EX", "T21 T2 T3")
    chien = "T1 KC QC NC JC TC"  # 4.5 + 4.5 + 3.5 + 2.5 + 1.5 + 0.5 = 17
    scores = {}
    for contract in ("garde_sans", "garde_contre"):
        deal = table(*hands, chien=chien, dealer=3, taker=0, contract=contract)
        say(deal, "no_chelem no_poignee")
        scores[contract] = play_out(deal, seat0=DOWNWARDS, seat1="T21").score()
    sans, contre = scores["garde_sans"], scores["garde_contre"]
    assert sans["taker_points"] - contre["taker_points"] == 17
    assert sans["oudlers"] - contre["oudlers"] == 1
    assert contre["defender_points"] - sans["defender_points"] == 17


@clause("T-3.4", binds=False)
def test_in_prise_the_discards_count_not_the_chien() -> None:
    """T-3.4: with a discard the taker scores what was discarded; the chien was picked up."""
    deal = table(ALL_TRUMPS, chien="KC QC 2C 3C 4C 5C", taker=0, contract="prise")
    say(deal, "QC 2C 3C 4C 5C T5 no_chelem no_poignee")
    before = deal.live_points()
    assert before == (0, 0)
    score = play_out(deal, seat0="KC").score()
    assert 2 * score["taker_points"] == deal.live_points()[0] + half_points(deal.discards)


# --- Declarations ---------------------------------------------------------------------------------


@clause("T-4.1", binds=True)
def test_order_of_declarations() -> None:
    """T-4.1: the taker's chelem first, then poignees from the seat that will lead."""
    deal = table("T1-T10", "2C", "T11-T20", dealer=0, taker=0, contract="garde_sans")
    assert (deal.phase, deal.seat) == ("chelem", 0)
    say(deal, "no_chelem")
    assert (deal.phase, deal.seat, deal.leader) == ("poignee", 2, 1)
    say(deal, "poignee_10")
    assert (deal.phase, deal.seat) == ("poignee", 0)
    say(deal, "no_poignee")
    assert (deal.phase, deal.seat) == ("play", 1)
    announced = table("T1-T10", "2C", "T11-T20", dealer=0, taker=0, contract="garde_sans")
    say(announced, "chelem")
    assert (announced.phase, announced.seat) == ("poignee", 0)


@clause("T-4.1", binds=False)
def test_no_level_no_question_and_no_evidence() -> None:
    """T-4.1: nine trumps are not asked; being asked and declining changes no public knowledge."""
    deal = table("T1-T9", "T10-T18", taker=0, contract="garde_contre")
    assert say(deal, "no_chelem").phase == "play"
    deal = table("T1-T10", taker=0, contract="garde_contre")
    assert say(deal, "no_chelem").phase == "poignee"
    assert all(deal.can_hold(seat) == set(DECK) for seat in range(4))
    say(deal, "no_poignee")
    assert all(deal.can_hold(seat) == set(DECK) for seat in range(4))
    assert deal.known(0) == set() and deal.shown == {}


@clause("T-4.2", binds=True)
def test_levels() -> None:
    """T-4.2: 10, 13, 15 trumps; any level held may be chosen; exactly that many are shown."""
    assert POIGNEE_POINTS == {10: 20, 13: 30, 15: 40}
    assert poignee_levels(cards("T1-T10")) == [10]
    assert poignee_levels(cards("T1-T13")) == [10, 13]
    assert poignee_levels(cards("T1-T18")) == [10, 13, 15]
    deal = say(table("T1-T13", taker=1, contract="garde_sans"), "no_chelem")
    assert deal.legal() == ["no_poignee", "poignee_10", "poignee_13"]
    say(deal, "poignee_13")
    assert deal.shown == {0: cards("T1-T13")}


@clause("T-4.2", binds=False)
def test_too_few_trumps() -> None:
    """T-4.2: nine trumps are no poignee, twelve no double, fourteen no triple."""
    assert poignee_levels(cards("T1-T9")) == []
    assert poignee_levels(cards("T1-T12")) == [10]
    assert poignee_levels(cards("T1-T14")) == [10, 13]


@pytest.mark.parametrize(("trumps", "level"), [("T1-T9", 10), ("T8-T19", 13), ("T1-T14", 15)])
@clause("T-4.3", binds=True)
def test_excuse_helps_with_one_missing_trump(trumps: str, level: int) -> None:
    """T-4.3: level-1 trumps, all shown with the Excuse; so the others are ruled out."""
    deal = table(f"{trumps} EX", taker=1, contract="garde_sans")
    say(deal, "no_chelem")
    assert deal.legal()[-1] == f"poignee_{level}"
    say(deal, f"poignee_{level}")
    assert deal.shown == {0: ["EX", *cards(trumps)]} and deal.phase == "play"
    assert deal.known(0) == {"EX", *cards(trumps)}
    assert deal.can_hold(0) & TRUMPS == set(cards(trumps))
    assert not deal.can_hold(1) & deal.known(0)


@clause("T-4.3", binds=False)
def test_excuse_does_not_help_twice_nor_is_shown_without_need() -> None:
    """T-4.3: two missing are too many; with ten trumps the Excuse stays hidden and unknown."""
    assert poignee_levels(cards("T1-T8 EX")) == []
    assert poignee_levels(cards("T1-T11 EX")) == [10]
    deal = say(table("T1-T10 EX", taker=1, contract="garde_sans"), "no_chelem poignee_10")
    assert deal.shown == {0: cards("T1-T10")} and deal.phase == "play"
    assert "T21" in deal.can_hold(0) and "EX" in deal.can_hold(0) and "EX" in deal.can_hold(1)
    # Kept back are trumps alone, never the Excuse.
    deal = say(table("T1-T11 EX", taker=1, contract="garde_sans"), "no_chelem poignee_10")
    assert deal.phase == "keep" and deal.legal() == cards("T1-T11")


def ways_to_show(deal: Deal, path: str = "") -> list[tuple[str, tuple[str, ...]]]:
    """All sequences of cards kept back from here, with the cards that each leaves shown."""
    if deal.phase != "keep":
        return [(path, tuple(deal.shown[0]))]
    start = [action for _, action in deal.actions]
    ways = []
    for card in deal.legal():
        again = Deal(deal.dealt, deal.chien, 3, taker=deal.taker, contract=deal.contract)
        say(again, " ".join([*start, card]))
        ways += ways_to_show(again, f"{path} {card}")
    return ways


@pytest.mark.parametrize(("trumps", "level"), [(11, 10), (12, 10), (14, 10), (15, 13), (18, 15)])
@clause("T-4.4", binds=True)
def test_every_subset_is_shown_in_exactly_one_way(trumps: int, level: int) -> None:
    """T-4.4: kept back one by one in ascending order."""
    deal = table(f"T1-T{trumps}", taker=1, contract="garde_sans")
    say(deal, f"no_chelem poignee_{level}")
    ways = ways_to_show(deal)
    assert len(ways) == len({shown for _, shown in ways}) == comb(trumps, level)
    assert {len(shown) for _, shown in ways} == {level}
    for path, _ in ways:
        kept = path.split()
        assert kept == sorted(kept, key=DECK.index)


@clause("T-4.4", binds=True)
def test_kept_back_by_hand() -> None:
    """T-4.4: of T1-T12 show ten: T4 first leaves T5-T12, T11 would leave T12 alone."""
    deal = say(table("T1-T12", taker=1, contract="garde_sans"), "no_chelem poignee_10")
    assert (deal.phase, deal.seat, deal.legal()) == ("keep", 0, cards("T1-T11"))
    assert say(deal, "T4").legal() == cards("T5-T12")
    assert deal.shown == {} and deal.can_hold(1) == set(DECK)  # nothing shown yet
    say(deal, "T12")
    assert deal.shown == {0: cards("T1-T3 T5-T11")} and deal.phase == "play"
    assert "T4" in deal.can_hold(0) and "T4" in deal.can_hold(1)
    assert deal.known(0) == set(cards("T1-T3 T5-T11")) and not deal.known(0) & deal.can_hold(2)
    say(deal, "T1")
    assert "T1" not in deal.known(0)


@clause("T-4.4", binds=False)
def test_nothing_to_keep_back() -> None:
    """T-4.4: a hand with exactly as many trumps as the level shows them at once."""
    deal = say(table("T1-T13", taker=1, contract="garde_sans"), "no_chelem poignee_13")
    assert deal.phase == "play" and deal.shown[0] == cards("T1-T13")


@clause("T-4.5", binds=True)
def test_four_kings_count_discarded_trumps() -> None:
    """T-4.5: 14 trumps and two discarded make 16; one of the whole set is kept back."""
    deal = table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="garde")
    say(deal, "2C 3D 4H 5S T2 T17 no_chelem")
    assert deal.legal() == ["no_poignee", "poignee_10", "poignee_13", "poignee_15"]
    say(deal, "poignee_15")
    assert deal.legal() == cards("T2-T17")
    say(deal, "T17")  # a discarded trump may be named
    assert deal.shown == {0: cards("T2-T16")}
    assert deal.known(0) == set(cards("T3-T16"))
    assert deal.four_kings_shown
    assert deal.known(0, deep=True) >= KINGS and not deal.can_hold(1, deep=True) & KINGS
    assert "KC" in deal.can_hold(1)


@clause("T-4.5", binds=True)
def test_four_kings_with_the_excuse() -> None:
    """T-4.5: 13 trumps, one discarded and the Excuse make 15, all shown."""
    hand, chien = "KC KD KH KS EX T2-T14", "T15 2C 3D 4H 5S 6S"
    deal = table(hand, chien=chien, taker=0, contract="prise")
    say(deal, "2C 3D 4H 5S 6S T9 no_chelem poignee_15")
    assert deal.shown == {0: ["EX", *cards("T2-T15")]} and deal.phase == "play"
    assert deal.known(0) == {"EX", *cards("T2-T8 T10-T15")}
    assert not deal.can_hold(0) & {"T1", "T16", "T9"}
    # With one trump more the Excuse is not shown.
    deal = table(hand, chien="T15 T16 3D 4H 5S 6S", taker=0, contract="prise")
    say(deal, "3D 4H 5S 6S T9 T10 no_chelem poignee_15")
    assert deal.shown == {0: cards("T2-T16")} and "EX" in deal.can_hold(1)


@clause("T-4.5", binds=False)
def test_discarded_trumps_do_not_count_otherwise() -> None:
    """T-4.5: not for lower levels, not with three kings, not without discarded trumps."""
    deal = table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="garde")
    say(deal, "2C 3D 4H 5S T2 T17 no_chelem poignee_13")
    assert deal.legal() == cards("T3-T16")
    three_kings = table("KC KD KH EX T2-T15", chien="T16 2C 3D 4H 5S 6S", taker=0, contract="garde")
    say(three_kings, "2C 3D 4H 5S 6S T2 no_chelem poignee_15")
    assert three_kings.shown == {0: ["EX", *cards("T3-T16")]}  # T-4.3: the Excuse, not T2
    assert not three_kings.four_kings_shown
    # Four kings and 14 trumps, but nothing discarded.
    deal = say(table(FOUR_KINGS, taker=0, contract="garde_sans"), "no_chelem")
    assert deal.legal() == ["no_poignee", "poignee_10", "poignee_13"]


@clause("T-4.6", binds=True)
def test_an_announced_chelem_gives_the_lead() -> None:
    """T-4.6: the taker leads; the defence cannot announce."""
    deal = table(dealer=0, taker=3, contract="garde_sans")
    assert deal.seat == 3 and deal.legal() == ["no_chelem", "chelem"]
    say(deal, "chelem")
    assert (deal.phase, deal.seat, deal.leader) == ("play", 3, 3)


@clause("T-4.6", binds=False)
def test_without_a_chelem_dealers_right_leads() -> None:
    """T-4.6: whoever the taker is."""
    deal = say(table(dealer=0, taker=3, contract="garde_sans"), "no_chelem")
    assert (deal.phase, deal.seat) == ("play", 1)


# --- Play -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "on", "legal"),
    [
        ("2H KH 3S T5", "9H", "2H KH"),
        ("2H KH 3S T5 EX", "9H", "2H KH EX"),
        ("2C 3S T5", "9H", "T5"),
        ("2C 3S T5 EX", "9H", "EX T5"),
        ("2H 3S T5", "9H T4", "2H"),  # a trump on the table does not change the suit to follow
        ("2H T5", "T3", "T5"),
    ],
)
@clause("T-5.1", binds=True)
def test_follow_else_trump(hand: str, on: str, legal: str) -> None:
    """T-5.1: follow, else trump; the Excuse is always there."""
    assert playable(cards(hand), trick(on)) == cards(legal)


@pytest.mark.parametrize(
    ("hand", "on"),
    [("2C 3S KD", "9H"), ("2C 3S EX", "9H"), ("2C EX", "T9"), ("2C 3D T5 EX", "")],
)
@clause("T-5.1", binds=False)
def test_free_choice(hand: str, on: str) -> None:
    """T-5.1: with neither suit nor trump, or leading, any card."""
    assert set(playable(cards(hand), trick(on))) == set(cards(hand))


@pytest.mark.parametrize(
    ("hand", "on", "legal"),
    [
        ("T3 T9 T15", "T8", "T9 T15"),  # trumps led
        ("T3 T9 T15", "2H T12", "T15"),  # ruffing over
        ("T3 T9 T15 EX", "2H T12 T2", "EX T15"),
        ("T3 T9 T15", "T8 T4 T11", "T15"),  # a partner's too: nobody asks whose T11 it is
        ("T3 T9", "2H T12", "T3 T9"),  # cannot beat: any trump
        ("T3 T9 2C", "T12", "T3 T9"),
    ],
)
@clause("T-5.2", binds=True)
def test_overtrump(hand: str, on: str, legal: str) -> None:
    """T-5.2: a trump that must be played beats the highest in the trick if it can."""
    assert playable(cards(hand), trick(on)) == cards(legal)


@pytest.mark.parametrize(
    ("hand", "on", "legal"),
    [
        ("2H KH", "9H", "2H KH"),  # suits need not be beaten
        ("2H T15", "9H T3", "2H"),  # following suit
        ("T3 T9 T15", "2H", "T3 T9 T15"),  # no trump yet
        ("T3 T9", "EX", "T3 T9"),  # an Excuse led is nothing to beat
        ("T3 T9 2H", "EX 4H", "2H"),
    ],
)
@clause("T-5.2", binds=False)
def test_nothing_to_overtrump(hand: str, on: str, legal: str) -> None:
    """T-5.2: no duty to beat a suit, nor with no trump in the trick."""
    assert playable(cards(hand), trick(on)) == cards(legal)


@clause("T-5.3", binds=True)
def test_who_takes_the_trick() -> None:
    """T-5.3: the highest trump, else the highest card of the suit led; the winner leads."""
    assert trick_taker(trick("2H KH QH AH")) == 1
    assert trick_taker(trick("KH T2 T5 T3")) == 2
    deal = table("KC AC", "2C", "3C", "4C", taker=3, contract="garde_contre")
    say(deal, "no_chelem AC 2C 3C 4C")
    assert deal.tricks == [Trick([(0, "AC"), (1, "2C"), (2, "3C"), (3, "4C")], 3)]
    assert deal.seat == 3 and deal.trick == []


@clause("T-5.3", binds=False)
def test_a_higher_card_of_another_suit_takes_nothing() -> None:
    """T-5.3: discards do not win."""
    assert trick_taker(trick("AH KC KD KS")) == 0


@clause("T-5.4", binds=True)
def test_excuse_led() -> None:
    """T-5.4: the next card is free and sets the suit; later seats follow that."""
    assert playable(cards("2C 3H T5"), trick("EX")) == cards("2C 3H T5")
    assert playable(cards("2C 3H T5"), trick("EX 9H")) == ["3H"]
    assert playable(cards("2C 3H T5"), trick("EX T4")) == ["T5"]
    assert trick_taker(trick("EX 9H TH KC")) == 2
    assert trick_taker(trick("EX T4 9H KH")) == 1


@clause("T-5.4", binds=False)
def test_excuse_later_sets_nothing_and_is_not_forced() -> None:
    """T-5.4: an Excuse in the middle changes nothing; alone it is no trump to be forced."""
    assert playable(cards("2C 3H T5"), trick("9H EX")) == ["3H"]
    assert playable(cards("2C 3C EX"), trick("9H T4")) == cards("2C 3C EX")
    assert trick_taker(trick("9H EX TH KC")) == 2


# --- The Excuse -----------------------------------------------------------------------------------


def excuse_led_to_trick_18_without_a_slam() -> Deal:
    """Garde contre by seat 0, with all oudlers: loses trick 1, leads the Excuse to trick 18."""
    deal = table("T1 T7-T21 EX AC", "KC", taker=0, contract="garde_contre")
    say(deal, "no_chelem no_poignee")
    play_out(deal, seat0="AC " + DOWNWARDS, seat1="KC")
    assert deal.tricks[0].winner == 1
    assert deal.tricks[17].cards[0] == (0, "EX")
    return deal


@clause("T-6.1", binds=True)
def test_excuse_takes_no_trick() -> None:
    """T-6.1: led or not."""
    assert trick_taker(trick("EX AC 2D 3D")) == 1
    assert trick_taker(trick("AC EX 2D 3D")) == 0
    deal = excuse_led_to_trick_18_without_a_slam()
    assert deal.tricks[17].winner != 0


@clause("T-6.1", binds=False)
def test_but_the_slams_excuse_does() -> None:
    """T-6.1: the exception of T-6.4."""
    assert taker_slam("no_chelem no_poignee").tricks[17].winner == 0


@pytest.mark.parametrize(
    ("cards_played", "taker", "shares"),
    [
        # Taker's Excuse, defence takes KH QH JH (9 + 7 + 3): half a point to the defence.
        ("EX KH QH JH", 0, Shares(9 - 1, 19 + 1, 1)),
        # A defender's Excuse, the taker takes the trick.
        ("KH EX QH JH", 0, Shares(19 + 1, 9 - 1, 0)),
        # The Petit changes hands, the Excuse does not.
        ("T21 EX T1 T2", 0, Shares(19 + 1, 9 - 1, 2)),
        ("T2 T1 T21 EX", 3, Shares(9 - 1, 19 + 1, 1)),
    ],
)
@clause("T-6.2", binds=True)
def test_excuse_stays_and_pays_half_a_point(cards_played: str, taker: int, shares: Shares) -> None:
    """T-6.2: before trick 18 it stays; 4 for its side, half a point for the side with the trick."""
    tricks = [taken(cards_played)]
    assert share_trick(tricks, 1, taker) == shares
    assert share_trick([taken("2C 3C 4C 5C")] * 16 + tricks, 17, taker) == shares


@clause("T-6.2", binds=False)
def test_nothing_is_paid_within_a_side() -> None:
    """T-6.2: a defender's Excuse in a defender's trick stays, unpaid."""
    assert share_trick([taken("KH EX QH JH")], 1, taker=2) == Shares(0, 28, 0)
    assert share_trick([taken("EX KH QH JH")], 1, taker=3) == Shares(0, 28, 0)


@clause("T-6.2", binds=True)
def test_the_half_point_is_settled_at_once() -> None:
    """T-6.2: the running points of the trick itself already hold it."""
    deal = table("EX", "2C", "3C", "4C", taker=0, contract="garde_contre")
    say(deal, "no_chelem EX 2C 3C")
    assert deal.trick_points() == []
    say(deal, "4C")
    assert deal.trick_points() == [(8, 4)] and deal.live_points() == (8, 4)


@pytest.mark.parametrize(
    ("cards_played", "taker", "shares"),
    [
        ("KH EX QH JH", 1, Shares(0, 28, 0)),  # taker's, lost with the trick
        ("KH EX QH JH", 0, Shares(28, 0, 1)),  # a defender's, to the taker with the trick
        ("KH EX QH JH", 2, Shares(9, 19, 1)),  # a defender's in a defender's trick
        ("EX KH QH JH", 3, Shares(9, 19, 1)),  # led, but no slam behind it
    ],
)
@clause("T-6.3", binds=True)
def test_excuse_in_trick_18_changes_sides(cards_played: str, taker: int, shares: Shares) -> None:
    """T-6.3: to the opposing side, whoever takes the trick; no half point."""
    mixed = [taken("2C 3C 4C 5C", winner=0), *[taken("2C 3C 4C 5C", winner=1)] * 16]
    mixed[1] = taken("2C 3C 4C 5C", winner=2)
    mixed[2] = taken("2C 3C 4C 5C", winner=3)
    assert share_trick([*mixed, taken(cards_played)], 18, taker) == shares


@clause("T-6.3", binds=False)
def test_trick_17_is_not_trick_18() -> None:
    """T-6.3: one trick earlier the Excuse stays (T-6.2)."""
    tricks = eighteen(taken("2D 3D 4D 5D"), before_last=taken("KH EX QH JH"))
    assert share_trick(tricks, 17, taker=2) == Shares(0, 28, 0)
    assert share_trick(tricks, 17, taker=1) == Shares(8, 20, 1)


def defence_sweep_with_its_excuse_behind(contract: str, chelem: str, discards: str = "") -> Deal:
    """Seat 0, a defender, takes all 18 tricks; seat 1 throws the Excuse on trick 18."""
    deal = table("T5-T21 KS", "EX", taker=2, contract=contract)
    lowest = " ".join(DECK[:56])
    say(deal, f"{discards} {chelem} no_poignee")
    # Seat 2 may be on lead; seat 0 has no suit but the KS, which is kept for last.
    play_out(deal, seat0=DOWNWARDS, seat1=lowest + " T4 T3 T2 T1")
    assert deal.tricks[17].winner == 0 and (1, "EX") in deal.tricks[17].cards
    assert {trick.winner for trick in deal.tricks} == {0}
    return deal


@clause("T-6.3", binds=True)
@clause("T-6.4", binds=False)
def test_partners_excuse_behind_a_slam_still_changes_sides() -> None:
    """T-6.3: the only exception is an Excuse led; so the swept taker has 4.5 and an oudler."""
    score = defence_sweep_with_its_excuse_behind("garde_contre", "no_chelem").score()
    assert (score["taker_points"], score["defender_points"]) == (4.5, 86.5)
    assert (score["oudlers"], score["target"], score["made"]) == (1, 51, False)
    assert score["base"] == -(25 + 46.5) * 6
    assert score["chelem"] == -200


@clause("T-6.4", binds=False)
def test_excuse_led_after_a_lost_trick() -> None:
    """T-6.4: 16 tricks are not 17; the Excuse and the trick go to the defence."""
    deal = excuse_led_to_trick_18_without_a_slam()
    assert deal.score()["chelem"] == 0
    assert deal.trick_points()[17][0] == 0
    assert sum(trick.winner == 0 for trick in deal.tricks) == 16


@clause("T-6.4", binds=False)
def test_excuse_led_by_the_side_that_took_nothing() -> None:
    """T-6.4: the sweep must be the leader's side's own, and the Excuse the first card."""
    swept = [taken("2C 3C 4C 5C", winner=0)] * 17
    assert excuse_takes_last_trick(trick("EX 2H 3H 4H"), swept, taker=0)
    assert not excuse_takes_last_trick(trick("EX 2H 3H 4H", leader=1), swept, taker=0)
    assert not excuse_takes_last_trick(trick("2H EX 3H 4H"), swept, taker=0)
    assert not excuse_takes_last_trick(trick("EX 2H 3H 4H"), swept[:16], taker=0)


def taker_slam(declarations: str, contract: str = "garde_sans", hand: str = ALL_TRUMPS) -> Deal:
    """Seat 0, the taker and first to lead, takes everything and leads the Excuse to trick 18."""
    deal = say(table(hand, taker=0, contract=contract), declarations)
    play_out(deal, seat0=DOWNWARDS)
    assert deal.tricks[17].cards[0] == (0, "EX")
    return deal


@clause("T-6.4", binds=True)
def test_excuse_completes_the_takers_slam() -> None:
    """T-6.4: it takes the trick and stays: 91 points, three oudlers."""
    deal = taker_slam("no_chelem no_poignee")
    score = deal.score()
    assert deal.tricks[17].winner == 0
    assert (score["taker_points"], score["oudlers"]) == (91, 3)
    assert score["base"] == (25 + 55) * 4
    assert (score["chelem"], score["petit"]) == (200, 0)
    assert score["totals"] == [1560, -520, -520, -520]


@clause("T-6.4", binds=True)
def test_excuse_completes_the_defences_slam() -> None:
    """T-6.4: for the defence too; several defenders may have taken the 17 tricks."""
    deal = table(ALL_TRUMPS, taker=2, contract="garde_contre")
    say(deal, "no_chelem no_poignee")
    play_out(deal, seat0=DOWNWARDS)
    score = deal.score()
    assert deal.tricks[17] == Trick(deal.tricks[17].cards, 0)
    assert (score["taker_points"], score["oudlers"], score["chelem"]) == (0, 0, -200)
    shared = [taken("2C 3C 4C 5C", winner=seat) for seat in [0, 1, 3] * 6][:17]
    last = Trick(trick("EX KH QH JH"), 0)
    assert excuse_takes_last_trick(last.cards, shared, taker=2)
    assert share_trick([*shared, last], 18, taker=2) == Shares(0, 28, 0)


# --- Settlement -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("halves", "target", "multiplier", "base"),
    [(82, 41, 1, 25), (100, 41, 4, 136), (0, 56, 6, -486), (181, 36, 2, 159), (79, 41, 1, -26.5)],
)
@clause("T-7.1", binds=True)
def test_base(halves: int, target: int, multiplier: int, base: float) -> None:
    """T-7.1: (25 + distance) x multiplier, signed."""
    assert base_half_points(halves, target, multiplier) == 2 * base


@clause("T-7.1", binds=False)
def test_bonuses_are_not_in_the_base() -> None:
    """T-7.1: slam, poignee and petit leave it alone; the multiplier leaves them alone."""
    plain = taker_slam("no_chelem no_poignee").score()
    rich = taker_slam("chelem poignee_15 T5 T6").score()
    assert plain["base"] == rich["base"] == 320
    assert rich["per_defender"] == 320 + 400 + 40


@clause("T-7.2", binds=True)
def test_petit_au_bout() -> None:
    """T-7.2: to the side that takes trick 18, whoever played the Petit."""
    held = eighteen(taken("T1 QH KD ND"))
    assert petit_au_bout(held, taker=0, multiplier=2) == 20
    assert petit_au_bout(held, taker=3, multiplier=6) == -60
    caught = eighteen(taken("T2 T1 KD ND"))
    assert petit_au_bout(caught, taker=0, multiplier=1) == 10
    assert petit_au_bout(caught, taker=1, multiplier=4) == -40
    assert petit_au_bout(caught, taker=2, multiplier=4) == -40


@clause("T-7.2", binds=True)
def test_trick_17_counts_when_the_excuse_takes_trick_18() -> None:
    """T-7.2: T1 in trick 17, the Excuse led to trick 18, for taker and defence."""
    tricks = eighteen(Trick(trick("EX KH QH JH"), 0), before_last=taken("T1 QC KC ND"))
    assert petit_au_bout(tricks, taker=0, multiplier=4) == 40
    assert petit_au_bout(tricks, taker=1, multiplier=4) == -40
    deal = taker_slam("no_chelem no_poignee", hand="T1 T6-T21 EX")
    assert (0, "T1") in deal.tricks[16].cards
    score = deal.score()
    assert (score["petit"], score["per_defender"]) == (40, 320 + 40 + 200)
    deal = say(table("T1 T6-T21 EX", taker=2, contract="garde_contre"), "no_chelem no_poignee")
    score = play_out(deal, seat0=DOWNWARDS).score()
    assert (score["petit"], score["chelem"]) == (-60, -200)


@clause("T-7.2", binds=False)
def test_no_petit_au_bout() -> None:
    """T-7.2: not in trick 17 of an ordinary deal, and not in an 18th trick that the Excuse took."""
    ordinary = eighteen(taken("2D 3D 4D 5D"), before_last=taken("T1 QC KC ND"))
    assert petit_au_bout(ordinary, taker=0, multiplier=2) == 0
    # The Petit falls under the Excuse that completes the slam.
    tricks = eighteen(Trick(trick("EX T1 QH JH"), 0))
    assert petit_au_bout(tricks, taker=0, multiplier=2) == 0
    assert petit_au_bout(tricks, taker=1, multiplier=2) == 0
    # An Excuse that was led without a slam takes nothing: trick 17 is not looked at.
    lost = eighteen(taken("EX KH QH JH"), before_last=taken("T1 QC KC ND"), others=1)
    assert petit_au_bout(lost, taker=0, multiplier=2) == 0
    deal = excuse_led_to_trick_18_without_a_slam()
    assert (0, "T1") in deal.tricks[16].cards and deal.score()["petit"] == 0


@clause("T-7.2", binds=True)
def test_petit_in_an_18th_trick_behind_an_excuse_that_took_nothing() -> None:
    """T-7.2: the ordinary case although the Excuse was led: the Petit takes trick 18."""
    lost = eighteen(taken("EX T1 QH JH"), others=1)
    assert petit_au_bout(lost, taker=0, multiplier=2) == -20
    assert petit_au_bout(lost, taker=1, multiplier=2) == 20


def two_poignees(taker: int) -> dict[str, Any]:
    """Seat 0 shows 10 of its trumps, seat 1 the other poignee; seat 0 takes most tricks."""
    deal = table("T12-T21 KC KD KH KS", "T2-T11", taker=taker, contract="garde_contre")
    say(deal, "no_chelem poignee_10 poignee_10")
    return play_out(deal, seat0=DOWNWARDS + " KC KD KH KS").score()


@clause("T-7.3", binds=True)
def test_all_poignees_go_to_the_winner() -> None:
    """T-7.3: 20 + 20, not multiplied, to the taker if the contract is made, else from the taker."""
    won, lost = two_poignees(taker=0), two_poignees(taker=2)
    assert (won["made"], won["poignee"]) == (True, 40)
    assert (lost["made"], lost["poignee"]) == (False, -40)


@clause("T-7.3", binds=False)
def test_a_poignee_not_shown_pays_nothing() -> None:
    """T-7.3: holding ten trumps is not showing them."""
    deal = table("T12-T21 KC KD KH KS", "T2-T11", taker=0, contract="garde_contre")
    say(deal, "no_chelem no_poignee poignee_10")
    assert play_out(deal, seat0=DOWNWARDS + " KC KD KH KS").score()["poignee"] == 20


@clause("T-7.4", binds=True)
def test_chelem() -> None:
    """T-7.4: +400, +200, -200, -200, and -400 for announced and swept."""
    all_taker, all_defence, mixed = ([taken("2C 3C 4C 5C", winner=0)] * 18 for _ in range(3))
    all_defence = [taken("2C 3C 4C 5C", winner=1 + number % 3) for number in range(18)]
    mixed = [*all_taker[:17], all_defence[0]]
    assert chelem_points(True, all_taker, taker=0) == 400
    assert chelem_points(False, all_taker, taker=0) == 200
    assert chelem_points(True, mixed, taker=0) == -200
    assert chelem_points(False, all_defence, taker=0) == -200
    assert chelem_points(True, all_defence, taker=0) == -400
    assert taker_slam("chelem no_poignee").score()["chelem"] == 400
    assert taker_slam("no_chelem no_poignee").score()["chelem"] == 200


@clause("T-7.4", binds=True)
def test_announced_and_swept() -> None:
    """T-7.4: the taker announces, leads, and the defence takes all 18 tricks: -400."""
    deal = defence_sweep_with_its_excuse_behind("garde_contre", "chelem")
    assert deal.tricks[0].cards[0][0] == 2
    assert deal.score()["chelem"] == -400
    deal = table(ALL_TRUMPS, taker=2, contract="garde_contre")
    score = play_out(say(deal, "chelem no_poignee"), seat0=DOWNWARDS).score()
    assert (score["chelem"], score["taker_points"]) == (-400, 0)
    assert score["per_defender"] == -486 - 400


@clause("T-7.4", binds=False)
def test_no_chelem() -> None:
    """T-7.4: unannounced and one trick short is nothing, for either side."""
    assert excuse_led_to_trick_18_without_a_slam().score()["chelem"] == 0
    seventeen = [*[taken("2C 3C 4C 5C", winner=1)] * 17, taken("2C 3C 4C 5C", winner=0)]
    assert chelem_points(False, seventeen, taker=0) == 0
    assert chelem_points(True, seventeen, taker=0) == -200


@clause("T-7.5", binds=True)
def test_totals_with_half_points() -> None:
    """T-7.5: prise, 4.5 points and 3 discarded, so -(25 + 43.5) from each defender."""
    deal = table("T5-T21 KS", "EX", taker=2, contract="prise")
    say(deal, " ".join(card for card in deal.legal() if HALF_POINTS[card] == 1)[: 6 * 3 - 1])
    say(deal, "no_chelem no_poignee")
    play_out(deal, seat0=DOWNWARDS, seat1=" ".join(DECK[:56]) + " T4 T3 T2 T1")
    score = deal.score()
    assert (score["taker_points"], score["oudlers"], score["base"]) == (7.5, 1, -68.5)
    assert (score["chelem"], score["per_defender"]) == (-200, -268.5)
    assert score["totals"] == [268.5, 268.5, -805.5, 268.5]


@clause("T-7.5", binds=False)
def test_garde_has_no_halves() -> None:
    """T-7.5: an even multiplier makes the same half point whole."""
    score = defence_sweep_with_its_excuse_behind("garde_contre", "no_chelem").score()
    assert score["taker_points"] == 4.5
    assert all(isinstance(total, int) for total in score["totals"])
    with pytest.raises(ValueError, match="not over"):
        table().score()


@clause("T-7.6", binds=True)
def test_the_rulebooks_example() -> None:
    """T-7.6: garde, two oudlers, 45 points: 58 from each defender, 174 for the taker."""
    assert base_half_points(90, TARGET[2], MULTIPLIER["garde"]) == 2 * 58
    deal = the_example_with_a_petit()
    score = deal.score()
    assert (score["contract"], score["oudlers"], score["taker_points"]) == ("garde", 2, 45)
    assert score["base"] == 58


@clause("T-7.6", binds=False)
def test_the_example_with_a_bonus() -> None:
    """T-7.6: with a bonus it is another sum: the Petit in trick 18 makes 78 and 234."""
    score = the_example_with_a_petit().score()
    assert (score["petit"], score["per_defender"]) == (20, 78)
    assert score["totals"] == [234, -78, -78, -78]


def the_example_with_a_petit() -> Deal:
    """The recorded deal that has the example's contract, oudlers and points."""
    wanted = ("garde", 2, 45)
    for case in CASES:
        score = case["score"]
        if not score["annulled"]:
            found = (score["contract"], score["oudlers"], score["taker_points"])
            if found == wanted:
                return replay(case)
    raise AssertionError("no such deal")


# --- Public knowledge -----------------------------------------------------------------------------


def test_what_plays_rule_out() -> None:
    deal = table("AC 3C", "KC", "T9 T2 EX", "T3 T8", taker=0, contract="garde_contre")
    deal.hands[2] = cards("2H T9 T2 EX")  # no clubs
    deal.hands[3] = cards("3H T3 T8")
    say(deal, "no_chelem AC KC")
    assert all(deal.can_hold(seat) == set(DECK) - {"AC", "KC"} for seat in range(4))
    say(deal, "T2")
    clubs = {card for card in DECK if suit_of(card) == "C"}
    assert not deal.can_hold(2) & clubs
    assert deal.can_hold(2) >= {"EX", "T3", "T21", "2H"}
    say(deal, "T8")
    assert not deal.can_hold(3) & clubs
    assert deal.can_hold(0) >= clubs - {"AC", "KC"}
    # Seat 3 leads a trump; seat 0 cannot beat it and has none lower either.
    say(deal, "T3")
    deal.hands[0] = cards("2D")
    say(deal, "2D")
    assert not deal.can_hold(0) & TRUMPS
    # Undertrumping rules out every higher trump.
    deal.hands[1], deal.hands[2] = cards("T1"), cards("EX 2H T9")
    say(deal, "T1")
    assert deal.can_hold(1) & TRUMPS == set()
    # The Excuse rules out nothing.
    before = deal.can_hold(2)
    say(deal, "EX")
    assert deal.can_hold(2) == before - {"EX"}


def test_undertrumping_and_discarding() -> None:
    deal = table("T7 2C", "T4 T5 2D", "2H EX", "3H", taker=3, contract="garde_contre")
    deal.hands[1], deal.hands[2] = cards("T4 T5 2D"), cards("2H EX")
    say(deal, "no_chelem T7 T4")
    assert deal.can_hold(1) & TRUMPS == set(cards("T1-T3 T5 T6"))
    say(deal, "2H")
    assert not deal.can_hold(2) & TRUMPS and "EX" in deal.can_hold(2)


def test_the_public_chien_is_the_takers_or_discarded() -> None:
    deal = table(
        "T2", "T5", "T6", "T7", chien="KC T1 T20 EX 2C QS", taker=0, contract="garde", dealer=3
    )
    assert deal.known(0) == set()
    assert deal.known(0, deep=True) == set(cards("KC T1 EX"))
    assert not set(deal.chien) & deal.can_hold(1) and set(deal.chien) <= deal.can_hold(0)
    while deal.phase == "discard":
        deal.play(deal.legal()[0])
    # Now T20 is in the hand too: as a discard it would have been public.
    assert deal.known(0, deep=True) == set(cards("KC T1 T20 EX"))


# --- Starting later -------------------------------------------------------------------------------


def test_starting_after_the_bidding() -> None:
    bid = say(table(), "pass garde pass pass")
    skipped = table(taker=1, contract="garde")
    assert (bid.phase, bid.seat, bid.hands) == (skipped.phase, skipped.seat, skipped.hands)
    assert skipped.bids == []
    discards = bid.legal()[:6]
    say(bid, " ".join(discards))
    later = table(taker=1, contract="garde", discards=discards[::-1])
    assert (later.phase, later.seat, later.hands) == ("chelem", 1, bid.hands)
    mixed = cards("T2 2C T17 3D 4H 5S")
    deal = table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise", discards=mixed)
    assert deal.discarded_trumps == ["T2", "T17"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"taker": 1}, "go together"),
        ({"contract": "prise"}, "go together"),
        ({"taker": 4, "contract": "prise"}, "taker"),
        ({"taker": 1, "contract": "petite"}, "contract"),
        ({"discards": cards("2C 3C 4C 5C 6C 7C")}, "discards need"),
        ({"taker": 0, "contract": "prise", "discards": cards("2C 3C")}, "six discards"),
        ({"taker": 0, "contract": "garde_sans", "discards": DECK[:6]}, "six discards"),
        ({"taker": 0, "contract": "prise", "discards": cards("KC 2C 3C 4C 5C 6C")}, "'KC'"),
    ],
)
def test_bad_starts(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        table("KC AC 2C 3C 4C 5C 6C", **options)


def test_an_illegal_action_changes_nothing() -> None:
    deal = table("2C", taker=0, contract="garde_contre")
    say(deal, "no_chelem")
    before = ([list(hand) for hand in deal.hands], deal.seat, list(deal.actions))
    with pytest.raises(ValueError, match="'pass' is not legal for seat 0 in phase 'play'"):
        deal.play("pass")
    assert (deal.hands, deal.seat, deal.actions) == before


def test_random_deals_are_never_annulled_with_forbid_pass() -> None:
    rng = random.Random(5)
    for _ in range(5):
        deal = random_playout(random_deal(rng, forbid_pass=True), rng, Policy(bidders=()))
        assert deal.phase == "over" and deal.taker == deal.dealer


def test_every_clause_is_tested_where_it_binds_and_where_it_does_not() -> None:
    counts = {1: 4, 2: 4, 3: 4, 4: 6, 5: 4, 6: 4, 7: 6}
    clauses = [f"T-{part}.{number}" for part in counts for number in range(1, counts[part] + 1)]
    wanted = {(name, binds) for name in clauses for binds in (True, False)}
    assert clauses_tested(sys.modules[__name__]) == wanted
