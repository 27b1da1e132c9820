"""Records: written, read, replayed, continued and shown; and what a wrong file says."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.wrappers import OrderEnforcing, TimeLimit
from hypothesis import given
from hypothesis import strategies as st

from bolola_env.contracts import CONTRACTS, MATCH_ORDER, Contract
from bolola_env.game import GAME, setup
from tests.helpers import HOUSE_RULES, fewer, random_rows
from trick_core import game as game_module
from trick_core.aec import TrickAEC
from trick_core.game import AGENTS, Setup, find_game
from trick_core.records import Record, Table, load, save, to_record
from trick_core.single import SingleAgentEnv

#: A record of version 1, as a file holds it: it must stay readable.
VERSION_1 = """
{
 "format": "trick-envs/1",
 "game": "bolola",
 "options": {"contract": "trump", "starter": null, "trump": null, "order": null, "early_stop": false,
  "reward": "points", "zero_sum": false, "reward_scale": 1.0, "illegal_action": "terminate",
  "illegal_reward": null},
 "deal": "N:98765.732.65.973 KQ4.Q65.A984.T65 AJ3.J4.QJT3.AK42 T2.AKT98.K72.QJ8",
 "starter": 1,
 "seed": 3,
 "number": 0,
 "actions": ["trump:D", "6C", "KC", "8C", "7C", "AS", "TS"]
}
"""


def play(table: Table, rng: random.Random, steps: int = 10_000) -> Table:
    """Play at random, to the end or a number of steps."""
    while steps and not table.over:
        table.step(rng.choice(table.legal))
        steps -= 1
    return table


def through_json(record: Record) -> Record:
    return Record.from_json(json.loads(json.dumps(record.to_json())))


def example(**changes: Any) -> dict[str, Any]:
    """The example's JSON with some entries changed; ``...`` takes one out."""
    data = {**json.loads(VERSION_1), **changes}
    return {key: value for key, value in data.items() if value is not ...}


# ------------------------------------------------------------------ tables


def test_a_table_deals_what_an_environment_deals() -> None:
    env = TrickAEC(setup("queens"))
    env.reset(seed=11)
    env.reset()
    table = Table(setup("queens"), seed=11, number=1)
    assert table.states[0]["hands"].tolist() == env.states[0]["hands"].tolist()
    assert AGENTS[table.seat] == env.agent_selection


def test_a_step_says_who_did_what_among_what_and_what_it_gave() -> None:
    table = load_text(VERSION_1).table(1)
    steps = [table.step(card) for card in ("6C", "KC", "8C", "7C")]
    assert [step.seat for step in steps] == [1, 2, 3, 0]
    assert steps[3].legal == ("3C", "7C", "9C")
    assert [step.points for step in steps] == [(0, 0, 0, 0)] * 3 + [(0, 0, 50, 0)]
    assert table.points == [0, 0, 50, 0]
    assert steps[3].number == 5


@pytest.mark.parametrize("action", ["2S", "AH", "xx", "", 9999, -1, None, 1.0])
def test_an_illegal_step_names_the_legal_ones_and_changes_nothing(action: Any) -> None:
    table = load_text(VERSION_1).table()
    before = table.states.tobytes(), list(table.history)
    with pytest.raises(ValueError, match="not legal for seat 0; legal are 5S 6S 7S 8S 9S"):
        table.step(action)
    assert (table.states.tobytes(), table.history) == before


def test_nothing_can_be_done_after_the_end() -> None:
    table = play(Table(setup("hearts")), random.Random(1))
    with pytest.raises(ValueError, match="the episode is over"):
        table.step("2C")
    assert table.legal == []


def test_actions_may_be_ids_of_any_integer_type() -> None:
    table = load_text(VERSION_1).table(1)
    assert table.step(np.int8(4)).action == "6C"
    assert table.step(11).action == "KC"


@given(seed=st.integers(0, 2**32), steps=st.integers(0, 60), back=st.integers(0, 60))
def test_undo_leads_back_to_the_state_before(seed: int, steps: int, back: int) -> None:
    rng = random.Random(seed)
    table = Table(setup("match", order=["trump", "hearts"]), seed=seed)
    states = [table.states.tobytes()]
    for _ in range(steps):
        table.step(rng.choice(table.legal))
        states.append(table.states.tobytes())
    back = min(back, steps)
    table.undo(back)
    assert table.states.tobytes() == states[steps - back]
    assert len(table.history) == len(table.seats) == steps - back
    with pytest.raises(ValueError, match="undo: expected 0 to"):
        table.undo(steps + 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "seed: expected an integer from 0, got -1"),
        ({"seed": "7"}, "seed: expected an integer"),
        ({"number": 1.0}, "number: expected an integer"),
        ({"options": {"dealer": 1}}, "options: no 'dealer'; there are deal, starter, trump"),
        ({"options": {"starter": 4}}, "starter: expected a seat 0..3"),
    ],
)
def test_a_table_refuses_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Table(setup("hearts"), **arguments)


def test_seeds_of_any_size_deal() -> None:
    one, other = Table(setup("hearts"), seed=2**70), Table(setup("hearts"), seed=2**70 + 1)
    assert one.deals != other.deals
    assert through_json(to_record(one)).table().deals == one.deals


# ------------------------------------------------------------------ round trips


@pytest.mark.parametrize("variant", [*CONTRACTS, "match"])
@pytest.mark.parametrize("steps", [0, 1, 30, 10_000])
def test_a_record_replays_the_episode(variant: str, steps: int) -> None:
    table = play(Table(setup(variant), seed=5, number=3), random.Random(steps), steps)
    record = through_json(to_record(table))
    assert record == to_record(table)
    again = record.table()
    assert same_state(again, table)
    assert again.points == table.points
    total = np.sum([step.points for step in record.replay()], axis=0) if table.history else 0
    assert np.array_equal(np.zeros(4) + total, table.points)


def same_state(one: Table, other: Table) -> bool:
    """Equal but for the mark of a custom deal."""
    states = [each.states.copy() for each in (one, other)]
    for each in states:
        each["custom"] = 0
    return states[0].tobytes() == states[1].tobytes()


@pytest.mark.parametrize(
    "options",
    [
        {"contract": "king-of-hearts", "early_stop": True, "starter": 3},
        {"contract": "trump", "trump": "S", "reward": "shaped", "zero_sum": np.bool_(True)},
        {"contract": "hearts", "reward_scale": np.float32(0.5), "illegal_reward": -1},
        {"contract": "match", "order": ["trump", HOUSE_RULES[3], "hearts"]},
        *({"contract": row} for row in HOUSE_RULES),
    ],
)
def test_options_and_house_rules_come_back(options: dict[str, Any]) -> None:
    """B-8.1: a user's row is part of the record."""
    first = setup(**options)
    record = through_json(to_record(play(Table(first, seed=9), random.Random(2), 20)))
    second = record.setup()
    assert second.config.tobytes() == first.config.tobytes()
    assert second.run().tobytes() == first.run().tobytes()
    assert second.variant == first.variant
    assert json.dumps(second.options) == json.dumps(record.options)


@given(seed=st.integers(0, 2**32))
def test_any_row_comes_back(seed: int) -> None:
    row, _ = random_rows(random.Random(seed))
    record = through_json(to_record(Table(setup(row), seed=seed)))
    assert Contract(**record.options["contract"]) == row


def test_a_custom_deal_with_its_starter_and_trump_comes_back() -> None:
    """A50."""
    deal = json.loads(VERSION_1)["deal"]
    options = {"deal": deal, "starter": 2, "trump": "H"}
    table = play(Table(setup("trump"), options=options), random.Random(4), 9)
    record = through_json(to_record(table))
    assert record.reset_options == options
    assert record.table().history == table.history


@pytest.mark.parametrize("contract", ["trump", "match"])
def test_an_environment_is_recorded_and_begun_again_from_a_record(contract: str) -> None:
    env = TrickAEC(setup(contract))
    rng = random.Random(3)
    env.reset(seed=8)
    env.reset()
    for _ in range(fewer(130, 60)):
        if not env.agents or env.terminations[env.agent_selection]:
            break
        env.step(rng.choice(env.setup.game.legal_ids(env.states[0])))
    record = through_json(to_record(env))
    assert [GAME.action_id(text) for text in record.actions] == env.history
    assert (record.seed, record.number) == (8, 1)

    other = TrickAEC(record.setup())
    other.reset(seed=99, options=record.reset_options)
    for action in record.actions:
        other.step(GAME.action_id(action))
    for name in ("hands", "played", "points", "scores", "seat"):
        assert other.states[0][name].tolist() == env.states[0][name].tolist()


@pytest.mark.parametrize("steps", [0, 5, 13])
def test_an_environment_of_one_learner_is_recorded_through_its_wrappers(steps: int) -> None:
    single = SingleAgentEnv(setup("jacks_kings"), opponents="random", seat="rotate")
    env = TimeLimit(OrderEnforcing(single), 100)
    env.reset(seed=8)
    _, info = env.reset()
    for _ in range(steps):
        *_, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    record = through_json(to_record(env))
    table = record.table()
    assert (record.seed, record.number) == (8, 1)
    assert table.history == single.history
    assert table.over == (steps == 13)
    assert table.states[0]["hands"].tolist() == single.states[0]["hands"].tolist()


def test_an_environment_that_ended_on_an_illegal_action_is_recorded_without_it() -> None:
    env = TrickAEC(setup("hearts"))
    env.reset(seed=1)
    legal = env.setup.game.legal_ids(env.states[0])
    env.step(legal[0])
    illegal = next(a for a in range(52) if a not in env.setup.game.legal_ids(env.states[0]))
    env.step(illegal)
    assert all(env.terminations.values())
    assert to_record(env).actions == [GAME.actions[legal[0]]]


def test_there_is_no_record_before_the_first_reset_nor_of_other_things() -> None:
    with pytest.raises(ValueError, match="nothing has been dealt yet"):
        to_record(TrickAEC(setup("hearts")))
    with pytest.raises(ValueError, match="nothing has been dealt yet"):
        to_record(SingleAgentEnv(setup("hearts")))
    with pytest.raises(TypeError, match="expected a table, or an environment of one table"):
        to_record(object())


# ------------------------------------------------------------------ the match


def test_a_match_holds_its_deals_and_needs_no_seed_to_be_replayed() -> None:
    table = play(Table(setup("match"), seed=21), random.Random(5))
    data = to_record(table).to_json()
    assert len(data["deal"]) == len(MATCH_ORDER) == len(set(data["deal"]))
    del data["seed"], data["number"]
    assert Record.from_json(data).table().points == table.points


def test_an_unfinished_match_holds_the_deals_dealt_so_far_and_goes_on_as_it_would_have() -> None:
    rng = random.Random(6)
    whole = play(Table(setup("match"), seed=22), rng)
    actions = [GAME.actions[action] for action in whole.history]
    half = Table(setup("match"), seed=22)
    for action in actions[:120]:
        half.step(action)
    record = through_json(to_record(half))
    assert record.deal == whole.deals[:3]
    continued = record.table()
    for action in actions[120:]:
        continued.step(action)
    assert continued.deals == whole.deals
    assert continued.points == whole.points


def test_an_unfinished_match_without_a_seed_is_refused() -> None:
    data = to_record(Table(setup("match"), seed=22)).to_json()
    del data["seed"]
    with pytest.raises(ValueError, match="seed: the record holds 1 of 12 deals, and no seed"):
        Record.from_json(data)


def test_a_match_of_one_deal_has_the_deal_as_text() -> None:
    table = play(Table(setup("match", order=["hearts"]), seed=1), random.Random(7))
    assert through_json(to_record(table)).deal == table.deals[0]


# ------------------------------------------------------------------ files


def load_text(text: str) -> Record:
    return Record.from_json(json.loads(text))


def test_a_file_of_version_1_stays_readable(tmp_path: Path) -> None:
    file = tmp_path / "deal.json"
    file.write_text(VERSION_1, encoding="utf-8")
    record = load(file)
    assert record.table().points == [0, 0, 50, 0]
    assert record.to_json() == json.loads(VERSION_1)


def test_saving_and_loading(tmp_path: Path) -> None:
    table = play(Table(setup("match"), seed=2), random.Random(8), 70)
    save(table, tmp_path / "match.json")
    assert load(str(tmp_path / "match.json")) == to_record(table)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "a record is a JSON object, got list"),
        ("text", "a record is a JSON object, got str"),
        ({}, "format: missing"),
        (example(format="trick-envs/2"), "format: expected 'trick-envs/1', got 'trick-envs/2'"),
        (example(format=1), "format: expected 'trick-envs/1', got 1"),
        (example(game="whist"), "game: no game 'whist'"),
        (example(game="../evil"), "game: no game '../evil'"),
        (example(game=7), "game: expected a name, got 7"),
        (example(game=...), "game: missing"),
        (example(options=...), "options: missing"),
        (example(options=[]), r"options: expected an object, got \[\]"),
        (example(options={"contract": "whist"}), "options: contract: no 'whist'"),
        (example(options={"contact": "trump"}), "options: .*contact"),
        (example(options={"contract": {"name": "x", "points": 3}}), "options: .*no field points"),
        (example(options={"contract": {}}), "options: .*'name' is missing"),
        (example(options={"contract": "match", "order": "trump"}), "options: order: expected a"),
        (example(deal=...), "deal: missing"),
        (example(deal=None), "deal: expected a deal's text, or a list of them, got None"),
        (example(deal=[1]), r"deal\[0\]: expected a text, got 1"),
        (example(deal="N:"), "deal: expected 4 hands"),
        (example(deal="N:... ... ... ..."), "deal: hand of seat 0: expected 13 cards, got 0"),
        (example(starter=7), "starter: expected a seat 0..3, got 7"),
        (example(dealer=1), "dealer: no entry of a record of bolola"),
        (example(starter=..., seed=...), "starter: missing"),
        (example(trump="X"), "trump: expected one of C, D, H, S"),
        (example(seed=-3), "seed: expected an integer from 0, got -3"),
        (example(number="1"), "number: expected an integer from 0, got '1'"),
        (example(actions=...), "actions: missing"),
        (example(actions="6C"), "actions: expected a list of texts, got '6C'"),
        (example(actions=["trump:D", 6]), r"actions\[1\]: expected a text, got 6"),
        (example(actions=["trump:D", "2C"]), r"actions\[1\]: '2C' is not legal for seat 1; legal"),
        (example(actions=["trump:D", "zz"]), r"actions\[1\]: 'zz' is not legal for seat 1"),
    ],
)
def test_a_wrong_record_is_refused_with_the_place(data: Any, message: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        load(file)
    assert str(caught.value).startswith(str(file))


def test_too_many_actions_are_refused() -> None:
    table = play(Table(setup("hearts"), seed=2), random.Random(8))
    data = to_record(table).to_json()
    data["actions"] = [*data["actions"], "2C"]
    with pytest.raises(ValueError, match=r"actions\[52\]: '2C': the episode is over"):
        Record.from_json(data)


@pytest.mark.parametrize("bad", ["1", 1.5, True, -1, 53])
def test_counts_of_actions_are_whole_numbers(bad: Any) -> None:
    table = play(Table(setup("hearts"), seed=2), random.Random(8))
    before = table.states.tobytes()
    shown = re.escape(repr(bad))
    with pytest.raises(ValueError, match=f"^undo: expected 0 to 52 actions, got {shown}$"):
        table.undo(bad)
    with pytest.raises(ValueError, match=f"^stop: expected 0 to 52 actions, got {shown}$"):
        to_record(table).table(bad)
    assert table.states.tobytes() == before
    assert to_record(table).table(np.int64(3)).history == table.history[:3]


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "short.json"
    save(load_text(VERSION_1).table(), file)
    text = file.read_text(encoding="utf-8")
    for length in range(0, len(text) - 2, 7):
        file.write_text(text[:length], encoding="utf-8")
        with pytest.raises(ValueError, match=r"short.json: not JSON, or cut short"):
            load(file)


def test_a_file_that_is_not_text_or_not_there(tmp_path: Path) -> None:
    file = tmp_path / "binary.json"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not text"):
        load(file)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.json")


# ------------------------------------------------------------------ showing


def test_a_record_is_shown_from_where_to_where() -> None:
    record = load_text(VERSION_1)
    text = record.show(first=5, last=7)
    assert "   6  player_2  AS  (2C 4C AC 4H JH 3S JS AS)" in text
    assert "   7  player_3  TS  (2S TS)" in text
    assert "   5  " not in text
    assert text.startswith("bolola/trump-v0\n\ntrump, diamonds are trumps, trick 2 of 13")
    assert text.count("On the table") == 2
    for first, last in ((-1, 3), (4, 3), (0, 8)):
        with pytest.raises(ValueError, match="expected 0 <= first <= last <= 7 actions"):
            record.show(first=first, last=last)


def test_a_record_shown_from_a_seat_tells_only_what_it_may_do() -> None:
    text = load_text(VERSION_1).show(seat=2)
    assert "   6  player_2  AS  (2C 4C AC 4H JH 3S JS AS)" in text
    assert "   7  player_3  TS\n" in text
    assert "S T2" not in text and "KQ4" not in text and "S AJ3" in text


def test_actions_that_are_not_public_are_not_shown_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def is_public(states: Any, i: int, action: int) -> bool:
        assert states[i]["seat"] >= 0
        return action < 52

    def secret_setup(**options: Any) -> Setup:
        return replace(setup(**options), game=secret)

    secret = replace(GAME, is_public=is_public, setup=secret_setup)
    monkeypatch.setitem(game_module._GAMES, "bolola", secret)
    record = load_text(VERSION_1)
    assert "trump:D" not in record.show(seat=2)
    assert "   1  player_1  trump" not in record.show(seat=2)
    # Not even that an action was taken: the first one that the seat sees has number 1.
    assert record.show(seat=2).count("   1  player_") == 1
    for seat in (None, 1):
        assert "   1  player_1  trump:D" in record.show(seat=seat)


def test_a_start_without_a_hook_takes_the_fields_named_like_the_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plain_setup(**options: Any) -> Setup:
        return replace(setup(**options), game=plain)

    plain = replace(GAME, start_options=None, reset_keys=("deal", "starter"), setup=plain_setup)
    monkeypatch.setitem(game_module._GAMES, "bolola", plain)
    assert find_game("bolola") is plain
    table = Table(plain_setup(contract="hearts"), seed=4)
    assert table.start == {"starter": int(table.states[0]["starter"])}
    assert through_json(to_record(table)).table().seat == table.seat
