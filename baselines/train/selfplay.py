"""Self-play PPO in plain torch: one net plays all four seats of many tables.

One file, top to bottom: settings, tables, games, learning, evaluation, checkpoints.

    from baselines.train.selfplay import SelfPlayConfig, train
    result = train(SelfPlayConfig(envs=("bolola/hearts-v0", "bolola/trump-v0"), steps=2_000_000))

An iteration plays one episode at every table and learns from all decisions with a choice (forced ones are played, not learned). Each seat
is paid for itself: what falls between two decisions of a seat is the reward of the first. Rewards are points over the table's mean, scaled
so that a deal among greedy players has standard deviation 1 in each environment. Several environments of one game may be mixed.

PPO: Schulman et al., "Proximal policy optimization algorithms", 2017; advantages: Schulman et al., "High-dimensional continuous control
using generalized advantage estimation", ICLR 2016. The layout of the file follows CleanRL's.

**What is privileged.** ``critic="privileged"`` (default) shows the critic the other three hands while training: the critic is not needed
to play. ``belief > 0`` adds a loss on who really holds what. The policy itself never sees more than its seat may see.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import csv
import functools
import itertools
import json
import math
import os
import platform
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import baselines  # noqa: F401  (registers the bots)
from baselines.bots import inference
from baselines.bots import net as nets
from baselines.extras import needs
from trick_core.batch import Batch
from trick_core.bits import ONE, ZERO
from trick_core.bots import as_bot
from trick_core.drivers import JitBot
from trick_core.game import (
    NUM_SEATS,
    Game,
    Setup,
    check_choice,
    check_integer,
    check_number,
    setup_for,
)
from trick_core.jit import entry, kernel, records
from trick_core.rng import mix
from trick_core.rollouts import ENDS, PLAYOUT, playout, playout_label

with needs("train"):
    import torch
    from torch import nn
    from torch.nn import functional

#: Training draws its tables' seeds from here on, ``SEED_SPACING`` apart for different seeds.
SEED_SPACING = 1 << 32
#: Where, in a seed's space, the tables of the next environment lie.
ENV_SPACING = 1 << 24
#: Tables that measure how far returns scatter.
SCALE_TABLES = 512

CRITICS = ("public", "privileged")
HEAD_STARTS = ("none", "imitate", "playouts")
HEAD_LOSSES = ("fit", "gain")
LOGS = ("none", "tensorboard", "wandb")
#: The name of the frozen earlier selves among the opponents.
PAST = "past"

_LEAST = {
    "steps": 1,
    "head_steps": 0,
    "worlds": 1,
    "head_minibatch": 2,
    "head_tables": 1,
    "head_epochs": 1,
    "tables": 1,
    "minibatch": 2,
    "epochs": 1,
    "eval_deals": 2,
    "past_every": 1,
    "past_size": 1,
    "seed": 0,
    "torch_threads": 1,
}
_RANGES = {
    "minutes": (0.0, math.inf),
    "eval_every": (0.0, math.inf),
    "learning_rate": (0.0, 1.0),
    "head_rate": (0.0, 1.0),
    "head_range": (0.0, math.inf),
    "head_follow": (0.0, math.inf),
    "temperature": (0.0, math.inf),
    "init_scale": (0.0, math.inf),
    "gamma": (0.0, 1.0),
    "gae_lambda": (0.0, 1.0),
    "clip": (0.0, 1.0),
    "entropy": (0.0, math.inf),
    "value": (0.0, math.inf),
    "belief": (0.0, math.inf),
    "max_norm": (0.0, math.inf),
    "opponent_share": (0.0, 1.0),
    "slips": (0.0, 1.0),
}


@dataclass(frozen=True)
class SelfPlayConfig:
    """Everything that decides a run.

    Attributes:
        envs: Ids (or setups) of environments of one game, which are mixed.
        weights: How often each of them is played; None: alike.
        options: Further options, for all of them.
        steps: Decisions in all, forced ones and the head start included.
        minutes: Stop after this much wall-clock time, with the learning rate reaching 0 then; None: by steps alone. Only a run by
            steps alone can be repeated exactly.
        init: Net to start from: the name of one that comes with the library, or a file; None: a fresh one.
        init_scale: Its logits are multiplied by this: above 1 for a net that draws its actions too freely to begin with, as one fitted
            to values does.
        head_start: What the net learns before PPO. ``"imitate"``: the teacher's choices. ``"playouts"``: for every legal action, what the
            deal brings if it is played and the teacher plays all seats from there.
        head_loss: What is done with the values of playouts. ``"fit"``: the logits are fitted to them, which teaches the most from nothing.
            ``"gain"``: their mean under the policy is raised, which is what counts in the end; the better loss once a net plays well.
        head_steps: Decisions of the head start.
        head_tables: Tables an iteration of the head start; many, so that passes over their decisions do not dwell on a few deals.
        head_rate: Adam's learning rate at its beginning; it falls linearly to a tenth, with the steps or with ``minutes``, whichever
            end sooner.
        head_minibatch: Decisions a gradient step of the head start.
        head_epochs: Its passes over an iteration's decisions.
        teacher: The bot of the head start; for playouts one with a kernel.
        head_range: With ``"gain"``: decisions whose actions differ by more than so many standard deviations of a deal count less, as if
            they differed by so many; None: all count alike. Bids are worth a hundred times what a card is, and would drown it.
        head_follow: With ``"gain"``: weight of the cross-entropy with the teacher's own choice. It decides where playouts are too
            noisy to tell actions apart; 1 outweighs differences of about ``temperature`` standard deviations.
        worlds: Deals in which it plays out: the true one, and others that the seat cannot tell from it (where the game can draw them).
        slips: Factor on the chance of such another deal for a play of the others that the teacher would not make in it
            (:mod:`baselines.bots.inference`), where a game tells its past; 1: all are equally likely.
        temperature: The head start by playouts makes logits of values / temperature (in standard deviations of a deal).
        opponents: Bots that hold some seats at some tables, in the head start too; ``"past"``: frozen earlier selves (not in the head start).
        opponent_share: Share of the tables with opponents.
        opponent_seats: Seats that they hold there, 1 to 3, drawn anew for each episode; None: one to three.
        past_every: Iterations between frozen selves.
        past_size: How many of them are kept; the oldest goes.
        seed: Seed of the net, of the sampling and (spaced) of the deals.
        tables: Tables an iteration.
        minibatch: Decisions a gradient step.
        epochs: Passes over an iteration's decisions.
        learning_rate: Adam's, at the start; it falls linearly to 0.
        gamma: Discount, by decision of a seat.
        gae_lambda: Weight of longer returns.
        clip: PPO's clipping range.
        entropy: Weight of the entropy bonus.
        value: Weight of the critic's loss; 0: the critic learns nothing, and costs nothing in a head start.
        belief: Weight of the loss on who holds what; privileged.
        max_norm: Gradients are scaled down to this norm.
        layers: Hidden units of the policy, and of the critic.
        critic: ``"public"``: the critic sees what the seat sees; ``"privileged"``: the other hands too.
        eval_every: Seconds between evaluations, which are also when a checkpoint is written. Neither changes the run.
        eval_deals: Deals of each environment's suite that are played at an evaluation, each in four rotations.
        eval_against: Bots that the net is evaluated against.
        folder: Where net, checkpoint, curve and settings are written.
        overwrite: Whether a run that the folder holds may be lost.
        log: Where losses go besides: ``"tensorboard"``, ``"wandb"`` or nowhere.
        torch_threads: Threads that torch may use.
    """

    envs: tuple[Any, ...] = ("bolola/hearts-v0",)
    weights: tuple[float, ...] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    steps: int = 5_000_000
    minutes: float | None = None
    init: str | None = None
    init_scale: float = 1.0
    head_start: str = "none"
    head_loss: str = "fit"
    head_steps: int = 1_000_000
    head_tables: int = 2048
    head_rate: float = 1e-3
    head_minibatch: int = 256
    head_epochs: int = 3
    teacher: str = "greedy"
    head_range: float | None = None
    head_follow: float = 0.0
    worlds: int = 8
    slips: float = 1.0
    temperature: float = 0.05
    opponents: tuple[str, ...] = ()
    opponent_share: float = 0.25
    opponent_seats: int | None = None
    past_every: int = 50
    past_size: int = 10
    seed: int = 0
    tables: int = 256
    minibatch: int = 512
    epochs: int = 2
    learning_rate: float = 1e-3
    gamma: float = 1.0
    gae_lambda: float = 0.8
    clip: float = 0.2
    entropy: float = 0.005
    value: float = 0.5
    belief: float = 0.0
    max_norm: float = 0.5
    layers: tuple[int, ...] = (256, 256)
    critic: str = "privileged"
    eval_every: float = 60.0
    eval_deals: int = 50
    eval_against: tuple[str, ...] = ("greedy",)
    folder: str = "runs/selfplay"
    overwrite: bool = False
    log: str = "none"
    torch_threads: int = 1

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            # As Python's own, which JSON takes.
            object.__setattr__(self, name, check_integer(name, getattr(self, name), least))
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if name in ("minutes", "head_range") and value is None:
                continue
            if not low <= check_number(name, value) <= high:
                limits = f"{low:g} to {high:g}" if math.isfinite(high) else f"{low:g} or more"
                raise ValueError(f"{name}: expected {limits}, got {value!r}")
            object.__setattr__(self, name, float(value))
        for name in (
            "minutes",
            "learning_rate",
            "head_rate",
            "head_range",
            "temperature",
            "init_scale",
            "clip",
            "max_norm",
            "slips",
        ):
            if getattr(self, name) == 0:
                raise ValueError(f"{name}: expected more than 0, got 0")
        check_choice("head_start", self.head_start, HEAD_STARTS)
        check_choice("head_loss", self.head_loss, HEAD_LOSSES)
        check_choice("critic", self.critic, CRITICS)
        check_choice("log", self.log, LOGS)
        if self.opponent_seats is not None and self.opponent_seats not in range(1, NUM_SEATS):
            raise ValueError(
                f"opponent_seats: expected 1 to 3, or None, got {self.opponent_seats!r}"
            )
        if self.seed >= 1 << 31:
            raise ValueError(f"seed: expected an integer below 2**31, got {self.seed!r}")
        for name in ("envs", "weights", "opponents", "layers", "eval_against"):
            value = getattr(self, name)
            if not isinstance(value, (list, tuple)) and not (name == "weights" and value is None):
                raise ValueError(f"{name}: expected a list, got {value!r}")
        if not isinstance(self.options, dict):
            raise ValueError(f"options: expected options by name, got {self.options!r}")
        if not self.envs:
            raise ValueError(f"envs: expected environments, got {self.envs!r}")
        if self.weights is not None:
            if len(self.weights) != len(self.envs):
                raise ValueError(f"weights: expected {len(self.envs)}, got {len(self.weights)}")
            if any(check_number("weights", w) <= 0 for w in self.weights):
                raise ValueError(f"weights: expected numbers above 0, got {self.weights!r}")
        for name in ("tables", "head_tables"):
            if getattr(self, name) < len(self.envs):
                raise ValueError(
                    f"{name}: expected at least one for each of {len(self.envs)} environments, "
                    f"got {getattr(self, name)}"
                )
        if not self.layers or not all(type(units) is int and units > 0 for units in self.layers):
            raise ValueError(f"layers: expected positive integers, got {self.layers!r}")
        if not self.eval_against:
            raise ValueError(f"eval_against: expected names of bots, got {self.eval_against!r}")
        for bot in (*self.opponents, *self.eval_against, self.teacher):
            if bot != PAST:
                as_bot(bot)  # an unknown bot is found before any work


# ---------------------------------------------------------------------------- what the net reads


@functools.cache
def _row_driver(game: Game) -> Callable[..., None]:
    """Kernel ``(config, states, words)``: the row part of the observation of each deal; a state for each."""
    observe_row = game.kernels.observe_row

    @entry(f"{game.name}.selfplay.rows", [game.folder, __file__])
    def rows(config, states, words):
        for i in range(config.shape[0]):
            states[i].deal = i
            observe_row(config, states[i], words, i)

    return rows


def needed_inputs(setups: Sequence[Setup]) -> int:
    """How many first values of the observation a net must read to know in which of the setups' deals it is.

    All that changes within a deal, and of the rest as many pieces as tell the deals' rows apart. With Bolola's own contracts that is
    the one-hot of the contract.
    """
    game = setups[0].game
    parts = []
    for setup in setups:
        words = np.zeros((len(setup.config), game.layout.words), np.uint64)
        _row_driver(game)(setup.config, game.states(len(setup.config)), words)
        parts.append(nets.unpack(words, game.layout.size))
    rows = np.unique(np.concatenate(parts), axis=0)
    ends = [game.row_start] + [
        game.layout.slice(piece.name).stop
        for piece in game.layout
        if game.layout.start(piece.name) >= game.row_start
    ]
    for end in ends:
        if len(np.unique(rows[:, :end], axis=0)) == len(rows):
            return int(end)
    return game.layout.size


@functools.cache
def _hands_driver(game: Game) -> Callable[..., None]:
    """Kernel ``(config, states, rows, scratch, hands)``: what the three seats after the one on turn hold.

    ``scratch`` is uint64 (1, W), ``hands`` uint64 (n, 3 x words of a hand). A hand is the piece ``hand`` of what its owner observes.
    """
    observe, piece = game.kernels.observe, game.layout.slice("hand")
    if piece.start % 64:
        raise ValueError(f"{game.name}: the piece 'hand' does not begin with a word")
    first, words = piece.start // 64, _hand_words(game)
    last_mask = np.uint64((1 << ((piece.stop - piece.start - 1) % 64 + 1)) - 1)

    @entry(f"{game.name}.selfplay.hands", [game.folder, __file__])
    def other_hands(config, states, rows, scratch, hands):
        for j in range(rows.shape[0]):
            st = states[rows[j]]
            for k in range(3):
                observe(config, st, (st.seat + k + 1) & 3, scratch, 0)
                for word in range(words):
                    hands[j, k * words + word] = scratch[0, first + word]
                hands[j, k * words + words - 1] &= last_mask

    return other_hands


def _hand_words(game: Game) -> int:
    piece = game.layout.slice("hand")
    return int(-(-(piece.stop - piece.start) // 64))


def _hand_bits(hands: np.ndarray[Any, Any], game: Game) -> np.ndarray[Any, Any]:
    """The other hands as 0/1, float32 (n, 3 x cards)."""
    width = game.layout.slice("hand").stop - game.layout.slice("hand").start
    each = hands.reshape(-1, _hand_words(game))
    return nets.unpack(each, width).reshape(len(hands), 3 * width)


@functools.cache
def _playout_driver(game: Game, bot: JitBot, infers: bool) -> Callable[..., None]:
    """Kernel ``(config, public, states, rows, randoms, worlds, work, views, drawn, run, points, values)``: what every legal
    action brings if the bot plays all seats from there.

    It is played in the true deal and in ``worlds - 1`` others that the seat on turn cannot tell from it, which with ``infers`` come as
    often as they explain the play. ``work`` are three scratch states, ``views`` is one more, ``drawn`` what the worlds are
    drawn in (:func:`baselines.bots.inference.make_worlds`), ``run`` a record of a playout, ``points`` float64 (1, 4).
    ``values`` float32 (n, A) become points of the seat on turn over the table's mean in the episode so far, at the end of the
    deal, the mean over the worlds; 0 for actions that are not legal. If the bot chooses an illegal action, ``run`` says so.
    """
    step, redact, returns = game.kernels.step, game.kernels.redact, game.kernels.returns
    num_actions, play_on, label = game.num_actions, playout(game, (bot,)), playout_label((bot,))

    if game.belief is None:

        @kernel
        def imagine(config, work, seat, random, drawn, first):
            return random

    else:
        source = inference.source_of(game, bot, infers)
        begin, draw = source.begin, source.draw

        @kernel
        def imagine(config, work, seat, random, drawn, first):
            """Put the next world into ``work[0]``; ``work[2]`` is what the seat knows of it."""
            if first:
                work[2] = work[0]
                redact(config, work[2], seat)
                random = begin(config, work[2], seat, random, drawn)
            random = draw(config, work[2], seat, random, drawn)
            work[0] = drawn.states[inference.PROPOSED]
            return random

    @kernel
    def over_mean(config, st, seat, points):
        for k in range(4):
            points[0, k] = 0.0
        returns(config, st, points, 0)
        return points[0, seat] - (points[0, 0] + points[0, 1] + points[0, 2] + points[0, 3]) / 4.0

    kind = "weighed" if infers else "equal"

    @entry(
        None if label is None else f"{game.name}.selfplay.playouts.{label}.{kind}",
        [game.folder, bot.folder, str(Path(inference.__file__).parent), __file__],
    )
    def playouts(
        config, public, states, rows, randoms, worlds, work, views, drawn, run, points, values
    ):
        for j in range(rows.shape[0]):
            seat, random = states[rows[j]].seat, randoms[j]
            work[0] = states[rows[j]]
            for action in range(num_actions):
                values[j, action] = 0.0
            for world in range(worlds):
                if world > 0:
                    random = imagine(config, work, seat, random, drawn, world == 1)
                for action in range(num_actions):
                    legal = states[rows[j]].legal[action >> 6] >> np.uint64(action & 63)
                    if legal & ONE == ZERO:
                        continue
                    work[1] = work[0]
                    step(config, work[1], np.int64(action))
                    run[0].random = mix(random)
                    play_on(config, public, work, 1, views, run)
                    values[j, action] += over_mean(config, work[1], seat, points) / worlds

    return playouts


@functools.cache
def _returns_driver(game: Game) -> Callable[..., None]:
    """Kernel ``(config, states, rows, points)``: the points of each seat in the episode so far, in units."""
    returns = game.kernels.returns

    @entry(f"{game.name}.selfplay.returns", [game.folder, __file__])
    def points_of(config, states, rows, points):
        for j in range(rows.shape[0]):
            for seat in range(4):
                points[j, seat] = 0.0
            returns(config, states[rows[j]], points, j)

    return points_of


# ---------------------------------------------------------------------------- the tables


class Decisions(NamedTuple):
    """The decisions with a choice of one iteration, n of them, in the order of play."""

    words: np.ndarray[Any, Any]  # uint64 (n, W'): the values that the net reads
    hands: np.ndarray[Any, Any]  # uint64 (n, 3 x words of a hand) or (n, 0): the other hands
    legal: np.ndarray[Any, Any]  # uint64 (n, words of a mask)
    actions: np.ndarray[Any, Any]  # int64 (n,)
    log_probs: np.ndarray[Any, Any]  # float32 (n,)
    steps: np.ndarray[Any, Any]  # int64 (n,): step of the iteration
    tables: np.ndarray[Any, Any]  # int64 (n,)
    seats: np.ndarray[Any, Any]  # int64 (n,)
    taught: np.ndarray[
        Any, Any
    ]  # head start: float32 (n, A) values or 1 for the teacher's choice; else (n, 0)
    before: np.ndarray[
        Any, Any
    ]  # head start by playouts: float32 (n,) rewards that have fallen; else (0,)
    advised: np.ndarray[Any, Any]  # the same: int64 (n,) the teacher's own choices; else (0,)


class Played(NamedTuple):
    """One iteration's games."""

    decisions: Decisions
    rewards: np.ndarray[Any, Any]  # float64 (T, N, 4): rewards of each step, by seat
    taken: int  # decisions of the learner, forced ones included


class Tables:
    """The tables of all environments, stepped together. Table numbers run through all batches.

    Args:
        setups: The environments with the rewards of training.
        shares: Tables of each.
        seed: Seed of the run.
        inputs: Values of the observation that the net reads.
        with_hands: Record the other hands.
        worlds: Deals in which a teacher plays out, the true one among them.
        slips: How the others are drawn, see :class:`SelfPlayConfig`.
    """

    def __init__(
        self,
        setups: Sequence[Setup],
        shares: Sequence[int],
        seed: int,
        inputs: int,
        with_hands: bool,
        worlds: int,
        slips: float = 1.0,
    ) -> None:
        self.game = setups[0].game
        self.batches = []
        self.words = -(-inputs // 64)
        self.with_hands, self.worlds, self.slips = with_hands, worlds, slips
        spare = 64 * self.words - inputs
        self._last = np.uint64((1 << (64 - spare)) - 1)
        for k, (setup, share) in enumerate(zip(setups, shares, strict=True)):
            batch = Batch(setup, share, packed=True, autoreset="disabled")
            first = SEED_SPACING * (seed + 1) + ENV_SPACING * k
            batch.buffers.tables["seed"] = first + np.arange(share, dtype=np.uint64)
            self.batches.append(batch)
        self.starts = np.cumsum([0, *shares])
        self.num_tables = int(self.starts[-1])
        game = self.game
        self._scratch = np.zeros((1, game.layout.words), np.uint64)
        self._work, self._views = game.states(3), game.states(1)
        self._drawn: Any = np.zeros(1)
        if game.belief is not None:
            self._drawn = inference.make_worlds(game, slips, inference.BURN, inference.THIN)
        self._run = records(1, PLAYOUT)
        self._run["until"] = ENDS.index("deal")
        self._points = np.zeros((1, NUM_SEATS))

    def play(
        self,
        number: int,
        choose: Callable[[Any, Any], tuple[Any, Any]],
        opponents: Sequence[Any] = (),
        who: np.ndarray[Any, Any] | None = None,
        teacher: Any = None,
        values: bool = False,
        advice: bool = False,
        random: int = 0,
    ) -> Played:
        """Play episode ``number`` of every table to its end.

        Args:
            number: The same number, the same deals.
            choose: ``(words, legal) -> (actions, log_probs)`` for the learner's decisions with a choice.
            opponents: Bots in other seats.
            who: int8 (N, 4): 0 where the learner sits, else 1 + the number of an opponent; None: the learner everywhere.
            teacher: Bot whose choices or playouts are recorded; None: nothing is.
            values: Record the playouts' values, not the teacher's choices.
            advice: Record its choices besides.
            random: Seed of the teacher's own randomness.
        """
        self._seat(number, opponents, who)
        parts: list[tuple[Any, ...]] = []
        rewards: list[np.ndarray[Any, Any]] = []
        count = 0
        while any((batch.buffers.seats >= 0).any() for batch in self.batches):
            step = len(rewards)
            open_rows, asked = [], []
            actions = [np.zeros(batch.num_tables, np.int64) for batch in self.batches]
            lives = [batch.buffers.seats >= 0 for batch in self.batches]
            for k, batch in enumerate(self.batches):
                rows = np.flatnonzero(lives[k])
                mine = rows
                if who is not None:
                    seats = batch.buffers.seats[rows]
                    sits = who[self.starts[k] + rows, seats]
                    for other in np.unique(sits[sits > 0]):
                        theirs = rows[sits == other]
                        actions[k][theirs] = batch.ask(opponents[other - 1], theirs)
                    mine = rows[sits == 0]
                count += len(mine)
                legal = np.asarray(batch.buffers.states["legal"])[mine]
                choices = np.bitwise_count(legal).sum(axis=1)
                forced = choices == 1
                actions[k][mine[forced]] = _only(legal[forced])
                open_rows.append(mine[~forced])
                if len(open_rows[k]):
                    seen = self._look(k, open_rows[k], legal[~forced])
                    asked.append(
                        (*seen, *self._teach(k, open_rows[k], teacher, values, advice, random))
                    )
            if asked:
                words, hands, legal, seats, taught, before, advised = map(
                    np.concatenate, zip(*asked, strict=True)
                )
                chosen, log_probs = choose(words, legal)
                tables = np.concatenate([self.starts[k] + rows for k, rows in enumerate(open_rows)])
                steps = np.full(len(tables), step)
                told = taught, before, advised
                parts.append((words, hands, legal, chosen, log_probs, steps, tables, seats, *told))
                at = 0
                for k, rows in enumerate(open_rows):
                    actions[k][rows] = chosen[at : at + len(rows)]
                    at += len(rows)
            got = np.zeros((self.num_tables, NUM_SEATS))
            for k, batch in enumerate(self.batches):
                if lives[k].any():
                    batch.step(actions[k], lives[k])
                    part = slice(self.starts[k], self.starts[k + 1])
                    got[part] = np.where(lives[k][:, None], batch.buffers.rewards, 0.0)
            rewards.append(got)
        if not parts:
            raise ValueError("no decision of the learner had a choice: there is nothing to learn")
        decisions = Decisions(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        return Played(decisions, np.array(rewards), count)

    def _seat(
        self, number: int, opponents: Sequence[Any], who: np.ndarray[Any, Any] | None
    ) -> None:
        """Deal, with the compiled opponents inside the batches."""
        kernels = [bot.jit(self.game) for bot in opponents]
        inside = [kernel for kernel in kernels if kernel is not None]
        codes = np.full(len(opponents) + 1, -2, np.int8)  # -2: asked by us, for somebody else
        codes[0] = -1
        for j, compiled in enumerate(kernels):
            if compiled is not None:
                codes[j + 1] = inside.index(compiled)
        for k, batch in enumerate(self.batches):
            part = slice(self.starts[k], self.starts[k + 1])
            seats = -np.ones((batch.num_tables, NUM_SEATS), np.int8)
            batch.set_bots(
                inside if who is not None else (), seats if who is None else codes[who[part]]
            )
            batch.buffers.tables["number"] = number
            batch.reset()

    def _look(self, k: int, rows: Any, legal: Any) -> tuple[Any, Any, Any, Any]:
        """What the seats on turn of a batch's rows see (and, for the critic, what the others hold)."""
        batch, game = self.batches[k], self.game
        words = batch.buffers.words[rows, : self.words]
        words[:, -1] &= self._last
        width = 3 * _hand_words(game) if self.with_hands else 0
        hands = np.zeros((len(rows), width), np.uint64)
        if self.with_hands:
            driver = _hands_driver(game)
            driver(batch.config, batch.buffers.states, rows, self._scratch, hands)
        return words, hands, legal, batch.buffers.seats[rows]

    def _teach(
        self, k: int, rows: Any, teacher: Any, values: bool, advice: bool, random: int
    ) -> Any:
        """What a teacher says of the decisions, what rewards have fallen before, and what it would do."""
        batch, game = self.batches[k], self.game
        nothing = np.zeros(0, np.float32), np.zeros(0, np.int64)
        if teacher is None:
            return np.zeros((len(rows), 0), np.float32), *nothing
        taught = np.zeros((len(rows), game.num_actions), np.float32)
        choices = batch.ask(teacher, rows) if advice or not values else nothing[1]
        if not values:
            taught[np.arange(len(rows)), choices] = 1.0
            return taught, *nothing
        states, factor = batch.buffers.states, batch.run["factor"][0]
        randoms = np.uint64(random) + batch.buffers.tables["random"][rows]
        policy = teacher.jit(game)
        driver = _playout_driver(game, policy, inference.weighs(game, policy, self.slips))
        worlds = 1 if game.belief is None else self.worlds
        scratch = self._work, self._views, self._drawn, self._run, self._points
        driver(batch.config, batch.public, states, rows, randoms, worlds, *scratch, taught)
        if self._run["fault"][0]:
            raise ValueError(
                f"bot {teacher.name!r} chose {self._run['fault_action'][0]}, which is not legal"
            )
        points = np.zeros((len(rows), NUM_SEATS))
        _returns_driver(game)(batch.config, states, rows, points)
        own = points[np.arange(len(rows)), batch.buffers.seats[rows]] - points.mean(axis=1)
        return taught * np.float32(factor), (own * factor).astype(np.float32), choices


def _only(legal: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The action of masks with one bit, uint64 (n, words) -> (n,)."""
    word = (legal != 0).argmax(axis=1)
    bit = np.bitwise_count(legal[np.arange(len(legal)), word] - np.uint64(1))
    return np.asarray(64 * word + bit, np.int64)


def advantages(
    decisions: Decisions,
    values: np.ndarray[Any, Any],
    rewards: np.ndarray[Any, Any],
    gamma: float,
    gae_lambda: float,
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Generalized advantage estimates (n,) of decisions, each seat of each table by itself.

    Args:
        decisions: n decisions in the order of play.
        values: The critic's values of them (n,).
        rewards: Of every step, (T, N, 4). A seat's rewards from one of its decisions to its next belong to the first.
        gamma: Discount from a seat's decision to its next.
        gae_lambda: Weight of longer returns.
    """
    _, tables, seats = rewards.shape
    next_value, next_advantage = np.zeros((tables, seats)), np.zeros((tables, seats))
    waiting = np.zeros((tables, seats))
    result = np.zeros(len(values), np.float32)
    ends = np.searchsorted(decisions.steps, np.arange(len(rewards) + 1))
    for step in reversed(range(len(rewards))):
        waiting += rewards[step]
        part = slice(ends[step], ends[step + 1])
        at = decisions.tables[part], decisions.seats[part]
        delta = waiting[at] + gamma * next_value[at] - values[part]
        advantage = delta + gamma * gae_lambda * next_advantage[at]
        result[part] = advantage
        next_value[at], next_advantage[at], waiting[at] = values[part], advantage, 0.0
    return result


# ---------------------------------------------------------------------------- the learner


class Perceptron(nn.Module):
    """Linear layers with ReLU between them."""

    def __init__(self, sizes: Sequence[int], last_gain: float) -> None:
        super().__init__()
        self.linears = [nn.Linear(a, b) for a, b in itertools.pairwise(sizes)]
        self.layers = nn.ModuleList(self.linears)  # which tells torch of them
        for layer in self.linears:
            gain = last_gain if layer is self.linears[-1] else math.sqrt(2.0)
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)

    def hidden(self, x: torch.Tensor) -> torch.Tensor:
        """The values of the last hidden layer."""
        for layer in self.linears[:-1]:
            x = functional.relu(layer(x))
        return x

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The output."""
        return self.linears[-1](self.hidden(x))  # type: ignore[no-any-return]

    def arrays(self) -> list[tuple[Any, Any]]:
        """Weights (in, out) and biases, as :class:`baselines.bots.net.Net` holds them."""
        return [
            (layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy())
            for layer in self.linears
        ]

    def take(self, layers: Sequence[tuple[Any, Any]]) -> None:
        """Set weights and biases; values beyond those that the layers read get weight 0."""
        with torch.no_grad():
            for layer, (weight, bias) in zip(self.linears, layers, strict=True):
                layer.weight.zero_()
                layer.weight[:, : len(weight)] = torch.from_numpy(weight.T.copy())
                layer.bias[:] = torch.from_numpy(bias.copy())


class Agent(nn.Module):
    """Policy, critic, and the head that guesses who holds what."""

    def __init__(self, inputs: int, hands: int, actions: int, config: SelfPlayConfig) -> None:
        super().__init__()
        seen = inputs + (hands if config.critic == "privileged" else 0)
        self.policy = Perceptron([inputs, *config.layers, actions], 0.01)
        self.critic = Perceptron([seen, *config.layers, 1], 1.0)
        self.belief = nn.Linear(config.layers[-1], hands) if config.belief > 0 else None


@dataclass
class SelfPlayResult:
    """What a run leaves.

    Attributes:
        net: The trained net.
        bot: The net as a bot.
        curve: Rows of the learning curve: seconds, steps, and points a deal over the table's mean against three of each bot, the mean
            over the environments and each by itself.
        folder: Where ``net.npz``, ``checkpoint.pt``, ``curve.csv``, ``curve.png`` and ``run.json`` are.
        seconds: Wall-clock time, evaluations included.
        steps: Decisions taken.
    """

    net: nets.Net
    bot: nets.NetBot
    curve: list[dict[str, float]]
    folder: Path
    seconds: float
    steps: int


class SelfPlay:
    """A run: everything that an iteration changes, and the iteration.

    Randomness comes from generators that are seeded anew for every iteration, so a checkpoint needs to hold none.

    Args:
        config: The run.
        inputs: Values that the net reads at the least: those of the checkpoint from which a run goes on.
    """

    def __init__(self, config: SelfPlayConfig, inputs: int = 0) -> None:
        self.config = config
        torch.set_num_threads(config.torch_threads)
        torch.manual_seed(config.seed)
        self.plain = [setup_for(env, **config.options) for env in config.envs]
        self.game = self.plain[0].game
        if any(setup.game is not self.game for setup in self.plain):
            raise ValueError("envs: expected environments of one game")
        self.teacher = as_bot(config.teacher)
        if config.head_start == "playouts" and self.teacher.jit(self.game) is None:
            raise ValueError(f"teacher: playouts need a bot with a kernel, not {config.teacher!r}")
        started = None if config.init is None else nets.find(config.init)
        #: What the net to start from went through; see :func:`_stage`.
        self.stages: list[Any] = [] if started is None else list(started.about.get("stages", ()))
        self.inputs = max(inputs, needed_inputs(self.plain))
        if started is not None:
            started.check(self.game)
            self.inputs = max(self.inputs, started.inputs)
            layers = tuple(len(bias) for bias in started.biases[:-1])
            self.config = config = replace(config, layers=layers)
        weights = config.weights or (1.0,) * len(self.plain)
        self.scales = [reward_scale(setup, config.seed) for setup in self.plain]
        setups = [
            setup.changed(zero_sum=True, reward_scale=scale)
            for setup, scale in zip(self.plain, self.scales, strict=True)
        ]
        privileged = config.critic == "privileged" or config.belief > 0
        self.in_head = config.head_start != "none" and config.head_steps > 0

        def tables(count: int) -> Tables:
            shares = split(count, weights)
            return Tables(
                setups, shares, config.seed, self.inputs, privileged, config.worlds, config.slips
            )

        self.tables = tables(config.tables)
        self.head_tables = tables(config.head_tables) if self.in_head else None
        piece = self.game.layout.slice("hand")
        self.agent = Agent(
            self.inputs, 3 * (piece.stop - piece.start), self.game.num_actions, config
        )
        if started is not None:
            self._start_from(started)
        self.optimizer = self._new_optimizer()
        self.generator = torch.Generator()
        self.iteration = self.steps = 0
        self.past: list[nets.Net] = []
        #: Bits that were set in some, and in all, of the observations learned from.
        self.ever = np.zeros(self.tables.words, np.uint64)
        self.always = ~self.ever

    def _start_from(self, net: nets.Net) -> None:
        layers = list(zip(net.weights, net.biases, strict=True))
        scale = np.float32(self.config.init_scale)
        layers[-1] = layers[-1][0] * scale, layers[-1][1] * scale
        self.agent.policy.take(layers)
        seen = self.agent.critic.linears[0].in_features
        if net.critic and net.about.get("critic") == self.config.critic:
            extra = seen - self.inputs  # the hands come last
            first, bias = net.critic[0]
            kept = len(first) - extra
            padded = np.zeros((seen, first.shape[1]), np.float32)
            padded[:kept], padded[self.inputs :] = first[:kept], first[kept:]
            self.agent.critic.take([(padded, bias), *net.critic[1:]])

    def _new_optimizer(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(
            self.agent.parameters(), lr=self.config.learning_rate, eps=1e-7, fused=True
        )

    # -------------------------------------------------------------- acting

    def choose(self, words: Any, legal: Any) -> tuple[Any, Any]:
        """Actions drawn from the policy, and their log-probabilities."""
        with torch.no_grad():
            logits = self.logits(self.observed(words), self.mask(legal))
            noise = torch.rand(logits.shape, generator=self.generator).clamp_(min=1e-20)
            actions = (logits - (-noise.log()).log()).argmax(dim=1)  # Gumbel's trick
            log_probs = logits.log_softmax(dim=1).gather(1, actions[:, None])[:, 0]
        return actions.numpy(), log_probs.numpy()

    def observed(self, words: Any) -> torch.Tensor:
        """Packed observations as float32 (n, inputs)."""
        return torch.from_numpy(nets.unpack(words, self.inputs))

    def mask(self, legal: Any) -> torch.Tensor:
        """Packed masks as bool (n, A)."""
        return torch.from_numpy(nets.unpack(legal, self.game.num_actions) > 0)

    def logits(self, seen: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Logits, -1e9 where an action is not legal."""
        return self.agent.policy(seen).masked_fill(~mask, -1e9)  # type: ignore[no-any-return]

    def values(self, seen: torch.Tensor, hands: Any) -> torch.Tensor:
        """The critic's values (n,); it sees ``hands`` too if it is privileged."""
        if self.config.critic == "privileged":
            bits = torch.from_numpy(_hand_bits(hands, self.game))
            seen = torch.cat((seen, bits), dim=1)
        return self.agent.critic(seen)[:, 0]  # type: ignore[no-any-return]

    # -------------------------------------------------------------- an iteration

    def iterate(self, share: float) -> dict[str, float]:
        """Play one episode at every table and learn from it.

        Args:
            share: Share of the run that is done, 0 to 1; the learning rate follows it.

        Returns:
            Losses and other numbers, for logs.
        """
        config = self.config
        head = self.in_head
        self.generator.manual_seed((config.seed << 32) + self.iteration)
        if head and self.head_tables is not None:
            imitated = config.head_start == "imitate"
            played = self.head_tables.play(
                self.iteration,
                self.choose,
                *self._opponents(self.head_tables.num_tables),
                teacher=self.teacher,
                values=not imitated,
                advice=config.head_follow > 0,
                random=self.iteration,
            )
            done = max(self.steps / config.head_steps, share)
            self._set_rate(config.head_rate * max(0.1, 1.0 - 0.9 * done))
            stats = self._learn_from_teacher(played)
        else:
            players = self._opponents(self.tables.num_tables)
            played = self.tables.play(self.iteration, self.choose, *players)
            self._set_rate(config.learning_rate * max(0.0, 1.0 - share))
            stats = self._learn(played)
        if not all(math.isfinite(stats[name]) for name in ("policy_loss", "value_loss")):
            raise ValueError(
                "the loss is no number any more; the last checkpoint stands, for a run with a lower rate"
            )
        words = played.decisions.words
        self.ever |= np.bitwise_or.reduce(words, axis=0)
        self.always &= np.bitwise_and.reduce(words, axis=0)
        self.iteration += 1
        self.steps += played.taken
        if head and self.steps >= config.head_steps:
            self.in_head = False
            self.optimizer = self._new_optimizer()
        if not head and PAST in config.opponents and self.iteration % config.past_every == 0:
            self.past = [*self.past, self.net()][-config.past_size :]
        return stats

    def _set_rate(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def _opponents(self, count: int) -> tuple[list[Any], np.ndarray[Any, Any] | None]:
        """The other players of this iteration at ``count`` tables, and who of them sits where."""
        config = self.config
        rng = np.random.default_rng((config.seed, self.iteration))
        bots: list[Any] = []
        for name in config.opponents:
            if name != PAST:
                bots.append(as_bot(name))
            elif self.past:
                chosen = self.past[rng.integers(len(self.past))]
                bots.append(nets.NetBot(chosen, PAST, temperature=1.0, compiled=False))
        if not bots:
            return [], None
        who = np.zeros((count, NUM_SEATS), np.int8)
        met = np.flatnonzero(rng.random(count) < config.opponent_share)
        for table in met:
            seats = config.opponent_seats or rng.integers(1, NUM_SEATS)
            who[table, rng.permutation(NUM_SEATS)[:seats]] = 1 + rng.integers(len(bots))
        return bots, who

    def _minibatches(self, count: int, size: int) -> list[Any]:
        """Indices of the gradient steps of one pass; all of about the same size, and none of a single decision unless it is the only one."""
        order = torch.randperm(count, generator=self.generator).numpy()
        return np.array_split(order, max(1, min(round(count / size), count // 2)))

    def _step(self, loss: torch.Tensor) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), self.config.max_norm)
        self.optimizer.step()

    def _learn(self, played: Played) -> dict[str, float]:
        """PPO on one iteration's decisions."""
        config, made = self.config, played.decisions
        count = len(made.actions)
        old_values = np.concatenate([self._old_values(made, i) for i in range(0, count, 2048)])
        advantage = advantages(made, old_values, played.rewards, config.gamma, config.gae_lambda)
        target = torch.from_numpy(advantage + old_values)
        advantage_of, old_log = torch.from_numpy(advantage), torch.from_numpy(made.log_probs)
        actions = torch.from_numpy(made.actions)
        sums = np.zeros(4)
        steps = 0
        for _ in range(config.epochs):
            for rows in self._minibatches(count, config.minibatch):
                seen, mask = self.observed(made.words[rows]), self.mask(made.legal[rows])
                hidden = self.agent.policy.hidden(seen)
                logits = self.agent.policy.linears[-1](hidden).masked_fill(~mask, -1e9)
                log_probs = logits.log_softmax(dim=1)
                taken = log_probs.gather(1, actions[rows][:, None])[:, 0]
                entropy = -(log_probs.exp() * log_probs).sum(dim=1).mean()
                ratio = (taken - old_log[rows]).exp()
                gain = advantage_of[rows]
                gain = (gain - gain.mean()) / (gain.std(correction=min(1, len(gain) - 1)) + 1e-8)
                clipped = ratio.clamp(1.0 - config.clip, 1.0 + config.clip)
                policy_loss = -torch.minimum(ratio * gain, clipped * gain).mean()
                hands = made.hands[rows]
                error = (self.values(seen, hands) - target[rows]).square().mean()
                loss = policy_loss - config.entropy * entropy + config.value * error
                if self.agent.belief is not None:
                    held = torch.from_numpy(_hand_bits(hands, self.game))
                    guessed = self.agent.belief(hidden)
                    guess = functional.binary_cross_entropy_with_logits(guessed, held)
                    loss = loss + config.belief * guess
                self._step(loss)
                moved = (old_log[rows] - taken).mean()
                sums += [float(x.detach()) for x in (policy_loss, error, entropy, moved)]
                steps += 1
        names = ("policy_loss", "value_loss", "entropy", "kl")
        stats = dict(zip(names, sums / steps, strict=True))
        degree = min(1, count - 1)
        spread = float(target.var(correction=degree)) or 1.0
        left = (target - torch.from_numpy(old_values)).var(correction=degree)
        stats["explained"] = 1.0 - float(left) / spread
        return stats

    def _old_values(self, made: Decisions, first: int) -> Any:
        part = slice(first, first + 2048)
        with torch.no_grad():
            return self.values(self.observed(made.words[part]), made.hands[part]).numpy()

    def _learn_from_teacher(self, played: Played) -> dict[str, float]:
        """Passes over decisions that a teacher has judged; the critic learns in the first, and numbers are from it."""
        config, made = self.config, played.decisions
        by_values = config.head_start == "playouts"  # else the teacher's choices
        returns = advantages(
            made, np.zeros(len(made.actions), np.float32), played.rewards, 1.0, 1.0
        )
        sums, steps = np.zeros(3), 0
        passes = [
            self._minibatches(len(made.actions), config.head_minibatch)
            for _ in range(config.head_epochs)
        ]
        for number, rows in enumerate(itertools.chain(*passes)):
            seen, mask = self.observed(made.words[rows]), self.mask(made.legal[rows])
            logits = self.agent.policy(seen)
            taught = torch.from_numpy(made.taught[rows])
            share = mask / mask.sum(dim=1, keepdim=True)
            if by_values:
                over_mean = taught - (taught * share).sum(dim=1, keepdim=True)
                if config.head_loss == "fit":
                    given = logits - (logits * share).sum(dim=1, keepdim=True)
                    off = given - over_mean / config.temperature
                    policy_loss = (off.square() * share).sum(dim=1).mean()
                else:
                    log_probs = logits.masked_fill(~mask, -1e9).log_softmax(dim=1)
                    chances = log_probs.exp()
                    entropy = -(chances * log_probs).sum(dim=1).mean()
                    gain = (chances * over_mean).sum(dim=1)
                    if config.head_range is not None:
                        highest = over_mean.masked_fill(~mask, -math.inf).amax(dim=1)
                        lowest = over_mean.masked_fill(~mask, math.inf).amin(dim=1)
                        gain = gain * (config.head_range / (highest - lowest)).clamp(max=1.0)
                    gain = gain.mean()
                    policy_loss = -gain / config.temperature - config.entropy * entropy
                    if config.head_follow > 0:
                        advised = torch.from_numpy(made.advised[rows])[:, None]
                        policy_loss -= config.head_follow * log_probs.gather(1, advised).mean()
            else:
                log_probs = logits.masked_fill(~mask, -1e9).log_softmax(dim=1)
                policy_loss = -(log_probs * taught).sum(dim=1).mean()
            if number >= len(passes[0]):
                self._step(policy_loss)
                continue
            if by_values:
                chances = logits.detach().masked_fill(~mask, -1e9).softmax(dim=1)
                target = (chances * taught).sum(dim=1) - torch.from_numpy(made.before[rows])
            else:
                target = torch.from_numpy(returns[rows])
            error = torch.zeros(())
            if config.value > 0:
                error = (self.values(seen, made.hands[rows]) - target).square().mean()
            self._step(policy_loss + config.value * error)
            best = taught.masked_fill(~mask, -1e9).argmax(dim=1)
            alike = (logits.masked_fill(~mask, -1e9).argmax(dim=1) == best).float().mean()
            sums += [float(x.detach()) for x in (policy_loss, error, alike)]
            steps += 1
        return dict(zip(("policy_loss", "value_loss", "alike"), sums / steps, strict=True))

    # -------------------------------------------------------------- what it has become

    def net(self, **about: Any) -> nets.Net:
        """The policy as it is now, with its critic.

        Inputs that never changed in the training say nothing: those that were always set become part of the bias, and their weights
        and those of inputs that were never set become 0. So a net trained on deals can play in a match.
        """
        layers, critic = self.agent.policy.arrays(), self.agent.critic.arrays()
        always = nets.unpack(self.always[None], self.inputs)[0] > 0
        never = nets.unpack(self.ever[None], self.inputs)[0] == 0
        if self.iteration:
            for weight, bias in (layers[0], critic[0]):
                bias += weight[: self.inputs][always].sum(axis=0)
                weight[: self.inputs][always | never] = 0.0
        facts = {
            "game": self.game.name,
            "layout": nets.layout_hash(self.game),
            "critic": self.config.critic,
            "envs": [setup.id for setup in self.plain],
            "steps": self.steps,
            **about,
        }
        weights, biases = zip(*layers, strict=True)
        return nets.Net(weights, biases, tuple(critic), facts)

    def state(self) -> dict[str, Any]:
        """All that the run needs to go on exactly as it would have."""
        return {
            "inputs": self.inputs,
            "agent": self.agent.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "iteration": self.iteration,
            "steps": self.steps,
            "in_head": self.in_head,
            "init": self.config.init,
            "stages": self.stages,
            "ever": torch.from_numpy(self.ever.view(np.int64)),
            "always": torch.from_numpy(self.always.view(np.int64)),
            "past": [
                [torch.from_numpy(array) for array in (*net.weights, *net.biases)]
                for net in self.past
            ],
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state` gave."""
        self.in_head = state["in_head"]
        self.config = replace(self.config, init=state["init"])
        self.stages = state["stages"]
        self.agent.load_state_dict(state["agent"])
        self.optimizer = self._new_optimizer()
        self.optimizer.load_state_dict(state["optimizer"])
        self.iteration, self.steps = state["iteration"], state["steps"]
        self.ever = state["ever"].numpy().view(np.uint64)
        self.always = state["always"].numpy().view(np.uint64)
        self.past = []
        facts = self.net().about
        for saved in state["past"]:
            arrays = [array.numpy() for array in saved]
            half = len(arrays) // 2
            self.past.append(nets.Net(tuple(arrays[:half]), tuple(arrays[half:]), (), facts))


def split(tables: int, weights: Sequence[float]) -> list[int]:
    """Tables of each environment, in proportion to the weights and at least 1; the largest remainders are rounded up."""
    wanted = np.array(weights, float) / sum(weights) * tables
    shares = np.maximum(1, np.floor(wanted).astype(int))
    while shares.sum() < tables:
        shares[(wanted - shares).argmax()] += 1
    while shares.sum() > tables:
        shares[np.where(shares > 1, wanted - shares, np.inf).argmin()] -= 1
    return shares.tolist()  # type: ignore[no-any-return]


def reward_scale(setup: Setup, seed: int) -> float:
    """1 / the standard deviation of a seat's points over the table's mean in an episode among greedy players."""
    game, bot = setup.game, as_bot("greedy").jit(setup.game)
    assert bot is not None
    batch = Batch(setup, SCALE_TABLES, packed=True, autoreset="disabled")
    batch.set_bots((bot,), np.zeros((SCALE_TABLES, NUM_SEATS), np.int8))
    first = SEED_SPACING * (seed + 1) + SEED_SPACING // 2
    batch.buffers.tables["seed"] = first + np.arange(SCALE_TABLES, dtype=np.uint64)
    batch.reset()
    points = np.zeros((SCALE_TABLES, NUM_SEATS))
    rows = np.arange(SCALE_TABLES)
    _returns_driver(game)(batch.config, batch.buffers.states, rows, points)
    points = (points - points.mean(axis=1, keepdims=True)) * game.unit
    return 1.0 / max(float(points.std()), 1e-9)


# ---------------------------------------------------------------------------- a run


def train(
    config: SelfPlayConfig,
    *,
    resume: bool = False,
    report: Callable[[dict[str, float]], None] | None = None,
    progress: bool = True,
) -> SelfPlayResult:
    """Train, evaluate along the way, and keep checkpoints.

    Args:
        config: The run.
        resume: Continue from ``config.folder`` with its own settings, except ``steps`` and ``minutes``.
        report: Called with each new row of the curve.
        progress: Show a progress bar on a terminal, lines elsewhere.

    Raises:
        FileNotFoundError: Nothing to resume in the folder.
        FileExistsError: The folder holds a run, and neither ``resume`` nor ``overwrite`` is set.
        ValueError: A setting out of range; or the run to resume is on other environments.
    """
    folder = Path(config.folder)
    before, checkpoint = 0.0, None
    curve: list[dict[str, float]] = []
    if resume:
        config, before, curve, checkpoint = _load(config)
    elif (folder / "run.json").exists() and not config.overwrite:
        raise FileExistsError(
            f"{folder} holds a run: resume it, overwrite it, or take another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    run = SelfPlay(config, 0 if checkpoint is None else checkpoint.get("inputs", 0))
    config = run.config
    if checkpoint is not None:
        try:
            run.load_state(checkpoint)
        except (RuntimeError, KeyError, ValueError) as error:
            raise ValueError(f"{folder}: checkpoint.pt does not fit run.json: {error}") from None
    log = _logger(config)
    if not curve:
        _evaluate(run, 0.0, curve, report)
        _save(run, 0.0, curve)
    started = time.monotonic() - before
    begun_steps, begun = run.steps, time.monotonic()
    evaluated = begun
    display = Display(progress)
    try:
        while run.steps < config.steps:
            seconds = time.monotonic() - started
            share = run.steps / config.steps
            if config.minutes is not None:
                share = max(share, seconds / (60 * config.minutes))
            if share >= 1.0:
                break
            stats = run.iterate(share)
            rate = (run.steps - begun_steps) / (time.monotonic() - begun)
            display.update(share, run.steps, rate, stats, curve[-1])
            log(run.steps, {**stats, "rate": rate})
            if time.monotonic() - evaluated >= config.eval_every and run.steps < config.steps:
                log(run.steps, _evaluate(run, time.monotonic() - started, curve, report))
                _save(run, time.monotonic() - started, curve)
                evaluated = time.monotonic()
    finally:  # interrupted: the latest checkpoint stands, and can be resumed
        display.close()
    if curve[-1]["steps"] != run.steps:
        log(run.steps, _evaluate(run, time.monotonic() - started, curve, report))
    seconds = time.monotonic() - started
    _save(run, seconds, curve)
    plot_curve(curve, config.eval_against, folder / "curve.png")
    net = run.net(stages=[*run.stages, _stage(run, seconds, curve)])
    return SelfPlayResult(net, nets.NetBot(net, "agent"), curve, folder, seconds, run.steps)


def _evaluate(
    run: SelfPlay,
    seconds: float,
    curve: list[dict[str, float]],
    report: Callable[[dict[str, float]], None] | None,
) -> dict[str, float]:
    """Add a row to the curve: over each environment's suite, the net against three of each bot."""
    from baselines.evaluate import score_against

    row = {"seconds": seconds, "steps": float(run.steps)}
    bot = nets.NetBot(run.net(), "agent", compiled=False)
    for other in run.config.eval_against:
        deals = run.config.eval_deals
        scores = [score_against(env, bot, other, deals=deals, progress=False) for env in run.plain]
        if len(scores) > 1:
            for setup, (mean, _) in zip(run.plain, scores, strict=True):
                row[f"{other}/{setup.variant}"] = mean
        row[f"{other}_mean"] = float(np.mean([mean for mean, _ in scores]))
        halves = np.array([half for _, half in scores])
        row[f"{other}_ci95"] = float(np.sqrt((halves**2).sum()) / len(halves))
    curve.append(row)
    if report is not None:
        report(row)
    return row


def _stage(run: SelfPlay, seconds: float, curve: list[dict[str, float]]) -> dict[str, Any]:
    """What a net's file says of this run; of the runs before, from whose nets it started, it has a record each."""
    return {
        "config": _settings(run),
        "command": as_command(run.config),
        "steps": run.steps,
        "seconds": round(seconds),
        "evaluation": curve[-1],
        "machine": platform.machine(),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
        },
    }


#: Settings that the command line has flags for, by flag; the teacher's flag says what is learned of it.
_FLAGS = {
    "--weights": "weights",
    "--opponents": "opponents",
    "--steps": "steps",
    "--minutes": "minutes",
    "--seed": "seed",
    "--init": "init",
    "--tables": "tables",
    "--learning-rate": "learning_rate",
}
#: Settings that change nothing about the net.
_ASIDE = ("folder", "overwrite", "log", "torch_threads", "eval_every", "eval_deals", "eval_against")


def as_command(config: SelfPlayConfig) -> str:
    """The command that trains with these settings."""
    plain = SelfPlayConfig()
    setups = [setup_for(env, **config.options) for env in config.envs]
    words = ["trick-envs", "train", *(setup.id for setup in setups)]
    told_of = [
        _told(env, setup, config.options) for env, setup in zip(config.envs, setups, strict=True)
    ]
    if all(each == told_of[0] for each in told_of):  # else no command says it
        for name, value in told_of[0].items():
            words += ["--option", f"{name}={json.dumps(value)}"]
    words += ["--trainer", "self-play", "--steps", str(config.steps)]
    told = {*_ASIDE, "envs", "options", "steps", "head_start", "teacher", "head_steps"}
    if config.head_start != "none":
        words += [f"--{config.head_start}", config.teacher, "--head-steps", str(config.head_steps)]
    for flag, name in _FLAGS.items():
        value = getattr(config, name)
        if name not in told and value != getattr(plain, name):
            words += [flag, *map(str, value if isinstance(value, tuple) else (value,))]
        told.add(name)
    for name, value in vars(config).items():
        if name not in told and value != getattr(plain, name):
            words += ["--set", f"{name}={json.dumps(value)}"]
    return shlex.join(words)


def _written(options: dict[str, Any], setup: Setup) -> dict[str, Any]:
    """Options as JSON holds them and as the environment takes them again: a contract row as the mapping of its fields."""
    return {name: setup.options[name] for name in options}


def _told(env: Any, setup: Setup, options: dict[str, Any]) -> dict[str, Any]:
    """The options that a command must give: those of the run, and of a setup all that its id does not say."""
    if isinstance(env, str):
        return _written(options, setup)
    try:
        own = setup_for(setup.id).options
    except TypeError:  # a user's row has no id of its own
        own = {}
    return {name: value for name, value in setup.options.items() if own.get(name) != value}


def _settings(run: SelfPlay) -> dict[str, Any]:
    names = [each.name for each in fields(run.config)]
    return {name: getattr(run.config, name) for name in names} | {
        "envs": [setup.id for setup in run.plain],
        "options": _written(run.config.options, run.plain[0]),
    }


def _save(run: SelfPlay, seconds: float, curve: list[dict[str, float]]) -> None:
    """Write net, checkpoint, curve and settings, each whole and renamed into place."""
    folder = Path(run.config.folder)
    run.net(stages=[*run.stages, _stage(run, seconds, curve)]).save(folder / "net.npz")
    temporary = folder / f"checkpoint.{os.getpid()}.tmp.pt"
    torch.save(run.state(), temporary)
    temporary.replace(folder / "checkpoint.pt")
    state: dict[str, Any] = {"config": _settings(run), "seconds": seconds, "curve": curve}
    state["setups"] = [setup.options for setup in run.plain]
    temporary = folder / f"run.{os.getpid()}.tmp.json"
    temporary.write_text(json.dumps(state, indent=1, default=str))
    temporary.replace(folder / "run.json")
    with (folder / "curve.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(curve[0]))
        writer.writeheader()
        writer.writerows(curve)


def _load(
    config: SelfPlayConfig,
) -> tuple[SelfPlayConfig, float, list[dict[str, float]], dict[str, Any]]:
    """What the run in a folder was: its settings but for those that ``config`` sets anew, its seconds, curve and checkpoint.

    Raises:
        FileNotFoundError: There is none.
        ValueError: A file is damaged, or the run is on other environments.
    """
    folder = Path(config.folder)
    file = folder / "run.json"
    try:
        state = json.loads(file.read_text())
        kept = dict(state["config"])
        seconds = check_number("seconds", state["seconds"])
        curve = [{str(k): check_number(k, v) for k, v in row.items()} for row in state["curve"]]
        asked = [setup_for(env, **config.options).id for env in config.envs]
        if asked != kept["envs"]:
            raise ValueError(f"{folder} holds a run on {', '.join(kept['envs'])}, not on {asked}")
        setups = [setup_for(env, **kept["options"]).options for env in config.envs]
        setups = json.loads(json.dumps(setups))  # as the file holds them
        if setups != state.get("setups", setups):
            raise ValueError(
                f"{folder} holds a run on {', '.join(kept['envs'])} with other options"
            )
        if curve and any(f"{name}_mean" not in curve[0] for name in kept["eval_against"]):
            raise ValueError("eval_against: the curve has others")
        kept.update(steps=config.steps, minutes=config.minutes, folder=config.folder)
        kept.update(overwrite=config.overwrite, envs=config.envs, init=None)
        for name, value in kept.items():
            if isinstance(value, list):
                kept[name] = tuple(value)
        config = replace(config, **kept)
        checkpoint = torch.load(folder / "checkpoint.pt", weights_only=True)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"nothing to resume in {folder}: no {error.filename}") from None
    except Exception as error:
        raise ValueError(f"{folder} holds no run that can be resumed: {error}") from error
    return config, seconds, curve, checkpoint


def _logger(config: SelfPlayConfig) -> Callable[[int, dict[str, float]], None]:
    """A function ``(steps, numbers)`` that hands numbers to the logging library of the run."""
    if config.log == "tensorboard":
        with needs("logs"):
            from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter(config.folder)

        def to_tensorboard(steps: int, numbers: dict[str, float]) -> None:
            for name, value in numbers.items():
                writer.add_scalar(name, value, steps)

        return to_tensorboard
    if config.log == "wandb":
        with needs("logs"):
            import wandb
        session = wandb.init(project="trick-envs", config=vars(config))
        return lambda steps, numbers: session.log(numbers, step=steps)
    return lambda steps, numbers: None


class Display:
    """A progress bar with speed, losses and the last evaluation; a line now and then where there is no terminal."""

    def __init__(self, shown: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._console = Console(stderr=True)
        self._lines = shown and not self._console.is_terminal
        self._next_line = 0.0
        self._bar = Progress(
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=self._console,
            disable=not (shown and self._console.is_terminal),
        )
        self._task = self._bar.add_task("training", total=1.0, note="")
        self._bar.start()

    def update(
        self,
        share: float,
        steps: int,
        rate: float,
        stats: dict[str, float],
        row: dict[str, float],
    ) -> None:
        """Show the share that is done, 0 to 1."""
        losses = " ".join(f"{name} {value:.3g}" for name, value in stats.items())
        scores = ", ".join(
            f"{name[:-5]} {value:+.1f}" for name, value in row.items() if name.endswith("_mean")
        )
        note = f"{steps:,} decisions, {rate:,.0f}/s; {losses}; over {scores}"
        self._bar.update(self._task, completed=min(share, 1.0), note=note)
        if self._lines and share >= self._next_line:
            self._console.print(f"{share:4.0%}  {note}", soft_wrap=True)
            self._next_line = (int(share * 50) + 1) / 50

    def close(self) -> None:
        self._bar.stop()


def plot_curve(curve: list[dict[str, float]], against: Sequence[str], file: Path) -> None:
    """The learning curve as a PNG: points a deal over the table's mean, with 95 % intervals."""
    with needs("train"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    decisions = [row["steps"] / 1e6 for row in curve]
    for name in against:
        mean = np.array([row[f"{name}_mean"] for row in curve])
        half = np.array([row[f"{name}_ci95"] for row in curve])
        axes.plot(decisions, mean, marker="o", label=f"against three {name}")
        axes.fill_between(decisions, mean - half, mean + half, alpha=0.2)
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set_xlabel("million decisions")
    axes.set_ylabel("points a deal over the table's mean")
    axes.legend()
    figure.savefig(file, dpi=120)
