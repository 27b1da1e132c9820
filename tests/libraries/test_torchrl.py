"""TorchRL: the batched environment under its checks and collectors, advantages seat by seat, and the trainer."""

import json
import pickle

import numpy as np
import pytest

from tests.libraries import pages

pytest.importorskip("torchrl", reason="TorchRL has tests of its own: nox --sessions libraries")

import torch
from torchrl.collectors import Collector
from torchrl.envs.utils import check_env_specs

from baselines.evaluate import evaluate
from baselines.train.torchrl import (
    Config,
    Net,
    TrickEnv,
    advantages,
    main,
    make_actor,
    make_bot,
    train,
    unpack,
)
from trick_core.aec import TrickAEC
from trick_core.game import setup_for

GAMES = ["bolola/hearts-v0", "tarot/deal-v0"]


@pytest.mark.parametrize("env", GAMES)
@pytest.mark.parametrize("options", [{}, {"packed": True}, {"opponents": "random"}])
def test_specs_say_what_comes(env, options):
    check_env_specs(TrickEnv(env, 3, seed=1, **options), break_when_any_done="both", seed=2)


@pytest.mark.parametrize("env", GAMES)
def test_rows_are_the_environments_with_their_seeds(env):
    """Observations, masks, seats and the rewards of all seats over two episodes, across TorchRL's own resets."""
    data = TrickEnv(env, 3, seed=7).rollout(170, break_when_any_done=False)
    for row in range(3):
        aec, t = TrickAEC(setup_for(env)), 0
        for episode in range(2):
            aec.reset(seed=7 + row if episode == 0 else None)
            while aec.agents and not any(aec.terminations.values()) and t < 170:
                agent, now = aec.agent_selection, data[row, t]
                seen = aec.observe(agent)
                assert int(now["seat"]) == aec.possible_agents.index(agent)
                assert now["observation"].tolist() == seen["observation"].tolist()
                assert now["action_mask"].tolist() == seen["action_mask"].astype(bool).tolist()
                aec.step(int(now["action"]))
                rewards = [aec.rewards[each] for each in aec.possible_agents]
                assert now["next", "reward"].tolist() == rewards
                assert bool(now["next", "done"]) == any(aec.terminations.values())
                t += 1


@pytest.mark.parametrize("options", [{}, {"opponents": "random"}])
def test_rows_that_are_over_wait_for_the_longest(options):
    """TorchRL's partial steps: rows that have ended stand still, and the next reset brings their next deal."""
    torch.manual_seed(0)
    setup = setup_for("bolola/queens-v0", early_stop=True)
    env = TrickEnv(setup, 8, seed=9, **options)
    data = env.rollout(200, break_when_any_done=False, break_when_all_done=True)
    done = data["next", "done"].squeeze(-1)
    lengths = done.int().argmax(1) + 1
    assert done.any(1).all() and len(set(lengths.tolist())) > 1
    twin = TrickEnv(setup, 8, seed=9, **options).tables
    seen, _ = twin.reset(seed=9)
    for row, length in enumerate(lengths.tolist()):
        assert (data["observation"][row, 0].numpy() == seen["observation"][row]).all()
        assert data["next", "done"][row].sum() >= 1 and not done[row, : length - 1].any()
    seen, _ = twin.reset()
    assert (env.reset()["observation"].numpy() == seen["observation"]).all()


def test_packed_observations_are_the_same_bits():
    torch.manual_seed(0)
    plain = TrickEnv("tarot/deal-v0", 2, seed=3).rollout(100, break_when_any_done=False)
    torch.manual_seed(0)
    words = TrickEnv("tarot/deal-v0", 2, seed=3, packed=True).rollout(
        100, break_when_any_done=False
    )
    size = plain["observation"].shape[-1]
    assert torch.equal(plain["action"], words["action"])
    assert torch.equal(unpack(words["observation"], size), plain["observation"].float())


def test_seed_repeats_a_rollout_and_reset_takes_a_deal():
    env = TrickEnv("bolola/queens-v0", 2, seed=5)
    torch.manual_seed(1)
    first = env.rollout(60)
    env.set_seed(5)
    torch.manual_seed(1)
    assert torch.equal(env.rollout(60)["observation"], first["observation"])
    assert set(env.reset(options={"starter": 2})["seat"].tolist()) == {2}
    with pytest.raises(TypeError, match="options"):
        env.reset(deal="N:")


def by_the_book(row, gamma, gae_lambda):
    """Advantages of one row by each seat's own list of decisions; None: not decided yet."""
    seats, values = row["seat"].tolist(), row["state_value"][:, 0].tolist()
    rewards, done = row["next", "reward"].tolist(), row["next", "done"][:, 0].tolist()
    found = [None] * len(seats)
    ends = [t for t, over in enumerate(done) if over]
    for seat in range(4):
        mine = [t for t, other in enumerate(seats) if other == seat]
        gained = 0.0
        for t, then in reversed(list(zip(mine, [*mine[1:], None], strict=True))):
            end = next((e for e in ends if e >= t), None)
            if end is not None and (then is None or then > end):
                stop, value, gained = end + 1, 0.0, 0.0
            elif then is None:
                gained = 0.0
                continue
            else:
                stop, value = then, values[then]
            delta = sum(reward[seat] for reward in rewards[t:stop]) + gamma * value - values[t]
            gained = found[t] = delta + gamma * gae_lambda * gained
    return found


@pytest.mark.parametrize("env", GAMES)
@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 1.0), (0.9, 0.5)])
def test_advantages_follow_each_seat(env, gamma, gae_lambda):
    """Against lists of decisions, with rollouts that break off within an episode."""
    data = TrickEnv(env, 3, seed=2, reward_scale=0.01).rollout(135, break_when_any_done=False)
    data["state_value"] = torch.randn(3, 135, 1)
    data = advantages(data, gamma, gae_lambda)
    assert not data["decided"].all() and data["decided"].sum() >= 3 * (135 - 4)
    for row in data:
        for t, wanted in enumerate(by_the_book(row, gamma, gae_lambda)):
            assert bool(row["decided"][t]) == (wanted is not None)
            assert float(row["advantage"][t]) == pytest.approx(wanted or 0.0, abs=1e-4)
            target = row["advantage"][t] + row["state_value"][t]
            assert float(row["value_target"][t]) == pytest.approx(float(target), abs=1e-4)


def test_the_collector_plays_legal_actions_to_the_end():
    setup = setup_for("bolola/hearts-v0", illegal_action="raise")
    actor = make_actor(Net(setup.game.layout.size, setup.game.num_actions, (8,)))
    collector = Collector(
        TrickEnv(setup, 4, seed=1),
        actor,
        frames_per_batch=4 * 60,
        total_frames=2 * 4 * 60,
        auto_register_policy_transforms=False,
    )
    batches = list(collector)
    assert [batch.shape for batch in batches] == [(4, 60), (4, 60)]
    rewards = torch.cat([batch["next", "reward"] for batch in batches], 1)
    assert (rewards[:, :104].sum((1, 2)) == 2 * -390).all()
    legal = batches[0]["action_mask"].gather(-1, batches[0]["action"].unsqueeze(-1))
    assert legal.all()


@pytest.mark.parametrize("env", GAMES)
def test_a_run_learns_goes_on_and_leaves_a_bot(env, tmp_path):
    small = {"tables": 8, "steps": 30, "minibatch": 64, "layers": (16,), "eval_deals": 2}
    config = Config(
        env, 2, **small, eval_every=1, eval_against=("random",), folder=str(tmp_path / "run")
    )
    first = train(config, progress=False)
    weights = [parameter.clone() for parameter in first.policy.parameters()]
    with pytest.raises(FileExistsError, match="resume"):
        train(config, progress=False)
    longer = Config(env, 3, folder=config.folder)
    run = train(longer, resume=True, progress=False)
    assert run.iteration == 3 and run.config.tables == 8
    assert any((a != b).any() for a, b in zip(weights, run.policy.parameters(), strict=True))
    curve = [json.loads(line) for line in (tmp_path / "run" / "curve.jsonl").open()]
    assert [point["iteration"] for point in curve] == [1, 2, 3]
    assert all(np.isfinite(value) for point in curve for value in point.values())
    bot = pickle.loads(pickle.dumps(make_bot(config.folder)))
    result = evaluate(env, [bot, "random"], deals=2, progress=False)
    assert result.rows[0].policy == "torchrl:run"


def test_packed_runs_are_the_same_runs(tmp_path):
    settings = {"iterations": 1, "tables": 4, "steps": 20, "layers": (8,), "eval_deals": 2}
    runs = [
        train(
            Config(**settings, packed=packed, eval_against=(), folder=str(tmp_path / str(packed))),
            progress=False,
        )
        for packed in (False, True)
    ]
    for one, other in zip(*(run.policy.parameters() for run in runs), strict=True):
        torch.testing.assert_close(one, other)


def test_what_cannot_be_is_said(tmp_path, capsys):
    with pytest.raises(ValueError, match="tables: expected an integer from 1 on, got 0"):
        Config(tables=0)
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        train(Config(folder=str(tmp_path)), resume=True, progress=False)
    (tmp_path / "checkpoint.pt").write_text("nothing")
    with pytest.raises(ValueError, match="is not a checkpoint"):
        make_bot(str(tmp_path))
    with pytest.raises(SystemExit):
        main(["bolola/hearts-v0", "--tables", "0"])
    assert "tables: expected" in capsys.readouterr().err


def test_the_page_runs(tmp_path):
    pages.run("train/torchrl.md", tmp_path)
