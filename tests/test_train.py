"""MaskablePPO on the native vector environment: the adapter, a run, its checkpoint and its resume."""

import json

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv

from baselines.evaluate import evaluate
from baselines.train.sb3 import SB3Bot, TrainConfig, TrickVecEnv, make_bot, train
from bolola_env import Contract, make_setup


def small(folder, **changes):
    settings = {
        "env": "bolola/hearts-v0",
        "opponents": "random",
        "steps": 832,
        "tables": 32,
        "minibatch": 208,
        "eval_deals": 10,
        "layers": (16,),
        "folder": str(folder),
    }
    return TrainConfig(**{**settings, **changes})


def test_masks_are_found_and_legal():
    """A32, C4: sb3-contrib finds the masks, and they are those of the observation just returned."""
    env = TrickVecEnv(make_setup("hearts"), 8)
    assert is_masking_supported(env)
    env.seed(5)
    env.reset()
    for _ in range(60):
        masks = get_action_masks(env)
        assert masks.shape == (8, 56)
        assert masks.any(axis=1).all()
        _, _, _, _ = env.step(masks.argmax(axis=1))


def test_last_observation_and_true_end():
    """C4: a finished deal is terminated, not truncated, and its last observation is kept."""
    env = TrickVecEnv(make_setup("hearts"), 4)
    env.seed(5)
    env.reset()
    ends = 0
    for _ in range(40):
        observation, rewards, done, infos = env.step(get_action_masks(env).argmax(axis=1))
        assert rewards.dtype == np.float32
        for i in np.flatnonzero(done):
            ends += 1
            assert infos[i]["TimeLimit.truncated"] is False
            assert infos[i]["terminal_observation"].shape == (make_setup("hearts").observed,)
            assert not np.array_equal(infos[i]["terminal_observation"], observation[i])
    assert ends >= 8


def test_sb3_learns_and_evaluates_with_its_own_helper():
    """A30, A32: plain MaskablePPO.learn and the maskable evaluate_policy run on the adapter."""
    env = TrickVecEnv(make_setup("all_penalties", zero_sum=True), 16)
    model = MaskablePPO("MlpPolicy", env, n_steps=13, batch_size=104, seed=1)
    model.learn(416)
    mean, _ = evaluate_policy(model, env, n_eval_episodes=16)
    assert -800 <= mean <= 800


def test_run_leaves_model_curve_and_settings(tmp_path):
    result = train(small(tmp_path), progress=False)
    assert result.steps >= 832
    assert {file.name for file in tmp_path.iterdir()} >= {
        "model.zip",
        "run.json",
        "curve.csv",
        "curve.png",
    }
    assert len(result.curve) >= 2
    assert [row["steps"] for row in result.curve] == sorted({row["steps"] for row in result.curve})


def test_same_seed_same_agent(tmp_path):
    """The same settings train the same network."""
    first = train(small(tmp_path / "a"), progress=False)
    second = train(small(tmp_path / "b"), progress=False)
    other = train(small(tmp_path / "c", seed=1), progress=False)
    weights = [
        next(iter(r.model.policy.parameters())).detach().numpy() for r in (first, second, other)
    ]
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


def test_resume_continues(tmp_path):
    train(small(tmp_path), progress=False)
    more = train(small(tmp_path, steps=1664, tables=999), resume=True, progress=False)
    assert more.steps >= 1664
    settings = json.loads((tmp_path / "run.json").read_text())["config"]
    assert settings["tables"] == 32, "a resumed run keeps its own settings"
    assert more.curve[0]["steps"] == 0


def test_resume_without_a_run_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing to resume"):
        train(small(tmp_path / "none"), resume=True, progress=False)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(ValueError, match="not a run's state"):
        train(small(tmp_path), resume=True, progress=False)


def test_saved_model_is_a_bot(tmp_path):
    train(small(tmp_path), progress=False)
    bot = make_bot(str(tmp_path / "model.zip"))
    result = evaluate("bolola/hearts-v0", [bot, "random"], deals=10, progress=False)
    again = evaluate("bolola/hearts-v0", [bot, "random"], deals=10, progress=False)
    assert isinstance(bot, SB3Bot)
    assert str(result.rows[0]) == str(again.rows[0])


@pytest.mark.parametrize("argument", [None, "no-such-file.zip", __file__])
def test_bad_model_files(argument):
    with pytest.raises(ValueError, match="bot 'sb3'"):
        make_bot(argument)


@pytest.mark.parametrize(
    ("name", "value"),
    [("steps", 0), ("tables", 0), ("minutes", 0), ("minutes", -1), ("seed", -1), ("eval_deals", 1)],
)
def test_settings_out_of_range(name, value):
    with pytest.raises(ValueError, match=name):
        TrainConfig(**{name: value})


def test_own_contract_row_trains(tmp_path):
    """B-8.1: a row of the user's trains without touching the library."""
    row = Contract(name="rifki_last_two", trick_number_points={12: -180, 13: -180})
    result = train(small(tmp_path, env=make_setup(row)), progress=False)
    assert result.steps >= 832


def test_match_trains_on_the_whole_observation(tmp_path):
    """In the match the contract changes, so the learner sees its row."""
    setup = make_setup("match", order=["hearts", "trump"])
    assert setup.observed == setup.game.layout.size
    result = train(small(tmp_path, env=setup, eval_deals=2), progress=False)
    assert result.steps >= 832


def test_a_run_is_not_lost_by_accident(tmp_path):
    """Neither by a second training into its folder nor by resuming it for another environment."""
    train(small(tmp_path), progress=False)
    before = (tmp_path / "model.zip").read_bytes()
    with pytest.raises(FileExistsError, match="holds a run"):
        train(small(tmp_path, seed=1), progress=False)
    with pytest.raises(ValueError, match="a run on bolola/hearts-v0, not on bolola/queens-v0"):
        train(small(tmp_path, env="bolola/queens-v0"), resume=True, progress=False)
    assert (tmp_path / "model.zip").read_bytes() == before
    train(small(tmp_path, seed=1, overwrite=True), progress=False)
    assert (tmp_path / "model.zip").read_bytes() != before


def test_model_of_the_gymnasium_environment_is_a_bot(tmp_path):
    """A model with a Dict observation, trained in SB3's own DummyVecEnv."""
    env = DummyVecEnv([lambda: gymnasium.make("bolola_env:bolola/hearts-v0")] * 2)
    model = MaskablePPO("MultiInputPolicy", env, n_steps=16, batch_size=32, seed=1)
    model.learn(32)
    model.save(tmp_path / "dict.zip")
    bot = make_bot(str(tmp_path / "dict.zip"))
    evaluate("bolola/hearts-v0", [bot, "random"], deals=3, progress=False)


def test_model_of_another_game_says_so(tmp_path):
    train(small(tmp_path), progress=False)
    bot = make_bot(str(tmp_path / "model.zip"))
    with pytest.raises(ValueError, match="was trained for 56 actions"):
        evaluate("tarot/deal-v0", [bot, "random"], deals=3, progress=False)


def test_imitation_comes_close_to_its_bot(tmp_path):
    """A second of behaviour cloning plays better than an untrained network."""
    settings = small(
        tmp_path, imitate="greedy", imitate_seconds=4, steps=1, eval_deals=100, layers=(64,)
    )
    curve = train(settings, progress=False).curve
    assert curve[1]["random_mean"] > curve[0]["random_mean"] + 10


def test_few_tables_are_imitated_too(tmp_path):
    """Fewer decisions than a minibatch are one: the policy does not start as if nobody had been imitated."""
    settings = small(tmp_path, imitate="greedy", imitate_seconds=3, steps=1, tables=2)
    curve = train(settings, progress=False).curve
    assert curve[1]["random_mean"] > curve[0]["random_mean"]


def test_no_minibatch_is_of_a_single_decision(tmp_path):
    """197 x 13 is 5 x 512 + 1: SB3 would divide by the deviation of one number."""
    with pytest.raises(ValueError, match="leaves a last one of a single decision from 197 x 13"):
        small(tmp_path, tables=197, rollout=13, minibatch=512)


def test_a_run_is_not_resumed_on_another_row(tmp_path):
    take, avoid = (make_setup(Contract(name="mine", trick_points=p)) for p in (50, -50))
    config = small(tmp_path, env=take, steps=416)
    train(config, progress=False)
    with pytest.raises(ValueError, match="with other options"):
        train(small(tmp_path, env=avoid, steps=832), resume=True, progress=False)
    train(small(tmp_path, env=take, steps=np.int64(832)), resume=True, progress=False)
