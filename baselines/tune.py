"""Tuning greedy's weights in self-play: ``python -m baselines.tune [contract ...]``.

Coordinate search on common deals: a candidate row that differs from the base row in one weight plays each deal four
times, once in each seat, against three players with the base row. It replaces the base when it gains more than
``MARGIN`` standard errors; every weight is tried on deals of its own. Weights tuned against random play lose to weights
tuned so, hence the base is always greedy itself. The result is printed as rows of ``greedy_bolola.WEIGHTS``.

Where no single weight helps any more, ``--evolve GENERATIONS`` moves all weights of a row together: CMA-ES (Hansen, "The CMA
evolution strategy: a tutorial", 2016, by the package ``cma``), every generation on deals of its own.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from baselines.bots.greedy_bolola import (
    ROW_NAMES,
    START,
    WEIGHT_NAMES,
    WEIGHTS,
    choose,
)
from baselines.extras import needs
from bolola_env.contracts import CONTRACTS
from bolola_env.game import GAME, setup
from trick_core.drivers import uniform_choice
from trick_core.jit import entry
from trick_core.rng import DEALS, advance, mix, stream_key

MARGIN = 2.0
#: Deals of the report; the search stays below.
FRESH_DEALS = 10_000_000
#: Deals on which a candidate is first looked at, and further ones that a promising one plays.
TRIAL_DEALS = (500, 4500)
#: A weight w is tried at w + step * (SCALE + |w|) for each step.
STEPS = (-1.0, -0.4, -0.15, 0.15, 0.4, 1.0)
SCALE = 0.3
#: Least and greatest values; the others may be anything.
LEAST = {"over": 0.0, "high": 0.0, "floor": 0.0, "guard": 0.0}
MOST = {"over": 1.0}
#: CMA-ES: candidates and deals a generation, generations between new bases, first step in units of SCALE + |w|.
CANDIDATES, EVOLVE_DEALS, NEW_BASE, FIRST_STEP = 12, 1500, 15, 0.15
#: Rows for users' contracts, and the mixed contract whose weights they take.
DEFAULTS = {"penalties": "all_penalties", "gains": "bolola"}
#: Weights that only rows with trumps use.
TRUMP_ONLY = ("keep_trump", "draw", "name_high")

_begin, _step = GAME.kernels.begin, GAME.kernels.step
_random = uniform_choice(GAME)


@entry("bolola.tune.duel", [__file__, str(GAME.folder), str(GAME.folder.parent / "baselines/bots")])
def duel(config, states, candidate, base, seed, first, deals, against_random, out):  # type: ignore[no-untyped-def]
    """``out[d]``: the candidate's points over the table's mean on deal d, the mean of its four seats."""
    st = states[0]
    for d in range(deals):
        key = stream_key(np.uint64(seed), np.uint64(first + d), DEALS)
        out[d] = 0.0
        for seat in range(4):
            _begin(config, st, key, 0)
            random = key
            while st.seat >= 0:
                if st.seat == seat:
                    action = choose(candidate, config, st)
                elif against_random:
                    random = advance(random)
                    action = _random(config, st, mix(random))
                else:
                    action = choose(base, config, st)
                _step(config, st, action)
            total = 0.0
            for other in range(4):
                total += st.points[other]
            out[d] += (st.points[seat] - total / 4.0) / 4.0


def play(
    contract: Any,
    candidate: np.ndarray[Any, Any],
    base: np.ndarray[Any, Any],
    deals: int,
    *,
    first: int = 0,
    against_random: bool = False,
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Points over the table's mean on each deal, candidate against three of the base."""
    config = setup(contract).config
    out = np.zeros(deals)
    duel(  # type: ignore[no-untyped-call]
        config, GAME.states(1), candidate, base, 20_240_501, first, deals, against_random, out
    )
    return out


def tune(
    contract: str,
    weights: np.ndarray[Any, Any],
    rounds: int,
    trial_deals: tuple[int, int] = TRIAL_DEALS,
    log: Any = print,
) -> None:
    """Improve the contract's row of ``weights`` in place."""
    screen_deals, confirm_deals = trial_deals
    row = ROW_NAMES.index(contract)
    trumps = CONTRACTS[contract].trumps
    names = [name for name in WEIGHT_NAMES if trumps or name not in TRUMP_ONLY]
    first = 0
    for number in range(rounds):
        changed = 0
        for name in names:
            column = WEIGHT_NAMES.index(name)
            best_gain, best_value = 0.0, 0.0
            old = float(weights[row, column])
            for step in STEPS:
                value = old + step * (SCALE + abs(old))
                value = min(max(value, LEAST.get(name, -np.inf)), MOST.get(name, np.inf))
                if value == old:
                    continue
                candidate = weights.copy()
                candidate[row, column] = round(value, 3)
                points = play(contract, candidate, weights, screen_deals, first=first)
                if points.mean() <= best_gain / 2:
                    continue
                more = play(contract, candidate, weights, confirm_deals, first=first + screen_deals)
                points = np.concatenate([points, more])
                gain = float(points.mean())
                if gain > max(best_gain, MARGIN * points.std() / len(points) ** 0.5):
                    best_gain, best_value = gain, round(value, 3)
            first += screen_deals + confirm_deals
            if best_gain > 0:
                weights[row, column] = best_value
                changed += 1
                log(f"{contract} round {number + 1}: {name} {old} -> {best_value} {best_gain:+.2f}")
        if not changed:
            break


def evolve(
    contract: str, weights: np.ndarray[Any, Any], generations: int, log: Any = print
) -> None:
    """Improve the contract's row of ``weights`` in place, all its weights at once."""
    with needs("dev"):
        import cma
    row = ROW_NAMES.index(contract)
    trumps = CONTRACTS[contract].trumps
    names = [name for name in WEIGHT_NAMES if trumps or name not in TRUMP_ONLY]
    columns = [WEIGHT_NAMES.index(name) for name in names]
    low = [LEAST.get(name, -np.inf) for name in names]
    high = [MOST.get(name, np.inf) for name in names]
    start = weights[row, columns].copy()

    def table(step: Any) -> np.ndarray[Any, Any]:
        moved = weights.copy()
        values = start + np.asarray(step) * (SCALE + np.abs(start))
        moved[row, columns] = np.round(np.clip(values, low, high), 3)
        return moved

    search = cma.CMAEvolutionStrategy(
        np.zeros(len(names)), FIRST_STEP, {"popsize": CANDIDATES, "seed": 1, "verbose": -9}
    )
    base = weights
    for number in range(generations):
        steps = search.ask()
        first = number * EVOLVE_DEALS
        points = [play(contract, table(s), base, EVOLVE_DEALS, first=first).mean() for s in steps]
        search.tell(steps, [-mean for mean in points])
        if number % NEW_BASE == NEW_BASE - 1:
            base = table(search.mean)
    evolved = table(search.mean)
    gains = play(contract, evolved, weights, 20_000, first=generations * EVOLVE_DEALS)
    losses = play(contract, weights, evolved, 20_000, first=generations * EVOLVE_DEALS)
    log(f"{contract} evolved: {summary(gains)} over three old; old over three: {summary(losses)}")
    if min(gains.mean(), -losses.mean()) > 0:
        weights[row] = evolved[row]


def rows_text(weights: np.ndarray[Any, Any]) -> str:
    """The table as source text."""
    return "\n".join(row_text(row, name) for name, row in zip(ROW_NAMES, weights, strict=True))


def row_text(row: np.ndarray[Any, Any], name: str) -> str:
    """One row of it."""
    return f"        ({', '.join(f'{w:g}' for w in row)}),  # {name}"


def summary(points: np.ndarray[Any, Any]) -> str:
    """Mean and the half-width of its 95 % interval."""
    return f"{points.mean():+.1f} +- {1.96 * points.std(ddof=1) / len(points) ** 0.5:.1f}"


def main() -> None:
    """Tune the named contracts and print their rows and what they reach on deals not used before."""
    parser = argparse.ArgumentParser(prog="python -m baselines.tune", description=main.__doc__)
    parser.add_argument("contracts", nargs="*", default=list(CONTRACTS), metavar="contract")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--deals", type=int, nargs=2, default=TRIAL_DEALS, help="of a trial")
    parser.add_argument("--evolve", type=int, default=0, metavar="GENERATIONS")
    parser.add_argument("--from-start", action="store_true", help="start from START, not WEIGHTS")
    options = parser.parse_args()
    weights = (START if options.from_start else WEIGHTS).copy()
    for contract in options.contracts:
        tune(contract, weights, options.rounds, tuple(options.deals))
        if options.evolve:
            evolve(contract, weights, options.evolve)
        over_random = play(contract, weights, weights, 2000, first=FRESH_DEALS, against_random=True)
        over_start = play(contract, weights, START, 2000, first=FRESH_DEALS)
        texts = (summary(over_random), summary(over_start))
        print("{}: over 3 random {}, over 3 untuned {}".format(contract, *texts))
        print(row_text(weights[ROW_NAMES.index(contract)], contract), flush=True)
    for default, contract in DEFAULTS.items():
        weights[ROW_NAMES.index(default)] = weights[ROW_NAMES.index(contract)]
    print(rows_text(weights))


if __name__ == "__main__":
    main()
