"""Worlds of Tarot in every phase: as many as the rules leave, each with the same chance, and each one that can be played on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np
import pytest

from tarot_env.cards import cards_in
from tarot_env.game import GAME
from tarot_env.state import STATE
from tests.belief_worlds import (
    TOO_FAR,
    TarotWatcher,
    TarotWorld,
    card_by_card,
    evenness,
    pile_of,
    played_by,
    stamps,
)
from tests.helpers import fewer
from tests.reference.tarot import (
    DECK,
    KINDS,
    PETIT,
    POLICIES,
    SUIT_CARDS,
    Deal,
    is_petit_sec,
    random_action,
    random_deal,
    stacked_deal,
)
from tests.tarot_engines import cards, say, table
from tests.tarot_table import TarotTable, card_bits, same_table
from trick_core.belief import ASIDE, count_worlds, probabilities, view_of, worlds

PHASES = ("bid", "discard", "chelem", "poignee", "keep", "play")


def view(kernel: TarotTable, observer: int) -> Any:
    return view_of(kernel.setup, kernel.states, 0, observer)


def index(card: str) -> int:
    return DECK.index(card)


# ---------------------------------------------------------------------------- numbers of worlds


def test_worlds_before_the_first_bid() -> None:
    """T-2.2, by combinatorics: 60 unseen cards, three hands of 18 and the chien, less the deals that are annulled."""
    deal = table("T2-T5 KC QC", dealer=3)
    assert PETIT not in deal.hands[0]
    trumps_unseen = [card for card in DECK[56:] if card not in deal.hands[0]]
    suits_unseen = 60 - len(trumps_unseen)

    def shared(*rooms: int) -> int:
        """Ways to share out as many cards as there is room."""
        ways = factorial(sum(rooms))
        for room in rooms:
            ways //= factorial(room)
        return ways

    # A hand that has the Petit and else suit cards alone; the others anything.
    sec = factorial(suits_unseen) // factorial(17) // factorial(suits_unseen - 17)
    sec *= shared(18, 18, 6)
    number = shared(18, 18, 18, 6) - 3 * sec
    seen = view(same_table(deal), 0)
    assert count_worlds(seen) == pytest.approx(number, rel=1e-13)

    shares = probabilities(seen)
    petit = [(shared(17, 18, 18, 6) - sec) / number, shared(18, 18, 18, 5) / number]
    assert shares[1:, index(PETIT)] == pytest.approx([petit[0]] * 3 + [petit[1]], rel=1e-12)
    # With another trump in a hand only the two other hands can be sec, and as many of them as before less this trump.
    others = (
        factorial(42) // factorial(18) ** 2 // factorial(6)
    )  # worlds of a sec hand, and where the trump lies in them
    assert sec % others == 0
    in_hand = shared(17, 18, 18, 6) - 2 * sec * 18 // 42
    aside = shared(18, 18, 18, 5) - 3 * sec * 6 // 42
    wanted = [in_hand / number] * 3 + [aside / number]
    assert shares[1:, index("T9")] == pytest.approx(wanted, rel=1e-12)
    drawn = worlds(seen, fewer(40_000, 200), seed=1)
    for card in (PETIT, "T9", "KS"):
        for seat in (1, 2, 3):
            bits = np.asarray(
                drawn["hands_trumps"][:, seat] if card != "KS" else drawn["hands"][:, seat]
            )
            bit = index(card) - 56 if card != "KS" else index(card)
            share = ((bits >> np.uint64(bit)) & np.uint64(1)).mean()
            assert share == pytest.approx(
                shares[seat, index(card)], abs=4 * 0.5 / len(drawn) ** 0.5
            )
    assert not (drawn["hands_trumps"] == 2).any()  # no petit sec


def test_numbers_are_those_of_counting_card_by_card() -> None:
    """In every phase, for seats on turn or not; and with one card at one place."""
    compared = count_both_ways(random.Random("numbers"), fewer(9, 2))
    if fewer(1, 0):
        assert set(compared) == set(PHASES), compared


@pytest.mark.long
def test_many_numbers_are_those_of_counting_card_by_card() -> None:
    assert count_both_ways(random.Random("many numbers"), fewer(90, 2)).total() > 1


def count_both_ways(rng: random.Random, deals: int) -> Counter[str]:
    """Count the worlds in some positions of these deals; how many, by phase."""
    compared: Counter[str] = Counter()
    for number in range(deals):
        kind = KINDS[number % len(KINDS)]
        deal = stacked_deal(rng, kind)
        kernel = same_table(deal)
        while deal.seat is not None:
            chance = 0.03 if deal.phase == "play" else 1 / (1 + 3 * compared[deal.phase])
            if rng.random() < chance:
                observer = rng.randrange(4)
                compare_numbers(deal, kernel, observer, rng)
                compared[deal.phase] += 1
            action = random_action(deal, rng, POLICIES[kind])
            deal.play(action)
            kernel.play(action)
    return compared


def compare_numbers(deal: Deal, kernel: TarotTable, observer: int, rng: random.Random) -> None:
    number = card_by_card(deal, observer)
    seen = view(kernel, observer)
    assert count_worlds(seen) == pytest.approx(number, rel=1e-12)
    shares = probabilities(seen)
    unseen = TarotWatcher(deal).unseen(observer)
    for card in {rng.choice(unseen), PETIT if PETIT in unseen else unseen[0]}:
        place = rng.randrange(4)
        row = ASIDE if place == 3 else (observer + 1 + place) % 4
        wanted = card_by_card(deal, observer, (card, place)) / number
        assert shares[row, index(card)] == pytest.approx(wanted, rel=1e-11, abs=1e-15)


# ---------------------------------------------------------------------------- endings


def as_words(world: Sequence[frozenset[str]]) -> list[int]:
    bits = [card_bits(cards) for cards in world]
    return [word for number in bits for word in (number & (1 << 56) - 1, number >> 56)]


def drawn_words(drawn: Any, deal: Deal, observer: int) -> np.ndarray[Any, Any]:
    """Worlds as eight words each: the three hands after the observer, and the cards aside that it has not seen."""
    columns = []
    for turn in (1, 2, 3):
        seat = (observer + turn) % 4
        columns += [drawn["hands"][:, seat], drawn["hands_trumps"][:, seat]]
    if not deal.chien_is_public:
        columns += [drawn["chien"], drawn["chien_trumps"]]
    else:
        hidden = drawn["discard"] if observer != deal.taker else np.zeros(len(drawn), np.uint64)
        columns += [hidden, np.zeros(len(drawn), np.uint64)]
    return np.stack([np.asarray(column) for column in columns], axis=1)


def check_all_worlds(
    kernel: TarotTable, watcher: TarotWatcher, observer: int, word: int
) -> set[TarotWorld]:
    """The worlds of a seat against the rules: their number, who holds what, and equal chances."""
    deal = watcher.deal
    wanted = watcher.worlds(observer)
    seen = view(kernel, observer)
    assert count_worlds(seen) == len(wanted)

    shares = np.zeros((5, 78))
    for card in deal.hands[observer]:
        shares[observer, index(card)] = 1
    known = deal.discards if observer == deal.taker else deal.discarded_trumps
    for card in known:
        shares[ASIDE, index(card)] = 1
    rows = [(observer + turn) % 4 for turn in (1, 2, 3)] + [ASIDE]
    for world in wanted:
        for row, place in zip(rows, world, strict=True):
            for card in place:
                shares[row, index(card)] += 1 / len(wanted)
    np.testing.assert_allclose(probabilities(seen), shares, atol=1e-12)

    drawn = worlds(seen, fewer(max(200, 8 * len(wanted)), 10), seed=word)
    found, counts = np.unique(stamps(drawn_words(drawn, deal, observer)), return_counts=True)
    possible = stamps(np.array([as_words(world) for world in wanted], np.uint64))
    assert np.isin(found, possible).all()
    assert abs(evenness(counts, len(wanted))) < TOO_FAR
    return wanted


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "all_pass"])
def test_worlds_are_those_that_the_rules_leave(kind: str) -> None:
    """T-2.2 to T-5.2: in endings of one or two cards a hand, found by trying every sharing out of the unseen cards."""
    rng = random.Random(f"endings {kind}")
    numbers = []
    while len(numbers) < fewer(6, 1):
        deal = stacked_deal(rng, kind)
        kernel, watcher = same_table(deal), TarotWatcher(deal)
        stop = rng.randrange(64, 72)
        while deal.seat is not None and 4 * len(deal.tricks) + len(deal.trick) < stop:
            action = random_action(deal, rng, POLICIES[kind])
            watcher.play(action)
            kernel.play(action)
        if deal.seat is None:
            continue
        observer = rng.randrange(4)
        if len(watcher.unseen(observer)) <= fewer(11, 9):
            numbers.append(len(check_all_worlds(kernel, watcher, observer, len(numbers))))
    assert max(numbers) > 1 or not fewer(1, 0)


def seat_1_follows(
    rng: random.Random, hands: Sequence[str], chien: str, start: str, tricks: int
) -> Deal | None:
    """A deal in which seat 1 has followed suit in so many tricks; None where that did not come about."""
    deal = table(*hands, chien=chien, dealer=3)
    say(deal, start)
    while len(deal.tricks) < tricks:
        legal = deal.legal()
        if deal.phase == "play" and not deal.trick:
            suits = {card[1] for card in deal.hands[1] if card in SUIT_CARDS}
            legal = [card for card in legal if card in SUIT_CARDS and card[1] in suits]
            if not legal:
                return None
        deal.play(rng.choice(legal) if deal.phase in ("play", "discard") else legal[0])
    return deal


def replay_actions(fresh: Deal, actions: list[tuple[int, str]]) -> tuple[TarotTable, TarotWatcher]:
    """The same deal in both engines."""
    kernel, watcher = same_table(fresh), TarotWatcher(fresh)
    for _, action in actions:
        kernel.play(action)
        watcher.play(action)
    return kernel, watcher


def test_the_petit_is_not_dealt_alone() -> None:
    """T-2.2: late in a deal, a hand that has shown no trump has the Petit only with another one or the Excuse."""
    rng, deal = random.Random(2), None
    hands = ("", "2C 3C 4C 5C 2D 3D 4D 5D 2H 3H 4H 5H 2S 3S 4S 5S T1 T2")
    while deal is None or deal.hands[1] != ["T1", "T2"]:
        deal = seat_1_follows(rng, hands, "T16-T21", "garde_contre pass pass pass", 16)
    fresh = table(*hands, chien="T16-T21", dealer=3)
    found = check_all_worlds(*replay_actions(fresh, deal.actions), 0, 7)
    with_petit = [world[0] for world in found if PETIT in world[0]]
    assert with_petit
    assert all(hand & set(DECK[56:]) > {PETIT} for hand in with_petit)


def binds(deal: Deal, observer: int) -> set[str]:
    """Where T-2.2 asks something more of a hand than that the Petit is not its only trump."""
    known: list[set[str]] = [set() for _ in range(4)]
    for seat, card in played_by(deal):
        known[seat].add(card)
    if deal.taker is not None:
        known[deal.taker].update(deal.discarded_trumps)
    known = [cards.intersection(DECK[56:]) for cards in known]
    found = set()
    if any(known[seat] == {PETIT} for seat in range(4) if seat != observer):
        found.add("the Petit was the first trump that a seat played")
    if (
        deal.chien_is_public
        and observer != deal.taker
        and PETIT in TarotWatcher(deal).unseen(observer)
    ):
        assert deal.taker is not None
        if PETIT in deal.chien:
            found.add("the Petit came with the chien")
        elif known[deal.taker] and known[deal.taker] <= set(deal.chien):
            found.add("the taker's known trumps came with the chien")
    return found


def test_numbers_where_the_petit_was_played_or_the_chien_had_trumps() -> None:
    """T-2.2 is about dealt hands: what was played counts, what the taker picked up does not."""
    rng = random.Random("binds")
    found: Counter[str] = Counter()
    wanted = fewer(6, 1)
    while len(found) < 3 or min(found.values()) < wanted:
        deal = random_deal(rng, taker=rng.randrange(4), contract="garde")
        kernel = same_table(deal)
        while deal.seat is not None and len(deal.tricks) < 8:
            observer = rng.randrange(4)
            new = [reason for reason in binds(deal, observer) if found[reason] < wanted]
            if new and rng.random() < 0.3:
                compare_numbers(deal, kernel, observer, rng)
                for world in worlds(view(kernel, observer), fewer(200, 5), seed=1):
                    assert not any(is_petit_sec(hand) for hand in dealt_in(world)["hands"])
                found.update(new)
            action = random_action(deal, rng, POLICIES["plain"])
            deal.play(action)
            kernel.play(action)


def test_a_leader_who_waits_for_poignees_has_legal_cards_in_its_worlds() -> None:
    """T-4.1: in its view the play is about to begin, and it is on turn."""
    kernel = same_table(table("", "T1-T12", dealer=3))
    kernel.play("garde_contre pass pass pass no_chelem")
    assert (kernel.phase, kernel.seat, kernel.field("leader")) == ("poignee", 1, 0)
    for observer in range(4):
        (world,) = worlds(view(kernel, observer), 1, seed=1)
        legal = {GAME.actions[action] for action in GAME.legal_ids(world)}
        leads = cards_in(int(world["hands"][0]), int(world["hands_trumps"][0]))
        wanted = leads if observer != 1 else ["no_poignee", "poignee_10"]
        assert legal == set(wanted)


def test_a_shown_poignee_stays_where_it_is() -> None:
    """T-4.4: shown trumps are in that hand until they are played; with the Excuse shown it has no other (T-4.3)."""
    deal = table("T1-T9 EX KC QC NC", dealer=3)
    kernel = same_table(deal)
    kernel.play("garde_sans pass pass pass no_chelem poignee_10")
    for observer in (1, 2, 3):
        shares = probabilities(view(kernel, observer))
        assert (shares[0, [index(card) for card in cards("T1-T9 EX")]] == 1).all()
        assert (shares[0, [index(card) for card in cards("T10-T21")]] == 0).all()


def test_a_discarded_trump_tells_of_the_suit_cards() -> None:
    """T-3.2, T-3.3: who discards a trump has no small suit card left, so those of the chien lie aside."""
    deal = table("KC KD KH KS T2-T15", chien="T16 T17 2C 3D 4H 5S", dealer=3)
    kernel = same_table(deal)
    say(deal, "garde pass pass pass 2C 3D 4H 5S T2 T17")
    kernel.play("garde pass pass pass 2C 3D 4H 5S T2 T17")
    for observer in (1, 2, 3):
        shares = probabilities(view(kernel, observer))
        assert (shares[ASIDE, [index(card) for card in cards("2C 3D 4H 5S T2 T17")]] == 1).all()
        assert (shares[0, : len(SUIT_CARDS)] > 0).sum() <= 4
        assert shares[ASIDE].sum() == pytest.approx(6)


# ---------------------------------------------------------------------------- playing the worlds


def dealt_in(world: Any) -> dict[str, Any]:
    """The deal that a world comes from."""
    hands = []
    chien = (int(world["chien"]), int(world["chien_trumps"]))
    taker, contract = int(world["taker"]), int(world["contract"])
    took = contract in (1, 2) and int(world["phase"]) != 1
    for seat in range(4):
        suits = int(world["hands"][seat]) | int(world["played"][seat])
        trumps = int(world["hands_trumps"][seat]) | int(world["played_trumps"][seat])
        if took and seat == taker:
            suits = (suits | int(world["discard"])) & ~chien[0]
            trumps = (trumps | int(world["discard_trumps"])) & ~chien[1]
        hands.append(cards_in(suits, trumps))
    return {"hands": hands, "chien": cards_in(*chien)}


def replayed(
    world: Any, script: list[tuple[int, str, str]], observer: int, kernel: TarotTable
) -> TarotTable:
    """The world's deal, and in it what was public; what is not is filled in from the world.

    Discards are the world's; who is asked for a poignée shows what it showed, else declines, and the observer does what it did.
    """
    other = TarotTable(kernel.setup, deal=dealt_in(world), dealer=int(world["dealer"]))
    discards = cards_in(int(world["discard"]), 0)
    own = [
        action
        for seat, phase, action in script
        if phase in ("poignee", "keep") and seat == observer
    ]
    stop = int(world["phase"]) in (4, 5)  # the observer itself is being asked
    for _, phase, action in script:
        if phase in ("poignee", "keep"):
            continue
        declare(other, world, observer, own)
        if phase == "discard" and action in SUIT_CARDS and int(world["taker"]) != observer:
            action = discards.pop(0)
        other.play(action)
    declare(other, world, observer, own, stop)
    return other


def declare(
    other: TarotTable, world: Any, observer: int, own: list[str], stop: bool = False
) -> None:
    """Get through the questions for poignées."""
    while other.phase in ("poignee", "keep"):
        seat = other.seat
        assert seat is not None
        if seat == observer and (own or stop):
            if not own:
                return
            other.play(own.pop(0))
            continue
        shown = cards_in(0, int(world["shown"][seat]))
        if not shown or other.poignee(seat):
            other.play("no_poignee")
        elif other.phase == "poignee":
            other.play(f"poignee_{len(shown)}")
        else:
            other.play(next(card for card in other.legal() if card not in shown))


#: What a world need not have: the random key, how often was dealt before, and what only the seat that is asked knows.
NOT_COMPARED = ("key", "redeals")
#: Besides, what only the play of the cards uses.
NOT_USED = (*NOT_COMPARED, "ruled", "ruled_trumps")


@pytest.mark.parametrize("kind", KINDS)
def test_worlds_can_be_played_from_the_deal(kind: str) -> None:
    """In every phase the world's deal is a deal, every public action is legal in it, and they lead to the very record."""
    rng = random.Random(f"replay {kind}")
    reached: Counter[str] = Counter()
    for _ in range(fewer(6, 1)):
        deal = stacked_deal(rng, kind)
        kernel = same_table(deal)
        script: list[tuple[int, str, str]] = []
        while True:
            chance = 0.05 if deal.phase == "play" else 0.4
            if rng.random() < chance * fewer(1, 0) + 0.03:
                observer = rng.randrange(4)
                seen = view(kernel, observer)
                for world in worlds(seen, 2, seed=rng.getrandbits(64)):
                    again = replayed(world, script, observer, kernel).states[0]
                    differ = [
                        name
                        for name in STATE.names or ()
                        if name not in (NOT_COMPARED if deal.phase == "play" else NOT_USED)
                        and not np.array_equal(world[name], again[name])
                    ]
                    assert differ == [], (deal.phase, observer)
                reached[deal.phase] += 1
            if deal.seat is None:
                break
            action = random_action(deal, rng, POLICIES[kind])
            script.append((deal.seat, deal.phase, action))
            deal.play(action)
            kernel.play(action)


def test_the_true_world_is_possible_at_every_step() -> None:
    """For every seat, on turn or not: no card is ruled out where it lies, and each place has its number of cards."""
    rng = random.Random("true")
    for number in range(fewer(18, 1)):
        kind = KINDS[number % len(KINDS)]
        deal = stacked_deal(rng, kind)
        kernel = same_table(deal)
        while True:
            observers = (
                range(4) if deal.phase != "play" or deal.seat is None else [rng.randrange(4)]
            )
            for observer in observers:
                shares = probabilities(view(kernel, observer))
                aside = deal.discards if deal.chien_is_public else deal.chien
                places = [*deal.hands, aside]
                for row, place in enumerate(places):
                    assert (shares[row, [index(card) for card in place]] > 0).all()
                    assert shares[row].sum() == pytest.approx(len(place))
            if deal.seat is None:
                break
            action = random_action(deal, rng, POLICIES[kind])
            deal.play(action)
            kernel.play(action)


def test_worlds_go_on_to_the_end() -> None:
    """A world of any phase can be played out."""
    rng = random.Random("out")
    for number in range(fewer(12, 1)):
        kernel = same_table(random_deal(rng))
        kernel.random_play(rng, rng.randrange(30))
        if kernel.over:
            continue
        for world in worlds(view(kernel, number % 4), 2, seed=number):
            assert not any(is_petit_sec(hand) for hand in dealt_in(world)["hands"])
            branch = same_table(random_deal(rng))
            branch.states[0] = world
            branch.random_play(rng, None if fewer(1, 0) else 3)
            assert not branch.over or sum(branch.points()) == 0


def test_cards_aside_are_counted_once() -> None:
    """The chien that nobody sees has six cards; the discards of another seat as many as it has laid aside so far."""
    rng = random.Random(3)
    deal = random_deal(rng, taker=2, contract="garde")
    kernel = same_table(deal)
    for laid in range(7):
        for observer in (0, 1, 3):
            assert probabilities(view(kernel, observer))[ASIDE].sum() == pytest.approx(laid)
            drawn = worlds(view(kernel, observer), 3, seed=laid)
            assert all(int(word).bit_count() == laid for word in drawn["discard"])
        if laid < 6:
            action = next(card for card in deal.legal() if card in SUIT_CARDS)
            deal.play(action)
            kernel.play(action)
    assert len(pile_of(deal, 0)) == 6
