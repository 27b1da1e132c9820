"""Nothing hidden leaks: in another world that a seat cannot tell from this one, it sees the same."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tarot_env.game import GAME
from tests.helpers import fewer
from tests.reference.tarot import (
    KINDS,
    POLICIES,
    Deal,
    random_action,
    random_deal,
    stacked_deal,
)
from tests.tarot_engines import cards, table
from tests.tarot_table import TarotTable, same_table

HIDDEN_PHASES = ("poignee", "keep")

#: (seat, phase, action) of every step.
Script = list[tuple[int, str, str]]


def sees(table: TarotTable, seat: int, history: list[int]) -> tuple[Any, ...]:
    """Everything that a seat is given: observation, mask, infos, the table's text, its view of the record."""
    observation, mask = table.observe(seat)
    record = table.view(seat)
    return (
        observation.tobytes(),
        mask.tobytes(),
        tuple(table.info().items()),
        GAME.render(table.setup, table.states, 0, seat, history),
        record.tobytes(),
    )


def public_history(script: Script) -> list[int]:
    """What all have seen of the actions: for the text's last trick."""
    return [GAME.action_id(action) for _, phase, action in script if phase == "play"]


def swapped_world(deal: Deal, one: str, two: str) -> Deal | None:
    """The deal with two cards exchanged; None if that is a petit sec."""
    exchange = {one: two, two: one}
    hands = [[exchange.get(card, card) for card in hand] for hand in deal.dealt]
    chien = [exchange.get(card, card) for card in deal.chien]
    try:
        return Deal(hands, chien, deal.dealer)
    except ValueError:
        return None


def replay_in(world: Deal, script: Script, one: str, two: str) -> TarotTable | None:
    """Take the script's public actions in another world; None if they are not possible there.

    A hidden discard becomes the exchanged card. A seat that is asked for a poignée shows what it showed in the script,
    or else declines, whether or not it was asked there.
    """
    exchange = {one: two, two: one}
    table = same_table(world)
    declared: dict[int, list[str]] = {}
    for seat, phase, action in script:
        if phase in HIDDEN_PHASES:
            declared.setdefault(seat, []).append(action)
    for seat, phase, action in script:
        if phase in HIDDEN_PHASES:
            continue
        if not declare(table, declared):
            return None
        if phase == "discard":
            action = exchange.get(action, action)
        if table.seat != seat or action not in table.legal():
            return None
        table.force(action)
    return table if declare(table, declared) else None


def declare(table: TarotTable, declared: dict[int, list[str]]) -> bool:
    while table.phase in HIDDEN_PHASES:
        seat = table.seat
        assert seat is not None
        waiting = declared.get(seat, [])
        action = waiting.pop(0) if waiting else "no_poignee"
        if action not in table.legal():
            return False
        table.force(action)
    return True


def unseen_by(deal: Deal, observer: int) -> list[str]:
    """Cards that lie where the observer cannot see them and that were not shown."""
    places = [deal.hands[seat] for seat in range(4) if seat != observer]
    if not deal.chien_is_public:
        places.append(deal.chien)
    elif observer != deal.taker:
        places.append(deal.discards)
    public = set(deal.chien) if deal.chien_is_public else set()
    public |= {card for cards in deal.shown.values() for card in cards}
    public |= set(deal.discarded_trumps)
    return [card for place in places for card in place if card not in public]


@pytest.mark.parametrize("kind", KINDS)
def test_other_worlds_look_the_same(kind: str) -> None:
    """Two unseen cards change places, in every phase: no seat can tell that by anything it is given."""
    rng = random.Random(f"worlds {kind}")
    compared: Counter[str] = Counter()
    for _ in range(fewer(5, 1)):
        deal = stacked_deal(rng, kind)
        table, script = same_table(deal), []
        while deal.seat is not None:
            if deal.phase not in HIDDEN_PHASES and rng.random() < (
                0.12 if deal.phase == "play" else 0.7
            ):
                observer = rng.choice([deal.seat, rng.randrange(4)])
                compared[deal.phase] += compare_worlds(deal, table, script, observer, rng)
            action = random_action(deal, rng, POLICIES[kind])
            script.append((deal.seat, deal.phase, action))
            deal.play(action)
            table.play(action)
        compared["over"] += compare_worlds(deal, table, script, rng.randrange(4), rng)
    if fewer(1, 0):  # few deals find few other worlds
        wanted = {"bid"} if kind == "all_pass" else {"bid", "play"}
        assert all(compared[phase] for phase in wanted), compared


def compare_worlds(
    deal: Deal, table: TarotTable, script: Script, observer: int, rng: random.Random
) -> int:
    """Try a few exchanges; how many made a possible world."""
    unseen = unseen_by(deal, observer)
    found = 0
    for _ in range(fewer(8, 2)):
        if len(unseen) < 2:
            break
        one, two = rng.sample(unseen, 2)
        world = swapped_world(deal, one, two)
        other = None if world is None else replay_in(world, script, one, two)
        if other is None or not same_events(table, other):
            continue
        history = public_history(script)
        assert sees(table, observer, history) == sees(other, observer, history), (one, two)
        found += other.states.tobytes() != table.states.tobytes()
    return found


def same_events(table: TarotTable, other: TarotTable) -> bool:
    """Poignées were shown alike; and at the end the score tells what the cards aside are worth."""
    same = all(table.field(name) == other.field(name) for name in ("shown", "shown_level"))
    return same and table.points() == other.points()


def test_worlds_differ_in_every_phase() -> None:
    """The test above has something to compare in the discard and around the declarations too."""
    rng = random.Random(4)
    compared: Counter[str] = Counter()
    for _ in range(fewer(12, 2)):
        taker = rng.randrange(4)
        deal = random_deal(rng)
        table, script = same_table(deal), []
        while deal.seat is not None and not (deal.phase == "play" and len(deal.tricks) == 2):
            if deal.phase in ("discard", "chelem"):
                for observer in range(4):
                    compared[deal.phase] += compare_worlds(deal, table, script, observer, rng)
            bidder = deal.phase == "bid" and deal.seat == taker and "garde" in deal.legal()
            action = "garde" if bidder else deal.legal()[0]
            script.append((deal.seat, deal.phase, action))
            deal.play(action)
            table.play(action)
    assert compared["discard"] and compared["chelem"], compared


def poignee_worlds() -> tuple[TarotTable, TarotTable]:
    """Seats 1 and 3, then seat 1 alone hold ten trumps, and seats 0 and 2 the same cards in both worlds."""
    common = ("2C 3C 4C 5C 6C 7C 8C 9C TC JC NC QC KC AC AD 2D 3D T21", "", "AH 2H 3H 4H")
    one = table(common[0], "T1-T10 4D", common[2], "T11-T20 5D", dealer=3)
    hands = [list(hand) for hand in one.dealt]
    suits = [card for card in hands[1] if card[0] != "T" or card[1] in "CDHS"]
    hands[3][hands[3].index("T11")] = suits[0]
    hands[1][hands[1].index(suits[0])] = "T11"
    two = Deal(hands, one.chien, 3)
    tables = []
    for deal in (one, two):
        kernel = same_table(deal)
        kernel.play("garde_contre pass pass pass no_chelem")
        tables.append(kernel)
    return tables[0], tables[1]


def test_nobody_sees_who_is_asked_or_declines() -> None:
    """T-4.1: with two seats asked or one, the others see the same, during the questions and after them."""
    asked_twice, asked_once = poignee_worlds()
    assert (asked_twice.seat, asked_once.seat) == (1, 1)
    during = [sees(asked_twice, seat, []) for seat in (0, 2)]
    assert during == [sees(asked_once, seat, []) for seat in (0, 2)]
    asked_twice.play("no_poignee")
    asked_once.play("no_poignee")
    assert (asked_twice.phase, asked_twice.seat) == ("poignee", 3)
    assert (asked_once.phase, asked_once.seat) == ("play", 0)
    # Seat 0 leads: in one world it is on turn, in the other it waits. Its mask tells, the observation does not.
    assert asked_twice.words(0) == asked_once.words(0)
    assert sees(asked_twice, 2, []) == sees(asked_once, 2, [])
    asked_twice.play("no_poignee")
    assert [sees(asked_twice, s, []) for s in (0, 2)] == [sees(asked_once, s, []) for s in (0, 2)]


def test_a_seat_that_is_asked_does_not_see_what_was_asked_before() -> None:
    """T-4.1: seat 3's question looks the same whether or not seat 1 was asked before it."""
    both, _ = poignee_worlds()
    dealt = [both.hand(seat) for seat in range(4)]
    alone_hands = [list(hand) for hand in dealt]
    swap = next(card for card in alone_hands[2] if card[0] != "T" or card[1] in "CDHS")
    alone_hands[2][alone_hands[2].index(swap)] = "T2"
    alone_hands[1][alone_hands[1].index("T2")] = swap
    alone = same_table(Deal(alone_hands, both.set("chien"), 3))
    alone.play("garde_contre pass pass pass no_chelem")
    both.play("no_poignee")
    assert (both.seat, alone.seat) == (3, 3)
    assert sees(both, 3, []) == sees(alone, 3, [])


def test_keeping_back_is_seen_by_the_keeper_alone() -> None:
    """T-4.4: the level chosen and the trumps kept back so far are nobody else's business until the cards are shown."""
    deal = table("2C", "T1-T12", dealer=3)
    kernel = same_table(deal)
    kernel.play("garde_contre pass pass pass no_chelem")
    others = [sees(kernel, seat, []) for seat in (0, 2, 3)]
    own = [kernel.words(1)]
    for action in ("poignee_10", "T4"):
        kernel.play(action)
        assert kernel.phase == "keep"
        assert others == [sees(kernel, seat, []) for seat in (0, 2, 3)]
        assert kernel.words(1) not in own
        own.append(kernel.words(1))
    assert kernel.pieces(1)["phase"] == [[0, 0, 0, 0, 0, 1]]
    kernel.play("T12")
    assert sum(sum(row) for row in kernel.pieces(0)["shown"]) == 10


def test_a_view_holds_no_hidden_card() -> None:
    """A seat's record has no other hand, no hidden chien, no foreign discard and no random key."""
    rng = random.Random(8)
    for contract in ("garde", "garde_sans"):
        deal = random_deal(rng, taker=1, contract=contract)
        kernel = same_table(deal)
        while kernel.seat is not None:
            for seat in range(4):
                view = kernel.view(seat)[0]
                assert view["key"] == 0
                for other in range(4):
                    if other != seat:
                        assert view["hands"][other] == view["hands_trumps"][other] == 0
                if contract == "garde_sans":
                    assert view["chien"] == view["chien_trumps"] == 0
                if seat != 1:
                    assert view["discard"] == 0
                if seat != kernel.seat:
                    assert not np.any(view["legal"]) and view["ruled"] == view["ruled_trumps"] == 0
            kernel.force(rng.choice(kernel.legal()))


def test_bits_that_all_may_see_are_not_hidden() -> None:
    """The public chien, discarded trumps and shown poignées are in everybody's observation."""
    deal = table("KC KD KH KS T2-T15", chien="T16 T17 2C 3D 4H 5S", dealer=3)
    kernel = same_table(deal)
    kernel.play("garde pass pass pass 2C 3D 4H 5S T2 T17 no_chelem poignee_15 T17")
    for seat in range(4):
        pieces = kernel.pieces(seat)
        chien = {GAME.actions[i] for i in np.flatnonzero(pieces["chien"][0])}
        assert chien == set(cards("T16 T17 2C 3D 4H 5S"))
        assert np.flatnonzero(pieces["discarded_trumps"][0]).tolist() == [1, 16]
        shown = pieces["shown"][(0 - seat) % 4]
        assert np.flatnonzero(shown).tolist() == list(range(2, 17))
        assert pieces["hidden_size"] == [4]
