"""The Tarot kernels clause by clause: where each clause binds, and where it looks as if it did but does not."""

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
from tests.clauses import clause, clauses_tested
from tests.helpers import fewer
from tests.tarot_table import TarotTable
from tests.test_reference_tarot import cards, table
from trick_core.jit import entry

DOWNWARDS = "T21 T20 T19 T18 T17 T16 T15 T14 T13 T12 T11 T10 T9 T8 T7 T6 T5 T4 T3 T2 T1 EX"
ALL_TRUMPS = "T5-T21 EX"  # takes 17 tricks in any order, then leads the Excuse
FOUR_KINGS = "KC KD KH KS T2-T15"
FOUR_KINGS_CHIEN = "T16 T17 2C 3D 4H 5S"

# ---------------------------------------------------------------------------- laying out tables


def lay(
    *hands: str, chien: str = "", dealer: int = 3, start: str | None = None, **options: Any
) -> TarotTable:
    """A table with these cards in seats 0.. and in the chien, the rest as the reference tests deal it.

    With `taker` and `contract` the bidding is skipped; `forbid_pass` is an option.
    """
    dealt = table(*hands, chien=chien, dealer=dealer)
    custom: dict[str, Any] = {"deal": {"hands": dealt.dealt, "chien": dealt.chien}}
    for name in ("taker", "contract", "discard"):
        if name in options:
            custom[name] = options.pop(name)
    if start is None:
        start = "discard" if "taker" in custom else "bid"
    return TarotTable(setup(start=start, **options), dealer=dealer, **custom)


def say(table: TarotTable, actions: str) -> TarotTable:
    table.play(actions)
    return table


def play_out(table: TarotTable, **first: str) -> TarotTable:
    """Play to the end; `seat0="..."` is what that seat would rather play, else its lowest card."""
    wishes = {int(seat.removeprefix("seat")): cards(text) for seat, text in first.items()}
    while table.seat is not None:
        assert table.phase == "play"
        legal = table.legal()
        wished = [card for card in wishes.get(table.seat, []) if card in legal]
        table.force(wished[0] if wished else legal[0])
    return table


def set_hand(table: TarotTable, seat: int, text: str) -> None:
    suits, trumps = card_set(cards(text))
    table.states["hands"][0, seat] = suits
    table.states["hands_trumps"][0, seat] = trumps


def position(on: str, hand: str = "", *, taker: int = 3, **state: Any) -> TarotTable:
    """The trick `on`, led by seat 0, and the next seat on turn with `hand`; `state` sets fields first."""
    table = lay(dealer=3, start="play", taker=taker, contract="garde_sans")
    for name, value in state.items():
        table.states[name][0] = value
    played = on.split()
    for seat, card in enumerate(played):
        set_hand(table, seat, card)
    if played:
        set_hand(table, len(played) % 4, hand)
    else:  # the leader's hand is looked at when the trick before is closed
        set_hand(table, 0, f"KC {hand}")
        for seat, card in ((1, "2C"), (2, "3C"), (3, "4C")):
            set_hand(table, seat, card)
        played = ["KC", "2C", "3C", "4C"]
    for card in played:
        table.force(card)
    return table


def playable(hand: str, on: str) -> list[str]:
    return position(on, hand).legal()


def winner(on: str) -> int:
    return position(on).field("leader")


def shares(on: str, taker: int, number: int = 1, taken: list[int] | None = None) -> list[int]:
    """What trick `number`, led by seat 0, brings: taker's and defence's half points, taker's oudlers."""
    won = taken or [number - 1 - 2 * (number > 3), number > 3, number > 3, 0]
    table = position(on, taker=taker, trick_number=number - 1, taken=won)
    return [table.field(name) for name in ("taker_points", "defence_points", "oudlers")]


def settled(
    on: str = "2C 3C 4C 5C", *, taker: int = 0, contract: str = "prise", **state: Any
) -> Any:
    """The settlement's lines after trick 18, led by seat 0; discards and chien are worth nothing."""
    number = [row.name for row in CONTRACTS].index(contract) + 1
    fields = {"trick_number": 17, "taken": [5, 6, 6, 0], "contract": number, "chelem": 0}
    fields |= {"discard": 0, "discard_trumps": 0, "chien": 0, "chien_trumps": 0}
    return position(on, taker=taker, **(fields | state)).info()


# ---------------------------------------------------------------------------- cards


@clause("T-1.1", binds=True)
def test_deck() -> None:
    """T-1.1: 78 cards, the ace lowest, the king highest."""
    assert list(CARD_NAMES[:14]) == cards("AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC NC QC KC")
    assert len(set(CARD_NAMES)) == 78
    assert winner("AC 2C JC NC") == 3


@clause("T-1.1", binds=False)
def test_excuse_and_tens_are_no_trumps() -> None:
    """T-1.1: neither the Excuse nor a ten (`TS`) is a trump: eight trumps with them are no poignée."""
    table = lay("EX TC TD TH TS T1-T8", taker=0, contract="garde_contre")
    assert say(table, "no_chelem").phase == "play"


def test_action_ids() -> None:
    assert len(GAME.actions) == 89 and GAME.actions[:78] == CARD_NAMES
    assert GAME.actions[78:83] == ("pass", "prise", "garde", "garde_sans", "garde_contre")
    assert GAME.actions[83:85] == ("no_chelem", "chelem")
    assert GAME.actions[85:] == ("no_poignee", "poignee_10", "poignee_13", "poignee_15")


@clause("T-1.2", binds=True)
def test_oudlers() -> None:
    """T-1.2: the Petit, trump 21 and the Excuse count as the taker's when the taker wins them."""
    assert shares("T21 EX T1 T2", taker=0)[2] == 2
    assert shares("EX T2 T3 T4", taker=0)[2] == 1


@clause("T-1.2", binds=False)
def test_a_king_is_no_oudler() -> None:
    """T-1.2: a king is worth as much, but is none."""
    assert shares("KC KD KH KS", taker=0) == [36, 0, 0]


@clause("T-1.3", binds=True)
def test_card_points() -> None:
    """T-1.3: 91 points, 182 halves."""
    worth = [HALF_POINTS[CARD_NAMES.index(c)] for c in cards("EX T1 T21 KH QH NH JH TH AH T20")]
    assert worth == [9, 9, 9, 9, 7, 5, 3, 1, 1, 1]
    assert HALF_POINTS.sum() == 182
    assert shares("JH NH QH KH", taker=3) == [24, 0, 0]


@clause("T-1.3", binds=False)
def test_points_do_not_follow_strength() -> None:
    """T-1.3: trump 20 takes nearly everything and is worth as little as an ace."""
    assert shares("T20 AC 2C TC", taker=0) == [4, 0, 0]


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
def test_targets(oudlers: int, target: int) -> None:
    """T-1.4: reaching the target wins, half a point less loses."""
    assert TARGET[oudlers] == target
    won = settled(taker=3, taker_points=2 * target - 4, oudlers=oudlers)  # trick 18 is worth 2
    lost = settled(taker=3, taker_points=2 * target - 5, oudlers=oudlers)
    assert (won["made"], won["base"], won["target"]) == (1, 25, target)
    assert (lost["made"], lost["base"]) == (0, -25.5)


@clause("T-1.4", binds=False)
def test_an_oudler_dealt_is_not_an_oudler_held_at_the_end() -> None:
    """T-1.4: the taker starts with all three oudlers but loses the Excuse in trick 18."""
    info = excuse_led_to_trick_18_without_a_slam().info()
    assert (info["oudlers"], info["target"]) == (2, 41)


# ---------------------------------------------------------------------------- deal and bidding


@clause("T-2.1", binds=True)
def test_sizes_and_order_of_play() -> None:
    """T-2.1: 18 cards each, six in the chien, every card once; seats s, s+1, ..."""
    plain = setup()
    for number in range(fewer(200, 5)):
        table = TarotTable(plain, seed=1, number=number)
        hands = [table.hand(seat) for seat in range(4)]
        chien = table.set("chien")
        assert [len(hand) for hand in hands] == [18] * 4 and len(chien) == 6
        assert sorted(sum(hands, chien)) == sorted(CARD_NAMES)
    table = lay(dealer=1)
    order = [table.seat]
    for bid in ("pass", "garde", "pass"):
        say(table, bid)
        order.append(table.seat)
    assert order == [2, 3, 0, 1]


@clause("T-2.1", binds=False)
def test_hands_may_come_in_any_order() -> None:
    """T-2.1: the order of the cards within a hand says nothing."""
    dealt = table()
    turned = {"hands": [h[::-1] for h in dealt.dealt], "chien": dealt.chien[::-1]}
    one, two = lay(), TarotTable(setup(), deal=turned, dealer=3)
    assert [one.hand(seat) for seat in range(4)] == [two.hand(seat) for seat in range(4)]
    assert one.words(0) == two.words(0)


PETIT_SEC = "T1 KC QC NC JC TC 9C 8C 7C 6C 5C 4C 3C 2C AC KD QD ND"


@clause("T-2.2", binds=True)
def test_petit_sec_is_an_error_and_is_dealt_again() -> None:
    """T-2.2: the error names the rule and the seat; drawn deals have none, and the redeals are counted."""
    dealt = table("T1 T2 KC QC NC JC TC 9C 8C 7C 6C 5C 4C 3C 2C AC KD QD")
    hands = [list(hand) for hand in dealt.dealt]
    other = next(seat for seat in (1, 2, 3) if "ND" in hands[seat])
    hands[0][hands[0].index("T2")], hands[other][hands[other].index("ND")] = "ND", "T2"
    assert sorted(hands[0]) == sorted(cards(PETIT_SEC))
    with pytest.raises(ValueError, match=r"petit sec \(rule T-2\.2\).*seat 0"):
        TarotTable(setup(), deal={"hands": hands, "chien": dealt.chien})
    if fewer(1, 0):
        redeals, plain = 0, setup()
        for number in range(6000):
            fresh = TarotTable(plain, seed=5, number=number)
            assert 0b10 not in fresh.field("hands_trumps")
            redeals += fresh.field("redeals")
        # One of four hands has the Petit and 17 of the 56 suit cards: 11 redeals are expected, give or take 3.
        assert 1 < redeals < 24


@pytest.mark.parametrize("hand", ["T1 EX", "T1 T2", "T2", "", "EX"])
@clause("T-2.2", binds=False)
def test_not_a_petit_sec(hand: str) -> None:
    """T-2.2: the Excuse or a second trump saves the Petit; no trump at all is no petit sec."""
    rest = cards("KC QC NC JC TC 9C 8C 7C 6C 5C 4C 3C 2C AC KD QD ND JD")
    full = (cards(hand) + rest)[:18]
    held = lay(" ".join(full)).hand(0)
    assert sorted(held) == sorted(full)


@clause("T-2.3", binds=True)
def test_bids_go_up_and_each_seat_speaks_once() -> None:
    """T-2.3: dealer's right first; only higher bids; after garde contre only pass, still asked."""
    table = lay(dealer=0)
    assert table.seat == 1
    assert table.legal() == ["pass", "prise", "garde", "garde_sans", "garde_contre"]
    assert say(table, "prise").legal() == ["pass", "garde", "garde_sans", "garde_contre"]
    assert say(table, "garde_contre").legal() == ["pass"]
    assert say(table, "pass").phase == "bid" and table.seat == 0
    say(table, "pass")
    assert (table.phase, table.field("taker"), table.field("contract")) == ("chelem", 2, 4)
    assert [row.multiplier for row in CONTRACTS] == [1, 2, 4, 6]


@clause("T-2.3", binds=False)
def test_a_pass_does_not_raise_the_floor() -> None:
    """T-2.3: after passes every bid is open; the last speaker may still be the only one."""
    table = say(lay(), "pass pass pass")
    assert table.legal() == ["pass", "prise", "garde", "garde_sans", "garde_contre"]
    assert say(table, "prise").field("taker") == 3


@clause("T-2.4", binds=True)
def test_four_passes_annul() -> None:
    """T-2.4: all score 0."""
    table = lay()
    assert table.play("pass pass pass pass") == [0, 0, 0, 0]
    assert (table.phase, table.seat, table.legal()) == ("over", None, [])
    assert table.points() == [0, 0, 0, 0]
    assert table.info()["annulled"] == 1 and table.info()["settled"] == 0


@clause("T-2.4", binds=False)
def test_one_bid_is_enough() -> None:
    """T-2.4: a bid among passes starts a contract; with `forbid_pass` the last seat must bid."""
    assert say(lay(), "pass prise pass pass").phase == "discard"
    table = say(lay(forbid_pass=True), "pass pass pass")
    assert table.legal() == ["prise", "garde", "garde_sans", "garde_contre"]
    table = say(lay(forbid_pass=True), "pass prise pass")
    assert table.legal() == ["pass", "garde", "garde_sans", "garde_contre"]


# ---------------------------------------------------------------------------- chien and discard


@pytest.mark.parametrize("contract", ["prise", "garde"])
@clause("T-3.1", binds=True)
def test_taker_picks_up_the_chien(contract: str) -> None:
    """T-3.1: the chien is public, the taker has 24 cards and discards six, one by one."""
    chien = "AC KD T1 EX 3S 4S"
    table = lay(chien=chien, taker=2, contract=contract)
    assert (table.phase, table.seat, len(table.hand(2))) == ("discard", 2, 24)
    assert set(cards(chien)) <= set(table.hand(2))
    assert not set(cards(chien)) & table.can_hold(0)
    for left in range(24, 18, -1):
        assert table.phase == "discard" and len(table.hand(2)) == left
        table.force(table.legal()[0])
    assert (table.phase, table.seat, len(table.set("discard"))) == ("chelem", 2, 6)


@pytest.mark.parametrize("contract", ["garde_sans", "garde_contre"])
@clause("T-3.1", binds=False)
def test_nobody_picks_up_the_chien(contract: str) -> None:
    """T-3.1: not in garde sans and garde contre: no pick-up, nothing public."""
    table = lay(chien="AC KD T1 EX 3S 4S", taker=2, contract=contract)
    assert table.phase == "chelem" and len(table.hand(2)) == 18
    assert all(table.can_hold(seat) == set(CARD_NAMES) for seat in range(4))
    assert not any(GAME.layout.read(table.observe(2)[0], "chien").ravel())


@clause("T-3.2", binds=True)
def test_trumps_may_be_discarded_when_suit_cards_are_gone() -> None:
    """T-3.2: suit cards but kings first; then trumps but oudlers."""
    table = lay(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    assert table.legal() == cards("2C 3D 4H 5S")
    assert say(table, "3D 2C 5S 4H").legal() == cards("T2-T17")
    table = lay("KC KD KH KS EX T8-T20", chien="T21 T1 2C 3D 4H 5S", taker=0, contract="prise")
    assert say(table, "3D 2C 5S 4H").legal() == cards("T8-T20")


@clause("T-3.2", binds=False)
def test_a_single_suit_card_keeps_the_trumps() -> None:
    """T-3.2: with any suit card but kings left, no trump is legal; a queen is no king."""
    table = lay("KC KD KH KS QC T2-T14", chien="EX T1 T21 T20 T19 T18", taker=0, contract="garde")
    assert table.legal() == ["QC"]


@clause("T-3.3", binds=True)
def test_discarded_trumps_are_public() -> None:
    """T-3.3: nobody can hold them any more, and the taker's other suit cards are all kings."""
    table = lay(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    say(table, "3D 2C 5S 4H T3 T2")
    for seat in range(4):
        assert not {"T2", "T3"} & table.can_hold(seat)
        seen = GAME.layout.read(table.observe(seat)[0], "discarded_trumps").ravel()
        assert np.flatnonzero(seen).tolist() == [1, 2]
    assert table.can_hold(0) & set(cards("KC QC AS")) == {"KC"}


@clause("T-3.3", binds=False)
def test_discarded_suit_cards_are_hidden() -> None:
    """T-3.3: publicly they may still be in the taker's hand; the taker alone sees them aside."""
    table = lay(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="prise")
    say(table, "3D 2C 5S 4H")
    assert set(cards("3D 2C 5S 4H")) <= table.can_hold(0)
    assert not set(cards("3D 2C 5S 4H")) & table.can_hold(1)
    assert GAME.layout.read(table.observe(0)[0], "own_discard").sum() == 4
    assert GAME.layout.read(table.observe(1)[0], "own_discard").sum() == 0


@clause("T-3.4", binds=True)
def test_the_chien_goes_to_the_taker_or_to_the_defence() -> None:
    """T-3.4: garde sans gives the taker its points and oudlers; garde contre the defence."""
    hands = ("T4-T20 EX", "T21 T2 T3")
    chien = "T1 KC QC NC JC TC"  # 4.5 + 4.5 + 3.5 + 2.5 + 1.5 + 0.5 = 17
    lines = {}
    for contract in ("garde_sans", "garde_contre"):
        table = lay(*hands, chien=chien, dealer=3, taker=0, contract=contract)
        say(table, "no_chelem no_poignee")
        lines[contract] = play_out(table, seat0=DOWNWARDS, seat1="T21").info()
    sans, contre = lines["garde_sans"], lines["garde_contre"]
    assert sans["taker_points"] - contre["taker_points"] == 17
    assert sans["oudlers"] - contre["oudlers"] == 1


@clause("T-3.4", binds=False)
def test_in_prise_the_discards_count_not_the_chien() -> None:
    """T-3.4: with a discard the taker scores what was discarded; the chien was picked up."""
    table = lay(ALL_TRUMPS, chien="KC QC 2C 3C 4C 5C", taker=0, contract="prise")
    say(table, "QC 2C 3C 4C 5C T5 no_chelem no_poignee")
    play_out(table, seat0="KC")
    discards = 7 + 5  # the queen, and five cards of a half point
    assert 2 * table.info()["taker_points"] == table.field("taker_points") + discards


# ---------------------------------------------------------------------------- declarations


@clause("T-4.1", binds=True)
def test_order_of_declarations() -> None:
    """T-4.1: the taker's chelem first, then poignées from the seat that will lead."""
    hands = ("T1-T10", "2C", "T11-T20")
    table = lay(*hands, dealer=0, taker=0, contract="garde_sans")
    assert (table.phase, table.seat) == ("chelem", 0)
    say(table, "no_chelem")
    assert (table.phase, table.seat) == ("poignee", 2)
    say(table, "poignee_10")
    assert (table.phase, table.seat) == ("poignee", 0)
    say(table, "no_poignee")
    assert (table.phase, table.seat) == ("play", 1)
    announced = lay(*hands, dealer=0, taker=0, contract="garde_sans")
    say(announced, "chelem")
    assert (announced.phase, announced.seat) == ("poignee", 0)


@clause("T-4.1", binds=False)
def test_no_level_no_question_and_no_evidence() -> None:
    """T-4.1: nine trumps are not asked; being asked and declining changes nobody else's view."""
    table = lay("T1-T9", "T10-T18", taker=0, contract="garde_contre")
    assert say(table, "no_chelem").phase == "play"
    table = lay("2C", "T1-T10", taker=0, contract="garde_contre")
    assert say(table, "no_chelem").phase == "poignee" and table.seat == 1
    assert all(table.can_hold(seat) == set(CARD_NAMES) for seat in range(4))
    asked = [table.words(seat) for seat in (0, 2, 3)]
    say(table, "no_poignee")
    assert table.phase == "play"
    assert asked == [table.words(seat) for seat in (0, 2, 3)]
    assert all(table.can_hold(seat) == set(CARD_NAMES) for seat in range(4))


@clause("T-4.2", binds=True)
def test_levels() -> None:
    """T-4.2: 10, 13, 15 trumps; any level held may be chosen; exactly that many are shown."""
    assert dict(zip(POIGNEE_LEVELS, POIGNEE_POINTS[1:], strict=True)) == {10: 20, 13: 30, 15: 40}
    for trumps, levels in (("T1-T10", [10]), ("T1-T13", [10, 13]), ("T1-T18", [10, 13, 15])):
        table = say(lay(trumps, taker=1, contract="garde_sans"), "no_chelem")
        assert table.legal() == ["no_poignee", *(f"poignee_{level}" for level in levels)]
    table = say(lay("T1-T13", taker=1, contract="garde_sans"), "no_chelem poignee_13")
    assert table.poignee(0) == cards("T1-T13") and table.field("shown_level")[0] == 2


@clause("T-4.2", binds=False)
def test_too_few_trumps() -> None:
    """T-4.2: nine trumps are no poignée, twelve no double, fourteen no triple."""
    for trumps, levels in (("T1-T9", []), ("T1-T12", [10]), ("T1-T14", [10, 13])):
        table = say(lay(trumps, "2C", "3C", "4C", taker=1, contract="garde_sans"), "no_chelem")
        wanted = ["no_poignee", *(f"poignee_{level}" for level in levels)]
        assert (table.legal() == wanted) if levels else (table.phase == "play")


@pytest.mark.parametrize(("trumps", "level"), [("T1-T9", 10), ("T8-T19", 13), ("T1-T14", 15)])
@clause("T-4.3", binds=True)
def test_excuse_helps_with_one_missing_trump(trumps: str, level: int) -> None:
    """T-4.3: level-1 trumps, all shown with the Excuse; so the others are ruled out."""
    table = say(lay(f"{trumps} EX", taker=1, contract="garde_sans"), "no_chelem")
    assert table.legal()[-1] == f"poignee_{level}"
    say(table, f"poignee_{level}")
    shown = ["EX", *cards(trumps)]
    assert table.poignee(0) == shown and table.phase == "play"
    assert table.can_hold(0) & set(CARD_NAMES[56:]) == set(shown)
    assert not table.can_hold(1) & set(shown)


@clause("T-4.3", binds=False)
def test_excuse_does_not_help_twice_nor_is_shown_without_need() -> None:
    """T-4.3: two missing are too many; with ten trumps the Excuse stays hidden and unknown."""
    assert say(lay("T1-T8 EX", taker=1, contract="garde_sans"), "no_chelem").phase == "play"
    table = say(lay("T1-T10 EX", taker=1, contract="garde_sans"), "no_chelem poignee_10")
    assert table.poignee(0) == cards("T1-T10") and table.phase == "play"
    assert {"T21", "EX"} <= table.can_hold(0) and "EX" in table.can_hold(1)
    # Kept back are trumps alone, never the Excuse.
    table = say(lay("T1-T11 EX", taker=1, contract="garde_sans"), "no_chelem poignee_10")
    assert table.phase == "keep" and table.legal() == cards("T1-T11")


def ways_to_show(table: TarotTable) -> list[tuple[str, ...]]:
    """What every sequence of cards kept back from here leaves shown."""
    if table.phase != "keep":
        return [tuple(table.poignee(0))]
    here = table.states.copy()
    ways = []
    for card in table.legal():
        table.force(card)
        ways += ways_to_show(table)
        table.states[:] = here
    return ways


@pytest.mark.parametrize(("trumps", "level"), [(11, 10), (12, 10), (14, 10), (15, 13), (18, 15)])
@clause("T-4.4", binds=True)
def test_every_subset_is_shown_in_exactly_one_way(trumps: int, level: int) -> None:
    """T-4.4: kept back one by one in ascending order."""
    table = lay(f"T1-T{trumps}", taker=1, contract="garde_sans")
    ways = ways_to_show(say(table, f"no_chelem poignee_{level}"))
    assert len(ways) == len(set(ways)) == comb(trumps, level)
    assert {len(shown) for shown in ways} == {level}


@clause("T-4.4", binds=True)
def test_kept_back_by_hand() -> None:
    """T-4.4: of T1-T12 show ten: T4 first leaves T5-T12, T11 would leave T12 alone."""
    table = say(lay("T1-T12", taker=1, contract="garde_sans"), "no_chelem poignee_10")
    assert (table.phase, table.seat, table.legal()) == ("keep", 0, cards("T1-T11"))
    assert say(table, "T4").legal() == cards("T5-T12")
    assert table.poignee(0) == [] and table.can_hold(1) == set(CARD_NAMES)  # nothing shown yet
    say(table, "T12")
    assert table.poignee(0) == cards("T1-T3 T5-T11") and table.phase == "play"
    assert "T4" in table.can_hold(0) and "T4" in table.can_hold(1)
    assert not set(table.poignee(0)) & table.can_hold(2)


@clause("T-4.4", binds=False)
def test_nothing_to_keep_back() -> None:
    """T-4.4: a hand with exactly as many trumps as the level shows them at once."""
    table = say(lay("T1-T13", taker=1, contract="garde_sans"), "no_chelem poignee_13")
    assert table.phase == "play" and table.poignee(0) == cards("T1-T13")


@clause("T-4.5", binds=True)
def test_four_kings_count_discarded_trumps() -> None:
    """T-4.5: 14 trumps and two discarded make 16; one of the whole set is kept back."""
    table = lay(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="garde")
    say(table, "2C 3D 4H 5S T2 T17 no_chelem")
    assert table.legal() == ["no_poignee", "poignee_10", "poignee_13", "poignee_15"]
    assert say(table, "poignee_15").legal() == cards("T2-T17")
    say(table, "T17")  # a discarded trump may be named
    assert table.poignee(0) == cards("T2-T16")
    kings = set(cards("KC KD KH KS"))
    assert kings <= table.can_hold(0) and not kings & table.can_hold(1)


@clause("T-4.5", binds=True)
def test_four_kings_with_the_excuse() -> None:
    """T-4.5: 13 trumps, one discarded and the Excuse make 15, all shown."""
    hand = "KC KD KH KS EX T2-T14"
    table = lay(hand, chien="T15 2C 3D 4H 5S 6S", taker=0, contract="prise")
    say(table, "2C 3D 4H 5S 6S T9 no_chelem poignee_15")
    assert table.poignee(0) == ["EX", *cards("T2-T15")] and table.phase == "play"
    assert not table.can_hold(0) & {"T1", "T16", "T9"}
    # With one trump more the Excuse is not shown.
    table = lay(hand, chien="T15 T16 3D 4H 5S 6S", taker=0, contract="prise")
    say(table, "3D 4H 5S 6S T9 T10 no_chelem poignee_15")
    assert table.poignee(0) == cards("T2-T16") and "EX" in table.can_hold(1)


@clause("T-4.5", binds=False)
def test_discarded_trumps_do_not_count_otherwise() -> None:
    """T-4.5: not for lower levels, not with three kings, not without discarded trumps."""
    table = lay(FOUR_KINGS, chien=FOUR_KINGS_CHIEN, taker=0, contract="garde")
    say(table, "2C 3D 4H 5S T2 T17 no_chelem poignee_13")
    assert table.legal() == cards("T3-T16")
    table = lay("KC KD KH EX T2-T15", chien="T16 2C 3D 4H 5S 6S", taker=0, contract="garde")
    say(table, "2C 3D 4H 5S 6S T2 no_chelem poignee_15")
    assert table.poignee(0) == ["EX", *cards("T3-T16")]  # T-4.3: the Excuse, not T2
    assert "KC" in table.can_hold(1)
    table = say(lay(FOUR_KINGS, taker=0, contract="garde_sans"), "no_chelem")
    assert table.legal() == ["no_poignee", "poignee_10", "poignee_13"]


@clause("T-4.6", binds=True)
def test_an_announced_chelem_gives_the_lead() -> None:
    """T-4.6: only the taker is asked, and leads after announcing."""
    table = lay(dealer=0, taker=3, contract="garde_sans")
    assert table.seat == 3 and table.legal() == ["no_chelem", "chelem"]
    say(table, "chelem")
    assert (table.phase, table.seat, table.field("leader")) == ("play", 3, 3)


@clause("T-4.6", binds=False)
def test_without_a_chelem_dealers_right_leads() -> None:
    """T-4.6: whoever the taker is."""
    table = say(lay(dealer=0, taker=3, contract="garde_sans"), "no_chelem")
    assert (table.phase, table.seat) == ("play", 1)


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
def test_follow_else_trump(hand: str, on: str, legal: str) -> None:
    """T-5.1: follow, else trump; the Excuse is always there."""
    assert playable(hand, on) == cards(legal)


@pytest.mark.parametrize(
    ("hand", "on"),
    [("2C 3S KD", "9H"), ("2C 3S EX", "9H"), ("2C EX", "T9"), ("2D 3D T5 EX", "")],
)
@clause("T-5.1", binds=False)
def test_free_choice(hand: str, on: str) -> None:
    """T-5.1: with neither suit nor trump, or leading, any card."""
    assert set(playable(hand, on)) == set(cards(hand))


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
    assert playable(hand, on) == cards(legal)


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
    assert playable(hand, on) == cards(legal)


@clause("T-5.3", binds=True)
def test_who_takes_the_trick() -> None:
    """T-5.3: the highest trump, else the highest card of the suit led; the winner leads."""
    assert winner("2H KH QH AH") == 1
    assert winner("KH T2 T5 T3") == 2
    assert winner("T2 KH T21 T20") == 2
    table = lay("KC AC", "2C", "3C", "4C", taker=3, contract="garde_contre")
    say(table, "no_chelem AC 2C 3C 4C")
    assert table.seat == 3 and table.field("taken") == [0, 0, 0, 1]
    assert table.set("trick", 0) == []


@clause("T-5.3", binds=False)
def test_a_higher_card_of_another_suit_takes_nothing() -> None:
    """T-5.3: discards do not win, and neither does a low trump under a higher one."""
    assert winner("AH KC KD KS") == 0
    assert winner("2H T9 T8 KH") == 1


@clause("T-5.4", binds=True)
def test_excuse_led() -> None:
    """T-5.4: the next card is free and sets the suit; later seats follow that."""
    assert playable("2C 3H T5", "EX") == cards("2C 3H T5")
    assert playable("2C 3H T5", "EX 9H") == ["3H"]
    assert playable("2C 3H T5", "EX T4") == ["T5"]
    assert winner("EX 9H TH KC") == 2
    assert winner("EX T4 9H KH") == 1


@clause("T-5.4", binds=False)
def test_excuse_later_sets_nothing_and_is_not_forced() -> None:
    """T-5.4: an Excuse in the middle changes nothing; alone it is no trump to be forced."""
    assert playable("2C 3H T5", "9H EX") == ["3H"]
    assert playable("2C 3C EX", "9H T4") == cards("2C 3C EX")
    assert winner("9H EX TH KC") == 2


# ---------------------------------------------------------------------------- the Excuse


def excuse_led_to_trick_18_without_a_slam() -> TarotTable:
    """Garde contre by seat 0, with all oudlers: loses trick 1, leads the Excuse to trick 18."""
    table = lay("T1 T7-T21 EX AC", "KC", taker=0, contract="garde_contre")
    say(table, "no_chelem no_poignee")
    return play_out(table, seat0="AC " + DOWNWARDS, seat1="KC")


def taker_slam(
    declarations: str, contract: str = "garde_sans", hand: str = ALL_TRUMPS
) -> TarotTable:
    """Seat 0, the taker and first to lead, takes everything and leads the Excuse to trick 18."""
    return play_out(say(lay(hand, taker=0, contract=contract), declarations), seat0=DOWNWARDS)


@clause("T-6.1", binds=True)
def test_excuse_takes_no_trick() -> None:
    """T-6.1: led or not."""
    assert winner("EX AC 2D 3D") == 1
    assert winner("AC EX 2D 3D") == 0
    assert excuse_led_to_trick_18_without_a_slam().field("taken")[0] == 16


@clause("T-6.1", binds=False)
def test_but_the_slams_excuse_does() -> None:
    """T-6.1: the exception of T-6.4."""
    assert taker_slam("no_chelem no_poignee").field("taken") == [18, 0, 0, 0]


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
def test_excuse_stays_and_pays_half_a_point(on: str, taker: int, wanted: list[int]) -> None:
    """T-6.2: before trick 18 it stays; 4 for its side, half a point for the side with the trick."""
    assert shares(on, taker) == wanted
    assert shares(on, taker, number=17) == wanted


@clause("T-6.2", binds=False)
def test_nothing_is_paid_within_a_side() -> None:
    """T-6.2: a defender's Excuse in a defender's trick stays, unpaid."""
    assert shares("KH EX QH JH", taker=2) == [0, 28, 0]
    assert shares("EX KH QH JH", taker=3) == [0, 28, 0]


@clause("T-6.2", binds=True)
def test_the_half_point_is_settled_at_once() -> None:
    """T-6.2: the reward of the trick itself already holds it, and the observation too."""
    table = lay("EX", "2C", "3C", "4C", taker=0, contract="garde_contre")
    say(table, "no_chelem EX 2C 3C")
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
def test_excuse_in_trick_18_changes_sides(on: str, taker: int, wanted: list[int]) -> None:
    """T-6.3: to the opposing side, whoever takes the trick; no half point."""
    assert shares(on, taker, number=18, taken=[1, 14, 1, 1]) == wanted


@clause("T-6.3", binds=False)
def test_trick_17_is_not_trick_18() -> None:
    """T-6.3: one trick earlier the Excuse stays (T-6.2)."""
    assert shares("KH EX QH JH", taker=2, number=17) == [0, 28, 0]
    assert shares("KH EX QH JH", taker=1, number=17) == [8, 20, 1]


def defence_sweep_with_its_excuse_behind(
    contract: str, chelem: str, discards: str = ""
) -> TarotTable:
    """Seat 0, a defender, takes all 18 tricks; seat 1 throws the Excuse on trick 18."""
    table = lay("T5-T21 KS", "EX", taker=2, contract=contract)
    say(table, f"{discards} {chelem} no_poignee")
    # Seat 2 may be on lead; seat 0 has no suit but the KS, which is kept for last.
    play_out(table, seat0=DOWNWARDS, seat1=" ".join(CARD_NAMES[:56]) + " T4 T3 T2 T1")
    assert table.field("taken") == [18, 0, 0, 0]
    assert (table.field("excuse_seat"), table.field("excuse_trick")) == (1, 17)
    return table


@clause("T-6.3", binds=True)
@clause("T-6.4", binds=False)
def test_partners_excuse_behind_a_slam_still_changes_sides() -> None:
    """T-6.3: the only exception is an Excuse led; so the swept taker has 4.5 and an oudler."""
    info = defence_sweep_with_its_excuse_behind("garde_contre", "no_chelem").info()
    assert info["taker_points"] == 4.5
    assert (info["oudlers"], info["target"], info["made"]) == (1, 51, 0)
    assert info["base"] == -(25 + 46.5) * 6
    assert info["chelem"] == -200


@clause("T-6.4", binds=False)
def test_excuse_led_after_a_lost_trick() -> None:
    """T-6.4: 16 tricks are not 17; the Excuse and the trick go to the defence."""
    table = excuse_led_to_trick_18_without_a_slam()
    assert table.info()["chelem"] == 0
    assert table.field("taken")[0] == 16 and table.info()["oudlers"] == 2


@pytest.mark.parametrize(
    ("on", "taker", "taken", "takes"),
    [
        ("EX 2H 3H 4H", 0, [17, 0, 0, 0], True),
        ("EX 2H 3H 4H", 1, [5, 0, 6, 6], True),  # the defence, several of whom took tricks
        ("EX 2H 3H 4H", 1, [0, 17, 0, 0], False),  # the other side's sweep
        ("EX 2H 3H 4H", 0, [16, 0, 1, 0], False),
        ("2H EX 3H 4H", 1, [0, 17, 0, 0], False),  # the Excuse was not led
    ],
)
@clause("T-6.4", binds=True)
@clause("T-6.4", binds=False)
def test_the_excuse_takes_trick_18_only_to_complete_a_slam(
    on: str, taker: int, taken: list[int], takes: bool
) -> None:
    """T-6.4: the sweep must be the leader's side's own, and the Excuse the first card."""
    table = position(on, taker=taker, trick_number=17, taken=taken)
    assert (table.field("leader") == table.field("excuse_seat")) == takes


@clause("T-6.4", binds=True)
def test_excuse_completes_the_takers_slam() -> None:
    """T-6.4: it takes the trick and stays: 91 points, three oudlers."""
    table = taker_slam("no_chelem no_poignee")
    info = table.info()
    assert (info["taker_points"], info["oudlers"]) == (91, 3)
    assert info["base"] == (25 + 55) * 4
    assert (info["chelem"], info["petit"]) == (200, 0)
    assert table.points() == [1560, -520, -520, -520]


@clause("T-6.4", binds=True)
def test_excuse_completes_the_defences_slam() -> None:
    """T-6.4: for the defence too."""
    table = lay(ALL_TRUMPS, taker=2, contract="garde_contre")
    say(table, "no_chelem no_poignee")
    info = play_out(table, seat0=DOWNWARDS).info()
    assert table.field("taken") == [18, 0, 0, 0]
    assert (info["taker_points"], info["oudlers"], info["chelem"]) == (0, 0, -200)


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
def test_base(halves: int, oudlers: int, contract: str, base: float) -> None:
    """T-7.1: (25 + distance) x multiplier, signed."""
    lines = settled(taker=0, contract=contract, taker_points=halves, oudlers=oudlers)
    assert (lines["taker_points"], lines["base"]) == (halves / 2, base)


@clause("T-7.1", binds=False)
def test_bonuses_are_not_in_the_base() -> None:
    """T-7.1: slam, poignée and petit leave it alone; the multiplier leaves them alone."""
    plain = taker_slam("no_chelem no_poignee").info()
    rich = taker_slam("chelem poignee_15 T5 T6").info()
    assert plain["base"] == rich["base"] == 320
    assert rich["per_defender"] == 320 + 400 + 40


@clause("T-7.2", binds=True)
def test_petit_au_bout() -> None:
    """T-7.2: to the side that takes trick 18, whoever played the Petit."""
    assert settled("T1 QH KD ND", taker=0, contract="garde")["petit"] == 20
    assert settled("T1 QH KD ND", taker=3, contract="garde_contre")["petit"] == -60
    assert settled("T2 T1 KD ND", taker=0, contract="prise")["petit"] == 10
    assert settled("T2 T1 KD ND", taker=1, contract="garde_sans")["petit"] == -40
    assert settled("T2 T1 KD ND", taker=2, contract="garde_sans")["petit"] == -40


SWEPT = {"taken": [17, 0, 0, 0]}


@clause("T-7.2", binds=True)
def test_trick_17_counts_when_the_excuse_takes_trick_18() -> None:
    """T-7.2: T1 in trick 17, the Excuse led to trick 18, for taker and defence."""
    in_17 = {"petit_trick": 16, **SWEPT}
    assert settled("EX KH QH JH", taker=0, contract="garde_sans", **in_17)["petit"] == 40
    assert settled("EX KH QH JH", taker=1, contract="garde_sans", **in_17)["petit"] == -40
    info = taker_slam("no_chelem no_poignee", hand="T1 T6-T21 EX").info()
    assert (info["petit"], info["per_defender"]) == (40, 320 + 40 + 200)
    table = say(lay("T1 T6-T21 EX", taker=2, contract="garde_contre"), "no_chelem no_poignee")
    info = play_out(table, seat0=DOWNWARDS).info()
    assert (info["petit"], info["chelem"]) == (-60, -200)


@clause("T-7.2", binds=False)
def test_no_petit_au_bout() -> None:
    """T-7.2: not in trick 17 of an ordinary deal, and not in an 18th trick that the Excuse took."""
    assert settled("2D 3D 4D 5D", contract="garde", petit_trick=16)["petit"] == 0
    # The Petit falls under the Excuse that completes the slam.
    assert settled("EX T1 QH JH", taker=0, contract="garde", **SWEPT)["petit"] == 0
    assert settled("EX T1 QH JH", taker=1, contract="garde", **SWEPT)["petit"] == 0
    # An Excuse that was led without a slam takes nothing: trick 17 is not looked at.
    table = excuse_led_to_trick_18_without_a_slam()
    assert table.field("petit_trick") == 16 and table.info()["petit"] == 0


@clause("T-7.2", binds=True)
def test_petit_in_an_18th_trick_behind_an_excuse_that_took_nothing() -> None:
    """T-7.2: the ordinary case although the Excuse was led: the Petit takes trick 18."""
    assert settled("EX T1 QH JH", taker=0, contract="garde")["petit"] == -20
    assert settled("EX T1 QH JH", taker=1, contract="garde")["petit"] == 20


def two_poignees(taker: int, declarations: str) -> dict[str, float]:
    """Seat 0 and seat 1 hold ten trumps each; seat 0 takes most tricks."""
    table = lay("T12-T21 KC KD KH KS", "T2-T11", taker=taker, contract="garde_contre")
    say(table, f"no_chelem {declarations}")
    return play_out(table, seat0=DOWNWARDS + " KC KD KH KS").info()


@clause("T-7.3", binds=True)
def test_all_poignees_go_to_the_winner() -> None:
    """T-7.3: 20 + 20, not multiplied, to the taker if the contract is made, else from the taker."""
    won = two_poignees(0, "poignee_10 poignee_10")
    lost = two_poignees(2, "poignee_10 poignee_10")
    assert (won["made"], won["poignee"]) == (1, 40)
    assert (lost["made"], lost["poignee"]) == (0, -40)


@clause("T-7.3", binds=False)
def test_a_poignee_not_shown_pays_nothing() -> None:
    """T-7.3: holding ten trumps is not showing them."""
    assert two_poignees(0, "no_poignee poignee_10")["poignee"] == 20


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
def test_chelem(announced: int, on: str, taken: list[int], points: int) -> None:
    """T-7.4: +400, +200, -200, -200, and -400 for announced and swept."""
    lines = settled(on, taker=0, contract="garde_sans", chelem=announced, taken=taken)
    assert lines["chelem"] == points


@clause("T-7.4", binds=True)
def test_announced_and_swept() -> None:
    """T-7.4: the taker announces, leads, and the defence takes all 18 tricks: -400."""
    table = defence_sweep_with_its_excuse_behind("garde_contre", "chelem")
    assert table.info()["chelem"] == -400
    table = say(lay(ALL_TRUMPS, taker=2, contract="garde_contre"), "chelem no_poignee")
    info = play_out(table, seat0=DOWNWARDS).info()
    assert (info["chelem"], info["taker_points"], info["per_defender"]) == (-400, 0, -486 - 400)


@clause("T-7.4", binds=False)
def test_no_chelem() -> None:
    """T-7.4: unannounced and one trick short is nothing, for either side."""
    assert excuse_led_to_trick_18_without_a_slam().info()["chelem"] == 0
    assert settled("5C 2C 3C 4C", taker=0, chelem=0, taken=[0, 17, 0, 0])["chelem"] == 0
    assert settled("5C 2C 3C 4C", taker=0, chelem=1, taken=[0, 17, 0, 0])["chelem"] == -200


@clause("T-7.5", binds=True)
def test_totals_with_half_points() -> None:
    """T-7.5: prise, 4.5 points and 3 discarded, so -(25 + 43.5) from each defender."""
    table = lay("T5-T21 KS", "EX", taker=2, contract="prise")
    small = [card for card in table.legal() if HALF_POINTS[CARD_NAMES.index(card)] == 1]
    say(table, " ".join(small[:6]) + " no_chelem no_poignee")
    play_out(table, seat0=DOWNWARDS, seat1=" ".join(CARD_NAMES[:56]) + " T4 T3 T2 T1")
    info = table.info()
    assert (info["taker_points"], info["oudlers"], info["base"]) == (7.5, 1, -68.5)
    assert (info["chelem"], info["per_defender"]) == (-200, -268.5)
    assert table.points() == [268.5, 268.5, -805.5, 268.5]


@clause("T-7.5", binds=False)
def test_garde_has_no_halves() -> None:
    """T-7.5: an even multiplier makes the same half point whole."""
    table = defence_sweep_with_its_excuse_behind("garde_contre", "no_chelem")
    assert table.info()["taker_points"] == 4.5
    assert all(total == int(total) for total in table.points())


@clause("T-7.6", binds=True)
def test_the_rulebooks_example() -> None:
    """T-7.6: garde, two oudlers, 45 points: 58 from each defender, 174 for the taker."""
    table = position("2C 3C 4C 5C", taker=3, **EXAMPLE)
    assert table.info()["per_defender"] == 58
    assert table.points() == [-58, -58, -58, 174]


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


@clause("T-7.6", binds=False)
def test_the_example_with_a_bonus() -> None:
    """T-7.6: with a bonus it is another sum: the Petit in trick 18 makes 78 and 234."""
    # The Petit is worth 4.5 and an oudler, so 40 points and one oudler before it.
    before = EXAMPLE | {"taker_points": 90 - 12, "oudlers": 1}
    table = position("T2 T1 3C T5", taker=3, **before)
    assert (table.info()["taker_points"], table.info()["oudlers"]) == (45, 2)
    assert table.points() == [-78, -78, -78, 234]


# ---------------------------------------------------------------------------- public knowledge


def test_a_play_rules_out_the_tiers_before_it() -> None:
    """Void of the suit, void of trumps above, void of trumps; the Excuse says nothing."""
    clubs = {card for card in CARD_NAMES[:56] if card.endswith("C")}
    trumps = set(CARD_NAMES[57:])
    table = position("KC", "2H T2 EX T9")
    say(table, "T2")
    assert not table.can_hold(1) & clubs and {"EX", "T3", "2H"} <= table.can_hold(1)
    table = position("KC T9", "T2 3H EX")
    say(table, "T2")
    assert table.can_hold(2) & trumps == set(cards("T1 T3-T8"))
    table = position("T9 T10", "3H EX")
    say(table, "3H")
    assert not table.can_hold(2) & trumps and "EX" in table.can_hold(2)
    table = position("KC", "2C EX")
    before = table.can_hold(1)
    say(table, "EX")
    assert table.can_hold(1) == before - {"EX"}


def test_every_clause_is_tested_where_it_binds_and_where_it_does_not() -> None:
    counts = {1: 4, 2: 4, 3: 4, 4: 6, 5: 4, 6: 4, 7: 6}
    clauses = [f"T-{part}.{number}" for part in counts for number in range(1, counts[part] + 1)]
    wanted = {(name, binds) for name in clauses for binds in (True, False)}
    assert clauses_tested(sys.modules[__name__]) == wanted
