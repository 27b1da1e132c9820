"""French Tarot as one description for the adapters: options, custom deals, and the table's text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from tarot_env import observe, reward, rules
from tarot_env.belief import BELIEF
from tarot_env.cards import (
    CARD_NAMES,
    CHIEN_SIZE,
    EXCUSE_ID,
    HAND_SIZE,
    NUM_SEATS,
    OUDLERS,
    PETIT,
    card_id,
    card_ids,
    card_set,
    cards_in,
)
from tarot_env.contracts import ACTIONS, CONTRACT_NAMES, CONTRACTS, contract_number
from tarot_env.endings import ENDINGS
from tarot_env.render import has_taken_chien, render
from tarot_env.state import BID, CONFIG, DISCARD, KEEP, PLAY, POIGNEE, STARTS, STATE
from trick_core.game import (
    Bounds,
    Game,
    Kernels,
    RewardOptions,
    Setup,
    check_choice,
    check_flag,
    check_seat,
    register_game,
)
from trick_core.jit import copy_records, records
from trick_core.notation import DealFormat

_NAMES = (*(f"hand of seat {seat}" for seat in range(NUM_SEATS)), "chien")

DEAL_FORMAT = DealFormat(
    deck=CARD_NAMES,
    suits="SHDC",
    ranks="KQNJT98765432A",
    extra=(*(f"T{number}" for number in range(21, 0, -1)), "EX"),
    sizes=(*(HAND_SIZE,) * NUM_SEATS, CHIEN_SIZE),
    names=_NAMES,
    card_id=card_id,
)

#: The most that a defender can pay or be paid: T-7.1 with 56 points missing, T-7.2 to T-7.4 with the 22 cards that make one
#: poignée of 15 or two of 10.
_LARGEST_DISTANCE = 56
_LARGEST_POIGNEE = 40
_LARGEST_CHELEM = 400

#: Plays; before them the discard, the chelem (T-4.1), four answers on poignées and eight trumps that a hand of 18 keeps back from
#: one of 10 (T-4.4); before these, four bids (T-2.3).
_MOST_ACTIONS = {"play": 4 * HAND_SIZE}
_MOST_ACTIONS["discard"] = _MOST_ACTIONS["play"] + CHIEN_SIZE + 1 + NUM_SEATS + (HAND_SIZE - 10)
_MOST_ACTIONS["bid"] = _MOST_ACTIONS["discard"] + NUM_SEATS


def setup(
    *,
    dealer: int | None = None,
    forbid_pass: bool = False,
    start: str = "bid",
    taker: int | None = None,
    contract: str | None = None,
    **reward_options: Any,
) -> Setup:
    """Check the options of an environment and fix them.

    Args:
        dealer: Seat that deals in every episode; None: from the seed.
        forbid_pass: The last seat to speak must bid when nobody has, so that no deal is annulled.
        start: Where a deal starts: ``"bid"``, the whole deal; ``"discard"``, with taker and contract known: the discard
            (prise, garde) and the declarations first; ``"play"``, with the first card: six cards that T-3.2 allows
            have been discarded at random, no chelem is announced and no poignée shown.
        taker: The taker where the bidding is skipped; None: from the seed.
        contract: The contract there, ``"prise"``, ``"garde"``, ``"garde_sans"`` or ``"garde_contre"``; None: from the seed.
        **reward_options: See :class:`trick_core.game.RewardOptions`.

    Raises:
        ValueError: An option out of range.
        TypeError: An unknown option.
    """
    check_choice("start", start, STARTS)
    if start == "bid":
        _need_later_start("taker", taker)
        _need_later_start("contract", contract)
    config = records(1, CONFIG)
    row = config[0]
    row["start"] = STARTS.index(start)
    row["forbid_pass"] = check_flag("forbid_pass", forbid_pass)
    row["dealer"] = -1 if dealer is None else check_seat("dealer", dealer)
    row["taker"] = -1 if taker is None else check_seat("taker", taker)
    row["contract"] = 0 if contract is None else contract_number(contract)
    row["given_dealer"] = row["given_taker"] = -1
    config.flags.writeable = False
    rewards = RewardOptions(**reward_options)
    options: dict[str, Any] = {
        "dealer": None if dealer is None else int(dealer),
        "forbid_pass": bool(forbid_pass),
        "start": start,
        "taker": None if taker is None else int(taker),
        "contract": None if contract is None else CONTRACT_NAMES[int(row["contract"]) - 1],
        **asdict(rewards),
    }
    largest = _largest_return(int(row["contract"]))
    bounds = Bounds(-largest, largest, total=0.0, actions=_MOST_ACTIONS[start])
    return Setup(GAME, "deal", options, dict(options), config, rewards, largest, bounds)


def _need_later_start(name: str, value: Any) -> None:
    if value is not None:
        raise ValueError(f"{name}: only with start='discard' or start='play', else it is bid")


def _largest_return(contract: int) -> float:
    """Bound on the taker's absolute points (T-7.5)."""
    rows = CONTRACTS if contract == 0 else CONTRACTS[contract - 1 : contract]
    multiplier = max(row.multiplier for row in rows)
    base = (25 + _LARGEST_DISTANCE + 10) * multiplier  # with the Petit
    return float(3 * (base + _LARGEST_POIGNEE + _LARGEST_CHELEM))


def reset_config(fixed: Setup, options: Mapping[str, Any]) -> Any:
    """A configuration with the custom deal of ``reset(options=...)`` filled in.

    Args:
        fixed: The environment's setup.
        options: ``deal``: the deal's text, ``{"hands": four lists, "chien": list}`` of card texts or ids, or five such
            lists. ``dealer``. Where the bidding is skipped ``taker`` and ``contract``, and with ``start="play"`` ``discard``, six
            cards as a text (``"2C JC 4D ND 4H 5H"``) or a list, which need the deal, the taker and the contract. None:
            as leaving it out.

    Raises:
        ValueError: A bad deal, seat, contract or discard; the message names the card or the rule.
    """
    config = copy_records(fixed.config)
    row = config[0]
    if (deal := options.get("deal")) is not None:
        hands = _read_deal(deal)
        for owner, hand in enumerate(hands):
            row["cards"][owner], row["cards_trumps"][owner] = card_set(hand)
        row["given"] = 1
    if (dealer := options.get("dealer")) is not None:
        row["given_dealer"] = check_seat("dealer", dealer)
    for name in ("taker", "contract", "discard"):
        if fixed.options["start"] == "bid":
            _need_later_start(name, options.get(name))
    if (taker := options.get("taker")) is not None:
        row["given_taker"] = check_seat("taker", taker)
    if (contract := options.get("contract")) is not None:
        row["given_contract"] = contract_number(contract)
    if (discard := options.get("discard")) is not None:
        _fill_discard(fixed, row, discard)
    return config


def _read_deal(deal: Any) -> list[list[int]]:
    """Hands and chien as ids, checked.

    Raises:
        ValueError: A bad deal, or a petit sec.
    """
    if isinstance(deal, Mapping):
        if set(deal) != {"hands", "chien"}:
            keys = ", ".join(repr(key) for key in deal)
            raise ValueError(f"deal: expected the keys 'hands' and 'chien', got {keys or 'none'}")
        if isinstance(deal["hands"], (str, Mapping)) or not isinstance(deal["hands"], Iterable):
            raise ValueError(f"deal: hands: expected four lists of cards, got {deal['hands']!r}")
        hands = list(deal["hands"])
        if len(hands) != NUM_SEATS:
            raise ValueError(f"deal: hands: expected {NUM_SEATS}, got {len(hands)}")
        deal = [*hands, deal["chien"]]
    cards = DEAL_FORMAT.read(deal)
    for seat, hand in enumerate(cards[:NUM_SEATS]):
        if card_set(hand)[1] == int(PETIT):
            raise ValueError(
                f"deal: petit sec (rule T-2.2): trump 1 is the only trump of seat {seat}, without the Excuse"
            )
    return cards


def _fill_discard(fixed: Setup, row: Any, discard: Any) -> None:
    """Check a given discard (rule T-3.2) and write it into the configuration.

    Raises:
        ValueError: It is not one that the taker could make.
    """
    if fixed.options["start"] != "play":
        raise ValueError("discard: only with start='play', else the taker discards")
    taker = int(row["given_taker"] if row["given_taker"] >= 0 else row["taker"])
    contract = int(row["given_contract"] or row["contract"])
    if not row["given"] or taker < 0 or contract == 0:
        raise ValueError("discard: needs a deal, a taker and a contract")
    if not CONTRACTS[contract - 1].takes_chien:
        raise ValueError(f"discard: there is none in {CONTRACT_NAMES[contract - 1]} (rule T-3.4)")
    if isinstance(discard, str):
        discard = discard.replace(",", " ").split()
    if not isinstance(discard, Iterable):
        raise ValueError(f"discard: expected {CHIEN_SIZE} cards, got {discard!r}")
    try:
        ids = [card_id(card) for card in discard]
    except ValueError as error:
        raise ValueError(f"discard: {error}") from None
    if len(ids) != CHIEN_SIZE:
        raise ValueError(f"discard: expected {CHIEN_SIZE} different cards, got {len(ids)}")
    for card in ids:
        if ids.count(card) > 1:
            raise ValueError(f"discard: {CARD_NAMES[card]} is given twice")
    held = card_ids(
        int(row["cards"][taker] | row["cards"][4]),
        int(row["cards_trumps"][taker] | row["cards_trumps"][4]),
    )
    suits, trumps = card_set(ids)
    for card in ids:
        name = CARD_NAMES[card]
        if card not in held:
            raise ValueError(f"discard: the taker, seat {taker}, does not have {name}")
        if name[0] == "K" or (card >= EXCUSE_ID and 1 << (card - EXCUSE_ID) & int(OUDLERS)):
            raise ValueError(
                f"discard: {name}: no king and no oudler may be discarded (rule T-3.2)"
            )
    small = [card for card in held if card < EXCUSE_ID and CARD_NAMES[card][0] != "K"]
    if trumps and (left := set(small) - set(ids)):
        raise ValueError(
            f"discard: no trump may be discarded while {CARD_NAMES[min(left)]} is held (rule T-3.2)"
        )
    row["discard"], row["discard_trumps"] = suits, trumps
    row["given_discard"] = 1


def dealt_hands(states: Any, i: int) -> list[list[int]]:
    """The ids of the cards of state ``i`` as dealt, four hands and the chien, cards played since included."""
    state = states[i]
    chien = (int(state["chien"]), int(state["chien_trumps"]))
    hands = []
    for seat in range(NUM_SEATS):
        suits = int(state["hands"][seat]) | int(state["played"][seat])
        trumps = int(state["hands_trumps"][seat]) | int(state["played_trumps"][seat])
        if seat == state["taker"] and has_taken_chien(state):
            suits = (suits | int(state["discard"])) & ~chien[0]
            trumps = (trumps | int(state["discard_trumps"])) & ~chien[1]
        hands.append(card_ids(suits, trumps))
    return [*hands, card_ids(*chien)]


def deal_text(states: Any, i: int) -> str:
    """The hands and the chien of state ``i`` as dealt."""
    return DEAL_FORMAT.format(dealt_hands(states, i))


def start_options(config: Any, states: Any, i: int) -> dict[str, Any]:
    """The keys besides ``deal`` with which a custom deal begins as this episode, which has just begun, did."""
    state = states[i]
    options: dict[str, Any] = {"dealer": int(state["dealer"])}
    if state["phase"] != BID:
        options["taker"] = int(state["taker"])
        options["contract"] = CONTRACT_NAMES[int(state["contract"]) - 1]
    if state["phase"] == PLAY and has_taken_chien(state):
        discard = cards_in(int(state["discard"]), int(state["discard_trumps"]))
        options["discard"] = " ".join(discard)
    return options


def is_public(states: Any, i: int, action: int) -> bool:
    """Whether all seats see an action: all but hidden discards (T-3.3) and what leads to a poignée (T-4.1)."""
    phase = int(states[i]["phase"])
    if phase == DISCARD:
        return action >= EXCUSE_ID
    return phase not in (POIGNEE, KEEP)


def roles(states: Any) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Each seat's role in the deals of ``states``, int8 (n, 4): 0 taker, 1 defender; -1 where nobody has bid."""
    taker = np.asarray(states["taker"])[:, None]
    return np.where(taker < 0, -1, taker != np.arange(NUM_SEATS)).astype(np.int8)


GAME = register_game(
    Game(
        name="tarot",
        state=STATE,
        config=CONFIG,
        actions=ACTIONS,
        layout=observe.LAYOUT,
        row_start=observe.ROW_START,
        state_layout=observe.STATE_LAYOUT,
        unit=0.5,
        kernels=Kernels(
            begin=rules.begin,
            step=rules.step,
            observe=observe.observe,
            observe_row=observe.observe_row,
            describe=observe.describe,
            potential=reward.potential,
            returns=reward.returns,
            redact=observe.redact,
            info=reward.info,
        ),
        info_names=reward.INFO_NAMES,
        folder=Path(__file__).parent,
        setup=setup,
        variants={"deal": {}},
        reset_config=reset_config,
        render=render,
        deal_text=deal_text,
        reset_keys=("deal", "dealer", "taker", "contract", "discard"),
        start_options=start_options,
        is_public=is_public,
        role_names=("taker", "defender"),
        roles=roles,
        belief=BELIEF,
        endings=ENDINGS,
    )
)
