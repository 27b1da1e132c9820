"""Threads that share a batch: same results, and at peace with forks, other threads and torch."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tarot_env.game
from bolola_env.game import setup as bolola
from tests.helpers import fewer
from trick_core import rows as row_work
from trick_core import threads
from trick_core.batch import check_threads
from trick_core.jit import JIT, entry
from trick_core.rows import RowWork
from trick_core.threads import share_rows
from trick_core.vector import VectorEnv

ROWS = fewer(1000, 7)
STEPS = fewer(110, 10)


def make(num_threads: int, game: str = "bolola") -> VectorEnv:
    setup = bolola("all_penalties") if game == "bolola" else tarot_env.game.setup()
    return VectorEnv(setup, ROWS, num_threads=num_threads)


def fingerprint(env: VectorEnv, steps: int = STEPS) -> str:
    """A hash over everything that a run with sampled actions shows."""
    digest = hashlib.sha256()
    obs, infos = env.reset(seed=11)
    for _ in range(steps):
        for array in (obs["observation"], obs["action_mask"], infos["seat"]):
            digest.update(array.tobytes())
        obs, rewards, terminations, _, infos = env.step(env.sample_actions())
        digest.update(rewards.tobytes() + terminations.tobytes())
        if "final_obs" in infos:
            digest.update(infos["final_obs"]["observation"].tobytes())
    return digest.hexdigest()


def run_in_child(num_threads: int, queue: Any) -> None:
    seen = fingerprint(make(num_threads))
    queue.put((seen, threading.active_count()))


@pytest.mark.parametrize("game", ["bolola", "tarot"])
def test_the_number_of_threads_changes_nothing(game: str) -> None:
    """Trajectories are the same with 1, 2, 3 and 7 threads, more threads than processors among them."""
    prints = {fingerprint(make(count, game)) for count in (1, 2, 3, 7)}
    assert len(prints) == 1


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_child_processes_start_threads_of_their_own(start: str) -> None:
    """A58: after the parent has used its threads, a forked or spawned child steps with threads too."""
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {start}")
    expected = fingerprint(make(2))
    context = multiprocessing.get_context(start)
    queue = context.Queue()
    child = context.Process(target=run_in_child, args=(2, queue))
    child.start()
    try:
        assert queue.get(timeout=240) == (expected, 2 if JIT else 1)
        child.join(60)
        assert child.exitcode == 0
    finally:
        child.kill()
    assert fingerprint(make(2)) == expected


def test_an_environment_that_was_forked_goes_on() -> None:
    """The copy in the child continues from the same moment as the original."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    env = make(2)
    env.reset(seed=1)
    env.step(env.sample_actions())
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        for _ in range(5):
            env.step(env.sample_actions())
        os.write(send, env.action_masks().tobytes()[:4096])
        os._exit(0)
    os.close(send)
    for _ in range(5):
        env.step(env.sample_actions())
    with os.fdopen(receive, "rb") as stream:
        assert stream.read() == env.action_masks().tobytes()[:4096]
    assert os.waitpid(child, 0)[1] == 0


def test_two_python_threads_step_two_environments() -> None:
    """A59: each with threads of its own, at the same time, without an abort and with the same results."""
    expected = fingerprint(make(1))
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(fingerprint, make(count)) for count in (2, 2, 3)]
        assert {each.result() for each in runs} == {expected}


def test_two_python_threads_may_both_be_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads are made at first use, whoever comes first."""
    monkeypatch.setattr(row_work, "_crew", row_work._Crew())
    expected = fingerprint(make(1), 3)
    barrier = threading.Barrier(4)

    def first() -> str:
        env = make(2)
        barrier.wait()
        return fingerprint(env, 3)

    with ThreadPoolExecutor(4) as pool:
        assert {each.result() for each in [pool.submit(first) for _ in range(4)]} == {expected}


def test_beside_torch() -> None:
    """Torch's own threads, before, between and after."""
    import torch

    expected = fingerprint(make(1), 12)
    a = torch.ones(64, 64)
    env = make(2)
    env.reset(seed=11)
    for _ in range(12):
        probabilities = torch.as_tensor(env.action_masks(), dtype=torch.float32)
        actions = torch.multinomial(probabilities, 1)[:, 0]
        env.step(actions)
        a = a @ a / 64
    assert torch.isfinite(a).all()
    assert fingerprint(env, 12) == expected


def test_every_row_is_worked_on_once() -> None:
    for rows in (1, 2, 5, 255, 256, 257, 4096, 5000):
        for count in (1, 2, 3, 8):
            seen = np.zeros(rows, np.int64)

            def work(lo: int, hi: int, seen: Any = seen) -> None:
                assert lo < hi
                seen[lo:hi] += 1

            share_rows(work, rows, count)
            assert (seen == 1).all()


def test_the_work_is_really_shared() -> None:
    """Two pieces that wait for each other can only end if two threads hold them at the same time."""
    barrier = threading.Barrier(2)
    share_rows(lambda lo, hi: barrier.wait(30) and None, 2, 2)
    assert barrier.n_waiting == 0 and not barrier.broken


def test_an_error_in_any_thread_reaches_the_caller() -> None:
    """After all pieces have ended; the next call finds everything in order."""
    working = threading.Semaphore(0)

    def work(lo: int, hi: int) -> None:
        working.release()
        if lo > 0:
            raise RuntimeError(f"rows {lo} to {hi - 1}")

    with pytest.raises(RuntimeError, match="rows 1 to 1"):
        share_rows(work, 2, 2)
    seen: list[int] = []
    share_rows(lambda lo, hi: seen.extend(range(lo, hi)), 600, 2)
    assert sorted(seen) == list(range(600))


def test_an_interrupt_leaves_no_work_behind() -> None:
    """After Ctrl-C in the calling thread, pieces in hand are finished and no more begun."""
    caller = threading.get_ident()
    begun, ended = threading.Semaphore(0), []

    def work(lo: int, hi: int) -> None:
        if threading.get_ident() == caller:
            assert begun.acquire(timeout=30)
            raise KeyboardInterrupt
        begun.release()
        time.sleep(0.3)
        ended.append(lo)

    job = threads._Job(work, [(k, k + 1) for k in range(8)])
    helper = threading.Thread(target=job.run)
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        job.run()
    job.finish()
    helper.join(30)
    assert not helper.is_alive()
    assert 1 <= len(ended) <= 2  # of 8 pieces; 2 if this thread was kept waiting


@entry("tests.threads.count", [__file__])
def count_up(seen, lo, hi):  # type: ignore[no-untyped-def]
    for i in range(lo, hi):
        seen[i] += 1


def test_every_row_of_a_kernel_is_worked_on_once() -> None:
    """However many threads there are, and however often they are called."""
    for rows in (1, 2, 5, 255, 256, 257, 4096, 5000):
        seen = np.zeros(rows, np.int64)
        work = RowWork(count_up, seen)
        for count in (1, 2, 3, 8):
            for _ in range(20):
                work.share(rows, count)
            assert (seen == 20).all()
            seen[:] = 0


@entry("tests.threads.meet", [__file__])
def wait_for_the_other(met, lo, hi):  # type: ignore[no-untyped-def]
    for i in range(lo, hi):
        met[i] = 1
        # Reads and writes of other words keep the compiler from taking the loop for one without an end.
        while met[1 - i] == 0 and met[2] < 1 << 40:
            met[2] += 1


@pytest.mark.skipif(not JIT, reason="uncompiled kernels are run by the calling thread alone")
def test_the_work_of_a_kernel_is_really_shared() -> None:
    """Two pieces that wait for each other can only end if two threads hold them at the same time."""
    met = np.zeros(3, np.int64)
    RowWork(wait_for_the_other, met).share(2, 2)
    assert met[:2].tolist() == [1, 1] and met[2] < 1 << 40


@entry(None)
def refuse(seen, bad, lo, hi):  # type: ignore[no-untyped-def]
    for i in range(lo, hi):
        seen[i] += 1
        if i == bad:
            raise RuntimeError("a row that no kernel can play")


@pytest.mark.parametrize("bad", [0, 599])
def test_an_exception_in_any_thread_reaches_the_caller(bad: int) -> None:
    """After all pieces have ended; the next call finds everything in order."""
    seen = np.zeros(600, np.int64)
    with pytest.raises(RuntimeError, match=r"a kernel raised|a row that no kernel"):
        RowWork(refuse, seen, bad).share(600, 2)
    seen[:] = 0
    RowWork(refuse, seen, 600).share(600, 2)
    assert (seen == 1).all()


@pytest.mark.skipif(not JIT, reason="uncompiled kernels are run by the calling thread alone")
def test_threads_that_have_nothing_to_do_sleep() -> None:
    """A thread looks out for work for a moment only, then it takes no processor time, and it can be woken."""
    env = make(2)
    env.reset(seed=11)
    time.sleep(0.1)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.1
    crew = row_work._crew
    assert all(crew._asleep)
    env.step(env.sample_actions())
    assert fingerprint(env, 5) == fingerprint(make(1), 5)


def test_who_finds_the_helpers_busy_works_alone() -> None:
    """Nothing waits for another Python thread that is using them."""
    seen = np.zeros(600, np.int64)
    with row_work._crew._busy:
        RowWork(count_up, seen).share(600, 2)
    assert (seen == 1).all()


@pytest.mark.parametrize("limit", ["1", "2", None])
def test_numba_num_threads_is_a_cap(limit: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A59: documented, and 1 can be had."""
    if limit is None:
        monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("NUMBA_NUM_THREADS", limit)
    assert make(3).num_threads == int(limit or 3)
    assert make(1).num_threads == 1


@pytest.mark.parametrize("number", [0, -2, 1.0, True, "2", None])
def test_bad_numbers_of_threads(number: Any) -> None:
    with pytest.raises(ValueError, match="num_threads: expected a positive integer, got"):
        check_threads(number)


def test_one_thread_starts_none() -> None:
    """And a process that has used several ends without waiting for them."""
    script = """
import threading
from bolola_env import vector_env
for count in (1, 3):
    env = vector_env("hearts", num_envs=1000, num_threads=count)
    env.reset(seed=1)
    env.step(env.sample_actions())
    print(threading.active_count())
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
    environment.pop("NUMBA_NUM_THREADS", None)
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "3"]
