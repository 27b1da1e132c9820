"""The command ``trick-envs``: train, evaluate, ladder, grade, play, replay, warmup, envs, demo."""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from baselines.extras import MissingExtraError

GAMES = ("bolola", "tarot")
TRAINERS = ("sb3", "self-play")

USAGE_ERROR, FAILURE, INTERRUPTED = 2, 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0, 1 (it failed), 2 (wrong arguments), 130 (interrupted)."""
    parser = _parser()
    options = parser.parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except BrokenPipeError:
        return FAILURE
    except (
        ValueError,
        TypeError,
        FileNotFoundError,
        IsADirectoryError,
        NotADirectoryError,
        FileExistsError,
    ) as error:
        print(f"trick-envs: {error}", file=sys.stderr)
        return USAGE_ERROR
    except (MissingExtraError, OSError, MemoryError) as error:
        print(f"trick-envs: {error}", file=sys.stderr)
        return FAILURE
    except KeyboardInterrupt:
        print("trick-envs: interrupted", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="trick-envs",
        description="Trick-taking card games for reinforcement learning.",
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(name: str, summary: str, command: Callable[[argparse.Namespace], int]) -> Any:
        sub = commands.add_parser(
            name,
            help=summary,
            description=summary,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        sub.set_defaults(command=command)
        return sub

    sub = add("envs", "List the environments and the bots.", _envs)

    sub = add("train", "Train a policy: MaskablePPO against bots, or self-play.", _train)
    _environment(sub, several=True)
    sub.add_argument(
        "--trainer",
        choices=TRAINERS,
        default="sb3",
        help="sb3: MaskablePPO in one environment against bots; self-play: one net in all seats, in one or several environments",
    )
    sub.add_argument(
        "--opponents",
        nargs="+",
        metavar="BOT",
        help="sb3: one bot, or the three after the learner in play order (greedy if left out); "
        "self-play: who holds some seats at some tables, 'past' for frozen earlier selves (nobody if left out)",
    )
    sub.add_argument("--steps", type=_count, default=1_000_000, help="decisions of the learner")
    sub.add_argument("--minutes", type=float, help="stop after this much time")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--imitate", metavar="BOT", help="learn this bot's choices first")
    sub.add_argument(
        "--imitate-seconds", type=float, default=60.0, help="sb3: how long to learn them"
    )
    sub.add_argument(
        "--playouts",
        metavar="BOT",
        help="self-play: learn first what each action brings if this bot plays on",
    )
    sub.add_argument(
        "--head-steps",
        type=_count,
        help="self-play: decisions of --imitate (a quarter of --steps if left out) or --playouts (all of them), before PPO",
    )
    sub.add_argument(
        "--init", metavar="NET", help="self-play: start from a net, of the library or a file"
    )
    sub.add_argument(
        "--weights",
        nargs="+",
        type=float,
        metavar="W",
        help="self-play: how often each environment is played",
    )
    sub.add_argument("--tables", type=_count, default=256, help="tables stepped together")
    sub.add_argument("--learning-rate", type=float, default=1e-3, help="at the start; falls to 0")
    sub.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other setting of the trainer, as entropy=0.01; may be repeated",
    )
    sub.add_argument(
        "--log",
        choices=("none", "tensorboard", "wandb"),
        default="none",
        help="self-play: where losses go",
    )
    sub.add_argument("--eval-every", type=float, default=30.0, help="seconds between evaluations")
    sub.add_argument("--eval-deals", type=_count, default=100, help="deals at an evaluation")
    sub.add_argument("--out", default="runs/train", help="folder of checkpoint and curve")
    sub.add_argument(
        "--resume",
        action="store_true",
        help="continue the run in --out, with its own settings but for --steps and --minutes",
    )
    sub.add_argument("--overwrite", action="store_true", help="replace the run in --out")
    sub.add_argument("--torch-threads", type=_count, default=1)

    sub = add("evaluate", "Play policies against each other on duplicate deals.", _evaluate)
    _environment(sub)
    sub.add_argument(
        "--policies",
        nargs="+",
        default=["greedy", "random"],
        metavar="BOT",
        help="the first against the others: one other fills the three seats; also sb3:FILE. With --against: candidates",
    )
    sub.add_argument(
        "--against",
        nargs="+",
        metavar="BOT",
        help="compare the policies among these opponents, each a row: one bot for three of it, or three joined by +",
    )
    sub.add_argument(
        "--versus",
        nargs="+",
        default=[],
        metavar="BOT",
        help="with --against: further policies, in the same seats of the same deals",
    )
    sub.add_argument(
        "--deals", type=_count, help="deals of the suite; all if left out. With --until: at most"
    )
    sub.add_argument("--suite", help="a named suite; the environment's own if left out")
    sub.add_argument("--seed", type=int, help="deals from this seed instead of a suite")
    sub.add_argument(
        "--until",
        type=float,
        metavar="POINTS",
        help="as many deals as make the 95%% interval no wider than +- so many points",
    )
    sub.add_argument(
        "--arrangements",
        choices=["all", "rotations", "one"],
        default="all",
        help="orders of the seats that each deal is played in",
    )
    sub.add_argument(
        "--control", metavar="BOT", help="take off the luck that this bot has in the same place"
    )
    sub.add_argument("--threads", type=_count, default=1)
    sub.add_argument("--json", type=Path, metavar="FILE", help="write the result here as well")

    sub = add("ladder", "Everybody against everybody: tables, ratings, a heat map.", _ladder)
    sub.add_argument("envs", nargs="*", metavar="ENV", help="environment ids")
    sub.add_argument("--policies", nargs="+", default=["random", "greedy"], metavar="BOT")
    sub.add_argument(
        "--against",
        nargs="+",
        metavar="BOT",
        help="tables: one bot for three of it, or three joined by +; if left out, three of each policy",
    )
    sub.add_argument(
        "--release",
        action="store_true",
        help="all environments with a suite, all bots that are there; --policies does not count",
    )
    sub.add_argument("--deals", type=_count, help="deals of a cell; the whole suite if left out")
    sub.add_argument("--seed", type=int, help="deals from this seed instead of the suites")
    sub.add_argument(
        "--minutes",
        type=float,
        help="time for a cell on one core: fewer deals where it does not suffice (--release: 1, without --total)",
    )
    sub.add_argument(
        "--total",
        type=float,
        metavar="MINUTES",
        help="time for the whole ladder on all workers, shared out among the cells",
    )
    sub.add_argument("--workers", type=_count, help="processes; one a core if left out")
    sub.add_argument(
        "--ray",
        nargs="?",
        const="auto",
        metavar="ADDRESS",
        help="play on a Ray cluster; 'local' starts one here",
    )
    sub.add_argument("--chunk", type=_count, default=50, help="deals that a worker plays at a time")
    sub.add_argument("--out", type=Path, default=Path("runs/ladder"), help="folder of the run")
    sub.add_argument(
        "--publish",
        type=Path,
        metavar="DOCS",
        help="also write ladder.json and figures/ladder.png into this folder, for docs/generate.py",
    )
    sub.add_argument("--report", action="store_true", help="play nothing, report what there is")

    sub = add("grade", "Compare a policy's endings with the exact solution.", _grade)
    _environment(sub)
    sub.add_argument("--policy", default="greedy", metavar="BOT")
    sub.add_argument(
        "--opponents", metavar="BOT", help="plays the other seats; the policy itself if left out"
    )
    sub.add_argument("--cards", type=_count, default=5, help="from so many cards a hand on")
    sub.add_argument("--model", default="game", help="what the others want: game or paranoid")
    sub.add_argument("--deals", type=_count, help="deals of the suite; all if left out")
    sub.add_argument("--suite", help="a named suite; the environment's own if left out")
    sub.add_argument("--seed", type=int, help="deals from this seed instead of a suite")
    sub.add_argument("--threads", type=_count, default=1)
    sub.add_argument("--json", type=Path, metavar="FILE", help="write the result here as well")

    sub = add("play", "Play a seat yourself, at the terminal.", _play)
    _environment(sub)
    sub.add_argument("--seat", type=int, default=0, help="your seat, 0 to 3")
    sub.add_argument("--opponents", nargs="+", default=["greedy"], metavar="BOT")
    sub.add_argument("--seed", type=int, help="deal from this seed")
    sub.add_argument("--record", type=Path, metavar="FILE", help="keep the deal in this file")

    sub = add("replay", "Show a recorded deal step by step.", _replay)
    sub.add_argument("file", type=Path, help="a record")
    sub.add_argument("--seat", type=int, help="from this seat's view; all hands if left out")
    sub.add_argument(
        "--from", dest="first", type=int, default=0, help="actions taken where it starts"
    )
    sub.add_argument("--to", dest="last", type=int, help="actions taken where it ends")
    sub.add_argument(
        "--step",
        action=argparse.BooleanOptionalAction,
        help="wait after every action; if left out, at a terminal only",
    )

    sub = add("warmup", "Compile the kernels and keep them, for images and clusters.", _warmup)
    sub.add_argument("games", nargs="*", default=list(GAMES), help="games to compile")
    sub.add_argument(
        "--opponents",
        nargs="+",
        metavar="BOT",
        default=["random", "greedy"],
        help="bots that will be played against, or roll out",
    )

    sub = add("demo", "Measure, train, evaluate, and leave a report.", _demo)
    sub.add_argument("env", nargs="?", default="bolola/hearts-v0", help="environment id")
    sub.add_argument("--minutes", type=float, default=4.0, help="time to train")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--out", default="runs/demo", help="folder of the report")
    return parser


def _environment(parser: argparse.ArgumentParser, several: bool = False) -> None:
    if several:
        parser.add_argument(
            "env", nargs="+", help="environment ids, as bolola/hearts-v0 (see trick-envs envs)"
        )
    else:
        parser.add_argument("env", help="environment id, as bolola/hearts-v0 (see trick-envs envs)")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the environment, the value as JSON or text; may be repeated",
    )
    parser.add_argument(
        "--contract",
        metavar="MODULE:NAME",
        help="a contract row of your own, for bolola/custom-v0",
    )


def _setup(options: argparse.Namespace) -> Any:
    from trick_core.game import setup_for

    return setup_for(options.env, **_env_options(options))


def _env_options(options: argparse.Namespace) -> dict[str, Any]:
    given = _pairs("--option", options.option)
    if options.contract is not None:
        given["contract"] = _import(options.contract)
    return given


def _pairs(flag: str, items: Sequence[str]) -> dict[str, Any]:
    """The values of a flag that may be repeated, by name."""
    given: dict[str, Any] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise ValueError(f"{flag}: expected NAME=VALUE, got {item!r}")
        try:
            given[name.replace("-", "_")] = json.loads(value)
        except json.JSONDecodeError:
            given[name.replace("-", "_")] = value
    return given


def _import(place: str) -> Any:
    """The object at ``module:name``; the working directory is searched too."""
    module, colon, name = place.partition(":")
    if not colon:
        raise ValueError(f"--contract: expected MODULE:NAME, got {place!r}")
    sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:  # it is the user's module, which may raise anything
        what = (
            "" if isinstance(error, (ImportError, AttributeError)) else f"{type(error).__name__}: "
        )
        raise ValueError(f"--contract: {place}: {what}{error}") from None
    finally:
        sys.path.remove("")


def _count(text: str) -> int:
    """A whole number above 0; underscores and ``1e6`` are welcome."""
    try:
        value = float(text.replace("_", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}") from None
    if not 1 <= value < math.inf or value != int(value):
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, got {text!r}")
    return int(value)


def _check_writable(file: Path) -> None:
    """Find out before the work, not after it, that its result cannot be kept.

    Raises:
        OSError: The file cannot be written.
    """
    new = not file.exists()
    with file.open("a"):
        pass
    if new:
        file.unlink()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"trick-envs {version('trick-envs')}"
    except PackageNotFoundError:
        return "trick-envs (not installed)"


def _envs(options: argparse.Namespace) -> int:
    from trick_core.bots import bot_names
    from trick_core.game import find_game

    for name in GAMES:
        for variant in find_game(name).variants:
            print(f"{name}/{variant.replace('_', '-')}-v0")
    print("bots: " + ", ".join(bot_names()))
    return 0


def _train(options: argparse.Namespace) -> int:
    return _train_selfplay(options) if options.trainer == "self-play" else _train_sb3(options)


def _shared_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that both trainers take under the same names."""
    names = ["steps", "minutes", "seed", "tables", "learning_rate", "eval_every", "eval_deals"]
    names += ["overwrite", "torch_threads"]
    return {
        **{name: getattr(options, name) for name in names},
        "options": _env_options(options),
        "folder": options.out,
    }


def _configured(kind: Any, options: argparse.Namespace, settings: dict[str, Any]) -> Any:
    """A trainer's settings, with those of ``--set``.

    Raises:
        ValueError: The trainer has no such setting, or it has a flag of its own.
    """
    from dataclasses import fields

    for name, value in _pairs("--set", options.set).items():
        known = [each.name for each in fields(kind) if each.name not in settings]
        if name not in known:
            raise ValueError(f"--set: no setting {name!r}; there are {', '.join(known)}")
        settings[name] = tuple(value) if isinstance(value, list) else value
    return kind(**settings)


def _train_sb3(options: argparse.Namespace) -> int:
    from baselines.train.sb3 import TrainConfig, train

    for name in ("playouts", "head_steps", "init", "weights"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name.replace('_', '-')}: only with --trainer self-play")
    if len(options.env) > 1 or options.log != "none":
        what = "several environments" if len(options.env) > 1 else "--log"
        raise ValueError(f"{what}: only with --trainer self-play")
    opponents = options.opponents or ["greedy"]
    settings = {
        "env": options.env[0],
        "opponents": opponents[0] if len(opponents) == 1 else opponents,
        "imitate": options.imitate,
        "imitate_seconds": options.imitate_seconds,
        **_shared_settings(options),
    }
    config = _configured(TrainConfig, options, settings)
    result = train(config, resume=options.resume)
    last = result.curve[-1]
    print(f"{result.steps:,} decisions in {result.seconds / 60:.1f} minutes")
    for name in config.eval_against:
        mean, half = last[f"{name}_mean"], last[f"{name}_ci95"]
        print(
            f"against three {name}: {mean:+.1f} +- {half:.1f} points a deal relative to the table"
        )
    print(f"model, curve and settings: {result.folder}")
    return 0


def _train_selfplay(options: argparse.Namespace) -> int:
    from baselines.train.selfplay import SelfPlayConfig, train

    if options.imitate and options.playouts:
        raise ValueError("--imitate, --playouts: give one of them")
    settings = {
        "envs": tuple(options.env),
        "weights": None if options.weights is None else tuple(options.weights),
        "init": options.init,
        "opponents": tuple(options.opponents or ()),
        "log": options.log,
        **_shared_settings(options),
    }
    if teacher := options.imitate or options.playouts:
        settings["teacher"] = teacher
        settings["head_start"] = "imitate" if options.imitate else "playouts"
        # PPO improves on a bot that is imitated; it falls short of playouts for a long time.
        share = 4 if options.imitate else 1
        settings["head_steps"] = options.head_steps or options.steps // share
    config = _configured(SelfPlayConfig, options, settings)
    result = train(config, resume=options.resume)
    last = result.curve[-1]
    print(f"{result.steps:,} decisions in {result.seconds / 60:.1f} minutes")
    for name, value in last.items():
        bot, slash, variant = name.partition("/")
        if slash:
            print(f"{variant} against three {bot}: {value:+.1f}")
    for name in config.eval_against:
        mean, half = last[f"{name}_mean"], last[f"{name}_ci95"]
        print(
            f"against three {name}: {mean:+.1f} +- {half:.1f} points a deal relative to the table"
        )
    print(f"net, checkpoint, curve and settings: {result.folder}")
    print(f"as a bot: net:{result.folder / 'net.npz'}")
    return 0


def _evaluate(options: argparse.Namespace) -> int:
    from baselines.evaluate import compare, evaluate, print_result

    if options.json is not None:
        _check_writable(options.json)
    settings: dict[str, Any] = {
        "suite": options.suite,
        "deals": options.deals,
        "seed": options.seed,
        "until": options.until,
        "arrangements": options.arrangements,
        "num_threads": options.threads,
        "progress": True,
    }
    result: Any
    if options.against is None:
        if options.versus:
            raise ValueError("--versus: needs --against, the opponents of both")
        result = evaluate(_setup(options), options.policies, control=options.control, **settings)
    else:
        if options.control is not None:
            raise ValueError("--control: candidates on the same deals share their luck already")
        policies = [*options.policies, *options.versus]
        result = compare(_setup(options), *policies, opponents=options.against, **settings)
    print_result(result)
    if options.json is not None:
        options.json.write_text(result.to_json())
    return 0


def _ladder(options: argparse.Namespace) -> int:
    from baselines.evaluate import print_result
    from baselines.evaluation.published import publish
    from baselines.ladder import ladder, release

    if bool(options.envs) == options.release:
        raise ValueError("ladder: give environments, or --release")
    settings: dict[str, Any] = {
        "deals": options.deals,
        "seed": options.seed,
        "minutes": options.minutes,
        "total": options.total,
        "workers": options.workers,
        "ray": options.ray,
        "finish": not options.report,
        "chunk": options.chunk,
        "progress": True,
    }
    if options.against is not None:
        settings["against"] = options.against
    if options.publish is not None and not options.publish.is_dir():
        raise ValueError(f"--publish: no folder {options.publish}")
    if options.release:
        result = release(options.out, **settings)
    else:
        result = ladder(options.envs, options.policies, folder=options.out, **settings)
    print_result(result)
    files = result.write(options.out)
    if options.publish is not None:
        files += publish(result, options.publish)
    for file in files:
        print(file)
    return 0


def _grade(options: argparse.Namespace) -> int:
    from baselines.evaluate import print_result
    from baselines.grade import grade

    if options.json is not None:
        _check_writable(options.json)
    result = grade(
        _setup(options),
        options.policy,
        options.deals,
        cards=options.cards,
        opponents=options.opponents,
        model=options.model,
        suite=options.suite,
        seed=options.seed,
        num_threads=options.threads,
        progress=True,
    )
    print_result(result)
    if options.json is not None:
        options.json.write_text(result.to_json())
    return 0


def _play(options: argparse.Namespace) -> int:
    from baselines.play import play

    if options.record is not None:
        _check_writable(options.record)
    opponents = options.opponents
    return play(
        _setup(options),
        seat=options.seat,
        opponents=opponents[0] if len(opponents) == 1 else opponents,
        seed=options.seed,
        record=options.record,
    )


def _replay(options: argparse.Namespace) -> int:
    from baselines.replay import replay

    return replay(
        options.file,
        seat=options.seat,
        first=options.first,
        last=options.last,
        step=options.step,
    )


def _warmup(options: argparse.Namespace) -> int:
    from trick_core.game import find_game
    from trick_core.warmup import warmup

    for name in options.games:
        built = warmup(
            find_game(name),
            opponents=options.opponents,
            report=lambda kernel: print(f"{kernel.seconds:6.2f} s  {kernel.label}", flush=True),
        )
        total = sum(kernel.seconds for kernel in built)
        print(f"{total:6.2f} s  {name}: {len(built)} kernels ready")
    return 0


def _demo(options: argparse.Namespace) -> int:
    from baselines.demo import demo

    return demo(options.env, minutes=options.minutes, seed=options.seed, folder=options.out)


if __name__ == "__main__":
    sys.exit(main())
