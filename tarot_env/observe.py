"""What a seat sees, as named 0/1 pieces; and the full-information state.

Seats in the observation are relative: 0 is the observer, then the others in play order. Nothing in it is constant over an
episode, so there is no part that is written once a deal.

**Being asked for a poignée is no public event** (T-4.1). While a seat is asked, or keeps trumps back, the three others see what they
would see if nobody had been: the play about to begin with the leader on turn. Only what is shown is ever seen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tarot_env.cards import ALL_SUITS, ALL_TRUMPS, NUM_CARDS, by_id
from tarot_env.contracts import TAKES_CHIEN
from tarot_env.state import BID, KEEP, PLAY, POIGNEE
from trick_core.bits import ONE, ZERO
from trick_core.jit import kernel
from trick_core.layout import Layout, Piece

_PUBLIC = [
    Piece("trick", NUM_CARDS, "card of the current trick, by relative seat 0..3", count=4),
    Piece("played", NUM_CARDS, "cards played, by relative seat 0..3", count=4),
    Piece("chien", NUM_CARDS, "the six cards of the chien once they have been shown"),
    Piece("discarded_trumps", 21, "trumps 1..21 among the discards, which are public"),
    Piece("shown", 22, "poignée shown: the Excuse, trumps 1..21; by relative seat 0..3", count=4),
    Piece("shown_level", 3, "its level 10, 13, 15, one-hot; by relative seat 0..3", count=4),
    Piece("bids", 5, "pass or contract bid, one-hot; none: not spoken; by relative seat", count=4),
    Piece("contract", 4, "highest bid so far: prise, garde, garde sans, garde contre, one-hot"),
    Piece("taker", 4, "relative seat that made it, one-hot"),
    Piece("dealer", 4, "relative seat that dealt, one-hot"),
    Piece("leader", 4, "relative seat that leads the current trick, one-hot"),
    Piece("on_turn", 4, "relative seat on turn, one-hot; none when the deal is over"),
    Piece(
        "phase", 6, "play, bid, discard, chelem, poignée, keep back, one-hot; none when it is over"
    ),
    Piece("chelem", 1, "the taker has announced a chelem"),
    Piece("forbid_pass", 1, "the last seat must bid when nobody has"),
    Piece("trick_number", 18, "current trick 1..18, one-hot; none when the deal is over"),
    Piece("trick_size", 4, "cards in the current trick 0..3, one-hot"),
    Piece("excuse_seat", 4, "relative seat that played the Excuse, one-hot; none: not played"),
    Piece("taken", 5, "tricks taken, by relative seat 0..3", count=4, signed=False),
    Piece("points", 8, "half points of the tricks so far: taker, defence", count=2, signed=False),
    Piece("oudlers", 2, "oudlers that the taker has from the tricks so far", signed=False),
    Piece("hidden_size", 3, "cards that lie aside unseen", signed=False),
]

LAYOUT = Layout(
    [
        Piece("hand", NUM_CARDS, "cards that the observer holds, by card id"),
        Piece("can_hold", NUM_CARDS, "cards that relative seat 1..3 can still hold", count=3),
        Piece(
            "hidden",
            NUM_CARDS,
            "cards that may lie aside as far as the observer can tell: in the chien, or discarded",
        ),
        Piece("own_discard", 56, "suit cards that the observer has discarded"),
        Piece("level", 3, "level 10, 13, 15 of the poignée that the observer is showing, one-hot"),
        Piece("kept", 21, "trumps 1..21 that the observer has kept back from it so far"),
        *_PUBLIC,
    ]
)
assert LAYOUT.size % 64 == 0

#: The whole observation changes from step to step.
ROW_START = LAYOUT.size

STATE_LAYOUT = Layout(
    [
        Piece("hands", NUM_CARDS, "cards held, by seat 0..3", count=4),
        Piece(
            "can_hold",
            NUM_CARDS,
            "cards that public events have not ruled out, by seat 0..3",
            count=4,
        ),
        Piece("hidden", NUM_CARDS, "cards that publicly may lie aside unseen"),
        Piece("dealt_chien", NUM_CARDS, "the six cards of the chien"),
        Piece("discard", NUM_CARDS, "cards that the taker has discarded"),
        Piece("level", 3, "level 10, 13, 15 of the poignée that is being shown, one-hot"),
        Piece("kept", 21, "trumps 1..21 kept back from it so far"),
        Piece(
            "asked",
            3,
            "seats whose poignée has been dealt with, or that is being asked",
            signed=False,
        ),
        *(replace(piece, doc=piece.doc.replace("relative seat", "seat")) for piece in _PUBLIC),
    ]
)


def _part(first: str, last: str) -> tuple[Any, int]:
    """The packer of the observation's pieces ``first`` to ``last``, and the word that they start in."""
    names = [piece.name for piece in LAYOUT]
    chosen = names[names.index(first) : names.index(last) + 1]
    return LAYOUT.packer(chosen), LAYOUT.start(first) // 64


_pack_own, _OWN = _part("hand", "kept")
_pack_played, _PLAYED = _part("trick", "played")
_pack_shown, _SHOWN = _part("chien", "shown")
_pack_course, _COURSE = _part("shown_level", "hidden_size")
_pack_state = STATE_LAYOUT.packer()


@kernel
def all_played(st: Any) -> Any:
    """All cards played: suits, trumps."""
    return (
        st.played[0] | st.played[1] | st.played[2] | st.played[3],
        st.played_trumps[0] | st.played_trumps[1] | st.played_trumps[2] | st.played_trumps[3],
    )


@kernel
def unseen(st: Any, seat: Any) -> Any:
    """The cards that a seat has not seen, but for a chien or a poignée that was shown: suits, trumps."""
    suits, trumps = all_played(st)
    suits |= st.hands[seat]
    trumps |= st.hands_trumps[seat]
    if seat == st.taker:
        suits |= st.discard
        trumps |= st.discard_trumps
    return ALL_SUITS & ~suits, ALL_TRUMPS & ~trumps


@kernel
def is_chien_shown(st: Any) -> Any:
    """T-3.1: the taker has picked it up."""
    return st.phase != BID and TAKES_CHIEN[st.contract] != 0


@kernel
def hidden(st: Any, seat: Any) -> Any:
    """The cards that may lie aside as far as ``seat`` can tell: suits, trumps; none if it has seen them all."""
    if st.hidden_size == 0 or (seat == st.taker and is_chien_shown(st)):
        return ZERO, ZERO
    suits, trumps = unseen(st, seat)
    return suits & st.hide, trumps & st.hide_trumps


@kernel
def is_asking(st: Any) -> Any:
    """A seat decides on a poignée, which the others do not see (T-4.1)."""
    return st.phase == POIGNEE or st.phase == KEEP


@kernel
def observe(config: Any, st: Any, seat: Any, words: Any, i: Any) -> Any:
    """Write what ``seat`` sees to row ``i``."""
    a, b, c, d = seat & 3, (seat + 1) & 3, (seat + 2) & 3, (seat + 3) & 3
    suits, trumps = unseen(st, a)
    hide, hide_trumps = hidden(st, a)
    discard = st.discard if a == st.taker else ZERO
    keeping = st.seat == a and st.phase == KEEP
    kept = st.kept >> ONE if keeping else ZERO
    as_play = is_asking(st) and st.seat != a
    _pack_own(
        words,
        i,
        _OWN,
        by_id(st.hands[a], st.hands_trumps[a]),
        (
            by_id(st.can[b] & suits, st.can_trumps[b] & trumps),
            by_id(st.can[c] & suits, st.can_trumps[c] & trumps),
            by_id(st.can[d] & suits, st.can_trumps[d] & trumps),
        ),
        by_id(hide, hide_trumps),
        discard,
        one_hot(keeping, st.level - 1),
        kept,
    )
    _pack_played(words, i, _PLAYED, *played(st, a, b, c, d))
    _pack_shown(words, i, _SHOWN, *shown(st, a, b, c, d))
    _pack_course(words, i, _COURSE, *course(config, st, a, b, c, d, as_play))


@kernel
def observe_row(config: Any, st: Any, words: Any, i: Any) -> Any:
    """No part of the observation stays the same through a deal."""


@kernel
def describe(config: Any, st: Any, words: Any, i: Any) -> Any:
    """Write the full-information state (:data:`STATE_LAYOUT`); its seats are absolute."""
    suits, trumps = all_played(st)
    suits, trumps = ALL_SUITS & ~suits, ALL_TRUMPS & ~trumps
    hide, hide_trumps = st.hide & suits, st.hide_trumps & trumps
    if st.hidden_size == 0:
        hide, hide_trumps = ZERO, ZERO
    _pack_state(
        words,
        i,
        0,
        (
            by_id(st.hands[0], st.hands_trumps[0]),
            by_id(st.hands[1], st.hands_trumps[1]),
            by_id(st.hands[2], st.hands_trumps[2]),
            by_id(st.hands[3], st.hands_trumps[3]),
        ),
        (
            by_id(st.can[0] & suits, st.can_trumps[0] & trumps),
            by_id(st.can[1] & suits, st.can_trumps[1] & trumps),
            by_id(st.can[2] & suits, st.can_trumps[2] & trumps),
            by_id(st.can[3] & suits, st.can_trumps[3] & trumps),
        ),
        by_id(hide, hide_trumps),
        by_id(st.chien, st.chien_trumps),
        by_id(st.discard, st.discard_trumps),
        one_hot(st.phase == KEEP, st.level - 1),
        st.kept >> ONE,
        np.uint64(st.asked),
        *played(st, 0, 1, 2, 3),
        *shown(st, 0, 1, 2, 3),
        *course(config, st, 0, 1, 2, 3, False),
    )


@kernel
def one_hot(valid: Any, index: Any) -> Any:
    """Bit ``index`` if ``valid``, else nothing."""
    return ONE << np.uint64(index) if valid else ZERO


@kernel
def played(st: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """The public pieces ``trick`` and ``played``, seats in the order a, b, c, d."""
    return (
        (
            by_id(st.trick[a], st.trick_trumps[a]),
            by_id(st.trick[b], st.trick_trumps[b]),
            by_id(st.trick[c], st.trick_trumps[c]),
            by_id(st.trick[d], st.trick_trumps[d]),
        ),
        (
            by_id(st.played[a], st.played_trumps[a]),
            by_id(st.played[b], st.played_trumps[b]),
            by_id(st.played[c], st.played_trumps[c]),
            by_id(st.played[d], st.played_trumps[d]),
        ),
    )


@kernel
def shown(st: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """The public pieces ``chien`` to ``shown``."""
    chien, chien_trumps = ZERO, ZERO
    if is_chien_shown(st):
        chien, chien_trumps = st.chien, st.chien_trumps
    return (
        by_id(chien, chien_trumps),
        st.discard_trumps >> ONE,
        (st.shown[a], st.shown[b], st.shown[c], st.shown[d]),
    )


@kernel
def course(config: Any, st: Any, a: Any, b: Any, c: Any, d: Any, as_play: Any) -> Any:
    """The public pieces from ``shown_level`` on; ``as_play`` hides who is asked."""
    live = st.seat >= 0
    on_turn = st.leader if as_play and live else st.seat
    phase = PLAY if as_play else st.phase
    return (
        (
            one_hot(st.shown_level[a] > 0, st.shown_level[a] - 1),
            one_hot(st.shown_level[b] > 0, st.shown_level[b] - 1),
            one_hot(st.shown_level[c] > 0, st.shown_level[c] - 1),
            one_hot(st.shown_level[d] > 0, st.shown_level[d] - 1),
        ),
        (
            one_hot(st.bids[a] >= 0, st.bids[a]),
            one_hot(st.bids[b] >= 0, st.bids[b]),
            one_hot(st.bids[c] >= 0, st.bids[c]),
            one_hot(st.bids[d] >= 0, st.bids[d]),
        ),
        one_hot(st.contract > 0, st.contract - 1),
        one_hot(st.taker >= 0, (st.taker - a) & 3),
        one_hot(True, (st.dealer - a) & 3),
        one_hot(True, (st.leader - a) & 3),
        one_hot(live, (on_turn - a) & 3),
        one_hot(live, phase),
        one_hot(st.chelem == 1, 0),
        np.uint64(config[0].forbid_pass),
        one_hot(live, st.trick_number),
        one_hot(True, st.trick_size),
        one_hot(st.excuse_seat >= 0, (st.excuse_seat - a) & 3),
        (
            np.uint64(st.taken[a]),
            np.uint64(st.taken[b]),
            np.uint64(st.taken[c]),
            np.uint64(st.taken[d]),
        ),
        (np.uint64(st.taker_points), np.uint64(st.defence_points)),
        np.uint64(st.oudlers),
        np.uint64(st.hidden_size),
    )


@kernel
def redact(config: Any, st: Any, seat: Any) -> Any:
    """Erase from a copied state what ``seat`` may not know: other hands, cards aside, the random key, who is asked
    for a poignée. Off turn the legal actions go too, since they are cards of another hand.
    """
    for i in range(1, 4):
        st.hands[(seat + i) & 3] = ZERO
        st.hands_trumps[(seat + i) & 3] = ZERO
    if not is_chien_shown(st):
        st.chien = ZERO
        st.chien_trumps = ZERO
    if seat != st.taker:
        st.discard = ZERO
    st.key = ZERO
    if st.seat == seat:
        return
    st.legal[0] = ZERO
    st.legal[1] = ZERO
    st.ruled = ZERO
    st.ruled_trumps = ZERO
    if is_asking(st):
        st.phase = PLAY
        if st.seat >= 0:
            st.seat = st.leader
        st.asked = 4
        st.level = 0
        st.kept = ZERO
