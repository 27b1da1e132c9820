"""Rewards on top of the half points: the potential behind ``reward="shaped"``, returns, and the infos.

**Points.** A trick that brings t card points to the taker and d to the defence (so p and 0 without the Excuse) credits m (t - d)
to each opponent's account: the taker gets three times that, each defender loses it, m being the contract's multiplier. The last step
adds the settlement minus the sum so far, so an episode sums to its settlement exactly, in integer half points.

**Potential.** What the cards of the current trick, without the Excuse, would credit if the seat that wins it as it lies took it. It is 0 at
the start and at the end of an episode, so shaping by its differences (Ng, Harada, Russell, "Policy invariance under reward
transformations", ICML 1999, with gamma 1) changes no return.
"""

from __future__ import annotations

from typing import Any

from tarot_env.contracts import MULTIPLIER
from tarot_env.scoring import settle
from tarot_env.state import OVER
from trick_core.jit import kernel

#: Keys of the infos. All but ``redeals`` are 0 until the deal is settled. ``taker`` is a seat, ``contract`` 1..4; points are
#: points, ``base`` to ``per_defender`` what each defender pays the taker.
INFO_NAMES = (
    "redeals",
    "settled",
    "annulled",
    "taker",
    "contract",
    "taker_points",
    "oudlers",
    "target",
    "made",
    "base",
    "petit",
    "poignee",
    "chelem",
    "per_defender",
)
_FIRST_LINE = INFO_NAMES.index("taker")


@kernel
def potential(config: Any, st: Any, sign: Any, out: Any, i: Any) -> Any:
    """Add ``sign`` x the potential of each seat, in half points."""
    if st.pot == 0:
        return
    value = sign * st.pot * MULTIPLIER[st.contract]
    if st.winner != st.taker:
        value = -value
    for seat in range(4):
        out[i, seat] += 3.0 * value if seat == st.taker else -value


@kernel
def returns(config: Any, st: Any, out: Any, i: Any) -> Any:
    """Add each seat's half points of the episode so far; at the end they are the settlement (T-7.5)."""
    for seat in range(4):
        out[i, seat] += 3 * st.credit if seat == st.taker else -st.credit


@kernel
def info(config: Any, st: Any, out: Any, i: Any) -> Any:
    """Write the numbers of :data:`INFO_NAMES`, in points."""
    for k in range(len(INFO_NAMES)):
        out[i, k] = 0.0
    out[i, 0] = st.redeals
    if st.phase != OVER:
        return
    if st.taker < 0:
        out[i, 2] = 1.0
        return
    out[i, 1] = 1.0
    points, oudlers, target, made, base, petit, poignee, chelem = settle(st)
    lines = (
        float(st.taker),
        float(st.contract),
        points / 2.0,
        float(oudlers),
        float(target),
        1.0 if made else 0.0,
        base / 2.0,
        petit / 2.0,
        poignee / 2.0,
        chelem / 2.0,
        st.credit / 2.0,
    )
    for k in range(len(lines)):
        out[i, _FIRST_LINE + k] = lines[k]
