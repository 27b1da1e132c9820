"""Rewards on top of the points: the potential behind ``reward="shaped"``.

The potential of a seat is the points of the cards in the current trick, plus the trick's own points, if the seat
wins the trick as it lies, else 0. It is 0 at the start and at the end of an episode, so shaping by its differences
(Ng, Harada, Russell, "Policy invariance under reward transformations", ICML 1999, with gamma 1) changes
no return: every shaped episode sums to its points.
"""

from __future__ import annotations

from typing import Any

from trick_core.jit import kernel


@kernel
def potential(config: Any, st: Any, sign: Any, out: Any, i: Any) -> Any:
    """Add ``sign`` x the potential of each seat, in points."""
    if st.trick_size > 0:
        row = config[st.deal]
        out[i, st.winner] += sign * (st.pot + row.trick_value[st.trick_number])


@kernel
def returns(config: Any, st: Any, out: Any, i: Any) -> Any:
    """Add each seat's points of the episode so far."""
    for seat in range(4):
        out[i, seat] += st.scores[seat] + st.points[seat]


@kernel
def info(config: Any, st: Any, out: Any, i: Any) -> Any:
    """Bolola's infos hold the seat only."""
