"""The bot ``net``: a small trained network, played without torch.

A net reads the first values of the observation and gives a logit for every action. Its file (``.npz``) holds the weights and a
description: game, hash of the observation's layout, settings and history of the training. A net whose game or layout is not that
of the environment is refused.

``net:bolola-v1`` is one that comes with the library, ``net:path/to/file.npz`` any other; ``net`` alone (or ``net:own``) is the newest of
the library's for the game that is played. Settings follow after a comma,
``net:bolola-v1,temperature=0.5``: 0 (default) plays the most likely action, else actions are drawn from the softmax of
logits / temperature.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from baselines.bots.options import settings_from
from trick_core.bots import BatchView, Bot, View
from trick_core.drivers import JitBot
from trick_core.game import Game, find_game

FORMAT, FORMAT_VERSION = "trick-envs-net", 1
#: The nets that come with the library, and their cards.
FOLDER = Path(__file__).parent.parent / "nets"

Floats = np.ndarray[Any, np.dtype[np.float32]]


def layout_hash(game: Game) -> str:
    """SHA-256 over the pieces of a game's observation, in order, and the names of its actions."""
    pieces = [[piece.name, piece.width, piece.count, piece.signed] for piece in game.layout]
    return hashlib.sha256(json.dumps([pieces, game.actions]).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Net:
    """A multi-layer perceptron with ReLU between its layers.

    Attributes:
        weights: Weights of the layers, float32 (values in, values out); the first has one row for each value read, the last one
            column an action.
        biases: Biases, float32 (values out,).
        critic: Weights and biases of the critic, in the same order; empty where there is none. Playing does not use it.
        about: ``game``, ``layout`` (:func:`layout_hash`), ``critic_inputs`` and what else is known of the training.
    """

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    critic: tuple[tuple[Floats, Floats], ...]
    about: Mapping[str, Any]

    @property
    def inputs(self) -> int:
        """Values of the observation that the net reads, from the first on."""
        return len(self.weights[0])

    @property
    def num_actions(self) -> int:
        return int(self.weights[-1].shape[1])

    def check(self, game: Game) -> None:
        """Make sure that the net is for a game as it is here.

        Raises:
            ValueError: It is for another game, was trained on another layout of the observation, or is too wide or cut short.
        """
        if self.about["game"] != game.name:
            raise ValueError(f"the net plays {self.about['game']}, not {game.name}")
        if self.about["layout"] != layout_hash(game):
            raise ValueError(
                f"the net was trained on another layout of {game.name}'s observation "
                f"({self.about['layout'][:12]}, here {layout_hash(game)[:12]}); train it anew"
            )
        if self.inputs > game.layout.size or self.num_actions != game.num_actions:
            raise ValueError(
                f"the net reads {self.inputs} values and knows {self.num_actions} actions; {game.name} has "
                f"{game.layout.size} and {game.num_actions}"
            )

    def logits(self, words: np.ndarray[Any, Any]) -> Floats:
        """Logits of all actions, float32 (n, A), from observations as words, uint64 (n, W)."""
        return forward(unpack(words, self.inputs), self.weights, self.biases)

    def save(self, file: Path, *, half: bool = False) -> None:
        """Write the net, whole and renamed into place.

        Args:
            file: The file, ``.npz``.
            half: Keep weights as float16, in half the space; playing is in float32 all the same.
        """
        kind = np.float16 if half else np.float32
        arrays: dict[str, Any] = {}
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays[f"weight{number}"], arrays[f"bias{number}"] = weight, bias
        for number, (weight, bias) in enumerate(self.critic):
            arrays[f"critic_weight{number}"], arrays[f"critic_bias{number}"] = weight, bias
        arrays = {name: array.astype(kind) for name, array in arrays.items()}
        about = {"format": FORMAT, "version": FORMAT_VERSION, **self.about}
        temporary = file.with_name(file.stem + ".tmp.npz")
        np.savez_compressed(temporary, about=np.array(json.dumps(about)), **arrays)
        temporary.replace(file)


def unpack(words: np.ndarray[Any, Any], count: int) -> Floats:
    """The first ``count`` bits of each row of words, float32 (n, count)."""
    used = np.ascontiguousarray(words[:, : -(-count // 64)], "<u8")
    return np.unpackbits(used.view(np.uint8), axis=1, count=count, bitorder="little").astype(
        np.float32
    )


def forward(values: Floats, weights: Any, biases: Any) -> Floats:
    """The output of a perceptron, float32 (n, values out)."""
    last = len(weights) - 1
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        values = values @ weight + bias
        if number < last:
            np.maximum(values, 0.0, out=values)
    return values


def load(file: Path) -> Net:
    """Read a net.

    Raises:
        ValueError: The file is none, or is damaged.
        FileNotFoundError: There is no such file.
    """
    if not file.is_file():
        raise FileNotFoundError(f"there is no net {file}")
    try:
        with np.load(file, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            if about["format"] != FORMAT or about["version"] != FORMAT_VERSION:
                raise ValueError(f"{about['format']} version {about['version']}")
            weights, biases = _layers(arrays, "")
            critic = tuple(zip(*_layers(arrays, "critic_"), strict=True))
            find_game(about["game"])
            if not weights or not isinstance(about["layout"], str):
                raise ValueError("no layers")
            if not all(np.isfinite(array).all() for array in (*weights, *biases)):
                raise ValueError("weights that are not finite")
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OSError,
        EOFError,
        BadZipFile,
    ) as error:
        raise ValueError(
            f"{file} is no net of {FORMAT} version {FORMAT_VERSION}: {error}"
        ) from None
    return Net(weights, biases, critic, about)


def _layers(arrays: Any, prefix: str) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
    """Weights and biases whose names begin so; they fit each other."""
    weights: list[Floats] = []
    biases: list[Floats] = []
    while (name := f"{prefix}weight{len(weights)}") in arrays:
        weight = arrays[name].astype(np.float32)
        bias = arrays[f"{prefix}bias{len(weights)}"].astype(np.float32)
        fits = weight.ndim == 2 and bias.shape == weight.shape[1:]
        if not fits or (weights and len(weight) != weights[-1].shape[1]):
            raise ValueError(f"{name} of shape {weight.shape} does not fit")
        weights.append(weight)
        biases.append(bias)
    return tuple(weights), tuple(biases)


def shipped() -> list[str]:
    """Names of the nets that come with the library."""
    return sorted(file.stem for file in FOLDER.glob("*.npz"))


def find(name: str) -> Net:
    """A net by the name of one that comes with the library, or by its file.

    Raises:
        ValueError: There is none, or it is damaged; the message lists the names.
    """
    if name in shipped():
        return _kept(FOLDER / f"{name}.npz")
    if not Path(name).is_file():
        known = ", ".join(shipped()) or "none"
        raise ValueError(f"no net {name!r}: neither a file nor one of the library's ({known})")
    return load(Path(name))


_kept = functools.cache(load)

#: The name that stands for the library's newest net of the game at hand.
OWN = "own"


def own(game: Game) -> Net:
    """The library's newest net for a game.

    Raises:
        ValueError: It has none.
    """
    names = [name for name in shipped() if name.partition("-v")[0] == game.name]
    if not names:
        raise ValueError(f"the library has no net for {game.name}")
    return find(max(names, key=lambda name: int(name.partition("-v")[2])))


@dataclass(frozen=True)
class NetSettings:
    """Settings of the bot.

    Attributes:
        temperature: 0: the most likely action; else actions are drawn from the softmax of logits / temperature.
    """

    temperature: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature < math.inf:
            raise ValueError(f"temperature: expected 0 or more, got {self.temperature!r}")


class NetBot(Bot):
    """A net as a bot.

    Args:
        net: The net.
        name: Name in tables.
        temperature: See :class:`NetSettings`.
        compiled: Play inside the drivers, where there are some; False: be asked, many tables at once.
    """

    def __init__(
        self, net: Net, name: str = "net", temperature: float = 0.0, compiled: bool = True
    ) -> None:
        self.net = net
        self.name = name
        self.temperature = NetSettings(temperature).temperature
        self.compiled = compiled

    def jit(self, game: Game) -> JitBot | None:
        from baselines.bots.net_kernel import net_jit

        self.net.check(game)
        return net_jit(self.net, game, self.temperature) if self.compiled else None

    def act(self, view: View) -> int:
        words = np.packbits(view["observation"], bitorder="little").view("<u8")[None]
        randoms = np.array([view.random], np.uint64)
        return int(self._choose(view.game, words, view["action_mask"][None], randoms)[0])

    def act_batch(self, views: BatchView) -> np.ndarray[Any, np.dtype[np.int64]]:
        chosen = self._choose(views.game, views.words, views.mask, views.randoms)
        return np.asarray(chosen, np.int64)

    def _choose(self, game: Game, words: Any, mask: Any, randoms: Any) -> Any:
        self.net.check(game)
        logits = self.net.logits(words)
        logits[mask == 0] = -np.inf
        if self.temperature == 0.0:
            return logits.argmax(axis=1)
        return draw(logits / np.float32(self.temperature), randoms)


class OwnNetBot(Bot):
    """The library's newest net of the game that is played.

    Args:
        name: Name in tables.
        temperature: See :class:`NetSettings`.
    """

    def __init__(self, name: str = "net", temperature: float = 0.0) -> None:
        self.name = name
        self.temperature = NetSettings(temperature).temperature

    def bot(self, game: Game) -> NetBot:
        """The bot that plays the game.

        Raises:
            ValueError: The library has no net for it.
        """
        return NetBot(own(game), self.name, self.temperature)

    def jit(self, game: Game) -> JitBot | None:
        return self.bot(game).jit(game)

    def act(self, view: View) -> int:
        return self.bot(view.game).act(view)

    def act_batch(self, views: BatchView) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self.bot(views.game).act_batch(views)


def draw(logits: Floats, randoms: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """An action for each row, from the softmax of its logits, by a random word each.

    The legal actions share the unit interval in the order of their ids, each as much as it is likely; that is drawn in whose
    share the word's first 53 bits fall.
    """
    chances = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    ends = np.cumsum(chances, axis=1)
    points = (randoms >> np.uint64(11)).astype(np.float64) * 2.0**-53 * ends[:, -1]
    chosen = (ends <= points[:, None]).sum(axis=1)
    return np.asarray(
        np.minimum(chosen, (ends < ends[:, -1:]).sum(axis=1)), np.int64
    )  # rounding: never past the last


def make(argument: str | None = None) -> Bot:
    """The bot, for the registry: ``NAME`` or ``FILE`` or ``own``, settings after a comma.

    Raises:
        ValueError: No such net, or an unknown setting.
    """
    name, _, rest = (argument or OWN).partition(",")
    settings = settings_from("net", rest, NetSettings)
    if name == OWN:
        return OwnNetBot("net" + (f":{OWN},{rest}" if rest else ""), settings.temperature)
    try:
        net = find(name)
    except ValueError as error:
        raise ValueError(f"bot 'net': {error}") from None
    label = f"net:{Path(name).stem}" + (f",{rest}" if rest else "")
    return NetBot(net, label, settings.temperature)
