"""PPO in self-play with TorchRL: ``python -m baselines.train.torchrl bolola/hearts-v0``.

:class:`TrickEnv` is a batch of tables as one TorchRL environment: a step is one kernel call, whatever the number of tables. One
policy plays all four seats. The seat on turn alters from step to step, and most of what an action brings falls while others
act; :func:`advantages` therefore follows each seat by itself.

Source: Schulman et al., "Proximal Policy Optimization Algorithms", 2017, and "High-Dimensional Continuous Control Using
Generalized Advantage Estimation", 2016.
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

from baselines.evaluate import score_against
from baselines.extras import needs
from trick_core.bots import Bot, ScoringBot
from trick_core.game import NUM_SEATS, Setup, setup_for
from trick_core.learner import LearnerVectorEnv
from trick_core.vector import VectorEnv

with needs("torchrl"):
    import torch
    from tensordict import TensorDict, TensorDictBase
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
    from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss

#: The rows of a run are seeded from here on, so far apart for different seeds.
SEED_SPACING = 1 << 32


class TrickEnv(EnvBase):  # type: ignore[misc]
    """N tables of any of the games; batch size ``(N,)``.

    Keys: ``observation`` (int8 (N, D), or packed int64 (N, W)), ``action_mask`` (bool (N, A)) and ``seat`` (int64 (N,)), all of the
    seat on turn; ``action`` (int64 (N,)); and after a step ``reward``, ``done`` and ``terminated`` (bool (N, 1)).

    * Without opponents the policy plays all seats. ``reward`` (float32 (N, 4)) is what this one step brought to each seat, by
      absolute seat, and not only to the one that acted: :func:`advantages` adds up what falls to a seat until it acts again.
    * With opponents the policy plays one seat a table, the others play in between, and ``reward`` (float32 (N, 1)) is all that fell
      to the learner until its next decision: TorchRL's own estimators and losses apply as they are. ``seat`` is the learner's.

    Where an episode is over, the mask is all ones (nothing can be sampled from a mask of zeros) and ``seat`` is -1 (with
    opponents it stays); TorchRL's collectors and ``rollout`` reset such rows. ``rand_action`` gives legal actions.

    Args:
        env: Id of the environment, or a setup.
        num_envs: N.
        opponents: Bots around one learner a table, as :class:`trick_core.learner.LearnerVectorEnv` takes them; None: no bots.
        seat: The learner's seat, 0..3 or ``"rotate"``; of use with opponents only.
        packed: Observations as words of 64 bits, lowest bit first; :func:`unpack` gives the values.
        num_threads: Threads that share the rows.
        seed: Row i is seeded with seed + i; None: from the operating system.
        device: Where the tensors go; the tables stay on the processor.
        **options: Options of the environment.

    Raises:
        ValueError: An argument out of range.
    """

    def __init__(
        self,
        env: Any,
        num_envs: int = 1,
        *,
        opponents: Any = None,
        seat: int | str = "rotate",
        packed: bool = False,
        num_threads: int = 1,
        seed: int | None = None,
        device: Any = "cpu",
        **options: Any,
    ) -> None:
        setup = setup_for(env, **options)
        settings: dict[str, Any] = {
            "num_threads": num_threads,
            "observation": "packed" if packed else "bytes",
            "copy": False,
            "autoreset_mode": "Disabled",
        }
        self.tables = (
            VectorEnv(setup, num_envs, **settings)
            if opponents is None
            else LearnerVectorEnv(setup, num_envs, opponents, seat, **settings)
        )
        super().__init__(device=device, batch_size=(num_envs,))
        self._seed_next = seed
        game, count = setup.game, num_envs
        self.observation_spec = Composite(
            observation=Unbounded((count, game.layout.words), dtype=torch.int64, device=device)
            if packed
            else Binary(shape=(count, game.layout.size), dtype=torch.int8, device=device),
            action_mask=Binary(shape=(count, game.num_actions), dtype=torch.bool, device=device),
            seat=Bounded(-1, NUM_SEATS - 1, (count,), dtype=torch.int64, device=device),
            shape=(count,),
            device=device,
        )
        self.action_spec = Categorical(game.num_actions, (count,), dtype=torch.int64, device=device)
        self.reward_spec = Unbounded(
            (count, NUM_SEATS if opponents is None else 1), dtype=torch.float32, device=device
        )
        self.full_done_spec = Composite(
            done=Binary(shape=(count, 1), dtype=torch.bool, device=device),
            terminated=Binary(shape=(count, 1), dtype=torch.bool, device=device),
            shape=(count,),
            device=device,
        )

    @property
    def setup(self) -> Setup:
        """The game with its options."""
        return self.tables.setup

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDictBase:
        options = dict(kwargs.pop("options", None) or {})
        if kwargs:
            raise TypeError(f"reset: expected options=..., got {', '.join(kwargs)}")
        rows = None if tensordict is None else tensordict.get("_reset", None)
        if rows is not None and not rows.all():
            options["reset_mask"] = rows.reshape(-1).cpu().numpy()
        seed, self._seed_next = self._seed_next, None
        observation, infos = self.tables.reset(seed=seed, options=options)
        return self._see(observation, infos, None)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        actions = tensordict["action"].cpu().numpy()
        rows = tensordict.get("_step", None)
        if rows is not None and not rows.all():
            seen, rewards = self._step_some(actions, rows.reshape(-1).cpu().numpy())
        else:
            observation, rewards, ended, _, infos = self.tables.step(actions)
            seen = self._see(observation, infos, ended)
        seen["reward"] = self._tensor(rewards.reshape(self.num_envs, -1)).float()
        return seen

    def _step_some(self, actions: Any, rows: Any) -> tuple[TensorDictBase, Any]:
        """Step the given rows (bool (N,)) only; ``rollout(break_when_all_done=True)`` waits for the longest episode."""
        before = self.tables.get_state()
        over = before.rows["terminations"] & ~rows
        if over.any():  # an episode to step through and throw away
            self.tables.reset(options={"reset_mask": over})
        actions = np.where(rows, actions, self.tables.sample_actions())
        observation, rewards, ended, _, infos = self.tables.step(actions)
        ended, rewards = ended | over, rewards.copy()
        rewards[~rows] = 0.0
        after = self.tables.get_state()
        for name, array in after.rows.items():
            if len(array):
                array[~rows] = before.rows[name][~rows]
        self.tables.set_state(after)
        return self._see(observation, infos, ended), rewards

    @property
    def num_envs(self) -> int:
        """N."""
        return self.tables.num_envs

    def _see(
        self, observation: Mapping[str, Any], infos: Mapping[str, Any], ended: Any
    ) -> TensorDictBase:
        mask = self._tensor(observation["action_mask"]).bool()
        done = torch.zeros((self.num_envs, 1), dtype=torch.bool, device=self.device)
        if ended is not None:
            done[:, 0] = self._tensor(ended)
            mask |= done
        values = observation["observation"]
        if values.dtype == np.uint64:
            values = values.view(np.int64)
        return TensorDict(
            {
                "observation": self._tensor(values),
                "action_mask": mask,
                "seat": self._tensor(infos["seat"]),
                "done": done,
                "terminated": done.clone(),
            },
            batch_size=self.batch_size,
            device=self.device,
        )

    def _tensor(self, array: Any) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device, copy=True)

    def rand_action(self, tensordict: TensorDictBase | None = None) -> TensorDictBase:
        """Legal actions of the rows as they stand, each with the same chance (torch's generator); 0 where a row is over."""
        masks = torch.from_numpy(self.tables.action_masks().astype(np.float32))
        masks[:, 0] += masks.sum(1) == 0
        if tensordict is None:
            tensordict = TensorDict({}, batch_size=self.batch_size, device=self.device)
        return tensordict.set("action", torch.multinomial(masks, 1)[:, 0].to(self.device))

    def _set_seed(self, seed: int | None) -> None:
        self._seed_next = seed


def unpack(words: torch.Tensor, size: int) -> torch.Tensor:
    """The first ``size`` values of packed observations, float32 (..., size), from int64 (..., W)."""
    places = torch.arange(64, device=words.device)
    return ((words.unsqueeze(-1) >> places) & 1).flatten(-2)[..., :size].float()


def advantages(data: TensorDictBase, gamma: float = 1.0, gae_lambda: float = 0.8) -> TensorDictBase:
    """Generalised advantages in self-play, each seat's decisions in a row of their own.

    What falls to a seat after its decision and before its next one counts for that decision, whoever acted when it
    fell; the next state is the seat's next decision. What falls before a seat's first decision of an episode counts for none. A seat's
    last decision in ``data``, if the episode goes on, has no next one: ``decided`` is False there, leave it out of the loss.

    Args:
        data: Batch size (N, T), from a collector or a rollout of :class:`TrickEnv` without opponents, with ``state_value`` (N, T, 1).
        gamma: Discount between a seat's decisions.
        gae_lambda: Weight of longer returns.

    Returns:
        ``data`` with ``advantage`` and ``value_target`` (float32 (N, T, 1)) and ``decided`` (bool (N, T)).
    """
    value, seat = data["state_value"].squeeze(-1), data["seat"]
    reward, done = data["next", "reward"], data["next", "done"]
    count, length = seat.shape
    every = torch.arange(count, device=seat.device)
    owed = reward.new_zeros((count, NUM_SEATS))  # by seat: what falls until its next decision
    after = torch.zeros_like(owed)  # value of that decision
    gained = torch.zeros_like(owed)  # its advantage
    known = torch.zeros_like(owed, dtype=torch.bool)  # whether it is in the data
    advantage = torch.zeros_like(value)
    decided = torch.zeros_like(seat, dtype=torch.bool)
    for t in reversed(range(length)):
        over, turn = done[:, t], seat[:, t]
        owed = owed.masked_fill(over, 0.0) + reward[:, t]
        after, gained = after.masked_fill(over, 0.0), gained.masked_fill(over, 0.0)
        known = known | over
        delta = owed[every, turn] + gamma * after[every, turn] - value[:, t]
        decided[:, t] = known[every, turn]
        advantage[:, t] = delta + gamma * gae_lambda * gained[every, turn]
        advantage[:, t] *= decided[:, t]
        owed[every, turn] = 0.0
        after[every, turn], gained[every, turn] = value[:, t], advantage[:, t]
        known[every, turn] = True
    data["advantage"] = advantage.unsqueeze(-1)
    data["value_target"] = (advantage + value).unsqueeze(-1)
    data["decided"] = decided
    return data


class Net(torch.nn.Module):
    """Layers over the first ``size`` values of an observation, packed or not."""

    def __init__(self, size: int, outputs: int, layers: Sequence[int]) -> None:
        super().__init__()
        self.size = size
        parts: list[torch.nn.Module] = []
        for units in layers:
            parts += [torch.nn.Linear(size, units), torch.nn.ReLU()]
            size = units
        self.body = torch.nn.Sequential(*parts, torch.nn.Linear(size, outputs))

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        if observation.dtype == torch.int64:
            return self.body(unpack(observation, self.size))  # type: ignore[no-any-return]
        return self.body(observation[..., : self.size].float())  # type: ignore[no-any-return]


def make_actor(net: torch.nn.Module) -> Any:
    """A TorchRL policy that samples from the logits of ``net`` over the legal actions."""
    return ProbabilisticActor(
        TensorDictModule(net, in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )


class TorchRLBot(ScoringBot):
    """The most likely legal action of a policy network; picklable."""

    def __init__(self, net: Net, name: str = "torchrl") -> None:
        last: Any = net.body[-1]
        super().__init__(name, net.size, last.out_features)
        self._net = net

    def scores(self, observation: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        with torch.inference_mode():
            return self._net(torch.from_numpy(observation)).numpy()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Config:
    """Settings of a run; kept in its checkpoint.

    Attributes:
        env: Id of the environment.
        iterations: Rounds of playing and learning.
        tables: Tables stepped together.
        steps: Steps a table in a round; 52 are a deal of Bolola.
        minibatch: Decisions in a gradient step.
        epochs: Passes over a round.
        learning_rate: Adam's.
        clip: PPO's clip range.
        gae_lambda: Decay of generalised advantages; the discount is 1.
        entropy: Weight of the entropy bonus.
        layers: Units of the hidden layers of policy and value.
        packed: Keep observations as words: less memory, a little more work.
        eval_every: Rounds between evaluations and checkpoints; 0: only at the end.
        eval_deals: Suite deals of an evaluation.
        eval_against: Opponents of an evaluation.
        seed: Of deals, weights and minibatches.
        threads: Threads of torch.
        folder: Where checkpoint and curve go.
    """

    env: str = "bolola/hearts-v0"
    iterations: int = 100
    tables: int = 256
    steps: int = 52
    minibatch: int = 1024
    epochs: int = 2
    learning_rate: float = 1e-3
    clip: float = 0.2
    gae_lambda: float = 0.8
    entropy: float = 0.005
    layers: tuple[int, ...] = (256, 256)
    packed: bool = False
    eval_every: int = 10
    eval_deals: int = 100
    eval_against: tuple[str, ...] = ("random", "greedy")
    seed: int = 0
    threads: int = 1
    folder: str = "runs/torchrl"

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


class Run:
    """A policy in training: networks, optimiser, curve, and where they are kept."""

    def __init__(self, config: Config) -> None:
        self.config = config
        plain = setup_for(config.env)
        scale = 4.0 / max(plain.largest_return, 1.0)
        self.setup = plain.changed(zero_sum=True, reward_scale=scale)
        torch.set_num_threads(config.threads)
        torch.manual_seed(config.seed)
        size = plain.observed
        self.policy = Net(size, plain.game.num_actions, config.layers)
        self.actor = make_actor(self.policy)
        self.critic = ValueOperator(Net(size, 1, config.layers), in_keys=["observation"])
        self.loss = ClipPPOLoss(
            self.actor,
            self.critic,
            clip_epsilon=config.clip,
            entropy_coeff=config.entropy,
            critic_coeff=0.5,
            loss_critic_type="l2",
            normalize_advantage=True,
        )
        self.optimizer = torch.optim.Adam(self.loss.parameters(), lr=config.learning_rate)
        self.iteration = 0
        self.curve: list[dict[str, float]] = []

    @property
    def file(self) -> Path:
        return Path(self.config.folder) / "checkpoint.pt"

    def collector(self) -> Any:
        """Plays the rounds that are left, on deals that no earlier part of the run has met."""
        config = self.config
        seed = SEED_SPACING * (config.seed + 1) + self.iteration * config.tables
        env = TrickEnv(self.setup, config.tables, packed=config.packed, seed=seed)
        frames = config.tables * config.steps
        return Collector(
            env,
            self.actor,
            frames_per_batch=frames,
            total_frames=frames * (config.iterations - self.iteration),
            auto_register_policy_transforms=False,
        )

    def learn(self, data: TensorDictBase) -> dict[str, float]:
        """Gradient steps on a round (N, T); means of the losses."""
        config = self.config
        with torch.no_grad():
            self.critic(data)
        advantages(data, gae_lambda=config.gae_lambda)
        decisions = data[data["decided"]]
        sums: dict[str, float] = {}
        steps = 0
        for _ in range(config.epochs):
            order = torch.randperm(len(decisions))
            for first in range(0, len(order), config.minibatch):
                losses = self.loss(decisions[order[first : first + config.minibatch]])
                total = sum(v for k, v in losses.items() if k.startswith("loss_"))
                self.optimizer.zero_grad()
                total.backward()
                torch.nn.utils.clip_grad_norm_(self.loss.parameters(), 0.5)
                self.optimizer.step()
                steps += 1
                for key in ("loss_objective", "loss_critic", "entropy"):
                    sums[key] = sums.get(key, 0.0) + float(losses[key].detach())
        self.iteration += 1
        return {key: value / steps for key, value in sums.items()}

    def evaluate(self) -> dict[str, float]:
        """Points over the table's mean against each opponent on the suite, and half the 95 % interval."""
        point: dict[str, float] = {}
        bot, config = TorchRLBot(self.policy), self.config
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
            "policy": self.policy.state_dict(),
            "critic": self.critic.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
        }
        temporary = self.file.with_suffix(f".{os.getpid()}.tmp")
        torch.save(state, temporary)
        temporary.replace(self.file)
        rows = "".join(json.dumps(point) + "\n" for point in self.curve)
        self.file.with_name("curve.jsonl").write_text(rows)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what a checkpoint holds."""
        self.policy.load_state_dict(state["policy"])
        self.critic.load_state_dict(state["critic"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.iteration, self.curve = state["iteration"], state["curve"]
        torch.set_rng_state(state["random"])


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
        raise FileNotFoundError(f"no checkpoint of TorchRL at {file}") from None
    except Exception as error:
        raise ValueError(f"{file} is not a checkpoint of this trainer: {error}") from error


def make_bot(argument: str | None) -> Bot:
    """The bot of a run's folder or checkpoint, as :func:`trick_core.bots.register_bot` takes it.

    Raises:
        ValueError: No folder is named, or what it holds is no checkpoint.
        FileNotFoundError: There is no checkpoint.
    """
    if not argument:
        raise ValueError("bot 'torchrl' needs a folder, as torchrl:runs/torchrl")
    path = Path(argument)
    state, config = load(path / "checkpoint.pt" if path.is_dir() else path)
    setup = setup_for(config.env)
    net = Net(setup.observed, setup.game.num_actions, config.layers)
    net.load_state_dict(state["policy"])
    return TorchRLBot(net, f"torchrl:{path.name}")


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
    began = time.perf_counter()
    with Progress(*columns, console=Console(stderr=True), disable=not progress) as bar:
        task = bar.add_task("rounds", total=config.iterations, completed=run.iteration, note="")
        try:
            for data in collector:
                losses = run.learn(data)
                rate = data.numel() / (time.perf_counter() - began)
                began = time.perf_counter()
                point = {"iteration": run.iteration, "decisions_per_second": rate, **losses}
                last = run.iteration >= config.iterations
                due = last or (config.eval_every and run.iteration % config.eval_every == 0)
                if due:
                    point |= run.evaluate()
                run.curve.append(point)
                if due:
                    run.save()
                scores = [
                    f"{k[:-5]} {v:+.1f}" for r in run.curve for k, v in r.items() if "_mean" in k
                ]
                note = ", ".join([f"{rate:,.0f}/s", *scores[-len(config.eval_against) :]])
                bar.update(task, completed=run.iteration, note=note)
        finally:
            collector.shutdown()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; every field of :class:`Config` is an option."""
    parser = argparse.ArgumentParser(
        prog="python -m baselines.train.torchrl",
        description="PPO in self-play with TorchRL.",
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
        elif isinstance(default, bool):
            parser.add_argument(option, action="store_true")
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
