"""Timing: cases that take turns in short slices, so that a noisy machine disturbs all of them alike.

A figure is the median over repeats, its spread the lowest and the highest repeat. A ratio is taken within each repeat and
then its median, so what slows both sides down cancels. Every case runs once before the clock starts: nothing here
measures compiling.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import llvmlite.binding

#: Length of one slice in seconds.
SLICE = 0.02
MIN_REPEATS = 5
_PACKAGES = (
    "numpy",
    "numba",
    "llvmlite",
    "gymnasium",
    "pettingzoo",
    "stable-baselines3",
    "torch",
    "trick-envs",
)


@dataclass(frozen=True)
class Case:
    """Something to time.

    Attributes:
        name: Unique in a run.
        layer: Which interface it goes through.
        run: Does a little work and returns how many units (``unit``) it did; from another process also
            the wall and the CPU seconds that it took.
        inside: What the timed loop holds, in words.
        batch: Tables, N.
        threads: Threads at work.
        unit: ``"steps"``: actions of a live seat; never the None steps of finished agents.
        wall: Wall time whatever the clock: one side of a comparison of threads.
    """

    name: str
    layer: str
    run: Callable[[], int | tuple[int, float, float]]
    inside: str
    batch: int = 1
    threads: int = 1
    unit: str = "steps"
    wall: bool = False


@dataclass(frozen=True)
class Skipped:
    """A case that cannot run here, and why."""

    name: str
    layer: str
    reason: str


@dataclass
class Figure:
    """Rates of a case, units per second, one a repeat."""

    case: Case
    rates: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.rates)

    @property
    def low(self) -> float:
        return min(self.rates)

    @property
    def high(self) -> float:
        return max(self.rates)

    def json(self) -> dict[str, Any]:
        """The figure as plain data."""
        case = self.case
        return {
            "name": case.name,
            "layer": case.layer,
            "unit": f"{case.unit}/s",
            "median": self.median,
            "low": self.low,
            "high": self.high,
            "repeats": self.rates,
            "tables": case.batch,
            "threads": case.threads,
            "inside": case.inside,
        }


@dataclass(frozen=True)
class Ratio:
    """One figure over another, repeat by repeat."""

    name: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    def json(self) -> dict[str, Any]:
        """The ratio as plain data."""
        return {"name": self.name, "median": self.median, "low": self.low, "high": self.high}


def ratio(name: str, above: Figure, below: Figure) -> Ratio:
    """``above`` over ``below``; both from one call of :func:`measure`."""
    return Ratio(name, tuple(a / b for a, b in zip(above.rates, below.rates, strict=True)))


def measure(
    cases: Sequence[Case],
    *,
    repeats: int = MIN_REPEATS,
    seconds: float = 0.4,
    clock: str = "wall",
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> dict[str, Figure]:
    """Time the cases in turns.

    Args:
        cases: What to time.
        repeats: At least five.
        seconds: Time of one case in one repeat, cut into slices.
        clock: ``"wall"``; or ``"cpu"``: the thread's own time, on a machine that others use too; it says nothing of several threads, whose cases
            keep to wall time.
        progress: Called with (repeats done, repeats in all).

    Raises:
        ValueError: Fewer repeats, no time, an unknown clock, or two cases of one name.
    """
    if repeats < MIN_REPEATS:
        raise ValueError(f"repeats: expected at least {MIN_REPEATS}, got {repeats}")
    if seconds <= 0:
        raise ValueError(f"seconds: expected a positive number, got {seconds}")
    if clock not in ("wall", "cpu"):
        raise ValueError(f"clock: expected 'wall' or 'cpu', got {clock!r}")
    figures = {case.name: Figure(case) for case in cases}
    if len(figures) < len(cases):
        raise ValueError("cases: two have one name")
    calls = {case.name: _calls_per_slice(case) for case in cases}
    slices = max(1, round(seconds / SLICE))
    for repeat in range(repeats):
        spent = dict.fromkeys(figures, 0.0)
        done = dict.fromkeys(figures, 0)
        for _ in range(slices):
            for case in cases:
                units, elapsed = _slice(case, calls[case.name], clock == "cpu")
                done[case.name] += units
                spent[case.name] += elapsed
        for name, figure in figures.items():
            figure.rates.append(done[name] / spent[name])
        progress(repeat + 1, repeats)
    return figures


def _slice(case: Case, calls: int, cpu: bool) -> tuple[int, float]:
    """Run a case so many times; returns units and seconds."""
    now = time.thread_time if cpu and not case.wall else time.perf_counter
    units, own = 0, 0.0
    start = now()
    for _ in range(calls):
        done = case.run()
        if isinstance(done, tuple):
            units += done[0]
            own += done[2] if cpu else done[1]
        else:
            units += done
    return units, own or now() - start


def _calls_per_slice(case: Case) -> int:
    """Warm a case up and find how many calls make a slice."""
    case.run()
    calls, spent = 0, 0.0
    start = time.perf_counter()
    while spent < SLICE / 2:
        case.run()
        calls += 1
        spent = time.perf_counter() - start
    return max(1, round(calls * SLICE / spent))


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "cpu": _cpu_name(),
        "target": llvmlite.binding.get_host_cpu_name(),
        "cores": usable_cores(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": versions,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "command": " ".join(
            ["python", "-m", f"benchmarks.{Path(sys.argv[0]).stem}", *sys.argv[1:]]
        ),
    }


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
