"""What all states of a game share: the setup, who deals, and the parameters that say so."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from baselines.extras import needs
from baselines.openspiel.dealing import Cards, Dealing, Position, Seeds, Worlds
from trick_core.game import NUM_SEATS, Game, RewardOptions, Setup, check_choice, find_game
from trick_core.notation import SEAT_LETTERS
from trick_core.rng import fold_seed

with needs("openspiel"):
    import pyspiel

DEALING = ("cards", "seeds")

#: Parameters besides the options of the environments.
OWN_DEFAULTS: dict[str, Any] = {
    "dealing": "cards",
    "seed": 0,
    "deals": 1000,
    "deal": "",
    "actions": "",
    "hidden": "",
}

#: Reward options that are parameters; OpenSpiel itself refuses illegal actions.
_REWARDS = ("reward", "zero_sum", "reward_scale")

#: Setups that are registered under names of their own.
SETUPS: dict[str, Setup] = {}


def option_defaults(game: Game) -> dict[str, Any]:
    """The options that can be parameters, with defaults as OpenSpiel holds them: -1 and "" for None."""
    found: dict[str, Any] = {}
    for option in inspect.signature(game.setup).parameters.values():
        if isinstance(option.default, (bool, int, float, str)):
            found[option.name] = option.default
        elif option.default is None and option.annotation in ("int | None", "str | None"):
            found[option.name] = -1 if option.annotation == "int | None" else ""
    return found | {
        each.name: each.default for each in fields(RewardOptions) if each.name in _REWARDS
    }


def as_parameters(setup: Setup) -> dict[str, Any] | None:
    """The options of a setup as parameters; None: they cannot all be written as such."""
    defaults = option_defaults(setup.game)
    plain: dict[str, Any] = {}
    for name, value in setup.options.items():
        if name in defaults and isinstance(value, (bool, int, float, str, type(None))):
            plain[name] = _none(defaults[name]) if value is None else value
        elif value is not None and name not in ("illegal_action", "illegal_reward"):
            return None
    return plain


def _none(default: Any) -> Any:
    """What stands for None as the value of a parameter."""
    return "" if isinstance(default, str) else -1


def _as_option(value: Any, default: Any) -> Any:
    """A parameter as the option that it stands for."""
    if isinstance(default, float) and not isinstance(value, bool):
        return float(value)
    return None if default == _none(default) == value else value


class Rules:
    """What all states of a game share. Never copied; pickled as its name and parameters.

    Attributes:
        name: The game's name in OpenSpiel.
        given: Parameters that are not at their defaults.
        defaults: All parameters.
        setup: The game with its options.
        run: The options as drivers take them.
        seed: Of the deals.
        size: Values of an observation, ``setup.observed``.
        blank: A state before the deal; never written to.
        dealing: Who deals.

    Raises:
        ValueError: A parameter out of range.
    """

    def __init__(self, name: str, given: Mapping[str, Any]) -> None:
        self.name, self.given = name, given
        fixed = SETUPS.get(name)
        self.game = find_game(name) if fixed is None else fixed.game
        options = option_defaults(self.game) if fixed is None else {}
        self.defaults = {**options, **OWN_DEFAULTS}
        values = {**self.defaults, **given}
        chosen = {key: _as_option(values[key], default) for key, default in options.items()}
        self.setup = fixed or self.game.setup(**chosen)
        self.run = self.setup.run()
        self.seed = np.uint64(fold_seed(_whole("seed", values["seed"], 0)))
        self.size = self.setup.observed
        self.blank = self.game.states(1)
        self._local = threading.local()
        self.dealing = self._dealing(values)

    def __reduce__(self) -> tuple[Any, ...]:
        return rules_of, (self.name, tuple(sorted(self.given.items())))

    def __deepcopy__(self, memo: Any) -> Rules:
        return self

    def _dealing(self, values: Mapping[str, Any]) -> Dealing:
        check_choice("dealing", values["dealing"], DEALING)
        if not values["deal"]:
            for key in ("actions", "hidden"):
                if values[key]:
                    raise ValueError(f"{key}: only with a deal")
            if values["dealing"] == "cards":
                return Cards(self)
            return Seeds(_whole("deals", values["deals"], 1))
        position = Position(self, values["deal"].replace(";", ","), values["actions"].split())
        if not values["hidden"]:
            return position
        return Worlds(self, position, _seats(values["hidden"]))

    def buffers(self) -> tuple[np.ndarray[Any, Any], ...]:
        """Scratch of this thread: rewards, words, observation and mask."""
        found: tuple[np.ndarray[Any, Any], ...] | None = getattr(self._local, "buffers", None)
        if found is None:
            found = self._local.buffers = (
                np.zeros((1, NUM_SEATS)),
                np.zeros((1, self.game.layout.words), np.uint64),
                np.zeros((1, self.game.layout.size), np.int8),
                np.zeros((1, self.game.num_actions), np.int8),
            )
        return found

    @property
    def utility_sum(self) -> float:
        """What the four returns add up to."""
        reward = self.setup.reward
        return 0.0 if reward.zero_sum else self.setup.bounds.total * reward.reward_scale

    def game_type(self) -> Any:
        """OpenSpiel's description of what kind of game this is."""
        kinds = pyspiel.GameType
        chance, utility, model = kinds.ChanceMode, kinds.Utility, kinds.RewardModel
        final = self.setup.reward.reward == "final"
        return kinds(
            short_name=self.name,
            long_name=f"{self.game.name.capitalize()} (trick-envs)",
            dynamics=kinds.Dynamics.SEQUENTIAL,
            chance_mode=chance.EXPLICIT_STOCHASTIC
            if self.dealing.most_outcomes
            else chance.DETERMINISTIC,
            information=kinds.Information.IMPERFECT_INFORMATION,
            utility=utility.CONSTANT_SUM if self.utility_sum else utility.ZERO_SUM,
            reward_model=model.TERMINAL if final else model.REWARDS,
            max_num_players=NUM_SEATS,
            min_num_players=NUM_SEATS,
            provides_information_state_string=True,
            provides_information_state_tensor=True,
            provides_observation_string=True,
            provides_observation_tensor=True,
            provides_factored_observation_string=True,
            parameter_specification=self.defaults,
        )

    def game_info(self) -> Any:
        """OpenSpiel's numbers of this game."""
        bounds, reward = self.setup.bounds, self.setup.reward
        mean = bounds.total / NUM_SEATS if reward.zero_sum else 0.0
        ends = [(end - mean) * reward.reward_scale for end in (bounds.lowest, bounds.highest)]
        return pyspiel.GameInfo(
            num_distinct_actions=self.game.num_actions,
            max_chance_outcomes=self.dealing.most_outcomes,
            num_players=NUM_SEATS,
            min_utility=min(ends),
            max_utility=max(ends),
            utility_sum=self.utility_sum,
            max_game_length=bounds.actions,
        )


@functools.lru_cache(maxsize=64)
def rules_of(name: str, given: tuple[tuple[str, Any], ...] = ()) -> Rules:
    """The rules of a registered name and parameters, which are made once."""
    return Rules(name, dict(given))


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name}: expected an integer from {least}, got {value!r}")
    return value


def _seats(letters: str) -> list[int]:
    """Seats from their letters, ascending."""
    seats = {SEAT_LETTERS.find(letter) for letter in letters}
    if -1 in seats or len(seats) != len(letters):
        raise ValueError(f"hidden: expected different letters of {SEAT_LETTERS}, got {letters!r}")
    return sorted(seats)
