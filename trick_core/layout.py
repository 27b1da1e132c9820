"""Observation layouts: one vector of 0/1 values, cut into named pieces.

A layout is written once, as a list of pieces. From it follow every offset that a kernel writes to, the size
of the observation space, the slices that users read, and the table in the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trick_core.bits import words_to_bits
from trick_core.jit import kernel


@dataclass(frozen=True)
class Piece:
    """A run of equally wide fields in the vector.

    Attributes:
        name: Unique in its layout.
        width: Bits of one field.
        count: Number of fields, one after the other.
        doc: What a field says, in what order the fields come, and the unit.
        signed: The field is a two's complement integer, lowest bit first (points). None: the bits are
            independent flags.
    """

    name: str
    width: int
    doc: str
    count: int = 1
    signed: bool | None = None

    @property
    def size(self) -> int:
        return self.width * self.count


class Layout:
    """Pieces laid end to end.

    Attributes:
        size: Number of 0/1 values (D).
        words: Number of 64-bit words they take (W).
    """

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = tuple(pieces)
        self._start: dict[str, int] = {}
        at = 0
        for piece in self.pieces:
            if piece.name in self._start:
                raise ValueError(f"two pieces are named {piece.name!r}")
            self._start[piece.name] = at
            at += piece.size
        self.size = at
        self.words = -(-at // 64)
        self._by_name = {piece.name: piece for piece in self.pieces}

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces)

    def start(self, name: str) -> int:
        """Index of the first value of a piece."""
        return self._start[self._known(name)]

    def slice(self, name: str, index: int | None = None) -> slice:
        """Where a piece (or its field number ``index``) lies in the vector."""
        piece, start = self._by_name[self._known(name)], self._start[name]
        if index is None:
            return slice(start, start + piece.size)
        if not 0 <= index < piece.count:
            raise IndexError(f"piece {name!r} has fields 0..{piece.count - 1}, not {index}")
        return slice(start + index * piece.width, start + (index + 1) * piece.width)

    def columns(self, names: Sequence[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Indices of all values of the named pieces, for a learner that wants only these."""
        return np.concatenate([np.arange(self.size)[self.slice(name)] for name in names])

    def read(self, vector: np.ndarray[Any, Any], name: str) -> Any:
        """The fields of a piece in plain terms.

        Args:
            vector: ``(..., D)`` of 0/1, or the same packed as ``uint64`` words ``(..., W)``.
            name: The piece.

        Returns:
            Integers ``(..., count)`` for a signed or binary piece, else flags ``(..., count, width)``.

        Raises:
            KeyError: No such piece.
            ValueError: The vector is not of this layout.
        """
        piece = self._by_name[self._known(name)]
        whole = np.asarray(vector)
        if whole.dtype == np.uint64 and whole.shape[-1:] == (self.words,):
            whole = words_to_bits(whole, self.size)
        if whole.shape[-1:] != (self.size,):
            raise ValueError(
                f"expected a vector of {self.size} values, or {self.words} words; got shape {whole.shape}"
            )
        bits = whole[..., self.slice(name)]
        bits = bits.reshape(*bits.shape[:-1], piece.count, piece.width)
        if piece.signed is None:
            return bits
        weights = np.left_shift(np.int64(1), np.arange(piece.width, dtype=np.int64))
        if piece.signed:
            weights[-1] = -weights[-1]
        return bits.astype(np.int64) @ weights

    def markdown(self) -> str:
        """The layout as a table for the documentation."""
        rows = ["| values | piece | size | meaning |", "|---|---|---|---|"]
        for piece in self.pieces:
            span, shape = self.slice(piece.name), f"{piece.count} x {piece.width}"
            size = str(piece.width) if piece.count == 1 else shape
            rows.append(
                f"| {span.start}..{span.stop - 1} | `{piece.name}` | {size} | {piece.doc} |"
            )
        return "\n".join([*rows, ""])

    def packer(self, names: Sequence[str] | None = None) -> Any:
        """A kernel that writes pieces into words, straight through and without a loop.

        Args:
            names: Neighbouring pieces; None: all.

        Returns:
            Kernel ``(words, i, first, *values)``: writes row ``i`` from ``words[i, first]`` on, the word that the first piece starts
            in. One value a piece, in their order: a ``uint64`` below ``2**width`` (wider than 64: a tuple of such words, the
            lowest first), or a tuple of ``count`` of these. The first word's bits before the first piece stay, the last word's
            rest becomes 0; so a long vector can be written part by part, which spares the compiler to hold all values at once.
        """
        chosen = [self._by_name[name] for name in names or self._start]
        inside = self._start[chosen[0].name] % 64
        start = self._start[chosen[0].name] - inside
        terms: dict[int, list[str]] = {}
        if inside:
            terms[0] = [f"(words[i, first] & u({(1 << inside) - 1}))"]
        for number, piece in enumerate(chosen):
            for index in range(piece.count):
                field = f"v{number}" if piece.count == 1 else f"v{number}[{index}]"
                at = self.slice(piece.name, index).start - start
                for part in range(0, piece.width, 64):
                    value = field if piece.width <= 64 else f"{field}[{part // 64}]"
                    word, shift = divmod(at + part, 64)
                    terms.setdefault(word, []).append(
                        f"({value} << u({shift}))" if shift else value
                    )
                    if shift + min(64, piece.width - part) > 64:
                        terms.setdefault(word + 1, []).append(f"({value} >> u({64 - shift}))")
        arguments = ", ".join(f"v{number}" for number in range(len(chosen)))
        lines = [
            f"    words[i, first + {word}] = {' | '.join(parts)}" for word, parts in terms.items()
        ]
        source = "\n".join([f"def pack(words, i, first, {arguments}):", *lines])
        scope: dict[str, Any] = {"u": np.uint64}
        exec(source, scope)  # the source is made here from numbers alone
        return kernel(scope["pack"])

    def _known(self, name: str) -> str:
        if name not in self._start:
            raise KeyError(f"no piece {name!r}; there are {', '.join(self._start)}")
        return name
