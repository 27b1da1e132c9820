"""Chances that the bots named ``greedy`` look up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def chances_of_none(most: int, hand: int, counts: int) -> np.ndarray[Any, Any]:
    """The chance that a hand of n cards, drawn from m, holds none of k given ones of them, at ``(m * (hand + 1) + n) * counts + k``.

    Args:
        most: m is at most this.
        hand: n is at most this.
        counts: k is below this.

    Returns:
        float64, with 1 where there is no such draw.
    """
    return np.array(
        [
            math.comb(m - k, n) / math.comb(m, n) if k <= m and n <= m else 1.0
            for m in range(most + 1)
            for n in range(hand + 1)
            for k in range(counts)
        ]
    )
