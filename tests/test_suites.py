"""Suites of evaluation deals: each name stands for the same deals everywhere and for ever."""

from __future__ import annotations

import re

import numpy as np
import pytest

import seeds
from bolola_env.game import DEAL_FORMAT
from bolola_env.game import setup as bolola_setup
from seeds.suites import deals_of
from tests.helpers import Table
from trick_core.game import find_game
from trick_core.jit import JIT

SINGLE = [name for name, suite in seeds.SUITES.items() if len(suite.setup().config) == 1]


@pytest.mark.parametrize("name", seeds.suite_names() if JIT else SINGLE)
def test_suite_makes_the_deals_its_hash_stands_for(name: str) -> None:
    suite = seeds.suite(name)
    assert suite.digest() == suite.sha256


def test_first_deal_of_hearts_suite_is_this_one() -> None:
    """Pins what the hash pins, but readable, so that a failure shows what changed."""
    assert seeds.suite("bolola-hearts-v1").deals(1) == [
        {
            "deal": "N:T3.Q94.A4.AJT965 A762.K.QJ97532.K KQJ94.72.K8.Q842 85.AJT8653.T6.73",
            "starter": 3,
        }
    ]


def test_first_deal_of_the_tarot_suite_is_this_one() -> None:
    """The chien is the fifth hand; no deal is a petit sec (T-2.2)."""
    assert seeds.suite("tarot-deal-v1").deals(1) == [
        {
            "deal": "N:543.QNJ93.J93.N6543.9,3 KNJ8.T7.KT85.K9.19,18,16,12,8,5 "
            "QT.86A.N7A.8A.20,17,15,11,10,6,4,EX 2A.K54.Q64.JT72.21,14,13,7,2,1 976.2.2.Q.",
            "dealer": 3,
        }
    ]


def test_every_bolola_environment_has_a_suite_and_names_have_versions() -> None:
    variants = [name for name in find_game("bolola").variants if name != "custom"]
    environments = {f"bolola/{name.replace('_', '-')}-v0" for name in variants}
    assert {suite.env for suite in seeds.SUITES.values()} >= environments
    assert all(re.fullmatch(r"[a-z-]+-v\d+", name) for name in seeds.SUITES)


def test_suites_share_no_deal() -> None:
    firsts = [str(seeds.suite(name).deals(20)) for name in SINGLE]
    assert len(set(firsts)) == len(SINGLE)


def test_a_suite_shares_no_deal_with_an_environment_of_its_seed() -> None:
    """Suites have a domain of their own: even an environment seeded alike is dealt other cards."""
    suite = seeds.suite("bolola-hearts-v1")
    texts = {options["deal"] for options in suite.deals(50)}
    game = suite.setup().game
    for number in range(50):
        table = Table("hearts", seed=np.uint64(suite.seed), number=np.uint64(number))
        assert game.deal_text(table.states, 0) not in texts


def test_first_deals_are_the_start_of_all_deals() -> None:
    suite = seeds.suite("bolola-trump-v1")
    every = suite.deals()
    assert len(every) == suite.size
    assert suite.deals(3) == every[:3] and suite.deals(2, first=5) == every[5:7]


def test_deals_go_into_reset_and_come_out_again() -> None:
    for options in seeds.suite("bolola-queens-v1").deals(5):
        table = Table("queens", **options)
        assert table.game.deal_text(table.states, 0) == options["deal"]
        assert table.seat == options["starter"]


def test_match_suite_holds_all_twelve_deals_as_they_are_dealt() -> None:
    """The texts are the deals that the match itself comes to, whatever is played before."""
    import random

    suite = seeds.suite("bolola-match-v1")
    (options,) = suite.deals(1, first=3)
    assert len(options["deal"]) == 12
    for text in options["deal"]:
        assert DEAL_FORMAT.format(DEAL_FORMAT.parse(text)) == text
    table = Table(suite.setup(), **options)
    rng, shown = random.Random(1), []
    while not table.over:
        if table.field("deal") == len(shown):
            shown.append(table.game.deal_text(table.states, 0))
        table.force(rng.choice(table.legal()))
    assert shown == options["deal"]


def test_starters_differ_from_deal_to_deal() -> None:
    starters = [options["starter"] for options in seeds.suite("bolola-hearts-v1").deals(200)]
    assert all(30 <= starters.count(seat) <= 70 for seat in range(4))


@pytest.mark.parametrize(("count", "first"), [(1001, 0), (1, 1000), (0, 0), (1, -1)])
def test_deals_that_a_suite_does_not_have_are_an_error(count: int, first: int) -> None:
    with pytest.raises(ValueError, match=r"suite bolola-hearts-v1: .* it has 0 to 999"):
        seeds.suite("bolola-hearts-v1").deals(count, first)


def test_unknown_suite_is_an_error_that_lists_the_suites() -> None:
    with pytest.raises(ValueError, match=r"no suite 'bolola-hearts'; there are .*bolola-hearts-v1"):
        seeds.suite("bolola-hearts")


def test_suite_is_found_for_default_options_only() -> None:
    found = seeds.suite_for(bolola_setup("hearts", reward="shaped"))
    assert found is not None and found.name == "bolola-hearts-v1"
    assert seeds.suite_for(bolola_setup("hearts", starter=1)) is None
    assert seeds.suite_for(bolola_setup("trump", trump="S")) is None
    assert seeds.suite_for(bolola_setup("match", order=["hearts", "trump"])) is None


def test_check_notices_a_hash_that_the_deals_do_not_have() -> None:
    from dataclasses import replace

    suite = replace(seeds.suite("bolola-hearts-v1"), sha256="0" * 64)
    with pytest.raises(RuntimeError, match=r"bolola-hearts-v1 stands for .*0000, but b51230dd"):
        suite.check()


def test_deals_of_any_seed_size() -> None:
    setup = bolola_setup("hearts")
    assert deals_of(setup, 2**70, 1) != deals_of(setup, 2**70 + 1, 1)
