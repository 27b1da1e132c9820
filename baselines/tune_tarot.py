"""Tuning greedy's weights for Tarot: ``python -m baselines.tune_tarot hands play bids``.

* ``hands``: what a hand is worth. Greedy plays deals from the discard on with a taker drawn at random, in garde, garde sans and
  garde contre; the margin over the target is regressed on what the taker held before the chien.
* ``play``: the weights of taker, defenders and discard. The base bids; then the candidate plays the taker against
  three defenders of the base, or the three defenders against its taker. What counts is what each defender pays, for the
  contract and the Petit, at x1, less what the base itself would have got on the same deal.
* ``bids``: the weights of the bidding. The candidate sits in each seat of each deal among three of the base and
  plays all of it; what counts is its points.

``play`` and ``bids`` are coordinate searches: a candidate differs from the base in one weight, and replaces it when it gains more than
``MARGIN`` standard errors on deals not used before. The result is printed as the rows of ``greedy_tarot.WEIGHTS``.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from baselines.bots.greedy_tarot import (
    BID_ROW,
    HAND_NAMES,
    ROW_NAMES,
    ROWS,
    START,
    TAKE_ROW,
    WEIGHTS,
    choose,
    feature,
)
from tarot_env.contracts import CONTRACTS
from tarot_env.game import GAME, setup
from tarot_env.scoring import settle
from tarot_env.state import BID
from trick_core.jit import entry
from trick_core.rng import DEALS, stream_key

Floats = np.ndarray[Any, np.dtype[np.float64]]

MARGIN = 2.0
SEED = 20_240_501
#: Deals of the report; the searches stay below.
FRESH_DEALS = 10_000_000
#: A weight w is tried at w + step * (scale + |w|) for each step; the scale is that of a factor, of half points, or as given.
STEPS = (-1.0, -0.4, -0.15, 0.15, 0.4, 1.0)
FACTOR, HALF_POINTS = 0.4, 3.0
SCALES = {
    **dict.fromkeys(
        ("lead", "keep_win", "short", "long", "keep_trump", "keep_trump_win"), HALF_POINTS
    ),
    **dict.fromkeys(
        ("draw", "draw_strong", "draw_petit", "excuse", "void", "length", "king"), HALF_POINTS
    ),
    **dict.fromkeys(("pass_first", "pass_prise", "pass_garde", "pass_garde_sans"), 10.0),
    **dict.fromkeys(("sans", "contre"), 3.0),
}
#: Rows that are searched by each command, and the deals to screen and to confirm a candidate.
SEARCHES = {
    "play": (("taker", "defender", "discard"), 2000, 20_000),
    "bids": (("bid",), 4000, 30_000),
}

#: Who plays with the candidate's weights: nobody, the taker or the defenders from the discard on; 3 + s: seat s everything.
NOBODY, THE_TAKER, THE_DEFENCE, SEAT = 0, 1, 2, 3

_begin, _step = GAME.kernels.begin, GAME.kernels.step
_SOURCES = [__file__, str(GAME.folder), str(GAME.folder.parent / "baselines/bots")]

#: Columns of what :func:`games` reports.
CREDIT, TAKER, CONTRACT, PLAYED_FOR, POINTS, MADE, SHOWN, ANNOUNCED, SWEPT = range(9)


@entry("tarot.tune.games", _SOURCES)
def games(config, states, candidate, base, who, seed, first, deals, out):  # type: ignore[no-untyped-def]
    """``out[d]``: what each defender pays in half points; taker and contract (-1, 0: nobody bid); what he pays for the contract and
    the Petit at x1; the margin in half points; 1 if it was made; poignées shown; chelem announced; tricks of the taker.
    """
    st = states[0]
    for d in range(deals):
        _begin(config, st, stream_key(np.uint64(seed), np.uint64(first + d), DEALS), 0)
        while st.seat >= 0:
            if who >= SEAT:
                ours = st.seat == who - SEAT
            else:
                ours = st.phase != BID and who == (
                    THE_TAKER if st.seat == st.taker else THE_DEFENCE
                )
            _step(config, st, choose(candidate if ours else base, config, st))
        for k in range(9):
            out[d, k] = 0.0
        out[d, TAKER] = st.taker
        if st.taker >= 0:
            points, _, target, made, paid, petit, _, _ = settle(st)
            multiplier = abs(paid) // (50 + abs(points - 2 * target))
            out[d, CREDIT] = st.credit
            out[d, CONTRACT] = st.contract
            out[d, PLAYED_FOR] = (paid + petit) / multiplier
            out[d, POINTS] = points - 2 * target
            out[d, MADE] = 1.0 if made else 0.0
            for seat in range(4):
                out[d, SHOWN] += st.shown_level[seat] > 0
            out[d, ANNOUNCED] = st.chelem == 1
            out[d, SWEPT] = st.taken[st.taker]


@entry("tarot.tune.features", _SOURCES)
def features(config, states, seed, first, deals, out):  # type: ignore[no-untyped-def]
    """``out[d]``: what the scores count in the taker's hand as dealt."""
    st = states[0]
    for d in range(deals):
        _begin(config, st, stream_key(np.uint64(seed), np.uint64(first + d), DEALS), 0)
        suits = st.hands[st.taker] & ~st.chien
        trumps = st.hands_trumps[st.taker] & ~st.chien_trumps
        for which in range(out.shape[1]):
            out[d, which] = feature(suits, trumps, which)


def run(
    candidate: Floats,
    base: Floats,
    who: int,
    deals: int,
    first: int = 0,
    **options: Any,
) -> Floats:
    """The columns of :func:`games`, float64 (deals, 9)."""
    out = np.zeros((deals, 9))
    config = setup(**options).config
    games(config, GAME.states(1), candidate, base, who, SEED, first, deals, out)  # type: ignore[no-untyped-call]
    return out


def duel(candidate: Floats, base: Floats, row: str, deals: int, first: int) -> Floats:
    """What the candidate gains over the base on each deal, in points."""
    if row == "bid":
        total = np.zeros(deals)
        for seat in range(4):
            out = run(candidate, base, SEAT + seat, deals, first)
            total += np.where(out[:, TAKER] == seat, 3.0, -1.0) * out[:, CREDIT] / 8.0
        return total
    who, sign = (THE_DEFENCE, -1.0) if row == "defender" else (THE_TAKER, 1.0)
    out = run(candidate, base, who, deals, first)
    own = run(base, base, NOBODY, deals, first)
    gains: Floats = sign * (out[:, PLAYED_FOR] - own[:, PLAYED_FOR]) / 2.0
    return gains


def search(rows: tuple[str, ...], weights: Floats, rounds: int, deals: tuple[int, int]) -> None:
    """Improve rows of ``weights`` in place."""
    screen, confirm = deals
    first = 0
    for number in range(rounds):
        changed = 0
        for row in rows:
            r = ROWS.index(row)
            for column, name in enumerate(ROW_NAMES[r]):
                best_gain, best_value = 0.0, 0.0
                old = float(weights[r, column])
                for step in STEPS:
                    candidate = weights.copy()
                    candidate[r, column] = round(
                        old + step * (SCALES.get(name, FACTOR) + abs(old)), 3
                    )
                    gains = duel(candidate, weights, row, screen, first)
                    if gains.mean() <= best_gain / 2:
                        continue
                    gains = duel(candidate, weights, row, confirm, first + screen)
                    gain = float(gains.mean())
                    if gain > max(best_gain, MARGIN * gains.std() / len(gains) ** 0.5):
                        best_gain, best_value = gain, float(candidate[r, column])
                first += screen + confirm
                if best_gain > 0:
                    weights[r, column] = best_value
                    changed += 1
                    text = f"round {number + 1}: {row} {name} {old:g} -> {best_value:g} {best_gain:+.3f}"
                    print(text, flush=True)
        if not changed:
            break


def calibrate(weights: Floats, deals: int) -> None:
    """Regress the margin on the hand, for the three rows of ``weights`` that foretell it."""
    for k, contract in enumerate(("garde", "garde_sans", "garde_contre")):
        config = setup(start="discard", contract=contract).config
        counts = np.zeros((deals, len(HAND_NAMES)))
        features(config, GAME.states(1), SEED, 0, deals, counts)  # type: ignore[no-untyped-call]
        out = run(weights, weights, NOBODY, deals, start="discard", contract=contract)
        margins = out[:, POINTS] / 2.0
        row = TAKE_ROW + k
        # Hands that nobody would bid on are left out: what matters is where the decision is made.
        rough = counts @ START[TAKE_ROW, : len(HAND_NAMES)]
        chosen = rough > np.quantile(rough, (0.6, 0.8, 0.85)[k])
        fit, *_ = np.linalg.lstsq(counts[chosen], margins[chosen], rcond=None)
        weights[row, : len(HAND_NAMES)] = np.round(fit, 2)
        spread = (margins - counts @ fit)[chosen].std()
        print(f"{contract}: spread {spread:.1f} points over {chosen.sum()} hands", flush=True)
        if k == 0:
            weights[BID_ROW, ROW_NAMES[BID_ROW].index("spread")] = round(float(spread), 1)


def report(weights: Floats, deals: int = 20_000, first: int = FRESH_DEALS) -> str:
    """How four players with these weights bid and fare."""
    out = run(weights, weights, NOBODY, deals, first)
    taken = out[out[:, TAKER] >= 0]
    lines = [f"{deals} deals: taken {len(taken) / deals:.1%}, made {taken[:, MADE].mean():.1%}"]
    for number, row in enumerate(CONTRACTS, start=1):
        chosen = taken[taken[:, CONTRACT] == number]
        if len(chosen):
            lines.append(
                f"{row.name}: {len(chosen) / len(taken):.1%} of them, made {chosen[:, MADE].mean():.1%}, "
                f"margin {chosen[:, POINTS].mean() / 2:+.1f}, taker {1.5 * chosen[:, CREDIT].mean():+.1f} points"
            )
    lines.append(
        f"poignées {taken[:, SHOWN].sum() / deals:.2%} of deals, chelems announced {taken[:, ANNOUNCED].sum():.0f}, "
        f"made {np.sum(taken[:, SWEPT] == 18)}"
    )
    return "\n".join(lines)


def rows_text(weights: Floats) -> str:
    """The table as source text."""
    return "\n".join(
        f'        "{row}": ({", ".join(f"{w:g}" for w in weights[r, : len(ROW_NAMES[r])])}),'
        for r, row in enumerate(ROWS)
    )


def summary(gains: Floats) -> str:
    """Mean and the half-width of its 95 % interval."""
    return f"{gains.mean():+.2f} +- {1.96 * gains.std(ddof=1) / len(gains) ** 0.5:.2f}"


def main() -> None:
    """Run the named parts in turn; print the weights and what they reach on deals not used before."""
    parser = argparse.ArgumentParser(
        prog="python -m baselines.tune_tarot", description=main.__doc__
    )
    parser.add_argument("parts", nargs="+", choices=["hands", *SEARCHES, "report"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hands", type=int, default=200_000, help="deals for the regression")
    parser.add_argument("--from-start", action="store_true", help="start from START, not WEIGHTS")
    options = parser.parse_args()
    weights = (START if options.from_start else WEIGHTS).copy()
    for part in options.parts:
        if part == "hands":
            calibrate(weights, options.hands)
        elif part in SEARCHES:
            rows, *deals = SEARCHES[part]
            search(rows, weights, options.rounds, (deals[0], deals[1]))
        print(report(weights), flush=True)
    for row in ("taker", "defender", "bid"):
        gains = duel(weights, START, row, 10_000, FRESH_DEALS)
        print(f"over the untuned, as {row}: {summary(gains)}")
    print(rows_text(weights))


if __name__ == "__main__":
    main()
