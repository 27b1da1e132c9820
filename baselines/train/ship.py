"""Put a trained net among those of the library, with its card: ``python -m baselines.train.ship RUN NAME``.

The card is made from the run's own record and from an evaluation on the fixed suites; nothing in it is written by hand.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from baselines.bots import net as nets
from baselines.evaluate import Result, evaluate

#: Whom a net is compared with, three of them at the table.
AGAINST = ("greedy", "random")


def main(arguments: list[str] | None = None) -> int:
    """Evaluate, write the net in half precision and its card."""
    parser = argparse.ArgumentParser(prog="python -m baselines.train.ship", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a self-play run")
    parser.add_argument("name", help="name of the net, as bolola-v1")
    parser.add_argument("--deals", type=int, help="deals of each suite; all if left out")
    parser.add_argument("--out", type=Path, default=nets.FOLDER, help="where net and card go")
    options = parser.parse_args(arguments)
    net = nets.load(options.run / "net.npz")
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / f"{options.name}.npz"
    net.save(file, half=True)
    bot = nets.NetBot(nets.load(file), f"net:{options.name}")  # what is shipped is measured
    results = {
        env: {
            other: evaluate(env, [bot, other], deals=options.deals, progress=True)
            for other in AGAINST
        }
        for env in net.about["envs"]
    }
    (options.out / f"{options.name}.md").write_text(card(options.name, net, results, file))
    print((options.out / f"{options.name}.md").read_text())
    return 0


def card(name: str, net: nets.Net, results: dict[str, dict[str, Result]], file: Path) -> str:
    """The card's text."""
    about: Any = net.about
    sizes = [net.inputs, *(len(bias) for bias in net.biases)]
    numbers = sum(w.size + b.size for w, b in zip(net.weights, net.biases, strict=True))
    count = next(iter(results.values()))[AGAINST[0]].deals["count"]
    lines = [
        f"# {name}",
        "",
        f"A net that plays {about['game']}: the bot `net:{name}`. Made by `python -m baselines.train.ship`.",
        "",
        "## What it is",
        "",
        f"A perceptron {' - '.join(map(str, sizes))} with ReLU, {numbers:,} weights ({file.stat().st_size / 1e6:.1f} MB with its critic, "
        f"float16). It reads the first {net.inputs} values of the observation, which hold what the seat may see and "
        "nothing else, and plays the legal action with the highest output. No search.",
        "",
        "## How it was trained",
        "",
        "Against itself and the library's own bots; no human games, no data from outside.",
        "",
        *(line for stage in about["stages"] for line in _stage(stage)),
        "The same command on the same versions and kind of processor makes the same net; elsewhere sums are rounded otherwise, and it "
        "makes one as good."
        if all(_is_whole(stage) for stage in about["stages"])
        else "A run that was stopped, or goes by the clock, cannot be repeated exactly; the same commands make a net as good.",
        "",
        "## What it reaches",
        "",
        f"Points a deal over the table's mean with three of the other at the table, on the first {count} deals of each environment's suite, "
        "each in four seatings; half the 95 % interval behind it.",
        "",
        f"| environment | {' | '.join(f'over {other}' for other in AGAINST)} |",
        f"|---|{'---|' * len(AGAINST)}",
    ]
    means = []
    for env, by_other in results.items():
        cells = [by_other[other].rows[0].overall.text(1) for other in AGAINST]
        lines.append(f"| `{env}` | {' | '.join(cells)} |")
        means.append([by_other[other].rows[0].overall.mean for other in AGAINST])
    if len(means) > 1:
        average = [sum(column) / len(means) for column in zip(*means, strict=True)]
        lines.append(f"| mean | {' | '.join(f'{value:+.1f}' for value in average)} |")
    lines += _roles(results)
    lines += [
        "",
        "## Limits",
        "",
        "It was trained on the environments above with their default options, among players of its own kind and those named above. "
        "Options that it has not seen (a user's contract row, a fixed trump suit) may find it weak. In a match it plays each deal for itself, "
        "whatever the scores. It is deterministic unless a temperature is set (`net:"
        + name
        + ",temperature=0.5`), so an opponent "
        "that knows it can exploit it.",
        "",
    ]
    return "\n".join(lines)


def _is_whole(stage: Any) -> bool:
    """Whether a run took all the steps that its command says, and went by steps alone."""
    return stage["steps"] >= stage["config"]["steps"] and stage["config"]["minutes"] is None


def _worlds(count: int, slips: float) -> str:
    """Which deals playouts look at, in words."""
    if count == 1:
        return "in the true deal"
    drawn = "" if slips == 1 else ", drawn by how well they explain the play"
    return f"the mean over the true deal and {count - 1} others that the seat cannot tell from it{drawn}"


def _where(about: Any) -> str:
    """How many threads of what machine a run had, as far as its record says."""
    threads = about["config"].get("torch_threads", 1)
    machine = f", {about['machine']}" if "machine" in about else ""
    return f" ({threads} torch thread{'s' if threads > 1 else ''}{machine})"


def _stage(about: Any) -> list[str]:
    """What was learned in one run, in words."""
    config, versions = about["config"], about["versions"]
    lines = [
        "```",
        about["command"],
        "```",
        "",
        f"{about['steps']:,} decisions in {about['seconds'] / 60:.0f} minutes{_where(about)}, seed "
        f"{config['seed']}{'' if _is_whole(about) else ', stopped before its end'}, Python {versions['python']}, NumPy {versions['numpy']}, torch {versions['torch']}.",
    ]
    if config["head_start"] == "playouts":
        lines.append(
            f"For every legal action of {min(config['head_steps'], about['steps']):,} decisions: what the deal brings if `{config['teacher']}` "
            f"plays all seats from there, {_worlds(config['worlds'], config.get('slips', 1))}; "
            + (
                "the net's outputs are fitted to that."
                if config.get("head_loss", "fit") == "fit"
                else "what the policy gets on average is raised"
                + (
                    ", and the bot's own choice made likelier."
                    if config.get("head_follow")
                    else "."
                )
            )
        )
    if config["head_start"] == "imitate":
        lines.append(f"The first {config['head_steps']:,} decisions imitate `{config['teacher']}`.")
    if config["head_start"] == "none" or about["steps"] > 1.1 * config["head_steps"]:
        lines.append(
            f"PPO ({config['tables']} tables an iteration, minibatches of {config['minibatch']}, epochs: {config['epochs']}, Adam "
            f"at {config['learning_rate']:g} falling to 0, lambda {config['gae_lambda']:g}, clip {config['clip']:g}, entropy {config['entropy']:g}, "
            f"{'a critic that sees all hands (in training only)' if config['critic'] == 'privileged' else 'a critic that sees what the seat sees'})."
        )
    others = " or ".join(f"`{name}`" for name in config["opponents"])
    seats = {None: "one to three seats", 1: "one seat"}.get(
        config.get("opponent_seats"), f"{config.get('opponent_seats')} seats"
    )
    lines.append(
        f"At {config['opponent_share']:.0%} of the tables {seats} are held by {others}, the others by the net."
        if others
        else "The net holds all four seats."
    )
    return [*lines, ""]


def _roles(results: dict[str, dict[str, Result]]) -> list[str]:
    """A table by role, where the game has roles."""
    lines = []
    for by_other in results.values():
        for other, result in by_other.items():
            lines += [
                f"| {role.name} | {other} | {role.points.text(1)} | {role.games:,} |"
                for role in result.rows[0].roles
            ]
    if not lines:
        return []
    return ["", "| role | over | points | games |", "|---|---|---|---|", *lines]


if __name__ == "__main__":
    sys.exit(main())
