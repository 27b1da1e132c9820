"""The Gymnasium environment of one learner, with bots in the other three seats.

One step takes the learner's action and lets the others play until it is the learner's turn again. The reward is what fell to the
learner's seat in the meantime; what falls before its first action is added to the reward of its first step.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from trick_core.batch import Batch, BotError
from trick_core.episodes import check_seed, custom_config, fresh_seed
from trick_core.game import Setup, check_choice, same_config
from trick_core.seating import Lineup, Seating, check_plan, make_lineup

Observation = dict[str, np.ndarray[Any, np.dtype[np.int8]]]

RENDER_MODES = ("human", "ansi")

#: Actions kept by the kernel from one decision of the learner to the next: far more than there can be.
_LOG = 1024

#: Attributes that are views of the buffers.
_VIEWS = ("_length", "_learner", "_obs", "_mask", "_log", "_legal")


@dataclass(frozen=True, eq=False)
class SingleSnapshot:
    """A moment of an environment, from :meth:`SingleAgentEnv.get_state`; it can be pickled."""

    game: str
    base: np.ndarray[Any, Any]
    rows: dict[str, np.ndarray[Any, Any]]
    custom: np.ndarray[Any, Any] | None
    history: list[int]
    seed: int | None
    live: bool


class SingleAgentEnv(gymnasium.Env[Any, Any]):
    """One learner at a table of a setup.

    Observations are ``{"observation": int8 (D,), "action_mask": int8 (A,)}``; infos hold ``action_mask`` (int8), ``seat`` (the
    learner's, int) and the game's own numbers (float; 0.0 until they are known). After the last action the mask is all zero.
    An episode always ends by termination. Opponents with a kernel for the game play inside it; others are asked.

    Args:
        setup: The game with its options.
        opponents: One bot; three, for the seats after the learner's in play order; or ``{absolute seat: bot}`` (with
            ``seat="rotate"`` for all four seats). A bot is a name, an object with ``act``, or a callable: see
            :func:`trick_core.bots.as_bot`.
        seat: The learner's seat, 0..3, or ``"rotate"``: (seed + k) mod 4 in episode k of a seed.
        render_mode: ``"human"`` (prints after every reset and step), ``"ansi"`` (:meth:`render` returns the text) or None.

    Attributes:
        setup: As given.
        seat: As given.
        history: Ids of the actions of all four seats since reset; an illegal one is not among them.
        episode_config: Configuration records of the episode: the setup's, or those with a custom deal.
        episode_seed: Seed of the episode, below 2**64. None before the first reset.
        episode_custom: Whether ``reset`` fixed the deal.

    Raises:
        ValueError: An argument out of range, or a bot that does not play the game.
        TypeError: An opponent that is no bot.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        setup: Setup,
        *,
        opponents: Any = "random",
        seat: int | str = 0,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            check_choice("render_mode", render_mode, RENDER_MODES)
        game = setup.game
        self.setup = setup
        self.seat = seat
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "name": setup.name}
        self.action_space = spaces.Discrete(game.num_actions)
        self.history: list[int] = []
        self.episode_seed: int | None = None
        self.episode_custom = False
        self._plan = check_plan(seat)
        self._lineup = make_lineup(opponents, self._plan)
        self._changed = False  # the lineup is not yet that of the tables
        self._live = False  # an episode is running
        self._batch = Batch(setup, 1, autoreset="disabled", log=_LOG)
        self._seating = Seating(game)
        self._seating.install(self._batch, self._lineup, self._plan)
        self._wire()

    @functools.cached_property
    def observation_space(self) -> spaces.Dict:  # type: ignore[override]
        """Space of the observation; made when asked for, so that copies are quick."""
        game = self.setup.game
        return spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (game.layout.size,), np.int8),
                "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
            }
        )

    def _wire(self) -> None:
        """Views of the buffers."""
        buffers = self._batch.buffers
        self._length, self._learner = buffers.tables["length"], buffers.tables["learner"]
        self._obs, self._mask, self._log = buffers.obs[0], buffers.mask[0], buffers.log[0]
        self._legal = memoryview(self._mask)

    # ------------------------------------------------------------------ the loop

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next episode; the others play up to the learner's first decision.

        Args:
            seed: Begins the deals of this seed anew, with number 0. None: the next deal; an environment that
                never got a seed draws one from the operating system.
            options: ``deal`` and the game's other keys (``Game.reset_keys``) fix the deal; ``opponents`` changes them from this
                episode on. An unknown key is ignored with a warning. A fixed deal counts as a deal too.

        Returns:
            Observation and info.

        Raises:
            ValueError: A bad seed or option, or a bot's illegal action; all is as before.
            TypeError: An opponent that is no bot.
        """
        new_seed = None if seed is None else check_seed(seed)
        config = custom_config(self.setup, options, ("opponents",))
        lineup, changed = self._lineup, self._changed
        if options is not None and options.get("opponents") is not None:
            lineup, changed = make_lineup(options["opponents"], self._plan), True
        if new_seed is None and self.episode_seed is None:
            new_seed = fresh_seed()
        batch = self._batch
        with self._seating.undone_by_errors(batch):
            if changed:
                self._seating.install(batch, lineup, self._plan)
                self._seating.compact(batch)
            if new_seed is not None:
                batch.buffers.tables["seed"] = np.uint64(new_seed)
                batch.buffers.tables["number"] = 0
            batch.config = self.setup.config
            batch.reset(config=config)
            self._seating.play_others(batch)
        super().reset(seed=None if seed is None else int(seed))
        self._lineup, self._changed = lineup, False
        if new_seed is not None:
            self.episode_seed = new_seed
        self.episode_custom = config is not None
        self.history = []
        self._live = True
        self._read_log()
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take the learner's action; the others play up to its next decision or the end.

        Args:
            action: An action id, Python or NumPy integer.

        Returns:
            Observation, reward, terminated, truncated (always False), info.

        Raises:
            ResetNeeded: No episode is running.
            ValueError: An action outside the action space; with ``illegal_action="raise"``, an illegal one; a bot's illegal
                action. All is as before; only where the bot is a kernel, and so are all others, the episode is lost.
        """
        if not self._live:
            raise ResetNeeded("step: no episode is running; call reset first")
        if type(action) is not int or not 0 <= action < len(self._legal):
            action = self._checked(action)
        legal = self._legal[action]
        if not legal and self.setup.reward.illegal_action == "raise":
            self._refuse(action)
        batch, seat = self._batch, self.learner_seat
        try:
            if self._seating.asks:
                with self._seating.undone_by_errors(batch):
                    batch.step(action)
                    self._seating.play_others(batch)
            else:
                batch.step(action)
        except BotError:
            self._live = self._seating.asks
            raise
        if legal:
            self._read_log()
        buffers = batch.buffers
        reward = buffers.rewards.item(0, seat)
        terminated = buffers.terminations.item(0)
        self._live = not terminated
        if self.render_mode == "human":
            self.render()
        return self._observation(), reward, terminated, False, self._info()

    def _checked(self, action: Any) -> int:
        """The action as a Python int, or a ``ValueError``."""
        number = action
        if isinstance(action, np.ndarray) and action.shape == ():
            number = action[()]
        if isinstance(number, (int, np.integer)) and not isinstance(number, bool):
            number = int(number)
            if 0 <= number < len(self._legal):
                return number
        raise ValueError(f"action: expected an integer 0..{len(self._legal) - 1}, got {action!r}")

    def _refuse(self, action: int) -> None:
        game = self.setup.game
        legal = ", ".join(f"{i} ({game.actions[i]})" for i in game.legal_ids(self.states[0]))
        raise ValueError(
            f"seat {self.learner_seat}: action {action} ({game.actions[action]}) is illegal; legal are {legal}"
        )

    def _read_log(self) -> None:
        """Append to the history what the kernel has logged since."""
        at, length = len(self.history), self._length.item(0)
        if length - at > _LOG:
            raise AssertionError(f"{length - at} actions between two decisions of the learner")
        log = self._log
        self.history.extend(log.item(k % _LOG) for k in range(at, length))

    def _observation(self) -> Observation:
        return {"observation": self._obs.copy(), "action_mask": self._mask.copy()}

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self._mask.copy(), "seat": self.learner_seat}
        if names := self.setup.game.info_names:
            info.update(zip(names, self._batch.buffers.numbers[0].tolist(), strict=True))
        return info

    # ------------------------------------------------------------------ looking

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """The learner's legal actions, bool (A,), as sb3-contrib asks for them."""
        return self._mask != 0  # type: ignore[no-any-return]

    @property
    def learner_seat(self) -> int:
        """The learner's seat in this episode; before the first reset -1."""
        return self._learner.item(0)  # type: ignore[no-any-return]

    @property
    def states(self) -> np.ndarray[Any, Any]:
        """The table, one record of the game's state dtype: what everybody holds."""
        return self._batch.buffers.states

    @property
    def episode_config(self) -> np.ndarray[Any, Any]:
        """Configuration records of the episode, with the hands of a custom deal."""
        return self._batch.config

    @property
    def episode_number(self) -> int:
        """K of the episode: the k-th after the seed was set, from 0; before the first reset -1."""
        return int(self._batch.buffers.tables["number"][0]) - 1

    def render(self) -> str | None:
        """The table as the learner sees it: returned in mode ``"ansi"``, printed in mode ``"human"``.

        Raises:
            ResetNeeded: Before the first reset.
        """
        if self.render_mode is None:
            warnings.warn(
                "render() does nothing without a render_mode: 'human' or 'ansi'",
                UserWarning,
                stacklevel=2,
            )
            return None
        if self.episode_seed is None:
            raise ResetNeeded("render: call reset first")
        text = self.setup.game.render(self.setup, self.states, 0, self.learner_seat, self.history)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Nothing is held open; an environment may be used after it."""

    # ------------------------------------------------------------------ opponents and copies

    @property
    def lineup(self) -> Lineup:
        """The bots of the next episode: ``lineup[learner's seat][seat]``."""
        return self._lineup

    def set_opponents(self, opponents: Any) -> None:
        """Let other bots play from the next reset on.

        Args:
            opponents: As for the constructor.

        Raises:
            ValueError: A wrong number of bots, unfitting seats, an unknown name, a bot that does not play the game.
            TypeError: Something that is no bot.
        """
        lineup = make_lineup(opponents, self._plan)
        for bot in {id(bot): bot for row in lineup for bot in row if bot is not None}.values():
            bot.jit(self.setup.game)
        self._lineup, self._changed = lineup, True

    def clone(self) -> SingleAgentEnv:
        """An independent environment at the same point of the same episode; it shares the bots.

        ``copy.copy`` does the same.
        """
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.metadata = dict(self.metadata)
        twin.__dict__.pop("observation_space", None)  # made anew when asked for
        twin.action_space = spaces.Discrete(self.setup.game.num_actions)
        twin._np_random = deepcopy(self._np_random)
        twin._seating = self._seating.copy()
        twin._batch = self._batch.copy()
        twin.history = self.history.copy()
        twin._wire()
        return twin

    def __copy__(self) -> SingleAgentEnv:
        return self.clone()

    def get_state(self) -> SingleSnapshot:
        """This moment: cards, whose turn, the opponents' random stream, and the place in the sequence of deals."""
        custom = self._batch.config if self.episode_custom else None
        return SingleSnapshot(
            self.setup.game.name,
            self.setup.config,
            self._batch.snapshot(),
            custom,
            self.history.copy(),
            self.episode_seed,
            self._live,
        )

    def set_state(self, snapshot: SingleSnapshot) -> None:
        """Return to a moment of this environment, or of another of the same game and contract.

        The opponents are those of this environment.

        Raises:
            TypeError: Not from :meth:`get_state`.
            ValueError: From another game or contract, or with the learner in another seat.
        """
        if not isinstance(snapshot, SingleSnapshot):
            raise TypeError(f"set_state: expected what get_state gave, got {snapshot!r}")
        own = self.setup.config
        if snapshot.game != self.setup.game.name or not same_config(snapshot.base, own):
            raise ValueError(
                f"set_state: expected a snapshot of {self.setup.name} with the same options"
            )
        with self._seating.own_bots(self._batch, snapshot.rows):
            self._batch.restore(snapshot.rows)
        self._batch.config = own
        if snapshot.custom is not None:
            # An unpickled record is writable, which is another type to the compiler.
            self._batch.config = snapshot.custom.copy()
            self._batch.config.flags.writeable = False
        self.episode_custom = snapshot.custom is not None
        self.history = snapshot.history.copy()
        self.episode_seed = snapshot.seed
        self._live = snapshot.live

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _VIEWS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._batch.bots = self._seating.kernels()
        self._wire()
