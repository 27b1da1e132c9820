"""Every bot of the library plays by the rules, in every environment and on odd rows, and the same game twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from baselines.bots import net as nets
from baselines.evaluate import evaluate
from bolola_env.contracts import CONTRACTS, Contract
from tests.helpers import fewer
from trick_core.game import setup_for

#: With budgets as small as they go: what is legal does not hang on them.
BOTS = (
    "random",
    "greedy",
    "greedy-v1",
    "net",
    "pimc:worlds=2",
    "pimc:worlds=2,slips=1,net=own",
    "ismcts:iterations=4,burn=2,thin=1",
    "oracle:iterations=4,exact=2",
)
ENVS = [f"bolola/{name}" for name in CONTRACTS] + ["bolola/match", "tarot/deal"]


def odd_row() -> Contract:
    """Points for tricks and for cards at once, of both signs, a lead that is locked and a duty to go under."""
    base = CONTRACTS["hearts"]
    points = {"H": -30, "AS": 70, "2C": -5}
    return replace(base, name="odd", card_points=points, trick_points=15)


def can_play(bot: str, env: Any) -> bool:
    game = setup_for(env).game
    needs_net = bot == "net" or "net=own" in bot
    return not needs_net or any(name.startswith(game.name) for name in nets.shipped())


def play(env: Any, bot: str, deals: int) -> Any:
    """Games with the bot in each seat in turn; a choice against the rules raises."""
    return evaluate(env, [bot, "random"], deals=deals, seed=5, progress=False)


@pytest.mark.parametrize("bot", BOTS)
@pytest.mark.parametrize("env", ["bolola/trump", "bolola/match", "tarot/deal"])
def test_games_are_legal_and_repeat(env: str, bot: str) -> None:
    if not can_play(bot, env):
        with pytest.raises(ValueError, match="no net for tarot"):
            play(env, bot, 2)
        return
    deals = fewer(2, 1)
    first, again = play(env, bot, deals), play(env, bot, deals)
    assert first.rows[0].overall == again.rows[0].overall


@pytest.mark.parametrize("bot", BOTS)
def test_odd_rows_are_played(bot: str) -> None:
    """Nets too: they play on whatever they are handed, well or not."""
    result = play(setup_for("bolola/custom", contract=odd_row()), bot, 2)
    assert result.deals["count"] == 2


@pytest.mark.long
@pytest.mark.parametrize("bot", BOTS[1:])
@pytest.mark.parametrize("env", ENVS)
def test_five_thousand_games_are_legal(env: str, bot: str) -> None:
    if can_play(bot, env):
        games = 5000 if env != "bolola/match" else 500
        assert play(env, bot, games // 4).deals["count"] == games // 4
