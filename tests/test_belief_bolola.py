"""Worlds of Bolola: as many as the rules leave, each with the same chance, and each one that can be played on."""

from __future__ import annotations

import random

from tests.helpers import Table
from tests.reference.bolola import ROWS
from trick_core.belief import count_worlds, view_of, worlds


def test_worlds_keep_the_own_hand_and_all_sizes() -> None:
    rng = random.Random(1)
    for name in ROWS:
        table = Table(name, seed=rng.getrandbits(30))
        while not table.over:
            seat = rng.randrange(4)
            view = view_of(table.setup, table.states, 0, seat)
            assert count_worlds(view) >= 1
            true = table.field("hands")
            for record in worlds(view, 2, seed=1):
                held = [int(h) for h in record["hands"]]
                assert held[seat] == true[seat]
                assert sum(held) == sum(true)
                assert [h.bit_count() for h in held] == [h.bit_count() for h in true]
            table.force(rng.choice(table.legal()))
