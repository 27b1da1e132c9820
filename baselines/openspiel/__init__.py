"""The games as OpenSpiel games: ``pyspiel.load_game("bolola(contract=queens)")`` once this package is imported.

Parameters of a game are the options of its environments that are numbers or texts (``contract``, ``zero_sum``, ``dealer``, ...; -1 and
the empty text stand for None), and these:

* ``dealing``: ``"cards"``: chance deals card after card, in the order of their ids; an outcome is the seat that gets it (4: the cards
  that lie aside), so that no deal is reached in two ways. Before the cards, chance draws what the options leave open (who starts).
  What the rules annul before anybody speaks (Tarot's petit sec) is dealt again. ``"seeds"``: one chance node whose outcome k,
  below ``deals``, is deal k of ``seed``, the same as in every environment of this library: a finite sample of all deals, and
  faster.
* ``deal``, ``actions``: the position after these actions (texts between spaces) of this deal (its text; ``;`` between trumps, since
  OpenSpiel separates parameters by commas). Points that fell in them are part of the returns.
* ``hidden``: letters of seats (``NESW`` are seats 0 to 3): in that position, one chance node shares out the cards that these seats were
  dealt and still hold, each way that agrees with the actions with the same chance. Cards that lie aside stay.

An information state is what a seat has seen: its cards as dealt, what was shown, and its own and the public actions in their order.
Its tensor is the observation and then these actions. Observation tensors leave out the constants of a contract where an
episode is one deal.

``resample_from_infostate`` draws among all worlds that agree with what is public, each with the same chance (with ``hidden``: among
those that chance could have dealt, by going through them). Without ``hidden`` the resampled state keeps the history of the state that it
came from; its cards, texts and tensors are those of the world. OpenSpiel's algorithms in Python call it; those in C++ cannot.
"""

from baselines.openspiel.bots import AgentBot, BotPlayer
from baselines.openspiel.game import GAMES, Observer, TrickGame, TrickState, load, register

__all__ = [
    "GAMES",
    "AgentBot",
    "BotPlayer",
    "Observer",
    "TrickGame",
    "TrickState",
    "load",
    "register",
]
