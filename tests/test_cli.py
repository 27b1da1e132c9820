"""The command line: what it prints, what it keeps, its messages and exit codes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from baselines.cli import main

ROOT = Path(__file__).parent.parent


def run(capsys, *arguments):
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_help_lists_the_commands():
    done = subprocess.run(
        [sys.executable, "-m", "baselines.cli", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for command in ("train", "evaluate", "play", "replay", "warmup", "demo", "envs"):
        assert command in done.stdout


def test_envs_lists_every_environment_and_bot(capsys):
    code, out, _ = run(capsys, "envs")
    assert code == 0
    assert "bolola/hearts-v0" in out
    assert "bolola/match-v0" in out
    assert "greedy" in out


def test_evaluate_prints_and_keeps_the_result(capsys, tmp_path):
    file = tmp_path / "result.json"
    code, out, _ = run(
        capsys,
        *("evaluate", "bolola/queens-v0", "--policies", "greedy", "random"),
        *("--deals", "20", "--json", str(file)),
    )
    assert code == 0
    assert "greedy" in out
    assert json.loads(file.read_text())["rows"]


def test_own_contract_row_on_the_command_line(capsys, tmp_path, monkeypatch):
    """B-8.1: a row in the user's own file."""
    (tmp_path / "my_rows.py").write_text(
        "from bolola_env import Contract\n"
        "row = Contract(name='rifki_last_two', trick_number_points={12: -180, 13: -180})\n"
    )
    monkeypatch.chdir(tmp_path)
    code, out, err = run(
        capsys,
        *("evaluate", "bolola/custom-v0", "--contract", "my_rows:row", "--deals", "10"),
    )
    assert code == 0, err
    assert "greedy" in out


def test_train_says_what_came_out(capsys, tmp_path):
    code, out, _ = run(
        capsys,
        *("train", "bolola/hearts-v0", "--opponents", "random", "--steps", "500"),
        *("--tables", "32", "--eval-deals", "10", "--out", str(tmp_path)),
    )
    assert code == 0
    assert "against three greedy" in out
    assert (tmp_path / "model.zip").exists()
    code, out, _ = run(
        capsys,
        *("evaluate", "bolola/hearts-v0", "--deals", "10"),
        *("--policies", f"sb3:{tmp_path / 'model.zip'}", "random"),
    )
    assert code == 0
    assert "sb3:model.zip" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "bolola/harts-v0"], "no environment 'bolola/harts-v0'"),
        (["evaluate", "whist/deal-v0"], "no game 'whist'"),
        (["evaluate", "bolola/hearts-v0", "--policies", "nobody", "random"], "no bot 'nobody'"),
        (["evaluate", "bolola/hearts-v0", "--suite", "none-v1"], "none-v1"),
        (["evaluate", "bolola/hearts-v0", "--option", "reward"], "NAME=VALUE"),
        (["evaluate", "bolola/hearts-v0", "--option", "reward=gold"], "reward"),
        (["evaluate", "bolola/hearts-v0", "--option", "colour=red"], "colour"),
        (["evaluate", "bolola/custom-v0", "--contract", "row"], "MODULE:NAME"),
        (["evaluate", "bolola/custom-v0", "--contract", "no_such:row"], "no_such"),
        (["replay", "no-such-file.json"], "no-such-file.json"),
        (["train", "bolola/hearts-v0", "--resume", "--out", "no-such-run"], "nothing to resume"),
        (["play", "bolola/hearts-v0", "--seat", "7"], "seat"),
        (["warmup", "whist"], "no game 'whist'"),
    ],
)
def test_bad_arguments_get_a_sentence_and_exit_code_2(capsys, arguments, message):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("text", ["0", "-3", "many", "1.5"])
def test_counts_are_whole_numbers_above_zero(capsys, text):
    with pytest.raises(SystemExit) as stop:
        main(["train", "bolola/hearts-v0", "--steps", text])
    assert stop.value.code == 2
    assert "whole number" in capsys.readouterr().err


def test_missing_extra_is_one_sentence():
    """Without the training libraries the command says what to install."""
    script = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from baselines.cli import main\n"
        "sys.exit(main(['train', 'bolola/hearts-v0']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.strip() == "trick-envs: torch is missing: pip install 'trick-envs[train]'"


@pytest.mark.parametrize(
    "text", ["x = (", "x = y", "raise RuntimeError('no')", "raise SystemExit(3)"]
)
def test_a_module_of_rows_that_fails_is_named(text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = f"rows{abs(hash(text))}"
    (tmp_path / f"{name}.py").write_text(text)
    assert main(["evaluate", "bolola/custom-v0", "--contract", f"{name}:x"]) == 2
    assert f"--contract: {name}:x: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "policy",
    ["pimc:burn=3000000000", "pimc:worlds=99999999999999999999", "ismcts:depth=3000000000"],
)
def test_settings_that_no_record_holds_are_refused(policy, capsys):
    assert (
        main(["evaluate", "bolola/hearts-v0", "--policies", policy, "random", "--deals", "1"]) == 2
    )
    assert re.search(
        r"to (2147483646|2147483647|9223372036854775807), got", capsys.readouterr().err
    )
