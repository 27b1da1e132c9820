"""The games in OpenSpiel: its own checks, and that they are the games of the environments."""

import numpy as np
import pytest

from tests.libraries import pages

pyspiel = pytest.importorskip(
    "pyspiel", reason="OpenSpiel has tests of its own: nox --sessions 'libraries(openspiel)'"
)


import baselines.openspiel as openspiel  # noqa: E402
from bolola_env.game import GAME as BOLOLA  # noqa: E402
from tarot_env.game import GAME as TAROT  # noqa: E402
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


HEARTS, TRUMP = BOLOLA.setup("hearts"), BOLOLA.setup("trump", trump="S")
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


def test_page(tmp_path):
    pages.run("train/openspiel.md", tmp_path)
