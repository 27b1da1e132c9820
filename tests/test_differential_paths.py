"""Every fast path against the plain-Python engines: one and two threads, bytes and packed words, with and without jitted bots.

The kernels themselves are compared on many more deals in ``test_differential_bolola`` and ``test_tarot_differential``; here it is
the way through the vector environments: what a step of theirs shows and pays is what the reference engine says.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import tarot_env.game
from bolola_env.contracts import CONTRACTS
from bolola_env.game import setup as bolola_setup
from bolola_env.observe import LAYOUT
from tarot_env.cards import CARD_NAMES
from tests.helpers import as_row, fewer, read_pieces
from tests.reference.bolola import DECK, SUITS
from tests.reference.bolola import Deal as BololaDeal
from tests.reference.tarot import Deal as TarotDeal
from tests.tarot_table import as_number, assemble, differences, seen_by
from tests.test_differential_bolola import expected_observation
from tests.test_tarot_differential import trick_gain
from trick_core.bits import words_to_bits
from trick_core.game import Setup, setup_for
from trick_core.learner import LearnerVectorEnv
from trick_core.vector import VectorEnv

ROWS = 6
STEPS = fewer(190, 12)


class Reference(Protocol):
    """A deal of a reference engine, with what the environments should show of it."""

    @property
    def seat(self) -> int | None: ...

    def legal(self) -> list[str]: ...

    def play(self, action: str) -> list[float]:
        """Take an action; what it gives each seat."""

    def check(self, vector: np.ndarray[Any, Any], observer: int) -> None:
        """Compare an observation, bit by bit."""


class Bolola:
    """The reference deal of a row that has just begun an episode."""

    def __init__(self, setup: Setup, states: Any, i: int) -> None:
        hands = [[DECK[c] for c in range(52) if int(word) >> c & 1] for word in states[i]["hands"]]
        row = as_row(CONTRACTS[setup.variant])
        trump = None if states[i]["trump"] < 0 else SUITS[states[i]["trump"]]
        self.deal = BololaDeal(row, hands, int(states[i]["starter"]), trump)

    @property
    def seat(self) -> int | None:
        return self.deal.seat

    def legal(self) -> list[str]:
        return self.deal.legal()

    def play(self, action: str) -> list[float]:
        return [float(gain) for gain in self.deal.play(action)]

    def check(self, vector: np.ndarray[Any, Any], observer: int) -> None:
        assert read_pieces(LAYOUT, vector) == expected_observation(self.deal, observer, None)


class Tarot:
    """The same for Tarot."""

    def __init__(self, setup: Setup, states: Any, i: int) -> None:
        dealt = tarot_env.game.dealt_hands(states, i)
        *hands, chien = ([CARD_NAMES[card] for card in cards] for cards in dealt)
        self.deal = TarotDeal(hands, chien, int(states[i]["dealer"]))
        self.total = [0.0] * 4

    @property
    def seat(self) -> int | None:
        return self.deal.seat

    def legal(self) -> list[str]:
        return self.deal.legal()

    def play(self, action: str) -> list[float]:
        tricks = len(self.deal.tricks)
        self.deal.play(action)
        if self.deal.seat is None:
            gain = [a - b for a, b in zip(self.deal.score()["totals"], self.total, strict=True)]
        else:
            closed = len(self.deal.tricks) > tricks
            gain = [trick_gain(self.deal, seat) if closed else 0.0 for seat in range(4)]
        self.total = [a + b for a, b in zip(self.total, gain, strict=True)]
        return gain

    def check(self, vector: np.ndarray[Any, Any], observer: int) -> None:
        layout = tarot_env.game.GAME.layout
        words = np.packbits(vector, bitorder="little")
        words = np.pad(words, (0, -len(words) % 8)).view(np.uint64)
        got, wanted = as_number(words), assemble(layout, seen_by(self.deal, observer))
        assert got == wanted, differences(layout, got, wanted)


CASES: dict[str, tuple[Setup, type[Bolola] | type[Tarot]]] = {
    "all_penalties": (bolola_setup("all_penalties"), Bolola),
    "trump": (bolola_setup("trump"), Bolola),
    "tarot": (setup_for("tarot/deal"), Tarot),
}


def bytes_of(env: VectorEnv, obs: dict[str, Any], i: int) -> np.ndarray[Any, Any]:
    """A row's observation as bytes, whatever its form."""
    shown: np.ndarray[Any, Any] = obs["observation"][i]
    return shown if shown.dtype == np.int8 else words_to_bits(shown, env.setup.game.layout.size)


def legal_actions(env: VectorEnv, mask: np.ndarray[Any, Any]) -> list[str]:
    return [env.setup.game.actions[action] for action in np.flatnonzero(mask)]


def every_path(test: Any) -> Any:
    for name, values in (
        ("threads", [1, 2]),
        ("form", ["bytes", "packed"]),
        ("case", list(CASES)),
    ):
        test = pytest.mark.parametrize(name, values)(test)
    return test


@every_path
def test_all_seats(case: str, form: str, threads: int) -> None:
    """Seat, legal actions, observation and rewards of every step, over the ends of episodes."""
    setup, reference = CASES[case]
    env = VectorEnv(setup, ROWS, num_threads=threads, observation=form)
    states = env._batch.buffers.states
    obs, infos = env.reset(seed=21)
    deals = [reference(setup, states, i) for i in range(ROWS)]
    ended = 0
    for _ in range(STEPS):
        for i, deal in enumerate(deals):
            assert deal.seat == infos["seat"][i]
            assert legal_actions(env, obs["action_mask"][i]) == deal.legal()
            deal.check(bytes_of(env, obs, i), int(infos["seat"][i]))
        actions = env.sample_actions()
        obs, rewards, terminations, _, infos = env.step(actions)
        for i, deal in enumerate(deals):
            seat = deal.seat
            assert seat is not None
            assert deal.play(setup.game.actions[actions[i]]) == rewards[i].tolist()
            assert terminations[i] == (deal.seat is None)
            if terminations[i]:
                ended += 1
                deal.check(bytes_of(env, infos["final_obs"], i), seat)
                deals[i] = reference(setup, states, i)
    assert ended >= fewer(ROWS, 0)


@every_path
def test_a_learner_among_jitted_bots(case: str, form: str, threads: int) -> None:
    """What the bots did is legal; the learner sees, may do and has got what the reference engine says."""
    setup, reference = CASES[case]
    env = LearnerVectorEnv(
        setup,
        ROWS,
        "random",
        "rotate",
        num_threads=threads,
        observation=form,
        autoreset_mode=AutoresetMode.NEXT_STEP,
        render_mode="ansi",  # keeps all seats' actions
    )
    twin = VectorEnv(setup, ROWS, autoreset_mode=AutoresetMode.DISABLED)
    twin.reset(seed=21)  # shows the deals before the bots have played
    states = twin._batch.buffers.states
    obs, _ = env.reset(seed=21)
    deals = [reference(setup, states, i) for i in range(ROWS)]
    followed, due, paid = np.zeros(ROWS, int), np.zeros((ROWS, 4)), np.zeros(ROWS)
    over = np.zeros(ROWS, bool)
    ended = 0
    for _ in range(STEPS // 3):
        for i, deal in enumerate(deals):
            learner = int(env.seats[i])
            history = env._history(i)
            for action in history[followed[i] :]:
                text = setup.game.actions[action]
                assert text in deal.legal()
                due[i] += deal.play(text)
            followed[i] = len(history)
            assert over[i] == (deal.seat is None)
            if not over[i]:
                assert deal.seat == learner
                assert legal_actions(env, obs["action_mask"][i]) == deal.legal()
            deal.check(bytes_of(env, obs, i), learner)
            if paid[i] or over[i]:  # what falls before the learner's first action is paid with that
                assert paid[i] == due[i, learner]
        ended += int(over.sum())
        begins = over
        if begins.any():
            twin.reset(options={"reset_mask": begins})
        obs, rewards, over, *_ = env.step(env.sample_actions())
        paid += rewards
        for i in np.flatnonzero(begins):
            assert rewards[i] == 0
            deals[i] = reference(setup, states, i)
            followed[i], due[i], paid[i] = 0, 0, 0
    assert ended >= fewer(ROWS, 0)
