"""A ladder as a heat map, and as a page to open in a browser."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from baselines.extras import needs

if TYPE_CHECKING:
    from baselines.evaluation.boards import Board, Ladder

#: Panels side by side, and inches for each row and column of one.
ACROSS, CELL = 3, (0.95, 0.42)
_STYLE = """
body { font-family: sans-serif; margin: 2em; max-width: 80em }
table { border-collapse: collapse; margin: 1em 0 }
td, th { padding: 0.2em 0.7em; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left }
svg { max-width: 100%; height: auto }
"""


def write_png(ladder: Ladder, file: Path) -> None:
    """Write the heat map as PNG."""
    figure = draw(ladder)
    figure.savefig(file, dpi=130)


def write_page(ladder: Ladder, file: Path) -> None:
    """Write a page with the heat map and all tables; it needs no other file."""
    image = io.StringIO()
    draw(ladder).savefig(image, format="svg", metadata={"Date": None})
    svg = image.getvalue()
    parts = [
        "<!doctype html>",
        f"<html lang='en'><head><meta charset='utf-8'><title>Ladder</title><style>{_STYLE}</style></head><body>",
        "<h1>Ladder</h1>",
        f"<p>{html.escape(ladder.caption())}</p>",
        svg[svg.index("<svg") :],
    ]
    for board in boards(ladder):
        parts += [f"<h2>{html.escape(board.env)}</h2>", _table(ladder.cells(board))]
        if roles := ladder.role_cells(board):
            parts.append(_table(roles))
    file.write_text("\n".join([*parts, "</body></html>"]) + "\n")


def boards(ladder: Ladder) -> Sequence[Board]:
    """The boards, and the overall one behind them where there are several."""
    return ladder.boards if len(ladder.boards) == 1 else (*ladder.boards, ladder.overall)


def draw(ladder: Ladder) -> Any:
    """The heat map as a figure of matplotlib: a panel a board, policies down, tables across, points over the table."""
    with needs("train"):
        from matplotlib.figure import Figure
    panels = boards(ladder)
    across = min(ACROSS, len(panels))
    down = -(-len(panels) // across)
    names = [ladder.policies[i] for i in ladder.order]
    width = across * (CELL[0] * len(ladder.tables) + 1.6)
    height = down * (CELL[1] * len(names) + 1.5)
    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    for axes, board in zip(grid.flat, panels, strict=False):
        _panel(axes, ladder, board, names)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    return figure


def _panel(axes: Any, ladder: Ladder, board: Board, names: Sequence[str]) -> None:
    digits = 2 if board is ladder.overall else 0
    means = np.full((len(names), len(ladder.tables)), np.nan)
    for row, i in enumerate(ladder.order):
        for column, cell in enumerate(board.cells[i]):
            if cell is not None:
                means[row, column] = cell.points.mean
    reach = float(np.nanmax(np.abs(means))) if np.isfinite(means).any() else 1.0
    axes.imshow(means, cmap="RdBu", vmin=-(reach or 1.0), vmax=reach or 1.0, aspect="auto")
    for row, i in enumerate(ladder.order):
        for column, cell in enumerate(board.cells[i]):
            text = "" if cell is None else "0" if not cell.games else cell.points.text(digits)
            dark = abs(means[row, column]) > 0.6 * reach
            color = "white" if dark else "black"
            axes.text(column, row, text, ha="center", va="center", fontsize=7, color=color)
    axes.set_title(board.env, fontsize=9)
    axes.set_xticks(range(len(ladder.tables)), ladder.tables, rotation=20, ha="right", fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=7)


def _table(lines: Sequence[Sequence[str]]) -> str:
    head, *body = lines
    rows = ["".join(f"<th>{html.escape(cell)}</th>" for cell in head)]
    rows += ["".join(f"<td>{html.escape(cell)}</td>" for cell in line) for line in body]
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
