"""Bolola's records as ``bolola.c`` declares them."""

from __future__ import annotations

from typing import Any

import numpy as np

from trick_core.game import Setup

#: ``row_t``: one contract. Fields named as in ``bolola_env.state.CONFIG``.
ROW = np.dtype(
    [
        ("card_points", "i4", (52,)),
        ("trick_value", "i4", (13,)),
        ("locked", "u8"),
        ("tiers", "u8", (7,)),
        ("under_duty", "u8"),
        ("scoring", "u8"),
        ("row_words", "u8", (20,)),
        ("num_tiers", "i1"),
        ("last_value", "i1"),
        ("trumps", "i1"),
        ("lock_trump", "i1"),
        ("early_stop", "i1"),
        ("fixed_trump", "i1"),
        ("fixed_starter", "i1"),
    ],
    align=True,
)

#: ``table_t``: one table. Fields named as in ``bolola_env.state.STATE``, and those of the driver.
TABLE = np.dtype(
    [
        *((name, "u8", (4,)) for name in ("hands", "played", "trick", "can")),
        *((name, "u8") for name in ("legal", "ruled", "lead_set", "below", "above", "trump_set")),
        *((name, "u8") for name in ("locked", "key", "seed", "number", "random")),
        *((name, "i4", (4,)) for name in ("points", "scores", "gain")),
        ("pot", "i4"),
        *((name, "i1") for name in ("seat", "winner", "leader", "starter", "trick_size")),
        *((name, "i1") for name in ("trick_number", "trump", "deal")),
        ("taken", "i1", (4,)),
        ("shown", "i1"),
    ],
    align=True,
)

#: Fields of the state that must agree with the kernel's after every action.
COMPARED = tuple(
    name for name in TABLE.names or () if name not in ("seed", "number", "random", "shown")
)

#: What is summed over finished deals.
SCORE = "points"


def rows(setup: Setup) -> np.ndarray[Any, Any]:
    """The configuration's records as ``row_t``, one a deal of the episode."""
    rows = np.zeros(len(setup.config), ROW)
    for name in ROW.names or ():
        rows[name] = setup.config[name]
    return rows
