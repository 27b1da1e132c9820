"""PPO among bots with Tianshou: ``python -m baselines.train.tianshou bolola/hearts-v0 --opponents greedy``.

:class:`TrickVenv` is one learner a table, many tables, as one of Tianshou's vector environments: a step is one kernel call, where
Tianshou's own take a Python call a table. Rewards are all that fell to the learner until its next decision, so Tianshou's
algorithms apply as they are. For many agents, Tianshou's ``PettingZooEnv`` takes the PettingZoo environments.

Source: Schulman et al., "Proximal Policy Optimization Algorithms", 2017.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete

from baselines.evaluate import score_against
from baselines.extras import needs
from trick_core.bots import Bot, ScoringBot, as_bot
from trick_core.game import setup_for
from trick_core.learner import LearnerVectorEnv

with needs("tianshou"):
    import torch
    from tianshou.algorithm import PPO
    from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Batch, Collector, VectorReplayBuffer
    from tianshou.env import BaseVectorEnv
    from tianshou.utils.net.common import ActionReprNet
    from tianshou.utils.torch_utils import policy_within_training_step

#: The rows of a run are seeded from here on, so far apart for different seeds.
SEED_SPACING = 1 << 32
_ILLEGAL = -1e9  # finite: the last observation of an episode has a mask of zeros


class TrickVenv(BaseVectorEnv):  # type: ignore[misc]
    """N tables with one learner each, for Tianshou's collectors.

    Observations are a ``Batch`` of ``obs`` (int8 (n, D)) and ``mask`` (bool (n, A)), where Tianshou's Q-learning policies look for
    it; infos an array of n dicts with ``env_id`` and ``seat``. Rewards are float64 (n,).

    Args:
        env: Id of the environment, or a setup.
        num_envs: N.
        opponents: One bot, or three, as :class:`trick_core.learner.LearnerVectorEnv` takes them.
        seat: The learner's seat, 0..3 or ``"rotate"``.
        seed: Row i is seeded with seed + i; None: from the operating system.
        num_threads: Threads that share the rows.
        **options: Options of the environment.

    Raises:
        ValueError: An argument out of range.
    """

    def __init__(
        self,
        env: Any,
        num_envs: int = 1,
        opponents: Any = "random",
        *,
        seat: int | str = "rotate",
        seed: int | None = None,
        num_threads: int = 1,
        **options: Any,
    ) -> None:
        # Tianshou's constructor would make one worker a table; all that needs workers is replaced below.
        self.tables = LearnerVectorEnv(
            setup_for(env, **options),
            num_envs,
            opponents,
            seat,
            num_threads=num_threads,
            autoreset_mode="Disabled",
        )
        self.workers: list[Any] = []
        self.env_num = self.wait_num = num_envs
        self.is_async = False
        self.is_closed = False
        self.waiting_id: list[int] = []
        self.ready_id = list(range(num_envs))
        self._seed_next = seed

    def get_env_attr(self, key: str, id: Any = None) -> list[Any]:
        """An attribute of the tables, once for each row that is asked for."""
        spaces = {
            "action_space": self.tables.single_action_space,
            "observation_space": self.tables.single_observation_space,
        }
        value = spaces[key] if key in spaces else getattr(self.tables, key)
        return [value] * len(self._rows(id))

    def set_env_attr(self, key: str, value: Any, id: Any = None) -> None:
        raise AttributeError(f"{key}: tables of a native vector environment share attributes")

    def reset(self, env_id: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        """Begin the next episode in the given rows (None: all); ``seed`` and ``options`` as the environment takes them."""
        rows = self._rows(env_id)
        options = dict(kwargs.pop("options", None) or {})
        if len(rows) < self.env_num:
            options["reset_mask"] = np.isin(np.arange(self.env_num), rows)
        seed, self._seed_next = kwargs.pop("seed", self._seed_next), None
        observation, infos = self.tables.reset(seed=seed, options=options)
        return self._see(observation, infos, rows)

    def step(self, action: Any, id: Any = None) -> Any:
        """Take the actions of the given rows (None: all); the others stay as they are."""
        rows = self._rows(id)
        given = np.asarray(action)
        if given.shape != (len(rows),):
            raise ValueError(f"actions: expected {len(rows)}, one a row, got {given.shape}")
        partial = len(rows) < self.env_num
        actions = self.tables.sample_actions() if partial else np.zeros(self.env_num, np.int64)
        actions[rows] = given
        before = self.tables.get_state() if partial else None
        observation, rewards, ended, truncated, infos = self.tables.step(actions)
        if before is not None:
            # All rows have moved; those that should not are put back.
            after = self.tables.get_state()
            others = np.setdiff1d(np.arange(self.env_num), rows)
            for name, array in after.rows.items():
                if len(array):
                    array[others] = before.rows[name][others]
            after.samples[:] = before.samples
            self.tables.set_state(after)
        seen, infos = self._see(observation, infos, rows)
        return seen, rewards[rows], ended[rows], truncated[rows], infos

    def _rows(self, id: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        if id is None:
            return np.arange(self.env_num)
        return np.atleast_1d(np.asarray(id, np.int64))

    def _see(
        self, observation: Mapping[str, Any], infos: Mapping[str, Any], rows: Any
    ) -> tuple[Any, Any]:
        seen = Batch(
            obs=observation["observation"][rows], mask=observation["action_mask"][rows] != 0
        )
        pairs = zip(rows.tolist(), infos["seat"][rows].tolist(), strict=True)
        return seen, np.array([{"env_id": i, "seat": seat} for i, seat in pairs])

    def seed(self, seed: Any = None) -> list[Any]:
        """Seed of the next reset: row i gets seed + i, or a list."""
        self._seed_next = seed
        return [seed] * self.env_num

    def render(self, **kwargs: Any) -> list[Any]:
        return list(self.tables.render() or [])

    def close(self) -> None:
        self.tables.close()
        self.is_closed = True


class Net(torch.nn.Module):
    """Layers over the first ``size`` values of an observation."""

    def __init__(self, size: int, outputs: int, layers: Sequence[int]) -> None:
        super().__init__()
        self.size = size
        parts: list[torch.nn.Module] = []
        for units in layers:
            parts += [torch.nn.Linear(size, units), torch.nn.ReLU()]
            size = units
        self.body = torch.nn.Sequential(*parts, torch.nn.Linear(size, outputs))

    def forward(self, values: Any) -> torch.Tensor:
        seen = torch.as_tensor(values)[..., : self.size].float()
        return self.body(seen)  # type: ignore[no-any-return]


class Actor(ActionReprNet):  # type: ignore[misc]
    """Logits of a network, those of illegal actions out of reach."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> Any:
        illegal = ~torch.as_tensor(np.asarray(obs.mask, np.bool_))
        return self.net(obs.obs).masked_fill(illegal, _ILLEGAL), state


class Critic(torch.nn.Module):
    """Value of an observation."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any, **kwargs: Any) -> torch.Tensor:
        return self.net(obs.obs)  # type: ignore[no-any-return]


class TianshouBot(ScoringBot):
    """The most likely legal action of a policy network; picklable."""

    def __init__(self, net: Net, name: str = "tianshou") -> None:
        last: Any = net.body[-1]
        super().__init__(name, net.size, last.out_features)
        self._net = net

    def scores(self, observation: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        with torch.inference_mode():
            return self._net(observation).numpy()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Config:
    """Settings of a run; kept in its checkpoint.

    Attributes:
        env: Id of the environment.
        opponents: Bots around the learner; one name, or three.
        iterations: Rounds of playing and learning.
        tables: Tables stepped together.
        steps: Decisions a table in a round; 13 are a deal of Bolola.
        minibatch: Decisions in a gradient step.
        epochs: Passes over a round.
        learning_rate: Adam's.
        clip: PPO's clip range.
        gae_lambda: Decay of generalised advantages; the discount is 1.
        entropy: Weight of the entropy bonus.
        layers: Units of the hidden layers of policy and value.
        eval_every: Rounds between evaluations and checkpoints; 0: only at the end.
        eval_deals: Suite deals of an evaluation.
        eval_against: Opponents of an evaluation.
        seed: Of deals, weights and minibatches.
        threads: Threads of torch.
        folder: Where checkpoint and curve go.
    """

    env: str = "bolola/hearts-v0"
    opponents: tuple[str, ...] = ("greedy",)
    iterations: int = 100
    tables: int = 256
    steps: int = 26
    minibatch: int = 1024
    epochs: int = 2
    learning_rate: float = 1e-3
    clip: float = 0.2
    gae_lambda: float = 0.8
    entropy: float = 0.005
    layers: tuple[int, ...] = (256, 256)
    eval_every: int = 10
    eval_deals: int = 100
    eval_against: tuple[str, ...] = ("random", "greedy")
    seed: int = 0
    threads: int = 1
    folder: str = "runs/tianshou"

    def __post_init__(self) -> None:
        setup_for(self.env)
        least = {"eval_deals": 2, "eval_every": 0, "seed": 0}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type != "int":
                continue
            low = least.get(each.name, 1)
            if not isinstance(value, int) or isinstance(value, bool) or value < low:
                raise ValueError(f"{each.name}: expected an integer from {low} on, got {value!r}")
        if isinstance(self.opponents, str) or len(self.opponents) not in (1, 3):
            raise ValueError(f"opponents: expected one bot or three, got {self.opponents!r}")
        for bot in (*self.opponents, *self.eval_against):
            as_bot(bot)  # an unknown bot is found before any work


class Run:
    """A policy in training: Tianshou's algorithm, curve, and where they are kept."""

    def __init__(self, config: Config) -> None:
        self.config = config
        plain = setup_for(config.env)
        scale = 4.0 / max(plain.largest_return, 1.0)
        self.setup = plain.changed(zero_sum=True, reward_scale=scale)
        torch.set_num_threads(config.threads)
        torch.manual_seed(config.seed)
        np.random.seed(config.seed)  # what Tianshou draws minibatches with
        size = plain.observed
        self.net = Net(size, plain.game.num_actions, config.layers)
        policy = DiscreteActorPolicy(
            actor=Actor(self.net),
            action_space=Discrete(plain.game.num_actions),
            deterministic_eval=True,
        )
        self.algorithm = PPO(
            policy=policy,
            critic=Critic(Net(size, 1, config.layers)),
            optim=AdamOptimizerFactory(lr=config.learning_rate),
            eps_clip=config.clip,
            ent_coef=config.entropy,
            max_grad_norm=0.5,
            gae_lambda=config.gae_lambda,
            gamma=1.0,
            max_batchsize=4096,
        )
        self.iteration = 0
        self.curve: list[dict[str, float]] = []

    @property
    def file(self) -> Path:
        return Path(self.config.folder) / "checkpoint.pt"

    def collector(self) -> Any:
        """Plays on deals that no earlier part of the run has met."""
        config = self.config
        opponents = config.opponents if len(config.opponents) > 1 else config.opponents[0]
        seed = SEED_SPACING * (config.seed + 1) + self.iteration * config.tables
        env = TrickVenv(self.setup, config.tables, opponents, seed=seed)
        buffer = VectorReplayBuffer(config.tables * config.steps, config.tables)
        collector = Collector(self.algorithm, env, buffer)
        collector.reset()
        return collector

    def round(self, collector: Any) -> dict[str, float]:
        """Play and learn once; the mean loss."""
        config = self.config
        collector.reset_buffer()
        with policy_within_training_step(self.algorithm.policy):
            collector.collect(n_step=config.tables * config.steps)
            stats = self.algorithm.update(
                buffer=collector.buffer, batch_size=config.minibatch, repeat=config.epochs
            )
        self.iteration += 1
        return {"loss": float(stats.loss.mean), "entropy": float(stats.ent_loss.mean)}

    def evaluate(self) -> dict[str, float]:
        """Points over the table's mean against each opponent on the suite, and half the 95 % interval."""
        point: dict[str, float] = {}
        bot, config = TianshouBot(self.net), self.config
        for other in config.eval_against:
            mean, half = score_against(
                config.env, bot, other, deals=config.eval_deals, progress=False
            )
            point |= {f"{other}_mean": mean, f"{other}_ci95": half}
        return point

    def save(self) -> None:
        """Write the checkpoint whole, then put it in the place of the last one."""
        state = {
            "config": asdict(self.config),
            "iteration": self.iteration,
            "curve": self.curve,
            "policy": self.net.state_dict(),
            "algorithm": self.algorithm.state_dict(),
            "random": torch.get_rng_state(),
        }
        temporary = self.file.with_suffix(f".{os.getpid()}.tmp")
        torch.save(state, temporary)
        temporary.replace(self.file)
        rows = "".join(json.dumps(point) + "\n" for point in self.curve)
        self.file.with_name("curve.jsonl").write_text(rows)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what a checkpoint holds."""
        self.algorithm.load_state_dict(state["algorithm"])
        self.iteration, self.curve = state["iteration"], state["curve"]
        torch.set_rng_state(state["random"])
        np.random.seed((self.config.seed + self.iteration) % 2**32)


def load(file: Path) -> Any:
    """What a checkpoint holds, and its settings.

    Raises:
        FileNotFoundError: There is none.
        ValueError: It is none of this trainer's.
    """
    try:
        state = torch.load(file, weights_only=True)
        return state, Config(**state["config"])
    except FileNotFoundError:
        raise FileNotFoundError(f"no checkpoint of Tianshou at {file}") from None
    except Exception as error:
        raise ValueError(f"{file} is not a checkpoint of this trainer: {error}") from error


def make_bot(argument: str | None) -> Bot:
    """The bot of a run's folder or checkpoint, as :func:`trick_core.bots.register_bot` takes it.

    Raises:
        ValueError: No folder is named, or what it holds is no checkpoint.
        FileNotFoundError: There is no checkpoint.
    """
    if not argument:
        raise ValueError("bot 'tianshou' needs a folder, as tianshou:runs/tianshou")
    path = Path(argument)
    state, config = load(path / "checkpoint.pt" if path.is_dir() else path)
    setup = setup_for(config.env)
    net = Net(setup.observed, setup.game.num_actions, config.layers)
    net.load_state_dict(state["policy"])
    return TianshouBot(net, f"tianshou:{path.name}")


def train(config: Config, resume: bool = False, progress: bool = True) -> Run:
    """Train; checkpoints and curve are in ``config.folder``.

    Args:
        config: Settings.
        resume: Continue the run in ``config.folder`` with its own settings but for ``iterations``.
        progress: Show what goes on.

    Raises:
        FileExistsError: The folder holds a run, and ``resume`` is False.
        FileNotFoundError: It holds none, and ``resume`` is True.
        ValueError: The run to resume is on another environment.
    """
    run = Run(config)
    if resume:
        state, kept = load(run.file)
        if kept.env != config.env:
            raise ValueError(f"{config.folder} holds a run on {kept.env}, not on {config.env}")
        run = Run(replace(kept, iterations=config.iterations, folder=config.folder))
        run.restore(state)
    elif run.file.exists():
        raise FileExistsError(f"{config.folder} holds a run; resume it, or choose another folder")
    run.file.parent.mkdir(parents=True, exist_ok=True)
    if run.iteration < run.config.iterations:
        _rounds(run, progress)
    return run


def _rounds(run: Run, progress: bool) -> None:
    with needs("train"):
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )
    config = run.config
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    collector = run.collector()
    scores = ""
    with Progress(*columns, console=Console(stderr=True), disable=not progress) as bar:
        task = bar.add_task("rounds", total=config.iterations, completed=run.iteration, note="")
        while run.iteration < config.iterations:
            began = time.perf_counter()
            losses = run.round(collector)
            rate = config.tables * config.steps / (time.perf_counter() - began)
            point = {"iteration": run.iteration, "decisions_per_second": rate, **losses}
            last = run.iteration >= config.iterations
            due = last or (config.eval_every and run.iteration % config.eval_every == 0)
            if due:
                found = run.evaluate()
                scores = ", ".join(f"{k[:-5]} {v:+.1f}" for k, v in found.items() if "_mean" in k)
                point |= found
            run.curve.append(point)
            if due:
                run.save()
            bar.update(task, completed=run.iteration, note=f"{rate:,.0f}/s {scores}")
    collector.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; every field of :class:`Config` is an option."""
    parser = argparse.ArgumentParser(
        prog="python -m baselines.train.tianshou",
        description="PPO among bots with Tianshou.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    defaults = Config()
    parser.add_argument("env", nargs="?", default=defaults.env, help="id of the environment")
    for each in fields(Config)[1:]:
        default = getattr(defaults, each.name)
        option = f"--{each.name.replace('_', '-')}"
        if isinstance(default, tuple):
            kind = type(default[0])
            parser.add_argument(option, nargs="+", type=kind, default=default)
        else:
            parser.add_argument(option, type=type(default), default=default)
    parser.add_argument("--resume", action="store_true", help="continue the run in --folder")
    options = vars(parser.parse_args(arguments))
    resume = options.pop("resume")
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    try:
        train(Config(**values), resume=resume)
    except (ValueError, FileExistsError, FileNotFoundError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
