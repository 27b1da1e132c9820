"""What concerns the plain Tarot engine alone: recorded deals, its functions, records and errors, public knowledge.

The examples of the rules that it shares with the kernels are in `test_tarot_rules`.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.clauses import clause
from tests.reference.tarot import (
    ACTIONS,
    CONTRACTS,
    DECK,
    EXCUSE,
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
    contract_is_made,
    discardable,
    excuse_takes_last_trick,
    half_points,
    is_petit_sec,
    playable,
    poignee_levels,
    random_action,
    random_deal,
    random_playout,
    replay,
    share_trick,
    stacked_deal,
    suit_of,
)
from tests.tarot_engines import (
    ALL_TRUMPS,
    DOWNWARDS,
    FOUR_KINGS,
    FOUR_KINGS_CHIEN,
    cards,
    play_out,
    say,
    table,
    trick,
)

CASES_FILE = Path(__file__).parent / "cases" / "tarot.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in CASES_FILE.read_text().splitlines()]


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


# --- Cards and deals ------------------------------------------------------------------------------


@clause("T-1.1", binds=False)
def test_suits_of_cards() -> None:
    """T-1.1: neither the Excuse nor a ten (`TS`) is a trump."""
    assert suit_of("EX") is None and suit_of("TS") == "S" and suit_of("T10") == "trump"
    assert len(TRUMPS) == 21


@clause("T-1.2", binds=True)
def test_oudlers() -> None:
    """T-1.2: the Petit, trump 21 and the Excuse."""
    assert set(cards("T1 T21 EX")) == OUDLERS


@clause("T-1.2", binds=False)
def test_a_king_is_worth_an_oudler() -> None:
    """T-1.2: but is none."""
    assert half_points(["KC"]) == half_points(["T21"])


@clause("T-1.3", binds=True)
def test_points_of_the_deck() -> None:
    """T-1.3: 182 halves, and the lowest trumps with plain cards are worth one each."""
    assert half_points(DECK) == 182
    assert half_points(cards("T2-T20 AC 2C TC")) == 22


@pytest.mark.parametrize("oudlers", TARGET)
@clause("T-1.4", binds=True)
def test_contract_is_made(oudlers: int) -> None:
    """T-1.4: reaching the target wins, half a point less loses."""
    target = TARGET[oudlers]
    assert contract_is_made(2 * target, target)
    assert not contract_is_made(2 * target - 1, target)
    assert base_half_points(2 * target, target, 1) == 50
    assert base_half_points(2 * target - 1, target, 1) == -51


@clause("T-2.1", binds=True)
def test_wrong_deals_are_refused() -> None:
    """T-2.1: 18 cards each, six in the chien, every card once."""
    deal = table(dealer=1)
    assert [len(hand) for hand in deal.hands] == [18] * 4 and len(deal.chien) == 6
    assert [seat for seat, _ in say(deal, "pass garde pass pass").bids] == [2, 3, 0, 1]
    with pytest.raises(ValueError, match=r"T-2\.1"):
        Deal([DECK[:18], DECK[18:36], DECK[36:54], DECK[54:71]], DECK[71:], 0)
    with pytest.raises(ValueError, match="KC is dealt twice"):
        Deal([cards("KC") + DECK[1:18], DECK[18:36], DECK[36:54], DECK[54:72]], ["KC"] * 6, 0)
    with pytest.raises(ValueError, match="no card 'T22'"):
        Deal([["T22"] * 18] * 4, [], 0)
    with pytest.raises(ValueError, match="dealer"):
        table(dealer=4)


@pytest.mark.parametrize("hand", ["T1 EX", "T1 T2", "T2", "", "EX"])
@clause("T-2.2", binds=False)
def test_is_no_petit_sec(hand: str) -> None:
    """T-2.2: the Excuse or a second trump saves the Petit; no trump at all is no petit sec."""
    assert is_petit_sec(cards("T1 KC 2C"))
    assert not is_petit_sec(cards(f"{hand} KC 2C"))


@clause("T-2.4", binds=True)
def test_score_of_an_annulled_deal() -> None:
    """T-2.4: the reason and zeros."""
    deal = say(table(), "pass pass pass pass")
    assert deal.score() == {"annulled": True, "reason": "all_pass", "totals": [0, 0, 0, 0]}
    assert deal.trick_points() == []
    with pytest.raises(ValueError, match="over"):
        deal.play("pass")
    with pytest.raises(ValueError, match="not over"):
        table().score()


# --- Discards and declarations --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contract", "public"),
    [("prise", True), ("garde", True), ("garde_sans", False), ("garde_contre", False)],
)
@clause("T-3.1", binds=True)
@clause("T-3.1", binds=False)
def test_whether_the_chien_is_public(contract: str, public: bool) -> None:
    """T-3.1: in prise and garde; not in garde sans and garde contre."""
    deal = table(chien="AC KD T1 EX 3S 4S", taker=2, contract=contract)
    assert deal.chien_is_public == public


@clause("T-3.2", binds=True)
@clause("T-3.2", binds=False)
def test_discardable() -> None:
    """T-3.2: suit cards but kings first; then trumps but oudlers."""
    assert discardable(cards("KC EX T1 T20 T21")) == ["T20"]
    assert discardable(cards("KC QC EX T1-T21")) == ["QC"]


@pytest.mark.parametrize(
    ("options", "seat", "action"),
    [
        ({"contract": "prise", "taker": 0}, 0, "T2"),  # T-3.2
        ({"contract": "prise", "taker": 0}, 0, "KC"),
        ({"dealer": 0}, 1, "pass prise garde_contre garde_sans"),  # T-2.3
    ],
)
def test_refused_actions_are_named(options: dict[str, Any], seat: int, action: str) -> None:
    """T-3.2, T-2.3: no trump or king in the discard; no bid under another."""
    deal = table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, **options)
    *before, last = action.split()
    say(deal, " ".join(before))
    with pytest.raises(
        ValueError, match=f"'{last}' is not legal for seat {(seat + len(before)) % 4}"
    ):
        deal.play(last)


@clause("T-3.3", binds=True)
def test_what_is_known_of_discarded_trumps() -> None:
    """T-3.3: they are kept in order; that the taker has kings alone needs the rules of discarding."""
    deal = table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    say(deal, "3D 2C 5S 4H T3 T2")
    assert deal.discarded_trumps == ["T2", "T3"]
    assert "QC" in deal.can_hold(0)


@clause("T-4.2", binds=True)
@clause("T-4.2", binds=False)
@clause("T-4.3", binds=False)
@pytest.mark.parametrize(
    ("hand", "levels"),
    [
        ("T1-T9", []),
        ("T1-T10", [10]),
        ("T1-T12", [10]),
        ("T1-T13", [10, 13]),
        ("T1-T14", [10, 13]),
        ("T1-T18", [10, 13, 15]),
        ("T1-T8 EX", []),
        ("T1-T11 EX", [10]),
        ("EX TC TD TH TS T1-T8", []),
    ],
)
def test_poignee_levels(hand: str, levels: list[int]) -> None:
    """T-4.2, T-4.3: nine trumps are no poignee, twelve no double, fourteen no triple."""
    assert poignee_levels(cards(hand)) == levels


@pytest.mark.parametrize(
    ("hand", "actions", "known"),
    [
        ("T1-T10", "no_chelem no_poignee", ""),
        ("T1-T9 EX", "no_chelem poignee_10", "EX T1-T9"),
        ("T8-T19 EX", "no_chelem poignee_13", "EX T8-T19"),
        ("T1-T14 EX", "no_chelem poignee_15", "EX T1-T14"),
        ("T1-T12", "no_chelem poignee_10 T4 T12", "T1-T3 T5-T11"),
        ("T1-T12", "no_chelem poignee_10 T4 T12 T1", "T2 T3 T5-T11"),
    ],
)
def test_known_are_the_cards_shown(hand: str, actions: str, known: str) -> None:
    """T-4.3, T-4.4: until they are played; nobody else holds them."""
    deal = say(table(hand, taker=1, contract="garde_sans"), actions)
    assert deal.known(0) == set(cards(known))
    assert not deal.can_hold(1) & deal.known(0) and not deal.can_hold(2) & deal.known(0)
    if "EX" in known:
        assert deal.can_hold(0) & TRUMPS == set(cards(known)) - {"EX"}


@clause("T-4.1", binds=True)
@clause("T-4.6", binds=True)
def test_leader() -> None:
    """T-4.1, T-4.6: dealer's right, or the taker who announced a chelem."""
    deal = table("T1-T10", "2C", "T11-T20", dealer=0, taker=0, contract="garde_sans")
    assert say(deal, "no_chelem").leader == 1
    assert say(table(dealer=0, taker=3, contract="garde_sans"), "chelem").leader == 3


@clause("T-4.5", binds=True)
def test_what_four_kings_tell() -> None:
    """T-4.5: a discarded trump was shown, so the taker has the kings; not so without the rules of discarding."""
    deal = table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="garde")
    say(deal, "2C 3D 4H 5S T2 T17 no_chelem poignee_15 T17")
    assert deal.known(0) == set(cards("T3-T16"))
    assert deal.four_kings_shown
    assert deal.known(0, deep=True) >= KINGS and not deal.can_hold(1, deep=True) & KINGS
    assert "KC" in deal.can_hold(1)
    deal = table("KC KD KH KS EX T2-T14", chien="T15 2C 3D 4H 5S 6S", taker=0, contract="prise")
    say(deal, "2C 3D 4H 5S 6S T9 no_chelem poignee_15")
    assert deal.known(0) == {"EX", *cards("T2-T8 T10-T15")}


@clause("T-4.5", binds=False)
def test_three_kings_tell_nothing() -> None:
    """T-4.5: the Excuse is shown, and no discarded trump."""
    deal = table("KC KD KH EX T2-T15", chien="T16 2C 3D 4H 5S 6S", taker=0, contract="garde")
    say(deal, "2C 3D 4H 5S 6S T2 no_chelem poignee_15")
    assert not deal.four_kings_shown


# --- Tricks and points ----------------------------------------------------------------------------


@clause("T-5.3", binds=True)
@clause("T-6.2", binds=True)
def test_a_finished_trick_is_kept() -> None:
    """T-5.3: cards, seats and winner; T-6.2: its points are settled with it."""
    deal = table("KC AC", "2C", "3C", "4C", taker=3, contract="garde_contre")
    say(deal, "no_chelem AC 2C 3C 4C")
    assert deal.tricks == [Trick([(0, "AC"), (1, "2C"), (2, "3C"), (3, "4C")], 3)]
    assert deal.seat == 3 and deal.trick == []
    deal = table("EX", "2C", "3C", "4C", taker=0, contract="garde_contre")
    say(deal, "no_chelem EX 2C 3C")
    assert deal.trick_points() == []
    say(deal, "4C")
    assert deal.trick_points() == [(8, 4)]


@clause("T-6.4", binds=True)
@clause("T-6.4", binds=False)
def test_points_of_trick_18() -> None:
    """T-6.4: an Excuse led to it takes it after 17 tricks, and is lost after 16."""
    deal = table(ALL_TRUMPS, taker=2, contract="garde_contre")
    play_out(say(deal, "no_chelem no_poignee"), seat0=DOWNWARDS)
    assert deal.tricks[17].winner == 0
    deal = table("T1 T7-T21 EX AC", "KC", taker=0, contract="garde_contre")
    play_out(say(deal, "no_chelem no_poignee"), seat0="AC " + DOWNWARDS, seat1="KC")
    assert deal.tricks[0].winner == 1 and deal.tricks[17].cards[0] == (0, "EX")
    assert deal.tricks[17].winner != 0
    assert deal.trick_points()[17][0] == 0


@clause("T-6.4", binds=True)
@clause("T-6.4", binds=False)
def test_another_seat_leads_the_excuse() -> None:
    """T-6.4: to trick 18, after seat 0 took 17 tricks; seat 0 alone may."""
    swept = [Trick(trick("2C 3C 4C 5C"), 0)] * 17
    assert excuse_takes_last_trick(trick("EX 2H 3H 4H"), swept, taker=0)
    assert not excuse_takes_last_trick(trick("EX 2H 3H 4H", leader=1), swept, taker=0)
    assert excuse_takes_last_trick(trick("EX 2H 3H 4H", leader=1), swept, taker=2)
    assert not excuse_takes_last_trick(trick("EX 2H 3H 4H"), swept[:16], taker=0)


@clause("T-6.3", binds=False)
def test_shares_of_an_earlier_trick() -> None:
    """T-6.3: the Excuse stays in trick 17, whatever comes in trick 18."""
    dull = Trick(trick("2C 3C 4C 5C"), 0)
    tricks = [*[dull] * 16, Trick(trick("KH EX QH JH"), 0), Trick(trick("2D 3D 4D 5D"), 3)]
    assert share_trick(tricks, 17, taker=2) == Shares(0, 28, 0)
    assert share_trick(tricks, 17, taker=1) == Shares(8, 20, 1)


@clause("T-6.3", binds=True)
@clause("T-7.5", binds=False)
def test_score_of_a_swept_taker() -> None:
    """T-6.3, T-7.5: 86.5 points for the defence, whole numbers in the totals."""
    deal = table("T5-T21 KS", "EX", taker=2, contract="garde_contre")
    say(deal, "no_chelem no_poignee")
    play_out(deal, seat0=DOWNWARDS, seat1=" ".join(DECK[:56]) + " T4 T3 T2 T1")
    assert {done.winner for done in deal.tricks} == {0} and (1, "EX") in deal.tricks[17].cards
    score = deal.score()
    assert (score["taker_points"], score["defender_points"]) == (4.5, 86.5)
    assert all(isinstance(total, int) for total in score["totals"])


@clause("T-3.4", binds=True)
@clause("T-3.4", binds=False)
def test_points_of_the_defence() -> None:
    """T-3.4: what lies aside goes to the defence in garde contre alone."""
    points = {}
    for contract in ("garde_sans", "garde_contre"):
        deal = table(
            "T4-T20 EX", "T21 T2 T3", chien="T1 KC QC NC JC TC", taker=0, contract=contract
        )
        say(deal, "no_chelem no_poignee")
        points[contract] = play_out(deal, seat0=DOWNWARDS, seat1="T21").score()
    assert points["garde_contre"]["defender_points"] - points["garde_sans"]["defender_points"] == 17
    deal = table(ALL_TRUMPS, chien="KC QC 2C 3C 4C 5C", taker=0, contract="prise")
    say(deal, "QC 2C 3C 4C 5C T5 no_chelem no_poignee")
    score = play_out(deal, seat0="KC").score()
    assert 2 * score["taker_points"] == deal.live_points()[0] + half_points(deal.discards)


@pytest.mark.parametrize(
    ("halves", "target", "multiplier", "base"),
    [(82, 41, 1, 25), (100, 41, 4, 136), (0, 56, 6, -486), (181, 36, 2, 159), (79, 41, 1, -26.5)],
)
@clause("T-7.1", binds=True)
def test_base(halves: int, target: int, multiplier: int, base: float) -> None:
    """T-7.1: (25 + distance) x multiplier, signed; these are the function's own arguments."""
    assert base_half_points(halves, target, multiplier) == 2 * base


@clause("T-7.6", binds=True)
@clause("T-7.6", binds=False)
def test_the_recorded_example_with_a_petit() -> None:
    """T-7.6: 45 points of garde make 58; with the Petit in trick 18, 78 and 234."""
    assert base_half_points(90, TARGET[2], MULTIPLIER["garde"]) == 2 * 58
    wanted = {"contract": "garde", "oudlers": 2, "taker_points": 45}
    case = next(
        case
        for case in CASES
        if not case["score"]["annulled"] and wanted.items() <= case["score"].items()
    )
    score = replay(case).score()
    assert (score["base"], score["petit"], score["per_defender"]) == (58, 20, 78)
    assert score["totals"] == [234, -78, -78, -78]


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
