"""The ids of a game's environments in the registries of Gymnasium and PettingZoo."""

from __future__ import annotations

import gymnasium
import pettingzoo

from trick_core.game import Game


def register_environments(game: Game, module: str) -> list[str]:
    """Register ``<game>/<variant>-v0`` for every variant of a game.

    In Gymnasium it stands for the environment of one learner (``make`` and ``make_vec``), in PettingZoo for the turn-based one
    (``pettingzoo.make("aec", id)``, where PettingZoo has a registry: from 1.27 on). Nothing of the environments is imported.

    Args:
        game: The game.
        module: Name of the package that has the functions ``env``, ``single_env`` and ``single_vector_env``.

    Returns:
        The ids. One that is known already stays as it is.
    """
    ids = []
    for variant, options in game.variants.items():
        name = f"{game.name}/{variant.replace('_', '-')}-v0"
        ids.append(name)
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point=f"{module}:single_env",
                vector_entry_point=f"{module}:single_vector_env",
                kwargs=dict(options),
            )
        if hasattr(pettingzoo, "register") and name not in pettingzoo.aec_registry:
            pettingzoo.register("aec", name, entry_point=f"{module}:env", kwargs=dict(options))
    return ids
