"""Sharing the rows of a batch among threads.

Python threads over kernels that release the GIL, started at first use in each process and kept. After a fork the child
starts its own. ``prange`` is not used: its threading layers die after a fork or under two Python threads.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue


class _Job:
    """Pieces of work that several threads take from one iterator."""

    def __init__(self, work: Callable[[int, int], None], pieces: list[tuple[int, int]]) -> None:
        self._work = work
        self._pieces: Iterator[tuple[int, int]] = iter(pieces)
        self._left = len(pieces)
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()

    def run(self) -> None:
        """Work until no piece is left."""
        for lo, hi in self._pieces:
            error: BaseException | None = None
            try:
                self._work(lo, hi)
            except Exception as raised:
                error = raised
            finally:
                self._done.put(error)

    def finish(self) -> None:
        """Wait for the pieces in hand; begin no more. Raise what a piece raised."""
        for _ in self._pieces:  # only after an interrupt is there one
            self._done.put(None)
        errors = [self._done.get() for _ in range(self._left)]
        for error in errors:
            if error is not None:
                raise error


class _Helpers:
    """Threads of this process that wait for jobs."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    def call(self, job: _Job, count: int) -> None:
        """Have ``count`` threads join in the job."""
        while len(self._threads) < count:
            thread = threading.Thread(target=self._serve, name="trick-envs", daemon=True)
            self._threads.append(thread)
            thread.start()
        for _ in range(count):
            self._jobs.put(job)

    def _serve(self) -> None:
        while True:
            self._jobs.get().run()


_helpers = _Helpers()


def _start_anew() -> None:
    """In a forked child there are no threads but the one that forked."""
    global _helpers
    _helpers = _Helpers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def share_rows(work: Callable[[int, int], None], rows: int, num_threads: int) -> None:
    """Call ``work(lo, hi)`` so that every row of ``range(rows)`` lies in one call.

    Args:
        work: Called from several threads at once; what it raises is raised here, after all calls have ended.
        rows: Number of rows.
        num_threads: Threads that share them, this one included.
    """
    count = min(num_threads, rows)
    if count <= 1:
        work(0, rows)
        return
    # A piece for each thread, in nobody's name: the piece of one that wakes too late is taken by another. More and
    # smaller pieces were slower, since between two pieces a thread has to wait for the GIL.
    edges = [rows * k // count for k in range(count + 1)]
    job = _Job(work, list(itertools.pairwise(edges)))
    _helpers.call(job, count - 1)
    try:
        job.run()
    finally:
        job.finish()
