"""What a seat sees, as named 0/1 pieces; and the full-information state.

Seats in the observation are relative: 0 is the observer, then the others in play order. The first part changes
during a deal, the second (the contract's row, :data:`ROW_START`) only from deal to deal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bolola_env.cards import ALL_CARDS, CARD_NAMES
from bolola_env.contracts import CONTRACTS, Contract
from bolola_env.rules import all_played
from trick_core.bits import ONE, ZERO
from trick_core.jit import kernel
from trick_core.layout import Layout, Piece

_PUBLIC = [
    Piece("trick", 52, "card of the current trick, by relative seat 0..3", count=4),
    Piece("played", 52, "cards played in this deal, by relative seat 0..3", count=4),
    Piece("trick_number", 13, "current trick 1..13, one-hot; none when the episode is over"),
    Piece("trick_size", 4, "cards in the current trick 0..3, one-hot"),
    Piece("on_turn", 4, "relative seat on turn, one-hot; none when the episode is over"),
    Piece("leader", 4, "relative seat that leads the current trick, one-hot"),
    Piece("starter", 4, "relative seat that started the deal, one-hot"),
    Piece("trump", 4, "trump suit C D H S, one-hot; none if there is none or it is not named yet"),
    Piece("naming", 1, "the trump suit is being named"),
    Piece("locked", 1, "leads of the locked suit are still closed"),
    Piece("match", 1, "the deal is part of a match"),
    Piece("deal_number", 12, "deal of the match 1..12, one-hot (deal 1 outside a match)"),
    Piece("taken", 4, "tricks taken in this deal, by relative seat 0..3", count=4, signed=False),
    Piece("points", 25, "points in this deal, by relative seat 0..3", count=4, signed=True),
    Piece(
        "scores",
        27,
        "points of the match's earlier deals, by relative seat 0..3",
        count=4,
        signed=True,
    ),
]
_ROW = [
    Piece("contract", 9, "which built-in contract, one-hot; none for a user's row"),
    Piece("card_points", 16, "points of each card, by card id", count=52, signed=True),
    Piece("trick_points", 16, "points of every trick", signed=True),
    Piece("trick_number_points", 16, "further points of trick 1..13", count=13, signed=True),
    Piece("locked_suit", 5, "suit locked at first: C D H S or the trump suit, one-hot"),
    Piece(
        "void_tier", 3, "tier 1..7 of each card when void, 0: none; by card id", 52, signed=False
    ),
    Piece("under_duty", 52, "cards that must go under a higher card of the suit led"),
    Piece("trumps", 1, "the contract has trumps"),
    Piece("early_stop", 1, "the deal stops when its last point has fallen"),
]

LAYOUT = Layout(
    [
        Piece("hand", 52, "cards that the observer holds, by card id"),
        Piece("can_hold", 52, "cards that relative seat 1..3 can still hold", count=3),
        *_PUBLIC,
        *_ROW,
    ]
)

#: First value of the part that stays the same through a deal; a multiple of 64.
ROW_START = LAYOUT.start("contract")
ROW_WORDS = LAYOUT.words - ROW_START // 64

STATE_LAYOUT = Layout(
    [
        *_ROW,
        Piece("hands", 52, "cards held, by seat 0..3", count=4),
        Piece("can_hold", 52, "cards that public play has not ruled out, by seat 0..3", count=4),
        *(replace(piece, doc=piece.doc.replace("relative seat", "seat")) for piece in _PUBLIC),
    ]
)

_PLAY_WORDS = ROW_START // 64
_POINTS_BITS = np.uint64((1 << 25) - 1)
_SCORES_BITS = np.uint64((1 << 27) - 1)
_OWN_NAMES = ("hand", "can_hold")
_PUBLIC_NAMES = tuple(piece.name for piece in _PUBLIC)
_pack_own = LAYOUT.packer(_OWN_NAMES)
_pack_cards = LAYOUT.packer(_PUBLIC_NAMES[:2])
_pack_course = LAYOUT.packer(_PUBLIC_NAMES[2:])
_CARDS, _COURSE = (LAYOUT.start(_PUBLIC_NAMES[k]) // 64 for k in (0, 2))
_pack_state = STATE_LAYOUT.packer(("hands", "can_hold", *_PUBLIC_NAMES))
assert ROW_START % 64 == 0 and LAYOUT.size % 64 == 0


@kernel
def observe(config: Any, st: Any, seat: Any, words: Any, i: Any) -> Any:
    """Write the changing part of what ``seat`` sees to the first words of row ``i``."""
    a, b, c, d = seat & 3, (seat + 1) & 3, (seat + 2) & 3, (seat + 3) & 3
    unseen = ALL_CARDS & ~all_played(st) & ~st.hands[a]
    _pack_own(
        words, i, 0, st.hands[a], (st.can[b] & unseen, st.can[c] & unseen, st.can[d] & unseen)
    )
    _pack_cards(words, i, _CARDS, *cards(st, a, b, c, d))
    _pack_course(words, i, _COURSE, *course(config, st, a, b, c, d))


@kernel
def observe_row(config: Any, st: Any, words: Any, i: Any) -> Any:
    """Write the part of the observation that stays the same through a deal."""
    for word in range(ROW_WORDS):
        words[i, _PLAY_WORDS + word] = config[st.deal].row_words[word]


@kernel
def describe(config: Any, st: Any, words: Any, i: Any) -> Any:
    """Write the full-information state (:data:`STATE_LAYOUT`); its seats are absolute."""
    left = ALL_CARDS & ~all_played(st)
    for word in range(ROW_WORDS):
        words[i, word] = config[st.deal].row_words[word]
    _pack_state(
        words,
        i,
        ROW_WORDS,
        (st.hands[0], st.hands[1], st.hands[2], st.hands[3]),
        (st.can[0] & left, st.can[1] & left, st.can[2] & left, st.can[3] & left),
        *cards(st, 0, 1, 2, 3),
        *course(config, st, 0, 1, 2, 3),
    )


@kernel
def cards(st: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """The public pieces ``trick`` and ``played``, seats in the order a, b, c, d."""
    return (
        (st.trick[a], st.trick[b], st.trick[c], st.trick[d]),
        (st.played[a], st.played[b], st.played[c], st.played[d]),
    )


@kernel
def course(config: Any, st: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """The other public pieces."""
    live = np.uint64(st.seat >= 0)
    return (
        live << np.uint64(st.trick_number),
        ONE << np.uint64(st.trick_size),
        live << np.uint64((st.seat - a) & 3),
        ONE << np.uint64((st.leader - a) & 3),
        ONE << np.uint64((st.starter - a) & 3),
        np.uint64(st.trump >= 0) << np.uint64(st.trump & 3),
        np.uint64(st.seat >= 0 and st.trump < 0 and config[st.deal].trumps != 0),
        np.uint64(st.locked != ZERO),
        np.uint64(config.shape[0] > 1),
        ONE << np.uint64(st.deal),
        (
            np.uint64(st.taken[a]),
            np.uint64(st.taken[b]),
            np.uint64(st.taken[c]),
            np.uint64(st.taken[d]),
        ),
        (
            np.uint64(st.points[a]) & _POINTS_BITS,
            np.uint64(st.points[b]) & _POINTS_BITS,
            np.uint64(st.points[c]) & _POINTS_BITS,
            np.uint64(st.points[d]) & _POINTS_BITS,
        ),
        (
            np.uint64(st.scores[a]) & _SCORES_BITS,
            np.uint64(st.scores[b]) & _SCORES_BITS,
            np.uint64(st.scores[c]) & _SCORES_BITS,
            np.uint64(st.scores[d]) & _SCORES_BITS,
        ),
    )


@kernel
def redact(config: Any, st: Any, seat: Any) -> Any:
    """Erase from a copied state what ``seat`` may not know: the other hands and the random key.

    Off turn the legal actions go too, since they are cards of another hand.
    """
    for i in range(1, 4):
        st.hands[(seat + i) & 3] = ZERO
    st.key = ZERO
    if st.seat != seat:
        st.legal[0] = ZERO
        st.ruled = ZERO


def row_words(row: Contract, early_stop: bool) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The row's part of the observation, as ``ROW_WORDS`` words."""
    bits = np.zeros(LAYOUT.size, np.uint8)

    def write(name: str, values: list[int]) -> None:
        piece = LAYOUT.slice(name)
        width = piece.stop - piece.start
        each = width // len(values)
        for i, value in enumerate(values):
            for bit in range(each):
                bits[piece.start + i * each + bit] = value >> bit & 1

    names = list(CONTRACTS)
    if CONTRACTS.get(row.name) == row:
        write("contract", [1 << names.index(row.name)])
    write("card_points", list(row.card_points))
    write("trick_points", [row.trick_points])
    write("trick_number_points", list(row.trick_number_points))
    if row.locked_suit is not None:
        write("locked_suit", [1 << ("C", "D", "H", "S", "trump").index(row.locked_suit)])
    tier_of = {card: i + 1 for i, tier in enumerate(row.void_tiers) for card in tier}
    write("void_tier", [tier_of.get(name, 0) for name in CARD_NAMES])
    write("under_duty", [int(name in row.under_duty) for name in CARD_NAMES])
    write("trumps", [int(row.trumps)])
    write("early_stop", [int(early_stop)])
    return np.packbits(bits, bitorder="little").view("<u8")[_PLAY_WORDS:].astype(np.uint64)
