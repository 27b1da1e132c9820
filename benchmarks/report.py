"""Results as a table on the terminal, as Markdown for the README, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure, Ratio

Row = Sequence[str]


def number(value: float) -> str:
    """A rate with three figures that matter: ``54.2 M``, ``213 k``."""
    for factor, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= factor:
            return f"{value / factor:.3g}{unit}" if value < 1000 * factor else f"{value:.3g}"
    return f"{value:.3g}"


def rate(figure: Figure) -> str:
    """The median as a rate; short work (clones) as the time of one."""
    if figure.case.unit == "clones":
        return f"{1e6 / figure.median:.3g} us each"
    unit = "" if figure.case.unit == "steps" else f" {figure.case.unit}"
    return f"{number(figure.median)}{unit}/s"


def spread(figure: Figure) -> str:
    """The lowest and the highest repeat, relative to the median."""
    low, high = (value / figure.median - 1 for value in (figure.low, figure.high))
    return f"{low:+.0%} {high:+.0%}"


def ratio_text(value: Ratio) -> str:
    """Median, lowest and highest repeat."""
    return f"{value.median:.3g} ({value.low:.3g} to {value.high:.3g})"


def machine_lines(machine: dict[str, Any], settings: dict[str, Any]) -> list[str]:
    """What the figures hold for, as lines."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    load = machine["load"]
    lines = [
        f"{machine['cpu']} ({machine['target']}), {machine['cores']} cores; {machine['system']}; Python {machine['python']}",
        versions,
        f"medians of {settings['repeats']} repeats of {settings['seconds']} s a case, {settings['clock']} time, "
        "cases in turns; compiling excluded",
    ]
    if settings.get("yardstick"):
        lines.append(f"yardstick: {settings['yardstick']}")
    if load is not None and load > 0.3 * machine["cores"]:
        lines.append(f"the machine was busy (load {load}): read the ratios, not the rates")
    return lines


def show(title: str, header: Row, rows: Sequence[Row]) -> None:
    """Print a table: with rich where it is installed, else as plain text."""
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        print(title)
        print(plain(header, rows))
        return
    table = Table(title=title, title_justify="left")
    for name in header:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))  # "trick-envs[train]" is no markup
    console = Console()
    if not console.is_terminal:  # a file or a pipe: as wide as it needs
        console = Console(width=200)
    console.print(table)


def plain(header: Row, rows: Sequence[Row]) -> str:
    """The table in columns padded with spaces."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, ["-" * width for width in widths], *rows)
    ]
    return "\n".join(lines) + "\n"


def markdown(header: Row, rows: Sequence[Row]) -> str:
    """The table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines) + "\n"


def write_json(path: str | Path, content: dict[str, Any]) -> None:
    """Write results to a file, making its folder if need be."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(content, indent=1) + "\n")
