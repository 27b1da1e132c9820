"""What every environment asks of ``reset``: a seed and the options of one episode, checked."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from trick_core.game import Setup
from trick_core.rng import fold_seed


def check_seed(seed: Any) -> int:
    """A seed as a number below 2**64.

    Args:
        seed: Non-negative integer of any size; one below 2**64 stands for itself.

    Raises:
        ValueError: Not such an integer.
    """
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed: expected a non-negative integer, got {seed!r}")
    return fold_seed(int(seed))


def fresh_seed() -> int:
    """A seed from the operating system, for an environment that was never given one."""
    return secrets.randbits(64)


def custom_config(
    setup: Setup,
    options: Mapping[str, Any] | None,
    also_known: tuple[str, ...] = (),
    stacklevel: int = 3,
) -> np.ndarray[Any, Any] | None:
    """The configuration of an episode whose deal ``reset(options=...)`` fixes.

    A key that nobody knows is ignored with a ``UserWarning`` that names it; None as a value is as no key.

    Args:
        setup: The environment's setup.
        options: As given to ``reset``.
        also_known: Keys that the caller deals with itself.
        stacklevel: Of the warning; 3 is whoever called the function that called this one.

    Returns:
        Configuration records, read-only, or None if the options fix nothing.

    Raises:
        ValueError: A bad deal, seat or suit, or options that are no mapping.
    """
    if options is None:
        return None
    if not isinstance(options, Mapping):
        raise ValueError(f"options: expected a mapping, got {options!r}")
    known = setup.game.reset_keys
    for key in options:
        if key not in known and key not in also_known:
            warnings.warn(
                f"reset: the option {key!r} is ignored; known are {', '.join((*known, *also_known))}",
                UserWarning,
                stacklevel=stacklevel,
            )
    given = {key: options[key] for key in known if options.get(key) is not None}
    if not given:
        return None
    config = setup.game.reset_config(setup, given)
    config.flags.writeable = False
    return config
