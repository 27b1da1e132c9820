"""Bolola in plain Python, to be read next to the rulebook: cards are texts, hands are sets.

Written from the rules alone and sharing nothing with the fast kernel, so that each can check the
other. The ids in the comments (B-1.1 ... B-8.1) are the clauses of the rulebook.
"""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# B-1.1: 52 cards; in a suit, from low to high, 2 3 4 5 6 7 8 9 T J Q K A.
RANKS = "23456789TJQKA"
SUITS = "CDHS"
DECK = [rank + suit for suit in SUITS for rank in RANKS]

CARD_ID = {card: index for index, card in enumerate(DECK)}
HEIGHT = {card: RANKS.index(card[0]) for card in DECK}
TRUMP_NAMES = {"trump:" + suit: suit for suit in SUITS}


def suit_of(card: str) -> str:
    """The suit of a card text: "H" for "QH"."""
    return card[1]


def in_id_order(cards: Iterable[str]) -> list[str]:
    """The cards as a list, in the order of their ids."""
    return sorted(cards, key=CARD_ID.__getitem__)


# ---------------------------------------------------------------------------- contracts


@dataclass(frozen=True)
class Row:
    """A contract, as a row of a table (B-8.1)."""

    name: str
    card_points: dict[str, int]  # every card of the deck -> points for its taker
    trick_points: int  # points for any trick
    trick_number_points: dict[int, int]  # 1..13 -> further points for that trick
    locked_suit: str | None  # may not be led yet; a suit, or "trump" for the trump suit
    void_tiers: tuple[frozenset[str], ...]  # duties of a hand without the suit led, in order
    under_duty: frozenset[str]  # duties as soon as a higher card of the suit led is there
    trumps: bool

    def __post_init__(self) -> None:
        if set(self.card_points) != set(DECK):
            raise ValueError(f"{self.name}: card_points must name each of the 52 cards")
        if set(self.trick_number_points) != set(range(1, 14)):
            raise ValueError(f"{self.name}: trick_number_points must name tricks 1 to 13")
        if self.locked_suit not in (None, *SUITS, "trump"):
            raise ValueError(f"{self.name}: locked_suit is {self.locked_suit!r}")
        if self.locked_suit == "trump" and not self.trumps:
            raise ValueError(f"{self.name}: the trump suit is locked, but there are no trumps")
        for cards in (*self.void_tiers, self.under_duty):
            if not cards <= set(DECK):
                raise ValueError(f"{self.name}: not cards: {sorted(cards - set(DECK))}")


def make_row(
    name: str,
    *,
    card_points: Mapping[str, int] | None = None,
    trick_points: int = 0,
    trick_number_points: Mapping[int, int] | None = None,
    locked_suit: str | None = None,
    void_tiers: Sequence[Collection[str]] = (),
    under_duty: Collection[str] = (),
    trumps: bool = False,
) -> Row:
    """A row in which cards and tricks that are not named score nothing."""
    return Row(
        name=name,
        card_points=dict.fromkeys(DECK, 0) | dict(card_points or {}),
        trick_points=trick_points,
        trick_number_points=dict.fromkeys(range(1, 14), 0) | dict(trick_number_points or {}),
        locked_suit=locked_suit,
        void_tiers=tuple(frozenset(tier) for tier in void_tiers),
        under_duty=frozenset(under_duty),
        trumps=trumps,
    )


JACKS = frozenset({"JC", "JD", "JH", "JS"})
QUEENS = frozenset({"QC", "QD", "QH", "QS"})
KINGS = frozenset({"KC", "KD", "KH", "KS"})
HEARTS = frozenset(rank + "H" for rank in RANKS)
KING_OF_HEARTS = frozenset({"KH"})


def each(cards: Iterable[str], points: int) -> dict[str, int]:
    """The same points for each of the cards."""
    return dict.fromkeys(cards, points)


def many_points(sign: int) -> dict[str, int]:
    """Card points of `all_penalties` (sign -1) and `bolola` (sign +1)."""
    # B-2.1: a card scores under every heading that it falls under; the King of hearts under three.
    points = dict.fromkeys(DECK, 0)
    for cards, amount in (
        (JACKS, 20),
        (KINGS, 20),
        (QUEENS, 30),
        (HEARTS, 10),
        (KING_OF_HEARTS, 95),
    ):
        for card in cards:
            points[card] += sign * amount
    return points


# What scores: the table of the nine contracts. The other columns, for a contract:
# - locked_suit: B-3.1 none, B-3.2 hearts, B-3.3 the trump suit;
# - under_duty: B-4.1 none, B-4.2 Jacks and Kings, B-4.3 Queens, B-4.4 all three;
# - void_tiers: B-5.1 none, B-5.2 to B-5.6 as written there;
# - trumps: B-1.4, in `trump` alone (with B-4.6, B-4.7 and B-5.7).
ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        make_row("no_tricks", trick_points=-50),
        make_row("trump", trick_points=50, locked_suit="trump", trumps=True),
        make_row(
            "jacks_kings",
            card_points=each(JACKS | KINGS, -60),
            void_tiers=[JACKS | KINGS],
            under_duty=JACKS | KINGS,
        ),
        make_row(
            "queens",
            card_points=each(QUEENS, -100),
            void_tiers=[QUEENS],
            under_duty=QUEENS,
        ),
        make_row(
            "hearts",
            card_points=each(HEARTS, -30),
            locked_suit="H",
            void_tiers=[HEARTS],
        ),
        make_row("last_two", trick_number_points={12: -120, 13: -240}),
        make_row(
            "king_of_hearts",
            card_points=each(KING_OF_HEARTS, -320),
            locked_suit="H",
            void_tiers=[KING_OF_HEARTS, HEARTS],
        ),
        make_row(
            "all_penalties",
            card_points=many_points(-1),
            trick_points=-15,
            trick_number_points={12: -40, 13: -60},
            locked_suit="H",
            void_tiers=[JACKS | QUEENS | KINGS | HEARTS],
            under_duty=JACKS | QUEENS | KINGS,
        ),
        make_row(
            "bolola",
            card_points=many_points(+1),
            trick_points=15,
            trick_number_points={12: 40, 13: 60},
            locked_suit="H",
        ),
    )
}

# B-7.1: seven penalty contracts, four times `trump`, `bolola`.
MATCH_ORDER: tuple[str, ...] = (
    "no_tricks",
    "jacks_kings",
    "queens",
    "hearts",
    "last_two",
    "king_of_hearts",
    "all_penalties",
    "trump",
    "trump",
    "trump",
    "trump",
    "bolola",
)


# ---------------------------------------------------------------------------- legal cards


@dataclass(frozen=True)
class Position:
    """What everybody can see when a card is to be played, as far as legality depends on it."""

    row: Row
    trump: str | None  # the trump suit
    trick: tuple[str, ...]  # cards in the current trick, in the order played
    suits_played: frozenset[str]  # suits of all cards played in this deal


def legal_cards(position: Position, hand: Collection[str]) -> set[str]:
    """The cards of the hand that may be played."""
    if not position.trick:
        return leads(position, hand)
    led = suit_of(position.trick[0])
    # B-1.3: who holds the suit led must follow it.
    if any(suit_of(card) == led for card in hand):
        return follows(position, hand)
    return discards(position, hand)


def leads(position: Position, hand: Collection[str]) -> set[str]:
    """Leading a trick (B-3)."""
    locked = position.row.locked_suit
    # B-3.3: the locked suit of `trump` is the trump suit.
    if locked == "trump":
        locked = position.trump
    others = {card for card in hand if suit_of(card) != locked}
    # B-3.2, B-3.3: the suit opens when a card of it was played in this deal, in whatever way,
    # and to a hand that has nothing else. B-3.1: where no suit is locked, any card.
    if locked in position.suits_played or not others:
        return set(hand)
    return others


def follows(position: Position, hand: Collection[str]) -> set[str]:
    """Playing to the suit led with cards of that suit (B-4)."""
    row = position.row
    led = suit_of(position.trick[0])
    of_suit = {card for card in hand if suit_of(card) == led}
    groups: list[set[str]] = []
    # B-4.6: where a trump was led, a higher trump than the trick's highest if there is one.
    # B-4.7: where a plain suit was led, no duty to win.
    if row.trumps and led == position.trump:
        groups.append(higher_trumps(position, of_suit))
    # B-4.2, B-4.3, B-4.4: one of the duty cards that lie under a higher card of the trick.
    # B-4.5: only this trick counts, and in it only cards of the suit led.
    on_table = [card for card in position.trick if suit_of(card) == led]
    groups.append(
        {
            card
            for card in of_suit
            if card in row.under_duty and any(HEIGHT[other] > HEIGHT[card] for other in on_table)
        }
    )
    # B-4.1, and wherever no duty arises: any card of the suit.
    groups.append(of_suit)
    return first_not_empty(groups)


def discards(position: Position, hand: Collection[str]) -> set[str]:
    """Playing without the suit led (B-5)."""
    row = position.row
    groups: list[set[str]] = []
    # B-5.7: a trump, higher than the trick's highest if there is one, else any trump.
    if row.trumps:
        trumps = {card for card in hand if suit_of(card) == position.trump}
        groups += [higher_trumps(position, trumps), trumps]
    # B-5.2 to B-5.6: the duties in their order, with free choice in each.
    groups += [{card for card in hand if card in tier} for tier in row.void_tiers]
    # B-5.1, and wherever no duty arises: any card.
    groups.append(set(hand))
    return first_not_empty(groups)


def higher_trumps(position: Position, trumps: set[str]) -> set[str]:
    """Those of the trumps that beat every trump in the trick."""
    on_table = [card for card in position.trick if suit_of(card) == position.trump]
    return {card for card in trumps if all(HEIGHT[card] > HEIGHT[other] for other in on_table)}


def first_not_empty(groups: list[set[str]]) -> set[str]:
    """The first of the groups that has a card."""
    return next((group for group in groups if group), set())


# ---------------------------------------------------------------------------- taking and scoring


def winning_card(trick: Sequence[str], trump: str | None) -> str:
    """The card that takes the trick."""
    # B-1.4: the highest trump if there is one, else the highest card of the suit led.
    trumps = [card for card in trick if suit_of(card) == trump]
    of_suit = [card for card in trick if suit_of(card) == suit_of(trick[0])]
    return max(trumps or of_suit, key=HEIGHT.__getitem__)


def points_of_trick(row: Row, number: int, trick: Iterable[str]) -> int:
    """What the trick of that number gives to its taker."""
    cards = sum(row.card_points[card] for card in trick)
    return cards + row.trick_points + row.trick_number_points[number]


def is_decided(row: Row, tricks_played: int, unplayed: Iterable[str]) -> bool:
    """Whether nothing that is still to come scores (B-1.5, `early_stop`)."""
    later_tricks = range(tricks_played + 1, 14)
    return not any(row.card_points[card] for card in unplayed) and not any(
        row.trick_points + row.trick_number_points[number] for number in later_tricks
    )


# ---------------------------------------------------------------------------- a deal


class Deal:
    """One deal, from the naming of trump or the first lead to the last trick."""

    def __init__(
        self,
        row: Row | str,
        hands: Sequence[Collection[str]],
        starter: int,
        trump: str | None = None,
        early_stop: bool = False,
    ) -> None:
        self.row = ROWS[row] if isinstance(row, str) else row
        # B-1.1: four seats, 13 cards each.
        if [len(hand) for hand in hands] != [13] * 4:
            raise ValueError("a deal is four hands of 13 cards")
        if {card for hand in hands for card in hand} != set(DECK):
            raise ValueError("a deal has each of the 52 cards once")
        if starter not in range(4):
            raise ValueError(f"starter is {starter!r}, expected 0 to 3")
        if trump is not None and (trump not in SUITS or not self.row.trumps):
            raise ValueError(f"trump is {trump!r} in {self.row.name}")
        self.hands: list[set[str]] = [set(hand) for hand in hands]
        self.starter = starter
        self.trump = trump
        self.early_stop = early_stop
        self.seat: int | None = starter
        self.points = [0, 0, 0, 0]
        self.trick: list[tuple[int, str]] = []  # (seat, card) in the current trick
        self.tricks: list[list[tuple[int, str]]] = []  # the finished tricks
        self._suits_played: set[str] = set()
        self._can_hold: list[set[str]] = [set(DECK) for _ in range(4)]
        self._not_judged: list[tuple[Position, int, str]] = []  # plays can_hold has yet to read

    @property
    def over(self) -> bool:
        """Whether the deal has ended."""
        return self.seat is None

    @property
    def trick_number(self) -> int:
        """Number of the trick being played, from 1; after the end, of the last one played."""
        return len(self.tricks) + (0 if self.over else 1)

    @property
    def naming_trump(self) -> bool:
        """Whether the starter has yet to name trump."""
        # B-6.1: asked before the first card, unless the suit was fixed.
        return self.row.trumps and self.trump is None

    @property
    def position(self) -> Position:
        """The public position."""
        cards = tuple(card for _, card in self.trick)
        return Position(self.row, self.trump, cards, frozenset(self._suits_played))

    def legal(self) -> list[str]:
        """All legal actions, in the order of their ids."""
        if self.seat is None:
            return []
        if self.naming_trump:
            return list(TRUMP_NAMES)
        return in_id_order(legal_cards(self.position, self.hands[self.seat]))

    def play(self, action: str) -> list[int]:
        """Play a card or name trump; the points that this gave to the four seats."""
        if self.seat is None:
            raise ValueError("the deal is over")
        if action not in self.legal():
            raise ValueError(f"seat {self.seat} may not play {action!r}; legal: {self.legal()}")
        if self.naming_trump:
            self.trump = TRUMP_NAMES[action]
            return [0, 0, 0, 0]
        self._not_judged.append((self.position, self.seat, action))
        self.hands[self.seat].remove(action)
        self._suits_played.add(suit_of(action))
        self.trick.append((self.seat, action))
        if len(self.trick) < 4:
            # B-1.2: play passes to the next seat.
            self.seat = (self.seat + 1) % 4
            return [0, 0, 0, 0]
        return self._finish_trick()

    def _finish_trick(self) -> list[int]:
        """Give the full trick to its taker, who leads the next if there is one."""
        cards = [card for _, card in self.trick]
        best = winning_card(cards, self.trump)
        taker = next(seat for seat, card in self.trick if card == best)
        given = [0, 0, 0, 0]
        given[taker] = points_of_trick(self.row, self.trick_number, cards)
        self.points = [total + gift for total, gift in zip(self.points, given, strict=True)]
        self.tricks.append(self.trick)
        self.trick = []
        # B-1.5: 13 tricks, or with `early_stop` until the last point has fallen.
        # B-7.3: nothing else ends a deal.
        unplayed = set().union(*self.hands)
        decided = self.early_stop and is_decided(self.row, len(self.tricks), unplayed)
        # B-1.2: the winner leads the next trick.
        self.seat = None if decided or len(self.tricks) == 13 else taker
        return given

    def can_hold(self, seat: int) -> set[str]:
        """The cards that public play has not ruled out for the seat.

        A card was ruled out when the seat made a play that would have been illegal with that
        card beside it; and whatever has been played is out for everybody.
        """
        for position, player, played in self._not_judged:
            for cards in self._can_hold:
                cards.discard(played)
            self._can_hold[player] = {
                card
                for card in self._can_hold[player]
                if played in legal_cards(position, {played, card})
            }
        self._not_judged.clear()
        return set(self._can_hold[seat])


# ---------------------------------------------------------------------------- a match


class Match:
    """Deals in a row (B-7). `trumps` has an entry a deal, None where the starter names trump."""

    def __init__(
        self,
        deals: Sequence[Sequence[Collection[str]]],
        starter: int,
        order: Sequence[Row | str] = MATCH_ORDER,
        trumps: Sequence[str | None] | None = None,
        early_stop: bool = False,
    ) -> None:
        if len(deals) != len(order):
            raise ValueError(f"{len(deals)} deals for {len(order)} contracts")
        self.deals = deals
        self.order = [ROWS[row] if isinstance(row, str) else row for row in order]
        self.trumps = [None] * len(order) if trumps is None else list(trumps)
        if len(self.trumps) != len(order):
            raise ValueError(f"{len(self.trumps)} trumps for {len(order)} contracts")
        self.starter = starter
        self.early_stop = early_stop
        self.scores = [0, 0, 0, 0]
        self.deal_number = 1
        self.deal = self._open_deal()

    def _open_deal(self) -> Deal:
        index = self.deal_number - 1
        # B-7.2: each next deal is started by the next seat.
        starter = (self.starter + index) % 4
        return Deal(
            self.order[index], self.deals[index], starter, self.trumps[index], self.early_stop
        )

    @property
    def seat(self) -> int | None:
        """The seat to act, None when the match is over."""
        return self.deal.seat

    @property
    def over(self) -> bool:
        """Whether the last deal has ended."""
        return self.deal.over

    def legal(self) -> list[str]:
        """All legal actions, in the order of their ids."""
        return self.deal.legal()

    def play(self, action: str) -> list[int]:
        """Act in the current deal; the points that this gave to the four seats."""
        given = self.deal.play(action)
        self.scores = [total + gift for total, gift in zip(self.scores, given, strict=True)]
        # B-7.1: one deal for each contract of the order. B-7.3: none is dealt again.
        if self.deal.over and self.deal_number < len(self.order):
            self.deal_number += 1
            self.deal = self._open_deal()
        return given


# ---------------------------------------------------------------------------- helpers


def deal_out(cards: Sequence[str]) -> list[list[str]]:
    """The 52 cards as four hands: the first 13 to seat 0, and so on."""
    return [in_id_order(cards[13 * seat : 13 * seat + 13]) for seat in range(4)]


def random_hands(rng: random.Random) -> list[list[str]]:
    """A fair deal."""
    return deal_out(rng.sample(DECK, 52))


def skewed_hands(rng: random.Random) -> list[list[str]]:
    """A deal nearly sorted by suit: a suit for each hand, then a few cards swapped."""
    suits = rng.sample(SUITS, 4)
    cards = [rank + suit for suit in suits for rank in RANKS]
    for _ in range(rng.randrange(9)):
        one, other = rng.sample(range(52), 2)
        cards[one], cards[other] = cards[other], cards[one]
    return deal_out(cards)


def play_at_random(game: Deal | Match, rng: random.Random) -> list[str]:
    """Play the deal or match to its end; the actions taken."""
    actions: list[str] = []
    while not game.over:
        actions.append(rng.choice(game.legal()))
        game.play(actions[-1])
    return actions


def replay(case: Mapping[str, Any]) -> Deal:
    """Play a game of the cases file and assert everything that it says."""
    deal = Deal(case["contract"], case["hands"], case["starter"])
    for number, (seat, legal, action, points) in enumerate(case["steps"], 1):
        where = f"{case['contract']}, step {number}"
        assert not deal.over, f"{where}: over too early"
        assert deal.seat == seat, f"{where}: seat {deal.seat}, expected {seat}"
        assert deal.legal() == legal, f"{where}: legal {deal.legal()}, expected {legal}"
        given = deal.play(action)
        assert given == points, f"{where}: points {given}, expected {points}"
    assert deal.over, f"{case['contract']}: not over after the last step"
    assert deal.points == case["points"]
    return deal
