"""The suites: their table, and how their deals are made."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trick_core import rng
from trick_core.bits import ZERO, lowest
from trick_core.game import Game, Setup, same_config, setup_for
from trick_core.jit import entry
from trick_core.rng import stream_key

#: Fields of a state that say who begins, under the name that ``reset(options=...)`` gives them.
_FIRST_SEAT = ("starter", "dealer")


@dataclass(frozen=True)
class Suite:
    """A fixed sequence of deals.

    Attributes:
        name: ``"bolola-hearts-v1"``.
        env: Environment id; the suite is for this environment with its default options.
        size: Number of deals (of matches, where the environment is the match).
        sha256: Hash over the deals' texts, see :meth:`digest`.
    """

    name: str
    env: str
    size: int
    sha256: str

    @property
    def seed(self) -> int:
        """Seed of the suite's streams, made from its name. Deal k has the key ``stream_key(seed, k, SUITES)``."""
        digest = hashlib.sha256(f"trick-envs suite {self.name}".encode()).digest()
        return int.from_bytes(digest[:8], "little")

    def setup(self) -> Setup:
        """The environment's setup with default options."""
        return _setup(self.env)

    def matches(self, setup: Setup) -> bool:
        """Whether the deals are for this setup: the same game, contract and fixed choices; rewards may differ."""
        own = self.setup()
        return setup.game is own.game and same_config(setup.config, own.config)

    def deals(self, count: int | None = None, first: int = 0) -> list[dict[str, Any]]:
        """Deals as ``reset(options=...)`` takes them.

        Args:
            count: How many; None: all from ``first`` on.
            first: Number of the first.

        Returns:
            One dict a deal: ``"deal"`` (its text; in the match a list of texts) and who begins (``"starter"``,
            ``"dealer"``).

        Raises:
            ValueError: The suite has no such deals.
        """
        if count is None:
            count = self.size - first
        if first < 0 or count < 1 or first + count > self.size:
            raise ValueError(
                f"suite {self.name}: deals {first} to {first + count - 1} asked for; it has 0 to {self.size - 1}"
            )
        return deals_of(self.setup(), self.seed, count, first)

    def digest(self) -> str:
        """SHA-256 over one line a deal: its number, who begins, and the text of each hand-out, between spaces."""
        digest = hashlib.sha256()
        for k, options in enumerate(self.deals()):
            texts = options["deal"]
            first = [options[name] for name in _FIRST_SEAT if name in options]
            line = [k, *first, *([texts] if isinstance(texts, str) else texts)]
            digest.update((" ".join(map(str, line)) + "\n").encode())
        return digest.hexdigest()

    def check(self) -> None:
        """Make sure that this installation makes the deals that the name stands for.

        Raises:
            RuntimeError: It does not; results would not be comparable.
        """
        made = _digest(self)
        if made != self.sha256:
            raise RuntimeError(
                f"suite {self.name} stands for deals with SHA-256 {self.sha256}, but {made} was made"
            )


@functools.cache
def _setup(env: str) -> Setup:
    return setup_for(env)


@functools.cache
def _digest(suite: Suite) -> str:
    return suite.digest()


def deals_of(setup: Setup, seed: int, count: int, first: int = 0) -> list[dict[str, Any]]:
    """Deals ``first`` to ``first + count - 1`` of a seed, in the domain of suites; see :meth:`Suite.deals`."""
    game, config = setup.game, setup.config
    each = len(config)
    states = game.states(count * each)
    _dealer(game)(config, states, np.uint64(rng.fold_seed(seed)), first, count)
    texts = [game.deal_text(states, i) for i in range(len(states))]
    names = [n for n in _FIRST_SEAT if n in game.reset_keys and n in (game.state.names or ())]
    deals = []
    for k in range(count):
        options: dict[str, Any] = {
            "deal": texts[k * each] if each == 1 else texts[k * each : (k + 1) * each]
        }
        options |= {name: int(states[k * each][name]) for name in names}
        deals.append(options)
    return deals


@functools.cache
def _dealer(game: Game) -> Callable[..., None]:
    """Kernel ``(config, states, seed, first, count)``: the state at the start of every deal of the episodes."""
    begin, step = game.kernels.begin, game.kernels.step
    mask_words = game.mask_words

    @entry(f"{game.name}.suite", [game.folder, __file__])
    def deal_states(config, states, seed, first, count):  # type: ignore[no-untyped-def]
        each = config.shape[0]
        for k in range(count):
            begin(config, states[k * each], stream_key(seed, np.uint64(first + k), rng.SUITES), 0)
            for deal in range(1, each):
                i = k * each + deal
                states[i] = states[i - 1]
                st = states[i]
                while st.deal < deal:  # any play leads there: later deals do not depend on it
                    action = 0
                    for word in range(mask_words):
                        if st.legal[word] != ZERO:
                            action = 64 * word + lowest(st.legal[word])
                            break
                    step(config, st, action)

    return deal_states


#: name -> suite. A row never changes; new deals get a new version.
SUITES: dict[str, Suite] = {
    row.name: row
    for row in (
        Suite(
            "bolola-no-tricks-v1",
            "bolola/no-tricks-v0",
            1000,
            "347dcef7a7c3402edf4f0cc1f463337cdd1f1d9e16b1cea9a2aa96fe62779d54",
        ),
        Suite(
            "bolola-jacks-kings-v1",
            "bolola/jacks-kings-v0",
            1000,
            "13c1025bcc3a20819a072739e04c32421d8484bf55185d1be85669d66d6dfa15",
        ),
        Suite(
            "bolola-queens-v1",
            "bolola/queens-v0",
            1000,
            "a57e6fb62ffd4956b752a81f44cc5a24aea17a5c614b1745adab6af6d81a5e4b",
        ),
        Suite(
            "bolola-hearts-v1",
            "bolola/hearts-v0",
            1000,
            "b51230dd30a3f092b860794f9377d6527cf055696b22e27f1be71472254b58a8",
        ),
        Suite(
            "bolola-last-two-v1",
            "bolola/last-two-v0",
            1000,
            "68194c7d4eb0087a3993a7b82a35f3a2e626d7158af02aedb668854d88a9697b",
        ),
        Suite(
            "bolola-king-of-hearts-v1",
            "bolola/king-of-hearts-v0",
            1000,
            "947e71969583fe64b6aafebe6d1fc562db9defcf43e2fb9e54cbc6ef355ce84d",
        ),
        Suite(
            "bolola-all-penalties-v1",
            "bolola/all-penalties-v0",
            1000,
            "741accce204775a1062b2edb175e0ad16e21d142afed7efdc8461510af546f8e",
        ),
        Suite(
            "bolola-trump-v1",
            "bolola/trump-v0",
            1000,
            "a7badac6d49e2dbdd8279e05b85c7f697404ff0d1037617d5b45b623e5c69fb4",
        ),
        Suite(
            "bolola-bolola-v1",
            "bolola/bolola-v0",
            1000,
            "953501956af4a234a8d36445118721fb62c029cb080abec827150ece858e5860",
        ),
        Suite(
            "bolola-match-v1",
            "bolola/match-v0",
            250,
            "0ae9a9818edd621c6741ccf77611de9dc779dc7739329a26a8332c1e4512ab19",
        ),
        Suite(
            "tarot-deal-v1",
            "tarot/deal-v0",
            1000,
            "25069c7415131ad695fb9bb88232cc39ccdbca1d7f0399b0e209e736556d11fb",
        ),
    )
}


def suite_names() -> list[str]:
    """Names of all suites."""
    return list(SUITES)


def suite(name: str) -> Suite:
    """The suite of a name.

    Raises:
        ValueError: No such suite; the message lists them.
    """
    try:
        return SUITES[name]
    except KeyError:
        raise ValueError(f"no suite {name!r}; there are {', '.join(SUITES)}") from None


def suite_for(setup: Setup) -> Suite | None:
    """The newest suite for a setup; None where its options differ from the environment's defaults."""
    found = [row for row in SUITES.values() if row.env == setup.id and row.matches(setup)]
    return found[-1] if found else None
