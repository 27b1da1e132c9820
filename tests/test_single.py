"""The Gymnasium environment of one learner."""

from __future__ import annotations

import copy
import pickle
import random
import warnings

import cloudpickle
import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import bolola_env
import tarot_env  # noqa: F401  (registers its ids)
from bolola_env.game import setup as bolola_setup
from tarot_env.game import setup as tarot_setup
from tests.helpers import fewer
from trick_core.aec import TrickAEC
from trick_core.bots import Bot
from trick_core.game import AGENTS
from trick_core.single import SingleAgentEnv

HEARTS = bolola_setup("hearts")
SETUPS = {
    "hearts": HEARTS,
    "trump": bolola_setup("trump"),
    "match": bolola_setup("match", order=["queens", "trump", "last_two"]),
    "tarot": tarot_setup(forbid_pass=True),
}


def lowest(view):
    return view.legal[0]


def highest(view):
    return view.legal[-1]


def episode(env, rng=None, seed=None, options=None):
    """Play an episode (random legal actions, or the lowest); the learner's actions and rewards."""
    env.reset(seed=seed, options=options)
    actions, rewards, terminated = [], [], False
    while not terminated:
        legal = np.flatnonzero(env.action_masks()).tolist()
        actions.append(rng.choice(legal) if rng else legal[0])
        _, reward, terminated, _, _ = env.step(actions[-1])
        rewards.append(reward)
    return actions, rewards


def contents(value):
    """A snapshot, observation or info as something that can be compared."""
    if isinstance(value, dict):
        return {key: contents(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        if value.dtype.names:
            return {name: np.asarray(value[name]).tolist() for name in value.dtype.names}
        return (value.dtype.str, value.tolist())
    return value


def same_observation(one, other):
    for key in ("observation", "action_mask"):
        np.testing.assert_array_equal(one[key], other[key], key)


def everything(env):
    snapshot = env.get_state()
    return contents(
        {
            "rows": snapshot.rows,
            "config": np.asarray(env.episode_config),
            "rest": [
                list(env.history),
                env.episode_seed,
                env.episode_number,
                env.action_masks().tolist(),
            ],
        }
    )


# ---------------------------------------------------------------------------- the interface


@pytest.mark.parametrize("name", ["bolola/hearts-v0", "bolola/match-v0", "tarot/deal-v0"])
def test_gymnasiums_checker_passes(name):
    """C1: check_env of Gymnasium, with an unmasked random action, shared data, determinism and render modes."""
    env = gymnasium.make(name, opponents="random").unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)


@pytest.mark.filterwarnings("ignore:.*MultiInputPolicy.*")
def test_stable_baselines_checker_passes():
    pytest.importorskip("stable_baselines3", reason="needs the extra trick-envs[train]")
    from stable_baselines3.common.env_checker import check_env as check_sb3

    check_sb3(SingleAgentEnv(HEARTS, seat="rotate"))


@pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS)
def test_types_of_what_reset_and_step_return(setup):
    """A24: Python bools and floats; observations and masks in their spaces, fresh, of constant dtype and shape."""
    env = SingleAgentEnv(setup, seat="rotate")
    observation, info = env.reset(seed=1)
    rng = random.Random(0)
    keys = set(info)
    for _ in range(60):
        assert env.observation_space.contains(observation)
        assert observation["observation"].dtype == observation["action_mask"].dtype == np.int8
        assert info["action_mask"].dtype == np.int8
        assert (info["action_mask"] == observation["action_mask"]).all()
        assert not np.shares_memory(info["action_mask"], observation["action_mask"])
        assert type(info["seat"]) is int and info["seat"] == env.learner_seat
        assert all(type(info[name]) is float for name in setup.game.info_names)
        assert set(info) == keys
        masks = env.action_masks()
        assert masks.dtype == np.bool_ and (masks == (observation["action_mask"] == 1)).all()
        action = rng.choice(np.flatnonzero(masks).tolist())
        observation, reward, terminated, truncated, info = env.step(action)
        assert type(reward) is float and type(terminated) is bool and truncated is False
        if terminated:
            assert not observation["action_mask"].any() and info["seat"] == env.learner_seat
            assert env.observation_space.contains(observation)
            observation, info = env.reset()


def test_masks_reach_through_the_default_wrappers():
    """A29: gymnasium.make's wrappers forward action_masks through get_wrapper_attr."""
    env = gymnasium.make("bolola_env:bolola/hearts-v0", opponents="random", seat=2)
    observation, _ = env.reset(seed=4)
    masks = env.get_wrapper_attr("action_masks")()
    assert (masks == observation["action_mask"].astype(bool)).all() and masks.any()
    env.step(env.action_space.sample(observation["action_mask"]))


# ---------------------------------------------------------------------------- rewards and history


@pytest.mark.parametrize(
    "options", [{}, {"reward": "shaped", "zero_sum": True}, {"reward": "final"}]
)
@pytest.mark.parametrize("name", ["hearts", "match", "tarot"])
def test_rewards_are_those_of_the_learners_seat_in_the_turn_based_environment(name, options):
    """Replay all seats' actions: the learner sees, and gets between two decisions, what its agent does there.

    What falls before its first decision is in its first reward; the sums agree with the deal's points (A01).
    """
    make = {
        "hearts": lambda **o: bolola_setup("hearts", **o),
        "match": lambda **o: bolola_setup("match", order=["last_two", "trump"], **o),
        "tarot": lambda **o: tarot_setup(forbid_pass=True, **o),
    }[name]
    setup = make(reward_scale=0.5, **options)
    env, replay = SingleAgentEnv(setup, seat="rotate"), TrickAEC(setup)
    rng = random.Random(1)
    for number in range(fewer(8, 2)):
        shown, rewards, terminated = [env.reset(seed=11 if number == 0 else None)[0]], [], False
        while not terminated:
            action = rng.choice(np.flatnonzero(env.action_masks()).tolist())
            observation, reward, terminated, _, _ = env.step(action)
            shown.append(observation)
            rewards.append(reward)
        replay.reset(seed=11 if number == 0 else None)
        learner = AGENTS[env.learner_seat]
        assert env.learner_seat == (11 + number) % 4
        expected: list[float] = []
        waiting = 0.0
        for action in env.history:
            if replay.agent_selection == learner:
                same_observation(shown[len(expected)], replay.observe(learner))
                expected.append(waiting)
                waiting = 0.0
            replay.step(action)
            if expected:
                expected[-1] += replay.rewards[learner]
            else:
                waiting += replay.rewards[learner]
        assert all(replay.terminations.values())
        same_observation(shown[-1], replay.observe(learner))
        assert rewards == pytest.approx(expected)
        assert contents(np.asarray(env.states)) == contents(np.asarray(replay.states))


@pytest.mark.parametrize("opponents", ["random", highest])
def test_what_falls_before_the_first_decision_is_in_the_first_reward(opponents):
    """Shaped and zero-sum: whoever wins the trick as it lies gains, so the learner loses before it acts."""
    setup = bolola_setup("no_tricks", reward="shaped", zero_sum=True)
    env = SingleAgentEnv(setup, seat=0, opponents=opponents)
    replay = TrickAEC(setup)
    early = 0.0
    for seed in range(fewer(30, 6)):
        env.reset(seed=seed)
        replay.reset(seed=seed)
        fallen = 0.0
        for action in env.history:
            replay.step(action)
            fallen += replay.rewards["player_0"]
        early += abs(fallen)
        before = len(env.history)
        _, reward, _, _, _ = env.step(int(env.action_masks().argmax()))
        for action in env.history[before:]:
            replay.step(action)
            fallen += replay.rewards["player_0"]
        assert reward == fallen
    assert early > 0


# ---------------------------------------------------------------------------- bad actions


def test_illegal_action_ends_the_episode_at_the_learners_cost():
    env = SingleAgentEnv(bolola_setup("hearts", illegal_reward=-3.5, reward_scale=2))
    env.reset(seed=1)
    illegal = int((~env.action_masks()).argmax())
    before = list(env.history)
    observation, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (-3.5, True, False)
    assert not observation["action_mask"].any() and not info["action_mask"].any()
    assert env.history == before
    with pytest.raises(ResetNeeded):
        env.step(illegal)
    env.reset()


def test_default_cost_of_an_illegal_action_is_the_largest_loss():
    env = SingleAgentEnv(bolola_setup("hearts", reward_scale=0.1))
    env.reset(seed=1)
    _, reward, terminated, _, _ = env.step(int((~env.action_masks()).argmax()))
    assert terminated and reward == pytest.approx(-0.1 * HEARTS.largest_return)


def test_illegal_action_can_raise_and_changes_nothing():
    env = SingleAgentEnv(bolola_setup("hearts", illegal_action="raise"), seat=3)
    env.reset(seed=1)
    before = everything(env)
    illegal = int((~env.action_masks()).argmax())
    with pytest.raises(
        ValueError, match=rf"seat 3: action {illegal} \(.+\) is illegal; legal are \d+ \("
    ):
        env.step(illegal)
    assert everything(env) == before
    env.step(int(env.action_masks().argmax()))


@pytest.mark.parametrize("action", [56, -1, 1.0, "QH", None, True, np.array([3]), np.float32(2)])
@pytest.mark.parametrize("illegal_action", ["terminate", "raise"])
def test_action_outside_the_space_raises_and_changes_nothing(action, illegal_action):
    env = SingleAgentEnv(bolola_setup("hearts", illegal_action=illegal_action))
    env.reset(seed=1)
    before = everything(env)
    with pytest.raises(ValueError, match=r"action: expected an integer 0\.\.55, got"):
        env.step(action)
    assert everything(env) == before


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint64, np.array])
def test_integers_of_every_kind_are_actions(kind):
    env = SingleAgentEnv(HEARTS)
    env.reset(seed=1)
    action = int(env.action_masks().argmax())
    env.step(kind(action))
    assert action in env.history


def test_step_needs_a_running_episode():
    env = SingleAgentEnv(HEARTS)
    with pytest.raises(ResetNeeded, match="call reset first"):
        env.step(0)
    episode(env, seed=0)
    with pytest.raises(ResetNeeded, match="call reset first"):
        env.step(0)


# ---------------------------------------------------------------------------- seeds and deals


def hands(env):
    """The hands as dealt, of a one-deal episode."""
    return env.setup.game.deal_text(env.states, 0)


def test_deal_k_depends_on_seed_and_k_alone():
    """Seeds rule: earlier play, opponents and global generators leave deal k and its opponents as they are."""
    one, other = SingleAgentEnv(HEARTS), SingleAgentEnv(HEARTS, opponents=highest)
    episode(one, seed=9)
    random.seed(1)
    np.random.seed(1)
    episode(other, random.Random(5), seed=9)
    other.reset(seed=9)
    other.step(int(other.action_masks().argmax()))  # deal 0 is given up
    other.reset()
    other.set_opponents("random")
    one.reset()
    assert (one.episode_seed, one.episode_number) == (9, 1)
    assert hands(one) == hands(other)
    assert episode(one) == episode(other)
    assert one.history == other.history


def test_seed_begins_the_deals_anew_and_no_seed_draws_one():
    env = SingleAgentEnv(HEARTS)
    env.reset()
    drawn = env.episode_seed
    first = hands(env)
    env.reset()
    second = hands(env)
    assert first != second
    env.reset(seed=drawn)
    assert hands(env) == first and env.episode_number == 0
    other = SingleAgentEnv(HEARTS)
    other.reset()
    assert other.episode_seed != drawn
    env.reset(seed=2**70)
    assert env.episode_seed < 2**64


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
def test_bad_seed_is_refused_and_changes_nothing(seed):
    env = SingleAgentEnv(HEARTS)
    env.reset(seed=3)
    before = everything(env)
    with pytest.raises(ValueError, match="seed: expected a non-negative integer"):
        env.reset(seed=seed)
    assert everything(env) == before


def test_rotating_learner_sits_at_seed_plus_k():
    env = SingleAgentEnv(HEARTS, seat="rotate")
    seats = []
    for k in range(6):
        _, info = env.reset(seed=6 if k == 0 else None)
        seats.append(info["seat"])
        assert env.states["seat"][0] == info["seat"]
    assert seats == [2, 3, 0, 1, 2, 3]


DEAL = "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"


def test_custom_deal_is_dealt_exactly():
    """A50: chosen hands and starter; the deal counts as a deal of the seed."""
    env = SingleAgentEnv(HEARTS, seat=2)
    env.reset(seed=5, options={"deal": DEAL, "starter": 1})
    assert hands(env) == DEAL and env.episode_custom
    assert [env.setup.game.actions[a] for a in env.history] == [
        env.setup.game.actions[env.history[0]]
    ]
    assert env.history[0] // 13 == 2  # seat 1 holds the hearts and led one
    env.reset()
    assert env.episode_number == 1 and not env.episode_custom
    plain = SingleAgentEnv(HEARTS, seat=2)
    plain.reset(seed=5)
    plain.reset()
    assert hands(env) == hands(plain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deal": DEAL.replace("N:A", "N:")}, "hand of seat 0: expected 13 cards, got 12"),
        ({"deal": DEAL.replace("N:A", "N:K")}, "KS is twice in hand of seat 0"),
        ({"starter": 4}, "starter: expected a seat 0..3"),
        ({"deal": "nonsense"}, "deal: expected N:"),
        ({"opponents": "nobody"}, "no bot 'nobody'"),
        ({"opponents": ["random"]}, "expected one bot, 3 bots"),
    ],
)
def test_bad_reset_option_is_refused_and_changes_nothing(options, message):
    env = SingleAgentEnv(HEARTS)
    env.reset(seed=3)
    before = everything(env)
    with pytest.raises(ValueError, match=message):
        env.reset(seed=8, options=options)
    assert everything(env) == before


def test_unknown_reset_option_is_ignored_with_a_warning():
    """A23."""
    env = SingleAgentEnv(HEARTS)
    with pytest.warns(UserWarning, match="the option 'deel' is ignored; known are deal"):
        env.reset(seed=1, options={"deel": 1})
    assert env.episode_number == 0


# ---------------------------------------------------------------------------- opponents


class Named(Bot):
    """Plays its lowest card and notes at which seats it was asked."""

    def __init__(self, name):
        self.name = name
        self.seats = set()

    def act(self, view):
        self.seats.add(view.seat)
        return view.legal[0]


def test_three_bots_sit_after_the_learner_in_play_order():
    """A49."""
    bots = [Named("a"), Named("b"), Named("c")]
    env = SingleAgentEnv(HEARTS, opponents=bots, seat="rotate")
    for k in range(4):
        for bot in bots:
            bot.seats.clear()
        episode(env, seed=0 if k == 0 else None)
        assert [bot.seats for bot in bots] == [{(k + 1) % 4}, {(k + 2) % 4}, {(k + 3) % 4}]


def test_bots_by_absolute_seat_stay_there():
    bots = {seat: Named(str(seat)) for seat in range(4)}
    env = SingleAgentEnv(HEARTS, opponents=bots, seat="rotate")
    for k in range(4):
        episode(env, seed=0 if k == 0 else None)
    assert [bot.seats for bot in bots.values()] == [{0}, {1}, {2}, {3}]
    three = {seat: bots[seat] for seat in (0, 2, 3)}
    episode(SingleAgentEnv(HEARTS, opponents=three, seat=1), seed=0)


@pytest.mark.parametrize(
    ("opponents", "seat", "message"),
    [
        (["random"] * 4, 0, "got 4 bots"),
        ({1: "random", 2: "random"}, 0, r"each of the seats \[1, 2, 3\], got \[1, 2\]"),
        (dict.fromkeys(range(4), "random"), 0, r"each of the seats \[1, 2, 3\]"),
        (dict.fromkeys(range(3), "random"), "rotate", r"each of the seats \[0, 1, 2, 3\]"),
        ({"player_1": "random"}, 0, "opponents: expected a seat 0..3"),
        ("random", 4, "seat: expected a seat 0..3"),
        ("random", "east", "'rotate'"),
    ],
)
def test_bad_seating_is_refused(opponents, seat, message):
    with pytest.raises(ValueError, match=message):
        SingleAgentEnv(HEARTS, opponents=opponents, seat=seat)


def test_opponents_change_between_episodes_and_not_within_one():
    """A49: swapped without rebuilding; jitted and Python bots in turn."""
    env = SingleAgentEnv(HEARTS, opponents="random")
    expected = {bot: SingleAgentEnv(HEARTS, opponents=bot) for bot in ("random", lowest)}
    before = episode(expected["random"], seed=2)
    env.reset(seed=2)
    env.step(before[0][0])
    env.set_opponents(lowest)
    for action in before[0][1:]:
        env.step(action)
    assert env.history == expected["random"].history
    assert episode(env, seed=2) == episode(expected[lowest], seed=2)
    assert episode(env, seed=2, options={"opponents": "random"}) == before
    assert episode(env, seed=2) == before  # from now on
    with pytest.raises(ValueError, match="no bot"):
        env.set_opponents("nobody")
    assert episode(env, seed=2) == before


def test_failing_bot_leaves_everything_as_it_was():
    """An error out of a bot's code, in the middle of a step or of reset: the state is untouched, play can go on."""

    class Fragile(Bot):
        name = "fragile"
        calls_left = 10**9

        def act(self, view):
            self.calls_left -= 1
            if self.calls_left < 0:
                raise RuntimeError("out of memory")
            return view.legal[0]

    bot = Fragile()
    env = SingleAgentEnv(HEARTS, opponents=[lowest, "random", bot])
    undisturbed = SingleAgentEnv(HEARTS, opponents=[lowest, "random", lowest])
    env.reset(seed=4)
    undisturbed.reset(seed=4)
    for _ in range(13):
        before = everything(env)
        action = int(env.action_masks().argmax())
        bot.calls_left = 0
        try:
            env.step(action)
        except RuntimeError:
            assert everything(env) == before
            with pytest.raises(RuntimeError):
                env.reset(seed=5, options={"opponents": bot, "starter": 1})
            assert everything(env) == before
            bot.calls_left = 10**9
            env.step(action)
        undisturbed.step(action)
        assert env.history == undisturbed.history


# ---------------------------------------------------------------------------- rendering


def test_rendering_shows_the_learners_view_only(capsys):
    """A44: ansi returns the text, human prints it, None warns; other hands do not show."""
    env = SingleAgentEnv(HEARTS, render_mode="ansi", seat=1)
    env.reset(seed=0, options={"deal": DEAL, "starter": 1})
    text = env.render()
    swapped = DEAL.split()
    swapped[2], swapped[3] = swapped[3], swapped[2]
    env.reset(seed=0, options={"deal": " ".join(swapped), "starter": 1})
    assert isinstance(text, str) and env.render() == text
    assert capsys.readouterr().out == ""
    human = SingleAgentEnv(HEARTS, render_mode="human", seat=1)
    human.reset(seed=0, options={"deal": DEAL, "starter": 1})
    assert human.render() is None
    assert capsys.readouterr().out.count(text) == 2
    silent = SingleAgentEnv(HEARTS)
    silent.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert silent.render() is None
    assert capsys.readouterr().out == ""
    with pytest.raises(ValueError, match="render_mode: expected one of"):
        SingleAgentEnv(HEARTS, render_mode="rgb_array")


# ---------------------------------------------------------------------------- copies

COPIES = {
    "clone": lambda env: env.clone(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "cloudpickle": lambda env: pickle.loads(cloudpickle.dumps(env)),
}


@pytest.mark.parametrize("how", COPIES)
def test_copies_have_spaces_of_their_own(how):
    env = SingleAgentEnv(HEARTS)
    twin = COPIES[how](env)
    for name in ("action_space", "observation_space", "metadata"):
        own, other = getattr(twin, name), getattr(env, name)
        assert own == other and own is not other, name


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", SETUPS)
def test_copies_go_on_alike_and_apart(how, name):
    """A47, A58: a copy in mid-episode plays on as the original, with jitted and Python opponents, and independently."""
    env = SingleAgentEnv(SETUPS[name], opponents=["random", lowest, "random"], seat="rotate")
    rng = random.Random(3)
    env.reset(seed=13)
    for _ in range(4):
        env.step(rng.choice(np.flatnonzero(env.action_masks()).tolist()))
    twin = COPIES[how](env)
    here = everything(env)
    assert everything(twin) == here
    played = []
    for each in (twin, env):
        rng = random.Random(4)
        steps = []
        for _ in range(30):
            action = rng.choice(np.flatnonzero(each.action_masks()).tolist())
            step = each.step(action)
            steps.append(contents(list(map(contents, step))))
            if step[2]:
                steps.append(contents(each.reset()[0]))
        played.append((steps, everything(each)))
        if each is twin:
            assert everything(env) == here
    assert played[0] == played[1]


def test_state_can_be_set_again_here_and_elsewhere():
    """A47: get_state / set_state, also after a custom deal and in another environment of the same contract."""
    env = SingleAgentEnv(HEARTS, opponents=["random", lowest, "random"], seat=1)
    env.reset(seed=2, options={"deal": DEAL, "starter": 0})
    env.step(int(env.action_masks().argmax()))
    snapshot = pickle.loads(pickle.dumps(env.get_state()))
    here = everything(env)
    rest = [env.step(int(env.action_masks().argmax()))[1] for _ in range(12)]
    env.set_state(snapshot)
    assert everything(env) == here
    assert [env.step(int(env.action_masks().argmax()))[1] for _ in range(12)] == rest
    other = SingleAgentEnv(HEARTS, opponents=["random", lowest, "random"], seat=1)
    other.set_state(snapshot)
    assert [other.step(int(other.action_masks().argmax()))[1] for _ in range(12)] == rest
    with pytest.raises(ValueError, match="the learner sits at 1 in the snapshot, at 0 here"):
        SingleAgentEnv(HEARTS).set_state(snapshot)
    with pytest.raises(ValueError, match="expected a snapshot of bolola_trump_v0"):
        SingleAgentEnv(SETUPS["trump"], seat=1).set_state(snapshot)
    with pytest.raises(TypeError, match="expected what get_state gave"):
        env.set_state(3)


def test_state_keeps_the_opponents_of_the_environment_it_is_set_in():
    env = SingleAgentEnv(HEARTS, opponents=highest)
    env.reset(seed=2)
    snapshot = env.get_state()
    other = SingleAgentEnv(HEARTS, opponents=lowest)
    other.set_state(snapshot)
    fresh = len(other.history)
    other.step(int(other.action_masks().argmax()))
    moves = other.history[fresh + 1 :]
    table = TrickAEC(HEARTS)
    table.reset(seed=2)
    for action in other.history[: fresh + 1]:
        table.step(action)
    for action in moves:
        mask = table.observe(table.agent_selection)["action_mask"]
        assert action == int(mask.argmax())
        table.step(action)


# ---------------------------------------------------------------------------- with other libraries


def masked_env():
    """A constructor that a spawned process can import."""
    return bolola_env.single_env("hearts", seat="rotate", illegal_action="raise")


@pytest.mark.long
def test_maskable_ppo_learns_over_spawned_processes():
    """A30, C4: SubprocVecEnv, spawn, 2,048 steps; an illegal action would raise in its process."""
    pytest.importorskip("sb3_contrib", reason="needs the extra trick-envs[train]")
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import SubprocVecEnv

    envs = SubprocVecEnv([masked_env] * 4, start_method="spawn")
    try:
        model = MaskablePPO(
            "MultiInputPolicy", envs, n_steps=128, batch_size=128, n_epochs=1, seed=0
        )
        model.learn(2048)
        assert model.num_timesteps == 2048
    finally:
        envs.close()


def test_maskable_ppo_trains_evaluates_and_predicts_with_masks():
    """A32: masks in training, in the maskable evaluation and in predict; an illegal action would raise."""
    pytest.importorskip("sb3_contrib", reason="needs the extra trick-envs[train]")
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.evaluation import evaluate_policy

    model = MaskablePPO(
        "MultiInputPolicy", masked_env(), n_steps=64, batch_size=64, n_epochs=1, seed=0
    )
    model.learn(fewer(128, 64))
    evaluate_policy(model, model.get_env(), n_eval_episodes=2)
    env = masked_env()
    observation, _ = env.reset(seed=1)
    for _ in range(13):
        action, _ = model.predict(observation, action_masks=env.action_masks())
        observation, _, terminated, _, _ = env.step(action)
    assert terminated
