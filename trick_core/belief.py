"""Hidden hands for research and for search: how many worlds a seat must reckon with, worlds drawn with equal chances, and who holds what.

All of it starts from a :class:`~trick_core.bots.View`: the one that a bot is handed, or that of any seat at any time from
:func:`view_of`. Inside kernels use ``game.belief`` (:class:`trick_core.game.Belief`) itself.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trick_core.bots import View
from trick_core.drivers import table_drivers
from trick_core.episodes import check_seed
from trick_core.game import Belief, Game, Setup, check_seat, check_states
from trick_core.jit import copy_records, entry, records
from trick_core.rng import SAMPLES, stream_key
from trick_core.worlds import PILE

#: Row of :func:`probabilities` for the cards aside.
ASIDE = 4
_NONE = np.uint64(0)
#: What a game lays out of the cards; see :func:`trick_core.worlds.work_dtype`.
_LAID_OUT = ("own", "aside", "unseen", "may", "marked", "single")


def view_of(
    setup: Setup, states: np.ndarray[Any, Any], i: int = 0, seat: int | None = None
) -> View:
    """What a seat may see of a table, whether or not it is on turn.

    Args:
        setup: The table's setup (``env.setup``).
        states: State records with all hands (``env.states``).
        i: Which of them.
        seat: The seat; None: the one on turn.

    Returns:
        A view of a copy. Off turn it has no legal actions; its ``random`` is 0.

    Raises:
        ValueError: No such table or seat, nobody is on turn, or states of another game, or of a deal that the setup does not have.
    """
    check_states("states", states, setup.game, setup.config)
    whole = isinstance(i, (int, np.integer)) and not isinstance(i, bool)
    if not whole or not 0 <= i < len(states):
        raise ValueError(f"i: expected 0..{len(states) - 1}, got {i!r}")
    seat = int(states["seat"][i]) if seat is None else check_seat("seat", seat)
    if seat < 0:
        raise ValueError("seat: nobody is on turn, say whose view it is to be")
    record = setup.game.states(1)
    table_drivers(setup.game).view(setup.config, states, i, seat, record, 0)
    view = View(setup.game, setup.config, record, 0)
    view.seat = seat
    return view


def count_worlds(view: View) -> float:
    """The number of worlds that agree with a view: ways to share out the cards that its seat has not seen.

    Exact up to 2**53, beyond that to some 15 digits.

    Raises:
        TypeError: Not a view.
        ValueError: The game has no belief, or no world agrees with the view (a record that no play leads to).
    """
    belief, drivers = _of(view)
    return _counted(view, drivers, records(1, belief.work))


def worlds(view: View, n: int, seed: int | None = None) -> np.ndarray[Any, Any]:
    """Full states that agree with a view, drawn with equal chances and independently.

    Args:
        view: What the seat sees.
        n: How many.
        seed: Non-negative integer; the same seed, the same worlds. None: the view's ``random``.

    Returns:
        State records (n,), each with all hands and ready for the game's ``step``. Where another seat is on turn, its
        legal actions are those of its hand in that world.

    Raises:
        TypeError: Not a view.
        ValueError: A bad number or seed, or as for :func:`count_worlds`.
    """
    belief, drivers = _of(view)
    if isinstance(n, (bool, np.bool_)) or not isinstance(n, (int, np.integer)) or n < 0:
        raise ValueError(f"n: expected a number of worlds, got {n!r}")
    word = view.random if seed is None else check_seed(seed)
    work, out = records(1, belief.work), view.game.states(int(n))
    _counted(view, drivers, work)
    drivers.draw(view.config, view.record, view.seat, np.uint64(word), work, out)
    return out


def probabilities(view: View) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Who holds what: the share of the worlds in which a card lies there, by counting, not by sampling.

    Returns:
        float64 (4, cards), by absolute seat and card id; in games that lay cards aside (5, cards), the last row for these. The
        column of a played card is 0, any other sums to 1.

    Raises:
        TypeError: Not a view.
        ValueError: As for :func:`count_worlds`.
    """
    belief, drivers = _of(view)
    work = records(1, belief.work)
    number = _counted(view, drivers, work)
    out = np.zeros((5 if belief.pile else 4, sum(belief.sizes)))
    laid = {name: work[name][0].tolist() for name in _LAID_OUT}
    alike: dict[Any, list[float]] = {}  # chances by place, of cards that nothing tells apart
    card = 0
    for word, size in enumerate(belief.sizes):
        for i in range(size):
            if laid["own"][word] >> i & 1:
                out[view.seat, card] = 1.0
            elif laid["aside"][word] >> i & 1:
                out[ASIDE, card] = 1.0
            elif laid["unseen"][word] >> i & 1:
                places = tuple(may[word] >> i & 1 for may in laid["may"])
                single = card if laid["single"][word] >> i & 1 else None
                key = places, laid["marked"][word] >> i & 1, single
                if key not in alike:
                    pin = [_NONE, _NONE]
                    pin[word] = np.uint64(1 << i)
                    alike[key] = [
                        drivers.count(view.config, view.record, view.seat, place, *pin, work)
                        / number
                        for place in range(4 if belief.pile else 3)
                    ]
                for place, chance in enumerate(alike[key]):
                    out[ASIDE if place == PILE else (view.seat + 1 + place) % 4, card] = chance
            card += 1
    return out


def after(view: View, states: np.ndarray[Any, Any], action: int) -> np.ndarray[Any, Any]:
    """The states that an action leads to, one from each: what a search compares.

    Args:
        view: The view that the states are worlds of; its configuration says what the rules are.
        states: Full states (n,), as from :func:`worlds`; they stay as they are.
        action: Id of an action of the seat on turn.

    Returns:
        State records (n,). Their field ``gain`` holds what the action gave each seat, in the game's unit (``game.unit`` points).

    Raises:
        TypeError: Not a view.
        ValueError: No states of the game, or one of a deal that the configuration does not have, or the action is not legal in one of them.
    """
    game = view.game
    _, drivers = _of(view)
    check_states("states", states, game, view.config)
    if isinstance(action, (bool, np.bool_)) or not isinstance(action, (int, np.integer)):
        raise ValueError(f"action: expected the id of an action, got {action!r}")
    if not 0 <= action < game.num_actions:
        raise ValueError(f"action: expected 0..{game.num_actions - 1}, got {action}")
    legal = np.asarray(states["legal"])[:, action // 64] >> np.uint64(action % 64) & np.uint64(1)
    if not legal.all():
        i = int(np.flatnonzero(legal == 0)[0])
        raise ValueError(f"action: {game.actions[action]} is not legal in states[{i}]")
    following = copy_records(states)
    drivers.follow(view.config, following, int(action))
    return following


class _Drivers(NamedTuple):
    #: (config, views, seat, place, card_0, card_1, work) -> float64: number of worlds with a card at a place; -1: any card anywhere.
    count: Callable[..., Any]
    #: (config, views, seat, seed, work, out): fill ``out`` with worlds of those counted.
    draw: Callable[..., Any]
    #: (config, states, action): take a legal action in each of the states.
    follow: Callable[..., Any]


@functools.cache
def _drivers(game: Game) -> _Drivers:
    """The belief of a game as functions that Python calls."""
    belief = game.belief
    assert belief is not None
    count, sample, step = belief.count, belief.sample, game.kernels.step

    def mark(name: str) -> Callable[[Any], Any]:
        return entry(f"{game.name}.belief.{name}", [game.folder])

    @mark("count")
    def count_pinned(config, views, seat, place, card_0, card_1, work):
        return count(config, views[0], seat, place, card_0, card_1, work[0])

    @mark("draw")
    def draw(config, views, seat, seed, work, out):
        random = stream_key(np.uint64(seed), np.uint64(0), SAMPLES)
        for i in range(out.shape[0]):
            out[i] = views[0]
            random = sample(config, out[i], seat, random, work[0])

    @mark("follow")
    def follow(config, states, action):
        for i in range(states.shape[0]):
            step(config, states[i], action)

    return _Drivers(count_pinned, draw, follow)


def _of(view: View) -> tuple[Belief, _Drivers]:
    if not isinstance(view, View):
        raise TypeError(
            f"expected a View, got {type(view).__name__}; view_of(setup, states) makes one"
        )
    belief = view.game.belief
    if belief is None:
        raise ValueError(f"{view.game.name} has no belief")
    return belief, _drivers(view.game)


def _counted(view: View, drivers: _Drivers, work: np.ndarray[Any, Any]) -> float:
    number = float(drivers.count(view.config, view.record, view.seat, -1, _NONE, _NONE, work))
    if number < 1.0:
        raise ValueError("no world agrees with the view: its record is not one that play leads to")
    return number
