"""Worlds by how well they explain what has been played, for search.

All worlds that agree with the rules are equally likely only while nobody chooses. Here the others are taken for players who do what a
policy does, but for slips: of n different actions each may be a slip with the chance ``slips / n``. A world's weight is the
likelihood of all that the others have done in the deal so far, if they held what it says (cards that touch and are
worth the same count as one action).

Such worlds are drawn by a Markov chain (Metropolis, Hastings): from a world on, two hidden cards change hands, or now and then all
cards are dealt anew, and the new world is taken with the chance of the ratio of the two weights, at most 1. The chain's worlds are
spread like the weights, neighbours resemble each other. What a seat would have done hangs on its own cards and on what all have seen, so
a swap asks again only the two seats that it touches.

Sources: Hastings, "Monte Carlo sampling methods using Markov chains and their applications", Biometrika 57, 1970; inference from play:
Ginsberg, "GIB", JAIR 14, 2001; Rebstock et al., "Policy based inference in trick-taking card games", IEEE CoG 2019.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trick_core.bits import ONE, ZERO, popcount
from trick_core.drivers import JitBot
from trick_core.game import Game
from trick_core.jit import kernel, records
from trick_core.rng import advance, below, mix
from trick_core.rollouts import choice_of

_S11 = np.uint64(11)
_UNIT = 2.0**-53

#: One proposal in so many deals all hidden cards anew.
ANEW = 16

#: How a source draws worlds.
CHAIN = np.dtype(
    [
        ("slips", "f8"),  # chance that a player does not do what the policy does, 0..1
        ("burn", "i4"),  # proposals before the first world
        ("thin", "i4"),  # proposals between two worlds
        ("likelihood", "f8", (4,)),  # logarithms, by seat, of the chain's world
        ("blind", "i1"),  # 1: the state does not tell its past, so all worlds are equally likely
    ],
    align=True,
)


class Worlds(NamedTuple):
    """What a source of worlds works in."""

    belief: np.ndarray[Any, Any]  # (1,) the belief's
    chain: np.ndarray[Any, Any]  # (1,) CHAIN
    states: np.ndarray[
        Any, Any
    ]  # (4,) the chain's world; the one proposed; a replay; what the policy sees in it
    distinct: np.ndarray[Any, Any]  # (1, words) uint64


CURRENT, PROPOSED, REPLAY, SEEN = range(4)


def make_worlds(game: Game, slips: float = 0.0, burn: int = 0, thin: int = 0) -> Worlds:
    """What a thread needs."""
    assert game.belief is not None
    chain = records(1, CHAIN)
    chain["slips"], chain["burn"], chain["thin"] = slips, burn, thin
    return Worlds(
        records(1, game.belief.work),
        chain,
        game.states(4),
        np.zeros((1, game.mask_words), np.uint64),
    )


class Source(NamedTuple):
    """Kernels that draw worlds for a view; ``config`` has its deal alone."""

    #: (config, view, seat, random, worlds) -> random: get ready.
    begin: Callable[..., Any]
    #: (config, view, seat, random, worlds) -> random: put the next world into ``worlds.states[PROPOSED]``.
    draw: Callable[..., Any]


def can_infer(game: Game) -> bool:
    """Whether a game tells its past, so that there is something to infer from."""
    return game.past is not None and game.endings is not None


@functools.cache
def uniform(game: Game) -> Source:
    """Every world with the same chance."""
    assert game.belief is not None
    prepare, sample = game.belief.prepare, game.belief.sample

    @kernel
    def begin(config, view, seat, random, worlds):
        prepare(config, view, seat, worlds.belief[0])
        return random

    @kernel
    def draw(config, view, seat, random, worlds):
        worlds.states[PROPOSED] = view
        return sample(config, worlds.states[PROPOSED], seat, random, worlds.belief[0])

    return Source(begin, draw)


@functools.cache
def inferred(game: Game, policy: JitBot) -> Source:
    """Worlds by their likelihood under a policy."""
    assert game.belief is not None and game.past is not None and game.endings is not None
    prepare, sample = game.belief.prepare, game.belief.sample
    length, action_of, rewind, exchange = (
        game.past.length,
        game.past.action,
        game.past.rewind,
        game.past.exchange,
    )
    step, distinct = game.kernels.step, game.endings.distinct
    choice = choice_of(game, policy)
    words = game.mask_words

    @kernel
    def number_of(action, sets):
        """How many of the actions of ``sets`` have lower or equal ids: like actions have the same number."""
        word = action >> 6
        count = popcount(sets[0, word] << np.uint64(63 - (action & 63)))
        for lower in range(word):
            count += popcount(sets[0, lower])
        return count

    @kernel
    def likelihood(config, one, other, floor, worlds):
        """Logarithms of the likelihood of what two seats did in the world proposed; they may be cut off where their sum is below
        ``floor``.
        """
        states, sets = worlds.states, worlds.distinct
        slips = worlds.chain[0].slips
        states[REPLAY] = states[PROPOSED]
        st = states[REPLAY]
        rewind(config, st)
        seen = states[SEEN : SEEN + 1]
        first, second = 0.0, 0.0
        for k in range(length(config, states[PROPOSED])):
            action = action_of(config, states[PROPOSED], k)
            if st.seat == one or st.seat == other:
                distinct(config, st, sets, 0)
                count = 0
                for word in range(words):
                    count += popcount(sets[0, word])
                if count > 1:
                    meant = choice(np.int64(0), config, states, np.int64(REPLAY), seen, ONE)
                    chance = slips / count
                    if number_of(meant, sets) == number_of(action, sets):
                        chance += 1.0 - slips
                    if st.seat == one:
                        first += math.log(chance)
                    else:
                        second += math.log(chance)
                    if first + second < floor:
                        break
            step(config, st, action)
            if st.seat < 0:  # no point is left to fall, so no choice was one
                break
        return first, second

    @kernel
    def is_told(config, worlds):
        """Whether the past that the proposed world tells leads to it; it need not in states that were put together by hand."""
        states = worlds.states
        states[REPLAY] = states[PROPOSED]
        st = states[REPLAY]
        rewind(config, st)
        for k in range(length(config, states[PROPOSED])):
            action = action_of(config, states[PROPOSED], k)
            if action < 0 or st.seat < 0:
                return action >= 0
            if (st.legal[action >> 6] >> np.uint64(action & 63)) & ONE == ZERO:
                return False
            step(config, st, action)
        return st.seat == states[PROPOSED].seat

    @kernel
    def weigh_all(config, seat, worlds):
        """The likelihoods of the three others, in play order, in the world proposed."""
        one, other, third = (seat + 1) & 3, (seat + 2) & 3, (seat + 3) & 3
        first, second = likelihood(config, one, other, -math.inf, worlds)
        rest, _ = likelihood(config, third, third, -math.inf, worlds)
        return first, second, rest

    @kernel
    def accept(seat, first, second, third, worlds):
        worlds.states[CURRENT] = worlds.states[PROPOSED]
        worlds.chain[0].likelihood[(seat + 1) & 3] = first
        worlds.chain[0].likelihood[(seat + 2) & 3] = second
        worlds.chain[0].likelihood[(seat + 3) & 3] = third

    @kernel
    def deal_anew(config, view, seat, random, sure, worlds):
        """Propose an independent world; ``sure``: take it in any case."""
        states, known = worlds.states, worlds.chain[0].likelihood
        states[PROPOSED] = view
        random = sample(config, states[PROPOSED], seat, random, worlds.belief[0])
        first, second, third = weigh_all(config, seat, worlds)
        now = known[(seat + 1) & 3] + known[(seat + 2) & 3] + known[(seat + 3) & 3]
        random = advance(random)
        if sure or first + second + third >= now + log_unit(random):
            accept(seat, first, second, third, worlds)
        return random

    @kernel
    def log_unit(random):
        """The logarithm of a number between 0 and 1."""
        return math.log((float(mix(random) >> _S11) + 0.5) * _UNIT)

    @kernel
    def swap(config, seat, random, worlds):
        """Propose that two hidden cards change places."""
        states, known = worlds.states, worlds.chain[0].likelihood
        states[PROPOSED] = states[CURRENT]
        random = advance(random)
        one, other = exchange(config, states[PROPOSED], seat, mix(random))
        if one < 0:
            return random
        random = advance(random)
        now = known[one & 3] + (0.0 if other == one else known[other & 3])
        floor = now + log_unit(random)
        first, second = likelihood(config, one, other, floor, worlds)
        if first + second >= floor:
            states[CURRENT] = states[PROPOSED]
            known[one & 3] = first
            if other != one:
                known[other & 3] = second
        return random

    @kernel
    def walk(config, view, seat, random, steps, worlds):
        for _ in range(steps):
            random = advance(random)
            if below(mix(random), ANEW) == 0:
                random = deal_anew(config, view, seat, random, False, worlds)
            else:
                random = swap(config, seat, random, worlds)
        return random

    @kernel
    def begin(config, view, seat, random, worlds):
        prepare(config, view, seat, worlds.belief[0])
        worlds.states[PROPOSED] = view
        random = sample(config, worlds.states[PROPOSED], seat, random, worlds.belief[0])
        worlds.chain[0].blind = 0 if is_told(config, worlds) else 1
        if worlds.chain[0].blind:
            return random
        random = deal_anew(config, view, seat, random, True, worlds)
        return walk(config, view, seat, random, worlds.chain[0].burn, worlds)

    @kernel
    def draw(config, view, seat, random, worlds):
        if worlds.chain[0].blind:
            worlds.states[PROPOSED] = view
            return sample(config, worlds.states[PROPOSED], seat, random, worlds.belief[0])
        random = walk(config, view, seat, random, worlds.chain[0].thin, worlds)
        worlds.states[PROPOSED] = worlds.states[CURRENT]
        return random

    return Source(begin, draw)
