"""Rollouts are games played by hand, many at a time."""

import numpy as np
import pytest

import baselines  # noqa: F401  (registers the bots)
from benchmarks import rollouts as benchmark
from bolola_env.contracts import CONTRACTS, MATCH_ORDER
from tests.helpers import HOUSE_RULES, Table, fewer
from trick_core.bots import Bot, FunctionBot, View, make_bot
from trick_core.drivers import JitBot
from trick_core.game import setup_for
from trick_core.jit import copy_records, kernel
from trick_core.rng import ROLLOUTS, advance, mix, stream_key
from trick_core.rollouts import rollouts

ENVS = [*(f"bolola/{name}" for name in CONTRACTS), "bolola/match", "tarot/deal"]
WORD = (1 << 64) - 1


def states_of(setup, count, seed=0):
    """States at any moment of ``count`` games of greedy, the first at its beginning, the last near its end."""
    rows = []
    for k in range(count):
        table = Table(setup, seed=seed, number=k)
        total = play_on(table, [make_bot("greedy")] * 4, k)[0]
        table = Table(setup, seed=seed, number=k)
        play_on(table, [make_bot("greedy")] * 4, k, stop=total * k // count + k)
        rows.append(copy_records(table.states))
    return np.concatenate(rows)


def play_on(table, bots, random, stop=None, until="episode"):
    """Play a table by hand, each bot handed its view; how many actions it took, and the points that fell."""
    before, deal, taken = table.points(), table.field("deal"), 0
    while not table.over and taken != stop and (until == "episode" or table.field("deal") == deal):
        random = int(advance(np.uint64(random))) & WORD
        word = int(mix(np.uint64(random)))
        view = View(table.game, table.setup.config, table.view(table.seat), word)
        action = bots[table.seat].act(view)
        table.force(table.game.actions[action])
        taken += 1
    return taken, np.subtract(table.points(), before)


def stream(seed, i, j):
    key = stream_key(np.uint64(seed), np.uint64(i), ROLLOUTS)
    return int(stream_key(np.uint64(key), np.uint64(j), ROLLOUTS))


def by_hand(setup, states, n, bots, seed, until="episode"):
    out = np.zeros((len(states), n, 4))
    for i in range(len(states)):
        for j in range(n):
            table = Table(setup)
            table.states[:] = states[i : i + 1]
            out[i, j] = play_on(table, bots, stream(seed, i, j), until=until)[1]
    return out


@pytest.mark.parametrize("env", ENVS)
def test_rollouts_are_games_played_by_hand(env):
    """From any moment of the game; each policy gets its view and a word of the rollout's own stream."""
    setup = setup_for(env)
    states = states_of(setup, fewer(6, 2))
    greedy, random = make_bot("greedy"), make_bot("random")
    for lineup in ([random] * 4, [greedy] * 4, [greedy, random, random, greedy]):
        points = rollouts(setup, states, 2, lineup, seed=5)
        assert np.array_equal(points, by_hand(setup, states, 2, lineup, 5))


@pytest.mark.parametrize("row", HOUSE_RULES, ids=lambda row: row.name)
def test_rows_of_ones_own(row):
    """B-8.1: rollouts follow a user's row."""
    setup = setup_for("bolola/custom", contract=row)
    states = states_of(setup, 3)
    points = rollouts(setup, states, 2, "greedy", seed=0)
    assert np.array_equal(points, by_hand(setup, states, 2, [make_bot("greedy")] * 4, 0))


def test_to_the_end_of_the_deal():
    """B-7.1: with until="deal" a match is played no further than its current deal."""
    setup = setup_for("bolola/match")
    states = states_of(setup, 6)
    short = rollouts(setup, states, 3, seed=2, until="deal")
    assert np.array_equal(short, by_hand(setup, states, 3, [make_bot("random")] * 4, 2, "deal"))
    begun = states["trick_number"] == 0
    totals = np.array([CONTRACTS[MATCH_ORDER[deal]].total for deal in states["deal"]])
    assert begun.any() and not begun.all()
    assert (short.sum(2) == totals[:, None])[begun].all()
    whole = rollouts(setup, states, 3, seed=2)
    assert np.array_equal(whole[-1:], short[-1:]) == (states["deal"][-1] == 11)
    one_deal = setup_for("bolola/queens")
    dealt = states_of(one_deal, 2)
    assert np.array_equal(
        rollouts(one_deal, dealt, 3, seed=2, until="deal"), rollouts(one_deal, dealt, 3, seed=2)
    )


def test_every_phase_of_tarot():
    """T-2.3 to T-5.1: rollouts begin with bids, discards, declarations, kept trumps and plays alike."""
    setup = setup_for("tarot/deal")
    suits = [f"{rank}{suit}" for suit in "CDHS" for rank in "A23456789TJNQK"]
    trumps = ["EX", *(f"T{number}" for number in range(1, 22))]
    hands = [trumps[:14] + suits[:4], trumps[14:] + suits[4:14], suits[14:32], suits[32:50]]
    deal = {"hands": hands, "chien": suits[50:]}  # seat 0 has trumps to keep back (T-4.4)
    rows, rng = {}, np.random.default_rng(0)
    while len(rows) < 6:
        table = Table(setup, deal=deal)
        while not table.over:
            rows.setdefault(table.field("phase"), []).append(copy_records(table.states))
            legal = table.legal()
            table.force(legal[-1] if rng.random() < 0.3 else rng.choice(legal))
    states = np.concatenate([each for phase in rows.values() for each in phase[:2]])
    bots = [make_bot("greedy"), make_bot("random")] * 2
    points = rollouts(setup, states, 2, bots, seed=9)
    assert np.array_equal(points, by_hand(setup, states, 2, bots, 9))
    assert (points.sum(2) == 0).all()  # T-7.5


def test_reproducible_whatever_the_threads_and_the_count():
    """A20: the same seed, the same points; more rollouts leave the first ones as they were."""
    setup = setup_for("bolola/hearts")
    states = states_of(setup, 5)
    points = rollouts(setup, states, 7, seed=3)
    for threads in (2, 3, 50):
        assert np.array_equal(points, rollouts(setup, states, 7, seed=3, num_threads=threads))
    assert np.array_equal(points[:, :2], rollouts(setup, states, 2, seed=3))
    assert np.array_equal(points[:3], rollouts(setup, states[:3], 7, seed=3))
    assert not np.array_equal(points, rollouts(setup, states, 7, seed=4))
    assert np.array_equal(
        rollouts(setup, states, 1, seed=2**70), rollouts(setup, states, 1, seed=2**70)
    )
    beginning = points[0]  # all cards are to come: the seven differ
    assert len(np.unique(beginning, axis=0)) > 3


def test_states_stay_as_they_are():
    setup = setup_for("tarot/deal")
    states = states_of(setup, 4)
    before = states.tobytes()
    rollouts(setup, states, 3, "greedy", seed=0)
    assert states.tobytes() == before
    states.flags.writeable = False
    assert rollouts(setup, states[::2], 1, seed=0).shape == (2, 1, 4)


def test_nothing_is_left_when_all_is_over():
    setup = setup_for("bolola/hearts")
    table = Table(setup)
    play_on(table, [make_bot("greedy")] * 4, 0)
    assert (rollouts(setup, table.states, 3, seed=0) == 0).all()
    assert rollouts(setup, table.states[:0], 3, seed=0).shape == (0, 3, 4)


def test_later_deals_of_a_custom_match():
    """The configuration of an episode holds the hands of its later deals."""
    setup = setup_for("bolola/match", order=["no_tricks", "hearts"])
    text = "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"
    table = Table(setup, deal=[text, text], starter=0)
    fixed = rollouts(setup, table.states, 4, seed=1, config=table.config)
    # Seat 0 leads its spades and takes all 13 tricks of the first deal; the second begins with seat 1 and its hearts.
    assert (fixed == [-650, -390, 0, 0]).all()
    drawn = rollouts(setup, table.states, 4, seed=1)
    assert (drawn[:, :, 0] <= -650).all() and not (drawn == fixed).all()


class _Peeper(Bot):
    """Plays its lowest card while it sees no other hand, and its highest one if it does."""

    name = "peeper"

    def jit(self, game):
        return _PEEPER


@kernel
def _peep(config, view, random):
    seen = view.hands[0] | view.hands[1] | view.hands[2] | view.hands[3]
    word = view.legal[0]
    if seen != view.hands[view.seat]:
        while word & (word - np.uint64(1)):
            word &= word - np.uint64(1)
    action = 0
    while (word >> np.uint64(action)) & np.uint64(1) == 0:
        action += 1
    return action


_PEEPER = JitBot("peeper", _peep, __file__)


def test_policies_are_handed_views():
    """A policy that would look at other hands finds none."""
    setup = setup_for("bolola/hearts")
    states = states_of(setup, 3)

    def lowest(view):
        return view.legal[0]

    expected = by_hand(setup, states, 1, [FunctionBot(lowest)] * 4, 0)
    assert np.array_equal(rollouts(setup, states, 1, _Peeper(), seed=0), expected)
    assert np.array_equal(rollouts(setup, states, 1, [_PEEPER] * 4, seed=0), expected)


@pytest.mark.parametrize("env", ["bolola/all-penalties", "bolola/trump", "tarot/deal"])
def test_honest_bots_read_only_what_they_may_know(env):
    """Bots that are handed whole states choose in them as in their views."""
    setup = setup_for(env)
    states = states_of(setup, fewer(40, 4), seed=8)
    for name in ("greedy", "random"):
        kernel_of = make_bot(name).jit(setup.game)
        assert kernel_of.honest
        cautious = kernel_of._replace(label=f"{name}-view", honest=False)
        assert np.array_equal(
            rollouts(setup, states, 2, kernel_of, seed=0),
            rollouts(setup, states, 2, cautious, seed=0),
        )


def test_errors_say_what_was_expected():
    setup = setup_for("bolola/hearts")
    table = Table(setup)
    states = table.states

    def expect(message, *args, error=ValueError, **settings):
        with pytest.raises(error, match=message):
            rollouts(*args, **{"seed": 0, **settings})

    found = r"got other records of shape \(1,\)$"
    expect(f"states: expected an array of tarot's state records.*{found}", "tarot/deal", states, 1)
    expect(r"states: expected .*, got int8 of shape \(1,\)", setup, states["seat"], 1)
    expect(r"states: expected .*got \[\]", setup, [], 1)
    expect(r"states: expected .*shape \(1, 1\)", setup, states.reshape(1, 1), 1)
    for n in (0, -1, 1.0, True, None):
        expect("n: expected a positive integer", setup, states, n)
    expect("until: expected one of 'episode', 'deal'", setup, states, 1, until="trick")
    expect("policies: expected one, or 4 by seat; got a list of 2", setup, states, 1, ["random"] * 2)  # fmt: skip
    expect("no bot 'nobody'", setup, states, 1, "nobody")
    expect("a bot is a name", setup, states, 1, 7, error=TypeError)
    expect("'<lambda>' has no kernel for bolola", setup, states, 1, lambda view: 0)
    expect("seed: expected a non-negative integer", setup, states, 1, seed=-1)
    expect("num_threads: expected a positive integer", setup, states, 1, num_threads=0)
    expect("config: expected an episode's configuration", setup, states, 1, config=states)
    expect("config: expected 12 records, got 1", "bolola/match", states, 1, config=setup.config)
    match = states_of(setup_for("bolola/match"), 2)[1:]
    expect(r"states\[0\]: deal \d+ of an episode of 1; is it another setup's", setup, match, 1)
    match["deal"] = -1
    expect(r"states\[0\]: deal 0 of an episode of 12", "bolola/match", match, 1)


def test_views_are_refused():
    """A state without the hidden hands cannot be played on; the message says what to do."""
    setup = setup_for("bolola/hearts")
    table = Table(setup)
    for policy in ("random", "greedy"):
        with pytest.raises(
            ValueError, match=r"states\[0\]: seat \d runs out of cards; a view must"
        ):
            rollouts(setup, table.view(table.seat), 1, policy, seed=0)


@kernel
def _first_card(config, view, random):
    return 0


def test_a_policy_that_breaks_the_rules_is_named():
    setup = setup_for("bolola/hearts")
    bot = JitBot("first-card", _first_card, __file__)
    with pytest.raises(
        ValueError, match=r"states\[0\]: policy 'first-card' at seat \d chose 0, which is"
    ):
        rollouts(setup, Table(setup).states, 2, bot, seed=0, num_threads=2)


def test_the_benchmark_counts_actions():
    """A45: every counted step is an action of a live seat."""
    found = {name: benchmark.actions_of(setup) for name, setup in benchmark.setups().items()}
    assert list(found.values()) == [52, 53, 72]
    cases = benchmark.cases(benchmark.setups()["bolola/hearts"])
    assert [case.run() for case in cases[1:]] == [52 * cases[0].batch * benchmark.COUNT] * 2
