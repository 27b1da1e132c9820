"""Bots, evaluation, trainers and the command line."""

from __future__ import annotations

import importlib
from functools import partial

from trick_core.bots import Bot, register_bot


def _make(module: str, argument: str | None, maker: str = "make") -> Bot:
    """Import a bot's module when the first bot of that name is made."""
    bot: Bot = getattr(importlib.import_module(module), maker)(argument)
    return bot


# The same names as the entry points of the installed package, for use from a checkout.
register_bot("greedy", partial(_make, "baselines.bots.greedy"))
register_bot("greedy-v1", partial(_make, "baselines.bots.greedy", maker="make_v1"))
register_bot("pimc", partial(_make, "baselines.bots.pimc"))
register_bot("ismcts", partial(_make, "baselines.bots.ismcts"))
register_bot("oracle", partial(_make, "baselines.bots.oracle"))
