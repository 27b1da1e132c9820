"""One readable game per variant is committed; a change of the rules, the dealing or the drawing shows as a diff.

``python -m tests.test_transcripts`` writes them anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from trick_core.game import find_game, setup_for
from trick_core.records import Table, to_record

FOLDER = Path(__file__).parent / "transcripts"
GAMES = ("bolola", "tarot")

#: All registered variants; a user's own contract is none of them.
VARIANTS = [
    f"{name}/{variant}"
    for name in GAMES
    for variant, options in find_game(name).variants.items()
    if options.get("contract", "") is not None
]


def transcript_file(variant: str) -> Path:
    return FOLDER / f"{variant.replace('/', '_')}.txt"


def transcript(variant: str) -> str:
    """A game with that variant's first deal, actions chosen by a fixed rule."""
    table = Table(setup_for(variant), seed=2024)
    while not table.over:
        legal = table.legal
        table.step(legal[(7 * len(table.history) + 3) % len(legal)])
    return to_record(table).show() + "\n"


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_committed_game_is_played_and_shown_as_ever(variant: str) -> None:
    file = transcript_file(variant)
    assert file.exists(), f"{file.name} is missing: python -m tests.test_transcripts writes it"
    assert transcript(variant) == file.read_text(encoding="utf-8")


def test_every_committed_game_belongs_to_a_variant() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {transcript_file(v).name for v in VARIANTS}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in VARIANTS:
        transcript_file(each).write_text(transcript(each), encoding="utf-8")
