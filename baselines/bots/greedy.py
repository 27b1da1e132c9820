"""The bot ``greedy``: weighs each legal action by what it is worth now and later, with no search."""

from __future__ import annotations

import importlib
from functools import partial

from trick_core.bots import Bot, KernelBot
from trick_core.drivers import JitBot
from trick_core.game import Game

#: The module of each game's kernel; it holds ``BOT``.
MODULES = {
    "bolola": "baselines.bots.greedy_bolola",
    "tarot": "baselines.bots.greedy_tarot",
}


#: What stays for good: name -> the name of its kernel in each game's module.
FROZEN = {"greedy-v1": "BOT_V1"}


def greedy_jit(game: Game, name: str = "greedy") -> JitBot:
    """The kernel for a game; ``name`` is ``"greedy"`` or one of :data:`FROZEN`.

    Raises:
        ValueError: There is none.
    """
    if game.name not in MODULES:
        raise ValueError(f"bot {name!r} does not play {game.name}; it plays {', '.join(MODULES)}")
    module = importlib.import_module(MODULES[game.name])
    bot: JitBot = getattr(module, FROZEN.get(name, "BOT"))
    return bot


def make(argument: str | None = None) -> Bot:
    """The bot, for the registry; it takes no argument."""
    return _make("greedy", argument)


def make_v1(argument: str | None = None) -> Bot:
    """``greedy-v1``: greedy as it was first released, and always will be: the yardstick that results name."""
    return _make("greedy-v1", argument)


def _make(name: str, argument: str | None) -> Bot:
    if argument is not None:
        raise ValueError(f"bot {name!r} takes no argument, got {argument!r}")
    return KernelBot(name, partial(greedy_jit, name=name))
