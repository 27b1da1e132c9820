"""Packed observations on the device: 64-bit words cross over, and are unpacked there by shifts."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch


def to_device(
    words: np.ndarray[Any, np.dtype[np.uint64]], device: str | torch.device = "cpu"
) -> torch.Tensor:
    """Packed observations as a tensor on a device.

    Args:
        words: uint64 (..., W), as environments with ``observation="packed"`` give them.
        device: Where to.

    Returns:
        int64 (..., W), the same bits: torch can do little with unsigned words. On the CPU it shares the memory of ``words``.

    Raises:
        TypeError: Not an array of uint64.
    """
    if not isinstance(words, np.ndarray) or words.dtype != np.uint64:
        found = words.dtype if isinstance(words, np.ndarray) else type(words).__name__
        raise TypeError(f"words: expected an array of uint64, got {found}")
    return torch.from_numpy(words.view(np.int64)).to(device)


def unpack(words: torch.Tensor, size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The 0/1 values of packed observations, on the device that they are on.

    Args:
        words: int64 (..., W), from :func:`to_device`.
        size: D, the number of values: ``setup.game.layout.size``.
        dtype: Of the result.

    Returns:
        (..., D), the lowest bit of the first word first.

    Raises:
        TypeError: ``words`` is not of int64.
        ValueError: D values do not take W words.
    """
    if words.dtype != torch.int64:
        raise TypeError(f"words: expected int64, got {words.dtype}")
    if -(-size // 64) != words.shape[-1]:
        raise ValueError(
            f"size: {size} values take {-(-size // 64)} words, got {words.shape[-1]} words"
        )
    # Byte by byte, since a shift of words would make eight bytes of every bit. The lowest byte comes first in memory on every
    # processor that torch runs on.
    parts = words.contiguous().view(torch.uint8)
    if words.device.type == "cpu" and dtype.is_floating_point:  # three times as fast there
        values = torch.nn.functional.embedding(parts.int(), _bytes(dtype))
        return values.flatten(-2)[..., :size]
    return _shifted(parts).flatten(-2)[..., :size].to(dtype)


def _shifted(parts: torch.Tensor) -> torch.Tensor:
    """The bits of bytes, along a further axis."""
    return (parts.unsqueeze(-1) >> torch.arange(8, dtype=torch.uint8, device=parts.device)) & 1


@functools.cache
def _bytes(dtype: torch.dtype) -> torch.Tensor:
    """The bits of every byte, (256, 8)."""
    return _shifted(torch.arange(256, dtype=torch.uint8)).to(dtype)
