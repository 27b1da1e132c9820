"""The bot ismcts: what it plays, that it may be trusted with a batch, and that it does not peek."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pytest

from baselines.bots.ismcts import Ismcts, Settings
from baselines.evaluate import evaluate
from bolola_env.contracts import CONTRACTS
from tests.helpers import HOUSE_RULES, Table, fewer, random_rows
from tests.positions import some, views_of
from trick_core.belief import view_of, worlds
from trick_core.bots import View, make_bot
from trick_core.game import setup_for
from trick_core.jit import JIT

ENVS = [*(f"bolola/{name}" for name in CONTRACTS), "bolola/match", "tarot/deal"]
#: Every kind of search that the settings offer.
KINDS = [
    {},
    {"slips": 1.0, "depth": 4, "others": "search"},
    {"slips": 1.0, "root": "ucb", "depth": 20, "others": "search", "exact": 2},
    {"root": "ucb", "depth": 3},
]
compiled = pytest.mark.skipif(not JIT, reason="plays hundreds of games: only compiled kernels can")


def bot_of(kind: dict[str, Any], iterations: int, **settings: Any) -> Ismcts:
    return Ismcts(Settings(iterations=iterations, burn=10, thin=2, **kind, **settings))


# ---------------------------------------------------------------------------- strength


@compiled
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_it_beats_random_by_far(kind: dict[str, Any]) -> None:
    row = evaluate("bolola/all_penalties", [bot_of(kind, 200), "random"], deals=20).rows[0]
    assert row.overall.mean > 40


# ---------------------------------------------------------------------------- a batch


@pytest.mark.parametrize("env", ["bolola/hearts", "bolola/match", "tarot/deal"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_choice_depends_on_its_own_view_alone(env: str, kind: dict[str, Any]) -> None:
    """The same row: alone, in a part of the batch, with any number of threads, after pickling, asked twice."""
    views = views_of(env, fewer(12, 2))
    bot = bot_of(kind, fewer(60, 3))
    chosen = bot.act_batch(views).tolist()
    assert bot.act_batch(views).tolist() == chosen
    assert [bot.act(views.view(i)) for i in range(len(chosen))] == chosen
    assert bot.act_batch(some(views, slice(1, 3))).tolist() == chosen[1:3]
    shared = bot_of(kind, fewer(60, 3), threads=2)
    assert shared.act_batch(views).tolist() == chosen
    assert pickle.loads(pickle.dumps(bot)).act_batch(views).tolist() == chosen
    assert bot.act_batch(some(views, slice(0, 0))).tolist() == []


def test_views_stay_as_they_are() -> None:
    views = views_of("tarot/deal", 4)
    before = views.records.tobytes(), views.randoms.tobytes()
    bot_of({}, fewer(20, 2)).act_batch(views)
    assert (views.records.tobytes(), views.randoms.tobytes()) == before


@pytest.mark.parametrize("env", ["bolola/hearts", "bolola/trump", "tarot/deal"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_it_does_not_peek(env: str, kind: dict[str, Any]) -> None:
    """The hidden cards change hands, as in another world of the same view: the choice stays."""
    setup, bot, rng = setup_for(env), bot_of(kind, fewer(40, 3)), random.Random(2)
    for number in range(fewer(6, 1)):
        table = Table(setup, number=number)
        table.random_play(rng, rng.randrange(30))
        view = view_of(setup, table.states)
        other = worlds(view, 1, seed=number)
        assert other.tobytes() != table.states.tobytes()
        again = view_of(setup, other)
        assert bot.act(View(setup.game, setup.config, again.record, 9)) == bot.act(
            View(setup.game, setup.config, view.record, 9)
        )


def test_forced_moves_cost_nothing() -> None:
    """With one legal action no world is drawn, however many simulations are asked for."""
    bot, rng, forced = Ismcts(Settings(iterations=10**15)), random.Random(0), 0
    table = Table("queens", seed=3)
    while not table.over:
        if len(table.legal()) == 1:
            view = view_of(table.setup, table.states)
            assert [bot.act(view)] == view.legal
            forced += 1
        table.force(rng.choice(table.legal()))
    assert forced > 3


def test_a_clear_decision_ends_the_search() -> None:
    """Of actions that come out alike in every world one is enough: the iterations asked for are a limit."""
    bot = Ismcts(Settings(iterations=10**15))
    text = "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"
    table = Table("no_tricks", deal=text, starter=0)
    view = view_of(table.setup, table.states)
    assert bot.act(view) == view.legal[0]


def test_a_budget_in_time() -> None:
    views = views_of("bolola/hearts", 2)
    for kind in KINDS:
        actions = bot_of(kind, 1, milliseconds=2.0).act_batch(views)
        for i, action in enumerate(actions):
            assert action in views.view(i).legal


# ---------------------------------------------------------------------------- games


@pytest.mark.parametrize("env", ENVS)
def test_it_plays_whole_games(env: str) -> None:
    """An illegal action would raise."""
    if env == "bolola/match" and not JIT:
        pytest.skip("a match takes a minute without compiled kernels")
    deals = 1 if env == "bolola/match" else fewer(3, 1)
    evaluate(env, [bot_of({"depth": 2}, fewer(20, 2)), "random"], deals=deals)


@pytest.mark.parametrize("row", HOUSE_RULES, ids=lambda row: row.name)
def test_it_plays_house_rules(row: Any) -> None:
    """Rule B-8.1: rows of one's own."""
    evaluate("bolola/custom", [bot_of({}, fewer(20, 2)), "greedy"], deals=1, contract=row)


@pytest.mark.long
def test_it_plays_any_row() -> None:
    """Rule B-8.1: whatever a row can say, with early stops and fixed trumps."""
    rng = random.Random(5)
    for number in range(fewer(30, 1)):
        row, _ = random_rows(rng)
        options = {"early_stop": rng.random() < 0.5, "trump": rng.choice([None, "C"])}
        kind = KINDS[number % len(KINDS)]
        evaluate("bolola/custom", [bot_of(kind, 20), "greedy"], deals=2, contract=row, **options)


@pytest.mark.parametrize(
    "policy",
    ["ismcts:iterations=5,burn=5,thin=1", "ismcts:iterations=5,burn=5,thin=1,playout=random"],
)
def test_custom_deals(policy: str) -> None:
    """A given trump suit was not named by anybody."""
    deal = {
        "deal": "N:K2.AK5.QT98.T864 AQJ5.QJ9.K32.QJ5 T984.862.A65.A73 763.T743.J74.K92",
        "trump": "H",
        "starter": 2,
    }
    result = evaluate("bolola/trump", [policy, "greedy"], deals=[deal])
    assert result.rows[0].games == 4


# ---------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("iterations=0", "iterations: expected an integer from 1 on, got 0"),
        ("root=tree", "root: expected one of 'pairs', 'ucb'; got 'tree'"),
        ("others=friends", "others: expected one of 'playout', 'search'"),
        ("slips=1.5", "slips: expected a factor above 0, at most 1; got 1.5"),
        ("slips=0", "slips: expected a factor above 0, at most 1; got 0"),
        ("burn=0", "burn: expected an integer from 1 on"),
        ("depth=-1", "depth: expected an integer"),
        ("worlds=3", "iterations="),
        ("playout=nobody", "playout: no bot 'nobody'"),
    ],
)
def test_settings_out_of_range(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make_bot(f"ismcts:{text}").act_batch(views_of("bolola/hearts", 1))


def test_its_name_holds_its_settings() -> None:
    assert make_bot("ismcts").name == "ismcts"
    assert make_bot("ismcts:iterations=7,root=ucb").name == "ismcts:iterations=7,root=ucb"
