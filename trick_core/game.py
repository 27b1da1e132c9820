"""What a game is to everything above it: one description, and that description with its options fixed.

Adapters, drivers, bot runners and tools take a :class:`Game` or a :class:`Setup`; none of them asks which one.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trick_core.jit import records
from trick_core.layout import Layout

NUM_SEATS = 4
AGENTS = tuple(f"player_{seat}" for seat in range(NUM_SEATS))

#: Reward modes, in the order of the kernel's numbers.
REWARDS = ("points", "final", "shaped")


class Kernels(NamedTuple):
    """Compiled rules of a game. ``config`` is an array of the game's configuration records, ``st`` one state
    record, and buffers are 2-D of which a kernel writes row ``i``. Points are in the game's own integer unit.
    """

    #: (config, st, key, custom): begin an episode from a stream key; ``custom`` 1: with the given hands.
    begin: Callable[..., Any]
    #: (config, st, action): take a legal action; ``st.gain`` then holds the points it gave.
    step: Callable[..., Any]
    #: (config, st, seat, words, i): write the changing part of a seat's observation.
    observe: Callable[..., Any]
    #: (config, st, words, i): write the part that stays the same while ``st.deal`` does.
    observe_row: Callable[..., Any]
    #: (config, st, words, i): write the full-information state.
    describe: Callable[..., Any]
    #: (config, st, sign, out, i): add sign x potential of each seat to ``out`` (float64, (n, 4)).
    potential: Callable[..., Any]
    #: (config, st, out, i): add each seat's points of the episode so far to ``out``.
    returns: Callable[..., Any]
    #: (config, st, seat): erase from a copied state what the seat may not know.
    redact: Callable[..., Any]
    #: (config, st, out, i): write the numbers of ``Game.info_names`` (float64).
    info: Callable[..., Any]


class Belief(NamedTuple):
    """Kernels that know what a seat may think the others hold; :mod:`trick_core.belief` builds them.

    ``st`` is a state from which ``Kernels.redact`` has erased what ``seat`` does not know (at any time, on turn or not), ``work``
    one record of :attr:`work`, whatever it held before: ``records(1, belief.work)[0]``, one a thread.

    Worlds are all ways to share out the cards that the seat has not seen which agree with what is public. Count once, then draw
    as many as you like: ``sample`` reads public fields and the seat's own cards alone, so it may be given a copy of the state
    that was prepared, or one in which it has already filled in another world.
    """

    #: (config, st, seat, work) -> float64: number of worlds. ``st`` stays as it is.
    prepare: Callable[..., Any]
    #: (config, st, seat, random, work) -> random: fill in one world of those prepared, each with the same chance; the random
    #: state after it. The result is a state that ``Kernels.step`` continues: where another seat is on turn, its legal actions
    #: are those of the hand that it now has.
    sample: Callable[..., Any]
    #: (config, st, seat, place, card_0, card_1, work) -> float64: number of worlds in which one card, a set of two words, lies at a place:
    #: 0..2 the hands after ``seat`` in play order, 3 aside. A ``prepare`` must follow before the next ``sample``.
    count: Callable[..., Any]
    #: dtype of ``work``; see :func:`trick_core.worlds.work_dtype`.
    work: np.dtype[Any]
    #: Number of cards in each word of a set; card ids count through the words.
    sizes: tuple[int, ...]
    #: Whether cards may lie aside.
    pile: bool


class Endings(NamedTuple):
    """Kernels for playing out the rest of a deal in full. In ``st`` no hand has been erased."""

    #: (config, st) -> int64: tricks of the deal that are not finished; more than a hand's cards before the first one.
    tricks_left: Callable[..., Any]
    #: (config, st, out, i): write the legal actions to the words of row ``i`` of ``out`` (uint64), but of actions after which all
    #: is the same but for names, only the lowest: of cards that touch and are worth the same. Such actions have ids in a row.
    distinct: Callable[..., Any]
    #: (config, st) -> uint64: a hash of all that the rest of the deal depends on; 0 within a trick.
    key: Callable[..., Any]
    #: (config, st) -> (int64, int64): least and most that a seat can still get from the deal, in units.
    bounds: Callable[..., Any]
    #: (config, st, seat) -> int64: the side that a seat is on. Seats of a side want the same and get the same.
    side: Callable[..., Any]
    #: Sides: 4, every seat for itself, or 2, of which one gets what the other loses.
    num_sides: int


class Past(NamedTuple):
    """Kernels that go back over a deal, for inference from what has been played. In ``st`` no hand has been erased."""

    #: (config, st) -> int64: number of actions to go back over.
    length: Callable[..., Any]
    #: (config, st, k) -> int64: the action number ``k`` of them.
    action: Callable[..., Any]
    #: (config, st): put ``st`` back to before the first of them, with all hands as they were then.
    rewind: Callable[..., Any]
    #: (config, st, world): in ``st``, an earlier state of the deal, give the seat on turn the cards that it held then if it now has
    #: those of ``world``, and find its legal actions.
    recall: Callable[..., Any]
    #: (config, st, seat, word, pairs) -> (int64, int64): let hidden cards change places, up to so many pairs, between two hands that
    #: are not ``seat``'s, chosen by a random word such that the way back is as likely; the seats whose hands have changed (twice the
    #: same: one hand and what lies aside). -1, -1 where what is public rules it out: then ``st`` is as it was.
    exchange: Callable[..., Any]
    #: (st, seat) -> uint64: a word that is another for every other hand that the seat may hold.
    hand: Callable[..., Any]
    #: The most actions that there are to go back over.
    longest: int


@dataclass(frozen=True, eq=False, repr=False)
class Game:
    """A four-seat trick-taking game.

    Attributes:
        name: ``"bolola"``; also the namespace of the environment ids.
        state: dtype of a table. Every game has the fields ``seat`` (int8, -1 when the episode is over), ``legal`` (uint64
            words of legal actions), ``gain`` (int32, 4) and ``deal`` (deals of the episode finished before this one).
        config: dtype of the configuration; an episode takes an array of them, one a deal.
        actions: Text of every action, by id.
        layout: Pieces of the observation.
        row_start: First value of the part of the observation that changes only from deal to deal.
        state_layout: Pieces of the full-information state.
        unit: Points per integer unit of ``gain`` and returns (1.0, or 0.5 for half points).
        kernels: The rules.
        info_names: Keys of the numbers that ``infos`` hold besides ``seat``.
        folder: Where the game's sources lie, for the kernel cache.
        setup: ``setup(**options) -> Setup``; checks the options of an environment.
        variants: Names of the game's registered variants (``"hearts"``, ``"match"``), and the options that make each.
        reset_config: ``(setup, options) -> config`` for ``reset(options=...)`` with a custom deal.
        render: ``(setup, states, i, seat | None, history) -> str``; seat None shows all hands.
        deal_text: ``(states, i) -> str`` hands as dealt, at the start of a deal.
        reset_keys: Keys that ``reset(options=...)`` understands.
        start_options: ``(config, states, i) -> dict``: at the start of an episode, the keys besides ``deal`` with which a
            custom deal begins as this one did. None: the keys that name a field of the state, with its value.
        is_public: ``(states, i, action) -> bool``: whether all seats see an action that is about to be taken; records
            shown from a seat's view leave out those that it does not see. None: all are seen.
        role_names: Roles that a seat may have in an episode (``("taker", "defender")``), for reports; empty where
            all seats are alike.
        roles: ``(states) -> int8 (n, 4)``: each seat's role in finished episodes, an index into ``role_names``; -1: none.
        belief: Sampling of hidden hands, for search.
        endings: What a solver of the last tricks needs.
        past: What inference from play needs.
    """

    name: str
    state: np.dtype[Any]
    config: np.dtype[Any]
    actions: tuple[str, ...]
    layout: Layout
    row_start: int
    state_layout: Layout
    unit: float
    kernels: Kernels
    info_names: tuple[str, ...]
    folder: Path
    setup: Callable[..., Setup]
    variants: Mapping[str, Mapping[str, Any]]
    reset_config: Callable[[Setup, Mapping[str, Any]], np.ndarray[Any, Any]]
    render: Callable[..., str]
    deal_text: Callable[..., str]
    reset_keys: tuple[str, ...]
    start_options: Callable[..., dict[str, Any]] | None = None
    is_public: Callable[..., bool] | None = None
    role_names: tuple[str, ...] = ()
    roles: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, np.dtype[np.int8]]] | None = None
    belief: Belief | None = None
    endings: Endings | None = None
    past: Past | None = None
    action_ids: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "action_ids", {text: i for i, text in enumerate(self.actions)})

    def __repr__(self) -> str:
        return f"<game {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return find_game, (self.name,)

    @property
    def num_actions(self) -> int:
        return len(self.actions)

    @property
    def mask_words(self) -> int:
        """Number of 64-bit words of a legal-action set."""
        return -(-self.num_actions // 64)

    def states(self, count: int) -> np.ndarray[Any, Any]:
        """``count`` zeroed states."""
        return records(count, self.state)

    def action_id(self, action: str) -> int:
        """The id of an action's text.

        Raises:
            ValueError: No such action.
        """
        try:
            return self.action_ids[action]
        except KeyError:
            raise ValueError(f"{self.name} has no action {action!r}") from None

    def observed(self, deals: int) -> int:
        """How many leading values of the observation can change in an episode of so many deals; see :attr:`Setup.observed`."""
        return self.row_start if deals == 1 else self.layout.size

    def legal_ids(self, state: Any) -> list[int]:
        """Legal actions of the seat on turn, ascending."""
        bits = 0
        for i, word in enumerate(np.asarray(state["legal"]).tolist()):
            bits |= word << (64 * i)
        return [i for i in range(self.num_actions) if bits >> i & 1]


_GAMES: dict[str, Game] = {}


def register_game(game: Game) -> Game:
    """Make a game known by name, so that it can be unpickled and found by records."""
    _GAMES[game.name] = game
    return game


def find_game(name: str) -> Game:
    """The game of a name, importing its package ``<name>_env`` if need be.

    Raises:
        ValueError: No such game.
    """
    if name not in _GAMES:
        import importlib

        package = f"{name}_env"
        try:
            if not name.isidentifier():
                raise ValueError(f"no game {name!r}; ids are written as bolola/hearts-v0")
            importlib.import_module(f"{package}.game")
        except ModuleNotFoundError as error:
            if error.name not in (
                package,
                f"{package}.game",
            ):  # the game is there, what it needs is not
                raise
            raise ValueError(f"no game {name!r}; ids are written as bolola/hearts-v0") from None
    return _GAMES[name]


def setup_for(env: Any, **options: Any) -> Setup:
    """A setup from an environment id.

    Args:
        env: ``"bolola/hearts-v0"`` (the version may be left out), or a :class:`Setup` whose options change.
        **options: Options of the environment.

    Raises:
        ValueError: No such environment; the message lists those of the game.
        TypeError: An unknown option; the message lists those that there are.
    """
    if isinstance(env, Setup):
        return env.changed(**options)
    if not isinstance(env, str):
        raise ValueError(f"expected an environment id as bolola/hearts-v0, or a setup; got {env!r}")
    name, _, variant = env.partition("/")
    game = find_game(name)
    variant = variant.removesuffix("-v0").replace("-", "_")
    if variant not in game.variants:
        raise ValueError(f"no environment {env!r}; {name} has {', '.join(game.variants)}")
    _check_names(game, options)
    return game.setup(**{**game.variants[variant], **options})


def _check_names(game: Game, options: Mapping[str, Any]) -> None:
    """Refuse options that neither the game nor the rewards have.

    Raises:
        TypeError: There is one; the message lists those that there are.
    """
    parameters = inspect.signature(game.setup).parameters.values()
    known = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]
    known += [each.name for each in fields(RewardOptions) if each.name not in known]
    for name in options:
        if name not in known:
            raise TypeError(f"{game.name} has no option {name!r}; it takes {', '.join(known)}")


#: How the drivers turn points into rewards; one record, shared by all tables of an environment.
RUN = np.dtype(
    [
        ("factor", "f8"),  # reward per unit of points
        ("illegal_reward", "f8"),  # what an illegal action gets, already scaled
        ("mode", "i1"),  # index into REWARDS
        ("zero_sum", "i1"),  # 1: subtract the table's mean at every step
        ("autoreset", "i1"),  # index into AUTORESET
    ],
    align=True,
)

#: Autoreset modes of the vector environments, in the order of the kernel's numbers.
AUTORESET = ("same_step", "next_step", "disabled")


@dataclass(frozen=True, eq=False)
class RewardOptions:
    """The options that every environment takes for its rewards.

    Attributes:
        reward: ``"points"``, ``"final"`` or ``"shaped"``; the sums over an episode are the same.
        zero_sum: Subtract the table's mean at every step.
        reward_scale: Factor on every reward.
        illegal_action: ``"terminate"`` or ``"raise"``.
        illegal_reward: Reward of an illegal action; None: minus the largest absolute return, scaled.
    """

    reward: str = "points"
    zero_sum: bool = False
    reward_scale: float = 1.0
    illegal_action: str = "terminate"
    illegal_reward: float | None = None

    def __post_init__(self) -> None:
        check_choice("reward", self.reward, REWARDS)
        check_choice("illegal_action", self.illegal_action, ("terminate", "raise"))
        check_flag("zero_sum", self.zero_sum)
        check_number("reward_scale", self.reward_scale)
        if self.illegal_reward is not None:
            check_number("illegal_reward", self.illegal_reward)


class Bounds(NamedTuple):
    """What every episode of a setup lies within; in points, whatever the reward options."""

    #: Of the return of one seat.
    lowest: float
    highest: float
    #: What the four returns add up to.
    total: float
    #: The most actions that an episode takes.
    actions: int


@dataclass(frozen=True, eq=False, repr=False)
class Setup:
    """A game with its options fixed: what an environment is made from.

    Attributes:
        game: The game.
        variant: Name of the variant, as in the id (``"hearts"``, ``"match"``, ``"deal"``).
        options: All options by name, as they are written to records.
        arguments: The options as the caller gave them.
        config: Configuration records, one a deal of the episode; read-only.
        reward: Reward options.
        largest_return: Bound on the absolute return of one seat, in points.
        bounds: Limits of an episode.
    """

    game: Game
    variant: str
    options: dict[str, Any]
    arguments: dict[str, Any]
    config: np.ndarray[Any, Any]
    reward: RewardOptions
    largest_return: float
    bounds: Bounds

    def __post_init__(self) -> None:
        # A read-only array is a type of its own to the compiler; a copy must not compile all anew.
        self.config.flags.writeable = False

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"<setup {self.id}{options}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Setup, tuple(getattr(self, each.name) for each in fields(self))

    def changed(self, **options: Any) -> Setup:
        """The same setup with some options changed."""
        _check_names(self.game, options)
        return self.game.setup(**{**self.arguments, **options})

    @property
    def name(self) -> str:
        """Versioned name for ``metadata``: ``bolola_hearts_v0``."""
        return f"{self.game.name}_{self.variant}_v0"

    @property
    def id(self) -> str:
        """Id in the registries: ``bolola/hearts-v0``."""
        return f"{self.game.name}/{self.variant.replace('_', '-')}-v0"

    @property
    def illegal_reward(self) -> float:
        """What an illegal action gets where it ends the episode."""
        if self.reward.illegal_reward is not None:
            return float(self.reward.illegal_reward)
        return -abs(self.largest_return * self.reward.reward_scale)

    @property
    def observed(self) -> int:
        """How many leading values of the observation can change in an episode; the rest would be constant inputs to a net.

        Of one deal, those before ``game.row_start``; of a match, all ``game.layout.size``.
        """
        return self.game.observed(len(self.config))

    def run(self, autoreset: int = 0) -> np.ndarray[Any, Any]:
        """The options as the record that drivers take, shape (1,)."""
        run = records(1, RUN)
        run["factor"] = self.game.unit * self.reward.reward_scale
        run["illegal_reward"] = self.illegal_reward
        run["mode"] = REWARDS.index(self.reward.reward)
        run["zero_sum"] = self.reward.zero_sum
        run["autoreset"] = autoreset
        return run


def same_config(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays of configuration records say the same.

    Their bytes may differ: NumPy's copies (and so ``copy.deepcopy``) leave the gaps between fields as they find them.
    """
    if one is other:
        return True
    same = one.dtype == other.dtype and one.shape == other.shape
    return same and bool((np.asarray(one) == np.asarray(other)).all())


def check_states(
    name: str, states: Any, game: Game, config: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """``states`` if they are state records that an episode of these configuration records can hold, or a ``ValueError``.

    Kernels read the record of a state's deal without asking whether there is one.
    """
    array = isinstance(states, np.ndarray)
    if not array or states.dtype != game.state or states.ndim != 1:
        found = repr(states)
        if array:
            kind = "such records" if states.dtype == game.state else "other records"
            kind = kind if states.dtype.names else str(states.dtype)
            found = f"{kind} of shape {states.shape}"
        raise ValueError(
            f"{name}: expected an array of {game.name}'s state records with one dimension, got {found}"
        )
    deals = states["deal"]
    for i in np.flatnonzero((deals < 0) | (deals >= len(config)))[:1]:
        raise ValueError(
            f"{name}[{i}]: deal {int(deals[i]) + 1} of an episode of {len(config)}; is it another setup's?"
        )
    return states  # type: ignore[no-any-return]


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> Any:
    """``value`` if it is one of ``choices``, else a ``ValueError`` that lists them."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}; got {value!r}")
    return value


def check_flag(name: str, value: Any) -> bool:
    """``value`` as a bool, or a ``ValueError``."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def check_number(name: str, value: Any) -> float:
    """``value`` as a finite float, or a ``ValueError``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise ValueError(f"{name}: expected a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name}: expected a finite number, got {value!r}")
    return number


#: The largest integers that records hold.
INT32, INT64 = 2**31 - 1, 2**63 - 1


def check_integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """``value`` as an integer from ``least`` on, to ``most`` if there is a limit, or a ``ValueError``."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(f"{name}: expected an integer from {least} on, got {value!r}")
    if most is not None and value > most:
        raise ValueError(f"{name}: expected an integer from {least} to {most}, got {value!r}")
    return int(value)


def check_seat(name: str, value: Any) -> int:
    """``value`` as a seat 0..3, or a ``ValueError``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name}: expected a seat 0..3, got {value!r}")
    if not 0 <= value < NUM_SEATS:
        raise ValueError(f"{name}: expected a seat 0..3, got {value}")
    return int(value)
