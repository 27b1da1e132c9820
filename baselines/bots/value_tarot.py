"""What a finished deal of Tarot is worth to search: the settlement, with its jump at the target smoothed.

At the target a deal's worth jumps by twice the contract's 25 points, and the poignées change hands. Playouts err by some points in
the taker's total; so whether one just made it says little, while the jump makes its worth very noisy. Here the taker's points are
taken to be normally distributed about those of the playout: what has the contract's sign counts by the chance of either sign. This
leaves the mean over many playouts nearly as it is and needs far fewer of them.
"""

from __future__ import annotations

import math
from typing import Any

from tarot_env.contracts import MULTIPLIER
from tarot_env.scoring import settle
from trick_core.jit import kernel


@kernel
def value(st: Any, seat: Any, points: Any, smooth: Any) -> Any:
    """A finished deal's worth to a seat, in half points.

    Args:
        st: The state at the end.
        seat: The seat.
        points: Half points by seat (1, 4).
        smooth: Standard deviation of the taker's points, in points; 0: the settlement as it is.
    """
    own = points[0, seat]
    if st.taker < 0 or smooth == 0.0:
        return own
    total, _, target, _, base, _, poignee, _ = settle(st)
    distance = float(total - 2 * target)
    sign = math.erf(
        distance / (2.0 * smooth * math.sqrt(2.0))
    )  # chance to make it less chance not to
    smoothed = (distance + 50.0 * sign) * MULTIPLIER[st.contract] + abs(poignee) * sign
    more = smoothed - base - poignee
    return own + (3.0 * more if seat == st.taker else -more)
