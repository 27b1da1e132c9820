"""Optional dependencies: one sentence instead of a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingExtraError(ImportError):
    """An optional dependency is not installed; the message says what to install."""


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Imports inside need ``pip install trick-envs[extra]``."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{error.name} is missing: pip install 'trick-envs[{extra}]'"
        ) from error
