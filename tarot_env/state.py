"""The record of one table, and of one deal's configuration. Each field with its unit and sentinel.

A set of cards takes two fields, ``x`` for the suit cards and ``x_trumps`` for trumps and Excuse; see :mod:`tarot_env.cards`.
"""

from __future__ import annotations

import numpy as np

# The phases of a deal. PLAY comes first since nearly all steps are plays.
PLAY, BID, DISCARD, CHELEM, POIGNEE, KEEP, OVER = range(7)
PHASES = ("play", "bid", "discard", "chelem", "poignee", "keep", "over")

#: One table. A copy of the record is a copy of the game.
STATE = np.dtype(
    [
        ("hands", "u8", (4,)),  # suit cards held, by seat
        ("hands_trumps", "u8", (4,)),
        ("played", "u8", (4,)),  # cards played, by seat
        ("played_trumps", "u8", (4,)),
        ("trick", "u8", (4,)),  # card lying in the current trick, by seat; 0: none
        ("trick_trumps", "u8", (4,)),
        ("can", "u8", (4,)),  # cards that public events have not ruled out for the hand, by seat
        ("can_trumps", "u8", (4,)),
        ("hide", "u8"),  # cards that publicly may lie aside unseen: in the chien, or discarded
        ("hide_trumps", "u8"),
        ("chien", "u8"),  # the six cards of the chien as dealt
        ("chien_trumps", "u8"),
        ("discard", "u8"),  # what the taker has discarded
        ("discard_trumps", "u8"),
        ("shown", "u8", (4,)),  # trumps and Excuse shown in a poignée, by seat; 0: none
        ("kept", "u8"),  # trumps kept back so far from the poignée that is being shown
        ("legal", "u8", (2,)),  # legal actions of the seat on turn; 0 when the deal is over
        ("ruled", "u8"),  # cards that any legal play but the Excuse now rules out for that seat
        ("ruled_trumps", "u8"),
        ("lead_set", "u8"),  # all cards of the suit led; 0: none led, or trumps
        ("best", "u8"),  # highest card of the suit led in the trick; 0: none
        ("above", "u8"),  # trumps that beat every trump in the trick
        ("key", "u8"),  # first random state of the episode
        ("gain", "i4", (4,)),  # half points that the last step gave, by seat
        ("credit", "i4"),  # half points that each defender has paid the taker so far
        ("taker_points", "i4"),  # half points of the tricks so far, the taker's
        ("defence_points", "i4"),  # the same, the defence's
        ("pot", "i4"),  # half points of the cards in the trick, without the Excuse
        ("redeals", "i4"),  # deals annulled by a petit sec before this one
        ("seat", "i1"),  # seat on turn; -1: the deal is over
        ("phase", "i1"),  # what it decides: PLAY .. OVER
        ("dealer", "i1"),
        ("taker", "i1"),  # highest bidder so far; -1: nobody
        ("contract", "i1"),  # the highest bid so far 1..4; 0: none
        ("bids", "i1", (4,)),  # by seat: 0 pass, 1..4 contract; -1: has not spoken
        ("spoken", "i1"),  # bids made, 0..4
        ("chelem", "i1"),  # 1: announced; 0: not; -1: not said yet
        ("hidden_size", "i1"),  # cards aside that not all seats have seen, 0..6
        ("leader", "i1"),  # seat that leads or led the current trick (before the play: the first)
        (
            "asked",
            "i1",
        ),  # seats from the leader on whose poignée has been dealt with, or that is being asked; 0..4
        ("level", "i1"),  # level of the poignée that is being shown 1..3; 0: none
        ("shown_level", "i1", (4,)),  # level shown 1..3, by seat; 0: none
        ("winner", "i1"),  # seat that wins the trick as it lies; -1: nothing led but the Excuse
        ("trick_size", "i1"),  # cards in the current trick, 0..3
        ("trick_number", "i1"),  # tricks finished, 0..18
        ("taken", "i1", (4,)),  # tricks taken, by seat
        ("oudlers", "i1"),  # oudlers that the taker has from tricks
        ("excuse_seat", "i1"),  # seat that played the Excuse; -1: not played yet
        ("excuse_trick", "i1"),  # tricks finished when the Excuse was played; -1: not yet
        ("petit_trick", "i1"),  # tricks finished when the Petit was played; -1: not yet
        ("deal", "i1"),  # always 0: an episode is one deal
    ],
    align=True,
)

#: Where a deal may start.
STARTS = ("bid", "discard", "play")

#: One deal: what the options fix.
CONFIG = np.dtype(
    [
        ("start", "i1"),  # index into STARTS
        ("forbid_pass", "i1"),  # 1: the last seat must bid when nobody has
        ("dealer", "i1"),  # the dealer; -1: from the seed
        ("taker", "i1"),  # the taker when the bidding is skipped; -1: from the seed
        ("contract", "i1"),  # the contract then, 1..4; 0: from the seed
        ("given", "i1"),  # 1: hands and chien are filled
        ("given_discard", "i1"),  # 1: discard is filled
        ("given_dealer", "i1"),  # dealer of a custom deal; -1: as without it
        ("given_taker", "i1"),  # taker of a custom deal; -1: as without it
        ("given_contract", "i1"),  # contract of a custom deal; 0: as without it
        ("cards", "u8", (5,)),  # suit cards of the four hands and the chien
        ("cards_trumps", "u8", (5,)),
        ("discard", "u8"),  # cards to be discarded where the deal starts with the play
        ("discard_trumps", "u8"),
    ],
    align=True,
)
