"""Side by side with what users would take instead: other libraries' card games, played at random.

    python -m benchmarks.peers --install     # makes their virtual environments in .peers, then measures
    python -m benchmarks.peers               # measures those that are there

Ours and theirs take turns in one run, on one core. ``worker`` runs in their environments, ``groups`` makes these and talks to
it, ``ours`` is what they are held against, ``page`` the table, the documentation and the plot.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterator

from benchmarks.measure import Case, Skipped
from benchmarks.peers.groups import PeerError, install, installed, players

LAYER = "OpenSpiel"
CPP = "OpenSpiel hearts, C++ playouts"


@contextlib.contextmanager
def open_spiel(python: str | None = None, make: bool = False) -> Iterator[list[Case | Skipped]]:
    """OpenSpiel's random playouts of hearts inside C++, for as long as the block lasts.

    Args:
        python: An interpreter that has ``open_spiel``; None: that in ``.peers``, or else this one, if it has it.
        make: Install it in ``.peers`` where no interpreter is given and none is there.
    """
    found = python or installed("openspiel")
    try:
        if found is None and importlib.util.find_spec("pyspiel") is not None:
            found = sys.executable
        if found is None and make:
            install("openspiel")
            found = installed("openspiel")
    except PeerError as error:
        yield [Skipped(CPP, LAYER, str(error))]
        return
    if found is None:
        reason = "open_spiel is not installed; see --open-spiel and --install"
        yield [Skipped(CPP, LAYER, reason)]
        return
    with players({"openspiel": found}) as (entries, _):
        yield [entry.item for entry in entries if entry.facts.name == CPP]
