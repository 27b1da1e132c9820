"""Writes the generated parts of the documentation: ``python docs/generate.py`` (``--check``: fail if they are stale)."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from baselines.evaluation.published import Published
from benchmarks import trainers as trainers_benchmark
from bolola_env.contracts import CONTRACTS, MATCH_ORDER, Contract
from trick_core.game import Game, find_game

ROOT = Path(__file__).parent.parent
GAMES = ("bolola", "tarot")


def environments() -> str:
    """The table of environments, from the games' own lists."""
    rows = ["| id | actions | observation | episode |", "|---|---|---|---|"]
    for name in GAMES:
        game = find_game(name)
        for variant in game.variants:
            identity = f"`{name}/{variant.replace('_', '-')}-v0`"
            rows.append(
                f"| {identity} | {game.num_actions} | {game.layout.size} | {_episode(game, variant)} |"
            )
    return "\n".join(rows)


def _episode(game: Game, variant: str) -> str:
    if variant == "custom":
        return "one deal of your own row: `contract=row`"
    setup = game.setup(**game.variants[variant])
    deals = len(setup.config)
    if deals > 1:
        return f"{deals} deals"
    total = CONTRACTS[variant].total if variant in CONTRACTS else None
    return "one deal" if total is None else f"one deal, {total:+d} points in all"


def contracts() -> str:
    """The table of the nine rows."""
    rows = [
        "| contract | cards | a trick | trick number | locked | when void, first | goes under | trumps | total |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in CONTRACTS.values():
        numbers = {n + 1: v for n, v in enumerate(row.trick_number_points) if v}
        tiers = ", then ".join(_cards(tier) for tier in row.void_tiers)
        cells = [
            f"`{row.name}`",
            _card_points(row),
            f"{row.trick_points:+d}" if row.trick_points else "",
            ", ".join(f"{n}: {v:+d}" for n, v in numbers.items()),
            row.locked_suit or "",
            tiers,
            _cards(row.under_duty),
            "yes" if row.trumps else "",
            f"{row.total:+d}",
        ]
        rows.append("| " + " | ".join(cells) + " |")
    rows += ["", "The match: " + ", ".join(f"`{name}`" for name in MATCH_ORDER) + "."]
    return "\n".join(rows)


def _cards(cards: object) -> str:
    """Cards in short: whole ranks and suits by their letter."""
    left = set(cards)  # type: ignore[call-overload]
    parts = []
    for suit in "CDHS":
        whole = {rank + suit for rank in "23456789TJQKA"}
        if whole <= left:
            parts.append(f"suit {suit}")
            left -= whole
    for rank in "AKQJT98765432":
        whole = {rank + suit for suit in "CDHS"}
        if {c for c in whole if c in left} and all(
            c in left or f"suit {c[1]}" in parts for c in whole
        ):
            parts.append(f"all {rank}")
            left -= whole
    for suit in "CDHS":  # nearly a whole suit: the rest by name
        rest = {rank + suit for rank in "23456789TJQKA"}
        if len(left & rest) == len(rest) - 1:
            parts.append(f"suit {suit} but {(rest - left).pop()}")
            left -= rest
    return ", ".join([*parts, *sorted(left)])


def _card_points(row: Contract) -> str:
    groups: dict[int, list[str]] = {}
    from bolola_env.cards import CARD_NAMES

    for name, points in zip(CARD_NAMES, row.card_points, strict=True):
        if points:
            groups.setdefault(points, []).append(name)
    ordered = sorted(groups.items(), key=lambda item: (len(item[1]), item[0]), reverse=True)
    return "; ".join(f"{_cards(cards)}: {points:+d}" for points, cards in ordered)


def observations() -> str:
    """The layouts of all games."""
    parts = [
        "# Observations",
        "",
        "Made by `docs/generate.py` from the layouts in the code. All values are 0 or 1. Seats in an observation are relative: 0 is",
        "the observer, then the others in play order; in the state they are absolute. Signed and binary numbers stand lowest bit",
        "first, signed ones as two's complement.",
        "",
        "```python",
        "import bolola_env",
        "",
        'env = bolola_env.env("hearts")',
        "env.reset(seed=1)",
        'vector = env.observe("player_0")["observation"]',
        'hand = bolola_env.LAYOUT.read(vector, "hand")  # flags (1, 52)',
        'points = bolola_env.LAYOUT.read(vector, "points")  # integers (4,)',
        'tricks = vector[bolola_env.LAYOUT.slice("trick")].reshape(4, 52)',
        "```",
        "",
    ]
    for name in GAMES:
        game = find_game(name)
        title = name.capitalize()
        parts += [
            f"## {title}: observation, {game.layout.size} values, {game.layout.words} words packed",
            "",
            *_constant_part(game),
            game.layout.markdown(),
            f"## {title}: full-information state, {game.state_layout.size} values",
            "",
            game.state_layout.markdown(),
        ]
    return "\n".join(parts)


def _constant_part(game: Game) -> list[str]:
    if game.row_start >= game.layout.size:
        return []
    return [f"Values from {game.row_start} on change only from deal to deal.", ""]


def actions() -> str:
    """The actions of all games: runs of ids with the texts at their ends."""
    parts = [
        "# Actions",
        "",
        "Made by `docs/generate.py`. An action is an integer id; its text is what records, messages and `trick-envs play` use. Cards are numbered suit by",
        "suit, C D H S, from low to high; a card's id is its action's id, and its place in every piece of an observation that goes \"by card id\".",
        "",
        "```python",
        "import bolola_env",
        "",
        'assert bolola_env.GAME.action_id("QH") == 13 * 2 + 10',
        'assert bolola_env.GAME.actions[26] == "2H"',
        "```",
        "",
    ]
    for name in GAMES:
        game = find_game(name)
        parts += [
            f"## {name.capitalize()}: {game.num_actions} actions",
            "",
            "| ids | texts |",
            "|---|---|",
        ]
        for first in range(0, game.num_actions, 14 if name == "tarot" else 13):
            last = min(first + (14 if name == "tarot" else 13), game.num_actions) - 1
            texts = " ".join(f"`{text}`" for text in game.actions[first : last + 1])
            parts.append(f"| {first}..{last} | {texts} |")
        parts.append("")
    return "\n".join(parts)


def versions() -> str:
    """The page of versions that tests have run with, from what ``docs/record.py`` noted."""
    legs = json.loads((ROOT / "docs" / "versions.json").read_text())
    names = sorted({name for leg in legs.values() for name in leg})
    lines = [
        "# Versions that the tests have run with",
        "",
        "Each column is an environment of its own, since libraries pin their neighbours apart (`noxfile.py`). Written by the runs themselves:",
        "`nox --sessions versions libraries -- --record`, and `python docs/record.py newest` after `make test`.",
        "",
        f"| | {' | '.join(legs)} |",
        f"|---|{'---|' * len(legs)}",
    ]
    lines += [
        f"| {name} | {' | '.join(leg.get(name, '') for leg in legs.values())} |" for name in names
    ]
    return "\n".join(lines) + "\n"


def trainers(results: Path) -> str:
    """The table of the trainers, from a file that ``benchmarks.trainers`` keeps."""
    file = ROOT / results
    if not file.exists():
        return trainers_benchmark.NOTHING
    return trainers_benchmark.markdown(json.loads(file.read_text()))


def pages() -> dict[Path, str]:
    """Every file with generated parts, as it should be."""
    readme, contract_page = ROOT / "README.md", ROOT / "docs" / "contracts.md"
    trainers_page = ROOT / "docs" / "train" / "README.md"
    made = {
        readme: _fill(readme, "environments", environments()),
        contract_page: _fill(contract_page, "contracts", contracts()),
        trainers_page: _fill(
            trainers_page,
            "trainers-short",
            trainers(trainers_benchmark.SHORT),
            _fill(trainers_page, "trainers", trainers(trainers_benchmark.RESULTS)),
        ),
        ROOT / "docs" / "observations.md": observations(),
        ROOT / "docs" / "actions.md": actions(),
        ROOT / "docs" / "versions.md": versions(),
    }
    figures = ROOT / "docs" / "ladder.json"
    if figures.exists():  # written by `trick-envs ladder --release --publish docs`
        ladder = Published(figures.read_text())
        made[readme] = _fill(readme, "ladder", ladder.summary(), made[readme])
        made[ROOT / "docs" / "ladder.md"] = ladder.page()
    return made


def _fill(file: Path, mark: str, text: str, page: str | None = None) -> str:
    """A file's text, or ``page`` in its place, with another text between a mark and its end."""
    page = file.read_text() if page is None else page
    pattern = re.compile(rf"(<!-- {mark}:[^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"{file}: no mark {mark!r}")
    return pattern.sub(lambda match: match.group(1) + text + "\n" + match.group(2), page, count=1)


def main() -> int:
    """Write, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = [
        file for file, text in pages().items() if not file.exists() or file.read_text() != text
    ]
    for file in stale:
        print(("stale: " if check else "written: ") + str(file.relative_to(ROOT)))
        if not check:
            file.write_text(pages()[file])
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
