"""Text forms of deals: PBN's deal tag, and its widening to a fifth holding and a fifth hand.

Source: Portable Bridge Notation 2.1, section 3.4.11. ``N:S.H.D.C S.H.D.C S.H.D.C S.H.D.C``: four hands in play order,
in each the holdings of spades, hearts, diamonds and clubs from high to low, a void empty. The letter in front
names the seat of the first hand: N E S W are seats 0 to 3. ``N`` is written, any is read; the cards of a holding are
read in any order, and the tag's brackets (``[Deal "N:..."]``) may stay on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

SEAT_LETTERS = "NESW"

_DEAL = re.compile(r'\s*(?:\[\s*Deal\s+"([^"]*)"\s*\]|([^"\[\]]*))\s*')


@dataclass(frozen=True)
class DealFormat:
    """How the hands of a game are written.

    Attributes:
        deck: Texts of all cards, by id. Those outside ``extra`` are a rank and a suit.
        suits: Suit letters in the order of the holdings.
        ranks: Rank letters from high to low.
        extra: Texts of the cards of a last holding, from high to low, separated by commas; a ``T`` in front is left
            out when they are written, and may be there when they are read. Empty: no such holding.
        sizes: Number of cards of each hand, the four seats first; more than four when cards beside the hands
            belong to the deal.
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
        """Hands of card ids, seat 0 first, as text. They need not be a whole deal.

        Raises:
            ValueError: A hand holds something twice, or something that is not a card.
        """
        return "N:" + " ".join(self.format_hand(hand) for hand in hands)

    def format_hand(self, hand: Sequence[int]) -> str:
        """One hand of card ids as holdings between points.

        Raises:
            ValueError: As :meth:`format`.
        """
        return ".".join(self.holdings(hand))

    def holdings(self, hand: Sequence[int]) -> list[str]:
        """One hand of card ids as a text a suit, from high to low, and the last holding where there is one.

        Raises:
            ValueError: As :meth:`format`.
        """
        texts = [self.deck[self.card_id(card)] for card in hand]
        held = set(texts)
        if len(held) < len(texts):
            doubled = next(text for text in texts if texts.count(text) > 1)
            raise ValueError(f"deal: {doubled} is twice in one hand")
        holdings = ["".join(r for r in self.ranks if r + s in held) for s in self.suits]
        if self.extra:
            holdings.append(",".join(t.removeprefix("T") for t in self.extra if t in held))
        return holdings

    def parse(self, text: str) -> list[list[int]]:
        """Hands of card ids, ascending, seat 0 first, from text.

        Raises:
            ValueError: The text has another shape, or the deal is not one of the whole deck; the message says where.
        """
        match = _DEAL.fullmatch(text)
        body = (match.group(1) or match.group(2) or "").strip() if match else ""
        letter, colon, rest = body.partition(":")
        if not colon or len(letter) != 1 or letter not in SEAT_LETTERS:
            raise ValueError(f"deal: expected N:, E:, S: or W: and then the hands; got {text!r}")
        parts = rest.split()
        if len(parts) != len(self.sizes):
            raise ValueError(
                f"deal: expected {len(self.sizes)} hands between spaces, got {len(parts)} in {text!r}"
            )
        first = SEAT_LETTERS.index(letter)
        owners = [(first + i) % 4 if i < 4 else i for i in range(len(parts))]
        hands: list[list[int]] = [[] for _ in parts]
        for owner, part in zip(owners, parts, strict=True):
            try:
                hands[owner] = self._parse_hand(part)
            except ValueError as error:
                raise ValueError(f"deal: {self.names[owner]}, {part!r}: {error}") from None
        return self.check(hands)

    def _parse_hand(self, part: str) -> list[int]:
        holdings = part.split(".")
        wanted = len(self.suits) + bool(self.extra)
        if len(holdings) != wanted:
            order = ", ".join([*self.suits, *(["trumps"] if self.extra else [])])
            raise ValueError(
                f"expected {wanted} holdings between points ({order}; a void is empty), got {len(holdings)}"
            )
        hand = []
        for suit, ranks in zip(self.suits, holdings, strict=False):
            for rank in ranks:
                if rank not in self.ranks:
                    raise ValueError(
                        f"{rank!r} among its {suit} is not a rank; they are {self.ranks}"
                    )
                hand.append(self.card_id(rank + suit))
        if self.extra and holdings[-1]:
            for item in holdings[-1].split(","):
                card = item if item in self.extra else f"T{item}"
                if card not in self.extra:
                    low, high = self.extra[-1], self.extra[0]
                    raise ValueError(
                        f"{item!r} is not a card of the last holding; write {high.removeprefix('T')} to "
                        f"{low.removeprefix('T')} with commas between"
                    )
                hand.append(self.card_id(card))
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
        for name, hand in zip(self.names, hands, strict=True):
            if isinstance(hand, str):
                raise ValueError(f"deal: {name}: expected a list of cards, got the text {hand!r}")
            try:
                ids = [self.card_id(card) for card in hand]
            except ValueError as error:
                raise ValueError(f"deal: {name}: {error}") from None
            for card in ids:
                if card in owner:
                    both = f"twice in {name}", f"in {owner[card]} and in {name}"
                    raise ValueError(f"deal: {self.deck[card]} is {both[owner[card] != name]}")
                owner[card] = name
            checked.append(sorted(ids))
        missing = [text for card, text in enumerate(self.deck) if card not in owner]
        lost = f"; {', '.join(missing)} missing" if missing else ""
        for name, size, ids in zip(self.names, self.sizes, checked, strict=True):
            if len(ids) != size:
                raise ValueError(f"deal: {name}: expected {size} cards, got {len(ids)}{lost}")
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
