"""The random streams: known values, independence, and evenness."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import fewer
from trick_core import rng
from trick_core.jit import entry
from trick_core.rng import (
    DEALS,
    OPPONENTS,
    SAMPLES,
    SUITES,
    advance,
    below,
    fold_seed,
    mix,
    stream_key,
)

MASK = 2**64 - 1


@entry("test.rng.draws", [__file__])
def draws(state: Any, out: Any) -> Any:
    for i in range(out.shape[0]):
        state = advance(state)
        out[i] = mix(state)


@entry("test.rng.key", [__file__])
def key(seed: Any, number: Any, domain: Any) -> Any:
    return stream_key(seed, number, domain)


@entry("test.rng.below", [__file__])
def chosen(words: Any, n: Any, out: Any) -> Any:
    for i in range(words.shape[0]):
        out[i] = below(words[i], n)


def stream(state: int, count: int) -> np.ndarray[Any, Any]:
    out = np.zeros(count, np.uint64)
    draws(np.uint64(state), out)
    return out


def splitmix64(state: int, count: int) -> list[int]:
    """The published generator, in Python's own integers."""
    values = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        values.append(z ^ (z >> 31))
    return values


@given(st.integers(0, MASK))
def test_the_stream_is_splitmix64(state: int) -> None:
    assert stream(state, 5).tolist() == splitmix64(state, 5)


def test_first_values_from_state_zero() -> None:
    """The numbers that every implementation of splitmix64 gives first."""
    assert [hex(int(x)) for x in stream(0, 3)] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


def test_keys_differ_in_seed_number_and_domain() -> None:
    """Neighbours in any of the three, seeds and numbers swapped, and the largest: all keys are different."""
    seeds = [0, 1, 2, 3, 100, 2**32, 2**63, MASK]
    keys = {
        int(key(np.uint64(seed), np.uint64(number), domain))
        for seed in seeds
        for number in seeds
        for domain in (DEALS, OPPONENTS, SUITES, SAMPLES)
    }
    assert len(keys) == 8 * 8 * 4


def test_keys_stay_what_they_are() -> None:
    """Deals, records and suites of earlier versions depend on these numbers."""
    seen = [int(key(np.uint64(s), np.uint64(k), d)) for s, k, d in ((0, 0, DEALS), (7, 3, SUITES))]
    assert seen == [0x6246A58789053B93, 0xD71BCDBA242E7412]


@pytest.mark.parametrize("n", [1, 2, 3, 18, 52, 64])
def test_choices_are_even(n: int) -> None:
    """Each number below n has the same chance (chi-square, one in ten thousand), and the ends are reached."""
    count = fewer(100_000, 5_000)
    out = np.zeros(count, np.int64)
    chosen(stream(5, count), n, out)
    seen = np.bincount(out, minlength=n)
    assert len(seen) == n and out.min() == 0 and out.max() == n - 1
    chi_square = ((seen - count / n) ** 2 / (count / n)).sum()
    freedom = n - 1
    assert chi_square < freedom + 4 * np.sqrt(2 * freedom) + 10


def test_the_largest_word_stays_below() -> None:
    out = np.zeros(2, np.int64)
    chosen(np.array([0, MASK], np.uint64), 52, out)
    assert out.tolist() == [0, 51]


def test_seeds_of_any_size() -> None:
    """Below 2**64 a seed is itself; beyond, a hash of all its digits."""
    assert [fold_seed(s) for s in (0, 5, MASK)] == [0, 5, MASK]
    large = [2**64, 2**64 + 1, 2**65, 2**200, 2**200 + 1]
    folded = [fold_seed(s) for s in large]
    assert len({*folded}) == len(large) and all(0 <= f <= MASK for f in folded)
    assert not {*folded} & {0, 1}


def test_domains_are_named_once() -> None:
    domains = [v for k, v in vars(rng).items() if k.isupper() and isinstance(v, np.uint64)]
    public = [DEALS, OPPONENTS, SUITES, SAMPLES]
    assert sorted(map(int, public)) == [0, 1, 2, 3] and len(domains) >= 4
