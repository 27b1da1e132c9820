"""The text form of deals, for a deck of 52 and for one with trumps and cards beside the hands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bolola_env.game import DEAL_FORMAT as BRIDGE
from trick_core.notation import SEAT_LETTERS, DealFormat

_SUIT_CARDS = [rank + suit for suit in "CDHS" for rank in "A23456789TJNQK"]
_DECK = (*_SUIT_CARDS, "EX", *(f"T{number}" for number in range(1, 22)))


def _card_id(card: Any) -> int:
    if isinstance(card, str):
        if card not in _DECK:
            raise ValueError(f"{card!r} is not a card")
        return _DECK.index(card)
    if not 0 <= card < len(_DECK):
        raise ValueError(f"{card} is not a card id")
    return int(card)


WITH_TRUMPS = DealFormat(
    deck=_DECK,
    suits="SHDC",
    ranks="KQNJT98765432A",
    extra=(*(f"T{number}" for number in range(21, 0, -1)), "EX"),
    sizes=(18, 18, 18, 18, 6),
    names=(*(f"hand of seat {seat}" for seat in range(4)), "chien"),
    card_id=_card_id,
)

ONE_SUIT_EACH = "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"
TAROT = (
    "N:KQNJT98765432A..KQ32.. .KQNJT98765432A.JT98.. ..N7654A.KQNJT9876543. ...A.21,20,19,18,17,16,15,14,"
    "13,12,11,10,9,8,7,6,5 ...2.4,3,2,1,EX"
)


def shuffled(form: DealFormat) -> st.SearchStrategy[list[list[int]]]:
    def cut(cards: list[int]) -> list[list[int]]:
        hands, at = [], 0
        for size in form.sizes:
            hands.append(sorted(cards[at : at + size]))
            at += size
        return hands

    return st.permutations(range(len(form.deck))).map(cut)


def texts(form: DealFormat, hands: list[list[int]]) -> list[list[str]]:
    return [[form.deck[card] for card in hand] for hand in hands]


@pytest.mark.parametrize("form", [BRIDGE, WITH_TRUMPS], ids=["52 cards", "with trumps"])
@given(data=st.data())
def test_any_deal_reads_back_as_written(form: DealFormat, data: st.DataObject) -> None:
    hands = data.draw(shuffled(form))
    text = form.format(hands)
    assert text.startswith("N:")
    assert form.parse(text) == hands
    assert form.format(form.parse(text)) == text
    assert form.read(texts(form, hands)) == hands
    assert form.read(hands) == hands


@pytest.mark.parametrize("form", [BRIDGE, WITH_TRUMPS], ids=["52 cards", "with trumps"])
@given(data=st.data())
def test_the_letter_in_front_names_the_first_hand(form: DealFormat, data: st.DataObject) -> None:
    hands = data.draw(shuffled(form))
    first = data.draw(st.integers(0, 3))
    parts = form.format(hands)[2:].split(" ")
    rotated = [parts[(first + i) % 4] for i in range(4)] + parts[4:]
    assert form.parse(f"{SEAT_LETTERS[first]}:" + " ".join(rotated)) == hands


@given(data=st.data())
def test_cards_of_a_holding_are_read_in_any_order_and_written_high_to_low(
    data: st.DataObject,
) -> None:
    hands = data.draw(shuffled(WITH_TRUMPS))
    text = WITH_TRUMPS.format(hands)
    turned = [
        ".".join(
            ",".join(reversed(part.split(","))) if "," in part else part[::-1] if i < 4 else part
            for i, part in enumerate(hand.split("."))
        )
        for hand in text[2:].split(" ")
    ]
    assert WITH_TRUMPS.format(WITH_TRUMPS.parse("N:" + " ".join(turned))) == text


def test_pbn_example_of_a_deal_tag() -> None:
    """PBN 2.1, section 3.4.11: north has no spades; brackets and quotes may stay on."""
    tag = '[Deal "N:.63.AKQ987.A9732 A8654.KQ5.T.QJT6 J973.J98742.3.K4 KQT2.AT.J6542.85"]'
    hands = texts(BRIDGE, BRIDGE.parse(tag))
    assert [card for card in hands[0] if card[1] in "SH"] == ["3H", "6H"]
    assert [card for card in hands[2] if card[1] in "DC"] == ["4C", "KC", "3D"]
    assert [card for card in hands[3] if card[1] == "S"] == ["2S", "TS", "QS", "KS"]
    assert BRIDGE.format(BRIDGE.parse(tag)) == tag[7:-2]


def test_voids_are_empty() -> None:
    assert BRIDGE.format(BRIDGE.parse(ONE_SUIT_EACH)) == ONE_SUIT_EACH


def test_trumps_are_written_without_the_letter_and_read_with_or_without_it() -> None:
    with_letters = TAROT.replace("21,20", "T21,T20").replace("1,EX", "T1,EX")
    hands = WITH_TRUMPS.parse(with_letters)
    assert hands == WITH_TRUMPS.parse(TAROT)
    assert texts(WITH_TRUMPS, hands)[4] == ["2C", "EX", "T1", "T2", "T3", "T4"]
    assert WITH_TRUMPS.format(hands) == TAROT


def test_the_chien_stays_the_fifth_hand_whatever_the_letter() -> None:
    """The hand in front belongs to W; the cards beside the hands do not turn with the seats."""
    hands = WITH_TRUMPS.parse("W" + TAROT[1:].replace("N:", ""))
    assert "TS" in texts(WITH_TRUMPS, hands)[3] and "KH" in texts(WITH_TRUMPS, hands)[0]
    assert "EX" in texts(WITH_TRUMPS, hands)[4]


def test_arrays_of_ids_are_read() -> None:
    assert BRIDGE.read(np.arange(52).reshape(4, 13)) == np.arange(52).reshape(4, 13).tolist()


def test_hands_of_an_unfinished_deal_can_be_written() -> None:
    assert BRIDGE.format([[0], [], [51, 38], [12]]) == "N:...2 ... A.A.. ...A"


def _bad(old: str, new: str, text: str = ONE_SUIT_EACH) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected N:, E:, S: or W:"),
        (ONE_SUIT_EACH[2:], "expected N:, E:, S: or W:"),
        (_bad("N:", "X:"), "expected N:, E:, S: or W:"),
        (_bad("N:", "n:"), "expected N:, E:, S: or W:"),
        (_bad(" .AK", ".AK"), "expected 4 hands between spaces, got 3"),
        (_bad("... .", "... .."), r"hand of seat 1, .*: expected 4 holdings .*, got 5"),
        (_bad(" .AK", " -K"), "hand of seat 1, .*: expected 4 holdings"),
        (_bad("T9", "109"), "hand of seat 0, .*: '1' among its S is not a rank; they are AKQ"),
        (_bad("E", "E", "E" + ONE_SUIT_EACH[1:].replace("T9", "X9", 1)), "hand of seat 1, .*'X'"),
        (_bad("AKQ", "AAKQ"), "AS is twice in hand of seat 0"),
        (_bad("5432.. ", "543.2. "), "2D is in hand of seat 1 and in hand of seat 2"),
        (_bad("AKQ", "KQ"), "hand of seat 0: expected 13 cards, got 12; AS missing"),
        (
            "N:.AKQJT98765432.. AKQJT9876543... ..AKQJT98765432. 2...AKQJT98765432",
            "hand of seat 1: expected 13 cards, got 12$",
        ),
    ],
)
def test_a_bad_text_is_refused_with_the_place(text: str, message: str) -> None:
    """A50: a bad deal is a ValueError that names what is wrong."""
    with pytest.raises(ValueError, match=message):
        BRIDGE.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_bad("4,3", "43", TAROT), "chien, .*: '43' is not a card of the last holding; write 21 "),
        (_bad("4,3", "4,,3", TAROT), "chien, .*: '' is not a card of the last holding"),
        (_bad("EX", "ex", TAROT), "chien, .*: 'ex' is not"),
        (_bad("1,EX", "1,1", TAROT), "T1 is twice in chien"),
        (_bad(",EX", "", TAROT), "chien: expected 6 cards, got 5; EX missing"),
        (TAROT.rsplit(" ", 1)[0], "expected 5 hands between spaces, got 4"),
        (_bad("..KQ32..", "..KQ32.", TAROT), r"expected 5 holdings .*\(S, H, D, C, trumps"),
    ],
)
def test_a_bad_text_with_trumps_is_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WITH_TRUMPS.parse(text)


@pytest.mark.parametrize(
    ("deal", "message"),
    [
        (None, "expected a text or lists of cards, got None"),
        ([1, 2, 3, 4], "expected a text or lists of cards"),
        ([["2C"], ["3C"]], "expected 4 hands, got 2"),
        (["AKQ...", [], [], []], "hand of seat 0: expected a list of cards, got the text"),
        ([["1C"], [], [], []], "hand of seat 0: '1C' is not a card"),
        ([[], [52], [], []], "hand of seat 1: 52 is not a card id"),
        ([[], [True], [], []], "hand of seat 1: True is not a card"),
        ([["2C", 0], [], [], []], "2C is twice in hand of seat 0"),
    ],
)
def test_bad_lists_are_refused_with_the_place(deal: Any, message: str) -> None:
    """A50."""
    with pytest.raises(ValueError, match=message):
        BRIDGE.read(deal)


def test_a_hand_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(ValueError, match="AS is twice in one hand"):
        BRIDGE.format([[51, 51], [], [], []])
    with pytest.raises(ValueError, match="-1 is not a card id"):
        BRIDGE.format([[-1], [], [], []])
