"""Playing at the terminal and looking at records, through the real loop and the real command."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from baselines.play import play
from baselines.replay import replay
from bolola_env.contracts import CONTRACTS
from trick_core.game import setup_for
from trick_core.jit import JIT
from trick_core.records import load

HEARTS = setup_for("bolola/hearts-v0")
LEGAL = re.compile(r"^player_\d (?:leads|plays|names the trump suit): (.+)$", re.MULTILINE)


class Person(io.StringIO):
    """Types the commands first, then the first legal action that the table shows, until all is over."""

    def __init__(self, screen: io.StringIO, commands: str = "", actions: int = 10_000) -> None:
        super().__init__()
        self.screen = screen
        self.commands = commands.splitlines()
        self.actions = actions

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        if self.commands:
            return self.commands.pop(0) + "\n"
        shown = self.screen.getvalue()
        if self.actions == 0 or "The end." in shown:
            return ""
        self.actions -= 1
        return LEGAL.findall(shown)[-1].split()[0] + "\n"


def sitting(setup: Any = HEARTS, commands: str = "", actions: int = 0, **options: Any) -> str:
    """What a game shows to a person who types the commands and then so many legal actions."""
    screen = io.StringIO()
    options = {"opponents": "random", "seed": 3, **options}
    assert play(setup, stdin=Person(screen, commands, actions), stdout=screen, **options) == 0
    return screen.getvalue()


@pytest.mark.parametrize("contract", [*CONTRACTS, "match"])
@pytest.mark.parametrize("seat", [0, 3])
def test_a_whole_game_against_bots(contract: str, seat: int, tmp_path: Path) -> None:
    if contract == "match":
        setup = setup_for("bolola/match-v0", order=["trump", "hearts"])
    else:
        setup = setup_for(f"bolola/{contract}-v0")
    file = tmp_path / "deal.json"
    text = sitting(setup, actions=100, seat=seat, record=file)
    assert "The end. Points: " in text
    table = load(file).table()
    assert table.over
    points = ", ".join(f"player_{s} {int(p):+d}" for s, p in enumerate(table.points))
    assert f"The end. Points: {points}" in text
    if contract == "match":
        assert "Deal 1 is over; so far:  player_" in text


def test_a_person_sees_no_hand_but_their_own() -> None:
    text = sitting(actions=2)
    assert set(re.findall(r"player_(\d)[^\n]*  S [AKQJT2-9-]+  H ", text)) == {"0"}
    assert text.count("(you)") > 1


def test_the_same_seed_and_actions_give_the_same_game() -> None:
    assert sitting(actions=13) == sitting(actions=13)
    assert sitting(actions=13) != sitting(actions=13, seed=4)


def test_a_fresh_seed_is_shown_so_that_the_deal_can_be_played_again() -> None:
    text = sitting(seed=None)
    seed = int(re.search(r"seed (\d+):", text)[1])  # type: ignore[index]
    assert sitting(seed=seed) == text


def test_undo_takes_back_ones_own_action_and_the_bots_answer_alike_again() -> None:
    once = sitting(actions=3)
    cards = re.findall(r"player_0 > (\w\w)", once)
    card = cards[2]
    replies = sitting(commands="\n".join([*cards, "undo", card])).split(f"player_0 > {card}\n")
    assert len(replies) == 3
    assert replies[1].split("player_0 > undo")[0] == replies[2].removesuffix("player_0 > \n")


def test_undo_with_nothing_to_undo() -> None:
    assert "You have done nothing yet that could be undone." in sitting(commands="undo")


def test_undo_goes_back_over_the_end() -> None:
    screen = io.StringIO()
    person = Person(screen)
    play(HEARTS, opponents="random", seed=3, stdin=person, stdout=screen)
    cards = re.findall(r"player_0 > (\w\w)", screen.getvalue())
    assert len(cards) == 13
    text = sitting(commands="\n".join([*cards, "5C", "legal", "undo", "legal", "quit"]))
    after = text.split("The end.")[1]
    assert "The deal is over. Type undo, record FILE or quit." in after
    assert "trick 13 of 13" in after
    assert f"You may choose {cards[-1]}." in after


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("?", "Type an action as it is listed"),
        ("HELP", "Type an action as it is listed"),
        ("legal", "You may choose "),
        ("show", "On the table: "),
        ("", "On the table: "),
        ("ZZ", "'ZZ' is neither an action nor a command. You may choose "),
        ("10H", "'10H' is neither an action nor a command. You may choose "),
        ("trump:S", "trump:S is not legal here. You may choose "),
        ("record", "record needs the name of a file"),
        ("record /nowhere/at/all.json", "/nowhere/at/all.json cannot be written: No such file"),
    ],
)
def test_what_a_line_is_answered(line: str, answer: str) -> None:
    text = sitting(commands=f"{line}\nquit")
    assert answer in text.split("player_0 > ")[1]


def test_a_card_that_is_not_legal_is_refused_and_the_table_waits() -> None:
    text = sitting(commands="legal\n")
    legal = re.search(r"You may choose (.+)\.", text)[1].split(", ")  # type: ignore[index]
    wrong = next(f"{r}{s}" for s in "CDHS" for r in "23456789TJQKA" if f"{r}{s}" not in legal)
    text = sitting(commands=f"{wrong.lower()}\n{legal[-1].lower()}\nquit")
    assert f"{wrong} is not legal here. You may choose {', '.join(legal)}." in text
    assert f"  player_0  {legal[-1]}" in text


def test_trump_may_be_named_by_its_suit_alone() -> None:
    """B-6.1."""
    setup = setup_for("bolola/trump-v0", starter=0)
    for line in ("s", "S", "trump:s", "TRUMP:S"):
        text = sitting(setup, commands=f"{line}\nquit")
        assert "   1  player_0  trump:S\n" in text
        assert "spades are trumps" in text


def test_the_end_of_the_input_ends_the_game_and_keeps_the_record(tmp_path: Path) -> None:
    file = tmp_path / "deal.json"
    text = sitting(actions=2, record=file)
    record = load(file)
    assert 2 <= len(record.actions) < 52
    assert text.endswith(f"The deal so far is in {file}.\n")


def test_a_recorded_deal_can_be_played_on(tmp_path: Path) -> None:
    file = tmp_path / "deal.json"
    sitting(actions=2, commands="", record=file)
    table = load(file).table()
    before = list(table.history)
    text = sitting(table.setup, actions=100, table=table, record=file)
    assert "The end. Points" in text
    assert table.history[: len(before)] == before
    assert load(file).table().over


def test_a_record_that_cannot_be_written_is_a_failure() -> None:
    screen = io.StringIO()
    code = play(
        HEARTS,
        opponents="random",
        seed=3,
        record="/nowhere/at/all.json",
        stdin=io.StringIO(""),
        stdout=screen,
    )
    assert code == 1
    assert "cannot be written" in screen.getvalue()


class Stubborn:
    """A bot that always plays the two of clubs."""

    name = "stubborn"

    def act(self, view: Any) -> int:
        return 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seat": 4}, r"seat: expected a seat 0\.\.3"),
        ({"seed": -1}, "seed: expected an integer from 0"),
        ({"opponents": ["random", "random"]}, "opponents: expected one bot or three, got 2"),
        ({"opponents": "nobody"}, "no bot 'nobody'"),
        ({"opponents": Stubborn()}, "bot 'stubborn': 0 is not legal for seat"),
    ],
)
def test_bad_arguments_and_bots(options: dict[str, Any], message: str) -> None:
    """A39: a bot's illegal action is an error that says who."""
    setup = setup_for("bolola/trump-v0", starter=1)
    with pytest.raises(ValueError, match=message):
        sitting(setup, actions=20, **options)


def test_three_opponents_sit_after_the_person_in_play_order() -> None:
    def always_first(view: Any) -> int:
        return int(view.legal[0])

    text = sitting(seat=2, opponents=["random", always_first, "random"])
    assert "player_3 is random, player_0 is always_first, player_1 is random" in text


# ------------------------------------------------------------------ replay


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    file = tmp_path / "deal.json"
    sitting(actions=3, record=file)
    return file


def shown(file: Path, lines: str = "", **options: Any) -> str:
    screen = io.StringIO()
    assert replay(file, stdin=io.StringIO(lines), stdout=screen, **options) == 0
    return screen.getvalue()


def test_all_at_once(recorded: Path) -> None:
    assert shown(recorded).rstrip() == load(recorded).show()


def test_from_where_to_where_and_from_a_seat(recorded: Path) -> None:
    text = shown(recorded, seat=1, first=3, last=6)
    assert re.findall(r"^ +(\d+)  player_", text, re.MULTILINE) == ["4", "5", "6"]
    assert text.count("(you)") == 2
    with pytest.raises(ValueError, match="expected 0 <= first <= last <="):
        shown(recorded, first=99)
    with pytest.raises(ValueError, match="seat: expected a seat"):
        shown(recorded, seat=7)


def test_step_by_step(recorded: Path) -> None:
    whole = shown(recorded, "\n" * 60, step=True)
    actions = load(recorded).actions
    assert whole.count("Enter: next") == len(actions)
    assert whole.count("On the table:") == len(actions) + 1
    some = shown(recorded, "\n\nq\n", step=True)
    assert re.findall(r"^ +(\d+)  player_", some, re.MULTILINE) == ["1", "2"]
    assert shown(recorded, "\n", step=True).count("Enter: next") == 2
    rest = shown(recorded, "\na\n", step=True)
    assert rest.count("Enter: next") == 2
    assert len(re.findall(r"^ +(\d+)  player_", rest, re.MULTILINE)) == len(actions)


# ------------------------------------------------------------------ the command


def command(*arguments: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import baselines.cli as c; raise SystemExit(c.main())", *arguments],
        input=lines,
        capture_output=True,
        text=True,
        timeout=300 if JIT else 600,
        check=False,
    )


def test_the_commands_play_and_replay_without_a_terminal(tmp_path: Path) -> None:
    file = tmp_path / "deal.json"
    played = command(
        *("play", "bolola/queens-v0", "--seat", "2", "--opponents", "random", "--seed", "5"),
        *("--record", str(file)),
        lines="legal\nnonsense\nquit\n",
    )
    assert played.returncode == 0, played.stderr
    assert "You may choose" in played.stdout and "'nonsense' is neither" in played.stdout
    seen = command("replay", str(file), "--seat", "2")
    assert seen.returncode == 0, seen.stderr
    assert seen.stdout.startswith("bolola/queens-v0\n") and "(you)" in seen.stdout


def test_a_broken_record_is_one_sentence_and_not_a_traceback(tmp_path: Path) -> None:
    file = tmp_path / "deal.json"
    file.write_text('{"format": "trick-envs/1"', encoding="utf-8")
    seen = command("replay", str(file))
    assert seen.returncode == 2
    assert f"{file}: not JSON, or cut short" in seen.stderr
    assert "Traceback" not in seen.stderr
