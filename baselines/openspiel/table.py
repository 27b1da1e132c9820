"""What changes in the course of a game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from trick_core.drivers import table_drivers
from trick_core.game import NUM_SEATS
from trick_core.jit import copy_records
from trick_core.notation import SEAT_LETTERS

if TYPE_CHECKING:
    from baselines.openspiel.rules import Rules

#: OpenSpiel's numbers of players that are none.
CHANCE, TERMINAL = -1, -4

UNDEALT = "not dealt yet"


class Table:
    """All that changes in the course of a game: OpenSpiel copies and pickles it as the one attribute of a state.

    Attributes:
        rules: Shared by all tables of the game.
        config: Configuration of the episode, read-only; None: the setup's own.
        states: The state, shape (1,).
        player: Who is on turn: a seat, ``CHANCE`` or ``TERMINAL``.
        drawn: Outcomes of the chance nodes that count; a deal that is annulled takes its own with it.
        moves: (seat, action, whether all saw it) of the actions since the start.
        dealt: The seats' hands as they were dealt, as text.
        past: The same of the episode's earlier deals.
        rewards: Of the last action, float64 (1, 4).
        returns: So far, float64 (1, 4).
    """

    __slots__ = (
        "config",
        "dealt",
        "drawn",
        "moves",
        "past",
        "player",
        "returns",
        "rewards",
        "rules",
        "states",
    )

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.config: np.ndarray[Any, Any] | None = None
        self.drawn: list[int] = []
        self.moves: list[tuple[int, int, bool]] = []
        self.dealt: tuple[str, ...] = ()
        self.past: list[tuple[str, ...]] = []
        self.player = CHANCE
        self.rewards = np.zeros((1, NUM_SEATS))
        self.returns = np.zeros((1, NUM_SEATS))
        self.states = rules.blank

    def take(self, other: Table) -> None:
        """Become a copy of another table."""
        self.rules, self.config, self.player = other.rules, other.config, other.player
        self.drawn, self.moves = other.drawn.copy(), other.moves.copy()
        self.dealt, self.past = other.dealt, other.past.copy()
        self.rewards, self.returns = other.rewards.copy(), other.returns.copy()
        self.states = copy_records(other.states)

    def copy(self) -> Table:
        """A table of its own in the same state."""
        twin = object.__new__(Table)
        twin.take(self)
        return twin

    def __deepcopy__(self, memo: Any) -> Table:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        if self.config is not None:
            self.config.flags.writeable = False  # a writable array is another type to the compiler

    @property
    def full_config(self) -> np.ndarray[Any, Any]:
        """Configuration of the episode."""
        return self.rules.setup.config if self.config is None else self.config

    def begin(self, config: np.ndarray[Any, Any] | None, number: int) -> None:
        """Deal: number k of the game's seed, or what a configuration gives."""
        rules, custom = self.rules, int(config is not None)
        if config is not None:
            config.flags.writeable = False
        self.config, self.states = config, rules.game.states(1)
        begin = table_drivers(rules.game).begin
        begin(self.full_config, self.states, 0, rules.seed, np.uint64(number), custom)
        self.settle()

    def settle(self) -> None:
        """Take from the state who is on turn and what the seats were dealt."""
        seat = int(self.states["seat"][0])
        self.player = seat if seat >= 0 else TERMINAL
        hands = self.rules.game.deal_text(self.states, 0).partition(":")[2].split(" ")
        self.dealt = tuple(hands[:NUM_SEATS])

    def legal(self) -> list[int]:
        """Legal actions of the seat on turn, ascending."""
        found = []
        for at, word in enumerate(self.states["legal"][0].tolist()):
            while word:
                low = word & -word
                found.append(64 * at + low.bit_length() - 1)
                word ^= low
        return found

    def step(self, action: int) -> None:
        """Take a legal action."""
        rules, states = self.rules, self.states
        game = rules.game
        public = game.is_public is None or game.is_public(states, 0, action)
        self.moves.append((self.player, action, public))
        deal = states["deal"][0]
        scratch, words, observation, mask = rules.buffers()
        self.rewards = np.zeros((1, NUM_SEATS))
        seat = table_drivers(game).step(
            self.full_config,
            rules.run,
            states,
            0,
            action,
            scratch,
            self.rewards,
            words,
            observation,
            mask,
        )
        self.returns += self.rewards
        self.player = seat if seat >= 0 else TERMINAL
        if states["deal"][0] != deal:
            self.past.append(self.dealt)
            self.settle()

    def replay(self, actions: Iterable[int]) -> bool:
        """Take actions one after the other; False: one of them is not legal."""
        for action in actions:
            if self.player < 0 or action not in self.legal():
                return False
            self.step(action)
        return True

    def seen(self, seat: int) -> list[tuple[int, int]]:
        """Who took which of the actions that a seat has seen: its own, and those that all see."""
        return [(actor, action) for actor, action, public in self.moves if public or actor == seat]

    def view(self, seat: int) -> np.ndarray[Any, Any]:
        """The state, shape (1,), less what a seat does not know."""
        view = copy_records(self.states)
        table_drivers(self.rules.game).view(self.full_config, self.states, 0, seat, view, 0)
        return view

    def public(self) -> np.ndarray[Any, Any]:
        """The state, shape (1,), less what any seat does not know."""
        shown = self.states
        for seat in range(NUM_SEATS):
            before, shown = shown, copy_records(shown)
            table_drivers(self.rules.game).view(self.full_config, before, 0, seat, shown, 0)
        return shown

    def observe(
        self, seat: int, states: np.ndarray[Any, Any] | None = None
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """What a seat sees of a state, by default the table's: words (W,) and values int8 (D,), in buffers of this thread."""
        _, words, observation, mask = self.rules.buffers()
        states = self.states if states is None else states
        drivers = table_drivers(self.rules.game)
        drivers.observe(self.full_config, states, 0, seat, words, observation, mask)
        return words[0], observation[0]

    def text(self, states: np.ndarray[Any, Any], seat: int | None) -> str:
        """A state as a seat sees it; None: all of it."""
        rules = self.rules
        history = [action for _, action, _ in self.moves]
        return rules.game.render(rules.setup, states, 0, seat, history)

    def actions_text(self, moves: Iterable[tuple[int, int]]) -> str:
        """Actions with who took them, as text."""
        texts = self.rules.game.actions
        return " ".join(f"{SEAT_LETTERS[actor]}:{texts[action]}" for actor, action in moves)

    def information_state(self, seat: int) -> str:
        """All that a seat has seen, as text: equal texts, equal information states.

        In order: the seat; its hands in earlier deals and in this one; the actions that it has seen; the observation's words in
        hexadecimal, for what is known without an action that all see (the start, cards that were shown).
        """
        if self.player == CHANCE:
            return f"{SEAT_LETTERS[seat]} {UNDEALT}"
        hands = [hands[seat] for hands in [*self.past, self.dealt]]
        words = self.observe(seat)[0][: -(-self.rules.game.row_start // 64)]
        seen = ".".join([f"{word:x}" for word in words.tolist()])
        return "\n".join([SEAT_LETTERS[seat], *hands, self.actions_text(self.seen(seat)), seen])
