"""The games in OpenSpiel: its own checks, and that they are the games of the environments."""

import math
import pickle
import unittest
from collections import Counter

import numpy as np
import pytest

from tests.libraries import pages

pyspiel = pytest.importorskip(
    "pyspiel", reason="OpenSpiel has tests of its own: nox --sessions libraries"
)

from open_spiel.integration_tests import api_test  # noqa: E402
from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import (  # noqa: E402
    exploitability,
    external_sampling_mccfr,
    ismcts,
    mcts,
)
from open_spiel.python.observation import make_observation  # noqa: E402

import baselines.openspiel as openspiel  # noqa: E402
from baselines.evaluate import evaluate  # noqa: E402
from baselines.openspiel.dealing import MOST_WORLDS, world_sampler  # noqa: E402
from bolola_env import Contract  # noqa: E402
from bolola_env.game import GAME as BOLOLA  # noqa: E402
from tarot_env.game import GAME as TAROT  # noqa: E402
from trick_core.aec import TrickAEC  # noqa: E402
from trick_core.game import setup_for  # noqa: E402
from trick_core.jit import records  # noqa: E402
from trick_core.records import Table  # noqa: E402

GAMES = [
    "bolola",
    "bolola(contract=trump)",
    "bolola(contract=no_tricks,dealing=seeds,zero_sum=True,reward_scale=0.01)",
    "bolola(contract=all_penalties,dealing=seeds,reward=final,early_stop=True)",
    "bolola(contract=bolola,dealing=seeds,reward=shaped,starter=2)",
    "bolola(contract=match,dealing=seeds)",
    "tarot",
    "tarot(dealing=seeds)",
    "tarot(dealing=seeds,start=discard,contract=garde,reward=final)",
    "tarot(dealing=seeds,start=play,forbid_pass=True,zero_sum=True)",
]


def random_table(setup, seed, stop):
    """A table after random actions, ``stop`` before the end."""
    rng = np.random.default_rng(seed)
    table = Table(setup, seed=seed)
    while not table.over:
        table.step(table.legal[rng.integers(len(table.legal))])
    table.undo(stop)
    return table


def ending(setup, seed, stop, hidden=""):
    """The game of a random table's last ``stop`` actions."""
    table = random_table(setup, seed, stop)
    texts = " ".join(setup.game.actions[action] for action in table.history)
    options = {key: value for key, value in table.start.items() if key != "discard"}
    deal = table.deals[0].replace(",", ";")
    return openspiel.load(setup.changed(**options), deal=deal, actions=texts, hidden=hidden)


HEARTS, NO_TRICKS = BOLOLA.setup("hearts"), BOLOLA.setup("no_tricks")
TRUMP = BOLOLA.setup("trump", trump="S")
ENDINGS = {
    "two tricks": lambda: ending(HEARTS, 3, 8, "NESW"),
    "mid-trick": lambda: ending(TRUMP, 4, 6, "NES"),
    "two hands": lambda: ending(HEARTS, 5, 12, "EW"),
    "nothing hidden": lambda: ending(HEARTS, 6, 16),
    "tarot": lambda: ending(TAROT.setup(forbid_pass=True), 7, 8, "NESW"),
}


def random_state(game, rng, stop=None):
    """A state some random actions after the deal."""
    state = game.new_initial_state()
    while state.is_chance_node():
        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(int(rng.choice(outcomes, p=np.array(chances) / sum(chances))))
    for _ in range(rng.integers(game.max_game_length()) if stop is None else stop):
        if state.is_terminal():
            break
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


@pytest.mark.parametrize("name", GAMES)
def test_random_simulations_of_openspiel(name):
    """OpenSpiel's own test: legality, copies, history, texts and tensors, serialization, rewards, returns and their bounds."""
    game = pyspiel.load_game(name)
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
    everything = pyspiel.IIGObservationType(
        perfect_recall=True, private_info=pyspiel.PrivateInfoType.ALL_PLAYERS
    )
    pyspiel.random_sim_test(
        game,
        num_sims=1,
        serialize=False,
        verbose=False,
        observer=game.make_observer(everything, {}),
    )


@pytest.mark.parametrize("name", ENDINGS)
def test_random_simulations_of_endings(name):
    pyspiel.random_sim_test(ENDINGS[name](), num_sims=3, serialize=True, verbose=False)


# --- the same game ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "options"),
    [
        ("bolola/trump-v0", {}),
        ("bolola/match-v0", {"zero_sum": True}),
        ("tarot/deal-v0", {}),
        ("tarot/deal-v0", {"reward": "final", "start": "discard"}),
    ],
)
def test_deal_k_is_deal_k_of_the_environments(env, options):
    """With ``dealing=seeds``: the same cards, legal actions, rewards and observations as an environment with the same seed."""
    setup = setup_for(env, **options)
    game = openspiel.load(setup, dealing="seeds", seed=5)
    rng = np.random.default_rng(0)
    for number in (0, 3):
        aec = TrickAEC(setup)
        for _ in range(number + 1):
            aec.reset(seed=5 if _ == 0 else None)
        state = game.new_initial_state()
        state.apply_action(number)
        size = game.observation_tensor_size()
        while not state.is_terminal():
            seat = state.current_player()
            seen = aec.observe(aec.agent_selection)
            assert aec.agent_selection == f"player_{seat}"
            assert state.legal_actions_mask() == seen["action_mask"].tolist()
            assert state.observation_tensor() == seen["observation"][:size].tolist()
            action = int(rng.choice(state.legal_actions()))
            assert state.action_to_string(action) == setup.game.actions[action]
            state.apply_action(action)
            aec.step(action)
            assert state.rewards() == [aec.rewards[agent] for agent in aec.possible_agents]


def test_cards_are_dealt_with_the_chances_of_a_shuffle():
    """Every deal has one sequence of outcomes, of chance 13!^4 / 52!; the starter is drawn before."""
    game = pyspiel.load_game("bolola(contract=queens)")
    rng = np.random.default_rng(1)
    state, chance = game.new_initial_state(), 1.0
    assert [chance for _, chance in state.chance_outcomes()] == [0.25] * 4
    assert state.action_to_string(2) == "starter 2"
    while state.is_chance_node():
        outcome, probability = state.chance_outcomes()[rng.integers(len(state.chance_outcomes()))]
        chance *= probability
        state.apply_action(outcome)
    deals = math.factorial(52) // math.factorial(13) ** 4
    assert 4 * deals * chance == pytest.approx(1.0)
    starter, *owners = state.history()
    assert state.current_player() == starter
    table = Table(game.setup, options={"deal": dealt(owners, 52, 4), "starter": starter})
    assert str(state) == f"{table.render()}\n"


def dealt(owners, cards, count):
    """Hands of card ids from the owners of the cards."""
    return [[card for card in range(cards) if owners[card] == owner] for owner in range(count)]


def test_a_petit_sec_is_dealt_again():
    """T-2.2: the deal is annulled before anybody speaks, so chance deals anew."""
    game = pyspiel.load_game("tarot(dealer=1)")
    state = game.new_initial_state()
    texts = game.setup.game.actions[:78]
    # Seat 0: the Petit and 17 suit cards; the other cards in turn to whoever has room.
    owners = {texts.index("T1"): 0} | dict.fromkeys(range(17), 0)
    room = [0, 18, 18, 18, 6]
    for card in range(78):
        if card not in owners:
            owner = max(range(5), key=room.__getitem__)
            owners[card] = owner
            room[owner] -= 1
    for card in range(78):
        assert state.action_to_string(owners[card]).startswith(texts[card])
        state.apply_action(owners[card])
    assert state.is_chance_node()
    assert len(state.chance_outcomes()) == 5
    for card in range(78):
        state.apply_action([*range(4)][card % 4] if card < 72 else 4)
    assert state.current_player() == 2


def test_the_match_is_dealt_before_its_first_card():
    game = pyspiel.load_game("bolola(contract=match,starter=0)")
    state = random_state(game, np.random.default_rng(2), stop=0)
    assert len(state.history()) == game.max_chance_nodes_in_history() == 12 * 52
    deals = [dealt(state.history()[52 * k :], 52, 4) for k in range(12)]
    table = Table(game.setup, options={"deal": deals, "starter": 0})
    while not table.over:
        action = table.game.action_id(table.legal[-1])
        table.step(action)
        state.apply_action(action)
    assert state.is_terminal()
    assert state.returns() == table.points


@pytest.mark.parametrize("name", ["two tricks", "tarot"])
def test_endings_go_on_as_the_environments_do(name):
    """Whatever chance deals, the actions before and after are legal in that deal and bring the same points."""
    game = ENDINGS[name]()
    setup, rng = game.setup, np.random.default_rng(3)
    before = game.get_parameters()["actions"].split()
    for _ in range(5):
        state = random_state(game, rng)
        deal = state.table.rules.game.deal_text(state.table.states, 0)
        table = Table(setup, options={"deal": deal})
        for action in [*before, *state.history()[1:]]:
            table.step(action)
        assert state.legal_actions() == [setup.game.action_id(text) for text in table.legal]
        assert state.returns() == table.points


def test_worlds_of_an_ending_are_those_of_the_belief():
    """Grouped by what a seat sees, there are as many as the belief counts, for every seat."""
    game = ENDINGS["two tricks"]()
    worlds = [game.new_initial_state().child(k) for k in range(game.max_chance_outcomes())]
    work, sample = records(1, BOLOLA.belief.work), world_sampler(BOLOLA)
    assert len({world.information_state_string(seat) for world in worlds for seat in range(4)}) > 40
    for seat in range(4):
        groups = Counter(world.information_state_string(seat) for world in worlds)
        for world in worlds[::97]:
            expected = sample(game.setup.config, world.table.view(seat), seat, np.uint64(1), work)
            assert groups[world.information_state_string(seat)] == expected


# --- what a seat sees ------------------------------------------------------------------------------------------------


def knowledge(state, seat):
    """An information state, taken from the rules' own record: all that a seat is shown, and what it has seen happen."""
    table = state.table
    view = table.view(seat)[0].item()
    names = state.table.rules.game.state.names
    shown = {name: np.asarray(value).tolist() for name, value in zip(names, view, strict=True)}
    for name in ("gain", "redeals"):  # derived from the actions; no part of the play
        shown.pop(name, None)
    own = [hands[seat] for hands in table.past]
    return repr((shown, own, table.seen(seat)))


@pytest.mark.parametrize(
    "name",
    [
        "two tricks",
        "tarot",
        "bolola(contract=trump,dealing=seeds,deals=3)",
        "tarot(dealing=seeds,deals=2)",
    ],
)
def test_information_states_are_told_apart(name):
    """Texts, and tensors, are equal exactly where a seat has the same knowledge, over states that share much."""
    game = ENDINGS[name]() if name in ENDINGS else pyspiel.load_game(name)
    rng = np.random.default_rng(4)
    states = [random_state(game, rng) for _ in range(60)]
    states += [random_state(game, rng, stop=stop) for stop in (0, 1, 2, 3) for _ in range(15)]
    sampler = pyspiel.UniformProbabilitySampler(0.0, 1.0)
    states += [s.resample_from_infostate(int(rng.integers(4)), sampler) for s in states[:40]]
    for seat in range(4):
        texts = [state.information_state_string(seat) for state in states]
        tensors = [tuple(state.information_state_tensor(seat)) for state in states]
        known = [knowledge(state, seat) for state in states]
        assert len(set(texts)) == len(set(known)) == len({*zip(texts, known, strict=True)})
        if "tarot" not in name:
            assert len(set(tensors)) == len({*zip(texts, tensors, strict=True)}) == len(set(texts))


def test_what_is_shown_without_an_action_tells_information_states_apart():
    """T-3.1: two deals that differ in the chien alone, for the hand of seat 1, look the same until it is shown."""
    cards = TAROT.actions[:78]
    first = [[*cards[at : at + 18]] for at in (0, 18, 36, 54, 72)]
    second = [hand.copy() for hand in first]
    second[2][0], second[4][0] = second[4][0], second[2][0]
    setup = TAROT.setup(dealer=3)
    deals = [Table(setup, options={"deal": deal}).deals[0] for deal in (first, second)]
    games = [openspiel.load("tarot", dealer=3, deal=deal.replace(",", ";")) for deal in deals]
    for actions, same in (("garde pass pass", True), ("garde pass pass pass", False)):
        seen = set()
        for game in games:
            state = game.new_initial_state()
            for action in actions.split():
                state.apply_action(TAROT.action_id(action))
            seen.add(state.information_state_string(1))
        assert (len(seen) == 1) == same


def test_history_of_the_information_state_tensor():
    """One row an action, in their order: the relative seat and the action in binary, hidden actions of others left out."""
    game = pyspiel.load_game("tarot(dealing=seeds,start=discard,contract=garde,taker=1)")
    state = random_state(game, np.random.default_rng(5), stop=20)
    kind = pyspiel.IIGObservationType(perfect_recall=True)
    observer = make_observation(game, kind)
    lengths = []
    for seat in range(4):
        observer.set_from(state, seat)
        assert observer.tensor.tolist() == state.information_state_tensor(seat)
        rows = observer.dict["history"]
        rows = rows[rows[:, 0] == 1].astype(int)
        moves = [
            ((seat + row[1] + 2 * row[2]) % 4, int(row[3:] @ (1 << np.arange(len(row) - 3))))
            for row in rows
        ]
        assert moves == state.table.seen(seat)
        lengths.append(len(moves))
    assert lengths[1] == 20 and max(lengths[0], *lengths[2:]) < 20


def test_observers_of_parts():
    """Public information is the same for all seats and has nobody's cards; with the private part it is all that a seat sees."""
    game = pyspiel.load_game("bolola(dealing=seeds,contract=trump)")
    state = random_state(game, np.random.default_rng(6), stop=30)
    kinds = pyspiel.PrivateInfoType
    public, private = (
        make_observation(
            game, pyspiel.IIGObservationType(perfect_recall=False, public_info=p, private_info=q)
        )
        for p, q in ((True, kinds.NONE), (False, kinds.SINGLE_PLAYER))
    )
    texts = {public.string_from(state, seat) for seat in range(4)}
    assert len(texts) == 1
    for seat in range(4):
        public.set_from(state, seat)
        assert not public.dict["hand"].any() and public.dict["played"].any()
        private.set_from(state, seat)
        hand = np.flatnonzero(private.dict["hand"]).tolist()
        text = private.string_from(state, seat)
        assert hand and not private.dict["played"].any()
        assert text.startswith("NESW"[seat] + "\n")
        assert len(hand) == 13 - sum(mover == seat for mover, a in state.table.seen(seat) if a < 52)
    with pytest.raises(ValueError, match="shows nothing"):
        make_observation(
            game,
            pyspiel.IIGObservationType(
                perfect_recall=False, public_info=False, private_info=kinds.NONE
            ),
        )


@pytest.mark.parametrize("name", [*GAMES[:2], GAMES[5], *GAMES[6:]])
def test_resampled_states_look_the_same_and_play_on(name):
    """The seat sees the same, in texts and tensors; other hands differ; everything public holds; the rest is a legal game."""
    game = pyspiel.load_game(name)
    rng = np.random.default_rng(7)
    sampler = pyspiel.UniformProbabilitySampler(0.0, 1.0)
    others = 0
    for stop in (3, 12, 40):
        state = random_state(game, rng, stop=stop)
        if state.is_terminal():
            continue
        seat = state.current_player()
        public = state.table.public()[0].item()
        for _ in range(5):
            twin = state.resample_from_infostate(seat, sampler)
            assert twin.information_state_string(seat) == state.information_state_string(seat)
            assert twin.information_state_tensor(seat) == state.information_state_tensor(seat)
            assert twin.observation_string(seat) == state.observation_string(seat)
            assert twin.legal_actions() == state.legal_actions()
            assert repr(twin.table.public()[0].item()) == repr(public)
            assert twin.history() == state.history()
            others += twin.table.dealt != state.table.dealt
            while not twin.is_terminal():
                twin.apply_action(int(rng.choice(twin.legal_actions())))
            assert sum(twin.returns()) == pytest.approx(game.utility_sum())
    assert others > 5


def test_resampled_endings_are_uniform_over_the_worlds():
    """Among those that chance could have dealt and the seat cannot rule out, with the chance's own outcome in the history."""
    game = ENDINGS["two tricks"]()
    state = random_state(game, np.random.default_rng(8), stop=2)
    seat, sampler = state.current_player(), pyspiel.UniformProbabilitySampler(0.0, 1.0)
    seen = state.information_state_string(seat)
    drawn = Counter()
    for _ in range(400):
        twin = state.resample_from_infostate(seat, sampler)
        again = game.new_initial_state()
        for action in twin.history():
            again.apply_action(action)
        assert again.information_state_string(seat) == seen
        drawn[twin.history()[0]] += 1
    possible = 0
    for outcome in range(game.max_chance_outcomes()):
        world = game.new_initial_state().child(outcome)
        if world.table.replay(state.history()[1:]) and world.information_state_string(seat) == seen:
            possible += 1
            assert drawn[outcome] > 0
    assert len(drawn) == possible > 3
    expected = 400 / possible
    assert sum((n - expected) ** 2 / expected for n in drawn.values()) < 3 * possible + 20


def test_nothing_can_be_resampled_before_the_deal():
    game = pyspiel.load_game("tarot")
    with pytest.raises(ValueError, match="not dealt yet"):
        game.new_initial_state().resample_from_infostate(0, lambda: 0.5)


# --- OpenSpiel's interface -------------------------------------------------------------------------------------------


def api_tests(base, name, game):
    """OpenSpiel's API checks of a game, as a class that unittest runs."""
    made = type(f"Api{name.title()}", (base,), {"game": game, "game_name": name})
    return unittest.defaultTestLoader.loadTestsFromTestCase(made)


@pytest.mark.parametrize("name", ["bolola", "tarot(dealing=seeds)", "ending"])
def test_api_checks_of_openspiel(name):
    """``integration_tests/api_test.py`` on some states of the tree."""
    game = ENDINGS["mid-trick"]() if name == "ending" else pyspiel.load_game(name)
    result = unittest.TestResult()
    api_tests(api_test.EnforceAPIOnPartialTreeBase, "partial", game).run(result)
    assert result.wasSuccessful(), [text for _, text in result.failures + result.errors]
    assert result.testsRun >= 5


def test_api_checks_of_openspiel_on_a_whole_tree(monkeypatch):
    """The same on all states: perfect recall, information sets of different players, sums of returns, and so on."""
    game = ending(NO_TRICKS, 23, 8, "NE")
    nodes, sets, stack = Counter(), set(), [game.new_initial_state()]
    while stack:
        state = stack.pop()
        if state.is_chance_node():
            nodes["chance"] += 1
        elif state.is_terminal():
            nodes["terminal"] += 1
        else:
            nodes["decision"] += 1
            sets.add(state.information_state_string())
        stack += [state.child(action) for action in state.legal_actions()]
    monkeypatch.setitem(
        api_test.TOTAL_NUM_STATES, "whole", (nodes["chance"], nodes["decision"], nodes["terminal"])
    )
    monkeypatch.setitem(api_test.PERFECT_RECALL_NUM_STATES, "whole", len(sets))
    assert nodes["chance"] == 1 and nodes["terminal"] > 20 and nodes["decision"] > len(sets) > 100
    result = unittest.TestResult()
    api_tests(api_test.EnforceAPIOnFullTreeBase, "whole", game).run(result)
    assert result.wasSuccessful(), [text for _, text in result.failures + result.errors]


@pytest.mark.parametrize("name", ["bolola(contract=trump)", "tarot(dealing=seeds)", "ending"])
def test_states_pickle_and_copies_are_independent(name):
    game = ENDINGS["two tricks"]() if name == "ending" else pyspiel.load_game(name)
    state = random_state(game, np.random.default_rng(10), stop=5)
    twin, loaded = state.clone(), pickle.loads(pickle.dumps(state))
    shown, history = str(state), state.history()
    for other in (twin, loaded):
        assert str(other) == shown and other.history() == history
        while not other.is_terminal():
            other.apply_action(other.legal_actions()[0])
    assert str(state) == shown and state.history() == history
    assert twin.returns() == loaded.returns()
    assert pickle.loads(pickle.dumps(game)) == game


def test_a_contract_of_your_own():
    """B-8.1: registered under a name, with its own sum and bounds; names are not taken twice."""
    row = Contract(name="house", card_points={"H": -1, "QS": -13})
    setup = BOLOLA.setup(row)
    game = openspiel.load(setup, dealing="seeds")
    assert str(game) == "bolola_custom_v0(dealing=seeds)"
    assert game.utility_sum() == -26 and game.min_utility() == -26 and game.max_utility() == 0
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
    assert openspiel.load(setup).get_type().short_name == "bolola_custom_v0"
    with pytest.raises(ValueError, match="other options"):
        openspiel.load(BOLOLA.setup(Contract(name="other", trick_points=1)))
    with pytest.raises(ValueError, match="another game"):
        openspiel.register("hearts", setup)
    with pytest.raises(ValueError, match="letters"):
        openspiel.register("no name", setup)


def test_numbers_of_the_games():
    hearts = pyspiel.load_game("bolola(contract=hearts)")
    assert (hearts.num_distinct_actions(), hearts.max_game_length()) == (56, 52)
    assert (hearts.min_utility(), hearts.max_utility(), hearts.utility_sum()) == (-390, 0, -390)
    assert hearts.get_type().utility == pyspiel.GameType.Utility.CONSTANT_SUM
    scaled = pyspiel.load_game("bolola(contract=trump,zero_sum=True,reward_scale=0.1)")
    assert (scaled.min_utility(), scaled.max_utility()) == pytest.approx((-16.25, 48.75))
    assert scaled.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    tarot = pyspiel.load_game("tarot(reward=final)")
    assert tarot.get_type().reward_model == pyspiel.GameType.RewardModel.TERMINAL
    assert (tarot.num_distinct_actions(), tarot.utility_sum()) == (89, 0)


BAD = [
    ("bolola", {"contract": "spades"}, ValueError, "contract"),
    ("bolola", {"dealer": 1}, TypeError, "no parameter 'dealer'"),
    ("bolola", {"dealing": "shuffled"}, ValueError, "dealing"),
    ("bolola", {"dealing": "seeds", "deals": 0}, ValueError, "deals: expected an integer from 1"),
    ("bolola", {"seed": -1}, ValueError, "seed"),
    ("bolola", {"starter": 4}, ValueError, "starter"),
    ("bolola", {"hidden": "N"}, ValueError, "hidden: only with a deal"),
    ("bolola", {"actions": "QH"}, ValueError, "actions: only with a deal"),
    ("bolola", {"deal": "N:AKQ"}, ValueError, "deal"),
    ("tarot", {"start": "play"}, ValueError, "dealing='seeds'"),
    ("whist", {}, ValueError, "no game 'whist'"),
    ("bolola/whist-v0", {}, ValueError, "no environment"),
]


@pytest.mark.parametrize(("name", "parameters", "error", "words"), BAD)
def test_bad_parameters(name, parameters, error, words):
    with pytest.raises(error, match=words):
        openspiel.load(name, **parameters)


def test_bad_positions():
    deal = Table(HEARTS, seed=1).deals[0]
    some = openspiel.load("bolola", deal=deal, starter=0)
    card = some.new_initial_state().legal_actions()[0]
    text = BOLOLA.actions[card]
    with pytest.raises(ValueError, match=f"actions: number 2, {text}, is not legal"):
        openspiel.load("bolola", deal=deal, starter=0, actions=f"{text} {text}")
    with pytest.raises(ValueError, match="no action 'XX'"):
        openspiel.load("bolola", deal=deal, actions="XX")
    with pytest.raises(ValueError, match=rf"5.36e\+28 ways .* at most {MOST_WORLDS}"):
        openspiel.load("bolola", deal=deal, hidden="NESW")
    for letters in ("NX", "NN"):
        with pytest.raises(ValueError, match="different letters of NESW"):
            openspiel.load("bolola", deal=deal, hidden=letters)
    with pytest.raises(ValueError, match="one deal"):
        openspiel.load("bolola", contract="match", deal=deal, hidden="N")
    with pytest.raises(ValueError, match="parameters deal and actions"):
        some.new_initial_state("somewhere")


def test_an_illegal_action_leaves_the_state():
    state = random_state(pyspiel.load_game("bolola(dealing=seeds)"), np.random.default_rng(11), 7)
    shown = str(state)
    with pytest.raises(pyspiel.SpielError):
        state.apply_action_with_legality_check(55)
    assert str(state) == shown


# --- bots and algorithms ---------------------------------------------------------------------------------------------


def test_bots_play_in_openspiel():
    """Greedy as OpenSpiel's bot beats three random ones, and is asked with its own view only."""
    game = pyspiel.load_game("bolola(contract=hearts,dealing=seeds,zero_sum=True)")
    bots = [
        openspiel.BotPlayer("greedy", 0),
        *(openspiel.BotPlayer("random", s, s) for s in (1, 2, 3)),
    ]
    total = 0.0
    for number in range(40):
        state = game.new_initial_state()
        state.apply_action(number)
        total += pyspiel.evaluate_bots(state, bots, number)[0]
    assert total / 40 > 20

    def look(view):
        assert view.record["hands"][0][(view.seat + 1) % 4] == 0
        return view.legal[0]

    state = game.new_initial_state().child(1)
    seat = state.current_player()
    assert openspiel.BotPlayer(look, seat).step(state) == state.legal_actions()[0]
    with pytest.raises(ValueError, match="plays seat"):
        openspiel.BotPlayer(look, (seat + 1) % 4).step(state)
    with pytest.raises(ValueError, match="chose 55; legal are"):
        openspiel.BotPlayer(lambda view: 55, seat).step(state)


def test_cfr_by_sampling_on_an_ending():
    """A tabular algorithm: external-sampling MCCFR of OpenSpiel brings the incentives to deviate close to 0."""
    np.random.seed(0)
    game = ending(NO_TRICKS, 22, 8, "NE")
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    solver.iteration()
    first = exploitability.nash_conv(game, solver.average_policy())
    for _ in range(150):
        solver.iteration()
    last = exploitability.nash_conv(game, solver.average_policy())
    assert first > 5.0 and last < 0.2 * first


@pytest.mark.parametrize("name", ["bolola(contract=queens,dealing=seeds)", "tarot(dealing=seeds)"])
def test_information_set_search(name):
    """OpenSpiel's IS-MCTS finds its way by resampled states and texts of information states."""
    game = pyspiel.load_game(name)
    rng = np.random.RandomState(0)
    bot = ismcts.ISMCTSBot(
        game, mcts.RandomRolloutEvaluator(1, rng), 100.0, max_simulations=30, random_state=rng
    )
    for stop in (0, 4, 12, 50):
        state = random_state(game, np.random.default_rng(13), stop=stop)
        policy, action = bot.step_with_policy(state)
        assert action in state.legal_actions()
        assert sum(probability for _, probability in policy) == pytest.approx(1.0)


def play(environment, agents, episodes):
    """Episodes of OpenSpiel's RL environment in which all agents learn."""
    for _ in range(episodes):
        step = environment.reset()
        while not step.last():
            step = environment.step([agents[step.current_player()].step(step).action])
        for agent in agents:
            agent.step(step)


def test_a_deep_agent_learns_a_contract_and_is_evaluated():
    """A deep algorithm: DQN of OpenSpiel at all four seats, then against random on duplicate deals."""
    torch = pytest.importorskip("torch", reason="OpenSpiel's deep algorithms need torch")
    from open_spiel.python.pytorch import dqn

    torch.set_num_threads(1)
    game = pyspiel.load_game(
        "bolola(contract=hearts,dealing=seeds,zero_sum=True,reward_scale=0.01)"
    )
    environment = rl_environment.Environment(
        game, observation_type=rl_environment.ObservationType.OBSERVATION
    )
    agents = [
        dqn.DQN(
            player_id=seat,
            state_representation_size=game.observation_tensor_size(),
            num_actions=game.num_distinct_actions(),
            hidden_layers_sizes=[64],
            batch_size=64,
            replay_buffer_capacity=2000,
            min_buffer_size_to_learn=100,
            learn_every=4,
            epsilon_decay_duration=400,
            seed=seat,
        )
        for seat in range(4)
    ]
    before = [p.detach().clone() for p in agents[0]._q_network.parameters()]
    play(environment, agents, 20)
    assert all(np.isfinite(float(agent.loss)) for agent in agents)
    after = [*agents[0]._q_network.parameters()]
    assert any((a != b).any() for a, b in zip(before, after, strict=True))
    bot = openspiel.AgentBot(agents, "dqn")
    result = evaluate("bolola/hearts-v0", [bot, "random"], deals=2, progress=False)
    assert [row.policy for row in result.rows] == ["dqn", "random"]
    single = openspiel.AgentBot(agents[1])
    assert evaluate("bolola/hearts-v0", [single, "random"], deals=1, progress=False).rows
    with pytest.raises(ValueError, match="expected one or 4"):
        openspiel.AgentBot(agents[:2])


def test_page(tmp_path):
    pages.run("train/openspiel.md", tmp_path)
