"""Examples of the documentation as programs, for tests.

A page whose examples need an optional library says so in its first line: ``<!-- needs: openspiel -->``, with the name of the
extra. The tests of that library run it, in its own environment; ``tests/test_docs.py`` runs all others.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_MARKER = re.compile(r"<!-- needs: ([a-z]+) -->\n")


def extra_of(page):
    """The extra that a page's examples need; None: what ``make test`` installs is enough."""
    found = _MARKER.match(page.read_text())
    return found and found.group(1)


def blocks(page):
    """The Python blocks of a page."""
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def run(page, folder):
    """Run the Python blocks of a page, the later ones after the earlier ones, as one program in ``folder``.

    The page is a path, or a name within ``docs/``: ``pages.run("train/openspiel.md", tmp_path)``.
    """
    page = ROOT / "docs" / page
    script = folder / "page.py"
    script.write_text("\n\n".join(blocks(page)))
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(script)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
