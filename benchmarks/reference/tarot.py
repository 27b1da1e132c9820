"""Tarot's records as ``tarot.c`` declares them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tarot_env.state import STATE
from trick_core.game import Setup

#: ``row_t``: what the options fix. Fields named as in ``tarot_env.state.CONFIG``.
ROW = np.dtype([(name, "i1") for name in ("start", "forbid_pass", "dealer", "taker", "contract")])

#: Fields of the state that must agree with the kernel's after every action: all.
COMPARED = STATE.names or ()

#: What is summed over finished deals: half points that each defender has paid the taker.
SCORE = "credit"

#: ``table_t``: one table. The state's fields, and those of the driver.
TABLE = np.dtype(
    [
        *((name, STATE[name]) for name in COMPARED),
        *((name, "u8") for name in ("seed", "number", "random")),
    ],
    align=True,
)


def rows(setup: Setup) -> np.ndarray[Any, Any]:
    """The configuration's record as ``row_t``."""
    rows = np.zeros(1, ROW)
    for name in ROW.names or ():
        rows[name] = setup.config[name]
    return rows
