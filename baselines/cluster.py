"""A Ray cluster of several nodes on this machine, to try what is meant for a real one.

``python -m baselines.cluster --nodes 3 -- python -m baselines.train.rllib bolola/hearts-v0 --runners 2`` starts three nodes (each a raylet with an
object store of its own), runs the command with ``RAY_ADDRESS`` naming them, and stops them when it has ended. On a real cluster,
``ray start --head`` on one machine and ``ray start --address=...`` on the others take the place of this module.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from baselines.extras import MissingExtraError, needs

_OBJECT_STORE = 150 * 1024 * 1024


@contextmanager
def local_cluster(nodes: int = 2, cpus_per_node: int = 1) -> Iterator[Any]:
    """A cluster of ``nodes`` raylets on this machine while the context lasts.

    Args:
        nodes: How many, 1 or more.
        cpus_per_node: CPUs that each says it has. They may add up to more than there are.

    Yields:
        The :class:`ray.cluster_utils.Cluster`; its ``address`` is what ``ray.init`` and ``RAY_ADDRESS`` take.

    Raises:
        ValueError: Fewer than one node or CPU.
        MissingExtraError: Ray is not installed.
    """
    for name, value in (("nodes", nodes), ("cpus_per_node", cpus_per_node)):
        if value < 1:
            raise ValueError(f"{name}: expected 1 or more, got {value}")
    with needs("ray"):
        from ray.cluster_utils import Cluster
    settings = {"num_cpus": cpus_per_node, "object_store_memory": _OBJECT_STORE}
    cluster = Cluster(initialize_head=True, head_node_args={**settings, "include_dashboard": False})
    try:
        for _ in range(nodes - 1):
            cluster.add_node(**settings)
        cluster.wait_for_nodes()
        yield cluster
    finally:
        cluster.shutdown()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code of the command that it ran."""
    parser = argparse.ArgumentParser(
        prog="python -m baselines.cluster",
        description="Run a command on a Ray cluster of several nodes on this machine.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--cpus-per-node", type=int, default=1)
    parser.add_argument("command", nargs="+", help="what to run, after --")
    options = parser.parse_args(arguments)
    try:
        with local_cluster(options.nodes, options.cpus_per_node) as cluster:
            print(f"{options.nodes} nodes at {cluster.address}", flush=True)
            environment = {**os.environ, "RAY_ADDRESS": cluster.address}
            return subprocess.run(options.command, env=environment).returncode
    except (ValueError, MissingExtraError, FileNotFoundError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    raise SystemExit(main())
