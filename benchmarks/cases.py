"""What is measured: random play of one setup through every layer, from the bare kernel to the adapters.

A case that needs something that is not installed is a :class:`Skipped` with the reason.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from benchmarks.donothing import DoNothingAEC
from benchmarks.measure import Case, Skipped
from benchmarks.policy import RandomPolicy
from benchmarks.reference import FORMS, KernelPlayer, NoYardstickError, Player, YardstickPlayer
from trick_core.aec import TrickAEC
from trick_core.batch import Batch
from trick_core.game import Setup
from trick_core.jit import copy_records
from trick_core.learner import LearnerVectorEnv
from trick_core.vector import VectorEnv

Item = Case | Skipped

INSIDE = (
    "dealing, random choice, rules, scores; packed and bytes: also the observation in that form, and the mask; 'by turns': each of "
    "N tables takes one action before the first takes its next, else a table takes many at once"
)
VECTOR_INSIDE = (
    "compiled random policy that reads the masks, step with observation (live buffers, or fresh arrays with copy=True), "
    "mask, rewards, autoreset"
)
LEARNER_INSIDE = f"{VECTOR_INSIDE}; three compiled {{}} opponents"
#: Tables of the kernel and the yardstick, and actions that a table takes before the next one's turn.
TABLES = 64
STEPS = 104


def yardstick(setup: Setup) -> list[Item]:
    """Random play in C, one thread."""
    try:
        player = YardstickPlayer(setup, TABLES)
    except NoYardstickError as reason:
        return [Skipped(f"C {form}", "C yardstick", str(reason)) for form in FORMS]
    return [_play(f"C {form}", "C yardstick", player, form) for form in FORMS]


def kernel(setup: Setup) -> list[Item]:
    """Random play in the compiled kernel, one thread."""
    player = KernelPlayer(setup, TABLES)
    return [_play(f"kernel {form}", "kernel", player, form) for form in FORMS]


def kernel_turns(setup: Setup, tables: int) -> list[Item]:
    """The kernel in the order of a vector environment: what memory costs once N tables outgrow the caches."""
    player = KernelPlayer(setup, tables)

    def case(form: str) -> Case:
        name = f"kernel {form}, N={tables}, by turns"
        return Case(name, "kernel", lambda: player.play(form, 1), INSIDE, tables)

    return [case(form) for form in ("packed", "bytes")]


def _play(name: str, layer: str, player: Player, form: str) -> Case:
    return Case(name, layer, lambda: player.play(form, STEPS), INSIDE, TABLES)


def kernel_threads(setup: Setup, threads: int, tables: int = 4096) -> list[Item]:
    """The same on several threads, which share the tables."""
    player = KernelPlayer(setup, tables)

    def case(form: str) -> Case:
        work = player.work(form, STEPS)

        def run() -> int:
            work.share(tables, threads)
            return tables * STEPS

        name = f"kernel {form}, N={tables}, {_threads(threads)}"
        return Case(name, "kernel", run, INSIDE, tables, threads, wall=True)

    return [case(form) for form in FORMS]


def batch(setup: Setup, tables: int, observation: str, threads: int = 1) -> Case:
    """The batch drivers below the vector environments: a kernel call for the policy, one for the step."""
    tables_ = Batch(setup, tables, packed=observation == "packed", num_threads=threads)
    tables_.buffers.tables["seed"] = np.arange(tables)
    tables_.reset()
    choose = RandomPolicy(tables, num_threads=threads)
    buffers = tables_.buffers

    def run() -> int:
        tables_.step(choose(buffers.mask))
        return tables

    name = f"batch {observation}, N={tables}, {_threads(threads)}"
    return Case(name, "batch drivers", run, VECTOR_INSIDE, tables, threads)


def vector(
    setup: Setup, tables: int, observation: str, copies: bool, threads: int = 1, wall: bool = False
) -> Case:
    """The vector environment of all seats through its Python interface."""
    env = VectorEnv(
        setup, num_envs=tables, num_threads=threads, observation=observation, copy=copies
    )
    choose = RandomPolicy(tables, num_threads=threads)
    first, _ = env.reset(seed=0)
    masks = [first["action_mask"]]

    def run() -> int:
        observations, *_ = env.step(choose(masks[0]))
        masks[0] = observations["action_mask"]
        return tables

    name = f"vector {observation}, N={tables}, copy={copies}, {_threads(threads)}"
    return Case(name, "vector env, all seats", run, VECTOR_INSIDE, tables, threads, wall=wall)


def learner(
    setup: Setup,
    tables: int,
    observation: str,
    copies: bool,
    threads: int = 1,
    opponents: str = "random",
) -> Case:
    """The vector environment of one learner, whose decisions alone are counted; three compiled opponents play inside the kernel."""
    env = LearnerVectorEnv(
        setup,
        tables,
        opponents=opponents,
        num_threads=threads,
        observation=observation,
        copy=copies,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    choose = RandomPolicy(tables, num_threads=threads)
    first, _ = env.reset(seed=0)
    masks = [first["action_mask"]]

    def run() -> int:
        observations, *_ = env.step(choose(masks[0]))
        masks[0] = observations["action_mask"]
        return tables

    name = f"learner {observation}, N={tables}, copy={copies}, {_threads(threads)}, {opponents}"
    inside = LEARNER_INSIDE.format(opponents)
    return Case(name, "vector env, one learner", run, inside, tables, threads, unit="decisions")


def single(setup: Setup) -> Case:
    """The Gymnasium environment of one learner, one table, as ``gymnasium.make`` gives it."""
    env = gymnasium.make(f"{setup.game.name}_env:{setup.id}", opponents="random")
    env.reset(seed=0)

    def run() -> int:
        observation, _ = env.reset()
        decisions, over = 0, False
        while not over:
            observation, _, over, _, _ = env.step(_highest(observation["action_mask"]))
            decisions += 1
        return decisions

    inside = "whole episodes: reset, highest legal action, env.step with three random opponents"
    return Case("gymnasium.make", "Gymnasium env", run, inside, unit="decisions")


def sb3(setup: Setup, tables: int) -> Item:
    """The Stable-Baselines3 ``VecEnv`` that our trainer uses."""
    name, layer = f"SB3 VecEnv, N={tables}", "SB3 VecEnv"
    try:
        from baselines.train.sb3 import TrickVecEnv
    except ImportError as reason:
        return Skipped(name, layer, f"Stable-Baselines3 is not installed: {reason}")
    env = TrickVecEnv(setup, tables, opponents="random")
    choose = RandomPolicy(tables)
    env.seed(0)
    env.reset()

    def run() -> int:
        masks = np.stack(env.env_method("action_masks"))
        env.step(choose(masks.view(np.int8)))
        return tables

    inside = "action_masks as MaskablePPO asks for them, compiled random policy, env.step"
    return Case(name, layer, run, inside, tables, unit="decisions")


def turns(setup: Setup) -> list[Item]:
    """The turn-based loop, and the same loop over an environment that does nothing."""
    env = TrickAEC(setup)
    env.reset(seed=0)
    length = _loop(env)
    game = setup.game
    nothing = DoNothingAEC(length, game.layout.size, game.num_actions)
    inside = (
        "whole episodes: reset, agent_iter, last, highest legal action, step; None steps uncounted"
    )

    def runner(env: Any) -> Callable[[], int]:
        def run() -> int:
            env.reset()
            return _loop(env)

        return run

    return [
        Case("AEC", "AEC env", runner(env), inside),
        Case("AEC that does nothing", "AEC env", runner(nothing), inside),
    ]


def _loop(env: Any) -> int:
    """Play an episode to its end; returns the actions of live agents."""
    actions = 0
    for _agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
        else:
            env.step(_highest(observation["action_mask"]))
            actions += 1
    return actions


def _highest(mask: np.ndarray[Any, Any]) -> int:
    """The highest legal action: by far the cheapest choice that Python can make, and one that never passes a whole auction."""
    return mask.tobytes().rfind(1)


def clones(setup: Setup) -> list[Item]:
    """Copies of a table in the middle of an episode."""
    env = TrickAEC(setup)
    env.reset(seed=0)
    for _ in range(20):
        env.step(_highest(env.last()[0]["action_mask"]))
    player = KernelPlayer(setup, 1)
    player.play("state", 20)
    states = player.states

    def case(name: str, work: Callable[[], Any], inside: str) -> Case:
        def run() -> int:
            for _ in range(20):
                work()
            return 20

        return Case(name, "clone", run, inside, unit="clones")

    inside = "one table in the middle of an episode: its record, or the whole environment"

    return [
        case("clone of a state", lambda: copy_records(states), inside),
        case("AEC get_state", env.get_state, inside),
        case("AEC clone", env.clone, inside),
        case("AEC deepcopy", lambda: copy.deepcopy(env), inside),
    ]


def everything(
    setup: Setup, threads: Sequence[int], tables: Sequence[int], large: int = 4096
) -> Iterator[Item]:
    """All cases of a setup.

    Args:
        setup: The game with its options.
        threads: Numbers of threads; 1 is always measured.
        tables: Sizes N of the batches.
        large: N where more than one thread works.
    """
    yield from yardstick(setup)
    yield from kernel(setup)
    several = [number for number in threads if number > 1]
    for number in sorted({*tables, large}):
        if number >= 1024:
            yield from kernel_turns(setup, number)
    for number in ([1, *several]) if several else ():
        yield from kernel_threads(setup, number, large)
    for observation in ("packed", "bytes"):
        yield batch(setup, max(tables), observation)
        for number in tables:
            if number != large or not several:
                yield vector(setup, number, observation, copies=False)
            yield vector(setup, number, observation, copies=True)
        for number in [1, *several] if several else ():
            yield vector(setup, large, observation, copies=False, threads=number, wall=True)
    yield learner(setup, max(tables), "packed", copies=False)
    yield learner(setup, max(tables), "packed", copies=False, opponents="greedy")
    yield learner(setup, max(tables), "bytes", copies=True)
    yield sb3(setup, 256)
    yield single(setup)
    yield from turns(setup)
    yield from clones(setup)


def _threads(number: int) -> str:
    return f"{number} thread{'s' if number > 1 else ''}"
