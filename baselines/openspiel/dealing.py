"""Who deals: card by card, by seed, or the hidden cards of a position."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from baselines.openspiel.table import CHANCE, Table
from trick_core.bits import words_to_bits
from trick_core.drivers import table_drivers
from trick_core.game import NUM_SEATS, Game
from trick_core.jit import entry, records
from trick_core.notation import SEAT_LETTERS

if TYPE_CHECKING:
    from baselines.openspiel.rules import Rules

#: Most ways to share out hidden cards.
MOST_WORLDS = 20_000

# Starts are found by drawing some; there are as many of each in the long run.
_OPENING_DRAWS = 4096
_MOST_OPENINGS = 256

Random = Callable[[], float]
Outcomes = list[tuple[int, float]]


class Dealing:
    """Who deals.

    Attributes:
        most_outcomes: Of a chance node; 0: there is none.
        most_nodes: Chance nodes of an episode in which nothing is dealt again.
        has_history: Resampled tables are reached by their own ``drawn`` and ``moves``.
    """

    most_outcomes = 0
    most_nodes = 0
    has_history = False

    def open(self, table: Table) -> None:
        """Put a new table to the start."""

    def outcomes(self, table: Table) -> Outcomes:
        """Outcomes of the chance node, with their chances."""
        raise NotImplementedError

    def text(self, table: Table, outcome: int) -> str:
        """An outcome as text."""
        raise NotImplementedError

    def apply(self, table: Table, outcome: int) -> None:
        """Take an outcome."""
        raise NotImplementedError

    def resample(self, table: Table, seat: int, random: Random) -> Table:
        """A table that the seat cannot tell from this one: each of the worlds that agree with what is public with the same
        chance. Hidden actions of other seats are not among its moves.

        Raises:
            ValueError: The cards are not dealt yet.
        """
        if table.player == CHANCE:
            raise ValueError("resample_from_infostate: the cards are not dealt yet")
        return self._resample(table, seat, random)

    def _resample(self, table: Table, seat: int, random: Random) -> Table:
        game = table.rules.game
        if game.belief is None:
            raise ValueError(f"{game.name} does not say how to sample hidden cards")
        twin = table.copy()
        twin.states = table.view(seat)
        work = records(1, game.belief.work)
        world_sampler(game)(table.full_config, twin.states, seat, np.uint64(_word(random)), work)
        twin.moves = [move for move in table.moves if move[2] or move[0] == seat]
        twin.settle()
        return twin


@functools.cache
def world_sampler(game: Game) -> Any:
    """``(config, states, seat, random, work) -> number``: fill in a world in what the seat sees of state 0; how many there are."""
    assert game.belief is not None
    prepare, sample = game.belief.prepare, game.belief.sample

    @entry(f"{game.name}.openspiel.world", [game.folder, Path(__file__)])
    def world(config, states, seat, random, work):  # type: ignore[no-untyped-def]
        count = prepare(config, states[0], seat, work[0])
        sample(config, states[0], seat, random, work[0])
        return count

    return world


def _word(random: Random) -> int:
    """64 random bits."""
    return int(random() * 2**32) << 32 | int(random() * 2**32)


class Seeds(Dealing):
    """One chance node: which deal of the seed."""

    most_nodes = 1

    def __init__(self, deals: int) -> None:
        self.most_outcomes = deals
        self._outcomes = [(number, 1.0 / deals) for number in range(deals)]

    def outcomes(self, table: Table) -> Outcomes:
        return self._outcomes

    def text(self, table: Table, outcome: int) -> str:
        return f"deal {outcome}"

    def apply(self, table: Table, outcome: int) -> None:
        table.drawn.append(outcome)
        table.begin(None, outcome)


class Cards(Dealing):
    """A chance node for what the options leave open, if that is anything, and one for every card."""

    def __init__(self, rules: Rules) -> None:
        self._setup = rules.setup
        hands = hands_of(rules, rules.setup.config, _example(rules))
        self._cards = hands.shape[1]
        self._sizes = [*map(int, hands.sum(axis=1)), self._cards - int(hands.sum())]
        if not self._sizes[-1]:
            self._sizes.pop()
        self._deals = len(rules.setup.config)
        self._openings = _openings(rules)
        #: Chance nodes before the first card.
        self._before = int(len(self._openings) > 1)
        self.most_nodes = self._before + self._deals * self._cards
        self.most_outcomes = max(len(self._sizes), len(self._openings))

    def _owners(self, table: Table) -> list[int]:
        """Owners of the cards of the deal that is being dealt."""
        done = len(table.drawn) - self._before
        return table.drawn[self._before + done // self._cards * self._cards :]

    def outcomes(self, table: Table) -> Outcomes:
        if len(table.drawn) < self._before:
            count = len(self._openings)
            return [(number, 1.0 / count) for number in range(count)]
        owners, free = self._owners(table), self._sizes.copy()
        for owner in owners:
            free[owner] -= 1
        left = self._cards - len(owners)
        return [(owner, places / left) for owner, places in enumerate(free) if places]

    def text(self, table: Table, outcome: int) -> str:
        if len(table.drawn) < self._before:
            return ", ".join(f"{key} {value}" for key, value in self._openings[outcome].items())
        card = table.rules.game.actions[len(self._owners(table))]
        return f"{card} to {SEAT_LETTERS[outcome]}" if outcome < NUM_SEATS else f"{card} aside"

    def apply(self, table: Table, outcome: int) -> None:
        table.drawn.append(outcome)
        owners = table.drawn[self._before :]
        if len(owners) < self._deals * self._cards:
            return
        deals = []
        for first in range(0, len(owners), self._cards):
            hands: list[list[int]] = [[] for _ in self._sizes]
            for card in range(self._cards):
                hands[owners[first + card]].append(card)
            deals.append(hands)
        opening = self._openings[table.drawn[0] if self._before else 0]
        deal: Any = deals if self._deals > 1 else deals[0]
        try:
            config = self._setup.game.reset_config(self._setup, {"deal": deal, **opening})
        except ValueError:  # the rules annul such a deal
            del table.drawn[self._before :]
        else:
            table.begin(config, 0)


def _example(rules: Rules, number: int = 0) -> np.ndarray[Any, Any]:
    """A state, shape (1,): deal ``number`` of the game's seed."""
    states = rules.game.states(1)
    begin = table_drivers(rules.game).begin
    begin(rules.setup.config, states, 0, rules.seed, np.uint64(number), 0)
    return states


def hands_of(
    rules: Rules, config: np.ndarray[Any, Any], states: np.ndarray[Any, Any]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The cards that the seats of state 0 hold, bool (4, cards)."""
    layout = rules.game.state_layout
    words = np.zeros((1, layout.words), np.uint64)
    table_drivers(rules.game).describe(config, states, 0, words)
    flags = words_to_bits(words[0], layout.size)[layout.slice("hands")]
    return flags.reshape(NUM_SEATS, -1).astype(np.bool_)


def _openings(rules: Rules) -> list[dict[str, Any]]:
    """Everything besides the cards that an episode can start with; each has the same chance.

    Raises:
        ValueError: It depends on the cards, so that it cannot be drawn before them.
    """
    found: dict[str, dict[str, Any]] = {}
    game = rules.game
    if game.start_options is None:
        return [{}]
    for number in range(_OPENING_DRAWS):
        start = game.start_options(rules.setup.config, _example(rules, number), 0)
        found[repr(sorted(start.items()))] = start
        if len(found) > _MOST_OPENINGS:
            raise ValueError(
                "dealing: 'cards' cannot draw a start that depends on the cards; use dealing='seeds'"
            )
        if number == 64 and len(found) == 1:
            break
    return [found[key] for key in sorted(found)]


class Position(Dealing):
    """A position: nothing is left to chance.

    Attributes:
        config: Configuration of the deal.
        begun: State at its start, shape (1,).
        start: Keys of ``reset(options=...)`` besides ``deal`` that begin it so.
        actions: Ids of the actions that lead to the position.

    Raises:
        ValueError: A bad deal or action.
    """

    def __init__(self, rules: Rules, deal: str, actions: Sequence[str]) -> None:
        game = rules.game
        self.actions = [game.action_id(action) for action in actions]
        self.config = game.reset_config(rules.setup, {"deal": deal})
        table = Table(rules)
        table.begin(self.config, 0)
        self.begun = table.copy().states
        start = {} if game.start_options is None else game.start_options(self.config, self.begun, 0)
        self.start = {key: value for key, value in start.items() if key in game.reset_keys}
        if not table.replay(self.actions):
            texts, number = game.actions, len(table.moves)
            legal = [texts[action] for action in table.legal()]
            raise ValueError(
                f"actions: number {number + 1}, {actions[number]}, is not legal; "
                f"legal are {' '.join(legal) or 'none: the episode is over'}"
            )
        self._table = at_start(table)

    def open(self, table: Table) -> None:
        table.take(self._table)

    def _resample(self, table: Table, seat: int, random: Random) -> Table:
        return table.copy()


def at_start(table: Table) -> Table:
    """A table that stands where a game starts: what fell so far is what the last action gave."""
    table.moves, table.rewards = [], table.returns.copy()
    return table


class Worlds(Dealing):
    """One chance node at a position: who holds the cards that some seats still hold of those dealt to them.

    Raises:
        ValueError: Too many ways, or an episode of several deals.
    """

    most_nodes = 1
    has_history = True

    def __init__(self, rules: Rules, position: Position, hidden: Sequence[int]) -> None:
        if len(rules.setup.config) > 1:
            raise ValueError("hidden: only where an episode is one deal")
        here = Table(rules)
        position.open(here)
        dealt = hands_of(rules, position.config, position.begun)
        held = hands_of(rules, position.config, here.states) & dealt
        loose = [np.flatnonzero(held[seat]).tolist() for seat in hidden]
        ways = math.factorial(sum(map(len, loose)))
        for cards in loose:
            ways //= math.factorial(len(cards))
        if ways > MOST_WORLDS:
            raise ValueError(
                f"hidden: there are {ways:.3g} ways to share out the cards, and at most {MOST_WORLDS} are gone "
                "through; give more actions, or hide fewer hands"
            )
        self.tables = [*_worlds(rules, position, hidden, loose, dealt)]
        self.most_outcomes = len(self.tables)
        self._outcomes = [(number, 1.0 / len(self.tables)) for number in range(len(self.tables))]

    def outcomes(self, table: Table) -> Outcomes:
        return self._outcomes

    def text(self, table: Table, outcome: int) -> str:
        return " ".join(self.tables[outcome].dealt)

    def apply(self, table: Table, outcome: int) -> None:
        table.take(self.tables[outcome])
        table.drawn = [outcome]

    def _resample(self, table: Table, seat: int, random: Random) -> Table:
        sought = table.information_state(seat)
        actions = [action for _, action, _ in table.moves]
        order = np.random.default_rng(_word(random)).permutation(len(self.tables))
        for outcome in order.tolist():
            twin: Table = self.tables[outcome].copy()
            twin.drawn = [outcome]
            if twin.replay(actions) and twin.information_state(seat) == sought:
                return twin
        raise AssertionError("the table's own world agrees with what the seat has seen")


def _worlds(
    rules: Rules,
    position: Position,
    hidden: Sequence[int],
    loose: Sequence[Sequence[int]],
    dealt: np.ndarray[Any, np.dtype[np.bool_]],
) -> Iterator[Table]:
    """The position in every world that agrees with the actions.

    Args:
        rules: The game's.
        position: The position.
        hidden: Seats whose cards are shared out.
        loose: These cards, by such seat.
        dealt: The cards that the seats were dealt, bool (4, cards).
    """
    game, setup = rules.game, rules.setup
    aside = np.flatnonzero(~dealt.any(axis=0)).tolist()
    for shares in _shares([*itertools.chain(*loose)], [*map(len, loose)]):
        hands = dealt.copy()
        for seat, old in zip(hidden, loose, strict=True):
            hands[seat, old] = False
        for seat, new in zip(hidden, shares, strict=True):
            hands[seat, new] = True
        deal = [np.flatnonzero(hand).tolist() for hand in hands] + ([aside] if aside else [])
        try:
            config = game.reset_config(setup, {"deal": deal, **position.start})
        except ValueError:  # the rules annul such a deal
            continue
        table = Table(rules)
        table.begin(config, 0)
        if table.replay(position.actions):
            table.config = position.config  # what it says of hands was needed at the start only
            yield at_start(table)


def _shares(cards: Sequence[int], sizes: Sequence[int]) -> Iterator[list[list[int]]]:
    """All ways to share out cards to places of these sizes."""
    if not sizes:
        yield []
        return
    for first in itertools.combinations(cards, sizes[0]):
        rest = [card for card in cards if card not in first]
        for others in _shares(rest, sizes[1:]):
            yield [[*first], *others]
