"""``Setup.bounds``: what every episode lies within."""

import numpy as np
import pytest

from bolola_env import Contract
from bolola_env.game import GAME as BOLOLA
from tarot_env.game import GAME as TAROT
from trick_core.batch import Batch
from trick_core.records import Table

HOUSE = Contract(name="house", card_points={"H": -1, "QS": -13, "JD": 10})
SETUPS = {
    "hearts": BOLOLA.setup("hearts"),
    "trump": BOLOLA.setup("trump"),
    "named trump": BOLOLA.setup("trump", trump="H"),
    "early stop": BOLOLA.setup("queens", early_stop=True),
    "own row": BOLOLA.setup(HOUSE),
    "match": BOLOLA.setup("match"),
    "tarot": TAROT.setup(),
    "forbid pass": TAROT.setup(forbid_pass=True),
    "tarot from the discard": TAROT.setup(start="discard"),
    "tarot from the play": TAROT.setup(start="play", contract="garde"),
}


@pytest.mark.parametrize("name", SETUPS)
def test_random_episodes_lie_within(name):
    setup = SETUPS[name]
    rng, bounds = np.random.default_rng(1), setup.bounds
    batch = Batch(setup, 64, autoreset="disabled")
    batch.buffers.tables["seed"] = np.arange(64)
    batch.reset()
    returns, longest = np.zeros((64, 4)), 0
    while (live := batch.buffers.seats >= 0).any():
        actions = (batch.buffers.mask * rng.random(batch.buffers.mask.shape)).argmax(axis=1)
        batch.step(actions, live)
        returns += np.where(live[:, None], batch.buffers.rewards, 0.0)
        longest += 1
    assert longest <= bounds.actions
    assert (returns >= bounds.lowest).all() and (returns <= bounds.highest).all()
    np.testing.assert_allclose(returns.sum(axis=1), bounds.total)


def test_bounds_of_the_contracts():
    assert SETUPS["hearts"].bounds == (-390.0, 0.0, -390.0, 52)
    assert SETUPS["trump"].bounds == (0.0, 650.0, 650.0, 53)
    assert SETUPS["named trump"].bounds.actions == 52
    assert SETUPS["own row"].bounds == (-26.0, 10.0, -16.0, 52)
    assert SETUPS["match"].bounds.total == 0.0
    assert SETUPS["match"].bounds.actions == 12 * 52 + 4


def test_eight_trumps_kept_back_fit():
    """T-4.4: the longest deals are those with a hand of 18 trumps that shows ten of them."""
    trumps = [f"T{number}" for number in range(2, 20)]
    rest = [card for card in TAROT.actions[:78] if card not in trumps]
    hands = [trumps, *(rest[18 * i : 18 * i + 18] for i in range(3)), rest[54:]]
    table = Table(TAROT.setup(dealer=3), options={"deal": hands})
    for action in ("garde_sans", "pass", "pass", "pass", "no_chelem", "poignee_10"):
        table.step(action)
    while not table.over:
        table.step(table.legal[0])
    assert len(table.history) == 4 + 1 + 1 + 8 + 72 <= table.setup.bounds.actions
