"""Plays the games of other libraries at random, under a Python that has them; ours need not be there.

    python worker.py GROUP

A script that imports nothing of this repository. Its first line on stdout is a JSON object: versions, works, and what
could not be played, with reasons. Then each line on stdin, the number of a work, is answered by ``units wall_seconds
cpu_seconds``. Units are actions of players: chance moves and the None steps of finished agents do not count.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

#: Layers; what they mean is in ``benchmarks.peers.page``.
COMPILED, BATCH, STATE, ENVIRONMENT = "compiled", "batch", "state", "environment"

_draw = random.Random(0).random


@dataclass(frozen=True)
class Facts:
    """What is played.

    Attributes:
        library: Whose the code is.
        game: The game, under the library's name for it.
        players: How many play.
        how: What is special about this way to play, or empty.
        layer: Which interface it goes through.
        inside: What the timed loop holds.
        partner: Name of the case of ours that it is held against; empty: none.
        batch: Tables, N.
    """

    library: str
    game: str
    players: int
    how: str
    layer: str
    inside: str
    partner: str = ""
    batch: int = 1

    @property
    def name(self) -> str:
        """Unique in a run."""
        parts = [f"{self.library} {self.game}", self.how]
        if self.batch > 1:
            parts.append(f"N={self.batch}")
        return ", ".join(part for part in parts if part)


Run = Callable[[], int]
#: What is played, and a function that gets ready and returns the function to time: play a little, return the actions.
Plan = tuple[Facts, Callable[[], Run]]


def one_of(legal: Any) -> Any:
    """A member of a sequence, at random."""
    return legal[int(_draw() * len(legal))]


# ---------------------------------------------------------------------------- OpenSpiel


def openspiel() -> list[Plan]:
    """Hearts and four-handed Tarok in C++, and from Python."""
    plans: list[Plan] = []
    games = (("hearts", "hearts", "Bolola hearts"), ("tarok", "tarok(players=4)", "Tarot"))
    for game, text, ours in games:
        ways = [
            (
                "C++ games",
                COMPILED,
                "whole games of four random bots (evaluate_bots), dealing too; no observation",
                f"{ours}, kernel",
                _games,
            ),
            (
                "from Python",
                STATE,
                "legal_actions, random choice, apply_action; no dealing, no observation",
                f"{ours}, AEC",
                _from_python,
            ),
            (
                "RL environment",
                ENVIRONMENT,
                "rl_environment: whole games, reset, random choice among legal_actions, step",
                f"{ours}, AEC",
                _rl_environment,
            ),
        ]
        if game == "hearts":  # its playouts are all equally long
            inside = "random playouts of one dealt position by a search bot's evaluator; no dealing, no observation"
            ways.append(("C++ playouts", COMPILED, inside, f"{ours}, kernel", _playouts))
            inside = "random choice by legal_actions_mask, information state as NumPy array (make_observation), apply_action; no dealing"
            ways.append(("from Python, observed", ENVIRONMENT, inside, f"{ours}, AEC", _observed))
        for how, layer, inside, partner, get_ready in ways:
            facts = Facts("OpenSpiel", game, 4, how, layer, inside, partner)
            plans.append((facts, partial(get_ready, text)))
    return plans


def _dealt(game: Any) -> Any:
    """A state after the chance moves at the start."""
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(one_of(state.chance_outcomes())[0])
    return state


def _play_out(state: Any) -> int:
    """Play a state to its end; returns the actions."""
    actions = 0
    while not state.is_terminal():
        state.apply_action(one_of(state.legal_actions()))
        actions += 1
    return actions


def _playouts(text: str) -> Run:
    """A search bot with one simulation has its evaluator play one position out many times without leaving C++."""
    import pyspiel

    game, rollouts = pyspiel.load_game(text), 100
    dealt = _dealt(game)
    length = _play_out(dealt.clone())
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 1)
    bot = pyspiel.MCTSBot(game, evaluator, 1.0, 1, 100, False, 1, False)

    def run() -> int:
        bot.step(dealt)
        return rollouts * length

    return run


def _games(text: str) -> Run:
    """Games of the library's own random bots. Chance moves are played, and left out of the count."""
    import pyspiel

    game = pyspiel.load_game(text)
    bots = [pyspiel.make_uniform_random_bot(player, player) for player in range(4)]
    played = 0

    def play() -> Any:
        nonlocal played
        played += 1
        state = game.new_initial_state()
        pyspiel.evaluate_bots(state, bots, played)
        return state

    chances = {sum(move.player < 0 for move in play().full_history()) for _ in range(10)}
    if len(chances) > 1:
        raise ValueError(f"games of {text} have no fixed number of chance moves: {chances}")
    chance = chances.pop()

    def run() -> int:
        return sum(play().move_number() - chance for _ in range(20))

    return run


def _from_python(text: str) -> Run:
    import pyspiel

    dealt = _dealt(pyspiel.load_game(text))
    return lambda: _play_out(dealt.clone())


def _observed(text: str) -> Run:
    import numpy as np
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game(text)
    dealt = _dealt(game)
    seen = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))

    def run() -> int:
        state, actions = dealt.clone(), 0
        while not state.is_terminal():
            seen.set_from(state, state.current_player())
            mask = np.asarray(state.legal_actions_mask())
            state.apply_action(int(one_of(mask.nonzero()[0])))
            actions += 1
        return actions

    return run


def _rl_environment(text: str) -> Run:
    import pyspiel
    from open_spiel.python import rl_environment

    env = rl_environment.Environment(pyspiel.load_game(text))

    def run() -> int:
        step, actions = env.reset(), 0
        while not step.last():
            player = step.observations["current_player"]
            step = env.step([one_of(step.observations["legal_actions"][player])])
            actions += 1
        return actions

    return run


# ---------------------------------------------------------------------------- RLCard


def rlcard() -> list[Plan]:
    """RLCard's card games, bridge among them: four players, bids and tricks."""
    inside = "whole games: reset, random choice among legal_actions, env.step"
    games = {"bridge": 4, "doudizhu": 3, "mahjong": 4, "uno": 2, "leduc-holdem": 2}
    return [
        (
            Facts("RLCard", game, players, "", ENVIRONMENT, inside, "Bolola hearts, AEC"),
            partial(_rlcard, game),
        )
        for game, players in games.items()
    ]


def _rlcard(game: str) -> Run:
    env = importlib.import_module("rlcard").make(game)

    def run() -> int:
        state, _ = env.reset()
        actions = 0
        while not env.is_over():
            state, _ = env.step(one_of(list(state["legal_actions"])))
            actions += 1
        return actions

    return run


# ---------------------------------------------------------------------------- PettingZoo


def pettingzoo() -> list[Plan]:
    """PettingZoo's card games, and OpenSpiel's hearts as a PettingZoo environment through Shimmy."""
    inside = (
        "whole games: reset, agent_iter, last, random choice by mask, step; None steps uncounted"
    )
    games: dict[str, tuple[int, dict[str, int]]] = {
        "hanabi_v5": (4, {"players": 4}),
        "texas_holdem_v4": (4, {"num_players": 4}),
        "leduc_holdem_v4": (2, {}),
    }
    plans: list[Plan] = [
        (
            Facts("PettingZoo", game, players, "", ENVIRONMENT, inside, "Bolola hearts, AEC"),
            partial(_classic, game, options),
        )
        for game, (players, options) in games.items()
    ]
    facts = Facts("Shimmy", "OpenSpiel hearts", 4, "", ENVIRONMENT, inside, "Bolola hearts, AEC")
    return [*plans, (facts, _shimmy)]


def _classic(module: str, options: dict[str, int]) -> Run:
    return turns(importlib.import_module(f"pettingzoo.classic.{module}").env(**options))


def _shimmy() -> Run:
    import pyspiel
    from shimmy import OpenSpielCompatibilityV0

    return turns(OpenSpielCompatibilityV0(env=pyspiel.load_game("hearts")))


def turns(env: Any) -> Run:
    """Whole games of a PettingZoo environment; counted are the actions of live agents."""

    def run() -> int:
        env.reset()
        actions = 0
        for _agent in env.agent_iter():
            observation, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            shown = info if "action_mask" in info else observation
            env.step(int(one_of(shown["action_mask"].nonzero()[0])))
            actions += 1
        return actions

    return run


# ---------------------------------------------------------------------------- pgx


def pgx() -> list[Plan]:
    """The card games of pgx, jitted: one step of N tables a call, and several steps in one call."""
    step = "jitted: random choice by mask (act_randomly), vmapped step with observation, auto_reset; one step a call"
    loop = f"{step[: step.rindex(';')]}; {_LOOP} steps a call"
    sizes = {
        ("bridge_bidding", 4): (64, 1024, 4096),
        ("leduc_holdem", 2): (1024, 16384),
        ("sparrow_mahjong", 3): (1024,),
    }
    plans: list[Plan] = []
    for (game, players), batches in sizes.items():
        for tables in batches:
            partner = f"Bolola hearts, vector env, N={tables}"
            facts = Facts("pgx", game, players, "", BATCH, step, partner, tables)
            plans.append((facts, partial(_pgx, game, tables, 1)))
    for game, players, tables in (("bridge_bidding", 4, 1024), ("leduc_holdem", 2, 16384)):
        partner = "Bolola hearts, kernel with observation"
        facts = Facts("pgx", game, players, "compiled loop", COMPILED, loop, partner, tables)
        plans.append((facts, partial(_pgx, game, tables, _LOOP)))
    return plans


_LOOP = 4


def _pgx(game: str, tables: int, steps: int) -> Run:
    import jax
    from pgx.experimental import act_randomly, auto_reset

    env = (
        _bridge_bidding() if game == "bridge_bidding" else importlib.import_module("pgx").make(game)
    )
    step = jax.vmap(auto_reset(env.step, env.init))

    def once(_: Any, held: Any) -> Any:
        state, key = held
        key, choice, deal = jax.random.split(key, 3)
        actions = act_randomly(choice, state.legal_action_mask)
        return step(state, actions, jax.random.split(deal, tables)), key

    play = jax.jit(lambda held: jax.lax.fori_loop(0, steps, once, held))
    first = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), tables))
    held = first, jax.random.PRNGKey(1)

    def run() -> int:
        nonlocal held
        held = jax.block_until_ready(play(held))
        return tables * steps

    return run


def _bridge_bidding() -> Any:
    """Its deals come from a file that is a download of its own; the package brings a hundred as a sample."""
    import jax

    bridge = importlib.import_module("pgx.bridge_bidding")
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "sample.npy")
        jax.numpy.save(file, jax.numpy.stack(bridge._load_sample_hash()))
        return bridge.BridgeBidding(file)


# ---------------------------------------------------------------------------- the process

GROUPS = {"openspiel": openspiel, "rlcard": rlcard, "pettingzoo": pettingzoo, "pgx": pgx}
_PACKAGES = ("open_spiel", "rlcard", "pettingzoo", "shimmy", "pgx", "jax", "numpy")


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def main() -> None:
    """Answer on what was stdout; whatever a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    runs: list[Run] = []
    works: list[dict[str, Any]] = []
    missing: list[dict[str, Any]] = []
    for facts, get_ready in GROUPS[sys.argv[1]]():
        try:
            run = get_ready()
            run()  # compiles what there is to compile
        except Exception as error:
            lines = str(error).strip().splitlines() or [""]
            reason = f"{type(error).__name__}: {lines[0]}"
            missing.append({"facts": asdict(facts), "reason": reason})
        else:
            runs.append(run)
            works.append(asdict(facts))
    hello = {"versions": _versions(), "works": works, "missing": missing}
    print(json.dumps(hello), file=answers)
    for line in sys.stdin:
        run = runs[int(line)]
        wall, cpu = time.perf_counter(), time.process_time()
        units = run()
        print(units, time.perf_counter() - wall, time.process_time() - cpu, file=answers)


if __name__ == "__main__":
    main()
