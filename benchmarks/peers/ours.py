"""Our side: the cases that other libraries are held against, with the same random choices in Python where theirs are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium

from benchmarks import cases
from benchmarks.measure import Case
from benchmarks.peers.groups import Entry
from benchmarks.peers.worker import BATCH, COMPILED, ENVIRONMENT, Facts, Run, one_of, turns
from benchmarks.reference import KernelPlayer
from trick_core.aec import TrickAEC
from trick_core.game import setup_for

LIBRARY = "trick-envs"
#: Our games under the names that the others' ``partner`` begins with.
GAMES = {"Bolola hearts": "bolola/hearts-v0", "Tarot": "tarot/deal-v0"}
#: Tables of the vector environment: the batches of the others; of our second game only one.
TABLES = {"Bolola hearts": (64, 1024, 4096, 16384), "Tarot": (1024,)}

_KERNEL = "dealing, random choice, rules, scores in the compiled kernel"
_TURNS = "whole games: reset, agent_iter, last, random choice by mask, step; None steps uncounted"
_DECISIONS = "whole games: reset, random choice by mask, step with three random opponents; the learner's decisions alone count"


def key(facts: Facts) -> str:
    """The name by which others' ``partner`` finds one of our cases."""
    size = f", N={facts.batch}" if facts.layer == BATCH else ""
    return f"{facts.game}, {facts.how}{size}"


def ours() -> list[Entry]:
    """Our cases in all layers."""
    entries: list[Entry] = []
    for game, identity in GAMES.items():

        def add(
            how: str,
            layer: str,
            inside: str,
            run: Callable[[], Any],
            batch: int = 1,
            game: str = game,
        ) -> None:
            facts = Facts(LIBRARY, game, 4, how, layer, inside, batch=batch)
            entries.append(Entry(facts, Case(facts.name, layer, run, inside, batch)))

        setup = setup_for(identity)
        for how, form, seen in (
            ("kernel", "state", "no observation"),
            ("kernel with observation", "bytes", "observation and mask after every action"),
        ):
            player = KernelPlayer(setup, cases.TABLES)
            run = partial(player.play, form, cases.STEPS)
            add(how, COMPILED, f"{_KERNEL}; {seen}", run, cases.TABLES)
        for number in TABLES[game]:
            case = cases.vector(setup, number, "bytes", copies=True)
            add("vector env", BATCH, case.inside, case.run, number)
        case = cases.vector(setup, 1024, "packed", copies=False)
        add("vector env, packed, copy=False", BATCH, case.inside, case.run, 1024)
        add("AEC", ENVIRONMENT, _TURNS, turns(TrickAEC(setup)))
        add("Gymnasium", ENVIRONMENT, _DECISIONS, _decisions(identity))
    return entries


def _decisions(identity: str) -> Run:
    """Whole episodes of the Gymnasium environment of one learner."""
    env = gymnasium.make(f"{identity.partition('/')[0]}_env:{identity}", opponents="random")
    env.reset(seed=0)

    def run() -> int:
        observation, _ = env.reset()
        decisions, over = 0, False
        while not over:
            mask = observation["action_mask"]
            observation, _, over, _, _ = env.step(int(one_of(mask.nonzero()[0])))
            decisions += 1
        return decisions

    return run
