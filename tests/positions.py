"""Batches of views from the middle of games, for tests of bots that search."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.helpers import Table
from trick_core.bots import BatchView
from trick_core.game import setup_for
from trick_core.jit import copy_records


def views_of(
    env: Any, count: int, seed: int = 0, *, everything: bool = False, **options: Any
) -> BatchView:
    """What the seats on turn see in ``count`` games of random play, each with a choice; ``everything``: all hands.

    The views have records, random words and no observation.
    """
    setup = setup_for(env, **options)
    rng = random.Random(f"{env} {seed}")
    rows: list[np.ndarray[Any, Any]] = []
    number = 0
    while len(rows) < count:
        table = Table(setup, seed=seed, number=number)
        table.random_play(rng, rng.randrange(45 if setup.game.name == "bolola" else 75))
        while not table.over and len(table.legal()) == 1:
            table.force(table.legal()[0])
        if table.seat is not None:
            rows.append(copy_records(table.states) if everything else table.view(table.seat))
        number += 1
    nothing = np.zeros((count, 0), np.uint64)
    randoms = np.array([rng.getrandbits(64) for _ in rows], np.uint64)
    return BatchView(setup.game, setup.config, joined(setup.game, rows), nothing, nothing, randoms)


def joined(game: Any, rows: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Records one after the other."""
    records = game.states(len(rows))
    for i, row in enumerate(rows):
        records[i] = row[0]
    return records  # type: ignore[no-any-return]


def some(views: BatchView, rows: Any) -> BatchView:
    """Some rows of a batch."""
    records = copy_records(views.records[rows])
    words = views.words[rows]
    return BatchView(views.game, views.config, records, words, words, views.randoms[rows].copy())
