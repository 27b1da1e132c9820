"""Playing states to their ends, many times over, inside one kernel: rollouts.

:func:`rollouts` is for users: policies play from any full states to the end of the episode or of the deal. :func:`playout` is
the kernel behind it, for bots that search.

Rollout ``j`` of state ``i`` draws from a stream of its own that follows from (seed, i, j) alone. So neither threads nor the
number of rollouts change any of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from trick_core.batch import check_threads
from trick_core.bits import ONE, ZERO
from trick_core.bots import Bot, as_bot
from trick_core.drivers import JitBot
from trick_core.episodes import check_seed
from trick_core.game import NUM_SEATS, Game, Setup, check_choice, check_states, setup_for
from trick_core.jit import copy_records, entry, kernel, records
from trick_core.rng import ROLLOUTS, advance, mix, stream_key
from trick_core.threads import share_rows

#: Where a rollout may end.
ENDS = ("episode", "deal")
_DEAL = ENDS.index("deal")
_S6 = 6
_LOW6 = 63

#: One playout under way.
PLAYOUT = np.dtype(
    [
        ("random", "u8"),  # random state that the policies draw from
        ("bots", "i1", (4,)),  # who plays, by seat: index of a policy
        ("until", "i1"),  # index into ENDS
        ("fault", "i1"),  # 1 + seat whose policy chose an illegal action; 0: none
        ("fault_action", "i4"),  # the action it chose
    ],
    align=True,
)


@functools.cache
def playout(game: Game, bots: tuple[JitBot, ...]) -> Callable[..., Any]:
    """Kernel ``(config, public, states, i, views, run)`` that plays ``states[i]`` to the end.

    ``public`` is the configuration without hands, which the policies are handed; ``views`` one state to work in; ``run`` an array
    of one :data:`PLAYOUT`. An illegal action is not taken: the playout stops and ``run`` says whose it was. So it does where no
    action is legal.
    """
    step, num_actions, mask_words = game.kernels.step, game.num_actions, game.mask_words
    choice = _choice(game, bots)

    @kernel
    def play_on(config: Any, public: Any, states: Any, i: Any, views: Any, run: Any) -> Any:
        st = states[i]
        option = run[0]
        deal = st.deal
        random = option.random
        while st.seat >= 0 and (option.until != _DEAL or st.deal == deal):
            any_legal = st.legal[0]
            for word in range(1, mask_words):
                any_legal |= st.legal[word]
            if any_legal == ZERO:  # the state lacks cards
                option.fault = st.seat + 1
                option.fault_action = -1
                break
            random = advance(random)
            action = choice(option.bots[st.seat & 3], public, states, i, views, mix(random))
            inside = action >= 0 and action < num_actions
            if not inside or (st.legal[action >> _S6] >> np.uint64(action & _LOW6)) & ONE == ZERO:
                option.fault = st.seat + 1
                option.fault_action = action
                break
            step(config, st, action)
        option.random = random

    return play_on


def _choice(game: Game, bots: tuple[JitBot, ...]) -> Callable[..., Any]:
    """Kernel ``(index, public, states, i, views, random) -> action`` over the bots; the last is not asked for its index."""
    chain = choice_of(game, bots[-1])
    for number in reversed(range(len(bots) - 1)):
        chain = _either(number, choice_of(game, bots[number]), chain)
    return chain


def _either(number: int, one: Any, rest: Any) -> Callable[..., Any]:
    @kernel
    def choose(index: Any, public: Any, states: Any, i: Any, views: Any, random: Any) -> Any:
        if index == number:
            return np.int64(one(index, public, states, i, views, random))
        return np.int64(rest(index, public, states, i, views, random))

    return choose


def choice_of(game: Game, bot: JitBot) -> Callable[..., Any]:
    """A bot's choice in a full state. It is handed what its seat may see, unless it reads nothing else anyway."""
    act, redact = bot.act, game.kernels.redact
    if bot.honest:

        @kernel
        def choose(index: Any, public: Any, states: Any, i: Any, views: Any, random: Any) -> Any:
            return np.int64(act(public, states[i], random))

        return choose

    @kernel
    def choose_from_view(
        index: Any, public: Any, states: Any, i: Any, views: Any, random: Any
    ) -> Any:
        views[0] = states[i]
        view = views[0]
        redact(public, view, view.seat)
        return np.int64(act(public, view, random))

    return choose_from_view


def playout_label(bots: Sequence[JitBot]) -> str | None:
    """Names the bots in the label of an entry that plays them; None where one is not to be kept on disk."""
    labels = [bot.label for bot in bots]
    return None if None in labels else ".".join(map(str, labels))


@functools.cache
def _driver(game: Game, bots: tuple[JitBot, ...]) -> Callable[..., Any]:
    """Kernel ``(config, public, states, seed, n, lo, hi, work, run, points, faults)``: rollouts ``lo`` to ``hi - 1`` of all.

    Rollout ``k`` is number ``k % n`` of state ``k // n``; its points, in units, are added to row ``k`` of ``points``.
    ``faults`` int64 (1, 3) takes the first rollout in which a policy chose an illegal action: ``k + 1``, seat, action.
    """
    play_on = playout(game, bots)
    returns = game.kernels.returns
    label = playout_label(bots)

    @entry(
        None if label is None else f"{game.name}.rollouts.{label}",
        [str(game.folder), *(bot.folder for bot in bots)],
    )
    def roll_out(config, public, states, seed, n, lo, hi, work, run, points, faults):  # type: ignore[no-untyped-def]
        for k in range(lo, hi):
            i = k // n
            key = stream_key(np.uint64(seed), np.uint64(i), ROLLOUTS)
            run[0].random = stream_key(key, np.uint64(k % n), ROLLOUTS)
            work[0] = states[i]
            returns(config, work[0], points, k)
            for seat in range(4):
                points[k, seat] = -points[k, seat]
            play_on(config, public, work, 0, work[1:], run)
            if run[0].fault != 0:
                faults[0, 0] = k + 1
                faults[0, 1] = run[0].fault - 1
                faults[0, 2] = run[0].fault_action
                return
            returns(config, work[0], points, k)

    return roll_out


def rollouts(
    setup: Any,
    states: np.ndarray[Any, Any],
    n: int,
    policies: Any = "random",
    *,
    seed: int,
    until: str = "episode",
    config: np.ndarray[Any, Any] | None = None,
    num_threads: int = 1,
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Play full states to the end, ``n`` times each, and count what each seat gets from here on.

    Args:
        setup: The game with its options, or an environment's id.
        states: Full states, shape (m,): ``env.states`` of an environment or a table, copies of it, worlds of a belief. They
            stay as they are. A state whose episode is over gives zeros.
        n: Rollouts of each state, from 1.
        policies: Who plays: one policy for all seats, or four by absolute seat. A policy is a name, a bot that has a kernel,
            or a :class:`JitBot`; each is asked in its turn with what its seat may see.
        seed: Of the policies' randomness, from 0; the same seed, the same points.
        until: ``"episode"``, or ``"deal"``: in a match no further than the end of the current deal.
        config: Configuration records of the episode (``env.episode_config``) where they are not the setup's own: a match
            with custom deals reads its later deals there.
        num_threads: Threads that share the rollouts; the result is the same with any number.

    Returns:
        Points, float64 (m, n, 4) by absolute seat: those that fall from the state on, without those before it. Rollout j is
        the same whatever n. In a match that is played on, later deals are those which the state's key holds: the true ones.

    Raises:
        ValueError: An argument out of range; states of another game, or of a deal that the setup does not have; a policy without a kernel; or one
            that chose an illegal action, as every policy must in a state that lacks cards, a view for one.
        TypeError: Something that is no policy.
    """
    setup = setup if isinstance(setup, Setup) else setup_for(setup)
    game = setup.game
    episode = _checked_config(setup, config)
    # One kind of array to the compiler, whatever the caller has.
    states = copy_records(check_states("states", states, game, episode))
    n = _checked_count(n)
    run = records(1, PLAYOUT)
    run["until"] = ENDS.index(check_choice("until", until, ENDS))
    bots, run["bots"] = _checked_policies(game, policies)
    seed_word = np.uint64(check_seed(seed))
    points = np.zeros((len(states) * n, NUM_SEATS))
    roll_out = _driver(game, bots)
    faults: list[list[int]] = []

    def work(lo: int, hi: int) -> None:
        fault = np.zeros((1, 3), np.int64)
        own = copy_records(run)
        roll_out(
            episode, setup.config, states, seed_word, n, lo, hi, game.states(2), own, points, fault
        )
        if fault[0, 0]:
            faults.append(fault[0].tolist())

    share_rows(work, len(points), check_threads(num_threads))
    if faults:
        first, seat, action = min(faults)
        where = f"states[{(first - 1) // n}]"
        if action < 0:
            raise ValueError(
                f"{where}: seat {seat} runs out of cards; a view must be completed to a world first"
            )
        name = bots[int(run["bots"][0, seat])].label
        raise ValueError(
            f"{where}: policy {name!r} at seat {seat} chose {action}, which is not legal"
        )
    points *= game.unit
    return points.reshape(len(states), n, NUM_SEATS)


def _checked_count(n: Any) -> int:
    if isinstance(n, (bool, np.bool_)) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n: expected a positive integer, got {n!r}")
    return int(n)


def _checked_config(setup: Setup, config: Any) -> np.ndarray[Any, Any]:
    if config is None:
        return setup.config
    if not isinstance(config, np.ndarray) or config.dtype != setup.config.dtype:
        raise ValueError(f"config: expected an episode's configuration records, got {config!r}")
    if len(config) != len(setup.config):
        raise ValueError(f"config: expected {len(setup.config)} records, got {len(config)}")
    checked: np.ndarray[Any, Any] = config
    if checked.flags.writeable:
        checked = copy_records(checked)
        checked.flags.writeable = False
    return checked


def _checked_policies(game: Game, policies: Any) -> tuple[tuple[JitBot, ...], list[int]]:
    """Different policies' kernels, and for each seat which of them plays."""
    if isinstance(policies, (str, Bot, JitBot)) or not isinstance(policies, Sequence):
        policies = [policies] * NUM_SEATS
    if len(policies) != NUM_SEATS:
        raise ValueError(
            f"policies: expected one, or {NUM_SEATS} by seat; got a list of {len(policies)}"
        )
    kernels = [jit_bot(game, policy) for policy in policies]
    bots = tuple(sorted(set(kernels), key=lambda bot: str(bot.label)))
    return bots, [bots.index(bot) for bot in kernels]


def jit_bot(game: Game, policy: Any) -> JitBot:
    """The kernel of a policy.

    Raises:
        ValueError: It has none, or does not play the game.
        TypeError: It is no policy.
    """
    if isinstance(policy, JitBot):
        return policy
    bot = as_bot(policy)
    found = bot.jit(game)
    if found is None:
        raise ValueError(
            f"policy {bot.name!r} has no kernel for {game.name}, so it cannot play inside rollouts; 'random' and 'greedy' have "
            "one, and so has a bot whose jit(game) returns a JitBot. Policies in Python play in the environments"
        )
    return found
