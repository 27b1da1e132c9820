"""Tarot's yardstick: that the C plays the kernel's game in every phase, and that its ratios are listed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import cases, goals, reference, throughput
from benchmarks.reference import FORMS, KernelPlayer, NoYardstickError, YardstickPlayer, checksum
from benchmarks.reference.tarot import COMPARED
from tarot_env.game import setup as tarot
from tarot_env.state import PHASES, STATE
from tests.test_benchmarks import needs_compiler, needs_jit
from trick_core.jit import JIT

SETUPS = {
    "deal": {},
    "must bid, fixed dealer": {"forbid_pass": True, "dealer": 2},
    "from the discard": {"start": "discard"},
    "from the discard, prise": {"start": "discard", "contract": "prise", "taker": 0},
    "garde contre": {"start": "discard", "contract": "garde_contre"},
    "from the play": {"start": "play"},
    "from the play, garde": {"start": "play", "contract": "garde", "taker": 3, "dealer": 1},
}

#: 200 tables with this seed deal petits secs, and trumps are kept back from a poignée, within 160 actions.
SEED = 6000


@pytest.fixture
def another_source():
    """What was compiled from another source or with other flags is not kept."""
    yield
    reference.library.cache_clear()


def assert_same(in_c, compiled, shown, when):
    """Every field of every state, and what is shown of it."""
    for field in COMPARED:
        assert np.array_equal(in_c.table(field), compiled.table(field)), (field, when)
    for name in shown:
        assert np.array_equal(getattr(in_c, name), getattr(compiled, name)), (name, when)


@needs_compiler
@pytest.mark.parametrize("options", SETUPS.values(), ids=SETUPS.keys())
def test_yardstick_plays_the_kernels_deals_and_shows_the_same(options):
    """Same deals, same choices, same state, observation and mask after every single action, from every start."""
    setup, count = tarot(**options), 100 if JIT else 3
    in_c, compiled = YardstickPlayer(setup, count, seed=5), KernelPlayer(setup, count, seed=5)
    finished = 0
    for action in range(170 if JIT else 80):
        assert in_c.play("bytes", 1) == compiled.play("bytes", 1) == count
        assert_same(in_c, compiled, ("words", "obs", "mask"), action)
        finished += int((in_c.table("seat") < 0).sum())
    assert finished >= count


@needs_compiler
@needs_jit
def test_every_phase_is_compared():
    """Poignées with trumps kept back, petits secs and annulled deals are rare at random: thousands of deals bring them."""
    setup, count = tarot(), 3000
    in_c, compiled = YardstickPlayer(setup, count), KernelPlayer(setup, count)
    phases, redeals, annulled = set(), 0, 0
    for action in range(90):
        in_c.play("packed", 1)
        compiled.play("packed", 1)
        assert_same(in_c, compiled, ("words", "mask"), action)
        phases |= set(in_c.table("phase").tolist())
        redeals = max(redeals, int(in_c.table("redeals").max()))
        annulled += int(((in_c.table("seat") < 0) & (in_c.table("taker") < 0)).sum())
    assert phases == set(range(len(PHASES)))
    assert redeals > 0 and annulled > 0


@needs_compiler
@needs_jit
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("options", [{}, {"forbid_pass": True}, {"start": "play"}], ids=str)
def test_checksums_of_yardstick_and_kernel_agree(form, options):
    """Every form that is timed, over some three hundred episodes."""
    setup, tables, steps = tarot(**options), 64, 400
    in_c = checksum(YardstickPlayer(setup, tables), steps, form)
    assert in_c == checksum(KernelPlayer(setup, tables), steps, form)
    taken, points, _ = in_c
    assert taken == tables * steps
    assert points != 0


@needs_compiler
@needs_jit
@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("while (has_petit_sec(t))", "while (0)"),
        ("rows->forbid_pass &&", "0 &&"),
        ("t->hands[taker] |= t->chien;", ""),
        ("t->hide_trumps &= ~cards;", ""),
        ("t->can[seat] &= ~t->ruled;", ""),
        ("bit > t->best &&", ""),
        ("number != LAST && to_taker != taker_wins", "0"),
        ("TARGET[oudlers]", "TARGET[0]"),
        ("(t->leader - a) & 3", "t->leader"),
        ("mask + 64, ACTIONS - 64", "mask + 64, ACTIONS - 68"),
    ],
)
def test_yardstick_with_another_rule_is_found_out(
    tmp_path, monkeypatch, another_source, rule, broken
):
    """The comparison can fail: each changed rule changes the checksum."""
    source = (Path(reference.__file__).parent / "tarot.c").read_text()
    assert rule in source
    (tmp_path / "tarot.c").write_text(source.replace(rule, broken))
    setup = tarot(forbid_pass=True)
    right = checksum(KernelPlayer(setup, 200, SEED), 160)
    monkeypatch.setattr(reference, "__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setattr(reference, "FLAGS", ("-O1", *reference.FLAGS[1:]))
    reference.library.cache_clear()
    assert checksum(YardstickPlayer(setup, 200, SEED), 160) != right


@needs_compiler
@needs_jit
@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-mavx2", "-mbmi2")], ids=" ".join)
def test_yardstick_without_vector_instructions_plays_the_same(monkeypatch, another_source, flags):
    """The plain C branches, for processors without AVX-512, AVX2 or BMI2."""
    setup = tarot()
    right = checksum(KernelPlayer(setup, 16), 160)
    monkeypatch.setattr(reference, "FLAGS", (*flags, *reference.FLAGS[2:]))
    reference.library.cache_clear()
    try:
        in_c = YardstickPlayer(setup, 16)
    except NoYardstickError:
        assert "-mavx2" in flags  # another processor family has no such flags
    else:
        assert checksum(in_c, 160) == right


def test_every_field_of_the_state_is_compared():
    assert STATE.names == COMPARED


@needs_compiler
@needs_jit
def test_ratios_to_the_yardstick_are_listed():
    """A46: a ratio for every form, in the table of figures and in that of goals."""
    setup = throughput.choose_setup("tarot")
    items = [*cases.yardstick(setup), *cases.kernel(setup)]
    figures = throughput.measure(items, seconds=0.02)
    assert throughput.pairs(figures) == {f"kernel {form}": f"C {form}" for form in FORMS}
    items += [item for item in cases.clones(setup) if item.name == "clone of a state"]
    lines = {line.what: line for line in goals.speed_lines(setup, items, seconds=0.02)}
    for what in ("state only", "packed observation and mask", "byte observation and mask"):
        line = lines[f"kernel vs C, {what}"]
        assert line.game == setup.id and float(line.figure) > 0 and line.met is not None
