"""Work in chunks of deals: what a chunk is, playing it anywhere, and keeping what came out.

A chunk is some deals of one cell: a candidate among three opponents. Its points depend on nothing but the chunk, so it may be played in
any order, in any process, on any machine, and again if a worker is lost. Who shares the chunks out is
:class:`concurrent.futures.ProcessPoolExecutor` on one machine and Ray on a cluster.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import multiprocessing
import os
import signal
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from baselines.evaluation.games import Contest, Source
from baselines.evaluation.statistics import Floats
from baselines.extras import needs
from trick_core.bots import Bot, as_bot
from trick_core.game import Setup

#: How often work is begun again after workers were lost.
RETRIES = 5


@dataclass(frozen=True, eq=False)
class Work:
    """What a cell plays: one candidate among opponents, in some seatings, on the deals of a source.

    Attributes:
        setup: The game.
        specs: The policies: names, or objects that pickle.
        marks: A key of what each of them is, which two of one name need not share.
        seatings: Numbers of policies by seat; the candidate is 0.
        source: The deals.
        key: Names all of this, for files.
    """

    setup: Setup
    specs: tuple[Any, ...]
    marks: tuple[str, ...]
    seatings: tuple[tuple[int, ...], ...]
    source: Source
    key: str


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some deals of a cell, and what came out once they have been played.

    Attributes:
        work: The cell's.
        first: Number of the first deal.
        count: How many.
        points: float64 (count, seatings, 4) by seat; None: not yet played.
        roles: int8, the same shape.
        seconds: What playing took, without compiling.
        cpu: Seconds of processor time that the candidate took.
        decisions: Its decisions with a choice.
    """

    work: Work
    first: int
    count: int
    points: Floats | None = None
    roles: np.ndarray[Any, Any] | None = None
    seconds: float = 0.0
    cpu: float = 0.0
    decisions: int = 0

    @property
    def file_name(self) -> str:
        """Where a folder keeps it."""
        return f"{self.work.key}-{self.first}-{self.count}.npz"


class Outcome(NamedTuple):
    """What came out of a chunk: the fields of :class:`Chunk` by these names."""

    points: Floats
    roles: np.ndarray[Any, Any]
    seconds: float
    cpu: float
    decisions: int


def play_chunk(chunk: Chunk) -> Outcome:
    """Play a chunk."""
    work = chunk.work
    bots = [
        _bot(spec, mark) if isinstance(spec, str) else as_bot(spec)
        for spec, mark in zip(work.specs, work.marks, strict=True)
    ]
    rows = chunk.count * len(work.seatings)
    contest = Contest(work.setup, bots, work.seatings, work.source, batch_size=rows, inside=False)
    ready = {(work.setup.game.name, mark) for mark in work.marks}
    if not ready <= _ready:  # what is compiled for the first game is no part of what a deal takes
        contest.part(chunk.first, 1)
        _ready.update(ready)
    cpu, decisions, started = contest.cpu[0], contest.decisions[0], time.perf_counter()
    points, roles = contest.part(chunk.first, chunk.count)
    seconds = time.perf_counter() - started
    return Outcome(
        points,
        roles,
        seconds,
        float(contest.cpu[0] - cpu),
        int(contest.decisions[0] - decisions),
    )


#: Games and policies whose kernels this process has compiled.
_ready: set[tuple[str, str]] = set()


@functools.lru_cache(maxsize=32)
def _bot(name: str, mark: str) -> Bot:
    """A bot by name, made once a process as long as it is the same: some load a network."""
    return as_bot(name)


def key_of(what: Any) -> str:
    """A short name for something that JSON can write (other objects by their text)."""
    text = json.dumps(what, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# Who plays the chunks.


def play_all(chunks: Sequence[Chunk], workers: int, ray: str | None = None) -> Iterator[Chunk]:
    """Play chunks, and give them back as they are done, in any order.

    Args:
        chunks: The chunks.
        workers: Processes on this machine; 1: none but this.
        ray: Address of a Ray cluster (``"local"``: start one here) that plays instead; None: no Ray.

    Raises:
        ChildProcessError: Workers were lost again and again; what was done has been given back.
    """
    if ray is not None:
        yield from _on_ray(chunks, ray)
    elif workers == 1 or len(chunks) <= 1:
        for chunk in chunks:
            yield _played(chunk, play_chunk(chunk))
    else:
        yield from _on_processes(chunks, workers)


def _played(chunk: Chunk, outcome: Outcome) -> Chunk:
    return replace(chunk, **outcome._asdict())


def _begin_worker() -> None:
    """An interrupt is for the process that waits for the workers: they end the chunk in hand."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _one_thread_each()


def _one_thread_each() -> None:
    """Workers fill the cores; libraries of linear algebra are not to start a thread for each core in each of them."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _on_processes(chunks: Sequence[Chunk], workers: int) -> Iterator[Chunk]:
    left = {(chunk.work.key, chunk.first): chunk for chunk in chunks}
    for _ in range(1 + RETRIES):
        pool = ProcessPoolExecutor(
            min(workers, len(left)),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin_worker,
        )
        try:
            futures = {pool.submit(play_chunk, chunk): key for key, chunk in left.items()}
            for future in as_completed(futures):
                key = futures.pop(future)
                outcome = future.result()
                yield _played(left.pop(key), outcome)
        except BrokenProcessPool:
            continue  # the chunks that were in flight are played again, by new processes
        finally:
            pool.shutdown(cancel_futures=True)
        return
    raise ChildProcessError(
        f"processes were killed {1 + RETRIES} times (too little memory?); the same command goes on where this ended"
    )


def _on_ray(chunks: Sequence[Chunk], address: str) -> Iterator[Chunk]:
    with needs("ray"):
        import ray
    began = not ray.is_initialized()
    if began:
        where = {} if address == "local" else {"address": address}
        ray.init(**where, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
    try:
        remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_play_remotely)
        waiting = {remote.remote(chunk): chunk for chunk in chunks}
        while waiting:
            done, _ = ray.wait(list(waiting), num_returns=1)
            for reference in done:
                chunk = waiting.pop(reference)
                yield _played(chunk, ray.get(reference))
    finally:
        if began:
            ray.shutdown()


def _play_remotely(chunk: Chunk) -> Outcome:
    _one_thread_each()
    return play_chunk(chunk)


# Keeping what came out.


class Store:
    """A folder of played chunks, so that a run can be continued; without a folder, this process's memory."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / "chunks"
        self._kept: dict[str, Chunk] = {}
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)

    def keep(self, chunk: Chunk) -> None:
        """Keep a played chunk; a file is there whole or not at all."""
        if self._folder is None:
            self._kept[chunk.file_name] = chunk
            return
        file = self._folder / chunk.file_name
        part = file.with_suffix(f".{os.getpid()}.part")
        fields: dict[str, Any] = {name: np.array(getattr(chunk, name)) for name in Outcome._fields}
        with part.open("wb") as stream:
            np.savez_compressed(stream, **fields)
        part.replace(file)

    def find(self, chunk: Chunk) -> Chunk | None:
        """The chunk as it was played, if it is kept; a damaged file counts as none."""
        if self._folder is None:
            return self._kept.get(chunk.file_name)
        shape = (chunk.count, len(chunk.work.seatings), 4)
        damage = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
        with contextlib.suppress(*damage):
            with np.load(self._folder / chunk.file_name) as data:
                outcome = Outcome(
                    data["points"],
                    data["roles"],
                    float(data["seconds"]),
                    float(data["cpu"]),
                    int(data["decisions"]),
                )
            if outcome.points.shape == outcome.roles.shape == shape:
                return _played(chunk, outcome)
        return None
