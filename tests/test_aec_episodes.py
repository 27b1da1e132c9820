"""The turn-based environment's deals: seeds, custom deals, copies."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from typing import Any

import cloudpickle
import numba
import numpy as np
import pytest

import bolola_env
from tests.aec_play import (
    HOUSE_RULE,
    VARIANTS,
    at_random,
    finish,
    hands,
    lowest,
    moment,
    play,
    trace,
)
from trick_core.aec import AECSnapshot, TrickAEC
from trick_core.drivers import table_drivers
from trick_core.game import AGENTS
from trick_core.jit import JIT

DEAL = "N:AKQJ.432.T98.765 T98.AKQ.765.JT98 765.JT9.AKQJ.432 432.8765.432.AKQ"


def deals(env: Any, count: int) -> list[Any]:
    """Hands and starter of the next deals."""
    seen = []
    for _ in range(count):
        env.reset()
        seen.append((hands(env), env.agent_selection))
    return seen


# ------------------------------------------------------------------ seeds


@pytest.mark.parametrize("contract", ["hearts", "match"])
def test_deal_k_depends_on_the_seed_and_k_alone(contract: str) -> None:
    """Not on how earlier deals were played, or whether at all."""
    played, idle = bolola_env.env(contract), bolola_env.env(contract, reward="final")
    played.reset(seed=21)
    idle.reset(seed=21)
    for k in range(6):
        assert (hands(played), played.agent_selection) == (hands(idle), idle.agent_selection)
        assert played.episode_number == idle.episode_number == k
        play(played, 11 * k, at_random(k))
        played.reset()
        idle.reset()
    assert len({str(deal) for deal in deals(idle, 50)}) == 50


def test_later_deals_of_a_match_depend_on_the_seed_alone() -> None:
    one, other = bolola_env.env("match"), bolola_env.env("match")
    one.reset(seed=5)
    other.reset(seed=5)
    for number in range(1, 4):
        while one.states[0]["deal"] < number:
            play(one, 1)
        while other.states[0]["deal"] < number:
            play(other, 1, at_random(number))
        assert hands(one) == hands(other)
        assert one.agent_selection == other.agent_selection


def test_a_seed_begins_its_deals_anew() -> None:
    env = bolola_env.env("hearts")
    env.reset(seed=21)
    first = [(hands(env), env.agent_selection), *deals(env, 3)]
    env.reset(seed=22)
    assert (hands(env), env.agent_selection) not in first
    env.reset(seed=21)
    assert [(hands(env), env.agent_selection), *deals(env, 3)] == first


def test_a_custom_deal_counts_as_a_deal() -> None:
    plain, custom = bolola_env.env("hearts"), bolola_env.env("hearts")
    plain.reset(seed=21)
    custom.reset(seed=21)
    expected = deals(plain, 3)
    custom.reset(options={"deal": DEAL})
    assert custom.episode_number == 1 and custom.episode_custom
    assert deals(custom, 2) == expected[1:]
    assert not custom.episode_custom


def test_without_a_seed_every_environment_has_deals_of_its_own() -> None:
    one, other = bolola_env.env("hearts"), bolola_env.env("hearts")
    assert deals(one, 3) != deals(other, 3)
    assert one.episode_seed != other.episode_seed
    seed = one.episode_seed
    again = bolola_env.env("hearts")
    again.reset(seed=seed)
    deals(again, 2)
    assert hands(again) == hands(one)


@pytest.mark.parametrize("seed", [-1, 1.0, "7", True, np.float64(3), [1]])
def test_a_seed_is_a_non_negative_integer(seed: Any) -> None:
    env = bolola_env.env("hearts")
    env.reset(seed=4)
    play(env, 9)
    before = moment(env)
    with pytest.raises(ValueError, match="seed: expected a non-negative integer, got"):
        env.reset(seed=seed)
    assert moment(env) == before


def test_seeds_may_be_numpy_integers_and_of_any_size() -> None:
    env = bolola_env.env("hearts")
    seen = []
    for seed in (7, np.int32(7), np.uint64(7), 2**63, 2**64 - 1, 2**64, 2**64 + 7, 10**50):
        env.reset(seed=seed)
        seen.append(str(hands(env)))
    assert seen[0] == seen[1] == seen[2]
    assert len(set(seen)) == 6


def test_two_processes_play_the_same_games() -> None:
    """A19: byte-identical trajectories for the same seed and policy."""
    program = (
        "import hashlib, bolola_env\n"
        "from tests.aec_play import at_random, trace\n"
        "for contract in ('hearts', 'trump', 'match'):\n"
        "    env = bolola_env.env(contract); env.reset(seed=7)\n"
        "    print(hashlib.sha256(repr(trace(env, at_random(7))).encode()).hexdigest())\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert outputs[0] == outputs[1] and len(outputs[0].split()) == 3


def test_the_users_own_random_numbers_change_nothing() -> None:
    """A20, A21: ``random``, ``np.random`` and a jitted function that seeds Numba's generator."""

    @numba.njit
    def disturb() -> float:
        np.random.seed(0)
        return np.random.random()

    quiet, noisy = bolola_env.env("trump"), bolola_env.env("trump")
    quiet.reset(seed=3)
    noisy.reset(seed=3)
    for _ in range(4):
        assert hands(quiet) == hands(noisy)
        random.seed(1)
        np.random.seed(1)
        disturb()
        play(noisy, 5)
        random.random()
        np.random.random()
        play(noisy, 9)
        quiet.reset()
        noisy.reset()


def test_two_environments_do_not_disturb_each_other() -> None:
    """A21: interleaved instances play what each plays alone."""
    alone = [bolola_env.env("bolola") for _ in range(2)]
    together = [bolola_env.env("bolola") for _ in range(2)]
    for number, env in enumerate((*alone, *together)):
        env.reset(seed=number % 2)
    expected = [trace(env, at_random(number)) for number, env in enumerate(alone)]
    policies = [at_random(number) for number in range(2)]
    for _ in range(52):
        for env, policy in zip(together, policies, strict=True):
            env.step(policy(env.last()[0]))
    assert [env.history for env in together] == [env.history for env in alone]
    assert [trace(env) for env in together] == [log[-8:] for log in expected]


# ------------------------------------------------------------------ custom deals


def test_a_deal_given_as_text_or_lists_is_dealt() -> None:
    """A50: exactly these hands, this starter, this trump; text, card texts and card ids alike."""
    env = bolola_env.env("trump", render_mode="ansi")
    env.reset(seed=1, options={"deal": DEAL, "starter": 2, "trump": "S"})
    expected = hands(env)
    assert expected[0] == [
        "5C",
        "6C",
        "7C",
        "8D",
        "9D",
        "TD",
        "2H",
        "3H",
        "4H",
        "JS",
        "QS",
        "KS",
        "AS",
    ]
    assert env.agent_selection == "player_2" and env.states[0]["trump"] == 3
    ids = [[env.setup.game.action_id(card) for card in hand] for hand in expected]
    for deal in (expected, [hand[::-1] for hand in expected], ids, np.array(ids)):
        env.reset(options={"deal": deal})
        assert hands(env) == expected
    env.reset(options={"starter": 1})
    assert env.agent_selection == "player_1" and hands(env) != expected
    env.reset()
    assert env.states[0]["trump"] == -1


def test_a_custom_deal_is_played_to_its_end() -> None:
    env, twin = bolola_env.env("hearts"), bolola_env.env("hearts")
    env.reset(seed=33)
    twin.reset(seed=34, options={"deal": hands(env), "starter": AGENTS.index(env.agent_selection)})
    assert trace(env, at_random(1)) == trace(twin, at_random(1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deal": "N:AKQ"}, "expected 4 hands"),
        ({"deal": DEAL.replace("N:", "X:")}, "expected N:, E:, S: or W:"),
        (
            {"deal": DEAL.replace("432.AKQ", "432.AKJ")},
            "JC is in hand of seat 1 and in hand of seat 3",
        ),
        ({"deal": DEAL.replace("8765.", "876.")}, "hand of seat 3: expected 13 cards, got 12"),
        ({"deal": [["2C"] * 13] * 4}, "2C is twice in hand of seat 0"),
        ({"deal": 5}, "expected a text or lists of cards, got 5"),
        ({"starter": 4}, "starter: expected a seat 0..3, got 4"),
        ({"starter": "0"}, "starter: expected a seat 0..3, got '0'"),
        ({"trump": "X"}, "trump: expected one of C, D, H, S; got 'X'"),
        (["deal"], "options: expected a mapping"),
    ],
)
def test_a_bad_deal_says_what_is_wrong_and_changes_nothing(options: Any, message: str) -> None:
    """A50: also beside a new seed, which is then not taken either."""
    env = bolola_env.env("trump")
    env.reset(seed=4, options={"deal": DEAL})
    play(env, 9)
    before = moment(env)
    with pytest.raises(ValueError, match=message):
        env.reset(seed=99, options=options)
    assert moment(env) == before


def test_an_unknown_reset_key_is_ignored_with_a_warning() -> None:
    """A23: the warning names the key and those that are known, and points at the caller."""
    env, plain = bolola_env.env("hearts"), bolola_env.env("hearts")
    plain.reset(seed=4)
    with pytest.warns(
        UserWarning, match="'hands' is ignored; known are deal, starter, trump"
    ) as caught:
        env.reset(seed=4, options={"hands": DEAL})
    assert caught[0].filename == __file__
    assert hands(env) == hands(plain)
    env.reset(seed=4, options={})
    env.reset(seed=4, options={"deal": None, "starter": None})
    assert hands(env) == hands(plain) and not env.episode_custom


def test_constructor_options_hold_for_every_episode() -> None:
    env = bolola_env.env("trump", starter=3, trump="D")
    for seed in range(4):
        env.reset(seed=seed)
        assert env.agent_selection == "player_3" and env.states[0]["trump"] == 1
    env.reset(options={"starter": 0, "trump": "H"})
    assert env.agent_selection == "player_0" and env.states[0]["trump"] == 2
    short = bolola_env.env("hearts", early_stop=True)
    lengths = set()
    for seed in range(20):
        short.reset(seed=seed)
        assert sum(finish(short, at_random(seed)).values()) == -390
        lengths.add(len(short.history))
    assert min(lengths) < 52 and all(length % 4 == 0 for length in lengths)


# ------------------------------------------------------------------ copies


WAYS = {
    "clone": lambda env: env.clone(),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "cloudpickle": lambda env: pickle.loads(cloudpickle.dumps(env)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("contract", VARIANTS, ids=str)
def test_a_copy_goes_on_as_the_original_and_apart_from_it(contract: Any, way: str) -> None:
    """A47, A58: in mid-trick, at a trick's end, when all are dead, when none is left; and the deals after."""
    for steps in (0, 18, 20, 52, 54, 56):
        env = bolola_env.env(contract, reward="shaped")
        env.reset(seed=15)
        for _ in range(steps):
            if env.agents:
                live = not any(env.terminations.values())
                env.step(at_random(len(env.history))(env.last()[0]) if live else None)
        twin = WAYS[way](env)
        assert type(twin) is TrickAEC and moment(twin) == moment(env)
        before = moment(env)
        expected = trace(twin, at_random(2), observe_all=True)
        assert moment(env) == before, "playing the copy changed the original"
        assert trace(env, at_random(2), observe_all=True) == expected
        env.reset()
        twin.reset()
        assert moment(env) == moment(twin)


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_before_the_first_reset_is_as_new(way: str) -> None:
    twin = WAYS[way](bolola_env.env("queens", illegal_action="raise"))
    with pytest.raises(AssertionError, match="reset"):
        twin.step(0)
    assert not hasattr(twin, "agents")
    twin.reset(seed=1)
    env = bolola_env.env("queens")
    env.reset(seed=1)
    assert moment(twin) == moment(env) and twin.setup.reward.illegal_action == "raise"


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_keeps_a_custom_deal(way: str) -> None:
    env = bolola_env.env("match")
    env.reset(seed=1, options={"deal": [DEAL] * 12, "starter": 2})
    play(env, 50)
    twin = WAYS[way](env)
    play(env, 4)
    play(twin, 4)
    assert hands(env) == hands(twin) and env.states[0]["deal"] == 1
    env.reset(options={"deal": DEAL})
    play(twin, 52)
    assert twin.states[0]["deal"] == 2 and hands(twin)[0].count("JS") == 1


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
@pytest.mark.parametrize("way", WAYS)
def test_a_copy_uses_the_compiled_kernels(way: str) -> None:
    """A copied array must not be of another type to the compiler, which would cost seconds."""
    env = bolola_env.env("hearts")
    env.reset(seed=1, options={"deal": DEAL})
    drivers = table_drivers(env.setup.game)
    kernels = [drivers.begin, drivers.step, drivers.observe]
    counts = [len(kernel.overloads) for kernel in kernels]
    twin = WAYS[way](env)
    assert not twin.setup.config.flags.writeable and not twin.episode_config.flags.writeable
    twin.step(lowest(twin.last()[0]))
    twin.reset()
    assert [len(kernel.overloads) for kernel in kernels] == counts


def test_a_snapshot_brings_back_the_moment() -> None:
    """A47: ``get_state`` and ``set_state``, as often as one likes, also in another environment."""
    env = bolola_env.env("trump")
    env.reset(seed=16)
    play(env, 23)
    snapshot = env.get_state()
    before = moment(env)
    first = trace(env, at_random(1))
    for other in (env, bolola_env.env("trump", reward_scale=0.5)):
        other.set_state(pickle.loads(pickle.dumps(snapshot)))
        other.set_state(snapshot)
        assert moment(other) == before
    env.set_state(snapshot)
    assert trace(env, at_random(1)) == first
    env.reset()
    assert env.episode_number == 1


def test_a_foreign_snapshot_is_refused() -> None:
    env, other = bolola_env.env("trump"), bolola_env.env("hearts")
    env.reset(seed=16)
    other.reset(seed=16)
    before = moment(env)
    for foreign in (other.get_state(), bolola_env.env("trump", early_stop=True).get_state()):
        with pytest.raises(ValueError, match="not of bolola_trump_v0 with the same options"):
            env.set_state(foreign)
    with pytest.raises(TypeError, match="expected what get_state"):
        env.set_state({})
    assert moment(env) == before
    assert isinstance(env.get_state(), AECSnapshot)


def test_spaces_are_copied_with_their_samplers_by_deepcopy_alone() -> None:
    env = bolola_env.env("hearts")
    env.action_space("player_0").seed(3)
    deep, own = copy.deepcopy(env), env.clone()
    own.action_space("player_0").seed(9)
    mask = np.ones(56, np.int8)
    draws = [env.action_space("player_0").sample(mask) for _ in range(8)]
    assert [deep.action_space("player_0").sample(mask) for _ in range(8)] == draws
    assert own.action_space("player_0") is not env.action_space("player_0")


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_has_spaces_of_its_own(way: str) -> None:
    env = bolola_env.env("hearts")
    views = [env.observation_space("player_0"), env.state_space, env.metadata]
    twin = WAYS[way](env)
    own = [twin.observation_space("player_0"), twin.state_space, twin.metadata]
    assert own == views and not set(map(id, own)) & set(map(id, views))
    assert twin.state_space is twin.state_space


def test_an_environment_of_a_users_own_row_can_be_pickled() -> None:
    env = bolola_env.env(HOUSE_RULE)
    env.reset(seed=1)
    assert pickle.loads(pickle.dumps(env)).setup.options == env.setup.options
