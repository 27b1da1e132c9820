"""Which trainer for what: decisions a second and strength after given minutes, of each trainer of the library.

    python -m benchmarks.trainers [--env bolola/hearts-v0] [--minutes 5 30] [--cores 2] [--python NAME=PATH ...]

Each trainer runs in a process of its own, alone, pinned to the given number of cores, with torch threads as many; nothing else is changed
but that the clock ends the run, not a number of steps (falling learning rates reach 0 at the last mark). One run gives all
marks, so at an early one the learning rate is still high. The clock stands while kernels compile and while the policy is
evaluated: against three ``greedy-v1``, on the first deals of the environment's suite, each in four seatings. AgileRL's
generations are never cut, so its marks come late, and the games by which it selects are part of its training.

A trainer whose library this interpreter lacks is run by the first that has it: the one named by ``--python``, or those that
``nox --sessions libraries`` made. The file of results is written after each trainer, and what it holds is not measured again;
``python docs/generate.py`` puts benchmarks/results/trainers.json and trainers-short.json into docs/train/README.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from pathlib import Path
from typing import Any

from baselines.extras import MissingExtraError, needs
from benchmarks import report
from benchmarks.measure import machine, usable_cores
from trick_core.bots import Bot
from trick_core.game import setup_for

ROOT = Path(__file__).parent.parent
RESULTS = Path("benchmarks/results/trainers.json")
#: Another run in the documentation: five minutes of one core.
SHORT = Path("benchmarks/results/trainers-short.json")
AGAINST = "greedy-v1"
#: More rounds than any run has: the clock ends it.
ENDLESS = 10**6
#: Load a core above which the notes say that the machine was busy.
BUSY = 0.3
#: What docs/train/README.md says before anything has been measured.
NOTHING = (
    "Not measured yet: `python -m benchmarks.trainers` measures all trainers on one machine, and `python docs/generate.py` puts the "
    "table here."
)


# ---------------------------------------------------------------------------- the trainers


@dataclass
class Work:
    """A trainer at work, round by round.

    Attributes:
        config: Its settings.
        advance: Trains one round, given the share of the run that is done, 0 to 1; returns the decisions learned from in it, forced
            ones included.
        bot: The policy as it is now.
        close: Frees what it holds.
    """

    config: Any
    advance: Callable[[float], int]
    bot: Callable[[], Bot]
    close: Callable[[], None] = lambda: None


def _self_play(env: str, minutes: float, threads: int, **changes: Any) -> Work:
    from baselines.bots.net import NetBot
    from baselines.train.selfplay import SelfPlay, SelfPlayConfig

    config = SelfPlayConfig(envs=(env,), minutes=minutes, torch_threads=threads, **changes)
    run = SelfPlay(config)

    def advance(share: float) -> int:
        before = run.steps
        run.iterate(share)
        return run.steps - before

    return Work(config, advance, lambda: NetBot(run.net(), "agent", compiled=False))


def _playouts(env: str, minutes: float, threads: int, **changes: Any) -> Work:
    return _self_play(
        env, minutes, threads, head_start="playouts", head_steps=ENDLESS**2, **changes
    )


def _sb3(env: str, minutes: float, threads: int, **changes: Any) -> Work:
    import torch

    from baselines.train.sb3 import SB3Bot, TrainConfig, TrickVecEnv, new_model, training_setup

    config = TrainConfig(env=env, minutes=minutes, torch_threads=threads, **changes)
    torch.set_num_threads(threads)
    tables = TrickVecEnv(training_setup(config), config.tables, config.opponents)
    done = 0.0
    model = new_model(config, tables, lambda _: config.learning_rate * (1.0 - done))

    def advance(share: float) -> int:
        nonlocal done
        done, before = share, model.num_timesteps
        model.learn(config.tables * config.rollout, reset_num_timesteps=False)
        return int(model.num_timesteps - before)

    return Work(config, advance, lambda: SB3Bot(model, "agent"), tables.close)


def _rllib(env: str, minutes: float, threads: int, **changes: Any) -> Work:
    from baselines.train.rllib import (
        MAIN,
        Config,
        League,
        RLlibBot,
        algorithm_config,
        sampled,
    )

    with needs("ray"):
        import ray
        import torch

    config = Config(env=env, **changes)
    torch.set_num_threads(threads)
    if not ray.is_initialized():
        processes = config.runners + 1  # Ray starts nothing that it thinks has no core
        ray.init(
            num_cpus=processes, logging_level="ERROR", log_to_driver=False, include_dashboard=False
        )
    algorithm, league = algorithm_config(config).build_algo(), League(config)

    def advance(share: float) -> int:
        result = algorithm.train()
        if config.league and algorithm.iteration % config.snapshot_every == 0:
            league.update(algorithm, result)
        return sampled(result)

    return Work(
        config, advance, lambda: RLlibBot(algorithm.get_module(MAIN), "agent"), algorithm.stop
    )


def _torchrl(env: str, minutes: float, threads: int, **changes: Any) -> Work:
    from baselines.train.torchrl import Config, Run, TorchRLBot

    config = Config(env=env, threads=threads, iterations=ENDLESS, **changes)
    run = Run(config)
    collector = run.collector()
    rounds = iter(collector)

    def advance(share: float) -> int:
        data = next(rounds)
        run.learn(data)
        return int(data.numel())

    return Work(config, advance, lambda: TorchRLBot(run.policy, "agent"), collector.shutdown)


def _tianshou(env: str, minutes: float, threads: int, **changes: Any) -> Work:
    from baselines.train.tianshou import Config, Run, TianshouBot

    config = Config(env=env, threads=threads, iterations=ENDLESS, **changes)
    run = Run(config)
    collector = run.collector()

    def advance(share: float) -> int:
        run.round(collector)
        return config.tables * config.steps

    return Work(config, advance, lambda: TianshouBot(run.net, "agent"), collector.close)


def _agilerl(env: str, minutes: float, threads: int, **changes: Any) -> Work:
    import torch

    from baselines.train.agilerl import AgileBot, Config, Run

    config = Config(env=env, torch_threads=threads, generations=ENDLESS, eval_every=0, **changes)
    torch.set_num_threads(threads)
    run = Run(config)

    def advance(share: float) -> int:
        before = run.decisions
        run.advance()
        return run.decisions - before

    return Work(config, advance, lambda: AgileBot(run.agents[0], "agent"), run.tables.close)


@dataclass(frozen=True)
class Trainer:
    """One line of the table.

    Attributes:
        title: What the table calls it.
        learns: Whose decisions are counted.
        begin: ``(env, minutes, threads, **settings)``: the trainer at work.
        package: What has to be installed, as it is imported.
        distribution: The same, as it is installed.
        small: Settings of a run that only compiles.
    """

    title: str
    learns: str
    begin: Callable[..., Work]
    package: str
    distribution: str
    small: Mapping[str, Any]


_ALL, _ONE = "all four seats", "one seat among `greedy`"
TRAINERS: Mapping[str, Trainer] = {
    "self-play": Trainer("self-play", _ALL, _self_play, "torch", "torch", {"tables": 4}),
    "playouts": Trainer(
        "self-play with playouts",
        _ALL,
        _playouts,
        "torch",
        "torch",
        {"tables": 4, "head_tables": 4},
    ),
    "sb3": Trainer("SB3", _ONE, _sb3, "sb3_contrib", "sb3-contrib", {"tables": 4}),
    "rllib": Trainer(
        "RLlib",
        "all four seats, or one among past selves",
        _rllib,
        "ray",
        "ray",
        {"batch": 64, "minibatch": 64},
    ),
    "torchrl": Trainer("TorchRL", _ALL, _torchrl, "torchrl", "torchrl", {"tables": 4}),
    "tianshou": Trainer("Tianshou", _ONE, _tianshou, "tianshou", "tianshou", {"tables": 4}),
    "agilerl": Trainer(
        "AgileRL",
        "one seat among `greedy`, four agents",
        _agilerl,
        "agilerl",
        "agilerl",
        {"tables": 4, "updates": 1, "fitness_deals": 2},
    ),
}


# ---------------------------------------------------------------------------- the process of a trainer


@dataclass(frozen=True)
class Settings:
    """What is measured; the same for all trainers of a table.

    Attributes:
        env: Id of the environment.
        minutes: Marks, minutes of training, rising.
        deals: Deals of the suite at a mark.
        cores: Cores that a trainer's processes may use, and threads of torch.
    """

    env: str
    minutes: tuple[float, ...]
    deals: int
    cores: int

    def __post_init__(self) -> None:
        setup_for(self.env)
        if not self.minutes or list(self.minutes) != sorted({m for m in self.minutes if m > 0}):
            raise ValueError(f"minutes: expected rising numbers above 0, got {self.minutes!r}")
        if self.deals < 2:
            raise ValueError(f"deals: expected at least 2, got {self.deals}")
        if not 1 <= self.cores <= usable_cores():
            raise ValueError(f"cores: expected 1 to {usable_cores()}, got {self.cores}")


def work(name: str, settings: Settings, say: Callable[[dict[str, Any]], None]) -> None:
    """Train to the last mark, and say what was found on the way.

    Args:
        name: The trainer.
        settings: What is measured.
        say: Called with ``progress`` after each round, ``mark`` at each mark, ``done`` at the end.

    Raises:
        MissingExtraError: Its library is not installed.
    """
    pinned = hasattr(os, "sched_setaffinity")
    if pinned:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: settings.cores])
    trainer, minutes = TRAINERS[name], settings.minutes[-1]
    begin = (settings.env, minutes, settings.cores)
    with closing(trainer.begin(*begin, **trainer.small)) as small:  # compiles
        for share in (0.0, 1.0, 1.0):
            small.advance(share)
    from baselines.evaluate import score_against

    seconds, decisions = 0.0, 0
    with closing(trainer.begin(*begin)) as run:
        for mark in settings.minutes:
            while seconds < 60 * mark:
                began = time.perf_counter()
                decisions += run.advance(seconds / (60 * minutes))
                seconds += time.perf_counter() - began
                say({"progress": seconds, "decisions": decisions})
            mean, half = score_against(
                settings.env, run.bot(), AGAINST, deals=settings.deals, progress=False
            )
            found = {"minutes": mark, "seconds": seconds, "decisions": decisions}
            say({"mark": {**found, "mean": mean, "half": half}})
        say(
            {
                "done": {
                    "pinned": pinned,
                    "settings": _changed(run.config),
                    "python": platform.python_version(),
                    "versions": {
                        each: metadata.version(each)
                        for each in dict.fromkeys((trainer.distribution, "torch"))
                    },
                }
            }
        )


def _changed(config: Any) -> dict[str, Any]:
    """The settings that are not the trainer's own defaults."""
    plain = type(config)()
    values = {each.name: getattr(config, each.name) for each in fields(config)}
    return {name: value for name, value in values.items() if value != getattr(plain, name)}


def _worker(order: str) -> int:
    """The process of a trainer: one JSON object a line on stdout, where the libraries' own words do not go."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(message: dict[str, Any]) -> None:
        print(json.dumps(message), file=out, flush=True)

    asked = json.loads(order)
    name = asked.pop("trainer")
    try:
        work(name, Settings(**asked | {"minutes": tuple(asked["minutes"])}), say)
    except MissingExtraError as error:
        say({"missing": str(error)})
    except Exception as error:
        say({"failed": f"{type(error).__name__}: {error}".partition("\n")[0]})
        raise
    return 0


# ---------------------------------------------------------------------------- the run


def interpreter(name: str, given: Mapping[str, str]) -> str:
    """The Python that runs a trainer: the one given, else the first of this one and nox's that has its library, else this one."""
    if name in given:
        return given[name]
    package = TRAINERS[name].package
    if importlib.util.find_spec(package) is not None:
        return sys.executable
    test = f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"
    for python in sorted(ROOT.glob(".nox/libraries-*/bin/python")):
        if subprocess.run([python, "-c", test], check=False, capture_output=True).returncode == 0:
            return str(python)
    return sys.executable


def measure(
    name: str, settings: Settings, python: str, progress: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Run a trainer in a process of its own.

    Args:
        name: The trainer.
        settings: What is measured.
        python: The interpreter that has its library.
        progress: Called with what the process says.

    Returns:
        Its entry of the results: ``marks``, ``seconds``, ``decisions`` and more; or ``missing`` or ``failed`` with a sentence.
    """
    here = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(settings.cores))
    order = json.dumps({"trainer": name, **asdict(settings)})
    marks: list[dict[str, Any]] = []
    done: dict[str, Any] | None = None
    failed = "the process ended without a word"
    with (
        tempfile.TemporaryFile("w+") as words,
        subprocess.Popen(
            [python, "-m", "benchmarks.trainers", "--worker", order],
            env={**os.environ, **threads, "PYTHONPATH": here},
            stdout=subprocess.PIPE,
            stderr=words,
            text=True,
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                message = json.loads(line)
                if "missing" in message:
                    return {"missing": message["missing"]}
                failed = message.get("failed", failed)
                progress(message)
                if "mark" in message:
                    marks.append(message["mark"])
                done = message.get("done", done)
        finally:
            if done is None:  # interrupted, or of no more use
                process.terminate()
        if done is None:
            words.seek(0)
            print(words.read(), file=sys.stderr)
            return {"failed": failed}
    last_mark = marks[-1]
    kept = {"seconds": last_mark["seconds"], "decisions": last_mark["decisions"]}
    return {"marks": marks, **kept, **done}


def load(file: Path, settings: Settings, cpu: str) -> tuple[dict[str, Any], str | None]:
    """The trainers that a file of results holds, and its remark.

    Raises:
        ValueError: It was measured with other settings or on another machine, or holds something else.
    """
    if not file.exists():
        return {}, None
    try:
        content = json.loads(file.read_text())
        held, where = content["settings"], content["machine"]["cpu"]
        trainers = dict(content["trainers"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} holds no results of this benchmark: {error!r}") from None
    asked = json.loads(json.dumps(asdict(settings)))
    if held != asked or where != cpu:
        raise ValueError(
            f"{file} holds results of {held} on {where}, not of {asked} on {cpu}: "
            "take another file (--json), or drop them (--fresh)"
        )
    return trainers, content.get("remark")


@contextmanager
def _display(settings: Settings) -> Iterator[Callable[[str], Callable[[dict[str, Any]], None]]]:
    """A bar for each trainer on a terminal, lines at the marks elsewhere."""
    with needs("train"):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    console = Console(stderr=True)
    total = 60 * settings.minutes[-1]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:

        def begin(title: str) -> Callable[[dict[str, Any]], None]:
            task, scores = bars.add_task(title, total=total, note="getting ready"), ""

            def show(message: dict[str, Any]) -> None:
                nonlocal scores
                if "progress" in message:
                    seconds, decisions = message["progress"], message["decisions"]
                    note = f"{decisions:,} decisions, {decisions / seconds:,.0f}/s{scores}"
                    bars.update(task, completed=min(seconds, total), note=note)
                elif "mark" in message:
                    mark = message["mark"]
                    scores += f", {_points(mark)} after {mark['minutes']:g} min"
                    if not console.is_terminal:
                        console.print(f"{title}{scores}", soft_wrap=True)

            return show

        yield begin


# ---------------------------------------------------------------------------- the table


def _points(mark: Mapping[str, Any]) -> str:
    late = mark["seconds"] > 1.1 * 60 * mark["minutes"]
    return f"{mark['mean']:+.1f} ± {mark['half']:.1f}" + (
        f" (at {mark['seconds'] / 60:.2g} min)" if late else ""
    )


def table(content: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the results, the strongest at the last mark first; at the end those that were not measured, with the reason."""
    minutes = content["settings"]["minutes"]
    header = ["trainer", "decisions of", "decisions/s", "decisions"]
    header += [f"after {m:g} min" for m in minutes]
    rows, rest = [], []
    for name, entry in _by_strength(content):
        trainer = TRAINERS[name]
        if "marks" in entry:
            rate = report.number(entry["decisions"] / entry["seconds"])
            marks = [_points(mark) for mark in entry["marks"]]
            rows.append(
                [trainer.title, trainer.learns, rate, report.number(entry["decisions"]), *marks]
            )
        else:
            reason = entry.get("missing") or f"it failed: {entry['failed']}"
            text = "not measured: " + reason.replace("|", "/")
            rest.append([trainer.title, trainer.learns, text, *[""] * (len(minutes) + 1)])
    return header, rows + rest


def _by_strength(content: Mapping[str, Any]) -> list[tuple[str, Any]]:
    def strength(item: tuple[str, Any]) -> float:
        marks = item[1].get("marks")
        return -marks[-1]["mean"] if marks else 0.0

    known = [(name, content["trainers"][name]) for name in TRAINERS if name in content["trainers"]]
    return sorted(known, key=strength)


def answers(content: Mapping[str, Any]) -> list[str]:
    """What the table says, in sentences: the strongest at each mark, whom its interval does not tell apart from it, and the quickest."""
    measured = {name: each for name, each in content["trainers"].items() if "marks" in each}
    if len(measured) < 2:
        return []
    lines = []
    for k, minutes in enumerate(content["settings"]["minutes"]):
        marks = {name: each["marks"][k] for name, each in measured.items()}
        first = max(marks, key=lambda name: marks[name]["mean"])
        least = marks[first]["mean"] - marks[first]["half"]
        like = [n for n, m in marks.items() if n != first and m["mean"] + m["half"] >= least]
        text = f"Strongest after {minutes:g} minutes: {TRAINERS[first].title}"
        if like:
            text += f"; its interval meets that of {', '.join(TRAINERS[n].title for n in like)}"
        lines.append(text + ".")
    quickest = max(measured, key=lambda n: measured[n]["decisions"] / measured[n]["seconds"])
    return [*lines, f"Most decisions a second: {TRAINERS[quickest].title}."]


def notes(content: Mapping[str, Any]) -> list[str]:
    """What the figures hold for, as lines."""
    settings, here = content["settings"], content["machine"]
    measured = [each for each in content["trainers"].values() if "marks" in each]
    versions: dict[str, str] = {}
    for each in measured:
        for name, version in each["versions"].items():
            if version not in versions.setdefault(name, version).split(" or "):
                versions[name] += f" or {version}"
    cores = f"{settings['cores']} core{'s' if settings['cores'] > 1 else ''}"
    pinned = "pinned to" if all(each["pinned"] for each in measured) else "meant for"
    lines = [
        f"{settings['env']}; points a deal over the table's mean with three `{AGAINST}` at the table, ± half the 95 % interval, on the first "
        f"{settings['deals']} deals of the suite in four seatings; decisions include forced ones",
        f"one run gives all marks; the clock stands during compiling and evaluation, and falling learning rates reach 0 at "
        f"{settings['minutes'][-1]:g} minutes",
        "all settings are the trainers' defaults but the environment, the length and torch's threads (1 by default, here as many as cores); playouts: "
        '`head_start="playouts"` all the time',
        f"each trainer alone, its processes {pinned} {cores} of {here['cores']}; RLlib plays in a process of its own beside the learner",
        f"{here['cpu']}; {here['system']}; Python {here['python']}; "
        + ", ".join(f"{name} {version}" for name, version in sorted(versions.items())),
    ]
    if missing := [
        each.title for name, each in TRAINERS.items() if name not in content["trainers"]
    ]:
        lines.append(f"not measured in this run: {', '.join(missing)}")
    if content.get("remark"):
        lines.append(content["remark"])
    if here["load"] is not None and here["load"] > BUSY * here["cores"]:
        lines.append(
            f"the machine was busy when this began (load {here['load']}): read the order, not the rates"
        )
    return lines


def markdown(content: Mapping[str, Any]) -> str:
    """The part of docs/train/README.md."""
    parts = [report.markdown(*table(content)), *(f"- {line}" for line in answers(content))]
    return "\n".join([*parts, "", *(f"- {line}" for line in notes(content))])


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trainers", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--env", default="bolola/hearts-v0")
    parser.add_argument(
        "--minutes", nargs="+", type=float, default=[5, 30], help="marks of one run (5 30)"
    )
    parser.add_argument(
        "--trainers", nargs="+", choices=list(TRAINERS), default=list(TRAINERS), help="all"
    )
    parser.add_argument("--cores", type=int, default=min(2, usable_cores()), help="of each trainer")
    parser.add_argument("--deals", type=int, default=200, help="of an evaluation (200)")
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="interpreter of a trainer",
    )
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="FILE", help=str(RESULTS))
    parser.add_argument(
        "--fresh", action="store_true", help="measure anew what FILE holds of these trainers"
    )
    parser.add_argument("--remark", metavar="TEXT", help="a line for the notes: what else went on")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.worker:
        return _worker(options.worker)
    given = {}
    for each in options.python:
        name, _, path = each.partition("=")
        if name not in TRAINERS or not os.access(path, os.X_OK):
            parser.error(f"--python: expected NAME=PATH, a trainer's interpreter, got {each!r}")
        given[name] = path
    here = machine()
    try:
        settings = Settings(options.env, tuple(options.minutes), options.deals, options.cores)
    except ValueError as error:
        parser.error(str(error))
    known: dict[str, Any] = {}
    remark: str | None = None
    try:
        known, remark = load(options.json, settings, here["cpu"])
    except ValueError as error:
        if not options.fresh:
            parser.error(str(error))
    if options.fresh:
        known = {name: each for name, each in known.items() if name not in options.trainers}
    content: dict[str, Any] = {"machine": here, "settings": asdict(settings)}
    content["trainers"] = known
    if options.remark or remark:
        content["remark"] = options.remark or remark
    try:
        with _display(settings) as begin:
            for name in options.trainers:
                if "marks" not in known.get(name, {}):
                    progress = begin(TRAINERS[name].title)
                    known[name] = measure(name, settings, interpreter(name, given), progress)
                    report.write_json(options.json, content)
    except KeyboardInterrupt:
        print(f"interrupted: what was measured is in {options.json}", file=sys.stderr)
        return 130
    if options.markdown:
        print(markdown(content))
    else:
        report.show("Trainers", *table(content))
        print("\n".join([*answers(content), *notes(content)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
