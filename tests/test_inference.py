"""Worlds by how well they explain the play: replays, likelihoods, and the chain that draws from them."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from baselines.bots import greedy, inference
from bolola_env.contracts import CONTRACTS
from bolola_env.game import GAME
from bolola_env.game import setup as bolola_setup
from tests.helpers import HOUSE_RULES, Table, card_bits, fewer
from trick_core import records
from trick_core.belief import view_of, worlds
from trick_core.bots import View, make_bot, random_bot
from trick_core.game import setup_for
from trick_core.jit import entry

ROWS = (*CONTRACTS.values(), *HOUSE_RULES)
PAST = GAME.past
assert PAST is not None
LENGTH, ACTION, REWIND, EXCHANGE = PAST.length, PAST.action, PAST.rewind, PAST.exchange


@entry("bolola.test-past.replay", [GAME.folder, __file__])
def past_of(config, states, actions, before):  # type: ignore[no-untyped-def]
    """Write the actions of the deal, and the state before the first of them; how many they are."""
    count = LENGTH(config, states[0])
    for k in range(count):
        actions[k] = ACTION(config, states[0], k)
    before[0] = states[0]
    REWIND(config, before[0])
    return count


def test_the_state_holds_the_cards_in_the_order_of_play() -> None:
    """In each deal of a match from its own first card on; -1 stands behind the last."""
    table, rng, played = Table("match", seed=4), random.Random(6), list[int]()
    for _ in range(fewer(160, 60)):
        deal, action = table.field("deal"), table.game.action_id(rng.choice(table.legal()))
        table.force(table.game.actions[action])
        played = [*played, action] if table.field("deal") == deal else []
        assert table.field("order") == [*played, *[-1] * (64 - len(played))]


@entry("bolola.test-past.exchange", [GAME.folder, __file__])
def exchange_of(config, states, seat, word, pairs):  # type: ignore[no-untyped-def]
    return EXCHANGE(config, states[0], seat, word, pairs)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_replays_lead_back_to_the_state(row: Any) -> None:
    """From the first action on, the same steps reach the same state, field by field but for earlier deals' gains."""
    rng = random.Random(row.name)
    for number in range(fewer(10, 2)):
        options = {"trump": "D"} if row.trumps and number % 2 else {}
        table = Table(bolola_setup(row, **options), seed=1, number=number)
        history = table.random_play(rng, rng.randrange(1, 50))
        actions, before = np.zeros(60, np.int64), GAME.states(1)
        count = past_of(table.config, table.states, actions, before)
        assert [GAME.actions[a] for a in actions[:count]] == history
        again = Table(table.setup, seed=1, number=number)
        start = again.states.copy()
        for name in start.dtype.names:
            if name not in ("key", "order", "gain", "pot", "winner", "scores"):
                np.testing.assert_array_equal(before[name], start[name], err_msg=name)
        again.states[:] = before
        for action in history:
            again.play(action)
        assert again.states.tobytes() == table.states.tobytes()


@pytest.mark.parametrize("pairs", [1, 3])
@pytest.mark.parametrize("contract", ["hearts", "jacks_kings", "trump"])
def test_exchanges_reach_every_world_alike(contract: str, pairs: int) -> None:
    """An exchange keeps the public state, what a seat may hold and its own hand; and both ways are as likely."""
    table = Table(contract, seed=2)
    table.random_play(random.Random(1), 44)
    seat = table.field("seat")
    view = view_of(table.setup, table.states)
    state = worlds(view, 1, seed=3)
    can, seen = state["can"][0].copy(), Counter[Any]()
    for word in range(fewer(20_000, 200)):
        before = state["hands"][0].copy()
        mixed = np.uint64(int.from_bytes(random.Random(word).randbytes(8), "little"))
        one, other = exchange_of(table.config, state, seat, mixed, pairs)
        after = state["hands"][0]
        assert not (after & ~can).any()
        assert after[seat] == before[seat]
        changed = [s for s in range(4) if after[s] != before[s]]
        assert changed == ([] if one < 0 else sorted((one, other)))
        seen[tuple(before.tolist()), tuple(after.tolist())] += one >= 0
    if fewer(1, 0):
        ways = [(a, b) for a, b in seen if a != b and seen[a, b] + seen[b, a] > 20]
        assert ways
        for a, b in ways:  # within five standard deviations of a fair coin
            there, back = seen[a, b], seen[b, a]
            assert abs(there - back) < 5 * math.sqrt(there + back)


# ---------------------------------------------------------------------------- the chain


def weight_of(table: Table, hands: list[int], me: int, slips: float) -> float:
    """A factor for every play of the others that greedy would not have made with these cards, by playing the deal again in Python."""
    bot = make_bot("greedy")
    played = [int(p) for p in table.field("played")]
    before = Table(table.setup, starter=table.field("starter"), deal=texts_of(hands, played))
    weight = 1.0
    for action in history_of(table):
        seat = before.seat
        assert seat is not None
        if seat != me:
            kinds = kinds_of(before)
            if len(kinds) > 1:
                view = View(before.game, before.setup.config, before.view(seat), 1)
                meant = before.game.actions[bot.act(view)]
                if not any(meant in kind and action in kind for kind in kinds):
                    weight *= slips
        before.play(action)
    return weight


def history_of(table: Table) -> list[str]:
    count = 4 * table.field("trick_number") + table.field("trick_size")
    return [table.game.actions[card] for card in table.field("order")[:count]]


def texts_of(hands: list[int], played: list[int]) -> list[list[str]]:
    cards = [GAME.actions[i] for i in range(52)]
    return [
        [cards[i] for i in range(52) if (hand | gone) >> i & 1]
        for hand, gone in zip(hands, played, strict=True)
    ]


def kinds_of(table: Table) -> list[list[str]]:
    """The legal cards, those that touch and are worth the same together; by plain reasoning on ranks."""
    seat, trick = table.seat, [c for c in table.field("trick") if c]
    assert seat is not None
    live = 0
    for bits in (*table.field("hands"), *trick):
        live |= bits
    kinds: list[list[str]] = []
    row, hand = table.config[0], table.field("hands")[seat]
    for text in table.legal():
        card = card_bits([text]).bit_length() - 1
        lower = [c for c in range(13 * (card // 13), card) if live >> c & 1]
        if lower and hand >> lower[-1] & 1 and kinds:
            near = lower[-1]
            alike = all(
                int(part) >> near & 1 == int(part) >> card & 1
                for part in (row["under_duty"], *row["tiers"])
            )
            if alike and row["card_points"][near] == row["card_points"][card]:
                kinds[-1].append(text)
                continue
        kinds.append([text])
    return kinds


def draw(table: Table, count: int, slips: float, thin: int = 4) -> np.ndarray[Any, Any]:
    """Worlds from the chain for the seat on turn."""
    view = view_of(table.setup, table.states)
    return inference.likely_worlds(view, count, 7, slips=slips, burn=20, thin=thin)


def all_worlds(table: Table) -> list[list[int]]:
    """Every way to share out the hidden cards that the play allows."""
    hands, can = table.field("hands"), table.field("can")
    me = table.seat
    assert me is not None
    others = [seat for seat in range(4) if seat != me]
    unseen = [c for c in range(52) if any(hands[s] >> c & 1 for s in others)]
    sizes = [bin(hands[s]).count("1") for s in others]
    found = []
    for first in itertools.combinations(unseen, sizes[0]):
        rest = [c for c in unseen if c not in first]
        for second in itertools.combinations(rest, sizes[1]):
            third = [c for c in rest if c not in second]
            shared = list(hands)
            for seat, cards in zip(others, (first, second, third), strict=True):
                shared[seat] = sum(1 << c for c in cards)
            if all(not shared[s] & ~can[s] for s in others):
                found.append(shared)
    return found


@pytest.mark.parametrize("contract", ["hearts", "queens", "bolola"])
def test_worlds_come_as_often_as_they_explain_the_play(contract: str) -> None:
    """In an ending with few worlds: the chain's shares are the weights' within sampling error."""
    table = Table(contract, seed=5)
    rng = random.Random(contract)
    table.random_play(rng, 41)
    hidden = all_worlds(table)
    assert 3 < len(hidden) < 2000
    me = table.field("seat")
    weights = np.array([weight_of(table, hands, me, 0.5) for hands in hidden])
    assert len(set(weights.tolist())) > 1
    count = fewer(40_000, 0)
    if not count:
        return
    drawn = Counter(tuple(s["hands"].tolist()) for s in draw(table, count, 0.5))
    shares = np.array([drawn[tuple(hands)] for hands in hidden]) / count
    assert shares.sum() == pytest.approx(1.0)
    assert np.abs(shares - weights / weights.sum()).sum() < 0.1


def test_worlds_agree_with_the_view() -> None:
    rng = random.Random(3)
    for number, contract in enumerate(CONTRACTS):
        table = Table(contract, seed=6, number=number)
        table.random_play(rng, rng.randrange(40))
        me, can = table.field("seat"), np.array(table.field("can"), np.uint64)
        for world in draw(table, fewer(50, 2), 0.3):
            assert world["hands"][me] == table.field("hands")[me]
            assert not (world["hands"] & ~can).any()
            assert world["legal"][0] == table.states[0]["legal"][0]
            for name in ("played", "trick", "points", "seat", "winner"):
                np.testing.assert_array_equal(world[name], table.states[0][name])


def assert_equally_likely(table: Table, slips: float) -> None:
    """Each of the table's worlds is drawn as often as the others."""
    hidden, count = all_worlds(table), fewer(20_000, 200)
    drawn = Counter(tuple(s["hands"].tolist()) for s in draw(table, count, slips))
    assert 1 < len(hidden) < 100
    if count > 1000:
        shares = [drawn[tuple(hands)] / count for hands in hidden]
        assert shares == pytest.approx([1 / len(hidden)] * len(hidden), abs=0.02)


@pytest.mark.parametrize("order", ["none", "another's"])
def test_a_state_that_does_not_tell_its_past_is_taken_as_it_is(order: str) -> None:
    """States that were put together by hand: worlds are drawn as without inference, all with the same chance."""
    table = Table("no_tricks", seed=0)
    table.random_play(random.Random(1), 44)
    cards = table.states[0]["order"]
    if order == "none":
        cards[:] = -1
    else:
        cards[0], cards[5] = int(cards[5]), int(cards[0])
    assert_equally_likely(table, 0.2)


def test_true_worlds_explain_greedy_best() -> None:
    """After greedy play the true hands are likelier than a world drawn blindly, in nearly every deal."""
    bot, better, deals = make_bot("greedy"), 0, fewer(30, 1)
    for number in range(deals):
        table = Table("hearts", seed=8, number=number)
        for _ in range(30):
            view = view_of(table.setup, table.states)
            table.force(table.game.actions[bot.act(view)])
        me = table.field("seat")
        view = view_of(table.setup, table.states)
        blind = [int(h) for h in worlds(view, 1, seed=number)[0]["hands"]]
        true = weight_of(table, table.field("hands"), me, 0.1)
        better += true >= weight_of(table, blind, me, 0.1)
    assert better > 0.9 * deals - 1


def test_where_there_is_nothing_to_infer_from() -> None:
    """A game that does not tell its past, and a policy that means nothing by what it plays."""
    tarot = setup_for("tarot/deal").game
    assert inference.can_infer(GAME, greedy.greedy_jit(GAME))
    assert not inference.can_infer(tarot, greedy.greedy_jit(tarot))
    assert not inference.can_infer(GAME, random_bot(GAME))


def test_likely_worlds_are_the_seeds() -> None:
    """The view's own random word or a seed decides; the default policy is greedy."""
    table = Table("queens", seed=3)
    table.random_play(random.Random(2), 30)
    view = view_of(table.setup, table.states)
    drawn = [inference.likely_worlds(view, 5, seed, burn=8).tobytes() for seed in (1, 1, 2, None)]
    assert drawn[0] == drawn[1] != drawn[2]
    view.random = 2
    assert inference.likely_worlds(view, 5, burn=8, policy="greedy").tobytes() == drawn[2]
    assert len(inference.likely_worlds(view, 0)) == 0


def test_worlds_are_equally_likely_where_a_slip_costs_nothing() -> None:
    """``slips=1``, and a view of a match's later deal."""
    table = Table("no_tricks", seed=0)
    table.random_play(random.Random(1), 44)
    assert_equally_likely(table, 1.0)
    match = Table("match", seed=3)
    match.random_play(random.Random(1), 230)
    view = view_of(match.setup, match.states)
    for slips in (0.05, 1):
        (world,) = inference.likely_worlds(view, 1, 1, slips=slips)
        sizes = [int(hand).bit_count() for hand in world["hands"]]
        assert sizes == [int(hand).bit_count() for hand in match.states["hands"][0]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": -1}, "n: expected an integer from 0 on, got -1"),
        ({"n": True}, "n: expected an integer from 0 on, got True"),
        ({"thin": 0}, "thin: expected an integer from 1 on, got 0"),
        ({"burn": 1.5}, "burn: expected an integer from 1 on, got 1.5"),
        ({"slips": 0}, "slips: expected a factor above 0, at most 1; got 0"),
        ({"slips": "x"}, "slips: expected a number"),
        ({"seed": -1}, "seed: "),
        ({"policy": "random"}, "policy: 'random' means nothing by what it plays"),
        ({"policy": "nobody"}, "nobody"),
    ],
    ids=str,
)
def test_likely_worlds_say_what_they_cannot_take(wrong: dict[str, Any], message: str) -> None:
    table = Table("queens", seed=3)
    view = view_of(table.setup, table.states)
    with pytest.raises(ValueError, match=message):
        inference.likely_worlds(view, **{"n": 1, **wrong})


def test_likely_worlds_need_a_past_and_a_turn() -> None:
    table = Table("queens", seed=3)
    tarot = records.Table(setup_for("tarot/deal"))
    with pytest.raises(ValueError, match="tarot does not tell its past"):
        inference.likely_worlds(view_of(tarot.setup, tarot.states), 1)
    seat = (table.field("seat") + 1) % 4
    with pytest.raises(ValueError, match=f"seat {seat} is not on turn"):
        inference.likely_worlds(view_of(table.setup, table.states, seat=seat), 1)
    with pytest.raises(TypeError, match="expected a View, got int"):
        inference.likely_worlds(3, 1)  # type: ignore[arg-type]
