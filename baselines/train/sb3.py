"""MaskablePPO (Stable-Baselines3, sb3-contrib) on the native vector environment.

One learner sits at each table, bots around it. The tables are stepped by one kernel call, through a real
SB3 ``VecEnv``; there is no loop over Python environments. Rewards are points relative to the table, scaled so that
a contract is worth 4 in all.

    from baselines.train.sb3 import TrainConfig, train
    result = train(TrainConfig(env="bolola/hearts-v0", opponents="greedy", minutes=3))

Two torch threads beside a busy core are slower than one; ``torch_threads`` is 1 unless told otherwise.
"""

from __future__ import annotations

import csv
import json
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from baselines.extras import needs
from trick_core.bots import BatchView, Bot, View, as_bot
from trick_core.bots import make_bot as make_known_bot
from trick_core.game import Setup, check_integer, check_number, setup_for

with needs("train"):
    import torch
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecEnv

#: Training draws its tables' seeds from here on, ``SEED_SPACING`` apart for different seeds.
SEED_SPACING = 1 << 32
#: Where the deals of an imitation lie in a seed's space.
IMITATION = 1 << 31


#: Whole-number settings, and the least that each may be.
_LEAST = {
    "seed": 0,
    "steps": 1,
    "tables": 1,
    "rollout": 1,
    "minibatch": 2,
    "epochs": 1,
    "eval_deals": 2,
    "torch_threads": 1,
}
#: The other numbers, and where they must lie.
_RANGES = {
    "minutes": (0.0, math.inf),
    "imitate_seconds": (0.0, math.inf),
    "eval_every": (0.0, math.inf),
    "learning_rate": (0.0, 1.0),
    "gamma": (0.0, 1.0),
    "gae_lambda": (0.0, 1.0),
    "clip": (0.0, 1.0),
    "entropy": (0.0, math.inf),
}


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides a run.

    Attributes:
        env: Environment id (``"bolola/hearts-v0"``), or a setup, as ``make_setup(row)`` makes of a user's contract row.
        options: Further options of the environment.
        opponents: Bots around the learner; one name, or three.
        steps: Decisions of the learner in all.
        minutes: Stop after this much wall-clock time, with the learning rate reaching 0 then; None: by steps alone.
        imitate: Bot whose choices the network learns first (behaviour cloning); None: from scratch.
        imitate_seconds: Time for that.
        seed: Seed of the network, of the sampling and (spaced) of the deals.
        tables: Tables stepped together.
        rollout: Decisions a table between updates (13: one deal of Bolola).
        minibatch: Decisions a gradient step.
        epochs: Passes over a rollout.
        learning_rate: Adam's, at the start; it falls linearly to 0.
        gamma: Discount.
        gae_lambda: Weight of longer returns.
        clip: PPO's clipping range.
        entropy: Weight of the entropy bonus.
        layers: Hidden units of the policy and of the value network.
        eval_every: Seconds between evaluations.
        eval_deals: Deals of the suite that are played at an evaluation, each in four rotations.
        eval_against: Bots that the learner is evaluated against.
        folder: Where checkpoint, curve and settings are written.
        overwrite: Whether a run that the folder holds may be lost.
        torch_threads: Threads that torch may use.
    """

    env: Any = "bolola/hearts-v0"
    options: dict[str, Any] = field(default_factory=dict)
    opponents: str | Sequence[str] = "greedy"
    steps: int = 1_000_000
    minutes: float | None = None
    imitate: str | None = None
    imitate_seconds: float = 60.0
    seed: int = 0
    tables: int = 256
    rollout: int = 13
    minibatch: int = 512
    epochs: int = 2
    learning_rate: float = 1e-3
    gamma: float = 1.0
    gae_lambda: float = 0.8
    clip: float = 0.2
    entropy: float = 0.005
    layers: tuple[int, ...] = (256, 256)
    eval_every: float = 30.0
    eval_deals: int = 100
    eval_against: tuple[str, ...] = ("random", "greedy")
    folder: str = "runs/train"
    overwrite: bool = False
    torch_threads: int = 1

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            # As Python's own, which JSON takes.
            object.__setattr__(self, name, check_integer(name, getattr(self, name), least))
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if name == "minutes" and value is None:
                continue
            if not low <= check_number(name, value) <= high:
                limits = f"{low:g} to {high:g}" if math.isfinite(high) else f"{low:g} or more"
                raise ValueError(f"{name}: expected {limits}, got {value!r}")
            object.__setattr__(self, name, float(value))
        for name in ("minutes", "imitate_seconds", "eval_every", "learning_rate", "clip"):
            if getattr(self, name) == 0:
                raise ValueError(f"{name}: expected more than 0, got 0")
        if self.tables * self.rollout < 2:
            raise ValueError(
                "tables x rollout: expected 2 decisions or more between updates, got 1"
            )
        if (self.tables * self.rollout) % self.minibatch == 1:  # SB3 divides by its deviation
            raise ValueError(
                f"minibatch: {self.minibatch} leaves a last one of a single decision from {self.tables} x {self.rollout}; "
                "take another, or other tables"
            )
        if self.seed >= 1 << 32:  # what NumPy's and SB3's generators take
            raise ValueError(f"seed: expected an integer below 2**32, got {self.seed!r}")
        if not isinstance(self.layers, (list, tuple)) or not all(
            type(units) is int and units > 0 for units in self.layers
        ):
            raise ValueError(f"layers: expected positive integers, got {self.layers!r}")
        if not isinstance(self.eval_against, (list, tuple)) or not self.eval_against:
            raise ValueError(f"eval_against: expected names of bots, got {self.eval_against!r}")
        opponents = _names(self.opponents)
        if len(opponents) not in (1, 3):
            raise ValueError(f"opponents: expected one bot or three, got {self.opponents!r}")
        # An unknown bot is found before any work.
        for bot in (*opponents, *_names(self.imitate), *self.eval_against):
            as_bot(bot)


def _names(bots: Any) -> list[Any]:
    """One bot, several or none, as a list."""
    if bots is None:
        return []
    return list(bots) if isinstance(bots, (list, tuple)) else [bots]


class TrickVecEnv(VecEnv):
    """The native one-learner vector environment as an SB3 ``VecEnv`` with action masks.

    Observations are the changing part of the observation vector, int8 ``(N, D')``; an episode's last one is in
    ``info["terminal_observation"]``. ``env_method("action_masks")`` gives N masks.
    """

    def __init__(
        self, env: Any, num_envs: int, opponents: Any = "random", seat: Any = "rotate"
    ) -> None:
        from trick_core.learner import LearnerVectorEnv

        setup = setup_for(env)

        self.env = LearnerVectorEnv(
            setup,
            num_envs,
            opponents=opponents,
            seat=seat,
            autoreset_mode=AutoresetMode.SAME_STEP,
        )
        self._size = setup.observed
        self._seed_next: int | None = None
        self._actions: np.ndarray[Any, Any] = np.zeros(num_envs, np.int64)
        self._mask = np.zeros((num_envs, setup.game.num_actions), np.int8)
        super().__init__(
            num_envs,
            spaces.Box(0, 1, (self._size,), np.int8),
            spaces.Discrete(setup.game.num_actions),
        )

    def seed(self, seed: int | None = None) -> list[None]:
        self._seed_next = seed
        return [None] * self.num_envs

    def reset(self) -> np.ndarray[Any, Any]:
        observation, _ = self.env.reset(seed=self._seed_next)
        self._seed_next = None
        return self._take(observation)

    def step_async(self, actions: np.ndarray[Any, Any]) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        observation, rewards, terminated, _, infos = self.env.step(self._actions)
        info: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if terminated.any():
            last = infos["final_obs"]
            for i in np.flatnonzero(terminated).tolist():
                final = last["observation"][i] if isinstance(last, dict) else last[i]["observation"]
                info[i] = {
                    "terminal_observation": final[: self._size],
                    "TimeLimit.truncated": False,
                }
        return self._take(observation), rewards.astype(np.float32), terminated, info

    def _take(self, observation: Any) -> np.ndarray[Any, Any]:
        self._mask = observation["action_mask"]
        return observation["observation"][:, : self._size]  # type: ignore[no-any-return]

    def close(self) -> None:
        self.env.close()

    def has_attr(self, attr_name: str) -> bool:
        return attr_name == "action_masks" or hasattr(self.env, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.env, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise AttributeError(f"{attr_name}: tables of a native vector environment share attributes")

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> list[Any]:
        if method_name != "action_masks":
            raise AttributeError(f"tables have no method {method_name!r} of their own")
        masks = self._mask.astype(np.bool_)
        return [masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]


class SB3Bot(Bot):
    """A trained MaskablePPO as a bot; it plays its most likely action."""

    def __init__(self, model: Any, name: str = "sb3") -> None:
        self.name = name
        self.model = model
        space = model.observation_space
        self._whole = isinstance(space, spaces.Dict)  # trained on the Gymnasium environment
        self._size = (space["observation"] if self._whole else space).shape[0]

    def act(self, view: View) -> int:
        return int(self._choose(view))

    def act_batch(self, views: BatchView) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.asarray(self._choose(views), np.int64)

    def _choose(self, view: View | BatchView) -> Any:
        game = view.game
        if self.model.action_space.n != game.num_actions or self._size > game.layout.size:
            raise ValueError(
                f"bot {self.name!r} was trained for {self.model.action_space.n} actions and {self._size} values of "
                f"observation; {game.name} has {game.num_actions} and {game.layout.size}"
            )
        seen: Any = view["observation"][..., : self._size]
        if self._whole:
            seen = {"observation": seen, "action_mask": view["action_mask"]}
        masks = view["action_mask"].astype(np.bool_)
        return self.model.predict(seen, action_masks=masks, deterministic=True)[0]


def make_bot(argument: str | None) -> Bot:
    """The bot ``sb3:FILE`` for a model that :func:`train` or SB3 has saved."""
    if argument is None:
        raise ValueError("bot 'sb3': expected sb3:FILE with a saved model")
    if not Path(argument).is_file():
        raise ValueError(f"bot 'sb3': there is no file {argument}")
    try:
        model = MaskablePPO.load(argument, device="cpu")
    except Exception as error:
        raise ValueError(f"bot 'sb3': {argument} is not a MaskablePPO model: {error}") from error
    return SB3Bot(model, f"sb3:{Path(argument).name}")


@dataclass
class TrainResult:
    """What a run leaves.

    Attributes:
        model: The trained MaskablePPO.
        bot: The model as a bot.
        curve: Rows of the learning curve: seconds, steps, and mean and half-width of the 95 % interval, points a deal
            relative to the table, against each bot.
        folder: Where ``model.zip``, ``curve.csv``, ``curve.png`` and ``run.json`` are.
        seconds: Wall-clock time of training, evaluations included.
        steps: Decisions taken.
    """

    model: Any
    bot: SB3Bot
    curve: list[dict[str, float]]
    folder: Path
    seconds: float
    steps: int


def train(
    config: TrainConfig,
    *,
    resume: bool = False,
    report: Callable[[dict[str, float]], None] | None = None,
    progress: bool = True,
) -> TrainResult:
    """Train, evaluate along the way, and keep a checkpoint.

    Args:
        config: The run.
        resume: Continue from ``config.folder`` with its own settings, except ``steps`` and ``minutes``.
        report: Called with each new row of the curve.
        progress: Show a progress bar on a terminal.

    Raises:
        FileNotFoundError: Nothing to resume in the folder.
        FileExistsError: The folder holds a run, and neither ``resume`` nor ``overwrite`` is set.
        ValueError: A setting out of range; or the run to resume is on another environment.
    """
    torch.set_num_threads(config.torch_threads)
    folder = Path(config.folder)
    seconds_before = 0.0
    curve: list[dict[str, float]] = []
    if resume:
        config, seconds_before, curve = _load_state(folder, config)
    elif (folder / "run.json").exists() and not config.overwrite:
        raise FileExistsError(
            f"{folder} holds a run: resume it, overwrite it, or take another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    setup = training_setup(config)
    env = TrickVecEnv(setup, config.tables, _opponents(config.opponents))
    env.reset()  # compile before the clock starts
    clock = _Clock(config, seconds_before)
    if resume:
        model = _load_model(folder / "model.zip", env)
        model.learning_rate = clock.learning_rate
        model._setup_lr_schedule()
        # Deals go on where they cannot meet those of the first part.
        env.seed(SEED_SPACING * (config.seed + 1) + model.num_timesteps * config.tables)
    else:
        model = new_model(config, env, clock.learning_rate)
    observer = _Observer(config, setup, clock, curve, folder, report, progress)
    if not curve:
        observer.evaluate(model)
        clock.restart()
        if config.imitate is not None:
            observer.imitate(model, setup)
    remaining = config.steps - model.num_timesteps
    try:
        if remaining > 0 and not clock.is_over():
            model.learn(remaining, callback=observer, reset_num_timesteps=not resume)
    except KeyboardInterrupt:  # keep what there is; the folder can be resumed
        pass
    finally:
        observer.close()
    observer.evaluate(model)
    observer.save(model)
    plot_curve(curve, config.eval_against, folder / "curve.png")
    env.close()
    return TrainResult(
        model, SB3Bot(model, "agent"), curve, folder, clock.seconds(), model.num_timesteps
    )


def new_model(config: TrainConfig, env: VecEnv, learning_rate: Callable[[float], float]) -> Any:
    """The MaskablePPO that a run begins with, its tables seeded.

    Args:
        config: The run.
        env: Its tables.
        learning_rate: Adam's, called by SB3 before every update with the share of its own steps that is left.
    """
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=learning_rate,
        n_steps=config.rollout,
        batch_size=config.minibatch,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=config.entropy,
        policy_kwargs={"net_arch": list(config.layers), "activation_fn": torch.nn.ReLU},
        seed=config.seed,
        device="cpu",
    )
    env.seed(SEED_SPACING * (config.seed + 1))  # SB3 has just seeded them with the run's own seed
    return model


def training_setup(config: TrainConfig) -> Setup:
    """The environment with the rewards that training uses."""
    plain = setup_for(config.env, **config.options)
    scale = 4.0 / max(plain.largest_return, 1.0)
    return setup_for(config.env, **{"zero_sum": True, "reward_scale": scale, **config.options})


def _identity(env: Any) -> str:
    """What a run's file calls its environment."""
    return env if isinstance(env, str) else setup_for(env).id


def _opponents(names: str | Sequence[str]) -> Any:
    return names if isinstance(names, str) else list(names)


def _load_state(
    folder: Path, config: TrainConfig
) -> tuple[TrainConfig, float, list[dict[str, float]]]:
    """What the run in a folder was: its settings but for those that ``config`` sets anew, its seconds and its curve.

    Raises:
        FileNotFoundError: There is none.
        ValueError: ``run.json`` is not as :meth:`_Observer.save` wrote it.
    """
    file = folder / "run.json"
    try:
        state = json.loads(file.read_text())
        kept, seconds = dict(state["config"]), check_number("seconds", state["seconds"])
        curve = [{str(k): check_number(k, v) for k, v in row.items()} for row in state["curve"]]
        kept.update(steps=config.steps, minutes=config.minutes, folder=config.folder)
        kept.update(overwrite=config.overwrite)
        asked, held = _identity(config.env), kept["env"]
        if asked != held:
            raise ValueError(f"{folder} holds a run on {held}, not on {asked}")
        written = json.loads(json.dumps(setup_for(config.env, **kept["options"]).options))
        if written != state.get("setup", written):
            raise ValueError(f"{folder} holds a run on {held} with other options")
        if curve and any(f"{name}_mean" not in curve[0] for name in kept["eval_against"]):
            raise ValueError("eval_against: the curve has others")
        kept["env"] = config.env
        kept["layers"] = tuple(kept["layers"])
        kept["eval_against"] = tuple(kept["eval_against"])
        config = replace(config, **kept)
    except FileNotFoundError:
        raise FileNotFoundError(f"nothing to resume in {folder}: no run.json") from None
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise ValueError(f"{file} is not a run's state: {error!r}") from None
    if not (folder / "model.zip").is_file():
        raise FileNotFoundError(f"nothing to resume in {folder}: no model.zip")
    return config, seconds, curve


def _load_model(file: Path, env: Any) -> Any:
    """The model of a checkpoint.

    Raises:
        ValueError: The file is damaged, or the model is for another environment.
    """
    try:
        return MaskablePPO.load(file, env=env, device="cpu")
    except Exception as error:
        raise ValueError(f"{file} is not this run's model: {error}") from error


class _Clock:
    """Time and steps of a run, and the learning rate that follows from them."""

    def __init__(self, config: TrainConfig, before: float) -> None:
        self._start = time.monotonic() - before
        self._budget = None if config.minutes is None else config.minutes * 60
        self._rate = config.learning_rate

    def seconds(self) -> float:
        return time.monotonic() - self._start

    def restart(self) -> None:
        """Count from now on: what was before is compiling."""
        self._start = time.monotonic()

    def is_over(self) -> bool:
        return self._budget is not None and self.seconds() >= self._budget

    def share(self, steps_share: float) -> float:
        """Share of the run that is done, 0 to 1, by steps or by time, whichever is ahead."""
        if self._budget is None:
            return steps_share
        return max(steps_share, min(1.0, self.seconds() / self._budget))

    def learning_rate(self, steps_left: float) -> float:
        return self._rate * max(0.0, 1.0 - self.share(1.0 - steps_left))


class _Observer(BaseCallback):
    """Evaluation, checkpoints and the progress display."""

    def __init__(
        self,
        config: TrainConfig,
        setup: Setup,
        clock: _Clock,
        curve: list[dict[str, float]],
        folder: Path,
        report: Callable[[dict[str, float]], None] | None,
        progress: bool,
    ) -> None:
        super().__init__()
        self._config, self._setup, self._clock = config, setup, clock
        self._curve, self._folder, self._report = curve, folder, report
        self._next = self._begun = 0.0
        self._display = Display(config.steps, progress)
        self._steps_begun = 0

    def _on_training_start(self) -> None:
        self._steps_begun = self.model.num_timesteps
        self._begun = self._clock.seconds()
        self._next = self._begun + self._config.eval_every

    def _on_rollout_end(self) -> None:
        steps = self.model.num_timesteps
        done = self._clock.share(steps / self._config.steps)
        seconds = max(self._clock.seconds() - self._begun, 1e-9)
        rate = (steps - self._steps_begun) / seconds
        self._display.update(done, steps, rate, self._curve[-1] if self._curve else {})

    def _on_step(self) -> bool:
        if self._clock.is_over():
            return False
        if self._clock.seconds() >= self._next:
            self.evaluate(self.model)
            self.save(self.model)
            self._next = self._clock.seconds() + self._config.eval_every
        return True

    def imitate(self, model: Any, setup: Setup) -> None:
        """Fit the network to a bot's choices before PPO begins."""
        from baselines.train.imitate import imitate

        config = self._config
        seconds = config.imitate_seconds
        if config.minutes is not None:
            seconds = min(seconds, config.minutes * 60)
        imitate(
            model.policy,
            setup,
            make_known_bot(str(config.imitate)),
            size=setup.observed,
            seconds=seconds,
            seed=SEED_SPACING * (config.seed + 1) + IMITATION,
            tables=config.tables,
            minibatch=config.minibatch,
            progress=lambda share, same: self._display.update(
                self._clock.share(0.0),
                0,
                0.0,
                {},
                f"imitating {config.imitate}, {share:.0%}: {same:.0%} alike",
            ),
        )
        self.evaluate(model, after_imitation=True)

    def evaluate(self, model: Any, after_imitation: bool = False) -> None:
        """Add a row to the curve."""
        from baselines.evaluate import score_against

        steps = float(model.num_timesteps)
        if self._curve and self._curve[-1]["steps"] == steps and not after_imitation:
            return
        row = {"seconds": self._clock.seconds() if self._curve else 0.0, "steps": steps}
        bot = SB3Bot(model, "agent")
        for other in self._config.eval_against:
            mean, half = score_against(
                setup_for(self._config.env, **self._config.options),
                bot,
                other,
                deals=self._config.eval_deals,
            )
            row[f"{other}_mean"], row[f"{other}_ci95"] = mean, half
        self._curve.append(row)
        if self._report is not None:
            self._report(row)

    def save(self, model: Any) -> None:
        """Write model, curve and settings, each whole and renamed into place."""
        new = self._folder / f"model.{os.getpid()}.tmp.zip"
        model.save(new)
        new.replace(self._folder / "model.zip")
        settings = asdict(self._config)
        if not isinstance(self._config.env, str):
            settings["env"] = self._setup.id
        state = {"config": settings, "seconds": self._clock.seconds(), "curve": self._curve}
        state["setup"] = setup_for(self._config.env, **self._config.options).options
        temporary = self._folder / f"run.{os.getpid()}.tmp.json"
        temporary.write_text(json.dumps(state, indent=1, default=str))
        temporary.replace(self._folder / "run.json")
        with (self._folder / "curve.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(self._curve[0]))
            writer.writeheader()
            writer.writerows(self._curve)

    def close(self) -> None:
        self._display.close()


class Display:
    """A progress bar with the decisions a second and the last evaluation; lines instead where there is no terminal."""

    def __init__(self, steps: int, shown: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._console = Console(stderr=True)
        self._live = shown and self._console.is_terminal
        self._lines = shown and not self._console.is_terminal
        self._next_line = 0.1
        self._bar = Progress(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=self._console,
            disable=not self._live,
        )
        self._task = self._bar.add_task("training", total=1.0, note="")
        self._bar.start()

    def update(
        self, share: float, steps: int, rate: float, row: dict[str, float], note: str | None = None
    ) -> None:
        """Show the share that is done, 0 to 1."""
        scores = ", ".join(
            f"{name[:-5]} {value:+.1f}" for name, value in row.items() if name.endswith("_mean")
        )
        note = note or f"{steps:,} decisions, {rate:,.0f}/s" + (
            f"; against {scores}" if scores else ""
        )
        share = min(share, 1.0)
        self._bar.update(self._task, completed=share, note=note)
        if self._lines and share >= self._next_line:
            self._console.print(f"training {share:4.0%}  {note}")
            self._next_line = (int(share * 10) + 1) / 10

    def close(self) -> None:
        self._bar.stop()


def plot_curve(curve: list[dict[str, float]], against: Sequence[str], file: Path) -> None:
    """The learning curve as a PNG: points a deal relative to the table, with 95 % intervals."""
    with needs("train"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    minutes = [row["seconds"] / 60 for row in curve]
    for name in against:
        mean = np.array([row[f"{name}_mean"] for row in curve])
        half = np.array([row[f"{name}_ci95"] for row in curve])
        axes.plot(minutes, mean, marker="o", label=f"against three {name}")
        axes.fill_between(minutes, mean - half, mean + half, alpha=0.2)
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set_xlabel("minutes")
    axes.set_ylabel("points a deal, relative to the table")
    axes.legend()
    figure.savefig(file, dpi=120)
