"""The published ladder: means with intervals, and the tables of the documentation, from constructed figures."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.cli import main
from baselines.evaluation.published import MATCH, NINE, TAROT, Published, to_json
from baselines.evaluation.statistics import Estimate, estimate, interval, mean_of, t_quantile
from baselines.ladder import ladder
from tests.helpers import fewer
from tests.libraries.pages import ROOT

HEARTS = "bolola/hearts-v0"


def figures(**changes: Any) -> str:
    """Two players and a bound in all environments; `strong` plays no Tarot.

    Over three greedy-v1, strong makes 10 more in each contract than in the one before, from -10 on: the mean is 30. Every cell has a standard error of 3.
    """
    cells: list[list[Any]] = []
    for k, env in enumerate([*NINE, MATCH, TAROT]):
        for table in ("random", "greedy-v1", "random+greedy-v1+random"):
            seatings = 12 if "+" in table else 4
            cells.append([env, "oracle", table, 90.0, 3.0, 50, 50 * seatings, 0.5, 1000])
            if table != "greedy-v1":
                cells.append([env, "greedy-v1", table, 70.0, 3.0, 100, 400, 0.001, 1000])
            else:
                cells.append([env, "greedy-v1", table, 0.0, 0.0, 100, 0, 0.0, 0])
            if env != TAROT:
                points = 500.0 if env == MATCH else 10.0 * k - 10
                cells.append([env, "strong", table, points, 3.0, 25, 25 * seatings, 2.0, 1000])
    data = {
        "format": "trick-envs-ladder-published",
        "version": 1,
        "policies": {"greedy-v1": "greedy-v1", "strong": "pimc:worlds=9", "oracle": "oracle"},
        "tables": ["random", "greedy-v1", "random+greedy-v1+random"],
        "sees_all": ["oracle"],
        "left_out": {"strong at tarot/deal": "plays bolola"},
        "deals": {env: {"suite": f"{env}-v1", "count": 1000} for env in [*NINE, MATCH, TAROT]},
        "run": {
            "versions": {"trick-envs": "0.1.0", "numpy": "2"},
            "machine": {"cpu": "A processor", "cores": 2, "system": "Linux", "load": 0.1},
            "commit_date": "2026-11-30",
            "workers": 2,
            "minutes": None,
            "total": 120,
        },
        "cells": cells,
        "ratings": [
            ["overall", "greedy-v1", -100.0, -110.0, -90.0],
            ["overall", "strong", 100.0, 80.4, 120.0],
        ],
        **changes,
    }
    return json.dumps(data)


def published(**changes: Any) -> Published:
    return Published(figures(**changes))


def row(text: str, policy: str) -> list[str]:
    """Cells of the first table line of a policy."""
    line = next(line for line in text.splitlines() if line.startswith(f"| `{policy}`"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def section(page: str, title: str) -> str:
    return page.split(f"## {title}\n")[1].split("\n## ")[0]


def test_mean_of_independent_estimates() -> None:
    """The root of the sum of the variances, by the number of estimates; degrees of freedom of the shortest."""
    values = [interval(10.0, 3.0, 49, 50), interval(-4.0, 4.0, 9, 10)]
    mean = mean_of(values)
    assert (mean.mean, mean.se, mean.deals) == (3.0, 2.5, 60)
    assert mean.half == pytest.approx(2.5 * t_quantile(9))
    assert mean_of([values[0], Estimate(1.0, None, None, None, 1)]).half is None


def test_interval_of_a_mean_of_independent_estimates_holds_the_truth() -> None:
    rng = np.random.default_rng(1)
    spreads = np.linspace(10, 40, 9)
    hits = [
        abs(mean.mean) <= (mean.half or 0)
        for mean in (
            mean_of([estimate(rng.normal(0, spread, 20)) for spread in spreads])
            for _ in range(1000)
        )
    ]
    assert 0.94 <= np.mean(hits) <= 0.985  # on the wide side


def test_summary_is_the_table_of_readme() -> None:
    text = published().summary()
    head = "| policy | nine contracts, over `greedy-v1` | nine contracts, over `random` | worst contract | match | Tarot | ms |"
    assert head in text
    half = 3 / 3 * t_quantile(24)  # nine errors of 3: the root of 9 times 9, by 9, is 1
    strong = ["`strong`", f"+30.0±{half:.1f}", f"+30.0±{half:.1f}"]
    cell = f"±{3 * t_quantile(24):.1f}"
    assert row(text, "strong") == [*strong, f"no_tricks -10.0{cell}", f"+500.0{cell}", "-", "2"]
    own = row(text, "greedy-v1")
    assert (own[1], own[3:]) == ("0", ["0", "0", "0", "0.001"])
    assert row(text, "oracle")[0] == "`oracle` (sees all)"
    names = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| `")]
    assert names == ["`oracle` (sees all)", "`strong`", "`greedy-v1`"]
    assert "`strong` is `pimc:worlds=9`." in text
    assert "has 25 to 100 deals of its suite, each in all 4 seatings; at the mixed table" in text
    assert "table a deal has 12 seatings." in text
    assert "Left out: strong at tarot/deal (plays bolola)." in text


def test_page_has_every_cell_ratings_times_deals_and_the_machine() -> None:
    page = published().page()
    against = section(page, "Over three `greedy-v1`")
    assert (
        "| policy | no_tricks | jacks_kings | queens |" in against
        and "| match | Tarot | nine |" in against
    )
    assert row(against, "strong")[1:3] == [f"{m:+.1f}±{3 * t_quantile(24):.1f}" for m in (-10, 0)]
    assert row(against, "strong")[-2:] == ["-", f"+30.0±{t_quantile(24):.1f}"]
    assert "## Over `random+greedy-v1+random`" in page
    assert row(section(page, "Ratings"), "strong")[:3] == ["`strong`", "100 [80, 120]", "-"]
    assert row(section(page, "Time"), "strong") == ["`strong`", "2", "2", "-"]
    assert row(section(page, "What was played"), "greedy-v1") == ["`greedy-v1`", "100", "-", "100"]
    assert "A processor, 2 cores; Linux; workers: 2; minutes in all: 120" in page
    assert "trick-envs 0.1.0, numpy 2; commit of 2026-11-30" in page


def test_documentation_is_made_from_the_file(tmp_path: Path, monkeypatch: Any) -> None:
    """README's block and the page, where there is a file; whatever stood there before."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "docs", copy / "docs")
    shutil.copy(ROOT / "README.md", copy)
    monkeypatch.setattr(generate, "ROOT", copy)
    (copy / "docs" / "ladder.json").write_text(figures())
    pages = generate.pages()
    block = pages[copy / "README.md"].split("<!-- ladder:")[1].split("\n<!-- end -->")[0]
    assert block.partition("\n")[2] == published().summary()
    assert pages[copy / "docs" / "ladder.md"] == published().page()
    for page, text in pages.items():
        page.write_text(text)
    assert generate.pages() == pages
    (copy / "docs" / "ladder.json").write_text(figures(sees_all=[]))
    changed = {page.name for page, text in generate.pages().items() if page.read_text() != text}
    assert changed == {"README.md", "ladder.md"}


def test_a_missing_contract_leaves_no_mean() -> None:
    whole = json.loads(to_json(ladder(HEARTS, ["random", "greedy-v1"], deals=2, workers=1)))
    text = Published(json.dumps(whole)).summary()
    assert row(text, "random")[1:3] == ["-", "-"] and row(text, "random")[3].startswith("hearts ")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "expected trick-envs-ladder-published of version 1"),
        ({"tables": ["ismcts"]}, r"expected a table of three greedy-v1 or net or random"),
    ],
)
def test_other_files_are_errors(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        published(**changes)


def test_command_publishes_what_the_tables_need(tmp_path: Path, capsys: Any) -> None:
    docs = tmp_path / "docs"
    command = ["ladder", HEARTS, "--policies", "greedy-v1", "random", "--workers", "1"]
    command += ["--deals", str(fewer(8, 2)), "--total", "1"]
    command += ["--out", str(tmp_path / "run"), "--publish", str(docs)]
    assert main(command) == 2
    assert "--publish: no folder" in capsys.readouterr().err
    docs.mkdir()
    assert main(command) == 0
    assert (docs / "figures" / "ladder.png").read_bytes().startswith(b"\x89PNG")
    full = json.loads((tmp_path / "run" / "ladder.json").read_text())
    points = full["boards"][0]["cells"][1][0]["points"]
    page = Published((docs / "ladder.json").read_text()).page()
    cell = f"{points['mean']:+.1f}±{points['mean'] - points['low']:.1f}"
    assert row(section(page, "Over three `greedy-v1`"), "random")[1] == cell
    time = float(row(section(page, "Time"), "random")[1])
    assert 0 < time < 10
    assert full["run"]["commit_date"] is None or full["run"]["commit_date"].startswith("20")
