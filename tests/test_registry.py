"""A game's package: its functions, the ids in the registries of Gymnasium and PettingZoo, and what importing costs."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import warnings

import gymnasium
import pettingzoo
import pytest
from pettingzoo import AECEnv
from pettingzoo.utils import BaseWrapper

import bolola_env
from bolola_env.contracts import CONTRACTS
from tests.aec_play import HOUSE_RULE, finish
from trick_core.aec import TrickAEC
from trick_core.game import setup_for
from trick_core.register import register_environments

NAMES = [f"bolola/{name.replace('_', '-')}-v0" for name in (*CONTRACTS, "match", "custom")]
MAKERS = ("env", "raw_env", "vector_env", "single_env", "single_vector_env")

needs_registry = pytest.mark.skipif(
    not hasattr(pettingzoo, "register"), reason="PettingZoo has a registry from 1.27 on"
)


def run(program: str) -> str:
    """What a fresh Python process prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# ------------------------------------------------------------------ ids


def test_every_variant_is_registered() -> None:
    for name in NAMES:
        assert name in gymnasium.registry
        assert gymnasium.spec(name).vector_entry_point == "bolola_env:single_vector_env"
    assert register_environments(bolola_env.GAME, "bolola_env") == NAMES


@needs_registry
@pytest.mark.parametrize("name", NAMES[:-1])
def test_pettingzoo_makes_every_variant(name: str) -> None:
    env = pettingzoo.make("aec", name, reward="final")
    assert type(env) is TrickAEC and env.setup.id == name
    assert env.setup.options["reward"] == "final"
    assert (
        env.setup.name
        == setup_for(name).name
        == f"{name[:-3].replace('/', '_').replace('-', '_')}_v0"
    )


@needs_registry
def test_pettingzoo_makes_a_contract_of_ones_own() -> None:
    env = pettingzoo.make("aec", "bolola/custom-v0", contract=HOUSE_RULE)
    assert env.setup.id == "bolola/custom-v0" and str(env) == "bolola_custom_v0"
    env.reset(seed=1)
    assert sum(finish(env).values()) == HOUSE_RULE.total
    with pytest.raises(TypeError, match="contract: expected a name or a Contract row, got None"):
        pettingzoo.make("aec", "bolola/custom-v0")


def test_registering_again_says_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_environments(bolola_env.GAME, "bolola_env")


@pytest.mark.parametrize("name", NAMES[:-1])
def test_gymnasium_makes_the_environment_of_one_learner(name: str) -> None:
    env = gymnasium.make(f"bolola_env:{name}", seat=2, reward_scale=0.5, render_mode="ansi")
    single = env.unwrapped
    assert single.setup.id == name and single.seat == 2 and single.render_mode == "ansi"
    assert single.setup.reward.reward_scale == 0.5
    env.close()


def test_gymnasium_makes_a_contract_of_ones_own() -> None:
    env = gymnasium.make("bolola/custom-v0", contract=HOUSE_RULE)
    assert env.unwrapped.setup.variant == "custom"
    env.close()


def test_make_vec_reaches_the_constructor() -> None:
    """A43: ``num_envs`` and every keyword."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make_vec(
            "bolola_env:bolola/queens-v0", num_envs=3, seat=1, early_stop=True, render_mode="ansi"
        )
    assert env.num_envs == 3 and env.render_mode == "ansi"
    assert env.unwrapped.setup.variant == "queens" and env.unwrapped.setup.options["early_stop"]
    env.close()


def test_a_fresh_process_finds_the_ids_by_their_prefix() -> None:
    """``gymnasium.make("bolola_env:...")`` imports the package by itself."""
    program = (
        "import gymnasium\n"
        "print(gymnasium.make('bolola_env:bolola/hearts-v0').unwrapped.setup.name)\n"
    )
    assert run(program).strip() == "bolola_hearts_v0"


# ------------------------------------------------------------------ the package's functions


def test_env_has_no_wrapper_around_it() -> None:
    for make in (bolola_env.env, bolola_env.raw_env):
        env = make("hearts")
        assert isinstance(env, AECEnv) and not isinstance(env, BaseWrapper)
        assert env.unwrapped is env
    assert (
        bolola_env.env("hearts")._enforce_order and not bolola_env.raw_env("hearts")._enforce_order
    )


@pytest.mark.parametrize("name", MAKERS)
def test_an_unknown_option_is_a_type_error_that_names_it(name: str) -> None:
    make = getattr(bolola_env, name)
    with pytest.raises(
        TypeError, match=rf"bolola_env\.{name}\(\) has no option 'colour'; it takes"
    ):
        make("hearts", colour=1)
    with pytest.raises(TypeError, match="has no option 'enforce_order'"):
        make("hearts", enforce_order=False)
    with pytest.raises(TypeError, match="contract"):
        make("hearts", contract="queens")


@pytest.mark.parametrize("name", MAKERS)
def test_a_bad_option_is_a_value_error_that_names_it(name: str) -> None:
    make = getattr(bolola_env, name)
    for option, value in (("reward", "money"), ("starter", 4), ("trump", "X"), ("zero_sum", 2)):
        with pytest.raises(ValueError, match=f"^{option}: expected"):
            make("hearts", **{option: value})
    with pytest.raises(ValueError, match="contract: no 'spades'; there are no_tricks"):
        make("spades")


@pytest.mark.parametrize("name", MAKERS)
def test_the_functions_document_every_option(name: str) -> None:
    make = getattr(bolola_env, name)
    names = [*inspect.signature(bolola_env.make_setup).parameters, "reward", "illegal_reward"]
    names.remove("reward_options")
    for option in names:
        assert option in inspect.signature(make).parameters
        assert f"    {option}: " in make.__doc__
    assert pickle.loads(pickle.dumps(make)) is make
    assert make.__module__ == "bolola_env" and make.__qualname__ == name


def test_contracts_by_name_hyphen_and_row() -> None:
    for contract in ("no_tricks", "no-tricks", CONTRACTS["no_tricks"]):
        assert bolola_env.env(contract).setup.name == "bolola_no_tricks_v0"
    assert bolola_env.env().setup.name == "bolola_hearts_v0"
    assert bolola_env.env(HOUSE_RULE).setup.name == "bolola_custom_v0"
    assert len(bolola_env.env("match", order=["hearts", HOUSE_RULE]).setup.config) == 2


def test_the_package_exports_what_it_says() -> None:
    for name in bolola_env.__all__:
        assert getattr(bolola_env, name) is not None
    assert bolola_env.__doc__


# ------------------------------------------------------------------ importing


def test_importing_compiles_nothing_and_opens_nothing() -> None:
    """A44, A57: no compilation, no pygame, no torch; nor does stepping and showing a game import pygame."""
    program = (
        "import sys\n"
        "from numba.core import event\n"
        "with event.install_recorder('numba:compile') as recorder:\n"
        "    import bolola_env\n"
        "    env = bolola_env.env('hearts', render_mode='ansi')\n"
        "print(len(recorder.buffer))\n"
        "env.reset(seed=1); env.step(int(env.last()[0]['action_mask'].argmax())); env.render()\n"
        "print([m for m in ('pygame', 'torch', 'matplotlib', 'rich') if m in sys.modules])\n"
    )
    assert run(program).split("\n")[:2] == ["0", "[]"]


def test_a_setup_prints_its_id_and_options_on_one_line() -> None:
    setup = bolola_env.make_setup("trump", trump="S")
    assert repr(setup).startswith("<setup bolola/trump-v0, contract='trump', ")
    assert "trump='S'" in repr(setup) and len(repr(setup)) < 300
    assert repr(setup.game) == "<game bolola>"
