"""The record of one table, and of one deal's configuration. Each field with its unit and sentinel."""

from __future__ import annotations

import numpy as np

from bolola_env.contracts import MAX_TIERS, NUM_TRICKS

#: Room for the 52 cards of a deal. A power of two: with a masked index the compiler sees that a store stays in the field.
ORDER_SIZE = 64

#: One table. A copy of the record is a copy of the game.
STATE = np.dtype(
    [
        ("hands", "u8", (4,)),  # cards held, by seat
        ("played", "u8", (4,)),  # cards played in this deal, by seat
        ("trick", "u8", (4,)),  # card lying in the current trick, by seat; 0: none
        ("can", "u8", (4,)),  # cards that public play has not ruled out, by seat
        ("legal", "u8", (1,)),  # legal actions of the seat on turn; 0 when the episode is over
        ("ruled", "u8"),  # cards that any legal play now rules out for the seat on turn
        ("lead_set", "u8"),  # all cards of the suit led; 0: nothing led yet
        ("below", "u8"),  # cards of the suit led below its highest card in the trick
        ("above", "u8"),  # trumps that beat every trump in the trick; 0: no trump suit
        ("trump_set", "u8"),  # all cards of the trump suit; 0: none (yet)
        ("locked", "u8"),  # all cards of the suit that may not be led yet; 0: leads are open
        ("key", "u8"),  # first random state of the episode
        ("points", "i4", (4,)),  # points so far in this deal, by seat
        ("scores", "i4", (4,)),  # points of the match's earlier deals, by seat
        ("gain", "i4", (4,)),  # points that the last step gave, by seat
        ("pot", "i4"),  # points of the cards in the current trick
        ("seat", "i1"),  # seat on turn; -1: the episode is over
        ("winner", "i1"),  # seat that wins the trick as it lies; -1: nothing led yet
        ("leader", "i1"),  # seat that leads or led the current trick
        ("starter", "i1"),  # seat that started this deal
        ("trick_size", "i1"),  # cards in the current trick, 0..3
        ("trick_number", "i1"),  # tricks finished in this deal, 0..13
        ("taken", "i1", (4,)),  # tricks taken in this deal, by seat
        ("trump", "i1"),  # trump suit 0..3; -1: none, or not named yet
        ("deal", "i1"),  # deals of the match finished before this one, 0..11
        ("order", "i1", (ORDER_SIZE,)),  # cards played in this deal, one after the other; -1: none
        ("custom", "i1"),  # 1: a custom deal: the given_ fields of the configuration hold
    ],
    align=True,
)

#: One deal of an episode: the contract row in numbers, and what the options fix.
CONFIG = np.dtype(
    [
        ("card_points", "i4", (52,)),  # points to the taker, by card id
        (
            "trick_value",
            "i4",
            (NUM_TRICKS,),
        ),  # points for a trick itself, by tricks finished before it
        ("values_left", "i4", (NUM_TRICKS + 1,)),  # their sum over this trick and all later ones
        ("sizes_left", "i4", (NUM_TRICKS + 1,)),  # the same of their sizes, signs left out
        ("locked", "u8"),  # cards of the suit that is locked at first; 0: none, or the trump suit
        ("tiers", "u8", (MAX_TIERS,)),  # void_tiers
        ("num_tiers", "i1"),  # void_tiers in use
        ("under_duty", "u8"),  # cards that must go under a higher card of the suit led
        ("scoring", "u8"),  # cards that score
        ("prices", "i4", (52,)),  # the points that cards score, each number once
        ("priced", "u8", (53,)),  # the cards that score so many; 0 after the last
        ("last_value", "i1"),  # tricks that must be finished before no later trick scores by itself
        ("trumps", "i1"),  # 1: there are trumps
        ("lock_trump", "i1"),  # 1: the trump suit is locked at first
        ("early_stop", "i1"),  # 1: a deal ends when its last point has fallen
        ("fixed_trump", "i1"),  # trump suit 0..3; -1: the starter names it
        ("fixed_starter", "i1"),  # starter of the first deal; -1: from the seed
        ("given_trump", "i1"),  # trump suit of a custom deal; -1: as without it
        ("given_starter", "i1"),  # starter of a custom deal; -1: as without it
        ("given", "i1"),  # 1: hands is filled
        ("hands", "u8", (4,)),  # hands of a custom deal, by seat
        ("row_words", "u8", (20,)),  # the row's part of the observation
    ],
    align=True,
)
