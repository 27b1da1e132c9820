"""Randomness that a kernel carries with it: splitmix64, and keys for independent streams.

Deal k of an environment seeded with s depends on (s, k) alone. Every stream starts from a key that mixes
the seed, the number of the deal and a *domain* (what the stream is for), so that cards, opponents and
evaluation suites never share randomness. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from trick_core.jit import kernel

#: Domains: what a stream of random numbers is for.
DEALS = np.uint64(0)
OPPONENTS = np.uint64(1)
SUITES = np.uint64(2)
SAMPLES = np.uint64(3)
ROLLOUTS = np.uint64(4)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@kernel
def mix(x: Any) -> Any:
    """A bijection of 64-bit words in which every input bit reaches every output bit."""
    x = (x ^ (x >> _S30)) * _MIX_A
    x = (x ^ (x >> _S27)) * _MIX_B
    return x ^ (x >> _S31)


@kernel
def advance(state: Any) -> Any:
    """The state after ``state``; the number drawn at a state is ``mix(state)``."""
    return state + _GOLDEN


@kernel
def stream_key(seed: Any, number: Any, domain: Any) -> Any:
    """The first state of the stream for (seed, number of the deal, domain)."""
    return mix(mix(mix(seed + _GOLDEN) ^ (domain + _GOLDEN)) + number * _GOLDEN)


@kernel
def opponents_key(seed: Any, number: Any) -> Any:
    """The first state of the stream that bots draw from.

    They are shown its words, and ``mix`` and ``stream_key`` can be undone: the key of any other stream would lead back to
    the seed, and so to all hands. Adding the key to its own image cannot be undone but by trying; who picks the seed of a
    contest with untrusted bots picks a large one.
    """
    key = stream_key(seed, number, OPPONENTS)
    return mix(key) + key


@kernel
def below(word: Any, n: Any) -> Any:
    """A number in 0..n-1 from a random ``word`` (n < 2**32; bias below 2**-26 for n <= 64)."""
    return np.int64(((word >> _S32) * np.uint64(n)) >> _S32)


def fold_seed(seed: int) -> int:
    """A user's non-negative integer of any size as a 64-bit seed; below 2**64 it is itself."""
    if seed < 2**64:
        return seed
    digest = hashlib.sha256(seed.to_bytes((seed.bit_length() + 7) // 8, "little")).digest()
    return int.from_bytes(digest[:8], "little")
