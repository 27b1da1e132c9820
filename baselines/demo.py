"""The demonstration: measure this machine, train an agent, evaluate it, leave a report."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from baselines.extras import needs

AGAINST = ("random", "greedy")
#: Share of the training time in which the network learns greedy's choices; PPO has the rest.
IMITATION_SHARE = 0.4


def demo(
    env: str = "bolola/hearts-v0",
    *,
    minutes: float = 4.0,
    seed: int = 0,
    folder: str = "runs/demo",
) -> int:
    """Run the four steps and write ``report.md``, ``report.json``, ``curve.png`` and the model to ``folder``.

    The report says what came out; a weak agent is not a failure. Returns the exit code, 0.
    """
    with needs("train"):
        from rich.console import Console
    from baselines.evaluate import Result, evaluate, print_result
    from baselines.train.sb3 import TrainConfig, make_bot, train
    from benchmarks import report as tables
    from benchmarks import throughput
    from benchmarks.measure import machine, usable_cores
    from trick_core.game import setup_for

    # Made first: what is wrong with it is wrong before the measuring.
    config = TrainConfig(
        env=env,
        minutes=minutes,
        steps=100_000_000,
        imitate="greedy",
        imitate_seconds=minutes * 60 * IMITATION_SHARE,
        learning_rate=3e-4,
        seed=seed,
        folder=folder,
        overwrite=True,
    )
    setup = setup_for(env)
    console = Console()
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()

    console.rule("1  Throughput of this machine")
    timing = {"repeats": 5, "seconds": 0.05, "clock": "wall"}
    items, figures, ratios = throughput.run(
        setup,
        threads=[usable_cores()],
        tables=[1024],
        progress=throughput.note("measuring"),
        **timing,
    )
    lines = throughput.rows(items, figures, ratios)
    tables.show(env, throughput.HEADER, lines)
    facts = [*throughput.loops(items), *tables.machine_lines(machine(), timing)]
    speeds = "\n".join(
        [tables.markdown(throughput.HEADER, lines), "", *(f"- {fact}" for fact in facts)]
    )

    console.rule(f"2  Training on {env}, {minutes:g} minutes, against three greedy")
    trained = train(config)

    console.rule("3  The agent against the baseline bots, on the fixed suite")
    agent = make_bot(str(out / "model.zip"))
    agent.name = "agent"
    results: dict[str, Result] = {}
    for other in AGAINST:
        results[other] = evaluate(setup_for(env), [agent, other], progress=True)
        print_result(results[other])

    elapsed = time.monotonic() - started
    report = _report(env, minutes, seed, speeds, trained, results, elapsed)
    (out / "report.md").write_text(report)
    (out / "report.json").write_text(
        json.dumps(
            {
                "env": env,
                "seconds": elapsed,
                "machine": machine(),
                "throughput": [figure.json() for figure in figures.values()],
                "curve": trained.curve,
                "results": {name: json.loads(r.to_json()) for name, r in results.items()},
            },
            indent=1,
            default=str,
        )
    )
    console.rule("4  Report")
    for other, result in results.items():
        mean = result.rows[0].overall
        console.print(f"Against three {other}: {mean} points a deal over the table's mean.")
    console.print(
        f"Throughput, learning curve and tables: {out / 'report.md'}, curve: {out / 'curve.png'}; "
        f"{elapsed / 60:.1f} minutes in all."
    )
    return 0


def _report(
    env: str,
    minutes: float,
    seed: int,
    speeds: str,
    trained: Any,
    results: dict[str, Any],
    elapsed: float,
) -> str:
    lines = [
        f"# {env}: what came out",
        "",
        "## Throughput",
        "",
        speeds,
        "",
        "## Training",
        "",
        f"{minutes:g} minutes, seed {seed}: first the network learns greedy's choices ({IMITATION_SHARE:.0%} of the time), "
        "then MaskablePPO, one learner at each table against three greedy: "
        f"{trained.steps:,} decisions. Points a deal relative to the table, with the half-width of the 95 % interval:",
        "",
        "| minutes | decisions | " + " | ".join(f"against {name}" for name in AGAINST) + " |",
        "|---|---|" + "---|" * len(AGAINST),
    ]
    for row in trained.curve:
        cells = [f"{row[f'{name}_mean']:+.1f} +- {row[f'{name}_ci95']:.1f}" for name in AGAINST]
        lines.append(
            f"| {row['seconds'] / 60:.1f} | {row['steps']:,.0f} | " + " | ".join(cells) + " |"
        )
    lines += ["", "![Learning curve](curve.png)", "", "## The agent against the bots", ""]
    for name, result in results.items():
        lines += [f"Against three {name}:", "", result.markdown(), ""]
    lines += [f"All of this took {elapsed / 60:.1f} minutes.", ""]
    return "\n".join(lines)
