"""The table of the comparison, on the terminal, in the documentation and as a plot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baselines.extras import needs
from benchmarks import report
from benchmarks.measure import Figure, Ratio, Skipped, ratio
from benchmarks.peers.groups import LEFT_OUT, Entry
from benchmarks.peers.ours import LIBRARY, key
from benchmarks.peers.worker import BATCH, COMPILED, ENVIRONMENT, STATE

#: The layers, from the inside out.
LAYERS = {
    COMPILED: "many actions a call, inside compiled code",
    BATCH: "one action at each of N tables a call, with observations and masks",
    STATE: "one action a call from Python, bare state",
    ENVIRONMENT: "one action a call through an environment, with observation and mask",
}
HEADER = (
    "library",
    "game",
    "players",
    "way",
    "N",
    "actions/s",
    "spread",
    "ours : theirs",
    "our case",
)
BRIEF_HEADER = ("", "theirs", "actions/s", "ours", "actions/s", "ours : theirs")
COLOURS = {
    LIBRARY: "#0072b2",
    "OpenSpiel": "#e69f00",
    "Shimmy": "#f0c566",
    "RLCard": "#009e73",
    "PettingZoo": "#cc79a7",
    "pgx": "#7f7f7f",
}


@dataclass(frozen=True)
class Line:
    """One case and what was found.

    Attributes:
        entry: The case.
        figure: Its rates; None: not measured.
        ratio: Ours over theirs, repeat by repeat; None for our own.
        partner: Our case; None for our own.
    """

    entry: Entry
    figure: Figure | None = None
    ratio: Ratio | None = None
    partner: Line | None = None


def lines(entries: Sequence[Entry], figures: Mapping[str, Figure]) -> list[Line]:
    """All cases, ours first, each beside its partner."""
    mine = {
        key(e.facts): Line(e, figures[e.item.name]) for e in entries if e.facts.library == LIBRARY
    }
    found = list(mine.values())
    for entry in entries:
        if entry.facts.library == LIBRARY:
            continue
        figure = figures.get(entry.item.name)
        if figure is None:
            found.append(Line(entry))
            continue
        partner = mine[entry.facts.partner]
        assert partner.figure is not None  # ours are always measured
        held = ratio(partner.entry.item.name, partner.figure, figure)
        found.append(Line(entry, figure, held, partner))
    return found


def by_layer(found: Sequence[Line]) -> Iterator[tuple[str, list[Line]]]:
    """The measured cases of each layer, the fastest first."""
    for layer in LAYERS:
        here = [line for line in found if line.entry.facts.layer == layer and line.figure]
        if here:
            yield layer, sorted(here, key=_median, reverse=True)


def _median(line: Line) -> float:
    return line.figure.median if line.figure else 0.0


def row(line: Line) -> tuple[str, ...]:
    """A measured case as cells of the table."""
    facts, figure = line.entry.facts, line.figure
    assert figure is not None
    held = report.ratio_text(line.ratio) if line.ratio else ""
    return (
        facts.library,
        facts.game,
        str(facts.players),
        facts.how,
        str(facts.batch) if facts.batch > 1 else "",
        report.number(figure.median),
        report.spread(figure),
        held,
        key(line.partner.entry.facts) if line.partner else "",
    )


def show(found: Sequence[Line]) -> None:
    """Print the tables and what was not measured."""
    for layer, here in by_layer(found):
        report.show(LAYERS[layer], HEADER, [row(line) for line in here])
    for text in not_measured(found):
        print(f"not measured: {text}")


def not_measured(found: Sequence[Line]) -> list[str]:
    """What was not measured, with reasons; cases of one library with one reason share a line."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for line in found:
        item, facts = line.entry.item, line.entry.facts
        if isinstance(item, Skipped):
            name = item.name.removeprefix(facts.library).strip()
            reasons.setdefault((facts.library, item.reason), []).append(name)
    texts = [
        f"{library} ({'; '.join(names)}): {reason}" for (library, reason), names in reasons.items()
    ]
    return texts + [f"{library}: {reason}" for library, reason in LEFT_OUT.items()]


def markdown(found: Sequence[Line], facts: Sequence[str]) -> str:
    """The tables in Markdown, with what they hold for."""
    parts = []
    for layer, here in by_layer(found):
        rows = [_bold(line, row(line)) for line in here]
        parts += [
            f"**{LAYERS[layer][0].upper()}{LAYERS[layer][1:]}**",
            "",
            report.markdown(HEADER, rows),
        ]
    parts += ["What the timed loops hold:", ""]
    loops: dict[str, list[str]] = {}
    for line in found:
        if line.figure:
            each = line.entry.facts
            name = f"{each.library}, {each.how}" if each.how else each.library
            held = loops.setdefault(each.inside, [])
            if name not in held:
                held.append(name)
    parts += [f"- {' and '.join(names)}: {inside}" for inside, names in loops.items()]
    if texts := not_measured(found):
        parts += ["", "Not measured:", "", *(f"- {text}" for text in texts)]
    parts += ["", "The run:", "", *(f"- {fact}" for fact in facts)]
    return "\n".join(parts)


def _bold(line: Line, cells: Sequence[str]) -> Sequence[str]:
    if line.entry.facts.library != LIBRARY:
        return cells
    return [f"**{cell}**" if cell else cell for cell in cells]


def brief(found: Sequence[Line]) -> str:
    """Four-player games alone, of each library and way the fastest in its layer, beside ours: a table of few lines."""
    rows = []
    for layer, here in by_layer(found):
        seen: set[tuple[str, str]] = set()
        for line in here:
            facts, partner = line.entry.facts, line.partner
            way = facts.library, facts.how
            if partner is None or line.ratio is None or facts.players < 4 or way in seen:
                continue
            seen.add(way)
            assert line.figure is not None and partner.figure is not None
            rows.append(
                (
                    LAYERS[layer] if len(seen) == 1 else "",
                    _title(line),
                    report.number(line.figure.median),
                    _title(partner),
                    report.number(partner.figure.median),
                    f"{line.ratio.median:.3g}",
                )
            )
    return report.markdown(BRIEF_HEADER, rows)


def _title(line: Line) -> str:
    facts = line.entry.facts
    words = [facts.game if facts.library == LIBRARY else f"{facts.library} {facts.game}", facts.how]
    if facts.batch > 1 and facts.layer == BATCH:
        words.append(f"N={facts.batch}")
    return ", ".join(word for word in words if word)


def fill(file: Path, mark: str, text: str) -> bool:
    """Put a text between ``<!-- mark: ... -->`` and ``<!-- end -->``; returns whether the file has the mark."""
    page = file.read_text()
    pattern = re.compile(rf"(<!-- {mark}:[^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
    filled, count = pattern.subn(lambda m: f"{m[1]}{text.strip()}\n{m[2]}", page, count=1)
    if count:
        file.write_text(filled)
    return bool(count)


def plot(found: Sequence[Line], file: Path, caption: str) -> None:
    """A bar for every case, on a logarithmic scale, grouped by layer; whiskers from the lowest to the highest repeat."""
    with needs("train"):
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt

    groups = list(by_layer(found))
    places: list[float] = []
    at = 0.0
    bars: list[Line] = []
    titles: list[tuple[float, str]] = []
    for layer, here in groups:
        titles.append((at, LAYERS[layer]))
        for line in here:
            at += 1.0
            places.append(at)
            bars.append(line)
        at += 1.9
    rates = [_median(line) for line in bars]
    low = [_median(line) - line.figure.low for line in bars if line.figure]
    high = [line.figure.high - _median(line) for line in bars if line.figure]
    colours = [COLOURS[line.entry.facts.library] for line in bars]
    figure, axes = plt.subplots(figsize=(9, 0.235 * at + 1.1), layout="constrained")
    axes.barh(places, rates, color=colours, height=0.78)
    axes.errorbar(rates, places, xerr=[low, high], fmt="none", ecolor="#333333", elinewidth=0.8)
    for place, line in zip(places, bars, strict=True):
        assert line.figure is not None
        own = line.entry.facts.library == LIBRARY
        axes.text(
            line.figure.high * 1.12,
            place,
            report.number(line.figure.median),
            va="center",
            fontsize=7.5,
            weight="bold" if own else "normal",
        )
    for place, title in titles:
        axes.text(
            0.0,
            place,
            title,
            transform=axes.get_yaxis_transform(),
            fontsize=8.5,
            style="italic",
            va="center",
        )
    axes.set_yticks(
        places,
        [_title(line) if line.partner else f"{LIBRARY} {_title(line)}" for line in bars],
        fontsize=7.5,
    )
    axes.set_xscale("log")
    axes.set_xlim(min(rates) / 2, max(rates) * 4)
    axes.set_ylim(at - 1.2, -0.8)
    axes.set_xlabel(f"actions per second, one core (logarithmic)\n{caption}", fontsize=8)
    axes.grid(axis="x", which="major", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    plt.close(figure)


def as_json(found: Sequence[Line]) -> list[dict[str, Any]]:
    """All cases as plain data."""
    content = []
    for line in found:
        facts = line.entry.facts
        entry: dict[str, Any] = {
            "library": facts.library,
            "game": facts.game,
            "players": facts.players,
        }
        if line.figure is None:
            assert isinstance(line.entry.item, Skipped)
            entry |= {"name": line.entry.item.name, "not measured": line.entry.item.reason}
        else:
            entry |= line.figure.json()
        if line.ratio is not None:
            entry["ours : theirs"] = line.ratio.json()
        content.append(entry)
    return content
