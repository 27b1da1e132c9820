"""The native vector environment of one learner a table, against Gymnasium's own over single environments."""

from __future__ import annotations

import copy
import pickle
import random
import sys
import warnings

import cloudpickle
import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import bolola_env  # noqa: F401  (registers its ids)
from bolola_env.game import setup as bolola_setup
from tarot_env.game import setup as tarot_setup
from tests.helpers import fewer
from trick_core.batch import BotError
from trick_core.bits import words_to_bits
from trick_core.bots import Bot
from trick_core.jit import JIT
from trick_core.learner import LearnerVectorEnv
from trick_core.single import SingleAgentEnv
from trick_core.vector import VectorEnv

HEARTS = bolola_setup("hearts")
SETUPS = {
    "hearts": HEARTS,
    "shaped match": bolola_setup(
        "match", order=["trump", "last_two"], reward="shaped", zero_sum=True
    ),
    "tarot": tarot_setup(),
}
MODES = list(AutoresetMode)
DEAL = "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"


def lowest(view):
    return view.legal[0]


def highest(observation, action_mask):
    return int(np.flatnonzero(action_mask)[-1])


OPPONENTS = {
    "random": "random",
    "Python": lowest,
    "mixed": [highest, "random", lowest],
    "by seat": {0: "random", 1: lowest, 2: highest, 3: "random"},
}


def same(one, other, where=""):
    """Both sides have equal structure, dtypes, shapes and values."""
    assert type(one) is type(other), where
    if isinstance(one, dict):
        assert set(one) == set(other), where
        for key in one:
            same(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype and one.shape == other.shape, where
        if one.dtype == object:
            for i, (mine, yours) in enumerate(zip(one, other, strict=True)):
                same(mine, yours, f"{where}[{i}]")
        else:
            np.testing.assert_array_equal(one, other, where)
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other), where
        for i, (mine, yours) in enumerate(zip(one, other, strict=True)):
            same(mine, yours, f"{where}[{i}]")
    else:
        assert one == other, where


def choose(mask, rng, illegal=0.0):
    """Random legal actions, now and then an illegal one; 0 where there is none."""
    actions = np.zeros(len(mask), np.int64)
    for i, row in enumerate(mask):
        legal, others = np.flatnonzero(row), np.flatnonzero(row == 0)
        if len(legal):
            actions[i] = rng.choice(others if rng.random() < illegal else legal)
    return actions


def pair(setup, count, opponents="random", seat=0, mode=AutoresetMode.NEXT_STEP):
    """The native environment and Gymnasium's over as many single ones."""
    native = LearnerVectorEnv(setup, count, opponents, seat, autoreset_mode=mode)
    single = SyncVectorEnv(
        [lambda: SingleAgentEnv(setup, opponents=opponents, seat=seat)] * count,
        autoreset_mode=mode,
    )
    return native, single


# ---------------------------------------------------------------------------- equality with SyncVectorEnv


@pytest.mark.parametrize("mode", MODES, ids=[mode.name for mode in MODES])
@pytest.mark.parametrize("opponents", ["random", "mixed"])
@pytest.mark.parametrize("name", SETUPS)
def test_equals_gymnasiums_vector_environment(name, opponents, mode):
    """A22, A42, C1: observations, rewards, flags and infos, in every autoreset mode, with rotating learners.

    Some actions are illegal, so that episodes end at different times in the rows.
    """
    native, single = pair(SETUPS[name], 5, OPPONENTS[opponents], "rotate", mode)
    rng = np.random.default_rng(1)
    same(native.reset(seed=3), single.reset(seed=3))
    over = np.zeros(5, bool)
    ended = 0
    for _ in range(fewer(120, 16)):
        if mode == AutoresetMode.DISABLED and over.any():
            same(
                native.reset(options={"reset_mask": over}),
                single.reset(options={"reset_mask": over}),
            )
        actions = choose(native.action_masks(), rng, 0.02)
        here, there = native.step(actions), single.step(actions)
        same(here, there)
        over = here[2]
        ended += int(over.sum())
    assert ended >= fewer(8, 1)


@pytest.mark.parametrize("seat", [0, 3, "rotate"])
@pytest.mark.parametrize("opponents", OPPONENTS)
def test_equals_gymnasiums_for_every_seating(opponents, seat):
    """A49: one bot, three, and bots by seat; jitted, Python and mixed."""
    bots = OPPONENTS[opponents]
    if isinstance(bots, dict) and seat != "rotate":
        bots = {key: bot for key, bot in bots.items() if key != seat}
    native, single = pair(HEARTS, 3, bots, seat)
    rng = np.random.default_rng(2)
    same(native.reset(seed=8), single.reset(seed=8))
    for _ in range(fewer(60, 16)):
        actions = choose(native.action_masks(), rng)
        same(native.step(actions), single.step(actions))


def test_equals_gymnasiums_for_custom_deals_and_changed_opponents():
    """A50: reset options reach every row alike, and rows reset by a mask only those."""
    native, single = pair(HEARTS, 3, lowest, 1, AutoresetMode.DISABLED)
    options = {"deal": DEAL, "starter": 2}
    same(native.reset(seed=1, options=options), single.reset(seed=1, options=options))
    rng = np.random.default_rng(3)
    for _ in range(4):
        actions = choose(native.action_masks(), rng)
        same(native.step(actions), single.step(actions))
    rows = np.array([True, False, True])
    for k in range(2):
        change = {"reset_mask": rows, "opponents": highest if k == 0 else "random", "starter": 3}
        kept = dict(change)
        same(
            native.reset(seed=[5, 6, None], options=change),
            single.reset(seed=[5, 6, None], options=kept),
        )
        assert "reset_mask" in change, "the caller's dict is left alone"
        for _ in range(4):
            actions = choose(native.action_masks(), rng)
            same(native.step(actions), single.step(actions))


# ---------------------------------------------------------------------------- seeds


def test_row_i_is_the_environment_seeded_with_s_plus_i():
    """A22: the same twice, the rows differ, a list seeds them one by one."""
    env = LearnerVectorEnv(HEARTS, 4)
    first, _ = env.reset(seed=5)
    again, _ = env.reset(seed=5)
    same(first, again)
    assert len({row.tobytes() for row in first["observation"]}) == 4
    listed, _ = env.reset(seed=[8, 7, 6, 5])
    same(listed["observation"][::-1], first["observation"])
    shifted, _ = env.reset(seed=6)
    same(shifted["observation"][:3], first["observation"][1:])
    other, _ = LearnerVectorEnv(HEARTS, 4).reset()
    assert (other["observation"] != first["observation"]).any()


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        ([1, 2], "expected 4 seeds"),
        (-1, "non-negative"),
        ("x", "seed: expected"),
        (np.array(3), "seed: expected an integer, None, or 4 of them"),
    ],
)
def test_bad_seeds_are_refused(seed, message):
    with pytest.raises(ValueError, match=message):
        LearnerVectorEnv(HEARTS, 4).reset(seed=seed)


# ---------------------------------------------------------------------------- bad actions and bots


def rows_of(env):
    """All that the tables are, field by field (padding between fields is of no meaning)."""
    rows = {}
    for name, array in env._batch.snapshot().items():
        for field in array.dtype.names or [None]:
            rows[name, field] = (array if field is None else array[field]).tolist()
    return rows


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 0], r"\(3,\)"),
        ([[0], [0], [0]], r"\(3,\)"),
        ([0.0, 0.0, 0.0], "float64"),
        (None, "actions"),
        ([[1], [2, 3]], r"^actions: expected 3 integers, one a row; got \[\[1\], \[2, 3\]\]"),
    ],
)
def test_actions_of_a_wrong_shape_or_dtype_are_refused(actions, message):
    env = LearnerVectorEnv(HEARTS, 3)
    env.reset(seed=1)
    before = rows_of(env)
    with pytest.raises((ValueError, TypeError), match=message):
        env.step(actions)
    assert rows_of(env) == before


@pytest.mark.parametrize("bad", [56, -1, 10**9])
def test_action_outside_the_space_names_the_row(bad):
    env = LearnerVectorEnv(HEARTS, 3, seat=2)
    env.reset(seed=1)
    before = rows_of(env)
    actions = env.sample_actions()
    actions[1] = bad
    with pytest.raises(ValueError, match=rf"row 1, seat 2: action {bad} is outside"):
        env.step(actions)
    assert rows_of(env) == before


def test_illegal_action_ends_its_row_or_raises_for_the_whole_batch():
    env = LearnerVectorEnv(HEARTS, 3)
    env.reset(seed=1)
    actions = env.sample_actions()
    actions[2] = int((~env.action_masks()[2]).argmax())
    _, rewards, terminations, truncations, _ = env.step(actions)
    assert terminations.tolist() == [False, False, True] and not truncations.any()
    assert rewards[2] == -HEARTS.largest_return
    strict = LearnerVectorEnv(bolola_setup("hearts", illegal_action="raise"), 3)
    strict.reset(seed=1)
    before = rows_of(strict)
    with pytest.raises(ValueError, match=r"row 2, seat 0: action \d+ \(.+\) is illegal; legal are"):
        strict.step(actions)
    assert rows_of(strict) == before


def test_step_needs_rows_that_are_not_over():
    env = LearnerVectorEnv(HEARTS, 2, autoreset_mode=AutoresetMode.DISABLED)
    with pytest.raises(ResetNeeded):
        env.step([0, 0])
    env.reset(seed=0)
    for _ in range(13):
        env.step(env.sample_actions())
    with pytest.raises(ResetNeeded, match="row 0 is over"):
        env.step([0, 0])
    with pytest.raises(ValueError, match="no row is True"):
        env.reset(options={"reset_mask": np.zeros(2, bool)})
    with pytest.raises(TypeError, match="bool array"):
        env.reset(options={"reset_mask": [True, True]})


class Fragile(Bot):
    """Plays its lowest card until told to fail, in either of two ways."""

    name = "fragile"
    fails = ""

    def act_batch(self, views):
        if self.fails == "raises":
            raise RuntimeError("out of memory")
        if self.fails == "cheats":
            return views["action_mask"].argmin(1)
        return views["action_mask"].argmax(1)


@pytest.mark.parametrize("mode", MODES, ids=[mode.name for mode in MODES])
def test_failing_bot_leaves_all_rows_as_they_were(mode):
    bot = Fragile()
    env = LearnerVectorEnv(HEARTS, 4, ["random", bot, "random"], "rotate", autoreset_mode=mode)
    env.reset(seed=1)
    for _ in range(6):
        actions = env.sample_actions()
        before, samples = rows_of(env), env.get_state().samples.tolist()
        for bot.fails in ("raises", "cheats"):
            with pytest.raises((RuntimeError, ValueError), match=r"out of memory|bot 'fragile' at"):
                env.step(actions)
            with pytest.raises((RuntimeError, ValueError), match=r"out of memory|bot 'fragile' at"):
                env.reset(seed=77, options={"starter": 0, "opponents": bot})
        bot.fails = ""
        assert rows_of(env) == before and env.get_state().samples.tolist() == samples
        env.step(actions)


# ---------------------------------------------------------------------------- options of the environment


def test_packed_observations_are_the_same_bits():
    """Both forms, and final observations in both."""
    mode = AutoresetMode.SAME_STEP
    plain = LearnerVectorEnv(HEARTS, 4, lowest, "rotate", autoreset_mode=mode)
    packed = LearnerVectorEnv(
        HEARTS, 4, lowest, "rotate", observation="packed", autoreset_mode=mode
    )
    here, there = plain.reset(seed=1)[0], packed.reset(seed=1)[0]
    size = HEARTS.game.layout.size
    for _ in range(30):
        assert packed.observation_space.contains(there) and plain.observation_space.contains(here)
        same(here["observation"], words_to_bits(there["observation"], size))
        same(here["action_mask"], there["action_mask"])
        actions = plain.sample_actions()
        here, *_, info = plain.step(actions)
        there, *_, packed_info = packed.step(actions)
        if "final_obs" in info:
            for mine, yours in zip(info["final_obs"], packed_info["final_obs"], strict=True):
                assert (mine is None) == (yours is None)
                if mine is not None:
                    same(mine["observation"], words_to_bits(yours["observation"], size))


@pytest.mark.parametrize("opponents", ["random", "mixed"])
def test_number_of_threads_changes_nothing(opponents):
    one = LearnerVectorEnv(HEARTS, 7, OPPONENTS[opponents], "rotate")
    two = LearnerVectorEnv(HEARTS, 7, OPPONENTS[opponents], "rotate", num_threads=3)
    same(one.reset(seed=1), two.reset(seed=1))
    for _ in range(40):
        actions = one.sample_actions()
        same(one.step(actions), two.step(actions))


def test_copies_are_the_callers_and_live_buffers_are_not():
    copied, live = LearnerVectorEnv(HEARTS, 3), LearnerVectorEnv(HEARTS, 3, copy=False)
    first, info = copied.reset(seed=1)
    kept = {key: value.copy() for key, value in first.items()}
    mask, shown = info["action_mask"].copy(), live.reset(seed=1)[0]["observation"]
    actions = copied.sample_actions()
    second = copied.step(actions)[0]
    same(first, kept)
    same(info["action_mask"], mask)
    after = live.step(actions)[0]["observation"]
    assert after is shown or np.shares_memory(after, shown)
    same(after, second["observation"])


def test_masks_come_as_one_array():
    """A33: (N, A) masks, bool from action_masks() and int8 in observation and info."""
    env = LearnerVectorEnv(HEARTS, 6)
    observation, info = env.reset(seed=2)
    masks = env.action_masks()
    assert masks.shape == (6, 56) and masks.dtype == np.bool_
    assert (masks == (observation["action_mask"] == 1)).all()
    assert (masks == (info["action_mask"] == 1)).all() and info["_action_mask"].all()


@pytest.mark.skipif(
    not JIT, reason="uncompiled kernels are Python functions, called for every table"
)
def test_a_step_calls_as_many_functions_whatever_the_number_of_tables():
    """A33: no Python loop over environments."""

    def calls(count):
        env = LearnerVectorEnv(HEARTS, count, copy=False)
        env.reset(seed=0)
        actions = env.sample_actions()
        env.step(actions)
        actions, seen = env.sample_actions(), []
        sys.setprofile(lambda frame, event, argument: seen.append(event))
        try:
            env.step(actions)
        finally:
            sys.setprofile(None)
        return len(seen)

    assert calls(8) == calls(fewer(512, 32))


def test_a_python_bot_is_asked_once_a_round_for_all_tables():
    """As often in a step as the table with the most decisions of its bots needs, not once a table or seat."""
    asked = []

    class Counting(Bot):
        name = "counting"

        def act_batch(self, views):
            asked.append(len(views.seats))
            return views["action_mask"].argmax(1)

    env = LearnerVectorEnv(HEARTS, 50, Counting(), render_mode="ansi")
    env.reset(seed=4)
    several = 0
    for _ in range(12):
        before = [len(env._history(i)) for i in range(50)]
        asked.clear()
        env.step(env.sample_actions())
        decisions = [len(env._history(i)) - before[i] - 1 for i in range(50)]
        assert len(asked) == max(decisions) and sum(asked) == sum(decisions)
        several += min(decisions) < max(decisions)
    assert several


def test_new_opponents_play_from_each_rows_next_episode_on():
    """Swapped under autoreset: rows in mid-episode finish with their old opponents."""
    asked = set()

    class Noting(Bot):
        name = "noting"

        def act_batch(self, views):
            asked.update(views.randoms.tolist())
            return views["action_mask"].argmax(1)

    env = LearnerVectorEnv(HEARTS, 4, "random")
    expected = LearnerVectorEnv(HEARTS, 4, "random")
    env.reset(seed=1)
    expected.reset(seed=1)
    for _ in range(3):
        actions = env.sample_actions()
        env.step(actions)
        expected.step(actions)
    env.set_opponents(Noting())
    while True:
        actions = env.sample_actions()
        here, there = env.step(actions), expected.step(actions)
        same(here, there)
        assert not asked
        if here[2].all():
            break
    for _ in range(3):
        env.step(env.sample_actions())
    assert asked
    env.set_opponents("random")
    env.reset(seed=1)
    expected.reset(seed=1)
    asked.clear()
    for _ in range(20):
        actions = env.sample_actions()
        same(env.step(actions), expected.step(actions))
    assert not asked


COPIES = {
    "clone": lambda env: env.clone(),
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "cloudpickle": lambda env: pickle.loads(cloudpickle.dumps(env)),
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("mode", MODES, ids=[mode.name for mode in MODES])
def test_copies_go_on_alike(how, mode):
    """A58, A47: with jitted and Python opponents, in mid-episode."""
    env = LearnerVectorEnv(HEARTS, 4, ["random", lowest, "random"], "rotate", autoreset_mode=mode)
    env.reset(seed=3)
    for _ in range(5):
        env.step(env.sample_actions())
    twin = COPIES[how](env)
    state = env.get_state()
    steps = [[each.step(each.sample_actions()) for _ in range(7)] for each in (env, twin)]
    same(steps[0], steps[1])
    env.set_state(state)
    same([env.step(env.sample_actions()) for _ in range(7)], steps[0])
    other = LearnerVectorEnv(HEARTS, 4, seat=2, autoreset_mode=mode)
    with pytest.raises(ValueError, match="the learner sits at"):
        other.set_state(state)
    with pytest.raises(ValueError, match="with num_envs=3; got one with num_envs=4"):
        LearnerVectorEnv(HEARTS, 3, seat=2, autoreset_mode=mode).set_state(state)


def test_snapshots_of_other_environments():
    """Tables without learners, other options and tables that keep no actions: refused, and nothing is changed."""
    env = LearnerVectorEnv(HEARTS, 2, autoreset_mode="SAME_STEP")
    every_seat = VectorEnv(HEARTS, 2)
    for each in (env, every_seat):
        each.reset(seed=3)
        each.step(each.sample_actions())
    early = LearnerVectorEnv(bolola_setup("hearts", early_stop=True), 2, autoreset_mode="SAME_STEP")
    shown = LearnerVectorEnv(HEARTS, 2, autoreset_mode="SAME_STEP", render_mode="ansi")
    for target, source, message in (
        (env, every_seat, "with class=LearnerVectorEnv; got one with class=VectorEnv"),
        (every_seat, env, "with class=VectorEnv; got one with class=LearnerVectorEnv"),
        (env, early, "bolola_hearts_v0 with the same options"),
        (env, shown, "with render_mode=None; got one with render_mode=ansi"),
    ):
        twin = target.clone()
        with pytest.raises(ValueError, match=f"set_state: expected a snapshot of .*{message}"):
            target.set_state(source.get_state())
        for _ in range(60):
            same(target.step(target.sample_actions()), twin.step(twin.sample_actions()))


def test_rendering_shows_each_learners_view():
    env = LearnerVectorEnv(HEARTS, 2, seat="rotate", render_mode="ansi")
    env.reset(seed=1)
    env.step(env.sample_actions())
    frames = env.render()
    singles = []
    for i in range(2):
        single = SingleAgentEnv(HEARTS, seat="rotate", render_mode="ansi")
        single.reset(seed=1 + i)
        for action in env._history(i):
            if single.states["seat"][0] == single.learner_seat and action not in single.history:
                single.step(action)
        singles.append(single.render())
    assert list(frames) == singles
    with pytest.warns(UserWarning, match="render_mode=None"):
        assert LearnerVectorEnv(HEARTS, 2).render() is None


# ---------------------------------------------------------------------------- through Gymnasium's registry


def test_make_vec_gives_the_native_environment_without_a_warning():
    """A42, A43: keywords arrive, the autoreset mode is declared; the sync form yields the same deals."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make_vec(
            "bolola_env:bolola/trump-v0",
            num_envs=3,
            opponents=lowest,
            seat="rotate",
            render_mode="ansi",
            autoreset_mode=AutoresetMode.SAME_STEP,
        )
        sync = gymnasium.make_vec(
            "bolola_env:bolola/trump-v0",
            num_envs=3,
            vectorization_mode="sync",
            opponents=lowest,
            seat="rotate",
            vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        )
        assert isinstance(env.unwrapped, LearnerVectorEnv) and isinstance(sync, SyncVectorEnv)
        assert (env.num_envs, env.render_mode) == (3, "ansi")
        assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        same(env.reset(seed=6), sync.reset(seed=6))
        rng = np.random.default_rng(0)
        for _ in range(30):
            actions = choose(env.unwrapped.action_masks(), rng)
            same(env.step(actions), sync.step(actions))
        default = gymnasium.make_vec("bolola/hearts-v0", num_envs=8)
        assert default.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


def test_spaces_are_gymnasiums_batches():
    native, single = pair(HEARTS, 3)
    assert native.single_observation_space == single.single_observation_space
    assert native.observation_space == single.observation_space
    assert native.action_space == single.action_space
    native.close()
    native.close()


def test_masked_samples_of_the_batched_action_space_are_legal():
    """C1: MultiDiscrete samples with a tuple of masks."""
    env = LearnerVectorEnv(bolola_setup("hearts", illegal_action="raise"), 3)
    env.reset(seed=1)
    for _ in range(20):
        masks = env.action_masks().astype(np.int8)
        env.step(env.action_space.sample(mask=tuple(masks)))


def test_deals_do_not_depend_on_the_policy():
    """Seeds rule under autoreset: row i's deal k is the same however the rows were played."""
    one, other = LearnerVectorEnv(HEARTS, 2, lowest), LearnerVectorEnv(HEARTS, 2, "random")
    one.reset(seed=4)
    other.reset(seed=4)
    rng = random.Random(0)
    for _ in range(28):  # two episodes and the steps that begin the next
        one.step(one.sample_actions())
        other.step([rng.choice(np.flatnonzero(m).tolist() or [0]) for m in other.action_masks()])
    deals = [
        [HEARTS.game.deal_text(env._batch.buffers.states, i) for i in range(2)]
        for env in (one, other)
    ]
    assert deals[0] == deals[1]


def test_refused_reset_after_new_opponents_leaves_running_episodes_alone():
    """Opponents wait for the next episodes; a reset that is refused for another reason does not seat them early."""
    env, expected = (LearnerVectorEnv(HEARTS, 3, "random") for _ in range(2))
    env.reset(seed=1)
    expected.reset(seed=1)
    env.set_opponents(lowest)
    for bad in ({"seed": -1}, {"options": {"starter": 9}}, {"options": {"opponents": "nobody"}}):
        with pytest.raises(ValueError, match=r"seed|starter|nobody"):
            env.reset(**bad)
    for _ in range(13):
        actions = env.sample_actions()
        same(env.step(actions), expected.step(actions))


@pytest.mark.parametrize("asked", [True, False], ids=["asked", "compiled"])
@pytest.mark.parametrize("before", [3, None], ids=["seeded", "new"])
def test_refused_reset_leaves_the_generator_alone(before, asked, monkeypatch):
    env = LearnerVectorEnv(HEARTS, 3, ["random", lowest if asked else "random", "greedy"], "rotate")

    def failing(*arguments):
        raise BotError("the bot fails")

    if before is not None:
        env.reset(seed=before)
    expected = pickle.loads(pickle.dumps(env._np_random))
    seed = env._np_random_seed
    monkeypatch.setattr(env._seating, "play_others", failing)
    with pytest.raises(BotError):
        env.reset(seed=77)
    assert env._np_random_seed == seed
    if before is None:
        assert env._np_random is None
    else:
        assert env.np_random.random() == expected.random()
    monkeypatch.undo()
    env.reset(seed=77)
    assert env.np_random_seed == 77


@pytest.mark.parametrize("how", [copy.copy, lambda env: env.clone()], ids=["copy", "clone"])
@pytest.mark.parametrize("kind", [LearnerVectorEnv, VectorEnv])
def test_copies_have_spaces_and_a_generator_of_their_own(kind, how):
    env = kind(HEARTS, 3)
    env.reset(seed=3)
    assert env.observation_space is env.observation_space  # made when asked for
    twin = how(env)
    assert type(twin) is kind and twin.np_random_seed == 3
    expected = pickle.loads(pickle.dumps(env.np_random)).random(4).tolist()
    assert twin.np_random.random(4).tolist() == expected
    assert env.np_random.random(4).tolist() == expected
    parts = ("single_action_space", "action_space", "single_observation_space")
    for name in (*parts, "observation_space", "state_space", "metadata"):
        own, other = getattr(twin, name), getattr(env, name)
        assert own == other and own is not other, name
    before = rows_of(env)
    twin.step(twin.sample_actions())
    assert rows_of(env) == before
