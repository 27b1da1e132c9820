"""Test legs that need an environment of their own: ``nox --sessions versions``, ``nox --sessions libraries``."""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "venv"

#: Supported versions below the newest, which ``make test`` runs: the lower bounds, and a pair that RLlib pins.
LEGS = {
    "oldest": ["numpy==2.0.*", "numba==0.60.*", "gymnasium==1.1.1", "pettingzoo==1.25.0"],
    "middle": ["gymnasium==1.2.2", "pettingzoo==1.26.1"],
}

#: The RL libraries that pin their neighbours apart: each leg's extra (and further pins), and its tests.
LIBRARIES: dict[str, tuple[list[str], list[str]]] = {
    "agilerl": ([".[agilerl]"], ["tests/libraries/test_agilerl.py"]),
    "openspiel": ([".[openspiel]", "dm-tree", "torch"], ["tests/libraries/test_openspiel.py"]),
    "ray": (
        [".[train,ray]"],
        ["tests/libraries/test_ray.py", "tests/libraries/test_ladder_ray.py"],
    ),
    "tianshou": (
        [".[train,tianshou]"],
        [
            "tests/libraries/test_tianshou.py",
            "tests/test_aec_libraries.py::test_tianshou_plays_whole_episodes",
        ],
    ),
    "torchrl": (
        [".[train,torchrl]"],
        [
            "tests/libraries/test_torchrl.py",
            "tests/test_aec_libraries.py::test_torchrl_plays_a_whole_episode",
        ],
    ),
}

#: Tests of what the library plugs into, and of the kernels.
TESTS = [
    "tests/test_aec_loop.py",
    "tests/test_aec_spaces.py",
    "tests/test_registry.py",
    "tests/test_single.py",
    "tests/test_learner.py",
    "tests/test_vector.py",
    "tests/test_bolola_rules.py",
]


@nox.session
@nox.parametrize("leg", list(LEGS))
def versions(session: nox.Session, leg: str) -> None:
    """The adapters with older versions of their neighbours, and without any extra."""
    session.install(
        "pytest", "pytest-xdist", "hypothesis", "cloudpickle", *LEGS[leg], "--editable", "."
    )
    session.run("python", "-m", "pytest", "-q", "--numprocesses", "auto", *TESTS)


@nox.session
@nox.parametrize("library", list(LIBRARIES))
def libraries(session: nox.Session, library: str) -> None:
    """The adapters to an RL library, against the library itself."""
    requirements, tests = LIBRARIES[library]
    session.install(
        "--constraint", "constraints.txt", "pytest", "pytest-xdist", "hypothesis", *requirements
    )
    session.run("python", "-m", "pytest", "-q", *tests, *session.posargs)
