"""Card sets as bits: each function against what Python says about the same integer."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trick_core import bits
from trick_core.bits import expand, highest, lowest, popcount, select, unpack, words_to_bits
from trick_core.jit import JIT, entry

WORDS = st.integers(0, 2**64 - 1)


@entry("test.bits.numbers", [__file__])
def numbers(word: Any) -> Any:
    return popcount(word), lowest(word), highest(word)


@entry("test.bits.select", [__file__])
def selected(word: Any, k: Any) -> Any:
    return select(word, k)


@entry("test.bits.expand", [__file__])
def expanded(array: Any, at: Any, word: Any, count: Any) -> Any:
    expand(array, 1, at, word, count)


@entry("test.bits.unpack", [__file__])
def unpacked(words: Any, array: Any, first: Any, count: Any) -> Any:
    unpack(words, array, 1, first, count)


@given(WORDS)
@example(0)
@example(1)
@example(2**63)
@example(2**64 - 1)
def test_counting_and_finding(word: int) -> None:
    """popcount, lowest (64 if there is none) and highest (-1 if there is none)."""
    digits = f"{word:064b}"
    low = 63 - digits.rindex("1") if word else 64
    high = 63 - digits.index("1") if word else -1
    assert tuple(numbers(np.uint64(word))) == (digits.count("1"), low, high)


@given(WORDS.filter(bool))
@example(2**63)
@example(2**64 - 1)
def test_selecting(word: int) -> None:
    """The k-th bit set, for every k."""
    places = [i for i in range(64) if word >> i & 1]
    assert [selected(np.uint64(word), k) for k in range(len(places))] == places


def test_selecting_without_the_fast_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processors without BMI2 take a loop; it chooses the same bits."""
    if not JIT:
        pytest.skip("NUMBA_DISABLE_JIT is set: the loop is what all tests here run")
    monkeypatch.setattr(bits.llvmlite.binding, "get_host_cpu_features", lambda: {"bmi2": False})
    monkeypatch.delitem(sys.modules, "trick_core.bits")
    slow = importlib.import_module("trick_core.bits").select
    assert slow is not select

    @entry(None)
    def chosen(word: Any, k: Any) -> Any:
        return slow(word, k)

    for word in (1, 2**63, 0b1011000, 2**64 - 1, 0x8000000000000001):
        for k in range(word.bit_count()):
            assert chosen(np.uint64(word), k) == selected(np.uint64(word), k)


@given(word=WORDS, count=st.integers(0, 64), at=st.integers(0, 9))
def test_expanding_writes_its_bytes_and_no_others(word: int, count: int, at: int) -> None:
    array = np.full((3, 80), 7, np.int8)
    expanded(array, at, np.uint64(word), count)
    expected = np.full((3, 80), 7, np.int8)
    expected[1, at : at + count] = [word >> i & 1 for i in range(count)]
    assert np.array_equal(array, expected)


@given(words=st.lists(WORDS, min_size=3, max_size=3), data=st.data())
def test_unpacking_a_row(words: list[int], data: st.DataObject) -> None:
    first = data.draw(st.sampled_from([0, 64, 128]))
    count = data.draw(st.integers(first, 192))
    source = np.array([[0] * 3, words, [0] * 3], np.uint64)
    array = np.full((3, 200), 7, np.int8)
    unpacked(source, array, first, count)
    expected = np.full((3, 200), 7, np.int8)
    whole = [word >> i & 1 for word in words for i in range(64)]
    expected[1, first:count] = whole[first:count]
    assert np.array_equal(array, expected)


@pytest.mark.parametrize("shape", [(2,), (5, 2), (3, 5, 2)])
def test_words_to_bits(shape: tuple[int, ...]) -> None:
    """Lowest bit first, whatever the leading axes; also of a view that is not contiguous."""
    rng = np.random.Generator(np.random.PCG64(1))
    words = rng.integers(0, 2**64, shape, np.uint64, endpoint=False)
    for source in (words, words[..., ::-1]):
        result = words_to_bits(source, 100)
        assert result.dtype == np.int8 and result.shape == (*shape[:-1], 100)
        for row, values in zip(result.reshape(-1, 100), source.reshape(-1, 2), strict=True):
            whole = int(values[0]) | int(values[1]) << 64
            assert row.tolist() == [whole >> i & 1 for i in range(100)]


@pytest.mark.skipif(not JIT, reason="NUMBA_DISABLE_JIT is set: nothing is compiled for a processor")
@pytest.mark.parametrize(
    ("name", "features", "expected"),
    [
        ("", "", True),
        ("generic", "", False),
        ("", "+sse2,-bmi2", False),
        ("generic", "+bmi2", True),
    ],
)
def test_the_fast_instruction_only_where_numba_may_use_it(
    name: str, features: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NUMBA_CPU_NAME and NUMBA_CPU_FEATURES choose another processor than the one at hand."""
    monkeypatch.setattr(bits.llvmlite.binding, "get_host_cpu_features", lambda: {"bmi2": True})
    monkeypatch.setattr(bits.config, "CPU_NAME", name or None)
    monkeypatch.setattr(bits.config, "CPU_FEATURES", features or None)
    assert bits._has_bmi2() is expected
