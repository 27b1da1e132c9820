"""The comparison of trainers: whole runs of seconds, the table, and what is said where a library is missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import trainers
from benchmarks.trainers import (
    TRAINERS,
    Settings,
    answers,
    interpreter,
    load,
    markdown,
    measure,
    notes,
    table,
)
from trick_core.jit import JIT

compiled = pytest.mark.skipif(not JIT, reason="uncompiled, a round of training takes minutes")

MACHINE = {"cpu": "a processor", "cores": 2, "system": "Linux", "python": "3.11.7", "load": 0.1}


def entry(*marks: tuple[float, float, float], decisions: int, late: float = 1.0) -> dict[str, Any]:
    """A trainer's results: (minutes, mean, half) of each mark."""
    found = [
        {"minutes": m, "seconds": 60 * m * late, "decisions": decisions, "mean": mean, "half": half}
        for m, mean, half in marks
    ]
    return {
        "marks": found,
        "seconds": found[-1]["seconds"],
        "decisions": decisions,
        "pinned": True,
        "settings": {},
        "python": "3.11.7",
        "versions": {"torch": "2.13.0"},
    }


@pytest.fixture
def content() -> dict[str, Any]:
    return {
        "machine": dict(MACHINE),
        "settings": {"env": "bolola/hearts-v0", "minutes": [5, 30], "deals": 200, "cores": 2},
        "trainers": {
            "self-play": entry((5, 4.0, 2.0), (30, 9.0, 1.5), decisions=36_000_000),
            "sb3": entry((5, -8.0, 2.0), (30, 1.0, 1.5), decisions=18_000_000),
            "playouts": entry((5, 2.5, 2.0), (30, 12.5, 1.5), decisions=27_000_000),
            "agilerl": entry((5, -30.0, 3.0), (30, -20.0, 3.0), decisions=1_800_000, late=1.2),
            "torchrl": {"missing": "torchrl is missing: pip install 'trick-envs[torchrl]'"},
            "rllib": {"failed": "RuntimeError: a | b"},
        },
    }


def test_table_has_the_strongest_first_and_the_reasons_last(content: dict[str, Any]) -> None:
    header, rows = table(content)
    assert header[2:] == ["decisions/s", "decisions", "after 5 min", "after 30 min"]
    assert [row[0] for row in rows] == [
        "self-play with playouts",
        "self-play",
        "SB3",
        "AgileRL",
        "RLlib",
        "TorchRL",
    ]
    assert rows[1][2:] == ["20 k", "36 M", "+4.0 ± 2.0", "+9.0 ± 1.5"]
    assert rows[3][4:] == ["-30.0 ± 3.0 (at 6 min)", "-20.0 ± 3.0 (at 36 min)"]
    assert rows[4][2] == "not measured: it failed: RuntimeError: a / b"
    assert rows[5][2:4] == [
        "not measured: torchrl is missing: pip install 'trick-envs[torchrl]'",
        "",
    ]
    assert all(len(row) == len(header) for row in rows)


def test_answers_name_the_strongest_and_whom_it_is_not_told_apart_from(
    content: dict[str, Any],
) -> None:
    assert answers(content) == [
        "Strongest after 5 minutes: self-play; its interval meets that of self-play with playouts.",
        "Strongest after 30 minutes: self-play with playouts.",
        "Most decisions a second: self-play.",
    ]
    content["trainers"] = {"sb3": content["trainers"]["sb3"]}
    assert answers(content) == []


def test_notes_say_whether_the_machine_was_busy(content: dict[str, Any]) -> None:
    assert not any("busy" in line for line in notes(content))
    content["machine"]["load"] = 1.7
    assert "load 1.7" in notes(content)[-1]
    text = markdown(content)
    assert text.startswith("| trainer |") and "pinned to 2 cores of 2" in text


def test_notes_say_what_is_left_and_what_else_went_on(content: dict[str, Any]) -> None:
    assert "not measured in this run: Tianshou" in notes(content)
    content["remark"] = "a film was on"
    assert "a film was on" in notes(content)


def test_file_of_other_settings_or_another_machine_is_not_mixed(
    content: dict[str, Any], tmp_path: Path
) -> None:
    settings = Settings("bolola/hearts-v0", (5, 30), 200, 1)
    file = tmp_path / "trainers.json"
    assert load(file, settings, "a processor") == ({}, None)
    content["settings"]["cores"] = 1
    file.write_text(json.dumps(content))
    assert load(file, settings, "a processor") == (content["trainers"], None)
    with pytest.raises(ValueError, match="--fresh"):
        load(file, Settings("bolola/hearts-v0", (5, 20), 200, 1), "a processor")
    with pytest.raises(ValueError, match="another"):
        load(file, settings, "another processor")
    file.write_text("[]")
    with pytest.raises(ValueError, match="holds no results"):
        load(file, settings, "a processor")


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"minutes": (30, 5)}, "minutes"),
        ({"minutes": (0.0,)}, "minutes"),
        ({"deals": 1}, "deals"),
        ({"cores": 0}, "cores"),
        ({"env": "x"}, "'x'"),
    ],
)
def test_bad_settings_are_refused(bad: dict[str, Any], says: str) -> None:
    good: dict[str, Any] = {"env": "bolola/hearts-v0", "minutes": (1,), "deals": 2, "cores": 1}
    with pytest.raises(ValueError, match=says):
        Settings(**good | bad)


def test_command_refuses_an_interpreter_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    for given in ("torchrl=/nowhere/python", f"nobody={sys.executable}"):
        with pytest.raises(SystemExit):
            trainers.main(["--python", given])
        assert "NAME=PATH" in capsys.readouterr().err


def test_interpreter_is_the_first_that_has_the_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert interpreter("sb3", {"sb3": "/its/own"}) == "/its/own"
    assert interpreter("self-play", {"sb3": "/its/own"}) == sys.executable
    monkeypatch.setattr(trainers, "ROOT", tmp_path)
    monkeypatch.setattr(trainers.importlib.util, "find_spec", lambda package: None)
    assert interpreter("tianshou", {}) == sys.executable
    for leg, code in (("a", 1), ("b", 0)):
        python = tmp_path / ".nox" / f"libraries-{leg}" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\nexit {code}\n")
        python.chmod(0o755)
    assert interpreter("tianshou", {}) == str(python)


def test_absent_library_is_a_line_and_so_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The process of the trainer imports it; the benchmark only says what it heard."""
    settings = Settings("bolola/hearts-v0", (0.01,), 2, 1)
    (tmp_path / "tensordict.py").write_text(
        "raise ModuleNotFoundError('No module named tensordict', name='tensordict')"
    )
    monkeypatch.setattr(trainers, "ROOT", tmp_path)
    here = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", here)
    found = measure("torchrl", settings, sys.executable, lambda message: None)
    assert found == {"missing": "tensordict is missing: pip install 'trick-envs[torchrl]'"}
    (tmp_path / "tensordict.py").write_text("raise RuntimeError('broken')")
    found = measure("torchrl", settings, sys.executable, lambda message: None)
    assert found == {"failed": "RuntimeError: broken"}
    assert "Traceback" in capsys.readouterr().err
    (tmp_path / "tensordict.py").write_text("import os; os._exit(1)")
    found = measure("torchrl", settings, sys.executable, lambda message: None)
    assert found == {"failed": "the process ended without a word"}


def test_fresh_measures_anew_only_what_is_asked_for(
    content: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And drops results of other settings, as it says."""
    asked = []

    def measured(name: str, *rest: Any) -> dict[str, Any]:
        asked.append(name)
        return entry((5, 1.0, 1.0), (30, 2.0, 1.0), decisions=1_000)

    monkeypatch.setattr(trainers, "measure", measured)
    monkeypatch.setattr(trainers, "machine", lambda: dict(MACHINE))
    file = tmp_path / "trainers.json"
    content["settings"]["cores"] = 1
    content["remark"] = "a film was on"
    file.write_text(json.dumps(content))
    command = ["--cores", "1", "--json", str(file), "--trainers", "sb3", "torchrl"]
    assert trainers.main(command) == 0
    assert asked == ["torchrl"]  # it was missing before
    assert json.loads(file.read_text())["remark"] == "a film was on"
    assert trainers.main([*command, "--fresh"]) == 0
    assert asked == ["torchrl", "sb3", "torchrl"]
    held = json.loads(file.read_text())["trainers"]
    assert held["self-play"] == content["trainers"]["self-play"]
    assert held["sb3"]["decisions"] == 1_000
    with pytest.raises(SystemExit):
        trainers.main([*command, "--deals", "100"])
    assert trainers.main([*command, "--deals", "100", "--fresh"]) == 0
    assert set(json.loads(file.read_text())["trainers"]) == {"sb3", "torchrl"}


@compiled
def test_trainers_are_measured_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each mark is evaluated in the run; what the file holds is not measured again, what failed is."""
    file = tmp_path / "trainers.json"
    command = ["--minutes", "0.002", "0.02", "--deals", "2", "--cores", "1", "--json", str(file)]
    assert trainers.main([*command, "--trainers", "self-play", "sb3"]) == 0
    content = json.loads(file.read_text())
    # The first mark is passed in the first round: a deal at each of 256 tables, of 52 decisions, or of the learner's 13.
    assert content["trainers"]["self-play"]["marks"][0]["decisions"] == 256 * 52
    assert content["trainers"]["sb3"]["marks"][0]["decisions"] == 256 * 13
    for each in content["trainers"].values():
        first, last = each["marks"]
        assert 0.12 <= first["seconds"] <= last["seconds"] == each["seconds"] >= 1.2
        assert 0 < first["decisions"] <= last["decisions"] == each["decisions"]
        assert last["half"] >= 0 and each["versions"]["torch"]
    assert "SB3" in capsys.readouterr().out
    content["trainers"]["sb3"] = {"failed": "a while ago"}
    file.write_text(json.dumps(content))
    assert trainers.main([*command, "--trainers", "self-play", "sb3", "--markdown"]) == 0
    again = json.loads(file.read_text())["trainers"]
    assert again["self-play"] == content["trainers"]["self-play"] and "marks" in again["sb3"]
    assert "| self-play |" in capsys.readouterr().out


@compiled
def test_playouts_last_as_long_as_the_run() -> None:
    """The settings are the trainer's own but for the little that is said."""
    small = {"tables": 4, "head_tables": 8, "worlds": 1, "layers": (8,)}
    work = TRAINERS["playouts"].begin("bolola/hearts-v0", 1.0, 1, **small)
    assert [work.advance(share) for share in (0.0, 0.3, 0.6, 0.99)] == [8 * 52] * 4
    changed = trainers._changed(work.config)
    assert changed.pop("head_steps") > 10**9
    assert changed == {"head_start": "playouts", "minutes": 1.0, **small}
