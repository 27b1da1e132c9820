"""The games with RLlib itself, on a Ray cluster of two nodes on this machine."""

import json
import math
import os
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.libraries import pages

ray = pytest.importorskip("ray", reason="RLlib has tests of its own: nox --sessions libraries")

from ray.rllib.core import Columns  # noqa: E402
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv  # noqa: E402

import bolola_env  # noqa: E402
import tarot_env  # noqa: E402
from baselines.cluster import local_cluster  # noqa: E402
from baselines.cluster import main as cluster_command  # noqa: E402
from baselines.evaluate import evaluate  # noqa: E402
from baselines.train.rllib import (  # noqa: E402
    MAIN,
    Config,
    League,
    MaskedModule,
    Seating,
    TrickMultiAgentEnv,
    algorithm_config,
    make_bot,
    sampled,
    train,
)
from trick_core.game import AGENTS  # noqa: E402

GAMES = ["bolola/hearts-v0", "tarot/deal-v0"]
SMALL = Config(
    iterations=1,
    batch=104,
    minibatch=52,
    epochs=1,
    layers=(16,),
    runners=1,
    envs_per_runner=1,
    eval_every=0,
    eval_deals=2,
    eval_against=("random",),
)


@pytest.fixture(scope="module")
def cluster():
    with local_cluster(nodes=2, cpus_per_node=2) as started:
        ray.init(address=started.address, log_to_driver=False, logging_level="ERROR")
        yield started
        ray.shutdown()


@pytest.mark.parametrize("make", [lambda: bolola_env.env("hearts"), tarot_env.env])
def test_rllibs_own_wrapper_takes_the_environment(make):
    """A27, A35, C5: spaces per agent contain every observation."""
    env = PettingZooEnv(make())
    rng = np.random.default_rng(1)
    for seed in range(5):
        seen, _ = env.reset(seed=seed)
        over = False
        while not over:
            for agent, each in seen.items():
                assert env.observation_space[agent].contains(each)
            agent = next(iter(seen))
            legal = np.flatnonzero(seen[agent]["action_mask"])
            seen, _, ended, _, _ = env.step({agent: int(rng.choice(legal))})
            over = ended["__all__"]


@pytest.mark.parametrize("env_id", GAMES)
def test_no_reward_is_lost_between_turns(env_id):
    """A01, A34: what the four agents get adds up to the returns of the environment."""
    env = TrickMultiAgentEnv({"env": env_id})
    rng = np.random.default_rng(2)
    for seed in range(10):
        seen, _ = env.reset(seed=seed)
        got = dict.fromkeys(AGENTS, 0.0)
        true = dict.fromkeys(AGENTS, 0.0)
        over = False
        while not over:
            (agent,) = seen
            assert env.observation_spaces[agent].contains(seen[agent])
            legal = np.flatnonzero(seen[agent]["action_mask"])
            seen, rewards, ended, _, _ = env.step({agent: int(rng.choice(legal))})
            for each, reward in rewards.items():
                got[each] += reward
            for each, reward in env.table.rewards.items():
                true[each] += reward
            over = ended["__all__"]
        assert set(seen) == set(AGENTS)
        assert not any(each["action_mask"].any() for each in seen.values())
        assert got == true


def test_a_mask_of_zeros_gives_no_nan():
    import torch

    env = TrickMultiAgentEnv({"env": "bolola/hearts-v0"})
    module = MaskedModule(
        observation_space=env.observation_spaces[AGENTS[0]],
        action_space=env.action_spaces[AGENTS[0]],
        model_config={"layers": [8]},
    )
    seen = {
        "observations": torch.zeros(2, 896),
        "action_mask": torch.tensor([[0.0] * 56, [1.0] + [0.0] * 55]),
    }
    logits = module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
    assert torch.isfinite(torch.softmax(logits, -1)).all()
    assert logits[1].argmax() == 0


def test_runners_and_their_tables_play_other_deals():
    class Where(dict):
        worker_index = 1
        vector_index = 0

    first = TrickMultiAgentEnv({"env": "bolola/hearts-v0"})
    other = TrickMultiAgentEnv(Where(env="bolola/hearts-v0"))
    same = TrickMultiAgentEnv(Where(env="bolola/hearts-v0"))
    hands = [next(iter(env.reset()[0].values()))["observations"] for env in (first, other, same)]
    assert not np.array_equal(hands[0], hands[1])
    np.testing.assert_array_equal(hands[1], hands[2])


def test_the_league_seats_one_snapshot_and_meets_the_hard_ones_most():
    class Episode:
        def __init__(self, id_):
            self.id_ = id_

    seating = Seating(0.5, ("past_0", "past_1"), (1.0, 3.0))
    seats = [[seating(agent, Episode(f"e{k}")) for agent in AGENTS] for k in range(2000)]
    mixed = [each for each in seats if set(each) != {MAIN}]
    assert 0.45 < len(mixed) / len(seats) < 0.55
    assert all(each.count(MAIN) == 1 and len(set(each)) == 2 for each in mixed)
    share = sum("past_1" in each for each in mixed) / len(mixed)
    assert 0.7 < share < 0.8
    league = League(SMALL)
    league.snapshots = ["past_0", "past_1"]
    weights = league.seating({"past_0": 0.5, "past_1": -0.5}).weights
    assert weights[1] > weights[0]


@pytest.mark.parametrize("env_id", GAMES)
def test_a_run_trains_snapshots_resumes_and_becomes_a_bot(env_id, cluster, tmp_path):
    """A34, A36: PPO over the cluster's nodes, on both games."""
    folder = tmp_path / "run"
    config = replace(SMALL, env=env_id, league=1, snapshot_every=1, folder=str(folder))
    folder.mkdir()
    (folder / "config.json").write_text("{}")  # of a run that ended before its first checkpoint
    train(config, progress=False)
    with pytest.raises(FileExistsError, match="holds a run"):
        train(config, progress=False)
    bot = train(replace(config, iterations=2), resume=True, progress=False)
    points = [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
    assert [point["iteration"] for point in points] == [1, 2]
    assert "over random" in points[-1]
    kept = make_bot(str(folder))
    ours, theirs = (evaluate(env_id, [each, "random"], deals=3) for each in (bot, kept))
    assert ours.rows[0].overall == theirs.rows[0].overall


@pytest.mark.parametrize(
    "runners",
    [{}, {"num_module_steps_sampled": {}}, {"num_module_steps_sampled": {MAIN: math.nan}}],
)
def test_a_round_whose_runners_were_all_lost_counts_nothing(runners):
    assert sampled({"env_runners": runners}) == 0


def test_training_survives_a_runner_that_is_killed(cluster):
    """Nothing is lost but what the runner was playing: the policy goes on from where it was."""
    config = replace(SMALL, runners=2)
    algorithm = algorithm_config(config).build_algo()
    try:
        algorithm.train()
        before = algorithm.get_module(MAIN).get_state()
        group = algorithm.env_runner_group
        pids = group.foreach_env_runner(lambda runner: os.getpid(), local_env_runner=False)
        os.kill(pids[0], signal.SIGKILL)
        after = algorithm.get_module(MAIN).get_state()
        assert all(np.array_equal(before[key], after[key]) for key in before)
        now = []
        for _ in range(100):  # the rounds go on while the runner starts again
            algorithm.train()
            now = group.foreach_env_runner(lambda runner: os.getpid(), local_env_runner=False)
            if len(now) == 2:
                break
        assert len(now) == 2
        assert pids[0] not in now
        assert algorithm.iteration >= 2
    finally:
        algorithm.stop()


def test_the_command_runs_on_the_nodes_that_it_starts(capfd):
    code = "import ray; ray.init(logging_level='ERROR'); print('alive', len(ray.nodes()))"
    assert cluster_command(["--nodes", "2", "--", sys.executable, "-c", code]) == 0
    assert "alive 2" in capfd.readouterr().out
    with pytest.raises(SystemExit):
        cluster_command(["--nodes", "0", "--", "true"])
    assert "nodes: expected 1 or more" in capfd.readouterr().err


def test_settings_are_checked():
    with pytest.raises(ValueError, match="minibatch: expected at most batch=104"):
        replace(SMALL, minibatch=208)
    with pytest.raises(ValueError, match="past: expected a share"):
        replace(SMALL, past=1.5)
    with pytest.raises(ValueError, match="needs a folder"):
        make_bot(None)
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        make_bot("nowhere")


def test_the_page_runs(tmp_path):
    pages.run("train/rllib.md", tmp_path)
