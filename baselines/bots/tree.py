"""Tree search with playouts over worlds: what the bots ``oracle`` and ``ismcts`` share.

One simulation: take a world (a full deal), go down the tree, add a node, let a playout policy play to the end of the deal, and add
each seat's points less the table's mean to the nodes on the way. A node stands for the actions since the root, which all seats
have seen, so one tree serves all worlds: a node's children are the actions that were legal in some world, and in each world the
choice is among those that are legal in it (single-observer information-set tree search). Of actions that are alike only the lowest is tried. The choice is by UCB1 with
the number of times that an action was available in place of the parent's visits, and with the points' standard deviation, as
the search has seen it, for a scale.

Sources: Cowling, Powley, Whitehouse, "Information set Monte Carlo tree search", IEEE TCIAIG 4, 2012; Auer, Cesa-Bianchi, Fischer,
"Finite-time analysis of the multiarmed bandit problem", Machine Learning 47, 2002.

A rest of the deal short enough may be valued exactly instead of being played out (:mod:`baselines.bots.exact`).
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from baselines.bots import exact
from baselines.bots.race import Race, make_race
from baselines.bots.search import (
    AdvisedBot,
    Plan,
    check_integer,
    check_number,
    distinct_of,
)
from trick_core.bits import ONE, ZERO, lowest, popcount, select
from trick_core.drivers import JitBot
from trick_core.game import Game
from trick_core.jit import kernel, records
from trick_core.rng import advance, below, mix
from trick_core.rollouts import choice_of

#: Simulations between two looks at the clock.
ROUND = 32
#: Nodes that a simulation adds, as a rule at most; and those of a tree at most (40 bytes each).
NODES_EACH, MOST_NODES = 5, 1 << 18

#: How the seats other than the one that decides act in the tree: as the playout policy does, or choosing in it.
OTHERS = ("playout", "search")

#: States of a search: the root, as the only deal of its episode; a world played on from it; what a playout policy sees.
ROOT, NOW, SEEN = range(3)

#: One node; node 0 is the root.
NODE = np.dtype(
    [
        ("total", "f8"),  # sum over visits of what the seat that led here got, less the mean; units
        ("visits", "i4"),
        ("available", "i4"),  # how often its action was legal when its parent was visited
        ("action", "i4"),  # the action that leads here
        ("child", "i4"),  # first child; -1: none
        ("next", "i4"),  # next child of the same parent; -1: none
        ("seat", "i4"),  # the seat that took the action
    ],
    align=True,
)

#: What one search keeps besides its tree.
TALLY = np.dtype(
    [
        ("nodes", "i8"),  # nodes in use
        ("simulations", "f8"),
        ("total", "f8"),  # their values to the seat that decides, summed
        ("squares", "f8"),  # and squared
        ("fault", "i4"),  # 1 + seat for which the playout policy chose an illegal action; 0: none
        ("fault_action", "i4"),
    ],
    align=True,
)

#: How to search.
OPTION = np.dtype(
    [
        ("explore", "f8"),  # UCB's constant, in standard deviations
        ("depth", "i4"),  # actions chosen in the tree in one simulation, at most
        ("searched", "i1"),  # 1: all seats choose in the tree; 0: the others do as the policy does
        ("exact", "i4"),  # rests of so many tricks are valued exactly; 0: none
    ],
    align=True,
)


class Scratch(NamedTuple):
    """What one thread works in; A is the game's number of actions."""

    states: np.ndarray[Any, Any]  # (3,) see ROOT
    nodes: np.ndarray[Any, Any]  # (size,) NODE; when all are in use the tree stays as it is
    path: np.ndarray[Any, Any]  # (longest,) int64: nodes of one simulation
    untried: np.ndarray[Any, Any]  # (1, words) uint64: legal actions without a node
    tally: np.ndarray[Any, Any]  # (1,) TALLY
    option: np.ndarray[Any, Any]  # (1,) OPTION
    points: np.ndarray[Any, Any]  # (1, 4) float64
    race: Race  # between the root's actions
    roots: np.ndarray[
        Any, Any
    ]  # (A,) int64: the root's children that have been in the race, by action
    endings: Any  # exact.Work
    worlds: Any  # what the source of worlds works in


def make_scratch(
    game: Game, option: np.ndarray[Any, Any], size: int, race: Race, worlds: Any
) -> Scratch:
    """Scratch for one thread, with room for ``size`` nodes."""
    solves, count = bool(option["exact"][0]), game.num_actions
    return Scratch(
        states=game.states(3),
        nodes=records(size, NODE),
        path=np.zeros(8 * count, np.int64),
        untried=np.zeros((1, game.mask_words), np.uint64),
        tally=records(1, TALLY),
        option=option,
        points=np.zeros((1, 4)),
        race=race,
        roots=np.zeros(count, np.int64),
        endings=exact.make_work(game, exact.TABLE_BITS if solves else 0),
        worlds=worlds,
    )


class Tree(NamedTuple):
    """Kernels of the search for one game and playout policy; ``config`` has the root's deal alone."""

    #: (seat, scratch): a tree of nothing but the root.
    plant: Callable[..., Any]
    #: (node, action, seat, scratch) -> int64: a new child; -1: there is no room.
    add_child: Callable[..., Any]
    #: (config, seat, node, random, scratch) -> random: one simulation from ``states[NOW]``, which is at ``node``. What each seat got
    #: less the mean is then in ``points``.
    simulate: Callable[..., Any]
    #: (scratch) -> int64: the most visited child of the root, of equals the one with the lowest action.
    most_visited: Callable[..., Any]


@functools.cache
def tree(game: Game, policy: JitBot, solves: bool) -> Tree:
    """The kernels.

    Args:
        game: The game.
        policy: Plays in the playouts.
        solves: Whether ``option.exact`` counts; without it there is less to compile.
    """
    step, returns = game.kernels.step, game.kernels.returns
    choice = choice_of(game, policy)
    words, num_actions = game.mask_words, game.num_actions
    distinct = distinct_of(game)

    @kernel
    def plant(seat, scratch):
        tally = scratch.tally[0]
        tally.nodes = 0
        tally.simulations = 0.0
        tally.total = 0.0
        tally.squares = 0.0
        put_node(-1, seat, scratch)

    @kernel
    def put_node(action, seat, scratch):
        tally = scratch.tally[0]
        node = scratch.nodes[tally.nodes]
        node.total = 0.0
        node.visits = 0
        node.available = 1
        node.action = action
        node.child = -1
        node.next = -1
        node.seat = seat
        tally.nodes += 1

    @kernel
    def add_child(node, action, seat, scratch):
        child = np.int64(scratch.tally[0].nodes)
        if child >= scratch.nodes.shape[0]:
            return np.int64(-1)
        put_node(action, seat, scratch)
        scratch.nodes[child].next = scratch.nodes[node].child
        scratch.nodes[node].child = child
        return child

    @kernel
    def find_child(node, action, scratch):
        child = np.int64(scratch.nodes[node].child)
        while child >= 0 and scratch.nodes[child].action != action:
            child = np.int64(scratch.nodes[child].next)
        return child

    @kernel
    def deviation(scratch):
        """Standard deviation of the values so far; 1 where there is none."""
        tally = scratch.tally[0]
        if tally.simulations < 2.0:
            return 1.0
        mean = tally.total / tally.simulations
        return math.sqrt(max(tally.squares / tally.simulations - mean * mean, 1e-12))

    @kernel
    def best_child(config, node, st, scratch):
        """The child with the highest bound among the legal actions, of alike ones the lowest; ``untried`` is left with those that
        have no child.
        """
        distinct(config, st, scratch.untried, 0)
        width = scratch.option[0].explore * deviation(scratch)
        best, highest_bound = np.int64(-1), -math.inf
        child = np.int64(scratch.nodes[node].child)
        while child >= 0:
            each = scratch.nodes[child]
            word, bit = each.action >> 6, ONE << np.uint64(each.action & 63)
            if scratch.untried[0, word] & bit != ZERO:
                scratch.untried[0, word] ^= bit
                each.available += 1
                bound = math.inf
                if each.visits > 0:
                    spread = math.sqrt(math.log(float(each.available)) / each.visits)
                    bound = each.total / each.visits + width * spread
                if bound > highest_bound:
                    best, highest_bound = child, bound
            child = np.int64(each.next)
        return best

    @kernel
    def pick_untried(random, scratch):
        """One of the legal actions without a node, each with the same chance; -1: there is none."""
        count = 0
        for word in range(words):
            count += popcount(scratch.untried[0, word])
        k = below(random, count)
        for word in range(words):
            here = popcount(scratch.untried[0, word])
            if k < here:
                return np.int64(64 * word + select(scratch.untried[0, word], k))
            k -= here
        return np.int64(-1)

    @kernel
    def policy_action(config, random, scratch):
        """What the playout policy does in ``states[NOW]``; -1: nothing that is legal."""
        st = scratch.states[NOW]
        any_legal = ZERO
        for word in range(words):
            any_legal |= st.legal[word]
        if any_legal == ZERO:  # the state lacks cards
            scratch.tally[0].fault = st.seat + 1
            scratch.tally[0].fault_action = -1
            return np.int64(-1)
        seen = scratch.states[SEEN : SEEN + 1]
        action = choice(np.int64(0), config, scratch.states, np.int64(NOW), seen, random)
        inside = action >= 0 and action < num_actions
        if inside and (st.legal[action >> 6] >> np.uint64(action & 63)) & ONE != ZERO:
            return action
        scratch.tally[0].fault = st.seat + 1
        scratch.tally[0].fault_action = action
        return np.int64(-1)

    if solves:
        solver = exact.solver(game)
        solve, add_value = solver.solve, solver.add_value
        tricks_left = exact.endings_of(game).tricks_left

        @kernel
        def is_short(config, scratch):
            """Whether the rest is to be solved."""
            st = scratch.states[NOW]
            return tricks_left(config, st) <= scratch.option[0].exact

        @kernel
        def add_rest(config, scratch):
            """Solve the rest, and add it to ``points``."""
            work = scratch.endings
            work.salt[0] = mix(advance(work.salt[0]))
            work.states[0] = scratch.states[NOW]
            solve(config, work, np.int64(1) << 40)
            add_value(config, work, scratch.points, 0)

    else:

        @kernel
        def is_short(config, scratch):
            return False

        @kernel
        def add_rest(config, scratch):
            pass

    @kernel
    def descend(config, seat, random, scratch):
        """From the node ``path[0]`` to a new one; the random state, and the last place of the path."""
        option = scratch.option[0]
        st = scratch.states[NOW]
        node = scratch.path[0]
        depth, chosen = 0, 0
        while st.seat >= 0 and chosen < option.depth:
            if node != 0 and is_short(config, scratch):  # the root has to choose in any case
                break
            random = advance(random)
            new = False
            if option.searched != 0 or st.seat == seat:
                chosen += 1
                child = best_child(config, node, st, scratch)
                action = pick_untried(mix(random), scratch)
                if action >= 0:
                    added = add_child(node, action, st.seat, scratch)
                    if added >= 0:
                        child, new = added, True
            else:
                action = policy_action(config, mix(random), scratch)
                if action < 0:
                    break
                child = find_child(node, action, scratch)
                if child < 0:
                    child = add_child(node, action, st.seat, scratch)
            if child < 0:  # no room
                break
            node = child
            depth += 1
            scratch.path[depth] = node
            step(config, st, scratch.nodes[node].action)
            if new:
                break
        return random, depth

    @kernel
    def play_out(config, random, scratch):
        """Let the policy play ``states[NOW]`` to the end or to what can be solved."""
        st = scratch.states[NOW]
        while st.seat >= 0 and not is_short(config, scratch):
            random = advance(random)
            action = policy_action(config, mix(random), scratch)
            if action < 0:
                break
            step(config, st, action)
        return random

    @kernel
    def simulate(config, seat, node, random, scratch):
        scratch.path[0] = node
        random, depth = descend(config, seat, random, scratch)
        random = play_out(config, random, scratch)
        points = scratch.points
        for k in range(4):
            points[0, k] = 0.0
        st = scratch.states[NOW]
        returns(config, st, points, 0)
        if st.seat >= 0 and is_short(config, scratch):
            add_rest(config, scratch)
        mean = 0.25 * (points[0, 0] + points[0, 1] + points[0, 2] + points[0, 3])
        for k in range(4):
            points[0, k] -= mean
        for k in range(depth + 1):
            each = scratch.nodes[scratch.path[k]]
            each.visits += 1
            each.total += points[0, each.seat & 3]
        tally = scratch.tally[0]
        tally.simulations += 1.0
        tally.total += points[0, seat]
        tally.squares += points[0, seat] * points[0, seat]
        return random

    @kernel
    def most_visited(scratch):
        best = np.int64(-1)
        child = np.int64(scratch.nodes[0].child)
        while child >= 0:
            each = scratch.nodes[child]
            more = best < 0 or each.visits > scratch.nodes[best].visits
            if best >= 0 and each.visits == scratch.nodes[best].visits:
                more = each.action < scratch.nodes[best].action
            if more:
                best = child
            child = np.int64(each.next)
        return best

    return Tree(plant, add_child, simulate, most_visited)


@functools.cache
def only_choice(game: Game, solves: bool) -> Callable[..., Any]:
    """Kernel ``(config, scratch) -> action`` for a root that needs no search: its only legal action, or with ``solves`` the best one
    where the rest is to be solved; -1: it needs one.
    """
    words = game.mask_words

    @kernel
    def forced(scratch):
        st = scratch.states[ROOT]
        count, action = 0, np.int64(-1)
        for word in range(words):
            count += popcount(st.legal[word])
            if st.legal[word] != ZERO:
                action = np.int64(64 * word + lowest(st.legal[word]))
        return action if count == 1 else np.int64(-1)

    if not solves:

        @kernel
        def settled(config, scratch):
            return forced(scratch)

        return settled

    best_action = exact.drivers(game).best_action
    tricks_left = exact.endings_of(game).tricks_left

    @kernel
    def settled_or_solved(config, scratch):
        action = forced(scratch)
        if action >= 0 or tricks_left(config, scratch.states[ROOT]) > scratch.option[0].exact:
            return action
        limit = np.int64(1) << 40
        return best_action(config, scratch.states, np.int64(ROOT), scratch.endings, limit)

    return settled_or_solved


def check_budget(bot: str, iterations: Any, milliseconds: Any, threads: Any) -> None:
    """Refuse settings that are out of range.

    Raises:
        ValueError: One is.
    """
    check_integer(bot, "iterations", iterations)
    check_number(bot, "milliseconds", milliseconds)
    check_integer(bot, "threads", threads)


class TreeBot(AdvisedBot):
    """Base class of bots that search a tree; subclasses give :meth:`search`.

    Args:
        name: Name in results.
        iterations: Simulations for a decision.
        milliseconds: If above 0: as many as fit into this time instead.
        threads: Threads that share the rows of a batch.
        explore: See OPTION, as the others.
        searched: Whether all seats choose in the tree.
        exact: Rests of so many tricks are solved.
        depth: Actions chosen in the tree, at most; from 1 where the root chooses in it.
        drop: In the race of the root's actions, see :data:`baselines.bots.race.TALLY`.
        least: Likewise.
        net: A net that has a say in that race, see :class:`baselines.bots.search.AdvisedBot`.
        trust: How much.
    """

    def __init__(
        self,
        name: str,
        *,
        iterations: int,
        milliseconds: float,
        threads: int,
        explore: float,
        searched: bool,
        exact: int,
        depth: int = 1 << 20,
        drop: float = 0.0,
        least: int = 0,
        net: str = "",
        trust: float = 0.0,
    ) -> None:
        self.name = name
        self.iterations, self.milliseconds, self.threads = iterations, milliseconds, threads
        self.option = records(1, OPTION)
        self.option["explore"], self.option["searched"] = explore, searched
        self.option["exact"], self.option["depth"] = exact, depth
        self.drop, self.least = drop, least
        self.advise(net, trust)

    def search(self, game: Game) -> Callable[..., None]:
        """The search for a game, see :class:`baselines.bots.search.Plan`; a try is a simulation, and ``scratch`` holds the tree."""
        raise NotImplementedError

    def worlds(self, game: Game) -> Any:
        """What the source of worlds works in; one for each thread."""
        return None

    def plan(self, game: Game) -> Plan:
        size = MOST_NODES
        if self.milliseconds == 0:
            size = min(size, game.num_actions + 1 + NODES_EACH * self.iterations)

        def scratch(bonuses: np.ndarray[Any, Any]) -> Scratch:
            race = make_race(game, self.drop, bonuses, self.least)
            return make_scratch(game, self.option, size, race, self.worlds(game))

        return Plan(
            search=self.search(game),
            make_scratch=scratch,
            report=lambda scratch: scratch.tally[0],
            most=self.iterations,
            at_once=ROUND,
        )
