"""A table as plain text: what one seat sees, or all hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bolola_env.cards import CARD_NAMES, NUM_CARDS, RANKS, SUIT_SETS, SUITS, cards_in
from bolola_env.contracts import MATCH_ORDER, NUM_TRICKS
from trick_core.game import AGENTS, NUM_SEATS, Setup
from trick_core.table_view import align

SUIT_WORDS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}

_SHOWN_SUITS = "SHDC"
_SUIT_SETS = {suit: int(bits) for suit, bits in zip(SUITS, SUIT_SETS, strict=True)}


def render(
    setup: Setup,
    states: np.ndarray[Any, Any],
    i: int,
    seat: int | None,
    history: Sequence[int] = (),
) -> str:
    """Draw table ``i``.

    Args:
        setup: The game with its options.
        states: States, shape (N,).
        i: Which of them.
        seat: From whose view: the other hands are counts and what public play has shown of them, and the legal cards
            show when the seat is on turn. None: all hands.
        history: Ids of the actions taken in the episode, for the last trick; may be empty.

    Returns:
        Lines of text without a line break at the end.
    """
    st = states[i]
    lines = [_heading(setup, st), "", *_seats(setup, st, seat), ""]
    if last := _last_trick(setup, st, history):
        lines.append(last)
    if int(st["seat"]) < 0:
        lines.append(f"The end. Points: {_points(_totals(st))}")
    else:
        lines.append(_table(st))
        lines.append(_turn(setup, st, seat))
    return "\n".join(lines)


def contract_name(setup: Setup, deal: int) -> str:
    """Name of the contract of a deal, 0 for the first of the episode."""
    contract: Any = setup.options["contract"]
    if contract == "match":
        contract = (setup.options["order"] or MATCH_ORDER)[deal]
    name = contract if isinstance(contract, str) else contract["name"]
    return str(name).replace("-", "_")


def _heading(setup: Setup, st: Any) -> str:
    deal, deals = int(st["deal"]), len(setup.config)
    parts = [f"{contract_name(setup, deal)}"]
    if deals > 1:
        parts.insert(0, f"Deal {deal + 1} of {deals}")
    if setup.config[deal]["trumps"]:
        suit = int(st["trump"])
        parts.append("trump not named yet" if suit < 0 else f"{SUIT_WORDS[SUITS[suit]]} are trumps")
    if int(st["seat"]) >= 0:
        parts.append(f"trick {int(st['trick_number']) + 1} of {NUM_TRICKS}")
        if locked := cards_in(st["locked"]):
            parts.append(f"{SUIT_WORDS[locked[0][1]]} may not be led yet")
    return ", ".join(parts)


def _seats(setup: Setup, st: Any, viewer: int | None) -> list[str]:
    """One line a seat: who is on turn, its cards, tricks and points."""
    gone = sum(int(played) for played in st["played"])
    match = len(setup.config) > 1
    rows = []
    for seat in range(NUM_SEATS):
        mark = ">" if int(st["seat"]) == seat else " "
        who = f"{AGENTS[seat]} (you)" if viewer == seat else AGENTS[seat]
        hand = int(st["hands"][seat])
        if hand and viewer in (None, seat):
            cards = hand_text(hand)
        else:
            cards = _hidden(
                NUM_TRICKS - int(st["played"][seat]).bit_count(), int(st["can"][seat]), gone
            )
        row = [mark, who, cards, f"tricks {int(st['taken'][seat])}"]
        row.append(f"points {int(st['points'][seat]):+d}")
        if match:
            row.append(f"match {_totals(st)[seat]:+d}")
        rows.append(row)
    return align(rows)


def hand_text(hand: int) -> str:
    """A hand by suits, from high to low: ``S AK4  H -  D QJ  C 98``."""
    texts = set(cards_in(hand))
    return "  ".join(
        f"{suit} {''.join(r for r in reversed(RANKS) if r + suit in texts) or '-'}"
        for suit in _SHOWN_SUITS
    )


def _hidden(count: int, can: int, gone: int) -> str:
    """Another seat's hand: how many cards, and of which suits public play shows that it has none."""
    text = f"{count} card{'s' * (count != 1)}"
    void = [
        suit
        for suit in _SHOWN_SUITS
        if _SUIT_SETS[suit] & ~gone and not _SUIT_SETS[suit] & ~gone & can
    ]
    return f"{text}, no {' '.join(void)}" if void and count else text


def _table(st: Any) -> str:
    leader, size = int(st["leader"]), int(st["trick_size"])
    if size == 0:
        return "On the table: nothing"
    seats = [(leader + k) % NUM_SEATS for k in range(size)]
    cards = [f"{AGENTS[seat]} {cards_in(st['trick'][seat])[0]}" for seat in seats]
    return f"On the table: {', '.join(cards)}; {AGENTS[int(st['winner'])]} wins it so far"


def _turn(setup: Setup, st: Any, viewer: int | None) -> str:
    seat = int(st["seat"])
    naming = bool(setup.config[int(st["deal"])]["trumps"]) and int(st["trump"]) < 0
    what = "names the trump suit" if naming else "plays" if int(st["trick_size"]) else "leads"
    line = f"{AGENTS[seat]} {what}"
    if viewer not in (None, seat):
        return line
    legal = [f"trump:{suit}" for suit in SUITS] if naming else _sorted_cards(int(st["legal"][0]))
    return f"{line}: {' '.join(legal)}"


def _sorted_cards(bits: int) -> list[str]:
    """Cards in the order in which hands are shown."""
    return sorted(cards_in(bits), key=lambda c: (_SHOWN_SUITS.index(c[1]), -RANKS.index(c[0])))


def _last_trick(setup: Setup, st: Any, history: Sequence[int]) -> str:
    """The trick before the current one, if this deal has one and the history reaches back to it."""
    number, size = int(st["trick_number"]), int(st["trick_size"])
    cards = [int(action) for action in history if int(action) < NUM_CARDS]
    cards = cards[: len(cards) - size][-NUM_SEATS:]
    if number == 0 or len(cards) < NUM_SEATS:
        return ""
    owner = {
        card: seat
        for seat in range(NUM_SEATS)
        for card in cards
        if int(st["played"][seat]) >> card & 1
    }
    if len(owner) < NUM_SEATS:
        return ""
    row = setup.config[int(st["deal"])]
    points = sum(int(row["card_points"][card]) for card in cards)
    points += int(row["trick_value"][number - 1])
    texts = [f"{AGENTS[owner[card]]} {CARD_NAMES[card]}" for card in cards]
    winner = AGENTS[int(st["leader"])]
    return f"Last trick:   {', '.join(texts)}; {winner} took it ({points:+d})"


def _totals(st: Any) -> list[int]:
    """Points of the episode so far, by seat."""
    return [int(a) + int(b) for a, b in zip(st["scores"], st["points"], strict=True)]


def _points(points: Sequence[int]) -> str:
    return ", ".join(f"{AGENTS[seat]} {value:+d}" for seat, value in enumerate(points))
