"""The bot pimc: what it computes, that it may be trusted with a batch, and that it does not peek."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pytest

from baselines.bots import pimc, search
from baselines.bots.search import belief_of
from baselines.evaluate import evaluate
from bolola_env.contracts import CONTRACTS
from tests.helpers import HOUSE_RULES, Table, fewer, random_rows
from trick_core.bots import BatchView, Bot, View, make_bot
from trick_core.drivers import JitBot
from trick_core.game import Game, setup_for
from trick_core.jit import copy_records, entry, kernel, records
from trick_core.rng import advance
from trick_core.rollouts import rollouts

CONTRACT_IDS = [f"bolola/{name}" for name in CONTRACTS]
ENVS = [*CONTRACT_IDS, "bolola/match", "tarot/deal"]


def views_of(env: Any, count: int, seed: int = 0, **options: Any) -> BatchView:
    """Views in the middle of ``count`` games of random play, each with more than one legal action."""
    setup = setup_for(env, **options)
    rng = random.Random(f"{env} {seed}")
    rows = []
    for number in range(count):
        table = Table(setup, seed=seed, number=number)
        table.random_play(rng, rng.randrange(45 if setup.game.name == "bolola" else 75))
        while not table.over and len(table.legal()) == 1:
            table.force(table.legal()[0])
        if not table.over:
            rows.append(table.view(int(table.states[0]["seat"])))
    records_ = np.concatenate(rows)
    words = np.zeros((len(rows), 0), np.uint64)  # pimc reads the records alone
    randoms = np.array([rng.getrandbits(64) for _ in rows], np.uint64)
    return BatchView(setup.game, setup.config, records_, words, words, randoms)


def some(views: BatchView, rows: Any) -> BatchView:
    """Some rows of a batch."""
    parts = (views.records, views.words, views.mask, views.randoms)
    return BatchView(views.game, views.config, *(copy(part, rows) for part in parts))


def copy(part: np.ndarray[Any, Any], rows: Any) -> np.ndarray[Any, Any]:
    return copy_records(part[rows]) if part.dtype.names else part[rows].copy()


# ---------------------------------------------------------------------------- what it computes


@cache
def _drawer(game: Game) -> Any:
    belief = belief_of("the test", game)
    prepare, sample = belief.prepare, belief.sample

    @entry(f"{game.name}.test-pimc.draw", [game.folder, __file__])
    def draw(config, views, random, work, out):  # type: ignore[no-untyped-def]
        seat = views[0].seat
        prepare(config, views[0], seat, work[0])
        for k in range(out.shape[0]):
            out[k] = views[0]
            random = advance(sample(config, out[k], seat, random, work[0]))

    return draw


def draw_worlds(view: View, random: int, count: int) -> np.ndarray[Any, Any]:
    """Worlds of a view, drawn as pimc draws them from a random word."""
    drawn = view.game.states(count)
    work = records(1, belief_of("the test", view.game).work)
    _drawer(view.game)(view.config, view.record, np.uint64(random), work, drawn)
    return drawn


def by_hand(env: Any, view: View, worlds: int) -> list[float]:
    """The values of the legal actions: the means of the seat's points over the table's, greedy playing on."""
    setup = setup_for(env)
    game, seat = view.game, view.seat
    drawn = draw_worlds(view, view.random, worlds)
    values = []
    for action in view.legal:
        gains = []
        for k in range(worlds):
            table = Table(setup)
            table.states[:] = drawn[k : k + 1]
            before, deal = table.points(), table.field("deal")
            table.force(game.actions[action])
            points = np.subtract(table.points(), before)
            if not table.over and table.field("deal") == deal:
                points += rollouts(setup, table.states, 1, "greedy", seed=0, until="deal")[0, 0]
            gains.append(points[seat] - points.mean())
        values.append(float(np.mean(gains)))
    return values


@pytest.mark.parametrize("env", ["bolola/all_penalties", "bolola/trump", "bolola/match", "tarot/deal"])  # fmt: skip
def test_it_takes_the_action_with_the_best_mean(env: str) -> None:
    """Each legal action in each sampled world, greedy to the end of the deal; of equals the lowest id."""
    bot = pimc.Pimc(pimc.Settings(worlds=16, smooth=0.0, slips=1.0))
    views = views_of(env, fewer(12, 2), seed=1)
    for i in range(len(views.seats)):
        view = views.view(i)
        values = by_hand(env, view, 16)
        best = view.legal[int(np.argmax(values))]
        assert bot.act(view) == best, list(zip(view.legal, values, strict=True))


def test_forced_moves_cost_nothing() -> None:
    """With one legal action no world is drawn, however many are asked for."""
    bot = pimc.Pimc(pimc.Settings(worlds=10**15, drop=1e9))
    setup = setup_for("bolola/queens")
    table = Table(setup, seed=3)
    rng, forced = random.Random(0), 0
    while not table.over:
        if len(table.legal()) == 1:
            view = View(table.game, setup.config, table.view(table.field("seat")), 5)
            assert [bot.act(view)] == view.legal
            forced += 1
        table.force(rng.choice(table.legal()))
    assert forced > 3


def test_a_clear_decision_ends_the_search() -> None:
    """Actions that come out alike in every world, or are worse for sure, are dropped: the worlds asked for are a limit."""
    bot = pimc.Pimc(pimc.Settings(worlds=10**15))
    setup = setup_for("bolola/no_tricks")
    text = "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"
    table = Table(setup, deal=text, starter=0)
    view = View(table.game, setup.config, table.view(0), 1)
    assert bot.act(view) == view.legal[0]  # all 13 spades take all tricks: alike
    assert pimc.Pimc(pimc.Settings(worlds=1)).act(view) in view.legal


# ---------------------------------------------------------------------------- a batch


@pytest.mark.parametrize("env", ["bolola/hearts", "bolola/match", "tarot/deal"])
def test_a_choice_depends_on_its_own_view_alone(env: str) -> None:
    """The same row: alone, in another order, in a part of the batch, with any number of threads, asked twice."""
    views = views_of(env, fewer(40, 4))
    worlds = fewer(24, 3)
    bot = pimc.Pimc(pimc.Settings(worlds=worlds))
    chosen = bot.act_batch(views).tolist()
    rows = range(len(chosen))
    assert bot.act_batch(views).tolist() == chosen
    assert [bot.act(views.view(i)) for i in rows] == chosen
    assert bot.act_batch(some(views, list(reversed(rows)))).tolist() == chosen[::-1]
    assert bot.act_batch(some(views, slice(1, 3))).tolist() == chosen[1:3]
    for threads in (2, 3):
        shared = pimc.Pimc(pimc.Settings(worlds=worlds, threads=threads))
        assert shared.act_batch(views).tolist() == chosen
    assert bot.act_batch(some(views, slice(0, 0))).tolist() == []


def test_views_stay_as_they_are() -> None:
    views = views_of("tarot/deal", 6)
    before = views.records.tobytes(), views.randoms.tobytes()
    pimc.Pimc(pimc.Settings(worlds=4)).act_batch(views)
    assert (views.records.tobytes(), views.randoms.tobytes()) == before


def test_another_random_word_other_worlds() -> None:
    """Few worlds leave much to chance: the word decides."""
    view = views_of("bolola/bolola", 1, seed=4).view(0)
    bot = pimc.Pimc(pimc.Settings(worlds=1))
    words = range(30)
    chosen = {
        bot.act(View(view.game, view.config, copy_records(view.record), word)) for word in words
    }
    assert len(chosen) > 1


@pytest.mark.parametrize("env", ["bolola/hearts", "tarot/deal"])
def test_it_does_not_peek(env: str) -> None:
    """The hidden cards change hands, as in another world of the same view: the choice stays."""
    setup = setup_for(env)
    bot = pimc.Pimc(pimc.Settings(worlds=fewer(16, 2)))
    rng = random.Random(2)
    for number in range(fewer(12, 2)):
        table = Table(setup, number=number)
        table.random_play(rng, rng.randrange(30))
        seat = table.field("seat")
        view = View(table.game, setup.config, table.view(seat), 9)
        other = Table(setup)
        other.states[:] = draw_worlds(view, number, 1)
        assert other.states.tobytes() != table.states.tobytes()
        again = View(table.game, setup.config, other.view(seat), 9)
        assert bot.act(again) == bot.act(view)


# ---------------------------------------------------------------------------- games


@pytest.mark.parametrize("env", ENVS)
def test_it_plays_whole_games(env: str) -> None:
    """An illegal action would raise. Against random play, of which nothing is inferred, it wins."""
    deals = 1 if env == "bolola/match" else fewer(4, 1)
    result = evaluate(env, [f"pimc:worlds={fewer(8, 1)},slips=1", "random"], deals=deals)
    if env != "tarot/deal" and deals > 1:
        assert result.rows[0].overall.mean > 0


@pytest.mark.parametrize("row", HOUSE_RULES, ids=lambda row: row.name)
def test_it_plays_house_rules(row: Any) -> None:
    """B-8.1: rows of one's own."""
    evaluate("bolola/custom", [f"pimc:worlds={fewer(8, 1)}", "greedy"], deals=2, contract=row)


@pytest.mark.long
def test_it_plays_any_row() -> None:
    """B-8.1: whatever a row can say, with early stops and fixed trumps."""
    rng = random.Random(5)
    for number in range(fewer(60, 2)):
        row = random_rows(rng)[0]
        options = {"early_stop": rng.random() < 0.5, "trump": rng.choice([None, "S"])}
        evaluate("bolola/custom", ["pimc:worlds=4", "random"], seed=number, deals=4, contract=row, **options)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("playout", ["greedy", "random"])
def test_it_is_better_than_greedy(playout: str) -> None:
    """Over three greedy, with playouts of greedy; those of random are much weaker."""
    if playout == "random":
        result = evaluate("bolola/all_penalties", ["pimc:worlds=64", "pimc:worlds=64,playout=random"], deals=60)  # fmt: skip
    else:
        result = evaluate("bolola/bolola", ["pimc:worlds=64", "greedy"], deals=200)
    assert result.winner == "pimc:worlds=64"


@pytest.mark.parametrize("start", ["bid", "discard", "play"])
def test_it_plays_tarot_from_everywhere(start: str) -> None:
    """T-2.3 to T-5.1: bids, discards, declarations and plays."""
    evaluate(
        "tarot/deal", [f"pimc:worlds={fewer(4, 1)}", "random"], deals=fewer(12, 1), start=start
    )


def test_it_decides_in_a_given_time() -> None:
    """With milliseconds it plays rounds until the time is over, one at least."""
    views = views_of("bolola/hearts", 6)
    for milliseconds in (1e-6, 2.0):
        bot = pimc.Pimc(pimc.Settings(milliseconds=milliseconds, threads=2))
        chosen = bot.act_batch(views)
        assert all(action in views.view(i).legal for i, action in enumerate(chosen))
    # The first round alone is what 16 worlds say, where they leave no doubt.
    brief = pimc.Pimc(pimc.Settings(milliseconds=1e-6)).act_batch(views)
    assert brief.tolist() == pimc.Pimc(pimc.Settings(worlds=16)).act_batch(views).tolist()


# ---------------------------------------------------------------------------- settings and errors


def test_settings_in_the_name() -> None:
    bot = make_bot("pimc:worlds=5,playout=random,drop=3,threads=2")
    assert (
        isinstance(bot, pimc.Pimc) and bot.name == "pimc:worlds=5,playout=random,drop=3,threads=2"
    )
    assert bot.settings == pimc.Settings(worlds=5, playout="random", drop=3.0, threads=2)
    assert make_bot("pimc").name == "pimc"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("worlds=0", "'pimc': worlds: expected an integer from 1 on, got 0"),
        ("worlds=1.5", "worlds: expected an integer, got '1.5'"),
        ("milliseconds=-1", "milliseconds: expected a number from 0 on, got -1.0"),
        ("milliseconds=nan", "milliseconds: expected a number from 0 on, got nan"),
        ("drop=inf", "drop: expected a number from 0 on, got inf"),
        ("threads=0", "threads: expected an integer from 1 on, got 0"),
        ("words=3", "expected key=value with one of worlds=.*; got 'words=3'"),
    ],
)
def test_bad_settings(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_bot(f"pimc:{text}")


def test_bad_playouts() -> None:
    view = views_of("bolola/hearts", 1).view(0)
    for name, message in (
        ("nobody", "bot 'pimc:playout=nobody': playout: no bot 'nobody'"),
        ("pimc", "bot 'pimc:playout=pimc': playout: policy 'pimc' has no kernel for bolola"),
    ):
        with pytest.raises(ValueError, match=message):
            make_bot(f"pimc:playout={name}").act(view)


class _Breaks(Bot):
    """Always plays the two of clubs."""

    name = "breaks"

    def jit(self, game: Any) -> JitBot:
        return _BREAKS


@kernel
def _two_of_clubs(config: Any, view: Any, random: Any) -> Any:
    return 0


_BREAKS = JitBot("two-of-clubs", _two_of_clubs, __file__)


def test_a_playout_that_breaks_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "jit_bot", lambda game, name: _BREAKS)
    view = views_of("bolola/hearts", 1).view(0)
    with pytest.raises(
        ValueError, match=r"bot 'pimc': its playout policy, at seat \d, chose 0, which"
    ):
        make_bot("pimc").act(view)
