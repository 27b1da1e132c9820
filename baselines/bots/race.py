"""The race between the actions of one decision, all tried in the same worlds.

Sums of the actions' values over the worlds, and of products of the values of two, say how far one is ahead of another and how sure that
is: in the same worlds the luck of the cards is the same for both. After every round of worlds, once ``least`` have been tried, the actions that are worse than
the best one by more than chance explains are dropped, and so are those that came out like it in every world: the worlds that are
left serve the contested ones.

Source: Maron and Moore, "Hoeffding races", NIPS 1993, here with a normal bound on paired differences.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from baselines.bots.search import distinct_of, list_actions
from trick_core.bits import ZERO
from trick_core.game import Game
from trick_core.jit import kernel, records

#: Worlds in a round, after which actions may be dropped.
ROUND = 16

#: How a race stands.
TALLY = np.dtype(
    [
        ("actions", "i8"),  # actions in it
        ("worlds", "i8"),  # worlds in which they have been tried
        ("drop", "f8"),  # standard errors by which an action must be worse to be dropped
        ("least", "i8"),  # worlds before any is
    ],
    align=True,
)


class Race(NamedTuple):
    """A race; A is the game's number of actions. Of the arrays by place, the first ``tally.actions`` places count."""

    tally: np.ndarray[Any, Any]  # (1,) TALLY
    actions: np.ndarray[Any, Any]  # (A,) int64: actions still in the race, ascending
    values: np.ndarray[Any, Any]  # (A,) float64: by place, their values in one world, in units
    bonus: np.ndarray[Any, Any]  # (A,) float64: by place, what is added to their means, in units
    sums: np.ndarray[Any, Any]  # (A,) float64: by place, sums of their values over all worlds
    products: np.ndarray[Any, Any]  # (A, A) float64: sums of products of the values of two, b <= a
    bonuses: np.ndarray[Any, Any]  # (n, A) float64: for n decisions, the bonus of every action
    sets: np.ndarray[Any, Any]  # (2, words) uint64: sets of actions to work with


def make_race(game: Game, drop: float, bonuses: np.ndarray[Any, Any], least: int = 0) -> Race:
    """A race for one thread, for decisions with these bonuses, (n, A) in units; ``drop`` and ``least`` as in :data:`TALLY`."""
    count = game.num_actions
    tally = records(1, TALLY)
    tally["drop"], tally["least"] = drop, least
    return Race(
        tally=tally,
        actions=np.zeros(count, np.int64),
        values=np.zeros(count),
        bonus=np.zeros(count),
        sums=np.zeros(count),
        products=np.zeros((count, count)),
        bonuses=bonuses,
        sets=np.zeros((2, game.mask_words), np.uint64),
    )


@functools.cache
def entrance(game: Game) -> Callable[..., Any]:
    """Kernel ``(config, view, i, random, world, belief, race)``: begin decision ``i`` with the actions worth trying.

    Of cards that are alike in some worlds only the lowest is entered; where all cards are in play, they are so in all. ``belief`` is
    prepared for the view, ``world`` a state to work in.
    """
    assert game.belief is not None
    sample, distinct, words = game.belief.sample, distinct_of(game), game.mask_words
    # Of cards that lie aside, some worlds know more than others.
    num_worlds = 8 if game.belief.pile else 1

    @kernel
    def enter_distinct(
        config: Any, view: Any, i: Any, random: Any, world: Any, belief: Any, race: Any
    ) -> Any:
        kept, found = race.sets[0], race.sets[1]
        for w in range(words):
            kept[w] = ZERO
        for _ in range(num_worlds):
            world[0] = view
            random = sample(config, world[0], view.seat, random, belief)
            distinct(config, world[0], race.sets, 1)
            for w in range(words):
                kept[w] |= found[w]
        enter(kept, i, race)

    return enter_distinct


@kernel
def enter(words: Any, i: Any, race: Any) -> Any:
    """Begin decision ``i`` with a set of actions, of which ``words`` (uint64) holds the bits."""
    tally = race.tally[0]
    tally.actions = list_actions(words, race.actions)
    tally.worlds = 0
    for a in range(tally.actions):
        race.bonus[a] = race.bonuses[i, race.actions[a]]
        race.sums[a] = 0.0
        for b in range(a + 1):
            race.products[a, b] = 0.0


@kernel
def add_world(race: Any) -> Any:
    """Add the ``values`` in one more world; at the end of a round drop the beaten actions."""
    tally, values = race.tally[0], race.values
    for a in range(tally.actions):
        race.sums[a] += values[a]
        for b in range(a + 1):
            race.products[a, b] += values[a] * values[b]
    tally.worlds += 1
    if tally.worlds % ROUND == 0 and tally.worlds >= tally.least:
        drop_beaten(race)


@kernel
def lead(a: Any, b: Any, race: Any) -> Any:
    """By how much an action's sum over all worlds, bonuses included, is above another's."""
    return race.sums[a] - race.sums[b] + race.tally[0].worlds * (race.bonus[a] - race.bonus[b])


@kernel
def leader(race: Any) -> Any:
    """Place of the action with the highest mean, the first of equals."""
    best = 0
    for a in range(1, race.tally[0].actions):
        if lead(a, best, race) > 0.0:
            best = a
    return best


@kernel
def is_beaten(a: Any, best: Any, race: Any) -> Any:
    """Whether an action is worse than the best one for sure, or came out like it in every world."""
    if a == best:
        return False
    tally, products = race.tally[0], race.products
    worlds = float(tally.worlds)
    gap = race.sums[best] - race.sums[a]
    behind = lead(best, a, race)
    both = products[max(a, best), min(a, best)]
    squares = products[best, best] + products[a, a] - 2.0 * both  # of the differences
    if squares < 1e-6:
        return True
    variance = max(squares - gap * gap / worlds, 0.0) * worlds / (worlds - 1.0)  # of their sum
    return behind * behind > tally.drop * tally.drop * variance


@kernel
def drop_beaten(race: Any) -> Any:
    """Take the beaten actions out of the race."""
    tally, dropped = race.tally[0], race.values
    best = leader(race)
    for a in range(tally.actions):
        dropped[a] = 1.0 if is_beaten(a, best, race) else 0.0
    place = 0
    for a in range(tally.actions):
        if dropped[a] != 0.0:
            continue
        column = 0
        for b in range(a + 1):
            if dropped[b] == 0.0:
                race.products[place, column] = race.products[a, b]
                column += 1
        race.actions[place] = race.actions[a]
        race.bonus[place] = race.bonus[a]
        race.sums[place] = race.sums[a]
        place += 1
    tally.actions = place
