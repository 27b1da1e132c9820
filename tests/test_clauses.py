"""The test of the tests: every clause of the rulebooks has, in the plain engine and in the kernels, a test in which
it binds and one in which it does not.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.clauses import clause, clauses_shared, clauses_tested
from tests.test_rulebook import clause_ids

TESTS = Path(__file__).parent
GAMES = ["bolola"] + ["tarot"] * bool(find_spec("tarot_env"))


def marks(game: str, level: str) -> set[tuple[str, bool]]:
    """Marks of the game's tests of the plain engine or of the kernels; some tests are of both."""
    found: set[tuple[str, bool]] = set()
    for file in sorted(TESTS.glob(f"test_*{game}*.py")):
        if "@clause(" in file.read_text():
            module = importlib.import_module(f"tests.{file.stem}")
            alone = "reference" if file.stem.startswith("test_reference_") else "kernel"
            found |= clauses_tested(module) if level == alone else clauses_shared(module)
    return found


@pytest.mark.parametrize("level", ["reference", "kernel"])
@pytest.mark.parametrize("game", GAMES)
def test_every_clause_is_tested_where_it_binds_and_where_it_does_not(game: str, level: str) -> None:
    tested = marks(game, level)
    wanted = {(one, binds) for one in clause_ids(game) for binds in (True, False)}
    missing = [f"{one} ({'binds' if binds else 'does not bind'})" for one, binds in wanted - tested]
    assert not missing, f"{game}, {level}: no test for {', '.join(sorted(missing))}"
    unknown = sorted({one for one, _ in tested - wanted})
    assert not unknown, f"{game}, {level}: the rulebook has no {', '.join(unknown)}"


def test_marks_are_collected() -> None:
    """Marks stack; only test functions count; those with an `engine` are tests of both engines."""

    @clause("B-1.1", binds=True)
    @clause("B-1.2", binds=False)
    def test_two() -> None: ...

    @clause("B-1.3", binds=True)
    def helper() -> None: ...

    @clause("B-1.4", binds=True)
    def test_both(engine: object) -> None: ...

    module = SimpleNamespace(test_two=test_two, helper=helper, test_both=test_both)
    assert clauses_tested(module) == {("B-1.1", True), ("B-1.2", False), ("B-1.4", True)}
    assert clauses_shared(module) == {("B-1.4", True)}
