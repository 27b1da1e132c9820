"""Test legs that need an environment of their own: ``nox --sessions versions``."""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "venv"

#: Supported pairs below the newest, which ``make test`` runs.
PAIRS = [("1.1.1", "1.25.0"), ("1.2.2", "1.26.1")]


@nox.session(python=False)
@nox.parametrize(("gymnasium", "pettingzoo"), PAIRS)
def versions(session: nox.Session, gymnasium: str, pettingzoo: str) -> None:
    """The adapters' tests with older gymnasium and pettingzoo; the oldest pair also with the oldest numba."""
    session.log(f"gymnasium {gymnasium}, pettingzoo {pettingzoo}")
