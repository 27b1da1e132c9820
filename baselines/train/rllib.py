"""PPO in self-play or a league with RLlib on Ray: ``python -m baselines.train.rllib bolola/hearts-v0``.

RLlib's new API stack: a :class:`MultiAgentEnv` over the PettingZoo environment, a module that masks illegal actions, and a
league in which some seats are played by past snapshots of the policy. Runs on one machine, or on every node of the Ray cluster
that ``RAY_ADDRESS`` names (``python -m baselines.cluster`` starts one on this machine to try it). Environment runners that die are
started again; what they were playing is lost, and nothing else.

Source: Schulman et al., "Proximal Policy Optimization Algorithms", 2017; the league's choice of opponents after Vinyals et al., "Grandmaster
level in StarCraft II using multi-agent reinforcement learning", 2019 (those that are hardest for the policy most often).
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from baselines.evaluate import score_against
from baselines.extras import needs
from trick_core.aec import TrickAEC
from trick_core.bots import Bot, ScoringBot
from trick_core.game import AGENTS, setup_for

with needs("ray"):
    import ray
    import torch
    from ray.rllib.algorithms.algorithm import Algorithm
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.callbacks.callbacks import RLlibCallback
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModule, RLModuleSpec
    from ray.rllib.core.rl_module.apis import ValueFunctionAPI
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from ray.rllib.env.multi_agent_env import MultiAgentEnv

MAIN = "main"
_ILLEGAL = -1e9  # finite, so that a mask of zeros gives no NaN


@dataclass(frozen=True)
class Config:
    """Settings of a run; kept beside its checkpoints.

    Attributes:
        env: Id of the environment.
        iterations: Rounds of sampling and learning.
        batch: Decisions of a round, those of snapshots among them, from which nothing is learned.
        minibatch: Decisions in a gradient step.
        epochs: Passes over a round.
        learning_rate: Adam's.
        clip: PPO's clip range.
        gae_lambda: Decay of generalised advantages; the discount is 1.
        entropy: Weight of the entropy bonus.
        layers: Units of the hidden layers.
        runners: Processes that play, on any node; 0: this one.
        envs_per_runner: Tables in each.
        league: Past snapshots kept as opponents; 0: pure self-play.
        past: Share of tables at which the three other seats belong to one snapshot.
        snapshot_every: Rounds between snapshots.
        eval_every: Rounds between evaluations.
        eval_deals: Suite deals of an evaluation.
        eval_against: Opponents of an evaluation.
        seed: Of deals, weights and minibatches.
        folder: Where checkpoints and curve go.
    """

    env: str = "bolola/hearts-v0"
    iterations: int = 100
    batch: int = 4096
    minibatch: int = 512
    epochs: int = 2
    learning_rate: float = 5e-4
    clip: float = 0.2
    gae_lambda: float = 0.8
    entropy: float = 0.005
    layers: tuple[int, ...] = (256, 256)
    runners: int = 1
    envs_per_runner: int = 8
    league: int = 4
    past: float = 0.5
    snapshot_every: int = 10
    eval_every: int = 10
    eval_deals: int = 100
    eval_against: tuple[str, ...] = ("random", "greedy")
    seed: int = 0
    folder: str = "runs/rllib"

    def __post_init__(self) -> None:
        setup_for(self.env)
        for name in ("iterations", "batch", "minibatch", "epochs", "envs_per_runner"):
            _at_least(name, getattr(self, name), 1)
        for name in ("runners", "league", "snapshot_every", "eval_every"):
            _at_least(name, getattr(self, name), 0)
        _at_least("eval_deals", self.eval_deals, 2)
        if self.minibatch > self.batch:
            raise ValueError(
                f"minibatch: expected at most batch={self.batch}, got {self.minibatch}"
            )
        if not 0 <= self.past <= 1:
            raise ValueError(f"past: expected a share from 0 to 1, got {self.past}")


def _at_least(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}: expected an integer from {least} on, got {value!r}")


class TrickMultiAgentEnv(MultiAgentEnv):  # type: ignore[misc]
    """Any of the games for RLlib: one agent acts at a time, with keys ``observations`` and ``action_mask``.

    The reward of an agent is handed out with its next observation: what has fallen to it since it acted. At the end every agent
    gets a last observation, whose mask is zero, and the rest. So no reward vanishes between turns.

    Args:
        config: ``{"env": id or Setup, "seed": first seed, ...options of the environment}``; each runner and each of its tables
            plays deals of its own.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        options = dict(config)
        env, seed = options.pop("env"), options.pop("seed", 0)
        self.table = TrickAEC(setup_for(env, **options))
        where = (getattr(config, "worker_index", 0) << 20) + getattr(config, "vector_index", 0)
        self._seed: int | None = seed + (where << 8)
        self.possible_agents = list(AGENTS)
        self.agents = list(AGENTS)
        self._size = self.table.setup.observed
        space = spaces.Dict(
            {
                "observations": spaces.Box(0, 1, (self._size,), np.float32),
                "action_mask": spaces.Box(0, 1, (self.table.setup.game.num_actions,), np.float32),
            }
        )
        self.observation_spaces = dict.fromkeys(AGENTS, space)
        self.action_spaces: dict[str, gymnasium.Space[Any]] = {
            agent: self.table.action_space(agent) for agent in AGENTS
        }
        self._owed = dict.fromkeys(AGENTS, 0.0)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Begin the next deal; ``options`` as the environment's own."""
        self.table.reset(seed=self._seed if seed is None else seed, options=options)
        self._seed = None  # later deals continue the sequence
        self._owed = dict.fromkeys(AGENTS, 0.0)
        agent = self.table.agent_selection
        return {agent: self._see(agent)}, {}

    def step(self, action_dict: Mapping[str, Any]) -> Any:
        """Take the action of the agent on turn."""
        self.table.step(int(action_dict[self.table.agent_selection]))
        for agent, reward in self.table.rewards.items():
            self._owed[agent] += reward
        over = all(self.table.terminations.values())
        seen = AGENTS if over else (self.table.agent_selection,)
        observations = {agent: self._see(agent) for agent in seen}
        rewards = {agent: self._owed[agent] for agent in seen}
        for agent in seen:
            self._owed[agent] = 0.0
        ended = dict.fromkeys(seen, over) | {"__all__": over}
        running = dict.fromkeys(seen, False) | {"__all__": False}
        return observations, rewards, ended, running, {}

    def _see(self, agent: str) -> dict[str, Any]:
        seen = self.table.observe(agent)
        return {
            "observations": seen["observation"][: self._size].astype(np.float32),
            "action_mask": seen["action_mask"].astype(np.float32),
        }


class MaskedModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """Policy and value over the observations, with the logits of illegal actions out of reach.

    Observations off turn, whose mask is all zero, are fine: their logits are merely alike.
    """

    def setup(self) -> None:
        size = self.observation_space["observations"].shape[0]
        layers: list[torch.nn.Module] = []
        for units in self.model_config["layers"]:
            layers += [torch.nn.Linear(size, units), torch.nn.ReLU()]
            size = units
        self.body = torch.nn.Sequential(*layers)
        self.policy = torch.nn.Linear(size, self.action_space.n)
        self.value = torch.nn.Linear(size, 1)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        embedding = self.body(seen["observations"].float())
        logits = self.policy(embedding) + (1.0 - seen["action_mask"].float()) * _ILLEGAL
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: embedding}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        if embeddings is None:
            embeddings = self.body(batch[Columns.OBS]["observations"].float())
        return self.value(embeddings).squeeze(-1)


@dataclass(frozen=True)
class Seating:
    """Who plays a seat of an episode: ``main`` at all of them, or ``main`` at one and a snapshot at the rest.

    Attributes:
        past: Share of the tables with a snapshot.
        snapshots: Names of the snapshots.
        weights: How often each is chosen, relatively.
    """

    past: float = 0.0
    snapshots: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    def __call__(self, agent: str, episode: Any, **kwargs: Any) -> str:
        if not self.snapshots:
            return MAIN
        # Ids are random: the same draw for the four seats of an episode, on whatever node.
        draw = np.random.default_rng(list(str(episode.id_).encode()))
        if draw.random() >= self.past or agent == AGENTS[draw.integers(4)]:
            return MAIN
        share = np.asarray(self.weights) / sum(self.weights)
        return str(draw.choice(self.snapshots, p=share))


class Standings(RLlibCallback):  # type: ignore[misc]
    """Logs the policy's points over the table's mean against each snapshot."""

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, **kwargs: Any) -> None:
        """Called by RLlib in the runner."""
        points = {agent: float(sum(each)) for agent, each in episode.get_rewards().items()}
        others = [agent for agent in points if episode.module_for(agent) != MAIN]
        if len(others) != len(AGENTS) - 1:
            return
        own = sum(value for agent, value in points.items() if agent not in others)
        relative = own - sum(points.values()) / len(AGENTS)
        name = f"against_{episode.module_for(others[0])}"
        metrics_logger.log_value(name, relative, reduce="mean", window=200)


def algorithm_config(config: Config) -> PPOConfig:
    """RLlib's configuration for a run, for those who change more than :class:`Config` offers."""
    setup = setup_for(config.env)
    scale = 4.0 / setup.largest_return
    env_config = {"env": config.env, "seed": config.seed, "zero_sum": True, "reward_scale": scale}
    probe = TrickMultiAgentEnv(env_config)
    spec = RLModuleSpec(
        module_class=MaskedModule,
        observation_space=probe.observation_spaces[AGENTS[0]],
        action_space=probe.action_spaces[AGENTS[0]],
        model_config={"layers": list(config.layers)},
    )
    return (
        PPOConfig()
        .environment(TrickMultiAgentEnv, env_config=env_config, disable_env_checking=True)
        .framework("torch")
        .env_runners(
            num_env_runners=config.runners,
            num_envs_per_env_runner=config.envs_per_runner if config.runners else 1,
            batch_mode="complete_episodes",
            rollout_fragment_length="auto",
        )
        .fault_tolerance(
            restart_failed_env_runners=True,
            ignore_env_runner_failures=False,
            max_num_env_runner_restarts=1000,
        )
        .multi_agent(policies={MAIN}, policy_mapping_fn=Seating(), policies_to_train=[MAIN])
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={MAIN: spec}))
        .training(
            train_batch_size_per_learner=config.batch,
            minibatch_size=config.minibatch,
            num_epochs=config.epochs,
            lr=config.learning_rate,
            gamma=1.0,
            lambda_=config.gae_lambda,
            clip_param=config.clip,
            entropy_coeff=config.entropy,
            vf_clip_param=math.inf,
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .callbacks(Standings)
        .debugging(seed=config.seed, log_level="ERROR")
    )


class League:
    """Past snapshots of the policy as opponents; those that it does worst against are met most often."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.snapshots: list[str] = []
        self.made = 0

    def update(self, algorithm: Algorithm, result: Mapping[str, Any]) -> None:
        """Add a snapshot of the policy as it is now; beyond ``config.league``, the one that it beats most goes."""
        scores = self.scores(result)
        if len(self.snapshots) >= self.config.league:
            weakest = max(self.snapshots, key=lambda name: scores.get(name, 0.0))
            self.snapshots.remove(weakest)
            algorithm.remove_module(weakest, new_agent_to_module_mapping_fn=self.seating(scores))
        name = f"past_{self.made}"
        self.made += 1
        self.snapshots.append(name)
        main = algorithm.get_module(MAIN)
        algorithm.add_module(
            module_id=name,
            module_spec=RLModuleSpec.from_module(main),
            new_agent_to_module_mapping_fn=self.seating(scores),
        )
        algorithm.set_state({"learner_group": {"learner": {"rl_module": {name: main.get_state()}}}})
        algorithm.env_runner_group.sync_weights(
            from_worker_or_learner_group=algorithm.learner_group, inference_only=True
        )

    def scores(self, result: Mapping[str, Any]) -> dict[str, float]:
        """The policy's scaled points over the table's mean against each snapshot met so far."""
        logged = result.get("env_runners", {})
        return {
            name: float(logged[f"against_{name}"])
            for name in self.snapshots
            if math.isfinite(logged.get(f"against_{name}", math.nan))
        }

    def seating(self, scores: Mapping[str, float]) -> Seating:
        """Who plays where, given the scores."""
        weights = tuple(math.exp(-4.0 * scores.get(name, 0.0)) for name in self.snapshots)
        return Seating(self.config.past, tuple(self.snapshots), weights)


class RLlibBot(ScoringBot):
    """A policy that RLlib trained, as a bot; picklable.

    Args:
        module: The module ``main`` of an algorithm, or one loaded by ``RLModule.from_checkpoint``.
        name: For tables of results.
    """

    def __init__(self, module: Any, name: str = "rllib") -> None:
        self._layers = [
            (layer.weight.detach().cpu().numpy().T.copy(), layer.bias.detach().cpu().numpy().copy())
            for layer in (*module.body, module.policy)
            if isinstance(layer, torch.nn.Linear)
        ]
        size = int(module.observation_space["observations"].shape[0])
        super().__init__(name, size, len(self._layers[-1][1]))

    def scores(self, observation: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        hidden: np.ndarray[Any, Any] = observation.astype(np.float32)
        for weight, bias in self._layers[:-1]:
            hidden = np.maximum(hidden @ weight + bias, 0.0)
        weight, bias = self._layers[-1]
        return np.asarray(hidden @ weight + bias)


def make_bot(argument: str | None) -> Bot:
    """The bot of a run's folder or of a checkpoint, for the registry (``rllib:runs/rllib``).

    Raises:
        ValueError: No folder is named.
        FileNotFoundError: There is no checkpoint in it.
    """
    if not argument:
        raise ValueError("bot 'rllib' needs a folder, as rllib:runs/rllib")
    folder = Path(argument)
    found = [folder / "checkpoint", folder]
    for root in found:
        module = root / "learner_group" / "learner" / "rl_module" / MAIN
        if module.is_dir():
            return RLlibBot(RLModule.from_checkpoint(str(module.resolve())), name=folder.name)
    raise FileNotFoundError(f"no checkpoint of RLlib in {folder}")


def train(config: Config, resume: bool = False, progress: bool = True) -> RLlibBot:
    """Train, and return the policy.

    Args:
        config: Settings.
        resume: Continue the run in ``config.folder`` with its own settings but for ``iterations``.
        progress: Show what goes on.

    Raises:
        FileExistsError: The folder holds a run, and ``resume`` is False.
        FileNotFoundError: It holds none, and ``resume`` is True.
    """
    folder = Path(config.folder).resolve()
    checkpoint, settings = folder / "checkpoint", folder / "config.json"
    if resume:
        if not checkpoint.is_dir():
            raise FileNotFoundError(f"no run to resume in {folder}")
        config = replace(read_config(settings), iterations=config.iterations, folder=config.folder)
    elif checkpoint.is_dir():
        raise FileExistsError(f"{folder} holds a run; resume it, or choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps(asdict(config), indent=2))
    mine = not ray.is_initialized()
    if mine:
        ray.init(logging_level="ERROR", log_to_driver=False, include_dashboard=False)
    try:
        algorithm = algorithm_config(config).build_algo()
        league = League(config)
        try:
            if resume:
                _restore(algorithm, league, checkpoint, folder / "league.json")
            _run(algorithm, league, config, folder, progress)
            return RLlibBot(algorithm.get_module(MAIN))
        finally:
            algorithm.stop()
    finally:
        if mine:
            ray.shutdown()


def read_config(file: Path) -> Config:
    """Settings as a run keeps them."""
    kept = json.loads(file.read_text())
    values: dict[str, Any] = {}
    for each in fields(Config):
        value = kept.get(each.name, each.default)
        values[each.name] = tuple(value) if isinstance(value, list) else value
    return Config(**values)


def _restore(algorithm: Algorithm, league: League, checkpoint: Path, kept: Path) -> None:
    """The algorithm as it was saved, snapshots included."""
    state = json.loads(kept.read_text())
    league.made = state["made"]
    spec = RLModuleSpec.from_module(algorithm.get_module(MAIN))
    for name in state["snapshots"]:
        league.snapshots.append(name)
        algorithm.add_module(
            module_id=name,
            module_spec=spec,
            new_agent_to_module_mapping_fn=league.seating({}),
        )
    algorithm.restore_from_path(str(checkpoint))


def _run(
    algorithm: Algorithm, league: League, config: Config, folder: Path, progress: bool
) -> None:
    """Rounds of training from where the algorithm is, with snapshots, evaluations and checkpoints."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    curve = (folder / "curve.jsonl").open("a")
    with curve, Progress(*columns, console=Console(stderr=True), disable=not progress) as bar:
        task = bar.add_task(
            "rounds", total=config.iterations, completed=algorithm.iteration, note=""
        )
        while algorithm.iteration < config.iterations:
            began = time.perf_counter()
            result = algorithm.train()
            seconds = time.perf_counter() - began
            done, last = algorithm.iteration, algorithm.iteration >= config.iterations
            point: dict[str, Any] = {
                "iteration": done,
                "decisions_per_second": sampled(result) / seconds,
                **{f"over {name}": score for name, score in league.scores(result).items()},
            }
            if config.league and config.snapshot_every and done % config.snapshot_every == 0:
                league.update(algorithm, result)
            if last or (config.eval_every and done % config.eval_every == 0):
                bot = RLlibBot(algorithm.get_module(MAIN))
                for opponent in config.eval_against:
                    score, half = score_against(
                        config.env, bot, opponent, deals=config.eval_deals, progress=False
                    )
                    point |= {f"over {opponent}": score, f"half over {opponent}": half}
                _save(algorithm, league, folder)
            curve.write(json.dumps(point) + "\n")
            curve.flush()
            note = ", ".join(f"{k} {v:,.1f}" for k, v in point.items() if k != "iteration")
            bar.update(task, completed=done, note=note)
        _save(algorithm, league, folder)


def sampled(result: Mapping[str, Any]) -> int:
    """The learning policy's own decisions in a round, those of snapshots left out; 0 in one in which every runner was lost."""
    count = result.get("env_runners", {}).get("num_module_steps_sampled", {}).get(MAIN, 0)
    return 0 if math.isnan(count) else int(count)


def _save(algorithm: Algorithm, league: League, folder: Path) -> None:
    algorithm.save_to_path(str(folder / "checkpoint"))
    (folder / "league.json").write_text(
        json.dumps({"made": league.made, "snapshots": league.snapshots})
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; every field of :class:`Config` is an option."""
    parser = argparse.ArgumentParser(
        prog="python -m baselines.train.rllib",
        description="PPO in self-play or a league with RLlib on Ray.",
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
