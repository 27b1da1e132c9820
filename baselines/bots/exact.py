"""Endings played out in full: what each action is worth when all hands are open.

Two ways to say what the others want:

* ``"game"``: everybody plays for his own side. Where every seat is a side (Bolola) that is max^n (Luckhardt, Irani, "An algorithmic
  solution of n-person games", AAAI 1986): the seat on turn takes what gives *it* the most. All seats together get what is left in
  the deal, so most for itself is also most over the table's mean. Where there are two sides (Tarot) it is minimax, searched with
  alpha and beta.
* ``"paranoid"``: the seat on turn at the start against all others, who do their best to give it the least; a lower bound on what
  the seat can be sure of. With two sides it is the same as ``"game"``.

**Ties.** In max^n it matters which of several equally good actions a seat takes, since the others are not indifferent. Here it takes the
one with the lowest id, always; so every position has one value, which also lets positions be kept in a table.

What makes it fast: of touching cards of equal worth only the lowest is tried (:class:`trick_core.game.Endings`); positions between tricks
are looked up in a hash table (64-bit keys: two positions are taken for one with a chance of some 1e-10 a million positions); a seat
that cannot do better any more tries nothing else, and in max^n where only gains are left a branch is given up
when it cannot beat what its parent has (shallow pruning: Korf, "Multi-player alpha-beta pruning", Artificial Intelligence 48, 1991); forced cards are
played without a node. All of this leaves values and choices as they are.

A state is a record and a copy of it a position, so the search is a loop over an array of records: no recursion, and
nothing allocated.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trick_core.bits import ONE, ZERO, lowest, popcount, words_to_bits
from trick_core.game import INT64, NUM_SEATS, Endings, Game, Setup, check_integer, check_states
from trick_core.jit import copy_records, entry, kernel, records
from trick_core.rng import advance, mix

MODELS = ("game", "paranoid")

#: One position on the way from the root.
FRAME = np.dtype(
    [
        ("key", "u8"),  # its key in the table; 0: none
        ("value", "i4", (4,)),  # what each seat gets from here on, by the best action so far
        ("gain", "i4", (4,)),  # what each seat got on the way here from the frame before
        ("least", "i4"),  # bounds on what a seat can get from here on
        ("most", "i4"),
        ("best", "i4"),  # best action so far; -1: none
        ("trying", "i4"),  # action that is being tried
        ("seat", "i1"),  # seat on turn
        # With two sides, what the first gets from here on:
        ("worth", "i4"),  # by the best action so far
        ("got", "i4"),  # on the way here from the frame before
        ("alpha", "i4"),  # it can be sure of that much elsewhere
        ("beta", "i4"),  # and the other side can keep it to that much
        ("window", "i4"),  # alpha, or for the other side beta, as it was at first
    ],
    align=True,
)

#: One position kept.
SLOT = np.dtype(
    [
        ("key", "u8"),  # 0: empty
        ("value", "i4", (4,)),  # as in FRAME; with two sides: worth, and which kind of bound it is
        ("best", "i4"),  # the action
    ],
    align=True,
)

_EXACT, _AT_LEAST, _AT_MOST = 0, 1, 2
_INFINITY = 1 << 28

#: Tricks that are solved at most.
MAX_TRICKS = 18
TABLE_BITS = 16


class Work(NamedTuple):
    """The arrays that a solver works in; one for each thread. What they hold does not change a result."""

    states: np.ndarray[Any, Any]  # (4 * MAX_TRICKS + 2,) states on the way from the root
    frames: np.ndarray[Any, Any]  # the same number of FRAME
    moves: np.ndarray[
        Any, Any
    ]  # the same number of sets of actions not tried yet, uint64 (., words)
    table: np.ndarray[Any, Any]  # (2**bits,) SLOT
    history: np.ndarray[Any, Any]  # (4, A) int32: how often an action of a seat cut a branch off
    salt: np.ndarray[Any, Any]  # (1,) uint64: what keys are mixed with; new for every root
    me: np.ndarray[Any, Any]  # (1,) int64: the seat that the paranoid model favours


def make_work(game: Game, bits: int = TABLE_BITS) -> Work:
    """Arrays for a solver of a game; the table holds ``2**bits`` positions."""
    size = 4 * MAX_TRICKS + 2
    return Work(
        game.states(size),
        records(size, FRAME),
        np.zeros((size, game.mask_words), np.uint64),
        records(1 << bits, SLOT),
        np.zeros((4, game.num_actions), np.int32),
        np.zeros(1, np.uint64),
        np.zeros(1, np.int64),
    )


def endings_of(game: Game) -> Endings:
    """What a solver needs of a game.

    Raises:
        ValueError: The game has nothing of the kind.
    """
    if game.endings is None:
        raise ValueError(
            f"the last tricks of {game.name} cannot be solved: the game has no endings"
        )
    return game.endings


class Solver(NamedTuple):
    """Kernels that solve positions of one game by one model. In ``config`` there is one deal, and ``deal`` is 0 in the states."""

    #: (config, work, limit) -> int64: solve ``work.states[0]``; positions seen, or -1 if they would be more than ``limit``.
    #: The best action is then ``work.frames[0].best``.
    solve: Callable[..., Any]
    #: (config, work, out, i): add what each seat gets from the solved position on to row ``i`` of ``out``, in units.
    add_value: Callable[..., Any]


@functools.cache
def solver(game: Game, model: str = "game") -> Solver:
    """The solver of a game.

    Raises:
        ValueError: The game's endings cannot be solved, or there is no such model.
    """
    if model not in MODELS:
        raise ValueError(f"model: expected one of {', '.join(map(repr, MODELS))}; got {model!r}")
    if endings_of(game).num_sides == 4 and model == "game":
        return _max_n(game)
    return _two_sides(game, model)


@functools.cache
def _common(game: Game) -> Any:
    step = game.kernels.step
    endings = endings_of(game)
    distinct, key = endings.distinct, endings.key
    words = game.mask_words

    @kernel
    def pop_lowest(moves, i):
        """Take the lowest action out of a set; -1 if there is none."""
        for word in range(words):
            if moves[i, word] != ZERO:
                action = 64 * word + lowest(moves[i, word])
                moves[i, word] &= moves[i, word] - ONE
                return np.int64(action)
        return np.int64(-1)

    @kernel
    def is_single(moves, i):
        count = 0
        for word in range(words):
            count += popcount(moves[i, word])
        return count == 1

    @kernel
    def move_on(config, work, depth, action):
        """Put the position after ``action`` at ``depth + 1``, forced actions taken too, and what they gave in ``gain``.

        Whether the deal goes on.
        """
        work.states[depth + 1] = work.states[depth]
        st = work.states[depth + 1]
        frame = work.frames[depth + 1]
        for seat in range(4):
            frame.gain[seat] = 0
        while True:  # in one loop, so that step is compiled in once
            step(config, st, action)
            for seat in range(4):
                frame.gain[seat] += st.gain[seat]
            if st.seat < 0:
                return False
            distinct(config, st, work.moves, depth + 1)
            if not is_single(work.moves, depth + 1):
                return True
            action = pop_lowest(work.moves, depth + 1)

    @kernel
    def key_of(config, work, depth):
        """The position's key in the table; 0: it is not kept."""
        word = key(config, work.states[depth])
        if word == ZERO:
            return ZERO
        return word ^ work.salt[0]

    class Common(NamedTuple):
        pop_lowest: Any
        move_on: Any
        key_of: Any

    return Common(pop_lowest, move_on, key_of)


@functools.cache
def _max_n(game: Game) -> Solver:
    """Every seat for itself."""
    common = _common(game)
    pop_lowest, move_on, key_of = common.pop_lowest, common.move_on, common.key_of
    distinct, bounds = endings_of(game).distinct, endings_of(game).bounds
    words = game.mask_words

    @kernel
    def open_frame(config, work, depth):
        """Nothing tried yet; ``moves`` is filled already. Within a trick nothing falls, so bounds stay."""
        st = work.states[depth]
        frame = work.frames[depth]
        frame.seat = st.seat
        frame.best = -1
        least, most = bounds(config, st)
        frame.least = least
        frame.most = most
        for seat in range(4):
            frame.value[seat] = 0

    @kernel
    def compare(work, depth):
        """Let the action that was tried be the best if it gave the seat more."""
        frame = work.frames[depth]
        child = work.frames[depth + 1]
        seat = frame.seat & 3
        if frame.best < 0 or child.gain[seat] + child.value[seat] > frame.value[seat]:
            frame.best = frame.trying
            for other in range(4):
                frame.value[other] = child.gain[other] + child.value[other]
            if frame.value[seat] >= frame.most:  # nothing can be more
                for word in range(words):
                    work.moves[depth, word] = ZERO

    @kernel
    def is_hopeless(work, depth):
        """Whether the position at ``depth`` cannot give the seat before it more than that seat has already."""
        parent = work.frames[depth - 1]
        if parent.best < 0:
            return False
        frame = work.frames[depth]
        seat = parent.seat & 3
        most = frame.most
        if frame.least == 0 and frame.best >= 0 and frame.seat != parent.seat:
            most -= frame.value[frame.seat & 3]
        return frame.gain[seat] + most <= parent.value[seat]

    @kernel
    def solve(config, work, limit):
        if limit < 1:
            return np.int64(-1)
        distinct(config, work.states[0], work.moves, 0)
        open_frame(config, work, 0)
        work.frames[0].key = ZERO
        mask = np.uint64(work.table.shape[0] - 1)
        depth = 0
        seen = 1
        while True:
            frame = work.frames[depth]
            if depth > 0 and is_hopeless(work, depth):
                depth -= 1
                continue
            action = pop_lowest(work.moves, depth)
            if action < 0:
                if frame.key != ZERO:
                    slot = work.table[np.int64(frame.key & mask)]
                    slot.key = frame.key
                    slot.best = frame.best
                    for seat in range(4):
                        slot.value[seat] = frame.value[seat]
                if depth == 0:
                    return np.int64(seen)
                depth -= 1
                compare(work, depth)
                continue
            frame.trying = action
            child = work.frames[depth + 1]
            if not move_on(config, work, depth, action):
                for seat in range(4):
                    child.value[seat] = 0
                compare(work, depth)
                continue
            word = key_of(config, work, depth + 1)
            slot = work.table[np.int64(word & mask)]
            if word != ZERO and slot.key == word:
                for seat in range(4):
                    child.value[seat] = slot.value[seat]
                compare(work, depth)
                continue
            open_frame(config, work, depth + 1)
            if child.least == 0 and child.most == 0:  # no point can fall any more
                compare(work, depth)
                continue
            child.key = word
            seen += 1
            if seen > limit:
                return np.int64(-1)
            depth += 1

    @kernel
    def add_value(config, work, out, i):
        for seat in range(4):
            out[i, seat] += work.frames[0].value[seat]

    return Solver(solve, add_value)


@functools.cache
def _two_sides(game: Game, model: str) -> Solver:
    """The first side against the second: the game's own, or by the paranoid model the seat on turn against the others."""
    common = _common(game)
    pop_lowest, move_on, key_of = common.pop_lowest, common.move_on, common.key_of
    endings = endings_of(game)
    distinct, bounds, side = endings.distinct, endings.bounds, endings.side
    paranoid = endings.num_sides == 4
    words = game.mask_words

    @kernel
    def is_first(config, work, seat):
        """Whether a seat is on the first side."""
        if paranoid:
            return seat == work.me[0]
        return side(config, work.states[0], seat) == 0

    @kernel
    def open_frame(config, work, depth, alpha, beta):
        st = work.states[depth]
        frame = work.frames[depth]
        frame.seat = st.seat
        frame.best = -1
        least, most = bounds(config, st)
        frame.least = least
        frame.most = most
        frame.alpha = alpha
        frame.beta = beta
        if is_first(config, work, st.seat):
            frame.worth = -_INFINITY
            frame.window = alpha
        else:
            frame.worth = _INFINITY
            frame.window = beta

    @kernel
    def compare(config, work, depth, worth):
        """Take account of what the action that was tried is worth to the first side."""
        frame = work.frames[depth]
        if is_first(config, work, frame.seat):
            if worth > frame.worth:
                frame.worth = worth
                frame.best = frame.trying
            frame.alpha = max(frame.alpha, frame.worth)
            enough = frame.worth >= frame.most
        else:
            if worth < frame.worth:
                frame.worth = worth
                frame.best = frame.trying
            frame.beta = min(frame.beta, frame.worth)
            enough = frame.worth <= frame.least
        if enough or frame.alpha >= frame.beta:
            work.history[frame.seat & 3, frame.trying] += 1
            for word in range(words):
                work.moves[depth, word] = ZERO

    @kernel
    def pop_promising(work, depth):
        """Take out the action that has cut off most so far; of equals the lowest."""
        seat = work.frames[depth].seat & 3
        best, most = np.int64(-1), np.int64(-1)
        for word in range(words):
            rest = work.moves[depth, word]
            while rest:
                action = 64 * word + lowest(rest)
                rest &= rest - ONE
                if work.history[seat, action] > most:
                    best, most = np.int64(action), np.int64(work.history[seat, action])
        if best >= 0:
            work.moves[depth, best >> 6] ^= ONE << np.uint64(best & 63)
        return best

    @kernel
    def keep(config, work, depth, mask):
        """Write a finished position to the table."""
        frame = work.frames[depth]
        slot = work.table[np.int64(frame.key & mask)]
        slot.key = frame.key
        slot.best = frame.best
        slot.value[0] = frame.worth
        kind = _EXACT
        if is_first(config, work, frame.seat):
            if frame.worth <= frame.window:
                kind = _AT_MOST
            elif frame.worth >= frame.beta and frame.worth < frame.most:
                kind = _AT_LEAST
        elif frame.worth >= frame.window:
            kind = _AT_LEAST
        elif frame.worth <= frame.alpha and frame.worth > frame.least:
            kind = _AT_MOST
        slot.value[1] = kind

    @kernel
    def solve(config, work, limit):
        if limit < 1:
            return np.int64(-1)
        distinct(config, work.states[0], work.moves, 0)
        open_frame(config, work, 0, -_INFINITY, _INFINITY)
        work.frames[0].key = ZERO
        mask = np.uint64(work.table.shape[0] - 1)
        depth = 0
        seen = 1
        while True:
            frame = work.frames[depth]
            # At the root in the order of ids, so that of equals the lowest is chosen.
            action = pop_promising(work, depth) if depth > 0 else pop_lowest(work.moves, 0)
            if action < 0:
                if frame.key != ZERO:
                    keep(config, work, depth, mask)
                if depth == 0:
                    return np.int64(seen)
                depth -= 1
                compare(config, work, depth, frame.got + frame.worth)
                continue
            frame.trying = action
            goes_on = move_on(config, work, depth, action)
            child = work.frames[depth + 1]
            got = 0
            for seat in range(4):
                if is_first(config, work, seat):
                    got += child.gain[seat]
            child.got = got
            if not goes_on:
                compare(config, work, depth, got)
                continue
            alpha, beta = frame.alpha - got, frame.beta - got
            word = key_of(config, work, depth + 1)
            slot = work.table[np.int64(word & mask)]
            if word != ZERO and slot.key == word:
                worth, kind = slot.value[0], slot.value[1]
                if (
                    kind == _EXACT
                    or (kind == _AT_LEAST and worth >= beta)
                    or (kind == _AT_MOST and worth <= alpha)
                ):
                    compare(config, work, depth, got + worth)
                    continue
            open_frame(config, work, depth + 1, alpha, beta)
            if child.most <= alpha or child.most == child.least:
                compare(config, work, depth, got + child.most)
                continue
            if child.least >= beta:
                compare(config, work, depth, got + child.least)
                continue
            child.key = word
            seen += 1
            if seen > limit:
                return np.int64(-1)
            depth += 1

    @kernel
    def add_value(config, work, out, i):
        """What a side gets its seats share alike."""
        size = 0
        for seat in range(4):
            size += 1 if is_first(config, work, seat) else 0
        worth = work.frames[0].worth
        for seat in range(4):
            if is_first(config, work, seat):
                out[i, seat] += worth / size
            elif not paranoid:
                out[i, seat] -= worth / (4 - size)

    return Solver(solve, add_value)


class Drivers(NamedTuple):
    """Kernels that solve any state; ``config`` has all deals of the episode, and the rest of the state's own deal is solved."""

    #: (config, states, i, work, limit) -> int64: the best action, of equals the lowest; -1: too many positions.
    best_action: Callable[..., Any]
    #: (config, states, i, work, limit, out) -> int64: add what each seat gets after legal action a to row
    #: ``i * A + a`` of ``out`` (float64, units); positions seen, or -1.
    action_values: Callable[..., Any]
    #: (config, states, works, limit, out, nodes, lo, hi): for rows ``lo`` to ``hi - 1``, ``nodes`` what ``action_values`` returned.
    solve_rows: Callable[..., Any]


@functools.cache
def drivers(game: Game, model: str = "game") -> Drivers:
    """The solver of a game for any state, for other kernels and for Python."""
    solve, add_value = solver(game, model)
    step, distinct = game.kernels.step, endings_of(game).distinct
    num_actions = game.num_actions

    @kernel
    def begin(states, i, work):
        """Make the state the root, and forget what was kept for other roots."""
        work.salt[0] = mix(advance(work.salt[0]))
        work.me[0] = states[i].seat
        work.states[0] = states[i]
        work.states[0].deal = 0

    @kernel
    def best_action(config, states, i, work, limit):
        deal = states[i].deal
        begin(states, i, work)
        if solve(config[deal : deal + 1], work, limit) < 0:
            return np.int64(-1)
        return np.int64(work.frames[0].best)

    @kernel
    def action_values(config, states, i, work, limit, out):
        deal = states[i].deal
        one = config[deal : deal + 1]
        spare = work.moves.shape[0] - 1
        begin(states, i, work)
        distinct(one, work.states[0], work.moves, spare)
        seen = np.int64(0)
        tried = i * num_actions
        for action in range(num_actions):
            word, bit = action >> 6, ONE << np.uint64(action & 63)
            if states[i].legal[word] & bit == ZERO:
                continue
            row = i * num_actions + action
            if work.moves[spare, word] & bit == ZERO:  # it is like the one before
                for seat in range(4):
                    out[row, seat] += out[tried, seat]
                continue
            tried = row
            work.states[0] = states[i]
            st = work.states[0]
            st.deal = 0
            step(one, st, action)
            for seat in range(4):
                out[row, seat] += st.gain[seat]
            if st.seat >= 0:
                new = solve(one, work, limit - seen)
                if new < 0:
                    return np.int64(-1)
                seen += new
                add_value(config, work, out, row)
        return seen

    @entry(f"{game.name}.exact.{model}", [game.folder, __file__])
    def solve_rows(config, states, work, limit, out, nodes, lo, hi):
        for i in range(lo, hi):
            nodes[i] = action_values(config, states, i, work, limit, out)

    return Drivers(best_action, action_values, solve_rows)


class Solution(NamedTuple):
    """What is to be had in n positions.

    Attributes:
        values: float64 (n, A, 4): points that each seat gets in the rest of the deal after each legal action, if from then on all
            play as the model says; NaN where an action is not legal, and in positions that are not solved. By the
            paranoid model only the column of the seat on turn means anything; the others are 0.
        best: int64 (n,): action that is best for the seat on turn, of equals the lowest; -1: not solved.
        nodes: int64 (n,): positions that were looked at; -1: they would have been more than the limit.
    """

    values: np.ndarray[Any, np.dtype[np.float64]]
    best: np.ndarray[Any, np.dtype[np.int64]]
    nodes: np.ndarray[Any, np.dtype[np.int64]]


def solve(
    setup: Setup,
    states: np.ndarray[Any, Any],
    *,
    model: str = "game",
    limit: int = 1 << 40,
    work: Work | None = None,
) -> Solution:
    """Solve positions with all hands open.

    Args:
        setup: The game with its options.
        states: State records (n,), each with a seat on turn, and no hand erased.
        model: ``"game"`` or ``"paranoid"``.
        limit: Positions to look at, at most, for one state.
        work: Arrays of :func:`make_work` to work in; None: new ones.

    Raises:
        ValueError: The game's endings cannot be solved; there is no such model; a state is over; states of another game, or of a deal that
            the setup does not have.
    """
    game = setup.game
    run = drivers(game, model)
    limit = check_integer("limit", limit, 0, INT64)
    states = copy_records(check_states("states", states, game, setup.config))
    if (over := np.flatnonzero(states["seat"] < 0)).size:
        raise ValueError(f"states[{over[0]}]: the episode is over")
    count = len(states)
    out = np.zeros((count * game.num_actions, NUM_SEATS))
    nodes = np.zeros(count, np.int64)
    run.solve_rows(setup.config, states, work or make_work(game), limit, out, nodes, 0, count)
    values = out.reshape(count, game.num_actions, NUM_SEATS) * game.unit
    legal = words_to_bits(np.asarray(states["legal"]), game.num_actions) != 0
    values[~legal | (nodes < 0)[:, None]] = np.nan
    own = values[np.arange(count), :, states["seat"]]
    best = np.where(nodes < 0, -1, np.argmax(np.where(np.isnan(own), -np.inf, own), axis=1))
    return Solution(values, best, nodes)
