"""The benchmarks: that the yardstick plays our game, that only real steps count, that figures are honest."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import cases, goals, measure, peers, reference, report, startup, throughput
from benchmarks.policy import RandomPolicy
from benchmarks.reference import FORMS, KernelPlayer, NoYardstickError, YardstickPlayer, checksum
from benchmarks.reference.bolola import COMPARED
from bolola_env.contracts import CONTRACTS, Contract
from bolola_env.game import setup as bolola
from trick_core.jit import JIT, copy_records

HAS_COMPILER = any(shutil.which(name) for name in ("gcc", "cc", "clang"))
needs_compiler = pytest.mark.skipif(
    not HAS_COMPILER, reason="the yardstick is compiled on the spot: no gcc, cc or clang here"
)
needs_jit = pytest.mark.skipif(
    not JIT, reason="uncompiled kernels are too slow for it, and their speed says nothing"
)

#: Every rule that a row can carry, in one row.
OWN_ROW = Contract(
    name="own",
    card_points={"QS": -13, "H": -1, 7: 40},
    trick_points=3,
    trick_number_points={1: -5, 13: 100},
    locked_suit="trump",
    void_tiers=[["QS"], ["H"], ["2", "AC"]],
    under_duty=["Q", "KH"],
    trumps=True,
)
SETUPS = {
    **{name: {"contract": name} for name in CONTRACTS},
    "match": {"contract": "match"},
    "short match": {"contract": "match", "order": ["trump", OWN_ROW], "early_stop": True},
    "own row": {"contract": OWN_ROW},
    "king, early stop": {"contract": "king_of_hearts", "early_stop": True},
    "fixed trump and starter": {"contract": "trump", "trump": "D", "starter": 2},
}


@needs_compiler
@pytest.mark.parametrize("options", SETUPS.values(), ids=SETUPS.keys())
def test_yardstick_plays_the_kernels_deals_and_shows_the_same(options):
    """Same deals, same choices, same state, observation and mask after every single action."""
    setup, count = bolola(**options), 24 if JIT else 4
    in_c, compiled = YardstickPlayer(setup, count, seed=5), KernelPlayer(setup, count, seed=5)
    finished = 0
    for action in range((130 if len(setup.config) == 1 else 700) if JIT else 60):
        assert in_c.play("bytes", 1) == compiled.play("bytes", 1) == count
        for field in COMPARED:
            theirs = compiled.table(field).reshape(count, -1)
            ours = in_c.table(field).reshape(count, -1)
            assert np.array_equal(ours, theirs), f"{field} after action {action}"
        for shown in ("words", "obs", "mask"):
            assert np.array_equal(getattr(in_c, shown), getattr(compiled, shown)), (shown, action)
        finished += int(((in_c.table("seat") < 0) | (in_c.table("deal") > 0)).sum())
    assert finished > 0


@needs_compiler
@needs_jit
@pytest.mark.parametrize("form", FORMS)
def test_checksums_of_yardstick_and_kernel_agree(form):
    """Every form that is timed, over several deals, with the points that Bolola's hearts must give."""
    setup, tables = bolola(), 16
    in_c = checksum(YardstickPlayer(setup, tables), 260, form)
    assert in_c == checksum(KernelPlayer(setup, tables), 260, form)
    taken, points, _ = in_c
    assert taken == 260 * tables
    assert points == -390 * 5 * tables


@needs_compiler
@needs_jit
@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("row->trick_value[t->trick_number]", "0"),
        ("row->under_duty & t->below", "0"),
        ("t->can[seat] &= ~t->ruled", "(void)0"),
        ("(t->leader - a) & 3", "t->leader"),
    ],
)
def test_yardstick_with_another_rule_is_found_out(tmp_path, monkeypatch, rule, broken):
    """The comparison can fail: each changed rule changes the checksum."""
    folder = Path(reference.__file__).parent
    source = (folder / "bolola.c").read_text()
    assert rule in source
    (tmp_path / "bolola.c").write_text(source.replace(rule, broken))
    setup = bolola(contract="all_penalties")
    right = checksum(YardstickPlayer(setup, 8), 120)
    monkeypatch.setattr(reference, "__file__", str(tmp_path / "__init__.py"))
    reference.library.cache_clear()
    try:
        assert checksum(YardstickPlayer(setup, 8), 120) != right
    finally:
        reference.library.cache_clear()


@needs_compiler
@needs_jit
def test_yardstick_without_vector_instructions_plays_the_same(monkeypatch):
    """The plain C branches, for processors without AVX-512, AVX2 or BMI2."""
    setup = bolola()
    right = checksum(YardstickPlayer(setup, 8), 120)
    for flags in (("-O2",), ("-O2", "-mavx2", "-mbmi2")):
        monkeypatch.setattr(reference, "FLAGS", (*flags, *reference.FLAGS[2:]))
        reference.library.cache_clear()
        try:
            assert checksum(YardstickPlayer(setup, 8), 120) == right
        except NoYardstickError:  # another processor family has no such flags
            assert "-mavx2" in flags
        finally:
            monkeypatch.undo()
            reference.library.cache_clear()


def test_missing_compiler_is_said_and_ratios_are_absent(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    reference.library.cache_clear()
    try:
        with pytest.raises(NoYardstickError, match="no C compiler"):
            YardstickPlayer(bolola(), 1)
        items = cases.yardstick(bolola())
    finally:
        reference.library.cache_clear()
    assert [item.name for item in items] == ["C state", "C packed", "C bytes"]
    assert all("no C compiler" in item.reason for item in items)
    rows = throughput.rows(items, {}, {})
    assert rows[0][1] == "not measured" and "no C compiler" in rows[0][-1]
    assert throughput.pairs({}) == {}


@needs_compiler
def test_source_that_does_not_compile_is_reported(monkeypatch, tmp_path):
    (tmp_path / "bolola.c").write_text("int broken(")
    monkeypatch.setattr(reference, "__file__", str(tmp_path / "__init__.py"))
    reference.library.cache_clear()
    try:
        with pytest.raises(NoYardstickError, match=r"could not compile bolola\.c"):
            YardstickPlayer(bolola(), 1)
    finally:
        reference.library.cache_clear()


@pytest.mark.parametrize("width", [1, 7, 8, 33, 56, 64, 65, 89, 128])
def test_random_policy_takes_each_legal_action_equally_often_and_bears_empty_masks(width):
    """Masks of up to 128 actions; the same seed gives the same actions; threads change nothing."""
    rng = np.random.default_rng(width)
    mask = (rng.random((6, width)) < 0.4).astype(np.int8)
    mask[0] = 0
    mask[1] = 1
    mask[2:, rng.integers(width)] = 1
    choose, twin = RandomPolicy(6, seed=3), RandomPolicy(6, seed=3, num_threads=3)
    rounds = 3000 if JIT else 150
    counts = np.zeros((6, width), int)
    for _ in range(rounds):
        actions = choose(mask)
        assert np.array_equal(actions, twin(mask))
        counts[np.arange(6), actions] += 1
    assert counts[0].tolist() == [rounds] + [0] * (width - 1)
    assert not counts[1:][mask[1:] == 0].any()
    legal = mask[1:].sum(1, keepdims=True)
    expected = rounds / legal
    excess = ((counts[1:] - expected) ** 2 / expected * (mask[1:] == 1)).sum(1)
    freedom = legal[:, 0] - 1
    assert (excess <= freedom + 5 * np.sqrt(2 * freedom) + 1).all()


def test_measure_reports_every_repeat_and_interleaves():
    """A45: at least five repeats, with median and spread; cases take turns."""
    calls = []

    def case(name):
        def run():
            calls.append(name)
            return 1

        return measure.Case(name, "layer", run, "nothing")

    figures = measure.measure([case("a"), case("b")], seconds=0.06)
    figure = figures["a"]
    assert len(figure.rates) == 5
    assert figure.low <= figure.median <= figure.high
    changes = sum(x != y for x, y in itertools.pairwise(calls))
    assert changes >= 5 * 3 * 2
    with pytest.raises(ValueError, match="at least 5, got 4"):
        measure.measure([case("a")], repeats=4)
    with pytest.raises(ValueError, match="two have one name"):
        measure.measure([case("a"), case("a")])
    with pytest.raises(ValueError, match="expected 'wall' or 'cpu'"):
        measure.measure([case("a")], clock="sun")


def test_ratio_is_taken_within_each_repeat():
    def figure(rates):
        return measure.Figure(measure.Case("x", "layer", lambda: 1, ""), rates)

    found = measure.ratio("to y", figure([10.0, 20.0, 90.0]), figure([5.0, 10.0, 30.0]))
    assert found.values == (2.0, 2.0, 3.0)
    assert (found.median, found.low, found.high) == (2.0, 2.0, 3.0)


def test_case_of_another_process_brings_its_own_clock():
    case = measure.Case("x", "layer", lambda: (100, 2.0, 0.5), "")
    for clock, rate in (("wall", 50.0), ("cpu", 200.0)):
        assert measure.measure([case], seconds=0.02, clock=clock)["x"].median == rate


def test_turn_based_loop_counts_cards_and_no_none_steps():
    """A45: a deal of hearts is 52 steps, though the loop calls ``step`` 56 times."""
    game, nothing = cases.turns(bolola())
    assert game.run() == 52
    assert nothing.run() == 52


def test_rates_of_vector_cases_count_one_step_a_table():
    for case in (
        cases.vector(bolola(), 6, "bytes", copies=True),
        cases.vector(bolola(), 6, "packed", copies=False),
        cases.batch(bolola(), 6, "packed"),
        cases.learner(bolola(), 6, "bytes", copies=True),
    ):
        assert [case.run() for _ in range(60)] == [6] * 60


def test_copy_of_records_is_equal_and_independent():
    """A47: a state's copy, which the clone figure times."""
    player = KernelPlayer(bolola(), 2)
    player.play("state", 20)
    states = player.states
    copied = copy_records(states)
    assert copied.dtype == states.dtype and copied.tobytes() == states.tobytes()
    copied["hands"] = 0
    assert states["hands"].any()


@needs_jit
def test_throughput_shows_every_layer_and_writes_json(tmp_path, capsys):
    """A45, A46: a figure for each interface, with machine, versions, batch, threads, spread and the loop's content."""
    target = tmp_path / "results" / "throughput.json"
    throughput.main(
        ["--seconds", "0.01", "--tables", "1", "8", "--threads", "2", "--json", str(target)]
    )
    printed = capsys.readouterr().out
    for text in (
        "kernel state",
        "vector bytes, N=8, copy=True",
        "AEC",
        "gymnasium.make",
        "repeats",
    ):
        assert text in printed
    content = json.loads(target.read_text())
    assert {"cpu", "cores", "versions", "python", "load"} <= content["machine"].keys()
    (found,) = content["games"].values()
    layers = {figure["layer"] for figure in found["figures"]}
    assert {"kernel", "batch drivers", "vector env, all seats", "vector env, one learner"} <= layers
    assert {"Gymnasium env", "AEC env", "clone"} <= layers
    for figure in found["figures"]:
        assert len(figure["repeats"]) == 5 and figure["inside"]
        assert figure["low"] <= figure["median"] <= figure["high"]
    held = {entry["of"]: entry["name"] for entry in found["ratios"]}
    assert held["AEC"] == "AEC that does nothing"
    assert held["kernel packed, N=4096, 2 threads"] == "kernel packed, N=4096, 1 thread"
    if HAS_COMPILER:
        assert held["kernel bytes"] == "C bytes"


def test_tables_come_as_markdown_and_as_plain_text():
    header, rows = ("a", "b"), [("1", "two"), ("three", "4")]
    assert report.markdown(header, rows) == "| a | b |\n| --- | --- |\n| 1 | two |\n| three | 4 |\n"
    assert report.plain(header, rows) == "a      b\n-----  ---\n1      two\nthree  4\n"


def test_plain_table_is_printed_without_rich(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    report.show("title", ("a",), [("1",)])
    assert capsys.readouterr().out == "title\na\n-\n1\n\n"


def test_numbers_read_well():
    assert [report.number(v) for v in (5.43e7, 2.13e5, 1234.0, 12.3)] == [
        "54.3 M",
        "213 k",
        "1.23 k",
        "12.3",
    ]


def test_import_compiles_nothing():
    """A57: with an empty kernel cache."""
    assert startup.compiled_at_import("bolola") == 0


@pytest.mark.long
def test_startup_measures_cold_and_warm_first_deals(capsys, tmp_path):
    """A57: a cold first deal compiles, a warm one does not, and both are in the table."""
    target = tmp_path / "startup.json"
    startup.main(["--repeats", "2", "--cold-repeats", "1", "--json", str(target)])
    waits = {wait["name"]: wait["seconds"] for wait in json.loads(target.read_text())["waits"]}
    for kind in ("turn-based", "vector", "one learner among greedy"):
        cold = waits[f"first deal, cold cache, {kind}"]
        assert min(cold) > 2 * max(waits[f"first deal, warm cache, {kind}"])
    assert "import compiles 0 functions" in capsys.readouterr().out


@needs_jit
def test_goals_say_what_was_not_measured_and_why():
    """A missing neighbour leaves its line empty, with the reason; the others are held against their goals."""
    items = [*cases.kernel(bolola()), *cases.turns(bolola())]
    items += [item for item in cases.clones(bolola()) if item.name == "clone of a state"]
    items.append(measure.Skipped(peers.CPP, peers.LAYER, "open_spiel is not installed"))
    lines = {line.what: line for line in goals.speed_lines(bolola(), items, seconds=0.02)}
    missing = lines["kernel vs OpenSpiel's C++ playouts"]
    assert (missing.figure, missing.rates) == ("not measured", "open_spiel is not installed")
    assert missing.met is None
    assert lines["AEC loop vs an AECEnv that does nothing"].met in (True, False)
    assert re.fullmatch(r"[\d.]+ us", lines["clone of a state"].figure)


def test_open_spiel_that_is_missing_is_reported():
    """An interpreter without ``open_spiel``, and one that does not exist."""
    for python, reason in (
        (sys.executable, "No module named 'pyspiel'"),
        ("/no/such/python", "No such file"),
    ):
        if python == sys.executable and _has_open_spiel():
            continue
        with peers.open_spiel(python) as items:
            assert len(items) == 1 and reason in items[0].reason


def _has_open_spiel() -> bool:
    command = [sys.executable, "-c", "import pyspiel"]
    return subprocess.run(command, capture_output=True).returncode == 0


@needs_jit
def test_scaling_measures_and_plots_every_size(capsys, tmp_path, monkeypatch):
    """One line a game and size, with the memory of the arrays; the plot is a picture."""
    from benchmarks import scaling

    monkeypatch.setattr(scaling, "LEAST", 100)
    files = {name: tmp_path / "made" / f"scaling.{name}" for name in ("png", "json")}
    options = [text for name, file in files.items() for text in (f"--{name}", str(file))]
    scaling.main(["--tables", "1", "30", "--markdown", *options])
    points = json.loads(files["json"].read_text())["points"]
    found = [(point["game"], point["tables"]) for point in points]
    assert found == [(g, n) for g in ("bolola/hearts-v0", "tarot/deal-v0") for n in (1, 30)]
    assert all(len(point["nanoseconds"]) == 5 and min(point["nanoseconds"]) > 0 for point in points)
    assert points[1]["memory"] == 30 * points[0]["memory"]
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert "| bolola/hearts-v0 | 30 |" in capsys.readouterr().out


@needs_jit
def test_both_forms_of_the_training_loop_learn_the_same(capsys, tmp_path):
    """Packed observations change nothing but speed and storage: after a rollout the weights are equal."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from benchmarks import packed_training as training

    loops = [training.Loop(bolola(), form, 3, 20, "cpu") for form in training.FORMS]
    for loop in loops:
        torch.manual_seed(5)
        loop.run()
    weights = [torch.cat([p.flatten() for p in loop.policy.parameters()]) for loop in loops]
    assert torch.equal(*weights)
    bytes_, words = (loop.stored.numel() * loop.stored.element_size() for loop in loops)
    assert bytes_ == 8 * words
    target = tmp_path / "training.json"
    training.main(["--games", "bolola", "--tables", "2", "--steps", "3", "--json", str(target)])
    forms = [result["form"] for result in json.loads(target.read_text())["results"]]
    assert forms == ["bytes", "packed"]
    assert "bolola/hearts-v0" in capsys.readouterr().out
