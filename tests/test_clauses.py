"""The test of the tests: every clause of the rulebooks has, in the plain engine and in the kernels, a test in which
it binds and one in which it does not.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.clauses import clause, clauses_tested
from tests.test_rulebook import clause_ids

TESTS = Path(__file__).parent
GAMES = ["bolola"] + ["tarot"] * bool(find_spec("tarot_env"))


def modules(game: str, level: str) -> list[str]:
    """Test modules that mark clauses of the game, of the plain engine or of the kernels."""
    prefix = "test_reference_" if level == "reference" else f"test_{game}"
    files = [file for file in sorted(TESTS.glob(f"{prefix}*.py")) if game in file.stem]
    return [f"tests.{file.stem}" for file in files if "@clause(" in file.read_text()]


@pytest.mark.parametrize("level", ["reference", "kernel"])
@pytest.mark.parametrize("game", GAMES)
def test_every_clause_is_tested_where_it_binds_and_where_it_does_not(game: str, level: str) -> None:
    names = modules(game, level)
    assert names, f"no test module marks clauses of {game} ({level})"
    tested = {mark for name in names for mark in clauses_tested(importlib.import_module(name))}
    wanted = {(one, binds) for one in clause_ids(game) for binds in (True, False)}
    missing = [f"{one} ({'binds' if binds else 'does not bind'})" for one, binds in wanted - tested]
    assert not missing, f"{game}, {level}: no test for {', '.join(sorted(missing))}"
    unknown = sorted({one for one, _ in tested - wanted})
    assert not unknown, f"{game}, {level}: the rulebook has no {', '.join(unknown)}"


def test_marks_are_collected() -> None:
    """Marks stack; only test functions count."""

    @clause("B-1.1", binds=True)
    @clause("B-1.2", binds=False)
    def test_two() -> None: ...

    @clause("B-1.3", binds=True)
    def helper() -> None: ...

    module = SimpleNamespace(test_two=test_two, helper=helper)
    assert clauses_tested(module) == {("B-1.1", True), ("B-1.2", False)}
