"""Worlds by how well they explain what has been played, for search.

All worlds that agree with the rules are equally likely only while nobody chooses. Here the others are taken for players who do what a
policy does, but for slips: a world's weight is ``slips`` to the power of the number of plays of the others that the policy would
not have made with the cards that they hold in it (of cards that touch and are worth the same any will do).

Such worlds are drawn by a Markov chain (Metropolis, Hastings): from a world on, two hands exchange a few hidden cards, or now and then
all cards are dealt anew, and the new world is taken with the chance of the ratio of the two weights, at most 1. The chain's worlds are
spread like the weights, neighbours resemble each other. What a seat would have done hangs on its own cards and on what all have seen. So
the states in which the others chose are kept, an exchange asks again only the two seats that it touches, and what came out for a hand is
remembered.

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
from trick_core.bots import View, random_bot
from trick_core.drivers import JitBot
from trick_core.episodes import check_seed
from trick_core.game import INT32, Game, check_integer, check_number
from trick_core.jit import entry, kernel, records
from trick_core.rng import SAMPLES, advance, below, mix, stream_key
from trick_core.rollouts import choice_of, jit_bot, playout_label

_S11 = np.uint64(11)
_UNIT = 2.0**-53

#: One proposal in so many deals all hidden cards anew.
ANEW = 16
#: The others exchange one to so many pairs of cards: more at once are seldom taken, fewer lead less far.
PAIRS = 3
#: Proposals before the first world and between two, unless somebody asks for others.
BURN, THIN = 200, 10
#: More slips than anybody can make: those of no world.
_NO_WORLD = 1 << 20

#: How a source draws worlds.
CHAIN = np.dtype(
    [
        (
            "slips",
            "f8",
        ),  # factor on a world's weight for a play that the policy would not make, 0..1
        ("burn", "i4"),  # proposals before the first world, from 1
        ("thin", "i4"),  # proposals between two worlds, from 1
        ("blind", "i1"),  # 1: the state does not tell its past, so all worlds are equally likely
        ("proposals", "i8"),  # proposals so far
        ("choices", "i8"),  # choices of the others to go back over
        ("slipped", "i8", (4,)),  # by seat, such plays in the chain's world
        ("proposed", "i8", (4,)),  # and in the one proposed
        ("age", "i8"),  # chains so far: what is remembered of others does not count
    ],
    align=True,
)

#: Hands of a seat that are remembered at a time, a power of two.
REMEMBERED = 1 << 12
_PLACES = np.uint64(REMEMBERED - 1)
#: What is remembered of a hand: as far as its owner's choices have been gone over.
MEMORY = np.dtype(
    [
        ("hand", "u8"),
        ("age", "i8"),  # the chain that it is of
        ("slips", "i4"),  # plays so far that the policy would not have made with it
        ("next", "i4"),  # the choice to go on with
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
    past: np.ndarray[Any, Any]  # (longest,) states in which the others chose
    chosen: np.ndarray[Any, Any]  # (longest,) int64: the actions that they took
    distinct: np.ndarray[Any, Any]  # (1, words) uint64
    memory: np.ndarray[Any, Any]  # (4, REMEMBERED) MEMORY, by seat and a hash of the hand


CURRENT, PROPOSED, REPLAY, SEEN = range(4)


def make_worlds(game: Game, slips: float = 0.0, burn: int = 0, thin: int = 0) -> Worlds:
    """What a thread needs."""
    assert game.belief is not None
    chain = records(1, CHAIN)
    chain["slips"], chain["burn"], chain["thin"] = slips, burn, thin
    longest = 0 if game.past is None else game.past.longest
    return Worlds(
        records(1, game.belief.work),
        chain,
        game.states(4),
        game.states(longest),
        np.zeros(longest, np.int64),
        np.zeros((1, game.mask_words), np.uint64),
        records(4 * REMEMBERED, MEMORY).reshape(4, REMEMBERED),
    )


def check_settings(slips: Any, burn: Any, thin: Any, where: str = "") -> None:
    """Refuse settings of CHAIN that are out of range; ``where`` begins the message.

    Raises:
        ValueError: One is.
    """
    if not 0 < check_number(f"{where}slips", slips) <= 1:
        raise ValueError(f"{where}slips: expected a factor above 0, at most 1; got {slips!r}")
    check_integer(f"{where}burn", burn, 1, INT32)
    check_integer(f"{where}thin", thin, 1, INT32)


class Source(NamedTuple):
    """Kernels that draw worlds for a view; its ``deal`` is an index into ``config``."""

    #: (config, view, seat, random, worlds) -> random: get ready.
    begin: Callable[..., Any]
    #: (config, view, seat, random, worlds) -> random: put the next world into ``worlds.states[PROPOSED]``.
    draw: Callable[..., Any]


def can_infer(game: Game, policy: JitBot) -> bool:
    """Whether a game tells its past, and the policy means something by what it plays."""
    return game.past is not None and game.endings is not None and policy != random_bot(game)


def weighs(game: Game, policy: JitBot, slips: float) -> bool:
    """Whether worlds are weighed by how well they explain the play: if a slip costs anything, and it can be told."""
    return slips < 1 and can_infer(game, policy)


def source_of(game: Game, policy: JitBot, infers: bool) -> Source:
    """Worlds by how well they explain the play, or all with the same chance."""
    return inferred(game, policy) if infers else uniform(game)


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
    """Worlds by how well they explain the play, if all play like a policy."""
    assert game.belief is not None and game.past is not None and game.endings is not None
    prepare, sample = game.belief.prepare, game.belief.sample
    past = game.past
    length, action_of, rewind, recall, exchange, hand_of = past[:6]
    step, distinct = game.kernels.step, game.endings.distinct
    choice = choice_of(game, policy)
    words = game.mask_words

    @kernel
    def propose(config, view, seat, random, worlds):
        """Put a world next to the chain's into PROPOSED; the random state, and the seats whose cards changed, a bit each."""
        states, chain = worlds.states, worlds.chain[0]
        if chain.blind != 0 or chain.proposals % ANEW == 0:
            states[PROPOSED] = view
            random = sample(config, states[PROPOSED], seat, random, worlds.belief[0])
            return random, 15 ^ (1 << seat)
        states[PROPOSED] = states[CURRENT]
        random = advance(random)
        pairs = 1 + below(mix(random), PAIRS)
        random = advance(random)
        one, other = exchange(config, states[PROPOSED], seat, mix(random), pairs)
        return random, 0 if one < 0 else (1 << one) | (1 << other)

    @kernel
    def is_told(config, seat, worlds):
        """Keep the states in which the others chose, and what they did. False if the past does not lead to the proposed world,
        as in states that were put together by hand.
        """
        states, chain = worlds.states, worlds.chain[0]
        states[REPLAY] = states[PROPOSED]
        st = states[REPLAY]
        rewind(config, st)
        chain.choices = 0
        for k in range(length(config, states[PROPOSED])):
            action = action_of(config, states[PROPOSED], k)
            if st.seat < 0 or action < 0:  # no point is left to fall, so no choice was one
                return action >= 0
            if (st.legal[action >> 6] >> np.uint64(action & 63)) & ONE == ZERO:
                return False
            if st.seat != seat:
                worlds.past[chain.choices] = st
                worlds.chosen[chain.choices] = action
                chain.choices += 1
            step(config, st, action)
        return st.seat == states[PROPOSED].seat

    @kernel
    def number_of(action, sets):
        """How many of the actions of ``sets`` have lower or equal ids: like actions have the same number."""
        word = action >> 6
        count = popcount(sets[0, word] << np.uint64(63 - (action & 63)))
        for lower in range(word):
            count += popcount(sets[0, lower])
        return count

    @kernel
    def is_slip(config, k, worlds):
        """Whether the policy would not have made choice ``k`` in the proposed world."""
        st = worlds.past[k]
        recall(config, st, worlds.states[PROPOSED])
        count = 0
        for word in range(words):
            count += popcount(st.legal[word])
        if count <= 1:
            return False
        seen = worlds.states[SEEN : SEEN + 1]
        meant = choice(np.int64(0), config, worlds.past, k, seen, ONE)
        if meant == worlds.chosen[k]:
            return False
        distinct(config, st, worlds.distinct, 0)
        return number_of(meant, worlds.distinct) != number_of(worlds.chosen[k], worlds.distinct)

    @kernel
    def slips_of(config, seat, most, worlds):
        """Count a seat's slips with its hand in the proposed world, but no further than to more than ``most``."""
        chain = worlds.chain[0]
        hand = hand_of(worlds.states[PROPOSED], seat)
        known = worlds.memory[seat, mix(hand) & _PLACES]
        if known.hand != hand or known.age != chain.age:
            known.hand = hand
            known.age = chain.age
            known.slips = 0
            known.next = 0
        while known.slips <= most and known.next < chain.choices:
            known.next += 1
            k = chain.choices - known.next  # the latest first: fewest cards to choose from
            if worlds.past[k].seat == seat and is_slip(config, np.int64(k), worlds):
                known.slips += 1
        return known.slips

    @kernel
    def count_slips(config, changed, most, worlds):
        """Count the slips of the seats that changed in the proposed world, but no further than to more than ``most``."""
        chain = worlds.chain[0]
        total = np.int64(0)
        for seat in range(4):
            if (changed >> seat) & 1:
                chain.proposed[seat] = slips_of(config, seat, most - total, worlds)
                total += chain.proposed[seat]
                if total > most:
                    break
        return total

    @kernel
    def walk(config, view, seat, random, steps, worlds):
        states, chain = worlds.states, worlds.chain[0]
        for _ in range(steps):
            random, changed = propose(config, view, seat, random, worlds)
            if chain.proposals == 0 and not is_told(config, seat, worlds):
                chain.blind = 1
                break
            chain.proposals += 1
            if changed == 0:
                continue
            most = np.int64(0)
            for other in range(4):
                if (changed >> other) & 1:
                    most += chain.slipped[other]
            random = advance(random)
            unit = (float(mix(random) >> _S11) + 0.5) * _UNIT
            most += np.int64(math.log(unit) / math.log(chain.slips))
            if count_slips(config, changed, most, worlds) <= most:
                states[CURRENT] = states[PROPOSED]
                for other in range(4):
                    if (changed >> other) & 1:
                        chain.slipped[other] = chain.proposed[other]
        return random

    @kernel
    def begin(config, view, seat, random, worlds):
        chain = worlds.chain[0]
        chain.blind = 0
        chain.age += 1
        chain.proposals = 0
        for other in range(4):
            chain.slipped[other] = _NO_WORLD
        prepare(config, view, seat, worlds.belief[0])
        return random

    @kernel
    def draw(config, view, seat, random, worlds):
        chain = worlds.chain[0]
        if chain.blind == 0:
            steps = chain.burn if chain.proposals == 0 else chain.thin
            random = walk(config, view, seat, random, steps, worlds)
        if chain.blind != 0:
            random, _ = propose(config, view, seat, random, worlds)
        else:
            worlds.states[PROPOSED] = worlds.states[CURRENT]
        return random

    return Source(begin, draw)


@functools.cache
def sampler(game: Game, policy: JitBot, infers: bool) -> Callable[..., None]:
    """Entry ``(config, views, seat, seed, work, out)``: fill ``out`` with worlds of ``views[0]`` from :func:`source_of`."""
    begin, draw = source_of(game, policy, infers)
    label, kind = playout_label((policy,)), "weighed" if infers else "equal"
    name = None if label is None else f"{game.name}.likely-worlds.{kind}.{label}"

    @entry(name, [str(game.folder), policy.folder, __file__])
    def draw_worlds(config, views, seat, seed, work, out):
        random = begin(
            config, views[0], seat, stream_key(np.uint64(seed), np.uint64(0), SAMPLES), work
        )
        for i in range(out.shape[0]):
            random = draw(config, views[0], seat, random, work)
            out[i] = work.states[PROPOSED]

    return draw_worlds


def likely_worlds(
    view: View,
    n: int,
    seed: int | None = None,
    *,
    policy: str = "greedy",
    slips: float = 0.05,
    burn: int = BURN,
    thin: int = THIN,
) -> np.ndarray[Any, Any]:
    """Full states that agree with a view, as often as they explain what the others have played.

    They come from one chain, so neighbours resemble each other, the less the larger ``thin`` is. A state that was put together by hand and
    does not tell its past gets worlds with equal chances.

    Args:
        view: What the seat on turn sees.
        n: How many.
        seed: Non-negative integer; the same seed, the same worlds. None: the view's ``random``.
        policy: The bot that the others are taken for; it needs a kernel.
        slips: Factor on a world's weight for each play of the others that the policy would not have made in it, above 0; 1: all are
            equally likely.
        burn: Proposals before the first world, from 1.
        thin: Proposals between two worlds, from 1.

    Returns:
        State records (n,), each with all hands and ready for the game's ``step``.

    Raises:
        TypeError: Not a view.
        ValueError: A bad number, seed, setting or policy; a game that does not tell its past; or a seat that is not on turn.
    """
    if not isinstance(view, View):
        raise TypeError(f"expected a View, got {type(view).__name__}")
    game = view.game
    check_integer("n", n, 0)
    check_settings(slips, burn, thin)
    word = view.random if seed is None else check_seed(seed)
    player = jit_bot(game, policy)
    if game.past is None:
        raise ValueError(
            f"{game.name} does not tell its past; trick_core.belief.worlds draws with equal chances"
        )
    if not can_infer(game, player):
        raise ValueError(f"policy: {policy!r} means nothing by what it plays")
    if int(view.record["seat"][0]) != view.seat:
        raise ValueError(f"view: seat {view.seat} is not on turn")
    work, out = make_worlds(game, slips, burn, thin), game.states(int(n))
    draw = sampler(game, player, weighs(game, player, slips))
    draw(view.config, view.record, np.int64(view.seat), np.uint64(word), work, out)
    return out
