"""The functions with which a game's package makes its environments: one set for every game."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

from trick_core.game import Game, RewardOptions

if TYPE_CHECKING:
    from trick_core.aec import TrickAEC
    from trick_core.learner import LearnerVectorEnv
    from trick_core.single import SingleAgentEnv
    from trick_core.vector import VectorEnv


class Interfaces(NamedTuple):
    """A game's environments. Each function takes the game's options and those of its environment class."""

    env: Callable[..., TrickAEC]
    raw_env: Callable[..., TrickAEC]
    vector_env: Callable[..., VectorEnv]
    single_env: Callable[..., SingleAgentEnv]
    single_vector_env: Callable[..., LearnerVectorEnv]


_SUMMARIES = {
    "env": "A PettingZoo environment (AEC), with the checks of PettingZoo's usual wrappers built in.",
    "raw_env": "As ``env``, but ``agent_iter`` does not insist on a step in every round, for use under PettingZoo's own wrappers.",
    "vector_env": "Many tables at once, every seat played by the caller: for self-play.",
    "single_env": "The Gymnasium environment of one learner, with bots in the other three seats.",
    "single_vector_env": "The Gymnasium vector environment of one learner, with bots in the other three seats.",
}

#: Where the environment classes are. They are imported when one is first made.
_CLASSES = {
    "env": "trick_core.aec:TrickAEC",
    "raw_env": "trick_core.aec:TrickAEC",
    "vector_env": "trick_core.vector:VectorEnv",
    "single_env": "trick_core.single:SingleAgentEnv",
    "single_vector_env": "trick_core.learner:LearnerVectorEnv",
}


def interfaces(game: Game, module: str) -> Interfaces:
    """The functions of a game's package.

    Args:
        game: The game.
        module: Name of the package; the functions can be pickled as its attributes.
    """
    return Interfaces(*(_interface(game, module, name) for name in Interfaces._fields))


def _interface(game: Game, module: str, name: str) -> Callable[..., Any]:
    setup_parameters = _setup_parameters(game)

    def make(*args: Any, **options: Any) -> Any:
        cls = _load(_CLASSES[name])
        # The setup is made here, and enforce_order is what tells raw_env from env.
        own = [k for k in inspect.signature(cls).parameters if k not in ("setup", "enforce_order")]
        known = [parameter.name for parameter in setup_parameters] + own
        for key in options:
            if key not in known:
                raise TypeError(
                    f"{module}.{name}() has no option {key!r}; it takes {', '.join(known)}"
                )
        own_options = {key: options.pop(key) for key in own if key in options}
        if name == "raw_env":
            own_options["enforce_order"] = False
        return cls(game.setup(*args, **options), **own_options)

    make.__name__ = make.__qualname__ = name
    make.__module__ = module
    make.__doc__ = _doc(game, name)
    more = inspect.Parameter("keywords", inspect.Parameter.VAR_KEYWORD, annotation=Any)
    make.__signature__ = inspect.Signature([*setup_parameters, more])  # type: ignore[attr-defined]
    return make


def _setup_parameters(game: Game) -> list[inspect.Parameter]:
    """Parameters of all options that make a setup: the game's own, and those of the rewards."""
    own = [
        parameter
        for parameter in inspect.signature(game.setup).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    rewards = [
        inspect.Parameter(
            each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type
        )
        for each in fields(RewardOptions)
    ]
    names = {parameter.name for parameter in own}
    return own + [parameter for parameter in rewards if parameter.name not in names]


def _load(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def _doc(game: Game, name: str) -> str:
    """The docstring: the options' own documentation put together."""
    path = _CLASSES[name].replace(":", ".")
    arguments = _section(game.setup, "Args:", ("**",)) + _section(RewardOptions, "Attributes:")
    return "\n".join(
        [
            _SUMMARIES[name],
            "",
            "Args:",
            *arguments,
            f"    **keywords: Those of :class:`{path}`.",
            "",
            "Returns:",
            f"    :class:`{path}`.",
            "",
            "Raises:",
            "    TypeError: An unknown option; the message names it.",
            "    ValueError: An option out of range.",
        ]
    )


def _section(documented: Any, title: str, without: tuple[str, ...] = ()) -> list[str]:
    """The lines of a section of a docstring, less the entries that begin with one of ``without``."""
    lines = (inspect.getdoc(documented) or "").splitlines()
    if title not in lines:
        return []
    kept, keep = [], True
    for line in lines[lines.index(title) + 1 :]:
        if not line.strip():
            break
        if line[4:5] != " ":  # an entry, not its second line
            keep = not line.strip().startswith(without) if without else True
        if keep:
            kept.append(line)
    return kept
