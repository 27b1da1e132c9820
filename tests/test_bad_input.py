"""What is wrong is refused at the boundary: the error says what it was, what was expected, and where."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from bolola_env.contracts import CONTRACTS, Contract
from bolola_env.game import reset_config
from bolola_env.game import setup as bolola_setup

NAN = float("nan")
HUGE = 10**400
SUITED = "N:...AKQJT98765432 ..AKQJT98765432. .AKQJT98765432.. AKQJT98765432..."
IDS = [list(range(13 * seat, 13 * seat + 13)) for seat in range(4)]


def swap(seat: int, cards: list[Any]) -> list[list[Any]]:
    """The deal by suits with another hand for a seat."""
    return [cards if i == seat else hand for i, hand in enumerate(IDS)]


# ---------------------------------------------------------------------------- contract rows

NAME = "name: expected letters, digits and underscores"
WRONG_ROWS: list[tuple[str, Any, str]] = [
    *(("name", value, NAME) for value in (None, 5, True, "", "1a", "a b", "x/y", ["x"])),
    ("card_points", 5, "card_points: expected 52 numbers or a mapping, got 5"),
    ("card_points", None, "card_points: expected 52 numbers or a mapping, got None"),
    ("card_points", NAN, "card_points: expected 52 numbers or a mapping, got nan"),
    ("card_points", [1] * 51, "card_points: expected 52 numbers or a mapping, got 51"),
    ("card_points", "QS", "card_points: expected 52 numbers or a mapping, got 2"),
    ("card_points", [1.5] * 52, "card_points: points are integers, got 1.5"),
    ("card_points", [True] * 52, "card_points: points are integers, got True"),
    ("card_points", np.zeros(52), "card_points: points are integers, got np.float64(0.0)"),
    ("card_points", {"Q": 1.0}, "card_points: points are integers, got 1.0"),
    ("card_points", {"Q": NAN}, "card_points: points are integers, got nan"),
    ("card_points", {"Q": "3"}, "card_points: points are integers, got '3'"),
    ("card_points", {"Q": None}, "card_points: points are integers, got None"),
    ("card_points", {"Q": False}, "card_points: points are integers, got False"),
    ("card_points", {"Q": 32768}, "card_points: 32768 is outside int16 (-32768..32767)"),
    ("card_points", {"Q": -32769}, "card_points: -32769 is outside int16"),
    ("card_points", {"Q": HUGE}, "is outside int16"),
    ("card_points", {"H": -30000, "KH": -30000}, "card_points[KH]: -60000 is outside int16"),
    ("card_points", {"1H": 3}, "card_points: '1H' is not a card"),
    (
        "card_points",
        {"h": 3},
        "card_points: 'h' is neither a rank (23456789TJQKA) nor a suit (CDHS)",
    ),
    ("card_points", {"": 3}, "card_points: '' is not a card"),
    ("card_points", {52: 3}, "card_points: 52 is not a card id: they are 0..51"),
    ("card_points", {-1: 3}, "card_points: -1 is not a card id"),
    ("card_points", {HUGE: 3}, "is not a card id"),
    ("card_points", {True: 3}, "card_points: True is not a card"),
    ("card_points", {None: 3}, "card_points: None is not a card"),
    ("card_points", {NAN: 3}, "card_points: nan is not a card"),
    ("trick_points", None, "trick_points: points are integers, got None"),
    ("trick_points", 1.0, "trick_points: points are integers, got 1.0"),
    ("trick_points", True, "trick_points: points are integers, got True"),
    ("trick_points", NAN, "trick_points: points are integers, got nan"),
    ("trick_points", "3", "trick_points: points are integers, got '3'"),
    ("trick_points", [3], "trick_points: points are integers, got [3]"),
    ("trick_points", np.array([3]), "trick_points: points are integers, got array([3])"),
    ("trick_points", np.int32(40000), "trick_points: 40000 is outside int16"),
    ("trick_points", -HUGE, "is outside int16"),
    ("trick_number_points", 5, "trick_number_points: expected 13 numbers or a mapping, got 5"),
    ("trick_number_points", None, "trick_number_points: expected 13 numbers or a mapping"),
    (
        "trick_number_points",
        [1] * 12,
        "trick_number_points: expected 13 numbers or a mapping, got 12",
    ),
    ("trick_number_points", [1.0] * 13, "trick_number_points: points are integers, got 1.0"),
    ("trick_number_points", {0: 1}, "trick_number_points: tricks are numbered 1..13, got 0"),
    ("trick_number_points", {14: 1}, "trick_number_points: tricks are numbered 1..13, got 14"),
    ("trick_number_points", {True: 1}, "tricks are numbered 1..13, got True"),
    ("trick_number_points", {1.0: 1}, "tricks are numbered 1..13, got 1.0"),
    ("trick_number_points", {"1": 1}, "tricks are numbered 1..13, got '1'"),
    ("trick_number_points", {NAN: 1}, "tricks are numbered 1..13, got nan"),
    ("trick_number_points", {1: True}, "trick_number_points: points are integers, got True"),
    ("trick_number_points", {1: HUGE}, "is outside int16"),
    *(
        ("locked_suit", value, "locked_suit: expected one of (None, 'C', 'D', 'H', 'S', 'trump')")
        for value in ("X", "h", "", 0, True, NAN, ["H"])
    ),
    ("locked_suit", "trump", "locked_suit: 'trump' needs trumps=True"),
    ("void_tiers", 5, "void_tiers: expected a sequence of selections, got 5"),
    ("void_tiers", None, "void_tiers: expected a sequence of selections, got None"),
    ("void_tiers", "Q", "void_tiers: expected a sequence of selections, got one text"),
    ("void_tiers", [5], "void_tiers: expected cards in a list, tuple or set, got 5"),
    ("void_tiers", [None], "void_tiers: expected cards in a list, tuple or set, got None"),
    ("void_tiers", [[]], "void_tiers: a tier is empty"),
    ("void_tiers", [["Q"], ["QH", "QS"]], "void_tiers: a tier is empty, or earlier tiers name all"),
    ("void_tiers", [["10H"]], "void_tiers: '10H' is not a card"),
    ("void_tiers", [[True]], "void_tiers: True is not a card"),
    ("void_tiers", [[52]], "void_tiers: 52 is not a card id"),
    ("void_tiers", [[rank] for rank in "23456789"], "void_tiers: at most 7, got 8"),
    ("under_duty", 5, "under_duty: expected cards in a list, tuple or set, got 5"),
    ("under_duty", None, "under_duty: expected cards in a list, tuple or set, got None"),
    ("under_duty", ["HK"], "under_duty: 'HK' is not a card: write rank then suit, as QH or TS"),
    ("under_duty", [NAN], "under_duty: nan is not a card"),
    ("under_duty", [False], "under_duty: False is not a card"),
    ("under_duty", [["Q"]], "under_duty: ['Q'] is not a card"),
    *(
        ("trumps", value, f"trumps: expected True or False, got {value!r}")
        for value in (1, 0, None, "yes", NAN)
    ),
]


@pytest.mark.parametrize(("field", "value", "message"), WRONG_ROWS)
def test_wrong_contract_rows(field: str, value: Any, message: str) -> None:
    """B-8.1: every field says what it expected."""
    with pytest.raises(ValueError, match=re.escape(message)):
        Contract(**{"name": "row", field: value})


def test_contract_fields_are_keywords() -> None:
    with pytest.raises(TypeError, match="positional"):
        Contract("row")  # type: ignore[misc]
    with pytest.raises(TypeError, match="'penalty'"):
        Contract(name="row", penalty=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'name'"):
        Contract()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "words",
    [
        {"trick_points": np.int64(-7)},
        {"trick_points": np.uint8(7)},
        {"trick_points": -32768},
        {"trick_number_points": {np.int64(3): np.int16(2)}},
        {"card_points": np.arange(52)},
        {"card_points": {np.int64(3): 2}},
        {"trumps": np.bool_(True)},
        {"under_duty": "QS"},
    ],
)
def test_numpy_scalars_and_bounds_are_fine(words: dict[str, Any]) -> None:
    """What is an integer is taken as one, and kept as Python's own."""
    row = Contract(name="row", **words)
    assert all(type(value) is int for value in row.card_points)
    assert all(type(value) is int for value in row.trick_number_points)
    assert type(row.trick_points) is int
    assert type(row.trumps) is bool
    bolola_setup(row)


# ---------------------------------------------------------------------------- options

SEAT = "expected a seat 0..3, got"
SUIT = "trump: expected one of C, D, H, S; got"
WRONG_OPTIONS: list[tuple[str, Any, str]] = [
    *(("starter", v, f"starter: {SEAT}") for v in (4, -1, True, 1.0, NAN, "0", [0], HUGE)),
    ("starter", np.int64(9), "starter: expected a seat 0..3, got 9"),
    *(("trump", value, SUIT) for value in ("X", "c", "", "CD", 0, True, NAN, ["C"])),
    *(
        (option, value, f"{option}: expected True or False, got {value!r}")
        for option in ("early_stop", "zero_sum")
        for value in (1, 0, None, "yes", NAN)
    ),
    *(
        ("reward", value, f"reward: expected one of 'points', 'final', 'shaped'; got {value!r}")
        for value in ("score", "", None, 0, ["points"])
    ),
    *(
        ("illegal_action", value, "illegal_action: expected one of 'terminate', 'raise'; got")
        for value in ("stop", None, 1)
    ),
    *(
        (option, value, f"{option}: expected a number, got {value!r}")
        for option in ("reward_scale", "illegal_reward")
        for value in ("1", True, [1], 1j, np.array(1.0))
    ),
    ("reward_scale", None, "reward_scale: expected a number, got None"),
    *(
        (option, value, f"{option}: expected a finite number, got")
        for option in ("reward_scale", "illegal_reward")
        for value in (NAN, float("inf"), -float("inf"), np.float32("nan"), HUGE)
    ),
    ("order", ["hearts"], "order: only the match takes it; use contract='match'"),
]


@pytest.mark.parametrize(("option", "value", "message"), WRONG_OPTIONS)
def test_wrong_options(option: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        bolola_setup("trump", **{option: value})


@pytest.mark.parametrize(
    ("contract", "error", "message"),
    [
        ("nope", ValueError, "contract: no 'nope'; there are no_tricks, jacks_kings, queens"),
        ("Hearts", ValueError, "contract: no 'Hearts'"),
        ("", ValueError, "contract: no ''"),
        (5, TypeError, "contract: expected a name or a Contract row, got 5"),
        (None, TypeError, "contract: expected a name or a Contract row, got None"),
        (["hearts"], TypeError, "contract: expected a name or a Contract row"),
        (Contract, TypeError, "contract: expected a name or a Contract row"),
        ({}, ValueError, "contract: the field 'name' is missing"),
        ({"name": "x", "points": 1}, ValueError, "contract: no field points; there are name,"),
        ({"name": "x", "trick_points": 1.5}, ValueError, "trick_points: points are integers"),
    ],
)
def test_wrong_contracts(contract: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        bolola_setup(contract)


@pytest.mark.parametrize(
    ("order", "error", "message"),
    [
        ("hearts", ValueError, "order: expected a sequence of contracts, got 'hearts'"),
        (5, ValueError, "order: expected a sequence of contracts, got 5"),
        (NAN, ValueError, "order: expected a sequence of contracts, got nan"),
        ({"hearts"}, ValueError, "order: expected a sequence of contracts, got {'hearts'}"),
        ([], ValueError, "order: expected 1 to 12 contracts, got 0"),
        (["hearts"] * 13, ValueError, "order: expected 1 to 12 contracts, got 13"),
        (["hearts", "nope"], ValueError, "contract: no 'nope'"),
        (["match"], ValueError, "contract: no 'match'"),
        (["hearts", None], TypeError, "contract: expected a name or a Contract row, got None"),
    ],
)
def test_wrong_orders(order: Any, error: type[Exception], message: str) -> None:
    """B-7.1: the order of a match."""
    with pytest.raises(error, match=re.escape(message)):
        bolola_setup("match", order=order)


def test_an_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="'first_seat'"):
        bolola_setup("hearts", first_seat=2)


def test_names_may_have_hyphens() -> None:
    assert bolola_setup("king-of-hearts").variant == "king_of_hearts"
    assert Contract(name="house-rule").name == "house_rule"


# ---------------------------------------------------------------------------- custom deals

TEXT = "deal: expected N:, E:, S: or W: and then the hands; got"
LISTS = "deal: expected a text or lists of cards, got"
WRONG_DEALS: list[tuple[Any, str]] = [
    ("", TEXT),
    ("X:" + SUITED[2:], TEXT),
    (SUITED[2:], TEXT),
    ("N:", "deal: expected 4 hands between spaces, got 0"),
    (SUITED + " .", "deal: expected 4 hands between spaces, got 5"),
    (
        SUITED.replace("...", "..", 1),
        "deal: hand of seat 0, '..AKQJT98765432': expected 4 holdings"[:60],
    ),
    (
        SUITED.replace(" ..", " .", 1),
        "deal: hand of seat 1, '.AKQJT98765432.': expected 4 holdings",
    ),
    (SUITED.replace("A", "1", 1), "'1' among its C is not a rank"),
    (SUITED.replace("A", "a", 1), "'a' among its C is not a rank"),
    (SUITED.replace("A", "K", 1), "deal: KC is twice in hand of seat 0"),
    (SUITED.replace("2 ", " ", 1), "deal: hand of seat 0: expected 13 cards, got 12; 2C missing"),
    (5, "deal: expected"),
    (NAN, "deal: expected"),
    (True, "deal: expected"),
    (b"x", "deal: expected"),
    ([], "deal: expected"),
    ({}, "deal: expected"),
    (IDS[:3], "deal: expected 4 hands, got 3"),
    ([*IDS, []], "deal: expected 4 hands, got 5"),
    ([None] * 4, LISTS),
    ([5] * 4, LISTS),
    (["AC"] * 4, "deal: hand of seat 0: expected a list of cards, got the text 'AC'"),
    (swap(1, IDS[0]), "deal: 2C is in hand of seat 0 and in hand of seat 1"),
    (swap(0, [0, *IDS[0]]), "deal: 2C is twice in hand of seat 0"),
    (swap(0, IDS[0][1:]), "deal: hand of seat 0: expected 13 cards, got 12; 2C missing"),
    (
        swap(2, ["1H", *IDS[2][1:]]),
        "deal: hand of seat 2: '1H' is not a card: write rank then suit",
    ),
    (swap(2, [52, *IDS[2][1:]]), "deal: hand of seat 2: 52 is not a card id: they are 0..51"),
    (swap(2, [-1, *IDS[2][1:]]), "deal: hand of seat 2: -1 is not a card id"),
    (swap(2, [HUGE, *IDS[2][1:]]), "is not a card id"),
    (swap(0, [False, *IDS[0][1:]]), "deal: hand of seat 0: False is not a card"),
    (swap(0, [0.0, *IDS[0][1:]]), "deal: hand of seat 0: 0.0 is not a card"),
    (swap(0, [NAN, *IDS[0][1:]]), "deal: hand of seat 0: nan is not a card"),
    (swap(0, [None, *IDS[0][1:]]), "deal: hand of seat 0: None is not a card"),
    (np.array(IDS, float), "deal: hand of seat 0: np.float64(0.0) is not a card"),
]


@pytest.mark.parametrize("contract", ["trump", "match"])
@pytest.mark.parametrize(("deal", "message"), WRONG_DEALS)
def test_wrong_deals(contract: str, deal: Any, message: str) -> None:
    """B-1.1, A50: the error names the card, the seat or the count; in the match too."""
    setup = bolola_setup(contract)
    before = setup.config.tobytes()
    with pytest.raises(ValueError, match=re.escape(message)):
        reset_config(setup, {"deal": deal})
    assert setup.config.tobytes() == before


@pytest.mark.parametrize(
    ("deals", "message"),
    [
        ([SUITED] * 13, "deal: the match has 12 deals, got 13"),
        ([IDS] * 13, "deal: the match has 12 deals, got 13"),
        ([SUITED, "N:"], "deal: expected 4 hands between spaces, got 0"),
        ([IDS, IDS[:3]], "deal: expected 4 hands, got 3"),
        ([SUITED, None], "deal: expected a text or lists of cards, got None"),
        ([IDS, swap(1, IDS[0])], "deal: 2C is in hand of seat 0 and in hand of seat 1"),
    ],
)
def test_wrong_deals_of_a_match(deals: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        reset_config(bolola_setup("match"), {"deal": deals})


@pytest.mark.parametrize(
    ("deal", "count"),
    [
        (SUITED, 1),
        (IDS, 1),
        (np.array(IDS), 1),
        ([tuple(hand) for hand in IDS], 1),
        ([set(hand) for hand in IDS], 1),
        ([SUITED], 1),
        ([IDS], 1),
        ([SUITED] * 4, 4),
        ([IDS, SUITED, IDS, SUITED], 4),
        (np.array([IDS] * 12), 12),
    ],
)
def test_deals_of_a_match_in_every_form(deal: Any, count: int) -> None:
    """One deal or up to twelve, as texts, lists, sets or arrays."""
    config = reset_config(bolola_setup("match"), {"deal": deal})
    assert np.asarray(config["given"]).tolist() == [1] * count + [0] * (12 - count)
    assert (
        np.asarray(config["hands"][:count]).tolist()
        == [[((1 << 13) - 1) << (13 * seat) for seat in range(4)]] * count
    )


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        *(("starter", value, SEAT) for value in (4, -1, True, 1.0, NAN, "N", HUGE)),
        *(("trump", value, SUIT) for value in ("X", "s", 0, True, NAN)),
    ],
)
def test_wrong_reset_options(key: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        reset_config(bolola_setup("trump"), {key: value})


def test_none_means_from_the_seed() -> None:
    """A key with None is as a key left out, to the last byte: gaps between fields are copied too."""
    setup = bolola_setup("trump")
    config = reset_config(setup, {"deal": None, "starter": None, "trump": None})
    assert config.tobytes() == setup.config.tobytes()


def test_the_nine_rows_are_fixed() -> None:
    """Neither a row nor a setup's numbers can be changed in place."""
    with pytest.raises(AttributeError):
        CONTRACTS["hearts"].trick_points = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        bolola_setup("hearts").config["trumps"] = 1
