"""Four-player French Tarot, one deal, in plain Python: the fast engine is checked against it.

Source: the numbered clauses of the rulebook, T-1.1 to T-7.6; every rule here names its clause.
Nothing is taken from the fast engine. Cards are text everywhere: `NH` (cavalier of hearts), `TS`
(ten of spades), `T1` to `T21` (trumps), `EX` (the Excuse).

Action ids: 0..55 suit cards (14 * suit + rank), 56 the Excuse, 57..77 trumps 1..21, 78..82 bids,
83..84 chelem, 85..88 poignee. Cards discarded and cards kept back from a poignee are card actions.

Points are counted in half points, as integers, until `Deal.score` writes the result.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

# --- Cards ----------------------------------------------------------------------------------------

# T-1.1: four suits of 14, low to high; trumps 1 to 21; the Excuse, which is not a trump.
SUITS = "CDHS"
RANKS = "A23456789TJNQK"
SUIT_CARDS = [rank + suit for suit in SUITS for rank in RANKS]
EXCUSE = "EX"
PETIT = "T1"
TRUMP_NUMBER = {f"T{number}": number for number in range(1, 22)}
TRUMPS = frozenset(TRUMP_NUMBER)
DECK: list[str] = [*SUIT_CARDS, EXCUSE, *TRUMP_NUMBER]

# T-1.2: the oudlers.
OUDLERS = frozenset({"T1", "T21", EXCUSE})
KINGS = frozenset("K" + suit for suit in SUITS)

# T-1.3: card points in half points; 182 in all.
HALF_POINTS_OF_RANK = {"K": 9, "Q": 7, "N": 5, "J": 3}
HALF_POINTS: dict[str, int] = {
    card: 9 if card in OUDLERS else HALF_POINTS_OF_RANK.get(card[0], 1) for card in DECK
}

# T-1.4: the points that the taker needs, by oudlers.
TARGET = {0: 56, 1: 51, 2: 41, 3: 36}

# T-2.3: the contracts, low to high, and their multipliers.
MULTIPLIER = {"prise": 1, "garde": 2, "garde_sans": 4, "garde_contre": 6}
CONTRACTS = list(MULTIPLIER)

# T-4.2: the poignee levels and what they pay.
POIGNEE_POINTS = {10: 20, 13: 30, 15: 40}

ACTIONS: list[str] = [
    *DECK,
    "pass",
    *CONTRACTS,
    "no_chelem",
    "chelem",
    "no_poignee",
    *(f"poignee_{level}" for level in POIGNEE_POINTS),
]
ID = {action: number for number, action in enumerate(ACTIONS)}

SEATS = range(4)
TRICKS_IN_A_DEAL = 18


def suit_of(card: str) -> str | None:
    """C, D, H or S; "trump" for a trump; None for the Excuse."""
    if card == EXCUSE:
        return None
    return "trump" if card in TRUMPS else card[1]


def rank_of(card: str) -> int:
    """The strength of a card within its suit or among the trumps."""
    return TRUMP_NUMBER[card] if card in TRUMPS else RANKS.index(card[0])


def in_order(cards: Iterable[str]) -> list[str]:
    """The cards (or other actions) in the order of their ids."""
    return sorted(cards, key=ID.__getitem__)


def half_points(cards: Iterable[str]) -> int:
    """T-1.3: what the cards are worth, in half points."""
    return sum(HALF_POINTS[card] for card in cards)


def next_seat(seat: int) -> int:
    """T-2.1: play passes from s to s+1 mod 4."""
    return (seat + 1) % 4


def is_petit_sec(hand: Collection[str]) -> bool:
    """T-2.2: the Petit is the only trump of a hand that lacks the Excuse."""
    return TRUMPS.intersection(hand) == {PETIT} and EXCUSE not in hand


def discardable(hand: Collection[str]) -> list[str]:
    """T-3.2: suit cards but kings; when none is left, trumps but oudlers."""
    suit_cards = [card for card in hand if suit_of(card) in tuple(SUITS) and card not in KINGS]
    trumps = [card for card in hand if card in TRUMPS and card not in OUDLERS]
    return in_order(suit_cards or trumps)


# --- Poignees -------------------------------------------------------------------------------------


def poignee_trumps(
    hand: Collection[str], level: int, discarded_trumps: Collection[str] = ()
) -> list[str]:
    """The trumps that count for a poignee of this level, low to high.

    `discarded_trumps` are the taker's own (empty for the defence).
    """
    trumps = [card for card in hand if card in TRUMPS]
    # T-4.5: for the triple only, with all four kings, discarded trumps join the set.
    if level == 15 and KINGS.issubset(hand):
        trumps += discarded_trumps
    return in_order(trumps)


def poignee_levels(hand: Collection[str], discarded_trumps: Collection[str] = ()) -> list[int]:
    """T-4.2, T-4.3: the levels that may be shown."""
    levels = []
    for level in POIGNEE_POINTS:
        count = len(poignee_trumps(hand, level, discarded_trumps))
        # T-4.3: the Excuse makes up for one missing trump, all the trumps being shown.
        if count >= level or (count == level - 1 and EXCUSE in hand):
            levels.append(level)
    return levels


def keepable(trumps: Sequence[str], level: int, kept: Sequence[str]) -> list[str]:
    """T-4.4: what may be kept back next: above the last one kept, with enough left above it."""
    still_to_keep = len(trumps) - level - len(kept)
    above = [card for card in trumps if not kept or rank_of(card) > rank_of(kept[-1])]
    return above[: len(above) - still_to_keep + 1]


# --- Tricks ---------------------------------------------------------------------------------------


class Trick(NamedTuple):
    """A finished trick: (seat, card) in the order played, and who took it."""

    cards: list[tuple[int, str]]
    winner: int


def suit_led(trick: Sequence[tuple[int, str]]) -> str | None:
    """T-5.4: the first card that is not the Excuse sets the suit; None before that."""
    for _, card in trick:
        if card != EXCUSE:
            return suit_of(card)
    return None


def playable(hand: Collection[str], trick: Sequence[tuple[int, str]]) -> list[str]:
    """The legal cards of a hand in a trick, in id order."""
    led = suit_led(trick)
    # T-5.4: whoever leads, or plays right after an Excuse that was led, is free.
    if led is None:
        return in_order(hand)
    # T-5.1: follow suit, else trump, else any card.
    following = [card for card in hand if suit_of(card) == led]
    trumps = [card for card in hand if card in TRUMPS]
    if led != "trump" and following:
        legal = following
    elif trumps:
        # T-5.2: a trump must beat the highest trump in the trick if it can, a partner's too.
        highest = max((rank_of(card) for _, card in trick if card in TRUMPS), default=0)
        legal = [card for card in trumps if rank_of(card) > highest] or trumps
    else:
        # T-5.4: a holder of the Excuse alone is not forced to play it.
        legal = list(hand)
    # T-5.1: the Excuse may always be played.
    if EXCUSE in hand and EXCUSE not in legal:
        legal = [*legal, EXCUSE]
    return in_order(legal)


def trick_taker(trick: Sequence[tuple[int, str]]) -> int:
    """T-5.3, T-6.1: the highest trump, else the highest card of the suit led; never the Excuse."""
    trumps = [(seat, card) for seat, card in trick if card in TRUMPS]
    led = suit_led(trick)
    following = [(seat, card) for seat, card in trick if suit_of(card) == led]
    seat, _ = max(trumps or following, key=lambda play: rank_of(play[1]))
    return seat


def same_side(seat: int, other: int, taker: int) -> bool:
    """T-2.3: the taker plays alone against the other three."""
    return (seat == taker) == (other == taker)


def excuse_takes_last_trick(
    trick: Sequence[tuple[int, str]], earlier: Sequence[Trick], taker: int
) -> bool:
    """T-6.4: the Excuse led to trick 18 by a side that took all 17 tricks before."""
    leader, card = trick[0]
    return (
        card == EXCUSE
        and len(earlier) == TRICKS_IN_A_DEAL - 1
        and all(same_side(done.winner, leader, taker) for done in earlier)
    )


class Shares(NamedTuple):
    """What the two sides get, in half points, and the oudlers among it."""

    taker: int
    defence: int
    taker_oudlers: int


def share_trick(tricks: Sequence[Trick], number: int, taker: int) -> Shares:
    """What trick `number` (1..18) of the tricks brings to the taker and to the defence."""
    cards, winner = tricks[number - 1]
    others = [card for _, card in cards if card != EXCUSE]
    taker_wins = winner == taker
    taker_points = half_points(others) if taker_wins else 0
    defence_points = 0 if taker_wins else half_points(others)
    taker_oudlers = len(OUDLERS.intersection(others)) if taker_wins else 0

    excuse_player = next((seat for seat, card in cards if card == EXCUSE), None)
    if excuse_player is not None:
        # T-6.2: before trick 18 it stays with its player's side.
        excuse_to_taker = excuse_player == taker
        owed = not same_side(excuse_player, winner, taker)
        if number == TRICKS_IN_A_DEAL:
            # T-6.3: in trick 18 it goes to the side opposing its player, and nothing is owed.
            excuse_to_taker = not excuse_to_taker
            owed = False
            if excuse_takes_last_trick(cards, tricks[: TRICKS_IN_A_DEAL - 1], taker):
                # T-6.4: leading it to complete a slam keeps it.
                excuse_to_taker = excuse_player == taker
        taker_points += HALF_POINTS[EXCUSE] if excuse_to_taker else 0
        defence_points += 0 if excuse_to_taker else HALF_POINTS[EXCUSE]
        taker_oudlers += excuse_to_taker
        if owed:
            # T-6.2: half a point to the side that takes the trick, from the Excuse's side.
            taker_points += 1 if taker_wins else -1
            defence_points += -1 if taker_wins else 1
    return Shares(taker_points, defence_points, taker_oudlers)


# --- Settlement, in what each defender pays the taker ---------------------------------------------


def contract_is_made(taker_half_points: int, target: int) -> bool:
    """T-1.4: reaching the target wins the contract."""
    return taker_half_points >= 2 * target


def base_half_points(taker_half_points: int, target: int, multiplier: int) -> int:
    """T-7.1: (25 + |points - target|) x multiplier, in half points; negative if not reached."""
    amount = (2 * 25 + abs(taker_half_points - 2 * target)) * multiplier
    return amount if contract_is_made(taker_half_points, target) else -amount


def petit_au_bout(tricks: Sequence[Trick], taker: int, multiplier: int) -> int:
    """T-7.2: 10 x multiplier to the side that takes the last trick, if the Petit is in it."""
    looked_at = tricks[17]
    if excuse_takes_last_trick(tricks[17].cards, tricks[:17], taker):
        looked_at = tricks[16]
    if PETIT not in [card for _, card in looked_at.cards]:
        return 0
    return 10 * multiplier if looked_at.winner == taker else -10 * multiplier


def chelem_points(announced: bool, tricks: Sequence[Trick], taker: int) -> int:
    """T-7.4: not multiplied."""
    made = all(trick.winner == taker for trick in tricks)
    suffered = all(trick.winner != taker for trick in tricks)
    if made:
        return 400 if announced else 200
    # Announced and swept by the defence is both: -400.
    return (-200 if announced else 0) + (-200 if suffered else 0)


def written(halves: int) -> int | float:
    """Half points as points: an integer where it is whole."""
    return halves // 2 if halves % 2 == 0 else halves / 2


# --- The deal -------------------------------------------------------------------------------------


class Deal:
    """One deal, from the bidding to the settlement.

    Phases: bid, discard, chelem, poignee (the level), keep (trumps kept back), play, over.
    """

    def __init__(
        self,
        hands: Sequence[Iterable[str]],
        chien: Iterable[str],
        dealer: int,
        *,
        forbid_pass: bool = False,
        taker: int | None = None,
        contract: str | None = None,
        discards: Iterable[str] | None = None,
    ) -> None:
        """Start a deal; `taker` and `contract` skip the bidding, `discards` the discard too.

        `forbid_pass`: the last to speak must bid when nobody has, so no deal is annulled.
        """
        self.dealt: list[list[str]] = [in_order_checked(hand) for hand in hands]
        self.chien: list[str] = in_order_checked(chien)
        self.dealer = dealer
        self.forbid_pass = forbid_pass
        check_deal(self.dealt, self.chien, dealer)

        self.hands: list[list[str]] = [list(hand) for hand in self.dealt]
        self.phase = "bid"
        self.seat: int | None = next_seat(dealer)  # T-2.3: dealer's right speaks first.
        self.actions: list[tuple[int, str]] = []
        self.bids: list[tuple[int, str]] = []
        self.taker: int | None = None
        self.contract: str | None = None
        self.discards: list[str] = []
        self.chelem: bool | None = None
        self.leader: int | None = None
        self.shown: dict[int, list[str]] = {}  # by seat: the poignee, T-4.5's discards included
        self.shown_level: dict[int, int] = {}
        self.trick: list[tuple[int, str]] = []
        self.tricks: list[Trick] = []

        self._to_ask: list[int] = []
        self._level = 0
        self._kept: list[str] = []
        self._unjudged: list[tuple[int, str, list[tuple[int, str]]]] = []
        self._refuted: list[set[str]] = [set() for _ in SEATS]

        self._skip_ahead(taker, contract, discards)

    def _skip_ahead(
        self, taker: int | None, contract: str | None, discards: Iterable[str] | None
    ) -> None:
        if (taker is None) != (contract is None):
            raise ValueError("taker and contract go together")
        if taker is None or contract is None:
            if discards is not None:
                raise ValueError("discards need a taker and a contract")
            return
        if taker not in SEATS:
            raise ValueError(f"taker is a seat 0..3, not {taker!r}")
        if contract not in CONTRACTS:
            raise ValueError(f"contract is one of {CONTRACTS}, not {contract!r}")
        self.taker, self.contract = taker, contract
        self._begin_contract()
        if discards is not None:
            chosen = in_order_checked(discards)  # T-3.2's order: suit cards before trumps.
            if self.phase != "discard" or len(chosen) != 6:
                raise ValueError(f"six discards belong to prise and garde: {chosen}, {contract}")
            for card in chosen:
                self.play(card)

    # --- what may be done and doing it

    def legal(self) -> list[str]:
        """The legal actions of the seat to act, in id order; none when the deal is over."""
        if self.seat is None:
            return []
        hand = self.hands[self.seat]
        if self.phase == "bid":
            return self._legal_bids()
        if self.phase == "discard":
            return discardable(hand)
        if self.phase == "chelem":
            return ["no_chelem", "chelem"]
        if self.phase == "poignee":
            return ["no_poignee", *(f"poignee_{level}" for level in self._levels(self.seat))]
        if self.phase == "keep":
            return keepable(self._poignee_trumps(), self._level, self._kept)
        return playable(hand, self.trick)

    def play(self, action: str) -> None:
        """Take one action for the seat to act."""
        legal = self.legal()
        if self.seat is None or action not in legal:
            raise ValueError(
                f"{action!r} is not legal for seat {self.seat} in phase {self.phase!r}: {legal}"
            )
        self.actions.append((self.seat, action))
        steps: dict[str, Callable[[int, str], None]] = {
            "bid": self._bid,
            "discard": self._discard,
            "chelem": self._say_chelem,
            "poignee": self._choose_poignee,
            "keep": self._keep_back,
            "play": self._play_card,
        }
        steps[self.phase](self.seat, action)

    # --- bidding

    def _legal_bids(self) -> list[str]:
        # T-2.3: pass, or a bid above the highest so far.
        above = 0 if self.contract is None else CONTRACTS.index(self.contract) + 1
        bids = ["pass", *CONTRACTS[above:]]
        if self.forbid_pass and self.contract is None and len(self.bids) == 3:
            bids.remove("pass")
        return bids

    def _bid(self, seat: int, action: str) -> None:
        self.bids.append((seat, action))
        if action != "pass":
            self.taker, self.contract = seat, action
        # T-2.3: always four turns.
        if len(self.bids) < 4:
            self.seat = next_seat(seat)
        elif self.taker is None:
            self._end()  # T-2.4: four passes annul the deal.
        else:
            self._begin_contract()

    # --- chien and discard

    @property
    def chien_is_public(self) -> bool:
        """T-3.1, T-3.4: prise and garde show the chien; garde sans and garde contre do not."""
        return self.phase != "bid" and self.contract in ("prise", "garde")

    @property
    def discarded_trumps(self) -> list[str]:
        """T-3.3: the public ones among the discards."""
        return in_order(TRUMPS.intersection(self.discards))

    def _begin_contract(self) -> None:
        assert self.taker is not None
        self.seat = self.taker
        if self.contract in ("prise", "garde"):
            # T-3.1: the taker picks up the chien and discards six.
            self.hands[self.taker] = in_order(self.hands[self.taker] + self.chien)
            self.phase = "discard"
        else:
            self.phase = "chelem"  # T-3.4: no discard.

    def _discard(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.discards.append(card)
        if len(self.discards) == 6:
            self.phase = "chelem"

    # --- declarations

    def _say_chelem(self, seat: int, action: str) -> None:
        # T-4.6: an announced chelem gives the taker the lead; otherwise dealer's right leads.
        self.chelem = action == "chelem"
        self.leader = seat if self.chelem else next_seat(self.dealer)
        # T-4.1: then each seat from the one that will lead.
        self._to_ask = [(self.leader + turn) % 4 for turn in SEATS]
        self._ask_next()

    def _ask_next(self) -> None:
        # T-4.1: a seat with no level available is not asked.
        while self._to_ask:
            seat = self._to_ask.pop(0)
            if self._levels(seat):
                self.phase, self.seat = "poignee", seat
                return
        self.phase, self.seat = "play", self.leader

    def _own_discarded_trumps(self, seat: int) -> list[str]:
        return self.discarded_trumps if seat == self.taker else []

    def _levels(self, seat: int) -> list[int]:
        return poignee_levels(self.hands[seat], self._own_discarded_trumps(seat))

    def _poignee_trumps(self) -> list[str]:
        assert self.seat is not None
        discarded = self._own_discarded_trumps(self.seat)
        return poignee_trumps(self.hands[self.seat], self._level, discarded)

    def _choose_poignee(self, seat: int, action: str) -> None:
        if action == "no_poignee":
            self._ask_next()
            return
        self._level = int(action.removeprefix("poignee_"))
        trumps = self._poignee_trumps()
        if len(trumps) > self._level:
            self.phase, self._kept = "keep", []
        elif len(trumps) == self._level:
            self._show(seat, trumps)
        else:
            self._show(seat, [EXCUSE, *trumps])  # T-4.3

    def _keep_back(self, seat: int, card: str) -> None:
        # T-4.4: one action each, in ascending order, until the level remains.
        self._kept.append(card)
        showing = [trump for trump in self._poignee_trumps() if trump not in self._kept]
        if len(showing) == self._level:
            self._show(seat, showing)

    def _show(self, seat: int, cards: list[str]) -> None:
        # T-4.2: exactly that many; T-4.4: they are public.
        assert len(cards) == self._level
        self.shown[seat] = cards
        self.shown_level[seat] = self._level
        self._ask_next()

    # --- card play

    def _play_card(self, seat: int, card: str) -> None:
        assert self.taker is not None
        self._unjudged.append((seat, card, list(self.trick)))
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        if len(self.trick) < 4:
            self.seat = next_seat(seat)
            return
        if excuse_takes_last_trick(self.trick, self.tricks, self.taker):
            winner = self.trick[0][0]  # T-6.4
        else:
            winner = trick_taker(self.trick)
        self.tricks.append(Trick(self.trick, winner))
        self.trick = []
        self.seat = winner  # T-5.3: the winner leads the next.
        if len(self.tricks) == TRICKS_IN_A_DEAL:
            self._end()

    def _end(self) -> None:
        self.phase, self.seat = "over", None

    # --- points

    def trick_points(self) -> list[tuple[int, int]]:
        """What each finished trick brought, (taker, defence), in half points.

        T-6.2 is settled in its trick, T-6.3 and T-6.4 in trick 18; chien and discards are not in.
        """
        if self.taker is None:
            return []
        numbers = range(1, len(self.tricks) + 1)
        return [share_trick(self.tricks, number, self.taker)[:2] for number in numbers]

    def live_points(self) -> tuple[int, int]:
        """The sum of `trick_points` so far."""
        points = self.trick_points()
        return sum(taker for taker, _ in points), sum(defence for _, defence in points)

    def score(self) -> dict[str, Any]:
        """The settlement; base, petit, poignee and chelem are what each defender pays the taker."""
        if self.phase != "over":
            raise ValueError(f"no score in phase {self.phase!r}: the deal is not over")
        if self.taker is None or self.contract is None:
            return {"annulled": True, "reason": "all_pass", "totals": [0, 0, 0, 0]}  # T-2.4

        taker_half, defence_half, oudlers = 0, 0, 0
        for number in range(1, TRICKS_IN_A_DEAL + 1):
            share = share_trick(self.tricks, number, self.taker)
            taker_half += share.taker
            defence_half += share.defence
            oudlers += share.taker_oudlers
        # T-3.3: the discards count for the taker. T-3.4: garde sans gives the chien to the taker
        # at the end, garde contre to the defence.
        if self.contract == "garde_contre":
            defence_half += half_points(self.chien)
        else:
            aside = self.chien if self.contract == "garde_sans" else self.discards
            taker_half += half_points(aside)
            oudlers += len(OUDLERS.intersection(aside))

        target = TARGET[oudlers]  # T-1.4
        made = contract_is_made(taker_half, target)
        multiplier = MULTIPLIER[self.contract]
        base = base_half_points(taker_half, target, multiplier)
        petit = petit_au_bout(self.tricks, self.taker, multiplier)
        # T-7.3: all poignees together go to the side that wins the contract.
        poignees = sum(POIGNEE_POINTS[level] for level in self.shown_level.values())
        poignee = poignees if made else -poignees
        chelem = chelem_points(bool(self.chelem), self.tricks, self.taker)
        # T-7.5: each defender gets minus the sum, the taker three times it.
        per_defender = base + 2 * (petit + poignee + chelem)
        totals = [3 * per_defender if seat == self.taker else -per_defender for seat in SEATS]
        return {
            "annulled": False,
            "taker": self.taker,
            "contract": self.contract,
            "taker_points": written(taker_half),
            "defender_points": written(defence_half),
            "oudlers": oudlers,
            "target": target,
            "made": made,
            "base": written(base),
            "petit": petit,
            "poignee": poignee,
            "chelem": chelem,
            "per_defender": written(per_defender),
            "totals": [written(total) for total in totals],
        }

    # --- public knowledge

    def played(self) -> set[str]:
        """All cards played so far."""
        done = {card for trick in self.tricks for _, card in trick.cards}
        return done | {card for _, card in self.trick}

    def can_hold(self, seat: int, *, deep: bool = False) -> set[str]:
        """The cards that public events have not ruled out for the seat's hand.

        A play c rules out x when c would be illegal for the hand {c, x} in that position. Being
        asked for a poignee, or declining one, is no evidence (T-4.1), nor are the bids.
        `deep` adds what the discard rules imply: a discarded trump says that the taker's suit cards
        are all kings (T-3.2), and one named in a poignee that no defender has a king (T-4.5).
        """
        self._judge_plays()
        possible = set(DECK) - self.played() - self._refuted[seat]
        possible -= set(self.discarded_trumps)  # T-3.3: public
        if self.chien_is_public and seat != self.taker:
            possible -= set(self.chien)  # T-3.1
        for shower, cards in self.shown.items():
            if shower != seat:
                possible -= set(cards)  # T-4.4: public
            elif EXCUSE in cards:
                possible -= TRUMPS.difference(cards)  # T-4.3: all the trumps are shown
        if deep and seat == self.taker and self.discarded_trumps:
            possible -= set(SUIT_CARDS) - KINGS
        if deep and seat != self.taker and self.four_kings_shown:
            possible -= KINGS
        return possible

    def known(self, seat: int, *, deep: bool = False) -> set[str]:
        """The cards that are publicly known to be in the seat's hand: shown and not yet played.

        `deep` adds, for the taker, the cards of a public chien that can be in no hidden discard
        (kings and oudlers at once, trumps after the discard), and the kings that T-4.5 asks for.
        """
        cards = set(self.shown.get(seat, []))
        if deep and seat == self.taker:
            if self.chien_is_public:
                sure = KINGS | OUDLERS if self.phase == "discard" else KINGS | OUDLERS | TRUMPS
                cards |= sure.intersection(self.chien)
            if self.four_kings_shown:
                cards |= KINGS
        return cards - self.played() - set(self.discarded_trumps)

    @property
    def four_kings_shown(self) -> bool:
        """T-4.5: a discarded trump was named in a poignee, so the taker has the four kings."""
        return any(set(cards) & set(self.discarded_trumps) for cards in self.shown.values())

    def _judge_plays(self) -> None:
        for seat, card, trick in self._unjudged:
            self._refuted[seat] |= {
                other
                for other in DECK
                if other != card and card not in playable([card, other], trick)
            }
        self._unjudged.clear()


def in_order_checked(cards: Iterable[str]) -> list[str]:
    """The cards in id order; an unknown card is an error that names it."""
    cards = list(cards)
    for card in cards:
        if card not in HALF_POINTS:
            raise ValueError(f"there is no card {card!r}")
    return in_order(cards)


def check_deal(hands: Sequence[Sequence[str]], chien: Sequence[str], dealer: int) -> None:
    """T-2.1, T-2.2: four hands of 18 and a chien of six, each card once, and no petit sec."""
    if dealer not in SEATS:
        raise ValueError(f"dealer is a seat 0..3, not {dealer!r}")
    sizes = [len(hand) for hand in hands]
    if sizes != [18, 18, 18, 18] or len(chien) != 6:
        raise ValueError(f"T-2.1: four hands of 18 and a chien of 6, not {sizes} and {len(chien)}")
    seen: set[str] = set()
    for card in [*chien, *(card for hand in hands for card in hand)]:
        if card in seen:
            raise ValueError(f"{card} is dealt twice")
        seen.add(card)
    for seat, hand in enumerate(hands):
        if is_petit_sec(hand):
            raise ValueError(f"T-2.2: petit sec, seat {seat} holds T1 as its only trump, no Excuse")


# --- Replaying recorded deals ---------------------------------------------------------------------


def replay(case: dict[str, Any]) -> Deal:
    """Play a recorded deal again, asserting every seat, phase, legal set and the whole score."""
    deal = Deal(case["hands"], case["chien"], case["dealer"])
    for number, (seat, phase, legal, action) in enumerate(case["steps"]):
        where = f"step {number}"
        assert deal.seat == seat, where
        # The records call the level and the trumps kept back by one name.
        assert ("poignee" if deal.phase == "keep" else deal.phase) == phase, where
        assert deal.legal() == legal, where
        deal.play(action)
    assert deal.phase == "over"
    assert deal.score() == case["score"]
    return deal


# --- Random deals and playouts --------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How `random_playout` leans; seats are counted from the dealer's right (0 speaks first)."""

    bidders: tuple[int, ...] = (0, 1, 2, 3)  # the only ones that bid unless they must
    bid: float = 0.4  # chance that one of them bids
    chelem: float = 0.1  # chance that a chelem is announced
    poignee: float = 0.7  # chance that a poignee is shown when one is available
    hold_excuse: float = 0.5  # chance to keep the Excuse when another card is legal
    hold_petit: float = 0.5  # the same for the Petit
    strong: tuple[int, ...] = ()  # seats that play high cards first, the Excuse last


POLICIES: dict[str, Policy] = {
    "plain": Policy(),
    "trumps": Policy(poignee=0.9),
    "kings": Policy(bidders=(0,), bid=0.9, poignee=0.9),
    "kings_excuse": Policy(bidders=(0,), bid=0.9, poignee=0.9),
    "slam_taker": Policy(bidders=(0,), bid=1.0, chelem=0.5, strong=(0,)),
    "slam_defence": Policy(bidders=(1, 2, 3), bid=0.7, chelem=0.4, hold_excuse=0.8, strong=(0,)),
    "excuse_last": Policy(hold_excuse=1.0),
    "petit_last": Policy(hold_petit=1.0, hold_excuse=0.8),
    "all_pass": Policy(bidders=()),
}
KINDS = tuple(POLICIES)


def random_deal(rng: random.Random, **options: Any) -> Deal:
    """A deal without petit sec, with a random dealer; `options` go to `Deal`."""
    while True:
        cards = rng.sample(DECK, len(DECK))
        hands = [cards[18 * seat : 18 * seat + 18] for seat in SEATS]
        if not any(is_petit_sec(hand) for hand in hands):
            return Deal(hands, cards[72:], rng.randrange(4), **options)


def stacked_deal(rng: random.Random, kind: str, **options: Any) -> Deal:
    """A deal stacked for one of `KINDS`; the hand in question sits on the dealer's right."""
    if kind not in KINDS:
        raise ValueError(f"kind is one of {KINDS}, not {kind!r}")
    while True:
        front, chien = _stack(rng, kind)
        rest = [card for card in DECK if card not in front and card not in chien]
        rng.shuffle(rest)
        front += [rest.pop() for _ in range(18 - len(front))]
        chien += [rest.pop() for _ in range(6 - len(chien))]
        dealer = rng.randrange(4)
        hands: list[list[str]] = [[], [], [], []]
        for turn, hand in enumerate([front, rest[:18], rest[18:36], rest[36:]]):
            hands[(dealer + 1 + turn) % 4] = hand
        if not any(is_petit_sec(hand) for hand in hands):
            return Deal(hands, chien, dealer, **options)


def _stack(rng: random.Random, kind: str) -> tuple[list[str], list[str]]:
    """Cards that the stacked hand and the chien are to have; the rest is dealt at random."""
    trumps = rng.sample(list(TRUMP_NUMBER), 21)
    small = rng.sample([card for card in SUIT_CARDS if card not in KINGS], 52)
    if kind == "trumps":
        # With the Excuse: one short of a level, so that it has to help.
        if rng.random() < 0.4:
            return [EXCUSE, *trumps[: rng.choice([9, 12, 14, 14])]], []
        return trumps[: rng.choice([10, 13, 15, 15, 16, 17, 18])], []
    if kind in ("kings", "kings_excuse"):
        # 24 cards with fewer than six small ones force trumps into the discard.
        excuse = [EXCUSE] if kind == "kings_excuse" else []
        count = rng.choice([14, 15, 16, 17] if excuse else [15, 16, 17, 18])
        cards = [*KINGS, *excuse, *trumps[:count], *small[: 20 - len(excuse) - count]]
        cards = rng.sample(in_order(cards), 24)
        return cards[:18], cards[18:]
    if kind in ("slam_taker", "slam_defence"):
        # Top trumps, then two suits from the top; perhaps the Petit and the Excuse.
        high = [f"T{number}" for number in range(21, 21 - rng.randint(10, 13), -1)]
        last = [EXCUSE] * (rng.random() < 0.6) + [PETIT] * (rng.random() < 0.6)
        suits = rng.sample(SUITS, 2)
        room = 18 - len(high) - len(last)
        longer = rng.randint((room + 1) // 2, room)
        lengths = (longer, room - longer)
        runs = [rank + s for s, n in zip(suits, lengths, strict=True) for rank in RANKS[14 - n :]]
        return [*high, *last, *runs], []
    if kind == "excuse_last":
        return ([EXCUSE], []) if rng.random() < 0.5 else ([], [])
    if kind == "petit_last":
        excuse = [EXCUSE] * (rng.random() < 0.5)
        return [PETIT, *excuse, *[t for t in trumps if t != PETIT][: rng.randint(4, 12)]], []
    return [], []


def strength(card: str) -> tuple[int, int]:
    """The order in which a strong seat leads: trumps, suit cards, the Petit, the Excuse."""
    if card == EXCUSE:
        return (0, 0)
    if card == PETIT:
        return (1, 0)
    return (3 if card in TRUMPS else 2, rank_of(card))


def random_action(deal: Deal, rng: random.Random, policy: Policy) -> str:
    """A legal action, leaning as the policy says."""
    assert deal.seat is not None
    legal = deal.legal()
    turn = (deal.seat - deal.dealer - 1) % 4
    if deal.phase == "bid":
        if "pass" in legal and not (turn in policy.bidders and rng.random() < policy.bid):
            return "pass"
        bids = [action for action in legal if action != "pass"]
        return rng.choice(bids or legal)
    if deal.phase == "chelem":
        return "chelem" if rng.random() < policy.chelem else "no_chelem"
    if deal.phase == "poignee":
        return rng.choice(legal[1:]) if rng.random() < policy.poignee else "no_poignee"
    if deal.phase == "play":
        if turn in policy.strong:
            return max(legal, key=strength)
        for card, hold in ((EXCUSE, policy.hold_excuse), (PETIT, policy.hold_petit)):
            if card in legal and len(legal) > 1 and rng.random() < hold:
                legal.remove(card)
    return rng.choice(legal)


def random_playout(
    deal: Deal, rng: random.Random, policy: Policy | None = None, **weights: Any
) -> Deal:
    """Play the deal to its end; `weights` override fields of the policy."""
    policy = replace(policy or Policy(), **weights)
    while deal.seat is not None:
        deal.play(random_action(deal, rng, policy))
    return deal
