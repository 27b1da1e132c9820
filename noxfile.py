"""Test legs that need an environment of their own: ``nox --sessions versions``, ``nox --sessions libraries``."""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "venv"

#: Supported versions below the newest, which ``make test`` runs: the lower bounds, and a pair that RLlib pins.
LEGS = {
    "oldest": ["numpy==2.0.*", "numba==0.60.*", "gymnasium==1.1.1", "pettingzoo==1.25.0"],
    "middle": ["gymnasium==1.2.2", "pettingzoo==1.26.1"],
}

#: The RL libraries, in as few environments as their pins allow: each leg's requirements, and its tests.
LIBRARIES: dict[str, tuple[list[str], list[str]]] = {
    "ray-agilerl": (
        [".[train,ray,agilerl]"],
        [
            "tests/libraries/test_ray.py",
            "tests/libraries/test_ladder_ray.py",
            "tests/libraries/test_agilerl.py",
        ],
    ),
    "torchrl-tianshou-openspiel": (
        [".[train,torchrl,tianshou,openspiel]", "dm-tree"],
        [
            "tests/libraries/test_torchrl.py",
            "tests/libraries/test_tianshou.py",
            "tests/libraries/test_openspiel.py",
            "tests/test_aec_libraries.py",
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
    _run(session, leg, "--numprocesses", "auto", *TESTS)


@nox.session
@nox.parametrize("leg", list(LIBRARIES))
def libraries(session: nox.Session, leg: str) -> None:
    """The adapters to RL libraries, against the libraries themselves."""
    requirements, tests = LIBRARIES[leg]
    session.install(
        "--constraint", "constraints.txt", "pytest", "pytest-xdist", "hypothesis", *requirements
    )
    spread = [] if "ray" in leg else ["--numprocesses", "auto"]  # Ray takes all cores itself
    _run(session, leg, *spread, *tests)


def _run(session: nox.Session, leg: str, *arguments: str) -> None:
    """Run tests; with ``-- --record``, note afterwards which versions they ran with."""
    options = list(session.posargs)
    record = "--record" in options
    if record:
        options.remove("--record")
    session.run("python", "-m", "pytest", "-q", *arguments, *options)
    if record:
        session.run("python", "docs/record.py", leg)
