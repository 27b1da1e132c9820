"""Many tables at once, every seat played by the caller: the environment for self-play.

One action a table and step, for the seat whose turn it is there; the observation that comes back is that of the next
seat to act. Rewards are those of this step alone, for all four seats.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector import VectorEnv as GymnasiumVectorEnv
from gymnasium.vector.utils import batch_space

from trick_core.batch import Batch, check_threads
from trick_core.bits import ONE, ZERO, words_to_bits
from trick_core.drivers import uniform_choice
from trick_core.episodes import check_seed, custom_config, fresh_seed
from trick_core.game import NUM_SEATS, Game, Setup, check_choice, check_flag, same_config
from trick_core.jit import copy_records, direct, entry
from trick_core.rng import SAMPLES, advance, mix, stream_key
from trick_core.rows import RowWork

OBSERVATIONS = ("bytes", "packed")

#: Attributes that follow from the others.
_DERIVED = (
    "_drivers",
    "_manual",
    "_find_wrong",
    "_all",
    "_none",
    "_sample",
    "_sampled",
    "_obs",
    "_infos",
    "_final_obs",
    "_final_info",
)

_MODES = {
    AutoresetMode.SAME_STEP: "same_step",
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.DISABLED: "disabled",
}

Arrays = dict[str, np.ndarray[Any, Any]]


class VectorDrivers(NamedTuple):
    """What the vector environment compiles beyond the drivers of a batch."""

    #: (states, seats, actions, num_actions, masked, kept) -> row: the first row whose action is not in the action space
    #: or, if ``masked``, not legal; -1: none, and ``kept`` holds a copy of the actions. Rows that are over pass.
    check: Callable[..., Any]
    #: (config, states, samples, actions, lo, hi): a uniform legal action for each row, 0 where the episode is over.
    sample: Callable[..., Any]
    #: (tables, seeds, given, samples): give the rows that are ``given`` new seeds.
    seed: Callable[..., Any]
    #: (config, states, words): the full-information states.
    describe: Callable[..., Any]


@functools.cache
def vector_drivers(game: Game) -> VectorDrivers:
    """The further drivers of a game."""
    choose, describe = uniform_choice(game), game.kernels.describe

    def mark(name: str) -> Callable[[Any], Any]:
        return entry(f"{game.name}.vector.{name}", [game.folder])

    @mark("check")
    def check_rows(states, seats, actions, num_actions, masked, kept):
        wrong = False  # one pass without a branch, for nearly always nothing is wrong
        for i in range(seats.shape[0]):
            wrong |= (seats[i] >= 0) & ((actions[i] < 0) | (actions[i] >= num_actions))
            kept[i] = actions[i]
        if not wrong and not masked:
            return -1
        for i in range(seats.shape[0]):
            if seats[i] < 0:
                continue
            action = actions[i]
            if action < 0 or action >= num_actions:
                return i
            if masked and (states[i].legal[action >> 6] >> np.uint64(action & 63)) & ONE == ZERO:
                return i
        return -1

    @mark("sample")
    def sample_rows(config, states, samples, actions, lo, hi):
        for i in range(lo, hi):
            samples[i] = advance(samples[i])
            actions[i] = 0
            if states[i].seat >= 0:
                actions[i] = choose(config, states[i], mix(samples[i]))

    @mark("seed")
    def seed_rows(tables, seeds, given, samples):
        for i in range(seeds.shape[0]):
            if given[i]:
                tables[i].seed = seeds[i]
                tables[i].number = ZERO
                samples[i] = stream_key(seeds[i], ZERO, SAMPLES)

    @mark("describe")
    def describe_rows(config, states, words):
        for i in range(states.shape[0]):
            describe(config, states[i], words, i)

    return VectorDrivers(check_rows, sample_rows, seed_rows, describe_rows)


@dataclass(frozen=True, eq=False)
class VectorSnapshot:
    """All that a vector environment is at one moment; picklable. Made by ``get_state``.

    Attributes:
        name: Versioned name of the game and variant.
        base: Configuration records of the setup.
        form: What else must be the same in an environment that takes it, by name.
        rows: Arrays of the tables, by name.
        custom: Configuration records in force after a custom deal for all rows; None: those of the setup.
        samples: Random states of ``sample_actions`` (N,).
        begun: The environment has been reset.
    """

    name: str
    base: np.ndarray[Any, Any]
    form: dict[str, Any]
    rows: Arrays
    custom: np.ndarray[Any, Any] | None
    samples: np.ndarray[Any, Any]
    begun: bool


class VectorEnv(GymnasiumVectorEnv[Arrays, Any, Any]):
    """N tables of one game, one action a table and step.

    Row i is the environment seeded with s + i. Its deal k depends on its seed and k alone, so the rows of two
    environments whose seeds are less than N apart share deals: space the seeds by N or more.

    A row whose episode is over (``NEXT_STEP``, ``DISABLED``) has seat -1 and a mask of zeros. ``sample_actions``
    gives 0 there; ``torch.distributions.Categorical`` does not take such a row.

    Different environments may be stepped from different Python threads at the same time; one environment may not.

    Args:
        setup: The game with its options.
        num_envs: N.
        num_threads: Threads that share the rows, the calling one among them; at most ``NUMBA_NUM_THREADS``, where that
            variable is set. The number changes no result. It pays
            from some thousands of rows a thread on: each call wakes the others, and rows move between processors' caches.
        observation: ``"bytes"``: int8 of 0 and 1, (N, D); ``"packed"``: the same bits as uint64 words, (N, W), lowest first.
        copy: False: ``reset`` and ``step`` hand out the live buffers, which the next call overwrites, and allocate
            nothing. Copy what you keep, and write nothing into them.
        autoreset_mode: A member of ``gymnasium.vector.AutoresetMode``, its name or value; see ``step``.
        render_mode: None or ``"ansi"``.

    Attributes:
        setup: The game with its options.
        num_threads: Threads in use.

    Raises:
        ValueError: An argument out of range.
    """

    def __init__(
        self,
        setup: Setup,
        num_envs: int = 1,
        *,
        num_threads: int = 1,
        observation: str = "bytes",
        copy: bool = True,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
    ) -> None:
        if isinstance(num_envs, (bool, np.bool_)) or not isinstance(num_envs, (int, np.integer)):
            raise ValueError(f"num_envs: expected a positive integer, got {num_envs!r}")
        if num_envs < 1:
            raise ValueError(f"num_envs: expected a positive integer, got {num_envs}")
        check_choice("observation", observation, OBSERVATIONS)
        try:
            by_name = AutoresetMode.__members__.get(str(autoreset_mode))
            self.autoreset_mode = by_name or AutoresetMode(autoreset_mode)
        except ValueError:
            values = ", ".join(map(repr, AutoresetMode.__members__))
            raise ValueError(
                f"autoreset_mode: expected an AutoresetMode or one of {values}; got {autoreset_mode!r}"
            ) from None
        if render_mode is not None:
            check_choice("render_mode", render_mode, ("ansi",))
        self.setup = setup
        self.num_envs = int(num_envs)
        self.num_threads = check_threads(num_threads)
        self.observation = observation
        self.copy = check_flag("copy", copy)
        self.render_mode = render_mode
        self.metadata = {
            "name": setup.name,
            "render_modes": ["ansi"],
            "autoreset_mode": self.autoreset_mode,
        }
        self._make_action_spaces()
        self._batch = Batch(
            setup,
            self.num_envs,
            packed=observation == "packed",
            autoreset=_MODES[self.autoreset_mode],
            num_threads=self.num_threads,
        )
        self._samples = np.zeros(self.num_envs, np.uint64)
        self._begun = False
        self._wire()

    def _make_action_spaces(self) -> None:
        self.single_action_space = spaces.Discrete(self.setup.game.num_actions)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _wire(self) -> None:
        """What follows from the rest: live views of the buffers, constants, compiled drivers."""
        game, buffers, count = self.setup.game, self._batch.buffers, self.num_envs
        self._drivers = vector_drivers(game)
        self._manual = self.autoreset_mode == AutoresetMode.DISABLED
        self._all = np.ones(count, np.bool_)
        self._none = np.zeros(count, np.bool_)
        for constant in (self._all, self._none):
            constant.flags.writeable = False
        self._sampled = np.zeros(count, np.int64)
        packed = self._batch.packed
        self._obs = {
            "observation": buffers.words if packed else buffers.obs,
            "action_mask": buffers.mask,
        }
        self._infos = self._with_flags("seat", buffers.seats, self._all)
        for k, name in enumerate(game.info_names):
            self._infos |= self._with_flags(name, buffers.numbers[:, k], self._all)
        self._final_obs: Arrays = {}
        self._final_info: Arrays = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            over = np.full(count, -1, np.int64)
            over.flags.writeable = False
            self._final_obs = {
                "observation": buffers.final_words if packed else buffers.final_obs,
                "action_mask": np.broadcast_to(np.int8(0), (count, game.num_actions)),
            }
            self._final_info = self._with_flags("seat", over, buffers.terminations)
            for k, name in enumerate(game.info_names):
                numbers = buffers.final_numbers[:, k]
                self._final_info |= self._with_flags(name, numbers, buffers.terminations)

    @functools.cached_property
    def _find_wrong(self) -> Callable[[Any], int]:
        """The first row of an array of actions that may not be taken, or -1."""
        buffers, game = self._batch.buffers, self.setup.game
        masked = self.setup.reward.illegal_action == "raise"
        first, last = (buffers.states, buffers.seats), (game.num_actions, masked, buffers.actions)
        check = direct(self._drivers.check, *first, buffers.actions, *last)
        return lambda actions: int(check(*first, actions, *last))

    @functools.cached_property
    def _sample(self) -> RowWork:
        states, public = self._batch.buffers.states, self._batch.public
        return RowWork(self._drivers.sample, public, states, self._samples, self._sampled)

    @staticmethod
    def _with_flags(name: str, values: Any, flags: Any) -> Arrays:
        return {name: values, f"_{name}": flags}

    @functools.cached_property
    def single_observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """Space of one row's observation; made when asked for, so that copies are quick."""
        game = self.setup.game
        return spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (game.layout.size,), np.int8)
                if self.observation == "bytes"
                else spaces.Box(0, np.iinfo(np.uint64).max, (game.layout.words,), np.uint64),
                "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
            }
        )

    @functools.cached_property
    def state_space(self) -> spaces.Box:
        """Space of :meth:`state`."""
        return spaces.Box(0, 1, (self.num_envs, self.setup.game.state_layout.size), np.int8)

    @functools.cached_property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The batched space; made when asked for, since its bounds are four times as large as an observation."""
        return batch_space(self.single_observation_space, self.num_envs)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Arrays, dict[str, Any]]:
        """Begin an episode in every row, or in some.

        Args:
            seed: An integer s: row i gets s + i. A list of N integers or None. None: the rows go on to their next deal
                (the first time, seeds come from the operating system).
            options: The game's keys for a custom deal, each for all rows, or a list of N for one row each (None: from
                the seed; only for episodes of one deal); and ``reset_mask``, a bool array (N,) with the rows to reset.
                Other keys are ignored with a warning.

        Returns:
            Observations and infos as ``step`` gives them.

        Raises:
            ValueError: A bad seed, mask, deal, or number of items; no row has been touched.
            TypeError: ``reset_mask`` is no bool array.
            ResetNeeded: ``reset_mask`` at the first reset.
        """
        rows = self._reset_mask(options)
        seeds, given = self._seeds(seed)
        config = self._configs(options, rows)
        batch = self._batch
        partial = rows is not None and not rows.all()
        if partial and isinstance(config, np.ndarray) and len(config) > 1:
            in_force = batch.config
            if in_force is not self.setup.config and not np.array_equal(in_force, config):
                raise ValueError(
                    "deal: other rows still play another custom deal of several; reset all rows with it"
                )
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        if rows is not None:
            given &= rows
        self._drivers.seed(batch.buffers.tables, seeds, given, self._samples)
        if not partial and config is None:
            batch.config = self.setup.config
        batch.reset(rows, config)
        self._begun = True
        return self._give(self._obs), self._give(self._infos)

    def _seeds(self, seed: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Seeds (N,) and which rows take them."""
        count = self.num_envs
        given = np.ones(count, np.bool_)
        if seed is None or isinstance(seed, (int, np.integer)):
            if seed is None:
                given[:] = not self._begun
            first = fresh_seed() if seed is None else check_seed(seed) and int(seed)
            seeds = [check_seed(first + i) for i in range(count)]
        else:
            number = isinstance(seed, np.ndarray) and seed.ndim == 0
            several = isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, str)
            if number or not several:
                raise ValueError(
                    f"seed: expected an integer, None, or {count} of them, got {seed!r}"
                )
            if len(seed) != count:
                raise ValueError(f"seed: expected {count} seeds, one a row, got {len(seed)}")
            given[:] = [item is not None or not self._begun for item in seed]
            seeds = [fresh_seed() if item is None else check_seed(item) for item in seed]
        return np.array(seeds, np.uint64), given

    def _reset_mask(self, options: Mapping[str, Any] | None) -> np.ndarray[Any, Any] | None:
        if not isinstance(options, Mapping) or options.get("reset_mask") is None:
            return None
        rows = options["reset_mask"]
        if not isinstance(rows, np.ndarray) or rows.dtype != np.bool_:
            found = rows.dtype if isinstance(rows, np.ndarray) else type(rows).__name__
            raise TypeError(f"reset_mask: expected a bool array, got {found}")
        if rows.shape != (self.num_envs,):
            raise ValueError(f"reset_mask: expected shape ({self.num_envs},), got {rows.shape}")
        if not rows.any():
            raise ValueError("reset_mask: no row is True")
        if not self._begun and not rows.all():
            raise ResetNeeded("reset_mask: the first reset is of all rows")
        return rows

    def _configs(
        self, options: Mapping[str, Any] | None, rows: np.ndarray[Any, Any] | None
    ) -> np.ndarray[Any, Any] | list[np.ndarray[Any, Any] | None] | None:
        """One configuration for all rows, or one for each; None: deals from the seeds."""
        keys = self.setup.game.reset_keys
        split: dict[str, Sequence[Any]] = {}
        if isinstance(options, Mapping) and len(self.setup.config) == 1:
            split = {k: options[k] for k in keys if k in options and _is_split(k, options[k])}
        if not split:
            return custom_config(self.setup, options, ("reset_mask",), stacklevel=4)
        assert options is not None
        for key, values in split.items():
            if len(values) != self.num_envs:
                raise ValueError(
                    f"{key}: expected one for all rows or {self.num_envs}, one a row; got {len(values)}"
                )
        shared = {key: value for key, value in options.items() if key not in split}
        # Bad values for all rows and unknown keys are reported once, not by the row.
        configs: list[np.ndarray[Any, Any] | None] = [
            custom_config(self.setup, shared, ("reset_mask",), stacklevel=4)
        ] * self.num_envs
        shared = {key: value for key, value in shared.items() if key in keys}
        for i in range(self.num_envs):
            if rows is not None and not rows[i]:
                continue
            own = {key: values[i] for key, values in split.items()}
            try:
                configs[i] = custom_config(self.setup, {**shared, **own})
            except ValueError as error:
                raise ValueError(f"row {i}: {error}") from None
        return configs

    def step(
        self, actions: Any
    ) -> tuple[
        Arrays, np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], dict[str, Any]
    ]:
        """Take one action in every row, for its seat on turn.

        Args:
            actions: Integers (N,). What stands for a row that is over is ignored.

        Returns:
            Observations of the next seats to act, ``{"observation": (N, D) or (N, W), "action_mask": int8 (N, A)}``;
            rewards float64 (N, 4) by absolute seat; terminations bool (N,); truncations bool (N,), always False; infos.
            ``infos["seat"]`` is the seat to act, int64 (N,), -1 where the episode is over; the game's numbers
            are float64 (N,); each key ``k`` has its ``_k``.

            With ``SAME_STEP`` the observation after a row's last action is that of its next episode. Then infos
            also hold ``final_obs`` and ``final_info``, dicts of arrays in which the rows of ``_final_obs`` (the
            terminated ones) show how the episode ended; other rows are 0, or with ``copy=False`` of no meaning.
            With ``NEXT_STEP`` the step after a row's last begins its next episode, its action ignored and its
            rewards 0. With ``DISABLED`` the caller resets such rows, ``reset(options={"reset_mask": rows})``.

        Raises:
            ValueError: An action outside the action space, or with ``illegal_action="raise"`` an illegal one; the message
                says which row and seat. No row has been touched.
            ResetNeeded: Before ``reset``; with ``DISABLED``, when a row is over.
        """
        if not self._begun:
            raise ResetNeeded("step: call reset first")
        buffers = self._batch.buffers
        if self._manual and np.count_nonzero(buffers.terminations):
            row = int(buffers.terminations.argmax())
            raise ResetNeeded(
                f"row {row} is over; begin its next episode with reset(options={{'reset_mask': ...}})"
            )
        self._check(actions)
        self._batch.step(buffers.actions)
        infos = self._give(self._infos)
        if self._final_obs and np.count_nonzero(buffers.terminations):
            ended = buffers.terminations if not self.copy else buffers.terminations.copy()
            infos["final_obs"] = self._give_final(self._final_obs, ended)
            infos["_final_obs"] = ended
            infos["final_info"] = self._give_final(self._final_info, ended)
            infos["_final_info"] = ended
        if self.copy:
            rewards, terminations = buffers.rewards.copy(), buffers.terminations.copy()
            return self._give(self._obs), rewards, terminations, self._none.copy(), infos
        return dict(self._obs), buffers.rewards, buffers.terminations, self._none, infos

    def _check(self, actions: Any) -> None:
        """Copy the actions to the buffers, if each is in the action space and, where that is asked for, legal."""
        try:
            array = np.asarray(actions)
        except ValueError:  # lists of different lengths
            raise ValueError(
                f"actions: expected {self.num_envs} integers, one a row; got {actions!r}"
            ) from None
        if array.shape != (self.num_envs,):
            raise ValueError(
                f"actions: expected shape ({self.num_envs},), one a row; got {array.shape}"
            )
        if array.dtype != np.int64 or not array.flags.carray:  # another type to the compiler
            if array.dtype.kind not in "iu":
                raise ValueError(f"actions: expected integers, got {array.dtype}")
            if (
                array.dtype == np.uint64
            ):  # numbers from 2**63 on become that, as far outside the space
                array = np.minimum(array, np.uint64(2**63 - 1))
            array = np.array(array, np.int64, order="C")
        row = self._find_wrong(array)
        if row >= 0:
            self._refuse(row, int(actions[row]))

    def _refuse(self, row: int, action: int) -> None:
        game, state = self.setup.game, self._batch.buffers.states[row]
        where = f"row {row}, seat {int(state['seat'])}"
        if not 0 <= action < game.num_actions:
            raise ValueError(
                f"{where}: action {action} is outside the action space 0..{game.num_actions - 1}"
            )
        legal = ", ".join(f"{i} ({game.actions[i]})" for i in game.legal_ids(state))
        raise ValueError(
            f"{where}: action {action} ({game.actions[action]}) is illegal; legal are {legal}"
        )

    def _give(self, arrays: Arrays) -> dict[str, Any]:
        """The arrays for the caller: copies, or the live ones in a dict of the caller's own."""
        return {k: array.copy() for k, array in arrays.items()} if self.copy else dict(arrays)

    def _give_final(self, arrays: Arrays, ended: np.ndarray[Any, Any]) -> Arrays:
        """The rows that have ended; with ``copy`` the others are 0."""
        if not self.copy:
            return dict(arrays)
        given = {}
        for key, array in arrays.items():
            given[key] = np.zeros(array.shape, array.dtype)
            given[key][ended] = array[ended]
        return given

    def sample_actions(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """A legal action for every row, each with the same chance; 0 where the episode is over.

        The choices come from a stream of the row's own, which ``reset(seed=...)`` starts anew: they depend on the
        seed and on how often this has been called, and change nothing in the deals.

        Returns:
            int64 (N,); with ``copy=False`` the same array every time.
        """
        self._sample.share(self.num_envs, self.num_threads)
        return self._sampled.copy() if self.copy else self._sampled

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Legal actions of the seats on turn, bool (N, A)."""
        mask = self._batch.buffers.mask.view(np.bool_)
        return mask.copy() if self.copy else mask

    @property
    def nbytes(self) -> int:
        """Memory of the environment's arrays, in bytes, without what observations and infos are copied to."""
        arrays = [*self._batch.buffers, self._samples, self._sampled, self._all, self._none]
        return sum(array.nbytes for array in arrays)

    def state(self) -> np.ndarray[Any, np.dtype[np.int8]]:
        """The full-information states as 0 and 1, int8 (N, S); see the game's ``state_layout``.

        Raises:
            ResetNeeded: Before ``reset``.
        """
        if not self._begun:
            raise ResetNeeded("state: call reset first")
        layout, batch = self.setup.game.state_layout, self._batch
        words = np.zeros((self.num_envs, layout.words), np.uint64)
        self._drivers.describe(batch.config, batch.buffers.states, words)
        return words_to_bits(words, layout.size)

    def render(self) -> tuple[str, ...] | None:
        """All tables as texts with all hands shown; None (with a warning) if ``render_mode`` is None."""
        if self.render_mode is None:
            warnings.warn("render: the environment has render_mode=None", UserWarning, stacklevel=2)
            return None
        if not self._begun:
            raise ResetNeeded("render: call reset first")
        render, states = self.setup.game.render, self._batch.buffers.states
        return tuple(render(self.setup, states, i, None, []) for i in range(self.num_envs))

    def get_state(self) -> VectorSnapshot:
        """All that the environment is now, as copies; it may be kept, pickled and set again."""
        in_force, own = self._batch.config, self.setup.config
        return VectorSnapshot(
            name=self.setup.name,
            base=own,
            form=self._form(),
            rows=self._batch.snapshot(),
            custom=None if in_force is own else in_force,
            samples=self._samples.copy(),
            begun=self._begun,
        )

    def _form(self) -> dict[str, Any]:
        """What decides, besides the setup, which arrays the tables have and what their values mean."""
        return {
            "class": "VectorEnv",
            "num_envs": self.num_envs,
            "observation": self.observation,
            "autoreset_mode": self.autoreset_mode.name,
        }

    def set_state(self, snapshot: VectorSnapshot) -> None:
        """Go back to a state from ``get_state`` of this environment or of one made alike.

        Raises:
            TypeError: Not a snapshot.
            ValueError: A snapshot of another game, contract or options, number of rows, form of observation or autoreset mode, or of
                tables with a learner each. Nothing is changed.
        """
        self._check_snapshot(snapshot)
        self._restore(snapshot)

    def _check_snapshot(self, snapshot: Any) -> None:
        """Refuse what :meth:`set_state` cannot take."""
        if not isinstance(snapshot, VectorSnapshot):
            raise TypeError(f"set_state: expected what get_state gave, got {snapshot!r}")
        name, form, found = self.setup.name, self._form(), snapshot.form
        if snapshot.name != name or not same_config(snapshot.base, self.setup.config):
            other = "other options" if snapshot.name == name else snapshot.name
            raise ValueError(
                f"set_state: expected a snapshot of {name} with the same options; got one of {other}"
            )
        differ = [key for key in {**form, **found} if form.get(key) != found.get(key)]
        if differ:
            expected, got = (
                ", ".join(f"{key}={each.get(key)}" for key in differ) for each in (form, found)
            )
            raise ValueError(
                f"set_state: expected a snapshot of {name} with {expected}; got one with {got}"
            )

    def _restore(self, snapshot: VectorSnapshot) -> None:
        """Take over a snapshot that has been checked."""
        self._batch.restore(snapshot.rows)
        self._batch.config = self.setup.config
        if snapshot.custom is not None:
            # Unpickled records are writable, which is another type to the compiler.
            self._batch.config = copy_records(snapshot.custom)
            self._batch.config.flags.writeable = False
        self._samples[:] = snapshot.samples
        self._begun = snapshot.begun

    def clone(self) -> VectorEnv:
        """An independent environment in the same state; ``copy.copy`` does the same."""
        twin = VectorEnv(
            self.setup,
            self.num_envs,
            num_threads=self.num_threads,
            observation=self.observation,
            copy=self.copy,
            autoreset_mode=self.autoreset_mode,
            render_mode=self.render_mode,
        )
        twin.set_state(self.get_state())
        twin.spec = self.spec
        twin._np_random, twin._np_random_seed = deepcopy(self._np_random), self._np_random_seed
        return twin

    def __copy__(self) -> VectorEnv:
        return self.clone()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in _DERIVED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._wire()

    def __repr__(self) -> str:
        return f"VectorEnv({self.setup.id}, num_envs={self.num_envs})"


def _is_split(key: str, value: Any) -> bool:
    """Whether the value of a key for custom deals is a list with one item a row."""
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        return False
    return key != "deal" or all(map(_is_deal, value))


def _is_deal(item: Any) -> bool:
    """Whether an item of a list is a whole deal, not one of its hands."""
    if item is None or isinstance(item, Mapping):
        return True
    if isinstance(item, str):
        return ":" in item
    if not isinstance(item, (Sequence, np.ndarray)):
        return False
    return len(item) > 0 and not any(isinstance(part, (str, int, np.integer)) for part in item)


assert NUM_SEATS == 4
