"""Bolola as one description for the adapters: options, custom deals, and the table of environments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from bolola_env import observe, reward, rules
from bolola_env.belief import BELIEF
from bolola_env.cards import CARD_NAMES, HAND_SIZE, NUM_CARDS, SUITS, card_id, card_set
from bolola_env.contracts import (
    CONTRACTS,
    MATCH_ORDER,
    NUM_TRICKS,
    Contract,
    contract_row,
)
from bolola_env.endings import ENDINGS
from bolola_env.past import PAST
from bolola_env.render import render
from bolola_env.state import CONFIG, STATE
from trick_core.game import (
    Bounds,
    Game,
    Kernels,
    RewardOptions,
    Setup,
    check_flag,
    check_seat,
    register_game,
)
from trick_core.jit import copy_records, records
from trick_core.notation import DealFormat

MAX_DEALS = 12

DEAL_FORMAT = DealFormat(
    deck=CARD_NAMES,
    suits="SHDC",
    ranks="AKQJT98765432",
    extra=(),
    sizes=(HAND_SIZE,) * 4,
    names=tuple(f"hand of seat {seat}" for seat in range(4)),
    card_id=card_id,
)


def setup(
    contract: str | Contract | Mapping[str, Any] = "hearts",
    *,
    starter: int | None = None,
    trump: str | None = None,
    order: Sequence[str | Contract | Mapping[str, Any]] | None = None,
    early_stop: bool = False,
    **reward_options: Any,
) -> Setup:
    """Check the options of an environment and fix them.

    Args:
        contract: A contract's name, ``"match"``, or a row; a row may also come as the mapping of its fields that records
            hold.
        starter: Seat that starts the first deal of every episode; None: from the seed.
        trump: Suit ``"C"``, ``"D"``, ``"H"`` or ``"S"`` that is trump wherever a contract has trumps; None: the starter
            names it (rule B-6.1).
        order: The match's deals, 1 to 12 names or rows (rule B-7.1); only with ``"match"``.
        early_stop: A deal ends when its last point has fallen (rule B-1.5).
        **reward_options: See :class:`trick_core.game.RewardOptions`.

    Raises:
        ValueError: An option out of range.
        TypeError: An unknown option.
    """
    if isinstance(contract, str) and contract == "match":
        rows = _match_rows(MATCH_ORDER if order is None else order)
        variant = "match"
    else:
        if order is not None:
            raise ValueError("order: only the match takes it; use contract='match'")
        rows = [_row(contract)]
        variant = rows[0].name if CONTRACTS.get(rows[0].name) == rows[0] else "custom"
    if starter is not None:
        starter = check_seat("starter", starter)
    suit = -1 if trump is None else _suit(trump)
    early_stop = check_flag("early_stop", early_stop)
    rewards = RewardOptions(**reward_options)
    config = records(len(rows), CONFIG)
    for record, row in zip(config, rows, strict=True):
        _fill(record, row, early_stop)
        record["fixed_trump"] = suit
        record["fixed_starter"] = -1 if starter is None else starter
    config.flags.writeable = False
    options: dict[str, Any] = {
        "contract": contract if isinstance(contract, str) else _row_json(rows[0]),
        "starter": starter,
        "trump": trump,
        "order": None
        if order is None
        else [
            c if isinstance(c, str) else _row_json(row) for c, row in zip(order, rows, strict=True)
        ],
        "early_stop": early_stop,
        **asdict(rewards),
    }
    largest = sum(row.largest_return for row in rows)
    asked = sum(row.trumps for row in rows) if suit < 0 else 0
    bounds = Bounds(
        lowest=float(sum(row.lowest_return for row in rows)),
        highest=float(sum(row.highest_return for row in rows)),
        total=float(sum(row.total for row in rows)),
        actions=NUM_CARDS * len(rows) + asked,  # B-6.1: the starter names the trump suit
    )
    arguments = {"contract": contract, "starter": starter, "trump": trump, "order": order}
    arguments.update(early_stop=early_stop, **reward_options)
    return Setup(GAME, variant, options, arguments, config, rewards, float(largest), bounds)


def _row_json(row: Contract) -> dict[str, Any]:
    """A row as records hold it; :func:`_row` reads it back."""
    return asdict(row)


def _row(contract: str | Contract | Mapping[str, Any]) -> Contract:
    """The row of a contract in any of its forms.

    Raises:
        ValueError: An unknown name, or a field out of range or unknown.
        TypeError: Another type.
    """
    if not isinstance(contract, Mapping):
        return contract_row(contract)
    known = [row_field.name for row_field in fields(Contract)]
    if unknown := sorted(set(map(str, contract)) - set(known)):
        raise ValueError(f"contract: no field {', '.join(unknown)}; there are {', '.join(known)}")
    if "name" not in contract:
        raise ValueError("contract: the field 'name' is missing")
    return Contract(**contract)


def _match_rows(order: Sequence[str | Contract | Mapping[str, Any]]) -> list[Contract]:
    if isinstance(order, (str, Contract, Mapping)) or not isinstance(order, Sequence):
        raise ValueError(f"order: expected a sequence of contracts, got {order!r}")
    if not 1 <= len(order) <= MAX_DEALS:
        raise ValueError(f"order: expected 1 to {MAX_DEALS} contracts, got {len(order)}")
    return [_row(contract) for contract in order]


def _suit(trump: Any) -> int:
    if not isinstance(trump, str) or trump not in tuple(SUITS):
        raise ValueError(f"trump: expected one of {', '.join(SUITS)}; got {trump!r}")
    return SUITS.index(trump)


def _fill(record: Any, row: Contract, early_stop: bool) -> None:
    """Write a contract row into a configuration record."""
    values = [row.trick_value(number) for number in range(1, NUM_TRICKS + 1)]
    record["card_points"] = row.card_points
    record["trick_value"] = values
    for number in range(NUM_TRICKS):
        record["values_left"][number] = sum(values[number:])
        record["sizes_left"][number] = sum(map(abs, values[number:]))
    if row.locked_suit == "trump":
        record["lock_trump"] = 1
    elif row.locked_suit is not None:
        record["locked"] = rules.SUIT_BITS << np.uint64(13 * SUITS.index(row.locked_suit))
    for i, tier in enumerate(row.void_tiers):
        record["tiers"][i] = card_set(tier)
    record["num_tiers"] = len(row.void_tiers)
    record["under_duty"] = card_set(row.under_duty)
    record["scoring"] = card_set(card for card in range(NUM_CARDS) if row.card_points[card])
    prices = sorted({value for value in row.card_points if value})
    for i, price in enumerate(prices):
        record["prices"][i] = price
        record["priced"][i] = card_set(c for c in range(NUM_CARDS) if row.card_points[c] == price)
    record["last_value"] = max((i + 1 for i, value in enumerate(values) if value), default=0)
    record["trumps"] = row.trumps
    record["early_stop"] = early_stop
    record["given_trump"] = record["given_starter"] = -1
    record["row_words"] = observe.row_words(row, early_stop)


def reset_config(fixed: Setup, options: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """A configuration with the custom deal of ``reset(options=...)`` filled in.

    Args:
        fixed: The environment's setup.
        options: ``deal``, ``starter``, ``trump``; None means "from the seed", as leaving it out does.

    Raises:
        ValueError: A bad deal, seat or suit.
    """
    config = copy_records(fixed.config)
    if (deal := options.get("deal")) is not None:
        deals = _deals(deal) if len(config) > 1 else [deal]
        if len(deals) > len(config):
            raise ValueError(f"deal: the match has {len(config)} deals, got {len(deals)}")
        for record, hands in zip(config, deals, strict=False):
            record["hands"] = [card_set(hand) for hand in DEAL_FORMAT.read(hands)]
            record["given"] = 1
    if (starter := options.get("starter")) is not None:
        config["given_starter"] = check_seat("starter", starter)
    if (trump := options.get("trump")) is not None:
        config["given_trump"] = _suit(trump)
    return config


def _deals(given: Any) -> list[Any]:
    """The deals of a match, given as one deal or as several."""
    if isinstance(given, str):
        return [given]
    try:
        items = list(given)
    except TypeError:
        raise ValueError(f"deal: expected a deal or a list of deals, got {given!r}") from None
    if not items:
        raise ValueError("deal: expected a deal or a list of deals, got an empty list")
    return [items] if _is_hand(items[0]) else items


def _is_hand(value: Any) -> bool:
    """Whether the first of several items is, or is meant to be, a hand of cards rather than a deal."""
    if isinstance(value, str):
        return ":" not in value
    if not isinstance(value, Iterable):
        return True
    first = next(iter(value), None)
    if isinstance(first, str):
        return ":" not in first
    return not isinstance(first, Iterable)


def deal_text(states: Any, i: int) -> str:
    """The hands of state ``i`` as dealt, cards already played included."""
    hands = [int(h) | int(p) for h, p in zip(states[i]["hands"], states[i]["played"], strict=True)]
    return DEAL_FORMAT.format([[c for c in range(NUM_CARDS) if hand >> c & 1] for hand in hands])


def start_options(config: Any, states: Any, i: int) -> dict[str, Any]:
    """The starter of an episode that has just begun, and the trump suit if the custom deal fixed it."""
    options: dict[str, Any] = {"starter": int(states[i]["starter"])}
    if (trump := int(config[0]["given_trump"])) >= 0:
        options["trump"] = SUITS[trump]
    return options


GAME = register_game(
    Game(
        name="bolola",
        state=STATE,
        config=CONFIG,
        actions=(*CARD_NAMES, *(f"trump:{suit}" for suit in SUITS)),
        layout=observe.LAYOUT,
        row_start=observe.ROW_START,
        state_layout=observe.STATE_LAYOUT,
        unit=1.0,
        kernels=Kernels(
            begin=rules.deal_episode,
            step=rules.step,
            observe=observe.observe,
            observe_row=observe.observe_row,
            describe=observe.describe,
            potential=reward.potential,
            returns=reward.returns,
            redact=observe.redact,
            info=reward.info,
        ),
        info_names=(),
        folder=Path(__file__).parent,
        setup=setup,
        variants={name: {"contract": name} for name in (*CONTRACTS, "match")}
        | {"custom": {"contract": None}},
        reset_config=reset_config,
        render=render,
        deal_text=deal_text,
        reset_keys=("deal", "starter", "trump"),
        start_options=start_options,
        belief=BELIEF,
        endings=ENDINGS,
        past=PAST,
    )
)
