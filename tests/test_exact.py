"""The solver of endings against search in plain Python over the reference engines."""

from __future__ import annotations

import copy
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from baselines.bots import exact
from bolola_env.contracts import CONTRACTS
from bolola_env.game import setup as bolola_setup
from tarot_env.game import setup as tarot_setup
from tests.helpers import HOUSE_RULES, Table, as_row, fewer, random_rows
from tests.reference import bolola, tarot
from tests.tarot_table import TarotTable, same_table
from trick_core.game import setup_for
from trick_core.jit import JIT

ROWS = (*CONTRACTS.values(), *HOUSE_RULES)


def twin(deal: Any) -> Any:
    """A reference deal of its own: what playing on would change is copied."""
    other = copy.copy(deal)
    for name, value in vars(deal).items():
        if isinstance(value, (list, set)):
            setattr(other, name, copy.copy(value))
    other.hands = [copy.copy(hand) for hand in deal.hands]
    return other


def points_of(deal: Any) -> list[float]:
    """Points of a reference deal so far; Tarot's fall at the end."""
    if isinstance(deal, bolola.Deal):
        return list(deal.points)
    return list(deal.score()["totals"]) if deal.seat is None else [0.0] * 4


def searched(deal: Any) -> list[float]:
    """What the four seats reach if each takes what is best for itself, and of equals the lowest id."""
    if deal.seat is None:
        return points_of(deal)
    best: list[float] | None = None
    for action in deal.legal():
        after = twin(deal)
        after.play(action)
        value = searched(after)
        if best is None or value[deal.seat] > best[deal.seat]:
            best = value
    assert best is not None
    return best


def searched_paranoid(deal: Any, me: int) -> float:
    """What seat ``me`` reaches against three who leave it the least."""
    if deal.seat is None:
        return points_of(deal)[me]
    values = []
    for action in deal.legal():
        after = twin(deal)
        after.play(action)
        values.append(searched_paranoid(after, me))
    return max(values) if deal.seat == me else min(values)


def bolola_ending(row: Any, tricks: int, rng: random.Random, **options: Any) -> tuple[Table, Any]:
    """A table and a reference deal in the same ending: ``tricks`` are left, and up to three cards of one lie there."""
    hands = bolola.skewed_hands(rng) if rng.random() < 0.3 else bolola.random_hands(rng)
    starter = rng.randrange(4)
    table = Table(bolola_setup(row, **options), deal=hands, starter=starter)
    deal = bolola.Deal(as_row(row), hands, starter, early_stop=options.get("early_stop", False))
    extra = rng.randrange(4)
    while not deal.over and (len(deal.tricks) < 13 - tricks or len(deal.trick) < extra):
        action = rng.choice(deal.legal())
        deal.play(action)
        table.force(action)
    return table, deal


def solve(table: Table, model: str = "game") -> tuple[dict[str, list[float]], str]:
    """Points of the four seats at the end of the deal after each legal action, and the action chosen."""
    result = exact.solve(table.setup, table.states, model=model)
    legal = table.game.legal_ids(table.states[0])
    assert not np.isnan(result.values[0, legal]).any()
    assert np.isnan(np.delete(result.values[0], legal, axis=0)).all()
    so_far = np.array(table.points())
    values = {table.game.actions[a]: (so_far + result.values[0, a]).tolist() for a in legal}
    return values, table.game.actions[result.best[0]]


def check(table: Table, deal: Any) -> None:
    """The solver agrees with the search on every action of the seat on turn, for all seats."""
    expected = {}
    for action in deal.legal():
        after = twin(deal)
        after.play(action)
        expected[action] = searched(after)
    values, best = solve(table)
    assert values == expected
    assert best == max(expected, key=lambda action: expected[action][deal.seat])
    if isinstance(deal, bolola.Deal):
        values, best = solve(table, "paranoid")
        worst = {}
        for action in expected:
            after = twin(deal)
            after.play(action)
            worst[action] = searched_paranoid(after, deal.seat)
        assert {action: value[deal.seat] for action, value in values.items()} == worst
        assert best == max(worst, key=worst.__getitem__)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_last_tricks_of_every_contract(row: Any) -> None:
    """Rules B-3 to B-5 in the endings: all values of all actions, and the choice among equals."""
    rng = random.Random(row.name)
    for number in range(fewer(6, 2)):
        table, deal = bolola_ending(row, 2 + (number % 3 == 0), rng)
        if not deal.over:
            check(table, deal)


def test_last_tricks_of_any_row() -> None:
    """Rule B-8.1: rows drawn from everything that a row can say, where touching cards may differ in points and duties."""
    rng = random.Random(7)
    for _ in range(fewer(40, 4)):
        row, _ = random_rows(rng)
        table, deal = bolola_ending(row, 2, rng, early_stop=rng.random() < 0.5)
        if not deal.over:
            check(table, deal)


def tarot_ending(rng: random.Random, tricks: int) -> tuple[TarotTable, tarot.Deal]:
    """The same in Tarot, from a deal with a taker, stacked for slams, for the Excuse or the Petit at the end."""
    extra = rng.randrange(4)
    while True:
        kind = rng.choice(tarot.KINDS)
        deal = tarot.stacked_deal(rng, kind)
        table = same_table(deal)
        while deal.seat is not None and (len(deal.tricks), len(deal.trick)) != (18 - tricks, extra):
            action = tarot.random_action(deal, rng, tarot.POLICIES[kind])
            deal.play(action)
            table.force(action)
        if deal.seat is not None:
            return table, deal


@pytest.mark.parametrize("tricks", [1, 2, 3])
def test_last_tricks_of_tarot(tricks: int) -> None:
    """Rules T-5, T-6 and T-7: the settlement decides, with Petit, Excuse and chelem in it."""
    rng = random.Random(tricks)
    for _ in range(fewer((30, 30, 6)[tricks - 1], 2)):
        check(*tarot_ending(rng, tricks))


ENVS = ["bolola/hearts-v0", "bolola/trump-v0", "bolola/match-v0", "tarot/deal-v0"]
compiled = pytest.mark.skipif(not JIT, reason="searches deep: only compiled kernels can")


@compiled
@pytest.mark.parametrize("env", ENVS)
def test_values_agree_from_one_position_to_the_next(env: str) -> None:
    """Five tricks from the end and later, an action's value is that of the position after it.

    Every position is a root of its own, so what is pruned and what is looked up differs.
    """
    rng = random.Random(env)
    for number in range(3):
        table, deal = middle_of(env, number, rng), None
        while not table.over and deal in (None, table.field("deal")):
            deal = table.field("deal")
            values, _ = solve(table)
            action = rng.choice(list(values))
            table.play(action)
            if not table.over and table.field("deal") == deal:
                after, best = solve(table)
                assert after[best] == values[action]
            else:
                assert table.points() == values[action]


@compiled
@pytest.mark.parametrize("env", ENVS)
def test_a_seat_is_sure_of_what_the_paranoid_model_says(env: str) -> None:
    """Against others who only mean well for themselves it gets no less; with two sides just that."""
    rng = random.Random(env)
    for number in range(3):
        table = middle_of(env, number, rng)
        seat = table.seat
        assert seat is not None
        sure, hoped = solve(table, "paranoid")[0], solve(table)[0]
        assert all(sure[action][seat] <= hoped[action][seat] for action in sure)
        if env == "tarot/deal-v0":
            assert sure == hoped


def middle_of(env: str, number: int, rng: random.Random) -> Table:
    """A table five tricks before the end of a deal, up to three cards on the table; in the match the second deal."""
    setup = setup_for(env, **({"forbid_pass": True} if env == "tarot/deal-v0" else {}))
    table, extra = Table(setup, seed=1, number=number), rng.randrange(4)
    deal, tricks = int(env == "bolola/match-v0"), 13 if setup.game.name == "tarot" else 8
    while [table.field(name) for name in ("deal", "trick_number", "trick_size")] != [
        deal,
        tricks,
        extra,
    ]:
        table.random_play(rng, 1)
    return table


@compiled
def test_what_was_solved_before_changes_nothing() -> None:
    rng = random.Random(0)
    work, shuffled = exact.make_work(bolola_setup("trump").game, bits=4), []
    states = np.concatenate([middle_of("bolola/trump-v0", n, rng).states for n in range(6)])
    setup = bolola_setup("trump")
    alone = [exact.solve(setup, states[i : i + 1]).values[0] for i in range(6)]
    shuffled = [exact.solve(setup, states[i : i + 1], work=work).values[0] for i in (3, 0, 5, 1)]
    np.testing.assert_array_equal(shuffled, [alone[i] for i in (3, 0, 5, 1)])
    np.testing.assert_array_equal(exact.solve(setup, states).values, alone)


#: Long suits: what follows differs with the trump suit, but the same hands come up after each naming.
LONG_SUITS = "N:AKQ...AKQJT98765 ..KQJT98765432.2 .KQJT98765432..3 JT98765432.A.A.4"


@compiled
def test_the_trump_suit_belongs_to_the_position() -> None:
    """Rule B-6.1: the four namings solved together are worth what each is worth solved alone."""
    root = Table(bolola_setup("trump"), deal=LONG_SUITS, starter=0)
    values, best = solve(root)
    alone = {}
    for action in root.legal():
        named = Table(root.setup, deal=LONG_SUITS, starter=0)
        named.play(action)
        after, choice = solve(named)
        alone[action] = after[choice]
    assert values == alone
    assert alone["trump:H"] != alone["trump:D"]
    assert best == max(alone, key=lambda action: alone[action][0])


def test_limit_leaves_positions_unsolved() -> None:
    rng = random.Random(1)
    for _ in range(20):
        table, _ = bolola_ending(CONTRACTS["bolola"], 3, rng)
        needed = int(exact.solve(table.setup, table.states).nodes[0])
        if needed > 1:
            break
    assert exact.solve(table.setup, table.states, limit=needed).nodes[0] == needed
    result = exact.solve(table.setup, table.states, limit=needed - 1)
    assert result.nodes[0] == result.best[0] == -1 and np.isnan(result.values).all()


def test_what_cannot_be_solved_is_said() -> None:
    table, _ = bolola_ending(CONTRACTS["hearts"], 1, random.Random(1))
    with pytest.raises(ValueError, match="'game', 'paranoid'; got 'friendly'"):
        exact.solve(table.setup, table.states, model="friendly")
    with pytest.raises(ValueError, match="states: expected an array of bolola's state records"):
        exact.solve(table.setup, tarot_setup().game.states(1))
    later = table.states.copy()
    later["deal"] = 1
    with pytest.raises(ValueError, match=r"states\[0\]: deal 2 of an episode of 1"):
        exact.solve(table.setup, later)
    table.random_play(random.Random(0))
    with pytest.raises(ValueError, match="the episode is over"):
        exact.solve(table.setup, table.states)
    other = replace(table.game, name="other", endings=None)
    with pytest.raises(ValueError, match="other"):
        exact.solver(other)
