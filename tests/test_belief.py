"""The belief as researchers call it: views of any seat, repeatable worlds, exact chances, and clear errors."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np
import pytest

import bolola_env
import tarot_env
from benchmarks import belief as benchmark
from tests.helpers import Table, fewer
from tests.reference.bolola import ROWS
from tests.reference.tarot import KINDS, POLICIES, random_action, stacked_deal
from tests.tarot_table import same_table
from trick_core.belief import after, count_worlds, probabilities, view_of, worlds
from trick_core.bits import ZERO, popcount, words_to_bits
from trick_core.bots import Bot, View
from trick_core.drivers import uniform_choice
from trick_core.game import Game, setup_for
from trick_core.jit import copy_records, entry, kernel, records
from trick_core.rng import SAMPLES, advance, mix, stream_key


def held(game: Game, drawn: Any, seat: int) -> np.ndarray[Any, Any]:
    """0/1 by world and card: what a seat holds."""
    assert game.belief is not None
    first, *second = game.belief.sizes
    bits = [words_to_bits(np.asarray(drawn["hands"])[:, seat, None], first)]
    if second:
        bits.append(words_to_bits(np.asarray(drawn["hands_trumps"])[:, seat, None], second[0]))
    return np.concatenate(bits, axis=1)


def positions(name: str, rng: random.Random) -> list[Table]:
    """Tables somewhere in the middle of an episode."""
    tables: list[Table] = []
    if name == "bolola":
        for contract in ROWS:
            table = Table(contract, seed=rng.getrandbits(32))
            table.random_play(rng, rng.randrange(2, 40))
            tables.append(table)
        return tables
    for kind in KINDS:
        deal = stacked_deal(rng, kind)
        table = same_table(deal)
        for _ in range(rng.choice([2, 8, 20, 40, 55])):
            if deal.seat is None or len(deal.legal()) == 0:
                break
            action = random_action(deal, rng, POLICIES[kind])
            deal.play(action)
            table.play(action)
        tables.append(table)
    return tables


@pytest.mark.parametrize("name", ["bolola", "tarot"])
def test_draws_agree_with_the_exact_chances(name: str) -> None:
    """In the middle of a deal, where worlds are too many to list, every card lies in every hand as often as counting says."""
    rng = random.Random(f"chances {name}")
    number = fewer(20_000, 100)
    for table in positions(name, rng)[: fewer(9, 1)]:
        for observer in rng.sample(range(4), fewer(2, 1)):
            view = view_of(table.setup, table.states, 0, observer)
            shares = probabilities(view)
            drawn = worlds(view, number, seed=rng.getrandbits(32))
            for seat in range(4):
                share = shares[seat]
                found = held(table.game, drawn, seat).mean(axis=0)
                sure = (share == 0) | (share == 1)
                np.testing.assert_array_equal(found[sure], share[sure])
                error = np.sqrt(share * (1 - share) / number)
                assert (np.abs(found - share)[~sure] < 5 * error[~sure]).all()


@kernel
def bolola_hand(st: Any, seat: Any) -> Any:
    return st.hands[seat], ZERO


@kernel
def tarot_hand(st: Any, seat: Any) -> Any:
    return st.hands[seat], st.hands_trumps[seat]


@functools.cache
def walker(game: Game) -> Any:
    """Random play of many episodes, and at every step a look from all four seats; returns what went wrong, and how many looks."""
    assert game.belief is not None
    prepare, sample = game.belief.prepare, game.belief.sample
    begin, step, redact = game.kernels.begin, game.kernels.step, game.kernels.redact
    choose = uniform_choice(game)
    hand = tarot_hand if game.belief.pile else bolola_hand

    @kernel
    def look(config, st, views, seat, random, work):  # type: ignore[no-untyped-def]
        """0, or 1: no world; 2: a true card is ruled out; 3: a world's hands have other sizes or another sum."""
        views[0] = st
        redact(config, views[0], seat)
        if prepare(config, views[0], seat, work[0]) < 1.0:
            return 1
        for place in range(3):
            x, y = hand(st, (seat + 1 + place) & 3)
            maybe_x = work[0].may[place, 0] | work[0].single[0]
            maybe_y = work[0].may[place, 1] | work[0].single[1]
            if (x & ~maybe_x) | (y & ~maybe_y) != ZERO:
                return 2
        sample(config, views[0], seat, random, work[0])
        own_x, own_y = hand(st, seat)
        seen_x, seen_y = own_x, own_y
        for place in range(3):
            x, y = hand(st, (seat + 1 + place) & 3)
            drawn_x, drawn_y = hand(views[0], (seat + 1 + place) & 3)
            if popcount(x) + popcount(y) != popcount(drawn_x) + popcount(drawn_y):
                return 3
            if (seen_x & drawn_x) | (seen_y & drawn_y) != ZERO:
                return 3
            seen_x |= drawn_x
            seen_y |= drawn_y
        if st.seat == seat:
            for i in range(st.legal.shape[0]):
                if st.legal[i] != views[0].legal[i]:
                    return 3
        return 0

    @entry(f"tests.belief.walk-{game.name}", [game.folder, __file__])
    def walk(config, states, views, work, first, last):  # type: ignore[no-untyped-def]
        looks = 0
        for number in range(first, last):
            st = states[0]
            random = stream_key(np.uint64(number), np.uint64(0), SAMPLES)
            begin(config, st, random, 0)
            while True:
                for seat in range(4):
                    random = advance(random)
                    fault = look(config, st, views, seat, random, work)
                    if fault != 0:
                        return -(10 * number + fault)
                    looks += 1
                if st.seat < 0:
                    break
                random = advance(random)
                step(config, st, choose(config, st, mix(random)))
        return looks

    return walk


@pytest.mark.parametrize(
    ("name", "episodes"),
    [
        *((f"bolola/{contract.replace('_', '-')}", 2000) for contract in ROWS),
        ("bolola/match", 300),
        ("tarot/deal", 5000),
    ],
)
def test_the_true_world_is_always_possible(name: str, episodes: int) -> None:
    """In thousands of episodes, in every phase, from every seat, on turn or not and after the end."""
    setup = setup_for(name)
    walk = walker(setup.game)
    assert setup.game.belief is not None
    views, work = setup.game.states(1), records(1, setup.game.belief.work)
    looks = walk(setup.config, setup.game.states(1), views, work, 0, fewer(episodes, 1))
    assert looks > 4 * fewer(episodes, 1), f"episode {-looks // 10}: fault {-looks % 10}"


@pytest.mark.parametrize("name", ["bolola", "tarot"])
def test_worlds_come_from_the_view_alone(name: str) -> None:
    """What has been erased is not read: from the whole state come the same number, chances and hands."""
    rng = random.Random(f"view {name}")
    for table in positions(name, rng)[: fewer(9, 2)]:
        if table.over:
            continue
        view = view_of(table.setup, table.states)
        whole = View(table.game, table.setup.config, copy_records(table.states), 0)
        assert count_worlds(view) == count_worlds(whole)
        assert (probabilities(view) == probabilities(whole)).all()
        one, two = worlds(view, 5, seed=3), worlds(whole, 5, seed=3)
        for field in [f for f in table.game.state.names or () if f != "key"]:
            np.testing.assert_array_equal(one[field], two[field])


@pytest.mark.parametrize("name", ["bolola", "tarot"])
def test_the_same_seed_draws_the_same_worlds(name: str) -> None:
    """A longer draw begins with the shorter one; another seed draws others; a bot's worlds come from its view's own random word."""
    table = positions(name, random.Random(4))[1]
    view = view_of(table.setup, table.states, 0, 0)
    drawn = worlds(view, 6, seed=2**64 + 1)
    assert worlds(view, 3, seed=2**64 + 1).tobytes() == drawn[:3].tobytes()
    assert worlds(view, 6, seed=2).tobytes() != drawn.tobytes()
    assert len({world.tobytes() for world in drawn}) == 6
    assert len(worlds(view, 0)) == 0
    view.random = 7
    assert worlds(view, 6).tobytes() == worlds(view, 6, seed=7).tobytes()


def test_a_view_stays_as_it_was() -> None:
    table = positions("tarot", random.Random(4))[0]
    view = view_of(table.setup, table.states, 0, 2)
    before, states = view.record.tobytes(), table.states.tobytes()
    count_worlds(view), probabilities(view), worlds(view, 3, seed=1)
    assert (view.record.tobytes(), table.states.tobytes()) == (before, states)


def test_environments_give_views() -> None:
    """Of any seat, on turn or not; the view has the seat's observation."""
    env = bolola_env.env("queens")
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    for seat, agent in enumerate(env.possible_agents):
        view = view_of(env.setup, env.states, seat=seat)
        assert view.seat == seat
        assert (view["observation"] == env.observe(agent)["observation"]).all()
        assert (view["action_mask"] == env.observe(agent)["action_mask"]).all()
        assert bool(view.legal) == (agent == env.agent_selection)
    assert view_of(env.setup, env.states).seat == env.possible_agents.index(env.agent_selection)


def test_a_view_of_one_table_of_many() -> None:
    tables = bolola_env.vector_env("hearts", num_envs=3)
    tables.reset(seed=1)
    states = tables.get_state().rows["states"]
    for i in range(3):
        view = view_of(tables.setup, states, i, 1)
        assert view.record["hands"][0, 1] == states["hands"][i, 1]


class Counting(Bot):
    """Counts, and plays its lowest action."""

    name = "counting"

    def __init__(self) -> None:
        self.numbers: list[float] = []

    def act(self, view: View) -> int:
        self.numbers.append(count_worlds(view))
        world = worlds(view, 1)[0]
        assert world["hands"][view.seat] == view.record["hands"][0, view.seat]
        return view.legal[0]


def test_bots_are_handed_views() -> None:
    """What a bot gets is enough to count and to draw."""
    bot = Counting()
    env = tarot_env.single_env(opponents=bot, seat=0, start="play")
    _, info = env.reset(seed=3)
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert len(bot.numbers) >= 3 and min(bot.numbers) >= 1


@pytest.mark.parametrize("name", ["bolola", "tarot"])
def test_after_takes_one_action_in_every_world(name: str) -> None:
    """As the table itself would; the worlds stay as they are, and what the action gave is in the record."""
    rng = random.Random(8)
    table = positions(name, rng)[0]
    while table.field("trick_size") != 3:
        table.random_play(rng, 1)
    view = view_of(table.setup, table.states)
    drawn = worlds(view, 4, seed=1)
    before = drawn.tobytes()
    for action in view.legal:
        following = after(view, drawn, action)
        assert drawn.tobytes() == before
        for world, state in zip(drawn, following, strict=True):
            alone = Table(table.setup)
            alone.states[0] = world
            alone.force(table.game.actions[action])
            assert alone.states[0].tobytes() == state.tobytes()
        assert (following["trick_number"] == table.field("trick_number") + 1).all()
    illegal = next(a for a in range(table.game.num_actions) if a not in view.legal)
    name_of = table.game.actions[illegal]
    with pytest.raises(ValueError, match=f"action: {name_of} is not legal in states"):
        after(view, drawn, illegal)
    for action in (-1, table.game.num_actions, 1.0, True):
        with pytest.raises(ValueError, match="action: expected"):
            after(view, drawn, action)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="states: expected"):
        after(view, drawn["seat"], view.legal[0])


def test_the_benchmark_measures_what_it_says() -> None:
    """Each case does its units, in both games."""
    for name in ("bolola/hearts", "tarot/deal, garde"):
        setup, depths = benchmark.setups()[name]
        number, counting, drawing = benchmark.cases(setup, depths[-1])
        assert number >= 1
        assert counting.run() == benchmark.POSITIONS
        assert drawing.run() == benchmark.POSITIONS * benchmark.DRAWS


def test_states_of_another_setup_are_refused() -> None:
    """A state of a later deal has no configuration in an episode of one; kernels would read beyond it."""
    match, hearts = setup_for("bolola/match"), setup_for("bolola/hearts")
    first, later = Table(match), Table(match)
    while later.field("deal") < 1:
        later.random_play(random.Random(1), 1)
    states = np.concatenate([first.states, later.states])
    view = view_of(hearts, first.states)  # of a first deal, nothing tells
    refused = r"\[1\]: deal 2 of an episode of 1; is it another setup's"
    with pytest.raises(ValueError, match=f"states{refused}"):
        view_of(hearts, states)
    with pytest.raises(ValueError, match=f"states{refused}"):
        after(view, states, view.legal[0])
    states["deal"] = -1
    with pytest.raises(ValueError, match=r"states\[0\]: deal 0 of an episode of 12"):
        view_of(match, states)
    seen = later.view(later.field("seat"))
    assert count_worlds(View(match.game, match.config, seen, 0)) > 1
    with pytest.raises(ValueError, match=r"record\[0\]: deal 2 of an episode of 1"):
        View(match.game, hearts.config, seen, 0)


def test_errors_say_what_is_wrong() -> None:
    table = Table("hearts", seed=1)
    view = view_of(table.setup, table.states)
    with pytest.raises(TypeError, match="expected a View, got "):
        count_worlds(table.states)  # type: ignore[arg-type]
    for number in (-1, 2.0, True, None):
        with pytest.raises(ValueError, match="n: expected a number of worlds, got"):
            worlds(view, number)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed: expected a non-negative integer, got -1"):
        worlds(view, 1, seed=-1)
    with pytest.raises(ValueError, match=r"i: expected 0\.\.0, got 1"):
        view_of(table.setup, table.states, 1)
    for row in (0.0, "0", False, None, -1):
        with pytest.raises(ValueError, match=rf"^i: expected 0\.\.0, got {row!r}"):
            view_of(table.setup, table.states, row)  # type: ignore[arg-type]
    assert view_of(table.setup, table.states, np.int64(0)).seat == view.seat  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"seat: expected a seat 0\.\.3, got 4"):
        view_of(table.setup, table.states, 0, 4)
    with pytest.raises(ValueError, match="states: expected an array of tarot's state records"):
        view_of(tarot_env.make_setup(), table.states)
    table.random_play(random.Random(1))
    with pytest.raises(ValueError, match="seat: nobody is on turn"):
        view_of(table.setup, table.states)
    assert count_worlds(view_of(table.setup, table.states, 0, 3)) == 1
    view.record["can"][:] = 0
    with pytest.raises(ValueError, match="no world agrees with the view"):
        worlds(view, 1)
