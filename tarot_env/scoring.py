"""What a trick brings, and the settlement.

Source: ``seeds/rulebook/tarot.md``, clauses T-1.4, T-6.1 to T-6.4, T-7.1 to T-7.5. Card points are counted in half points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tarot_env.cards import (
    EXCUSE,
    EXCUSE_HALF_POINTS,
    NUM_TRICKS,
    OUDLERS,
    half_points,
)
from tarot_env.contracts import ASIDE_TO_TAKER, MULTIPLIER, POIGNEE_POINTS, TAKES_CHIEN, TARGET
from trick_core.bits import popcount
from trick_core.jit import kernel

LAST = NUM_TRICKS - 1


@kernel
def excuse_takes(st: Any) -> Any:
    """T-6.4: the full trick is the 18th, the Excuse led to it, and its side took the 17 before."""
    if st.trick_number != LAST or st.excuse_trick != LAST or st.excuse_seat != st.leader:
        return False
    return st.taken[st.taker] == (LAST if st.leader == st.taker else 0)


@kernel
def share_trick(st: Any, winner: Any, slam: Any) -> Any:
    """What the full trick brings: the taker's half points, the defence's, and the taker's oudlers.

    ``slam`` says that the Excuse took it (T-6.4).
    """
    taker, defence, oudlers = np.int64(0), np.int64(st.pot), np.int64(0)
    taker_wins = winner == st.taker
    if taker_wins:
        taker, defence = defence, taker
        trumps = st.trick_trumps[0] | st.trick_trumps[1] | st.trick_trumps[2] | st.trick_trumps[3]
        oudlers = popcount(trumps & OUDLERS & ~EXCUSE)
    if st.excuse_trick == st.trick_number:
        keeps = st.trick_number != LAST or slam  # T-6.2, T-6.4; else T-6.3
        to_taker = (st.excuse_seat == st.taker) == keeps
        if to_taker:
            taker += EXCUSE_HALF_POINTS
            oudlers += 1
        else:
            defence += EXCUSE_HALF_POINTS
        if st.trick_number != LAST and to_taker != taker_wins:  # T-6.2: half a point for it
            taker += 1 if taker_wins else -1
            defence += -1 if taker_wins else 1
    return taker, defence, oudlers


@kernel
def settle(st: Any) -> Any:
    """The settlement of a finished deal, line by line; what a defender pays is in half points.

    Returns:
        ``(taker's half points, oudlers, target in points, made, base, petit, poignée, chelem)``; the last four
        are what each defender pays the taker, and add up to the settlement.
    """
    multiplier = MULTIPLIER[st.contract]
    points, oudlers = np.int64(st.taker_points), np.int64(st.oudlers)
    if ASIDE_TO_TAKER[st.contract] != 0:  # T-3.3, T-3.4
        suits, trumps = st.chien, st.chien_trumps
        if TAKES_CHIEN[st.contract] != 0:
            suits, trumps = st.discard, st.discard_trumps
        points += half_points(suits, trumps)
        oudlers += popcount(trumps & OUDLERS)
    target = TARGET[oudlers]  # T-1.4
    distance = points - 2 * target
    made = distance >= 0
    base = (50 + abs(distance)) * multiplier  # T-7.1
    shown = np.int64(0)
    for seat in range(4):
        shown += POIGNEE_POINTS[st.shown_level[seat]]
    return (
        points,
        oudlers,
        target,
        made,
        base if made else -base,
        2 * petit(st) * multiplier,
        2 * shown if made else -2 * shown,  # T-7.3
        2 * chelem(st),
    )


@kernel
def petit(st: Any) -> Any:
    """T-7.2: points for the Petit, before the multiplier."""
    # The leader is now the winner of trick 18; only T-6.4 lets the Excuse's player be that.
    excuse_took_it = st.excuse_trick == LAST and st.excuse_seat == st.leader
    looked_at = LAST - 1 if excuse_took_it else LAST
    if st.petit_trick != looked_at:
        return np.int64(0)
    return np.int64(10 if st.leader == st.taker else -10)


@kernel
def chelem(st: Any) -> Any:
    """T-7.4: points for the chelem."""
    if st.taken[st.taker] == NUM_TRICKS:
        return np.int64(400 if st.chelem == 1 else 200)
    points = np.int64(-200 if st.chelem == 1 else 0)
    if st.taken[st.taker] == 0:
        points -= 200
    return points
