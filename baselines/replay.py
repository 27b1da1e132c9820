"""Show a recorded deal: all at once, or step by step at the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

from trick_core.game import check_seat
from trick_core.records import load

_PROMPT = "Enter: next, a: all the rest, q: quit > "


def replay(
    file: str | Path,
    *,
    seat: int | None = None,
    first: int = 0,
    last: int | None = None,
    step: bool | None = None,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
) -> int:
    """Show a record.

    Args:
        file: The record.
        seat: From whose view; None: all hands.
        first: Number of actions taken where it starts.
        last: Number of actions taken where it ends; None: all.
        step: Wait after every action, and show the table there. None: at a terminal only.
        stdin: Where lines are read from while stepping; None: the standard input.
        stdout: Where it is written; None: the standard output.

    Returns:
        0.

    Raises:
        ValueError: A bad file, seat or range.
        OSError: The file cannot be read.
    """
    source, target = stdin or sys.stdin, stdout or sys.stdout
    if seat is not None:
        seat = check_seat("seat", seat)
    if step is None:
        step = source.isatty() and target.isatty()
    record = load(file)
    waiting = False
    for part in record.parts(seat, first, last, tables=step):
        if waiting and step:
            print(_PROMPT, end="", file=target, flush=True)
            answer = source.readline()
            word = answer.strip().lower()
            if not answer or not source.isatty():
                print(file=target)
            if not answer or word in ("q", "quit"):
                return 0
            step = word not in ("a", "all")
        print(part, file=target)
        waiting = True
    return 0
