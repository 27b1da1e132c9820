"""Notes which versions a run of the tests had, in ``docs/versions.json``: ``python docs/record.py LEG``; ``docs/generate.py`` makes a table of it."""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FILE = Path(__file__).parent / "versions.json"
#: What the library stands on or plugs into.
PACKAGES = (
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
    "ray",
    "torchrl",
    "tianshou",
    "agilerl",
    "open-spiel",
)


def versions() -> dict[str, str]:
    """The installed ones of the packages, without the part that names the build."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name).partition("+")[0]
        except PackageNotFoundError:
            continue
    return found


def main(leg: str) -> None:
    """Note the installed versions as those of a leg."""
    legs = json.loads(FILE.read_text()) if FILE.is_file() else {}
    legs[leg] = versions()
    FILE.write_text(json.dumps(legs, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
