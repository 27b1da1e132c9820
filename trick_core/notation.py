"""Text forms of deals: PBN's deal tag, and its widening to a fifth holding and a fifth hand.

Source: Portable Bridge Notation 2.1, section 3.4.11. ``N:S.H.D.C S.H.D.C S.H.D.C S.H.D.C``: four hands in play order,
in each the holdings of spades, hearts, diamonds and clubs from high to low, a void empty. The letter in front
names the seat of the first hand: N E S W are seats 0 to 3. ``N`` is written, any is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

SEAT_LETTERS = "NESW"


@dataclass(frozen=True)
class DealFormat:
    """How the hands of a game are written.

    Attributes:
        deck: Texts of all cards, by id.
        suits: Suit letters in the order of the holdings.
        ranks: Rank letters from high to low.
        extra: Texts of the cards of a last holding, from high to low, written between commas.
        sizes: Number of cards of each hand; more than four when cards beside the hands belong to the deal.
        names: What errors call the hands.
        card_id: Reads one card, text or id; ``ValueError`` if it is none.
    """

    deck: tuple[str, ...]
    suits: str
    ranks: str
    extra: tuple[str, ...]
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    card_id: Callable[[Any], int]

    def format(self, hands: Sequence[Sequence[int]]) -> str:
        """Hands of card ids as text."""
        return "N:" + " ".join(self._format_hand(hand) for hand in hands)

    def _format_hand(self, hand: Sequence[int]) -> str:
        texts = {self.deck[card] for card in hand}
        holdings = ["".join(r for r in self.ranks if r + s in texts) for s in self.suits]
        if self.extra:
            holdings.append(
                ",".join(
                    text.lstrip("T") if text != "EX" else text
                    for text in self.extra
                    if text in texts
                )
            )
        return ".".join(holdings)

    def parse(self, text: str) -> list[list[int]]:
        """Hands of card ids, seat 0 first, from text.

        Raises:
            ValueError: The text has another shape, or the deal is not one of the whole deck; the message says where.
        """
        match = re.fullmatch(r'\s*(?:\[Deal\s+")?([NESW]):(.*?)(?:"\])?\s*', text, re.DOTALL)
        if not match:
            raise ValueError(f"deal: expected N:, E:, S: or W: and then the hands; got {text!r}")
        parts = match.group(2).split()
        if len(parts) != len(self.sizes):
            raise ValueError(f"deal: expected {len(self.sizes)} hands, got {len(parts)}")
        first = SEAT_LETTERS.index(match.group(1))
        hands = [self._parse_hand(part, i) for i, part in enumerate(parts)]
        seats = [hands[(seat - first) % 4] for seat in range(4)] + hands[4:]
        return self.check(seats)

    def _parse_hand(self, part: str, index: int) -> list[int]:
        holdings = part.split(".")
        wanted = len(self.suits) + bool(self.extra)
        if len(holdings) != wanted:
            raise ValueError(
                f"deal: hand {index + 1} ({part!r}): expected {wanted} holdings between points, got {len(holdings)}"
            )
        hand = []
        for suit, ranks in zip(self.suits, holdings, strict=False):
            for rank in ranks:
                if rank not in self.ranks:
                    raise ValueError(f"deal: hand {index + 1} ({part!r}): {rank!r} is not a rank")
                hand.append(self.card_id(rank + suit))
        if self.extra and holdings[-1]:
            for item in holdings[-1].split(","):
                name = item if item in self.extra else f"T{item}"
                if name not in self.extra:
                    raise ValueError(f"deal: hand {index + 1} ({part!r}): {item!r} is not a trump")
                hand.append(self.card_id(name))
        return hand

    def check(self, hands: Sequence[Sequence[Any]]) -> list[list[int]]:
        """Hands of texts or ids as hands of ids, ascending; every card of the deck exactly once.

        Raises:
            ValueError: A card that is none, doubled or missing, or a wrong count; the message names it.
        """
        if len(hands) != len(self.sizes):
            raise ValueError(f"deal: expected {len(self.sizes)} hands, got {len(hands)}")
        owner: dict[int, str] = {}
        checked = []
        for name, size, hand in zip(self.names, self.sizes, hands, strict=True):
            if isinstance(hand, str):
                raise ValueError(f"deal: {name}: expected a list of cards, got the text {hand!r}")
            try:
                ids = [self.card_id(card) for card in hand]
            except ValueError as error:
                raise ValueError(f"deal: {name}: {error}") from None
            for card in ids:
                if card in owner:
                    where = (
                        f"twice in {name}"
                        if owner[card] == name
                        else f"in {owner[card]} and in {name}"
                    )
                    raise ValueError(f"deal: {self.deck[card]} is {where}")
                owner[card] = name
            if len(ids) != size:
                raise ValueError(f"deal: {name}: expected {size} cards, got {len(ids)}")
            checked.append(sorted(ids))
        missing = [self.deck[card] for card in range(len(self.deck)) if card not in owner]
        if missing:
            raise ValueError(f"deal: {', '.join(missing)} missing")
        return checked

    def read(self, deal: Any) -> list[list[int]]:
        """A deal given as text, or as hands of card texts or ids.

        Raises:
            ValueError: As :meth:`parse` and :meth:`check`.
        """
        if isinstance(deal, str):
            return self.parse(deal)
        try:
            hands = [list(hand) if not isinstance(hand, str) else hand for hand in deal]
        except TypeError:
            raise ValueError(f"deal: expected a text or lists of cards, got {deal!r}") from None
        return self.check(hands)
