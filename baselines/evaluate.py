"""Who plays better, and how sure is it: policies against each other on duplicate deals.

Each deal is played several times with the policies in other seats, so that every policy holds every hand; luck of the
cards cancels out. What counts is a policy's points over the table's mean in the same game. All seatings of one deal make one
observation: standard errors are over deals, not games.

* ``evaluate(env, [candidate, other])``: one candidate against three of the other, four seatings a deal.
* ``evaluate(env, [a, b, c, d])``: this table in all different orders (``arrangements="rotations"``: only rotated; ``"one"``: each
  deal once).
* ``compare(env, a, b, opponents=["random", "greedy"])``: candidates in the same seats of the same deals among the same
  opponents, and the differences between them.
* ``tournament(env, [a, b, c, ...])``: every pair two against two, in all six seatings.

A deal and the randomness of the bots on it depend on the suite (or seed) and the deal's number alone, and are the same in all
its seatings; so neither threads nor batch size change a result. Two policies that always play alike score
exactly alike. Everybody against everybody, in many environments, on all cores or a cluster: :mod:`baselines.ladder`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import baselines  # noqa: F401  (registers the bots)
from baselines.evaluation.comparison import Comparison, compare
from baselines.evaluation.control import control_for
from baselines.evaluation.games import (
    ARRANGEMENTS,
    DEFAULT_BATCH,
    Contest,
    check_arrangements,
    check_names,
    distinct,
    find_source,
    listed,
    merge,
    orders_of,
    play_until,
    reporting,
)
from baselines.evaluation.results import (
    FORMAT,
    FORMAT_VERSION,
    Difference,
    Result,
    Role,
    Row,
    Tournament,
    print_result,
    result_of,
    run_of,
)
from baselines.evaluation.statistics import Estimate, estimate, ratio, t_quantile
from trick_core.bots import as_bot
from trick_core.game import NUM_SEATS, setup_for

__all__ = [
    "ARRANGEMENTS",
    "FORMAT",
    "FORMAT_VERSION",
    "Comparison",
    "Difference",
    "Estimate",
    "Result",
    "Role",
    "Row",
    "Tournament",
    "compare",
    "estimate",
    "evaluate",
    "print_result",
    "ratio",
    "score_against",
    "t_quantile",
    "tournament",
]


def evaluate(
    env: Any,
    policies: Sequence[Any],
    *,
    suite: str | None = None,
    deals: int | Sequence[Any] | None = None,
    seed: int | None = None,
    arrangements: str = "all",
    until: float | None = None,
    control: Any = None,
    names: Sequence[str] | None = None,
    num_threads: int = 1,
    batch_size: int = DEFAULT_BATCH,
    progress: bool | None = None,
    **options: Any,
) -> Result:
    """Play policies against each other on duplicate deals.

    Args:
        env: Environment id, or a setup.
        policies: Two: the first alone against three of the second. Four: a table; the same name or object twice is one
            policy. A policy is whatever :func:`trick_core.bots.as_bot` takes.
        suite: Name of a suite. If neither suite, seed nor custom deals are given: the environment's own suite, or seed 0 where
            it has none (options that change the game).
        deals: How many of the suite's (None: all) or the seed's (None: 1000); or custom deals: each a deal as
            ``reset(options={"deal": ...})`` takes it, or such a dict of options. With ``until`` the most that are played.
        seed: Draw deals from this seed, in the domain of suites, which no environment trains on. With custom deals: what
            they leave open, and the bots' randomness (default 0).
        arrangements: ``"all"`` different orders of the table, or its ``"rotations"``; in both each policy holds each
            hand equally often. ``"one"``: each deal once, seated as given.
        until: Play as many deals as make half the first policy's 95 % interval no more than so many points (see
            :func:`baselines.evaluation.statistics.deals_needed`; 200 at least, so the interval may be shorter).
        control: A bot with a kernel, as ``"greedy"``. It plays the first of two policies' part on the same deals, and
            the luck that both share is taken off (see :mod:`baselines.evaluation.control`).
        names: Names of the policies in the result, one an entry of ``policies``.
        num_threads: Threads for jitted policies.
        batch_size: Games played side by side.
        progress: False: no progress bar; else one if standard error is a terminal.
        **options: Options of the environment.

    Raises:
        ValueError: Wrong arguments; a bot that does not play this game; or a policy chose an action that is not legal (the
            message names policy, deal, seat, action and the legal ones).
        TypeError: An option that the environment does not have, or a policy that is no bot.
    """
    setup = setup_for(env, **options)
    specs = [policies] if isinstance(policies, str) else listed("policies", policies)
    if len(specs) not in (2, NUM_SEATS):
        raise ValueError(
            f"policies: expected 2 (one against three of the other) or {NUM_SEATS} (a table), got {len(specs)}"
        )
    check_arrangements(arrangements)
    names = check_names(names, len(specs))
    if control is not None and (until is not None or len(specs) != 2):
        raise ValueError("control: for two policies (one against three), and without until")
    if len(specs) == 2:
        bots, lineup = [as_bot(spec) for spec in specs], [0, 1, 1, 1]
        texts = [bot.name for bot in bots] if names is None else names
    else:
        kept, table = merge(specs)
        bots, lineup = [as_bot(specs[i]) for i in kept], table
        texts = [bot.name for bot in bots] if names is None else [names[i] for i in kept]
    source = find_source(setup, suite, deals, seed, without_end=until is not None)
    seatings = orders_of(lineup, arrangements)
    started = time.perf_counter()
    contest = Contest(setup, bots, seatings, source, num_threads, batch_size)
    first = np.array(seatings) == 0
    stop = None
    with reporting(progress, source.count if until is None else None) as report:
        if until is None:
            contest.play_to(source.count, report)
        else:
            stop = play_until([contest], until, lambda: [contest.over_table(first)], report)
    shared = None
    if control is not None:
        shared = control_for(setup, as_bot(control), bots, contest, num_threads, batch_size)
    return result_of(
        setup,
        distinct(texts),
        contest,
        run_of(time.perf_counter() - started, num_threads, batch_size),
        stop=stop,
        control=shared,
    )


def score_against(
    env: Any, policy: Any, other: Any, *, deals: int | None = None, **settings: Any
) -> tuple[float, float]:
    """Points over the table's mean of a policy against three of another, and half the 95 % interval.

    Args:
        env: Environment id or setup.
        policy: The policy.
        other: The other.
        deals: At least 2; the environment's suite, as in :func:`evaluate`.
        **settings: As in :func:`evaluate`.

    Raises:
        ValueError: As there; or a single deal, which has no interval.
        TypeError: As there.
    """
    overall = evaluate(env, [policy, other], deals=deals, **settings).rows[0].overall
    if overall.half is None:
        raise ValueError("deals: an interval needs at least 2")
    return overall.mean, overall.half


def tournament(
    env: Any,
    policies: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    suite: str | None = None,
    deals: int | Sequence[Any] | None = None,
    seed: int | None = None,
    num_threads: int = 1,
    batch_size: int = DEFAULT_BATCH,
    progress: bool | None = None,
    **options: Any,
) -> Tournament:
    """Let every pair of policies play, two against two, each deal in all six seatings.

    The arguments are those of :func:`evaluate`; ``policies`` are two or more.

    Raises:
        ValueError: As there.
        TypeError: As there.
    """
    setup = setup_for(env, **options)
    specs = listed("policies", policies)
    if len(specs) < 2:
        raise ValueError(f"policies: expected at least 2, got {specs!r}")
    names = check_names(names, len(specs))
    bots = [as_bot(spec) for spec in specs]
    labels = distinct([bot.name for bot in bots] if names is None else names)
    source = find_source(setup, suite, deals, seed)
    seatings = orders_of((0, 0, 1, 1), "all")
    pairs, sums = [], [np.zeros(source.count) for _ in bots]
    for i, j in itertools.combinations(range(len(bots)), 2):
        started = time.perf_counter()
        contest = Contest(setup, [bots[i], bots[j]], seatings, source, num_threads, batch_size)
        with reporting(progress, source.count) as report:
            contest.play_to(source.count, report)
        run = run_of(time.perf_counter() - started, num_threads, batch_size)
        pairs.append(result_of(setup, [labels[i], labels[j]], contest, run))
        for number, k in enumerate((i, j)):
            sums[k] += contest.over_table(np.array(seatings) == number) / (len(bots) - 1)
    rows = tuple((label, estimate(values)) for label, values in zip(labels, sums, strict=True))
    return Tournament(setup.id, rows, tuple(pairs))
