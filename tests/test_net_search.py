"""Search with the opinion of a net: ``pimc:net=...`` and ``ismcts:net=...``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from baselines.bots import ismcts, pimc, search
from baselines.bots.search import observed_words
from bolola_env import GAME as BOLOLA
from tarot_env import GAME as TAROT
from tests.test_net_bot import situations, some_net
from trick_core.bots import make_bot

ENVS = {"bolola/hearts-v0": BOLOLA, "bolola/trump-v0": BOLOLA, "tarot/deal-v0": TAROT}


def make_pimc(**settings):
    return pimc.Pimc(pimc.Settings(worlds=16, **settings))


def make_ismcts(**settings):
    return ismcts.Ismcts(ismcts.Settings(iterations=100, burn=10, **settings))


BOTS = pytest.mark.parametrize("make", [make_pimc, make_ismcts])


def lowest_first(game):
    """A net that prefers low ids by far, whatever it sees."""
    net = some_net(game)
    weights = tuple(np.zeros_like(weight) for weight in net.weights)
    bias = -10.0 * np.arange(game.num_actions, dtype=np.float32)
    return replace(net, weights=weights, biases=(*net.biases[:-1], bias))


@pytest.mark.parametrize("env", ENVS)
def test_the_net_sees_what_the_seat_observes(env):
    views = situations(env)
    assert np.array_equal(observed_words(views.game, views.config, views.records), views.words)


@BOTS
@pytest.mark.parametrize("env", ENVS)
def test_a_net_trusted_without_limit_decides(make, env, tmp_path):
    views = situations(env, count=12)
    lowest_first(views.game).save(tmp_path / "net.npz")
    bot = make(net=str(tmp_path / "net.npz"), trust=1e6)
    assert bot.act_batch(views).tolist() == views.mask.argmax(axis=1).tolist()


@BOTS
@pytest.mark.parametrize("env", ENVS)
def test_no_trust_is_no_net(make, env, tmp_path):
    views = situations(env, count=12)
    some_net(views.game).save(tmp_path / "net.npz")
    file = str(tmp_path / "net.npz")
    assert make(net=file, trust=0.0).act_batch(views).tolist() == make().act_batch(views).tolist()
    with_net = make(net=file)
    one_by_one = [with_net.act(views.view(i)) for i in range(12)]
    assert with_net.act_batch(views).tolist() == one_by_one


@BOTS
def test_a_batch_brings_its_observations(make, tmp_path, monkeypatch):
    """What the net reads is packed for a single view only."""
    views = situations("bolola/hearts-v0", count=3)
    lowest_first(views.game).save(tmp_path / "net.npz")
    bot = make(net=str(tmp_path / "net.npz"), trust=1e6)
    packed = []
    monkeypatch.setattr(
        search, "observed_words", lambda *of: packed.append(of) or observed_words(*of)
    )
    chosen = bot.act_batch(views).tolist()
    assert not packed
    assert [bot.act(views.view(i)) for i in range(3)] == chosen
    assert len(packed) == 3


@BOTS
def test_a_file_is_read_once(make, tmp_path):
    """What becomes of the file afterwards changes nothing: the bot stays the same."""
    file = tmp_path / "net.npz"
    some_net(BOLOLA).save(file)
    bot = make(net=str(file), trust=3.0)
    views = situations("bolola/hearts-v0", 20)
    before = bot.act_batch(views)
    file.unlink()
    assert (bot.act_batch(views) == before).all()


@pytest.mark.parametrize("name", ["pimc", "ismcts"])
def test_nets_that_do_not_fit_are_refused(name, tmp_path):
    with pytest.raises(ValueError, match=f"bot '{name}': net: no net 'nobody'"):
        make_bot(f"{name}:net=nobody")
    some_net(TAROT).save(tmp_path / "net.npz")
    bot = make_bot(f"{name}:net={tmp_path / 'net.npz'}")
    with pytest.raises(ValueError, match="plays tarot, not bolola"):
        bot.act_batch(situations("bolola/hearts-v0", count=2))
    with pytest.raises(ValueError, match="trust: expected a number from 0 on"):
        make_bot(f"{name}:trust=-1")


def test_a_net_has_no_say_in_the_published_search():
    with pytest.raises(ValueError, match="bot 'ismcts': net: needs root=pairs, got root=ucb"):
        make_bot("ismcts:root=ucb,net=own")
