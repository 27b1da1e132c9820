"""A mark that says which clauses of the rulebook a test checks.

    @clause("B-4.2", binds=True)
    def test_king_goes_under_the_ace() -> None: ...

`binds=True`: the clause forces something here; `binds=False`: it looks as if it might, but does
not. The marks stack, and are kept on the function as `clauses`, a list of (id, binds).
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def clause(clause_id: str, *, binds: bool) -> Callable[[F], F]:
    """Mark a test as checking the clause, where it binds or where it does not."""

    def mark(test: F) -> F:
        marks: list[tuple[str, bool]] = getattr(test, "clauses", [])
        test.clauses = [(clause_id, binds), *marks]  # type: ignore[attr-defined]
        return test

    return mark


def clauses_tested(module: object) -> set[tuple[str, bool]]:
    """All (clause id, binds) that the test functions of a module are marked with."""
    return {mark for test in tests_of(module) for mark in getattr(test, "clauses", [])}


def clauses_shared(module: object) -> set[tuple[str, bool]]:
    """Those of the tests that run with both engines: they take the fixture `engine`."""
    shared = [test for test in tests_of(module) if "engine" in inspect.signature(test).parameters]
    return {mark for test in shared for mark in getattr(test, "clauses", [])}


def tests_of(module: object) -> list[Callable[..., Any]]:
    """The test functions of a module."""
    return [test for name, test in vars(module).items() if name.startswith("test")]
