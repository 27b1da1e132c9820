"""Nothing that a seat cannot know reaches it: permuting the cards it cannot see changes nothing that it gets.

The control of these tests is that the full-information state does change.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import bolola_env
from baselines.extras import MissingExtraError
from bolola_env.contracts import CONTRACTS, Contract
from bolola_env.game import GAME
from bolola_env.game import setup as bolola_setup
from bolola_env.render import render
from tests.helpers import HOUSE_RULES, Table, card_bits, fewer
from tests.reference.bolola import Deal, random_hands, skewed_hands
from trick_core.bots import View, bot_names, make_bot
from trick_core.jit import JIT

EVERYTHING = [*CONTRACTS.values(), *HOUSE_RULES]
SEATS = range(4)

#: What uncompiled kernels search with in place of the default.
SMALL = {"pimc": "pimc:worlds=16,burn=5", "ismcts": "ismcts:iterations=64,burn=5"}


def shuffled_others(hands: list[list[str]], observer: int, rng: random.Random) -> list[list[str]]:
    """The hands with the cards of the three others dealt anew among them, each as many as before."""
    cards = [card for seat in SEATS if seat != observer for card in hands[seat]]
    rng.shuffle(cards)
    return [
        hands[seat] if seat == observer else [cards.pop() for _ in hands[seat]] for seat in SEATS
    ]


def twin_of(table: Table, observer: int, rng: random.Random) -> Table:
    """A copy of the table in which hidden cards have changed places.

    The legal actions of a hidden hand change with it; here they become nonsense, as nobody may see them.
    """
    twin = Table(table.setup)
    twin.states[:] = table.states
    hands = shuffled_others(table.hands(), observer, rng)
    twin.states["hands"][0] = [card_bits(hand) for hand in hands]
    twin.states["key"] = rng.getrandbits(64)
    if table.seat != observer:
        twin.states["legal"] = rng.getrandbits(52)
        twin.states["ruled"] = rng.getrandbits(52)
    return twin


def info_numbers(table: Table) -> list[float]:
    out = np.zeros((1, max(1, len(GAME.info_names))))
    table.drivers.info(table.config, table.states, 0, out)
    return out.tolist()


@pytest.mark.parametrize("contract", EVERYTHING, ids=lambda row: row.name)
def test_any_permutation_of_unseen_cards_is_unseen(contract: Contract) -> None:
    """Observation, mask, view record, infos and drawn table, at every stage, for all four seats."""
    rng = random.Random(contract.name)
    changed = 0
    for number in range(fewer(12, 2)):
        table = Table(contract, seed=1, number=number)
        history = [GAME.action_id(a) for a in table.random_play(rng, rng.randrange(54))]
        for observer in SEATS:
            twin = twin_of(table, observer, rng)
            changed += not np.array_equal(table.state_words(), twin.state_words())
            vector, mask = table.observe(observer)
            other_vector, other_mask = twin.observe(observer)
            assert np.array_equal(vector, other_vector)
            assert np.array_equal(mask, other_mask)
            assert table.view(observer).tobytes() == twin.view(observer).tobytes()
            assert info_numbers(table) == info_numbers(twin)
            assert table.points() == twin.points()
            drawn = [render(table.setup, one.states, 0, observer, history) for one in (table, twin)]
            assert drawn[0] == drawn[1]
    assert changed > 10 or not fewer(1, 0)


def test_the_view_record_holds_the_own_hand_and_no_other() -> None:
    """Hidden hands and the key are 0; off turn the legal actions too."""
    table = Table("hearts", seed=3)
    table.random_play(random.Random(1), 21)
    for observer in SEATS:
        view = table.view(observer)[0]
        hands = np.asarray(view["hands"]).tolist()
        assert hands[observer] == table.field("hands")[observer]
        assert [bool(hand) for hand in hands] == [seat == observer for seat in SEATS]
        assert view["key"] == 0
        assert bool(view["legal"][0]) == (observer == table.seat)
        assert bool(view["ruled"]) <= (observer == table.seat)


# ---------------------------------------------------------------------------- whole games


class Twins:
    """Two deals that one seat cannot tell apart by anything that was played.

    ``history`` is legal in both, and the observer holds the same cards.
    """

    def __init__(self, contract: str, rng: random.Random) -> None:
        self.contract = contract
        deal_hands = rng.choice([random_hands, skewed_hands])
        while True:
            self.hands, self.starter = deal_hands(rng), rng.randrange(4)
            deal = Deal(contract, self.hands, self.starter)
            self.history: list[str] = []
            for _ in range(rng.randrange(50)):
                self.history.append(rng.choice(deal.legal()))
                deal.play(self.history[-1])
            assert deal.seat is not None
            self.observer = deal.seat
            if self._find_other(deal, rng):
                return

    def _find_other(self, deal: Deal, rng: random.Random) -> bool:
        """Another deal of the unplayed cards that fits all that was played."""
        left = [sorted(hand) for hand in deal.hands]
        for _ in range(20):
            shuffled = shuffled_others(left, self.observer, rng)
            if any(not set(shuffled[seat]) <= deal.can_hold(seat) for seat in SEATS):
                continue
            gone = [set(self.hands[seat]) - set(left[seat]) for seat in SEATS]
            self.other = [sorted(gone[seat] | set(shuffled[seat])) for seat in SEATS]
            if self.other != [sorted(hand) for hand in self.hands]:
                return True
        return False

    def tables(self) -> list[Table]:
        """Both deals, played up to now; :meth:`Table.play` asserts that each action is legal."""
        tables = []
        for hands in (self.hands, self.other):
            table = Table(self.contract, deal=hands, starter=self.starter)
            table.play(" ".join(self.history))
            tables.append(table)
        return tables


@pytest.mark.parametrize("contract", list(CONTRACTS))
def test_two_deals_with_one_history_look_the_same(contract: str) -> None:
    """A whole game of either: what the observer gets is the same all along, its mask included."""
    rng = random.Random(contract)
    for _ in range(fewer(10, 1)):
        twins = Twins(contract, rng)
        observer = twins.observer
        envs = [bolola_env.env(contract) for _ in range(2)]
        for env, hands in zip(envs, (twins.hands, twins.other), strict=True):
            env.reset(options={"deal": hands, "starter": twins.starter})
        assert not np.array_equal(envs[0].state(), envs[1].state())
        for action in [*twins.history, ""]:
            seen = [env.observe(f"player_{observer}") for env in envs]
            assert np.array_equal(seen[0]["observation"], seen[1]["observation"])
            on_turn = envs[0].agent_selection == f"player_{observer}"
            assert np.array_equal(seen[0]["action_mask"], seen[1]["action_mask"])
            assert seen[0]["action_mask"].any() == on_turn
            assert envs[0].agent_selection == envs[1].agent_selection
            assert envs[0].rewards == envs[1].rewards
            assert envs[0].infos == envs[1].infos
            drawn = [render(env.setup, env.states, 0, observer, env.history) for env in envs]
            assert drawn[0] == drawn[1]
            if action:
                for env in envs:
                    env.step(GAME.action_id(action))


def playable_bots() -> list[Any]:
    """All bots of the registry that need no file, but for the cheats."""
    bots = []
    for name in bot_names():
        try:
            bots.append(make_bot(name if JIT else SMALL.get(name, name)))
        except (ValueError, MissingExtraError):  # it needs a file, or a library that is not here
            continue
    return [bot for bot in bots if not bot.sees_all]


@pytest.mark.parametrize("contract", list(CONTRACTS))
def test_bots_choose_the_same_in_both_deals(contract: str) -> None:
    """A bot has nothing to tell the two deals by."""
    rng = random.Random(contract)
    setup = bolola_setup(contract)
    bots = playable_bots()
    assert bots
    for _ in range(fewer(6, 1)):
        twins = Twins(contract, rng)
        word = rng.getrandbits(64)
        for bot in bots:
            chosen = [
                bot.act(View(GAME, setup.config, table.view(twins.observer), word))
                for table in twins.tables()
            ]
            assert chosen[0] == chosen[1], bot.name


def test_a_leak_would_be_noticed() -> None:
    """The comparison itself can fail: a view that keeps one hidden hand differs between twins."""
    twins = Twins("hearts", random.Random(2))
    views = [table.view(twins.observer) for table in twins.tables()]
    assert views[0].tobytes() == views[1].tobytes()
    for view, table in zip(views, twins.tables(), strict=True):
        view["hands"][0] = table.states["hands"][0]
    assert views[0].tobytes() != views[1].tobytes()
