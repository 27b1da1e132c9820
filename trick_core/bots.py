"""Who plays a seat: one protocol for heuristics, search, networks and users' functions.

A bot sees what its seat may see, by construction: it is handed a :class:`View`, whose state record has been
emptied of everything the seat does not know. Names resolve in a registry that knows ``random``; installed
packages add theirs through the entry-point group ``trick_envs.bots``, which is read when a name is first looked up.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

from trick_core.bits import words_to_bits
from trick_core.drivers import JitBot, table_drivers, uniform_choice
from trick_core.game import Game, check_states
from trick_core.jit import copy_records

ENTRY_POINTS = "trick_envs.bots"


class View(Mapping[str, Any]):
    """What one seat on turn may see, and nothing else.

    A mapping with the two keys of the observation, ``"observation"`` (int8, (D,)) and ``"action_mask"`` (int8, (A,)),
    worked out when they are asked for.

    Attributes:
        game: The game.
        config: Configuration records of the episode, without hands; read-only.
        record: State record of the game's dtype, shape (1,), without what the seat does not know.
        seat: The seat on turn.
        random: 64 random bits from the table's own stream of opponents' randomness.

    Raises:
        ValueError: The record is in a deal for which there is no configuration record.
    """

    def __init__(
        self, game: Game, config: np.ndarray[Any, Any], record: np.ndarray[Any, Any], random: int
    ) -> None:
        # Only what is wrong pays for the whole check: Python bots get a view for every action.
        if not 0 <= record["deal"].item(0) < len(config):
            check_states("record", record, game, config)
        self.game = game
        self.config = config
        self.record = record
        self.seat = record["seat"].item(0)
        self.random = random

    @functools.cached_property
    def _arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        words = np.zeros((1, self.game.layout.words), np.uint64)
        observation = np.zeros((1, self.game.layout.size), np.int8)
        mask = np.zeros((1, self.game.num_actions), np.int8)
        observe = table_drivers(self.game).observe
        observe(self.config, self.record, 0, self.seat, words, observation, mask)
        return {"observation": observation[0], "action_mask": mask[0]}

    def __getitem__(self, key: str) -> np.ndarray[Any, Any]:
        return self._arrays[key]

    def __iter__(self) -> Iterator[str]:
        return iter(("observation", "action_mask"))

    def __len__(self) -> int:
        return 2

    @property
    def legal(self) -> list[int]:
        """Legal action ids, ascending."""
        return self.game.legal_ids(self.record[0])

    @functools.cached_property
    def rng(self) -> np.random.Generator:
        """A generator seeded by ``random``, for bots that need more than one number."""
        return np.random.Generator(np.random.PCG64(self.random))


class BatchView(Mapping[str, Any]):
    """What the seats on turn of n tables may see: a mapping like :class:`View` with a leading axis.

    Its length as a mapping is 2; the number of tables is ``len(views.seats)``. A bot may write on all of it.

    Attributes:
        game: The game.
        config: Configuration records, without hands; read-only.
        records: State records (n,), each without what its seat on turn does not know.
        words: Observations as words, uint64 (n, W); ``["observation"]`` is the same as int8 (n, D).
        mask: int8 (n, A), ``["action_mask"]``.
        seats: int64 (n,), the seats on turn.
        randoms: uint64 (n,).
    """

    def __init__(
        self,
        game: Game,
        config: np.ndarray[Any, Any],
        records: np.ndarray[Any, Any],
        words: np.ndarray[Any, Any],
        mask: np.ndarray[Any, Any],
        randoms: np.ndarray[Any, Any],
    ) -> None:
        self.game = game
        self.config = config
        self.records = records
        self.words = words
        self.mask = mask
        self.randoms = randoms
        self.seats = records["seat"].astype(np.int64)

    def __getitem__(self, key: str) -> np.ndarray[Any, Any]:
        if key == "action_mask":
            return self.mask
        if key == "observation":
            return self._observation
        raise KeyError(key)

    @functools.cached_property
    def _observation(self) -> np.ndarray[Any, Any]:
        return words_to_bits(self.words, self.game.layout.size)

    def __iter__(self) -> Iterator[str]:
        return iter(("observation", "action_mask"))

    def __len__(self) -> int:
        return 2

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_observation"}

    def view(self, i: int) -> View:
        """The view of one table."""
        return View(
            self.game, self.config, copy_records(self.records[i : i + 1]), int(self.randoms[i])
        )


class Bot:
    """Base class of bots; subclasses give ``name`` and ``act``, and may give the other two.

    A bot keeps nothing between calls that would change its choices: the same view, the same action. Randomness comes from the
    view (``view.random``, ``view.rng``), so that a game can be repeated from its seed.

    Example:
        >>> class Lowest(Bot):
        ...     name = "lowest"
        ...     def act(self, view):
        ...         return view.legal[0]
    """

    name: str = "bot"
    #: True: a cheat, which is handed states from which nothing has been erased. For upper bounds and teachers only.
    sees_all: bool = False

    def act(self, view: View) -> int:
        """The action for one view."""
        raise NotImplementedError

    def act_batch(self, views: BatchView) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The actions for n views; the default asks :meth:`act` n times.

        Raises:
            TypeError: ``act`` returned something that is no integer.
            ValueError: It returned an integer beyond int64.
        """
        chosen = [self.act(views.view(i)) for i in range(len(views.seats))]
        try:
            return np.array([operator.index(action) for action in chosen], np.int64)
        except (TypeError, OverflowError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(
                f"bot {self.name!r}: expected the id of an action (an integer), got {chosen!r}"
            ) from None

    def jit(self, game: Game) -> JitBot | None:
        """The bot as a kernel that plays inside the drivers; None: it has none for the game, and is asked.

        Raises:
            ValueError: The bot does not play the game.
        """
        return None

    def __repr__(self) -> str:
        return f"<bot {self.name}>"


class RowBot(Bot):
    """A bot that decides one view or many by the same function of state records; subclasses give :meth:`decide`."""

    def act(self, view: View) -> int:
        randoms = np.array([view.random], np.uint64)
        return int(self.decide(view.game, view.config, view.record, randoms)[0])

    def act_batch(self, views: BatchView) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self.decide(views.game, views.config, views.records, views.randoms)

    def decide(
        self,
        game: Game,
        config: np.ndarray[Any, Any],
        records: np.ndarray[Any, Any],
        randoms: np.ndarray[Any, Any],
    ) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The actions for n views.

        Args:
            game: The game.
            config: Configuration records, without hands.
            records: State records (n,), each without what its seat on turn does not know.
            randoms: uint64 (n,), a random word for each.
        """
        raise NotImplementedError


class KernelBot(RowBot):
    """A bot whose choice is a kernel, one a game."""

    def __init__(self, name: str, build: Callable[[Game], JitBot]) -> None:
        """``build`` makes the kernel for a game (``ValueError`` if it does not play it); picklable."""
        self.name = name
        self._build = build

    def jit(self, game: Game) -> JitBot:
        return self._build(game)

    def decide(
        self,
        game: Game,
        config: np.ndarray[Any, Any],
        records: np.ndarray[Any, Any],
        randoms: np.ndarray[Any, Any],
    ) -> np.ndarray[Any, np.dtype[np.int64]]:
        actions = np.empty(len(records), np.int64)
        _entry_of(game, self._build(game))(config, records, randoms, actions)
        return actions


@functools.cache
def _entry_of(game: Game, bot: JitBot) -> Any:
    """A bot's kernel as a function that Python calls: ``(config, views, randoms, actions)``."""
    from trick_core.jit import entry

    inner = bot.act
    label = None if bot.label is None else f"{game.name}.act_batch.{bot.label}"

    @entry(label, [game.folder, bot.folder])
    def act_batch(config, views, randoms, actions):  # type: ignore[no-untyped-def]
        for i in range(actions.shape[0]):
            actions[i] = inner(config, views[i], randoms[i])

    return act_batch


class ScoringBot(Bot):
    """A bot that scores all actions from what is observed, and plays the legal one with the highest score; networks are such bots.

    Of equal scores the one with the lowest id is played. Subclasses give :meth:`scores`.

    Args:
        name: Name in results.
        size: Values of the observation that are read, the first ones.
        num_actions: Actions that are scored.
    """

    def __init__(self, name: str, size: int, num_actions: int) -> None:
        self.name = name
        self.size = size
        self.num_actions = num_actions

    def scores(self, observation: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Scores (n, A) of all actions, legal or not, for int8 observations (n, size)."""
        raise NotImplementedError

    def act(self, view: View) -> int:
        return int(self._choose(view["observation"][None], view["action_mask"][None])[0])

    def act_batch(self, views: BatchView) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self._choose(views["observation"], views.mask)

    def _choose(
        self, observation: np.ndarray[Any, Any], mask: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, np.dtype[np.int64]]:
        if observation.shape[1] < self.size or mask.shape[1] != self.num_actions:
            raise ValueError(
                f"bot {self.name!r} was trained for {self.num_actions} actions and {self.size} values of observation; "
                f"this game has {mask.shape[1]} and {observation.shape[1]}"
            )
        legal = np.where(mask != 0, self.scores(observation[:, : self.size]), -np.inf)
        return np.asarray(legal.argmax(axis=1), np.int64)


class FunctionBot(Bot):
    """A user's function: ``f(view)``, or ``f(observation, action_mask)``; returns an action id."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        self._function = function
        self._pair = _takes_two(function)

    def act(self, view: View) -> int:
        if self._pair:
            return self._function(view["observation"], view["action_mask"])  # type: ignore[no-any-return]
        return self._function(view)  # type: ignore[no-any-return]


class ObjectBot(Bot):
    """A user's object with a method ``act(view)``, and perhaps ``act_batch(views)``."""

    def __init__(self, target: Any) -> None:
        self.name = str(getattr(target, "name", type(target).__name__))
        self.sees_all = bool(getattr(target, "sees_all", False))
        self._target = target

    def act(self, view: View) -> int:
        return self._target.act(view)  # type: ignore[no-any-return]

    def act_batch(self, views: BatchView) -> np.ndarray[Any, np.dtype[np.int64]]:
        if hasattr(self._target, "act_batch"):
            return np.asarray(self._target.act_batch(views))
        return super().act_batch(views)


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    required = [
        p
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return len(required) == 2


BotFactory = Callable[[str | None], Bot]
_FACTORIES: dict[str, BotFactory] = {}


def register_bot(name: str, factory: BotFactory) -> None:
    """Make a bot known by name. ``factory`` gets what follows a colon in the name (``net:file``), or None."""
    _FACTORIES[name] = factory


@functools.cache
def _load_entry_points() -> None:
    for point in entry_points(group=ENTRY_POINTS):
        if point.name not in _FACTORIES:
            _FACTORIES[point.name] = LazyFactory(point)


class LazyFactory:
    """A factory whose package is imported when its first bot is made."""

    def __init__(self, point: Any) -> None:
        self._point = point

    def __call__(self, argument: str | None) -> Bot:
        return self.load()(argument)

    @property
    def module(self) -> str:
        """Where the factory is."""
        return str(self._point.module)

    def load(self) -> BotFactory:
        """The factory."""
        return self._point.load()  # type: ignore[no-any-return]


def factory_of(name: str) -> BotFactory | None:
    """What makes the bots of a name (without what follows a colon in it); None: nothing is known by it."""
    _load_entry_points()
    return _FACTORIES.get(name)


def bot_names() -> list[str]:
    """Names that the registry knows."""
    _load_entry_points()
    return sorted(_FACTORIES)


def make_bot(name: str) -> Bot:
    """The bot of a name, as ``random``, ``greedy`` or ``net:file``.

    Raises:
        ValueError: No such bot; the message lists the names.
    """
    base, _, argument = name.partition(":")
    if base not in _FACTORIES:
        _load_entry_points()
    if base not in _FACTORIES:
        raise ValueError(f"no bot {name!r}; there are {', '.join(bot_names())}")
    return _FACTORIES[base](argument or None)


def as_bot(spec: Any) -> Bot:
    """A bot from a name, a bot, an object with ``act``, or a callable.

    Raises:
        ValueError: An unknown name.
        TypeError: None of these.
    """
    if isinstance(spec, Bot):
        return spec
    if isinstance(spec, str):
        return make_bot(spec)
    if isinstance(spec, type):
        raise TypeError(f"a bot is a name, an object or a callable; got the class {spec.__name__}")
    if hasattr(spec, "act"):
        return ObjectBot(spec)
    if callable(spec):
        return FunctionBot(spec)
    raise TypeError(f"a bot is a name, an object with act(view), or a callable; got {spec!r}")


@functools.cache
def random_bot(game: Game) -> JitBot:
    """Uniform choice among the legal actions."""
    return JitBot("random", uniform_choice(game), str(Path(__file__).parent), honest=True)


def _make_random(argument: str | None) -> Bot:
    if argument is not None:
        raise ValueError(f"bot 'random' takes no argument, got {argument!r}")
    return KernelBot("random", random_bot)


register_bot("random", _make_random)
