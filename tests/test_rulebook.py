"""The rulebooks: every clause is numbered once, says whether it is a reading, and is known to the code."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RULEBOOK = ROOT / "seeds" / "rulebook"
#: Clauses in each part of a rulebook.
PARTS = {
    "bolola": ("B", {1: 5, 2: 1, 3: 3, 4: 7, 5: 7, 6: 1, 7: 3, 8: 1}),
    "tarot": ("T", {1: 4, 2: 4, 3: 4, 4: 6, 5: 4, 6: 4, 7: 6}),
}
GAMES = list(PARTS)
CLAUSE = re.compile(r"^- \*\*([BT]-\d+\.\d+)\*\* (.*(?:\n  .*)*)", re.MULTILINE)
MENTION = re.compile(r"\b[BT]-\d+\.\d+\b")
READINGS = {
    "bolola": "B-1.2 B-1.3 B-1.5 B-3.2 B-4.1 B-4.5 B-5.1 B-6.1 B-7.1 B-7.2",
    "tarot": "T-2.2 T-2.3 T-4.1 T-4.4 T-4.5 T-6.3 T-7.4",
}
#: Folders whose code may name clauses.
CODE = ("bolola_env", "tarot_env", "trick_core", "baselines", "benchmarks", "seeds", "tests")
OPTIONS = {
    "bolola": {"B-1.5": "early_stop", "B-6.1": "trump", "B-7.1": "order"},
    "tarot": {"T-2.4": "forbid_pass"},
}


def clauses(game: str) -> dict[str, str]:
    """The clauses of a rulebook and their texts, in their order."""
    found = CLAUSE.findall((RULEBOOK / f"{game}.md").read_text())
    assert len(found) == len(dict(found)), "a clause is numbered twice"
    return dict(found)


def clause_ids(game: str) -> list[str]:
    """The clauses that a rulebook has to have."""
    letter, parts = PARTS[game]
    return [f"{letter}-{part}.{n}" for part, last in parts.items() for n in range(1, last + 1)]


@pytest.mark.parametrize("game", GAMES)
def test_every_clause_stands_once_and_in_order(game: str) -> None:
    found = clauses(game)
    assert list(found) == clause_ids(game)
    assert all(len(text) > 20 for text in found.values())


@pytest.mark.parametrize("game", GAMES)
def test_readings_and_options_are_marked(game: str) -> None:
    """What the sources leave open says so, and what is an option is one of the game's."""
    marks = {one: re.match(r"\*\((.*?)\)\*", text) for one, text in clauses(game).items()}
    said = {one: mark.group(1) for one, mark in marks.items() if mark}
    assert [one for one, mark in said.items() if "reading" in mark] == READINGS[game].split()
    assert [one for one, mark in said.items() if "option" in mark] == list(OPTIONS[game])


@pytest.mark.parametrize("game", GAMES)
def test_options_of_the_rulebook_are_options_of_the_game(game: str) -> None:
    """Each option that a clause names is a keyword of ``setup``, and off or open by default."""
    module = importlib.import_module(f"{game}_env.game")
    parameters = inspect.signature(module.setup).parameters
    text = clauses(game)
    for one, option in OPTIONS[game].items():
        assert f"`{option}`" in text[one]
        assert not parameters[option].default


@pytest.mark.parametrize("game", GAMES)
def test_mentions_are_of_clauses_that_exist(game: str) -> None:
    """Code, tests and documents name no clause that the rulebook lacks."""
    known = {*clause_ids("bolola"), *clause_ids("tarot")}
    files = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(file for folder in CODE for file in (ROOT / folder).rglob("*.py")),
        RULEBOOK / f"{game}.md",
    ]
    wrong = {
        f"{file.relative_to(ROOT)}: {one}"
        for file in files
        for one in MENTION.findall(file.read_text())
        if one not in known
    }
    assert not wrong


def test_the_table_of_contracts_is_the_codes() -> None:
    """The rulebook's totals are what the rows add up to (B-2.1)."""
    from bolola_env.contracts import CONTRACTS

    text = (RULEBOOK / "bolola.md").read_text()
    totals = dict(re.findall(r"^\| `(\w+)` \|.*\| ([+-]\d+) \|$", text, re.MULTILINE))
    assert {name: int(total) for name, total in totals.items()} == {
        name: row.total for name, row in CONTRACTS.items()
    }


def test_the_order_of_the_match_is_the_codes() -> None:
    """B-7.1 lists the twelve deals."""
    from bolola_env.contracts import MATCH_ORDER

    named = re.findall(r"`(\w+)`", clauses("bolola")["B-7.1"].split(". The seven")[0])
    assert named[:7] == list(MATCH_ORDER[:7])
    assert named[7:] == ["trump", "bolola"]
    assert MATCH_ORDER[7:] == ("trump",) * 4 + ("bolola",)
