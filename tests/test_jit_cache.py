"""What compiling leaves on disk: found again, never stale, never in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest

import tarot_env.game
from bolola_env.game import GAME as BOLOLA
from trick_core import jit
from trick_core.bits import ONE, popcount
from trick_core.bots import random_bot
from trick_core.drivers import batch_drivers, random_drivers, table_drivers
from trick_core.jit import Built, entry, kernel, watching
from trick_core.vector import vector_drivers
from trick_core.warmup import _ALONE, _AMONG_BOTS, KINDS, warmup

pytestmark = pytest.mark.skipif(not jit.JIT, reason="NUMBA_DISABLE_JIT is set: there is no cache")

ROOT = Path(jit.__file__).parent.parent

#: A game in small: a constant in one file, a kernel in another, and an entry made by a factory over both.
TOY = {
    "constants.py": "PENALTY = 30\n",
    "rules.py": """
from toy.constants import PENALTY
from trick_core.bits import popcount
from trick_core.jit import kernel

@kernel
def points(cards):
    return -PENALTY * popcount(cards)
""",
    "__init__.py": """
import numpy as np
from pathlib import Path
from trick_core.jit import entry, watching
from toy.rules import points

def driver(inner):
    @entry("toy.points", [Path(__file__).parent])
    def points_of(cards):
        return inner(cards)
    return points_of

def main():
    built = []
    with watching(built.append):
        value = driver(points)(np.uint64(7))
    print(value, ["loaded" if each.loaded else "compiled" for each in built])
""",
}


@pytest.fixture
def toy(tmp_path: Path) -> SimpleNamespace:
    """The toy beside a copy of ``trick_core``, run in a process of its own with a cache folder of its own."""
    shutil.copytree(
        ROOT / "trick_core", tmp_path / "trick_core", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "toy").mkdir()
    for name, text in TOY.items():
        (tmp_path / "toy" / name).write_text(text)
    cache = tmp_path / "cache"

    def start(script: str = "import toy; toy.main()", **variables: str | None) -> Any:
        return run(tmp_path, script, **{"NUMBA_CACHE_DIR": str(cache), **variables})

    def play(**variables: str | None) -> str:
        return finish(start(**variables))

    return SimpleNamespace(play=play, start=start, folder=tmp_path, cache=cache / "trick-envs")


def run(folder: Path, script: str, **variables: str | None) -> Any:
    """Start Python in a folder, with these environment variables (None: unset)."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {k: v for k, v in {**environment, **variables}.items() if v is not None}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: Any) -> str:
    """What it printed; it must have ended well and without a word of complaint."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0 and not err, err
    return str(out.strip())


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


# ------------------------------------------------------------------ across processes


def test_a_second_process_loads_what_the_first_compiled(toy: SimpleNamespace) -> None:
    """A57: nothing is compiled, and nothing on disk is touched."""
    assert toy.play() == "-90 ['compiled']"
    written = {file: file.stat().st_mtime_ns for file in toy.cache.iterdir()}
    assert len(written) == 1
    assert toy.play() == "-90 ['loaded']"
    assert {file: file.stat().st_mtime_ns for file in toy.cache.iterdir()} == written


def test_an_edit_in_any_file_is_noticed(toy: SimpleNamespace) -> None:
    """An edited constant or callee, in whichever file, is compiled anew; what was undone is found again."""
    toy.play()
    for file, old, new, value in (
        ("toy/constants.py", "PENALTY = 30", "PENALTY = 50", -150),
        ("toy/rules.py", "-PENALTY *", "+PENALTY *", 150),
        ("trick_core/bits.py", "builder.ctpop(args[0])", "builder.add(args[0], args[0])", 700),
    ):
        edit(toy.folder / file, old, new)
        assert toy.play() == f"{value} ['compiled']"
    edit(toy.folder / file, new, old)
    assert toy.play() == "150 ['loaded']"


def test_an_edited_penalty_of_the_game_is_noticed(tmp_path: Path) -> None:
    """The real rules: what a trick gives, before and after an edit, and once more from the cache."""
    for package in ("trick_core", "bolola_env"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    script = """
import numpy as np
from bolola_env.game import GAME, setup
from trick_core.drivers import make_buffers, table_drivers
from trick_core.jit import watching
tricks, drivers, b = setup("no_tricks"), table_drivers(GAME), make_buffers(GAME, 1)
built = []
with watching(built.append):
    drivers.begin(tricks.config, b.states, 0, 0, 0, 0)
    for _ in range(4):
        action = GAME.legal_ids(b.states[0])[0]
        drivers.step(tricks.config, tricks.run(), b.states, 0, action, b.scratch, b.rewards, b.words, b.obs, b.mask)
print(b.rewards.sum(), [each.loaded for each in built])
"""

    def play() -> str:
        return finish(run(tmp_path, script, NUMBA_CACHE_DIR=str(tmp_path / "cache")))

    assert play() == "-50.0 [False, False]"
    rules = tmp_path / "bolola_env" / "rules.py"
    edit(rules, "row.trick_value[st.trick_number]", "row.trick_value[st.trick_number] - 7")
    assert play() == "-57.0 [False, False]"
    assert play() == "-57.0 [True, True]"


def test_eight_processes_may_start_at_once(toy: SimpleNamespace) -> None:
    """On an empty cache all compile or load, all are right, and one whole file is left."""
    processes = [toy.start() for _ in range(8)]
    answers = [finish(process) for process in processes]
    assert {answer.split()[0] for answer in answers} == {"-90"}
    assert [file.suffix for file in toy.cache.iterdir()] == [".nbc"]
    assert toy.play() == "-90 ['loaded']"


@pytest.mark.parametrize("where", ["/proc/nowhere", "a file"])
def test_a_cache_folder_that_cannot_be_written_is_no_cache(
    toy: SimpleNamespace, where: str
) -> None:
    """A56: NUMBA_CACHE_DIR leads nowhere."""
    if where == "a file":
        where = str(toy.folder / "file")
        Path(where).write_text("")
    assert toy.play(NUMBA_CACHE_DIR=where) == "-90 ['compiled']"


@pytest.mark.parametrize("blocked", ["trick_core/__pycache__", "trick_core/__pycache__/kernels"])
def test_a_read_only_package_without_a_home_is_no_cache(toy: SimpleNamespace, blocked: str) -> None:
    """A56: no NUMBA_CACHE_DIR, a file where the package would keep its cache, no usable home."""
    file = toy.folder / blocked
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    unset: dict[str, str | None] = {"NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": None}
    answer = toy.play(HOME="/proc/nowhere", LOCALAPPDATA=None, **unset)
    assert answer == "-90 ['compiled']"
    home = toy.folder / "home"
    for seen in ("compiled", "loaded"):
        assert toy.play(HOME=str(home), LOCALAPPDATA=None, **unset) == f"-90 ['{seen}']"
    assert [file.suffix for file in (home / ".cache" / "trick-envs").iterdir()] == [".nbc"]


def test_a_whole_game_without_any_cache(tmp_path: Path) -> None:
    """A56: import, reset and a full game in a read-only installation, without a warning."""
    for package in ("trick_core", "bolola_env"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
        (tmp_path / package / "__pycache__").write_text("")
    script = """
import bolola_env
env = bolola_env.env("hearts")
env.reset(seed=0)
total = 0
for agent in env.agent_iter():
    observation, reward, termination, *_ = env.last()
    total += reward
    env.step(None if termination else int(observation["action_mask"].argmax()))
print(total)
"""
    away: dict[str, str | None] = {"NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": "/proc/nowhere"}
    assert finish(run(tmp_path, script, HOME=None, **away)) == "-390.0"


def test_importing_compiles_nothing() -> None:
    """A57: no compiler event, and no function with a compiled signature, after every module is imported."""
    script = """
import gc, importlib, pkgutil
from numba.core import event
from numba.core.dispatcher import Dispatcher
with event.install_recorder("numba:compile") as seen:
    names = []
    for package in ("trick_core", "bolola_env", "tarot_env"):
        names.append(package)
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__, package + "."):
            importlib.import_module(module.name)
            names.append(module.name)
ours = [d for d in gc.get_objects() if isinstance(d, Dispatcher) and (d.__module__ or "trick_core").split(".")[0] in names]
print(len(seen.buffer), len(names) > 20, len(ours) > 20, sum(len(d.signatures) for d in ours))
"""
    assert finish(run(ROOT, script)) == "0 True True 0"


# ------------------------------------------------------------------ in this process


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder, in a process that trusts all sources."""
    monkeypatch.setattr(jit, "_cache_folder", lambda: tmp_path)
    monkeypatch.setattr(jit, "_stamp", lambda sources: "stamp")
    return tmp_path


def three(monkeypatch: pytest.MonkeyPatch | None = None, stamp: str = "stamp") -> tuple[int, str]:
    """Compile or load ``popcount(7)`` as if in a new process; the value and which of the two it was."""
    if monkeypatch is not None:
        monkeypatch.setattr(jit, "_stamp", lambda sources: stamp)

    @entry("test.three")
    def count(word):  # type: ignore[no-untyped-def]
        return popcount(word)

    built: list[Built] = []
    with watching(built.append):
        value = count(np.uint64(7))
    assert [each.label for each in built] == ["test.three"] and built[0].seconds > 0
    return int(value), "loaded" if built[0].loaded else "compiled"


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flip(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(cut, id="cut short"),
        pytest.param(flip, id="one bit"),
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: b"not machine code" * 100, id="foreign"),
        pytest.param(lambda content: content[32:], id="no checksum"),
    ],
)
def test_a_damaged_file_is_ignored_and_replaced(
    folder: Path, damage: Callable[[bytes], bytes]
) -> None:
    assert three() == (3, "compiled")
    (file,) = folder.iterdir()
    content = file.read_bytes()
    file.write_bytes(damage(content))
    assert three() == (3, "compiled")
    assert three() == (3, "loaded")
    assert list(folder.iterdir()) == [file]


def test_a_folder_where_a_file_should_be(folder: Path) -> None:
    three()
    (file,) = folder.iterdir()
    file.unlink()
    file.mkdir()
    assert three() == three() == (3, "compiled")
    assert list(folder.iterdir()) == [file]


def test_a_few_versions_of_the_sources_are_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checkouts that share a cache do not drive each other out; old versions do not pile up."""
    for stamp in ("a", "b"):
        assert three(monkeypatch, stamp) == (3, "compiled")
    assert three(monkeypatch, "a") == (3, "loaded")
    for stamp in "cdefgh":
        three(monkeypatch, stamp)
    assert len(list(folder.iterdir())) == 4
    assert three(monkeypatch, "h") == (3, "loaded")


def test_sources_that_changed_under_a_running_process_are_not_vouched_for(tmp_path: Path) -> None:
    """What is in memory may be older than what is on disk: nothing is kept under the new text's name."""
    file = tmp_path / "rules.py"
    file.write_text("PENALTY = 1\n")
    assert jit._stamp((str(tmp_path),)) is None
    assert jit._stamp((str(tmp_path / "missing"),)) is None

    @entry("test.unvouched", [tmp_path])
    def one():  # type: ignore[no-untyped-def]
        return ONE

    built: list[Built] = []
    with watching(built.append):
        assert one() == 1
    assert not built


def test_the_order_of_cache_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NUMBA_CACHE_DIR alone if it is set; else beside the package; else the user's; else none."""
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(tmp_path / "numba"))
    assert jit.cache_folder() == tmp_path / "numba" / "trick-envs"
    monkeypatch.setattr(jit.config, "CACHE_DIR", "")
    assert jit.cache_folder() == Path(jit.__file__).parent / "__pycache__" / "kernels"
    monkeypatch.setattr(jit, "__file__", "/proc/nowhere/jit.py")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert jit.cache_folder() == tmp_path / "xdg" / "trick-envs"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: (_ for _ in ()).throw(RuntimeError)))
    assert jit.cache_folder() is None


def test_labels_are_unique(folder: Path) -> None:
    """Two entries that compile to different code must not share a label."""
    labels = []
    for game in (BOLOLA, tarot_env.game.GAME):
        functions: list[Any] = [*random_drivers.__wrapped__(game).values()]
        functions += table_drivers.__wrapped__(game)
        functions += vector_drivers.__wrapped__(game)
        for packed in (False, True):
            for bots in ((), (random_bot(game),)):
                functions += batch_drivers.__wrapped__(game, bots, packed)
        labels += [function._cache._label for function in functions]
    assert len(labels) > 30 and len(set(labels)) == len(labels)


def test_a_kernel_that_allocates_does_not_compile() -> None:
    """Kernels are compiled without reference counting; that they allocate nothing is thereby checked."""

    @kernel
    def inner(count):  # type: ignore[no-untyped-def]
        return np.zeros(count)[0]

    @entry(None)
    def outer(count):  # type: ignore[no-untyped-def]
        return inner(count)

    with pytest.raises(numba.core.errors.NumbaError, match=r"np\.zeros"):
        outer(3)


def test_warming_up_leaves_nothing_to_compile() -> None:
    """A57: a documented warm-up for every kind of environment, which reports each kernel as it is ready."""
    seen: list[Built] = []
    built = warmup(BOLOLA, ["env", "vector_env"], report=seen.append)
    assert built == seen
    assert warmup(BOLOLA, ["env", "vector_env"]) == []
    with pytest.raises(ValueError, match="no 'all'; there are 'env', 'vector_env'"):
        warmup(BOLOLA, ["all"])
    assert len(KINDS) == 7


def test_warming_up_makes_once_what_has_no_opponents(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many opponents there are, and with none at all; what bots play in is made once for each of them."""
    made: list[tuple[str, ...]] = []
    monkeypatch.setitem(_ALONE, "env", lambda setup: made.append(("env",)))
    monkeypatch.setitem(_AMONG_BOTS, "rollouts", lambda setup, bot: made.append(("rollouts", bot)))
    warmup(BOLOLA, ["env", "rollouts"], opponents=["random", "greedy"])
    assert made == [("env",), ("rollouts", "random"), ("rollouts", "greedy")]
    made.clear()
    warmup(BOLOLA, ["env", "rollouts"], opponents=[])
    assert made == [("env",)]


def test_a_kernel_can_be_called_from_python() -> None:
    """After others have compiled it, too, and for several types."""

    @kernel
    def half(x):  # type: ignore[no-untyped-def]
        return x / 2

    @entry(None)
    def quarter(x):  # type: ignore[no-untyped-def]
        return half(half(x))

    assert quarter(6) == 1.5
    assert half(6) == 3.0 and half(5.0) == 2.5 and half(np.uint64(3)) == 1.5
    assert quarter(6.0) == 1.5
