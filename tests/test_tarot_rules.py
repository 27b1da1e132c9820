"""Tarot's engines clause by clause: where each clause binds, and where it looks as if it did but does not.

Tests that take ``engine`` run through the kernels and through the plain reference engine.
"""

from __future__ import annotations

import sys
from math import comb
from typing import Any

import numpy as np
import pytest

from tarot_env import cards as tarot_cards
from tarot_env.cards import CARD_NAMES, HALF_POINTS, card_set
from tarot_env.contracts import CONTRACTS, POIGNEE_LEVELS, POIGNEE_POINTS, TARGET
from tarot_env.game import GAME, setup
from tests.clauses import clause, clauses_shared
from tests.helpers import fewer
from tests.reference import tarot as reference
from tests.tarot_engines import (
    ALL_TRUMPS,
    DOWNWARDS,
    ENGINES,
    FOUR_KINGS,
    FOUR_KINGS_CHIEN,
    Engine,
    Game,
    KernelGame,
    cards,
    deal_out,
    lay,
    play_out,
    position,
    say,
)
from tests.tarot_table import TarotTable
from trick_core.jit import entry

DECK = list(CARD_NAMES)


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.name)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each of the two engines."""
    found: Engine = request.param
    return found


# ---------------------------------------------------------------------------- cards


@clause("T-1.1", binds=True)
def test_deck(engine: Engine) -> None:
    """T-1.1: 78 cards, the ace lowest, the king highest."""
    for deck in (DECK, reference.DECK):
        assert deck[:14] == cards("AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC NC QC KC")
        assert deck[14] == "AD" and deck[55] == "KS" and deck[56:58] == ["EX", "T1"]
        assert deck[77] == "T21" and len(set(deck)) == len(deck) == 78
    assert engine.winner("AC 2C JC NC") == 3


@clause("T-1.1", binds=False)
def test_excuse_and_tens_are_no_trumps(engine: Engine) -> None:
    """T-1.1: neither the Excuse nor a ten (`TS`) is a trump: eight trumps with them are no poignée."""
    game = engine.table("EX TC TD TH TS T1-T8", taker=0, contract="garde_contre")
    assert say(game, "no_chelem").phase == "play"


@pytest.mark.parametrize(
    "actions", [list(GAME.actions), reference.ACTIONS], ids=["kernel", "reference"]
)
def test_action_ids(actions: list[str]) -> None:
    assert len(actions) == 89 and actions[:78] == DECK
    assert actions[78:83] == ["pass", "prise", "garde", "garde_sans", "garde_contre"]
    assert actions[83:85] == ["no_chelem", "chelem"]
    assert actions[85:] == ["no_poignee", "poignee_10", "poignee_13", "poignee_15"]


@clause("T-1.2", binds=True)
def test_oudlers(engine: Engine) -> None:
    """T-1.2: the Petit, trump 21 and the Excuse count as the taker's when the taker wins them."""
    assert engine.shares("T21 EX T1 T2", taker=0)[2] == 2
    assert engine.shares("EX T2 T3 T4", taker=0)[2] == 1


@clause("T-1.2", binds=False)
def test_a_king_is_no_oudler(engine: Engine) -> None:
    """T-1.2: a king is worth as much, but is none."""
    assert engine.shares("KC KD KH KS", taker=0) == [36, 0, 0]


@clause("T-1.3", binds=True)
def test_card_points(engine: Engine) -> None:
    """T-1.3: 91 points, 182 halves."""
    kernel = dict(zip(DECK, HALF_POINTS.tolist(), strict=True))
    for points in (kernel, reference.HALF_POINTS):
        worth = [points[card] for card in cards("EX T1 T21 KH QH NH JH TH AH T20")]
        assert worth == [9, 9, 9, 9, 7, 5, 3, 1, 1, 1]
        assert sum(points.values()) == 182
    assert engine.shares("JH NH QH KH", taker=3) == [24, 0, 0]


@clause("T-1.3", binds=False)
def test_points_do_not_follow_strength(engine: Engine) -> None:
    """T-1.3: trump 20 takes nearly everything and is worth as little as an ace."""
    assert engine.shares("T20 AC 2C TC", taker=0) == [4, 0, 0]


def test_points_of_a_set_are_those_of_its_cards() -> None:
    """The set's points, which discards and chien use, agree with the table of cards."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        chosen = rng.choice(78, 6, replace=False)
        suits, trumps = card_set(chosen.tolist())
        assert half_points(np.uint64(suits), np.uint64(trumps)) == HALF_POINTS[chosen].sum()


_inner_half_points = tarot_cards.half_points


@entry(None)
def half_points(suits: Any, trumps: Any) -> Any:
    """The inner kernel as a function that Python can call."""
    return _inner_half_points(suits, trumps)


@pytest.mark.parametrize(("oudlers", "target"), [(0, 56), (1, 51), (2, 41), (3, 36)])
@clause("T-1.4", binds=True)
def test_targets(engine: Engine, oudlers: int, target: int) -> None:
    """T-1.4: reaching the target wins, half a point less loses."""
    assert TARGET[oudlers] == reference.TARGET[oudlers] == target
    before = 2 * target - 4  # trick 18 is worth 2
    won = engine.settled(taker=3, taker_points=before, oudlers=oudlers)
    lost = engine.settled(taker=3, taker_points=before - 1, oudlers=oudlers)
    assert (won["made"], won["base"], won["target"]) == (1, 25, target)
    assert (lost["made"], lost["base"], lost["target"]) == (0, -25.5, target)


@clause("T-1.4", binds=False)
def test_an_oudler_dealt_is_not_an_oudler_held_at_the_end(engine: Engine) -> None:
    """T-1.4: the taker starts with all three oudlers but loses the Excuse in trick 18."""
    info = excuse_led_to_trick_18_without_a_slam(engine).info()
    assert (info["oudlers"], info["target"]) == (2, 41)


# ---------------------------------------------------------------------------- deal and bidding


@clause("T-2.1", binds=True)
def test_sizes() -> None:
    """T-2.1: drawn deals have 18 cards each, six in the chien, every card once."""
    plain = setup()
    for number in range(fewer(200, 5)):
        table = TarotTable(plain, seed=1, number=number)
        hands = [table.hand(seat) for seat in range(4)]
        chien = table.set("chien")
        assert [len(hand) for hand in hands] == [18] * 4 and len(chien) == 6
        assert sorted(sum(hands, chien)) == sorted(CARD_NAMES)


@clause("T-2.1", binds=True)
def test_order_of_play(engine: Engine) -> None:
    """T-2.1: hands of 18 cards; seats s, s+1, ..."""
    game = engine.table(dealer=1)
    assert [len(game.hand(seat)) for seat in range(4)] == [18] * 4
    order = [game.seat]
    for bid in ("pass", "garde", "pass"):
        say(game, bid)
        order.append(game.seat)
    assert order == [2, 3, 0, 1]


@clause("T-2.1", binds=False)
def test_hands_may_come_in_any_order(engine: Engine) -> None:
    """T-2.1: the order of the cards within a hand says nothing."""
    hands, chien = deal_out()
    one = engine.deal(hands, chien, 3)
    two = engine.deal([hand[::-1] for hand in hands], chien[::-1], 3)
    assert [one.hand(seat) for seat in range(4)] == [two.hand(seat) for seat in range(4)]
    assert one.legal() == two.legal()


@clause("T-2.1", binds=False)
def test_the_order_of_hands_is_not_seen() -> None:
    """T-2.1: nor does it change what a seat observes."""
    hands, chien = deal_out()
    turned = {"hands": [hand[::-1] for hand in hands], "chien": chien[::-1]}
    assert lay().words(0) == TarotTable(setup(), deal=turned, dealer=3).words(0)


PETIT_SEC = "T1 KC QC NC JC TC 9C 8C 7C 6C 5C 4C 3C 2C AC KD QD ND"


@pytest.mark.parametrize(("hands", "seat"), [((PETIT_SEC,), 0), (("EX", "T2", PETIT_SEC, "T3"), 2)])
@clause("T-2.2", binds=True)
def test_petit_sec_is_an_error(engine: Engine, hands: tuple[str, ...], seat: int) -> None:
    """T-2.2: the error names the rule and the seat."""
    message = rf"(?s)(?=.*T-2\.2)(?=.*petit sec).*seat {seat}"
    with pytest.raises(ValueError, match=message):
        engine.table(*hands)


@clause("T-2.2", binds=True)
@pytest.mark.skipif(not fewer(1, 0), reason="some thousand deals")
def test_petit_sec_is_dealt_again() -> None:
    """T-2.2: drawn deals have none, and the redeals are counted."""
    redeals, plain = 0.0, setup()
    for number in range(6000):
        fresh = TarotTable(plain, seed=5, number=number)
        assert 0b10 not in fresh.field("hands_trumps")
        redeals += fresh.info()["redeals"]
    # One of four hands has the Petit and 17 of the 56 suit cards: 11 redeals are expected, give or take 3.
    assert 1 < redeals < 24


@pytest.mark.parametrize("hand", ["T1 EX", "T1 T2", "T2", "", "EX"])
@clause("T-2.2", binds=False)
def test_not_a_petit_sec(engine: Engine, hand: str) -> None:
    """T-2.2: the Excuse or a second trump saves the Petit; no trump at all is no petit sec."""
    rest = cards("KC QC NC JC TC 9C 8C 7C 6C 5C 4C 3C 2C AC KD QD ND JD")
    full = (cards(hand) + rest)[:18]
    held = engine.table(" ".join(full)).hand(0)
    assert sorted(held) == sorted(full)


@clause("T-2.3", binds=True)
def test_bids_go_up_and_each_seat_speaks_once(engine: Engine) -> None:
    """T-2.3: dealer's right first; only higher bids; after garde contre only pass, still asked."""
    game = engine.table(dealer=0)
    assert game.seat == 1
    assert game.legal() == ["pass", "prise", "garde", "garde_sans", "garde_contre"]
    assert say(game, "prise").legal() == ["pass", "garde", "garde_sans", "garde_contre"]
    assert say(game, "garde_contre").legal() == ["pass"]
    assert say(game, "pass").phase == "bid" and game.seat == 0
    say(game, "pass")
    assert (game.phase, game.taker, game.contract) == ("chelem", 2, "garde_contre")
    multipliers = {"prise": 1, "garde": 2, "garde_sans": 4, "garde_contre": 6}
    assert {row.name: row.multiplier for row in CONTRACTS} == multipliers
    assert multipliers == reference.MULTIPLIER


@clause("T-2.3", binds=False)
def test_a_pass_does_not_raise_the_floor(engine: Engine) -> None:
    """T-2.3: after passes every bid is open; the last speaker may still be the only one."""
    game = say(engine.table(), "pass pass pass")
    assert game.legal() == ["pass", "prise", "garde", "garde_sans", "garde_contre"]
    assert say(game, "prise").taker == 3


@clause("T-2.4", binds=True)
def test_four_passes_annul(engine: Engine) -> None:
    """T-2.4: all score 0."""
    game = say(engine.table(), "pass pass pass pass")
    assert (game.phase, game.seat, game.legal()) == ("over", None, [])
    assert game.points() == [0, 0, 0, 0]
    assert game.info()["annulled"] == 1


@clause("T-2.4", binds=True)
def test_an_annulled_deal_gains_nothing() -> None:
    """T-2.4: no reward for the last pass, and nothing was settled."""
    table = lay()
    assert table.play("pass pass pass pass") == [0, 0, 0, 0]
    assert table.info()["settled"] == 0


@clause("T-2.4", binds=False)
def test_one_bid_is_enough(engine: Engine) -> None:
    """T-2.4: a bid among passes starts a contract; with `forbid_pass` the last seat must bid."""
    assert say(engine.table(), "pass prise pass pass").phase == "discard"
    game = say(engine.table(forbid_pass=True), "pass pass pass")
    assert game.legal() == ["prise", "garde", "garde_sans", "garde_contre"]
    game = say(engine.table(forbid_pass=True), "pass prise pass")
    assert game.legal() == ["pass", "garde", "garde_sans", "garde_contre"]


# ---------------------------------------------------------------------------- chien and discard


@pytest.mark.parametrize("contract", ["prise", "garde"])
@clause("T-3.1", binds=True)
def test_taker_picks_up_the_chien(engine: Engine, contract: str) -> None:
    """T-3.1: the chien is public, the taker has 24 cards and discards six, one by one."""
    chien = "AC KD T1 EX 3S 4S"
    game = engine.table(chien=chien, taker=2, contract=contract)
    assert (game.phase, game.seat, len(game.hand(2))) == ("discard", 2, 24)
    assert set(cards(chien)) <= set(game.hand(2))
    assert game.excludes(0, chien)
    for left in range(24, 18, -1):
        assert game.phase == "discard" and len(game.hand(2)) == left
        say(game, game.legal()[0])
    assert (game.phase, game.seat, len(game.discards())) == ("chelem", 2, 6)


@pytest.mark.parametrize("contract", ["garde_sans", "garde_contre"])
@clause("T-3.1", binds=False)
def test_nobody_picks_up_the_chien(engine: Engine, contract: str) -> None:
    """T-3.1: not in garde sans and garde contre: no pick-up, nothing public."""
    game = engine.table(chien="AC KD T1 EX 3S 4S", taker=2, contract=contract)
    assert game.phase == "chelem" and len(game.hand(2)) == 18
    assert all(game.can_hold(seat) == set(DECK) for seat in range(4))


@pytest.mark.parametrize("contract", ["garde_sans", "garde_contre"])
@clause("T-3.1", binds=False)
def test_nobody_sees_the_chien(contract: str) -> None:
    """T-3.1: the taker of garde sans and garde contre observes no chien."""
    table = lay(chien="AC KD T1 EX 3S 4S", taker=2, contract=contract)
    assert not any(GAME.layout.read(table.observe(2)[0], "chien").ravel())


@clause("T-3.2", binds=True)
def test_trumps_may_be_discarded_when_suit_cards_are_gone(engine: Engine) -> None:
    """T-3.2: suit cards but kings first; then trumps but oudlers."""
    game = engine.table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    assert game.legal() == cards("2C 3D 4H 5S")
    assert say(game, "3D 2C 5S 4H").legal() == cards("T2-T17")
    hand = "KC KD KH KS EX T8-T20"
    game = engine.table(hand, chien="T21 T1 2C 3D 4H 5S", taker=0, contract="prise")
    assert say(game, "3D 2C 5S 4H").legal() == cards("T8-T20")


@clause("T-3.2", binds=False)
def test_a_single_suit_card_keeps_the_trumps(engine: Engine) -> None:
    """T-3.2: with any suit card but kings left, no trump is legal; a queen is no king."""
    hand, chien = "KC KD KH KS QC T2-T14", "EX T1 T21 T20 T19 T18"
    game = engine.table(hand, chien=chien, taker=0, contract="garde")
    assert game.legal() == ["QC"]


@clause("T-3.3", binds=True)
def test_discarded_trumps_are_public(engine: Engine) -> None:
    """T-3.3: nobody can hold them any more, and the taker's other suit cards are all kings."""
    game = engine.table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    say(game, "3D 2C 5S 4H T3 T2")
    assert all(game.excludes(seat, "T2 T3") for seat in range(4))
    assert game.can_hold(0) & set(cards("KC QC AS")) == {"KC"}


@clause("T-3.3", binds=True)
def test_discarded_trumps_are_seen_by_all() -> None:
    """T-3.3: every seat observes them."""
    table = lay(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    table.play("3D 2C 5S 4H T3 T2")
    for seat in range(4):
        seen = GAME.layout.read(table.observe(seat)[0], "discarded_trumps").ravel()
        assert np.flatnonzero(seen).tolist() == [1, 2]


@clause("T-3.3", binds=False)
def test_discarded_suit_cards_are_hidden(engine: Engine) -> None:
    """T-3.3: publicly they may still be in the taker's hand."""
    game = engine.table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    say(game, "3D 2C 5S 4H")
    assert set(cards("3D 2C 5S 4H")) <= game.can_hold(0)
    assert game.excludes(1, "3D 2C 5S 4H")


@clause("T-3.3", binds=False)
def test_discarded_suit_cards_are_seen_by_the_taker() -> None:
    """T-3.3: the taker alone sees them aside."""
    table = lay(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    table.play("3D 2C 5S 4H")
    assert GAME.layout.read(table.observe(0)[0], "own_discard").sum() == 4
    assert GAME.layout.read(table.observe(1)[0], "own_discard").sum() == 0


@clause("T-3.4", binds=True)
def test_the_chien_goes_to_the_taker_or_to_the_defence(engine: Engine) -> None:
    """T-3.4: garde sans gives the taker its points and oudlers; garde contre the defence."""
    hands = ("T4-T20 EX", "T21 T2 T3")
    chien = "T1 KC QC NC JC TC"  # 4.5 + 4.5 + 3.5 + 2.5 + 1.5 + 0.5 = 17
    lines = {}
    for contract in ("garde_sans", "garde_contre"):
        game = engine.table(*hands, chien=chien, dealer=3, taker=0, contract=contract)
        say(game, "no_chelem no_poignee")
        lines[contract] = play_out(game, seat0=DOWNWARDS, seat1="T21").info()
    sans, contre = lines["garde_sans"], lines["garde_contre"]
    assert sans["taker_points"] - contre["taker_points"] == 17
    assert sans["oudlers"] - contre["oudlers"] == 1


@clause("T-3.4", binds=False)
def test_in_prise_the_discards_count_not_the_chien(engine: Engine) -> None:
    """T-3.4: with a discard the taker scores what was discarded; the chien was picked up."""
    game = engine.table(ALL_TRUMPS, chien="KC QC 2C 3C 4C 5C", taker=0, contract="prise")
    say(game, "QC 2C 3C 4C 5C T5 no_chelem no_poignee")
    assert game.running() == (0, 0)
    play_out(game, seat0="KC")
    discards = 7 + 5  # the queen, and five cards of a half point
    assert 2 * game.info()["taker_points"] == game.running()[0] + discards


# ---------------------------------------------------------------------------- declarations


@clause("T-4.1", binds=True)
def test_order_of_declarations(engine: Engine) -> None:
    """T-4.1: the taker's chelem first, then poignées from the seat that will lead."""
    hands = ("T1-T10", "2C", "T11-T20")
    game = engine.table(*hands, dealer=0, taker=0, contract="garde_sans")
    assert (game.phase, game.seat) == ("chelem", 0)
    say(game, "no_chelem")
    assert (game.phase, game.seat) == ("poignee", 2)
    say(game, "poignee_10")
    assert (game.phase, game.seat) == ("poignee", 0)
    say(game, "no_poignee")
    assert (game.phase, game.seat) == ("play", 1)
    announced = engine.table(*hands, dealer=0, taker=0, contract="garde_sans")
    say(announced, "chelem")
    assert (announced.phase, announced.seat) == ("poignee", 0)


@clause("T-4.1", binds=False)
@pytest.mark.parametrize(("hands", "asked"), [(("2C", "T1-T10"), 1), (("T1-T10",), 0)])
def test_no_level_no_question_and_no_evidence(
    engine: Engine, hands: tuple[str, ...], asked: int
) -> None:
    """T-4.1: nine trumps are not asked; being asked and declining is no evidence."""
    game = engine.table("T1-T9", "T10-T18", taker=0, contract="garde_contre")
    assert say(game, "no_chelem").phase == "play"
    game = engine.table(*hands, taker=0, contract="garde_contre")
    assert say(game, "no_chelem").phase == "poignee" and game.seat == asked
    assert all(game.can_hold(seat) == set(DECK) for seat in range(4))
    say(game, "no_poignee")
    assert game.phase == "play" and game.shown() == {}
    assert all(game.can_hold(seat) == set(DECK) for seat in range(4))


@clause("T-4.1", binds=False)
def test_a_question_is_not_seen() -> None:
    """T-4.1: being asked and declining changes nobody else's view."""
    table = lay("2C", "T1-T10", taker=0, contract="garde_contre")
    table.play("no_chelem")
    assert table.phase == "poignee"
    asked = [table.words(seat) for seat in (0, 2, 3)]
    table.play("no_poignee")
    assert asked == [table.words(seat) for seat in (0, 2, 3)]


@clause("T-4.2", binds=True)
def test_levels(engine: Engine) -> None:
    """T-4.2: 10, 13, 15 trumps; any level held may be chosen; exactly that many are shown."""
    points = {10: 20, 13: 30, 15: 40}
    assert dict(zip(POIGNEE_LEVELS, POIGNEE_POINTS[1:], strict=True)) == points
    assert points == reference.POIGNEE_POINTS
    for trumps, levels in (("T1-T10", [10]), ("T1-T13", [10, 13]), ("T1-T18", [10, 13, 15])):
        game = say(engine.table(trumps, taker=1, contract="garde_sans"), "no_chelem")
        assert game.legal() == ["no_poignee", *(f"poignee_{level}" for level in levels)]
    game = say(engine.table("T1-T13", taker=1, contract="garde_sans"), "no_chelem poignee_13")
    assert (game.shown(), game.shown_level()) == ({0: cards("T1-T13")}, {0: 13})


@clause("T-4.2", binds=False)
def test_too_few_trumps(engine: Engine) -> None:
    """T-4.2: nine trumps are no poignée, twelve no double, fourteen no triple."""
    for trumps, levels in (("T1-T9", []), ("T1-T12", [10]), ("T1-T14", [10, 13])):
        game = engine.table(trumps, "2C", "3C", "4C", taker=1, contract="garde_sans")
        say(game, "no_chelem")
        wanted = ["no_poignee", *(f"poignee_{level}" for level in levels)]
        assert (game.legal() == wanted) if levels else (game.phase == "play")


@pytest.mark.parametrize(("trumps", "level"), [("T1-T9", 10), ("T8-T19", 13), ("T1-T14", 15)])
@clause("T-4.3", binds=True)
def test_excuse_helps_with_one_missing_trump(engine: Engine, trumps: str, level: int) -> None:
    """T-4.3: level-1 trumps, all shown with the Excuse; so the others are ruled out."""
    game = say(engine.table(f"{trumps} EX", taker=1, contract="garde_sans"), "no_chelem")
    assert game.legal()[-1] == f"poignee_{level}"
    say(game, f"poignee_{level}")
    shown = ["EX", *cards(trumps)]
    assert game.shown() == {0: shown} and game.phase == "play"
    assert game.can_hold(0) & set(DECK[56:]) == set(shown)
    assert game.excludes(0, " ".join(card for card in DECK[56:] if card not in shown))
    assert game.excludes(1, " ".join(shown))


@clause("T-4.3", binds=False)
def test_excuse_does_not_help_twice_nor_is_shown_without_need(engine: Engine) -> None:
    """T-4.3: two missing are too many; with ten trumps the Excuse stays hidden and unknown."""
    game = engine.table("T1-T8 EX", taker=1, contract="garde_sans")
    assert say(game, "no_chelem").phase == "play"
    game = engine.table("T1-T11 EX", taker=1, contract="garde_sans")
    assert say(game, "no_chelem").legal() == ["no_poignee", "poignee_10"]
    game = say(engine.table("T1-T10 EX", taker=1, contract="garde_sans"), "no_chelem poignee_10")
    assert game.shown() == {0: cards("T1-T10")} and game.phase == "play"
    assert {"T21", "EX"} <= game.can_hold(0) and "EX" in game.can_hold(1)
    # Kept back are trumps alone, never the Excuse.
    game = say(engine.table("T1-T11 EX", taker=1, contract="garde_sans"), "no_chelem poignee_10")
    assert game.phase == "keep" and game.legal() == cards("T1-T11")


def ways_to_show(
    game: Game, kept: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every sequence of cards kept back from here, with what it leaves shown."""
    if game.phase != "keep":
        return [(kept, tuple(game.shown()[0]))]
    here = game.save()
    ways = []
    for card in game.legal():
        say(game, card)
        ways += ways_to_show(game, (*kept, card))
        game.restore(here)
    return ways


@pytest.mark.parametrize(("trumps", "level"), [(11, 10), (12, 10), (14, 10), (15, 13), (18, 15)])
@clause("T-4.4", binds=True)
def test_every_subset_is_shown_in_exactly_one_way(engine: Engine, trumps: int, level: int) -> None:
    """T-4.4: kept back one by one in ascending order."""
    game = engine.table(f"T1-T{trumps}", taker=1, contract="garde_sans")
    ways = ways_to_show(say(game, f"no_chelem poignee_{level}"))
    assert len(ways) == len({shown for _, shown in ways}) == comb(trumps, level)
    assert {len(shown) for _, shown in ways} == {level}
    for kept, _ in ways:
        assert list(kept) == sorted(kept, key=DECK.index)


@clause("T-4.4", binds=True)
def test_kept_back_by_hand(engine: Engine) -> None:
    """T-4.4: of T1-T12 show ten: T4 first leaves T5-T12, T11 would leave T12 alone."""
    game = say(engine.table("T1-T12", taker=1, contract="garde_sans"), "no_chelem poignee_10")
    assert (game.phase, game.seat, game.legal()) == ("keep", 0, cards("T1-T11"))
    assert say(game, "T4").legal() == cards("T5-T12")
    assert game.shown() == {} and game.can_hold(1) == set(DECK)  # nothing shown yet
    say(game, "T12")
    assert game.shown() == {0: cards("T1-T3 T5-T11")} and game.phase == "play"
    assert "T4" in game.can_hold(0) and "T4" in game.can_hold(1)
    assert game.excludes(2, "T1-T3 T5-T11")


@clause("T-4.4", binds=False)
def test_nothing_to_keep_back(engine: Engine) -> None:
    """T-4.4: a hand with exactly as many trumps as the level shows them at once."""
    game = say(engine.table("T1-T13", taker=1, contract="garde_sans"), "no_chelem poignee_13")
    assert game.phase == "play" and game.shown() == {0: cards("T1-T13")}


@clause("T-4.5", binds=True)
def test_four_kings_count_discarded_trumps(engine: Engine) -> None:
    """T-4.5: 14 trumps and two discarded make 16; one of the whole set is kept back."""
    game = engine.table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="garde")
    say(game, "2C 3D 4H 5S T2 T17 no_chelem")
    assert game.legal() == ["no_poignee", "poignee_10", "poignee_13", "poignee_15"]
    assert say(game, "poignee_15").legal() == cards("T2-T17")
    say(game, "T17")  # a discarded trump may be named
    assert game.shown() == {0: cards("T2-T16")}
    kings = set(cards("KC KD KH KS"))
    assert kings <= game.can_hold(0) and not kings & game.can_hold(1)


@clause("T-4.5", binds=True)
def test_four_kings_with_the_excuse(engine: Engine) -> None:
    """T-4.5: 13 trumps, one discarded and the Excuse make 15, all shown."""
    hand = "KC KD KH KS EX T2-T14"
    game = engine.table(hand, chien="T15 2C 3D 4H 5S 6S", taker=0, contract="prise")
    say(game, "2C 3D 4H 5S 6S T9 no_chelem poignee_15")
    assert game.shown() == {0: ["EX", *cards("T2-T15")]} and game.phase == "play"
    assert game.excludes(0, "T1 T16 T9")
    # With one trump more the Excuse is not shown.
    game = engine.table(hand, chien="T15 T16 3D 4H 5S 6S", taker=0, contract="prise")
    say(game, "3D 4H 5S 6S T9 T10 no_chelem poignee_15")
    assert game.shown() == {0: cards("T2-T16")} and "EX" in game.can_hold(1)


@clause("T-4.5", binds=False)
def test_discarded_trumps_do_not_count_otherwise(engine: Engine) -> None:
    """T-4.5: not for lower levels, not with three kings, not without discarded trumps."""
    game = engine.table(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="garde")
    say(game, "2C 3D 4H 5S T2 T17 no_chelem poignee_13")
    assert game.legal() == cards("T3-T16")
    hand, chien = "KC KD KH EX T2-T15", "T16 2C 3D 4H 5S 6S"
    game = engine.table(hand, chien=chien, taker=0, contract="garde")
    say(game, "2C 3D 4H 5S 6S T2 no_chelem poignee_15")
    assert game.shown() == {0: ["EX", *cards("T3-T16")]}  # T-4.3: the Excuse, not T2
    assert "KC" in game.can_hold(1)
    # Four kings and 14 trumps, but nothing discarded.
    game = say(engine.table(FOUR_KINGS, taker=0, contract="garde_sans"), "no_chelem")
    assert game.legal() == ["no_poignee", "poignee_10", "poignee_13"]


@clause("T-4.6", binds=True)
def test_an_announced_chelem_gives_the_lead(engine: Engine) -> None:
    """T-4.6: only the taker is asked, and leads after announcing."""
    game = engine.table(dealer=0, taker=3, contract="garde_sans")
    assert game.seat == 3 and game.legal() == ["no_chelem", "chelem"]
    say(game, "chelem")
    assert (game.phase, game.seat) == ("play", 3)


@clause("T-4.6", binds=True)
def test_the_record_names_the_leader() -> None:
    """T-4.6: before the first card the taker is known to lead."""
    table = lay(dealer=0, taker=3, contract="garde_sans")
    table.play("chelem")
    assert table.field("leader") == 3


@clause("T-4.6", binds=False)
def test_without_a_chelem_dealers_right_leads(engine: Engine) -> None:
    """T-4.6: whoever the taker is."""
    game = say(engine.table(dealer=0, taker=3, contract="garde_sans"), "no_chelem")
    assert (game.phase, game.seat) == ("play", 1)


# ---------------------------------------------------------------------------- play


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
def test_follow_else_trump(engine: Engine, hand: str, on: str, legal: str) -> None:
    """T-5.1: follow, else trump; the Excuse is always there."""
    assert engine.playable(hand, on) == cards(legal)


@pytest.mark.parametrize(
    ("hand", "on"),
    [
        ("2C 3S KD", "9H"),
        ("2C 3S EX", "9H"),
        ("2C EX", "T9"),
        ("2D 3D T5 EX", ""),
        ("2C 3D T5 EX", ""),
    ],
)
@clause("T-5.1", binds=False)
def test_free_choice(engine: Engine, hand: str, on: str) -> None:
    """T-5.1: with neither suit nor trump, or leading, any card."""
    assert set(engine.playable(hand, on)) == set(cards(hand))


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
def test_overtrump(engine: Engine, hand: str, on: str, legal: str) -> None:
    """T-5.2: a trump that must be played beats the highest in the trick if it can."""
    assert engine.playable(hand, on) == cards(legal)


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
def test_nothing_to_overtrump(engine: Engine, hand: str, on: str, legal: str) -> None:
    """T-5.2: no duty to beat a suit, nor with no trump in the trick."""
    assert engine.playable(hand, on) == cards(legal)


@clause("T-5.3", binds=True)
def test_who_takes_the_trick(engine: Engine) -> None:
    """T-5.3: the highest trump, else the highest card of the suit led; the winner leads."""
    assert engine.winner("2H KH QH AH") == 1
    assert engine.winner("KH T2 T5 T3") == 2
    assert engine.winner("T2 KH T21 T20") == 2
    game = engine.table("KC AC", "2C", "3C", "4C", taker=3, contract="garde_contre")
    say(game, "no_chelem AC 2C 3C 4C")
    assert game.seat == 3 and game.taken() == [0, 0, 0, 1]


@clause("T-5.3", binds=True)
def test_a_trick_taken_is_cleared() -> None:
    """T-5.3: no card of it lies there for the next."""
    table = lay("KC AC", "2C", "3C", "4C", taker=3, contract="garde_contre")
    table.play("no_chelem AC 2C 3C 4C")
    assert table.set("trick", 0) == []


@clause("T-5.3", binds=False)
def test_a_higher_card_of_another_suit_takes_nothing(engine: Engine) -> None:
    """T-5.3: discards do not win, and neither does a low trump under a higher one."""
    assert engine.winner("AH KC KD KS") == 0
    assert engine.winner("2H T9 T8 KH") == 1


@clause("T-5.4", binds=True)
def test_excuse_led(engine: Engine) -> None:
    """T-5.4: the next card is free and sets the suit; later seats follow that."""
    assert engine.playable("2C 3H T5", "EX") == cards("2C 3H T5")
    assert engine.playable("2C 3H T5", "EX 9H") == ["3H"]
    assert engine.playable("2C 3H T5", "EX T4") == ["T5"]
    assert engine.winner("EX 9H TH KC") == 2
    assert engine.winner("EX T4 9H KH") == 1


@clause("T-5.4", binds=False)
def test_excuse_later_sets_nothing_and_is_not_forced(engine: Engine) -> None:
    """T-5.4: an Excuse in the middle changes nothing; alone it is no trump to be forced."""
    assert engine.playable("2C 3H T5", "9H EX") == ["3H"]
    assert engine.playable("2C 3C EX", "9H T4") == cards("2C 3C EX")
    assert engine.winner("9H EX TH KC") == 2


# ---------------------------------------------------------------------------- the Excuse


def excuse_led_to_trick_18_without_a_slam(engine: Engine) -> Game:
    """Garde contre by seat 0, with all oudlers: loses trick 1, leads the Excuse to trick 18."""
    game = engine.table("T1 T7-T21 EX AC", "KC", taker=0, contract="garde_contre")
    assert set(cards("T1 T21 EX")) <= set(game.hand(0))
    say(game, "no_chelem no_poignee")
    play_out(game, seat0="AC " + DOWNWARDS, seat1="KC")
    assert game.trick(2)[0][0] == 1
    assert game.trick(18)[0] == (0, "EX")
    return game


def taker_slam(
    engine: Engine, declarations: str, contract: str = "garde_sans", hand: str = ALL_TRUMPS
) -> Game:
    """Seat 0, the taker and first to lead, takes everything and leads the Excuse to trick 18."""
    game = say(engine.table(hand, taker=0, contract=contract), declarations)
    play_out(game, seat0=DOWNWARDS)
    assert game.trick(18)[0] == (0, "EX")
    return game


@clause("T-6.1", binds=True)
def test_excuse_takes_no_trick(engine: Engine) -> None:
    """T-6.1: led or not."""
    assert engine.winner("EX AC 2D 3D") == 1
    assert engine.winner("AC EX 2D 3D") == 0
    assert excuse_led_to_trick_18_without_a_slam(engine).taken()[0] == 16


@clause("T-6.1", binds=False)
def test_but_the_slams_excuse_does(engine: Engine) -> None:
    """T-6.1: the exception of T-6.4."""
    assert taker_slam(engine, "no_chelem no_poignee").taken() == [18, 0, 0, 0]


@pytest.mark.parametrize(
    ("on", "taker", "wanted"),
    [
        # Taker's Excuse, defence takes KH QH JH (9 + 7 + 3): half a point to the defence.
        ("EX KH QH JH", 0, [9 - 1, 19 + 1, 1]),
        # A defender's Excuse, the taker takes the trick.
        ("KH EX QH JH", 0, [19 + 1, 9 - 1, 0]),
        # The Petit changes hands, the Excuse does not.
        ("T21 EX T1 T2", 0, [19 + 1, 9 - 1, 2]),
        ("T2 T1 T21 EX", 3, [9 - 1, 19 + 1, 1]),
    ],
)
@clause("T-6.2", binds=True)
def test_excuse_stays_and_pays_half_a_point(
    engine: Engine, on: str, taker: int, wanted: list[int]
) -> None:
    """T-6.2: before trick 18 it stays; 4 for its side, half a point for the side with the trick."""
    assert engine.shares(on, taker) == wanted
    assert engine.shares(on, taker, number=17) == wanted


@clause("T-6.2", binds=False)
def test_nothing_is_paid_within_a_side(engine: Engine) -> None:
    """T-6.2: a defender's Excuse in a defender's trick stays, unpaid."""
    assert engine.shares("KH EX QH JH", taker=2) == [0, 28, 0]
    assert engine.shares("EX KH QH JH", taker=3) == [0, 28, 0]


@clause("T-6.2", binds=True)
def test_the_half_point_is_settled_at_once(engine: Engine) -> None:
    """T-6.2: the running points of the trick itself already hold it."""
    game = engine.table("EX", "2C", "3C", "4C", taker=0, contract="garde_contre")
    assert say(game, "no_chelem EX 2C 3C").running() == (0, 0)
    assert say(game, "4C").running() == (8, 4)


@clause("T-6.2", binds=True)
def test_the_half_point_is_rewarded_at_once() -> None:
    """T-6.2: the reward of the trick itself already holds it, and the observation too."""
    table = lay("EX", "2C", "3C", "4C", taker=0, contract="garde_contre")
    table.play("no_chelem EX 2C 3C")
    assert table.play("4C") == [3 * 6 * 2, -6 * 2, -6 * 2, -6 * 2]  # 4 - 2 points, six times
    assert table.pieces(1)["points"] == [8, 4]


@pytest.mark.parametrize(
    ("on", "taker", "wanted"),
    [
        ("KH EX QH JH", 1, [0, 28, 0]),  # taker's, lost with the trick
        ("KH EX QH JH", 0, [28, 0, 1]),  # a defender's, to the taker with the trick
        ("KH EX QH JH", 2, [9, 19, 1]),  # a defender's in a defender's trick
        ("EX KH QH JH", 3, [9, 19, 1]),  # led, but no slam behind it
    ],
)
@clause("T-6.3", binds=True)
def test_excuse_in_trick_18_changes_sides(
    engine: Engine, on: str, taker: int, wanted: list[int]
) -> None:
    """T-6.3: to the opposing side, whoever takes the trick; no half point."""
    assert engine.shares(on, taker, number=18, taken=[1, 14, 1, 1]) == wanted


@clause("T-6.3", binds=False)
def test_trick_17_is_not_trick_18(engine: Engine) -> None:
    """T-6.3: one trick earlier the Excuse stays (T-6.2)."""
    assert engine.shares("KH EX QH JH", taker=2, number=17) == [0, 28, 0]
    assert engine.shares("KH EX QH JH", taker=1, number=17) == [8, 20, 1]


def defence_sweep_with_its_excuse_behind(engine: Engine, contract: str, chelem: str) -> Game:
    """Seat 0, a defender, takes all 18 tricks; seat 1 throws the Excuse on trick 18."""
    game = engine.table("T5-T21 KS", "EX", taker=2, contract=contract)
    say(game, f"{chelem} no_poignee")
    # Seat 2 may be on lead; seat 0 has no suit but the KS, which is kept for last.
    play_out(game, seat0=DOWNWARDS, seat1=" ".join(DECK[:56]) + " T4 T3 T2 T1")
    assert game.taken() == [18, 0, 0, 0]
    assert (1, "EX") in game.trick(18)
    return game


@clause("T-6.3", binds=True)
@clause("T-6.4", binds=False)
def test_partners_excuse_behind_a_slam_still_changes_sides(engine: Engine) -> None:
    """T-6.3: the only exception is an Excuse led; so the swept taker has 4.5 and an oudler."""
    info = defence_sweep_with_its_excuse_behind(engine, "garde_contre", "no_chelem").info()
    assert info["taker_points"] == 4.5
    assert (info["oudlers"], info["target"], info["made"]) == (1, 51, 0)
    assert info["base"] == -(25 + 46.5) * 6
    assert info["chelem"] == -200


@clause("T-6.3", binds=True)
def test_the_record_tells_when_the_excuse_fell() -> None:
    """T-6.3: seat 1 throws it on trick 18."""
    table = lay("T5-T21 KS", "EX", taker=2, contract="garde_contre")
    table.play("no_chelem no_poignee")
    play_out(KernelGame(table), seat0=DOWNWARDS, seat1=" ".join(DECK[:56]) + " T4 T3 T2 T1")
    assert (table.field("excuse_seat"), table.field("excuse_trick")) == (1, 17)


@clause("T-6.4", binds=False)
def test_excuse_led_after_a_lost_trick(engine: Engine) -> None:
    """T-6.4: 16 tricks are not 17; the Excuse and the trick go to the defence."""
    game = excuse_led_to_trick_18_without_a_slam(engine)
    assert game.info()["chelem"] == 0
    assert game.taken()[0] == 16 and game.info()["oudlers"] == 2


@pytest.mark.parametrize(
    ("on", "taker", "taken", "takes"),
    [
        ("EX 2H 3H 4H", 0, [17, 0, 0, 0], True),
        ("EX 2H 3H 4H", 1, [5, 0, 6, 6], True),  # the defence, several of whom took tricks
        ("EX 2H 3H 4H", 1, [0, 17, 0, 0], False),  # the other side's sweep
        ("EX 2H 3H 4H", 0, [16, 0, 1, 0], False),
        ("EX 2H 3H 4H", 0, [16, 0, 0, 0], False),  # trick 17
        ("2H EX 3H 4H", 1, [0, 17, 0, 0], False),  # the Excuse was not led
        ("2H EX 3H 4H", 0, [17, 0, 0, 0], False),
    ],
)
@clause("T-6.4", binds=True)
@clause("T-6.4", binds=False)
def test_the_excuse_takes_trick_18_only_to_complete_a_slam(
    engine: Engine, on: str, taker: int, taken: list[int], takes: bool
) -> None:
    """T-6.4: the sweep must be the leader's side's own, and the Excuse the first card."""
    won = engine.winner(on, taker, sum(taken) + 1, taken)
    assert (won == on.split().index("EX")) == takes


@clause("T-6.4", binds=True)
def test_excuse_completes_the_takers_slam(engine: Engine) -> None:
    """T-6.4: it takes the trick and stays: 91 points, three oudlers."""
    game = taker_slam(engine, "no_chelem no_poignee")
    info = game.info()
    assert game.taken() == [18, 0, 0, 0]
    assert (info["taker_points"], info["oudlers"]) == (91, 3)
    assert info["base"] == (25 + 55) * 4
    assert (info["chelem"], info["petit"]) == (200, 0)
    assert game.points() == [1560, -520, -520, -520]


@clause("T-6.4", binds=True)
def test_excuse_completes_the_defences_slam(engine: Engine) -> None:
    """T-6.4: for the defence too; several defenders may have taken the 17 tricks."""
    game = engine.table(ALL_TRUMPS, taker=2, contract="garde_contre")
    say(game, "no_chelem no_poignee")
    info = play_out(game, seat0=DOWNWARDS).info()
    assert game.taken() == [18, 0, 0, 0]
    assert (info["taker_points"], info["oudlers"], info["chelem"]) == (0, 0, -200)
    assert engine.shares("EX KH QH JH", 2, 18, [6, 6, 0, 5]) == [0, 28, 0]


# ---------------------------------------------------------------------------- settlement


@pytest.mark.parametrize(
    ("halves", "oudlers", "contract", "base"),
    [
        (82, 2, "prise", 25),
        (100, 2, "garde_sans", 136),
        (0, 0, "garde_contre", -486),
        (181, 3, "garde", 159),
        (79, 2, "prise", -26.5),
    ],
)
@clause("T-7.1", binds=True)
def test_base(engine: Engine, halves: int, oudlers: int, contract: str, base: float) -> None:
    """T-7.1: (25 + distance) x multiplier, signed."""
    lines = engine.settled(taker=0, contract=contract, taker_points=halves, oudlers=oudlers)
    assert (lines["taker_points"], lines["base"]) == (halves / 2, base)


@clause("T-7.1", binds=False)
def test_bonuses_are_not_in_the_base(engine: Engine) -> None:
    """T-7.1: slam, poignée and petit leave it alone; the multiplier leaves them alone."""
    plain = taker_slam(engine, "no_chelem no_poignee").info()
    rich = taker_slam(engine, "chelem poignee_15 T5 T6").info()
    assert plain["base"] == rich["base"] == 320
    assert rich["per_defender"] == 320 + 400 + 40


@pytest.mark.parametrize(
    ("on", "taker", "contract", "petit"),
    [
        ("T1 QH KD ND", 0, "garde", 20),
        ("T1 QH KD ND", 3, "garde_contre", -60),
        ("T2 T1 KD ND", 0, "prise", 10),
        ("T2 T1 KD ND", 1, "garde_sans", -40),
        ("T2 T1 KD ND", 2, "garde_sans", -40),
    ],
)
@clause("T-7.2", binds=True)
def test_petit_au_bout(engine: Engine, on: str, taker: int, contract: str, petit: int) -> None:
    """T-7.2: to the side that takes trick 18, whoever played the Petit."""
    for taken in ([5, 6, 6, 0], [17, 0, 0, 0]):
        assert engine.settled(on, taker=taker, contract=contract, taken=taken)["petit"] == petit


SWEPT = [17, 0, 0, 0]


@clause("T-7.2", binds=True)
def test_trick_17_counts_when_the_excuse_takes_trick_18(engine: Engine) -> None:
    """T-7.2: T1 in trick 17, the Excuse led to trick 18, for taker and defence."""
    for taker, petit in ((0, 40), (1, -40)):
        options: dict[str, Any] = {"taker": taker, "taken": SWEPT, "petit_in_17": True}
        lines = engine.settled("EX KH QH JH", contract="garde_sans", **options)
        assert lines["petit"] == petit
    game = taker_slam(engine, "no_chelem no_poignee", hand="T1 T6-T21 EX")
    assert (0, "T1") in game.trick(17)
    info = game.info()
    assert (info["petit"], info["per_defender"]) == (40, 320 + 40 + 200)
    game = engine.table("T1 T6-T21 EX", taker=2, contract="garde_contre")
    info = play_out(say(game, "no_chelem no_poignee"), seat0=DOWNWARDS).info()
    assert (info["petit"], info["chelem"]) == (-60, -200)


@pytest.mark.parametrize(
    ("on", "taker", "taken", "petit_in_17"),
    [
        ("2D 3D 4D 5D", 0, [5, 6, 6, 0], True),
        ("2D 3D 4D 5D", 0, SWEPT, True),
        # The Petit falls under the Excuse that completes the slam.
        ("EX T1 QH JH", 0, SWEPT, False),
        ("EX T1 QH JH", 1, SWEPT, False),
        # An Excuse that was led without a slam takes nothing: trick 17 is not looked at.
        ("EX KH QH JH", 0, [1, 16, 0, 0], True),
    ],
)
@clause("T-7.2", binds=False)
def test_no_petit_au_bout(
    engine: Engine, on: str, taker: int, taken: list[int], petit_in_17: bool
) -> None:
    """T-7.2: not in trick 17 of an ordinary deal, and not in an 18th trick that the Excuse took."""
    options: dict[str, Any] = {"taken": taken, "petit_in_17": petit_in_17}
    assert engine.settled(on, taker=taker, contract="garde", **options)["petit"] == 0


@clause("T-7.2", binds=False)
def test_no_petit_au_bout_before_an_excuse_that_took_nothing(engine: Engine) -> None:
    """T-7.2: a deal with the Petit in trick 17 and the Excuse led to trick 18, without a slam."""
    game = excuse_led_to_trick_18_without_a_slam(engine)
    assert (0, "T1") in game.trick(17) and game.info()["petit"] == 0


@clause("T-7.2", binds=False)
def test_the_record_tells_when_the_petit_fell() -> None:
    """T-7.2: in trick 17, before an Excuse that took nothing."""
    table = lay("T1 T7-T21 EX AC", "KC", taker=0, contract="garde_contre")
    table.play("no_chelem no_poignee")
    play_out(KernelGame(table), seat0="AC " + DOWNWARDS, seat1="KC")
    assert table.field("petit_trick") == 16


@pytest.mark.parametrize("taken", [[5, 6, 6, 0], [0, 17, 0, 0]])
@clause("T-7.2", binds=True)
def test_petit_in_an_18th_trick_behind_an_excuse_that_took_nothing(
    engine: Engine, taken: list[int]
) -> None:
    """T-7.2: the ordinary case although the Excuse was led: the Petit takes trick 18."""
    for taker, petit in ((0, -20), (1, 20)):
        lines = engine.settled("EX T1 QH JH", taker=taker, contract="garde", taken=taken)
        assert lines["petit"] == petit


def two_poignees(engine: Engine, taker: int, declarations: str) -> dict[str, Any]:
    """Seat 0 and seat 1 hold ten trumps each; seat 0 takes most tricks."""
    hands = ("T12-T21 KC KD KH KS", "T2-T11")
    game = say(engine.table(*hands, taker=taker, contract="garde_contre"), "no_chelem")
    return play_out(say(game, declarations), seat0=DOWNWARDS + " KC KD KH KS").info()


@clause("T-7.3", binds=True)
def test_all_poignees_go_to_the_winner(engine: Engine) -> None:
    """T-7.3: 20 + 20, not multiplied, to the taker if the contract is made, else from the taker."""
    won = two_poignees(engine, 0, "poignee_10 poignee_10")
    lost = two_poignees(engine, 2, "poignee_10 poignee_10")
    assert (won["made"], won["poignee"]) == (1, 40)
    assert (lost["made"], lost["poignee"]) == (0, -40)


@clause("T-7.3", binds=False)
def test_a_poignee_not_shown_pays_nothing(engine: Engine) -> None:
    """T-7.3: holding ten trumps is not showing them."""
    assert two_poignees(engine, 0, "no_poignee poignee_10")["poignee"] == 20


@pytest.mark.parametrize(
    ("announced", "on", "taken", "points"),
    [
        (1, "5C 2C 3C 4C", [17, 0, 0, 0], 400),
        (0, "5C 2C 3C 4C", [17, 0, 0, 0], 200),
        (1, "2C 3C 4C 5C", [17, 0, 0, 0], -200),
        (0, "2C 3C 4C 5C", [0, 5, 6, 6], -200),
        (1, "2C 3C 4C 5C", [0, 5, 6, 6], -400),
    ],
)
@clause("T-7.4", binds=True)
def test_chelem(engine: Engine, announced: int, on: str, taken: list[int], points: int) -> None:
    """T-7.4: +400, +200, -200, -200, and -400 for announced and swept."""
    announcement: dict[str, Any] = {"chelem": announced, "taken": taken}
    lines = engine.settled(on, taker=0, contract="garde_sans", **announcement)
    assert lines["chelem"] == points


@pytest.mark.parametrize(("announcement", "points"), [("chelem", 400), ("no_chelem", 200)])
@clause("T-7.4", binds=True)
def test_chelem_of_a_whole_deal(engine: Engine, announcement: str, points: int) -> None:
    """T-7.4: the taker takes all 18 tricks."""
    assert taker_slam(engine, f"{announcement} no_poignee").info()["chelem"] == points


@clause("T-7.4", binds=True)
def test_announced_and_swept(engine: Engine) -> None:
    """T-7.4: the taker announces, leads, and the defence takes all 18 tricks: -400."""
    game = defence_sweep_with_its_excuse_behind(engine, "garde_contre", "chelem")
    assert game.trick(1)[0][0] == 2
    assert game.info()["chelem"] == -400
    game = engine.table(ALL_TRUMPS, taker=2, contract="garde_contre")
    info = play_out(say(game, "chelem no_poignee"), seat0=DOWNWARDS).info()
    assert (info["chelem"], info["taker_points"], info["per_defender"]) == (-400, 0, -486 - 400)


@clause("T-7.4", binds=False)
def test_no_chelem(engine: Engine) -> None:
    """T-7.4: unannounced and one trick short is nothing, for either side."""
    assert excuse_led_to_trick_18_without_a_slam(engine).info()["chelem"] == 0
    for announced, points in ((0, 0), (1, -200)):
        short: dict[str, Any] = {"chelem": announced, "taken": [0, 17, 0, 0]}
        assert engine.settled("5C 2C 3C 4C", taker=0, **short)["chelem"] == points


@clause("T-7.5", binds=True)
def test_totals_with_half_points(engine: Engine) -> None:
    """T-7.5: prise, 4.5 points and 3 discarded, so -(25 + 43.5) from each defender."""
    game = engine.table("T5-T21 KS", "EX", taker=2, contract="prise")
    small = [card for card in game.legal() if HALF_POINTS[DECK.index(card)] == 1]
    say(game, " ".join(small[:6]) + " no_chelem no_poignee")
    play_out(game, seat0=DOWNWARDS, seat1=" ".join(DECK[:56]) + " T4 T3 T2 T1")
    info = game.info()
    assert (info["taker_points"], info["oudlers"], info["base"]) == (7.5, 1, -68.5)
    assert (info["chelem"], info["per_defender"]) == (-200, -268.5)
    assert game.points() == [268.5, 268.5, -805.5, 268.5]


@clause("T-7.5", binds=False)
def test_garde_has_no_halves(engine: Engine) -> None:
    """T-7.5: an even multiplier makes the same half point whole."""
    game = defence_sweep_with_its_excuse_behind(engine, "garde_contre", "no_chelem")
    assert game.info()["taker_points"] == 4.5
    assert all(total == int(total) for total in game.points())


@clause("T-7.6", binds=True)
def test_the_rulebooks_example(engine: Engine) -> None:
    """T-7.6: garde, two oudlers, 45 points: 58 from each defender."""
    lines = engine.settled(taker=3, contract="garde", taker_points=86, oudlers=2)
    assert (lines["taker_points"], lines["oudlers"], lines["base"]) == (45, 2, 58)


@clause("T-7.6", binds=False)
def test_the_example_with_a_bonus(engine: Engine) -> None:
    """T-7.6: with a bonus it is another sum: the Petit in trick 18."""
    # The Petit is worth 4.5 and an oudler, so 39 points and one oudler before it.
    lines = engine.settled("T2 T1 3C T5", taker=3, contract="garde", taker_points=78, oudlers=1)
    assert (lines["taker_points"], lines["oudlers"]) == (45, 2)
    assert (lines["base"], lines["petit"]) == (58, 20)


#: Garde, two oudlers, 44 points before a last trick of one more; nothing aside.
EXAMPLE: dict[str, Any] = {
    "contract": 2,
    "trick_number": 17,
    "taken": [5, 6, 6, 0],
    "taker_points": 86,
    "oudlers": 2,
    "chelem": 0,
    "discard": 0,
    "discard_trumps": 0,
}


@clause("T-7.6", binds=True)
def test_the_totals_of_the_example() -> None:
    """T-7.6: 58 from each defender, 174 for the taker."""
    table = position("2C 3C 4C 5C", taker=3, **EXAMPLE)
    assert table.info()["per_defender"] == 58
    assert table.points() == [-58, -58, -58, 174]


@clause("T-7.6", binds=False)
def test_the_totals_of_the_example_with_a_bonus() -> None:
    """T-7.6: the Petit in trick 18 makes 78 and 234."""
    before = EXAMPLE | {"taker_points": 90 - 12, "oudlers": 1}
    table = position("T2 T1 3C T5", taker=3, **before)
    assert (table.info()["taker_points"], table.info()["oudlers"]) == (45, 2)
    assert table.points() == [-78, -78, -78, 234]


# ---------------------------------------------------------------------------- public knowledge


def test_a_play_rules_out_the_tiers_before_it() -> None:
    """Void of the suit, void of trumps above, void of trumps; the Excuse says nothing."""
    clubs = {card for card in DECK[:56] if card.endswith("C")}
    trumps = set(DECK[57:])
    table = position("KC", "2H T2 EX T9")
    table.play("T2")
    assert not table.can_hold(1) & clubs and {"EX", "T3", "2H"} <= table.can_hold(1)
    table = position("KC T9", "T2 3H EX")
    table.play("T2")
    assert table.can_hold(2) & trumps == set(cards("T1 T3-T8"))
    table = position("T9 T10", "3H EX")
    table.play("3H")
    assert not table.can_hold(2) & trumps and "EX" in table.can_hold(2)
    table = position("KC", "2C EX")
    before = table.can_hold(1)
    table.play("EX")
    assert table.can_hold(1) == before - {"EX"}


def test_every_clause_is_tested_with_both_engines() -> None:
    """Each clause has a test where it binds and one where it does not."""
    counts = {1: 4, 2: 4, 3: 4, 4: 6, 5: 4, 6: 4, 7: 6}
    clauses = [f"T-{part}.{number}" for part in counts for number in range(1, counts[part] + 1)]
    wanted = {(name, binds) for name in clauses for binds in (True, False)}
    assert clauses_shared(sys.modules[__name__]) == wanted
