"""A table as plain text: what one seat sees, or all hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tarot_env.cards import (
    CARD_NAMES,
    CHIEN_SIZE,
    HAND_SIZE,
    NUM_CARDS,
    NUM_TRICKS,
    RANKS,
    SUIT_SETS,
    SUITS,
    TRUMPS,
    card_id,
    cards_in,
)
from tarot_env.contracts import ACTIONS, CONTRACT_NAMES, CONTRACTS, POIGNEE_LEVELS
from tarot_env.state import BID, DISCARD, KEEP, OVER, PHASES, PLAY, POIGNEE
from trick_core.drivers import table_drivers
from trick_core.game import AGENTS, NUM_SEATS, Setup
from trick_core.table_view import align

_SHOWN_SUITS = "SHDC"
_SUIT_SETS = {suit: int(bits) for suit, bits in zip(SUITS, SUIT_SETS, strict=True)}
_BIDS = ("pass", *CONTRACT_NAMES)


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
        seat: From whose view: the other hands are counts and what public events have shown of them, and the legal
            actions show when the seat is on turn. While another seat is asked for a poignée, the table looks as if the
            play were about to begin (rule T-4.1). None: all hands, and who is asked.
        history: Ids of the actions taken in the episode, for the last trick; may be empty.

    Returns:
        Lines of text without a line break at the end.
    """
    st = states[i]
    phase, on_turn = int(st["phase"]), int(st["seat"])
    if phase in (POIGNEE, KEEP) and seat not in (None, on_turn):
        phase, on_turn = PLAY, int(st["leader"]) if on_turn >= 0 else -1
    lines = [_heading(st, phase), "", *_seats(st, seat, phase, on_turn), ""]
    lines += _aside(st, seat, phase)
    if last := _last_trick(st, history):
        lines.append(last)
    if on_turn < 0:
        lines += _end(setup, states, i)
    else:
        if phase == PLAY:
            lines.append(_table(st))
        lines.append(_turn(st, seat, phase, on_turn))
    return "\n".join(lines)


def has_taken_chien(st: Any) -> bool:
    """Whether the taker of a state has picked up the chien, so that all have seen it (T-3.1)."""
    contract = int(st["contract"])
    return int(st["phase"]) != BID and contract > 0 and CONTRACTS[contract - 1].takes_chien


def _heading(st: Any, phase: int) -> str:
    contract, taker = int(st["contract"]), int(st["taker"])
    if phase == BID or contract == 0:
        parts = ["bidding" if phase == BID else "four passes"]
    else:
        row = CONTRACTS[contract - 1]
        parts = [f"{row.name} (x{row.multiplier}) by {AGENTS[taker]}"]
    if int(st["chelem"]) == 1:
        parts.append("chelem announced")
    if phase == PLAY:
        parts.append(f"trick {int(st['trick_number']) + 1} of {NUM_TRICKS}")
    return ", ".join(parts)


def _seats(st: Any, viewer: int | None, phase: int, on_turn: int) -> list[str]:
    """One line a seat: who is on turn, its cards, tricks, what it has said and shown."""
    gone = _gone(st)
    rows = []
    for seat in range(NUM_SEATS):
        mark = ">" if on_turn == seat else " "
        who = f"{AGENTS[seat]} (you)" if viewer == seat else AGENTS[seat]
        hand = int(st["hands"][seat]), int(st["hands_trumps"][seat])
        if any(hand) and viewer in (None, seat):
            cards = hand_text(*hand)
        else:
            can = int(st["can"][seat]), int(st["can_trumps"][seat])
            cards = _hidden(_count(st, seat), can, gone)
        said = [] if int(st["bids"][seat]) < 0 else [_BIDS[int(st["bids"][seat])]]
        if int(st["dealer"]) == seat:
            said.insert(0, "dealer")
        if level := int(st["shown_level"][seat]):
            shown = " ".join(cards_in(0, st["shown"][seat]))
            said.append(f"poignée of {POIGNEE_LEVELS[level - 1]}: {shown}")
        rows.append([mark, who, cards, f"tricks {int(st['taken'][seat])}", ", ".join(said)])
    return align(rows)


def _gone(st: Any) -> tuple[int, int]:
    """All cards played: suits, trumps."""
    suits = trumps = 0
    for seat in range(NUM_SEATS):
        suits |= int(st["played"][seat])
        trumps |= int(st["played_trumps"][seat])
    return suits, trumps


def _count(st: Any, seat: int) -> int:
    """How many cards a seat holds."""
    played = int(st["played"][seat]).bit_count() + int(st["played_trumps"][seat]).bit_count()
    extra = 0
    if int(st["phase"]) == DISCARD and seat == int(st["taker"]):
        away = int(st["hidden_size"]) + int(st["discard_trumps"]).bit_count()
        extra = CHIEN_SIZE - away
    return HAND_SIZE + extra - played


def hand_text(suits: int, trumps: int) -> str:
    """A hand by suits, from high to low: ``S KQ4  H -  D NT  C A9  T 21 17 4 EX``."""
    texts = set(cards_in(suits, trumps))
    holdings = [
        f"{suit} {''.join(r for r in reversed(RANKS) if r + suit in texts) or '-'}"
        for suit in _SHOWN_SUITS
    ]
    numbers = [name.lstrip("T") for name in reversed(CARD_NAMES[NUM_CARDS - 22 :]) if name in texts]
    return "  ".join([*holdings, f"T {' '.join(numbers) or '-'}"])


def _hidden(count: int, can: tuple[int, int], gone: tuple[int, int]) -> str:
    """Another seat's hand: how many cards, and of which suits public events show that it has none."""
    text = f"{count} card{'s' * (count != 1)}"
    void = [
        suit
        for suit in _SHOWN_SUITS
        if _SUIT_SETS[suit] & ~gone[0] and not _SUIT_SETS[suit] & ~gone[0] & can[0]
    ]
    trumps = int(TRUMPS) & ~gone[1]
    if trumps and not trumps & can[1]:
        void.append("T")
    return f"{text}, no {' '.join(void)}" if void and count else text


def _aside(st: Any, viewer: int | None, phase: int) -> list[str]:
    """The chien and the discards, as far as they may be seen."""
    lines = []
    if viewer is None or has_taken_chien(st):
        lines.append(f"Chien: {' '.join(cards_in(st['chien'], st['chien_trumps']))}")
    discard, trumps = int(st["discard"]), int(st["discard_trumps"])
    if viewer is not None and viewer != int(st["taker"]):
        discard = 0
    if cards := cards_in(discard, trumps):
        hidden = int(st["hidden_size"]) if not discard else 0
        more = f" and {hidden} more" if hidden else ""
        lines.append(f"Discarded: {' '.join(cards)}{more}")
    elif phase != BID and has_taken_chien(st) and int(st["hidden_size"]):
        lines.append(f"Discarded: {int(st['hidden_size'])} unseen")
    if int(st["trick_number"]) and phase == PLAY:
        points = [_number(int(st[name]) / 2) for name in ("taker_points", "defence_points")]
        lines.append(f"Points of the tricks: taker {points[0]}, defence {points[1]}")
    return lines


def _table(st: Any) -> str:
    leader, count = int(st["leader"]), int(st["trick_size"])
    if count == 0:
        return "On the table: nothing"
    seats = [(leader + k) % NUM_SEATS for k in range(count)]
    cards = [
        f"{AGENTS[seat]} {cards_in(st['trick'][seat], st['trick_trumps'][seat])[0]}"
        for seat in seats
    ]
    line = f"On the table: {', '.join(cards)}"
    winner = int(st["winner"])
    return line if winner < 0 else f"{line}; {AGENTS[winner]} wins it so far"


def _turn(st: Any, viewer: int | None, phase: int, on_turn: int) -> str:
    what = {
        "play": "plays" if int(st["trick_size"]) else "leads",
        "bid": "bids",
        "discard": "discards",
        "chelem": "says chelem or not",
        "poignee": "may show a poignée",
        "keep": "keeps trumps back",
    }[PHASES[phase]]
    line = f"{AGENTS[on_turn]} {what}"
    bits = sum(int(word) << (64 * k) for k, word in enumerate(np.asarray(st["legal"]).tolist()))
    if viewer not in (None, on_turn) or on_turn != int(st["seat"]) or not bits:
        return line
    legal = [ACTIONS[k] for k in range(len(ACTIONS)) if bits >> k & 1]
    return f"{line}: {' '.join(sorted(legal, key=_place))}"


def _place(action: str) -> tuple[int, int]:
    """The order in which hands are shown: suits from high to low, trumps from high to low, then the rest."""
    if action not in CARD_NAMES:
        return 5, ACTIONS.index(action)
    if card_id(action) < 14 * len(SUITS):
        return _SHOWN_SUITS.index(action[1]), -RANKS.index(action[0])
    return 4, -card_id(action)


def _last_trick(st: Any, history: Sequence[int]) -> str:
    """The trick before the current one, if the history reaches back to it."""
    number, count = int(st["trick_number"]), int(st["trick_size"])
    cards = [int(action) for action in history]
    cards = cards[: len(cards) - count][-NUM_SEATS:]
    if number == 0 or len(cards) < NUM_SEATS:
        return ""
    owner = {
        card: seat
        for seat in range(NUM_SEATS)
        for card in cards
        if CARD_NAMES[card] in cards_in(st["played"][seat], st["played_trumps"][seat])
    }
    texts = [f"{AGENTS[owner[card]]} {CARD_NAMES[card]}" for card in cards]
    return f"Last trick:   {', '.join(texts)}; {AGENTS[int(st['leader'])]} took it"


def _end(setup: Setup, states: Any, i: int) -> list[str]:
    """The settlement (T-7.1 to T-7.5), line by line."""
    st = states[i]
    if int(st["phase"]) != OVER:
        return ["The end: stopped before the deal was over"]
    if int(st["taker"]) < 0:
        return ["The end: annulled, everybody scores 0"]
    game = setup.game
    numbers = np.zeros((i + 1, len(game.info_names)))
    table_drivers(game).info(setup.config, states, i, numbers)
    line = dict(zip(game.info_names, numbers[i].tolist(), strict=True))
    points = [int(st["credit"]) / 2 * (3 if s == int(st["taker"]) else -1) for s in range(4)]
    parts = ("base", "petit", "poignee", "chelem")
    texts = ("base", "Petit", "poignées", "chelem")
    lines = ", ".join(f"{text} {line[part]:+g}" for part, text in zip(parts, texts, strict=True))
    return [
        f"The end. The taker has {_number(line['taker_points'])} points; with oudlers: {line['oudlers']:g}, the "
        f"contract needs {line['target']:g}: {'made' if line['made'] else 'lost'}",
        f"To the taker from each defender: {lines}: {line['per_defender']:+g}",
        f"Points: {', '.join(f'{AGENTS[s]} {value:+g}' for s, value in enumerate(points))}",
    ]


def _number(value: float) -> str:
    return f"{value:g}"
