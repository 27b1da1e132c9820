"""Helpers for drawing a table as text."""

from __future__ import annotations

from collections.abc import Sequence


def align(rows: Sequence[Sequence[str]], gap: str = "  ") -> list[str]:
    """Rows of cells as lines, every column as wide as its widest cell; blanks at the end cut off."""
    columns = max((len(row) for row in rows), default=0)
    widths = [max((len(row[c]) for row in rows if c < len(row)), default=0) for c in range(columns)]
    return [gap.join(cell.ljust(widths[c]) for c, cell in enumerate(row)).rstrip() for row in rows]
