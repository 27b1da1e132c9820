"""What a bid in Tarot is worth, by simulation: expected points, and the chance to make the contract, for every bid that is open.

The hidden cards are dealt out many times, each way with the same chance; in every world every bid is tried, and a playout policy
bids on and plays for all seats. So the figures hold for a table of such players, who may also bid higher.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tarot_env.cards import CHIEN_SIZE, EXCUSE_ID, HAND_SIZE, NUM_CARDS, card_id
from tarot_env.contracts import PASS
from tarot_env.game import GAME
from tarot_env.reward import INFO_NAMES
from tarot_env.state import BID
from trick_core.belief import view_of
from trick_core.belief import worlds as draw_worlds
from trick_core.bots import View
from trick_core.drivers import JitBot
from trick_core.episodes import check_seed
from trick_core.game import NUM_SEATS, check_integer, check_seat, setup_for
from trick_core.jit import entry, records
from trick_core.records import Table
from trick_core.rng import ROLLOUTS, stream_key
from trick_core.rollouts import PLAYOUT, jit_bot, playout_label
from trick_core.rollouts import playout as playout_kernel

_TAKER, _CONTRACT, _MADE = map(INFO_NAMES.index, ("taker", "contract", "made"))


@dataclass(frozen=True)
class BidValue:
    """What one bid is worth to the seat that makes it.

    Attributes:
        bid: Its text (``"pass"``, ``"garde"``).
        mean: Expected points of the seat, whoever then plays.
        se: Standard error of the mean.
        taken: Chance that the seat becomes the taker with this bid.
        made: Chance that it then makes the contract; None where it never became the taker.
        points: The seat's expected points when it is the taker; None likewise.
    """

    bid: str
    mean: float
    se: float
    taken: float
    made: float | None
    points: float | None

    def __str__(self) -> str:
        text = f"{self.bid:12s} {self.mean:+7.1f} ± {1.96 * self.se:.1f}"
        if self.made is None:
            return text
        return (
            f"{text}; taken {self.taken:.0%}, then made {self.made:.0%}, {self.points:+.1f} points"
        )


def bid_values(
    view: View, worlds: int = 1000, playout: str = "greedy", seed: int | None = None
) -> list[BidValue]:
    """What every open bid is worth.

    Args:
        view: What the seat sees when it is to bid; :func:`hand_view` makes one from cards.
        worlds: Worlds that are drawn; all bids are tried in the same ones.
        playout: Name of the bot that bids on and plays, in all seats; it needs a kernel.
        seed: Of worlds and playouts, from 0; None: the view's ``random``.

    Returns:
        One entry a legal bid, ``pass`` first.

    Raises:
        TypeError: Not a view, or a playout that is no policy.
        ValueError: It is not of Tarot, or its seat is not to bid; an argument out of range; or a playout without a kernel.
    """
    if not isinstance(view, View):
        raise TypeError(f"view: expected a View, got {type(view).__name__}")
    if view.game is not GAME or view.record["phase"][0] != BID:
        raise ValueError("view: expected one of a seat of Tarot that is to bid")
    check_integer("worlds", worlds, 1)
    try:
        policy = jit_bot(GAME, playout)
    except ValueError as error:
        raise ValueError(f"playout: {error}") from None
    word = view.random if seed is None else check_seed(seed)
    states = draw_worlds(view, worlds, word)
    run, rows = records(1, PLAYOUT), GAME.states(2)
    values = []
    for action in view.legal:
        points, infos = np.zeros((worlds, NUM_SEATS)), np.zeros((worlds, len(INFO_NAMES)))
        _player(policy)(view.config, states, action, np.uint64(word), rows, run, points, infos)
        if run["fault"][0]:
            raise ValueError(
                f"playout: {playout!r} chose {run['fault_action'][0]}, which is not legal"
            )
        own = points[:, view.seat] * GAME.unit
        mine = (
            (infos[:, _TAKER] == view.seat)
            & (infos[:, _CONTRACT] == action - PASS)
            & (action > PASS)
        )
        values.append(
            BidValue(
                bid=GAME.actions[action],
                mean=float(own.mean()),
                se=float(own.std(ddof=1)) / math.sqrt(worlds) if worlds > 1 else math.inf,
                taken=float(mine.mean()),
                made=float(infos[mine, _MADE].mean()) if mine.any() else None,
                points=float(own[mine].mean()) if mine.any() else None,
            )
        )
    return values


@functools.cache
def _player(policy: JitBot) -> Callable[..., Any]:
    """Kernel ``(config, states, action, seed, rows, run, points, infos)``: take the action in each state and play on."""
    step, returns, info = GAME.kernels.step, GAME.kernels.returns, GAME.kernels.info
    play_on = playout_kernel(GAME, (policy,))
    label = playout_label((policy,))
    folders = [str(GAME.folder), policy.folder, str(Path(__file__))]

    @entry(None if label is None else f"tarot.bid_values.{label}", folders)
    def play(config, states, action, seed, rows, run, points, infos):  # type: ignore[no-untyped-def]
        for k in range(states.shape[0]):
            rows[0] = states[k]
            step(config, rows[0], action)
            run[0].random = stream_key(seed, np.uint64(k), ROLLOUTS)
            play_on(config, config, rows, 0, rows[1:], run)
            if run[0].fault != 0:
                return
            returns(config, rows[0], points, k)
            info(config, rows[0], infos, k)

    return play


def hand_view(hand: str | Iterable[str | int], bids: Sequence[str] = (), dealer: int = 3) -> View:
    """The view of a seat that is to bid, from its cards.

    Args:
        hand: Its 18 cards, as a text or as texts or ids.
        bids: What the seats before it have said (``["pass", "garde"]``).
        dealer: The dealer's seat; the next one speaks first.

    Raises:
        ValueError: Not 18 different cards, a hand that annuls the deal (T-2.2), bids that are not legal, or no such seat.
    """
    check_seat("dealer", dealer)
    if not isinstance(hand, Iterable):
        raise ValueError(f"hand: expected a text, or a list of texts or ids, got {hand!r}")
    if isinstance(bids, str) or not isinstance(bids, Sequence):
        raise ValueError(f"bids: expected a list of texts, got {bids!r}")
    cards = [card_id(card) for card in (hand.split() if isinstance(hand, str) else hand)]
    if len(cards) != HAND_SIZE or len(set(cards)) != HAND_SIZE:
        raise ValueError(f"hand: expected {HAND_SIZE} different cards, got {len(cards)}")
    if len(bids) >= NUM_SEATS:
        raise ValueError(f"bids: expected at most 3 before the seat's own, got {len(bids)}")
    # Where the other cards lie does not matter, but the lowest trumps may not make a petit sec: they go to the chien.
    rest = [card for card in range(NUM_CARDS) if card not in cards]
    rest = [c for c in rest if c >= EXCUSE_ID] + [c for c in rest if c < EXCUSE_ID]
    chien, rest = rest[:CHIEN_SIZE], rest[CHIEN_SIZE:]
    seat = (dealer + 1 + len(bids)) % NUM_SEATS
    hands = [rest[HAND_SIZE * k : HAND_SIZE * (k + 1)] for k in range(NUM_SEATS - 1)]
    hands.insert(seat, cards)
    deal = {"hands": hands, "chien": chien}
    table = Table(setup_for("tarot/deal"), options={"deal": deal, "dealer": dealer})
    for bid in bids:
        table.step(bid)
    return view_of(table.setup, table.states)
