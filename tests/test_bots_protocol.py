"""Bots: what they are handed, how they are named, and what happens when they go wrong."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

from bolola_env.game import DEAL_FORMAT
from bolola_env.game import setup as bolola_setup
from tarot_env.game import setup as tarot_setup
from tests.helpers import Table, card_texts
from trick_core.batch import Batch
from trick_core.bots import (
    BatchView,
    Bot,
    FunctionBot,
    KernelBot,
    ScoringBot,
    View,
    as_bot,
    bot_names,
    make_bot,
    random_bot,
    register_bot,
)
from trick_core.drivers import JitBot, uniform_choice
from trick_core.game import find_game
from trick_core.jit import JIT, kernel
from trick_core.learner import LearnerVectorEnv
from trick_core.rng import DEALS, advance, mix, opponents_key, stream_key
from trick_core.single import SingleAgentEnv

HEARTS = bolola_setup("hearts")


def lowest(view):
    return view.legal[0]


class Recorder(Bot):
    """Plays its lowest card and keeps every view."""

    name = "recorder"

    def __init__(self):
        self.views: list[View] = []

    def act(self, view):
        self.views.append(view)
        return view.legal[0]


def play(env, seed=0, steps=500, reset=True, options=None):
    """Play the learner's lowest legal action; the history of all seats and the rewards."""
    if reset:
        env.reset(seed=seed, options=options)
    rewards = []
    for _ in range(steps):
        _, reward, terminated, _, _ = env.step(int(env.action_masks().argmax()))
        rewards.append(reward)
        if terminated:
            break
    return env.history, rewards


# ---------------------------------------------------------------------------- what a view holds


def shuffled_elsewhere(hands, seat, rng):
    """A deal in which a seat's hand stays and the cards of the others (and of the chien) are dealt anew."""
    pool = [card for other, hand in enumerate(hands) if other != seat for card in hand]
    rng.shuffle(pool)
    dealt = []
    for other, hand in enumerate(hands):
        if other == seat:
            dealt.append(list(hand))
        else:
            dealt.append(sorted(pool[: len(hand)]))
            pool = pool[len(hand) :]
    return dealt


def first_view(setup, options, observer):
    """What the bot at a seat that is first on turn is handed."""
    recorder = Recorder()
    others = [recorder if seat == observer else "random" for seat in range(1, 4)]
    SingleAgentEnv(setup, opponents=others, seat=0).reset(seed=7, options=options)
    return recorder.views[0]


def fields(records):
    """Records in plain numbers, without the padding between the fields."""
    return {name: records[name].tolist() for name in records.dtype.names}


def same_view(one: View, other: View) -> None:
    assert fields(one.record) == fields(other.record)
    assert fields(one.config) == fields(other.config)
    assert (one.seat, one.random, one.legal) == (other.seat, other.random, other.legal)
    for key in ("observation", "action_mask"):
        assert (one[key] == other[key]).all()


def test_first_view_does_not_depend_on_hidden_hands_of_a_custom_deal():
    """Two custom deals that differ in what the bot cannot see hand it equal bytes."""
    rng = random.Random(0)
    cards = list(range(52))
    rng.shuffle(cards)
    hands = [sorted(cards[13 * seat : 13 * seat + 13]) for seat in range(4)]
    other = shuffled_elsewhere(hands, 1, rng)
    assert hands[1] == other[1] and hands[2] != other[2]
    one, two = (first_view(HEARTS, {"deal": deal, "starter": 1}, 1) for deal in (hands, other))
    same_view(one, two)
    assert not one.config["hands"].any() and not one.record["key"].any()


def test_first_view_of_tarot_does_not_depend_on_hidden_hands_or_chien():
    setup = tarot_setup()
    rng = random.Random(1)
    cards = list(range(78))
    views = []
    # Dealer 0: seat 1 bids first. The Petit lies in the observer's hand with trumps beside it, so no deal is refused.
    fixed = [57, 58, 60, 64, *range(14)]
    rest = [card for card in cards if card not in fixed]
    for _ in range(2):
        rng.shuffle(rest)
        hands = [rest[:18], fixed, rest[18:36], rest[36:54]]
        deal = {"hands": hands, "chien": rest[54:]}
        views.append(first_view(setup, {"deal": deal, "dealer": 0}, 1))
    same_view(*views)


@pytest.mark.parametrize("contract", ["hearts", "trump", "match"])
def test_views_in_play_do_not_depend_on_where_the_unseen_cards_lie(contract):
    """Move the unseen cards about in the full state: what the seat on turn is handed stays the same."""
    rng = random.Random(2)
    table = Table(contract, seed=5)
    for _ in range(60):
        before = fields(table.view(table.seat))
        hands = [int(hand) for hand in table.states["hands"][0]]
        held = [card_texts(hand) for hand in hands]
        ids = [[DEAL_FORMAT.card_id(card) for card in hand] for hand in held]
        moved = shuffled_elsewhere(ids, table.seat, rng)
        table.states["hands"][0] = [sum(1 << card for card in hand) for hand in moved]
        key = table.states["key"].copy()
        table.states["key"] = rng.getrandbits(64)
        assert fields(table.view(table.seat)) == before
        table.states["hands"][0], table.states["key"] = hands, key
        table.random_play(rng, 1)
        if table.over:
            break


def test_bot_is_asked_at_its_own_seat_with_its_own_hand():
    bots = [Recorder() for _ in range(3)]
    env = SingleAgentEnv(HEARTS, opponents=bots, seat=1)
    env.reset(seed=3)
    dealt = env.states["hands"][0] | env.states["played"][0]
    play(env, 3)
    for seat, bot in zip((2, 3, 0), bots, strict=True):
        assert len(bot.views) == 13
        for view in bot.views:
            assert view.seat == seat
            hand = int(view.record["hands"][0][seat])
            assert [int(h) for s, h in enumerate(view.record["hands"][0]) if s != seat] == [0] * 3
            assert hand | int(view.record["played"][0][seat]) == dealt[seat]
            held = HEARTS.game.layout.read(view["observation"], "hand").ravel()
            assert sum(int(bit) << i for i, bit in enumerate(held)) == hand
            assert np.flatnonzero(view["action_mask"]).tolist() == view.legal
            assert all(hand >> card & 1 for card in view.legal)


def test_bots_may_write_on_what_they_are_handed():
    """A view is a copy: a bot that scribbles over it plays the same game as one that does not."""

    class Vandal(Bot):
        name = "vandal"

        def act_batch(self, views: BatchView):
            chosen = views["action_mask"].argmax(1)
            views["action_mask"][:] = 1
            views["observation"][:] = 0
            views.words[:] = 0
            for name in views.records.dtype.names:
                views.records[name] = 0
            views.seats[:] = 2
            return chosen

    clean = play(SingleAgentEnv(HEARTS, opponents=lowest), 4)
    assert play(SingleAgentEnv(HEARTS, opponents=Vandal()), 4) == clean


def test_configuration_in_a_view_is_read_only():
    view = first_view(HEARTS, {"starter": 2}, 2)
    with pytest.raises(ValueError, match="read-only"):
        view.config["locked"][0] = 0


# ---------------------------------------------------------------------------- forms of bots


class WithAct:
    name = "with_act"

    def act(self, view):
        return view.legal[0]


class WithBatch(WithAct):
    def act_batch(self, views):
        return views["action_mask"].argmax(1)


class Subclass(Bot):
    name = "subclass"

    def act(self, view):
        return np.int64(view.legal[0])


@pytest.mark.parametrize(
    "bot",
    [
        WithAct(),
        WithBatch(),
        Subclass(),
        lambda view: view.legal[0],
        lambda observation, action_mask: int(np.flatnonzero(action_mask)[0]),
        lambda observation, action_mask: np.flatnonzero(action_mask)[0],
    ],
    ids=["object", "object with act_batch", "Bot", "f(view)", "f(obs, mask)", "numpy integer"],
)
def test_every_form_of_the_same_bot_plays_the_same_game(bot):
    """A49: per-seat opponents as objects or callables."""
    expected = play(SingleAgentEnv(HEARTS, opponents=lowest), 8)
    assert play(SingleAgentEnv(HEARTS, opponents=bot), 8) == expected


@pytest.mark.parametrize("setup", [HEARTS, tarot_setup()], ids=["bolola", "tarot"])
def test_kernel_bot_plays_the_same_inside_and_outside_of_the_kernel(setup):
    """Asked from Python with the view's random word, a jitted bot chooses what it chooses in the driver."""
    inside = make_bot("random")
    outside = FunctionBot(lambda view: inside.act(view))
    expected = play(SingleAgentEnv(setup, opponents="random"), 8)
    assert play(SingleAgentEnv(setup, opponents=outside), 8) == expected
    mixed = [outside, "random", outside]
    assert play(SingleAgentEnv(setup, opponents=mixed), 8) == expected


def test_random_bot_takes_every_legal_action_about_equally_often():
    """Uniform choice: over many deals the first seat's 13 cards are led equally often (chi-square, 12 d.f.)."""
    counts = np.zeros(13)
    env = SingleAgentEnv(bolola_setup("no_tricks", starter=3), seat=0)
    env.reset(seed=0)
    deals = 1300 if JIT else 130
    for _ in range(deals):
        env.reset()
        hand = int(env.states["hands"][0][3] | env.states["played"][0][3])
        cards = [card for card in range(52) if hand >> card & 1]
        counts[cards.index(env.history[0])] += 1
    expected = deals / 13
    assert ((counts - expected) ** 2 / expected).sum() < 32.9  # p = 0.001


def test_rng_of_a_view_comes_from_the_deal_alone():
    """A20: a bot's randomness depends on (seed, k), not on the global generators."""

    def drawing(view):
        return int(view.rng.choice(view.legal))

    first = play(SingleAgentEnv(HEARTS, opponents=drawing), 5)
    np.random.seed(0)
    random.seed(0)
    assert play(SingleAgentEnv(HEARTS, opponents=drawing), 5) == first
    assert play(SingleAgentEnv(HEARTS, opponents=drawing), 6) != first


def test_opponents_have_a_stream_of_their_own():
    """What a bot draws first is the first word after the key of (seed, number of the deal)."""
    view = first_view(HEARTS, {"starter": 1}, 1)
    with np.errstate(over="ignore"):
        assert view.random == mix(advance(opponents_key(np.uint64(7), np.uint64(0))))
        assert view.random != mix(advance(stream_key(np.uint64(7), np.uint64(0), DEALS)))


# ---------------------------------------------------------------------------- asking in batches


def test_vector_environment_asks_once_a_round_for_all_tables():
    calls = []

    class Counting(Bot):
        name = "counting"

        def act_batch(self, views):
            calls.append(len(views.seats))
            assert views["observation"].shape == (len(views.seats), HEARTS.game.layout.size)
            return views["action_mask"].argmax(1)

    env = LearnerVectorEnv(HEARTS, 32, Counting(), seat="rotate")
    env.reset(seed=0)
    most = 0
    for _ in range(30):
        calls.clear()
        env.step(env.sample_actions())
        most = max(most, len(calls))
        assert sum(calls) >= len(calls)
    assert 3 <= most <= 6  # at most three after the learner and three before it


def test_batch_view_equals_the_single_views():
    seen = []

    class Looking(Bot):
        name = "looking"

        def act_batch(self, views):
            for i in range(len(views.seats)):
                view = views.view(i)
                assert view.seat == views.seats[i]
                for key in views:
                    assert (view[key] == views[key][i]).all()
                seen.append(view.seat)
            return views["action_mask"].argmax(1)

    env = LearnerVectorEnv(HEARTS, 4, Looking())
    env.reset(seed=0)
    for _ in range(20):
        env.step(env.sample_actions())
    assert set(seen) == {1, 2, 3}


# ---------------------------------------------------------------------------- names and errors


def test_names_resolve_and_unknown_names_are_listed():
    assert "random" in bot_names()
    assert as_bot("random").name == "random"
    with pytest.raises(ValueError, match=r"no bot 'nobody'; there are .*random"):
        as_bot("nobody")
    with pytest.raises(ValueError, match="takes no argument"):
        as_bot("random:3")


def test_registered_factory_gets_what_follows_the_colon():
    arguments = []

    def factory(argument):
        arguments.append(argument)
        return FunctionBot(lowest)

    register_bot("test-lowest", factory)
    as_bot("test-lowest")
    as_bot("test-lowest:a:b")
    assert arguments == [None, "a:b"]


@pytest.mark.parametrize("spec", [None, 3, object(), Subclass])
def test_what_is_no_bot_is_refused(spec):
    with pytest.raises(TypeError, match="a bot is a name, an object"):
        as_bot(spec)


@pytest.mark.parametrize(
    ("choice", "error", "message"),
    [
        (lambda view: 0.5, TypeError, "expected the id of an action"),
        (lambda view: None, TypeError, "expected the id of an action"),
        (lambda view: "QH", TypeError, "expected the id of an action"),
        (lambda view: 56, ValueError, r"at seat [123] of table 0 chose 56; legal are \["),
        (lambda view: -1, ValueError, "chose -1; legal are"),
        (
            lambda view: next(a for a in range(52) if a not in view.legal),
            ValueError,
            r"bot '<lambda>' at seat [123] of table 0 chose \d+; legal are \[",
        ),
    ],
)
def test_bad_choice_names_bot_seat_and_action(choice, error, message):
    """A32: an illegal action of a policy is reported with seat, legal actions and action, never repaired."""
    env = SingleAgentEnv(HEARTS, opponents=choice)
    with pytest.raises(error, match=message):
        play(env)


def test_batch_of_a_wrong_size_is_refused():
    class Short(Bot):
        name = "short"

        def act_batch(self, views):
            return views["action_mask"].argmax(1)[:-1]

    env = LearnerVectorEnv(HEARTS, 4, Short())
    with pytest.raises(ValueError, match=r"bot 'short': expected \d+ integers, got int64 of shape"):
        env.reset(seed=0)


#: Seat 0 holds the clubs, so that no other seat can follow it; seat 3 holds the Ace of spades.
CLUBS_FIRST = [list(range(13 * seat, 13 * seat + 13)) for seat in range(4)]


@kernel
def _cheat(config, view, rand):
    return 51 - (view.legal[0] & np.uint64(0))


def _cheating(game):
    return JitBot("test-cheat", _cheat, __file__)


def test_illegal_choice_of_a_jitted_bot_is_reported_and_loses_the_episode():
    """A jitted bot's illegal action raises too; the episode cannot go on, and reset helps."""
    from gymnasium.error import ResetNeeded

    env = SingleAgentEnv(bolola_setup("no_tricks"), opponents=KernelBot("cheat", _cheating))
    env.reset(seed=0, options={"deal": CLUBS_FIRST, "starter": 0})
    with pytest.raises(ValueError, match=r"at seat 1 of table 0 chose 51; legal are"):
        env.step(0)
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.set_opponents("random")
    play(env)


def test_bots_survive_pickle():
    """A58: named bots and users' objects."""
    for bot in (make_bot("random"), Subclass(), FunctionBot(lowest)):
        twin = pickle.loads(pickle.dumps(bot))
        assert twin.name == bot.name
        assert play(SingleAgentEnv(HEARTS, opponents=twin), 2) == play(
            SingleAgentEnv(HEARTS, opponents=bot), 2
        )


def test_jitted_form_of_random_is_the_games_uniform_choice():
    game = find_game("bolola")
    assert make_bot("random").jit(game) == random_bot(game)
    assert random_bot(game).act is uniform_choice(game)


class Ranks(ScoringBot):
    """Scores an action by its id modulo 13: high ranks first, of equal ones the lowest suit."""

    def scores(self, observation):
        assert observation.shape[1] == self.size
        ids = np.arange(self.num_actions)
        return np.broadcast_to(ids % 13, (len(observation), len(ids)))


def hearts_views(count: int) -> BatchView:
    """What the seats on turn see at as many tables, some cards into their deals."""
    batch = Batch(HEARTS, count, packed=True, autoreset="disabled")
    batch.buffers.tables["seed"] = np.arange(count, dtype=np.uint64)
    batch.reset()
    rows = np.arange(count)
    for _ in range(9):
        batch.step(batch.ask(make_bot("random"), rows))
    return batch.views(rows)


def test_a_scoring_bot_plays_the_legal_action_with_the_highest_score() -> None:
    views = hearts_views(30)
    bot = Ranks("ranks", 896, 56)
    chosen = bot.act_batch(views)
    assert len(set(chosen.tolist())) > 5
    for i, action in enumerate(chosen):
        legal = np.flatnonzero(views.mask[i])
        assert action == max(legal, key=lambda each: (each % 13, -each)) == bot.act(views.view(i))


def test_a_scoring_bot_refuses_a_game_that_it_was_not_trained_for() -> None:
    views = hearts_views(2)
    for size, actions in ((5000, 56), (896, 89)):
        bot = Ranks("ranks", size, actions)
        words = f"bot 'ranks' was trained for {actions} actions and {size} values of observation"
        with pytest.raises(ValueError, match=words):
            bot.act_batch(views)
