"""Deals on file: written, read, replayed step by step, continued and shown.

A record is JSON: ``{"format", "game", "options", "deal", "actions"}``, actions as text. ``deal`` is the deal's text, in an episode of several
deals the list of those dealt so far; beside it stand the other keys of ``reset(options=...)`` with which the
episode began (``"starter"``, or ``"dealer"``). ``"seed"`` and ``"number"`` say which deals follow in an unfinished episode; a
replay does not need them. :class:`Table` is a single table that is stepped with texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trick_core.bots import View
from trick_core.drivers import make_buffers, table_drivers
from trick_core.game import AGENTS, Game, Setup, check_seat, find_game, same_config
from trick_core.jit import copy_records
from trick_core.rng import fold_seed

#: Version of the records that are written; others are refused.
FORMAT = "trick-envs/1"

_KEYS = ("format", "game", "options", "deal", "seed", "number", "actions")


@dataclass(frozen=True)
class Step:
    """One action of an episode.

    Attributes:
        number: 1 for the first action of the episode.
        deal: Deals of the episode finished before it.
        seat: Who acted.
        action: Its text.
        legal: Texts of all actions that were legal.
        points: What it gave to the four seats, in points.
    """

    number: int
    deal: int
    seat: int
    action: str
    legal: tuple[str, ...]
    points: tuple[float, ...]


class Table:
    """One table without an environment around it: stepped with texts, undone, shown, recorded.

    Attributes:
        setup: The game with its options.
        states: The state, shape (1,).
        history: Ids of the actions taken in the episode.
        seats: Who took them.
        deals: Texts of the deals dealt so far.
        start: Keys of ``reset(options=...)`` besides ``deal`` that begin the episode again.

    Args:
        setup: The game with its options.
        seed: Seed of the cards, from 0.
        number: Number k of the deal of that seed.
        options: As in ``reset(options=...)``: a custom deal.

    Raises:
        ValueError: An option or seed out of range, or an option that the game does not know.
    """

    def __init__(
        self,
        setup: Setup,
        *,
        seed: int = 0,
        number: int = 0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        game = setup.game
        options = options or {}
        for key in options:
            if key not in game.reset_keys:
                raise ValueError(f"options: no {key!r}; there are {', '.join(game.reset_keys)}")
        config = game.reset_config(setup, options) if options else setup.config
        self._open(setup, config, _count("seed", seed), _count("number", number, 2**64))

    def _open(self, setup: Setup, config: np.ndarray[Any, Any], seed: int, number: int) -> None:
        """Sit down with a configuration that has been checked."""
        if config.flags.writeable:  # it stays as it is, and compiled code sees one kind of array
            config = config.copy()
            config.flags.writeable = False
        self.setup = setup
        self.episode_config = config
        self.episode_seed = seed
        self.episode_number = number
        self._run = setup.run()
        self._buffers = make_buffers(setup.game, 1, final=False)
        self.states = self._buffers.states
        self._begin()

    def _begin(self) -> None:
        game, states = self.game, self.states
        seed, number = np.uint64(fold_seed(self.episode_seed)), np.uint64(self.episode_number)
        custom = int(not same_config(self.episode_config, self.setup.config))
        table_drivers(game).begin(self.episode_config, states, 0, seed, number, custom)
        self.history: list[int] = []
        self.seats: list[int] = []
        self._public: list[bool] = []
        self.deals: list[str] = [game.deal_text(states, 0)]
        if game.start_options is not None:
            self.start = game.start_options(self.episode_config, states, 0)
        else:
            known = set(game.reset_keys) & set(game.state.names or ()) - {"deal"}
            self.start = {key: int(states[0][key]) for key in sorted(known)}

    @property
    def game(self) -> Game:
        """The game."""
        return self.setup.game

    @property
    def seat(self) -> int:
        """Seat on turn; -1 when the episode is over."""
        return int(self.states[0]["seat"])

    @property
    def over(self) -> bool:
        """Whether the episode is over."""
        return self.seat < 0

    @property
    def legal(self) -> list[str]:
        """Texts of the legal actions, in the order of their ids; none when the episode is over."""
        return [self.game.actions[action] for action in self.game.legal_ids(self.states[0])]

    @property
    def points(self) -> list[float]:
        """Points of the episode so far, by seat."""
        out = np.zeros((1, 4))
        table_drivers(self.game).returns(self.episode_config, self.states, 0, out)
        return [float(value) * self.game.unit for value in out[0]]

    def is_public(self, action: str | int) -> bool:
        """Whether all seats see an action that is about to be taken."""
        game = self.game
        number = game.action_ids.get(action, -1) if isinstance(action, str) else action
        if game.is_public is None or number not in game.legal_ids(self.states[0]):
            return True
        return game.is_public(self.states, 0, number)

    def seen(self, seat: int | None) -> int:
        """How many of the actions so far a seat has seen: its own, and those that all see; None: all."""
        pairs = zip(self.seats, self._public, strict=True)
        return sum(public or seat in (None, actor) for actor, public in pairs)

    def step(self, action: str | int) -> Step:
        """Take an action, given as text or id.

        Raises:
            ValueError: It is not legal; the message lists those that are, and the table is as it was.
        """
        game, seat, legal = self.game, self.seat, self.legal
        text = action
        if isinstance(action, (int, np.integer)) and 0 <= action < game.num_actions:
            text = game.actions[action]
        if not isinstance(text, str) or text not in legal:
            if self.over:
                raise ValueError(f"{action!r}: the episode is over")
            raise ValueError(
                f"{action!r} is not legal for seat {seat}; legal are {' '.join(legal)}"
            )
        deal, public = int(self.states[0]["deal"]), self.is_public(text)
        number, buffers = game.action_id(text), self._buffers
        table_drivers(game).step(
            self.episode_config,
            self._run,
            self.states,
            0,
            number,
            buffers.scratch,
            buffers.rewards,
            buffers.words,
            buffers.obs,
            buffers.mask,
        )
        self.history.append(number)
        self.seats.append(seat)
        self._public.append(public)
        if int(self.states[0]["deal"]) != deal:
            self.deals.append(game.deal_text(self.states, 0))
        gain = tuple(float(value) * game.unit for value in self.states[0]["gain"])
        return Step(len(self.history), deal, seat, text, tuple(legal), gain)

    def undo(self, count: int = 1) -> None:
        """Take back the last ``count`` actions.

        Raises:
            ValueError: There are not so many.
        """
        _check_count("undo", count, len(self.history))
        kept = self.history[: len(self.history) - count]
        self._begin()
        for action in kept:
            self.step(action)

    def view(self, random: int = 0, everything: bool = False) -> View:
        """What the seat on turn may see; ``random`` is the view's random word. ``everything``: the whole state
        instead, for a bot that says it ``sees_all``.
        """
        records = copy_records(self.states)
        if not everything:
            drivers = table_drivers(self.game)
            drivers.view(self.episode_config, self.states, 0, self.seat, records, 0)
        return View(self.game, self.setup.config, records, random)

    def render(self, seat: int | None = None) -> str:
        """The table as text, from a seat's view; None: all hands."""
        seat = None if seat is None else check_seat("seat", seat)
        return self.game.render(self.setup, self.states, 0, seat, self.history)


def _check_count(name: str, count: Any, most: int) -> None:
    """Raise a ``ValueError`` unless it is a number of actions up to ``most``."""
    whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
    if not whole or not 0 <= count <= most:
        raise ValueError(f"{name}: expected 0 to {most} actions, got {count!r}")


@dataclass(frozen=True)
class Record:
    """A finished or unfinished episode.

    Attributes:
        game: Name of the game.
        options: Options of its setup, as JSON holds them.
        deal: Text of the deal, or the texts of the deals.
        actions: Texts of the actions taken.
        start: Keys of ``reset(options=...)`` besides ``deal``.
        seed: Seed of the deals that follow; None: unknown.
        number: Number of the episode with that seed.
    """

    game: str
    options: dict[str, Any]
    deal: str | list[str]
    actions: list[str]
    start: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    number: int = 0

    @property
    def reset_options(self) -> dict[str, Any]:
        """What an environment's ``reset(options=...)`` takes to begin this episode again."""
        return {"deal": self.deal, **self.start}

    def setup(self) -> Setup:
        """The game with the options of the record.

        Raises:
            ValueError: No such game, or a bad option.
        """
        if not self.game.isidentifier():
            raise ValueError(f"game: no game {self.game!r}")
        try:
            game = find_game(self.game)
        except ValueError as error:
            raise ValueError(f"game: {error}") from None
        try:
            return game.setup(**self.options)
        except (TypeError, ValueError) as error:
            raise ValueError(f"options: {error}") from None

    def table(self, stop: int | None = None) -> Table:
        """A table after the first ``stop`` actions (all: None), from which the episode can go on.

        Raises:
            ValueError: A bad option, deal or action; or there are not so many actions.
        """
        if stop is None:
            stop = len(self.actions)
        _check_count("stop", stop, len(self.actions))
        table = self._opened()
        for index in range(stop):
            self._take(table, index)
        return table

    def replay(self) -> Iterator[Step]:
        """The steps, one after the other.

        Raises:
            ValueError: As :meth:`table`.
        """
        table = self._opened()
        for index in range(len(self.actions)):
            yield self._take(table, index)

    def _opened(self) -> Table:
        setup = self.setup()
        for key in self.start:
            if key == "deal" or key not in setup.game.reset_keys:
                raise ValueError(f"{key}: no entry of a record of {self.game}")
        deals = 1 if isinstance(self.deal, str) else len(self.deal)
        if self.seed is None and deals < len(setup.config):
            raise ValueError(
                f"seed: the record holds {deals} of {len(setup.config)} deals, and no seed for the others"
            )
        options = self.reset_options
        table = Table(setup, seed=self.seed or 0, number=self.number, options=options)
        for key in table.start:
            if self.seed is None and key not in self.start:
                raise ValueError(f"{key}: missing, and there is no seed to take it from")
        return table

    def _take(self, table: Table, index: int) -> Step:
        try:
            return table.step(self.actions[index])
        except ValueError as error:
            raise ValueError(f"actions[{index}]: {error}") from None

    def show(self, seat: int | None = None, first: int = 0, last: int | None = None) -> str:
        """The episode as text: the table at the start, the steps, the table at the end.

        Args:
            seat: From whose view; None: all hands.
            first: Number of actions taken at the start.
            last: Number of actions taken at the end; None: all.

        Raises:
            ValueError: As :meth:`table`.
        """
        return "\n".join(self.parts(seat, first, last)).rstrip("\n")

    def parts(
        self,
        seat: int | None = None,
        first: int = 0,
        last: int | None = None,
        *,
        tables: bool = False,
    ) -> Iterator[str]:
        """What :meth:`show` writes, piece by piece: a text before the first action and one an action.

        Actions that the seat does not see are left out, and not counted. With ``tables`` the table follows every action, not
        only the last one of a deal.
        """
        last = len(self.actions) if last is None else last
        if not 0 <= first <= last <= len(self.actions):
            raise ValueError(
                f"expected 0 <= first <= last <= {len(self.actions)} actions, got {first} and {last}"
            )
        table = self.table(first)
        game = table.game
        yield f"{table.setup.id}\n\n{table.render(seat)}\n"
        for index in range(first, last):
            own, before = seat in (None, table.seat), table.seen(seat)
            step = self._take(table, index)
            number, text = table.seen(seat), ""
            if number > before:
                text = step_text(step, number, show_legal=own)
            elif index + 1 < last:
                continue
            state = table.states[0]
            if tables or index + 1 == last or int(state["deal"]) != step.deal:
                text += f"\n\n{table.render(seat)}\n"
            elif "trick_size" in (game.state.names or ()) and int(state["trick_size"]) == 0:
                text += "\n"
            yield text

    def to_json(self) -> dict[str, Any]:
        """The record as JSON holds it."""
        seed = {} if self.seed is None else {"seed": self.seed, "number": self.number}
        head = {"format": FORMAT, "game": self.game, "options": self.options, "deal": self.deal}
        return {**head, **self.start, **seed, "actions": self.actions}

    @classmethod
    def from_json(cls, data: Any) -> Record:
        """Read a record, and replay it once to see that it is right.

        Raises:
            ValueError: Another format version, a missing, unknown or wrong entry, or an illegal action; the message says
                where.
        """
        if not isinstance(data, dict):
            raise ValueError(f"a record is a JSON object, got {type(data).__name__}")
        if "format" not in data:
            raise ValueError(f"format: missing; a record says {FORMAT!r}")
        if data["format"] != FORMAT:
            raise ValueError(f"format: expected {FORMAT!r}, got {data['format']!r}")
        for key, kind, what in (
            ("game", str, "a name"),
            ("options", dict, "an object"),
            ("deal", (str, list), "a deal's text, or a list of them"),
            ("actions", list, "a list of texts"),
        ):
            if key not in data:
                raise ValueError(f"{key}: missing")
            if not isinstance(data[key], kind):
                raise ValueError(f"{key}: expected {what}, got {data[key]!r}")
        for key in ("deal", "actions"):
            for index, text in enumerate(data[key] if isinstance(data[key], list) else ()):
                if not isinstance(text, str):
                    raise ValueError(f"{key}[{index}]: expected a text, got {text!r}")
        seed = data.get("seed")
        record = cls(
            game=data["game"],
            options=data["options"],
            deal=data["deal"],
            actions=data["actions"],
            start={key: value for key, value in data.items() if key not in _KEYS},
            seed=None if seed is None else _count("seed", seed),
            number=_count("number", data.get("number", 0), 2**64),
        )
        for _ in record.replay():
            pass
        return record

    def save(self, path: str | Path) -> None:
        """Write the record to a file."""
        entries = (
            f" {json.dumps(key)}: {json.dumps(value)}" for key, value in self.to_json().items()
        )
        Path(path).write_text("{\n" + ",\n".join(entries) + "\n}\n", encoding="utf-8")


def to_record(env: Any) -> Record:
    """The record of a table, or of an environment's running or just finished episode.

    Raises:
        ValueError: Nothing has been dealt yet.
        TypeError: It is neither a table nor an environment of one table.
    """
    env = getattr(env, "unwrapped", env)
    setup = getattr(env, "setup", None)
    if not isinstance(setup, Setup) or not hasattr(env, "history"):
        raise TypeError(f"expected a table, or an environment of one table; got {env!r}")
    config, seed, number = env.episode_config, env.episode_seed, env.episode_number
    if config is None or seed is None:
        raise ValueError("nothing has been dealt yet; call reset() first")
    table = Table.__new__(Table)
    table._open(setup, config, int(seed), int(number))
    for action in env.history:
        table.step(int(action))
    return Record(
        game=setup.game.name,
        options=json.loads(json.dumps(setup.options, default=_plain)),
        deal=table.deals if len(setup.config) > 1 else table.deals[0],
        actions=[setup.game.actions[action] for action in table.history],
        start=table.start,
        seed=table.episode_seed,
        number=table.episode_number,
    )


def save(env: Any, path: str | Path) -> None:
    """Write the record of a table or an environment to a file."""
    to_record(env).save(path)


def load(path: str | Path) -> Record:
    """Read a record from a file, and replay it once to see that it is right.

    Raises:
        ValueError: It is no record, or a wrong one; the message names the file and the place.
        OSError: The file cannot be read.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not text: {error}") from None
    except (
        ValueError,
        RecursionError,
    ) as error:  # a number of too many digits is a plain ValueError
        raise ValueError(f"{path}: not JSON, or cut short: {error}") from None
    try:
        return Record.from_json(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def step_text(step: Step, number: int | None = None, *, show_legal: bool = True) -> str:
    """One line for a step: number (None: the step's own), seat, action, the legal ones in brackets, and the points
    that fell.
    """
    line = f"{step.number if number is None else number:4}  {AGENTS[step.seat]}  {step.action}"
    if show_legal and len(step.legal) > 1:
        line += f"  ({' '.join(step.legal)})"
    elif show_legal:
        line += "  (forced)"
    return line + points_text(step.points)


def points_text(points: Sequence[float]) -> str:
    """Who got points, as ``  player_2 -30``; empty if nobody did."""
    return "".join(f"  {AGENTS[seat]} {value:+g}" for seat, value in enumerate(points) if value)


def _count(name: str, value: Any, limit: int | None = None) -> int:
    """``value`` as an integer from 0, and below ``limit`` where there is one, or a ``ValueError``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name}: expected an integer from 0, got {value!r}")
    if value < 0:
        raise ValueError(f"{name}: expected an integer from 0, got {value}")
    if limit is not None and value >= limit:
        raise ValueError(f"{name}: expected an integer below {limit}, got {value}")
    return int(value)


def _plain(value: Any) -> Any:
    """NumPy numbers among the options as JSON's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"an option of type {type(value).__name__} cannot be recorded")
