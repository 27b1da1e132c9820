"""Tables driven through the kernels, with cards as text; and custom contracts for both engines."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bolola_env.cards import CARD_NAMES
from bolola_env.contracts import MAX_TIERS, Contract
from bolola_env.game import setup as bolola_setup
from tests.reference.bolola import DECK, HEARTS, Row, make_row
from trick_core.drivers import make_buffers, table_drivers
from trick_core.game import Setup
from trick_core.jit import JIT


def fewer(count: int, uncompiled: int) -> int:
    """How many to play: kernels that are not compiled are some hundred times slower."""
    return count if JIT else uncompiled


class Table:
    """One table of a setup, driven as the turn-based adapters drive it.

    Args:
        setup: The game with its options, or the name of a Bolola contract or a row.
        seed: Seed of the environment.
        number: Number of the deal.
        **options: ``deal``, ``starter``, ``trump`` and the like, as in ``reset(options=...)``.
    """

    def __init__(self, setup: Any, *, seed: int = 0, number: int = 0, **options: Any) -> None:
        self.setup: Setup = setup if isinstance(setup, Setup) else bolola_setup(setup)
        self.game = self.setup.game
        self.drivers = table_drivers(self.game)
        self.buffers = make_buffers(self.game, 1, final=False)
        self.run = self.setup.run()
        self.config = self.setup.config
        if options:
            self.config = self.game.reset_config(self.setup, options)
            self.config.flags.writeable = False
        self.shown: list[int] | None = None
        self.drivers.begin(self.config, self.states, 0, seed, number, int(bool(options)))

    @property
    def states(self) -> np.ndarray[Any, Any]:
        """The state, shape (1,)."""
        return self.buffers.states

    @property
    def seat(self) -> int | None:
        """Seat on turn; None when the episode is over."""
        seat = int(self.states[0]["seat"])
        return None if seat < 0 else seat

    @property
    def over(self) -> bool:
        return self.seat is None

    def field(self, name: str) -> Any:
        """A field of the state, in plain numbers."""
        return np.asarray(self.states[0][name]).tolist()

    def hands(self) -> list[list[str]]:
        """The cards that the seats of a Bolola table hold."""
        return [card_texts(bits) for bits in self.field("hands")]

    def legal(self) -> list[str]:
        """Legal actions in the order of their ids."""
        return [self.game.actions[i] for i in self.game.legal_ids(self.states[0])]

    def play(self, actions: str) -> list[float]:
        """Play actions by their texts; what the last one gave to the four seats."""
        for action in actions.split():
            assert action in self.legal(), f"seat {self.seat}: {action} is not in {self.legal()}"
            self.force(action)
        return self.gain()

    def force(self, action: str) -> None:
        """Take an action without asking whether it is legal."""
        buffers = self.buffers
        buffers.rewards[:] = 0
        seat = self.drivers.step(
            self.config,
            self.run,
            self.states,
            0,
            self.game.action_id(action),
            buffers.scratch,
            buffers.rewards,
            buffers.words,
            buffers.obs,
            buffers.mask,
        )
        assert seat == self.states[0]["seat"]

    def gain(self) -> list[float]:
        """What the last action gave, as rewards."""
        return self.buffers.rewards[0].tolist()

    def points(self) -> list[float]:
        """Points of the episode so far, by seat."""
        out = np.zeros((1, 4))
        self.drivers.returns(self.config, self.states, 0, out)
        return (out[0] * self.game.unit).tolist()

    def observe(self, seat: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Observation and mask of a seat, fresh."""
        fresh = make_buffers(self.game, 1, final=False)
        self.drivers.observe(self.config, self.states, 0, seat, fresh.words, fresh.obs, fresh.mask)
        return fresh.obs[0], fresh.mask[0]

    def pieces(self, seat: int) -> dict[str, Any]:
        """A seat's observation as piece -> plain lists."""
        return read_pieces(self.game.layout, self.observe(seat)[0])

    def state_words(self) -> np.ndarray[Any, Any]:
        """The full-information state, packed."""
        words = np.zeros((1, self.game.state_layout.words), np.uint64)
        self.drivers.describe(self.config, self.states, 0, words)
        return words[0]

    def view(self, seat: int) -> np.ndarray[Any, Any]:
        """The state record less what the seat may not know, shape (1,)."""
        views = self.game.states(1)
        self.drivers.view(self.config, self.states, 0, seat, views, 0)
        return views

    def random_play(self, rng: random.Random, steps: int | None = None) -> list[str]:
        """Play at random, to the end or a number of steps; the actions taken."""
        actions: list[str] = []
        while not self.over and (steps is None or len(actions) < steps):
            actions.append(rng.choice(self.legal()))
            self.force(actions[-1])
        return actions


def distinct_ids(game: Any, config: np.ndarray[Any, Any], state: Any) -> set[int]:
    """Legal actions of a full state, of those that are alike only the lowest."""
    found = np.zeros((1, game.mask_words), np.uint64)
    game.endings.distinct(config, state, found, np.int64(0))
    return set(game.legal_ids({"legal": found[0]}))


def card_texts(bits: int) -> list[str]:
    """The cards of a Bolola bit set in the order of ids; an error if other bits are set."""
    assert 0 <= bits < 1 << 52
    return [CARD_NAMES[i] for i in range(52) if bits >> i & 1]


def card_bits(cards: Iterable[str]) -> int:
    """Bolola cards as a bit set."""
    return sum(1 << DECK.index(card) for card in set(cards))


def read_pieces(layout: Any, vector: np.ndarray[Any, Any]) -> dict[str, Any]:
    """All pieces of a vector, each read by the layout, as plain lists."""
    return {piece.name: layout.read(vector, piece.name).tolist() for piece in layout}


# ---------------------------------------------------------------------------- custom contracts


def as_row(contract: Contract) -> Row:
    """The reference engine's row of a contract."""
    return make_row(
        contract.name,
        card_points=dict(zip(DECK, contract.card_points, strict=True)),
        trick_points=contract.trick_points,
        trick_number_points={
            number: contract.trick_number_points[number - 1] for number in range(1, 14)
        },
        locked_suit=contract.locked_suit,
        void_tiers=[set(tier) for tier in contract.void_tiers],
        under_duty=set(contract.under_duty),
        trumps=contract.trumps,
    )


def random_cards(rng: random.Random) -> set[str]:
    """A selection: ranks, suits, single cards, or a mixture."""
    kind = rng.randrange(4)
    cards: set[str] = set()
    if kind in (0, 3):
        ranks = rng.sample("23456789TJQKA", rng.randint(1, 4))
        cards |= {card for card in DECK if card[0] in ranks}
    if kind == 1:
        suit = rng.choice("CDHS")
        cards |= {card for card in DECK if card[1] == suit}
    if kind in (2, 3):
        cards |= set(rng.sample(DECK, rng.randint(1, 12)))
    return cards


def random_rows(rng: random.Random) -> tuple[Contract, Row]:
    """A contract drawn from everything that a row can say, and the reference's own copy of it.

    The two are built from the same words by each engine's own constructor.
    """
    trumps = rng.random() < 0.4
    locks = [None, "C", "D", "H", "S"] + (["trump"] * 4 if trumps else [])
    card_points: Mapping[str, int] = {}
    if rng.random() < 0.7:
        scoring = rng.sample(DECK, rng.choice([1, 4, 13, 52]))
        card_points = {card: rng.choice([-320, -10, 1, 13, 95, 32767, -32768]) for card in scoring}
    numbers = {
        number: rng.choice([-240, 7, 180])
        for number in rng.sample(range(1, 14), rng.choice([0, 0, 1, 2, 13]))
    }
    tiers = []
    named: set[str] = set()
    for _ in range(rng.choice([0, 0, 1, 2, 3, MAX_TIERS])):
        cards = random_cards(rng)
        if cards - named:  # a tier must name a card that no earlier one names
            tiers.append(sorted(cards))
            named |= cards
    words: dict[str, Any] = {
        "card_points": card_points,
        "trick_points": rng.choice([0, 0, -50, 15]),
        "trick_number_points": numbers,
        "locked_suit": rng.choice(locks),
        "void_tiers": tiers,
        "under_duty": sorted(random_cards(rng)) if rng.random() < 0.6 else [],
        "trumps": trumps,
    }
    return Contract(name="house_rule", **words), make_row("house_rule", **words)


#: House rules that people play, named in rule B-8.1.
HOUSE_RULES: Sequence[Contract] = (
    Contract(name="rifki_last_two", trick_number_points={12: -180, 13: -180}),
    Contract(
        name="king_under_the_ace",
        card_points={"KH": -320},
        locked_suit="H",
        void_tiers=[["KH"], ["H"]],
        under_duty=["KH"],
    ),
    Contract(name="hearts_scoring", card_points={"H": 1, "QS": 13}, locked_suit="H"),
    Contract(
        name="everything",
        card_points={"QS": -50, "H": 3},
        trick_points=5,
        trick_number_points={1: 100, 13: -7},
        locked_suit="D",
        void_tiers=[["QS"], ["AS", "KS"], sorted(HEARTS)],
        under_duty=["QS", "J"],
        trumps=True,
    ),
)
