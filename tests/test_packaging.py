"""The distribution: what the metadata promises, and a wheel that works in an environment of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from baselines.extras import MissingExtraError

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
WHEEL: dict[str, Any] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
GAMES = [path.name for path in sorted(ROOT.glob("*_env")) if (path / "__init__.py").exists()]


def test_every_package_is_in_the_wheel() -> None:
    """A folder with ``__init__.py`` at the top is shipped; tests are not."""
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert set(WHEEL["packages"]) == packages


@pytest.mark.parametrize("package", ["trick_core", *GAMES])
def test_types_are_shipped(package: str) -> None:
    assert (ROOT / package / "py.typed").exists()


def test_no_dependency_is_capped() -> None:
    """A56: Numba bounds NumPy itself; a cap here would only get in its way."""
    needed = PROJECT["project"]["dependencies"]
    names = {re.split(r"[<>=~! ]", one)[0] for one in needed}
    assert names == {"numpy", "numba", "gymnasium", "pettingzoo"}
    for one in [*needed, *PROJECT["project"]["optional-dependencies"]["train"]]:
        assert not re.search(r"<|==|~=", one), f"{one} sets an upper bound"


def test_entry_points_lead_to_something() -> None:
    """The command and the bots of the registry can be imported, and are callable."""
    points = dict(PROJECT["project"]["entry-points"]["trick_envs.bots"])
    points |= PROJECT["project"]["scripts"]
    assert points
    for name, target in points.items():
        module, _, attribute = target.partition(":")
        try:
            found = getattr(import_module(module), attribute)
        except MissingExtraError:  # the library's own leg has it
            continue
        assert callable(found), name


def test_lower_bounds_are_the_oldest_tested() -> None:
    """A41: the oldest versions that the metadata allows are those that a test leg installs."""
    source = (ROOT / "noxfile.py").read_text()
    for one in PROJECT["project"]["dependencies"]:
        name, bound = one.split(">=")
        assert re.search(rf'"{name}=={re.escape(bound)}(\.\*)?"', source), one


# ---------------------------------------------------------------------------- an own environment

CHECK = """
import importlib.resources, random, sys
import bolola_env, trick_core
assert not any(m.startswith(("torch", "stable_baselines3", "matplotlib", "pygame")) for m in sys.modules)
assert "site-packages" in bolola_env.__file__, bolola_env.__file__
for package in PACKAGES:
    assert importlib.resources.files(package).joinpath("py.typed").is_file(), package
assert "B-1.1" in importlib.resources.files("seeds").joinpath("rulebook/bolola.md").read_text()

env = bolola_env.env("hearts")
env.reset(seed=1)
total = 0.0
for agent in env.agent_iter():
    observation, reward, termination, _, _ = env.last()
    total += reward
    legal = observation["action_mask"].nonzero()[0].tolist()
    env.step(None if termination else random.choice(legal))
assert total == -390, total

import gymnasium
learner = gymnasium.make("bolola/trump-v0", opponents="greedy")
_, info = learner.reset(seed=1)
assert info["action_mask"].any()

from trick_core.bots import bot_names
assert {"random", "greedy"} <= set(bot_names()), bot_names()
print("works")
"""


def run(*command: Any, cwd: Path) -> str:
    """Run a command, which finds only what is installed; its output."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.long
def test_the_wheel_works_in_an_environment_of_its_own(tmp_path: Path) -> None:
    """Build, install without extras, import, play, find the bots, ask the command for help."""
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    assert not [name for name in names if name.startswith("tests/")]
    assert [name for name in names if name.endswith("/licenses/LICENSE")]
    place = tmp_path / "venv"
    venv.create(place, with_pip=True)
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    packages = ["trick_core", *GAMES]
    script = CHECK.replace("PACKAGES", repr(packages))
    assert run(python, "-W", "error::DeprecationWarning", "-c", script, cwd=tmp_path) == "works\n"
    run(python, "-m", "pip", "check", cwd=tmp_path)
    assert "evaluate" in run(python.with_name("trick-envs"), "--help", cwd=tmp_path)
