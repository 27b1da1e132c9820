"""Packed observations unpacked by torch and by NumPy: the bits of the byte form."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import fewer
from trick_core.bits import words_to_bits
from trick_core.game import setup_for
from trick_core.vector import VectorEnv

torch = pytest.importorskip("torch", reason="torch is not installed")

from baselines.train import unpack as unpacking  # noqa: E402 - needs torch


@pytest.mark.parametrize("name", ["bolola/trump", "tarot/deal"])
def test_torch_and_numpy_unpack_what_the_byte_form_shows(name):
    """Through whole episodes, in both games (tarot's last word is not full)."""
    setup = setup_for(name)
    size = setup.game.layout.size
    plain, packed = VectorEnv(setup, 3), VectorEnv(setup, 3, observation="packed")
    here, there = plain.reset(seed=4)[0], packed.reset(seed=4)[0]
    for _ in range(fewer(90, 10)):
        words = there["observation"]
        np.testing.assert_array_equal(words_to_bits(words, size), here["observation"])
        values = unpacking.unpack(unpacking.to_device(words), size)
        assert values.dtype == torch.float32 and values.shape == (3, size)
        np.testing.assert_array_equal(values.numpy(), here["observation"])
        actions = plain.sample_actions()
        here, there = plain.step(actions)[0], packed.step(actions)[0]


def test_any_shape_and_dtype():
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**64, (2, 5, 3), np.uint64, endpoint=False)
    words[0, 0] = 2**64 - 1
    for size in (129, 192):
        for dtype in (torch.int8, torch.float16, torch.float32, torch.bool):
            values = unpacking.unpack(unpacking.to_device(words), size, dtype)
            assert values.dtype == dtype
            np.testing.assert_array_equal(values.to(torch.int8), words_to_bits(words, size))
    turned = unpacking.to_device(words).transpose(0, 1)
    np.testing.assert_array_equal(
        unpacking.unpack(turned, 192), words_to_bits(words.swapaxes(0, 1), 192)
    )


def test_wrong_words_are_refused():
    words = np.zeros((2, 3), np.uint64)
    with pytest.raises(TypeError, match="expected an array of uint64, got int64"):
        unpacking.to_device(words.view(np.int64))
    with pytest.raises(TypeError, match=r"expected int64, got torch\.float32"):
        unpacking.unpack(torch.zeros(2, 3), 192)
    for size in (128, 193):
        with pytest.raises(ValueError, match=f"size: {size} values take"):
            unpacking.unpack(unpacking.to_device(words), size)
