"""Evolved PPO with AgileRL: ``python -m baselines.train.agilerl bolola/hearts-v0``.

A population of PPO agents learns on the native vector environment, bots around each learner, masks in ``info["action_mask"]``, where AgileRL
looks for them. After every generation the members play the same duplicate deals; a tournament picks who goes on, and
AgileRL's mutations change learning rates, batch sizes, entropy weights and the shape of networks. With a population of one it
is plain PPO.

Source: Schulman et al., "Proximal Policy Optimization Algorithms", 2017; Jaderberg et al., "Population Based Training of Neural Networks", 2017.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import math
import os
import random
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from baselines.evaluate import score_against
from baselines.extras import needs
from trick_core.bots import Bot, ScoringBot, as_bot
from trick_core.game import Setup, check_number, setup_for
from trick_core.learner import LearnerVectorEnv

with needs("agilerl"):
    import torch
    from agilerl.algorithms import PPO
    from agilerl.algorithms.core.registry import HyperparameterConfig, RLParameter
    from agilerl.hpo.mutation import Mutations
    from agilerl.hpo.tournament import TournamentSelection
    from agilerl.rollouts import collect_rollouts
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorWrapper

#: Training draws its tables' seeds from here on, this far apart for different seeds.
SEED_SPACING = 1 << 32

#: Integers, and the least that each may be.
_LEAST = {
    "generations": 1,
    "population": 1,
    "updates": 1,
    "tables": 1,
    "rollout": 1,
    "minibatch": 2,
    "epochs": 1,
    "layer": 1,
    "latent": 1,
    "tournament": 1,
    "fitness_deals": 2,
    "eval_every": 0,
    "eval_deals": 2,
    "torch_threads": 1,
}
#: Other numbers, and where they must lie.
_RANGES = {
    "learning_rate": (1e-6, 0.1),
    "gae_lambda": (0.0, 1.0),
    "clip": (1e-3, 1.0),
    "entropy": (0.0, 1.0),
    "mutate_settings": (0.0, 1.0),
    "mutate_network": (0.0, 1.0),
}


@dataclass(frozen=True)
class Config:
    """Settings of a run; kept beside its checkpoints.

    Attributes:
        env: Id of the environment.
        opponents: Bots around the learner: one name, or three for the seats after it.
        generations: Rounds of learning and selection.
        population: Agents.
        updates: Rollouts that each agent learns from in a generation.
        tables: Tables stepped together.
        rollout: Decisions a table between updates (13: one deal of Bolola).
        minibatch: Decisions a gradient step, at the start.
        epochs: Passes over a rollout.
        learning_rate: Adam's, at the start.
        gae_lambda: Decay of generalised advantages; the discount is 1.
        clip: PPO's clip range.
        entropy: Weight of the entropy bonus, at the start.
        layer: Hidden units of encoder and head, at the start.
        latent: Units between them.
        tournament: Agents that compete for each place in the next generation.
        mutate_settings: Chance that an agent's learning rate, batch size or entropy weight changes.
        mutate_network: Chance that its network changes shape.
        fitness_deals: Duplicate deals against the opponents that decide the selection; new ones in every generation.
        eval_every: Generations between evaluations on the suite; 0: only at the end.
        eval_deals: Suite deals of an evaluation.
        eval_against: Opponents of an evaluation.
        seed: Of deals, weights and mutations; below 2**31.
        folder: Where checkpoints and curve go.
        torch_threads: Threads that torch may use.

    Raises:
        ValueError: A setting out of range.
    """

    env: str = "bolola/hearts-v0"
    opponents: tuple[str, ...] = ("greedy",)
    generations: int = 20
    population: int = 4
    updates: int = 20
    tables: int = 256
    rollout: int = 13
    minibatch: int = 512
    epochs: int = 2
    learning_rate: float = 1e-3
    gae_lambda: float = 0.8
    clip: float = 0.2
    entropy: float = 0.005
    layer: int = 256
    latent: int = 128
    tournament: int = 2
    mutate_settings: float = 0.3
    mutate_network: float = 0.1
    fitness_deals: int = 100
    eval_every: int = 5
    eval_deals: int = 100
    eval_against: tuple[str, ...] = ("random", "greedy")
    seed: int = 0
    folder: str = "runs/agilerl"
    torch_threads: int = 1

    def __post_init__(self) -> None:
        setup_for(self.env)
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name}: expected an integer from {least} on, got {value!r}")
        for name, (low, high) in _RANGES.items():
            if not low <= check_number(name, getattr(self, name)) <= high:
                raise ValueError(
                    f"{name}: expected {low:g} to {high:g}, got {getattr(self, name)!r}"
                )
        if self.mutate_settings + self.mutate_network > 1:
            raise ValueError("mutate_settings + mutate_network: expected at most 1 together")
        if (
            isinstance(self.seed, bool)
            or not isinstance(self.seed, int)
            or not 0 <= self.seed < 2**31
        ):
            raise ValueError(f"seed: expected an integer from 0 and below 2**31, got {self.seed!r}")
        if len(self.opponents) not in (1, 3):
            raise ValueError(f"opponents: expected one bot or three, got {self.opponents!r}")
        for bot in (*self.opponents, *self.eval_against):
            as_bot(bot)


class Tables(VectorWrapper):
    """The vector environment of one learner as AgileRL wants it: flat float32 observations, the mask in ``info``."""

    def __init__(self, setup: Setup, config: Config) -> None:
        opponents: Any = config.opponents[0] if len(config.opponents) == 1 else config.opponents
        # A finished table shows the next deal at once: AgileRL takes every step for a decision.
        mode = AutoresetMode.SAME_STEP
        inner = LearnerVectorEnv(
            setup, config.tables, opponents=opponents, seat="rotate", autoreset_mode=mode
        )
        super().__init__(inner)
        self._size = setup.observed
        self.single_observation_space = spaces.Box(0.0, 1.0, (self._size,), np.float32)
        self.observation_space = spaces.Box(0.0, 1.0, (config.tables, self._size), np.float32)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        observation, _ = self.env.reset(seed=seed, options=options)
        return self._take(observation)

    def step(self, actions: Any) -> Any:
        observation, rewards, terminations, truncations, _ = self.env.step(actions)
        seen, info = self._take(observation)
        return seen, rewards, terminations, truncations, info

    def _take(self, observation: Any) -> tuple[Any, dict[str, Any]]:
        seen = observation["observation"][:, : self._size].astype(np.float32)
        return seen, {"action_mask": observation["action_mask"]}


class AgileBot(ScoringBot):
    """An agent of AgileRL as a bot: its most likely action."""

    def __init__(self, agent: Any, name: str = "agilerl") -> None:
        super().__init__(name, agent.observation_space.shape[0], int(agent.action_space.n))
        self.agent = agent

    def scores(self, observation: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        actor = self.agent.actor
        with torch.no_grad():
            seen = torch.as_tensor(observation.astype(np.float32))
            return actor.head_net.wrapped(actor.extract_features(seen)).numpy()  # type: ignore[no-any-return]


def make_bot(argument: str | None) -> Bot:
    """The bot of a run's folder or of one agent's file, as :func:`trick_core.bots.register_bot` takes it.

    Raises:
        ValueError: No folder is named.
        FileNotFoundError: There is no agent.
    """
    if not argument:
        raise ValueError("bot 'agilerl' needs a folder, as agilerl:runs/agilerl")
    file = Path(argument)
    if file.is_dir():
        file = file / "best.pt"
    if not file.is_file():
        raise FileNotFoundError(f"there is no agent of AgileRL at {file}")
    return AgileBot(_load_agent(file), f"agilerl:{file.parent.name}")


def make_agent(config: Config, tables: Tables, index: int) -> Any:
    """A new member of the population."""
    return PPO(
        tables.single_observation_space,
        tables.single_action_space,
        index=index,
        hp_config=HyperparameterConfig(
            lr=RLParameter(min=1e-5, max=1e-2),
            batch_size=RLParameter(min=64, max=4096, dtype=int),
            ent_coef=RLParameter(min=1e-4, max=0.05),
        ),
        net_config={  # a list each: mutations change them in place
            "latent_dim": config.latent,
            "encoder_config": {"hidden_size": [config.layer]},
            "head_config": {"hidden_size": [config.layer]},
        },
        batch_size=config.minibatch,
        lr=float(config.learning_rate),
        learn_step=config.tables * config.rollout,
        gamma=1.0,
        gae_lambda=config.gae_lambda,
        clip_coef=config.clip,
        ent_coef=config.entropy,
        update_epochs=config.epochs,
        share_encoders=False,
        num_envs=config.tables,
    )


def training_setup(config: Config) -> Setup:
    """The environment with the rewards that training uses: points over the table's mean, the contract worth 4 in all."""
    scale = 4.0 / max(setup_for(config.env).largest_return, 1.0)
    return setup_for(config.env, zero_sum=True, reward_scale=scale, illegal_action="raise")


class Run:
    """A population and what it has reached.

    Attributes:
        config: Its settings.
        tables: What it learns on.
        agents: The population; the first is the best of the last generation.
        generation: Generations finished.
        decisions: Decisions of all agents.
        curve: One entry a generation.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.tables = Tables(training_setup(config), config)
        _seed_everything(config.seed)
        self.agents = [make_agent(config, self.tables, index) for index in range(config.population)]
        self.generation = 0
        self.decisions = 0
        self.curve: list[dict[str, Any]] = []

    def advance(self) -> dict[str, Any]:
        """One generation: learn, compare, select and mutate. Returns its entry of the curve."""
        config, began = self.config, time.perf_counter()
        # What follows depends on the generation alone, so that a resumed run is like any other.
        _seed_everything(hash((config.seed, self.generation)) % 2**31)
        scores = [self._learn(agent) for agent in self.agents]
        seconds = time.perf_counter() - began
        fitness = [self._fitness(agent) for agent in self.agents]
        self.generation += 1
        per_agent = config.updates * config.tables * config.rollout
        self.decisions += per_agent * len(self.agents)
        point: dict[str, Any] = {
            "generation": self.generation,
            "decisions": self.decisions,
            "decisions_per_second": per_agent * len(self.agents) / seconds,
            "training_score": float(np.mean(scores)),
            "fitness": fitness,
            "learning_rates": [float(agent.lr) for agent in self.agents],
            "mutations": [str(agent.mut) for agent in self.agents],
        }
        self._select(fitness)
        last = self.generation >= config.generations
        if last or (config.eval_every and self.generation % config.eval_every == 0):
            bot = AgileBot(self.agents[0])
            for other in config.eval_against:
                mean, half = score_against(
                    config.env, bot, other, deals=config.eval_deals, progress=False
                )
                point |= {f"over {other}": mean, f"half over {other}": half}
        self.curve.append(point)
        return point

    def _learn(self, agent: Any) -> float:
        """Let an agent learn from the generation's deals, the same for all; its mean score, rewards a deal."""
        config = self.config
        first = SEED_SPACING * (config.seed + 1) + self.generation * config.tables
        observation, info = self.tables.reset(seed=first)
        done, running = np.zeros(config.tables), np.zeros(config.tables)
        finished: list[float] = []
        agent.set_training_mode(True)
        agent.init_training_step()
        for _ in range(config.updates):
            scores, observation, done, running, info = collect_rollouts(
                agent,
                self.tables,
                n_steps=config.rollout,
                last_obs=observation,
                last_done=done,
                last_scores=running,
                last_info=info,
            )
            finished += scores
            agent.learn()
        agent.finalize_training_step(config.updates * config.tables * config.rollout)
        return float(np.mean(finished)) if finished else math.nan

    def _fitness(self, agent: Any) -> float:
        """Points a deal over the table's mean against the first opponent, on deals of this generation."""
        config = self.config
        agent.set_training_mode(False)
        mean, _ = score_against(
            config.env,
            AgileBot(agent),
            config.opponents[0],
            deals=config.fitness_deals,
            seed=SEED_SPACING * (config.seed + 1) + self.generation,
            progress=False,
        )
        agent.fitness = [*agent.fitness, mean]
        return mean

    def _select(self, fitness: Sequence[float]) -> None:
        """The next generation: the best, and mutated winners of tournaments."""
        config = self.config
        if config.population == 1:
            return
        tournament = TournamentSelection(config.tournament, True, config.population)
        mutations = Mutations(
            no_mutation=1.0 - config.mutate_settings - config.mutate_network,
            architecture=config.mutate_network,
            new_layer_prob=0.2,
            parameters=0.0,
            activation=0.0,
            rl_hp=config.mutate_settings,
            mutate_elite=False,
            rand_seed=hash((config.seed, self.generation, 1)) % 2**31,
        )
        _, chosen, _ = tournament.select(self.agents)
        self.agents = mutations.mutation(chosen)
        for agent in self.agents:  # clones share Adam's moments with each other in AgileRL 2.58
            optimizer = agent.optimizer.optimizer
            optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))

    def save(self) -> None:
        """Write population, best agent, curve and settings; a write that is cut short leaves the last one whole."""
        folder = Path(self.config.folder)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"generation_{self.generation}"
        new, kept = folder / f"{name}.{os.getpid()}.tmp", folder / name
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        for number, agent in enumerate(self.agents):
            agent.save_checkpoint(str(new / f"agent_{number}.pt"))
        shutil.rmtree(kept, ignore_errors=True)
        new.replace(kept)
        state = {
            "config": asdict(self.config),
            "checkpoint": name,
            "generation": self.generation,
            "decisions": self.decisions,
            "curve": self.curve,
        }
        _replace_text(folder / "run.json", json.dumps(state, indent=1))
        best = folder / f"best.{os.getpid()}.tmp"
        shutil.copyfile(kept / "agent_0.pt", best)
        best.replace(folder / "best.pt")
        for other in folder.glob("generation_*"):
            if other != kept:
                shutil.rmtree(other, ignore_errors=True)

    @classmethod
    def load(cls, config: Config) -> Run:
        """The run in a folder, with its own settings but for ``generations``.

        Raises:
            FileNotFoundError: There is none.
            ValueError: Its files are damaged.
        """
        file = Path(config.folder) / "run.json"
        if not file.is_file():
            raise FileNotFoundError(f"no run to resume in {config.folder}")
        try:
            state = json.loads(file.read_text())
            values: dict[str, Any] = {
                key: tuple(value) if isinstance(value, list) else value
                for key, value in state["config"].items()
            }
            kept = replace(Config(**values), generations=config.generations, folder=config.folder)
            run = cls(kept)
            checkpoint = Path(config.folder) / state["checkpoint"]
            run.agents = [
                _load_agent(checkpoint / f"agent_{number}.pt") for number in range(kept.population)
            ]
            run.generation, run.decisions = int(state["generation"]), int(state["decisions"])
            run.curve = list(state["curve"])
        except (ValueError, TypeError, KeyError, OSError) as error:
            raise ValueError(f"{file} is not the state of a run: {error!r}") from None
        return run


def _load_agent(file: Path) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Attribute rollout_buffer")  # it is made anew
        agent = PPO.load(str(file))
    agent.create_rollout_buffer()
    return agent


def _seed_everything(seed: int) -> None:
    """AgileRL draws from the global generators."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def _replace_text(file: Path, text: str) -> None:
    temporary = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    temporary.write_text(text)
    temporary.replace(file)


def train(config: Config, resume: bool = False, progress: bool = True) -> AgileBot:
    """Train, and return the best agent.

    Args:
        config: Settings.
        resume: Continue the run in ``config.folder`` with its own settings but for ``generations``.
        progress: Show what goes on.

    Raises:
        FileExistsError: The folder holds a run, and ``resume`` is False.
        FileNotFoundError: It holds none, and ``resume`` is True.
    """
    torch.set_num_threads(config.torch_threads)
    if not resume and (Path(config.folder) / "run.json").exists():
        raise FileExistsError(f"{config.folder} holds a run; resume it, or choose another folder")
    run = Run.load(config) if resume else Run(config)
    with _display(run.config.generations, run.generation, progress) as show:
        while run.generation < run.config.generations:
            show(run.advance())
            run.save()
    run.tables.close()
    return AgileBot(run.agents[0], "agent")


@contextlib.contextmanager
def _display(total: int, done: int, shown: bool) -> Iterator[Any]:
    """A progress bar that takes the entries of the curve."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("generations"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), disable=not shown) as bar:
        task = bar.add_task("generations", total=total, completed=done, note="")

        def show(point: dict[str, Any]) -> None:
            note = f"{point['decisions_per_second']:,.0f} decisions/s, best {max(point['fitness']):+.1f}"
            over = [f"{name} {value:+.1f}" for name, value in point.items() if name[:5] == "over "]
            bar.update(task, completed=point["generation"], note=", ".join([note, *over]))

        yield show


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; every field of :class:`Config` is an option."""
    parser = argparse.ArgumentParser(
        prog="python -m baselines.train.agilerl",
        description="Evolved PPO with AgileRL.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    defaults = Config()
    parser.add_argument("env", nargs="?", default=defaults.env, help="id of the environment")
    for each in fields(Config)[1:]:
        default = getattr(defaults, each.name)
        option = f"--{each.name.replace('_', '-')}"
        if isinstance(default, tuple):
            parser.add_argument(option, nargs="+", default=default)
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
