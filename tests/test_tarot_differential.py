"""The Tarot kernels against the plain reference engine and against recorded deals, on everything at every step."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tarot_env.game import GAME
from tests.helpers import fewer
from tests.reference.tarot import (
    KINDS,
    MULTIPLIER,
    POLICIES,
    Deal,
    Policy,
    random_action,
    random_deal,
    stacked_deal,
)
from tests.tarot_table import (
    TarotTable,
    as_number,
    assemble,
    card_bits,
    differences,
    full_state,
    same_table,
    seen_by,
)

CASES_FILE = Path(__file__).parent / "cases" / "tarot.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in CASES_FILE.read_text().splitlines()]


def check_position(table: TarotTable, deal: Deal, observers: list[int]) -> None:
    """Seat, phase, legal actions, hands, and what these seats see."""
    assert table.seat == deal.seat
    assert table.phase == deal.phase
    assert table.legal() == deal.legal()
    for observer in observers:
        got = table.words(observer)
        pieces = seen_by(deal, observer)
        wanted = assemble(GAME.layout, pieces)
        assert got == wanted, (observer, differences(GAME.layout, got, wanted))
        # A bot's view has lost nothing that its seat sees.
        assert table.words(observer, table.view(observer)) == got
        check_known_cards_have_one_place(deal, observer, pieces)


def check_known_cards_have_one_place(
    deal: Deal, observer: int, pieces: dict[str, list[int]]
) -> None:
    """What is known to be in a hand is possible there and nowhere else."""
    for turn in range(3):
        known = card_bits(deal.known((observer + 1 + turn) % 4, deep=True))
        places = [*pieces["can_hold"], *pieces["hidden"]]
        assert known & ~places.pop(turn) == 0
        assert all(known & place == 0 for place in places)


def check_state(table: TarotTable, deal: Deal) -> None:
    """The full-information state."""
    layout = GAME.state_layout
    got = as_number(table.state_words())
    wanted = assemble(layout, full_state(deal))
    assert got == wanted, differences(layout, got, wanted)


def trick_gain(deal: Deal, seat: int) -> float:
    """DESIGN: what the last trick credits to a seat, before the settlement."""
    taker, defence = deal.trick_points()[-1]
    assert deal.contract is not None
    each = (taker - defence) * MULTIPLIER[deal.contract] / 2
    return 3 * each if seat == deal.taker else -each


def check_score(table: TarotTable, deal: Deal, total: list[float]) -> None:
    """The settlement line by line; the rewards add up to it."""
    score = deal.score()
    assert total == table.points() == score["totals"]
    info = table.info()
    assert info.pop("redeals") == 0
    if score["annulled"]:
        assert info.pop("annulled") == 1
        assert set(info.values()) == {0}
        return
    assert (info.pop("settled"), info.pop("annulled")) == (1, 0)
    lines = {name: score[name] for name in info if name != "contract"}
    assert info.pop("contract") == list(MULTIPLIER).index(score["contract"]) + 1
    assert info == {name: float(line) for name, line in lines.items()}


def follow(deal: Deal, rng: random.Random, policy: Policy, *, thorough: bool) -> None:
    """Play a deal in both engines. `thorough`: all four seats are asked what they see."""
    table = same_table(deal, forbid_pass=deal.forbid_pass)
    total = [0.0] * 4
    while deal.seat is not None:
        check_position(table, deal, [0, 1, 2, 3] if thorough else [deal.seat])
        if thorough:
            check_state(table, deal)
        tricks = len(deal.tricks)
        action = random_action(deal, rng, policy)
        deal.play(action)
        gain = table.play(action)
        total = [a + b for a, b in zip(total, gain, strict=True)]
        if deal.seat is not None:
            closed = len(deal.tricks) > tricks
            assert gain == [trick_gain(deal, s) if closed else 0 for s in range(4)]
    check_position(table, deal, [0, 1, 2, 3])
    check_state(table, deal)
    check_score(table, deal, total)


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_agree_with_the_reference(kind: str) -> None:
    """Every kind of deal, stacked for the rare events; everything that every seat sees."""
    rng = random.Random(f"agree {kind}")
    for _ in range(fewer(8, 1)):
        follow(stacked_deal(rng, kind), rng, POLICIES[kind], thorough=True)


def test_kernels_agree_on_many_deals() -> None:
    """Seats, phases, legal actions, the mover's observation, gains and scores."""
    rng = random.Random(20)
    for number in range(fewer(230, 5)):
        kind = rng.choice(KINDS)
        deal = stacked_deal(rng, kind, forbid_pass=number % 7 == 0)
        follow(deal, rng, POLICIES[kind], thorough=False)


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_kernels_agree_on_very_many_deals(part: int) -> None:
    rng = random.Random(f"many {part}")
    for number in range(1000):
        kind = rng.choice(KINDS)
        deal = stacked_deal(rng, kind, forbid_pass=number % 7 == 0)
        follow(deal, rng, POLICIES[kind], thorough=number % 10 == 0)


def test_kernels_agree_after_a_skipped_bidding() -> None:
    rng = random.Random(21)
    for contract in MULTIPLIER:
        for _ in range(fewer(3, 1)):
            deal = random_deal(rng, taker=rng.randrange(4), contract=contract)
            follow(deal, rng, Policy(), thorough=True)


def test_recorded_deals_replay() -> None:
    """Every step's seat, phase and legal set, and the totals."""
    for number, case in enumerate(CASES[: fewer(len(CASES), 10)]):
        table = same_table(Deal(case["hands"], case["chien"], case["dealer"]))
        for step, (seat, phase, legal, action) in enumerate(case["steps"]):
            where = f"case {number}, step {step}"
            assert table.seat == seat, where
            assert table.phase.replace("keep", "poignee") == phase, where
            assert table.legal() == legal, where
            table.force(action)
        assert table.over
        assert table.points() == case["score"]["totals"], number
        if not case["score"]["annulled"]:
            wanted = {k: case["score"][k] for k in ("taker_points", "oudlers", "base", "chelem")}
            assert {k: table.info()[k] for k in wanted} == wanted, number


def test_every_step_says_only_python_readable_legal_sets() -> None:
    """The legal words hold no bit outside the 89 actions."""
    rng = random.Random(3)
    table = same_table(random_deal(rng))
    while not table.over:
        low, high = table.field("legal")
        assert (low | high << 64) >> len(GAME.actions) == 0
        assert np.asarray(table.states[0]["legal"]).dtype == np.uint64
        table.force(rng.choice(table.legal()))
