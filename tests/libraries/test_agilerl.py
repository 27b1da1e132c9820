"""Training with AgileRL: masks, selection, checkpoints and evaluation, on both games."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.libraries import pages

pytest.importorskip("agilerl", reason="AgileRL has tests of its own: nox --sessions libraries")

from baselines.evaluate import evaluate, score_against
from baselines.train import agilerl
from baselines.train.agilerl import AgileBot, Config, Run, Tables, main, make_bot, train
from trick_core.game import setup_for

SMALL = Config(
    generations=2,
    population=2,
    updates=2,
    tables=16,
    minibatch=52,
    layer=64,
    latent=32,
    mutate_settings=0.5,
    mutate_network=0.5,
    fitness_deals=2,
    eval_every=0,
    eval_deals=2,
)


@pytest.mark.parametrize("env", ["bolola/trump-v0", "bolola/match-v0", "tarot/deal-v0"])
def test_masks_stand_where_agilerl_reads_them(env):
    """In ``info["action_mask"]``, for the table as it is now, also after a deal has ended and the next has begun."""
    config = replace(SMALL, env=env)
    tables = Tables(agilerl.training_setup(config), config)
    seen, info = tables.reset(seed=1)
    ended = 0
    for _ in range(60):
        mask = info["action_mask"]
        assert seen.shape == (16, *tables.single_observation_space.shape)
        assert seen.dtype == np.float32
        assert mask.shape == (16, tables.single_action_space.n) and mask.any(axis=1).all()
        # An action that is not legal raises here, and the last legal one is never the default of an empty mask.
        last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
        seen, rewards, terminated, _, info = tables.step(last)
        assert rewards.shape == (16,)
        ended += int(terminated.sum())
    assert ended > 0 or env == "bolola/match-v0"


@pytest.mark.parametrize("env", ["bolola/hearts-v0", "tarot/deal-v0"])
def test_generations_on_both_games(env, tmp_path):
    """Agents learn without one illegal action, are selected and mutated, kept, loaded and evaluated."""
    config = replace(SMALL, env=env, folder=str(tmp_path / "run"), eval_every=1)
    bot = train(config, progress=False)
    state = json.loads((tmp_path / "run" / "run.json").read_text())
    first, second = state["curve"]
    assert first["mutations"] == ["None", "None"] and second["mutations"][1] != "None"
    assert second["decisions"] == 2 * 2 * 2 * 16 * 13
    for point in state["curve"]:
        assert np.isfinite(
            [point["over random"], point["half over greedy"], *point["fitness"]]
        ).all()
    loaded = make_bot(str(tmp_path / "run"))
    result = evaluate(env, [bot, loaded, "random", "greedy"], deals=2, progress=False)
    rows = {row.policy: row.overall.mean for row in result.rows}
    assert rows["agent"] == rows["agilerl:run"]


def test_a_resumed_run_is_the_run_that_was_not_interrupted(tmp_path):
    """The same deals, choices and weights, with mutations of settings in between (those of networks draw from generators that
    AgileRL does not keep).
    """
    settings = replace(SMALL, mutate_network=0.0, mutate_settings=1.0)
    whole = replace(settings, generations=3, folder=str(tmp_path / "whole"))
    train(whole, progress=False)
    part = replace(settings, generations=2, folder=str(tmp_path / "part"))
    train(part, progress=False)
    train(replace(part, generations=3), resume=True, progress=False)
    curves = [
        json.loads((tmp_path / name / "run.json").read_text())["curve"]
        for name in ("whole", "part")
    ]
    for one, other in zip(*curves, strict=True):
        for key in ("fitness", "training_score", "learning_rates", "mutations", "decisions"):
            assert one[key] == other[key], (key, one, other)


def test_learning_shows(tmp_path):
    """Some 60,000 decisions of plain PPO in hearts: clearly better than before, on the same deals."""
    config = Config(
        opponents=("random",),
        generations=3,
        population=1,
        updates=12,
        tables=128,
        fitness_deals=2,
        eval_every=0,
        eval_deals=2,
        folder=str(tmp_path / "run"),
    )
    before = AgileBot(Run(config).agents[0])
    after = train(config, progress=False)
    first, half = score_against("bolola/hearts-v0", before, "random", deals=100, progress=False)
    last, other = score_against("bolola/hearts-v0", after, "random", deals=100, progress=False)
    assert last - first > half + other
    assert last > other


def test_runs_are_not_lost_by_accident(tmp_path):
    config = replace(SMALL, generations=1, population=1, folder=str(tmp_path / "run"))
    with pytest.raises(FileNotFoundError, match="no run to resume"):
        train(config, resume=True, progress=False)
    train(config, progress=False)
    with pytest.raises(FileExistsError, match="resume it"):
        train(config, progress=False)
    assert not [*(tmp_path / "run").glob("*.tmp")]
    (tmp_path / "run" / "run.json").write_text("{}")
    with pytest.raises(ValueError, match="not the state of a run"):
        train(config, resume=True, progress=False)
    with pytest.raises(FileNotFoundError, match="no agent"):
        make_bot(str(tmp_path))
    with pytest.raises(ValueError, match="needs a folder"):
        make_bot(None)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"env": "bolola/whist-v0"}, "no environment"),
        ({"population": 0}, "population: expected an integer from 1"),
        ({"learning_rate": 1.0}, "learning_rate: expected 1e-06 to 0.1"),
        ({"mutate_settings": 0.8, "mutate_network": 0.3}, "at most 1 together"),
        ({"opponents": ("greedy", "random")}, "one bot or three"),
        ({"opponents": ("nobody",)}, "no bot 'nobody'"),
        ({"seed": 2**31}, "below 2"),
    ],
)
def test_bad_settings(setting, words):
    with pytest.raises(ValueError, match=words):
        Config(**setting)


def test_an_agent_of_another_game_is_refused(tmp_path):
    config = replace(SMALL, generations=1, population=1, folder=str(tmp_path / "run"))
    bot = train(config, progress=False)
    with pytest.raises(ValueError, match="56 actions and 896 values"):
        evaluate(setup_for("tarot/deal-v0"), [bot, "random"], deals=1, progress=False)


def test_command_line(tmp_path, capsys):
    folder = ["--folder", str(tmp_path / "run")]
    small = "--generations 1 --population 1 --updates 1 --tables 4 --minibatch 8 --fitness-deals 2 --eval-deals 2"
    assert main(["bolola/queens-v0", *small.split(), *folder, "--opponents", "random"]) == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["generation"] == 1
    with pytest.raises(SystemExit):
        main(["bolola/queens-v0", *small.split(), *folder])
    assert "holds a run" in capsys.readouterr().err


def test_page(tmp_path):
    pages.run("train/agilerl.md", tmp_path)
