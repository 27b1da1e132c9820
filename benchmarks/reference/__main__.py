"""Show that the yardstick plays the kernel's game: the same deals, choices, states and observations.

Called as ``python -m benchmarks.reference [bolola tarot bolola/trump ...] [--tables 64] [--steps 1000]``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.reference import KernelPlayer, NoYardstickError, YardstickPlayer, checksum
from benchmarks.throughput import choose_setup


def main(argv: Sequence[str] | None = None) -> None:
    """Print both sides' checksums; ends with status 1 where they differ or there is no yardstick."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reference", description=__doc__.splitlines()[0]
    )
    parser.add_argument("environments", nargs="*", default=["bolola", "tarot"])
    parser.add_argument("--tables", type=int, default=64)
    parser.add_argument("--steps", type=int, default=1000)
    arguments = parser.parse_args(argv)
    same = True
    for name in arguments.environments:
        setup = choose_setup(name)
        try:
            in_c = checksum(YardstickPlayer(setup, arguments.tables), arguments.steps)
        except NoYardstickError as reason:
            sys.exit(str(reason))
        compiled = checksum(KernelPlayer(setup, arguments.tables), arguments.steps)
        for side, (taken, points, digest) in (("C", in_c), ("kernel", compiled)):
            print(f"{setup.id}  {side:6}  {taken} actions  score {points}  {digest}")
        same &= in_c == compiled
    print("the same" if same else "different")
    sys.exit(not same)


if __name__ == "__main__":
    main()
