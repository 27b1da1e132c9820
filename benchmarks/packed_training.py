"""Measure what packed observations do to a training loop: the same learning with bytes and with words.

    python -m benchmarks.packed_training [--games bolola tarot] [--tables 256] [--steps 32] [--device cpu] [--json FILE]

The loop is that of a policy-gradient learner. A rollout: so many steps of all tables, each with a forward pass of the policy, a masked
draw, and the observation put into the rollout's storage as it came. Then one pass over the rollout in minibatches: forward,
loss, backward, Adam. With words, the policy's input is unpacked by shifts on the device, in the rollout and again
in the minibatches. Both forms see the same deals, start from the same weights and take turns.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from baselines.extras import needs
from benchmarks import report
from benchmarks.measure import MIN_REPEATS, machine
from benchmarks.throughput import choose_setup, note
from trick_core.game import Setup
from trick_core.vector import VectorEnv

with needs("train"):
    import torch

    from baselines.train.unpack import to_device, unpack

FORMS = ("bytes", "packed")
MINIBATCH, HIDDEN = 512, 256


@dataclass(frozen=True)
class Result:
    """One form's figures, medians over the repeats.

    Attributes:
        game: Environment id.
        form: ``"bytes"`` or ``"packed"``.
        rollout: Seconds of a rollout.
        learning: Seconds of the pass over it.
        steps: Steps of tables in a rollout.
        storage: Bytes that hold the rollout's observations.
        ratio: Speed over that of bytes, the median of the ratios of each repeat.
    """

    game: str
    form: str
    rollout: float
    learning: float
    steps: int
    storage: int
    ratio: float

    def row(self) -> tuple[str, ...]:
        """The line of the table."""
        whole = self.rollout + self.learning
        return (
            self.game,
            self.form,
            report.number(self.steps / whole),
            f"{self.ratio:.2f} x",
            f"{1e3 * self.rollout:.0f} ms",
            f"{1e3 * self.learning:.0f} ms",
            f"{report.number(self.storage)}B",
        )


class Loop:
    """The training loop with one form of observations.

    Args:
        setup: The game with its options.
        form: ``"bytes"`` or ``"packed"``.
        tables: N.
        steps: Steps of a rollout.
        device: Of torch.
    """

    def __init__(self, setup: Setup, form: str, tables: int, steps: int, device: str) -> None:
        game = setup.game
        self._size, self._packed, self._device = game.layout.size, form == "packed", device
        self._env = VectorEnv(setup, tables, observation=form, copy=False)
        torch.manual_seed(0)
        self.policy = torch.nn.Sequential(
            torch.nn.Linear(self._size, HIDDEN),
            torch.nn.ReLU(),
            torch.nn.Linear(HIDDEN, HIDDEN),
            torch.nn.ReLU(),
            torch.nn.Linear(HIDDEN, game.num_actions),
        ).to(device)
        self._adam = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        width, kind = (game.layout.words, torch.int64) if self._packed else (self._size, torch.int8)
        shape = (steps, tables)
        self.stored = torch.zeros((*shape, width), dtype=kind, device=device)
        self._masks = torch.zeros((*shape, game.num_actions), dtype=torch.bool, device=device)
        self._actions = torch.zeros(shape, dtype=torch.int64, device=device)
        self._rewards = torch.zeros(shape, device=device)
        self._obs, self._infos = self._env.reset(seed=0)
        self.times: list[tuple[float, float]] = []

    def _input(self, stored: torch.Tensor) -> torch.Tensor:
        return unpack(stored, self._size) if self._packed else stored.float()

    def _scores(self, stored: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.policy(self._input(stored))
        return scores.masked_fill(~masks, -1e8)

    @torch.no_grad()
    def rollout(self) -> None:
        """Play and store."""
        rows = torch.arange(self._env.num_envs)
        for step in range(len(self.stored)):
            shown = self._obs["observation"]
            here = to_device(shown, self._device) if self._packed else torch.from_numpy(shown)
            self.stored[step] = here
            self._masks[step] = torch.from_numpy(self._obs["action_mask"]) != 0
            scores = self._scores(self.stored[step], self._masks[step])
            actions = torch.distributions.Categorical(logits=scores).sample()
            self._actions[step] = actions
            seats = torch.from_numpy(self._infos["seat"]).clone()
            self._obs, rewards, *_, self._infos = self._env.step(actions.cpu().numpy())
            self._rewards[step] = torch.from_numpy(rewards)[rows, seats].to(self._device)

    def learn(self) -> None:
        """One pass over the rollout."""
        flat = (self.stored, self._masks, self._actions, self._rewards)
        stored, masks, actions, rewards = (part.flatten(0, 1) for part in flat)
        for rows in torch.randperm(len(actions), device=self._device).split(MINIBATCH):
            scores = self._scores(stored[rows], masks[rows])
            chosen = torch.distributions.Categorical(logits=scores).log_prob(actions[rows])
            loss = -(chosen * rewards[rows]).mean()
            self._adam.zero_grad()
            loss.backward()
            self._adam.step()

    def run(self) -> None:
        """A rollout and the learning from it, timed."""
        marks = [self._now()]
        self.rollout()
        marks.append(self._now())
        self.learn()
        marks.append(self._now())
        self.times.append((marks[1] - marks[0], marks[2] - marks[1]))

    def _now(self) -> float:
        if self._device != "cpu":
            torch.cuda.synchronize()
        return time.perf_counter()


def compare(
    setup: Setup, tables: int, steps: int, device: str, repeats: int, progress: Any
) -> list[Result]:
    """Time both forms in turns."""
    loops = {form: Loop(setup, form, tables, steps, device) for form in FORMS}
    for loop in loops.values():  # compiles, and warms torch up
        loop.run()
        loop.times.clear()
    for repeat in range(repeats):
        for loop in loops.values():
            loop.run()
        progress(repeat + 1, repeats)
    bytes_times = loops["bytes"].times
    results = []
    for form, loop in loops.items():
        ratios = [sum(b) / sum(own) for b, own in zip(bytes_times, loop.times, strict=True)]
        rollout, learning = (statistics.median(part) for part in zip(*loop.times, strict=True))
        storage = loop.stored.numel() * loop.stored.element_size()
        ratio = statistics.median(ratios)
        results.append(Result(setup.id, form, rollout, learning, tables * steps, storage, ratio))
    return results


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.packed_training", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--games", nargs="+", default=["bolola", "tarot"])
    parser.add_argument("--tables", type=int, default=256)
    parser.add_argument("--steps", type=int, default=32, help="of a rollout")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--torch-threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=MIN_REPEATS, help="at least 5")
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    arguments = parser.parse_args(argv)
    if arguments.repeats < MIN_REPEATS or min(arguments.tables, arguments.steps) < 1:
        parser.error(f"expected at least {MIN_REPEATS} repeats, one table and one step")
    torch.set_num_threads(arguments.torch_threads)
    here, results = machine(), []
    for name in arguments.games:
        setup = choose_setup(name)
        sizes = (arguments.tables, arguments.steps, arguments.device, arguments.repeats)
        results += compare(setup, *sizes, note(setup.id))
    lines = [result.row() for result in results]
    header = ("game", "observations", "steps/s", "to bytes", "rollout", "learning", "storage")
    if arguments.markdown:
        print(report.markdown(header, lines))
    else:
        report.show("A training loop with both forms of observations", header, lines)
    facts = report.machine_lines(here, {"repeats": arguments.repeats, "seconds": 0, "clock": ""})
    facts[2] = (
        f"medians of {arguments.repeats} rollouts of {arguments.tables} tables x {arguments.steps} steps, "
        f"torch on {arguments.device} with {arguments.torch_threads} threads"
    )
    print("\n".join(facts))
    if arguments.json:
        report.write_json(
            arguments.json,
            {"machine": here, "settings": vars(arguments), "results": [asdict(r) for r in results]},
        )


if __name__ == "__main__":
    main()
