"""What careless and hostile users have broken, once: each fault found stays found."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bolola_env
import seeds
import tarot_env
from baselines.cli import main
from baselines.train.sb3 import TrainConfig, train
from bolola_env.state import CONFIG
from trick_core.bots import Bot
from trick_core.game import same_config, setup_for
from trick_core.jit import records
from trick_core.records import load, to_record
from trick_core.rng import OPPONENTS, mix, stream_key

GOLDEN = 0x9E3779B97F4A7C15


def uncompiled(kernel: Any) -> Any:
    """A kernel as the plain function it was written as."""
    return getattr(kernel, "py_func", kernel)


def fill_free_memory() -> None:
    """Leave ones in the memory that the next arrays get, where zeros would hide what is not copied."""
    kept = [np.full(size, 255, np.uint8) for size in range(64, 6000, 64) for _ in range(7)]
    del kept


def scattered(config: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same records with ones in the gaps between the fields."""
    base = np.full(config.nbytes, 255, np.uint8).view(config.dtype)
    for name in config.dtype.names or ():
        base[name] = config[name]
    return base


# ---------------------------------------------------------------------------- copies


def test_gaps_between_the_fields_do_not_count() -> None:
    """Two configurations are the same if their fields are; one that differs in a field is not."""
    own = setup_for("bolola/trump-v0").config
    other = scattered(own)
    assert own.tobytes() != other.tobytes() and same_config(own, other)
    other["trumps"] = 0
    assert not same_config(own, other)
    assert not same_config(own, records(2, CONFIG))
    assert not same_config(own, setup_for("tarot/deal-v0").config)


@pytest.mark.parametrize("options", [{"contract": "trump"}, {"contract": "match"}])
def test_states_of_deep_copies_fit(options: dict[str, Any]) -> None:
    """A47: a snapshot and an environment survive ``copy.deepcopy``, whose arrays have other gaps."""
    env = bolola_env.env(**options)
    env.reset(seed=1)
    for _ in range(10):
        fill_free_memory()
        env.set_state(copy.deepcopy(env.get_state()))
        env.set_state(copy.deepcopy(env).get_state())


def test_a_copied_setup_is_the_same_environment() -> None:
    """Its suite, its records and its snapshots are those of the original."""
    plain = setup_for("bolola/match-v0")
    twin = copy.deepcopy(plain)
    object.__setattr__(twin, "config", scattered(plain.config))
    twin.config.flags.writeable = False
    assert seeds.suite_for(twin) is seeds.suite_for(plain) is not None
    env = bolola_env.env("match")
    env.reset(seed=3)
    deal = to_record(env).deal
    env.setup = twin  # the episode's records are still those of the original
    assert to_record(env).deal == deal


# ---------------------------------------------------------------------------- before a reset


@pytest.mark.parametrize("make", [bolola_env.env, tarot_env.raw_env])
def test_what_an_episode_has_says_that_there_is_none(make: Any) -> None:
    """As PettingZoo's wrapper says it; ``last()`` is what people call first."""
    env = make()
    with pytest.raises(AttributeError, match="agent_selection cannot be accessed before reset"):
        env.last()
    with pytest.raises(AttributeError, match="rewards cannot be accessed before reset"):
        _ = env.rewards
    with pytest.raises(AttributeError, match="'TrickAEC' object has no attribute 'reward'"):
        _ = env.reward
    assert not hasattr(env, "agents")
    env.reset(seed=1)
    env.last()


# ---------------------------------------------------------------------------- bots


@pytest.mark.parametrize("number", [2**63, 10**400, -(10**400)])
def test_a_bots_enormous_number_is_refused_as_any_other(number: int) -> None:
    """Not an ``OverflowError``, which says neither who nor what; and nothing has changed."""

    class Enormous(Bot):
        name = "enormous"

        def act(self, view: Any) -> int:
            return number

    env = bolola_env.single_env("hearts", opponents=Enormous(), seat=3)
    with pytest.raises(ValueError, match="bot 'enormous': expected the id of an action"):
        env.reset(seed=4, options={"starter": 0})
    assert env.episode_seed is None


@pytest.mark.parametrize("stepping", [False, True])
def test_opponents_may_change_without_end(stepping: bool) -> None:
    """A league that seats a new bot a thousand times and never resets; who plays on in a running episode stays."""
    kept: list[int] = []

    def first(view: Any) -> int:
        kept.append(1)
        return int(view.legal[0])

    def another() -> Any:
        return lambda view: int(view.legal[-1])

    env = bolola_env.single_vector_env("hearts", num_envs=2, opponents=first)
    env.reset(seed=1)
    for _ in range(300):
        env.set_opponents(another())
        if stepping:
            env.step(env.sample_actions())
    kept.clear()
    env.step(env.sample_actions())
    assert bool(kept) is not stepping, "the running episodes are still played by the first bot"
    assert len(env._seating._asked) <= 121


# ---------------------------------------------------------------------------- names


@pytest.mark.parametrize("name", ["../x", "", ".", "os.path", "/bolola", "a b/x", "bolola.x/y"])
def test_names_of_no_game(name: str) -> None:
    """What cannot be a package is not looked for."""
    with pytest.raises(ValueError, match="no game"):
        setup_for(name)


def test_a_game_whose_own_imports_fail_is_not_called_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names what is missing."""
    (tmp_path / "lacking_env").mkdir()
    (tmp_path / "lacking_env" / "__init__.py").write_text("")
    (tmp_path / "lacking_env" / "game.py").write_text("import no_such_module_here\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="no_such_module_here"):
        setup_for("lacking/x")


def test_an_unknown_option_lists_those_that_there_are() -> None:
    with pytest.raises(TypeError, match=r"bolola has no option 'seeed'; it takes .*zero_sum"):
        setup_for("bolola/hearts-v0", seeed=1)
    with pytest.raises(TypeError, match=r"tarot has no option 'trump'; it takes dealer"):
        setup_for("tarot/deal-v0").changed(trump="S")


# ---------------------------------------------------------------------------- command line


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and standard error of a command."""
    try:
        code = main(list(arguments))
    except SystemExit as stop:  # argparse's own
        code = int(str(stop.code))
    return code, capsys.readouterr().err


@pytest.mark.parametrize("value", ["inf", "-inf", "1e400", "nan", "0", "-1", "1.5", "", "x"])
def test_counts_on_the_command_line(capsys: pytest.CaptureFixture[str], value: str) -> None:
    """A54: no number is too strange for a message."""
    code, error = run(capsys, "evaluate", "bolola/hearts-v0", f"--deals={value}")
    assert code == 2
    assert "argument --deals: expected a whole number" in error


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "bolola/hearts-v0", "--deals", "1000000", "--seed", "1", "--json"),
        ("play", "bolola/hearts-v0", "--record"),
    ],
)
def test_a_result_that_cannot_be_kept_is_refused_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Not after minutes of work."""
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "none" / "x.json", tmp_path, tmp_path / "file" / "x.json"):
        code, error = run(capsys, *arguments, str(place))
        assert code in (1, 2)
        assert str(place) in error


def test_asking_whether_a_file_can_be_written_leaves_no_trace(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Neither a new empty file nor a changed old one."""
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text("precious")
    for file in (old, new):
        code, _ = run(
            capsys, "evaluate", "bolola/hearts-v0", "--policies", "nobody", "--json", str(file)
        )
        assert code == 2
    assert old.read_text() == "precious"
    assert not new.exists()


@pytest.mark.parametrize("place", ["os", ".x:y", ":y", "no_such_module_here:row", "os:no_row"])
def test_contracts_that_are_not_there(capsys: pytest.CaptureFixture[str], place: str) -> None:
    code, error = run(capsys, "evaluate", "bolola/custom-v0", "--contract", place)
    assert code == 2
    assert error.startswith("trick-envs: --contract: ")


@pytest.mark.parametrize("arguments", [("--minutes", "nan"), ("--minutes", "-1"), ("x/y",)])
def test_a_demonstration_that_cannot_be_is_refused_before_it_measures(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """And leaves no folder."""
    code, error = run(capsys, "demo", *arguments, "--out", str(tmp_path / "demo"))
    assert code == 2
    assert error.startswith("trick-envs: ")
    assert not (tmp_path / "demo").exists()


# ---------------------------------------------------------------------------- training

NAN = float("nan")
WRONG_SETTINGS = [
    *(("steps", value, "steps: expected an integer from 1 on") for value in (0, 1.5, True, "5")),
    *(("tables", value, "tables: expected an integer from 1 on") for value in (None, NAN, -3)),
    ("minibatch", 1, "minibatch: expected an integer from 2 on"),
    ("rollout", 0, "rollout: expected an integer from 1 on"),
    *(("seed", value, "seed: expected an integer") for value in (-1, 1.0, True, 2**32)),
    *(("minutes", value, "minutes: expected") for value in (0, NAN, -1, "1", float("inf"))),
    *(("learning_rate", value, "learning_rate: expected") for value in (0, -1, NAN, 2, None)),
    *(("gamma", value, "gamma: expected") for value in (1.1, -0.1, NAN)),
    *(("eval_every", value, "eval_every: expected") for value in (0, -1, NAN)),
    ("imitate_seconds", 0.0, "imitate_seconds: expected more than 0"),
    *(("layers", value, "layers: expected positive integers") for value in ((0,), "x", 5, (1.5,))),
    *(
        ("opponents", value, "opponents: expected one bot or three")
        for value in ([], ["greedy"] * 2)
    ),
    *((name, "nobody", "no bot 'nobody'") for name in ("opponents", "imitate")),
    ("eval_against", ("greedy", "nobody"), "no bot 'nobody'"),
    *(("eval_against", value, "eval_against: expected names") for value in ("greedy", (), None)),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG_SETTINGS)
def test_wrong_settings_of_a_training(name: str, value: Any, message: str) -> None:
    """Refused when they are given, not after the first evaluation."""
    with pytest.raises(ValueError, match=message):
        TrainConfig(**{name: value})


def small(folder: Path, **changes: Any) -> TrainConfig:
    settings: dict[str, Any] = {
        "opponents": "random",
        "steps": 104,
        "tables": 8,
        "minibatch": 52,
        "eval_deals": 2,
        "eval_against": ("random",),
        "layers": (8,),
        "folder": str(folder),
    }
    return TrainConfig(**{**settings, **changes})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a short run."""
    folder = tmp_path_factory.mktemp("run")
    train(small(folder), progress=False)
    return folder


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "[]",
            "{}",
            "null",
            "5",
            '{"config": {}}',
            '{"config": [], "seconds": 1, "curve": []}',
        ),
        *('{"config": {}, "seconds": "x", "curve": []}', "[" * 100_000),
    ],
)
def test_resuming_from_a_damaged_state(finished: Path, tmp_path: Path, text: str) -> None:
    """A41: the message names the file, whatever is wrong with it; and the run is as it was."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match=r"run\.json is not a run's state"):
        train(small(tmp_path, steps=208), resume=True, progress=False)
    assert (tmp_path / "model.zip").read_bytes() == (finished / "model.zip").read_bytes()


@pytest.mark.parametrize("change", [{"tables": "x"}, {"gamma": 7}, {"unheard_of": 1}])
def test_resuming_with_settings_that_cannot_be(
    finished: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    state = json.loads((tmp_path / "run.json").read_text())
    state["config"].update(change)
    (tmp_path / "run.json").write_text(json.dumps(state))
    with pytest.raises(ValueError, match=r"run\.json is not a run's state.*" + next(iter(change))):
        train(small(tmp_path, steps=208), resume=True, progress=False)


@pytest.mark.parametrize("damage", ["cut", "empty", "text"])
def test_resuming_from_a_damaged_model(finished: Path, tmp_path: Path, damage: str) -> None:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    content = (finished / "model.zip").read_bytes()
    spoilt = {"cut": content[: len(content) // 2], "empty": b"", "text": b"hello"}[damage]
    (tmp_path / "model.zip").write_bytes(spoilt)
    with pytest.raises(ValueError, match=r"model\.zip is not this run's model"):
        train(small(tmp_path, steps=208), resume=True, progress=False)


def test_resuming_another_environments_run(finished: Path, tmp_path: Path) -> None:
    """A model whose spaces do not fit is refused by name."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    state = json.loads((tmp_path / "run.json").read_text())
    state["config"]["env"] = "tarot/deal-v0"
    for left_out, message in (
        ("", "with other options"),
        ("setup", r"model\.zip is not this run's model"),
    ):
        state.pop(left_out, None)
        (tmp_path / "run.json").write_text(json.dumps(state))
        with pytest.raises(ValueError, match=message):
            train(small(tmp_path, steps=208, env="tarot/deal-v0"), resume=True, progress=False)


def test_a_run_leaves_no_temporary_files(finished: Path) -> None:
    assert not [file.name for file in finished.iterdir() if "tmp" in file.name]


# ---------------------------------------------------------------------------- hidden things


def unmixed(word: int) -> int:
    """The inverse of ``mix``, which is a bijection."""

    def unshift(value: int, by: int) -> int:
        result = value
        for _ in range(64 // by):
            result = value ^ (result >> by)
        return result

    word = unshift(word, 31) * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    word = unshift(word, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    return unshift(word, 30)


def seed_behind(key: int) -> int:
    """The seed from the key of deal 0's stream of opponents, were it made as other keys are."""
    return (unmixed(unmixed(unmixed(key)) ^ (GOLDEN + int(OPPONENTS))) - GOLDEN) % 2**64


def plain_key(seed: int) -> int:
    """A key as other streams have it."""
    with np.errstate(over="ignore"):
        return int(uncompiled(stream_key)(np.uint64(seed), np.uint64(0), OPPONENTS))


def test_random_words_do_not_lead_back_to_the_seed() -> None:
    """A bot that undoes the generator's steps from ``view.random`` does not arrive at the seed, and so not at the deal."""
    seen: list[int] = []

    def watching(view: Any) -> int:
        seen.append(view.random)
        return int(view.legal[0])

    seed = 0x0123456789ABCDEF
    env = bolola_env.single_env("hearts", opponents=[watching, "random", "random"], seat=3)
    env.reset(seed=seed, options={"starter": 0})
    assert seed_behind(plain_key(seed)) == seed, "the attack works on keys that can be undone"
    key = (unmixed(seen[0]) - GOLDEN) % 2**64
    plain = plain_key(seed)
    with np.errstate(over="ignore"):
        image = int(uncompiled(mix)(np.uint64(plain)))
    assert key == (image + plain) % 2**64, "what was seen is the stream's first word"
    assert seed_behind(key) != seed


def test_a_record_whose_number_is_too_large(tmp_path: Path) -> None:
    """The message names the file and the entry."""
    env = bolola_env.env("hearts")
    env.reset(seed=1)
    data = to_record(env).to_json()
    file = tmp_path / "record.json"
    file.write_text(json.dumps({**data, "number": 2**64}))
    with pytest.raises(ValueError, match=r"record\.json: number: expected an integer below"):
        load(file)
    file.write_text("1" * 5000)
    with pytest.raises(ValueError, match=r"record\.json: not JSON"):
        load(file)
