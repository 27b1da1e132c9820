"""What a policy is: the same in every process, and another as soon as anything that it does is another."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import MethodType
from typing import Any

import numpy as np
import pytest

from baselines.bots import net as nets
from baselines.evaluation.identity import what_is
from trick_core import bots
from trick_core.bots import as_bot, register_bot

#: A module of the user's, with a policy of every kind.
MINE = """
import functools
from pathlib import Path

import weights

LEVEL = 3

def helper(view):
    return len(view.legal) // LEVEL

@functools.cache
def table():
    return [1, 2]

class Base:
    def rank(self, view):
        return helper(view)

class Mine(Base):
    def __init__(self, power=1):
        self.power = power
        self.seen = {"spades", "hearts", "diamonds", "clubs"}

    @property
    def name(self):
        return "mine"

    @staticmethod
    def scale():
        return weights.SCALE

    def act(self, view):
        return view.legal[self.rank(view) * self.power * self.scale() * table()[0]]

class Lazy:
    def __init__(self):
        self.file = Path("net.bin")

    def act(self, view):
        return view.legal[open(self.file).read() == "x"]

def function(view):
    return view.legal[helper(view)] + len(open("net.bin").read())

def make(level):
    return lambda view: view.legal[level]

POLICIES = {
    "object": Mine(),
    "lazy": Lazy(),
    "function": function,
    "closure": make(0),
    "partial": functools.partial(function),
    "method": Mine().act,
}
"""
CALL = """
import json
from baselines.evaluation.identity import what_is
from mine import POLICIES
print(json.dumps({key: what_is(spec) for key, spec in POLICIES.items()}))
"""


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """What the policies of :data:`MINE` are, as a new process sees them, with texts in its files replaced."""
    root = str(Path(__file__).parent.parent)
    whole = {"mine.py": MINE, "weights.py": "SCALE = 1\nOTHER = 2\n", "net.bin": "x"}

    def tell(*changes: tuple[str, str, str], seed: int = 0) -> dict[str, Any]:
        files = dict(whole)
        for file, old, new in changes:
            assert old in files[file]
            files[file] = files[file].replace(old, new)
        for file, text in files.items():
            (tmp_path / file).write_text(text)
        done = subprocess.run(
            [sys.executable, "-B", "-c", CALL],
            cwd=tmp_path,
            env={"PYTHONPATH": f"{tmp_path}:{root}", "PYTHONHASHSEED": str(seed), "PATH": ""},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return tell


def test_objects_are_the_same_in_every_process(told: Callable[..., dict[str, Any]]) -> None:
    one = told()
    assert all("sha256" in what for what in one.values())
    assert len({what["sha256"] for what in one.values()}) == len(one)
    assert told(("mine.py", "LEVEL = 3", "# Further down.\n\nLEVEL = 3"), seed=1) == one
    assert told(("weights.py", "OTHER = 2", "OTHER = 3"), seed=2) == one


@pytest.mark.parametrize(
    ("change", "others"),
    [
        (("mine.py", "power=1", "power=2"), {"object", "method"}),
        (("mine.py", "LEVEL = 3", "LEVEL = 4"), {"object", "method", "function", "partial"}),
        (("mine.py", "// LEVEL", "% LEVEL"), {"object", "method", "function", "partial"}),
        (("mine.py", "return helper(view)", "return -helper(view)"), {"object", "method"}),
        (("mine.py", "[1, 2]", "[2, 2]"), {"object", "method"}),
        (("mine.py", "return weights.SCALE", "return -weights.SCALE"), {"object", "method"}),
        (("weights.py", "SCALE = 1", "SCALE = 2"), {"object", "method"}),
        (("mine.py", "make(0)", "make(1)"), {"closure"}),
        (("mine.py", '== "x"', '!= "x"'), {"lazy"}),
        (("net.bin", "x", "y"), {"lazy", "function", "partial"}),
    ],
)
def test_an_object_that_does_something_else_is_another(
    told: Callable[..., dict[str, Any]], change: tuple[str, str, str], others: set[str]
) -> None:
    before, after = told(), told(change)
    assert {key for key in before if before[key] != after[key]} == others


class Hidden:
    """Nobody can say what it is."""

    def __reduce__(self) -> Any:
        raise RuntimeError("not to be had")

    def act(self, view: Any) -> int:
        return int(view.legal[0])


def imports(view: Any) -> int:
    """What it imports when it plays cannot be looked at before."""
    from tests.helpers import fewer

    return int(view.legal[fewer(0, 0)])


def climbs(view: Any) -> int:
    """A module of its own package, though it is called as one of Python's."""
    from .statistics import pick  # type: ignore[import-not-found]

    return int(view.legal[pick])


@functools.lru_cache
def cached(view: Any) -> int:
    return int(view.legal[0])


@pytest.mark.parametrize("spec", [Hidden(), imports, climbs, (k for k in "no").__next__])
def test_what_cannot_be_found_out_is_another_in_every_run(spec: Any) -> None:
    one, two = what_is(spec), what_is(spec)
    assert one["name"] == two["name"] and one["run"] != two["run"]


def test_methods_are_their_function_and_their_object() -> None:
    def act(self: Any, view: Any) -> int:
        return int(view.legal[self])

    def other(self: Any, view: Any) -> int:
        return int(view.legal[-self])

    other.__name__ = other.__qualname__ = "act"
    methods = [MethodType(act, 1), MethodType(act, 2), MethodType(other, 1)]
    assert len({what_is(method)["sha256"] for method in methods}) == 3


def test_wrapped_functions_are_what_they_wrap() -> None:
    assert what_is(cached) == what_is(cached) != what_is(cached.__wrapped__)


def test_bots_of_one_name_are_what_they_hold(tmp_path: Path) -> None:
    net = nets.find("bolola-v1")
    weights = (net.weights[0] + np.float32(1e-3), *net.weights[1:])
    other = nets.Net(weights, net.biases, net.critic, net.about)
    kinds = [what_is(nets.NetBot(one, "agent")) for one in (net, other, net)]
    assert kinds[0] == kinds[2] != kinds[1]
    assert {kind["name"] for kind in kinds} == {"agent"}
    assert what_is(nets.NetBot(net, "agent", temperature=1.0)) not in kinds


def test_torch_models_are_their_weights() -> None:
    """Whose pickles hold addresses: no two are alike."""
    torch = pytest.importorskip("torch")

    class Model:
        name = "model"

        def __init__(self, seed: int) -> None:
            torch.manual_seed(seed)
            self.net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
            self.half = torch.zeros(2, dtype=torch.bfloat16)[1]

        def act(self, view: Any) -> int:
            return int(view.legal[0])

    assert what_is(Model(0))["sha256"] == what_is(Model(0))["sha256"]
    assert what_is(Model(0)) != what_is(Model(1))


# ---------------------------------------------------------------------------- texts


@pytest.mark.parametrize(
    "name", ["greedy-v1", "net", "pimc", "pimc:slips=0.01,net=own,trust=1", "oracle", "net:x.npz"]
)
def test_a_text_that_names_no_file_is_itself(name: str) -> None:
    """Hours of games are kept under these."""
    assert what_is(name) == {"name": name}


@pytest.mark.parametrize(
    "text",
    [
        "net:{}",
        "net:{},temperature=0.5",
        "pimc:net={}",
        "pimc:net= {} ,trust=1",
        "ismcts:iterations=100,net={}",
        "anything:{}:more",
    ],
)
@pytest.mark.parametrize("file", ["mine.npz", "lr=0.1,run:2/mine.npz"])
def test_files_in_a_text_count_by_their_content(text: str, file: str, tmp_path: Path) -> None:
    path = tmp_path / file
    name = text.format(path)
    assert what_is(name) == {"name": name}
    path.parent.mkdir(exist_ok=True)
    path.write_text("one")
    one = what_is(name)
    path.write_text("two")
    assert one != what_is(name) != {"name": name}
    path.write_text("one")
    assert what_is(name) == one


def test_a_file_alone_is_known_by_its_hash(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("one")
    name = f"sb3:{tmp_path / 'model'}"
    digest = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
    assert what_is(name) == {"name": name, "sha256": digest}


def test_folders_in_a_text_count_by_all_that_is_in_them(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "deep").mkdir(parents=True)
    (run / "checkpoint.pt").write_text("one")
    (run / "latest").symlink_to(tmp_path / "elsewhere")
    (run / "deep" / "round").symlink_to(run)
    name = f"torchrl:{run}"
    found = [what_is(name)]

    def now() -> dict[str, Any]:
        found.append(what_is(name))
        return found[-1]

    (run / "deep" / "more.bin").write_text("more")
    now()
    (run / "checkpoint.pt").write_text("two")
    now()
    (run / "deep" / "more.bin").rename(run / "deep" / "most.bin")
    now()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "weights").write_text("here")
    now()
    assert len({json.dumps(what) for what in found}) == 5
    # What a ladder writes is no part of a policy, as long as it is its own.
    (run / "chunks").mkdir()
    (run / "chunks" / "a-0-50.npz").write_text("points")
    (run / "ladder.json").write_text("result")
    assert what_is(name, run) == found[-1] != what_is(name)


def test_bots_that_the_user_registers_are_what_makes_them(monkeypatch: Any) -> None:
    monkeypatch.setattr(bots, "_FACTORIES", dict(bots._FACTORIES))

    def registered(level: int) -> dict[str, Any]:
        register_bot("leveled", lambda argument: as_bot(lambda view: view.legal[level]))
        return what_is("leveled:fast")

    assert registered(0) == registered(0) != registered(1)
    assert what_is("pimc:playout=leveled") != {"name": "pimc:playout=leveled"}
