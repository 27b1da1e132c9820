"""The documentation is what the code says, and its examples run."""

import importlib.util
import re
import tomllib

import pytest

from tests.libraries import pages
from tests.libraries.pages import PAGES, ROOT

HERE = [page for page in PAGES if pages.extra_of(page) is None and pages.blocks(page)]
ELSEWHERE = [page for page in PAGES if pages.extra_of(page) is not None]


def named(page):
    return str(page.relative_to(ROOT))


def test_generated_parts_are_fresh():
    """A53: tables in the documentation are made from the code, and are up to date."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for file, text in generate.pages().items():
        assert file.read_text() == text, f"{file}: run python docs/generate.py"


@pytest.mark.parametrize("page", HERE, ids=named)
def test_examples_run(page, tmp_path):
    """Every Python block of a page runs, the later ones after the earlier ones."""
    pages.run(page, tmp_path)


def test_examples_that_need_a_library_are_run_by_its_tests():
    """Each such page names an extra, and the tests of that library run it."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for page in ELSEWHERE:
        extra = pages.extra_of(page)
        assert extra in extras, page
        tests = ROOT / "tests" / "libraries" / f"test_{extra}.py"
        name = str(page.relative_to(ROOT / "docs"))
        assert f'pages.run("{name}"' in tests.read_text(), f"{tests} does not run {name}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    """Every relative link names a file of the repository."""
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target
