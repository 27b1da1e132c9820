"""Worlds of Bolola: as many as the rules leave, each with the same chance, and each one that can be played on."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np

from bolola_env.game import GAME
from tests.helpers import Table
from tests.reference.bolola import ROWS
from trick_core.jit import entry, records

CONTRACTS = [*ROWS]


@functools.cache
def drivers() -> tuple[Any, Any]:
    """The two kernels of the belief as functions: count, and fill in as many worlds as there are records."""
    belief = GAME.belief
    assert belief is not None
    prepare, sample = belief.prepare, belief.sample

    @entry(None)
    def count(config, views, seat, work):  # type: ignore[no-untyped-def]
        return prepare(config, views[0], seat, work[0])

    @entry(None)
    def draw(config, views, seat, word, work, out):  # type: ignore[no-untyped-def]
        for i in range(out.shape[0]):
            out[i] = views[0]
            word = sample(config, out[i], seat, word, work[0])
        return word

    return count, draw


def worlds(table: Table, seat: int, n: int, word: int = 1) -> tuple[float, np.ndarray[Any, Any]]:
    """The number of worlds for a seat, and ``n`` of them."""
    assert GAME.belief is not None
    work = records(1, GAME.belief.work)
    view, out = table.view(seat), GAME.states(n)
    count, draw = drivers()
    number = float(count(table.config, view, seat, work))
    draw(table.config, view, seat, np.uint64(word), work, out)
    return number, out


def test_the_true_world_is_among_them() -> None:
    rng = random.Random(1)
    for name in CONTRACTS:
        table = Table(name, seed=rng.getrandbits(30))
        while not table.over:
            seat = rng.randrange(4)
            number, out = worlds(table, seat, 2)
            assert number >= 1
            for record in out:
                held = [int(h) for h in record["hands"]]
                assert held[seat] == table.field("hands")[seat]
                assert sum(held) == sum(table.field("hands"))
                assert [h.bit_count() for h in held] == [
                    h.bit_count() for h in table.field("hands")
                ]
            table.force(rng.choice(table.legal()))
