"""Observation layouts: offsets, reading, packing, documentation; and those of both games."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarot_env.game
from bolola_env.game import GAME as BOLOLA
from trick_core.bits import words_to_bits
from trick_core.jit import entry
from trick_core.layout import Layout, Piece

SMALL = Layout(
    [
        Piece("hand", 52, "cards held"),
        Piece("turn", 4, "seat on turn, one-hot"),
        Piece("points", 25, "points, by seat", count=4, signed=True),
        Piece("taken", 4, "tricks taken, by seat", count=4, signed=False),
        Piece("last", 1, "the last trick"),
    ]
)


def test_pieces_lie_end_to_end() -> None:
    """A53: slices are disjoint and cover everything; the size is their sum."""
    spans = [SMALL.slice(piece.name) for piece in SMALL]
    assert spans[0].start == 0 and spans[-1].stop == SMALL.size == 52 + 4 + 100 + 16 + 1
    assert all(a.stop == b.start for a, b in itertools.pairwise(spans))
    assert SMALL.words == 3
    assert SMALL.start("points") == 56
    assert SMALL.slice("points", 2) == slice(106, 131)
    assert SMALL.columns(["last", "turn"]).tolist() == [172, 52, 53, 54, 55]


def test_wrong_names_and_numbers_say_what_there_is() -> None:
    with pytest.raises(
        KeyError, match="no piece 'cards'; there are hand, turn, points, taken, last"
    ):
        SMALL.slice("cards")
    with pytest.raises(IndexError, match=r"'points' has fields 0\.\.3, not 4"):
        SMALL.slice("points", 4)
    with pytest.raises(ValueError, match="two pieces are named 'a'"):
        Layout([Piece("a", 1, ""), Piece("a", 2, "")])


def test_reading_plain_numbers() -> None:
    """Two's complement, lowest bit first; flags stay flags; leading axes are kept."""
    vector = np.zeros((2, SMALL.size), np.int8)
    for seat, value in enumerate((-1, 5, -(2**24), 2**24 - 1)):
        bits = [value >> i & 1 for i in range(25)]
        vector[1, SMALL.slice("points", seat)] = bits
    vector[1, SMALL.slice("taken", 3)] = [1, 0, 1, 1]
    vector[0, SMALL.start("turn") + 2] = 1
    assert SMALL.read(vector, "points").tolist() == [[0] * 4, [-1, 5, -(2**24), 2**24 - 1]]
    assert SMALL.read(vector, "taken").tolist() == [[0] * 4, [0, 0, 0, 13]]
    assert SMALL.read(vector[0], "turn").tolist() == [[0, 0, 1, 0]]


@given(st.data())
def test_packing_and_reading_are_inverse(data: st.DataObject) -> None:
    """Fields that straddle two words among them."""
    hand, turn, last = (data.draw(st.integers(0, 2**w - 1)) for w in (52, 4, 1))
    points = data.draw(st.tuples(*[st.integers(-(2**24), 2**24 - 1)] * 4))
    taken = data.draw(st.tuples(*[st.integers(0, 15)] * 4))
    words = np.full((2, 5), 2**64 - 1, np.uint64)
    unsigned = tuple(np.uint64(p & (2**25 - 1)) for p in points)
    values = (
        np.uint64(hand),
        np.uint64(turn),
        unsigned,
        tuple(map(np.uint64, taken)),
        np.uint64(last),
    )
    pack_small(words, *values)
    in_parts = np.full((2, 5), 2**64 - 1, np.uint64)
    pack_small_in_parts(in_parts, *values)
    assert np.array_equal(in_parts, words)
    assert (words[0] == np.uint64(2**64 - 1)).all() and words[1, 0] == np.uint64(2**64 - 1)
    assert words[1, 4] == np.uint64(2**64 - 1)  # rows and words beside it are left alone
    vector = words_to_bits(words[1, 1:4], SMALL.size)
    assert SMALL.read(vector, "hand")[0].tolist() == [hand >> i & 1 for i in range(52)]
    assert SMALL.read(vector, "turn")[0].tolist() == [turn >> i & 1 for i in range(4)]
    assert SMALL.read(vector, "points").tolist() == list(points)
    assert SMALL.read(vector, "taken").tolist() == list(taken)
    assert SMALL.read(vector, "last").tolist() == [[last]]
    assert not words[1, 3] >> np.uint64(SMALL.size - 128)  # the rest of the last word


_pack = SMALL.packer()


@entry("test.layout.pack", [__file__])
def pack_small(words: Any, hand: Any, turn: Any, points: Any, taken: Any, last: Any) -> Any:
    _pack(words, 1, 1, hand, turn, points, taken, last)


_pack_hand = SMALL.packer(["hand"])
_pack_turn_and_points = SMALL.packer(["turn", "points"])
_pack_rest = SMALL.packer(["taken", "last"])
_TURN, _TAKEN = (1 + SMALL.start(name) // 64 for name in ("turn", "taken"))


@entry("test.layout.parts", [__file__])
def pack_small_in_parts(
    words: Any, hand: Any, turn: Any, points: Any, taken: Any, last: Any
) -> Any:
    """Parts that begin within a word keep what lies before them there."""
    _pack_hand(words, 1, 1, hand)
    _pack_turn_and_points(words, 1, _TURN, turn, points)
    _pack_rest(words, 1, _TAKEN, taken, last)


def test_the_table_for_the_documentation() -> None:
    assert SMALL.markdown().splitlines() == [
        "| values | piece | size | meaning |",
        "|---|---|---|---|",
        "| 0..51 | `hand` | 52 | cards held |",
        "| 52..55 | `turn` | 4 | seat on turn, one-hot |",
        "| 56..155 | `points` | 4 x 25 | points, by seat |",
        "| 156..171 | `taken` | 4 x 4 | tricks taken, by seat |",
        "| 172..172 | `last` | 1 | the last trick |",
    ]


@pytest.mark.parametrize("game", [BOLOLA, tarot_env.game.GAME], ids=lambda game: game.name)
def test_layouts_of_the_games(game: Any) -> None:
    """A53: every piece documented; the part that changes only from deal to deal starts a word."""
    for layout in (game.layout, game.state_layout):
        seen = np.zeros(layout.size, np.int64)
        for piece in layout:
            assert piece.doc and piece.width > 0 and piece.count > 0
            seen[layout.slice(piece.name)] += 1
        assert (seen == 1).all()
        assert layout.words == -(-layout.size // 64)
    assert game.row_start % 64 == 0 and game.row_start <= game.layout.words * 64


def test_reading_a_vector_of_another_length_is_an_error() -> None:
    layout = Layout([Piece("flags", 60, "flags"), Piece("number", 10, "a number", signed=False)])
    vector = np.zeros(70, np.int8)
    vector[60] = 1
    assert layout.read(vector, "number") == [1]
    for wrong in (np.zeros(71, np.int8), np.zeros(2, np.int8), np.int8(0)):
        with pytest.raises(ValueError, match="expected a vector of 70 values, or 2 words"):
            layout.read(wrong, "number")


def test_packed_words_are_read_as_the_vector_is() -> None:
    layout = Layout([Piece("flags", 60, "flags"), Piece("number", 10, "a number", signed=False)])
    words = np.array([[0, 1], [1 << 63, 0]], np.uint64)
    assert layout.read(words, "number").tolist() == [[16], [8]]
