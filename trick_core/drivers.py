"""Loops over tables, built for a game by closing over its kernels.

Everything here is compiled once a game (and once for each set of jitted bots that plays inside the loop). The
arguments are records and buffers that the caller owns; nothing is allocated.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trick_core.bits import ONE, ZERO, expand, popcount, prefetch, select, unpack
from trick_core.game import AUTORESET, REWARDS, Game
from trick_core.jit import entry, kernel, records
from trick_core.rng import DEALS, advance, below, mix, opponents_key, stream_key

_SIX = 6
_LOW6 = 63
_LOW2 = 3
_SEAT_BITS = np.uint64(3)
_ROTATES = 4
_SAME_STEP, _NEXT_STEP = AUTORESET.index("same_step"), AUTORESET.index("next_step")
_POINTS, _FINAL, _SHAPED = map(REWARDS.index, ("points", "final", "shaped"))

# The caller has acted for itself in the episode; it has not yet; the episode is over.
_ACTED, _BEGUN, _OVER = range(3)

#: What a driver keeps of each table besides the game's own state.
TABLE = np.dtype(
    [
        ("seed", "u8"),  # seed of the row
        ("number", "u8"),  # episodes begun so far: number k of the next one
        ("domain", "u8"),  # domain of the deals: DEALS, or SUITES for evaluation
        ("random", "u8"),  # random state of the jitted opponents
        ("shown", "i1"),  # deal whose row part stands in the observation buffer; -1: none
        ("last", "i1"),  # seat that acted last; -1: nobody yet
        ("stage", "i1"),  # of the episode: _ACTED, _BEGUN, _OVER
        ("fault", "i1"),  # 1 + seat of a jitted bot that chose an illegal action; 0: none
        ("fault_action", "i4"),  # the action it chose
        ("length", "i4"),  # actions taken in the episode
        ("bots", "i1", (4,)),  # who plays the seat: index of a jitted bot; -1: the caller for
        # itself; -2 and below: the caller for somebody else
        ("plan", "i1"),  # learner's seat in every episode; 4: it rotates; -1: there is no learner
        ("learner", "i1"),  # learner's seat in this episode; -1: there is no learner
        ("lineup", "i1", (4, 4)),  # bots of the next episodes, by the learner's seat
    ],
    align=True,
)


class Buffers(NamedTuple):
    """The arrays of a batch of N tables.

    With byte observations ``obs`` has N rows, with packed ones none, and ``words`` is what the caller reads.
    """

    states: np.ndarray[Any, Any]  # (N,) game states
    tables: np.ndarray[Any, Any]  # (N,) TABLE
    views: np.ndarray[
        Any, Any
    ]  # (N,) scratch states for what a bot may see; a call uses that of its first row
    actions: np.ndarray[Any, Any]  # (N,) int64
    active: np.ndarray[Any, Any]  # (N,) bool: rows to work on
    rewards: np.ndarray[Any, Any]  # (N, 4) float64, by seat
    carry: np.ndarray[
        Any, Any
    ]  # (N, 4) float64: rewards that fell before the caller's first action
    scratch: np.ndarray[Any, Any]  # (N, 4) float64: rewards of one action while they are worked out
    terminations: np.ndarray[Any, Any]  # (N,) bool
    seats: np.ndarray[Any, Any]  # (N,) int64: seat to act, -1 when over
    words: np.ndarray[Any, Any]  # (N, W) uint64
    obs: np.ndarray[Any, Any]  # (N or 0, D) int8
    mask: np.ndarray[Any, Any]  # (N, A) int8
    final_words: np.ndarray[Any, Any]  # (N, W) uint64: the episode's last observation
    final_obs: np.ndarray[Any, Any]  # (N or 0, D) int8
    numbers: np.ndarray[Any, Any]  # (N, K) float64: the game's info numbers
    final_numbers: np.ndarray[Any, Any]  # (N, K) float64: the same, at the episode's end
    log: np.ndarray[Any, Any]  # (N, L) int16: action number k of the episode at k mod L


def make_buffers(
    game: Game, count: int, *, packed: bool = False, final: bool = True, log: int = 1
) -> Buffers:
    """Zeroed buffers for ``count`` tables, every seat played by the caller.

    ``log`` is L, a power of two: how many of an episode's latest actions are kept.
    """
    byte_rows, final_rows = 0 if packed else count, count if final else 0
    buffers = Buffers(
        states=game.states(count),
        tables=records(count, TABLE),
        views=game.states(count),
        actions=np.zeros(count, np.int64),
        active=np.ones(count, np.bool_),
        rewards=np.zeros((count, 4)),
        carry=np.zeros((count, 4)),
        scratch=np.zeros((count, 4)),
        terminations=np.zeros(count, np.bool_),
        seats=np.full(count, -1, np.int64),
        words=np.zeros((count, game.layout.words), np.uint64),
        obs=np.zeros((byte_rows, game.layout.size), np.int8),
        mask=np.zeros((count, game.num_actions), np.int8),
        final_words=np.zeros((final_rows, game.layout.words), np.uint64),
        final_obs=np.zeros((0 if packed else final_rows, game.layout.size), np.int8),
        numbers=np.zeros((count, len(game.info_names))),
        final_numbers=np.zeros((final_rows, len(game.info_names))),
        log=np.zeros((count, log), np.int16),
    )
    buffers.states["seat"] = -1  # no episode yet
    for name in ("bots", "last", "plan", "learner"):
        buffers.tables[name] = -1
    return buffers


class TableDrivers(NamedTuple):
    """Drivers of single tables, for the turn-based adapters."""

    #: (config, states, i, seed, number, custom): begin episode ``number`` of the seed.
    begin: Callable[..., Any]
    #: (config, run, states, i, action, scratch, rewards, words, obs, mask) -> seat: take a legal action, add its
    #: rewards (n, 4), and write observation and mask of the next seat to act (after the end neither).
    step: Callable[..., Any]
    #: (config, states, i, seat, words, obs, mask): what a seat sees; the mask is zero unless it is on turn.
    observe: Callable[..., Any]
    #: (config, states, i, words): the full-information state.
    describe: Callable[..., Any]
    #: (config, states, i, out): points of the episode so far, in units.
    returns: Callable[..., Any]
    #: (config, states, i, out): the game's info numbers.
    info: Callable[..., Any]
    #: (config, states, i, seat, views, j): copy a state, less what the seat may not know.
    view: Callable[..., Any]
    #: (states, i): end the episode at once.
    abort: Callable[..., Any]
    #: (config, buffers, rows, views, randoms): for each of the rows, what the seat on turn may see and the next
    #: random word of the table's opponents.
    views: Callable[..., Any]


#: What a batch driver does to the active rows: take an action, the same on top of the rewards that are there (the caller
#: also plays seats other than the learner's), begin the next episode, begin one with the given deal.
STEP, STEP_AGAIN, RESET, RESET_CUSTOM = range(4)


class BatchDrivers(NamedTuple):
    """The driver of N tables.

    One for steps and resets, for nearly all there is to compile is in both: dealing, the rules, the bots' play.
    """

    #: (config, public, run, buffers, order, lo, hi): carry out ``order`` (:data:`STEP` .. :data:`RESET_CUSTOM`) in the
    #: active rows from ``lo`` to ``hi - 1``, so that threads can share a batch. ``public`` is the configuration without
    #: hands, for the bots.
    rows: Callable[..., Any]


@functools.cache
def _shared(game: Game) -> Any:
    """Inner kernels that all drivers of a game use."""
    begin, step = game.kernels.begin, game.kernels.step
    observe, observe_row = game.kernels.observe, game.kernels.observe_row
    potential, returns = game.kernels.potential, game.kernels.returns
    size, num_actions = game.layout.size, game.num_actions
    mask_words, row_start = game.mask_words, game.row_start

    @kernel
    def is_legal(st, action):
        return (st.legal[action >> _SIX] >> np.uint64(action & _LOW6)) & ONE != ZERO

    @kernel
    def end(st):
        st.seat = -1
        for i in range(mask_words):
            st.legal[i] = ZERO
        for seat in range(4):
            st.gain[seat] = 0

    @kernel
    def add_reward(config, run, st, out, i):
        """Add what the last step gave; in shaped mode ``out`` already lacks the old potential."""
        option = run[0]
        if option.mode == _FINAL:
            if st.seat < 0:
                returns(config, st, out, i)
            return
        for seat in range(4):
            out[i, seat] += st.gain[seat]
        if option.mode == _SHAPED:
            potential(config, st, 1.0, out, i)

    @kernel
    def play(config, run, st, action, scratch, rewards, i):
        """Take a legal action and add its rewards to row ``i``; ``scratch`` has the same shape."""
        option = run[0]
        if option.mode == _POINTS and option.zero_sum == 0:  # the common case, without a detour
            step(config, st, action)
            for seat in range(4):
                rewards[i, seat] += st.gain[seat] * option.factor
            return
        for seat in range(4):
            scratch[i, seat] = 0.0
        if option.mode == _SHAPED:
            potential(config, st, -1.0, scratch, i)
        step(config, st, action)
        add_reward(config, run, st, scratch, i)
        mean = 0.0
        if option.zero_sum != 0:
            mean = (scratch[i, 0] + scratch[i, 1] + scratch[i, 2] + scratch[i, 3]) / 4.0
        for seat in range(4):
            rewards[i, seat] += (scratch[i, seat] - mean) * option.factor

    @kernel
    def write_mask(st, mask, i):
        for word in range(mask_words):
            expand(mask, i, 64 * word, st.legal[word], min(64, num_actions - 64 * word))

    @kernel
    def write_words(config, st, seat, words, i, with_row):
        observe(config, st, seat, words, i)
        if with_row:
            observe_row(config, st, words, i)

    @kernel
    def write_bytes(words, obs, i, with_row):
        unpack(words, obs, i, 0, row_start)
        if with_row:
            unpack(words, obs, i, row_start, size)

    @kernel
    def choose(st, random):
        """A legal action, each with the same chance, from a random word."""
        count = 0
        for i in range(mask_words):
            count += popcount(st.legal[i])
        k = below(random, count)
        for i in range(mask_words):
            here = popcount(st.legal[i])
            if k < here:
                return 64 * i + select(st.legal[i], k)
            k -= here
        return -1

    @kernel
    def note(log, table, i, action):
        """Count an action that is about to be taken, and log it.

        Without a branch, and not given all buffers: either would cost more than the step itself.
        """
        log[i, table.length & (log.shape[1] - 1)] = action
        table.length += 1

    class Shared(NamedTuple):
        is_legal: Any
        end: Any
        play: Any
        write_mask: Any
        write_words: Any
        write_bytes: Any
        choose: Any
        begin: Any
        note: Any

    return Shared(is_legal, end, play, write_mask, write_words, write_bytes, choose, begin, note)


@functools.cache
def table_drivers(game: Game) -> TableDrivers:
    """The drivers of single tables of a game."""
    shared = _shared(game)
    begin, play, end = shared.begin, shared.play, shared.end
    write_mask, write_words, write_bytes = (
        shared.write_mask,
        shared.write_words,
        shared.write_bytes,
    )
    kernels = game.kernels
    describe, returns, info, redact = (
        kernels.describe,
        kernels.returns,
        kernels.info,
        kernels.redact,
    )
    num_actions = game.num_actions

    def mark(name: str) -> Callable[[Any], Any]:
        return entry(f"{game.name}.table.{name}", [game.folder])

    @mark("begin")
    def begin_table(config, states, i, seed, number, custom):
        # Signed numbers would be shifted with their sign, and deal other cards.
        key = stream_key(np.uint64(seed), np.uint64(number), DEALS)
        begin(config, states[i], key, custom)

    @mark("step")
    def step_table(config, run, states, i, action, scratch, rewards, words, obs, mask):
        st = states[i]
        deal = st.deal
        play(config, run, st, action, scratch, rewards, i)
        if st.seat >= 0:
            moved_on = st.deal != deal
            write_words(config, st, st.seat, words, i, moved_on)
            write_bytes(words, obs, i, moved_on)
            write_mask(st, mask, i)
        return st.seat

    @mark("observe")
    def observe_table(config, states, i, seat, words, obs, mask):
        st = states[i]
        write_words(config, st, seat, words, i, True)
        write_bytes(words, obs, i, True)
        if seat == st.seat:
            write_mask(st, mask, i)
        else:
            for action in range(num_actions):
                mask[i, action] = 0

    @mark("describe")
    def describe_table(config, states, i, words):
        describe(config, states[i], words, i)

    @mark("returns")
    def returns_table(config, states, i, out):
        for seat in range(4):
            out[i, seat] = 0.0
        returns(config, states[i], out, i)

    @mark("info")
    def info_table(config, states, i, out):
        info(config, states[i], out, i)

    @mark("view")
    def view_table(config, states, i, seat, views, j):
        views[j] = states[i]
        redact(config, views[j], seat)

    @mark("abort")
    def abort_table(states, i):
        end(states[i])

    @mark("views")
    def view_tables(config, buffers, rows, views, randoms):
        for j in range(rows.shape[0]):
            i = rows[j]
            views[j] = buffers.states[i]
            redact(config, views[j], views[j].seat)
            table = buffers.tables[i]
            table.random = advance(table.random)
            randoms[j] = mix(table.random)

    return TableDrivers(
        begin_table,
        step_table,
        observe_table,
        describe_table,
        returns_table,
        info_table,
        view_table,
        abort_table,
        view_tables,
    )


class JitBot(NamedTuple):
    """A bot that can play inside a driver.

    Attributes:
        label: Names the bot in the kernel cache; None: its driver is not kept on disk.
        act: Kernel ``(config, view, random) -> action``. ``view`` is a state record less what the seat on turn may not
            know, ``random`` a random word of the table's own stream.
        folder: Sources that ``act`` compiles.
        honest: True: ``act`` reads nothing that the seat on turn may not know. Search then hands it whole states, which saves
            copying and erasing; the environments never do.
    """

    label: str | None
    act: Callable[..., Any]
    folder: str
    honest: bool = False


@functools.cache
def uniform_choice(game: Game) -> Callable[..., Any]:
    """Kernel ``(config, view, random) -> action``: each legal action with the same chance."""
    choose = _shared(game).choose

    @kernel
    def act(config, view, random):
        return choose(view, random)

    return act


@functools.cache
def _play_on(game: Game, bots: tuple[JitBot, ...]) -> Any:
    """Kernels that take the caller's action (an illegal one ends the episode), and that let the jitted bots play until the
    caller is on turn or the episode is over.
    """
    shared = _shared(game)
    is_legal, end, play, note = shared.is_legal, shared.end, shared.play, shared.note
    redact, num_actions = game.kernels.redact, game.num_actions
    choice, has_bots = _dispatch(bots), bool(bots)

    @kernel
    def take_action(config, run, buffers, i):
        st = buffers.states[i]
        table = buffers.tables[i]
        action, seat = buffers.actions[i], st.seat & _LOW2
        table.last = seat
        if is_legal(st, action):
            note(buffers.log, table, i, action)
            play(config, run, st, action, buffers.scratch, buffers.rewards, i)
            return
        end(st)
        for each in range(4):
            buffers.rewards[i, each] = 0.0
        buffers.rewards[i, seat] = run[0].illegal_reward

    @kernel
    def let_bots_play(config, public, run, buffers, i, spare):
        if not has_bots:
            return
        st = buffers.states[i]
        table = buffers.tables[i]
        while st.seat >= 0:
            seat = st.seat & _LOW2
            if table.bots[seat] < 0:
                return
            buffers.views[spare] = buffers.states[i]
            view = buffers.views[spare]
            redact(config, view, seat)
            table.random = advance(table.random)
            action = choice(table.bots[seat], public, view, mix(table.random))
            if action < 0 or action >= num_actions or not is_legal(st, action):
                table.fault = seat + 1
                table.fault_action = action
                return
            table.last = seat
            note(buffers.log, table, i, action)
            play(config, run, st, action, buffers.scratch, buffers.rewards, i)

    return take_action, let_bots_play


def _dispatch(bots: tuple[JitBot, ...]) -> Any:
    """Kernel ``(index, config, view, random) -> action`` over the bots' kernels."""

    @kernel
    def last(index, config, view, random):
        return -1

    chain = last
    for index in reversed(range(len(bots))):
        chain = _dispatch_one(index, bots[index].act, chain)
    return chain


def _dispatch_one(number: int, act: Any, rest: Any) -> Any:
    @kernel
    def choice(index, config, view, random):
        if index == number:
            return np.int64(act(config, view, random))
        return np.int64(rest(index, config, view, random))

    return choice


@functools.cache
def batch_drivers(game: Game, bots: tuple[JitBot, ...] = (), packed: bool = False) -> BatchDrivers:
    """The drivers of N tables, with these jitted bots for the seats that name them.

    ``buffers.tables["bots"]`` holds, for each seat, an index into ``bots`` or -1 for the caller.
    """
    shared = _shared(game)
    begin, info, row_start = shared.begin, game.kernels.info, game.row_start
    write_mask, write_words, write_bytes = (
        shared.write_mask,
        shared.write_words,
        shared.write_bytes,
    )
    take_action, let_bots_play = _play_on(game, bots)
    has_bots = bool(bots)

    def mark(name: str) -> Callable[[Any], Any]:
        labels = [bot.label for bot in bots]
        form = "packed" if packed else "bytes"
        label = ".".join([game.name, form, *map(str, labels), name])
        folders = [str(game.folder), *(bot.folder for bot in bots)]
        return entry(None if None in labels else label, folders)

    @kernel
    def begin_row(config, buffers, i, custom):
        table = buffers.tables[i]
        begin(config, buffers.states[i], stream_key(table.seed, table.number, table.domain), custom)
        table.random = opponents_key(table.seed, table.number)
        if table.plan >= 0:
            table.learner = table.plan
            if table.plan == _ROTATES:
                table.learner = np.int8((table.seed + table.number) & _SEAT_BITS)
            for seat in range(4):
                table.bots[seat] = table.lineup[table.learner, seat]
        table.number += ONE
        table.shown = -1
        table.last = -1
        table.stage = _BEGUN
        table.length = 0
        for seat in range(4):
            buffers.carry[i, seat] = 0.0

    @kernel
    def closing_seat(table):
        """Who sees the end of an episode: the learner, else the seat that acted last."""
        return table.learner if table.learner >= 0 else max(table.last, 0)

    @kernel
    def show(config, buffers, i):
        """Observation, mask and info of the seat to act; of the closing seat when all is over."""
        st = buffers.states[i]
        table = buffers.tables[i]
        seat = st.seat if st.seat >= 0 else closing_seat(table)
        with_row = table.shown != st.deal
        table.shown = st.deal
        write_words(config, st, seat, buffers.words, i, with_row)
        if not packed:
            write_bytes(buffers.words, buffers.obs, i, with_row)
        write_mask(st, buffers.mask, i)
        info(config, st, buffers.numbers, i)
        buffers.seats[i] = st.seat

    @kernel
    def show_final(config, buffers, i):
        """Keep the last observation of an episode before the next one begins."""
        st = buffers.states[i]
        seat = closing_seat(buffers.tables[i])
        write_words(config, st, seat, buffers.final_words, i, True)
        if not packed:
            write_bytes(buffers.final_words, buffers.final_obs, i, True)
        info(config, st, buffers.final_numbers, i)

    @kernel
    def swap(buffers, i):
        for seat in range(4):
            waiting = buffers.carry[i, seat]
            buffers.carry[i, seat] = buffers.rewards[i, seat]
            buffers.rewards[i, seat] = waiting

    @mark("rows")
    def rows(config, public, run, buffers, order, lo, hi):
        option = run[0]
        for row in range(lo, hi):
            if not packed and row + 1 < hi:  # the next row's lines arrive while this row is played
                for at in range(0, row_start, 64):
                    prefetch(buffers.obs, row + 1, at)
            i = np.uint64(row)  # so that no index is looked at for being negative
            if not buffers.active[i]:
                continue
            st = buffers.states[i]
            table = buffers.tables[i]
            if order != STEP_AGAIN:
                for seat in range(4):
                    buffers.rewards[i, seat] = 0.0
                buffers.terminations[i] = False
            begins = order >= RESET
            aside = begins  # what falls before the caller's first action of its own waits for it
            if not begins and table.stage != _ACTED:
                if table.stage == _OVER:
                    if option.autoreset != _NEXT_STEP:
                        continue
                    begins = aside = True
                elif table.bots[st.seat & _LOW2] == -1:
                    table.stage = _ACTED
                    for seat in range(4):
                        buffers.rewards[i, seat] += buffers.carry[i, seat]
                        buffers.carry[i, seat] = 0.0
                else:
                    aside = True
            if begins:
                begin_row(config, buffers, i, np.int64(order == RESET_CUSTOM))
            if aside:
                swap(buffers, i)
            if not begins:
                take_action(config, run, buffers, i)
            while (
                True
            ):  # at most twice: to the end of an episode, and to the caller's turn in the next
                let_bots_play(config, public, run, buffers, i, lo)
                if aside:
                    swap(buffers, i)
                if begins or st.seat >= 0:
                    break
                buffers.terminations[i] = True
                table.stage = _OVER
                if option.autoreset != _SAME_STEP:
                    break
                show_final(config, buffers, i)
                begin_row(config, buffers, i, np.int64(0))
                if (
                    not has_bots
                ):  # nothing more to do; known to the compiler, which leaves no loop then
                    break
                swap(buffers, i)
                begins = aside = True
            show(config, buffers, i)

    return BatchDrivers(rows)


@functools.cache
def random_drivers(game: Game) -> dict[str, Callable[..., Any]]:
    """Random legal play inside one kernel, for measuring: ``"state"``, ``"packed"`` and ``"bytes"``.

    Each is ``(config, buffers, steps, lo, hi)``: every row takes ``steps`` actions, row after row, and
    begins anew when an episode is over. Returns the number of actions taken.
    """
    return {form: _random_driver(game, form) for form in ("state", "packed", "bytes")}


def _random_driver(game: Game, form: str) -> Callable[..., Any]:
    shared = _shared(game)
    begin, choose, step = shared.begin, shared.choose, game.kernels.step
    write_mask, write_words, write_bytes = (
        shared.write_mask,
        shared.write_words,
        shared.write_bytes,
    )
    with_words, with_bytes = form != "state", form == "bytes"

    @entry(f"{game.name}.random.{form}", [game.folder])
    def play_random(config, buffers, steps, lo, hi):
        taken = 0
        for row in range(lo, hi):
            i = np.uint64(row)
            st = buffers.states[i]
            table = buffers.tables[i]
            random = table.random
            for _ in range(steps):
                if st.seat < 0:
                    begin(config, st, stream_key(table.seed, table.number, DEALS), np.int64(0))
                    table.number += ONE
                    table.shown = -1
                random = advance(random)
                step(config, st, choose(st, mix(random)))
                taken += 1
                if with_words and st.seat >= 0:
                    with_row = table.shown != st.deal
                    table.shown = st.deal
                    write_words(config, st, st.seat, buffers.words, i, with_row)
                    if with_bytes:
                        write_bytes(buffers.words, buffers.obs, i, with_row)
                    write_mask(st, buffers.mask, i)
            table.random = random
        return taken

    return play_random
