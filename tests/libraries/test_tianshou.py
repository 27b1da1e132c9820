"""Tianshou: many tables as one of its vector environments, its collectors and algorithms, and the trainer."""

import json
import pickle

import numpy as np
import pytest

from tests.libraries import pages

pytest.importorskip("tianshou", reason="Tianshou has tests of its own: nox --sessions libraries")

from tianshou.data import Collector, VectorReplayBuffer

from baselines.evaluate import evaluate
from baselines.train.tianshou import Config, Run, TrickVenv, main, make_bot, train
from trick_core.game import setup_for
from trick_core.learner import LearnerVectorEnv
from trick_core.single import SingleAgentEnv

GAMES = ["bolola/hearts-v0", "tarot/deal-v0"]


def lowest(mask):
    return np.asarray(mask).argmax(axis=-1)


@pytest.mark.parametrize("env", GAMES)
def test_rows_are_the_learners_of_their_seeds(env):
    """Against one-learner environments of the same seeds, stepping only some rows at a time."""
    count, rng = 4, np.random.default_rng(0)
    venv = TrickVenv(env, count, "random", seed=11)
    singles = [
        SingleAgentEnv(setup_for(env), opponents="random", seat="rotate") for _ in range(count)
    ]
    seen, infos = venv.reset()
    wanted = [single.reset(seed=11 + i)[0] for i, single in enumerate(singles)]
    masks = seen.mask.copy()
    for i, observation in enumerate(wanted):
        assert (seen.obs[i] == observation["observation"]).all()
    assert [each["env_id"] for each in infos] == [0, 1, 2, 3]
    for turn in range(50):
        rows = np.flatnonzero(rng.random(count) < 0.6) if turn % 2 else np.arange(count)
        if not len(rows):
            continue
        seen, rewards, terminated, truncated, infos = venv.step(lowest(masks[rows]), rows)
        assert [each["env_id"] for each in infos] == rows.tolist() and not truncated.any()
        for k, i in enumerate(rows):
            observation, reward, over, _, _ = singles[i].step(int(lowest(masks[i])))
            assert rewards[k] == reward and terminated[k] == over
            assert (seen.obs[k] == observation["observation"]).all()
            assert (seen.mask[k] == (observation["action_mask"] != 0)).all()
            masks[i] = seen.mask[k]
        ended = rows[terminated]
        if len(ended):
            seen, _ = venv.reset(ended)
            for k, i in enumerate(ended):
                observation, _ = singles[i].reset()
                assert (seen.obs[k] == observation["observation"]).all()
                masks[i] = seen.mask[k]


@pytest.mark.parametrize("env", GAMES)
def test_collectors_play_whole_episodes_legally(env):
    """By steps, and by episodes, when some rows stop before the others."""
    run = Run(Config(env, layers=(8,)))
    setup = setup_for(env, illegal_action="raise")
    collector = Collector(run.algorithm, TrickVenv(setup, 3, seed=1), VectorReplayBuffer(600, 3))
    collector.reset()
    assert collector.collect(n_step=30).n_collected_steps == 30
    stats = collector.collect(n_episode=5, reset_before_collect=True)
    assert stats.n_collected_episodes == 5


def test_returns_are_those_of_the_tables():
    """The collector's returns of the first episodes are the points of the learners there."""
    env = "bolola/hearts-v0"
    run = Run(Config(env, layers=(8,)))
    venv = TrickVenv(env, 3, "greedy", seed=5)
    collector = Collector(run.algorithm, venv, VectorReplayBuffer(60, 3))
    collector.reset()
    stats = collector.collect(n_episode=3)
    twin = LearnerVectorEnv(setup_for(env), 3, "greedy", "rotate", autoreset_mode="Disabled")
    seen, _ = twin.reset(seed=5)
    total = np.zeros(3)
    for _ in range(13):
        batch = type("Seen", (), {"obs": seen["observation"], "mask": seen["action_mask"]})
        logits, _ = run.algorithm.policy.actor(batch)
        seen, rewards, *_ = twin.step(logits.argmax(1).numpy())
        total += rewards
    assert sorted(stats.returns) == sorted(total)


@pytest.mark.parametrize("env", GAMES)
def test_a_run_learns_goes_on_and_leaves_a_bot(env, tmp_path):
    config = Config(
        env,
        ("random",),
        2,
        tables=8,
        steps=10,
        minibatch=32,
        layers=(16,),
        eval_every=1,
        eval_deals=2,
        eval_against=("random",),
        folder=str(tmp_path / "run"),
    )
    first = train(config, progress=False)
    weights = [parameter.detach().clone() for parameter in first.net.parameters()]
    with pytest.raises(FileExistsError, match="resume"):
        train(config, progress=False)
    run = train(Config(env, iterations=3, folder=config.folder), resume=True, progress=False)
    assert run.iteration == 3 and run.config.tables == 8
    assert any((a != b).any() for a, b in zip(weights, run.net.parameters(), strict=True))
    curve = [json.loads(line) for line in (tmp_path / "run" / "curve.jsonl").open()]
    assert [point["iteration"] for point in curve] == [1, 2, 3]
    assert all(np.isfinite(value) for point in curve for value in point.values())
    bot = pickle.loads(pickle.dumps(make_bot(config.folder)))
    result = evaluate(env, [bot, "random"], deals=2, progress=False)
    assert result.rows[0].policy == "tianshou:run"


def test_what_cannot_be_is_said(tmp_path, capsys):
    with pytest.raises(ValueError, match="tables: expected an integer from 1 on, got 0"):
        Config(tables=0)
    with pytest.raises(ValueError, match="one bot or three"):
        Config(opponents=("random", "greedy"))
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        train(Config(folder=str(tmp_path)), resume=True, progress=False)
    (tmp_path / "checkpoint.pt").write_text("nothing")
    with pytest.raises(ValueError, match="is not a checkpoint"):
        make_bot(str(tmp_path))
    venv = TrickVenv("bolola/hearts-v0", 2, seed=0)
    venv.reset()
    with pytest.raises(ValueError, match="actions: expected 2"):
        venv.step(np.zeros(1, np.int64))
    with pytest.raises(SystemExit):
        main(["bolola/hearts-v0", "--tables", "0"])
    assert "tables: expected" in capsys.readouterr().err


def test_the_page_runs(tmp_path):
    pages.run("train/tianshou.md", tmp_path)
