"""N tables with one learner each, bots around it: the native vector form of the one-learner environment.

It equals a ``SyncVectorEnv`` of :class:`trick_core.single.SingleAgentEnv`, step for step and in every autoreset mode. Bots that
have a kernel play inside one call for all tables; each other bot is asked once a round for all tables that wait for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from trick_core.batch import BotError
from trick_core.game import Setup
from trick_core.seating import Seating, check_plan, make_lineup
from trick_core.vector import Arrays, VectorEnv, VectorSnapshot

#: Actions of an episode that are kept for rendering.
_LOG = 1024


class LearnerVectorEnv(VectorEnv):
    """N tables of one game with one learner each.

    Row i is the one-learner environment seeded with s + i. Its deal k depends on its seed and k alone, so the rows of two
    environments whose seeds are less than N apart share deals: space the seeds by N or more.

    A row whose episode is over (``NEXT_STEP``, ``DISABLED``) has a mask of zeros. Infos hold ``action_mask`` (int8, (N, A)), ``seat``
    (int64, (N,): the learner's) and the game's own numbers (float64, (N,)), each with its ``_key``.

    Args:
        setup: The game with its options.
        num_envs: N.
        opponents: One bot; three, for the seats after the learner's in play order; or ``{absolute seat: bot}``, with
            ``seat="rotate"`` for all four seats. A bot is a name, an object with ``act``, or a callable.
        seat: The learner's seat, 0..3, or ``"rotate"``: (seed of the row + k) mod 4 in episode k.
        num_threads: Threads that share the rows, at most ``NUMBA_NUM_THREADS`` where that is set; changes no result.
        observation: ``"bytes"``: int8 of 0 and 1, (N, D); ``"packed"``: the same bits as uint64 words, (N, W), lowest first.
        copy: False: observations and masks are the live buffers, which the next call overwrites.
        autoreset_mode: A member or value of ``gymnasium.vector.AutoresetMode``.
        render_mode: None or ``"ansi"``.

    Raises:
        ValueError: An argument out of range, or a bot that does not play the game.
        TypeError: An opponent that is no bot.
    """

    def __init__(
        self,
        setup: Setup,
        num_envs: int = 1,
        opponents: Any = "random",
        seat: int | str = 0,
        *,
        num_threads: int = 1,
        observation: str = "bytes",
        copy: bool = True,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        self.seat = seat
        self._plan = check_plan(seat)
        lineup = make_lineup(opponents, self._plan)
        super().__init__(
            setup,
            num_envs,
            num_threads=num_threads,
            observation=observation,
            copy=copy,
            autoreset_mode=autoreset_mode,
            render_mode=render_mode,
        )
        batch = self._batch
        if render_mode is not None:
            log = np.zeros((self.num_envs, _LOG), np.int16)
            batch.buffers = batch.buffers._replace(log=log)
        self._seating = Seating(setup.game)
        self._seating.install(batch, lineup, self._plan)

    def _wire(self) -> None:
        super()._wire()
        buffers = self._batch.buffers
        self._rows = np.arange(self.num_envs)
        self._learner = buffers.tables["learner"]
        self._seats = self._learner.astype(np.int64)
        self._infos = {
            **self._with_flags("action_mask", buffers.mask, self._all),
            **self._infos,
            "seat": self._seats,
        }

    # ------------------------------------------------------------------ the loop

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Arrays, dict[str, Any]]:
        """Begin an episode in every row, or in some; the others play up to the learner's first decision.

        Args:
            seed: An integer s: row i gets s + i. A list of N integers or None. None: the rows go on to their next deal
                (the first time, seeds come from the operating system).
            options: The game's keys for a custom deal, each for all rows, or a list of N for one row each (only for
                episodes of one deal); ``opponents``, which play in the rows reset from now on; and ``reset_mask``, a bool array
                (N,) with the rows to reset. Other keys are ignored with a warning.

        Returns:
            Observations and infos as ``step`` gives them. With ``reset_mask``, infos hold the rows reset (``_key``), and 0
            for the others.

        Raises:
            ValueError: A bad seed, mask, deal, or number of items, or a bot's illegal action; no row has been touched.
            TypeError: ``reset_mask`` is no bool array, or an opponent no bot.
            ResetNeeded: ``reset_mask`` at the first reset.
        """
        lineup = None
        if isinstance(options, Mapping) and "opponents" in options:
            if options["opponents"] is not None:
                lineup = make_lineup(options["opponents"], self._plan)
            options = {key: value for key, value in options.items() if key != "opponents"}
        rows = self._reset_mask(options)
        batch, samples = self._batch, self._samples.copy()
        begun, generator = self._begun, (self._np_random, self._np_random_seed)
        # Without bots to ask or to change, only a compiled bot can fail once the arguments are checked.
        undo = lineup is not None or self._seating.asks or self._seating.grown
        try:
            with self._seating.undone_by_errors(batch) if undo else nullcontext():
                if lineup is not None:
                    which = slice(None) if rows is None else rows
                    self._seating.install(batch, lineup, self._plan, which)
                if rows is None or rows.all():
                    self._seating.compact(batch)
                super().reset(seed=seed, options=options)
                self._seating.play_others(batch)
        except BaseException as error:
            self._samples[:] = samples
            self._np_random, self._np_random_seed = generator
            self._begun = begun and (undo or not isinstance(error, BotError))
            raise
        self._seats[:] = self._learner
        return self._give(self._obs), self._give_infos(rows)

    def step(
        self, actions: Any
    ) -> tuple[
        Arrays, np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], dict[str, Any]
    ]:
        """Take the learners' actions; the others play up to the next decisions.

        Args:
            actions: Integers (N,). What stands for a row that is over is ignored.

        Returns:
            Observations, ``{"observation": (N, D) or (N, W), "action_mask": int8 (N, A)}``; rewards float64 (N,), what fell to the
            learner; terminations bool (N,); truncations bool (N,), always False; infos. With ``SAME_STEP`` infos also hold
            ``final_obs``, an object array of observations, and ``final_info``, where episodes have ended.

        Raises:
            ValueError: An action outside the action space, with ``illegal_action="raise"`` an illegal one, or a bot's illegal
                action; the message says which row and seat. No row has been touched; only where a bot that is a kernel
                is at fault, and so are all others, the environment must be reset.
            ResetNeeded: Before ``reset``; with ``DISABLED``, when a row is over.
        """
        if not self._begun:
            raise ResetNeeded("step: call reset first")
        batch = self._batch
        buffers = batch.buffers
        if self.autoreset_mode == AutoresetMode.DISABLED and buffers.terminations.any():
            row = int(buffers.terminations.argmax())
            raise ResetNeeded(
                f"row {row} is over; begin its next episode with reset(options={{'reset_mask': ...}})"
            )
        self._check(actions)
        asks = self._seating.asks
        before = self._seats.copy()
        try:
            with self._seating.undone_by_errors(batch) if asks else nullcontext():
                batch.step(buffers.actions)
                self._seating.play_others(batch)
        except BotError:
            self._begun = asks
            raise
        self._seats[:] = self._learner
        rewards = buffers.rewards[self._rows, before]
        ended = buffers.terminations.copy()
        infos = self._give_infos()
        if self._final_obs and ended.any():
            self._add_final(infos, ended, before)
        return self._give(self._obs), rewards, ended, self._none.copy(), infos

    def _give_infos(self, rows: np.ndarray[Any, Any] | None = None) -> dict[str, Any]:
        """Infos of the given rows (None: all), as Gymnasium puts them together."""
        infos = self._give(self._infos)
        if rows is None or rows.all():
            return infos
        for key, array in infos.items():
            infos[key] = rows.copy() if key.startswith("_") else array.copy()
            infos[key][~rows] = 0
        return infos

    def _add_final(
        self, infos: dict[str, Any], ended: np.ndarray[Any, Any], seats: np.ndarray[Any, Any]
    ) -> None:
        """Add how the ended rows ended."""
        buffers = self._batch.buffers
        observations = buffers.final_words if self._batch.packed else buffers.final_obs
        shown = observations[ended]  # a copy, of which each row gets its part
        masks = np.zeros((len(shown), self.setup.game.num_actions), np.int8)
        final = np.full(self.num_envs, None, object)
        final[ended] = [
            {"observation": observation, "action_mask": mask}
            for observation, mask in zip(shown, masks, strict=True)
        ]
        numbers = np.where(ended[:, None], buffers.final_numbers, 0.0)
        info: dict[str, Any] = {
            "action_mask": np.zeros_like(buffers.mask),
            "seat": np.where(ended, seats, 0),
        }
        info |= dict(zip(self.setup.game.info_names, numbers.T, strict=True))
        info |= {f"_{name}": ended.copy() for name in info}
        infos["final_obs"], infos["_final_obs"] = final, ended.copy()
        infos["final_info"], infos["_final_info"] = info, ended.copy()

    # ------------------------------------------------------------------ looking

    @property
    def seats(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The learners' seats in the running episodes, (N,)."""
        return self._seats.copy()

    def render(self) -> tuple[str, ...] | None:
        """All tables as texts, each as its learner sees it; None (with a warning) if ``render_mode`` is None."""
        if self.render_mode is None:
            warnings.warn("render: the environment has render_mode=None", UserWarning, stacklevel=2)
            return None
        if not self._begun:
            raise ResetNeeded("render: call reset first")
        render, states, seats = self.setup.game.render, self._batch.buffers.states, self._seats
        return tuple(
            render(self.setup, states, i, int(seats[i]), self._history(i))
            for i in range(self.num_envs)
        )

    def _history(self, i: int) -> list[int]:
        """The last actions of a row's episode, of all seats."""
        length = int(self._batch.buffers.tables["length"][i])
        log = self._batch.buffers.log[i]
        return [int(log[k % _LOG]) for k in range(max(0, length - _LOG), length)]

    # ------------------------------------------------------------------ opponents and copies

    def set_opponents(self, opponents: Any) -> None:
        """Let other bots play, in each row from its next episode on.

        Args:
            opponents: As for the constructor.

        Raises:
            ValueError: A wrong number of bots, unfitting seats, an unknown name, a bot that does not play the game.
            TypeError: Something that is no bot.
        """
        self._seating.install(self._batch, make_lineup(opponents, self._plan), self._plan)

    def set_state(self, snapshot: VectorSnapshot) -> None:
        """Go back to a state from ``get_state`` of this environment or of one made alike.

        The opponents are those of this environment.

        Raises:
            TypeError: Not a snapshot.
            ValueError: A snapshot of another game, contract or options, number of rows, form of observation, autoreset mode or
                ``render_mode``, of tables without learners, or with a learner in another seat. Nothing is changed.
        """
        self._check_snapshot(snapshot)
        with self._seating.own_bots(self._batch, snapshot.rows):
            self._restore(snapshot)
        self._seats[:] = self._learner

    def _form(self) -> dict[str, Any]:
        # With a render_mode the tables keep their actions.
        return {**super()._form(), "class": "LearnerVectorEnv", "render_mode": self.render_mode}

    def clone(self) -> LearnerVectorEnv:
        """An independent environment in the same state; it shares the bots. ``copy.copy`` does the same."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__getstate__())
        twin.metadata = dict(self.metadata)
        for name in ("observation_space", "single_observation_space", "state_space"):
            twin.__dict__.pop(name, None)  # made anew when asked for
        twin._make_action_spaces()
        twin._np_random = deepcopy(self._np_random)
        twin._seating = self._seating.copy()
        twin._batch = self._batch.copy()
        twin._samples = self._samples.copy()
        twin._wire()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key not in _WIRED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._batch.bots = self._seating.kernels()

    def __repr__(self) -> str:
        return f"LearnerVectorEnv({self.setup.id}, num_envs={self.num_envs})"


_WIRED = ("_rows", "_learner", "_seats")
