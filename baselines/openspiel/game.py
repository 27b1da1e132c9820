"""Games, states and observers as OpenSpiel's Python classes, and their registration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from baselines.extras import needs
from baselines.openspiel.rules import SETUPS, Rules, as_parameters, rules_of
from baselines.openspiel.table import CHANCE, TERMINAL, UNDEALT, Table
from trick_core.bits import words_to_bits
from trick_core.drivers import table_drivers
from trick_core.game import NUM_SEATS, Setup, check_seat, setup_for
from trick_core.notation import SEAT_LETTERS

with needs("openspiel"):
    import pyspiel

#: Games that are registered under their own names.
GAMES = ("bolola", "tarot")


def load(env: Any, **parameters: Any) -> Any:
    """An OpenSpiel game.

    Args:
        env: An environment's id; or a registered name, perhaps with parameters in brackets; or a setup, which is registered as
            its ``name`` (see :func:`register`) if its options are more than numbers and texts.
        **parameters: See :mod:`baselines.openspiel`.

    Raises:
        ValueError: An unknown name, or a parameter out of range.
        TypeError: An unknown parameter.
    """
    if isinstance(env, str) and "/" in env:
        env = setup_for(env)
    if isinstance(env, Setup):
        given = as_parameters(env)
        name = env.game.name if given is not None else register(env.name, env)
        return _load(name, {**(given or {}), **parameters})
    if not isinstance(env, str):
        raise ValueError(f"expected an environment's id, a name or a setup; got {env!r}")
    given = pyspiel.game_parameters_from_string(env)
    name = given.pop("name", "")
    if name not in (*GAMES, *SETUPS):
        raise ValueError(f"no game {name!r}; there are {', '.join((*GAMES, *SETUPS))}")
    return _load(name, {**given, **parameters})


def _load(name: str, parameters: Mapping[str, Any]) -> Any:
    known = rules_of(name).defaults
    for key in parameters:
        if key not in known:
            raise TypeError(f"{name} has no parameter {key!r}; it takes {', '.join(known)}")
    return pyspiel.load_game(name, parameters)


def register(name: str, setup: Setup) -> str:
    """Make a setup known to OpenSpiel by name: one whose options are more than numbers and texts, as a contract of your own.

    The game takes the parameters of :mod:`baselines.openspiel`, but no options. Who loads what was serialized registers it first.

    Returns:
        The name.

    Raises:
        ValueError: The name is no identifier, or is taken.
    """
    if name in SETUPS:
        if SETUPS[name].game is setup.game and SETUPS[name].options == setup.options:
            return name
        raise ValueError(f"{name!r} is registered with other options")
    if not name.isidentifier():
        raise ValueError(f"expected letters, digits and underscores as a name, got {name!r}")
    if name in pyspiel.registered_names():
        raise ValueError(f"{name!r} is the name of another game")
    SETUPS[name] = setup
    _register(name)
    return name


def _register(name: str) -> None:
    # A class each: OpenSpiel lets go of it when the interpreter is gone already, which only classes survive.
    made = type(f"{name.title().replace('_', '')}Game", (TrickGame,), {"name": name})
    pyspiel.register_game(rules_of(name).game_type(), made)


class TrickGame(pyspiel.Game):  # type: ignore[misc]
    """A game of this library as OpenSpiel's; ``pyspiel.load_game`` makes it from a subclass with the registered name."""

    name: str

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        defaults = rules_of(self.name).defaults
        given = {k: v for k, v in parameters.items() if k not in defaults or v != defaults[k]}
        rules = rules_of(self.name, tuple(sorted(given.items())))
        super().__init__(rules.game_type(), rules.game_info(), given)
        self.rules = rules

    def __reduce__(self) -> tuple[Any, ...]:
        return load, (str(self),)

    @property
    def setup(self) -> Setup:
        """The game with its options."""
        return self.rules.setup

    def new_initial_state(self, *start: Any) -> TrickState:
        if start:
            raise ValueError("a position is given by the parameters deal and actions of the game")
        return TrickState(self)

    def max_chance_nodes_in_history(self) -> int:
        return self.rules.dealing.most_nodes

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        return Observer(self.rules, iig_obs_type, params)


class TrickState(pyspiel.State):  # type: ignore[misc]
    """A state of a :class:`TrickGame`."""

    def __init__(self, game: TrickGame) -> None:
        super().__init__(game)
        self.table = Table(game.rules)  # OpenSpiel copies and pickles what is in __dict__
        game.rules.dealing.open(self.table)

    def current_player(self) -> int:
        return self.table.player

    def is_terminal(self) -> bool:
        return self.table.player == TERMINAL

    def _legal_actions(self, player: int) -> list[int]:
        return self.table.legal()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self.table.rules.dealing.outcomes(self.table)

    def _apply_action(self, action: int) -> None:
        table = self.table
        if table.player == CHANCE:
            table.rules.dealing.apply(table, action)
        else:
            table.step(action)

    def _action_to_string(self, player: int, action: int) -> str:
        rules = self.table.rules
        if player == CHANCE:
            return rules.dealing.text(self.table, action)
        return rules.game.actions[action]

    def rewards(self) -> list[float]:
        return self.table.rewards[0].tolist()  # type: ignore[no-any-return]

    def returns(self) -> list[float]:
        return self.table.returns[0].tolist()  # type: ignore[no-any-return]

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> TrickState:
        """A state that ``player`` cannot tell from this one.

        Args:
            player: A seat.
            sampler: Gives random numbers from [0, 1).

        Returns:
            The state. With ``hidden`` its history leads to it; else it is that of this state.

        Raises:
            ValueError: The cards are not dealt yet.
        """
        dealing = self.table.rules.dealing
        table = dealing.resample(self.table, check_seat("player", player), sampler)
        if not dealing.has_history:
            twin: TrickState = self.clone()
            twin.table = table
            return twin
        twin = self.get_game().new_initial_state()
        for action in [*table.drawn, *(action for _, action, _ in table.moves)]:
            twin.apply_action(action)
        return twin

    def __str__(self) -> str:
        table = self.table
        if table.player == CHANCE:
            return f"{UNDEALT}: {' '.join(map(str, table.drawn))}"
        actions = table.actions_text((seat, action) for seat, action, _ in table.moves)
        return f"{table.text(table.states, None)}\n{actions}"


class Observer:
    """What a seat sees as a tensor and a text; see ``open_spiel.python.observation``.

    OpenSpiel asks for public and private information apart or together. The tensor always has all pieces of the observation; what was
    not asked for is 0. Of public information alone, seats are absolute.

    Attributes:
        tensor: float32 of 0 and 1.
        dict: Its pieces, each with a row a field: those of the observation, and with perfect recall ``history``: an action a row, in
            it 1, the relative seat (2 bits) and the action, lowest bits first; zeros after the last.

    Args:
        rules: The game's.
        kind: What to show; ``ALL_PLAYERS``: the full-information state, seats absolute.
        parameters: There are none.

    Raises:
        ValueError: Parameters, or nothing to show.
    """

    def __init__(self, rules: Rules, kind: Any, parameters: Any) -> None:
        if parameters:
            raise ValueError(f"an observer takes no parameters, got {parameters!r}")
        kind = kind or pyspiel.IIGObservationType(perfect_recall=False)
        everything = kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS
        if kind.private_info == pyspiel.PrivateInfoType.NONE and not kind.public_info:
            raise ValueError("an observer without public and private information shows nothing")
        shows: type[_View] = _View
        if everything:
            shows = _Everything
        elif kind.private_info == pyspiel.PrivateInfoType.NONE:
            shows = _Public
        elif not kind.public_info:
            shows = _Private
        self._recall = kind.perfect_recall
        game = rules.game
        layout = game.state_layout if everything else game.layout
        self._size = layout.size if everything else rules.size
        self._shows = shows(self._size)
        bits = (game.num_actions - 1).bit_length()
        longest = rules.setup.bounds.actions if self._recall else 0
        self.tensor = np.zeros(self._size + longest * (3 + bits), np.float32)
        self.dict: dict[str, np.ndarray[Any, Any]] = {}
        for piece in layout:
            place = layout.slice(piece.name)
            if place.start < self._size:
                self.dict[piece.name] = self.tensor[place].reshape(piece.count, piece.width)
        self._history = self.tensor[self._size :].reshape(longest, 3 + bits)
        if self._recall:
            self.dict["history"] = self._history
        self._codes = np.ones((NUM_SEATS, game.num_actions, 3 + bits), np.float32)
        self._codes[:, :, 1:3] = (np.arange(NUM_SEATS)[:, None] >> np.arange(2) & 1)[:, None]
        self._codes[:, :, 3:] = np.arange(game.num_actions)[:, None] >> np.arange(bits) & 1

    def set_from(self, state: TrickState, player: int) -> None:
        """Write what a player sees to the tensor."""
        table = state.table
        self.tensor.fill(0.0)
        if table.player == CHANCE:
            return
        self.tensor[: self._size] = self._shows.values(table, player)
        if self._recall and (moves := self._shows.moves(table, player)):
            seats, actions = np.array(moves).T
            relative = (seats - self._shows.first_seat(player)) % NUM_SEATS
            self._history[: len(moves)] = self._codes[relative, actions]

    def string_from(self, state: TrickState, player: int) -> str:
        """What a player sees, as text."""
        table = state.table
        if table.player == CHANCE:
            return self._shows.undealt(player)
        return self._shows.text(table, player, self._recall)


class _View:
    """All that a seat sees."""

    def __init__(self, size: int) -> None:
        self._size = size

    def first_seat(self, player: int) -> int:
        """The seat from which seats are counted."""
        return player

    def values(self, table: Table, player: int) -> np.ndarray[Any, Any]:
        """0 and 1, (size,)."""
        return table.observe(player)[1][: self._size]

    def moves(self, table: Table, player: int) -> list[tuple[int, int]]:
        """Seats and actions, in their order."""
        return table.seen(player)

    def text(self, table: Table, player: int, recall: bool) -> str:
        """The same as text; with ``recall`` it tells information states apart."""
        return table.information_state(player) if recall else table.text(table.states, player)

    def undealt(self, player: int) -> str:
        """The text before the cards are dealt."""
        return f"{SEAT_LETTERS[player]} {UNDEALT}"


class _Public(_View):
    """What all seats see."""

    def first_seat(self, player: int) -> int:
        return 0

    def values(self, table: Table, player: int) -> np.ndarray[Any, Any]:
        return table.observe(0, table.public())[1][: self._size]

    def moves(self, table: Table, player: int) -> list[tuple[int, int]]:
        return [(seat, action) for seat, action, public in table.moves if public]

    def text(self, table: Table, player: int, recall: bool) -> str:
        shown = table.text(table.public(), None)
        return f"{shown}\n{table.actions_text(self.moves(table, player))}" if recall else shown

    def undealt(self, player: int) -> str:
        return UNDEALT


class _Private(_View):
    """What a seat sees and not all do."""

    def values(self, table: Table, player: int) -> np.ndarray[Any, Any]:
        known = table.observe(player, table.public())[1][: self._size].copy()
        seen = table.observe(player)[1][: self._size]
        return np.where(known == 0, seen, 0)

    def moves(self, table: Table, player: int) -> list[tuple[int, int]]:
        return [(seat, act) for seat, act, public in table.moves if seat == player and not public]

    def text(self, table: Table, player: int, recall: bool) -> str:
        hands = [hands[player] for hands in [*table.past * recall, table.dealt]]
        return "\n".join(
            [SEAT_LETTERS[player], *hands, table.actions_text(self.moves(table, player))]
        )


class _Everything(_View):
    """All there is."""

    def first_seat(self, player: int) -> int:
        return 0

    def values(self, table: Table, player: int) -> np.ndarray[Any, Any]:
        game = table.rules.game
        words = np.zeros((1, game.state_layout.words), np.uint64)
        table_drivers(game).describe(table.full_config, table.states, 0, words)
        return words_to_bits(words[0], self._size)

    def moves(self, table: Table, player: int) -> list[tuple[int, int]]:
        return [(seat, action) for seat, action, _ in table.moves]

    def text(self, table: Table, player: int, recall: bool) -> str:
        shown = table.text(table.states, None)
        return f"{shown}\n{table.actions_text(self.moves(table, player))}" if recall else shown

    def undealt(self, player: int) -> str:
        return UNDEALT


for _name in GAMES:
    _register(_name)
