"""The comparison with other libraries: what is counted, what is held against what, and what is said where one is missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import peers
from benchmarks.measure import Case, Figure, Skipped
from benchmarks.peers import __main__ as command
from benchmarks.peers import groups, page, worker
from benchmarks.peers.groups import Entry, PeerError, Player
from benchmarks.peers.ours import LIBRARY, key, ours
from benchmarks.peers.worker import BATCH, COMPILED, ENVIRONMENT, STATE, Facts, turns
from bolola_env.game import setup as bolola
from trick_core.aec import TrickAEC
from trick_core.jit import JIT

needs_jit = pytest.mark.skipif(
    not JIT, reason="uncompiled, thousands of tables take minutes, and speed says nothing"
)


#: A worker that answers once, and then ends.
DYING = """
import json, sys
facts = dict(library="L", game="g", players=4, how="", layer="state", inside="x")
print(json.dumps({"versions": {}, "works": [facts], "missing": []}), flush=True)
input()
print("1 0.5 0.25", flush=True)
input()
sys.exit("out of cards")
"""


def theirs():
    """All that is played of other libraries."""
    return [facts for plans in worker.GROUPS.values() for facts, _ in plans()]


@pytest.fixture(scope="module")
def our_entries():
    return ours()


@needs_jit
def test_every_case_of_others_is_held_against_one_of_ours(our_entries):
    """The partner exists, is of the same layer (bare state: the environment) and as large a batch."""
    mine = {key(entry.facts): entry.facts for entry in our_entries}
    assert len(mine) == len(our_entries)
    names = [facts.name for facts in theirs()]
    assert len(set(names)) == len(names)
    for facts in theirs():
        partner = mine[facts.partner]
        assert partner.layer == (ENVIRONMENT if facts.layer == STATE else facts.layer)
        assert facts.layer != BATCH or partner.batch == facts.batch
        assert facts.inside and partner.inside


@needs_jit
def test_our_cases_count_live_actions_only(our_entries):
    """A45: a deal of hearts is 52 actions; the learner decides 13 times; a vector step is one action a table."""
    runs = {key(entry.facts): entry.item.run for entry in our_entries}
    assert [runs["Bolola hearts, AEC"]() for _ in range(3)] == [52] * 3
    assert [runs["Bolola hearts, Gymnasium"]() for _ in range(3)] == [13] * 3
    assert [runs["Bolola hearts, vector env, N=64"]() for _ in range(60)] == [64] * 60
    assert runs["Bolola hearts, kernel"]() == 64 * 104


def test_turns_take_the_mask_from_the_observation_or_the_infos():
    class Moved(TrickAEC):
        """The mask where Shimmy puts it."""

        def last(self, observe=True):
            seen, *rest, info = super().last(observe)
            return seen["observation"], *rest, {**info, "action_mask": seen["action_mask"]}

    assert turns(TrickAEC(bolola()))() == turns(Moved(bolola()))() == 52


@pytest.mark.parametrize("group", ["openspiel", "rlcard", "pgx"])
def test_missing_library_is_named_for_every_case(group):
    """An interpreter without the library: no case, and the reason at each."""
    with Player(group, sys.executable) as player:
        items = [entry.item for entry in player.entries]
    assert len(items) == len(worker.GROUPS[group]())
    for item in items:
        if isinstance(item, Skipped):
            assert item.reason.startswith("ModuleNotFoundError: No module named")
        else:  # it happens to be installed
            assert isinstance(item, Case)


def test_environment_that_is_not_there_is_said():
    """No environment yet, no such interpreter, and one that ends at once."""
    for python, reason in (
        (None, "python -m benchmarks.peers --install"),
        ("/no/such/python", "No such file"),
        ("/bin/false", "ended without an answer"),
    ):
        with groups.players({"rlcard": python}) as (entries, versions):
            assert versions == {}
            assert [entry.facts for entry in entries] == [f for f, _ in worker.rlcard()]
            assert all(reason in entry.item.reason for entry in entries)


def test_environment_of_other_pins_does_not_count(tmp_path):
    (tmp_path / "rlcard").mkdir()
    stamp = tmp_path / "rlcard" / "requirements.txt"
    assert groups.installed("rlcard", tmp_path) is None
    stamp.write_text("rlcard==1.2.0\n")
    assert groups.installed("rlcard", tmp_path) == groups.python_of(tmp_path / "rlcard")
    stamp.write_text("rlcard==1.1.0\n")
    assert groups.installed("rlcard", tmp_path) is None


def test_failed_installation_is_one_sentence(tmp_path, monkeypatch, capsys):
    """The run goes on without the group."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setitem(groups.REQUIREMENTS, "rlcard", ("no-such-package==1",))
    command.make_environments(["rlcard"], tmp_path)
    assert "rlcard: no-such-package==1 could not be installed: ERROR" in capsys.readouterr().err
    assert groups.installed("rlcard", tmp_path) is None


@needs_jit
def test_group_that_dies_in_the_run_ends_it_with_one_sentence(tmp_path, monkeypatch, capsys):
    """Half of its repeats are no figure."""
    script = tmp_path / "worker.py"
    script.write_text(DYING)
    monkeypatch.setattr(worker, "__file__", str(script))
    monkeypatch.setattr(
        command, "one_core", lambda: None
    )  # it would hold for the tests that follow
    monkeypatch.setattr(command, "installed", lambda group, folder: sys.executable)
    monkeypatch.setattr(command, "ours", list)
    with pytest.raises(SystemExit):
        command.main(["--groups", "rlcard", "--no-files"])
    assert capsys.readouterr().err.endswith("rlcard: out of cards\n")


def test_process_that_dies_raises_its_last_words(tmp_path, monkeypatch):
    script = tmp_path / "worker.py"
    script.write_text(DYING)
    monkeypatch.setattr(worker, "__file__", str(script))
    with Player("rlcard", sys.executable) as player:
        (entry,) = player.entries
        assert entry.item.run() == (1, 0.5, 0.25)
        with pytest.raises(PeerError, match="out of cards"):
            entry.item.run()


def found_lines():
    """A table of made-up rates: ours and one of each layer of others."""
    entries, figures = [], {}

    def add(rates, *args, partner="", batch=1):
        facts = Facts(*args, partner=partner, batch=batch)
        item = Case(facts.name, facts.layer, lambda: 1, facts.inside, facts.batch)
        entries.append(Entry(facts, item))
        figures[item.name] = Figure(item, [float(rate) for rate in rates])

    add([40e6, 50e6, 60e6], LIBRARY, "Bolola hearts", 4, "kernel", COMPILED, "loop")
    add([2e5, 2e5, 2e5], LIBRARY, "Bolola hearts", 4, "AEC", ENVIRONMENT, "turns")
    add([2e6] * 3, LIBRARY, "Bolola hearts", 4, "vector env", BATCH, "step", batch=64)
    kernel, aec = "Bolola hearts, kernel", "Bolola hearts, AEC"
    add([4e6, 5e6, 3e6], "OpenSpiel", "hearts", 4, "C++", COMPILED, "loop", partner=kernel)
    add([1e6] * 3, "OpenSpiel", "hearts", 4, "from Python", STATE, "loop", partner=aec)
    add([1e3] * 3, "RLCard", "bridge", 4, "", ENVIRONMENT, "turns", partner=aec)
    add([1e4] * 3, "RLCard", "uno", 2, "", ENVIRONMENT, "turns", partner=aec)
    add([5e2] * 3, "RLCard", "hanabi", 4, "", ENVIRONMENT, "turns", partner=aec)
    missing = Facts("RLCard", "mahjong", 4, "", ENVIRONMENT, "turns", partner=aec)
    entries.append(Entry(missing, Skipped(missing.name, missing.layer, "no tiles")))
    return page.lines(entries, figures)


def test_table_shows_medians_spread_and_ratios():
    """A45: the ratio is taken within each repeat, and a slower side of ours is shown as such."""
    text = page.markdown(found_lines(), ["one core"])
    assert "| OpenSpiel | hearts | 4 | C++ |  | 4 M | -25% +25% | 10 (10 to 20) |" in text
    assert "| RLCard | bridge | 4 |  |  | 1 k | +0% +0% | 200 (200 to 200) | Bolola" in text
    assert "| OpenSpiel | hearts | 4 | from Python |  | 1 M | +0% +0% | 0.2 (0.2 to 0.2) |" in text
    assert "| **trick-envs** | **Bolola hearts** | **4** | **kernel** |" in text
    assert "- RLCard (mahjong): no tiles" in text
    assert "- PufferLib: " in text and "- one core" in text


def test_short_table_has_the_fastest_four_player_game_of_each_library_and_way():
    text = page.brief(found_lines())
    assert "RLCard bridge" in text and "RLCard hanabi" not in text and "RLCard uno" not in text
    assert "| OpenSpiel hearts, C++ | 4 M | Bolola hearts, kernel | 50 M | 10 |" in text


def test_marked_part_of_a_page_is_filled_and_the_rest_stays(tmp_path):
    file = tmp_path / "page.md"
    file.write_text("a\n<!-- peers: made -->\nold \\1\n<!-- end -->\nb\n")
    assert page.fill(file, "peers", "new \\2\n")
    assert file.read_text() == "a\n<!-- peers: made -->\nnew \\2\n<!-- end -->\nb\n"
    assert not page.fill(file, "others", "x")


def test_plot_is_written(tmp_path):
    pytest.importorskip("matplotlib", reason="the plot needs the train extra")
    file = tmp_path / "figures" / "peers.png"
    page.plot(found_lines(), file, "a machine")
    assert file.read_bytes().startswith(b"\x89PNG")


def test_json_has_every_repeat_and_the_reasons():
    content = page.as_json(found_lines())
    json.dumps(content)
    by_game = {(case["library"], case["game"], case["name"]): case for case in content}
    cpp = by_game["OpenSpiel", "hearts", "OpenSpiel hearts, C++"]
    assert cpp["repeats"] == [4e6, 5e6, 3e6] and cpp["ours : theirs"]["median"] == 10
    assert by_game["RLCard", "mahjong", "RLCard mahjong"]["not measured"] == "no tiles"


@pytest.mark.long
@needs_jit
def test_open_spiel_is_installed_and_measured_beside_ours(tmp_path, monkeypatch, capsys):
    """The command from nothing: environment, table, page, plot and JSON; hearts counts 52 cards and up to 12 passed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        command, "one_core", lambda: None
    )  # it would hold for the tests that follow
    Path("docs").mkdir()
    Path("docs/peers.md").write_text("<!-- peers: here -->\n<!-- end -->\n")
    command.main(["--install", "--groups", "openspiel", "--seconds", "0.02"])
    printed = capsys.readouterr().out
    assert "C++ playouts" in printed and "environment `openspiel`: open_spiel 2." in printed
    assert "| **trick-envs** |" in Path("docs/peers.md").read_text()
    assert Path("docs/figures/peers.png").exists()
    content = json.loads(Path("benchmarks/results/peers.json").read_text())
    measured = {case["name"]: case for case in content["cases"] if "median" in case}
    assert len(measured["OpenSpiel hearts, C++ playouts"]["repeats"]) == 5
    with Player("openspiel", groups.installed("openspiel")) as player:
        runs = {e.facts.name: e.item.run for e in player.entries if isinstance(e.item, Case)}
        for name, games in (("C++ games", 20), ("C++ playouts", 100), ("RL environment", 1)):
            units, wall, cpu = runs[f"OpenSpiel hearts, {name}"]()
            assert 52 * games <= units <= 64 * games and wall > 0 and cpu > 0
    with peers.open_spiel() as items:
        assert [item.name for item in items] == [peers.CPP]
        assert isinstance(items[0], Case)
