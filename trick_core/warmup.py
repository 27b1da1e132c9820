"""Compiling ahead of time what an environment would compile at its first step.

Importing compiles nothing. The first episode of a kind of environment compiles its kernels, or loads them from the
cache where an earlier process left them (:mod:`trick_core.jit`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from trick_core.game import Game, Setup
from trick_core.jit import Built, watching


def _turn_based(setup: Setup) -> None:
    from trick_core.aec import TrickAEC

    env = TrickAEC(setup)
    env.reset(seed=0)
    env.observe(env.agents[0])
    env.state()
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))


def _one_learner(setup: Setup, opponents: str) -> None:
    from trick_core.single import SingleAgentEnv

    env = SingleAgentEnv(setup, opponents=opponents)
    observation, _ = env.reset(seed=0)
    env.step(int(observation["action_mask"].argmax()))


def _vector(setup: Setup, observation: str) -> None:
    from trick_core.vector import VectorEnv

    for threads in (1, 2):
        env = VectorEnv(setup, 2, observation=observation, num_threads=threads)
        env.reset(seed=0)
        env.step(env.sample_actions())
        env.state()


def _rollouts(setup: Setup, opponents: str) -> None:
    from trick_core.records import Table
    from trick_core.rollouts import rollouts

    rollouts(setup, Table(setup).states, 1, opponents, seed=0)


def _learners(setup: Setup, opponents: str, observation: str) -> None:
    from trick_core.learner import LearnerVectorEnv

    env = LearnerVectorEnv(setup, 2, opponents=opponents, observation=observation)
    obs, _ = env.reset(seed=0)
    env.step(obs["action_mask"].argmax(axis=1).astype(np.int64))


#: Kinds in which the caller plays all seats.
_ALONE: dict[str, Callable[[Setup], None]] = {
    "env": _turn_based,
    "vector_env": lambda setup: _vector(setup, "bytes"),
    "vector_env packed": lambda setup: _vector(setup, "packed"),
}
#: Kinds in which bots play; their kernels hold the bot's.
_AMONG_BOTS: dict[str, Callable[[Setup, str], None]] = {
    "single_env": _one_learner,
    "single_vector_env": lambda setup, opponents: _learners(setup, opponents, "bytes"),
    "single_vector_env packed": lambda setup, opponents: _learners(setup, opponents, "packed"),
    "rollouts": _rollouts,
}

#: What can be warmed up: the kinds of environment, and rollouts.
KINDS = (*_ALONE, *_AMONG_BOTS)


def warmup(
    game: Game,
    what: Sequence[str] = KINDS,
    *,
    opponents: Sequence[str] = ("random",),
    report: Callable[[Built], None] | None = None,
) -> list[Built]:
    """Compile or load the kernels of a game's environments, for all of its variants and options.

    Args:
        game: The game.
        what: Some of :data:`KINDS`.
        opponents: Names of bots with kernels; one learner among three of each is warmed up, and rollouts by it.
        report: Called for each kernel as soon as it is ready.

    Returns:
        The kernels in the order in which they became ready, each with its seconds; those that were ready before are
        not among them. Empty when ``NUMBA_DISABLE_JIT`` is set.

    Raises:
        ValueError: An unknown kind.
    """
    for kind in what:
        if kind not in KINDS:
            raise ValueError(f"warmup: no {kind!r}; there are {', '.join(map(repr, KINDS))}")
    built: list[Built] = []

    def note(each: Built) -> None:
        built.append(each)
        if report is not None:
            report(each)

    setup = game.setup()
    with watching(note):
        for kind in what:
            if kind in _ALONE:
                _ALONE[kind](setup)
                continue
            for bot in opponents:
                _AMONG_BOTS[kind](setup, bot)
    return built
