"""What bots that search share: settings, playout policies, and the choice for one view or for many.

A search bot decides each row of a batch from the row's own random word. So its choice depends neither on the other rows nor
on the threads.
"""

from __future__ import annotations

import functools
import importlib
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from baselines.bots import net as nets
from trick_core.batch import check_threads
from trick_core.bits import ONE, lowest
from trick_core.bots import BatchView, RowBot
from trick_core.drivers import JitBot
from trick_core.game import INT64, Belief, Game
from trick_core.game import check_integer as check_whole
from trick_core.jit import copy_records, entry, kernel
from trick_core.rollouts import jit_bot
from trick_core.threads import share_rows


def belief_of(bot: str, game: Game) -> Belief:
    """The belief of a game, from which a bot samples worlds.

    Raises:
        ValueError: It has none.
    """
    if game.belief is None:
        raise ValueError(f"bot {bot!r} does not play {game.name}, which has no belief to sample")
    return game.belief


def playout_policy(bot: str, game: Game, name: str) -> JitBot:
    """The kernel of the policy that plays all seats after the actions that are tried.

    Raises:
        ValueError: No such policy, or one without a kernel.
    """
    try:
        return jit_bot(game, name)
    except ValueError as error:
        raise ValueError(f"bot {bot!r}: playout: {error}") from None


def check_integer(bot: str, key: str, value: Any, most: int = INT64) -> None:
    """Refuse a setting that is no integer from 1 to ``most``.

    Raises:
        ValueError: It is not.
    """
    check_whole(f"bot {bot!r}: {key}", value, 1, most)


def check_number(bot: str, key: str, value: Any) -> None:
    """Refuse a setting that is no finite number from 0 on.

    Raises:
        ValueError: It is not.
    """
    number = isinstance(value, (int, float, np.integer, np.floating))
    if not number or isinstance(value, bool) or not 0 <= value < math.inf:
        raise ValueError(f"bot {bot!r}: {key}: expected a number from 0 on, got {value!r}")


def without_settled_tricks(config: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The configuration with ``early_stop``, where the game has it: playouts end when no point is left to fall."""
    if "early_stop" not in (config.dtype.names or ()):
        return config
    short = copy_records(config)
    short["early_stop"] = 1
    short.flags.writeable = False
    return short


@kernel
def list_actions(words: Any, actions: Any) -> Any:
    """Write a set of actions, of which ``words`` (uint64) holds the bits, to ``actions`` (int64), ascending; how many they are."""
    count = 0
    for w in range(words.shape[0]):
        word = words[w]
        while word:
            actions[count] = 64 * w + lowest(word)
            count += 1
            word &= word - ONE
    return count


@kernel
def all_legal(config: Any, st: Any, out: Any, i: Any) -> Any:
    """For games that do not say which actions are alike: every legal one. See :class:`trick_core.game.Endings`."""
    for word in range(st.legal.shape[0]):
        out[i, word] = st.legal[word]


def distinct_of(game: Game) -> Callable[..., Any]:
    """Kernel ``(config, st, out, i)``: legal actions of a full state, of those that are alike only the lowest."""
    return all_legal if game.endings is None else game.endings.distinct


def net_of(
    bot: str, name: str, game: Game | None = None, found: nets.Net | None = None
) -> nets.Net | None:
    """The net of this name or file, for a bot; None if the name is empty.

    Args:
        bot: The bot, for messages.
        name: ``own`` is the library's newest for the game; None before one is known.
        game: The game that is played; None: not known yet.
        found: The net, if it has been found before.

    Raises:
        ValueError: There is none, or it plays another game.
    """
    if not name or (game is None and name == nets.OWN):
        return None
    try:
        net = found
        if net is None:
            net = nets.own(game) if game is not None and name == nets.OWN else nets.find(name)
        if game is not None:
            net.check(game)
    except ValueError as error:
        raise ValueError(f"bot {bot!r}: net: {error}") from None
    return net


def check_net(bot: str, net: str, trust: Any) -> None:
    """Refuse settings of a net's say, see :class:`AdvisedBot`; an unknown net is found before any work.

    Raises:
        ValueError: There is no such net, or ``trust`` is out of range.
    """
    net_of(bot, net)
    check_number(bot, "trust", trust)


@functools.cache
def _observe_driver(game: Game) -> Callable[..., None]:
    """Kernel ``(config, states, words)``: what the seats on turn observe."""
    observe, observe_row = game.kernels.observe, game.kernels.observe_row

    @entry(f"{game.name}.search.observed", [str(game.folder), __file__])
    def observed(config, states, words):  # type: ignore[no-untyped-def]
        for i in range(states.shape[0]):
            observe(config, states[i], states[i].seat, words, i)
            observe_row(config, states[i], words, i)

    return observed


def observed_words(game: Game, config: Any, records: Any) -> np.ndarray[Any, Any]:
    """What the seats on turn observe, packed, uint64 (n, W)."""
    words = np.zeros((len(records), game.layout.words), np.uint64)
    _observe_driver(game)(config, records, words)
    return words


#: Modules with a kernel ``value`` for games whose points are too jumpy to be averaged as they are.
VALUES = {"tarot": "baselines.bots.value_tarot"}


def value_of(game: Game) -> Callable[..., Any]:
    """Kernel ``(st, seat, points, smooth) -> float64``: a finished deal's worth to a seat, in units.

    The points of the seat less the table's mean, unless the game has a kernel of its own.
    """
    if game.name in VALUES:
        return importlib.import_module(VALUES[game.name]).value  # type: ignore[no-any-return]

    @kernel
    def over_table(st: Any, seat: Any, points: Any, smooth: Any) -> Any:
        return points[0, seat] - 0.25 * (points[0, 0] + points[0, 1] + points[0, 2] + points[0, 3])

    return over_table


def spend(
    play: Callable[[int, int, int, int], None],
    lo: int,
    hi: int,
    *,
    most: int,
    milliseconds: float,
    at_once: int,
    unsettled: np.ndarray[Any, Any],
) -> None:
    """Search for rows ``lo`` to ``hi - 1``, each by its number of tries or its time.

    Args:
        play: ``(lo, hi, done, tries)``: so many more tries for these rows, after ``done`` ones.
        lo: First row.
        hi: The row after the last.
        most: Tries for a row.
        milliseconds: If above 0: instead of these, row by row as many as begin within this time, ``at_once`` at least.
        at_once: Tries between two looks at the clock.
        unsettled: bool (n,), written by ``play``: which rows would gain from more.
    """
    if milliseconds == 0:
        play(lo, hi, 0, most)
        return
    for i in range(lo, hi):
        end, done = time.perf_counter() + milliseconds / 1000, 0
        while done == 0 or (unsettled[i] and time.perf_counter() < end):
            play(i, i + 1, done, at_once)
            done += at_once


class Plan(NamedTuple):
    """How an :class:`AdvisedBot` searches a game."""

    #: Entry ``(config, views, randoms, lo, hi, done, tries, scratch, open, actions)``: so many more tries for rows ``lo`` to ``hi - 1``
    #: after ``done`` ones; it writes the best actions so far and which rows would gain from more. ``randoms`` are the rows' random
    #: states, which go on. Only one row at a time can be taken up again, since ``scratch`` holds what is known of it.
    search: Callable[..., None]
    #: (bonuses) -> what one thread works in; ``bonuses`` (n, A) are added to the means of the actions, in units.
    make_scratch: Callable[[np.ndarray[Any, Any]], Any]
    #: (scratch) -> record with ``fault`` (1 + seat for which the playout policy had no legal action; 0: none) and ``fault_action``.
    report: Callable[[Any], Any]
    #: Tries for a row.
    most: int
    #: Tries between two looks at the clock.
    at_once: int


class AdvisedBot(RowBot):
    """Base class of search bots in which a net may have a say; subclasses give :meth:`plan`.

    Attributes:
        milliseconds: If above 0: for every row as many tries as begin within this time, in place of the plan's number.
        threads: Threads that share the rows of a batch.
        net: Name or file of the net (``own``: the library's newest of the game); none if empty.
        trust: Points that a factor of e in an action's chance under the net's policy is worth.
    """

    milliseconds: float = 0.0
    threads: int = 1
    net: str = ""
    trust: float = 0.0
    _adviser: nets.Net | None = None

    def advise(self, net: str, trust: float) -> None:
        """Give a net a say. A file is read here and not again, so that the bot stays the same."""
        self.net, self.trust = net, trust
        self._adviser = net_of(self.name, net)

    def plan(self, game: Game) -> Plan:
        """How it searches a game.

        Raises:
            ValueError: It does not play the game.
        """
        raise NotImplementedError

    def act_batch(self, views: BatchView) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self._decide(views.game, views.config, views.records, views.randoms, views.words)

    def decide(
        self,
        game: Game,
        config: np.ndarray[Any, Any],
        records: np.ndarray[Any, Any],
        randoms: np.ndarray[Any, Any],
    ) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self._decide(game, config, records, randoms, None)

    def _decide(
        self, game: Game, config: Any, records: Any, randoms: Any, words: Any
    ) -> np.ndarray[Any, np.dtype[np.int64]]:
        """As :meth:`decide`; ``words`` is what the seats observe, uint64 (n, W), None: not known yet.

        Raises:
            ValueError: The bot does not play the game, or its playout policy chose an action that is not legal.
        """
        bonuses = self._bonuses(game, config, records, words)
        plan = self.plan(game)
        short = without_settled_tricks(config)
        own, count = randoms.copy(), len(records)
        actions, unsettled = np.zeros(count, np.int64), np.zeros(count, np.bool_)
        faults: list[tuple[int, int]] = []

        def work(lo: int, hi: int) -> None:
            scratch = plan.make_scratch(bonuses)

            def play(lo: int, hi: int, done: int, tries: int) -> None:
                plan.search(short, records, own, lo, hi, done, tries, scratch, unsettled, actions)

            spend(
                play,
                lo,
                hi,
                most=plan.most,
                milliseconds=self.milliseconds,
                at_once=plan.at_once,
                unsettled=unsettled,
            )
            report = plan.report(scratch)
            if report["fault"]:
                faults.append((int(report["fault"]) - 1, int(report["fault_action"])))

        share_rows(work, count, check_threads(self.threads))
        if faults:
            seat, action = min(faults)
            if action < 0:
                raise ValueError(
                    f"bot {self.name!r}: seat {seat} runs out of cards; a bot that sees all hands needs states that hold them"
                )
            raise ValueError(
                f"bot {self.name!r}: its playout policy, at seat {seat}, chose {action}, which is not legal"
            )
        return actions

    def _bonuses(self, game: Game, config: Any, records: Any, words: Any) -> np.ndarray[Any, Any]:
        """What the net's opinion adds to the mean of each action, float64 (n, A) in units."""
        net = net_of(self.name, self.net, game, self._adviser)
        if net is None or self.trust == 0:
            return np.zeros((len(records), game.num_actions))
        logits = net.logits(observed_words(game, config, records) if words is None else words)
        logits[~nets.unpack(records["legal"], game.num_actions).astype(bool)] = -np.inf
        chances = logits - logits.max(axis=1, keepdims=True)
        points = self.trust * np.maximum(chances, -50.0)
        return np.asarray(points / game.unit, np.float64)
