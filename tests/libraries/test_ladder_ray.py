"""The ladder on Ray: a real local cluster, one of whose workers is killed at work."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray has tests of its own: nox --sessions libraries")

from baselines.ladder import ladder
from tests.test_ladder import HEARTS, KillsItsProcess, numbers, played


def test_ladder_on_ray_is_the_ladder_though_a_worker_is_killed(tmp_path: Path) -> None:
    mortal = KillsItsProcess(tmp_path / "killed")
    settings: dict[str, Any] = {"against": ["random"], "deals": 6, "chunk": 2}
    on_ray = ladder(HEARTS, ["greedy", mortal], ray="local", folder=tmp_path, **settings)
    assert (tmp_path / "killed").exists()
    assert len(played(tmp_path)) == 6
    assert numbers(on_ray) == numbers(ladder(HEARTS, ["greedy", mortal], workers=1, **settings))
