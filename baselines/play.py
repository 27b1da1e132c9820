"""Play a seat yourself at the terminal, against bots."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from trick_core.bots import Bot, as_bot
from trick_core.game import AGENTS, NUM_SEATS, Setup, check_seat
from trick_core.records import Step, Table, points_text, save, step_text
from trick_core.rng import fold_seed, mix, opponents_key

_HELP = """\
Type an action as it is listed, in capitals or not: a card is rank then suit, as QH or ts.
  legal         what you may do
  show          the table again
  undo          take back your last action, and what followed it
  record FILE   write the deal so far to a file, which `trick-envs replay FILE` shows
  quit          stop (so does the end of the input)
  ?             this help"""


def play(
    setup: Setup,
    *,
    seat: int = 0,
    opponents: Any = "greedy",
    seed: int | None = None,
    record: str | Path | None = None,
    table: Table | None = None,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
) -> int:
    """Let a person play one seat.

    Args:
        setup: The game with its options.
        seat: The person's seat.
        opponents: One bot for the other seats, or three (the seats after the person's, in play order); a bot is a
            name, an object or a callable.
        seed: Seed of the cards and of the opponents; None: a fresh one, which is printed.
        record: File that holds the deal when playing stops, however it stops.
        table: A table to go on from, as :meth:`trick_core.records.Record.table` gives; ``setup`` and ``seed`` are then
            those of the table.
        stdin: Where lines are read from; None: the standard input.
        stdout: Where the game is shown; None: the standard output.

    Returns:
        0; or 1 if the record could not be written.

    Raises:
        ValueError: A bad seat, seed or bot; or a bot chose an illegal action.
        TypeError: An opponent that is no bot.
    """
    seat = check_seat("seat", seat)
    bots = _seat_bots(seat, opponents)
    if table is None:
        table = Table(setup, seed=secrets.randbits(32) if seed is None else seed)
    sitting = _Sitting(table, seat, bots, stdin or sys.stdin, stdout or sys.stdout)
    kept = True
    try:
        sitting.run()
    finally:
        if record is not None:
            kept = sitting.keep(str(record))
    return 0 if kept else 1


def _seat_bots(seat: int, opponents: Any) -> dict[int, Bot]:
    """The bots of the seats that the person does not play."""
    if isinstance(opponents, Sequence) and not isinstance(opponents, str):
        if len(opponents) != NUM_SEATS - 1:
            raise ValueError(f"opponents: expected one bot or three, got {len(opponents)}")
        specs = list(opponents)
    else:
        specs = [opponents] * (NUM_SEATS - 1)
    return {(seat + k) % NUM_SEATS: as_bot(spec) for k, spec in enumerate(specs, 1)}


class _Sitting:
    """One person at one table."""

    def __init__(
        self, table: Table, seat: int, bots: dict[int, Bot], source: TextIO, target: TextIO
    ) -> None:
        self.table = table
        self.seat = seat
        self.bots = bots
        self.source = source
        self.target = target

    def run(self) -> None:
        """Play until the person stops."""
        table = self.table
        others = ", ".join(f"{AGENTS[seat]} is {bot.name}" for seat, bot in self.bots.items())
        self.say(
            f"{table.setup.id}, seed {table.episode_seed}: you are {AGENTS[self.seat]}; {others}."
        )
        self.say("Type ? for help.\n")
        self.let_bots_play()
        self.show()
        while (line := self.ask()) is not None:
            words = line.split(maxsplit=1)
            word = words[0].lower() if words else ""
            if word in ("quit", "q", "exit"):
                return
            if word in ("?", "help"):
                self.say(_HELP)
            elif word == "legal":
                self.say(self.legal())
            elif word in ("", "show"):
                self.show()
            elif word == "undo":
                self.undo()
            elif word == "record":
                self.keep(words[1].strip() if len(words) > 1 else "")
            else:
                self.act(line.strip())

    def say(self, text: str) -> None:
        """Write a line."""
        print(text, file=self.target)

    def show(self) -> None:
        """Write the table as the person sees it."""
        self.say(f"{self.table.render(self.seat)}\n")

    def ask(self) -> str | None:
        """The next line that the person types; None at the end of the input."""
        prompt = "undo, record FILE or quit > " if self.table.over else f"{AGENTS[self.seat]} > "
        print(prompt, end="", file=self.target, flush=True)
        line = self.source.readline()
        if not line:
            self.say("")
            return None
        if not self.source.isatty():  # what is typed at a terminal stands there already
            self.say(line.rstrip("\n"))
        return line

    def legal(self) -> str:
        """What the person may do, as a sentence."""
        if self.table.over:
            return "The deal is over."
        return f"You may choose {', '.join(self.table.legal)}."

    def act(self, text: str) -> None:
        """Take the action that the person typed, and let the bots answer."""
        action = self.read(text)
        if action is None:
            return
        self.tell(self.table.step(action))
        self.let_bots_play()
        self.say("")
        self.show()

    def read(self, text: str) -> str | None:
        """The legal action that a text names; None, with a message, if it names none."""
        table = self.table
        legal = {action.lower(): action for action in table.legal}
        for action in table.legal:  # trump:S may be typed as S
            legal.setdefault(action.rpartition(":")[2].lower(), action)
        if text.lower() in legal:
            return legal[text.lower()]
        known = {action.lower(): action for action in table.game.actions}
        if text.lower() in known and not table.over:
            self.say(f"{known[text.lower()]} is not legal here. {self.legal()}")
        elif table.over:
            self.say("The deal is over. Type undo, record FILE or quit.")
        else:
            self.say(
                f"{text!r} is neither an action nor a command. {self.legal()} Type ? for help."
            )
        return None

    def let_bots_play(self) -> None:
        """Let the bots play until the person is on turn or the episode is over.

        Raises:
            ValueError: A bot chose an action that is not legal.
        """
        table = self.table
        while not table.over and table.seat != self.seat:
            bot = self.bots[table.seat]
            action = bot.act(table.view(self.random(), bot.sees_all))
            before = table.seen(self.seat)
            try:
                step = table.step(action)
            except ValueError as error:
                raise ValueError(f"bot {bot.name!r}: {error}") from None
            if table.seen(self.seat) > before:
                self.tell(step)

    def random(self) -> int:
        """A random word for the bot on turn: it depends on the seed and the number of actions taken, so that
        taking back and repeating an action gets the same answers.
        """
        table = self.table
        seed, number = np.uint64(fold_seed(table.episode_seed)), np.uint64(table.episode_number)
        with np.errstate(over="ignore"):
            key = opponents_key(seed, number)
            return int(mix(np.uint64(key) + np.uint64(len(table.history))))

    def tell(self, step: Step) -> None:
        """Write what was done, and the score where a deal is over."""
        self.say(step_text(step, self.table.seen(self.seat), show_legal=False))
        if not self.table.over and int(self.table.states[0]["deal"]) != step.deal:
            score = points_text(self.table.points) or "  nobody has points"
            self.say(f"\nDeal {step.deal + 1} is over; so far:{score}\n")

    def undo(self) -> None:
        """Take back the person's last action and what followed."""
        seats = self.table.seats
        if self.seat not in seats:
            self.say("You have done nothing yet that could be undone.")
            return
        self.table.undo(seats[::-1].index(self.seat) + 1)
        self.show()

    def keep(self, name: str) -> bool:
        """Write the record of the deal to a file; whether that went well."""
        if not name:
            self.say("record needs the name of a file, as: record deal.json")
            return False
        try:
            save(self.table, name)
        except OSError as error:
            self.say(f"{name} cannot be written: {error.strerror or error}")
            return False
        self.say(f"The deal so far is in {name}.")
        return True
