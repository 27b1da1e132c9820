"""The PettingZoo environment (AEC: one agent acts at a time) of any game.

The checks that PettingZoo's three usual wrappers make are made here, with the same errors, since the wrappers cost
far more than the game: :class:`TrickAEC` is an ``AECEnv`` without wrappers. What differs from them, on purpose:

* an illegal action pays ``illegal_reward`` of the options, and ends the episode by termination, not truncation;
* with ``illegal_action="raise"`` it raises ``ValueError`` and nothing changes.

One kernel call a step plays the action and writes what the next seat sees; a dict is touched only where something
in it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from trick_core.bits import words_to_bits
from trick_core.drivers import table_drivers
from trick_core.episodes import check_seed, custom_config, fresh_seed
from trick_core.game import AGENTS, NUM_SEATS, RUN, Game, Setup, same_config
from trick_core.jit import copy_records, direct, records

Observation = dict[str, np.ndarray[Any, np.dtype[np.int8]]]

RENDER_MODES = ("human", "ansi")

_SEATS = {agent: seat for seat, agent in enumerate(AGENTS)}
_NOTHING = [0.0] * NUM_SEATS
_NO_REWARDS = dict.fromkeys(AGENTS, 0.0)
_ZEROS = memoryview(np.zeros(NUM_SEATS))  # type: ignore[arg-type]
#: Attributes that exist from the first ``reset`` on.
_EPISODE = (
    "agents",
    "rewards",
    "_cumulative_rewards",
    "terminations",
    "truncations",
    "infos",
    "agent_selection",
)
#: Attributes that a copy makes anew.
_WORKING_PARTS = frozenset(
    (
        "_num_actions",
        "_scratch",
        "_rewards",
        "_words",
        "_obs",
        "_mask",
        "_gains",
        "_legal",
        "_obs_row",
        "_mask_row",
        "_aside",
        "_shown",
        "_play",
        "_look",
    )
)


class _Buffers(NamedTuple):
    """What a kernel writes to; each with one row."""

    scratch: np.ndarray[Any, Any]  # (1, 4) float64
    rewards: np.ndarray[Any, Any]  # (1, 4) float64; zero between steps
    words: np.ndarray[Any, Any]  # (1, W) uint64
    obs: np.ndarray[Any, Any]  # (1, D) int8
    mask: np.ndarray[Any, Any]  # (1, A) int8


def _make_buffers(game: Game) -> _Buffers:
    return _Buffers(
        scratch=np.zeros((1, NUM_SEATS)),
        rewards=np.zeros((1, NUM_SEATS)),
        words=np.zeros((1, game.layout.words), np.uint64),
        obs=np.zeros((1, game.layout.size), np.int8),
        mask=np.zeros((1, game.num_actions), np.int8),
    )


class _Drivers(NamedTuple):
    """The drivers of :func:`table_drivers` that every episode uses, compiled."""

    begin: Callable[..., Any]
    step: Callable[..., Any]
    observe: Callable[..., Any]


@cache
def _drivers(game: Game) -> _Drivers:
    """Compiled drivers that are called without looking at the types of the arguments.

    That look costs twice as much as a step. All environments of a game pass the same types: those of the examples
    here.
    """
    drivers, buffers = table_drivers(game), _make_buffers(game)
    states, config, run = game.states(1), records(1, game.config), records(1, RUN)
    config.flags.writeable = False
    seed = np.uint64(0)
    views = buffers.words, buffers.obs, buffers.mask
    return _Drivers(
        direct(drivers.begin, config, states, 0, seed, seed, 0),
        direct(drivers.step, config, run, states, 0, 0, buffers.scratch, buffers.rewards, *views),
        direct(drivers.observe, config, states, 0, 0, *views),
    )


@dataclass(frozen=True, eq=False)
class AECSnapshot:
    """A moment of an environment, from :meth:`TrickAEC.get_state`; it can be pickled."""

    game: str
    base: np.ndarray[Any, Any]
    values: Mapping[str, Any]


class TrickAEC(AECEnv):  # type: ignore[misc]
    """A PettingZoo environment over a setup.

    Agents are ``player_0`` .. ``player_3``, seat = index. An observation is ``{"observation": int8 (D,), "action_mask": int8
    (A,)}``, both fresh arrays; the mask is all zero for seats that are not on turn. ``rewards`` hold what the last step
    gave, as Python floats; ``infos[agent]`` holds ``seat`` and the game's own numbers, which are known at reset or
    at the end of the episode and 0.0 before.

    Args:
        setup: The game with its options.
        render_mode: ``"human"`` (prints after every reset and step), ``"ansi"`` (:meth:`render` returns the text) or None.
        enforce_order: :meth:`agent_iter` insists on a step in every round of the loop, as PettingZoo's
            ``OrderEnforcingWrapper`` does.

    Attributes:
        setup: As given.
        states: The table, one record of the game's state dtype.
        history: Ids of the actions taken since reset.
        episode_config: Configuration records of the episode: the setup's, or those with a custom deal. None before
            the first reset.
        episode_seed: Seed of the episode, below 2**64. None before the first reset.
        episode_number: k of the episode: the k-th after the seed was set, from 0.
        episode_custom: Whether ``reset`` fixed the deal.

    Raises:
        ValueError: An unknown render mode.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (PettingZoo's own annotation)
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self, setup: Setup, *, render_mode: str | None = None, enforce_order: bool = True
    ) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(
                f"render_mode: expected {', '.join(map(repr, RENDER_MODES))} or None; got {render_mode!r}"
            )
        self.setup = setup
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "name": setup.name}
        self.possible_agents = list(AGENTS)
        self.states = setup.game.states(1)
        self.history: list[int] = []
        self.episode_config: np.ndarray[Any, Any] | None = None
        self.episode_seed: int | None = None
        self.episode_number = -1
        self.episode_custom = False
        self._run = setup.run()
        self._enforce_order = enforce_order
        self._has_updated = False
        self._paid = False  # some reward of the last step is not 0
        self._skip_agent_selection: str | None = None
        self._observation_spaces: dict[str, spaces.Dict] = {}
        self._action_spaces: dict[str, spaces.Discrete] = {}
        self._make_working_parts()

    def _make_working_parts(self) -> None:
        """Everything that follows from the setup, and what a kernel writes to."""
        setup = self.setup
        self._num_actions = setup.game.num_actions
        buffers = _make_buffers(setup.game)
        self._scratch, self._rewards, self._words, self._obs, self._mask = buffers
        # Reading a number from a memoryview costs half of reading it from an array.
        self._gains = memoryview(buffers.rewards[0])
        self._legal = memoryview(buffers.mask[0])
        self._obs_row, self._mask_row = buffers.obs[0], buffers.mask[0]
        self._aside = _make_buffers(setup.game)[2:]  # for the views of agents that are not on turn
        self._shown: str | None = None  # the agent on turn, whose view stands in the buffers

    def _show(self) -> None:
        """Bring the buffers up to date after the state was set from outside a step."""
        seat = int(self.states[0]["seat"])
        self._shown = None
        if self.episode_config is not None:
            _, self._play, self._look = _drivers(self.setup.game)
            if seat >= 0:
                views = self._words, self._obs, self._mask
                self._look(self.episode_config, self.states, 0, seat, *views)
                self._shown = AGENTS[seat]

    def __getattr__(self, name: str) -> Any:
        """Reached only by names that are not there: those of the episode before there is one.

        Raises:
            AttributeError: Always; as PettingZoo's ``OrderEnforcingWrapper`` puts it.
        """
        if name in _EPISODE:
            raise AttributeError(f"{name} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # ------------------------------------------------------------------ spaces

    def observation_space(self, agent: str) -> spaces.Dict:
        """The agent's observation space; the four are equal, and each is the same object at every call."""
        if agent not in self._observation_spaces:
            _seat_of(agent)
            game = self.setup.game
            self._observation_spaces[agent] = spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, (game.layout.size,), np.int8),
                    "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
                }
            )
        return self._observation_spaces[agent]

    @cached_property
    def state_space(self) -> spaces.Box:
        """The space of :meth:`state`; made when asked for, and the same object from then on."""
        return spaces.Box(0, 1, (self.setup.game.state_layout.size,), np.int8)

    def action_space(self, agent: str) -> spaces.Discrete:
        """The agent's action space; the four are equal, and each is the same object at every call."""
        if agent not in self._action_spaces:
            _seat_of(agent)
            self._action_spaces[agent] = spaces.Discrete(self.setup.game.num_actions)
        return self._action_spaces[agent]

    # ------------------------------------------------------------------ the loop

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin the next episode.

        Args:
            seed: Begins the deals of this seed anew, with number 0. None: the next deal; an environment that
                never got a seed draws one from the operating system.
            options: ``deal`` and the game's other keys (``Game.reset_keys``) fix the deal; an unknown key is ignored
                with a warning. A fixed deal counts as a deal too.

        Raises:
            ValueError: A bad seed or a bad option; the running episode is as before.
        """
        new_seed = None if seed is None else check_seed(seed)
        config = custom_config(self.setup, options)
        if new_seed is None and self.episode_seed is None:
            new_seed = fresh_seed()
        if new_seed is not None:
            self.episode_seed = new_seed
            self.episode_number = -1
        self.episode_number += 1
        self.episode_custom = config is not None
        self.episode_config = self.setup.config if config is None else config
        _drivers(self.setup.game).begin(
            self.episode_config,
            self.states,
            0,
            np.uint64(self.episode_seed or 0),
            np.uint64(self.episode_number),
            int(self.episode_custom),
        )
        self.history = []
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        numbers = self._numbers()
        self.infos = {agent: {"seat": _SEATS[agent], **numbers} for agent in self.agents}
        self.agent_selection = AGENTS[int(self.states[0]["seat"])]
        self._skip_agent_selection = None
        self._gains[:] = _ZEROS
        self._paid = False
        self._has_updated = True
        self._show()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Take the action of ``agent_selection``; None for an agent that is terminated.

        Raises:
            AssertionError: The action lies outside the action space, or there was no reset.
            ValueError: An action for a terminated agent; with ``illegal_action="raise"``, an illegal action. In every case
                nothing has changed.
        """
        try:
            agent = self.agent_selection
            over = self.terminations[agent] or self.truncations[agent]
        except (AttributeError, KeyError):
            self._step_out_of_order()
            return
        if type(action) is not int or not 0 <= action < self._num_actions or over:
            if over and action is None:
                self._was_dead_step(None)
                self._has_updated = True
                return
            action = self._checked(agent, action, over)
        if not self._legal[action]:
            self._take_illegal(agent, action)
            return
        seat = self._play(
            self.episode_config,
            self._run,
            self.states,
            0,
            action,
            self._scratch,
            self._rewards,
            self._words,
            self._obs,
            self._mask,
        )
        self.history.append(action)
        self._has_updated = True
        self._cumulative_rewards[agent] = 0.0
        gains = self._gains.tolist()
        if gains != _NOTHING:
            self._pay(gains)
        elif self._paid:
            self.rewards = _NO_REWARDS.copy()
            self._paid = False
        if seat >= 0:
            self.agent_selection = self._shown = AGENTS[seat]
        else:
            self._finish()
        if self.render_mode == "human":
            self.render()

    def _step_out_of_order(self) -> None:
        """A step before the first reset, or after the last agent has gone."""
        if self.episode_config is None:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        EnvLogger.warn_step_after_terminated_truncated()

    def _checked(self, agent: str, action: Any, over: bool) -> int:
        """The action as a Python int, or the errors of PettingZoo's wrappers."""
        try:
            given = action is not None and not isinstance(action, (bool, np.bool_))
            known = given and self.action_space(agent).contains(action)
        except OverflowError:  # Gymnasium before 1.4, on a number beyond int64
            known = False
        if not known:
            raise AssertionError(
                f"action is not in action space: {agent} chose {action!r}, "
                f"expected an integer 0..{self._num_actions - 1}"
            )
        if over:
            raise ValueError(
                f"when an agent is dead, the only valid action is None; {agent} chose {action!r}"
            )
        return int(action)

    def _take_illegal(self, agent: str, action: int) -> None:
        """An illegal action raises, or ends the episode at the offender's cost."""
        if self.setup.reward.illegal_action == "raise":
            actions = self.setup.game.actions
            legal = [text for text, flag in zip(actions, self._legal, strict=True) if flag]
            raise ValueError(
                f"{agent} (seat {_SEATS[agent]}) chose {actions[action]}, which is not legal; "
                f"legal are {', '.join(legal)}"
            )
        EnvLogger.warn_on_illegal_move()
        table_drivers(self.setup.game).abort(self.states, 0)
        self._has_updated = True
        self._cumulative_rewards[agent] = 0.0
        gains = _NOTHING.copy()
        gains[_SEATS[agent]] = self.setup.illegal_reward
        self._pay(gains)
        self._finish()
        if self.render_mode == "human":
            self.render()

    def _pay(self, gains: Sequence[float]) -> None:
        """Make ``gains`` the rewards of this step, and add them up."""
        first, second, third, fourth = AGENTS
        self.rewards = {first: gains[0], second: gains[1], third: gains[2], fourth: gains[3]}
        totals = self._cumulative_rewards
        for agent, gain in self.rewards.items():
            if gain:
                totals[agent] += gain
        self._gains[:] = _ZEROS
        self._paid = True

    def _clear_rewards(self) -> None:
        """Set all rewards to 0.0 (PettingZoo's own sets the integer)."""
        self.rewards = dict.fromkeys(self.rewards, 0.0)
        self._paid = False

    def _finish(self) -> None:
        """The episode is over: all four agents terminate on the same step."""
        for agent in self.agents:
            self.terminations[agent] = True
        if numbers := self._numbers():
            self.infos = {agent: {**info, **numbers} for agent, info in self.infos.items()}
        self._shown = None
        self._deads_step_first()

    def _numbers(self) -> dict[str, float]:
        """The game's own numbers for ``infos``."""
        names = self.setup.game.info_names
        if not names:
            return {}
        out = np.zeros((1, len(names)))
        table_drivers(self.setup.game).info(self.episode_config, self.states, 0, out)
        return dict(zip(names, out[0].tolist(), strict=True))

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """The agent to act, again and again, until no agent is left or ``max_iter`` have acted.

        Raises:
            AssertionError: There was no reset; or (while iterating) no step since the agent before.
        """
        if self.episode_config is None:
            EnvLogger.error_agent_iter_before_reset()
        return self._iterate(max_iter)

    def _iterate(self, max_iter: int) -> Iterator[str]:
        while max_iter > 0 and self.agents:
            if not self._has_updated and self._enforce_order:
                raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
            self._has_updated = False
            max_iter -= 1
            yield self.agent_selection

    # ------------------------------------------------------------------ looking

    def observe(self, agent: str) -> Observation:
        """What an agent sees, at any time from reset on; changes nothing."""
        if agent == self._shown:
            return {"observation": self._obs_row.copy(), "action_mask": self._mask_row.copy()}
        if self.episode_config is None:
            EnvLogger.error_observe_before_reset()
        words, obs, mask = self._aside
        self._look(self.episode_config, self.states, 0, _seat_of(agent), words, obs, mask)
        return {"observation": obs[0].copy(), "action_mask": mask[0].copy()}

    def state(self) -> np.ndarray[Any, np.dtype[np.int8]]:
        """The full-information state, int8 (``state_space``); the pieces are ``Game.state_layout``."""
        if self.episode_config is None:
            EnvLogger.error_state_before_reset()
        layout = self.setup.game.state_layout
        words = np.zeros((1, layout.words), np.uint64)
        table_drivers(self.setup.game).describe(self.episode_config, self.states, 0, words)
        return words_to_bits(words, layout.size)[0]  # type: ignore[no-any-return]

    def render(self) -> str | None:
        """The table with all hands: returned in mode ``"ansi"``, printed in mode ``"human"``.

        Raises:
            AssertionError: There was no reset.
        """
        if self.episode_config is None:
            EnvLogger.error_render_before_reset()
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render_mode: 'human' or 'ansi'")
            return None
        text = self.setup.game.render(self.setup, self.states, 0, None, self.history)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Nothing is held open; an environment may be used after it."""

    # ------------------------------------------------------------------ copies

    def clone(self) -> TrickAEC:
        """An independent copy at the same point of the same episode; its spaces are its own.

        ``copy.copy`` does the same. Several times faster than ``copy.deepcopy``, which also copies the spaces with their samplers.
        """
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__getstate__())
        twin.__dict__.pop("state_space", None)
        twin.metadata = dict(self.metadata)
        twin.possible_agents = list(self.possible_agents)
        twin._observation_spaces = {}
        twin._action_spaces = {}
        twin._make_working_parts()
        twin._restore(self._values())
        return twin

    def __copy__(self) -> TrickAEC:
        return self.clone()

    def get_state(self) -> AECSnapshot:
        """This moment: cards, whose turn, rewards and flags, and the place in the sequence of deals."""
        return AECSnapshot(self.setup.game.name, self.setup.config, self._values())

    def set_state(self, snapshot: AECSnapshot) -> None:
        """Return to a moment of this environment, or of another with the same game and contract.

        Raises:
            TypeError: Not from :meth:`get_state`.
            ValueError: From an environment of another game or contract.
        """
        if not isinstance(snapshot, AECSnapshot):
            raise TypeError(f"expected what get_state() returned, got {type(snapshot).__name__}")
        same = same_config(snapshot.base, self.setup.config)
        if snapshot.game != self.setup.game.name or not same:
            raise ValueError(f"the snapshot is not of {self.setup.name} with the same options")
        self._restore(snapshot.values)

    def _values(self) -> dict[str, Any]:
        """Copies of everything that an episode changes."""
        values: dict[str, Any] = {
            "states": copy_records(self.states),
            "history": self.history.copy(),
            "episode_config": self.episode_config if self.episode_custom else None,
            "episode_seed": self.episode_seed,
            "episode_number": self.episode_number,
            "_skip_agent_selection": self._skip_agent_selection,
            "_has_updated": self._has_updated,
            "_paid": self._paid,
        }
        if self.episode_config is not None:
            values |= {
                "agents": self.agents.copy(),
                "rewards": self.rewards.copy(),
                "_cumulative_rewards": self._cumulative_rewards.copy(),
                "terminations": self.terminations.copy(),
                "truncations": self.truncations.copy(),
                "infos": {agent: info.copy() for agent, info in self.infos.items()},
                "agent_selection": self.agent_selection,
            }
        return values

    def _restore(self, values: Mapping[str, Any]) -> None:
        """Take over the values of :meth:`_values`, which stay usable."""
        for name in _EPISODE:
            self.__dict__.pop(name, None)
        for name, value in values.items():
            if name == "infos":
                setattr(self, name, {agent: info.copy() for agent, info in value.items()})
            elif isinstance(value, (list, dict)):
                setattr(self, name, value.copy())
            else:
                setattr(self, name, value)
        self.states = copy_records(values["states"])
        self.episode_custom = values["episode_config"] is not None
        if self.episode_custom:
            self.episode_config.flags.writeable = False  # type: ignore[union-attr]
        elif "agents" in values:
            self.episode_config = self.setup.config
        self._gains[:] = _ZEROS
        self._show()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _WORKING_PARTS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_working_parts()
        self._restore(self._values())

    def __deepcopy__(self, memo: dict[int, Any]) -> TrickAEC:
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        twin.__setstate__(deepcopy(self.__getstate__(), memo))
        return twin


def _seat_of(agent: Any) -> int:
    """The seat of an agent's name, or a ``ValueError``."""
    if not isinstance(agent, str) or agent not in _SEATS:
        raise ValueError(f"agent: expected one of {', '.join(AGENTS)}; got {agent!r}")
    return _SEATS[agent]
