"""The documentation is what the code says, and its examples run."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_generated_parts_are_fresh():
    """A53: tables in the documentation are made from the code, and are up to date."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for file, text in generate.pages().items():
        assert file.read_text() == text, f"{file}: run python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, tmp_path):
    """Every Python block of a page runs, the later ones after the earlier ones."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    if not blocks:
        assert page.name in {"README.md", "observations.md"} or "```python" not in page.read_text()
        return
    script = tmp_path / "page.py"
    script.write_text("\n\n".join(blocks))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    """Every relative link names a file of the repository."""
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target
