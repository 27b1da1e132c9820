"""Nets as bots: their files, the same choices in NumPy, torch and compiled, and refusal of what does not fit."""

import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

from baselines.bots import net as nets
from baselines.bots import net_kernel
from baselines.bots.net import Net, NetBot, draw, layout_hash
from baselines.evaluate import evaluate
from bolola_env import GAME as BOLOLA
from bolola_env import make_setup
from tarot_env import GAME as TAROT
from trick_core.batch import Batch
from trick_core.bots import _entry_of, make_bot
from trick_core.game import setup_for

ROOT = Path(__file__).parent.parent


def some_net(game, inputs=None, hidden=(48, 32), seed=1, **about):
    rng = np.random.default_rng(seed)
    sizes = [inputs or game.row_start, *hidden, game.num_actions]
    weights, biases = [], []
    for given, out in itertools.pairwise(sizes):
        weights.append(rng.normal(0, given**-0.5, (given, out)).astype(np.float32))
        biases.append(rng.normal(0, 0.1, out).astype(np.float32))
    facts = {"game": game.name, "layout": layout_hash(game), **about}
    return Net(tuple(weights), tuple(biases), (), facts)


def situations(env, count=40, steps=9):
    """Views of tables some random steps into a deal."""
    setup = setup_for(env)
    batch = Batch(setup, count, packed=True, autoreset="disabled")
    batch.buffers.tables["seed"] = np.arange(count)
    batch.reset()
    for _ in range(steps):
        batch.step(batch.ask(make_bot("random"), np.arange(count)))
    return batch.views(np.arange(count))


@pytest.mark.parametrize(("env", "game"), [("bolola/hearts-v0", BOLOLA), ("tarot/deal-v0", TAROT)])
def test_numpy_and_torch_agree(env, game):
    import torch

    net, views = some_net(game, inputs=game.row_start - 3), situations(env)
    x = torch.from_numpy(views["observation"][:, : net.inputs].astype(np.float32))
    for number, (weight, bias) in enumerate(zip(net.weights, net.biases, strict=True)):
        x = x @ torch.from_numpy(weight) + torch.from_numpy(bias)
        x = x.relu() if number < 2 else x
    assert np.abs(net.logits(views.words) - x.numpy()).max() < 1e-4


@pytest.mark.parametrize("temperature", [0.0, 0.7])
@pytest.mark.parametrize(("env", "game"), [("bolola/hearts-v0", BOLOLA), ("tarot/deal-v0", TAROT)])
def test_the_compiled_net_chooses_as_the_numpy_one(env, game, temperature):
    """Up to ties that rounding decides."""
    inputs = game.layout.size if game is BOLOLA else game.row_start
    bot = NetBot(some_net(game, inputs), temperature=temperature)
    views = situations(env, count=60)
    asked, compiled = bot.act_batch(views), np.empty(60, np.int64)
    _entry_of(game, bot.jit(game))(views.config, views.records, views.randoms, compiled)
    assert len(set(asked.tolist())) > 3
    for i in np.flatnonzero(asked != compiled):
        logits = bot.net.logits(views.words)[i]
        assert abs(logits[asked[i]] - logits[compiled[i]]) < 1e-4
    assert (asked == compiled).mean() > 0.98
    assert bot.act(views.view(0)) == asked[0]


def test_a_slot_is_found_again_and_another_net_gets_another():
    first, second = some_net(BOLOLA), some_net(BOLOLA, seed=2)
    bots = [NetBot(net).jit(BOLOLA) for net in (first, some_net(BOLOLA), second)]
    assert bots[0] is bots[1]
    assert bots[0].label != bots[2].label
    views = situations("bolola/hearts-v0")
    for net, bot in zip((first, second), (bots[0], bots[2]), strict=True):
        out = np.empty(len(views.seats), np.int64)
        _entry_of(BOLOLA, bot)(views.config, views.records, views.randoms, out)
        assert (out == NetBot(net).act_batch(views)).all()


def test_without_a_free_slot_a_net_is_asked(monkeypatch):
    monkeypatch.setattr(net_kernel, "NUM_SLOTS", len(net_kernel._slots))
    bot = NetBot(some_net(BOLOLA, seed=77))
    assert bot.jit(BOLOLA) is None
    evaluate("bolola/hearts-v0", [bot, "random"], deals=2, progress=False)


def test_compiled_code_holds_no_weights(tmp_path):
    """Another process that loads the code from the cache plays its own net."""
    script = (
        "import sys\n"
        "from tests.test_net_bot import *\n"
        "from trick_core.bots import _entry_of\n"
        "from trick_core.jit import watching\n"
        "views = situations('bolola/hearts-v0', 20)\n"
        "bot = NetBot(some_net(BOLOLA, seed=int(sys.argv[1])))\n"
        "out = np.empty(20, np.int64)\n"
        "built = []\n"
        "with watching(built.append):\n"
        "    _entry_of(BOLOLA, bot.jit(BOLOLA))(views.config, views.records, views.randoms, out)\n"
        "assert (out == bot.act_batch(views)).all()\n"
        "print([item.loaded for item in built], out.tolist())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path)}
    lines = []
    for seed in ("5", "6"):
        command = [sys.executable, "-c", script, seed]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        lines.append(done.stdout.strip())
    if net_kernel.JIT:
        assert lines[0].startswith("[False]")
        assert lines[1].startswith("[True]")
    assert lines[0].split("]")[1] != lines[1].split("]")[1]


def test_drawing_follows_the_softmax():
    logits = np.log(np.array([[0.5, 0.0, 0.3, 0.2]], np.float32) + 1e-30)
    logits[0, 1] = -np.inf
    words = (np.arange(1000, dtype=np.float64) / 1000 * 2**53).astype(np.uint64) << np.uint64(11)
    drawn = draw(np.repeat(logits, 1000, axis=0), words)
    assert np.bincount(drawn, minlength=4).tolist() == pytest.approx([500, 0, 300, 200], abs=1)
    last = np.array([2**64 - 1], np.uint64)
    assert draw(logits, last)[0] == 3


def test_a_net_is_saved_and_read(tmp_path):
    net = some_net(BOLOLA, note="here")
    net.save(tmp_path / "a.npz")
    again = nets.load(tmp_path / "a.npz")
    assert again.about["note"] == "here"
    for one, other in zip(net.weights + net.biases, again.weights + again.biases, strict=True):
        assert np.array_equal(one, other)
    net.save(tmp_path / "b.npz", half=True)
    views = situations("bolola/hearts-v0")
    close = nets.load(tmp_path / "b.npz").logits(views.words)
    assert np.abs(close - net.logits(views.words)).max() < 0.02
    assert (tmp_path / "b.npz").stat().st_size < 0.6 * (tmp_path / "a.npz").stat().st_size


def test_a_net_on_another_layout_is_refused(tmp_path):
    """The observation's pieces, or the actions, are not those that it was trained on."""
    net = some_net(BOLOLA)
    other = Net(net.weights, net.biases, (), {**net.about, "layout": "0" * 64})
    other.save(tmp_path / "old.npz")
    bot = make_bot(f"net:{tmp_path / 'old.npz'}")
    with pytest.raises(ValueError, match="trained on another layout of bolola's observation"):
        evaluate("bolola/hearts-v0", [bot, "random"], deals=2, progress=False)
    with pytest.raises(ValueError, match="another layout"):
        bot.act_batch(situations("bolola/hearts-v0"))


def test_a_net_of_another_game_is_refused():
    with pytest.raises(ValueError, match="plays bolola, not tarot"):
        evaluate("tarot/deal-v0", [NetBot(some_net(BOLOLA)), "random"], deals=2, progress=False)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("nowhere", "no net 'nowhere'"),
        (__file__, "is no net"),
    ],
)
def test_bad_names_and_files(argument, message):
    with pytest.raises(ValueError, match=message):
        make_bot(f"net:{argument}")


def test_net_alone_is_the_newest_of_the_game(tmp_path, monkeypatch):
    monkeypatch.setattr(nets, "FOLDER", tmp_path)
    for number in (2, 9, 10):
        some_net(BOLOLA, seed=number).save(tmp_path / f"bolola-v{number}.npz")
    views = situations("bolola/hearts-v0")
    newest = NetBot(some_net(BOLOLA, seed=10), compiled=False)
    for name in ("net", "net:own"):
        assert make_bot(name).act_batch(views).tolist() == newest.act_batch(views).tolist()
    assert make_bot("net").jit(BOLOLA) == NetBot(some_net(BOLOLA, seed=10)).jit(BOLOLA)
    with pytest.raises(ValueError, match="the library has no net for tarot"):
        make_bot("net").act_batch(situations("tarot/deal-v0", count=2))


@pytest.mark.parametrize("name", nets.shipped())
def test_shipped_nets_beat_random_play(name):
    """In every environment that they were trained in; each has its card."""
    bot = make_bot(f"net:{name}")
    assert isinstance(bot, NetBot)
    assert (nets.FOLDER / f"{name}.md").is_file()
    for env in bot.net.about["envs"]:
        row = evaluate(env, [bot, "random"], deals=12, progress=False).rows[0]
        assert row.overall.low > 0, env


def test_damaged_files_are_refused(tmp_path):
    net = some_net(BOLOLA)
    wrong = Net((net.weights[0], net.weights[2]), net.biases[:2], (), net.about)
    wrong.save(tmp_path / "wrong.npz")
    with pytest.raises(ValueError, match="does not fit"):
        nets.load(tmp_path / "wrong.npz")
    np.savez(tmp_path / "other.npz", about=np.array(json.dumps({"format": "x", "version": 1})))
    with pytest.raises(ValueError, match="is no net"):
        nets.load(tmp_path / "other.npz")


@pytest.mark.parametrize("setting", ["temperature=-1", "temperature=nan", "heat=1"])
def test_bad_settings(tmp_path, setting):
    some_net(BOLOLA).save(tmp_path / "n.npz")
    with pytest.raises(ValueError, match=r"temperature|heat"):
        make_bot(f"net:{tmp_path / 'n.npz'},{setting}")


def test_the_bot_survives_pickle(tmp_path):
    some_net(BOLOLA).save(tmp_path / "n.npz")
    bot = make_bot(f"net:{tmp_path / 'n.npz'},temperature=0.5")
    again = cloudpickle.loads(cloudpickle.dumps(bot))
    views = situations("bolola/hearts-v0")
    assert again.name == bot.name == "net:n,temperature=0.5"
    assert (again.act_batch(views) == bot.act_batch(views)).all()


def test_a_net_for_deals_plays_the_match():
    setup = make_setup("match", order=["hearts", "trump"])
    result = evaluate(setup, [NetBot(some_net(BOLOLA)), "random"], deals=2, seed=1, progress=False)
    assert result.deals_per_episode == 2


@pytest.mark.parametrize("fault", ["wide", "short", "nan", "game"])
def test_a_net_of_another_shape_is_refused(fault, tmp_path):
    """Before a kernel reads or writes beyond the observation."""
    net, file = some_net(BOLOLA), tmp_path / "net.npz"
    first, last = net.weights[0], net.weights[-1]
    if fault == "wide":
        wide = np.zeros((BOLOLA.layout.size + 64, first.shape[1]), np.float32)
        net = replace(net, weights=(wide, *net.weights[1:]))
    elif fault == "short":
        biases = (*net.biases[:-1], net.biases[-1][:10])
        net = replace(net, weights=(*net.weights[:-1], last[:, :10]), biases=biases)
    elif fault == "nan":
        net = replace(net, weights=(first * np.float32("nan"), *net.weights[1:]))
    else:
        net = replace(net, about={**net.about, "game": 5})
    net.save(file)
    with pytest.raises(ValueError, match=r"the net reads|is no net"):
        make_bot(f"net:{file}").jit(BOLOLA)
