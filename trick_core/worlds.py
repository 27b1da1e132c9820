"""What a seat must reckon with: the number of worlds, and worlds drawn with exactly equal chances.

A *world* puts every card that the seat has not seen somewhere. A *place* is where such a card may lie: the hands of the three seats
after it in play order (places 0, 1, 2), and in games that lay cards aside the pile (place 3). What is public rules out places card by
card. So cards that may lie in the same places are alike; they form a *class*, numbered by the set of its places (bit ``p`` for place
``p``).

All worlds in which each place gets the same number of cards from each class make a *share-out*, and their number is a product of
binomial coefficients. Going through the share-outs counts the worlds; drawing one with a chance proportional to its worlds, and then
the cards of each class at random, makes every world equally likely. Nothing is rejected or repaired. Most share-outs need not be
visited: they are gone through for the pile and for the first hand alone, since the two hands that are left share what may lie in both
in as many ways as one binomial says.

Numbers of worlds are float64: coefficients are exact up to 2**53, and sums and products are off by some 1e-15 of their value, far below
what any sample shows. A draw takes 53 random bits for the share-out and 32 for each card (see :func:`trick_core.rng.below`).

A game says where each unseen card may lie (``lay_out``) and takes the drawn cards (``fill``); :func:`make_belief` does the rest. A set of
cards is one or two words, as the game keeps it.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from trick_core.bits import ONE, ZERO, popcount, select
from trick_core.game import Belief
from trick_core.jit import kernel
from trick_core.rng import advance, below, mix

PILE = 3
_PILE_BIT = 1 << PILE
_NOWHERE = -1
_ALL_ONES = np.uint64(2**64 - 1)

#: Most unseen cards, and most cards at one place, that a game may have.
MAX_CARDS = 63
MAX_ROOM = 31

#: ``CHOOSE[n, k]``: ways to choose k of n cards.
CHOOSE = np.array(
    [[float(math.comb(n, k)) for k in range(MAX_ROOM + 1)] for n in range(MAX_CARDS + 1)]
)

_S11 = np.uint64(11)
_UNIT = 2.0**-53
_FOUR = np.uint64(4)
_LOW4 = np.uint64(15)


def work_dtype(*, cases: int, splits: int) -> np.dtype[Any]:
    """The record that a belief works in.

    Args:
        cases: How many the game has.
        splits: Most ways to share out the pile among the classes, over all cases together.
    """
    return np.dtype(
        [
            # What the game lays out, in words as it keeps its sets of cards.
            ("unseen", "u8", (2,)),  # cards to be shared out
            ("may", "u8", (4, 2)),  # cards that may lie there, by place; others may be set as well
            ("room", "i8", (4,)),  # cards that lie there, by place
            ("must", "i8"),  # place 0..2 that holds one of ``marked`` in every world; -1: none
            ("marked", "u8", (2,)),  # read where ``must`` names a place
            ("single", "u8", (2,)),  # cards whose places or marks differ from case to case
            ("own", "u8", (2,)),  # cards that the seat holds
            ("aside", "u8", (2,)),  # cards that the seat knows to lie aside
            ("pin", "u8", (2,)),  # one more condition: this card ...
            ("pin_place", "i8"),  # ... lies at this place; -1: no condition
            # Classes of one case.
            ("sets", "u8", (16, 2)),  # their cards, by class
            ("plain", "i8", (16,)),  # number of them that are not marked, by class
            ("special", "i8", (16,)),  # number of them that are marked, by class
            ("order", "i8", (3,)),  # the three hands in the order in which they get their cards
            # A split: how many cards the pile gets from each part, a part being the marked or the other cards of a class.
            ("parts", "i8"),  # number of parts that may but need not lie there
            ("part", "i8", (14,)),  # 2 * class, plus 1 for the marked cards
            ("part_size", "i8", (14,)),
            ("part_take", "i8", (14,)),  # cards of the part that lie in the pile
            ("rest", "i8", (8,)),  # cards left for the hands, by class without the pile
            ("rest_plain", "i8", (8,)),  # of these, not marked
            ("taken", "i8", (3,)),  # cards of the first hand from the classes that it shares
            ("ways", "f8", (4,)),  # ways to take them, from the i-th of these classes on
            ("ways_plain", "f8", (4,)),  # the same without a marked card
            # All splits of all cases.
            ("splits", "i8"),
            ("code", "u8", (splits,)),  # part_take, four bits a part
            ("sums", "f8", (splits,)),  # worlds of this split and those before it
            ("ends", "i8", (cases,)),  # number of splits up to the end of the case
            # A world.
            ("drawn", "u8", (4, 2)),  # cards, by place
        ],
        align=True,
    )


@kernel
def pick(x: Any, y: Any, k: Any, random: Any) -> Any:
    """``k`` cards of a set of two words, each choice with the same chance: its words, and the random state after it."""
    size = popcount(x) + popcount(y)
    fewer = min(k, size - k)  # draw those that are left out where they are fewer
    left_x, left_y = x, y
    for i in range(fewer):
        which = below(mix(random), size - i)
        random = advance(random)
        here = popcount(left_x)
        if which < here:
            left_x ^= ONE << np.uint64(select(left_x, which))
        else:
            left_y ^= ONE << np.uint64(select(left_y, which - here))
    if fewer == k:
        return x ^ left_x, y ^ left_y, random
    return left_x, left_y, random


@kernel
def fraction(random: Any) -> Any:
    """A number in [0, 1) from a random state, a multiple of 2**-53."""
    return np.float64(mix(random) >> _S11) * _UNIT


@kernel
def share_hands(work: Any, target: Any) -> Any:
    """Ways to share ``rest`` among the three hands; stops as soon as there are more than ``target``.

    The share-out that it stopped at (or the last one possible) stands in ``taken``: cards of the first hand from the class that
    it shares with the second, with the third, and with both.
    """
    a, b, c = work.order[0], work.order[1], work.order[2]
    in_a, in_b, in_c = 1 << a, 1 << b, 1 << c
    size_ab, size_ac, size_abc = (
        work.rest[in_a | in_b],
        work.rest[in_a | in_c],
        work.rest[in_a | in_b | in_c],
    )
    size_bc = work.rest[in_b | in_c]
    room_a = work.room[a] - work.rest[in_a]
    room_b = work.room[b] - work.rest[in_b]
    # Only with marked cards that need not lie there anyway.
    must = work.must >= 0 and work.rest[in_a] == work.rest_plain[in_a]
    plain_ab, plain_ac, plain_abc = (
        work.rest_plain[in_a | in_b],
        work.rest_plain[in_a | in_c],
        work.rest_plain[in_a | in_b | in_c],
    )
    total = 0.0
    for ab in range(max(0, size_ab - room_b), min(size_ab, room_a) + 1):
        need = room_b - (size_ab - ab)
        for ac in range(max(0, room_a - ab - size_abc), min(size_ac, room_a - ab) + 1):
            abc = room_a - ab - ac
            pool = size_bc + size_abc - abc
            if need > pool:
                continue
            ways = CHOOSE[size_ab, ab] * CHOOSE[size_ac, ac] * CHOOSE[size_abc, abc]
            if must:
                ways -= CHOOSE[plain_ab, ab] * CHOOSE[plain_ac, ac] * CHOOSE[plain_abc, abc]
            ways *= CHOOSE[pool, need]
            if ways > 0.0:
                total += ways
                work.taken[0] = ab
                work.taken[1] = ac
                work.taken[2] = abc
                if total > target:
                    return total
    return total


@kernel
def first_split(work: Any, size: Any) -> Any:
    """Let the pile take ``size`` cards from the first parts that have them; False if it cannot be so many."""
    if size < 0:
        return False
    for i in range(work.parts):
        work.part_take[i] = min(size, work.part_size[i])
        size -= work.part_take[i]
    return size == 0


@kernel
def next_split(work: Any) -> Any:
    """The next of all ways to take as many cards; False after the last one."""
    after, free = 0, 0  # cards taken from the later parts, and cards left in them
    for j in range(work.parts):
        i = work.parts - 1 - j
        if free > 0 and work.part_take[i] > 0:
            work.part_take[i] -= 1
            after += 1
            for k in range(i + 1, work.parts):
                work.part_take[k] = min(after, work.part_size[k])
                after -= work.part_take[k]
            return True
        after += work.part_take[i]
        free += work.part_size[i] - work.part_take[i]
    return False


def make_belief(
    lay_out: Callable[..., Any],
    fill: Callable[..., Any],
    *,
    sizes: tuple[int, ...],
    pile: bool,
    cases: int = 1,
    splits: int = 1,
) -> Belief:
    """The belief of a game.

    Args:
        lay_out: Kernel ``(config, st, seat, case, work) -> bool``: write what the game lays out to ``work``. The worlds of a case are
            those that agree with it; a game has several where its conditions depend on where one card lies. False: the case has no
            world. It may read what ``redact`` leaves, and must not read what ``fill`` writes.
        fill: Kernel ``(config, st, seat, random, work)``: write the cards in ``drawn`` to the state, and make it playable.
        sizes: Number of cards in each word of a set, one or two words; card ids count through them.
        pile: Whether cards may lie aside.
        cases: How many there are.
        splits: See :func:`work_dtype`.
    """
    words = len(sizes)
    classes = 16 if pile else 8
    places = 4 if pile else 3

    @kernel
    def classify(work):
        """Sort the unseen cards into classes, and put the hands in order. False: a card may lie nowhere."""
        for w in range(words):
            work.sets[0, w] = work.unseen[w]
            for place in range(places):
                may = work.may[place, w]
                if work.pin_place >= 0 and work.pin_place != place:
                    may &= ~work.pin[w]
                for group in range(1 << place):
                    cards = work.sets[group, w]
                    work.sets[group | (1 << place), w] = cards & may
                    work.sets[group, w] = cards & ~may
        for group in range(classes):
            work.plain[group] = 0
            work.special[group] = 0
            for w in range(words):
                marked = work.marked[w] if work.must >= 0 else ZERO
                work.plain[group] += popcount(work.sets[group, w] & ~marked)
                work.special[group] += popcount(work.sets[group, w] & marked)
        order_hands(work)
        return work.plain[0] + work.special[0] == 0

    @kernel
    def size_of(work, group):
        """Cards that may lie in these hands, and perhaps in the pile."""
        size = work.plain[group] + work.special[group]
        if pile:
            size += work.plain[group | _PILE_BIT] + work.special[group | _PILE_BIT]
        return size

    @kernel
    def order_hands(work):
        """First the hand that must hold something, else the one whose cards can be shared out in the fewest ways."""
        first = work.must
        if first < 0:
            with_0_1, with_0_2, with_1_2 = size_of(work, 3), size_of(work, 5), size_of(work, 6)
            first = 0
            if with_0_1 > max(with_0_2, with_1_2):
                first = 2
            elif with_0_2 > with_1_2:
                first = 1
        work.order[0] = first
        work.order[1] = 1 if first == 0 else 0
        work.order[2] = 1 if first == 2 else 2

    @kernel
    def find_parts(work):
        """The parts of which the pile may take some; returns how many cards it takes from them in all."""
        work.parts = 0
        if not pile:
            return 0
        for group in range(_PILE_BIT + 1, 16):
            for kind in range(2):
                size = work.plain[group] if kind == 0 else work.special[group]
                if size > 0:
                    work.part[work.parts] = 2 * group + kind
                    work.part_size[work.parts] = size
                    work.parts += 1
        return work.room[PILE] - work.plain[_PILE_BIT] - work.special[_PILE_BIT]

    @kernel
    def settle_pile(work):
        """Fill ``rest`` with what the split leaves to the hands; returns the ways to take the split's cards."""
        for group in range(8):
            work.rest_plain[group] = work.plain[group]
            work.rest[group] = work.plain[group] + work.special[group]
        ways = 1.0
        for i in range(work.parts):
            group = (work.part[i] >> 1) & 7
            left = work.part_size[i] - work.part_take[i]
            ways *= CHOOSE[work.part_size[i], work.part_take[i]]
            work.rest[group] += left
            if work.part[i] & 1 == 0:
                work.rest_plain[group] += left
        return ways

    @kernel
    def fits(work):
        """Whether there are as many cards as room for them."""
        cards, room = 0, 0
        for group in range(classes):
            cards += work.plain[group] + work.special[group]
        for place in range(places):
            room += work.room[place]
        return cards == room

    @kernel
    def count_case(work, total):
        """Add the splits of a case; returns ``total`` and its worlds."""
        if not classify(work) or not fits(work):
            return total
        found = first_split(work, find_parts(work))
        while found:
            pile_ways = settle_pile(work)
            ways = pile_ways * share_hands(work, np.inf)
            if ways > 0.0:
                total += ways
                code = ZERO
                for i in range(work.parts):
                    code |= np.uint64(work.part_take[i]) << (_FOUR * np.uint64(i))
                work.code[work.splits] = code
                work.sums[work.splits] = total
                work.splits += 1
            found = next_split(work)
        return total

    @kernel
    def count(config, st, seat, place, card_0, card_1, work):
        work.pin_place = place
        work.pin[0], work.pin[1] = card_0, card_1
        work.splits = 0
        total = 0.0
        for case in range(cases):
            if lay_out(config, st, seat, case, work):
                total = count_case(work, total)
            work.ends[case] = work.splits
        return total

    @kernel
    def prepare(config, st, seat, work):
        return count(config, st, seat, _NOWHERE, ZERO, ZERO, work)

    @kernel
    def find_split(work, target):
        """The first split up to which there are more worlds than ``target``."""
        low, high = 0, work.splits - 1
        while low < high:
            middle = (low + high) >> 1
            if work.sums[middle] > target:
                high = middle
            else:
                low = middle + 1
        return low

    @kernel
    def recall_split(config, st, seat, work, split):
        """Lay out the split's case again, and let the pile take what the split says."""
        case = 0
        while case < cases - 1 and split >= work.ends[case]:
            case += 1
        lay_out(config, st, seat, case, work)
        classify(work)
        find_parts(work)
        for i in range(work.parts):
            work.part_take[i] = (work.code[split] >> (_FOUR * np.uint64(i))) & _LOW4
        return settle_pile(work)

    @kernel
    def take(work, place, group, marked_x, marked_y, k, random):
        """Draw ``k`` cards of a class, of those in the given words, for a place."""
        y = work.sets[group, 1] & marked_y if words == 2 else ZERO
        x, y, random = pick(work.sets[group, 0] & marked_x, y, k, random)
        work.drawn[place, 0] |= x
        if words == 2:
            work.drawn[place, 1] |= y
        return random

    @kernel
    def draw_pile(work, random):
        """The pile's cards; what is left of each class goes to the class without the pile."""
        for w in range(words):
            work.drawn[PILE, w] = work.sets[_PILE_BIT, w]
        for i in range(work.parts):
            if work.part_take[i] > 0:
                x, y = _ALL_ONES, _ALL_ONES
                if work.must >= 0:
                    marked = work.part[i] & 1 == 1
                    x = work.marked[0] if marked else ~work.marked[0]
                    y = work.marked[1] if marked else ~work.marked[1]
                group = work.part[i] >> 1
                random = take(work, PILE, group, x, y, work.part_take[i], random)
        for group in range(1, 8):
            for w in range(words):
                work.sets[group, w] |= work.sets[group | _PILE_BIT, w] & ~work.drawn[PILE, w]
        return random

    @kernel
    def shared_class(work, i):
        """The classes that the first hand shares: with the second, with the third, with both."""
        if i == 2:
            return 7
        return (1 << work.order[0]) | (1 << work.order[1 + i])

    @kernel
    def draw_first(work, random):
        """The cards of the first hand."""
        first = work.order[0]
        for w in range(words):
            work.drawn[first, w] = work.sets[1 << first, w]
        # Ways for the classes from the i-th on to give their cards: any, and any that are not marked.
        work.ways[3] = 1.0
        work.ways_plain[3] = 1.0
        for j in range(3):
            i = 2 - j
            group, k = shared_class(work, i), work.taken[i]
            work.ways[i] = work.ways[i + 1] * CHOOSE[work.rest[group], k]
            work.ways_plain[i] = work.ways_plain[i + 1] * CHOOSE[work.rest_plain[group], k]
        must = work.must >= 0 and work.rest[1 << first] == work.rest_plain[1 << first]
        for i in range(3):
            group, k = shared_class(work, i), work.taken[i]
            if not must:
                random = take(work, first, group, _ALL_ONES, _ALL_ONES, k, random)
                continue
            plain, special = work.rest_plain[group], work.rest[group] - work.rest_plain[group]
            target = fraction(random) * (work.ways[i] - work.ways_plain[i])
            random = advance(random)
            marked, total = 0, 0.0
            for n in range(max(0, k - plain), min(special, k) + 1):
                after = work.ways[i + 1]
                if n == 0:
                    after -= work.ways_plain[i + 1]
                here = CHOOSE[special, n] * CHOOSE[plain, k - n] * after
                if here > 0.0:
                    marked = n
                    total += here
                    if total > target:
                        break
            x, y = work.marked[0], work.marked[1]
            random = take(work, first, group, x, y, marked, random)
            random = take(work, first, group, ~x, ~y, k - marked, random)
            must = marked == 0
        return random

    @kernel
    def draw_others(work, random):
        """The cards of the second hand, and the rest for the third."""
        a, b, c = work.order[0], work.order[1], work.order[2]
        pool_x, pool_y = ZERO, ZERO
        size = 0
        for w in range(words):
            drawn = work.drawn[a, w]
            pool = (work.sets[(1 << b) | (1 << c), w] | work.sets[7, w]) & ~drawn
            if w == 0:
                pool_x = pool
            else:
                pool_y = pool
            work.drawn[b, w] = work.sets[1 << b, w] | (work.sets[(1 << a) | (1 << b), w] & ~drawn)
            work.drawn[c, w] = work.sets[1 << c, w] | (work.sets[(1 << a) | (1 << c), w] & ~drawn)
            size += popcount(work.drawn[b, w])
        x, y, random = pick(pool_x, pool_y, work.room[b] - size, random)
        work.drawn[b, 0] |= x
        work.drawn[c, 0] |= pool_x ^ x
        if words == 2:
            work.drawn[b, 1] |= y
            work.drawn[c, 1] |= pool_y ^ y
        return random

    @kernel
    def sample(config, st, seat, random, work):
        last = work.splits - 1
        target = fraction(random) * work.sums[last]
        random = advance(random)
        split = find_split(work, target)
        before = work.sums[split - 1] if split > 0 else 0.0
        pile_ways = recall_split(config, st, seat, work, split)
        share_hands(work, (target - before) / pile_ways)
        if pile:
            random = draw_pile(work, random)
        random = draw_first(work, random)
        random = draw_others(work, random)
        fill(config, st, seat, random, work)
        return advance(random)

    work = work_dtype(cases=cases, splits=splits)
    return Belief(prepare, sample, count, work, sizes, pile)
