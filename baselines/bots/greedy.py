"""The bot ``greedy``: weighs each legal action by what it is worth now and later, with no search."""

from __future__ import annotations

import importlib

from trick_core.bots import Bot, KernelBot
from trick_core.drivers import JitBot
from trick_core.game import Game

#: The module of each game's kernel; it holds ``BOT``.
MODULES = {
    "bolola": "baselines.bots.greedy_bolola",
    "tarot": "baselines.bots.greedy_tarot",
}


def greedy_jit(game: Game) -> JitBot:
    """The kernel for a game.

    Raises:
        ValueError: There is none.
    """
    if game.name not in MODULES:
        raise ValueError(f"bot 'greedy' does not play {game.name}; it plays {', '.join(MODULES)}")
    bot: JitBot = importlib.import_module(MODULES[game.name]).BOT
    return bot


def make(argument: str | None = None) -> Bot:
    """The bot, for the registry; it takes no argument."""
    if argument is not None:
        raise ValueError(f"bot 'greedy' takes no argument, got {argument!r}")
    return KernelBot("greedy", greedy_jit)
